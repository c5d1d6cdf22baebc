"""The accuracy table: a slice of it in every run, all of it in ``make accuracy``; and that it would notice mistakes."""

from __future__ import annotations

import os
import random
import sys
from importlib import metadata
from pathlib import Path

import pytest
from support.parts import ALL, require

from accuracy.sample_points import rows
from retrograd.engine import ENGINE

pytest.importorskip("sympy", reason="the exact derivatives are SymPy's: pip install sympy mpmath")

from accuracy import conventions, mutants, report
from accuracy.__main__ import main as command
from accuracy.oracle import Verdict
from accuracy.table import Table, fast_variants, measure
from retrograd.ops import BY_NAME, Op

# The table asks the reference engine, too, and compares.
pytestmark = [pytest.mark.native, pytest.mark.long]

STEP = 1 if ALL else 7
NAMES = [row.name for row in rows()]
#: Cells that fall short by what the table calls their cause, in all of it; none of orders 0 and 1 beyond these rows.
KNOWN_SHORT = {"pow", "div", "exp2", "sqrt", "logsumexp", "digamma"}
MOST_SHORT = 204


@pytest.fixture(scope="module")
def table() -> Table:
    return measure(step=STEP, processes=1 if os.environ.get("PYTEST_XDIST_WORKER") else None)


def listed(verdicts: list[Verdict]) -> str:
    return "\n".join(f"{v.cell} order {v.cell.order}: {v.got}, exactly {v.wanted}" for v in verdicts)


def test_no_value_falls_short(table: Table) -> None:
    short = [v for v in table.short if v.cell.order == 0]
    assert not short, listed(short)
    assert sum(v.kind == "raises" for v in table.verdicts) > 50


def test_first_derivatives_fall_short_where_it_is_known_only(table: Table) -> None:
    short = [v for v in table.short if v.cell.order == 1 and v.cell.row.name not in KNOWN_SHORT]
    assert not short, listed(short)


def test_no_more_cells_fall_short_than_the_page_lists(table: Table) -> None:
    assert len(table.short) <= MOST_SHORT, listed(table.short)
    ordinary = [v for v in table.short if set(v.cell.point.classes) <= {"ordinary", "tiny", "numpy float"}]
    assert not ordinary, listed(ordinary)


def test_every_variant_has_the_same_bits(table: Table) -> None:
    for variant in table.exact:
        assert not variant.differ, variant.differ[:20]
    if ENGINE == "native":
        low = sum(verdict.cell.order < 2 for verdict in table.verdicts)
        assert [variant.cells for variant in table.exact] == [len(table.verdicts), low], [
            str(variant) for variant in table.exact
        ]


def test_fast_compiled_functions_keep_the_bars(table: Table) -> None:
    """Errors, infinities and NaNs are the engine's; only a softmax's sum has another order, and cancels."""
    for fast in table.fast:
        if fast.absent:
            require("llvmlite")  # fails where it must be there
        assert not fast.differ, fast.differ[:20]
        assert fast.cells > 2 * sum(verdict.cell.order == 0 for verdict in table.verdicts)
        assert {verdict.cell.row.name for verdict in fast.short} <= {"softmax"}, listed(fast.short)
        assert all(verdict.ulp < 32 for verdict in fast.short), listed(fast.short)


def test_fast_compiled_operators_at_every_argument() -> None:
    """Not a slice: an inverse that a kernel shared once made the slope of 0.0 / 5e-324 a NaN in four cells."""
    for fast in fast_variants(row.name for row in rows() if isinstance(row, Op)):
        if fast.absent:
            require("llvmlite")
        assert not fast.differ, fast.differ[:20]
        assert not fast.short, listed(fast.short)
        assert fast.cells > 10_000


def test_the_page_lists_every_cell_that_falls_short(table: Table) -> None:
    page = report.page(table, None, [])
    for verdict in [*table.short, *(verdict for fast in table.fast for verdict in fast.short)]:
        assert f"`{verdict.cell}` | {verdict.cell.order} | {verdict.got}" in page
    assert len(table.short) == sum(report.cause(v) in {key for _, key in report.CAUSES} for v in table.short)


def test_wrong_formulas_are_caught() -> None:
    chosen = None if ALL else random.Random(5).sample(NAMES, 6)
    count, missed = mutants.hunt(chosen)
    assert count >= (380 if ALL else 20)
    assert not missed, [str(mutant) for mutant in missed]


@pytest.mark.parametrize("library", conventions.LIBRARIES)
def test_the_conventions_page_says_what_the_libraries_answer(library: str) -> None:
    require(library)
    text = (Path(__file__).parents[1] / "docs" / "conventions.md").read_text(encoding="utf-8")
    if library != "retrograd" and f"{library} {metadata.version(library)}" not in text:
        pytest.skip(f"the page was written with another {library} than {metadata.version(library)}")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    column = lines[0].index(library)
    written = {line[0]: line[column] for line in lines[1:]}
    asked = {edge.text: conventions.shown(conventions.answers(edge)[library]) for edge in conventions.EDGES}
    assert written == asked


def test_stated_edges_hold() -> None:
    for name in NAMES:
        for edge in getattr(BY_NAME[name], "edges", ()):
            for known in conventions.EDGES:
                if known.name == name and known.at == edge.at:
                    assert conventions.answers(known)["retrograd"] == (edge.y, *edge.partials)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["tanh", "relu"]) == 0
    said = capsys.readouterr().out
    assert "0 of the" in said
    assert "mutants of the op table caught" in said
    assert command(["nothing"]) == 1


def test_the_conventions_page_names_who_was_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [name for name in conventions.LIBRARIES if name not in ("casadi", "xad")]
    monkeypatch.setattr(conventions, "missing", lambda: ["casadi", "xad"])
    text = conventions.page(conventions.EDGES[:4])
    assert "Not installed, and so not asked: casadi, xad." in text
    assert f"| edge | {' | '.join(there)} |" in text
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == 5
    assert " of the 4 edges." in text


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    assert command(["relu"]) == 1
    assert "pip install mpmath sympy" in capsys.readouterr().err
