"""What a function can reach beside its arguments, and changes: the next call is right, and traced again."""

from __future__ import annotations

import argparse
import functools
import gc
import inspect
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, errors, nn

pytestmark = native

SCALE = 2.0
HELPERS: Any = types.ModuleType("helpers_of_this_test")


def helper(w: Any) -> Any:
    return w * SCALE


@dataclass(slots=True)
class Slotted:
    scale: float


class Scaled:
    scale = 2.0
    table: ClassVar[list[float]] = [2.0]

    def __init__(self) -> None:
        self.own = 2.0

    def by_class(self, w: Any) -> Any:
        return w * self.scale

    def by_own(self, w: Any) -> Any:
        return w * self.own

    def by_table(self, w: Any) -> Any:
        return w * self.table[0]

    def by_global(self, w: Any) -> Any:
        return w * SCALE

    @property
    def through(self) -> float:
        return SCALE


def set_global(value: float) -> None:
    global SCALE
    SCALE = value


#: Each makes a function of a parameter that gives twice the parameter, and what makes it give five times as much.
Case = tuple[Callable[[], Any], Callable[[], object]]


def a_cell(w: Value) -> Case:
    scale = 2.0

    def change() -> None:
        nonlocal scale
        scale = 5.0

    return lambda: w * scale, change


def a_cell_of_a_helper(w: Value) -> Case:
    inner, change = a_cell(w)

    def outer() -> Any:
        return inner()

    return outer, change


def a_list(w: Value) -> Case:
    scales = [2.0]
    return lambda: w * scales[0], lambda: scales.__setitem__(0, 5.0)


def a_list_that_grows(w: Value) -> Case:
    scales = [2.0]
    return lambda: w * sum(scales), lambda: scales.append(3.0)


def a_list_behind_a_tuple(w: Value) -> Case:
    scales = ([0.0], [2.0])
    return lambda: w * scales[1][0], lambda: scales[1].__setitem__(0, 5.0)


def a_dictionary(w: Value) -> Case:
    scales = {"a": {"b": 2.0}}
    return lambda: w * scales["a"]["b"], lambda: scales["a"].update(b=5.0)


def a_dictionary_that_grows(w: Value) -> Case:
    scales = {"a": 2.0}
    return lambda: w * sum(scales.values()), lambda: scales.update(b=3.0)


def a_dictionary_with_other_keys(w: Value) -> Case:
    scales = {(1, 2): 2.0, 7: 1.0}
    return lambda: w * scales[1, 2], lambda: scales.update({(1, 2): 5.0})


def a_set_that_grows(w: Value) -> Case:
    scales = {2.0}
    return lambda: w * sum(scales), lambda: scales.add(3.0)


def a_global(w: Value) -> Case:
    return lambda: w * SCALE, lambda: set_global(5.0)


def a_global_of_a_helper(w: Value) -> Case:
    return lambda: helper(w), lambda: set_global(5.0)


def a_helper(w: Value) -> Case:
    return lambda: helper(w), lambda: globals().update(helper=lambda w: w * 5.0)


def a_module(w: Value) -> Case:
    HELPERS.scale = 2.0
    return lambda: w * HELPERS.scale, lambda: setattr(HELPERS, "scale", 5.0)


def an_attribute(w: Value) -> Case:
    settings = Scaled()
    return lambda: w * settings.own, lambda: setattr(settings, "own", 5.0)


def an_attribute_that_hides_its_class(w: Value) -> Case:
    settings = Scaled()
    return lambda: w * settings.scale, lambda: setattr(settings, "scale", 5.0)


def an_attribute_of_the_class(w: Value) -> Case:
    return lambda: Scaled().by_class(w), lambda: setattr(Scaled, "scale", 5.0)


def a_list_of_the_class(w: Value) -> Case:
    return lambda: Scaled().by_table(w), lambda: Scaled.table.__setitem__(0, 5.0)


def a_bound_method(w: Value) -> Case:
    scaled = Scaled()
    return functools.partial(scaled.by_own, w), lambda: setattr(scaled, "own", 5.0)


