"""What a program computes again: once where that is faster, and as the engine does."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.loop_cases import cache_of, check, numbers
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops import install, pipeline


def sizes(f: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    """How many nodes a graph has, and how many without what it computes twice."""
    compiled = rg.compile(f)
    compiled.value_and_grad(*arguments)
    cache = cache_of(compiled)
    number = cache.facts()[0]["number"]
    return tuple(len(cache.scalar_graph(number, once)["rows"]) // 2 for once in (False, True))  # type: ignore[return-value]


def test_sums_over_what_came_before_are_computed_once() -> None:
    def bootstrap(rates: list[float]) -> Any:
        discounts: list[Any] = []
        for rate in rates:
            discounts.append((1.0 - rate * sum(discounts)) / (1.0 + rate))
        return sum(discounts)

    check(bootstrap, *((numbers(12, seed),) for seed in range(3)))
    assert sizes(bootstrap, numbers(12)) == (4 * 12 + sum(range(12)) + 12, 4 * 12 + 12)


def test_a_function_of_the_same_numbers_is_computed_once_and_a_product_from_long_ago_again() -> None:
    def turned(angles: list[float], points: list[float]) -> Any:
        total = 0.0 * points[0]
        for point in points:
            for angle in angles:
                total = total + rm.sin(angle * 2.0) * point
        return total

    angles, points = numbers(100), numbers(5, 1)
    check(turned, *((numbers(100, seed), numbers(5, seed + 1)) for seed in range(3)))
    plain, once = sizes(turned, angles, points)
    assert plain - once == 2 * 400  # 400 sines, and the products in them

    def scaled(factors: list[float], points: list[float]) -> Any:
        return sum(factor * factors[-1] * point for point in points for factor in factors)

    assert len(set(sizes(scaled, numbers(200), points))) == 1
    near, once = sizes(scaled, numbers(5), points)
    assert near - once == 4 * 5
    check(scaled, *((numbers(5, seed), numbers(5, seed + 1)) for seed in range(3)))


@pytest.mark.parametrize("seed", range(40 if ALL else 12))
@pytest.mark.parametrize("again", [False, True])
def test_random_repeats_of_long_ago(seed: int, again: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed twice, of leaves, and of what was there long before: once, or again."""
    monkeypatch.setattr(install, "_MANY_NODES", 0)
    for name in ("is_long", "is_better"):
        monkeypatch.setattr(pipeline, name, lambda *_: again)
    rng = random.Random(seed)
    steps, before = rng.randint(60, 200), rng.randint(2, 4)
    picks = [(rng.randrange(8), rng.randrange(8), rng.choice("asm"), rng.randrange(before)) for _ in range(steps)]

    def f(p: list[Any]) -> Any:
        made = [rm.exp(0.3 * x) for x in p[:before]]
        total, state = p[0] * 1.0, p[1] * 1.0
        for i, j, kind, k in picks:
            pool = [*made, *p]
            x, y = pool[i % len(pool)], pool[j % len(pool)]
            z = x + y if kind == "a" else x - y if kind == "s" else x * y
            z = z * (made[0] + made[-1]) + (z - made[k])
            state = 0.7 * state + rm.sin(z * 0.1) + 0.01 * state * z
            total = total + state * z
            if k == 0 and i == 0:
                made[0] = 0.5 * made[0] + 0.1 * state
        return total

    compiled = check(f, *((numbers(5, seed + call),) for call in range(3)))
    cache = cache_of(compiled)
    number = cache.facts()[0]["number"]
    every, once = (len(cache.scalar_graph(number, is_once)["rows"]) for is_once in (False, True))
    assert once <= every
