"""Calls that programs answer too seldom run as they are for a while, so that they take no longer than the function."""

from __future__ import annotations

import random
from typing import Any

import pytest

import retrograd as rg
from retrograd.compiler.calls import overhead
from retrograd.compiler.calls.overhead import Overhead
from retrograd.compiler.if_conversion import trial
from retrograd.compiler.reports.reasons import Reason

pytestmark = [pytest.mark.native, pytest.mark.asks_the_clock]


class Calls:
    """Calls that take as long as is said, by a clock of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.looked_up = 0.0, 0
        self.pauses: list[int] = []
        monkeypatch.setattr(overhead.time, "perf_counter", lambda: self.now)
        self.overhead = Overhead(lambda: self.looked_up, self.pauses.append)

    def miss(self, own: float, more: float) -> None:
        self.looked_up += 1
        began = overhead.now()
        self.now += own
        self.overhead.ran(began)
        self.now += more
        self.overhead.missed(began)

    def misses(self, windows: int, own: float, more: float) -> None:
        for _ in range(64 * windows):
            self.miss(own, more)


def test_calls_that_take_much_longer_are_looked_at_ever_less(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    calls.misses(3, 0.01, 0.02)
    assert calls.pauses == [64, 128, 256]
    calls.misses(6, 0.01, 0.02)
    assert calls.pauses[-3:] == [1000, 1000, 1000]  # which take ten seconds


def test_short_calls_run_as_they_are_up_to_four_thousand_times(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    calls.misses(20, 0.001, 0.01)
    assert calls.pauses[:2] == [64, 128]
    assert calls.pauses[-2:] == [4096, 4096]


def test_the_first_traces_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    calls.misses(1, 0.001, 0.004)
    assert calls.pauses == []  # a quarter of a second
    calls.misses(1, 0.001, 0.004)
    assert calls.pauses == [64]


def test_calls_that_take_little_longer_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    calls.misses(1, 0.01, 0.02)
    calls.misses(3, 0.01, 0.0005)
    assert calls.pauses == [64]
    calls.misses(1, 0.01, 0.02)
    assert calls.pauses == [64, 64]  # as if it were the first time


def test_what_programs_save_pays_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    for _ in range(64 * 4):
        calls.looked_up += 3  # hits, which the clock does not see
        calls.miss(0.01, 0.02)
    assert calls.pauses == []


def test_a_compiled_function_goes_on_giving_what_the_function_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overhead, "_FREE", -1.0)  # any time is too long
    monkeypatch.setattr(overhead, "_PART", -1e9)

    def f(p: Any, words: list[str]) -> Any:
        return p[0] * len(" ".join(words)) + p[1] * len({*words})

    compiled, draw = rg.compile(f, tier="interpreter"), random.Random(4)
    for _ in range(300):
        words = ["".join(draw.choices("abc", k=3)) for _ in range(draw.randrange(9))]
        assert compiled.value_and_grad([0.5, 2.0], words) == rg.value_and_grad(f)([0.5, 2.0], words)
    backed_off = sum(n for cause, n in compiled.stats().causes.items() if cause.reason is Reason.BACKING_OFF)
    assert backed_off > 100
    compiled.clear()
    assert compiled.value_and_grad([0.5, 2.0], ["a"])[0] == 2.5


def test_a_trial_that_takes_too_long_is_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call waits for it longer, and none after it tries again: calls have programs of their own, or taped code."""
    monkeypatch.setattr(trial, "_LONGEST", 0.0)

    def steps(p: float, xs: list[float]) -> Any:
        total = p
        for x in xs:
            total = total * x if total > x else total + x * p
        return total

    compiled = rg.compile(steps, tier="vm")
    draw = random.Random(3)
    calls = [(draw.uniform(0.5, 1.5), [draw.uniform(0.5, 1.5) for _ in range(6)]) for _ in range(40)]
    with pytest.warns(rg.errors.CompileWarning, match="to run both branches of each test takes too long"):
        found = [compiled.value_and_grad(*call) for call in calls]
    for call, each in zip(calls, found, strict=True):
        assert each == pytest.approx(rg.value_and_grad(steps)(*call), rel=1e-12)
    assert "where" not in compiled.program()
