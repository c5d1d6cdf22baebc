"""``match`` over values that decisions choose, as state machines have it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, is_converted

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


@each_of(thermostat, texts, counts, missing)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=40), traces=9)


def patterns(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Patterns of sequences, mappings and classes stay as they are."""
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


@each_of(patterns, captured_in_a_guard)
def test_other_patterns_are_right(f: Function) -> None:
    flips(f, calls=24)
