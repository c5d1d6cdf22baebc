"""Taped code beside programs that answer all calls, but slowly."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd import math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler import tier_up
    from retrograd.compiler.backends.process import here

#: A rival is timed for the first time in its 64th call, and leads for 1,024 calls at first.
CALLS = 600


def contacts(stiffness: Any, places: list[float], m: Any = rm) -> Any:
    """Steps that are all different: discs on a line push each other where they touch."""
    now, total = [1.0 * place for place in places], 0.0
    for _ in range(20):
        for i in range(len(now) - 1):
            gap = now[i + 1] - now[i]
            if gap < 1.0:
                push = stiffness * (1.0 - gap)
                now[i], now[i + 1] = now[i] - 0.5 * push, now[i + 1] + 0.5 * push
            total += m.exp(-gap * gap)
    return total


def drawn(seed: int, count: int = 30) -> list[float]:
    source = random.Random(seed)
    return sorted(source.uniform(0.0, 0.8 * count) for _ in range(count))


def hot(compiled: rg.Compiled[..., Any]) -> None:
    """Its program becomes hot: as in the thread that compiles it, but at once."""
    compiled._dispatcher.specializer.tier_up.compile(compiled._cache.facts()[0]["number"], 1)
    compiled._dispatcher.specializer._taped.compile(0, 0, here)


def code_of(compiled: rg.Compiled[..., Any]) -> list[Any]:
    return [each.code for each in compiled._dispatcher.specializer._taped._codes]


@pytest.fixture(autouse=True)
def _nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is compiled when a test says so."""
    from retrograd.compiler import compile_threads

    monkeypatch.setattr(compile_threads, "became_hot", lambda event: None)
    monkeypatch.setattr(tier_up, "became_hot", lambda event: None)
    monkeypatch.setattr(tier_up, "_MOST_INSTRUCTIONS", 10)  # as for a program of a hundred thousand nodes
    monkeypatch.setattr(tier_up, "_most_scalar_nodes", lambda fact: 0)


def test_a_program_without_short_machine_code_gets_a_rival() -> None:
    places, stiffness = drawn(1), rg.Value(0.4)

    def f(places: list[float]) -> Any:
        return contacts(stiffness, places)

    compiled = rg.compile(f)
    compiled.backward(places)
    wanted = stiffness.grad
    assert not code_of(compiled)
    hot(compiled)
    (code,) = code_of(compiled)
    stiffness.grad = 0.0
    for _ in range(CALLS):
        number = compiled.backward(places)
    assert number == pytest.approx(contacts(0.4, places, math), rel=1e-13)
    assert stiffness.grad == pytest.approx(CALLS * wanted, rel=1e-12)
    assert code.failures == 0


@pytest.mark.parametrize("of_values", [False, True])
def test_both_ways_give_the_same(of_values: bool) -> None:
    """Calls that are timed run both; each counts once in the gradients."""
    places = drawn(2)
    stiffness = [rg.Value(0.4), rg.Value(0.3)]

    def f(stiffness: list[Any], places: list[float]) -> Any:
        return contacts(stiffness[0], places) * stiffness[1] + stiffness[0]

    def of_places(places: list[float]) -> Any:
        return f(stiffness, places)

    compiled: rg.Compiled[..., Any] = rg.compile(of_places if of_values else f)
    wanted = rg.value_and_grad(f)([0.4, 0.3], places)
    call: Callable[[], Any] = (
        (lambda: compiled.backward(places)) if of_values else (lambda: compiled.value_and_grad([0.4, 0.3], places))
    )
    call()
    hot(compiled)
    (code,) = code_of(compiled)
    for _ in range(CALLS):
        for each in stiffness:
            each.grad = 0.0
        found = call()
        value, gradient = (found, [each.grad for each in stiffness]) if of_values else found
        assert value == pytest.approx(wanted[0], rel=1e-13)
        assert gradient == pytest.approx(wanted[1], rel=1e-12)
    assert code.failures == 0


def test_backward_inside_no_grad_is_refused_with_a_rival() -> None:
    places, stiffness = drawn(3), rg.Value(0.4)
    compiled = rg.compile(lambda places: contacts(stiffness, places))
    compiled.backward(places)
    hot(compiled)
    for _ in range(CALLS):
        compiled.backward(places)
    before = stiffness.grad
    with rg.no_grad(), pytest.raises(RuntimeError):
        compiled.backward(places)
    assert stiffness.grad == before


def test_machine_code_of_a_program_takes_over_from_a_rival_that_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is faster was seen before there was any."""
    places, stiffness = drawn(4), rg.Value(0.4)
    compiled = rg.compile(lambda places: contacts(stiffness, places))
    compiled.backward(places)
    hot(compiled)
    (code,) = code_of(compiled)
    for _ in range(CALLS):
        before = code.answers
        compiled.backward(places)
        if code.answers > before:
            break
    assert code.answers > before
    assert compiled.stats().programs[0].tier != "llvm"
    monkeypatch.undo()
    hot(compiled)
    assert compiled.stats().programs[0].tier == "llvm"
    before = code.answers
    compiled.backward(places)
    assert code.answers == before


def test_small_and_regular_programs_have_no_rival() -> None:
    small, regular = {"nodes": 1_000, "instructions": 1_000}, {"nodes": 100_000, "instructions": 100}
    slow = {"nodes": 100_000, "instructions": 5_000}
    assert [tier_up._is_slow(fact) for fact in (small, regular, slow)] == [False, False, True]


def test_an_infinite_derivative_that_nothing_reaches_adds_nothing() -> None:
    """As in the engine: a gradient of 0 contributes nothing."""

    def f(p: Any, k: int) -> Any:
        total = p * p
        for i in range(k):
            root = rm.sqrt(p - 2.0)
            total = total + root * root * 0.0 if i == 1 else total * 1.5
        return total

    compiled = rg.compile(f, tier="llvm")
    assert compiled._dispatcher.specializer._taped.is_offered(True, (2.0, 3))
    (code,) = code_of(compiled)
    assert code.value_and_grad(2.0, 3) == rg.value_and_grad(f)(2.0, 3) == (9.0, 9.0)
