"""Selections by a run-time index, written with leaves that are filled in before the forward pass.

native/compiler/run/graph_code.cpp fills them in, or the C function does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .graph import LEAF, LITERAL, NODE, UnsupportedGraphError

__all__ = ["Lookup", "Lookups"]


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a leaf is to be filled with: one of some leaves or literals, or the index itself.

    Attributes:
        leaf: the leaf.
        slot: which index argument selects.
        kind: LEAF or LITERAL, or NODE if the leaf is the index.
        elements: the leaves or literals; none if the leaf is the index.
    """

    leaf: int
    slot: int
    kind: int
    elements: NDArray[np.int64]


class Lookups:
    """The leaves that stand for selections in one graph.

    A selection among leaves, a row of a table of parameters, becomes a leaf of its own. One among computed numbers
    becomes comparisons of the index with 0, 1, 2, … and a ``where`` for each.

    Attributes:
        limits: of each index argument that selects, among how many it selects at least.
        found: the leaves, in order.
    """

    def __init__(self, most: int | None = None) -> None:
        """
        Args:
            most: among so many computed numbers one is selected at most.
        """
        self._most = most
        self.limits: dict[int, int] = {}
        self.found: list[Lookup] = []
        self._known: dict[tuple[int, int, bytes], int] = {}
        self._first, self._literals, self._positions = 0, np.zeros(0), 0

    def begin(self, leaves: int, literals: NDArray[np.float64]) -> None:
        """The graph has so many leaves of its own, and these literals."""
        self._first, self._literals = leaves, literals

    def length(self, kinds: Sequence[int]) -> int:
        """How many nodes a selection among operands of these kinds becomes.

        Raises:
            UnsupportedGraphError: it is one among too many computed numbers.
        """
        if _alike(kinds):
            return 1
        if self._most is not None and len(kinds) > self._most:
            raise UnsupportedGraphError("a run-time index among many computed numbers")
        return 2 * len(kinds) - 2

    def selected(self, slot: int, kinds: Sequence[int], indices: Sequence[int]) -> list[tuple[str, list[Operand]]]:
        """The nodes of a selection. An operand that is negative is a node so many before the one that reads it.

        Args:
            slot: which index argument selects.
            kinds: of the operands among which it selects.
            indices: which leaves, literals or nodes they are.
        """
        self.limits[slot] = min(self.limits.get(slot, len(kinds)), len(kinds))
        operands = list(zip(kinds, indices, strict=True))
        if len(operands) == 1:
            return [("identity", operands)]
        if _alike(kinds):
            return [("identity", [(LEAF, self._leaf(slot, kinds[0], indices))])]
        index = LEAF, self._leaf(slot, NODE, ())
        nodes: list[tuple[str, list[Operand]]] = []
        best = operands[0]
        for position, operand in enumerate(operands[1:], 1):
            nodes.append(("equal", [index, self._position(position)]))
            nodes.append(("where", [(NODE, -1), operand, best]))
            best = NODE, -2
        return nodes

    def _leaf(self, slot: int, kind: int, elements: Sequence[int]) -> int:
        numbers = np.array(elements, np.int64)
        key = slot, kind, numbers.tobytes()
        if key not in self._known:
            self._known[key] = self._first + len(self.found)
            self.found.append(Lookup(self._known[key], slot, kind, numbers))
        return self._known[key]

    def _position(self, position: int) -> Operand:
        """The literal with which the index is compared."""
        self._positions = max(self._positions, position + 1)
        return LITERAL, len(self._literals) + position

    def literals(self) -> NDArray[np.float64]:
        """The graph's literals and those that it got: 0.0, 1.0, 2.0 and so on."""
        return np.concatenate([self._literals, np.arange(self._positions, dtype=np.float64)])

    def packed(self) -> NDArray[np.uint64]:
        """The leaves, as ``SpecializationCache.install_graph`` takes them: leaf, slot, kind, and a list, of each.

        The list has its length, then leaves, or the bits of numbers.
        """
        bits = self._literals.view(np.uint64)
        parts: list[NDArray[np.uint64]] = []
        for each in self.found:
            elements = bits[each.elements] if each.kind == LITERAL else each.elements.astype(np.uint64)
            parts += [np.array([each.leaf, each.slot, each.kind, len(elements)], np.uint64), elements]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint64)

    def wanted(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which leaves want a gradient: those of the graph, and those that stand for one that does."""
        more = [each.kind == LEAF and bool(wanted[each.elements].any()) for each in self.found]
        return np.concatenate([wanted, np.array(more, bool)])


Operand = tuple[int, int]


def _alike(kinds: Sequence[int]) -> bool:
    """Whether a leaf can stand for the selection: it is one of leaves, or of literals; or of one operand."""
    return len(kinds) == 1 or (len(set(kinds)) == 1 and kinds[0] in (LEAF, LITERAL))
