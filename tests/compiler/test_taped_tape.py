"""What taped code puts on its tape: the shapes of nodes, names that stand for expressions, and kinds of numbers."""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import retrograd as rg
from retrograd import math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn, numbers, run

    from retrograd.compiler.taped.sources import read_once


# --- names that stand for expressions -------------------------------------------------------------------------


def read_where_paths_meet(xs: list[Any]) -> Any:
    total = 0.0
    for i in range(1, len(xs)):
        gap = xs[i] - xs[i - 1]  # read once, under a test
        if gap > 0.1:
            push = 1.5 * gap * xs[i]  # read once, and compared
            if push > 2.0:
                push_back = push - 2.0
                total += push_back * push_back
            else:
                total -= rm.exp(-abs(gap))
        both = total * 0.5 + xs[i]
        total = both if both < 3.0 else 3.0 + 0.1 * both
    return total


def read_in_loops(xs: list[Any]) -> Any:
    scale = xs[0] * xs[1] + 1.0  # read once, in a loop: it has a node
    shift = xs[2] * xs[2]
    total = 0.0
    for x in xs:
        step = scale * x
        total += step * step
    squares = [x * shift for x in xs]
    twice = xs[3] * 2.0

    def later(x: Any) -> Any:
        return x * twice

    return total + sum(squares) + later(xs[4])


def read_in_tuples(xs: list[Any]) -> Any:
    dx, dy = xs[0] - xs[1], xs[2] - xs[3]
    longest = max(abs(dx), abs(dy))
    near = (dx * dx + dy * dy) ** 0.5
    first = xs[4] * 3.0
    first = first + near  # assigned twice
    last = longest * xs[5]
    return first * last if last > first else last - first


def never_read_but_compared(xs: list[Any]) -> Any:
    count, total = 0, xs[0]
    for x in xs:
        far = x * x + 0.5 * x
        if far > 1.0:
            count += 1
        elif 0.2 < far * 2.0 < 0.6:
            total += x
    return total * (1 + count)


READ_ONCE = [read_where_paths_meet, read_in_loops, read_in_tuples, never_read_but_compared]


@pytest.mark.parametrize("function", READ_ONCE, ids=lambda f: f.__name__)
def test_names_that_are_read_once(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(8)))


def test_which_names_stand_for_expressions() -> None:
    source = """
def f(xs, n):
    a = xs[0] * n
    b = a + 1
    c = b * b
    if c > 2:
        d = c
    for x in xs:
        e = x * x
        d = e + n
    g = d
    h: float = g
    k = n
    k += 1
    only_compared = k * 2
    return [k for _ in xs] if only_compared > h else only_compared
"""
    found = read_once(ast.parse(source).body[0])  # type: ignore[arg-type]
    assert found == {"a", "c", "e", "g", "only_compared"}


# --- the shapes of nodes --------------------------------------------------------------------------------------


def sums(xs: list[Any]) -> Any:
    a = xs[0] + xs[0] - xs[1] - xs[1]
    b = a - a + 3.0 * a * 2.0 - (-xs[2])
    c = b + xs[3] + xs[3] * -1.0 + 2.0
    ys = [a, b, c, -a, a - 0.0, 0.5 * (b + c)]
    return sum(ys) * ys[3] + ys[0] / 4.0 - c


def long_sum(xs: list[Any]) -> Any:
    near = xs[0] + 2.0 * xs[1] - xs[2] + xs[3] * xs[4]
    far = near - xs[5] + xs[6] - 0.25 * xs[7] + xs[0] * xs[7] - xs[1] / 3.0 + xs[2] * xs[3] + xs[4]
    return far * far


@pytest.mark.parametrize("function", [sums, long_sum], ids=lambda f: f.__name__)
def test_sums_of_all_signs(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(8)))


def test_floats_among_values_take_no_gradients() -> None:
    """A list holds floats at first, and Values where one was stored: only these are nodes."""

    def f(xs: list[Any], turns: int) -> Any:
        cells = [0.5] * 6
        for turn in range(turns):
            cells[turn % 6] = cells[turn % 6] * 0.9 + xs[turn % 3] * cells[(turn + 1) % 6]
            cells[(2 * turn) % 6] = cells[(turn + 3) % 6] - 1.25
        return cells[0] * cells[1] + cells[2] - cells[5] + sum(cells)

    assert_same(f, [([0.3, -0.7, 1.1], turns) for turns in (1, 2, 5, 17, 300)])


# --- ints, floats and Values in one variable ------------------------------------------------------------------


def sign(xs: list[Any], ys: list[Any], use: bool) -> Any:
    """An int has no minus zero, where a float has."""
    total = 0 if use else 0.0
    for x, y in zip(xs, ys, strict=True):
        total = total * y + (x if y > 0 else 0)
    return xs[0] * math.copysign(1.0, 0.0 * ys[0]) + total


