"""The structure of a call's arguments, and those that there were: what is alike where one program may answer."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

__all__ = ["MANY", "Structures", "shape_of"]

#: What is compared with ``==``.
_CONSTANTS = frozenset({int, bool, str, bytes, type(None)})
_FLOATS = frozenset({float})
#: What is nested more deeply is as deep as this.
_DEEPEST = 32
#: So many are more than there are programs.
MANY = 192
#: So many structures are remembered before all are forgotten.
_MOST_STRUCTURES = 65_536


def shape_of(thing: Any, depth: int = 0) -> Any:
    """What must be the same of an argument in calls that one program answers, roughly.

    Lengths, keys, types, and plain constants, but no floats; of objects their type alone. It can be hashed.
    """
    kind = type(thing)
    if kind in _CONSTANTS:
        return kind, thing
    if depth > _DEEPEST:
        return kind
    if kind in (list, tuple):
        if _FLOATS.issuperset(map(type, thing)):
            return kind, len(thing)
        return kind, *(shape_of(item, depth + 1) for item in thing)
    if kind is dict:
        return kind, *((shape_of(key, depth + 1), shape_of(item, depth + 1)) for key, item in thing.items())
    if kind is np.ndarray:
        return kind, thing.shape, thing.dtype.str, thing.tobytes() if thing.dtype.kind in "iub" else b""
    if isinstance(thing, tuple) and hasattr(kind, "_make"):
        return kind, *(shape_of(item, depth + 1) for item in thing)
    if dataclasses.is_dataclass(kind) and type(attributes := getattr(thing, "__dict__", None)) is dict:
        return kind, *(shape_of(item, depth + 1) for item in attributes.values())
    return kind


class Structures:
    """Those of calls, once most of the last ones had one of their own: one that comes again is worth a program."""

    def __init__(self) -> None:
        self._seen: set[int] | None = None

    @property
    def are_many(self) -> bool:
        """Whether there are too many for a program each."""
        return self._seen is not None and len(self._seen) > MANY

    @property
    def are_watched(self) -> bool:
        """Whether calls of a new structure run eagerly."""
        return self._seen is not None

    def watch(self) -> None:
        """From now on they do."""
        self._seen = set()

    def is_new(self, differentiate_first: bool, arguments: tuple[Any, ...]) -> bool:
        """Whether a call that no program answers has a structure of its own, as far as is known."""
        if self._seen is None:
            return False
        structure = hash((differentiate_first, *map(shape_of, arguments)))
        if structure in self._seen:
            return False
        if len(self._seen) >= _MOST_STRUCTURES:
            self._seen.clear()
        self._seen.add(structure)
        return True
