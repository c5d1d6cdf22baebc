"""What caches, libraries' objects and the system keep for a function: a program is not stale when it changes."""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import sqlite3
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value

pytestmark = native


def assert_never_stale(f: Callable[[float], Any], *changes: Callable[[], object]) -> Any:
    compiled = rg.compile(f)
    for change in (lambda: None, *changes):
        change()
        for _ in range(5):
            assert compiled.value_and_grad(2.0) == rg.value_and_grad(f)(2.0)
            assert float(compiled(2.0)) == float(f(2.0))
    return compiled


@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("cache", [functools.cache, functools.lru_cache, functools.lru_cache(maxsize=4)])
@pytest.mark.parametrize("make", [list, dict, types.SimpleNamespace])
def test_results_of_a_cache(make: type, cache: Callable[[Any], Any], is_warm: bool) -> None:
    """Filled by the first compiled call, or before; bounded, which keeps its results elsewhere, or not."""

    @cache
    def kept() -> Any:
        return types.SimpleNamespace(rate=0.5) if make is types.SimpleNamespace else make([("rate", 0.5)])

    def rate() -> float:
        found = kept()
        return found.rate if make is types.SimpleNamespace else found["rate"] if make is dict else found[0][1]  # type: ignore[no-any-return]

    def change(rate: float) -> None:
        found = kept()
        if make is types.SimpleNamespace:
            found.rate = rate
        elif make is dict:
            found["rate"] = rate
        else:
            found[0] = ("rate", rate)

    if is_warm:
        kept()
    compiled = assert_never_stale(lambda x: x * rate(), lambda: change(3.0), kept.cache_clear)
    assert compiled.stats().eager == 0


def test_values_that_a_cache_keeps() -> None:
    @functools.lru_cache
    def parameters() -> list[Value]:
        return [Value(2.0), Value(3.0)]

    compiled = rg.compile(lambda x: parameters()[0] * x + parameters()[1])
    assert compiled(2.0).data == 7.0
    parameters()[1] = Value(100.0)
    assert compiled.backward(2.0) == 104.0
    assert parameters()[1].grad == 1.0


def test_new_results_of_a_cache_do_not_cost_the_programs_that_there_are() -> None:
    @functools.lru_cache
    def binomials(n: int) -> list[float]:
        return [1.0 * n, 2.0 * n]

    compiled = rg.compile(lambda x, n: x * sum(binomials(n)))
    for n in (1, 2, 3, 1, 2, 3, 1, 2, 3):
        assert compiled.value_and_grad(2.0, n) == (6.0 * n, 3.0 * n)
    assert compiled.stats().traces == 3


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_a_cache_with_less_room_than_a_call_wants_keeps_nothing_of_a_trace() -> None:
    """Each call forgets what it will ask for next: a trace computes it, and no later call may find that."""

    @functools.lru_cache(maxsize=2)
    def squared(x: float) -> float:
        return x * x

    def f(p: float, xs: list[float]) -> Any:
        return sum(p * squared(x) if x > 0.4 * p else p * x + squared(x) for x in xs)

    compiled = rg.compile(f)
    for n in range(30):
        xs = [0.1 * (n % 5), 0.5, 0.2 * (n % 3), 0.7]
        assert compiled.value_and_grad(1.0 + n % 2, xs) == pytest.approx(rg.value_and_grad(f)(1.0 + n % 2, xs))
        assert squared(0.5) == 0.25


def test_numbers_that_a_librarys_object_keeps_together() -> None:
    interpolate, stats = pytest.importorskip("scipy.interpolate"), pytest.importorskip("scipy.stats")
    x = np.linspace(0.0, 3.0, 12)
    spline = interpolate.UnivariateSpline(x, x**2 + np.random.default_rng(0).normal(size=12), s=0)
    assert_never_stale(lambda t: t * float(spline(1.5)), lambda: spline.set_smoothing_factor(50.0))
    normal = stats.norm(loc=0.5)
    assert_never_stale(
        lambda t: t * float(normal.mean()),
        lambda: setattr(normal, "kwds", {"loc": 3.0}),
        lambda: normal.kwds.__setitem__("loc", 4.0),
        lambda: setattr(normal, "args", (1.0,)) or setattr(normal, "kwds", {}),
    )


def test_numbers_in_shared_memory() -> None:
    shared = multiprocessing.Value("d", 0.5)
    assert_never_stale(lambda x: x * shared.value, lambda: setattr(shared, "value", 3.0))
    numbers = multiprocessing.Array("d", [0.5, 1.0])
    assert_never_stale(lambda x: x * numbers[1], lambda: numbers.__setitem__(1, 3.0))


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def change() -> None:
        monkeypatch.setenv("RATE_OF_A_TEST", "2")

    assert_never_stale(lambda x: x * float(os.environ.get("RATE_OF_A_TEST", "1")), change)
    monkeypatch.delenv("RATE_OF_A_TEST")
    assert_never_stale(lambda x: x * float(os.getenv("RATE_OF_A_TEST", "1")), change)


def test_modules_that_are_found_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin: Any = types.ModuleType("plugin_of_a_test")
    plugin.rate = 0.5
    monkeypatch.setitem(sys.modules, "plugin_of_a_test", plugin)
    for f in (
        lambda x: x * importlib.import_module("plugin_of_a_test").rate,
        lambda x: x * sys.modules["plugin_of_a_test"].rate,
        lambda x: x * __import__("plugin_of_a_test").rate,
    ):
        assert_never_stale(f, lambda: setattr(plugin, "rate", plugin.rate + 1.0))


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_what_lies_in_files_and_data_bases_is_read_again(tmp_path: Path) -> None:
    path = str(tmp_path / "numbers.txt")

    def write(text: str) -> None:
        Path(path).write_text(text)

    write("0.5")
    compiled = assert_never_stale(lambda x: x * float(np.fromfile(path, sep=" ")[0]), lambda: write("3.0"))
    assert compiled.stats().traces == 0
    base = sqlite3.connect(":memory:")
    base.execute("create table t(v)")
    base.execute("insert into t values(.5)")
    query = "select v from t"
    compiled = assert_never_stale(
        lambda x: x * base.execute(query).fetchone()[0], lambda: base.execute("update t set v = 3")
    )
    assert compiled.stats().traces == 0
