"""Rows of the op table as functions of LLVM IR: values, partials and domains, as the table's own formulas say."""

from __future__ import annotations

import ast

from ....ops import BY_NAME, CONSTANTS, Op
from ....ops.formula import parse
from ...backends.llvm.ir_builder import constant
from ..types import NotTypedError

__all__ = ["DECLARATIONS", "Rows"]

#: Functions of the C library that compute rows of the same name.
_LIBRARY = frozenset(
    [
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "sin", "cos", "tan", "asin", "acos"),
        *("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "pow", "hypot", "atan2", "fmod"),
        "remainder",
    ]
)
#: Functions that have other names there; and those that the C library lacks (native/ops/special.cpp).
_OTHERS = {
    "lgamma": "lgamma",
    "gamma": "tgamma",
    "digamma": "retrograd_digamma",
    "polygamma": "retrograd_polygamma",
}

#: Instructions of LLVM that do.
_INTRINSICS = {"abs": "fabs"} | {name: name for name in ("sqrt", "floor", "ceil", "trunc", "rint", "copysign")}

_COMPARE = {ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une"}
_BINARY = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}

_TWO = {"polygamma", "pow", "hypot", "atan2", "fmod", "remainder", "copysign"}
#: Functions that LLVM would write as others, whose last bit differs: ``sqrt`` or ``exp2`` in the place of ``pow``.
_KEPT = {"pow"}


def _head(symbol: str, name: str) -> str:
    return f"double @{symbol}({'double, double' if name in _TWO else 'double'})"


#: Python's ``%`` and ``//`` of floats, as CPython's Objects/floatobject.c computes them.
_PYTHON = """
define internal double @mod(double %a, double %b) alwaysinline {
  %r = call double @fmod(double %a, double %b)
  %is_zero = fcmp oeq double %r, 0.0
  %zero = call double @llvm.copysign.f64(double 0.0, double %b)
  %r_below = fcmp olt double %r, 0.0
  %b_below = fcmp olt double %b, 0.0
  %apart = xor i1 %r_below, %b_below
  %moved = fadd double %r, %b
  %other = select i1 %apart, double %moved, double %r
  %found = select i1 %is_zero, double %zero, double %other
  ret double %found
}
define internal double @floordiv(double %a, double %b) alwaysinline {
  %r = call double @fmod(double %a, double %b)
  %rest = fsub double %a, %r
  %q = fdiv double %rest, %b
  %is_zero = fcmp oeq double %r, 0.0
  %r_below = fcmp olt double %r, 0.0
  %b_below = fcmp olt double %b, 0.0
  %apart = xor i1 %r_below, %b_below
  %less = fsub double %q, 1.0
  %moved = select i1 %apart, double %less, double %q
  %div = select i1 %is_zero, double %q, double %moved
  %floor = call double @llvm.floor.f64(double %div)
  %over = fsub double %div, %floor
  %far = fcmp ogt double %over, 0.5
  %up = fadd double %floor, 1.0
  %near = select i1 %far, double %up, double %floor
  %ratio = fdiv double %a, %b
  %signed = call double @llvm.copysign.f64(double 0.0, double %ratio)
  %none = fcmp oeq double %div, 0.0
  %found = select i1 %none, double %signed, double %near
  ret double %found
}
"""

DECLARATIONS = "\n".join(
    [
        *(f"declare {_head(name, name)} #0{' nobuiltin' * (name in _KEPT)}" for name in sorted(_LIBRARY)),
        *(f"declare {_head(symbol, name)} #0" for name, symbol in _OTHERS.items()),
        *(f"declare {_head(f'llvm.{symbol}.f64', name)}" for name, symbol in _INTRINSICS.items()),
        _PYTHON,
    ]
)


