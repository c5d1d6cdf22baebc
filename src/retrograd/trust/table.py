"""The accuracy table as a whole: every cell judged, and the paths compared bit for bit."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from .. import engine
from . import compiled
from .arguments import rows
from .cells import all_cells, fill
from .judge import Verdict, expected, judge
from .paths import Fast, Path

__all__ = ["Table", "measure"]


@dataclass(slots=True)
class Table:
    """What was measured: a verdict for each cell, the paths that have the same bits, and the fast ones."""

    engine: str
    verdicts: list[Verdict]
    paths: list[Path]
    fast: list[Fast]

    @property
    def short(self) -> list[Verdict]:
        """The cells that fall short."""
        return [verdict for verdict in self.verdicts if not verdict.ok]

    @property
    def ways(self) -> list[Path]:
        """All other paths."""
        return [*self.paths, *self.fast]

    @property
    def cells(self) -> int:
        """Cells in all paths."""
        return len(self.verdicts) + sum(path.cells for path in self.ways)


def _judged(job: tuple[str, int]) -> tuple[list[Verdict], list[Fast]]:
    name, step = job
    verdicts, known = [], []
    for cell in all_cells([name], step):
        outcome, wanted = fill(cell), expected(cell)
        verdicts.append(judge(cell, outcome, wanted))
        known.append((cell, outcome, wanted, verdicts[-1].ok))
    return verdicts, [compiled.ask(tier, known) for tier in compiled.TIERS] if _compiles() else []


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
        [verdict for verdicts, _ in parts for verdict in verdicts],
        [_other_engine(other, names, step), *_exactly_compiled(names, step)],
        _together(fast for _, fast in parts),
    )


def _compiles() -> bool:
    return engine.ENGINE == "native"


def _together(parts: Iterable[Sequence[Fast]]) -> list[Fast]:
    """What the fast tiers gave, over all rows."""
    whole = [Fast(name) for name in compiled.TIERS] if _compiles() else []
    for part in parts:
        for all_of_it, some in zip(whole, part, strict=True):
            all_of_it.add(some)
    return whole


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
        answer = theirs[cell.key]
        path.hear(cell, fill(cell), answer if isinstance(answer, str) else tuple(map(float.fromhex, answer)))
    return path


def _exactly_compiled(names: Sequence[str] | None, step: int) -> list[Path]:
    """``rg.compile(f, exact=True)`` with the promise of purity and without it, orders 0 and 1."""
    if not _compiles():
        return [Path("compiled", absent=f"the {engine.ENGINE} engine compiles nothing")]
    paths = []
    for name, pure in (("compiled, exact", True), ("compiled, exact, in safe mode", False)):
        path, answers = Path(name), compiled.Answers(pure, exact=True)
        for cell in all_cells(names, step):
            if cell.order < 2:
                path.hear(cell, fill(cell), answers(cell))
        path.differ += answers.fallen_back
        paths.append(path)
    return paths
