"""When a program is made: a new graph is interpreted a few times, and its program is compared before it is used."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd import Value

pytestmark = pytest.mark.native

FIRST = 8  # calls that the interpreter answers: kRunsOfGraph
POINTS = [[math.sin(37.0 * k + call) for k in range(400)] for call in range(3 * FIRST)]


@pytest.fixture(autouse=True)
def _programs_are_made_at_once() -> None:
    """Not here."""


def total(numbers: Iterable[Any]) -> Any:
    """Their sum, one after the other: since Python 3.12, ``sum`` of floats compensates their rounding errors."""
    return functools.reduce(operator.add, numbers, 0.0)


def energy(p: list[Any]) -> Any:
    return total(x * x * 0.1 for x in p) + total(rm.exp(-x * y) for x, y in itertools.pairwise(p))


def cancels(p: list[Any]) -> Any:
    """Its sum depends on the order of addition, which is the program's own."""
    large = [1e16 * x for x in p]
    return total(item for x, big in zip(p, large, strict=True) for item in (big, x, -big))


def bits(function: Any, point: Any) -> tuple[float, list[float]]:
    value, gradient = function(point)
    return value, list(gradient)


def test_the_first_calls_have_the_engines_bits_and_later_ones_run_the_program() -> None:
    compiled, eager = rg.compile(energy), rg.value_and_grad(energy)
    same = []
    for point in POINTS:
        ours, theirs = bits(compiled.value_and_grad, point), bits(eager, point)
        assert ours[0] == pytest.approx(theirs[0], rel=1e-12)
        assert ours[1] == pytest.approx(theirs[1], rel=1e-12, abs=1e-14)
        same.append(ours == theirs)
    assert all(same[:FIRST])
    assert not all(same[FIRST:])
    assert compiled.tier == "vm"
    assert (compiled.stats().traces, compiled.stats().hits) == (1, len(POINTS))


def test_who_asks_for_the_program_gets_it_and_the_next_call_compares_it() -> None:
    compiled, eager = rg.compile(energy), rg.value_and_grad(energy)
    assert bits(compiled.value_and_grad, POINTS[0]) == bits(eager, POINTS[0])
    assert compiled.tier == "vm"
    program = compiled.stats().programs[0]
    assert program.instructions > 0
    assert {"lift", "expand", "reroll", "verify", "lower"} <= set(program.milliseconds)
    assert any(bits(compiled.value_and_grad, point) != bits(eager, point) for point in POINTS[:4])


@pytest.mark.parametrize("asked", [False, True])
def test_a_program_that_gives_other_numbers_is_never_used(asked: bool) -> None:
    compiled, eager = rg.compile(cancels), rg.value_and_grad(cancels)
    for k, point in enumerate(POINTS[: 2 * FIRST]):
        assert bits(compiled.value_and_grad, [*point[:60]]) == bits(eager, [*point[:60]])
        if asked and k == 0:
            assert compiled.tier == "vm"
    assert compiled.tier == "interpreter"
    assert compiled.stats().eager == 0


def test_gradients_of_parameters_and_arguments_are_added_before_and_after() -> None:
    w = [Value(x) for x in POINTS[0][:50]]
    compiled = rg.compile(lambda x: energy(w) * x)
    plain = [Value(x) for x in POINTS[0][:50]]
    for k in range(2 * FIRST):
        mine, theirs = Value(0.5 * k), Value(0.5 * k)
        root = energy(plain) * theirs
        root.backward()
        assert compiled.backward(mine) == pytest.approx(root.data, rel=1e-12)
        assert mine.grad == pytest.approx(theirs.grad, rel=1e-12)
        assert [v.grad for v in w] == pytest.approx([v.grad for v in plain], rel=1e-11, abs=1e-12)


def test_several_results_are_compared_each() -> None:
    def both(p: list[Any]) -> list[Any]:
        return [energy(p), cancels(p[:60])]

    compiled = rg.compile(both)
    for point in POINTS[: 2 * FIRST]:
        assert compiled(point) == both(point)
    assert compiled.tier == "interpreter"


def test_a_batch_makes_the_program() -> None:
    w = [Value(x) for x in POINTS[0][:50]]
    compiled = rg.compile(lambda x: energy(w) * x)
    assert compiled.backward_batch([(0.5,), (1.5,)]) == pytest.approx(energy(w).data, rel=1e-12)
    assert compiled.stats().programs[0].batches == (1, 2)


def test_an_index_that_selects_nothing_is_refused_by_the_graph_too() -> None:
    rows = [Value(1.0), Value(2.0), Value(3.0)]
    compiled = rg.compile(lambda i: rg.take(rows, i) * 2.0)
    assert compiled.backward(rg.Index(2)) == 6.0
    with pytest.raises(IndexError):
        compiled.backward(rg.Index(3))
    assert compiled.backward(rg.Index(1)) == 4.0


def test_a_guard_that_breaks_when_the_program_is_made_asks_for_another_trace() -> None:
    bent = rg.compile(lambda p: energy(p) if p[0] > 0.0 else 2.0 * energy(p))
    eager = rg.value_and_grad(lambda p: energy(p) if p[0] > 0.0 else 2.0 * energy(p))
    for k in range(3 * FIRST):
        point = [1.0 if k < FIRST else -1.0, *POINTS[k][1:]]
        assert bent.value_and_grad(point)[0] == pytest.approx(eager(point)[0], rel=1e-12)
    assert bent.stats().traces == 2


def test_what_the_compiler_lacks_stays_with_the_interpreter() -> None:
    w = Value(2.0)
    compiled = rg.compile(lambda x: w * x + rg.dot([], []) + rg.sum([w, x]))
    for _ in range(2 * FIRST):
        w.grad = 0.0
        assert (compiled.backward(3.0), w.grad) == (11.0, 4.0)
    assert compiled.stats().eager == 0


def test_exceptional_numbers_when_the_program_is_made_decide_nothing() -> None:
    compiled = rg.compile(lambda p: sum(x * x for x in p) + p[0])
    for k in range(3 * FIRST):
        point = [math.inf if k in (FIRST, FIRST + 1) else 1.0, *POINTS[k][1:]]
        assert compiled.value_and_grad(point)[0] == pytest.approx(sum(x * x for x in point) + point[0])
    assert compiled.tier == "vm"
