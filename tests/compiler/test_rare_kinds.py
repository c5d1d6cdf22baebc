"""Kinds of calls that are rare, and so many that not all their programs are kept."""

from __future__ import annotations

import warnings

import pytest

import retrograd as rg
from retrograd.compiler import examples

pytestmark = pytest.mark.native


def test_rare_kinds_of_calls_that_are_dropped_are_no_storm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most calls have programs; those of rare lengths are dropped for want of room, one after the other."""
    monkeypatch.setattr(examples, "LIMIT", 3)
    f = rg.compile(lambda xs: sum(x * x for x in xs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for length in range(3, 40):
            f.value_and_grad([1.0] * length)
            for _ in range(50):
                f.value_and_grad([1.0, 2.0])
    stats = f.stats()
    assert stats.eager == 0
    assert stats.traces == 38