def a_global_of_a_method(w: Value) -> Case:
    scaled = Scaled()
    return lambda: scaled.by_global(w), lambda: set_global(5.0)


def a_global_of_a_property(w: Value) -> Case:
    scaled = Scaled()
    return lambda: w * scaled.through, lambda: set_global(5.0)


def a_slot(w: Value) -> Case:
    settings = Slotted(2.0)
    return lambda: w * settings.scale, lambda: setattr(settings, "scale", 5.0)


def a_namespace(w: Value) -> Case:
    settings = types.SimpleNamespace(scale=2.0)
    return lambda: w * settings.scale, lambda: setattr(settings, "scale", 5.0)


def options_of_a_command(w: Value) -> Case:
    options = argparse.Namespace(scale=2.0)
    return lambda: w * options.scale, lambda: setattr(options, "scale", 5.0)


def a_default(w: Value) -> Case:
    def function(scales: Any = [2.0], *, more: Any = {"a": 1.0}) -> Any:  # noqa: B006
        return w * scales[0] * more["a"]

    return function, lambda: function.__kwdefaults__["more"].update(a=2.5)


def behind_a_cache(w: Value) -> Case:
    scales = [2.0]

    @functools.cache
    def scale() -> list[float]:
        return scales

    return lambda: w * scale()[0], lambda: scales.__setitem__(0, 5.0)


def of_a_compiled_function(w: Value) -> Case:
    inner, change = a_list(w)
    compiled = rg.compile(inner)
    return lambda: compiled() * 1.0, change


def a_value_replaced(w: Value) -> Case:
    held = [Value(2.0), Value(5.0)]
    return lambda: w * held[0], lambda: held.reverse()


def a_module_replaced(w: Value) -> Case:
    class Model(nn.Module):
        def __init__(self, scale: float) -> None:
            self.scale = Value(scale)

    models = {"one": Model(2.0)}
    kept = models["one"]
    return lambda: w * models["one"].scale, lambda: (kept, models.update(one=Model(5.0)))


CASES = [
    a_cell,
    a_cell_of_a_helper,
    a_list,
    a_list_that_grows,
    a_list_behind_a_tuple,
    a_dictionary,
    a_dictionary_that_grows,
    a_dictionary_with_other_keys,
    a_set_that_grows,
    a_global,
    a_global_of_a_helper,
    a_helper,
    a_module,
    an_attribute,
    an_attribute_that_hides_its_class,
    an_attribute_of_the_class,
    a_list_of_the_class,
    a_bound_method,
    a_global_of_a_method,
    a_global_of_a_property,
    a_slot,
    a_namespace,
    options_of_a_command,
    a_default,
    behind_a_cache,
    of_a_compiled_function,
    a_value_replaced,
    a_module_replaced,
]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    own = helper
    yield
    globals().update(SCALE=2.0, helper=own)
    Scaled.scale, Scaled.table[0] = 2.0, 2.0


def by_backward(compiled: Any, w: Value) -> tuple[float, float]:
    w.grad = 0.0
    return compiled.backward(), w.grad


def by_batch(compiled: Any, w: Value) -> tuple[float, float]:
    w.grad = 0.0
    return compiled.backward_batch([(), ()]), w.grad


def by_call(compiled: Any, w: Value) -> tuple[float, float]:
    return compiled(), compiled() / w.data


@pytest.mark.parametrize("by", [by_backward, by_batch, by_call])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_has_changed_is_traced_again(case: Callable[[Value], Case], by: Any) -> None:
    w = Value(3.0)
    function, change = case(w)
    compiled = rg.compile(function)
    for _ in range(3):
        assert by(compiled, w) == (6.0, 2.0)
    assert compiled.stats().traces == 1
    change()
    for _ in range(3):
        assert by(compiled, w) == (15.0, 5.0)
    stats = compiled.stats()
    assert (stats.traces, stats.eager) == (2, 0)
    assert any(reason.endswith(" has changed") for reason in stats.reasons)


