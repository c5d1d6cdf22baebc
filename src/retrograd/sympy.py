"""A graph as an expression of SymPy: to simplify it, to print it, or to compare a derivative with the exact one."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from . import engine
from .engine import Value, topological_order
from .errors import MissingExtraError, describe, name_of

__all__ = ["to_sympy"]

#: Rows that SymPy has under another name, as functions of SymPy and the operands.
_OTHERS: dict[str, Callable[..., Any]] = {
    "add": lambda s, a, b: a + b,
    "sub": lambda s, a, b: a - b,
    "mul": lambda s, a, b: a * b,
    "div": lambda s, a, b: a / b,
    "neg": lambda s, a: -a,
    "pow": lambda s, a, b: a**b,
    "square": lambda s, a: a**2,
    "reciprocal": lambda s, a: 1 / a,
    "identity": lambda s, a: a,
    "sigmoid": lambda s, a: 1 / (1 + s.exp(-a)),
    "softplus": lambda s, a: s.log(1 + s.exp(a)),
    "silu": lambda s, a: a / (1 + s.exp(-a)),
    "gelu": lambda s, a: a * (1 + s.erf(a / s.sqrt(2))) / 2,
    "relu": lambda s, a: s.Max(a, 0),
    "abs": lambda s, a: s.Abs(a),
    "floor": lambda s, a: s.floor(a),
    "ceil": lambda s, a: s.ceiling(a),
    "exp2": lambda s, a: 2**a,
    "expm1": lambda s, a: s.exp(a) - 1,
    "log1p": lambda s, a: s.log(1 + a),
    "log2": lambda s, a: s.log(a, 2),
    "log10": lambda s, a: s.log(a, 10),
    "hypot": lambda s, a, b: s.sqrt(a**2 + b**2),
    "lgamma": lambda s, a: s.loggamma(a),
    "maximum": lambda s, a, b: s.Max(a, b),
    "minimum": lambda s, a, b: s.Min(a, b),
    "sum": lambda s, *a: sum(a),
    "prod": lambda s, *a: functools.reduce(operator.mul, a, 1),
    "mean": lambda s, *a: sum(a) / s.Integer(len(a)),
    "dot": lambda s, *a: sum(x * y for x, y in zip(a[: len(a) // 2], a[len(a) // 2 :], strict=True)),
    "max": lambda s, *a: s.Max(*a),
    "min": lambda s, *a: s.Min(*a),
    "logsumexp": lambda s, *a: s.log(sum(s.exp(x) for x in a)),
}
#: Rows that have SymPy's name.
_SAME = (
    "exp log sqrt cbrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc gamma digamma sign"
)


def to_sympy(y: Value, **names: Value) -> Any:
    """The graph of ``y`` as an expression of SymPy; each leaf is a real symbol.

    Args:
        y: The result.
        **names: Names for leaves, before their labels; a leaf without either is ``x1``, ``x2``, … in the order of use.

    Returns:
        A SymPy expression. Constants are exact where they are whole numbers.

    Raises:
        MissingExtraError: SymPy is not installed.
        TypeError: ``y`` is no Value, such as a function.
        ValueError: An operation has no counterpart in SymPy, such as a node of your own.

    Example:
        >>> import retrograd as rg
        >>> from retrograd.sympy import to_sympy
        >>> x, w = rg.Value(0.5, label="x"), rg.Value(2.0, label="w")
        >>> to_sympy(rg.math.sin(x * w) + x**2)
        x**2 + sin(w*x)
    """
    if not isinstance(y, Value):
        raise TypeError(
            f"to_sympy takes a Value, the result of a computation, and got {describe(y)}: for a function, call it "
            "with labelled Values, to_sympy(f(rg.Value(1.0, label='x')))."
        )
    try:
        import sympy
    except ImportError:
        raise MissingExtraError("to_sympy needs SymPy: pip install sympy") from None
    given = {id(value): name for name, value in names.items()}
    known: dict[int, Any] = {}
    leaves = 0
    for node in topological_order(y):
        row = engine.row_name(node)
        if engine.is_constant(node):
            known[id(node)] = _number(sympy, node.data)
        elif not node._children:
            leaves += 1
            known[id(node)] = sympy.Symbol(given.get(id(node)) or node.label or f"x{leaves}", real=True)
        else:
            operands = [known[id(x)] if isinstance(x, Value) else _number(sympy, x) for x in engine.operands(node)]
            known[id(node)] = _applied(sympy, row, operands, node)
    return known[id(y)]


def _applied(sympy: Any, row: str, operands: list[Any], node: Value) -> Any:
    if row in _OTHERS:
        return _OTHERS[row](sympy, *operands)
    if row in _SAME.split():
        return getattr(sympy, row)(*operands)
    raise ValueError(f"{name_of(node)} is the result of {node._op or row!r}, which to_sympy does not know.")


def _number(sympy: Any, number: float) -> Any:
    return sympy.Integer(int(number)) if math.isfinite(number) and number == int(number) else sympy.Float(number)
