"""Decides what is a number or a sequence, and compares the bits of numbers. The native engine does the same in C++."""

from __future__ import annotations

import numbers
import struct
from typing import Any, SupportsFloat, cast

import numpy as np

from .. import errors

__all__ = ["is_number", "same_bits", "same_number", "to_float", "to_tuple"]

_REAL = (numbers.Real, np.bool_)


def is_number(thing: object) -> bool:
    """Whether ``thing`` is a real number: int, float, bool, Fraction, a NumPy scalar, any ``numbers.Real``.

    Arrays, complex numbers, Decimals, text, None and Values are not.
    """
    kind = type(thing)  # not __class__, which is float for the tracer of a float
    return issubclass(kind, _REAL) and not issubclass(kind, np.timedelta64)


def to_float(thing: object, where: str) -> float:
    """``thing`` as a float.

    Raises TypeError when it is not a real number, NumberTooLargeError when it is too large for a float; ``where`` says
    in the message what got it.
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
    """The elements of ``sequence``. Raises TypeError when it is not iterable; ``where`` says what got it."""
    try:
        iterator = iter(sequence)
    except TypeError:
        raise errors.not_a_sequence(sequence, where) from None
    return tuple(iterator)


def same_bits(x: float, y: float) -> bool:
    """Whether two floats have the same bits: a NaN equals itself, and zero differs from minus zero."""
    return x is y or struct.pack("d", x) == struct.pack("d", y)


def same_number(x: float, y: float) -> bool:
    """The same for one NaN and another: their signs are the processor's affair."""
    return same_bits(x, y) or (x != x and y != y)
