"""What retrograd needs of JAX: an import with a helpful error, double precision, and the op table's primitives."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from ..errors import MissingExtraError

__all__ = ["double_precision", "floor_quotient", "ieee_remainder", "import_jax", "primitives"]

_SAME_NAME = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh",
              "cosh", "tanh", "hypot", "fmod", "abs", "floor", "ceil", "trunc", "rint",
              "copysign")  # fmt: skip
_ARC = ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")


def import_jax(what: str) -> Any:
    """The module ``jax``.

    Args:
        what: the feature that needs it, for the error.

    Raises:
        MissingExtraError: JAX is not installed.
    """
    try:
        return importlib.import_module("jax")
    except ImportError:
        raise MissingExtraError(f'{what} needs JAX: pip install "retrograd[jax]"') from None


def double_precision() -> AbstractContextManager[Any]:
    """A context in which JAX computes with 64-bit numbers, whatever ``jax_enable_x64`` says."""
    jax = importlib.import_module("jax")
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)  # type: ignore[no-any-return]
    return importlib.import_module("jax.experimental").enable_x64(True)  # type: ignore[no-any-return]


def primitives() -> dict[str, Callable[..., Any]]:
    """JAX's functions for the rows of the op table that are primitives, by their names in the table."""
    import jax.numpy as jnp
    from jax.lax import stop_gradient
    from jax.scipy import special

    functions: dict[str, Callable[..., Any]] = {name: getattr(jnp, name) for name in _SAME_NAME}
    functions |= {name: getattr(jnp, name.replace("a", "arc", 1)) for name in _ARC}
    functions |= {"erf": special.erf, "erfc": special.erfc, "lgamma": special.gammaln, "digamma": special.digamma}
    functions |= {"pow": jnp.power, "mod": jnp.remainder, "detach": stop_gradient}
    functions |= {"gamma": special.gamma, "remainder": partial(ieee_remainder, jnp)}
    functions["polygamma"] = lambda order, a: special.polygamma(jnp.asarray(order).astype(int), a)
    functions["floordiv"] = partial(floor_quotient, jnp)
    return functions


def floor_quotient(library: Any, a: Any, b: Any) -> Any:
    """Python's ``a // b`` with the steps of CPython, since 1.0 / 0.1 rounds to 10; ``library`` as below."""
    remainder = library.fmod(a, b)
    quotient = (a - remainder) / b
    quotient = quotient - library.where((remainder != 0.0) & ((b < 0.0) != (remainder < 0.0)), 1.0, 0.0)
    rounded = library.floor(quotient)
    rounded = rounded + library.where(quotient - rounded > 0.5, 1.0, 0.0)
    of_zero = library.where(library.signbit(a / b), -0.0, 0.0)
    return library.where(b == 0.0, a / b, library.where(quotient == 0.0, of_zero, rounded))


def ieee_remainder(library: Any, a: Any, b: Any) -> Any:
    """IEEE 754's remainder with the exact steps of CPython's; ``library`` is ``jax.numpy`` or ``torch``."""
    dividend, divisor = library.abs(a), library.abs(b)
    m = library.fmod(dividend, divisor)
    c = divisor - m
    tie = m - 2.0 * library.fmod(0.5 * (dividend - m), divisor)
    magnitude = library.where(m < c, m, library.where(m > c, -c, tie))
    return library.where(library.signbit(a), -magnitude, magnitude)
