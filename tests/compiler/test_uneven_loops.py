"""Loops of now more and now fewer iterations, and loops that share numbers, against the engine."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.lane_cases import check, graph_of, in_lanes, numbers

import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.shapes.fission import divided
    from retrograd.compiler.backends.loops.shapes.sections import find_fastest, find_nests
    from retrograd.compiler.backends.loops.shapes.structure import Body, build, inner_bodies


def length(top: Body) -> int:
    return sum(1 for _ in top.positions())


# --- as many iterations of an inner loop as it takes to be exact -----------------------------------------------------


def spring(p: list[Any], loads: list[float]) -> Any:
    """Implicit Euler steps of two masses, each with Newton's iterations until they change little."""
    x, v, total = [0.0, 0.0], [0.0, 0.0], 0.0
    for load in loads:
        new = list(v)
        for _ in range(12):
            place = [a + 0.2 * b for a, b in zip(x, new, strict=True)]
            stretch = place[0], place[1] - place[0]
            force = [p[k] * s * (1.0 + p[2] * s * s) for k, s in enumerate(stretch)]
            stiff = [0.04 * p[k] * (1.0 + 3.0 * p[2] * s * s) for k, s in enumerate(stretch)]
            right = [0.2 * (force[1] - force[0]) - new[0] + v[0], 0.2 * (load - force[1]) - new[1] + v[1]]
            upper = 1.0 + stiff[1]
            pivot = 1.0 + stiff[0] + stiff[1] - stiff[1] * stiff[1] / upper
            first = (right[0] + stiff[1] / upper * right[1]) / pivot
            second = (right[1] + stiff[1] * first) / upper
            new = [new[0] + first, new[1] + second]
            if max(abs(first), abs(second)) < 1e-9:
                break
        x, v = [a + 0.2 * b for a, b in zip(x, new, strict=True)], new
        total = total + (x[1] - 0.3) ** 2
    return total


def test_newton_s_iterations_are_one_loop() -> None:
    draw = random.Random(5)
    loads = [draw.gauss(0.0, 2.0) if step % 9 < 4 else 0.1 * draw.gauss(0.0, 1.0) for step in range(90)]
    compiled = check(spring, ([4.0, 3.0, 0.8], loads), bound=1e-9)
    graph = graph_of(compiled)
    assert length(find_fastest(graph)) < len(graph) / 40


# --- loops that are always of another length -------------------------------------------------------------------------

FLOWS = [3 + (7 * k) % 19 for k in range(40)]


def bonds(p: list[Any], prices: list[float]) -> Any:
    """Prices of bonds, each of which pays at some times."""
    loss = 0.0
    for count, price, yearly in zip(FLOWS, prices, numbers(len(FLOWS), 3), strict=True):
        worth = 0.0
        for k in range(count):
            time = 0.5 * k + yearly
            rate = p[0] + p[1] * (1.0 - rm.exp(-time / p[2])) / (time / p[2])
            worth = worth + (5.0 + k) * rm.exp(-rate * time)
        loss = loss + (worth - price) ** 2 * p[3]
    return loss


def visits(p: list[Any], starts: list[Any]) -> Any:
    """Visits of patients, who each have a number of their own, so that they stay in two loops."""
    loss = 0.0
    for count, start in zip(FLOWS, starts, strict=True):
        for k in range(count):
            loss = loss + (rm.exp(-p[0] * k * 0.1) * start - rm.sin(p[1] * k) * p[2]) ** 2
    return loss


def loops_of(graph: Any) -> list[int]:
    """The iterations of the outer loops, of the shape with few nodes of code."""
    items, _ = find_nests(graph)[0]
    return [body.times for body in inner_bodies(build(divided(graph, items)))]


def test_what_needs_nothing_of_the_outer_loop_is_one_loop() -> None:
    calls = [([0.03 * k + 0.02, 0.01, 1.5, 0.7], numbers(len(FLOWS), k, 50.0, 150.0)) for k in range(3)]
    graph = graph_of(check(bonds, *calls))
    assert any(times > 2 * len(FLOWS) for times in loops_of(graph))


def test_numbers_that_some_iterations_share_stay_in_their_loop() -> None:
    calls = [(numbers(3, k), numbers(len(FLOWS), k + 9)) for k in range(3)]
    check(visits, *calls)


@pytest.mark.parametrize("seed", range(12))
def test_random_uneven_loops(seed: int) -> None:
    """Groups of random sizes: functions of parameters, of the group's number, of data, and of the member before."""
    draw = random.Random(seed)
    sizes = [draw.randint(1, 24) for _ in range(draw.randint(30, 50))]
    kinds = [draw.randrange(6) for _ in range(draw.randint(2, 5))]
    ends = draw.choice(["sum", "last", "log"])

    def groups(p: list[Any], own: list[Any], data: list[list[float]]) -> Any:
        total = 0.0
        for some, number in zip(data, own, strict=True):
            inner, before = 0.0, p[0]
            for x in some:
                y = x * p[1]
                for kind in kinds:
                    y = (
                        rm.exp(-y * y * 0.1) if kind == 0
                        else y + number * x if kind == 1
                        else y * 0.5 + before * 0.1 if kind == 2
                        else rm.sin(y) * p[2] if kind == 3
                        else y / (1.0 + y * y) if kind == 4
                        else rm.sqrt(y * y + p[3])
                    )  # fmt: skip
                before = y
                inner = inner + y
            total = total + (inner if ends == "sum" else before if ends == "last" else rm.log(1.0 + inner * inner))
        return total

    data = [numbers(size, 31 * seed + k) for k, size in enumerate(sizes)]
    check(groups, *((numbers(4, k), numbers(len(sizes), k + 70), data) for k in range(2)))


# --- numbers that iterations share which do not run at once ----------------------------------------------------------


@pytest.mark.parametrize("apart", [3, 8, 12, 16, 20])
def test_iterations_far_apart_may_add_to_the_same_adjoint(apart: int) -> None:
    """Colours of rays that begin alike: those that many iterations are apart share their first numbers."""

    def rays(p: list[Any], heights: list[float]) -> Any:
        first = [rm.sin(p[0] * h) * p[1] + h * h for h in heights]
        total = 0.0
        for k in range(4 * apart):
            x = first[k % apart]
            for _ in range(12):
                x = x + 0.1 * rm.sqrt(1.0 + x * x * p[2]) / (1.0 + 0.01 * k)
            total = total + rm.log(1.0 + x * x)
        return total

    compiled = check(rays, *((numbers(3, k), numbers(apart, k + 5)) for k in range(3)))
    assert bool(in_lanes(compiled)) or apart == 3


@pytest.mark.parametrize("season", [5, 8, 9, 12, 16])
def test_iterations_may_need_one_that_is_long_before(season: int) -> None:
    """A season later: iterations that run at once need none of each other if there are fewer of them."""

    def months(p: list[Any], noise: list[float]) -> Any:
        x, total = [rm.exp(-p[0] * k) for k in range(season)], 0.0
        for k, z in enumerate(noise):
            y = x[k]
            for _ in range(6):
                y = y - 0.1 * p[1] * rm.sqrt(y * y + 0.2)
            x.append(0.7 * y + p[2] * z)
            total = total + rm.log(1.0 + x[-1] * x[-1])
        return total

    compiled = check(months, *((numbers(3, k), numbers(7 * season + 3, k + 5)) for k in range(3)))
    assert bool(in_lanes(compiled)) or season == 5
