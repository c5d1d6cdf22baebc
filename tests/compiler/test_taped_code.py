"""Taped code gives what the function gives: the same number, to the last bit, and the same gradients."""

from __future__ import annotations

import bisect
import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pytest

import retrograd as rg
from retrograd import math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn, numbers, run

    from retrograd.compiler.taped.ir import writer
    from retrograd.compiler.taped.types import NotTypedError


# --- control flow ---------------------------------------------------------------------------------------------


def nested_loops(xs: list[Any]) -> Any:
    total = 0.0
    for x in xs:
        k = 0
        while abs(x) > 0.1 and k < 20:
            y, n = x, 0
            while y * y > 0.05:
                y = 0.6 * y
                n += 1
                if n > 7:
                    break
            else:
                total += 0.25 * y
            x = x * 0.7 + 0.01 * n
            k += 1
            if k == 3:
                continue
            total += x * y
    return total


def collatz(xs: list[Any]) -> Any:
    n, steps = 7 + len(xs), 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps * xs[0] + n


def early(xs: list[Any]) -> Any:
    for i, x in enumerate(xs):
        for j in range(i):
            if x * xs[j] > 1.0:
                return x - xs[j] * i
    return 0


def chains(xs: list[Any]) -> Any:
    a, b, c = xs[0], xs[1], xs[2]
    total = (a and b) * 1.0 + (a or c)
    if not (a < b < c) and (a > 0 or b > 0) is not False:
        total = total + (a if a > b else b) * c
    if a == a and a != b and not a > b:
        total -= c
    return total + (1 if 0 < a <= 1.5 else 2)


def recursive(xs: list[Any]) -> Any:
    def split(low: int, high: int) -> Any:
        if high - low < 2:
            return xs[low] * xs[low]
        middle = (low + high) // 2
        one, other = split(low, middle), split(middle, high)
        return one - other if one > other else one * other

    return split(0, len(xs))


def closures(xs: list[Any]) -> Any:
    total, calls = 0.0, 0

    def put(x: Any, by: float = 2.0) -> Any:
        nonlocal total, calls
        calls += 1
        total = total + by * x
        return total

    for x in xs:
        if x > 0.0:
            put(x)
        else:
            put(-x, by=3.0)
    twice = lambda f, x: f(f(x))  # noqa: E731
    return total * calls + twice(lambda v: v * total, xs[0])


def counted(xs: list[Any], limit: float) -> Iterator[tuple[int, Any]]:
    seen = 0.0
    for i, x in enumerate(xs):
        seen += x
        if seen > limit:
            return
        yield i, seen


def generators(xs: list[Any]) -> Any:
    total = 0.0
    for i, seen in counted(xs, 1.5):
        if i == 5:
            break
        total += (i + 1) * seen
    return total + sum(seen for _, seen in counted(xs, 0.5))


def comprehensions(xs: list[Any]) -> Any:
    rows = [[x * y for y in xs if y > x] for x in xs]
    flat = [v for row in rows for v in row if v != 0.0]
    return (
        sum(flat)
        + sum(len(row) for row in rows) * max(xs[0], 0.5)
        + sum(x for x, row in zip(xs, rows, strict=True) if row)
    )


def pick(xs: list[Any], weight: Any = None) -> Any:
    if weight is None:
        return pick(xs, 0.5)
    k = 0
    while True:
        k += 1
        if xs[k % len(xs)] * k > 1.0 or k > 40:
            return weight * xs[k % len(xs)] + k


def square(x: Any) -> Any:
    return x * x


def lazily(xs: list[Any]) -> Any:
    k, seen = 1.0, []

    def visit(x: Any) -> bool:
        seen.append(x)
        return x > 0.5

    for y in (x * k for x in xs):
        k += 0.1 * y
    if any(visit(x) for x in xs) or all(x < 3.0 for x in map(square, xs)):
        k = k * (1 + len(seen))
    rows = [xs, xs[:4], xs[1:]]
    order = [2, 0, 1]
    for x in rows[order.pop()]:
        k += 0.01 * x
    return k + len(order) + sum(filter(lambda x: x > 0.0, xs))


# --- containers -----------------------------------------------------------------------------------------------


def lists(xs: list[Any]) -> Any:
    rows = [[0.0] * 2] * 2  # one row, twice
    rows[0][1] = xs[0]
    same = rows[1]
    same[0] += xs[1]
    queue = list(xs)
    queue.append(queue[0] * queue[-1])
    queue.insert(1, 0.5)
    queue[0], queue[2] = queue[2], queue[0]
    tail = queue[-3:] + queue[:-8:1] + queue[::-1][:2]
    while queue and queue[0] < 1.5:
        queue.pop(0)
    del tail[0]
    tail.extend(same)
    tail += [xs[2]]
    return sum(tail) + len(queue) + rows[0][0] * rows[1][1] + (1.0 if xs[1] in queue else 0.0)


