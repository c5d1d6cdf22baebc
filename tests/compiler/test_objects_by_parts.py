"""Objects that nothing changes once they are made: of two, decisions choose each attribute, and not the object."""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, in_every_tier, is_converted

from retrograd import math as m

pytestmark = pytest.mark.native


class Vector:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k: Any) -> Vector:
        return Vector(self.x * k, self.y * k)

    def dot(self, other: Vector) -> Any:
        return self.x * other.x + self.y * other.y

    @property
    def length(self) -> Any:
        return m.sqrt(self.dot(self) + 0.1)


class Skewed(Vector):
    def dot(self, other: Vector) -> Any:
        return 2.0 * self.x * other.x


class Dual:
    __slots__ = ("slope", "value")

    def __init__(self, value: Any, slope: Any = None) -> None:
        self.value = value
        self.slope = value * 2.0 if slope is None else slope

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, (self.slope + other.slope) * 0.5)


class Interval:
    def __init__(self, low: Any, high: Any = None) -> None:
        self.low, self.high = low, low if high is None else high

    def __mul__(self, other: Any) -> Interval:
        other = other if isinstance(other, Interval) else Interval(other)
        ends = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high]
        return Interval(min(ends), max(ends))

    __rmul__ = __mul__

    def __contains__(self, number: Any) -> bool:
        return self.low <= number <= self.high  # type: ignore[no-any-return]


@dataclass
class Stock:
    amount: Any
    price: Any = 1.0

    def scaled(self, k: Any) -> Stock:
        return Stock(self.amount * k, self.price + k)


class Holder:
    def __init__(self, items: list[Any]) -> None:
        self.items = items


@functools.total_ordering
class Rank:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rank) and self.value == other.value

    def __lt__(self, other: Rank) -> bool:
        return self.value < other.value  # type: ignore[no-any-return]


