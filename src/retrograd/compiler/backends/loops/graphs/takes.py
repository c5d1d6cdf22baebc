"""Finds where an index that data decide takes an item of a list, so that code reads the item alone.

What records a choice compares the index with 1, 2, 3, … and selects, from the list's first item on:
``where(i == 3, c, where(i == 2, b, a))``. Of leaves or constants, such a chain becomes one node, which *takes* an item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...llvm.kernel_calls import ROWS
from .graph import LEAF, LITERAL, NODE, NONE, ScalarGraph, found_once

if TYPE_CHECKING:
    from ..passes.code import Builder, Value

__all__ = ["Take", "place_among", "take_of", "tests_of", "with_takes", "without_unused"]

#: Of fewer items, selections take less time.
_LEAST = 5

_WHERE, _EQUAL = ROWS.index("where"), ROWS.index("equal")


class Take(NamedTuple):
    """What such a node does. Its operands are the index, and the place of the list's first item as a literal.

    Attributes:
        array: the array that has the items, L or T: leaves, or the graph's pool of constants.
        wanted: whether gradients of the leaves are.
        length: how many items there are.
        step: how far apart they are.
        first: the index of the first item.
        otherwise: which item is taken where the index is that of none.
    """

    array: str
    wanted: bool
    length: int
    step: int
    first: int
    otherwise: int

    @property
    def row(self) -> str:
        """The operator of the graph, by its name."""
        return " ".join(["take", self.array, *(str(int(number)) for number in self[1:])])

    def place(self, t: Builder, index: Value, start: Value) -> Value:
        """Where in the array the item is."""
        number = place_among(t, index, self.first, self.length, self.otherwise)
        return t.add(start, t.mul(number, float(self.step)))


def place_among(t: Builder, index: Value, first: int, length: int, otherwise: int) -> Value:
    """The place of an item in a list whose first item has the index ``first``; ``otherwise`` where it is in none."""
    inside = t.both(t.compare("oge", index, float(first)), t.compare("ole", index, float(first + length - 1)))
    whole = t.both(inside, t.compare("oeq", index, t.call("llvm.floor", index)))
    return t.select(whole, t.sub(index, float(first)), float(otherwise))


@cache
def take_of(row: str) -> Take | None:
    """What a row of the graph takes, if it does."""
    match row.split():
        case ["take", array, *numbers]:
            wanted, *others = map(int, numbers)
            return Take(array, bool(wanted), *others)
    return None


@dataclass(frozen=True, slots=True)
class _Chain:
    """Selections by one index: the last node, the first item, and the others by the numbers that the index is then.

    Items are leaves or literals, of one kind.
    """

    node: int
    index: tuple[int, int]
    kind: int
    otherwise: int
    items: dict[int, int]

    def in_order(self) -> Iterator[tuple[int, int, list[int]]]:
        """The least number of an item, which item is taken otherwise, and all items, if there is one for each number.

        The index is compared with all numbers but one: that is the item otherwise. It may be the first, or the last.
        """
        least, greatest = min(self.items), max(self.items)
        if greatest - least > len(self.items):
            return
        missing = [number for number in range(least, greatest) if number not in self.items]  # one at most
        for other in missing or (least - 1, greatest + 1):
            first = min(least, other)
            numbers = range(first, max(greatest, other) + 1)
            yield first, other - first, [self.items.get(number, self.otherwise) for number in numbers]


def with_takes(graph: ScalarGraph) -> ScalarGraph:
    """The graph with nodes that take items in place of the chains of selections that do."""
    rows, literals, pool = dict[str, int](), list[float](), _Pool()
    changed = replace(graph, rows=graph.rows.copy(), kinds=graph.kinds.copy(), indices=graph.indices.copy())
    for chain in _chains(graph):
        if (described := _described(graph, chain, pool)) is None:
            continue
        place, take = described
        changed.rows[chain.node] = rows.setdefault(take.row, len(graph.names) + len(rows))
        changed.kinds[chain.node] = [chain.index[0], LITERAL, NONE]
        changed.indices[chain.node] = [chain.index[1], len(graph.literals) + len(literals), 0]
        literals.append(float(place))
    if not literals:
        return graph
    numbers = np.concatenate([graph.literals, literals])
    return without_unused(replace(changed, names=[*graph.names, *rows], literals=numbers, pool=np.array(pool.numbers)))


class _Pool:
    """Constants, list after list, each list once."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self._known: dict[bytes, int] = {}

    def place(self, numbers: NDArray[np.float64]) -> int:
        """Where a list begins."""
        key = numbers.tobytes()
        if key not in self._known:
            self._known[key] = len(self.numbers)
            self.numbers += numbers.tolist()
        return self._known[key]


