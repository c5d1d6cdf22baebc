"""Derivatives that are computed inside a compiled function are part of its program."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Value, engine
from retrograd.compiler.tracing import recorder
from retrograd.ops import OPS, Op

pytestmark = pytest.mark.native  # the reference engine has no compiler


def curved(x: Any) -> Any:
    wave = rg.math.tanh(x[0] * x[1]) * x[2] ** 2 + rg.maximum(x[0], x[1]) * rg.math.sqrt(x[2])
    return wave + rg.logsumexp(x) - rg.prod(x) * rg.math.sigmoid(x[1]) + x[2] ** x[0]


def piecewise(x: Any) -> Any:
    a = rg.where(x[0] > x[1], x[0] * x[1], x[1] * x[2]) + abs(x[0] - 0.3) * x[2]
    b = max(x[0] * 2.0, x[1], x[2] * x[0]) * x[1] + rg.max([x[0] ** 2, x[1], x[2]])
    return a * b + rg.math.relu(x[0] - x[1]) ** 2 + (x[2] * x[2] if x[1] > 0.6 else x[2] ** 3)


TRANSFORMS: dict[str, Callable[..., Any]] = {
    "grad": rg.grad,
    "value_and_grad": rg.value_and_grad,
    "hessian": rg.hessian,
    "jacobian of the gradient": lambda f: rg.jacobian(rg.grad(f)),
    "forward over reverse": lambda f: rg.jacfwd(rg.grad(f)),
    "hvp": lambda f: lambda x: rg.hvp(f, x, [1.0, x[0], 2.0]),
    "jvp": lambda f: lambda x: rg.jvp(f, x, [1.0, x[0], 2.0]),
    "vjp": lambda f: lambda x: rg.vjp(f, x)[1](x[1]),
    "third": lambda f: rg.jacobian(lambda x: rg.hvp(f, x, [1.0, 2.0, -1.0])),
    "inside": lambda f: lambda x: (lambda g: g[0] * g[1] + x[2])(rg.grad(f)(x)),
    "twice": lambda f: rg.grad(lambda x: sum(s * s for s in rg.grad(f)(x))),
}


def flat(tree: Any) -> list[float]:
    return engine.pytree.flatten(tree)[0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [curved, piecewise])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_compiled_derivatives_are_the_functions(transform: str, function: Callable[..., Any]) -> None:
    plain = TRANSFORMS[transform](function)
    compiled = rg.compile(plain)
    draw = random.Random(5)
    for _ in range(24):  # where relu is 0, the third derivative of its square runs as it is
        at = [draw.uniform(0.1, 1.4) for _ in range(3)]
        expected = plain(at)
        found = compiled(at)
        assert flat(found) == pytest.approx(flat(expected), rel=1e-9, abs=1e-10)
        assert type(found) is type(expected)
    assert compiled.stats().hits >= 6


def test_gradients_of_values_are_connected() -> None:
    """A gradient's own gradient is the program's backward pass."""
    slope = rg.grad(curved)
    compiled = rg.compile(slope)
    for _ in range(3):
        both = []
        for f in (slope, compiled):
            x = [Value(number) for number in (0.4, 0.8, 1.1)]
            (f(x)[0] * f(x)[2]).backward()
            both.append([value.grad for value in x])
        assert both[1] == pytest.approx(both[0], rel=1e-10)
    assert compiled.stats().hits >= 3


def test_a_function_that_steps_along_its_gradient() -> None:
    def descended(x: list[Any], rate: float) -> Any:
        for _ in range(3):
            x = [a - rate * s for a, s in zip(x, rg.grad(curved)(x), strict=True)]
        return x

    compiled = rg.compile(descended)
    for k in range(4):
        at = [0.4 + 0.1 * k, 0.8, 1.1]
        assert compiled(at, 0.05) == pytest.approx(descended(at, 0.05), rel=1e-10)
    assert compiled.stats().hits == 4
    assert rg.jacobian(compiled)([0.4, 0.8, 1.1], 0.05)[0] == pytest.approx(
        rg.jacobian(descended)([0.4, 0.8, 1.1], 0.05)[0]
    )


@pytest.mark.parametrize("argnums", [0, 1, -1, (0, 1), (2, 0), "rate"], ids=str)
@pytest.mark.parametrize("transform", [rg.grad, rg.value_and_grad])
def test_a_compiled_gradient_is_the_gradient_of_the_compiled_function(transform: Any, argnums: Any) -> None:
    """One program, run back: not a program of the derivative's own operations."""

    def loss(x: list[Any], scale: float, rate: float = 0.5) -> Any:
        return curved(x) * scale + rg.math.exp(-rate * x[0]) * scale * rate

    plain, outside, inside = transform(loss, argnums), rg.compile(transform(loss, argnums)), rg.compile(loss)
    for k in range(5):
        at = ([0.4 + 0.1 * k, 0.8, 1.1], 1.5 - 0.2 * k, 0.25 * k)
        assert flat(outside(*at)) == flat(transform(inside, argnums)(*at))
        assert flat(outside(*at)) == pytest.approx(flat(plain(*at)), rel=1e-10)
        assert outside(at[0], at[1], rate=at[2]) == outside(*at)
    assert outside.stats().hits >= 8
    assert max(program.nodes for program in outside.stats().programs) < 40  # the gradient's own nodes are more


