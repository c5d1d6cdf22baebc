"""What Python itself says of a row: its result or the class of its error; and the slopes of rows with kinks."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["FUNCTIONS", "raised", "slopes"]


def _power(a: float, b: float) -> float:
    """Python's power; a ValueError where Python's is complex."""
    if a < 0 and math.isfinite(a) and math.isfinite(b) and b != math.floor(b):
        raise ValueError("complex")
    return float(a**b)


def _relu(a: float) -> float:
    return a if a > 0 or a != a else 0.0


def _sign(a: float) -> float:
    return math.copysign(1.0, a) if a == a and a != 0 else a


def _rint(a: float) -> float:
    return math.copysign(float(round(a)), a) if math.isfinite(a) else a


def _sum(*xs: float) -> float:
    total = 0.0
    for x in xs:
        total += x
    return total


def _prod(*xs: float) -> float:
    total = 1.0
    for x in xs:
        total *= x
    return total


def _dot(*xs: float) -> float:
    half = len(xs) // 2
    return _sum(*[a * b for a, b in zip(xs[:half], xs[half:], strict=True)])


def _least(*xs: float) -> float:
    return math.nan if any(x != x for x in xs) else min(xs)


def _most(*xs: float) -> float:
    return math.nan if any(x != x for x in xs) else max(xs)


_NAMES = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos",
          "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "floor", "ceil", "trunc",
          "degrees", "radians", "atan2", "hypot", "fmod", "remainder", "copysign", "gamma")  # fmt: skip

#: Each row that Python has too, or that plain comparisons define.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in _NAMES},
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "mod": operator.mod,
    "floordiv": operator.floordiv, "pow": _power, "neg": operator.neg, "abs": abs, "square": lambda a: a * a,
    "relu": _relu, "sign": _sign, "rint": _rint, "minimum": _least, "maximum": _most, "min": _least, "max": _most,
    "sum": _sum, "prod": _prod, "dot": _dot, "mean": lambda *xs: _sum(*xs) / len(xs),
    "where": lambda a, b, c: b if a != 0 else c,
}  # fmt: skip


def raised(error: BaseException) -> str:
    """The name of the built-in class that an arithmetic error is."""
    return next(c.__name__ for c in (ZeroDivisionError, OverflowError, ValueError) if isinstance(error, c))


def _shares(xs: Sequence[float], best: float) -> list[float]:
    if best != best:  # the convention of the sequences: a NaN is everybody's
        return [1.0 / len(xs)] * len(xs)
    ties = xs.count(best)
    return [1.0 / ties if x == best else 0.0 for x in xs]


def _quotient(a: float, b: float, whole: Callable[[Any], int]) -> float:
    if math.isfinite(a) and math.isfinite(b) and b != 0:
        quotient = whole(Fraction(a) / Fraction(b))
        try:
            return -float(quotient)
        except OverflowError:
            return -math.inf if quotient > 0 else math.inf
    if b == 0 and a and a == a:
        return -math.copysign(math.inf, a) * math.copysign(1.0, b)
    if math.isfinite(a) and math.isinf(b):
        return -float(whole(math.copysign(0.5, a) * math.copysign(1.0, b))) if a else 0.0
    return math.nan


def slopes(name: str, numbers: Sequence[float]) -> list[float]:
    """The first derivatives of a row with kinks; all further ones are zero.

    Away from the kinks they are mathematics, at the kinks the conventions that docs/ops.md publishes.
    """
    a, b = numbers[0], numbers[1] if len(numbers) > 1 else 0.0
    if name == "abs":
        return [_sign(a)]
    if name == "relu":
        return [0.0 if a <= 0 else 1.0]
    if name in ("minimum", "maximum") and not (a == a and b == b):
        return [1.0, 1.0]  # a NaN of either passes on to both
    if name in ("minimum", "min"):
        return _shares(list(numbers), _least(*numbers))
    if name in ("maximum", "max"):
        return _shares(list(numbers), _most(*numbers))
    if name == "where":
        return [0.0, 1.0, 0.0] if a != 0 else [0.0, 0.0, 1.0]
    if name == "mod":
        return [1.0, _quotient(a, b, math.floor)]
    if name == "copysign":
        return [_sign(a) * math.copysign(1.0, b), 0.0]
    if name in ("fmod", "remainder") and math.isinf(a) and math.isfinite(b):
        return [1.0, -math.copysign(math.inf, a) * math.copysign(1.0, b)]
    if name == "fmod":
        return [1.0, _quotient(a, b, math.trunc)]
    if name == "remainder":
        return [1.0, _quotient(a, b, round)]
    return [0.0] * len(numbers)
