"""Takes loops of few iterations, now more and now fewer, out of the loop that they are in (loop coalescing).

After Polychronopoulos (ICPP 1987). Some bonds pay at another number of times each: vectors hold as many iterations as
they have elements, and those left over run one by one. What needs nothing of the outer loop's iteration goes to one
loop before it, over the iterations of all inner loops.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..graphs.graph import LEAF, NODE, ScalarGraph
from .structure import Indices, Repeat, nodes_of

__all__ = ["coalesced"]

#: So many iterations there are in all at least, and of each loop at most on average: of more, few are left over.
_LEAST_ITERATIONS, _MOST_ON_AVERAGE = 64, 128

#: In nanoseconds, what it costs an iteration that a number goes through memory, and its adjoint; and what it saves for
#: each that it saves where all iterations of the loops run at once, of which LLVM's vectors leave some over.
_TRAFFIC, _SHARE = 2.5, 0.5

Item = int | Repeat


def coalesced(graph: ScalarGraph, outer: Repeat, saved: NDArray[np.float64], least: float) -> list[Repeat]:
    """A loop, and those that go before it.

    Args:
        graph: the graph.
        outer: the loop.
        saved: what it saves to run each node at once with those of other iterations, in nanoseconds.
        least: a node that saves more is a function.
    """
    before: list[Repeat] = []
    columns = [list(column) for column in zip(*outer.iterations, strict=True)]
    for place, column in enumerate(columns):
        loops = [item for item in column if isinstance(item, Repeat) and item.iterations]
        if len(loops) == len(column) and _are_uneven(loops):
            found = _Rows(graph, outer, loops).part(saved, least)
            if found is not None:
                alone, columns[place] = found
                before.append(alone)
    if not before:
        return [outer]
    left = [
        [item for item in row if not isinstance(item, Repeat) or item.iterations] for row in zip(*columns, strict=True)
    ]
    return [*before, Repeat(left)] if any(left) else before


def _are_uneven(loops: Sequence[Repeat]) -> bool:
    counts = {len(loop.iterations) for loop in loops}
    total = sum(len(loop.iterations) for loop in loops)
    return len(counts) > 1 and _LEAST_ITERATIONS <= total <= _MOST_ON_AVERAGE * len(loops)


class _Rows:
    """The iterations of all loops at one place of an outer one; of each of their nodes, a row of them."""

    def __init__(self, graph: ScalarGraph, outer: Repeat, loops: Sequence[Repeat]) -> None:
        self._graph, self._loops = graph, loops
        self._iterations = [iteration for loop in loops for iteration in loop.iterations]
        self._rows: dict[int, Indices] = {}  # by the place in an iteration
        for place, first in enumerate(self._iterations[0]):
            if isinstance(first, int):
                self._rows[place] = np.array([iteration[place] for iteration in self._iterations], np.int64)
        self._places = {int(row[0]): place for place, row in self._rows.items()}
        inside = nodes_of([outer])
        self._is_inside = np.zeros(len(graph), bool)
        self._is_inside[inside] = True

    def part(self, saved: NDArray[np.float64], least: float) -> tuple[Repeat, list[Item]] | None:
        """What goes to a loop of its own, and what is left of each loop; None if that does not pay."""
        chosen = self._free()
        if not chosen:
            return None
        gained = sum(float(saved[self._rows[place][0]]) for place in chosen)
        is_function = any(saved[self._rows[place][0]] > least for place in chosen)
        if not is_function or _SHARE * gained < _TRAFFIC * self._handed_on(chosen):
            return None
        alone = Repeat([[iteration[place] for place in sorted(chosen)] for iteration in self._iterations])
        left = [
            Repeat([rest for i in loop.iterations if (rest := [one for k, one in enumerate(i) if k not in chosen])])
            for loop in self._loops
        ]
        return alone, [*left]

    def _free(self) -> set[int]:
        """The places whose nodes need nothing of the outer iteration, nor of other iterations."""
        chosen: set[int] = set()
        for place in self._rows:  # which comes after those that it reads
            if self._is_free(place, chosen):
                chosen.add(place)
        return chosen

    def _is_free(self, place: int, chosen: set[int]) -> bool:
        graph, nodes = self._graph, self._rows[place]
        for kind, read in zip(graph.kinds[nodes[0]], graph.indices[nodes].T, strict=True):
            if kind == LEAF:  # several iterations must not add to the same gradient, unless all do
                if np.any(graph.wanted[read]) and len(np.unique(read)) not in (1, len(read)):
                    return False
            elif kind == NODE:
                if np.any(self._is_inside[read]):
                    source = self._places.get(int(read[0]))
                    if source not in chosen or not np.array_equal(read, self._rows[source]):
                        return False
                elif len(np.unique(read)) not in (1, len(read)):
                    return False
        return True

    def _handed_on(self, chosen: set[int]) -> int:
        """How many numbers of an iteration others read."""
        graph = self._graph
        own = {node for place in chosen for node in self._rows[place].tolist()}
        others = np.ones(len(graph), bool)
        others[[*own]] = False
        used = np.zeros(len(graph), bool)
        for slot in range(graph.kinds.shape[1]):
            reading = others & (graph.kinds[:, slot] == NODE)
            used[graph.indices[reading, slot]] = True
        used[[index for kind, index in graph.roots if kind == NODE]] = True
        return sum(bool(np.any(used[self._rows[place]])) for place in chosen)
