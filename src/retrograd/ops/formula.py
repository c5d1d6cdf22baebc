"""The formula language of the op table: checked once, printed as Python, C++, TypeScript and JAX.

A formula is an expression of numbers, named constants, operands, ``+ - * /``, unary minus, comparisons,
``and``/``or``/``not``, calls of other rows of the table, and ``select(condition, x, y)``, which is
lazy: only the chosen side is evaluated. That subset means the same in every language it is printed in.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import BY_NAME, CONSTANTS, OPS, Op

__all__ = [
    "FormulaError",
    "Guarded",
    "compile_python",
    "guarded",
    "parse",
    "to_cpp",
    "to_jax",
    "to_python",
    "to_rows",
    "to_typescript",
]

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_FUNCTIONS = {op.name: op.arity for op in OPS}


class FormulaError(ValueError):
    """A formula of the op table uses something outside the subset, or a name that it does not have."""


def parse(text: str, names: Collection[str]) -> ast.expr:
    """Parse ``text`` and check that it is inside the subset and uses only ``names`` as variables.

    Raises FormulaError, saying what was found.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise FormulaError(f"{text!r} is not an expression: {error.msg}") from None
    _check(tree, names, text)
    return tree


def _check(node: ast.expr, names: Collection[str], text: str) -> None:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return
        case ast.Name(id=name):
            if name not in names and name not in CONSTANTS:
                raise FormulaError(f"{text!r} uses the name {name!r}; it may use {sorted(names)}")
            return
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
            children = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            children = [operand]
        case ast.BoolOp(values=values):
            children = values
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _COMPARE:
            children = [left, right]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            arity = 3 if name == "select" else _FUNCTIONS.get(name)
            if arity != len(arguments):
                raise FormulaError(f"{text!r} calls {name} with {len(arguments)} operands; it takes {arity}")
            children = arguments
        case _:
            raise FormulaError(f"{text!r} contains {ast.unparse(node)!r}, which is outside the formula subset")
    for child in children:
        _check(child, names, text)


@dataclass(frozen=True, slots=True)
class Guarded:
    """A partial as ``expression`` where ``guard`` holds, and structurally zero elsewhere.

    ``guard`` is None when the partial is never structurally zero; ``expression`` is None when it always is.
    """

    guard: ast.expr | None
    expression: ast.expr | None


def guarded(text: str, names: Collection[str]) -> Guarded:
    """Split a partial into its guard and its expression (see the module :mod:`retrograd.ops`)."""
    tree = parse(text, names)
    if _is_zero(tree):
        return Guarded(None, None)
    match tree:
        case ast.Call(func=ast.Name(id="select"), args=[condition, zero, expression]) if _is_zero(zero):
            return Guarded(ast.UnaryOp(ast.Not(), condition), expression)
        case ast.Call(func=ast.Name(id="select"), args=[condition, expression, zero]) if _is_zero(zero):
            return Guarded(condition, expression)
    return Guarded(None, tree)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


# --- printers -------------------------------------------------------------------------------------


def to_python(node: ast.expr) -> str:
    """Python source; division is the call ``div(x, y)``, so that each caller says what it means."""
    match node:
        case ast.Constant(value=value):
            return repr(float(value))  # type: ignore[arg-type]  # _check lets numbers through only
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return f"div({to_python(left)}, {to_python(right)})"
        case ast.BinOp(left=left, op=operator, right=right):
            return f"({to_python(left)} {_BINARY[type(operator)]} {to_python(right)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"(not {to_python(operand)})"
        case ast.UnaryOp(operand=operand):
            return f"(-{to_python(operand)})"
        case ast.BoolOp(op=operator, values=values):
            word = " and " if isinstance(operator, ast.And) else " or "
            return f"({word.join(map(to_python, values))})"
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return f"({to_python(left)} {_COMPARE[type(operator)]} {to_python(right)})"
        case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]):
            return f"({to_python(yes)} if {to_python(condition)} else {to_python(no)})"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return f"{name}({', '.join(map(to_python, arguments))})"
    raise FormulaError(f"no Python for {ast.dump(node)}")


def to_cpp(node: ast.expr) -> str:
    """C++ source; a row's function is called ``f_name`` and a constant is written exactly."""
    match node:
        case ast.Constant(value=value):
            return repr(float(value))  # type: ignore[arg-type]
        case ast.Name(id="inf"):
            return "INFINITY"
        case ast.Name(id="nan"):
            return "NAN"
        case ast.Name(id=name):
            return CONSTANTS[name].hex() if name in CONSTANTS else name
        case ast.BinOp(left=left, op=operator, right=right):
            return f"({to_cpp(left)} {_BINARY[type(operator)]} {to_cpp(right)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"!{to_cpp(operand)}"
        case ast.UnaryOp(operand=operand):
            return f"(-{to_cpp(operand)})"
        case ast.BoolOp(op=operator, values=values):
            word = " && " if isinstance(operator, ast.And) else " || "
            return f"({word.join(map(to_cpp, values))})"
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return f"({to_cpp(left)} {_COMPARE[type(operator)]} {to_cpp(right)})"
        case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]):
            return f"({to_cpp(condition)} ? {to_cpp(yes)} : {to_cpp(no)})"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return f"f_{name}({', '.join(map(to_cpp, arguments))})"
    raise FormulaError(f"no C++ for {ast.dump(node)}")


