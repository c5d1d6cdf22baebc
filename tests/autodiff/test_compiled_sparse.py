"""Sparse Jacobians and Hessians of compiled functions, whose matrices are made natively from the third call on."""

from __future__ import annotations

import functools
import gc
import math
import pickle
import sys
import weakref
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sparse import ANGLES, BONDS, differences, energy, numbers_of, pattern, points, steps

import retrograd as rg
from retrograd import Value

pytest.importorskip("scipy")
pytestmark = pytest.mark.native

Function = Callable[..., Any]

#: Calls before a matrix is made natively: one is traced, one says how.
SETTLED = 2


def same_matrix(found: Any, dense: Any, rtol: float = 1e-12) -> None:
    dense = np.array(dense, dtype=float)
    assert type(found).__name__ == "csr_array"
    assert found.shape == dense.shape
    assert found.data.dtype == np.float64
    assert len(found.indices) == len(found.data) == found.indptr[-1]
    assert np.allclose(found.toarray(), dense, rtol=rtol, atol=1e-12 * (1.0 + np.max(np.abs(dense), initial=0.0)))
    assert found.has_canonical_format
    assert found.has_sorted_indices
    found.check_format(full_check=True)


def at_points(matrix: Function, dense: Function, calls: list[tuple[Any, ...]]) -> None:
    """Each call thrice, so that most are answered natively."""
    for _ in range(3):
        for arguments in calls:
            same_matrix(matrix(*arguments), dense(*arguments))


# --- numbers --------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(steps, st.lists(points, min_size=2, max_size=4))
def test_random_functions_have_the_dense_matrices(program: list[tuple[int, int, int]], at: list[list[float]]) -> None:
    def outputs(x: list[Any]) -> list[Any]:
        return [*numbers_of(program, x), 3.0, x[0]]

    def total(x: list[Any]) -> Any:
        return sum(rg.math.tanh(v) for v in numbers_of(program, x)[-8:])

    calls = [(x,) for x in at]
    at_points(rg.jacobian(rg.compile(outputs), sparse=True), rg.jacobian(outputs), calls)
    at_points(rg.hessian(rg.compile(total), sparse=True), rg.hessian(total), calls)


@pytest.mark.parametrize("options", [{}, {"tier": "vm"}, {"tier": "llvm"}, {"exact": True}, {"verify": 2}], ids=str)
def test_every_tier_gives_the_matrix(options: dict[str, Any]) -> None:
    if options.get("tier") == "llvm":
        pytest.importorskip("llvmlite")

    def f(x: list[Any]) -> Any:
        return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x)) + rg.math.cos(x[0] * x[-1])

    calls = [([0.3 * k % 1.7 + shift for k in range(12)],) for shift in (0.0, -0.5, 0.25)]
    at_points(rg.hessian(rg.compile(f, **options), sparse=True), rg.hessian(f), calls)
    band = {(i, j) for i in range(12) for j in range(12) if abs(i - j) <= 1} | {(0, 11), (11, 0)}
    assert pattern(rg.hessian(rg.compile(f, **options), sparse=True)(*calls[0])) == band


def test_entries_that_are_constants_or_equal_are_in_their_places() -> None:
    def f(x: list[Any]) -> Any:  # 2, 3 twice, the same product twice, and a zero that stays
        return x[0] * x[0] + 3.0 * x[0] * x[1] + x[2] * x[2] * x[3] * x[3] + 0.0 * x[4] * x[0]

    at_points(
        rg.hessian(rg.compile(f), sparse=True), rg.hessian(f), [([1.0, 2.0, 3.0 + k, 4.0, 5.0],) for k in range(4)]
    )

    def g(x: list[Any]) -> list[Any]:
        return [x[1] * x[1], 2.5, x[0] + 7.0 * x[1], x[1] * x[1], x[2]]

    at_points(rg.jacobian(rg.compile(g), sparse=True), rg.jacobian(g), [([1.0, 2.0 + k, 0.0],) for k in range(4)])


