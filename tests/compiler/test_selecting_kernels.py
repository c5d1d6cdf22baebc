"""The vector forms of what selects: comparisons, ``where``, ``minimum``, ``maximum``, of numbers that may be equal."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support.compiled_cases import KINDS, assert_near, backward, batch, eagerly, mean_of_eager, native
from support.parts import ALL, require

import retrograd as rg
from retrograd import Value, engine

pytestmark = native

GRID = (-1.0, -0.5, 0.0, 0.5, 1.0)
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
SELECTIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda a, b, n=name: engine.apply("where", engine.apply(n, a, b), a * b, b + b * a)
        for name in COMPARISONS
    },
    "minimum": lambda a, b: engine.apply("minimum", a, b * 2.0) * (a + b),
    "maximum": lambda a, b: engine.apply("maximum", a, b * 2.0) * (a + b),
    "where of a number": lambda a, b: engine.apply("where", a, b, b * b),
    "where of numbers": lambda a, b: engine.apply("where", engine.apply("less", a, b), 2.0, b) * a,
}
#: In which order the second operands are read: side by side, from afar, one for all, each twice.
ORDERS: dict[str, Callable[[int, int], int]] = {
    "in order": lambda i, n: i,
    "scattered": lambda i, n: (i * 7 + i * i) % n,
    "one": lambda i, n: 0,
    "twice": lambda i, n: i // 2,
}
KINDS_OF_CODE = {**KINDS, "llvm": {"tier": "llvm"}}


def selecting(name: str, order: str, count: int) -> tuple[Callable[..., Any], list[Value]]:
    a, b = [Value(0.0) for _ in range(count)], [Value(0.0) for _ in range(count)]
    call, place = SELECTIONS[name], ORDERS[order]

    def loss(scale: float = 1.0) -> Any:
        left, right = [x * scale for x in a], [x * 0.5 for x in b]
        return sum(call(x, right[place(i, count)]) * (1.0 + i % 3) for i, x in enumerate(left))

    return loss, [*a, *b]


@pytest.mark.parametrize("count", [1, 3, 8, 29, 1100] if ALL else [3, 29])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", SELECTIONS)
def test_of_numbers_side_by_side_and_scattered(name: str, order: str, count: int) -> None:
    require("llvmlite")
    loss, leaves = selecting(name, order, count)
    compiled = {kind: rg.compile(loss, **options) for kind, options in KINDS_OF_CODE.items()}
    draw = random.Random(count)
    for _ in range(3):
        for leaf in leaves:
            leaf.data = draw.choice(GRID)
        expected = eagerly(loss, leaves, ())
        for kind, function in compiled.items():
            bound = 1e-12 if kind in ("vm", "llvm") else 0.0
            assert_near(backward(function, leaves, ()), expected, bound, kind)
    for kind, function in compiled.items():
        assert (function.stats().traces, function.stats().eager) == (1, 0), kind


@pytest.mark.parametrize("name", SELECTIONS)
def test_of_batches(name: str) -> None:
    loss, leaves = selecting(name, "scattered", 13)
    compiled = rg.compile(loss, tier="vm")
    draw = random.Random(2)
    for leaf in leaves:
        leaf.data = draw.choice(GRID)
    members = [(draw.choice(GRID),) for _ in range(7)]
    for size in (7, 2, 5):
        some = members[:size]
        assert_near(batch(compiled, leaves, some), mean_of_eager(loss, leaves, some), 1e-12, size)
    assert compiled.stats().eager == 0


@pytest.mark.parametrize("kind", ["vm", "llvm"])
def test_of_numbers_anywhere(kind: str) -> None:
    """The condition and both sides are found through lists; many are owed to the same number."""
    require("llvmlite")
    leaves = [Value(0.0) for _ in range(40)]
    draw = random.Random(5)
    places = [[draw.randrange(40) for _ in range(3)] for _ in range(60)]

    def loss() -> Any:
        numbers = [x * 2.0 for x in leaves]
        return sum(engine.apply("where", numbers[i], numbers[j], numbers[k]) * numbers[k] for i, j, k in places)

    compiled = rg.compile(loss, **KINDS_OF_CODE[kind])
    for _ in range(3):
        for leaf in leaves:
            leaf.data = draw.choice(GRID)
        assert_near(backward(compiled, leaves, ()), eagerly(loss, leaves, ()), 1e-12, kind)
    assert compiled.stats().eager == 0


@pytest.mark.parametrize("width", [2, 3, 8, 9, 16, 19])
@pytest.mark.parametrize("rows", [2, 6])
@pytest.mark.parametrize("used", ["once", "often", "elsewhere"])
def test_extremes_of_equal_numbers(rows: int, width: int, used: str) -> None:
    """Python's ``max`` owes the first of them all, and ``rg.math.max`` each of them its share."""
    leaves = [Value(0.0) for _ in range(rows * width)]

    def loss() -> Any:
        numbers = [x * 2.0 for x in leaves]
        matrix = [numbers[width * i : width * i + width] for i in range(rows)]
        if used == "once":
            return sum((max(row) if k % 2 else rg.math.max(row)) * (k + 1.0) for k, row in enumerate(matrix))
        total = sum((max(row) + 2.0 * rg.math.max(row) - min(row)) * (k + 1.0) for k, row in enumerate(matrix))
        return total + sum(x * x for x in numbers) if used == "elsewhere" else total

    draw = random.Random(width)
    for kind in ("vm", "llvm"):
        require("llvmlite")
        compiled = rg.compile(loss, **KINDS_OF_CODE[kind])
        for _ in range(4):
            for leaf in leaves:
                leaf.data = draw.choice(GRID[:3])
            assert_near(backward(compiled, leaves, ()), eagerly(loss, leaves, ()), 1e-12, kind)
        assert compiled.stats().eager == 0


def test_a_side_that_is_not_chosen_is_owed_nothing() -> None:
    """Not even a NaN, where the derivative of what was chosen is infinite."""
    require("llvmlite")
    leaves = [Value(0.0) for _ in range(16)]
    numbers: dict[str, Callable[[Any], Any]] = {
        "where": lambda x: engine.apply("where", engine.apply("greater", x, 0.0), x * 1.0, 0.0),
        "its other side": lambda x: engine.apply("where", engine.apply("less", x, 0.0), 0.0, x * 1.0),
        "maximum": lambda x: engine.apply("maximum", x * 1.0, 0.0),
        "minimum": lambda x: -engine.apply("minimum", x * -1.0, 0.0),
    }
    for name, number in numbers.items():

        def loss(number: Callable[[Any], Any] = number) -> Any:
            return sum(rg.math.sqrt(number(leaves[(3 * i) % 16])) for i in range(16))

        for kind, options in KINDS_OF_CODE.items():
            compiled = rg.compile(loss, **options)
            for sign in (1.0, -1.0):  # the square root of zero last
                for k, leaf in enumerate(leaves):
                    leaf.data = sign * (1.0 + k % 3)
                expected = eagerly(loss, leaves, ())
                assert_near(backward(compiled, leaves, ()), expected, 1e-12, (name, kind))


@pytest.mark.long
@pytest.mark.parametrize("kernels", ["portable", "avx2"])
def test_the_kernels_of_each_instruction_set(kernels: str) -> None:
    """The processor's best, which all other tests use, where it has not got this one."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "not instruction_set"]
    environment = {**os.environ, "RETROGRAD_KERNELS": kernels}
    done = subprocess.run([*command, __file__], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
