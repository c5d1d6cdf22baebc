"""Modules one after the other, and the functions between them as modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from .. import habits, math
from ..engine import Value
from .module import Module

__all__ = ["GELU", "Activation", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softplus", "Tanh"]


class Sequential(Module):
    """Modules one after the other: each gets what the one before it returned.

    They are the attributes ``"0"``, ``"1"``, …, so that the names in :meth:`state_dict` are those of PyTorch's
    ``Sequential``.

    Args:
        *modules: The modules, first to last.

    Raises:
        TypeError: One of them is not a Module.

    Example:
        >>> import retrograd as rg
        >>> model = rg.nn.Sequential(rg.nn.Linear(2, 4), rg.nn.Tanh(), rg.nn.Linear(4, 1))
        >>> list(model.state_dict()), len(model([1.0, 2.0]))
        (['0.weight', '0.bias', '2.weight', '2.bias'], 1)
    """

    def __init__(self, *modules: Module) -> None:
        for index, module in enumerate(modules):
            if not isinstance(module, Module):
                remedy = (
                    "write nn.Sequential(*modules)" if isinstance(module, (list, tuple))
                    else "write nn.Sequential(*modules.values())" if isinstance(module, Mapping)
                    else "write nn.Tanh() for a function of each number, or a class derived from nn.Module with a "
                    "forward()"
                )  # fmt: skip
                raise TypeError(f"Sequential takes modules, and number {index} is {module!r}: {remedy}.")
            setattr(self, str(index), module)

    def forward(self, x: Any) -> Any:
        """The result of the last module.

        Args:
            x: What the first module takes.

        Returns:
            What the last module returns; ``x`` when there is none.
        """
        for module in self:
            x = module(x)
        return x

    def __iter__(self) -> Iterator[Module]:
        return (module for name, module in vars(self).items() if name.isdigit())

    def __len__(self) -> int:
        return sum(name.isdigit() for name in vars(self))

    def __getitem__(self, index: int) -> Module:
        return list(self)[index]

    def __repr__(self) -> str:
        return f"Sequential({', '.join(map(repr, self))})"


class Activation(Module):
    """A function of one number as a module: of a sequence it is the list of the function of each element.

    A subclass names the ``function``.

    Example:
        >>> import retrograd as rg
        >>> class Softsign(rg.nn.Activation):
        ...     function = staticmethod(lambda x: x / (1 + abs(x)))
        >>> Softsign()([3.0, -1.0])
        [0.75, -0.5]
    """

    function: ClassVar[Callable[..., Any]]

    @habits.refusing(habits.keywords.ACTIVATION)
    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: Sequence[Value | float] | Value | float) -> Any:
        """The function of ``x``, element by element.

        Args:
            x: A sequence of Values and numbers, or one of them.

        Returns:
            A list, or one Value or number.
        """
        return [type(self).function(xi) for xi in x] if isinstance(x, Sequence) else type(self).function(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ReLU(Activation):
    """``max(x, 0)`` of each number; its derivative at 0 is 0.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.ReLU()([0.0, 1.0])
        [0.0, 1.0]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(math.relu)


class Tanh(Activation):
    """The hyperbolic tangent of each number.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.Tanh()([0.0, 1.0])
        [0.0, 0.7615941559557649]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(math.tanh)


class Sigmoid(Activation):
    """The logistic function, ``1 / (1 + exp(-x))``, of each number.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.Sigmoid()([0.0, 1.0])
        [0.5, 0.7310585786300049]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(math.sigmoid)


class Softplus(Activation):
    """``log(1 + exp(x))`` of each number: a smooth ReLU.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.Softplus()([0.0, 1.0])
        [0.6931471805599453, 1.3132616875182228]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(math.softplus)


class SiLU(Activation):
    """``x * sigmoid(x)`` of each number, also called swish.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.SiLU()([0.0, 1.0])
        [0.0, 0.7310585786300049]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(math.silu)


class GELU(Activation):
    """The exact GELU, ``x`` times the normal distribution function of ``x``, of each number.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.GELU()([0.0, 1.0])
        [0.0, 0.841344746068543]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(math.gelu)
