"""What a compiled function was traced in, and what its programs are worth when that has changed.

A pure program stands for its function as long as the function would compute the same: as long as every place that it
can reach (reach.py) holds what it held in the trace. The places are looked at natively in every call
(native/compiler/guards/dependency_guards.hpp). When one has changed, every program is in doubt until a new trace of a
call shows whether it computes what it did.

What is in no place, such as files, the time or random numbers, is the promise of ``pure=True``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from ... import engine, errors
from .dependencies import Reach

__all__ = ["Captured"]

_lock = threading.RLock()  # of all of them: looking may run users' code, such as a property __dict__


class Captured:
    """What one compiled function can reach, and what its programs are worth since that changed."""

    def __init__(self, programs: engine.SpecializationCache, function: Callable[..., Any]) -> None:
        self._programs, self._function = programs, function
        self._reach: Reach | None = None
        self._objects: dict[int, Any] = {}  # arguments that are looked into
        self._changed = ""  # what was found last, as users write it

    @property
    def graph_break(self) -> str:
        """Something that no stand-in can answer, which the function asks in a way that no trace notices; or ""."""
        return "" if self._reach is None else self._reach.graph_break

    @property
    def tests_identity(self) -> bool:
        """Whether the function may ask which object a Value is, which no tracer in its place can answer."""
        return self._reach is not None and self._reach.tests_identity

    def look(self) -> str:
        """Put every program in doubt if something has changed since the last trace: how users write that, or ""."""
        with _lock:
            reach = self._reach
            if reach is None:
                self._capture()
                return ""
            changes = self._programs.changed()
            if not changes:
                return ""
            late = any(
                not at_once and not (instead and all(map(self._is_newer, instead))) for _, at_once, instead in changes
            )
            self._programs.invalidate(late)
            self._changed = reach.paths[changes[0][0]]
            return self._changed

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
            self._objects = {}

    def _capture(self) -> None:
        roots = [(self._function, getattr(self._function, "__name__", "the function"))]
        roots += [(thing, f"the {type(thing).__name__} among the arguments") for thing in self._objects.values()]
        reach = Reach(roots)
        self._programs.capture(reach.places)
        self._reach = reach

    def settle(self, differentiate_first: bool, arguments: tuple[Any, ...], number: int) -> int:
        """Compare a new program with those that stood for its call and are in doubt. The one to use from now on.

        Raises StaleProgramError when one may have answered with numbers of the past.
        """
        kept = number
        verdicts = self._verdicts(differentiate_first, arguments, number)
        if "alike" in verdicts.values():
            kept = next(doubted for doubted, verdict in verdicts.items() if verdict == "alike")
            self._programs.drop(number)
        elif "late" in verdicts.values():
            self._programs.drop(number)
        self._refuse(verdicts)
        return kept

    def give_up(self, differentiate_first: bool, arguments: tuple[Any, ...]) -> None:
        """There can be no new program for a call: those in doubt that stood for it are dropped.

        Raises StaleProgramError when one may have answered with numbers of the past.
        """
        self._refuse(self._verdicts(differentiate_first, arguments, None))

    def _verdicts(self, differentiate_first: bool, arguments: tuple[Any, ...], number: int | None) -> dict[int, str]:
        suspects = self._programs.suspects(differentiate_first, arguments)
        return {one: self._programs.revalidate(one, number) for one in suspects}

    def _refuse(self, verdicts: dict[int, str]) -> None:
        for doubted, verdict in verdicts.items():
            if verdict != "alike":
                self._programs.drop(doubted)
        if "late" in verdicts.values():
            raise errors.stale_program(self._function, self._changed)
