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

import inspect
from collections.abc import Callable
from typing import Any

from . import engine
from .ops import NARY, OPS, NaryOp, Op

__all__: list[str] = []  # filled below, from the table


def _named(function: Callable[..., Any], row: Op | NaryOp, name: str) -> Callable[..., Any]:
    """Set the name, docstring and signature of a function of the engine; those of a built-in cannot be set."""
    arity = (2 if row.paired else 1) if isinstance(row, NaryOp) else row.arity
    kind = inspect.Parameter.POSITIONAL_ONLY
    try:
        function.__name__ = function.__qualname__ = name
        function.__module__ = __name__
        function.__doc__ = row.doc
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(letter, kind) for letter in "abc"[:arity]]
        )
    except AttributeError:
        pass
    return function


def _names(row: Op | NaryOp) -> tuple[str, ...]:
    if isinstance(row, NaryOp):
        return (row.name,)
    return (row.name, *row.aliases) if row.public else ()


for _row in (*OPS, *NARY):
    for _name in _names(_row):
        globals()[_name] = _named(engine.functions[_name], _row, _name)
        __all__.append(_name)
