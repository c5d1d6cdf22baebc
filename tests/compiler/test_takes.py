"""Items that an index takes which data decide: machine code that computes where the item is, against the engine."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from support.lane_cases import check, graph_of, in_lanes, numbers
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.graphs.takes import take_of

GRID = [0.0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.85, 0.9, 1.1]


def count(x: Any, grid: Sequence[float] = GRID) -> Any:
    """How many numbers of a grid are not above x, as a number."""
    return sum((rg.where(x < g, 0.0, 1.0) for g in grid[1:]), 0.0)


def chosen(items: Sequence[Any], index: Any, order: Sequence[int] | None = None, otherwise: int = 0) -> Any:
    """The item, by selections in some order, as what records a choice writes them."""
    found = items[otherwise]
    for j in order if order is not None else [j for j in range(len(items)) if j != otherwise]:
        found = rg.where(index == float(j), items[j], found)
    return found


def taken(compiled: Any) -> list[Any]:
    """What the program takes, one for each kind."""
    return [take for row in graph_of(compiled).names if (take := take_of(row)) is not None]


def test_leaves_and_constants_are_taken() -> None:
    def looked_up(p: list[Any], xs: list[float]) -> Any:
        total = 0.0
        for x in xs:
            k = count(x * p[-1])
            total = total * 0.5 + chosen(p[:9], k) * x + chosen(GRID, k)
        return total

    compiled = check(looked_up, *((numbers(10, seed), numbers(30, seed + 1, -0.2)) for seed in range(4)))
    assert {(take.array, take.wanted, take.length) for take in taken(compiled)} == {("L", True, 9), ("T", False, 9)}
    assert len(graph_of(compiled)) < 30 * (30 + 3)  # of which a look-up alone had 40


@pytest.mark.parametrize("otherwise", [0, 3, 8])
@pytest.mark.parametrize("seed", range(3))
def test_selections_in_any_order(otherwise: int, seed: int) -> None:
    order = [j for j in range(9) if j != otherwise]
    random.Random(seed).shuffle(order)

    def looked_up(p: list[Any], xs: list[float]) -> Any:
        return sum(chosen(p[:9], count(x * p[-1]), order, otherwise) * x for x in xs)

    compiled = check(looked_up, *((numbers(10, seed), numbers(6, seed + 1, -0.2)) for seed in range(3)))
    assert [take.otherwise for take in taken(compiled)] == [otherwise]


@pytest.mark.parametrize("index", [-1.0, 0.5, 2.0, 2.5, 8.0, 9.0, 1e300, math.inf, math.nan])
def test_an_index_of_no_item_takes_the_one_otherwise(index: float) -> None:
    def looked_up(p: list[Any], i: float) -> Any:
        return chosen(p, i, otherwise=4) * p[0]

    compiled = rg.compile(looked_up, tier="llvm")
    compiled.value_and_grad(numbers(9), 3.0)
    assert compiled.value_and_grad(numbers(9), index) == rg.value_and_grad(looked_up)(numbers(9), index)
    assert compiled.tier == "llvm"


def test_rows_and_columns_of_a_table_that_move_with_the_iteration() -> None:
    def looked_up(p: list[list[Any]], xs: list[float]) -> Any:
        total = 0.0
        for i, x in enumerate(xs):
            row = chosen(p[i], count(x))
            column = chosen([p[j][i % 9] for j in range(9)], count(x * x))
            total = total + row * rm.sin(column)
        return total

    calls = [([numbers(9, 20 * seed + row) for row in range(20)], numbers(20, seed + 1, -0.2)) for seed in range(3)]
    compiled = check(looked_up, *calls)
    assert {take.step for take in taken(compiled)} == {1, 9}


@pytest.mark.parametrize("length", [16, 21] if ALL else [21])
def test_lanes_take_and_add_where_several_take_the_same(length: int) -> None:
    def looked_up(p: list[Any], xs: list[float], data: list[list[float]]) -> Any:
        total = 0.0
        for x, seen in zip(xs, data, strict=True):
            y = x * p[-1]
            for z in seen:
                k = count(y)
                y = y * 0.9 + 0.05 * chosen(p[:9], k) * z + chosen(GRID, k) * 0.01
                total = total + (y - z) * (y - z)
        return total

    def call(seed: int) -> tuple[Any, ...]:
        return numbers(10, seed), numbers(length, seed + 1), [numbers(40, seed + i + 2) for i in range(length)]

    compiled = check(looked_up, *map(call, range(3)))
    assert taken(compiled)
    assert in_lanes(compiled)


def test_what_takes_items_may_run_in_lanes() -> None:
    def looked_up(p: list[Any], xs: list[float]) -> Any:
        return sum(rm.exp(-rm.sin(x * p[0]) * chosen(p, count(x * p[1]))) for x in xs)

    compiled = check(looked_up, *((numbers(9, seed), numbers(64, seed + 1, -0.2)) for seed in range(4)))
    assert taken(compiled)


def test_few_items_and_items_that_are_computed_are_selected() -> None:
    def looked_up(p: list[Any], x: float) -> Any:
        k = count(x)
        return chosen(p[:4], k) + chosen([rm.sin(q) for q in p], k)

    compiled = check(looked_up, *((numbers(9, seed), 0.1 * seed) for seed in range(6)))
    assert not taken(compiled)


def test_numbers_that_are_far_apart_are_no_places() -> None:
    def looked_up(p: list[Any], x: float) -> Any:
        k, found = x * 1e6, p[0]
        for j, q in enumerate(p[1:], 1):
            found = rg.where(k == j * 1e6, q, found)
        return found * p[0]

    compiled = check(looked_up, *((numbers(9, seed), float(seed)) for seed in range(6)))
    assert not taken(compiled)


class Gear(NamedTuple):
    ratio: Any
    mass: float


def test_look_ups_as_programs_write_them() -> None:
    """By bisect, and attributes of things in a list."""

    def program(gears: list[Gear], table: list[Any], xs: list[float]) -> Any:
        speed = 1.0
        for x in xs:
            k = min(max(bisect_right(GRID, speed * 0.3) - 1, 0), len(GRID) - 2)
            w = (speed - GRID[k]) / (GRID[k + 1] - GRID[k])
            pull = table[k] + 0.01 * w * (table[k + 1] - table[k])
            gear = gears[min(k, 5)]
            speed = speed * 0.9 + x * gear.ratio * pull / gear.mass
        return speed * speed

    compiled = rg.compile(program, tier="llvm")
    for seed in range(12):
        rng = random.Random(seed)
        gears = [Gear(rng.uniform(0.5, 2.0), rng.uniform(1.0, 2.0)) for _ in range(6)]
        arguments = gears, numbers(9, seed), numbers(24, seed + 1, 0.0, 2.0)
        value, gradient = compiled.value_and_grad(*arguments)
        wanted, gradients = rg.value_and_grad(program)(*arguments)
        assert value == pytest.approx(wanted, rel=1e-11)
        assert [each.ratio for each in gradient] == pytest.approx([each.ratio for each in gradients], rel=1e-9)
    assert len(compiled.stats().programs) == 1
    assert {take.step for take in taken(compiled)} == {1, 2}


def test_jacobians_take_items_too() -> None:
    def outputs(p: list[Any], xs: list[float]) -> list[Any]:
        return [chosen(p, count(x * p[0])) * p[1] for x in xs]

    compiled = rg.jacobian(rg.compile(outputs, tier="llvm"))
    for seed in range(3):
        arguments = numbers(9, seed), numbers(5, seed + 1)
        assert compiled(*arguments) == rg.jacobian(outputs)(*arguments)
