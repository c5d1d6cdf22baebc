"""max(0.0, x) is a Value or the number 0.0: one guard on the result is enough, however many selections there are."""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import random
import types
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest
from support.flipping import flips, is_converted
from support.parts import require

import retrograd as rg
from retrograd import Value
from retrograd.compiler.guards.bytecode import asks_for_numbers

pytestmark = pytest.mark.native


def hinge(x: Sequence[Any]) -> Any:
    return sum(max(0.0, 1.0 - v) for v in x)


def smallest(x: Sequence[Any]) -> Any:
    return sum(min(v * v, 1.0) for v in x) * 2.0


def clipped(x: Sequence[Any]) -> Any:
    return sum(max(-1.0, min(1.0, v)) for v in x)


def first_of_equals(x: Sequence[Any]) -> Any:
    return max(x[0], 1.0) + max(1.0, x[1])


def controlled(x: Sequence[Any]) -> Any:
    position, cost = 2.0, 0.0
    for v in x:
        force = max(-1.0, min(1.0, -v * position))
        position = position + 0.1 * force
        cost = cost + position * position
    return cost


def twice(x: Sequence[Any]) -> Any:
    return max(0.5, hinge(x) - 1.0)


def number_of_a_value(x: Sequence[Any]) -> Any:
    first = max(0.0, x[0])
    return (first.data if isinstance(first, Value) else first) + max(0.0, x[1])


def beside_chosen_numbers(x: Sequence[Any]) -> Any:
    return max(x[0], 0.0) + rg.where(x[1] > 0.5, 1.0, 0.0)


def among_numbers(x: Sequence[Any]) -> Any:
    return rg.sum([max(x[0], 0.0), 1.0]) * rg.dot([1.0, max(x[1], 0.0)], [2.0, 3.0])


def chosen_by_a_number(x: Sequence[Any]) -> Any:
    return rg.where(max(x[0], 0.0) > 1.0, 2.0, max(x[0], 0.0)) + rg.where(max(x[1], 0.0), 1.0, 2.0)


def chosen_by_tests(x: Sequence[Any]) -> Any:
    if x[0] > x[1]:
        a: Any = 1.0
    elif x[1] > 3.0:
        a = 2.0
    else:
        a = x[0]
    return a + rg.where(x[2] > 0.5, 1.0, 0.0)


#: With numbers that are no Values, but nodes of the recording.
NUMBERS: list[Callable[[Sequence[Any]], Any]] = [
    number_of_a_value,
    beside_chosen_numbers,
    among_numbers,
    chosen_by_a_number,
    chosen_by_tests,
]
FUNCTIONS: list[Callable[[Sequence[Any]], Any]] = [hinge, smallest, clipped, first_of_equals, controlled, twice]


def outcome(f: Callable[..., Any], x: Sequence[float]) -> tuple[type, list[float]]:
    """The type of a result, and its number with the gradient if it has one."""
    values = [Value(number) for number in x]
    result = f(values)
    if not isinstance(result, Value):
        return type(result), [result]
    result.backward()
    return Value, [result.data, *(v.grad for v in values)]


@pytest.mark.parametrize("f", [*FUNCTIONS, *NUMBERS])
def test_a_result_is_of_the_functions_kind(f: Callable[[Sequence[Any]], Any]) -> None:
    """Also where all selections choose a number, and where two candidates are equal."""
    compiled = rg.compile(f)
    draw = random.Random(2)
    points = [[draw.uniform(-2, 3) for _ in range(4)] for _ in range(12)]
    points += [[1.0] * 4, [5.0] * 4, [-5.0] * 4, [0.0] * 4, [1.0, 5.0, 1.0, -5.0]]
    for x in [*points, *points]:
        found, expected = outcome(compiled, x), outcome(f, x)
        assert found[0] is expected[0]
        assert found[1] == pytest.approx(expected[1], rel=1e-12)
        (value, slopes), (number, gradient) = compiled.value_and_grad(x), rg.value_and_grad(f)(x)
        assert [value, *slopes] == pytest.approx([number, *gradient], rel=1e-12)


