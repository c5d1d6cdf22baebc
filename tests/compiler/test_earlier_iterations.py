"""What loops read of iterations some way back, and functions that machine code computes by shorter formulas."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.lane_cases import check, in_lanes, numbers

import retrograd as rg
import retrograd.math as rm

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')


@pytest.mark.parametrize("distance", [2, 3, 4, 5])
def test_a_recurrence_that_looks_back(distance: int) -> None:
    def f(p: list[Any], xs: list[float]) -> Any:
        y = [p[0]] * distance
        for x in xs:
            y.append(rm.tanh(p[1] * y[-1] + p[2] * y[-distance] + x))
        return sum(a * a for a in y)

    for count in (distance + 1, 9, 30):
        check(f, *((numbers(3, seed), numbers(count, seed + 5)) for seed in range(3)))


@pytest.mark.parametrize("columns", [9, 15, 22, 31])
def test_a_stencil_with_products_that_cells_share(columns: int) -> None:
    """Each cell's product is read again two cells on; the last round of lanes is not full."""

    def f(p: list[Any], start: list[float]) -> Any:
        y = before = start
        total: Any = 0.0
        for _ in range(8):
            padded = [-y[1], *y, -y[-2]]
            new: list[Any] = [0.0]
            for i in range(1, len(y) - 1):
                ll, left, c, r, rr = padded[i - 1 : i + 4]
                bend = ll - 4.0 * left + 6.0 * c - 4.0 * r + rr
                new.append(2.0 * c - before[i] + p[0] * (left - 2.0 * c + r) - p[1] * bend)
            y, before = [*new, 0.0], y
            total = total + y[3] * y[3] + y[-2]
        return total

    calls = [([0.4, 0.01], numbers(columns, seed)) for seed in range(3)]
    compiled = check(f, *calls, bound=1e-10)
    if columns == 31:
        assert columns - 6 in in_lanes(compiled) or columns - 4 in in_lanes(compiled)


def _settled(f: Any, *calls: tuple[Any, ...]) -> Any:
    return check(f, *calls, bound=1e-12)


def test_lengths_and_angles_of_vectors() -> None:
    def f(points: list[list[Any]]) -> Any:
        return sum(rm.hypot(x, y) + 0.1 * rm.atan2(y, x) + rm.asinh(x) for x, y in points)

    rng = random.Random(3)
    calls = [([[rng.gauss(0, 3), rng.gauss(0, 3)] for _ in range(11)],) for _ in range(3)]
    _settled(f, *calls)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e-100, 1e100, 1e160, 1e200])
def test_lengths_whose_squares_are_out_of_range(scale: float) -> None:
    def f(points: list[list[Any]]) -> Any:
        return sum(rm.hypot(x, y) for x, y in points)

    small = [[scale * (i + 1), scale * (i - 3)] for i in range(9)]
    ordinary = [[float(i + 1), float(i - 3)] for i in range(9)]
    _settled(f, (ordinary,), (small,), ([[0.0, 0.0], *ordinary[1:]],))


@pytest.mark.parametrize("exponent", [1.9, 0.3, -1.3, 9.7, 13.0])
@pytest.mark.parametrize("given", [False, True])
def test_slopes_of_powers(exponent: float, given: bool) -> None:
    """At zero, where the power is tiny, and of exponents that are parameters."""

    def f(xs: list[Any], p: Any) -> Any:
        return sum(x ** (p if given else exponent) for x in xs)

    calls = [(numbers(9, seed), exponent) for seed in range(3)]
    calls.append(([1e-30, *numbers(8, 7)], exponent))
    if exponent > 0.0:
        calls.append(([1e-200, *numbers(8, 7)], exponent))
    if exponent > 1.0:
        calls.append(([0.0, *numbers(8, 7)], exponent))
    _settled(f, *calls)


def test_infinite_lengths() -> None:
    def f(x: Any, y: Any) -> Any:
        return 1.0 / rm.hypot(x, y)

    compiled = rg.compile(f)
    for pair in [(3.0, 4.0), (1e300, 1e300), (1e-170, 1e-170), (3.0, 4.0)] * 3:
        value, grads = compiled.value_and_grad(*pair)
        wanted, exact = rg.value_and_grad(f)(*pair)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert grads == pytest.approx(exact, rel=1e-12)