def _described(graph: ScalarGraph, chain: _Chain, pool: _Pool) -> tuple[int, Take] | None:
    """Where the first item of a chain is, and what takes one; constants go to the pool."""
    for first, otherwise, items in chain.in_order():
        if chain.kind == LITERAL:
            return pool.place(graph.literals[items]), Take("T", False, len(items), 1, first, otherwise)
        steps, wanted = np.diff(items), graph.wanted[items]
        if np.all(steps == steps[0]) and np.all(wanted == wanted[0]):
            return items[0], Take("L", bool(wanted[0]), len(items), int(steps[0]), first, otherwise)
    return None


class _Link(NamedTuple):
    """A selection: by which index, of which kind its items are, which item it is for a number, and what otherwise."""

    by: tuple[int, int]
    kind: int
    number: int
    item: int
    otherwise: int
    is_innermost: bool  #: whether otherwise it is an item, and no other selection


def _chains(graph: ScalarGraph) -> Iterator[_Chain]:
    """The chains of selections that are no part of a longer one."""
    tests = tests_of(graph)
    links: dict[int, _Link] = {}
    inner: set[int] = set()
    nodes = np.flatnonzero(graph.rows == _WHERE)
    selections = zip(nodes.tolist(), graph.kinds[nodes].tolist(), graph.indices[nodes].tolist(), strict=True)
    for node, (test_kind, kind, other), (test, item, before) in selections:
        if test_kind != NODE or test not in tests or kind not in (LEAF, LITERAL):
            continue
        index, number = tests[test]
        longer = links.get(before) if other == NODE else None
        if longer is not None and (longer.by, longer.kind) == (index, kind):
            inner.add(before)
        elif other != kind:
            continue
        links[node] = _Link(index, kind, number, item, before, other == kind)
    for node, last in links.items():
        if node not in inner:
            link, items = last, {last.number: last.item}
            while not link.is_innermost:
                link = links[link.otherwise]
                items.setdefault(link.number, link.item)  # what is selected last counts
            if len(items) + 1 >= _LEAST:
                yield _Chain(node, last.by, last.kind, link.otherwise, items)


@found_once
def tests_of(graph: ScalarGraph) -> dict[int, tuple[tuple[int, int], int]]:
    """The nodes that compare something with a whole number: with what, and which."""
    nodes = np.flatnonzero((graph.rows == _EQUAL) & (graph.kinds[:, 1] == LITERAL) & (graph.kinds[:, 0] != LITERAL))
    numbers = graph.literals[graph.indices[nodes, 1]]
    whole = numbers == np.floor(numbers)
    return {
        node: ((int(graph.kinds[node, 0]), int(graph.indices[node, 0])), int(number))
        for node, number in zip(nodes[whole].tolist(), numbers[whole].tolist(), strict=True)
        if abs(number) < 2**31
    }


def without_unused(graph: ScalarGraph) -> ScalarGraph:
    """The graph without the nodes that nothing needs any more."""
    is_node = graph.kinds == NODE
    marks = bytearray(len(graph) + 1)  # the last one is of no node
    for kind, index in graph.roots:
        marks[index if kind == NODE else -1] = 1
    for node, operands in zip(
        range(len(graph) - 1, -1, -1), np.where(is_node, graph.indices, -1)[::-1].tolist(), strict=True
    ):
        if marks[node]:
            for operand in operands:
                marks[operand] = 1
    needed = np.frombuffer(marks, np.bool_, len(graph))
    number = np.cumsum(needed) - 1
    indices = np.where(is_node, number[np.where(is_node, graph.indices, 0)], graph.indices)
    return replace(
        graph,
        rows=graph.rows[needed],
        kinds=graph.kinds[needed],
        indices=indices[needed],
        sources=graph.sources[needed],
        roots=[(kind, int(number[index]) if kind == NODE else index) for kind, index in graph.roots],
    )
