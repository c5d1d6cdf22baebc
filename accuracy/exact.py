"""What a row is in exact mathematics: its derivatives of any order, to 50 digits and more.

The formulas are not those of the op table: SymPy differentiates the textbook definition, and mpmath evaluates the
result at growing precision until two answers agree to 30 digits. At an infinite operand, or where the function has no
value, the answer is the limit from inside the domain, when there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import sympy

__all__ = ["KINKED", "LARGEST", "Undefined", "derivative", "limit"]

Orders = tuple[int, ...]

#: Bits of working precision, tried in turn. Functions at 1e308 or 5e-324 cancel up to two thousand bits.
_PRECISIONS = (200, 800, 3200, 7000)
_NOTHING = mpmath.mpf(2) ** -1400  #: what is smaller is zero to every float
LARGEST = mpmath.mpf(1.7976931348623157e308)


class Undefined(Exception):  # noqa: N818  # an answer, not a failure
    """There is no real number here."""


def _pow(a: Any, b: Any, orders: Orders) -> Any:
    """d/da taken n times gives b(b-1)…(b-n+1) a**(b-n), which is a number at a negative a too."""
    falling = sympy.prod([b - k for k in range(orders[0])])
    return sympy.diff(falling * a ** (b - orders[0]), b, orders[1])


#: Exponents beyond this are raised to as exp(b log a): a power taken by squaring would need them bit by bit.
_LARGE_EXPONENT = 2.0**60


def _large_pow(a: Any, b: Any, orders: Orders) -> Any:
    """As :func:`_pow`, for an exponent so large that it is even (if finite: every float beyond 2**53 is)."""
    if a <= 0 and orders[1]:
        raise Undefined
    taken, by_exponent = orders
    falling = [mpmath.mpf(c) for c in ((1,), (1, 0), (1, -1, 0), (1, -3, 2, 0), (1, -6, 11, -6, 0))[taken]]
    log, total = mpmath.log(abs(a)), mpmath.mpf(0)
    for k in range(by_exponent + 1):
        total += mpmath.binomial(by_exponent, k) * mpmath.polyval(falling, b) * log ** (by_exponent - k)
        falling = [c * (len(falling) - 1 - i) for i, c in enumerate(falling[:-1])] or [mpmath.mpf(0)]
    return total * mpmath.exp((b - taken) * log) * (-1 if a < 0 and taken % 2 else 1)


_A, _B, _C = sympy.symbols("a b c", real=True)
_LETTERS = (_A, _B, _C)
_SIGMOID = 1 / (1 + sympy.exp(-_A))

#: The definitions, where SymPy's function of the same name does not serve.
_DEFINITIONS: dict[str, Any] = {
    "add": _A + _B,
    "sub": _A - _B,
    "mul": _A * _B,
    "div": _A / _B,
    "neg": -_A,
    "square": _A * _A,
    "reciprocal": 1 / _A,
    "exp2": sympy.exp(_A * sympy.log(2)),
    "expm1": sympy.exp(_A) - 1,
    "log2": sympy.log(_A) / sympy.log(2),
    "log10": sympy.log(_A) / sympy.log(10),
    "log1p": sympy.log(1 + _A),
    "cbrt": sympy.Pow(_A, sympy.Rational(1, 3)),
    "hypot": sympy.sqrt(_A * _A + _B * _B),
    "degrees": _A * 180 / sympy.pi,
    "radians": _A * sympy.pi / 180,
    "sigmoid": _SIGMOID,
    "softplus": sympy.log(1 + sympy.exp(_A)),
    "silu": _A * _SIGMOID,
    "gelu": _A * sympy.erfc(-_A / sympy.sqrt(2)) / 2,
    "lgamma": sympy.loggamma(_A),
}
_SAME_NAME = ("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
              "acosh", "atanh", "erf", "erfc", "gamma", "digamma")  # fmt: skip

#: Rows that are exact by construction and have kinks; :mod:`.rules` knows their derivatives.
KINKED = ("abs", "sign", "floor", "ceil", "trunc", "rint", "relu", "minimum", "maximum", "where", "mod", "floordiv",
          "fmod", "remainder", "copysign", "max", "min")  # fmt: skip


def _sequence(name: str, xs: Sequence[Any]) -> Any:
    half = len(xs) // 2
    if name == "sum":
        return sympy.Add(*xs)
    if name == "mean":
        return sympy.Add(*xs) / len(xs)
    if name == "prod":
        return sympy.Mul(*xs)
    if name == "dot":
        return sympy.Add(*[a * b for a, b in zip(xs[:half], xs[half:], strict=True)])
    if name == "logsumexp":
        return sympy.log(sympy.Add(*[sympy.exp(x) for x in xs]))
    if name == "softmax":  # its first output
        return 1 / sympy.Add(*[sympy.exp(x - xs[0]) for x in xs])
    raise KeyError(name)


@cache
def _formula(name: str, orders: Orders) -> Callable[..., Any]:
    """The derivative of ``name`` taken ``orders[i]`` times by operand i, as a function of mpmath numbers."""
    symbols: Sequence[Any] = (
        _LETTERS[: len(orders)] if len(orders) <= 3 else sympy.symbols(f"x:{len(orders)}", real=True)
    )
    if name == "pow":
        expression = _pow(_A, _B, orders)
    else:
        if name == "atan2":
            expression = sympy.atan2(_A, _B)
        elif name in _DEFINITIONS:
            expression = _DEFINITIONS[name]
        elif name in _SAME_NAME:
            expression = getattr(sympy, name)(_A)
        else:
            expression = _sequence(name, symbols)
        for symbol, order in zip(symbols, orders, strict=True):
            expression = sympy.diff(expression, symbol, order)
    return sympy.lambdify(symbols, expression, "mpmath")  # type: ignore[no-any-return]


def _is_gamma_pole(name: str, x: Any) -> bool:
    return name in ("lgamma", "gamma", "digamma") and x <= 0 and bool(x == mpmath.floor(x))


def _at_precision(name: str, orders: Orders, numbers: Sequence[Any], bits: int) -> Any:
    if _is_gamma_pole(name, numbers[0]):
        raise Undefined
    with mpmath.workprec(bits):
        sign = 1
        if name == "cbrt" and numbers[0] < 0:  # an odd function, which a power is not
            numbers, sign = [-numbers[0]], -1 if orders[0] % 2 == 0 else 1
        try:
            large = name == "pow" and abs(numbers[1]) > _LARGE_EXPONENT
            result = (_large_pow if large else _formula(name, orders))(*numbers, *([orders] if large else []))
        except (ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.NoConvergence) as error:
            raise Undefined from error
        if isinstance(result, mpmath.mpc):
            if name == "lgamma" and not any(orders):
                return result.real
            if abs(result.imag) > abs(result.real) * mpmath.mpf(2) ** -(bits // 2):
                raise Undefined
            result = result.real
        result = sign * mpmath.mpf(result)
        if not mpmath.isfinite(result):
            raise Undefined
        return result


def _settled(name: str, orders: Orders, numbers: Sequence[Any]) -> Any:
    before: Any = None
    for bits in _PRECISIONS:
        now = _at_precision(name, orders, numbers, bits)
        if before is not None and now != 0 and abs(now - before) <= abs(now) * mpmath.mpf(2) ** -110:
            return now
        before = now
    if abs(before) < _NOTHING:
        return mpmath.mpf(0)
    raise Undefined


def _one_wins(name: str, orders: Orders, numbers: Sequence[float]) -> Any:
    """The other exponential is nothing beside the larger operand's."""
    winner = int(numbers[1] > numbers[0])
    if name == "softmax":
        return mpmath.mpf(1 - winner if not any(orders) else 0)
    if not any(orders):
        return mpmath.mpf(numbers[winner])
    return mpmath.mpf(sum(orders) == 1 and orders[winner] == 1)


