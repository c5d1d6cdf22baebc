"""Derivatives of every row of the op table to third order, against PyTorch, JAX and each other."""

from __future__ import annotations

import itertools
import math
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.parts import require

from retrograd import engine
from retrograd.autodiff.check.cross_framework import Recipe, double_precision, jax_backend, torch_backend
from retrograd.autodiff.transforms import grad, gradient, hessian, hvp, jacobian, jvp
from retrograd.engine import Value, errstate
from retrograd.ops import NARY, OPS, NaryOp, Op

Apply = engine.apply
ROWS: list[Op | NaryOp] = [*OPS, *NARY]
NAMES = [row.name for row in ROWS]
WEIGHTS = (1.0, -0.6, 0.8, 0.3, 0.5, -0.9)


def same_bits(x: float, y: float) -> bool:
    return struct.pack("<d", x) == struct.pack("<d", y) or (x != x and y != y)


def sample(row: Op | NaryOp, seed: int) -> list[float]:
    """Operands of a row from the table's intervals."""
    generator = random.Random(f"{row.name} {seed}")
    if isinstance(row, NaryOp):
        return [generator.uniform(-2.0, 2.0) for _ in range(4 if row.paired else 3)]
    return [generator.uniform(low, high) for low, high in row.sample]


def call(row: Op | NaryOp, operands: Sequence[Any]) -> Value:
    """One result of a row; of several outputs a mixture, so that all of them count."""
    if isinstance(row, Op):
        fixed = [x.data if slot in row.static and isinstance(x, Value) else x for slot, x in enumerate(operands)]
        return Apply(row.name, *fixed)
    half = len(operands) // len(row.partials)
    result = engine.reduce(row.name, operands[:half], operands[half:] if row.paired else None)
    return engine.reduce("dot", result, WEIGHTS[: len(result)]) if isinstance(result, list) else result


def directional(xs: Sequence[Value], y: Any, order: int) -> list[float]:
    """y and its derivatives along WEIGHTS, one after the other, each by a sweep over the graph of the last."""
    results = [y.data]
    for _ in range(order):
        slopes = gradient(y, list(xs), create_graph=True)
        y = engine.reduce("dot", slopes, WEIGHTS[: len(xs)])
        results.append(y.data)
    return results


def close(ours: float, theirs: float, scale: float, tolerance: float) -> bool:
    return abs(ours - theirs) <= tolerance * max(abs(theirs), scale) or (math.isnan(ours) and math.isnan(theirs))


# --- the whole table, orders 1 to 3 ---------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_gradient_with_a_graph_has_the_bits_of_a_plain_one(row: Op | NaryOp) -> None:
    for seed in range(6):
        xs = [Value(x) for x in sample(row, seed)]
        y = call(row, xs) * 1.7 + xs[0]
        plain = gradient(y, xs)
        graph = gradient(y, xs, create_graph=True)
        for mine, other in zip(plain, graph, strict=True):
            assert isinstance(other, Value)
            assert same_bits(mine, other.data), (row.name, [x.data for x in xs])


EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 5e-324, 1e308, -1e308, 800.0, -800.0, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_gradient_with_a_graph_has_the_bits_of_a_plain_one_at_the_edges(row: Op | NaryOp) -> None:
    arity = 2 if isinstance(row, NaryOp) else row.arity
    if arity == 3:
        points = [(c, a, b) for c in (0.0, 1.0, math.nan) for a, b in itertools.product(EDGES[:8], repeat=2)]
    else:
        points = list(itertools.product(EDGES, repeat=arity))
    with errstate(divide="ignore", over="ignore", invalid="ignore"):
        for point in points:
            if row.name == "polygamma" and not 0.0 <= point[0] <= 2.0:
                continue
            xs = [Value(x) for x in point]
            y = call(row, xs)
            plain, graph = gradient(y, xs), gradient(y, xs, create_graph=True)
            for mine, other in zip(plain, graph, strict=True):
                assert same_bits(mine, other.data), (row.name, point)


@pytest.mark.native  # the engines have the same bits to order 3
@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_orders_one_to_three_against_torch(row: Op | NaryOp) -> None:
    torch = require("torch")
    for seed in range(2):
        xs = [Value(x) for x in sample(row, seed)]
        y = call(row, xs)
        ours = directional(xs, y, 3)
        inputs = [torch.tensor(x.data, dtype=torch.float64, requires_grad=True) for x in xs]
        theirs = Recipe(y, xs).run(torch_backend(), inputs)
        for order, mine in enumerate(ours):
            tolerance = (
                1e-8 if row.name in ("lgamma", "gamma", "digamma", "polygamma") else 1e-11
            )  # torch's trigamma is that rough
            assert close(mine, theirs.item(), max(map(abs, ours)), tolerance), (row.name, order)
            if not theirs.requires_grad:
                theirs = theirs.detach().requires_grad_() * 0.0
            slopes = torch.autograd.grad(theirs, inputs, create_graph=True, allow_unused=True)
            zero = torch.zeros((), dtype=torch.float64)
            terms = [weight * slope for weight, slope in zip(WEIGHTS, slopes, strict=False) if slope is not None]
            theirs = sum(terms, zero)


