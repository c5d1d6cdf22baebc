"""A function of retrograd inside PyTorch: its value and gradient as a ``torch.autograd.Function``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .autodiff.transforms import value_and_grad
from .errors import HigherOrderError, MissingExtraError

__all__ = ["to_torch"]


def to_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as a function of tensors, through which ``backward()`` of PyTorch flows.

    A call runs the function in double precision, once, with its gradient: of a compiled function that is its program.
    A tensor of any shape is given as nested lists; the result is a tensor without axes. First derivatives only:
    ``create_graph=True`` raises HigherOrderError.

    Args:
        function: A function, compiled or not, that returns one Value.

    Returns:
        A function of tensors and other arguments. Floating-point tensors are differentiated; what is no tensor, or
        holds integers, is passed on as it is. The result has the kind of number and the device of the first of them.

    Raises:
        MissingExtraError: PyTorch is not installed.

    Example:
        >>> import torch
        >>> import retrograd as rg
        >>> from retrograd.torch import to_torch
        >>> f = to_torch(rg.compile(lambda x, w: rg.math.tanh(rg.dot(x, w))))
        >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        >>> f(x, [0.5, -0.25]).backward()
        >>> x.grad
        tensor([ 0.5000, -0.2500], dtype=torch.float64)
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError('to_torch needs PyTorch: pip install "retrograd[torch]"') from None

    class Call(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any here
        """One call: the numbers go in as lists, and the gradient is kept for the backward pass."""

        @staticmethod
        def forward(context: Any, *arguments: Any) -> Any:
            chosen = [i for i, x in enumerate(arguments) if torch.is_tensor(x) and x.is_floating_point()]
            plain = [x.detach().cpu().tolist() if torch.is_tensor(x) else x for x in arguments]
            value, slopes = value_and_grad(function, argnums=tuple(chosen))(*plain)
            context.slopes = [None] * len(arguments)
            for i, slope in zip(chosen, slopes, strict=True):
                context.slopes[i] = arguments[i].new_tensor(slope).reshape(arguments[i].shape)
            return arguments[chosen[0]].new_tensor(value)

        @staticmethod
        def backward(context: Any, upstream: Any) -> Any:
            if torch.is_grad_enabled():  # with create_graph=True: the gradient would be a constant, without a word
                raise HigherOrderError(
                    "a function of to_torch has first derivatives only, and create_graph=True asks for more: take "
                    "rg.hessian or rg.hvp of the function itself."
                )
            return tuple(None if slope is None else upstream * slope for slope in context.slopes)

    def call(*arguments: Any) -> Any:
        if not any(torch.is_tensor(x) and x.is_floating_point() for x in arguments):
            raise TypeError("to_torch gives a function of tensors, and none of these arguments is a tensor of floats.")
        return Call.apply(*arguments)

    call.__name__ = getattr(function, "__name__", "call")
    call.__doc__ = getattr(function, "__doc__", None)
    return call
