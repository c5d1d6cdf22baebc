"""The accuracy table as a whole: every cell judged, and the paths compared bit for bit."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import retrograd

from .. import engine
from ..engine import Value
from .arguments import rows
from .cells import Cell, Outcome, all_cells, fill, result_of
from .judge import Verdict, expected, judge

__all__ = ["Path", "Table", "measure"]


@dataclass(slots=True)
class Path:
    """Another way to the same numbers, compared bit for bit."""

    name: str
    cells: int = 0
    differ: list[str] = field(default_factory=list)
    absent: str = ""  #: why it was not taken


@dataclass(slots=True)
class Table:
    """What was measured: a verdict for each cell, and the other paths."""

    engine: str
    verdicts: list[Verdict]
    paths: list[Path]

    @property
    def short(self) -> list[Verdict]:
        """The cells that fall short."""
        return [verdict for verdict in self.verdicts if not verdict.ok]

    @property
    def cells(self) -> int:
        """Cells in all paths."""
        return len(self.verdicts) + sum(path.cells for path in self.paths)


def _judged(job: tuple[str, int]) -> list[Verdict]:
    name, step = job
    return [judge(cell, fill(cell), expected(cell)) for cell in all_cells([name], step)]


def measure(names: Sequence[str] | None = None, step: int = 1, processes: int | None = None) -> Table:
    """Fill and judge the table, or the rows ``names``, or every ``step``-th point of each row.

    Takes about a minute of computing for all of it, divided among ``processes`` (one a core).
    """
    jobs = [(row.name, step) for row in rows() if names is None or row.name in names]
    jobs.sort(key=lambda job: job[0] not in ("softmax", "logsumexp", "pow"))  # the long ones first
    if processes == 1 or len(jobs) == 1:
        parts = [_judged(job) for job in jobs]
    else:
        spawn = multiprocessing.get_context("spawn")  # JAX, if it is loaded, does not live through a fork
        with ProcessPoolExecutor(processes or os.cpu_count(), spawn) as pool:
            parts = list(pool.map(_judged, jobs))
    other = "reference" if engine.ENGINE == "native" else "native"
    return Table(
        engine.ENGINE,
        [verdict for part in parts for verdict in part],
        [_other_engine(other, names, step), _compiled(names, step)],
    )


def _bits(outcome: Outcome | list[str]) -> object:
    """NaNs are equal whatever their bits; all else must agree to the last."""
    if isinstance(outcome, str):
        return outcome
    numbers = [x if isinstance(x, float) else float.fromhex(x) for x in outcome]
    return ["nan" if x != x else x.hex() for x in numbers]


def _other_engine(name: str, names: Sequence[str] | None, step: int) -> Path:
    """The other engine's answers, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "retrograd.trust.cells", ",".join(names or ()), str(step)],
        env={**os.environ, "RETROGRAD_ENGINE": name},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return Path(name, absent=done.stderr.strip().splitlines()[-1])
    theirs = json.loads(done.stdout)
    path = Path(name)
    for cell in all_cells(names, step):
        path.cells += 1
        if _bits(fill(cell)) != _bits(theirs[cell.key]):
            path.differ.append(f"{cell} at order {cell.order}")
    return path


def _compiled(names: Sequence[str] | None, step: int) -> Path:
    """``retrograd.compile(f, exact=True)``, orders 0 and 1, where every operand is a Value."""
    compile_function: Callable[..., Any] | None = getattr(retrograd, "compile", None)
    if compile_function is None:
        return Path("compiled", absent="this retrograd has no compile()")
    path = Path("compiled")
    functions: dict[tuple[str, int], Any] = {}
    for cell in all_cells(names, step):
        static = getattr(cell.row, "static", ())
        if cell.order != 1 or not all(cell.values) or static:
            continue
        key = cell.row.name, len(cell.values)
        if key not in functions:
            functions[key] = compile_function(_as_function(cell), exact=True)
        path.cells += 2
        if _bits(_by_compiled(functions[key], cell)) != _bits(_eager(cell)):
            path.differ.append(f"{cell} at orders 0 and 1")
    return path


def _as_function(cell: Cell) -> Callable[[list[Value]], Any]:
    row = cell.row
    return lambda xs: result_of(row, xs)


def _eager(cell: Cell) -> Outcome:
    """Result and slopes in one, where the row does not raise; else the error."""
    result = fill(Cell(cell.row, cell.point, cell.values, 0))
    slopes = fill(cell)
    return result if isinstance(result, str) or isinstance(slopes, str) else (*result, *slopes)


def _by_compiled(function: Any, cell: Cell) -> Outcome:
    from .python import raised

    try:
        value, slopes = function.value_and_grad([float(x) for x in cell.point.given])
    except (ArithmeticError, ValueError) as error:
        return raised(error)
    return (value, *slopes)
