"""The vector formulas of rows of the op table: value, domain and partials.

They repeat those of native/compiler/kernels/rows.inc and functions.inc; the tests hold both against the op table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..ir_builder import Mask, Vector
from ..jit import has_avx512
from ..vectors import fma

__all__ = ["FORMULAS", "OpFormula", "has_formula"]

_INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class OpFormula:
    """A row of the op table with operands a, b and c and result y."""

    arity: int
    value: Callable[..., Vector]  #: of the operands
    outside: Callable[[Vector, Vector, Vector], Mask] | None = None  #: where (a, b, y) is outside the domain
    partials: tuple[Callable[[Vector, Vector, Vector], Vector], ...] = ()  #: by operand, of (a, b, y)
    bounded: bool = True  #: the partials are finite wherever the value is
    partly: bool = False  #: where a partial is zero nothing is handed on, even of a gradient that is infinite or NaN

    @property
    def read_by_partials(self) -> int:
        """How many operands, from the first on, the partials read: both of two, and the condition of three."""
        return min(self.arity, 2) if self.arity != 3 else 1


def _number(like: Vector, number: float) -> Vector:
    return like.builder.constant_vector(number, like.width)


#: Adding this to a small double leaves it rounded to an integer, in the last bits of the sum.
_MAGIC = float.fromhex("0x1.8p52")

_FACTORIALS = [float(math.factorial(i)) for i in range(14)]


def exponential(x: Vector) -> Vector:
    """exp(x) as 2**n * exp(r), with x = n * log(2) + r (Cody-Waite reduction) and a polynomial of degree 13 in r."""
    c = x.compare("ogt", 720.0).select(720.0, x)
    c = c.compare("olt", -760.0).select(-760.0, c)
    shifted = fma(c, _number(x, float.fromhex("0x1.71547652b82fep+0")), _number(x, _MAGIC))
    n = shifted - _MAGIC
    r = fma(n, _number(x, -float.fromhex("0x1.62e42fefa38p-1")), c)
    r = fma(n, _number(x, -float.fromhex("0x1.ef35793c7673p-45")), r)
    pairs = [fma(r, _number(x, 1.0 / _FACTORIALS[i + 1]), _number(x, 1.0 / _FACTORIALS[i])) for i in range(0, 14, 2)]
    r2 = r * r
    r4 = r2 * r2
    low, middle, high = (fma(r2, pairs[i + 1], pairs[i]) for i in (0, 2, 4))
    p = fma(r4, fma(r4, fma(r4, pairs[6], high), middle), low)
    if x.width == 8 and has_avx512():  # which scales by powers of two in one step
        return _scaled(p, n)
    whole = shifted.bits().op("sub", _number(x, _MAGIC).bits())
    half = whole.op("ashr", 1)
    first = half.op("add", 1023).op("shl", 52).double()
    second = whole.op("sub", half).op("add", 1023).op("shl", 52).double()
    return p * first * second  # 2**n itself may be out of range where the result is not


def _scaled(p: Vector, n: Vector) -> Vector:
    """p * 2**n."""
    t, symbol = p.builder, "@llvm.x86.avx512.mask.scalef.pd.512"
    kind = "<8 x double>"
    t.declare(f"declare {kind} {symbol}({kind}, {kind}, {kind}, i8, i32)")
    return t.vector(f"call {kind} {symbol}({kind} {p.name}, {kind} {n.name}, {kind} zeroinitializer, i8 -1, i32 4)", 8)


def logarithm(x: Vector) -> Vector:
    """log(x), with the reduction and the polynomial of FreeBSD's e_log.c (fdlibm)."""
    t, h = x.builder, float.fromhex
    tiny = x.compare("olt", h("0x1p-1022"))
    bits = tiny.select(x * h("0x1p54"), x).bits()
    k = bits.op("sub", 0x3FE6A09E00000000).op("ashr", 52)
    m = bits.op("sub", k.op("shl", 52)).double()
    exponent = k.op("add", _number(x, _MAGIC).bits()).double() - _MAGIC
    exponent = tiny.select(exponent - 54.0, exponent)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    w = z * z
    odd = w * (w * (w * h("0x1.39a09d078c69fp-3") + h("0x1.c71c51d8e78afp-3")) + h("0x1.999999997fa04p-2"))
    even = z * (
        w * (w * (w * h("0x1.2f112df3e5244p-3") + h("0x1.7466496cb03dep-3")) + h("0x1.2492494229359p-2"))
        + h("0x1.5555555555593p-1")
    )
    half = f * 0.5 * f
    y = exponent * h("0x1.62e42feep-1") - (
        (half - (s * (half + odd + even) + exponent * h("0x1.a39ef35793c76p-33"))) - f
    )
    special = x.compare("oeq", 0.0).select(-_INFINITY, t.constant_vector(float("nan"), x.width))
    special = x.compare("oeq", _INFINITY).select(x, special)
    return x.compare("ogt", 0.0).op("and", x.compare("olt", _INFINITY)).select(y, special)


