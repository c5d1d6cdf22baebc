"""State that a compiled function writes, or reaches through methods of every kind."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, errors

pytestmark = native


#: How a function gets a number from an object, and what makes it another one.
def methods() -> tuple[Any, dict[str, tuple[Callable[[Any], float], Callable[[Any], Any]]]]:
    class Base:
        k = 2.0

        def hidden(self) -> float:
            return self.k

    class Derived(Base):
        def __init__(self) -> None:
            self.gain = 2.0

        def hidden(self) -> float:
            return super().hidden()

        @staticmethod
        def static() -> float:
            return 2.0

        @classmethod
        def shared(cls) -> float:
            return 2.0

        @rg.compile
        def compiled(self) -> float:
            return self.gain

        def scaled(self, factor: float) -> float:
            return factor * self.gain

        same = functools.partialmethod(scaled, 1.0)

        @functools.singledispatchmethod
        def chosen(self, _: object) -> float:
            return self.gain

        def __class_getitem__(cls, _: int) -> float:
            return cls.k

    double = [2.0]
    spread = np.vectorize(lambda x: x * double[0], otypes=[float])
    five, kind = [5.0], cast(Any, Derived)
    return Derived(), {
        "a method that another hides": (lambda d: d.hidden(), lambda _: setattr(Base, "k", 5.0)),
        "the hidden method": (lambda d: d.hidden(), lambda _: setattr(Base, "hidden", lambda _: five[0])),
        "a static method": (lambda d: d.static(), lambda _: setattr(kind, "static", staticmethod(lambda: five[0]))),
        "a class method": (lambda d: d.shared(), lambda _: setattr(kind, "shared", classmethod(lambda _: five[0]))),
        "a compiled method": (lambda d: d.compiled(), lambda d: setattr(d, "gain", 5.0)),
        "another one": (lambda d: d.compiled(), lambda _: setattr(kind, "compiled", rg.compile(lambda _: five[0]))),
        "a partial method": (lambda d: d.same(), lambda d: setattr(d, "gain", 5.0)),
        "a method by type": (lambda d: d.chosen(None), lambda d: setattr(d, "gain", 5.0)),
        "a subscript of a class": (lambda _: kind[0], lambda _: setattr(Base, "k", 5.0)),
        "a vectorized function": (lambda _: spread(1.0).item(), lambda _: double.__setitem__(0, 5.0)),
    }


@pytest.mark.parametrize("case", methods()[1])
def test_methods_of_every_kind_are_looked_into(case: str) -> None:
    w, (thing, cases) = Value(3.0), methods()
    number, change = cases[case]
    compiled = rg.compile(lambda: w * number(thing))
    assert [compiled.backward() for _ in range(5)] == [6.0] * 5
    change(thing)
    assert [compiled.backward() for _ in range(5)] == [15.0] * 5
    assert compiled.stats().hits > 0


class Layer:
    def __init__(self) -> None:
        self.w = Value(2.0)

    def keeps(self, x: float) -> Any:
        self.last = x
        return self.w * x

    def sets(self, x: float) -> Any:
        setattr(self, "".join(["la", "st"]), x)
        return self.w * x

    def shares(self, x: float) -> Any:
        type(self).last = x
        return self.w * x


@pytest.mark.parametrize("method", ["keeps", "sets", "shares"])
@pytest.mark.parametrize("as_argument", [False, True])
def test_an_attribute_that_is_new_is_a_change(method: str, as_argument: bool) -> None:
    class Own(Layer):
        pass

    layer = Own()
    compiled: Any = rg.compile(getattr(Own, method)) if as_argument else rg.compile(getattr(layer, method))
    arguments = [layer] * as_argument
    with pytest.warns(errors.CompileWarning, match=r"changes (.*last|self|the Own)"):
        compiled(*arguments, 5.0)
    for x in (1.0, 2.0, 2.0, 2.0, 2.0, 3.0):
        assert compiled(*arguments, x).data == 2.0 * x
        assert type(layer.last) is float
        assert layer.last == x
    assert compiled.stats().hits == 0


def test_a_global_that_is_new_is_a_change() -> None:
    space: dict[str, Any] = {"w": Value(2.0)}
    exec("def f(x):\n    global last\n    last = x\n    return w * x", space)
    compiled = rg.compile(space["f"])
    with pytest.warns(errors.CompileWarning, match="changes last"):
        compiled(5.0)
    for x in (1.0, 2.0, 2.0, 3.0):
        assert compiled(x).data == 2.0 * x
        assert type(space["last"]) is float
        assert space["last"] == x


def test_an_equal_number_is_a_change_as_well() -> None:
    w, seen = Value(2.0), [1.0]

    def last(x: float) -> Any:
        seen[0] = x
        return w * x

    compiled = rg.compile(last)
    with pytest.warns(errors.CompileWarning, match="changes seen"):
        compiled(1.0)
    for x in (1.0, 1.0, 2.0, 1.0, 1.0, 3.0):
        assert compiled(x).data == 2.0 * x
        assert type(seen[0]) is float
        assert seen[0] == x
    assert compiled.stats().hits == 0


def test_what_is_asked_for_by_an_exception_may_come_later() -> None:
    w, thing = Value(2.0), types.SimpleNamespace()

    def scaled() -> Any:
        try:
            return w * thing.scale
        except AttributeError:
            return w * 1.0

    space: dict[str, Any] = {"w": w}
    exec("def f():\n    try:\n        return w * scale\n    except NameError:\n        return w * 1.0", space)
    named, compiled = rg.compile(space["f"]), rg.compile(scaled)
    assert (compiled(), named()) == (2.0, 2.0)
    thing.scale, space["scale"] = 3.0, 5.0
    assert (compiled(), named()) == (6.0, 10.0)
    assert (compiled.stats().eager, named.stats().eager) == (0, 0)
