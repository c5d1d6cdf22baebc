"""Loops over grids, whose iterations take numbers from their neighbours', in lanes against the engine."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from support.lane_cases import check, graph_of, in_lanes, numbers
from support.loop_cases import cache_of
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.pipeline import write_passes
    from retrograd.compiler.backends.loops.shapes import costs, sections
    from retrograd.compiler.backends.loops.shapes.nests import find_nests
    from retrograd.compiler.backends.loops.shapes.structure import bodies_of, build


def heat(k: list[list[Any]], start: list[list[float]], rows: int, columns: int) -> Any:
    """Heat in a plate, with a conductivity for each cell; the gradient by those."""
    u: list[list[Any]] = [list(row) for row in start]
    for _ in range(8):
        new = [row[:] for row in u]
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                flux = (k[i][j] + k[i + 1][j]) * (u[i + 1][j] - u[i][j])
                flux = flux + (k[i][j] + k[i - 1][j]) * (u[i - 1][j] - u[i][j])
                flux = flux + (k[i][j] + k[i][j + 1]) * (u[i][j + 1] - u[i][j])
                flux = flux + (k[i][j] + k[i][j - 1]) * (u[i][j - 1] - u[i][j])
                new[i][j] = u[i][j] + 0.1 * flux
        u = new
    return sum(x * x for row in u for x in row)


@pytest.mark.parametrize(("rows", "columns"), [(9, 11), (8, 16), (10, 19), (7, 26)])
def test_a_plate_s_columns_run_side_by_side(rows: int, columns: int) -> None:
    """What a cell takes from the one before is in the lane beside; forward from the first, backward from the last."""

    def f(k: list[list[Any]], start: list[list[float]]) -> Any:
        return heat(k, start, rows, columns)

    grids = [[numbers(columns, 31 * seed + i) for i in range(rows)] for seed in range(6)]
    compiled = check(f, *zip(grids[:3], grids[3:], strict=True))
    assert columns - 4 in in_lanes(compiled)


def test_what_the_next_iteration_needs_is_computed_first() -> None:
    """Two numbers of the cell before, one of which is computed from the other, and one of a cell before that."""

    def f(p: list[Any], x: list[Any]) -> Any:
        total, row = 0.0, x
        for _ in range(5):
            slopes = [rm.tanh(p[0] * (row[j + 1] - row[j])) for j in range(len(row) - 1)]
            inner = [
                row[j] + p[1] * (slopes[j] - slopes[j - 1]) * slopes[j - 2] + 0.1 * row[j - 2]
                for j in range(2, len(row) - 1)
            ]
            row = [row[0], row[1], *inner, row[-1]]
            total = total + sum(a * b for a, b in itertools.pairwise(row))
        return total

    for count in (15, 22, 29):
        check(f, *((numbers(2, seed), numbers(count, seed + 9)) for seed in range(3)))


def convolution(kernels: list[list[Any]], images: list[list[list[float]]]) -> Any:
    """Images, kernels, rows, columns: a loop in a loop in a loop in a loop."""
    loss = 0.0
    for image in images:
        for *kernel, bias in kernels:
            for i in range(len(image) - 2):
                for j in range(len(image[0]) - 2):
                    s = bias
                    for a in range(3):
                        for b in range(3):
                            s = s + kernel[3 * a + b] * image[i + a][j + b]
                    loss = loss + rm.relu(s) * 0.1
    return loss


@pytest.mark.parametrize("columns", [10, 12, 18])
def test_kernels_add_up_their_gradients_in_lanes_over_all_rows(columns: int) -> None:
    """Each lane has a sum of its own through the loops around; the lanes are added up at the end."""
    images = [[numbers(columns, 40 * seed + i, -1.0, 1.0) for i in range(9)] for seed in range(6)]
    calls = [([numbers(10, seed + k, -1.0, 1.0) for k in range(5)], images) for seed in range(3)]
    compiled = check(convolution, *calls)
    assert max(body.depth for body in bodies_of(write_passes(graph_of(compiled), fast=True).layout.top)) >= 2
    assert columns - 2 in in_lanes(compiled)


def test_all_terms_of_a_sum_are_alike() -> None:
    """A sum of sums begins before the first of those, and the first terms are added as the others are."""

    def f(p: list[Any], data: list[list[float]]) -> Any:
        total = 0.0
        for row in data:
            total = total + rm.sin(sum(w * x for w, x in zip(p, row, strict=True)))
        return total

    data = [numbers(9, seed, -1.0, 1.0) for seed in range(20)]
    compiled = check(f, *((numbers(9, seed), data) for seed in range(3)))
    outer, inner = bodies_of(build(find_nests(graph_of(compiled))[0][0]).items[1])
    assert (outer.counts.tolist(), set(inner.counts)) == ([20], {9})


@pytest.mark.parametrize("part", [slice(7), slice(6), slice(5), slice(1, 7), slice(1, 6)], ids=str)
def test_a_loop_that_reads_a_part_of_another_one_s_row(part: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes without an iteration write nothing where the row that they read goes on, or the next one begins."""
    monkeypatch.setattr(costs, "_CODE", 1e3)  # loops in loops, however short
    monkeypatch.setattr(sections, "_LONG", 0)

    def f(p: list[Any], data: list[list[float]]) -> Any:
        total = p[2] * 0.1
        for row in data:  # each needs the one before
            a = [rm.exp(rm.sin(x * p[0]) * p[1]) * rm.tanh(x + total) for x in row]
            s = 0.0
            for x in a[part]:
                s = s + rm.sin(rm.tanh(x - total) * p[1]) * rm.exp(x * p[0])
            total = rm.tanh(s * p[2] + a[0] * a[5] - a[6] + total)
        return total

    data = [[x - 0.7 for x in numbers(7, seed)] for seed in range(14)]
    compiled = check(f, *((numbers(3, seed), data) for seed in range(3)))
    count, lanes = part.stop - (part.start or 0), cache_of(compiled).vector_functions()[0]
    expected = {7, count} if lanes > 4 or count > 5 else {7}  # five numbers take two vectors of four
    assert expected <= set(in_lanes(compiled))


