"""What the rest of the package asks of a node of the reference engine: its row, its operands, its source line."""

from __future__ import annotations

from collections.abc import Sequence

from ... import errors
from ..numbers import to_float
from .checks import check_thread
from .rules import NARY_RULES, RULES, NaryRule
from .value import Number, Record, Value, as_value, leaf, operand_of

__all__ = ["get_source", "is_constant", "operands", "output_index", "restore", "row_name", "set_source"]


def operands(value: Value, /) -> tuple[Value | float, ...]:
    """A node's operands in order, a dot's a before its b; a number is a float until ``_children`` shows it."""
    return () if value._record is None else tuple(value._record.operands)


def row_name(value: Value, /) -> str:
    """The row that made ``value``; ``"user"`` for a node with a user's own derivative, ``""`` for a leaf."""
    record = value._record
    if record is None:
        return ""
    return "user" if record.rule is None or value._closure is not None else record.rule.row.name


def output_index(value: Value, /) -> int:
    """Which result of a softmax ``value`` is; 0 for all others."""
    return 0 if value._record is None else value._record.output


def is_constant(value: Value, /) -> bool:
    """Whether ``value`` is a leaf that the engine made from a number."""
    return value._constant


def set_source(value: Value, source: int, /) -> None:
    """Keep the number of a source line with an interior node: see :mod:`retrograd.engine.source_lines`."""
    if value._record is not None:
        value._record.source = source


def get_source(value: Value, /) -> int:
    """The number that ``set_source`` kept; 0 when there is none."""
    return 0 if value._record is None else value._record.source


def restore(name: str, operands: Sequence[Number], data: float, grad: float, index: int = 0, /) -> Value:
    """A node of row ``name`` with this data and gradient, without computing anything; a leaf when ``name`` is ``""``.

    ``"constant"`` is a leaf that the engine made from a number; ``index`` is a softmax's output.
    """
    value = leaf(to_float(data, "restore"))
    if name in ("", "constant"):
        value._constant = name == "constant"
    else:
        rule = RULES.get(name) or NARY_RULES.get(name)
        if rule is None:
            raise errors.unknown_operation(name, "it was saved by another version of retrograd")
        slots = [operand_of(operand, "restore") for operand in operands]
        if isinstance(rule, NaryRule) or len(slots) > 2:
            slots = [as_value(slot) for slot in slots]
        check_thread(slots)
        value._record = Record(rule, slots, value._data, index)
    value._grad = to_float(grad, "restore")
    return value
