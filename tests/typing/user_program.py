"""A user's program of a hundred lines, which tests/test_typing.py gives to mypy and to pyright."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_type

import numpy as np

import retrograd as rg
from retrograd import Value, nn, optim


@dataclass
class Sample:
    x: list[float]
    label: float


class Classifier(nn.Module):
    """A small network with a scale that is learned."""

    def __init__(self, inputs: int, hidden: int) -> None:
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.scale = Value(1.0, label="scale")

    def forward(self, x: Sequence[Value | float]) -> Value:
        score: Value = self.body(x)[0]
        return rg.math.sigmoid(self.scale * score)


def loss_of(model: Classifier, batch: Sequence[Sample]) -> Value:
    losses = [(model.forward(sample.x) - sample.label) ** 2 for sample in batch]
    penalty = rg.sum([p * p for p in model.parameters()])
    assert_type(penalty, Value)
    return rg.mean(losses) + 1e-3 * penalty


def train(model: Classifier, data: list[Sample], steps: int) -> list[float]:
    optimizer = optim.AdamW(model, lr=0.05, weight_decay=1e-4)
    schedule = optim.WarmupSchedule(optim.CosineSchedule(optimizer, total=steps), steps=5)
    history: list[float] = []
    for _ in range(steps):
        loss = loss_of(model, random.sample(data, 4))
        optimizer.zero_grad()
        loss.backward()
        norm = optim.clip_grad_norm_(model, 1.0)
        assert_type(norm, float)
        optimizer.step()
        schedule.step()
        history.append(loss.data)
    return history


@rg.compile
def energy(x: float, y: float, n: int) -> Value | float:
    total: Value | float = 0.0
    for i in range(n):
        total = total + rg.math.sin(x * i) * y
    return total


@rg.primitive(partials=lambda x: 2.0 * x)
def square(x: float) -> float:
    return x * x


def derivatives() -> None:
    def rosenbrock(p: list[Value]) -> Value:
        return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2

    slopes: list[float] = rg.grad(rosenbrock)([0.0, 1.0])
    rows: list[list[float]] = rg.hessian(rosenbrock)([0.0, 1.0])
    value, along = rg.jvp(rosenbrock, [0.0, 1.0], [1.0, 0.0])
    print(slopes, rows, value, along, energy(1.0, 2.0, n=3), energy.value_and_grad(1.0, 2.0, 3))
    assert rg.check_gradients(lambda x: rg.math.log(x), {"x": 2.0}).ok


def numbers() -> None:
    a, b = Value(2.0), Value(3.0)
    assert_type(a * b, Value)
    assert_type(2.0 / a, Value)
    assert_type(a < b, bool)
    assert_type(a.data, float)
    assert_type(rg.math.exp(1.0), float)
    assert_type(rg.math.exp(a), Value)
    assert_type(rg.math.atan2(1.0, b), Value)
    assert_type(rg.mean([a, b]), Value)
    assert_type(rg.mean([1.0, 2.0]), float)
    assert_type(rg.sum([a, 1.0]), Value | float)
    assert_type(rg.dot([a, b], [1.0, 2.0]), Value)
    assert_type(rg.softmax([a, b]), list[Value])
    vector = np.array([a, b], dtype=object)
    print(np.sin(a), np.exp(b) * a, np.sum(np.tanh(vector)), rg.math.exp(vector), square(2.0))
    with rg.no_grad(), rg.errstate(divide="ignore"), rg.detect_anomaly():
        print(1 / Value(0.0), f"{a:.3f}", a.label)


def main(out: Path) -> None:
    random.seed(1)
    data = [Sample([random.random(), random.random()], float(i % 2)) for i in range(16)]
    model = Classifier(2, 4)
    history = train(model, data, 20)
    for name, parameter in model.named_parameters():
        print(name, parameter.data, parameter.grad)
    np.savez(out, allow_pickle=False, **model.state_dict())
    print(history[-1], rg.explain(loss_of(model, data[:1])).to_text(check=False)[:100])
    numbers()
    derivatives()
