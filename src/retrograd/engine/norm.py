"""The Euclidean norm of any number of coordinates: math.hypot beyond two operands, and math.dist."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from .. import engine

__all__ = ["of_any_number"]


def of_any_number(name: str, coordinates: Sequence[Any]) -> Any:
    """``sqrt(x*x + y*y + …)``. Its derivative at the origin is zero, as that of the row ``hypot``.

    The coordinates are divided by the largest first, so that squares neither overflow nor vanish. That number is
    detached: it cancels out, so that derivatives of every order are those of the norm. The engines ask for ``name``.
    """
    hypot = engine.functions[name]
    if not coordinates:
        return 0.0
    if len(coordinates) == 1:
        return hypot(coordinates[0], 0.0)
    largest = engine.reduce("max", [abs(_detached(x)) for x in coordinates])
    if not 0.0 < largest < math.inf:  # at the origin, and with an infinity or a NaN
        return functools.reduce(hypot, coordinates)
    shares = [x / largest for x in coordinates]
    return largest * engine.functions["sqrt"](engine.reduce("dot", shares, shares))


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, engine.Value) else x
