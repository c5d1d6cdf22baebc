"""Gives chains of sums one form, in which all terms are added alike.

``s = b; s += x0 * y0; s += x1 * y1; …`` begins with a node for ``b``, and Python's ``sum`` with one for 0. Both end
with a node that has the value of the last sum: what reads it later reads no node of the loop then, whose sums need not
be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...llvm.kernel_calls import ROWS
from .graph import LEAF, LITERAL, NODE, NONE, ScalarGraph

__all__ = ["with_whole_chains"]

_ADD, _SUB, _IDENTITY = (ROWS.index(name) for name in ("add", "sub", "identity"))

#: A chain has so many sums at least.
_LEAST = 5

_BASE = np.uint64(0x9E3779B97F4A7C15)

_Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Chains:
    """The first, the second, and the last sum of each chain."""

    first: _Indices
    second: _Indices
    last: _Indices

    def of(self, which: _Indices) -> _Chains:
        return _Chains(self.first[which], self.second[which], self.last[which])


def with_whole_chains(graph: ScalarGraph, in_trees: NDArray[np.bool_]) -> ScalarGraph:
    """The same graph with such nodes; sums ``in_trees`` are in no chain."""
    graph = _with_terms_last(graph)
    chains = _find_chains(graph, in_trees)
    of = np.flatnonzero((graph.kinds[chains.first, 0] != NODE) & _first_is_like_second(graph, chains))
    begun = chains.of(of[::-1])  # one that adds up others begins before the first of those
    before = 2 * begun.first - begun.second + 1  # the nodes of the first term
    to, ends, begins = _renumbered(len(graph), chains.last + 1, before)

    total = len(graph) + len(ends) + len(begins)
    rows, sources = _moved(graph.rows, to, total, _IDENTITY), _moved(graph.sources, to, total, 0)
    kinds, indices = _moved(graph.kinds, to, total, NONE), _moved(graph.indices, to, total, 0)
    read = to.copy()  # where what a node has been is read now
    read[chains.last] = ends
    indices[kinds == NODE] = read[indices[kinds == NODE]]
    sources[ends], sources[begins] = graph.sources[chains.last], graph.sources[begun.first]
    kinds[ends, 0], indices[ends, 0] = NODE, to[chains.last]
    kinds[begins, 0], indices[begins, 0] = graph.kinds[begun.first, 0], graph.indices[begun.first, 0]
    kinds[to[begun.first], 0], indices[to[begun.first], 0] = NODE, begins
    roots = [(kind, int(read[index]) if kind == NODE else index) for kind, index in graph.roots]
    return replace(graph, rows=rows, kinds=kinds, indices=indices, roots=roots, sources=sources)


def _with_terms_last(graph: ScalarGraph) -> ScalarGraph:
    """The graph with ``0 + x`` in place of ``x + 0``, unless that goes on with a sum."""
    kinds, indices = graph.kinds.copy(), graph.indices.copy()
    first = (graph.rows == _ADD) & (kinds[:, 0] == NODE) & ((kinds[:, 1] == LEAF) | (kinds[:, 1] == LITERAL))
    term = graph.rows[np.where(first, indices[:, 0], 0)]
    first &= (term != _ADD) & (term != _SUB)
    for operands in (kinds, indices):
        operands[first, :2] = operands[first, 1::-1]
    return replace(graph, kinds=kinds, indices=indices)


def _find_chains(graph: ScalarGraph, in_trees: NDArray[np.bool_]) -> _Chains:
    n = len(graph)
    sums = ((graph.rows == _ADD) | (graph.rows == _SUB)) & ~in_trees
    used = [graph.indices[graph.kinds[:, slot] == NODE, slot] for slot in range(graph.kinds.shape[1])]
    used.append(np.array([index for kind, index in graph.roots if kind == NODE], np.int64))
    uses = np.bincount(np.concatenate(used), minlength=n)
    goes_on = sums & (graph.kinds[:, 0] == NODE) & (graph.kinds[:, 1] == NODE)
    before = np.where(goes_on, graph.indices[:, 0], 0)
    goes_on &= sums[before] & (uses[before] == 1)
    following = np.arange(n)
    following[before[goes_on]] = np.flatnonzero(goes_on)
    is_first = sums & ~goes_on & (graph.kinds[:, 1] == NODE)
    last, steps = following, (following != np.arange(n)).astype(np.int64)  # from each node to the last of its chain
    while np.any(last[last] != last):
        last, steps = last[last], steps + steps[last]
    first = np.flatnonzero(is_first & (steps >= _LEAST - 1))
    return _Chains(first, following[first], last[first])


def _first_is_like_second(graph: ScalarGraph, chains: _Chains) -> NDArray[np.bool_]:
    """Whether the nodes from the begin of a chain to its first sum are like those from the first to the second."""
    shape = graph.rows.astype(np.uint64)
    for slot in range(graph.kinds.shape[1]):
        shape = shape * np.uint64(4) + graph.kinds[:, slot].astype(np.uint64)
    power = np.cumprod(np.full(len(graph) + 1, _BASE))
    hashed = np.concatenate([[np.uint64(0)], np.cumsum(shape * power[:-1])])  # equal stretches: equal differences
    period = chains.second - chains.first
    begin = np.maximum(chains.first - period + 1, 0)
    early, late = hashed[chains.first] - hashed[begin], hashed[chains.second] - hashed[chains.first + 1]
    return np.asarray((chains.first - period + 1 == begin) & (early * power[period - 1] == late))


def _renumbered(n: int, ends: _Indices, begins: _Indices) -> tuple[_Indices, _Indices, _Indices]:
    """The new numbers of nodes, and those of what comes before some of them: an end, or a begin after it."""
    places = np.concatenate([ends, begins])
    order = np.argsort(places, kind="stable")
    new = np.empty(len(places), np.int64)
    new[order] = places[order] + np.arange(len(places))
    to = np.arange(n) + np.cumsum(np.bincount(places, minlength=n + 1))[:n]
    return to, new[: len(ends)], new[len(ends) :]


def _moved(numbers: NDArray[Any], to: _Indices, total: int, otherwise: int) -> NDArray[Any]:
    """Numbers of nodes, by their new numbers; those of others are ``otherwise``."""
    moved = np.full((total, *numbers.shape[1:]), otherwise, numbers.dtype)
    moved[to] = numbers
    return moved