def growing(xs: list[Any]) -> Any:
    items = [x for x in xs if x > 0.0]
    for x in items:
        if x > 0.2 and len(items) < 40:
            items.append(0.5 * x)
    return sum(items)


def sorting(xs: list[Any]) -> Any:
    pairs = [(round(x.data) if isinstance(x, rg.Value) else round(x), i) for i, x in enumerate(xs)]
    order = sorted(pairs, key=lambda pair: pair[0], reverse=True)
    ranked = sorted(xs)
    ranked.sort(key=lambda x: -x * x)
    best = max(range(len(xs)), key=lambda i: xs[i] * xs[i])
    total = sum((i + 1) * xs[k] for i, (_, k) in enumerate(order))
    at = bisect.bisect_left([-1.0, 0.0, 1.0], xs[0])
    return total + sum((i + 1) * x for i, x in enumerate(ranked)) + xs[best] * at + min(xs, default=0.0)


def heaps(xs: list[Any]) -> Any:
    events: list[Any] = []
    for i, x in enumerate(xs):
        heapq.heappush(events, (abs(x), i % 3, i))
    total, steps = 0.0, 0
    while events and steps < 30:
        at, kind, i = heapq.heappop(events)
        total += at * (1 + kind) + 0.1 * i
        if at < 1.0 and kind < 2:
            heapq.heappush(events, (at + 0.3 * abs(xs[i]), kind + 1, i))
        steps += 1
    return total


def keyed(xs: list[Any]) -> Any:
    sums: dict[int, Any] = {}
    seen = set()
    for i, x in enumerate(xs):
        key = math.floor(3.0 * (x.data if isinstance(x, rg.Value) else x))
        sums[key] = sums.get(key, 0.0) + x
        if i % 4 == 3 and key in sums:
            del sums[key]
        seen.add((key, i % 2))
    total = 0.0
    for place, (key, value) in enumerate(sums.items()):
        total += (place + 1) * value * key
    names = {"up": 0.0, "down": 0.0}
    for x in xs:
        names["up" if x > 0.0 else "down"] += x * x
    return total + names["up"] - 2.0 * names["down"] + len(seen) + sums.pop(99, 0.5) + sum(names.values())


def queues(xs: list[Any]) -> Any:
    waiting: deque[tuple[int, Any]] = deque()
    served = 0.0
    for i, x in enumerate(xs):
        waiting.append((i, x))
        if x > 0.5:
            waiting.appendleft((-i, 0.1 * x))
        while waiting and waiting[0][1] < 1.0 + served:
            k, w = waiting.popleft()
            served += (1 + k) * 0.01 * w
    return served + len(waiting)


# --- objects ----------------------------------------------------------------------------------------------------


class Mode(Enum):
    UP = 1
    DOWN = 2


class Reading(NamedTuple):
    at: float
    value: Any


@dataclass
class Lot:
    quantity: Any
    price: Any = 2.0
    history: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = self.quantity


@dataclass(frozen=True, slots=True)
class Point:
    x: Any
    y: Any

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)

    @property
    def size(self) -> Any:
        return self.x * self.x + self.y * self.y


class Tank:
    rate = 0.5

    def __init__(self, level: Any) -> None:
        self.level = level
        self.mode = Mode.UP

    def step(self, flow: Any) -> Any:
        if self.level > 2.0:
            self.mode = Mode.DOWN
            self.rate = 0.25  # from now on it has one of its own
        self.level += flow * self.rate if self.mode is Mode.UP else -flow
        return self.level


def objects(xs: list[Any]) -> Any:
    lots = [Lot(x) for x in xs if x > 0.0]
    tank, place = Tank(1.0), Point(0.0, xs[0])
    for x in xs:
        if lots and lots[0].left < 0.5:
            gone = lots.pop(0)
            tank.step(gone.quantity * gone.price)
        elif lots:
            lots[0].left -= 0.4
            lots[0].history.append(x)
        place = place + Point(x, tank.level)
        match tank.mode:
            case Mode.UP:
                tank.step(0.3)
            case Mode.DOWN:
                tank.step(0.1 * x)
    last = Reading(value=place.size, at=1.0)
    return last.value * last.at + tank.level + sum(len(lot.history) for lot in lots)


def optional(xs: list[Any]) -> Any:
    best = None
    for i, x in enumerate(xs):
        if x > 0.5 and (best is None or x < best[0]):
            best = x, i
    return 0.25 if best is None else best[0] * best[1]


