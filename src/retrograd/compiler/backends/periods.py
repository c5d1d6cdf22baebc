"""Finds where a sequence repeats itself with one period, and cuts it into sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Section", "cut_by_periods", "frequent_distances"]

#: A loop has at least so many iterations, and at most so many items in each.
_LEAST_ITERATIONS, _LONGEST_PERIOD = 3, 16_000

#: So many consecutive items must be equal for their distance to be considered, and so many distances are tried.
_WINDOW, _CANDIDATES = 6, 16


@dataclass(frozen=True, slots=True)
class Section:
    """Items from ``begin`` on: ``count`` iterations of ``period`` items; what does not repeat itself has one."""

    begin: int
    period: int
    count: int

    @property
    def end(self) -> int:
        return self.begin + self.period * self.count


#: Whether each item of one stretch can repeat that of an earlier one as long.
Alike = Callable[[slice, slice], NDArray[np.bool_]]

#: Whether a section may begin so many items later.
Later = Callable[[Section, int], bool]


def cut_by_periods(
    tokens: Sequence[NDArray[np.uint64]], alike: Alike, least: int, later: Later = lambda section, by: False
) -> list[Section]:
    """A sequence of items as repetitions, the longest first, and what is between them, in order.

    Args:
        tokens: a number for each item, the same for items that may be alike; others, where those show no repetition.
        alike: compares two stretches, item by item.
        least: a repetition has at least so many items in all.
        later: where a repetition goes on for a part of an iteration: whether that may come first instead of last.
    """
    return _Finder(tokens, alike, least, later).cut(0, len(tokens[0]))


def frequent_distances(tokens: NDArray[np.uint64], window: int, longest: int, most: int) -> list[int]:
    """The distances between equal stretches of items that cover most of the sequence.

    Args:
        tokens: a number for each item.
        window: so many consecutive items must be equal for their distance to be considered.
        longest: the greatest distance of interest.
        most: so many distances are given at most.
    """
    length = len(tokens) - window
    if length <= 0:
        return []
    hashed = np.zeros(length, np.uint64)
    for i in range(window):
        hashed = hashed * np.uint64(0xD1B54A32D192ED03) + tokens[i : i + length]
    order = np.argsort(hashed, kind="stable")
    distances = np.diff(order)[hashed[order][1:] == hashed[order][:-1]]
    counts = np.bincount(distances[distances <= longest], minlength=1)
    ranked = np.argsort(counts * np.arange(len(counts)), kind="stable")[::-1][:most]
    return [int(distance) for distance in ranked if counts[distance] and distance > 0]


class _Finder:
    def __init__(self, tokens: Sequence[NDArray[np.uint64]], alike: Alike, least: int, later: Later) -> None:
        self._tokens, self._alike, self._least, self._later = tokens, alike, least, later

    def cut(self, begin: int, end: int) -> list[Section]:
        best, over = next(filter(None, (self._best(begin, end, tokens) for tokens in self._tokens)), (None, 0))
        if best is None:
            return [Section(begin, end - begin, 1)] if end > begin else []
        if over and self._later(best, over):
            best = replace(best, begin=best.begin + over)
        return [*self.cut(begin, best.begin), best, *self.cut(best.end, end)]

    def _best(self, begin: int, end: int, tokens: NDArray[np.uint64]) -> tuple[Section, int] | None:
        """The repetition that saves most, if it is long enough, and for how many more items it goes on."""
        if end - begin - _WINDOW < self._least:
            return None
        periods = frequent_distances(tokens[begin:end], _WINDOW, _LONGEST_PERIOD, _CANDIDATES)
        found = max(
            (self._longest(begin, end, period) for period in periods), key=lambda each: _gain(each[0]), default=None
        )
        if found is None or found[0].count < _LEAST_ITERATIONS or found[0].period * found[0].count < self._least:
            return None
        return self._with_shortest(begin, end, *found)

    def _with_shortest(self, begin: int, end: int, section: Section, over: int) -> tuple[Section, int]:
        """The same repetition with its shortest period: what repeats itself does so some iterations at a time, too."""
        for period in range(1, section.period // 2 + 1):
            if section.period % period == 0:
                late, early = slice(section.begin + period, section.end), slice(section.begin, section.end - period)
                if np.all(self._alike(late, early)):
                    return self._longest(begin, end, period)
        return section, over

    def _longest(self, begin: int, end: int, period: int) -> tuple[Section, int]:
        """The longest stretch that repeats itself with this period, and for how many more items it goes on."""
        alike = self._alike(slice(begin + period, end), slice(begin, end - period))
        edges = np.concatenate([[-1], np.flatnonzero(~alike), [len(alike)]])
        runs: NDArray[np.int64] = np.diff(edges) - 1
        longest = int(np.argmax(runs))
        count, over = divmod(int(runs[longest]) + period, period)
        return Section(begin + int(edges[longest]) + 1, period, count), over


def _gain(section: Section) -> int:
    """How many items a loop saves."""
    return section.period * (section.count - 1) if section.count >= _LEAST_ITERATIONS else 0
