"""Objects that decisions choose attribute by attribute, in code that asks which object something else is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, in_every_tier, is_converted

pytestmark = pytest.mark.native


class Mode(Enum):
    FILL = auto()
    HEAT = auto()
    COOL = auto()


AFTER = {Mode.FILL: Mode.HEAT, Mode.HEAT: Mode.COOL, Mode.COOL: Mode.FILL}


@dataclass
class State:
    x: Any
    y: Any

    def __add__(self, other: State) -> State:
        return State(self.x + other.x, self.y + other.y)

    def __sub__(self, other: State) -> State:
        return State(self.x - other.x, self.y - other.y)

    def __rmul__(self, k: Any) -> State:
        return State(k * self.x, k * self.y)


class Plain:
    """Told by identity."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Plain) -> Plain:
        return Plain(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Plain) -> Plain:
        return Plain(self.x - other.x, self.y - other.y)

    def __rmul__(self, k: Any) -> Plain:
        return Plain(k * self.x, k * self.y)


def gap(mode: Mode, s: Any) -> Any:
    if mode is Mode.FILL:
        return s.x - 1.0
    if mode is Mode.HEAT:
        return s.y - 1.0
    return 0.5 - s.x


def rates(kind: Any, mode: Mode, ps: Sequence[Any], s: Any, u: float) -> Any:
    dx, dy = 0.1 * (u - s.x), 0.05 * (u - s.y)
    match mode:
        case Mode.FILL:
            dx = dx + ps[0]
        case Mode.HEAT:
            dy = dy + ps[1] / (1.0 + s.x * s.x)
        case Mode.COOL:
            dx = dx - ps[2] * s.x
    return kind(dx, dy)


def stepped(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    s, peak, mode = kind(0.2, 0.5), 0.0, Mode.FILL
    for u in xs[:6]:
        before = gap(mode, s)
        one = rates(kind, mode, ps, s, u)
        other = rates(kind, mode, ps, s + 0.5 * one, u)
        new = s + 0.5 * (one + other)
        after = gap(mode, new)
        if after >= 0.0:
            new = s + before / (abs(before - after) + 1.0) * (new - s)
            mode = AFTER[mode]
        if new.y > peak:
            peak = new.y
        s = new
    return s.x + s.y + peak


def dataclasses_with_modes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return stepped(State, ps, xs)


def objects_with_modes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return stepped(Plain, ps, xs)


def beside_other_objects(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Other objects are asked which they are."""
    tanks = [Plain(p, k) for k, p in enumerate(ps[:3])]
    s, total = State(ps[3], ps[4]), 0.0
    for x in xs[:5]:
        low, high = min(tanks, key=lambda one: one.x), max(tanks, key=lambda one: one.x)
        if low is not high:
            total += x * (high.x - low.x)
        if x > 0.2:
            s = State(s.x * 0.5 + x, s.y)
        total += s.x + 2.0 * s.y
    return total


@in_every_tier
@each_of(dataclasses_with_modes, objects_with_modes, beside_other_objects)
def test_chooses_attributes(f: Function, tier: str) -> None:
    assert is_converted(flips(f, 40, tier=tier), 8)


def chosen(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> tuple[Any, Any, Any]:
    one, other = kind(ps[0], ps[1]), kind(ps[2], ps[3])
    return one, other, (one if xs[0] > 0.0 else other)


def asked_at_once(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other, s = chosen(kind, ps, xs)
    total = s.x * s.y
    if s is one:
        total = total * 2.0
    return total + (1.0 if other is not s else 0.25) * ps[4]


def is_it(one: Any, other: Any) -> bool:
    return one is other


def asked_by_a_function(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, _, s = chosen(kind, ps, xs)
    return s.x + (ps[5] if is_it(s, one) else ps[6]) + (0.5 if (lambda a: a is one)(s) else 0.0)


def asked_of_each(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other, s = chosen(kind, ps, xs)
    things = [one, other, kind(0.0, 1.0)]
    total = sum((k + 1.0) * thing.x for k, thing in enumerate(things) if thing is s)
    return total + (ps[7] if any(thing is s for thing in things[1:]) else s.y)


def asked_of_one_of_some(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other, s = chosen(kind, ps, xs)
    again = s if xs[1] > 0.0 else one
    last = again if xs[2] > 0.0 else other
    return last.x + (ps[5] if again is one else ps[6]) * (2.0 if last is other else 3.0)


def asked_in_an_arm(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, _, s = chosen(kind, ps, xs)
    total = s.x
    for x in xs[1:4]:
        if x > 0.0:
            total = total * (2.0 if s is one else 0.5)
            s = one if x > 1.0 else s
    return total + s.y


def asked_while_it_loops(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other, s = chosen(kind, ps, xs)
    total, k = 0.0, 0
    while s is one and k < 4:
        total, k = total + s.x * xs[k + 1], k + 1
        s = other if xs[k] > 0.7 else s
    return total + s.y


def sought_in_a_list(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other, s = chosen(kind, ps, xs)
    same: Any = one
    place = [other, one].index(s)
    return s.x * (place + 1.0) + (ps[4] if same is one and s in (one,) else 0.0)


def changed_later(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other, s = chosen(kind, ps, xs)
    total = s.x + (ps[4] if one is other else 1.0)
    s.x = total * 0.5
    one.y = s.x * 2.0
    return one.x + 2.0 * other.x + 3.0 * s.y


def equal_to_one(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other, s = chosen(kind, ps, xs)
    return s.x + (ps[4] if s == one else ps[5]) + (1.0 if one is other else 0.5)


def told_by_its_mode(kind: Any, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """It is no member, whichever it is."""
    _, _, s = chosen(kind, ps, xs)
    return s.x * (2.0 if s is Mode.FILL else 3.0) + (0.0 if s is None else s.y)


@pytest.mark.parametrize("kind", [State, Plain])
@each_of(
    *(asked_at_once, asked_by_a_function, asked_of_each, asked_of_one_of_some, asked_in_an_arm),  # type: ignore[arg-type]
    *(asked_while_it_loops, sought_in_a_list, changed_later, equal_to_one, told_by_its_mode),  # type: ignore[arg-type]
)
def test_tells_them_apart_as_the_function_does(f: Any, kind: Any) -> None:
    def of_kind(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        return f(kind, ps, xs)

    flips(of_kind, 60)
