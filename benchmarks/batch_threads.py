"""Batches on several threads against one: ``rg.compile(f).backward_batch(members, threads=n)``.

python -m benchmarks.batch_threads [TURNS [THREADS]]

Three programs of which a member costs enough: an ODE (a loop in machine code), an MLP (contractions), a wide sum of
sines (vectors). One thread and n take turns in one run, and must give the same bits.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import retrograd as rg
from retrograd import Value

from .measure import Contender, interleaved, timed

__all__ = ["PROGRAMS", "main"]


class Batch(NamedTuple):
    """A function, its parameters, and members."""

    function: Callable[..., Any]
    parameters: list[Value]
    members: list[tuple[Any, ...]]


def ode(draw: random.Random) -> Batch:
    """Lotka and Volterra's, 1,000 steps of Euler, for 256 beginnings."""
    p = [Value(v) for v in (1.1, 0.4, 0.1, 0.4)]

    def loss(x: Any, y: Any) -> Any:
        for _ in range(1000):
            x, y = x + 0.01 * (p[0] * x - p[1] * x * y), y + 0.01 * (p[2] * x * y - p[3] * y)
        return (x - 1.0) ** 2 + (y - 2.0) ** 2

    return Batch(loss, p, [(draw.uniform(0.5, 1.5), draw.uniform(0.5, 1.5)) for _ in range(256)])


def mlp(draw: random.Random) -> Batch:
    """64 inputs, 200 hidden units, one output, for 1,024 samples."""
    hidden: list[list[Any]] = [[Value(draw.uniform(-0.3, 0.3)) for _ in range(64)] for _ in range(200)]
    last = [Value(draw.uniform(-0.3, 0.3)) for _ in range(200)]

    def loss(x: list[float], y: float) -> Any:
        units = [sum(w * v for w, v in zip(row, x, strict=True)).tanh() for row in hidden]
        return (sum(w * u for w, u in zip(last, units, strict=True)) - y) ** 2

    members = [([draw.uniform(-1.0, 1.0) for _ in range(64)], draw.uniform(-1.0, 1.0)) for _ in range(1024)]
    return Batch(loss, [*(w for row in hidden for w in row), *last], members)


def waves(draw: random.Random) -> Batch:
    """20,000 sines of one number, for 64 numbers."""
    p = [Value(draw.uniform(-1.0, 1.0)) for _ in range(4)]

    def loss(x: float) -> Any:
        return sum((p[i % 4] * x + 0.001 * i).sin() * p[(i + 1) % 4] for i in range(20_000))

    return Batch(loss, p, [(draw.uniform(-1.0, 1.0),) for _ in range(64)])


PROGRAMS = {"ode": ode, "mlp": mlp, "waves": waves}


def _answer(compiled: Any, batch: Batch, threads: int) -> tuple[float, ...]:
    for parameter in batch.parameters:
        parameter.grad = 0.0
    value = compiled.backward_batch(batch.members, threads=threads)
    return value, *(parameter.grad for parameter in batch.parameters)


def main(turns: int = 30, threads: int = 2) -> None:
    """Print, for each program, the time on one thread and on several, and their ratio."""
    for name, make in PROGRAMS.items():
        batch = make(random.Random(7))
        compiled = rg.compile(batch.function, tier="llvm")
        for _ in range(3):
            alone = _answer(compiled, batch, 1)
        if _answer(compiled, batch, threads) != alone:
            raise ArithmeticError(f"{name}: {threads} threads give other bits than one; nothing was measured")
        calls = {n: timed(partial(compiled.backward_batch, batch.members, threads=n), 2) for n in (1, threads)}
        best = interleaved([Contender(str(n), run, turns, collector_on=False) for n, run in calls.items()])
        one, several = (best[str(n)]["call"] / 1e3 for n in (1, threads))
        print(f"{name:8} {one:9.0f} µs on one thread {several:9.0f} µs on {threads}: {one / several:.2f} times as fast")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
