"""What is done with a list of which decisions choose the items that it has."""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import GeneratorType, ModuleType
from typing import Any

from ....engine.source_lines import current_location
from ...guards import builtin_overrides
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import ChoiceTracer, is_choice
from ..keyed.tracers import KEYED
from ..selecting.searches import have_order, is_less, numbered, sorted_entries
from ..selecting.selections import chosen_at, may_be_chosen, unset
from ..selecting.stores import Place
from ..trial import attempted, current, in_arms, recorder, refuse, refuse_lists, running_line
from .conditions import joined, must_hold, negated
from .derived_lists import mapped, passed, with_item, without_item
from .entry_places import any_of, are_first, at_place, both, count_of, is_no_negative, is_number, one_of, places_of
from .frozen_list import FrozenList
from .maybe_tracer import MaybeTracer
from .partial_list import APPENDING, Entries, Entry, Heap, ListMethod, PartialIterator, PartialList, are_copied

__all__ = [
    "MOST",
    "cannot",
    "delete",
    "done",
    "entries_of",
    "extend",
    "has_changed",
    "item_at",
    "joined_lists",
    "method",
    "numbers",
    "of_function",
    "partial",
    "plain",
    "plain_items",
    "read_on",
    "set_item_at",
    "store",
    "truth",
]

#: A list may have so many items at most.
MOST = 512

#: What is read side by side, or filtered.
_READ: frozenset[type] = frozenset({list, tuple, range, PartialList, PartialIterator})
#: Of entries.
numbers = itertools.count()


