"""The two engines are one: same values, gradients and errors, bit for bit, on every row and on whole programs."""

from __future__ import annotations

import itertools
import math
import random
import struct
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograd import habits, ops
from retrograd.array_protocols import METHODS
from retrograd.engine import reference

native = pytest.importorskip("retrograd._native", reason="the native engine is not built: pip install .")

pytestmark = pytest.mark.native

ENGINES: tuple[ModuleType, ModuleType] = (native, reference)
#: Ordinary numbers, the neighbours of zero and one, edges of domains, the extremes and what is not finite.
ARGUMENTS = (
    0.0, -0.0, 1.0, -1.0, 1.0 - 2**-53, 1.0 + 2**-52, 0.5, -0.5, 0.3, 2.0, -2.5, 3.0, 10.25, 1e-300, 5e-324, -5e-324,
    1e200, -1e200, 1e308, -1e308, 1000.0, -1000.0, 709.9, math.inf, -math.inf, math.nan,
)  # fmt: skip
FEWER = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 5e-324, 1e200, -1e308, 1000.0, math.inf, -math.inf, math.nan)


def bits(x: float) -> bytes:
    return b"nan" if x != x else struct.pack("d", x)


def outcome(engine: ModuleType, compute: Callable[[Any, list[Any]], Any], numbers: tuple[float, ...]) -> object:
    """What a computation on fresh leaves gives: the results and gradients as bits, or the error's type and sentence."""
    leaves = [engine.Value(x) for x in numbers]
    try:
        y = compute(engine, leaves)
        ys = y if isinstance(y, list) else [y]
        partials = [[bits(g) for g in y._local_grads] for y in ys]
        for i, y in enumerate(ys):
            y.backward(1.0 + i)
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error).__name__, str(error)
    return [bits(y.data) for y in ys], partials, [bits(leaf.grad) for leaf in leaves]


@pytest.mark.parametrize("row", ops.OPS, ids=lambda row: row.name)
@pytest.mark.parametrize("raising", [True, False], ids=["raise", "ieee"])
def test_every_row_on_every_kind_of_argument(row: ops.Op, raising: bool) -> None:
    kinds = (ARGUMENTS, ARGUMENTS, FEWER)[row.arity - 1]
    for engine in ENGINES:
        engine.set_errstate(raising, raising, raising)
    try:
        for numbers in itertools.product(kinds, repeat=row.arity):
            results = [outcome(engine, lambda e, xs: e.apply(row.name, *xs), numbers) for engine in ENGINES]
            assert results[0] == results[1], (row.name, numbers)
    finally:
        for engine in ENGINES:
            engine.set_errstate(True, True, True)


@pytest.mark.parametrize("row", [row for row in ops.OPS if row.arity == 2], ids=lambda row: row.name)
def test_a_number_on_either_side(row: ops.Op) -> None:
    for x, number in itertools.product(ARGUMENTS, repeat=2):
        right = [outcome(e, lambda e, xs, k=number: e.apply(row.name, xs[0], k), (x,)) for e in ENGINES]
        left = [outcome(e, lambda e, xs, k=number: e.apply(row.name, k, xs[0]), (x,)) for e in ENGINES]
        assert right[0] == right[1], (row.name, x, number)
        assert left[0] == left[1], (row.name, number, x)


def reduce(engine: ModuleType, row: ops.NaryOp, xs: list[Any]) -> Any:
    half = len(xs) // 2
    return engine.reduce(row.name, xs[:half], xs[half:]) if row.paired else engine.reduce(row.name, xs)


@pytest.mark.parametrize("row", ops.NARY, ids=lambda row: row.name)
def test_every_sequence(row: ops.NaryOp) -> None:
    chooser = random.Random(row.name)
    for length in (1, 2, 3, 5, 8):
        for _ in range(60):
            numbers = tuple(
                chooser.choice(FEWER) if chooser.random() < 0.4 else chooser.gauss(0, 3) for _ in range(length)
            )
            if row.paired:
                numbers *= 2
            results = [outcome(e, lambda e, xs: reduce(e, row, xs), numbers) for e in ENGINES]
            assert results[0] == results[1], (row.name, numbers)


# --- whole programs -------------------------------------------------------------------------------------------

UNARY = [row.name for row in ops.OPS if row.arity == 1]
BINARY = [row.name for row in ops.OPS if row.arity == 2 and row.name != "polygamma"]
step = st.one_of(
    st.tuples(st.sampled_from(UNARY), st.integers(0, 30)),
    st.tuples(st.sampled_from(BINARY), st.integers(0, 30), st.integers(0, 30)),
    st.tuples(st.sampled_from(BINARY), st.integers(0, 30), st.floats(-3, 3)),
    st.tuples(st.sampled_from(BINARY), st.floats(-3, 3), st.integers(0, 30)),
    st.tuples(st.sampled_from([row.name for row in ops.NARY]), st.lists(st.integers(0, 30), min_size=1, max_size=5)),
)


