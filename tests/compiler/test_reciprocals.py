"""Quotients by constants in machine code: products with reciprocals, but where the last bit may matter."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.lane_cases import check, graph_of, numbers

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.graphs.reciprocals import with_reciprocals
    from retrograd.compiler.backends.loops.llvm.recurrences import waiting
    from retrograd.compiler.backends.loops.passes.code import Loop, Op, steps_in
    from retrograd.compiler.backends.loops.pipeline import write_passes


def quotients(graph: Any) -> int:
    return sum(graph.names[row] == "div" for row in graph.rows)


def test_constants_become_reciprocals() -> None:
    def loss(p: list[Any], xs: list[float]) -> Any:
        total = 0.0
        for x in xs:
            total = (total * p[0] + x * p[1]) / 7.0 + p[2] / 3.0 + x / (1.0 + p[0] * p[0]) + 2.0 / p[1]
        return total / len(xs)

    compiled = check(loss, *((numbers(3, seed), numbers(30, seed + 1)) for seed in range(3)))
    graph = graph_of(compiled)
    changed = with_reciprocals(graph)
    assert quotients(graph) - quotients(changed) >= 31
    assert quotients(changed) > 0
    assert {1.0 / 7.0, 1.0 / 3.0} <= {*changed.literals.tolist()}


def test_what_is_rounded_stays_a_quotient() -> None:
    def looked_up(p: list[Any], times: list[float]) -> Any:
        return sum(p[0] * math.floor(t / 0.1) + p[1] * int(t / 0.3 + 1e-9) + p[2] * ((t / 0.7) % 1.0) for t in times)

    times = [0.1 * k for k in range(40)]
    compiled = rg.compile(looked_up)
    compiled.value_and_grad([1.0, 2.0, 3.0], times)
    graph = graph_of(compiled)
    assert quotients(with_reciprocals(graph)) == quotients(graph) >= 3
    check(looked_up, ([1.0, 2.0, 3.0], times))


def test_what_is_compared_stays_a_quotient() -> None:
    def stepped(p: list[Any], times: list[float]) -> Any:
        return sum(p[0] if t / 0.1 >= 3.0 else p[1] * t for t in times) + rg.where(p[1] / 3.0 > 0.1, p[2], 0.0)

    compiled = rg.compile(stepped)
    for short in ([0.1, 0.2, 0.30000000000000004], [0.1, 0.2, 0.3], [0.4, 0.5, 0.2], [0.1, 0.6, 0.2]):
        times = short * 20
        value, gradient = compiled.value_and_grad([1.0, 0.3, 3.0], times)
        wanted, slopes = rg.value_and_grad(stepped)([1.0, 0.3, 3.0], times)
        assert (value, *gradient) == pytest.approx((wanted, *slopes), rel=1e-13)
    graph = graph_of(compiled)
    assert quotients(with_reciprocals(graph)) == quotients(graph) >= 1


def test_small_programs_keep_the_bits() -> None:
    compiled = rg.compile(lambda x: x / 3.0 + x / 7.0, tier="llvm")
    for x in (-2.5, 0.9999999999999999, 1e-300, 12345.678):
        assert compiled.value_and_grad(x) == rg.value_and_grad(lambda x: x / 3.0 + x / 7.0)(x)


@pytest.mark.parametrize("divisor", [5e-324, 1e-308, 1.7e308, math.inf, -3.0, 0.1])
def test_any_divisor(divisor: float) -> None:
    def scaled(p: list[Any], xs: list[float]) -> Any:
        total = 0.0
        for x in xs:
            total = total * 0.5 + p[0] * x * divisor / divisor if abs(divisor) < 1.0 else total + p[0] * x / divisor
        return total + p[1]

    check(scaled, (numbers(2), numbers(30)))


def substituted(p: list[Any], diagonal: list[float], right: list[float]) -> Any:
    """The way back through a bidiagonal system: each unknown waits for the one before."""
    x, total = p[0], 0.0
    for d, r in zip(diagonal, right, strict=True):
        x = (r - p[1] * x) / d
        total = total + rm.tanh(x)
    return total


def systems(seed: int) -> tuple[Any, ...]:
    return numbers(2, seed), numbers(40, seed + 1, 0.5, 2.0), numbers(40, seed + 2, -1.0, 1.0)


def quotients_on_the_way(compiled: Any) -> int:
    """How many divisions the iterations of loops wait for, one after the other."""
    blocks = write_passes(graph_of(compiled), fast=True).blocks.values()
    loops = [step for block in blocks for step in steps_in(block) if isinstance(step, Loop)]
    return sum(
        isinstance(step, Op) and step.name == "fdiv" and step.operands[0] in waiting(loop)
        for loop in loops
        for step in loop.body.steps
    )


def test_iterations_do_not_wait_for_quotients() -> None:
    compiled = check(substituted, *map(systems, range(4)))
    assert quotients_on_the_way(compiled) == 0

    def compared(p: list[Any], diagonal: list[float], right: list[float]) -> Any:
        x = p[0]
        for d, r in zip(diagonal, right, strict=True):
            x = rm.where(x / d > 0.5, r, x / d)
        return x

    compiled = rg.compile(compared)
    compiled.value_and_grad(*systems(0))
    assert quotients_on_the_way(compiled) > 0


@pytest.mark.parametrize("divisor", [3e-310, -5e-324, 0.0, 1.5e308, math.inf, math.nan])
def test_divisors_whose_reciprocals_are_none(divisor: float) -> None:
    compiled = rg.compile(substituted, tier="llvm")
    for seed in range(12):
        p, diagonal, right = systems(seed)
        if seed > 4:
            diagonal[17], right[17] = divisor, 0.0 if seed > 6 else right[17]
            p[1] = 0.0 if seed > 8 else p[1]
        try:
            value, slopes = rg.value_and_grad(substituted)(p, diagonal, right)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                compiled.value_and_grad(p, diagonal, right)
            continue
        mine, gradient = compiled.value_and_grad(p, diagonal, right)
        assert mine == pytest.approx(value, rel=1e-12, nan_ok=True)
        assert gradient == pytest.approx(slopes, rel=1e-9, nan_ok=True)
