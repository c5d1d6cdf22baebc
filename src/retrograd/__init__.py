"""retrograd: reverse-mode automatic differentiation for scalar Python programs.

Write plain Python on ``Value``s, one number each; see every number, every local derivative and every ``+=``
of the backward pass; and run the same code at the speed of C.

>>> import retrograd as rg
>>> a, b, c = rg.Value(2.0), rg.Value(-3.0), rg.Value(10.0)
>>> L = (a * b + c) * (a + b)
>>> L.backward()
>>> a.grad, b.grad, c.grad
(7.0, 2.0, -1.0)
"""

from . import errors, math, nn, optim
from .anomaly import detect_anomaly
from .check import check_gradients
from .engine import Value, errstate, no_grad, topological_order
from .math import dot, logsumexp, max, maximum, mean, min, minimum, prod, softmax, sum, where  # noqa: A004
from .trace.explain import explain
from .transforms import grad, gradient, hessian, hvp, jacobian, jvp, value_and_grad

__all__ = [
    "Value",
    "check_gradients",
    "detect_anomaly",
    "dot",
    "errors",
    "errstate",
    "explain",
    "grad",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "logsumexp",
    "math",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "nn",
    "no_grad",
    "optim",
    "prod",
    "softmax",
    "sum",
    "topological_order",
    "value_and_grad",
    "where",
]


def __getattr__(name: str) -> str:
    """``__version__``, which costs more to find out than the rest of the import."""
    if name != "__version__":
        raise AttributeError(f"module 'retrograd' has no attribute {name!r}")
    from importlib.metadata import version

    return version("retrograd")
