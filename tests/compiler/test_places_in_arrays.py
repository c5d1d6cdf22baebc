"""Elements of NumPy's arrays of more than one axis, whose places data choose."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.counted_programs import check as check_calls

import retrograd as rg

pytestmark = pytest.mark.native

SIZE = 12
PARAMETERS = [0.3 + 0.1 * k for k in range(7)]


def points(count: int, k: int, size: int = SIZE) -> list[list[float]]:
    """Points of one call; in every third one, they are on the lines between cells, and some are the same."""
    draw = random.Random(k)
    return (
        [[draw.uniform(0, size - 0.001) for _ in range(2)] for _ in range(count)]
        if k % 3 < 2
        else ([[float(draw.randrange(0, size, 3)), float(draw.randrange(size))] for _ in range(count)])
    )


def cells(p: Any, rows: int = SIZE, columns: int = SIZE) -> Any:
    found = np.empty((rows, columns), dtype=object)
    for i in range(rows):
        for j in range(columns):
            found[i, j] = p[(i * columns + 3 * j) % len(p)] * (1.0 + 0.01 * i - 0.02 * j)
    return found


def check(function: Callable[..., Any], count: int = 5, size: int = SIZE, most: int = 2) -> Any:
    return check_calls(function, PARAMETERS, [points(count, k, size) for k in range(40)], most, tier="vm")


@pytest.mark.parametrize("shape", [(12, 12), (4, 5), (2, 3), (16, 16)])
def test_an_element_is_read(shape: tuple[int, int]) -> None:
    def read(p: Any, given: Any) -> Any:
        s, total = cells(p, *shape), 0.0
        for x, y in given:
            i, j = int(x) % shape[0], int(y) % shape[1]
            total += s[i, j] * x - s[i, 1] * s[0, j] * s[i, -1] + s[-2, j] * y
        return total

    check(read)


def test_views_and_other_orders() -> None:
    def read(p: Any, given: Any) -> Any:
        s, total = cells(p), 0.0
        turned, part, flipped = s.T, s[2:, 3:], np.asfortranarray(s)[::-1]
        for x, y in given:
            i, j = int(x), int(y)
            total += turned[i, j] * x + part[i % 10, j % 9] * y + flipped[j, i]
        return total

    check(read)


def test_an_element_is_stored() -> None:
    def store(p: Any, given: Any) -> Any:
        s, total = cells(p, 5, 6), 0.0
        view = s.T
        for x, y in given:
            i, j = int(x) % 5, int(y) % 6
            if x > y:
                s[i, j] = s[i, j] * 0.5 + x
            view[j, 0] += s[1, j] * p[0]
            total += s[i, j] * view[j, i] * y
        return total + s.sum()

    check(store, size=6, most=3)


def test_more_axes() -> None:
    def read(p: Any, given: Any) -> Any:
        s, total = cells(p, 6, 12).reshape(6, 4, 3), 0.0
        for x, y in given:
            i, j = int(x) % 6, int(y) % 4
            total += s[i, j, 1] * x + s[i, -1, int(y) % 3] * y + s[2, j, 0]
        return total

    check(read)


def test_a_walk_that_may_leave_by_either_side() -> None:
    def walk(p: Any, given: Any) -> Any:
        s, total = cells(p), 0.0
        for x, y in given:
            i, j = int(x), int(y)
            for _ in range(6):
                total = total * 0.95 + s[i, j]
                if x * (i + 1) < y * (j + 2):
                    i += 1
                else:
                    j -= 1
                if i >= SIZE or j < 0:
                    break
        return total

    check(walk, count=3, most=4)


@pytest.mark.parametrize("shift", [0, -3, 4])
def test_places_from_the_end_and_beyond_it(shift: int) -> None:
    def read(p: Any, given: Any) -> Any:
        s, total = cells(p), 0.0
        for x, y in given:
            i, j = int(x) + shift, int(y)
            total += s[i, j] * x
            if y > 11.5:
                total += s[j, shift * 4] * y
        return total

    compiled, eager = rg.compile(read, tier="vm"), rg.value_and_grad(read)
    for k in range(40):
        try:
            value, gradient = eager(PARAMETERS, points(2, k))
        except IndexError as problem:
            with pytest.raises(IndexError, match=str(problem)):
                compiled.value_and_grad(PARAMETERS, points(2, k))
        else:
            found = compiled.value_and_grad(PARAMETERS, points(2, k))
            assert found[0] == pytest.approx(value, rel=1e-12)
            assert found[1] == pytest.approx(gradient, rel=1e-12)
