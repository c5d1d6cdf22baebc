"""What ``make bench`` runs: our speed and memory as ratios to peers, all measured in one run.

Every figure is taken beside its peer, in turns, in this process (memory: in a fresh process each),
after both were seen to compute the same thing. Peers that are not installed are named with the
command that installs them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from .compiled_workloads import COMPILED_WORKS
from .figures import Effort, Figure, Report
from .measure import machine
from .workloads import WORKS

__all__ = ["main"]

EFFORTS = {
    "default": Effort(),
    "quick": Effort(
        rounds=10,
        slow_rounds=3,
        slowest_rounds=1,
        loop_steps=5,
        every_neighbour=False,
        memory_nodes=1_000_000,
        largest=1_000_000,
        steps=100,
        warm=1.0,
    ),
    "reference": Effort(
        rounds=3,
        slow_rounds=2,
        slowest_rounds=1,
        loop_steps=3,
        every_neighbour=False,
        memory_nodes=100_000,
        largest=100_000,
    ),
    "full": Effort(rounds=100, slow_rounds=20, slowest_rounds=5, loop_steps=30, largest=100_000_000),
}


def main(
    only: Sequence[str] | None = None,
    quick: bool = False,
    json_path: Path | None = None,
    full: bool = False,
    compiled: bool = False,
    names: Path | None = None,
) -> dict[str, object]:
    """Measure the works named in ``only`` (all of them when it is empty), print the table, return what was found.

    ``quick`` takes fewer runs and smaller sizes; ``full`` takes more, and a chain of 100 million
    nodes, for which about 7 GB of memory are needed. ``json_path`` is where to write the result too.
    ``compiled`` measures compiled programs instead, trained on the names in the file ``names``.

    Raises ValueError when ``only`` names a work that does not exist, OSError when the file cannot
    be written, ArithmeticError when ours and a peer do not compute the same.
    """
    works = COMPILED_WORKS if compiled else WORKS
    chosen = list(only) if only else list(works)
    unknown = [name for name in chosen if name not in works]
    if unknown:
        raise ValueError(f"there is no benchmark called {unknown[0]!r}; choose from {', '.join(works)}")
    if names is not None and not compiled:
        raise ValueError("names are what compiled programs train on: give --names together with --compiled")
    if quick and full:
        raise ValueError("quick and full contradict each other; choose one of them")
    facts = machine()
    effort = "quick" if quick else "full" if full else "default"
    if not _is_native(facts):
        if compiled:
            raise ValueError(
                "compiled programs need the native engine; this is the reference engine, which compiles none"
            )
        effort = "reference"
    console = Console()
    console.print(_machine_line(facts), highlight=False, soft_wrap=True)
    reports: dict[str, Report] = {}
    for name in chosen:
        console.print(f"measuring {name} ...", style="dim", highlight=False)
        reports[name] = works[name](replace(EFFORTS[effort], names=names))
    figures = [figure for report in reports.values() for figure in report.figures]
    _print(console, figures, reports)
    found = _as_json(effort, facts, reports)
    if json_path is not None:
        json_path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        console.print(f"written to {json_path}", highlight=False, soft_wrap=True)
    return found


def _is_native(facts: dict[str, str]) -> bool:
    return facts["engine"] == "native"


def _machine_line(facts: dict[str, str]) -> str:
    versions = ", ".join(f"{name} {facts[name]}" for name in ("retrograd", "numpy", "xad", "micrograd"))
    line = (
        f"{facts['processor']}, {facts['cores']} cores, load {facts['load']}, {facts['system']}; "
        f"Python {facts['python']}, engine {facts['engine']}, {versions}"
    )
    if not _is_native(facts):
        line += "\nThis is the pure-Python reference engine: it is for reading."
        line += "\nSizes are small, and the bars are not meant for it."
    return line


def _verdict(figure: Figure) -> str:
    if figure.ratio is None:
        return "not measured"
    if figure.bar is None:
        return "[green]the goal[/]" if figure.reaches(figure.goal) else "goal missed"
    if not figure.reaches(figure.bar):
        return "[bold red]missed[/]"
    if figure.reaches(figure.goal):
        return "[green]met, and the goal[/]"
    return "[green]met[/]"


def _limit(figure: Figure, limit: float | None) -> str:
    if limit is None:
        return "-"
    return f"{'≥' if figure.sense == 'faster' else '≤'} {limit:,g}{figure.unit}"


def _ratio(figure: Figure) -> str:
    if figure.ratio is None:
        return "-"
    digits = 3 if figure.ratio < 0.5 else 2 if figure.ratio < 20 else 1 if figure.ratio < 1000 else 0
    return f"{figure.ratio:,.{digits}f}{figure.unit}"


def _print(console: Console, figures: list[Figure], reports: dict[str, Report]) -> None:
    for report in reports.values():
        for table in report.tables:
            shown = RichTable(*table.header, title=table.title, title_justify="left", box=box.SIMPLE)
            for row in table.rows:
                shown.add_row(*row)
            console.print(shown)
    shown = RichTable(title="figures", title_justify="left", box=box.SIMPLE)
    shown.add_column("work", ratio=1)
    for heading in ("ours", "peer", "ratio", "bar", "goal"):
        shown.add_column(heading, justify="right")
    shown.add_column("met")
    for number, figure in enumerate(figures, 1):
        limits = (_limit(figure, figure.bar), _limit(figure, figure.goal))
        work = f"{number}. {figure.work}"
        shown.add_row(work, figure.ours, figure.peer, _ratio(figure), *limits, _verdict(figure))
    console.print(shown)
    for number, figure in enumerate(figures, 1):
        console.print(f"{number}. {figure.how}", style="dim", highlight=False)


def _as_json(effort: str, facts: dict[str, str], reports: dict[str, Report]) -> dict[str, object]:
    figures = [
        {
            "name": name,
            "work": figure.work,
            "ours": figure.ours,
            "peer": figure.peer,
            "ratio": figure.ratio,
            "sense": figure.sense,
            "bar": figure.bar,
            "goal": figure.goal,
            "bar_met": figure.reaches(figure.bar),
            "goal_met": figure.reaches(figure.goal),
            "how": figure.how,
        }
        for name, report in reports.items()
        for figure in report.figures
    ]
    tables = [
        {"name": name, "title": table.title, "header": table.header, "rows": table.rows}
        for name, report in reports.items()
        for table in report.tables
    ]
    return {"effort": effort, "machine": facts, "figures": figures, "tables": tables}
