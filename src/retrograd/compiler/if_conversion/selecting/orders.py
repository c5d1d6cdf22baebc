"""What puts traced numbers in order: ``sorted``, ``list.sort``, ``heapq``, ``bisect.insort``, medians.

Each does what Python's does, and selects where that asks how a comparison comes out.
"""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tracing.followed_numpy import as_numpys
from ..tracers.conditions import joined, must_hold, negated
from ..trial import in_arms
from .places import born, set_item
from .searches import Less, exchanged, have_order, is_open, median, note_no_nan, order_of, sorted_by
from .selections import NUMBERS, chosen_at

__all__ = ["ordered"]

#: So many items a list has at most that is changed in place.
_LONGEST = 64


def ordered(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function gives that puts things in order; NotImplemented where it is none, or nothing is traced."""
    if type(function) is not types.BuiltinFunctionType:
        return _by_library(function, arguments, options)
    if function is sorted:
        return _sorted(*arguments, **options) if len(arguments) == 1 else NotImplemented
    if function.__name__ == "sort" and type(function.__self__) is list and not arguments:
        return _sort(function.__self__, **options)
    if function not in _CHANGES or options:
        return NotImplemented
    change, count = _CHANGES[function]
    things, *others = arguments
    if type(things) is not list or len(others) != count or len(things) > _LONGEST:
        return NotImplemented
    less = order_of([*things, *others]) if is_open([*things, *others]) else None
    if less is None:
        return NotImplemented
    before, made = list(things), list(things)
    found = change(made, less, *others)
    note_no_nan([*made, found])
    _keep(things, before, made)
    return found


def _by_library(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Medians, NumPy's ``sort``, and the few largest or smallest."""
    if function in (heapq.nlargest, heapq.nsmallest):
        return _first_few(function, *arguments, **options)
    if getattr(function, "__module__", "") == "statistics" and function.__name__ == "median":
        given = list(_items(*arguments)) if len(arguments) == 1 and not options else []
        return median(given) if given else NotImplemented
    if function not in (np.median, np.sort, np.argsort):
        return NotImplemented
    numbers = _numbers_in(*arguments, **options)
    if not numbers or not have_order(numbers):  # NumPy puts a NaN behind all others
        return NotImplemented
    if function is np.argsort:
        return _places_in_order(numbers)
    return median(numbers) if function is np.median else np.array(sorted_by(numbers), object)


def _places_in_order(numbers: list[Any]) -> Any:
    """``np.argsort(numbers)``. That no two are equal becomes a guard: NumPy does not keep those in order."""
    if not is_open(numbers):
        return NotImplemented
    ascending = sorted_by(numbers)
    are_others = [one < other for one, other in itertools.pairwise(ascending)]
    if not must_hold(functools.reduce(functools.partial(joined, "minimum"), are_others, True)):
        return NotImplemented
    places = np.empty(len(numbers), object)
    for i, place in enumerate(sorted_by([*range(len(numbers))], numbers.__getitem__)):
        places[i] = as_numpys(place)  # one by one: NumPy would ask each what it is
    return places


def _numbers_in(things: Any, **options: Any) -> list[Any]:
    """The numbers in a list or in an array of one axis; none where there is something else."""
    found = list(things) if type(things) in (list, tuple) or np.ndim(things) == 1 else []
    return found if not options and NUMBERS.issuperset(map(type, found)) else []


def _first_few(function: Any, n: Any, iterable: Any, key: Any = None) -> Any:
    """``heapq.nlargest(n, …)``, or ``nsmallest``."""
    found = _sorted(iterable, key=key, reverse=function is heapq.nlargest)
    return born(found[: max(n, 0)]) if type(n) is int else NotImplemented


def _sorted(things: Any, *, key: Any = None, reverse: Any = False, **others: Any) -> Any:
    if others or type(reverse) is not bool:
        return NotImplemented
    return born(sorted_by(list(_items(things)), _as_called(key), reverse))


def _as_called(key: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    from .allowed import call  # which imports this module

    return functools.partial(call, key) if key is not None and in_arms() else key


def _items(things: Any) -> Any:
    from .allowed import items

    return items(things)


def _keep(things: Any, before: list[Any], made: list[Any]) -> None:
    """Give a list the items that were made of those that it has."""
    from .allowed import call

    for item in made[len(before) :]:
        call(things.append, item)
    for _ in before[len(made) :]:
        call(things.pop)
    for i, (one, other) in enumerate(zip(before, made, strict=False)):
        if one is not other:
            set_item(other, things, i)


def _sort(things: list[Any], *, key: Any = None, reverse: Any = False) -> Any:
    if type(reverse) is not bool:
        return NotImplemented
    before = list(things)
    _keep(things, before, sorted_by(before, _as_called(key), reverse))
    return None


def _exchange(items: list[Any], one: int, other: int, test: Any) -> None:
    if test is not False:
        items[one], items[other] = exchanged(test, items[one], items[other])


def _sink(items: list[Any], less: Less, place: int = 0, test: Any = True) -> None:
    """If a test holds, let the item at a place sink past those below that are not larger."""
    left, right = 2 * place + 1, 2 * place + 2
    if left >= len(items) or test is False:
        return
    goes_right = negated(less(items[left], items[right])) if right < len(items) else False
    child = chosen_at(goes_right, items[right], items[left]) if right < len(items) else items[left]
    moves = joined("minimum", test, negated(less(items[place], child)))
    for below, goes in ((left, negated(goes_right)), (right, goes_right)):
        there = joined("minimum", moves, goes)
        _exchange(items, place, below, there)
        _sink(items, less, below, there)


def _push(items: list[Any], less: Less, item: Any) -> None:
    """``heappush``: the item rises past those above that are larger."""
    items.append(item)
    place, test = len(items) - 1, True
    while place:
        above = (place - 1) // 2
        test = joined("minimum", test, less(items[place], items[above]))
        _exchange(items, above, place, test)
        place = above


def _pop(items: list[Any], less: Less) -> Any:
    last = items.pop()
    return _replace(items, less, last) if items else last


def _replace(items: list[Any], less: Less, item: Any) -> Any:
    found, items[0] = items[0], item  # which raises what Python does
    _sink(items, less)
    return found


def _push_and_pop(items: list[Any], less: Less, item: Any) -> Any:
    if not items:
        return item
    test = less(items[0], item)
    items[0], found = exchanged(test, items[0], item)
    _sink(items, less, 0, test)
    return found


def _heapify(items: list[Any], less: Less) -> None:
    for place in reversed(range(len(items) // 2)):
        _sink(items, less, place)


def _insert(items: list[Any], less: Less, item: Any, is_left: bool) -> None:
    """``insort``: the items after the new one move on. That they are in order becomes a guard."""
    ascends = [negated(less(b, a)) for a, b in itertools.pairwise(items)]
    if not must_hold(functools.reduce(functools.partial(joined, "minimum"), ascends, True)):
        raise TypeError("a list that is not in order")  # the trace is thrown away
    after = [False, *(negated(less(one, item)) if is_left else less(item, one) for one in items), True]
    given = [None, *items, None]
    items.append(item)
    for i in range(len(items)):
        new = chosen_at(after[i], given[i], item)
        items[i] = chosen_at(after[i + 1], new, given[i + 1])


#: What inserts an item, and whether before those that are equal.
_INSERTS: dict[Any, bool] = {bisect.insort_left: True, bisect.insort_right: False}
#: What changes the items, and how many arguments the function has beside the list.
_CHANGES: dict[Any, tuple[Callable[..., Any], int]] = {
    heapq.heappush: (_push, 1),
    heapq.heappop: (_pop, 0),
    heapq.heapreplace: (_replace, 1),
    heapq.heappushpop: (_push_and_pop, 1),
    heapq.heapify: (_heapify, 0),
    **{function: (functools.partial(_insert, is_left=is_left), 1) for function, is_left in _INSERTS.items()},
}