def start(xs: list[Any], ys: list[Any]) -> Any:
    """Where a sum begins, and its sign, is what the data say."""
    best = ys[0]
    for x in xs:
        if x * x > 1.0:
            best = x
    return xs[0] * rm.copysign(2.0, best * 1.0 - 0.0) + best


def test_the_sign_of_zero_of_an_int_and_of_a_float() -> None:
    calls: list[tuple[Any, ...]] = [([0.5, -0.5], ys, True) for ys in ([1, -1], [-1, 0], [0, 2], [3, 4])]
    code = code_of(sign, calls[0])
    for arguments in calls:
        result = run(code, sign, arguments)
        wanted = rg.value_and_grad(sign)(*arguments)
        if result is not None:
            assert (result.number, result.gradients) == wanted
    for ys in ([0.0, 1.0], [-0.0, 1.0], [2.0, 1.0]):
        assert_same(start, [([0.5, -0.25], ys)])
        assert_same(start, [([0.5, 1.5], ys)])


# --- random blocks --------------------------------------------------------------------------------------------

_TERMS = (
    *("{a} * {b}", "{a} + {b}", "{a} - {b}", "0.5 * {a}", "-{a}", "{a} / (2.0 + {b} * {b})", "m.sin({a})"),
    *("{a} - 1", "max({a}, {b})", "abs({a})", "({a} if {a} < {b} else 0.25 * {b})", "min({a}, 1)", "{a} * {b} + {b}"),
)


class _Writer:
    """Writes a function whose names are mostly read once, in blocks under tests and in loops."""

    def __init__(self, seed: int) -> None:
        self._rng, self._count = random.Random(seed), 0

    def source(self) -> str:
        names = ["xs[0]", "xs[1]", "xs[2]", "ys[0]", "ys[1]"]
        lines = [
            f"total = {self._rng.choice(['0', '0.0', 'xs[0]', 'ys[1]'])}",
            "cells = [0.0] * 4 + [xs[1]]",
            *self._block(names, 3, ""),
            "return total + sum(cells) * xs[2]",
        ]
        return "from retrograd import math as m\n\n\ndef f(xs, ys):\n" + "".join(f"    {line}\n" for line in lines)

    def _block(self, names: list[str], depth: int, pad: str) -> list[str]:
        names, lines = [*names, "total", "cells[1]", "cells[4]"], []
        for _ in range(self._rng.choice([2, 3, 4])):
            lines += self._statement(names, depth, pad)
        return lines

    def _statement(self, names: list[str], depth: int, pad: str) -> list[str]:
        rng = self._rng
        kind = rng.random()
        if depth and kind < 0.25:
            made = [f"{pad}if {self._term(names)} {rng.choice('<>')} {self._term(names)}:"]
            made += self._block(names, depth - 1, pad + "    ")
            return [*made, f"{pad}else:", *self._block(names, depth - 1, pad + "    ")] if rng.random() < 0.5 else made
        if depth and kind < 0.4:
            self._count += 1
            head = f"{pad}for k{self._count} in range({rng.choice([2, 3])}):"
            return [head, *self._block([*names, f"k{self._count}"], depth - 1, pad + "    ")]
        if kind < 0.6:
            return [f"{pad}total = 0.5 * total + m.tanh({self._term(names)})"]
        if kind < 0.75:
            return [f"{pad}cells[{rng.choice([0, 1, 4])}] = m.tanh({self._term(names)})"]
        self._count += 1
        made = [f"{pad}v{self._count} = {self._term(names)}"]
        names.append(f"v{self._count}")
        return made

    def _term(self, names: list[str]) -> str:
        text = self._rng.choice(_TERMS).format(a=self._rng.choice(names[-6:]), b=self._rng.choice(names))
        return f"({text})" if self._rng.random() < 0.7 else f"({text} - {self._rng.choice(names)})"


@pytest.mark.parametrize("seed", range(60))
def test_a_random_function_of_blocks(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"blocks_{seed}.py"
    path.write_text(_Writer(seed).source())
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)

    def call(source: random.Random) -> tuple[Any, ...]:
        return [source.uniform(-2.0, 2.0) for _ in range(3)], [source.choice([-0.0, 0.5, -1.5, 0.0]) for _ in range(2)]

    calls = drawn(call)
    code, answers = code_of(module.f, calls[0]), 0
    for arguments in calls:
        wanted = rg.value_and_grad(module.f)(*arguments)
        result = run(code, module.f, arguments)
        if result is None:  # zeros whose sign an int has not
            continue
        answers += 1
        assert result.number == wanted[0]
        assert result.gradients == pytest.approx(wanted[1], rel=1e-11, abs=1e-13)
    assert answers
