"""Generator functions that are converted: tests between their yields, as simulations have them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, is_converted

import retrograd as rg

pytestmark = pytest.mark.native


def levels(ps: Sequence[Any], xs: Sequence[float]) -> Iterator[Any]:
    level = ps[0]
    for p, x in zip(ps, xs, strict=True):
        if p * x > 0.2:
            level = level + p * x
        elif level > 1.0:
            level = level * 0.5
        else:
            level = level - 0.1
        yield level, x


def simulated(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0 * ps[0]
    for level, x in levels(ps, xs):
        if level > x:
            total += level * x
    return total


def forever(p: Any) -> Iterator[Any]:
    y = p
    while True:
        y = y * 1.3 + 0.1
        if abs(y) > 2.0:
            y = y * 0.25
        yield y


def as_far_as_needed(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(a * x for a, x in zip(forever(ps[0]), xs, strict=False)) + next(forever(ps[1]))


def delegated(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def both() -> Iterator[Any]:
        yield from (level for level, _ in levels(ps, xs))
        yield ps[0] * ps[1]
        yield from itertools.islice(forever(ps[2]), 3)

    return sum(i * y for i, y in enumerate(both()))


class Pump:
    def __init__(self, level: Any) -> None:
        self.level, self.on = level, False

    def run(self, xs: Sequence[float]) -> Iterator[Any]:
        for x in xs:
            self.level = self.level + x
            if self.level > 1.0:
                self.on = True
            if self.on:
                self.level = self.level * 0.8
                if self.level < 0.0:
                    self.on = False
            yield self


def with_state(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(pump.level * p for pump, p in zip(Pump(ps[0]).run(xs), ps, strict=True))


def sent(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def controller() -> Iterator[Any]:
        error = yield 0.0  # type: ignore[misc]
        while True:
            if error > 0.0:
                error = yield error * ps[1]  # type: ignore[misc]
            else:
                error = yield error * ps[2]  # type: ignore[misc]

    control: Any = controller()
    next(control)
    y = ps[0]
    for x in xs:
        y = y + 0.3 * control.send(x - y)
    return y


@each_of(simulated, as_far_as_needed, delegated, with_state)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=30), traces=9)


def passing(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def those() -> Iterator[Any]:
        for p, x in zip(ps, xs, strict=True):
            if p > x:
                yield p * x

    return sum(those(), ps[0] * 0.1)


def until(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def some() -> Iterator[Any]:
        for p, x in zip(ps, xs, strict=True):
            if p > 1.0:
                return
            yield p * x if p > x else p + x

    return sum(some(), ps[0] * 0.1)


def advanced_in_an_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    steps, total = levels(ps, xs), ps[0] * 0.0
    for p in ps:
        if p > 0.3:
            total += next(steps)[0]
    return total + sum(level for level, _ in steps)


def run_out_in_an_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    steps, total = levels(ps, xs), ps[0] * 1.0
    if ps[1] > 0.0:
        total = total + sum(level for level, _ in steps)
    if ps[2] > 0.0:
        total = total * len(list(steps))
    for level, x in steps:
        total = total + level * x
    return total


def begun_in_an_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0] * 1.0
    for p in ps[:5]:
        if p > 0.3:
            total = total + sum(level for level, _ in levels(ps, xs))
    return total


@each_of(passing, until, advanced_in_an_arm, run_out_in_an_arm, begun_in_an_arm, sent)
def test_a_yield_in_an_arm_stays_a_decision(f: Function) -> None:
    flips(f, calls=30)


def test_the_reason_names_the_yield() -> None:
    compiled = rg.compile(passing)
    draws = [[0.1 * ((seed * i) % 17) - 0.8 for i in range(1, 9)] for seed in range(40)]
    with pytest.warns(rg.errors.CompileWarning, match="because one has a yield"):
        found = [compiled(ps, [0.0] * 8) for ps in draws]
    assert found == pytest.approx([passing(ps, [0.0] * 8) for ps in draws])


def test_a_generator_that_outlives_the_trace_goes_on_as_it_is() -> None:
    left: list[Iterator[Any]] = []

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        steps = levels([float(x) for x in xs], xs)
        left[:] = [steps]
        return ps[0] * next(steps)[0] if ps[0] > 0.0 else ps[1] * next(steps)[0]

    flips(f, calls=12)
    assert len(list(left[0])) == 11
