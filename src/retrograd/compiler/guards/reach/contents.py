"""What objects, slots of classes, cells of closures and caches hold, looked at without running code of the user's."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

from .data import ENDS

__all__ = [
    "MOST_RESULTS",
    "attributes_of",
    "content_of_slot",
    "contents_of_cell",
    "forget_results",
    "has_buffer",
    "is_bounded",
    "is_in_order",
    "open_results",
    "results_of",
]

#: So many results of a cache are looked at.
MOST_RESULTS = 1000
#: A bounded cache that has room for so many more is not about to drop any.
_ROOM = 64


def attributes_of(thing: Any) -> tuple[dict[str, Any], ...]:
    """The dictionary of an object's attributes, if it has a plain one."""
    try:
        attributes = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return ()
    return (attributes,) if type(attributes) is dict else ()


def has_buffer(thing: Any) -> bool:
    """Whether something has numbers in memory that others may write."""
    try:
        return not memoryview(thing).readonly
    except (TypeError, ValueError, BufferError):
        return False


def content_of_slot(slot: types.MemberDescriptorType, thing: Any) -> tuple[Any, ...]:
    """What an object has in a slot, if it has something there."""
    with suppress(AttributeError):  # nothing was assigned yet
        return (slot.__get__(thing),)
    return ()


def contents_of_cell(cell: types.CellType) -> tuple[Any, ...]:
    """What a variable of a closure holds, if it holds something."""
    with suppress(ValueError):  # nothing was assigned yet
        return (cell.cell_contents,)
    return ()


def results_of(cached: Any) -> dict[Any, Any]:
    """The results of an ``lru_cache`` by its arguments; if they are bounded, they are behind links."""
    found = [one for one in _inside(cached) if type(one) is dict]
    return next((one for one in found if _has_links(one)), {}) if is_bounded(cached) else found[0] if found else {}


def forget_results(cached: Any, of: Callable[[Any], bool]) -> None:
    """Take results out of an ``lru_cache``: those for some arguments, or, if it is bounded and has links, all."""
    results = results_of(cached)
    kept = {arguments: result for arguments, result in [*results.items()] if not of(arguments)}
    if len(kept) == len(results):
        return
    if is_bounded(cached):
        cached.cache_clear()
        return
    results.clear()
    results.update(kept)


def is_in_order(cached: Any) -> bool:
    """Whether it may soon matter in which order an ``lru_cache`` was asked for its results: it drops one of them."""
    most, size = cached.cache_parameters()["maxsize"], cached.cache_info().currsize
    return most is not None and size > 1 and most - size < _ROOM


def open_results(cached: Any) -> list[Any]:
    """Those of them that may change; of a bounded cache, arguments like that, too."""
    if cached.cache_info().currsize == 0:
        return []
    if is_bounded(cached):  # which refers to both itself
        results: Iterable[Any] = (one for one in _inside(cached) if not (type(one) is dict and _has_links(one)))
    else:
        results = results_of(cached).values()
    return [one for one in islice(results, 2 * MOST_RESULTS) if _may_change(one)]


def _inside(cached: Any) -> list[Any]:
    """What a cache refers to, but for its attributes and its function."""
    return [one for one in gc.get_referents(cached) if one is not vars(cached) and one is not cached.__wrapped__]


def is_bounded(cached: Any) -> bool:
    """Whether an ``lru_cache`` drops results, and keeps them in an order."""
    return cached.cache_parameters()["maxsize"] is not None


def _has_links(results: dict[Any, Any]) -> bool:
    return any(type(one).__name__ == "_lru_list_elem" for one in islice(results.values(), 1))


def _may_change(thing: Any) -> bool:
    kind = type(thing)
    if kind is tuple:
        return any(map(_may_change, thing))
    return kind not in ENDS and kind is not object and kind is not type and kind.__module__ != "functools"
