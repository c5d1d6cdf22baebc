"""The compiler: from a scalar program, traced once, to a short list of vector instructions."""

from .compiled import Compiled, Tier, compile  # noqa: A004  (named like the field names it)

__all__ = ["Compiled", "Tier", "compile"]
