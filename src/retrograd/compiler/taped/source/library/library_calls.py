"""Functions of ``math``, of retrograd's own ``math``, and of the standard library."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ..... import engine
from .....ops import BY_NAME, Op
from ....backends.llvm.ir_builder import constant
from ...frame import Frame
from ...ir.arithmetic import Typed
from ...types import (
    ANY_NUMBER,
    BOOL,
    EITHER,
    FLOAT,
    INT,
    MIXED,
    NUMPY,
    NUMPY_INT,
    UNKNOWN,
    VALUE,
    NotTypedError,
    Type,
    is_number,
)
from .. import loops
from ..containers import length
from ..expressions import binary
from . import reductions
from .builtin_calls import to_int

__all__ = ["library_call"]

#: Functions of Python's ``math`` that are rows of another name, or that do not round as the C library does.
_NAMES = {"fabs": "abs"}
_OWN = {"gamma", "lgamma", "fsum", "dist", "prod", "sumprod", "erf", "erfc", "floor", "ceil", "trunc", "remainder"}


@cache
def _rows_of_math() -> dict[Any, str]:
    found = {}
    for name in dir(math):
        row = BY_NAME.get(_NAMES.get(name, name))
        if isinstance(row, Op) and row.public and name not in _OWN - {"erf", "erfc", "remainder"}:
            found[getattr(math, name)] = row.name
    return found


@cache
def _rows_of_retrograd() -> dict[int, str]:
    return {id(function): name for name, function in engine.functions.items() if name in BY_NAME}


def library_call(f: Frame, node: ast.Call, thing: Any) -> Typed | None:
    """What a function of a library gives; None for one that is none of these."""
    name = _rows_of_retrograd().get(id(thing))
    if name is not None:
        return _of_retrograd(f, node, name)
    try:
        write = _TESTS.get(thing) or _WHOLE.get(thing)
        row = _rows_of_math().get(thing)
    except TypeError:  # it has no hash
        return None
    if write is not None:
        return write(f, _plain(f, node)[0])
    if row is None:
        return None
    arguments = _plain(f, node)
    if row == "log" and len(arguments) == 2:
        return f.math.row("div", *(f.math.row("log", one) for one in arguments))
    found = _row(f, row, arguments)
    is_float = found.kind is MIXED and row not in ("abs", "pow")  # of an int, which these leave without a sign
    return Typed(FLOAT, found.parts) if is_float else found


def _plain(f: Frame, node: ast.Call) -> list[Typed]:
    """The arguments of a function of ``math``, which refuses a Value."""
    if node.keywords or not node.args:
        raise NotTypedError(f"it calls {ast.unparse(node.func)} with keywords")
    found = [f.there(f.evaluated(one)) for one in node.args]
    for one in found:
        if one.kind is not UNKNOWN and (not is_number(one.kind) or one.kind in (VALUE, EITHER, ANY_NUMBER)):
            raise NotTypedError(f"it calls {ast.unparse(node.func)} of {one.kind}")
    plain: dict[Type, Type] = {NUMPY: FLOAT, NUMPY_INT: INT}  # it gives a float of Python's
    return [Typed(plain.get(one.kind, one.kind), one.parts) for one in found]


def _row(f: Frame, row: str, arguments: list[Typed]) -> Typed:
    op = BY_NAME[row]
    if any(one.kind is UNKNOWN for one in arguments):
        return Typed(UNKNOWN)
    if not isinstance(op, Op) or op.arity != len(arguments) or not all(is_number(one.kind) for one in arguments):
        raise NotTypedError(f"it calls {row} of {len(arguments)} arguments")
    return f.math.row(row, *arguments)


def _of_retrograd(f: Frame, node: ast.Call, name: str) -> Typed:
    if node.keywords:
        raise NotTypedError(f"it calls {name} with keywords")
    if isinstance(BY_NAME[name], Op):
        return _row(f, name, [f.there(f.evaluated(one)) for one in node.args])
    if name in ("sum", "mean") and len(node.args) == 1:
        items = loops.as_list(f, node, f.evaluated(node.args[0]))
        total = reductions.summed(f, node, items, Typed(FLOAT, (constant(0.0),)))
        return total if name == "sum" or total.kind is UNKNOWN else binary(f, node, ast.Div(), total, length(f, items))
    raise NotTypedError(f"it calls {name} of a sequence")


def _tests(predicate: str, number: float) -> Callable[[Frame, Typed], Typed]:
    def write(f: Frame, value: Typed) -> Typed:
        size = f.w.emit(f"call double @llvm.fabs.f64(double {f.math.real(value).number})")
        return Typed(BOOL, (f.w.emit(f"fcmp {predicate} double {size}, {constant(number)}"),))

    return write


def _rounded(intrinsic: str) -> Callable[[Frame, Typed], Typed]:
    def write(f: Frame, value: Typed) -> Typed:
        if value.kind in (INT, BOOL, UNKNOWN):
            return f.math.integer(value)
        return to_int(f, f.w.emit(f"call double @llvm.{intrinsic}.f64(double {value.number})"))

    return write


_TESTS: dict[Any, Callable[[Frame, Typed], Typed]] = {
    math.isfinite: _tests("olt", math.inf),
    math.isinf: _tests("oeq", math.inf),
    math.isnan: _tests("uno", 0.0),
}
_WHOLE: dict[Any, Callable[[Frame, Typed], Typed]] = {
    math.floor: _rounded("floor"),
    math.ceil: _rounded("ceil"),
    math.trunc: _rounded("trunc"),
}
