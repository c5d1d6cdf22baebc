"""Who passes the examination?

Logistic regression of passing on hours of study and of sleep. The gradient comes from one backward pass, the
Hessian from derivatives of it, and Newton's method needs a handful of steps. The estimates are compared with
SciPy's, which knows no derivatives here; the standard errors with those of the textbook.
"""

import math
import random
import sys

import numpy as np
from scipy.optimize import minimize

import retrograd as rg
from retrograd.math import softplus

TRUE = (-6.0, 0.9, 0.5)

random.seed(7)
STUDENTS = [(random.uniform(0, 8), random.uniform(3, 10)) for _ in range(80)]
PASSED = [random.random() < 1 / (1 + math.exp(-(TRUE[0] + TRUE[1] * x + TRUE[2] * y))) for x, y in STUDENTS]


def surprise(weights):
    """Minus the logarithm of the probability of what happened."""
    scores = [weights[0] + weights[1] * x + weights[2] * y for x, y in STUDENTS]
    return rg.sum([softplus(-score if passed else score) for score, passed in zip(scores, PASSED, strict=True)])


def by_numpy(weights):
    rows = np.array([(1.0, *student) for student in STUDENTS])
    return float(np.sum(np.logaddexp(0.0, np.where(PASSED, -1, 1) * (rows @ weights))))


def main(picture=""):
    weights, steps = [0.0, 0.0, 0.0], 0
    while max(map(abs, slope := rg.grad(surprise)(weights))) > 1e-10:
        change = np.linalg.solve(rg.hessian(surprise)(weights), slope)
        weights, steps = (np.array(weights) - change).tolist(), steps + 1
    other = minimize(
        by_numpy, [0.0, 0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
    )
    assert np.allclose(weights, other.x, atol=1e-6)
    assert abs(surprise(weights) - by_numpy(weights)) < 1e-10
    rows = np.array([(1.0, *student) for student in STUDENTS])
    chance = 1 / (1 + np.exp(-rows @ weights))
    fisher = rows.T @ (rows * (chance * (1 - chance))[:, None])
    cover = np.linalg.inv(rg.hessian(surprise)(weights))
    assert np.allclose(cover, np.linalg.inv(fisher))
    print(f"Newton: {steps} steps.  Nelder and Mead, without derivatives: {other.nfev} values")
    for name, weight, error in zip(("constant", "study", "sleep"), weights, np.sqrt(np.diag(cover)), strict=True):
        print(f"  {name:9} {weight:7.3f} +/- {error:.3f}")
    if picture:
        draw(picture, weights)


def draw(path, weights):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.4))
    for outcome, colour, mark, name in ((True, "C0", "o", "passed"), (False, "C1", "x", "failed")):
        points = [student for student, passed in zip(STUDENTS, PASSED, strict=True) if passed == outcome]
        axes.plot(*zip(*points, strict=True), mark, color=colour, label=name, markersize=5, linestyle="none")
    for chance, style in ((0.1, ":"), (0.5, "-"), (0.9, ":")):
        level = math.log(chance / (1 - chance))
        ends = [(level - weights[0] - weights[2] * y) / weights[1] for y in (3, 10)]
        axes.plot(ends, (3, 10), style, color="C2", label=f"{chance:.0%}")
    axes.set(xlabel="hours of study", ylabel="hours of sleep", xlim=(-0.5, 8.5))
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
