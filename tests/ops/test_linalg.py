"""rg.linalg against NumPy, PyTorch and minors; singular matrices; pivots in traces."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
from retrograd import Value, engine, errors

native = pytest.mark.skipif(engine.ENGINE != "native", reason="the reference engine has no compiler")


def matrix(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, n))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_the_same_as_numpy(n: int) -> None:
    a, b, sides = matrix(n), matrix(n, 1)[0], matrix(n, 2)
    for x, exact in (
        (rg.linalg.solve(a, b), np.linalg.solve(a, b)),
        (rg.linalg.solve(a, sides), np.linalg.solve(a, sides)),
        (rg.linalg.inv(a), np.linalg.inv(a)),
        (rg.linalg.det(a), np.linalg.det(a)),
    ):
        assert np.allclose(x, exact, rtol=1e-10, atol=1e-12)
    values = np.array([[Value(x) for x in row] for row in a])
    solution = rg.linalg.solve(values, list(b))
    assert [x.data for x in solution] == list(rg.linalg.solve(a, b))  # the same operations
    assert isinstance(rg.linalg.inv(values), np.ndarray)
    assert isinstance(rg.linalg.inv(values.tolist()), list)


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_derivatives_are_pytorchs(n: int) -> None:
    torch = require("torch")
    a, b, weights = matrix(n, 3), matrix(n, 4)[0], matrix(n, 5)
    functions = {
        "solve": (
            lambda lib, m: (lib.solve(m, torch.tensor(b)) ** 3).sum(),
            lambda m: sum(x**3 for x in rg.linalg.solve(m, b)),
        ),
        "det": (lambda lib, m: lib.det(m) ** 2, lambda m: rg.linalg.det(m) ** 2),
        "inv": (
            lambda lib, m: (lib.inv(m) * torch.tensor(weights)).sum(),
            lambda m: (rg.linalg.inv(m) * weights).sum(),
        ),
    }
    for name, (theirs, ours) in functions.items():
        t = torch.tensor(a, requires_grad=True)
        exact = torch.autograd.grad(theirs(torch.linalg, t), t)[0].numpy()
        assert np.allclose(rg.grad(ours)(a), exact, rtol=1e-9, atol=1e-10), name
        if n == 2:
            hessian = torch.autograd.functional.hessian(lambda m, f=theirs: f(torch.linalg, m), torch.tensor(a)).numpy()
            assert np.allclose(rg.hessian(ours)(a), hessian, rtol=1e-8, atol=1e-9), name


def test_the_right_hand_side_is_differentiated_too() -> None:
    a, b = matrix(3, 6), matrix(3, 7)[0]
    slopes = rg.jacobian(lambda side: rg.linalg.solve(a, side))(b)
    assert np.allclose(slopes, np.linalg.inv(a))


def minor(a: Any, rows: tuple[int, ...], columns: tuple[int, ...]) -> float:
    """The derivative of the determinant by the elements at (rows[0], columns[0]), …"""
    a = a.copy()
    for i, k in zip(rows, columns, strict=True):
        a[i, :], a[:, k] = 0.0, 0.0
    for i, k in zip(rows, columns, strict=True):
        a[i, k] = 1.0
    return float(np.linalg.det(a))


@pytest.mark.parametrize("rank", range(5))
def test_determinants_of_singular_matrices(rank: int) -> None:
    """Whole numbers, so that pivots are exactly zero; with a column of zeros, and columns that depend on others."""
    n, chooser = 4, np.random.default_rng(rank)
    for _ in range(4):
        left, right = chooser.integers(-3, 3, size=(n, rank)), chooser.integers(-3, 3, size=(rank, n))
        a = (left @ right).astype(float)
        assert rg.linalg.det(a) == pytest.approx(np.linalg.det(a), abs=1e-9)
        first, second = rg.grad(rg.linalg.det)(a), rg.hessian(rg.linalg.det)(a)
        for i, k in itertools.product(range(n), repeat=2):
            assert first[i, k] == pytest.approx(minor(a, (i,), (k,)), abs=1e-8)
            for j, m in itertools.product(range(n), repeat=2):
                exact = 0.0 if i == j or k == m else minor(a, (i, j), (k, m))
                assert second[i, k, j, m] == pytest.approx(exact, abs=1e-7)


def test_the_third_derivative_of_a_zero_determinant() -> None:
    def f(x: Any) -> Any:
        return rg.linalg.det([[x, 0.0, 0.0], [0.0, x, 0.0], [0.0, 0.0, x]])

    assert rg.grad(rg.grad(rg.grad(f)))(0.0) == 6.0
    assert rg.linalg.det([[0.0, 1.0], [1.0, 0.0]]) == -1.0
    assert rg.linalg.det([]) == 1.0


def test_pivots_are_chosen_by_size() -> None:
    """Without pivoting the first element would cost all digits."""
    x = rg.linalg.solve([[Value(1e-20), 1.0], [1.0, 1.0]], [1.0, 2.0])
    assert [v.data for v in x] == pytest.approx([1.0, 1.0], rel=1e-15)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: rg.linalg.solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0]), errors.SingularMatrixError, "column 1"),
        (lambda: rg.linalg.inv([[0.0]]), np.linalg.LinAlgError, "singular"),
        (lambda: rg.linalg.det([[1.0, 2.0]]), ValueError, "square matrix"),
        (lambda: rg.linalg.det([1.0, 2.0]), ValueError, "square matrix"),
        (lambda: rg.linalg.det([[1.0, 2.0], [3.0]]), ValueError, "different lengths"),
        (lambda: rg.linalg.solve([[1.0]], [1.0, 2.0]), ValueError, "right-hand side"),
        (lambda: rg.linalg.solve([[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [3.0]]), ValueError, "equal length"),
        (lambda: rg.linalg.det([["a"]]), TypeError, "takes real numbers"),
        (lambda: rg.linalg.det(3.0), TypeError, "takes a sequence"),
    ],
)
def test_what_cannot_be_solved(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()


@native
def test_another_pivot_is_noticed() -> None:
    def f(p: Any) -> Any:
        x = rg.linalg.solve([[p[0], p[1]], [p[2], p[3]]], [1.0, p[1]])
        return x[0] * x[1] + rg.linalg.det([[p[0], 2.0, p[1]], [p[2], p[3], 1.0], [1.0, p[0], p[2]]])

    compiled = rg.compile(f)
    points = [
        [1e-3, 2.0, 3.0, 4.0],
        [5.0, 2.0, 3.0, 4.0],
        [5.0, 2.0, -9.0, 4.0],
        [5.5, 2.5, 3.0, 1.0],
        [0.0, 1.0, 1.0, 0.0],
    ]
    for _ in range(2):
        for point in points:
            value, slopes = compiled.value_and_grad(point)
            expected = rg.value_and_grad(f)(point)
            assert value == pytest.approx(expected[0], rel=1e-12)
            assert slopes == pytest.approx(expected[1], rel=1e-11)
    assert rg.hessian(compiled)(points[1])[0] == pytest.approx(rg.hessian(f)(points[1])[0], rel=1e-10)
