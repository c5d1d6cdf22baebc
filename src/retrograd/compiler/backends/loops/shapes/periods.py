"""Finds where a graph repeats itself in its order of creation, and cuts it into sections.

A node repeats the one a period before it when both apply the same operator to operands of the same kinds, and each
operand that is a node is either as far back as that one's, or the same. (In traces of loops over time, 0.87 to 1.00 of
the nodes do.) The first iteration reads other numbers where the next one reads those of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...periods import Section, cut_by_periods
from ..graphs.graph import NODE, ScalarGraph, found_once

__all__ = ["Section", "find_sections"]

#: A loop has at least so many nodes.
_LEAST_NODES = 48

#: Where no repetition is found otherwise, operands farther back than this count as equally far: a number that all
#: iterations read is farther back from each of them.
_FAR = 40

#: With fewer iterations it keeps them as they are.
_LEAST_ALIGNED = 4


@found_once
def find_sections(graph: ScalarGraph, beyond: int | None) -> list[Section]:
    """The graph as loops and straight-line code, in order.

    Args:
        graph: the graph.
        beyond: if not None, any nodes are alike as operands that are more than so many iterations back: such as one of
            two numbers from before the loop, as data decide; with 0, one of this iteration's, too.
    """
    slots = range(graph.kinds.shape[1])
    nodes = [graph.kinds[:, slot] == NODE for slot in slots]
    indices = [graph.indices[:, slot].astype(np.int32) for slot in slots]
    here = np.arange(len(graph), dtype=np.int32)
    lags = [np.where(is_node, here - index, 0) for is_node, index in zip(nodes, indices, strict=True)]
    shape = graph.shapes()

    def alike(late: slice, early: slice) -> NDArray[np.bool_]:
        same: NDArray[np.bool_] = shape[late] == shape[early]
        far = len(graph) if beyond is None else beyond * (late.start - early.start)
        for lag, index in zip(lags, indices, strict=True):
            other = np.flatnonzero(same & (lag[late] != lag[early]))  # few
            same[other] = (index[late.start + other] == index[early.start + other]) | (
                (lag[late.start + other] > far) & (lag[early.start + other] > far)
            )
        return same

    def can_be_first(begin: int, period: int) -> bool:
        """Whether an iteration before others is like them, but for what it reads of what comes before."""
        late, early = slice(begin + period, begin + 2 * period), slice(begin, begin + period)
        if early.start < 0 or np.any(shape[late] != shape[early]):
            return False
        return all(
            np.all(
                (lag[late] == lag[early])
                | (index[late] == index[early])
                | ((index[early] < begin) & (index[late] >= begin) & (index[late] < begin + period))
            )
            for lag, index in zip(lags, indices, strict=True)
        )

    def tokens(most: int) -> NDArray[np.uint64]:
        found = shape.copy()
        for lag in lags:
            found = found * np.uint64(0x9E3779B97F4A7C15) + np.minimum(lag, most).astype(np.uint64)
        return found

    kinds = [tokens(len(graph)), tokens(_FAR)] if beyond is None else [tokens(_FAR if beyond else 0)]
    sections: list[Section] = []
    for section in cut_by_periods(kinds, alike, _LEAST_NODES, partial(_may_begin_later, graph)):
        sections += _aligned(graph, section)
    return _with_first_iterations(sections, can_be_first)


def _with_first_iterations(sections: list[Section], can_be_first: Callable[[int, int], bool]) -> list[Section]:
    """Loops with the iteration before them, if it is like theirs and begins with other numbers."""
    found: list[Section] = []
    for section in sections:
        begin, period, count = section.begin - section.period, section.period, section.count
        if count > 1 and begin >= 0 and can_be_first(begin, period):
            found = _until(found, begin)
            section = Section(begin, period, count + 1)
        found.append(section)
    return found


def _until(sections: list[Section], end: int) -> list[Section]:
    """The sections before a node."""
    found = [section for section in sections if section.end <= end]
    for section in sections[len(found) :][:1]:
        count, left = divmod(max(end - section.begin, 0), section.period)
        found += [Section(section.begin, section.period, count)] if count > 1 else []
        left += section.period if count == 1 else 0
        found += [Section(end - left, left, 1)] if left else []
    return found


def _may_begin_later(graph: ScalarGraph, section: Section, by: int) -> bool:
    """Whether iterations that begin so many nodes later, and end where the repetition does, hand on no more numbers.

    What comes before a loop may end as its iterations do, so that the repetition begins too early. It ends where the
    user's loop does.
    """
    if section.count <= _LEAST_ALIGNED:
        return False
    handed = _handed_on(graph, section)
    return bool(handed[by] <= handed[0])


def _aligned(graph: ScalarGraph, section: Section) -> list[Section]:
    """A section whose iterations begin where few numbers are handed on: at the user's, not in the middle of them.

    A stretch that repeats itself does so wherever its iterations are said to begin.
    """
    begin, period, count = section.begin, section.period, section.count
    if count <= _LEAST_ALIGNED:
        return [section]
    handed = _handed_on(graph, section)
    shift = int(np.argmin(handed))
    if shift == 0 or handed[shift] > handed[0] // 2:
        return [section]
    moved = Section(begin + shift, period, count - 1)
    return [Section(begin, shift, 1), moved, Section(moved.end, period - shift, 1)]


def _handed_on(graph: ScalarGraph, section: Section) -> NDArray[np.int64]:
    """How many numbers one iteration hands to the next if it begins so many nodes later."""
    period = section.period
    begin = section.begin + (section.count - _LEAST_ALIGNED) // 2 * period
    users = np.arange(begin, begin + _LEAST_ALIGNED * period)
    last = np.zeros(2 * period, np.int64)  # use of the nodes of two iterations, seen from the first
    for slot in range(graph.kinds.shape[1]):
        used = graph.indices[users, slot] - begin
        inside = (graph.kinds[users, slot] == NODE) & (used >= 0) & (used < 2 * period)
        np.maximum.at(last, used[inside], users[inside] - begin)
    nodes = np.arange(2 * period)
    last = np.minimum(last, nodes + period)
    changes = np.zeros(3 * period + 1, np.int64)
    np.add.at(changes, nodes + 1, last > nodes)
    np.add.at(changes, last + 1, -1 * (last > nodes))
    return np.cumsum(changes)[period : 2 * period]
