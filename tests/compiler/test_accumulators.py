"""Sums that go on in memory, ``total[k] += x``, and loops that add to several of them, from the first iteration on."""

from __future__ import annotations

from typing import Any

import pytest
from support.compiled_cases import native
from support.lane_cases import check, graph_of, in_lanes, numbers

import retrograd.math as rm
from retrograd.engine import ENGINE

if ENGINE == "native":
    from retrograd.compiler.backends.loops import pipeline
    from retrograd.compiler.backends.loops.pipeline import write_passes
    from retrograd.compiler.backends.loops.shapes.fission import divided
    from retrograd.compiler.backends.loops.shapes.nests import find_nests
    from retrograd.compiler.backends.loops.shapes.structure import bodies_of, build

pytestmark = native

POINTS, SLOTS = 24, 6


@pytest.fixture(params=["fastest", "nested"])
def shape(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Loops as they are fastest, or loops in loops wherever there are such."""
    if request.param == "nested":
        nested = lambda graph, most: build(divided(graph, find_nests(graph)[0][0]))  # noqa: E731
        monkeypatch.setattr(pipeline, "find_fastest", nested)
    return str(request.param)


def rows(seed: int, count: int = POINTS, width: int = SLOTS) -> list[list[float]]:
    return [numbers(width, seed * count + i, -1.0, 1.0) for i in range(count)]


def calls(width: int = SLOTS) -> list[tuple[Any, ...]]:
    return [(numbers(width, seed), rows(seed, width=width)) for seed in range(3)]


def in_memory(compiled: Any) -> int:
    """How many places of the code add to sums in memory."""
    return len(write_passes(graph_of(compiled), fast=True).storage.accumulators.before)


def iterations(compiled: Any) -> list[int]:
    """How many iterations the outer loops have."""
    top = write_passes(graph_of(compiled), fast=True).layout.top
    return [body.times for body in bodies_of(top) if body.parent is top]


def tallied(p: list[Any], points: list[list[float]], spread: list[Any]) -> Any:
    """Sums by slot over points, each of which has the same long formula for each slot."""
    came, right = [0.0] * len(p), [0.0] * len(p)
    loss = 0.0
    for point in points:
        level = sum(w * x for w, x in zip(p, point, strict=True))
        for k, (w, x) in enumerate(zip(p, point, strict=True)):
            gate = 1.0 / (1.0 + rm.exp(-w * x - 0.1 * level))
            came[k] += gate * spread[k]
            right[k] -= rm.tanh(gate * x) * gate
            loss += (gate - x) * (gate - x)
    return loss + sum(c * rm.sin(r) for c, r in zip(came, right, strict=True))


def test_iterations_that_add_to_the_same_sums_run_side_by_side(shape: str) -> None:
    given = [(*call, numbers(8, seed + 9)) for seed, call in enumerate(calls(8))]
    compiled = check(tallied, *given)
    assert in_memory(compiled) == (2 if shape == "nested" else 0)  # else they are in registers
    assert POINTS in in_lanes(compiled)


@pytest.mark.usefixtures("shape")
@pytest.mark.parametrize("begin", ["zero", "leaf", "product", "exponential"])
def test_what_a_sum_begins_with(begin: str) -> None:
    """The exponential's value is wanted again by its own derivative, so that nothing takes its place."""

    def f(p: list[Any], points: list[list[float]]) -> Any:
        made = {"zero": lambda w: 0.0, "leaf": lambda w: w, "product": lambda w: w * 0.3, "exponential": rm.exp}[begin]
        total = [made(w) for w in p]
        for point in points:
            scale = rm.tanh(sum(w * x for w, x in zip(p, point, strict=True)))
            for k, x in enumerate(point):
                total[k] = total[k] + scale * x * p[k]
        return sum(rm.exp(-t * t) for t in total)

    check(f, *calls(12))


@pytest.mark.usefixtures("shape")
def test_sums_that_are_read_before_they_are_complete() -> None:
    def f(p: list[Any], points: list[list[float]]) -> Any:
        total, seen = [0.0] * len(p), 0.0
        for point in points:
            for k, x in enumerate(point):
                total[k] += p[k] * x
                seen = seen + rm.sin(total[k])
        return seen + sum(t * t for t in total)

    compiled = check(f, *calls())
    assert in_memory(compiled) == 0


@pytest.mark.usefixtures("shape")
def test_a_sum_that_its_own_loop_reads_in_another_place() -> None:
    def f(p: list[Any], points: list[list[float]]) -> Any:
        total = [0.0] * len(p)
        for point in points:
            for k, x in enumerate(point):
                total[k] += rm.tanh(p[k] * x + 0.1 * total[(k + 1) % len(p)])
        return sum(t * t for t in total)

    check(f, *calls())


@pytest.mark.usefixtures("shape")
def test_which_sum_is_added_to_may_be_anything_that_is_known() -> None:
    places = [[(3 * i + 5 * k * k) % SLOTS for k in range(SLOTS)] for i in range(POINTS)]

    def f(p: list[Any], points: list[list[float]]) -> Any:
        bins = [0.0] * len(p)
        for point, into in zip(points, places, strict=True):
            for k, x in enumerate(point):
                weight = rm.exp(-(x - p[k]) * (x - p[k]))
                bins[into[k]] += weight * x
                bins[k] -= 0.5 * weight
        return sum(b * b * w for b, w in zip(bins, p, strict=True))

    check(f, *calls())


@pytest.mark.usefixtures("shape")
def test_forces_between_all_pairs() -> None:
    def f(p: list[Any], start: list[list[float]]) -> Any:
        places = [[w * x for x in point[:3]] for w, point in zip(p * 4, start, strict=True)]
        for _ in range(4):
            force = [[0.0] * 3 for _ in places]
            for i, a in enumerate(places):
                for j in range(i):
                    apart = [x - y for x, y in zip(a, places[j], strict=True)]
                    near = 1.0 / (0.5 + sum(x * x for x in apart))
                    for k in range(3):
                        force[i][k] += near * near * apart[k]
                        force[j][k] -= near * near * apart[k]
            places = [[x + 0.05 * y for x, y in zip(a, b, strict=True)] for a, b in zip(places, force, strict=True)]
        return sum(x * x for a in places for x in a)

    check(f, *calls())


@pytest.mark.usefixtures("shape")
def test_a_zero_keeps_its_sign_where_something_asks_for_it() -> None:
    def f(p: list[Any], points: list[list[float]]) -> Any:
        total = [-0.0 * w for w in p]
        for point in points:
            for k, x in enumerate(point):
                total[k] += 0.0 * x
        return sum(rm.copysign(w, t) * w for w, t in zip(p, total, strict=True))

    compiled = check(f, *calls())
    assert in_memory(compiled) == 0


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_loops_that_add_to_several_sums_have_all_their_iterations(terms: int) -> None:
    """The first adds to zeros, the last is followed by what reads the sums."""

    def f(p: list[Any], points: list[list[float]]) -> Any:
        level, cost, late = p[0] * 1.0, 0.0, 0.0
        risk = 0.0
        for point in points:
            level = level * 0.9 + rm.tanh(p[1] * point[0] + p[2] * level)
            risk += level * level
            for k in range(terms):
                cost = cost + rm.exp(-p[3] * level) * point[k]
            late = late + rm.sin(level * p[4]) * point[4]
        return cost / (1.0 + risk) + late * p[5]

    compiled = check(f, *calls())
    assert max(iterations(compiled)) == POINTS


@pytest.mark.usefixtures("shape")
def test_two_sums_in_an_iteration_that_are_one_at_times() -> None:
    def f(p: list[Any], points: list[list[float]]) -> Any:
        total, other = [w * 0.3 for w in p], [p[1] * points[0][0] for _ in p]
        for i, point in enumerate(points):
            y = point[0] * p[1]
            for j in range(min(i + 1, len(p))):
                y = y + 0.1 * rm.tanh(point[j] * p[1])
                total[i % len(p)] -= p[j] * point[j]
                other[j] += rm.exp(-y * y)
                total[j] = p[2] * p[3] * point[j] + total[j]
        return sum(total) + sum(v * v for v in other)

    check(f, *calls(12))
