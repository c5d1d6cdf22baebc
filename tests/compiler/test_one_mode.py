"""One mode: guards that can be printed, programs that are verified, effects that are named, and no storm of traces."""

from __future__ import annotations

import contextvars
import csv
import datetime
import functools
import io
import itertools
import queue
import random
import time
import types
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, engine, errors
from retrograd.engine import ENGINE

if ENGINE == "native":
    from retrograd.compiler.tracing.recorder import active_recorder

pytestmark = native

W = Value(2.0)
SEEN: list[float] = []
GENERATOR = np.random.default_rng(3)
KEPT = {2.0}


def prints(x: float) -> Any:
    print("x")
    return W * x


def writes(x: float) -> Any:
    io.StringIO().write("x")
    return W * x


def counts(x: float) -> Any:
    SEEN.append(1.0)
    return W * x


def changes_its_argument(x: list[float]) -> Any:
    x[0] = x[0] * 0.5
    return W * x[0]


#: What a function does, an argument, and what the warning names.
EFFECTS: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "a clock": (lambda x: W * x * (time.perf_counter() > 0.0), 1.0, "asks the time with perf_counter()"),
    "a date": (lambda x: W * x * (datetime.datetime.now().year > 1), 1.0, "asks the time with now()"),
    "random": (lambda x: W * x * (random.random() < 2.0), 1.0, "draws random numbers"),
    "random, Gaussian": (lambda x: W * x + 0.0 * random.gauss(0.0, 1.0), 1.0, "draws random numbers"),
    "NumPy's random": (lambda x: W * x + 0.0 * np.random.rand(), 1.0, "draws random numbers"),
    "a generator": (lambda x: W * x + 0.0 * GENERATOR.random(), 1.0, "draws random numbers"),
    "a new generator": (lambda x: W * x + 0.0 * random.Random().random(), 1.0, "without a seed"),
    "print": (prints, 1.0, "reads or writes with print()"),
    "a file": (writes, 1.0, "reads or writes with write()"),
    "a list": (counts, 1.0, "changes SEEN"),
    "an argument": (changes_its_argument, [4.0], "changes an argument"),
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_what_has_effects_runs_as_it_is_with_a_warning_that_names_the_line(effect: str) -> None:
    function, argument, words = EFFECTS[effect]
    compiled = rg.compile(function)
    with pytest.warns(errors.CompileWarning, match=r"test_one_mode.py:\d+") as given:
        compiled(argument)
    assert words in str(given[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        for _ in range(5):
            compiled(argument)
    assert (compiled.stats().traces, compiled.stats().eager) == (0, 6)


def test_the_systems_random_numbers_have_no_state_to_compare() -> None:
    dice = random.SystemRandom()
    compiled = rg.compile(lambda x: W * x * (dice.random() < 1.0))
    with pytest.warns(errors.CompileWarning, match=r"asks the system with urandom\(\)"):
        assert [compiled(1.0).data for _ in range(3)] == [2.0] * 3
    assert compiled.stats().traces == 0


def test_without_gradients_a_function_with_effects_runs_once_a_call() -> None:
    seen: list[float] = []

    def counting(x: float) -> Any:
        seen.append(x)
        return W * x

    compiled = rg.compile(counting)
    with pytest.warns(errors.CompileWarning, match="changes seen"), rg.no_grad():
        assert [compiled(x).data for x in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert seen == [1.0, 2.0, 3.0]
    pure = rg.compile(lambda x: (W * x, W.data * x))
    with rg.no_grad():
        for _ in range(3):
            value, number = pure(2.0)
            assert (value.data, number, engine.operands(value)) == (4.0, 4.0, ())
    assert (pure.stats().traces, pure.stats().eager) == (1, 0)


def test_parameters_that_are_arguments_as_well_are_not_traced_in_every_call() -> None:
    weights = [Value(0.5), Value(-1.5)]
    compiled = rg.compile(lambda values: sum(values) * weights[0])
    for _ in range(5):
        assert compiled(weights).data == -0.5
    assert (compiled.stats().traces, compiled.stats().hits, compiled.stats().eager) == (2, 5, 0)
    for weight in weights:
        weight.grad = 0.0
    compiled.backward(weights)
    assert [weight.grad for weight in weights] == [-0.5, 0.5]


def test_what_is_not_compilable_is_traced_less_and_less() -> None:
    cached = functools.cache(lambda: W * 3.0)  # a node of another call
    compiled = rg.compile(lambda x: cached() * x[0])
    for _ in range(100):
        assert compiled(np.ones(1)) == cached()
    assert (compiled.stats().traces, compiled.stats().eager) == (6, 100)


def test_what_gives_other_numbers_is_traced_no_more() -> None:
    compiled = rg.compile(lambda x: ~(x[0] > 0.0) + 2.5 * x[0])
    with pytest.warns(errors.CompileWarning, match="its program gave other numbers than it does"):
        compiled(np.ones(1))
    for _ in range(100):
        assert compiled(np.ones(1)) == 2.5
    assert (compiled.stats().traces, compiled.stats().eager) == (1, 101)


def test_a_difference_that_shows_in_few_calls() -> None:
    def function(weight: float, x: float) -> Any:
        return weight * (active_recorder() is None) + x  # another one in a trace

    compiled, plain = rg.compile(function), (3.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    with pytest.warns(errors.CompileWarning, match="its program gave other numbers than it does"):
        assert [compiled(weight, 0.5) for weight in plain] == [weight + 0.5 for weight in plain]


def test_a_generator_with_a_seed_of_its_own_is_no_effect() -> None:
    compiled = rg.compile(lambda x: W * x * random.Random(3).random())
    assert [compiled(1.0).data, compiled(1.0).data] == [2.0 * random.Random(3).random()] * 2
    assert compiled.stats().eager == 0


#: A function of w, and what makes it compute otherwise.
def places(w: Value) -> dict[str, tuple[Callable[[], Any], Callable[[], object]]]:
    class Kept:
        k = 2.0

    bag, row, ordered = {1.0}, np.ones(3), OrderedDict(a=1.0, b=2.0)
    raw, kept = bytearray(b"\x01"), Kept()
    proxy, reference, getter = types.MappingProxyType(table := {"k": 2.0}), weakref.ref(kept), attrgetter("k")

    class Descriptor:
        gain = 2.0

        def __get__(self, instance: object, owner: type) -> float:
            return self.gain

    class Holder:
        described = Descriptor()

    class Other:
        k = 7.0

    class Plain:
        k = 2.0

    holder, plain, renamed = Holder(), Plain(), Plain()

    def defaults(k: float = 2.0) -> Any:
        return w * k

    return {
        "a set": (lambda: w * sum(bag), lambda: bag.add(4.0)),
        "an array": (lambda: w * row[1], lambda: row.__setitem__(1, 5.0)),
        "the shape of an array": (lambda: w * row.shape[0], lambda: setattr(row, "shape", (1, 3))),
        "a view of an array": (lambda: w * row[::2][1], lambda: row.__setitem__(2, 5.0)),
        "bytes": (lambda: w * raw[0], lambda: raw.__setitem__(0, 9)),
        "the order of a dictionary": (lambda: w * next(iter(ordered.values())), lambda: ordered.move_to_end("a")),
        "a mapping proxy": (lambda: w * proxy["k"], lambda: table.update(k=5.0)),
        "a weak reference": (lambda: w * reference().k * kept.k, lambda: setattr(kept, "k", 5.0)),  # type: ignore[union-attr]
        "an attrgetter": (lambda: w * getter(kept), lambda: setattr(kept, "k", 6.0)),
        "a descriptor": (lambda: w * holder.described, lambda: setattr(Descriptor, "gain", 5.0)),
        "another descriptor": (lambda: w * holder.described, lambda: setattr(Holder, "described", 3.0)),
        "defaults": (defaults, lambda: setattr(defaults, "__defaults__", (5.0,))),
        "__dict__": (lambda: w * plain.k, lambda: setattr(plain, "__dict__", {"k": 5.0})),
        "__class__": (lambda: w * renamed.k, lambda: setattr(renamed, "__class__", Other)),
    }


@pytest.mark.parametrize("place", places(W))
def test_each_place_is_compared_in_every_call(place: str) -> None:
    w = Value(3.0)
    function, change = places(w)[place]
    compiled = rg.compile(function)
    for _ in range(3):
        assert compiled().data == function().data
    assert (compiled.stats().traces, compiled.stats().eager) == (1, 0)
    before = function().data
    change()
    for _ in range(3):
        assert compiled().data == function().data != before


FULL: queue.SimpleQueue[int] = queue.SimpleQueue()
for number in range(9):
    FULL.put(number)
CONTEXT: contextvars.ContextVar[float] = contextvars.ContextVar("CONTEXT", default=2.0)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda w: w * CONTEXT.get(), "another in each context or thread"),
        (lambda w: w * globals()["CONTEXT"].get(), "calls globals()"),
        (lambda w, k=itertools.count(1): w * next(k), "an iterator or a queue, which moves on"),  # noqa: B008
        (lambda w, k=csv.reader(["1"] * 99): w * float(next(k)[0]), "an iterator or a queue"),  # noqa: B008
        (lambda w, q=FULL: w * q.get(), "uses a queue"),
        (lambda w, things=weakref.WeakSet([Value]): w * len(things), "a weak container"),
        (lambda w, of=weakref.ref(KEPT): w * (2.0 if of() else 3.0), "a weak reference, and nothing else"),  # noqa: B008
        (lambda w: w * len(list(map(print, [""]))), "hands on print(), whose calls are not heard"),
        (lambda w, say=functools.partial(print, ""): say() or w * 1.0, "calls print() through"),  # noqa: B008
    ],
)
def test_what_no_call_can_compare_is_not_compiled(function: Any, words: str) -> None:
    compiled = rg.compile(function)
    with pytest.warns(errors.CompileWarning, match=r"not compiled") as given:
        compiled(W)
    assert words in str(given[0].message)
    assert compiled.stats().traces == 0


def test_a_state_that_comes_back_finds_its_program() -> None:
    settings = types.SimpleNamespace(training=True)
    compiled = rg.compile(lambda x: W * x * (2.0 if settings.training else 1.0))
    for k in range(10):
        settings.training = k % 2 == 0
        assert compiled(3.0).data == (12.0 if settings.training else 6.0)
    assert (compiled.stats().traces, compiled.stats().eager) == (2, 0)


def test_guards_are_printed_with_the_users_line() -> None:
    scale = [2.0]

    def bent(x: Any, i: rg.Index, how: str) -> Any:
        if x > 1.0:
            return W * x * scale[0]
        return rg.take([W, W * 2.0], i)

    compiled = rg.compile(bent)
    compiled(3.0, rg.Index(1), "well")
    compiled(0.5, rg.Index(1), "well")
    text = compiled.guards()
    assert "its arguments are: a float, an Index, 'well'" in text
    assert "if x > 1.0:   # its > is True" in text
    assert "if x > 1.0:   # its > is False" in text
    assert "scale" in text.splitlines()[-1]


def test_verify_notices_what_no_guard_sees() -> None:
    class Hidden:  # as a library keeps it
        k = 2.0

    Hidden.__module__ = "numpy.of_this_test"
    hidden = Hidden()
    compiled = rg.compile(lambda x: W * x * hidden.k, verify=3)
    assert [compiled.backward(1.0), compiled(1.0).data, compiled.backward(1.0)] == [4.0, 4.0, 4.0]
    assert compiled.value_and_grad(1.0) == (4.0, 4.0)
    vars(Hidden)  # its attributes are not looked at
    Hidden.k = 3.0
    gradient = W.grad
    compiled.backward(1.0)
    with pytest.raises(errors.VerificationError, match="gives another value or gradient"):
        compiled.backward(1.0)
    assert W.grad - gradient == 2.0  # of the call before; the one that was found added nothing
    with pytest.raises(ValueError, match="0 or more"):
        rg.compile(lambda x: x, verify=-1)


def test_a_comparison_is_a_number_for_where() -> None:
    compiled = rg.compile(lambda x, y: rg.where(x * W < y, x * W, y) + (x > y) * W)
    for x, y in itertools.product((-1.0, 0.5, 2.0), (-2.0, 0.25, 3.0)):
        found = compiled(x, y)
        assert found.data == min(2.0 * x, y) + (x > y) * 2.0
    small = rg.compile(lambda x, y: rg.where(x * W < y, x * W, y))
    for x, y in itertools.product((-1.0, 0.5, 2.0), (-2.0, 0.25, 3.0)):
        assert small(x, y).data == min(2.0 * x, y)
    assert (small.stats().traces, small.stats().eager) == (1, 0)
    literal = rg.compile(lambda x: W if (x > 1.0) is True else W * 2.0)
    assert [literal(0.0).data, literal(2.0).data, literal(0.0).data] == [4.0, 2.0, 4.0]


def test_a_mixed_choice_is_a_value_or_a_number_as_in_the_function() -> None:
    def clipped(v: Any, x: float) -> Any:
        return max(v, x)

    compiled, v = rg.compile(clipped), Value(1.0)
    for x in (0.5, 2.0, 0.5, 3.0):
        assert type(compiled(v, x)) is type(clipped(v, x))
    taken = rg.compile(lambda i: rg.take([W, 3.0], i))
    assert [type(taken(rg.Index(k))) for k in (0, 1, 0)] == [Value, float, Value]
    hinge = rg.compile(lambda x: W + max(0.0, 1.0 - W * x))  # surely a Value: no guard
    assert [hinge(x).data for x in (0.0, 1.0, -1.0)] == [3.0, 2.0, 5.0]
    assert hinge.stats().traces == 1


def test_a_branch_that_flips_in_every_call_is_no_storm() -> None:
    draw = random.Random(1)

    def bumpy(xs: list[float]) -> Any:
        total: Any = W
        for x in xs:
            try:
                if total * x > 0.1:
                    raise ArithmeticError
                total = total - x * W
            except ArithmeticError:
                total = total * 0.9 + x
        return total

    compiled = rg.compile(bumpy, tier="vm")  # without taped code
    inputs = [[draw.gauss(0.0, 1.0) for _ in range(24)] for _ in range(600)]
    with pytest.warns(errors.CompileWarning, match=r"test_one_mode.py:\d+.*rg.where") as given:
        found = [compiled(xs).data for xs in inputs]
    assert len(given) == 1
    assert found == pytest.approx([bumpy(xs).data for xs in inputs], rel=1e-12)
    assert compiled.stats().traces < 20
    texts = rg.compile(lambda k: W * int(k), tier="vm")
    with pytest.warns(errors.CompileWarning, match="a float, a Value or an rg.Index"):
        assert [texts(str(k)).data for k in range(100)] == [2.0 * k for k in range(100)]
    assert texts.stats().traces < 20


def test_what_has_changed_has_a_name_in_either_kind_of_call() -> None:
    factor = 1.0
    compiled = rg.compile(lambda x: factor * x)
    for factor in (1.0, 2.0):
        assert compiled(3.0) == 3.0 * factor
        assert compiled.value_and_grad(3.0) == (3.0 * factor, factor)
    assert sorted(compiled.stats().reasons) == [
        "traced: arguments of a new structure",
        "traced: captured state has changed",
        "traced: factor has changed",
    ]


def test_where_a_tracer_cannot_stand_for_a_number_is_said() -> None:
    def bare(x: float) -> Any:
        return W * float.__add__(x, 1.0)

    compiled = rg.compile(bare)
    with pytest.warns(
        errors.CompileWarning,
        match=r"runs as it is: tracing raised TypeError \(.*\) at .*test_one_mode.py:\d+, in bare",
    ):
        assert [compiled(x).data for x in (1.0, 2.0)] == [4.0, 6.0]
    assert compiled.stats().traces == 0


def test_programs_are_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd.compiler import examples

    monkeypatch.setattr(examples, "BYTES", 200_000)
    compiled = rg.compile(lambda xs: sum(W * x * x for x in xs), tier="vm")  # without taped code
    for _ in range(2):
        for n in range(50, 90):
            assert compiled([1.0] * n).data == 2.0 * n
            assert compiled([1.0] * n).data == 2.0 * n
    assert 1 < len(compiled.stats().programs) < 30
    assert sum(weight for _, weight, _ in compiled._cache.inventory()) <= 200_000


def test_errstate_inside_a_function_is_its_own() -> None:
    def safe(x: float) -> Any:
        with rg.errstate(divide="ignore"):
            return W / x

    compiled = rg.compile(safe)
    for x in (1.0, 0.0, 2.0):
        assert compiled(x).data == safe(x).data
