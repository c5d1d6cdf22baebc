"""Keeps the operands of an arm inside the domains of operators where the arm is not taken.

There, an operator gets a number that it surely allows, as if the user had written ``log(where(x > 0, x, 1))``: it
neither raises, nor gives an infinite derivative, which times zero would be NaN.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from ....engine import Value
from ....ops.table import BY_NAME, Op
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice
from ...tracing.float_tracer import FloatTracer
from ..tracers.conditions import is_taken
from ..trial import current, recorder

__all__ = ["inside_domain"]


def inside_domain(name: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of a row; where the arm is not taken, numbers in its domain in their place."""
    points = _points(name)
    if name == "div":  # which makes floats of ints, too
        operands = tuple(one.number() if is_choice(one) and type(one.constant) is int else one for one in operands)
    if not points or not any(type(one) is Value or type(one) is FloatTracer for one in operands):
        return operands
    if name == "pow" and type(operands[-1]) is int and 0 <= operands[-1] <= _SMALL:
        return operands  # which allows any base
    trial = current()
    taken = is_taken(trial) if trial is not None else True
    if type(taken) is not BoolTracer:
        return operands
    found = recorder()
    condition = found.condition(taken)
    return tuple(
        one if point is None else found.otherwise(condition, one, point)
        for one, point in zip(operands, (*points, *[None] * len(operands)), strict=False)
    )


_SMALL = 4


@functools.cache
def _points(name: str) -> tuple[float | None, ...]:
    """For each operand of a row that has a domain, a number inside; None for those that it does not concern."""
    row = BY_NAME.get(name)
    if not isinstance(row, Op) or not row.domain:
        return ()
    text = " ".join(item.when for item in row.domain)
    concerned = set(re.findall(r"\b[a-c]\b", text))
    return tuple(
        (low + high) / 2 if letter in concerned else None
        for letter, (low, high) in zip("abc", row.sample, strict=False)
    )