def test_what_wraps_a_gradient_is_not_the_gradient() -> None:
    slope = rg.grad(curved)

    @functools.wraps(slope)
    def doubled(x: list[Any]) -> list[Any]:
        return [2.0 * s for s in slope(x)]

    at = [0.4, 0.8, 1.1]
    assert rg.compile(doubled)(at) == pytest.approx([2.0 * s for s in slope(at)])
    assert rg.compile(functools.partial(slope, at))() == pytest.approx(slope(at))


def test_the_state_of_the_function_below_is_guarded() -> None:
    scale, w = [2.0], Value(3.0)
    compiled = rg.compile(rg.grad(lambda x: scale[0] * w * x * x))
    assert [compiled(1.0), compiled(2.0)] == [12.0, 24.0]
    scale[0] = 5.0
    assert [compiled(1.0), compiled(2.0)] == [30.0, 60.0]
    w.data = 1.0
    assert compiled(2.0) == 20.0


def test_what_was_selected_is_checked_again() -> None:
    """The recorded derivative flows to what the trace selected; another choice needs another trace."""
    w = [Value(0.5), Value(1.5), Value(-2.0)]
    by_index = rg.compile(lambda x, i: rg.grad(lambda y: rg.take(w, i) * y * y)(x))
    for i in (0, 1, 2, 1):
        assert by_index(3.0, rg.Index(i)) == 6.0 * w[i].data
    first = rg.compile(lambda x: rg.grad(lambda z: max(z[0], z[1], z[2]) ** 2)(x))
    for at in ([1.0, 2.0, 0.5], [3.0, 2.0, 0.5], [1.0, 2.0, 2.5], [2.0, 2.0, 2.0], [0.5, 3.0, 3.0]):
        assert first(at) == rg.grad(lambda z: max(z[0], z[1], z[2]) ** 2)(at)


CHOOSING: dict[str, Callable[..., Any]] = {
    "a number": lambda x, y, i: max(0.0, x[0]) ** 2,
    "the least": lambda x, y, i: min(x[0] * x[0], 0.3, x[1]) * x[0],
    "an argument": lambda x, y, i: max(y, x[0]) ** 2 * x[1],
    "one in another": lambda x, y, i: max(0.0, max(x[0], y * x[0], 0.1)) ** 2 + max(0.0, -x[0]) ** 3,
    "a table's number": lambda x, y, i: max(rg.take([2.0, -5.0, 0.25], i), x[0]) ** 2,
    "one of both": lambda x, y, i: rg.take([x[0] * x[0], 2.0, x[1] ** 3], i) * x[0],
    "in a sum": lambda x, y, i: sum(max(0.0, v - y) ** 2 for v in x),
}


