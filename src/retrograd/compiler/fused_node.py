"""The result of a compiled call as a node on the tape: one node, whose local derivatives the program has computed.

A backward pass multiplies them with the upstream gradient, as with any other node. Where they are many, the native
engine runs the program back instead (native/bindings/deferred_call.hpp). A derivative that is itself to be
differentiated needs more than numbers: :attr:`FusedOperation.plain` then runs the function as it is.

Several results are nodes that share one more node, the *call*, which depends on what the program depends on. In a
backward pass each of them leaves its gradient there. The call is older, so its turn comes after all of them, and it
runs the program back once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import engine
from ..engine import Value
from .outputs import Outputs

__all__ = ["FusedCall", "FusedOperation", "fused_node"]


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

    def gradients(self, operands: Sequence[Value], upstream: float) -> list[float]:
        """``upstream`` times the derivatives of that result; for the native engine, where no program can find them."""
        recording = engine.set_recording(True)
        try:
            return list(engine.gradients(self.plain(), upstream, operands))
        finally:
            engine.set_recording(recording)

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


class _CallOperation(str):
    """The name of the node that several results share. It has no number of its own to differentiate."""

    __slots__ = ()
    is_shared = True

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class _ResultOperation(str):
    """The name of one of several results, which knows the call that it is from."""

    __slots__ = ("_call", "_number")
    _call: FusedCall
    _number: int

    def __new__(cls, call: FusedCall, number: int) -> _ResultOperation:
        self = super().__new__(cls, call.name)
        self._call, self._number = call, number
        return self

    def plain(self) -> Any:
        """The same result of the same call, recorded operation by operation."""
        return self._call.plain()[self._number]

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class FusedCall:
    """One call of a program with several results, on the tape."""

    def __init__(
        self,
        cache: engine.SpecializationCache,
        replay: object,
        operands: Sequence[Value],
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        outputs: Outputs,
    ) -> None:
        self.name: str = getattr(function, "__name__", "compiled")
        self._cache, self._replay, self._operands = cache, replay, operands
        self._function, self._arguments, self._outputs = function, arguments, outputs
        self._adjoints = [0.0] * outputs.count
        self._plain: list[Any] | None = None
        self._results: list[Value] = []
        self._node = Value(0.0, operands, _CallOperation(self.name))
        self._node._backward = self._run_back

    def results(self, numbers: Sequence[float]) -> list[Value]:
        """A node for each number that the program gave."""
        for number, data in enumerate(numbers):
            node = Value(data, (self._node,), _ResultOperation(self, number))
            node._backward = functools.partial(self._take, number, node)
            self._results.append(node)
        return self._results

    def _take(self, number: int, result: Value) -> None:
        """A backward pass has the gradient of one result."""
        if self._node.grad == 0.0:  # the first one in this pass
            self._adjoints = [0.0] * self._outputs.count
            self._node.grad = 1.0  # a node without a gradient would be passed over
        self._adjoints[number] += result.grad

    def _run_back(self) -> None:
        """A backward pass has the gradients of all results."""
        inner = self._outputs.inner  # of these the gradient comes from inside the call, too, where it has no nodes
        slopes: Sequence[float] | None = None if inner else self._cache.replay(self._replay, self._adjoints)
        totals: Sequence[float] = ()
        if slopes is None:  # or numbers that are not finite
            slopes, totals = self._plain_gradients(inner)
        for operand, slope in zip(self._operands, slopes, strict=True):
            operand.grad += slope
        for number, total in zip(inner, totals, strict=True):
            self._results[number].grad = total

    def _plain_gradients(self, inner: Sequence[int]) -> tuple[Sequence[float], Sequence[float]]:
        """By an uncompiled run, the derivatives with respect to the operands and to the inner results."""
        recording = engine.set_recording(True)
        try:
            results = self.plain()
            root = engine.reduce("dot", results, self._adjoints)
            found = engine.gradients(root, 1.0, [*self._operands, *(results[number] for number in inner)])
        finally:
            engine.set_recording(recording)
        return found[: len(self._operands)], found[len(self._operands) :]

    def plain(self) -> list[Any]:
        """The results of the same call, recorded operation by operation, once."""
        if self._plain is None:
            recording = engine.set_recording(True)
            try:
                self._plain = self._outputs.sources(self._function(*self._arguments)) or []
            finally:
                engine.set_recording(recording)
        return self._plain
