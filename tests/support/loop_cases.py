"""Compiles the scalar graph of a function, as loops or straight lines, and compares it with the engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd.engine import ENGINE

if ENGINE == "native":
    from retrograd.compiler.backends.loops.graphs.reading import read_graph
    from retrograd.compiler.backends.loops.install import compile_graph
    from retrograd.compiler.backends.loops.shapes.periods import find_sections

__all__ = ["cache_of", "check", "flat", "numbers", "oscillator"]


def cache_of(f: Any) -> Any:
    return f._cache


def check(f: Callable[..., Any], *calls: tuple[Any, ...], loops: int | None = None, bound: float = 1e-11) -> Any:
    """Compile the graph of the first call, and compare all calls with the function."""
    compiled = rg.compile(f)
    compiled.value_and_grad(*calls[0])
    cache = cache_of(compiled)
    number = cache.facts()[0]["number"]
    if loops is not None:
        sections = find_sections(read_graph(cache.scalar_graph(number, False)), None)
        assert sum(section.count > 1 for section in sections) == loops, sections
    compile_graph(cache, number)
    for arguments in calls:
        value, gradients = compiled.value_and_grad(*arguments)
        wanted, exact = rg.value_and_grad(f)(*arguments)
        assert value == pytest.approx(wanted, rel=bound, abs=bound)
        assert flat(gradients) == pytest.approx(flat(exact), rel=bound, abs=bound)
    stats = compiled.stats()
    assert stats.traces == 1
    assert stats.programs[0].tier == "llvm"
    return compiled


def flat(tree: Any) -> list[float]:
    return [x for each in tree for x in flat(each)] if isinstance(tree, list | tuple) else [float(tree)]


def numbers(count: int, seed: int = 0, low: float = 0.2, high: float = 1.5) -> list[float]:
    rng = random.Random(seed)
    return [rng.uniform(low, high) for _ in range(count)]


def oscillator(p: list[float], steps: int = 60) -> Any:
    x, v = p[0], p[1]
    for _ in range(steps):
        a = -p[2] * x - 0.1 * v
        v = v + 0.01 * a
        x = x + 0.01 * v
    return x * x + v
