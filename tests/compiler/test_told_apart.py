"""What a function may tell apart that is easily taken for the same, and fields that gradients leave as they are.

Zeros have signs and Values labels; one of two numbers is the larger one; and a cache has results.
"""

from __future__ import annotations

import copy
import enum
import functools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd import Value

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")]

DRAW = random.Random(5)


class Kind(enum.Enum):
    A = 1
    B = 2


@dataclass
class Part:
    x: float
    tag: Any


@dataclass(frozen=True)
class Frozen:
    x: float
    tag: Any


def squares(parts: list[Any]) -> Any:
    return sum(part.x * part.x for part in parts)


@pytest.mark.parametrize("kind", [Part, Frozen])
@pytest.mark.parametrize(
    "tags",
    [["a", "b", "c"], [True, False], [None, "a"], [None, True], [Kind.A, Kind.B], [None, Kind.B], [1, 2], [None, 1.0]],
    ids=str,
)
@pytest.mark.parametrize("number", [float, Value])
def test_a_gradient_has_the_fields_of_its_argument(kind: Any, tags: list[Any], number: Any) -> None:
    compiled, expected = rg.compile(squares), rg.value_and_grad(squares)
    calls = [([kind(number(0.25 * DRAW.randrange(1, 9)), DRAW.choice(tags)) for _ in range(2)],) for _ in range(20)]
    for call in calls:
        assert outcome(lambda call=call: compiled.value_and_grad(*call)) == outcome(lambda call=call: expected(*call))
    several = outcome(lambda: rg.compile(squares).value_and_grad_batch(calls))
    assert several == outcome(lambda: [expected(*call) for call in calls])


def outcome(run: Callable[[], Any]) -> Any:
    """What it gives, or the class of what it raises."""
    try:
        return run()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: y * len(str(x)),
        lambda x, y: y * len(f"{round(x, 2)}"),
        lambda x, y: y * {"0.0": 2.0}.get(repr(x), 3.0),
        lambda x, y: y * math.copysign(1.0, math.ldexp(x, 1)),
        lambda x, y: y * rm.atan2(float(np.float64(x)), -1.0),
    ],
)
@pytest.mark.parametrize("tier", ["vm", "llvm"])
def test_zeros_of_either_sign(function: Any, tier: Any) -> None:
    compiled = rg.compile(function, tier=tier)
    for x in (0.0, 0.0, -0.0, 0.0, -0.0, -0.001, 0.001, -0.0):
        y = DRAW.random()
        assert compiled(x, y) == function(x, y)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: [rm.atan2(x + 0.0, -1.0) for x in (t, -t, t)],
        lambda t: [rm.atan2(0.0 + x * x * x, -1.0) for x in (t, -t, t, -t)],
        lambda t: [rm.atan2(max(x, -5.0) + 0.0, -1.0) for x in (t, -t, t, -t)],
        lambda t: [rm.atan2(sum([x, x, x]), -1.0) for x in (t, -t, t, -t)],
        lambda t: [rm.copysign(1.0, x + 0.0) for x in (t, -t, t)],
        lambda t: [rm.copysign(1.0, x + y + 0.0) for x in (t, -t, t) for y in (t, -t)],
    ],
)
@pytest.mark.parametrize("tier", ["vm", "llvm"])
def test_a_zero_that_is_added(function: Any, tier: Any) -> None:
    compiled = rg.compile(function, tier=tier)
    for t in (1.0, -2.0, 0.0, -0.0):
        assert compiled(t) == pytest.approx(function(t), rel=1e-15)


def smaller(x: Any, y: Any) -> Any:
    m = min(x, y)
    return m * 2.0 if m is y else m * 3.0


def larger(x: Any, y: Any) -> Any:
    m = max([x, y])
    return x * y if id(m) == id(x) else x + y


def largest_run(x: Any, y: Any) -> Any:
    run = best = 0.0
    for one in (x, -y, y * x):
        run = max(0.0, run + one)
        best = max(best, run)
    return best * x + (10.0 if best is run else 0.0)


@pytest.mark.parametrize("function", [smaller, larger, largest_run])
@pytest.mark.parametrize("tier", ["vm", "llvm"])
@pytest.mark.parametrize("first", [1.0, -1.0])
@pytest.mark.parametrize("given", [float, Value])
def test_which_number_it_was(function: Any, tier: Any, first: float, given: Any) -> None:
    compiled = rg.compile(function, tier=tier)
    for sign in (first, -first, first, *(DRAW.choice([1.0, -1.0]) for _ in range(20))):
        numbers = [0.5 * sign + 0.1 * DRAW.random(), 0.2]
        ours, theirs = (f(*map(given, numbers)) for f in (compiled, function))
        assert (ours if given is float else ours.data) == (theirs if given is float else theirs.data)


