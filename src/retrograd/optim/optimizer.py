"""The base class of all optimizers: it holds the parameters and the learning rate, and saves the optimizer's state."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import Parameters, Value, zero_gradients
from ..errors import CheckpointError, describe
from ..habits import OPTIMIZER, refuse_on
from ..nn.module import Module

__all__ = ["Optimizer", "checked_number"]


class Optimizer(ABC):
    """What SGD, Adam and AdamW share: the parameters, the learning rate, and the saving of both.

    A subclass defines :meth:`step`, and :meth:`settings` and :meth:`arrays` for what it remembers.

    Args:
        params: A Module, or the parameters themselves: distinct leaf Values.
        lr: The learning rate, from 0 up.

    Raises:
        TypeError: ``params`` holds something other than Values, or ``lr`` is a Value.
        ValueError: ``params`` is empty, or holds a Value twice or the result of an operation; ``lr`` is negative or
            not finite.

    Example:
        >>> import retrograd as rg
        >>> class SignDescent(rg.optim.Optimizer):
        ...     def step(self):
        ...         for p in self.params:
        ...             p.data -= self.lr * rg.math.sign(p.grad)
        >>> x = rg.Value(1.0)
        >>> optimizer = SignDescent([x], lr=0.25)
        >>> (x * x).backward()
        >>> optimizer.step()
        >>> x.data
        0.75
    """

    def __init__(self, params: Module | Iterable[Value], lr: float) -> None:
        self.params = _checked_parameters(params)
        self.lr = lr

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        return f"{type(self).__name__}({len(self.params)} parameters, {settings})"

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a pickle holds: all but what the engine keeps of the parameters."""
        return {name: thing for name, thing in vars(self).items() if name != "_parameters"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.params = self._params

    @property
    def params(self) -> tuple[Value, ...]:
        """The parameters, in the order of the optimizer's arrays; assign to change them."""
        return self._params

    @params.setter
    def params(self, params: Iterable[Value]) -> None:
        self._params = tuple(params)
        self._parameters = Parameters(self._params)

    @property
    def lr(self) -> float:
        """The learning rate; assign to change it. Raises ValueError when negative or not finite."""
        return self._lr

    @lr.setter
    def lr(self, lr: float) -> None:
        self._lr = checked_number("the learning rate", lr)
        self._unscheduled_lr: float | None = None  #: the rate at first, where a schedule begins with another

    @abstractmethod
    def step(self) -> Value | None:
        """Move every parameter once, by what its ``.grad`` says; the gradients stay as they are.

        Returns:
            None, or the loss of a step that evaluates it.
        """

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradient of every parameter to zero.

        Args:
            set_to_none: PyTorch's; a gradient is a number here, and zero in both cases.
        """
        zero_gradients(self._parameters)

    def settings(self) -> dict[str, Any]:
        """The numbers that :meth:`state_dict` saves beside the arrays.

        Returns:
            Numbers by the names that the constructor gives them; here the learning rate.
        """
        return {"lr": self.lr}

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The optimizer's memory.

        Returns:
            float64 arrays with one element for each parameter, by name; here none.
        """
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs of the optimizer; the parameters are the model's to save.

        Returns:
            The class's name, the settings, and copies of the arrays.

        Example:
            >>> import retrograd as rg
            >>> rg.optim.SGD([rg.Value(1.0)], lr=0.5).state_dict()["settings"]["lr"]
            0.5
        """
        arrays = {name: array.copy() for name, array in self.arrays().items()}
        return {"class": type(self).__name__, "settings": self.settings(), "arrays": arrays}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned; nothing changes unless all of it fits.

        Args:
            state: The dictionary.

        Raises:
            CheckpointError: It is another class's, of another number of parameters, or damaged.
        """
        own = type(self).__name__
        if state.get("class") != own:
            raise CheckpointError(f"this optimizer state belongs to {state.get('class')!r}; this optimizer is {own}.")
        settings, given, mine = state.get("settings"), state.get("arrays"), self.arrays()
        if not isinstance(settings, Mapping) or settings.keys() != self.settings().keys():
            raise CheckpointError(
                f"the settings of {own} must be {', '.join(self.settings())}; these are {settings!r}."
            )
        if not isinstance(given, Mapping) or given.keys() != mine.keys():
            raise CheckpointError(
                f"the state of {own} with these settings needs the arrays {', '.join(mine) or 'none'}."
            )
        fresh = {name: np.asarray(given[name], dtype=np.float64) for name in mine}
        for name, array in fresh.items():
            if array.shape != mine[name].shape:
                raise CheckpointError(
                    f"the optimizer array {name!r} is for {array.size} parameters; this model has {len(self.params)}."
                )
        try:
            self._restore(settings)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"the settings of {own} in this state are damaged: {error}") from None
        for name, array in fresh.items():
            mine[name][:] = array

    def _restore(self, settings: Mapping[str, Any]) -> None:
        self.lr = settings["lr"]


refuse_on(Optimizer, OPTIMIZER)


def refuse_method(params: object, who: str) -> None:
    """Raise TypeError for ``model.parameters``, the method that was not called; ``who`` got it."""
    if isinstance(params, MethodType):
        raise TypeError(
            f"{who} takes a Module or a list of Values, and got the method {params.__func__.__name__} itself: call it, "
            f"model.{params.__func__.__name__}()."
        )


def _checked_parameters(params: Module | Iterable[Value]) -> list[Value]:
    refuse_method(params, "an optimizer")
    if isinstance(params, Value) or not isinstance(params, (Module, Iterable)):
        raise TypeError(f"an optimizer takes a Module or a list of Values, not {params!r}.")
    values = params.parameters() if isinstance(params, Module) else list(params)
    if not values and isinstance(params, Module):
        raise ValueError(
            f"an optimizer needs at least one parameter, and {type(params).__name__} has none: a plain number is none, "
            "write self.w = rg.Value(1.0)."
        )
    if not values:
        raise ValueError("an optimizer needs at least one parameter; this list is empty.")
    seen = set()
    for index, value in enumerate(values):
        if isinstance(value, Mapping):
            raise TypeError(
                f"an optimizer has one list of parameters and one set of settings: {OPTIMIZER['param_groups']}."
            )
        if not isinstance(value, Value):
            raise TypeError(f"an optimizer takes Values; parameter {index} is {value!r}, a {type(value).__name__}.")
        if value in seen:
            raise ValueError(f"parameter {index}, {value!r}, is in the list twice: list each parameter once.")
        if value._children:
            raise ValueError(
                f"parameter {index}, {value!r}, is the result of {value._op or 'an operation'!r}; "
                "only leaves can be moved: pass value.detach(), or the Values from which it was computed."
            )
        seen.add(value)
    return values


def checked_number(name: str, number: float) -> float:
    """``number`` as a float. Raises TypeError for what is none, ValueError when it is negative or not finite."""
    if isinstance(number, Value):
        raise TypeError(f"{name} must be a plain number, not a Value: pass the .data of {number!r}.")
    try:
        if isinstance(number, str):  # float() would read it
            raise TypeError
        number = float(number)
    except (TypeError, ValueError):
        schedule = "; a schedule is made with the optimizer: optim.LambdaSchedule(optimizer, f)"
        raise TypeError(
            f"{name} must be a plain number and not {describe(number)}{schedule * callable(number)}."
        ) from None
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be a number from 0 up, and finite; it is {number}.")
    return number
