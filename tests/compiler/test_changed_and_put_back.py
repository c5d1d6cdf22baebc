"""Containers that a function changes and puts back: what two of its names for one of them give."""

from __future__ import annotations

import collections
import copy
import functools
import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Value
from retrograd.compiler.guards.changed_containers import Changes, changes_of

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")]

DRAW = random.Random(11)


@dataclass
class Part:
    x: Any
    y: Any


def lifted(key: Any, other: Any) -> Callable[..., Any]:
    def function(u: Any, v: Any) -> Any:
        kept = u[key]
        u[key] = kept + 2.0
        result = u[key] * v[key] + v[other]
        u[key] = kept
        return result

    return function


def swapped(u: Any, v: Any) -> Any:
    u[0], u[1] = u[1], u[0]
    result = 2.0 * v[0] + 3.0 * v[1] + u[0]
    u[0], u[1] = u[1], u[0]
    return result


def appended(u: Any, v: Any) -> Any:
    u.append(2.0)
    result = len(v) * u[0] + sum(v)
    u.pop()
    return result


def sorted_for_a_while(u: Any, v: Any) -> Any:
    kept = list(u)
    u.sort()
    result = 2.0 * v[0] + 3.0 * v[1]
    u[:] = kept
    return result


def raise_first(u: Any, by: float) -> None:
    u[0] += by


def by_a_helper(u: Any, v: Any) -> Any:
    kept = u[0]
    raise_first(u, 1.0)
    result = u[0] * v[0] + v[1]
    u[0] = kept
    return result


def through_another_name(u: Any, v: Any) -> Any:
    for w in (u,):
        kept = w[0]
        w[0] = 2.0 * kept + 1.0
    result = u[0] * v[0] + v[1]
    u[0] = kept
    return result


def of_an_item(u: Any, v: Any) -> Any:
    kept = u[0][0]
    u[0][0] = kept + 2.0
    result = u[0][0] * v[0][0] + v[1][0]
    u[0][0] = kept
    return result


def of_an_attribute(u: Any, v: Any) -> Any:
    kept = u.x[0]
    u.x[0] = kept + 2.0
    result = u.x[0] * v.x[0] + v.y
    u.x[0] = kept
    return result


def by_a_method(u: Any, v: Any) -> Any:
    kept = dict(u)
    u.update(a=5.0)
    result = v["a"] * u["b"] + v["b"]
    u.update(kept)
    return result


def pair(number: Callable[[float], Any]) -> list[Any]:
    return [number(DRAW.random()), number(DRAW.random() - 0.5)]


DICTS: list[Any] = [lifted("a", "b"), by_a_method]
LISTS: list[Any] = [lifted(0, 1), swapped, appended, sorted_for_a_while, by_a_helper, through_another_name]
CASES = [
    *((function, pair) for function in LISTS),
    *(
        (function, lambda number: dict(zip("ab", pair(number), strict=True)))
        for function in (lifted("a", "b"), by_a_method)
    ),
    (lifted("a", "b"), lambda number: collections.OrderedDict(zip("ab", pair(number), strict=True))),
    (lifted(0, 1), lambda number: collections.deque(pair(number))),
    (of_an_item, lambda number: [pair(number), pair(number)]),
    (of_an_attribute, lambda number: Part(pair(number), number(DRAW.random()))),
    (of_an_attribute, lambda number: SimpleNamespace(x=pair(number), y=number(DRAW.random()))),
]


def values_in(thing: Any) -> list[Value]:
    if isinstance(thing, Value):
        return [thing]
    named = thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})
    return [value for item in named.values() or thing for value in values_in(item)]


@pytest.mark.parametrize(("function", "made"), CASES)
@pytest.mark.parametrize("number", [float, Value])
@pytest.mark.parametrize("one_first", [False, True])
@pytest.mark.parametrize("tier", ["vm", "llvm"])
def test_one_container_twice(function: Any, made: Any, number: Any, one_first: bool, tier: Any) -> None:
    compiled = rg.compile(function, tier=tier)
    for call in range(12):
        one, other = made(number), made(number)
        arguments = (one, one) if (call % 3 == 0) is one_first else (one, other)
        ours, theirs = compiled(*arguments), function(*arguments)
        if number is float:
            assert ours == pytest.approx(theirs, rel=1e-14)
            continue
        leaves = [*{id(leaf): leaf for argument in arguments for leaf in values_in(argument)}.values()]
        gradients = [rg.gradient(result, leaves) for result in (ours, theirs)]
        assert (ours.data, *gradients[0]) == pytest.approx((theirs.data, *gradients[1]), rel=1e-14)
    assert compiled.stats().eager == 0


