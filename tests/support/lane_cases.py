"""Compiles the scalar graph of a function, whose loops may run in lanes, and compares it with the engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd.engine import ENGINE

if ENGINE == "native":
    from retrograd.compiler.backends.loops.install import compile_graph, compile_group
    from retrograd.compiler.backends.loops.llvm.lanes import find_lanes, sums_in_memory
    from retrograd.compiler.backends.loops.passes.code import Loop, steps_in
    from retrograd.compiler.backends.loops.pipeline import write_passes
    from retrograd.compiler.backends.loops.shapes.sections import find_fastest_graph, forms_of

__all__ = ["check", "flat", "graph_of", "in_lanes", "more_than_registers", "numbers"]


def numbers(count: int, seed: int = 0, low: float = 0.2, high: float = 1.5) -> list[float]:
    rng = random.Random(seed)
    return [rng.uniform(low, high) for _ in range(count)]


def graph_of(compiled: Any) -> Any:
    cache = compiled._cache
    return find_fastest_graph(forms_of(cache.scalar_graph(cache.facts()[0]["number"], True)))


def in_lanes(compiled: Any) -> list[int]:
    """How many iterations the loops have that run in lanes."""
    lanes, functions = compiled._cache.vector_functions()
    passes = write_passes(graph_of(compiled), fast=True)
    blocks = list(passes.blocks.values())
    return [int(body.counts[0]) for body in find_lanes(passes.layout.top, blocks, passes.places, lanes, functions)]


def more_than_registers(compiled: Any) -> int:
    """How many sums its loops hand on in memory."""
    passes = write_passes(graph_of(compiled), fast=True)
    loops = [step for block in passes.blocks.values() for step in steps_in(block) if isinstance(step, Loop)]
    found = [sums_in_memory(loop, passes.places) for loop in loops]
    return sum(len(sums.handed_on) for sums in found if sums is not None)


def check(f: Callable[..., Any], *calls: tuple[Any, ...], bound: float = 1e-11) -> Any:
    """Compile the graph of the first call, and compare all calls, alone and in groups, with the function."""
    compiled = rg.compile(f)
    compiled.value_and_grad(*calls[0])
    cache = compiled._cache
    compile_graph(cache, cache.facts()[0]["number"])
    compile_group(cache, cache.facts()[0]["number"])
    exact = [rg.value_and_grad(f)(*arguments) for arguments in calls]
    for arguments, (wanted, gradients) in zip(calls, exact, strict=True):
        for _ in range(2):
            value, found = compiled.value_and_grad(*arguments)
            assert value == pytest.approx(wanted, rel=bound, abs=bound)
            assert flat(found) == pytest.approx(flat(gradients), rel=bound, abs=bound)
    assert compiled.stats().traces == 1
    assert compiled.stats().programs[0].tier == "llvm"
    return compiled


def flat(tree: Any) -> list[float]:
    return [x for each in tree for x in flat(each)] if isinstance(tree, list | tuple) else [float(tree)]
