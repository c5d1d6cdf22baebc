"""Optimizers with PyTorch's names and meanings, and learning-rate schedules.

Each step updates all parameters in one call of the engine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .engine import Parameters, Value, adam_step, sgd_step, zero_gradients
from .errors import CheckpointError
from .nn.module import Module

__all__ = ["SGD", "Adam", "AdamW", "CosineSchedule", "LinearSchedule", "Optimizer", "Schedule"]


class Optimizer(ABC):
    """What SGD, Adam and AdamW share: the parameters, the learning rate, and the saving of both.

    ``params`` is a Module or any iterable of Values. Raises TypeError for something else in it, ValueError
    when it is empty, holds a Value twice, or holds the result of an operation.
    """

    def __init__(self, params: Module | Iterable[Value], lr: float) -> None:
        self.params = _checked_parameters(params)
        self.lr = lr

    @property
    def params(self) -> tuple[Value, ...]:
        """The parameters, in the order of the optimizer's arrays; assign to change them."""
        return self._params

    @params.setter
    def params(self, params: Iterable[Value]) -> None:
        self._params = tuple(params)
        self._parameters = Parameters(self._params)

    @property
    def lr(self) -> float:
        """The learning rate; assign to change it. Raises ValueError when negative or not finite."""
        return self._lr

    @lr.setter
    def lr(self, lr: float) -> None:
        self._lr = _checked_number("the learning rate", lr)

    @abstractmethod
    def step(self) -> None:
        """Move every parameter once, along its current gradient."""

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to zero."""
        zero_gradients(self._parameters)

    def settings(self) -> dict[str, Any]:
        """The numbers that :meth:`state_dict` saves beside the arrays, by their constructor's names."""
        return {"lr": self.lr}

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The optimizer's memory: float64 arrays with one element for each parameter."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs: the class, the settings, and copies of the arrays."""
        arrays = {name: array.copy() for name, array in self.arrays().items()}
        return {"class": type(self).__name__, "settings": self.settings(), "arrays": arrays}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned. Raises CheckpointError when it is another optimizer's."""
        own = type(self).__name__
        if state.get("class") != own:
            raise CheckpointError(f"this optimizer state belongs to {state.get('class')!r}; this optimizer is {own}.")
        settings, given, mine = state.get("settings"), state.get("arrays"), self.arrays()
        if not isinstance(settings, Mapping) or settings.keys() != self.settings().keys():
            raise CheckpointError(
                f"the settings of {own} must be {', '.join(self.settings())}; these are {settings!r}."
            )
        if not isinstance(given, Mapping) or given.keys() != mine.keys():
            raise CheckpointError(
                f"the state of {own} with these settings needs the arrays {', '.join(mine) or 'none'}."
            )
        fresh = {name: np.asarray(given[name], dtype=np.float64) for name in mine}
        for name, array in fresh.items():
            if array.shape != mine[name].shape:
                raise CheckpointError(
                    f"the optimizer array {name!r} is for {array.size} parameters; this model has {len(self.params)}."
                )
        try:
            self._restore(settings)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"the settings of {own} in this state are damaged: {error}") from None
        for name, array in fresh.items():
            mine[name][:] = array

    def _restore(self, settings: Mapping[str, Any]) -> None:
        self.lr = settings["lr"]


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum, Nesterov's form of it, and L2 weight decay."""

    def __init__(
        self,
        params: Module | Iterable[Value],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(params, lr)
        self.momentum = _checked_number("momentum", momentum)
        self.weight_decay = _checked_number("weight_decay", weight_decay)
        if nesterov and not momentum:
            raise ValueError("nesterov=True needs a momentum above zero, such as momentum=0.9.")
        self.nesterov = bool(nesterov)
        self.velocity = np.zeros(len(self.params)) if momentum else None

    def step(self) -> None:
        """``velocity = momentum * velocity + grad`` and ``data -= lr * velocity``, as PyTorch has it."""
        sgd_step(self._parameters, self.velocity, self.lr, self.momentum, self.weight_decay, self.nesterov)

    def settings(self) -> dict[str, Any]:
        return {
            **super().settings(),
            "momentum": self.momentum,
            "weight_decay": self.weight_decay,
            "nesterov": self.nesterov,
        }

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        return {} if self.velocity is None else {"velocity": self.velocity}

    def _restore(self, settings: Mapping[str, Any]) -> None:
        momentum = _checked_number("momentum", settings["momentum"])
        if bool(momentum) != (self.velocity is not None):
            raise ValueError(f"its momentum is {momentum} and this optimizer's is {self.momentum}.")
        super()._restore(settings)
        self.momentum = momentum
        self.weight_decay = _checked_number("weight_decay", settings["weight_decay"])
        self.nesterov = bool(settings["nesterov"])


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015); ``weight_decay`` is added to the gradient, as L2 regularization.

    On parameters of a compiled function a step may differ from the eager one in the last bits (tested to 2e-15 of a
    parameter), unless a function with ``exact=True`` uses them.
    """

    _decoupled = False

    def __init__(
        self,
        params: Module | Iterable[Value],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr)
        self.betas = _checked_betas(betas)
        self.eps = _checked_number("eps", eps)
        self.weight_decay = _checked_number("weight_decay", weight_decay)
        self.steps = 0
        self.m = _aligned_zeros(len(self.params))
        self.v = _aligned_zeros(len(self.params))

    def step(self) -> None:
        """Move by ``lr`` times the mean gradient over the root mean square gradient, both bias-corrected."""
        self.steps = steps = self.steps + 1
        beta1, beta2 = self.betas
        adam_step(
            self._parameters,
            self.m,
            self.v,
            steps,
            self._lr,
            beta1,
            beta2,
            self.eps,
            self.weight_decay,
            self._decoupled,
        )

    def settings(self) -> dict[str, Any]:
        return {
            **super().settings(),
            "betas": list(self.betas),
            "eps": self.eps,
            "weight_decay": self.weight_decay,
            "steps": self.steps,
        }

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        return {"m": self.m, "v": self.v}

    def _restore(self, settings: Mapping[str, Any]) -> None:
        betas, steps = _checked_betas(settings["betas"]), settings["steps"]
        if not isinstance(steps, int) or steps < 0:
            raise ValueError(f"steps must be a whole number from 0; it is {steps!r}.")
        super()._restore(settings)
        self.betas, self.steps = betas, steps
        self.eps = _checked_number("eps", settings["eps"])
        self.weight_decay = _checked_number("weight_decay", settings["weight_decay"])


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019): ``data *= 1 - lr * weight_decay`` first."""

    _decoupled = True

    def __init__(
        self,
        params: Module | Iterable[Value],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)


