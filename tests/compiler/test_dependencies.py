"""What a function can reach: what a reviewer of the guards thought of, from configurations to hostile objects."""

from __future__ import annotations

import collections
import ctypes
import enum
import functools
import gc
import sys
import threading
import tracemalloc
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, nn

pytestmark = native


def test_every_attribute_of_a_configuration_is_looked_at_in_every_call() -> None:
    w = Value(1.0)

    class Slots:
        __slots__ = tuple("abcdef")

    class Shared:
        a, b, c, d, e, f = (1.0,) * 6

    slots, wide, numbers = Slots(), types.SimpleNamespace(**{f"a{i}": 1.0 for i in range(40)}), [1.0] * 95
    for name in "abcdef":
        setattr(slots, name, 1.0)
    compiled = rg.compile(
        lambda: w * slots.a * slots.b * slots.c * slots.d * slots.e * slots.f * wide.a39 * sum(numbers)
    )
    shared = rg.compile(lambda: w * Shared.a * Shared.b * Shared.c * Shared.d * Shared.e * Shared.f)
    assert (compiled(), shared()) == (95.0, 1.0)
    for name in "abcdef":
        setattr(slots, name, 2.0)
        setattr(Shared, name, 2.0)
        found, expected = compiled(), 95.0 * 2.0 ** ("abcdef".index(name) + 1)
        assert (found, shared()) == (expected, expected / 95.0)
    wide.a39 = 0.5
    assert compiled() == 95.0 * 32.0
    numbers[94] = 6.0
    assert compiled() == 100.0 * 32.0


def test_what_never_mattered_may_matter_later() -> None:
    w, settings, scales = Value(1.0), types.SimpleNamespace(epoch=0, step=0), [2.0, 3.0]
    warm = rg.compile(lambda: w * (1.0 if settings.epoch < 10 else 0.1))
    for settings.epoch in range(13):
        assert warm.backward() == (1.0 if settings.epoch < 10 else 0.1)
    either = rg.compile(lambda i: w * scales[i])
    assert [either.backward(0), either.backward(1)] == [2.0, 3.0]
    for k in range(6):
        scales[1] = 10.0 + k
        assert [either.backward(0), either.backward(1)] == [2.0, 10.0 + k]


def test_a_change_after_one_that_did_not_matter() -> None:
    class Thing:
        k = 0

    w, scales, things = Value(1.0), [2.0, 3.0], [Thing() for _ in range(300)]
    for thing in things:
        thing.k = 0
    compiled = rg.compile(lambda i: w * scales[i] + 0.0 * sum(0 * thing.k for thing in things))
    assert (compiled.backward(0), compiled.backward(1)) == (2.0, 3.0)
    for _ in range(1000):
        assert compiled.backward(0) == 2.0
    things[250].k = 1
    for _ in range(1000):
        assert compiled.backward(0) == 2.0
    scales[1] = 7.0
    assert compiled.backward(1) == 7.0


def test_a_change_after_which_no_program_is_possible() -> None:
    class Thing:
        def __init__(self) -> None:
            self.k = 0

    w, things = Value(1.0), [Thing() for _ in range(300)]
    compiled = rg.compile(lambda: w * 2.0 if not sum(thing.k for thing in things) else 5.0)
    for _ in range(300):
        compiled.backward()
    things[250].k = 1
    assert compiled.backward() == 5.0


def test_finalizers_that_call_the_function_while_it_looks() -> None:
    lists = [[Value(1.0)] for _ in range(2000)]
    compiled = rg.compile(lambda: sum(one[0] for one in lists))
    compiled.backward()

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            compiled()

    threshold = gc.get_threshold()
    try:
        for k in range(3):
            for one in lists:
                one[0] = Value(2.0 + k)
            gc.collect()
            gc.set_threshold(700, 1000, 1000)
            gc.disable()
            Cycle()
            gc.enable()
            assert compiled.backward() == 2000.0 * (2.0 + k)
    finally:
        gc.enable()
        gc.set_threshold(*threshold)

    class Equal:
        def __hash__(self) -> int:
            return hash("scale")

        def __eq__(self, other: object) -> bool:
            if kept:
                kept.pop()()
            return False

    kept: list[Any] = []
    table: dict[Any, Any] = {"other": 1.0, Equal(): 1.0, "scale": 2.0}
    keyed = rg.compile(lambda: lists[0][0] * table["scale"])
    kept.append(keyed)
    assert keyed() == 8.0
    table["scale"] = 3.0
    del table["other"]
    assert keyed() == 12.0


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("not to be looked into")

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


class HostileList(list[Any]):
    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __iter__(self) -> Any:
        raise RuntimeError("no items")


