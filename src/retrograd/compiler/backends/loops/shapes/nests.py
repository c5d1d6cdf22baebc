"""Finds loops in loops: repetitions of nodes, then of those repetitions, from the inside out.

Inner loops come first, since those of a triangle (a tree, a triangular solve, an alignment) have another number of
iterations each time, so that the outer one has no period in nodes. A repetition once found is one item, whatever its
number of iterations, and items are looked through again.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...periods import frequent_distances
from ..graphs.chains import begins_of_chains
from ..graphs.graph import LEAF, NODE, ScalarGraph
from .structure import Repeat, size_of

__all__ = ["find_nests"]

_LEAST_ITERATIONS, _LONGEST_PERIOD, _CANDIDATES, _WINDOW, _ROUNDS = 3, 1_200, 24, 4, 24
#: Operands farther back are alike where periods are looked for.
_SHORT_LAG = 12

#: Of the periods that save one in so many of the nodes that another saves, the shortest comes first.
_SHARE = 10

#: Loops of so many iterations at most, with so many nodes of code, are written without the loop; or of so few nodes,
#: where no iteration waits for another.
_SHORT, _FEW, _LITTLE = 4, 200, 16
#: The same of loops in loops, where that is looked at, too.
_SHORT_INSIDE = 6
_MIX = np.uint64(0x9E3779B97F4A7C15)


def find_nests(graph: ScalarGraph) -> list[tuple[list[int | Repeat], int]]:
    """The graph as nodes and repetitions, and how many nodes of code they are; then without longer inner loops."""
    finder = _Finder(graph)
    for _ in range(_ROUNDS):
        if not finder.collapse():
            break
    found: list[tuple[list[int | Repeat], int]] = []
    for short in (_SHORT, _SHORT_INSIDE):
        (items,) = _unrolled(graph, [finder.items], short)
        size = sum(map(size_of, items))
        if not found or size != found[0][1]:
            found.append((items, size))
    return found


def _unrolled(
    graph: ScalarGraph, rows: list[list[int | Repeat]], short: int, is_inside: bool = False
) -> list[list[int | Repeat]]:
    """The iterations of a body, without the inner loops that are always as short; ``is_inside``: it is a loop's."""
    if not any(isinstance(item, Repeat) for item in rows[0]):  # all rows are alike
        return rows
    columns: list[list[list[int | Repeat]]] = []  # of each item, what it becomes in each iteration
    for column in zip(*rows, strict=True):
        repeats = [item for item in column if isinstance(item, Repeat)]
        if not repeats:
            columns.append([[item] for item in column])
            continue
        iterations = [iteration for repeat in repeats for iteration in repeat.iterations]
        inner = iter(_unrolled(graph, iterations, short, True))
        parts = [[next(inner) for _ in repeat.iterations] for repeat in repeats]
        count, same = len(parts[0]), all(len(part) == len(parts[0]) for part in parts)
        size = sum(map(size_of, parts[0][0]))
        if same and _is_unrolled(graph, parts[0], count * size, short if is_inside else _SHORT):
            columns.append([list(chain.from_iterable(part)) for part in parts])
        else:
            columns.append([[Repeat(part)] for part in parts])
    return [list(chain.from_iterable(row)) for row in zip(*columns, strict=True)]


def _is_unrolled(graph: ScalarGraph, iterations: list[list[int | Repeat]], size: int, short: int) -> bool:
    """Whether a loop is written without the loop: few iterations, or little that none hands to another."""
    if len(iterations) <= short:
        return size <= _FEW
    nodes = [[item for item in iteration if not isinstance(item, Repeat)] for iteration in iterations]
    if size > _LITTLE or sum(map(len, nodes)) < size:
        return False
    before = set[int]()
    for iteration in nodes:
        read = graph.indices[iteration][graph.kinds[iteration] == NODE]
        if not before.isdisjoint(read.tolist()):
            return False
        before.update(iteration)
    return True


@dataclass(frozen=True, slots=True)
class _Run:
    begin: int
    end: int  # some items may be left over
    count: int


def _is_within(run: _Run, others: list[_Run], by: int) -> bool:
    """Whether one of some runs, which are in order, has all items of another one, but for so many at its ends."""
    before = bisect_right(others, run.begin + by, key=lambda other: other.begin)
    return before > 0 and others[before - 1].end >= run.end - by


@dataclass(frozen=True, slots=True)
class _Operands:
    """One operand of each item that is a node; of others, anything.

    Attributes:
        are_nodes: whether it is a node.
        are_leaves: whether it is a leaf.
        index: which.
        lag: how many items back it is, if it is a node, as what follows.
        begins: whether a chain of sums may begin with it.
        shape: the number of its shape.
        kin: the same for nodes that something alike follows.
        ranks: the how manieth of its shape, and of its kin, it is.
    """

    are_nodes: NDArray[np.bool_]
    are_leaves: NDArray[np.bool_]
    index: NDArray[np.int64]
    lag: NDArray[np.int64]
    begins: NDArray[np.bool_]
    shape: NDArray[np.uint64]
    kin: NDArray[np.uint64]
    ranks: list[NDArray[np.int64]]


