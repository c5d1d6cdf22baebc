"""Optimizers against PyTorch's, schedules, and what optimizers refuse."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import numpy as np
import pytest
from support.parts import require

from retrograd import nn, optim
from retrograd.engine import Value
from retrograd.errors import CheckpointError

START = [0.5, -1.5, 3.0, 0.0]

CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.03}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "betas": (0.85, 0.99), "eps": 1e-6, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "betas": (0.5, 0.9), "weight_decay": 0.2}),
]


def objective(x):
    """Works on Values and on tensors; the last number has a gradient of zero at first."""
    return (x[0] - 1) ** 2 + x[0] * x[1] + (x[1] + 2) ** 4 * 0.1 + x[2] ** 2 * x[3] ** 2 + x[2]


def trajectory(optimizer, values, steps=25):
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        objective(values).backward()
        optimizer.step()
        path.append([value.data for value in values])
    return path


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_trajectories_are_pytorchs(name, settings):
    torch = require("torch")
    values = [Value(x) for x in START]
    ours = trajectory(getattr(optim, name)(values, **settings), values)
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in START]
    theirs_optimizer = getattr(torch.optim, name)(tensors, **settings)
    for numbers in ours:
        theirs_optimizer.zero_grad()
        objective(tensors).backward()
        theirs_optimizer.step()
        assert numbers == pytest.approx([t.item() for t in tensors], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_a_saved_optimizer_goes_on_bit_for_bit(name, settings):
    kind, values = getattr(optim, name), [Value(x) for x in START]
    optimizer = kind(values, **settings)
    trajectory(optimizer, values, 5)
    state, data = optimizer.state_dict(), [value.data for value in values]
    expected = trajectory(optimizer, values, 5)
    again = [Value(x) for x in data]
    resumed = kind(again, **settings)
    resumed.load_state_dict(state)
    assert trajectory(resumed, again, 5) == expected


def test_a_state_of_another_optimizer_is_refused_and_changes_nothing():
    values = [Value(x) for x in START]
    adam = optim.Adam(values)
    adam.v[:] = 3.0
    good = adam.state_dict()
    for state, message in (
        (optim.AdamW(values).state_dict(), "belongs to 'AdamW'"),
        (optim.Adam(values[:2]).state_dict(), "for 2 parameters; this model has 4"),
        ({**good, "settings": {"lr": 1}}, "settings of Adam must be lr, betas"),
        ({**good, "settings": {**good["settings"], "lr": -1}}, "damaged"),
        ({**good, "settings": {**good["settings"], "betas": [0.9]}}, "damaged"),
        ({**good, "settings": {**good["settings"], "steps": 1.5}}, "damaged"),
        ({**good, "arrays": {"m": good["arrays"]["m"]}}, "needs the arrays m, v"),
        ({}, "belongs to None"),
    ):
        with pytest.raises(CheckpointError, match=message):
            adam.load_state_dict(state)
        assert adam.lr == 1e-3
        assert (adam.v == 3.0).all()
    with pytest.raises(CheckpointError, match="momentum"):
        optim.SGD(values).load_state_dict(
            {"class": "SGD", "settings": optim.SGD(values, momentum=0.9).settings(), "arrays": {}}
        )


def test_a_module_or_any_iterable_of_values():
    model = nn.MLP(2, [2, 1])
    assert optim.SGD(model).params == tuple(model.parameters())
    assert len(optim.SGD(p for p in model.parameters()).params) == 9
    assert len(optim.SGD({"a": Value(1.0), "b": Value(2.0)}.values()).params) == 2


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW])
def test_what_optimizers_refuse(kind):
    a = Value(1.0, label="a")
    for params, error, message in (
        ([], ValueError, "at least one parameter"),
        ([a, Value(2.0), a], ValueError, "parameter 2, .* is in the list twice"),
        ([a, 2.0], TypeError, "parameter 1 is 2.0, a float"),
        ([a, a * 2], ValueError, "only leaves can be moved"),
        (a, TypeError, "a Module or a list of Values"),
        (3, TypeError, "a Module or a list of Values"),
    ):
        with pytest.raises(error, match=message):
            kind(params)
    for lr in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="learning rate must be a number from 0 up"):
            kind([a], lr=lr)
    with pytest.raises(TypeError, match=r"not a Value"):
        kind([a], lr=Value(0.1))
    optimizer = kind([a])
    with pytest.raises(ValueError, match="learning rate"):
        optimizer.lr = -1.0


def test_impossible_settings():
    a = [Value(1.0)]
    for make, message in (
        (lambda: optim.Adam(a, betas=(0.9, 1.0)), "below, 1"),
        (lambda: optim.Adam(a, betas=(0.9,)), "two numbers"),
        (lambda: optim.Adam(a, eps=-1.0), "eps"),
        (lambda: optim.AdamW(a, weight_decay=-1.0), "weight_decay"),
        (lambda: optim.SGD(a, momentum=-0.5), "momentum"),
        (lambda: optim.SGD(a, nesterov=True), "momentum above zero"),
        (lambda: optim.LinearSchedule(optim.SGD(a), 0), "at least one step"),
        (lambda: optim.CosineSchedule(optim.SGD(a), 5, end=-1.0), "final learning rate"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(TypeError):
        optim.Optimizer(a, 0.1)
    with pytest.raises(TypeError, match="two numbers"):
        optim.Adam(a, betas=0.9)


def test_the_learning_rate_is_settable_and_numpy_numbers_are_fine():
    a = Value(1.0)
    optimizer = optim.SGD([a], lr=np.float32(0.5))
    a.grad = 1.0
    optimizer.step()
    optimizer.lr = 0.25
    optimizer.step()
    assert a.data == 0.25
    optimizer.zero_grad()
    assert a.grad == 0.0


def test_schedules():
    optimizer = optim.SGD([Value(1.0)], lr=0.01)
    linear = optim.LinearSchedule(optimizer, 1000)
    assert [linear.rate(step) for step in (0, 1, 500, 1000, 2000)] == [0.01, 0.01 * (1 - 1 / 1000), 0.005, 0.0, 0.0]
    linear.step()
    linear.step()
    assert optimizer.lr == linear.rate(2) == 0.01 * (1 - 2 / 1000)
    linear.seek(500)
    assert optimizer.lr == 0.005
    optimizer.lr = 1.0
    cosine = optim.CosineSchedule(optimizer, 10, end=0.2)
    assert [cosine.rate(step) for step in (0, 5, 10, 11)] == pytest.approx([1.0, 0.6, 0.2, 0.2])


def test_the_cosine_schedule_is_pytorchs():
    torch = require("torch")
    optimizer = optim.SGD([Value(1.0)], lr=0.3)
    schedule = optim.CosineSchedule(optimizer, 7, end=0.01)
    theirs = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    annealing = torch.optim.lr_scheduler.CosineAnnealingLR(theirs, 7, eta_min=0.01)
    for _ in range(7):
        theirs.step()
        schedule.step()
        annealing.step()
        assert optimizer.lr == pytest.approx(annealing.get_last_lr()[0], rel=1e-12)


def test_a_step_is_noticed_by_a_graph_made_before_it():
    random.seed(0)
    model = nn.MLP(2, [2, 1])
    loss = model([1.0, 2.0]) ** 2
    loss.backward()
    optim.SGD(model, lr=0.1).step()
    with pytest.raises(RuntimeError, match="forward pass"):
        loss.backward()


@pytest.mark.parametrize("how", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, momentum=0.9), optim.Adam, optim.AdamW])
def test_a_copy_goes_on_where_the_original_is(how: Any, make: Any) -> None:
    """An optimizer is copied with its parameters, and with the model that has them."""
    model = nn.Linear(2, 1)
    optimizer = make(model)

    def step(model: Any, optimizer: Any) -> list[float]:
        optimizer.zero_grad()
        (model([1.0, -2.0])[0] ** 2).backward()
        optimizer.step()
        return [p.data for p in model.parameters()]

    step(model, optimizer)
    other, second = how((model, optimizer))
    assert [a is b for a, b in zip(second.params, other.parameters(), strict=True)] == [True] * 3
    assert [step(other, second) for _ in range(3)] == [step(model, optimizer) for _ in range(3)]


@pytest.mark.parametrize(
    "attempt",
    [
        lambda model: optim.Adam(model.parameters),
        lambda model: optim.SGD(model.parameters, lr=0.1),
        lambda model: optim.clip_grad_norm_(model.parameters, 1.0),
    ],
)
def test_the_method_parameters_is_no_list_of_them(attempt):
    with pytest.raises(TypeError, match=r"got the method parameters itself: call it, model\.parameters\(\)\.$"):
        attempt(nn.MLP(2, [1]))


def test_a_model_of_plain_numbers_has_no_parameters() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.w = 1.0

    with pytest.raises(ValueError, match=r"Net has none: a plain number is none, write self\.w = rg\.Value\(1\.0\)\.$"):
        optim.SGD(Net())


def test_text_is_no_learning_rate() -> None:
    with pytest.raises(TypeError, match=r"must be a plain number and not str '0\.1'"):
        optim.SGD([Value(1.0)], lr="0.1")  # type: ignore[arg-type]
