"""The JAX backend: a vector program becomes a JAX function of einsums, gathers and elementwise operations.

It knows recordings, signatures and the vector program, and nothing of kernels. In the order in which data passes:

``layout``        the arguments of the scalar function as arrays
``lowering``      the instructions of the vector program as JAX operations
``views``         strided views of flat arrays as slices, reshapes and transposes
``op_functions``  the rows of the op table as JAX functions with the table's partials
``function``      ``to_jax`` and the JaxFunction that it gives
"""

from .function import JaxFunction, to_jax

__all__ = ["JaxFunction", "to_jax"]
