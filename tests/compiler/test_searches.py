"""Searching and sorting what is traced: sorted, median, index, bisect, and the largest by a key."""

# ruff: noqa: RUF007 (the statements are what is tested)
from __future__ import annotations

import bisect
import heapq
import math
import random
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.flipping import Function, draw, flips, is_answered, is_converted

import retrograd as rg
from retrograd import math as rm

pytestmark = pytest.mark.native


class Peak(NamedTuple):
    position: Any
    height: Any


def middle(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    ordered = sorted(p * x for p, x in zip(ps, xs, strict=True))
    return ordered[len(ordered) // 2] + 0.3 * ordered[-1] + 0.1 * ordered[0]


def medians(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    from statistics import median

    return median(ps) * 2.0 + statistics.median([p * x for p, x in zip(ps[:5], xs, strict=False)])


def rows(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Tuples and named tuples are compared field by field."""
    ordered = sorted((p * x, ps[0] * i) for i, (p, x) in enumerate(zip(ps[:6], xs, strict=False)))
    peaks = sorted([Peak(max(x, 0.0), p) for p, x in zip(ps[:5], xs, strict=False)], reverse=True)
    return sum(k * a * b for k, (a, b) in enumerate(ordered)) + sum(k * q.height for k, q in enumerate(peaks))


def two_keys(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    ordered = sorted(range(5), key=lambda i: (max(xs[i], 0.0), ps[i]))
    return sum(k * ps[i] for k, i in enumerate(ordered))


def truths_in_keys(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    ordered = sorted(range(5), key=lambda i: (xs[i] > 0.3, ps[i]))
    last = sorted(range(4), key=lambda i: ps[i] * xs[i] < 0.0, reverse=True)
    return sum(k * ps[i] for k, i in enumerate(ordered)) + sum(k * ps[i] for k, i in enumerate(last))


def largest_row(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A tie in the first place is decided by the second one; a lambda is called in an arm."""
    pick = lambda k: ps[k] * xs[k]  # noqa: E731
    first = min(range(5), key=lambda i: (max(xs[i], 0.0), ps[i]))
    _, height = max((max(x, 0.0), p) for p, x in zip(ps[:4], xs, strict=False))
    return pick(first) + height if xs[first] < 0.2 else height - pick(2)


def the_largest_few(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Of those that pass."""
    passing = [(p * x, i) for i, (p, x) in enumerate(zip(ps, xs, strict=True)) if x > 0.0]
    passing.sort(key=lambda pair: pair[0], reverse=True)
    best = sorted(p for p in ps if p > 0.2)
    return sum(value * ps[i] for value, i in passing[:3]) + (best[0] if best else 0.0)


def downwards(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best, second, *_ = sorted(ps, key=lambda p: abs(p), reverse=True)
    return best * best * 0.5 + second


def records(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    peaks = sorted((Peak(p, x) for p, x in zip(ps[:6], xs, strict=False)), key=lambda peak: peak.position)
    return sum((b.position - a.position) * a.height for a, b in zip(peaks, peaks[1:], strict=False))


def highest(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    peak = max((Peak(p, p * x) for p, x in zip(ps, xs, strict=True)), key=lambda one: one.height)
    return peak.position * peak.height


def place_of_largest(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    k = xs.index(max(xs))
    products = [p * x for p, x in zip(ps, xs, strict=True)]
    return ps[k] + 2.0 * ps[products.index(min(products))]


STAGES = ["seed", "leaf", "grain", "ripe"]


def next_stage(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    stage, total = "seed", ps[0]
    for p, x in zip(ps, xs, strict=True):
        if x > 0.7 and stage != "ripe":
            stage = STAGES[STAGES.index(stage) + 1]
        total += p * {"seed": 0.5, "leaf": 1.0, "grain": 2.0, "ripe": 0.1}[stage]
    return total


def clipped_table(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    knots, total = [-1.0, -0.2, 0.3, 1.1], ps[0]
    for p in ps:
        k = min(max(bisect.bisect_right(knots, p), 1), 3)
        low = bisect.bisect_left(knots, p, 1, 3)
        total += xs[k] * (p - knots[k - 1]) + 0.1 * xs[low]
    return total


def table_of_parameters(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A spline whose knots are fitted, and a search among what is in no order."""
    knots = [-1.0]
    for p in ps[:5]:
        knots.append(knots[-1] + rm.exp(p))
    total = ps[0]
    for x in xs:
        if x > -0.5:
            k = min(bisect.bisect_right(knots, x), len(knots) - 1)
            total += (x - knots[k - 1]) / (knots[k] - knots[k - 1]) * ps[k]
        total += ps[bisect.bisect_left(ps, x * ps[1], 1, 4)] * x
    return total


CALIBRATION = np.array([-1.2, -0.4, 0.1, 0.9])


def tables_in_arrays(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Of constants, and of numbers of the call."""
    given, total = np.sort(np.array(xs[:5])), ps[0]
    for p, x in zip(ps, xs, strict=True):
        k = min(max(bisect.bisect_right(CALIBRATION, p * x), 1), 3)
        total += (p - CALIBRATION[k - 1]) * ps[k]
        low = bisect.bisect_left(given, p)
        total += given[min(low, 4)] * p if x > 0.0 else given[0] * ps[bisect.bisect(given, x) - 1]
    return total


def helper_that_picks(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def pick(x: Any) -> int:
        if x < -0.3:
            return 2
        return 1 if x > 0.3 else 0

    def name(x: Any) -> str:
        return "up" if x > 0.0 else "down"

    prices = {"up": ps[3], "down": ps[4] * 0.5}
    return sum(ps[pick(p * x)] * x + prices[name(x)] for p, x in zip(ps, xs, strict=True))


def gears(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A counter that goes up and down within bounds, which tests keep."""
    gear, total = 0, ps[0]
    for p, x in zip(ps * 3, xs * 3, strict=True):
        if p > 0.4 and gear < len(xs) - 1:
            gear += 1
        elif p < -0.6 and gear > 0:
            gear -= 1
        total += ps[gear] * x
    return total


def the_best_few(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best = heapq.nlargest(3, [p * x for p, x in zip(ps, xs, strict=True)])
    worst = heapq.nsmallest(2, ps, key=lambda p: p * p)
    return best[0] + 2.0 * best[2] - worst[1] * best[1]


SEARCHES: list[Function] = [
    *(
        middle,
        medians,
        rows,
        two_keys,
        truths_in_keys,
        largest_row,
        the_largest_few,
        downwards,
        records,
        highest,
        place_of_largest,
    ),
    *(the_best_few, next_stage, clipped_table, table_of_parameters, tables_in_arrays, helper_that_picks, gears),
]


@pytest.mark.parametrize("f", SEARCHES, ids=lambda f: f.__name__)
def test_one_program_answers(f: Function) -> None:
    assert is_answered(f, calls=40, traces=9)


@pytest.mark.parametrize("reverse", [False, True])
def test_what_is_equal_stays_in_order(reverse: bool) -> None:
    """The gradient of a tie goes to the one that Python's sort has there."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        ordered = sorted(ps, reverse=reverse)
        by_key = sorted(ps, key=lambda p: rg.math.floor(p), reverse=reverse)
        return sum(i * p for i, p in enumerate(ordered)) + sum(i * i * p for i, p in enumerate(by_key))

    compiled = rg.compile(f)
    for seed in range(40):
        ps = [float(random.Random(seed).randrange(3)) * 0.5 + 0.25 * (i % 2) for i in range(7)]
        random.Random(seed).shuffle(ps)
        assert compiled.value_and_grad(ps, []) == rg.value_and_grad(f)(ps, [])
    assert is_converted(compiled)


@pytest.mark.parametrize("reverse", [False, True])
def test_many_are_sorted_two_at_a_time_that_are_apart(reverse: bool) -> None:
    """Equal ones stay in order, of which the exchanges alone know nothing."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        ordered = sorted(ps, reverse=reverse)
        rows = sorted(((p * 2.0, x) for p, x in zip(ps, xs, strict=True)), key=lambda row: row[0], reverse=reverse)
        pairs = sorted(((rg.math.floor(p), -x * p) for p, x in zip(ps, xs, strict=True)), reverse=reverse)
        total = sum(i * p for i, p in enumerate(ordered)) + sum(i * a * b for i, (a, b) in enumerate(rows))
        return total + sum(b / (1.0 + i) for i, (_, b) in enumerate(pairs))

    compiled = rg.compile(f, tier="vm")
    for seed in range(8):
        rng = random.Random(seed)
        ps = [rng.randrange(12) * 0.25 + 0.1 for _ in range(37)]
        xs = [rng.randrange(4) * 0.5 for _ in ps]
        value, gradient = compiled.value_and_grad(ps, xs)
        wanted, gradients = rg.value_and_grad(f)(ps, xs)
        assert [value, *gradient] == pytest.approx([wanted, *gradients], rel=1e-12)
    assert is_converted(compiled, traces=5)


def test_the_median_of_a_hundred_numbers_is_one_program() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        residuals = [x - ps[0] - ps[1] * 0.1 * i for i, x in enumerate(xs)]
        scale = sorted(abs(r) for r in residuals)[len(residuals) // 2]
        return sum((r / scale) ** 2 for r in residuals)

    compiled = rg.compile(f)
    for seed in range(8):
        rng = random.Random(seed)
        ps, xs = [rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5)], [rng.gauss(0.0, 1.0) for _ in range(100)]
        value, gradient = compiled.value_and_grad(ps, xs)
        wanted, gradients = rg.value_and_grad(f)(ps, xs)
        assert [value, *gradient] == pytest.approx([wanted, *gradients], rel=1e-9)
    assert is_converted(compiled, traces=5)


def test_a_nan_is_sorted_as_python_does() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        a, b, c = sorted(ps)[:3]
        return a + 2.0 * b + 3.0 * c

    compiled = rg.compile(f)
    for seed in range(30):
        ps = draw(seed)[0][:4]
        if seed % 7 == 6:
            ps[seed % 4] = math.nan
        found, wanted = compiled.value_and_grad(ps, []), rg.value_and_grad(f)(ps, [])
        assert found[0] == pytest.approx(wanted[0], nan_ok=True)
        assert found[1] == pytest.approx(wanted[1], nan_ok=True)


def test_what_is_not_in_a_list_is_missed() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        return ps[xs.index(0.5)] * 2.0

    compiled = rg.compile(f)
    draws = random.Random(0)
    for _ in range(40):
        xs = [draws.choice([0.1, 0.3, 0.5]) for _ in range(3)]
        if 0.5 in xs:
            assert compiled.value_and_grad([1.0, 2.0, 3.0], xs) == rg.value_and_grad(f)([1.0, 2.0, 3.0], xs)
        else:
            with pytest.raises(ValueError, match="not in list"):
                compiled.value_and_grad([1.0, 2.0, 3.0], xs)


def test_a_key_is_asked_once_of_each() -> None:
    asked: list[int] = []

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        count = 0

        def key(p: Any) -> Any:
            nonlocal count
            count += 1
            return p

        best = sorted(ps, key=key)[-1] + max(ps, key=key)
        asked.append(count)
        return best

    flips(f, calls=10)
    assert set(asked) == {24}


@pytest.mark.parametrize("bounds", [(0, -1), (1, 2), (2, 2), (0, 6), (3, 1)])
def test_bounds_of_bisect_are_pythons(bounds: tuple[int, int]) -> None:
    knots = [-0.5, 0.0, 0.2, 0.6]

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total = ps[0]
        for p in ps[:4]:
            total += xs[bisect.bisect_left(knots, p, *bounds)] * p
        return total

    compiled = rg.compile(f)
    for seed in range(30):
        ps, xs = draw(seed)
        try:
            wanted = rg.value_and_grad(f)(ps, xs)
        except IndexError:
            with pytest.raises(IndexError):
                compiled.value_and_grad(ps, xs)
        else:
            value, gradient = compiled.value_and_grad(ps, xs)
            assert (value, gradient) == (pytest.approx(wanted[0]), pytest.approx(wanted[1]))


@pytest.mark.parametrize("search", [bisect.bisect_left, bisect.bisect_right])
def test_a_nan_in_a_table_is_where_bisection_meets_it(search: Any) -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        return sum(ps[search(ps, x, 0, len(ps) - 1)] * x for x in xs)

    compiled = rg.compile(f)
    for seed in range(40):
        ps, xs = [*sorted(draw(seed)[0][:5]), 0.1], draw(seed)[1][:4]
        (ps if seed % 2 else xs)[seed % 4] = math.nan if seed > 10 else 0.25
        found, wanted = compiled.value_and_grad(ps, xs), rg.value_and_grad(f)(ps, xs)
        assert found[0] == pytest.approx(wanted[0], nan_ok=True)
        assert found[1] == pytest.approx(wanted[1], nan_ok=True)
