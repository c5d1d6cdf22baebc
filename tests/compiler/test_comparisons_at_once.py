"""Comparisons in code that asks which object something is, and operators between comparisons: both decide at once."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value

pytestmark = native


def clipped_sum(p: list[Any], xs: list[float]) -> Any:
    """One line compares again and again, with a Value, a float and an int; another asks for an object."""
    total, best = p[0] * 0.0, None
    for x in xs:
        term = p[0] * x + p[1]
        if term > 1 or term < -1.0:
            term = term * 0.5
        if best is None or term > best:
            best = term
        total = total + term * p[2] if term >= p[1] else total - term
    return total + best if best is not None else total


def agreeing(p: list[Any], xs: list[float]) -> Any:
    """Comparisons are compared with each other, and with bools."""
    total = p[0] * 1.0
    for one, other in itertools.pairwise(xs):
        a, b = p[0] * one + p[1], p[2] * other - p[0]
        if (a < 0.0) != (b < 0.0):
            total = total + a * b
        elif (a > 0.5) ^ (b > 0.25):
            total = total - a
        total = total + b * ((a > 0.25) == True)  # noqa: E712 -- as some write it
    return total


@pytest.mark.parametrize("f", [clipped_sum, agreeing])
def test_each_point_gets_what_it_decides(f: Callable[[list[Any], list[float]], Any]) -> None:
    """A line that has decided both ways is one guard for each way, and no program answers for another."""
    draw = random.Random(2)
    xs = [draw.uniform(-2.0, 2.0) for _ in range(6)]
    points = [[draw.choice((-1.0, -0.5, 0.0, 0.5, 1.0, 1.5)) for _ in range(3)] for _ in range(40)]
    compiled = rg.compile(f)
    for p in [*points, *draw.sample(points, 40)]:
        value, gradient = compiled.value_and_grad(p, xs)
        wanted, slopes = rg.value_and_grad(f)(p, xs)
        assert [value, *gradient] == pytest.approx([wanted, *slopes], rel=1e-12, abs=1e-12)


def test_the_lines_are_the_users() -> None:
    compiled = rg.compile(clipped_sum)
    compiled.value_and_grad([0.5, 0.25, 1.0], [1.0, 2.0, 4.0])  # terms of 0.75, 1.25 and 2.25
    text = compiled.guards()
    assert "if term > 1 or term < -1.0:   # its > is True" in text
    assert "if term > 1 or term < -1.0:   # its > is False" in text
    assert "if best is None or term > best:   # its > is True" in text
    compiled = rg.compile(agreeing)
    compiled.value_and_grad([0.5, 0.25, 1.0], [1.0, 2.0, 4.0])
    assert "if (a < 0.0) != (b < 0.0):   # its != is False" in compiled.guards()


def test_what_raises_in_a_comparison_raises() -> None:
    """An int that no float equals, and what is no number at all."""

    def f(x: Any, bound: Any) -> Any:
        return x * 2.0 if x is not None and x < bound else x

    compiled = rg.compile(f)
    assert compiled.value_and_grad(Value(1.0), 2**53 + 1) == (2.0, 2.0)
    with pytest.raises(TypeError, match="not supported between"):
        compiled.value_and_grad(Value(1.0), "text")
