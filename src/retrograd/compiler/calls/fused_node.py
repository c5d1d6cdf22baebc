"""The result of a compiled call as a node on the tape: one node, whose local derivatives the program has computed.

A backward pass multiplies them with the upstream gradient, as with any other node. Where they are many, the native
engine runs the program back instead (native/bindings/deferred_call.hpp). A derivative that is itself to be
differentiated needs more than numbers: :attr:`FusedOperation.plain` then runs the function as it is. That must give
what the call gave: a list among the arguments, or what the function reads, may have changed since.

Several results are nodes that share one more node, the *call*, which depends on what the program depends on. In a
backward pass each of them leaves its gradient there. The call is older, so its turn comes after all of them, and it
runs the program back once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ... import engine
from ...engine import Value
from ...errors import ChangedValueError
from .eager import number_of
from .outputs import Outputs

__all__ = ["FusedCall", "FusedOperation"]


def _shares(root: Value, upstream: float, operands: Sequence[Value]) -> list[float]:
    """What each operand adds to a gradient: of one that is there several times, the first has all of it."""
    found: dict[int, float] = {}
    for operand, gradient in zip(operands, engine.gradients(root, upstream, operands), strict=True):
        found.setdefault(id(operand), gradient)
    return [found.pop(id(operand), 0.0) for operand in operands]


#: How far a call may be from an uncompiled run: from its number, or 1, and from its largest derivative.
_ROUNDING = 1e-6


def _check(name: str, ours: Sequence[float], theirs: Sequence[float], scale: float) -> None:
    """Raise if an uncompiled run of a call gives other numbers than the call did, by more than rounding."""
    pairs = [(one, other) for one, other in zip(ours, theirs, strict=False) if math.isfinite(one)]
    alike = all(abs(one - other) <= _ROUNDING * max(scale, abs(one)) for one, other in pairs)  # no NaN
    if not alike or len(ours) != len(theirs):
        raise ChangedValueError(
            f"an argument of {name}(), or what it reads, has changed since the call whose derivative is to be "
            "differentiated: call it again, or take the derivative before the change."
        )


def _checked(name: str, result: Any, node: Value) -> Any:
    """The result of a plain run, which must have the derivatives of ``node``, too."""
    before = engine.set_tracer(None)
    try:
        sources = [one for one in engine.operands(node) if isinstance(one, Value)]
        if len(sources) == 1 and type(sources[0]._op) is _SharedOperation:
            sources = [one for one in engine.operands(sources[0]) if isinstance(one, Value)]
        ours = engine.gradients(node, 1.0, sources)
        theirs = engine.gradients(result, 1.0, sources) if isinstance(result, Value) else [0.0] * len(sources)
    finally:
        engine.set_tracer(before)
    _check(name, ours, theirs, max(map(abs, filter(math.isfinite, ours)), default=0.0))
    return result


class FusedOperation(str):
    """The name of the operation that a fused node is, which knows the call that it stands for, and its number."""

    __slots__ = ("_arguments", "_function", "_number")
    _function: Callable[..., Any]
    _arguments: tuple[Any, ...]
    _number: float

    def __new__(
        cls, name: str, function: Callable[..., Any], arguments: tuple[Any, ...], number: float
    ) -> FusedOperation:
        self = str.__new__(cls, name)
        self._function, self._arguments, self._number = function, arguments, number
        return self

    @property
    def call(self) -> object:
        """The call, which has this one result."""
        return self

    def plain(self, node: Value | None = None) -> Any:
        """The result of the same call, which ``node`` is, recorded operation by operation."""
        result = self._function(*self._arguments)
        _check(self, [self._number], [number_of(result)], 1.0)
        return result if node is None else _checked(self, result, node)

    def gradients(self, operands: Sequence[Value], upstream: float) -> list[float]:
        """``upstream`` times the derivatives of that result; for the native engine, where no program can find them."""
        recording = engine.set_recording(True)
        try:
            return _shares(self.plain(), upstream, operands)
        finally:
            engine.set_recording(recording)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """A copy or a pickle is the name alone."""
        return str, (str(self),)


class _SharedOperation(str):
    """The name of the node that several results share. It has no number of its own to differentiate."""

    __slots__ = ()
    is_shared = True

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


_shared_operation = functools.cache(_SharedOperation)  # it knows nothing of its call


class _ResultOperation(str):
    """The name of the results of a call with several, which knows the call."""

    __slots__ = ("_call",)
    _call: FusedCall

    def __new__(cls, call: FusedCall) -> _ResultOperation:
        self = super().__new__(cls, call.name)
        self._call = call
        return self

    @property
    def call(self) -> object:
        """The call, whose results this is one of."""
        return self._call

    def plain(self, node: Value) -> Any:
        """The same result of the same call, recorded operation by operation."""
        return _checked(self, self._call.plain()[engine.output_index(node)], node)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class FusedCall:
    """One call of a program with several results, on the tape."""

    def __init__(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...], outputs: Outputs) -> None:
        self.name = name
        self._function, self._arguments, self._outputs = function, arguments, outputs
        self._plain: list[Any] | None = None
        self._numbers: Sequence[float] = ()

    def results(self, cache: engine.SpecializationCache, call: object, numbers: list[float]) -> list[Value]:
        """A node for each number that the program gave."""
        self._numbers = numbers
        shared, own = _shared_operation(self.name), _ResultOperation(self)
        return cache.joint(call, numbers, shared, own, self._gradients, True)

    def _gradients(self, operands: Sequence[Value], cotangents: Sequence[float]) -> list[float]:
        """By an uncompiled run, the derivatives of the results times the cotangents."""
        recording = engine.set_recording(True)
        try:
            return _shares(engine.reduce("dot", self.plain(), cotangents), 1.0, operands)
        finally:
            engine.set_recording(recording)

    def plain(self) -> list[Any]:
        """The results of the same call, recorded operation by operation, once."""
        if self._plain is None:
            recording = engine.set_recording(True)
            try:
                found = self._outputs.sources(self._function(*self._arguments)) or []
                _check(self.name, self._numbers, list(map(number_of, found)), 1.0)
                self._plain = found
            finally:
                engine.set_recording(recording)
        return self._plain
