"""The tests here are about programs, which are made at once; test_late_compilation.py is about when they are made."""

from __future__ import annotations

import functools

import pytest
from support.parts import require

from retrograd.compiler import specializer, tier_up


@pytest.fixture(autouse=True)
def _programs_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specializer, "CompileRequest", functools.partial(specializer.CompileRequest, at_once=True))


@pytest.fixture
def kernel_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM compiles kernel calls, whatever it would choose."""
    require("llvmlite")
    monkeypatch.setattr(tier_up, "_most_scalar_nodes", lambda _: 0)