@pytest.mark.parametrize("f", [*FUNCTIONS, *NUMBERS])
@pytest.mark.parametrize("passes_first", [True, False])
def test_passes_and_calls_take_turns(f: Callable[[Sequence[Any]], Any], passes_first: bool) -> None:
    """A program for passes need not know what the result is; a plain call then has one of its own."""
    compiled = rg.compile(f)
    draw = random.Random(4)
    points = [[draw.uniform(-2, 3) for _ in range(4)] for _ in range(10)]
    points += [[1.0] * 4, [5.0] * 4, [-5.0] * 4, [0.0] * 4]
    for k, x in enumerate([*points, *points]):
        expected = outcome(f, x)
        values = [Value(number) for number in x]
        if (k % 3 == 0) is passes_first:
            found = [compiled.backward(values), *(v.grad for v in values)]
            assert found[: len(expected[1])] == pytest.approx(expected[1], rel=1e-12)
            assert expected[0] is Value or found[1:] == [0.0] * 4
        else:
            assert outcome(compiled, x) == (expected[0], pytest.approx(expected[1], rel=1e-12))


def test_a_pass_needs_no_kind_of_its_result() -> None:
    """Which is a Value only where a level is one, and was not chosen away since."""

    def highest(x: Sequence[Any]) -> Any:
        total = 0.0
        for v in x:
            level = 0.0
            if v > 1.5:
                level = 1.0
            elif v > 0.9:
                level = v
            total = max(total, level) if total < 5.0 else 5.0
        return total

    sizes = []
    for run in ("backward", "__call__"):
        compiled = rg.compile(highest)
        draw = random.Random(5)
        for _ in range(20):
            getattr(compiled, run)([Value(draw.uniform(-2, 2)) for _ in range(60)])
        (program,) = compiled.stats().programs
        sizes.append(program.nodes)
    assert sizes[0] == 5 * 60 < sizes[1]


def test_several_calls_are_not_answered_by_a_program_for_passes() -> None:
    """Which of a float and an int comes back is known of plain calls alone."""

    def steps(x: float) -> Any:
        return 2 if x > 0.0 else x

    compiled = rg.compile(steps)
    members = [(0.5,), (-0.5,), (1.5,), (-2.5,)]
    for _ in range(4):
        compiled.backward_batch(members)
        found = compiled.call_batch(members)
        assert [(type(one), one) for one in found] == [(type(steps(*one)), steps(*one)) for one in members]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_one_guard_for_the_result(f: Callable[[Sequence[Any]], Any]) -> None:
    compiled = rg.compile(f)
    draw = random.Random(3)
    for _ in range(30):
        compiled.value_and_grad([0.9, 1.3, *(draw.uniform(0.2, 1.8) for _ in range(4)), 0.1, 0.2])
    (program,) = compiled.stats().programs
    assert program.guards <= 1
    assert compiled.stats().eager == 0


def test_each_of_several_results_has_its_kind() -> None:
    def several(x: Sequence[Any]) -> list[Any]:
        return [hinge(x[:2]), clipped(x[2:]), x[0] * x[1]]

    compiled = rg.compile(several)
    for x in ([0.5, 0.2, 0.3, 0.1], [0.4, 2.0, 0.3, 5.0], [2.0, 2.0, 0.3, 0.1], [0.5, 0.1, 7.0, 7.0]):
        for _ in range(2):
            values = [Value(number) for number in x]
            found, expected = compiled(values), several(values)
            assert list(map(type, found)) == list(map(type, expected))
            assert [float(getattr(v, "data", v)) for v in found] == [float(getattr(v, "data", v)) for v in expected]


DATACLASSES: dict[str, dict[str, Any]] = {
    "plain": {},
    "frozen": {"frozen": True},
    "ordered": {"order": True},
    "slots": {"slots": True, "frozen": True},
}


@pytest.mark.parametrize("options", DATACLASSES)
def test_dataclasses_of_all_kinds(options: str) -> None:
    @dataclasses.dataclass(**DATACLASSES[options])
    class State:
        level: Any
        past: list[Any] = dataclasses.field(default_factory=list)

    def run(rate: Any, rains: Sequence[float]) -> Any:
        state, spilled = State(rate * 1.0), 0.0
        for rain in rains:
            spilled = spilled + max(0.0, state.level + rain - 1.0)
            state = State(max(0.0, min(1.0, state.level + rain) - rate))
        return state.level + spilled

    compiled = rg.compile(run)
    draw = random.Random(6)
    for _ in range(30):
        rains = [draw.uniform(0.2, 0.6) for _ in range(10)]
        rate = Value(draw.uniform(0.05, 0.15))
        assert compiled(rate, rains).data == pytest.approx(run(rate, rains).data, rel=1e-12)
    assert compiled.stats().traces == 1
    assert compiled.stats().eager == 0


