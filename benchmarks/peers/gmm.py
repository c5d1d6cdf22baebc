"""ADBench's Gaussian mixture model, written number by number: what :func:`retrograd.compile` is given.

The objective is the log-likelihood of points under a mixture of Gaussians with a Wishart prior (Šrajer, Kukelova and
Fitzgibbon, "A Benchmark of Selected Algorithmic Differentiation Tools on Some Problems in Computer Vision and Machine
Learning", 2018). The inverse covariance of a cluster is Q transposed times Q, where Q is lower triangular; ``icf`` has
the logarithms of its diagonal and then the entries below it, column by column.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Mixture", "constant_terms", "objective", "problem"]

Vector = list[Any]
Matrix = list[Vector]


@dataclass(frozen=True, slots=True)
class Mixture:
    """A problem: the parameters to differentiate by, the points, and the prior's gamma and m."""

    alphas: list[float]
    means: list[list[float]]
    icf: list[list[float]]
    points: list[list[float]]
    gamma: float = 1.0
    m: int = 0

    @property
    def parameters(self) -> tuple[list[float], list[list[float]], list[list[float]]]:
        """What the gradient is by."""
        return self.alphas, self.means, self.icf

    @property
    def constant(self) -> float:
        """What the objective adds that depends on no parameter."""
        return constant_terms(len(self.points), len(self.points[0]), len(self.alphas), self.gamma, self.m)


def problem(points: int = 1000, dimensions: int = 10, clusters: int = 25, seed: int = 0) -> Mixture:
    """Random data as ADBench draws them: normal, but for the means, which are uniform in [0, 1]."""
    draw = random.Random(seed)
    size = dimensions * (dimensions + 1) // 2

    def normal(rows: int, columns: int) -> list[list[float]]:
        return [[draw.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]

    return Mixture(
        alphas=normal(1, clusters)[0],
        means=[[draw.random() for _ in range(dimensions)] for _ in range(clusters)],
        icf=normal(clusters, size),
        points=normal(points, dimensions),
    )


def _logsumexp(x: Vector, exp: Callable[[Any], Any], log: Callable[[Any], Any]) -> Any:
    highest = max(x)
    return log(sum(exp(xi - highest) for xi in x)) + highest


def _lower_triangle(row: Vector, dimensions: int) -> Matrix:
    """Entry [i][j], j < i, of each row of Q below its diagonal."""
    lower: Matrix = [[] for _ in range(dimensions)]
    position = dimensions
    for j in range(dimensions):
        for i in range(j + 1, dimensions):
            lower[i].append(row[position])
            position += 1
    return lower


def objective(
    alphas: Vector, means: Matrix, icf: Matrix, points: Matrix, gamma: float, m: int, exp: Any, log: Any
) -> Any:
    """The objective, given ``exp`` and ``log`` of the numbers it runs on."""
    dimensions = len(points[0])
    diagonals = [[exp(q) for q in row[:dimensions]] for row in icf]
    triangles = [_lower_triangle(row, dimensions) for row in icf]
    log_determinants = [sum(row[:dimensions]) for row in icf]
    total = 0.0
    for point in points:
        terms = []
        for k in range(len(alphas)):
            centred = [x - mean for x, mean in zip(point, means[k], strict=True)]
            square = 0.0
            for i in range(dimensions):
                scaled = diagonals[k][i] * centred[i]
                for j in range(i):
                    scaled = scaled + triangles[k][i][j] * centred[j]
                square = square + scaled * scaled
            terms.append(alphas[k] + log_determinants[k] - 0.5 * square)
        total = total + _logsumexp(terms, exp, log)
    total = total - len(points) * _logsumexp(alphas, exp, log)
    for k in range(len(alphas)):
        norm = sum(q * q for q in diagonals[k]) + sum(q * q for row in triangles[k] for q in row)
        total = total + 0.5 * gamma * gamma * norm - m * log_determinants[k]
    return total + constant_terms(len(points), dimensions, len(alphas), gamma, m)


def constant_terms(points: int, dimensions: int, clusters: int, gamma: float, m: int) -> float:
    """What the objective adds that depends on no parameter."""
    n = dimensions + m + 1
    gammas = 0.25 * dimensions * (dimensions - 1) * math.log(math.pi)
    gammas += sum(math.lgamma(0.5 * (n + 1 - j)) for j in range(1, dimensions + 1))
    prior = n * dimensions * (math.log(gamma) - 0.5 * math.log(2)) - gammas
    return -points * dimensions * 0.5 * math.log(2 * math.pi) - clusters * prior
