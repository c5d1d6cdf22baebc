"""What searches and sorts among numbers that are traced: ``bisect``, ``sorted``, ``list.index``, ``any`` and the like.

Python's own functions ask how comparisons come out. These select among what each outcome would give.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ...engine import Value
from ..bool_tracer import BoolTracer
from ..choice_tracer import is_choice
from ..float_tracer import is_tracer
from .conditions import joined, must_hold, negated
from .frozen_list import FrozenList
from .selections import NUMBERS, Selection
from .trial import current, in_arms, refuse

__all__ = ["BISECTIONS", "bisected", "median", "place_of", "sorted_by"]

BISECTIONS = frozenset({bisect.bisect_left, bisect.bisect_right})
#: A table as long as items are selected from; and so many things are sorted, each with each other, or searched.
_LONGEST_TABLE, _MOST_SORTED = 32, 64


def bisected(function: Any, *arguments: Any) -> Any:
    """Where a number belongs in a short table: an int that counts comparisons, if the number is traced."""
    table, x, low, high = _of_bisection(*arguments)
    is_plain = type(table) in (list, tuple) and all(type(one) in (float, int) for one in table)
    is_plain &= type(low) is int and (high is None or type(high) is int)
    is_plain = is_plain and low >= 0 and (high is None or 0 <= high <= len(table))
    is_number = type(x) is Value or is_tracer(x)
    if in_arms() and not (is_plain and (is_number or type(x) in (float, int))):
        raise refuse(f"calls {function.__name__}, which may compare with something else than numbers")
    if current() is None or not is_plain or not is_number or not 0 < len(table) < _LONGEST_TABLE or not _ascends(table):
        return function(*arguments)
    is_left = function is bisect.bisect_left
    among = table[low:high]
    return low + sum((one < x) if is_left else negated(x < one) for one in among)  # of a NaN, too, as bisect finds it


def _of_bisection(table: Any = None, x: Any = None, low: Any = 0, high: Any = None) -> tuple[Any, Any, Any, Any]:
    return table, x, low, high


def _ascends(table: Any) -> bool:
    return all(a <= b for a, b in itertools.pairwise(table)) and all(one == one for one in table)


def sorted_by(things: Sequence[Any], key: Callable[[Any], Any] | None = None, reverse: bool = False) -> list[Any]:
    """``sorted(things, …)``. Where keys are traced, neighbours change places until all are in order.

    Equal ones never do, as in Python.
    """
    keys = list(things) if key is None else list(map(key, things))
    is_open = any(type(one) is Value or is_tracer(one) for one in keys)
    if is_open and len(keys) > _MOST_SORTED:
        is_open = False
        if (trial := current()) is not None:
            trial.note(f"it sorts more than {_MOST_SORTED} numbers")
    if not is_open or not all(type(one) in NUMBERS and must_hold(one == one) for one in keys):  # a NaN has no place
        if in_arms() and not {float, int, str}.issuperset(map(type, keys)):
            raise refuse("sorts what may do something else than compare")
        return [things[i] for i in sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)]
    ordered = list(things)
    for end in range(len(keys) - 1, 0, -1):
        for i in range(end):
            test = keys[i + 1] > keys[i] if reverse else keys[i + 1] < keys[i]
            for each in (keys,) if key is None else (keys, ordered):
                each[i : i + 2] = _exchanged(test, each[i], each[i + 1])
    return keys if key is None else ordered


def _exchanged(test: Any, one: Any, other: Any) -> tuple[Any, Any]:
    if type(test) is not BoolTracer:
        return (other, one) if test else (one, other)
    selection = Selection(test)
    return selection.of(other, one), selection.of(one, other)


def median(things: Sequence[Any]) -> Any:
    """``statistics.median(things)``, of at least one."""
    found, middle = sorted_by(things), len(things) // 2
    return found[middle] if len(found) % 2 else (found[middle - 1] + found[middle]) / 2


def place_of(things: Any, thing: Any) -> Any:
    """``things.index(thing)``: an int that decisions choose, if they choose the thing, or it is compared with numbers.

    None where that is no such search.
    """
    if type(things) not in (list, tuple, FrozenList) or not 0 < len(things) <= _LONGEST_TABLE:
        return None
    is_open = is_choice(thing) or any(type(one) is Value or is_tracer(one) for one in (thing, *things))
    plain = {int, str} if is_choice(thing) else NUMBERS
    if not is_open or not all(type(one) in plain for one in things):
        return None
    tests = [thing == one for one in things]
    found: Any = False
    for test in tests:
        found = joined("maximum", found, test)
    if not must_hold(found):
        raise ValueError(f"{thing!r} is not in list")
    place: Any = len(things) - 1
    for i in range(len(things) - 2, -1, -1):
        test = tests[i]
        place = Selection(test).of(i, place) if type(test) is BoolTracer else i if test else place
    return place
