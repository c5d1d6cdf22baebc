"""What a Hessian-vector product costs beside the gradient, both compiled.

python -m benchmarks.second_order [TURNS]

Five functions of NumPy arrays: neighbours in a chain, angles in a ring, an integrator, regression and a small network.
The products are held against those of the eager engine.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from time import perf_counter_ns, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

import retrograd as rg

Function = Callable[[Any], Any]

CALLS = 100

_draw = random.Random(1)
POINTS = [[_draw.gauss(0, 1) for _ in range(10)] for _ in range(200)]
LABELS = [_draw.choice([-1.0, 1.0]) for _ in POINTS]


def chain(x: Any) -> Any:
    """Rosenbrock's function."""
    return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x))


def rotors(x: Any) -> Any:
    """The X-Y model's energy."""
    return sum(-rg.math.cos(a - b) for a, b in pairwise([*x, x[0]]))


def populations(x: Any) -> Any:
    """Lotka and Volterra's model by Euler's method, against a constant."""
    a, b, c, d, prey, hunters = x
    error = 0.0
    for _ in range(100):
        change = a * prey - b * prey * hunters, c * prey * hunters - d * hunters
        prey, hunters = prey + 0.02 * change[0], hunters + 0.02 * change[1]
        error = error + (prey - 1.0) ** 2 + (hunters - 1.0) ** 2
    return error


def regression(x: Any) -> Any:
    """Logistic regression."""
    return sum(
        rg.math.log(1.0 + rg.math.exp(-label * _dot(x, point))) for point, label in zip(POINTS, LABELS, strict=True)
    )


def network(x: Any) -> Any:
    """A hidden layer of eight tanh neurons."""
    error = 0.0
    for point, label in zip(POINTS[:60], LABELS, strict=False):
        hidden = [rg.math.tanh(_dot(x[4 * i : 4 * i + 4], point)) for i in range(8)]
        error = error + (_dot(x[32:], hidden) - label) ** 2
    return error


def _dot(weights: Any, numbers: Iterable[Any]) -> Any:
    return sum(w * number for w, number in zip(weights, numbers, strict=False))


FUNCTIONS: dict[str, tuple[Function, int]] = {
    "Rosenbrock, 100": (chain, 100),
    "rotors, 256": (rotors, 256),
    "Lotka-Volterra, 100 steps": (populations, 6),
    "logistic regression, 200 points": (regression, 10),
    "network 4-8-1, 60 points": (network, 40),
}


def compare(f: Function, size: int, turns: int) -> tuple[float, float]:
    """The least microseconds of the gradient and of the Hessian's product with a vector."""
    x, v = (np.array([_draw.uniform(0.2, 1.0) for _ in range(size)]) for _ in range(2))
    gradient = rg.compile(rg.value_and_grad(f))
    product = rg.compile(lambda x, v: rg.hvp(f, x, v))
    calls: list[Callable[[NDArray[np.float64], NDArray[np.float64]], Any]] = [lambda x, _: gradient(x), product]
    for _ in range(30):  # until LLVM's code has taken over
        for call in calls:
            for _ in range(CALLS):
                call(x, v)
        sleep(0.1)
    np.testing.assert_allclose(product(x, v), rg.hvp(f, x, v), rtol=1e-9, atol=1e-12)
    least = [float("inf")] * len(calls)
    for _ in range(turns):
        for i, call in enumerate(calls):
            start = perf_counter_ns()
            for _ in range(CALLS):
                call(x, v)
            least[i] = min(least[i], (perf_counter_ns() - start) / CALLS / 1e3)
    return least[0], least[1]


def main(turns: int) -> None:
    """Print both times and their ratio for each function."""
    for name, (f, size) in FUNCTIONS.items():
        gradient, product = compare(f, size, turns)
        print(f"{name:32} gradient {gradient:7.2f} µs, product {product:7.2f} µs: {product / gradient:.2f} times")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
