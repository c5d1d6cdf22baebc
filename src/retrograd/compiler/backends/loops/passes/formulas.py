"""Rows of the op table in the SSA form: values, domains and partials, as the table's own formulas say."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from functools import cache

from .....ops import BY_NAME, CONSTANTS, Op
from .....ops.formula import parse
from ..graphs.arrays import GET, PUT, is_access, place_of
from ..graphs.graph import UnsupportedGraphError
from ..graphs.takes import take_of
from .code import Builder, Ref, Value

__all__ = ["POWERS", "outside", "partial", "value"]

#: Rows whose value is a function of the C library, by the name it has there; instructions of LLVM have a dot.
_LIBRARY = {
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "sin", "cos", "tan")},
    **{name: name for name in ("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf")},
    **{name: name for name in ("erfc", "pow", "hypot", "atan2", "fmod", "remainder")},
    **{name: f"llvm.{name}" for name in ("sqrt", "floor", "ceil", "trunc", "copysign")},
    "rint": "llvm.rint",
    "lgamma": "lgamma",
    "gamma": "tgamma",
    "digamma": "retrograd_digamma",
    "polygamma": "retrograd_polygamma",
}

#: The table's max and min of two: the values of these; where one is a NaN, both operands count as largest.
_TIED = {"max": "maximum", "min": "minimum"}

#: Python's own max and min of two: the first that no other is larger (smaller) than.
_FIRST = {"first_max": "ogt", "first_min": "olt"}

#: The larger and the smaller of two numbers that are 1 where something holds, and else 0.
_JOINS = {"maximum": Builder.either, "minimum": Builder.both}

_COMPARE = {ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une"}


def _product(t: Builder, a: Value, n: int) -> Value:
    """``a`` to the power of a whole number of at least 1, with as few products as squares allow."""
    if n == 1:
        return a
    half = _product(t, a, n // 2)
    square = t.mul(half, half)
    return t.mul(square, a) if n % 2 else square


def _power(exponent: float) -> Callable[[Builder, Value], Value]:
    """A power with a constant exponent, a multiple of 0.5, as products and a root."""
    whole, root = int(abs(exponent)), abs(exponent) % 1.0 == 0.5

    def written(t: Builder, a: Value) -> Value:
        found = _product(t, a, whole) if whole else 1.0
        found = t.mul(found, t.call("llvm.sqrt", a)) if root else found
        return t.div(1.0, found) if exponent < 0.0 else found

    return written


#: Powers with a constant exponent that are products and roots.
POWERS: dict[float, Callable[[Builder, Value], Value]] = {n / 2: _power(n / 2) for n in range(-8, 17)}


#: With smaller numbers, products lose bits.
_TINY = 1e-290

#: The quotient of a constant that is smaller, or larger than the inverse, may be out of range where that of one is not.
_LEAST = 2.0**-64

#: From here on, a number less one may be the number itself.
_SPARSE = 2.0**53


def is_selecting(row: str) -> bool:
    """Whether a row of the graph reads, or writes, what is at a place that is computed, or computes a place."""
    return is_access(row) or place_of(row) is not None or take_of(row) is not None


def value(t: Builder, row: str, operands: list[Value]) -> Value:
    """The row's value."""
    if (take := take_of(row)) is not None:
        return t.take(take.array, take.place(t, *operands))
    if (place := place_of(row)) is not None:
        return place.value(t, *operands)
    if row == GET:
        return t.get("W", *operands)
    if row == PUT:
        t.put("W", *operands)
        return 0.0
    if row in _FIRST:
        a, b = operands
        return t.select(t.compare(_FIRST[row], b, a), b, a)
    if row in _JOINS:
        one, other = map(t.truth_of, operands)
        if one is not None and other is not None:
            return t.select(_JOINS[row](t, one, other), 1.0, 0.0)
    row = _TIED.get(row, row)
    simple = _SIMPLE.get(row)
    if simple is not None:
        return simple(t, *operands)
    if row == "hypot" and t.retried:
        return t.call("llvm.sqrt", _squares(t, *operands))
    op = _row(row)
    if op.primitive:
        return _library(t, row, operands)
    return _Formula(t, dict(zip("abc", operands, strict=False))).number(_parsed(op.forward, op.arity))


def outside(t: Builder, row: str, operands: list[Value], result: Value) -> Ref | bool:
    """Whether the operands are outside the row's domain; where it is retried, whether they may be."""
    if row in _FIRST or row in _TIED or row == "sum" or is_selecting(row):
        return False
    if row == "largest":  # exp(a - largest) would be a NaN where the engine's logsumexp and softmax know better
        return t.compare("une", t.times_zero(result), 0.0) if isinstance(result, Ref) else result * 0.0 != 0.0
    if row == "hypot" and t.retried:
        return t.negated(_has_squares(t, *operands))
    op = _row(row)
    formula = _Formula(t, {**dict(zip("abc", operands, strict=False)), "y": result})
    found: Ref | bool = False
    for domain in op.domain:
        found = t.either(found, formula.truth(_condition(_parsed(domain.when, op.arity), t.retried)))
    return found