@dataclasses.dataclass
class Basin:
    level: Any
    spilled: list[Any] = dataclasses.field(default_factory=list)

    def step(self, rain: float, rate: Any) -> None:
        self.spilled.append(max(0.0, self.level + rain - 1.0))
        self.level = max(0.0, min(1.0, self.level + rain) - rate)


def test_what_dataclass_writes_asks_for_no_kind_of_number() -> None:
    """Nor for the identity of an argument: fresh Values in each call have one program."""

    def run(rate: Any, rains: Sequence[float]) -> Any:
        basin = Basin(rate * 1.0)
        for rain in rains:
            basin.step(rain, rate)
        return basin.level + sum(basin.spilled) + rate * rate

    compiled = rg.compile(run)
    draw = random.Random(4)
    for _ in range(30):
        rains = [draw.uniform(0.0, 0.6) for _ in range(10)]
        x, y = Value(draw.uniform(0.05, 0.3)), Value(0.0)
        y.data = x.data
        compiled(x, rains).backward()
        run(y, rains).backward()
        assert x.grad == pytest.approx(y.grad, rel=1e-12)
    stats = compiled.stats()
    assert stats.traces == 1
    assert stats.eager == 0


class _Leaf:
    """A class of the user's, of which no number is."""

    def __init__(self, at: int) -> None:
        self.at = at


_Tree = tuple[Any, ...] | str | list[Any] | _Leaf
_TREE: _Tree = ("or", ["and", "0", _Leaf(1)], "2", ("and", _Leaf(3), "4", "5"))


def _aged(ps: Sequence[Any], xs: Sequence[float], at: int) -> Any:
    """A plain number, or a Value after the first visit."""
    age: Any = 2.0 + abs(xs[at])
    limit = 0.5 + abs(ps[at])
    while age > limit:
        age = age - limit
    return 1.0 - rg.math.exp(-age)


def _fails(tree: _Tree, ps: Sequence[Any], xs: Sequence[float]) -> Any:
    if isinstance(tree, str):
        return _aged(ps, xs, int(tree))
    if isinstance(tree, _Leaf):
        return _aged(ps, xs, tree.at)
    total: Any = 1.0
    for child in tree[1:]:  # an assert would be rewritten by pytest, and asks more
        total = total * (_fails(child, ps, xs) if tree[0] == "and" else 1.0 - _fails(child, ps, xs))
    return total if tree[0] == "and" else 1.0 - total


def test_who_asks_for_what_no_number_is_asks_for_no_kind_of_number() -> None:
    """A walk through a tree asks what its nodes are: what is a Value or a number, as tests come out, may be so."""
    compiled = flips(lambda ps, xs: _fails(_TREE, ps, xs), bound=1e-9)
    assert is_converted(compiled)


