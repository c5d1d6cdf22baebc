"""Distances between floats, counted in floats (units in the last place)."""

from __future__ import annotations

import math
import struct

__all__ = ["ulp_distance"]


def ulp_distance(x: float, y: float) -> float:
    """How many floats lie between ``x`` and ``y``: 0 for equal numbers and for two NaNs, 1 for neighbours.

    Infinite when one of them is a NaN or an infinity and the other is not the same.
    """
    if x == y or (x != x and y != y):
        return 0
    if not (math.isfinite(x) and math.isfinite(y)):
        return math.inf
    return abs(_rank(x) - _rank(y))


def _rank(x: float) -> int:
    """The number of ``x`` in the sequence of all floats, counted from zero."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(x)))
    return -bits if x < 0.0 else int(bits)
