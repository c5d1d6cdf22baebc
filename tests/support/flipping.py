"""Compiles functions that decide otherwise in each call, and compares them with plain ones."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import retrograd as rg

from .parts import require

__all__ = [
    "Function",
    "agrees_with_jax",
    "draw",
    "each_of",
    "flips",
    "in_every_tier",
    "is_answered",
    "is_converted",
    "is_followed",
    "keeps_kinds",
    "raises_where_nothing_passes",
]

Function = Callable[[Sequence[Any], Sequence[float]], Any]


def draw(seed: int, size: int = 12) -> tuple[list[float], list[float]]:
    """Parameters and data of a call."""
    rng = random.Random(seed)
    return [rng.gauss(0.0, 1.0) for _ in range(size)], [rng.gauss(0.0, 1.0) for _ in range(size)]


def flips(
    f: Function, calls: int = 20, bound: float = 1e-12, warns: bool = False, **options: Any
) -> rg.compiler.Compiled[Any, Any]:
    """Compile f, and compare calls that decide otherwise each time with plain ones: values, types, gradients."""
    compiled = rg.compile(f, **options)
    with warnings.catch_warnings():
        if not warns:
            warnings.simplefilter("ignore")
        for seed in range(calls):
            wanted, found = rg.value_and_grad(f)(*draw(seed)), compiled.value_and_grad(*draw(seed))
            assert type(found[0]) is type(wanted[0])
            assert found[0] == pytest.approx(wanted[0], rel=bound, abs=bound)
            assert found[1] == pytest.approx(wanted[1], rel=bound, abs=bound)
    return compiled


def is_converted(compiled: rg.compiler.Compiled[Any, Any], traces: int = 4) -> bool:
    """Whether one program answers all calls, after so many traces at most."""
    stats = compiled.stats()
    return len(stats.programs) == 1 and stats.eager == 0 and stats.traces <= traces


def is_followed(f: Function, calls: int = 24) -> bool:
    """Whether taped code follows a function; if so it must give what the function gives, in all calls."""
    require("llvmlite")
    from retrograd.compiler.taped.types import NotTypedError

    from .taped_cases import assert_same

    try:
        assert_same(f, [draw(seed) for seed in range(calls)])
    except NotTypedError:
        return False
    return True


def is_answered(f: Function, calls: int = 20, bound: float = 1e-12, traces: int = 9, **options: Any) -> bool:
    """Whether one program answers calls that decide otherwise each time, or taped code does."""
    return is_converted(flips(f, calls, bound, **options), traces) or is_followed(f)


#: A test of functions, each run in every tier.
in_every_tier = pytest.mark.parametrize("tier", ["auto", "vm", "interpreter"])


def each_of(*functions: Function) -> pytest.MarkDecorator:
    """A test of several functions."""
    return pytest.mark.parametrize("f", functions, ids=lambda f: getattr(f, "__name__", f))


def agrees_with_jax(compiled: rg.compiler.Compiled[Any, Any], written: Function, bound: float = 1e-12) -> None:
    """Compare values and gradients with those of the same function as JAX has it."""
    import jax

    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        for seed in range(8):
            ps, xs = draw(seed)
            value, gradient = jax.value_and_grad(written)(jax.numpy.array(ps), jax.numpy.array(xs))
            found = compiled.value_and_grad(ps, xs)
            assert found[0] == pytest.approx(float(value), rel=1e-12)
            assert found[1] == pytest.approx(np.asarray(gradient).tolist(), rel=bound)


def keeps_kinds(f: Function) -> None:
    """Compare results of calls with Values: each is a Value where the function's is, and the same number."""
    for start in range(0, 240, 80):
        compiled = rg.compile(f)
        for seed in range(start, start + 80):
            ps, xs = draw(seed)
            wanted, found = (g([rg.Value(p) for p in ps], xs) for g in (f, compiled))
            assert type(found) is type(wanted)
            numbers = [one.data if isinstance(one, rg.Value) else one for one in (found, wanted)]
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-12)


def raises_where_nothing_passes(f: Function, error: type[Exception]) -> None:
    """Compare calls in which something is above 0 with plain ones; where nothing is, both raise."""
    compiled = rg.compile(f)
    for seed in range(12):
        ps, xs = draw(seed)
        assert compiled.value_and_grad(ps, xs)[0] == pytest.approx(f(ps, xs), rel=1e-12)
    for call in (rg.value_and_grad(f), compiled.value_and_grad):
        with pytest.raises(error):
            call(ps, [-1.0] * 12)