@pytest.mark.parametrize("choosing", CHOOSING.values(), ids=CHOOSING)
@pytest.mark.parametrize("transform", ["hessian", "hvp", "jvp", "jacobian of the gradient", "forward over reverse"])
def test_what_was_not_selected_has_a_derivative_too(choosing: Callable[..., Any], transform: str) -> None:
    """Where a number was the largest in the trace, the derivative is that of a number, until another one is."""
    compiled = rg.compile(choosing)
    derivative = TRANSFORMS[transform]
    for x, y, i in (([-0.6, 0.4], 0.1, 1), ([0.9, 0.2], 0.1, 1), ([-0.5, 0.7], 2.0, 0), ([0.8, 0.7], 0.0, 2)) * 2:

        def at(f: Callable[..., Any], y: float = y, i: int = i) -> Callable[..., Any]:
            return lambda v: f(v, y, rg.Index(i))

        x3 = [*x, 0.5]
        assert flat(derivative(at(compiled))(x3)) == pytest.approx(flat(derivative(at(choosing))(x3)), abs=1e-12)
        if transform == "hessian":
            assert flat(rg.hessian(compiled)(x3, y, rg.Index(i))) == pytest.approx(
                flat(rg.hessian(choosing)(x3, y, rg.Index(i))), abs=1e-12
            )


def test_what_cannot_be_recorded_runs_as_it_is() -> None:
    @rg.primitive(partials=lambda x: 2.0 * x)
    def square(x: float) -> float:
        return x * x

    compiled = rg.compile(lambda x: rg.grad(lambda y: square(y) * y)(x))
    with pytest.warns(rg.errors.CompileWarning, match="primitive"):
        assert compiled(2.0) == 12.0
    assert (compiled(3.0), compiled.stats().hits) == (27.0, 0)
    outermost = rg.compile(rg.grad(lambda x: square(x) * x))  # the program is the function's, which can be recorded
    assert (outermost(2.0), outermost(3.0), outermost.stats().hits) == (12.0, 27.0, 2)
    by_hand = rg.compile(rg.grad(lambda x: Value(x.data**2, (x,), "own", local_grads=(2.0 * x.data,))))
    assert [by_hand(2.0), by_hand(3.0)] == [4.0, 6.0]


@pytest.mark.parametrize("op", [op for op in OPS if isinstance(op, Op)], ids=lambda op: op.name)
def test_second_derivatives_of_each_operator(op: Any) -> None:
    """Compiled at one point, asked at others, where the conditions in the formulas come out differently."""

    def f(x: list[Any]) -> Any:
        return engine.apply(op.name, *x[: op.arity]) * x[-1] + x[0]

    points = [[0.6, 1.7, 0.4], [0.05, 0.9, 1.5], [0.9, 0.2, -0.6], [0.99, 3.0, 0.3]]
    points += [[-0.6, 2.0, 0.4], [1.5, 2.5, 1.0], [0.5, 0.5, 0.5], [2.0, -1.5, 3.0]]
    plain = rg.hessian(f)
    compiled = rg.compile(plain)
    for at in points:
        try:
            expected = np.array(plain(at))
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(at)
            continue
        assert np.array(compiled(at)) == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True)


def test_the_pullback_of_a_compiled_function_runs_its_program() -> None:
    def states(x: Any, scale: Any) -> dict[str, Any]:
        a, b = x
        for _ in range(5):
            a, b = a + 0.1 * (b - a * b), b + 0.1 * (a - scale * b)
        return {"end": [a, b], "constant": 3.0}

    compiled = rg.compile(states)
    cotangent = {"end": [1.0, -2.0], "constant": 1.0}
    for first in (0.5, 0.7, 1.3):
        point = [first, 1.1], 0.4
        outputs, pullback = rg.vjp(compiled, *point)
        expected, plain = rg.vjp(states, *point)
        assert outputs == {"end": pytest.approx(expected["end"], rel=1e-12), "constant": 3.0}
        assert [type(number) for number in outputs["end"]] == [float, float]
        for _ in range(2):
            assert flat(pullback(cotangent)) == pytest.approx(flat(plain(cotangent)), rel=1e-12)
        connected = pullback({"end": [Value(1.0), -2.0], "constant": 1.0})
        assert [type(slope) for slope in flat(connected)] == [Value] * 3
    assert (compiled.stats().hits, compiled.stats().eager) == (3, 0)
    w = Value(2.0)
    _, pullback = rg.vjp(rg.compile(lambda x: [w * x, x * x]), 3.0)
    assert pullback([1.0, 1.0]) == (8.0,)
    assert w.grad == 0.0