def _key(numbers: Sequence[float]) -> tuple[str, ...]:
    return tuple(float(x).hex() for x in numbers)  # 0.0 == -0.0, which a cache must not see as one


def derivative(name: str, orders: Orders, numbers: Sequence[float]) -> Any:
    """The exact derivative at finite operands. Raises Undefined where there is no real one."""
    answer = _derivative(name, orders, _key(numbers))
    if answer is None:
        raise Undefined
    return answer


@cache
def _derivative(name: str, orders: Orders, key: tuple[str, ...]) -> Any:
    numbers = [float.fromhex(text) for text in key]
    if not all(map(math.isfinite, numbers)):
        return None
    if name == "pow" and numbers[0] < 0 and orders[1]:
        return None  # off the whole numbers the power is complex, so that by the exponent nothing can be said
    if name in ("erf", "erfc", "gelu") and abs(numbers[0]) > 1e6:
        return _saturated(name, orders[0], numbers[0])
    if name == "gamma" and abs(numbers[0]) > 1e4 and not _is_gamma_pole(name, numbers[0]):
        return mpmath.mpf(10) ** 400 if numbers[0] > 0 else mpmath.mpf(0)  # beyond every float, and all derivatives
    if name in ("logsumexp", "softmax") and len(numbers) == 2 and abs(numbers[0] - numbers[1]) > 1e5:
        return _one_wins(name, orders, numbers)
    try:
        return _settled(name, orders, [mpmath.mpf(x) for x in numbers])
    except Undefined:
        return None


