"""Chooses the shape of a graph's code: loops over time, or loops in loops where that is much less code."""

from __future__ import annotations

from .branches import find_branches
from .fission import divided
from .graph import LEAF, MOST_STRAIGHT, ScalarGraph, UnsupportedGraphError
from .nests import find_nests
from .periods import find_sections
from .storage import fit
from .structure import Body, Repeat, build

__all__ = ["find_structure"]

#: With so many nodes of code, or where loops read leaves through tables, nests are looked for. They are taken where
#: they save this factor of code, or where sections are too much; or save this factor of tables, with few nodes more.
_LONG, _GAIN, _FEW = 600, 2.0, 200


def find_structure(
    graph: ScalarGraph, most_straight: int = MOST_STRAIGHT, nested: bool = True, scalars: bool = False
) -> Body:
    """The bodies of a graph.

    Args:
        graph: the graph.
        most_straight: so many nodes of straight-line code, and of the loops' bodies, are written at most.
        nested: whether there are loops in loops.
        scalars: whether the code is one of scalars: then loops may do things only at times, and are taken apart where
            iterations wait for each other only in a part of them.

    Raises:
        UnsupportedGraphError: too much of it repeats nothing.
    """
    items: list[int | Repeat] = []
    for section in find_sections(graph):
        if section.count == 1:
            items += range(section.begin, section.end)
        else:
            begins = range(section.begin, section.end, section.period)
            items.append(Repeat([list(range(begin, begin + section.period)) for begin in begins]))
    size = sum(len(item.iterations[0]) if isinstance(item, Repeat) else 1 for item in items)
    top = build(items)
    tables = _count_tables(graph, top) if nested else 0
    if nested and (size > _LONG or tables > 0):
        nests, least = find_nests(graph)
        other = build(nests)
        is_less = _GAIN * least < size or least <= most_straight < size
        if is_less or (least <= size + _FEW and _GAIN * _count_tables(graph, other) < tables):
            top, size, items = other, least, nests
    if scalars:
        branches = find_branches(graph) if size > _LONG else None
        if branches is not None and _GAIN * branches[1] < size:
            items, size = branches
        top = build(divided(graph, items))
    if size > most_straight:
        raise UnsupportedGraphError("too little of the program repeats itself")
    return top


def _count_tables(graph: ScalarGraph, top: Body) -> int:
    """How many operands of loops are leaves whose places need a table, since they are not affine in the counters."""
    streams = [
        (position.body, graph.indices[position.nodes, slot])
        for position in top.positions()
        for slot, kind in enumerate(graph.kinds[position.nodes[0]])
        if kind == LEAF and position.body is not top
    ]
    return sum(fit(body, index).table is not None for body, index in streams)
