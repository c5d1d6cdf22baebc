"""Recurrences over subjects, paths and irregular data, against CasADi: its VM, and the C that it writes, by gcc.

python -m benchmarks.subjects [TURNS]

As in ``recurrences``: each program is a function of a module of functions and a list of parameters. In the first three
a recurrence goes on for each subject by itself; the fourth calls functions that its state does not wait for; in the
last two, data decide in each step what is done.
"""

from __future__ import annotations

import math
import random
import sys
from typing import Any

from .recurrences import Function
from .recurrences import main as race

__all__ = ["PROGRAMS", "main"]

_DRAW = random.Random(11)
_NOISE = [[_DRAW.gauss(0.0, 1.0) for _ in range(40)] for _ in range(40)]
_SEEN = [None if _DRAW.random() < 0.3 else _DRAW.gauss(0.0, 1.0) for _ in range(300)]


def patients(m: Any, p: Any) -> Any:
    """Twenty patients, each with an effect of its own: absorption and saturated elimination, ten Runge-Kutta steps."""

    def slopes(gut: Any, level: Any, absorbed: Any, most: Any) -> tuple[Any, Any]:
        return -absorbed * gut, absorbed * gut - most * level / (p[2] + level)

    total, h = 0.0, 0.25
    for noise, effect in zip(_NOISE, p[4:24], strict=False):
        absorbed, most = m.exp(p[0] + 0.2 * effect), m.exp(p[1] - 0.1 * effect)
        gut, level = 5.0, 0.1
        for y in noise[:10]:
            a = slopes(gut, level, absorbed, most)
            b = slopes(gut + h / 2 * a[0], level + h / 2 * a[1], absorbed, most)
            c = slopes(gut + h / 2 * b[0], level + h / 2 * b[1], absorbed, most)
            d = slopes(gut + h * c[0], level + h * c[1], absorbed, most)
            gut = gut + h / 6 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0])
            level = level + h / 6 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1])
            total = total + (level - 2.0 - 0.1 * y) ** 2 * p[3]
        total = total + 0.5 * effect * effect
    return total


def projectiles(m: Any, p: Any) -> Any:
    """Thirty shots with drag and wind, 25 steps each, fitted to where they should land."""
    total = 0.0
    for i in range(30):
        angle, x, y = 0.5 + 0.02 * i, 0.0, 0.0
        vx, vy = (25.0 + p[2]) * math.cos(angle), (25.0 + p[2]) * math.sin(angle)
        for _ in range(25):
            rx = vx - p[1] * (1.0 + 0.1 * y)
            speed = m.sqrt(rx * rx + vy * vy)
            vx = vx - 0.05 * p[0] * speed * rx
            vy = vy - 0.05 * (9.81 + p[0] * speed * vy)
            x, y = x + 0.05 * vx, y + 0.05 * vy
        total = total + (x - 20.0 - 0.1 * i) ** 2 + (y - 5.0) ** 2
    return total / 30.0


def asian_option(m: Any, p: Any) -> Any:
    """The mean of a price under stochastic variance, on 40 paths of 25 steps."""
    total = 0.0
    for noise in _NOISE:
        price, variance, mean = p[0], p[1], 0.0
        for z in noise[:25]:
            volatility = m.sqrt(variance * 0.02)
            price = price * m.exp(0.02 * (p[2] - 0.5 * variance) + volatility * z)
            variance = variance + 0.02 * p[3] * (0.04 - variance) + 0.01 * variance * z
            mean = mean + price / 25.0
        total = total + m.log(1.0 + m.exp(0.1 * (mean - 100.0)))
    return m.exp(-p[2]) * total / 40.0


def forced_epidemic(m: Any, p: Any) -> Any:
    """Contacts with a season, and counts: 200 days."""
    susceptible, infected, total = 0.95, 0.05, 0.0
    for day in range(200):
        contact = m.exp(p[0] + p[1] * m.cos(0.12 * day + p[2]))
        new = contact * susceptible * infected
        susceptible = susceptible - new
        infected = infected + new - p[3] * infected
        expected = 1000.0 * new + 0.001
        total = total - (day % 7) * m.log(expected) + 0.01 * expected
    return total


def leverage(m: Any, p: Any) -> Any:
    """GJR-GARCH on 400 returns: a negative one counts for more."""
    variance, total = 1.0, 0.0
    for row in _NOISE[:10]:
        for r in row:
            error = r - p[0]
            total = total + 0.5 * (m.log(variance) + error * error / variance)
            if r < 0:
                variance = p[1] + (p[2] + p[3]) * error * error + p[4] * variance
            else:
                variance = p[1] + p[2] * error * error + p[4] * variance
    return total


def missing(m: Any, p: Any) -> Any:
    """A level and its trend, filtered; three in ten of 300 observations are missing."""
    level, trend, a, b, c = p[3], p[4], 1.0, 0.0, 1.0
    total = 0.0
    for y in _SEEN:
        level = level + trend
        a, b, c = a + 2.0 * b + c + p[0], b + c, c + p[1]
        if y is None:
            continue
        spread = a + p[2]
        error, gain, other = y - level, a / spread, b / spread
        total = total + 0.5 * (m.log(spread) + error * error / spread)
        level, trend = level + gain * error, trend + other * error
        a, b, c = a * (1.0 - gain), b * (1.0 - gain), c - other * b
    return total


#: Each program and the parameters that it is measured at.
PROGRAMS: list[tuple[Function, list[float]]] = [
    (patients, [0.1, 0.2, 1.0, 0.5, *(0.05 * k - 0.5 for k in range(20))]),
    (projectiles, [0.01, 0.5, 0.1]),
    (asian_option, [100.0, 0.05, 0.03, 1.5]),
    (forced_epidemic, [-0.6, 0.2, 0.3, 0.3]),
    (leverage, [0.01, 0.05, 0.05, 0.05, 0.85]),
    (missing, [0.3, 0.1, 1.0, 0.2, 0.05]),
]


def main(turns: int) -> None:
    """Print what each contender takes on each program, ours over CasADi's C, and the geometric mean."""
    race(turns, PROGRAMS)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
