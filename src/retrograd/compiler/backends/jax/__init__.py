"""The JAX backend: the vector program as a JAX function of einsum, gather and elementwise operations."""

from .function import JaxFunction, to_jax

__all__ = ["JaxFunction", "to_jax"]
