"""Several results: a tree of Values and numbers out of one program, whose nodes share one backward pass."""

from __future__ import annotations

import functools
import gc
import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import retrograd as rg
from retrograd import Value
from retrograd.errors import ChangedValueError, CompileWarning

pytestmark = pytest.mark.native  # the reference engine has no compiler

KINDS = {
    "compiled": rg.compile,
    "exact": functools.partial(rg.compile, exact=True),
    "vm": functools.partial(rg.compile, tier="vm"),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def compiled(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return request.param  # type: ignore[no-any-return]


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class State:
    position: Any
    speed: Any
    name: str = "s"


def plain(tree: Any, expected: bool = False) -> Any:
    """A tree that can be compared with one that is ``expected``, with Values told from numbers."""
    if isinstance(tree, Value):
        return "Value", plain(tree.data, expected)
    if isinstance(tree, State):
        return State, plain(tree.position, expected), plain(tree.speed, expected), tree.name
    if isinstance(tree, dict):
        return {key: plain(item, expected) for key, item in tree.items()}
    if isinstance(tree, np.ndarray):
        return tree.shape, tree.dtype, [plain(item, expected) for item in tree.ravel().tolist()]
    if isinstance(tree, (list, tuple)):
        return [type(tree), *(plain(item, expected) for item in tree)]
    return type(tree), pytest.approx(tree, rel=1e-12, nan_ok=True) if expected and type(tree) is float else tree


W = Value(0.5)
LAYER = rg.nn.Linear(1, 1)
TREES: dict[str, Callable[..., Any]] = {
    "list": lambda x, v: [x * v, v + 1.0],
    "tuple": lambda x, v: (v.tanh(), x),
    "named tuple": lambda x, v: Pair(x * 2.0, v * W),
    "dictionary": lambda x, v: {"a": v * v, "b": {"c": x - 1.0, "d": [v * W]}},
    "dataclass": lambda x, v: State(v * x, x),
    "constants": lambda x, v: (v * x, 2.0, 3, True, None),
    "the same twice": lambda x, v: (lambda y: [y, y, y * x])(v * v),
    "a leaf": lambda x, v: [v, W, v * W],
    "made inside": lambda x, v: [Value(3.0), v * 2.0],
    "one item": lambda x, v: [v * x],
    "array of Values": lambda x, v: np.array([v * x, v + x]),
    "selected": lambda x, v: [max(v, W), min(x, 1.0), rg.where(v > W, v, x * v)],
    "softmax": lambda x, v: rg.softmax([v, W, x * v]),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_the_functions(compiled: Callable[..., Any], name: str) -> None:
    f, g = TREES[name], compiled(TREES[name])
    for x, number in ((1.5, 0.7), (0.5, 0.7), (-0.5, 1.2)):
        v, u = Value(number), Value(number)
        theirs, ours = f(x, v), g(x, u)
        assert plain(ours) == plain(theirs, True)
        slopes = []
        for tree, leaf in ((theirs, v), (ours, u)):
            W.grad = 0.0
            total = rg.sum([value * (k + 1.5) for k, value in enumerate(values_of(tree))])
            total.backward()
            slopes.append((leaf.grad, W.grad))
        assert slopes[1] == pytest.approx(slopes[0], rel=1e-12)
    assert g.stats().hits >= 2


def values_of(tree: Any) -> list[Value]:
    if isinstance(tree, Value):
        return [tree]
    if isinstance(tree, State):
        return values_of(tree.position) + values_of(tree.speed)
    items = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple, np.ndarray)) else ()
    return [value for item in items for value in values_of(item)]


def test_numbers_give_numbers_and_arrays(compiled: Callable[..., Any]) -> None:
    f = compiled(lambda x: [x[0] * x[1], x[1] + 1.0])
    assert [f([2.0, k]) for k in (3.0, 4.0)] == [[6.0, 4.0], [8.0, 5.0]]
    g = compiled(lambda x: x * 2.0)
    for _ in range(2):
        result = g(np.array([1.0, 2.0]))
        assert result.dtype == np.float64
        assert result.tolist() == [2.0, 4.0]
        result[0] = 7.0  # it is the caller's
    assert g.stats().hits == 2


def test_one_pass_for_all_results() -> None:
    """The program runs back once, however many of its results a loss is made of."""
    f = rg.compile(lambda x: [x * W, rg.math.exp(x), x + W])
    x = Value(0.3)
    results = f(x)
    calls = []
    shared = results[0]._children[0]
    run_back = shared._backward
    shared._backward = lambda: calls.append(run_back())
    (results[0] * results[1] + results[2]).backward()
    assert len(calls) == 1
    assert x.grad == pytest.approx(0.5 * math.exp(0.3) + 0.15 * math.exp(0.3) + 1.0, rel=1e-14)


def test_results_are_freed_without_the_collector() -> None:
    """Nothing that a call leaves on the tape refers back to its results."""
    f = rg.compile(lambda x: [x * W, rg.math.exp(x)])

    def call_and_pass() -> None:
        first, second = f(x)
        (first * second).backward()

    x = Value(0.3)
    f(x)
    gc.collect()
    gc.disable()
    try:
        call_and_pass()
        before = len(gc.get_objects())
        for _ in range(50):
            call_and_pass()
        assert len(gc.get_objects()) - before < 50
    finally:
        gc.enable()


def test_derivatives_by_hand_are_those_of_a_pass() -> None:
    """``_backward`` of each result, and then of the node that they share, is what a pass does."""
    f = rg.compile(lambda x, y: [x * y, x / y])
    f(Value(0.3), Value(2.0))
    x, y = Value(0.3), Value(2.0)
    first, second = f(x, y)
    (shared,) = first._children
    first.grad, second.grad = 1.5, -2.0
    for node in (second, first, shared):
        node._backward()
    assert (x.grad, y.grad) == pytest.approx((1.5 * 2.0 - 2.0 / 2.0, 1.5 * 0.3 + 2.0 * 0.3 / 4.0), rel=1e-14)
    assert [result._children for result in (first, second)] == [(shared,), (shared,)]


def test_a_pass_through_some_results_knows_nothing_of_the_others() -> None:
    f = rg.compile(lambda x: [rg.math.sqrt(x), x * 2.0])
    for number in (1.0, 0.0):  # the derivative of the root of 0 is infinite
        x = Value(number)
        first, second = f(x)
        second.backward()
        assert x.grad == 2.0
        second.backward()
        assert x.grad == 4.0
    first, second = f(x := Value(4.0))
    first.backward()
    second.backward()
    assert x.grad == 2.25


def test_a_pass_that_failed_leaves_nothing_behind() -> None:
    x, y = Value(2.0), Value(3.0)
    first, second = rg.compile(lambda x: [x * x, x * 3.0])(x)
    broken = Value(1.0, (y,), "broken")
    broken._backward = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        (first * broken).backward()
    second.backward()
    assert (x.grad, y.grad) == (3.0, 0.0)


def test_derivatives_of_any_order_flow_through() -> None:
    def f(x: Any, w: Any) -> Any:
        return [rg.math.sin(x) * w, x * w * w]

    g = rg.compile(f)

    def loss(h: Any, x: Any, w: Any) -> Any:
        a, b = h(x, w)
        return a * b + a

    for _ in range(2):
        x, w = Value(0.4), Value(1.3)
        ours = rg.gradient(loss(g, x, w), [x, w], create_graph=True)
        theirs = rg.gradient(loss(f, x, w), [x, w], create_graph=True)
        for one, other in zip(ours, theirs, strict=True):
            assert one.data == pytest.approx(other.data, rel=1e-13)
            assert rg.gradient(one, [x, w]) == pytest.approx(rg.gradient(other, [x, w]), rel=1e-13)
    assert rg.hessian(lambda z: loss(g, *z))([0.4, 1.3]) == rg.hessian(lambda z: loss(f, *z))([0.4, 1.3])


def test_the_derivative_by_a_result_that_another_depends_on_is_not_lost() -> None:
    f = rg.compile(lambda x: (lambda h: (h, h * h + x))(x * W))
    for _ in range(2):
        h, y = f(x := Value(3.0))
        assert rg.gradient(y * h, [h, x]) == [9.75, 6.375]
        assert rg.gradient(h, [y]) == [0.0]


def test_a_number_that_has_changed_is_noticed() -> None:
    w = Value(2.0)
    f = rg.compile(lambda x: [w * x, w + x])
    f(1.0)
    first, _ = f(3.0)
    w.data = 5.0
    with pytest.raises(ChangedValueError):
        first.backward()


def test_parameters_that_an_optimizer_moved_are_noticed() -> None:
    w = Value(2.0)
    f, optimizer = rg.compile(lambda x: [w * x, w + x]), rg.optim.SGD([w], lr=0.5)
    for _ in range(3):
        w.grad = 0.0
        first, second = f(3.0)
        before = w.data
        (first * second).backward()
        assert w.grad == pytest.approx(2 * 3 * before + 9.0)
        kept = first
        optimizer.step()
        with pytest.raises(ChangedValueError):
            kept.backward()


def test_results_outlive_the_program() -> None:
    f = rg.compile(lambda x: [x * W, x * x])
    f(x := Value(3.0))
    first, second = f(x)
    f.clear()
    del f
    gc.collect()
    (first + second).backward()
    assert x.grad == 6.5


def test_results_are_collected() -> None:
    """Each result refers to the pass, and the pass to the result."""

    class Mark:
        pass

    mark = Mark()
    f = rg.compile(lambda x, _: [x * W, x * x])
    for _ in range(2):
        results = f(Value(3.0), mark)
    seen = weakref.ref(mark)
    f.clear()
    del results, mark, f
    for _ in range(3):
        gc.collect()
    assert seen() is None


def test_no_grad_gives_results_without_a_past() -> None:
    f = rg.compile(lambda x: [x * W, x + 1.0])
    f(2.0)
    with rg.no_grad():
        value, number = f(2.0)
    assert (value.data, value._children, number) == (1.0, (), 3.0)


def test_what_is_no_tree_of_numbers_runs_as_it_is() -> None:
    shared: list[Any] = []
    kinds: list[Callable[[Any], Any]] = [
        lambda x: (x * W, "text"),
        lambda x: [[x]] * 2,
        lambda x: (x * W, {1, 2}),
        lambda x: (x * W, LAYER),
        lambda x: (x * W, np.array([1, 2])),
    ]
    for f in kinds:
        g = rg.compile(f)
        with pytest.warns(CompileWarning, match="returns something else"):
            shared.append(g(2.0))
        assert g.stats().hits == 0
    assert shared[1][0] is shared[1][1]


def test_gradients_by_results() -> None:
    """A result is an interior Value: what follows depends on it, and so may others of its call."""

    def square(x: Value) -> Value:
        return x * x

    def two(x: Value) -> tuple[Value, Value]:
        y = x * 0.6
        return y, y * y + x

    for one, both in ((square, two), (rg.compile(square), rg.compile(two))):
        x = Value(3.0)
        y = one(x)
        assert rg.gradient(2.0 * y, y) == 2.0
        assert rg.gradient(y, [y, x]) == [1.0, 6.0]
        assert rg.gradient(one(y), y) == 18.0
        slope = rg.gradient(y**2, y, create_graph=True)
        assert (slope.data, rg.gradient(slope, x)) == (18.0, 12.0)
        a, b = both(x)
        assert rg.gradient(a * b, a) == pytest.approx(b.data + a.data * 2.0 * a.data)
        assert rg.gradient(a * b, [a, b]) == pytest.approx([b.data + a.data * 2.0 * a.data, a.data])
        assert rg.gradient(b, [a, x]) == pytest.approx([2.0 * a.data, 1.2 * a.data + 1.0])


def test_several_results_have_no_gradient() -> None:
    f = rg.compile(lambda x: [x * W, x])
    f(2.0)
    for call in (lambda: f.backward(2.0), lambda: f.backward_batch([(2.0,), (3.0,)]), lambda: f.value_and_grad(2.0)):
        with pytest.raises(TypeError, match="needs a single Value"):
            call()
    assert f(3.0)[0].data == 1.5


def test_branches_that_return_other_trees() -> None:
    f = rg.compile(lambda x: [x * W] if x > 0.0 else {"n": x, "v": W * 2.0})
    for x in (1.0, -1.0, 2.0, -3.0):
        result = f(x)
        assert (result[0].data == 0.5 * x) if x > 0.0 else (result["n"] == x and result["v"].data == 1.0)
    assert (f.stats().traces, f.stats().hits) == (2, 4)


def test_a_value_or_a_number_as_it_comes() -> None:
    """What a selection among Values and numbers gives is not one or the other for good."""

    def f(x: Any) -> Any:
        return [max(W, x), x]

    g = rg.compile(f)
    for x in (0.2, 0.9, 0.1, 2.0):
        assert plain(g(x)) == plain(f(x), True)


def test_verify_compares_all_results() -> None:
    f = rg.compile(lambda x: [x * 2.0, W * x], verify=1)
    assert [f(x)[0] for x in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]


def test_infinite_results_are_the_functions() -> None:
    def f(x: Any) -> Any:
        return [x * 1e300 * 1e300, W * x]

    g = rg.compile(f)
    for x in (1.0, 0.0, 2.0):
        assert plain(g(x)) == plain(f(x), True)
    first, second = g(Value(0.0))
    (first + second).backward()


@pytest.mark.parametrize("tier", ["vm", "llvm"])
def test_numbers_that_are_not_finite_are_found_in_any_of_the_results(tier: Any) -> None:
    if tier == "llvm":
        pytest.importorskip("llvmlite")

    def f(x: list[float], zero: float) -> list[float]:
        # products with zero, functions that hide an infinity, and arguments and constants as they are
        return [x[0], 0.0 * (x[1] * x[1]) + zero, *(rg.math.atan(v * v) for v in x), 4.0, 1.0 / (1.0 + x[3] * x[3])]

    g = rg.compile(f, tier=tier)
    numbers = [0.5, -1.0, math.inf, 1e200, -math.inf, math.nan]
    calls = [([a, b, 2.0, c], 0.0) for a in numbers for b in numbers for c in (0.0, math.inf)]
    assert plain(g([0.5, -1.0, 2.0, 0.0], 0.0)) == plain(f([0.5, -1.0, 2.0, 0.0], 0.0), True)
    for x, zero in calls:
        assert plain(g(x, zero)) == plain(f(x, zero), True)
    batch = g.call_batch(calls)
    for member, expected in zip(batch, calls, strict=True):
        assert plain(member) == plain(f(*expected), True)
    assert g.stats().traces == 1


@pytest.mark.parametrize("tier", ["auto", "vm", "llvm", "interpreter"])
def test_arguments_as_they_are(tier: Any) -> None:
    """A program without an operation."""
    if tier == "llvm":
        pytest.importorskip("llvmlite")

    def f(x: list[float]) -> list[float]:
        return [x[1], x[0], 3.0]

    g, h = rg.compile(f, tier=tier), rg.compile(lambda x: x[::-1], tier=tier)
    for k in range(20):
        assert g([1.0 + k, math.inf]) == [math.inf, 1.0 + k, 3.0]
        assert np.array_equal(h(np.array([1.0, 2.0 + k])), [2.0 + k, 1.0])
    assert g.call_batch([([1.0, 2.0],)] * 3, threads=1) == [[2.0, 1.0, 3.0]] * 3


def test_the_jacobian_of_a_compiled_function() -> None:
    def f(x: Any) -> Any:
        return [x[0] * x[1], rg.math.sin(x[0]), 3.0]

    at = [0.4, 2.0]
    assert np.array(rg.jacobian(rg.compile(f))(at)) == pytest.approx(np.array(rg.jacobian(f)(at)))
    outputs, pullback = rg.vjp(rg.compile(f), at)
    assert outputs == pytest.approx([0.8, math.sin(0.4), 3.0])
    assert pullback([1.0, 2.0, 0.0])[0] == pytest.approx([2.0 + 2.0 * math.cos(0.4), 0.4])


def test_the_gradient_of_a_result_that_another_is_computed_from(compiled: Callable[..., Any]) -> None:
    w = [Value(0.7), Value(-1.3)]

    def step(x: float) -> tuple[Any, Any, Any]:
        state = (w[0] * x).tanh()
        return state, state * w[1] + w[0], w[1] * x

    fast = compiled(step)
    for x in (0.5, 1.0, 2.0):
        found = []
        for function in (step, fast):
            w[0].grad = w[1].grad = 0.0
            state, loss, other = function(x)
            (state * 2.0 + loss + other).backward()
            found.append([state.grad, loss.grad, other.grad, w[0].grad, w[1].grad])
            loss.backward()
            found[-1] += [state.grad, w[0].grad, w[1].grad]
        assert found[1] == pytest.approx(found[0], rel=1e-12)


def test_a_pass_under_no_grad_beside_infinities(compiled: Callable[..., Any]) -> None:
    w = Value(2.0)

    def both(x: float) -> list[Any]:
        return [w * x, w * w]

    fast = compiled(both)
    fast(1.0)
    for function in (both, fast):
        w.grad = 0.0
        infinite, square = function(math.inf)
        with rg.no_grad():
            square.backward()
            infinite.backward()
        assert w.grad == math.inf


def test_one_value_as_two_arguments_gets_its_gradient_once() -> None:
    def two(x: Value, y: Value) -> tuple[Value, Value]:
        h = rg.math.sin(x) * y
        return h, h * h + x

    def one(x: Value, y: Value) -> Value:
        return rg.math.sin(x) * y + x

    pair, single = rg.compile(two), rg.compile(one)
    for x, y in ((Value(0.4), Value(1.3)), (same := Value(0.7), same)) * 2:
        for f, g in ((two, pair), (one, single)):
            found = []
            for h in (f, g):
                x.grad = y.grad = 0.0
                result = h(x, y)
                loss = result * result if isinstance(result, Value) else result[0] * result[1]
                loss.backward()
                found.append([x.grad, y.grad, *rg.gradient(loss, [x, y])])
            assert found[0] == pytest.approx(found[1], rel=1e-13)
