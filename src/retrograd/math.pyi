# Generated from src/retrograd/ops/table.py by tools/generate.py (make generate). Do not edit.
from collections.abc import Iterable
from typing import Any, TypeAlias, overload

import numpy as np

from .engine import Number, Value
from .python_math import (
    clip as clip,
    dist as dist,
    e as e,
    fma as fma,
    frexp as frexp,
    fsum as fsum,
    inf as inf,
    isclose as isclose,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    ldexp as ldexp,
    logaddexp as logaddexp,
    modf as modf,
    nan as nan,
    nextafter as nextafter,
    pi as pi,
    prod as prod,
    sumprod as sumprod,
    tau as tau,
    ulp as ulp,
)
from .whole_numbers import (
    comb as comb,
    factorial as factorial,
    gcd as gcd,
    isqrt as isqrt,
    lcm as lcm,
    perm as perm,
)

_Array: TypeAlias = np.ndarray[Any, Any]

@overload
def add(a: Value, b: Number, /) -> Value:
    r"""Sum of two numbers.

    The operation and its local derivatives::

        y = a + b
        dy/da = 1
        dy/db = 1

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.add(2.0, 3.0)
        5.0
        >>> a, b = rg.Value(2.0), rg.Value(3.0)
        >>> rg.math.add(a, b).backward()
        >>> a.grad, b.grad
        (1.0, 1.0)
    """

