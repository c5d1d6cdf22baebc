"""Compares a compiled function with itself uncompiled, call after call, and counts the programs that answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import retrograd as rg

__all__ = ["check"]


def check(function: Callable[..., Any], parameters: Any, calls: Iterable[Any], programs: int, **options: Any) -> Any:
    """Each call gives what the function gives, gradients included.

    At the end there are at most so many programs, and no call has run eagerly.
    """
    compiled, eager = rg.compile(function, **options), rg.value_and_grad(function)
    for data in calls:
        value, gradient = compiled.value_and_grad(parameters, data)
        wanted, slopes = eager(parameters, data)
        assert value == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        assert gradient == pytest.approx(slopes, rel=1e-12, abs=1e-12)
    stats = compiled.stats()
    assert stats.eager == 0, stats
    assert len(stats.programs) <= programs, stats
    return compiled
