"""Predators and prey, fitted

The equations of Lotka and Volterra, solved by Runge and Kutta's method in plain Python, and their four rates fitted
to noisy counts. The gradient goes through the solver, all its steps; SciPy's least squares asks for it. The fit is
compared with one in which SciPy takes differences instead.
"""

import random
import sys

import numpy as np
from scipy.optimize import least_squares

import retrograd as rg

TRUE = [0.55, 0.028, 0.80, 0.024]  # births, hunted, deaths, fed
FIRST, YEARS, STEPS = (30.0, 4.0), 20, 10


def slopes(prey, hunters, rates):
    births, hunted, deaths, fed = rates
    return prey * (births - hunted * hunters), hunters * (fed * prey - deaths)


def solve(rates):
    """Both counts at the end of each year."""
    prey, hunters = FIRST
    h, years = 1.0 / STEPS, []
    for _ in range(YEARS):
        for _ in range(STEPS):
            a, b = slopes(prey, hunters, rates)
            c, d = slopes(prey + h / 2 * a, hunters + h / 2 * b, rates)
            e, f = slopes(prey + h / 2 * c, hunters + h / 2 * d, rates)
            g, i = slopes(prey + h * e, hunters + h * f, rates)
            prey = prey + h / 6 * (a + 2 * c + 2 * e + g)
            hunters = hunters + h / 6 * (b + 2 * d + 2 * f + i)
        years.append((prey, hunters))
    return years


random.seed(3)
COUNTED = [(x * random.gauss(1, 0.08), y * random.gauss(1, 0.08)) for x, y in solve(TRUE)]


def residuals(rates):
    """How far the logarithm of each count is off."""
    found = [pair for year in solve(rates) for pair in year]
    return [rg.math.log(own) - float(np.log(seen)) for own, seen in zip(found, np.ravel(COUNTED), strict=True)]


def main(picture=""):
    start = [0.5, 0.02, 0.9, 0.02]
    jacobian = rg.jacobian(residuals)
    fit = least_squares(
        lambda p: np.array(residuals(p.tolist())), start, lambda p: np.array(jacobian(p.tolist())), xtol=1e-12
    )
    plain = least_squares(lambda p: np.array(residuals(p.tolist())), start, xtol=1e-12)
    assert np.allclose(fit.x, plain.x, rtol=1e-4)
    exact, about = np.array(jacobian(TRUE)), differences(TRUE)
    assert np.allclose(exact, about, atol=1e-4 * np.abs(exact).max())
    error = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)) * 2 * fit.cost / (len(fit.fun) - 4))
    print(f"{fit.nfev} solutions of the equations (with differences {plain.nfev + 4 * plain.njev})")
    for name, found, true, one in zip(("births", "hunted", "deaths", "fed"), fit.x, TRUE, error, strict=True):
        print(f"  {name:7} {found:.4f} +/- {one:.4f}   true {true}")
        assert abs(found - true) < 4 * one
    if picture:
        draw(picture, fit.x.tolist())


def differences(rates, width=1e-6):
    columns = []
    for k in range(4):
        high, low = ([r * (1 + side * width * (j == k)) for j, r in enumerate(rates)] for side in (1, -1))
        columns.append((np.array(residuals(high)) - np.array(residuals(low))) / (2 * rates[k] * width))
    return np.array(columns).T


def draw(path, rates):
    from matplotlib import pyplot

    _, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3), width_ratios=(1.6, 1))
    years, found = range(1, YEARS + 1), solve(rates)
    for k, (name, colour) in enumerate((("prey", "C0"), ("predators", "C1"))):
        left.plot(years, [pair[k] for pair in found], color=colour, label=name)
        left.plot(years, [pair[k] for pair in COUNTED], "o", color=colour, markersize=4)
    left.set(xlabel="year", title="counted (dots) and fitted")
    left.legend()
    right.plot([a for a, _ in found], [b for _, b in found])
    right.plot([a for a, _ in COUNTED], [b for _, b in COUNTED], "o", color="C1", markersize=4)
    right.set(xlabel="prey", ylabel="predators", title="one against the other")
    pyplot.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
