"""Batches of recurrences against JAX by hand (``lax.scan`` under ``vmap``): many members, value and gradient, in turns.

python -m benchmarks.batches [TURNS]

``mean``: the mean over the members and its gradient, for parameters that all share (``backward_batch``). ``each``: the
value and the gradient of every member (``value_and_grad_batch``). One core, double precision, in this process.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from functools import partial
from time import sleep
from typing import Any

import retrograd as rg
from retrograd import Value

from .measure import Contender, interleaved, same, timed
from .peers.jax_process import SETTINGS

__all__ = ["PROGRAMS", "main"]

MEMBERS, STEPS = 1000, 100

Step = Callable[[Any, tuple[Any, ...], Any, Any], tuple[Any, ...]]


def predators(library: Any, state: tuple[Any, ...], p: Any, x: Any) -> tuple[Any, ...]:
    """Lotka and Volterra's equations, by Euler's rule."""
    a, b = state
    return a + 0.01 * (p[0] * a - p[1] * a * b), b + 0.01 * (p[2] * a * b - p[3] * b)


def volatility(library: Any, state: tuple[Any, ...], p: Any, x: Any) -> tuple[Any, ...]:
    """A GARCH(1, 1) model: the variance, and minus twice the logarithm of the likelihood."""
    variance, score = state
    variance = p[0] * p[0] + 0.1 * p[1] * x[0] * x[0] + 0.8 * p[2] * variance
    return variance, score + library.log(variance) + x[1] * x[1] / variance + 0.0 * p[3]


def path(library: Any, state: tuple[Any, ...], p: Any, x: Any) -> tuple[Any, ...]:
    """A price whose volatility reverts to a mean; the pay-off is smooth."""
    price, v = state
    v = v + 0.1 * p[0] * (p[1] * p[1] - v) + 0.01 * p[2] * x[0]
    return price * library.exp(0.01 * p[3] - 0.005 * v * v + 0.1 * v * x[1]), v


PROGRAMS: dict[str, Step] = {"predators": predators, "volatility": volatility, "path": path}
PARAMETERS = [0.9, 0.7, 0.8, 0.6]


def ours(step: Step, p: Any, x: Any) -> Any:
    """The function as a user of retrograd writes it."""
    state: tuple[Any, ...] = (1.0 + 0.1 * x[0], 0.5 + 0.1 * x[1])
    for _ in range(STEPS):
        state = step(rg.math, state, p, x)
    return state[0] * state[0] + state[1]


def by_hand(step: Step) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The same in JAX: the mean and its gradient, and those of each member."""
    import jax
    import jax.numpy as jnp

    def one(p: Any, x: Any) -> Any:
        start = (1.0 + 0.1 * x[0], 0.5 + 0.1 * x[1])
        state, _ = jax.lax.scan(lambda state, _: (step(jnp, state, p, x), None), start, None, length=STEPS)
        return state[0] * state[0] + state[1]

    mean = jax.jit(jax.value_and_grad(lambda p, xs: jax.vmap(one, (None, 0))(p, xs).mean()))
    return mean, jax.jit(jax.vmap(jax.value_and_grad(one), (None, 0)))


def measured(step: Step, turns: int) -> dict[str, dict[str, float]]:
    """Microseconds a member of each contender, which give the same numbers."""
    import jax
    import numpy as np

    draw = random.Random(1)
    xs = [[draw.uniform(-1.0, 1.0), draw.uniform(-1.0, 1.0)] for _ in range(MEMBERS)]
    leaves = [Value(number) for number in PARAMETERS]
    mean, each = rg.compile(lambda x: ours(step, leaves, x)), rg.compile(partial(ours, step))
    members: list[tuple[Any, ...]] = [(x,) for x in xs]
    calls: list[tuple[Any, ...]] = [(PARAMETERS, x) for x in xs]
    for _ in range(3):  # machine code is made beside the calls
        mean.backward_batch(members)
        each.value_and_grad_batch(calls)
        sleep(1.0)
    for leaf in leaves:
        leaf.grad = 0.0
    mean_of_jax, each_of_jax = by_hand(step)
    arguments = np.array(PARAMETERS), np.array(xs)
    value, slopes = mean_of_jax(*arguments)
    same("the mean", [mean.backward_batch(members), *(leaf.grad for leaf in leaves)], [float(value), *slopes.tolist()])
    values, gradients = each_of_jax(*arguments)
    same("each", [v for v, _ in each.value_and_grad_batch(calls)], values.tolist())
    same("each", [g for _, slope in each.value_and_grad_batch(calls) for g in slope], gradients.ravel().tolist())
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "mean": (lambda: mean.backward_batch(members), lambda: jax.block_until_ready(mean_of_jax(*arguments))),
        "each": (lambda: each.value_and_grad_batch(calls), lambda: jax.block_until_ready(each_of_jax(*arguments))),
    }
    found = {}
    for name, (mine, theirs) in pairs.items():
        contenders = [
            Contender(who, timed(call, 5), turns, collector_on=False) for who, call in (("ours", mine), ("JAX", theirs))
        ]
        found[name] = {who: phases["call"] / 1e3 / MEMBERS for who, phases in interleaved(contenders).items()}
    return found


def main(turns: int) -> None:
    """Print the ratios."""
    os.environ.update(SETTINGS)  # before JAX is imported
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name, step in PROGRAMS.items():
        for what, figures in measured(step, turns).items():
            line = "  ".join(f"{who} {microseconds:6.2f} µs" for who, microseconds in figures.items())
            print(f"{name:10} {what:5} {line}  ours / JAX {figures['ours'] / figures['JAX']:5.2f}", flush=True)
    print(f"A member of {MEMBERS}, {STEPS} steps; minimum of {turns} turns, collector off.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
