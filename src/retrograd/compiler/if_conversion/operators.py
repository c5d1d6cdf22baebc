"""The operators that an arm may have between two operands, by the names of their classes in syntax trees."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["ANEW", "COMPARISONS", "IN_PLACE", "METHODS", "NAMES", "OF_TESTS", "ROWS"]

#: What ``old += new`` does.
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "MatMult": operator.imatmul,
}
#: What ``old + new`` does.
ANEW: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, function.__name__.replace("i", "", 1)) for name, function in IN_PLACE.items()
}
#: Their names, by the functions of the module ``operator``.
NAMES: dict[Any, str] = {function: name for name, function in ANEW.items()}
#: The methods of the left operand, and of the right one.
METHODS: dict[str, tuple[str, str]] = {
    name: (f"__{function.__name__}__", f"__r{function.__name__}__") for name, function in ANEW.items()
}
#: The rows of those that refuse some operands.
ROWS: dict[str, str] = {"Div": "div", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow"}
#: What compares.
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
#: What may be between two tests.
OF_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
