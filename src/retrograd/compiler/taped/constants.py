"""Objects that are there when code is made: as constants of the code, or as data that each call brings."""

from __future__ import annotations

import itertools
from abc import ABC, ABCMeta
from collections.abc import Mapping, Sequence
from enum import Enum
from inspect import getattr_static
from types import MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...engine import Value
from ..backends.llvm.ir_builder import constant
from .frame import Program
from .ir.arithmetic import Typed
from .reads import is_constant
from .types import (
    BOOL,
    FLOAT,
    INT,
    MEMBER,
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
    Row,
    Static,
    Tuple,
    Type,
    join,
)

__all__ = [
    *("Leaf", "constant_of", "has_dict", "is_data_descriptor", "is_frozen", "is_named_tuple", "is_plain_class"),
    *("kind_of", "leaf_numbers", "text_of"),
]


class Leaf(int):
    """In the place of a number of an argument that is a variable: which one it is, counted from 1."""


_leaves: list[Leaf] = []


def leaf_numbers(count: int) -> list[Leaf]:
    """The first so many leaves."""
    while len(_leaves) < count:
        _leaves.append(Leaf(len(_leaves) + 1))
    return _leaves[:count]


#: A tuple with more items is followed as a list.
_LONG_TUPLE = 16


def constant_of(program: Program, thing: Any) -> Typed:
    """What is part of the code."""
    if thing is None:
        return Typed(NONE)
    if type(thing) is bool:
        return Typed(BOOL, ("true" if thing else "false",), known=thing)
    if type(thing) is int:
        if abs(thing) >= 2**62:
            raise NotTypedError("an int is too large")
        return Typed(INT, (str(thing),), known=thing)
    if type(thing) is float:
        return Typed(FLOAT, (constant(thing),))
    if type(thing) is str:
        return Typed(TEXT, (str(program.text(thing)),), known=thing)
    if isinstance(thing, Enum):
        return Typed(MEMBER, (str(program.text(text_of(thing))),), known=text_of(thing))
    if is_constant(thing) or callable(thing):
        return Typed(Static(thing))
    raise NotTypedError(f"it has a {type(thing).__name__}")


def kind_of(program: Program, thing: Any, key: Any) -> Type:
    """The type of data that comes from outside.

    Args:
        program: The program.
        thing: The data.
        key: Where it is from: what comes from the same place has one type.
    """
    if type(thing) is Leaf or isinstance(thing, Value):
        return VALUE
    if type(thing) is str:
        program.text(thing)  # whose place in their order is known then
    scalar = {bool: BOOL, int: INT, float: FLOAT, str: TEXT, type(None): NONE}.get(type(thing))
    if scalar is not None:
        return scalar
    if isinstance(thing, Enum):
        text_of(thing)
        return MEMBER
    if isinstance(thing, tuple) and len(thing) <= _LONG_TUPLE and (type(thing) is tuple or is_named_tuple(type(thing))):
        return Tuple(tuple(kind_of(program, one, (key, i)) for i, one in enumerate(thing)), type(thing))
    if type(thing) is np.ndarray:
        return _array_kind(program, thing, key)
    if type(thing) in (list, tuple):
        return _list_kind(program, thing, key)
    if type(thing) is dict:
        if _has_fields(program, thing):
            return _record_kind(program, thing, _layout_of(program, thing), key)
        pairs = [kind_of(program, pair, (key, "item")) for pair in thing.items()]
        return _given(program, key, pairs, dict)
    if type(thing) in (set, frozenset):
        return _given(program, key, [kind_of(program, one, (key, "item")) for one in thing], type(thing))
    if (attributes := attributes_of(thing)) is not None:
        return _record_kind(program, attributes, program.layout(type(thing), is_given=True), key)
    if is_constant(thing):
        return Static(thing)
    raise NotTypedError(f"it reads a {type(thing).__name__}")


def _list_kind(program: Program, items: Any, key: Any) -> Type:
    if type(items) is list and _is_row(items):
        program.saw_rows = True
        if program.has_rows:
            return _row_kind(program, items, key)
    if program.has_rows and _are_rows(items):
        return _given(program, key, [_row_kind(program, one, (key, "item")) for one in items], type(items))
    kinds = {bool: BOOL, int: INT, float: FLOAT, str: TEXT}
    types = set(map(type, items))
    if types <= kinds.keys():
        found: list[Type] = [kinds[one] for one in types]
        for one in items if str in types else ():
            kind_of(program, one, key)
    else:
        found = [kind_of(program, one, (key, "item")) for one in items]
    return _given(program, key, found, type(items))


def _is_row(items: list[Any]) -> bool:
    """Whether items have a type for each place: an int among floats, a list among numbers."""
    reals = {float, Leaf}
    sorts = {float if type(one) in reals or isinstance(one, Value) else type(one) for one in items if one is not None}
    return len(sorts) > 1 and len(items) <= _LONG_TUPLE


def _are_rows(items: Any) -> bool:
    """Whether items are lists of as many items each, and some of them have a type for each place."""
    lengths = {len(one) if type(one) is list else -1 for one in items}
    return len(lengths) == 1 and -1 not in lengths and any(map(_is_row, items))


def _row_kind(program: Program, items: list[Any], key: Any) -> Type:
    return Row(tuple(kind_of(program, one, (key, i)) for i, one in enumerate(items)))


def _array_kind(program: Program, array: NDArray[Any], key: Any) -> Type:
    """An array, as a list of rows, of which nothing but numbers is read."""
    if array.dtype not in (np.float64, np.int64, object) or not array.ndim or not array.size:
        raise NotTypedError(f"it reads an array of {array.dtype}")
    item: Type = UNKNOWN
    if array.dtype == object:
        for one in array.flat:
            item = join(item, kind_of(program, one, (key, "item")))
    else:  # whose items are numbers of NumPy's own classes
        item, program.has_numpy = (NUMPY_INT if array.dtype == np.int64 else NUMPY), True
    for axis in range(array.ndim):
        cell = program.cell(("given", key, axis), item)
        item = ListType(cell, np.ndarray, array.dtype if axis == array.ndim - 1 else None)
    return item


