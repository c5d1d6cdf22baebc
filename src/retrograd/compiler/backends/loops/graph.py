"""The scalar graph of a program, in arrays: nodes in order of creation, each of at most three operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..llvm.kernel_calls import ROWS

__all__ = ["LEAF", "LITERAL", "MOST_STRAIGHT", "NODE", "NONE", "ScalarGraph", "UnsupportedGraphError", "read_graph"]

#: Kinds of operands. The first three are those of native/compiler/graph/graph.hpp: Id.
LEAF, LITERAL, NODE, NONE = 0, 1, 2, 3

#: So many nodes of straight-line code and of loops' bodies are written at most.
MOST_STRAIGHT = 12_000

_WIDTH = 3  # operands of a node at most
_INDEX = (1 << 30) - 1


class UnsupportedGraphError(Exception):
    """The graph has something that this backend does not write; the interpreter goes on."""


@dataclass(frozen=True, slots=True)
class ScalarGraph:
    """A graph whose sums, dot products and folds are written out as operators of two operands.

    Attributes:
        names: the rows that occur.
        rows: of each node, which of them.
        kinds: the kinds of its operands, three for each node.
        indices: which leaf, literal or node each operand is.
        wanted: of each leaf, whether its gradient is wanted.
        literals: their numbers.
        roots: (kind, index) of the result and of what guards compare.
        sources: the number of each node's line in the user's program; 0 if unknown.
        results: which roots are several results.
    """

    names: list[str]
    rows: NDArray[np.int32]
    kinds: NDArray[np.int8]
    indices: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    literals: NDArray[np.float64]
    roots: list[tuple[int, int]]
    sources: NDArray[np.int64]
    results: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def without_sum(self) -> ScalarGraph:
        """The graph of several results without the first root, their sum or a constant: its first root is the first."""
        left = [index for kind, index in self.roots[1:] if kind == NODE]
        end = max(left, default=-1) + 1
        roots = [self.roots[1], *self.roots[1:]]
        rows, kinds, indices = self.rows[:end], self.kinds[:end], self.indices[:end]
        return replace(self, rows=rows, kinds=kinds, indices=indices, sources=self.sources[:end], roots=roots)


def read_graph(exported: Mapping[str, Any], balanced: bool = True) -> ScalarGraph:
    """The graph that the native side exported (``SpecializationCache.scalar_graph``).

    Args:
        exported: what it exported.
        balanced: sums become balanced trees; else chains, as loops that add up are.

    Raises:
        UnsupportedGraphError: it has an operator that takes a run-time index, or shares ties among more than two.
    """
    rows = np.frombuffer(exported["rows"], np.uint16).astype(np.int32)
    first = np.frombuffer(exported["first"], np.uint32).astype(np.int64)
    operands = np.frombuffer(exported["operands"], np.uint32)
    roots = np.frombuffer(exported["roots"], np.uint32)
    counts = np.diff(first)
    lengths = _lengths(rows, counts)
    ends = np.cumsum(lengths)
    result = ends - 1  # the node that has the value of an old one
    kinds, indices = (operands >> 30).astype(np.int8), (operands & _INDEX).astype(np.int64)
    indices = np.where(kinds == NODE, result[np.minimum(indices, len(result) - 1)], indices)
    writer = _Writer(int(ends[-1]) if len(ends) else 0, balanced)
    simple = np.flatnonzero([ROWS[row] not in _FOLDS for row in range(len(ROWS))])
    plain = np.isin(rows, simple)
    writer.copy(result[plain], rows[plain], first[:-1][plain], counts[plain], kinds, indices)
    for node in map(int, np.flatnonzero(~plain)):
        span = slice(first[node], first[node + 1])
        writer.fold(
            int(ends[node] - lengths[node]), ROWS[rows[node]], list(zip(kinds[span], indices[span], strict=True))
        )
    return ScalarGraph(
        list(ROWS),
        writer.rows,
        writer.kinds,
        writer.indices,
        np.frombuffer(exported["wanted"], np.uint8).astype(bool),
        np.frombuffer(exported["literals"], np.float64),
        [
            (int(root >> 30), int(result[root & _INDEX]) if root >> 30 == NODE else int(root & _INDEX))
            for root in roots.tolist()
        ],
        np.repeat(np.frombuffer(exported["source"], np.uint32).astype(np.int64), lengths),
        tuple(np.frombuffer(exported.get("results", b""), np.uint32).tolist()),
    )


#: Rows of any number of operands, and the operator of two that folds them.
_FOLDS = {
    "sum": "add",
    "dot": "add",
    "max": "max",
    "min": "min",
    "first_max": "first_max",
    "first_min": "first_min",
    "largest": "maximum",
}
_ROW_OF = {name: number for number, name in enumerate(ROWS) if name}


def _lengths(rows: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many nodes each node becomes."""
    lengths = np.ones(len(rows), np.int64)
    for name in _FOLDS:
        of = rows == _ROW_OF[name]
        n = counts[of]
        if name in ("max", "min") and np.any(n > 2):
            raise UnsupportedGraphError(f"{name} of more than two operands")
        lengths[of] = np.maximum(n - 1, 1)
    lengths[rows == _ROW_OF["largest"]] += 1
    dots = rows == _ROW_OF["dot"]
    lengths[dots] = np.maximum(counts[dots] - 1, 2)
    if np.any(lengths < 1) or np.any(rows == _ROW_OF["select"]):
        raise UnsupportedGraphError("a run-time index")
    return lengths


class _Writer:
    def __init__(self, size: int, balanced: bool) -> None:
        self._balanced = balanced
        self.rows = np.zeros(size, np.int32)
        self.kinds = np.full((size, _WIDTH), NONE, np.int8)
        self.indices = np.zeros((size, _WIDTH), np.int64)

    def copy(self, to: Any, rows: Any, first: Any, counts: Any, kinds: Any, indices: Any) -> None:
        """Nodes that stay as they are."""
        if np.any(counts > _WIDTH):
            raise UnsupportedGraphError("an operator of many operands")
        self.rows[to] = rows
        for slot in range(_WIDTH):
            has = counts > slot
            self.kinds[to[has], slot] = kinds[first[has] + slot]
            self.indices[to[has], slot] = indices[first[has] + slot]

    def _node(self, at: int, name: str, operands: list[Any]) -> tuple[int, int]:
        self.rows[at] = _ROW_OF[name]
        for slot, (kind, index) in enumerate(operands):
            self.kinds[at, slot], self.indices[at, slot] = kind, index
        return NODE, at

    def fold(self, at: int, name: str, operands: list[Any]) -> None:
        """A fold; as a balanced tree, its sums depend on each other as little as can be."""
        step = _FOLDS[name]
        if name == "dot":
            half = len(operands) // 2
            pairs = zip(operands[:half], operands[half:], strict=True)
            operands = [self._node(at + i, "mul", list(pair)) for i, pair in enumerate(pairs)]
            at += half
            if half == 1:
                self._node(at, "sum", operands)
        elif len(operands) == 1:
            operands = [self._node(at, "sum" if name == "sum" else "identity", operands)]
            at += 1
        ordered = not self._balanced or step.startswith("first")  # the first of equals wins: from left to right
        while len(operands) > 1:
            pair, rest = operands[:2], operands[2:]
            last = not rest and step == "add"  # a sum begins with 0.0, which makes 0.0 of -0.0
            node = self._node(at, "sum" if last else step, pair)
            operands = [node, *rest] if ordered else [*rest, node]
            at += 1
        if name == "largest":
            self._node(at, "largest", operands)