def _condition(tree: ast.expr, retried: bool) -> ast.expr:
    """A condition; where it is retried, only that the result is infinite, whatever the operands are."""
    if retried and isinstance(tree, ast.BoolOp) and ast.unparse(tree.values[0]) == "abs(y) == inf":
        return tree.values[0]
    return tree


def partial(t: Builder, row: str, which: int, operands: list[Value], result: Callable[[], Value], g: Value) -> Value:
    """The contribution of the gradient ``g`` of the result to an operand.

    Args:
        t: where to.
        row: the operator.
        which: the operand.
        operands: all of them.
        result: gives the row's value, when it is needed.
        g: the gradient of the result.
    """
    if row in _FIRST:
        a, b = operands
        second = t.compare(_FIRST[row], b, a)
        return t.select(second, 0.0, g) if which == 0 else t.select(second, g, 0.0)
    if row in _TIED:
        y = result()
        unknown = t.compare("une", y, y)
        mine = t.either(t.compare("oeq", operands[which], y), unknown)
        both = t.either(t.compare("oeq", *operands), unknown)
        return t.select(mine, t.select(both, t.mul(g, 0.5), g), 0.0)
    if row == "sum":
        return g
    if row == "div" and which == 1 and isinstance(operands[0], float) and _LEAST < abs(operands[0]) < 1.0 / _LEAST:
        y = result()  # multiplications take less time than a division
        return t.neg(t.mul(t.mul(g, y), t.mul(y, 1.0 / operands[0])))
    if row == "div":
        quotient = t.div(g, operands[1])
        return quotient if which == 0 else t.neg(t.mul(quotient, result()))
    if t.retried and row == "hypot":
        y = result()
        return t.select(t.compare("oeq", y, 0.0), 0.0, t.mul(g, t.div(operands[which], y)))
    if t.retried and row == "pow" and which == 0 and not _is_short(operands[1]):
        base, exponent = operands
        return t.mul(g, _power_partial(t, base, exponent, result()))
    if row == "pow" and which == 1:  # where the base is zero, the table's is zero in another form, to derive again
        base, exponent = operands
        is_zero = t.both(t.compare("oeq", base, 0.0), t.compare("oge", exponent, 0.0))
        return t.select(is_zero, 0.0, t.mul(g, t.mul(result(), t.call("log", base))))
    op = _row(row)
    formula = _Formula(t, dict(zip("abc", operands, strict=False)), result)
    tree = _parsed((op.smooth_partials or op.partials)[which], op.arity)
    match tree:  # on the zero side of a structural partial nothing is added, whatever the other side is
        case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]) if _is_zero(yes) != _is_zero(no):
            truth = formula.truth(condition)
            other = no if _is_zero(yes) else yes
            zero_if = truth if _is_zero(yes) else t.negated(truth)
            return 0.0 if zero_if is True else t.select(zero_if, 0.0, t.mul(g, formula.number(other)))
    local = formula.number(tree)
    return 0.0 if local == 0.0 else t.mul(g, local)


def _is_short(exponent: Value) -> bool:
    """Whether one power less takes some products, and a root at most."""
    return isinstance(exponent, float) and exponent - 1.0 in POWERS


def _power_partial(t: Builder, a: Value, b: Value, y: Value) -> Value:
    """b * y / a, for one power less; NaN where that is imprecise, so that the interpreter goes through the nodes."""
    above_one = t.both(t.compare("ogt", b, 1.0), t.compare("olt", b, math.inf))
    at_zero = t.both(t.compare("oeq", a, 0.0), above_one)
    precise = t.both(t.compare("ogt", t.fabs(y), _TINY), t.compare("ogt", t.fabs(a), _TINY))
    precise = t.both(precise, t.compare("olt", t.fabs(b), _SPARSE))  # else the table's power may be no other one
    return t.select(precise, t.div(t.mul(b, y), a), t.select(at_zero, 0.0, math.nan))


def _squares(t: Builder, a: Value, b: Value) -> Value:
    """a * a + b * b, which is the same for b and a."""
    return t.add(*sorted((t.mul(a, a), t.mul(b, b)), key=lambda v: v.number if isinstance(v, Ref) else 0))


def _has_squares(t: Builder, a: Value, b: Value) -> Ref | bool:
    """Whether the root of that sum is precise: neither too small nor too large a number, or of two zeros."""
    total = _squares(t, a, b)
    inside = t.both(t.compare("ogt", total, _TINY), t.compare("olt", total, 1.0 / _TINY))
    return t.either(inside, t.both(t.compare("oeq", a, 0.0), t.compare("oeq", b, 0.0)))


def _sigmoid(t: Builder, a: Value) -> Value:
    """As the table has it, by one exponential: of a number that is not positive."""
    e = t.call("exp", t.neg(t.fabs(a)))
    return t.div(t.select(t.compare("oge", a, 0.0), 1.0, e), t.add(e, 1.0))


def _sigmoid_slope(t: Builder, a: Value) -> Value:
    """e / (1 + e)**2 with e = exp(-|a|)."""
    e = t.call("exp", t.neg(t.fabs(a)))
    whole = t.add(e, 1.0)
    return t.div(e, t.mul(whole, whole))


