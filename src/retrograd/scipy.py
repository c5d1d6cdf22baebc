"""A function for SciPy's optimizers: value, gradient, Hessian and Hessian-vector product of one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .autodiff.transforms import hessian, hvp, value_and_grad
from .engine import Value

__all__ = ["Objective", "objective"]


class Objective:
    """A function of one vector as SciPy wants it: ``minimize(f, x0, jac=f.jac, hess=f.hess)``.

    Args:
        function: A function of a list of Values that returns one Value; further arguments are SciPy's ``args``. A
            compiled function's value and gradient come from its program.

    Example:
        >>> from retrograd.scipy import Objective
        >>> f = Objective(lambda x: x[0] ** 2 * x[1])
        >>> f([3.0, 5.0]), f.jac([3.0, 5.0]), f.hess([3.0, 5.0]), f.hessp([3.0, 5.0], [1.0, 0.0])
        (45.0, array([30.,  9.]), array([[10.,  6.],
               [ 6.,  0.]]), array([10.,  6.]))
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._value_and_grad = value_and_grad(function)
        self._hessian = hessian(function)

    def __call__(self, x: ArrayLike, *args: Any) -> float:
        """The value at ``x``.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            A float.
        """
        value = self.function(_numbers(x), *args)
        return float(value.data if isinstance(value, Value) else value)

    def value_and_grad(self, x: ArrayLike, *args: Any) -> tuple[float, NDArray[np.float64]]:
        """Value and gradient in one go: ``minimize(f.value_and_grad, x0, jac=True)``.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            A float and an array.
        """
        value, slopes = self._value_and_grad(_numbers(x), *args)
        return float(value), np.array(slopes, dtype=np.float64)

    def jac(self, x: ArrayLike, *args: Any) -> NDArray[np.float64]:
        """The gradient at ``x``.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            An array of its length.
        """
        return self.value_and_grad(x, *args)[1]

    def hess(self, x: ArrayLike, *args: Any) -> NDArray[np.float64]:
        """The Hessian at ``x``.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            A square array, exactly symmetric.
        """
        return np.array(self._hessian(_numbers(x), *args), dtype=np.float64)

    def hessp(self, x: ArrayLike, p: ArrayLike, *args: Any) -> NDArray[np.float64]:
        """The Hessian at ``x`` times ``p``, without the Hessian: two sweeps.

        Args:
            x: The vector.
            p: The direction.
            *args: What SciPy's ``args`` are.

        Returns:
            An array of the vector's length.
        """
        product = hvp(lambda v: self.function(v, *args), _numbers(x), _numbers(p))
        return np.array(product, dtype=np.float64)

    def __repr__(self) -> str:
        return f"Objective({getattr(self.function, '__name__', self.function)})"


def _numbers(x: ArrayLike) -> Any:
    return np.asarray(x, dtype=np.float64).tolist()


def objective(function: Callable[..., Any]) -> Objective:
    """A decorator: the function as SciPy's optimizers want it.

    Args:
        function: A function of a list of Values that returns one Value.

    Returns:
        An :class:`Objective`, whose ``jac``, ``hess`` and ``hessp`` go to ``scipy.optimize.minimize``.

    Example:
        >>> from retrograd.scipy import objective
        >>> @objective
        ... def f(x):
        ...     return (x[0] - 1) ** 2 + (x[1] + 2) ** 2
        >>> f.jac([0.0, 0.0])
        array([-2.,  4.])
    """
    return Objective(function)
