"""Keeps the operands of an arm inside the domains of operators where the arm is not taken.

There, an operator gets a number that it surely allows, as if the user had written ``log(where(x > 0, x, 1))``: it
neither raises, nor gives an infinite derivative, which times zero would be NaN.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from ...engine import Value
from ...ops.table import BY_NAME, Op
from ..bool_tracer import BoolTracer
from ..float_tracer import FloatTracer
from .selections import joined, negated
from .trial import Frame, Trial, current, recorder

__all__ = ["inside_domain", "is_taken", "must_hold", "not_reached"]


def is_taken(trial: Trial) -> Any:
    """Whether the arms are taken that are running: True, or a comparison."""
    return _is_taken(trial.frames, len(trial.frames))


def _is_taken(frames: Sequence[Frame], count: int) -> Any:
    """The same of the first so many of them."""
    if count == 0:
        return True
    frame = frames[count - 1]
    found = frame.taken[frame.is_yes]
    if found is None:
        around = True if frame.is_whole else _is_taken(frames, count - 1)
        test = frame.test if frame.test is None or frame.is_yes else negated(frame.test)
        found = around if test is None else test if around is True else joined("minimum", around, test)
        frame.taken[frame.is_yes] = found
    return found


def must_hold(test: Any) -> bool:
    """A test that the function raises something without: a guard, where the arms are taken that it is in."""
    trial = current()
    if type(test) is not BoolTracer or trial is None:
        return bool(test)
    taken = is_taken(trial)
    needed = test if taken is True else joined("maximum", negated(taken), test)
    return needed.must_hold() if type(needed) is BoolTracer else bool(needed)


def not_reached() -> bool:
    """That arms are not taken, in which the function raises something: a guard. False where it does now."""
    trial = current()
    taken = is_taken(trial) if trial is not None else True
    return type(taken) is BoolTracer and bool(negated(taken))


def inside_domain(name: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of a row; where the arm is not taken, numbers in its domain in their place."""
    points = _points(name)
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
