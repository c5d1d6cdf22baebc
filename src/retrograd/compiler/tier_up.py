"""Tier-up: a program that runs often is compiled by LLVM on a background thread, which replaces its kernel calls.

The native cache counts the runs and puts a program that becomes hot into a queue, so that a call never waits for LLVM.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from contextlib import suppress
from queue import SimpleQueue

from ..engine import SpecializationCache
from .request import Tier

__all__ = ["TierUp"]

#: How often a program runs before LLVM compiles it, which takes some hundred milliseconds.
THRESHOLD = 200

#: (weak reference to TierUp, number of the specialization, batch size); None ends the thread.
_hot: SimpleQueue[tuple[weakref.ref[TierUp], int, int] | None] = SimpleQueue()
_worker: threading.Thread | None = None


class TierUp:
    """Decides which specializations of one function get machine code, and when."""

    def __init__(self, cache: SpecializationCache, tier: Tier, float32: bool) -> None:
        """Raises MissingExtraError if the caller chose the LLVM tier and llvmlite is not installed."""
        self._cache, self._tier, self._float32 = cache, tier, float32
        self._compiled: set[tuple[int, int]] = set()
        self._notified = False
        if tier == "llvm":
            from .backends.llvm.jit import require

            require()

    def added(self) -> None:
        """A specialization was added: compile it now if the caller chose LLVM, or watch for hot ones."""
        if self._tier == "llvm":
            self.catch_up()
        elif self._tier == "auto" and not self._notified and not self._float32:
            from .backends.llvm.jit import available

            self._notified = True
            if available():
                _start()
                self._cache.notify_when_hot(THRESHOLD, _hot.put, weakref.ref(self))

    def catch_up(self) -> None:
        """If the caller chose the LLVM tier, compile what still runs on the virtual machine."""
        if self._tier != "llvm" or not self._cache.fresh():
            return
        for fact in self._cache.facts():
            for batch in fact["batches"] if fact["tier"] != "interpreter" else ():
                if (fact["number"], batch) not in self._compiled:
                    self.compile(fact["number"], batch)

    def compile(self, number: int, batch: int) -> None:
        """Compile a specialization for one batch size, and install the machine code."""
        from .backends.llvm.pipeline import compile_program

        self._compiled.add((number, batch))
        compile_program(self._cache, number, batch, self._float32)


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
            with suppress(IndexError):  # the specialization was dropped meanwhile
                tier_up.compile(number, batch)
        except Exception:  # reported like that of any thread; this program stays on the virtual machine
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
        del tier_up, event


@atexit.register
def _stop() -> None:
    """End the thread first: LLVM must not run while the process unloads it."""
    if _worker is not None:
        _hot.put(None)
        _worker.join()


def _forked() -> None:
    global _worker
    _worker = None


os.register_at_fork(after_in_child=_forked)
