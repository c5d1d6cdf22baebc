"""The result of a compiled call of many parameters is a node that finds its derivative when a pass reaches it."""

from __future__ import annotations

import copy
import gc
import math
import random
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, errors, nn, optim

pytestmark = native

POINTS = [[0.1 * i, 0.3 - 0.2 * i, 0.5] for i in range(6)]


class Net:
    """Forty-one parameters, and a loss of three numbers."""

    def __init__(self) -> None:
        random.seed(7)
        self.mlp = nn.MLP(3, [8, 1])
        self.last: Any = None

    def loss(self, a: float, b: float, c: float) -> Any:
        return (self.mlp([a, b, c]) - 1.0) ** 2

    @property
    def parameters(self) -> list[Value]:
        return self.mlp.parameters()

    def take_gradients(self) -> list[float]:
        """The gradients, which are zero from now on."""
        gradients = [p.grad for p in self.parameters]
        for p in self.parameters:
            p.grad = 0.0
        return gradients


@pytest.fixture
def net() -> Net:
    return Net()


def compiled(net: Net) -> Any:
    """The net's loss, which has answered a few calls."""
    loss = rg.compile(net.loss)
    for _ in range(12):
        loss(*POINTS[0])
    return loss


def same(ours: list[float], expected: list[float]) -> None:
    assert ours == pytest.approx(expected, rel=1e-12, abs=1e-15)


Total = Callable[[Callable[..., Any], list[Value]], Any]
TOTALS: dict[str, Total] = {
    "itself": lambda loss, p: loss(*POINTS[1]),
    "scaled": lambda loss, p: loss(*POINTS[1]) * -0.5,
    "with a penalty": lambda loss, p: loss(*POINTS[1]) + 0.1 * rg.sum([w * w for w in p]),
    "mean": lambda loss, p: rg.mean([loss(*point) for point in POINTS]),
    "product": lambda loss, p: loss(*POINTS[1]) * loss(*POINTS[2]) * p[3],
    "used twice": lambda loss, p: (lambda one: one * one + rg.math.exp(one))(loss(*POINTS[3])),
    "made by hand": lambda loss, p: Value(2.0, [loss(*POINTS[4]), p[0]], local_grads=[3.0, -1.0]),
}


@pytest.mark.parametrize("name", TOTALS)
def test_a_backward_pass_adds_what_it_adds_without_compile(net: Net, name: str) -> None:
    loss = compiled(net)
    for function in (net.loss, loss):
        TOTALS[name](function, net.parameters).backward()
        if function == net.loss:
            expected = net.take_gradients()
    same(net.take_gradients(), expected)
    total = TOTALS[name](loss, net.parameters)
    total.backward()
    total.backward()
    same(net.take_gradients(), [2.0 * gradient for gradient in expected])
    assert loss.stats().eager == 0


@pytest.mark.parametrize("seed", [0.0, -2.5, 1e-310, math.inf, math.nan])
def test_any_seed(net: Net, seed: float) -> None:
    loss = compiled(net)
    net.loss(*POINTS[1]).backward(seed)
    expected = net.take_gradients()
    result = loss(*POINTS[1])
    result.backward(seed)
    assert result.grad == seed or math.isnan(seed)
    assert net.take_gradients() == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("seed", [1.0, 1e308, math.inf, -math.inf, math.nan])
def test_any_seed_of_several_that_wait(net: Net, seed: float) -> None:
    """The function runs for one that waits alone; of several in a sum, a derivative of 0 times infinity is NaN."""
    loss = compiled(net)
    found = []
    for function in (net.loss, loss):
        first, second, third = (function(*POINTS[i]) for i in (1, 2, 3))
        (2.0 * first + second * third + first).backward(seed)
        third = function(*POINTS[4])
        function(*POINTS[3]).backward(seed)
        third.backward()
        found.append(net.take_gradients())
    for exact, ours in zip(*found, strict=True):
        assert ours == pytest.approx(exact, rel=1e-12, nan_ok=True) or (math.isnan(ours) and math.isfinite(exact))
    assert seed != 1.0 or found[1] == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.05), lambda p: optim.Adam(p, lr=0.05)])
def test_a_training_loop_as_people_write_it(make: Callable[[list[Value]], Any]) -> None:
    losses: dict[bool, list[float]] = {}
    for is_compiled in (False, True):
        net = Net()
        loss, optimizer = rg.compile(net.loss) if is_compiled else net.loss, make(net.parameters)
        losses[is_compiled] = []
        for step in range(60):
            result = loss(*POINTS[step % 6])
            optimizer.zero_grad()
            result.backward()
            optimizer.step()
            losses[is_compiled].append(result.data)
    same(losses[True], losses[False])


def test_transforms_see_its_operands(net: Net) -> None:
    loss, p = compiled(net), net.parameters
    expected = rg.gradient(net.loss(*POINTS[1]), p[5])
    assert rg.gradient(loss(*POINTS[1]), p[5]) == pytest.approx(expected)
    result = loss(*POINTS[1])
    assert set(result._children) == set(p)
    shares = dict(zip(result._children, result._local_grads, strict=True))
    assert shares[p[5]] == pytest.approx(expected)
    later = loss(*POINTS[1]) * 2.0
    assert rg.gradient(later, p[5]) == pytest.approx(2.0 * expected)
    (later + result).backward()
    assert p[5].grad == pytest.approx(3.0 * expected)
    second = rg.gradient(rg.gradient(loss(*POINTS[1]), p[5], create_graph=True), p[6])
    assert second == pytest.approx(rg.gradient(rg.gradient(net.loss(*POINTS[1]), p[5], create_graph=True), p[6]))


