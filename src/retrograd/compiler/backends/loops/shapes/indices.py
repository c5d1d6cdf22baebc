"""Places of a loop's numbers as functions of its counters; and in which order numbers lie in memory, so that they are.

A triangular matrix that is made by columns and read by rows would need a table of where each element is. With its rows
one after the other, each with room for as many elements, places are affine in the counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .structure import Body, Indices

__all__ = ["Index", "Stream", "fit", "ordered"]

#: What a loop accesses: a number for each iteration of a body.
Stream = tuple[Body, Indices]

#: Rows may have so much more room than there are numbers.
_ROOM = 2.2


@dataclass(frozen=True, slots=True)
class Index:
    """``base`` plus strides times counters plus an entry of a table, by the ordinal of a body.

    Attributes:
        base: what the rest is added to.
        steps: of each body, how much an iteration adds; counted through all instances if the flag says so.
        table: entries by the ordinal of a body.
    """

    base: int
    steps: tuple[tuple[Body, bool, int], ...] = ()
    table: tuple[Body, Indices] | None = None

    def step_of(self, loop: Body) -> int | None:
        """How far the elements of an iteration of a loop and of the next are apart; None if there is a table."""
        if self.table is not None and self.table[0].within(loop):
            return None
        return sum(
            step * (body.times // loop.times)
            for body, through, step in self.steps
            if body is loop or (through and body.within(loop))
        )


def fit(body: Body, numbers: Indices) -> Index:
    """Numbers by the ordinal of a body as an Index: with no table where they are affine in the counters."""
    if len(numbers) == 1 or np.all(numbers == numbers[0]):
        return Index(int(numbers[0]))
    steps = np.diff(numbers)
    if np.all(steps == steps[0]):
        return Index(int(numbers[0]), ((body, True, int(steps[0])),))
    if body.parent is not None and body.parent.parent is not None and not body.optional:
        inside = np.ones(len(steps), bool)
        inside[body.firsts[1:] - 1] = False
        steps = steps[inside]
        if not len(steps) or np.all(steps == steps[0]):
            outer = fit(body.parent, numbers[body.firsts])
            step = int(steps[0]) if len(steps) else 0
            return Index(outer.base, (*outer.steps, (body, False, step)) if step else outer.steps, outer.table)
    return Index(0, (), (body, numbers))


def _entries(streams: Sequence[Stream]) -> int:
    """How many places of streams are in tables."""
    tables = (fit(body, numbers).table for body, numbers in streams)
    return sum(table[0].times for table in tables if table is not None)


def ordered(nodes: Indices, read: Sequence[Stream], made: Sequence[Stream] = ()) -> tuple[Indices, int] | None:
    """Places for nodes, so that they are looked up less than half as often, and how many places there are.

    Args:
        nodes: which, in order.
        read: streams of them that are read.
        made: those in which they are computed.

    Returns:
        None where there is no better order than that of the nodes.
    """
    ranks = [(body, np.searchsorted(nodes, numbers)) for body, numbers in (*read, *made)]
    before = _entries(ranks)
    if before == 0:
        return None
    row, column = _rows(len(nodes), ranks[: len(read)])
    lengths = np.bincount(row)
    packed = (np.cumsum(lengths) - lengths)[row] + column
    longest = int(np.max(column)) + 1
    room = [longest * row + column] if longest * len(lengths) <= _ROOM * len(nodes) else []
    costs = [(_entries([(body, each[numbers]) for body, numbers in ranks]), each) for each in (packed, *room)]
    after, places = min(costs, key=lambda cost: cost[0])
    return (places, int(np.max(places)) + 1) if 2 * after < before else None


def _rows(count: int, streams: Sequence[Stream]) -> tuple[Indices, Indices]:
    """The row that each of some numbers is in, and where: after the one that is mostly read before it."""
    pairs = [_pairs(body, numbers) for body, numbers in streams]
    each, often = np.unique(np.concatenate([*pairs, np.empty(0, np.int64)]), return_counts=True)
    each = each[np.argsort(-often, kind="stable")]  # pairs that are read most often first
    before, after = each >> 32, each & 0xFFFFFFFF
    first = np.zeros(len(each), bool)
    first[np.unique(before, return_index=True)[1]] = True
    other = np.zeros(len(each), bool)
    other[np.unique(after, return_index=True)[1]] = True
    before, after = before[first & other], after[first & other]
    ahead = before < after  # there is no way back: rows are no circles
    head, column = np.arange(count), np.zeros(count, np.int64)
    head[after[ahead]], column[after[ahead]] = before[ahead], 1
    while np.any(head[head] != head):
        head, column = head[head], column + column[head]
    return np.unique(head, return_inverse=True)[1], column


def _pairs(body: Body, numbers: Indices) -> Indices:
    """Numbers that are read one after the other in an instance of a loop."""
    inside = np.ones(len(numbers), bool)
    inside[body.firsts[body.counts > 0]] = False
    later = np.flatnonzero(inside)
    one, other = numbers[later - 1], numbers[later]
    pairs: Indices = (one[one != other] << 32) | other[one != other]
    return pairs
