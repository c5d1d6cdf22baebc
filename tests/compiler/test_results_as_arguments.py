"""Arguments that are results of operations: a call passes its gradient on to what they depend on."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.outcomes import outcome

import retrograd as rg
from retrograd import Value
from retrograd import math as rm

pytestmark = pytest.mark.native  # the reference engine has no compiler


def layer(xs: list[Any], weights: list[Any]) -> list[Any]:
    return [rm.tanh(sum(w * x for w, x in zip(weights[3 * i :], xs, strict=False))) for i in range(3)]


def score(xs: list[Any], w: Any) -> Any:
    return xs[0] * w + rm.sin(xs[1]) * xs[2] * w


def flips(x: Any, y: Any) -> Any:
    return x * x * y if x > y else x - y * x


def gradients(root: Any, leaves: list[Value]) -> list[float]:
    for leaf in leaves:
        leaf.grad = 0.0
    root.backward()
    return [leaf.grad for leaf in leaves]


def test_compiled_functions_take_each_other_s_results() -> None:
    weights = [Value(0.1 * k - 0.4) for k in range(10)]
    first, last = rg.compile(lambda xs: layer(xs, weights)), rg.compile(score)
    draw = random.Random(1)
    for _ in range(20):
        xs = [draw.gauss(0.0, 1.0) for _ in range(3)]
        chained = last(first(first(xs)), weights[9] * 2.0)
        plain = score(layer(layer(xs, weights), weights), weights[9] * 2.0)
        assert chained.data == pytest.approx(plain.data, rel=1e-12)
        assert gradients(chained, weights) == pytest.approx(gradients(plain, weights), rel=1e-10)
    assert (first.stats().eager, last.stats().eager) == (0, 0)
    assert last.stats().traces == 1


def test_a_result_and_what_it_depends_on_are_arguments() -> None:
    """The gradient of one contains that of the other, when a program is compared with the function."""
    w = Value(1.3)
    compiled = rg.compile(lambda x, y: x * y * w + rm.exp(x) * y)
    for k in range(8):
        w.data = 1.0 + 0.1 * k
        u = w * 2.0
        v = u * u + w
        found, expected = compiled(u, v), u * v * w + rm.exp(u) * v
        assert gradients(found, [w]) == pytest.approx(gradients(expected, [w]), rel=1e-12)
        same, twice = compiled(u, u), u * u * w + rm.exp(u) * u
        assert gradients(same, [w]) == pytest.approx(gradients(twice, [w]), rel=1e-12)
    assert compiled.stats().eager == 0


def test_branches_flip_with_results() -> None:
    w, compiled, draw = Value(0.7), rg.compile(flips), random.Random(2)
    for _ in range(30):
        w.data, k = draw.gauss(0.0, 1.0), draw.gauss(0.0, 1.0)
        found, expected = compiled(w * k, w + k), flips(w * k, w + k)
        assert (found.data, *gradients(found, [w])) == pytest.approx((expected.data, *gradients(expected, [w])))
    assert compiled.stats().eager == 0


def test_several_results_of_results() -> None:
    w, compiled = Value(0.7), rg.compile(lambda x, y: {"a": x * y, "b": [rm.sin(x), y * 2.0]})
    for k in range(6):
        w.data = 0.3 * k + 0.1
        found, x, y = compiled(w * w, w + 1.0), w * w, w + 1.0
        total = found["a"] * 2.0 + found["b"][0] - found["b"][1] * w
        expected = x * y * 2.0 + rm.sin(x) - y * 2.0 * w
        assert gradients(total, [w]) == pytest.approx(gradients(expected, [w]), rel=1e-12)
    assert compiled.stats().eager == 0


def test_many_parameters_and_no_recording() -> None:
    """With many parameters the derivatives of a call wait, unless Values are among the arguments."""
    weights = [Value(0.01 * k) for k in range(60)]
    compiled = rg.compile(lambda x: sum(w * x * (k + 1.0) for k, w in enumerate(weights)))
    v = Value(2.0)
    for _ in range(5):
        u = v * 3.0
        found, expected = compiled(u), sum(w * u * (k + 1.0) for k, w in enumerate(weights))
        assert gradients(found, [v, *weights]) == pytest.approx(gradients(expected, [v, *weights]), rel=1e-12)
    with rg.no_grad():
        assert compiled(v * 3.0).data == pytest.approx(found.data)
    assert rg.grad(lambda x: compiled(x * 3.0))(2.0) == pytest.approx(v.grad)
    assert rg.hessian(lambda x: flips(x[0] * 2.0, x[1]))([1.0, 0.5]) == rg.hessian(
        lambda x: rg.compile(flips)(x[0] * 2.0, x[1])
    )([1.0, 0.5])


def test_batches_and_passes_run_the_function_where_they_must() -> None:
    w = Value(1.5)
    compiled, plain = rg.compile(lambda x, y: x * y * w), lambda x, y: x * y * w
    results = compiled.call_batch([(w * 2.0, 1.0), (w * 3.0, 2.0), (w * 4.0, 0.5)])
    expected = [plain(w * 2.0, 1.0), plain(w * 3.0, 2.0), plain(w * 4.0, 0.5)]
    assert gradients(sum(results), [w]) == pytest.approx(gradients(sum(expected), [w]))
    w.grad = 0.0
    with pytest.warns(rg.errors.CompileWarning, match="result of an operation"):
        assert compiled.backward(w * 2.0, 3.0) == pytest.approx(13.5)
    assert w.grad == pytest.approx(18.0)
    assert compiled.value_and_grad(w * 2.0, 3.0) == pytest.approx((13.5, 4.5))


def test_who_asks_which_object_it_is_gets_the_value_itself() -> None:
    w = Value(1.5)
    compiled = rg.compile(lambda x, y: x * 2.0 if x is y else x * y)
    u = w * 3.0
    for _ in range(3):
        assert gradients(compiled(u, u), [w]) == [6.0]
        assert gradients(compiled(u, w * 1.0), [w]) == pytest.approx([9.0])


def test_a_state_and_what_is_computed_from_it_are_handed_on() -> None:
    """One result is computed from the other, and an argument from another argument; lists change before the pass."""

    def cell(h: Any, w: Any, window: list[float]) -> Any:
        h = rm.tanh(w * h + 0.3 * window[0] + 0.1 * window[1])
        return h, h * w

    def run(step: Any) -> tuple[float, float, float]:
        w, h, total = rg.Value(0.7), rg.Value(0.1), rg.Value(0.0)
        first, window = h, [0.0, 0.0]
        for x in (0.5, -0.2, 0.9):
            window[0], window[1] = x, window[0]
            h, y = step(h, w, window)
            total = total + y * y
        total.backward()
        return w.grad, first.grad, h.grad

    compiled = rg.compile(cell)
    for _ in range(4):
        assert run(compiled) == pytest.approx(run(cell), rel=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x if x > 0.0 else y,
        lambda x, y: rg.math.log(x) if x > 0.0 else y,
        lambda x, y: max(x, y),
        lambda x, y: [y, x * y, 2.0],
    ],
)
def test_a_value_that_is_returned_as_it_is_inside_no_grad(function: Any) -> None:
    def outcomes(call: Any, numbers: list[float]) -> list[Any]:
        x, y = map(Value, numbers)
        with rg.no_grad():
            found = call(x, y)
        passed = []
        for one in found if type(found) is list else [found]:
            if isinstance(one, Value):
                passed.append(outcome(one.backward))
        return [*passed, x.grad, y.grad]

    compiled, draw = rg.compile(function), random.Random(4)
    for _ in range(20):
        numbers = [draw.uniform(-1.0, 1.0) for _ in "xy"]
        assert outcomes(compiled, numbers) == outcomes(function, numbers)
    assert compiled.stats().traces > 0
