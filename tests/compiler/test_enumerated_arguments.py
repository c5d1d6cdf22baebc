"""Members of enumerations that differ from call to call: one program selects by which they are."""

from __future__ import annotations

import copy
import enum
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from support.counted_programs import check
from support.outcomes import are_alike, outcome

import retrograd as rg

pytestmark = pytest.mark.native

PARAMETERS = [0.7, 1.2, 0.4]


class Kind(enum.Enum):
    A = "a"
    B = "b"
    C = "c"


class Ordered(enum.Enum):
    LOW = 1
    HIGH = 2

    def __lt__(self, other: Ordered) -> bool:
        return bool(self.value < other.value)


class Material(enum.Enum):
    STEEL = (200.0, 7.8)
    WOOD = (10.0, 0.6)
    AIR = (0.1, 0.001)

    def __init__(self, modulus: float, density: float) -> None:
        self.modulus, self.density = modulus, density

    @property
    def ratio(self) -> float:
        return self.modulus / self.density

    def stiffness(self, height: float) -> float:
        return self.modulus * height**3

    def is_solid(self) -> bool:
        return self is not Material.AIR


@dataclass
class Row:
    t: float
    kind: Kind
    material: Material
    other: Kind | None = None


def rows(draw: random.Random) -> list[Row]:
    return [
        Row(draw.random(), draw.choice([*Kind]), draw.choice([*Material]), draw.choice([None, *Kind])) for _ in range(7)
    ]


def checked(function: Callable[..., Any], make: Callable[[random.Random], Any] = rows) -> Any:
    """Sixty calls with other members in each: the first one's program, and one for all others."""
    draw = random.Random(3)
    return check(function, PARAMETERS, [make(draw) for _ in range(60)], 2)


def asked(p: Any, data: Any) -> Any:
    total = 0.0
    for row in data:
        if row.kind is Kind.A:
            total += p[0] * row.t
        elif row.kind == Kind.B or row.kind in (Kind.C,):
            total += p[1] * row.t * row.t
    return total


def looked_up(p: Any, data: Any) -> Any:
    rates, some = {Kind.A: p[0], Kind.B: p[1], Kind.C: p[2]}, {Kind.A: p[2]}
    return sum(rates[row.kind] * row.t + some.get(row.kind, p[1]) + rates[row.other or Kind.B] for row in data)


def matched(p: Any, data: Any) -> Any:
    total = 0.0
    for row in data:
        match row.kind:
            case Kind.A:
                total += p[0] * row.t
            case Kind.B:
                total += p[1]
            case _:
                total += p[2] * row.t
    return total


def of_attributes(p: Any, data: Any) -> Any:
    return sum(p[0] * row.material.modulus * row.t + p[1] * row.material.ratio for row in data)


def of_methods(p: Any, data: Any) -> Any:
    return sum(row.material.stiffness(row.t) * (p[0] if row.material.is_solid() else p[1]) for row in data)


def of_names(p: Any, data: Any) -> Any:
    return sum((p[0] if row.kind.value == "a" else p[1]) * (p[2] if row.kind.name == "B" else 1.0) for row in data)


def optional(p: Any, data: Any) -> Any:
    total = 0.0
    for row in data:
        if row.other is None:
            total += p[2]
            continue
        total += p[0] * row.t if row.other is Kind.A else p[1]
    return total


def chosen_functions(p: Any, data: Any) -> Any:
    laws = {Kind.A: lambda t: p[0] * t, Kind.B: lambda t: p[1] * t * t, Kind.C: lambda t: p[2]}
    return sum(laws[row.kind](row.t) for row in data)


def added_up(p: Any, data: Any) -> Any:
    counts, totals = dict.fromkeys(Kind, 0), dict.fromkeys(Kind, 0.0)
    for row in data:
        counts[row.kind] += 1
        totals[row.kind] = totals[row.kind] + p[0] * row.t
    return sum(p[i] * counts[kind] * totals[kind] for i, kind in enumerate(Kind))


FUNCTIONS = [asked, looked_up, matched, of_attributes, of_methods, of_names, optional, chosen_functions, added_up]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_one_program_whichever_they_are(function: Callable[..., Any]) -> None:
    checked(function)


def test_in_lists_tuples_and_dictionaries() -> None:
    checked(
        lambda p, data: sum(p[0] if kind is Kind.A else p[1] * p[2] for kind in data),
        lambda draw: [draw.choice([*Kind]) for _ in range(6)],
    )
    checked(
        lambda p, data: sum(p[0] * t if kind is Kind.A else p[1] for t, kind in data),
        lambda draw: [(draw.random(), draw.choice([*Kind])) for _ in range(6)],
    )
    checked(
        lambda p, data: sum(p[0] * row["t"] if row["kind"] is Kind.A else p[1] for row in data),
        lambda draw: [{"t": draw.random(), "kind": draw.choice([*Kind])} for _ in range(6)],
    )


