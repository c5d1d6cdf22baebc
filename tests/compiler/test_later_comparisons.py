"""A program is compared with its function in a few later calls, too: what it lacks may not show in the first one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.compiler.calls.eager import Method, Result
from retrograd.compiler.comparison import Comparisons
from retrograd.compiler.reports.reasons import Reason

pytestmark = [pytest.mark.native, pytest.mark.drops_programs]

ARRAY = np.array([1.5, -0.5])


def asks(weight: Any, scale: float, array: Any) -> Any:
    """What a trace answers otherwise, since arrays of tracers are arrays of objects; it shows if scale is not 0."""
    return weight * (1.0 + scale * (array.dtype != object)) + array[0]


def plain_runs(code: Any, run: Callable[[], Any]) -> int:
    """How often a function of this code is called meanwhile."""
    calls = 0

    def note(frame: Any, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is code

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("method", ["call", "backward", "value_and_grad"])
def test_what_the_first_call_hides_is_found_in_the_second(method: str) -> None:
    compiled = rg.compile(asks)
    found, expected = [], []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for weight, scale in [(2.0, 0.0), (3.0, 1.0), (5.0, 1.0), (5.0, 0.0)]:
            ours, theirs = rg.Value(weight), rg.Value(weight)
            if method == "call":
                found.append(compiled(ours, scale, ARRAY).data)
                expected.append(asks(theirs, scale, ARRAY).data)
            elif method == "backward":
                found.append((compiled.backward(ours, scale, ARRAY), ours.grad))
                result = asks(theirs, scale, ARRAY)
                result.backward()
                expected.append((result.data, theirs.grad))
            else:
                found.append(compiled.value_and_grad(weight, scale, ARRAY))
                expected.append(rg.value_and_grad(asks)(weight, scale, ARRAY))
    assert found == expected
    assert [one.category for one in warned] == [rg.errors.CompileWarning]
    stats = compiled.stats()
    assert not stats.programs
    assert stats.traces == 1
    assert {cause.reason: count for cause, count in stats.causes.items() if cause.reason.runs_eagerly} == {
        Reason.DIFFERS: 3
    }


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_the_members_of_a_batch_are_compared() -> None:
    compiled = rg.compile(asks)
    members = [(2.0, 0.0, ARRAY), (2.0, 0.0, ARRAY), (4.0, 1.0, ARRAY)]
    assert compiled.call_batch(members) == [asks(*member) for member in members]
    weight = rg.Value(3.0)
    batch = [(weight, scale, ARRAY) for scale in (0.0, 0.0, 1.0)]
    mean = rg.compile(asks).backward_batch(batch)
    assert mean == pytest.approx(sum(asks(3.0, scale, ARRAY) for _, scale, _ in batch) / 3, rel=1e-15)
    assert weight.grad == pytest.approx(4.0 / 3, rel=1e-15)


def test_inside_no_grad_the_answer_is_a_value_without_operands() -> None:
    compiled, weight = rg.compile(asks), rg.Value(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rg.errors.CompileWarning)
        with rg.no_grad():
            compiled(weight, 0.0, ARRAY)
            found = compiled(weight, 1.0, ARRAY)
    assert (found.data, found._children) == (5.5, ())
    with pytest.raises(rg.errors.MissingDerivativeError, match="inside no_grad"):
        found.backward()
    assert weight.grad == 0.0


def test_the_function_runs_twice_more() -> None:
    def square(x: float) -> float:
        return x * x

    compiled = rg.compile(square)
    runs = plain_runs(square.__code__, lambda: [compiled(float(k)) for k in range(40)])
    assert runs == 1 + 2  # in the first call, beside the trace, and in two more
    assert (compiled.stats().hits, compiled.stats().eager, compiled.stats().traces) == (40, 0, 1)


def test_a_call_is_compared_once_though_its_numbers_change_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread changes them, that trains; the program was lost to the call, which then ran on the engine."""
    weight = rg.Value(1.0)
    compiled = rg.compile(lambda x: weight * x)
    for _ in range(20):
        compiled.backward(3.0)
    weight.data = 2.0
    plainly = Comparisons.compare

    def compare(self: Comparisons, method: Method, arguments: tuple[Any, ...]) -> Result | None:
        found = plainly(self, method, arguments)
        weight.data += 1.0
        return found

    monkeypatch.setattr(Comparisons, "compare", compare)
    assert compiled.backward(3.0) == 9.0
    assert weight.data == 3.0
    assert weight.grad == 21 * 3.0
    assert not any(cause.reason.runs_eagerly for cause in compiled.stats().causes)


def test_calls_with_the_same_result_are_not_compared() -> None:
    def square(x: float) -> float:
        return x * x

    compiled = rg.compile(square)
    assert plain_runs(square.__code__, lambda: [compiled(3.0) for _ in range(40)]) == 1


def test_what_the_function_raises_then_is_raised() -> None:
    def picky(x: float, array: Any) -> float:
        if x > 2.5 and array.dtype != object:
            raise ValueError("too large")
        return x * float(array.shape[0])

    compiled = rg.compile(picky)
    assert compiled(1.0, ARRAY) == 2.0
    assert compiled(2.0, ARRAY) == 4.0
    with pytest.raises(ValueError, match="too large"):
        compiled(3.0, ARRAY)


def test_gradients_that_are_rounding_errors_are_no_difference() -> None:
    xs = [0.1 * k for k in range(1, 40)]

    def loss(w: Any, b: Any) -> Any:
        return sum((w * x + b - (3.0 * x + 0.7)) ** 2 for x in xs)

    compiled = rg.compile(loss)
    for k in range(7):
        compiled.value_and_grad(1.0 + k, 0.1)
    for _ in range(30):  # among them the second comparison, at the optimum
        value, _ = compiled.value_and_grad(3.0, 0.7)
        assert value < 1e-25
    assert compiled.stats().eager == 0
    assert len(compiled.stats().programs) == 1


@pytest.mark.parametrize("verify", [0, 1])
def test_one_value_in_two_places_is_not_compared(verify: int) -> None:
    x, y = rg.Value(3.0), rg.Value(4.0)
    compiled = rg.compile(lambda a, b: a * a * b, verify=verify)
    for one, other in ((x, y), (x, x), (y, y), (y, x)):
        x.grad = y.grad = 0.0
        assert compiled.backward(one, other) == one.data**2 * other.data
        found = x.grad, y.grad
        x.grad = y.grad = 0.0
        (one * one * other).backward()
        assert found == (x.grad, y.grad)
    assert compiled.stats().eager == 0


@pytest.mark.parametrize("tier", ["auto", "vm", "llvm"])
def test_sums_that_cancel_are_no_difference(tier: Any) -> None:
    """What is compared later is the trace, which rounds as the engine does."""

    def cancels(xs: list[Any], scale: float) -> Any:
        total = 0.0 * xs[0]
        for k, x in enumerate(xs):
            total = total + x * (scale if k % 2 else -scale) + x
        return total

    compiled = rg.compile(cancels, tier=tier)
    for k in range(40):
        compiled.value_and_grad([1.0 + 1e-9 * k * i for i in range(40)], 0.0 if k == 0 else 1e17)
    assert compiled.stats().eager == 0
    assert len(compiled.stats().programs) == 1
