"""A function of retrograd inside PyTorch: its value and its derivatives as a ``torch.autograd.Function``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .autodiff.transforms import value_and_grad, vjp
from .engine import Value
from .engine.pytree import flatten
from .errors import MissingExtraError

__all__ = ["to_torch"]


def to_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as a function of tensors, through which ``backward()`` of PyTorch flows, to every order.

    A call runs the function in double precision, once, with its gradient: of a compiled function that is its program.
    Where PyTorch wants the gradient's graph (``create_graph=True``, ``torch.autograd.functional.hessian``), the
    backward pass is the VJP of the function, and so on. A tensor of any shape is given as nested lists; the result is a
    tensor without axes. PyTorch's forward mode and the transforms of ``torch.func`` do not see into it, and say so.

    Args:
        function: A function, compiled or not, that returns one Value.

    Returns:
        A function of tensors and other arguments. Floating-point tensors are differentiated; what is no tensor, or
        holds integers, is passed on as it is. The result has the kind of number and the device of the first of them. A
        second derivative through a node of yours whose derivative is a plain number raises HigherOrderError.

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

    def call(*arguments: Any) -> Any:
        if not any(_is_differentiated(x) for x in arguments):
            raise TypeError("to_torch gives a function of tensors, and none of these arguments is a tensor of floats.")
        return operation.apply(*arguments)

    operation = _scalar_operation(torch, function)
    call.__name__ = getattr(function, "__name__", "call")
    call.__doc__ = getattr(function, "__doc__", None)
    return call


def _scalar_operation(torch: Any, function: Callable[..., Any]) -> Any:
    """The function as an operation of PyTorch, which keeps its gradient for the backward pass."""

    class Scalar(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any here
        """One call: the numbers go in as lists."""

        @staticmethod
        def forward(context: Any, *arguments: Any) -> Any:
            chosen = _differentiated(arguments)
            value, slopes = value_and_grad(function, argnums=tuple(chosen))(*_plain(arguments))
            _keep(context, arguments)
            context.slopes = [None] * len(arguments)
            for i, slope in zip(chosen, slopes, strict=True):
                context.slopes[i] = _tensor(slope, arguments[i])
            return arguments[chosen[0]].new_tensor(value)

        @staticmethod
        def backward(context: Any, upstream: Any) -> Any:
            if torch.is_grad_enabled():  # create_graph=True: the gradient is differentiated, too
                return _pulled_back(torch, lambda *xs: (function(*xs),), context, (upstream,))
            return tuple(None if slope is None else upstream * slope for slope in context.slopes)

    return Scalar


def _pulled_back(torch: Any, function: Callable[..., Any], context: Any, upstream: Sequence[Any]) -> Any:
    """The VJP of ``function``, which returns a tuple of trees, as an operation on its arguments and the cotangents."""
    arguments = _kept(context)
    count, chosen = len(arguments), _differentiated(arguments)

    def pullback(*both: Any) -> tuple[Any, ...]:
        """The cotangents of the differentiated arguments, a tree for each."""
        given, cotangents = list(both[:count]), both[count:]

        def of_chosen(*parts: Any) -> Any:
            for i, part in zip(chosen, parts, strict=True):
                given[i] = part
            return function(*given)

        slopes: tuple[Any, ...] = vjp(of_chosen, *(given[i] for i in chosen))[1](cotangents)
        return slopes

    slopes = _operation(torch, pullback, [arguments[i] for i in chosen]).apply(*arguments, *upstream)
    found = dict(zip(chosen, slopes, strict=True))
    return tuple(found.get(i) for i in range(count))


def _operation(torch: Any, function: Callable[..., Any], like: Sequence[Any]) -> Any:
    """A function that returns a tuple of trees as an operation of PyTorch; each result is a tensor as in ``like``."""

    class Several(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any here
        """One call: the numbers go in as lists, and the backward pass is the VJP, again such an operation."""

        @staticmethod
        def forward(context: Any, *arguments: Any) -> Any:
            _keep(context, arguments)
            results = function(*_plain(arguments))
            return tuple(_tensor(result, tensor) for result, tensor in zip(results, like, strict=True))

        @staticmethod
        def backward(context: Any, *upstream: Any) -> Any:
            return _pulled_back(torch, function, context, upstream)

    return Several


def _is_differentiated(argument: Any) -> bool:
    return hasattr(argument, "is_floating_point") and argument.is_floating_point()


def _differentiated(arguments: Sequence[Any]) -> list[int]:
    """The positions of the tensors of floats."""
    return [i for i, argument in enumerate(arguments) if _is_differentiated(argument)]


def _plain(arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with nested lists in place of tensors."""
    return [x.detach().cpu().tolist() if hasattr(x, "detach") and not isinstance(x, Value) else x for x in arguments]


def _tensor(tree: Any, like: Any) -> Any:
    """The numbers of a tree as a tensor of the shape, kind and place of ``like``."""
    numbers = [leaf.data if isinstance(leaf, Value) else leaf for leaf in flatten(tree, "a result")[0]]
    return like.new_tensor(numbers).reshape(like.shape)


def _keep(context: Any, arguments: Sequence[Any]) -> None:
    """Keep the arguments for the backward pass: tensors as PyTorch wants it, which notices when they are changed."""
    tensors = [i for i, x in enumerate(arguments) if hasattr(x, "detach") and not isinstance(x, Value)]
    context.save_for_backward(*(arguments[i] for i in tensors))
    context.others = [None if i in tensors else x for i, x in enumerate(arguments)]
    context.tensors = tensors


def _kept(context: Any) -> list[Any]:
    """The arguments that ``_keep`` kept."""
    arguments = list(context.others)
    for i, tensor in zip(context.tensors, context.saved_tensors, strict=True):
        arguments[i] = tensor
    return arguments