def test_what_an_argument_holds_changes() -> None:
    w, settings = Value(3.0), Scaled()
    settings.own = [2.0]  # type: ignore[assignment]
    compiled = rg.compile(lambda x, settings: w * x * settings.own[0])
    assert compiled.value_and_grad(2.0, settings) == (12.0, 6.0)
    other = Scaled()
    other.own = [7.0]  # type: ignore[assignment]
    assert compiled.value_and_grad(2.0, other) == (42.0, 21.0)
    settings.own[0] = 5.0  # type: ignore[index]
    assert compiled.value_and_grad(2.0, settings) == (30.0, 15.0)
    assert compiled.value_and_grad(2.0, other) == (42.0, 21.0)
    assert compiled.stats().eager == 0


def rows_of(count: int) -> list[list[Value]]:
    return [[Value(float(i + j)) for j in range(16)] for i in range(count)]


def sum_of(rows: list[list[Value]]) -> Any:
    return sum(sum(row) for row in rows)


def test_in_a_large_structure_new_values_are_seen_at_once() -> None:
    rows = rows_of(100)
    compiled = rg.compile(lambda: sum_of(rows))
    keeps = [list(row) for row in rows]
    for change in (
        lambda: rows[70].__setitem__(3, Value(100.0)),
        lambda: rows[80].append(Value(100.0)),
        lambda: rows.__setitem__(90, [Value(1.0)]),
        lambda: rows.append([Value(1.0)]),
    ):
        before = compiled.backward()
        change()
        expected = sum_of(rows).data
        assert compiled.backward() == expected != before
    assert compiled.stats().eager == 0
    assert keeps


def test_in_a_large_structure_nothing_is_noticed_late() -> None:
    rows = rows_of(100)
    a, b = rg.compile(lambda i: sum_of(rows) * i), rows[70][3]
    for _ in range(300):
        a.backward(1.0)
    rows[70][3] = rows[71][5]  # both were there before
    b.grad = rows[71][5].grad = 0.0
    assert a.backward(1.0) == sum_of(rows).data
    assert (b.grad, rows[71][5].grad) == (0.0, 2.0)
    rows[70][4] = b
    assert a.backward(1.0) == sum_of(rows).data
    assert "rows[70] has changed" in str(a.stats())


def test_what_does_not_matter_is_left_alone_in_the_end() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.w = Value(2.0)
            self.steps, self.losses = 0, [0.0]
            self.step = rg.compile(self.loss)

        def loss(self, x: float) -> Any:
            return self.w * x

    trainer = Trainer()
    for k in range(50):
        trainer.losses.append(trainer.step.backward(float(k)))
        trainer.steps += 1
    stats = trainer.step.stats()
    assert stats.traces < 10
    assert len(stats.programs) == 1
    assert stats.eager == 0
    assert trainer.losses[1:] == [2.0 * k for k in range(50)]
    trainer.w = Value(5.0)  # what matters is still looked at
    assert trainer.step.backward(1.0) == 5.0


def test_each_program_is_compared_when_it_is_called_again() -> None:
    w, scales, loose = Value(1.0), [2.0, 3.0], [0.0]
    compiled = rg.compile(lambda i, xs: sum(w * scales[i] * x for x in xs) + 0.0 * len(loose))
    short, long = [1.0], [1.0, 2.0]
    assert [compiled.backward(0, short), compiled.backward(1, short), compiled.backward(1, long)] == [2.0, 3.0, 9.0]
    scales[1] = 5.0
    assert [compiled.backward(0, short), compiled.backward(1, short), compiled.backward(1, long)] == [2.0, 5.0, 15.0]
    traces = compiled.stats().traces
    assert traces == 6
    assert [compiled.backward(0, short), compiled.backward(1, short), compiled.backward(1, long)] == [2.0, 5.0, 15.0]
    assert compiled.stats().traces == traces


def test_a_number_boxed_anew_is_no_change() -> None:
    w, settings = Value(2.0), types.SimpleNamespace(scale=3.0, name="a name", count=10**20)
    compiled = rg.compile(lambda: w * settings.scale)
    for _ in range(5):
        settings.scale, settings.name = float(str(settings.scale)), "".join(settings.name)
        settings.count = int(str(settings.count))
        assert compiled.backward() == 6.0
    assert compiled.stats().traces == 1
    settings.scale = -0.0
    assert str(compiled.backward()) == "-0.0"


