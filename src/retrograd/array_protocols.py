"""What NumPy, SciPy, PyTorch and JAX ask of an object that they do not know, answered for a Value.

NumPy and SciPy hand a ufunc with a Value among its operands to the Value (NEP 13), so that those of SciPy which the op
table knows are differentiable: ``scipy.special.erf(v)``. Of an array of Values they ask the array, which is theirs.
PyTorch and JAX compute with their own arrays alone, and would cut the gradient: they get a sentence.
"""

from __future__ import annotations

import functools
import math as python_math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from . import math
from .engine import Value
from .engine.elementwise import any_array, map_arrays
from .errors import ForeignArrayError

__all__ = ["METHODS"]


def _logit(p: Any) -> Any:
    return math.log(p) - math.log1p(-p)


def _xlogy(x: Any, y: Any) -> Any:
    return 0.0 * y if x == 0.0 and not isinstance(x, Value) else x * math.log(y)


def _normal_distribution(x: Any) -> Any:
    return 0.5 * math.erfc(-x / python_math.sqrt(2.0))


#: The ufuncs that have no version for objects, of which NumPy would say so, by name.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "copysign": math.copysign,
    "divmod": divmod,
    "float_power": math.pow,
    "isfinite": math.isfinite,
    "isinf": math.isinf,
    "isnan": math.isnan,
    "ldexp": math.ldexp,
    "logaddexp": math.logaddexp,
    "modf": math.modf,
    "nextafter": math.nextafter,
    # scipy.special
    "cbrt": math.cbrt,
    "entr": lambda x: -x * math.log(x),
    "erf": math.erf,
    "erfc": math.erfc,
    "exp2": math.exp2,
    "expit": math.sigmoid,
    "expm1": math.expm1,
    "exp10": lambda x: 10.0**x,
    "gamma": math.gamma,
    "gammaln": math.lgamma,
    "log1p": math.log1p,
    "log_expit": lambda x: -math.softplus(-x),
    "logit": _logit,
    "ndtr": _normal_distribution,
    "psi": math.digamma,
    "xlogy": _xlogy,
}


#: What a ufunc does with a Value and numbers, for those that are called most; the others go through an array.
_DIRECT: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    **{
        getattr(np, name): getattr(math, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "arctan")
    },
}


def _array_ufunc(self: Value, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """What NumPy calls for ``ufunc(…)`` with a Value among the operands (``np.sin(v)``, ``array * v``)."""
    plain_call = method == "__call__" and not kwargs
    if plain_call and (direct := _DIRECT.get(ufunc)) is not None:
        plain = [x.item() if isinstance(x, np.generic) else x for x in inputs]
        if not any_array(plain):
            return direct(*plain)
    if _has_version_for_objects(ufunc):
        return getattr(ufunc, method)(*map(_boxed, inputs), **kwargs)
    function = _FUNCTIONS.get(ufunc.__name__)
    if function is None or not plain_call:
        raise TypeError(
            f"the ufunc {ufunc.__name__!r} of NumPy or SciPy has no derivative here and got a Value: give it one with "
            "@rg.primitive(partials=...), use a function of retrograd.math, or pass v.data, the plain number."
        )
    return map_arrays(function, inputs) if any_array(inputs) else function(*inputs)


@functools.lru_cache(maxsize=256)
def _has_version_for_objects(ufunc: Any) -> bool:
    """Whether NumPy computes it with objects, by asking them."""
    return any("O" in kinds for kinds in ufunc.types)


def _boxed(operand: Any) -> Any:
    """A Value as an array without axes, which NumPy computes with as it does with one of many."""
    if not isinstance(operand, Value):
        return operand
    box = np.empty((), dtype=object)
    box[()] = operand
    return box


def _torch_function(
    cls: type,
    function: Any,
    types: Iterable[type],
    operands: Iterable[Any] = (),
    keywords: Mapping[str, Any] | None = None,
) -> Any:
    """What PyTorch calls for its functions and operators with a Value among the operands."""
    name = getattr(function, "__name__", "")
    if name.strip("_") in ("eq", "ne"):
        return NotImplemented  # as of any two things that are not of one kind
    raise ForeignArrayError(  # no TypeError, which PyTorch's operators turn into Python's "unsupported operand"
        f"{name or 'a function'} of PyTorch takes tensors and got a Value: compute with Values alone (tensor.tolist() "
        "has its numbers), and call the function from PyTorch with retrograd.torch.to_torch, through which gradients "
        "flow."
    )


def _jax_array(self: Value) -> NoReturn:
    """What JAX looks for before it makes an array: a property, because JAX may ask only whether it is there."""
    raise ForeignArrayError(
        "JAX takes arrays and got a Value: compute with Values alone (array.tolist() has its numbers), and make the "
        "function one of JAX with rg.compile(f).to_jax(*arguments), through which gradients flow."
    )


def _as_integer_ratio(self: Value) -> None:
    """Refused, as ``float(v)`` is: ``statistics.mean`` and others ask for two whole numbers, to add exactly.

    Raises:
        TypeError: Always.
    """
    raise TypeError(
        "an exact sum or mean (statistics, Fraction) of Values would silently cut the gradient: write rg.mean(values) "
        "or rg.sum(values), or pass v.data, the plain number."
    )


#: The methods of a Value by name: the protocols are theirs.
METHODS: dict[str, Any] = {
    "__array_ufunc__": _array_ufunc,
    "__torch_function__": classmethod(_torch_function),
    "__jax_array__": property(_jax_array),
    "as_integer_ratio": _as_integer_ratio,
}
