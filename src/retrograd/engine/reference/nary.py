"""Operations over a sequence for the reference engine: one node for a sum, a dot product, a softmax …"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import errors
from ..numbers import to_tuple
from .rules import NARY_RULES
from .value import Number, Value, as_value, data_of, operand_of, recorded

__all__ = ["reduce"]


def reduce(name: str, xs: Iterable[Number], ys: Iterable[Number] | None = None, /) -> Any:
    """Compute the row ``name`` over a sequence, or two of equal length for ``dot``, and record it as one node.

    A float when no operand is a Value. ``softmax`` gives a list, one result for each operand.
    Raises ValueError for an empty sequence where the row needs an operand, and for unequal lengths.
    """
    rule = NARY_RULES.get(name)
    if rule is None:
        raise errors.unknown_operation(name, f"the operations over a sequence are {', '.join(NARY_RULES)}")
    xs = to_tuple(xs, name)
    ys = None if ys is None else to_tuple(ys, name)
    first = [operand_of(x, name) for x in xs]
    second = [] if ys is None else [operand_of(y, name) for y in ys]
    if rule.row.paired != (ys is not None):
        raise TypeError(f"{name} takes {'two sequences' if rule.row.paired else 'one sequence'}.")
    if rule.row.paired and len(first) != len(second):
        raise errors.unequal_lengths(name, len(first), len(second))
    if not first and not rule.row.empty:
        raise errors.wrong_length(name, "at least one operand", 0)
    results = rule.forward([data_of(x) for x in first], [data_of(y) for y in second])
    operands = first + second
    if not any(isinstance(operand, Value) for operand in operands):
        return results if rule.row.outputs else results[0]
    values = [as_value(operand) for operand in operands]
    nodes = [recorded(rule, values, data, output) for output, data in enumerate(results)]
    return nodes if rule.row.outputs else nodes[0]
