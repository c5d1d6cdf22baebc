"""Lists that are kept in order in place: ``list.sort``, ``heapq``, ``bisect.insort``, and objects with a ``__lt__``."""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import retrograd as rg

pytestmark = pytest.mark.native  # the reference engine has no compiler


class Player:
    def __init__(self, rating: Any, weight: float) -> None:
        self.rating, self.weight = rating, weight

    def __lt__(self, other: Player) -> Any:
        return self.rating < other.rating


class Rated:
    def __init__(self, rating: Any, group: int) -> None:
        self.rating, self.group = rating, group

    def __lt__(self, other: Rated) -> Any:
        return (self.rating, self.group) < (other.rating, other.group)


@dataclass(order=True)
class Event:
    time: Any
    kind: int
    size: float = 1.0


@functools.total_ordering
class Total:
    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Total) -> Any:
        return self.key < other.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Total) and bool(self.key == other.key)

    __hash__ = None  # type: ignore[assignment]


def sorted_in_place(p: Any, xs: list[float]) -> Any:
    found = [p * x for x in xs]
    found.sort()
    found.append(p)
    found.sort(reverse=True)
    return found[0] + 2.0 * found[1] - found[-1] * found[2] + sum(found[2:4])


def sorted_by_a_key(p: Any, xs: list[float]) -> Any:
    rows = [(p * x, x * x) for x in xs]
    rows.sort(key=lambda row: (row[0] - 1.5) ** 2)
    return rows[0][0] * rows[0][1] - rows[-1][0] + rows[1][1]


def sorted_in_an_arm(p: Any, xs: list[float]) -> Any:
    found = [p * x for x in xs]
    total = p
    for x in xs:
        if p * x > 2.0:
            found.sort()
            total = total + found[1] * x
        else:
            found[2] = found[2] + x
    return total + found[0] * found[3]


def servers(p: Any, xs: list[float]) -> Any:
    free = [0.0, 0.1, 0.2]
    total = 0.0
    for k, x in enumerate(xs):
        start = max(0.4 * k, free[0])
        total = total + (start - 0.4 * k) ** 2
        heapq.heapreplace(free, start + p * x)
    return total + max(free) + free[0] * free[1]


def servers_with_patience(p: Any, xs: list[float]) -> Any:
    free = [0.0] * 3
    total = 0.0
    for k, x in enumerate(xs):
        start = max(0.3 * k, free[0])
        if start - 0.3 * k > 1.5 * x:
            total = total + 0.1 * p * x
            continue
        heapq.heapreplace(free, start + p * x)
        total = total + start
    return total + free[0] * free[2]


def largest_few(p: Any, xs: list[float]) -> Any:
    kept = [p * x for x in xs[:3]]
    heapq.heapify(kept)
    dropped = 0.0
    for x in xs[3:]:
        dropped = dropped + heapq.heappushpop(kept, p * x - 0.1) ** 2
    return dropped + kept[0] * kept[1] - kept[2]


def events(p: Any, xs: list[float]) -> Any:
    queue: list[Any] = []
    for k, x in enumerate(xs):
        heapq.heappush(queue, (p * x, k))
    total, clock = 0.0, 0.0
    while queue:
        time, k = heapq.heappop(queue)
        total = total + (time - clock) ** 2 * xs[k] + 0.1 * k * time
        clock = time
    return total


def events_as_objects(p: Any, xs: list[float]) -> Any:
    queue = [Event(p * x, k % 3, x) for k, x in enumerate(xs)]
    heapq.heapify(queue)
    heapq.heapreplace(queue, Event(p * 0.7, 1, 2.0))
    first = heapq.heappop(queue)
    second = queue[0]
    return first.time * first.size + second.time * 3.0 + second.kind * p


def inserted(p: Any, xs: list[float]) -> Any:
    found: list[Any] = []
    for i, x in enumerate(xs):
        if i % 2:
            bisect.insort(found, p * x)
        else:
            bisect.insort_left(found, p * x)
    return sum((b - a) ** 3 * i for i, (a, b) in enumerate(itertools.pairwise(found)))


def inserted_by_name(p: Any, xs: list[float]) -> Any:
    found = [p * xs[0]]
    for x in xs[1:]:
        bisect.insort_left(found, p * x)
        bisect.insort_right(found, p * x)
    return found[0] * found[-1] + found[3] ** 2


def by_less(p: Any, xs: list[float]) -> Any:
    board = sorted((Player(p * x, x) for x in xs), reverse=True)
    return sum((a.rating - b.rating) ** 2 * a.weight for a, b in itertools.pairwise(board))