# --- numbers --------------------------------------------------------------------------------------------------


def arithmetic(xs: list[Any]) -> Any:
    a, b = xs[0], xs[1] + 3.0
    n = 7 + len(xs)
    whole = (-n) // 2 + (-n) % 4 - n**3 + divmod(n, 3)[1] + int(True) + abs(-n)
    real = a // b + a % b + a**2 + b**-1.5 + 2.0**a + (-a) ** 3 + abs(a) / n + whole * a
    return real + rm.exp(a) * rm.hypot(a, b) - rm.maximum(a, 0.3) + rm.tanh(a) + a.exp() / 2 + rm.where(a > 0, a, b)


def plain(xs: list[Any], ts: list[float]) -> Any:
    total = 0
    for t in ts:
        k = int(t * 3) + round(t) + math.floor(t) - math.ceil(t)
        total += math.exp(-t * t) * math.sin(t) / (1 + k * k) + math.log(2 + abs(t), 2) + t // 0.3 - t % 0.7
        if math.isfinite(t) and not math.isnan(t):
            total += max(t, 0) + min(0.5, t, -t)
    return total * xs[0] + xs[1] * float("1e2")


def arrays(p: Any, table: Any, index: Any) -> Any:
    total = 0.0
    for k in range(table.shape[0]):
        x, y = table[k, 0], table[k][1]
        while x * x + y * y > abs(p[index[k]]):
            x, y = 0.7 * x, 0.6 * y
        total += x * p[0] - y * p[1]
    return total + len(table) + sum(table[0])


ON_TEN = [
    nested_loops,
    collatz,
    early,
    chains,
    recursive,
    closures,
    generators,
    comprehensions,
    lazily,
    pick,
    lists,
    growing,
]
ON_TEN += [sorting, heaps, keyed, queues, objects, optional, arithmetic]


@pytest.mark.parametrize("function", ON_TEN, ids=lambda function: function.__name__)
def test_the_code_of_a_function_gives_what_it_gives(function: Callable[..., Any]) -> None:
    assert_same(function, drawn(numbers(10)))


def test_math_of_plain_numbers() -> None:
    calls = [(call[0][:2], call[0][2:]) for call in drawn(numbers(10))]
    assert_same(plain, [*calls, (calls[0][0], [1, 2, -3]), (calls[0][0], [])], answers=12 + 1)


def test_arrays_of_numbers() -> None:
    def call(seed: int) -> tuple[Any, ...]:
        source = np.random.default_rng(seed)
        return source.normal(size=3) + 2.0, source.normal(size=(6, 2)), source.integers(0, 3, 6)

    calls = [call(seed) for seed in range(6)]
    assert_same(arrays, calls)
    code = code_of(arrays, calls[0])
    p, table, index = calls[0]
    assert run(code, arrays, (p, table.astype(np.float32), index)) is None
    assert run(code, arrays, (p, table[0], index)) is None


# --- what the function raises, and what the code leaves to it ------------------------------------------------


def risky(xs: list[Any], k: int) -> Any:
    table = {0: 1.0, 2: 3.0}
    total = table[k % 3] * xs[k] / (xs[0] - 1.0)
    if total > 50.0:
        raise ValueError("too much")
    return total + rm.log(xs[1])


def test_the_function_raises_what_it_raises() -> None:
    fine = [0.5, 2.0, 3.0]
    calls = [(fine, 0), (fine, 2), (fine, 1), (fine, 9), ([1.0, 2.0, 3.0], 0), ([1.001, 2.0, 3.0], 2)]
    assert_same(risky, [*calls, ([0.5, -2.0, 3.0], 0)], answers=2)


def changes(xs: list[Any], log: list[float]) -> Any:
    if xs[0] > 0.0:
        log.append(1.0)
    return xs[0] * xs[0]


def test_what_changes_an_argument_is_left_to_the_function() -> None:
    code, log = code_of(changes, ([-1.0], [])), [0.5]
    assert run(code, changes, ([-1.0], log)) is not None
    assert run(code, changes, ([1.0], log)) is None
    assert log == [0.5]


def large(xs: list[Any], n: int) -> Any:
    total, product = xs[0] * 0.0, 1
    for i in range(n):
        total = total + xs[0] / (i + 1)
        product = product * 3 if i < 45 else product
    return total + product % 7


def deep(xs: list[Any], n: int) -> Any:
    return xs[0] if n == 0 else deep(xs, n - 1) + 1.0


