"""What each thread of the reference engine has of its own: its identity, its modes and its hooks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import numbers

if TYPE_CHECKING:
    from .value import Value

__all__ = [
    "enter_pass",
    "leave_pass",
    "set_backward_hook",
    "set_errstate",
    "set_observer",
    "set_recording",
    "set_tracer",
]


class Tape(threading.local):
    """One thread's modes. ``thread`` is the identity that its interior nodes carry."""

    def __init__(self) -> None:
        self.thread = object()
        self.recording = True
        self.raising: frozenset[str] = frozenset({"divide", "over", "invalid"})
        self.observer: Callable[[Value], object] | None = None
        self.observing = False  #: the observer is at work: what it records itself is not observed
        self.backward_hook: Callable[[Value, float], object] | None = None
        self.tracer: Any = None
        self.tracing = False  #: there is a tracer, and it is not at work itself

    def ask(self, method: str, *subjects: Any) -> Any:
        """The tracer's answer; NotImplemented when there is none, or when it means: go on as ever."""
        if not self.tracing:
            return NotImplemented
        self.tracing = False
        try:
            return getattr(self.tracer, method)(*subjects)
        finally:
            self.tracing = self.tracer is not None


tape = Tape()

#: A pass works on the gradients of leaves, which all threads share: it has its turn while it holds this.
turn = threading.RLock()


def enter_pass() -> None:
    """Wait until no other thread is in a backward pass, and keep others waiting."""
    turn.acquire()


def leave_pass() -> None:
    """Let other threads have their passes: the end of an ``enter_pass()``. Raises RuntimeError without one."""
    turn.release()


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


def set_tracer(tracer: Any, /) -> Any:
    """Ask ``tracer`` about every number that would leave a trace of this thread; returns the previous one."""
    previous, tape.tracer = tape.tracer, tracer
    tape.tracing = tracer is not None
    return previous


def to_float(thing: object, where: str) -> float:
    """``thing`` as a float, as :func:`numbers.to_float`; in a trace, the tracer may have one for numbers of its own."""
    if tape.tracing and not numbers.is_number(thing):
        answer = tape.ask("number_of", thing, where)
        thing = thing if answer is NotImplemented else answer
    return numbers.to_float(thing, where)
