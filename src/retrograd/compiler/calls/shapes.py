"""The shape of a call's arguments: what is alike in calls that one program may answer."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

__all__ = ["shape_of"]

#: What is compared with ``==``.
_CONSTANTS = frozenset({int, bool, str, bytes, type(None)})
_FLOATS = frozenset({float})
#: What is nested more deeply is as deep as this.
_DEEPEST = 32


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