def test_the_label_of_a_value() -> None:
    w = Value(3.0, label="scale")

    def function(a: Any, b: Any) -> Any:
        return a * b if a.label == "scale" else (w * b if w.label == "scale" else a + b)

    compiled = rg.compile(function)
    for label in ("scale", "shift", "scale", "shift"):
        for other in ("scale", "shift"):
            w.label = other
            a, b = Value(3.5, label=label), Value(4.0)
            assert compiled(a, b).data == function(a, b).data


@pytest.mark.parametrize("most", [None, 64])
def test_what_a_cache_held_before(most: int | None) -> None:
    @functools.lru_cache(maxsize=most)
    def tank(number: int) -> Part:
        return Part(1.0 + number, None)

    def function(xs: list[Any]) -> Any:
        return xs[0] * tank(sum(x > 0 for x in xs)).x

    tank(2).x = 50.0
    compiled = rg.compile(function)
    for xs in ([1.0, 2.0, -3.0], [1.0, -2.0, 3.0], [2.0, 2.0, 3.0], [1.0, 2.0, -3.0]):
        assert compiled(xs) == function(xs)
    assert tank(2).x == 50.0


def raised(rows: list[list[Any]]) -> Any:
    rows = copy.deepcopy(rows)
    rows[0][0] += 9.0
    return rows[0][0] + rows[1][0] * rows[1][1]


def moved(parts: list[Part]) -> Any:
    parts = copy.deepcopy(parts)
    parts[0].x += 1.0
    return sum(part.x * part.x for part in parts)


@pytest.mark.parametrize("one_first", [False, True])
def test_copies_of_what_is_one_object(one_first: bool) -> None:
    rows, parts = rg.compile(raised), rg.compile(moved)
    for call in range(12):
        numbers = DRAW.random(), DRAW.random()
        row, part = [*numbers], Part(numbers[0], "a")
        if (call % 3 == 0) is one_first:
            assert rows([row, row]) == raised([row, row])
            assert moved([part, part]) == parts([part, part])
        else:
            assert rows([row, [*row]]) == raised([row, [*row]])
            assert moved([part, copy.copy(part)]) == parts([part, copy.copy(part)])
    assert [compiled.stats().eager for compiled in (rows, parts)] == [0, 0]


def lifted(parts: list[Part]) -> Any:
    first, kept = parts[0], parts[0].x
    first.x = kept + 1.0
    total = sum(part.x * part.x for part in parts)
    first.x = kept
    return total


def lifted_by_name(parts: list[Part]) -> Any:
    kept = parts[0].x
    setattr(parts[0], "x", 2.0 * kept)  # noqa: B010
    total = parts[0].x * parts[1].x
    setattr(parts[0], "x", kept)  # noqa: B010
    return total


@pytest.mark.parametrize("function", [lifted, lifted_by_name])
@pytest.mark.parametrize("kind", [Part, SimpleNamespace])
@pytest.mark.parametrize("one_first", [False, True])
def test_one_record_that_is_changed_and_put_back(function: Any, kind: Any, one_first: bool) -> None:
    compiled = rg.compile(function)
    for call in range(12):
        part, other = (kind(x=DRAW.random(), tag="a") for _ in range(2))
        parts = [part, part if (call % 3 == 0) is one_first else other]
        assert compiled(parts) == function(parts)
    assert compiled.stats().eager == 0


def test_how_an_array_lies_in_memory() -> None:
    def by_strides(a: Any, x: Any) -> Any:
        return x * a.strides[0] + a.sum()

    def by_flags(a: Any, x: Any) -> Any:
        return 2.0 * x if a.flags.c_contiguous else x + a.sum()

    grid = np.arange(12.0)
    for function in (by_strides, by_flags):
        compiled = rg.compile(function)
        for call in range(8):
            a = grid[:6] if call % 4 != 3 else grid[::2]
            assert compiled(a, 2.0) == function(a, 2.0)


def test_strides_that_an_object_has() -> None:
    class Steps:
        strides = 2.0

        def __call__(self, a: Any) -> Any:
            return self.strides * a.sum()

    compiled, steps = rg.compile(Steps()), Steps()
    for call in range(4):
        a = np.arange(3.0) + call
        assert compiled(a) == steps(a)
    assert compiled.stats().eager == 0


