"""Taped code takes over the calls of a compiled function that no program answers, and gives them back where it must."""

from __future__ import annotations

import random
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import retrograd as rg
from retrograd.engine import ENGINE
from retrograd.engine.pytree import flatten
from retrograd.errors import CompileWarning

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.taped import answers, taped_calls


def walk(xs: list[Any], rate: Any, limit: float = 1.0) -> Any:
    """No two calls go the same way, and a slice where data say is no selection."""
    total, rest = 0.0, list(xs)
    while rest:
        k = 1
        while k < len(rest) and rest[k - 1] < rest[k]:
            k += 1
        head, rest = rest[:k], rest[k:]
        best = max(head)
        total += rate * best * best if best > limit else sum(head) * k
    return total


def drawn(seed: int, count: int = 12) -> tuple[list[float], float]:
    source = random.Random(seed)
    return [source.uniform(-2.0, 2.0) for _ in range(count)], source.uniform(0.5, 1.5)


def taken_over(call: Callable[[int], object], compiled: Any, calls: int = 60) -> None:
    for seed in range(calls):
        call(seed)
    assert compiled.stats().taped_hits > 0
    assert compiled.tier == "taped"


def test_value_and_gradient() -> None:
    compiled = rg.compile(walk, tier="llvm")
    for seed in range(80):
        arguments = drawn(seed)
        value, gradient = rg.value_and_grad(compiled)(*arguments)
        wanted, its = rg.value_and_grad(walk)(*arguments)
        assert value == pytest.approx(wanted, rel=1e-14)
        assert gradient == pytest.approx(its, rel=1e-12)
    stats = compiled.stats()
    assert stats.taped_hits > 30
    assert stats.hits + stats.eager >= 80
    assert "taped code, with the function's own branches and loops" in str(stats)
    assert compiled.tier == "taped"


def test_gradients_of_other_arguments_and_by_keyword() -> None:
    compiled = rg.compile(walk, tier="llvm")
    both = rg.value_and_grad(compiled, argnums=(0, 1))
    for seed in range(70):
        xs, rate = drawn(seed)
        found, wanted = both(xs, rate), rg.value_and_grad(walk, argnums=(0, 1))(xs, rate)
        assert found[0] == pytest.approx(wanted[0], rel=1e-14)
        assert found[1][1] == pytest.approx(wanted[1][1], rel=1e-12)
        assert compiled.value_and_grad(xs, limit=0.5, rate=rate)[0] == pytest.approx(walk(xs, rate, 0.5), rel=1e-14)
    assert compiled.stats().taped_hits > 0


def test_a_pass_adds_to_the_gradients_of_parameters() -> None:
    rate, ours = rg.Value(0.8), rg.Value(0.8)
    compiled = rg.compile(lambda xs: walk(xs, rate, 0.0), tier="llvm")
    for seed in range(70):
        xs = drawn(seed)[0]
        value = compiled.backward(xs)
        result = walk(xs, ours, 0.0)
        if isinstance(result, rg.Value):
            result.backward()
        assert value == pytest.approx(float(getattr(result, "data", result)), rel=1e-15)
        assert rate.grad == pytest.approx(ours.grad, rel=1e-12)
        if seed % 10 == 9:
            rate.data = ours.data = rate.data + 0.1
    assert compiled.stats().taped_hits > 0


def test_members_of_a_batch() -> None:
    rate, ours = rg.Value(0.8), rg.Value(0.8)
    compiled = rg.compile(lambda xs: walk(xs, rate, 0.0) + 0.0 * rate, tier="llvm")
    for start in range(0, 400, 8):
        members = [(drawn(start + i, 8 + i)[0],) for i in range(8)]
        total = sum(walk(xs, ours, 0.0) + 0.0 * ours for (xs,) in members) / 8.0
        total.backward()
        assert compiled.backward_batch(members) == pytest.approx(total.data, rel=1e-12)
        assert rate.grad == pytest.approx(ours.grad, rel=1e-12)
    assert compiled.stats().taped_hits > 100
    before = rate.grad
    with pytest.raises(TypeError):
        compiled.backward_batch([*members, ([1.0, "a"],)])
    assert rate.grad == before


