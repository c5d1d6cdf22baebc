"""What searches and sorts among numbers that are traced: ``bisect``, ``sorted``, ``list.index``, ``any`` and the like.

Python's own functions ask how comparisons come out. These select among what each outcome would give.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ....engine import Value
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice, own_kind
from ...tracing.float_tracer import is_tracer
from ..tracers.conditions import joined, must_hold, negated
from ..tracers.frozen_list import FrozenList
from ..trial import current, in_arms, refuse
from .comparing import key_of_order
from .objects import is_still_tuple
from .selections import NUMBERS, Selection, chosen_at

__all__ = [
    "BISECTIONS",
    "Less",
    "bisected",
    "exchanged",
    "have_order",
    "is_less",
    "is_no_nan",
    "is_open",
    "largest_by",
    "median",
    "note_no_nan",
    "numbered",
    "order_of",
    "place_of",
    "sorted_by",
]

#: ``one < other``.
Less = Callable[[Any, Any], Any]

BISECTIONS = frozenset({bisect.bisect_left, bisect.bisect_right})
#: A table as long as items are selected from; so many things are sorted, or searched; and so many numbers are sorted.
_LONGEST_TABLE, _MOST_SORTED, _MOST_NUMBERS = 32, 64, 256

#: So many things are sorted by exchanges of neighbours, which keep equal ones as they are.
_FEW = 32


def bisected(function: Any, *arguments: Any) -> Any:
    """Where a number belongs in a short table: an int that decisions choose, if either is traced."""
    table, x, low, high = _of_bisection(*arguments)
    if type(table) is np.ndarray and table.ndim == 1:
        table = table.tolist()
    x = float(x) if type(x) is np.float64 else x
    are_numbers = type(table) in (list, tuple) and all(type(one) in NUMBERS for one in (x, *table))
    has_bounds = type(low) is int and low >= 0 and (high is None or (type(high) is int and 0 <= high <= len(table)))
    if in_arms() and not (are_numbers and has_bounds):
        raise refuse(f"calls {function.__name__}, which may compare with something else than numbers")
    is_open_table = are_numbers and any(map(_is_traced, table))
    if current() is None or not (is_open_table or (are_numbers and _is_traced(x))) or not has_bounds:
        return function(*arguments)
    if not 0 < len(table) < _LONGEST_TABLE:
        return function(*arguments)
    is_left, last = function is bisect.bisect_left, len(table) if high is None else high
    if is_open_table or not _ascends(table):
        return _halved(table, x, low, last, is_left)
    among = table[low:last]
    return low + sum((one < x) if is_left else negated(x < one) for one in among)  # of a NaN, too, as bisect finds it


def _halved(table: Sequence[Any], x: Any, low: int, high: int, is_left: bool) -> Any:
    """The same by bisection, whatever the order of the table: what each half would give."""
    if low >= high:
        return low
    middle = (low + high) // 2
    is_above = (table[middle] < x) if is_left else negated(x < table[middle])
    above, below = (_halved(table, x, *half, is_left) for half in ((middle + 1, high), (low, middle)))
    return chosen_at(is_above, above, below)


def _of_bisection(table: Any = None, x: Any = None, low: Any = 0, high: Any = None) -> tuple[Any, Any, Any, Any]:
    return table, x, low, high


def _ascends(table: Any) -> bool:
    return all(a <= b for a, b in itertools.pairwise(table)) and all(one == one for one in table)


def sorted_by(things: Sequence[Any], key: Callable[[Any], Any] | None = None, reverse: bool = False) -> list[Any]:
    """``sorted(things, …)``. Where keys are traced, two at a time change places until all are in order.

    Equal ones stay in order, as in Python.
    """
    are_numbers = all(type(one) in NUMBERS for one in things)
    if key is None and not are_numbers:
        key = key_of_order(things)
    given = list(things) if key is None else list(map(key, things))
    keys, rest = (given, None) if key is None and are_numbers else numbered(given)
    most, what = (_MOST_NUMBERS, "numbers") if are_numbers else (_MOST_SORTED, "things")
    selects, trial = is_open(keys), current()
    if selects and (len(keys) > most or not have_order(keys)):
        selects = False
        if trial is not None:
            is_long = len(keys) > most
            trial.note(
                f"it sorts more than {most} {what}" if is_long else "it sorts other things than numbers and texts"
            )
    if not selects:
        if in_arms() and not {float, int, str}.issuperset(map(type, keys)):
            raise refuse("sorts what may do something else than compare")
        return [things[i] for i in sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)]
    others = list(things) if key is not None else rest
    _exchange(keys, others, reverse)
    return others if key is not None and others is not None else _whole(keys, others)


def _exchange(keys: list[Any], others: list[Any] | None, reverse: bool) -> None:
    """Let two keys at a time change places, and two others with them, in place, until the keys are in order."""
    count = len(keys)
    if count <= _FEW:
        pairs: Iterable[tuple[int, int]] = ((i, i + 1) for end in range(count - 1, 0, -1) for i in range(end))
        places: list[Any] = []
    else:  # of equal ones, that comes first which was first
        pairs, places = _merge_exchange(count), [float(i) for i in range(count)]
    columns = [column for column in (keys, others, places) if column]
    for i, j in pairs:
        one, other = (keys[j], keys[i]) if reverse else (keys[i], keys[j])
        if places:
            one, other = (*_parts(one), places[i]), (*_parts(other), places[j])
        test = is_less(other, one)
        for each in columns:
            if each[i] is not each[j]:
                each[i], each[j] = exchanged(test, each[i], each[j])


def numbered(keys: list[Any]) -> tuple[list[Any], list[Any] | None]:
    """Keys with numbers in the places of truth values and texts, which compare as these do; and what those were.

    That is None where there are no such, or nothing is traced that compares.
    """
    if current() is None or not (is_open(keys) or any(map(_is_chosen, keys))):
        return keys, None
    return _numbered(keys)


def _numbered(keys: Sequence[Any]) -> tuple[list[Any], list[Any] | None]:
    kinds, count = set(map(type, keys)), len(keys)
    are_tuples = count > 0 and all(kind is tuple or is_still_tuple(kind) for kind in kinds)
    if are_tuples and len(set(map(len, keys))) == 1 and len(keys[0]) > 0:
        columns = [_numbered(one) for one in zip(*keys, strict=True)]
        made = list(zip(*(numbers for numbers, _ in columns), strict=True))
        if all(rest is None for _, rest in columns):
            return list(keys), None
        if kinds != {tuple}:
            return made, list(keys)
        return made, list(zip(*([None] * count if rest is None else rest for _, rest in columns), strict=True))
    if not kinds.isdisjoint({bool, BoolTracer}):
        return list(map(_as_number, keys)), list(keys)
    if (ranks := _ranks(keys)) is not None:
        return ranks, list(keys)
    return list(keys), None


def _as_number(key: Any) -> Any:
    return chosen_at(key, 1, 0) if type(key) is BoolTracer else int(key) if type(key) is bool else key


def _ranks(keys: Sequence[Any]) -> list[Any] | None:
    """The places that texts have in their order, some of which decisions may choose; None of other things."""
    options = [key.possible() if is_choice(key) else frozenset({key}) for key in keys if own_kind(key) is str]
    if len(options) < len(keys) or not all(options):
        return None
    ranks = {text: rank for rank, text in enumerate(sorted(frozenset[Any]().union(*map(frozenset, options))))}
    found = []
    for key, texts in zip(keys, options, strict=True):
        first, *others = sorted(texts or ())
        rank: Any = ranks[first]
        for text in others:
            rank = chosen_at(key.is_(text), ranks[text], rank)
        found.append(rank)
    return found


def _is_chosen(key: Any) -> bool:
    """Whether decisions choose a key, or a part of it."""
    return any(map(_is_chosen, key)) if isinstance(key, tuple) else is_choice(key) or type(key) is BoolTracer


def _whole(keys: list[Any], rest: list[Any] | None) -> list[Any]:
    """What keys were made of, of them and of what ``numbered`` gave beside them."""
    return keys if rest is None else list(map(_put_back, keys, rest))


def _put_back(key: Any, rest: Any) -> Any:
    if rest is None:
        return key
    return tuple(map(_put_back, key, rest)) if type(rest) is tuple else rest


def _parts(key: Any) -> tuple[Any, ...]:
    return tuple(key) if isinstance(key, tuple) else (key,)


def _merge_exchange(count: int) -> Iterator[tuple[int, int]]:
    """The places that Batcher's merge exchange compares, in order: of n things about n (log2 n)² / 4 pairs.

    Source: D. E. Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2 M.
    """
    largest = 1 << (count - 1).bit_length() - 1
    p = largest
    while p:
        q, r, d = largest, 0, p
        while d:
            yield from ((i, i + d) for i in range(count - d) if i & p == r)
            d, q, r = q - p, q // 2, p
        p //= 2


def _is_traced(thing: Any) -> bool:
    if isinstance(thing, tuple):
        return any(map(_is_traced, thing))
    return type(thing) is Value or is_tracer(thing) or (is_choice(thing) and type(thing.constant) is int)


def is_open(things: Iterable[Any]) -> bool:
    """Whether some of the things are traced numbers, or hold them as tuples and objects with an order do."""
    given = list(things)
    key = key_of_order(given)
    return any(map(_is_traced, map(key, given) if key is not None else given))


def order_of(things: Sequence[Any]) -> Less | None:
    """How numbers compare, tuples of such, or objects by such; None where that is not known."""
    if (key := key_of_order(things)) is None:
        return is_less if have_order(things) else None
    by: Callable[[Any], Any] = key
    return (lambda one, other: is_less(by(one), by(other))) if have_order([*map(by, things)]) else None


def have_order(keys: Sequence[Any]) -> bool:
    """Whether keys are numbers, or tuples of such, of which none is NaN, which has no place."""
    if all(type(one) is tuple or is_still_tuple(type(one)) for one in keys):
        columns = list(zip(*keys, strict=False))
        return len(set(map(len, keys))) < 2 and all(map(have_order, columns))
    return {str}.issuperset(map(type, keys)) or all(map(_is_number, keys))


def _is_number(key: Any) -> bool:
    """Whether a key is a number and no NaN, or an int that decisions choose."""
    return type(key.constant) is int if is_choice(key) else type(key) in NUMBERS and is_no_nan(key)


def is_no_nan(number: Any) -> bool:
    """That becomes a guard, outside of arms once for each number."""
    trial, question = current(), (is_no_nan, id(number))
    if trial is None or not _is_traced(number):
        return bool(number == number)
    if question not in trial.known:
        found = must_hold(number == number)
        if in_arms() or not found:
            return found
        note_no_nan([number])
    return True


def note_no_nan(things: Iterable[Any]) -> None:
    """Numbers that were selected from such as are no NaN, or tuples of them, are none."""
    trial = current()
    for one in things if trial is not None and not in_arms() else ():
        if isinstance(one, tuple):
            note_no_nan(one)
        elif _is_traced(one) and trial is not None:
            trial.known[is_no_nan, id(one)] = one  # which is kept, so that its id stays its own


def largest_by(name: str, things: Sequence[Any], keys: Sequence[Any]) -> Any:
    """``max(things, key=…)``, or ``min``, in an arm: the first whose key no other's is larger, or smaller, than."""
    keys, _ = numbered(list(keys))
    if not (things and have_order(keys)):
        raise refuse(f"calls {name} with a key that may do something else than compare")
    best, *others = zip(things, keys, strict=True)
    for one in others:
        test = is_less(best[1], one[1]) if name == "max" else is_less(one[1], best[1])
        best = Selection(test).all_of(one, best) if type(test) is BoolTracer else one if test else best
    return best[0]


