"""Finds where a graph repeats itself in its order of creation, and cuts it into sections.

A node repeats the one a period before it when both apply the same operator to operands of the same kinds, and each
operand that is a node is either as far back as that one's, or the same. (In traces of loops over time, 0.87 to 1.00 of
the nodes do.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .graph import NODE, ScalarGraph

__all__ = ["Section", "find_sections"]

#: A loop has at least so many iterations and nodes.
_LEAST_ITERATIONS, _LEAST_NODES, _LONGEST_PERIOD = 3, 48, 4_000

#: So many consecutive nodes must be equal for their distance to be considered, and so many distances are tried.
_WINDOW, _CANDIDATES = 6, 16


@dataclass(frozen=True, slots=True)
class Section:
    """Nodes from ``begin`` on: ``count`` iterations of ``period`` nodes; straight-line code has one."""

    begin: int
    period: int
    count: int

    @property
    def end(self) -> int:
        return self.begin + self.period * self.count


def find_sections(graph: ScalarGraph) -> list[Section]:
    """The graph as loops and straight-line code, in order."""
    return _Finder(graph).cut(0, len(graph))


class _Finder:
    def __init__(self, graph: ScalarGraph) -> None:
        self._indices = graph.indices
        self._is_node = graph.kinds == NODE
        self._lags = np.where(self._is_node, np.arange(len(graph))[:, None] - graph.indices, 0)
        shape = graph.rows.astype(np.int64)
        for slot in range(graph.kinds.shape[1]):
            shape = shape * 4 + graph.kinds[:, slot]
        self._shape = shape

    def cut(self, begin: int, end: int) -> list[Section]:
        best = max(
            (self._longest(begin, end, period) for period in self._candidates(begin, end)),
            key=_gain,
            default=None,
        )
        if best is None or best.count < _LEAST_ITERATIONS or best.period * best.count < _LEAST_NODES:
            return [Section(begin, end - begin, 1)] if end > begin else []
        return [*self.cut(begin, best.begin), best, *self.cut(best.end, end)]

    def _candidates(self, begin: int, end: int) -> list[int]:
        """The most frequent distances between equal stretches of nodes."""
        length = end - begin - _WINDOW
        if length < _LEAST_NODES:
            return []
        token = self._shape[begin:end].astype(np.uint64)
        for slot in range(self._lags.shape[1]):
            token = token * np.uint64(0x9E3779B97F4A7C15) + self._lags[begin:end, slot].astype(np.uint64)
        window = np.zeros(length, np.uint64)
        for i in range(_WINDOW):
            window = window * np.uint64(0xD1B54A32D192ED03) + token[i : i + length]
        order = np.argsort(window, kind="stable")
        equal = window[order][1:] == window[order][:-1]
        distances = np.diff(order)[equal]
        distances = distances[distances <= _LONGEST_PERIOD]
        if not len(distances):
            return []
        counts = np.bincount(distances)
        found = np.argsort(counts * np.arange(len(counts)))[::-1][:_CANDIDATES]
        return [int(distance) for distance in found if counts[distance] and distance > 0]

    def _longest(self, begin: int, end: int, period: int) -> Section:
        """The longest stretch that repeats itself with this period."""
        late, early = slice(begin + period, end), slice(begin, end - period)
        same = self._shape[late] == self._shape[early]
        for slot in range(self._lags.shape[1]):
            same &= (
                ~self._is_node[late, slot]
                | (self._lags[late, slot] == self._lags[early, slot])
                | (self._indices[late, slot] == self._indices[early, slot])
            )
        edges = np.concatenate([[-1], np.flatnonzero(~same), [len(same)]])
        runs: NDArray[np.int64] = np.diff(edges) - 1
        longest = int(np.argmax(runs))
        return Section(begin + int(edges[longest]) + 1, period, int(runs[longest] + period) // period)


def _gain(section: Section) -> int:
    """How many nodes of code a loop saves."""
    return section.period * (section.count - 1) if section.count >= _LEAST_ITERATIONS else 0
