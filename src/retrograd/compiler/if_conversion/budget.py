"""How much traces of converted code may record: so much at first, and later as much as calls have earned."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["BYTES_OF_NODE", "Budget"]

#: A node on the tape takes so many, about.
BYTES_OF_NODE = 56

#: Bytes of nodes: so many are free, which takes about 0.2 s.
_FREE = 2 << 20

#: To record a node in converted code takes as long as so many nodes of a call that runs eagerly.
_COST = 64

#: One trace may record so many times as much as one of the code as it is, or so much in any case.
_MOST_TIMES, _LEAST, _MOST = 40, 4 << 20, 32 << 20
#: What each trace costs besides the nodes that it records: before it, the code is rewritten.
_EACH = 64 << 10
#: The first ones record no more than this, whatever is left; and in one call, no trace begins after so much.
_AT_ONCE = 1 << 20


class Budget:
    """What traces of converted code have cost, and what the calls of the function since its first one allow.

    So the calls and these traces together take at most twice as long as the calls alone, and 0.2 s. It counts
    nodes and no time, so that the same calls always give the same programs.

    Args:
        calls: how many there were; None if traces may record what they like.

    Attributes:
        plain: how much a trace of the code as it is records.
    """

    def __init__(self, calls: Callable[[], int] | None = None) -> None:
        self._calls = calls
        self._spent = self._before = 0
        self._wanted = 0  # what the next trace records, at least
        self.plain: int = 0

    def measured(self, recorded: int) -> None:
        """A trace of the code as it is has recorded so much."""
        self.plain = recorded if recorded > self.plain else self.plain

    def room(self) -> int:
        """How much the next trace of converted code may record."""
        most = min(max(_LEAST, _MOST_TIMES * self.plain), _MOST)
        return int(min(most, max(self._left(), 2 * self._wanted, _AT_ONCE)))

    def is_spent(self) -> bool:
        """Whether converted code is not to be traced now."""
        return self._left() <= self._wanted

    def begin_call(self) -> None:
        """A call begins in which code is converted."""
        self._before = self._spent

    def is_spent_at_once(self) -> bool:
        """Whether the traces of this call have taken long enough: the next one goes on."""
        return self._calls is not None and self._spent - self._before >= _AT_ONCE

    def spend(self, recorded: int) -> None:
        """A trace of converted code has recorded so much, and came to its end: the next one converts no less."""
        self._spent += recorded + _EACH
        self._wanted = recorded

    def was_too_little(self, recorded: int) -> bool:
        """The same, if it was cut off. Whether a trace may record more later."""
        self._spent += recorded + _EACH
        self._wanted = 2 * recorded
        return recorded < min(max(_LEAST, _MOST_TIMES * self.plain), _MOST)

    def _left(self) -> float:
        if self._calls is None:
            return math.inf
        return _FREE + self._calls() * self.plain / _COST - self._spent
