"""Sparse Jacobians and Hessians: the numbers of the dense ones, and a pattern that the graph gives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import retrograd as rg
from retrograd import Value
from retrograd.autodiff import sparse
from retrograd.engine import ENGINE
from retrograd.errors import ChangedValueError, HigherOrderError, MissingExtraError

pytest.importorskip("scipy")

Function = Callable[..., Any]


def pattern(matrix: Any) -> set[tuple[int, int]]:
    coordinates = matrix.tocoo()
    return set(zip(coordinates.row.tolist(), coordinates.col.tolist(), strict=True))


def same_as_dense(sparse: Any, dense: Any) -> None:
    """The same bits, and an entry wherever the dense matrix has something."""
    dense = np.array(dense, dtype=float)
    assert sparse.shape == dense.shape
    assert np.array_equal(sparse.toarray(), dense, equal_nan=True)
    assert pattern(sparse) >= set(zip(*(axis.tolist() for axis in np.nonzero(dense)), strict=True))
    assert sparse.has_canonical_format


# --- random sparse functions ----------------------------------------------------------------------

SIZE = 6
OPERATIONS: list[Function] = [
    lambda a, b: a + b,
    lambda a, b: a - 2.0 * b,
    lambda a, b: a * b,
    lambda a, b: a / (2.0 + b * b),
    lambda a, b: rg.math.sin(a) * b,
    lambda a, b: rg.math.exp(0.1 * a) - b,
    lambda a, b: rg.math.relu(a) + b,
    lambda a, b: abs(a) * 0.0 + b,
    lambda a, b: max(a, b),
    lambda a, b: rg.where(a > b, a * a, b),
    lambda a, b: rg.math.tanh(a * b),
    lambda a, b: a**3 - b,
]
Step = tuple[int, int, int]
steps = st.lists(st.tuples(st.integers(0, len(OPERATIONS) - 1), st.integers(0, 30), st.integers(0, 30)), max_size=25)
points = st.lists(st.sampled_from([-1.5, -1.0, 0.0, 0.25, 1.0, 2.0]), min_size=SIZE, max_size=SIZE)


def numbers_of(program: list[Step], x: list[Any]) -> list[Any]:
    known = list(x)
    for operation, i, j in program:
        try:
            known.append(OPERATIONS[operation](known[-1 - i % len(known)], known[-1 - j % len(known)]))
        except rg.errors.NumberTooLargeError:  # of a power, or an exponential
            reject()
    return known


@settings(deadline=None, max_examples=60)
@given(steps, points)
def test_the_jacobian_of_a_random_function_is_the_dense_one(program: list[Step], x: list[float]) -> None:
    def f(x: list[Any]) -> list[Any]:
        return [*numbers_of(program, x), 3.0, x[0]]

    same_as_dense(rg.jacobian(f, sparse=True)(x), rg.jacobian(f)(x))


@settings(deadline=None, max_examples=40)
@given(steps, points)
def test_the_hessian_of_a_random_function_is_the_dense_one(program: list[Step], x: list[float]) -> None:
    def f(x: list[Any]) -> Any:
        return sum(rg.math.tanh(v) for v in numbers_of(program, x)[-8:])

    sparse = rg.hessian(f, sparse=True)(x)
    same_as_dense(sparse, rg.hessian(f)(x))
    assert np.array_equal(sparse.toarray(), sparse.toarray().T)
    assert pattern(sparse) == {(j, i) for i, j in pattern(sparse)}


# --- patterns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: [x[0] * x[1], x[1], 5.0, x[2] - x[2]], [0.0, 0.0, 1.0], {(0, 0), (0, 1), (1, 1), (3, 2)}),
        (lambda x: [rg.math.relu(x[0]), rg.math.relu(x[1])], [-1.0, 1.0], {(1, 1)}),
        (lambda x: [rg.where(x[0] > 0, x[0] * x[1], x[2])], [1.0, 2.0, 3.0], {(0, 0), (0, 1)}),
        (lambda x: [rg.math.sin(x[0] * x[1]) * x[2]], [1.0, 2.0, 0.0], {(0, 0), (0, 1), (0, 2)}),  # a zero upstream
        (lambda x: [], [1.0, 2.0], set()),
        (lambda x: [2.0, Value(3.0)], [1.0], set()),
        (lambda x: [x[1], x[0], x[1]], [1.0, 2.0], {(0, 1), (1, 0), (2, 1)}),
    ],
)
def test_an_entry_is_where_a_path_leads(f: Function, x: list[float], expected: set[tuple[int, int]]) -> None:
    assert pattern(rg.jacobian(f, sparse=True)(x)) == expected


@pytest.mark.parametrize("given", [True, False], ids=["local_grads", "_backward"])
def test_a_node_with_a_users_derivative_hides_no_branch_beside_it(given: bool) -> None:
    def double(a: Value) -> Value:
        if given:
            return Value(2.0 * a.data, (a,), (2.0,))
        out = Value(2.0 * a.data, (a,), "double")

        def backward() -> None:
            a.grad += 2.0 * out.grad

        out._backward = backward
        return out

    def f(x: list[Value]) -> list[Value]:
        return [double(x[0] * x[1]) + rg.math.relu(x[2]), rg.math.relu(x[2]) * x[3], double(double(x[3]))]

    x = [2.0, 3.0, -1.0, 5.0]
    jacobian = rg.jacobian(f, sparse=True)(x)
    same_as_dense(jacobian, rg.jacobian(f)(x))
    assert pattern(jacobian) == {(0, 0), (0, 1), (1, 3), (2, 3)}
    with pytest.raises(HigherOrderError):
        rg.hessian(lambda x: double(x[0]), sparse=True)(x)


def test_banded_functions_have_banded_matrices() -> None:
    def rosenbrock(x: list[Any]) -> Any:
        return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x))

    n = 40
    band = {(i, j) for i in range(n) for j in range(n) if abs(i - j) <= 1}
    assert pattern(rg.hessian(rosenbrock, sparse=True)([0.1 * i for i in range(n)])) == band


# --- arguments, results, other transforms ---------------------------------------------------------


def test_trees_are_flattened_in_the_order_of_their_leaves() -> None:
    def f(p: dict[str, Any], scale: float) -> dict[str, Any]:
        return {"out": [p["w"][0] * scale, p["w"][1] * p["b"]], "last": p["b"]}

    jacobian = rg.jacobian(f, sparse=True)({"w": [2.0, 3.0], "b": 5.0}, scale=7.0)
    assert np.array_equal(jacobian.toarray(), [[7.0, 0.0, 0.0], [0.0, 5.0, 3.0], [0.0, 0.0, 1.0]])


def test_argnums_are_as_in_the_dense_transforms() -> None:
    def f(x: float, y: list[float]) -> list[Any]:
        return [x * y[0], y[1]]

    both = rg.jacobian(f, argnums=("y", "x"), sparse=True)(2.0, [3.0, 4.0])
    assert np.array_equal(both.toarray(), [[2.0, 0.0, 3.0], [0.0, 1.0, 0.0]])
    hessian = rg.hessian(lambda x, y: x * y[0] * y[1], argnums=1, sparse=True)(2.0, [3.0, 4.0])
    assert np.array_equal(hessian.toarray(), [[0.0, 2.0], [2.0, 0.0]])
    assert pattern(hessian) == {(0, 1), (1, 0)}


def test_arrays_and_methods() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        def residuals(self, x: Any) -> Any:
            return self.scale * x[:-1] * x[1:]

    at = np.array([1.0, 2.0, 3.0])
    jacobian = rg.jacobian(Model(2.0).residuals, sparse=True)(at)
    assert np.array_equal(jacobian.toarray(), [[4.0, 2.0, 0.0], [0.0, 6.0, 4.0]])


@pytest.mark.native
def test_compiled_functions_give_what_the_function_gives() -> None:
    def f(x: list[Any]) -> Any:
        return sum(rg.math.sin(a * b) for a, b in pairwise(x))

    x, compiled = [0.1 * i for i in range(8)], rg.compile(f)
    expected = rg.hessian(f, sparse=True)(x)
    got = rg.hessian(compiled, sparse=True)(x)
    assert pattern(got) == pattern(expected)
    assert np.allclose(got.toarray(), expected.toarray(), rtol=1e-12, atol=0)
    outputs = rg.jacobian(lambda x: [compiled(x[:3]), compiled(x[4:])], sparse=True)(x)
    assert pattern(outputs) == {(0, 0), (0, 1), (0, 2), (1, 4), (1, 5), (1, 6), (1, 7)}
    assert np.allclose(outputs.toarray(), np.array(rg.jacobian(lambda x: [f(x[:3]), f(x[4:])])(x)), rtol=1e-12, atol=0)


def test_what_would_be_values_is_refused() -> None:
    for transform in (rg.jacobian, rg.hessian):
        with pytest.raises(TypeError, match="sparse=True"):
            transform(lambda x: x[0] * x[0], sparse=True)([Value(2.0)])
        with pytest.raises(TypeError, match="sparse=True"):
            rg.grad(lambda x, t=transform: t(lambda y: y * y * x, sparse=True)(1.0).toarray().sum())(2.0)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    sparse._scipy_sparse.cache_clear()
    for transform in (rg.jacobian, rg.hessian):
        with pytest.raises(MissingExtraError, match=r"retrograd\[sparse\]"):
            transform(lambda x: x * x, sparse=True)(2.0)


def test_no_gradient_is_touched_and_a_failed_pass_leaves_nothing() -> None:
    weight = Value(3.0)
    weight.grad = 7.0

    def broken(x: list[Value]) -> list[Value]:
        bad = Value(1.0, (x[0],), "bad")
        bad._backward = lambda: (_ for _ in ()).throw(ArithmeticError("no"))
        return [weight * x[0], bad]

    with pytest.raises(ArithmeticError):
        rg.jacobian(broken, sparse=True)([1.0, 2.0])
    assert weight.grad == 7.0
    assert rg.jacobian(lambda x: [weight * x[0]], sparse=True)([1.0, 2.0]).toarray().tolist() == [[3.0, 0.0]]
    assert weight.grad == 7.0


def test_a_changed_number_is_noticed() -> None:
    weight = Value(3.0)

    def f(x: list[Value]) -> list[Value]:
        first, second = x[0] * x[1], weight * x[0]
        weight.data += 1.0
        return [first, second]

    with pytest.raises(ChangedValueError):
        rg.jacobian(f, sparse=True)([1.0, 2.0])
    weight.data = 5.0  # concerns no row of what follows
    assert rg.jacobian(lambda x: [x[0], x[1] * weight], sparse=True)([1.0, 2.0]).toarray().tolist() == [[1, 0], [0, 5]]


def test_anomalies_are_found() -> None:
    with rg.detect_anomaly(), pytest.raises(rg.errors.AnomalyError):
        rg.jacobian(lambda x: [rg.math.sqrt(x[0]), x[1]], sparse=True)([0.0, 1.0])


def test_a_long_recurrence_needs_no_recursion() -> None:
    def f(x: list[Any]) -> list[Any]:
        state, seen = x[0], []
        for i in range(20_000 if ENGINE == "native" else 2_000):
            state = 0.999 * state + x[1 + i % 2]
            if i % 1_000 == 0:
                seen.append(state)
        return seen

    same_as_dense(rg.jacobian(f, sparse=True)([1.0, 2.0, 3.0]), rg.jacobian(f)([1.0, 2.0, 3.0]))


# --- others ---------------------------------------------------------------------------------------

BONDS = [(i, (i * 7 + 3) % 24, 0.3 + 0.1 * (i % 5)) for i in range(24)]
ANGLES = [0.37 * i % 2.9 - 1.4 for i in range(24)]


def differences(m: Any, x: Any) -> list[Any]:
    return [c * m.sin(x[a] - x[b]) * m.exp(0.2 * x[b]) for a, b, c in BONDS]


def energy(m: Any, x: Any) -> Any:
    return sum(term * term for term in differences(m, x))


@pytest.mark.long
def test_jax_has_the_same_numbers() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        at = jax.numpy.array(ANGLES)
        jacobian = jax.jacobian(lambda x: jax.numpy.stack(differences(jax.numpy, x)))(at)
        hessian = jax.hessian(lambda x: energy(jax.numpy, x))(at)
    ours = rg.jacobian(lambda x: differences(rg.math, x), sparse=True)(ANGLES)
    assert np.allclose(ours.toarray(), np.asarray(jacobian), rtol=1e-12, atol=1e-14)
    ours = rg.hessian(lambda x: energy(rg.math, x), sparse=True)(ANGLES)
    assert np.allclose(ours.toarray(), np.asarray(hessian), rtol=1e-11, atol=1e-13)


def test_casadi_has_the_same_pattern_and_numbers() -> None:
    casadi = pytest.importorskip("casadi")
    symbols = casadi.SX.sym("x", len(ANGLES))
    terms = casadi.vertcat(*differences(casadi, symbols))
    jacobian = casadi.Function("j", [symbols], [casadi.jacobian(terms, symbols)])(ANGLES)
    hessian = casadi.Function("h", [symbols], [casadi.hessian(energy(casadi, symbols), symbols)[0]])(ANGLES)
    for ours, theirs in (
        (rg.jacobian(lambda x: differences(rg.math, x), sparse=True)(ANGLES), jacobian),
        (rg.hessian(lambda x: energy(rg.math, x), sparse=True)(ANGLES), hessian),
    ):
        assert pattern(ours) == set(zip(*theirs.sparsity().get_triplet(), strict=True))
        assert np.allclose(ours.toarray(), np.array(theirs), rtol=1e-11, atol=1e-13)
