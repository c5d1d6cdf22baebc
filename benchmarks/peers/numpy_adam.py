"""Adam over one NumPy array, vectorised and in place, as it is commonly written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Adam"]


class Adam:
    """The same update as :class:`retrograd.optim.Adam`, for float64 arrays."""

    def __init__(
        self,
        params: NDArray[np.float64],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        self.params = params
        self.lr, self.betas, self.eps = lr, betas, eps
        self.m = np.zeros_like(params)
        self.v = np.zeros_like(params)
        self.steps = 0

    def step(self, grad: NDArray[np.float64]) -> None:
        """Update ``params`` in place from a gradient of the same shape."""
        self.steps += 1
        beta1, beta2 = self.betas
        self.m *= beta1
        self.m += (1 - beta1) * grad
        self.v *= beta2
        self.v += (1 - beta2) * grad * grad
        m_hat = self.m / (1 - beta1**self.steps)
        v_hat = self.v / (1 - beta2**self.steps)
        self.params -= self.lr * m_hat / (np.sqrt(v_hat) + self.eps)
