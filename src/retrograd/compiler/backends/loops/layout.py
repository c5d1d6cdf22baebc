"""How the operands of each position move: a position is a node of straight-line code, or of a loop's body.

Node ``j`` of iteration ``k`` of a section is node ``begin + period * k + j`` of the graph.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .graph import LEAF, LITERAL, NODE, NONE, ScalarGraph, UnsupportedGraphError
from .periods import Section

__all__ = ["Constant", "Constants", "Far", "Fixed", "Layout", "Leaf", "Near", "Operand", "Position"]


@dataclass(frozen=True, slots=True)
class Constant:
    number: float


@dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """Another number in each iteration."""

    numbers: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """Leaf ``base + stride * k``, or ``table[k]``."""

    base: int
    stride: int
    table: NDArray[np.int64] | None
    wanted: bool


@dataclass(frozen=True, slots=True)
class Near:
    """Position ``j`` of this iteration, or of the one before."""

    j: int
    before: bool


@dataclass(frozen=True, slots=True)
class Fixed:
    """A node before the section, the same in each iteration."""

    node: int


@dataclass(frozen=True, slots=True, eq=False)
class Far:
    """Node ``base + stride * k``, or ``table[k]``: any that comes earlier."""

    base: int
    stride: int
    table: NDArray[np.int64] | None
    nodes: NDArray[np.int64]


Operand = Constant | Constants | Leaf | Near | Fixed | Far


@dataclass(frozen=True, slots=True)
class Position:
    """The place of some nodes in the code: the number of the section, and which of its nodes."""

    section: int
    j: int


class Layout:
    """The sections of a graph with their operands, and which positions depend on what gradients are wanted of."""

    def __init__(self, graph: ScalarGraph, sections: list[Section]) -> None:
        self.graph, self.sections = graph, sections
        self._begins = [section.begin for section in sections]
        self.operands: dict[Position, list[Operand]] = {}
        self.rows: dict[Position, str] = {}
        for s, section in enumerate(sections):
            for j in range(section.period):
                position = Position(s, j)
                self.rows[position] = graph.names[graph.rows[section.begin + j]]
                self.operands[position] = list(self._operands(section, j))
        self.active = self._active()

    def position_of(self, node: int) -> tuple[Position, int]:
        """Where a node is, and in which iteration."""
        s = bisect_right(self._begins, node) - 1
        section = self.sections[s]
        k, j = divmod(node - section.begin, section.period)
        return Position(s, j), k

    def producers(self, position: Position) -> Iterator[Position]:
        """The positions that a position's operands come from."""
        for operand in self.operands[position]:
            match operand:
                case Near(j=j):
                    yield Position(position.section, j)
                    if operand.before:
                        section = self.sections[position.section]
                        yield self.position_of(section.begin + j - section.period)[0]
                case Fixed(node=node):
                    yield self.position_of(node)[0]
                case Far(nodes=nodes):
                    yield from dict.fromkeys(self.position_of(int(node))[0] for node in nodes)

    def _operands(self, section: Section, j: int) -> Iterator[Operand]:
        graph = self.graph
        nodes = section.begin + j + section.period * np.arange(section.count)
        for slot in range(graph.kinds.shape[1]):
            kind = int(graph.kinds[nodes[0], slot])
            if kind == NONE:
                return
            index = graph.indices[nodes, slot]
            if kind == LITERAL:
                numbers = graph.literals[index]
                bits = numbers.view(np.int64)
                yield Constant(float(numbers[0])) if np.all(bits == bits[0]) else Constants(numbers)
            elif kind == LEAF:
                yield Leaf(*_affine(index), bool(np.any(graph.wanted[index])))
            elif kind == NODE:
                yield self._node(section, j, nodes, index)

    @staticmethod
    def _node(section: Section, j: int, nodes: NDArray[np.int64], index: NDArray[np.int64]) -> Operand:
        if np.any(index >= nodes):
            raise UnsupportedGraphError("an operand that comes later")
        lag = int(nodes[0] - index[0])
        if section.count == 1:
            return Near(j - lag, False) if lag <= j else Fixed(int(index[0]))
        if np.all(nodes - index == lag) and lag <= j + section.period and index[0] >= section.begin - section.period:
            return Near((j - lag) % section.period, lag > j)
        if np.all(index == index[0]) and index[0] < section.begin:
            return Fixed(int(index[0]))
        return Far(*_affine(index), index)

    def _active(self) -> dict[Position, bool]:
        active = dict.fromkeys(self.rows, False)
        changed = True
        while changed:
            changed = False
            for position, operands in self.operands.items():
                if active[position] or self.rows[position] in ("detach", "largest"):
                    continue
                if any(isinstance(o, Leaf) and o.wanted for o in operands) or any(
                    active[producer] for producer in self.producers(position)
                ):
                    active[position] = changed = True
        return active


def _affine(index: NDArray[np.int64]) -> tuple[int, int, NDArray[np.int64] | None]:
    if len(index) == 1:
        return int(index[0]), 0, None
    stride = int(index[1] - index[0])
    regular = all(b - a == stride for a, b in pairwise(index.tolist()))
    return int(index[0]), stride, None if regular else index
