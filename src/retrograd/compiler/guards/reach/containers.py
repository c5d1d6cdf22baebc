"""The places in containers: the items of lists, the entries of dictionaries, the bytes of arrays."""

from __future__ import annotations

import collections
from array import array
from collections import deque
from collections.abc import Collection
from typing import Any, cast

import numpy as np

from .data import ENDS, are_rows_of_ends, is_read_only
from .frontier import Frontier
from .places import DATA_LIMIT

__all__ = ["BUFFERS", "Containers"]

#: Containers of numbers that have a buffer.
BUFFERS = (np.ndarray, array, bytearray, memoryview)


class Containers:
    """Visits containers."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier, self._places = frontier, frontier.places

    def sequence(self, thing: list[Any] | tuple[Any, ...], path: str) -> None:
        """A list or a tuple."""
        if not self._places.compares(thing, path):
            return
        if isinstance(thing, list):
            self._places.add("items", thing, None, path)
        self._places.things += len(thing)
        if are_rows_of_ends(thing) and self._places.compares_each(thing):
            self._frontier.passes(thing)
            self._places.things += sum(map(len, thing))
        elif not ENDS.issuperset(map(type, thing)):
            for i, item in enumerate(thing):
                self._frontier.ahead(item, f"{path}[{i}]")

    def dictionary(self, thing: dict[Any, Any], path: str) -> None:
        """A dictionary."""
        if not self._places.compares(thing, path):
            return
        self._places.add("entries", thing, None, path)
        if issubclass(type(thing), collections.OrderedDict):
            self._places.add("elements", thing, collections.OrderedDict, path)  # its order is its own
        elif isinstance(thing, collections.defaultdict):
            factory = cast(Any, collections.defaultdict).default_factory
            self._frontier.slot(thing, factory, f"{path}.default_factory")
        for key, item in list(dict.items(thing)):
            self._frontier.ahead(key, f"a key of {path}")
            self._frontier.ahead(item, path + _subscript(key))

    def elements(self, thing: Collection[Any], path: str) -> None:
        """A set or a queue."""
        if not self._places.compares(thing, path):
            return
        base = next(base for base in (set, frozenset, deque) if isinstance(thing, base))
        if base is not frozenset:
            self._places.add("elements", thing, base, path)
        for item in list(cast(Any, base).__iter__(thing)):
            self._frontier.ahead(item, f"an element of {path}")

    def buffer(self, thing: Any, path: str) -> None:
        """An array, or something else with numbers in memory."""
        if isinstance(thing, np.ndarray):
            if thing.dtype == object:
                for item in thing.ravel().tolist():
                    self._frontier.ahead(item, f"an element of {path}")
            if is_read_only(thing):
                return
            if thing.dtype.kind in "mM":  # dates, which have no buffer
                thing = thing.view(np.int64)
        try:
            size = memoryview(thing).nbytes
        except (TypeError, ValueError, BufferError):  # some records have no buffer
            size = DATA_LIMIT + 1
        if self._places.has_room(size, thing, path):
            self._places.add("bytes", thing, None, path)


def _subscript(key: Any) -> str:
    shown = type(key) is str or (type(key) is int and abs(key) < 10**9)
    return f"[{key!r}]" if shown else "[…]"
