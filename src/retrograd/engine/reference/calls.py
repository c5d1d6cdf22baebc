"""The functions of the reference engine: every row of the op table as a function, weighted sums, and gradients."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import errors
from ...ops import NARY, OPS, NaryOp, Op, docs
from ..numbers import is_number, to_tuple
from .modes import backward_lock
from .nary import reduce
from .rules import worked_example
from .value import GradientSnapshot, Number, Value, apply, evaluate, reached, structural_leaves, sweep

__all__ = [
    "ComparisonTracer",
    "NumberTracer",
    "Parameters",
    "SpecializationCache",
    "concrete",
    "contents",
    "first_extreme",
    "following_extreme",
    "functions",
    "gradients",
    "hear_calls",
    "is_parameter",
    "keep_fallible",
    "set_tracer",
    "sparse_gradients",
    "tape_position",
    "weighted_sum",
]


def weighted_sum(weights: Sequence[Number], inputs: Sequence[Number], start: Number, /) -> Any:
    """``start + w0*x0 + w1*x1 + …``, one node for each operation. Raises ValueError for lengths that differ."""
    weights, inputs = list(weights), to_tuple(inputs, "a layer")
    if any(isinstance(x, (list, tuple, np.ndarray)) for x in inputs):
        raise errors.batch_given(len(weights), inputs[0])
    if len(weights) != len(inputs):
        raise errors.wrong_inputs(len(weights), len(inputs))
    total = start
    for weight, x in zip(weights, inputs, strict=True):
        total = total + weight * x
    return total


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


def sparse_gradients(roots: Sequence[Number], leaves: Sequence[Value], /) -> tuple[bytearray, bytearray, bytearray]:
    """The derivatives of each root with respect to the leaves it depends on, as compressed sparse rows, in bytes.

    The entries of row i are ``starts[i]`` to ``starts[i + 1]`` of ``columns`` and ``numbers`` (int64, int64, float64).
    Every ``.grad`` stays as it was.
    """
    places = {id(leaf): column for column, leaf in enumerate(leaves)}
    if len(places) < len(leaves) or any(leaf._record is not None for leaf in leaves):
        raise ValueError("sparse_gradients() needs leaves, each of them once.")
    starts, columns, numbers = array("q", [0]), array("q"), array("d")
    for root in roots:
        if isinstance(root, Value):
            row = sorted(places[id(leaf)] for leaf in structural_leaves(root) if id(leaf) in places)
            columns.extend(row)
            numbers.extend(gradients(root, 1.0, [leaves[column] for column in row]))
        starts.append(len(columns))
    return bytearray(starts.tobytes()), bytearray(columns.tobytes()), bytearray(numbers.tobytes())


# --- what only the native engine has: its compiler ------------------------------------------------------------

Parameters = tuple[Value, ...]


class ComparisonTracer:
    """What a comparison in a trace is made of. The reference engine traces nothing."""


class NumberTracer:
    """What a float of a trace is made of. The reference engine traces nothing."""


class SpecializationCache:
    """The reference engine has no compiler. Raises RuntimeError."""

    def __init__(self, *_: object) -> None:
        raise RuntimeError("the reference engine has no compiler; use the native one.")


def set_tracer(tracer: object, /) -> None:
    """Do nothing for None: there is no tracer to remove. Raises RuntimeError for a tracer."""
    if tracer is not None:
        raise RuntimeError("the reference engine has no compiler and cannot be traced; use the native one.")


def concrete(value: Value, /) -> float:
    """``value.data``, about which no tracer is asked."""
    return value.data


def contents(
    thing: Any, deep: int, is_container: Callable[[type], bool], of_other: Callable[[Any, int], Any], /
) -> object:
    """Nothing: nothing is compiled here."""
    return None


def hear_calls(setter: int, listener: Callable[[Any, str, Any], object], /) -> None:
    """Do nothing: nothing is compiled here."""


def keep_fallible(on: bool, /) -> list[Value]:
    """No nodes: nothing is traced here."""
    return []


def first_extreme(
    items: Sequence[Any], largest: bool, constants: Mapping[bytes, Value], /
) -> tuple[Value, tuple[Value, ...], int] | None:
    """Nothing: nothing is traced here."""
    return None


def following_extreme(
    name: str,
    module: str,
    original: Callable[..., Any],
    otherwise: Callable[..., Any],
    selection: type,
    choice: object,
    /,
) -> Callable[..., Any]:
    """The same as ``otherwise``: nothing is traced here."""
    return otherwise


def tape_position() -> tuple[int, int]:
    """Zeros: nothing is compiled here."""
    return 0, 0


def is_parameter(value: Value, /) -> bool:
    """False: nothing is compiled here."""
    return False


def _function(row: Op | NaryOp, name: str) -> Callable[..., Any]:
    """A row as a function, with the name, signature and documentation that the native engine's has."""

    def operation(*operands: Any) -> Any:
        from .. import elementwise, norm  # they import the engine that is being loaded

        if row.name == "log" and len(operands) == 2:  # log(x, base), as in Python's math
            return operation(operands[0]) if operands[1] is None else operation(operands[0]) / operation(operands[1])
        if row.name == "hypot" and len(operands) != 2:
            return norm.of_any_number(row.name, operands)
        if not all(isinstance(operand, Value) or is_number(operand) for operand in operands):
            return elementwise.on_elements(row.name, operands)
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
    function.__signature__ = docs.function_signature(row)  # type: ignore[attr-defined]
    return function


#: Every public row, and its aliases, as a function of Values and numbers, or of sequences of them.
functions: dict[str, Callable[..., Any]] = {
    **{name: _function(row, name) for row in OPS if row.public for name in (row.name, *row.aliases)},
    **{row.name: _function(row, row.name) for row in NARY},
}
