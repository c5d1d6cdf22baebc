"""The product of a cotangent and a partial derivative, as the engine takes it, as an operation of JAX."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

__all__ = ["absorbing_product"]


def absorbing_product(t: Any, partial: Any) -> Any:
    """``t * partial``, but zero where ``t`` is zero, even if the partial is infinite or NaN.

    It is linear in both, and in reverse mode a cotangent of zero absorbs in the same way. Of JAX's own operations only
    a long chain of multiplications does so, which costs several times as much, to run and to compile.
    """
    import jax.numpy as jnp

    dtype = jnp.result_type(t)
    return _primitive().bind(*jnp.broadcast_arrays(jnp.asarray(t, dtype), jnp.asarray(partial, dtype)))


def _product(t: Any, partial: Any) -> Any:
    import jax.numpy as jnp

    return jnp.where(t == 0, jnp.zeros_like(t), t * partial)


@cache
def _primitive() -> Any:
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    primitive = Primitive("absorbing_product")
    bind = primitive.bind

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (t, partial), (dt, dpartial) = primals, tangents
        parts = [] if type(dt) is ad.Zero else [bind(dt, partial)]
        parts += [] if type(dpartial) is ad.Zero else [bind(t, dpartial)]
        return bind(t, partial), sum(parts[1:], parts[0])

    def transpose(cotangent: Any, t: Any, partial: Any) -> tuple[Any, Any]:
        if type(cotangent) is ad.Zero:
            return None, None
        if ad.is_undefined_primal(t):
            return bind(cotangent, partial), None
        return None, bind(cotangent, t)

    def batch(operands: Sequence[Any], axes: Sequence[int | None]) -> tuple[Any, int]:
        in_front = [
            x[None] if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(operands, axes, strict=True)
        ]
        return bind(*jnp.broadcast_arrays(*in_front)), 0

    primitive.def_impl(_product)
    primitive.def_abstract_eval(lambda t, partial: t.update(weak_type=False))
    mlir.register_lowering(primitive, mlir.lower_fun(_product, multiple_results=False))
    ad.primitive_jvps[primitive] = jvp
    ad.primitive_transposes[primitive] = transpose
    batching.primitive_batchers[primitive] = batch
    return primitive
