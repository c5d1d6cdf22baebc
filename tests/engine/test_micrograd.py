"""Drop-in for micrograd: its own tests, its training loop, and classes and ops that users wrote for it."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from support.parts import require

from retrograd.engine import Value
from retrograd.nn import MLP


def sanity(number: Any) -> tuple[Any, Any]:
    x = number(-4.0)
    z = 2 * x + 2 + x
    q = z.relu() + z * x
    h = (z * z).relu()
    y = h + q + q * x
    return x, y


def more_ops(number: Any) -> tuple[Any, Any, Any]:
    a, b = number(-4.0), number(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    return a, b, g


def test_its_own_tests_against_pytorch() -> None:
    torch = require("torch")

    def tensor(x: float) -> Any:
        return torch.tensor([x], dtype=torch.float64, requires_grad=True)

    for program in (sanity, more_ops):
        *ours, y = program(Value)
        *theirs, t = program(tensor)
        y.backward()
        t.backward()
        assert y.data == pytest.approx(t.item(), rel=1e-14)
        assert [v.grad for v in ours] == pytest.approx([v.grad.item() for v in theirs], rel=1e-14)


def test_its_training_loop_gives_its_numbers() -> None:
    engine = require("micrograd.engine")
    nn = require("micrograd.nn")
    from retrograd.training.data import make_moons

    xs, ys = make_moons(40, 0.1, 0)

    def train(value: Any, mlp: Any) -> list[float]:
        random.seed(1337)
        model = mlp(2, [8, 8, 1])
        losses = []
        for k in range(5):
            scores = [model(list(map(value, x))) for x in xs]
            margins = [(1 + -y * score).relu() for y, score in zip(ys, scores, strict=True)]
            loss = sum(margins) * (1.0 / len(margins)) + 1e-4 * sum(p * p for p in model.parameters())
            model.zero_grad()
            loss.backward()
            for p in model.parameters():
                p.data -= (1.0 - 0.9 * k / 100) * p.grad
            losses.append(loss.data)
        return losses

    assert train(Value, MLP) == pytest.approx(train(engine.Value, nn.MLP), rel=1e-12)


def test_same_words_as_micrograd() -> None:
    engine = require("micrograd.engine")
    nn = require("micrograd.nn")

    def describe(value: Any) -> list[str]:
        a = value(2.0)
        return [v._op for v in (a, a + 1, a * 3, a**2, a**-1, a.relu())]

    assert describe(Value) == describe(engine.Value)
    assert repr(MLP(3, [4, 4, 1])) == repr(nn.MLP(3, [4, 4, 1]))
    assert repr(Value(4.5)) == "Value(data=4.5, grad=0.0)"


def tanh(self: Any) -> Any:
    """An op as the lecture writes it: a constructor, a closure over its own result, an assignment."""
    x = self.data
    t = (math.exp(2 * x) - 1) / (math.exp(2 * x) + 1)
    out = Value(t, (self,), "tanh")

    def _backward() -> None:
        self.grad += (1 - t**2) * out.grad

    out._backward = _backward
    return out


def test_an_op_defined_by_a_user() -> None:
    x, w = Value(0.5), Value(-1.5)
    y = tanh(x * w) * x
    y.backward()
    expected = Value(0.5), Value(-1.5)
    ((expected[0] * expected[1]).tanh() * expected[0]).backward()
    assert [x.grad, w.grad] == pytest.approx([v.grad for v in expected], rel=1e-14)
    assert y._children[0]._op == "tanh"


def test_a_class_defined_by_a_user() -> None:
    class Mine(Value):
        def __init__(self, data: float, _children: tuple[Any, ...] = (), _op: str = "", name: str = "") -> None:
            super().__init__(data, _children, _op)
            self.name = name

        def double(self) -> Mine:
            out = Mine(2 * self.data, (self,), "double")

            def _backward() -> None:
                self.grad += 2 * out.grad

            out._backward = _backward
            return out

    x = Mine(3.0, name="x")
    y = x.double().double()
    assert type(y) is Mine
    y.backward()
    assert (x.name, x.grad) == ("x", 4.0)


def test_intermediate_results_may_be_nudged() -> None:
    """The lecture nudges a result before it is used, to estimate a derivative."""

    def loss(h: float) -> float:
        a, b, c, f = Value(2.0), Value(-3.0), Value(10.0), Value(-2.0)
        e = a * b
        d = e + c
        d.data += h
        return float((d * f).data)

    assert (loss(1e-4) - loss(0.0)) / 1e-4 == pytest.approx(-2.0)
