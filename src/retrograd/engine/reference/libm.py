"""The functions of the C library's ``libm``, as the native engine calls them: IEEE results, never an exception.

Python's ``math`` raises on overflow and has its own ``lgamma`` and ``hypot``. The reference engine must agree with the
native engine bit for bit, so it calls the same functions of the same library. The C library lacks a few primitives
(``mod``, ``floordiv``, ``polygamma``); they are written here and again, with the same operations in the same order, in
``native/ops/special.hpp``.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import sys
from collections.abc import Callable

__all__ = ["PRIMITIVES", "divide"]


def _library() -> ctypes.CDLL:
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    return ctypes.CDLL(ctypes.util.find_library("m") or None)


_LIBM = _library()


def _function(name: str, arity: int = 1) -> Callable[..., float]:
    function = getattr(_LIBM, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * arity
    return function  # type: ignore[no-any-return]


def divide(a: float, b: float) -> float:
    """IEEE division: by zero it is an infinity, or NaN for 0/0."""
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


_fmod = _function("fmod", 2)
_floor = _function("floor")
_log = _function("log")
_pow = _function("pow", 2)
_tan = _function("tan")
_sin = _function("sin")


def mod(a: float, b: float) -> float:
    """Remainder with the sign of ``b``, computed as Python's ``float.__mod__`` does."""
    remainder = _fmod(a, b)
    if remainder != 0.0:
        if (b < 0.0) != (remainder < 0.0):
            remainder += b
        return remainder
    return math.copysign(0.0, b)


def floordiv(a: float, b: float) -> float:
    """Quotient rounded down, computed as Python's ``float.__floordiv__`` does; IEEE when ``b`` is 0."""
    if b == 0.0:
        return divide(a, b)
    remainder = _fmod(a, b)
    quotient = (a - remainder) / b
    if remainder != 0.0 and (b < 0.0) != (remainder < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return math.copysign(0.0, a / b)
    rounded = _floor(quotient)
    return rounded + 1.0 if quotient - rounded > 0.5 else rounded


# Bernoulli numbers B(2), B(4), … B(24), for the asymptotic series of polygamma.
_BERNOULLI = (
    1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0,
    7.0 / 6.0, -3617.0 / 510.0, 43867.0 / 798.0, -174611.0 / 330.0, 854513.0 / 138.0, -236364091.0 / 2730.0,
)  # fmt: skip
_PI = math.pi


def digamma(x: float) -> float:
    """Logarithmic derivative of the gamma function; NaN at 0, -1, -2, … and at minus infinity.

    Recurrence up to 10, then the asymptotic series (Abramowitz & Stegun 6.3.18); reflection below 0.
    """
    if x <= 0.0:
        nearest = _floor(x + 0.5)
        if x == nearest:
            return math.nan
        return digamma(1.0 - x) - _PI / _tan(_PI * (x - nearest))
    shift = 0.0
    while x < 10.0:
        shift += 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    power = square
    series = 0.0
    k = 1
    for bernoulli in _BERNOULLI:
        series += bernoulli / (2.0 * k) * power
        power *= square
        k += 1
    return ((_log(x) - 0.5 / x) - series) - shift


def polygamma(order: float, x: float) -> float:
    """The ``order``-th derivative of digamma at ``x``; NaN at 0, -1, -2, …, and for an order that is not whole.

    Recurrence up to 10 + order, then the asymptotic series (Abramowitz & Stegun 6.4.11); the reflection
    formula below zero.
    """
    if order != _floor(order) or order < 0.0 or order > 100.0:
        return math.nan
    if order == 0.0:
        return digamma(x)
    n = int(order)
    sign = 1.0 if n % 2 else -1.0
    if x <= 0.0:
        nearest = _floor(x + 0.5)
        if x == nearest or x == -math.inf:
            return math.nan
        return -sign * polygamma(order, 1.0 - x) - _PI * cotangent_derivative(n, x - nearest)
    factorial = 1.0  # n!
    for k in range(2, n + 1):
        factorial *= float(k)
    exponent = order + 1.0
    shift = 0.0
    while x < 10.0 + order:
        shift += divide(1.0, _pow(x, exponent))
        x += 1.0
    square = 1.0 / (x * x)
    # terms B(2k) (2k+n-1)! / ((2k)! x^(2k)), relative to 1/x^n
    ratio = factorial  # (2k+n-1)! / (2k)!, starting from k = 0 where it is (n-1)!
    ratio /= order
    series = ratio + factorial * 0.5 / x
    power = 1.0
    k = 1
    for bernoulli in _BERNOULLI:
        top = 2.0 * k + order - 1.0
        ratio = ratio * top / (2.0 * k) * (top - 1.0) / (2.0 * k - 1.0)
        power *= square
        series += bernoulli * ratio * power
        k += 1
    return sign * (divide(series, _pow(x, order)) + factorial * shift)


def cotangent_derivative(n: int, x: float) -> float:
    """The ``n``-th derivative of cot(pi x), from the polynomial in cot that it is.

    d/dx P(c) = -pi (1 + c*c) P'(c), starting from P(c) = c.
    """
    cotangent = 1.0 / _tan(_PI * x)
    coefficients = [0.0] * (n + 3)
    coefficients[1] = 1.0
    for degree in range(1, n + 1):
        derived = [0.0] * (n + 3)
        for k in range(1, degree + 1):
            derived[k - 1] += float(k) * coefficients[k]
            derived[k + 1] += float(k) * coefficients[k]
        coefficients = [-_PI * value for value in derived]
    result = 0.0
    for k in range(n + 1, -1, -1):
        result = result * cotangent + coefficients[k]
    return result


#: Every primitive row of the op table by name.
PRIMITIVES: dict[str, Callable[..., float]] = {
    **{
        name: _function(name)
        for name in (
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "asin",
            "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "floor",
            "ceil", "trunc", "rint",
        )
    },
    **{name: _function(name, 2) for name in ("pow", "fmod", "remainder", "copysign", "hypot", "atan2")},
    "gamma": _function("tgamma"),
    "abs": math.fabs,
    "mod": mod,
    "floordiv": floordiv,
    "digamma": digamma,
    "polygamma": polygamma,
}  # fmt: skip
