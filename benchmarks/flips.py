"""Functions that decide otherwise in each call: compiled, eager, and the C that ``to_c`` writes, by gcc.

The first five take other arms of an ``if``; in the others, loops take as many iterations as the data want, objects and
lists change where a test says so, and ints count and choose.

python -m benchmarks.flips [TURNS]

Each call brings the next of 32 samples of data and parameters. Before the race all of them are held against the eager
engine. C is left out where there is no gcc.
"""

from __future__ import annotations

import ctypes
import math
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns, sleep
from typing import Any

import numpy as np

import retrograd as rg
import retrograd.math as rm

__all__ = ["PROGRAMS", "check", "main", "sample"]

SAMPLES = 32

#: -ffast-math alone would leave out the checks that return NAN.
_FLAGS = ["-O3", "-march=native", "-ffast-math", "-fno-finite-math-only", "-shared", "-fPIC"]


def responses(p: list[Any], answers: list[float]) -> Any:
    """Item response theory: 20 people, 15 items, the logistic function's logarithm on its safe side."""
    total = 0.0
    for i in range(20):
        for j in range(15):
            z = p[20 + j] * (p[i] - p[35 + j])
            if z < 0:
                total += answers[15 * i + j] * z - rm.log1p(rm.exp(z))
            else:
                total += answers[15 * i + j] * z - z - rm.log1p(rm.exp(-z))
    return total


def leverage(p: list[Any], returns: list[float]) -> Any:
    """GARCH with leverage: a fall adds more to the variance than a rise."""
    variance, total = 1.0, 0.0
    for r in returns:
        total += 0.5 * (rm.log(variance) + r * r / variance)
        variance = 0.1 + 0.1 * p[0] ** 2 + (0.05 + (0.1 * p[1] ** 2 if r < 0 else 0.0)) * r * r + 0.5 * variance
    return total


def huber(p: list[Any], heights: list[float]) -> Any:
    """Tides of four constituents with Huber's loss."""

    def loss(r: Any) -> Any:
        if abs(r) <= 0.5:
            return 0.5 * r * r
        return 0.5 * (abs(r) - 0.25)

    total = 0.0
    for hour, height in enumerate(heights):
        level = sum(p[2 * k] * rm.cos((0.3 + 0.21 * k) * hour - p[2 * k + 1]) for k in range(4))
        total += loss(height - level)
    return total / len(heights)


def contacts(p: list[Any], heights: list[float]) -> Any:
    """A ball on uneven ground, which pushes and brakes it while it is touched."""
    y, v, total = 1.0, 0.0, 0.0
    for height in heights:
        gap = y - 0.2 * height
        force = -9.81
        if gap < 0.0:
            force += -200.0 * (1.0 + p[0] ** 2) * gap - p[1] * v
            total += 0.1 * gap * gap
        v = v + 0.02 * force
        y = y + 0.02 * v
        total += (y - 0.5) ** 2
    return total


def taxes(p: list[Any], incomes: list[float]) -> Any:
    """Brackets: what is earned less the tax, with diminishing use."""
    total = 0.0
    for income in incomes:
        earned = 30.0 * rm.exp(0.5 * income) * (1.0 - 0.1 * p[2])
        if earned <= 15.0:
            tax = 0.0
        elif earned <= 40.0:
            tax = p[0] * (earned - 15.0)
        else:
            tax = p[0] * 25.0 + p[1] * (earned - 40.0)
        total += rm.log(1.0 + earned - 0.3 * tax)
    return total


def kepler(p: list[Any], times: list[float]) -> Any:
    """Radial velocities on an orbit: Kepler's equation by Newton's method, to a tolerance."""
    total = 0.0
    for time in times:
        anomaly = 3.0 * time + p[1]
        mean, step, n = anomaly, 1.0, 0
        while abs(step) > 1e-10 and n < 30:
            step = (anomaly - 0.6 * p[0] * rm.sin(anomaly) - mean) / (1.0 - 0.6 * p[0] * rm.cos(anomaly))
            anomaly = anomaly - step
            n += 1
        total += (p[2] * rm.cos(anomaly) + p[3] - time) ** 2
    return total / len(times)


class Neuron:
    """Leaky integrate-and-fire, with a rest after each spike."""

    def __init__(self) -> None:
        self.voltage, self.resting = 0.0, 0

    def step(self, current: Any, leak: Any, threshold: Any) -> bool:
        """Whether it fires."""
        if self.resting > 0:
            self.resting -= 1
            return False
        self.voltage += 0.2 * (current - leak * self.voltage)
        if self.voltage > threshold:
            self.voltage = 0.1 * (self.voltage - threshold)
            self.resting = 3
            return True
        return False


def neurons(p: list[Any], currents: list[float]) -> Any:
    """Two of them, of which one drives the other; how late they fire."""
    first, second, total = Neuron(), Neuron(), 0.0
    for t, current in enumerate(currents):
        drive = 0.5 if first.step(p[0] + current, p[1], p[2]) else 0.0
        if second.step(p[3] + drive + first.voltage, p[1], p[2]):
            total += 0.01 * t * p[3]
        total += 0.1 * first.voltage * second.voltage
    return total


def queue(p: list[Any], arrivals: list[float]) -> Any:
    """Customers go to whichever of four servers is free first; some leave."""
    free = [0.0, 0.0, 0.0, 0.0]
    now, waited, served = 0.0, 0.0, 0
    for arrival in arrivals:
        now += 0.2 * abs(arrival)
        best = 0
        for k in range(1, 4):
            if free[k] < free[best]:
                best = k
        wait = max(0.0, free[best] - now)
        if wait > 2.0 * p[4]:
            continue
        free[best] = now + wait + p[best] * rm.exp(0.3 * arrival)
        waited += wait
        served += 1
    return waited / served + 0.1 * max(free)


