"""How fast does it react?

A becomes B and B becomes C: two rates from a few noisy measurements of B. The stiff equations are solved by the
implicit midpoint rule, each step a small linear system, and the rates found by Gauss and Newton with the Jacobian
through all of that. Both the solution and its slopes are compared with their closed form.
"""

import math
import random
import sys

import numpy as np

import retrograd as rg

TRUE = (2.0, 0.4)
H, STEPS, EVERY = 0.02, 400, 25


def simulate(rates):
    """The amount of B after every ``EVERY`` steps."""
    k1, k2 = rates
    a, b, seen = 1.0, 0.0, []
    for step in range(1, STEPS + 1):
        # (1 - h/2 M) new = (1 + h/2 M) old, for a' = -k1 a, b' = k1 a - k2 b
        matrix = [[1 + H / 2 * k1, 0.0], [-H / 2 * k1, 1 + H / 2 * k2]]
        a, b = rg.linalg.solve(matrix, [a * (1 - H / 2 * k1), b * (1 - H / 2 * k2) + H / 2 * k1 * a])
        if step % EVERY == 0:
            seen.append(b)
    return seen


def exact(rates, t):
    k1, k2 = rates
    return k1 / (k2 - k1) * (rg.math.exp(-k1 * t) - rg.math.exp(-k2 * t))


TIMES = [H * EVERY * (k + 1) for k in range(STEPS // EVERY)]
random.seed(4)
MEASURED = [exact(TRUE, t) + random.gauss(0, 0.01) for t in TIMES]


def main(picture=""):
    rates = [1.0, 1.0 / 3]
    for _ in range(12):
        off = np.array(simulate(rates)) - MEASURED
        slopes = np.array(rg.jacobian(simulate)(rates))
        rates = (np.array(rates) - np.linalg.lstsq(slopes, off, rcond=None)[0]).tolist()
    assert np.allclose(slopes, [rg.grad(exact)(rates, t) for t in TIMES], atol=1e-3)
    assert np.allclose(simulate(rates), [exact(rates, t) for t in TIMES], atol=1e-3)
    error = np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)) * (off @ off) / (len(off) - 2))
    for name, rate, one, true in zip(("A to B", "B to C"), rates, error, TRUE, strict=True):
        print(f"{name}: {rate:.3f} +/- {one:.3f} a second   true {true}")
        assert abs(rate - true) < 3 * one
    peak = math.log(rates[0] / rates[1]) / (rates[0] - rates[1])
    print(f"there is most of B after {peak:.2f} seconds")
    if picture:
        draw(picture, rates)


def draw(path, rates):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 3))
    ts = [0.02 * k for k in range(401)]
    axes.plot(ts, [math.exp(-rates[0] * t) for t in ts], color="C2", label="A")
    axes.plot(ts, [exact(rates, t) for t in ts], color="C0", label="B, fitted")
    axes.plot(ts, [1 - math.exp(-rates[0] * t) - exact(rates, t) for t in ts], color="C3", label="C")
    axes.plot(TIMES, MEASURED, "o", color="C1", label="B, measured")
    axes.set(xlabel="seconds", ylabel="amount")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
