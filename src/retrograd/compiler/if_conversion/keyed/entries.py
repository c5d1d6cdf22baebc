"""The entries of a dictionary, or of a set: which of them a key is, how they change, and in which order they came."""

from __future__ import annotations

import builtins
import enum
import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import LARGEST, ChoiceTracer, is_choice
from ..selecting.objects import is_still_tuple
from ..selecting.places import is_told_by_identity, one_by_choice
from ..selecting.searches import sorted_entries
from ..selecting.selections import NUMBERS, Selection, chosen_at
from ..tracers.conditions import joined, negated
from ..tracers.entry_places import both
from ..tracers.maybe_tracer import MaybeTracer
from ..tracers.object_tracer import ObjectTracer
from ..trial import current, recorder
from .tracers import KeyEntries, KeyEntry, PartialDict, PartialSet

__all__ = [
    "MOST",
    "Key",
    "are_same",
    "cannot",
    "chosen_of",
    "either",
    "is_constant",
    "is_kept",
    "is_open",
    "is_surely",
    "key_at",
    "keys_of",
    "merged",
    "now",
    "order_of",
    "put",
    "surely_absent",
    "value_at",
    "with_default",
    "without",
]

#: So many keys there may be at most, and so many that a tuple of ints may be are told apart one by one.
MOST, _MOST_OF_TUPLE = 64, 16

#: A key, and whether it is that one.
Key = tuple[Any, Any]


def cannot(what: str) -> NoReturn:
    """What is done cannot be done with each that there may be: the trace is thrown away."""
    trial = current()
    if trial is not None:
        trial.refuses_dicts = True
        trial.breaks()
    raise TypeError(f"a dictionary or a set whose keys decisions choose {what}")


def either(one: Any, other: Any) -> Any:
    return joined("maximum", one, other)


# --- keys ---------------------------------------------------------------------------------------------------------


def keys_of(key: Any) -> list[Key]:
    """The keys that one may be, and whether it is that one: constants, or an int that may be any."""
    kind = type(key)
    if kind is BoolTracer:
        if recorder().may_be_numpys(key):
            cannot("has a truth value of NumPy's as a key")
        return [(True, key), (False, negated(key))]
    if is_choice(key):
        return _keys_of_choice(key)
    if kind is MaybeTracer:
        absent, there = key._rg_tests
        return [(None, absent), *((one, both(there, test)) for one, test in keys_of(key._rg_thing))]
    if kind is ObjectTracer:
        things = key._rg_things
        return [(_constant(one), key._rg_key.is_(place)) for place, one in things.items()]
    if kind is tuple and not is_constant(key):
        return _keys_of_tuple(key)
    return [(_constant(key), True)]


def is_open(key: Any) -> bool:
    """Whether a key is no constant: an int that may be any, or a tuple with such ints."""
    return is_choice(key) or (type(key) is tuple and any(map(is_choice, key)))


def _keys_of_choice(key: ChoiceTracer) -> list[Key]:
    options = key.possible()
    if key.kind not in (int, str) or (options is None and key.kind is not int):
        cannot(f"has a key that is a {key.kind.__name__}")
    if options is None:
        return [(key, True)]
    if len(options) == 1:
        return [(one, True) for one in options]
    return [(one, key.is_(one)) for one in sorted(options, key=repr)]


def _keys_of_tuple(key: tuple[Any, ...]) -> list[Key]:
    parts = list(map(keys_of, key))
    count = math.prod(map(len, parts))
    if count > _MOST_OF_TUPLE and all(part.kind is int if is_choice(part) else is_constant(part) for part in key):
        return [(key, True)]
    if count > MOST:
        cannot("has keys of which there may be too many")
    found: list[Key] = []
    for each in itertools.product(*parts):
        test = functools.reduce(both, (one[1] for one in each), True)
        if test is not False:
            found.append((_constant(tuple(one[0] for one in each)), test))
    return found


def _constant(key: Any) -> Any:
    if not is_constant(key):
        cannot(f"has a {type(key).__name__} as a key")
    return key


def is_constant(key: Any) -> bool:
    """Whether to hash a key, and to compare it, runs no code of the user's, and tells what it is."""
    kind: Any = type(key)
    if kind is tuple or is_still_tuple(kind):
        return all(map(is_constant, key))
    if kind is float:
        return bool(key == key)  # a NaN is another key each time
    if kind in (int, str, bool, type(None), bytes):
        return True
    of_enum: Any = enum.Enum.__hash__
    return isinstance(kind, enum.EnumMeta) and kind.__hash__ is of_enum and is_told_by_identity(kind)


