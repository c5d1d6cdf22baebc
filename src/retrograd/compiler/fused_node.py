"""The result of a compiled call as a node on the tape: one node, whose local derivatives the program has computed.

A backward pass multiplies them with the upstream gradient, as with any other node. A derivative that is itself to be
differentiated needs more than numbers: :attr:`FusedOperation.plain` then runs the function as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine import Value

__all__ = ["FusedOperation", "fused_node"]


class FusedOperation(str):
    """The name of the operation that a fused node is, which knows the call that it stands for."""

    __slots__ = ("_arguments", "_function")
    _function: Callable[..., Any]
    _arguments: tuple[Any, ...]

    def __new__(cls, function: Callable[..., Any], arguments: tuple[Any, ...]) -> FusedOperation:
        self = super().__new__(cls, getattr(function, "__name__", "compiled"))
        self._function, self._arguments = function, arguments
        return self

    def plain(self) -> Any:
        """The result of the same call, recorded operation by operation."""
        return self._function(*self._arguments)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """A copy or a pickle is the name alone."""
        return str, (str(self),)


def fused_node(
    data: float,
    operands: Sequence[Value],
    slopes: Sequence[float],
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> Value:
    """A node with the value ``data`` that depends on ``operands``, with the local derivatives ``slopes``."""
    return Value(data, operands, FusedOperation(function, arguments), local_grads=slopes)
