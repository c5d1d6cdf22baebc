"""What a call gives, or raises, compared to the letter: types, and the signs of zeros; not the last bits of floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = ["are_alike", "outcome"]


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives; the class of what it raises."""
    try:
        return function(*arguments)
    except Exception as problem:
        return type(problem)


def are_alike(one: Any, other: Any) -> bool:
    """Whether two outcomes are of the same types, and equal but for rounding."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return [*one] == [*other] and are_alike([*one.values()], [*other.values()])
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(are_alike, one, other))
    if isinstance(one, float):
        is_equal = math.isclose(one, other, rel_tol=1e-12) or (math.isnan(one) and math.isnan(other))
        return is_equal and math.copysign(1.0, one) == math.copysign(1.0, other)
    return bool(one == other)
