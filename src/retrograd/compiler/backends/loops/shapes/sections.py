"""Chooses the shape of a graph's code: loops over time, loops in loops, or loops that do things only at times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..graphs.arrays import with_arrays
from ..graphs.chains import with_whole_chains
from ..graphs.graph import MOST_STRAIGHT, ScalarGraph, UnsupportedGraphError, found_once
from ..graphs.grouping import with_terms_grouped
from ..graphs.lookups import Lookups
from ..graphs.reading import read_graph
from ..graphs.reciprocals import with_reciprocals
from ..graphs.takes import with_takes
from .branches import Branches, find_branches
from .costs import count_tables, time_of_code, time_of_run
from .fission import divided
from .nests import find_nests
from .periods import Section, find_sections
from .structure import Body, Repeat, build, nodes_of, size_of

__all__ = [
    "find_fastest",
    "find_fastest_graph",
    "find_short",
    "find_structure",
    "forms_of",
    "is_better",
    "is_long",
]

#: With so many nodes of code, or where loops read leaves through tables, nests are looked for. They are taken where
#: they save this factor of code (in C, where there is to be little, the next one), or where sections are too much; or
#: save the factor of tables, with few nodes more.
_LONG, _GAIN, _GAIN_IN_C, _FEW = 100, 2.0, 1.5, 200
#: A loop of so many iterations is left as it is where parts that are done at times are looked for; one of fewer may be
#: what is alike by chance in a loop with such parts.
_MANY_ITERATIONS = 24
#: So many iterations back, any nodes are alike as operands; or anywhere, if little of a graph repeats itself even so.
_ITERATIONS_BACK = 2
#: More code is taken where it is faster by this factor: estimates are not so exact, and code takes time to be made.
_WORTH = 1.1
#: Of graphs that compute the same, one is taken whose code is less by the first factor, and that takes longer by the
#: second at most: an estimate of loops is rather too high.
_HALF, _HARDLY_SLOWER = 2, 1.4
#: Of more nodes of code, shapes that are larger by less than the first factor are not compared, nor those that are
#: larger than the best one by more than the second.
_MANY, _MOST_LIKE, _MOST_UNLIKE = 3_000, 1.1, 10
#: Little of a graph repeats itself if more than this part of it is written. Another order of its sums must be less by
#: this factor, and take less time by the next one.
_PART, _MUCH_LESS, _MUCH_FASTER = 0.25, 3, 1.5
#: Short code may take so many times as long as other code.
_MUCH_SLOWER = 1.1
#: A graph of so many times as many nodes as one that computes the same is not looked at; nor one of so many times as
#: many nodes of code.
_FAR_MORE, _FAR_MORE_CODE = 4, 16


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
    return build(_short(graph, most_straight, nested, scalars)[1])


def _short(graph: ScalarGraph, most_straight: int, nested: bool, scalars: bool) -> tuple[_Shape, list[int | Repeat]]:
    """The shape of little code, and its items as they are taken apart."""
    shape = _sections(graph)
    tables = count_tables(graph, build(shape.items)) if nested else 0
    if nested and (shape.size > _LONG or tables > 0):
        nests, *_ = _nests(graph)
        is_less = (
            _GAIN_IN_C if scalars else _GAIN
        ) * nests.size < shape.size or nests.size <= most_straight < shape.size
        if is_less or (nests.size <= shape.size + _FEW and _GAIN * count_tables(graph, build(nests.items)) < tables):
            shape = nests
    if scalars:
        branches = min(_branches(graph), key=lambda each: each.size, default=None) if shape.size > _LONG else None
        if branches is not None and _GAIN * branches.size < shape.size:
            shape = branches
    if shape.size > most_straight:
        raise UnsupportedGraphError("too little of the program repeats itself")
    return shape, divided(graph, shape.items) if scalars else shape.items


def find_fastest(graph: ScalarGraph, most_straight: int = MOST_STRAIGHT) -> Body:
    """The bodies of a graph, so that the code of scalars takes little time. Arguments are those of find_structure.

    Raises:
        UnsupportedGraphError: too much of it repeats nothing.
    """
    shapes = _shapes_within(graph, most_straight)
    return build(divided(graph, shapes[0].items) if len(shapes) == 1 else _fastest(graph, most_straight)[0])


def find_short(graph: ScalarGraph, most_straight: int = MOST_STRAIGHT) -> Body:
    """The bodies of a graph, so that there is little code that does not take much time.

    Arguments are those of ``find_structure``.

    Raises:
        UnsupportedGraphError: too much of it repeats nothing.
    """
    shape, parts = _short(graph, most_straight, True, True)
    if len(_shapes_within(graph, most_straight)) > 1:
        fast, time, _ = _fastest(graph, most_straight, grouped=False)
        most = _MUCH_SLOWER * time - time_of_code(shape.size)
        if time_of_run(graph, shape.items, parts, most, grouped=False) >= most:
            return build(fast)
    return build(parts)


def forms_of(
    exported: Mapping[str, Any], balanced: bool = True, lookups: Lookups | None = None, reciprocals: bool = False
) -> list[ScalarGraph]:
    """The graph that the native side exported; and, where little of it repeats itself, another order of its sums.

    Arguments and exceptions are those of ``read_graph``; ``reciprocals``: whether to multiply by
    those of constants instead of dividing by them.
    """

    def read(balanced: bool) -> ScalarGraph:
        graph = read_graph(exported, balanced, lookups)
        return with_reciprocals(graph) if reciprocals else graph

    graph = read(balanced)
    size = _sections(graph).size
    if size <= max(_LONG, _PART * len(graph)):
        return [graph]
    chains = read(False) if balanced else graph
    grouped = with_terms_grouped(chains)
    if grouped is chains or _MUCH_LESS * grouped.code > size:
        return [graph]
    return [graph, with_whole_chains(grouped, np.zeros(len(grouped), bool)) if balanced else grouped]


def find_fastest_graph(
    graphs: Sequence[ScalarGraph], most_straight: int = MOST_STRAIGHT, arrays: bool = True
) -> ScalarGraph:
    """The one of some graphs that compute the same that takes the least time, with nodes that take items or not.

    Args:
        graphs: the graphs.
        most_straight: so many nodes of straight-line code, and of the loops' bodies, are written at most.
        arrays: whether lists may be kept in memory.
    """
    found = [form for graph in graphs for form in _accessing(graph, arrays)]
    times: list[tuple[float, int]] = []
    least: float = math.inf
    for place, graph in enumerate(found if len(found) > 1 else []):
        with suppress(UnsupportedGraphError):
            if _FAR_MORE_CODE * least <= graph.code:
                continue
            shapes = _shapes_within(graph, most_straight)
            least = min(least, shapes[0].size)
            times.append((_fastest(graph, most_straight)[1] * (_MUCH_FASTER if graph.code else 1.0), place))
    return found[min(times)[1] if times else 0]


def is_long(graph: ScalarGraph, most_straight: int = MOST_STRAIGHT) -> bool:
    """Whether the fastest code of a graph is so long that to make it takes seconds."""
    with suppress(UnsupportedGraphError):
        return _size_and_time(graph, most_straight)[0] > _MANY
    return False


def is_better(graph: ScalarGraph, other: ScalarGraph, most_straight: int = MOST_STRAIGHT) -> bool:
    """Whether a graph has much less code than another one that computes the same, and takes hardly longer."""
    with suppress(UnsupportedGraphError):
        size, time = _size_and_time(graph, most_straight)
        most, least = _size_and_time(other, most_straight)
        return _HALF * size <= most and time <= _HARDLY_SLOWER * least
    return False


def _size_and_time(graph: ScalarGraph, most_straight: int) -> tuple[int, float]:
    _, time, size = _fastest(graph, most_straight)
    return size, time


def _accessing(graph: ScalarGraph, arrays: bool) -> list[ScalarGraph]:
    """A graph with nodes that access memory in place of selections; and without, if those are not much more nodes."""
    forms = [graph]
    for changed in (with_takes, with_arrays) if arrays else (with_takes,):
        form = changed(forms[0])
        if form is not forms[0]:
            forms = [form, *(each for each in forms if len(each) < _FAR_MORE * len(form))]
    return forms


@found_once
def _fastest(graph: ScalarGraph, most_straight: int, grouped: bool = True) -> tuple[list[int | Repeat], float, int]:
    """The shape that takes the least time, taken apart, that time, and how many nodes of code it is.

    ``grouped``: whether calls of one function in straight-line code are one of a function of vectors.

    Raises:
        UnsupportedGraphError: none can be taken apart.
    """
    best, least, size, last = list[int | Repeat](), math.inf, 0, 0
    for shape in _shapes_within(graph, most_straight):
        worth = least / _WORTH if best else math.inf
        if (code := time_of_code(shape.size)) >= worth:
            break
        if best and shape.size > _MANY and not _MOST_LIKE * last <= shape.size <= _MOST_UNLIKE * size:
            continue  # much the same, or far more than what is fast; and to look at it takes long
        last = shape.size
        with suppress(UnsupportedGraphError):  # it cannot be taken apart
            parts = divided(graph, shape.items)
            if (time := code + time_of_run(graph, shape.items, parts, worth - code, grouped)) < worth:
                best, least, size = parts, time, shape.size
    if not best:
        raise UnsupportedGraphError("no shape of the program can be taken apart")
    return best, least, size


@found_once
def _shapes_within(graph: ScalarGraph, most_straight: int) -> list[_Shape]:
    """The shapes of so many nodes of code at most, the shortest first. Raises UnsupportedGraphError without any."""
    shapes = sorted((s for s in _shapes(graph) if s.size <= most_straight), key=lambda shape: shape.size)
    if not shapes:
        raise UnsupportedGraphError("too little of the program repeats itself")
    return shapes


def _shapes(graph: ScalarGraph) -> Iterator[_Shape]:
    sections = _sections(graph)
    yield sections
    if sections.size > _LONG or count_tables(graph, build(sections.items)) > 0:
        yield from _nests(graph)
    if sections.size > _LONG:
        best = sections
        if _GAIN * (far := _sections(graph, _ITERATIONS_BACK)).size < best.size:
            yield (best := far)
        least = min(best.size / _GAIN, *(nest.size for nest in _nests(graph)))
        if sections.size > _PART * len(graph) and (anywhere := _sections(graph, 0)).size < least:
            yield anywhere
        yield from _branches(graph)


@found_once
def _sections(graph: ScalarGraph, beyond: int | None = None) -> _Shape:
    items: list[int | Repeat] = []
    for section in find_sections(graph, beyond):
        items += _items_of(section)
    return _Shape(items, sum(map(size_of, items)))


def _items_of(section: Section) -> list[int | Repeat]:
    if section.count == 1:
        return [*range(section.begin, section.end)]
    begins = range(section.begin, section.end, section.period)
    return [Repeat([list(range(begin, begin + section.period)) for begin in begins])]


@found_once
def _nests(graph: ScalarGraph) -> list[_Shape]:
    return [_Shape(*found) for found in find_nests(graph)]


def _branches(graph: ScalarGraph) -> Iterator[_Shape]:
    """The graph with a loop that does things only at times: wherever there is one, or between other loops."""
    found = [find_branches(graph)]
    loops = [each for each in find_sections(graph, None) if each.count >= _MANY_ITERATIONS]
    edges = [0, *chain.from_iterable((each.begin, each.end) for each in loops), len(graph)]
    begin, end = max(zip(edges[::2], edges[1::2], strict=True), key=lambda gap: gap[1] - gap[0])
    found += [find_branches(graph, begin, end)] if loops else []
    for each in found:
        if each is not None:
            yield min((_beside(each, shape) for shape in (_sections(graph), *_nests(graph))), key=lambda one: one.size)


def _beside(found: Branches, shape: _Shape) -> _Shape:
    """Such a loop in a shape of the graph, which it keeps before and after it."""
    before, after = list[int | Repeat](), list[int | Repeat]()
    for item in shape.items:
        nodes = nodes_of([item])
        if nodes[-1] < found.begin:
            before.append(item)
        elif nodes[0] >= found.end:
            after.append(item)
        else:
            before += [node for node in nodes if node < found.begin]
            after += [node for node in nodes if node >= found.end]
    return _Shape([*before, *found.items, *after], found.size + sum(map(size_of, (*before, *after))))
