"""Where the numbers are that an operand reads, as seen from the loops that run when it reads them.

An operand reads one number in each iteration of its frame. Where all of them were computed before a loop begins, it
reads them at once, as an array. Where an iteration reads what the one before it has computed, the loop carries them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from ..loops.graphs.graph import UnsupportedGraphError
from ..loops.layouts.layout import Layout
from ..loops.layouts.operands import Carry, NodeOperand, Operand
from ..loops.shapes.structure import Body, Indices, Position
from .axes import Axes, Truths, flattened, squeezed

__all__ = ["Read", "Reads", "Trail"]


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """Elements of the arrays of positions, one after another.

    Attributes:
        depth: so many loops run when they are read.
        sources: the positions.
        skipped: along so many leading axes the elements stay the same.
        table: which they are; axes of the loops that run, but for the ``skipped``, and then those of the result.
    """

    depth: int
    sources: tuple[Position, ...]
    skipped: int
    table: Indices

    @property
    def varies(self) -> bool:
        """Whether the iterations of the loops that run read other elements."""
        return self.skipped < self.depth


@dataclass(frozen=True, slots=True, eq=False)
class Trail:
    """Where the nodes of an operand were computed, by the axes of its frame.

    Attributes:
        frame: the operand's.
        numbers: the numbers of their positions.
        ordinals: their iterations.
        exists: what is no padding.
        sources: all their positions.
        depth: so many loops run when they can be read at once.
        carrier: the loop that carries them; None if no iteration reads what an earlier one computed.
        lag: so many iterations earlier is what was computed in the carrier; 0 if that differs.
    """

    frame: Body
    numbers: Indices
    ordinals: Indices
    exists: Truths
    sources: tuple[Position, ...]
    depth: int
    carrier: Body | None
    lag: int


class Reads:
    """The trails of a program's operands, and the reads that they become."""

    def __init__(self, layout: Layout, axes: Axes) -> None:
        self._layout, self._axes = layout, axes
        self._trails: dict[NodeOperand, Trail] = {}

    def trail(self, operand: NodeOperand) -> Trail:
        """Where an operand's nodes were computed.

        Raises:
            UnsupportedGraphError: iterations of several loops around hand them on.
        """
        if operand not in self._trails:
            trail = self._followed(operand, isinstance(operand, Carry))
            if isinstance(operand, Carry) and trail.carrier is not operand.frame:
                trail = self._followed(operand, False)
            self._trails[operand] = trail
        return self._trails[operand]

    def is_own(self, operand: Operand) -> TypeGuard[Carry]:
        """Whether the loop of a Carry hands it on: it may also be what the iterations of an outer loop do."""
        return isinstance(operand, Carry) and self.trail(operand).carrier is operand.frame

    def _followed(self, operand: NodeOperand, late: bool) -> Trail:
        frame = operand.frame
        axes, loops = self._axes, self._axes.loops[frame]
        numbers, ordinals = map(np.asarray, self._layout.places(operand.nodes[axes.ordinals[frame]]))
        exists = axes.exists[frame]
        if late:  # how a Carry begins is an operand of its own
            exists = exists & (np.arange(exists.shape[-1]) > 0)
        mine = np.indices(numbers.shape)
        level, lag = np.zeros(numbers.shape, np.int64), np.zeros(numbers.shape, np.int64)
        sources = [self._layout.positions[number] for number in np.unique(numbers[exists]).tolist()]
        for source in sources:
            here = exists & (numbers == source.number)
            theirs = axes.coordinates(source.body, ordinals[here])
            same = np.ones(int(here.sum()), bool)
            for axis, (loop, other) in enumerate(zip(loops, axes.loops[source.body], strict=False)):
                if loop is not other:
                    break
                behind = mine[axis][here] - theirs[axis]
                lag[here] = np.where(same, behind, lag[here])
                same &= behind == 0
                level[here] += same
        carriers = np.unique(level[lag != 0])
        if len(carriers) > 1 or np.any(lag < 0):
            raise UnsupportedGraphError("an operand that two loops hand on")
        if not len(carriers):
            return Trail(frame, numbers, ordinals, exists, tuple(sources), int(level.max()), None, 0)
        carrier = loops[carriers[0]]
        inside = self._inside(numbers, ordinals, exists, carrier)
        lags = np.unique(lag[inside])
        every = int(lags[0]) if len(lags) == 1 else 0
        return Trail(frame, numbers, ordinals, exists, tuple(sources), carrier.depth - 1, carrier, every)

    def _inside(self, numbers: Indices, ordinals: Indices, exists: Truths, carrier: Body) -> Truths:
        """Which nodes were computed in the instance of a loop that runs."""
        within = np.array([position.body.within(carrier) for position in self._layout.positions])
        found: Truths = exists & within[numbers]
        depth = len(self._axes.loops[carrier]) - 1
        mine = np.indices(numbers.shape)
        for number in np.unique(numbers[found]).tolist():
            here = found & (numbers == number)
            theirs = self._axes.coordinates(self._layout.positions[number].body, ordinals[here])
            found[here] = np.all([mine[axis][here] == theirs[axis] for axis in range(depth)], axis=0)
        return found

    def read(self, trail: Trail, depth: int) -> Read:
        """All of an operand's elements, when ``depth`` loops run."""
        return self._read(trail.frame, trail.numbers, trail.ordinals, trail.exists, depth)

    def later(self, trail: Trail) -> Read:
        """Those of all iterations but the first of the loop that carries them, at once."""
        assert trail.carrier is not None
        numbers, ordinals, exists = trail.numbers[..., 1:], trail.ordinals[..., 1:], trail.exists[..., 1:]
        return self._read(trail.frame, numbers, ordinals, exists, trail.carrier.depth - 1)

    def nodes(self, nodes: Indices) -> Read:
        """Any nodes, after all loops."""
        numbers, ordinals = self._layout.places(nodes)
        return self._read(self._layout.top, numbers, ordinals, np.ones(nodes.shape, bool), 0)

    def starts(self, trail: Trail) -> list[Read]:
        """Those of the first iterations of the loop that carries them, before it begins."""
        return [self._of_row(trail, np.array(row), 0) for row in range(trail.lag)]

    def following(self, trail: Trail) -> Read:
        """Those of a later iteration, at the end of the one that computes them."""
        assert trail.carrier is not None
        return self._of_row(trail, np.arange(self._axes.size(trail.carrier)) + trail.lag, 1)

    def _of_row(self, trail: Trail, rows: Indices, running: int) -> Read:
        """Those of some iterations of the loop that carries them, which runs or not."""
        assert trail.carrier is not None
        axis, size = trail.carrier.depth - 1, self._axes.size(trail.carrier)
        there = np.minimum(rows, size - 1)
        numbers: Indices = np.asarray(np.take(trail.numbers, there, axis))
        ordinals: Indices = np.asarray(np.take(trail.ordinals, there, axis))
        exists: Truths = np.asarray(np.take(trail.exists, there, axis))
        if running:
            exists = exists & np.expand_dims(rows < size, tuple(i for i in range(exists.ndim) if i != axis))
        return self._read(trail.frame, numbers, ordinals, exists, axis + running)

    def _read(self, frame: Body, numbers: Indices, ordinals: Indices, exists: Truths, depth: int) -> Read:
        axes, running = self._axes, self._axes.loops[frame][:depth]
        sources = [self._layout.positions[number] for number in np.unique(numbers[exists]).tolist()]
        table, offset = np.zeros(numbers.shape, np.int64), 0
        for source in sources:
            loops = axes.loops[source.body]
            shared = next((i for i, pair in enumerate(zip(running, loops, strict=False)) if pair[0] is not pair[1]),
                          min(len(running), len(loops)))  # fmt: skip
            sizes = axes.sizes(source.body)[shared:]
            here = exists & (numbers == source.number)
            elements = axes.coordinates(source.body, ordinals[here])[shared:]
            table[here] = offset + flattened(elements, sizes, int(here.sum()))
            offset += int(np.prod(sizes))
        skipped, table = squeezed(table, exists, max(offset, 1))
        return Read(depth, tuple(sources), skipped, table)
