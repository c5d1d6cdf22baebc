"""Python's functions of whole numbers: they refuse a Value, because they have no derivative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import errors
from .engine import Value

__all__ = ["comb", "factorial", "gcd", "isqrt", "lcm", "perm"]


def _whole(name: str, numbers: Sequence[Any], instead: str = "") -> Any:
    """Python's function of ints. Raises TypeError for a Value."""
    if any(isinstance(number, Value) for number in numbers):
        raise errors.whole_numbers_only(name, instead)
    return getattr(math, name)(*numbers)


def factorial(n: int, /) -> int:
    """The product of the whole numbers up to ``n``, as ``math.factorial``.

    Args:
        n: An int of at least 0.

    Returns:
        An int.

    Raises:
        TypeError: ``n`` is a Value: use ``gamma(n + 1)``, which has a derivative; or it is not an int.
        ValueError: ``n`` is negative.

    Example:
        >>> import retrograd as rg
        >>> rg.math.factorial(5), rg.math.gamma(rg.Value(5.0) + 1).data
        (120, 120.0)
    """
    return _whole("factorial", [n], "gamma(v + 1)")  # type: ignore[no-any-return]


def comb(n: int, k: int, /) -> int:
    """In how many ways k of n things can be chosen, as ``math.comb``.

    Args:
        n: An int of at least 0.
        k: An int of at least 0.

    Returns:
        An int.

    Raises:
        TypeError: An argument is a Value, or not an int.

    Example:
        >>> import retrograd as rg
        >>> rg.math.comb(5, 2)
        10
    """
    return _whole("comb", [n, k], "gamma or lgamma")  # type: ignore[no-any-return]


def perm(n: int, k: int | None = None, /) -> int:
    """In how many ways k of n things can be arranged, as ``math.perm``.

    Args:
        n: An int of at least 0.
        k: An int of at least 0; ``n`` when it is left out.

    Returns:
        An int.

    Raises:
        TypeError: An argument is a Value, or not an int.

    Example:
        >>> import retrograd as rg
        >>> rg.math.perm(5, 2)
        20
    """
    return _whole("perm", [n, k], "gamma or lgamma")  # type: ignore[no-any-return]


def gcd(*integers: int) -> int:
    """The greatest common divisor, as ``math.gcd``.

    Args:
        integers: Any number of ints.

    Returns:
        An int.

    Raises:
        TypeError: An argument is a Value, or not an int.

    Example:
        >>> import retrograd as rg
        >>> rg.math.gcd(12, 18)
        6
    """
    return _whole("gcd", integers)  # type: ignore[no-any-return]


def lcm(*integers: int) -> int:
    """The least common multiple, as ``math.lcm``.

    Args:
        integers: Any number of ints.

    Returns:
        An int.

    Raises:
        TypeError: An argument is a Value, or not an int.

    Example:
        >>> import retrograd as rg
        >>> rg.math.lcm(4, 6)
        12
    """
    return _whole("lcm", integers)  # type: ignore[no-any-return]


def isqrt(n: int, /) -> int:
    """The whole part of the square root of an int, as ``math.isqrt``.

    Args:
        n: An int of at least 0.

    Returns:
        An int.

    Raises:
        TypeError: ``n`` is a Value: use ``floor(sqrt(v))``; or it is not an int.

    Example:
        >>> import retrograd as rg
        >>> rg.math.isqrt(17)
        4
    """
    return _whole("isqrt", [n], "floor(sqrt(v))")  # type: ignore[no-any-return]
