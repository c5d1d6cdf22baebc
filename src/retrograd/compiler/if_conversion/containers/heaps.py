"""Heaps of which decisions choose the items: what ``heapq`` makes of them, in the order in which it would be popped.

Python's own order is not known, so nothing else reads it but the first item, and how many there are. Where equal items
lie in a heap depends on all that was done with it: that no two are equal becomes a guard.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...tracing.choice_tracer import is_choice
from ..selecting.comparing import key_of_order
from ..selecting.searches import Less, is_less
from ..selecting.selections import NUMBERS, chosen_at
from ..tracers.conditions import joined, must_hold, negated
from ..tracers.entry_places import both
from ..tracers.partial_list import Entries, Entry, Heap, PartialList
from ..tracers.partial_lists import store
from ..trial import refuse

__all__ = ["changed", "heap_of"]

_either = functools.partial(joined, "maximum")


def changed(function: Any, thing: PartialList, *items: Any) -> Any:
    """What one of the functions of ``heapq`` gives for a heap, and makes of it."""
    return _CHANGES[function](thing, *items)


def heap_of(entries: Entries, holds: Callable[[Any], bool] = must_hold) -> Heap:
    """The entries of a list, which is a heap, in order; ``holds``: makes that a guard."""
    if type(entries) is Heap:
        return entries
    items = [one.item for one in entries]
    if not all(one.is_there is True for one in entries):
        raise refuse("takes a list whose length decisions choose for a heap")
    less = _order_of(items)
    are_after = [less(items[(place - 1) // 2], one) for place, one in enumerate(items) if place]
    found = functools.reduce(lambda heap, item: _with(heap, item, True, holds), items, Heap())
    if not holds(functools.reduce(both, are_after, True)):
        raise refuse("takes a list for a heap that is none")
    return found


def _heap(items: Iterable[Any], tests: Iterable[Any]) -> Heap:
    """The items are numbered by their places, so that two arms have the same numbers."""
    pairs = enumerate(zip(items, tests, strict=True))
    return Heap(Entry(-1 - place, item, test) for place, (item, test) in pairs)


def _order_of(items: Sequence[Any]) -> Less:
    """How items compare, of which no two are equal, nor NaN; of tuples by the first parts that are known to compare."""
    key = key_of_order(items) or (lambda item: item)
    keys = [*map(key, items)]
    if _are_tuples(keys):
        count = len([*itertools.takewhile(_compare, zip(*keys, strict=True))])
        return lambda one, other: is_less(key(one)[:count], key(other)[:count])
    if not _compare(keys):
        raise refuse("has a heap of what may do something else than compare")
    return lambda one, other: is_less(key(one), key(other))


def _are_tuples(keys: Sequence[Any]) -> bool:
    """Whether they are tuples, all of one length."""
    return all(isinstance(one, tuple) for one in keys) and len({*map(len, keys)}) == 1


def _compare(keys: Sequence[Any]) -> bool:
    """Whether keys are texts, numbers, ints that decisions choose, or tuples of such."""
    if _are_tuples(keys):
        return all(map(_compare, zip(*keys, strict=True)))
    are_numbers = all(type(one.constant) is int if is_choice(one) else type(one) in NUMBERS for one in keys)
    return are_numbers or all(type(one) is str for one in keys)


def _with(heap: Heap, item: Any, is_there: Any = True, holds: Callable[[Any], bool] = must_hold) -> Heap:
    """A heap with another item, if a test holds: those after it move on."""
    items, tests = [one.item for one in heap], [one.is_there for one in heap]
    less = _order_of([*items, item])
    goes_before = [less(item, one) for one in items]
    others = [_either(before, less(one, item)) for before, one in zip(goes_before, items, strict=True)]
    absent = [negated(test) for test in tests]
    differs = functools.reduce(both, map(_either, absent, others), True)
    if not holds(_either(negated(is_there), differs)):
        raise refuse("has a heap of equal items")
    after = [False, *(both(is_there, _either(*pair)) for pair in zip(absent, goes_before, strict=True)), is_there]
    given, before = [item, *items, item], [True, *tests]
    made = [chosen_at(after[i], given[i], chosen_at(after[i + 1], item, given[i + 1])) for i in range(len(before))]
    return _heap(made, [chosen_at(is_there, *pair) for pair in zip(before, [*tests, False], strict=True)])


def _push(thing: PartialList, item: Any) -> None:
    store(thing, _with(heap_of(thing._rg_entries), item))


def _pop(thing: PartialList) -> Any:
    entries = heap_of(thing._rg_entries)
    if not entries or not must_hold(entries[0].is_there):
        raise IndexError("index out of range")
    first, *rest = entries
    store(thing, _heap([one.item for one in rest], [one.is_there for one in rest]))
    return first.item


def _replace(thing: PartialList, item: Any) -> Any:
    found = _pop(thing)
    _push(thing, item)
    return found


def _push_and_pop(thing: PartialList, item: Any) -> Any:
    _push(thing, item)
    return _pop(thing)


def _heapify(thing: PartialList) -> None:
    if type(thing._rg_entries) is Heap:
        return
    found = Heap()
    for one in thing._rg_entries:
        found = _with(found, one.item, one.is_there)
    store(thing, found)


_CHANGES: dict[Any, Callable[..., Any]] = {
    heapq.heappush: _push,
    heapq.heappop: _pop,
    heapq.heapreplace: _replace,
    heapq.heappushpop: _push_and_pop,
    heapq.heapify: _heapify,
}
