"""Dictionaries that lack what a state, which data choose, may be: that it is not looked up is checked in each call."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, in_every_tier, is_converted

import retrograd as rg

pytestmark = pytest.mark.native


class Mode(Enum):
    FILL = auto()
    HEAT = auto()
    DONE = auto()


class Stage:
    """Told by identity."""

    def __init__(self, rate: float) -> None:
        self.rate = rate


AFTER = {Mode.FILL: Mode.HEAT, Mode.HEAT: Mode.DONE}
RATE = {Mode.FILL: 1.0, Mode.HEAT: 2.0, Mode.DONE: 3.0}
FIRST, SECOND, LAST = Stage(0.5), Stage(1.5), Stage(2.5)
NEXT = {FIRST: SECOND, SECOND: LAST}
LIMITS = {Mode.FILL: 0.3, Mode.HEAT: 0.6}


def goes_on_to_the_next(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    mode, total = Mode.FILL, 0.0
    for x in xs:
        if mode is not Mode.DONE and x > 0.4:
            mode = AFTER[mode]
        total += RATE[mode] * ps[1] * x
    return total


def of_objects(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    stage, total = FIRST, 0.0
    for x in xs[:8]:
        if x > 0.4:
            stage = FIRST if stage is LAST else NEXT[stage]
        total += stage.rate * ps[0] * x
    return total


def by_an_early_return(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    mode, total = Mode.FILL, ps[2] * 0.0
    for x in xs[:8]:
        if mode is Mode.DONE:
            return total
        if x > LIMITS[mode]:
            mode = AFTER[mode]
        total += RATE[mode] * ps[1] * x
    return total + ps[0]


def as_long_as_it_is_there(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    mode, total = Mode.FILL, 0.0
    for x in xs[:8]:
        if mode in LIMITS:
            if ps[0] * x > LIMITS[mode]:
                mode = AFTER[mode]
            total += LIMITS.get(mode, 0.1) * ps[1] * x
    return total + RATE[mode] * ps[2]


@in_every_tier
@each_of(goes_on_to_the_next, of_objects, by_an_early_return, as_long_as_it_is_there)
def test_looks_up_what_there_is(f: Function, tier: str) -> None:
    assert is_converted(flips(f, 40, tier=tier), 8)


def raises_at_the_end(p: Any, xs: Sequence[float]) -> Any:
    mode, total = Mode.FILL, 0.0
    for x in xs:
        if p * x > 0.4:
            mode = AFTER[mode]
        total += RATE[mode] * p * x
    return total


def raises_in_an_arm(p: Any, xs: Sequence[float]) -> Any:
    mode, total = Mode.FILL, p
    for x in xs:
        if x > 0.4:
            mode = Mode.HEAT if x > 0.7 else Mode.DONE
        if x < -0.6:
            total += LIMITS[mode] * x
        else:
            total += 0.1 * p * x
    return total


def raises_if_none_is_there(p: Any, xs: Sequence[float]) -> Any:
    few, total = {Mode.FILL: p}, p
    mode = Mode.HEAT if xs[0] > 0.0 else Mode.DONE
    for x in xs:
        if x > 1.5:
            total = total + few[mode]
        total = total * 0.5 + x
    return total


@pytest.mark.parametrize("f", [raises_at_the_end, raises_in_an_arm, raises_if_none_is_there])
@pytest.mark.parametrize("size", [3, 6])
def test_raises_where_the_function_does(f: Callable[..., Any], size: int) -> None:
    rng = random.Random(size)
    compiled = rg.compile(f)
    raised = [0, 0]
    for _ in range(80):
        call = 1.3, [rng.gauss(0.0, 0.9) for _ in range(size)]
        wanted, found = (_given_by(g, call) for g in (rg.value_and_grad(f), compiled.value_and_grad))
        raised[isinstance(wanted, KeyError)] += 1
        if isinstance(wanted, KeyError):
            assert type(found) is KeyError
            assert found.args == wanted.args
        else:
            assert found == pytest.approx(wanted, rel=1e-12)
    assert all(raised)


def _given_by(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    try:
        return function(*call)
    except KeyError as problem:
        return problem
