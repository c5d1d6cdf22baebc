"""Chooses the shape of a graph's code: loops over time, loops in loops, or loops that do things only at times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .branches import find_branches
from .fission import divided
from .graph import LEAF, MOST_STRAIGHT, ScalarGraph, UnsupportedGraphError
from .layout import Far, Layout, Leaf
from .nests import find_nests
from .periods import find_sections
from .storage import fit
from .structure import Body, Repeat, bodies_of, build

__all__ = ["find_fastest", "find_structure"]

#: With so many nodes of code, or where loops read leaves through tables, nests are looked for. They are taken where
#: they save this factor of code, or where sections are too much; or save this factor of tables, with few nodes more.
_LONG, _GAIN, _FEW = 600, 2.0, 200

#: About how many nanoseconds it takes, forward and backward, to run a node's code for the first time, to go through
#: memory for a number, to look up in a table where, and to find out whether an iteration has a part. Of more nodes of
#: code than some, each counts twice: to compile them takes seconds.
_CODE, _MEMORY, _TABLE, _CHOICE, _SOME = 0.5, 0.7, 0.7, 1.0, 3_000


@dataclass(frozen=True, slots=True)
class _Shape:
    """A graph as nodes and repetitions, and how many nodes of code that is."""

    items: list[int | Repeat]
    size: int


def find_structure(
    graph: ScalarGraph, most_straight: int = MOST_STRAIGHT, nested: bool = True, scalars: bool = False
) -> Body:
    """The bodies of a graph, so that there is little code.

    Args:
        graph: the graph.
        most_straight: so many nodes of straight-line code, and of the loops' bodies, are written at most.
        nested: whether there are loops in loops.
        scalars: whether the code is one of scalars: then loops may do things only at times, and are taken apart where
            iterations wait for each other only in a part of them.

    Raises:
        UnsupportedGraphError: too much of it repeats nothing.
    """
    shape = _sections(graph)
    top = build(shape.items)
    tables = _count_tables(graph, top) if nested else 0
    if nested and (shape.size > _LONG or tables > 0):
        nests = _nests(graph)
        other = build(nests.items)
        is_less = _GAIN * nests.size < shape.size or nests.size <= most_straight < shape.size
        if is_less or (nests.size <= shape.size + _FEW and _GAIN * _count_tables(graph, other) < tables):
            top, shape = other, nests
    if scalars:
        branches = _branches(graph) if shape.size > _LONG else None
        if branches is not None and _GAIN * branches.size < shape.size:
            shape = branches
        top = build(divided(graph, shape.items))
    if shape.size > most_straight:
        raise UnsupportedGraphError("too little of the program repeats itself")
    return top


def find_fastest(graph: ScalarGraph, most_straight: int = MOST_STRAIGHT) -> Body:
    """The bodies of a graph, so that the code of scalars takes little time. Arguments are those of find_structure.

    Raises:
        UnsupportedGraphError: too much of it repeats nothing.
    """
    shapes = sorted((s for s in _shapes(graph) if s.size <= most_straight), key=lambda shape: shape.size)
    if not shapes:
        raise UnsupportedGraphError("too little of the program repeats itself")
    best, least = shapes[0], math.inf
    for shape in shapes if len(shapes) > 1 else ():
        code = _CODE * (shape.size + max(shape.size - _SOME, 0))
        if code < least and (time := code + _in_memory(graph, shape)) < least:
            best, least = shape, time
    return build(divided(graph, best.items))


def _shapes(graph: ScalarGraph) -> Iterator[_Shape]:
    sections = _sections(graph)
    yield sections
    if sections.size > _LONG or _count_tables(graph, build(sections.items)) > 0:
        yield _nests(graph)
    if sections.size > _LONG and (branches := _branches(graph)) is not None:
        yield branches


def _in_memory(graph: ScalarGraph, shape: _Shape) -> float:
    """What it takes that numbers are handed on through memory, and that parts may be left out."""
    layout = Layout(graph, build(shape.items))
    far = [operand for operand in layout.first_use if isinstance(operand, Far)]
    streams = [(operand.frame, operand.nodes) for operand in far]
    streams += [(operand.frame, operand.index) for operand in layout.first_use if isinstance(operand, Leaf)]
    moved = sum(operand.frame.times for operand in far)
    looked_up = sum(frame.times for frame, numbers in streams if fit(frame, numbers).table is not None)
    chosen = sum(len(body.counts) for body in bodies_of(layout.top) if body.optional)
    return _MEMORY * moved + _TABLE * looked_up + _CHOICE * chosen


def _sections(graph: ScalarGraph) -> _Shape:
    items: list[int | Repeat] = []
    for section in find_sections(graph):
        if section.count == 1:
            items += range(section.begin, section.end)
        else:
            begins = range(section.begin, section.end, section.period)
            items.append(Repeat([list(range(begin, begin + section.period)) for begin in begins]))
    return _Shape(items, sum(len(item.iterations[0]) if isinstance(item, Repeat) else 1 for item in items))


def _nests(graph: ScalarGraph) -> _Shape:
    return _Shape(*find_nests(graph))


def _branches(graph: ScalarGraph) -> _Shape | None:
    found = find_branches(graph)
    return None if found is None else _Shape(*found)


def _count_tables(graph: ScalarGraph, top: Body) -> int:
    """How many operands of loops are leaves whose places need a table, since they are not affine in the counters."""
    streams = [
        (position.body, graph.indices[position.nodes, slot])
        for position in top.positions()
        for slot, kind in enumerate(graph.kinds[position.nodes[0]])
        if kind == LEAF and position.body is not top
    ]
    return sum(fit(body, index).table is not None for body, index in streams)
