"""What Python's ``math`` has beside the op table: answers about numbers, exact sums, floats taken apart, constants.

Two kinds. A *composition* of rows is differentiable to every order: ``dist``, ``modf``, ``ldexp``. An *answer* about
a number, such as ``isnan``, is no Value.
Where Python computes more exactly than one rounding after the other (``fsum``, ``sumprod``, ``fma``), the number is
Python's and the derivatives are those of the plain formula. A function that is compiled and uses them runs as it is,
but for ``fsum`` of terms that do not cancel.
"""

from __future__ import annotations

import functools
import math
import operator
import struct
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from . import engine, errors
from .engine import Number, Value
from .engine.elementwise import any_array, map_arrays
from .engine.numbers import same_bits, to_float, to_tuple

__all__ = [
    "clip",
    "dist",
    "e",
    "fma",
    "frexp",
    "fsum",
    "inf",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "logaddexp",
    "modf",
    "nan",
    "nextafter",
    "pi",
    "prod",
    "sumprod",
    "tau",
    "ulp",
]

pi: float = math.pi
e: float = math.e
tau: float = math.tau
inf: float = math.inf
nan: float = math.nan

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _of_elements(function: _Function) -> _Function:
    """A decorator: of NumPy arrays, the function of each element."""

    @functools.wraps(function)
    def mapped(*operands: Any, **keywords: Any) -> Any:
        if any_array(operands):
            return map_arrays(functools.partial(function, **keywords), operands)
        return function(*operands, **keywords)

    return mapped  # type: ignore[return-value]


def _operand(x: Any, where: str) -> Any:
    """A Value, or a float; in a trace that may be the tracer of one."""
    return x if isinstance(x, (Value, float)) else to_float(x, where)


def _number(x: Any, where: str) -> Any:
    """The number of an operand: a float, or the tracer of one."""
    x = _operand(x, where)
    if isinstance(x, Value):
        return x.data
    return float(x) if issubclass(type(x), float) else x  # which may be NumPy's, whose comparisons give no bool


def _plain(x: Any, where: str) -> float:
    """The number of an operand as a plain float. In a trace that is a graph break."""
    number: Any = _number(x, where)
    is_traced = isinstance(number, engine.NumberTracer)
    found: float = number.plain_for(where) if is_traced else float(number)
    return found


def _with_number(value: Value, number: float) -> Value:
    """A node with the derivatives of ``value`` and the given number, which differs by a rounding."""
    data = value.data
    if same_bits(float(data), number):
        return value
    if not math.isfinite(data):
        return engine.functions["where"](0.0, value, number)  # type: ignore[no-any-return]
    return number - (data - value)  # what is taken away is zero, with derivative one


# --- answers ------------------------------------------------------------------------------------------------


@_of_elements
def isnan(x: Number, /) -> bool:
    """Whether the number is NaN, as ``math.isnan``; for arrays of Values, which ``np.isnan`` refuses, too.

    Args:
        x: A Value or a real number, or a NumPy array of them.

    Returns:
        A bool, or an array of bools. In a function that is compiled the answer is a comparison.

    Example:
        >>> import retrograd as rg
        >>> rg.math.isnan(rg.Value(float("nan"))), rg.math.isnan(1.0)
        (True, False)
    """
    number = _number(x, "isnan")
    return number != number  # type: ignore[no-any-return]


@_of_elements
def isinf(x: Number, /) -> bool:
    """Whether the number is positive or negative infinity, as ``math.isinf``.

    Args:
        x: A Value or a real number, or a NumPy array of them.

    Returns:
        A bool, or an array of bools. In a function that is compiled the answer is a comparison.

    Example:
        >>> import retrograd as rg
        >>> rg.math.isinf(rg.Value(float("-inf"))), rg.math.isinf(1e308)
        (True, False)
    """
    return abs(_number(x, "isinf")) >= inf  # type: ignore[no-any-return]


@_of_elements
def isfinite(x: Number, /) -> bool:
    """Whether the number is neither infinite nor NaN, as ``math.isfinite``.

    Args:
        x: A Value or a real number, or a NumPy array of them.

    Returns:
        A bool, or an array of bools. In a function that is compiled the answer is a comparison.

    Example:
        >>> import retrograd as rg
        >>> rg.math.isfinite(rg.Value(1.0)), rg.math.isfinite(rg.math.inf)
        (True, False)
    """
    return abs(_number(x, "isfinite")) < inf  # type: ignore[no-any-return]


