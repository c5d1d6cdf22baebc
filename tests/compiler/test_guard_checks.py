"""Programs check fewer comparisons than the function makes: those from which all others follow."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.parts import ALL, require

import retrograd as rg
from retrograd import Value

pytestmark = pytest.mark.native

TESTS = ("<", "<=", ">", ">=", "==", "!=")
GRID = (0.0, 1.0, 2.0, 3.0)  # few numbers, of which many are equal


def made(source: str) -> Callable[[Sequence[Any]], Any]:
    """A function whose source cannot be found, so that each of its comparisons stays a guard."""
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    found: Callable[[Sequence[Any]], Any] = namespace["f"]
    return found


def comparing(draw: random.Random, numbers: int) -> str:
    """Compares each of three numbers with each other, and some with plain ones; the result tells how all came out."""
    pairs = [(f"x[{i}]", f"x[{j}]") for i, j in itertools.permutations(range(3), 2)]
    pairs += [(f"x[{draw.randrange(3)}]", str(draw.choice(GRID))) for _ in range(numbers)]
    draw.shuffle(pairs)
    lines = ["def f(x):", "    total = x[0] * 0.25"]
    for k, (one, other) in enumerate(pairs):
        lines += [f"    if {one} {draw.choice(TESTS)} {other}:", f"        total = total + {2.0**-k} * x[{k % 3}]"]
    return "\n".join([*lines, "    return total"])


def agrees(compiled: Any, f: Callable[[Sequence[Any]], Any], x: Sequence[float]) -> None:
    ours, theirs = [Value(number) for number in x], [Value(number) for number in x]
    value = compiled.backward(ours)
    expected = f(theirs)
    expected.backward()
    assert value == pytest.approx(expected.data, rel=1e-12)
    assert [one.grad for one in ours] == pytest.approx([one.grad for one in theirs], rel=1e-12)


@pytest.mark.parametrize("numbers", [0, 1, 4])
@pytest.mark.parametrize("seed", range(8))
def test_a_program_answers_the_calls_in_which_all_comparisons_are_as_they_were(seed: int, numbers: int) -> None:
    """Of all points of a grid, on which any numbers are equal somewhere."""
    require("llvmlite")
    draw = random.Random(seed)
    f = made(comparing(draw, numbers))
    points = list(itertools.product(GRID, repeat=3))
    draw.shuffle(points)
    compiled = rg.compile(f, tier="llvm")
    for x in [*points, *points]:
        for _ in range(3):  # or its program would be in vain, and calls run eagerly after a few
            agrees(compiled, f, x)
    assert compiled.stats().eager == 0


@pytest.mark.parametrize("tier", ["vm", "llvm"])
def test_what_a_sort_has_compared(tier: Any) -> None:
    """Of tuples, whose equality is asked for first; one number changes its place at a time."""
    if tier == "llvm":
        require("llvmlite")
    f = made(
        "def f(x):\n"
        "    ranked = sorted((one * one, k) for k, one in enumerate(x))\n"
        "    return sum((k + 1.0) * one * (which + 1.0) for k, (one, which) in enumerate(ranked))\n"
    )
    compiled = rg.compile(f, tier=tier)
    draw, length = random.Random(3), 120 if tier == "vm" or ALL else 48  # each order is compiled
    x = [draw.uniform(0.5, 2.0) for _ in range(length)]
    for _ in range(40):
        agrees(compiled, f, x)
        agrees(compiled, f, x)
        x[draw.randrange(length)] = draw.choice([*x, draw.uniform(0.5, 2.0)])
    assert compiled.stats().hits >= 40


def test_comparisons_with_a_plain_nan() -> None:
    """It is neither larger nor smaller: the guards themselves are asked, and hold."""
    f = made(
        "def f(x):\n"
        "    total = x[0] * 2.0\n"
        "    for number in (float('nan'), 1.0):\n"
        "        if x[0] < number or x[1] >= number:\n"
        "            total = total + x[1]\n"
        "    return total\n"
    )
    compiled = rg.compile(f, tier="vm")
    for x in ([0.5, 0.5], [0.7, 0.2], [1.5, 0.5], [1.5, 2.5], [0.5, 0.4]):
        for _ in range(2):
            agrees(compiled, f, x)
    assert compiled.stats().eager == 0


def test_a_number_that_is_a_nan_keeps_to_the_path_that_it_took() -> None:
    """``x != x`` of a NaN; nothing that depends on it is differentiated."""
    f = made(
        "def f(x):\n"
        "    total = x[0] * 3.0\n"
        "    for one in x[1:]:\n"
        "        total = total + (one if one == one and not one > 2.0 else 1.0)\n"
        "    return total\n"
    )
    compiled = rg.compile(f, tier="vm")
    for last in (0.5, float("nan"), 2.5, float("nan"), 0.25):
        for _ in range(2):
            agrees(compiled, f, [0.5, 0.75, last])
