"""``rg.linalg`` in compiled functions: one program for each choice of the pivots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, draw, each_of, flips, is_converted

import retrograd as rg
from retrograd.errors import SingularMatrixError

pytestmark = pytest.mark.native


def rows_of(ps: Sequence[Any], xs: Sequence[float], size: int) -> list[list[Any]]:
    return [[ps[(i * size + j) % 12] * xs[(i + j) % 12] + xs[j] for j in range(size)] for i in range(size)]


def solved(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(x * x for x in rg.linalg.solve(rows_of(ps, xs, 3), [ps[0], xs[1], 1.0])) ** 0.5


def several_sides(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = rg.linalg.solve(
        np.array(rows_of(ps, xs, 4), dtype=object), np.array([[p, x] for p, x in zip(ps[:4], xs, strict=False)])
    )
    return rg.math.tanh(found[0, 0] - found[3, 1])


def inverse(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = rg.linalg.inv(rows_of(ps, xs, 3))
    return rg.math.tanh(found[0][1] + found[2][2])


def determinant(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return rg.linalg.det(rows_of(ps, xs, 4))


def of_data(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Of plain numbers alone."""
    rows = [[xs[3 * i + j] for j in range(3)] for i in range(3)]
    return ps[0] * rg.math.tanh(rg.linalg.solve(rows, [1.0, 2.0, 3.0])[0]) + ps[1] * rg.linalg.det(rows)


def in_a_loop(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Newton's method for two equations, until it has converged."""
    u, v = 1.0 + 0.1 * ps[0], 1.0 + 0.1 * xs[0]
    for _ in range(30):
        f, g = u * u + v - 2.0 - 0.1 * ps[1], u - v * v * v + 0.1 * xs[1]
        if abs(f) + abs(g) < 1e-10:
            break
        du, dv = rg.linalg.solve([[2.0 * u, 1.0], [1.0, -3.0 * v * v]], [f, g])
        u, v = u - du, v - dv
    return u * v


@each_of(solved, several_sides, inverse, determinant, of_data, in_a_loop)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=40, bound=1e-7), traces=9)


@each_of(solved, determinant)
def test_in_exact_mode_the_bits_are_the_engines(f: Function) -> None:
    compiled = rg.compile(f, exact=True)
    for seed in range(20):
        assert compiled.value_and_grad(*draw(seed)) == rg.value_and_grad(f)(*draw(seed))


def test_equal_pivots() -> None:
    """Of two that are as large, the first one is taken, as without compile."""

    def f(p: Any, x: float, y: float) -> Any:
        return rg.linalg.solve([[p * x, 2.0], [p * y, 1.0]], [1.0, p])[0]

    compiled = rg.compile(f)
    for x, y in [(1.0, 2.0), (2.5, 1.0), (1.5, 1.5), (1.5, -1.5), (-1.5, 1.5), (0.0, 1.0), (1.0, 0.0)]:
        assert compiled.value_and_grad(0.7, x, y) == pytest.approx(rg.value_and_grad(f)(0.7, x, y), rel=1e-12)


def test_a_singular_matrix_is_refused() -> None:
    def f(p: Any, x: float) -> Any:
        return rg.linalg.solve([[p * x, 2.0 * x], [p, 2.0]], [1.0, p])[0]

    compiled = rg.compile(lambda p, x: f(p, x) if x < 5.0 else rg.linalg.solve([[p * x, 2.0], [p, x]], [1.0, p])[0])
    assert compiled(0.5, 6.0) == pytest.approx(rg.linalg.solve([[3.0, 2.0], [0.5, 6.0]], [1.0, 0.5])[0])
    for x in (1.0, 2.0, 0.0):
        with pytest.raises(SingularMatrixError):
            compiled(0.5, x)


def test_second_derivatives() -> None:
    def f(ps: Sequence[Any]) -> Any:
        return rg.linalg.solve([[ps[0], ps[1]], [ps[2], ps[3] * ps[0]]], [1.0, ps[1]])[1]

    compiled = rg.compile(rg.hessian(f))
    for seed in range(8):
        ps = draw(seed)[0][:4]
        assert np.array(compiled(ps)) == pytest.approx(np.array(rg.hessian(f)(ps)), rel=1e-8)
