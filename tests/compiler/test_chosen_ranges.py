"""Ranges whose ends are ints among the arguments: taped code answers, since each call has loops of other lengths."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.counted_programs import check as check_programs
from support.counted_programs import check_taped

import retrograd as rg
from retrograd import math as m

pytestmark = pytest.mark.native

PARAMETERS = [0.3, 0.9, -0.2, 0.5, 0.7, 1.1]
Row = tuple[int, int, float]


def check(function: Callable[..., Any], rows: int = 5) -> Any:
    """Sixty calls, each with other ints."""
    draw = random.Random(7)

    def row() -> Row:
        return draw.randrange(len(PARAMETERS)), draw.randrange(len(PARAMETERS)), draw.uniform(-1, 1)

    return check_taped(function, PARAMETERS, [[row() for _ in range(rows)] for _ in range(60)])


def test_a_loop_over_as_many_numbers() -> None:
    def worth(p: Any, rows: list[Row]) -> Any:
        total = 0.0
        for term, _, face in rows:
            for year in range(term):
                total += face * m.exp(-p[0] * year)
        return total * p[1]

    check(worth)


def test_numbers_from_one_on_and_down_to_one() -> None:
    def both_ways(p: Any, rows: list[Row]) -> Any:
        total = p[0]
        for n, k, x in rows:
            for i in range(n, len(p)):
                total = total * 0.9 + x * p[i]
            for i in range(k, -1, -1):
                total = total + p[i] * p[0]
        return total

    check(both_ways)


def test_numbers_between_two() -> None:
    def between(p: Any, rows: list[Row]) -> Any:
        total = p[0]
        for n, k, x in rows:
            for i in range(min(n, k), max(n, 2)):
                total = total * 0.9 + x * p[i]
        return total

    check(between)


def test_sums_and_lists_over_a_range() -> None:
    def sums(p: Any, rows: list[Row]) -> Any:
        total = p[0]
        for n, k, x in rows:
            total += sum(p[i] * x for i in range(n))
            total += sum([p[i] for i in range(min(k, 3))])
        return total

    check(sums)


def test_every_second_number() -> None:
    def second(p: Any, rows: list[Row]) -> Any:
        total = p[0]
        for n, _, x in rows:
            for i in range(1, n, 2):
                total = total * 0.5 + p[i] * x
        return total

    check(second)


def test_a_range_in_an_arm() -> None:
    def in_arm(p: Any, rows: list[Row]) -> Any:
        total = p[0]
        for n, k, x in rows:
            if x > 0.0:
                for i in range(n):
                    total = total + p[i] * x
            elif n > k:
                total = total * 0.5
        return total

    check(in_arm)


def test_more_numbers_than_before() -> None:
    def power(p: Any, rows: list[int]) -> Any:
        total = 1.0 * p
        for n in rows:
            for _ in range(n):
                total = total * p
        return total

    compiled, draw = rg.compile(power), random.Random(2)
    for most in (3, 3, 3, 3, 9, 9, 9, 9):
        for _ in range(12):
            rows = [draw.randrange(most) for _ in range(3)]
            ours, theirs = rg.Value(0.9), rg.Value(0.9)
            value, wanted = compiled.backward(ours, rows), power(theirs, rows)
            wanted.backward()
            assert value == pytest.approx(wanted.data, rel=1e-12)
            assert ours.grad == pytest.approx(theirs.grad, rel=1e-12)


def test_places_beyond_the_end_raise_as_they_do() -> None:
    def beyond(p: Any, rows: list[Row]) -> Any:
        total = p[0]
        for n, _, x in rows:
            for i in range(n):
                total = total + p[i] * x
        return total

    compiled = check(beyond)
    for g in (beyond, compiled):
        with pytest.raises(IndexError):
            g(list(map(rg.Value, PARAMETERS)), [(2, 1, 0.5), (9, 1, 0.5), (1, 1, 0.5), (0, 1, 0.5), (0, 0, 0.5)])


def test_what_only_one_arm_can_look_up_is_a_guard() -> None:
    """The arm that is not taken would raise for the data at hand: it must not be taken."""
    tables = [{"low": 1.0}, {"low": 1.0, "high": 2.0}]

    def looked_up(p: Any, rows: list[Row]) -> Any:
        total = p[0]
        for n, _, x in rows:
            table = tables[1] if n >= 0 else tables[0]
            total = total + (p[1] * tables[0]["low"] if x > -2.0 else tables[0]["high"]) * table["low"]
            total = total + x * p[2] if x > 0.1 else total - p[3]
        return total

    draw = random.Random(7)
    calls = [[(draw.randrange(6), draw.randrange(6), draw.uniform(-1, 1)) for _ in range(5)] for _ in range(60)]
    check_programs(looked_up, PARAMETERS, calls, 7)
