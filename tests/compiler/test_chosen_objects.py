"""Objects that decisions choose: read, called, compared, and changed, each under the condition that it is the one."""

from __future__ import annotations

import abc
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from support.flipping import Function, each_of, flips, in_every_tier, is_converted

import retrograd as rg
from retrograd import math

pytestmark = pytest.mark.native


class Mode(enum.Enum):
    HEAT = 1
    COOL = 2
    OFF = 3


class Tank:
    """A level, and how often something was filled in."""

    scale = 0.5

    def __init__(self, level: Any) -> None:
        self.level, self.fills, self.mode = level, 0, Mode.OFF
        self.next: Tank | None = None

    def is_new(self) -> bool:
        return self.fills < 2

    def fill(self, x: Any) -> Any:
        self.level = self.level + 0.1 * x
        self.fills += 1
        if self.level > 1.0:
            self.level = 1.0 + (self.level - 1.0) * 0.5
        return self.level

    @property
    def half(self) -> Any:
        return self.level * self.scale

    def __add__(self, other: Tank) -> Tank:
        return Tank(self.level + other.level)


@dataclass
class Guess:
    """One that can change, with an equality of its own."""

    cost: Any
    place: int


class Law(abc.ABC):
    @abc.abstractmethod
    def of(self, x: Any) -> Any: ...


class Line(Law):
    def __init__(self, slope: Any) -> None:
        self.slope = slope

    def of(self, x: Any) -> Any:
        return self.slope * x


class Curve(Law):
    def __init__(self, slope: Any) -> None:
        self.steepness = slope

    def of(self, x: Any) -> Any:
        return math.tanh(self.steepness * x)


class Leaf:
    def __init__(self, value: Any) -> None:
        self.value = value


class Split:
    def __init__(self, at: Any, low: Any, high: Any) -> None:
        self.at, self.low, self.high = at, low, high


class Pair(NamedTuple):
    weight: Any
    tank: Tank


