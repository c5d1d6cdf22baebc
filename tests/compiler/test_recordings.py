"""A trace is enough: recomputed at other numbers and indices, with its guards intact, it gives what the function gives.

The replay here is the definition in plain Python; the compiler's programs do the same in C++.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrograd as rg
from retrograd import Index, Value, engine, nn
from retrograd.compiler.tracing.recorder import Recorder
from retrograd.compiler.tracing.recording import Choice, Recording
from retrograd.ops import NARY

pytestmark = pytest.mark.native  # the reference engine has no compiler

RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
             "!=": operator.ne}  # fmt: skip
SEQUENCES = {row.name for row in NARY}


class Replay:
    """The numbers of a trace's nodes where some leaves have other numbers and the indices other values."""

    def __init__(self, trace: Recording, leaves: dict[int, float], indices: list[int]) -> None:
        self.trace = trace
        self.indices = indices
        self.numbers = dict(leaves)
        self.selections = {id(selection.node): selection for selection in trace.selections}

    def holds(self) -> bool:
        """Whether every guard comes out as it did."""
        compared = self.trace.compared
        for guard, one, other in zip(self.trace.guards, compared[::2], compared[1::2], strict=True):
            left, right = (0.0 if side is None else self.number(side) for side in (one, other))
            if RELATIONS["!=" if guard.kind == "bool" else guard.kind](left, right) != guard.outcome:
                return False
        return all(
            RELATIONS[guard.kind](
                self.indices[guard.slot], guard.other if guard.other_slot is None else self.indices[guard.other_slot]
            )
            == guard.outcome
            for guard in self.trace.index_guards
        )

    def number(self, value: Value | float) -> float:
        if not isinstance(value, Value):
            return value
        for node in rg.topological_order(value):
            if id(node) not in self.numbers:
                self.numbers[id(node)] = self.computed(node)
        return self.numbers[id(value)]

    def computed(self, node: Value) -> float:
        name = engine.row_name(node)
        if not name:
            return node.data
        if id(node) in self.selections:
            selection = self.selections[id(node)]
            if selection.choice is not Choice.BY_INDEX:
                choose = max if selection.choice is Choice.FIRST_MAX else min
                return choose(map(self.number, selection.candidates))
            return self.number(selection.candidates[self.indices[selection.slot]])
        xs = [self.number(operand) for operand in engine.operands(node)]
        if name not in SEQUENCES:
            return engine.evaluate(name, *xs)
        half = len(xs) // 2
        result = engine.reduce(name, xs[:half], xs[half:]) if name == "dot" else engine.reduce(name, xs)
        return result[engine.output_index(node)] if isinstance(result, list) else result


def plain(result: Any) -> float:
    return result.data if isinstance(result, Value) else float(result)


PARAMETERS = [Value(0.3), Value(-0.8), Value(1.7)]


def branches(x: float, y: float, i: int) -> Any:
    if x > y:
        return rg.take(PARAMETERS, i) * x
    while y > 0.5:
        y = y - 0.5
    return PARAMETERS[0] * y + (1.0 if i == 2 else 0.0)


def softmax(x: float, y: float, i: int) -> Any:
    scores = [p * x + y for p in PARAMETERS]
    largest = max(s.data for s in scores)
    exponentials = [(s - largest).exp() for s in scores]
    return rg.take(exponentials, i) / sum(exponentials)


def pieces(x: float, y: float, i: int) -> Any:
    table = [[1.0, x], [y, 2.0], [x * y, -1.0]]
    first, second = rg.table(table)[i]
    low, high = sorted([first, second])
    return abs(low) ** 1.5 + min(high, 0.3, x) + rg.math.logsumexp([low, high, PARAMETERS[1]]) + (high % 0.7)


def values_of_floats(x: float, y: float, i: int) -> Any:
    a, b = Value(x), Value(y)
    best = max([a * b, a + b, a - b])
    with rg.no_grad():
        scale = (a * a + 1.0).sqrt()
    return best / scale + (best.data if best.data > 0 else -best.data) * PARAMETERS[i == 1]


def pricer(x: float, y: float, i: int) -> Any:
    payoff = PARAMETERS[2] * 3.0 + x
    payoff = (payoff - y).relu() if i != 0 else -payoff
    return payoff.exp() if payoff < 4 else payoff * payoff


random.seed(5)
NEURON = nn.Neuron(2)


def neuron(x: float, y: float, i: int) -> Any:
    return nn.hinge(NEURON([x, y]), rg.take([-1.0, 1.0, 1.0], i))


PROGRAMS = [branches, softmax, pieces, values_of_floats, pricer, neuron]
NUMBERS = st.floats(-3, 3)
POINTS = st.tuples(NUMBERS, NUMBERS, st.integers(0, 2))
Point = tuple[float, float, int]


def replayed(f: Callable[..., Any], traced: Point, at: Point) -> float | None:
    """What a trace made at one point gives at another one; None when a guard breaks."""
    recorder = Recorder()
    leaves = Value(traced[0]), Value(traced[1])
    trace = recorder.run(f, [*map(recorder.number, leaves), recorder.index(0, traced[2])])
    assert trace.replayable
    replay = Replay(trace, {id(leaves[0]): at[0], id(leaves[1]): at[1]}, [at[2]])
    return replay.number(trace.result) if replay.holds() else None


@pytest.mark.parametrize("f", PROGRAMS)
@settings(max_examples=150, deadline=None)
@given(first=POINTS, second=POINTS)
def test_a_replay_is_a_call(f: Callable[..., Any], first: Point, second: Point) -> None:
    expected = plain(f(second[0], second[1], Index(second[2])))
    assert replayed(f, second, second) == expected
    assert replayed(f, first, second) in (None, expected)


@pytest.mark.parametrize("f", PROGRAMS)
def test_guards_are_no_stricter_than_the_branches(f: Callable[..., Any]) -> None:
    """A replay at another point often stands: of 200 random pairs always, or a fraction where there are branches."""
    chooser = random.Random(1)
    points = [(chooser.uniform(-3, 3), chooser.uniform(-3, 3), chooser.randrange(3)) for _ in range(400)]
    held = sum(replayed(f, points[k], points[k + 1]) is not None for k in range(0, 400, 2))
    assert held == 200 if f is softmax else held >= 10
