"""What a function asks for by name, and what libraries' objects hold: a program is not stale when they change."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg

pytestmark = native

settings: Any = types.ModuleType("settings_of_a_test")
settings.table, settings.alpha = [1.0], 2.0
KEY = "table"


class Base:
    pass


class Derived(Base):
    pass


class Scaled(np.ndarray):
    scale = 1.0


class Buffer(bytearray):
    scale = 1.0


derived: Any = Derived()
scaled = np.ones(2).view(Scaled)
scaled.scale = 2.0
buffer = Buffer(b"ab")
masked = np.ma.array([1.0, 2.0], mask=[False, False])
polynomial = np.poly1d([1.0, 2.0])
TABLE = [1.0, 2.0]


@functools.lru_cache
def looked_up(i: int) -> float:
    return TABLE[i]


def asks_object(x: float) -> Any:
    return getattr(derived, "later", 1.0) * x


def tries_object(x: float) -> Any:
    try:
        return derived.later * x
    except AttributeError:
        return 1.0 * x


def asks_class(x: float) -> Any:
    return (2.0 if hasattr(Derived, "later") else 1.0) * x


def asks_module(x: float) -> Any:
    return getattr(settings, "later", 1.0) * x


def tries_module(x: float) -> Any:
    try:
        return settings.later * x
    except AttributeError:
        return 1.0 * x


def asks_library(x: float) -> Any:
    return getattr(types, "later", 1.0) * x


def tries_library(x: float) -> Any:
    try:
        return types.later * x  # type: ignore[attr-defined]
    except AttributeError:
        return 1.0 * x


def deeply(x: float) -> Any:
    return getattr(settings, KEY)[0] * x + getattr(settings, "table")[0]  # noqa: B009


def all_of_module(x: float) -> Any:
    return vars(settings)["alpha"] * x + settings.__dict__["table"][0]


def later(where: Any) -> list[Callable[[], Any]]:
    return [lambda: setattr(where, "later", 3.0), lambda: setattr(where, "later", 4.0), lambda: delattr(where, "later")]


CASES: list[tuple[Callable[[float], Any], list[Callable[[], Any]]]] = [
    *((f, later(where)) for f in (asks_object, tries_object) for where in (derived, Derived, Base)),
    *((asks_class, later(where)) for where in (Derived, Base)),
    *((f, later(settings)) for f in (asks_module, tries_module)),
    *((f, later(types)) for f in (asks_library, tries_library)),
    (deeply, [lambda: settings.table.__setitem__(0, 5.0), lambda: setattr(settings, "table", [7.0])]),
    (all_of_module, [lambda: setattr(settings, "alpha", 5.0), lambda: settings.table.__setitem__(0, 6.0)]),
    (lambda x: scaled.scale * x + float(scaled[0]), [lambda: setattr(scaled, "scale", 5.0), lambda: scaled.fill(3.0)]),
    (lambda x: buffer.scale * x + buffer[0], [lambda: setattr(buffer, "scale", 5.0), lambda: buffer.reverse()]),
    (lambda x: float(masked.sum()) * x, [lambda: masked.mask.__setitem__(1, True), lambda: masked.__setitem__(0, 9.0)]),
    (lambda x: polynomial(x), [lambda: polynomial.coeffs.__setitem__(0, 5.0)]),
    (lambda x: looked_up(1) * x, [lambda: TABLE.__setitem__(1, 8.0), lambda: looked_up.cache_clear()]),
]


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")  # that nearly every call is traced
@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("calls", [1, 20])
def test_a_change_is_seen(case: int, calls: int) -> None:
    f, changes = CASES[case]
    compiled, gradient = rg.compile(f), rg.grad(rg.compile(f))
    for change in (lambda: None, *changes, *changes):
        change()
        for _ in range(calls):
            assert compiled.value_and_grad(0.5) == rg.value_and_grad(f)(0.5)
            assert gradient(0.5) == rg.grad(f)(0.5)
    assert compiled.stats().traces > 0


def test_splines_and_sparse_matrices_are_compared() -> None:
    interpolate, sparse = pytest.importorskip("scipy.interpolate"), pytest.importorskip("scipy.sparse")
    spline, matrix = interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]), sparse.csr_matrix(np.eye(2))
    compiled = rg.compile(lambda x: float(spline(0.5)) * x + float(matrix[0, 0]))
    before = compiled(2.0)
    spline.c *= 2.0
    assert compiled(2.0) == pytest.approx(2.0 * before - 1.0)
    matrix.data *= 3.0
    assert compiled(2.0) == pytest.approx(2.0 * before + 1.0)
    assert compiled.stats().traces == 3


def test_tensors_are_compared() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    compiled = rg.compile(lambda x: tensor[0].item() * x)
    assert compiled(3.0) == 6.0
    with torch.no_grad():
        tensor.fill_(5.0)
    assert compiled(3.0) == 15.0


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_tensors_that_cannot_be_compared_are_refused() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([2.0], dtype=torch.bfloat16)
    compiled = rg.compile(lambda x: tensor[0].item() * x)
    assert compiled(3.0) == 6.0
    tensor.fill_(5.0)
    assert compiled(3.0) == 15.0
    assert compiled.stats().traces == 0


def test_where_names_are_known_the_rest_of_a_module_is_none_of_its_places() -> None:
    compiled = rg.compile(lambda x: settings.alpha * x + len(getattr(settings, "table")))  # noqa: B009
    for settings.other in (1.0, 2.0, 3.0):
        compiled(1.0)
    assert compiled.stats().traces == 1


def test_what_makes_an_object_is_called_through_super() -> None:
    class Base:
        def __init__(self, p: Any, x: Any) -> None:
            self.level = p * x

    class Derived(Base):
        def __init__(self, p: Any, x: Any) -> None:
            super().__init__(p, x)
            self.twice = self.level * 2.0

    compiled = rg.compile(lambda p, x: Derived(p, x).twice)
    assert compiled.value_and_grad(3.0, 2.0) == (12.0, 4.0)

    def changed(self: Any, p: Any, x: Any) -> None:
        self.level = p * x * 10.0

    Base.__init__ = changed  # type: ignore[method-assign]
    assert compiled.value_and_grad(3.0, 2.0) == (120.0, 40.0)