def done(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a function does with a list."""
    return attempted("refuses_lists", function, *arguments, **options)


def partial(things: Iterable[Any], tests: Iterable[Any] = itertools.repeat(True), kind: type = list) -> PartialList:
    """A list that may have some things, each if a test holds."""
    pairs = zip(things, tests, strict=False)
    return PartialList([Entry(next(numbers), one, test) for one, test in pairs if test is not False], kind)


def entries_of(thing: Any, in_any_order: bool = False) -> Entries:
    """The entries of a list, of a heap only in any order; all of a plain one are there."""
    if type(thing) is PartialIterator:
        return Entries(read_on(thing))
    if type(thing) in KEYED:
        return _keyed().entries_in_order(thing)  # type: ignore[no-any-return]
    if type(thing) is PartialList:
        _check(thing)
        return thing._rg_entries if in_any_order else _in_order(thing)
    return partial(thing)._rg_entries


def _in_order(thing: PartialList) -> Entries:
    if type(thing._rg_entries) is Heap:
        raise refuse_lists("reads more of a heap than its first item")
    return thing._rg_entries


def plain(thing: PartialList) -> Any:
    """The list as it is in this run, for a use that decides something: it must have the same items again."""
    entries = entries_of(thing)
    tests = [one.is_there for one in entries]
    if any(type(test) is BoolTracer for test in tests):
        if in_arms():
            raise refuse("reads a list whose length decisions choose")
        recorder().decides_choice()
    items = [one.item for one in entries if one.is_there]
    if thing._rg_kind is range:
        step = items[1] - items[0] if len(items) > 1 else 1
        return range(items[0], items[-1] + step, step) if items else range(0)
    return deque(items, thing._rg_most) if thing._rg_kind is deque else thing._rg_kind(items)


def read_on(thing: Any) -> Iterator[Entry]:
    """The entries, for a loop that does not change the list, nor what it was made of."""
    if type(thing) in KEYED:
        yield from _keyed().read_on(thing)
        return
    sources = [(thing, _in_order(thing))] if type(thing) is PartialList else thing._rg_sources
    if type(thing) is PartialIterator:
        if thing._rg_is_read:
            cannot(thing)
        thing._rg_is_read = True
    if any(has_changed(*source) for source in sources):  # of an empty one, too
        cannot(thing)
    for one in thing._rg_entries:
        yield one
        if any(has_changed(*source) for source in sources):
            cannot(thing)


def _check(thing: PartialList) -> None:
    """See to it that what was chosen, and what it was chosen from, is still what it was."""
    for now, then in thing._rg_originals.values():
        entries = now._rg_entries if type(now) is PartialList else now
        if len(entries) != len(then) or not all(a is b for a, b in zip(entries, then, strict=True)):
            trial = current()
            if trial is not None:
                trial.breaks()


def has_changed(source: Any, then: Sequence[Any]) -> bool:
    """Whether a list has something else than it had."""
    if type(source) in KEYED:
        return source._rg_entries is not then
    if type(source) is PartialList:
        _check(source)
        return source._rg_entries is not then
    return len(source) != len(then) or not all(map(operator.is_, source, then))


def plain_items(thing: Any) -> Iterator[Any]:
    """The items that are there in this run, for a use that decides something, one after the other."""
    if type(thing) is PartialList:
        plain(thing)
    elif any(type(one.is_there) is BoolTracer for one in thing._rg_entries):
        if in_arms():
            raise refuse("reads a list whose length decisions choose")
        recorder().decides_choice()
    return (one.item for one in read_on(thing) if one.is_there)


def truth(thing: PartialList) -> Any:
    """Whether it has any items."""
    return any_of(one.is_there for one in _first_of(thing))


def _first_of(thing: PartialList) -> Entries:
    """The entries of which one is the first item, if there is any."""
    entries = entries_of(thing, in_any_order=True)
    return Entries(entries[:1]) if type(entries) is Heap else entries


def _keyed() -> ModuleType:
    from ..keyed import dicts  # which imports this module

    return dicts


# --- reading ------------------------------------------------------------------------------------------------------


def item_at(thing: PartialList, key: Any) -> Any:
    """``thing[key]``."""
    if isinstance(key, slice):
        return _sliced(thing, key)
    entries = _first_of(thing) if type(key) is int and key == 0 else entries_of(thing)
    found = [one.item for one in entries]
    if all(one.is_there is True for one in entries) and type(key) is int:
        return found[key]
    tests = at_place(entries, key)
    if not must_hold(any_of(tests)):
        raise IndexError("list index out of range")
    one = one_of(found, tests)
    if are_copied(found, one):  # to append to it is to do so there
        lists = {i: each for i, each in enumerate(found) if tests[i] is not False}
        place = one_of(range(len(found)), tests)
        one._rg_chosen = (lists, place) if is_choice(place) else one._rg_chosen
    return one


def _sliced(thing: PartialList, key: slice) -> PartialList:
    entries = entries_of(thing)
    if thing._rg_kind is deque:
        raise TypeError("sequence index must be integer, not 'slice'")
    bounds = [one for one in (key.start, key.stop) if one is not None]
    if key.step not in (None, 1) or not all(type(one) is int for one in bounds):
        if key.step == -1 and not bounds:
            return _made(entries[::-1], thing._rg_kind)
        return plain(thing)[key]  # type: ignore[no-any-return]
    before, after = places_of(entries), places_of(entries[::-1])[::-1]

    def is_from(i: int, bound: int) -> Any:  # of what is there
        return before[i] >= bound if bound >= 0 else after[i] < -bound

    tests = []
    for i, one in enumerate(entries):
        test = one.is_there if key.start is None else both(one.is_there, is_from(i, key.start))
        tests.append(test if key.stop is None else both(test, negated(is_from(i, key.stop))))
    return _made([one._replace(is_there=test) for one, test in zip(entries, tests, strict=True)], thing._rg_kind)


def _made(entries: Iterable[Entry], kind: type = list) -> PartialList:
    return PartialList([one for one in entries if one.is_there is not False], kind)


def joined_lists(one: Any, other: Any) -> Any:
    """``one + other``."""
    kinds = [each._rg_kind if type(each) is PartialList else type(each) for each in (one, other)]
    if kinds[0] is not kinds[1] or kinds[0] not in (list, deque):
        return NotImplemented
    if any(getattr(each, "maxlen", None) is not None for each in (one, other)):
        raise refuse("adds to a deque with a maxlen")
    again = [each._replace(number=next(numbers)) for each in entries_of(other)]  # which may be the same list
    return _checked(PartialList([*entries_of(one), *again], kinds[0]))


# --- functions of lists -------------------------------------------------------------------------------------------


def of_function(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What Python's functions of lists give; NotImplemented of others."""
    name = getattr(function, "__name__", "")
    is_pythons = function is getattr(builtins, name, None) or (
        getattr(function, "__module__", "") == builtin_overrides.__name__
    )
    if not is_pythons or name not in _FUNCTIONS:
        return NotImplemented
    if not KEYED.isdisjoint(map(type, arguments)):
        if name == "sorted" and options.keys() <= {"reverse"} and getattr(arguments[0], "_rg_name", "") == "items":
            return _keyed().sorted_pairs(arguments[0], bool(options.get("reverse")))
        arguments = tuple(_keyed().listed(one, name, options.get("key") is not None) for one in arguments)
    return _FUNCTIONS[name](*arguments, **options)


def _sum(thing: Any, start: Any = 0) -> Any:
    from ..selecting.allowed import operated

    total = start
    for one in entries_of(thing):
        total = chosen_at(one.is_there, operated("Add", total, one.item), total)
    return total


def _largest(name: str, *things: Any, **options: Any) -> Any:
    from ..selecting.allowed import call

    if len(things) != 1:
        return NotImplemented
    key, entries = options.get("key"), entries_of(things[0])
    keys = [
        one.item if key is None else _computed(functools.partial(call, key, one.item), one.is_there) for one in entries
    ]
    keys, _ = numbered(keys)
    less = is_less if any(isinstance(one, tuple) for one in keys) and have_order(keys) else operator.lt
    found: Any = None
    best: Any = None
    has: Any = False
    for one, mine in zip(entries, keys, strict=True):
        if has is False:
            found, best, has = one.item, mine, one.is_there
            continue
        is_better = less(best, mine) if name == "max" else less(mine, best)
        test = both(one.is_there, joined("maximum", negated(has), is_better))
        found = chosen_at(test, one.item, found)
        best, has = chosen_at(test, mine, best), joined("maximum", has, one.is_there)
    if "default" in options:
        return chosen_at(has, found, options["default"])
    if not must_hold(has):
        raise ValueError(f"{name}() arg is an empty sequence")
    return found


def _computed(give: Callable[[], Any], is_there: Any) -> Any:
    """What is computed of an item, in an arm of whether it is there."""
    from ..selecting.decisions import select

    here = current_location()
    return select(is_there, give, lambda: unset, (here.file, here.line) if here is not None else ("", 0))


def _length(thing: Any) -> Any:
    if type(thing) is PartialIterator:
        raise TypeError(f"object of type {thing._rg_kind.__name__!r} has no len()")
    entries, trial = entries_of(thing, in_any_order=True), current()
    if trial is not None and are_first(entries):
        first, _, count = trial.places[id(entries[0].is_there)]
        if first == 0 and len(entries) == max(count.options):
            return count
    return count_of(one.is_there for one in entries)


def _all(thing: Any) -> Any:
    return negated(any_of(both(one.is_there, negated(_tested(one.item))) for one in entries_of(thing)))


def _any_of(thing: Any) -> Any:
    return any_of(both(one.is_there, _tested(one.item)) for one in entries_of(thing))


def _tested(thing: Any) -> Any:
    if type(thing) not in (bool, BoolTracer):
        raise refuse(f"asks whether a {type(thing).__name__} is true")
    return thing


def _copied(thing: Any, kind: type = list) -> PartialList:
    return PartialList([one._replace(number=next(numbers)) for one in entries_of(thing)], kind)


def _counted(thing: Any, start: Any = 0) -> PartialIterator:
    entries = entries_of(thing)
    pairs = zip(entries, places_of(entries), strict=True)
    return _iterator(enumerate, [one._replace(item=(start + place, one.item)) for one, place in pairs], [thing])


def _iterator(kind: Any, entries: Iterable[Entry], things: Sequence[Any]) -> PartialIterator:
    """``things``: what it reads, some of which may change meanwhile."""
    sources: list[tuple[Any, Sequence[Any]]] = []
    for one in things:
        if type(one) is PartialIterator:
            sources += one._rg_sources
        elif type(one) in KEYED:
            of = getattr(one, "_rg_of", one)
            sources.append((of, of._rg_entries))
        elif type(one) in (PartialList, FrozenList, list):
            sources.append((one, one._rg_entries if type(one) is PartialList else tuple(one)))
    return PartialIterator(kind, entries, sources)


def _zipped(*things: Any, strict: bool = False) -> Any:
    """Side by side: the first items there are, the second ones, …"""
    if not _READ.issuperset(map(type, things)):
        return NotImplemented
    entries = list(map(entries_of, things))
    lengths = [count_of(one.is_there for one in each) for each in entries] if strict else []
    if not all(must_hold(a == b) for a, b in pairwise(lengths)):  # it raises, once it is read to its end
        return NotImplemented
    lists = [_close_together(each, min(map(len, entries), default=0)) for each in entries]
    tests = [functools.reduce(both, (one[1] for one in row)) for row in zip(*lists, strict=False)]
    rows = [tuple(one[0] for one in row) for row in zip(*lists, strict=False)]
    return _iterator(zip, partial(rows, tests)._rg_entries, things)


def _close_together(entries: Sequence[Entry], count: int) -> list[tuple[Any, Any]]:
    """The first item that is there, the second one, … at most so many, and whether there are so many."""
    if all(one.is_there is True for one in entries) or are_first(entries):
        return [(one.item, one.is_there) for one in entries]
    items, places, found = [one.item for one in entries], places_of(entries), list[tuple[Any, Any]]()
    for k in range(count):  # before the k-th entry are fewer than k items
        tests = [both(one.is_there, is_number(place, k)) for one, place in zip(entries[k:], places[k:], strict=True)]
        found.append((one_of(items[k:], tests), any_of(tests)))
    return found


def _sorted(thing: Any, *, key: Any = None, reverse: Any = False) -> PartialList:
    from ..selecting.allowed import call

    entries = entries_of(thing)
    things, tests = [one.item for one in entries], [one.is_there for one in entries]
    keys = things
    if key is not None:
        keys = [_computed(functools.partial(call, key, one.item), one.is_there) for one in entries]
    return partial(*sorted_entries(things, tests, keys, bool(reverse)))


def _derived(make: Callable[..., Any], kind: Any, function: Any, *things: Any) -> Any:
    """``filter(function, things)``, or ``map`` of such a list."""
    trial, read = current(), {PartialList, PartialIterator} if kind is map else _READ
    if len(things) != 1 or type(things[0]) not in read or trial is None or function is None:
        return NotImplemented
    made = make(function, entries_of(things[0]))
    trial.wants_lists |= made is not None
    return _iterator(kind, made, things) if made is not None and trial.lists else NotImplemented


def _range(*bounds: Any) -> Any:
    from ..containers.ranges import chosen_range  # which imports this module

    return chosen_range(*bounds)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "all": _all,
    "any": _any_of,
    "enumerate": _counted,
    "filter": functools.partial(_derived, passed, filter),
    "len": _length,
    "list": _copied,
    "map": functools.partial(_derived, mapped, map),
    "max": functools.partial(_largest, "max"),
    "min": functools.partial(_largest, "min"),
    "range": _range,
    "sorted": _sorted,
    "reversed": lambda thing: _iterator(reversed, entries_of(thing)[::-1], [thing]),
    "sum": _sum,
    "zip": _zipped,
}


