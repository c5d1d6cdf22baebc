"""What is None in some calls: a program reads whether it is there, where the code that asks for that is converted."""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest
from support.counted_programs import check, check_taped
from support.outcomes import are_alike, outcome

import retrograd as rg
import retrograd.math as rm

pytestmark = pytest.mark.native

PARAMETERS = [0.7, 1.2, 0.4]


@dataclass
class Row:
    t: float
    y: float | None
    n: int | None = None
    zone: str | None = None

    @property
    def is_missing(self) -> bool:
        return self.y is None


class Pair(NamedTuple):
    t: float
    y: float | None


def maybe(draw: random.Random, thing: Any) -> Any:
    return None if draw.random() < 0.4 else thing


def rows(draw: random.Random) -> list[Row]:
    return [
        Row(
            draw.random(), maybe(draw, draw.gauss(0, 1)), maybe(draw, draw.randrange(4)), maybe(draw, draw.choice("ab"))
        )
        for _ in range(7)
    ]


def checked(function: Callable[..., Any], make: Callable[[random.Random], Any] = rows, programs: int = 2) -> Any:
    """Sixty calls with other things missing in each: the first one's program, and one for all others."""
    draw = random.Random(3)
    return check(function, PARAMETERS, [make(draw) for _ in range(60)], programs)


def skipped(p: Any, data: Any) -> Any:
    total = 0.0
    for row in data:
        if row.y is None:
            continue
        total += (row.y - p[0] * rm.exp(p[1] * row.t)) ** 2
    return total


def filled(p: Any, data: Any) -> Any:
    return sum(((row.y if row.y is not None else p[2]) - p[0] * row.t) ** 2 for row in data)


def filled_with_or(p: Any, data: Any) -> Any:
    return sum(((row.y or 0.25) - p[0] * row.t) ** 2 + (row.n or 2) * p[1] for row in data)


def of_those_there(p: Any, data: Any) -> Any:
    there = [row for row in data if row.y is not None]
    return sum((row.y - p[0]) ** 2 for row in there) / max(len(there), 1)


def of_property(p: Any, data: Any) -> Any:
    return sum(p[2] * p[2] if row.is_missing else (row.y - p[0]) ** 2 for row in data)


def of_helper(p: Any, data: Any) -> Any:
    def term(row: Row) -> Any:
        if row.y is None:
            return 0.5 * p[2]
        r = row.y - p[0]
        return r * r if abs(r) < 1.0 else 2.0 * abs(r) - 1.0

    return sum(map(term, data))


def of_default(p: Any, data: Any) -> Any:
    def square(t: float, y: float | None = None, weight: float | None = None) -> Any:
        weight = 1.0 if weight is None else weight
        return weight * (t if y is None else y - p[0]) ** 2

    return sum(square(row.t, row.y, row.n) for row in data)


def last_one_seen(p: Any, data: Any) -> Any:
    total, last = 0.0, None
    for row in data:
        if row.y is not None:
            if last is not None:
                total += (row.y - last - p[0] * row.t) ** 2
            last = row.y
    return total


def carried_forward(p: Any, data: Any) -> Any:
    ys, last = [row.y for row in data], p[2]
    for i, y in enumerate(ys):
        if y is None:
            ys[i] = last
        else:
            last = y
    return sum((y - p[0]) ** 2 for y in ys)


def sorted_and_largest(p: Any, data: Any) -> Any:
    ys = sorted(row.y for row in data if row.y is not None)
    largest = max((row.y for row in data if row.y is not None), default=p[0])
    return sum((k + 1) * p[0] * y for k, y in enumerate(ys)) + largest * p[1]


def counted(p: Any, data: Any) -> Any:
    missing = sum(row.y is None for row in data)
    return missing * p[0] + sum(1 for row in data if row.n is not None) * p[1] * p[1]


def of_texts(p: Any, data: Any) -> Any:
    rates = {"a": p[0], "b": p[1]}
    total = 0.0
    for row in data:
        total += rates.get(row.zone, p[2]) * row.t + (p[1] if row.zone == "a" else p[0] * p[0])
        total += rates[row.zone or "b"]
    return total


def of_key(p: Any, data: Any) -> Any:
    return sum({"a": p[0], "b": p[1], None: p[2]}[row.zone] * row.t for row in data)


def of_ints(p: Any, data: Any) -> Any:
    levels = [p[0], p[1], p[2], p[0] * p[1]]
    return sum((levels[row.n] if row.n is not None else p[2]) * row.t + (row.n == 2) * p[1] for row in data)


def matched(p: Any, data: Any) -> Any:
    total = 0.0
    for row in data:
        match row.zone:
            case None:
                total += p[0]
            case "a":
                total += p[1] * row.t
            case _:
                total += p[2]
    return total


def neighbours(p: Any, data: Any) -> Any:
    total = 0.0
    for one, other in itertools.pairwise(data):
        if one.y is None or other.y is None:
            continue
        total += (other.y - one.y * p[0]) ** 2
    return total


ASKING = [
    *(skipped, filled, filled_with_or, of_property, of_helper, of_default, last_one_seen),
    *(carried_forward, counted, of_texts, of_key, of_ints, matched, neighbours),
]