def to_jax(node: ast.expr) -> str:
    """Python source for JAX's arrays: conditions are arrays too, and both sides of a ``select`` are computed."""
    match node:
        case ast.BinOp(left=left, op=operator, right=right):
            return f"({to_jax(left)} {_BINARY[type(operator)]} {to_jax(right)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"logical_not({to_jax(operand)})"
        case ast.UnaryOp(operand=operand):
            return f"(-{to_jax(operand)})"
        case ast.BoolOp(op=operator, values=values):
            sign = " & " if isinstance(operator, ast.And) else " | "
            return f"({sign.join(map(to_jax, values))})"
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return f"({to_jax(left)} {_COMPARE[type(operator)]} {to_jax(right)})"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return f"{name}({', '.join(map(to_jax, arguments))})"
    return to_python(node)


_COMPARING_ROWS = {
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}


def to_rows(node: ast.expr) -> str:
    """Python source in which a condition is a number, 1 or 0, that rows compute, and both sides of a ``select`` are."""
    match node:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return f"div({to_rows(left)}, {to_rows(right)})"
        case ast.BinOp(left=left, op=operator, right=right):
            return f"({to_rows(left)} {_BINARY[type(operator)]} {to_rows(right)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"(1.0 - {to_rows(operand)})"
        case ast.UnaryOp(operand=operand):
            return f"(-{to_rows(operand)})"
        case ast.BoolOp(op=ast.And(), values=values):
            return f"({' * '.join(map(to_rows, values))})"
        case ast.BoolOp(values=[first, *others]):
            rest = to_rows(first)
            for other in others:
                rest = f"maximum({rest}, {to_rows(other)})"
            return rest
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return f"{_COMPARING_ROWS[type(operator)]}({to_rows(left)}, {to_rows(right)})"
        case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]):
            return f"where({to_rows(condition)}, {to_rows(yes)}, {to_rows(no)})"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return f"{name}({', '.join(map(to_rows, arguments))})"
    return to_python(node)


_TS_CONSTANT = {"inf": "Infinity", "nan": "NaN"}


def to_typescript(node: ast.expr) -> str:
    """TypeScript source, in which division is IEEE as it is in C++; a row's function is called ``f_name``."""
    match node:
        case ast.Constant(value=value):
            return repr(float(value))  # type: ignore[arg-type]
        case ast.Name(id=name) if name in CONSTANTS:
            return _TS_CONSTANT.get(name) or repr(CONSTANTS[name])
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=operator, right=right):
            return f"({to_typescript(left)} {_BINARY[type(operator)]} {to_typescript(right)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"!{to_typescript(operand)}"
        case ast.UnaryOp(operand=operand):
            return f"(-{to_typescript(operand)})"
        case ast.BoolOp(op=operator, values=values):
            word = " && " if isinstance(operator, ast.And) else " || "
            return f"({word.join(map(to_typescript, values))})"
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            sign = {"==": "===", "!=": "!=="}.get(_COMPARE[type(operator)], _COMPARE[type(operator)])
            return f"({to_typescript(left)} {sign} {to_typescript(right)})"
        case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]):
            return f"({to_typescript(condition)} ? {to_typescript(yes)} : {to_typescript(no)})"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return f"f_{name}({', '.join(map(to_typescript, arguments))})"
    raise FormulaError(f"no TypeScript for {ast.dump(node)}")


# --- evaluation -----------------------------------------------------------------------------------


def compile_python(
    node: ast.expr,
    parameters: str,
    namespace: Mapping[str, object],
    printer: Callable[[ast.expr], str] = to_python,
) -> Callable[..., Any]:
    """A Python function of ``parameters`` ("a, b, y") that evaluates a formula, as ``printer`` writes it.

    ``namespace`` supplies ``div`` and every row the formula calls; what those do with their operands
    (floats in the reference engine, Values in the higher-order transforms) is what the formula means.
    The source comes from the op table and nowhere else.
    """
    source = f"lambda {parameters}: {printer(node)}"
    return eval(source, {**CONSTANTS, **namespace, "__builtins__": {}})  # type: ignore[no-any-return]


@cache
def operand_names(name: str) -> tuple[str, ...]:
    """The variables a partial of the row ``name`` may use, in the order its functions take them."""
    row = BY_NAME[name]
    if isinstance(row, Op):
        return (*"abc"[: row.arity], "y")
    return ("a", "b", "y", "n", "ties", "rest")