def _saturated(name: str, order: int, x: float) -> Any:
    """Where exp(-x*x) is nothing: constants and a line."""
    right = x > 0
    lines = {"erf": (1 if right else -1, 0), "erfc": (0 if right else 2, 0), "gelu": (x if right else 0, int(right))}
    return mpmath.mpf(lines[name][order] if order < 2 else 0)


# --- limits ---------------------------------------------------------------------------------------------

#: How an operand nears its limit: by these powers of two, in two schedules so that a limit must not depend on the path.
_PATH_BITS = 2600
_SCHEDULES = (((200, 300), (400, 600)), ((300, 200), (600, 400)))


def _near(x: float, bits: int, side: int) -> Any:
    if math.isinf(x):
        return mpmath.mpf(2) ** bits * (1 if x > 0 else -1)
    return x + side * mpmath.mpf(2) ** -bits


def _sides(x: float, moves: bool) -> tuple[int, ...]:
    """From where an operand nears its limit: a zero from the side of its sign, else from both."""
    if not moves or math.isinf(x):
        return (0,)
    if x == 0.0:
        return (1,) if math.copysign(1.0, x) > 0 else (-1,)
    return (-1, 1)


def limit(name: str, orders: Orders, numbers: Sequence[float]) -> float:
    """The derivative at operands that are infinite, a pole or NaN: a number, ±inf, or NaN when there is no limit.

    A derivative that does not depend on an operand is the same when that operand is NaN.
    """
    return _limit(name, orders, _key(numbers))


@cache
def _limit(name: str, orders: Orders, key: tuple[str, ...]) -> float:
    numbers = [float.fromhex(text) for text in key]
    unknown = [slot for slot, x in enumerate(numbers) if x != x]
    if unknown:
        found = set()
        for stand_in in (0.3125, 0.6875):
            tried = [stand_in if slot in unknown else x for slot, x in enumerate(numbers)]
            found.add(_somewhere(name, orders, tried))
        return float(found.pop()) if len(found) == 1 else math.nan
    if name != "gamma" and _is_gamma_pole(name, numbers[0]) and math.isfinite(numbers[0]):
        order = orders[0] + (name == "digamma")  # near a pole lgamma is like -log|x|, so its derivatives alternate
        return math.inf if order % 2 == 0 else math.nan
    if name == "gamma" and -math.inf < numbers[0] < -100.0 and _is_gamma_pole(name, numbers[0]):
        # Near -n it is like (-1)**n / (n! x): mpmath would take forever to see it.
        odd = numbers[0] % 2.0 == 1.0
        return (math.inf if odd else -math.inf) if orders[0] % 2 else math.nan
    if name == "pow" and numbers[0] == 0.0 and math.isfinite(numbers[1]):
        return _power_of_zero(orders, numbers[0], Fraction(numbers[1]))
    inside = _limits(name, orders, numbers, True) or _limits(name, orders, numbers, False)
    return inside.pop() if len(inside) == 1 else math.nan


