"""How long calls wait while machine code is made, and how long it takes to be there.

python -m benchmarks.waits [SECONDS]

The programs of ``benchmarks.recurrences``, each compiled and called in a loop from the first call on. A call's wait is
its time beyond that of the median call of the same half second, less what the system's scheduler gave to other
processes meanwhile (Linux; elsewhere that counts, too). The first program also waits while llvmlite is imported, once
for the whole process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import retrograd as rg

from .recurrences import PROGRAMS

__all__ = ["Waits", "main", "waits_of"]

#: Calls before the program is made and checked, which is the first call's work put off.
_EARLY = 20

_HALF_SECOND = 0.5


class Waits:
    """Of one program: the seconds until machine code took over, and the waits of its calls, in milliseconds."""

    def __init__(self, until_code: float, waits: list[float]) -> None:
        self.until_code = until_code
        self.worst = max(waits, default=0.0)
        self.long = sum(wait > 0.2 for wait in waits)
        self.calls = len(waits)


@contextlib.contextmanager
def _scheduler() -> Iterator[Callable[[], float]]:
    """Seconds for which this thread could have run and did not, since others had the processors."""
    path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
    if not os.path.exists(path):
        yield lambda: 0.0
        return
    with open(path, "rb", buffering=0) as file:
        yield lambda: int(os.pread(file.fileno(), 100, 0).split()[1]) * 1e-9


def waits_of(function: Callable[[Any, Any], Any], at: list[float], seconds: float) -> Waits:
    """Call a function, compiled now, for so long."""
    compiled, numbers = rg.compile(lambda p: function(rg.math, p)), np.array(at)
    times: list[tuple[float, float]] = []  # when a call ended, and how long it took
    until_code = seconds
    begin = end = perf_counter()
    with _scheduler() as delayed:
        while end - begin < seconds:
            others, start = delayed(), perf_counter()
            compiled.value_and_grad(numbers)
            end = perf_counter()
            times.append((end - begin, end - start - (delayed() - others)))
            if until_code == seconds and len(times) % 50 == 0 and len(times) > 200 and compiled.tier == "llvm":
                until_code = end - begin
    halves: dict[int, list[float]] = {}
    for when, took in times[_EARLY:]:
        halves.setdefault(int(when / _HALF_SECOND), []).append(took)
    waits = []
    for half in halves.values():
        usual = median(half)
        waits += [1e3 * (took - usual) for took in half]
    return Waits(until_code, waits)


def main(seconds: float) -> None:
    """Print the waits of each program."""
    for function, at in PROGRAMS:
        found = waits_of(function, at, seconds)
        code = f"{found.until_code:5.2f} s" if found.until_code < seconds else "none   "
        print(
            f"{function.__name__:18} machine code after {code}  longest wait {found.worst:6.2f} ms, "
            f"over 0.2 ms: {found.long} of {found.calls:,} calls"
        )
    print(f"{seconds:g} seconds for each program, from its first call on.")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
