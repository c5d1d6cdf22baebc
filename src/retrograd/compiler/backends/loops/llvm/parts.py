"""Cuts the code of a long function into parts, each of which is a function of its own.

LLVM takes time that grows faster than a function's length: it looks for registers for all values at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..passes.code import Loop, Op, Ref, Value, steps_in
from .grouped_calls import Calls

__all__ = ["Part", "Slots", "Step", "in_parts", "values_made", "values_read"]

Step = Op | Loop | Calls


@dataclass(frozen=True, slots=True)
class Part:
    """Steps that are a function of their own.

    Attributes:
        steps: what it does.
        read: the values of parts before it that it reads.
        handed_on: those of its own that a part after it reads, and which part is the last one that does.
    """

    steps: list[Step]
    read: set[Ref]
    handed_on: dict[Ref, int]


def in_parts(steps: Sequence[Step], most: int) -> list[Part]:
    """The steps of a function in parts of so many operations at most, if no loop has more."""
    parts: list[Part] = []
    size = 0
    made: dict[Ref, int] = {}  # in which part
    for step in steps:
        length = _length(step)
        if not parts or size + length > most:
            parts.append(Part([], set(), {}))
            size = 0
        size += length
        here = parts[-1]
        here.steps.append(step)
        for value in values_read(step):
            part = made.get(value)
            if part is not None and part < len(parts) - 1:
                here.read.add(value)
                parts[part].handed_on[value] = len(parts) - 1
        made.update(dict.fromkeys(values_made(step), len(parts) - 1))
    return parts


def _length(step: Step) -> int:
    if isinstance(step, Loop):
        return sum(isinstance(inner, Op) for inner in steps_in(step.body))
    return len(step.ops) if isinstance(step, Calls) else 1


def values_made(step: Step) -> list[Ref]:
    """The values that the steps after one may read."""
    if isinstance(step, Loop):
        return [phi.final for phi in step.phis if phi.final is not None]
    ops = step.ops if isinstance(step, Calls) else [step]
    return [op.result for op in ops if op.result is not None]


def values_read(step: Step) -> Iterator[Ref]:
    """The values that a step reads, those that it makes itself among them."""
    values: list[Value | None] = []
    if isinstance(step, Loop):
        for loop in [step, *(inner for inner in steps_in(step.body) if isinstance(inner, Loop))]:
            values += [*loop.goes_on, *(value for phi in loop.phis for value in (phi.start, phi.following))]
        values += [value for op in steps_in(step.body) if isinstance(op, Op) for value in op.operands]
    else:
        values += [value for op in (step.ops if isinstance(step, Calls) else [step]) for value in op.operands]
    return (value for value in values if isinstance(value, Ref))


class Slots:
    """Where in memory the values are that parts hand on."""

    def __init__(self, reserve: Callable[[int], int]) -> None:
        """
        Args:
            reserve: makes room for so many numbers: where they begin.
        """
        self._reserve = reserve
        self._of: dict[Ref, int] = {}
        self._taken: dict[int, list[tuple[int, int]]] = {}  # by size: until after which part, and the slot

    def take(self, value: Ref, size: int, part: int, last: int) -> int:
        """A slot for a value of a part, of so many numbers, which the part ``last`` is the last one to read."""
        taken = self._taken.setdefault(size, [])
        slot = heapq.heappop(taken)[1] if taken and taken[0][0] < part else self._reserve(size)
        heapq.heappush(taken, (last, slot))
        self._of[value] = slot
        return slot

    def __getitem__(self, value: Ref) -> int:
        return self._of[value]
