"""Schedules and clipping give what PyTorch's do; a resumed schedule goes on where it was."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from support.parts import require

import retrograd as rg
from retrograd import optim
from retrograd.errors import CheckpointError

START = 0.7


def sgd() -> optim.SGD:
    return optim.SGD([rg.Value(1.0)], lr=START)


def rates(make: Callable[[Any], Any], optimizer: Any, rate: Callable[[Any], float], steps: int = 12) -> list[float]:
    schedule, found = make(optimizer), []
    for _ in range(steps):
        found.append(rate(optimizer))
        optimizer.step()
        schedule.step()
    return found


OURS: dict[str, Callable[[Any], optim.Schedule]] = {
    "step": lambda o: optim.StepSchedule(o, every=3, factor=0.5),
    "lambda": lambda o: optim.LambdaSchedule(o, lambda step: 1 / (2 + step)),
    "warm-up": lambda o: optim.WarmupSchedule(optim.CosineSchedule(o, total=6), steps=4),
    "sequence": lambda o: optim.SequentialSchedule(
        [optim.LambdaSchedule(o, lambda step: 0.1), optim.StepSchedule(o, every=2, factor=0.5)], milestones=[5]
    ),
    "linear": lambda o: optim.LinearSchedule(o, total=5),
}


def theirs(name: str, o: Any) -> Any:
    lrs = require("torch").optim.lr_scheduler
    match name:
        case "step":
            return lrs.StepLR(o, 3, 0.5)
        case "lambda":
            return lrs.LambdaLR(o, lambda step: 1 / (2 + step))
        case "warm-up":
            parts = [lrs.LinearLR(o, 1 / 4, 1.0, 3), lrs.CosineAnnealingLR(o, 6)]
            return lrs.SequentialLR(o, parts, [4])
        case "sequence":
            return lrs.SequentialLR(o, [lrs.LambdaLR(o, lambda step: 0.1), lrs.StepLR(o, 2, 0.5)], [5])
        case _:
            return lrs.LinearLR(o, 1.0, 0.0, 5)


@pytest.mark.parametrize("name", OURS)
def test_the_rates_are_torchs(name: str) -> None:
    torch = require("torch")
    other = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=START)
    steps = 10  # torch's cosine rises again after its total, ours stays
    expected = rates(lambda o: theirs(name, o), other, lambda o: o.param_groups[0]["lr"], steps)
    assert rates(OURS[name], sgd(), lambda o: o.lr, steps) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", OURS)
def test_a_resumed_schedule_goes_on_where_it_was(name: str) -> None:
    whole = rates(OURS[name], sgd(), lambda o: o.lr)
    first = sgd()
    schedule = OURS[name](first)
    for _ in range(6):
        schedule.step()
    second = sgd()
    second.load_state_dict(first.state_dict())  # its rate is the scheduled one
    resumed = OURS[name](second)
    resumed.load_state_dict(schedule.state_dict())
    found = []
    for _ in range(6):
        found.append(second.lr)
        resumed.step()
    assert found == whole[6:]


def test_a_state_of_another_schedule_is_refused() -> None:
    state = OURS["step"](sgd()).state_dict()
    with pytest.raises(CheckpointError, match="belongs to 'StepSchedule'; this schedule is LinearSchedule"):
        OURS["linear"](sgd()).load_state_dict(state)
    with pytest.raises(CheckpointError, match="needs the steps taken"):
        OURS["step"](sgd()).load_state_dict({**state, "steps": -1})
    warm = OURS["warm-up"](sgd())
    with pytest.raises(CheckpointError, match="has 1 schedules inside, and the state 0"):
        warm.load_state_dict({"class": "WarmupSchedule", "steps": 1, "start": 0.1})


def test_wrong_schedules_are_refused() -> None:
    optimizer = sgd()
    parts = [optim.StepSchedule(optimizer, every=1), optim.StepSchedule(optimizer, every=1)]
    for call, words in (
        (lambda: optim.StepSchedule(optimizer, every=0), "at least 1"),
        (lambda: optim.WarmupSchedule(parts[0], steps=0), "at least one step"),
        (lambda: optim.SequentialSchedule(parts, []), "need 1 milestones"),
        (lambda: optim.SequentialSchedule(parts, [0]), "rising steps above 0"),
        (lambda: optim.SequentialSchedule([parts[0], optim.StepSchedule(sgd(), every=1)], [2]), "one optimizer"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_an_assigned_rate_starts_the_next_schedule() -> None:
    optimizer = sgd()
    OURS["lambda"](optimizer)
    assert optim.StepSchedule(optimizer, every=1).start == START
    optimizer.lr = 0.25
    assert optim.StepSchedule(optimizer, every=1).start == 0.25


# --- clipping ---------------------------------------------------------------------------------------------------


def with_gradients(gradients: list[float]) -> list[rg.Value]:
    values = [rg.Value(0.0) for _ in gradients]
    for value, gradient in zip(values, gradients, strict=True):
        value.grad = gradient
    return values


@pytest.mark.parametrize("limit", [0.0, 0.5, 100.0])
def test_clipping_is_torchs(limit: float) -> None:
    torch = require("torch")
    gradients = [3.0, -4.0, 0.25]
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        tensors = [torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in gradients]
        for tensor, gradient in zip(tensors, gradients, strict=True):
            tensor.grad = torch.tensor(gradient, dtype=torch.float64)
        values = with_gradients(gradients)
        expected = getattr(torch.nn.utils, name)(tensors, limit)
        norm = getattr(optim, name)(values, limit)
        if expected is not None:
            assert norm == pytest.approx(expected.item(), rel=1e-15)
        # torch divides by norm + 1e-6
        assert [v.grad for v in values] == pytest.approx([t.grad.item() for t in tensors], rel=1e-6)


def test_an_infinite_norm_leaves_the_gradients() -> None:
    values = with_gradients([math.inf, 1.0])
    assert optim.clip_grad_norm_(values, 1.0) == math.inf
    assert [v.grad for v in values] == [math.inf, 1.0]
    optim.clip_grad_value_(values, 0.5)
    assert [v.grad for v in values] == [0.5, 0.5]
    with pytest.raises(ValueError, match="from 0 up"):
        optim.clip_grad_norm_(values, -1.0)


def test_a_module_and_one_value_can_be_clipped() -> None:
    model = rg.nn.Linear(1, 1)
    model.weight[0][0].grad = 5.0
    optim.clip_grad_value_(model, 1.0)
    assert model.weight[0][0].grad == 1.0
    [value] = with_gradients([5.0])
    optim.clip_grad_norm_(value, 1.0)
    assert value.grad == 1.0


def test_an_optimizer_shows_its_settings() -> None:
    assert repr(sgd()) == "SGD(1 parameters, lr=0.7, momentum=0.0, weight_decay=0.0, nesterov=False)"
