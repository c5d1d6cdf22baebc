"""What nobody should do to the native engine: it goes on, or refuses, and never crashes."""

from __future__ import annotations

import gc
import numbers
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from retrograd import errors
from retrograd.engine import reference

native = pytest.importorskip("retrograd._native", reason="the native engine is not built: pip install .")
pytestmark = pytest.mark.native
Value = native.Value


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """A dropped graph is freed by reference counts alone: the collector is off."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Hostile:
    """A real number that runs a function when it is read."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.function = function

    def __float__(self) -> float:
        self.function()
        return 1.0


numbers.Real.register(Hostile)


def test_a_result_cannot_become_an_instance_of_a_subclass() -> None:
    class Node(Value):  # type: ignore[misc, valid-type]
        __slots__ = ()

    class Other(Value):  # type: ignore[misc, valid-type]
        __slots__ = ()

    x = Value(1.0)
    for value, cls in ((x * 2.0, Node), (x, Node), (Node(1.0), Value)):
        with pytest.raises(TypeError, match="__class__"):
            value.__class__ = cls
    node = Node(1.0)
    node.__class__ = Other
    assert type(node) is Other


def test_init_again_is_a_change() -> None:
    x = Value(2.0, label="x")
    y = x * x
    x.__init__(3.0, label="x")
    with pytest.raises(errors.ChangedValueError, match="'x'"):
        y.backward()
    with pytest.raises(TypeError, match="made already"):
        x.__init__(2.0, (y,), (1.0,))
    with pytest.raises(TypeError, match="made already"):
        y.__init__(2.0)
    x.__init__(2.0)
    y.backward()
    assert x.grad == 4.0


def test_init_that_fails_changes_nothing() -> None:
    x, node = Value(2.0), Value.__new__(Value)
    for arguments in [(1.0, (x,), (1.0, 2.0)), (1.0, (x, 3.0)), (1.0, (x,), ("a",)), ("a",), (1.0, (), "", 3)]:
        with pytest.raises((TypeError, ValueError)):
            node.__init__(*arguments)
    node.__init__(4.0, (x,), (2.0,))
    assert node._children == (x,)
    assert node._local_grads == (2.0,)


def test_init_inside_init() -> None:
    x, node = Value(2.0), Value.__new__(Value)
    with pytest.raises(TypeError, match="made already"):
        node.__init__(1.0, (x,), (Hostile(lambda: node.__init__(4.0, (x, x), (1.0, 1.0))),))
    assert node._local_grads == (1.0, 1.0)
    node.backward()
    assert x.grad == 2.0


@pytest.mark.parametrize("engine", [native, reference])
def test_what_the_arguments_of_value_say(engine: Any) -> None:
    x = engine.Value(2.0)
    assert engine.Value(1.0, (x,), (1.0,), local_grads=(2.0,))._local_grads == (1.0,)
    assert engine.Value(1.0, (), children=(x,))._children == (x,)
    assert engine.Value(1.0, (x,), local_grads=None)._op == ""
    assert engine.Value(1.0, (x,), None)._op == ""


def test_a_value_used_before_it_was_made() -> None:
    node = Value.__new__(Value)
    y = node * 2.0
    node.__init__(1.0, (y, node), (3.0, 4.0))  # computed from itself
    for _ in range(2):
        node.backward()
        assert y.grad == 3.0
    x = Value(3.0)
    (x * x).backward()
    assert x.grad == 6.0


def test_numbers_that_change_an_operand_while_they_are_read() -> None:
    for name in ("add", "where", "sum"):
        x = Value(1.0)
        number = Hostile(lambda x=x: setattr(x, "data", 100.0))  # type: ignore[misc]
        if name == "sum":
            y = native.reduce("sum", [x, number])
        else:
            y = native.apply(name, *([x, number] if name == "add" else [1.0, x, number]))
        assert y.data == (100.0 if name == "where" else 101.0)
        y.backward()
        assert x.grad == 1.0


