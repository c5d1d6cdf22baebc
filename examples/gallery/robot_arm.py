"""A robot arm follows a line

An arm of three links is to draw a straight line: for each point, which angles? Newton's method asks for the
Jacobian of the hand's place by the angles, and for the least movement. The Jacobian is compared with the one of the
textbook, and the hand with the line.
"""

import math
import sys
from itertools import pairwise

import numpy as np

import retrograd as rg

LINKS = (1.0, 0.8, 0.5)
LINE = [(1.2, -0.8 + 0.1 * k) for k in range(17)]


def joints(angles):
    """Where each joint is, from the shoulder to the hand; each angle is relative to the link before."""
    x, y, heading, places = 0.0, 0.0, 0.0, [(0.0, 0.0)]
    for link, angle in zip(LINKS, angles, strict=True):
        heading = heading + angle
        x, y = x + link * rg.math.cos(heading), y + link * rg.math.sin(heading)
        places.append((x, y))
    return places


def hand(angles):
    return list(joints(angles)[-1])


def by_hand(angles):
    """The Jacobian as robotics textbooks have it: the hand turns around each joint."""
    places = joints(angles)
    x, y = places[-1]
    return np.array([[-(y - py) for _, py in places[:-1]], [x - px for px, _ in places[:-1]]])


def reach(target, angles):
    """Angles near the given ones at which the hand is at the target: damped least squares."""
    for _ in range(100):
        off = np.array(target) - hand(angles)
        if np.hypot(*off) < 1e-12:
            break
        slopes = np.array(rg.jacobian(hand)(angles))
        step = slopes.T @ np.linalg.solve(slopes @ slopes.T + 1e-9 * np.eye(2), off)
        step *= min(1.0, 0.4 / np.abs(step).max())
        angles = [angle + turn for angle, turn in zip(angles, step.tolist(), strict=True)]
    return angles


def main(picture=""):
    angles, poses = [0.5, -0.6, -0.8], []
    for target in LINE:
        angles = reach(target, angles)
        poses.append(angles)
        assert np.allclose(rg.jacobian(hand)(angles), by_hand(angles), atol=1e-14)
        assert math.dist(hand(angles), target) < 1e-10
    turns = [math.degrees(abs(a - b)) for one, two in pairwise(poses) for a, b in zip(one, two, strict=True)]
    worst = max(math.dist(hand(pose), target) for pose, target in zip(poses, LINE, strict=True))
    print(f"{len(LINE)} points, each reached to {worst:.0e}")
    print(f"no joint turned by more than {max(turns):.1f} degrees between two points")
    if picture:
        draw(picture, poses)


def draw(path, poses):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.6))
    for number, angles in enumerate(poses):
        places = joints(angles)
        last = number == len(poses) - 1
        axes.plot(
            *zip(*places, strict=True),
            "o-",
            color="C0",
            alpha=1 if last else 0.25,
            markersize=4,
            linewidth=2.5 if last else 1,
        )
    axes.plot(*zip(*LINE, strict=True), color="C1", linewidth=2.5)
    axes.set_aspect("equal")
    axes.set(title="an arm of three links draws a line")
    figure.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
