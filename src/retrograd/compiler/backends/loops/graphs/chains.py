"""Gives chains of sums one form, in which all terms are added alike.

``s = b; s += x0 * y0; s += x1 * y1; …`` begins with a node for ``b``, and Python's ``sum`` with one for 0. Both end
with a node that has the value of the last sum: what reads it later reads no node of the loop then, whose sums need not
be kept. Where a loop adds to several chains, all begin before it and end after it, so that its iterations are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...llvm.kernel_calls import ROWS
from .graph import LEAF, LITERAL, NODE, NONE, ScalarGraph

__all__ = ["begins_of_chains", "with_terms_last", "with_whole_chains"]

_ADD, _SUB, _IDENTITY = (ROWS.index(name) for name in ("add", "sub", "identity"))

#: A chain has so many sums at least, and so many at most in an iteration of a loop.
_LEAST, _MOST_IN_TURN = 5, 4

_BASE = np.uint64(0x9E3779B97F4A7C15)

_Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Chains:
    """Chains of sums, and the iterations of the loop that each of them is made in.

    Attributes:
        first: the first sum of each.
        turn: the last sum of its first iteration.
        period: how many nodes an iteration has.
        last: the last sum of each.
        iterations: how many iterations there are.
        of: the last sum of the chain that each node is in, or -1.
        by_last: the chains by their last sums.
    """

    first: _Indices
    turn: _Indices
    period: _Indices
    last: _Indices
    iterations: _Indices
    of: _Indices
    by_last: _Indices


def with_whole_chains(graph: ScalarGraph, in_trees: NDArray[np.bool_]) -> ScalarGraph:
    """The same graph with such nodes; sums ``in_trees`` are in no chain."""
    graph = with_terms_last(graph)
    chains = _find_chains(graph, in_trees)
    begun = np.flatnonzero((graph.kinds[chains.first, 0] != NODE) & _first_is_like_second(graph, chains))
    # One that adds up others begins before the first of those, and that of an outer loop before an inner loop's.
    begun = begun[::-1][np.argsort(-chains.period[begun[::-1]], kind="stable")]
    before, after = _loops(graph, chains)
    to, ends, begins = _renumbered(len(graph), after, before[begun])

    total = len(graph) + len(ends) + len(begins)
    rows, sources = _moved(graph.rows, to, total, _IDENTITY), _moved(graph.sources, to, total, 0)
    kinds, indices = _moved(graph.kinds, to, total, NONE), _moved(graph.indices, to, total, 0)
    read = to.copy()  # where what a node has been is read now
    read[chains.last] = ends
    indices[kinds == NODE] = read[indices[kinds == NODE]]
    first = chains.first[begun]
    sources[ends], sources[begins] = graph.sources[chains.last], graph.sources[first]
    kinds[ends, 0], indices[ends, 0] = NODE, to[chains.last]
    kinds[begins, 0], indices[begins, 0] = graph.kinds[first, 0], graph.indices[first, 0]
    kinds[to[first], 0], indices[to[first], 0] = NODE, begins
    roots = [(kind, int(read[index]) if kind == NODE else index) for kind, index in graph.roots]
    return replace(graph, rows=rows, kinds=kinds, indices=indices, roots=roots, sources=sources)


def begins_of_chains(graph: ScalarGraph) -> NDArray[np.bool_]:
    """Which nodes a chain of sums may begin with: its first sum has it in the place of the sum before."""
    return np.asarray(graph.rows == _IDENTITY)


def with_terms_last(graph: ScalarGraph) -> ScalarGraph:
    """The graph with ``0 + x`` in place of ``x + 0``, unless that goes on with a sum.

    Where ``x`` is a sum, it is a term if the next term is one, too: ``x + 0 + y``.
    """
    kinds, indices, rows = graph.kinds.copy(), graph.indices.copy(), graph.rows
    first = (rows == _ADD) & (kinds[:, 0] == NODE) & ((kinds[:, 1] == LEAF) | (kinds[:, 1] == LITERAL))
    term = rows[np.where(first, indices[:, 0], 0)]
    later = np.flatnonzero(((rows == _ADD) | (rows == _SUB)) & (kinds[:, 0] == NODE) & (kinds[:, 1] == NODE))
    next_term = np.full(len(graph), -1)  # its row
    next_term[indices[later, 0]] = rows[indices[later, 1]]
    first &= ((term != _ADD) & (term != _SUB)) | (term == next_term)
    for operands in (kinds, indices):
        operands[first, :2] = operands[first, 1::-1]
    return replace(graph, kinds=kinds, indices=indices)


def _find_chains(graph: ScalarGraph, in_trees: NDArray[np.bool_]) -> _Chains:
    n = len(graph)
    sums = ((graph.rows == _ADD) | (graph.rows == _SUB)) & ~in_trees
    uses = graph.uses()
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
    turn, period, each = _period(first, following)
    of = np.where(np.isin(last, last[first]) & sums, last, -1)
    return _Chains(first, turn, period, last[first], -(-(steps[first] + 1) // each), of, np.argsort(last[first]))


def _period(first: _Indices, following: _Indices) -> tuple[_Indices, _Indices, _Indices]:
    """The last sum of the first iteration, the nodes of an iteration, and its sums: one, or a few."""
    sums = [first]
    for _ in range(2 * _MOST_IN_TURN):
        sums.append(following[sums[-1]])
    turn, period, each = first, sums[1] - first, np.ones(len(first), np.int64)
    for count in range(_MOST_IN_TURN, 0, -1):
        apart = sums[count] - first
        same = [
            (later - sum_ == apart) | (later == before)  # which has come to the end of its chain
            for sum_, before, later in zip(sums[1:], sums[count:], sums[count + 1 :], strict=False)
        ]
        steady = np.logical_and.reduce(same) & (sums[2 * count] != sums[2 * count - 1])
        turn, period = np.where(steady, sums[count - 1], turn), np.where(steady, apart, period)
        each = np.where(steady, count, each)
    return turn, period, each


def _first_is_like_second(graph: ScalarGraph, chains: _Chains) -> NDArray[np.bool_]:
    """Whether a chain's first sum is in an iteration like that of the second.

    Then the nodes until the first sum are like those from there to the second; or, where the loop adds to others, too,
    whose first sums are not like their second, at least the operators from there on are.
    """
    operators = _Stretches(graph.rows.astype(np.uint64))
    after, period = chains.turn + 1, chains.period
    alike = _Stretches(graph.shapes()).are_equal(after - period, after, period)
    return alike | operators.are_equal(after, after + period, period)


class _Stretches:
    """Compares stretches of numbers."""

    def __init__(self, numbers: NDArray[np.uint64]) -> None:
        self._power = np.cumprod(np.full(len(numbers) + 1, _BASE))
        self._hashed = np.concatenate([[np.uint64(0)], np.cumsum(numbers * self._power[:-1])])

    def are_equal(self, one: _Indices, later: _Indices, length: _Indices) -> NDArray[np.bool_]:
        """Whether stretches are equal, and there are such."""
        n = len(self._power) - 1
        there = (one >= 0) & (later + length <= n)
        one, later, length = (np.where(there, each, 0) for each in (one, later, length))
        first, second = (self._hashed[begin + length] - self._hashed[begin] for begin in (one, later))
        return np.asarray(there & (first * self._power[later - one - 1] == second))


def _loops(graph: ScalarGraph, chains: _Chains) -> tuple[_Indices, _Indices]:
    """The node that the loop of each chain begins with, and the one after its end, or that which reads the chain."""
    begins, ends = chains.turn - chains.period + 1, chains.last + 1
    shape, sums = graph.shapes(), np.concatenate([[0], np.cumsum(chains.of >= 0)])
    several = sums[np.minimum(chains.first + chains.period, len(graph))] > sums[chains.first + 1]
    others = {number: _others(chains, number) for number in np.flatnonzero(several).tolist()}
    for number, (begin_with, add_up) in others.items():
        begins[number] = np.max(chains.first[begin_with], initial=chains.first[number]) - chains.period[number] + 1
        ends[number] = _end_of_loop(chains, shape, number, begin_with, add_up)
    steady = ends - chains.iterations * chains.period
    is_steady = chains.last - chains.turn == (chains.iterations - 1) * chains.period
    is_steady &= (steady >= 0) & (steady <= chains.first)
    begins = np.maximum(np.where(is_steady, steady, begins), 0)
    for number, (_, add_up) in others.items():
        if is_steady[number]:  # where sums end with one more after the loop, this is how their begin is found
            later = add_up[chains.first[add_up] >= begins[number]]
            begins[later] = np.minimum(begins[later], begins[number])
    return begins, np.minimum(ends, _first_readers(graph)[chains.last])


def _others(chains: _Chains, number: int) -> tuple[_Indices, _Indices]:
    """Of the other chains of a chain's loop, those that begin in the same iteration, and all that end later."""
    first, period, last = (int(each[number]) for each in (chains.first, chains.period, chains.last))
    lasts = np.unique(chains.of[first + 1 : first + period])
    of = np.searchsorted(chains.last[chains.by_last], lasts[lasts >= 0])
    found = chains.by_last[of]
    begin_with = found[(chains.first[found] > first) & (chains.period[found] == period)]
    return begin_with, found[chains.last[found] > last]


