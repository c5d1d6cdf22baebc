"""A whole program: the data of a call is read, the function follows, and its result is what the call is given."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from ..calls.argument_order import written_by_user
from .constants import kind_of
from .frame import Frame, Program
from .ir.arithmetic import Typed
from .ir.context import CONTEXT
from .ir.runtime import RUNTIME
from .source.containers import new_instance, store_field
from .source.language import PYTHON
from .source.library.texts import tables_of
from .source.memory import counted, item_place, new_list
from .types import (
    ANY_NUMBER,
    BOOL,
    EITHER,
    MIXED,
    NONE,
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
    is_number,
)

__all__ = ["TapedProgram", "positional", "written"]

#: So often a program is followed until its types are known.
_MOST_PASSES = 40
#: So many bytes of the stack may functions take that call themselves: some threads have a few times as much in all.
_STACK = 1 << 17
_FLAT = ("i64", "double")


@dataclass(frozen=True, slots=True)
class TapedProgram:
    """The code of a function for arguments of some types.

    Attributes:
        text: LLVM IR, with the functions ``run`` and ``sweep``.
        program: What it was made of.
        kinds: The types of the arguments.
        result: The type of the result.
        words: How many words a context has.
    """

    text: str
    program: Program
    kinds: tuple[Type, ...]
    result: Type
    words: int


def positional(function: Any, arguments: Sequence[Any]) -> tuple[FunctionType, list[Any]]:
    """The function in Python that a call runs, with all of its arguments by position, ``self`` of a method among them.

    Raises:
        NotTypedError: There is none.
    """
    function, given, keywords = written_by_user(function, arguments)
    given = list(given)
    if isinstance(function, MethodType):
        function, given = function.__func__, [function.__self__, *given]
    if not isinstance(function, FunctionType):
        raise NotTypedError(f"it is a {type(function).__name__}")
    if function.__globals__.get("__name__", "").startswith("retrograd.autodiff."):
        raise NotTypedError("it gives derivatives")
    if keywords:
        if hasattr(function, "__signature__"):
            raise NotTypedError("it says itself what it takes")
        bound = inspect.signature(function, follow_wrapped=False).bind(*given, **keywords)
        if bound.kwargs:
            raise NotTypedError("it takes arguments by keyword alone")
        given = list(bound.args)
    return function, given


def written(function: FunctionType, arguments: Sequence[Any]) -> TapedProgram:
    """The program of a call.

    Args:
        function: The function.
        arguments: Those of the call, with a :class:`.constants.Leaf` in the place of each variable.

    Raises:
        NotTypedError: The function does what has no type, or what machine code cannot do.
    """
    program = Program(PYTHON)
    try:
        return _written(program, function, arguments)
    except NotTypedError:
        others = [Program(PYTHON, has_tables=True)]
        if program.saw_rows:
            others += [Program(PYTHON, tables, has_rows=True) for tables in (False, True)]
        for other in others:
            with contextlib.suppress(NotTypedError):
                return _written(other, function, arguments)
        raise


def _written(program: Program, function: FunctionType, arguments: Sequence[Any]) -> TapedProgram:
    kinds = tuple(kind_of(program, one, ("argument", i)) for i, one in enumerate(arguments))
    state: Any = None
    for _ in range(_MOST_PASSES):
        before = state
        program.followed.clear()
        program.readers.clear()
        entry, result = _entry(program, function, kinds)
        state = program.state()
        if state == before:
            routines = "\n".join(one.text for one in program.routines.values())
            readers, sweep = "\n".join(program.readers.values()), program.tape.sweep()
            text = "\n".join([RUNTIME, tables_of(program), program.rows.text, routines, readers, entry, sweep])
            words = len(CONTEXT) + sum(len(kind.words) for kind, _ in program.data.values())
            return TapedProgram(text, program, kinds, result, words)
    raise NotTypedError("its types do not settle")


def _entry(program: Program, function: FunctionType, kinds: Sequence[Type]) -> tuple[str, Type]:
    f = Frame(program, function, {}, "entry")
    here = f.w.emit(f"ptrtoint ptr {f.w.allocate('i64')} to i64")
    f.w.store("i64", f.w.emit(f"sub i64 {here}, {_STACK}"), f.w.at("%context", CONTEXT["stack"]))
    cursor = f.w.allocate("ptr")
    f.w.store("ptr", "%buffer", cursor)
    for kind, at in program.data.values():
        f.store(_read(f, kind, cursor), kind, f.w.at("%context", at))
    arguments = [_read(f, kind, cursor) for kind in kinds]
    result = f.there(f.settled(f.call(_NOWHERE, function, arguments, {})))
    kind = result.kind
    if kind is not UNKNOWN:
        if not is_number(kind):
            raise NotTypedError(f"it returns {kind}")
        number = f.math.real(result)
        if kind in (MIXED, ANY_NUMBER):
            f.math.refuse_negative_zero(number.number)
        f.w.store("double", number.number, "%out")
        node = result.parts[1] if kind in (VALUE, EITHER, ANY_NUMBER) else "0"
        f.w.store("i64", f.w.emit(f"zext i32 {node} to i64"), f.w.at("%out", 1))
    f.w.line("ret i32 0")
    head = "define i32 @run(ptr noalias %context, ptr noalias %buffer, ptr noalias %leaves, ptr noalias %out)"
    return f.w.text(head), kind


class _Nowhere:
    """In place of the call in the source that the program begins with."""


_NOWHERE: Any = _Nowhere()


def _word(f: Frame, cursor: str) -> str:
    """The address of the next word of the data."""
    place = f.w.load("ptr", cursor)
    f.w.store("ptr", f.w.at(place, 1), cursor)
    return place


def _read(f: Frame, kind: Type, cursor: str) -> Typed:
    """Read data of a type."""
    if kind in (NONE, UNKNOWN) or isinstance(kind, Static):
        return Typed(kind)
    if kind is VALUE:
        return _leaf(f, f.w.load("i64", _word(f, cursor)), VALUE)
    if kind in (EITHER, ANY_NUMBER):
        return _either(f, kind, cursor)
    if kind is BOOL:
        return Typed(BOOL, (f.w.emit(f"icmp ne i64 {f.w.load('i64', _word(f, cursor))}, 0"),))
    if isinstance(kind, (Tuple, Row)):
        items = [_read(f, item, cursor) for item in kind.items]
        return Typed(kind, tuple(part for item in items for part in item.parts))
    if isinstance(kind, Instance):
        return _instance(f, kind, cursor)
    if isinstance(kind, ListType):
        return _list(f, kind, cursor)
    if isinstance(kind, Optional):
        return _optional(f, kind, cursor)
    if isinstance(kind, Union):
        return _one_of(f, kind, cursor)
    return f.load(kind, _word(f, cursor))


def _leaf(f: Frame, index: str, kind: Type) -> Typed:
    place = f.w.at("%leaves", f.w.emit(f"sub i64 {index}, 1"))
    return Typed(kind, (f.w.load("double", place), f.w.emit(f"trunc i64 {index} to i32")))


def _chosen(f: Frame, kind: Type, test: str, yes: Any, no: Any) -> Typed:
    """What is read in one of two ways."""
    variable = f.variable(kind)
    first, second, end = f.w.name("yes"), f.w.name("no"), f.w.name("end")
    f.w.branch(test, first, second)
    for label, read in ((first, yes), (second, no)):
        f.w.block(label)
        f.set(variable, read())
        f.w.jump(end)
    f.w.block(end)
    return f.get(variable)


def _either(f: Frame, kind: Type, cursor: str) -> Typed:
    index = f.w.load("i64", _word(f, cursor))
    return _chosen(
        f,
        kind,
        f.w.emit(f"icmp ne i64 {index}, 0"),
        lambda: _leaf(f, index, kind),
        lambda: Typed(kind, (f.w.load("double", _word(f, cursor)), "0")),
    )


def _optional(f: Frame, kind: Optional, cursor: str) -> Typed:
    is_there = f.w.emit(f"icmp ne i64 {f.w.load('i64', _word(f, cursor))}, 0")
    return _chosen(f, kind, is_there, lambda: _read(f, kind.item, cursor), lambda: Typed(NONE))


def _one_of(f: Frame, kind: Union, cursor: str) -> Typed:
    which, variable, end = f.w.load("i64", _word(f, cursor)), f.variable(kind), f.w.name("end")
    for i, option in enumerate(kind.options):
        here, other = f.w.name("option"), f.w.name("other")
        f.w.branch(f.w.emit(f"icmp eq i64 {which}, {i}"), here, other)
        f.w.block(here)
        f.set(variable, _read(f, option, cursor))
        f.w.jump(end)
        f.w.block(other)
    f.w.bail()
    f.w.block(end)
    return f.get(variable)


def _instance(f: Frame, kind: Instance, cursor: str) -> Typed:
    if not _is_inside(kind.layout, [*kind.layout.fields.values()]):
        return _made(f, kind, cursor)
    place = f.w.allocate("ptr")
    status = f.w.emit(f"call i32 @{_reader(f, kind)}(ptr %context, ptr {cursor}, ptr %leaves, ptr {place})")
    f.w.bail_if(f.w.emit(f"icmp ne i32 {status}, 0"))
    return Typed(kind, (f.w.load("ptr", place),))


def _is_inside(layout: Layout, kinds: Sequence[Type]) -> bool:
    """Whether instances with a layout are in what is of these types."""
    rest: list[Type] = [*kinds]
    seen: list[Layout] = []
    while rest:
        kind = rest.pop()
        if isinstance(kind, Optional):
            rest.append(kind.item)
        elif isinstance(kind, (Tuple, Row)):
            rest += kind.items
        elif isinstance(kind, ListType):
            rest.append(kind.item)
        elif isinstance(kind, Union):
            rest += kind.options
        elif isinstance(kind, Instance) and kind.layout is layout:
            return True
        elif isinstance(kind, Instance) and kind.layout not in seen:
            seen.append(kind.layout)
            rest += kind.layout.fields.values()
    return False


def _reader(f: Frame, kind: Instance) -> str:
    """The name of a function that reads an instance, and calls itself for those in it."""
    readers = f.program.readers
    if kind.layout in readers:
        return f"read{[*readers].index(kind.layout)}"
    name, readers[kind.layout] = f"read{len(readers)}", ""
    inner = Frame(f.program, f.function, {}, name)
    inner.w.bail_if(inner.w.emit("call i1 @is_too_deep(ptr %context)"))
    inner.w.store("ptr", _made(inner, kind, "%cursor").number, "%out")
    inner.w.line("call void @is_back(ptr %context)")
    inner.w.line("ret i32 0")
    head = f"define internal i32 @{name}(ptr %context, ptr %cursor, ptr noalias %leaves, ptr %out)"
    readers[kind.layout] = inner.w.text(head)
    return name


def _made(f: Frame, kind: Instance, cursor: str) -> Typed:
    made = new_instance(f, kind.layout)
    for name, item in kind.layout.fields.items():
        store_field(f, made, name, _read(f, item, cursor))
    return made


def _list(f: Frame, kind: ListType, cursor: str) -> Typed:
    count = f.w.load("i64", _word(f, cursor))
    made = new_list(f, kind.cell, count, kind.kind)
    f.w.store("i64", "-1", f.w.at(made.number, 1))  # nothing may change it
    item = kind.item
    if len(item.words) == 1 and item.words[0] in _FLAT and not isinstance(item, (Optional, Tuple)):
        data, start = f.w.load("ptr", f.w.at(made.number, 2)), f.w.load("ptr", cursor)
        size = f.w.emit(f"shl i64 {count}, 3")
        f.w.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {data}, ptr {start}, i64 {size}, i1 false)")
        f.w.store("ptr", f.w.at(start, count), cursor)
        return made
    loop = counted(f, count)
    f.store(_read(f, item, cursor), item, item_place(f, made, loop.index))
    loop.close()
    return made
