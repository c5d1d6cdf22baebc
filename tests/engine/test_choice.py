"""Which engine runs: the one asked for, else the native one, else the one in plain Python with a sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native  # each test starts a process and chooses the engine there

#: As if the native module were not installed.
WITHOUT = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "retrograd._native" else find(name, *rest)
import sys
sys.modules["retrograd._native"] = None
import retrograd as rg
print(rg.engine.ENGINE, rg.grad(lambda x: x * x)(3.0))
"""


def run(code: str, *options: str, engine: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "RETROGRAD_ENGINE"}
    if engine is not None:
        environment["RETROGRAD_ENGINE"] = engine
    return subprocess.run([sys.executable, *options, "-c", code], env=environment, capture_output=True, text=True)


def test_the_native_engine_is_the_default_without_a_word() -> None:
    done = run("import retrograd; print(retrograd.engine.ENGINE)")
    assert (done.stdout, done.stderr) == ("native\n", "")


def test_without_a_native_module_the_reference_engine_runs_and_says_so_once() -> None:
    done = run(WITHOUT)
    assert done.stdout == "reference 6.0\n"
    assert done.stderr.count("EngineWarning") == 1
    assert "'pip install .' in a checkout" in done.stderr
    assert "RETROGRAD_ENGINE=reference" in done.stderr


def test_who_asks_for_the_reference_engine_is_not_warned() -> None:
    done = run(WITHOUT, "-W", "error", engine="reference")
    assert (done.stdout, done.stderr) == ("reference 6.0\n", "")


def test_who_asks_for_the_native_engine_gets_it_or_a_sentence() -> None:
    done = run(WITHOUT, engine="native")
    assert done.returncode == 1
    assert "NativeMismatchError: the native engine cannot be loaded" in done.stderr


def test_a_native_module_that_cannot_be_loaded_is_an_error_and_not_a_reason_to_be_slow() -> None:
    broken = """
import importlib
importlib.import_module = lambda name: (_ for _ in ()).throw(ImportError("GLIBC_2.99 not found"))
import retrograd
"""
    done = run(broken)
    assert done.returncode == 1
    assert "NativeMismatchError" in done.stderr
    assert "GLIBC_2.99 not found" in done.stderr
