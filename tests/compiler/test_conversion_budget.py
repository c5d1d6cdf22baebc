"""How much traces of converted code may record: 0.2 s worth at first, and then as much as calls have earned."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import pytest
from support.parts import require

import retrograd as rg
from retrograd.compiler.if_conversion import budget
from retrograd.compiler.if_conversion.budget import Budget
from retrograd.compiler.reports.reasons import Reason

NODE = budget.BYTES_OF_NODE


def test_without_calls_there_is_no_limit_but_that_of_one_trace() -> None:
    made = Budget()
    made.measured(2**20)
    made.spend(2**60)
    assert not made.is_spent()
    assert made.room() == budget._MOST


def test_calls_earn_what_traces_may_record() -> None:
    calls = 0
    made = Budget(lambda: calls)
    made.measured(budget._COST * NODE)  # so each call earns one node
    made.spend(budget._FREE - 10 * NODE - budget._EACH)
    assert made.is_spent()  # the next trace will be as long as this one
    calls = (budget._FREE - budget._EACH) // NODE - 20
    assert made.is_spent()
    calls += 2
    assert not made.is_spent()


def test_after_a_trace_that_was_cut_off_the_next_may_record_twice_as_much() -> None:
    calls = 0
    made = Budget(lambda: calls)
    made.measured(budget._COST * NODE * 1000)
    room = made.room()
    assert made.was_too_little(room)
    assert made.is_spent()
    calls = 10**6
    assert not made.is_spent()
    assert made.room() >= 2 * room
    assert not made.was_too_little(budget._MOST)  # longer than any trace may be


def flipping(p: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0 * p[0]
    for x in xs:
        total = total + p[1] * x if p[0] * x > p[1] else total - p[0] * x * x
    return total


@pytest.mark.native
def test_calls_run_as_they_are_until_they_have_earned_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_FREE", -200 * NODE)
    monkeypatch.setattr(budget, "_COST", 8)
    rng = random.Random(3)
    compiled = rg.compile(flipping)
    for _ in range(60):
        p, xs = [rng.gauss(0, 1), rng.gauss(0, 0.3)], [rng.gauss(0, 1) for _ in range(20)]
        (value, gradient), (wanted, its) = compiled.value_and_grad(p, xs), rg.value_and_grad(flipping)(p, xs)
        assert [value, *gradient] == pytest.approx([wanted, *its], rel=1e-12)
    stats = compiled.stats()
    waited = sum(count for cause, count in stats.reasons.items() if cause == Reason.POSTPONED.value)
    assert 0 < waited < 40
    assert len(stats.programs) == 1  # the code is converted now


@pytest.mark.native
def test_users_are_told_when_most_calls_wait(monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder) -> None:
    """With the line on which most is decided."""
    monkeypatch.setattr(budget, "_FREE", -(10**9))
    rng = random.Random(3)
    compiled = rg.compile(flipping, tier="vm")  # without taped code
    for _ in range(20):
        compiled.value_and_grad([rng.gauss(0, 1), rng.gauss(0, 0.3)], [rng.gauss(0, 1) for _ in range(20)])
    assert not recwarn.list
    for _ in range(40):
        compiled.value_and_grad([rng.gauss(0, 1), rng.gauss(0, 0.3)], [rng.gauss(0, 1) for _ in range(20)])
    (told,) = recwarn.list
    line = flipping.__code__.co_firstlineno + 3
    assert told.category is rg.errors.CompileWarning
    assert f"test_conversion_budget.py:{line}, in flipping compares numbers" in str(told.message)
    assert "runs uncompiled in most calls" in str(told.message)


@pytest.mark.native
def test_a_conversion_that_is_small_is_made_at_once() -> None:
    rng = random.Random(4)
    compiled = rg.compile(flipping)
    for _ in range(12):
        p, xs = [rng.gauss(0, 1), rng.gauss(0, 0.3)], [rng.gauss(0, 1) for _ in range(20)]
        compiled.value_and_grad(p, xs)
    assert compiled.stats().eager == 0
    assert len(compiled.stats().programs) == 1


def ranked(p: Sequence[Any], xs: Sequence[float]) -> Any:
    """Sorted by exchanges: thousands of comparisons, and few operations."""
    a = [p[0] * x for x in xs]
    for last in range(len(a) - 1, 0, -1):
        for k in range(last):
            if a[k] > a[k + 1]:
                a[k], a[k + 1] = a[k + 1], a[k]
    return sum(i * one for i, one in enumerate(a))


def ranked_calls(calls: int) -> list[tuple[list[float], list[float]]]:
    rng = random.Random(5)
    return [([rng.gauss(0, 1), rng.gauss(0, 1)], [rng.gauss(0, 1) for _ in range(72)]) for _ in range(calls)]


@pytest.mark.native
def test_the_function_answers_until_a_long_program_is_machine_code() -> None:
    require("llvmlite")
    compiled, points = rg.compile(ranked), ranked_calls(40)
    deadline = time.monotonic() + 120
    while compiled.tier != "llvm" and time.monotonic() < deadline:
        for point in points:
            compiled.value_and_grad(*point)
        time.sleep(0.05)
    assert compiled.tier == "llvm"
    before = compiled.stats()
    # Calls until it was hot; the function's own branches may become code before that, and then answer.
    assert before.reasons[Reason.AWAITS_CODE.value] + before.taped_hits >= 195
    for point in points:
        (value, gradient), (wanted, its) = compiled.value_and_grad(*point), rg.value_and_grad(ranked)(*point)
        assert [value, *gradient] == pytest.approx([wanted, *its], rel=1e-9)
    assert compiled.stats().eager == before.eager


@pytest.mark.native
def test_without_machine_code_a_long_program_answers_at_once() -> None:
    compiled = rg.compile(ranked, tier="vm")
    for point in ranked_calls(8):
        (value, gradient), (wanted, its) = compiled.value_and_grad(*point), rg.value_and_grad(ranked)(*point)
        assert [value, *gradient] == pytest.approx([wanted, *its], rel=1e-9)
    assert compiled.stats().eager == 0
    assert len(compiled.stats().programs) == 1


def four_ways(p: Sequence[Any], xs: Sequence[float]) -> Any:
    rows = [[p[0], p[1]], [p[1], p[0] * 2.0], [p[0] * 3.0, p[1]]]
    first, second = 0 if xs[0] > 0 else 2, xs[1] > 0
    rows[second], rows[first] = rows[first], rows[second]
    return sum((i + 1) * (j + 2) * one for i, row in enumerate(rows) for j, one in enumerate(row))


@pytest.mark.native
def test_a_converted_program_is_looked_at_whatever_others_decided() -> None:
    """Guards of other code are other ones, also where they compare with the same number."""
    rng, compiled = random.Random(0), rg.compile(four_ways, tier="vm")
    for _ in range(300):
        p, xs = [rng.gauss(0, 1), rng.gauss(0, 1)], [rng.gauss(0, 1), rng.gauss(0, 1)]
        if rng.random() < 0.25:
            assert compiled(p, xs) == pytest.approx(four_ways(p, xs), rel=1e-12)
        else:
            assert compiled.value_and_grad(p, xs)[0] == pytest.approx(four_ways(p, xs), rel=1e-12)
    assert compiled.stats().eager == 0
    assert len(compiled.stats().programs) <= 8