def test_jax_and_torch_have_the_same_numbers() -> None:
    compiled = rg.hessian(rg.compile(lambda x: energy(rg.math, x)), sparse=True)
    rows = rg.jacobian(rg.compile(lambda x: differences(rg.math, x)), sparse=True)
    for _ in range(SETTLED + 2):
        hessian, jacobian = compiled(ANGLES), rows(ANGLES)
    others = 0
    try:
        import torch
    except ImportError:
        pass
    else:
        others += 1
        at = torch.tensor(ANGLES, dtype=torch.float64)
        theirs = torch.autograd.functional.hessian(lambda x: energy(torch, x), at)  # type: ignore[no-untyped-call]
        assert np.allclose(hessian.toarray(), theirs.numpy(), rtol=1e-11, atol=1e-13)
    try:
        import jax
    except ImportError:
        pass
    else:
        others += 1
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
            at = jax.numpy.array(ANGLES)
            theirs = jax.jacobian(lambda x: jax.numpy.stack(differences(jax.numpy, x)))(at)
        assert np.allclose(jacobian.toarray(), np.asarray(theirs), rtol=1e-12, atol=1e-14)
    same_matrix(jacobian, rg.jacobian(lambda x: differences(rg.math, x))(ANGLES))
    assert jacobian.shape == (len(BONDS), len(ANGLES))
    if not others:
        pytest.skip("neither PyTorch nor JAX is installed")


# --- what the caller gives and gets ---------------------------------------------------------------


def product(x: Any, y: Any) -> Any:
    return sum(a * a * b for a, b in zip(x, y, strict=True)) * y[0]


X, Y = [0.5, -1.0, 2.0], [1.5, 0.25, -3.0]


@pytest.mark.parametrize(
    "given",
    [
        lambda x: x,
        tuple,
        np.array,
        lambda x: np.repeat(np.array(x), 2)[::2],
        lambda x: np.array([x, x]).T[:, 1],
        lambda x: np.array(x[::-1])[::-1],
        lambda x: list(map(np.float64, x)),
        lambda x: [int(2 * v) for v in x],
    ],
    ids=["list", "tuple", "array", "strided", "column", "reversed", "numpy", "whole"],
)
def test_arguments_of_every_kind(given: Function) -> None:
    compiled = rg.hessian(rg.compile(product), sparse=True)
    at_points(compiled, rg.hessian(product), [(given(X), given(Y)), (given(Y), given(X))])


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1, 0), [1], -1, "y", ("y", "x")], ids=str)
def test_argnums_and_keywords(argnums: Any) -> None:
    compiled = rg.hessian(rg.compile(product), argnums, sparse=True)

    def dense(x: Any, y: Any) -> Any:
        which = argnums if isinstance(argnums, (tuple, list)) else [argnums]
        places = [{"x": 0, "y": 1, -1: 1}.get(one, one) for one in which]
        whole = np.array(rg.hessian(lambda z: product(z[:3], z[3:]))([*x, *y]))
        rows = [3 * place + k for place in places for k in range(3)]
        return whole[np.ix_(rows, rows)]

    at_points(compiled, dense, [(X, Y), (Y, X)])
    same_matrix(compiled(X, y=Y), dense(X, Y))
    same_matrix(compiled(X, Y), dense(X, Y))


@pytest.mark.filterwarnings("ignore:Changing the sparsity")
def test_what_a_caller_does_to_a_matrix_changes_no_other() -> None:
    compiled = rg.hessian(rg.compile(product), sparse=True)
    expected = np.array(rg.hessian(product)(X, Y))
    for _ in range(SETTLED + 1):
        found = compiled(X, Y)
    other = compiled(X, Y)
    for attribute in ("data", "indices", "indptr"):
        array = getattr(found, attribute)
        assert array.flags.writeable
        assert array.flags.owndata
        assert array is not getattr(other, attribute)
        array[:] = 0
    found.shape_of_mine = 3
    found.has_canonical_format = False
    other[0, 1] = 8.0
    other.resize(2, 2)
    same_matrix(compiled(X, Y), expected)
    assert not hasattr(compiled(X, Y), "shape_of_mine")