@pytest.mark.parametrize("one_first", [False, True])
def test_members_of_a_batch(one_first: bool) -> None:
    function = lifted(0, 1)
    compiled = rg.compile(function)
    for _ in range(3):
        rows = [pair(float) for _ in range(8)]
        members = [(row, row if (k % 4 == 3) is not one_first else [*row]) for k, row in enumerate(rows)]
        assert compiled.call_batch(members) == pytest.approx([function(*member) for member in members])


def doubled(u: Any, v: Any) -> Any:
    u *= 2.0
    result = 2.0 * v[0] + 3.0 * v[1] + u[0]
    u /= 2.0
    return result


@pytest.mark.parametrize("function", [lifted(0, 1), swapped, doubled])
@pytest.mark.parametrize("one_first", [False, True])
def test_arrays_that_may_share_memory(function: Any, one_first: bool) -> None:
    compiled = rg.compile(function)
    for call in range(12):
        memory = np.array([DRAW.random() for _ in range(4)])
        others = [memory[:3], memory[1:]][call % 2], memory.copy()
        arguments = memory[:3], others[(call % 3 == 0) is one_first]
        assert compiled(*arguments) == function(*arguments)
    assert "an array among its arguments" in str(compiled.stats())


def test_an_array_that_none_can_share() -> None:
    def function(u: Any, p: Any) -> Any:
        kept = u[0]
        u[0] = 2.0 * kept
        result = p * u.sum()
        u[0] = kept
        return result

    compiled = rg.compile(function)
    for _ in range(4):
        u = np.array([DRAW.random() for _ in range(4)])
        assert compiled(u, 2.0) == pytest.approx(function(u, 2.0))
    assert compiled.stats().eager == 0


def test_arrays_that_a_function_makes() -> None:
    def function(u: Any, v: Any) -> Any:
        z = u.copy()
        z[0] += v[1]
        z *= v
        return z.sum()

    compiled, memory = rg.compile(function), np.arange(12.0).reshape(4, 3)
    for _ in range(4):
        assert compiled(memory[:, 0], memory[:, 1]) == function(memory[:, 0], memory[:, 1])
    assert compiled.stats().eager == 0


def captured_items(kept: Any, key: Any, others: bool) -> Callable[..., Any]:
    def function(u: Any, p: Any) -> Any:
        changed, read = (u, kept) if others else (kept, u)
        before = changed[key]
        changed[key] = before + 2.0
        result = read[key] * p
        changed[key] = before
        return result

    return function


def captured_record(kept: Any, _: Any, others: bool) -> Callable[..., Any]:
    def change_argument(u: Any, p: Any) -> Any:
        before = u.x
        u.x = before + 2.0
        result = kept.x * p + kept.y
        u.x = before
        return result

    def change_captured(u: Any, p: Any) -> Any:
        before = kept.x
        kept.x = before + 2.0
        result = u.x * p + u.y
        kept.x = before
        return result

    return change_argument if others else change_captured


def captured_asked(kept: Any, _: Any, others: bool) -> Callable[..., Any]:
    return lambda u, p: 2.0 * p if (u is kept) is others else 3.0 * p


CAPTURED: list[tuple[Any, Any]] = [
    *(
        (captured_items, kind)
        for kind in (lambda x, y: [x, y], lambda x, y: {0: x, 1: y}, lambda x, y: np.array([x, y]))
    ),
    *((captured_record, kind) for kind in (Part, lambda x, y: SimpleNamespace(x=x, y=y))),
    *((captured_asked, kind) for kind in (lambda x, y: [x, y], lambda x, y: SimpleNamespace(x=x, y=y))),
]


@pytest.mark.parametrize(("body", "kind"), CAPTURED)
@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_one_that_is_captured(body: Any, kind: Any, others: bool, first: bool) -> None:
    kept = kind(DRAW.random(), DRAW.random())
    function = body(kept, 0, others)
    compiled = rg.compile(function)
    for call in range(16):
        u = kept if (call % 3 == 0) is first else kind(DRAW.random(), DRAW.random())
        p = DRAW.random()
        assert compiled(u, p) == function(u, p)


def test_a_row_of_what_is_captured() -> None:
    grid = [[1.0, 2.0], [3.0, 4.0]]

    def function(row: Any, p: Any) -> Any:
        kept = grid[0][0]
        grid[0][0] = kept + 2.0
        result = row[0] * p
        grid[0][0] = kept
        return result

    compiled = rg.compile(function)
    for call in range(20):
        row = grid[0] if call > 8 and call % 2 else [5.0, float(call)]
        assert compiled(row, 2.0) == function(row, 2.0)


