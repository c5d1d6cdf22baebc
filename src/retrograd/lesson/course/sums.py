"""Numbers in the text: ``{{ product.a.grad }}`` is computed from a figure and written as people write numbers."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...errors import DataError
from .figures import Figure

__all__ = ["evaluate", "filled", "shown"]

MINUS = "\N{MINUS SIGN}"
_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "len": len,
    "max": max,
    "min": min,
    "round": round,
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "sqrt": math.sqrt,
    "isclose": math.isclose,
}


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of a figure inside a sum: ``.grad``, ``.data``, ``.by.a`` (a local derivative); itself its data."""

    figure: Figure
    name: str


@dataclass(frozen=True, slots=True)
class _By:
    """``figure.d.by``, before the operand is named."""

    figure: Figure
    result: str


@dataclass(frozen=True, slots=True)
class _Wrong:
    """``figure.assign`` or ``figure.visited("d a b")``: the gradients of a pass that is wrong on purpose."""

    grads: Mapping[str, float]


def evaluate(text: str, figures: Mapping[str, Figure]) -> Any:
    """The value of a sum: arithmetic and comparisons of numbers, and of what figures have.

    ``product.a`` and ``product.a.grad``; ``product.d.by.a``, a local derivative; ``product(a=2.01).L`` with other
    inputs; ``product.downhill(0.1).L`` after a step; ``product.assign.a`` with ``=`` for ``+=``;
    ``product.visited("d a").a`` in a given order; ``gpt.nodes``, a fact. Raises DataError for anything else.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise DataError(f"{text.strip()!r} is no sum: write it as in Python, such as product.a.grad * 2.") from None
    value = _value(tree, figures)
    return value.figure.node(value.name).data if isinstance(value, _Node) else value


def _value(tree: ast.expr, figures: Mapping[str, Figure]) -> Any:
    match tree:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            return _named(name, figures)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, figures)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _number(operand, figures)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _BINARY[type(sign)](_number(left, figures), _number(right, figures))
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_number(value, figures) for value in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_number(value, figures) for value in values)
        case ast.Compare(left=left, ops=signs, comparators=others) if all(type(sign) in _BINARY for sign in signs):
            numbers = [_number(side, figures) for side in (left, *others)]
            return all(_BINARY[type(sign)](*pair) for sign, pair in zip(signs, pairwise(numbers), strict=True))
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_value(owner, figures), name)
        case ast.Subscript(value=owner, slice=index):
            return _value(owner, figures)[_number(index, figures)]
        case ast.Call(func=called, args=args, keywords=keywords):
            return _called(called, args, keywords, figures)
    raise DataError(f"{ast.unparse(tree)!r} is not known in a sum.")


def _number(tree: ast.expr, figures: Mapping[str, Figure]) -> Any:
    value = _value(tree, figures)
    return value.figure.node(value.name).data if isinstance(value, _Node) else value


def _named(name: str, figures: Mapping[str, Figure]) -> Figure:
    found = figures.get(name.replace("_", "-"))
    if found is None:
        raise DataError(f"there is no figure {name} in this chapter; there are {', '.join(figures) or 'none'}.")
    return found


def _attribute(owner: Any, name: str) -> Any:
    match owner:
        case Figure() if name in owner.facts:
            return owner.facts[name]
        case Figure() if name == "assign":
            return _Wrong(owner.wrong(assign=True))
        case Figure():
            return _Node(owner, owner.node(name).name)
        case _Node(figure=figure, name=node) if name in ("data", "grad"):
            return getattr(figure.node(node), name)
        case _Node(figure=figure, name=node) if name == "by":
            return _By(figure, node)
        case _By(figure=figure, result=result):
            return figure.local(result, name)
        case _Wrong(grads=grads) if name in grads:
            return grads[name]
    raise DataError(f"there is no {name} here: a node has .data, .grad and .by.OPERAND.")


def _called(called: ast.expr, args: list[ast.expr], keywords: list[ast.keyword], figures: Mapping[str, Figure]) -> Any:
    given = [_number(arg, figures) for arg in args]
    match called:
        case ast.Name(id=name) if name in _FUNCTIONS and name not in figures:
            return _FUNCTIONS[name](*given)
        case ast.Attribute(value=owner, attr="downhill"):
            return _figure(owner, figures).downhill(*given)
        case ast.Attribute(value=owner, attr="visited"):
            return _Wrong(_figure(owner, figures).wrong(order=str(given[0]).split()))
    return _figure(called, figures).at(**{keyword.arg or "": _number(keyword.value, figures) for keyword in keywords})


def _figure(tree: ast.expr, figures: Mapping[str, Figure]) -> Figure:
    value = _value(tree, figures)
    if not isinstance(value, Figure):
        raise DataError(f"{ast.unparse(tree)} is no figure.")
    return value


# --- how numbers are written ------------------------------------------------------------------------


def shown(value: Any, form: str = "") -> str:
    """A number as people write it: four significant digits and a real minus sign, unless ``form`` says otherwise."""
    if isinstance(value, str):
        return value
    if form:
        text = format(value, form)
    elif isinstance(value, int):
        text = f"{value:,}"
    elif not math.isfinite(value):
        text = str(value).replace("inf", "∞")
    elif value == int(value) and abs(value) < 1e6:
        text = str(int(value))
    else:
        text = f"{value:.4g}"
        if "e" in text:
            mantissa, _, power = text.partition("e")
            text = f"{mantissa}e{int(power)}"
    return text.replace("-", MINUS)


def filled(text: str, figures: Mapping[str, Figure]) -> str:
    """A text with the value of each ``{{ sum }}`` or ``{{ sum | format }}`` in its place."""
    parts = text.split("{{")
    done = [parts[0]]
    for part in parts[1:]:
        inner, end, rest = part.partition("}}")
        if not end:
            raise DataError(f"{{{{{inner[:40]} is not closed by }}}}.")
        expression, _, form = inner.partition(" | ")
        done += [shown(evaluate(expression, figures), form.strip()), rest]
    return "".join(done)
