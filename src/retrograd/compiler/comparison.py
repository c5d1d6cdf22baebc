"""Comparison: how far what a program computes for a call is from what the function gives, at first and later."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import engine, errors
from ..engine import Value
from ..engine.numbers import is_number
from .calls.arguments import signature_of
from .calls.eager import EagerRunner, Method, Result, number_of
from .calls.outputs import Outputs
from .calls.signature import Signature
from .examples import Example, Examples
from .guards.captured_state import CapturedState
from .reports.reasons import Cause, Reason
from .tracing.recorder import Recorder

__all__ = ["TOLERANCE", "Comparisons", "Difference", "difference", "is_result"]

#: How far a program's value may be from the engine's, relative to the value (or 1), and its gradients, relative to the
#: largest of them. A program that is further away is dropped.
TOLERANCE = 1e-7

#: How far they are where the program is not what the function is. No other program is made then: it might be compared
#: in a call in which the difference does not show.
BY_FAR = 1e-3

#: Where the largest gradient is less than this part of those of the call that a program was made for, it is taken to be
#: that: near an optimum, gradients are rounding errors.
_LEAST = 1e-4


class Difference(NamedTuple):
    """What a comparison found."""

    distance: float  #: 0 where the bits are the same
    largest: float = 0.0  #: of the function's gradients

    @property
    def cause(self) -> Cause:
        """Why a call runs eagerly whose program is so far from the function."""
        return Cause(Reason.DIFFERS if self.distance > BY_FAR else Reason.DISAGREES)


#: Where there is nothing to compare.
UNKNOWN = Difference(1e-6)


def difference(
    cache: engine.SpecializationCache,
    number: int,
    signature: Signature,
    originals: dict[int, Value],
    arguments: tuple[object, ...],
    plain: Result,
    outputs: Outputs | None,
    usual: float = 0.0,
    by_nodes: bool = False,
) -> Difference:
    """How far a program's values and gradients are from those of the plain run of the same call.

    Relative to the value (or 1), and to the largest gradient. ``signature`` is that of the trace; ``originals`` are the
    Values among the arguments of this call. The gradient of several results is that of their sum, each times a weight
    of its own. ``usual`` is the largest gradient of the call that the program was made for. ``by_nodes``: what was
    traced is compared, as the engine would round, and not the vector program.
    """
    sources = [plain.root]
    if outputs is not None:
        sources = outputs.sources(plain.root) or []
        if len(sources) != outputs.count:
            return UNKNOWN
    weights = _weights(outputs)
    found = cache.check(number, arguments, weights, by_nodes)
    numbers = list(map(number_of, sources))
    if found is None:
        # The engine answers calls with numbers that are not finite.
        return UNKNOWN if all(map(math.isfinite, numbers)) else Difference(0.0)
    if found is False:
        return UNKNOWN
    value, pairs, results = found
    root = plain.root if outputs is None else engine.reduce("dot", sources, weights)
    expected, gradients = [0.0] * len(pairs), [gradient for _, gradient in pairs]
    if isinstance(root, Value):
        leaves = _leaves_of_plain_run(signature, originals, plain.signature)
        given = [leaves.get(id(leaf), leaf) for leaf, _ in pairs]
        expected = engine.gradients(root, 1.0, given)
        if any(map(engine.row_name, originals.values())):  # whose gradients flow on, also to others among these
            gradients = engine.gradients(engine.reduce("dot", given, gradients), 1.0, given)
    largest = max(map(abs, filter(math.isfinite, expected)), default=0.0)
    ours = [*([value] if outputs is None else map(float, results)), *gradients]
    theirs = [*numbers, *expected]
    if ours == theirs:  # the interpreter does what the engine does
        return Difference(0.0, largest)
    scale = max(largest, _LEAST * usual, 1e-300)
    scales = [*(max(1.0, abs(number)) for number in numbers), *[scale] * len(expected)]
    return Difference(_farthest(ours, theirs, scales), largest)


def is_result(root: Any, plain_call: bool) -> bool:
    """Whether a program can give what the function returned: a Value or a number, in a call no int of NumPy's."""
    return isinstance(root, Value) or (is_number(root) and not (plain_call and isinstance(root, np.integer)))