def test_who_asks_whether_a_chosen_number_is_a_float_gets_the_function_s_answer() -> None:
    def asking(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        found: list[Any] = [_aged(ps, xs, at) if xs[at] > 0.3 * ps[at] else xs[at] for at in range(3)]
        return sum(2.0 * one if isinstance(one, (str, float)) else one for one in found) + ps[3]

    flips(asking, bound=1e-9)


def _inner_class() -> list[Callable[[Any], Any]]:
    class Inner:
        pass

    return [lambda x: isinstance(x, Inner), lambda xs: [isinstance(x, Inner) for x in xs]]


class _Meta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return True


class _Anything(metaclass=_Meta):
    pass


@pytest.mark.parametrize(
    ("asks", "f"),
    [
        (False, lambda x: isinstance(x, str)),
        (False, lambda x: isinstance(x[1].y(2, z=3), (str, list))),
        (False, lambda x: isinstance(x, _Leaf | dict)),
        (False, lambda xs: [isinstance(x, _Leaf) for x in xs]),
        (False, _inner_class()[0]),
        (True, lambda x: isinstance(x, (str, float))),
        (True, lambda x: isinstance(x, Value)),
        (True, lambda x: isinstance(x, rg.Value)),
        (True, lambda x: isinstance(x, int | str)),
        (True, lambda x: isinstance(x, object)),
        (True, lambda x: isinstance(x, numbers.Real)),
        (True, lambda x: isinstance(x, _Anything)),
        (True, lambda x, y: isinstance(x, str) or isinstance(y, bool)),
        (True, lambda x: isinstance(x if x else 1, str) and type(x) is float),
        (True, lambda xs: [*map(isinstance, xs, [float])]),
        (True, lambda x: isinstance(*x)),
        (True, lambda x: hasattr(x, "data")),
        (True, lambda x: x.__class__),
    ],
)
def test_what_asks_for_a_kind_of_number(asks: bool, f: Callable[[Any], Any]) -> None:
    assert asks_for_numbers(cast(types.FunctionType, f)) is asks


def test_what_is_shown_is_what_runs() -> None:
    """``program()`` and ``inspect()`` trace with the same questions as calls do."""
    compiled = rg.compile(hinge)
    compiled.value_and_grad([0.5, 1.5, 2.0, 0.1])
    assert "max(" in compiled.program(after="lift")
    assert "max(" in compiled.inspect([Value(0.5), Value(1.5)]).after("lift")


def test_jax_needs_no_kind() -> None:
    """There a result is a number in any case."""
    require("jax")
    compiled, at = rg.compile(hinge), [0.5, 0.2, 2.0, 0.1]
    in_jax = compiled.to_jax(at)
    for x in (at, [5.0] * 4, [5.0, 0.5, 0.5, 0.5]):
        assert float(in_jax(in_jax.parameters, *in_jax.inputs(x))) == pytest.approx(hinge(x))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: max(x, 0),
        lambda x: min(-x, 1),
        lambda x: max(0, min(1, x)) + 1,
        lambda x: -(max(x, 0) ** 2),
        lambda x: max([x, 0, x - 1]),
        lambda x: (x if x > 0 else 0) + max(x - 1, 0),
        lambda x: x if x > 0 else 0,
    ],
)
@pytest.mark.parametrize("first", [-1.0, 0.0, 2.5])
def test_an_int_that_the_first_call_chooses_is_no_type_of_others(f: Callable[[float], Any], first: float) -> None:
    compiled = rg.compile(f)
    for x in (first, -1.0, 2.5, 0.3, -7.5, 1.25, float("nan"), 3.75):
        assert compiled(x) == pytest.approx(f(x), rel=1e-15, nan_ok=True), x


def test_what_max_chooses_inside_no_grad_is_the_argument_itself() -> None:
    def f(p: Sequence[Any]) -> Any:
        with rg.no_grad():
            low, high = min(p[0], p[1]), max(p[0] * 2.0, p[1], 0.5)
        return p[0] * low + high * p[1]

    compiled = rg.compile(f)
    for point in ([1.0, 2.0], [2.0, 1.0], [-1.0, 3.0], [5.0, -2.0], [-3.0, -4.0], [0.5, 0.25]) * 2:
        assert compiled(point) == f(point)
        assert compiled.value_and_grad(point) == rg.value_and_grad(f)(point)


def carried(x: float) -> Any:
    largest: Any = 0
    for one in (x, x + 1.0):
        largest = max(largest, one)
    return isinstance(largest, float)


def matched(x: float) -> Any:
    match max(x, 0):
        case int():
            return True
        case _:
            return False


