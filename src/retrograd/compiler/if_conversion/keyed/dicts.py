"""What is done with a dictionary of which decisions choose the keys that it has."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...tracing.bool_tracer import is_comparison
from ...tracing.choice_tracer import is_choice
from ..conversions import Site
from ..selecting.searches import sorted_entries
from ..selecting.selections import NUMBERS, chosen_at
from ..selecting.stores import Place
from ..tracers.conditions import must_hold, negated
from ..tracers.entry_places import both
from ..tracers.partial_list import Entries, Entry, PartialIterator, PartialList
from ..tracers.partial_lists import entries_of, numbers, partial
from ..trial import attempted, current, in_arms, recorder, refuse
from .entries import (
    Key,
    are_same,
    cannot,
    chosen_of,
    either,
    is_kept,
    is_open,
    is_surely,
    key_at,
    keys_of,
    now,
    order_of,
    put,
    value_at,
    with_default,
    without,
)
from .tracers import KEYED, KeyedMethod, KeyEntries, KeyEntry, PartialDict, PartialSet, PartialView

__all__ = [
    "cannot",
    "contains",
    "deleted",
    "done",
    "entries_in_order",
    "equal",
    "is_there",
    "listed",
    "members",
    "method",
    "method_among",
    "missing",
    "note_stale",
    "plain",
    "read",
    "read_on",
    "replace",
    "set_default",
    "sorted_pairs",
    "store",
    "taken",
    "truth",
    "unequal",
    "updated",
    "value_of",
    "without_order",
]


def done(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a function does with one."""
    return attempted("refuses_dicts", function, *arguments, **options)


# --- reading ------------------------------------------------------------------------------------------------------


def truth(thing: Any) -> Any:
    """Whether it has any keys."""
    return functools.reduce(either, (one.is_there for one in thing._rg_entries), False)


def contains(thing: Any, key: Any) -> Any:
    """``key in thing``."""
    return is_there(thing, keys_of(key), key)


def is_there(thing: Any, keys: Sequence[Key], asked: Any = None) -> Any:
    """Whether it has the one that there is of some keys. ``asked``: the int or text that they are of, if there is one.

    What was asked before is the same test, by which arms know it; not in arms that leave fewer keys.
    """
    is_whole = is_choice(asked) and len(keys) == len(asked.options or (asked,))
    question = id(asked), id(thing._rg_entries)
    if is_whole and question in thing._rg_asked:
        return thing._rg_asked[question][-1]
    found: Any = functools.reduce(either, (test for test, _ in _hits(thing, keys)), False)
    if is_whole:
        thing._rg_asked[question] = asked, thing._rg_entries, found
    return found


def _hits(thing: Any, keys: Sequence[Key]) -> list[tuple[Any, Any]]:
    """The values that may stand for a key, and whether each one does."""
    found = []
    for key, test in keys:
        for one in thing._rg_entries:
            hit = both(test, both(one.is_there, are_same(one.key, key)))
            if hit is not False:
                found.append((hit, one.value))
    return found


def read(thing: PartialDict, key: Any) -> Any:
    """``thing[key]``. What makes the values of missing keys puts them in."""
    keys = keys_of(key)
    if id(key) in thing._rg_shown:
        return value_of(thing, key, keys)
    if thing._rg_factory is not None:
        set_default(thing, keys, thing._rg_factory)
        return value_of(thing, key, keys)
    found = is_there(thing, keys, key)
    if thing._rg_kind is Counter:
        return chosen_at(found, value_of(thing, key, keys), 0) if found is not False else 0
    if found is False or not (is_surely(found) or must_hold(found)):
        raise missing(key)
    return value_of(thing, key, keys)


def missing(key: Any) -> KeyError:
    """What a key is answered with that is not there, as it is in this run."""
    if type(key) is tuple:
        return KeyError(tuple(one.constant if is_choice(one) else one for one in key))
    return KeyError(key.constant if is_choice(key) else key.outcome if is_comparison(key) else key)