def _given(program: Program, key: Any, items: Sequence[Type], kind: type) -> Type:
    item: Type = UNKNOWN
    for one in items:
        item = join(item, one)
    cell = program.cell(("given", key), item)
    return ListType(cell, kind)


def _record_kind(program: Program, attributes: Mapping[str, Any], layout: Layout, key: Any) -> Type:
    for name, one in attributes.items():
        kind = kind_of(program, one, (layout.kind if layout.kind is not dict else key, name))
        layout.fields[name] = join(layout.fields.get(name, UNKNOWN), kind)
    return Instance(layout)


def _has_fields(program: Program, thing: dict[Any, Any]) -> bool:
    """Whether a dictionary has a field for each of its keys, which are few texts."""
    if not thing or len(thing) > _LONG_TUPLE or not all(type(name) is str for name in thing):
        return False
    return not program.has_tables or not all(_sort_of(one) is float for one in thing.values())


def _layout_of(program: Program, record: dict[str, Any]) -> Layout:
    """The layout of a dictionary: that of one with the same keys, unless one's item is a list and the other's not."""
    sorts = {name: _sort_of(one) for name, one in record.items() if one is not None}
    layouts = (program.layout(dict, tuple(record), is_given=True, variant=variant) for variant in itertools.count())
    found = next(one for one in layouts if all(one.sorts.get(name, sort) is sort for name, sort in sorts.items()))
    found.sorts.update(sorts)
    return found


def _sort_of(thing: Any) -> type:
    """The class of an item; one for all numbers."""
    return float if type(thing) in (int, bool, Leaf) or isinstance(thing, Value) else type(thing)


#: A number for each class of members that came, which no other class gets later.
_numbers: WeakKeyDictionary[type, int] = WeakKeyDictionary()
_count = itertools.count()
#: With one of these, a class of members says itself what they are equal to, or what they are called.
_ODD_IN_ENUM = {"__eq__", "__ne__", "__hash__", "name", "_name_"}


def text_of(member: Enum) -> str:
    """The text that stands for a member of an enumeration, which no other text is equal to."""
    kind = type(member)
    own = (vars(base) for base in kind.__mro__[:-1] if base.__module__ != "enum")
    if isinstance(member, (int, str, float)) or not all(map(_ODD_IN_ENUM.isdisjoint, own)):
        raise NotTypedError(f"{kind.__name__} compares otherwise than other enumerations")
    if kind.__members__.get(member.name) is not member:  # such as several flags together
        raise NotTypedError(f"a member of {kind.__name__} has no name of its own")
    number = _numbers.get(kind)
    if number is None:
        number = _numbers.setdefault(kind, next(_count))
    return f"\0{number}.{kind.__module__}.{kind.__qualname__}.{member.name}"


def is_named_tuple(kind: type) -> bool:
    """Whether a class is a named tuple without methods of its own for its items."""
    made = {"__new__", "__repr__", "__doc__", "__module__", "__slots__", "__getnewargs__", "__match_args__"}
    made |= {"__orig_bases__", "__annotations__", "__replace__", "__firstlineno__", "__static_attributes__"}
    made |= {"__annotate__", "__annotate_func__", "__annotations_cache__"}  # of Python 3.14
    own = {name for name in vars(kind) if name.startswith("__")}
    return kind.__bases__ == (tuple,) and hasattr(kind, "_fields") and own <= made


def attributes_of(thing: Any) -> Mapping[str, Any] | None:
    """The attributes of a plain instance of a class in Python; None for anything else."""
    if isinstance(thing, type) or not is_plain_class(type(thing)):
        return None
    own = getattr(thing, "__dict__", None)
    if type(own) is dict:
        kind = type(thing)  # whose descriptors are asked before what instances hold
        return None if any(is_data_descriptor(getattr_static(kind, name, None)) for name in own) else own
    fields = getattr(type(thing), "__dataclass_fields__", None)
    return None if fields is None else {name: getattr(thing, name) for name in fields}


def has_dict(kind: type) -> bool:
    """Whether instances of a class in Python may have any attributes."""
    return not all("__slots__" in vars(base) for base in kind.__mro__[:-1])


def is_data_descriptor(thing: Any) -> bool:
    """Whether what a class holds under a name decides about the attribute, and is no slot."""
    decides = hasattr(type(thing), "__set__") or hasattr(type(thing), "__delete__")
    return decides and not isinstance(thing, MemberDescriptorType)


def is_frozen(kind: type) -> bool:
    """Whether nothing may be assigned to the attributes of a dataclass."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def is_plain_class(kind: type) -> bool:
    """Whether a class in Python, and those that it inherits from, leave its instances what instances are."""
    made_in_c = (MethodDescriptorType, WrapperDescriptorType)
    odd = {"__getattr__", "__getattribute__", "__setattr__", "__new__", "__class_getitem__"}
    bases = kind.__mro__[:-1]
    if kind.__module__ == "builtins" or type(kind) not in (type, ABCMeta) or not bases:
        return False
    for base in bases:
        if base is ABC:
            continue
        own = vars(base)
        if type(base) not in (type, ABCMeta) or (odd - ({"__setattr__"} if is_frozen(base) else set())) & own.keys():
            return False
        if any(isinstance(one, made_in_c) for one in own.values()):
            return False
    return not issubclass(kind, (tuple, list, dict, set, str, int, float, BaseException, Enum))
