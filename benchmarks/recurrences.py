"""Recurrences as engineers write them, against CasADi: its virtual machine, and the C that it writes, compiled by gcc.

python -m benchmarks.recurrences [TURNS]

Ten programs, each a function of a module of functions (``m.exp``, …) and a list of parameters: filters, integrators,
simulations. Each contender gives the value and the gradient. Ours is ``rg.compile(f).value_and_grad`` with a NumPy
array, in machine code; CasADi runs on buffers. Making the code is not timed, and is printed.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

import retrograd as rg

from .measure import Contender, interleaved, optional, print_over_c, same, timed

__all__ = ["PROGRAMS", "Function", "casadi_calls", "main"]

Function = Callable[[Any, Any], Any]

_DRAW = random.Random(7)
_SERIES = [_DRAW.gauss(0.0, 1.0) for _ in range(500)]


def garch(m: Any, p: Any) -> Any:
    """Log-likelihood of GARCH(1, 1) on 500 returns."""
    variance, total = 1.0, 0.0
    for r in _SERIES:
        variance = p[0] + p[1] * r * r + p[2] * variance
        total = total + m.log(variance) + r * r / variance
    return total


def seasonal(m: Any, p: Any) -> Any:
    """Triple exponential smoothing (Holt and Winters) with twelve seasons, on 300 observations."""
    level, trend, season = p[3], p[4], [p[5 + i] for i in range(12)]
    total = 0.0
    for t in range(300):
        y = 2.0 + 0.01 * t + math.sin(t / 6.0 * math.pi) + 0.1 * _SERIES[t]
        error = y - (level + trend + season[t % 12])
        total = total + error * error
        before = level
        level = p[0] * (y - season[t % 12]) + (1.0 - p[0]) * (level + trend)
        trend = p[1] * (level - before) + (1.0 - p[1]) * trend
        season[t % 12] = p[2] * (y - level) + (1.0 - p[2]) * season[t % 12]
    return total


def epidemic(m: Any, p: Any) -> Any:
    """Susceptible, exposed, infected: 150 steps of Runge and Kutta, fitted to counts every tenth step."""

    def slopes(s: Any, e: Any, i: Any) -> tuple[Any, Any, Any]:
        new = p[0] * s * i
        return -new, new - p[1] * e, p[1] * e - p[2] * i

    state, h, total = [1.0 - p[3], p[3], 0.0 * p[3]], 0.2, 0.0
    for k in range(150):
        a = slopes(*state)
        b = slopes(*[x + h / 2 * d for x, d in zip(state, a, strict=True)])
        c = slopes(*[x + h / 2 * d for x, d in zip(state, b, strict=True)])
        d = slopes(*[x + h * e for x, e in zip(state, c, strict=True)])
        state = [x + h / 6 * (q + 2 * r + 2 * s + t) for x, q, r, s, t in zip(state, a, b, c, d, strict=True)]
        if k % 10 == 9:
            total = total + (state[2] - 0.002 * k) ** 2
    return total


def oscillator(m: Any, p: Any) -> Any:
    """Van der Pol's, driven: 400 midpoint steps."""
    x, v, h = p[0], p[1], 0.02
    for k in range(400):
        a = p[2] * (1.0 - x * x) * v - x + p[3] * math.cos(0.5 * k * h)
        xm, vm = x + h / 2 * v, v + h / 2 * a
        x, v = x + h * vm, v + h * (p[2] * (1.0 - xm * xm) * vm - xm + p[3] * math.cos(0.5 * (k + 0.5) * h))
    return x * x + v * v


def magnetic_lens(m: Any, p: Any) -> Any:
    """A charge through a coil's field: 250 leapfrog steps in space."""
    x, y, z, u, v, w = p[0], p[1], -3.0, p[5], -p[5], p[2]
    for _ in range(250):
        field = p[3] / (1.0 + (z * z + x * x + y * y) / (p[4] * p[4]))
        u, v = u + 0.02 * field * v, v - 0.02 * field * u
        x, y, z = x + 0.02 * u, y + 0.02 * v, z + 0.02 * w
    return x * x + y * y + 0.1 * (z - 2.0) ** 2


def heated_rod(m: Any, p: Any) -> Any:
    """Twelve cells with a conductivity each: 80 explicit steps."""
    t = [1.0 + 0.0 * p[0]] + [0.0 * p[0]] * 11
    for _ in range(80):
        flow = [0.2 * (p[i] + p[i + 1]) * (t[i] - t[i + 1]) for i in range(11)]
        t = [t[i] + (flow[i - 1] if i else 0.0) - (flow[i] if i < 11 else 0.0) for i in range(12)]
    return sum((t[i] - 0.08) ** 2 for i in range(12))


def recurrent_network(m: Any, p: Any) -> Any:
    """Four hidden units read 60 numbers and guess the next."""
    h, total = [0.0 * p[0] for _ in range(4)], 0.0
    for t in range(60):
        x = _SERIES[t]
        h = [m.tanh(p[4 * i] * x + sum(p[16 + 4 * i + j] * h[j] for j in range(4)) + p[4 * i + 1]) for i in range(4)]
        guess = sum(p[4 * i + 2] * h[i] for i in range(4))
        total = total + (guess - _SERIES[t + 1]) ** 2
    return total


def water_tank(m: Any, p: Any) -> Any:
    """A controller with a saturated valve fills a tank with a hole: 500 steps."""
    level, integral, cost = 0.1 + 0.0 * p[0], 0.0 * p[0], 0.0
    for _ in range(500):
        error = 1.0 - level
        integral = integral + 0.02 * error
        valve = 0.5 + 0.5 * m.tanh(p[0] * error + p[1] * integral)
        level = level + 0.02 * (p[2] * valve - 0.4 * m.sqrt(level))
        cost = cost + error * error + 0.01 * valve * valve
    return cost


