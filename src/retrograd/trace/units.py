"""Units of a graph: sets of operations that belong together, each a contiguous range of node numbers.

Node numbers are in order of creation; groups that are contiguous ranges never depend on each other in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["NodeRange", "connected", "trees"]


@dataclass(frozen=True, slots=True)
class NodeRange:
    """The nodes from ``first`` to ``last``, both included."""

    first: int
    last: int


def connected(nodes: Sequence[int], inputs: Mapping[int, Sequence[int]]) -> list[NodeRange]:
    """The connected components of these nodes as ranges; components whose ranges overlap are joined."""
    above: dict[int, int] = {node: node for node in nodes}

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    for node in nodes:
        for operand in inputs[node]:
            if operand in above:
                one, other = top(node), top(operand)
                above[max(one, other)] = min(one, other)
    last = {top(node): node for node in nodes}
    joined: list[NodeRange] = []
    for first in sorted(last):
        if joined and first < joined[-1].last:
            joined[-1] = NodeRange(joined[-1].first, max(joined[-1].last, last[first]))
        else:
            joined.append(NodeRange(first, last[first]))
    return joined


def trees(
    nodes: Sequence[int], inputs: Mapping[int, Sequence[int]], uses: Mapping[int, Sequence[int]]
) -> list[list[NodeRange]]:
    """Trees, such as neurons, in rows, such as layers: a node with a single use belongs to the tree of that use.

    The trees of a row follow each other and use the same results from outside the row.
    """
    inside = set(nodes)
    found: list[NodeRange] = []
    for node in nodes:
        first = node
        while found and list(uses.get(found[-1].last, ())) == [node]:
            first = found.pop().first
        found.append(NodeRange(first, node))
    rows: list[list[NodeRange]] = []
    keys: list[frozenset[int]] = []
    for tree in found:
        own = range(tree.first, tree.last + 1)
        key = frozenset(x for node in own if node in inside for x in inputs[node] if x not in own and x in inputs)
        same = bool(rows) and key == keys[-1] and (tree.first < tree.last) == (rows[-1][0].first < rows[-1][0].last)
        if same:
            rows[-1].append(tree)
        else:
            rows.append([tree])
            keys.append(key)
    return rows