class Schedule(ABC):
    """What the schedules share: ``step()`` after each ``optimizer.step()`` sets the next learning rate.

    The rate starts at the optimizer's own and reaches ``end`` after ``total`` steps, where it stays.
    Raises ValueError when ``total`` is below 1.
    """

    def __init__(self, optimizer: Optimizer, total: int, end: float = 0.0) -> None:
        if total < 1:
            raise ValueError(f"a schedule takes at least one step; it was given {total}.")
        self.optimizer = optimizer
        self.start = optimizer.lr
        self.end = _checked_number("the final learning rate", end)
        self.total = total
        self.steps = 0

    @abstractmethod
    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps; depends on nothing else."""

    def step(self) -> None:
        """Count one step and set the optimizer's learning rate."""
        self.seek(self.steps + 1)

    def seek(self, step: int) -> None:
        """Go to where ``step`` steps lead, as a resumed run does."""
        self.steps = step
        self.optimizer.lr = self.rate(step)


class LinearSchedule(Schedule):
    """A straight line from the optimizer's learning rate to ``end``."""

    def rate(self, step: int) -> float:
        return self.end + (self.start - self.end) * (1 - min(step, self.total) / self.total)


class CosineSchedule(Schedule):
    """Half a cosine wave from the optimizer's learning rate to ``end``: slow, fast, slow."""

    def rate(self, step: int) -> float:
        turn = math.cos(math.pi * min(step, self.total) / self.total)
        return self.end + (self.start - self.end) * (1 + turn) / 2


def _aligned_zeros(count: int) -> NDArray[np.float64]:
    """Zeros that begin where a cache line does: vectors of them then lie in one line each."""
    line = 64
    room = np.zeros(count * 8 + line, dtype=np.uint8)
    start = -room.ctypes.data % line
    return room[start : start + count * 8].view(np.float64)


def _checked_parameters(params: Module | Iterable[Value]) -> list[Value]:
    if isinstance(params, Value) or not isinstance(params, (Module, Iterable)):
        raise TypeError(f"an optimizer takes a Module or a list of Values, not {params!r}.")
    values = params.parameters() if isinstance(params, Module) else list(params)
    if not values:
        raise ValueError("an optimizer needs at least one parameter; this list is empty.")
    seen = set()
    for index, value in enumerate(values):
        if not isinstance(value, Value):
            raise TypeError(f"an optimizer takes Values; parameter {index} is {value!r}, a {type(value).__name__}.")
        if value in seen:
            raise ValueError(f"parameter {index}, {value!r}, is in the list twice; give each parameter once.")
        if value._children:
            raise ValueError(
                f"parameter {index}, {value!r}, is the result of {value._op or 'an operation'!r}; "
                "only leaves can be moved: make it one with .detach(), or give the Values it was made from."
            )
        seen.add(value)
    return values


def _checked_number(name: str, number: float) -> float:
    if isinstance(number, Value):
        raise TypeError(f"{name} must be a plain number, not a Value; give {number!r}.data.")
    number = float(number)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be a number from 0 up, and finite; it is {number}.")
    return number


def _checked_betas(betas: Iterable[float]) -> tuple[float, float]:
    if not isinstance(betas, Iterable):
        raise TypeError(f"betas must be two numbers, such as (0.9, 0.999), not {betas!r}.")
    pair = tuple(_checked_number("each of the betas", beta) for beta in betas)
    if len(pair) != 2 or max(pair) >= 1:
        raise ValueError(f"betas must be two numbers from 0 up to, but below, 1; they are {pair}.")
    return pair[0], pair[1]
