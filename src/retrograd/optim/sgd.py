"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import Value, sgd_step
from ..nn.module import Module
from .optimizer import Optimizer, checked_number

__all__ = ["SGD"]


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
        self.momentum = checked_number("momentum", momentum)
        self.weight_decay = checked_number("weight_decay", weight_decay)
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
        momentum = checked_number("momentum", settings["momentum"])
        if bool(momentum) != (self.velocity is not None):
            raise ValueError(f"its momentum is {momentum} and this optimizer's is {self.momentum}.")
        super()._restore(settings)
        self.momentum = momentum
        self.weight_decay = checked_number("weight_decay", settings["weight_decay"])
        self.nesterov = bool(settings["nesterov"])
