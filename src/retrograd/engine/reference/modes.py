"""The state that each thread of the reference engine has of its own: identity, modes, hooks. And the backward lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .value import Value

__all__ = [
    "acquire_backward_lock",
    "release_backward_lock",
    "set_backward_hook",
    "set_errstate",
    "set_observer",
    "set_recording",
]


class Tape(threading.local):
    """The modes of one thread. Its interior nodes keep ``thread``, the identity of the thread."""

    def __init__(self) -> None:
        self.thread: object = object()
        self.recording = True
        self.raising: frozenset[str] = frozenset({"divide", "over", "invalid"})
        self.observer: Callable[[Value], object] | None = None
        self.observing = False  #: the observer is running: nodes that it records itself are not shown to it
        self.backward_hook: Callable[[Value, float], object] | None = None

    def show(self, node: Value) -> None:
        """Show a new interior node to the observer, if there is one."""
        if self.observer is None or self.observing:
            return
        self.observing = True
        try:
            self.observer(node)
        finally:
            self.observing = False


tape: Tape = Tape()

#: A backward pass holds this lock, because all threads share the gradients of leaves.
backward_lock = threading.RLock()


def acquire_backward_lock() -> None:
    """Wait until no other thread is in a backward pass, and keep the others out."""
    backward_lock.acquire()


def release_backward_lock() -> None:
    """Undo one ``acquire_backward_lock()`` of this thread. Raises RuntimeError without one."""
    backward_lock.release()


def set_recording(on: bool, /) -> bool:
    """Record operations or not; returns the previous mode. Results are leaves while it is off."""
    previous, tape.recording = tape.recording, bool(on)
    return previous


def set_errstate(divide: bool, over: bool, invalid: bool, /) -> tuple[bool, bool, bool]:
    """Which kinds of domain errors are raised (True) or give IEEE results; returns the previous switches."""
    previous = tape.raising
    switches = {"divide": divide, "over": over, "invalid": invalid}
    tape.raising = frozenset(kind for kind, on in switches.items() if on)
    return "divide" in previous, "over" in previous, "invalid" in previous


def set_observer(observer: Callable[[Value], object] | None, /) -> Callable[[Value], object] | None:
    """Call ``observer`` with each new interior node of this thread; returns the previous one."""
    previous, tape.observer = tape.observer, observer
    return previous


def set_backward_hook(hook: Callable[[Value, float], object] | None, /) -> Callable[[Value, float], object] | None:
    """While set, ``value.backward(g)`` on this thread calls ``hook(value, g)`` instead; returns the previous one."""
    previous, tape.backward_hook = tape.backward_hook, hook
    return previous