def one_of_two(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Tank(ps[0]), Tank(ps[1])
    for x in xs:
        c = a if a.level < b.level else b
        c.level = c.level + 0.1 * x * ps[2]
        c.fills += 1
    return a.level * b.level + a.fills * ps[3]


def the_least(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Its methods change it, in an arm of their own."""
    tanks = [Tank(p) for p in ps[:4]]
    total = 0.0
    for x in xs[:6]:
        low, high = min(tanks, key=lambda t: t.level), max(tanks, key=lambda t: t.level)
        total += low.fill(x) + high.half
        if low is not high:
            low.level, high.level = low.level + 0.1, high.level - 0.1
    return total + tanks[0].level * tanks[1].fills


def in_order(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    tanks = sorted((Tank(p * x) for p, x in zip(ps[:5], xs, strict=False)), key=lambda t: t.level)
    return sum(k * tank.level for k, tank in enumerate(tanks))


def tree_of_two_classes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low, high = Split(ps[1], Leaf(ps[2]), Leaf(ps[3])), Split(ps[4], Leaf(ps[5]), Leaf(ps[6]))
    total = 0.0
    for x in xs:
        node: Any = Split(ps[0], low, high)
        while isinstance(node, Split):
            node = node.low if x < node.at else node.high
        total += (node.value - x) ** 2
    return total


def linked(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """None ends the list."""
    first, second, third = Tank(ps[0]), Tank(ps[1]), Tank(ps[2])
    first.next, second.next = second, third
    total = 0.0
    for x in xs:
        now = first
        while now.next is not None and now.level < x:
            now = now.next
        total += now.level * x
    return total


def modes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Members of an Enum, told by identity, by equality, among others, and as keys."""
    mode, level, counts = Mode.OFF, ps[0], {Mode.HEAT: 0, Mode.COOL: 0, Mode.OFF: 0}
    gains = {Mode.HEAT: ps[1], Mode.COOL: ps[2], Mode.OFF: 0.1}
    for x in xs:
        if mode is Mode.HEAT:
            mode = Mode.COOL if x > 0.5 else mode
        elif mode == Mode.COOL:
            mode = Mode.OFF if x < 0.0 else Mode.HEAT
        elif x > 0.3:
            mode = Mode.HEAT
        if mode in (Mode.HEAT, Mode.COOL):
            level = level + gains[mode] * x
        if mode is not Mode.OFF and level > 1.0:
            level = 1.0 + 0.5 * (level - 1.0)
        counts[mode] += 1
    return level * counts[Mode.HEAT] + counts[Mode.OFF] * ps[3]


def modes_of_objects(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    tanks = [Tank(ps[0]), Tank(ps[1])]
    for x in xs:
        tank = tanks[0] if x < 0.0 else tanks[1]
        tank.mode = Mode.HEAT if tank.level < x else Mode.COOL
        tank.level = tank.level + (ps[2] if tank.mode is Mode.HEAT else ps[3]) * 0.1
    return tanks[0].level - tanks[1].level


def texts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A text, asked whether it is among others."""
    total = ps[0]
    for x in xs:
        kind = "a" if x < -0.3 else "b" if x < 0.3 else "c"
        if kind in ("a", "c"):
            total = total * ps[1]
        if kind not in {"b", "d"}:
            total = total + ps[2] * x
    return total


def of_two_laws(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Made in the arms, of two classes with a common abstract one."""
    law: Law = Line(ps[0])
    total = 0.0
    for x in xs[:8]:
        total = total + law.of(x)
        if total > 0.5:
            law = Curve(ps[1])
        elif total < -0.5:
            law = Line(ps[2] * x)
    return total


def functions(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def up(x: Any) -> Any:
        return ps[0] * x

    total = 0.0
    for x in xs:
        function = up if x < 0.2 else math.tanh
        total += function(ps[1] * x)
    return total


def dictionaries(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low, high = {"k": ps[0], "c": ps[1]}, {"k": ps[2], "c": ps[3]}
    for x in xs:
        law = low if x < 0.0 else high
        law["c"] += 0.1 * law["k"] * x
    return low["c"] * high["c"] + high.get("k", 0.0)


def best_so_far(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best = Guess(1e3, -1)
    for place, x in enumerate(xs):
        cost = (x - ps[0]) ** 2 + 0.1 * ps[1] * x
        if cost < best.cost:
            best = Guess(cost, place)
    return best.cost + ps[best.place]


def records_with_objects(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best = None
    for p, x in zip(ps[:5], xs, strict=False):
        pair = Pair(p * x, Tank(p))
        if best is None or pair.weight > best.weight:
            best = pair
    return best.weight * best.tank.half if best is not None else 0.0


def operators(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Tank(ps[0]), Tank(ps[1])
    total = 0.0
    for x in xs:
        c, d = (a, b) if x < 0.0 else (b, a)
        total += (c + Tank(x)).level * 0.5 + (Tank(ps[2]) + d).half
    return total


def aliases(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Two names of one object; one that another holds; one that stands in a list twice."""
    a, b = Tank(ps[0]), Tank(ps[1])
    row = [a, b, a]
    for x in xs:
        if x > 0.0:
            a.next = b
        else:
            a.next = a
        k = 0
        while k < 2 and x > 0.5 * k:
            k += 1
        row[k].level += 0.1
        a.next.level = a.next.level * 0.9 + 0.1 * x
        if a.next is not a:
            a, b = b, a
    return row[0].level + 2.0 * row[1].level


class Owned:
    """A part that knows its whole: what a call makes of them stays until the garbage collector comes by."""

    def __init__(self, owner: Any, level: Any) -> None:
        self.owner, self.level, self.last = owner, level, None


class Owner:
    def __init__(self, levels: Sequence[Any]) -> None:
        self.parts = [Owned(self, level) for level in levels]


def in_a_cycle(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The last parts that are computed are no part of the result, and hold the constants that it has."""
    owner, total = Owner([p * 1.0 for p in ps[:3]]), 0.0
    for x in xs[:5]:
        for part in owner.parts:
            part.level = part.level + (0.3 if x > part.level else 0.1)
            part.last = part.level * (2.0 if x > 0.1 else 3.0)
        total += sum([owner.parts[0].level, 1.0, owner.parts[1].level * x]) + max(owner.parts[2].last, 0.5)
    return total


def methods_of_one(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What a method gives of the object that was chosen decides."""
    tanks, total = {"low": Tank(ps[0]), "high": Tank(ps[1])}, 0.0
    for x in xs:
        tank = tanks["low" if x < 0.0 else "high"]
        rate = 0.3 if tank.is_new() else 0.1
        total += tank.level * x
        tank.level += rate * x
        tank.fills += 1
    return total


@in_every_tier
@each_of(
    *(in_a_cycle, methods_of_one),
    *(one_of_two, the_least, in_order, tree_of_two_classes, linked, modes, modes_of_objects, texts, of_two_laws),
    *(functions, dictionaries, best_so_far, records_with_objects, operators, aliases),
)
def test_one_program_takes_the_place_of_many(f: Function, tier: str) -> None:
    compiled = flips(f, 40, tier=tier)
    assert is_converted(compiled, traces=9), compiled.stats()


def asks_for_its_type(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for x in xs[:4]:
        law = Line(ps[0]) if x < 0.0 else Curve(ps[1])
        total += ps[2] * x if type(law) is Line else law.of(x)
    return total


def is_kept_by_its_id(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = Tank(ps[0]), Tank(ps[1])
    seen: dict[int, Any] = {}
    for x in xs[:4]:
        one = a if x < 0.0 else b
        seen[id(one)] = seen.get(id(one), 0.0) + x * one.level
    return sum(seen.values())


def is_matched(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for x in xs[:4]:
        match Line(ps[0]) if x < 0.0 else Curve(ps[1]):
            case Line(slope=slope):
                total += slope * x
            case _:
                total -= x * ps[2]
    return total


def is_printed(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for x in xs[:4]:
        guess = Guess(ps[0], 1) if x < 0.0 else Guess(ps[1], 2)
        total += guess.cost * len(f"{guess.place}{guess.place > 1}") * x
    return total


def is_equal(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """By a method that ``@dataclass`` wrote."""
    total, first = 0.0, Guess(1.0, 1)
    for x in xs[:4]:
        guess = first if x < 0.0 else Guess(1.0, 2)
        total += ps[0] * x if guess == Guess(1.0, 1) else ps[1]
    return total


def lacks_an_attribute(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What the function raises, and catches."""
    total = 0.0
    for x in xs[:3]:
        law: Any = Line(ps[0]) if x < 0.0 else Curve(ps[1])
        try:
            total += law.slope * x
        except AttributeError:
            total += ps[2]
    return total


def runs_in_rows(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Lists of two lengths."""
    short, long = [ps[0], ps[1]], [ps[2], ps[3], ps[4]]
    return sum(p * x for x in xs[:4] for p in (short if x < 0.0 else long))


@pytest.mark.parametrize(
    "f",
    [asks_for_its_type, is_kept_by_its_id, is_matched, is_printed, is_equal, lacks_an_attribute, runs_in_rows],
    ids=lambda f: f.__name__,
)
def test_what_cannot_be_asked_of_each_is_what_the_function_says(f: Function) -> None:
    flips(f, 60)


def test_an_attribute_that_one_of_them_lacks_raises_as_in_the_function() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total = 0.0
        for x in xs:
            law: Any = Line(ps[0]) if x < 2.0 else Curve(ps[1])
            total += law.slope * (1.0 if x < 0.0 else ps[2])
        return total

    compiled, ps = rg.compile(f), [0.1 * k for k in range(12)]
    for seed in range(12):
        xs = [0.3 * ((seed * k) % 5 - 2) for k in range(3)]
        assert compiled.value_and_grad(ps, xs)[0] == pytest.approx(f(ps, xs), rel=1e-12)
    xs[1] = 3.0
    with pytest.raises(AttributeError, match="slope"):
        compiled.value_and_grad(ps, xs)


def test_an_object_that_is_a_result_is_the_one_that_was_chosen() -> None:
    def f(p: Any, x: float) -> Any:
        low, high = {"cost": p * x, "place": 1}, {"cost": p - x, "place": 2}
        return [low if p * x < 0.5 else high, p]

    compiled = rg.compile(f)
    for k in range(20):
        p, x = 0.1 * k, 0.3 * (k % 5)
        assert compiled(p, x) == f(p, x)
