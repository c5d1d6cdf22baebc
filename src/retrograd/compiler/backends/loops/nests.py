"""Finds loops in loops: repetitions of nodes, then of those repetitions, from the inside out.

Inner loops come first, since those of a triangle (a tree, a triangular solve, an alignment) have another number of
iterations each time, so that the outer one has no period in nodes. A repetition once found is one item, whatever its
number of iterations, and items are looked through again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..periods import frequent_distances
from .graph import LEAF, LITERAL, NODE, ScalarGraph
from .structure import Repeat

__all__ = ["find_nests"]

_LEAST_ITERATIONS, _LONGEST_PERIOD, _CANDIDATES, _WINDOW, _ROUNDS = 3, 1_200, 24, 4, 24
_SHORT = 4  # nodes
_MIX = np.uint64(0x9E3779B97F4A7C15)


def find_nests(graph: ScalarGraph) -> tuple[list[int | Repeat], int]:
    """The graph as nodes and repetitions, and how many nodes of code they are."""
    finder = _Finder(graph)
    for _ in range(_ROUNDS):
        if not finder.collapse():
            break
    items: list[int | Repeat] = []
    for item in finder.items:
        items += _unrolled(item) if isinstance(item, Repeat) else [item]
    return items, sum(_size(item) for item in items)


def _unrolled(repeat: Repeat) -> list[int | Repeat]:
    """The nodes of a repetition that is hardly longer than a loop around it; else the repetition."""
    nodes = [item for iteration in repeat.iterations for item in iteration]
    return nodes if len(nodes) <= _SHORT and not any(isinstance(node, Repeat) for node in nodes) else [repeat]


def _size(item: int | Repeat) -> int:
    return sum(map(_size, item.iterations[0])) if isinstance(item, Repeat) else 1


@dataclass(frozen=True, slots=True)
class _Run:
    begin: int
    end: int
    count: int


class _Finder:
    """Attributes: ``items`` as they are now, and how many nodes of code each is."""

    def __init__(self, graph: ScalarGraph) -> None:
        self._graph = graph
        n = len(graph)
        self.items: list[int | Repeat] = list(range(n))
        self.sizes = np.ones(n, np.int64)
        self._first = np.arange(n)  # the first node of each item
        self._item_of = np.arange(n)
        shape = graph.rows.astype(np.uint64)
        for slot in range(graph.kinds.shape[1]):
            shape = shape * np.uint64(4) + graph.kinds[:, slot].astype(np.uint64)
        self._shape = shape * _MIX  # of each item
        self._single = np.ones(n, bool)
        self._node_shape = shape
        after = np.concatenate([shape[1:], shape[:1]])
        self._kin = shape * _MIX + after  # nodes that something alike follows
        self._ranks = _ranks(shape), _ranks(self._kin)

    def collapse(self) -> bool:
        """Turn the repetitions of one period into items. Returns whether there were any."""
        found: list[tuple[int, int, list[_Run]]] = []
        candidates = sorted(((self._bound(period), period) for period in self._candidates()), reverse=True)
        most = 0
        for bound, period in candidates:
            if bound * 2 < most:
                break
            runs = self._runs(period)
            saved = sum(self._saved(run) for run in runs)
            if saved:
                found.append((period, saved, runs))
                most = max(most, saved)
        if not found:
            return False
        period, _, runs = min((one for one in found if 2 * one[1] >= most), key=lambda one: one[0])
        self._replace(period, runs)
        return True

    def _saved(self, run: _Run) -> int:
        size = int(self.sizes[run.begin : run.end].sum())
        return size - size // run.count

    def _candidates(self) -> list[int]:
        """The most frequent distances between equal stretches of items."""
        index = np.arange(len(self.items), dtype=np.uint64)
        loops = np.where(self._single, index, self._shape)  # loops that follow each other
        found: set[int] = set()
        for tokens, window in ((self._shape, _WINDOW), (self._with_lags(), 2 * _WINDOW), (loops, 1)):
            found.update(frequent_distances(tokens, window, _LONGEST_PERIOD, _CANDIDATES))
        return sorted(found)

    def _with_lags(self) -> NDArray[np.uint64]:
        """The shapes of items, with how far back the operands of nodes are."""
        graph, token = self._graph, self._shape.copy()
        for slot in range(graph.kinds.shape[1]):
            index = graph.indices[self._first, slot]
            node = self._single & (graph.kinds[self._first, slot] == NODE)
            lag = np.where(node, np.arange(len(self.items)) - self._item_of[np.where(node, index, 0)], 0)
            token = token * _MIX + np.minimum(lag, _LONGEST_PERIOD).astype(np.uint64)
        return token

    def _bound(self, period: int) -> int:
        """At most so many nodes of code repeat with this period."""
        same = self._shape[period:] == self._shape[:-period]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]])))
        begins, ends = edges[::2], edges[1::2]
        long = ends - begins >= period
        before = np.concatenate([[0], np.cumsum(self.sizes)])
        return int((before[ends[long]] - before[begins[long]]).sum())

    def _runs(self, period: int) -> list[_Run]:
        n = len(self.items)
        if n < period * _LEAST_ITERATIONS:
            return []
        steady, regular, alike = self._compared(period)
        good = steady | regular
        runs: list[_Run] = []
        edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]])))
        unlike = np.maximum.accumulate(np.where(alike, -1, np.arange(len(alike))))  # the last such item up to each
        changes = np.concatenate([[0], np.cumsum(~steady)])
        before = 0
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            # good[i] compares item i + period with item i
            first_period = min(begin + period, len(steady))
            if begin > 0 and changes[first_period] > changes[begin]:  # strides show from the third iteration on
                begin = min(begin, max(before, begin - period, int(unlike[begin - 1]) + 1))
            begin = max(begin, before)
            end += period
            count = (end - begin) // period
            if count >= _LEAST_ITERATIONS:
                runs.append(_Run(end - count * period, end, count))
                before = end
        return runs

    def _compared(self, period: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Of each item and the one a period later: whether operands are the same or as far back; whether they move on
        as they did before; whether they are alike at all."""
        graph, n = self._graph, len(self.items)
        late, early = self._first[period:], self._first[: n - period]
        alike = self._shape[period:] == self._shape[: n - period]
        both = self._single[period:] & self._single[: n - period]
        steady, regular = alike.copy(), alike.copy()
        here = np.arange(n)
        loops = np.concatenate([[0], np.cumsum(~self._single)])
        rows = loops[period:n] > loops[: n - period]  # iterations with inner loops may move on as they like
        for slot in range(graph.kinds.shape[1]):
            kind = np.where(both, graph.kinds[early, slot], LITERAL)
            a, b = graph.indices[early, slot], graph.indices[late, slot]
            node, leaf = alike & (kind == NODE), alike & (kind == LEAF)
            at, bt = np.where(node, a, 0), np.where(node, b, 0)
            lag_a, lag_b = here[: n - period] - self._item_of[at], here[period:] - self._item_of[bt]
            near = (lag_a == lag_b) & ((lag_a <= period) | (b - a == late - early))
            same_shape = self._node_shape[at] == self._node_shape[bt]
            goes_on = rows.copy()
            for rank, kin in zip(self._ranks, (same_shape, self._kin[at] == self._kin[bt]), strict=True):
                step = np.where(leaf, b - a, rank[bt] - rank[at])
                goes_on[period:] |= (leaf | kin)[period:] & (step[period:] == step[: len(step) - period])
            faster = step[period:] - step[: len(step) - period]  # rows of a packed triangle
            goes_on[2 * period :] |= leaf[2 * period :] & (faster[period:] == faster[: len(faster) - period])
            steady &= ~node | near | (a == b)
            steady &= ~leaf | (a == b)
            regular &= ~node | near | (a == b) | (same_shape & goes_on)
            regular &= ~leaf | (a == b) | goes_on
            alike &= ~node | near | (a == b) | (same_shape & (lag_b > period))
        return steady, regular, alike

    def _replace(self, period: int, runs: list[_Run]) -> None:
        items: list[int | Repeat] = []
        kept = np.ones(len(self.items), bool)
        shape, sizes, single = self._shape.copy(), self.sizes.copy(), self._single.copy()
        at = 0
        for run in runs:
            items += self.items[at : run.begin]
            items.append(Repeat([self.items[i : i + period] for i in range(run.begin, run.end, period)]))
            at = run.end
            kept[run.begin + 1 : run.end] = False
            token = np.uint64(period)
            with np.errstate(over="ignore"):
                for each in self._shape[run.begin : run.begin + period]:
                    token = (token ^ each) * np.uint64(0xD1B54A32D192ED03) + np.uint64(1)
            shape[run.begin], single[run.begin] = token, False
            sizes[run.begin] = self.sizes[run.begin : run.begin + period].sum()
        self.items = items + self.items[at:]
        number = np.cumsum(kept) - 1
        self._item_of = number[self._item_of]
        self._shape, self.sizes, self._single = shape[kept], sizes[kept], single[kept]
        self._first = self._first[kept]


def _ranks(shape: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The how manieth of its shape each node is."""
    order = np.argsort(shape, kind="stable")
    ordered = shape[order]
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(shape) else np.zeros(0, bool)
    place = np.arange(len(shape))
    starts = np.maximum.accumulate(np.where(begins, place, 0)) if len(shape) else place
    ranks = np.empty(len(shape), np.int64)
    ranks[order] = place - starts
    return ranks
