"""The decided semantics, one test for each row of the table: what a user may rely on, in the order of the design."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Value, engine, errors, errstate, gradient

INFINITY = math.inf


def slopes(y: Any, *xs: Value) -> list[float]:
    return gradient(y, list(xs))


def test_constructors() -> None:
    a, b = Value(2.0), Value(3.0)
    micrograds = [Value(6.0, (a, b), "*", "c"), Value(data=6.0, _children=(a, b), _op="*", label="c")]
    for node in micrograds:
        assert (node.data, node.grad, node._op, node.label, node._prev) == (6.0, 0.0, "*", "c", {a, b})
    scalar_gpts = [
        Value(6.0, (a, b), (3.0, 2.0)),
        Value(6.0, children=(a, b), local_grads=(3.0, 2.0)),
        Value(data=6.0, children=[a, b], local_grads=np.array([3.0, 2.0])),
    ]
    for node in scalar_gpts:
        assert (node._children, node._local_grads) == ((a, b), (3.0, 2.0))
        assert slopes(node * 10, a, b) == [30.0, 20.0]
    assert (Value(1).data, Value(1, (), "")._children, Value(1, (), ())._local_grads) == (1.0, (), ())


def test_visible_on_a_node() -> None:
    a, b = Value(2.0, label="a"), Value(3.0)
    d = a * b
    d.grad = 10.0
    d._backward()
    assert (a.grad, b.grad, d._local_grads, d._op, a.label) == (30.0, 20.0, (3.0, 2.0), "*", "a")
    square = d**2
    assert square._children == (d,)
    one = (a + 1)._children[1]
    assert (one.data, one._children) == (1.0, ())
    shown = [v._op for v in (a + b, a - 1, 2 * a, a / b, a**2, a**-0.5, a.relu(), a.tanh())]
    assert shown == ["+", "-", "*", "/", "**2", "**-0.5", "ReLU", "tanh"]

    def exp(x: Value) -> Value:  # an operation as one writes it for micrograd
        out = Value(math.exp(x.data), (x,), "exp")

        def backward() -> None:
            x.grad += out.data * out.grad

        out._backward = backward
        return out

    x = Value(0.5)
    (exp(x) * 2).backward()
    assert x.grad == 2 * math.exp(0.5)


def test_identity() -> None:
    a, b = Value(2.0), Value(-3.0)
    c = a * b
    d = c + a
    assert c in d._prev
    assert d._children[0] is c
    assert d._children[1] is a
    assert (d + 1)._children[0] is d
    constant = c + 1
    assert constant._children[1] is constant._children[1]
    visited: set[int] = set()
    order: list[Value] = []

    def visit(v: Value) -> None:
        if id(v) not in visited:
            visited.add(id(v))
            for child in v._prev:
                visit(child)
            order.append(v)

    visit(d)
    d.grad = 1.0
    for v in reversed(order):
        v._backward()
    assert (len(order), a.grad, b.grad) == (4, -2.0, 2.0)


def test_order() -> None:
    a, b = Value(2.0), Value(2.0)
    assert a == b
    assert a is not b
    assert len({a, b}) == 2
    assert a < 3 < Value(4.0)
    assert a >= 2.0 >= b
    assert a != Value(math.nan)
    assert a != "2.0"
    assert a < 10**400
    assert max([a, Value(5.0), 3]).data == 5.0  # type: ignore[union-attr, type-var]
    assert [bool(Value(x)) for x in (0.0, -0.0, 1e-300, math.nan)] == [False, False, True, True]
    with pytest.raises(TypeError):
        a < "2"  # type: ignore[operator]  # noqa: B015


def test_no_silent_float() -> None:
    v = Value(2.0)
    for attempt in (float, int, complex, math.exp, math.sqrt, np.float64, lambda x: [1, 2, 3][x]):
        with pytest.raises(TypeError, match=r"v\.data"):
            attempt(v)
    with pytest.raises(TypeError, match=r"retrograd\.math"):
        math.exp(v)
    with pytest.raises(TypeError, match="item"):
        v.item()


def test_format() -> None:
    v = Value(2.0)
    assert (f"{v:.3f}", f"{v:8.1e}", f"{v}") == ("2.000", " 2.0e+00", "Value(data=2.0, grad=0.0)")
    assert repr(Value(3)) == "Value(data=3.0, grad=0.0)"


def test_numbers_accepted() -> None:
    for number in (3, 3.0, True, Fraction(1, 4), np.float32(0.5), np.int8(3), np.bool_(True), np.float64(2)):
        assert Value(number).data == float(number)
        assert (Value(1.0) + number).data == (number + Value(1.0)).data == 1.0 + float(number)
    refused: list[Any] = [3j, "3", None, np.array([1.0]), np.array(1.0), [1.0], np.complex128(1), Value(1.0)]
    for thing in refused:
        with pytest.raises(TypeError):
            Value(thing)
    for attempt in (Value, Value(1.0).__add__, Value(1.0).__rmul__, Value(1.0).atan2):
        with pytest.raises(OverflowError):
            attempt(10**400)
    x = Value(-7.0)
    assert ((x % 3).data, (x // 3).data) == (-7.0 % 3, -7.0 // 3)
    assert slopes(x % 3 + 100 * (x // 3), x) == [1.0]


def test_numpy() -> None:
    xs = np.array([Value(0.5), Value(0.25)])
    for name in ("arcsin", "log10", "absolute", "fabs", "rad2deg", "deg2rad", "conjugate", "exp", "tanh", "square"):
        ufunc = getattr(np, name)
        assert [y.data for y in ufunc(xs)] == pytest.approx(ufunc([0.5, 0.25]), rel=1e-15)
    assert np.arctan2(xs, xs)[0].data == math.pi / 4
    weights = np.array([2.0, 4.0])
    for y in (xs @ weights, weights @ xs, (xs * weights).sum(), np.dot(xs, weights)):
        assert slopes(y, *xs) == [2.0, 4.0]
    assert slopes(xs.mean(), *xs) == [0.5, 0.5]
    for left in (np.float64(2.0), np.array(2.0), np.int32(2)):
        assert type(left * xs[0]) is Value
    assert [y.data for y in np.vectorize(lambda v: v * 2)(xs)] == [1.0, 0.5]
    floats = np.zeros(2)
    with pytest.raises(TypeError):
        floats[0] = xs[0]
    with pytest.raises(TypeError):
        floats += xs[0]
    with pytest.raises(TypeError):
        xs.astype(float)


def test_kinks() -> None:
    zero, tie = Value(0.0), Value(1.0)
    assert [slopes(f(zero), zero)[0] for f in (Value.relu, abs, Value.sign, Value.sqrt)] == [0.0, 0.0, 0.0, INFINITY]
    for function in (rg.maximum, rg.minimum):
        other = Value(1.0)
        assert slopes(function(tie, other), tie, other) == [0.5, 0.5]
    for function in (rg.max, rg.min):
        others = [Value(1.0), Value(1.0)]
        assert slopes(function(others), *others) == [0.5, 0.5]
    assert ((zero**0).data, slopes(zero**0, zero)) == (1.0, [0.0])
    base, exponent = Value(-2.0), Value(3.0)
    partials = slopes(base**exponent, base, exponent)
    assert partials[0] == 12.0
    assert math.isnan(partials[1])


def test_domain() -> None:
    refused = [
        (lambda: 1 / Value(0), ZeroDivisionError, "1.0 / 0.0"),
        (lambda: Value(-1).log(), ValueError, r"log\(-1.0\)"),
        (lambda: Value(1e200) ** 2, OverflowError, r"1e\+200 \*\* 2.0"),
        (lambda: Value(-8) ** (1 / 3), ValueError, "real"),
    ]
    for attempt, error, says in refused:
        with pytest.raises(error, match=says):
            attempt()
    assert Value(1e200).square().data == INFINITY  # Python has no square: x*x does not raise
    assert Value(0.0).reciprocal().data == INFINITY
    with errstate(divide="ignore", over="ignore", invalid="ignore"):
        assert (1 / Value(0)).data == INFINITY
        assert math.isnan(Value(-1).log().data)
        assert (Value(1e200) ** 2).data == INFINITY


def test_changing_data_between_forward_and_backward() -> None:
    a, b = Value(2.0, label="weight"), Value(3.0)
    y = (a * b).relu()
    a.data = 5.0
    with pytest.raises(errors.ChangedValueError, match="weight"):
        y.backward()
    assert (a.grad, b.grad) == (0.0, 0.0)
    a.data = 2.0  # restored: no change
    y.backward()
    assert (a.grad, b.grad) == (3.0, 2.0)


def test_order_two_and_up() -> None:
    assert rg.grad(rg.grad(rg.grad(lambda x: x**4)))(2.0) == 48.0
    assert rg.hessian(lambda x: rg.jvp(lambda z: z**3, x, 1.0)[1])(2.0) == 6.0
    assert rg.grad(lambda x: x * rg.grad(lambda y: x + y)(1.0))(1.0) == 1.0  # no confusion of perturbations

    def with_numbers(x: Value) -> Value:
        return Value(x.data**2, (x,), (2 * x.data,))

    def with_closure(x: Value) -> Value:
        out = Value(x.data**2, (x,), "square")

        def backward() -> None:
            x.grad += 2 * x.data * out.grad

        out._backward = backward
        return out

    for f in (with_numbers, with_closure):
        assert rg.grad(f)(3.0) == 6.0
        for second in (lambda f=f: rg.grad(rg.grad(f))(3.0), lambda f=f: rg.hessian(f)(3.0)):
            with pytest.raises(errors.HigherOrderError):
                second()


def test_source_lines() -> None:
    large = Value(1e200, label="large")
    assert engine.get_source(large * 1.0) == 0  # plain recording keeps none
    for made in (lambda: [v * v for v in (Value(1.0), large)], lambda: Value(math.nan, (large,), "mine")):
        with pytest.raises(errors.AnomalyError, match=r"test_semantics\.py:\d+"), rg.detect_anomaly():
            made()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_copies(copied: Any) -> None:
    a, b = Value(2.0, label="a"), Value(3.0)
    y = (a * b + a).tanh() + rg.softmax([a, b])[1]
    y.backward()
    y2, a2, b2 = copied((y, a, b))
    assert (a2.grad, b2.grad, a2.label) == (a.grad, b.grad, "a")
    assert a2 is not a
    for leaf in (a, b, a2, b2):
        leaf.zero_grad()
    y.backward()
    y2.backward()
    assert (a2.grad, b2.grad) == (a.grad, b.grad)
    closure = Value(4.0, (a,), "mine")
    closure._backward = lambda: None
    with pytest.raises(TypeError, match="cannot be copied"):
        copied(closure * 2)


def test_threads() -> None:
    leaf = Value(2.0)
    node = leaf * 3
    seen: list[Any] = []

    def work() -> None:
        seen.append(node.data)
        seen.append(node._children[0] is leaf)
        seen.append(slopes(leaf * leaf, leaf))
        for extend in (lambda: node + 1, node.backward, lambda: Value(1.0, (node,), (1.0,))):
            try:
                extend()
            except errors.ForeignThreadError:
                seen.append("refused")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [6.0, True, [4.0], "refused", "refused", "refused"]


def test_reference_engine() -> None:
    from retrograd.engine import reference

    shared = [name for name in engine.__all__ if hasattr(reference, name)]
    assert {"Value", "apply", "reduce", "gradients", "sgd_step", "adam_step"} <= set(shared)

    def program(make: Any) -> list[str]:
        a, b = make(0.3), make(-1.7)
        y = (a * b + a.tanh() / 3 - 2**b).sigmoid() * (b**2 + 1) ** -0.5 + abs(b).log()
        y.backward()
        return [x.hex() for x in (y.data, a.grad, b.grad)]

    assert program(engine.Value) == program(reference.Value)


def test_children_are_given_once_and_as_a_sequence() -> None:
    a, b = Value(2.0), Value(3.0)
    with pytest.raises(TypeError, match="give them once"):
        Value(1.0, (a,), children=(b,))
    with pytest.raises(TypeError, match="takes a sequence"):
        Value(1.0, a, "+")  # type: ignore[arg-type]


def test_logsumexp_of_an_infinity() -> None:
    for numbers, shares in (
        ((math.inf, 1.0), [1.0, 0.0]),
        ((math.inf, math.inf), [0.5, 0.5]),
        ((-math.inf, 1.0), [0.0, 1.0]),
    ):
        xs = [Value(x) for x in numbers]
        rg.logsumexp(xs).backward()
        assert [x.grad for x in xs] == shares
