"""What runs when in a graph with loops: the blocks of each loop, and what goes into them and comes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..loops.graphs.graph import LEAF, LITERAL, NODE, ScalarGraph, UnsupportedGraphError
from ..loops.layouts.layout import Layout
from ..loops.layouts.operands import Carry, Constants, Far, Leaf, Near, NodeOperand, Operand
from ..loops.shapes.structure import Body, Indices, Position, bodies_of
from .axes import Axes, Truths, squeezed
from .blocks import Block, Handed, blocks_of, operands_in
from .reads import Read, Reads

__all__ = ["Key", "Numbers", "Plan", "Roots", "Work"]

#: What an array is of: an operand, the results of a position, the elements that a Read takes, a loop's padding.
Key = Operand | Position | Read | Body


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers that are known from the beginning, or indices of leaves: ``table`` lacks the first axes of the loops."""

    skipped: int
    table: Indices | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Roots:
    """Roots of the graph: literals, leaves, and ``count`` nodes, in an ``order``."""

    literals: NDArray[np.float64]
    leaves: Indices
    nodes: Read | None
    count: int
    order: Indices


@dataclass(slots=True)
class Work:
    """A block with its inputs and outputs.

    Attributes:
        block: what it does.
        before: operands that are read before it begins.
        rows: arrays of which each iteration gets a row.
        out: what is read after it, with a row of each iteration.
    """

    block: Block
    before: list[Operand]
    rows: list[Key]
    out: list[Position | Handed] = field(default_factory=list)


