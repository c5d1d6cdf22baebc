"""Functions for SciPy's optimizers: values, gradients, Jacobians and Hessians of one function, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import math
from .autodiff.transforms import hessian, hvp, jacobian, value_and_grad
from .engine import Value

__all__ = ["Objective", "VectorFunction", "objective", "vector_function"]


class Objective:
    """A function of one vector as SciPy wants it: ``minimize(f, x0, jac=f.jac, hess=f.hess)``.

    Args:
        function: A function of a list of Values that returns one Value; further arguments are SciPy's ``args``. A
            compiled function's value and gradient come from its program.
        sparse: ``hess`` gives a ``scipy.sparse.csr_array``, as ``hessian(f, sparse=True)`` does; "trust-constr" takes
            it.

    Example:
        >>> from retrograd.scipy import Objective
        >>> f = Objective(lambda x: x[0] ** 2 * x[1])
        >>> f([3.0, 5.0]), f.jac([3.0, 5.0]), f.hess([3.0, 5.0]), f.hessp([3.0, 5.0], [1.0, 0.0])
        (45.0, array([30.,  9.]), array([[10.,  6.],
               [ 6.,  0.]]), array([10.,  6.]))
    """

    def __init__(self, function: Callable[..., Any], *, sparse: bool = False) -> None:
        self.function = function
        self.sparse = sparse
        self._value_and_grad = value_and_grad(function)
        self._hessian = hessian(function, sparse=sparse)

    def __call__(self, x: ArrayLike, *args: Any) -> float:
        """The value at ``x``.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            A float.
        """
        return _float(self.function(_numbers(x), *args))

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

    def hess(self, x: ArrayLike, *args: Any) -> Any:
        """The Hessian at ``x``.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            A square array, exactly symmetric; with ``sparse`` a ``csr_array``.
        """
        return _matrix(self._hessian(_numbers(x), *args), self.sparse)

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


class VectorFunction:
    """A function from a vector to a vector as SciPy wants it, for residuals and for constraints.

    ``least_squares(f, x0, jac=f.jac)``, and ``NonlinearConstraint(f, low, high, f.jac, f.hess)``.

    Args:
        function: A function of a list of Values that returns a list of Values and numbers; further arguments are
            SciPy's ``args``.
        sparse: ``jac`` and ``hess`` give a ``scipy.sparse.csr_array``, as ``jacobian(f, sparse=True)`` does.

    Example:
        >>> from retrograd.scipy import VectorFunction
        >>> f = VectorFunction(lambda x: [x[0] * x[1], x[1] ** 2])
        >>> f([3.0, 5.0]), f.jac([3.0, 5.0]), f.hess([3.0, 5.0], [1.0, 10.0])
        (array([15., 25.]), array([[ 5.,  3.],
               [ 0., 10.]]), array([[ 0.,  1.],
               [ 1., 20.]]))
    """

    def __init__(self, function: Callable[..., Any], *, sparse: bool = False) -> None:
        self.function = function
        self.sparse = sparse
        self._jacobian = jacobian(function, sparse=sparse)
        self._hessian = hessian(self._weighted, sparse=sparse)

    def _weighted(self, x: Any, weights: list[float], *args: Any) -> Any:
        return math.dot(weights, list(self.function(x, *args)))

    def __call__(self, x: ArrayLike, *args: Any) -> NDArray[np.float64]:
        """The outputs at ``x``.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            An array.
        """
        return np.array([_float(y) for y in self.function(_numbers(x), *args)], dtype=np.float64)

    def jac(self, x: ArrayLike, *args: Any) -> Any:
        """The Jacobian at ``x``: a row for each output, a column for each input.

        Args:
            x: The vector.
            *args: What SciPy's ``args`` are.

        Returns:
            An array; with ``sparse`` a ``csr_array``.
        """
        return _matrix(self._jacobian(_numbers(x), *args), self.sparse)

    def hess(self, x: ArrayLike, weights: ArrayLike, *args: Any) -> Any:
        """The sum of the Hessians of the outputs, each times its weight: what a constraint is asked for.

        Args:
            x: The vector.
            weights: A number for each output, SciPy's ``v``.
            *args: What SciPy's ``args`` are.

        Returns:
            A square array, exactly symmetric; with ``sparse`` a ``csr_array``.
        """
        return _matrix(self._hessian(_numbers(x), _numbers(weights), *args), self.sparse)

    def __repr__(self) -> str:
        return f"VectorFunction({getattr(self.function, '__name__', self.function)})"


def _numbers(x: ArrayLike) -> Any:
    return np.asarray(x, dtype=np.float64).tolist()


def _float(y: Any) -> float:
    return float(y.data if isinstance(y, Value) else y)


def _matrix(found: Any, sparse: bool) -> Any:
    if sparse:
        return found
    # Of a function that returns an array, the rows are lists in one.
    return np.array(found.tolist() if isinstance(found, np.ndarray) else found, dtype=np.float64)


@overload
def objective(function: Callable[..., Any], *, sparse: bool = ...) -> Objective: ...
@overload
def objective(*, sparse: bool = ...) -> Callable[[Callable[..., Any]], Objective]: ...
def objective(function: Callable[..., Any] | None = None, *, sparse: bool = False) -> Any:
    """A decorator: the function as SciPy's optimizers want it.

    Args:
        function: A function of a list of Values that returns one Value.
        sparse: Whether ``hess`` is sparse: ``@objective(sparse=True)``.

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
    if function is None:
        return lambda function: Objective(function, sparse=sparse)
    return Objective(function, sparse=sparse)


@overload
def vector_function(function: Callable[..., Any], *, sparse: bool = ...) -> VectorFunction: ...
@overload
def vector_function(*, sparse: bool = ...) -> Callable[[Callable[..., Any]], VectorFunction]: ...
def vector_function(function: Callable[..., Any] | None = None, *, sparse: bool = False) -> Any:
    """A decorator: a function from a vector to a vector as SciPy's solvers want it.

    Args:
        function: A function of a list of Values that returns a list of Values and numbers.
        sparse: Whether ``jac`` and ``hess`` are sparse: ``@vector_function(sparse=True)``.

    Returns:
        A :class:`VectorFunction`, whose ``jac`` goes to ``scipy.optimize.least_squares`` and ``root``, and whose
        ``jac`` and ``hess`` go to a ``NonlinearConstraint``.

    Example:
        >>> from retrograd.scipy import vector_function
        >>> @vector_function(sparse=True)
        ... def steps(x):
        ...     return [b - a for a, b in zip(x, x[1:])]
        >>> steps.jac([1.0, 2.0, 4.0]).toarray()
        array([[-1.,  1.,  0.],
               [ 0., -1.,  1.]])
    """
    if function is None:
        return lambda function: VectorFunction(function, sparse=sparse)
    return VectorFunction(function, sparse=sparse)
