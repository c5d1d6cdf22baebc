"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import Value, adam_step
from ..nn.module import Module
from .optimizer import Optimizer, checked_number

__all__ = ["Adam", "AdamW"]


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
        self.eps = checked_number("eps", eps)
        self.weight_decay = checked_number("weight_decay", weight_decay)
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
        self.eps = checked_number("eps", settings["eps"])
        self.weight_decay = checked_number("weight_decay", settings["weight_decay"])


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


def _aligned_zeros(count: int) -> NDArray[np.float64]:
    """Zeros aligned to a cache line, so that no vector load crosses two lines."""
    line = 64
    room = np.zeros(count * 8 + line, dtype=np.uint8)
    start = -room.ctypes.data % line
    return room[start : start + count * 8].view(np.float64)


def _checked_betas(betas: Iterable[float]) -> tuple[float, float]:
    if not isinstance(betas, Iterable):
        raise TypeError(f"betas must be two numbers, such as (0.9, 0.999), not {betas!r}.")
    pair = tuple(checked_number("each of the betas", beta) for beta in betas)
    if len(pair) != 2 or max(pair) >= 1:
        raise ValueError(f"betas must be two numbers from 0 up to, but below, 1; they are {pair}.")
    return pair[0], pair[1]
