"""Divisions by constants as products with their reciprocals, which take a third of the time and differ in the last bit.

A quotient that is rounded to an integer or compared soon after stays one: ``int(t / 0.1)`` may have a t on the grid. So
do those of small programs, in which they take no time that would be worth a bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...llvm.kernel_calls import ROWS
from .graph import LITERAL, NODE, ScalarGraph

__all__ = ["SMALL", "with_reciprocals"]

_DIV, _MUL = ROWS.index("div"), ROWS.index("mul")
#: Rows that may jump where an operand changes a little.
_JUMPS = [
    number
    for number, name in enumerate(ROWS)
    if name
    in {
        *("floor", "ceil", "trunc", "rint", "round", "mod", "floordiv", "fmod", "remainder", "sign", "heaviside"),
        *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    }
]
#: So many operations after a quotient its last bit does not matter to what jumps, any more than that of a product and
#: a sum in one operation does.
_NEAR = 4
#: A program of fewer nodes is small.
SMALL = 64
#: Reciprocals of constants in between are as precise as constants are.
_LEAST = 2.0**-1000


def with_reciprocals(graph: ScalarGraph) -> ScalarGraph:
    """The graph with products in the places of quotients by constants."""
    if len(graph) < SMALL:
        return graph
    quotients = (graph.rows == _DIV) & (graph.kinds[:, 1] == LITERAL) & (graph.kinds[:, 0] != LITERAL)
    divisors = np.abs(graph.literals[np.where(quotients, graph.indices[:, 1], 0)]) if len(graph.literals) else 0.0
    quotients &= (divisors > _LEAST) & (divisors < 1.0 / _LEAST)
    if np.any(quotients):
        quotients &= ~_before_jumps(graph)
    if not np.any(quotients):
        return graph
    rows, indices = graph.rows.copy(), graph.indices.copy()
    known, places = np.unique(indices[quotients, 1], return_inverse=True)
    rows[quotients] = _MUL
    indices[quotients, 1] = len(graph.literals) + places
    literals = np.concatenate([graph.literals, 1.0 / graph.literals[known]])
    return replace(graph, rows=rows, indices=indices, literals=literals)


def _before_jumps(graph: ScalarGraph) -> NDArray[np.bool_]:
    """The nodes that reach what jumps, or what a call compares, within a few operations."""
    found = np.zeros(len(graph), bool)
    found[
        [index for number, (kind, index) in enumerate(graph.roots) if kind == NODE and _is_compared(graph, number)]
    ] = True
    users = np.isin(graph.rows, _JUMPS)
    for _ in range(_NEAR):
        for slot in range(graph.kinds.shape[1]):
            reads = users & (graph.kinds[:, slot] == NODE)
            found[graph.indices[reads, slot]] = True
        users = found.copy()
    return found


def _is_compared(graph: ScalarGraph, root: int) -> bool:
    return root != 0 and root not in graph.results
