"""The rows of the op table as JAX functions, differentiated by the table's own partials.

Each function computes its row's forward formula elementwise; nothing raises, what leaves the domain is an infinity or
NaN. Its derivative is the table's, also of its derivative, and keeps the house's conventions: at kinks and ties,
structural zeros, and a zero adjoint that stays zero against an infinite or undefined local derivative.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ....ops import OPS, Op
from ....ops.formula import compile_python, guarded, operand_names, parse, to_jax
from ....ops.jax_functions import primitives

__all__ = ["row_functions"]

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


def _compiled(formula: ast.expr, names: Sequence[str], functions: dict[str, Function]) -> Function:
    """A formula as a function; the rows that it calls are looked up in ``functions`` when it is called."""
    parameters = ", ".join(names)
    compiled: list[Function] = []

    def call(*operands: Any) -> Any:
        if not compiled:
            compiled.append(compile_python(formula, parameters, functions, to_jax))
        return compiled[0](*operands)

    return call


def _differentiable(row: Op, forward: Function, functions: dict[str, Function]) -> Function:
    import jax

    names = operand_names(row.name)
    partials = [_Partial(text, names, functions) for text in row.partials]
    for static in row.static:
        partials[static].contribution = None
    if not any(partial.contribution for partial in partials):
        return lambda *operands: forward(*map(jax.lax.stop_gradient, operands))

    def function(*operands: Any) -> Any:
        varying = [position for position, operand in enumerate(operands) if not _is_plain(operand)]
        return _applied(forward, partials, operands, varying) if varying else forward(*operands)

    return function


def _is_plain(operand: Any) -> bool:
    """Whether an operand is a number of the program at which Python's arithmetic does what JAX's does."""
    return isinstance(operand, float) and operand != 0.0 and math.isfinite(operand)


def _applied(forward: Function, partials: list[_Partial], operands: Sequence[Any], varying: list[int]) -> Any:
    """A row on operands of which only the ``varying`` ones are differentiated."""
    import jax
    import jax.numpy as jnp

    def filled(given: Sequence[Any]) -> list[Any]:
        every = list(operands)
        for position, operand in zip(varying, given, strict=True):
            every[position] = operand
        return every

    apply = jax.custom_jvp(lambda *given: forward(*filled(given)))

    def tangent(given: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        y = apply(*given)
        at = (*filled(given), y)
        total = None
        for position, t in zip(varying, tangents, strict=True):
            contribution = partials[position].contribution
            if contribution is None or isinstance(t, jax.custom_derivatives.SymbolicZero):
                continue
            part = contribution(t, at)
            total = part if total is None else total + part
        return y, jnp.zeros_like(y) if total is None else jnp.broadcast_to(total, jnp.shape(y))

    apply.defjvp(tangent, symbolic_zeros=True)
    return apply(*(operands[position] for position in varying))


class _Partial:
    """A local derivative of a row: ``contribution(t, operands)`` is what a tangent ``t`` of its operand adds.

    ``contribution`` is None where the table says that nothing ever flows.
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

        slope = self._value(*operands)
        if self._guard is not None:
            flows = self._guard(*operands)
            return jnp.where(flows, self._product(t, jnp.where(flows, slope, 0.0)), 0.0)
        return self._product(t, slope)

    def _product(self, t: Any, slope: Any) -> Any:
        if not self._may_be_infinite or _is_plain(slope):
            return t * slope
        return _zero_wins(t, slope)


def _zero_wins(t: Any, slope: Any) -> Any:
    """``t * slope``, but zero where ``t`` is, even against an infinite or undefined slope.

    It must be so for the transposed product too, which JAX makes of this one, and so this can only be a chain of
    multiplications that reads the same from both ends. Huge factors leave zero alone and make an infinity of all
    else, and an infinity times zero is NaN, which is what an undefined slope asks for.
    """
    import jax.numpy as jnp

    finfo: Any = jnp.finfo
    huge = float(finfo(jnp.result_type(t)).max)
    lift = jnp.where(jnp.abs(slope) <= huge, 1.0, huge)
    bounded = jnp.where(slope == slope, jnp.maximum(jnp.minimum(slope, huge), -huge), 0.0)
    return t * lift * lift * bounded * lift * lift
