"""Whether a function changes as its gradients say, along one direction through all inputs: two calls in all.

It notices what differences of the recorded graph cannot: a gradient that was cut (``.data``, ``float``), a node of the
user's with a wrong derivative, random numbers. Which input it is, only differences of each can tell.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Literal

__all__ = ["compare_along_a_direction"]

_STEP = 2.0**-17  # of each input, relative to it
_SLACK = 1e-4  # of what the inputs contribute: curvature, and contributions that cancel
_JUMP = 1e3  # a move so many times what the inputs contribute is a jump, or chance
_NOISE = 32 * 2.0**-52  # rounding errors of the function


def compare_along_a_direction(
    f: Callable[[Sequence[float]], float], at: Sequence[float], value: float, slopes: Sequence[float]
) -> Literal["agrees", "differs", "unknown"]:
    """Compare ``f`` on both sides of ``at``, where it is ``value``, with ``slopes``.

    At a kink the slope may be anything between those of the two sides. It is "unknown" where ``f`` raises, is not
    finite, or jumps.
    """
    draw = random.Random(0)
    steps = [draw.choice((-_STEP, _STEP)) * draw.uniform(0.5, 1.0) * (abs(x) or 1.0) for x in at]
    try:
        high = f([x + step for x, step in zip(at, steps, strict=True)])
        low = f([x - step for x, step in zip(at, steps, strict=True)])
    except (ArithmeticError, ValueError):
        return "unknown"
    parts = [slope * step for slope, step in zip(slopes, steps, strict=True)]
    sides = sorted((value - low, high - value))
    expected = sum(parts)
    if not all(map(math.isfinite, (expected, *sides))):
        return "unknown"
    contributions, moved, size = (max(map(abs, xs), default=0.0) for xs in (parts, sides, (value, low, high)))
    slack = _SLACK * (len(parts) * contributions + moved) + _NOISE * size
    if not sides[0] - slack <= expected <= sides[1] + slack:
        return "differs"
    return "unknown" if moved > _JUMP * len(parts) * contributions + 1e-6 * size else "agrees"