def _somewhere(name: str, orders: Orders, numbers: Sequence[float]) -> Any:
    try:
        return derivative(name, orders, numbers)
    except Undefined:
        return limit(name, orders, numbers)


def _power_of_zero(orders: Orders, zero: float, b: Fraction) -> float:
    """The limit at base 0: from the right, or from the side of the zero's sign where a whole exponent allows it.

    The terms are f(b) log(a)**k a**(b-n), f the falling factorial b(b-1)…(b-n+1) or a derivative of it.
    """
    taken, logs = orders
    falling = [Fraction(c) for c in ((1,), (0, 1), (0, -1, 1), (0, 2, -3, 1))[taken]]  # the constant first
    factor = sum((c * b**k for k, c in enumerate(falling)), Fraction(0))
    while not factor and logs:  # the leading term is nothing: the next has a derivative of f and a log less
        logs -= 1
        falling = [c * k for k, c in enumerate(falling)][1:]
        factor = sum((c * b**k for k, c in enumerate(falling)), Fraction(0))
    if not factor:
        return 0.0
    left = math.copysign(1.0, zero) < 0 and not orders[1] and b.denominator == 1 and (b - taken) % 2 == 1
    if b > taken:
        return 0.0
    if b == taken and not logs:
        return float(factor)
    negative = (factor < 0) ^ (logs % 2 == 1) ^ left  # each log(a) is minus infinity
    return -math.inf if negative else math.inf


def _moving(name: str, numbers: Sequence[float]) -> list[bool]:
    """Which operands near their limit: the infinite ones and, where there may be a pole, zeros and ones."""
    special = [math.isinf(x) or x == 0 or abs(x) == 1 for x in numbers]
    if name == "pow":
        special[1] = math.isinf(numbers[1])  # the base has the pole
    if any(map(math.isinf, numbers)):
        special = [moves and abs(x) != 1 for moves, x in zip(special, numbers, strict=True)]
    return special if any(special) else [True] * len(numbers)


def _limits(name: str, orders: Orders, numbers: Sequence[float], inside: bool) -> set[float]:
    """The limits along every path, of those ``inside`` the domain only, or of all on which the derivative is real."""
    moving = _moving(name, numbers)
    found: set[float] = set()
    for first in _sides(numbers[0], moving[0]):
        for second in _sides(numbers[1], moving[1]) if len(numbers) > 1 else (0,):
            for schedule in _SCHEDULES[: sum(moving)]:
                one = _along(name, orders, numbers, moving, (first, second), schedule, inside)
                if one is not None:
                    found.add(one)
    return found


def _along(
    name: str,
    orders: Orders,
    numbers: Sequence[float],
    moving: Sequence[bool],
    sides: tuple[int, int],
    schedule: tuple[tuple[int, int], tuple[int, int]],
    inside: bool,
) -> float | None:
    """The limit along one path; None when the path is outside the domain, NaN when there is none."""
    seen = []
    beyond = 1100 if any(1e100 < abs(x) < math.inf for x in numbers) else 0  # infinity is larger than any of them
    for bits in schedule:
        with mpmath.workprec(_PATH_BITS):
            near = [
                _near(x, bits[slot % 2] + beyond, sides[slot % 2]) if moves else mpmath.mpf(x)
                for slot, (x, moves) in enumerate(zip(numbers, moving, strict=True))
            ]
        try:
            if inside:
                _at_precision(name, (0,) * len(orders), near, _PATH_BITS)
            seen.append(_at_precision(name, orders, near, _PATH_BITS))
        except Undefined:
            return None
    return _trend(*seen)


def _trend(early: Any, late: Any) -> float:
    with mpmath.workprec(400):
        if abs(late) < mpmath.mpf(2) ** -1100 or (abs(late) < 0.75 * abs(early) and abs(late) < 1e-3):
            return 0.0
        if abs(late) > 1.5 * abs(early) and abs(late) > 100:
            return math.inf if late > 0 else -math.inf
        if abs(late - early) <= abs(late) * mpmath.mpf(2) ** -60:
            return float(late)
    return math.nan