def strange_things() -> Iterator[Any]:
    itself: list[Any] = [0] * 300
    itself[0] = itself
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    shared: list[Any] = [1.0]
    for _ in range(8):
        shared = [shared] * 16

    class Referent(list[Any]):
        pass

    gone = Referent()
    proxy = weakref.proxy(gone)
    del gone
    kept = Referent([1])
    yield from (itself, [deep] * 300, [shared] * 300, proxy, weakref.proxy(kept), Hostile(), HostileList([1]))
    yield from (mock.Mock(spec=list), mock.MagicMock(spec=dict), mock.MagicMock(), {10**5000: 1})
    yield from (type("Odd", (), {"__module__": 7}), type("Held", (), {"p": property(Hostile)})(), iter([1]))
    yield from (enum.Enum("Colour", "red green").red, collections.namedtuple("Pair", "a b")(1, 2), threading.Lock())


@pytest.mark.parametrize("number", range(len(list(strange_things()))))
def test_strange_things_that_a_function_can_reach(number: int) -> None:
    w, thing = Value(3.0), list(strange_things())[number]
    compiled = rg.compile(lambda: (thing, w * 2.0)[1])
    for _ in range(3):
        assert compiled.backward() == 6.0
    moves_on = hasattr(type(thing), "__next__") and type(thing).__module__ == "builtins"
    assert compiled.stats().eager == (3 if moves_on or type(thing) in weakref.ProxyTypes else 0)


@pytest.mark.long
def test_long_chains_and_large_dictionaries_take_little() -> None:
    class Node:
        def __init__(self, following: Any) -> None:
            self.following, self.scale = following, 1.0

    chain = None
    for _ in range(10_000):
        chain = Node(chain)
    w, table = Value(3.0), {i: (object(),) for i in range(20_000)}

    def function() -> Any:
        return w * chain.scale * len(table) * (1.0 if chain.following else 0.0)  # type: ignore[union-attr]

    compiled = rg.compile(function)
    tracemalloc.start()
    try:
        assert compiled.backward() == 60_000.0
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_arguments_that_are_looked_into_are_let_go_of() -> None:
    class Settings:
        def __init__(self, scale: float) -> None:
            self.scale = scale

    w, made = Value(3.0), []
    compiled = rg.compile(lambda x, settings: w * x * settings.scale)
    for k in range(300):
        settings = Settings(float(k))
        made.append(weakref.ref(settings))
        assert compiled.backward(1.0, settings) == 3.0 * k
    del settings
    gc.collect()
    assert sum(one() is not None for one in made) <= 257


def function_with_attribute(w: Any) -> Any:
    return w * function_with_attribute.scale  # type: ignore[attr-defined]


def test_code_attributes_of_functions_and_of_classes() -> None:
    w = Value(1.0)

    class Base:
        scale = 2.0

        def method(self) -> Any:
            return w * self.scale

    class Derived(Base):
        pass

    class Listed(list[float]):
        scale = 2.0

    thing, listed = Derived(), Listed([1.0])

    def helper() -> Any:
        return w * 2.0

    compiled = rg.compile(thing.method)
    assert compiled() == 2.0
    Derived.scale = 3.0
    assert compiled() == 3.0
    Base.method = lambda self: w * 4.0  # type: ignore[method-assign]
    replaced = rg.compile(lambda: thing.method())
    assert replaced() == 4.0
    Base.method = lambda self: w * 5.0  # type: ignore[method-assign]
    assert replaced() == 5.0
    function_with_attribute.scale = 2.0  # type: ignore[attr-defined]
    attribute = rg.compile(lambda: function_with_attribute(w))
    assert attribute() == 2.0
    function_with_attribute.scale = 6.0  # type: ignore[attr-defined]
    assert attribute() == 6.0
    reloaded = rg.compile(lambda: helper() * 1.0)
    assert reloaded() == 2.0
    other: Any = lambda: w * 7.0  # noqa: E731
    helper.__code__ = other.__code__
    assert reloaded() == 7.0
    subclass = rg.compile(lambda: w * listed.scale * listed[0])
    assert subclass() == 2.0
    listed.scale = 8.0
    assert subclass() == 8.0


def test_a_function_is_the_same_as_long_as_all_that_it_refers_to() -> None:
    w = Value(2.0)

    def helper(x: float, factor: float = 3.0, *, plus: float = 0.0) -> Any:
        return w * x * factor + plus

    f = rg.compile(lambda x: helper(x))
    assert f(1.0) == 6.0
    seen = weakref.ref(helper)  # its memory changes, and nothing that it refers to
    for _ in range(100):  # it is one of those that Python makes faster
        assert (f(1.0), helper(1.0).data) == (6.0, 6.0)
    assert seen() is helper
    assert f.stats().traces == 1
    helper.__defaults__ = (4.0,)
    assert f(1.0) == 8.0
    helper.__kwdefaults__ = {"plus": 1.0}
    assert (f(1.0), f(1.0)) == (9.0, 9.0)
    assert f.stats().traces == 3


def test_attributes_that_no_code_names() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            self.w, self.more = Value(1.0), [Value(1.0)]

    class Point:
        __match_args__ = ("x",)

        def __init__(self, x: float) -> None:
            self.x = x

    model, point = Model(), Point(2.0)

    def penalty() -> Any:
        return sum(p * p for p in model.parameters())

    def matched() -> Any:
        match point:
            case Point(x):
                return model.w * x
        return model.w

    squares, product = rg.compile(penalty), rg.compile(matched)
    assert (squares(), product()) == (2.0, 2.0)
    model.more.append(Value(3.0))
    point.x = 5.0
    assert (squares(), product()) == (11.0, 5.0)


