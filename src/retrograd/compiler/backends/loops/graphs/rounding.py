"""Whether rounding decides what a graph selects: where numbers that are computed are compared for equality."""

from __future__ import annotations

import numpy as np

from .graph import NODE, ScalarGraph

__all__ = ["selects_by_rounding"]

#: Where the graph asks whether numbers are equal.
_EQUALITIES = ("equal", "not_equal")

#: What gives whole numbers, or 0 and 1, whose sums and products are exact.
_WHOLE = frozenset(
    {
        *("floor", "ceil", "trunc", "round", "rint", "floordiv", "sign"),
        *("less", "less_equal", "greater", "greater_equal", *_EQUALITIES),
    }
)

#: What machine code rounds otherwise: a product that is added in one operation, and a quotient that is a product.
_PRODUCTS, _SUMS, _QUOTIENTS = frozenset({"mul", "square"}), frozenset({"add", "sub", "sum"}), frozenset({"div"})


def selects_by_rounding(graph: ScalarGraph) -> bool:
    """Whether the operands of an equality depend on how products, sums and quotients are rounded."""
    names = np.array(graph.names)[graph.rows] if len(graph) else np.array([])
    asked = np.isin(names, _EQUALITIES)
    if not asked.any():
        return False
    needed = np.zeros(len(graph), bool)
    needed[graph.indices[asked][graph.kinds[asked] == NODE]] = True
    for node in range(len(graph) - 1, -1, -1):
        if not needed[node] or names[node] in _WHOLE:
            continue
        operands = graph.indices[node][graph.kinds[node] == NODE]
        if names[node] in _QUOTIENTS or (names[node] in _SUMS and any(names[one] in _PRODUCTS for one in operands)):
            return True
        needed[operands] = True
    return False
