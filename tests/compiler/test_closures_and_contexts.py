"""Variables of the function around, statements inside of ``try`` and ``with``, and answers about numbers."""

from __future__ import annotations

import contextlib
import itertools
import math as plain_math
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, draw, each_of, flips, is_converted

import retrograd as rg
from retrograd import math

pytestmark = pytest.mark.native


def outer_variables(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total, count = ps[0] * 0.1, 0

    def add(v: Any) -> None:
        nonlocal total, count
        if v > 0.0:
            total += v * ps[1]
            count += 1
        elif count < 3:
            total -= ps[2]
        while total > 2.0:
            total *= 0.5

    for p, x in zip(ps, xs, strict=True):
        add(p * x)
    return total + count * ps[3]


def tried(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total, done = ps[0] * 0.1, 0
    for p, x in zip(ps, xs, strict=True):
        try:
            if p > x:
                total += p * x
            else:
                total -= 0.5 * p
            if total > 0.3:
                total *= 0.5
        except OverflowError:
            total = 0.0 * p
        else:
            done += 1
            if total < -0.3:
                total = -0.3 + 0.1 * total
        finally:
            total = total * 0.99 if x > 0.0 else total * p
    return total * done


@contextlib.contextmanager
def scaled(x: Any) -> Iterator[Any]:
    yield x * 0.5


def in_a_context(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        with scaled(p * x) as half, contextlib.nullcontext():
            if half > 0.1:
                total += half
            else:
                total -= p
    return total


def queue(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Items of a queue that has as many in each call."""
    last, total = deque([ps[0], ps[1], ps[2]], maxlen=3), 0.0
    for p, x in zip(ps, xs, strict=True):
        if last[0] * x > last[-1] and last[0] < last[1]:
            total += last[1]
        last.append(p * x)
    return total + last[0]


def answers(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        if math.isclose(p, x, rel_tol=0.5, abs_tol=0.2):
            total += p * x
        elif not math.isnan(p) and math.isfinite(p) and p > 0.5:
            total -= p
        if plain_math.isclose(x, 0.0, abs_tol=0.5) and not plain_math.isinf(x):
            total *= 0.9
    return total


def equal_tests(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    up = [p > x for p, x in zip(ps, xs, strict=True)]
    turns = sum(1 for a, b in itertools.pairwise(up) if a != b)
    same = sum(p for p, a, b in zip(ps, up, up[::-1], strict=True) if a == b)
    return ps[0] * sum(up) + ps[1] * turns + same + int(ps[2] > xs[2]) * ps[3] + float(ps[4] > xs[4])


@each_of(outer_variables, tried, in_a_context, queue, answers, equal_tests)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=40), traces=9)


def outer_in_an_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """An arm calls what assigns a variable of the function around."""
    total = 0.0

    def add(v: Any) -> None:
        nonlocal total
        total += v

    for p, x in zip(ps, xs, strict=True):
        if p > x:
            add(p)
        total *= 0.9
    return total


def outer_in_both(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The function around and the inner one change it."""
    level = ps[0]

    def drain(by: Any) -> Any:
        nonlocal level
        if by > level:
            by = level
        level -= by
        return by

    out = 0.0
    for p, x in zip(ps, xs, strict=True):
        level = level + abs(x) if p > 0.0 else level
        out += drain(abs(p)) * x
    return out + level


def not_assigned_yet(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def first(v: Any) -> None:
        nonlocal found
        if v > 0.2:
            found = v

    found = ps[0] * 0.1
    for p, x in zip(ps, xs, strict=True):
        first(p * x)
    return found


def handled(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A handler reads what was assigned before something was raised."""
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        part = p
        try:
            if x > 0.0:
                part = p * 2.0
            part = part + math.sqrt(x + 0.8)
            total += part
        except ValueError:
            total -= part
    return total


def suppressed(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        with contextlib.suppress(ValueError):
            if p > 0.0:
                total += p
            total += math.log(x + 1.5)
    return total


def left_early(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What is assigned before something is raised is read behind the ``with``."""
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        z = p
        with contextlib.suppress(ValueError):
            if p > x:
                z = 2.0 * p
                total += 0.1
            else:
                z = -p
            if p > -9.0:
                raise ValueError
            z = 0.0
        total += z * x
    return total


@each_of(left_early, outer_in_an_arm, outer_in_both, not_assigned_yet, handled, suppressed)
def test_others_are_right(f: Function) -> None:
    flips(f, calls=24)


def test_numpys_answers_are_plain_bools() -> None:
    for number in (np.float64(1.0), np.float64("nan"), rg.Value(2.0), 3.0):
        assert type(math.isnan(number)) is type(math.isfinite(number)) is type(math.isinf(number)) is bool
        assert type(math.isclose(number, 1.0)) is bool


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), 1e308, -1e308, 0.0, 1.0])
def test_what_is_close_is_close_in_programs(number: float) -> None:
    """Infinities are close to themselves alone."""

    def f(p: Any, x: float, y: float) -> Any:
        total = p
        for one in (x, y, -x):
            if math.isclose(one, y, rel_tol=0.1) and p > -9.0:
                total += p
            if math.isinf(one):
                total *= 2.0
        return total

    compiled = rg.compile(f)
    for seed in range(12):
        for y in (number, draw(seed)[1][0], -number):
            assert compiled(1.5 + seed, number, y) == f(1.5 + seed, number, y)