def are_same(one: Any, other: Any) -> Any:
    """Whether two keys are one, as a dictionary has them: 1, 1.0 and True are."""
    if one is other:
        return True
    if type(one) is type(other) is tuple and (is_open(one) or is_open(other)):
        return len(one) == len(other) and functools.reduce(both, map(are_same, one, other), True)
    if is_choice(one) and is_choice(other):
        return _are_equal(one, other)
    if is_choice(other):
        one, other = other, one
    if is_choice(one):
        is_whole = type(other) in (int, bool) or (type(other) is float and other.is_integer())
        if is_whole and abs(other) > LARGEST:
            cannot("has a key that no float is")
        return one.is_(int(other)) if is_whole else False
    return bool(one == other)


def _are_equal(one: ChoiceTracer, other: ChoiceTracer) -> Any:
    """Whether two ints are equal, as one test for all that ask."""
    trial = current()
    if trial is None:
        return one == other
    question = _are_equal, id(one), id(other)
    if question not in trial.known:
        trial.known[question] = one == other, one, other  # which are kept, so that their ids stay their own
    return trial.known[question][0]


def _is_very_key(one: Any, other: Any) -> bool:
    """Whether two keys are one whatever decisions choose."""
    return one is other or (not is_open(one) and not is_open(other) and bool(one == other))


def is_surely(test: Any) -> bool:
    """Whether a test holds where the arms are taken that run."""
    if type(test) is not BoolTracer:
        return bool(test)
    trial = current()
    frames = trial.frames if trial is not None else []
    return any(one.test is not None and one.test.implies(one.is_yes, test, True) for one in frames)


def surely_absent(test: Any) -> bool:
    """Whether it does not."""
    if type(test) is not BoolTracer:
        return not test
    trial = current()
    frames = trial.frames if trial is not None else []
    return any(one.test is not None and one.test.implies(one.is_yes, test, False) for one in frames)


# --- changes ------------------------------------------------------------------------------------------------------


def now(entries: Iterable[KeyEntry]) -> int:
    """When the next key comes."""
    return functools.reduce(lambda last, one: builtins.max(last, _span(one.since)[1]), entries, 0) + 1


def put(
    entries: Sequence[KeyEntry], key: Any, test: Any, value: Any, when: int, is_there: bool = False
) -> list[KeyEntry]:
    """What there may be after ``things[key] = value``, done where a test holds; ``is_there``: the key is."""
    made, place, elsewhere = _others(entries, key, lambda hit, one: chosen_at(both(test, hit), value, one.value))
    new = both(test, negated(elsewhere))
    if new is False:
        return made
    if place is None:
        return made if is_there else _checked([*made, KeyEntry(key, value, new, when, None)])
    one = made[place] if is_there else _entered(made[place], key, new, when)
    if made[place].is_there is False:
        made[place] = one._replace(value=value, absent=None)
        return made
    is_as_made = _is_number(value) or value is one.value
    made[place] = one._replace(value=chosen_at(new, value, one.value), absent=one.absent if is_as_made else None)
    return made


def with_default(
    thing: Any, entries: Sequence[KeyEntry], key: Any, test: Any, factory: Any, when: int
) -> list[KeyEntry]:
    """The same after ``things.setdefault(key, factory())``."""
    made, place, elsewhere = _others(entries, key, lambda hit, one: one.value)
    new = both(test, negated(elsewhere))
    if new is False:
        return made
    if place is None:
        return _checked([*made, KeyEntry(key, _fresh(thing, key, factory), new, when, factory)])
    one = made[place]
    if is_surely(one.is_there):
        return made
    value = one.value
    if one.is_there is False:
        value = factory()
    elif one.absent is not factory:
        default = factory()
        if type(default) not in NUMBERS:
            cannot("makes what was there before, and may be again")
        value = chosen_at(one.is_there, value, default)
    made[place] = _entered(one, key, new, when)._replace(value=value, absent=factory)
    return made


def _fresh(thing: Any, key: Any, factory: Any) -> Any:
    """What is made of a key that was not there: in the other arm of a test the same one."""
    made = factory()
    if type(made) in NUMBERS or is_open(key):
        return made
    kept, value = thing._rg_fresh.setdefault(key, (factory, made))
    return value if kept is factory else made


def _others(entries: Sequence[KeyEntry], key: Any, changed: Any) -> tuple[list[KeyEntry], int | None, Any]:
    """The entries, the place of the one with this very key, and whether another one has it, which is changed."""
    made: list[KeyEntry] = []
    place, elsewhere = None, False
    for one in entries:
        same = are_same(one.key, key)
        if same is True:
            place = len(made)
        elif same is not False and (hit := both(one.is_there, same)) is not False:
            one = one._replace(value=changed(hit, one))
            elsewhere = either(elsewhere, hit)
        made.append(one)
    return made, place, elsewhere


