"""What a compiled function was traced in, and what its programs are worth when that has changed.

A pure program stands for its function as long as the function would compute the same: as long as every place that it
can reach (reach.py) holds what it held in the trace. The places are looked at natively in every call
(native/compiler/captured.hpp). When one has changed, every program is in doubt until a new trace of a call shows
whether it computes what it did.

What is in no place, such as files, the time or random numbers, is the promise of ``pure=True``.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .. import engine, errors
from .reach import Key, Reach

__all__ = ["Captured", "uses"]

#: A place that changed so often without changing any program is not looked at any more.
_PATIENCE = 3

_lock = threading.RLock()  # of all of them: looking may run users' code, such as a property __dict__


def uses(function: Callable[..., Any], name: str) -> bool:
    """Whether a function, or one that it can reach, uses a global name."""
    return name in Reach([(function, "")]).names


class Captured:
    """What one compiled function can reach, and what its programs are worth since that changed."""

    def __init__(self, programs: engine.Programs, function: Callable[..., Any]) -> None:
        self._programs, self._function = programs, function
        self._reach: Reach | None = None
        self._objects: dict[int, Any] = {}  # arguments that are looked into
        self._ignored: dict[Key, Any] = {}  # with what keeps the address from being another's
        self._innocent: Counter[Key] = Counter()
        self._suspects: dict[Key, tuple[str, Any]] = {}  # what has changed: how it is written, what it is

    def uses(self, name: str) -> bool:
        """Whether the function, or one that it can reach, uses a global name."""
        return uses(self._function, name) if self._reach is None else name in self._reach.names

    def look(self) -> str:
        """Put every program in doubt if something has changed since the last trace: how users write that, or ""."""
        with _lock:
            if self._reach is None:
                self._capture()
                return ""
            changes = self._programs.changed()
            if not changes:
                return ""
            late = False
            for number, at_once, instead in changes:
                _, thing, name = self._reach.places[number]
                self._suspects[id(thing), name] = self._reach.paths[number], thing
                late |= not at_once and not (instead and all(map(self._is_newer, instead)))
            self._programs.doubt(late)
            return self._reach.paths[changes[0][0]]

    def _is_newer(self, thing: Any) -> bool:
        """Whether something that is in another's place, or a part of it, is too young to have been there unnoticed."""
        return self._programs.newer(Reach([(thing, "")]).leaves)

    def keep(self, objects: Sequence[Any]) -> None:
        """All shall stay as it is now that can be reached from the function and from ``objects``, arguments of it."""
        with _lock:
            known = self._objects.keys()
            self._objects = {id(thing): thing for thing in objects}
            if self._objects.keys() != known or self._programs.changed():
                self._capture()

    def forget(self) -> None:
        """There are no programs any more."""
        with _lock:
            self._objects.clear()
            self._suspects.clear()

    def _capture(self) -> None:
        roots = [(self._function, getattr(self._function, "__name__", "the function"))]
        roots += [(thing, f"the {type(thing).__name__} among the arguments") for thing in self._objects.values()]
        reach = Reach(roots, self._ignored)
        self._programs.capture(reach.places)
        self._reach = reach

    def settle(self, mode: int, arguments: tuple[Any, ...], number: int) -> int:
        """Compare a new program with those that stood for its call and are in doubt. The one to use from now on.

        Raises StaleProgramError when one may have answered with numbers of the past.
        """
        late, kept, what = False, number, ""
        for doubted in self._programs.doubted(mode, arguments):
            verdict = self._programs.settle(doubted, number)
            late |= verdict == "late"
            if verdict == "alike":
                kept = doubted
            else:
                self._programs.drop(doubted)
            what = self._judge(innocent=verdict == "alike") or what
        if kept != number or late:
            self._programs.drop(number)
        if late:
            raise errors.stale_program(self._function, what)
        return kept

    def _judge(self, innocent: bool) -> str:
        """What a comparison says of all that has changed since the one before; how users write one of these."""
        with _lock:
            changed = dict(self._suspects)
            self._suspects.clear()
            for key in changed:
                self._innocent[key] = self._innocent[key] + 1 if innocent else 0
            irrelevant = {key: thing for key, (_, thing) in changed.items() if self._innocent[key] >= _PATIENCE}
            if irrelevant:
                self._ignored |= irrelevant
                self._capture()
            return next((path for path, _ in changed.values()), "")