def set_default(thing: PartialDict, keys: Sequence[Key], factory: Callable[[], Any]) -> None:
    """``thing.setdefault(key, factory())``, of the one that there is of some keys."""
    entries: list[KeyEntry] = list(thing._rg_entries)
    when = now(entries)
    for key, test in keys:
        entries = with_default(thing, entries, key, test, factory, when)
    replace(thing, entries)


def value_of(thing: PartialDict, key: Any, keys: Sequence[Key]) -> Any:
    """What stands for a key, which is there."""
    hits = _hits(thing, keys)
    values = [value for _, value in hits]
    if len(hits) == 1 or all(value is values[0] for value in values):
        return values[0]
    if all(type(value) in NUMBERS for value in values):
        found = values[-1]
        for test, value in hits[-2::-1]:
            found = chosen_at(test, value, found)
        return found
    place: Any = len(hits) - 1
    for i in range(len(hits) - 2, -1, -1):
        place = chosen_at(hits[i][0], i, place)
    return chosen_of(dict(enumerate(values)), place) if is_choice(place) else values[place]


def _got(thing: PartialDict, key: Any, default: Any = None) -> Any:
    keys = keys_of(key)
    found = is_there(thing, keys, key)
    if found is False:
        return default
    value = value_of(thing, key, keys)
    return value if id(key) in thing._rg_shown or is_surely(found) else chosen_at(found, value, default)


def plain(thing: Any) -> Any:
    """The dictionary, or the set, as it is in this run: it must have the same keys again, in the same order."""
    if in_arms():
        raise refuse("reads a dictionary whose keys decisions choose")
    recorder().decides_choice()
    there = [one for one in thing._rg_entries if bool(one.is_there)]
    if thing._rg_kind is set:
        cannot("is read in the order of its hashes")
    there.sort(key=lambda one: one.since.constant if is_choice(one.since) else one.since)
    for one, other in itertools.pairwise(there):
        if not one.since < other.since:
            cannot("has two keys that came at once")
    pairs = [(_plain_key(one.key), one.value) for one in there]
    return Counter(dict(pairs)) if thing._rg_kind is Counter else dict(pairs)


def _plain_key(key: Any) -> Any:
    return key.plain() if is_choice(key) else tuple(map(_plain_key, key)) if is_open(key) else key


def equal(thing: Any, other: Any) -> Any:
    """``thing == other``."""
    if type(thing) is PartialSet:
        from .sets import equal as equal_sets

        return equal_sets(thing, other)
    return True if thing is other else cannot("is compared with another one")


def unequal(thing: Any, other: Any) -> Any:
    """``thing != other``."""
    return negated(equal(thing, other))


# --- loops and functions ------------------------------------------------------------------------------------------

#: Functions that give the same in any order, sums but for rounding; those that do of keys; and those that read later.
_OF_ANY_ORDER = frozenset({"all", "any", "len", "sum"})
_OF_KEYS = frozenset({"max", "min", "sorted"})
_LATER = frozenset({"enumerate", "reversed", "zip"})
_OF_GENERATORS = frozenset({"all", "any", "len", "set", "sum"})


def listed(thing: Any, name: str, has_key: bool) -> Any:
    """A list of what one has, for a function of that name: in order, where that matters."""
    if type(thing) not in KEYED or name in _LATER:
        return thing
    is_of_keys = type(thing) is not PartialView or thing._rg_name != "values"
    is_free = name in _OF_ANY_ORDER or (name in _OF_KEYS and is_of_keys and not has_key)
    return PartialList(without_order(thing) if is_free else entries_in_order(thing))


def sorted_pairs(view: PartialView, reverse: bool) -> PartialList:
    """``sorted(things.items())``: no two have the same key, so that what it stands for is not compared."""
    pairs = without_order(view)
    keys = [one.item[0] for one in pairs]
    return partial(*sorted_entries([one.item for one in pairs], [one.is_there for one in pairs], keys, reverse))


def entries_in_order(thing: Any) -> Entries:
    """What there is in it, in the order in which the keys came."""
    return Entries(_in_order(thing))


def without_order(thing: Any) -> Entries:
    """The same in any order."""
    entries = _of(thing)._rg_entries
    there = [(place, one.is_there) for place, one in enumerate(entries) if one.is_there is not False]
    return Entries(_entry(thing, entries, *each) for each in there)


