"""Sums that go on in one place of memory: ``total[k] += x``, in a loop around the one over ``k``.

Each such sum is a node of its own in the graph, which nothing but the next one reads. In memory they share a place, to
which the forward pass adds. All of them have one adjoint, which the backward pass finds there. So iterations that only
add to the same sums do not wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..graphs.graph import ScalarGraph
from ..shapes.structure import Body, Indices, Position
from .layout import Layout
from .operands import Far, Last, Merged, Near

__all__ = ["Accumulators", "accumulators_of", "layout_of"]

#: What a sum may go on with. The backward pass never reads these rows' values again.
_UNREAD = ("add", "sub", "mul", "neg", "square", "identity")


@dataclass(frozen=True, slots=True)
class Accumulators:
    """Which positions add to sums in memory.

    Attributes:
        before: of each of them, the operand that is the sum so far.
        first: of each node, the first one of its sum; itself, if it is in none.
        replaced: the positions with numbers in whose place another one goes.
    """

    before: dict[Position, Far]
    first: Indices
    replaced: set[Position]


def layout_of(graph: ScalarGraph, top: Body) -> Layout:
    """The layout of a graph, in which sums in memory are read there after their loops, too."""
    layout = Layout(graph, top)
    candidates = _candidates(layout)
    lasts = {operand.position for operand in layout.first_use if isinstance(operand, Last)}
    return layout if lasts.isdisjoint(candidates) else Layout(graph, top, frozenset(candidates))


def accumulators_of(layout: Layout) -> Accumulators:
    """The sums that a graph goes on with in memory."""
    lasts = {operand.position for operand in layout.first_use if isinstance(operand, Last)}
    before = {position: so_far for position, so_far in _candidates(layout).items() if position not in lasts}
    first = np.arange(len(layout.graph))
    for position, so_far in before.items():
        first[position.nodes] = so_far.nodes
    while np.any(first[first] != first):
        first = first[first]
    return Accumulators(before, first, {target for so_far in before.values() for target in layout.targets(so_far)})


def _candidates(layout: Layout) -> dict[Position, Far]:
    """Positions that go on with a sum in memory, which no position of the same iteration reads; and that sum."""
    if layout.tells_zeros_apart:  # -0.0 + 0.0 is another number than -0.0
        return {}
    uses = layout.graph.uses()
    found = ((position, _sum_so_far(layout, position, uses)) for position in layout.positions)
    before = {position: so_far for position, so_far in found if so_far is not None}
    for operand in layout.first_use if before else ():
        if isinstance(operand, Near | Merged):
            before.pop(operand.position, None)
    return before


def _sum_so_far(layout: Layout, position: Position, uses: Indices) -> Far | None:
    """The operand of a position that it goes on with, and that nothing else reads: its own from iterations before."""
    row = layout.rows[position.number]
    if row not in ("add", "sub"):
        return None
    for operand in layout.operands[position.number][: 1 if row == "sub" else 2]:
        if not isinstance(operand, Far) or operand.frame is not position.body:
            continue
        if position not in layout.targets(operand) or np.any(uses[operand.nodes] != 1):
            continue
        if all(layout.rows[target.number] in _UNREAD for target in layout.targets(operand)):
            return operand
    return None
