"""Backward on whichever engine is in use: the seeds' numbers, kinks, changed data, users' own derivatives."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.lessons import chapter_backward, lesson_backward

import retrograd.engine as engine
from retrograd import errors
from retrograd import math as rmath
from retrograd.engine import Value, errstate, no_grad, topological_order
from retrograd.ops import NARY, OPS, Edge, Op

# --- the seeds' worked numbers --------------------------------------------------------------------


def own(root: Value) -> None:
    root.backward()


def stepwise(root: Value) -> None:
    root.grad = 1.0
    for v in reversed(topological_order(root)):
        v._backward()


def neuron(x1: Value, x2: Value, w1: Value, w2: Value, b: Value) -> Value:
    return (x1 * w1 + x2 * w2 + b).tanh()


SEEDS: list[tuple[Callable[..., Value], list[float], float, list[float]]] = [
    (lambda a, b, c: (a * b) + c, [2, -3, 10], 4.0, [-3, 2, 1]),
    (lambda a, b, c: (a + b) * c, [2, -3, 10], -10.0, [10, 10, -1]),
    (lambda a, b, c: (a * b + c) * (a + b), [2, -3, 10], -4.0, [7, 2, -1]),
    (lambda a: a + a, [3], 6.0, [2]),
    (lambda a: a * a, [3], 9.0, [6]),
    (lambda a: (a + 1) * (a * 3), [2], 18.0, [15]),
    (lambda a, b, d: (a * b + d).relu(), [2, -3, 10], 4.0, [-3, 2, 1]),
    (lambda a, b: (a * b + a) ** 2, [2, 3], 64.0, [64, 32]),
    (neuron, [2, 0, -3, 1, 6.8813735870195432], math.sqrt(0.5), [-1.5, 0.5, 1, 0, 0.5]),
]


@pytest.mark.parametrize("run", [own, stepwise, lesson_backward, chapter_backward])
@pytest.mark.parametrize("case", SEEDS)
def test_seeds_numbers_with_the_seeds_own_passes(case: Any, run: Callable[[Value], None]) -> None:
    function, at, data, gradients = case
    leaves = [Value(x) for x in at]
    result = function(*leaves)
    run(result)
    assert result.data == pytest.approx(data, abs=1e-12)
    assert [leaf.grad for leaf in leaves] == pytest.approx(gradients, abs=1e-12)


def test_own_pass_gives_every_node_the_pasted_passes_gradient() -> None:
    def make() -> Value:
        a, b = Value(2.0), Value(-3.0)
        return ((a * b + 10.0) / (a - 3) - 2**b) ** 2 + rmath.sum([a, b, 4.0]) * a.exp()

    ours, theirs = make(), make()
    order = topological_order(ours)
    assert order[-1] is ours
    ours.backward()
    chapter_backward(theirs)
    assert [v.grad for v in order] == pytest.approx([v.grad for v in topological_order(theirs)], rel=1e-12)


# --- local derivatives, kinks and the zero rule ---------------------------------------------------


def edges() -> list[Any]:
    return [pytest.param(op, edge, id=f"{op.name}{edge.at}") for op in OPS for edge in op.edges]


@pytest.mark.parametrize(("op", "edge"), edges())
def test_kinks_of_the_table(op: Op, edge: Edge) -> None:
    leaves = [Value(x) for x in edge.at]
    y = engine.apply(op.name, *leaves)
    assert y.data == edge.y
    assert y._local_grads == edge.partials
    y.backward()
    assert tuple(leaf.grad for leaf in leaves) == edge.partials


def test_local_grads() -> None:
    a, b = Value(2.0), Value(4.0)
    assert (a + b)._local_grads == (1.0, 1.0)
    assert (a - b)._local_grads == (1.0, -1.0)
    assert (a * b)._local_grads == (4.0, 2.0)
    assert (a / b)._local_grads == (0.25, -0.125)
    assert (a * a)._local_grads == (2.0, 2.0)
    assert (a * 3)._local_grads == (3.0, 2.0)
    assert (a**3)._local_grads == (12.0,)
    assert (2**a)._local_grads == pytest.approx((4 * math.log(2),))
    assert a._local_grads == ()
    assert Value(-1.0).relu()._local_grads == (0.0,)
    assert rmath.max([a, b, 4.0])._local_grads == (0.0, 0.5, 0.5)
    assert rmath.prod([a, 0.0, b])._local_grads == (0.0, 8.0, 0.0)
    assert rmath.mean([a, b])._local_grads == (0.5, 0.5)
    p = rmath.softmax([a, b])
    q = 1 / (1 + math.exp(2.0))
    assert p[0]._local_grads == pytest.approx((q * (1 - q), -q * (1 - q)))


@pytest.mark.parametrize("op", [op for op in OPS if op.public], ids=lambda op: op.name)
def test_names_methods_and_functions(op: Op) -> None:
    at = [(low + high) / 2 for low, high in op.sample]
    expected = engine.evaluate(op.name, *at)
    for name in (op.name, *op.aliases):
        function = getattr(rmath, name)
        assert function(*at) == expected
        assert type(function(*at)) is float
        for y in (function(*map(Value, at)), getattr(Value(at[0]), name)(*at[1:]), function(Value(at[0]), *at[1:])):
            assert type(y) is Value
            assert y.data == expected
            assert engine.row_name(y) == op.name
        assert function.__name__ == name
        assert function.__doc__


@pytest.mark.parametrize("row", NARY, ids=lambda row: row.name)
def test_sequences(row: Any) -> None:
    function, xs = getattr(rmath, row.name), [0.5, 2.0, -1.0, 2.0]
    more = [xs] if row.paired else []
    expected = function(xs, *more)
    nodes = function([Value(x) for x in xs], *more)
    if row.outputs:
        assert [node.data for node in nodes] == expected
        assert sum(expected) == pytest.approx(1.0)
    else:
        assert nodes.data == expected
        assert engine.row_name(nodes) == row.name
        assert len(nodes._children) == len(xs) * (1 + row.paired)
    assert function(iter(xs), *map(iter, more)) == function(np.array(xs), *more) == expected
    if row.empty:
        assert function([], *([[]] if row.paired else [])) == row.name.startswith("prod")
    else:
        with pytest.raises(ValueError, match="at least one"):
            function([])
    with pytest.raises(TypeError, match="sequence"):
        function(3.0, *more)


def test_dot_needs_equal_lengths() -> None:
    with pytest.raises(ValueError, match="equal length"):
        rmath.dot([Value(1.0)], [1.0, 2.0])


def test_sound_forms() -> None:
    assert Value(1000.0).tanh().data == 1.0
    assert Value(-1000.0).sigmoid().data == 0.0
    assert Value(1000.0).sigmoid().data == 1.0
    assert Value(1000.0).softplus().data == 1000.0
    assert Value(-1000.0).softplus().data == 0.0
    assert Value(1e200).hypot(1e200).data == pytest.approx(math.sqrt(2) * 1e200)
    assert rmath.logsumexp([Value(1e308), 1e308]).data == 1e308
    x = Value(1000.0)
    (x.tanh() + x.sigmoid() + x.softplus()).backward()
    assert x.grad == 1.0


def test_a_branch_not_taken_makes_no_nan() -> None:
    x = Value(0.0)
    with errstate(divide="ignore"):
        rmath.where(x > 0, x.log(), x * 2).backward()
    assert x.grad == 2.0
    x = Value(0.0)
    (x.sqrt() * 0.0).backward()
    assert x.grad == 0.0
    x = Value(-1.0)
    (x * math.inf).relu().backward()
    assert x.grad == 0.0


def test_zero_gradient_contributes_nothing_but_reaches() -> None:
    x = Value(4.0)
    inner = x * x
    inner.grad = 99.0
    outer = inner.sqrt() * 0.0
    outer.backward()
    assert inner.grad == 0.0
    assert x.grad == 0.0
    outer.backward(0.0)
    assert outer.grad == 0.0
    assert x.grad == 0.0


# --- backward -------------------------------------------------------------------------------------


def test_backward_twice() -> None:
    x = Value(3.0)
    y = x * x * x
    y.backward()
    assert x.grad == 27.0
    y.backward()
    assert x.grad == 54.0
    assert y.grad == 1.0
    x.zero_grad()
    y.backward(gradient=2.0)
    assert x.grad == 54.0
    assert y.grad == 2.0
    x.backward(5)
    assert x.grad == 59.0


def test_two_results_accumulate_into_leaves() -> None:
    x = Value(3.0)
    shared = x * 2
    (shared + 1).backward()
    (shared * shared).backward()
    assert x.grad == 2.0 + 24.0
    assert shared.grad == 12.0


def test_gradients_touch_nothing() -> None:
    x, y, stranger = Value(3.0), Value(4.0), Value(1.0)
    inner = x * y
    root = inner + x
    x.grad, inner.grad = 7.0, 8.0
    assert engine.gradients(root, 2.0, [x, y, inner, stranger, root]) == [10.0, 6.0, 2.0, 0.0, 2.0]
    assert (x.grad, inner.grad, y.grad, root.grad) == (7.0, 8.0, 0.0, 0.0)
    x.data = 5.0
    with pytest.raises(errors.ChangedValueError):
        engine.gradients(root, 1.0, [x])
    assert (x.grad, inner.grad) == (7.0, 8.0)


def test_long_chain() -> None:
    x = Value(1.0)
    y = x
    for _ in range(30_000):
        y = y + 1e-6
    y.backward()
    assert x.grad == 1.0
    assert len(engine.interior(y)) == 30_000
    del y


def test_hook_and_observer() -> None:
    seen: list[Any] = []
    x = Value(2.0)
    assert engine.set_observer(seen.append) is None
    try:
        y = x * x + 1
    finally:
        assert engine.set_observer(None) is not None
    assert [engine.row_name(node) for node in seen] == ["mul", "add"]
    assert seen[-1] is y
    engine.set_backward_hook(lambda value, gradient: seen.append((value, gradient)))
    try:
        y.backward(3)
    finally:
        engine.set_backward_hook(None)
    assert seen[-1] == (y, 3.0)
    assert x.grad == 0.0
    engine.set_source(y, 12)
    assert engine.get_source(y) == 12
    assert engine.get_source(seen[0]) == 0


def test_no_grad() -> None:
    x = Value(3.0)
    with no_grad():
        y = x * x
        with no_grad():
            pass
        z = rmath.sum([x, y])
        mine = Value(1.0, (x,), "mine")
    assert y.data == 9.0
    assert y._children == z._children == mine._children == ()
    assert not engine.is_constant(y)
    assert (x * x)._children == (x, x)

    @no_grad()
    def double(v: Value) -> Value:
        return v * 2

    assert double(x)._children == ()
    assert (x * 2)._children != ()


RESULTS: list[Callable[[Value], Any]] = [
    lambda x: x * x,
    lambda x: x + 1.0,
    lambda x: abs(x),
    lambda x: rmath.sum([x, 1.0]),
    lambda x: rmath.softmax([x, 1.0])[1],
    lambda x: rmath.where(1, x, 2.0),
    lambda x: engine.weighted_sum([x], [x], 0.0),
    lambda x: Value(1.0, (x,), "mine"),
    lambda x: Value(1.0, (x,), (2.0,)),
]


@pytest.mark.parametrize("function", RESULTS)
def test_a_result_of_no_grad_has_no_backward_pass(function: Callable[[Value], Any]) -> None:
    x = Value(3.0, label="x")
    with no_grad():
        y = function(x)
    y.label = "y"
    with pytest.raises(errors.MissingDerivativeError, match=r"^'y' was computed inside no_grad, .*: compute it"):
        y.backward()
    assert (x.grad, y.grad) == (0.0, 0.0)
    (y * x).backward()  # computed outside: y is a leaf of it
    assert (x.grad, y.grad) == (y.data, 3.0)
    leaf = y.detach()
    leaf.backward()
    assert leaf.grad == 1.0


def test_a_leaf_made_inside_no_grad_is_a_leaf() -> None:
    with no_grad():
        x = Value(3.0, label="x")
        x.data = 4.0
    x.backward()
    (x * x).backward()
    assert x.grad == 9.0


# --- changed data ---------------------------------------------------------------------------------


CHANGES: list[Callable[[Value], Value]] = [
    lambda a: a * Value(3.0),
    lambda a: a * 3.0,
    lambda a: a + 1.0,
    lambda a: a.exp(),
    lambda a: a**2,
    lambda a: rmath.sum([a, 1.0]),
    lambda a: rmath.softmax([a, 1.0])[1],
    lambda a: rmath.where(1, a, 2.0),
    lambda a: Value(a.data * 2, (a,), (2.0,)),
    lambda a: (a * 2).relu() + 1,
]


@pytest.mark.parametrize("function", CHANGES)
def test_a_changed_leaf_is_an_error_that_names_it(function: Callable[[Value], Value]) -> None:
    a = Value(2.0, label="learning rate")
    y = function(a)
    a.data = 5.0
    for attempt in (y.backward, lambda: engine.gradients(y, 1.0, [a])):
        with pytest.raises(errors.ChangedValueError, match=r"'learning rate' is 5\.0 now.*2\.0"):
            attempt()
    a.data = 2.0
    a.grad = 0.0
    y.backward()
    assert math.isfinite(a.grad)
    assert a.grad != 0.0
    a.data = 5.0
    function(a).backward()  # what is recorded after the change is right again


def test_a_changed_result_is_an_error() -> None:
    a = Value(2.0)
    b = a * 3
    y = b * b
    b.data = 7.0
    with pytest.raises(errors.ChangedValueError, match=r"7\.0 now"):
        y.backward()
    b.data = 6.0
    y.backward()
    assert a.grad == 36.0


def test_sign_of_zero_and_nan_are_data() -> None:
    a = Value(0.0)
    y = a * 2.0
    a.data = -0.0
    with pytest.raises(errors.ChangedValueError):
        y.backward()
    nan = Value(math.nan)
    z = nan * 2.0
    nan.data = math.nan
    z.backward()
    assert nan.grad == 2.0


def test_optimizer_steps_are_changes() -> None:
    p = Value(2.0)
    y = p * p
    y.backward()
    engine.sgd_step([p], None, 0.1, 0.0, 0.0, False)
    assert p.data == pytest.approx(1.6)
    with pytest.raises(errors.ChangedValueError):
        y.backward()


# --- users' own derivatives -----------------------------------------------------------------------


def micrograd_tanh(x: Value) -> Value:
    t = math.tanh(x.data)
    out = Value(t, (x,), "tanh")

    def _backward() -> None:
        x.grad += (1 - t**2) * out.grad

    out._backward = _backward
    return out


def test_user_closure() -> None:
    x = Value(0.5)
    y = micrograd_tanh(x * 2) + micrograd_tanh(x)
    y.backward()
    assert x.grad == pytest.approx(2 * (1 - math.tanh(1.0) ** 2) + 1 - math.tanh(0.5) ** 2)
    first = x.grad
    y.backward()
    assert x.grad == pytest.approx(2 * first)
    assert engine.gradients(y, 1.0, [x]) == pytest.approx([first])
    assert x.grad == pytest.approx(2 * first)
    node = micrograd_tanh(x)
    with pytest.raises(errors.MissingDerivativeError):
        node._local_grads  # noqa: B018  # reading it is the test
    x.zero_grad()
    node.grad = 1.0
    node._backward()
    assert x.grad == pytest.approx(1 - math.tanh(0.5) ** 2)


def test_user_closure_checks_its_operands() -> None:
    x = Value(0.5, label="x")
    y = micrograd_tanh(x)
    x.data = 0.6
    with pytest.raises(errors.ChangedValueError, match="'x'"):
        y.backward()


def test_backward_inside_a_users_function() -> None:
    def checkpointed(x: Value) -> Value:
        out = Value(x.data**3, (x,), "cube")

        def _backward() -> None:
            again = Value(x.data)
            (again * again * again).backward(out.grad)
            x.grad += again.grad

        out._backward = _backward
        return out

    x = Value(2.0)
    (checkpointed(x * x) * 3).backward()
    assert x.grad == 3 * 6 * 2.0**5


def test_missing_derivative() -> None:
    x = Value(2.0)
    y = Value(4.0, (x,), "mystery", "y") * 2
    for root in (y, y * 0.0, y + x):  # whatever the numbers are, and before anything is added
        with pytest.raises(errors.MissingDerivativeError, match=r"'y'.*mystery"):
            root.backward()
        assert x.grad == 0.0


def test_a_refused_pass_adds_nothing() -> None:
    w, x = Value(2.0, label="w"), Value(3.0)
    early = w * x
    loss = (early + x) * x + w
    w.data = 5.0
    with pytest.raises(errors.ChangedValueError, match="'w'"):
        loss.backward()
    assert (w.grad, x.grad) == (0.0, 0.0)
    w.data = 2.0
    loss.backward()
    assert (w.grad, x.grad) == (10.0, 2.0 * 3.0 + 9.0 + 3.0)


def test_backward_must_be_callable() -> None:
    with pytest.raises(TypeError, match="function"):
        Value(1.0)._backward = 3  # type: ignore[assignment]


def test_subclass_with_a_backward_method() -> None:
    class Cube(Value):
        def __init__(self, x: Value) -> None:
            super().__init__(x.data**3, (x,), "cube")
            self.x = x

        def _backward(self) -> None:  # type: ignore[override]
            self.x.grad += 3 * self.x.data**2 * self.grad

    x = Value(2.0)
    y = Cube(x) * 2
    y.backward()
    assert x.grad == 24.0
    copied = copy.deepcopy(y)
    copied.backward()
    (cube,) = [child for child in copied._children if isinstance(child, Cube)]
    assert cube.x is cube._children[0]
    assert cube.x.grad == 48.0
    assert x.grad == 24.0


def test_a_plain_results_own_function_may_not_hold_the_result() -> None:
    a = Value(2.0)
    y = a * 3

    def _backward() -> None:
        a.grad += 30 * y.grad

    with pytest.raises(TypeError, match="_backward"):
        y._backward = _backward
    pushed: list[str] = []
    y._backward = lambda: pushed.append("called")
    (y + 1).backward()
    assert pushed == ["called"]
    assert a.grad == 0.0


def test_a_nan_that_stays_a_nan_has_not_changed() -> None:
    x, minus = Value(float("nan")), math.copysign(float("nan"), -1.0)
    y = x * 2.0
    x.data = minus
    y.backward()
    assert x.grad == 2.0
