"""Takes loops apart in which only a part of an iteration waits for the one before (loop fission).

After Allen and Kennedy (TOPLAS 1987). Functions that do not depend on the state that a loop hands on move to a loop
before it, and those that it does not depend on to a loop after it: their iterations then run side by side.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..graphs.graph import LITERAL, NODE, ScalarGraph, UnsupportedGraphError
from ..passes.formulas import POWERS
from .coalescing import coalesced
from .structure import Indices, Repeat, nodes_of

__all__ = ["circles_of", "divided", "time_in_turn"]

_INSTRUCTIONS = ("sqrt", "div", "reciprocal")

#: About how many nanoseconds it saves to run an operation for several iterations at once; and what it costs that one
#: loop leaves a number for another in memory, and its adjoint.
_SAVED = {
    **dict.fromkeys(("exp", "log", "log1p", "expm1", "sigmoid", "softplus"), 6.0),
    **dict.fromkeys(("log2", "log10", "atan", "asin", "acos", "tan", "hypot"), 6.0),
    **dict.fromkeys(("sin", "cos"), 8.0),
    **dict.fromkeys(("pow", "atan2", "sinh", "cosh", "asinh"), 12.0),
    "tanh": 10.0,
    **dict.fromkeys(_INSTRUCTIONS, 2.0),
}
_SAVED_OTHERWISE, _TRAFFIC = 0.25, 2.5

#: So much of what it would save to run all of an iteration side by side is worth a loop of its own.
_LEAST_GAIN = 0.05

#: With fewer iterations on average, a loop is not taken apart; nor do its iterations run side by side: with fewer than
#: the second number, or than the third, if there are always as many.
_LEAST_ITERATIONS, _LEAST_UNEVEN, _LEAST_EVEN = 16, 8, 4

#: So many calls of one function in straight-line code are calls of a function of vectors.
_GROUPED = 16

_SUMS = {"add", "sum", "sub"}

Item = int | Repeat


def divided(graph: ScalarGraph, items: Sequence[Item]) -> list[Item]:
    """Nodes and repetitions, with those taken apart where that saves time."""
    divider = _Divider(graph)
    if not divider.has_functions:
        return list(items)
    parts: list[Item] = []
    for item in items:
        parts += divider.apart(item) if isinstance(item, Repeat) else [item]
    if not _is_in_order(graph, parts):
        raise UnsupportedGraphError("a loop that was taken apart in the wrong order")
    return parts


def time_in_turn(graph: ScalarGraph, items: Sequence[Item], grouped: bool = True) -> float:
    """About how many nanoseconds it would save, forward, to run the nodes side by side that wait for each other.

    ``grouped``: whether calls of one function in straight-line code are one of a function of vectors.
    """
    divider = _Divider(graph, grouped)
    alone = [np.array([item], np.int64) for item in items if isinstance(item, int)]
    return divider.saved_by(alone) + sum(divider.time_in_turn([item]) for item in items if isinstance(item, Repeat))


def _is_in_order(graph: ScalarGraph, items: Sequence[Item]) -> bool:
    """Whether all nodes are computed after those that they read."""
    order = np.array(nodes_of(items), np.int64)
    when = np.empty(len(graph), np.int64)
    when[order] = np.arange(len(order))
    is_node = graph.kinds == NODE
    read = when[np.where(is_node, graph.indices, 0)]
    return bool(np.all(~is_node | (read < when[:, None])))


@dataclass(frozen=True, slots=True)
class _Edge:
    """What a column reads: which other one, and whether of an iteration before."""

    source: int
    user: int
    earlier: bool


def _are_products(graph: ScalarGraph) -> NDArray[np.bool_]:
    """Which nodes are powers that no function is called for: of a few constant exponents."""
    found = np.zeros(len(graph), bool)
    if "pow" in graph.names:
        powers = np.flatnonzero((graph.rows == graph.names.index("pow")) & (graph.kinds[:, 1] == LITERAL))
        found[powers] = np.isin(graph.literals[graph.indices[powers, 1]], [*POWERS])
    return found


class _Divider:
    def __init__(self, graph: ScalarGraph, grouped: bool = True) -> None:
        self._graph, self._grouped = graph, grouped
        saved = np.array([_SAVED.get(name, _SAVED_OTHERWISE) for name in graph.names])
        self._saved: NDArray[np.float64] = saved[graph.rows]
        self._saved[_are_products(graph)] = _SAVED_OTHERWISE
        self.has_functions = bool(np.any(self._saved > _SAVED_OTHERWISE))
        self._iteration = np.full(len(graph), -1, np.int64)  # of the nodes of the repetition that is looked at
        self._column = np.zeros(len(graph), np.int64)

    def apart(self, loop: Repeat) -> list[Repeat]:
        """What a loop becomes that is in no other."""
        parts = self.parts([loop])[0]
        return [each for part in parts for each in coalesced(self._graph, part, self._saved, _SAVED_OTHERWISE)]

    def parts(self, instances: Sequence[Repeat]) -> list[list[Repeat]]:
        """What each instance of a repetition becomes."""
        counts = [len(instance.iterations) for instance in instances]
        columns = _columns_of(instances)
        stages = self._stages(columns, counts)
        if not stages.recurrent:  # its iterations run side by side as they are
            return [[instance] for instance in instances]
        undivided, columns = len(columns), [part for column in columns for part in self._inner(column)]
        if len(columns) > undivided:
            stages = self._stages(columns, counts)
        saved = [float(self._saved[column.nodes].sum()) / sum(counts) for column in columns]
        long = sum(counts) >= _LEAST_ITERATIONS * len(counts)
        groups = stages.groups(saved) if long else [range(len(columns))]
        return _cut([[columns[number].items for number in group] for group in groups], counts)

    def time_in_turn(self, instances: Sequence[Repeat]) -> float:
        """What it would save to run those nodes side by side that wait for each other in a repetition's instances."""
        counts = [len(instance.iterations) for instance in instances]
        columns = _columns_of(instances)
        least = _LEAST_EVEN if min(counts) == max(counts) else _LEAST_UNEVEN
        are_enough = sum(counts) >= least * len(counts) and all(map(_is_even, columns))
        if are_enough and not self._stages(columns, counts).recurrent:
            return 0.0
        total, straight = 0.0, []
        for column in columns:
            repeats = [item for item in column.items if isinstance(item, Repeat) and item.iterations]
            if len(repeats) == len(column.items):
                total += self.time_in_turn(repeats)
            else:
                straight.append(column.nodes)
        return total + self.saved_by(straight)

    def saved_by(self, rows: Sequence[Indices]) -> float:
        """The same of straight-line code: of each position, its nodes. Calls of a function are grouped, where most of
        them are among many that do not need each other."""
        graph, total = self._graph, 0.0
        rows = [nodes for nodes in rows if len(nodes)]
        names = [graph.names[graph.rows[nodes[0]]] for nodes in rows]
        several = {name for name, count in Counter(names).items() if count >= _GROUPED and name not in _INSTRUCTIONS}
        several = several if self._grouped else set()
        levels = self._levels([int(nodes[0]) for nodes in rows]) if several else []
        calls = Counter((name, level) for name, level in zip(names, levels, strict=False) if name in several)
        grouped = Counter[str]()
        for (name, _), count in calls.items():
            grouped[name] += count if count >= _GROUPED else -count
        for name, nodes in zip(names, rows, strict=True):
            total += _SAVED_OTHERWISE * len(nodes) if grouped[name] > 0 else float(self._saved[nodes].sum())
        return total

    def _levels(self, nodes: Sequence[int]) -> list[int]:
        """How many calls, one after the other, each of some nodes needs; a call counts itself."""
        graph = self._graph
        called = self._saved[nodes] > _SAVED_OTHERWISE
        operands = np.where(graph.kinds[nodes] == NODE, graph.indices[nodes], -1)
        levels: dict[int, int] = {}
        for node, read, is_call in zip(nodes, operands.tolist(), called.tolist(), strict=True):
            levels[node] = max(levels.get(operand, 0) for operand in read) + is_call
        return [levels[node] for node in nodes]

    def _inner(self, column: _Column) -> list[_Column]:
        """The columns that one becomes."""
        repeats = [item for item in column.items if isinstance(item, Repeat) and item.iterations]
        if len(repeats) < len(column.items):  # nodes, or what some iterations do not do
            return [column]
        return [_Column(part) for part in zip(*self.parts(repeats), strict=True)]

    def _stages(self, columns: Sequence[_Column], counts: Sequence[int]) -> _Stages:
        edges = self._edges(columns, counts)
        return _Stages(edges, len(columns), _Sums(self._graph, columns, counts).are_all)

    def _edges(self, columns: Sequence[_Column], counts: Sequence[int]) -> set[_Edge]:
        """What the columns read of each other, in the same instance."""
        graph = self._graph
        nodes = np.concatenate([column.nodes for column in columns])
        iteration = np.concatenate([column.iterations for column in columns])
        user = np.repeat(np.arange(len(columns)), [len(column.nodes) for column in columns])
        self._iteration[nodes], self._column[nodes] = iteration, user
        instance = np.repeat(np.arange(len(counts)), counts)
        edges: set[_Edge] = set()
        for slot in range(graph.kinds.shape[1]):
            read = np.where(graph.kinds[nodes, slot] == NODE, graph.indices[nodes, slot], nodes)
            of, source = self._iteration[read], self._column[read]
            inside = (read != nodes) & (of >= 0)
            inside &= instance[of] == instance[iteration]
            inside &= (of < iteration) | (source != user)
            keys = np.unique(((source * len(columns) + user) * 2 + (of < iteration))[inside])
            for key in keys.tolist():
                one, other = divmod(key // 2, len(columns))
                edges.add(_Edge(one, other, bool(key % 2)))
        self._iteration[nodes] = -1
        return edges


class _Column:
    """An item of a repetition in all its iterations.

    Attributes:
        items: those.
        nodes: all nodes in them.
        iterations: which iteration each node is of.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        if isinstance(items[0], int):
            self.nodes = np.array(items, np.int64)
            self.iterations = np.arange(len(items))
        else:
            nodes = [nodes_of([item]) for item in items]
            self.nodes = np.array(list(chain.from_iterable(nodes)), np.int64)
            self.iterations = np.repeat(np.arange(len(items)), [len(some) for some in nodes])

    def of(self, iteration: int) -> list[int]:
        """The nodes of an iteration."""
        return nodes_of([self.items[iteration]])


class _Sums:
    """What an iteration of a repetition does with the numbers that columns hand to it; looked up in one iteration."""

    def __init__(self, graph: ScalarGraph, columns: Sequence[_Column], counts: Sequence[int]) -> None:
        self._graph, self._columns = graph, columns
        instance = int(np.argmax(counts))
        self._iteration = sum(counts[:instance]) + 1

    @cached_property
    def _users(self) -> dict[int, list[tuple[int, int]]]:
        """The nodes of the iteration that read each node, and in which slots."""
        users: dict[int, list[tuple[int, int]]] = defaultdict(list)
        nodes = np.array([node for column in self._columns for node in column.of(self._iteration)])
        for slot in range(self._graph.kinds.shape[1]):
            reading = nodes[self._graph.kinds[nodes, slot] == NODE]
            read = self._graph.indices[reading, slot]
            for node, user in zip(read.tolist(), reading.tolist(), strict=True):
                users[node].append((user, slot))
        return users

    def are_all(self, handed: set[int]) -> bool:
        """Whether all that an iteration does with what some columns hand to it is to add to it."""
        graph, left = self._graph, [node for column in handed for node in self._columns[column].of(self._iteration - 1)]
        sums = set[int]()
        while left:
            for user, slot in self._users.get(left.pop(), ()):
                name = graph.names[graph.rows[user]]
                if name not in _SUMS or user in sums or (name == "sub" and slot != 0):
                    return False
                sums.add(user)
                left.append(user)
        return bool(sums)


def _columns_of(instances: Sequence[Repeat]) -> list[_Column]:
    """The items of a repetition."""
    return [_Column(items) for items in zip(*(i for instance in instances for i in instance.iterations), strict=True)]


def _is_even(column: _Column) -> bool:
    """Whether inner loops always have as many iterations."""
    repeats = [item for item in column.items if isinstance(item, Repeat)]
    if len({len(item.iterations) for item in repeats}) > 1:
        return False
    return not repeats or all(map(_is_even, _columns_of(repeats)))


def _cut(groups: Sequence[Sequence[Sequence[Item]]], counts: Sequence[int]) -> list[list[Repeat]]:
    """Repetitions of groups of columns, by instance."""
    ends = np.cumsum(counts).tolist()
    spans = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
    return [
        [Repeat([list(row) for row in zip(*(column[span] for column in group), strict=True)]) for group in groups]
        for span in spans
    ]


def circles_of(needs: Sequence[int]) -> tuple[list[int], list[int]]:
    """All that each number depends on, by way of others too; and what of that depends on it as well.

    Sets of numbers are the bits of whole numbers: ``needs`` has what each depends on by itself.
    """
    reach = list(needs)
    for through in range(len(reach)):
        for i, bits in enumerate(reach):
            if bits >> through & 1:
                reach[i] |= reach[through]
    circles = [
        sum(1 << j for j, other in enumerate(reach) if bits >> j & 1 and other >> i & 1) for i, bits in enumerate(reach)
    ]
    return reach, circles


class _Stages:
    """Which columns of a repetition come before what hands its state on, and which after.

    What an iteration hands to the next has a number; sets of those are the bits of whole numbers.

    Attributes:
        recurrent: what is handed on and depends on itself, and is no sum.
    """

    def __init__(self, edges: set[_Edge], columns: int, is_sum: Callable[[set[int]], bool]) -> None:
        self._edges, self._columns = edges, range(columns)
        self._handed = sorted({edge.source for edge in edges if edge.earlier})
        number = {column: i for i, column in enumerate(self._handed)}
        self._needs = [0] * columns  # what goes into a column
        self._feeds = [1 << number[column] if column in number else 0 for column in self._columns]  # what it goes into
        for edge in sorted(edges, key=lambda edge: edge.user):
            self._needs[edge.user] |= 1 << number[edge.source] if edge.earlier else self._needs[edge.source]
        for edge in sorted(edges, key=lambda edge: -edge.source):
            if not edge.earlier:
                self._feeds[edge.source] |= self._feeds[edge.user]
        reach, circles = circles_of([self._needs[column] for column in self._handed])
        self.recurrent: int = 0
        for circle in dict.fromkeys(circles):
            if circle and not is_sum({column for j, column in enumerate(self._handed) if circle >> j & 1}):
                self.recurrent |= circle
        self._after = sum(1 << i for i, bits in enumerate(reach) if (bits | 1 << i) & self.recurrent)
        self._before = self.recurrent
        for i, bits in enumerate(reach):
            if self.recurrent >> i & 1:
                self._before |= bits
        needed = [bits | 1 << i for i, bits in enumerate(reach)]
        self._upstream = sorted({bits for i, bits in enumerate(needed) if self.recurrent >> i & 1}, key=int.bit_count)
        waits = {bits: _union(needed, bits) & self.recurrent for bits in set(self._needs)}
        self._waits_for = [waits[bits] for bits in self._needs]  # recurrences

    def groups(self, saved: Sequence[float]) -> list[Sequence[int]]:
        """The columns by the loops that they go to."""
        columns = self._columns
        early = {column for column in columns if not self._needs[column] & self._after}
        late = {column for column in columns if column not in early and not self._feeds[column] & self._before}
        users: dict[int, set[int]] = {column: set() for column in columns}
        sources: dict[int, set[int]] = {column: set() for column in columns}
        for edge in self._edges:
            users[edge.source].add(edge.user)
            sources[edge.user].add(edge.source)
        first = _worthwhile(early, saved, sources, lambda part: sum(1 for c in part if not users[c] <= part))
        last = _worthwhile(late, saved, users, lambda part: len(set().union(*(sources[c] for c in part)) - part))
        rest = self._apart(set(columns) - first - last, saved, sources, users)
        return [sorted(part) for part in (first, *rest, last) if part]

    def _apart(
        self, columns: set[int], saved: Sequence[float], sources: dict[int, set[int]], users: dict[int, set[int]]
    ) -> list[set[int]]:
        """Columns of recurrences; between them the functions of what some hand on that others wait for."""

        def traffic(part: set[int]) -> int:
            read = set().union(*(sources[column] for column in part)) - part
            return len(read) + sum(1 for column in part if not users[column] <= part)

        for some in self._upstream:
            before = {column for column in columns if self._feeds[column] & some}
            between = {column for column in columns - before if not self._waits_for[column] & ~some}
            part = _worthwhile(between, saved, {column: sources[column] & between for column in between}, traffic)
            if part:
                return [before, part, *self._apart(columns - before - part, saved, sources, users)]
        return [columns]


def _union(sets: Sequence[int], which: int) -> int:
    """The union of the sets with some numbers."""
    union = 0
    for number, bits in enumerate(sets):
        if which >> number & 1:
            union |= bits
    return union


def _worthwhile(
    columns: set[int],
    saved: Sequence[float],
    following: dict[int, set[int]],
    traffic: Callable[[set[int]], int],
) -> set[int]:
    """The columns that a loop of their own has: functions and what follows them, or all; none if it does not pay."""
    chosen: set[int] = set()
    waiting = [column for column in columns if saved[column] > _SAVED_OTHERWISE]
    while waiting:
        column = waiting.pop()
        if column not in chosen:
            chosen.add(column)
            waiting += following[column]
    part = min((chosen, columns), key=traffic)
    gained = sum(saved[column] for column in part) - _TRAFFIC * traffic(part)
    return part if chosen and gained > _LEAST_GAIN * sum(saved) else set()