class Unlike(enum.Enum):
    """Members that are equal to each other, and of which one is false."""

    X = 1
    Y = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unlike)

    def __hash__(self) -> int:
        return 7

    def __bool__(self) -> bool:
        return bool(self.value)


def test_what_is_asked_otherwise() -> None:
    def caught(p: Any, data: Any) -> Any:
        try:
            return {Kind.A: p[0] * 1.0}[data[0].kind]
        except KeyError:
            return p[1] * 1.0

    def changed(p: Any, data: Any) -> Any:
        for row in data:
            if row.kind is Kind.A:
                row.kind = Kind.B
        return p[0] * sum(row.kind is Kind.B for row in data)

    for function in (
        lambda p, data: ([row.kind for row in data], p[0] * data[0].t),
        lambda p, data: {"kind": data[0].kind, "name": data[1].kind.name, "other": data[2].other, "p": p[0]},
        lambda p, data: p[0] * sum(row.kind < Kind.C for row in data) if data[0].t > 0.5 else p[1] * 1.0,
        lambda p, data: p[0] * len({row.kind for row in data}) + len(str(data[0].kind)),
        lambda p, data: p[0] if data[0].kind is data[1].kind else p[1] * 1.0,
        lambda p, data: p[0] if data[0].kind == data[1].other else p[1] * 1.0,
        lambda p, data: p[0] * [*Kind].index(data[0].kind) + ord(data[1].kind.value),
        lambda p, data: p[0] * isinstance(data[0].kind, Kind) + (type(data[0].kind) is Kind),
        lambda p, data: {Kind.A: p[0] * 1.0, Kind.B: p[1] * 2.0}[data[0].kind],
        lambda p, data: sum(p[0] * row.t for row in sorted(data, key=lambda row: row.kind.value)[:2]),
        lambda p, data: p[0] if (data[0].kind, data[1].kind) == (Kind.A, Kind.B) else p[1] * 1.0,
        caught,
        changed,
    ):
        draw, compiled = random.Random(8), rg.compile(function)
        for _ in range(40):
            data = rows(draw)
            mine = copy.deepcopy(data)
            assert are_alike(outcome(compiled, PARAMETERS, mine), outcome(function, PARAMETERS, data))
            assert mine == data


def alike(function: Callable[..., Any], members: list[Any]) -> None:
    """Forty calls with lists of members give what the function gives, gradients included."""
    draw, compiled = random.Random(8), rg.compile(function)
    for _ in range(40):
        data = [draw.choice(members) for _ in range(4)]
        assert are_alike(compiled.value_and_grad(PARAMETERS, data), rg.value_and_grad(function)(PARAMETERS, data))


def test_members_with_equality_of_their_own() -> None:
    def function(p: Any, data: Any) -> Any:
        return (
            p[0] * sum(one == Unlike.X for one in data)
            + p[1] * sum(1 for one in data if one)
            + p[2] * (data[0] is Unlike.X)
        )

    alike(function, [*Unlike])


def test_members_that_are_equal_are_told_apart() -> None:
    def function(p: Any, data: Any) -> Any:
        return sum(p[0] if one is Unlike.X else p[1] for one in data)

    checked(function, lambda draw: [draw.choice([*Unlike]) for _ in range(4)])


def test_members_of_a_large_enumeration() -> None:
    large: Any = enum.Enum("large", [f"m{i}" for i in range(80)])  # type: ignore[misc]

    def function(p: Any, data: Any) -> Any:
        return sum(p[0] if one is large.m3 else p[1] for one in data)

    alike(function, [*large])


def test_members_with_an_order() -> None:
    def function(p: Any, data: Any) -> Any:
        return p[0] * sum(one < Ordered.HIGH for one in data) + sum(
            p[1] if one is Ordered.LOW else p[2] for one in data
        )

    alike(function, [*Ordered])


def test_a_member_whose_attribute_changes() -> None:
    class Mutable(enum.Enum):
        P = 1
        Q = 2

        def __init__(self, weight: int) -> None:
            self.weight = float(weight)

    def function(p: Any, data: Any) -> Any:
        return p[0] * sum(one.weight for one in data)

    draw, compiled = random.Random(8), rg.compile(function)
    for turn in range(40):
        Mutable.Q.weight = 5.0 if 15 < turn < 30 else 2.0
        data = [Mutable.P if turn == 0 else draw.choice([*Mutable]) for _ in range(4)]
        assert compiled.value_and_grad(PARAMETERS, data)[0] == pytest.approx(function(PARAMETERS, data))


def test_the_guards_say_so() -> None:
    assert "one of Kind.A, Kind.B, Kind.C" in checked(asked).guards()