@pytest.mark.parametrize("make", [rg.optim.SGD, rg.optim.Adam])
def test_the_steps_of_an_optimizer_are_seen(make: Any) -> None:
    ours, theirs = [rg.Value(0.4 * k - 1.0) for k in range(8)], [rg.Value(0.4 * k - 1.0) for k in range(8)]
    compiled = rg.compile(walk, tier="llvm")
    steps = [make(values, lr=0.003) for values in (ours, theirs)]
    for seed in range(90):
        value, result = compiled.backward(ours, drawn(seed)[1]), walk(theirs, drawn(seed)[1])
        result.backward()
        assert value == pytest.approx(result.data, rel=1e-9)
        assert [one.grad for one in ours] == pytest.approx([one.grad for one in theirs], rel=1e-9)
        for one, other, number in zip(ours, theirs, drawn(seed)[0], strict=False):
            one.data = other.data = number  # else their order, and so the way, stays the same
        for step in steps:
            step.step()
            step.zero_grad()
    assert compiled.stats().taped_hits > 0


class Point(NamedTuple):
    x: Any
    y: Any


def test_gradients_have_the_structure_of_the_argument() -> None:
    def of(p: Any, xs: list[float]) -> Any:
        rows = [one for row in p["rows"] for one in row]
        return walk([*rows, *p["array"], p["point"].x, p["point"].y * p["pair"][0], *xs], p["pair"][1])

    compiled = rg.compile(of, tier="llvm")
    for seed in range(80):
        xs, rate = drawn(seed)
        p = {"rows": [xs[:2], xs[2:5]], "point": Point(0.3, 1), "pair": (0.7, rate), "array": np.array(xs[5:8])}
        (value, found), (wanted, its) = compiled.value_and_grad(p, xs[8:]), rg.value_and_grad(of)(p, xs[8:])
        assert value == pytest.approx(wanted, rel=1e-14)
        assert list(found) == list(its)
        assert type(found["point"]) is Point
        assert type(found["array"]) is np.ndarray
        assert [type(one) for one in found["rows"]] == [list, list]
        assert flatten(found)[0] == pytest.approx(flatten(its)[0], rel=1e-12)
    assert compiled.stats().taped_hits > 30


def test_plain_calls_give_pythons_own_numbers() -> None:
    def steps(xs: list[float], wants_count: bool) -> Any:
        total, n = 0.0, 0
        for x in xs:
            while x > 0.3:
                x, n = x * 0.6, n + 1
            total += x
        return n if wants_count else total

    compiled = rg.compile(steps, tier="llvm")
    for seed in range(70):
        xs = drawn(seed)[0]
        found = compiled(xs, False)
        assert found == pytest.approx(steps(xs, False), rel=1e-14)
        assert type(found) is float


def test_a_plain_call_of_values_gives_a_node() -> None:
    compiled, layer = rg.compile(walk, tier="llvm"), rg.Value(0.3)
    for seed in range(70):
        xs, rate = drawn(seed)
        one, other = rg.Value(rate), rg.Value(rate)
        found, wanted = compiled(xs, one * layer), walk(xs, other * layer)
        assert type(found) is type(wanted)
        numbers = [getattr(one, "data", one) for one in (found, wanted)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-14)
        if isinstance(found, rg.Value):
            assert rg.gradient(found, [one, layer]) == pytest.approx(rg.gradient(wanted, [other, layer]), rel=1e-12)
            ours = rg.gradient(found * found, [one], create_graph=True)
            theirs = rg.gradient(wanted * wanted, [other], create_graph=True)
            assert rg.gradient(ours[0], [layer]) == pytest.approx(rg.gradient(theirs[0], [layer]), rel=1e-9)
            with rg.no_grad():
                compiled(xs, one)
    assert compiled.stats().taped_hits > 20