def is_less(one: Any, other: Any) -> Any:
    """``one < other``, of numbers, texts, or tuples of such."""
    if not isinstance(one, tuple):
        return one < other
    found: Any = False
    for a, b in zip(one[::-1], other[::-1], strict=True):
        found = joined("maximum", is_less(a, b), joined("minimum", _are_equal(a, b), found))
    return found


def _are_equal(one: Any, other: Any) -> Any:
    """``one == other``, of the same."""
    if not isinstance(one, tuple):
        return one == other
    parts = map(_are_equal, one, other)
    return functools.reduce(functools.partial(joined, "minimum"), parts, True)


def exchanged(test: Any, one: Any, other: Any) -> tuple[Any, Any]:
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
    is_traced = is_choice(thing) or any(type(one) is Value or is_tracer(one) for one in (thing, *things))
    plain = {int, str} if is_choice(thing) else NUMBERS
    if not is_traced or not all(type(one) in plain for one in things):
        return None
    if not is_choice(thing) and not is_no_nan(thing):
        return None  # Python finds one that is the same object
    tests = [thing == one for one in things]
    found: Any = False
    for test in tests:
        found = joined("maximum", found, test)
    if not must_hold(found):
        raise ValueError(f"{thing!r} is not in list")
    place: Any = len(things) - 1
    for i in range(len(things) - 2, -1, -1):
        place = chosen_at(tests[i], i, place)
    return place