def test_the_order_of_a_dictionary_and_what_is_imported_in_a_function() -> None:
    package, inner = types.ModuleType("a_package_of_this_test"), types.ModuleType("a_package_of_this_test.inner")
    package.inner, inner.scale = inner, 2.0  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, {"a_package_of_this_test": package}):
        w, table = Value(1.0), {"a": 1.0, "b": 2.0}

        def imports() -> Any:
            import a_package_of_this_test  # type: ignore[import-not-found]

            return w * a_package_of_this_test.inner.scale

        ordered = rg.compile(lambda: w * next(iter(table.values())))
        imported = rg.compile(imports)
        assert (ordered(), imported()) == (1.0, 2.0)
        table["a"] = table.pop("a")
        inner.scale = 3.0  # type: ignore[attr-defined]
        assert (ordered(), imported()) == (2.0, 3.0)


@pytest.mark.long
def test_optimizers_whose_moments_are_replaced() -> None:
    w, v = Value(1.0), Value(1.0)
    one, other = rg.optim.Adam([w], 0.1), rg.optim.Adam([v], 0.1)
    for k in range(6):
        for value, optimizer in ((w, one), (v, other)):
            value.grad = 1.0 + k
            optimizer.step()
        one.m, one.v = one.m.copy(), one.v.copy()
        gc.collect()
    assert w.data == v.data
    one.m = one.m[:0]
    with pytest.raises(ValueError, match="one element for each"):
        one.step()


def test_a_global_that_hides_a_built_in() -> None:
    w = Value(2.0)
    namespace: dict[str, Any] = {"w": w}
    exec("def f(x):\n    return sum([w * x, w]) + inner(x)\n\ndef inner(x):\n    return w * len([x])", namespace)
    f = rg.compile(namespace["f"])
    assert (f(3.0), f(3.0)) == (10.0, 10.0)
    namespace["sum"] = lambda numbers: numbers[0]
    assert f(3.0) == 8.0
    namespace["len"] = lambda numbers: 5
    assert f(3.0) == 16.0
    del namespace["sum"], namespace["len"]
    assert f(3.0) == 10.0
    assert f.stats().eager == 0


class Lookup:
    """Holds its own tables through what reads them."""

    def __init__(self) -> None:
        self.table = {"x": 1.0}
        self.look, self.values = self.table.get, self.table.values()


def held_by_methods() -> dict[str, tuple[Callable[[float], Any], Callable[[], object]]]:
    """What reads a container that no variable holds, and what changes the container."""
    table, row, queue, known, array = {"x": 1.0}, [1.0], collections.deque([1.0]), {1}, np.ones(2)
    ordered, memory, lookup = collections.OrderedDict(x=1.0), (ctypes.c_double * 1)(1.0), Lookup()
    get, at, first, among, values = table.get, row.__getitem__, queue.__getitem__, known.__contains__, table.values()
    pairs, part, total, item = ordered.items(), functools.partial(table.get, "x"), array.sum, array.item

    def grow() -> None:
        table["x"] += 1.0

    return {
        "a dictionary's get": (lambda x: x * get("x"), grow),
        "its values": (lambda x: sum(x * v for v in values), grow),
        "a part of get": (lambda x: x * part(), grow),
        "an ordered dictionary's items": (
            lambda x: sum(x * v for _, v in pairs),
            lambda: ordered.update(x=ordered["x"] + 1),
        ),
        "a list's element": (lambda x: x * at(0), lambda: row.__setitem__(0, row[0] + 1.0)),
        "a queue's element": (lambda x: x * first(0), lambda: queue.append(queue.popleft() + 1.0)),
        "whether a set has it": (lambda x: x * 2.0 if among(2) else x, lambda: known.add(2)),
        "an array's sum": (lambda x: x * float(total()), lambda: array.__setitem__(0, array[0] + 1.0)),
        "an array's element": (lambda x: x * item(0), lambda: array.__setitem__(0, array[0] + 1.0)),
        "an object's": (lambda x: x * lookup.look("x"), lambda: lookup.table.update(x=3.0)),
        "an object's values": (lambda x: sum(x * v for v in lookup.values), lambda: lookup.table.update(x=3.0)),
        "memory of C": (lambda x: x * memory[0], lambda: memory.__setitem__(0, memory[0] + 1.0)),
    }


@pytest.mark.parametrize("name", held_by_methods())
def test_what_only_a_method_of_a_built_in_class_holds(name: str) -> None:
    function, change = held_by_methods()[name]
    compiled = rg.compile(function)
    for _ in range(3):
        for _ in range(2):
            assert compiled.value_and_grad(2.0) == rg.value_and_grad(function)(2.0)
        change()
    assert compiled.stats().hits > 0
