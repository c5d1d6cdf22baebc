"""Chooses the shape of a graph's code: loops over time, or loops in loops where that is much less code."""

from __future__ import annotations

from .graph import MOST_STRAIGHT, ScalarGraph, UnsupportedGraphError
from .nests import find_nests
from .periods import find_sections
from .structure import Body, Repeat, build

__all__ = ["find_structure"]

#: With so many, nests are looked for; they are taken where they save this factor, or where sections are too much code.
_LONG, _GAIN = 1_000, 2.0


def find_structure(graph: ScalarGraph, most_straight: int = MOST_STRAIGHT, nested: bool = True) -> Body:
    """The bodies of a graph; no loops in loops unless ``nested``.

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
    if nested and size > _LONG:
        nests, least = find_nests(graph)
        if _GAIN * least < size or least <= most_straight < size:
            items, size = nests, least
    if size > most_straight:
        raise UnsupportedGraphError("too little of the program repeats itself")
    return build(items)