def read_on(thing: Any) -> Iterator[Entry]:
    """The entries, for a loop that may change values, and no keys."""
    of = _of(thing)
    before = of._rg_entries
    for one in _in_order(thing):
        yield one
        after = of._rg_entries
        if len(before) != len(after) or not all(map(_have_same_key, before, after)):
            cannot("changes while it is read")


def members(thing: Any, name: str) -> Any:
    """A list of what a set has, for a function of a generator that gives the same in any order; else the thing."""
    return PartialList(without_order(thing)) if type(thing) is PartialSet and name in _OF_GENERATORS else thing


def _of(thing: Any) -> Any:
    return thing._rg_of if type(thing) is PartialView else thing


def _in_order(thing: Any) -> Iterator[Entry]:
    """Values are those that there are when they are read."""
    of = _of(thing)
    if type(of) is PartialSet:
        cannot("is read in the order of its hashes")
    for place, test in order_of(of._rg_entries):
        made = _entry(thing, of._rg_entries, place, test)
        if is_choice(place) and not (type(thing) is PartialView and thing._rg_name == "values"):
            key = made.item if type(thing) is PartialDict or thing._rg_name == "keys" else made.item[0]
            of._rg_shown[id(key)] = key, of
        yield made


def _entry(thing: Any, entries: KeyEntries, place: Any, test: Any) -> Entry:
    name = thing._rg_name if type(thing) is PartialView else "keys"
    key = key_at(entries, place) if name != "values" else None
    value = value_at(entries, place) if name != "keys" else None
    return Entry(next(numbers), key if name == "keys" else value if name == "values" else (key, value), test)


def _have_same_key(one: KeyEntry, other: KeyEntry) -> bool:
    return one.key is other.key and one.is_there is other.is_there and one.since is other.since


def note_stale(site: Site) -> None:
    """A copy of one of two dictionaries is read, and one of them has changed: the next trace makes none there."""
    trial = current()
    if trial is not None:
        trial.newly_told_apart.add(site)
        trial.breaks()


# --- changes ------------------------------------------------------------------------------------------------------


def replace(thing: Any, entries: Iterable[KeyEntry]) -> None:
    """It has other entries from now on, as far as the arms are taken that run."""
    trial = current()
    if thing._rg_copied is not None and trial is not None:
        trial.newly_told_apart.add(thing._rg_copied.site)
        cannot("is changed, and may be one of two")
    made = KeyEntries(filter(is_kept, entries))
    if in_arms() and trial is not None:
        trial.store(Place(thing, "_rg_now", False), made)
    else:
        thing._rg_now = made


def store(thing: PartialDict, key: Any, value: Any) -> None:
    """``thing[key] = value``."""
    entries: list[KeyEntry] = list(thing._rg_entries)
    when = now(entries)
    for one, test in keys_of(key):
        entries = put(entries, one, test, value, when, id(key) in thing._rg_shown)
    replace(thing, entries)


def taken(thing: Any, key: Any, *default: Any) -> Any:
    """``thing.pop(key, *default)``."""
    keys = keys_of(key)
    found = is_there(thing, keys, key)
    if (
        not default
        and id(key) not in thing._rg_shown
        and (found is False or not (is_surely(found) or must_hold(found)))
    ):
        raise missing(key)
    value = _got(thing, key, *default)
    entries = list(thing._rg_entries)
    for one, test in keys:
        entries = without(entries, one, test)
        thing._rg_fresh.pop(one, None) if not is_open(one) else None
    thing._rg_shown.clear()
    replace(thing, entries)
    return value


def deleted(thing: PartialDict, key: Any) -> None:
    """``del thing[key]``, which a Counter need not have."""
    taken(thing, key, *([None] if thing._rg_kind is Counter else []))