def test_what_was_replaced_is_not_kept() -> None:
    class Holder:
        def __init__(self, scale: float) -> None:
            self.scale = scale

    def made() -> tuple[Any, dict[str, Holder]]:
        w, here = Value(2.0), {"holder": Holder(3.0)}
        return rg.compile(lambda: w * here["holder"].scale), here

    compiled, here = made()
    compiled.backward()
    first = weakref.ref(here["holder"])
    here["holder"] = Holder(4.0)
    assert compiled.backward() == 8.0
    gc.collect()
    assert first() is None
    second = weakref.ref(here["holder"])
    del here, compiled
    gc.collect()
    assert second() is None


def test_a_function_that_counts_its_runs_is_not_compiled() -> None:
    w, counts = Value(2.0), {"runs": 0}

    def function(i: int) -> Any:
        counts["runs"] += 1
        return w * i

    compiled = rg.compile(function)
    with pytest.warns(errors.CompileWarning, match=r"test_captured_state.py:\d+, in function, changes counts"):
        compiled.backward(1)
    for _ in range(4):
        assert [compiled.backward(1), compiled.backward(2), compiled.backward(3)] == [2.0, 4.0, 6.0]
    assert compiled.stats().traces == 0
    assert counts["runs"] == 13


def test_a_function_that_asks_for_the_class_of_a_number_runs_each_time() -> None:
    w = Value(2.0)

    def asks(x: Any) -> Any:
        return w * x if type(x) is float and x > 0.0 else w * 100.0

    def compares(x: Any) -> Any:
        return w * x if type(x) == float else w * 100.0  # noqa: E721

    def looks(x: Any) -> Any:
        return w * x if type(x) in (int, float) else w * 100.0

    def other(x: Any) -> Any:
        return float(3) * w * x if type(w) is Value and x is not None else w

    for function in (asks, compares, looks):
        compiled = rg.compile(lambda x, function=function: function(x))
        assert [compiled.backward(x) for x in (3.0, 4.0)] == [6.0, 8.0]
        assert compiled.stats().traces == 0
        assert any("write isinstance" in reason for reason in compiled.stats().reasons)
    assert rg.compile(asks).backward(-1.0) == 200.0
    compiled = rg.compile(other)
    assert compiled.backward(3.0) == 18.0


