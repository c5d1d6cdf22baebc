"""What calls take besides the function itself, and what programs save: where that is less, few calls are looked at."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

__all__ = ["Overhead", "now"]

#: What traces and lookups may take in any case, in seconds.
_FREE = 0.3
#: So many calls are looked at together. If no program answered so many of them, they may have taken too long: by more
#: than this part of what the function takes.
_WINDOW, _MOST_MISSES, _PART = 64, 32, 0.1
#: So many calls run as they are after the first such window, and twice as many after each that follows, up to so many,
#: or so many seconds of them: a program may be there by then that pays.
_FIRST, _LONGEST, _LONGEST_SECONDS = 64, 4096, 10.0


def now() -> float | None:
    """The time; None while a profiler listens, such as the one that hears whether a function asks for it."""
    return time.perf_counter() if sys.getprofile() is None else None


class Overhead:
    """Weighs calls that no program answered against those that one did.

    Args:
        calls: How many calls were looked up.
        pause: Lets so many of the next calls run as they are.
    """

    def __init__(self, calls: Callable[[], int], pause: Callable[[int], None]) -> None:
        self._calls, self._pause = calls, pause
        self._runs, self._run_seconds = 0, 0.0
        self.forget()

    def forget(self) -> None:
        """What calls took until now says nothing of those that come."""
        self._lost, self._next = 0.0, _FIRST
        self._begin()

    def _begin(self) -> None:
        self._begun, self._misses, self._seconds = self._calls(), 0, 0.0

    def ran(self, began: float | None) -> None:
        """The function has run as it is since then, and nothing else has happened."""
        try:
            if began is not None:
                self._runs, self._run_seconds = self._runs + 1, self._run_seconds + time.perf_counter() - began
        except MemoryError:  # gradients have been added: nothing may fail now
            pass

    def missed(self, began: float | None) -> None:
        """A call that no program answered has been answered since then."""
        try:
            if began is not None:
                self._misses, self._seconds = self._misses + 1, self._seconds + time.perf_counter() - began
                if self._calls() - self._begun >= _WINDOW:
                    self._weigh()
        except MemoryError:
            pass

    def _weigh(self) -> None:
        """Pause if the calls of a window have taken longer than the function alone would have."""
        calls = self._calls() - self._begun
        own = max(self._run_seconds / max(self._runs, 1), 1e-9)
        lost = self._seconds - calls * own  # a call that a program answered took next to nothing
        self._lost = max(0.0, self._lost + lost)
        if self._runs and self._misses >= _MOST_MISSES and self._lost > _FREE and lost > _PART * calls * own:
            self._pause(self._next)
            self._next = min(2 * self._next, _LONGEST, max(_FIRST, int(_LONGEST_SECONDS / own)))
        else:
            self._next = _FIRST
        self._begin()
