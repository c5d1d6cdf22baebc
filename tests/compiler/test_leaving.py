"""Loops that data leave end early in machine code and in C, and go back from there."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compiler.test_c_backend import Built
from support.compiled_cases import assert_near, native
from support.parts import require

import retrograd as rg
from retrograd import math as m
from retrograd.compiler.if_conversion import budget

pytestmark = native


def root(p: Any) -> Any:
    """Newton's method to a tolerance: two numbers are handed on."""
    x, step = 1.0 + 0.1 * p, 1.0
    for _ in range(40):
        step = (x * x * x - 1.0 - p * p) / (3.0 * x * x)
        x = x - step
        if abs(step) < 1e-10:
            break
    return x * p + step


def balanced(p: Any) -> Any:
    """A damped fixed point of three numbers, whose loop returns."""
    a, b, c = p, p * 0.5, 0.1 * p
    for _ in range(60):
        old = a
        a, b, c = m.tanh(b + p), 0.5 * m.sin(c) + 0.2 * a, 0.3 * a + 0.4 * b
        if abs(a - old) < 1e-4:
            return a + b * c
    return a - b


def followed(p: Any) -> Any:
    """A loop in a loop, which begins where the one before it ended."""
    x, total = 0.3 * p, 0.0
    for k in range(6):
        for _ in range(30):
            step = (m.exp(x) - 1.5 - 0.2 * k * p) / m.exp(x)
            x = x - step
            if abs(step) < 1e-6:
                break
        total += x * x * p
    return total


def waits(p: Any) -> Any:
    """A while loop, which may have no iteration at all."""
    x, n = p, 0
    while x > 0.5 and n < 50:
        x = x * (0.7 + 0.01 * p)
        n += 1
    return x * x + 0.1 * n * p


FUNCTIONS = {each.__name__: each for each in (root, balanced, followed, waits)}


def numbers(count: int, seed: int = 0) -> list[float]:
    draw = random.Random(seed)
    return [draw.uniform(0.2, 3.0) * 10 ** draw.uniform(-1.0, 1.0) for _ in range(count)]


def converted(function: Callable[..., Any]) -> Any:
    """The compiled function with its one program, after calls that have left its loops at many places."""
    compiled = rg.compile(function, tier="llvm")
    for p in numbers(200, seed=1):
        compiled.value_and_grad(p)
    assert compiled.stats().eager == 0
    return compiled


def ends_early(compiled: Any) -> bool:
    return " break;" in compiled.program(after="loops")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_where_a_loop_is_left_changes_no_number(name: str) -> None:
    require("llvmlite")
    function = FUNCTIONS[name]
    compiled = converted(function)
    assert ends_early(compiled)
    traces = compiled.stats().traces
    for p in numbers(300):
        leaf = rg.Value(p)
        result = function(leaf)
        result.backward()
        value, gradient = compiled.value_and_grad(p)
        assert_near((value, [gradient]), (result.data, [leaf.grad]), 1e-11, (name, p))
    assert compiled.stats().traces <= traces + 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_members_of_a_group_leave_at_different_places(name: str) -> None:
    require("llvmlite")
    compiled = converted(FUNCTIONS[name])
    for count in (3, 8, 13):
        members = [(p,) for p in numbers(count, seed=count)]
        for _ in range(2):
            found = compiled.value_and_grad_batch(members)
        for (value, slope), (p,) in zip(found, members, strict=True):
            expected, other = rg.value_and_grad(FUNCTIONS[name])(p)
            assert_near((value, [slope]), (expected, [other]), 1e-11, (name, p))
    assert any(fact["side_by_side"] > 1 for fact in compiled._cache.facts())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_c_leaves_too(name: str, tmp_path: Path) -> None:
    function = FUNCTIONS[name]
    compiled = rg.compile(function)
    for p in numbers(100, seed=1):
        compiled.value_and_grad(p)
    written = compiled.to_c(tmp_path / "f.c", 1.7, name="f", argnums=0)
    assert " break;" in written.path.read_text()
    built = Built(written)
    for p in numbers(60):
        leaf = rg.Value(p)
        result = function(leaf)
        result.backward()
        value, dx, _ = built.gradient(p)
        if not math.isnan(value):  # the loop would take more iterations than any call did
            assert_near((value, dx), (result.data, [leaf.grad]), 1e-11, (name, p))