class Rows:
    """The functions of the rows that a program uses, each written once."""

    def __init__(self) -> None:
        self._functions: dict[str, str] = {}

    @property
    def text(self) -> str:
        """All of them, as IR."""
        return "\n".join(self._functions.values())

    def value(self, row: str) -> str:
        """The function of a row's operands that gives its value."""
        if row in _LIBRARY or row in ("mod", "floordiv"):
            return row
        if row in _OTHERS:
            return _OTHERS[row]
        if row in _INTRINSICS:
            return f"llvm.{_INTRINSICS[row]}.f64"
        op = _row(row)
        if op.primitive:
            raise NotTypedError(f"machine code has no {row}")
        return self._function(f"row.{row}", op.forward, "abc"[: op.arity])

    def partial(self, row: str, which: int) -> tuple[str, bool]:
        """The function of a row's operands and its value that gives a partial; and whether that is 0 everywhere."""
        op = _row(row)
        formula = op.partials[which]
        return self._function(f"partial.{row}.{which}", formula, "abc"[: op.arity] + "y"), formula == "0"

    def outside(self, row: str) -> str:
        """The function of a row's operands and its value that says whether they are outside its domain; "" if never."""
        op = _row(row)
        if not op.domain:
            return ""
        when = " or ".join(f"({domain.when})" for domain in op.domain)
        return self._function(f"outside.{row}", when, "abc"[: op.arity] + "y", is_test=True)

    def _function(self, symbol: str, formula: str, names: str, is_test: bool = False) -> str:
        if symbol not in self._functions:
            self._functions[symbol] = ""  # a row may use itself, of other operands
            self._functions[symbol] = _Formula(self, names).function(symbol, formula, is_test)
        return symbol


def _row(name: str) -> Op:
    row = BY_NAME[name]
    if not isinstance(row, Op):
        raise NotTypedError(f"{name} takes a sequence")
    return row


class _Formula:
    """Writes one formula: ``select`` goes into one of two blocks, so that it computes no other side than its own."""

    def __init__(self, rows: Rows, names: str) -> None:
        self._rows, self._names = rows, names
        self._lines: list[str] = []
        self._count = 0
        self._block = "entry"

    def function(self, symbol: str, formula: str, is_test: bool) -> str:
        tree = parse(formula, self._names)
        kind = "i1" if is_test else "double"
        result = self._test(tree) if is_test else self._number(tree)
        parameters = ", ".join(f"double %{name}" for name in self._names)
        body = "\n  ".join(self._lines)
        head = f"define internal {kind} @{symbol}({parameters}) alwaysinline"
        return f"{head} {{\nentry:\n  {body}\n  ret {kind} {result}\n}}"

    def _emit(self, text: str) -> str:
        self._count += 1
        self._lines.append(f"%t{self._count} = {text}")
        return f"%t{self._count}"

    def _number(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int() | float() as value):
                return constant(float(value))
            case ast.Name(id=name):
                return constant(CONSTANTS[name]) if name in CONSTANTS else f"%{name}"
            case ast.BinOp(left=left, op=operator, right=right):
                return self._emit(f"{_BINARY[type(operator)]} double {self._number(left)}, {self._number(right)}")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._emit(f"fneg double {self._number(operand)}")
            case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]):
                return self._selected(condition, yes, no)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                operands = ", ".join(f"double {self._number(one)}" for one in arguments)
                return self._emit(f"call double @{self._rows.value(name)}({operands})")
        raise NotTypedError(f"machine code has no {ast.unparse(node)}")

    def _selected(self, condition: ast.expr, yes: ast.expr, no: ast.expr) -> str:
        self._count += 1
        labels = [f"{side}{self._count}" for side in ("yes", "no", "end")]
        self._lines.append(f"br i1 {self._test(condition)}, label %{labels[0]}, label %{labels[1]}")
        ends = []
        for label, side in zip(labels, (yes, no), strict=False):
            self._begin(label)
            ends.append(f"[ {self._number(side)}, %{self._block} ]")
            self._lines.append(f"br label %{labels[2]}")
        self._begin(labels[2])
        return self._emit(f"phi double {', '.join(ends)}")

    def _begin(self, label: str) -> None:
        self._block = label
        self._lines.append(f"{label}:")

    def _test(self, node: ast.expr) -> str:
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                numbers = f"{self._number(left)}, {self._number(right)}"
                return self._emit(f"fcmp {_COMPARE[type(operator)]} double {numbers}")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._emit(f"xor i1 {self._test(operand)}, true")
            case ast.BoolOp(op=operator, values=values):
                word = "and" if isinstance(operator, ast.And) else "or"
                found = self._test(values[0])
                for value in values[1:]:
                    found = self._emit(f"{word} i1 {found}, {self._test(value)}")
                return found
        raise NotTypedError(f"machine code has no test {ast.unparse(node)}")
