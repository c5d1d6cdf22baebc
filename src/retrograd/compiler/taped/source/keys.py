"""Keys: which item of a list or a set, or which pair of a dictionary, is equal to one.

From some items on, a dictionary and a set have an index, a hash table of positions (``ir/runtime.py``), to which items
are added when a key is looked for, and which is dropped when one is taken out.
"""

from __future__ import annotations

import ast

from ..frame import Frame, split
from ..ir.arithmetic import Typed
from ..types import (
    BOOL,
    FLOAT,
    INT,
    MEMBER,
    MIXED,
    NONE,
    NUMPY_INT,
    TEXT,
    UNKNOWN,
    Instance,
    ListType,
    NotTypedError,
    Optional,
    Tuple,
    Type,
    is_real,
    is_whole,
)
from .memory import LAST_WORD, counted, item_place

__all__ = ["check_key", "equal_to_itself", "forget_index", "found_at", "has_own", "present"]

#: What keys may be, and tuples of these.
_KEYS = (INT, BOOL, FLOAT, NUMPY_INT, TEXT, MEMBER, NONE, UNKNOWN)
#: With so few items, to compare each takes no longer.
_FEW = 8


def check_key(kind: Type) -> None:
    """Values are told apart by identity as keys, which nothing here knows."""
    items = kind.items if isinstance(kind, Tuple) else (kind,)
    if not all(item in _KEYS or isinstance(item, Tuple) for item in items):
        raise NotTypedError(f"{kind} is a key")


def found_at(f: Frame, of: Typed, key: Typed) -> str:
    """Which item of a list or set, or which pair of a dictionary, is equal to ``key``; -1 if none is."""
    assert isinstance(of.kind, ListType)
    place = f.w.allocate("i64")
    f.w.store("i64", "-1", place)
    if of.kind.item is UNKNOWN or key.kind is UNKNOWN:
        return f.w.load("i64", place)
    is_keyed = of.kind.kind in (dict, set, frozenset)
    if is_keyed:
        check_key(key.kind)
    equal_to_itself(f, key)
    count, end = f.w.load("i64", of.number), f.w.name("end")
    if is_keyed and _has_hash(_key_of(of.kind), key.kind):
        few, many = f.w.name("few"), f.w.name("many")
        f.w.branch(f.w.emit(f"icmp sle i64 {count}, {_FEW}"), few, many)
        f.w.block(many)
        _look_up(f, of, key, count, place)
        f.w.jump(end)
        f.w.block(few)
    loop = counted(f, count)
    yes, on = f.w.name("found"), f.w.name("on")
    f.w.branch(f.compare(ast.Eq(), _key_at(f, of, loop.index), key).number, yes, on)
    f.w.block(yes)
    f.w.store("i64", loop.index, place)
    f.w.jump(loop.end)
    f.w.block(on)
    loop.close()
    f.w.block(end)
    return f.w.load("i64", place)


def forget_index(f: Frame, of: Typed) -> None:
    """The items of a list are at other places from now on."""
    if isinstance(of.kind, ListType) and of.kind.kind in (dict, set):
        f.w.store("ptr", "null", f.w.at(of.number, LAST_WORD))


def _key_of(kind: ListType) -> Type:
    item = kind.item
    return item.items[0] if kind.kind is dict and isinstance(item, Tuple) else item


def _key_at(f: Frame, of: Typed, index: str) -> Typed:
    assert isinstance(of.kind, ListType)
    item = f.load(of.kind.item, item_place(f, of, index))
    return split(item)[0] if of.kind.kind is dict else item


# --- the index ----------------------------------------------------------------------------------------------


