"""Eager calls: run the function itself on the engine, and answer as a program would have."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ... import engine
from ...autodiff.active import running_transform
from ...autodiff.sweeps import first_derivatives
from ...engine import Value
from ...engine.pytree import Structure, flatten, new_leaves, single_output
from ..reports.reasons import Cause
from .overhead import Overhead, now
from .signature import Gradient, Signature

__all__ = ["EagerRunner", "Method", "Result", "answer", "number_of", "scalar", "sum_of"]


class Method(enum.Enum):
    """How a compiled function was called. The values are the names of the native cache's methods."""

    CALL = "call"
    BACKWARD = "backward"
    GRADIENTS = "gradients"

    @property
    def differentiates_first(self) -> bool:
        """Whether gradients are taken of the first argument instead of the parameters."""
        return self is Method.GRADIENTS


class Result(NamedTuple):
    """What the function returned, and the signature of the call, which knows the leaves behind the arguments."""

    root: Any  #: a Value or a number, or whatever a function returns that is only called
    signature: Signature
    structure: Structure | None = None  #: of the first argument, if it was differentiated


class EagerRunner:
    """Runs one function on the engine, and counts why."""

    def __init__(self, function: Callable[..., Any], causes: Counter[Cause]) -> None:
        self._function, self._causes = function, causes
        self.overhead: Overhead | None = None  #: what is told how long runs take

    def answer(self, method: Method, arguments: tuple[Any, ...], cause: Cause) -> Any:
        """Run the function for one call, and answer it."""
        began = now()
        if not method.differentiates_first:
            found = answer(method, self.run(arguments, False, cause))
        else:
            before = engine.set_recording(True)  # gradients are wanted even inside no_grad, as grad() gives them
            try:
                found = answer(method, self.run(arguments, True, cause))
            finally:
                engine.set_recording(before)
        if self.overhead is not None:
            self.overhead.ran(began)
        return found

    def run(self, arguments: tuple[Any, ...], differentiate_first: bool, cause: Cause | None = None) -> Result:
        """Run the function once. With ``differentiate_first``, the numbers of the first argument become variables."""
        if cause is not None:
            self._causes[cause] += 1
        signature = Signature()
        if not differentiate_first:
            return Result(self._function(*arguments), signature)
        given, variables = list(arguments), list[Value]()
        with running_transform(variables):  # as value_and_grad does, so that derivatives inside can be differentiated
            leaves, structure = flatten(arguments[0], "the first argument")
            if structure.kind == "module":
                signature.gradients.extend(Gradient(parameter=leaf) for leaf in leaves)  # type: ignore[arg-type]
            else:
                variables += new_leaves(leaves)
                given[0] = structure.fill(variables)
                signature.add_variables(variables)
            return Result(self._function(*given), signature, structure)


def answer(method: Method, result: Result) -> Any:
    """What a call of ``method`` returns, from what the function returned. Adds to ``.grad`` where ``method`` does."""
    if method is Method.CALL:
        return result.root
    root, signature = scalar(result.root), result.signature
    value = number_of(root)
    if method is Method.BACKWARD:
        if isinstance(root, Value):
            root.backward()
        return value
    assert result.structure is not None
    gradients = _gradients(root, signature) if isinstance(root, Value) else [0.0] * len(signature.gradients)
    return value, result.structure.collect(gradients)


def scalar(root: Any) -> Value | float:
    """The one Value or number that a function returned. Raises TypeError when that is something else."""
    return single_output(root, "the function's result")


def _gradients(root: Value, signature: Signature) -> list[float]:
    return first_derivatives(root, signature.wanted())


def number_of(root: Value | float) -> float:
    """The number that the function returned."""
    return root.data if isinstance(root, Value) else float(root)


def sum_of(roots: Sequence[Value | float]) -> Value | float:
    """The sum of several results: a node if one is, so that a single sweep differentiates all of them, or none."""
    if any(isinstance(root, Value) for root in roots):
        total: Value = engine.reduce("sum", roots)
        return total
    return float(sum(number_of(root) for root in roots))
