"""What the backward pass computes again of the forward pass, and what it reads."""

from __future__ import annotations

from typing import Any

import pytest
from support.lane_cases import check, graph_of, numbers

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops import pipeline
    from retrograd.compiler.backends.loops.passes.code import Op, steps_in
    from retrograd.compiler.backends.loops.pipeline import write_passes


def pair_forces(p: list[Any], xs: list[float]) -> Any:
    """Products of sums of what is read anyway; selections; a quotient and a root, which take longer."""
    position, velocity, total = p[0], p[1], 0.0
    for x in xs:
        away = position - x
        square = away * away
        inverse = 1.0 / (square + p[2])
        strength = (2.0 * inverse * inverse - inverse) * rm.sqrt(square + 1.0)
        pull = rg.where(square > 0.3, strength, away * 0.5)
        velocity = velocity * 0.9 - 0.01 * pull * away
        position = position + 0.01 * velocity
        total = total + strength * rg.math.maximum(away, 0.1)
    return total + position


def of(compiled: Any, monkeypatch: pytest.MonkeyPatch, again: bool) -> Any:
    if not again:
        monkeypatch.setattr(pipeline, "recomputed", lambda *_: {})
    return write_passes(graph_of(compiled), fast=True)


def stored(passes: Any) -> int:
    steps = steps_in(passes.forward.t.top)
    return sum(isinstance(step, Op) and step.name == "store" for step in steps)


def test_less_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = check(pair_forces, *((numbers(3, seed), numbers(60, seed + 1)) for seed in range(4)))
    less = of(compiled, monkeypatch, True)
    more = of(compiled, monkeypatch, False)
    assert 0 < stored(less) < stored(more) - 4
    assert less.storage.size < more.storage.size


def test_a_test_is_made_again_of_what_is_read() -> None:
    """A comparison of a number with other last bits might come out otherwise than in the forward pass."""
    compiled = rg.compile(pair_forces)
    compiled.value_and_grad(numbers(3), numbers(60))
    passes = write_passes(graph_of(compiled), fast=True)
    steps = [step for step in steps_in(passes.backward.t.top) if isinstance(step, Op)]
    made = {step.result: step for step in steps}
    tests = [step for step in steps if step.name.startswith("fcmp ogt")]
    assert all(made[one].name == "load" for step in tests for one in step.operands if one in made)


def test_loops_that_data_leave() -> None:
    def root(p: list[Any], xs: list[float]) -> Any:
        total = 0.0
        for a in xs:
            x, step, n = 1.0, 1.0, 0
            while abs(step) > 1e-9 and n < 40:
                step = (x * x * x - a * p[0]) / (3.0 * x * x)
                x, n = x - step, n + 1
            total = total + x * p[1]
        return total

    compiled, eager = rg.compile(root, tier="llvm"), rg.value_and_grad(root)
    for seed in range(8):
        call = numbers(2, seed), numbers(12, seed + 1)
        value, gradient = compiled.value_and_grad(*call)
        wanted, slopes = eager(*call)
        assert (value, *gradient) == pytest.approx((wanted, *slopes), rel=1e-10)