def test_numbers_are_compared_up_to_64_kilobytes_and_frozen_beyond() -> None:
    w, xs, images = Value(2.0), [1.0] * 1000, np.ones((40, 50))
    named = {str(i): float(i) for i in range(1000)}
    compiled = rg.compile(lambda: w * (xs[999] + images[3, 4] + named["7"]))
    assert compiled.backward() == 18.0
    xs[999] = 2.0
    assert compiled.backward() == 20.0
    images[3, 4] = 5.0
    assert compiled.backward() == 28.0
    named["7"] = 8.0
    assert compiled.backward() == 30.0
    assert (compiled.stats().traces, compiled.stats().eager) == (4, 0)

    large = np.ones(10_000)
    compiled = rg.compile(lambda: w * large[7])
    with pytest.warns(errors.CompileWarning, match=r"reads large, which is too large .* Pass it as an argument"):
        assert compiled.backward() == 2.0
    assert "not compared, because there is too much of it: large" in compiled.guards()
    large[7] = 3.0
    assert compiled.backward() == 2.0  # frozen
    compiled.clear()
    assert compiled.backward() == 6.0
    large.flags.writeable = False
    compiled = rg.compile(lambda: w * large[7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled.backward() == 6.0


def test_lists_of_values_are_compared_however_long() -> None:
    w = Value(2.0)
    empty: list[list[Value]] = [[] for _ in range(300)]
    compiled = rg.compile(lambda: w + sum(v for row in empty for v in row))
    assert compiled.backward() == 2.0
    empty[3].append(Value(4.0))
    assert compiled.backward() == 6.0
    many = [Value(1.0) for _ in range(20_000)]
    compiled = rg.compile(lambda: rg.sum(many))
    assert compiled.backward() == 20_000.0
    many[17_000] = many[3]
    many[3].data = 5.0
    assert compiled.backward() == 20_008.0


def test_a_dictionary_of_many_values_and_keys_of_any_kind() -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def __hash__(self) -> int:
            return hash(self.name)

        def __eq__(self, other: object) -> bool:
            raise AssertionError("nobody compares keys")

    keys = [Named(str(i)) for i in range(40)]
    table = {key: Value(1.0) for key in keys}
    compiled = rg.compile(lambda: sum(table.values()))
    assert compiled.backward() == 40.0
    table[keys[7]] = Value(5.0)
    assert compiled.backward() == 44.0
    del table[keys[3]]
    assert compiled.backward() == 43.0
    large = {i: Value(1.0) for i in range(3000)}
    compiled = rg.compile(lambda: sum(large.values()))
    assert compiled.backward() == 3000.0
    large[2999] = Value(3.0)
    assert compiled.backward() == 3002.0


def test_attributes_that_are_not_there_yet() -> None:
    class Open:
        __slots__ = ("scale",)

    w, thing, empty = Value(2.0), Open(), types.SimpleNamespace()
    compiled = rg.compile(lambda: w * getattr(thing, "scale", 1.0) * getattr(empty, "scale", 1.0))
    assert compiled.backward() == 2.0
    thing.scale = 3.0
    assert compiled.backward() == 6.0
    empty.scale = 5.0
    assert compiled.backward() == 30.0
    del thing.scale
    assert compiled.backward() == 10.0

    def unbound() -> Any:
        return w * 1.0 if w.data > 0 else w * later

    compiled = rg.compile(unbound)
    assert compiled.backward() == 2.0
    later = 3.0
    w.data = -1.0
    assert compiled.backward() == -3.0


def test_a_counter_that_instances_share() -> None:
    class Counted:
        calls = 0

        def __init__(self) -> None:
            self.w = Value(2.0)

        def loss(self, x: float) -> Any:
            return self.w * x

    counted = Counted()
    compiled = rg.compile(counted.loss)
    for _ in range(20):
        Counted.calls += 1
        assert compiled.backward(3.0) == 6.0
    assert compiled.stats().traces <= 4


def test_one_attribute_of_one_object_among_hundreds() -> None:
    class Option:
        def __init__(self, strike: float, kind: str) -> None:
            self.strike, self.kind = strike, kind

    options = [Option(90.0 + i, "call" if i % 3 else "put") for i in range(200)]

    def price(spot: Any) -> Any:
        return sum(spot / o.strike if o.kind == "call" else o.strike - spot for o in options)

    compiled = rg.compile(price)
    for change in (
        lambda: setattr(options[137], "strike", 5.0),
        lambda: setattr(options[3], "kind", "put"),
        lambda: vars(options[199]).update(kind="call", strike=1.0),
        lambda: options[0].__dict__.pop("kind") and setattr(options[0], "kind", "call"),
    ):
        assert compiled.value_and_grad(3.0) == pytest.approx(rg.value_and_grad(price)(3.0), rel=1e-12)
        change()
        assert compiled.value_and_grad(3.0) == pytest.approx(rg.value_and_grad(price)(3.0), rel=1e-12)
    del options[50].strike
    with pytest.raises(AttributeError, match="strike"):
        compiled.value_and_grad(3.0)


@pytest.mark.parametrize("look", [inspect.signature, functools.wraps, lambda f: f.__annotations__, rg.compile])
def test_looking_at_a_function_is_no_change(look: Callable[..., Any]) -> None:
    def inner(x: Any) -> Any:
        return x * x

    compiled = rg.compile(lambda x: inner(x) + x)
    for _ in range(3):
        assert compiled.value_and_grad(2.0) == (6.0, 5.0)
    look(inner)
    assert compiled.value_and_grad(3.0) == (12.0, 7.0)
    assert compiled.stats().traces == 1
