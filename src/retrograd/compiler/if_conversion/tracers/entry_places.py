"""At which places the entries of a list are, of which decisions choose the items, and how many are there; and keys."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice
from ..selecting.selections import chosen_at
from ..trial import current, recorder, refuse
from .conditions import joined, must_hold, negated
from .frozen_list import FrozenList, Original
from .partial_list import Entry

__all__ = [
    "any_of",
    "are_first",
    "at_place",
    "both",
    "count_of",
    "is_no_negative",
    "is_number",
    "keys_by_parts",
    "one_of",
    "one_of_lists",
    "places_of",
]


#: So many places from the end an item may be at that decisions choose.
_MOST_NEGATIVE = 4


def any_of(tests: Iterable[Any]) -> Any:
    return functools.reduce(functools.partial(joined, "maximum"), tests, False)


def both(one: Any, other: Any) -> Any:
    return joined("minimum", one, other)


def keys_by_parts(key: tuple[Any, ...], most: int) -> dict[Any, Any]:
    """The keys that a tuple may be of which decisions choose parts, and whether it is each.

    None of another tuple, or where there may be more than ``most``.
    """
    options: list[Any] = [part.possible() if is_choice(part) else [part] for part in key]
    if current() is None or not any(map(is_choice, key)):
        return {}
    if None in options or math.prod(map(len, options)) > most:
        return {}
    found: dict[Any, Any] = {}
    for one in itertools.product(*(sorted(parts, key=repr) for parts in options)):
        tests = [part.is_(option) for part, option in zip(key, one, strict=True) if is_choice(part)]
        found[one] = functools.reduce(both, tests)
    return found


def count_of(tests: Iterable[Any]) -> Any:
    found: Any = 0
    for test in tests:
        found = found + (recorder().count(test) if type(test) is BoolTracer else int(test))
    return found


def is_number(count: Any, number: Any) -> Any:
    """Whether a count is a number, which may be a choice, too."""
    if is_choice(count) and type(number) is int:
        return count.is_(number)
    return count == number


def are_first(entries: Sequence[Entry]) -> bool:
    """Whether an item is there only if all before it are: those of a list among the arguments, or of its end."""
    trial = current()
    if trial is None or not trial.places or not entries or (first := trial.places.get(id(entries[0].is_there))) is None:
        return False
    known = (trial.places.get(id(one.is_there)) for one in entries)
    return all(one is not None and one[0] == first[0] + i and one[2] is first[2] for i, one in enumerate(known))


def places_of(entries: Sequence[Entry]) -> list[Any]:
    """How many items are there before each entry."""
    if are_first(entries):
        return list(range(len(entries)))
    found: list[Any] = [0]
    for one in entries[:-1]:
        found.append(found[-1] + count_of([one.is_there]))
    return found[: len(entries)]


def at_place(entries: Sequence[Entry], key: Any) -> list[Any]:
    """Of each entry, whether it is the item at a place."""
    if type(key) is int and -len(entries) <= key < 0 and are_first(entries):
        after = [negated(one.is_there) for one in entries[-key:]] + [True] * -key
        last = [one.is_there for one in entries[-key - 1 :]]
        return [both(one, other) for one, other in zip(last, after, strict=False)] + [False] * (-key - 1)
    if type(key) is int and key < 0:
        return at_place(entries[::-1], -1 - key)[::-1]
    negative = _negative_options(key)
    if negative is None and type(key.constant) is int and must_hold(operator.ge(key, 0)):
        negative = []
    if negative is None or len(negative) > _MOST_NEGATIVE:
        raise refuse("reads an item of a list whose length decisions choose")
    found = [both(one.is_there, is_number(place, key)) for one, place in zip(entries, places_of(entries), strict=True)]
    for option in negative:
        is_it, from_the_end = key.is_(option), at_place(entries, option)
        found = [any_of((test, both(is_it, other))) for test, other in zip(found, from_the_end, strict=True)]
    return found


def is_no_negative(key: Any) -> bool:
    """Whether decisions choose an int from some of which none is negative."""
    return type(key) is not int and _negative_options(key) == []


def _negative_options(key: Any) -> list[int] | None:
    """The negative ints that a place may be; None of a place that may be any."""
    if type(key) is int:
        return [] if key >= 0 else [key]
    options = key.possible() if is_choice(key) and type(key.constant) is int else None
    return None if options is None else sorted(one for one in options if type(one) is int and one < 0)


def one_of_lists(things: Sequence[Any], tests: Sequence[Any]) -> FrozenList | None:
    """The same of lists that have as many items; None of anything else."""
    trial = current()
    if len(things) < 2 or trial is None or not {list, FrozenList}.issuperset(map(type, things)):
        return None
    if len(set(map(len, things))) > 1:
        return None
    items = [one_of(column, tests) for column in zip(*things, strict=True)]
    return FrozenList(items, [Original(one, test, True) for one, test in zip(things, tests, strict=True)], trial.breaks)


def one_of(things: Sequence[Any], tests: Sequence[Any]) -> Any:
    """The one of some things whose test holds; one does."""
    pairs = [(one, test) for one, test in zip(things, tests, strict=True) if test is not False]
    if (chosen := one_of_lists(*zip(*pairs, strict=True))) is not None:
        return chosen
    found = pairs[-1][0]
    for one, test in pairs[-2::-1]:
        found = chosen_at(test, one, found)
    return found