def test_a_matrix_is_one_like_any_other() -> None:
    compiled, vector = rg.hessian(rg.compile(product), sparse=True), np.array([1.0, -2.0, 0.5])
    for _ in range(SETTLED + 2):
        found = compiled(X, Y)
        dense = np.array(rg.hessian(product)(X, Y))
        assert np.allclose(found @ vector, dense @ vector)
        assert np.allclose((found + found.T).toarray(), 2.0 * dense)
        assert np.allclose(found[1].toarray(), dense[1])
        assert np.allclose(pickle.loads(pickle.dumps(found)).toarray(), dense)
        assert np.allclose(found.tocsc().toarray(), dense)
        assert np.allclose(found.copy().toarray(), dense)
        assert found.nnz == len(found.data)


def test_matrices_without_entries() -> None:
    for f, x, shape in [
        (lambda x: 3.0 * x[0] - x[1], [1.0, 2.0], (2, 2)),
        (lambda x: x[0] + 0.0, [1.0], (1, 1)),
        (lambda x: sum(v * v for v in x) + 0.0, [], (0, 0)),
    ]:
        compiled = rg.hessian(rg.compile(f), sparse=True)
        for _ in range(SETTLED + 2):
            found = compiled(x)
            assert found.shape == shape
            assert found.nnz == 0
    compiled = rg.jacobian(rg.compile(lambda x: []), sparse=True)
    for _ in range(SETTLED + 2):
        assert compiled([1.0, 2.0]).shape == (0, 2)


# --- other programs, and none ---------------------------------------------------------------------


def test_each_branch_has_its_own_pattern() -> None:
    def f(x: list[Any]) -> Any:
        return x[0] * x[1] if x[0] > 0.0 else x[1] * x[1] * x[2]

    compiled = rg.hessian(rg.compile(f), sparse=True)
    for k in range(6):
        for x, expected in (([1.0, 2.0 + k, 3.0], {(0, 1), (1, 0)}), ([-1.0, 2.0 + k, 3.0], {(1, 1), (1, 2), (2, 1)})):
            found = compiled(x)
            assert pattern(found) == expected
            same_matrix(found, rg.hessian(f)(x))
    for n in (2, 3, 5, 3, 2, 5, 3, 2, 5):
        same_matrix(
            rg.hessian(compiled_chain, sparse=True)([0.1 * k for k in range(n)]),
            rg.hessian(chain)([0.1 * k for k in range(n)]),
        )


def chain(x: list[Any]) -> Any:
    return sum(rg.math.sin(a * b) for a, b in pairwise(x))


compiled_chain = rg.compile(chain)


def test_numbers_that_are_not_finite_are_the_functions() -> None:
    def f(x: list[Any]) -> Any:
        return rg.math.sqrt(x[0]) * x[1] + x[2] * x[2] * x[2]

    compiled = rg.hessian(rg.compile(f), sparse=True)
    with rg.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for _ in range(3):
            for x in ([4.0, 1.0, 2.0], [math.inf, 1.0, 2.0], [1.0, math.nan, 2.0], [0.0, 1.0, math.inf]):
                dense = np.array(rg.hessian(f)(x))
                assert np.array_equal(np.nan_to_num(compiled(x).toarray()), np.nan_to_num(dense))
    with pytest.raises(rg.errors.DomainError):
        compiled([-1.0, 1.0, 2.0])
    same_matrix(compiled([4.0, 1.0, 2.0]), rg.hessian(f)([4.0, 1.0, 2.0]))


def test_what_the_function_reads_may_change() -> None:
    scale, weight = [2.0], Value(3.0)

    def f(x: list[Any]) -> Any:
        return scale[0] * weight * x[0] * x[1]

    compiled = rg.hessian(rg.compile(f), sparse=True)
    for k in range(8):
        scale[0], weight.data = 2.0 + k // 4, 3.0 + k
        assert compiled([1.0, 1.0]).toarray().tolist() == [[0.0, scale[0] * weight.data], [scale[0] * weight.data, 0.0]]
    assert weight.grad == 0.0


def test_forgetting_programs_forgets_what_made_their_matrices() -> None:
    f = rg.compile(lambda x: x[0] * x[0] * x[1])
    matrix = rg.hessian(f, sparse=True)
    for _ in range(SETTLED + 2):
        matrix([1.0, 2.0])
    kept = next(iter(f._matrices.values()))
    f.clear()
    assert not f._matrices
    assert matrix([1.0, 2.0]).toarray().tolist() == [[4.0, 2.0], [2.0, 0.0]]
    assert next(iter(f._matrices.values())) is not kept
    assert kept([1.0, 2.0]).toarray().tolist() == [[4.0, 2.0], [2.0, 0.0]]


