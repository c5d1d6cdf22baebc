"""Which shape of code is taken for loops with short inner loops, and for what data decide, against the engine."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.lane_cases import check, graph_of, numbers

import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.shapes import costs
    from retrograd.compiler.backends.loops.shapes.nests import find_nests
    from retrograd.compiler.backends.loops.shapes.periods import find_sections
    from retrograd.compiler.backends.loops.shapes.sections import find_fastest, find_structure
    from retrograd.compiler.backends.loops.shapes.structure import bodies_of

DRAW = random.Random(7)
KINDS = [DRAW.randrange(6) for _ in range(120)]
SIGNS = [DRAW.random() < 0.5 for _ in range(150)]


def length(top: Any) -> int:
    return sum(1 for _ in top.positions())


def test_short_inner_loops_are_written_out_where_that_costs_less() -> None:
    """Five groups that wait for each other: an inner loop of five iterations would hand everything on in memory."""

    def epidemic(p: list[Any], weeks: list[list[float]]) -> Any:
        groups = [p[k] for k in range(5)]
        total = 0.0
        for week in weeks:
            for x in week:
                pressure = [sum(p[5 + (i + k) % 5] * g for k, g in enumerate(groups)) for i in range(5)]
                groups = [g + 0.01 * (x * q * (1.0 - g) - g) for g, q in zip(groups, pressure, strict=True)]
            total = total + sum(groups) * sum(week)
        return total

    calls = [(numbers(10, s, 0.1, 0.5), [numbers(7, 9 * s + k) for k in range(12)]) for s in range(3)]
    graph = graph_of(check(epidemic, *calls))
    shapes = find_nests(graph)
    assert [size for _, size in shapes] == sorted({size for _, size in shapes})
    assert max(body.depth for body in bodies_of(find_fastest(graph))) <= 2


@pytest.fixture
def short_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the shortest code, whatever time it takes."""
    monkeypatch.setattr(costs, "_CODE", 1e3)


@pytest.mark.usefixtures("short_code")
def test_one_of_several_numbers_from_before_the_loop() -> None:
    """Computed, and of no order: what they are in an iteration is looked up."""

    def groups(p: list[Any], xs: list[float]) -> Any:
        scale = [rm.exp(one) for one in p]
        shift = [one * one - 0.5 for one in p]
        total, state = 0.0, p[0]
        for kind, x in zip(KINDS, xs, strict=True):
            off = (x - shift[kind] * state) / scale[kind]
            state = 0.9 * state + 0.1 * off * scale[(kind + 1) % 6]
            total = total + off * off * 0.5 + rm.log(scale[kind])
        return total

    compiled = check(groups, *((numbers(6, seed), numbers(120, seed + 1)) for seed in range(3)))
    graph = graph_of(compiled)
    strict, far = (sum(each.period for each in find_sections(graph, beyond)) for beyond in (None, 2))
    assert far < strict / 2
    assert length(find_fastest(graph)) < strict / 2


@pytest.mark.usefixtures("short_code")
@pytest.mark.parametrize("after", [False, True], ids=["before it is read", "after it is read"])
def test_state_of_which_each_iteration_changes_another_place(after: bool) -> None:
    """Places are looked up: what is read was computed in this iteration, in the one before, or in an earlier one."""

    def events(p: list[Any], xs: list[float]) -> Any:
        jumps = [rm.exp(one) for one in p]
        total, state = 0.0, [one * 0.5 for one in p]
        for kind, x in zip(KINDS, xs, strict=True):
            state = [0.9 * one * rm.exp(-x * x) for one in state]
            if not after:
                state[kind] = state[kind] + jumps[kind] * x
            total = total + rm.log(jumps[(kind + 1) % 6] + state[kind] * state[kind]) * state[(kind + 2) % 6]
            if after:
                state[kind] = state[kind] + jumps[kind] * x
        return total

    compiled = check(events, *((numbers(6, seed, 0.1, 0.9), numbers(120, seed + 1)) for seed in range(3)))
    graph = graph_of(compiled)
    strict, any_ = (sum(each.period for each in find_sections(graph, beyond)) for beyond in (2, 0))
    assert any_ < strict / 4
    assert length(find_fastest(graph)) < strict / 4


@pytest.mark.usefixtures("short_code")
def test_parts_at_times_beside_another_loop() -> None:
    """The loop with them is not where most of the code repeats itself."""

    def returns(p: list[Any], xs: list[float]) -> Any:
        mean = sum(xs) / len(xs)
        spread = sum((x * p[4] - mean) ** 2 for x in xs) / len(xs)
        state, total = spread, 0.0
        for down, x in zip(SIGNS, xs, strict=True):
            weight = p[0] + p[1] if down else p[0]
            state = p[2] + weight * x * x + p[3] * state
            total = total + rm.log(state) + x * x / state
        return total

    compiled = check(returns, *((numbers(5, seed, 0.1, 0.4), numbers(150, seed + 1)) for seed in range(3)))
    graph = graph_of(compiled)
    for top in (find_fastest(graph), find_structure(graph, scalars=True)):
        assert length(top) < len(graph) / 10


@pytest.mark.usefixtures("short_code")
def test_parts_at_times_between_loops_of_few_iterations() -> None:
    def warmed(state: Any, xs: list[float]) -> Any:
        for x in xs:
            state = 0.5 * state + rm.sin(x - state) * rm.cos(x * state) * 0.1
        return state

    def returns(p: list[Any], xs: list[float]) -> Any:
        state, total = warmed(p[1], xs[:20]), 0.0
        for down, x in zip(SIGNS, xs, strict=True):
            weight = p[0] + p[1] if down else p[0]
            state = p[2] + weight * x * x + p[3] * state
            total = total + rm.log(1.0 + state * state)
        return total + warmed(state * p[0], xs[-20:])

    compiled = check(returns, *((numbers(4, seed, 0.1, 0.4), numbers(150, seed + 1)) for seed in range(3)))
    graph = graph_of(compiled)
    for top in (find_fastest(graph), find_structure(graph, scalars=True)):
        assert length(top) < 60
