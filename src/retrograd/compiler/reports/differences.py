"""What makes the arguments of a call new: the first text, int, type or length that another call had otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .notices import IS_LONGER

__all__ = ["first_difference"]

#: What is part of a program: another one of these is another program.
_STATIC = (int, str, bytes, bool, type(None))

#: So many things are looked at: a container may be in itself.
_MOST = 100_000


def first_difference(before: Sequence[Any], now: Sequence[Any]) -> str:
    """Where the arguments of two calls differ so that no program answers both; empty if that is not found.

    Args:
        before: the arguments of a call.
        now: those of a later one.
    """
    pairs = [(f"argument {i}", one, other) for i, (one, other) in enumerate(zip(before, now, strict=False))]
    pairs.reverse()
    for _ in range(_MOST):
        if not pairs:
            break
        path, one, other = pairs.pop()
        if one is other:
            continue
        if type(one) is not type(other):
            return f"{path} is {_named(other)}, and was {_named(one)}"
        if isinstance(one, _STATIC) and one != other:
            return f"{path} is {_named(other)}, and was {_named(one)}"
        if isinstance(one, np.ndarray) and one.shape != other.shape:
            return f"{path} has the shape {other.shape}, and had {one.shape}"
        if isinstance(one, (list, tuple)) and len(one) != len(other):
            return f"{path} has {len(other)}{IS_LONGER}{len(one)}"
        if isinstance(one, dict) and list(one) != list(other):
            return f"{path} has the keys {list(other)!r:.60}, and had {list(one)!r:.60}"
        pairs += reversed([*_parts(path, one, other)])
    return ""


def _parts(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """What is in two containers of one kind, side by side."""
    if isinstance(one, (list, tuple)):
        yield from ((f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)))
    elif isinstance(one, dict):
        yield from ((f"{path}[{key!r}]", item, other[key]) for key, item in one.items())
    elif dataclasses.is_dataclass(one) and not isinstance(one, type):
        for field in dataclasses.fields(one):
            if hasattr(one, field.name) and hasattr(other, field.name):
                yield f"{path}.{field.name}", getattr(one, field.name), getattr(other, field.name)


def _named(thing: Any) -> str:
    if thing is None:
        return "None"
    kind = type(thing).__name__
    return f"the {kind} {thing!r:.40}" if isinstance(thing, _STATIC) else f"a {kind}"
