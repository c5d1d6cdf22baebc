"""When a program leaves the virtual machine for machine code made by LLVM.

A program that has run often is compiled by a thread in the background, and takes over when it is ready. The native
side counts; calls pay nothing for it.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from contextlib import suppress
from queue import SimpleQueue

from ..engine import Programs
from .request import Tier

__all__ = ["TierUp"]

#: How often a program runs before it is worth a compilation of some hundred milliseconds.
THRESHOLD = 200

#: (weak reference to TierUp, number of the program, members of its batch); None ends the thread.
_hot: SimpleQueue[tuple[weakref.ref[TierUp], int, int] | None] = SimpleQueue()
_worker: threading.Thread | None = None


class TierUp:
    """Decides which specializations of one function get machine code, and when."""

    def __init__(self, programs: Programs, tier: Tier, float32: bool) -> None:
        """Raises MissingExtraError when the LLVM tier is insisted on and llvmlite is not there."""
        self._programs, self._tier, self._float32 = programs, tier, float32
        self._compiled: set[tuple[int, int]] = set()
        self._watches = False
        if tier == "llvm":
            from .backends.llvm.jit import require

            require()

    def added(self) -> None:
        """A program has been made."""
        if self._tier == "llvm":
            self.catch_up()
        elif self._tier == "auto" and not self._watches and not self._float32:
            from .backends.llvm.jit import available

            self._watches = True
            if available():
                _start()
                self._programs.notify_when_hot(THRESHOLD, _hot.put, weakref.ref(self))

    def catch_up(self) -> None:
        """Where the LLVM tier is insisted on, compile what still runs on the virtual machine."""
        if self._tier != "llvm" or not self._programs.fresh():
            return
        for fact in self._programs.facts():
            for batch in fact["batches"] if fact["tier"] != "interpreter" else ():
                if (fact["number"], batch) not in self._compiled:
                    self.compile(fact["number"], batch)

    def compile(self, number: int, batch: int) -> None:
        """Make machine code for a program lowered for ``batch`` members, and run that from now on."""
        from .backends.llvm.pipeline import compile_program

        self._compiled.add((number, batch))
        compile_program(self._programs, number, batch, self._float32)


def _start() -> None:
    global _worker
    if _worker is None:
        _worker = threading.Thread(target=_work, name="retrograd-llvm", daemon=True)
        _worker.start()


def _work() -> None:
    while (event := _hot.get()) is not None:
        reference, number, batch = event
        tier_up = reference()
        if tier_up is None:
            continue
        try:
            with suppress(IndexError):  # the program was dropped meanwhile
                tier_up.compile(number, batch)
        except Exception:  # told as of any thread; the program stays on the virtual machine, and others have their turn
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
        del tier_up, event


@atexit.register
def _stop() -> None:
    """LLVM must not be at work while the process takes it down."""
    if _worker is not None:
        _hot.put(None)
        _worker.join()


def _forked() -> None:
    global _worker
    _worker = None


os.register_at_fork(after_in_child=_forked)
