"""Long functions, which LLVM gets in parts, against the engine: parts here have few operations."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.lane_cases import check, graph_of, in_lanes, numbers

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler import tier_up
    from retrograd.compiler.backends.loops.graph_code import ARRAYS
    from retrograd.compiler.backends.loops.graphs import graph
    from retrograd.compiler.backends.loops.llvm import llvm_text
    from retrograd.compiler.backends.loops.llvm.parts import Slots, in_parts
    from retrograd.compiler.backends.loops.passes.code import Op, Ref
    from retrograd.compiler.backends.loops.pipeline import write_passes


@pytest.fixture(params=[1, 5, 20], autouse=True)
def _short_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm_text, "_PART_OPS", request.param)


def parts_of(compiled: Any) -> int:
    """Of how many parts the forward pass is."""
    passes = write_passes(graph_of(compiled), fast=True)
    text = llvm_text.Text("forward", passes.forward.t.top, passes.places, ARRAYS, [])
    return text.text.count("define internal")


def irregular(seed: int) -> Callable[[list[Any]], Any]:
    """A program without loops, whose selections read comparisons from long before."""
    rng = random.Random(seed)
    steps = [(rng.choice("+*-?sm"), rng.random(), rng.random(), rng.random()) for _ in range(60)]

    def program(p: list[Any]) -> Any:
        made = list(p)
        tests = [p[0] < p[1]]
        for kind, i, j, k in steps:
            a, b = made[int(i * len(made))], made[int(j * len(made))]
            if kind == "?":
                tests.append(a < b)
                made.append(rg.where(tests[int(k * len(tests))], a, b * 0.5))
            else:
                operate = {"+": a + b, "*": a * b * 0.3, "-": a - b, "s": rm.sin(a), "m": rg.maximum(a, b)}
                made.append(operate[kind])
        return sum(made[-12:])

    return program


@pytest.mark.parametrize("seed", range(8))
def test_values_and_truths_go_from_part_to_part(seed: int) -> None:
    compiled = check(irregular(seed), *((numbers(5, k, -1.5),) for k in range(6)))
    assert parts_of(compiled) > 2


def test_loops_are_whole_and_their_results_go_on() -> None:
    def program(p: list[Any], data: list[float]) -> Any:
        x, first = p[0] * 1.0, rm.sin(p[1])
        for y in data:
            x = x + 0.1 * rm.tanh(p[1] * x - y)
        middle = rm.exp(-x * x) + first
        z = middle
        for y in reversed(data):
            z = z * 0.9 + y * rg.where(z < first, p[0], x)
        return z * first + middle * p[2]

    check(program, *((numbers(3, k), numbers(20, k + 9)) for k in range(3)))


def test_sums_of_lanes_go_from_loop_to_loop() -> None:
    def decay(p: list[Any], starts: list[Any], data: list[list[float]]) -> Any:
        total = rm.sin(p[0])
        for half in (slice(0, 16), slice(16, None)):
            for start, seen in zip(starts[half], data[half], strict=True):
                x = start * 1.5
                for y in seen:
                    x = x - 0.05 * x / (1.0 + x * p[1])
                    total = total + (x - y) * (x - y) * p[2]
            total = total + rm.cos(p[1] * 3.0)
        return total

    data = [numbers(30, seed) for seed in range(32)]
    compiled = check(decay, *((numbers(3, seed), numbers(32, seed + 50), data) for seed in range(2)))
    assert in_lanes(compiled)


def test_a_guard_in_a_later_part_sends_the_call_to_the_function() -> None:
    def program(p: list[float]) -> Any:
        x = p[0]
        for i in range(8):
            x = rm.sin(x * (1.0 + i)) + p[1]
        return rm.log(x) if x > 0.2 else rm.exp(x - p[1])

    compiled = rg.compile(program, tier="llvm")
    for k in range(12):
        p = numbers(2, k, -1.0)
        value, gradient = compiled.value_and_grad(p)
        wanted, gradients = rg.value_and_grad(program)(p)
        assert [value, *gradient] == pytest.approx([wanted, *gradients], rel=1e-11)


def test_what_is_too_long_for_machine_code_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_STRAIGHT", 10)
    monkeypatch.setattr(tier_up, "_MOST_INSTRUCTIONS", 10)
    compiled = rg.compile(irregular(0))
    compiled.value_and_grad(numbers(5))
    compiled._dispatcher.specializer.tier_up.compile(compiled._cache.facts()[0]["number"], 1)
    assert "without machine code, which would be too long: " in str(compiled.stats())
    assert compiled.stats().eager == 0


def test_a_slot_is_free_after_the_last_part_that_reads_it() -> None:
    room = iter(range(100))
    slots = Slots(lambda size: next(room))
    a, b, c, d = (Ref(i) for i in range(1, 5))
    assert [slots.take(a, 1, 0, 1), slots.take(b, 1, 0, 3), slots.take(c, 1, 1, 2)] == [0, 1, 2]
    assert slots.take(d, 1, 2, 3) == 0
    assert [slots[each] for each in (a, b, c, d)] == [0, 1, 2, 0]


def test_what_parts_read_and_hand_on() -> None:
    a, b, c = (Ref(i) for i in range(1, 4))
    ops = [Op(a, "load", ()), Op(b, "fneg", (a,)), Op(c, "fadd", (a, b)), Op(None, "flag", (c,))]
    parts = in_parts(ops, 1)
    assert [part.read for part in parts] == [set(), {a}, {a, b}, {c}]
    assert [part.handed_on for part in parts] == [{a: 2}, {b: 2}, {c: 3}, {}]
