"""``:=`` in tests, loops and comprehensions that data decide."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, is_answered

from retrograd import math
from retrograd.compiler.if_conversion.rewriting.assignment_expressions import write_as_assignments

pytestmark = pytest.mark.native


def newton(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        y = 1.0 + 0.0 * p
        while (rest := y * y - 1.0 - (p * x) ** 2) > 1e-9 or rest < -1e-9:
            y -= rest / (2.0 * y)
        total += y
    return total


def in_tests(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0] * 0.1
    for p, x in zip(ps, xs, strict=True):
        if (d := p * x - 0.2) > 0.5:
            total += d * d
        elif (e := d + p) > 0.0:
            total += e
        elif p > 0.0 and (g := x * d) > 0.1:
            total -= g
        elif not (p > -1.0 or (h := x - d) > 0.4):
            total += h
        else:
            total *= 0.9
    return total


def filters(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept = [y * x for p, x in zip(ps, xs, strict=True) if (y := p - x) > 0.0]
    squares = sum(z * z for p in ps if (z := math.tanh(p)) > 0.1)
    return sum(kept) + squares + max((w for p in ps if (w := p * p) < 1.0), default=0.0)


def in_an_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            if (d := p - x) > 0.7:
                total += d
            total += (half := 0.5 * d) * half + 0.1 * d
    return total


@each_of(newton, in_tests, filters, in_an_arm)
def test_one_program_answers(f: Function) -> None:
    assert is_answered(f, calls=40, bound=1e-9, traces=9)


def last_of_any(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The variable is read behind the generator."""
    found = ps[0]
    if any((found := p * x) > 0.5 for p, x in zip(ps, xs, strict=True)):
        return found * 2.0
    return found


def read_before(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    y, total = ps[1], 0.0
    for p, x in zip(ps, xs, strict=True):
        if y * x > (y := p * 0.5):
            total += y
    return total


@each_of(last_of_any, read_before)
def test_others_are_right(f: Function) -> None:
    flips(f, calls=24)


STAY = {
    "something is computed before": "x = f(a) + (y := g(b))",
    "the variable is read before": "x = y + (y := g(b))",
    "the statement reads its target before": "y += (y := 1)",
    "an item is read before": "x[i] += (y := 1)",
    "it may not run": "x = a if a else (y := b)",
    "it may not run, in a test": "if (a if b else (y := c)): pass",
    "the loop has an else": "while (y := f()) > 0:\n    pass\nelse:\n    pass",
    "the variable is read behind the comprehension": "x = [y for a in b if (y := a) > 0]\nz = y",
    "a later condition": "x = [y for a in b if a if (y := a) > 0]",
}


@pytest.mark.parametrize("case", STAY)
def test_what_would_run_in_another_order_stays(case: str) -> None:
    written = f"def function(a, b):\n{textwrap.indent(STAY[case], '    ')}"
    definition = ast.parse(written).body[0]
    assert isinstance(definition, ast.FunctionDef)
    write_as_assignments(definition)
    assert ast.unparse(definition) == ast.unparse(ast.parse(written))


def test_a_generator_is_still_read_as_it_goes() -> None:
    definition = ast.parse("def function(a):\n    return any(y for x in a if (y := x) > 0)").body[0]
    assert isinstance(definition, ast.FunctionDef)
    write_as_assignments(definition)
    assert "for x, y in ((x, x) for x in a) if y > 0" in ast.unparse(definition)