@_of_elements
def isclose(a: Number, b: Number, /, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    """Whether two numbers are close to each other, as ``math.isclose``.

    Args:
        a: A Value or a real number, or a NumPy array of them.
        b: Another one.
        rel_tol: The largest difference, as a fraction of the larger magnitude.
        abs_tol: The difference that is close in any case, for numbers near zero.

    Returns:
        A bool, or an array of bools. In a function that is compiled the answer is a comparison.

    Raises:
        ValueError: A tolerance is negative.

    Example:
        >>> import retrograd as rg
        >>> rg.math.isclose(rg.Value(0.1) + 0.2, 0.3)
        True
    """
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError(f"isclose takes tolerances of at least 0 and got rel_tol={rel_tol!r}, abs_tol={abs_tol!r}.")
    first, second = _number(a, "isclose"), _number(b, "isclose")
    maximum, where = engine.functions["maximum"], engine.functions["where"]
    gap = where(first >= second, where(first <= second, 0.0, first - second), second - first)  # none of infinities
    limit = maximum(maximum(abs(rel_tol * first), abs(rel_tol * second)), abs_tol)
    return gap <= where(abs(first) < inf, where(abs(second) < inf, limit, 0.0), 0.0)  # type: ignore[no-any-return]


@_of_elements
def ulp(x: Number, /) -> float:
    """The distance to the next larger float, as ``math.ulp``: a step function, whose derivative is zero.

    Args:
        x: A Value or a real number, or a NumPy array of them.

    Returns:
        A float, or an array of floats. A function that is compiled runs as it is when it asks.

    Example:
        >>> import retrograd as rg
        >>> rg.math.ulp(rg.Value(1.0))
        2.220446049250313e-16
    """
    return math.ulp(_plain(x, "ulp"))


# --- sums ---------------------------------------------------------------------------------------------------


def fsum(xs: Iterable[Number], /) -> Any:
    """The sum of a sequence, rounded once, as ``math.fsum``; each derivative is 1.

    ``rg.sum`` rounds after each addition, and is one node. A function that is compiled does so, too, as long as the
    terms do not cancel: at least a millionth of their magnitudes is left. Else, and with ``exact=True``, it runs as
    it is.

    Args:
        xs: Values and real numbers.

    Returns:
        A Value when there is one among ``xs``, else a float.

    Raises:
        ValueError: Infinities of both signs are among ``xs``.
        NumberTooLargeError: A sum of finite numbers is too large for a float on the way.

    Example:
        >>> import retrograd as rg
        >>> rg.math.fsum([0.1] * 10), rg.math.fsum([rg.Value(0.1)] * 10).data
        (1.0, 1.0)
    """
    terms = to_tuple(xs, "fsum")
    found = [_number(term, "fsum") for term in terms]
    traced: Any = next((one for one in found if isinstance(one, engine.NumberTracer)), None)
    if traced is not None and (rounded := traced.sum_of([_operand(term, "fsum") for term in terms])) is not None:
        return rounded
    numbers = [_plain(one, "fsum") for one in found]
    try:
        exact = math.fsum(numbers)
    except OverflowError:
        raise errors.out_of_range("fsum", numbers) from None
    if not any(isinstance(term, Value) for term in terms):
        return exact
    total: Value = engine.reduce("sum", terms)
    if total.data == exact:
        return total
    # Each term less its own number is zero with derivative one; an infinite term stays, and is the sum.
    rest = [term - number if math.isfinite(number) else term for term, number in zip(terms, numbers, strict=True)]
    return engine.reduce("sum", rest) + (exact if math.isfinite(exact) else 0.0)


def sumprod(p: Iterable[Number], q: Iterable[Number], /) -> Any:
    """The sum of the products of two sequences, rounded once, as ``math.sumprod`` of Python 3.12.

    ``rg.dot`` rounds after each operation, is one node, and can be compiled.

    Args:
        p: Values and real numbers.
        q: As many of them.

    Returns:
        A Value when an operand is one, else a float.

    Raises:
        ValueError: The sequences differ in length.

    Example:
        >>> import retrograd as rg
        >>> rg.math.sumprod([1e100, 1.0, -1e100], [rg.Value(1.0), 1.0, 1.0]).data
        1.0
    """
    first, second = to_tuple(p, "sumprod"), to_tuple(q, "sumprod")
    total = engine.reduce("dot", first, second)
    exact = _exact_sum([(_plain(a, "sumprod"), _plain(b, "sumprod")) for a, b in zip(first, second, strict=True)])
    if exact is None:
        return total
    return _with_number(total, exact) if isinstance(total, Value) else exact


def fma(x: Number, y: Number, z: Number, /) -> Any:
    """``x * y + z``, rounded once, as ``math.fma`` of Python 3.13.

    Args:
        x: A Value or a real number.
        y: Another one.
        z: Another one.

    Returns:
        A Value when an operand is one, else a float.

    Raises:
        DomainError: There is no result: an infinity times zero, or infinities of both signs are added.
        NumberTooLargeError: The operands are finite, and the result is too large for a float.

    Example:
        >>> import retrograd as rg
        >>> rg.math.fma(rg.Value(0.1), 10.0, -1.0).data
        5.551115123125783e-17
    """
    a, b, c = (_plain(operand, "fma") for operand in (x, y, z))
    finite = math.isfinite(a) and math.isfinite(b) and math.isfinite(c)
    exact = _exact_sum([(a, b), (c, 1.0)])
    if finite and exact is None:
        raise errors.out_of_range("fma", (a, b, c))
    number = a * b + c if exact is None or exact == 0.0 == a * b + c else exact
    if number != number and not any(operand != operand for operand in (a, b, c)):
        raise errors.no_result("fma", (a, b, c))
    result = _operand(x, "fma") * _operand(y, "fma") + _operand(z, "fma")
    return _with_number(result, number) if isinstance(result, Value) else number


def _exact_sum(products: Sequence[tuple[float, float]]) -> float | None:
    """The sum of products, rounded once; None when a number is not finite, or the sum is too large."""
    try:
        return float(sum((Fraction(a) * Fraction(b) for a, b in products), Fraction(0)))
    except (OverflowError, ValueError):  # Fractions are finite
        return None


def prod(xs: Iterable[Number], /, *, start: Number = 1.0) -> Any:
    """The product of a sequence: one node of the row ``prod``, whose derivatives are the products of the others.

    Args:
        xs: Values and real numbers.
        start: A Value or a number that the product begins with.

    Returns:
        A Value when an operand is one, else a float; 1.0, or ``start``, for an empty sequence.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(0.0)
        >>> rg.prod([x, 2.0, 5.0], start=3.0).backward()
        >>> x.grad
        30.0
    """
    if type(start) is float and start == 1.0:
        return engine.reduce("prod", xs)
    return engine.reduce("prod", (start, *to_tuple(xs, "prod")))


def dist(p: Iterable[Number], q: Iterable[Number], /) -> Any:
    """The Euclidean distance of two points, as ``math.dist``; where it is zero its derivatives are zero.

    Args:
        p: The coordinates of one point: Values and real numbers.
        q: Those of the other.

    Returns:
        A Value when a coordinate is one, else a float.

    Raises:
        ValueError: The points differ in the number of coordinates.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(4.0)
        >>> rg.math.dist([x, 6.0], [1.0, 2.0]).backward()
        >>> x.grad
        0.6
    """
    first, second = to_tuple(p, "dist"), to_tuple(q, "dist")
    if len(first) != len(second):
        raise errors.unequal_lengths("dist", len(first), len(second))
    return engine.functions["hypot"](
        *(_operand(a, "dist") - _operand(b, "dist") for a, b in zip(first, second, strict=True))
    )


def logaddexp(a: Number, b: Number, /) -> Any:
    """``log(exp(a) + exp(b))`` without overflow: NumPy's ``logaddexp``, which refuses arrays of objects.

    Args:
        a: A Value or a real number, or a NumPy array of them.
        b: Another one.

    Returns:
        A Value (one node of the row ``logsumexp``) when an operand is one, else a float; of arrays an array.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.logaddexp(rg.Value(1000.0), 1000.0).data, 6)
        1000.693147
    """
    if any_array((a, b)):
        return map_arrays(logaddexp, (a, b))
    return engine.reduce("logsumexp", (a, b))


# --- floats taken apart -------------------------------------------------------------------------------------


def modf(x: Number, /) -> tuple[Any, Any]:
    """The fractional and the whole part, both with the sign of ``x``, as ``math.modf``.

    Args:
        x: A Value or a real number.

    Returns:
        The pair (fraction, whole): Values for a Value, else floats. The derivative of the fraction is 1, that of the
        whole part 0.

    Example:
        >>> import retrograd as rg
        >>> fraction, whole = rg.math.modf(rg.Value(-2.75))
        >>> fraction.data, whole.data
        (-0.75, -2.0)
    """
    x = _operand(x, "modf")
    functions = engine.functions
    if isfinite(x):
        return functions["fmod"](x, 1.0), functions["trunc"](x)
    return (x if isnan(x) else functions["copysign"](0.0, x)), x


def frexp(x: Number, /) -> tuple[Any, int]:
    """The mantissa and the exponent, as ``math.frexp``: ``x == mantissa * 2**exponent``.

    Args:
        x: A Value or a real number.

    Returns:
        The pair (mantissa, exponent). The mantissa is a Value for a Value, with derivative ``2**-exponent``; the
        exponent is an int. A function that is compiled runs as it is when it asks.

    Example:
        >>> import retrograd as rg
        >>> mantissa, exponent = rg.math.frexp(rg.Value(6.0))
        >>> mantissa.data, exponent
        (0.75, 3)
    """
    mantissa, exponent = math.frexp(_plain(x, "frexp"))
    return (ldexp(x, -exponent) if isinstance(x, Value) else mantissa), exponent


def ldexp(x: Number, i: int, /) -> Any:
    """``x * 2**i``, rounded once, as ``math.ldexp``.

    Args:
        x: A Value or a real number.
        i: An int; it has no derivative.

    Returns:
        A Value for a Value, with derivative ``2**i``; else a float.

    Raises:
        TypeError: ``i`` is not an int.
        NumberTooLargeError: ``x`` is finite and the result is too large for a float.

    Example:
        >>> import retrograd as rg
        >>> rg.math.ldexp(rg.Value(0.75), 3).data
        6.0
    """
    exponent = max(-2200, min(2200, operator.index(i)))  # beyond that every float is zero or infinite
    result = x = _operand(x, "ldexp")
    while exponent > 1023:
        result, exponent = result * 2.0**1023, exponent - 1023
    if exponent < -1074:  # a product that is exact: what it would round is zero in the end
        result, exponent = result * 2.0**-1022, exponent + 1022
    result = result * math.ldexp(1.0, exponent)
    if isinf(result) and not isinf(x) and _raises_overflow():
        raise errors.out_of_range("ldexp", (_plain(x, "ldexp"), i))
    return result


def _raises_overflow() -> bool:
    treatment = engine.set_errstate(True, True, True)
    engine.set_errstate(*treatment)
    return treatment[1]


@_of_elements
def clip(x: Number, low: Number, high: Number, /) -> Any:
    """``x`` where it lies between ``low`` and ``high``, and the nearer of them elsewhere: ``np.clip``, ``torch.clamp``.

    It is ``minimum(maximum(x, low), high)``: beyond a bound the derivative with respect to ``x`` is 0, and at a bound
    half of it goes to each side, as JAX has it; PyTorch's is 1 there.

    Args:
        x: A Value or a real number, or a NumPy array of them.
        low: The lower bound.
        high: The upper bound; it wins where it is below ``low``.

    Returns:
        A Value when an operand is one, else a float; an array for arrays.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(3.0)
        >>> rg.math.clip(x, 0.0, 1.0).data, rg.grad(rg.math.clip)(0.5, 0.0, 1.0)
        (1.0, 1.0)
    """
    return engine.functions["minimum"](engine.functions["maximum"](x, low), high)


@_of_elements
def nextafter(x: Number, y: Number, /, *, steps: int | None = None) -> Any:
    """The float after ``x`` on the way to ``y``, as ``math.nextafter``.

    Args:
        x: A Value or a real number, or a NumPy array of them.
        y: Where to go; it has no influence on the derivative.
        steps: How many floats to go, 1 when left out; Python has it from 3.12 on.

    Returns:
        A Value when ``x`` is one, with derivative 1; else a float. A function that is compiled runs as it is when it
        asks.

    Raises:
        ValueError: ``steps`` is negative.

    Example:
        >>> import retrograd as rg
        >>> rg.math.nextafter(rg.Value(1.0), 2.0).data
        1.0000000000000002
    """
    start, end = _plain(x, "nextafter"), _plain(y, "nextafter")
    count = 1 if steps is None else operator.index(steps)
    if count < 0:
        raise ValueError(f"nextafter takes a number of steps of at least 0 and got {count}.")
    number = math.nextafter(start, end) if count == 1 else _stepped(start, end, count)
    return _with_number(x, number) if isinstance(x, Value) else number


def _stepped(start: float, end: float, count: int) -> float:
    if count == 0:
        return start
    if start != start or end != end:
        return nan
    first, last = _rank(start), _rank(end)
    if abs(last - first) <= count:
        return end
    rank = first + (count if last > first else -count)
    bits = rank if rank >= 0 else (1 << 63) - rank
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def _rank(number: float) -> int:
    """The place of a float among all floats in order; both zeros have 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & ((1 << 63) - 1))
