"""The scalar graph of a program, in arrays: nodes in order of creation, each of at most three operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAF", "LITERAL", "MOST_STRAIGHT", "NODE", "NONE", "ScalarGraph", "UnsupportedGraphError", "found_once"]

P = ParamSpec("P")
R = TypeVar("R")

#: Kinds of operands. The first three are those of native/compiler/graph/graph.hpp: Id.
LEAF, LITERAL, NODE, NONE = 0, 1, 2, 3

#: So many nodes of straight-line code and of loops' bodies are written at most.
MOST_STRAIGHT = 64_000


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
        pool: the constants of lists from which nodes take an item (``takes.Take``).
        cells: how many numbers are kept in memory for nodes that access it (``arrays``).
        code: about how many nodes of code it takes, if its sums have another order than the user's; else 0.
        found: what has been found out about it (``found_once``).
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
    pool: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    cells: int = 0
    code: int = 0
    found: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def operands(self, node: int) -> list[tuple[int, int]]:
        """The kinds and the indices of a node's operands."""
        pairs = zip(self.kinds[node].tolist(), self.indices[node].tolist(), strict=True)
        return [(kind, index) for kind, index in pairs if kind != NONE]

    def uses(self) -> NDArray[np.int64]:
        """How often each node is read, as a root, too."""
        used = [self.indices[self.kinds[:, slot] == NODE, slot] for slot in range(self.kinds.shape[1])]
        used.append(np.array([index for kind, index in self.roots if kind == NODE], np.int64))
        return np.bincount(np.concatenate(used), minlength=len(self))

    def shapes(self) -> NDArray[np.uint64]:
        """A number for each node, the same for those with the same operator and kinds of operands."""
        shape = self.rows.astype(np.uint64)
        for slot in range(self.kinds.shape[1]):
            shape = shape * np.uint64(4) + self.kinds[:, slot].astype(np.uint64)
        return shape

    def without_sum(self) -> ScalarGraph:
        """The graph of several results without the first root, their sum or a constant: its first root is the first."""
        left = [index for kind, index in self.roots[1:] if kind == NODE]
        end = max(left, default=-1) + 1
        roots = [self.roots[1], *self.roots[1:]]
        rows, kinds, indices = self.rows[:end], self.kinds[:end], self.indices[:end]
        return replace(self, rows=rows, kinds=kinds, indices=indices, sources=self.sources[:end], roots=roots)


def found_once(
    finder: Callable[Concatenate[ScalarGraph, P], R],
) -> Callable[Concatenate[ScalarGraph, P], R]:
    """A function that runs once for each graph and arguments; the graph keeps the result, which no caller may change.

    Args:
        finder: the function. It depends on nothing but the graph, which does not change, and its other arguments.
    """

    @wraps(finder)
    def known(graph: ScalarGraph, /, *args: P.args, **kwargs: P.kwargs) -> R:
        key = (finder, args, *kwargs.items())
        if key not in graph.found:
            graph.found[key] = finder(graph, *args, **kwargs)
        found: R = graph.found[key]
        return found

    return known