def test_a_plain_call_of_a_value_that_was_computed_of_another() -> None:
    compiled = rg.compile(walk, tier="llvm")
    for seed in range(70):
        xs, rate = drawn(seed)
        values = [rg.Value(x) for x in xs]
        values[1] = values[0] * 0.5 + values[2]
        assert rg.gradient(compiled(values, rate), values) == pytest.approx(rg.gradient(walk(values, rate), values))
    assert compiled.stats().taped_hits > 20


class Model:
    def __init__(self) -> None:
        self.rate, self.limits = 0.7, [0.5, 1.5]

    @rg.compile
    def loss(self, xs: list[Any]) -> Any:
        return walk(xs, self.rate, self.limits[1])


def test_methods_and_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taped_calls, "_FIRST", 8)
    model = Model()
    compiled = rg.compile(model.loss.scalar_function, tier="llvm")
    for seed in range(90):
        xs = drawn(seed)[0]
        if seed % 30 == 20:
            model.rate += 0.1
            model.limits[1] -= 0.2
        assert compiled.value_and_grad(xs)[0] == pytest.approx(walk(xs, model.rate, model.limits[1]), rel=1e-14)
    assert compiled.stats().taped_hits > 20


SCALE = [1.0]


def test_captured_state_of_now() -> None:
    compiled = rg.compile(lambda xs: walk(xs, SCALE[0], 0.5), tier="llvm")
    try:
        for seed in range(90):
            SCALE[0] = 1.0 + seed // 30
            xs = drawn(seed)[0]
            assert compiled.value_and_grad(xs)[0] == pytest.approx(walk(xs, SCALE[0], 0.5), rel=1e-14)
        assert compiled.stats().taped_hits > 30
    finally:
        SCALE[0] = 1.0


def test_lists_of_any_length_and_other_types() -> None:
    compiled = rg.compile(walk, tier="llvm")
    for seed in range(160):
        xs, rate = drawn(seed, count=seed % 9)
        given = [int(4 * x) for x in xs] if seed % 2 else xs
        value, gradient = compiled.value_and_grad(given, rate)
        wanted, its = rg.value_and_grad(walk)(given, rate)
        assert value == pytest.approx(wanted, rel=1e-14)
        assert gradient == pytest.approx(its, rel=1e-12)
    assert compiled.stats().taped_hits > 60


def test_exceptions_are_the_functions_own() -> None:
    def risky(xs: list[Any], rate: float) -> Any:
        total = walk(xs, rate)
        return total / (len(xs) - 5) if xs[0] < 2.5 else xs[99]

    compiled = rg.compile(risky, tier="llvm")
    for seed in range(80):
        compiled.value_and_grad(*drawn(seed))
    assert compiled.stats().taped_hits > 0
    with pytest.raises(ZeroDivisionError):
        compiled.value_and_grad([0.1, 0.2, 0.3, 0.2, 0.1], 1.0)
    with pytest.raises(IndexError):
        compiled.value_and_grad([2.95] * 7, 1.0)


def test_what_gives_other_numbers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers.Answers, "_is_right", lambda *of: False)
    compiled = rg.compile(walk, tier="llvm")

    def call() -> None:
        for seed in range(80):
            value = compiled.value_and_grad(*drawn(seed))[0]
            assert value == pytest.approx(walk(*drawn(seed)), rel=1e-14)

    with pytest.warns(CompileWarning, match="its code gave other numbers than it does"):
        call()
    assert compiled.stats().taped_hits == 0


def test_a_warning_says_what_has_no_taped_code() -> None:
    def told(xs: list[Any], rate: float) -> Any:
        text = f"{rate:.2f}"
        return walk(xs, rate) if text else 0.0

    def call() -> None:
        for seed in range(300):
            compiled.value_and_grad(*drawn(seed))

    compiled = rg.compile(told, tier="llvm")
    with pytest.warns(CompileWarning, match="could not be made either: it formats a text"):
        call()