ASKED: dict[str, Callable[[float], Any]] = {
    "int": lambda x: isinstance(max(x, 0), int),
    "float": lambda x: isinstance(min(x, 0), float),
    "bool": lambda x: isinstance(max(x, True), bool),
    "a sum": lambda x: isinstance(max(x, 0) + 1, int),
    "a size": lambda x: isinstance(abs(min(x, 0)), float),
    "a union": lambda x: isinstance(max(x, 0), int | str),
    "attribute": lambda x: hasattr(max(x, 0), "bit_length"),
    "class": lambda x: max(x, 0).__class__ is int,
    "carried": carried,
    "matched": matched,
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_what_max_gives_is_an_int_or_a_float(name: str) -> None:
    asked = ASKED[name]

    def function(weight: float, x: float) -> Any:
        return weight * 2.0 if asked(x) else weight * x

    compiled = rg.compile(function)
    for x in (0.5, -0.5, 1.5, -2.0, 0.25, -0.25, 3.0, -3.0) * 4:
        assert compiled(0.7, x) == function(0.7, x)


def test_an_int_or_a_float_as_an_index() -> None:
    def function(weight: float, x: float) -> Any:
        try:
            return weight * [1.0, 2.0][max(x, 0)]
        except TypeError:
            return weight * 5.0

    compiled = rg.compile(function)
    for x in (2.0, -2.0, -1.0, 3.0, -3.0):
        assert compiled(1.0, x) == function(1.0, x)


def saturated(x: Any, y: Any) -> Any:
    return y * (3.0 if min(max(2.0 * x, 0.0), 1.0) in {0.0, 1.0} else 1.0)


def histogram(x: Any, y: Any) -> Any:
    found: dict[Any, float] = {}
    for one in (2.0 * x, 2.0 * y, x + y):
        found[max(one, 0.0)] = found.get(max(one, 0.0), 0.0) + 1.0
    return found.get(0.0, 0.0) * y + len(found)


def of_a_tuple(x: Any, y: Any) -> Any:
    return {(0.0, 1): 4.0}.get((max(2.0 * x, 0.0), 1), 1.0) * y


def of_what_is_computed(x: Any, y: Any) -> Any:
    return {0.0: 5.0}.get(2.0 * max(x, 0.0), 2.0) * y


def one_of_two(x: Any, y: Any) -> Any:
    first, second = 2.0 * x, 3.0 * y
    return y * (1.0 if max(first, second) in {first} else 2.0)


def one_by_numpy(x: Any, y: Any) -> Any:
    first, second = 2.0 * x, 3.0 * y
    return y * (1.0 if np.maximum(first, second) in {first} else 2.0)


def its_data(x: Any, y: Any) -> Any:
    return max(x, 0.0).data * y


def caught(x: Any, y: Any) -> Any:
    chosen = max(x, 0.0)
    try:
        return chosen.tanh() * y
    except AttributeError:
        return (chosen + 10.0) * y


def by_pattern(x: Any, y: Any) -> Any:
    match max(x, 0.0):
        case float():
            return 3.0 * y
        case _:
            return y


@functools.singledispatch
def weight(chosen: Any) -> float:
    return 1.0


@weight.register
def _(chosen: float) -> float:
    return 3.0


def by_dispatch(x: Any, y: Any) -> Any:
    return weight(2.0 * np.maximum(x, 0.0)) * y


def by_dtype(x: Any, y: Any) -> Any:
    return y * (1.0 if np.array([max(x, 0.0)]).dtype == object else 2.0)


def by_its_names(x: Any, y: Any) -> Any:
    return y * (1.0 if "data" in dir(max(x, 0.0)) else 2.0)


def refused(x: Any, y: Any) -> Any:
    try:
        return y * math.exp(max(x, 0.0))
    except TypeError:
        return 7.0 * y


TOLD: list[Callable[..., Any]] = [
    *(saturated, histogram, of_a_tuple, of_what_is_computed, one_of_two, one_by_numpy),
    *(its_data, caught, by_pattern, by_dispatch, by_dtype, by_its_names, refused),
]


@pytest.mark.parametrize("f", TOLD)
@pytest.mark.parametrize("first", [0.3, -1.0, 2.0])
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_who_tells_a_value_from_a_number_gets_the_functions_answer(f: Callable[..., Any], first: float) -> None:
    """As a key, by an attribute or a class: which of both ``max`` has chosen is checked in each call then."""
    compiled, values = rg.compile(f), rg.compile(f)
    for x in (*[first + 0.01 * k for k in range(12)], -1.0, 0.4, 2.0, -0.5, 3.0):
        try:
            expected: Any = rg.value_and_grad(f, argnums=(0, 1))(x, 1.5)
        except AttributeError:
            with pytest.raises(AttributeError):
                rg.value_and_grad(compiled, argnums=(0, 1))(x, 1.5)
            continue
        assert rg.value_and_grad(compiled, argnums=(0, 1))(x, 1.5) == expected
        found, plain = values(Value(x), Value(1.5)), f(Value(x), Value(1.5))
        assert (type(found), float(getattr(found, "data", found))) == (type(plain), getattr(plain, "data", plain))


def test_a_number_that_is_read_costs_a_guard() -> None:
    """A sum of hinges is a Value if one is: which of them, no call compares."""

    def scaled(w: Any, x: Sequence[float]) -> Any:
        loss = sum(max(0.0, 1.0 - w * one) for one in x)
        return loss * (1.0 + 0.01 * loss.data)

    compiled, draw = rg.compile(scaled), random.Random(3)
    for _ in range(30):
        compiled(Value(0.5), [draw.gauss(0.0, 1.0) for _ in range(6)])
    (program,) = compiled.stats().programs
    assert program.guards <= 2  # that the loss is, and the result
    assert compiled.stats().eager == 0
