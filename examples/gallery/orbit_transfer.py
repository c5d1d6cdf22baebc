"""From one orbit to another

A satellite flies its orbit as a simulation in plain Python: gravity, a leapfrog, nothing else. How strong must the
first burn be, and how long must it coast, to touch the higher orbit? Newton's method asks the simulation for its
Jacobian. The answer must be the transfer that Hohmann found in 1925, which is known in closed form.
"""

import math
import sys

import numpy as np

import retrograd as rg
from retrograd.math import hypot

LOW, HIGH, STEPS = 1.0, 2.5, 2000


def fly(burn, coast):
    """Where it is, and how it moves, after a burn along the orbit and a coast; every position on the way."""
    x, y, u, v = LOW, 0.0, 0.0, math.sqrt(1 / LOW) + burn
    h, way = coast / STEPS, []
    for _ in range(STEPS):
        cube = hypot(x, y) ** 3
        u, v = u - h / 2 * x / cube, v - h / 2 * y / cube
        x, y = x + h * u, y + h * v
        cube = hypot(x, y) ** 3
        u, v = u - h / 2 * x / cube, v - h / 2 * y / cube
        way.append((x, y))
    return x, y, u, v, way


def miss(plan):
    """What must be zero: it is at the height of the orbit, and moves neither up nor down."""
    x, y, u, v, _ = fly(*plan)
    return [hypot(x, y) - HIGH, x * u + y * v]


def main(picture=""):
    plan = [0.25, 7.0]
    for _ in range(12):
        step = np.linalg.solve(rg.jacobian(miss)(plan), miss(plan))
        plan = [now - change for now, change in zip(plan, step.tolist(), strict=True)]
    assert max(map(abs, miss(plan))) < 1e-9
    *_, u, v, way = fly(*plan)
    second = math.sqrt(1 / HIGH) - math.hypot(u, v)
    middle = (LOW + HIGH) / 2
    hohmann = [
        math.sqrt(1 / LOW) * (math.sqrt(HIGH / middle) - 1),
        math.pi * math.sqrt(middle**3),
        math.sqrt(1 / HIGH) * (1 - math.sqrt(LOW / middle)),
    ]
    for name, found, known in zip(("first burn", "coast", "second burn"), (*plan, second), hohmann, strict=True):
        print(f"{name:12} {found:.6f}   Hohmann {known:.6f}")
        assert abs(found - known) < 1e-5 * known
    width = 1e-6
    for k in (0, 1):
        high, low = ([p + side * width * (j == k) for j, p in enumerate(plan)] for side in (1, -1))
        about = (np.array(miss(high)) - miss(low)) / (2 * width)
        assert np.allclose(np.array(rg.jacobian(miss)(plan))[:, k], about, atol=1e-6)
    if picture:
        draw(picture, way)


def draw(path, way):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 4))
    turn = [2 * math.pi * k / 200 for k in range(201)]
    for radius, colour in ((LOW, "C2"), (HIGH, "C3")):
        axes.plot([radius * math.cos(t) for t in turn], [radius * math.sin(t) for t in turn], color=colour, linewidth=1)
    axes.plot([LOW, *(x for x, _ in way[::10]), way[-1][0]], [0, *(y for _, y in way[::10]), way[-1][1]], color="C0")
    axes.plot([LOW, way[-1][0]], [0, way[-1][1]], "o", color="C1")
    axes.plot(0, 0, "o", color="C0", markersize=10)
    axes.set_aspect("equal")
    axes.set(title="two burns, half an ellipse")
    figure.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
