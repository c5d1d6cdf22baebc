"""Taped code of functions as people write them: classes that inherit, iterators, dictionaries of functions."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import operator
import random
from abc import ABC, abstractmethod
from bisect import insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn, numbers

    from retrograd.compiler.taped.types import NotTypedError


# --- classes ------------------------------------------------------------------------------------------------


class Policy(ABC):
    """What inherits from it is of several classes in one list."""

    rate = 0.25

    def __init__(self, size: Any) -> None:
        self.size = size

    @abstractmethod
    def worth(self, t: float) -> Any: ...

    @property
    def weight(self) -> Any:
        return self.size * self.rate

    @classmethod
    def twice(cls, size: Any) -> Any:
        return cls(2.0 * size)

    @staticmethod
    def discount(t: float) -> float:
        return 1.0 / (1.0 + t)

    def total(self) -> Any:
        return sum(self.worth(0.5 * t) * self.discount(t) for t in range(3)) + self.weight


class Fixed(Policy):
    def worth(self, t: float) -> Any:
        return self.size + t


class Growing(Policy):
    rate = 0.5

    def __init__(self, size: Any, growth: Any) -> None:
        super().__init__(size)
        self.growth = growth

    def worth(self, t: float) -> Any:
        return self.size * (1.0 + self.growth * t)

    @property
    def weight(self) -> Any:
        return 0.1 * super().weight

    def total(self) -> Any:
        return super().total() * 2.0


KINDS: dict[str, Any] = {"fixed": Fixed, "growing": Growing}


def policies(xs: list[Any]) -> Any:
    made = [Fixed(x) if i % 2 else Growing(x, xs[0]) for i, x in enumerate(xs)]
    made.append(Fixed.twice(xs[1]))
    total = 0.0
    for one in made:
        if isinstance(one, Growing):
            total += one.growth * xs[1]
        total += one.total() if one.size > 0 else one.size
    kind = "fixed" if xs[0] > xs[1] else "growing"
    other = KINDS["fixed"](xs[2]) if kind == "fixed" else Growing(xs[2], 0.5)
    return total + other.total()


class Slotted:
    __slots__ = ("_x", "y")

    def __init__(self, x: Any) -> None:
        self.x = x
        self.y = 1.0

    @property
    def x(self) -> Any:
        return self._x

    @x.setter
    def x(self, given: Any) -> None:
        self._x = given * 2.0

    def __iter__(self) -> Iterator[Any]:
        return iter([self._x, self.y])


def slots(xs: list[Any]) -> Any:
    one = Slotted(xs[0])
    while one.x < 3.0:
        one.x = abs(one.x) + 0.5
        one.y += xs[1]
    return one.x * one.y + sum(part for part in one)


class Matrix:
    def __init__(self, rows: Iterable[Iterable[Any]]) -> None:
        self.rows = [list(row) for row in rows]

    def __getitem__(self, key: tuple[int, int]) -> Any:
        i, j = key
        return self.rows[i][j]

    def __setitem__(self, key: tuple[int, int], value: Any) -> None:
        self.rows[key[0]][key[1]] = value

    def __matmul__(self, other: Matrix) -> Matrix:
        columns = list(zip(*other.rows, strict=True))
        return Matrix([[sum(a * b for a, b in zip(r, c, strict=True)) for c in columns] for r in self.rows])

    @property
    def transposed(self) -> Matrix:
        return Matrix(zip(*self.rows, strict=True))


def matrices(xs: list[Any]) -> Any:
    one = Matrix([[xs[0], xs[1]], [xs[2], 1.0]])
    two = one @ one.transposed
    while two[0, 0] > 1.0:
        two[0, 0] = two[0, 0] * 0.5
    return two[0, 0] * two[1, 0] + two[1, 1]


@dataclass(order=True)
class Event:
    time: Any
    number: int
    who: str | None = None


@dataclass(frozen=True)
class State:
    level: Any
    count: int = 0


class Row(NamedTuple):
    x: Any
    y: Any

    def area(self) -> Any:
        return self.x * self.y


def events(xs: list[Any]) -> Any:
    heap: list[Event] = []
    for i, x in enumerate(xs):
        heapq.heappush(heap, Event(x * x, i, "a" if i % 2 else None))
    total, state = 0.0, State(xs[0])
    while heap:
        event = heapq.heappop(heap)
        state = replace(state, level=0.5 * state.level + event.time, count=state.count + 1)
        if event.who is not None and state.level > 0.2 and state.count < 8:
            heapq.heappush(heap, replace(event, time=event.time + 0.3, number=event.number + 10))
        total += state.level * state.count
    return total + (1.0 if State(1.0) == State(1.0) else xs[0])


def rebound(xs: list[Any]) -> Any:
    rows = [(x, 2.0) for x in xs]
    rows = [Row(*row) for row in rows]
    rows = [row._replace(y=row.y * xs[0]) if row.x > 0 else row for row in rows]
    total = 0.0
    for row in rows:
        total += row.area()
    total = total if total > 0 else total * 0.5
    return total


# --- functions ----------------------------------------------------------------------------------------------


def call(s: Any, k: Any) -> Any:
    return rm.maximum(s - k, 0.0)


def put(s: Any, k: Any) -> Any:
    return rm.maximum(k - s, 0.0)


def summed(*items: Any, scale: Any = 1.0) -> Any:
    return sum(items) * scale


def of_options(xs: list[Any], **options: Any) -> Any:
    return xs[0] * options["scale"] if options["on"] else xs[1]


PAYOFFS = {"call": call, "put": put}
OPERATORS = {"+": operator.add, "*": operator.mul}


def functions(xs: list[Any]) -> Any:
    payoff = call if xs[0] > 0 else put
    kind, sign = ("call", "+") if xs[1] > 0 else ("put", "*")
    total = payoff(xs[0], xs[1]) + PAYOFFS[kind](xs[2], 0.5) + OPERATORS[sign](xs[1], xs[2])
    near = functools.partial(call, k=xs[1])
    half = functools.partial(summed, 0.5, scale=xs[0])
    worth = Growing(xs[2], xs[0]).worth
    while total < 1.0:
        total += abs(near(xs[0])) + abs(half(1.0, xs[1])) + 0.1 + worth(0.1) ** 2
    product = functools.reduce(lambda a, b: a * b, [x + 3.0 for x in xs])
    product += functools.reduce(operator.add, xs, 1.0) + math.prod(xs) + 2 ** len(xs)
    return total + product + of_options(xs, scale=2.0, on=xs[0] > 0)


def doubling(x: Any) -> Callable[[Any], Any]:
    y = x + x

    def twice(z: Any) -> Any:
        return y * z

    return twice


def adding(x: Any) -> Callable[[Any], Any]:
    return lambda z: x + z


def made_functions(xs: list[Any]) -> Any:
    @functools.cache
    def fibonacci(n: int) -> Any:
        if n < 2:
            return xs[n]
        return fibonacci(n - 1) * 0.7 + fibonacci(n - 2) * 0.5

    @functools.cache
    def cheapest(i: int, j: int) -> Any:
        if i == 0 or j == 0:
            return xs[2] * (i + j)
        one, other = cheapest(i - 1, j), cheapest(i, j - 1)
        return one if one < other else other * 0.9 + xs[0]

    double, more, less = doubling(xs[0]), adding(xs[1]), adding(xs[2])
    total = fibonacci(40) + cheapest(15, 12)
    for x in xs:
        while double(x) > 1.0:
            x = more(x) * 0.1
        total += less(x)
    return total


def tried(xs: list[Any]) -> Any:
    total = 0.0
    for x in xs:
        try:
            if x > 1.9:
                raise ValueError
            y = 1.0 / x
        except (ZeroDivisionError, ValueError):
            y = 0.0
        else:
            y = y * 0.5
        finally:
            total += 0.1
        total += y
    return total


# --- iterators ----------------------------------------------------------------------------------------------


def shifted(stream: Iterable[Any], by: Any) -> Iterator[Any]:
    for item in stream:
        if item + by > -1.5:
            yield item + by


def smoothed(stream: Iterable[Any], width: int) -> Iterator[Any]:
    window: deque[Any] = deque(maxlen=width)
    for item in stream:
        window.append(item)
        if len(window) == width:
            yield sum(sorted(window)[1:]) / width


def pipelines(xs: list[Any]) -> Any:
    stream = shifted(xs, xs[0])
    stream = smoothed(stream, 3)
    kept = list(stream)
    total = sum(itertools.takewhile(lambda one: one < 2.0, kept))
    for before, after in itertools.pairwise(itertools.chain(kept, xs)):
        total += abs(after - before)
    for one in itertools.islice(itertools.dropwhile(lambda one: one > 0.5, xs), 2):
        total += one
    return total + sum(itertools.accumulate(xs)) + sum(itertools.starmap(call, zip(xs, kept, strict=False)))


def pairs(xs: list[Any]) -> Any:
    total = 0.0
    for (i, x), (j, y) in itertools.combinations(enumerate(xs), 2):
        if x > y:
            total += x * y / (1 + i + j)
    for x, k in itertools.product(xs, range(3)):
        if x * k > 1.0:
            break
        total += x * k
    return total


def windows(xs: list[Any]) -> Any:
    last: deque[Any] = deque([0.0, 0.0], 2)
    first: deque[Any] = deque(maxlen=3)
    total = 0.0
    for x in xs * 3:
        while last[0] > x and len(last) == 2:
            last.append(x)
        first.appendleft(x)
        total += sum(first) * len(first) + last[-1]
    queue = deque(xs)
    queue.extendleft(xs[:2])
    return total + queue[0] * xs[0]


# --- dictionaries and lists ---------------------------------------------------------------------------------


def dictionaries(xs: list[Any]) -> Any:
    groups: defaultdict[int, list[Any]] = defaultdict(list)
    sums: defaultdict[str, Any] = defaultdict(float)
    for i, x in enumerate(xs):
        groups[i % 3 if x > 0 else 7].append(x)
        sums["up" if x > 0 else "down"] += x
    defaults = {"a": 1.0, "b": xs[0]}
    settings = {**defaults, "b": xs[1]}
    queues = {"fast": deque(xs), "slow": deque([xs[0]])}
    found: dict[int, Any] = {}
    found.update({len(group): sum(group) for group in groups.values()})
    name = "fast" if xs[0] > 0 else "slow"
    total = queues[name].popleft() + settings["a"] * settings["b"]
    for key in sorted(found):
        total += key * found[key]
    return total + sums["up"] * sums["down"] + len(sums)


def many_keys(xs: list[Any]) -> Any:
    """More keys than are compared one by one: they have an index."""
    values: dict[Any, Any] = {}
    places: dict[tuple[int, float], int] = {}
    seen: set[float] = set()
    total = 0.0
    for k in range(90):
        key = (k * 37) % 41
        values[key] = values.get(key, 0.5) + xs[k % len(xs)]
        place = (k % 13, 0.25 * (k % 5) - 0.5)
        places[place] = places.get(place, 0) + k
        seen.add(0.5 * (k % 17) if k % 2 else -0.0 * k)
        if k % 29 == 28:
            total += values.pop(key)
            seen.discard(0.0)
        if key not in values or 0.0 in seen:
            total += 0.1 * len(values) * len(seen)
        if 3.0 in values:
            total += values[3.0]
    queue = deque(values)
    while len(queue) > 3:
        total += values[queue.popleft()] * places.get((len(queue) % 13, -0.25), 2)
    return total + sum(values[key] * key for key in sorted(values))


def lists(xs: list[Any]) -> Any:
    order: list[Any] = []
    for x in xs:
        insort(order, x)
    both = [*order, xs[0], *(x for x in xs if x > 0)]
    total = 0.0
    while both:
        total = 0.7 * total + both.pop() * len(both)
    return total + order[0] * [1, 2, 1, 3].count(1)


CASES = [
    *(
        policies,
        slots,
        matrices,
        events,
        rebound,
        functions,
        made_functions,
        pipelines,
        pairs,
        windows,
        dictionaries,
        many_keys,
        lists,
    ),
]


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_the_code_of_a_function_gives_what_it_gives(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(6)))


def test_what_is_tried_is_left_to_the_function_where_it_fails() -> None:
    assert_same(tried, [([0.5, -1.0, 1.5],), ([0.5, 2.0, 1.0],), ([0.3, 0.4, 1.2],), ([0.0, 1.0, 1.0],)], answers=2)


def test_a_window_stays_as_long_as_it_may_be() -> None:
    def long(xs: list[Any], width: int) -> Any:
        window: deque[Any] = deque(maxlen=width)
        total = 0.0
        for x in xs:
            window.append(x)
            total += x * len(window)
        return total

    calls = [([0.1 * k for k in range(count)], 5) for count in (3, 5, 6, 9, 30)]
    assert_same(long, calls)


def test_instances_of_several_classes_come_from_outside() -> None:
    def worth(xs: list[Any], given: list[Policy]) -> Any:
        total = 0.0
        for x, one in zip(xs, given, strict=False):
            while total < one.total() and one.weight > 0.01:
                total += x * x + 0.05
        return total

    def made(source: random.Random) -> tuple[Any, ...]:
        kinds = [Fixed(source.random()) if source.random() < 0.5 else Growing(source.random(), 0.5) for _ in range(5)]
        return [source.uniform(0.1, 1.0) for _ in range(5)], [Fixed(0.3), Growing(0.2, 0.1), *kinds]

    assert_same(worth, drawn(made))


# --- what Python does otherwise than it looks -----------------------------------------------------------------


def display_in_order(xs: list[Any]) -> Any:
    groups: defaultdict[str, Any] = defaultdict(float)
    groups["a"] = xs[0]
    made = {**groups, "c": groups["b"] + xs[1], **groups}
    return made["a"] * 2.0 + made["b"] + made["c"] * len(made)


def assigned_by_another(xs: list[Any]) -> Any:
    def bump() -> None:
        nonlocal i
        i = i * 10

    total = 0.0
    for i in (1, 2, 3):
        bump()
        total += i * xs[0]
    return total


def bound_to_super(xs: list[Any]) -> Any:
    class_method = Growing(xs[0], xs[1]).total
    near = functools.partial(summed, xs[1], scale=3.0)
    return class_method() + near(scale=2.0)


def keys_alone(xs: list[Any]) -> Any:
    pairs = {(1, 2): xs[0], (3, 4): xs[1]}
    total = 0.0
    for one, other in [*pairs, *deque(pairs)]:
        total += one * other * pairs[one, other]
    return total + len(pairs) + len({"a": xs[0]})


@pytest.mark.parametrize("function", [display_in_order, assigned_by_another, bound_to_super, keys_alone])
def test_python_is_followed_to_the_letter(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(3)))


def extends_by_a_set(xs: list[Any]) -> Any:
    items = list(xs)
    items.extend({0.5, 0.25, 0.125})
    return items[-1] * xs[0]


def leaves_in_else(xs: list[Any]) -> Any:
    total = 0.0
    for x in xs:
        try:
            y = x * x
        except ValueError:
            y = 0.0
        else:
            break
        finally:
            total += 1.0
        total += y
    return total * xs[0]


def closes(xs: list[Any], log: list[float]) -> Iterator[Any]:
    try:
        yield from xs
    finally:
        log.append(1.0)


def generator_is_closed(xs: list[Any]) -> Any:
    log: list[float] = []
    total = 0.0
    for x in closes(xs, log):
        total += x
        break
    return total + len(log)


class Worse:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __lt__(self, other: Worse) -> bool:
        return bool(self.x < other.x - 0.5)

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


def sorts_by_no_order(xs: list[Any]) -> Any:
    return sorted(Worse(x) for x in xs)[0].x


def equal_to_nothing(xs: list[Any]) -> Any:
    one = Worse(xs[0])
    return xs[0] if one in [one] else xs[1]


def kept_by_keyword(xs: list[Any]) -> Any:
    calls: list[float] = []

    @functools.cache
    def scaled(n: int) -> Any:
        calls.append(1.0)
        return xs[0] * n

    return scaled(1) + scaled(n=1) + sum(calls)  # two keys of one call


REFUSED = [kept_by_keyword, extends_by_a_set, leaves_in_else, generator_is_closed, sorts_by_no_order, equal_to_nothing]


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_would_be_something_else_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(NotTypedError):
        code_of(function, ([0.5, 1.5, -1.0],))


def test_what_depends_on_how_it_is_sorted_is_left_to_the_function() -> None:
    def with_nan(xs: list[Any], low: float) -> Any:
        items = [one - one for one in (low, 1.0, 2.0)]
        return sorted(items)[0] + xs[0]

    assert_same(with_nan, [([1.5], 1.0), ([1.5], math.inf)], answers=1)

    def first(xs: list[Any], count: int) -> Any:
        return sum(itertools.islice(xs, count))

    assert_same(first, [([1.5, 0.5], 1), ([1.5, 0.5], -1)], answers=1)


def test_what_is_added_to_a_class_is_seen() -> None:
    class Plain:
        def __init__(self, x: Any) -> None:
            self.x = x

    def truth(xs: list[Any]) -> Any:
        one = Plain(xs[0])
        return one.x if one else xs[1]

    code = code_of(truth, ([0.5, 1.5],))
    assert code.value_and_grad([0.5, 1.5]) == (0.5, [1.0, 0.0])
    Plain.__bool__ = lambda self: False  # type: ignore[attr-defined]
    assert code.value_and_grad([0.5, 1.5]) is None
