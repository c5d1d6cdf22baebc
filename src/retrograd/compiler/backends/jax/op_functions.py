"""The rows of the op table as JAX functions, differentiated by the table's own partials.

Each function computes its row's forward formula elementwise. Nothing raises: outside the domain the result is an
infinity or NaN. Derivatives of every order use the table's partials and follow retrograd's conventions: at kinks and
ties, at structural zeros, and where a zero cotangent meets an infinite or undefined partial, which gives zero.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ....ops import OPS, Op
from ....ops.formula import compile_python, guarded, operand_names, parse, to_jax
from ....ops.jax_functions import primitives
from .absorbing import absorbing_product

__all__ = ["folds", "row_functions", "smallest"]

Function = Callable[..., Any]


@cache
def row_functions() -> dict[str, Function]:
    """A function of arrays for each row with a fixed number of operands, by name."""
    import jax.numpy as jnp

    library = primitives()
    functions: dict[str, Function] = {"select": jnp.where, "logical_not": jnp.logical_not}
    for row in OPS:
        names = operand_names(row.name)[:-1]
        forward = library[row.name] if row.primitive else _compiled(parse(row.forward, names), names, functions)
        functions[row.name] = _differentiable(row, forward, functions)
    return functions


@cache
def folds() -> dict[str, Function]:
    """Rows of the scalar graph that are none of the table, and those of which JAX has the table's partials itself."""
    import jax
    import jax.numpy as jnp

    return {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "neg": operator.neg,
        "sum": lambda a, b=0.0: a + b,
        "max": lambda a, b: -_smaller(-a, -b),
        "min": _smaller,
        "first_max": lambda a, b: jnp.where(b > a, b, a),
        "first_min": lambda a, b: jnp.where(b < a, b, a),
        "largest": jax.lax.stop_gradient,
    }


def _smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers, as :func:`smallest`: equal ones share the gradient."""
    import jax.numpy as jnp

    return jnp.where(a < b, a, jnp.where(b < a, b, 0.5 * a + 0.5 * b))


def smallest(rows: Any) -> Any:
    """The smallest number along the last axis; equal ones share the gradient, and all of them where one is NaN.

    JAX's own gradient goes to what equals the result. XLA may compute either of them again, in another fusion and with
    other roundings: then it goes nowhere. Here it goes to the first of the smallest ones at least.
    """
    import jax
    import jax.numpy as jnp

    def apply(numbers: Any) -> Any:
        at = jnp.argmin(numbers, axis=-1, keepdims=True)
        return jnp.take_along_axis(numbers, at, axis=-1)[..., 0]

    function: Any = jax.custom_jvp(apply)

    def jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
        (numbers,), (t,) = primals, tangents
        y = function(numbers)[..., None]  # which has this rule in derivatives of higher order
        first = jnp.arange(numbers.shape[-1]) == jnp.argmin(numbers, axis=-1, keepdims=True)
        chosen = (first | (numbers == y) | (y != y)).astype(t.dtype)
        return y[..., 0], jnp.sum(t * chosen, axis=-1) / jnp.sum(chosen, axis=-1)

    function.defjvp(jvp)
    return function(rows)


def _compiled(formula: ast.expr, names: Sequence[str], functions: dict[str, Function]) -> Function:
    """A formula as a function. It is compiled in its first call, when ``functions`` has all rows that it uses."""
    parameters = ", ".join(names)
    compiled: list[Function] = []

    def call(*operands: Any) -> Any:
        if not compiled:
            compiled.append(compile_python(formula, parameters, functions, to_jax))
        return compiled[0](*operands)

    return call


def _differentiable(row: Op, forward: Function, functions: dict[str, Function]) -> Function:
    """A row as a function that JAX differentiates by the row's partials."""
    import jax

    names = operand_names(row.name)
    partials = [_Partial(text, names, functions) for text in row.partials]
    for static in row.static:
        partials[static].contribution = None
    if not any(partial.contribution for partial in partials):
        return lambda *operands: forward(*map(jax.lax.stop_gradient, operands))

    def function(*operands: Any) -> Any:
        varying = [position for position, operand in enumerate(operands) if not _is_constant(operand)]
        return _apply_row(forward, partials, operands, varying) if varying else forward(*operands)

    return function


def _is_constant(operand: Any) -> bool:
    """Whether an operand is a literal, and one at which Python's arithmetic gives what JAX's gives."""
    return isinstance(operand, float) and operand != 0.0 and math.isfinite(operand)


def _apply_row(forward: Function, partials: list[_Partial], operands: Sequence[Any], varying: list[int]) -> Any:
    """A row applied to operands, with a JVP rule for the ``varying`` ones; JAX transposes it to the VJP."""
    import jax
    import jax.numpy as jnp

    def all_operands(primals: Sequence[Any]) -> list[Any]:
        result = list(operands)
        for position, primal in zip(varying, primals, strict=True):
            result[position] = primal
        return result

    apply = jax.custom_jvp(lambda *primals: forward(*all_operands(primals)))

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        y = apply(*primals)
        at = (*all_operands(primals), y)
        total = None
        for position, t in zip(varying, tangents, strict=True):
            contribution = partials[position].contribution
            if contribution is None or isinstance(t, jax.custom_derivatives.SymbolicZero):
                continue
            part = contribution(t, at)
            total = part if total is None else total + part
        return y, jnp.zeros_like(y) if total is None else jnp.broadcast_to(total, jnp.shape(y))

    apply.defjvp(jvp, symbolic_zeros=True)
    return apply(*(operands[position] for position in varying))


class _Partial:
    """A partial derivative of a row by one operand.

    ``contribution(t, operands)`` is what a tangent ``t`` of the operand adds to the result's. It is None where the
    table says that the partial is a structural zero.
    """

    def __init__(self, text: str, names: Sequence[str], functions: dict[str, Function]) -> None:
        split = guarded(text, names)
        self.contribution: Function | None = self._contribute
        if split.expression is None:
            self.contribution = None
            return
        self._value = _compiled(split.expression, names, functions)
        self._guard = None if split.guard is None else _compiled(split.guard, names, functions)
        self._may_be_infinite = any(
            isinstance(node, (ast.Call, ast.Div)) or (isinstance(node, ast.Name) and node.id == "y")
            for node in ast.walk(split.expression)
        )

    def _contribute(self, t: Any, operands: Sequence[Any]) -> Any:
        import jax.numpy as jnp

        partial = self._value(*operands)
        if self._guard is not None:
            holds = self._guard(*operands)
            return jnp.where(holds, self._product(t, jnp.where(holds, partial, 0.0)), 0.0)
        return self._product(t, partial)

    def _product(self, t: Any, partial: Any) -> Any:
        if not self._may_be_infinite or _is_constant(partial):
            return t * partial
        return absorbing_product(t, partial)
