"""Matrices that are made in one order and read in another: loops find the elements without tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.compiled_cases import native
from support.lane_cases import check, graph_of, numbers

import retrograd.math as rm
from retrograd.engine import ENGINE

if ENGINE == "native":
    from retrograd.compiler.backends.loops import pipeline
    from retrograd.compiler.backends.loops.layouts.operands import Far
    from retrograd.compiler.backends.loops.pipeline import write_passes
    from retrograd.compiler.backends.loops.shapes.fission import divided
    from retrograd.compiler.backends.loops.shapes.indices import fit, ordered
    from retrograd.compiler.backends.loops.shapes.nests import find_nests
    from retrograd.compiler.backends.loops.shapes.structure import Repeat, bodies_of, build

pytestmark = native

SIZE = 14


@pytest.fixture(autouse=True)
def _nested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops in loops wherever there are such."""
    nested = lambda graph, most: build(divided(graph, find_nests(graph)[0][0]))  # noqa: E731
    monkeypatch.setattr(pipeline, "find_fastest", nested)


def looked_up(compiled: Any) -> int:
    """How many numbers in memory are found through a table."""
    passes = write_passes(graph_of(compiled), fast=True)
    far = [operand for operand in passes.layout.first_use if isinstance(operand, Far)]
    tables = [fit(one.frame, passes.storage.places(one.nodes)).table for one in far]
    return sum(len(table[1]) for table in tables if table is not None)


def covariance(lengths: list[Any], points: list[float]) -> list[list[Any]]:
    matrix = [[rm.exp(-((x - y) ** 2) * lengths[0]) for y in points] for x in points]
    for i, row in enumerate(matrix):
        row[i] = row[i] + 0.5 + lengths[1] * lengths[1]
    return matrix


def cholesky(a: list[list[Any]]) -> list[list[Any]]:
    """By columns, as textbooks write it."""
    lower = [[0.0] * len(a) for _ in a]
    for j in range(len(a)):
        s = a[j][j]
        for k in range(j):
            s -= lower[j][k] ** 2
        lower[j][j] = rm.sqrt(s)
        for i in range(j + 1, len(a)):
            s = a[i][j]
            for k in range(j):
                s -= lower[i][k] * lower[j][k]
            lower[i][j] = s / lower[j][j]
    return lower


def solved(lower: list[list[Any]], b: list[Any]) -> list[Any]:
    x: list[Any] = []
    for i, row in enumerate(lower):
        s = b[i]
        for k in range(i):
            s -= row[k] * x[k]
        x.append(s / row[i])
    return x


def test_a_triangle_made_by_columns_and_read_by_rows() -> None:
    def f(lengths: list[Any], points: list[float]) -> Any:
        lower = cholesky(covariance(lengths, points))
        return sum(v * v for v in solved(lower, points)) + sum(rm.log(lower[i][i]) for i in range(len(points)))

    compiled = check(f, *((numbers(2, seed), numbers(SIZE, seed, -1.0, 1.0)) for seed in range(3)), bound=1e-9)
    passes = write_passes(graph_of(compiled), fast=True)
    assert len(passes.layout.positions) < len(graph_of(compiled)) / 3
    assert looked_up(compiled) < 3 * SIZE * SIZE  # each product would look two elements up


def test_rows_are_factored_and_columns_are_substituted() -> None:
    """Two orders of reading: the one that is read more often counts."""

    def f(lengths: list[Any], points: list[float]) -> Any:
        lower = cholesky(covariance(lengths, points))
        x = solved(lower, points)
        for i in range(len(x) - 1, -1, -1):
            s = x[i]
            for k in range(i + 1, len(x)):
                s -= lower[k][i] * x[k]
            x[i] = s / lower[i][i]
        return sum(v * v for v in x)

    check(f, *((numbers(2, seed), numbers(SIZE, seed, -1.0, 1.0)) for seed in range(3)), bound=1e-8)


def test_rows_that_share_their_sums() -> None:
    """Sums in memory lie in the order in which they are read, too."""

    def f(p: list[Any], points: list[list[float]]) -> Any:
        total = [[0.0] * 6 for _ in range(6)]
        for point in points:
            level = rm.tanh(p[0] * point[0])
            for k in range(6):
                for i in range(6):
                    total[i][k] += level * point[i] * p[k]
        return sum(rm.sin(sum(row)) * sum(x * x for x in row) for row in total)

    def calls(seed: int) -> tuple[list[float], list[list[float]]]:
        return numbers(6, seed), [numbers(6, 20 * seed + i, -1.0, 1.0) for i in range(12)]

    check(f, *(calls(seed) for seed in range(3)))


def test_the_order_is_that_of_the_loop_that_reads_most() -> None:
    loops = Repeat([[Repeat([[6 * i + j] for j in range(6)])] for i in range(6)])
    *_, body = bodies_of(build([loops]))
    made = np.arange(36)
    rows = np.sort(np.random.default_rng(1).permutation(36).reshape(6, 6), axis=1)
    columns = made.reshape(6, 6).T.ravel()
    assert ordered(made, [(body, made), (body, columns)]) is None  # as they are
    found = ordered(made, [*[(body, rows.ravel())] * 6, (body, columns)])
    assert found is not None
    assert np.all(np.diff(found[0][rows], axis=1) == 1)
    assert sorted(found[0].tolist()) == [*range(36)]
