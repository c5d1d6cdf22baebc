"""Every operation of the op table as a function: of Values it gives a Value, of plain numbers a float.

The names are those of the table and NumPy's (``asin`` and ``arcsin``); ``sum``, ``mean``, ``dot``, ``prod``,
``max``, ``min``, ``logsumexp`` and ``softmax`` take sequences and record one node. Values and numbers mix.

>>> import retrograd as rg
>>> rg.math.exp(0.0)
1.0
>>> rg.math.tanh(rg.Value(0.0))
Value(data=0.0, grad=0.0)
>>> rg.math.dot([rg.Value(2.0), 3.0], [10.0, 100.0])
Value(data=320.0, grad=0.0)
"""

from __future__ import annotations

from . import engine
from .ops import NARY, OPS, NaryOp, Op

__all__: list[str] = []  # filled below, from the table


def _names(row: Op | NaryOp) -> tuple[str, ...]:
    if isinstance(row, NaryOp):
        return (row.name,)
    return (row.name, *row.aliases) if row.public else ()


for _row in (*OPS, *NARY):
    for _name in _names(_row):
        globals()[_name] = engine.functions[_name]
        __all__.append(_name)