def _look_up(f: Frame, of: Typed, key: Typed, count: str, place: str) -> None:
    """Find a key by the index, which is brought up to date."""
    assert isinstance(of.kind, ListType)
    table = f.allocated(f"@index_of(ptr %context, ptr {of.number}, i64 {count})")
    known = f.w.load("i64", f.w.at(table, 1))
    new = counted(f, f.w.emit(f"sub i64 {count}, {known}"))
    index = f.w.emit(f"add i64 {new.index}, {known}")
    f.w.line(f"call void @index_put(ptr {table}, i64 {_hash(f, _key_at(f, of, index))}, i64 {index})")
    new.close()
    f.w.store("i64", count, f.w.at(table, 1))
    slot, head, seen, on, end = f.w.allocate("i64"), *(f.w.name(one) for one in ("head", "seen", "on", "end"))
    f.w.store("i64", _hash(f, key), slot)
    f.w.block(head)
    at = f.w.emit(f"call i64 @index_at(ptr {table}, ptr {slot})")
    f.w.branch(f.w.emit(f"icmp slt i64 {at}, 0"), end, seen)
    f.w.block(seen)
    f.w.branch(f.compare(ast.Eq(), _key_at(f, of, at), key).number, on, head)
    f.w.block(on)
    f.w.store("i64", at, place)
    f.w.block(end)


_NUMBERS, _NUMBERED = (INT, BOOL, FLOAT, MIXED, NUMPY_INT), (TEXT, MEMBER)


def _has_hash(kind: Type, other: Type) -> bool:
    """Whether keys of two types have hashes that are equal where they are."""
    if isinstance(kind, Tuple) and isinstance(other, Tuple) and len(kind.items) == len(other.items):
        return all(map(_has_hash, kind.items, other.items))
    return (kind in _NUMBERS and other in _NUMBERS) or (kind in _NUMBERED and other is kind) or kind is other is NONE


def _hash(f: Frame, value: Typed) -> str:
    """The hash of a key: the same of all numbers that are equal, whatever their types."""
    if isinstance(value.kind, Tuple):
        hashed = "0"
        for one in split(value):
            hashed = f.w.emit(f"call i64 @hashed(i64 {hashed}, i64 {_hash(f, one)})")
        return hashed
    return f.w.emit(f"call i64 @hashed(i64 0, i64 {_bits(f, value)})")


def _bits(f: Frame, value: Typed) -> str:
    if value.kind is NONE:
        return "0"
    if value.kind in _NUMBERED:
        return value.number
    if is_whole(value.kind):  # one that is no float is equal to none
        whole = f.math.integer(value).number
        number = f.w.emit(f"sitofp i64 {whole} to double")
    else:
        number = f.w.emit(f"fadd double {value.number}, 0.0")  # -0.0 is equal to 0.0
    return f.w.emit(f"bitcast double {number} to i64")


def equal_to_itself(f: Frame, value: Typed) -> None:
    """Python asks first whether two items are the same object, which may be equal to nothing, as a NaN is."""
    for one in split(value) if isinstance(value.kind, Tuple) else [value]:
        if isinstance(one.kind, Tuple):
            equal_to_itself(f, one)
        elif isinstance(one.kind, Instance) and has_own(one.kind.layout.kind, "__eq__"):
            raise NotTypedError(f"it looks for {one.kind}, whose == is its own")
        elif isinstance(one.kind, Optional) and is_real(one.kind.item):
            is_nan = f.w.emit(f"fcmp uno double {one.parts[1]}, {one.parts[1]}")
            f.w.bail_if(f.w.emit(f"select i1 {one.number}, i1 {is_nan}, i1 false"))
        elif is_real(one.kind):
            f.w.bail_if(f.w.emit(f"fcmp uno double {one.number}, {one.number}"))


def has_own(kind: type, method: str) -> bool:
    """Whether a class defines a comparison, and not as a dataclass does."""
    made = getattr(getattr(kind, method, None), "__code__", None)
    return made is not None and made.co_filename != "<string>"


def present(f: Frame, of: Typed, key: Typed) -> str:
    """Which pair of a dictionary has a key; without one, the function itself raises."""
    at = found_at(f, of, f.there(key))
    f.w.bail_if(f.w.emit(f"icmp slt i64 {at}, 0"))
    return at
