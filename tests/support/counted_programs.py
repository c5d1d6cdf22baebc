"""Compares a compiled function with itself uncompiled, call after call, and counts the programs that answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import retrograd as rg

from .parts import require

__all__ = ["check", "check_taped"]


def _agrees(function: Callable[..., Any], parameters: Any, calls: Iterable[Any], **options: Any) -> Any:
    """Each call gives what the function gives, gradients included."""
    compiled, eager = rg.compile(function, **options), rg.value_and_grad(function)
    for data in calls:
        value, gradient = compiled.value_and_grad(parameters, data)
        wanted, slopes = eager(parameters, data)
        assert value == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        assert gradient == pytest.approx(slopes, rel=1e-12, abs=1e-12)
    return compiled


def check(function: Callable[..., Any], parameters: Any, calls: Iterable[Any], programs: int, **options: Any) -> Any:
    """So does each call; at the end there are at most so many programs, and no call has run eagerly."""
    compiled = _agrees(function, parameters, calls, **options)
    stats = compiled.stats()
    assert stats.eager == 0, stats
    assert len(stats.programs) <= programs, stats
    return compiled


def check_taped(function: Callable[..., Any], parameters: Any, calls: Iterable[Any]) -> Any:
    """So does each call; in the end taped code has answered most of those after the first twenty."""
    require("llvmlite")
    given = list(calls)
    compiled = _agrees(function, parameters, given, tier="llvm")
    assert 2 * compiled.stats().taped_hits > len(given) - 20, compiled.stats()
    return compiled
