"""Numbers, text, and containers and arrays of them: what is compared by its contents, and how much of it there is."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import numpy as np

from ....engine import Value
from ....index import Index

__all__ = ["ENDS", "are_rows_of_ends", "holds_numbers", "is_data", "is_number_or_array", "is_read_only", "weighed"]

#: What nothing is behind that may change.
ENDS = frozenset({float, int, bool, str, bytes, complex, type(None), Index, Value})

_ROWS = frozenset({list, tuple})
#: So many numbers a library's object holds together.
_FEW = 64
_TUPLE = frozenset({tuple})


def is_data(things: Any, depth: int = 3) -> bool:
    """Whether a container begins with numbers or text, or with containers of which the same can be said."""
    if isinstance(things, dict):
        things = list(islice(dict.values(things), 8))
    first = list(islice(things, 8)) if not isinstance(things, (list, tuple)) else things[:8]
    return len(first) > 0 and all(
        (type(item) in ENDS and type(item) is not Value)
        or (type(item) in (list, tuple) and depth > 1 and is_data(item, depth - 1))
        for item in first
    )


def weighed(thing: Any, most: int) -> tuple[int, set[int]]:
    """How many bytes of data a container counts for, not much further than ``most``, and the containers in it.

    A tuple's own items are not compared, for they cannot change.
    """
    size, inside, rest = 0, set(), [thing]
    while rest and size <= most:
        container = rest.pop()
        if id(container) in inside:
            continue
        inside.add(id(container))
        size += 0 if type(container) is tuple else 64 + (16 if isinstance(container, dict) else 8) * len(container)
        items = dict.values(container) if isinstance(container, dict) else container
        if are_rows_of_ends(items):
            inside.update(map(id, items))
        elif not _ROWS.isdisjoint(map(type, items)):
            rest.extend(item for item in items if type(item) in _ROWS)
    return size, inside


def are_rows_of_ends(things: Any) -> bool:
    """Whether there are tuples alone, in which nothing can change."""
    return {*map(type, things)} == _TUPLE and ENDS.issuperset(map(type, chain.from_iterable(things)))


def is_read_only(thing: np.ndarray[Any, Any]) -> bool:
    """Whether neither an array nor one that it is a view of can be written."""
    base: Any = thing
    while isinstance(base, np.ndarray) and not base.flags.writeable:
        base = base.base
    return base is None or isinstance(base, bytes)


def is_number_or_array(thing: Any) -> bool:
    """Whether something is a number, a text, or an array."""
    return type(thing) in ENDS or issubclass(type(thing), (np.ndarray, np.generic))


def holds_numbers(thing: Any) -> bool:
    """Whether something is a tuple or a dictionary of a few of those, or one that is empty; lists may be logs."""
    if type(thing) not in (tuple, dict) or len(thing) > _FEW:
        return False
    return all(map(is_number_or_array, dict.values(thing) if type(thing) is dict else thing))
