"""A trace is enough: recomputed at other numbers and indices, with its guards intact, it gives what the function gives.

The replay here is the definition in plain Python; the compiler's programs do the same in C++.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import retrograd as rg
from retrograd import Index, Value, engine, nn
from retrograd.compiler.trace_records import Trace
from retrograd.compiler.tracing import Recorder
from retrograd.ops import NARY

RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
             "!=": operator.ne}  # fmt: skip
SEQUENCES = {row.name for row in NARY}


class Replay:
    """The numbers of a trace's nodes where some leaves have other numbers and the indices other values."""

    def __init__(self, trace: Trace, leaves: dict[int, float], indices: list[int]) -> None:
        self.trace = trace
        self.indices = indices
        self.numbers = dict(leaves)
        self.selections = {id(selection.node): selection for selection in trace.selections}

    def holds(self) -> bool:
        """Whether every guard comes out as it did."""
        for guard in self.trace.guards:
            left = self.number(guard.left)
            right = self.number(guard.right) if guard.right is not None else 0.0
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


NUMBERS = st.floats(-3, 3)
INDICES = st.integers(0, 2)


@pytest.mark.parametrize("f", [branches, softmax, pieces, values_of_floats, pricer, neuron])
@settings(max_examples=150, deadline=None)
@given(x=NUMBERS, y=NUMBERS, i=INDICES, u=NUMBERS, v=NUMBERS, j=INDICES)
def test_a_replay_is_a_call(f: Callable[..., Any], x: float, y: float, i: int, u: float, v: float, j: int) -> None:
    recorder = Recorder()
    leaves = Value(x), Value(y)
    trace = recorder.run(f, [*map(recorder.number, leaves), recorder.index(0, i)])
    assert trace.replayable
    assert plain(trace.result) == plain(f(x, y, Index(i)))
    replay = Replay(trace, {id(leaves[0]): u, id(leaves[1]): v}, [j])
    assume(replay.holds())
    assert replay.number(trace.result) == plain(f(u, v, Index(j)))


def test_replays_are_of_use() -> None:
    """Guards are few enough for the property above to be tested: softmax has none, and the neuron those of its kink."""
    for f, most in ((softmax, 0), (neuron, 1), (pieces, 12)):
        recorder = Recorder()
        trace = recorder.run(f, [*map(recorder.number, (Value(0.2), Value(0.9))), recorder.index(0, 1)])
        assert len(trace.guards) <= most
