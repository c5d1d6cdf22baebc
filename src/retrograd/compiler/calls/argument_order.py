"""Functions that take their arguments in another order: programs know positions only, and differentiate the first."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["as_written", "taking_by_position", "with_first", "written_by_user"]


def taking_by_position(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """The function with its keyword arguments ``names`` as its last positional ones."""

    @functools.wraps(function, updated=())
    def positional(*args: Any) -> Any:
        split = len(args) - len(names)
        return function(*args[:split], **dict(zip(names, args[split:], strict=True)))

    _keywords[positional] = names
    return positional


def with_first(function: Callable[..., Any], positions: Sequence[int], several: bool) -> Callable[..., Any]:
    """The function with the arguments at ``positions`` before all others, in a tuple if ``several``."""
    places = sorted(zip(positions, range(len(positions)), strict=True))

    def in_its_order(first: Any, *others: Any) -> list[Any]:
        arguments = list(others)
        for position, which in places:
            arguments.insert(position, first[which] if several else first)
        return arguments

    @functools.wraps(function, updated=())
    def reordered(first: Any, *others: Any) -> Any:
        return function(*in_its_order(first, *others))

    _orders[reordered] = in_its_order
    return reordered


#: How functions with other arguments first give them to the function that the user wrote.
_orders: weakref.WeakKeyDictionary[Callable[..., Any], Callable[..., list[Any]]] = weakref.WeakKeyDictionary()


#: The names of the keyword arguments that a function takes by position.
_keywords: weakref.WeakKeyDictionary[Callable[..., Any], tuple[str, ...]] = weakref.WeakKeyDictionary()


def written_by_user(
    function: Callable[..., Any], arguments: Sequence[Any]
) -> tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]:
    """The function that the user wrote, and the arguments of a call as it gets them: by position and by keyword."""
    keywords: dict[str, Any] = {}
    while function in _orders or function in _keywords:
        if function in _orders:
            arguments = _orders[function](*arguments)
        else:
            names = _keywords[function]
            split = len(arguments) - len(names)
            keywords |= dict(zip(names, arguments[split:], strict=True))
            arguments = arguments[:split]
        function = function.__wrapped__  # type: ignore[attr-defined]
    return function, arguments, keywords


def as_written(function: Callable[..., Any], arguments: Sequence[Any]) -> Sequence[Any]:
    """The arguments of a call in the order of the function that the user wrote, to tell of them."""
    return _orders[function](*arguments) if function in _orders else arguments
