"""Taped code of names that stand for several things, of iterators that are kept, and of keywords from a dictionary."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from retrograd import math as rm
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


# --- letters of texts, rows of the op table that C's library lacks, and what has no order -----------------------


def of_letters(xs: list[Any], dna: str, other: str) -> Any:
    total = 0.0
    for i in range(len(dna)):
        total = total * 0.9 + (xs[0] if dna[i] == "A" else xs[1]) * (2 if dna[-i - 1] == "G" else 1)
    for i, c in enumerate(dna):
        if c in ("C", "G"):
            total += xs[2] * i
    score = {"A": xs[0], "C": xs[1], "G": xs[2], "T": 0.5}
    for c, d in zip(dna, other, strict=False):
        total += score[c] * score[d] if c != d else 0.1
    return total + sum(score[c] for c in other)


def test_letters_of_texts() -> None:
    assert_same(of_letters, [([0.5, 1.5, -1.0], "GATTACA", "CATTAGA"), ([0.25, 1.0, 2.0], "GATTACA", "CATTAGA")])
    calls = [("GATTACA", "CATTAGA"), ("TTT", "CATTAGA"), ("GAXXACA", "CATTAGA"), ("GATTACA", "A")]
    assert_same(of_letters, [([0.5, 1.5, -1.0], *each) for each in calls], answers=2)  # the others are new to it

    def beyond(xs: list[Any], dna: str, at: int) -> Any:
        return xs[0] * (2.0 if dna[at + 1] == "A" else 1.0)

    calls_at = [([0.5], "AC", at) for at in (-1, 0, -3, 1, -4, 7)]
    assert_same(beyond, calls_at, answers=3)


def of_gamma(xs: list[Any]) -> Any:
    return rm.lgamma(xs[0] * xs[0] + 1.0) + rm.gamma(2.0 + xs[1] * xs[1]) + rm.digamma(1.5 + xs[2] * xs[2])


def test_gamma_and_its_derivatives() -> None:
    assert_same(of_gamma, drawn(numbers(3)))


def test_what_has_no_order_is_not_compared() -> None:
    def in_heap(xs: list[Any], are_alike: bool) -> Any:
        heap: list[Any] = []
        for number, x in enumerate(xs):
            heapq.heappush(heap, (1.0 if are_alike else abs(x), 0 if are_alike else number, Body(x, 2.0)))
        total = 0.0
        while heap:
            by, number, body = heapq.heappop(heap)
            total = total * 0.5 + by * body.mass * number
        return total

    calls = [([0.5, -1.0, 2.0], False), ([0.5, -1.0, 2.0, 0.1], False), ([0.5, 1.0], True), ([0.5], True)]
    assert_same(in_heap, calls, answers=3)


def test_an_iterator_with_a_default() -> None:
    def by_name(xs: list[Any]) -> Any:
        def day(arrivals: Any) -> Any:
            arrivals = iter(arrivals)
            total = 0.0

            def arrive() -> Any:
                row = next(arrivals, None)
                return -1.0 if row is None else row * 2.0

            for _ in range(10):
                total = total * 0.8 + arrive()
            return total

        return day(xs) + day([xs[0]])

    assert_same(by_name, drawn(numbers(5)))


def unread(xs: list[Any]) -> Any:
    rows = [("a", x, 2.0) for x in xs]
    total = 0.0
    for _, size, _ in rows:
        total += size * size
    for _ in range(3):
        total = total * 0.5 + sum(x for _, x, _ in rows)
    _, first, *_ = rows[0]
    _ = "the end"
    return total + first


def test_names_that_nothing_reads() -> None:
    assert_same(unread, drawn(numbers(8)))


def test_an_iterator_and_a_parameter_of_its_name() -> None:
    """Each function has a variable of its own."""

    def of_a_count(xs: list[Any]) -> Any:
        rest = iter(xs)

        def ask(rest: Any) -> Any:
            return next(rest)

        return next(rest) * ask(itertools.count(5))

    def of_its_own(xs: list[Any]) -> Any:
        def total(rest: Any) -> Any:
            rest = iter(rest)
            return next(rest) + 2.0 * next(rest)

        return total(xs) * total([xs[1], xs[0]])

    for function in (of_a_count, of_its_own):
        assert_same(function, drawn(numbers(5)))
