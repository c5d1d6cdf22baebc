"""Functions that take their arguments in another order: programs know positions only, and differentiate the first."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["taking_by_position", "with_first"]


def taking_by_position(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """The function with its keyword arguments ``names`` as its last positional ones."""

    @functools.wraps(function, updated=())
    def positional(*args: Any) -> Any:
        split = len(args) - len(names)
        return function(*args[:split], **dict(zip(names, args[split:], strict=True)))

    return positional


def with_first(function: Callable[..., Any], positions: Sequence[int], several: bool) -> Callable[..., Any]:
    """The function with the arguments at ``positions`` before all others, in a tuple if ``several``."""
    places = sorted(zip(positions, range(len(positions)), strict=True))

    @functools.wraps(function, updated=())
    def reordered(first: Any, *others: Any) -> Any:
        arguments = list(others)
        for position, which in places:
            arguments.insert(position, first[which] if several else first)
        return function(*arguments)

    return reordered
