"""Generator functions that are converted: tests between their yields, as simulations have them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from support.flipping import Function, each_of, flips, is_answered

import retrograd as rg
from retrograd import math as m

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
    assert is_answered(f, calls=30, traces=9)


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


@each_of(until, advanced_in_an_arm, run_out_in_an_arm, begun_in_an_arm, sent)
def test_a_yield_in_an_arm_stays_a_decision(f: Function) -> None:
    flips(f, calls=30)


def test_a_generator_that_outlives_the_trace_goes_on_as_it_is() -> None:
    left: list[Iterator[Any]] = []

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        steps = levels([float(x) for x in xs], xs)
        left[:] = [steps]
        return ps[0] * next(steps)[0] if ps[0] > 0.0 else ps[1] * next(steps)[0]

    flips(f, calls=12)
    assert len(list(left[0])) == 11


# --- those that yield in an arm


class Sample(NamedTuple):
    p: Any
    x: float


def events(ps: Sequence[Any], xs: Sequence[float]) -> Iterator[Any]:
    level = ps[0]
    for p, x in zip(ps, xs, strict=True):
        if x > 0.5:
            level = level * 0.7 + p
            yield "up", level
        elif x < -0.5:
            level = level * 0.9
            yield "down", level


def of_events(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0 * ps[0]
    for kind, level in events(ps, xs):
        total += level if kind == "up" else -0.5 * level * level
    return total + len(list(events(ps, xs)))


def above(samples: Any, bound: Any) -> Iterator[Any]:
    for one in samples:
        if one.x > bound:
            yield one


def scaled(samples: Any, by: Any) -> Iterator[Any]:
    for one in samples:
        if one.p > -0.3:
            yield Sample(one.p * by, one.x)


def in_a_row(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    samples = [Sample(*pair) for pair in zip(ps, xs, strict=True)]
    found = ps[0] * sum(one.p for one in above(samples, 0.1))
    return found + max((m.exp(one.p) for one in above(samples, -0.5)), default=1.0)


def some_of(ps: Sequence[Any], xs: Sequence[float]) -> Iterator[Any]:
    yield ps[0]
    for p, x in zip(ps, xs, strict=True):
        if p > 1.5:
            break
        if x > 0.0:
            yield from (p, x * p)
        elif x < -1.0:
            yield -0.25


def left_early(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0 * ps[1]
    for i, one in enumerate(some_of(ps, xs)):
        total += (i + 1) * one
        if total > 4.0:
            break
    return total


@each_of(passing, of_events, in_a_row, left_early)
def test_those_that_yield_in_an_arm_run_at_once(f: Function) -> None:
    assert is_answered(f, calls=30, tier="vm", traces=9)


def changed_meanwhile(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The loop changes the list that the generator reads."""
    values = list(ps)

    def some(values: list[Any]) -> Iterator[Any]:
        for i, x in enumerate(xs):
            if x > 0.0:
                yield i, values[i]

    total = 0.0 * ps[0]
    for i, one in some(values):
        total += one
        if i + 1 < len(values):
            values[i + 1] = values[i + 1] * 0.5
    return total


def assigned_meanwhile(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """It assigns a variable that the generator closes over."""
    bound = 0.3

    def some() -> Iterator[Any]:
        for p, x in zip(ps, xs, strict=True):
            if p > bound:
                yield x * p

    total = 0.0 * ps[0]
    for one in some():
        total += one
        bound = bound + 0.2
    return total


def set_meanwhile(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """It sets an attribute of an object that the generator reads."""

    def some(pump: Pump) -> Iterator[Any]:
        for p, x in zip(ps, xs, strict=True):
            if p > pump.level:
                yield x * p

    pump, total = Pump(0.2), 0.0 * ps[0]
    for one in some(pump):
        total += one
        pump.level += 0.3
    return total


def changing_what_it_reads(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    seen: list[Any] = []

    def some(seen: list[Any]) -> Iterator[Any]:
        for p, x in zip(ps, xs, strict=True):
            if p > x:
                seen.append(p)
                yield p * len(seen)

    total = 0.0 * ps[0]
    for one in some(seen):
        total += one * len(seen)
    return total


def one_by_one(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = list(zip(ps, xs, strict=True))

    def positive() -> Iterator[Any]:
        for p, x in pairs:
            if x > 0.0:
                yield p * x

    them = positive()
    return next(them, ps[0]) * 2.0 + next(them, ps[1]) + sum(them)


def without_end(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def tries() -> Iterator[Any]:
        y, i = ps[0], 0
        while i >= 0:
            y, i = y * 0.9 + xs[i % 3], i + 1
            if abs(y) > 0.1:
                yield y

    total = 0.0 * ps[0]
    for one in tries():
        total += one
        if total * total > 2.0:
            break
    return total


def in_two_loops(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Two read one generator in turns."""

    def positive() -> Iterator[Any]:
        for p, x in zip(ps, xs, strict=True):
            if x > -0.5:
                yield p

    them, total = positive(), 0.0 * ps[0]
    for one in them:
        for other in them:
            total += one * other
            break
    return total


def from_a_generator(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    samples = [Sample(*pair) for pair in zip(ps, xs, strict=True)]
    return sum(one.p * one.x for one in above(scaled(samples, ps[1]), -0.4)) + ps[0]


@each_of(
    changed_meanwhile,
    assigned_meanwhile,
    set_meanwhile,
    changing_what_it_reads,
    one_by_one,
    without_end,
    in_two_loops,
    from_a_generator,
)
def test_what_shows_when_it_runs_is_as_it_is(f: Function) -> None:
    flips(f, calls=30, tier="vm")


def test_the_reason_names_the_yield() -> None:
    compiled = rg.compile(set_meanwhile, tier="vm")  # without taped code
    draws = [[0.1 * ((seed * i) % 17) - 0.8 for i in range(1, 9)] for seed in range(40)]
    with pytest.warns(rg.errors.CompileWarning, match="because one has a yield"):
        found = [compiled(ps, [0.5] * 8) for ps in draws]
    assert found == pytest.approx([set_meanwhile(ps, [0.5] * 8) for ps in draws])
