"""Ties, NaN and signs of zeros where a function is written as C or becomes a JAX function: as the engine has them."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_c_backend import Built

import retrograd as rg
import retrograd.math as rm
from retrograd.ops.jax_functions import double_precision

pytestmark = pytest.mark.native

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "np.maximum": lambda x, y: np.maximum(x, y),
    "np.minimum": lambda x, y: np.minimum(x, y) * 2.0,
    "a constant first": lambda x, y: np.maximum(0.0, x) * y,
    "a constant last": lambda x, y: np.minimum(x, 0.5) + y,
    "np.clip": lambda x, y: np.clip(x, -1.0, 1.0) * y,
    "np.clip to a number": lambda x, y: np.clip(x, y, 2.0),
    "np.max": lambda x, y: np.max([x, y, 0.5]),
    "an array's min": lambda x, y: np.array([x, y]).min() * x,
    "accumulate": lambda x, y: np.maximum.accumulate(np.array([x, y, 0.5]))[2],
    "max": lambda x, y: max(x, y),
    "three": lambda x, y: max(x, y, 0.0),
    "clamped": lambda x, y: min(max(x, -1.0), 1.0) * y,
    "relu": lambda x, y: rm.relu(x) * y,
    "rm.maximum": lambda x, y: rm.maximum(x, y) - rm.minimum(x, 0.5),
    "abs": lambda x, y: abs(x) + abs(x - y),
    "hypot": lambda x, y: rm.hypot(x, y),
    "where": lambda x, y: rg.where(x >= y, x * x, y),
    "sign": lambda x, y: np.sign(x) * y + x,
    "power": lambda x, y: x**2 + x**0 * y,
    "mod": lambda x, y: x % 0.5 + y,
    "median": lambda x, y: statistics.median([x, y, 0.0]),
}
NUMBERS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0]


def expected(function: Callable[..., Any], x: float, y: float) -> tuple[float, list[float]]:
    value, gradient = rg.value_and_grad(function, argnums=(0, 1))(x, y)
    return float(value), [float(each) for each in gradient]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ties_in_c(name: str, tmp_path: Path) -> None:
    function = FUNCTIONS[name]
    built = Built(rg.compile(function).to_c(tmp_path / "f.c", 0.7, 0.3, name="f"))
    for x, y in itertools.product(NUMBERS, NUMBERS):
        value, gradient, _ = built.gradient(x, y)
        if math.isnan(value):  # a comparison that decides
            assert name == "median"
            continue
        assert (value, gradient) == expected(function, x, y)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ties_in_jax(name: str) -> None:
    jax = pytest.importorskip("jax", reason='to_jax needs it: pip install "retrograd[jax]"')
    function = FUNCTIONS[name]
    with double_precision():
        g = rg.compile(function).to_jax(0.7, 0.3)
        slopes = jax.jit(jax.value_and_grad(g, argnums=(1, 2)))
        for x, y in itertools.product(NUMBERS, NUMBERS):
            value, gradient = slopes(g.parameters, *g.inputs(x, y))
            if name != "median" or not math.isnan(value):
                assert (float(value), [*map(float, gradient)]) == expected(function, x, y)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.startswith(("np.", "a ", "an ", "acc"))])
@pytest.mark.parametrize("numbers", [(math.nan, 0.25), (0.25, math.nan), (math.nan, math.nan)])
def test_a_nan_of_numpys(name: str, numbers: tuple[float, float], tmp_path: Path) -> None:
    """NumPy's functions give a NaN of floats, and so do these."""
    function = FUNCTIONS[name]
    built = Built(rg.compile(function).to_c(tmp_path / "f.c", 0.7, 0.3, name="f"))
    assert built.value(*numbers) == pytest.approx(float(function(*numbers)), nan_ok=True)


@pytest.mark.parametrize("tier", ["vm", "llvm"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_ties_in_programs(name: str, tier: Any) -> None:
    function = FUNCTIONS[name]
    plain = rg.value_and_grad(function)
    compiled = rg.compile(function, tier=tier)
    for x, y in itertools.product(NUMBERS, NUMBERS):
        assert compiled.value_and_grad(x, y) == plain(x, y)
        assert rg.grad(compiled)(x, y) == plain(x, y)[1]
        assert compiled(x, y) == pytest.approx(float(function(x, y)))


def test_a_quotient_that_is_rounded_down_in_jax() -> None:
    """1.0 // 0.1 is 9.0, though 1.0 / 0.1 is 10.0."""
    jax = pytest.importorskip("jax", reason='to_jax needs it: pip install "retrograd[jax]"')
    draw = random.Random(4)
    pairs = [(0.1 * k, 0.1) for k in range(100)] + [
        (draw.uniform(-9.0, 9.0), draw.uniform(-1.0, 1.0)) for _ in range(100)
    ]
    pairs += [
        pair for pair in itertools.product([0.0, -0.0, 1.0, -7.0, math.inf, -math.inf, math.nan], repeat=2) if pair[1]
    ]
    with double_precision():
        g = rg.compile(lambda x, y: x // y).to_jax(0.5, 0.25)
        of = jax.jit(g)
        for x, y in pairs:
            found = float(of(g.parameters, x, y))
            assert [found, math.copysign(1.0, found)] == pytest.approx(
                [x // y, math.copysign(1.0, x // y)], nan_ok=True
            ) or math.isnan(found)
