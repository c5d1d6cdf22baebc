"""``match`` over values that decisions choose, as state machines have it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, each_of, flips, is_converted

from retrograd import math

pytestmark = pytest.mark.native


class Mode(enum.Enum):
    HEAT = "heat"
    COOL = "cool"
    OFF = "off"


def thermostat(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    mode, y = Mode.OFF, ps[0]
    for x in xs:
        if y < -0.5:
            mode = Mode.HEAT
        elif y > 0.5:
            mode = Mode.COOL
        elif abs(y) < 0.2:
            mode = Mode.OFF
        match mode:
            case Mode.HEAT:
                y = y + 0.3 * ps[1]
            case Mode.COOL:
                y = y - 0.3 * abs(ps[2])
            case _:
                y = 0.9 * y
        y = y + 0.4 * x
    return y * y


def texts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def name(x: Any) -> str:
        return "up" if x > 0.4 else "down" if x < -0.4 else "flat"

    total = ps[0] * 0.1
    for p, x in zip(ps, xs, strict=True):
        match name(p * x):
            case "up" | "down" if p > 0.0:
                total += p * x
            case "up":
                total -= p
            case "flat" | "level":
                continue
            case other:
                total += (2.0 if other == "down" else 1.0) * x * p
    return total


def counts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """An int that goes up and down; the subject is no variable, and a case returns."""
    count, total = 0, ps[0]
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            count += 1
        match count % 3:
            case 0:
                total = total * 0.9
            case 1 if x > 1.5:
                return total
            case 1:
                total = total + p
            case 2:
                total = total - 0.5 * p
    return total


def missing(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def best_above(limit: float) -> Any:
        found = None
        for p in ps:
            if p > limit and (found is None or p < found):
                found = p
        return found

    total = ps[0] * 1.0
    for limit in (0.5, 1.5, 2.5):
        best = best_above(limit)
        match best:
            case None:
                total = total + limit * ps[1]
            case _:
                total = total * best
    return total


@dataclass
class Circle:
    radius: Any


@dataclass
class Square:
    side: Any
    weight: Any = 0.5


@dataclass(frozen=True)
class Dose:
    time: float
    amount: float


@dataclass(frozen=True)
class Sample:
    time: float
    level: float
    weight: float = 1.0


def shapes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Decisions choose the class, and a guard reads what the pattern assigns."""
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        shape = Circle(p * x) if x > 0.0 else Square(p)
        match shape:
            case Circle(r):
                total += r * r
            case Square(side=a) if a < -0.3:
                total -= a
            case Square(a, weight=w):
                total -= a * w
    return total


def events(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The classes are known, and data decide inside of the cases."""
    steps = [Dose(0.1 * i, abs(x)) if i % 3 == 0 else Sample(0.1 * i, x) for i, x in enumerate(xs)]
    amount, loss, last = 0.0, 0.0, 0.0
    for step in steps:
        amount *= math.exp(-abs(ps[0]) * (step.time - last))
        last = step.time
        match step:
            case Dose(amount=dose):
                amount += dose if dose < 1.0 else 1.0
            case Sample(_, level, weight=w):
                rest = level - amount * ps[1]
                loss += w * rest * rest if abs(rest) < 0.5 else w * (abs(rest) - 0.25)
    return loss + ps[2]


def instructions(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Tuples of several lengths."""
    total = ps[0]
    for instruction in [("push", x) if i % 3 else ("scale",) for i, x in enumerate(xs)]:
        match instruction:
            case ("push", x) if total * x > 0.0:
                total += x * ps[1]
            case ("push", x):
                total -= x * ps[2]
            case ("scale",):
                total *= ps[3] if total > 0.0 else ps[4]
    return total


def several(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A tuple of tests and of texts."""
    state, total = "a", ps[0]
    for p, x in zip(ps, xs, strict=True):
        match state, p > x:
            case ("a" | "b", True):
                state, total = "b", total + p
            case ("b", False):
                state, total = "c", total - 0.5 * x
            case ("c", _):
                state, total = "a", total * 0.9
            case (_, False) as pair if len(pair) == 2:
                total *= 0.5
    return total


def captured_in_a_guard(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total, y = ps[0] * 0.1, ps[1]
    for p, x in zip(ps, xs, strict=True):
        match p * x:
            case y if y > 0.3:
                total += y
            case z:
                total -= z * y
    return total


@each_of(thermostat, texts, counts, missing, shapes, events, instructions, several, captured_in_a_guard)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=40), traces=9)


class Odd:
    """Its pattern reads a property, which is computed."""

    __match_args__ = ("twice",)

    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def twice(self) -> Any:
        return self.x * 2.0 if self.x > 0.0 else self.x


def patterns(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Mappings, what is starred, and classes of other kinds."""
    total = ps[0] * 0.1
    for p, x in zip(ps, xs, strict=True):
        kind = "a" if p > x else "b"
        match (kind, x):
            case ("a", float(y)) if y > 0.0:
                total += p * y
            case (str(), y):
                total -= p * y
        match {"kind": kind}:
            case {"kind": "a"}:
                total += p
        match [p, x, kind]:
            case [y, *_] if y > 0.0:
                total -= y
        match Odd(p):
            case Odd(y):
                total += y
        match x > 0.5:
            case True:
                total += 0.5 * p
            case False:
                total -= 0.1
    return total


def names_of_the_subject(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A pattern assigns the variable that is matched, also where its guard fails."""
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        pair = (p, x)
        match pair:
            case (pair, x) if pair > x:
                total += pair
            case (y, x):
                total += y * x if isinstance(pair, tuple) else pair
    return total


def numpys(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """NumPy's truth values are not ``True``."""
    total = ps[0]
    for x in np.array(xs):
        match x > 0.5:
            case True:
                total += 1.0
            case _:
                total += x * ps[1]
    return total


@each_of(patterns, names_of_the_subject, numpys)
def test_other_patterns_are_right(f: Function) -> None:
    flips(f, calls=24)