def test_parameters_are_numbered_as_they_were_made() -> None:
    """However the function comes to them: a loop finds those of a matrix where they are in it."""
    matrix = [[rg.Value(x) for x in numbers(7, seed)] for seed in range(5)]
    extra = rg.Value(0.3)

    @rg.compile
    def f(x: float) -> Any:
        backwards = sum(matrix[i][j] * rm.sin(x * matrix[j % 5][i]) for i in (3, 0, 4, 1, 2) for j in (6, 2, 5, 0, 4))
        return extra * backwards

    f.backward(0.5)
    cache = f._cache  # type: ignore[attr-defined]
    listed = [leaf for leaf, *_ in cache.listing(cache.facts()[0]["number"])["leaves"] if leaf is not None]
    made = [value for row in matrix for value in row] + [extra]
    order = [id(value) for value in listed]
    assert order == [id(value) for value in made if id(value) in order]
    assert len(order) > 20


@pytest.mark.parametrize("seed", range(60 if ALL else 10))
def test_random_stencils(seed: int) -> None:
    f, calls = random_stencil(seed)
    check(f, *calls, bound=1e-9)


def random_stencil(seed: int) -> tuple[Callable[..., Any], list[tuple[Any, ...]]]:
    """Grids whose cells are computed from some of their neighbours, before or after this step's."""
    rng = random.Random(seed)
    rows, columns, steps = rng.choice([1, 1, 3, 5]), rng.randint(8, 27), rng.randint(1, 6)
    offsets = [(rng.randint(-1, 1) if rows > 1 else 0, rng.randint(-2, 2)) for _ in range(rng.randint(2, 5))]
    kinds = [rng.choice("adts") for _ in offsets]
    in_place, weighted = rng.random() < 0.25, rng.random() < 0.5

    def cell(u: list[list[Any]], p: list[Any], i: int, j: int) -> Any:
        s = u[i][j] * 0.5
        for number, ((di, dj), kind) in enumerate(zip(offsets, kinds, strict=True)):
            x = u[i + di][j + dj]
            w = p[number % len(p)] if not weighted else p[(i * 3 + j) % len(p)]
            match kind:
                case "a":
                    s = s + 0.2 * w * (x - u[i][j])
                case "d":
                    s = s + x / (2.0 + x * x)
                case "t":
                    s = s - 0.3 * rm.tanh(x * w)
                case _:
                    s = s * 0.9 + rm.sin(x) * u[i][j] * 0.1
        return s

    def f(p: list[Any], start: list[list[Any]]) -> Any:
        u: list[list[Any]] = [list(row) for row in start]
        inside = range(1, rows - 1) if rows > 1 else range(1)
        for _ in range(steps):
            new = u if in_place else [list(row) for row in u]
            for i in inside:
                for j in range(2, columns - 2):
                    new[i][j] = cell(u, p, i, j)
            u = new
        return sum(x * x for row in u for x in row)

    def grid(k: int) -> list[list[float]]:
        return [numbers(columns, 100 * k + seed + i, -1.0, 1.0) for i in range(rows)]

    return f, [(numbers(7, seed + k), grid(k)) for k in range(3)]
