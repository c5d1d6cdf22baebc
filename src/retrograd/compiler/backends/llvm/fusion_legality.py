"""Whether several calls can share their loops: each iteration must keep to itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .fused_op import Addresses, Part
from .kernel_calls import DOUBLE

__all__ = ["independent"]

Way = tuple[int, int, str | None]


@dataclass(frozen=True, slots=True)
class _Reach:
    """The rows that an operand reaches: where each begins, and which iteration of the loop around it belongs to."""

    part: int
    pointer: int
    sums: bool
    length: int  #: of a row, in bytes
    way: Way  #: how it moves in the loops
    starts: Addresses
    owners: Addresses

    @staticmethod
    def all(parts: Sequence[Part], around: int, strip: int) -> list[_Reach]:
        found = []
        for number, part in enumerate(parts):
            for p in part.used():
                starts = part.starts(p, around)
                owners = np.repeat(np.arange(around, dtype=np.int64), starts.shape[1])
                length = strip * DOUBLE if part.inside[p] else DOUBLE
                way = (part.around[p], part.inside[p], part.call.moving[p])
                found.append(_Reach(number, p, part.sums, length, way, starts.reshape(-1), owners))
        return found

    @property
    def span(self) -> tuple[int, int]:
        return int(self.starts.min()), int(self.starts.max()) + self.length


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows that are written, by their addresses: whose each is, how it moves, and the last part that writes it."""

    length: int
    starts: Addresses
    owners: Addresses
    ways: Addresses
    last: Addresses

    @staticmethod
    def of(writes: Sequence[_Reach], numbers: dict[Way, int], length: int) -> _Rows | None:
        """None when rows overlap, or one is written by two iterations or in two ways."""
        starts = np.concatenate([w.starts for w in writes])
        owners = np.concatenate([w.owners for w in writes])
        ways = np.concatenate([np.full(len(w.starts), numbers[w.way]) for w in writes])
        last = np.concatenate([np.full(len(w.starts), w.part) for w in writes])
        order = np.lexsort((last, starts))
        starts, owners, ways, last = starts[order], owners[order], ways[order], last[order]
        first = np.flatnonzero(np.diff(starts, prepend=starts[0] - 1))
        row = np.searchsorted(starts[first], starts)  # of each write, the number of its row
        overlap = (np.diff(starts[first]) < length).any()
        if overlap or (owners != owners[first][row]).any() or (ways != ways[first][row]).any():
            return None
        ends = np.append(first[1:], len(starts)) - 1
        return _Rows(length, starts[first], owners[first], ways[first], last[ends])

    def allow(self, reach: _Reach, numbers: dict[Way, int]) -> bool:
        """Whether what an operand reaches of these rows is its own iteration's."""
        row = np.searchsorted(self.starts, reach.starts + reach.length) - 1
        met = (row >= 0) & (self.starts[row] + self.length > reach.starts)
        if not met.any():
            return True
        row = row[met]
        if reach.sums and reach.pointer == 0:
            return False
        if (self.starts[row] != reach.starts[met]).any() or (self.owners[row] != reach.owners[met]).any():
            return False
        if reach.sums:  # it reads when all rows are done: nobody may have changed them since its turn
            return not (self.last[row] > reach.part).any()
        return reach.length == self.length and not (self.ways[row] != numbers[reach.way]).any()


def independent(parts: Sequence[Part], around: int, strip: int) -> bool:
    """Whether what an iteration of the loops writes is read and written by that iteration alone, by way of the same
    offsets; sums may read it after the inner loop, and nobody reads sums."""
    reaches = _Reach.all(parts, around, strip)
    writes = [reach for reach in reaches if reach.pointer == 0 and not reach.sums]
    if not writes:
        return not any(part.sums for part in parts)
    numbers = {way: i for i, way in enumerate({reach.way for reach in reaches})}
    rows = _Rows.of(writes, numbers, strip * DOUBLE)
    return rows is not None and all(rows.allow(reach, numbers) for reach in reaches) and _sums_apart(reaches)


def _sums_apart(reaches: Sequence[_Reach]) -> bool:
    """Whether what sums are added to is touched by sums alone."""
    spans = [(reach, *reach.span) for reach in reaches]
    for one, low, high in spans:
        if not one.sums or one.pointer != 0:
            continue
        for other, begin, end in spans:
            if begin < high and low < end and not (other.sums and other.pointer == 0):
                return False
    return True