@pytest.mark.parametrize("function", ASKING, ids=lambda function: function.__name__)
def test_one_program_whatever_is_missing(function: Callable[..., Any]) -> None:
    checked(function)


@pytest.mark.parametrize("function", [of_those_there, sorted_and_largest], ids=lambda function: function.__name__)
def test_lists_of_those_that_are_there(function: Callable[..., Any]) -> None:
    draw = random.Random(3)
    check_taped(function, PARAMETERS, [rows(draw) for _ in range(60)])


def test_of_named_tuples_dictionaries_and_lists() -> None:
    def of_pairs(p: Any, data: Any) -> Any:
        total, level = 0.0, 0.0
        for t, y in data:
            level = p[0] * level + p[1] * t
            if y is not None:
                total += (y - level) ** 2
                level = y
        return total

    def of_dictionaries(p: Any, data: Any) -> Any:
        total = 0.0
        for row in data:
            y = row.get("y")
            if y is None or row["t"] > 0.8:
                continue
            total += (y - p[0]) ** 2
        return total

    def of_lists(p: Any, data: Any) -> Any:
        return sum((y - p[j]) ** 2 for row in data for j, y in enumerate(row) if y is not None)

    checked(of_pairs, lambda draw: [Pair(draw.random(), maybe(draw, draw.random())) for _ in range(8)])
    checked(of_dictionaries, lambda draw: [{"t": draw.random(), "y": maybe(draw, draw.random())} for _ in range(8)])
    checked(of_lists, lambda draw: [[maybe(draw, draw.gauss(0, 1)) for _ in range(3)] for _ in range(5)])


def test_machine_code() -> None:
    draw = random.Random(4)
    check(skipped, PARAMETERS, [rows(draw) for _ in range(30)], 2, tier="llvm")


def awkward(draw: random.Random) -> list[Row]:
    numbers = [0.0, -0.0, 2.0, math.nan, draw.gauss(0, 1)]
    return [
        Row(
            draw.random(),
            maybe(draw, draw.choice(numbers)),
            maybe(draw, draw.randrange(-1, 3)),
            draw.choice(["", "a", None]),
        )
        for _ in range(5)
    ]


def to_the_letter(function: Callable[..., Any]) -> None:
    """Forty calls give what the function gives, of the same types, and change of the arguments what it changes."""
    draw, compiled = random.Random(8), rg.compile(function, exact=False)
    for _ in range(40):
        data = awkward(draw)
        mine = copy.deepcopy(data)
        assert are_alike(outcome(compiled, PARAMETERS, mine), outcome(function, PARAMETERS, data))
        assert repr(mine) == repr(data)


def test_what_is_asked_otherwise() -> None:
    def caught(p: Any, data: Any) -> Any:
        try:
            return p[0] * data[0].y
        except TypeError:
            return p[1] * 1.0

    def replaced(p: Any, data: Any) -> Any:
        return p[0] * sum(replace(row, y=0.5 if row.y is None else row.y).y for row in data)

    def raising(p: Any, data: Any) -> Any:
        if data[0].y is None and data[1].t > 0.5:
            raise KeyError("missing")
        return p[0] * (data[1].y if data[1].y is not None else 1)

    for function in (
        lambda p, data: ([row.y for row in data], p[0] * data[0].t),
        lambda p, data: {"y": data[0].y, "n": data[1].n, "zone": data[2].zone, "is": data[0].n is None, "p": p[0]},
        lambda p, data: p[0] * sum(type(row.y) is float for row in data) + sum(isinstance(row.n, int) for row in data),
        lambda p, data: p[0] * len(str(data[0].y)) + len(f"{data[1].zone}"),
        lambda p, data: p[0] if data[0] == data[1] else p[1] * data[0].t,
        lambda p, data: p[0] * len({row.zone for row in data}) + len({row.n for row in data}),
        lambda p, data: p[0] * sum(row.y not in (None, 0.0) for row in data),
        lambda p, data: p[0] * (data[0].y is data[1].y),
        lambda p, data: p[0] * (data[0].n if data[0].n is not None else 1.5),
        lambda p, data: p[0] * bool(data[0].y) + bool(data[0].n) * 2.0 + bool(data[0].zone) * 4.0,
        lambda p, data: p[0] / data[0].y if data[0].y is not None else p[1],
        lambda p, data: math.copysign(p[0], data[0].y if data[0].y is not None else -1.0),
        lambda p, data: p[0] * data[0].y,
        lambda p, data: p[data[0].n or 0],
        caught,
        replaced,
        raising,
    ):
        to_the_letter(function)


def test_an_argument_that_the_function_fills_in() -> None:
    def fills(p: Any, data: Any) -> Any:
        for row in data:
            if row.y is None:
                row.y = 0.25
        return p[0] * data[0].t

    to_the_letter(fills)


def test_exact_programs_convert_nothing() -> None:
    draw, compiled = random.Random(2), rg.compile(skipped, exact=True)
    for _ in range(20):
        data = rows(draw)
        assert compiled.value_and_grad(PARAMETERS, data) == rg.value_and_grad(skipped)(PARAMETERS, data)


def test_the_guards_say_so() -> None:
    assert "a float, or None" in checked(skipped).guards()
