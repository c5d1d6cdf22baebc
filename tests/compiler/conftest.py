"""The tests here are about programs, which are made at once; test_late_compilation.py is about when they are made."""

from __future__ import annotations

import functools

import pytest

from retrograd.compiler import specializer


@pytest.fixture(autouse=True)
def _programs_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specializer, "CompileRequest", functools.partial(specializer.CompileRequest, at_once=True))
