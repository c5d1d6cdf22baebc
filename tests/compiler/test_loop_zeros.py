"""Zeros and infinite numbers in machine code from the scalar graph: what may be left out, and what must show."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.loop_cases import cache_of, check, numbers

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.install import compile_graph


def test_products_with_zero_and_one_are_left_out() -> None:
    def filtered(p: list[float]) -> Any:
        f = [[1.0, 0.1], [0.0, 1.0]]
        x, c = [p[0], p[1]], [[1.0, 0.0], [0.0, 1.0]]
        loss = 0.0
        for k in range(30):
            x = [sum(f[i][j] * x[j] for j in range(2)) for i in range(2)]
            fc = [[sum(f[i][m] * c[m][j] for m in range(2)) for j in range(2)] for i in range(2)]
            c = [
                [sum(fc[i][m] * f[j][m] for m in range(2)) + (p[2] if i == j else 0.0) for j in range(2)]
                for i in range(2)
            ]
            s = c[0][0] + p[3]
            gain = [c[0][0] / s, c[1][0] / s]
            error = math.sin(k) - x[0]
            x = [x[i] + gain[i] * error for i in range(2)]
            c = [[c[i][j] - gain[i] * c[0][j] for j in range(2)] for i in range(2)]
            loss = loss + error * error / s + rm.log(s)
        return loss

    check(filtered, (numbers(4, 8),), (numbers(4, 11),), bound=1e-9)


def test_an_infinite_number_times_zero_is_still_seen() -> None:
    def hidden(p: list[float]) -> Any:
        x, total = p[0], 0.0
        for _ in range(30):
            x = x * x * p[1]
            total = total + x * 0.0 + p[1]
        return total

    compiled = rg.compile(hidden)
    compiled.value_and_grad([0.5, 1.0])
    cache = cache_of(compiled)
    compile_graph(cache, cache.facts()[0]["number"])
    assert compiled.value_and_grad([0.9, 1.0])[0] == rg.value_and_grad(hidden)([0.9, 1.0])[0]
    value, _ = compiled.value_and_grad([1e30, 1e30])
    wanted, _ = rg.value_and_grad(hidden)([1e30, 1e30])
    assert math.isnan(wanted)
    assert math.isnan(value)


def test_infinite_numbers_that_vanish_in_two_loops_are_both_seen() -> None:
    def hidden(p: list[float], data: list[float]) -> Any:
        total = p[0] * 0.5
        for x in data[:30]:
            total = total * 0.5 + rm.tanh(x * p[1] * 0.0 + p[1])
        for x in data[30:]:
            total = total * 0.7 + rm.tanh(x * p[0] * 0.0 + p[1]) * 0.1
        return total

    data = numbers(60)
    compiled = check(hidden, ([0.5, 1.0], data), loops=2)
    for k in (3, 40):
        value, _ = compiled.value_and_grad([0.5, 1.0], [*data[:k], math.inf, *data[k + 1 :]])
        assert math.isnan(value)


def test_infinite_numbers_that_vanish_before_the_last_iteration_are_seen() -> None:
    def hidden(p: list[float], data: list[float]) -> Any:
        total, last = p[0] * 0.5, p[1] * 1.0
        for x in data:
            total = total + last * 0.0
            last = x * p[1] + total
        return last

    data = numbers(40)
    compiled = check(hidden, ([0.5, 1.0], data))
    value, _ = compiled.value_and_grad([0.5, 1.0], [*data[:10], math.inf, *data[11:]])
    assert math.isnan(value)


def test_a_result_that_is_infinite_is_the_engine_s() -> None:
    def shown(p: list[float]) -> Any:
        x = p[0]
        for _ in range(20):
            x = x * p[1]
        return x + x * 0.0

    compiled = check(shown, ([1.0, 2.0],))
    value, _ = compiled.value_and_grad([1e300, 1e300])
    assert math.isnan(value)


@pytest.mark.parametrize("row", ["atan2", "copysign"])
def test_the_sign_of_zero_is_kept_where_it_shows(row: str) -> None:
    def signed(p: list[float]) -> Any:
        x = p[1]
        for _ in range(20):
            minus, plus = 0.0 - p[0], p[0] + 0.0
            x = 0.5 * x + getattr(rm, row)(minus, -1.0 - p[1]) + 0.1 * getattr(rm, row)(2.0 + rm.tanh(x), plus)
        return x

    check(signed, ([1.0, 0.5],), ([0.0, 0.5],), ([-0.0, 0.5],))


def test_a_join_of_choices_keeps_the_sign_of_zero() -> None:
    def turned(x: Any, y: Any) -> Any:
        smaller = rg.minimum(rg.where(x > 0, 1.0, -0.0), rg.where(y > 0, 1.0, -0.0))
        return rm.atan2(smaller, -1.0 + 0.0 * x) + x

    compiled = rg.compile(turned, tier="llvm")
    for point in [(1.0, 2.0), (-1.5, 1.4), (-1.5, -1.4)]:
        assert compiled.value_and_grad(*point)[0] == pytest.approx(turned(*point), rel=1e-12)


def test_a_sum_of_negative_zeros_is_zero() -> None:
    def signed(p: list[float]) -> Any:
        x = p[1]
        for _ in range(20):
            sums = rg.sum([p[0], p[0]]), rg.sum([p[0]]), rg.dot([p[0]], [1.0]), rg.dot([p[0], p[0]], [1.0, 1.0])
            for k, each in enumerate(sums):
                x = 0.5 * x + rm.copysign(1.0 + k, each)
        return x

    check(signed, ([1.0, 0.5],), ([0.0, 0.5],), ([-0.0, 0.5],))


def test_the_reciprocal_of_zero_keeps_its_sign() -> None:
    def signed(p: list[float]) -> Any:
        x = p[1]
        for _ in range(20):
            x = 0.9 * x + rm.atan(rm.reciprocal(0.0 - p[0]))
        return x

    compiled = check(signed, ([1.0, 0.5],))
    assert compiled.value_and_grad([0.0, 0.5])[0] == pytest.approx(rg.value_and_grad(signed)([0.0, 0.5])[0])


def test_a_gradient_of_zero_adds_nothing_even_times_infinity() -> None:
    def guarded(p: list[float]) -> Any:
        x, total = p[0], 0.0
        for _ in range(30):
            x = x * 0.99
            total = total + rg.where(x > 0.0, x, rm.sqrt(rg.math.maximum(x, 0.0)) * p[1])
        return total

    check(guarded, ([1.0, 2.0],), ([-1.0, 2.0],))


@pytest.mark.parametrize(
    "row", [rm.exp, lambda x: x**2, lambda x: x**3.5, rm.cosh], ids=["exp", "square", "pow", "cosh"]
)
def test_an_infinite_result_of_an_infinite_number_is_no_overflow(row: Any) -> None:
    """Machine code looks at the result alone; whether the operand was infinite, the engine says."""

    def f(p: list[float]) -> Any:
        total = p[0] * 0.0
        for k in range(20):
            total = rm.minimum(total + p[0], row(p[1] * (k + 1.0)))
        return total

    compiled = check(f, ([0.5, 0.1],), ([0.25, 0.2],), bound=1e-9)
    value, gradient = compiled.value_and_grad([0.5, math.inf])
    wanted, exact = rg.value_and_grad(f)([0.5, math.inf])
    assert (value, gradient) == (wanted, pytest.approx(exact, nan_ok=True))
    for _ in range(2):
        with pytest.raises(OverflowError):
            f([0.5, 1e308])
        with pytest.raises(OverflowError):
            compiled.value_and_grad([0.5, 1e308])
    assert compiled.value_and_grad([0.5, 0.1])[0] == pytest.approx(rg.value_and_grad(f)([0.5, 0.1])[0])


@pytest.mark.parametrize("row", [lambda a, b: a % b, lambda a, b: a // b], ids=["mod", "floordiv"])
def test_whole_quotients_and_their_remainders_are_pythons(row: Any) -> None:
    """Of every sign, of multiples and of numbers next to them, tiny, large and infinite."""
    numbers = [0.0, -0.0, 1.0, -1.0, 0.7, -0.7, 2.1, -2.1, 6.3, 3.0 * 0.7, 1e-310, -1e-310, 1e300, -1e17, 1e17]
    points = [*numbers, math.nextafter(2.1, 3.0), math.nextafter(2.1, 0.0), math.inf, -math.inf]

    def f(p: list[Any], by: list[float]) -> Any:
        total = 0.0
        for x, b in zip(p, by, strict=True):
            total = total + rm.atan(row(x, b) * 1e-3) * x
        return total + rm.copysign(1.0, row(p[0], by[0])) + rm.copysign(1.0, row(p[1], 2.5))

    calls = [([0.3 + 0.1 * k] * 12, [0.25 * (k + j) + 0.3 for j in range(12)]) for k in range(3)]
    compiled = check(f, *calls)
    for b in (0.7, -0.7, 2.1, -1.0, 1e-5, math.inf, -math.inf):
        for x in points:
            arguments = [x, -x, *[0.5] * 9, x], [b, b, *[1.5] * 9, -b]
            wanted = rg.value_and_grad(f)(*arguments)
            value, gradient = compiled.value_and_grad(*arguments)
            rounded = 1e-12 * min(1.0 + abs(x), 1e301)
            assert value == pytest.approx(wanted[0], rel=1e-12, abs=rounded, nan_ok=True)
            assert gradient == pytest.approx(wanted[1], rel=1e-9, abs=rounded, nan_ok=True)
    with pytest.raises(ZeroDivisionError):
        compiled.value_and_grad([0.5] * 12, [0.0] * 12)


def test_powers_of_products_with_zero() -> None:
    """Where their partials are finite: of squares, and of the root of one."""

    def turned(p: list[float]) -> Any:
        x, y, total = 1.0, 0.0, 0.0
        for k in range(20):
            x, y = x + (x * 0.0 - y * p[0] * 0.1 * k), y + (y * 0.0 + x * p[0] * 0.1 * k)
            norm = (x**2 + y**2) ** 0.5
            x, y = x / norm, y / norm
            total = total + rm.sqrt(1.0 + p[1] * 0.0) * rm.log(1.0 + p[0] * 0.0) + (p[1] * 0.0) ** 3 * p[0]
        return x * p[1] + y + total

    check(turned, (numbers(2, 8),), (numbers(2, 11),), bound=1e-9)
