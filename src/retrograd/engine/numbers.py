"""What counts as a number or a sequence, and the bits of numbers: what the native engine does in C++."""

from __future__ import annotations

import numbers
import struct
from typing import Any, SupportsFloat, cast

import numpy as np

from .. import errors

__all__ = ["is_number", "same_bits", "to_float", "to_tuple"]

_REAL = (numbers.Real, np.bool_)


def is_number(thing: object) -> bool:
    """Whether ``thing`` is a real number: int, float, bool, Fraction, a NumPy scalar, whatever is ``numbers.Real``.

    Arrays, complex numbers, Decimals, text and None are not; neither is a Value.
    """
    kind = type(thing)  # a traced number calls itself a float, so its __class__ is not asked
    return issubclass(kind, _REAL) and not issubclass(kind, np.timedelta64)


def to_float(thing: object, where: str) -> float:
    """``thing`` as a float.

    Raises TypeError, naming ``where``, when it is no real number; NumberTooLargeError when no float can hold it.
    """
    if type(thing) is float:
        return thing
    if not is_number(thing):
        raise errors.not_a_number(thing, where)
    try:
        return float(cast(SupportsFloat, thing))
    except OverflowError:
        raise errors.number_too_large(thing, where) from None


def to_tuple(sequence: Any, where: str) -> tuple[Any, ...]:
    """The elements of ``sequence``. Raises TypeError, naming ``where``, when it has none to give."""
    try:
        iterator = iter(sequence)
    except TypeError:
        raise errors.not_a_sequence(sequence, where) from None
    return tuple(iterator)


def same_bits(x: float, y: float) -> bool:
    """Whether two floats are the same number, NaN and the sign of zero included."""
    return x is y or struct.pack("d", x) == struct.pack("d", y)