def test_derivatives_of_derivatives_leave_too() -> None:
    require("llvmlite")
    second = rg.compile(rg.grad(rg.grad(root)), tier="llvm")
    plain = rg.grad(rg.grad(root))
    for p in numbers(60, seed=2):
        assert math.isclose(second(p), plain(p), rel_tol=1e-9), p


def test_what_is_read_of_every_iteration_keeps_the_loop_whole() -> None:
    """Each iteration leaves something that is read after the loop: it must run to its end."""
    require("llvmlite")

    def trail(p: Any) -> Any:
        x, steps = 1.0 + 0.1 * p, []
        for _ in range(20):
            step = (x * x - 1.0 - p) / (2.0 * x)
            x = x - step
            steps.append(step * step)
            if abs(step) < 1e-8:
                break
        return x + sum(steps) * p

    compiled = rg.compile(trail, tier="llvm")
    for p in numbers(200):
        leaf = rg.Value(p)
        result = trail(leaf)
        result.backward()
        value, gradient = compiled.value_and_grad(p)
        assert_near((value, [gradient]), (result.data, [leaf.grad]), 1e-11, p)


def test_points_whose_loops_run_side_by_side_leave_at_different_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The points' loop runs several iterations at once, each with a loop of its own."""
    require("llvmlite")
    monkeypatch.setattr(budget, "_FREE", budget._MOST)

    def total(ps: list[Any]) -> Any:
        return sum(balanced(p) * (0.1 * p).cos() for p in ps)

    compiled = rg.compile(total, tier="llvm")
    for seed in range(40):
        ps = numbers(37, seed)
        found = compiled.value_and_grad(ps)
        assert_near(found, rg.value_and_grad(total)(ps), 1e-11, seed)
    assert compiled.stats().eager == 0
    assert ends_early(compiled)


# --- loops that must not end early ------------------------------------------------------------------------------------


def stops_its_gradient(p: Any, xs: list[float]) -> Any:
    """What is handed on stays as it was, but each iteration cuts its gradient off."""
    on, x = 1.0, p * 1.0
    for _ in xs:
        new = x + 0.1 * m.cos(x)
        x = rg.where(on > 0, new, x.detach())
        on = rg.where(new > 1.2, 0.0, on)
    return x * p + on


def differentiates_what_goes_on(p: Any, xs: list[float]) -> Any:
    """A number that says that the loop goes on has a gradient itself."""
    on, x = p - 1.0, p
    for bound in xs:
        x = rg.where(on != 0, x * 0.9, x)
        on = rg.where(x > bound, on, 0.0)
    return x + on


def raises_late(p: Any, xs: list[float]) -> Any:
    """An operation that every iteration does may leave its domain."""
    going, x = True, p
    for bound in xs:
        y = m.log(bound * x)
        if going:
            x = x + 0.1 * y
            if x > 2.0:
                going = False
    return x * p


def overflows_late(p: Any, xs: list[float]) -> Any:
    """A square of what is handed on is computed once more, after that has come to rest."""
    going, x = True, p
    for bound in xs:
        big = x**2
        if going:
            x = x * bound
            if x > 1e160:
                going = False
    return m.log(x) * p + 0.0 * big


@pytest.mark.parametrize("function", [stops_its_gradient, differentiates_what_goes_on, raises_late, overflows_late])
def test_iterations_that_do_something_else_are_not_left_out(function: Callable[..., Any]) -> None:
    require("llvmlite")
    draw = random.Random(3)
    compiled = rg.compile(function, tier="llvm")
    outcomes = set()
    for _ in range(120):
        p = draw.choice((0.3, 1.0, 1.3, 1.7))
        xs = [
            draw.choice((2.5, 1e12, 1e12)) if function is overflows_late else draw.uniform(0.4, 2.2) for _ in range(20)
        ]
        if draw.random() < 0.3:
            xs[-1] = -1.0 if function is raises_late else xs[-1]
        try:
            wanted: Any = rg.value_and_grad(function)(p, xs)
        except (ArithmeticError, ValueError) as error:
            wanted = type(error)
        try:
            found: Any = compiled.value_and_grad(p, xs)
        except (ArithmeticError, ValueError) as error:
            found = type(error)
        outcomes.add(isinstance(wanted, type))
        assert isinstance(found, type) == isinstance(wanted, type), (p, xs)
        if isinstance(wanted, type):
            assert found is wanted
        else:
            assert_near((found[0], [found[1]]), (wanted[0], [wanted[1]]), 1e-11, (p, xs))
    assert outcomes == ({True, False} if function in (raises_late, overflows_late) else {False})
