"""Loops of which several iterations read a number of few, as one of a group: they add to the same adjoint."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.lane_cases import check, in_lanes, numbers
from support.parts import ALL

import retrograd.math as rm

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

COUNTS = [9, 16, 21, 60]  # iterations: some lanes may have none in the last round


def drawn(count: int, groups: int, seed: int = 0) -> list[int]:
    source = random.Random(seed)
    return [source.randrange(groups) for _ in range(count)]


@pytest.mark.parametrize("count", COUNTS)
def test_observations_of_groups(count: int) -> None:
    """The numbers of groups are variables, and computed from them."""
    groups, seen = drawn(count, 4), numbers(count, 3)

    def f(p: list[Any], effects: list[Any]) -> Any:
        rates = [rm.exp(0.3 * effect) for effect in effects]
        total = 0.0
        for group, y in zip(groups, seen, strict=True):
            mean = p[0] + effects[group] * y + rates[group]
            spread = rm.exp(p[1] * effects[group])
            error = (y - mean) / spread
            total = total + error * error + rm.log(1.0 + spread * rates[group]) + rm.tanh(mean) * rm.sin(error)
        return total

    compiled = check(f, *((numbers(2, seed), numbers(4, seed + 20)) for seed in range(3)))
    if count >= 60:
        assert in_lanes(compiled)


@pytest.mark.parametrize("count", COUNTS)
def test_groups_in_a_loop_over_time(count: int) -> None:
    """Lanes hold subjects, each of which reads the number of another group in each step."""
    groups = [drawn(7, 3, subject) for subject in range(count)]

    def f(p: list[Any], effects: list[Any], starts: list[Any]) -> Any:
        total = 0.0
        for start, steps in zip(starts, groups, strict=True):
            x = start * p[0]
            for group in steps:
                x = 0.8 * x + 0.1 * rm.tanh(effects[group] * x + p[1])
            total = total + x * x
        return total

    check(f, *((numbers(2, seed), numbers(3, seed + 20), numbers(count, seed + 40)) for seed in range(3)))


def test_a_sum_that_is_read_again_stays_in_order() -> None:
    """Elo ratings: a game reads what the games before have left of its players."""
    games = [tuple(random.Random(seed).sample(range(5), 2)) for seed in range(48)]

    def f(p: list[Any], ratings: list[Any]) -> Any:
        now, total = [1.0 * rating for rating in ratings], 0.0
        for one, other in games:
            expected = 1.0 / (1.0 + rm.exp(now[other] - now[one]))
            total = total - rm.log(expected)
            now[one] = now[one] + p[0] * (1.0 - expected)
            now[other] = now[other] - p[0] * (1.0 - expected)
        return total

    check(f, *((numbers(1, seed), numbers(5, seed + 20)) for seed in range(3)))


@pytest.mark.parametrize("seed", range(60 if ALL else 12))
def test_random_groups(seed: int) -> None:
    check(*random_groups(seed), bound=1e-10)


def random_groups(seed: int) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """A loop over observations that read numbers of some groups, some of them variables and some computed."""
    source = random.Random(seed)
    count, sizes = source.randrange(8, 70), [source.randrange(1, 9) for _ in range(3)]
    groups = [drawn(count, size, seed + k) for k, size in enumerate(sizes)]
    seen = numbers(count, seed)
    inner = source.choice([0, 0, 3, 6])
    uses = [(source.randrange(3), source.choice(["plain", "computed"])) for _ in range(source.randrange(1, 5))]
    functions = [source.choice([rm.exp, rm.tanh, rm.sin, lambda x: x * x]) for _ in uses]

    def f(p: list[Any], *tables: list[Any]) -> Any:
        computed = [[rm.tanh(p[0] * x) for x in table] for table in tables]
        total = 0.0
        for i, y in enumerate(seen):
            x = p[1] * y
            for (which, kind), function in zip(uses, functions, strict=True):
                table = tables[which] if kind == "plain" else computed[which]
                x = x + 0.3 * function(table[groups[which][i]] * 0.5) * y
            for k in range(inner):
                x = 0.5 * x + 0.2 * rm.tanh(x * tables[0][groups[0][(i + k) % count]])
            total = total + x * x * p[2]
        return total

    def arguments(at: int) -> tuple[Any, ...]:
        return numbers(3, at), *(numbers(size, at + k) for k, size in enumerate(sizes))

    return f, arguments(seed), arguments(seed + 1)