def by_less_of_tuples(p: Any, xs: list[float]) -> Any:
    board = [Rated(p * x, k % 2) for k, x in enumerate(xs)]
    board.sort()
    return sum(one.rating * (i + 1 + one.group) for i, one in enumerate(board))


def by_dataclass(p: Any, xs: list[float]) -> Any:
    board = sorted(Event(p * x, k % 2, x) for k, x in enumerate(xs))
    return sum(one.time * one.size * (i + one.kind) for i, one in enumerate(board))


def by_total_order(p: Any, xs: list[float]) -> Any:
    board = sorted(Total(p * x) for x in xs)
    return board[0].key * board[1].key - board[-1].key


PROGRAMS: list[Callable[..., Any]] = [
    *(sorted_in_place, sorted_by_a_key, sorted_in_an_arm, servers, servers_with_patience, largest_few, events),
    *(events_as_objects, inserted, inserted_by_name, by_less, by_less_of_tuples, by_dataclass, by_total_order),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_one_program_answers_calls_of_all_orders(program: Callable[..., Any]) -> None:
    draw = random.Random(7)
    compiled = rg.compile(program)
    for _ in range(60):
        xs = [draw.choice([draw.uniform(0.5, 2.0), 1.0, 1.5]) for _ in range(6)]  # some are equal
        p = draw.uniform(0.5, 2.5)
        assert compiled.value_and_grad(p, xs) == pytest.approx(rg.value_and_grad(program)(p, xs), rel=1e-12)
    assert (compiled.stats().eager, compiled.stats().traces) == (0, pytest.approx(3, abs=3))


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")  # it is an effect: the function runs as it is
def test_a_list_that_is_there_before_is_sorted_too() -> None:
    @rg.compile
    def smallest(p: Any, given: list[Any]) -> Any:
        given.append(p)
        given.sort()
        return given[0] * given[1]

    draw = random.Random(3)
    for _ in range(12):
        numbers = [draw.random() for _ in range(3)]
        given, p = [rg.Value(x) for x in numbers], rg.Value(draw.random())
        result = smallest(p, given)
        expected = sorted([*numbers, p.data])
        assert [one.data for one in given] == expected
        assert result.data == expected[0] * expected[1]


def test_a_nan_is_sorted_as_python_does() -> None:
    @rg.compile
    def f(p: Any, xs: list[float]) -> Any:
        heap: list[Any] = []
        for x in xs:
            heapq.heappush(heap, p * x)
        return heap[0] * 2.0 + heap[-1]

    def plain(p: Any, xs: list[float]) -> Any:
        return f.scalar_function(p, xs)

    draw = random.Random(3)
    for i in range(20):
        xs = [draw.uniform(0.5, 2.0) for _ in range(5)]
        if i > 8 and i % 3 == 0:
            xs[draw.randrange(5)] = float("nan")
        found, expected = f.value_and_grad(1.5, xs), rg.value_and_grad(plain)(1.5, xs)
        assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_a_list_that_is_not_in_order_stays_so() -> None:
    @rg.compile
    def f(p: Any, xs: list[float]) -> Any:
        given = [p * x for x in xs]
        bisect.insort(given, p)
        return sum(x * i for i, x in enumerate(given))

    draw = random.Random(5)
    for _ in range(20):
        xs = [draw.uniform(0.5, 2.0) for _ in range(4)]
        if draw.random() < 0.5:
            xs.sort()
        assert f.value_and_grad(1.0, xs) == pytest.approx(rg.value_and_grad(f.scalar_function)(1.0, xs), rel=1e-12)


class Odd:
    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Odd) -> Any:
        return self.key * 2.0 < other.key + 1.0


class Counted:
    asked = 0

    def __init__(self, own: Any) -> None:
        self.own = own

    @property
    def key(self) -> Any:
        Counted.asked += 1
        return self.own

    def __lt__(self, other: Counted) -> Any:
        return self.key < other.key


@pytest.mark.parametrize("kind", [Odd, Counted])
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_a_less_than_that_does_more_is_asked(kind: Any) -> None:
    def f(p: Any, xs: list[float]) -> Any:
        board = sorted(kind(p * x) for x in xs)
        return board[0].key * board[1].key ** 2

    compiled, draw = rg.compile(f), random.Random(5)
    for _ in range(5):
        xs = [draw.uniform(0.5, 2.0) for _ in range(4)]
        assert compiled.value_and_grad(1.0, xs) == pytest.approx(rg.value_and_grad(f)(1.0, xs), rel=1e-12)
