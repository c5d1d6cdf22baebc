"""Units in a stretch of a program: sets of operations that belong together, each one stretch itself.

Node numbers are in order of creation, so a stretch is a range of them; groups that are stretches never depend on each
other in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Stretch", "connected", "trees"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A range of the program, from one node to another, both inside."""

    first: int
    last: int


def connected(nodes: Sequence[int], inputs: Mapping[int, Sequence[int]]) -> list[Stretch]:
    """The sets of nodes connected by edges among themselves; sets that overlap in the program count as one."""
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
    joined: list[Stretch] = []
    for first in sorted(last):
        if joined and first < joined[-1].last:
            joined[-1] = Stretch(joined[-1].first, max(joined[-1].last, last[first]))
        else:
            joined.append(Stretch(first, last[first]))
    return joined


def trees(
    nodes: Sequence[int], inputs: Mapping[int, Sequence[int]], uses: Mapping[int, Sequence[int]]
) -> list[list[Stretch]]:
    """What is computed for one use alone goes with that use: the trees, such as neurons, in rows, such as layers.

    A row are trees that follow each other and use the same results from outside.
    """
    inside = set(nodes)
    found: list[Stretch] = []
    for node in nodes:
        first = node
        while found and list(uses.get(found[-1].last, ())) == [node]:
            first = found.pop().first
        found.append(Stretch(first, node))
    rows: list[list[Stretch]] = []
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