def updated(thing: PartialDict, other: Any = (), /, **options: Any) -> None:
    """``thing.update(other)``."""
    if thing._rg_kind is Counter:
        cannot("is counted with others")
    entries: list[KeyEntry] = list(thing._rg_entries)
    for key, value, test in [*_pairs_of(other), *((name, one, True) for name, one in options.items())]:
        when = now(entries)
        for one, holds in keys_of(key):
            entries = put(entries, one, both(test, holds), value, when)
    replace(thing, entries)


def _pairs_of(other: Any) -> list[tuple[Any, Any, Any]]:
    """The keys, their values, and whether they are there."""
    if type(other) is PartialDict:
        entries = other._rg_entries
        return [(key_at(entries, place), value_at(entries, place), test) for place, test in order_of(entries)]
    if type(other) in (PartialList, PartialIterator, PartialView):
        return [(*one.item, one.is_there) for one in entries_of(other)]
    if not isinstance(other, Mapping) and type(other) not in (list, tuple):
        cannot(f"is made of a {type(other).__name__}")
    return [(key, value, True) for key, value in (other.items() if isinstance(other, Mapping) else other)]


def counted(thing: PartialDict, things: Iterable[Entry]) -> None:
    """``thing.update(things)``, of a Counter, which counts the things."""
    for one in things:
        entries: list[KeyEntry] = list(thing._rg_entries)
        when = now(entries)
        for key, holds in keys_of(one.item):
            test = both(holds, one.is_there)
            there = is_there(thing, [(key, True)])
            count = chosen_at(there, value_of(thing, key, [(key, True)]), 0) + 1 if there is not False else 1
            entries = put(entries, key, test, count, when)
        replace(thing, entries)


def _copied(thing: PartialDict) -> PartialDict:
    kept = (
        one if type(one.value) in NUMBERS or is_choice(one.value) else one._replace(absent=None)
        for one in thing._rg_entries
    )
    return PartialDict(kept, thing._rg_kind, thing._rg_factory)


def _cleared(thing: Any) -> None:
    thing._rg_shown.clear()
    thing._rg_fresh.clear()
    replace(thing, (one._replace(is_there=False, absent=None) for one in thing._rg_entries))


def _set_default(thing: PartialDict, key: Any, default: Any = None) -> Any:
    keys = keys_of(key)
    if type(default) not in NUMBERS and not is_choice(default):
        if len(keys) > 1 or is_open(keys[0][0]):
            cannot("gets what may be for several keys")
        found = is_there(thing, keys)
        if found is not False and not is_surely(found):
            cannot("gets what may be there already")
    entries: list[KeyEntry] = list(thing._rg_entries)
    when = now(entries)
    for one, test in keys:
        new = both(test, negated(is_there(thing, [(one, True)])))
        entries = put(entries, one, new, default, when) if new is not False else entries
    replace(thing, entries)
    return value_of(thing, key, keys)


def _most_common(thing: PartialDict, count: int | None = None) -> Any:
    if count is not None and type(count) is not int:
        cannot("is asked for as many as decisions choose")
    pairs = entries_in_order(PartialView("items", thing))
    things, counts = [one.item for one in pairs], [one.item[1] for one in pairs]
    found = partial(*sorted_entries(things, [one.is_there for one in pairs], counts, True))
    return found if count is None else found[: max(count, 0)]


def method_among(methods: Mapping[str, Callable[..., Any]], thing: Any, name: str) -> KeyedMethod:
    """``thing.name``, which is one of some methods. Those that change it are all known."""
    if not hasattr(thing._rg_kind, name):
        raise AttributeError(f"{thing._rg_kind.__name__!r} object has no attribute {name!r}")
    if name not in methods:
        cannot(f"is asked for {name}")
    return KeyedMethod(methods[name], thing)


def method(thing: PartialDict, name: str) -> KeyedMethod:
    """``thing.name``."""
    return method_among(_METHODS, thing, name)


_METHODS: dict[str, Callable[..., Any]] = {
    "clear": _cleared,
    "copy": _copied,
    "get": _got,
    "items": functools.partial(PartialView, "items"),
    "keys": functools.partial(PartialView, "keys"),
    "most_common": _most_common,
    "values": functools.partial(PartialView, "values"),
    "pop": taken,
    "setdefault": _set_default,
    "update": updated,
}