# --- changes ------------------------------------------------------------------------------------------------------


def method(thing: PartialList, name: str) -> Any:
    """``thing.name``. Those that change it are all known."""
    if name == "maxlen" and thing._rg_kind is deque:
        return thing._rg_most
    if not hasattr(thing._rg_kind, name):
        raise AttributeError(f"{thing._rg_kind.__name__!r} object has no attribute {name!r}")
    if thing._rg_chosen is not None and name in APPENDING:
        return ListMethod(functools.partial(_change_each, name, *thing._rg_chosen), thing)
    methods = _METHODS if thing._rg_most is None else _bounded()
    return ListMethod(methods.get(name) or functools.partial(_of_plain, name), thing)


def _bounded() -> dict[str, Callable[..., Any]]:
    from ..containers.bounded_queues import METHODS  # which imports this module

    return METHODS


def _change_each(name: str, things: Mapping[Any, Any], key: ChoiceTracer, _: PartialList, *arguments: Any) -> None:
    """What is done with one of some lists."""
    from ..selecting.decisions import of_chosen

    of_chosen(things, key, lambda one: getattr(one, name)(*arguments), running_line())


def _of_plain(name: str, thing: PartialList, *arguments: Any, **options: Any) -> Any:
    return getattr(plain(thing), name)(*arguments, **options)


