"""Objectives that others publish with their gradients, written here from their papers as plain scalar Python.

A Gaussian mixture (the objective of ADBench), the functions of scipy.optimize, a determinant, an ordinary
differential equation, particles under Coulomb's force, a saddle point: against published gradients where there are
some, and otherwise three ways against each other (PyTorch, forward mode, finite differences of high order).
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
from retrograd import Value

Vector = Sequence[Any]


def agree_three_ways(f: Callable[[Any], Any], at: Sequence[float], tolerance: float = 1e-9) -> list[float]:
    """Reverse mode, forward mode and Richardson's differences; returns the gradient."""
    mine = rg.grad(f)(list(at))
    for i in range(len(at)):
        direction = [float(j == i) for j in range(len(at))]
        assert rg.jvp(f, list(at), direction)[1] == pytest.approx(mine[i], rel=1e-11, abs=1e-11)

        def along(t: float, i: int = i) -> float:
            moved = [x + t * (j == i) for j, x in enumerate(at)]
            y = f(moved)
            return y.data if isinstance(y, Value) else float(y)

        h = 1e-2 * max(1.0, abs(at[i])) ** 0.5
        rows = [[(along(h / 2**k) - along(-h / 2**k)) / (2 * h / 2**k) for k in range(6)]]
        for order in range(1, 6):
            last = rows[-1]
            rows.append([(4**order * last[k + 1] - last[k]) / (4**order - 1) for k in range(len(last) - 1)])
        assert rows[-1][0] == pytest.approx(mine[i], rel=tolerance, abs=tolerance * max(1.0, *map(abs, mine)))
    return list(mine)


# --- a Gaussian mixture, as ADBench has it (Srajer, Kukelova, Fitzgibbon 2018) ------------------------------


def log_wishart_prior(p: int, gamma: float, m: float, sum_qs: Vector, qdiags: Any, icf: Any) -> Any:
    n = p + m + 1
    k = len(icf)
    log_gamma = 0.25 * p * (p - 1) * math.log(math.pi) + sum(
        math.lgamma(0.5 * n + 0.5 * (1 - j)) for j in range(1, p + 1)
    )
    c = n * p * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma
    frobenius: Any = 0.0
    for i in range(k):
        frobenius = frobenius + rg.sum([q * q for q in qdiags[i]]) + rg.sum([entry * entry for entry in icf[i][p:]])
    return 0.5 * gamma * gamma * frobenius - m * rg.sum(sum_qs) - k * c


def gmm(alphas: Vector, means: Sequence[Vector], icf: Sequence[Vector], points: Any, gamma: float, m: float) -> Any:
    """The log posterior of a mixture; ``icf`` holds log diagonals and then the lower triangles, column by column."""
    d, n = len(means[0]), len(points)
    qdiags = [[rg.math.exp(entry) for entry in row[:d]] for row in icf]
    sums = [rg.sum(row[:d]) for row in icf]
    total: Any = 0.0
    for point in points:
        terms = []
        for k, alpha in enumerate(alphas):
            centred = [x - mean for x, mean in zip(point, means[k], strict=True)]
            product = [qdiags[k][i] * centred[i] for i in range(d)]
            place = d
            for column in range(d):
                for row in range(column + 1, d):
                    product[row] = product[row] + icf[k][place] * centred[column]
                    place += 1
            terms.append(alpha + sums[k] - 0.5 * rg.sum([q * q for q in product]))
        total = total + rg.logsumexp(terms)
    constant = -n * d * 0.5 * math.log(2 * math.pi)
    prior = log_wishart_prior(d, gamma, m, sums, qdiags, icf)
    return constant + total - n * rg.logsumexp(alphas) + prior


def gmm_torch(torch: Any, alphas: Any, means: Any, icf: Any, points: Any, gamma: float, m: float) -> Any:
    """The same with matrices."""
    k, d = means.shape
    n = points.shape[0]
    logs, rest = icf[:, :d], icf[:, d:]
    lower = torch.zeros(k, d, d, dtype=torch.float64)
    place = 0
    for column in range(d):
        for row in range(column + 1, d):
            lower[:, row, column] = rest[:, place]
            place += 1
    q = lower + torch.diag_embed(torch.exp(logs))
    centred = points[:, None, :] - means[None]
    squares = (torch.einsum("kij,nkj->nki", q, centred) ** 2).sum(-1)
    sums = logs.sum(-1)
    inner = torch.logsumexp(alphas + sums - 0.5 * squares, 1).sum()
    count = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(
        math.lgamma(0.5 * count + 0.5 * (1 - j)) for j in range(1, d + 1)
    )
    c = count * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma
    prior = 0.5 * gamma**2 * ((torch.exp(logs) ** 2).sum() + (rest**2).sum()) - m * sums.sum() - k * c
    return -n * d * 0.5 * math.log(2 * math.pi) + inner - n * torch.logsumexp(alphas, 0) + prior


