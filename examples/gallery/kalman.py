"""How noisy is the thermometer? A Kalman filter's noise, fitted

A hidden quantity drifts, and is measured with noise. How much of what is seen is drift, and how much is noise? The
filter gives the likelihood of the measurements for any two variances; its gradient, back through every update,
finds the most likely ones. The likelihood is compared with that of the multivariate normal distribution, written
out as one matrix, and its slopes with differences.
"""

import math
import random
import sys

import numpy as np
from scipy.optimize import minimize

import retrograd as rg

DRIFT, NOISE, LENGTH = 0.3, 1.2, 150  # standard deviations

random.seed(5)
HIDDEN = [0.0]
for _ in range(LENGTH - 1):
    HIDDEN.append(HIDDEN[-1] + random.gauss(0, DRIFT))
SEEN = [x + random.gauss(0, NOISE) for x in HIDDEN]


def surprise(logs):
    """Minus the logarithm of the likelihood, by the logarithms of both variances; it starts knowing nothing much."""
    drift, noise = rg.math.exp(logs[0]), rg.math.exp(logs[1])
    mean, spread, total = 0.0, 10.0, 0.0
    for seen in SEEN:
        expected = spread + noise
        off = seen - mean
        total = total + 0.5 * (rg.math.log(2 * math.pi * expected) + off * off / expected)
        gain = spread / expected
        mean, spread = mean + gain * off, (1 - gain) * spread + drift
    return total


def surprise_by_matrix(logs):
    """The same as one normal distribution in 150 dimensions."""
    drift, noise = np.exp(logs)
    times = np.arange(LENGTH)
    cover = 10.0 + drift * np.minimum.outer(times, times) + noise * np.eye(LENGTH)
    seen = np.array(SEEN)
    return 0.5 * (np.linalg.slogdet(2 * np.pi * cover)[1] + seen @ np.linalg.solve(cover, seen))


def main(picture=""):
    compiled = rg.compile(surprise)
    found = minimize(compiled.value_and_grad, [0.0, 0.0], jac=True, method="BFGS", options={"gtol": 1e-8})
    drift, noise = (math.exp(log / 2) for log in found.x)
    print(f"{found.nit} steps; drift {drift:.3f} (true {DRIFT}), noise {noise:.3f} (true {NOISE})")
    assert abs(found.fun - surprise_by_matrix(found.x)) < 1e-9 * found.fun
    at = [-1.0, 0.5]
    for k, slope in enumerate(rg.grad(surprise)(at)):
        high, low = ([x + side * 1e-5 * (j == k) for j, x in enumerate(at)] for side in (1, -1))
        assert abs(slope - (surprise_by_matrix(high) - surprise_by_matrix(low)) / 2e-5) < 1e-5
    # How sure the estimates are: the curvature of the likelihood.
    cover = np.linalg.inv(rg.hessian(surprise)(found.x.tolist()))
    errors = np.sqrt(np.diag(cover))
    print(f"standard errors of the logarithms of the variances: {errors[0]:.2f}, {errors[1]:.2f}")
    assert abs(found.x[0] - 2 * math.log(DRIFT)) < 3 * errors[0]
    assert abs(found.x[1] - 2 * math.log(NOISE)) < 3 * errors[1]
    if picture:
        draw(picture, compiled, found.x, drift**2, noise**2)


def draw(path, compiled, best, drift, noise):
    from matplotlib import pyplot

    mean, spread, means = 0.0, 10.0, []
    for seen in SEEN:
        gain = spread / (spread + noise)
        mean, spread = mean + gain * (seen - mean), (1 - gain) * spread + drift
        means.append(mean)
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3), width_ratios=(1.6, 1))
    left.plot(SEEN, "o", color="C1", markersize=2.5, label="measured")
    left.plot(HIDDEN, color="C2", label="hidden")
    left.plot(means, color="C0", label="filtered")
    left.legend()
    left.set(xlabel="time")
    xs, ys = np.linspace(best[0] - 2, best[0] + 2, 25), np.linspace(best[1] - 1, best[1] + 1, 25)
    right.contour(xs, ys, [[compiled([x, y]) for x in xs.tolist()] for y in ys.tolist()], levels=12, linewidths=0.9)
    right.plot(*best, "o", color="C1")
    right.set(xlabel="log variance of the drift", ylabel="of the noise", title="surprise")
    pyplot.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