def bounces(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Whole objects would be twice as many after each test."""
    place, speed, total = Vector(ps[0], ps[1]), Vector(ps[2], ps[3]), 0.0
    for x in xs:
        place = place + speed * 0.1
        if place.x * x > 0.0:
            speed = Vector(-0.9 * speed.x, speed.y)
        if place.y < ps[4]:
            speed, place = Vector(speed.x, -speed.y), Vector(place.x, place.y + 0.01)
        total += place.length * x
    return total + speed.dot(place)


def slots(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one = Dual(ps[0])
    for x in xs:
        one = one + Dual(x * ps[1]) if x > ps[2] else Dual(one.value - x, one.slope)
    return one.value * one.slope


def two_classes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one = Vector(ps[0], ps[1])
    for x in xs[:5]:
        if x > ps[2]:
            one = Skewed(one.x + x, one.y)
        elif x < ps[3]:
            one = Vector(one.y, one.x * x)
    return one.dot(Vector(1.0, 2.0))


def dataclasses_that_may_change(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    stock = Stock(ps[0])
    for x in xs:
        stock = stock.scaled(x) if x > ps[1] else Stock(stock.price, stock.amount + ps[2])
    return stock.amount * stock.price


def intervals(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The user's own ``in`` decides."""
    within, zeros = Interval(ps[0], ps[0] + 0.5 * abs(ps[1])), 0
    for x in xs:
        within = 0.8 * within * Interval(x, x + 1.0)
        if 0.0 in within:
            within, zeros = Interval(within.low + 0.1, within.high + ps[2] * ps[2]), zeros + 1
    return within.low * ps[3] + m.tanh(within.high) + 0.1 * zeros


def the_least(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best = Rank(ps[0])
    for x in xs:
        one = Rank(x * ps[1]) if x > 0.0 else Rank(x + ps[2])
        if one < best:
            best = one
    return best.value * ps[3]


def copies(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one = Vector(ps[0], ps[1])
    for x in xs:
        turned = Vector(one.y, one.x) if x > ps[2] else one
        one = copy.copy(turned) + Vector(x, ps[3])
    return one.dot(one)


@in_every_tier
@each_of(bounces, slots, two_classes, dataclasses_that_may_change, intervals, the_least, copies)
def test_one_program_takes_the_place_of_many(f: Function, tier: str) -> None:
    compiled = flips(f, 40, bound=1e-11, tier=tier)
    assert is_converted(compiled, traces=9), compiled.stats()


def compared(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, total = Vector(ps[0], 1.0), Vector(ps[1], 2.0), 0.0
    for x in xs:
        one = a if x > ps[2] else b
        total += one.x * one.y + (ps[3] * x if one == a else 0.0)
    return total


def sought(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, total = Vector(ps[0], 1.0), Vector(ps[1], 2.0), 0.0
    known = [a]
    for x in xs:
        one = a if x > ps[2] else b
        total += one.x if one in known else one.y * ps[3]
    return total


def a_key(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, total = Vector(ps[0], 1.0), Vector(ps[1], 2.0), 0.0
    prices = {a: ps[2], b: ps[3]}
    for x in xs:
        one = a if x > ps[4] else b
        total += prices[one] * one.x
    return total


def equal_dataclasses(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    first, total = Stock(ps[0]), 0.0
    for x in xs:
        one = Stock(ps[0]) if x > ps[1] else Stock(ps[1])
        total += ps[2] * x if one == first else ps[3]
    return total


def bound_methods(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, total = Vector(ps[0], 1.0), Vector(ps[1], 2.0), 0.0
    for x in xs:
        one = a if x > ps[2] else b
        method = one.dot
        total += method(a) * x if method == a.dot else method(b)
    return total


def shared_lists(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    shared = [ps[0], ps[1]]
    a, b = Holder(shared), Holder([ps[2], ps[3]])
    for x in xs:
        one = a if x > 0.0 else b
        one.items[0] = one.items[0] + x
    return shared[0] * a.items[1] + b.items[0]


def changed(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Vector(ps[0], 1.0), Vector(ps[1], 2.0)
    for x in xs:
        one = a if x > ps[2] else b
        one.x += x
    return a.x * 2.0 + b.x


def changed_by_name(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Vector(ps[0], 1.0), Vector(ps[1], 2.0)
    for x in xs:
        one = a if x > ps[2] else b
        setattr(one, "x", one.x + x)  # noqa: B010
    return a.x * 2.0 + b.x


def changed_in_their_dictionaries(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Vector(ps[0], 1.0), Vector(ps[1], 2.0)
    for x in xs:
        one = a if x > ps[2] else b
        one.__dict__["x"] += x
    return a.x * 2.0 + b.x


def is_it_the_one(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, total = Vector(ps[0], 1.0), Vector(ps[1], 2.0), 0.0
    for x in xs:
        one = a if x > ps[2] else b
        total += one.x * (2.0 if one is a else 1.0)
    return total


@each_of(
    *(compared, sought, a_key, equal_dataclasses, bound_methods, shared_lists),
    *(changed, changed_by_name, changed_in_their_dictionaries, is_it_the_one),
)
def test_what_tells_them_apart_or_changes_them_is_as_in_the_function(f: Function) -> None:
    flips(f, 60)


put, place_of = setattr, id


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def reset(self, x: Any) -> None:
        self.__init__(x, self.y)  # type: ignore[misc]

    @classmethod
    def at(cls, x: Any) -> Point:
        return cls(x, 1.0)


class Other(Point):
    pass


def begins_again(one: Point, other: Point, x: Any) -> Any:
    one.reset(one.x + x)
    return 0.0


def the_original_begins_again(one: Point, other: Point, x: Any) -> Any:
    other.reset(other.x * x)
    return one.x


def set_by_another_name(one: Point, other: Point, x: Any) -> Any:
    put(one, "x", one.x + x)
    return 0.0


def set_by_the_library(one: Point, other: Point, x: Any) -> Any:
    functools.update_wrapper(one, other, assigned=("x",), updated=())  # type: ignore[type-var]
    return 0.0


def its_place_in_memory(one: Point, other: Point, x: Any) -> Any:
    return x if place_of(one) == place_of(other) else 0.0


def its_text(one: Point, other: Point, x: Any) -> Any:
    return x if repr(one) == repr(other) else 0.0


def its_class(one: Point, other: Point, x: Any) -> Any:
    return x * {Point: 2.0, Other: 3.0}[one.__class__] * len(one.__class__.__qualname__)


def copied_with_another(one: Point, other: Point, x: Any) -> Any:
    known: dict[int, Any] = {}
    copy.deepcopy([one.y], known)
    copy.deepcopy(one, known)
    copy.deepcopy(other, known)
    return x * len(known)


def made_by_its_class(one: Point, other: Point, x: Any) -> Any:
    made = one.at(x)
    return made.x * made.y + x * len(Point.__subclasses__())


@each_of(
    *(begins_again, the_original_begins_again, set_by_another_name, set_by_the_library, its_place_in_memory),
    *(its_text, its_class, copied_with_another, made_by_its_class),
)
def test_no_way_tells_them_apart_or_changes_them_unnoticed(f: Any) -> None:
    """The first calls do not go there, so that nothing but the trace can notice."""

    def gated(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        a, b, total = Point(ps[0], 1.0), Point(ps[1], 2.0), 0.0
        for x in xs:
            one = a if x > ps[2] else b
            total += f(one, a, x)
        return a.x * 2.0 + b.x * 3.0 + total if ps[3] > 0.5 else ps[4]

    flips(gated, 60)
