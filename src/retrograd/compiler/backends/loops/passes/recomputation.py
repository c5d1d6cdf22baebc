"""Which numbers of the forward pass the backward pass computes again, instead of reading what the forward pass kept.

To keep a number and to read it again costs more than a sum or a product of numbers that are at hand: those that are
kept in any case, leaves and constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from .code import Block, Op, Ref, Value, steps_in

__all__ = ["recomputed"]

#: What takes no more time than to keep a number and to read it.
_CHEAP = frozenset({"fadd", "fsub", "fmul", "fneg", "fabs", "select", "and", "or", "not"})
#: So many operations give a number at most that are done for it alone; so many are one after the other, from what is
#: read.
_MOST, _DEEP = 3, 8


def recomputed(block: Block, needed: Set[Ref], is_kept: Callable[[Ref], bool]) -> dict[Ref, Op]:
    """What to compute again, and how.

    Args:
        block: the forward pass.
        needed: what the backward pass wants of it.
        is_kept: whether the forward pass reads a number in memory, or keeps it for itself.

    Returns:
        The operations by their results: what is needed, and what is computed for it in between.
    """
    made = {step.result: step for step in steps_in(block) if isinstance(step, Op) and step.result is not None}
    chosen = _Choice(made, needed, is_kept)
    for value in sorted(needed, key=lambda value: value.number):
        if not is_kept(value):
            chosen.consider(value)
    return chosen.found


class _Choice:
    """The numbers that have been chosen, in the order of the forward pass."""

    def __init__(self, made: Mapping[Ref, Op], needed: Set[Ref], is_kept: Callable[[Ref], bool]) -> None:
        self._made, self._needed, self._is_kept = made, needed, is_kept
        self._depths: dict[Ref, int] = {}  # how many operations are one after the other until it is there
        self._read_tests: dict[Ref, Op] = {}  # how tests follow from numbers that are read
        self.found: dict[Ref, Op] = {}

    def consider(self, value: Ref) -> None:
        """Choose a number that is needed, if it is worth it."""
        plan: dict[Ref, Op] = {}
        depth = self._plan(value, plan)
        if depth is not None and len(plan) <= _MOST:
            self.found |= plan
            self._depths[value] = depth
            return
        op = self._made.get(value)
        if op is not None and op.name == "select" and op.operands[1:] == (1.0, 0.0):
            test = op.operands[0]
            assert isinstance(test, Ref)
            self._read_tests.setdefault(test, Op(test, "fcmp une", (value, 0.0)))

    def _plan(self, value: Ref, plan: dict[Ref, Op]) -> int | None:
        """Add the operations that give a number; how many are one after the other. None where it is to be read."""
        op = self._read_tests.get(value) or self._made.get(value)
        is_test = op is not None and op.name.startswith("fcmp")
        if op is None or not (is_test or op.name in _CHEAP) or len(plan) >= _MOST:
            return None
        plan[value] = op
        deepest = 0
        for operand in op.operands:
            depth = self._depth_of(operand, plan)
            if depth is None or (is_test and depth):  # a test of a number with other last bits might come out otherwise
                return None
            deepest = max(deepest, depth)
        return deepest + 1 if deepest < _DEEP else None

    def _depth_of(self, operand: Value, plan: dict[Ref, Op]) -> int | None:
        if not isinstance(operand, Ref):
            return 0
        if operand in self._needed:
            return self._depths.get(operand, 0)
        if self._is_kept(operand):
            return 0
        return 1 if operand in plan else self._plan(operand, plan)
