"""Arguments that are part of a program although calls bring new objects: arrays of ints, sets, ranges, dates."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
from array import array
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.errors import CompileWarning

pytestmark = pytest.mark.native

W = [rg.Value(0.5), rg.Value(-1.5), rg.Value(2.0)]


def calls(function: Callable[..., Any], arguments: list[tuple[Any, ...]], programs: int, eager: int = 0) -> Any:
    """Each call gives what the function gives, of the same type, and so does the pass; so many programs at the end."""
    compiled = rg.compile(function)
    for each in arguments:
        for value in W:
            value.grad = 0.0
        wanted = function(*each)
        if isinstance(wanted, rg.Value):
            wanted.backward()
            slopes = [value.grad for value in W]
            for value in W:
                value.grad = 0.0
            assert compiled.backward(*each) == pytest.approx(wanted.data, rel=1e-12)
            assert [value.grad for value in W] == pytest.approx(slopes, rel=1e-12)
        else:
            assert repr(compiled(*each)) == repr(wanted)
    assert len(compiled.stats().programs) == programs, compiled.stats()
    assert compiled.stats().eager == eager, compiled.stats()
    return compiled


@dataclass
class Tagged:
    number: float
    tags: frozenset[Any]
    places: Any


#: What makes one argument, what makes another one, and a function of it.
CASES: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[Any], Any]]] = {
    "set": (lambda: {1, 2, "a"}, lambda: {1, 2, "b"}, lambda s: 2.0 if "a" in s else 3.0),
    "the order of a set": (lambda: {8, 0}, lambda: {0, 8}, lambda s: next(iter(s))),
    "frozenset": (lambda: frozenset([1, (3, 4)]), lambda: frozenset([1, (3, 5)]), lambda s: 2.0 if (3, 4) in s else 1),
    "range": (lambda: range(0, 3, 2), lambda: range(0, 4, 2), lambda r: r.stop + sum(r)),
    "slice": (lambda: slice(1, 3), lambda: slice(1, None), lambda s: sum([1.0, 2.0, 4.0, 8.0][s])),
    "fraction": (lambda: fractions.Fraction(1, 3), lambda: fractions.Fraction(2, 3), float),
    "decimal": (lambda: decimal.Decimal("1.0"), lambda: decimal.Decimal("1.00"), lambda d: len(str(d))),
    "date": (lambda: datetime.date(2026, 1, 2), lambda: datetime.date(2026, 2, 1), lambda d: d.month),
    "fold": (
        lambda: datetime.datetime(2026, 1, 2, 3),
        lambda: datetime.datetime(2026, 1, 2, 3, fold=1),
        lambda d: d.fold + 1,
    ),
    "path": (lambda: pathlib.Path("a/b"), lambda: pathlib.Path("a/bc"), lambda p: len(p.name)),
    "bytearray": (lambda: bytearray(b"ab"), lambda: bytearray(b"ac"), lambda b: b[1]),
    "array": (lambda: array("i", [1, 2]), lambda: array("i", [1, 3]), lambda a: a[1]),
    "ints": (lambda: np.array([1, 2]), lambda: np.array([[1], [2]]), lambda a: a.ndim + a.sum()),
    "uint8": (lambda: np.array([200, 10], np.uint8), lambda: np.array([20], np.uint8), lambda a: a[0] + a[-1]),
    "another type": (lambda: np.array([200, 100], np.uint8), lambda: np.array([200, 100]), lambda a: a.itemsize),
    "masks": (lambda: np.array([True, False]), lambda: np.array([True, True]), lambda a: a.sum() + 1),
    "texts": (lambda: np.array(["a", "b"]), lambda: np.array(["a", "c"]), lambda a: 2.0 if a[1] == "b" else 3.0),
    "dates": (
        lambda: np.array(["2026-01-02"], "M8[D]"),
        lambda: np.array(["2026-01-03"], "M8[D]"),
        lambda a: 2.0 if a[0] > np.datetime64("2026-01-02") else 3.0,
    ),
    "a truth value of NumPy's": (lambda: np.True_, lambda: np.False_, lambda b: 2.0 if b else 3.0),
    "a wide int of NumPy's": (lambda: np.int64(2**40), lambda: np.int64(2**41), lambda n: n // 2**39),
    "in a list": (lambda: [{1}, np.array([2])], lambda: [{1}, np.array([2, 3])], lambda x: len(x[0]) + x[1].sum()),
    "in a dictionary": (lambda: {"a": range(2)}, lambda: {"a": range(3)}, lambda x: len(x["a"])),
    "in a dataclass": (
        lambda: Tagged(1.0, frozenset("ab"), np.array([1, 2])),
        lambda: Tagged(1.0, frozenset("abc"), np.array([1, 2])),
        lambda x: x.number * len(x.tags) + x.places.sum(),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_equal_ones_are_answered_by_one_program(case: str) -> None:
    one, other, read = CASES[case]
    numbers = iter(range(1, 99))
    arguments = [(0.5 * next(numbers), make()) for make in (one, one, one, other, one, other)]
    calls(lambda x, thing: W[0] * x * float(read(thing)), arguments, 2)
    calls(lambda x, thing: x * float(read(thing)), arguments, 2)


CONTAINERS: dict[str, tuple[Callable[[float], Any], Callable[[Any], Any]]] = {
    "deque": (lambda x: deque([x, 2.0], maxlen=3), lambda d: d[0] * d.maxlen + d[-1]),
    "namespace": (lambda x: SimpleNamespace(a=x, b=[2.0]), lambda s: s.a * s.b[0]),
    "objects": (lambda x: np.array([x, rg.Value(2.0)], dtype=object), lambda a: a[0] * a[1]),
    "objects in two axes": (lambda x: np.array([[x, 2.0], [3.0, x]], dtype=object), lambda a: (a @ a).sum()),
    "Counter": (lambda x: Counter({"a": x}), lambda c: c["a"] + c["b"]),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_numbers_in_other_containers_are_inputs(case: str) -> None:
    make, read = CONTAINERS[case]
    calls(lambda thing: W[0] * read(thing), [(make(0.5 * i),) for i in range(1, 6)], 1)


def test_containers_of_another_structure_have_programs_of_their_own() -> None:
    queues = [(deque([1.0], maxlen=2),), (deque([1.0], maxlen=3),), (deque([1.0, 2.0], maxlen=3),)]
    calls(lambda d: W[0] * d[0] * d.maxlen * len(d), queues, 3)
    spaces = [(SimpleNamespace(a=1.0),), (SimpleNamespace(a=1.0, b=2.0),), (SimpleNamespace(b=2.0, a=3.0),)]
    calls(lambda s: W[0] * getattr(s, "b", 5.0) * s.a * next(iter(vars(s).values())), spaces, 3)


def test_what_a_function_changes_runs_as_it_is() -> None:
    def set_first(x: float, ints: Any) -> Any:
        ints[0] += 1
        return W[0] * x * ints[0]

    def add(x: float, things: Any) -> Any:
        things.add(x)
        return W[0] * len(things)

    def append(x: float, things: Any) -> Any:
        things.append(x)
        return W[0] * things[0]

    def attribute(x: float, thing: Any) -> Any:
        thing.total = x
        return W[0] * thing.a

    cases: list[tuple[Any, Callable[[], Any]]] = [
        (set_first, lambda: np.array([1, 2])),
        (set_first, lambda: bytearray(b"ab")),
        (set_first, lambda: array("i", [1, 2])),
        (add, lambda: {1}),
        (append, lambda: deque([1.0])),
        (append, lambda: array("i", [])),
        (attribute, lambda: SimpleNamespace(a=1.0)),
    ]
    for function, make in cases:
        compiled, copies = rg.compile(function), [make(), make()]
        with pytest.warns(CompileWarning, match="changes an argument"):
            assert compiled(2, copies[0]).data == function(2, copies[1]).data
        assert compiled(3, copies[0]).data == function(3, copies[1]).data
        assert repr(copies[0]) == repr(copies[1])


def test_which_container_it_is() -> None:
    kept = [np.array([1, 2]), {1}, deque([1.0])]

    def among(x: float, thing: Any) -> Any:
        return W[0] * x if any(thing is one for one in kept) else W[1] * x

    for one, copy in zip(kept, [np.array([1, 2]), {1}, deque([1.0])], strict=True):
        calls(among, [(0.5, one), (0.5, copy), (1.5, one), (1.5, copy)], 2)
    twice = np.array([1, 2])
    calls(lambda x, a, b: W[0] * x if a is b else W[1] * x, [(0.5, twice, twice), (0.5, twice, twice.copy())], 2)


def test_shorter_floats_shorten_pythons() -> None:
    third, table = np.float32(1 / 3), np.array([0.1, 0.7], np.float32)
    for function in (
        lambda x: x * third,
        lambda x: third * x,
        lambda x: (x + table[0], x),
        lambda x: x * 1.0 if x > third else 2.0 * x,
        lambda x: x * np.sqrt(np.uint16(7)),
        lambda x: max(x, third) * 2.0,
        lambda x: np.where(x > 0.5, x, third) * 2.0,
    ):
        with pytest.warns(CompileWarning, match="computes with a float32"):
            calls(function, [(0.7,), (1 / 3,), (1 / 3 + 1e-12,)], 0, eager=3)
    calls(lambda x: x * third, [(np.float64(0.7),), (np.float64(1 / 3),)], 1)
    calls(lambda xs: xs[0] * table[1] + table[0] * xs[1], [(np.array([0.7, 0.2]),), (np.array([0.1, 0.3]),)], 1)
    calls(lambda x: W[0] * x * table[1], [(0.7,), (0.3,)], 1)


class State(enum.Enum):
    """What a machine does."""

    OPEN = 1
    SHUT = 2


MISSING = object()


@dataclass
class Machine:
    number: float
    state: State
    count: int


def opened(machine: Machine, other: Any = MISSING, law: Any = max) -> Any:
    factor = 2.0 if machine.state is State.OPEN else 3.0
    if other is not MISSING and law is not max:
        factor += 1.0
    return W[0] * machine.number * factor * machine.count


def test_which_member_of_an_enumeration_it_is() -> None:
    machines = [(Machine(0.5 * i, State.OPEN, i),) for i in range(1, 9)]
    calls(opened, machines, 2)  # the first count is part of the first program
    calls(opened, [*machines, *((Machine(0.5, State.SHUT, 7), 1.0, min) for _ in range(3))], 3)
    namespace: dict[str, Any] = {"State": State, "__name__": "__main__"}
    exec("def is_open(x, state): return x * 2.0 if state is State.OPEN else x", namespace)
    compiled = rg.compile(namespace["is_open"])
    assert (compiled(1.0, State.OPEN), compiled(1.0, State.SHUT)) == (2.0, 1.0)
    namespace["State"] = type("Others", (), {"OPEN": State.SHUT})
    assert (compiled(1.0, State.OPEN), compiled(1.0, State.SHUT)) == (1.0, 2.0)


def test_which_record_it_is() -> None:
    first = Machine(0.5, State.OPEN, 1)

    def is_first(machine: Machine) -> Any:
        return W[0] * machine.number if machine is first else W[1] * machine.number

    calls(is_first, [(first,), (Machine(0.5, State.OPEN, 1),), (first,)], 2)
