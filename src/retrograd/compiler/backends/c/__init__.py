"""The C backend: a traced function as one C99 file without dependencies, with its gradient.

It writes the SSA form of :mod:`retrograd.compiler.backends.loops` as text: loops over time stay loops.

``text``      operations, blocks and loops as C
``lookups``   Index arguments
``results``   functions with several results, and matrices of derivatives
``function``  ``to_c`` and the CFunction that it gives
"""

from .function import CFunction, to_c

__all__ = ["CFunction", "to_c"]
