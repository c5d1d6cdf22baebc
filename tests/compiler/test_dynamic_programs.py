"""Tables of which each cell is computed from its neighbours, as in alignments: loops in loops, with borders."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.loop_cases import cache_of, check, numbers

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops import install, pipeline
    from retrograd.compiler.backends.loops.shapes import sections


def soft_maximum(items: list[Any], temperature: Any) -> Any:
    top = max(items)
    return top + temperature * rm.log(sum(rm.exp((x - top) / temperature) for x in items))


def alignment(length: int, border: float = -3.0, letters: int = 2) -> Callable[[list[Any]], Any]:
    """An alignment of two fixed sequences with affine gaps; its parameters are two gaps, the temperature, the scores.

    At the borders, the operands of a soft maximum are constants.
    """
    rng = random.Random(length)
    one, other = ([rng.randrange(letters) for _ in range(length)] for _ in range(2))

    def f(p: list[Any]) -> Any:
        opened, extended, temperature = p[0], p[1], p[2] + 0.5
        match, down, right = ([[border] * (length + 1) for _ in range(length + 1)] for _ in range(3))
        for i in range(1, length + 1):
            for j in range(1, length + 1):
                before = [match[i - 1][j - 1], down[i - 1][j - 1], right[i - 1][j - 1]]
                match[i][j] = p[3 + 2 * one[i - 1] + other[j - 1]] + soft_maximum(before, temperature)
                down[i][j] = soft_maximum([match[i - 1][j] - opened, down[i - 1][j] - extended], temperature)
                right[i][j] = soft_maximum([match[i][j - 1] - opened, right[i][j - 1] - extended], temperature)
        return match[-1][-1] + right[-1][-1]

    return f


@pytest.mark.parametrize("border", [-3.0, 0.0, -1e30])
def test_an_alignment_is_that_of_the_engine(border: float) -> None:
    check(alignment(6, border), *((numbers(7, seed),) for seed in range(3)))


def test_the_c_of_an_alignment_has_its_loops(tmp_path: Path) -> None:
    """Straight-line code is no faster in C, where no calls of one function become one of a function of vectors."""
    lines = []
    for length in (10, 20):
        rg.compile(alignment(length, letters=1)).to_c(tmp_path / "f.c", numbers(7))
        lines.append(len((tmp_path / "f.c").read_text().splitlines()))
    assert lines[1] < 1.3 * lines[0] < 1300


def test_long_code_gives_way_to_half_as_much_that_takes_hardly_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A score and a gap give the same number in many cells; code that reads it from one of them is irregular."""
    found = {"shared": (4000, 100.0), "less": (1900, 139.0), "more": (2100, 100.0), "slow": (1900, 141.0)}
    monkeypatch.setattr(sections, "_size_and_time", lambda graph, _: found[graph])
    assert sections.is_long("shared")  # type: ignore[arg-type]
    assert not sections.is_long("more")  # type: ignore[arg-type]
    assert [sections.is_better(one, "shared") for one in ("less", "more", "slow")] == [True, False, False]  # type: ignore[arg-type]


def test_results_may_be_computed_again_in_each_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_MANY_NODES", 100)
    chosen: list[bool] = []
    for name in ("is_long", "is_better"):
        monkeypatch.setattr(pipeline, name, lambda *_: (chosen.append(True), True)[1])
    compiled = check(alignment(8), *((numbers(7, seed),) for seed in range(3)))
    number = cache_of(compiled).facts()[0]["number"]
    shared, again = (len(cache_of(compiled).scalar_graph(number, once)["rows"]) for once in (True, False))
    assert shared < again
    assert chosen == [True, True]


def test_more_code_must_be_faster_by_a_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {1: 100.0, 2: 95.0, 3: 80.0, 4: 79.0}
    shapes = [sections._Shape([size], size) for size in times]
    monkeypatch.setattr(sections, "_shapes_within", lambda *_: shapes)
    monkeypatch.setattr(sections, "divided", lambda _, items: items)
    monkeypatch.setattr(sections, "time_of_code", lambda _: 0.0)
    monkeypatch.setattr(sections, "time_of_run", lambda graph, items, *_: times[items[0]])
    assert sections._fastest.__wrapped__(None, 10) == ([3], 80.0, 3)  # type: ignore[attr-defined]
