"""What arms store in objects: it is undone after each arm, and what is selected is stored after both.

And arrays in which nothing may be stored any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

__all__ = ["KeptArrays", "Place", "Stored", "Stores", "selected"]


class Place(NamedTuple):
    """An attribute or an item of an object."""

    holder: Any
    name: Any
    is_item: bool

    def read(self) -> Any:
        return self.holder[self.name] if self.is_item else getattr(self.holder, self.name)

    def write(self, thing: Any) -> None:
        if self.is_item:
            self.holder[self.name] = thing
        else:
            setattr(self.holder, self.name, thing)

    def key(self) -> tuple[Any, ...]:
        """What tells it from other places, as long as its object lives."""
        return id(self.holder), self.is_item, self.name


#: What was stored in places, by their keys.
Stored = dict[tuple[Any, ...], tuple[Place, Any]]


class Stores:
    """The places in which one arm has stored something, and what they held before."""

    def __init__(self) -> None:
        self._before: Stored = {}
        self._holders: Counter[int] = Counter()  # how many of the places are in one object, by its id

    def __bool__(self) -> bool:
        return bool(self._before)

    def store(self, place: Place, thing: Any) -> None:
        """Store a thing in a place that holds one."""
        if (key := place.key()) not in self._before:
            self._before[key] = place, place.read()
            self._holders[id(place.holder)] += 1
        place.write(thing)

    def holds(self, thing: Any) -> int:
        """How many of the places are in an object."""
        return self._holders[id(thing)]

    def forget(self) -> None:
        """Put back what was there before, in places that are still there: plain code may have taken some away."""
        for place, thing in self._before.values():
            with suppress(Exception):
                place.write(thing)
        self._before.clear()
        self._holders.clear()

    def undo(self) -> Stored:
        """Put back what was there before. What was there now, by place."""
        found = {key: (place, place.read()) for key, (place, _) in self._before.items()}
        for place, thing in self._before.values():
            place.write(thing)
        self._before.clear()
        self._holders.clear()
        return found


def selected(yes: Stored, no: Stored, select: Callable[[Any, Any], Any]) -> list[tuple[Place, Any]]:
    """What is to be stored after two arms, each of which has stored some things."""
    places = {key: place for key, (place, _) in (*yes.items(), *no.items())}
    made = []
    for key, place in places.items():
        before = place, place.read()
        made.append((place, select(yes.get(key, before)[1], no.get(key, before)[1])))
    return made


class KeptArrays:
    """Arrays that decisions chose from: the function must not change them from then on."""

    def __init__(self) -> None:
        self._kept: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def keep(self, *arrays: np.ndarray[Any, Any]) -> None:
        """Remember what these hold."""
        self._kept += ((one, one.copy()) for one in arrays)

    def have_changed(self) -> bool:
        """Whether one of them holds something else than it did: other objects, or other bits."""
        return any(one.tobytes() != then.tobytes() for one, then in self._kept)
