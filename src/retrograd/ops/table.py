"""The op table: every primitive operation once, and everything else reads it.

A row says how an operator computes, how it differentiates, where it raises, what it does at its
kinks, and what to call it. The native engine, the stubs and ``docs/ops.md`` are generated
from these rows (``make generate``); the reference engine and the higher-order transforms evaluate
them directly. Adding an operator is adding one row.

Formulas are written in the subset described in :mod:`retrograd.ops.formula`. Operands are called
``a``, ``b``, ``c`` in order, and the result is ``y``. They mean IEEE arithmetic: ``1 / 0`` is
infinity. Only the ``domain`` column raises, and it raises where Python's own ``float`` or
``math`` would; operations that Python lacks never raise.

A partial of the form ``select(condition, 0, x)`` or ``select(condition, x, 0)`` is *structural*:
on the zero side nothing is added to the operand's gradient at all, not even ``0 * inf``.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import fields

from .rows import CONSTANTS, Domain, Edge, NaryOp, Op

__all__ = ["BY_NAME", "CONSTANTS", "NARY", "OPS", "Domain", "Edge", "NaryOp", "Op", "digest"]


def _zero(when: str, says: str) -> tuple[Domain, ...]:
    return (Domain(when, "divide", "ZeroDivisionError", says),)


def _invalid(when: str, says: str) -> tuple[Domain, ...]:
    return (Domain(when, "invalid", "ValueError", says),)


def _over(when: str = "abs(y) == inf and abs(a) != inf") -> tuple[Domain, ...]:
    return (Domain(when, "over", "OverflowError", "the result is too large for a float"),)


def _integer_only(what: str) -> tuple[Domain, ...]:
    return (
        Domain("abs(a) == inf", "over", "OverflowError", f"{what} of an infinity"),
        Domain("a != a", "invalid", "ValueError", f"{what} of a NaN"),
    )


_NO_REMAINDER = _invalid("(b == 0 or abs(a) == inf) and a == a and b == b", "no remainder exists")
_LOGARITHM = (
    Domain("a == 0", "divide", "ValueError", "the logarithm of zero"),
    Domain("a < 0", "invalid", "ValueError", "the logarithm of a negative number"),
)
_ANY = (-3.0, 3.0)
_POSITIVE = (0.1, 4.0)
_AWAY = (0.5, 3.0)


def _comparison(name: str, symbol: str) -> Op:
    return Op(
        name,
        f"select(a {symbol} b, 1, 0)",
        ("0", "0"),
        f"1 where a {symbol} b, else 0.",
        symbol,
        sample=(_ANY, _ANY),
        smooth=False,
        public=False,
    )


OPS: tuple[Op, ...] = (
    # arithmetic
    Op("add", "a + b", ("1", "1"), "Sum of two numbers.", "+", sample=(_ANY, _ANY), card="the distributor"),
    Op(
        "sub",
        "a - b",
        ("1", "-1"),
        "a minus b.",
        "-",
        aliases=("subtract",),
        sample=(_ANY, _ANY),
        card="the distributor with a sign",
    ),
    Op("mul", "a * b", ("b", "a"), "a times b.", "*", aliases=("multiply",), sample=(_ANY, _ANY), card="the swapper"),
    Op(
        "div",
        "a / b",
        ("1 / b", "-y / b"),
        "a divided by b.",
        "/",
        _zero("b == 0", "division by zero"),
        aliases=("divide", "true_divide"),
        sample=(_ANY, _AWAY),
    ),
    Op("neg", "-a", ("-1",), "Minus a.", aliases=("negative",), sample=(_ANY,), card="the mirror"),
    Op(
        "pow",
        "pow(a, b)",
        (
            "zero_product(b, pow(a, b - 1))",
            "select(a == 0 and (b == 0 or b > 1), 0, "
            "select(a == 0 and b > 0, zero_product(a, log(a) * exp(zero_product(b - 1, log(a)))), "
            "zero_product(y, log(a))))",
        ),
        "a to the power b. With a negative base only a constant whole exponent has a real derivative.",
        "**",
        (
            Domain("a == 0 and b < 0 and b != -inf", "divide", "ZeroDivisionError", "zero to a negative power"),
            Domain(
                "a < 0 and a != -inf and b == b and abs(b) != inf and b != floor(b)",
                "invalid",
                "ValueError",
                "a negative number to a fractional power is not a real number",
            ),
            Domain(
                "abs(y) == inf and a != 0 and abs(a) != inf and abs(b) != inf",
                "over",
                "OverflowError",
                "the result is too large for a float",
            ),
        ),
        aliases=("power",),
        sample=(_POSITIVE, _ANY),
        edges=(Edge((0.0, 0.0), 1.0, (0.0, 0.0)),),
        accuracy=(2, 400, 4),
    ),
    Op(
        "mod",
        "mod(a, b)",
        ("1", "-floordiv(a, b)"),
        "Remainder with the sign of b, as Python's %.",
        "%",
        _zero("b == 0", "modulo by zero"),
        sample=(_ANY, _AWAY),
        smooth=False,
    ),
    Op(
        "floordiv",
        "floordiv(a, b)",
        ("0", "0"),
        "Quotient rounded down, as Python's //.",
        "//",
        _zero("b == 0", "division by zero"),
        aliases=("floor_divide",),
        sample=(_ANY, _AWAY),
        smooth=False,
    ),
    Op(
        "fmod",
        "fmod(a, b)",
        ("1", "select(y == y, -rint(a / b - y / b), -trunc(a / b))"),
        "Remainder with the sign of a, as C's fmod.",
        domain=_NO_REMAINDER,
        sample=(_ANY, _AWAY),
        smooth=False,
    ),
    Op(
        "remainder",
        "remainder(a, b)",
        ("1", "select(y == y, -rint(a / b - y / b), -rint(a / b))"),
        "Distance from the nearest multiple of b, as Python's math.remainder and IEEE 754.",
        domain=_NO_REMAINDER,
        sample=(_ANY, _AWAY),
        smooth=False,
    ),
    Op("square", "a * a", ("2 * a",), "a times a.", sample=(_ANY,)),
    Op("reciprocal", "1 / a", ("-y * y",), "One over a; infinite at zero.", sample=(_AWAY,)),
    # the helper of formulas in which nothing times infinity is nothing
    Op(
        "zero_product",
        "select(a == 0, 0, a * b)",
        ("b", "a"),
        "a * b where a zero a wins over an infinite b.",
        "*",
        sample=(_AWAY, _AWAY),
        public=False,
    ),
    # exponentials and logarithms
    Op("exp", "exp(a)", ("y",), "e to the power a.", domain=_over(), sample=(_ANY,), card="its own derivative"),
    Op("exp2", "exp2(a)", ("y * LN2",), "2 to the power a.", domain=_over(), sample=(_ANY,)),
    Op("expm1", "expm1(a)", ("exp(a)",), "exp(a) - 1, exact near zero.", domain=_over(), sample=(_ANY,)),
    Op("log", "log(a)", ("1 / a",), "Natural logarithm.", domain=_LOGARITHM, sample=(_POSITIVE,)),
    Op("log2", "log2(a)", ("INV_LN2 / a",), "Logarithm to base 2.", domain=_LOGARITHM, sample=(_POSITIVE,)),
    Op("log10", "log10(a)", ("INV_LN10 / a",), "Logarithm to base 10.", domain=_LOGARITHM, sample=(_POSITIVE,)),
    Op(
        "log1p",
        "log1p(a)",
        ("1 / (1 + a)",),
        "log(1 + a), exact near zero.",
        domain=(
            Domain("a == -1", "divide", "ValueError", "the logarithm of zero"),
            Domain("a < -1", "invalid", "ValueError", "the logarithm of a negative number"),
        ),
        sample=((-0.9, 4.0),),
    ),
    # roots
    Op(
        "sqrt",
        "sqrt(a)",
        ("0.5 / y",),
        "Square root; its derivative at zero is infinite.",
        domain=_invalid("a < 0", "the square root of a negative number"),
        sample=(_POSITIVE,),
        edges=(Edge((0.0,), 0.0, (math.inf,)),),
    ),
    Op(
        "cbrt",
        "cbrt(a)",
        ("1 / (3 * y) / y",),
        "Cube root, of negative numbers too.",
        sample=(_AWAY,),
        accuracy=(4, 8),
        edges=(Edge((0.0,), 0.0, (math.inf,)),),
    ),
    Op(
        "hypot",
        "hypot(a, b)",
        (
            "select(y == 0, 0, select(abs(a) >= abs(b), sign(a) / hypot(1, b / a), a / y))",
            "select(y == 0, 0, select(abs(b) >= abs(a), sign(b) / hypot(1, a / b), b / y))",
        ),
        "sqrt(a*a + b*b) without overflow; its derivative at the origin is zero.",
        sample=(_AWAY, _AWAY),
        edges=(Edge((0.0, 0.0), 0.0, (0.0, 0.0)),),
    ),
    # trigonometry
    Op(
        "sin",
        "sin(a)",
        ("cos(a)",),
        "Sine of an angle in radians.",
        domain=_invalid("abs(a) == inf", "an infinite angle"),
        sample=(_ANY,),
    ),
    Op(
        "cos",
        "cos(a)",
        ("-sin(a)",),
        "Cosine of an angle in radians.",
        domain=_invalid("abs(a) == inf", "an infinite angle"),
        sample=(_ANY,),
    ),
    Op(
        "tan",
        "tan(a)",
        ("1 + y * y",),
        "Tangent of an angle in radians.",
        domain=_invalid("abs(a) == inf", "an infinite angle"),
        sample=((-1.2, 1.2),),
    ),
    Op(
        "asin",
        "asin(a)",
        ("1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))",),
        "Angle in radians whose sine is a.",
        domain=_invalid("abs(a) > 1", "the arc sine of a number outside [-1, 1]"),
        aliases=("arcsin",),
        sample=((-0.9, 0.9),),
    ),
    Op(
        "acos",
        "acos(a)",
        ("-1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))",),
        "Angle in radians whose cosine is a.",
        domain=_invalid("abs(a) > 1", "the arc cosine of a number outside [-1, 1]"),
        aliases=("arccos",),
        sample=((-0.9, 0.9),),
    ),
    Op(
        "atan",
        "atan(a)",
        ("1 / (1 + a * a)",),
        "Angle in radians whose tangent is a.",
        aliases=("arctan",),
        sample=(_ANY,),
    ),
    Op(
        "atan2",
        "atan2(a, b)",
        ("b / hypot(a, b) / hypot(a, b)", "-a / hypot(a, b) / hypot(a, b)"),
        "Angle in radians of the point (b, a).",
        aliases=("arctan2",),
        sample=(_AWAY, _AWAY),
    ),
    Op("degrees", "a * RADIAN", ("RADIAN",), "Radians to degrees.", aliases=("rad2deg",), sample=(_ANY,)),
    Op("radians", "a * DEGREE", ("DEGREE",), "Degrees to radians.", aliases=("deg2rad",), sample=(_ANY,)),
    # hyperbolic functions
    Op("sinh", "sinh(a)", ("cosh(a)",), "Hyperbolic sine.", domain=_over(), sample=(_ANY,)),
    Op("cosh", "cosh(a)", ("sinh(a)",), "Hyperbolic cosine.", domain=_over(), sample=(_ANY,)),
    Op(
        "tanh",
        "tanh(a)",
        ("select(abs(y) < 0.7072, 1 - y * y, 4 * sigmoid(2 * a) * sigmoid(-2 * a))",),
        "Hyperbolic tangent.",
        smooth_partials=("sech2(a)",),
        sample=(_ANY,),
        card="the squasher",
    ),
    Op("asinh", "asinh(a)", ("1 / hypot(1, a)",), "Inverse hyperbolic sine.", aliases=("arcsinh",), sample=(_ANY,)),
    Op(
        "acosh",
        "acosh(a)",
        ("1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))",),
        "Inverse hyperbolic cosine.",
        domain=_invalid("a < 1", "the inverse hyperbolic cosine of a number below 1"),
        aliases=("arccosh",),
        sample=((1.2, 4.0),),
    ),
    Op(
        "atanh",
        "atanh(a)",
        ("1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))",),
        "Inverse hyperbolic tangent.",
        domain=_invalid("abs(a) >= 1", "the inverse hyperbolic tangent of a number outside (-1, 1)"),
        aliases=("arctanh",),
        sample=((-0.9, 0.9),),
    ),
    # activations
    Op(
        "sigmoid",
        "select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))",
        ("select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y * sigmoid(-a))",),
        "Logistic function, 1 / (1 + exp(-a)).",
        smooth_partials=("logistic_slope(a)",),
        aliases=("expit",),
        sample=(_ANY,),
    ),
    Op("softplus", "select(a > 0, a, 0) + log1p(exp(-abs(a)))", ("sigmoid(a)",), "log(1 + exp(a)).", sample=(_ANY,)),
    Op(
        "relu",
        "select(a <= 0, 0, a)",
        ("select(a <= 0, 0, 1)",),
        "The larger of a and zero; its derivative at zero is zero.",
        "ReLU",
        sample=(_AWAY,),
        smooth=False,
        edges=(Edge((0.0,), 0.0, (0.0,)),),
        card="the gate",
    ),
    Op(
        "silu",
        "zero_product(sigmoid(a), a)",
        (
            "sigmoid(a) + zero_product(select(a != 0 and abs(a) < 0.01, "
            "0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), sigmoid(a) * sigmoid(-a)), a)",
        ),
        "a times sigmoid(a), also called swish.",
        smooth_partials=("sigmoid(a) + zero_product(logistic_slope(a), a)",),
        sample=(_ANY,),
        accuracy=(2, 5),
    ),
    Op(
        "gelu",
        "zero_product(0.5 * erfc(-a * SQRT_HALF), a)",
        ("0.5 * erfc(-a * SQRT_HALF) + select(abs(a) < 50, a * (INV_SQRT_2PI * exp(-0.5 * a * a)), 0)",),
        "a times the normal distribution function (the erf form).",
        sample=(_ANY,),
        accuracy=(3, 8),
    ),
    # the error and gamma functions
    Op("erf", "erf(a)", ("select(abs(a) > 30, 0, TWO_OVER_SQRT_PI * exp(-a * a))",), "Error function.", sample=(_ANY,)),
    Op(
        "erfc",
        "erfc(a)",
        ("select(abs(a) > 30, 0, -TWO_OVER_SQRT_PI * exp(-a * a))",),
        "1 - erf(a), exact in the tail.",
        sample=(_ANY,),
    ),
    Op(
        "lgamma",
        "lgamma(a)",
        ("digamma(a)",),
        "Logarithm of the absolute value of the gamma function.",
        domain=(
            Domain("a <= 0 and a == floor(a) and a != -inf", "divide", "ValueError", "a pole of the gamma function"),
            *_over("y == inf and abs(a) != inf"),
        ),
        aliases=("gammaln",),
        sample=((0.3, 5.0),),
        accuracy=(3, 8),
    ),
    Op(
        "gamma",
        "gamma(a)",
        ("select(a == 0, -y * y, y * digamma(a))",),
        "Gamma function: (a - 1)! for a whole number above 0.",
        domain=(
            Domain("a <= 0 and a == floor(a) and a != -inf", "divide", "ValueError", "a pole of the gamma function"),
            Domain("a == -inf", "invalid", "ValueError", "the gamma function has no limit at minus infinity"),
            *_over(),
        ),
        sample=((0.3, 5.0),),
        accuracy=(8, 16),
    ),
    Op(
        "digamma",
        "digamma(a)",
        ("polygamma(1, a)",),
        "Derivative of lgamma; NaN at the poles.",
        sample=((0.3, 5.0),),
        accuracy=(8, 4),
    ),
    Op(
        "polygamma",
        "polygamma(a, b)",
        ("nan", "polygamma(a + 1, b)"),
        "Derivative of digamma taken a times, at b; the order a is a plain whole number.",
        static=(0,),
        sample=((1.0, 1.0), (0.3, 5.0)),
        public=False,
    ),
    # steps, kinks and choices
    Op(
        "abs",
        "abs(a)",
        ("sign(a)",),
        "Absolute value; its derivative at zero is zero.",
        aliases=("absolute", "fabs"),
        sample=(_AWAY,),
        smooth=False,
        edges=(Edge((0.0,), 0.0, (0.0,)),),
    ),
    Op(
        "copysign",
        "copysign(a, b)",
        ("sign(a) * copysign(1, b)", "0"),
        "The magnitude of a with the sign of b; its derivative at a = 0 is zero.",
        sample=(_AWAY, _AWAY),
        smooth=False,
        edges=(Edge((0.0, 1.0), 0.0, (0.0, 0.0)),),
    ),
    Op(
        "sign",
        "select(a > 0, 1, select(a < 0, -1, a))",
        ("0",),
        "-1, 0 or 1; its derivative is zero.",
        sample=(_AWAY,),
        smooth=False,
        edges=(Edge((0.0,), 0.0, (0.0,)),),
    ),
    Op(
        "floor",
        "floor(a)",
        ("0",),
        "Largest whole number not above a; its derivative is zero.",
        domain=_integer_only("the floor"),
        sample=(_AWAY,),
        smooth=False,
    ),
    Op(
        "ceil",
        "ceil(a)",
        ("0",),
        "Smallest whole number not below a; its derivative is zero.",
        domain=_integer_only("the ceiling"),
        sample=(_AWAY,),
        smooth=False,
    ),
    Op(
        "trunc",
        "trunc(a)",
        ("0",),
        "Whole part of a; its derivative is zero.",
        domain=_integer_only("the whole part"),
        sample=(_AWAY,),
        smooth=False,
    ),
    Op(
        "rint",
        "rint(a)",
        ("0",),
        "Nearest whole number, ties to even; its derivative is zero.",
        sample=(_AWAY,),
        smooth=False,
    ),
    Op(
        "round",
        "rint(a)",
        ("0",),
        "Nearest whole number, ties to even, as Python's round(); its derivative is zero.",
        domain=_integer_only("the rounding"),
        sample=(_AWAY,),
        smooth=False,
        public=False,
    ),
    Op(
        "minimum",
        "select(a != a or a <= b, a, b)",
        ("select(a > b, 0, select(a == b, 0.5, 1))", "select(b > a, 0, select(a == b, 0.5, 1))"),
        "The smaller of two; at a tie each gets half the gradient.",
        sample=(_ANY, (4.0, 5.0)),
        smooth=False,
        edges=(Edge((1.0, 1.0), 1.0, (0.5, 0.5)),),
    ),
    Op(
        "maximum",
        "select(a != a or a >= b, a, b)",
        ("select(a < b, 0, select(a == b, 0.5, 1))", "select(b < a, 0, select(a == b, 0.5, 1))"),
        "The larger of two; at a tie each gets half the gradient.",
        sample=(_ANY, (4.0, 5.0)),
        smooth=False,
        edges=(Edge((1.0, 1.0), 1.0, (0.5, 0.5)),),
    ),
    Op(
        "where",
        "select(a != 0, b, c)",
        ("0", "select(a != 0, 1, 0)", "select(a != 0, 0, 1)"),
        "b where a is true (not zero), else c; the branch not taken gets no gradient.",
        aliases=("select",),
        sample=((1.0, 1.0), _ANY, _ANY),
        smooth=False,
        card="the switch",
    ),
    # comparisons as numbers, for conditions that are computed
    _comparison("less", "<"),
    _comparison("less_equal", "<="),
    _comparison("greater", ">"),
    _comparison("greater_equal", ">="),
    _comparison("equal", "=="),
    _comparison("not_equal", "!="),
    # helpers of the table itself
    Op(
        "sech2",
        "select(abs(tanh(a)) < 0.7072, 1 - tanh(a) * tanh(a), 4 * sigmoid(2 * a) * sigmoid(-2 * a))",
        ("-2 * tanh(a) * y",),
        "The derivative of tanh, in a form that is quick to differentiate again.",
        sample=(_ANY,),
        public=False,
    ),
    Op(
        "logistic_slope",
        "select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), sigmoid(a) * sigmoid(-a))",
        ("-tanh(0.5 * a) * y",),
        "The derivative of sigmoid, in a form that is quick to differentiate again.",
        sample=(_ANY,),
        public=False,
    ),
    Op("identity", "a", ("1",), "The number itself, as a new node.", sample=(_ANY,), public=False),
    Op(
        "detach",
        "a",
        ("0",),
        "The number itself, without a gradient.",
        sample=(_ANY,),
        smooth=False,
        public=False,
    ),
)

NARY: tuple[NaryOp, ...] = (
    NaryOp("sum", "0", "s + a", "s", ("1",), "Sum of a sequence, from left to right."),
    NaryOp("mean", "0", "s + a", "s / n", ("1 / n",), "Arithmetic mean of a sequence.", empty=False),
    NaryOp(
        "dot", "0", "s + a * b", "s", ("b", "a"), "Sum of the products of two sequences of equal length.", paired=True
    ),
    NaryOp("prod", "1", "s * a", "s", ("rest",), "Product of a sequence."),
    NaryOp(
        "max",
        "-inf",
        "select(s != s or s >= a, s, a)",
        "s",
        ("select(a == y or y != y, 1 / ties, 0)",),
        "Largest of a sequence; tied operands share the gradient.",
        empty=False,
        smooth=False,
    ),
    NaryOp(
        "min",
        "inf",
        "select(s != s or s <= a, s, a)",
        "s",
        ("select(a == y or y != y, 1 / ties, 0)",),
        "Smallest of a sequence; tied operands share the gradient.",
        empty=False,
        smooth=False,
    ),
    NaryOp(
        "logsumexp",
        "0",
        "s + exp(a - m)",
        "select(abs(m) == inf, m, m + log(s))",
        ("select(abs(y) == inf, select(a == y, 1 / ties, 0), rest)",),
        "log of the sum of the exponentials, without overflow.",
        empty=False,
    ),
    NaryOp(
        "softmax",
        "0",
        "s + exp(a - m)",
        "exp(a - m) / s",
        ("y * rest",),
        "Probabilities proportional to exp(a), one for each operand.",
        outputs=True,
        empty=False,
    ),
)

BY_NAME: dict[str, Op | NaryOp] = {**{op.name: op for op in OPS}, **{op.name: op for op in NARY}}


def digest() -> str:
    """Fingerprint of what the table computes; a native module built from another table is refused."""
    text = repr([[getattr(row, field.name) for field in fields(row)] for row in BY_NAME.values()]) + repr(CONSTANTS)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