@pytest.mark.native  # the engines have the same bits to order 3
@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_orders_one_to_three_against_jax(row: Op | NaryOp) -> None:
    jax = require("jax")
    point = sample(row, 7)
    xs = [Value(x) for x in point]
    y = call(row, xs)
    ours = directional(xs, y, 3)
    recipe = Recipe(y, xs)

    def along(t: Any) -> Any:
        inputs = [x if _is_static(row, slot) else x + WEIGHTS[slot] * t for slot, x in enumerate(point)]
        return recipe.run(jax_backend(), inputs)

    with double_precision():
        zero = jax.numpy.float64(0.0)
        values, slopes = jax.jvp(_tangent(jax, _tangent(jax, along)), (zero,), (jax.numpy.float64(1.0),))
    theirs = [*jax.tree_util.tree_leaves(values), jax.tree_util.tree_leaves(slopes)[-1]]
    for order, place in enumerate((0, 1, 3, 4)):  # ((f, f'), (f', f'')), f'''
        assert close(ours[order], float(theirs[place]), max(map(abs, ours)), 1e-9), (row.name, order)


def _is_static(row: Op | NaryOp, slot: int) -> bool:
    return isinstance(row, Op) and slot in row.static


def _tangent(jax: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda t: jax.jvp(function, (t,), (jax.numpy.ones_like(t),))


@pytest.mark.parametrize("row", [row for row in ROWS if row.smooth], ids=[row.name for row in ROWS if row.smooth])
def test_forward_and_reverse_agree_in_every_combination(row: Op | NaryOp) -> None:
    point = tuple(sample(row, 3))
    direction = WEIGHTS[: len(point)]
    if isinstance(row, Op) and row.static:
        fixed = point[0]
        point, direction = point[1:], direction[1:]

        def f(*xs: Value) -> Value:
            return call(row, (fixed, *xs))
    else:

        def f(*xs: Value) -> Value:
            return call(row, xs)

    def forward(*xs: Any) -> Any:
        return jvp(f, xs, direction)[1]

    everything = tuple(range(len(point)))
    matrix = np.array(hessian(f, everything)(*point), dtype=float)
    scale = np.abs(matrix).max()
    jacobian_of_gradient = np.array(jacobian(grad(f, everything), everything)(*point), dtype=float)
    np.testing.assert_allclose(jacobian_of_gradient, matrix, rtol=1e-12, atol=1e-12 * scale)
    expected = matrix @ np.array(direction)
    for result in (
        hvp(f, point, direction),
        grad(forward, everything)(*point),
        jvp(grad(f, everything), point, direction)[1],
    ):
        np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-11 * scale)
    twice = jvp(forward, point, direction)[1]
    assert twice == pytest.approx(float(np.array(direction) @ expected), rel=1e-11, abs=1e-11 * scale)


# --- expressions made at random, against torch ----------------------------------------------------

_UNARY = ("tanh", "sin", "cos", "sigmoid", "softplus", "square", "atan", "erf", "silu", "neg", "gelu", "asinh")
_BINARY = ("add", "sub", "mul", "hypot", "atan2")
_leaf = st.one_of(st.integers(0, 2), st.floats(-2.0, 2.0).map(lambda x: round(x, 3)))
_expression = st.recursive(
    _leaf,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(_UNARY), inner),
        st.tuples(st.sampled_from(_BINARY), inner, inner),
        st.tuples(st.just("dot"), inner, inner, inner, inner),
        st.tuples(st.just("logsumexp"), inner, inner, inner),
        st.tuples(st.just("softmax"), inner, inner),
        st.tuples(st.just("prod"), inner, inner, inner),
    ),
    max_leaves=10,
)


def build(expression: Any, xs: Sequence[Value]) -> Any:
    """An expression made by hypothesis, of the variables ``xs`` (its whole numbers are their indices)."""
    if isinstance(expression, int):
        return xs[expression]
    if isinstance(expression, float):
        return expression
    name, *parts = expression
    operands = [build(part, xs) for part in parts]
    if name in ("hypot", "atan2"):
        operands[0] = operands[0] + 7.0 + xs[0]  # away from the origin, where second derivatives are infinite
    if name == "dot":
        return engine.reduce("dot", operands[:2], operands[2:])
    if name in ("logsumexp", "prod"):
        return engine.reduce(name, operands)
    if name == "softmax":
        return engine.reduce(name, operands)[0]
    if not any(isinstance(operand, Value) for operand in operands):
        return engine.evaluate(name, *operands)
    return Apply(name, *operands)


@pytest.mark.native  # the engines have the same bits to order 3
@settings(max_examples=80, deadline=None, derandomize=True)
@given(_expression, st.tuples(*[st.floats(-2.0, 2.0).map(lambda x: round(x, 3))] * 3))
def test_random_expressions_to_second_order_against_torch(expression: Any, point: tuple[float, ...]) -> None:
    torch = require("torch")
    xs = [Value(x) for x in point]
    y = build(expression, xs)
    if not isinstance(y, Value):
        return
    slopes = gradient(y, xs, create_graph=True)
    assert [slope.data for slope in slopes] == gradient(y, xs)
    ours = [[gradient(slope, x) for x in xs] for slope in slopes]
    recipe = Recipe(y, xs)
    inputs = torch.tensor(point, dtype=torch.float64)
    theirs = torch.autograd.functional.hessian(lambda v: recipe.run(torch_backend(), list(v)), inputs)
    size = max(1.0, float(theirs.abs().max()), *(abs(slope.data) for slope in slopes))
    np.testing.assert_allclose(np.array(ours), theirs.numpy(), rtol=1e-8, atol=1e-9 * size)


# --- derivatives that have rows of their own ------------------------------------------------------


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "silu", "softplus"])
def test_the_second_derivative_of_an_activation_is_a_short_graph(name: str) -> None:
    """Its partial is a row, not the choice between two formulas that is exact everywhere."""
    x = Value(0.3)
    (slope,) = gradient(Apply(name, x), [x], create_graph=True)
    (curvature,) = gradient(slope, [x], create_graph=True)
    assert len(engine.topological_order(curvature)) < 25