def least_recently_used(room: int) -> tuple[Any, Any]:
    """A cache with room for so many records, and a function that asks it."""

    @functools.lru_cache(maxsize=room)
    def tank(number: int) -> Part:
        return Part(1.0 + number, None)

    def function(x: Any, number: int) -> Any:
        return x * tank(number).x

    return tank, function


@pytest.mark.parametrize("room", [2, 3])
def test_what_a_bounded_cache_drops(room: int) -> None:
    """What the user has changed in a result stays as long as it is asked for often enough."""
    (ours, function), (theirs, other) = least_recently_used(room), least_recently_used(room)
    compiled = rg.compile(function)
    for call in range(60):
        number = DRAW.randrange(room + 1)
        assert compiled(2.0, number) == other(2.0, number)
        if call % 5 == 0:
            for tank in (ours, theirs):
                tank(number).x += 10.0


W = Value(0.5)


def named(x: Any) -> Any:
    result = W * x
    result.label = "loss"
    return result


def named_by_sign(x: Any) -> Any:
    result = W * x
    if x > 0.0:
        result.label = "up"
    else:
        result.label = "down"
    return result


def named_either(x: Any) -> Any:
    up, down = W * x, W - x
    up.label, down.label = "up", "down"
    return up if x > 0.0 else down


def larger_of_named(x: Any) -> Any:
    up, down = W * x, W - x
    up.label, down.label = "up", "down"
    return max(up, down)


def several_named(x: Any) -> Any:
    up, down = W * x, W - x
    up.label = "up"
    return [up, {"down": down}, 2.0 * x]


@pytest.mark.parametrize("function", [named, named_by_sign, named_either, larger_of_named, several_named])
@pytest.mark.parametrize("passes_first", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_the_label_of_a_result(function: Any, passes_first: bool, recorded: bool) -> None:
    compiled = rg.compile(function)
    for call in range(24):
        x = Value(DRAW.choice([1.0, -1.0]) * (0.5 + DRAW.random()))
        if passes_first and function is not several_named:
            compiled.backward(x)
        before = rg.engine.set_recording(recorded)
        try:
            ours, theirs = compiled(x), function(x)
        finally:
            rg.engine.set_recording(before)
        if function is several_named:
            assert [ours[0].label, ours[1]["down"].label] == ["up", ""]
        else:
            assert (ours.label, ours.data) == (theirs.label, theirs.data), call


def test_a_label_of_an_argument() -> None:
    def function(a: Any, b: Any) -> Any:
        a.label = "rate"
        return a * b

    compiled = rg.compile(function)
    for _ in range(4):
        a = Value(2.0)
        assert compiled(a, 3.0).data == 6.0
        assert a.label == "rate"


def pairs(xs: list[float]) -> float:
    total = 0.0
    for a in xs:
        for b in xs:
            if a is not b:
                total += 1.0 / (1.0 + (a - b) ** 2)
    return total


def same_or_other(xs: list[float]) -> float:
    x, y = xs[0], xs[1]
    return x * (2.0 if x is y else 1.0)


def how_many(xs: list[float]) -> float:
    return xs[0] * len({id(x) for x in xs})


@pytest.mark.parametrize("f", [pairs, same_or_other, how_many])
@pytest.mark.parametrize("number", [float, np.float64])
def test_one_float_that_comes_twice(f: Callable[[list[Any]], float], number: Any) -> None:
    """Which of them are one object is part of what a program answers."""
    compiled = rg.compile(f)
    for k in range(12):
        a, b, c = number(f"{k}.25"), number(f"{k}.25"), number(f"{k}.75")
        for xs in ([a, b, c], [a, a, c], [c, b, c], [c, c, a], [a, c, b]):
            assert compiled(xs) == pytest.approx(f(xs), rel=1e-12)
            assert compiled.value_and_grad(xs)[0] == pytest.approx(rg.value_and_grad(f)(xs)[0], rel=1e-12)
    assert compiled.stats().eager == 0


def test_floats_beside_objects_that_are_compared_are_any() -> None:
    """Which of them are one object is no question where parts of what is compared are read."""

    def pull(bodies: list[Part], masses: list[float]) -> Any:
        total = 0.0
        for i, one in enumerate(bodies):
            for k, other in enumerate(bodies):
                if one is not other:
                    total += masses[i] * masses[k] * (one.x - other.x) ** 2
        return total

    compiled = rg.compile(pull)
    bodies = [Part(0.5 * k, None) for k in range(3)]
    for masses in ([1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 1.0]):
        assert compiled(bodies, masses) == pull(bodies, masses)
    assert compiled.stats().traces == 1
