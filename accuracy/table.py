"""The accuracy table as a whole: every cell judged, and the variants compared bit for bit."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from retrograd import engine

from . import compiled
from .matrix import all_cells, fill
from .oracle import Verdict, expected, judge
from .sample_points import rows
from .variants import FastVariant, Variant

__all__ = ["Table", "fast_variants", "measure"]

#: The checkout: the table is measured from it, and is in no wheel.
ROOT = Path(__file__).resolve().parents[1]


@dataclass(slots=True)
class Table:
    """What was measured: a verdict for each cell, the variants that have the same bits, and the fast ones."""

    engine: str
    verdicts: list[Verdict]
    exact: list[Variant]
    fast: list[FastVariant]

    @property
    def short(self) -> list[Verdict]:
        """The cells that fall short."""
        return [verdict for verdict in self.verdicts if not verdict.ok]

    @property
    def variants(self) -> list[Variant]:
        """All variants but the engine itself."""
        return [*self.exact, *self.fast]

    @property
    def cells(self) -> int:
        """Cells in all variants."""
        return len(self.verdicts) + sum(variant.cells for variant in self.variants)


def _judged(job: tuple[str, int], highest: int = 3) -> tuple[list[Verdict], list[FastVariant]]:
    name, step = job
    verdicts, known = [], []
    for cell in all_cells([name], step):
        if cell.order > highest:
            continue
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


def fast_variants(names: Iterable[str]) -> list[FastVariant]:
    """The fast variants alone, at every argument of the rows ``names``: they have orders 0 and 1."""
    return _together(_judged((name, 1), highest=1)[1] for name in names)


def _compiles() -> bool:
    return engine.ENGINE == "native"


def _together(parts: Iterable[Sequence[FastVariant]]) -> list[FastVariant]:
    """What the fast tiers gave, over all rows."""
    whole = [FastVariant(name) for name in compiled.TIERS] if _compiles() else []
    for part in parts:
        for all_of_it, some in zip(whole, part, strict=True):
            all_of_it.add(some)
    return whole


def _other_engine(name: str, names: Sequence[str] | None, step: int) -> Variant:
    """The other engine's answers, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "accuracy.matrix", ",".join(names or ()), str(step)],
        env={**os.environ, "RETROGRAD_ENGINE": name},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return Variant(name, absent=done.stderr.strip().splitlines()[-1])
    theirs = json.loads(done.stdout)
    variant = Variant(name)
    for cell in all_cells(names, step):
        answer = theirs[cell.key]
        variant.compare(cell, fill(cell), answer if isinstance(answer, str) else tuple(map(float.fromhex, answer)))
    return variant


def _exactly_compiled(names: Sequence[str] | None, step: int) -> list[Variant]:
    """``rg.compile(f, exact=True)``, orders 0 and 1."""
    if not _compiles():
        return [Variant("compiled", absent=f"the {engine.ENGINE} engine compiles nothing")]
    variant, answers = Variant("compiled, exact"), compiled.Answers(exact=True)
    for cell in all_cells(names, step):
        if cell.order < 2:
            variant.compare(cell, fill(cell), answers(cell))
    variant.differ += answers.fallen_back
    return [variant]
