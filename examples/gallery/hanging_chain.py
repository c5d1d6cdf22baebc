"""A chain finds its shape

A chain of sixty rods hangs between two nails. It rests where its energy is smallest, under the condition that it
reaches the second nail: a saddle of the Lagrange function, which Newton's method finds with the exact Hessian. The
shape must be the catenary, y = a cosh(x / a), which Leibniz, Huygens and Bernoulli found in 1691.
"""

import math
import sys

import numpy as np
from scipy.optimize import brentq

import retrograd as rg

LINKS, SPAN, LENGTH = 60, 2.0, 3.0
ROD = LENGTH / LINKS


def gaps(angles):
    """How far the end of the chain is from the second nail."""
    across = ROD * rg.sum([rg.math.cos(angle) for angle in angles]) - SPAN
    return across, ROD * rg.sum([rg.math.sin(angle) for angle in angles])


def lagrange(unknowns):
    """Energy of the rods by their angles, plus each condition times its force."""
    *angles, pull, lift = unknowns
    y, energy = 0.0, 0.0
    for angle in angles:
        rise = ROD * rg.math.sin(angle)
        energy = energy + ROD * (y + rise / 2)
        y = y + rise
    across, up = gaps(angles)
    return energy + pull * across + lift * up


def main(picture=""):
    unknowns = [*(-1.1 + 2.2 * k / (LINKS - 1) for k in range(LINKS)), -0.8, -1.5]
    slope, curvature = rg.grad(lagrange), rg.hessian(lagrange)
    steps = 0
    while True:
        steps += 1
        step = np.linalg.solve(curvature(unknowns), slope(unknowns))
        unknowns = (np.array(unknowns) - step * min(1.0, 0.5 / np.abs(step).max())).tolist()
        if np.abs(step).max() < 1e-12:
            break
    *angles, pull, lift = unknowns
    assert max(map(abs, gaps(angles))) < 1e-12
    xs, ys = np.cumsum(ROD * np.cos([*angles])), np.cumsum(ROD * np.sin([*angles]))
    # The catenary of this length: 2 a sinh(span / 2a) = length.
    a = brentq(lambda a: 2 * a * math.sinh(SPAN / (2 * a)) - LENGTH, 0.1, 10.0, xtol=1e-14)
    catenary = a * (np.cosh((xs - SPAN / 2) / a) - math.cosh(SPAN / (2 * a)))
    print(f"{steps} steps of Newton's method for {LINKS + 2} unknowns")
    apart = np.abs(ys - catenary).max()
    print(f"the chain sags by {-ys.min():.4f}, the catenary by {-catenary.min():.4f}; they are {apart:.4f} apart")
    assert apart < 2e-3
    print(
        f"it pulls with {abs(pull):.4f} sideways and {abs(lift):.4f} down; the catenary with {a:.4f} and {LENGTH / 2}"
    )
    assert abs(abs(pull) - a) < 1e-3
    assert abs(abs(lift) - LENGTH / 2) < 1e-9
    if picture:
        draw(picture, xs, ys, catenary)


def draw(path, xs, ys, catenary):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.4))
    axes.plot([0, *xs], [0, *catenary], color="C1", linewidth=5, alpha=0.4, label="catenary")
    axes.plot([0, *xs], [0, *ys], "o-", color="C0", markersize=2.5, linewidth=1, label="sixty rods")
    axes.plot([0, SPAN], [0, 0], "s", color="C2")
    axes.set_aspect("equal")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