def assign(net: Net) -> None:
    net.parameters[3].data += 1.0


def step(net: Net) -> None:
    optim.SGD(net.parameters, lr=0.1).step()


@pytest.mark.parametrize("change", [assign, step])
@pytest.mark.parametrize("use", [lambda one: one, lambda one: one * 2.0], ids=["itself", "in an expression"])
def test_a_parameter_that_has_changed_is_an_error(
    net: Net, change: Callable[[Net], None], use: Callable[[Any], Any]
) -> None:
    loss = compiled(net)
    loss.backward(*POINTS[0])  # so that there is something to step by
    result, before = loss(*POINTS[1]), [p.grad for p in net.parameters]
    change(net)
    with pytest.raises(errors.ChangedValueError, match="but the forward pass used"):
        use(result).backward()
    with pytest.raises(errors.ChangedValueError):
        rg.gradient(use(result), net.parameters[3])
    with pytest.raises(errors.ChangedValueError):
        result._local_grads  # noqa: B018  # it is the reading that raises
    assert [p.grad for p in net.parameters] == before
    assert len(result._children) == len(net.parameters)
    loss(*POINTS[1]).backward()  # other calls are none the worse for it


def test_what_changed_and_changed_back_is_no_error(net: Net) -> None:
    loss, p = compiled(net), net.parameters[3]
    result, data = loss(*POINTS[1]), p.data
    p.data = 9.0
    p.data = data
    result.backward()
    ours = net.take_gradients()
    net.loss(*POINTS[1]).backward()
    same(ours, net.take_gradients())


def test_a_change_is_noticed_after_its_derivatives_have_been_found(net: Net) -> None:
    loss, p = compiled(net), net.parameters[3]
    result = loss(*POINTS[1])
    assert len(result._local_grads) == 41
    result.backward()
    p.data += 1.0
    with pytest.raises(errors.ChangedValueError):
        result.backward()


def test_a_parameter_that_was_replaced_gets_its_gradient_nevertheless(net: Net) -> None:
    loss = compiled(net)
    net.loss(*POINTS[1]).backward()
    parameters, expected = net.parameters, net.take_gradients()
    result = loss(*POINTS[1])
    net.mlp.layers[0].neurons[0].w[0] = Value(5.0)
    result.backward()
    same([p.grad for p in parameters], expected)


def test_what_waits_can_be_collected() -> None:
    net = Net()
    net.last = compiled(net)(*POINTS[1])
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None


def test_copies_and_numbers(net: Net) -> None:
    loss = compiled(net)
    result, plain = loss(*POINTS[1]), net.loss(*POINTS[1])
    assert result.data == pytest.approx(plain.data)
    assert result > 0.0
    assert repr(result).startswith("Value(data=")
    assert copy.copy(result).data == result.data
    result.backward()
    assert result.grad == 1.0


def test_other_threads_are_refused_as_with_any_result(net: Net) -> None:
    loss = compiled(net)
    result = loss(*POINTS[1])
    raised: list[BaseException] = []

    def elsewhere() -> None:
        for use in (lambda: result.backward(), lambda: result * 2.0, lambda: result._local_grads):
            try:
                use()
            except Exception as error:
                raised.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert [type(error) for error in raised] == [errors.ForeignThreadError] * 3
    result.backward()
    ours = net.take_gradients()
    net.loss(*POINTS[1]).backward()
    same(ours, net.take_gradients())


SCALE = {"by": 3.0}


def cubes(xs: list[Any]) -> Any:
    return rg.sum([x * x * x for x in xs]) * SCALE["by"]


def cubes_apart(xs: list[Any]) -> Any:
    return [x * x * x * SCALE["by"] for x in xs]


@pytest.mark.parametrize("function", [cubes, cubes_apart])
@pytest.mark.parametrize(
    "change",
    [
        lambda xs: xs.__setitem__(0, Value(2.0)),  # another one with its number
        lambda xs: xs.__setitem__(0, Value(9.0)),
        lambda xs: xs.append(Value(1.0)),
        lambda xs: SCALE.update(by=5.0),
    ],
)
def test_what_has_changed_since_the_call_is_not_differentiated(function: Any, change: Callable[[Any], Any]) -> None:
    """The function runs again for a derivative that can be differentiated, and must give what the call gave."""
    f = rg.compile(function)
    for _ in range(4):
        SCALE["by"] = 3.0
        a, b = Value(2.0), Value(0.5)
        xs = [a, b]
        f(xs)
        found = f(xs)
        result = found if isinstance(found, Value) else found[0]
        (slope,) = rg.gradient(result, [a], create_graph=True)
        assert [slope.data, *rg.gradient(slope, [a])] == [36.0, 36.0]
        found = f(xs)
        result = found if isinstance(found, Value) else found[0]
        change(xs)
        with pytest.raises(errors.ChangedValueError, match="has changed since the call"):
            rg.gradient(result, [a], create_graph=True)
        assert rg.gradient(result, [a]) == [36.0]  # in numbers: those of the call
    SCALE["by"] = 3.0
