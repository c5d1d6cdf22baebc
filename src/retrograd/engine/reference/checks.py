"""What the reference engine refuses: wrong arguments of ``Value(…)``, changed data, results of another thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ... import errors
from ..numbers import same_number, to_float, to_tuple
from .modes import tape
from .operators import Operators

if TYPE_CHECKING:
    from .value import Record, Value

__all__ = ["check_children", "check_local_grads", "check_thread", "check_unchanged", "refers_to"]


def check_children(by_position: Iterable[Value], by_name: Iterable[Value]) -> tuple[Value, ...]:
    """The children given to ``Value(…)``. Raises TypeError for both ways at once, and for what is no Value."""
    first, second = to_tuple(by_position, "Value(data, children)"), to_tuple(by_name, "Value(data, children)")
    if first and second:
        raise errors.children_twice()
    for child in first or second:
        if not isinstance(child, Operators):
            raise errors.not_a_child(child)
    return first or second


def check_local_grads(local_grads: Sequence[float], count: int) -> tuple[float, ...]:
    """The local derivatives given to ``Value(…)``. Raises ValueError unless there is one for each child."""
    numbers = tuple(to_float(number, "local_grads") for number in local_grads)
    if len(numbers) != count:
        expected = f"one local derivative for each of the {count} children"
        raise errors.wrong_length("Value(data, children, local_grads)", expected, len(numbers))
    return numbers


def check_thread(operands: Iterable[Value | float]) -> None:
    """Raise ForeignThreadError when another thread computed one of ``operands``."""
    for operand in operands:
        if not isinstance(operand, float) and operand._record is not None and operand._record.thread is not tape.thread:
            raise errors.foreign_thread()


def check_unchanged(value: Value, record: Record) -> None:
    """Raise ChangedValueError when the result, or an operand, is not what this operation computed and used."""
    if not same_number(value._data, record.data):
        raise errors.changed_value(value, record.data)
    for operand, used in zip(record.operands, record.used, strict=True):
        if not isinstance(operand, float) and not same_number(operand._data, used):
            raise errors.changed_value(operand, used)


def refers_to(function: Callable[[], object], value: Value) -> bool:
    """Whether a function's closure holds ``value``: a cycle, which the native engine could not free."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            if cell.cell_contents is value:
                return True
        except ValueError:  # the variable has no value yet
            continue
    return False
