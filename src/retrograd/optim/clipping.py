"""Gradients cut to size, between ``backward()`` and ``step()``."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .. import habits
from ..engine import Value
from ..nn.module import Module
from .optimizer import checked_number, refuse_method

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


@habits.refusing(habits.keywords.CLIP)
def clip_grad_norm_(params: Module | Iterable[Value], max_norm: float) -> float:
    """Scale the gradients together so that their Euclidean norm is at most ``max_norm``.

    Args:
        params: A Module, or the parameters themselves.
        max_norm: The largest norm, from 0 up.

    Returns:
        The norm before. Where it is infinite or NaN, no scale can help, and the gradients stay as they are: PyTorch
        makes them zero or NaN.

    Raises:
        TypeError: ``max_norm`` is a Value.
        ValueError: ``max_norm`` is negative or not finite.

    Example:
        >>> import retrograd as rg
        >>> x, y = rg.Value(3.0), rg.Value(4.0)
        >>> ((x * x + y * y) / 2).backward()
        >>> rg.optim.clip_grad_norm_([x, y], max_norm=1.0), round(x.grad, 9), round(y.grad, 9)
        (5.0, 0.6, 0.8)
    """
    values, limit = _values(params), checked_number("max_norm", max_norm)
    norm = math.hypot(*(value.grad for value in values))
    if limit < norm < math.inf:
        for value in values:
            value.grad *= limit / norm
    return norm


@habits.refusing(habits.keywords.CLIP)
def clip_grad_value_(params: Module | Iterable[Value], clip_value: float) -> None:
    """Cut each gradient to the interval from ``-clip_value`` to ``clip_value``.

    Args:
        params: A Module, or the parameters themselves.
        clip_value: The largest magnitude, from 0 up. A NaN stays one.

    Raises:
        TypeError: ``clip_value`` is a Value.
        ValueError: ``clip_value`` is negative or not finite.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(3.0)
        >>> (x * x).backward()
        >>> rg.optim.clip_grad_value_([x], 0.5)
        >>> x.grad
        0.5
    """
    limit = checked_number("clip_value", clip_value)
    for value in _values(params):
        if abs(value.grad) > limit:
            value.grad = math.copysign(limit, value.grad)


def _values(params: Module | Iterable[Value]) -> list[Value]:
    if isinstance(params, Value):
        return [params]
    refuse_method(params, "a gradient clip")
    return params.parameters() if isinstance(params, Module) else list(params)
