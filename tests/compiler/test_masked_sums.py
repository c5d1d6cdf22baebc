"""Sums that grow only at times are sums of terms and of nothing: with the same bits, whatever is added."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.compiled_cases import native
from support.parts import require

import retrograd as rg

pytestmark = native


def one(xs: Sequence[Any], total: Any) -> Any:
    for x in xs:
        total = rg.where(x > 0.0, total + x * x, total)
    return total


def otherwise(xs: Sequence[Any], total: Any) -> Any:
    for x in xs:
        total = rg.where(x > 0.0, total, x * 3.0 + total)
    return total


def taken_away(xs: Sequence[Any], total: Any) -> Any:
    for x in xs:
        total = rg.where(x > 0.0, total - x / 3.0, total)
    return total


def several(xs: Sequence[Any], total: Any) -> Any:
    for x in xs:
        total = rg.where(x > 0.0, total + x * 0.1 - x / 7.0 + 0.3, total)
    return total


def from_zero(xs: Sequence[Any], total: Any) -> Any:
    grown: Any = 0.0
    for x in xs:
        grown = rg.where(x > total, grown + x, grown)
    return grown * total


def read_again(xs: Sequence[Any], total: Any) -> Any:
    """The partial sum has another reader: it stays."""
    for x in xs:
        more = total + x * x
        total = rg.where(more > 1.0, more, total)
    return total


def both(xs: Sequence[Any], total: Any) -> Any:
    for x in xs:
        total = rg.where(x > 0.0, total + x * x, x / 3.0 + total)
    return total


def more_where_it_holds(xs: Sequence[Any], total: Any) -> Any:
    for x in xs:
        total = rg.where(x > 0.0, total + x * 0.1 + x / 7.0, total + x * x)
    return total


def added_or_taken_away(xs: Sequence[Any], total: Any) -> Any:
    for x in xs:
        total = rg.where(x > 0.0, total - x * 0.1, total + x / 3.0)
    return total


GROWING = (one, otherwise, taken_away, several, from_zero)
ALWAYS = (both, more_where_it_holds, added_or_taken_away)
FUNCTIONS = {each.__name__: each for each in (*GROWING, *ALWAYS, read_again)}


def bits(number: float) -> bytes:
    return struct.pack("d", number)


def eager(f: Callable[..., Any], xs: Sequence[float], total: float) -> tuple[float, list[float]]:
    leaves = [rg.Value(x) for x in xs]
    start = rg.Value(total)
    result = f(leaves, start)
    result.backward()
    return result.data, [*(leaf.grad for leaf in leaves), start.grad]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("total", [0.7, -0.0, 0.0, math.inf])
def test_the_bits_are_the_functions(name: str, total: float) -> None:
    f = FUNCTIONS[name]
    compiled = rg.value_and_grad(rg.compile(f, exact=True), argnums=(0, 1))
    for xs in ([0.5, -0.25, 1.5, -2.0], [-0.1, -0.2, -0.3, -0.4], [1e-300, 0.0, -0.0, 3.0]):
        value, (slopes, slope) = compiled(xs, total)
        expected, gradients = eager(f, xs, total)
        assert bits(value) == bits(expected)
        assert [*slopes, slope] == pytest.approx(gradients, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_machine_code_adds_the_same(name: str) -> None:
    require("llvmlite")
    f, xs = FUNCTIONS[name], [math.sin(3.0 * i) for i in range(60)]
    compiled = rg.value_and_grad(rg.compile(f, tier="llvm"), argnums=(0, 1))
    for shift in (0.0, 0.4, -2.0):
        numbers = [x + shift for x in xs]
        value, (slopes, slope) = compiled(numbers, 0.7)
        expected, gradients = eager(f, numbers, 0.7)
        assert value == pytest.approx(expected, rel=1e-12)
        assert [*slopes, slope] == pytest.approx(gradients, rel=1e-12)


def test_what_is_not_added_may_be_anything() -> None:
    def f(x: Any, total: Any) -> Any:
        return rg.where(x > 0.0, total + 1.0 / x, total)

    compiled = rg.value_and_grad(rg.compile(f), argnums=(0, 1))
    assert compiled(2.0, 1.0) == (1.5, (-0.25, 1.0))
    assert compiled(-1e-320, 1.0) == (1.0, (0.0, 1.0))


@pytest.mark.parametrize("name", [each.__name__ for each in GROWING])
def test_no_selection_waits_for_the_sum(name: str) -> None:
    compiled = rg.compile(FUNCTIONS[name])
    compiled.value_and_grad([0.5, -0.25, 1.5], 0.7)
    selections = [line for line in compiled.program(after="expand").splitlines() if "where(" in line]
    assert selections
    assert all("0.0)" in line or "0.0," in line for line in selections)


@pytest.mark.parametrize("f", ALWAYS)
def test_sums_that_always_grow_wait_for_nothing(f: Callable[..., Any]) -> None:
    """All terms are of a few kinds, and are added at once."""
    compiled = rg.compile(f)
    compiled.value_and_grad([math.sin(3.0 * i) for i in range(60)], 0.7)
    assert compiled.stats().programs[0].groups < 12


def test_second_derivatives() -> None:
    def f(xs: Sequence[Any]) -> Any:
        total: Any = xs[0]
        for x in xs:
            total = rg.where(x > 0.2, total + x * x * x, total)
        return total * total

    xs = [0.5, -0.25, 1.5]
    for each in (rg.hessian(f)(xs), rg.hessian(rg.compile(f))(xs)):
        k = [3 * x * x * (x > 0.2) for x in xs]
        k[0] += 1.0
        total = xs[0] + sum(x**3 for x in xs if x > 0.2)
        expected = [
            [2 * k[i] * k[j] + (i == j) * 12 * total * xs[i] * (xs[i] > 0.2) for j in range(3)] for i in range(3)
        ]
        assert [list(row) for row in each] == [pytest.approx(row, rel=1e-12) for row in expected]