class Plan:
    """The plan of a graph.

    Attributes:
        layout: its positions and their operands.
        axes: of its loops.
        size: how many operations are written.
        work: of each loop, its blocks.
        reads: of operands that are read at once, how.
        starts, followings: of those that a loop carries and that are no Carry of its own.
        numbers: constants and leaves.
        masks: of each loop, the iterations that are no padding; None where there is no padding.
        result: the first root.
        roots: all.
    """

    def __init__(self, graph: ScalarGraph, top: Body) -> None:
        """
        Args:
            graph: the graph.
            top: its bodies.

        Raises:
            UnsupportedGraphError: it has no loops, or they do what cannot be written.
        """
        self.bodies = [body for body in bodies_of(top) if body.parent is not None]
        if not self.bodies:
            raise UnsupportedGraphError("nothing repeats itself")
        self.layout, self.axes = Layout(graph, top), Axes(top)
        self.size = len(self.layout.positions)
        self.work: dict[Body, list[Work]] = {}
        self.reads: dict[Operand, Read] = {}
        self.starts: dict[Operand, list[Read]] = {}
        self.followings: dict[Operand, Read] = {}
        self.masks = {body: self._mask(body) for body in self.bodies}
        self._reads, self._carried = Reads(self.layout, self.axes), set[Operand]()
        self.is_own = self._reads.is_own
        self._kept: dict[Position, int] = {}  # of positions, so many loops run when they are read
        blocks = {body: blocks_of(body, self.layout, self._reads) for body in self.bodies}
        for parts in blocks.values():
            self._carried.update(one for block in parts for one in block.handed)
        operands = operands_in(self.layout, self.layout.positions, lambda carry: (carry.start, carry.following))
        self.numbers = {o: self._numbers(o) for o in operands if isinstance(o, Leaf | Constants)}
        for operand in operands:
            self._note_reads(operand)
        self.result, self.roots = self._roots(graph, graph.roots[:1]), self._roots(graph, graph.roots)
        for body, parts in blocks.items():
            self.work[body] = [self._work(body, block) for block in parts]
        for body, parts_of in self.work.items():
            self._note_results(body, parts_of)

    # --- what is read ---------------------------------------------------------------------------------------

    def _mask(self, body: Body) -> Numbers | None:
        if not self.axes.is_ragged(body):
            return None
        exists: Truths = self.axes.exists[body]
        return Numbers(*squeezed(exists.astype(np.int64), np.ones(exists.shape, bool)))

    def _numbers(self, operand: Leaf | Constants) -> Numbers:
        ordinals, exists = self.axes.ordinals[operand.frame], self.axes.exists[operand.frame]
        if isinstance(operand, Leaf):
            table = np.asarray(operand.index[ordinals])
            return Numbers(*squeezed(table, exists, int(np.max(table)) + 1))
        skipped, bits = squeezed(np.asarray(operand.numbers.view(np.int64)[ordinals]), exists)
        return Numbers(skipped, np.ascontiguousarray(bits).view(np.float64))

    def _note_reads(self, operand: Operand) -> None:
        if not isinstance(operand, NodeOperand) or isinstance(operand, Near):
            return
        trail = self._reads.trail(operand)
        if operand not in self._carried:
            late = self._reads.is_own(operand)
            self.reads[operand] = self._noted(
                self._reads.later(trail) if late else self._reads.read(trail, trail.depth)
            )
        elif not self._reads.is_own(operand):
            self.starts[operand] = [self._noted(read) for read in self._reads.starts(trail)]
            self.followings[operand] = self._noted(self._reads.following(trail))

    def _noted(self, read: Read) -> Read:
        for source in read.sources:
            self._keep(source, read.depth)
        return read

    def _keep(self, position: Position, depth: int) -> None:
        self._kept[position] = min(depth, self._kept.get(position, position.body.depth))

    def _roots(self, graph: ScalarGraph, roots: list[tuple[int, int]]) -> Roots:
        of = {kind: [index for each, index in roots if each == kind] for kind in (LITERAL, LEAF, NODE)}
        begins = {LITERAL: 0, LEAF: len(of[LITERAL]), NODE: len(of[LITERAL]) + len(of[LEAF])}
        order = []
        for kind, _ in roots:
            order.append(begins[kind])
            begins[kind] += 1
        nodes = self._noted(self._reads.nodes(np.array(of[NODE], np.int64))) if of[NODE] else None
        leaves = np.array(of[LEAF], np.int64)
        return Roots(graph.literals[of[LITERAL]], leaves, nodes, len(of[NODE]), np.array(order, np.int64))

    def varying(self) -> Iterator[Read]:
        """The reads whose elements depend on the loops that run."""
        for operand in {**self.reads, **self.followings}:
            yield from (read for read in self._reads_of(operand) if read.varies)

    def home(self, operand: Operand) -> int:
        """So many loops run when an operand's numbers become known."""
        if operand in self._carried:
            assert isinstance(operand, Carry | Far)
            carrier = self._reads.trail(operand).carrier
            assert carrier is not None
            return carrier.depth
        return self.reads[operand].depth if operand in self.reads else 0

    def skipped(self, operand: Operand) -> int:
        """An operand's array lacks the axes of so many loops around."""
        if operand in self.numbers:
            return self.numbers[operand].skipped
        if operand in self._carried:
            return max(self.home(operand), min((read.skipped for read in self._reads_of(operand)), default=0))
        if self.is_own(operand):
            return self.home(operand)
        return max(self.home(operand), self.reads[operand].skipped)

    # --- blocks ---------------------------------------------------------------------------------------------

    def _work(self, body: Body, block: Block) -> Work:
        """A block with what goes into it."""
        layout, depth = self.layout, body.depth
        mine = set(block.positions())
        operands = operands_in(layout, mine, lambda carry: self._through(carry, block, depth), block.handed)
        before: list[Operand] = [
            o for o in operands if not isinstance(o, Near) and o not in self._carried and self.home(o) < depth
        ]
        rows: dict[Key, None] = {}
        for operand in operands:
            if isinstance(operand, Near):
                if operand.position not in mine and operand.position.body.within(body):
                    rows[operand.position] = None
                    self._keep(operand.position, depth - 1)
            elif operand in self._carried and self.home(operand) == depth:
                rows |= {} if operand in block.handed else {operand: None}
            elif self.skipped(operand) < depth <= operand.frame.depth:  # type: ignore[union-attr]  # no Constant
                rows[operand] = None
            for read in self._reads_of(operand):
                if read.skipped < depth <= read.depth:
                    rows[read] = None
                if read.depth >= depth:
                    for source in read.sources:
                        if source not in mine and source.body.within(body):
                            rows[source] = None
                            self._keep(source, depth - 1)
        inner = {body, *(position.body for position in mine)}
        for other in inner:
            mask = self.masks.get(other)
            if mask is not None and mask.skipped < depth <= other.depth and other.within(body):
                rows[other] = None
        return Work(block, before, list(rows))

    def _through(self, carry: Carry, block: Block, depth: int) -> tuple[NodeOperand, ...]:
        """What a block reads for a Carry, which may be known already."""
        if not self.is_own(carry):
            return ()
        if carry not in self._carried:
            return (carry.start,) if self.home(carry) >= depth - 1 else ()
        return (carry.start, carry.following) if carry in block.handed or self.home(carry) > depth else ()

    def _reads_of(self, operand: Operand) -> Iterator[Read]:
        yield from self.starts.get(operand, ())
        for table in (self.reads, self.followings):
            if operand in table:
                yield table[operand]

    def _note_results(self, body: Body, parts: list[Work]) -> None:
        """What each block of a loop gives to others."""
        wanted = {key for work in parts for key in work.rows}
        for work in parts:
            for position in work.block.positions():
                if self._kept.get(position, position.body.depth) < body.depth:
                    work.out.append(position)
            work.out += [one for one in work.block.handed if one in wanted]
