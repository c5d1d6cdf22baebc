"""Arguments that are part of a program although calls bring new objects: arrays of ints, sets, ranges, dates.

Later calls are compared with the traced one by a *key*: all that a function can read of such an object.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from ..tracing.recorder import MOST_INDEX
from .varying import is_of_ints

__all__ = ["are_small_ints", "as_traced", "is_mutable", "key_function"]

#: What is the same wherever it is equal, or is one object; native/compiler/run/signature.cpp compares no others.
_PLAIN = (int, float, bool, str, bytes, type(None), datetime.timezone)

#: NumPy's kinds of elements that are no floats: truth values, ints, texts, dates.
_KINDS = "biuSUmM"

#: Comparing more bytes than these in each call would take longer than many functions.
_MOST_BYTES = 1_000_000


def _of_numpy(thing: Any) -> tuple[Any, ...]:
    return thing.dtype.str, thing.shape, thing.tobytes()


def _of_array(numbers: array[Any]) -> tuple[Any, ...]:
    return numbers.typecode, numbers.tobytes()


def _of_ratio(number: fractions.Fraction) -> tuple[Any, ...]:
    return number.numerator, number.denominator


def _of_range(numbers: range) -> tuple[Any, ...]:
    return numbers.start, numbers.stop, numbers.step


def _of_slice(places: slice) -> tuple[Any, ...]:
    return places.start, places.stop, places.step


def _of_time(time: Any) -> Any:
    return time.__reduce_ex__(4)[1]  # with the protocol that keeps which of two equal hours it is


#: What gives the key of an instance of a class.
_KEYS: dict[type, Callable[[Any], Any]] = {
    set: tuple,  # in the order in which the function would go through it
    frozenset: tuple,
    bytearray: bytes,
    array: _of_array,
    range: _of_range,
    slice: _of_slice,
    fractions.Fraction: _of_ratio,
    decimal.Decimal: str,
    **dict.fromkeys((datetime.datetime, datetime.time), _of_time),
    **dict.fromkeys((type(pathlib.Path()), type(pathlib.PurePath())), str),
}


def key_function(thing: Any) -> Callable[[Any], Any] | None:
    """What gives the key of an argument; None if it has none, or is too large to be compared in each call."""
    kind = type(thing)
    if issubclass(kind, np.generic) or kind is np.ndarray:
        known = kind is np.ndarray or thing.dtype.type is kind  # and no class of the user's
        return _of_numpy if known and thing.dtype.kind in _KINDS and thing.nbytes <= _MOST_BYTES else None
    if (found := _KEYS.get(kind)) is None or (kind is array and thing.typecode in "fd"):
        return None
    return found if _is_plain(found(thing)) else None


def _is_plain(key: Any) -> bool:
    return all(map(_is_plain, key)) if type(key) is tuple else type(key) in _PLAIN


def are_small_ints(thing: Any) -> bool:
    """Whether a program could read an array of ints, or an int of NumPy's, in each call."""
    return is_of_ints(thing.dtype) and bool(np.all((thing > -MOST_INDEX) & (thing < MOST_INDEX)))


def is_mutable(thing: Any) -> bool:
    """Whether such an argument may be another one in a later call though it is the same object."""
    return type(thing) in (np.ndarray, set, bytearray, array)


def as_traced(thing: Any) -> Any:
    """What the traced function gets in place of such an argument: of an array a copy, which it cannot change."""
    if type(thing) is not np.ndarray:
        return thing
    copy = thing.copy()
    copy.flags.writeable = False
    return copy
