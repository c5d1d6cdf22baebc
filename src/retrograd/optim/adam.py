"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import habits
from ..engine import Value, adam_step
from ..nn.module import Module
from .optimizer import Optimizer, checked_number

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Adam (Kingma & Ba, *Adam: A Method for Stochastic Optimization*, ICLR 2015).

    In step t, with g = grad + weight_decay * data::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        data -= lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

    The names, defaults and formulas are those of PyTorch's ``torch.optim.Adam``. On parameters of a compiled function
    a step may differ from the eager one in the last bits (tested to 2e-15 of a parameter), unless a function compiled
    with ``exact=True`` uses them.

    Args:
        params: A Module, or the parameters themselves: distinct leaf Values.
        lr: The learning rate: about how far a parameter moves in one step.
        betas: beta1 and beta2, how much of the means of the gradient and of its square a step keeps; each from 0 up
            to, but below, 1.
        eps: What keeps the denominator from 0, in units of the gradient.
        weight_decay: L2 regularization: this times the parameter is added to its gradient.

    Raises:
        TypeError: ``params`` holds something other than Values, ``betas`` is not a pair, or a number is a Value.
        ValueError: ``params`` is empty, or holds a Value twice or the result of an operation; a number is negative or
            not finite; a beta is 1 or more.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(1.0)
        >>> optimizer = rg.optim.Adam([x], lr=0.1)
        >>> for _ in range(3):
        ...     optimizer.zero_grad()
        ...     (x * x).backward()
        ...     optimizer.step()
        >>> round(x.data, 3)
        0.702
    """

    _decoupled = False

    @habits.refusing(habits.keywords.OPTIMIZER)
    def __init__(
        self,
        params: Module | Iterable[Value],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr)
        self.betas: tuple[float, float] = _checked_betas(betas)
        self.eps: float = checked_number("eps", eps)
        self.weight_decay: float = checked_number("weight_decay", weight_decay)
        self.steps: int = 0
        self.m: NDArray[np.float64] = _aligned_zeros(len(self.params))
        self.v: NDArray[np.float64] = _aligned_zeros(len(self.params))

    def step(self, closure: Callable[[], Value] | None = None) -> Value | None:
        """Move every parameter once, by the formulas above.

        Args:
            closure: PyTorch's: a function that clears the gradients, runs the passes and returns the loss; it is called
                first.

        Returns:
            What ``closure`` returned, or None without one.
        """
        loss = None if closure is None else closure()
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
        return loss

    def settings(self) -> dict[str, Any]:
        """The numbers that :meth:`state_dict` saves beside the arrays.

        Returns:
            lr, betas, eps, weight_decay, and steps, the number of steps taken.
        """
        return {
            **super().settings(),
            "betas": list(self.betas),
            "eps": self.eps,
            "weight_decay": self.weight_decay,
            "steps": self.steps,
        }

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The optimizer's memory.

        Returns:
            ``m`` and ``v``, the running means of the gradient and of its square: float64 arrays with one element for
            each parameter, not copied.
        """
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
    """Adam with decoupled weight decay (Loshchilov & Hutter, *Decoupled Weight Decay Regularization*, ICLR 2019).

    A step first does ``data *= 1 - lr * weight_decay`` and then what :class:`Adam` does with the gradient alone: the
    decay does not pass through Adam's means.

    Args:
        params: A Module, or the parameters themselves: distinct leaf Values.
        lr: The learning rate: about how far a parameter moves in one step.
        betas: beta1 and beta2, as for :class:`Adam`.
        eps: What keeps the denominator from 0, in units of the gradient.
        weight_decay: The share of a parameter that a step takes away, per unit of ``lr``.

    Raises:
        TypeError: As for :class:`Adam`.
        ValueError: As for :class:`Adam`.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(1.0)
        >>> rg.optim.AdamW([x], lr=0.1, weight_decay=0.5).step()  # no gradient yet: only the decay
        >>> x.data
        0.95
    """

    _decoupled = True

    @habits.refusing(habits.keywords.OPTIMIZER)
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
