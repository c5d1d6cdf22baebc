"""Texts among the arguments: a program reads those that differ from call to call, and is made for the others."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd.compiler.calls.varying import IN_LIST, Varying, between
from retrograd.compiler.reports.reasons import Reason

pytestmark = pytest.mark.native

PARAMETERS = [0.3, -0.5, 0.7]
STAGES = ["I", "II", "III"]


def patients(draw: random.Random, count: int = 8) -> list[dict[str, Any]]:
    return [
        {
            "x": draw.gauss(0, 1),
            "sex": draw.choice("MF"),
            "stage": draw.choice(STAGES),
            "name": f"patient {draw.randrange(10**6)}",
            "score": str(draw.randrange(9)),
            "link": draw.choice(["exp", "tanh", "sin"]),
        }
        for _ in range(count)
    ]


def check(f: Callable[..., Any], calls: int = 40, make: Callable[[random.Random], Any] = patients) -> Any:
    """Each call gives what the plain function gives; what its statistics are after that."""
    draw, compiled = random.Random(7), rg.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(calls):
            data = make(draw)
            (value, gradient), (wanted, its) = (one(PARAMETERS, data) for one in (compiled.value_and_grad, plain(f)))
            assert type(value) is type(wanted)
            assert [value, *gradient] == pytest.approx([wanted, *its], rel=1e-9, abs=1e-12)
    return compiled.stats()


def plain(f: Callable[..., Any]) -> Any:
    return rg.value_and_grad(f)


def effects(p: Any, rows: Any) -> Any:
    total = 0.0 * p[0]
    for row in rows:
        eta = p[0] * row["x"]
        if row["sex"] == "M":
            eta = eta + p[1]
        if row["stage"] in ("II", "III"):
            eta = eta * p[2]
        total = total + eta * eta
    return total


def coefficients(p: Any, rows: Any) -> Any:
    coefficient = {"I": p[0], "II": p[1], "III": p[2]}
    return sum((coefficient[row["stage"]] * row["x"] - 1.0) ** 2 for row in rows)


def pairs(p: Any, rows: Any) -> Any:
    return sum(p[0] if one["stage"] == other["stage"] else p[1] for one in rows for other in rows)


def matched(p: Any, rows: Any) -> Any:
    total = p[2] * 1.0
    for row in rows:
        match row["stage"]:
            case "I":
                total = total + p[0] * row["x"]
            case "II":
                total = total * p[1]
    return total


@pytest.mark.parametrize(("f", "traces"), [(effects, 5), (coefficients, 9), (pairs, 5), (matched, 6)])
def test_categories_are_read(f: Callable[..., Any], traces: int) -> None:
    stats = check(f)
    assert stats.eager == 0
    assert stats.traces <= traces


def test_a_text_that_nothing_asks_for_may_be_any() -> None:
    stats = check(lambda p, rows: sum(p[0] * row["x"] for row in rows))
    assert (stats.eager, stats.traces) == (0, 2)


def grows(p: Any, rows: Any) -> Any:
    strata: dict[str, Any] = {}
    for row in rows:
        strata[row["stage"]] = strata.get(row["stage"], 0.0) + p[0] * row["x"]
    return sum(one * one * len(key) for key, one in strata.items())


def numbers(p: Any, rows: Any) -> Any:
    return sum(p[0] * int(row["score"]) + p[1] * float(row["score"]) for row in rows)


def attributes(p: Any, rows: Any) -> Any:
    return sum(getattr(rm, row["link"])(p[0] * row["x"]) for row in rows)


def letters(p: Any, rows: Any) -> Any:
    return sum(p[0] if letter == "1" else p[1] for row in rows for letter in row["name"])


def joined(p: Any, rows: Any) -> Any:
    return p[0] * len("-".join(row["stage"] for row in rows)) + p[1] * len("a" + rows[0]["stage"] + f"{rows[1]['sex']}")


def swallowed(p: Any, rows: Any) -> Any:
    """A tracer raises TypeError where the text does not."""
    try:
        return p[0] * len(" ".join([rows[0]["stage"]]))
    except TypeError:
        return p[1] * 2.0


def ordered(p: Any, rows: Any) -> Any:
    return sum(i * p[0] * row["x"] for i, row in enumerate(sorted(rows, key=lambda row: row["stage"])))


def among_texts(p: Any, rows: Any) -> Any:
    return sum(p[0] if row["stage"] in "III" else p[1] * row["x"] for row in rows)


def never_equal(p: Any, rows: Any) -> Any:
    return sum(p[0] * row["x"] if row["stage"] == "IV" else p[1] for row in rows)


@pytest.mark.parametrize(
    "f", [grows, numbers, attributes, letters, joined, swallowed, ordered, among_texts, never_equal]
)
def test_other_uses_give_what_the_function_gives(f: Callable[..., Any]) -> None:
    check(f)


def test_a_text_that_comes_later_is_no_other() -> None:
    """A comparison that no text until now fulfils is not known to be false."""
    compiled = rg.compile(never_equal)
    for stages in (["I", "II"], ["II", "I"], ["III", "I"], ["IV", "I"], ["I", "IV"]):
        rows = [{"x": 0.5 + i, "stage": stage} for i, stage in enumerate(stages)]
        assert compiled.value_and_grad(PARAMETERS, rows) == plain(never_equal)(PARAMETERS, rows)


def test_too_many_texts_are_part_of_the_program() -> None:
    def f(p: Any, rows: Any) -> Any:
        return sum(p[0] * row["x"] for row in rows if row["name"] != "")

    stats = check(f, calls=60)
    assert stats.reasons.get(Reason.BACKING_OFF.value, 0) > 20  # as it always did


def test_a_mode_has_a_program_for_each() -> None:
    def loss(p: Any, xs: Any, reduction: str) -> Any:
        total = sum((p[0] * x - p[1]) ** 2 for x in xs)
        return total / len(xs) if reduction == "mean" else total

    compiled = rg.compile(loss)
    for reduction in ["sum", "mean", "mean", "sum"] * 5:
        xs = [0.5, 1.5]
        assert compiled.value_and_grad(PARAMETERS, xs, reduction) == plain(loss)(PARAMETERS, xs, reduction)
    assert compiled.stats().eager == 0
    assert compiled.stats().traces <= 3


def test_where_texts_differ() -> None:
    def of(*specs: tuple[Any, ...]) -> tuple[Any, ...]:
        return "sequence", list, [*specs]

    one, other = ("equal", "a"), ("equal", "b")
    column = (IN_LIST,)
    assert between(of(one), of(one)) == Varying()
    assert between(of(one), of(other)) == Varying(
        read=frozenset({column}), texts=frozenset({(column, "a"), (column, "b")})
    )
    assert between(of(one), of(("equal", 1))) is None
    found = between(of(("text", 0, {})), of(other))
    assert found is not None
    assert found.texts_in(column) == {"b"}
