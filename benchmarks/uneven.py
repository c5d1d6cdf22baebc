"""Loops of now more and now fewer iterations, against CasADi: its VM, and the C that it writes, by gcc.

python -m benchmarks.uneven [TURNS]

As in ``recurrences``: each program is a function of a module of functions and a list of parameters. Newton's iterations
are as many in each step as it takes, inner loops are of another length each, and iterations share what comes before.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from .recurrences import Function
from .recurrences import main as race

__all__ = ["PROGRAMS", "main"]

_DRAW = random.Random(29)
_ITERATIONS = [3 if _DRAW.random() < 0.7 else 4 for _ in range(60)]
_LOADS = [_DRAW.gauss(0.0, 2.0) for _ in _ITERATIONS]
_FLOWS = [1 + k // 2 for k in range(50)]
_PRICES = [_DRAW.uniform(90.0, 110.0) for _ in _FLOWS]
_CURVATURES, _GAPS = [0.045, -0.002, -0.045, 0.049], [3.0, 6.0, 1.0, 5.0]


def springs(m: Any, p: Any) -> Any:
    """Four masses on hardening springs: implicit Euler, three or four of Newton's iterations a step."""
    n, h, total = 4, 0.05, 0.0
    x, v = [0.0] * n, [0.0] * n
    for count, load in zip(_ITERATIONS, _LOADS, strict=True):
        new = list(v)
        for _ in range(count):
            place = [a + h * b for a, b in zip(x, new, strict=True)]
            stretch = [place[0], *(place[i] - place[i - 1] for i in range(1, n))]
            force = [p[i] * s * (1.0 + p[n] * s * s) for i, s in enumerate(stretch)]
            stiff = [h * h * p[i] * (1.0 + 3.0 * p[n] * s * s) for i, s in enumerate(stretch)]
            force.append(load)
            stiff.append(0.0)
            upper, right = [0.0] * n, [0.0] * n
            for i in range(n):
                diagonal = 1.0 + stiff[i] + stiff[i + 1] + (stiff[i] * upper[i - 1] if i else 0.0)
                residual = h * (force[i + 1] - force[i]) - (new[i] - v[i])
                right[i] = (residual + (stiff[i] * right[i - 1] if i else 0.0)) / diagonal
                upper[i] = -stiff[i + 1] / diagonal
            for i in reversed(range(n - 1)):
                right[i] = right[i] - upper[i] * right[i + 1]
            new = [a + b for a, b in zip(new, right, strict=True)]
        x, v = [a + h * b for a, b in zip(x, new, strict=True)], new
        total = total + (x[-1] - 0.1) ** 2
    return total


def bonds(m: Any, p: Any) -> Any:
    """Fifty bonds of 1 to 25 payments, which a curve of rates discounts."""
    loss = 0.0
    for k, (count, price) in enumerate(zip(_FLOWS, _PRICES, strict=True)):
        worth = 0.0
        for i in range(count):
            time = 0.5 * i + 0.1 + 0.008 * k
            x = time / p[3]
            decay = m.exp(-x)
            loading = (1.0 - decay) / x
            rate = p[0] + p[1] * loading + p[2] * (loading - decay)
            worth = worth + (2.0 + (100.0 if i == count - 1 else 0.0)) * m.exp(-rate * time)
        loss = loss + (worth - price) ** 2
    return loss / len(_FLOWS)


def lenses(m: Any, p: Any) -> Any:
    """Rays of three colours, which meet the first lens alike, through four surfaces."""
    spots = []
    for index in (1.60, 1.62, 1.65):
        for k in range(12):
            x, y, z = 0.3 + 0.2 * k, 0.1 * k, -5.0
            u, v, w, ratio = 0.02, 0.0, 0.9998, 1.0 / index
            for i, gap in enumerate(_GAPS):
                c = p[i] * _CURVATURES[i]
                b = w - c * (x * u + y * v + z * w)
                q = c * (x * x + y * y + z * z) - 2.0 * z
                way = q / (b + m.sqrt(b * b - c * q))
                x, y, z = x + way * u, y + way * v, z + way * w
                cosine = w - c * (x * u + y * v + z * w)
                bend = m.sqrt(1.0 - ratio * ratio * (1.0 - cosine * cosine)) - ratio * cosine
                u, v, w = ratio * u - bend * c * x, ratio * v - bend * c * y, ratio * w + bend * (1.0 - c * z)
                z, ratio = z - gap * p[4 + i], 1.0 / ratio
            spots.append((x - (z - 40.0) / w * u, y - (z - 40.0) / w * v))
    middle = sum(x for x, _ in spots) / len(spots)
    return sum((x - middle) ** 2 + y * y for x, y in spots) / len(spots)


#: Each program and the parameters that it is measured at.
PROGRAMS: list[tuple[Function, list[float]]] = [
    (springs, [20.0, 25.0, 18.0, 22.0, 0.8]),
    (bonds, [0.04, -0.02, 0.01, 2.0]),
    (lenses, [1.0, 1.01, 0.99, 1.0, 1.0, 1.02, 0.98, 1.0]),
]


def main(turns: int) -> None:
    """Print what each contender takes on each program, ours over CasADi's C, and the geometric mean."""
    race(turns, PROGRAMS)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