def store(thing: PartialList, entries: Iterable[Entry]) -> None:
    """It has other entries from now on, as far as the arms are taken that run."""
    if thing._rg_originals:
        cannot(thing)
    trial = current()
    kind = Heap if type(entries) is Heap else Entries
    now = kind(one for one in entries if one.is_there is not False)
    if len(now) > MOST:
        raise refuse(f"makes a list that may have more than {MOST} items")
    if in_arms() and trial is not None:
        trial.store(Place(thing, "_rg_entries", False), now)
    else:
        thing._rg_entries = now


def cannot(thing: Any) -> None:
    """What is done with the list cannot be done with each that it may be: the trace is thrown away."""
    trial = current()
    if trial is not None:
        trial.breaks()
        trial.refuses_lists |= getattr(thing, "_rg_kind", None) is GeneratorType  # it runs as it is, then
    raise TypeError("a list that decisions choose cannot be changed so")


def _checked(thing: PartialList) -> PartialList:
    if len(thing._rg_entries) > MOST:
        raise refuse(f"makes a list that may have more than {MOST} items")
    return thing


def _append(thing: PartialList, item: Any) -> None:
    store(thing, [*entries_of(thing), _entry(item)])


def _append_left(thing: PartialList, item: Any) -> None:
    store(thing, [_entry(item), *entries_of(thing)])


def _entry(item: Any) -> Entry:
    """An entry that is there; what was asked whether it is None is what it is if it is not."""
    if type(item) is MaybeTracer and item._rg_is_surely_there():
        item = item._rg_thing
    return Entry(next(numbers), item, True)