def test_lists_that_become_shorter_while_they_are_read() -> None:
    weights = [Value(1.0), Value(2.0)]
    inputs: list[Any] = [1.0, Hostile(lambda: (weights.clear(), inputs.clear()))]
    assert native.weighted_sum(weights, inputs, 0.0).data == 3.0
    weights, inputs = [Value(1.0)] * 3, [Hostile(lambda: weights.clear())] * 3
    with pytest.raises(IndexError):
        native.weighted_sum(weights, inputs, 0.0)


def test_a_repr_that_runs_a_pass_while_an_error_is_raised() -> None:
    x, inner = Value(3.0), []

    class Loud(Value):  # type: ignore[misc, valid-type]
        def __repr__(self) -> str:
            inner[0].backward()
            return "loud"

    loud = Loud(2.0)
    inner.append(x * x)
    y = (loud * inner[0]) * inner[0]
    loud.data = 5.0
    with pytest.raises(errors.ChangedValueError, match="loud"):
        y.backward()
    assert x.grad == 6.0
    loud.data, x.grad = 2.0, 0.0
    y.backward()
    assert x.grad == 2.0 * 4.0 * 27.0


@pytest.mark.parametrize("engine", [native, reference])
def test_a_number_changed_by_a_function_of_the_same_pass(engine: Any) -> None:
    x, w = engine.Value(2.0), engine.Value(5.0, label="w")
    a = x * w
    node = engine.Value(a.data, (a,), "node")

    def push() -> None:
        a.grad += node.grad
        w.data = 7.0

    node._backward = push
    with pytest.raises(errors.ChangedValueError, match="'w'"):
        node.backward()


@pytest.mark.parametrize("engine", [native, reference])
def test_a_refused_pass_leaves_every_gradient(engine: Any) -> None:
    x = engine.Value(2.0)
    a = x * 3.0
    a.backward(5.0)
    with pytest.raises(errors.MissingDerivativeError):
        engine.Value(1.0, (a,), "unknown").backward()
    assert (a.grad, x.grad) == (5.0, 15.0)


@pytest.mark.parametrize("engine", [native, reference])
def test_gradients_leave_no_trace_of_what_a_function_adds_elsewhere(engine: Any) -> None:
    x, stranger = engine.Value(2.0), engine.Value(3.0)
    node = engine.Value(2.0, (x,), "node")

    def push() -> None:
        x.grad += node.grad
        (stranger * 4.0).backward()  # of something that the node does not name as its child

    node._backward = push
    assert engine.gradients(node, 1.0, [x, stranger]) == [1.0, 4.0]
    assert (x.grad, stranger.grad) == (0.0, 0.0)


@pytest.mark.parametrize("engine", [native, reference])
def test_observers(engine: Any) -> None:
    x, seen = engine.Value(1.0), []

    def observe(node: Any) -> None:
        seen.append(engine.row_name(node))
        node * 2.0
        if len(seen) == 2:
            engine.set_observer(None)

    engine.set_observer(observe)
    try:
        engine.Value(1.0, (x,), (1.0,))
        x * 2.0
        x * 3.0
    finally:
        engine.set_observer(None)
    assert seen == ["user", "mul"]


def test_restoring_what_cannot_be() -> None:
    x = Value(1.0)
    for name, operands, index in (
        ("softmax", (x, x), 2),
        ("where", (x,), 0),
        ("dot", (x, x, x), 0),
        ("exp", (x, x), 0),
    ):
        with pytest.raises(ValueError, match="restore"):
            native.restore(name, operands, 1.0, 0.0, index)


def test_objects_that_record_as_they_die() -> None:
    risen: list[Any] = []

    class Phoenix(Value):  # type: ignore[misc, valid-type]
        def __del__(self) -> None:
            if len(risen) < 20:
                risen.append(self)
            y = Value(1.0)
            for _ in range(400):
                y = y * 1.01
            y.backward()

    for _ in range(50):
        bird = Phoenix(1.0)
        y = bird * 2.0 + bird
        Phoenix(y.data, (y,), (1.0,)).backward()
        assert bird.grad == 3.0
    for bird in risen:
        (bird * 2.0).backward()
    risen.extend([None] * 20)


def test_a_sum_of_a_million() -> None:
    xs = [Value(1.0) for _ in range(1_000_000)]
    y = native.reduce("sum", [x * 1.0 for x in xs])
    y.backward()
    assert {x.grad for x in xs} == {1.0}
    del y
