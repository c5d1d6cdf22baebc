"""``to_jax`` of functions with loops: a ``lax.scan`` of each, and the engine's numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.parts import ALL, require

import retrograd as rg
import retrograd.math as rm
from retrograd.ops import jax_functions

pytestmark = pytest.mark.native
QUICK = {"xla_backend_optimization_level": 0}


@pytest.fixture(autouse=True)
def double():
    require("jax")
    with jax_functions.double_precision():
        yield


def check(f: Callable[..., Any], *calls: tuple[list[float], ...], scans: bool = True) -> Any:
    """Value and gradient by the first argument are the engine's; returns the JAX function."""
    import jax

    g = rg.compile(f).to_jax(*calls[0])
    slopes = jax.jit(jax.value_and_grad(g, argnums=1))
    assert ("scan[" in str(jax.make_jaxpr(g)(g.parameters, *g.inputs(*calls[0])))) == scans
    run = slopes.lower(g.parameters, *g.inputs(*calls[0])).compile(QUICK)
    for arguments in calls:
        value, gradient = run(g.parameters, *g.inputs(*arguments))
        wanted, slope = rg.value_and_grad(f)(*arguments)
        assert float(value) == pytest.approx(wanted, rel=1e-9)
        assert np.asarray(gradient) == pytest.approx(np.asarray(slope), rel=1e-9, abs=1e-9 * np.abs(slope).max())
    return g


def draws(seed: int, *sizes: int) -> tuple[list[float], ...]:
    rng = random.Random(seed)
    return tuple([rng.uniform(0.2, 1.2) for _ in range(size)] for size in sizes)


def simulation(p, force):
    x, v, work = p[0], p[1], 0.0
    for u in force:
        a = u - p[2] * x - p[3] * v * abs(v)
        x, v = x + 0.1 * v, v + 0.1 * a
        work = work + u * v
    return x * x + v * v + work


def delayed(p, force):
    line = [p[0], p[1], p[2], p[0] * p[1]]
    seen = []
    for u in force:
        line = [*line[1:], rm.tanh(0.5 * line[0] + 0.3 * line[3] + u)]
        seen.append(line[-1])
    return rg.dot(seen, list(reversed(seen))) - seen[7]


def triangle(p, force):
    """A tree: each step has one cell less, and each cell reads two neighbours."""
    row = [rm.exp(-p[0] * u) for u in force]
    while len(row) > 1:
        row = [rm.maximum(p[1] * a + p[2] * b, 0.1 * a) for a, b in pairwise(row)]
    return row[0]


def rates(p, force):
    """An inner loop that sums up, over fewer numbers each time."""
    rate = [p[0] * u for u in force]
    n = len(rate)
    for k in range(n - 2):
        drift = 0.0
        for i in range(k + 1, n):
            drift = drift + 0.1 * rate[i] / (1.0 + rate[i])
            rate[i] = rate[i] * rm.exp(0.1 * drift * p[1] - 0.01 * p[2] * force[k])
    return rg.sum([r * w for r, w in zip(rate, force, strict=True)])


def filtered(p, force):
    """An inner loop whose numbers are handed on and not only added up."""
    total = p[3]
    for k in range(12):
        level = p[0] + 0.1 * k
        for u in force:
            level = rm.sin(level * p[1] + u) + total * 0.01
        total = total + level * level
    return total


def differences(p, force):
    """What an iteration needs of the one before it was computed of the inputs alone."""
    before, total, level = p[0], 1.0, p[3]
    for u in force:
        now = rm.exp(-u * p[1]) + rm.sin(u)
        level = rm.tanh(level + now - before * p[2])
        total = total * (1.0 + 0.01 * (now - before) * level)
        before = now
    return total


PROGRAMS = {f.__name__: f for f in (simulation, delayed, triangle, rates, filtered, differences)}


@pytest.mark.parametrize(
    "name",
    [
        "simulation",
        "triangle",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("delayed", "rates", "filtered", "differences")),
    ],
)
def test_loops_are_scans(name):
    steps = 100 if name == "triangle" else 60
    check(PROGRAMS[name], draws(1, 4, steps), draws(2, 4, steps))


@pytest.mark.long
def test_a_hundred_times_the_steps_are_as_many_equations():
    import jax

    sizes = []
    for steps in (30, 3000):
        g = rg.compile(simulation).to_jax(*draws(1, 4, steps))
        sizes.append(len(str(jax.make_jaxpr(jax.grad(g, argnums=1))(g.parameters, *g.inputs(*draws(1, 4, steps))))))
    assert sizes[1] < 1.2 * sizes[0]


@pytest.mark.long
def test_padding_gives_no_nan():
    """Beyond the end of a shorter row, the numbers of the longer one would be the logarithm of a negative one."""

    def f(p, force):
        row = [p[0] + p[1] * u for u in force]
        for k in range(len(force) - 3):
            drift = 0.0
            for i in range(k + 1, len(force)):
                drift = drift + rm.log(row[i] - 0.9 * row[k])
                row[i] = row[i] * rm.exp(0.001 * p[2] * drift)
        return rg.sum(row)

    check(f, ([1.0, 0.5, 0.3], [float(k) for k in range(1, 41)]), ([2.0, 0.7, 0.2], [k + 0.5 for k in range(1, 41)]))


