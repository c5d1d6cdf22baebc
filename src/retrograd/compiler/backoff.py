"""Back-off: calls run eagerly where tracing them has not paid: those of a new structure, or all for a while."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

from .. import engine
from .reports.reasons import Cause, Reason
from .structures import Structures

__all__ = ["Storm", "Untraceable"]

#: After so many failures in a row the number of calls between two attempts stays the same.
_MOST_ROUNDS = 10

#: Where too many derivatives were taken, the first attempt comes after so many doublings: it takes as long as dozens of
#: calls, and nearly always ends the same.
_MANY_STEPS = 7

#: So many traces in a row are looked at, of which so many must have answered no call but their own to be a storm.
_TRACES, _FRUITLESS = 8, 7
#: That is no storm if so many calls came between the first of them and the last: programs answer most calls, and those
#: that are rare have been dropped since.
_CALLS = 256
#: Of structures that came again, so many times as many traces are looked at: each may come once more. They are in vain,
#: too, if each has answered so many calls on average: a trace takes as long as dozens of calls.
_LONGER, _FEW_ANSWERS = 8, 2
#: After so many calls in a row that had a structure of their own each, more than there are programs, or for which a
#: program would take too long to make, so many are not looked at for each that is: to do so takes up to half as long as
#: the function.
_ALONE, _PUT_OFF, _UNSEEN = 512, 64, 15
#: After so many storms in a row, each of which makes the pause four times as long, it stays the same.
_MOST_PAUSES = 5


class Untraceable:
    """Calls that could not be compiled, by the types of their arguments."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Any, ...], tuple[Cause, int, int]] = {}  # why, failures, calls that are left

    def waits(self, shape: tuple[Any, ...]) -> Cause | None:
        """Count a call of this kind: why it is not to be traced, if it is not."""
        cause, failures, left = self._waiting.get(shape, (None, 0, 0))
        if cause is None or left == 0:
            return None
        self._waiting[shape] = cause, failures, left - 1
        return cause

    def failed(self, shape: tuple[Any, ...], cause: Cause) -> int:
        """A call could not be compiled: the next attempt comes after twice as many calls as the last one.

        None comes where the program of one was not what the function is.

        Returns:
            How many failed in a row.
        """
        failures = min(self._waiting.get(shape, (cause, 0, 0))[1] + 1, _MOST_ROUNDS)
        rounds = failures + (_MANY_STEPS if cause.reason is Reason.MANY_DERIVATIVES else 0)
        self._waiting[shape] = cause, failures, sys.maxsize if cause.reason is Reason.DIFFERS else 2**rounds
        return failures

    def succeeded(self, shape: tuple[Any, ...]) -> None:
        """A call of this kind was compiled: what failed before was about its numbers."""
        self._waiting.pop(shape, None)

    def forget(self) -> None:
        """The next call of any kind may be traced."""
        self._waiting.clear()


class Storm:
    """Traces that are in vain: a comparison, or an argument, comes out differently in nearly every call.

    Attributes:
        structures: Those of the calls since the first one in which that were arguments.
    """

    def __init__(self, cache: engine.SpecializationCache) -> None:
        self._cache = cache
        self._traces: deque[tuple[int, int]] = deque(
            maxlen=_LONGER * _TRACES
        )  # the number, and how many calls came before
        self._dropped: dict[int, int] = {}  # how many calls those of them answered that have been dropped
        self._rounds = 0
        self._paused = 0
        self._postponed = 0
        self._in_a_row, self._last_missed = 0, 0
        self.structures: Structures = Structures()

    def calls(self) -> int:
        """How many calls there were, those in pauses too."""
        return self._cache.calls() + self._paused

    def forget(self) -> None:
        """The next call is looked up again."""
        self._traces.clear()
        self._rounds = self._in_a_row = 0
        self.structures = Structures()
        self._cache.pause(0)

    def postponed(self) -> None:
        """A call was not traced that no program answers."""
        self._postponed += 1
        self._missed(_PUT_OFF)

    def alone(self) -> None:
        """A call had a structure of its own, and ran eagerly."""
        self._missed(_ALONE)

    def _missed(self, most: int) -> None:
        """A call ran eagerly and is not traced: after so many in a row, most are not looked at."""
        calls = self._cache.calls()
        self._in_a_row = self._in_a_row + 1 if calls == self._last_missed + 1 else 0
        self._last_missed = calls
        if self._in_a_row >= most:
            self.pause(_UNSEEN)

    def pause(self, calls: int) -> None:
        """So many calls run as they are."""
        self._paused += calls
        self._cache.pause(calls)

    def learned(self) -> None:
        """What comes next is traced otherwise: the programs until now say nothing of those from now on."""
        self._traces.clear()

    def dropped(self, number: int, hits: int) -> None:
        """A specialization was dropped that has answered so many calls."""
        self._dropped[number] = hits

    def is_repeated(self) -> bool:
        """Whether a storm came after another one."""
        return self._rounds > 1

    @property
    def waits_for_structures(self) -> bool:
        """Whether calls of a structure that has not come before run eagerly, and the others do not."""
        return self.structures.are_watched and self._rounds == 0

    def fruitless(self, traces: int) -> int:
        """How many of the last traces have answered no call but their own."""
        return sum(hits <= 1 for hits in self._answers(traces))  # the call that was traced is a hit

    def _answers(self, traces: int) -> list[int]:
        hits = self._dropped | {one: count for one, _, count in self._cache.inventory()}
        return [hits.get(one, 0) for one, _ in list(self._traces)[-traces:]]

    def traced(self, number: int, is_new_structure: bool) -> bool:
        """A specialization was made. Whether too many were in vain.

        Then calls run eagerly for a while; at first those alone that have a new structure, if that one had.
        """
        calls = self._cache.calls() - self._postponed
        self._traces.append((number, calls))
        traces = list(self._traces)  # another thread may call clear()
        among = {one for one, _ in traces}
        self._dropped = {one: count for one, count in self._dropped.items() if one in among}
        times = _LONGER if self.structures.are_watched else 1
        first = traces[-times * _TRACES :][0][1]
        in_vain = self.fruitless(times * _TRACES) >= times * _FRUITLESS
        if self.structures.are_watched and len(traces) == times * _TRACES:
            in_vain |= sum(self._answers(times * _TRACES)) <= _FEW_ANSWERS * len(traces)
        if not in_vain or calls - first > times * _CALLS:
            self._rounds = 0
            return False
        if is_new_structure and not self.structures.are_watched:
            self.structures.watch()
            self._traces.clear()
            return True
        self._rounds = min(self._rounds + 1, _MOST_PAUSES)
        pause = times * 4 * 4**self._rounds
        self.pause(pause)
        return True