class Comparisons:
    """The programs of one function, compared with it in later calls.

    Args:
        refuted: what is done where a program was not the function: with the call it was made for, why, and the types
            of the arguments of the call that has shown it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        cache: engine.SpecializationCache,
        examples: Examples,
        eager: EagerRunner,
        captured: CapturedState,
        tolerance: float,
        refuted: Callable[[Example, Cause, tuple[Any, ...]], None],
    ) -> None:
        self._function, self._cache, self._examples = function, cache, examples
        self._eager, self._captured, self._tolerance, self._refuted = eager, captured, tolerance, refuted

    def verify(self, method: Method, arguments: tuple[Any, ...]) -> None:
        """Compare the program that would answer a call with a plain run. Raises VerificationError."""
        number, example = self._standing(method, arguments)
        if example is None:
            return
        plain = self._eager.run(arguments, method.differentiates_first)
        if self._difference_of(number, example, method, arguments, plain).distance > self._tolerance:
            raise errors.not_the_function(self._function, number)

    def compare(self, method: Method, arguments: tuple[Any, ...]) -> Result | None:
        """Compare the program that would answer a call with the function, if it is to be compared again.

        None where it may answer. Otherwise what the plain run gave: the program was not the function, and is dropped.
        """
        number, example = self._standing(method, arguments)
        if example is None or not self._cache.take_comparison(number):
            return None
        call = self._cache, number, arguments, example.outputs
        before = _numbers_of(*call)
        try:
            plain = self._eager.run(arguments, method.differentiates_first)
            try:
                found = self._difference_of(number, example, method, arguments, plain, by_nodes=True)
            except errors.ChangedValueError:
                return None
            if found.distance <= self._tolerance or _numbers_of(*call) != before:  # another thread trains
                return None
            self._refute(number, example, found.cause, (method.differentiates_first, *map(type, arguments)))
        except BaseException:
            self._cache.drop(number)
            raise
        return plain

    def _standing(self, method: Method, arguments: tuple[Any, ...]) -> tuple[int, Example | None]:
        """The program that would answer a call, with its example; None if there is none."""
        number = self._cache.standing(method.differentiates_first, method is Method.CALL, arguments)
        return (-1, None) if number is None else (number, self._examples.get(number))

    def _difference_of(
        self,
        number: int,
        example: Example,
        method: Method,
        arguments: tuple[Any, ...],
        plain: Result,
        by_nodes: bool = False,
    ) -> Difference:
        """How far a program, or its trace, is from a plain run of a call that it would answer."""
        if example.outputs is None:
            is_value = isinstance(plain.root, Value)
            same_kind = method is not Method.CALL or is_value == (example.number is None)
            if not is_result(plain.root, method is Method.CALL) or not same_kind:
                return UNKNOWN
        first, signature, asks = method.differentiates_first, example.signature, self._captured.asks
        now = signature_of(arguments, Recorder(), first, asks, signature.varying, method is Method.CALL)
        if now.originals.keys() != signature.originals.keys():  # one Value twice, which has one gradient
            return Difference(0.0)
        call = now.originals, arguments, plain, example.outputs
        return difference(self._cache, number, signature, *call, example.largest, by_nodes)

    def _refute(self, number: int, example: Example, cause: Cause, shape: tuple[Any, ...]) -> None:
        """Drop a program that gave something else than the function; and those like it, if by far."""
        is_far = cause.reason is Reason.DIFFERS
        for one in [one for one, _ in self._examples.like(example)] if is_far else [number]:
            self._examples.drop(one)
        self._refuted(example, cause, shape)


def _numbers_of(
    cache: engine.SpecializationCache, number: int, arguments: tuple[object, ...], outputs: Outputs | None
) -> list[float] | None:
    """What a trace computes for a call, so that it can be told whether anything has changed since."""
    found = cache.check(number, arguments, _weights(outputs), True)
    if not found:
        return None
    value, pairs, results = found
    return [value, *(gradient for _, gradient in pairs), *map(float, results)]


def _weights(outputs: Outputs | None) -> list[float]:
    return [1.0 + 0.61803398875 * k % 1.0 for k in range(outputs.count)] if outputs is not None else []


def _farthest(ours: list[float], theirs: list[float], scales: list[float]) -> float:
    """The largest difference of two numbers, in units of its scale; infinite where one of them is not finite."""
    mine, others = np.array(ours), np.array(theirs)
    same = (mine == others) | (np.isnan(mine) & np.isnan(others))
    with np.errstate(all="ignore"):
        far = np.abs(mine - others) / np.array(scales)
    # No np.max: NumPy loses the error where there is no memory.
    return max(
        (
            one if one < math.inf > scale else math.inf
            for one, scale, alike in zip(far.tolist(), scales, same.tolist(), strict=True)
            if not alike
        ),
        default=0.0,
    )


def _leaves_of_plain_run(traced: Signature, originals: dict[int, Value], plain: Signature) -> dict[int, Value]:
    """For each leaf that the trace made in place of an argument, by its id, the leaf of the plain run."""
    # not items(): CPython 3.11 crashes where there is no memory for its iterator
    leaves = {id(traced.active_leaf(offset)): originals[offset] for offset in originals}
    leaves.update(zip(map(id, traced.wanted()), plain.wanted(), strict=True))
    return leaves