def three_bodies(m: Any, p: Any) -> Any:
    """Three masses in a plane: 60 leapfrog steps."""
    xs, vs, h = [p[i] for i in range(6)], [p[6 + i] for i in range(6)], 0.01
    for _ in range(60):
        forces = [0.0] * 6
        for i, j in ((0, 1), (0, 2), (1, 2)):
            dx, dy = xs[2 * j] - xs[2 * i], xs[2 * j + 1] - xs[2 * i + 1]
            square = dx * dx + dy * dy + 0.05
            strength = 1.0 / (square * m.sqrt(square))
            forces[2 * i] = forces[2 * i] + strength * dx
            forces[2 * i + 1] = forces[2 * i + 1] + strength * dy
            forces[2 * j] = forces[2 * j] - strength * dx
            forces[2 * j + 1] = forces[2 * j + 1] - strength * dy
        vs = [v + h * f for v, f in zip(vs, forces, strict=True)]
        xs = [x + h * v for x, v in zip(xs, vs, strict=True)]
    return sum(x * x for x in xs)


def soft_alignment(m: Any, p: Any) -> Any:
    """Soft dynamic time warping of 14 by 14 points, with smooth minima."""
    far = 50.0
    row = [0.0] + [far] * 14
    for i in range(14):
        following = [far + 0.0 * p[0]]
        for j in range(14):
            cost = (p[i] - _SERIES[j]) ** 2
            a, b, c = row[j], row[j + 1], following[j]
            following.append(cost - m.log(m.exp(-a) + m.exp(-b) + m.exp(-c)))
        row = following
    return row[14]


def _numbers(count: int, low: float, high: float) -> list[float]:
    draw = random.Random(count)
    return [draw.uniform(low, high) for _ in range(count)]


PROGRAMS: list[tuple[Function, list[float]]] = [
    (garch, [0.1, 0.1, 0.8]),
    (seasonal, [0.4, 0.2, 0.3, 2.0, 0.01, *_numbers(12, -1.0, 1.0)]),
    (epidemic, [0.9, 0.5, 0.3, 0.01]),
    (oscillator, [1.0, 0.5, 1.2, 0.4]),
    (magnetic_lens, [0.2, 0.1, 1.0, 2.0, 1.0, 0.3]),
    (heated_rod, _numbers(12, 0.5, 1.5)),
    (recurrent_network, _numbers(32, -0.5, 0.5)),
    (water_tank, [2.0, 0.5, 0.8]),
    (three_bodies, [0.0, 0.0, 1.0, 0.1, -0.5, 0.9, 0.1, -0.2, -0.3, 0.8, 0.4, -0.1]),
    (soft_alignment, _numbers(14, -1.0, 1.0)),
]


def casadi_calls(function: Function, at: list[float], casadi: Any) -> tuple[Callable[[], Any], Callable[[], Any], Any]:
    """CasADi's virtual machine and its compiled C, both on buffers; the array that the answers come in."""
    x = casadi.SX.sym("x", len(at))
    value = function(casadi, casadi.vertsplit(x))
    run = casadi.Function("run", [x], [casadi.vertcat(value, casadi.gradient(value, x))])
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        run.generate("run.c", {"with_header": False})
        Path("run.c").replace(here / "run.c")
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
        subprocess.run(["gcc", *flags, str(here / "run.c"), "-o", str(here / "run.so"), "-lm"], check=True)
        external = casadi.external("run", str(here / "run.so"))
    answer, numbers = np.zeros(1 + len(at)), np.array(at)
    calls = []
    for of in (run, external):
        buffer, evaluate = of.buffer()
        buffer.set_arg(0, numbers.data)
        buffer.set_res(0, answer.data)
        calls.append(lambda evaluate=evaluate, keep=(buffer, of, numbers): evaluate())
    return calls[0], calls[1], answer


def ours(function: Function, at: list[float]) -> tuple[Callable[[], Any], float]:
    """Our call, once machine code has taken over, and how many milliseconds that took from the first call."""
    compiled = rg.compile(lambda p: function(rg.math, p))
    numbers = np.array(at)
    start = perf_counter()
    for _ in range(260):
        compiled.value_and_grad(numbers)
    while compiled.tier != "llvm" and perf_counter() - start < 20.0:
        sleep(0.01)
        compiled.value_and_grad(numbers)
    return lambda: compiled.value_and_grad(numbers), (perf_counter() - start) * 1e3


def measured(function: Function, at: list[float], turns: int) -> tuple[dict[str, float], float]:
    """Microseconds of each contender, which give the same numbers, and what making our code took."""
    call, milliseconds = ours(function, at)
    contenders = [Contender("ours", timed(call, 50), turns, collector_on=False)]
    if casadi := optional("casadi"):
        machine, code, answer = casadi_calls(function, at, casadi)
        value, gradient = call()
        for name, theirs in (("CasADi's C", code), ("CasADi's VM", machine)):
            theirs()
            same(name, [value, *gradient], answer.tolist(), 1e-8)
            contenders.append(Contender(name, timed(theirs, 50), turns, collector_on=False))
    figures = {name: phases["call"] / 1e3 for name, phases in interleaved(contenders).items()}
    return figures, milliseconds


def main(turns: int, programs: Sequence[tuple[Function, list[float]]] = PROGRAMS) -> None:
    """Print what each contender takes on each program, ours over CasADi's C, and the geometric mean."""
    found = ((function.__name__, *measured(function, at, turns)) for function, at in programs)
    print_over_c(((name, figures, f"code in {ms:6.0f} ms") for name, figures, ms in found), "ours", turns)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
