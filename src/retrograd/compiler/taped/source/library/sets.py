"""Sets: what operators between two of them give. Nothing goes over a set in its own order, that of its hashes."""

from __future__ import annotations

import ast
from typing import Any

from ...frame import Frame
from ...ir.arithmetic import Typed
from ...types import BOOL, UNKNOWN, ListType, NotTypedError, Tuple, Type, is_plain
from ..containers import added, has_changed, made_list, not_given
from ..keys import forget_index, found_at
from ..memory import counted, item_place

__all__ = ["OF_SETS", "as_they_came", "compared_sets", "is_set", "of_sets", "updated"]


#: The operators between two sets.
OF_SETS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)


def is_set(value: Typed) -> bool:
    return isinstance(value.kind, ListType) and value.kind.kind is set


def as_they_came(value: Typed) -> Typed:
    """The items of a set as a list, where their order does not matter."""
    assert isinstance(value.kind, ListType)
    return Typed(ListType(value.kind.cell), value.parts)


def of_sets(f: Frame, node: Any, operator: ast.operator, one: Typed, other: Typed) -> Typed:
    """``one | other``, ``one & other``, ``one - other`` or ``one ^ other``."""
    made = made_list(f, node, [], set)
    match operator:
        case ast.BitOr():
            _take(f, made, one)
            _take(f, made, other)
        case ast.BitAnd():
            _refuse_floats(one, other)  # of 0.0 and -0.0, which are equal, CPython keeps that of the smaller set
            _take(f, made, one, other, is_in=True)
        case _:
            _take(f, made, one, other, is_in=False)
            if isinstance(operator, ast.BitXor):
                _take(f, made, other, one, is_in=False)
    return made


def _refuse_floats(*sets: Typed) -> None:
    """Raise NotTypedError where items of two sets may be equal and yet not the same."""
    for one in sets:
        assert isinstance(one.kind, ListType)
        if not _is_told_apart(one.kind.item):
            raise NotTypedError("it intersects sets of floats, in which 0.0 and -0.0 are equal")


def _is_told_apart(kind: Type) -> bool:
    """Whether what is equal is the same."""
    return all(map(_is_told_apart, kind.items)) if isinstance(kind, Tuple) else not is_plain(kind)


def updated(f: Frame, node: Any, operator: ast.operator, one: Typed, other: Typed) -> None:
    """``one |= other``, or another operator that changes a set."""
    not_given(f, one)
    made = one if isinstance(operator, ast.BitOr) else of_sets(f, node, operator, one, other)
    if made is not one:
        has_changed(f, one)
        f.w.store("i64", "0", one.number)
        forget_index(f, one)
    _take(f, one, other if made is one else made)


def compared_sets(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    """``one == other``, ``one <= other``, and the like: whether one has all that the other has, and how many it has."""
    if isinstance(operator, (ast.Gt, ast.GtE)):
        one, other = other, one
    counts = [f.w.load("i64", each.number) for each in (one, other)]
    relation = {ast.Lt: "slt", ast.Gt: "slt", ast.LtE: "sle", ast.GtE: "sle"}.get(type(operator), "eq")
    place, end = f.w.allocate("i1"), f.w.name("end")
    f.w.store("i1", f.w.emit(f"icmp {relation} i64 {counts[0]}, {counts[1]}"), place)
    assert isinstance(one.kind, ListType)
    if one.kind.item is not UNKNOWN:
        each = counted(f, counts[0])
        found = found_at(f, other, f.load(one.kind.item, item_place(f, one, each.index)))
        lacks, on = f.w.name("lacks"), f.w.name("on")
        f.w.branch(f.w.emit(f"icmp slt i64 {found}, 0"), lacks, on)
        f.w.block(lacks)
        f.w.store("i1", "false", place)
        f.w.jump(each.end)
        f.w.block(on)
        each.close()
    f.w.block(end)
    result = f.w.load("i1", place)
    return Typed(BOOL, (f.w.emit(f"xor i1 {result}, true") if isinstance(operator, ast.NotEq) else result,))


def _take(f: Frame, made: Typed, of: Typed, other: Typed | None = None, is_in: bool = False) -> None:
    """Add the items of a set that another one has, or has not."""
    assert isinstance(of.kind, ListType)
    if of.kind.item is UNKNOWN:
        return
    each = counted(f, f.w.load("i64", of.number))
    item = f.load(of.kind.item, item_place(f, of, each.index))
    if other is not None:
        take, on = f.w.name("take"), f.w.name("on")
        is_found = f.w.emit(f"icmp sge i64 {found_at(f, other, item)}, 0")
        f.w.branch(is_found, *((take, on) if is_in else (on, take)))
        f.w.block(take)
        added(f, made, item)
        f.w.block(on)
    else:
        added(f, made, item)
    each.close()