def test_other_transforms_and_traces_around_it() -> None:
    matrix = rg.hessian(rg.compile(lambda x: x[0] * x[0] * x[1]), sparse=True)
    for _ in range(SETTLED + 2):
        matrix([1.0, 2.0])
    with pytest.raises(TypeError, match="sparse=True"):
        matrix([Value(1.0), 2.0])
    with pytest.raises(TypeError, match="sparse=True"):
        rg.grad(lambda x: matrix([x, 2.0]).toarray().sum())(1.0)
    outer = rg.compile(lambda x: float(matrix([x, 3.0]).toarray()[0, 0]) * 2.0)
    for x in (1.0, 2.0, 3.0):
        assert outer(x) == 12.0
    with rg.no_grad():
        assert matrix([1.0, 5.0]).toarray().tolist() == [[10.0, 2.0], [2.0, 0.0]]
    with rg.detect_anomaly():
        assert matrix([1.0, 5.0]).toarray().tolist() == [[10.0, 2.0], [2.0, 0.0]]


def test_arrays_that_are_not_made_in_place_are_the_same() -> None:
    from retrograd import _native

    before = _native.read_in_place(False)
    try:
        at_points(rg.hessian(rg.compile(product), sparse=True), rg.hessian(product), [(np.array(X), np.array(Y))])
    finally:
        _native.read_in_place(before)


def test_matrices_hold_on_to_nothing_and_are_let_go() -> None:
    matrix = rg.hessian(rg.compile(product), sparse=True)
    for _ in range(SETTLED + 2):
        kind = type(matrix(X, Y))
    gc.collect()
    held, blocks = sys.getrefcount(kind), sys.getallocatedblocks()
    for _ in range(5_000):
        matrix(X, Y)
    gc.collect()
    assert sys.getrefcount(kind) <= held + 2
    assert sys.getallocatedblocks() - blocks < 4_000  # tier-up makes some


def test_a_function_is_let_go_with_its_matrices() -> None:
    def f(x: list[Any]) -> Any:
        return x[0] * x[0] * x[1]

    compiled, gone = rg.compile(f), weakref.ref(f)
    matrix = rg.hessian(compiled, sparse=True)
    for _ in range(SETTLED + 2):
        matrix([1.0, 2.0])
    del f, compiled, matrix
    gc.collect()
    assert gone() is None


def test_one_compiled_function_has_many_matrices() -> None:
    def f(x: list[Any], y: list[Any]) -> list[Any]:
        return [x[0] * y[0] * y[0], x[1] * x[1]]

    compiled = rg.compile(f)
    made = [
        functools.partial(rg.jacobian(compiled, which, sparse=True), X[:2], Y[:2]) for which in (0, 1, (0, 1), [1, 0])
    ]
    for _ in range(SETTLED + 2):
        shapes = [one().shape for one in made]
    assert shapes == [(2, 2), (2, 2), (2, 4), (2, 4)]
    assert np.array_equal(made[0]().toarray(), np.array([[2.25, 0.0], [0.0, -2.0]]))
    assert np.array_equal(made[1]().toarray(), np.array([[1.5, 0.0], [0.0, 0.0]]))


def test_indices_are_those_that_solvers_take() -> None:
    for f in (product, rg.compile(product)):
        for matrix in (rg.hessian(f, sparse=True), rg.jacobian(f, sparse=True)):
            for _ in range(SETTLED + 2):
                found = matrix(X, Y)
                assert found.indices.dtype == found.indptr.dtype == np.int32


def test_a_derivative_compares_what_its_function_reads_and_nothing_of_its_own() -> None:
    scale = [2.0]
    compiled = rg.compile(lambda x: scale[0] * x[0] * x[1])
    rg.hessian(compiled, sparse=True)([1.0, 2.0])
    (derivative,) = compiled._derivatives.values()
    assert "scale" in derivative.guards()
    assert "argnums" not in derivative.guards()
