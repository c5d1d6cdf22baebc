"""The iterations of loops as axes of arrays, and which element an iteration reads, as tables of indices.

A loop is one axis, as long as its longest instance. Where another instance is shorter, the rest of the axis is padding:
it computes with any numbers, which nothing reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..loops.shapes.structure import Body, Indices, bodies_of

__all__ = ["Axes", "Truths", "flattened", "squeezed"]

Truths = NDArray[np.bool_]


class Axes:
    """The axes of all bodies of a program.

    Attributes:
        loops: of each body, the loops around it and itself, the outermost first: its axes.
        ordinals: of each body, the ordinal by the axes; in the padding, the last one before it.
        exists: of each body, what is no padding.
    """

    def __init__(self, top: Body) -> None:
        self.loops: dict[Body, tuple[Body, ...]] = {}
        self.ordinals: dict[Body, Indices] = {}
        self.exists: dict[Body, Truths] = {}
        self._owner: dict[Body, Indices] = {}
        for body in bodies_of(top):
            self._owner[body] = body.instances
            if body.parent is None:
                self.loops[body] = ()
                self.ordinals[body], self.exists[body] = np.zeros((), np.int64), np.ones((), bool)
                continue
            self.loops[body] = (*self.loops[body.parent], body)
            above = self.ordinals[body.parent]
            step, last = np.arange(self.size(body)), body.counts[above][..., None] - 1
            self.ordinals[body] = body.firsts[above][..., None] + np.minimum(step, last)
            self.exists[body] = self.exists[body.parent][..., None] & (step <= last)

    @staticmethod
    def size(body: Body) -> int:
        """How long the axis of a loop is."""
        return int(np.max(body.counts))

    def sizes(self, body: Body) -> tuple[int, ...]:
        """How long the axes of a body are."""
        return tuple(map(self.size, self.loops[body]))

    def is_ragged(self, body: Body) -> bool:
        """Whether an instance of a loop is shorter than another."""
        return bool(np.any(body.counts != body.counts[0]))

    def coordinates(self, body: Body, ordinals: Indices) -> list[Indices]:
        """The iteration of each loop around, and of the body, that ordinals stand for."""
        found: list[Indices] = []
        while body.parent is not None:
            owner = self._owner[body][ordinals]
            found.append(ordinals - body.firsts[owner])
            ordinals, body = owner, body.parent
        return found[::-1]


def flattened(coordinates: Sequence[Indices], sizes: Sequence[int], count: int) -> Indices:
    """The position of ``count`` elements in an array that has been flattened."""
    flat = np.zeros(count, np.int64)
    for coordinate, size in zip(coordinates, sizes, strict=True):
        flat = flat * size + coordinate
    return flat


def squeezed(table: Indices, exists: Truths, size: int = 0) -> tuple[int, Indices]:
    """A table without the leading axes along which it stays the same, and their number.

    Args:
        table: a number for each iteration.
        exists: what of it is no padding.
        size: the table has indices below this, of which the padding may have any; 0: it stays as it is.
    """
    skipped = 0
    exists = np.broadcast_to(exists, table.shape)
    while table.ndim and exists.any():
        first = np.argmax(exists, axis=0)[None]
        row = np.take_along_axis(table, first, 0)
        if np.any(exists & (table != row)):
            break
        table, exists, skipped = row[0], np.asarray(exists.any(axis=0)), skipped + 1
    if size and table.ndim and not exists.all():  # the padding goes on as what comes before it
        along = np.arange(table.shape[-1])
        before = np.maximum.accumulate(np.where(exists, along, -1), axis=-1)
        known = np.take_along_axis(table, np.maximum(before, 0), -1)
        table = np.clip(np.where(before < 0, 0, known + along - before), 0, size - 1)
    return skipped, table