class _Finder:
    """Attributes: ``items`` as they are now, and how many nodes of code each is."""

    def __init__(self, graph: ScalarGraph) -> None:
        self._graph = graph
        n = len(graph)
        self.items: list[int | Repeat] = list(range(n))
        self.sizes = np.ones(n, np.int64)
        self._first = np.arange(n)  # the first node of each item
        self._item_of = np.arange(n)
        shape = graph.shapes()
        self._shape = shape * _MIX  # of each item
        self._single = np.ones(n, bool)
        self._node_shape = shape
        after = np.concatenate([shape[1:], shape[:1]])
        self._kin = shape * _MIX + after  # nodes that something alike follows
        self._least = _SHORT + 1  # iterations of the longest of loops that are alike
        self._ranks = _ranks(shape), _ranks(self._kin)
        self._begins = begins_of_chains(graph)
        self._known_runs: dict[int, list[_Run]] = {}  # of the items as they are, by their periods
        self._known_operands: list[_Operands] = []  # the same

    def collapse(self) -> bool:
        """Turn the repetitions of one period into items. Returns whether there were any."""
        found: list[tuple[int, int, list[_Run]]] = []
        candidates = sorted(((self._bound(period), period) for period in self._candidates()), reverse=True)
        most = 0
        for bound, period in candidates:
            if bound * _SHARE < most:
                break
            runs = self._without_shorter(period, self._long_ones(period, self._runs(period)))
            saved = sum(self._saved(run) for run in runs)
            if saved:
                found.append((period, saved, runs))
                most = max(most, saved)
        if not found:
            shorter, self._least = self._least > _LEAST_ITERATIONS, _LEAST_ITERATIONS
            return shorter
        period, _, runs = min((one for one in found if one[1] * _SHARE >= most), key=lambda one: one[0])
        runs = self._aligned(period, runs)
        self._replace(period, runs)
        return True

    def _long_ones(self, period: int, runs: list[_Run]) -> list[_Run]:
        """The runs of which those alike are not all short: of a triangle, some are."""
        kinds = [self._shape[run.begin : run.begin + period].tobytes() for run in runs]
        longest: dict[bytes, int] = {}
        for kind, run in zip(kinds, runs, strict=True):
            longest[kind] = max(longest.get(kind, 0), run.count)
        return [run for kind, run in zip(kinds, runs, strict=True) if longest[kind] >= self._least]

    def _without_shorter(self, period: int, runs: list[_Run]) -> list[_Run]:
        """The runs that are no runs of a shorter period, some iterations at a time."""
        for part in (part for part in range(1, period // 2 + 1) if period % part == 0):
            alike = self._shape[part:] == self._shape[:-part]
            if any(np.all(alike[run.begin : run.end - part]) for run in runs):
                shorter = self._runs(part)
                runs = [run for run in runs if not _is_within(run, shorter, part)]
        return runs

    def _saved(self, run: _Run) -> int:
        size = int(self.sizes[run.begin : run.end].sum())
        return size - size // run.count

    def _candidates(self) -> list[int]:
        """The most frequent distances between equal stretches of items."""
        index = np.arange(len(self.items), dtype=np.uint64)
        loops = np.where(self._single, index, self._shape)  # loops that follow each other
        found: set[int] = set()
        long, short = self._with_lags(_LONGEST_PERIOD), self._with_lags(_SHORT_LAG)
        for tokens, window in ((self._shape, _WINDOW), (long, 2 * _WINDOW), (short, 2 * _WINDOW), (loops, 1)):
            found.update(frequent_distances(tokens, window, _LONGEST_PERIOD, _CANDIDATES))
        return sorted(found)

    def _with_lags(self, most: int) -> NDArray[np.uint64]:
        """The shapes of items, with how far back the operands of nodes are, up to a limit."""
        graph, token = self._graph, self._shape.copy()
        for slot in range(graph.kinds.shape[1]):
            index = graph.indices[self._first, slot]
            node = self._single & (graph.kinds[self._first, slot] == NODE)
            lag = np.where(node, np.arange(len(self.items)) - self._item_of[np.where(node, index, 0)], 0)
            token = token * _MIX + np.minimum(lag, most).astype(np.uint64)
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
        """Where items repeat themselves with a period."""
        if period not in self._known_runs:
            self._known_runs[period] = self._find_runs(period)
        return self._known_runs[period]

    def _find_runs(self, period: int) -> list[_Run]:
        if len(self.items) < period * _LEAST_ITERATIONS:
            return []
        steady, regular, alike = self._compared(period)
        good = steady | regular
        runs: list[_Run] = []
        edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]])))
        unlike = np.maximum.accumulate(np.where(alike, -1, np.arange(len(alike))))  # the last such item up to each
        changes = np.concatenate([[0], np.cumsum(~steady)])
        begins, ends = edges[::2], edges[1::2]
        long = ends - begins >= period  # others are no three iterations, even with the one before
        before = 0
        for begin, end in zip(begins[long].tolist(), ends[long].tolist(), strict=True):
            # good[i] compares item i + period with item i
            first_period = min(begin + period, len(steady))
            if begin > 0 and changes[first_period] > changes[begin]:  # strides show from the third iteration on
                begin = min(begin, max(before, begin - period, int(unlike[begin - 1]) + 1))
            begin = max(begin, before)
            end += period
            count = (end - begin) // period
            if count >= _LEAST_ITERATIONS:
                runs.append(_Run(begin, end, count))
                before = begin + count * period
        return runs

    def _aligned(self, period: int, runs: list[_Run]) -> list[_Run]:
        """The runs, where their iterations hand on as few numbers as can be."""
        graph, n = self._graph, len(self.items)
        item, last = self._item_of, self._item_of.copy()  # of each node; the last one that reads it, if it is near
        for slot in range(graph.kinds.shape[1]):
            users = np.flatnonzero(graph.kinds[:, slot] == NODE)
            used = graph.indices[users, slot]
            near = item[users] - item[used] <= period
            np.maximum.at(last, used[near], item[users[near]])
        changes = np.bincount(item + 1, minlength=n + 2) - np.bincount(last + 1, minlength=n + 2)
        crossing = np.cumsum(changes)
        found: list[_Run] = []
        for run in runs:
            begin = max(run.begin, found[-1].end if found else 0)
            count, over = divmod(run.end - begin, period)
            if count < _LEAST_ITERATIONS:
                continue
            ends = crossing[begin + period : begin + count * period].reshape(count - 1, period)
            costs = ends[: max(count - 2, 1)].sum(axis=0)  # the last one may hand on less
            whole = over - int(np.argmin(costs[over::-1]))  # the last of the best
            best = int(np.argmin(costs))
            if costs[best] < costs[whole] and count > _LEAST_ITERATIONS:
                whole, count = best, count - 1
            found.append(_Run(begin + whole, begin + whole + count * period, count))
        return found

    def _compared(self, period: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Of each item and the one a period later: whether operands are the same or as far back; whether they move on
        as they did before; whether they are alike at all."""
        n = len(self.items)
        late, early = slice(period, n), slice(0, n - period)
        alike = self._shape[late] == self._shape[early]
        both = alike & self._single[late] & self._single[early]
        steady, regular, moved = alike.copy(), alike.copy(), self._first[late] - self._first[early]
        loops = np.concatenate([[0], np.cumsum(~self._single)])
        rows = loops[period:n] > loops[: n - period]  # iterations with inner loops may move on as they like
        for each in self._operands():
            node, leaf = both & each.are_nodes[early], both & each.are_leaves[early]
            if not (node.any() or leaf.any()):
                continue
            step = each.index[late] - each.index[early]
            same, lag = step == 0, each.lag[late]
            near = (each.lag[early] == lag) & ((lag <= period) | (step == moved))
            near |= each.begins[early] & (lag <= period)  # a sum that goes on with the one an iteration before
            same_shape = each.shape[late] == each.shape[early]
            goes_on = rows.copy()
            for rank, kin in zip(each.ranks, (same_shape, each.kin[late] == each.kin[early]), strict=True):
                step = np.where(leaf, step, np.where(node, rank[late] - rank[early], 0))
                goes_on[period:] |= (leaf | kin)[period:] & (step[period:] == step[: len(step) - period])
                faster = step[period:] - step[: len(step) - period]  # rows of a packed triangle
                goes_on[2 * period :] |= (leaf | kin)[2 * period :] & (
                    faster[period:] == faster[: len(faster) - period]
                )
            steady &= ~(node | leaf) | same | (node & near)
            regular &= ~node | near | same | (same_shape & goes_on)
            regular &= ~leaf | same | goes_on
            alike &= ~node | near | same | (same_shape & (lag > period))
        return steady, regular, alike

    def _operands(self) -> list[_Operands]:
        """The operands of the items as they are."""
        if not self._known_operands:
            graph, here = self._graph, np.arange(len(self.items))
            for slot in range(graph.kinds.shape[1]):
                kind, index = graph.kinds[self._first, slot], graph.indices[self._first, slot]
                are_nodes, are_leaves = self._single & (kind == NODE), self._single & (kind == LEAF)
                node = np.where(are_nodes, index, 0)
                self._known_operands.append(
                    _Operands(
                        are_nodes,
                        are_leaves,
                        index,
                        here - self._item_of[node],
                        self._begins[node],
                        self._node_shape[node],
                        self._kin[node],
                        [rank[node] for rank in self._ranks],
                    )
                )
        return self._known_operands

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
        self._known_runs, self._known_operands = {}, []


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
