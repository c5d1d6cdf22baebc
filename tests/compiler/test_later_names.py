"""What a function reads that was not there at first, or that another object leads to, is compared in every call."""

from __future__ import annotations

import abc
import collections
import dataclasses
import functools
import importlib
import importlib.util
import operator
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, nn

pytestmark = native

W = Value(2.0)


def namespace(source: str) -> dict[str, Any]:
    """What a cell of a notebook defines."""
    names: dict[str, Any] = {"__name__": "__main__", "rg": rg}
    exec(source, names)
    return names


def test_a_function_may_be_defined_later_and_anew() -> None:
    names = namespace("def f(x): return late(x) * 2")
    compiled = rg.compile(names["f"])
    with pytest.raises(NameError, match="late"):
        compiled(W)
    for added in (0.0, 10.0, 20.0):
        exec(f"def late(x): return x + {added}", names)
        assert [compiled(W).data, compiled(W).data] == [2.0 * (2.0 + added)] * 2


def test_a_variable_may_come_later_in_an_arm() -> None:
    names = namespace("def f(x, flag): return scale * x if flag else x")
    compiled = rg.compile(names["f"])
    assert compiled(W, False).data == 2.0
    for scale in (2.0, 3.0):
        names["scale"] = scale
        assert (compiled(W, True).data, compiled(W, False).data) == (2.0 * scale, 2.0)
    del names["scale"]
    assert compiled(W, False).data == 2.0
    with pytest.raises(NameError, match="scale"):
        compiled(W, True)


def test_what_any_exception_hides_may_come_later() -> None:
    class Settings:
        pass

    settings = Settings()

    def safely(read: Callable[[], float]) -> float:
        try:
            return read()
        except Exception:
            return 1.0

    compiled = rg.compile(lambda x: x * safely(lambda: settings.extra))  # type: ignore[attr-defined]
    assert compiled(W).data == 2.0
    settings.extra = 5.0  # type: ignore[attr-defined]
    assert compiled(W).data == 10.0
    del settings.extra  # type: ignore[attr-defined]
    assert compiled(W).data == 2.0


def module_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A user's file that has the name of a module of Python's."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


def test_a_users_file_may_have_the_name_of_one_of_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "test.py"
    path.write_text("scale = 2.0\ndef scaled(x): return scale * x\n", encoding="utf-8")
    from retrograd.compiler.guards import libraries

    libraries.is_library.cache_clear()
    module = module_of(path, monkeypatch)
    compiled = rg.compile(lambda x: module.scaled(x))
    assert compiled(W).data == 4.0
    module.scale = 5.0  # type: ignore[attr-defined]
    assert compiled(W).data == 10.0
    libraries.is_library.cache_clear()


class Drawing(random.Random):
    """A generator with an attribute."""

    scale = 2.0


