"""Python's ``math``, differentiable, and every other operation of the op table: of Values a Value, of numbers a float.

``from retrograd import math`` takes the place of Python's: it has every name of Python's ``math``, up to Python 3.13,
with the same meaning; ``floor``, ``ceil`` and ``trunc`` give a Value or a float where Python gives an int, and ``pow``
raises as ``**`` does. The other names are those of the table and NumPy's (``asin`` and ``arcsin``). ``sum``, ``mean``,
``dot``, ``prod``, ``max``, ``min``, ``logsumexp`` and ``softmax`` take sequences and record one node. Values and
numbers mix. Functions of single numbers take NumPy arrays of them, too, objects or floats.

>>> import retrograd as rg
>>> rg.math.exp(0.0)
1.0
>>> rg.math.tanh(rg.Value(0.0))
Value(data=0.0, grad=0.0)
>>> rg.math.dot([rg.Value(2.0), 3.0], [10.0, 100.0])
Value(data=320.0, grad=0.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import engine, habits, python_math, whole_numbers
from .ops import NARY, OPS, NaryOp, Op

__all__: list[str] = []  # filled below, from the table and these modules


def _names(row: Op | NaryOp) -> tuple[str, ...]:
    if isinstance(row, NaryOp):
        return (row.name,)
    return (row.name, *row.aliases) if row.public else ()


for _row in (*OPS, *NARY):
    for _name in _names(_row):
        globals()[_name] = engine.functions[_name]
        __all__.append(_name)

for _module in (python_math, whole_numbers):
    for _name in _module.__all__:
        globals()[_name] = getattr(_module, _name)
        if _name not in __all__:
            __all__.append(_name)

if not TYPE_CHECKING:  # a type checker reads math.pyi

    def __getattr__(name: str) -> NoReturn:
        raise habits.elsewhere("module 'retrograd.math'", name, habits.MATH)
