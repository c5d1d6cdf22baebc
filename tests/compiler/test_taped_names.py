"""Taped code of names that stand for several things, of iterators that are kept, and of keywords from a dictionary."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn, numbers

    from retrograd.compiler.taped.types import NotTypedError


class Body:
    def __init__(self, mass: Any, place: Any, speed: Any = 1.0) -> None:
        self.mass, self.place, self.speed = mass, place, speed


# --- one name in several loops and blocks ---------------------------------------------------------------------


def several_loops(xs: list[Any]) -> Any:
    total = 0.0
    for p in xs:
        total += p * p
    for p in itertools.pairwise(xs):
        total += p[0] * p[1]
    for p in [Body(x, 2.0) for x in xs]:
        total += p.mass * p.place
    return total


def several_blocks(xs: list[Any]) -> Any:
    total = 0.0
    for p, q in itertools.pairwise(xs):
        if p > q:
            r = (p, q)
            total += r[0] * r[1]
        else:
            r = p * q
            r = r + 1.0
            total -= r
    n = 3
    while n:
        n -= 1
        p = Body(xs[n], n)
        total += p.mass * p.place
        for q in [p, p]:
            total += q.mass
    return total


def one_loop_in_another(xs: list[Any]) -> Any:
    total = 0.0
    for x in xs:
        y = x * x
        for x in (1.0, 2.0):
            y += x
        total += x * y
    for x in xs[:2]:
        total += x
    return total + x


def read_behind(xs: list[Any]) -> Any:
    total = 0.0
    for k, x in enumerate(xs):
        if k % 2:
            y = x
        else:
            y = 2.0 * x
            total -= x
        y = y + 1.0
        total += y * x
    for y in xs:
        total += y
    out = [y * 2 for y in xs]
    for y in out:
        total += y
    return total


def or_none(xs: list[Any]) -> Any:
    last = None
    for x in xs:
        if last is not None:
            step = x - last
            last = x * step
        else:
            last = x
    for step in range(3):
        last = last * 0.5 + step
    return last


NAMES = [several_loops, several_blocks, one_loop_in_another, read_behind, or_none]


@pytest.mark.parametrize("function", NAMES, ids=lambda function: function.__name__)
def test_one_name_for_several_things(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(8)))


# --- iterators that are kept ----------------------------------------------------------------------------------


def asked_in_a_loop(xs: list[Any]) -> Any:
    total, rest = 0.0, iter(xs)
    for k in range(5):
        total = total * 0.5 + next(rest) * k
    return total


def asked_by_a_function(xs: list[Any]) -> Any:
    weights = iter((1.0, 2.5, 3.0))
    total = xs[0]

    def weight() -> float:
        return next(weights)

    for k in range(3):
        total += xs[k] * weight()
    return total


def in_turn(xs: list[Any]) -> Any:
    turn, total = itertools.cycle(xs[:3]), 0.0
    for x in xs:
        total += x * next(turn) * next(turn)
    return total


def of_what_grows(xs: list[Any]) -> Any:
    items = [xs[0]]
    turn, kept, total = itertools.cycle(items), iter(items), 0.0
    for k in range(6):
        total += next(turn) * next(kept)
        items.append(xs[k] * 2.0)
    return total


def after_what_was_there(xs: list[Any]) -> Any:
    items = [xs[0], xs[1]]
    turn, total = itertools.cycle(items), 0.0
    for k in range(7):
        total = total * 0.5 + next(turn) * (k + 1)
        if k == 2:  # it has begun again
            items.append(xs[2])
    return total


ITERATORS = [asked_in_a_loop, asked_by_a_function, in_turn, of_what_grows, after_what_was_there]


@pytest.mark.parametrize("function", ITERATORS, ids=lambda function: function.__name__)
def test_iterators_that_are_kept(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(8)))


def test_at_the_end_of_an_iterator_the_function_raises() -> None:
    def asks_too_often(xs: list[Any], times: int) -> Any:
        rest, total = iter(xs), 0.0
        for _ in range(times):
            total += next(rest)
        return total

    assert_same(asks_too_often, [([0.5, 1.5], 1), ([0.5, 1.5], 2), ([0.5, 1.5], 3)], answers=2)


def test_iterators_of_what_is_no_list_are_refused() -> None:
    def of_keys(xs: list[Any]) -> Any:
        keys = iter({1: 0.5, 0: 2.0})
        return sum(xs[next(keys)] for _ in range(2))

    def of_pairs(xs: list[Any]) -> Any:
        pairs, total = iter(itertools.pairwise(xs)), 0.0
        for _ in range(2):
            one, other = next(pairs)
            total += one * other
        return total

    def own_iter(xs: list[Any]) -> Any:
        def iter(items: list[Any]) -> list[Any]:  # noqa: A001
            return items[::-1]

        rest = iter(xs)
        return xs[0] * next(rest)  # type: ignore[call-overload]

    for function in (of_keys, of_pairs, own_iter):
        with pytest.raises(NotTypedError):
            code_of(function, ([0.5, 1.5, -1.0],))


# --- keywords from a dictionary -------------------------------------------------------------------------------


def keywords(xs: list[Any]) -> Any:
    def moment(mass: Any, place: Any = 1.0) -> Any:
        return mass * place

    rows = [{"mass": x, "place": 2.0} for x in xs]
    extra = {"speed": xs[0]}
    bodies = [Body(**row) for row in rows]
    bodies.append(Body(xs[1], 3.0, **extra))
    bodies.append(Body(mass=xs[2], place=1.0, **extra))
    return sum(b.mass * b.place * b.speed for b in bodies) + sum(moment(**row) for row in rows)


def of_data(xs: list[Any], rows: list[dict[str, float]]) -> Any:
    return sum(x * Body(**row).place for x, row in zip(xs, rows, strict=False))


def test_keywords_from_a_dictionary() -> None:
    assert_same(keywords, drawn(numbers(8)))
    rows = [{"mass": 1.0, "place": 0.5 * k} for k in range(4)]
    assert_same(of_data, [([0.5, 1.5, -1.0], rows), ([0.5, -2.0], rows)])


def test_keywords_that_are_there_twice_and_those_of_a_class_in_c() -> None:
    def twice(xs: list[Any]) -> Any:
        row = {"mass": xs[0], "place": xs[1]}
        return Body(**row, mass=xs[2]).mass

    def of_a_class_in_c(xs: list[Any]) -> Any:
        return xs[0] * float(**{"x": 1.0}.copy())

    for function in (twice, of_a_class_in_c):
        with pytest.raises(NotTypedError):
            code_of(function, ([0.5, 1.5, -1.0],))


# --- dictionaries whose keys are known -------------------------------------------------------------------------


def of_some_keys(xs: list[Any]) -> Any:
    home = {"a": xs[0], "b": xs[1], "c": 2.0, "rest": [1, 2]}
    some = {k: home[k] for k in ("a", "b", "c")}

    def combined(a: Any, b: Any, c: Any) -> Any:
        return a * b + c

    halves = {k: 0.5 * v for k, v in some.items()}
    return combined(**some) + combined(**halves) + sum(halves.values())


def by_kind(xs: list[Any]) -> Any:
    totals: dict[str, Any] = {k: 0.0 for k in ("up", "down")}  # noqa: C420
    lists: dict[str, list[Any]] = {k: [] for k in ("up", "down")}
    for x in xs:
        k = "up" if x > 0 else "down"
        totals[k] += x * x
        lists[k].append(x)
    squares = totals["up"] * 2 + totals["down"]
    return squares + sum(lists["up"]) + sum(len(v) * sum(v) for v in lists.values()) * xs[0]


def with_another_key(xs: list[Any]) -> Any:
    names = ("p", "q")
    values: dict[str, Any] = dict(zip(names, xs, strict=False))
    numbers_of = {n: i for i, n in enumerate(names)}
    but_one = {n: 1.0 for n in names if n != "p"}
    values["r"] = xs[2]
    return values["p"] * numbers_of["q"] + values["q"] + values["r"] * but_one["q"]


def one_key_twice(xs: list[Any]) -> Any:
    found = {k: v for k, v in (("a", 1.0), ("a", xs[0]), ("b", xs[1]))}  # noqa: C416
    return found["a"] * 2 + found["b"] * len(found)


KEYS = [of_some_keys, by_kind, with_another_key, one_key_twice]


@pytest.mark.parametrize("function", KEYS, ids=lambda function: function.__name__)
def test_a_comprehension_over_known_texts(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(8)))
