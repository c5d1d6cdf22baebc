"""How the native side is told what the data of a call is, which the code of a program reads first (``entry.py``).

A type is a tuple that begins with a code; ``native/trees/typed_data.cpp`` writes what is of that type as words, and
says where something is not.
"""

from __future__ import annotations

import enum
from abc import ABC
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from .constants import text_of
from .frame import Program
from .types import (
    ANY_NUMBER,
    BOOL,
    EITHER,
    FLOAT,
    INT,
    MEMBER,
    MIXED,
    NONE,
    NUMPY,
    NUMPY_INT,
    TEXT,
    UNKNOWN,
    VALUE,
    Instance,
    Layout,
    ListType,
    NotTypedError,
    Optional,
    Row,
    Static,
    Tuple,
    Type,
    Union,
)

__all__ = ["written_as"]


class _Code(enum.IntEnum):
    """What a type begins with, as in typed_data.hpp."""

    FLOAT = 0
    MIXED = enum.auto()
    INT = enum.auto()
    BOOL = enum.auto()
    VALUE = enum.auto()
    EITHER = enum.auto()
    ANY_NUMBER = enum.auto()
    TEXT = enum.auto()
    NUMBERED = enum.auto()
    NONE = enum.auto()
    STATIC = enum.auto()
    TUPLE = enum.auto()
    LIST = enum.auto()
    OPTIONAL = enum.auto()
    RECORD = enum.auto()
    INSTANCE = enum.auto()
    ARRAY = enum.auto()
    UNION = enum.auto()
    AGAIN = enum.auto()


_SCALARS = {
    FLOAT: _Code.FLOAT,
    MIXED: _Code.MIXED,
    NUMPY: _Code.FLOAT,  # as tolist() gives it
    INT: _Code.INT,
    NUMPY_INT: _Code.INT,
    BOOL: _Code.BOOL,
    VALUE: _Code.VALUE,
    EITHER: _Code.EITHER,
    ANY_NUMBER: _Code.ANY_NUMBER,
    NONE: _Code.NONE,
}


def written_as(program: Program, kind: Type, around: tuple[Layout, ...] = ()) -> tuple[Any, ...]:
    """A type as the native side takes it; ``around``: the attributes of what instances it is inside of."""

    def inside(one: Type) -> tuple[Any, ...]:
        return written_as(program, one, around)

    def each(kinds: Sequence[Type]) -> tuple[Any, ...]:
        return tuple(map(inside, kinds))

    if isinstance(kind, (Tuple, Row)):
        return _Code.TUPLE, kind.kind, each(kind.items)
    if isinstance(kind, ListType):
        if kind.dtype is not None:
            axes, item = 1, kind.item
            while isinstance(item, ListType):
                axes, item = axes + 1, item.item
            rows = inside(kind.item)
            return _Code.ARRAY, np.ndarray, kind.dtype, rows, axes, kind.dtype == np.float64
        if kind.item is UNKNOWN:  # only empty ones have come
            return _Code.LIST, (list if kind.kind is np.ndarray else kind.kind,), (_Code.STATIC, object())
        return _Code.LIST, (list if kind.kind is np.ndarray else kind.kind,), inside(kind.item)
    if isinstance(kind, Optional):
        return _Code.OPTIONAL, inside(kind.item)
    if isinstance(kind, Instance):
        if kind.layout in around:
            return _Code.AGAIN, len(around) - around.index(kind.layout)
        around = (*around, kind.layout) if not kind.is_record else around
        names, types = tuple(kind.layout.fields), each([*kind.layout.fields.values()])
        if kind.is_record:
            return _Code.RECORD, names, types
        bases = [base for base in kind.layout.kind.__mro__[:-1] if base is not ABC]
        return _Code.INSTANCE, names, types, kind.layout.kind, not any("__slots__" in vars(base) for base in bases)
    if isinstance(kind, Union):
        return _Code.UNION, each(kind.options)
    if isinstance(kind, Static):
        return _Code.STATIC, kind.thing
    if kind is TEXT:
        return _Code.TEXT, program.texts
    if kind is MEMBER:
        return _Code.NUMBERED, lambda thing: _number_of(program, thing)
    return (_SCALARS[kind],)  # type: ignore[index]


def _number_of(program: Program, thing: Any) -> int | None:
    """The number of a member of an enumeration; None for anything else, and for what compares otherwise than these."""
    try:
        return program.text(text_of(thing)) if isinstance(thing, Enum) else None
    except NotTypedError:
        return None
