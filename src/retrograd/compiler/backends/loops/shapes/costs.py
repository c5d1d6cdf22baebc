"""About how many nanoseconds a shape of a graph's code takes, forward and backward, so that shapes can be compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..graphs.graph import LEAF, ScalarGraph
from ..layouts.layout import Layout
from ..layouts.operands import Far, Leaf
from .fission import time_in_turn
from .indices import Stream, fit, ordered
from .structure import Body, Repeat, bodies_of, build

__all__ = ["count_tables", "time_of_code", "time_of_run"]

#: To run a node's code for the first time, to go through memory for a number, to look up in a table where, to find out
#: whether an iteration has a part, and to enter and leave a loop of few iterations in a loop.
_CODE, _MEMORY, _TABLE, _CHOICE, _ENTRY = 0.25, 0.7, 0.7, 1.0, 12.0
#: Of more nodes of code than some, each costs more: LLVM takes seconds for them. Of more than many, each costs still
#: more: the processor's cache has no room for them.
_SOME, _MORE, _MANY, _MUCH_MORE = 3_000, 2, 10_000, 6
#: So few iterations a loop has on average whose entry is counted.
_FEW = 64


def time_of_code(size: int) -> float:
    """What it takes that there are so many nodes of code."""
    return _CODE * (size + _MORE * max(size - _SOME, 0) + _MUCH_MORE * max(size - _MANY, 0))


def time_of_run(
    graph: ScalarGraph,
    items: Sequence[int | Repeat],
    parts: Sequence[int | Repeat],
    most: float,
    grouped: bool = True,
) -> float:
    """What it takes that numbers are handed on through memory, that parts may be left out, that nodes run in turn.

    ``parts``: the items as they are taken apart; ``most``: what takes longer takes at least the time that is given;
    ``grouped``: whether calls of one function in straight-line code are one of a function of vectors.
    """
    in_turn = 2.0 * time_in_turn(graph, parts, grouped)
    if in_turn >= most or not any(isinstance(item, Repeat) for item in items):
        return in_turn
    layout = Layout(graph, top := build([*items]))
    far = [(operand.frame, operand.nodes) for operand in layout.first_use if isinstance(operand, Far)]
    leaves = [(operand.frame, operand.index) for operand in layout.first_use if isinstance(operand, Leaf)]
    moved = sum(frame.times for frame, _ in far)
    places = _looked_up(leaves) + _looked_up_in_memory(far)
    chosen = sum(len(body.counts) for body in bodies_of(top) if body.optional)
    inner = [body for body in bodies_of(top) if body.depth > 1 and not body.optional]
    entered = sum(len(body.counts) for body in inner if body.times < _FEW * len(body.counts))
    traffic = _MEMORY * moved + _TABLE * places
    return traffic + _CHOICE * chosen + _ENTRY * entered + in_turn


def _looked_up(streams: Sequence[Stream]) -> int:
    """How often a place is looked up in a table."""
    return sum(frame.times for frame, numbers in streams if fit(frame, numbers).table is not None)


def _looked_up_in_memory(streams: Sequence[Stream]) -> int:
    """The same of nodes, in the order in which they lie in memory."""
    tabled = [(frame, nodes) for frame, nodes in streams if fit(frame, nodes).table is not None]
    if not tabled:
        return 0
    nodes = np.unique(np.concatenate([numbers for _, numbers in tabled]))
    found = ordered(nodes, tabled)
    if found is not None:
        tabled = [(frame, found[0][np.searchsorted(nodes, numbers)]) for frame, numbers in tabled]
    return _looked_up(tabled)


def count_tables(graph: ScalarGraph, top: Body) -> int:
    """How many operands of loops are leaves whose places need a table, since they are not affine in the counters."""
    streams = [
        (position.body, graph.indices[position.nodes, slot])
        for position in top.positions()
        for slot, kind in enumerate(graph.kinds[position.nodes[0]])
        if kind == LEAF and position.body is not top
    ]
    return sum(fit(body, index).table is not None for body, index in streams)