def run(engine: ModuleType, leaves: list[float], steps: list[tuple[Any, ...]]) -> object:
    values = [engine.Value(x) for x in leaves]
    inputs = list(values)
    before = engine.set_errstate(False, False, False)
    try:
        for name, *operands in steps:
            if isinstance(operands[0], list):
                xs = [values[i % len(values)] for i in operands[0]]
                y = engine.reduce(name, xs, *([xs[::-1]] if name == "dot" else []))
                values.append(y[-1] if isinstance(y, list) else y)
            else:
                xs = [values[i % len(values)] if isinstance(i, int) else i for i in operands]
                if name == "copysign" and math.isnan(getattr(xs[1], "data", xs[1])):  # its sign is any (IEEE 754, 6.3)
                    continue
                values.append(engine.apply(name, *xs))
        root = values[-1]
        root.backward(1.5)
        middle = engine.gradients(root, 0.5, values)
        root.backward()
    finally:
        engine.set_errstate(*before)
    return (
        [bits(v.data) for v in values],
        [bits(v.grad) for v in values],
        [bits(g) for g in middle],
        [bits(v.grad) for v in inputs],
        [v._op for v in values],
        [engine.row_name(v) for v in engine.interior(root)],
        [[bits(g) for g in v._local_grads] for v in values],
        [[bits(c.data) for c in v._children] for v in values],
    )


@settings(max_examples=400, deadline=None)
@given(st.lists(st.floats(-4, 4), min_size=1, max_size=4), st.lists(step, min_size=1, max_size=25))
def test_programs(leaves: list[float], steps: list[tuple[Any, ...]]) -> None:
    assert run(native, leaves, steps) == run(reference, leaves, steps)


def test_weighted_sum_records_what_a_loop_records() -> None:
    for xs in ([0.5, -1.0, 2.0], [0.5, None, None]):
        results = []
        for engine in ENGINES:
            weights = [engine.Value(w) for w in (1.5, -0.0, 3.0)]
            inputs = [engine.Value(0.25) if x is None else x for x in xs]
            total = 0.1
            for w, x in zip(weights, inputs, strict=True):
                total = total + w * x
            for y in (total, engine.weighted_sum(weights, tuple(inputs), 0.1)):
                y.backward()
                nodes = engine.interior(y)
                results.append(
                    ([engine.row_name(v) for v in nodes], [bits(v.data) for v in nodes], [w.grad for w in weights])
                )
                engine.zero_gradients(weights)
        assert all(result == results[0] for result in results)
        for engine in ENGINES:
            with pytest.raises(ValueError, match=r"^this layer takes 1 input and got 2\.$"):
                engine.weighted_sum([engine.Value(1.0)], [1.0, 2.0], 0.0)
            with pytest.raises(ValueError, match=r"^dot needs .* length: the first has 1 element, the second 2\.$"):
                engine.reduce("dot", [engine.Value(1.0)], [1.0, 2.0])


def test_the_surfaces_are_equal() -> None:
    def public(value: type) -> set[str]:  # without what meets other libraries, on the engine in use
        return {name for name in dir(value) if not name.startswith("_")} - set(habits.VALUE) - set(METHODS)

    assert public(reference.Value) == public(native.Value)
    shared = set(reference.__all__) - {"Number"}
    assert shared <= set(dir(native))


def test_the_reference_engine_refuses_a_tracer() -> None:
    assert reference.set_tracer(None) is None
    assert reference.hear_calls(0, print) is None  # type: ignore[func-returns-value]
    assert reference.contents([1.0], 1, bool, print) is None
    assert reference.concrete(reference.Value(2.5)) == 2.5
    with pytest.raises(RuntimeError, match="no compiler and cannot be traced"):
        reference.set_tracer(object())


def test_optimizers_agree() -> None:
    import numpy as np

    chooser = random.Random(7)
    start = [(chooser.gauss(0, 1), chooser.gauss(0, 1)) for _ in range(50)]
    results = []
    for engine in ENGINES:
        values = [engine.Value(x) for x, _ in start]
        m, v, velocity = np.zeros(50), np.zeros(50), np.zeros(50)
        for t in range(1, 6):
            for value, (_, g) in zip(values, start, strict=True):
                value.grad = g * t
            engine.adam_step(values, m, v, t, 0.01, 0.9, 0.99, 1e-8, 0.1, t % 2 == 0)
            engine.sgd_step(values, velocity, 0.01, 0.9, 0.1, t % 2 == 0)
            engine.sgd_step(values, None, 0.01, 0.0, 0.0, False)
        engine.zero_gradients(values)
        assert all(value.grad == 0.0 for value in values)
        results.append(([bits(value.data) for value in values], m.tolist(), v.tolist(), velocity.tolist()))
    assert results[0] == results[1]