@pytest.mark.parametrize(("d", "k", "n"), [(2, 3, 20), (4, 2, 10), (3, 5, 30)])
def test_the_gaussian_mixture_of_adbench(d: int, k: int, n: int) -> None:
    torch = require("torch")
    draw = random.Random(d)
    width = d + d * (d - 1) // 2
    alphas = [draw.gauss(0, 1) for _ in range(k)]
    means = [[draw.random() for _ in range(d)] for _ in range(k)]
    icf = [[draw.gauss(0, 1) for _ in range(width)] for _ in range(k)]
    points = [[draw.gauss(0, 1) for _ in range(d)] for _ in range(n)]
    value, slopes = rg.value_and_grad(lambda a, b, c: gmm(a, b, c, points, 1.0, 0.0), argnums=(0, 1, 2))(
        alphas, means, icf
    )
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (alphas, means, icf)]
    theirs = gmm_torch(torch, *tensors, torch.tensor(points, dtype=torch.float64), 1.0, 0.0)
    assert value == pytest.approx(theirs.item(), rel=1e-13)
    for mine, other in zip(slopes, torch.autograd.grad(theirs, tensors), strict=True):
        np.testing.assert_allclose(np.array(mine), other.numpy(), rtol=1e-10, atol=1e-10)


# --- the functions of scipy.optimize, with its own derivatives ------------------------------------------------


def rosenbrock(x: Vector) -> Any:
    return rg.sum([100.0 * (b - a**2.0) ** 2.0 + (1 - a) ** 2.0 for a, b in itertools.pairwise(x)])


