"""Groups the terms of a long sum that are computed alike.

Where records of several kinds come in any order, ``loss += …`` adds terms that repeat nothing one after the other. What
goes into one term alone, or into a few, can be computed in any order, and the terms can be added in any order, as all
sums may be: those of one kind come one after another then, and are a loop each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...llvm.kernel_calls import ROWS
from .chains import with_terms_last
from .graph import NODE, NONE, ScalarGraph, found_once

__all__ = ["with_terms_grouped"]

_ADD, _SUB, _SUM = (ROWS.index(name) for name in ("add", "sub", "sum"))

#: A sum has so many terms at least, and each group so many on average.
_LEAST_TERMS, _LEAST_IN_GROUP = 8, 2.0

#: So many sums are looked at, the longest ones; of large graphs fewer, so that so many nodes are looked at in all.
_MOST_CHAINS, _MOST_LOOKS = 8, 100_000

#: What goes into more terms than these is computed before all of them.
_MOST_TERMS_OF_ONE = 4

#: The terms that a node goes into: none; more than a few; or those of a set, by its number.
_NONE, _ALL = 0, 1


def with_terms_grouped(graph: ScalarGraph) -> ScalarGraph:
    """The same graph with such terms side by side; the graph itself, where that changes nothing."""
    found, size = with_terms_last(graph), len(graph)
    chains = _chains(found)
    for longest in range(min(len(chains), _MOST_CHAINS, _MOST_LOOKS // max(len(graph), 1))):
        chain = _chains(found)[longest]  # the numbers of nodes change
        terms = _Terms(found, chain)
        order, links = terms.order()
        if terms.repeated:
            found, size = _ordered(found, chain, order, links), size - terms.repeated
    return graph if np.array_equal(found.rows, graph.rows) else replace(found, code=size)


def _ordered(graph: ScalarGraph, chain: list[int], order: list[int], links: list[int]) -> ScalarGraph:
    """The graph with its nodes in another order, and so the links of a chain."""
    to = np.empty(len(graph), np.int64)
    to[order] = np.arange(len(graph))
    kinds, indices = graph.kinds[order], graph.indices[order]
    first, added = to[links[0]], to[links[1:]]
    read = to.copy()
    read[chain[-1]] = to[links[-1]]  # who reads the sum
    nodes = kinds == NODE
    indices[nodes] = read[indices[nodes]]
    begin = graph.kinds[chain[0], 0], graph.indices[chain[0], 0]
    kinds[first, 0], indices[first, 0] = begin[0], to[begin[1]] if begin[0] == NODE else begin[1]
    kinds[added, 0], indices[added, 0] = NODE, to[links[:-1]]
    roots = [(kind, int(read[index]) if kind == NODE else index) for kind, index in graph.roots]
    rows, sources = graph.rows[order], graph.sources[order]
    if rows[to[chain[-1]]] == _SUM:  # of which the last one begins with 0.0
        rows[to[chain[-1]]], rows[to[links[-1]]] = rows[to[links[-1]]], _SUM
    return replace(graph, rows=rows, kinds=kinds, indices=indices, roots=roots, sources=sources)


@found_once
def _nodes_read(graph: ScalarGraph) -> list[list[int]]:
    """The nodes that each node reads."""
    reads = graph.kinds == NODE
    read = graph.indices[reads].tolist()
    ends = np.cumsum(reads.sum(axis=1)).tolist()
    return [read[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@found_once
def _chains(graph: ScalarGraph) -> list[list[int]]:
    """The sums of which each adds a term to the one before, in order; the longest chains first."""
    sums = np.isin(graph.rows, (_ADD, _SUB, _SUM)) & (graph.kinds[:, 0] == NODE) & (graph.kinds[:, 1] != NONE)
    before = np.where(sums, graph.indices[:, 0], 0)
    goes_on = sums & sums[before] & (graph.uses()[before] == 1)
    ends = np.ones(len(graph), bool)
    ends[before[goes_on]] = False
    length = np.zeros(len(graph), np.int64)
    for node in np.flatnonzero(goes_on).tolist():
        length[node] = length[before[node]] + 1
    lasts = np.flatnonzero(ends & (length >= _LEAST_TERMS - 1))
    found = []
    for last in lasts[np.argsort(-length[lasts], kind="stable")].tolist():
        chain = [last]
        while goes_on[chain[-1]]:
            chain.append(int(before[chain[-1]]))
        found.append(chain[::-1])
    return found


class _Terms:
    """The nodes of a graph by the terms of a chain of sums that they go into. What the chain begins with is term 0.

    Attributes:
        repeated: How many nodes are like one before them, once they are in order.
    """

    def __init__(self, graph: ScalarGraph, chain: Sequence[int]) -> None:
        self._graph, self._chain = graph, chain
        self.repeated: int = 0
        self._number_of_link = {node: number for number, node in enumerate(chain, 1)}
        self._sets: list[frozenset[int]] = [frozenset(), frozenset()]
        self._numbers: dict[frozenset[int], int] = {}
        self._together: dict[tuple[int, int], int] = {}
        self._operands = _nodes_read(graph)
        self._own_shapes: list[int] = graph.shapes().tolist()
        self._of = self._backward()
        self._late = self._forward()

    def _number(self, terms: frozenset[int]) -> int:
        if len(terms) > _MOST_TERMS_OF_ONE:
            return _ALL
        if terms not in self._numbers:
            self._numbers[terms] = len(self._sets)
            self._sets.append(terms)
        return self._numbers[terms]

    def _union(self, one: int, other: int) -> int:
        if one in (other, _ALL) or other == _NONE:
            return one
        if one == _NONE or other == _ALL:
            return other
        if (one, other) not in self._together:
            self._together[one, other] = self._number(self._sets[one] | self._sets[other])
        return self._together[one, other]

    def _backward(self) -> list[int]:
        """The terms that each node goes into."""
        found = [_NONE] * len(self._graph)
        for node in reversed(range(len(found))):
            number = self._number_of_link.get(node)
            if number is None:
                for operand in self._operands[node]:
                    found[operand] = self._union(found[operand], found[node])
                continue
            if self._graph.kinds[node, 1] == NODE:
                term = int(self._graph.indices[node, 1])
                found[term] = self._union(found[term], self._number(frozenset({number})))
            if number == 1 and self._graph.kinds[node, 0] == NODE:
                begin = int(self._graph.indices[node, 0])
                found[begin] = self._union(found[begin], self._number(frozenset({0})))
        return found

    def _forward(self) -> set[int]:
        """The nodes that come after all terms; what only guards read is computed with a term, where that can be."""
        late: set[int] = {self._chain[-1]}
        of, links, sets = self._of, self._number_of_link, self._sets
        for node, operands in enumerate(self._operands):
            if of[node] != _NONE or node in links:
                continue
            if not late.isdisjoint(operands):
                late.add(node)
                continue
            under = {of[operand] for operand in operands} - {_ALL}
            least = min(under, key=lambda one: len(sets[one])) if len(under) > 1 else next(iter(under), _ALL)
            if len(under) > 1 and not all(sets[least] <= sets[one] for one in under):
                late.add(node)
            else:
                of[node] = least
        return late - {self._chain[-1]}

    def order(self) -> tuple[list[int], list[int]]:
        """The nodes in their new order, and the links of the chain in theirs.

        What goes into more terms comes first: what goes into fewer may read it.
        """
        members: dict[int, list[int]] = defaultdict(list)
        for node, of in enumerate(self._of):
            if node not in self._late and node not in self._number_of_link:
                members[of].append(node)
        order = members.pop(_ALL, [])
        single = [members.pop(self._numbers.get(frozenset({i}), _NONE), []) for i in range(len(self._chain) + 1)]
        of_size: dict[int, list[list[int]]] = defaultdict(list)
        for of, nodes in members.items():
            of_size[len(self._sets[of])].append(nodes)
        for size in sorted(of_size, reverse=True):
            for group in _groups([self._shape(nodes) for nodes in of_size[size]]):
                order += (node for number in group for node in of_size[size][number])
                self.repeated += (len(group) - 1) * len(of_size[size][group[0]])
        groups = _groups([(self._kind(number), self._shape(nodes)) for number, nodes in enumerate(single)])
        self.repeated += sum((len(group) - 1) * (len(single[group[0]]) + 1) for group in groups)
        if len(self._chain) < _LEAST_IN_GROUP * len(groups):
            self.repeated = 0
            return [*range(len(self._graph))], [*self._chain]
        links = []
        for number in (number for group in groups for number in group):
            order += single[number]
            if number > 0:
                order.append(self._chain[number - 1])
                links.append(self._chain[number - 1])
        return order + sorted(self._late), links

    def _kind(self, number: int) -> tuple[object, ...]:
        """Whether a term is added, and what kind of operand it is."""
        link, slot = self._chain[max(number - 1, 0)], min(number, 1)
        is_taken_away = number > 0 and self._graph.rows[link] == _SUB
        return is_taken_away, int(self._graph.kinds[link, slot])

    def _shape(self, nodes: Sequence[int]) -> tuple[object, ...]:
        """What is alike of nodes that compute alike: their operators, and where among them their operands are."""
        place = {node: number for number, node in enumerate(nodes)}
        return tuple(
            (
                self._own_shapes[node],
                *(number - place[operand] if operand in place else _ALL for operand in self._operands[node]),
            )
            for number, node in enumerate(nodes)
        )


def _groups(keys: Sequence[object]) -> list[list[int]]:
    """The numbers of equal keys together, the first ones first."""
    found: dict[object, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        found[key].append(number)
    return [*found.values()]
