"""Taped code of a function, compared with the function."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd._native import TapedCode
from retrograd.compiler.backends.llvm.jit import object_of
from retrograd.compiler.taped.answers import TapedResult
from retrograd.compiler.taped.code import loaded
from retrograd.compiler.taped.constants import leaf_numbers
from retrograd.compiler.taped.entry import positional, written
from retrograd.engine.pytree import flatten


def in_leaves(arguments: tuple[Any, ...]) -> tuple[list[Any], list[float]]:
    """The arguments with leaves in the place of the first one's numbers, and those numbers."""
    leaves, structure = flatten(arguments[0])
    return [structure.fill(leaf_numbers(len(leaves))), *arguments[1:]], [float(one) for one in leaves]


def code_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> TapedCode:
    program = written(*positional(function, in_leaves(arguments)[0]))
    return loaded(program, object_of(program.text, passes=True, level=2))


def run(code: TapedCode, function: Callable[..., Any], arguments: tuple[Any, ...]) -> TapedResult | None:
    """What code gives for the first argument's numbers as leaves; and where it reads them itself, the same."""
    given, numbers = in_leaves(arguments)
    found = code.run(tuple(positional(function, given)[1]), numbers, False)
    itself = code.value_and_grad(*arguments)
    if itself:
        assert found
        assert found[:2] == (itself[0], flatten(itself[1])[0])
    return TapedResult(*found) if found else None


def assert_same(function: Callable[..., Any], calls: list[tuple[Any, ...]], answers: int | None = None) -> None:
    """Compare the code of a function with the function; in so many calls it must have an answer: by default in all."""
    code, answered = code_of(function, calls[0]), 0
    for arguments in calls:
        try:
            value, gradient = rg.value_and_grad(function)(*arguments)
        except Exception:  # which the function raises, and the code leaves to it
            assert run(code, function, arguments) is None
            continue
        result = run(code, function, arguments)
        if result is None:
            continue
        answered += 1
        assert result.number == float(getattr(value, "data", value))
        assert result.gradients == pytest.approx(flatten(gradient)[0], rel=1e-12, abs=1e-14)
    assert answered == (len(calls) if answers is None else answers)


def drawn(make: Callable[[random.Random], tuple[Any, ...]], count: int = 12) -> list[tuple[Any, ...]]:
    return [make(random.Random(seed)) for seed in range(count)]


def numbers(count: int, low: float = -2.0, high: float = 2.0) -> Callable[[random.Random], tuple[Any, ...]]:
    return lambda source: ([source.uniform(low, high) for _ in range(count)],)
