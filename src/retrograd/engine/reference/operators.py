"""Python's operators and the op table's methods for the reference engine's Value: each records one row."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from ... import errors
from ...ops import OPS, Op, docs
from ..numbers import is_number
from .rules import worked_example

__all__ = ["Operators"]


class Operators:
    """What ``a + b``, ``a < b``, ``abs(a)``, ``a.exp()`` … mean; the class derived from it says how to record."""

    __slots__ = ()
    _data: float

    @staticmethod
    def _apply(name: str, /, *operands: Any) -> Any:
        """Record the row ``name`` of the op table on ``operands``."""
        raise NotImplementedError  # abstract: Value records, and nothing else derives from this

    # --- arithmetic

    def __add__(self, other: Any) -> Any:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("div", other, self)

    def __mod__(self, other: Any) -> Any:
        return _binary("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _binary("mod", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary("floordiv", other, self)

    def __divmod__(self, other: Any) -> Any:
        quotient = _binary("floordiv", self, other)
        return quotient if quotient is NotImplemented else (quotient, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        quotient = _binary("floordiv", other, self)
        return quotient if quotient is NotImplemented else (quotient, other % self)

    def __pow__(self, other: Any, modulo: None = None) -> Any:
        return _binary("pow", self, other) if modulo is None else NotImplemented

    def __rpow__(self, other: Any, modulo: None = None) -> Any:
        return _binary("pow", other, self) if modulo is None else NotImplemented

    def __neg__(self) -> Any:
        return self._apply("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._apply("abs", self)

    def __floor__(self) -> Any:
        return self._apply("floor", self)

    def __ceil__(self) -> Any:
        return self._apply("ceil", self)

    def __trunc__(self) -> Any:
        return self._apply("trunc", self)

    def conjugate(self) -> Any:
        return self

    # --- comparisons compare the data; sets and dicts use the identity

    def __lt__(self, other: Any) -> bool:
        return _compare(operator.lt, self, other)

    def __le__(self, other: Any) -> bool:
        return _compare(operator.le, self, other)

    def __gt__(self, other: Any) -> bool:
        return _compare(operator.gt, self, other)

    def __ge__(self, other: Any) -> bool:
        return _compare(operator.ge, self, other)

    def __eq__(self, other: object) -> bool:
        return _compare(operator.eq, self, other)

    def __ne__(self, other: object) -> bool:
        return _compare(operator.ne, self, other)

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        return self._data != 0.0

    # --- conversions to a plain number would silently cut the gradient

    def __float__(self) -> NoReturn:
        raise errors.no_float("float()")

    def __int__(self) -> NoReturn:
        raise errors.no_float("int()")

    def __index__(self) -> NoReturn:
        raise errors.no_float("an index")

    def __complex__(self) -> NoReturn:
        raise errors.no_float("complex()")


def _binary(name: str, left: Any, right: Any) -> Any:
    """Record a row for an operator.

    NotImplemented for an operand that is neither a Value nor a number: then Python raises its own TypeError, or NumPy
    applies the operator to each element of an array.
    """
    for operand in (left, right):
        if not isinstance(operand, Operators) and not is_number(operand):
            return NotImplemented
    value = left if isinstance(left, Operators) else right
    return value._apply(name, left, right)


def _compare(relation: Callable[[Any, Any], bool], value: Operators, other: object) -> bool:
    """``relation`` of the two numbers; NotImplemented, as Python wants it, when ``other`` is neither."""
    number = other._data if isinstance(other, Operators) else other
    return relation(value._data, number) if is_number(number) else NotImplemented


def _method(row: Op, name: str) -> Callable[..., Any]:
    def method(self: Operators, /, *others: Any) -> Any:
        if not all(isinstance(other, Operators) or is_number(other) for other in others):
            from .. import elementwise  # it imports the engine that is being loaded

            return elementwise.on_elements(row.name, (self, *others))
        if row.name == "where" and isinstance(others[0], bool):
            raise errors.condition_second()
        return self._apply(row.name, self, *others)

    method.__name__ = name
    method.__qualname__ = f"Value.{name}"
    method.__doc__ = docs.method_doc(row, name, worked_example)
    method.__signature__ = docs.signature(["self", *docs.parameters(row)[1:]])  # type: ignore[attr-defined]
    return method


for _row in OPS:
    for _name in (_row.name, *_row.aliases) if _row.public else ():
        setattr(Operators, _name, _method(_row, _name))
