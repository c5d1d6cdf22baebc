"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import habits
from ..engine import Value, sgd_step
from ..nn.module import Module
from .optimizer import Optimizer, checked_number

__all__ = ["SGD"]


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum, Nesterov's form of it, and L2 weight decay.

    With g = grad + weight_decay * data, a step is ``data -= lr * g``. With momentum, a velocity, which is 0 at first,
    becomes ``velocity = momentum * velocity + g`` and takes the place of g; with ``nesterov``, ``g + momentum *
    velocity`` does (Sutskever et al. 2013). These are the formulas of PyTorch's ``torch.optim.SGD``.

    Args:
        params: A Module, or the parameters themselves: distinct leaf Values.
        lr: The learning rate, in units of data per unit of gradient.
        momentum: The share of the velocity that a step keeps; 0 for none.
        weight_decay: L2 regularization: this times the parameter is added to its gradient.
        nesterov: Look ahead along the velocity. It needs a momentum above 0.

    Raises:
        TypeError: ``params`` holds something other than Values, or a number is a Value.
        ValueError: ``params`` is empty, or holds a Value twice or the result of an operation; a number is negative or
            not finite; ``nesterov`` comes without momentum.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(1.0)
        >>> optimizer = rg.optim.SGD([x], lr=0.1)
        >>> for _ in range(3):
        ...     optimizer.zero_grad()
        ...     (x * x).backward()
        ...     optimizer.step()
        >>> round(x.data, 6)  # each step multiplies it by 1 - 0.1 * 2
        0.512
    """

    @habits.refusing(habits.keywords.OPTIMIZER)
    def __init__(
        self,
        params: Module | Iterable[Value],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(params, lr)
        self.momentum: float = checked_number("momentum", momentum)
        self.weight_decay: float = checked_number("weight_decay", weight_decay)
        if nesterov and not momentum:
            raise ValueError("nesterov=True needs a momentum above zero, such as momentum=0.9.")
        self.nesterov: bool = bool(nesterov)
        self.velocity: NDArray[np.float64] | None = np.zeros(len(self.params)) if momentum else None

    def step(self, closure: Callable[[], Value] | None = None) -> Value | None:
        """Move every parameter once, along its gradient or, with momentum, its velocity.

        Args:
            closure: PyTorch's: a function that clears the gradients, runs the passes and returns the loss; it is called
                first.

        Returns:
            What ``closure`` returned, or None without one.
        """
        loss = None if closure is None else closure()
        sgd_step(self._parameters, self.velocity, self._lr, self.momentum, self.weight_decay, self.nesterov)
        return loss

    def settings(self) -> dict[str, Any]:
        """The numbers that :meth:`state_dict` saves beside the arrays.

        Returns:
            lr, momentum, weight_decay and nesterov.
        """
        return {
            **super().settings(),
            "momentum": self.momentum,
            "weight_decay": self.weight_decay,
            "nesterov": self.nesterov,
        }

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The optimizer's memory.

        Returns:
            With momentum, the velocities: a float64 array with one element for each parameter, not copied.
        """
        return {} if self.velocity is None else {"velocity": self.velocity}

    def _restore(self, settings: Mapping[str, Any]) -> None:
        momentum = checked_number("momentum", settings["momentum"])
        if bool(momentum) != (self.velocity is not None):
            raise ValueError(f"its momentum is {momentum} and this optimizer's is {self.momentum}.")
        super()._restore(settings)
        self.momentum = momentum
        self.weight_decay = checked_number("weight_decay", settings["weight_decay"])
        self.nesterov = bool(settings["nesterov"])
