"""The JAX backend: a program becomes a JAX function.

The vector program becomes einsums, gathers and elementwise operations. Where the scalar graph has loops that are much
less to write, they become scans. It knows nothing of kernels. In the order in which data passes:

``layout``        the arguments of the scalar function as arrays
``families``      instructions that differ in one extent as one on padded arrays
``lowering``      the instructions of the vector program as JAX operations
``axes``          iterations of loops as axes of arrays, and tables of elements
``reads``         where operands come from, as the loops see it that run when they are read
``blocks``        loops taken apart into what runs at once and what hands numbers on
``plan``          both together: what goes into each block and comes out
``scans``         a plan as JAX operations: ``vmap``, ``lax.scan``, ``cumsum``
``views``         strided views of flat arrays as slices, reshapes and transposes
``absorbing``     the product of a cotangent and a partial
``op_functions``  the rows of the op table as JAX functions with the table's partials
``function``      ``to_jax`` and the JaxFunction that it gives
"""

from .function import JaxFunction, to_jax

__all__ = ["JaxFunction", "to_jax"]