def test_code_that_is_faster_takes_the_calls_of_a_program() -> None:
    """A program of both arms computes for each band what one band wants; nothing is said of which is faster here."""

    def taxed(xs: list[Any], bands: list[float]) -> Any:
        total = 0.0
        for x in xs:
            left, rate = x * 10.0, 0.1
            for band in bands:
                if left <= band:
                    break
                total += rate * band
                left, rate = left - band, rate + 0.05
            total += rate * left * left
        return total

    compiled = rg.compile(taxed, tier="llvm")
    bands = [0.5 + 0.1 * k for k in range(30)]
    for seed in range(3000):
        xs = drawn(seed % 50)[0]
        (value, gradient), (wanted, its) = compiled.value_and_grad(xs, bands), rg.value_and_grad(taxed)(xs, bands)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert gradient == pytest.approx(its, rel=1e-12)
    stats = compiled.stats()
    assert stats.hits + stats.eager >= 3000
    assert compiled.tier in ("taped", "llvm")


def test_where_code_is_given_up_the_warning_comes_then() -> None:
    def bumpy(xs: list[Any], rate: float) -> Any:
        total = rate
        for x in xs:
            try:
                if total * x > 0.1:
                    raise ArithmeticError
                total = total - x
            except ArithmeticError:
                total = total * 0.9 + x
        return total

    def call() -> None:
        for seed in range(6000):
            compiled.value_and_grad(*drawn(seed))

    compiled = rg.compile(bumpy, tier="llvm")
    with pytest.warns(CompileWarning, match="it changes what it is given, raises, or gives numbers"):
        call()
    assert compiled.tier == "eager"


def test_where_there_is_code_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        compiled = rg.compile(walk, tier="llvm")
        for seed in range(120):
            compiled.value_and_grad(*drawn(seed))
        for seed in range(120, 400):
            compiled.value_and_grad(*drawn(seed))
        compiled.clear()
        assert compiled.stats().taped_hits == 0
        for seed in range(120):
            compiled.value_and_grad(*drawn(seed))
        assert compiled.stats().taped_hits > 0


@pytest.mark.parametrize("options", [{"tier": "vm"}, {"exact": True}, {"verify": 7}], ids=str)
def test_where_other_code_was_asked_for_there_is_none(options: Any) -> None:
    compiled = rg.compile(walk, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for seed in range(80):
            assert compiled.value_and_grad(*drawn(seed))[0] == pytest.approx(walk(*drawn(seed)))
    assert compiled.stats().taped_hits == 0


def test_threads_share_it() -> None:
    compiled = rg.compile(walk, tier="llvm")
    taken_over(lambda seed: compiled.value_and_grad(*drawn(seed)), compiled)
    wrong: list[int] = []

    def work(first: int) -> None:
        for seed in range(first, first + 50):
            if compiled.value_and_grad(*drawn(seed))[0] != pytest.approx(walk(*drawn(seed)), rel=1e-14):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


def test_inside_a_transform_the_function_itself_is_differentiated() -> None:
    compiled = rg.compile(walk, tier="llvm")
    taken_over(lambda seed: compiled.value_and_grad(*drawn(seed)), compiled)
    xs, rate = drawn(3)
    slope = rg.grad(lambda r: compiled(xs, r))(rate)
    assert slope == pytest.approx(rg.grad(lambda r: walk(xs, r))(rate))


def test_what_runs_most_calls_is_told() -> None:
    """Programs that answer no call but their own are not what runs."""
    compiled = rg.compile(walk, tier="vm")
    for seed in range(300):
        compiled.value_and_grad(*drawn(seed))
    assert compiled.tier == "eager"


def test_not_all_programs_are_listed() -> None:
    compiled = rg.compile(lambda xs: sum(x * x for x in xs), tier="vm")
    for count in (*range(2, 14), *range(2, 14)):
        compiled.value_and_grad([0.5] * count)
    stats = compiled.stats()
    assert len(stats.programs) == 12
    assert str(stats).count(" nodes,") == 8
    assert "  4 more programs: 8 hits" in str(stats)