def absolute(a: Vector) -> Vector:
    return a.intrinsic("fabs")


def sigmoid(a: Vector) -> Vector:
    """1 / (1 + exp(-a)), with an exponential that cannot overflow."""
    e = exponential(-absolute(a))
    return a.compare("oge", 0.0).select(1.0, e) / (e + 1.0)


def sigmoid_slope(a: Vector) -> Vector:
    """The derivative of sigmoid; that of tanh is four times as large at half the place."""
    e = exponential(-absolute(a))
    d = e + 1.0
    return e / (d * d)


def _one(a: Vector, b: Vector, y: Vector) -> Vector:
    return _number(a, 1.0)


def _comparison(how: str) -> OpFormula:
    return OpFormula(2, lambda a, b: a.compare(how, b).select(1.0, 0.0), partly=True)


def _extreme(keeps: str, loses: str) -> OpFormula:
    """The first operand where it is NaN or compares so with the second; of equal ones, both share the gradient."""

    def partial(mine: Vector, other: Vector) -> Vector:
        share = mine.compare("oeq", other).select(0.5, 1.0)
        return mine.compare(loses, other).select(0.0, share)

    return OpFormula(
        2,
        lambda a, b: a.compare("une", a).op("or", a.compare(keeps, b)).select(a, b),
        None,
        (lambda a, b, y: partial(a, b), lambda a, b, y: partial(b, a)),
        partly=True,
    )


FORMULAS: dict[str, OpFormula] = {
    "add": OpFormula(2, lambda a, b: a + b, None, (_one, _one)),
    "sub": OpFormula(2, lambda a, b: a - b, None, (_one, lambda a, b, y: _number(a, -1.0))),
    "mul": OpFormula(2, lambda a, b: a * b, None, (lambda a, b, y: b, lambda a, b, y: a)),
    "div": OpFormula(
        2,
        lambda a, b: a / b,
        lambda a, b, y: b.compare("oeq", 0.0),
        (lambda a, b, y: 1.0 / b, lambda a, b, y: -y / b),
        bounded=False,
    ),
    "neg": OpFormula(1, lambda a: -a, None, (lambda a, b, y: _number(a, -1.0),)),
    "square": OpFormula(1, lambda a: a * a, None, (lambda a, b, y: a * 2.0,)),
    "reciprocal": OpFormula(1, lambda a: 1.0 / a, None, (lambda a, b, y: -y * y,), bounded=False),
    "identity": OpFormula(1, lambda a: a, None, (_one,)),
    "detach": OpFormula(1, lambda a: a, None, (lambda a, b, y: _number(a, 0.0),)),
    "relu": OpFormula(
        1,
        lambda a: a.compare("ole", 0.0).select(0.0, a),
        None,
        (lambda a, b, y: a.compare("ole", 0.0).select(0.0, 1.0),),
        partly=True,
    ),
    "abs": OpFormula(
        1,
        absolute,
        None,
        (lambda a, b, y: a.compare("ogt", 0.0).select(1.0, a.compare("olt", 0.0).select(-1.0, a)),),
    ),
    "sqrt": OpFormula(
        1,
        lambda a: a.intrinsic("sqrt"),
        lambda a, b, y: a.compare("olt", 0.0),
        (lambda a, b, y: 0.5 / y,),
        bounded=False,
    ),
    "exp": OpFormula(
        1,
        exponential,
        lambda a, b, y: y.compare("oeq", _INFINITY),  # of an infinite operand too: the tape decides that as well
        (lambda a, b, y: y,),
    ),
    "log": OpFormula(
        1,
        logarithm,
        lambda a, b, y: a.compare("ole", 0.0),
        (lambda a, b, y: 1.0 / a,),
        bounded=False,
    ),
    "sigmoid": OpFormula(1, sigmoid, None, (lambda a, b, y: y * sigmoid(-a),)),
    "sech2": OpFormula(1, lambda a: sigmoid_slope(a * 2.0) * 4.0),
    "logistic_slope": OpFormula(1, sigmoid_slope),
    "less": _comparison("olt"),
    "less_equal": _comparison("ole"),
    "greater": _comparison("ogt"),
    "greater_equal": _comparison("oge"),
    "equal": _comparison("oeq"),
    "not_equal": _comparison("une"),
    "minimum": _extreme("ole", "ogt"),
    "maximum": _extreme("oge", "olt"),
    "where": OpFormula(
        3,
        lambda a, b, c: a.compare("une", 0.0).select(b, c),
        None,
        (
            lambda a, b, y: _number(a, 0.0),
            lambda a, b, y: a.compare("une", 0.0).select(1.0, 0.0),
            lambda a, b, y: a.compare("une", 0.0).select(0.0, 1.0),
        ),
        partly=True,
    ),
}


def has_formula(row: str, backward: bool) -> bool:
    """Whether there is a vector formula for a row, or for its partials."""
    return row in FORMULAS and not (backward and not FORMULAS[row].partials)