def made_class(how: str) -> type:
    """A class that says that it belongs to one of Python's modules."""
    body = {"scale": 2.0, "of": lambda self, x: x * self.scale}
    if how == "make_dataclass":
        return dataclasses.make_dataclass("Made", [], namespace=body)
    if how == "ABCMeta":
        return abc.ABCMeta("Made", (), body)
    names: dict[str, Any] = {}
    exec("class Made:\n    scale = 2.0\n    def of(self, x): return x * self.scale", names)
    return names["Made"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("how", ["make_dataclass", "ABCMeta", "exec"])
def test_a_class_that_a_function_made_is_the_users(how: str) -> None:
    made = made_class(how)
    thing = made()
    compiled = rg.compile(lambda x: thing.of(x))
    assert compiled(W).data == 4.0
    made.scale = 3.0  # type: ignore[attr-defined]
    assert compiled(W).data == 6.0
    thing.scale = 4.0
    assert compiled(W).data == 8.0
    made.of = lambda self, x: x  # type: ignore[attr-defined]
    assert compiled(W).data == 2.0


class Doubling(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 2.0


FACTOR = 1.0


def by_factor(a: float, b: float) -> float:
    return FACTOR * (a - b)


class Scaled:
    def __init__(self) -> None:
        self.scale = 2.0

    def by(self, factor: list[float]) -> float:
        return self.scale * factor[0]


def set_factor(factor: float) -> None:
    globals()["FACTOR"] = factor


def wrapped() -> dict[str, tuple[Any, Callable[[Any, Any], Any], list[Callable[[Any], Any]]]]:
    """Objects that lead to the user's, how they are used, and changes of what they lead to."""
    drawing, scaled, factors = Drawing(1), Scaled(), [3.0]
    makes = [5.0]
    return {
        "a generator's attribute": (
            drawing,
            lambda t, x: x * t.scale,
            [
                lambda t: setattr(t, "scale", 3.0),
                lambda t: delattr(t, "scale"),
                lambda t: setattr(Drawing, "scale", 4.0),
            ],
        ),
        "a comparing function": (
            functools.cmp_to_key(by_factor),
            lambda t, x: x * sorted([1.0, 2.0], key=t)[0],
            [lambda _: set_factor(-1.0), lambda _: set_factor(1.0)],
        ),
        "a static method": (
            staticmethod(by_factor),
            lambda t, x: x * t(3.0, 1.0),
            [lambda _: set_factor(-1.0), lambda _: set_factor(1.0)],
        ),
        "a method caller's arguments": (
            operator.methodcaller("by", factors),
            lambda t, x: x * t(scaled),
            [lambda _: factors.__setitem__(0, 4.0), lambda _: setattr(scaled, "scale", 5.0)],
        ),
        "a default factory": (
            collections.defaultdict(lambda: makes[0]),
            lambda t, x: x * t.default_factory(),
            [lambda _: makes.__setitem__(0, 6.0)],
        ),
        "a call that a class gets": (
            Doubling(),
            lambda t, x: t(x),
            [
                lambda _: setattr(Doubling, "__call__", lambda self, x: x * 7.0),
                lambda _: delattr(Doubling, "__call__"),
            ],
        ),
    }


@pytest.mark.parametrize("case", wrapped())
def test_what_a_wrapper_leads_to_is_compared(case: str) -> None:
    thing, use, changes = wrapped()[case]

    def function(x: Any) -> Any:
        return use(thing, x)

    compiled = rg.compile(function)
    for change in [lambda _: None, *changes]:
        change(thing)
        for _ in range(2):
            assert compiled(W).data == function(W).data
    Drawing.scale = 2.0


def test_a_class_gets_what_had_a_default() -> None:
    class Visitor:
        def visit(self, kind: str, x: Any) -> Any:
            return getattr(self, f"visit_{kind}", lambda x: x)(x) * getattr(self, "gain", 1.0)

    visitor = Visitor()
    compiled = rg.compile(lambda x: visitor.visit("leaf", x))
    assert compiled(W).data == 2.0
    Visitor.gain = 5.0  # type: ignore[attr-defined]
    assert compiled(W).data == 10.0
    Visitor.visit_leaf = lambda self, x: x * 2.0  # type: ignore[attr-defined]
    assert compiled(W).data == 20.0


def test_a_class_that_answers_any_name_gets_one() -> None:
    class Settings:
        def __getattr__(self, name: str) -> float:
            return 3.0

    settings = Settings()
    compiled = rg.compile(lambda x: x * settings.scale)
    assert compiled(W).data == 6.0
    Settings.scale = 4.0  # type: ignore[misc]
    assert compiled(W).data == 8.0
    settings.scale = 5.0  # type: ignore[misc]
    assert compiled(W).data == 10.0


def test_a_special_method_may_be_an_object() -> None:
    class Scaling:
        def __init__(self) -> None:
            self.scale = 2.0

        def __call__(self, x: Any) -> Any:
            return x * self.scale

    class Layer:
        __call__ = Scaling()

        @functools.singledispatchmethod
        def __matmul__(self, x: Any) -> Any:
            return x * FACTOR

    layer = Layer()
    called, matched = rg.compile(lambda x: layer(x)), rg.compile(lambda x: layer @ x)
    assert (called(W).data, matched(W).data) == (4.0, 2.0)
    Layer.__call__.scale = 3.0
    assert called(W).data == 6.0
    Layer.__call__ = lambda self, x: x  # type: ignore[assignment,misc]
    assert called(W).data == 2.0
    set_factor(-1.0)
    try:
        assert matched(W).data == -2.0
    finally:
        set_factor(1.0)


def test_a_module_may_answer_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "of_settings.py"
    path.write_text("K, scale = 2.0, 7.0\ndef __getattr__(name): return K\n", encoding="utf-8")
    module = module_of(path, monkeypatch)
    asked, by_name = rg.compile(lambda x: x * module.other), rg.compile(lambda x, n: x * getattr(module, n))
    assert (asked(W).data, by_name(W, "scale").data) == (4.0, 14.0)
    module.K, module.scale = 3.0, 8.0  # type: ignore[attr-defined]
    assert (asked(W).data, by_name(W, "scale").data) == (6.0, 16.0)
    module.other = 4.0  # type: ignore[attr-defined]
    assert asked(W).data == 8.0


def test_a_package_of_which_a_function_is_compiled_is_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it be installed: what its other modules hold is compared."""
    package = tmp_path / "site-packages" / "rg_test_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "settings.py").write_text("scales = [2.0]\nclass Table:\n    def __init__(self): self.rows = [3.0]\n")
    (package / "losses.py").write_text(
        "from . import settings\n"
        "def helper(x): return x * settings.scales[0]\n"
        "def loss(x, table): return helper(x) * table.rows[0]\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    losses = importlib.import_module("rg_test_package.losses")
    table = losses.settings.Table()
    compiled = rg.compile(functools.partial(losses.loss, table=table))
    assert compiled(W).data == 12.0
    losses.settings.scales[0] = 3.0
    assert compiled(W).data == 18.0
    table.rows.insert(0, 4.0)
    assert compiled(W).data == 24.0
    losses.helper = lambda x: x
    assert compiled(W).data == 8.0
    for name in [name for name in sys.modules if name.startswith("rg_test_package")]:
        monkeypatch.delitem(sys.modules, name)
