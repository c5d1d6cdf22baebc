"""Derivatives of your own: a root, a fixed point, a linear solve and a checkpoint, each as one node of the graph.

Run it: ``python examples/own_derivatives.py``. The page docs/howto/own-derivative.md explains it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd as rg


def residual(x: Any, a: Any, b: Any) -> Any:
    """What is zero at the root: x**3 + a*x - b."""
    return x**3 + a * x - b


def implicit_partials(a: Any, b: Any) -> tuple[Any, Any]:
    """The implicit function theorem: dx/da = -(d residual/da) / (d residual/dx), at the root."""
    x = root(a, b)
    dx, da, db = rg.grad(residual, argnums=(0, 1, 2))(x, a, b)
    return -da / dx, -db / dx


@rg.primitive(partials=implicit_partials)
def root(a: float, b: float) -> float:
    """The real root of x**3 + a*x = b for a > 0, by Newton's method on plain numbers."""
    x = math.cbrt(b) if hasattr(math, "cbrt") else math.copysign(abs(b) ** (1 / 3), b)
    for _ in range(100):
        step = residual(x, a, b) / (3 * x * x + a)
        x -= step
        if abs(step) <= 1e-16 * abs(x):
            break
    return x


@rg.primitive(partials=lambda e, m: (rg.math.sin(kepler(e, m)) / slope(e, m), 1 / slope(e, m)))
def kepler(e: float, m: float) -> float:
    """The fixed point E = m + e*sin(E) of Kepler's equation, for an eccentricity e below 1."""
    anomaly = m
    for _ in range(10_000):
        before, anomaly = anomaly, m + e * math.sin(anomaly)
        if anomaly == before:
            break
    return anomaly


def slope(e: Any, m: Any) -> Any:
    """The derivative of E - e*sin(E) with respect to E, at the fixed point."""
    return 1 - e * rg.math.cos(kepler(e, m))


def adjoint_partials(matrix: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """One solve with the transposed matrix gives all of them: the adjoint method."""
    x = rg.linalg.solve(matrix, b)
    adjoint = rg.linalg.solve([list(column) for column in zip(*matrix, strict=True)], c)
    return [[-li * xj for xj in x] for li in adjoint], list(adjoint), list(x)


@rg.primitive(partials=adjoint_partials)
def output_of_solve(matrix: Any, b: Any, c: Any) -> float:
    """c · x where matrix x = b, by LAPACK."""
    return float(np.dot(c, np.linalg.solve(matrix, b)))


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` as one node: its graph is thrown away, and built again where a derivative needs it."""

    def partials(*arguments: Any) -> Any:
        return rg.grad(f, argnums=tuple(range(len(arguments))))(*arguments)

    return rg.primitive(partials=partials)(f)


@checkpoint
def segment(state: Any, force: Any) -> Any:
    """A thousand steps of a damped motion, which would be four thousand nodes."""
    for _ in range(1000):
        state = state + 0.001 * (force - rg.math.sin(state))
    return state


if __name__ == "__main__":
    print("root", root(2.0, 3.0), rg.grad(root, argnums=(0, 1))(2.0, 3.0))
    print("kepler", kepler(0.5, 1.0), rg.hessian(lambda p: kepler(*p))([0.5, 1.0]))
    system = ([[4.0, 1.0], [2.0, 3.0]], [1.0, 2.0], [1.0, -1.0])
    print("solve", output_of_solve(*system), rg.grad(output_of_solve, argnums=(0, 1))(*system))
    print("checkpoint", rg.value_and_grad(lambda x: segment(segment(x, 0.5), 0.5))(1.0))