TOO_LARGE: dict[str, Callable[..., Any]] = {
    "in the value alone": lambda x: x[0] ** 2 * 3,
    "in what nothing uses": lambda x: [x[0] ** 2, x[0] * 2][1],
    "in a decision": lambda x: x[0] * 2 if x[0] ** 2 > 1 else x[0],
    "in what a decision chooses by": lambda x: rg.where(x[0] ** 2 > 1, x[0] * 2, x[0]),
    "in a denominator": lambda x: 1 / x[0] ** 2,
}


@pytest.mark.parametrize("tier", ["vm", "llvm"])
@pytest.mark.parametrize("transform", [rg.jacobian, rg.hessian])
@pytest.mark.parametrize("place", TOO_LARGE)
def test_a_power_too_large_is_noticed(place: str, transform: Any, tier: Any) -> None:
    """Python raises where a power overflows, whether the derivative depends on that power or not."""
    compiled = rg.compile(transform(TOO_LARGE[place]), tier=tier)
    for number in (1.5, 1.6, 1.7):
        compiled([number])
    with pytest.raises(rg.errors.NumberTooLargeError):
        compiled([1e200])


WITH_ARRAYS: dict[str, Callable[..., Any]] = {
    "grad": lambda x, v: rg.grad(curved)(x),
    "value_and_grad": lambda x, v: rg.value_and_grad(curved)(x),
    "a step": lambda x, v: x - 0.1 * rg.grad(curved)(x) * v,
    "a product": lambda x, v: rg.grad(curved)(x) @ v,
    "a norm": lambda x, v: np.sqrt(np.sum(rg.grad(curved)(x) ** 2)),
    "hvp": lambda x, v: rg.hvp(curved, x, v),
    "jvp": lambda x, v: rg.jvp(curved, x, v),
    "vjp": lambda x, v: rg.vjp(curved, x)[1](v[0]),
    "jacobian": lambda x, v: rg.jacobian(lambda x: x * curved(x))(x) @ v,
    "hessian": lambda x, v: rg.hessian(curved)(x),
    "jacfwd": lambda x, v: rg.jacfwd(rg.grad(curved))(x),
}


@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_derivatives_by_arrays_inside_of_a_compiled_function(name: str) -> None:
    """What a transform returns for an array is an array in a trace, too: of what stands for its numbers."""
    plain = WITH_ARRAYS[name]
    compiled = rg.compile(plain)
    draw = random.Random(7)
    for _ in range(6):
        x, v = (np.array([draw.uniform(0.1, 1.4) for _ in range(3)]) for _ in range(2))
        expected, found = plain(x, v), compiled(x, v)
        assert type(found) is type(expected)
        for one, other in zip(*(t if isinstance(t, tuple) else (t,) for t in (found, expected)), strict=True):
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert compiled.stats().hits >= 4
    assert compiled.stats().eager == 0


def test_so_many_derivatives_are_computed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MOST_STEPS", 20)
    compiled = rg.hessian(rg.compile(curved))
    at = [0.4, 0.8, 1.1]
    with pytest.warns(rg.errors.CompileWarning, match="runs as it is: it takes more than 20 derivatives"):
        assert compiled(at) == rg.hessian(curved)(at)
    runs, run = [], recorder.Recorder.run
    monkeypatch.setattr(recorder.Recorder, "run", lambda self, *about: runs.append(about) or run(self, *about))
    for _ in range(100):  # to find that out takes as long as dozens of calls
        assert compiled(at) == rg.hessian(curved)(at)
    assert not runs


