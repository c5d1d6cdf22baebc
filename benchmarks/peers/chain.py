"""One chain of alternating ``*`` and ``+``: recording, sweeping and freeing, a node at a time.

The factor is so near to 1 that the gradient stays an ordinary number along a hundred million
nodes; with a smaller one it would underflow, and a sweep over zeros measures nothing.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["ADDEND", "FACTOR", "chain", "slope"]

FACTOR = 1.0 - 1e-9
ADDEND = 0.5


def chain(nodes: int, x: Any, w: Any) -> Any:
    """A chain of ``nodes`` operations (an even number) over any two numbers."""
    y = x
    for _ in range(nodes // 2):
        y = y * w + x
    return y


def slope(nodes: int) -> float:
    """d chain / d x at ``FACTOR``, in closed form: the sum of its powers from 0 to ``nodes`` // 2."""
    small = 1.0 - FACTOR
    return -math.expm1((nodes // 2 + 1) * math.log1p(-small)) / small
