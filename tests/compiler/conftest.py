"""The tests here are about programs, which are made at once; test_late_compilation.py is about when they are made."""

from __future__ import annotations

import functools
import math

import pytest
from support.parts import require

from retrograd.compiler import comparison, specializer, tier_up
from retrograd.compiler.calls import overhead
from retrograd.compiler.if_conversion import trial


@pytest.fixture(autouse=True)
def _programs_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specializer, "CompileRequest", functools.partial(specializer.CompileRequest, at_once=True))


@pytest.fixture(autouse=True)
def _programs_are_their_functions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that gives something else in a later call is dropped, so that no test of the results would see it."""

    def fail(self: object, number: int, *_: object) -> None:
        pytest.fail(f"program {number} of {self} gave something else than its function in a later call")

    if not request.node.get_closest_marker("drops_programs"):
        monkeypatch.setattr(comparison.Comparisons, "_refute", fail)


@pytest.fixture(autouse=True)
def _no_clock_decides(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where traces take long, calls run as they are for a while: here however long they take, but for that test."""
    if not request.node.get_closest_marker("asks_the_clock"):
        monkeypatch.setattr(overhead, "_FREE", math.inf)
        monkeypatch.setattr(trial, "_LONGEST", math.inf)


@pytest.fixture
def kernel_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM compiles kernel calls, whatever it would choose."""
    require("llvmlite")
    monkeypatch.setattr(tier_up, "_most_scalar_nodes", lambda _: 0)
