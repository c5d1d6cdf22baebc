"""The shape of a graph's code: bodies of loops, one in another, and the positions in them.

A position stands for a node of the graph in each iteration of its body. The iterations of a body are numbered through
all its instances (an inner loop has an instance in each iteration of the outer one): its ordinals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Body", "Indices", "Position", "Repeat", "bodies_of", "build", "inner_bodies", "nodes_of", "size_of"]

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """Consecutive nodes as iterations of the same items; each item is a node or a Repeat.

    What an iteration of a loop does only at times is a Repeat of one iteration, or of none.
    """

    iterations: list[list[int | Repeat]]


@dataclass(slots=True, eq=False)
class Position:
    """A place in the code: ``nodes`` has its node of the graph by the body's ordinal."""

    number: int
    body: Body
    nodes: Indices


@dataclass(slots=True, eq=False)
class Body:
    """What a loop repeats, or the whole program, which runs once.

    Attributes:
        parent: the body that the loop is in; None of the whole program.
        counts: how many iterations each instance has, by the parent's ordinal.
        firsts: the ordinal with which each instance begins.
        optional: whether an instance may have none, and else has one.
        items: positions and the bodies of inner loops, in order.
    """

    number: int
    parent: Body | None
    depth: int
    counts: Indices
    firsts: Indices
    items: list[Position | Body] = field(default_factory=list)
    optional: bool = False

    @property
    def times(self) -> int:
        """How many iterations all instances have together."""
        return int(self.firsts[-1] + self.counts[-1])

    @property
    def lasts(self) -> Indices:
        """The ordinal of the last iteration of each instance."""
        return self.firsts + self.counts - 1

    @property
    def instances(self) -> Indices:
        """Which instance each iteration is in: the parent's ordinal."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def begins(self) -> Indices:
        """The first node of each instance that has one."""
        first = np.full(self.times, np.iinfo(np.int64).max)
        for position in self.positions():
            np.minimum.at(first, position.body.ordinals_of(self), position.nodes)
            if position.body is self:  # those after it in an iteration come later
                break
        return np.minimum.reduceat(first, self.firsts[self.counts > 0])

    def within(self, outer: Body) -> bool:
        """Whether this is ``outer``, or an inner loop of it."""
        body: Body | None = self
        while body is not None and body.depth > outer.depth:
            body = body.parent
        return body is outer

    def ordinals_of(self, outer: Body) -> Indices:
        """In which iteration of ``outer``, which this body is or is in, each of its iterations is."""
        if self is outer:
            return np.arange(self.times)
        assert self.parent is not None
        return np.repeat(self.parent.ordinals_of(outer), self.counts)

    def child_of(self, outer: Body) -> Body:
        """The item of ``outer`` that this body is, or is in."""
        body = self
        while body.parent is not outer:
            assert body.parent is not None
            body = body.parent
        return body

    def positions(self) -> Iterator[Position]:
        """Those of this body and of its inner loops, in order."""
        for item in self.items:
            if isinstance(item, Body):
                yield from item.positions()
            else:
                yield item


def nodes_of(items: Sequence[int | Repeat]) -> list[int]:
    """All nodes of items, in order."""
    found: list[int] = []
    for item in items:
        if isinstance(item, int):
            found.append(item)
        else:
            for iteration in item.iterations:
                found += nodes_of(iteration)
    return found


def size_of(item: int | Repeat) -> int:
    """How many nodes of code an item is, of which all iterations are alike."""
    return sum(map(size_of, item.iterations[0])) if isinstance(item, Repeat) else 1


def inner_bodies(body: Body) -> list[Body]:
    """The loops in a body, without those in them."""
    return [item for item in body.items if isinstance(item, Body)]


def bodies_of(body: Body) -> Iterator[Body]:
    """A body and all inner ones."""
    yield body
    for inner in inner_bodies(body):
        yield from bodies_of(inner)


def build(items: list[int | Repeat]) -> Body:
    """The bodies of a program that is given as nodes and repetitions."""
    one = np.ones(1, np.int64)
    top = Body(0, None, 0, one, np.zeros(1, np.int64))
    _fill(top, [items], [1, 0])
    return top


def _fill(body: Body, iterations: list[list[int | Repeat]], numbers: list[int]) -> None:
    """Make the items of a body, given those of all its iterations; ``numbers``: the next body's and position's."""
    for column in zip(*iterations, strict=True):
        if isinstance(column[0], Repeat):
            repeats = [repeat for repeat in column if isinstance(repeat, Repeat)]
            counts = np.array([len(repeat.iterations) for repeat in repeats], np.int64)
            inner = Body(numbers[0], body, body.depth + 1, counts, np.cumsum(counts) - counts)
            inner.optional = bool(np.any(counts == 0))
            numbers[0] += 1
            body.items.append(inner)
            _fill(inner, [iteration for repeat in repeats for iteration in repeat.iterations], numbers)
        else:
            body.items.append(Position(numbers[1], body, np.array(column, np.int64)))
            numbers[1] += 1
