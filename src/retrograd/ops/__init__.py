"""The op table, the formulas that its rows are written in, and its rows as JAX functions.

This package knows nothing of engines. :mod:`.table` has each operator once; everything else reads it.
"""

from .table import BY_NAME, CONSTANTS, NARY, OPS, Domain, Edge, NaryOp, Op, digest

__all__ = ["BY_NAME", "CONSTANTS", "NARY", "OPS", "Domain", "Edge", "NaryOp", "Op", "digest"]