@pytest.mark.parametrize("at", [[0.1, 0.2], [1.0, 1.0, 1.0], [-1.2, 1.0, 0.5, 2.0, -0.3], [1.3, 0.7, 0.8, 1.9, 1.2]])
def test_rosenbrock_of_scipy(at: list[float]) -> None:
    optimize = require("scipy.optimize")
    x = np.array(at)
    assert rosenbrock(at) == pytest.approx(optimize.rosen(x), rel=1e-14, abs=1e-14)
    np.testing.assert_allclose(rg.grad(rosenbrock)(at), optimize.rosen_der(x), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(rg.hessian(rosenbrock)(at), optimize.rosen_hess(x), rtol=1e-12, atol=1e-11)
    direction = [0.5 * i - 0.3 for i in range(len(at))]
    product = optimize.rosen_hess_prod(x, np.array(direction))
    np.testing.assert_allclose(rg.hvp(rosenbrock, at, direction), product, rtol=1e-11, atol=1e-10)


def beale(p: Vector) -> Any:
    x, y = p
    return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2


def himmelblau(p: Vector) -> Any:
    x, y = p
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


def ackley(p: Vector) -> Any:
    n = len(p)
    root = rg.math.sqrt(rg.sum([x * x for x in p]) / n)
    return -20 * rg.math.exp(-0.2 * root) - rg.math.exp(rg.sum([rg.math.cos(2 * math.pi * x) for x in p]) / n)


def styblinski_tang(p: Vector) -> Any:
    return rg.sum([x**4 - 16 * x**2 + 5 * x for x in p]) / 2


def griewank(p: Vector) -> Any:
    product: Any = 1.0
    for i, x in enumerate(p, 1):
        product = product * rg.math.cos(x / math.sqrt(i))
    return 1 + rg.sum([x * x for x in p]) / 4000 - product


@pytest.mark.parametrize("f", [beale, himmelblau, ackley, styblinski_tang, griewank, rosenbrock])
def test_functions_to_minimise_agree_three_ways(f: Callable[[Vector], Any]) -> None:
    draw = random.Random(f.__name__)
    for _ in range(3):
        agree_three_ways(f, [draw.uniform(-1.5, 1.5) for _ in range(2)])


def test_published_minima_have_no_slope() -> None:
    minima = [(beale, [3.0, 0.5]), (himmelblau, [3.0, 2.0]), (rosenbrock, [1.0] * 4), (griewank, [0.0] * 3)]
    for f, at in minima:
        assert rg.grad(f)(at) == pytest.approx([0.0] * len(at), abs=1e-13)


def test_scipy_minimises_with_our_gradients() -> None:
    optimize = require("scipy.optimize")
    found = optimize.minimize(
        lambda x: rosenbrock(list(x)), [-1.2, 1.0, -0.5], jac=lambda x: rg.grad(rosenbrock)(list(map(float, x))),
        hess=lambda x: np.array(rg.hessian(rosenbrock)(list(map(float, x)))), method="Newton-CG", tol=1e-10,
    )  # fmt: skip
    assert found.x == pytest.approx([1.0, 1.0, 1.0], abs=1e-6)


# --- programs with structure ------------------------------------------------------------------------------------


def determinant(matrix: Sequence[Vector]) -> Any:
    """By elimination with a pivot chosen by size: branches on numbers."""
    rows = [list(row) for row in matrix]
    result: Any = 1.0
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        if pivot != i:
            rows[i], rows[pivot] = rows[pivot], rows[i]
            result = -result
        result = result * rows[i][i]
        for r in range(i + 1, len(rows)):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return result


def test_the_gradient_of_a_determinant_is_its_adjugate() -> None:
    draw = random.Random(4)
    for n in (2, 4, 7):
        matrix = [[draw.uniform(-1, 1) for _ in range(n)] for _ in range(n)]
        a = np.array(matrix)
        expected = np.linalg.det(a) * np.linalg.inv(a).T
        np.testing.assert_allclose(rg.grad(determinant)(matrix), expected, rtol=1e-10, atol=1e-12)


def pendulum(parameters: Vector, steps: int = 200, h: float = 0.01) -> Any:
    """The angle of a damped pendulum after two seconds, by the classical Runge-Kutta method."""
    angle, speed, length, damping = parameters

    def rate(a: Any, s: Any) -> tuple[Any, Any]:
        return s, -(9.81 / length) * rg.math.sin(a) - damping * s

    for _ in range(steps):
        k1 = rate(angle, speed)
        k2 = rate(angle + 0.5 * h * k1[0], speed + 0.5 * h * k1[1])
        k3 = rate(angle + 0.5 * h * k2[0], speed + 0.5 * h * k2[1])
        k4 = rate(angle + h * k3[0], speed + h * k3[1])
        angle = angle + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        speed = speed + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    return angle


def test_sensitivities_of_a_differential_equation() -> None:
    agree_three_ways(pendulum, [0.5, 0.0, 1.0, 0.1], tolerance=1e-8)

    def decay(p: Vector) -> Any:  # x' = -k x has x(t) = x0 exp(-k t)
        x, k = p
        h = 1e-3
        for _ in range(1000):
            x = x * (1 - h * k + (h * k) ** 2 / 2 - (h * k) ** 3 / 6 + (h * k) ** 4 / 24)
        return x

    assert rg.grad(decay)([2.0, 0.5]) == pytest.approx([math.exp(-0.5), -2.0 * math.exp(-0.5)], rel=1e-12)


def coulomb(places: Sequence[Vector]) -> Any:
    """The energy of charges in the plane."""
    energy: Any = 0.0
    for i, p in enumerate(places):
        for q in places[:i]:
            energy = energy + 1 / rg.math.hypot(p[0] - q[0], p[1] - q[1])
    return energy


def test_forces_between_particles() -> None:
    draw = random.Random(2)
    places = [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(6)]
    forces = np.array(rg.grad(coulomb)(places))
    expected = np.zeros((6, 2))
    for i in range(6):
        for j in range(6):
            if i != j:
                apart = np.array(places[i]) - np.array(places[j])
                expected[i] -= apart / np.linalg.norm(apart) ** 3
    np.testing.assert_allclose(forces, expected, rtol=1e-12)
    np.testing.assert_allclose(forces.sum(0), 0.0, atol=1e-11 * abs(forces).max())  # Newton's third law


def test_a_particle_whose_path_is_optimised() -> None:
    """A charge falls to a plane past two others, whose place is differentiated by (Siskind and Pearlmutter)."""

    def landing(w: Any) -> Any:
        def potential(x: Any, y: Any) -> Any:
            return 1 / rg.math.hypot(x - 10.0, y - (10.0 - w)) + 1 / rg.math.hypot(x - 10.0, y - 0.0)

        x, y, dx, dy, h = 0.0, 8.0, 0.75, 0.0, 0.1
        for _ in range(40):
            fx, fy = rg.grad(potential, argnums=(0, 1))(x, y)
            if (y + h * dy) <= 0:
                break
            x, y, dx, dy = x + h * dx, y + h * dy, dx - h * fx, dy - h * fy
        return x + dx * (0 - y) / dy

    ours = rg.grad(landing)(0.3)
    h = 1e-5
    f = [float(rg.value_and_grad(landing)(0.3 + k * h)[0]) for k in (-2, -1, 1, 2)]
    assert ours == pytest.approx((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h), rel=1e-6)


def test_a_saddle_point_with_nested_derivatives() -> None:
    """min over x of max over y: the inner maximum by gradient ascent, the outer derivative through all of it."""

    def inner_best(x: Any) -> Any:
        y: Any = 0.0
        for _ in range(60):
            y = y + 0.2 * rg.grad(lambda z: x * z - z**2 + 0.1 * rg.math.sin(z))(y)
        return y

    def outer(x: Any) -> Any:
        y = inner_best(x)
        return x**2 + x * y - y**2 + 0.1 * rg.math.sin(y)

    x = 0.7
    best = inner_best(x)
    assert rg.grad(outer)(x) == pytest.approx(2 * x + best, rel=1e-9)  # the envelope theorem: through y it is zero
    curvature = rg.grad(lambda t: rg.grad(outer)(t))(x)
    assert curvature == pytest.approx(2 + 1 / (2 + 0.1 * math.sin(best)), rel=1e-7)  # dy/dx by the implicit function