def _end_of_loop(
    chains: _Chains, shape: NDArray[np.uint64], number: int, begin_with: _Indices, add_up: _Indices
) -> int:
    """The node after a loop that adds to several chains: after the last sum of any of them.

    That is the last one of a chain that began in the same iteration, too; or any, as far as the nodes after the last
    sum of this chain are like those after the sum before.
    """
    last, period = int(chains.last[number]), int(chains.period[number])
    lasts = chains.last[begin_with]
    after = shape[last + 1 : last + 1 + period]
    unlike = np.flatnonzero(after != shape[last + 1 - period :][: len(after)])
    until = last + 1 + int(unlike[0] if len(unlike) else len(after))
    later = last + 1 + np.flatnonzero(np.isin(chains.of[last + 1 : until], chains.last[add_up]))
    found = np.concatenate([lasts[(lasts > last) & (lasts < last + period)], later])
    return int(np.max(found, initial=last)) + 1


def _first_readers(graph: ScalarGraph) -> _Indices:
    """Of each node, the first one that reads it; the number of all nodes, if none does."""
    readers = np.full(len(graph), len(graph))
    for slot in range(graph.kinds.shape[1]):
        of = np.flatnonzero(graph.kinds[:, slot] == NODE)
        np.minimum.at(readers, graph.indices[of, slot], of)
    return readers


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
