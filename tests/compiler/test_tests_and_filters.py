"""Tests as engineers write them: flags, chains, any and all, filters, and a bare return that ends a function early."""

# ruff: noqa: C419, RUF007 (the statements are what is tested)
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.flipping import Function, draw, flips, is_converted

import retrograd as rg

pytestmark = pytest.mark.native


class Tank:
    def __init__(self, level: Any) -> None:
        self.level, self.spilled = level, 0.0 * level

    def fill(self, by: Any) -> None:
        if by < 0.3:
            return
        self.level += by
        if self.level > 2.0:
            self.spilled += self.level - 2.0
            self.level = 2.0 + 0.0 * by

    def drain(self, by: Any) -> Any:
        if by > self.level:
            return None
        self.level -= by


def ends_early(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    tank = Tank(ps[0])
    for p, x in zip(ps, xs, strict=True):
        tank.fill(p * x)
        tank.drain(0.1 * p)
    return tank.level + 3.0 * tank.spilled


def in_an_else(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def grow(into: list[Any], by: Any) -> None:
        if by > 0.5:
            return
        else:
            into[0] = into[0] + by * by

    total = [ps[0]]
    for p, x in zip(ps, xs, strict=True):
        grow(total, p * x)
    return total[0]


def truth_of_numbers(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Whether a number is zero decides."""
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        over = max(x, 0.0)
        if over:
            total = total + p * over
        rest = 0.5 if not over else max(total, 0.0)
        total = total - 0.1 * (rest if rest and over else p)
    return total


def flag_of_two(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0] * 0.5
    for p, x in zip(ps, xs, strict=True):
        inside = p > -0.5 and p * x < 0.4
        outside = not inside or x > 1.0
        if inside:
            total += p * x
        if outside:
            total -= 0.1 * p
    return total


def between(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        if -0.6 < p * x <= 0.6 < p + 1.5:
            total += p
        keeps = 0.1 < p * x < x
        total += 0.5 * p if keeps else 0.25 * x
    return total


def some_or_all(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for k in range(3):
        if any(p > 1.2 + 0.1 * k for p in ps[k : k + 4]):
            total += ps[k]
        if all(p * x > -0.5 for p, x in zip(ps[k:], xs[:4], strict=False)):
            total *= 1.5
        if any([x > 1.0 for x in xs[k : k + 3]]):
            total -= 0.3 * ps[k]
        if not all(p > -1.0 for p in ps if p < 1.0):
            total += 0.1
    return total


def filtered(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    large = sum(p * p for p in ps if p > 0.2)
    both = sum((p * x for p, x in zip(ps, xs, strict=True) if p > 0.0 and x > 0.0), ps[0])
    nested = sum(p * a for i, (p, (a, b)) in enumerate(zip(ps, zip(xs, xs[1:], strict=False), strict=False)) if a > b)
    return large + both + nested


def counted(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    many = sum(1 for x in xs if x > 0.4)
    as_many = len([p for p in ps if p > 0.4])
    return ps[0] * many + ps[1] * as_many + ps[min(many, 3)]


def first_found(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for k in range(3):
        total += next((p * x for p, x in zip(ps[k:], xs, strict=False) if p > 0.3), ps[k])
    return total


def unpacked_twice(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for k in range(4):
        if ps[k] > xs[k]:
            total += sum(
                [i * p * a + b for i, (p, (a, b)) in enumerate(zip(ps, zip(xs, xs, strict=True), strict=True))]
            )
    return total


HABITS: list[Function] = [
    *(ends_early, in_an_else, truth_of_numbers, flag_of_two, between, some_or_all, filtered, counted, first_found),
    unpacked_twice,
]


@pytest.mark.parametrize("f", HABITS, ids=lambda f: f.__name__)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f), traces=5)


def test_a_result_that_is_a_plain_number_at_times() -> None:
    """A call that adds nothing returns the number 0, and is no reason to leave the others as they are."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total = 0.0
        for p, x in zip(ps[:3], xs, strict=False):
            if x > 0.8 and x < 2.0:
                total += p
        return total

    ps = [rg.Value(p) for p in draw(0)[0]]
    compiled = rg.compile(lambda xs: f(ps, xs))
    kinds = set()
    for seed in range(60):
        xs = draw(seed)[1]
        found, wanted = compiled(xs), f(ps, xs)
        kinds.add(type(wanted))
        assert type(found) is type(wanted)
        assert getattr(found, "data", found) == pytest.approx(getattr(wanted, "data", wanted))
    assert kinds == {rg.Value, float}
    assert len(compiled.stats().programs) == 1


RAISES: dict[str, Callable[[Sequence[Any], list[str]], Any]] = {
    "any": lambda ps, seen: 1.0 if any(p > 0.0 or 1.0 / (p - p) > 0.0 for p in ps[:1]) else 2.0,
    "all": lambda ps, seen: 1.0 if all(p < 0.0 or 1.0 / (p - p) > 0.0 for p in ps[:1]) else 2.0,
    "and": lambda ps, seen: 1.0 if ps[0] > 0.0 and seen.append("second") is None else 2.0,
    "or": lambda ps, seen: 1.0 if ps[0] > 0.0 or seen.append("second") is None else 2.0,
    "sum": lambda ps, seen: sum(1.0 / (p - p) for p in ps[:1] if p > 5.0) + sum(p for p in ps if p > 0.0),
    "next": lambda ps, seen: next((p for p in ps if p > 0.0), 1.0 if seen.append("default") is None else 0.0),
}


@pytest.mark.parametrize("name", RAISES)
def test_what_is_not_reached_is_not_done(name: str) -> None:
    """Elements after the one that decides have no effect, and an exception comes where the function raises one."""

    def told(f: Any, ps: Sequence[float]) -> tuple[Any, list[str]]:
        seen: list[str] = []
        try:
            found = f([rg.Value(p) for p in ps], seen)
        except ZeroDivisionError as error:
            return str(error), seen
        return (found.data if isinstance(found, rg.Value) else found), seen

    f = RAISES[name]
    compiled = rg.compile(lambda ps, seen: f(ps, seen) * ps[0])
    for seed in range(30):
        ps, _ = draw(seed)
        found, wanted = told(compiled, ps), told(lambda ps, seen: f(ps, seen) * ps[0], ps)
        assert found == (pytest.approx(wanted[0]) if isinstance(wanted[0], float) else wanted[0], wanted[1])


def reads_on(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """An iterator that has a name is read on where a function has left it."""
    left = iter(ps)
    first = next((p for p in left if p > 0.0), ps[0])
    pairs = zip(left, xs, strict=False)
    found = any(p * x > 0.5 for p, x in pairs)
    more = all(p * x > -0.5 for p, x in pairs)
    return first + 2.0 * next((p for p, _ in pairs if p < 0.0), ps[1]) + (ps[2] if found else ps[3]) + more * ps[4]


def of_the_users(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Functions of the user's with the names of Python's."""

    def next(things: Any, otherwise: Any) -> Any:  # noqa: A001
        return [*things, otherwise][-2 if otherwise is None else -1]

    def sum(things: Any) -> Any:  # noqa: A001
        product = ps[0]
        for one in things:
            product = product * one
        return product

    def any(things: Any) -> Any:  # noqa: A001
        return [*things][-1]

    total = next((p for p in ps if p > 0.0), ps[5]) + sum(1.0 + 0.1 * p for p in ps if p > 0.5)
    return total * 2.0 if any(p > 0.0 for p in ps) else total


@pytest.mark.parametrize("f", [reads_on, of_the_users], ids=lambda f: f.__name__)
def test_other_iterators_and_functions(f: Function) -> None:
    flips(f, calls=60)