def falling(p: list[Any], heights: list[float]) -> Any:
    """Balls that bounce until they rest, or the time is over."""
    total = 0.0
    for height in heights:
        y, v, t = 1.0 + abs(height), 0.0, 0.0
        for _ in range(20):
            s = (v + rm.sqrt(v * v + 2.0 * 9.81 * y)) / 9.81
            if t + s > 2.0:
                y = y + v * (2.0 - t) - 0.5 * 9.81 * (2.0 - t) ** 2
                break
            t, y = t + s, 0.0
            v = (0.4 + 0.4 * p[0]) * (9.81 * s - v)
            v = v - 0.01 * p[1] * v * v
            if v < 0.2:
                break
        total += y
    return total / len(heights)


def sorted_tail(p: list[Any], scenarios: list[float]) -> Any:
    """The mean of the largest losses of a portfolio, by exchanges."""
    losses = [sum(p[k] * scenarios[4 * i + k] for k in range(4)) for i in range(len(scenarios) // 4)]
    for end in range(len(losses) - 1, len(losses) - 4, -1):
        for i in range(end):
            if losses[i] > losses[i + 1]:
                losses[i], losses[i + 1] = losses[i + 1], losses[i]
    return sum(losses[-3:]) / 3.0


#: A function, how many parameters it has, and how many numbers its data are.
PROGRAMS: list[tuple[Callable[..., Any], int, int]] = [
    (responses, 50, 300),
    (leverage, 2, 800),
    (huber, 8, 200),
    (contacts, 2, 300),
    (taxes, 3, 300),
    (kepler, 4, 60),
    (neurons, 4, 300),
    (queue, 5, 100),
    (falling, 2, 60),
    (sorted_tail, 4, 160),
]


def sample(seed: int, parameters: int, numbers: int) -> tuple[list[float], list[float]]:
    """Parameters and data."""
    draw = random.Random(seed)
    return [draw.uniform(0.2, 1.0) for _ in range(parameters)], [draw.gauss(0.0, 1.0) for _ in range(numbers)]


def _written(compiled: Any, calls: list[tuple[list[float], list[float]]]) -> list[Callable[[], Any]]:
    """Calls of the gradient that ``to_c`` writes; none without gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        made = compiled.to_c(Path(folder) / "f.c", *calls[0], name="f")
        subprocess.run([gcc, *_FLAGS, f"{folder}/f.c", "-o", f"{folder}/f.so", "-lm"], check=True)
        run = ctypes.CDLL(f"{folder}/f.so").f_gradient
    run.restype = ctypes.c_double
    work, nothing = np.zeros(max(made.work, 1)), np.zeros(1)

    def call(numbers: Any, slopes: Any) -> Callable[[], Any]:
        arrays = numbers, nothing, slopes, nothing, work
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in arrays]

        def once(kept: Any = arrays) -> Any:
            return run(*addresses), slopes

        return once

    return [call(np.array(made.inputs(*one), float), np.zeros(sum(map(len, one)))) for one in calls]


def check(name: str, found: Any, wanted: Any) -> None:
    """End the run with a sentence where value and gradient are not those of the eager engine."""
    value, slopes = found
    count, largest = len(wanted[1]), max(map(abs, wanted[1]))
    close = math.isclose(value, wanted[0], rel_tol=1e-9, abs_tol=1e-12)
    if not close or max(abs(a - b) for a, b in zip(list(slopes)[:count], wanted[1], strict=True)) > 1e-9 * largest:
        raise SystemExit(f"{name} differs from the eager engine: {found} and {wanted}.")


def compare(f: Callable[..., Any], parameters: int, numbers: int, turns: int) -> dict[str, float]:
    """The least microseconds of a call, over all samples, of each contender."""
    calls = [sample(seed, parameters, numbers) for seed in range(SAMPLES)]
    eager, compiled = rg.value_and_grad(f), rg.compile(f)
    wanted = [eager(*one) for one in calls]
    for one, want in zip(calls, wanted, strict=True):
        check(f.__name__, compiled.value_and_grad(*one), want)
    written = _written(compiled, calls)  # which knows how often loops run
    for _ in range(60):  # until LLVM's code has taken over
        for one, want in zip(calls, wanted, strict=True):
            check(f.__name__, compiled.value_and_grad(*one), want)
        sleep(0.05)
    for once, want in zip(written, wanted, strict=False):
        check(f"{f.__name__} in C", once(), want)
    contenders: dict[str, Callable[[], Any]] = {
        "ours": lambda: [compiled.value_and_grad(*one) for one in calls],
        "eager": lambda: [eager(*one) for one in calls],
    }
    if written:
        contenders["C"] = lambda: [once() for once in written]
    least = dict.fromkeys(contenders, math.inf)
    for _ in range(turns):
        for name, run in contenders.items():
            start = perf_counter_ns()
            run()
            least[name] = min(least[name], (perf_counter_ns() - start) / SAMPLES / 1e3)
    return least


def main(turns: int) -> None:
    """Print the times of each program, and what they are to each other."""
    for f, parameters, numbers in PROGRAMS:
        least = compare(f, parameters, numbers, turns)
        shown = "  ".join(f"{name} {time:8.2f} µs" for name, time in least.items())
        over_c = f"  ours / C {least['ours'] / least['C']:5.2f}" if "C" in least else ""
        print(f"{f.__name__:10}  {shown}  eager / ours {least['eager'] / least['ours']:6.1f}{over_c}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
