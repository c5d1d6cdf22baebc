"""Keeps lists in memory whose items change at places that data decide.

Such a list becomes an *array*: cells of memory to which one node *puts* a number, and from which one *gets* it, in
place of the selections that ``accesses`` finds. The last operand of such a node is the access before it, so that
whatever orders nodes by what they read keeps the accesses in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .accesses import Access, Array, Keep, Operand, Restore, Step, Store, accesses_in
from .graph import LITERAL, NODE, NONE, ScalarGraph
from .takes import place_among, without_unused

if TYPE_CHECKING:
    from ..passes.code import Builder, Value

__all__ = ["GET", "PUT", "Place", "is_access", "place_of", "with_arrays"]

#: The operators that access memory. Their operands: a place, what is put there, and the access before.
GET, PUT = "get", "put"


class Place(NamedTuple):
    """A node that computes where in memory an item is. Its operands are the index, and the cell of the first item.

    Attributes:
        first: the index of the first item.
        length: how many items there are.
        otherwise: how far behind the first cell the place is where the index is that of none.
    """

    first: int
    length: int
    otherwise: int

    @property
    def row(self) -> str:
        """The operator of the graph, by its name."""
        return " ".join(["place", *map(str, self)])

    def value(self, t: Builder, index: Value, start: Value) -> Value:
        """The number of the cell."""
        return t.add(start, place_among(t, index, *self))


@cache
def place_of(row: str) -> Place | None:
    """The place that a row of the graph computes, if it does."""
    match row.split():
        case ["place", *numbers]:
            return Place(*map(int, numbers))
    return None


def is_access(row: str) -> bool:
    """Whether a row of the graph gets something from memory, or puts it there."""
    return row in (GET, PUT)


def with_arrays(graph: ScalarGraph) -> ScalarGraph:
    """The graph with accesses to memory in place of selections; itself, if there are none that are worth it."""
    accesses = accesses_in(graph)
    return _Writer(graph, accesses).written() if accesses else graph


class _Writer:
    """Writes the nodes that access memory."""

    def __init__(self, graph: ScalarGraph, accesses: Sequence[Step]) -> None:
        self._graph, self._accesses = graph, accesses
        self._made: list[tuple[int, str, list[Operand]]] = []  # before which node, and what
        self._literals: dict[float, int] = {}
        self._first: dict[Array, int] = {}  # the cell of the item with the least index,
        self._least: dict[Array, int] = {}  # and that index
        self._none: dict[Array, int] = {}  # a cell for what is written to no item
        self._before: dict[Array, Operand] = {}  # the access that the next one comes after
        self._places: dict[Step, Operand] = {}  # of writes
        self._kept: dict[Step, Operand] = {}  # what was there before a write, or later
        self._replaced: dict[int, int] = {}
        self._cells = graph.cells
        for array in dict.fromkeys(each.array for each in accesses):
            least, greatest = min(array.items), max(array.items)
            self._first[array], self._least[array] = self._cells, least
            self._none[array] = self._cells + greatest - least + 1
            self._cells = self._none[array] + 1

    def written(self) -> ScalarGraph:
        """The graph with them."""
        read = self._items_read()
        for access in self._accesses:
            match access:
                case Store(array=array, number=number, item=item):
                    self._write(access, self._cell(array, number), item)
                case Keep(of=write):
                    self._kept[access] = self._get(access, self._places[write])
                case Restore():
                    self._restore(access)
                case Access():
                    self._access(access, read)
        return self._assembled()

    def _items_read(self) -> set[int]:
        """The nodes that have items after a list has been written to, and that others read by themselves."""
        graph = self._graph
        accesses = [each for each in self._accesses if isinstance(each, Access)]
        others = graph.kinds == NODE
        others[[node for each in accesses for node in each.nodes.values()]] = False
        read = set(graph.indices[others].tolist())
        read.update(index for kind, index in graph.roots if kind == NODE)
        for access in self._accesses:
            match access:
                case Store(item=item):
                    operands: tuple[Operand | None, ...] = (item,)
                case Restore(test=test):
                    operands = () if test is None else ((NODE, test),)
                case Access(index=index, new=new):
                    operands = index, new
                case Keep():
                    operands = ()
            read.update(operand[1] for operand in operands if operand is not None and operand[0] == NODE)
        return read

    def _access(self, access: Access, read: set[int]) -> None:
        array = access.array
        if access.index is not None:
            least = min(access.items)
            none = self._none[array] - self._cell_number(array, least)
            otherwise = access.otherwise - least if access.new is None else none
            row = Place(least, max(access.items) - least + 1, otherwise).row
            place = self._node(access, row, [access.index, self._cell(array, least)])
            if access.new is None:
                self._replaced[access.at] = self._get(access, place)[1]
                return
            self._write(access, place, access.new)
        for number, node in sorted(access.nodes.items()):
            if node in read:
                self._replaced[node] = self._get(access, self._cell(array, number))[1]

    def _restore(self, restore: Restore) -> None:
        place = self._places[restore.of]
        if restore.test is not None:
            places = [place, self._literal(float(self._none[restore.array]))]
            place = self._node(restore, "where", [(NODE, restore.test), *places[:: 1 if restore.outcome else -1]])
        self._put(restore, place, self._kept[restore.kept or restore.of])

    def _write(self, write: Access | Store, place: Operand, new: Operand) -> None:
        self._places[write] = place
        if write.saves:
            self._kept[write] = self._get(write, place)
        self._put(write, place, new)

    def _cell_number(self, array: Array, number: int) -> int:
        return self._first[array] + number - self._least[array]

    def _cell(self, array: Array, number: int) -> Operand:
        return self._literal(float(self._cell_number(array, number)))

    def _put(self, access: Step, place: Operand, new: Operand) -> None:
        before = self._before.get(access.array, self._literal(0.0))
        self._before[access.array] = self._node(access, PUT, [place, new, before])

    def _get(self, access: Step, place: Operand) -> Operand:
        found = self._node(access, GET, [place, self._before[access.array]])
        if access.array.is_written:  # what is put there later must not come before
            self._before[access.array] = found
        return found

    def _node(self, access: Step, row: str, operands: list[Operand]) -> Operand:
        self._made.append((access.at, row, operands))
        return NODE, len(self._graph) + len(self._made) - 1

    def _literal(self, number: float) -> Operand:
        return LITERAL, self._literals.setdefault(number, len(self._graph.literals) + len(self._literals))

    def _assembled(self) -> ScalarGraph:
        graph, made = self._graph, self._made
        names = [*graph.names, *dict.fromkeys(row for _, row, _ in made if row not in graph.names)]
        rows = {name: number for number, name in enumerate(names)}
        kinds = np.full((len(made), graph.kinds.shape[1]), NONE, np.int8)
        indices = np.zeros(kinds.shape, np.int64)
        for node, (_, _, operands) in enumerate(made):
            for slot, (kind, index) in enumerate(operands):
                kinds[node, slot], indices[node, slot] = kind, index
        before = np.array([at for at, _, _ in made], np.int64)
        order = np.argsort(np.concatenate([2 * np.arange(len(graph)) + 1, 2 * before]), kind="stable")
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        instead = number.copy()
        instead[[*self._replaced]] = number[[*self._replaced.values()]]
        kinds = np.concatenate([graph.kinds, kinds])[order]
        indices = np.concatenate([graph.indices, indices])[order]
        changed = replace(
            graph,
            names=names,
            rows=np.concatenate([graph.rows, np.array([rows[row] for _, row, _ in made], np.int32)])[order],
            kinds=kinds,
            indices=np.where(kinds == NODE, instead[np.where(kinds == NODE, indices, 0)], indices),
            sources=np.concatenate([graph.sources, graph.sources[before]])[order],
            literals=np.concatenate([graph.literals, [*self._literals]]),
            roots=[(kind, int(instead[index]) if kind == NODE else index) for kind, index in graph.roots],
            cells=self._cells,
        )
        return without_unused(changed)