def test_large_numbers_long_tapes_and_deep_calls() -> None:
    code = code_of(large, ([1.5], 3))
    result = run(code, large, ([1.5], 30))
    assert result is not None
    assert result.number == large([1.5], 30)
    assert run(code, large, ([1.5], 60)) is None  # 3**45 is no int of 64 bits
    assert_same(large, [([1.5], 39), ([1.5], 12)])
    longer = code_of(harmonic, ([1.5], 3))
    result = run(longer, harmonic, ([1.5], 60_000))
    assert result is not None
    assert result.gradients == pytest.approx([sum(1 / (i + 1) for i in range(60_000))])
    assert_same(deep, [([1.5], 300), ([0.5], 10)])
    assert run(code_of(deep, ([1.5], 3)), deep, ([1.5], 900)) is None


def wide(xs: list[Any], n: int) -> Any:
    """Each of its frames takes some kilobytes."""
    if n == 0:
        return xs[0]
    rows = (xs[0], 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    picked = [rows[(n + k) % 10] + rows[(n * k) % 10] * rows[(n + 3 * k) % 10] for k in range(2)]
    return wide(xs, n - 1) + sum(picked) * rows[n % 10] + rows[(n + 1) % 10] * rows[(n + 2) % 10] * rows[(n + 4) % 10]


def test_deep_calls_leave_the_stack_alone() -> None:
    code = code_of(wide, ([0.5], 3))
    found = run(code, wide, ([0.5], 20))
    assert found is not None
    assert found.number == wide([0.5], 20)
    deeper = run(code, wide, ([0.5], 390))
    assert deeper is None or deeper.number == wide([0.5], 390)


def harmonic(xs: list[Any], n: int) -> Any:
    parts = []
    for i in range(n):
        parts.append(xs[0] / (i + 1))
    return sum(parts)


RATE, TABLE = 0.5, [1.0, 2.0]


def reads(xs: list[Any]) -> Any:
    return sum(x * RATE for x in xs) * TABLE[1]


def test_what_the_code_takes_for_granted_is_asked_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    code = code_of(reads, ([1.0, 2.0],))
    assert run(code, reads, ([1.0, 2.0],)).number == 3.0  # type: ignore[union-attr]
    monkeypatch.setitem(globals(), "TABLE", [1.0, 4.0])
    assert run(code, reads, ([1.0, 2.0],)).number == 6.0  # type: ignore[union-attr]
    monkeypatch.setitem(globals(), "RATE", 0.25)
    assert run(code, reads, ([1.0, 2.0],)) is None
    monkeypatch.setitem(globals(), "RATE", 0.5)
    monkeypatch.setitem(globals(), "sum", len)
    assert run(code, reads, ([1.0, 2.0],)) is None


def test_lists_of_any_length_and_values_of_other_types() -> None:
    code = code_of(nested_loops, ([1.0, 2.0],))
    for xs in ([], [0.3], [1.0] * 50):
        result = run(code, nested_loops, (xs,))
        assert result is not None
        assert result.number == float(nested_loops(xs))
    assert run(code, nested_loops, ((1.0, 2.0),)) is None  # which may be told from a list
    other = code_of(plain, ([1.0, 2.0], [0.5]))
    assert run(other, plain, ([1.0, 2.0], ["a"])) is None
    assert run(other, plain, ([1.0, 2.0], [1])) is None


# --- what cannot be followed ------------------------------------------------------------------------------------


def prints(xs: list[Any]) -> Any:
    print(xs)
    return xs[0]


def catches(xs: list[Any]) -> Any:
    try:
        return xs[0] / xs[1]
    except ZeroDivisionError:
        return 0.0


def mixes(xs: list[Any]) -> Any:
    found: Any = 1.0
    if xs[0] > 0.0:
        found = [1.0]
    return found


def of_a_value(xs: list[Any]) -> Any:
    return math.exp(xs[0])


def by_identity(xs: list[Any]) -> Any:
    return xs[0] * len(set(xs))


def two_results(xs: list[Any]) -> Any:
    return xs[0], xs[1]


def text(xs: list[Any]) -> Any:
    return xs[0] * len(f"{xs[1]}")


def keeps_functions(xs: list[Any]) -> Any:
    def scaled(k: Any) -> Any:
        return (lambda v: v * k), k

    by, k = scaled(xs[0])
    return by(2.0) + k


def one_of(xs: list[Any], n: int) -> Any:
    return xs[n % len(xs)] * n if n % 3 else xs[0] + n


def test_what_would_take_long_to_write_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_MOST_LINES", 60)
    with pytest.raises(NotTypedError, match="too long"):
        code_of(one_of, ([0.5, 1.5], 3))


REFUSED = [keeps_functions, prints, mixes, of_a_value, by_identity, two_results, text]


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_cannot_be_followed_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(NotTypedError):
        code_of(function, ([0.5, 1.5, -1.0],))
