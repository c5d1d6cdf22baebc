"""The places that are found, and how much data calls compare there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .data import is_data, weighed

__all__ = ["DATA_LIMIT", "LIMIT", "Place", "Places"]

#: A place as native/compiler/guards/state_guards.hpp reads it.
Place = tuple[str, Any, Any]

#: Things in places, at most: beyond them nothing is looked at.
LIMIT = 200_000

#: Bytes of data that calls compare, at most: 8 an item, and 64 a container.
DATA_LIMIT = 64 * 1024


class Places:
    """Places, in the order in which they are found.

    Attributes:
        found: the places.
        paths: how a user would write each of them.
        frozen: data that no call compares, because there is too much of it, by its paths.
        things: how many things are in them.
    """

    def __init__(self) -> None:
        self.found: list[Place] = []
        self.paths: list[str] = []
        self.frozen: dict[str, Any] = {}
        self.things: int = 0
        self._data = 0
        self._weighed: set[int] = set()  # containers of data for which there is room
        self._noted: set[tuple[int, Any]] = set()

    def add(self, kind: str, thing: Any, name: Any, path: str) -> None:
        """A place is found."""
        self.found.append((kind, thing, name))
        self.paths.append(path)
        self.things += 1

    def is_new(self, thing: Any, name: Any = None) -> bool:
        """Whether a thing, or what it has under a name, is asked for the first time."""
        noted = len(self._noted)
        self._noted.add((id(thing), name))
        return len(self._noted) > noted

    def compares(self, thing: Any, path: str) -> bool:
        """Whether there is room to compare a container in every call. If not, it is frozen."""
        if id(thing) in self._weighed or not is_data(thing):
            return True  # what it holds is visited, and the function reads it one by one
        size, inside = weighed(thing, DATA_LIMIT - self._data)
        if not self.has_room(size, thing, path):
            return False
        self._weighed |= inside
        return True

    def compares_each(self, things: Iterable[Any]) -> bool:
        """Whether there is room for each of some containers in another one."""
        return self._weighed.issuperset(map(id, things))

    def has_room(self, size: int, thing: Any, path: str) -> bool:
        """Whether so many bytes more can be compared, which are then; else the thing is frozen."""
        if self._data + size > DATA_LIMIT:
            self.frozen[path] = [self.frozen[path], thing] if path in self.frozen else thing  # two may be written alike
            return False
        self._data += size
        return True
