"""Derivatives of derivatives of Python's max and min, which choose otherwise in each call: one program for all."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from support.compiled_cases import native

import retrograd as rg
import retrograd.math as rm

pytestmark = native

Numbers = list[Any]


def least_path(p: Numbers, xs: Numbers) -> Any:
    """Dynamic time warping, as it is written."""
    row = [0.0] + [1e10] * len(xs)
    for a in p:
        new = [1e10]
        for j, b in enumerate(xs):
            new.append((a - b) ** 2 + min(new[j], row[j], row[j + 1]))
        row = new
    return row[-1] * p[0]


def store(p: Numbers, xs: Numbers) -> Any:
    """A bucket that overflows, and never holds less than nothing."""
    level, out = p[0] * p[0], 0.0
    for x in xs:
        level = max(level + x - p[1] * level, 0.0)
        spill = max(level - 1.0, 0.0)
        level, out = level - spill, out + spill * spill * p[2]
    return out + level * p[3]


def branches_and_extremes(p: Numbers, xs: Numbers) -> Any:
    total = 0.0
    for a, x in zip(p, xs, strict=True):
        total = total + max(a * x, x, 0.1) ** 2 if a > x else total - min(a, x * a, 2.0) * a
    return total


def clipped(p: Numbers, xs: Numbers) -> Any:
    return sum(min(max(rm.sin(a * x), -0.5), 0.5) ** 2 * a for a, x in zip(p, xs, strict=True))


def best_row(p: Numbers, xs: Numbers) -> Any:
    value, slope = max(((a * x, a * a) for a, x in zip(p, xs, strict=True)), key=lambda row: row[0])
    return value * slope + max([a * a * x for a, x in zip(p, xs, strict=True)])


FUNCTIONS = [least_path, store, branches_and_extremes, clipped, best_row]
DERIVED: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "hessian": lambda f: lambda p, xs: rg.hessian(f)(p, xs),
    "hvp": lambda f: lambda p, xs: rg.hvp(lambda q: f(q, xs), p, [0.5, -1.0, 2.0, 0.25]),
    "jvp": lambda f: lambda p, xs: rg.jvp(lambda q: f(q, xs), (p,), ([0.5, -1.0, 2.0, 0.25],)),
    "step": lambda f: lambda p, xs: f([a - 0.1 * g for a, g in zip(p, rg.grad(f)(p, xs), strict=True)], xs),
    "reverse": lambda f: lambda p, xs: rg.grad(lambda q: sum(g * g for g in rg.grad(f)(q, xs)))(p),
}


def flat(tree: Any) -> list[float]:
    return [x for each in tree for x in flat(each)] if isinstance(tree, list | tuple) else [float(tree)]


def call(seed: int) -> tuple[Numbers, Numbers]:
    rng = random.Random(seed)
    return [rng.gauss(0.3, 1.0) for _ in range(4)], [rng.gauss(0.2, 1.0) for _ in range(4)]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("how", DERIVED)
def test_one_program_answers_calls_that_choose_otherwise(f: Callable[..., Any], how: str) -> None:
    derived = DERIVED[how](f)
    compiled, exact = rg.compile(derived), rg.compile(derived, exact=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in exact mode, nothing is selected
        for seed in range(40):
            wanted = flat(derived(*call(seed)))
            assert flat(compiled(*call(seed))) == pytest.approx(wanted, rel=1e-9, abs=1e-11)
            assert flat(exact(*call(seed))) == wanted
    stats = compiled.stats()
    assert len(stats.programs) == 1
    assert stats.eager == 0


def test_the_first_of_equals_has_the_derivative() -> None:
    def f(p: Numbers) -> Any:
        return max(p[0] ** 3, p[1] ** 2, p[2]) * p[0] + min(p[1] ** 3, p[2] ** 2) * p[2]

    compiled = rg.compile(rg.hessian(f))
    numbers = (1.0, 0.5, 2.0, 0.0, -0.0)
    for p in itertools.product(numbers, repeat=3):
        assert compiled([*p]) == rg.hessian(f)([*p])


@pytest.mark.parametrize("f", [least_path, store, clipped], ids=lambda f: f.__name__)
def test_hessians_are_those_of_jax(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    compiled = rg.compile(rg.hessian(f))
    for seed in range(12):
        compiled(*call(seed))
    found = [compiled(*call(seed)) for seed in range(20, 26)]
    monkeypatch.setitem(f.__globals__, "max", lambda *of: jnp.max(jnp.stack([jnp.asarray(x) for x in of])))
    monkeypatch.setitem(f.__globals__, "min", lambda *of: jnp.min(jnp.stack([jnp.asarray(x) for x in of])))
    monkeypatch.setitem(f.__globals__, "rm", jnp)
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        for seed, matrix in zip(range(20, 26), found, strict=True):
            p, xs = call(seed)
            wanted = jax.hessian(lambda q, xs=xs: f(list(q), xs))(jnp.array(p))
            for row, of_jax in zip(matrix, wanted.tolist(), strict=True):
                assert row == pytest.approx(of_jax, rel=1e-9, abs=1e-11)
