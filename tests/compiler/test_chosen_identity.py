"""What a function asks of a chosen object beside what it computes with it: which one it is, its methods, its protocols;
and what is left in the user's objects after a trace."""

from __future__ import annotations

import random
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from support.flipping import Function, draw, flips

import retrograd as rg

pytestmark = pytest.mark.native


class Part:
    def __init__(self, value: Any) -> None:
        self.value, self.count = value, 0
        self.link: Part | None = None

    def cost(self, x: Any) -> Any:
        return self.value * x


class Long(Part):
    def __len__(self) -> int:
        return 2


class Open(Part):
    def __enter__(self) -> Open:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Sum(Part):
    def __add__(self, other: Any) -> Sum:
        return Sum(self.value + other)

    def __iadd__(self, other: Any) -> Sum:
        self.value = self.value + other
        return self


class Alike(Part):
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return True


@dataclass(frozen=True)
class Frozen:
    value: Any


class Pair(NamedTuple):
    value: Any
    other: Any


def low_of(things: Sequence[Any], xs: Sequence[float]) -> Any:
    """One of three."""
    return things[0] if xs[0] < -0.4 else things[1] if xs[0] < 0.4 else things[2]


def in_a_dictionary(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A chosen object among others, one of which is chosen."""
    a, b, c = Part(ps[0]), Part(ps[1]), Part(ps[2])
    best = min((a, b, c), key=lambda part: abs(part.value - xs[0]))
    team = {"x": best, "y": c}
    who = team["x" if xs[1] < 0.0 else "y"]
    return who.value * (2.0 if who is best else 1.0) * (3.0 if who is c else 1.0)


def is_it_the_one_there_may_be(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Part(ps[0]), Part(ps[1])
    first = a if xs[0] < 0.0 else None
    a.link = b if xs[2] > 0.0 else None
    total = ps[3] * (1.0 if xs[1] < 0.0 else 2.0)
    for part in (a, b):
        if part is not first:
            total = total + part.value
        if a.link is part:
            total = total * 0.5
        if a.link is first:
            total = total - ps[4]
    return total


class Named:
    """Its attributes have names that a tracer in its place may use itself."""

    def __init__(self, value: Any) -> None:
        self.thing, self.tests, self.trial = value, [value, value], 2.0
        self.key, self.things, self.site, self.entries, self.kind = value, [value], 0.5, 3.0, 4.0

    def present(self) -> Any:
        return self.thing * self.site

    def plain(self) -> Any:
        return self.entries * self.kind


def names_of_attributes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    first = None
    for p, x in zip(ps, xs, strict=True):
        if x > 0.0:
            first = Named(p * x)
    low = low_of([Named(ps[0]), Named(ps[1]), Named(ps[2])], xs)
    total = low.thing + low.tests[1] * low.trial + low.key * low.site + low.things[0] + low.present() * low.plain()
    if first is None:
        return total
    return total * first.thing + first.tests[1] * first.trial + first.present() + first.plain()


def in_place(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, c = Sum(ps[0]), Sum(ps[1]), Sum(ps[2])
    low = low_of([a, b, c], xs)
    low += ps[3]
    return low_of([a, b, c], xs[1:]).value + low.value


def a_record_is_another_one(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, c = Frozen(ps[0]), Frozen(ps[1]), Frozen(ps[2])
    low = low_of([a, b, c], xs)
    pair = Pair(ps[3], ps[4]) if xs[1] < 0.0 else Pair(ps[5], ps[6])
    other = pair if xs[2] < 0.0 else Pair(ps[7], ps[8])
    return low.value * (2.0 if low is a else 1.0) + other.value * (3.0 if other is pair else 1.0)


def a_number_is_another_one(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low = low_of([Part(ps[0]), Part(ps[1]), Part(ps[2])], xs)
    return low.value * (2.0 if low.value is ps[0] else 1.0)


def methods(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Compared, looked up, and bound before the object gets one of its own."""
    a, b, c = Part(ps[0]), Part(ps[1]), Part(ps[2])
    low = low_of([a, b, c], xs)
    cost = low.cost
    total = {a.cost: 2.0}.get(cost, 1.0) * ps[3]
    a.cost = lambda x: 9.0 * x  # type: ignore[method-assign]
    return cost(total) if cost == b.cost else cost(total * xs[1])


def protocols(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low = low_of([Part(ps[0]), Long(ps[1]), Long(ps[2])], xs)
    return low.value * (2.0 if hasattr(low, "__len__") else 1.0)


def protocols_that_are_missing(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low = low_of([Open(ps[0]), Part(ps[1]), Part(ps[2])], xs)
    try:
        with low as opened:
            return opened.value * 3.0
    except (AttributeError, TypeError):
        return low.value * 5.0


def asked_from_the_other_side(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, alike = Part(ps[0]), Part(ps[1]), Alike(ps[2])
    low = low_of([a, b, alike], xs)
    return low.value * 3.0 if low in (b,) else low.value


def patterns(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    chosen: Any = {"a": ps[0]} if xs[0] < 0.0 else {"b": ps[1]}
    match chosen:
        case {"a": value}:
            return value * xs[1]
        case _:
            return ps[2] * xs[2]


def large_ints(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Part(ps[0]), Part(ps[1])
    a.count, b.count = 2**53 + 1, 2**53
    low = a if xs[0] < 0.0 else b
    return low.value * (low.count % 10)


@pytest.mark.parametrize(
    "f",
    [
        names_of_attributes,
        *(in_a_dictionary, is_it_the_one_there_may_be, in_place, a_record_is_another_one, a_number_is_another_one),
        *(methods, protocols, protocols_that_are_missing, asked_from_the_other_side, patterns, large_ints),
    ],
    ids=lambda f: f.__name__,
)
def test_the_answer_is_the_functions(f: Function) -> None:
    flips(f, 80)


held = [Part(1.0), Part(2.0), Part(3.0)]


def restores(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low = low_of(held, xs)
    old, low.value = low.value, xs[1]
    total = ps[0] * (low.value + held[0].value)
    low.value = old
    return total


def sets_and_resets(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low = low_of(held, xs)
    low.count, low.link = 3, held[1]
    total = ps[0] * (low.value + held[0].count)
    low.count, low.link = 0, None
    return total


@pytest.mark.parametrize("f", [restores, sets_and_resets], ids=lambda f: f.__name__)
def test_no_tracer_is_left_in_objects_that_were_there(f: Function) -> None:
    compiled = rg.compile(f)
    for seed in range(20):
        ps, xs = draw(seed)
        assert compiled(ps, xs) == pytest.approx(f(ps, xs), rel=1e-12)
        assert [(part.value, part.count, part.link) for part in held] == [
            (1.0, 0, None),
            (2.0, 0, None),
            (3.0, 0, None),
        ]
        assert {type(part.value) for part in held} == {float}


def test_what_the_plain_run_leaves_as_it_is_and_another_call_does_not() -> None:
    """The trace stores a traced number where there was an equal one."""
    level = Part(1.0)

    def f(p: Any, x: float) -> Any:
        level.value = max(level.value, x)
        return p * level.value

    compiled = rg.compile(f)
    for x, wanted in ((0.25, 1.0), (0.5, 1.0), (2.0, 2.0), (1.5, 2.0), (3.0, 3.0)):
        assert compiled(2.0, x) == 2.0 * wanted
        assert (level.value, type(level.value)) == (wanted, float)


def test_containers_get_back_what_they_held_in_their_order() -> None:
    levels, queue = OrderedDict(a=1.0, b=2.0), deque([1.0, 2.0])

    def f(p: Any, x: float) -> Any:
        levels["a"], queue[0] = max(levels["a"], x), max(queue[0], x)
        return p * levels["a"] * queue[0]

    compiled = rg.compile(f)
    for x, wanted in ((0.25, 2.0), (2.0, 8.0), (1.5, 8.0)):
        assert compiled(2.0, x) == wanted
        assert {type(one) for one in (*levels.values(), *queue)} == {float}
    levels.move_to_end("a")
    assert levels.popitem() == ("a", 2.0)
    assert list(levels) == ["b"]


def none_again(p: float, x: float, y: float) -> Any:
    hot = x > 0.0
    last = None
    if hot:
        last = 2.0
    if hot:
        last = None
    if hot:
        last = None
    total = p * (last if last is not None else 0.5)
    return total + y if y > 0.0 else total


def cancelled_twice(p: float, x: float, y: float) -> Any:
    order, hot = None, x > 0.0
    if hot:
        order = p * x
    total = 0.5 * p
    if hot:
        total, order = total + 1.0, None
    if y > 0.0:
        order = None
    if hot:
        order = None
    if order is not None:
        total += order * 10.0 + 7.0
    return total


@pytest.mark.parametrize("function", [none_again, cancelled_twice], ids=lambda function: function.__name__)
def test_what_is_none_in_both_arms_is_none(function: Callable[..., Any]) -> None:
    chance, compiled = random.Random(1), rg.compile(function)
    for _ in range(60):
        call = chance.gauss(0, 1), chance.gauss(0, 1), chance.gauss(0, 1)
        value, gradient = compiled.value_and_grad(*call)
        wanted, slope = rg.value_and_grad(function)(*call)
        assert (value, gradient) == (pytest.approx(wanted), pytest.approx(slope))