# --- what the code tells


def rows_of_its_own(u: Any, v: Any) -> Any:
    grid = [[x * y for x in u] for y in v]
    for row in grid:
        row[0] += 1.0
    grid[0][1] = 3.0
    found: dict[str, Any] = {}
    for x in u:
        found["a"] = found.get("a", 0.0) + x
    heap: list[Any] = []
    for x in v:
        heapq.heappush(heap, x)
    total, z = 0.0, np.zeros(2)
    z[0] = u[0]
    z *= 2.0
    z[1:] += 1.0
    for x in u:
        try:
            total += x
        finally:
            found["b"] = total
    return grid[0][0] + found["a"] + total + heapq.heappop(heap) + z[0]


def copies_of_others(u: Any, v: Any) -> Any:
    a, b, c = list(u), [*u], copy.copy(u)
    d, e = sorted(u), u.copy()
    for one in range(1):
        a[one] = b[one] = c[one] = d[one] = e[one] = 1.0
    return a[0] + b[0] + c[0] + d[0] + e[0] + v[0]


@pytest.mark.parametrize("function", [rows_of_its_own, copies_of_others])
def test_what_a_function_makes_is_its_own(function: Any) -> None:
    assert changes_of(function) is Changes.NONE


def in_a_list(u: Any, v: Any) -> None:
    rows = [u, v]
    rows[0][1] = 1.0


def appended_to_a_list(u: Any, v: Any) -> None:
    rows: list[Any] = []
    rows.append(u)
    rows[0][1] = v


def by_a_method_with_a_name(u: Any, v: Any) -> None:
    push = u.append
    push(v)


def one_of_both(u: Any, v: Any) -> None:
    w = u if v else [1.0]
    w[0] = 3.0


def in_a_function(u: Any, v: Any) -> None:
    def inner() -> None:
        u[0] = v

    inner()


def in_a_comprehension(u: Any, v: Any) -> Any:
    return [w.append(v) for w in u]


def in_a_generator(u: Any, v: Any) -> Any:
    return any(w.pop() for w in u)


def by_a_heap(u: Any, v: Any) -> None:
    heapq.heappush(u, v)


def by_a_map(u: Any, v: Any) -> None:
    list(map(u.append, v))


def after_an_exception(u: Any, v: Any) -> None:
    try:
        w = u
    except ValueError:
        w = [1.0]
    w[0] = v


def unpacked(u: Any, v: Any) -> None:
    *_, last = u
    last[0] = v


def matched(u: Any, v: Any) -> None:
    match u:
        case [a, _]:
            a[0] = v


def in_a_loop(u: Any, v: Any) -> None:
    w = [0.0]
    for _ in range(3):
        w[0] = 1.0
        w = u


def in_lists_of_lists(u: Any, v: Any) -> None:
    rows = [[row] for row in u]
    rows[0][0][1] = v


def under_two_names(u: Any, v: Any) -> None:
    rows: list[Any] = []
    others = rows
    others.append(u)
    rows[0][0] = v


def in_a_dict(u: Any, v: Any) -> None:
    rows: dict[str, Any] = {}
    rows.setdefault("a", []).append(u)
    rows["a"][0][0] = v


def by_a_method_of_a_class(u: Any, v: Any) -> None:
    list.append(u, v)


def by_a_text(u: Any, v: Any) -> None:
    getattr(u, "append")(v)  # noqa: B009


def what_a_function_gives(u: Any, v: Any) -> None:
    functools.reduce(lambda a, b: a, u)[0] = v


def in_a_queue(u: Any, v: Any) -> None:
    collections.deque(u)[0][0] = v


@pytest.mark.parametrize(
    "function",
    [
        *(in_a_loop, in_lists_of_lists, under_two_names, in_a_dict, by_a_method_of_a_class, by_a_text),
        *(what_a_function_gives, in_a_queue),
        *(in_a_list, appended_to_a_list, by_a_method_with_a_name, one_of_both, in_a_function, in_a_comprehension),
        *(in_a_generator, by_a_heap, by_a_map, after_an_exception, unpacked, matched, of_an_attribute),
    ],
)
def test_what_is_of_others(function: Any) -> None:
    assert changes_of(function) is Changes.CONTAINERS


def test_arrays_change_in_place() -> None:
    assert changes_of(doubled) is Changes.ARRAYS
