"""The functions of the reference engine: every row of the op table as a function, weighted sums, and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ... import errors
from ...ops import NARY, OPS, NaryOp, Op, docs
from .modes import backward_lock
from .nary import reduce
from .rules import worked_example
from .value import GradientSnapshot, Number, Value, apply, evaluate, reached, sweep

__all__ = [
    "Parameters",
    "SpecializationCache",
    "faster_sum",
    "functions",
    "gradients",
    "is_parameter",
    "set_tracer",
    "tape_position",
    "weighted_sum",
]


def weighted_sum(weights: Sequence[Number], inputs: Sequence[Number], start: Number, /) -> Any:
    """``start + w0*x0 + w1*x1 + …``, one node for each operation. Raises ValueError for lengths that differ."""
    weights, inputs = list(weights), list(inputs)
    if len(weights) != len(inputs):
        raise errors.wrong_length(f"a sum with {len(weights)} weights", f"{len(weights)} numbers", len(inputs))
    total = start
    for weight, x in zip(weights, inputs, strict=True):
        total = total + weight * x
    return total


def faster_sum(original: Callable[..., Any], /, *samples: object) -> Callable[..., Any]:
    """``original``: nothing is faster here."""
    return original


def gradients(root: Value, seed: float, xs: Sequence[Value], /) -> list[float]:
    """``seed`` times the derivatives of ``root`` with respect to each of ``xs``; every ``.grad`` stays as it was."""
    with backward_lock:
        values = [*reached(root), *xs]
        before = GradientSnapshot(values)
        try:
            for value in values:
                value._grad = 0.0  # an x that the pass does not reach has gradient zero
            sweep(root, seed)
            return [x._grad for x in xs]
        finally:
            before.restore()


# --- what only the native engine has: its compiler ------------------------------------------------------------

Parameters = tuple[Value, ...]


class SpecializationCache:
    """The reference engine has no compiler. Raises RuntimeError."""

    def __init__(self, *_: object) -> None:
        raise RuntimeError("the reference engine has no compiler; use the native one.")


def set_tracer(tracer: object, /) -> None:
    """Do nothing for None: there is no tracer to remove. Raises RuntimeError for a tracer."""
    if tracer is not None:
        raise RuntimeError("the reference engine has no compiler and cannot be traced; use the native one.")


def tape_position() -> tuple[int, int]:
    """Zeros: nothing is compiled here."""
    return 0, 0


def is_parameter(value: Value, /) -> bool:
    """False: nothing is compiled here."""
    return False


def _function(row: Op | NaryOp, name: str) -> Callable[..., Any]:
    """A row as a function, with the name, signature and documentation that the native engine's has."""

    def operation(*operands: Any) -> Value | float:
        if any(isinstance(operand, Value) for operand in operands):
            return apply(row.name, *operands)
        return evaluate(row.name, *operands)

    def sequence_operation(*sequences: Iterable[Number]) -> Any:
        return reduce(row.name, *sequences)

    if isinstance(row, Op):
        function, text = operation, docs.function_doc(row, name, worked_example)
    else:
        function, text = sequence_operation, docs.nary_doc(row, worked_example)
    function.__name__ = function.__qualname__ = name
    function.__module__ = "retrograd.math"
    function.__doc__ = text
    function.__signature__ = docs.signature(docs.parameters(row))  # type: ignore[attr-defined]
    return function


#: Every public row, and its aliases, as a function of Values and numbers, or of sequences of them.
functions: dict[str, Callable[..., Any]] = {
    **{name: _function(row, name) for row in OPS if row.public for name in (row.name, *row.aliases)},
    **{row.name: _function(row, row.name) for row in NARY},
}
