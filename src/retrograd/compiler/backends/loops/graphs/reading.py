"""Reads the graphs that the native side exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...llvm.kernel_calls import ROWS
from .chains import with_whole_chains
from .graph import NODE, NONE, ScalarGraph, UnsupportedGraphError
from .lookups import Lookups

__all__ = ["read_graph"]

_WIDTH = 3  # operands of a node at most
_INDEX = (1 << 30) - 1


def read_graph(exported: Mapping[str, Any], balanced: bool = True, lookups: Lookups | None = None) -> ScalarGraph:
    """The graph that the native side exported (``SpecializationCache.scalar_graph``).

    Args:
        exported: what it exported.
        balanced: sums become balanced trees; else chains, as loops that add up are.
        lookups: gets the leaves that stand for selections by a run-time index; without it, there may be none.

    Raises:
        UnsupportedGraphError: it selects by a run-time index, or shares ties among more than two.
    """
    rows = np.frombuffer(exported["rows"], np.uint16).astype(np.int32)
    first = np.frombuffer(exported["first"], np.uint32).astype(np.int64)
    operands = np.frombuffer(exported["operands"], np.uint32)
    roots = np.frombuffer(exported["roots"], np.uint32)
    counts = np.diff(first)
    kinds, indices = (operands >> 30).astype(np.int8), (operands & _INDEX).astype(np.int64)
    lengths = _lengths(rows, counts)
    for node in map(int, np.flatnonzero(rows == _SELECT)):
        if lookups is None:
            raise UnsupportedGraphError("a run-time index")
        lengths[node] = lookups.length(kinds[first[node] : first[node + 1]].tolist())
    ends = np.cumsum(lengths)
    result = ends - 1  # the node that has the value of an old one
    indices = np.where(kinds == NODE, result[np.minimum(indices, len(result) - 1)], indices)
    writer = _Writer(int(ends[-1]) if len(ends) else 0, balanced)
    wanted, literals = np.frombuffer(exported["wanted"], np.uint8).astype(bool), np.frombuffer(exported["literals"])
    simple = np.flatnonzero([ROWS[row] not in _FOLDS and row != _SELECT for row in range(len(ROWS))])
    plain = np.isin(rows, simple)
    writer.copy(result[plain], rows[plain], first[:-1][plain], counts[plain], kinds, indices)
    if lookups is not None:
        lookups.begin(len(wanted), literals)
        slots = np.frombuffer(exported["extra"], np.uint32)
    for node in map(int, np.flatnonzero(~plain)):
        span = slice(first[node], first[node + 1])
        begin = int(ends[node] - lengths[node])
        if lookups is not None and rows[node] == _SELECT:
            writer.write(begin, lookups.selected(int(slots[node]), kinds[span].tolist(), indices[span].tolist()))
        else:
            writer.fold(begin, ROWS[rows[node]], list(zip(kinds[span], indices[span], strict=True)))
    if lookups is not None:
        wanted, literals = lookups.wanted(wanted), lookups.literals()
    graph = ScalarGraph(
        list(ROWS),
        writer.rows,
        writer.kinds,
        writer.indices,
        wanted,
        literals,
        [
            (int(root >> 30), int(result[root & _INDEX]) if root >> 30 == NODE else int(root & _INDEX))
            for root in roots.tolist()
        ],
        np.repeat(np.frombuffer(exported["source"], np.uint32).astype(np.int64), lengths),
        tuple(np.frombuffer(exported.get("results", b""), np.uint32).tolist()),
    )
    return with_whole_chains(graph, np.repeat(~plain, lengths)) if balanced else graph


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
_SELECT = _ROW_OF["select"]


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

    def write(self, at: int, nodes: Sequence[tuple[str, list[Any]]]) -> None:
        """Nodes one after another, of which negative operands count back."""
        for i, (name, operands) in enumerate(nodes, at):
            self._node(i, name, [(kind, index if index >= 0 else i + index) for kind, index in operands])

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