@pytest.mark.parametrize("transform", [rg.jacobian, rg.hessian, rg.jacfwd])
def test_derivatives_where_numbers_are_not_finite_are_the_engine_s(transform: Any) -> None:
    """An infinity times a derivative that is structurally zero adds nothing, and a NaN ties with all others."""
    functions: list[Any] = [
        lambda p: rg.math.relu(p[0]) * (p[1] * p[1]),
        lambda p: rg.maximum(p[0], p[2]) * (p[1] * p[1]),
        lambda p: rg.max(p) * p[0],
    ]
    points = [[-1.0, 1e200, 2.0], [1.0, math.inf, 2.0], [0.0, 1e200, 0.0], [math.nan, 1.0, 2.0], [0.3, 0.1, -0.4]]
    for f in functions:
        compiled = transform(rg.compile(f))
        compiled([0.5, 0.6, 0.7])
        for point in points * 2:
            assert np.array_equal(compiled(point), transform(f)(point), equal_nan=True), (f, point)


NESTED: dict[str, Any] = {
    "max of max": lambda x, i, j: max(max(x[0], 0.3), 0.5) * x[1],
    "through arithmetic": lambda x, i, j: min(3.0 * max(x[0], 0.3) + 0.1, 0.95) * x[1],
    "take of take": lambda x, i, j: rg.take([rg.take([0.1, x[0]], i), 1.0], j) * x[1],
    "max of take": lambda x, i, j: max(rg.take([0.1, x[0]], i), 0.5) * x[1],
    "take of max": lambda x, i, j: rg.take([max(x[0], 0.3), 0.5], i) * x[1],
}


@pytest.mark.parametrize("name", NESTED)
def test_what_a_selection_does_not_choose_may_be_another_selection(name: str) -> None:
    """In the first call nothing that is chosen has a derivative by x[0], and what may be chosen is a choice as well."""
    f = NESTED[name]
    calls = [(x, i, j) for x in (-1.0, 0.9, 0.4) for i in (0, 1) for j in (0, 1)]
    for seed in range(12):
        random.Random(seed).shuffle(calls)
        jacobian = rg.jacobian(rg.compile(lambda x, i, j: [f(x, i, j)]))
        tangent = rg.compile(lambda x, i, j: rg.jvp(lambda z: f(z, i, j), (x,), ([1.0, 1.0],))[1])
        for first, i, j in calls:
            x, at = [first, 2.0], (rg.Index(i), rg.Index(j))
            (wanted,) = rg.jacobian(lambda x, i, j: [f(x, i, j)])(x, *at)
            assert jacobian(x, *at) == [wanted], (seed, first, i, j)
            assert tangent(x, *at) == pytest.approx(sum(wanted)), (seed, first, i, j)


def test_a_function_tells_of_its_derivatives_that_answer_the_calls() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * y * y if y > 0.0 else x

    by_argument, by_keyword, curved_twice = rg.compile(f), rg.compile(f), rg.compile(lambda x: x[0] * x[1])
    assert [rg.grad(by_argument, argnums=1)(2.0, y) for y in (3.0, 4.0)] == [12.0, 16.0]
    assert [by_keyword(x=x, y=3.0) for x in (1.0, 2.0)] == [9.0, 18.0]
    assert [rg.hessian(curved_twice)([x, 2.0])[0] for x in (1.0, 2.0)] == [[0.0, 1.0], [0.0, 1.0]]
    for told in (by_argument, by_keyword, curved_twice):
        assert (told.stats().hits, told.stats().traces, told.tier) == (2, 1, told.stats().programs[0].tier)
        assert "return" in told.program()
    assert "test_derivative_programs.py" in by_argument.guards()
    assert [by_argument(2.0, 3.0) for _ in range(3)] == [18.0] * 3
    assert by_argument.stats().hits == 3  # the function's own: they are the most now