@pytest.mark.long
def test_a_comparison_in_a_loop_that_comes_out_otherwise_is_nan():
    def f(p, force):
        x = p[0]
        for u in force:
            above = bool(x > 0.5)  # which stays a comparison
            x = 0.9 * x + u if above else p[1] * x + u * 0.5
        return x

    calls = draws(1, 2, 40)
    g = check(f, calls)
    assert len(g.guards) == 40
    assert math.isnan(float(g(g.parameters, np.array([-9.0, 0.3]), *g.inputs(*calls)[1:])))


@pytest.mark.long
def test_outside_the_domain_is_nan_and_a_zero_gradient_absorbs_it():
    import jax

    def f(p, force):
        x = p[0]
        for u in force:
            x = 0.5 * x + u * rm.where(x, rm.sqrt(x * x), 0.0) * p[1]
        return x

    with rg.errstate(divide="ignore", invalid="ignore"):
        calls = draws(1, 2, 40)
        g = check(f, calls)
        slopes = jax.grad(g, argnums=1)(g.parameters, np.array([0.0, 0.5]), *g.inputs(*calls)[1:])
        wanted = rg.grad(f)([0.0, 0.5], calls[1])
    assert np.asarray(slopes).tolist() == wanted

    root = rg.compile(lambda p, force: _roots(p, force)).to_jax(*calls)
    assert math.isnan(float(root(root.parameters, np.array([-50.0, 1.0]), *root.inputs(*calls)[1:])))


def _roots(p, force):
    x = p[0]
    for u in force:
        x = rm.sqrt(x + u) * p[1]
    return x


def test_the_first_of_equals_in_a_loop():
    def f(p, force):
        x = p[0]
        for u in force:
            x = max(0.5 * x, u * p[1]) + min(x, p[2])
        return x

    check(f, ([2.0, 1.0, 2.0], [1.0] * 40))


def test_logsumexp_takes_out_the_largest():
    g = rg.compile(lambda x: rg.logsumexp(x)).to_jax([0.0, 1.0, 2.0])
    assert float(g(g.parameters, np.array([1000.0, 0.0, 1.0]))) == 1000.0


def letters(p, xs):
    """An LSTM, all of whose units read what all of them had: the same to each."""
    units, width = 16, 8
    both, hidden, memory, loss = units + width, [0.0] * units, [0.0] * units, 0.0
    gates = [[p[k * both : (k + 1) * both] for k in range(g * units, (g + 1) * units)] for g in range(4)]
    for t in range(len(xs) // width):
        joined = xs[t * width : (t + 1) * width] + hidden
        sums = [[0.1 + sum(w * v for w, v in zip(row, joined, strict=True)) for row in gate] for gate in gates]
        forget, admit, show = ([1.0 / (1.0 + rm.exp(-v)) for v in part] for part in sums[:3])
        memory = [f * c + a * rm.tanh(v) for f, c, a, v in zip(forget, memory, admit, sums[3], strict=True)]
        hidden = [o * rm.tanh(c) for o, c in zip(show, memory, strict=True)]
        loss = loss + rm.log(sum(rm.exp(h) for h in hidden)) - hidden[t % units]
    return loss


@pytest.mark.long
def test_what_inner_loops_read_alike_is_handed_on_once():
    draw = random.Random(3)
    weights = [draw.uniform(-0.5, 0.5) for _ in range(64 * 24)]
    check(letters, (weights, [draw.uniform(-1.0, 1.0) for _ in range(64)]))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(24 if ALL else 4))
def test_random_recurrences(seed):
    """Random bodies: states that read each other, sums, delays, rows that read their neighbours."""
    rng = random.Random(seed)
    unary = [rm.tanh, rm.sin, lambda a: a * a * 0.1, lambda a: rm.exp(-a * a), lambda a: 1.0 / (1.5 + a * a)]
    states, width = rng.randint(1, 4), rng.choice([0, 0, 5, 9])
    recipe = [(rng.choice(unary), rng.randrange(states), rng.randrange(states), rng.random()) for _ in range(states)]
    shrinks, keeps = rng.random() < 0.5, rng.random() < 0.5
    neighbour = rng.choice(unary)

    def f(p, force):
        state, kept = [p[k % len(p)] for k in range(states)], []
        row, total = [p[k % len(p)] * 0.3 + 0.01 * k for k in range(width)], 0.0
        for k, u in enumerate(force):
            state = [op(c * state[i] + 0.3 * state[j] + 0.1 * u) for op, i, j, c in recipe]
            if width:
                left = width - (k % 3 if shrinks else 0)
                row = [*(neighbour(row[i] + 0.2 * row[i - 1] + state[0]) for i in range(left)), *row[left:]]
                total = total + row[-1] * row[0]
            kept.append(state[-1] if keeps else state[0] * u)
        return rg.sum([a * b for a, b in zip(kept, kept[3:], strict=False)]) + total + state[-1]

    g = rg.compile(f).to_jax(*draws(seed, 3, 24))
    assert g.fits(*draws(seed + 1, 3, 24))
    import jax

    slopes = jax.jit(jax.value_and_grad(g, argnums=1)).lower(g.parameters, *g.inputs(*draws(seed, 3, 24)))
    run = slopes.compile(QUICK)
    for other in (seed, seed + 100):
        value, gradient = run(g.parameters, *g.inputs(*draws(other, 3, 24)))
        wanted, slope = rg.value_and_grad(f)(*draws(other, 3, 24))
        assert float(value) == pytest.approx(wanted, rel=1e-9)
        assert np.asarray(gradient) == pytest.approx(np.asarray(slope), rel=1e-9, abs=1e-9 * np.abs(slope).max())