def extend(thing: PartialList, items: Any) -> None:
    """``thing.extend(items)``."""
    if thing._rg_most is not None:
        return _bounded()["extend"](thing, items)  # type: ignore[no-any-return]
    again = [one._replace(number=next(numbers)) for one in entries_of(items)]
    store(thing, [*entries_of(thing), *again])


def _pop(thing: PartialList, *places: Any) -> Any:
    if thing._rg_kind is deque and places:
        raise TypeError("deque.pop() takes no arguments")
    return _taken(thing, *places)


def _taken(thing: PartialList, place: Any = -1) -> Any:
    entries = entries_of(thing)
    if all(one.is_there is True for one in entries) and type(place) is int:
        left = list(entries)
        found = left.pop(place).item
        store(thing, left)
        return found
    tests = at_place(entries, place)
    found = item_at(thing, place)
    _without(thing, entries, tests)
    return found


def _without(thing: PartialList, entries: Sequence[Entry], tests: Sequence[Any]) -> None:
    """Take the entry out whose test holds. If all are there, those after it move forward: it is known how many stay."""
    if all(one.is_there is True and not may_be_chosen(one.item) for one in entries):
        moved = without_item([one.item for one in entries], tests, chosen_at)
        store(thing, [one._replace(item=item) for one, item in zip(entries, moved, strict=False)])
        return
    left = [one._replace(is_there=both(one.is_there, negated(t))) for one, t in zip(entries, tests, strict=True)]
    store(thing, [one for one in left if one.is_there is not False])


def _insert(thing: PartialList, place: Any, item: Any) -> None:
    entries = entries_of(thing)
    if type(place) is int and (place == 0 or all(one.is_there is True for one in entries)):
        made = list(entries)
        made.insert(place, _entry(item))
        store(thing, made)
        return
    if type(place) is int or not is_no_negative(place) or not all(one.is_there is True for one in entries):
        cannot(thing)
    tests = [is_number(place, i) for i in range(len(entries))]
    moved = with_item([one.item for one in entries], tests, item, chosen_at)
    store(thing, [one._replace(item=new) for one, new in zip([*entries, _entry(item)], moved, strict=True)])


def delete(thing: PartialList, place: Any) -> None:
    """``del thing[place]``."""
    _taken(thing, place) if not isinstance(place, slice) and thing._rg_most is None else cannot(thing)


def _remove(thing: PartialList, item: Any) -> None:
    """The first that is equal goes."""
    from ..selecting.comparing import are_equal

    entries, hits = entries_of(thing), list[Any]()
    gone: Any = False
    for one in entries:
        same = are_equal(one.item, item)
        if same is None:
            cannot(thing)
        hits.append(both(one.is_there, both(negated(gone), same)))
        gone = joined("maximum", gone, hits[-1])
    if not must_hold(gone):
        raise ValueError("list.remove(x): x not in list")
    _without(thing, entries, hits)


def _index(thing: PartialList, item: Any) -> Any:
    """Where the first is that is equal."""
    from ..selecting.comparing import are_equal

    entries = entries_of(thing)
    same = [are_equal(one.item, item) for one in entries]
    if any(one is None for one in same):
        return _of_plain("index", thing, item)
    tests = [both(one.is_there, test) for one, test in zip(entries, same, strict=True)]
    if not must_hold(any_of(tests)):
        raise ValueError(f"{item!r} is not in list")
    return one_of(places_of(entries), tests)


def set_item_at(thing: PartialList, key: Any, value: Any) -> None:
    """``thing[key] = value``."""
    entries = entries_of(thing)
    if isinstance(key, slice):
        cannot(thing)
    tests = at_place(entries, key)
    if not must_hold(any_of(tests)):
        raise IndexError("list assignment index out of range")
    pairs = zip(entries, tests, strict=True)
    store(thing, [one._replace(item=chosen_at(test, value, one.item)) for one, test in pairs])


_METHODS: dict[str, Callable[..., Any]] = {
    "__delitem__": delete,
    "append": _append,
    "appendleft": _append_left,
    "clear": lambda thing: store(thing, ()),
    "copy": lambda thing: _copied(thing, thing._rg_kind),
    "extend": extend,
    "index": _index,
    "insert": _insert,
    "pop": _pop,
    "sort": lambda thing, **options: store(thing, _sorted(thing, **options)._rg_entries),
    "popleft": lambda thing: _taken(thing, 0),
    "remove": _remove,
    **dict.fromkeys(("extendleft", "reverse", "rotate", "__setstate__"), lambda thing, *_, **__: cannot(thing)),
}
