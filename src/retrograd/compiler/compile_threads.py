"""Threads that have hot programs compiled, each in a process of its own: small programs do not wait for large ones."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from queue import Empty, SimpleQueue
from typing import Protocol

from .backends.process import CompileProcess, Run

__all__ = ["CompileThread", "Compiler", "Event", "became_hot", "for_large", "for_small"]

#: A process that compiles ends when nothing has become hot for so many seconds.
_IDLE = 30.0


class Compiler(Protocol):
    """What decides how the programs of one function are compiled."""

    def is_large(self, number: int) -> bool:
        """Whether a program may take seconds."""

    def compile(self, number: int, batch: int, run: Run) -> None:
        """Compile a program for a batch size. Raises nothing."""


#: A program: what it is compiled by, its number, its batch size.
Event = tuple[weakref.ref[Compiler], int, int]


class CompileThread:
    """A thread, which begins with the first program: most functions are called a few times."""

    def __init__(self, name: str, larger: CompileThread | None = None) -> None:
        """``larger``: the thread that compiles what is large; without one, this does."""
        self._name, self._larger = name, larger
        self._waiting: SimpleQueue[Event | None] = SimpleQueue()  # None ends the thread
        self._thread: threading.Thread | None = None
        self._stopping = False
        self.process: CompileProcess = CompileProcess()

    def put(self, event: Event) -> None:
        """Have a program compiled."""
        self._waiting.put(event)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def _work(self) -> None:
        from .backends.llvm.jit import available

        while True:
            try:
                event = self._waiting.get(timeout=_IDLE)
            except Empty:
                self.process.end()
                event = self._waiting.get()
            if event is None or self._stopping:
                return
            reference, number, batch = event
            compiler = reference()
            if compiler is None or not available():
                continue
            if self._larger is not None and compiler.is_large(number):
                self._larger.put(event)
            else:
                compiler.compile(number, batch, self.process.run)
            del compiler, event

    def stop(self) -> None:
        """End the thread and its process, for good."""
        self._stopping = True
        if self._thread is not None:
            self._waiting.put(None)
            self.process.close()
            self._thread.join()

    def forget(self) -> None:
        """In a process that was forked, which has no such thread."""
        self._thread = None
        self.process.forget()


for_large = CompileThread("retrograd-llvm-large")
for_small = CompileThread("retrograd-llvm", for_large)


def became_hot(event: Event) -> None:
    """Hand a program on that runs often."""
    for_small.put(event)


@atexit.register
def _stop() -> None:
    """End the threads first: LLVM must not run while the process unloads it."""
    for thread in (for_small, for_large):
        thread.stop()


def _forked() -> None:
    for thread in (for_small, for_large):
        thread.forget()


os.register_at_fork(after_in_child=_forked)
