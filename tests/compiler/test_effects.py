"""What a function decides, counts or draws is never stale: it runs as it is, or a guard sees it."""

from __future__ import annotations

import io
import itertools
import math
import os
import random
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import assert_near, backward, eagerly, native

import retrograd as rg
from retrograd import Index, Value, nn, take
from retrograd.compiler.calls import effects

pytestmark = native

BOUND = 1e-12


def compare(function: Any, leaves: Any, calls: Any, **options: Any) -> Any:
    """Each call, compiled and eager, from the same state of the random generator."""
    compiled = rg.compile(function, **options)
    for arguments in calls:
        state = random.getstate()
        expected = eagerly(function, leaves, arguments)
        random.setstate(state)
        assert_near(backward(compiled, leaves, arguments), expected, 0.0 if options.get("exact") else BOUND, arguments)
        random.setstate(state)
        assert compiled(*arguments) == pytest.approx(expected[0], rel=BOUND)
    return compiled


@pytest.fixture(params=[False, True], ids=["fast", "exact"])
def exact(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_no_branch_is_stale(exact: bool) -> None:
    w, v = Value(2.0), Value(-1.0)

    def function(x: float) -> Any:
        if w * x > 1.0:
            return w * x
        if x < -1.0 and float(x) != -3.0:
            return v * w
        return v.exp() * x if x else w

    compare(function, [w, v], [(x,) for x in (1.0, 0.1, -2.0, 0.0, -3.0, 2.0, 0.2, -2.0, 0.0)], exact=exact)


def test_contents_are_objects_and_not_addresses() -> None:
    """A new number may lie where one was that the container has let go."""
    items, by_name, rows = [float("1.5"), float("2.5")], {"a": float("1.5")}, ([float("1.5")],)
    held = effects.contents((items, by_name, rows))
    assert effects.contents((items, by_name, rows)) == held
    del items[-1]
    items.append(math.sqrt(2.0))
    changed = effects.contents((items, by_name, rows))
    assert changed != held
    del by_name["a"]
    by_name["a"] = math.sqrt(3.0)
    assert effects.contents((items, by_name, rows)) != changed
    changed = effects.contents((items, by_name, rows))
    del rows[0][0]
    rows[0].append(math.sqrt(5.0))
    assert effects.contents((items, by_name, rows)) != changed


def test_no_counter_and_no_random_number_is_stale(exact: bool) -> None:
    w = [Value(0.5), Value(-0.25), Value(1.5)]
    counter = itertools.count(1)

    def noisy(x: float) -> Any:
        return sum(v * x * random.gauss(0.0, 1.0) for v in w) + w[0] * random.random()

    def dropped(x: float) -> Any:
        return sum(v * x / 0.5 for v in w if random.random() < 0.5) + w[0]

    for function in (noisy, dropped):
        compare(function, w, [(0.1 * k,) for k in range(12)], exact=exact)
    counted = rg.compile(lambda: w[0] * float(next(counter)), exact=exact)
    assert [counted() for _ in range(5)] == [0.5, 1.0, 1.5, 2.0, 2.5]
    clock = rg.compile(lambda: w[0] * time.perf_counter_ns(), exact=exact)
    assert clock() < clock() < clock()


def test_literals_vary_from_call_to_call(exact: bool) -> None:
    """Equal ones become different, zeros become numbers, exponents change: none may be baked in or shared."""
    w = [Value(0.3 + 0.2 * i) for i in range(4)]
    numbers = [1.0] * 8

    def function() -> Any:
        total: Any = numbers[0]
        for v, number in zip(w, numbers, strict=False):
            total = total + v * number
        total = numbers[4] + total + w[0] ** numbers[5] + numbers[6] * w[1] * w[2] * numbers[6]
        return (
            sum(x * y for x, y in zip(numbers, w, strict=False))
            + total
            + rg.math.dot(numbers[:4], w)
            + w[3]
            - numbers[7]
        )

    compiled = rg.compile(function, exact=exact)
    generator = random.Random(0)
    for k in range(24):
        choices = ([0.0, 1.0, 2.0], [1.0], [0.0], [2.0], [-0.0, 3.0, 0.5], [generator.uniform(0, 3)])[k % 6]
        numbers[:] = [generator.choice(choices) for _ in numbers]
        assert_near(backward(compiled, w, ()), eagerly(function, w, ()), 0.0 if exact else BOUND, (k, list(numbers)))


def test_what_the_function_closes_over_may_change(exact: bool) -> None:
    """Parameters replaced, lists grown, attributes assigned, other Values of the same shape."""
    model = nn.MLP(2, [3, 1])
    ws = [Value(1.0), Value(2.0)]
    there: dict[str, Any] = {"w": Value(3.0), "scale": 2.0, "sign": 1}
    kept = there["w"]

    def function(x: float) -> Any:
        return model([x, 1.0]) * there["scale"] + sum(v * x for v in ws) * there["sign"] + there["w"] ** 2

    compiled = rg.compile(function, exact=exact)

    def agree() -> None:
        leaves = [*model.parameters(), *ws, there["w"], kept]
        for x in (0.5, -1.5):
            bound = 0.0 if exact else BOUND
            assert_near(backward(compiled, leaves, (x,)), eagerly(function, leaves, (x,)), bound, "")

    agree()
    there["w"] = Value(5.0)
    agree()
    ws.append(Value(4.0))
    agree()
    ws[0], ws[1] = ws[1], ws[0]
    agree()
    there["scale"], there["sign"] = 3.5, -1
    agree()
    del ws[0]
    agree()
    for layer in model.parameters()[:2]:
        layer.data = 0.75
    agree()
    model = nn.MLP(2, [3, 1])
    agree()


def test_selections_and_plain_integers(exact: bool) -> None:
    rows = [Value(0.5 * i) for i in range(5)]

    def function(i: Any, j: int) -> Any:
        return (
            take(rows, i) * rows[j]
            + rows[int(j)] * (2.0 if i == 3 else 1.0)
            + take([1.0, 2.0, 3.0, 4.0, 5.0], i) * rows[0]
        )

    calls = [(Index(i), j) for i in range(5) for j in (0, 2, 4)] + [(i, i) for i in range(5)]
    compare(function, rows, calls, exact=exact)


def test_errors_side_effects_and_other_structures(exact: bool) -> None:
    w = Value(2.0)
    seen: list[int] = []

    def function(xs: list[float]) -> Any:
        seen.append(len(xs))
        return sum(w / x for x in xs)

    compiled = rg.compile(function, exact=exact)
    for xs in ([1.0], [1.0, 2.0], [4.0], [1.0, 2.0]):
        assert compiled.backward(xs) == pytest.approx(function(xs).data)
    assert seen == [1, 1, 2, 2, 1, 1, 2, 2]  # once compiled and once eagerly: never twice for one call
    before = w.grad
    with pytest.raises(ZeroDivisionError):
        compiled.backward([1.0, 0.0])
    assert w.grad == before
    assert compiled.backward([]) == 0.0


def test_training_is_training(exact: bool) -> None:
    finals = []
    for compile_it in (False, True):
        random.seed(3)
        model = nn.GPT(7, block_size=5, n_embd=8, n_head=2)
        optimizer = rg.optim.Adam(model, 0.01)
        run = rg.compile(model.loss, exact=exact) if compile_it else None
        for k in range(12):
            tokens: list[Any] = [(i * 3 + k) % 7 for i in range(2 + k % 4)]
            if run is None:
                model.loss(tokens).backward()
            else:
                run.backward(tokens if k % 2 else [Index(t) for t in tokens])
            optimizer.step()
            optimizer.zero_grad()
        finals.append([p.data for p in model.parameters()])
    assert_near((0.0, finals[1]), (0.0, finals[0]), 0.0 if exact else 1e-9, "weights")


def test_batches_and_gradients_of_arguments(exact: bool) -> None:
    w, x = Value(2.0), Value(0.5)
    compiled = rg.compile(lambda a, k: (w * a * k).tanh() if k > 1 else w * a + random.random() * 0.0, exact=exact)
    members = [(x, 1), (0.25, 2), (x, 3), (0.5, 1), (0.25, 2)]
    for _ in range(2):
        w.grad = x.grad = 0.0
        value = compiled.backward_batch(members)
        found = [w.grad, x.grad]
        w.grad = x.grad = 0.0
        total = 0.0
        for member in members:
            result = compiled._function(*member)
            result.backward(1.0 / len(members))
            total += result.data
        assert value == pytest.approx(total / len(members), rel=1e-14)
        assert found == pytest.approx([w.grad, x.grad], rel=1e-14)
    assert compiled.value_and_grad(0.25, 1) == pytest.approx((0.5, 2.0))
    assert compiled.value_and_grad([0.25][0], 2)[1] == pytest.approx(rg.grad(lambda a: (w * a * 2).tanh())(0.25))


def prints(x: float) -> float:
    for k in range(3):
        len([k])  # the same module as print
    print(end="")
    return x


def asks_the_time(x: float) -> float:
    math.sqrt(2.0)
    return x + 0.0 * time.time()


def asks_a_class(x: float) -> float:
    date.fromordinal(700_000)
    return x + 0.0 * date.today().year


def writes(x: float) -> float:
    text = io.StringIO()
    text.write("a")
    return x


def draws(x: float) -> float:
    return x + 0.0 * GENERATOR.random()


GENERATOR = random.Random(1)


def starts_a_thread(x: float) -> float:
    thread = threading.Thread(target=lambda: x > 0.5)
    thread.start()
    thread.join()
    return x


def asks_a_thread(x: float) -> float:
    return POOL.submit(lambda: x).result()


POOL = ThreadPoolExecutor(1)
POOL.submit(int).result()  # its thread is there


@pytest.mark.parametrize("in_c", [True, False], ids=["hook", "setprofile"])
@pytest.mark.parametrize(
    "function", [prints, asks_the_time, asks_a_class, writes, draws, starts_a_thread, asks_a_thread]
)
def test_effects_are_heard_in_every_call(function: Any, in_c: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not in_c:
        monkeypatch.setattr(effects, "_SETTER", 0)
    for _ in range(3):
        noted = effects.noting_effects(lambda: function(1.0), function, (1.0,), [GENERATOR])[1]
        assert function.__name__ in noted.first
        assert sys.getprofile() is None


def test_harmless_calls_are_asked_about_once() -> None:
    asked = []

    class Asked(effects._Listener):
        def __call__(self, frame: Any, event: str, called: Any) -> bool:
            asked.append(called.__name__)
            return super().__call__(frame, event, called)

    for _ in range(2):
        asked.clear()
        Asked(effects.Effects(), []).enable()
        try:
            for k in range(4):
                [k].copy()
                math.isqrt(k)
                time.monotonic()
                _ = GENERATOR.random()
        finally:
            sys.setprofile(None)
    assert asked == ["monotonic", "random"] * 4


def test_a_profiler_rests_and_comes_back() -> None:
    events: list[str] = []

    def profiler(frame: Any, event: str, argument: Any) -> None:
        events.append(event)

    sys.setprofile(profiler)
    try:
        effects.noting_effects(lambda: math.isqrt(4), math.isqrt, (), [])
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    outer = effects._Listener(effects.Effects(), [])
    outer.enable()
    try:
        assert effects.noting_effects(lambda: time.time(), time.time, (), [])[1].first
        assert sys.getprofile() is outer
    finally:
        sys.setprofile(None)


def test_an_error_of_the_listener_is_raised_in_the_function() -> None:
    class Failing(effects._Listener):
        def __call__(self, frame: Any, event: str, called: Any) -> bool:
            raise MemoryError

    heard = False
    Failing(effects.Effects(), []).enable()
    try:
        time.time()
    except MemoryError:
        heard = True
    assert heard
    assert sys.getprofile() is None


@pytest.mark.parametrize("in_memory", [True, False])
def test_every_draw_of_a_twister_shows(in_memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The states are read where the generators keep them, or asked for; a second number of a pair is a draw, too."""
    if in_memory:
        assert effects._twister_at is not None
    else:
        monkeypatch.setattr(effects, "_twister_at", None)
    own, numpys = random.Random(3), np.random.RandomState(3)
    before = effects._random_state([own, numpys])
    assert effects._random_state([own, numpys]) == before
    for draw in (random.random, own.random, lambda: own.gauss(0.0, 1.0), lambda: own.gauss(0.0, 1.0), numpys.rand):
        draw()
        after = effects._random_state([own, numpys])
        assert after != before
        before = after


def test_a_generator_with_a_state_of_its_own_is_asked() -> None:
    class Counter(random.Random):
        count = 0

        def random(self) -> float:
            self.count += 1
            return 0.5

        def getstate(self) -> Any:
            return self.count

    own = Counter()
    before = effects._random_state([own])
    own.random()
    assert effects._random_state([own]) != before


def test_a_module_that_is_imported_is_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later, the same calls are heard where the function makes them."""

    def f(x: float) -> float:
        import colorsys

        return x * x + colorsys.rgb_to_yiq(1.0, 1.0, 1.0)[0] + (float(os.path.exists("/")) if x > 2.0 else 0.0)

    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    compiled = rg.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(1.0) == compiled(1.0) == 2.0
    assert compiled.stats().eager == 0
    with pytest.warns(rg.errors.CompileWarning, match="asks the system"):
        assert compiled(3.0) == 11.0


def test_warnings_are_effects() -> None:
    def f(x: float) -> float:
        if x > 1.0:
            warnings.warn("x is large", UserWarning, stacklevel=1)
        return x * x

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        compiled = rg.compile(f)
        assert [compiled(x) for x in (2.0, 2.0, 0.5, 3.0)] == [4.0, 4.0, 0.25, 9.0]
    assert sum(one.category is UserWarning for one in heard) == 3
