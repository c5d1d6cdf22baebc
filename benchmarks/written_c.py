"""The C that ``to_c`` writes against the C that CasADi writes and C by hand, all compiled by gcc with the same flags.

python -m benchmarks.written_c [TURNS]

The programs are those of ``recurrences``, ``subjects`` and ``triangles``. Each contender gives the value and the
gradient, called through ctypes, CasADi on buffers. C by hand is there for some of the triangles.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import retrograd as rg

from . import recurrences, subjects, triangles
from .measure import Contender, interleaved, optional, print_over_c, same, timed

__all__ = ["main", "programs", "written"]

Program = tuple[recurrences.Function, list[float], str]

_FLAGS = ["-std=c99", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]


def programs() -> Iterator[Program]:
    """All of them, with the C that was written by hand, or an empty text."""
    yield from ((function, at, "") for function, at in (*recurrences.PROGRAMS, *subjects.PROGRAMS))
    yield from triangles.PROGRAMS


def written(function: recurrences.Function, at: list[float]) -> tuple[Callable[[], float], Any, int]:
    """A call of the gradient that ``to_c`` writes, the array of its gradient, and how many lines of C it takes."""
    compiled = rg.compile(lambda p: function(rg.math, p))
    with tempfile.TemporaryDirectory() as folder:
        made = compiled.to_c(Path(folder) / "f.c", at, name="f")
        lines = len(made.path.read_text(encoding="utf-8").splitlines())
        subprocess.run(["gcc", *_FLAGS, str(made.path), "-o", f"{folder}/f.so", "-lm"], check=True)
        run = ctypes.CDLL(f"{folder}/f.so").f_gradient
    run.restype = ctypes.c_double
    numbers, nothing, work = np.array(made.inputs(at)), np.zeros(1), np.zeros(made.work + 1)
    slopes = np.zeros(made.derivatives)
    kept = numbers, nothing, slopes, nothing, work
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in kept]
    return lambda keep=kept: run(*addresses), slopes, lines


def measured(program: Program, turns: int) -> tuple[dict[str, float], int]:
    """Microseconds of each contender, which give the same numbers, and the lines of C."""
    function, at, source = program
    call, slopes, lines = written(function, at)
    answer = [call(), *slopes.tolist()]
    contenders = [Contender("to_c", timed(call, 50), turns, collector_on=False)]
    if source:
        hand, theirs = triangles.by_hand(source, at)
        same("C by hand", answer, [hand(), *theirs.tolist()], 1e-8)
        contenders.append(Contender("C by hand", timed(hand, 50), turns, collector_on=False))
    if casadi := optional("casadi"):
        _, code, found = recurrences.casadi_calls(function, at, casadi)
        code()
        same("CasADi's C", answer, found.tolist(), 1e-8)
        contenders.append(Contender("CasADi's C", timed(code, 50), turns, collector_on=False))
    return {name: phases["call"] / 1e3 for name, phases in interleaved(contenders).items()}, lines


def main(turns: int) -> None:
    """Print what each contender takes on each program, that of ``to_c`` over the better one, and the geometric mean."""
    found = ((program[0].__name__, *measured(program, turns)) for program in programs())
    print_over_c(((name, figures, f"{lines:6} lines") for name, figures, lines in found), "to_c", turns)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