def _entered(one: KeyEntry, key: Any, new: Any, when: int) -> KeyEntry:
    """An entry whose key is put in, if a test holds."""
    if is_surely(one.is_there):
        return one
    _check_shown(one.key, key)
    return one._replace(is_there=either(one.is_there, new), since=chosen_at(one.is_there, one.since, when))


def _check_shown(one: Any, other: Any) -> None:
    """Two keys that are one look alike, so that it does not matter which was put in first."""
    if not is_open(one) and not is_open(other) and repr(one) != repr(other):
        cannot("has 1 or True as a key")


def without(entries: Sequence[KeyEntry], key: Any, test: Any) -> list[KeyEntry]:
    """What there may be after a key has been taken out, where a test holds."""
    made = []
    for one in entries:
        hit = both(test, are_same(one.key, key))
        made.append(one if hit is False else one._replace(is_there=both(one.is_there, negated(hit)), absent=None))
    return made


def is_kept(one: KeyEntry) -> bool:
    """Whether an entry is one of those that there are from now on: also a list that was taken out.

    After the other arm of a test, in which it was not, it is to be known that its key may come back without it.
    """
    return one.is_there is not False or not (one.value is None or _is_number(one.value))


def _is_number(value: Any) -> bool:
    return type(value) in NUMBERS or is_choice(value)


def _checked(entries: list[KeyEntry]) -> list[KeyEntry]:
    if len(entries) > MOST:
        cannot(f"may have more than {MOST} keys")
    return entries


# --- after two arms -----------------------------------------------------------------------------------------------


def merged(selection: Selection, test: BoolTracer, yes: KeyEntries, no: KeyEntries) -> KeyEntries:
    """What there may be after two arms, by the test of the first one."""
    absent, rest, made = negated(test), list(no), list[KeyEntry]()
    for one in yes:
        other = next((each for each in rest if _is_very_key(one.key, each.key)), None)
        if other is None:
            made.append(_alone(one, test))
            continue
        rest = [each for each in rest if each is not other]
        made.append(one if one is other else _of_two(selection, one, other))
    made += (_alone(one, absent) for one in rest)
    return KeyEntries(_checked(list(filter(is_kept, made))))


def _alone(one: KeyEntry, test: Any) -> KeyEntry:
    """An entry that only one arm has: where that is not taken, what was made of it is as it was made."""
    there = both(test, one.is_there)
    default = one.absent() if one.absent is not None else None
    if type(default) in NUMBERS:
        return one._replace(is_there=there, value=chosen_at(test, one.value, default))
    return one._replace(is_there=there)


def _of_two(selection: Selection, one: KeyEntry, other: KeyEntry) -> KeyEntry:
    _check_shown(one.key, other.key)
    value, there = selection.of(one.value, other.value), selection.of(one.is_there, other.is_there)
    since = selection.of(one.since, other.since)
    return KeyEntry(one.key, value, there, since, one.absent if one.absent is other.absent else None)


# --- the order ----------------------------------------------------------------------------------------------------


def order_of(entries: Sequence[KeyEntry]) -> list[tuple[Any, Any]]:
    """Which entry comes first, second, … as their keys came: its place, an int or a choice, and whether it is there."""
    spans = [_span(one.since) for one in entries]
    ordered = [place for place, one in enumerate(entries) if one.is_there is not False]
    ordered.sort(key=spans.__getitem__)
    if all(spans[one][1] < spans[other][0] for one, other in itertools.pairwise(ordered)):
        return [(place, entries[place].is_there) for place in ordered]
    tests, since = [entries[place].is_there for place in ordered], [entries[place].since for place in ordered]
    return list(zip(*sorted_entries(ordered, tests, since, False), strict=True))


def key_at(entries: Sequence[KeyEntry], place: Any) -> Any:
    """The key at a place, which may be a choice."""
    return _at([one.key for one in entries], place)


def value_at(entries: Sequence[KeyEntry], place: Any) -> Any:
    """What it stands for."""
    return _at([one.value for one in entries], place)


def _at(things: Sequence[Any], place: Any) -> Any:
    return chosen_of(dict(enumerate(things)), place) if is_choice(place) else things[place]


def chosen_of(things: Mapping[Any, Any], key: ChoiceTracer) -> Any:
    """One of some things, by the options of a key. What is done with a dictionary, or a set, is done with each."""
    trial = current()
    are_keyed = all(type(one) in (PartialDict, PartialSet) for one in things.values())
    if are_keyed and trial is not None and (site := trial.allow_object()) is not None:
        return ObjectTracer(things, key, site)
    return one_by_choice({place: things[place] for place in things if key.is_(place) is not False}, key)


def _span(since: Any) -> tuple[int, int]:
    """The first and the last change that a key may have come with."""
    if not is_choice(since):
        return since, since
    options = since.possible()
    return (builtins.min(options), builtins.max(options)) if options else (-1, int(since.largest))
