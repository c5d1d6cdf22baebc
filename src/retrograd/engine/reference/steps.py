"""The optimizers' arithmetic for the reference engine: one call updates every parameter.

The native engine has the same functions with the same operations in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import errors
from . import libm
from .operators import Operators

if TYPE_CHECKING:
    from .value import Value

__all__ = ["adam_step", "sgd_step", "zero_gradients"]

State = NDArray[np.float64]


def zero_gradients(values: Sequence[Value], /) -> None:
    """Set the ``.grad`` of each of ``values`` to zero."""
    _check(values)
    for value in values:
        value.grad = 0.0


def sgd_step(
    values: Sequence[Value],
    velocity: State | None,
    lr: float,
    momentum: float,
    weight_decay: float,
    nesterov: bool,
    /,
) -> None:
    """One step of stochastic gradient descent, as PyTorch's SGD.

    ``g = grad + weight_decay * data``; with momentum ``velocity = momentum * velocity + g`` and g becomes the
    velocity, or ``g + momentum * velocity`` with nesterov; then ``data -= lr * g``. ``velocity``, one element
    for each value, is updated in place; None when there is no momentum.
    """
    _check(values, velocity)
    for i, value in enumerate(values):
        g = value.grad + weight_decay * value.data if weight_decay else value.grad
        if velocity is not None:
            speed = momentum * float(velocity[i]) + g
            velocity[i] = speed
            g = g + momentum * speed if nesterov else speed
        value.data = value.data - lr * g


def adam_step(
    values: Sequence[Value],
    m: State,
    v: State,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    /,
) -> None:
    """One step of Adam, or of AdamW when ``decoupled``; ``step`` counts from 1.

    ``m = beta1 * m + (1 - beta1) * g`` and ``v = beta2 * v + (1 - beta2) * g * g``, updated in place, and
    ``data -= lr / (1 - beta1**step) * (m / (sqrt(v * (1 / (1 - beta2**step))) + eps))``. Weight decay is added to
    the gradient, or, decoupled, taken off the data first: ``data -= lr * weight_decay * data``.
    """
    _check(values, m, v)
    unbiased_rate = libm.divide(lr, 1.0 - libm.PRIMITIVES["pow"](beta1, float(step)))
    correction = libm.divide(1.0, 1.0 - libm.PRIMITIVES["pow"](beta2, float(step)))
    for i, value in enumerate(values):
        data, g = value.data, value.grad
        if weight_decay and decoupled:
            data = data - lr * weight_decay * data
        elif weight_decay:
            g = g + weight_decay * data
        mean = beta1 * float(m[i]) + (1.0 - beta1) * g
        square = beta2 * float(v[i]) + (1.0 - beta2) * g * g
        m[i], v[i] = mean, square
        root = libm.PRIMITIVES["sqrt"](square * correction)
        value.data = data - unbiased_rate * libm.divide(mean, root + eps)


def _check(values: Sequence[Value], *arrays: State | None) -> None:
    for value in values:
        if not isinstance(value, Operators):
            raise errors.not_a_value(value, "an optimizer")
    for array in arrays:
        if array is not None and (array.shape != (len(values),) or array.dtype != np.float64):
            expected = f"a float64 array with one element for each of the {len(values)} parameters"
            raise errors.wrong_length("an optimizer's state", expected, array.size)