@overload
def add(a: float, b: Value, /) -> Value: ...
@overload
def add(a: float, b: float, /) -> float: ...
@overload
def add(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def add(a: Number, b: _Array, /) -> _Array: ...
@overload
def sub(a: Value, b: Number, /) -> Value:
    r"""a minus b.

    The operation and its local derivatives::

        y = a - b
        dy/da = 1
        dy/db = -1

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.sub(2.0, 5.0)
        -3.0
        >>> a, b = rg.Value(2.0), rg.Value(5.0)
        >>> rg.math.sub(a, b).backward()
        >>> a.grad, b.grad
        (1.0, -1.0)
    """

@overload
def sub(a: float, b: Value, /) -> Value: ...
@overload
def sub(a: float, b: float, /) -> float: ...
@overload
def sub(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def sub(a: Number, b: _Array, /) -> _Array: ...
@overload
def subtract(a: Value, b: Number, /) -> Value:
    r"""a minus b.

    The operation and its local derivatives::

        y = a - b
        dy/da = 1
        dy/db = -1

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.subtract(2.0, 5.0)
        -3.0
        >>> a, b = rg.Value(2.0), rg.Value(5.0)
        >>> rg.math.subtract(a, b).backward()
        >>> a.grad, b.grad
        (1.0, -1.0)
    """

@overload
def subtract(a: float, b: Value, /) -> Value: ...
@overload
def subtract(a: float, b: float, /) -> float: ...
@overload
def subtract(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def subtract(a: Number, b: _Array, /) -> _Array: ...
@overload
def mul(a: Value, b: Number, /) -> Value:
    r"""a times b.

    The operation and its local derivatives::

        y = a * b
        dy/da = b
        dy/db = a

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.mul(2.0, 5.0)
        10.0
        >>> a, b = rg.Value(2.0), rg.Value(5.0)
        >>> rg.math.mul(a, b).backward()
        >>> a.grad, b.grad
        (5.0, 2.0)
    """

@overload
def mul(a: float, b: Value, /) -> Value: ...
@overload
def mul(a: float, b: float, /) -> float: ...
@overload
def mul(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def mul(a: Number, b: _Array, /) -> _Array: ...
@overload
def multiply(a: Value, b: Number, /) -> Value:
    r"""a times b.

    The operation and its local derivatives::

        y = a * b
        dy/da = b
        dy/db = a

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.multiply(2.0, 5.0)
        10.0
        >>> a, b = rg.Value(2.0), rg.Value(5.0)
        >>> rg.math.multiply(a, b).backward()
        >>> a.grad, b.grad
        (5.0, 2.0)
    """

@overload
def multiply(a: float, b: Value, /) -> Value: ...
@overload
def multiply(a: float, b: float, /) -> float: ...
@overload
def multiply(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def multiply(a: Number, b: _Array, /) -> _Array: ...
@overload
def div(a: Value, b: Number, /) -> Value:
    r"""a divided by b.

    The operation and its local derivatives::

        y = a / b
        dy/da = 1 / b
        dy/db = -y / b

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.div(3.0, 4.0)
        0.75
        >>> a, b = rg.Value(3.0), rg.Value(4.0)
        >>> rg.math.div(a, b).backward()
        >>> a.grad, b.grad
        (0.25, -0.1875)
    """

@overload
def div(a: float, b: Value, /) -> Value: ...
@overload
def div(a: float, b: float, /) -> float: ...
@overload
def div(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def div(a: Number, b: _Array, /) -> _Array: ...
@overload
def divide(a: Value, b: Number, /) -> Value:
    r"""a divided by b.

    The operation and its local derivatives::

        y = a / b
        dy/da = 1 / b
        dy/db = -y / b

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.divide(3.0, 4.0)
        0.75
        >>> a, b = rg.Value(3.0), rg.Value(4.0)
        >>> rg.math.divide(a, b).backward()
        >>> a.grad, b.grad
        (0.25, -0.1875)
    """

@overload
def divide(a: float, b: Value, /) -> Value: ...
@overload
def divide(a: float, b: float, /) -> float: ...
@overload
def divide(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def divide(a: Number, b: _Array, /) -> _Array: ...
@overload
def true_divide(a: Value, b: Number, /) -> Value:
    r"""a divided by b.

    The operation and its local derivatives::

        y = a / b
        dy/da = 1 / b
        dy/db = -y / b

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.true_divide(3.0, 4.0)
        0.75
        >>> a, b = rg.Value(3.0), rg.Value(4.0)
        >>> rg.math.true_divide(a, b).backward()
        >>> a.grad, b.grad
        (0.25, -0.1875)
    """

@overload
def true_divide(a: float, b: Value, /) -> Value: ...
@overload
def true_divide(a: float, b: float, /) -> float: ...
@overload
def true_divide(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def true_divide(a: Number, b: _Array, /) -> _Array: ...
@overload
def neg(a: Value, /) -> Value:
    r"""Minus a.

    The operation and its local derivatives::

        y = -a
        dy/da = -1

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.neg(2.0)
        -2.0
        >>> a = rg.Value(2.0)
        >>> rg.math.neg(a).backward()
        >>> a.grad
        -1.0
    """

@overload
def neg(a: float, /) -> float: ...
@overload
def neg(a: _Array, /) -> _Array: ...
@overload
def negative(a: Value, /) -> Value:
    r"""Minus a.

    The operation and its local derivatives::

        y = -a
        dy/da = -1

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.negative(2.0)
        -2.0
        >>> a = rg.Value(2.0)
        >>> rg.math.negative(a).backward()
        >>> a.grad
        -1.0
    """

@overload
def negative(a: float, /) -> float: ...
@overload
def negative(a: _Array, /) -> _Array: ...
@overload
def pow(a: Value, b: Number, /) -> Value:
    r"""a to the power b. With a negative base only a constant whole exponent has a real derivative.

    The operation and its local derivatives::

        y = pow(a, b)
        dy/da = zero_product(b, pow(a, b - 1))
        dy/db = select(a == 0 and (b == 0 or b > 1), 0, select(a == 0 and b > 0, zero_product(a, log(a)
            * exp(zero_product(b - 1, log(a)))), zero_product(y, log(a))))

    By convention, at a = 0, b = 0: y = 1, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where
    the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where a == 0 and b < 0 and b != -inf (zero to a negative power);
            ``errstate(divide="ignore")`` gives an infinity or NaN instead.
        DomainError: Where a < 0 and a != -inf and b == b and abs(b) != inf and b != floor(b) (a
            negative number to a fractional power is not a real number); ``errstate(invalid="ignore")``
            gives NaN instead.
        NumberTooLargeError: Where abs(y) == inf and a != 0 and abs(a) != inf and abs(b) != inf (the
            result is too large for a float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.pow(3.0, 2.0)
        9.0
        >>> a, b = rg.Value(3.0), rg.Value(2.0)
        >>> rg.math.pow(a, b).backward()
        >>> a.grad, round(b.grad, 6)
        (6.0, 9.887511)
    """

@overload
def pow(a: float, b: Value, /) -> Value: ...
@overload
def pow(a: float, b: float, /) -> float: ...
@overload
def pow(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def pow(a: Number, b: _Array, /) -> _Array: ...
@overload
def power(a: Value, b: Number, /) -> Value:
    r"""a to the power b. With a negative base only a constant whole exponent has a real derivative.

    The operation and its local derivatives::

        y = pow(a, b)
        dy/da = zero_product(b, pow(a, b - 1))
        dy/db = select(a == 0 and (b == 0 or b > 1), 0, select(a == 0 and b > 0, zero_product(a, log(a)
            * exp(zero_product(b - 1, log(a)))), zero_product(y, log(a))))

    By convention, at a = 0, b = 0: y = 1, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where
    the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where a == 0 and b < 0 and b != -inf (zero to a negative power);
            ``errstate(divide="ignore")`` gives an infinity or NaN instead.
        DomainError: Where a < 0 and a != -inf and b == b and abs(b) != inf and b != floor(b) (a
            negative number to a fractional power is not a real number); ``errstate(invalid="ignore")``
            gives NaN instead.
        NumberTooLargeError: Where abs(y) == inf and a != 0 and abs(a) != inf and abs(b) != inf (the
            result is too large for a float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.power(3.0, 2.0)
        9.0
        >>> a, b = rg.Value(3.0), rg.Value(2.0)
        >>> rg.math.power(a, b).backward()
        >>> a.grad, round(b.grad, 6)
        (6.0, 9.887511)
    """

@overload
def power(a: float, b: Value, /) -> Value: ...
@overload
def power(a: float, b: float, /) -> float: ...
@overload
def power(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def power(a: Number, b: _Array, /) -> _Array: ...
@overload
def mod(a: Value, b: Number, /) -> Value:
    r"""Remainder with the sign of b, as Python's %.

    The operation and its local derivatives::

        y = mod(a, b)
        dy/da = 1
        dy/db = -floordiv(a, b)

    As Python's ``%``: the result has the sign of b, and a == b * (a // b) + a % b.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where b == 0 (modulo by zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.mod(7.5, 2.0)
        1.5
        >>> a, b = rg.Value(7.5), rg.Value(2.0)
        >>> rg.math.mod(a, b).backward()
        >>> a.grad, b.grad
        (1.0, -3.0)
    """

@overload
def mod(a: float, b: Value, /) -> Value: ...
@overload
def mod(a: float, b: float, /) -> float: ...
@overload
def mod(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def mod(a: Number, b: _Array, /) -> _Array: ...
@overload
def floordiv(a: Value, b: Number, /) -> Value:
    r"""Quotient rounded down, as Python's //.

    The operation and its local derivatives::

        y = floordiv(a, b)
        dy/da = 0
        dy/db = 0

    It is constant between its jumps, so that no gradient flows through it.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.floordiv(7.5, 2.0)
        3.0
        >>> a, b = rg.Value(7.5), rg.Value(2.0)
        >>> rg.math.floordiv(a, b).backward()
        >>> a.grad, b.grad
        (0.0, 0.0)
    """

@overload
def floordiv(a: float, b: Value, /) -> Value: ...
@overload
def floordiv(a: float, b: float, /) -> float: ...
@overload
def floordiv(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def floordiv(a: Number, b: _Array, /) -> _Array: ...
@overload
def floor_divide(a: Value, b: Number, /) -> Value:
    r"""Quotient rounded down, as Python's //.

    The operation and its local derivatives::

        y = floordiv(a, b)
        dy/da = 0
        dy/db = 0

    It is constant between its jumps, so that no gradient flows through it.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.floor_divide(7.5, 2.0)
        3.0
        >>> a, b = rg.Value(7.5), rg.Value(2.0)
        >>> rg.math.floor_divide(a, b).backward()
        >>> a.grad, b.grad
        (0.0, 0.0)
    """

@overload
def floor_divide(a: float, b: Value, /) -> Value: ...
@overload
def floor_divide(a: float, b: float, /) -> float: ...
@overload
def floor_divide(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def floor_divide(a: Number, b: _Array, /) -> _Array: ...
@overload
def fmod(a: Value, b: Number, /) -> Value:
    r"""Remainder with the sign of a, as C's fmod.

    The operation and its local derivatives::

        y = fmod(a, b)
        dy/da = 1
        dy/db = select(y == y, -rint(a / b - y / b), -trunc(a / b))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where (b == 0 or abs(a) == inf) and a == a and b == b (no remainder exists);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.fmod(-7.5, 2.0)
        -1.5
        >>> a, b = rg.Value(-7.5), rg.Value(2.0)
        >>> rg.math.fmod(a, b).backward()
        >>> a.grad, b.grad
        (1.0, 3.0)
    """

@overload
def fmod(a: float, b: Value, /) -> Value: ...
@overload
def fmod(a: float, b: float, /) -> float: ...
@overload
def fmod(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def fmod(a: Number, b: _Array, /) -> _Array: ...
@overload
def remainder(a: Value, b: Number, /) -> Value:
    r"""Distance from the nearest multiple of b, as Python's math.remainder and IEEE 754.

    The operation and its local derivatives::

        y = remainder(a, b)
        dy/da = 1
        dy/db = select(y == y, -rint(a / b - y / b), -rint(a / b))

    As ``math.remainder``: a minus the nearest multiple of b, the even multiple at a tie, so that the
    result is at most half of b. ``mod`` and ``%`` have the sign of b, ``fmod`` that of a.
    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where (b == 0 or abs(a) == inf) and a == a and b == b (no remainder exists);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.remainder(7.0, 4.0)
        -1.0
        >>> a, b = rg.Value(7.0), rg.Value(4.0)
        >>> rg.math.remainder(a, b).backward()
        >>> a.grad, b.grad
        (1.0, -2.0)
    """

@overload
def remainder(a: float, b: Value, /) -> Value: ...
@overload
def remainder(a: float, b: float, /) -> float: ...
@overload
def remainder(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def remainder(a: Number, b: _Array, /) -> _Array: ...
@overload
def square(a: Value, /) -> Value:
    r"""a times a.

    The operation and its local derivatives::

        y = a * a
        dy/da = 2 * a

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.square(3.0)
        9.0
        >>> a = rg.Value(3.0)
        >>> rg.math.square(a).backward()
        >>> a.grad
        6.0
    """

@overload
def square(a: float, /) -> float: ...
@overload
def square(a: _Array, /) -> _Array: ...
@overload
def reciprocal(a: Value, /) -> Value:
    r"""One over a; infinite at zero.

    The operation and its local derivatives::

        y = 1 / a
        dy/da = -y * y

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.reciprocal(4.0)
        0.25
        >>> a = rg.Value(4.0)
        >>> rg.math.reciprocal(a).backward()
        >>> a.grad
        -0.0625
    """

@overload
def reciprocal(a: float, /) -> float: ...
@overload
def reciprocal(a: _Array, /) -> _Array: ...
@overload
def exp(a: Value, /) -> Value:
    r"""e to the power a.

    The operation and its local derivatives::

        y = exp(a)
        dy/da = y

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
            float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.exp(0.5), 6)
        1.648721
        >>> a = rg.Value(0.5)
        >>> rg.math.exp(a).backward()
        >>> round(a.grad, 6)
        1.648721
    """

@overload
def exp(a: float, /) -> float: ...
@overload
def exp(a: _Array, /) -> _Array: ...
@overload
def exp2(a: Value, /) -> Value:
    r"""2 to the power a.

    The operation and its local derivatives::

        y = exp2(a)
        dy/da = y * LN2

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
            float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.exp2(3.0)
        8.0
        >>> a = rg.Value(3.0)
        >>> rg.math.exp2(a).backward()
        >>> round(a.grad, 6)
        5.545177
    """

@overload
def exp2(a: float, /) -> float: ...
@overload
def exp2(a: _Array, /) -> _Array: ...
@overload
def expm1(a: Value, /) -> Value:
    r"""exp(a) - 1, exact near zero.

    The operation and its local derivatives::

        y = expm1(a)
        dy/da = exp(a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
            float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.expm1(0.5), 6)
        0.648721
        >>> a = rg.Value(0.5)
        >>> rg.math.expm1(a).backward()
        >>> round(a.grad, 6)
        1.648721
    """

@overload
def expm1(a: float, /) -> float: ...
@overload
def expm1(a: _Array, /) -> _Array: ...
@overload
def log(a: Value, base: Number | None = None, /) -> Value:
    r"""Natural logarithm.

    The operation and its local derivatives::

        y = log(a)
        dy/da = 1 / a

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        base: The base, e when it is left out; a Value or a real number. The result is log(a) /
            log(base).

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.log(0.5), 6)
        -0.693147
        >>> a = rg.Value(0.5)
        >>> rg.math.log(a).backward()
        >>> a.grad
        2.0
    """

@overload
def log(a: float, base: Value, /) -> Value: ...
@overload
def log(a: float, base: float | None = None, /) -> float: ...
@overload
def log(a: _Array, base: Number | _Array | None = None, /) -> _Array: ...
@overload
def log2(a: Value, /) -> Value:
    r"""Logarithm to base 2.

    The operation and its local derivatives::

        y = log2(a)
        dy/da = INV_LN2 / a

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.log2(0.5)
        -1.0
        >>> a = rg.Value(0.5)
        >>> rg.math.log2(a).backward()
        >>> round(a.grad, 6)
        2.88539
    """

@overload
def log2(a: float, /) -> float: ...
@overload
def log2(a: _Array, /) -> _Array: ...
@overload
def log10(a: Value, /) -> Value:
    r"""Logarithm to base 10.

    The operation and its local derivatives::

        y = log10(a)
        dy/da = INV_LN10 / a

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.log10(0.5), 6)
        -0.30103
        >>> a = rg.Value(0.5)
        >>> rg.math.log10(a).backward()
        >>> round(a.grad, 6)
        0.868589
    """

@overload
def log10(a: float, /) -> float: ...
@overload
def log10(a: _Array, /) -> _Array: ...
@overload
def log1p(a: Value, /) -> Value:
    r"""log(1 + a), exact near zero.

    The operation and its local derivatives::

        y = log1p(a)
        dy/da = 1 / (1 + a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a == -1 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
            infinity or NaN instead. Where a < -1 (the logarithm of a negative number);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.log1p(0.5), 6)
        0.405465
        >>> a = rg.Value(0.5)
        >>> rg.math.log1p(a).backward()
        >>> round(a.grad, 6)
        0.666667
    """

@overload
def log1p(a: float, /) -> float: ...
@overload
def log1p(a: _Array, /) -> _Array: ...
@overload
def sqrt(a: Value, /) -> Value:
    r"""Square root; its derivative at zero is infinite.

    The operation and its local derivatives::

        y = sqrt(a)
        dy/da = 0.5 / y

    By convention, at a = 0: y = 0, dy/da = inf.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a < 0 (the square root of a negative number); ``errstate(invalid="ignore")``
            gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.sqrt(9.0)
        3.0
        >>> a = rg.Value(9.0)
        >>> rg.math.sqrt(a).backward()
        >>> round(a.grad, 6)
        0.166667
    """

@overload
def sqrt(a: float, /) -> float: ...
@overload
def sqrt(a: _Array, /) -> _Array: ...
@overload
def cbrt(a: Value, /) -> Value:
    r"""Cube root, of negative numbers too.

    The operation and its local derivatives::

        y = cbrt(a)
        dy/da = 1 / (3 * y) / y

    By convention, at a = 0: y = 0, dy/da = inf.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.cbrt(8.0)
        2.0
        >>> a = rg.Value(8.0)
        >>> rg.math.cbrt(a).backward()
        >>> round(a.grad, 6)
        0.083333
    """

@overload
def cbrt(a: float, /) -> float: ...
@overload
def cbrt(a: _Array, /) -> _Array: ...
@overload
def hypot(a: Value, b: Number, /, *more: Number) -> Value:
    r"""sqrt(a*a + b*b) without overflow; its derivative at the origin is zero.

    The operation and its local derivatives::

        y = hypot(a, b)
        dy/da = select(y == 0, 0, select(abs(a) >= abs(b), sign(a) / hypot(1, b / a), a / y))
        dy/db = select(y == 0, 0, select(abs(b) >= abs(a), sign(b) / hypot(1, a / b), b / y))

    The larger leg is divided out, so that squares do not overflow. By convention, at a = 0, b = 0: y =
    0, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.
        *more: Further coordinates: the result is the square root of the sum of all squares.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.hypot(3.0, 4.0)
        5.0
        >>> a, b = rg.Value(3.0), rg.Value(4.0)
        >>> rg.math.hypot(a, b).backward()
        >>> a.grad, b.grad
        (0.6, 0.8)
    """

@overload
def hypot(a: float, b: Value, /, *more: Number) -> Value: ...
@overload
def hypot(a: float, b: float, /, *more: float) -> float: ...
@overload
def hypot(a: _Array, b: Number | _Array, /, *more: Number | _Array) -> _Array: ...
@overload
def hypot(a: Number, b: _Array, /, *more: Number | _Array) -> _Array: ...
@overload
def sin(a: Value, /) -> Value:
    r"""Sine of an angle in radians.

    The operation and its local derivatives::

        y = sin(a)
        dy/da = cos(a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
            instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.sin(0.5), 6)
        0.479426
        >>> a = rg.Value(0.5)
        >>> rg.math.sin(a).backward()
        >>> round(a.grad, 6)
        0.877583
    """

@overload
def sin(a: float, /) -> float: ...
@overload
def sin(a: _Array, /) -> _Array: ...
@overload
def cos(a: Value, /) -> Value:
    r"""Cosine of an angle in radians.

    The operation and its local derivatives::

        y = cos(a)
        dy/da = -sin(a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
            instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.cos(0.5), 6)
        0.877583
        >>> a = rg.Value(0.5)
        >>> rg.math.cos(a).backward()
        >>> round(a.grad, 6)
        -0.479426
    """

@overload
def cos(a: float, /) -> float: ...
@overload
def cos(a: _Array, /) -> _Array: ...
@overload
def tan(a: Value, /) -> Value:
    r"""Tangent of an angle in radians.

    The operation and its local derivatives::

        y = tan(a)
        dy/da = 1 + y * y

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
            instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.tan(0.5), 6)
        0.546302
        >>> a = rg.Value(0.5)
        >>> rg.math.tan(a).backward()
        >>> round(a.grad, 6)
        1.298446
    """

@overload
def tan(a: float, /) -> float: ...
@overload
def tan(a: _Array, /) -> _Array: ...
@overload
def asin(a: Value, /) -> Value:
    r"""Angle in radians whose sine is a.

    The operation and its local derivatives::

        y = asin(a)
        dy/da = 1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) > 1 (the arc sine of a number outside [-1, 1]);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.asin(0.5), 6)
        0.523599
        >>> a = rg.Value(0.5)
        >>> rg.math.asin(a).backward()
        >>> round(a.grad, 6)
        1.154701
    """

@overload
def asin(a: float, /) -> float: ...
@overload
def asin(a: _Array, /) -> _Array: ...
@overload
def arcsin(a: Value, /) -> Value:
    r"""Angle in radians whose sine is a.

    The operation and its local derivatives::

        y = asin(a)
        dy/da = 1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) > 1 (the arc sine of a number outside [-1, 1]);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.arcsin(0.5), 6)
        0.523599
        >>> a = rg.Value(0.5)
        >>> rg.math.arcsin(a).backward()
        >>> round(a.grad, 6)
        1.154701
    """

@overload
def arcsin(a: float, /) -> float: ...
@overload
def arcsin(a: _Array, /) -> _Array: ...
@overload
def acos(a: Value, /) -> Value:
    r"""Angle in radians whose cosine is a.

    The operation and its local derivatives::

        y = acos(a)
        dy/da = -1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) > 1 (the arc cosine of a number outside [-1, 1]);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.acos(0.5), 6)
        1.047198
        >>> a = rg.Value(0.5)
        >>> rg.math.acos(a).backward()
        >>> round(a.grad, 6)
        -1.154701
    """

@overload
def acos(a: float, /) -> float: ...
@overload
def acos(a: _Array, /) -> _Array: ...
@overload
def arccos(a: Value, /) -> Value:
    r"""Angle in radians whose cosine is a.

    The operation and its local derivatives::

        y = acos(a)
        dy/da = -1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) > 1 (the arc cosine of a number outside [-1, 1]);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.arccos(0.5), 6)
        1.047198
        >>> a = rg.Value(0.5)
        >>> rg.math.arccos(a).backward()
        >>> round(a.grad, 6)
        -1.154701
    """

@overload
def arccos(a: float, /) -> float: ...
@overload
def arccos(a: _Array, /) -> _Array: ...
@overload
def atan(a: Value, /) -> Value:
    r"""Angle in radians whose tangent is a.

    The operation and its local derivatives::

        y = atan(a)
        dy/da = 1 / (1 + a * a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.atan(0.5), 6)
        0.463648
        >>> a = rg.Value(0.5)
        >>> rg.math.atan(a).backward()
        >>> a.grad
        0.8
    """

@overload
def atan(a: float, /) -> float: ...
@overload
def atan(a: _Array, /) -> _Array: ...
@overload
def arctan(a: Value, /) -> Value:
    r"""Angle in radians whose tangent is a.

    The operation and its local derivatives::

        y = atan(a)
        dy/da = 1 / (1 + a * a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.arctan(0.5), 6)
        0.463648
        >>> a = rg.Value(0.5)
        >>> rg.math.arctan(a).backward()
        >>> a.grad
        0.8
    """

@overload
def arctan(a: float, /) -> float: ...
@overload
def arctan(a: _Array, /) -> _Array: ...
@overload
def atan2(a: Value, b: Number, /) -> Value:
    r"""Angle in radians of the point (b, a).

    The operation and its local derivatives::

        y = atan2(a, b)
        dy/da = b / hypot(a, b) / hypot(a, b)
        dy/db = -a / hypot(a, b) / hypot(a, b)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.atan2(0.5, 2.0), 6)
        0.244979
        >>> a, b = rg.Value(0.5), rg.Value(2.0)
        >>> rg.math.atan2(a, b).backward()
        >>> round(a.grad, 6), round(b.grad, 6)
        (0.470588, -0.117647)
    """

@overload
def atan2(a: float, b: Value, /) -> Value: ...
@overload
def atan2(a: float, b: float, /) -> float: ...
@overload
def atan2(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def atan2(a: Number, b: _Array, /) -> _Array: ...
@overload
def arctan2(a: Value, b: Number, /) -> Value:
    r"""Angle in radians of the point (b, a).

    The operation and its local derivatives::

        y = atan2(a, b)
        dy/da = b / hypot(a, b) / hypot(a, b)
        dy/db = -a / hypot(a, b) / hypot(a, b)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.arctan2(0.5, 2.0), 6)
        0.244979
        >>> a, b = rg.Value(0.5), rg.Value(2.0)
        >>> rg.math.arctan2(a, b).backward()
        >>> round(a.grad, 6), round(b.grad, 6)
        (0.470588, -0.117647)
    """

@overload
def arctan2(a: float, b: Value, /) -> Value: ...
@overload
def arctan2(a: float, b: float, /) -> float: ...
@overload
def arctan2(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def arctan2(a: Number, b: _Array, /) -> _Array: ...
@overload
def degrees(a: Value, /) -> Value:
    r"""Radians to degrees.

    The operation and its local derivatives::

        y = a * RADIAN
        dy/da = RADIAN

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.degrees(1.0), 6)
        57.29578
        >>> a = rg.Value(1.0)
        >>> rg.math.degrees(a).backward()
        >>> round(a.grad, 6)
        57.29578
    """

@overload
def degrees(a: float, /) -> float: ...
@overload
def degrees(a: _Array, /) -> _Array: ...
@overload
def rad2deg(a: Value, /) -> Value:
    r"""Radians to degrees.

    The operation and its local derivatives::

        y = a * RADIAN
        dy/da = RADIAN

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.rad2deg(1.0), 6)
        57.29578
        >>> a = rg.Value(1.0)
        >>> rg.math.rad2deg(a).backward()
        >>> round(a.grad, 6)
        57.29578
    """

@overload
def rad2deg(a: float, /) -> float: ...
@overload
def rad2deg(a: _Array, /) -> _Array: ...
@overload
def radians(a: Value, /) -> Value:
    r"""Degrees to radians.

    The operation and its local derivatives::

        y = a * DEGREE
        dy/da = DEGREE

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.radians(180.0), 6)
        3.141593
        >>> a = rg.Value(180.0)
        >>> rg.math.radians(a).backward()
        >>> round(a.grad, 6)
        0.017453
    """

@overload
def radians(a: float, /) -> float: ...
@overload
def radians(a: _Array, /) -> _Array: ...
@overload
def deg2rad(a: Value, /) -> Value:
    r"""Degrees to radians.

    The operation and its local derivatives::

        y = a * DEGREE
        dy/da = DEGREE

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.deg2rad(180.0), 6)
        3.141593
        >>> a = rg.Value(180.0)
        >>> rg.math.deg2rad(a).backward()
        >>> round(a.grad, 6)
        0.017453
    """

@overload
def deg2rad(a: float, /) -> float: ...
@overload
def deg2rad(a: _Array, /) -> _Array: ...
@overload
def sinh(a: Value, /) -> Value:
    r"""Hyperbolic sine.

    The operation and its local derivatives::

        y = sinh(a)
        dy/da = cosh(a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
            float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.sinh(0.5), 6)
        0.521095
        >>> a = rg.Value(0.5)
        >>> rg.math.sinh(a).backward()
        >>> round(a.grad, 6)
        1.127626
    """

@overload
def sinh(a: float, /) -> float: ...
@overload
def sinh(a: _Array, /) -> _Array: ...
@overload
def cosh(a: Value, /) -> Value:
    r"""Hyperbolic cosine.

    The operation and its local derivatives::

        y = cosh(a)
        dy/da = sinh(a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
            float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.cosh(0.5), 6)
        1.127626
        >>> a = rg.Value(0.5)
        >>> rg.math.cosh(a).backward()
        >>> round(a.grad, 6)
        0.521095
    """

@overload
def cosh(a: float, /) -> float: ...
@overload
def cosh(a: _Array, /) -> _Array: ...
@overload
def tanh(a: Value, /) -> Value:
    r"""Hyperbolic tangent.

    The operation and its local derivatives::

        y = tanh(a)
        dy/da = select(abs(y) < 0.7072, 1 - y * y, 4 * sigmoid(2 * a) * sigmoid(-2 * a))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.tanh(0.5), 6)
        0.462117
        >>> a = rg.Value(0.5)
        >>> rg.math.tanh(a).backward()
        >>> round(a.grad, 6)
        0.786448
    """

@overload
def tanh(a: float, /) -> float: ...
@overload
def tanh(a: _Array, /) -> _Array: ...
@overload
def asinh(a: Value, /) -> Value:
    r"""Inverse hyperbolic sine.

    The operation and its local derivatives::

        y = asinh(a)
        dy/da = 1 / hypot(1, a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.asinh(0.5), 6)
        0.481212
        >>> a = rg.Value(0.5)
        >>> rg.math.asinh(a).backward()
        >>> round(a.grad, 6)
        0.894427
    """

@overload
def asinh(a: float, /) -> float: ...
@overload
def asinh(a: _Array, /) -> _Array: ...
@overload
def arcsinh(a: Value, /) -> Value:
    r"""Inverse hyperbolic sine.

    The operation and its local derivatives::

        y = asinh(a)
        dy/da = 1 / hypot(1, a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.arcsinh(0.5), 6)
        0.481212
        >>> a = rg.Value(0.5)
        >>> rg.math.arcsinh(a).backward()
        >>> round(a.grad, 6)
        0.894427
    """

@overload
def arcsinh(a: float, /) -> float: ...
@overload
def arcsinh(a: _Array, /) -> _Array: ...
@overload
def acosh(a: Value, /) -> Value:
    r"""Inverse hyperbolic cosine.

    The operation and its local derivatives::

        y = acosh(a)
        dy/da = 1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a < 1 (the inverse hyperbolic cosine of a number below 1);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.acosh(2.0), 6)
        1.316958
        >>> a = rg.Value(2.0)
        >>> rg.math.acosh(a).backward()
        >>> round(a.grad, 6)
        0.57735
    """

@overload
def acosh(a: float, /) -> float: ...
@overload
def acosh(a: _Array, /) -> _Array: ...
@overload
def arccosh(a: Value, /) -> Value:
    r"""Inverse hyperbolic cosine.

    The operation and its local derivatives::

        y = acosh(a)
        dy/da = 1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a < 1 (the inverse hyperbolic cosine of a number below 1);
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.arccosh(2.0), 6)
        1.316958
        >>> a = rg.Value(2.0)
        >>> rg.math.arccosh(a).backward()
        >>> round(a.grad, 6)
        0.57735
    """

@overload
def arccosh(a: float, /) -> float: ...
@overload
def arccosh(a: _Array, /) -> _Array: ...
@overload
def atanh(a: Value, /) -> Value:
    r"""Inverse hyperbolic tangent.

    The operation and its local derivatives::

        y = atanh(a)
        dy/da = 1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) >= 1 (the inverse hyperbolic tangent of a number outside (-1, 1));
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.atanh(0.5), 6)
        0.549306
        >>> a = rg.Value(0.5)
        >>> rg.math.atanh(a).backward()
        >>> round(a.grad, 6)
        1.333333
    """

@overload
def atanh(a: float, /) -> float: ...
@overload
def atanh(a: _Array, /) -> _Array: ...
@overload
def arctanh(a: Value, /) -> Value:
    r"""Inverse hyperbolic tangent.

    The operation and its local derivatives::

        y = atanh(a)
        dy/da = 1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where abs(a) >= 1 (the inverse hyperbolic tangent of a number outside (-1, 1));
            ``errstate(invalid="ignore")`` gives NaN instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.arctanh(0.5), 6)
        0.549306
        >>> a = rg.Value(0.5)
        >>> rg.math.arctanh(a).backward()
        >>> round(a.grad, 6)
        1.333333
    """

@overload
def arctanh(a: float, /) -> float: ...
@overload
def arctanh(a: _Array, /) -> _Array: ...
@overload
def sigmoid(a: Value, /) -> Value:
    r"""Logistic function, 1 / (1 + exp(-a)).

    The operation and its local derivatives::

        y = select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))
        dy/da = select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y *
            sigmoid(-a))

    Computed without overflow for either sign of a. ``select(condition, x, y)`` is x where the condition
    holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.sigmoid(0.5), 6)
        0.622459
        >>> a = rg.Value(0.5)
        >>> rg.math.sigmoid(a).backward()
        >>> round(a.grad, 6)
        0.235004
    """

@overload
def sigmoid(a: float, /) -> float: ...
@overload
def sigmoid(a: _Array, /) -> _Array: ...
@overload
def expit(a: Value, /) -> Value:
    r"""Logistic function, 1 / (1 + exp(-a)).

    The operation and its local derivatives::

        y = select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))
        dy/da = select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y *
            sigmoid(-a))

    Computed without overflow for either sign of a. ``select(condition, x, y)`` is x where the condition
    holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.expit(0.5), 6)
        0.622459
        >>> a = rg.Value(0.5)
        >>> rg.math.expit(a).backward()
        >>> round(a.grad, 6)
        0.235004
    """

@overload
def expit(a: float, /) -> float: ...
@overload
def expit(a: _Array, /) -> _Array: ...
@overload
def softplus(a: Value, /) -> Value:
    r"""log(1 + exp(a)).

    The operation and its local derivatives::

        y = select(a > 0, a, 0) + log1p(exp(-abs(a)))
        dy/da = sigmoid(a)

    A smooth relu. Computed without overflow for either sign of a. ``select(condition, x, y)`` is x
    where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.softplus(0.5), 6)
        0.974077
        >>> a = rg.Value(0.5)
        >>> rg.math.softplus(a).backward()
        >>> round(a.grad, 6)
        0.622459
    """

@overload
def softplus(a: float, /) -> float: ...
@overload
def softplus(a: _Array, /) -> _Array: ...
@overload
def relu(a: Value, /) -> Value:
    r"""The larger of a and zero; its derivative at zero is zero.

    The operation and its local derivatives::

        y = select(a <= 0, 0, a)
        dy/da = select(a <= 0, 0, 1)

    The rectified linear unit (Nair & Hinton 2010). Of the subgradients at 0, which are 0 to 1, it takes
    0. By convention, at a = 0: y = 0, dy/da = 0. ``select(condition, x, y)`` is x where the condition
    holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.relu(-1.5)
        0.0
        >>> a = rg.Value(-1.5)
        >>> rg.math.relu(a).backward()
        >>> a.grad
        0.0
    """

@overload
def relu(a: float, /) -> float: ...
@overload
def relu(a: _Array, /) -> _Array: ...
@overload
def silu(a: Value, /) -> Value:
    r"""a times sigmoid(a), also called swish.

    The operation and its local derivatives::

        y = zero_product(sigmoid(a), a)
        dy/da = sigmoid(a) + zero_product(select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) *
            tanh(0.5 * a)), sigmoid(a) * sigmoid(-a)), a)

    The sigmoid linear unit (Hendrycks & Gimpel 2016; Elfwing et al. 2018), also called swish.
    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.silu(0.5), 6)
        0.31123
        >>> a = rg.Value(0.5)
        >>> rg.math.silu(a).backward()
        >>> round(a.grad, 6)
        0.739961
    """

@overload
def silu(a: float, /) -> float: ...
@overload
def silu(a: _Array, /) -> _Array: ...
@overload
def gelu(a: Value, /) -> Value:
    r"""a times the normal distribution function (the erf form).

    The operation and its local derivatives::

        y = zero_product(0.5 * erfc(-a * SQRT_HALF), a)
        dy/da = 0.5 * erfc(-a * SQRT_HALF) + select(abs(a) < 50, a * (INV_SQRT_2PI * exp(-0.5 * a * a)),
            0)

    The Gaussian error linear unit (Hendrycks & Gimpel 2016), exact and not the tanh approximation.
    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.gelu(0.5), 6)
        0.345731
        >>> a = rg.Value(0.5)
        >>> rg.math.gelu(a).backward()
        >>> round(a.grad, 6)
        0.867495
    """

@overload
def gelu(a: float, /) -> float: ...
@overload
def gelu(a: _Array, /) -> _Array: ...
@overload
def erf(a: Value, /) -> Value:
    r"""Error function.

    The operation and its local derivatives::

        y = erf(a)
        dy/da = select(abs(a) > 30, 0, TWO_OVER_SQRT_PI * exp(-a * a))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.erf(0.5), 6)
        0.5205
        >>> a = rg.Value(0.5)
        >>> rg.math.erf(a).backward()
        >>> round(a.grad, 6)
        0.878783
    """

@overload
def erf(a: float, /) -> float: ...
@overload
def erf(a: _Array, /) -> _Array: ...
@overload
def erfc(a: Value, /) -> Value:
    r"""1 - erf(a), exact in the tail.

    The operation and its local derivatives::

        y = erfc(a)
        dy/da = select(abs(a) > 30, 0, -TWO_OVER_SQRT_PI * exp(-a * a))

    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.erfc(0.5), 6)
        0.4795
        >>> a = rg.Value(0.5)
        >>> rg.math.erfc(a).backward()
        >>> round(a.grad, 6)
        -0.878783
    """

@overload
def erfc(a: float, /) -> float: ...
@overload
def erfc(a: _Array, /) -> _Array: ...
@overload
def lgamma(a: Value, /) -> Value:
    r"""Logarithm of the absolute value of the gamma function.

    The operation and its local derivatives::

        y = lgamma(a)
        dy/da = digamma(a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
            ``errstate(divide="ignore")`` gives an infinity or NaN instead.
        NumberTooLargeError: Where y == inf and abs(a) != inf (the result is too large for a float);
            ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.lgamma(0.5), 6)
        0.572365
        >>> a = rg.Value(0.5)
        >>> rg.math.lgamma(a).backward()
        >>> round(a.grad, 6)
        -1.96351
    """

@overload
def lgamma(a: float, /) -> float: ...
@overload
def lgamma(a: _Array, /) -> _Array: ...
@overload
def gammaln(a: Value, /) -> Value:
    r"""Logarithm of the absolute value of the gamma function.

    The operation and its local derivatives::

        y = lgamma(a)
        dy/da = digamma(a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
            ``errstate(divide="ignore")`` gives an infinity or NaN instead.
        NumberTooLargeError: Where y == inf and abs(a) != inf (the result is too large for a float);
            ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.gammaln(0.5), 6)
        0.572365
        >>> a = rg.Value(0.5)
        >>> rg.math.gammaln(a).backward()
        >>> round(a.grad, 6)
        -1.96351
    """

@overload
def gammaln(a: float, /) -> float: ...
@overload
def gammaln(a: _Array, /) -> _Array: ...
@overload
def gamma(a: Value, /) -> Value:
    r"""Gamma function: (a - 1)! for a whole number above 0.

    The operation and its local derivatives::

        y = gamma(a)
        dy/da = select(a == 0, -y * y, y * digamma(a))

    ``lgamma`` is the logarithm of its absolute value, which does not overflow. ``select(condition, x,
    y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
            ``errstate(divide="ignore")`` gives an infinity or NaN instead. Where a == -inf (the gamma
            function has no limit at minus infinity); ``errstate(invalid="ignore")`` gives NaN instead.
        NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
            float); ``errstate(over="ignore")`` gives an infinity instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.gamma(5.0)
        24.0
        >>> a = rg.Value(5.0)
        >>> rg.math.gamma(a).backward()
        >>> round(a.grad, 6)
        36.146824
    """

@overload
def gamma(a: float, /) -> float: ...
@overload
def gamma(a: _Array, /) -> _Array: ...
@overload
def digamma(a: Value, /) -> Value:
    r"""Derivative of lgamma; NaN at the poles.

    The operation and its local derivatives::

        y = digamma(a)
        dy/da = polygamma(1, a)

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.digamma(0.5), 6)
        -1.96351
        >>> a = rg.Value(0.5)
        >>> rg.math.digamma(a).backward()
        >>> round(a.grad, 6)
        4.934802
    """

@overload
def digamma(a: float, /) -> float: ...
@overload
def digamma(a: _Array, /) -> _Array: ...
@overload
def abs(a: Value, /) -> Value:
    r"""Absolute value; its derivative at zero is zero.

    The operation and its local derivatives::

        y = abs(a)
        dy/da = sign(a)

    Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.abs(-1.5)
        1.5
        >>> a = rg.Value(-1.5)
        >>> rg.math.abs(a).backward()
        >>> a.grad
        -1.0
    """

@overload
def abs(a: float, /) -> float: ...
@overload
def abs(a: _Array, /) -> _Array: ...
@overload
def absolute(a: Value, /) -> Value:
    r"""Absolute value; its derivative at zero is zero.

    The operation and its local derivatives::

        y = abs(a)
        dy/da = sign(a)

    Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.absolute(-1.5)
        1.5
        >>> a = rg.Value(-1.5)
        >>> rg.math.absolute(a).backward()
        >>> a.grad
        -1.0
    """

@overload
def absolute(a: float, /) -> float: ...
@overload
def absolute(a: _Array, /) -> _Array: ...
@overload
def fabs(a: Value, /) -> Value:
    r"""Absolute value; its derivative at zero is zero.

    The operation and its local derivatives::

        y = abs(a)
        dy/da = sign(a)

    Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.fabs(-1.5)
        1.5
        >>> a = rg.Value(-1.5)
        >>> rg.math.fabs(a).backward()
        >>> a.grad
        -1.0
    """

@overload
def fabs(a: float, /) -> float: ...
@overload
def fabs(a: _Array, /) -> _Array: ...
@overload
def copysign(a: Value, b: Number, /) -> Value:
    r"""The magnitude of a with the sign of b; its derivative at a = 0 is zero.

    The operation and its local derivatives::

        y = copysign(a, b)
        dy/da = sign(a) * copysign(1, b)
        dy/db = 0

    The sign of a zero b counts: ``copysign(3.0, -0.0)`` is -3.0. By convention, at a = 0, b = 1: y = 0,
    dy/da = 0, dy/db = 0.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.copysign(-1.5, 2.0)
        1.5
        >>> a, b = rg.Value(-1.5), rg.Value(2.0)
        >>> rg.math.copysign(a, b).backward()
        >>> a.grad, b.grad
        (-1.0, 0.0)
    """

@overload
def copysign(a: float, b: Value, /) -> Value: ...
@overload
def copysign(a: float, b: float, /) -> float: ...
@overload
def copysign(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def copysign(a: Number, b: _Array, /) -> _Array: ...
@overload
def sign(a: Value, /) -> Value:
    r"""-1, 0 or 1; its derivative is zero.

    The operation and its local derivatives::

        y = select(a > 0, 1, select(a < 0, -1, a))
        dy/da = 0

    By convention, at a = 0: y = 0, dy/da = 0. ``select(condition, x, y)`` is x where the condition
    holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.sign(-1.5)
        -1.0
        >>> a = rg.Value(-1.5)
        >>> rg.math.sign(a).backward()
        >>> a.grad
        0.0
    """

@overload
def sign(a: float, /) -> float: ...
@overload
def sign(a: _Array, /) -> _Array: ...
@overload
def floor(a: Value, /) -> Value:
    r"""Largest whole number not above a; its derivative is zero.

    The operation and its local derivatives::

        y = floor(a)
        dy/da = 0

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(a) == inf (the floor of an infinity); ``errstate(over="ignore")``
            gives an infinity instead.
        DomainError: Where a != a (the floor of a NaN); ``errstate(invalid="ignore")`` gives NaN
            instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.floor(-1.5)
        -2.0
        >>> a = rg.Value(-1.5)
        >>> rg.math.floor(a).backward()
        >>> a.grad
        0.0
    """

@overload
def floor(a: float, /) -> float: ...
@overload
def floor(a: _Array, /) -> _Array: ...
@overload
def ceil(a: Value, /) -> Value:
    r"""Smallest whole number not below a; its derivative is zero.

    The operation and its local derivatives::

        y = ceil(a)
        dy/da = 0

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(a) == inf (the ceiling of an infinity);
            ``errstate(over="ignore")`` gives an infinity instead.
        DomainError: Where a != a (the ceiling of a NaN); ``errstate(invalid="ignore")`` gives NaN
            instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.ceil(-1.5)
        -1.0
        >>> a = rg.Value(-1.5)
        >>> rg.math.ceil(a).backward()
        >>> a.grad
        0.0
    """

@overload
def ceil(a: float, /) -> float: ...
@overload
def ceil(a: _Array, /) -> _Array: ...
@overload
def trunc(a: Value, /) -> Value:
    r"""Whole part of a; its derivative is zero.

    The operation and its local derivatives::

        y = trunc(a)
        dy/da = 0

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        NumberTooLargeError: Where abs(a) == inf (the whole part of an infinity);
            ``errstate(over="ignore")`` gives an infinity instead.
        DomainError: Where a != a (the whole part of a NaN); ``errstate(invalid="ignore")`` gives NaN
            instead.
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.trunc(-1.5)
        -1.0
        >>> a = rg.Value(-1.5)
        >>> rg.math.trunc(a).backward()
        >>> a.grad
        0.0
    """

@overload
def trunc(a: float, /) -> float: ...
@overload
def trunc(a: _Array, /) -> _Array: ...
@overload
def rint(a: Value, /) -> Value:
    r"""Nearest whole number, ties to even; its derivative is zero.

    The operation and its local derivatives::

        y = rint(a)
        dy/da = 0

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.rint(2.5)
        2.0
        >>> a = rg.Value(2.5)
        >>> rg.math.rint(a).backward()
        >>> a.grad
        0.0
    """

@overload
def rint(a: float, /) -> float: ...
@overload
def rint(a: _Array, /) -> _Array: ...
@overload
def minimum(a: Value, b: Number, /) -> Value:
    r"""The smaller of two; at a tie each gets half the gradient.

    The operation and its local derivatives::

        y = select(a != a or a <= b, a, b)
        dy/da = select(a > b, 0, select(a == b, 0.5, 1))
        dy/db = select(b > a, 0, select(a == b, 0.5, 1))

    At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``minimum``. By
    convention, at a = 1, b = 1: y = 1, dy/da = 0.5, dy/db = 0.5. ``select(condition, x, y)`` is x where
    the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.minimum(2.0, 5.0)
        2.0
        >>> a, b = rg.Value(2.0), rg.Value(5.0)
        >>> rg.math.minimum(a, b).backward()
        >>> a.grad, b.grad
        (1.0, 0.0)
    """

@overload
def minimum(a: float, b: Value, /) -> Value: ...
@overload
def minimum(a: float, b: float, /) -> float: ...
@overload
def minimum(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def minimum(a: Number, b: _Array, /) -> _Array: ...
@overload
def maximum(a: Value, b: Number, /) -> Value:
    r"""The larger of two; at a tie each gets half the gradient.

    The operation and its local derivatives::

        y = select(a != a or a >= b, a, b)
        dy/da = select(a < b, 0, select(a == b, 0.5, 1))
        dy/db = select(b < a, 0, select(a == b, 0.5, 1))

    At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``maximum``. By
    convention, at a = 1, b = 1: y = 1, dy/da = 0.5, dy/db = 0.5. ``select(condition, x, y)`` is x where
    the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.maximum(2.0, 2.0)
        2.0
        >>> a, b = rg.Value(2.0), rg.Value(2.0)
        >>> rg.math.maximum(a, b).backward()
        >>> a.grad, b.grad
        (0.5, 0.5)
    """

@overload
def maximum(a: float, b: Value, /) -> Value: ...
@overload
def maximum(a: float, b: float, /) -> float: ...
@overload
def maximum(a: _Array, b: Number | _Array, /) -> _Array: ...
@overload
def maximum(a: Number, b: _Array, /) -> _Array: ...
@overload
def where(a: Value, b: Number, c: Number, /) -> Value:
    r"""b where a is true (not zero), else c; the branch not taken gets no gradient.

    The operation and its local derivatives::

        y = select(a != 0, b, c)
        dy/da = 0
        dy/db = select(a != 0, 1, 0)
        dy/dc = select(a != 0, 0, 1)

    Both b and c have been computed already when it chooses; the one not chosen gets no gradient at all.
    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.
        c: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.where(1.0, 2.0, 5.0)
        2.0
        >>> a, b, c = rg.Value(1.0), rg.Value(2.0), rg.Value(5.0)
        >>> rg.math.where(a, b, c).backward()
        >>> a.grad, b.grad, c.grad
        (0.0, 1.0, 0.0)
    """

@overload
def where(a: float, b: Value, c: Number, /) -> Value: ...
@overload
def where(a: float, b: float, c: Value, /) -> Value: ...
@overload
def where(a: float, b: float, c: float, /) -> float: ...
@overload
def where(a: _Array, b: Number | _Array, c: Number | _Array, /) -> _Array: ...
@overload
def where(a: Number, b: _Array, c: Number | _Array, /) -> _Array: ...
@overload
def where(a: Number, b: Number, c: _Array, /) -> _Array: ...
@overload
def select(a: Value, b: Number, c: Number, /) -> Value:
    r"""b where a is true (not zero), else c; the branch not taken gets no gradient.

    The operation and its local derivatives::

        y = select(a != 0, b, c)
        dy/da = 0
        dy/db = select(a != 0, 1, 0)
        dy/dc = select(a != 0, 0, 1)

    Both b and c have been computed already when it chooses; the one not chosen gets no gradient at all.
    ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

    Args:
        a: A Value or a real number (int, float, NumPy scalar), or an array.
        b: A Value or a real number (int, float, NumPy scalar), or an array.
        c: A Value or a real number (int, float, NumPy scalar), or an array.

    Returns:
        A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
        with one of these for each element.

    Raises:
        TypeError: An operand is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.select(1.0, 2.0, 5.0)
        2.0
        >>> a, b, c = rg.Value(1.0), rg.Value(2.0), rg.Value(5.0)
        >>> rg.math.select(a, b, c).backward()
        >>> a.grad, b.grad, c.grad
        (0.0, 1.0, 0.0)
    """

@overload
def select(a: float, b: Value, c: Number, /) -> Value: ...
@overload
def select(a: float, b: float, c: Value, /) -> Value: ...
@overload
def select(a: float, b: float, c: float, /) -> float: ...
@overload
def select(a: _Array, b: Number | _Array, c: Number | _Array, /) -> _Array: ...
@overload
def select(a: Number, b: _Array, c: Number | _Array, /) -> _Array: ...
@overload
def select(a: Number, b: Number, c: _Array, /) -> _Array: ...
@overload
def sum(a: Iterable[Value], /) -> Value:
    r"""Sum of a sequence, from left to right.

    A fold from left to right, its result y, and the local derivative with respect to each operand::

        s = 0
        s = s + a  for each operand
        y = s
        dy/da = 1

    An empty sequence gives 0.0. To add products, ``dot`` records one node instead of many.

    Args:
        a: An iterable of Values and real numbers, which may be mixed.

    Returns:
        A float, or a Value when an operand is a Value: one new node, whatever the length.

    Raises:
        TypeError: An argument is not iterable, or an element is neither a Value nor a real number.

    Example:
        >>> import retrograd as rg
        >>> rg.math.sum([3.0, 1.0, 3.0])
        7.0
        >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
        >>> rg.math.sum(a).backward()
        >>> [x.grad for x in a]
        [1.0, 1.0, 1.0]
    """

@overload
def sum(a: Iterable[float], /) -> float: ...
@overload
def sum(a: Iterable[Number], /) -> Number: ...
@overload
def mean(a: Iterable[Value], /) -> Value:
    r"""Arithmetic mean of a sequence.

    A fold from left to right, its result y, and the local derivative with respect to each operand::

        s = 0
        s = s + a  for each operand
        y = s / n
        dy/da = 1 / n

    ``n`` is the number of operands.

    Args:
        a: An iterable of Values and real numbers, which may be mixed; at least one.

    Returns:
        A float, or a Value when an operand is a Value: one new node, whatever the length.

    Raises:
        TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
        ValueError: The sequence is empty.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.mean([3.0, 1.0, 3.0]), 6)
        2.333333
        >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
        >>> rg.math.mean(a).backward()
        >>> [round(x.grad, 6) for x in a]
        [0.333333, 0.333333, 0.333333]
    """

@overload
def mean(a: Iterable[float], /) -> float: ...
@overload
def mean(a: Iterable[Number], /) -> Number: ...
@overload
def dot(a: Iterable[Value], b: Iterable[Number], /) -> Value:
    r"""Sum of the products of two sequences of equal length.

    A fold from left to right, its result y, and the local derivative with respect to each operand::

        s = 0
        s = s + a * b  for each operand
        y = s
        dy/da = b
        dy/db = a

    Two empty sequences give 0.0. The products are added from left to right, without fused operations.

    Args:
        a: An iterable of Values and real numbers, which may be mixed.
        b: An iterable of Values and real numbers, of the same length as a.

    Returns:
        A float, or a Value when an operand is a Value: one new node, whatever the length.

    Raises:
        TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
        ValueError: The sequences differ in length.

    Example:
        >>> import retrograd as rg
        >>> rg.math.dot([3.0, 1.0, 3.0], [10.0, 20.0, 30.0])
        140.0
        >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
        >>> rg.math.dot(a, [10.0, 20.0, 30.0]).backward()
        >>> [x.grad for x in a]
        [10.0, 20.0, 30.0]
    """

@overload
def dot(a: Iterable[float], b: Iterable[float], /) -> float: ...
@overload
def dot(a: Iterable[Number], b: Iterable[Number], /) -> Number: ...
@overload
def max(a: Iterable[Value], /) -> Value:
    r"""Largest of a sequence; tied operands share the gradient.

    A fold from left to right, its result y, and the local derivative with respect to each operand::

        s = -inf
        s = select(s != s or s >= a, s, a)  for each operand
        y = s
        dy/da = select(a == y or y != y, 1 / ties, 0)

    Operands that tie for the largest share the gradient equally; ``ties`` is their number. A NaN
    operand gives NaN.

    Args:
        a: An iterable of Values and real numbers, which may be mixed; at least one.

    Returns:
        A float, or a Value when an operand is a Value: one new node, whatever the length.

    Raises:
        TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
        ValueError: The sequence is empty.

    Example:
        >>> import retrograd as rg
        >>> rg.math.max([3.0, 1.0, 3.0])
        3.0
        >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
        >>> rg.math.max(a).backward()
        >>> [x.grad for x in a]
        [0.5, 0.0, 0.5]
    """

@overload
def max(a: Iterable[float], /) -> float: ...
@overload
def max(a: Iterable[Number], /) -> Number: ...
@overload
def min(a: Iterable[Value], /) -> Value:
    r"""Smallest of a sequence; tied operands share the gradient.

    A fold from left to right, its result y, and the local derivative with respect to each operand::

        s = inf
        s = select(s != s or s <= a, s, a)  for each operand
        y = s
        dy/da = select(a == y or y != y, 1 / ties, 0)

    Operands that tie for the smallest share the gradient equally; ``ties`` is their number. A NaN
    operand gives NaN.

    Args:
        a: An iterable of Values and real numbers, which may be mixed; at least one.

    Returns:
        A float, or a Value when an operand is a Value: one new node, whatever the length.

    Raises:
        TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
        ValueError: The sequence is empty.

    Example:
        >>> import retrograd as rg
        >>> rg.math.min([3.0, 1.0, 3.0])
        1.0
        >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
        >>> rg.math.min(a).backward()
        >>> [x.grad for x in a]
        [0.0, 1.0, 0.0]
    """

@overload
def min(a: Iterable[float], /) -> float: ...
@overload
def min(a: Iterable[Number], /) -> Number: ...
@overload
def logsumexp(a: Iterable[Value], /) -> Value:
    r"""log of the sum of the exponentials, without overflow.

    A fold from left to right, its result y, and the local derivative with respect to each operand::

        s = 0
        s = s + exp(a - m)  for each operand
        y = select(abs(m) == inf, m, m + log(s))
        dy/da = select(abs(y) == inf, select(a == y, 1 / ties, 0), rest)

    Stable: ``m``, the largest operand, is taken out of the exponentials (Blanchard, Higham & Higham
    2021). ``rest`` is the operand's softmax probability.

    Args:
        a: An iterable of Values and real numbers, which may be mixed; at least one.

    Returns:
        A float, or a Value when an operand is a Value: one new node, whatever the length.

    Raises:
        TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
        ValueError: The sequence is empty.

    Example:
        >>> import retrograd as rg
        >>> round(rg.math.logsumexp([3.0, 1.0, 3.0]), 6)
        3.758624
        >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
        >>> rg.math.logsumexp(a).backward()
        >>> [round(x.grad, 6) for x in a]
        [0.468311, 0.063379, 0.468311]
    """

@overload
def logsumexp(a: Iterable[float], /) -> float: ...
@overload
def logsumexp(a: Iterable[Number], /) -> Number: ...
@overload
def softmax(a: Iterable[Value], /) -> list[Value]:
    r"""Probabilities proportional to exp(a), one for each operand.

    A fold from left to right, its result y, and the local derivative with respect to each operand::

        s = 0
        s = s + exp(a - m)  for each operand
        y = exp(a - m) / s
        dy/da = y * rest

    Stable: ``m``, the largest operand, is taken out of the exponentials (Blanchard, Higham & Higham
    2021). ``y * rest`` is y * (1 - y) for an output's own operand and -y * p for another one, of
    probability p.

    Args:
        a: An iterable of Values and real numbers, which may be mixed; at least one.

    Returns:
        A list with one float for each operand, or one Value each when an operand is a Value: one new node for each, whatever the length.

    Raises:
        TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
        ValueError: The sequence is empty.

    Example:
        >>> import retrograd as rg
        >>> [round(p, 6) for p in rg.math.softmax([3.0, 1.0, 3.0])]
        [0.468311, 0.063379, 0.468311]
        >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
        >>> rg.math.softmax(a)[0].backward()
        >>> [round(x.grad, 6) for x in a]
        [0.248996, -0.029681, -0.219315]
    """

@overload
def softmax(a: Iterable[float], /) -> list[float]: ...
@overload
def softmax(a: Iterable[Number], /) -> list[float] | list[Value]: ...

__all__ = ['abs', 'absolute', 'acos', 'acosh', 'add', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctan2', 'arctanh', 'asin', 'asinh', 'atan', 'atan2', 'atanh', 'cbrt', 'ceil', 'clip', 'comb', 'copysign', 'cos', 'cosh', 'deg2rad', 'degrees', 'digamma', 'dist', 'div', 'divide', 'dot', 'e', 'erf', 'erfc', 'exp', 'exp2', 'expit', 'expm1', 'fabs', 'factorial', 'floor', 'floor_divide', 'floordiv', 'fma', 'fmod', 'frexp', 'fsum', 'gamma', 'gammaln', 'gcd', 'gelu', 'hypot', 'inf', 'isclose', 'isfinite', 'isinf', 'isnan', 'isqrt', 'lcm', 'ldexp', 'lgamma', 'log', 'log10', 'log1p', 'log2', 'logaddexp', 'logsumexp', 'max', 'maximum', 'mean', 'min', 'minimum', 'mod', 'modf', 'mul', 'multiply', 'nan', 'neg', 'negative', 'nextafter', 'perm', 'pi', 'pow', 'power', 'prod', 'rad2deg', 'radians', 'reciprocal', 'relu', 'remainder', 'rint', 'select', 'sigmoid', 'sign', 'silu', 'sin', 'sinh', 'softmax', 'softplus', 'sqrt', 'square', 'sub', 'subtract', 'sum', 'sumprod', 'tan', 'tanh', 'tau', 'true_divide', 'trunc', 'ulp', 'where']
