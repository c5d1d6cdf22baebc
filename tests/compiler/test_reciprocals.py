"""Quotients by constants in machine code: products with reciprocals, but where the last bit may matter."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.lane_cases import check, graph_of, numbers

import retrograd as rg
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.graphs.reciprocals import with_reciprocals


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