def _tanh_slope(t: Builder, a: Value) -> Value:
    return t.mul(_sigmoid_slope(t, t.mul(a, 2.0)), 4.0)


_SIMPLE: Mapping[str, Callable[..., Value]] = {
    "add": Builder.add,
    "sum": lambda t, a, b=0.0: t.add(t.add(a, b), 0.0),
    "sub": Builder.sub,
    "mul": Builder.mul,
    "div": Builder.div,
    "neg": Builder.neg,
    "abs": Builder.fabs,
    "sigmoid": _sigmoid,
    "sech2": _tanh_slope,
    "logistic_slope": _sigmoid_slope,
    "identity": lambda t, a: a,
    "detach": lambda t, a: a,
    "largest": lambda t, a: a,
}


def _row(name: str) -> Op:
    row = BY_NAME.get(name)
    if not isinstance(row, Op):
        raise UnsupportedGraphError(f"the operator {name}")
    return row


def _library(t: Builder, name: str, operands: list[Value]) -> Value:
    if name == "pow" and isinstance(operands[1], float) and operands[1] in POWERS:
        return POWERS[operands[1]](t, operands[0])
    if name in _WHOLE:
        return _WHOLE[name](t, *operands)
    if name not in _LIBRARY:
        raise UnsupportedGraphError(f"the function {name}")
    return t.call(_LIBRARY[name], *operands)


def _modulo(t: Builder, a: Value, b: Value) -> Value:
    """``a % b`` as Python computes it: C's remainder, moved to where b is."""
    rest = t.call("fmod", a, b)
    zero = math.copysign(0.0, b) if isinstance(b, float) else t.call("llvm.copysign", 0.0, b)
    return t.select(t.compare("une", rest, 0.0), t.select(_is_across(t, rest, b), t.add(rest, b), rest), zero)


def _whole_quotient(t: Builder, a: Value, b: Value) -> Value:
    """``a // b`` as Python computes it."""
    rest = t.call("fmod", a, b)
    quotient = t.div(t.sub(a, rest), b)
    quotient = t.select(_is_across(t, rest, b), t.sub(quotient, 1.0), quotient)
    below = t.call("llvm.floor", quotient)
    whole = t.select(t.compare("ogt", t.sub(quotient, below), 0.5), t.add(below, 1.0), below)
    return t.select(t.compare("une", quotient, 0.0), whole, t.call("llvm.copysign", 0.0, t.div(a, b)))


def _is_across(t: Builder, rest: Value, b: Value) -> Ref | bool:
    """Whether a remainder has another sign than the divisor."""
    negative = t.both(t.compare("olt", b, 0.0), t.compare("ogt", rest, 0.0))
    return t.either(negative, t.both(t.compare("ogt", b, 0.0), t.compare("olt", rest, 0.0)))


_WHOLE: dict[str, Callable[[Builder, Value, Value], Value]] = {"mod": _modulo, "floordiv": _whole_quotient}


@cache
def _parsed(text: str, arity: int) -> ast.expr:
    return parse(text, (*"abc"[:arity], "y"))


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


class _Formula:
    """A formula of the table with its operands; ``y`` is made when it is first needed."""

    def __init__(self, t: Builder, names: dict[str, Value], result: Callable[[], Value] | None = None) -> None:
        self._t, self._names, self._result = t, names, result

    def number(self, node: ast.expr) -> Value:
        t = self._t
        match node:
            case ast.Constant(value=constant):
                return float(constant)  # type: ignore[arg-type]  # parse lets numbers through only
            case ast.Name(id=name):
                if name == "y" and self._result is not None:
                    return self._result()
                return self._names[name] if name in self._names else CONSTANTS[name]
            case ast.BinOp(left=left, op=operator, right=right):
                write = {ast.Add: t.add, ast.Sub: t.sub, ast.Mult: t.mul, ast.Div: t.div}[type(operator)]
                return write(self.number(left), self.number(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return t.neg(self.number(operand))
            case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]):
                truth = self.truth(condition)
                if isinstance(truth, bool):
                    return self.number(yes if truth else no)
                return t.select(truth, self.number(yes), self.number(no))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                operands = [self.number(argument) for argument in arguments]
                found = value(t, name, operands)
                return t.select(_has_squares(t, *operands), found, math.nan) if name == "hypot" and t.retried else found
        raise UnsupportedGraphError(f"the formula {ast.unparse(node)}")

    def truth(self, node: ast.expr) -> Ref | bool:
        t = self._t
        match node:
            case ast.Compare(left=left, ops=[test], comparators=[right]):
                return t.compare(_COMPARE[type(test)], self.number(left), self.number(right))
            case ast.BoolOp(op=operator, values=values):
                join = t.both if isinstance(operator, ast.And) else t.either
                truth = self.truth(values[0])
                for each in values[1:]:
                    truth = join(truth, self.truth(each))
                return truth
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return t.negated(self.truth(operand))
        raise UnsupportedGraphError(f"the condition {ast.unparse(node)}")
