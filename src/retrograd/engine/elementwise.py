"""A function of numbers on the elements of NumPy arrays, as NumPy's own functions work on arrays of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import engine, errors
from .numbers import is_number

__all__ = ["any_array", "map_arrays", "on_elements"]


def on_elements(name: str, operands: Sequence[Any]) -> Any:
    """The row ``name`` of the op table on each element, arrays broadcast against each other.

    The engines ask when an operand is neither a Value nor a number. Raises TypeError when none is an array.
    """
    function = engine.functions.get(name)
    if function is None or not any_array(operands):
        strange = next(x for x in operands if not (isinstance(x, engine.Value) or is_number(x)))
        raise errors.not_a_number(strange, name)
    return map_arrays(function, operands)


def any_array(operands: Sequence[Any]) -> bool:
    """Whether one of ``operands`` is a NumPy array."""
    return any(isinstance(operand, np.ndarray) for operand in operands)


def map_arrays(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """``function`` of each element: an array of floats or bools where it gives them, else of objects."""
    with np.errstate(all="ignore"):  # a NaN or an infinity is the function's answer
        result = np.frompyfunc(function, len(operands), 1)(*operands)
    if not isinstance(result, np.ndarray):  # of arrays without axes
        return result
    kinds = {type(item) for item in result.flat}
    return result.astype(kinds.pop()) if kinds in ({float}, {bool}) else result
