"""Lists: made, read, changed and copied. What the function itself would raise, it raises, in a call of its own."""

from __future__ import annotations

import ast
import functools
from collections import Counter, deque
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...backends.llvm.ir_builder import constant
from ..frame import Frame, LocalFunction, split
from ..ir.arithmetic import Typed
from ..syntax import place_key
from ..types import (
    BOUNDED,
    COUNTER,
    FLOAT,
    INT,
    TEXT,
    UNKNOWN,
    Cell,
    Closure,
    Instance,
    Layout,
    ListType,
    NotTypedError,
    Row,
    Tuple,
    Type,
    join,
)
from .choices import choice
from .keys import check_key, forget_index, found_at, present
from .library.in_python import every, every_backwards
from .library.texts import item_of_text, of_text, sliced_text
from .memory import LAST_WORD, counted, item_place, new_list, words_of

__all__ = [
    *("DEFAULTS", "added", "appended", "bounded", "changes_of", "concatenated", "copied", "has_changed", "inserted"),
    *("item_of", "item_of_tuple", "length", "load_field", "made_by", "made_counter", "made_list", "made_record"),
    *("new_instance", "not_given", "piece", "removed", "repeated", "sliced", "store_field", "store_item"),
]


def length(f: Frame, value: Typed) -> Typed:
    """What ``len`` gives."""
    if isinstance(value.kind, ListType):
        return Typed(INT, (f.w.load("i64", value.number),))
    if isinstance(value.kind, (Tuple, Row)) or (isinstance(value.kind, Instance) and value.kind.is_record):
        count = len(value.kind.layout.fields if isinstance(value.kind, Instance) else value.kind.items)
        return Typed(INT, (str(count),), known=count)
    if value.kind is TEXT:
        return of_text(f, value, "len", len, INT)
    raise NotTypedError(f"it asks for the length of {value.kind}")


def made_list(f: Frame, node: Any, values: Sequence[Typed], kind: type = list) -> Typed:
    """A list of these items."""
    settled = [f.settled(value) for value in values]
    cell = f.program.cell((f.path, place_key(node), "list"))
    for value in settled:
        _widen(cell, value.kind)
    made = new_list(f, cell, str(len(settled)), kind)
    assert isinstance(made.kind, ListType)
    if settled:
        data = f.w.load("ptr", f.w.at(made.number, 2))
        for i, value in enumerate(settled):
            f.store(value, made.kind.item, f.w.at(data, i * words_of(made.kind)))
    return made


def _widen(cell: Cell, kind: Type) -> None:
    root = cell.root()
    root.item = join(root.item, kind)


def _changing(f: Frame, value: Typed) -> ListType:
    """The type of a list that is to change."""
    if not isinstance(value.kind, ListType):
        raise NotTypedError(f"it changes {value.kind}")
    not_given(f, value)
    return value.kind


def not_given(f: Frame, value: Typed) -> None:
    """What comes from outside is left to the function itself, where it would be changed or told from another."""
    if isinstance(value.kind, ListType):
        f.w.bail_if(f.w.emit(f"icmp slt i64 {f.w.load('i64', f.w.at(value.number, 1))}, 0"))
    elif isinstance(value.kind, Instance) and value.kind.layout.is_given:
        f.w.bail()


def changes_of(f: Frame, of: Typed) -> str:
    """How often something was added to, or taken from, a list."""
    return f.w.load("i64", f.w.at(of.number, 3))


def has_changed(f: Frame, of: Typed) -> None:
    """Something was."""
    f.w.store("i64", f.w.emit(f"add i64 {changes_of(f, of)}, 1"), f.w.at(of.number, 3))


def place_of(f: Frame, the_list: Typed, index: Typed) -> str:
    """Where an item is in memory."""
    assert isinstance(the_list.kind, ListType)
    at = f.math.integer(f.there(index)).number
    count = f.w.load("i64", the_list.number)
    if index.known is None or index.known < 0:
        from_end = f.w.emit(f"add i64 {at}, {count}")
        at = f.w.emit(f"select i1 {f.w.emit(f'icmp slt i64 {at}, 0')}, i64 {from_end}, i64 {at}")
    f.w.bail_if(f.w.emit(f"icmp uge i64 {at}, {count}"))
    return item_place(f, the_list, at)


def _has_places(kind: ListType) -> None:
    if kind.kind in (set, frozenset):
        raise NotTypedError(f"it reads or changes an item of {kind}")


def item_of(f: Frame, of: Typed, index: Typed) -> Typed:
    """``of[index]``."""
    if UNKNOWN in (of.kind, index.kind):
        f.w.bail()
        return Typed(UNKNOWN)
    if isinstance(of.kind, ListType):
        if of.kind.item is UNKNOWN and of.kind.default is None:
            f.w.bail()
            return Typed(UNKNOWN)
        if of.kind.kind is dict:
            if of.kind.default is COUNTER:
                return _count_at(f, of, index)
            return _value_at(f, of, _present_or_made(f, of, index) if of.kind.default else present(f, of, index))
        if of.kind.kind is np.ndarray and isinstance(index.kind, Tuple):
            return functools.reduce(lambda rows, one: item_of(f, rows, one), split(index), of)
        _has_places(of.kind)
        return f.load(of.kind.item, place_of(f, of, index))
    if of.kind is TEXT:
        return item_of_text(f, of, index)
    if isinstance(of.kind, Instance) and of.kind.is_record:
        return _item_of_record(f, of, index)
    if isinstance(of.kind, (Tuple, Row)):
        if isinstance(index.known, int) and -len(of.kind.items) <= index.known < len(of.kind.items):
            return split(of)[index.known]
        return item_of_tuple(f, of, index)
    raise NotTypedError(f"it reads an item of {of.kind}")


def _item_of_record(f: Frame, of: Typed, key: Typed) -> Typed:
    assert isinstance(of.kind, Instance)
    fields = of.kind.layout.fields
    if isinstance(key.known, str) and key.known not in fields:
        f.w.bail()
        return Typed(UNKNOWN)
    kinds = set(fields.values())
    if key.known is not None or len(kinds) < 2 or key.kind is not TEXT:
        return f.load(*record_place(f, of, key))
    sides = [(f.w.name("item"), lambda name=name: load_field(f, of, name)) for name in fields]
    for (label, _), name in zip(sides, fields, strict=True):
        other = f.w.name("other")
        f.w.branch(f.w.emit(f"icmp eq i64 {key.number}, {f.program.text(name)}"), label, other)
        f.w.block(other)
    f.w.bail()
    return choice(f, (of.kind.layout, "item"), sides, f.w.name("end"))


def item_of_tuple(f: Frame, of: Typed, index: Typed) -> Typed:
    assert isinstance(of.kind, (Tuple, Row))
    kind: Type = UNKNOWN
    for one in of.kind.items:
        kind = join(kind, one)
    count, words = len(of.kind.items), len(kind.words)
    at = f.math.integer(f.there(index)).number
    at = f.w.emit(f"select i1 {f.w.emit(f'icmp slt i64 {at}, 0')}, i64 {f.w.emit(f'add i64 {at}, {count}')}, i64 {at}")
    f.w.bail_if(f.w.emit(f"icmp uge i64 {at}, {count}"))
    place = f.w.allocate("i64", count * words)
    for i, item in enumerate(split(of)):
        f.store(item, kind, f.w.at(place, i * words))
    return f.load(kind, f.w.at(place, f.w.emit(f"mul i64 {at}, {words}")))


def store_item(f: Frame, the_list: Typed, index: Typed, value: Typed) -> None:
    """``the_list[index] = value``."""
    value = f.settled(value)
    if isinstance(the_list.kind, Instance) and the_list.kind.is_record:
        _store_in_record(f, the_list, index, value)
        return
    kind = _changing(f, the_list)
    if kind.kind is dict:
        _store_value(f, the_list, index, value)
        return
    _has_places(kind)
    _widen(kind.cell, value.kind)
    f.store(value, kind.item, place_of(f, the_list, index))


def appended(f: Frame, the_list: Typed, value: Typed) -> None:
    """``the_list.append(value)``."""
    kind, value = _changing(f, the_list), f.settled(value)
    _widen(kind.cell, value.kind)
    has_changed(f, the_list)
    if kind.default is BOUNDED:
        _let_go(f, the_list, "0")
    f.store(value, kind.item, f.allocated(f"@appended(ptr %context, ptr {the_list.number}, i64 {words_of(kind)})"))


def bounded(f: Frame, made: Typed, most: Typed) -> Typed:
    """A deque that was made without items, with ``maxlen``."""
    assert isinstance(made.kind, ListType)
    f.w.bail_if(f.w.emit(f"icmp sle i64 {most.number}, 0"))
    f.w.store("i64", most.number, f.w.at(made.number, LAST_WORD))
    return Typed(ListType(made.kind.cell, made.kind.kind, default=BOUNDED), made.parts)


def _let_go(f: Frame, the_list: Typed, at: str) -> None:
    """Before an item is added to a deque that has as many as it may, another one goes."""
    assert isinstance(the_list.kind, ListType)
    count, most = f.w.load("i64", the_list.number), f.w.load("i64", f.w.at(the_list.number, LAST_WORD))
    full, on = f.w.name("full"), f.w.name("on")
    f.w.branch(f.w.emit(f"icmp sge i64 {count}, {most}"), full, on)
    f.w.block(full)
    f.w.line(f"call void @removed(ptr {the_list.number}, i64 {at}, i64 {words_of(the_list.kind)})")
    f.w.block(on)


def inserted(f: Frame, the_list: Typed, index: Typed, value: Typed) -> None:
    """``the_list.insert(index, value)``."""
    kind, value = _changing(f, the_list), f.settled(value)
    _widen(kind.cell, value.kind)
    if kind.default is BOUNDED:
        if index.known != 0:
            raise NotTypedError("it inserts into a deque with maxlen")
        _let_go(f, the_list, f.w.emit(f"sub i64 {f.w.load('i64', the_list.number)}, 1"))
    at, count = f.math.integer(index).number, f.w.load("i64", the_list.number)
    end = f.w.emit(f"add i64 {at}, {count}")
    at = f.w.emit(f"select i1 {f.w.emit(f'icmp slt i64 {at}, 0')}, i64 {end}, i64 {at}")
    at = f.w.emit(f"call i64 @llvm.smax.i64(i64 {at}, i64 0)")
    at = f.w.emit(f"call i64 @llvm.smin.i64(i64 {at}, i64 {count})")
    has_changed(f, the_list)
    call = f"@inserted(ptr %context, ptr {the_list.number}, i64 {at}, i64 {words_of(kind)})"
    f.store(value, kind.item, f.allocated(call))


def removed(f: Frame, the_list: Typed, index: Typed) -> Typed:
    """``the_list.pop(index)``."""
    kind = _changing(f, the_list)
    if kind.item is UNKNOWN:
        f.w.bail()
        return Typed(UNKNOWN)
    at, count = f.math.integer(index).number, f.w.load("i64", the_list.number)
    at = f.w.emit(f"select i1 {f.w.emit(f'icmp slt i64 {at}, 0')}, i64 {f.w.emit(f'add i64 {at}, {count}')}, i64 {at}")
    f.w.bail_if(f.w.emit(f"icmp uge i64 {at}, {count}"))
    found = f.load(kind.item, item_place(f, the_list, at))
    has_changed(f, the_list)
    f.w.line(f"call void @removed(ptr {the_list.number}, i64 {at}, i64 {words_of(kind)})")
    forget_index(f, the_list)
    return found


# --- dictionaries and sets ----------------------------------------------------------------------------------


def made_record(f: Frame, values: dict[str, Typed]) -> Typed:
    """A dictionary with fixed texts as keys."""
    layout = f.program.layout(dict, tuple(values))
    for name, value in values.items():
        layout.fields[name] = join(layout.fields.get(name, UNKNOWN), value.kind)
    made = new_instance(f, layout)
    for name, value in values.items():
        store_field(f, made, name, value)
    return made


def new_instance(f: Frame, layout: Layout) -> Typed:
    """An instance without attributes."""
    place = f.allocated(f"@allocate(ptr %context, i64 {max(1, len(layout.words))})")
    for name in layout.fields:
        f.w.store("i64", "0", f.w.at(place, layout.offset(name)))
    return Typed(Instance(layout), (place,))


def store_field(f: Frame, of: Typed, name: str, value: Typed) -> None:
    """Store an attribute, whose type is known to the layout."""
    assert isinstance(of.kind, Instance)
    layout = of.kind.layout
    place = f.w.at(of.number, layout.offset(name))
    f.w.store("i64", "1", place)
    f.store(value, layout.fields[name], f.w.at(place, 1))


def load_field(f: Frame, of: Typed, name: str) -> Typed:
    """An attribute; without one, the function itself raises."""
    assert isinstance(of.kind, Instance)
    layout = of.kind.layout
    place = f.w.at(of.number, layout.offset(name))
    f.w.bail_if(f.w.emit(f"icmp eq i64 {f.w.load('i64', place)}, 0"))
    return f.load(layout.fields[name], f.w.at(place, 1))


def record_place(f: Frame, of: Typed, key: Typed) -> tuple[Type, str]:
    """The type of an item of a dictionary with fixed texts as keys, and where it is."""
    assert isinstance(of.kind, Instance)
    layout = of.kind.layout
    if isinstance(key.known, str) and key.known in layout.fields:
        return layout.fields[key.known], f.w.at(of.number, layout.offset(key.known) + 1)
    kinds = [*layout.fields.values()]
    if key.kind is not TEXT or key.known is not None or any(kind != kinds[0] for kind in kinds):
        raise NotTypedError("it looks up a key that a dict of fixed keys does not have")
    place = "null"
    for name in layout.fields:
        is_it = f.w.emit(f"icmp eq i64 {key.number}, {f.program.text(name)}")
        place = f.w.emit(f"select i1 {is_it}, ptr {f.w.at(of.number, layout.offset(name) + 1)}, ptr {place}")
    f.w.bail_if(f.w.emit(f"icmp eq ptr {place}, null"))
    return kinds[0], place


def _store_in_record(f: Frame, of: Typed, key: Typed, value: Typed) -> None:
    assert isinstance(of.kind, Instance)
    layout = of.kind.layout
    if layout.is_given:
        raise NotTypedError("it changes a dict that it has not made")
    for name in [key.known] if isinstance(key.known, str) else [*layout.fields]:
        if name in layout.fields:
            layout.fields[name] = join(layout.fields[name], value.kind)
    kind, place = record_place(f, of, key)
    f.store(value, kind, place)


#: What classes make without arguments.
DEFAULTS: dict[Any, Any] = {
    int: lambda f, key: Typed(INT, ("0",)),
    float: lambda f, key: Typed(FLOAT, (constant(0.0),)),
    list: lambda f, key: made_list(f, key, []),
    set: lambda f, key: made_list(f, key, [], set),
    dict: lambda f, key: made_list(f, key, [], dict),
    deque: lambda f, key: made_list(f, key, [], deque),
    Counter: lambda f, key: made_counter(f, key),
}


def _present_or_made(f: Frame, of: Typed, key: Typed) -> str:
    """Which pair of a defaultdict has a key; without one it is made."""
    assert isinstance(of.kind, ListType)
    key = f.settled(f.there(key))
    place, new, end = f.w.allocate("i64"), f.w.name("new"), f.w.name("end")
    f.w.store("i64", found_at(f, of, key), place)
    f.w.branch(f.w.emit(f"icmp slt i64 {f.w.load('i64', place)}, 0"), new, end)
    f.w.block(new)
    f.w.store("i64", f.w.load("i64", of.number), place)
    _store_value(f, of, key, made_by(f, of.kind.default, (of.kind.cell, "default")))
    f.w.block(end)
    return f.w.load("i64", place)


def made_counter(f: Frame, node: Any) -> Typed:
    """A Counter that has counted nothing."""
    made = made_list(f, node, [], dict)
    assert isinstance(made.kind, ListType)
    return Typed(ListType(made.kind.cell, dict, default=COUNTER), made.parts)


def made_by(f: Frame, maker: Any, at: Any) -> Typed:
    """What a class of Python's own makes without arguments, or a function gives; ``at``: where that is."""
    if isinstance(maker, LocalFunction):
        return f.call_closure(Typed(Closure(maker)), [], {})
    if isinstance(maker, FunctionType):
        return f.call(at, maker, [], {})
    if maker not in DEFAULTS:
        raise NotTypedError(f"it makes a {getattr(maker, '__name__', 'thing')} in the place of what is missing")
    made: Typed = DEFAULTS[maker](f, at)
    return made


def _count_at(f: Frame, of: Typed, key: Typed) -> Typed:
    """How often a Counter has counted a key: 0 of one that it does not have, and does not get."""
    assert isinstance(of.kind, ListType)
    item, at = of.kind.item, found_at(f, of, f.settled(f.there(key)))
    none = Typed(INT, ("0",))
    if not isinstance(item, Tuple):
        return none
    result, has, lacks, end = f.variable(join(item.items[1], INT)), f.w.name("has"), f.w.name("lacks"), f.w.name("end")
    f.w.branch(f.w.emit(f"icmp sge i64 {at}, 0"), has, lacks)
    f.w.block(has)
    f.set(result, _value_at(f, of, at))
    f.w.jump(end)
    f.w.block(lacks)
    f.set(result, none)
    f.w.block(end)
    return f.get(result)


def _value_at(f: Frame, of: Typed, at: str) -> Typed:
    """The value of a pair of a dictionary."""
    assert isinstance(of.kind, ListType)
    return split(f.load(of.kind.item, item_place(f, of, at)))[1]


def _store_value(f: Frame, of: Typed, key: Typed, value: Typed) -> None:
    assert isinstance(of.kind, ListType)
    key = f.settled(f.there(key))
    check_key(key.kind)
    pair = Typed(Tuple((key.kind, value.kind)), (*key.parts, *value.parts))
    _widen(of.kind.cell, pair.kind)
    at, new, known, end = found_at(f, of, key), f.w.name("new"), f.w.name("known"), f.w.name("end")
    item = of.kind.item
    assert isinstance(item, Tuple)
    f.w.branch(f.w.emit(f"icmp slt i64 {at}, 0"), new, known)
    f.w.block(new)
    appended(f, of, pair)
    f.w.jump(end)
    f.w.block(known)
    f.store(value, item.items[1], f.w.at(item_place(f, of, at), len(item.items[0].words)))
    f.w.block(end)


def added(f: Frame, of: Typed, item: Typed) -> None:
    """``a_set.add(item)``."""
    item = f.settled(f.there(item))
    check_key(item.kind)
    _widen(_changing(f, of).cell, item.kind)
    new, end = f.w.name("new"), f.w.name("end")
    f.w.branch(f.w.emit(f"icmp slt i64 {found_at(f, of, item)}, 0"), new, end)
    f.w.block(new)
    appended(f, of, item)
    f.w.block(end)


# --- copies -------------------------------------------------------------------------------------------------


def copied(f: Frame, node: Any, the_list: Typed, kind: type = list) -> Typed:
    """A new list of the same items."""
    return piece(f, node, the_list, "0", str(2**62), kind)


def sliced(f: Frame, node: ast.Subscript, of: Typed, at: ast.Slice) -> Typed:
    """``of[from:to]``, and ``of[::-1]``."""
    bounds = [None if one is None else f.math.integer(f.there(f.evaluated(one))) for one in (at.lower, at.upper)]
    if of.kind is TEXT:
        return sliced_text(f, of, [*bounds, None if at.step is None else f.evaluated(at.step)])
    step = None if at.step is None else f.evaluated(at.step).known
    if of.kind is UNKNOWN:
        return of
    if at.step is not None and (not isinstance(step, int) or step == 0):
        raise NotTypedError("it slices with a step that is computed")
    if isinstance(of.kind, Tuple) and all(one is None or one.known is not None for one in bounds):
        known = [None if one is None else one.known for one in bounds]
        items = split(of)[known[0] : known[1] : step]
        return Typed(Tuple(tuple(item.kind for item in items)), tuple(part for item in items for part in item.parts))
    if not isinstance(of.kind, ListType) or of.kind.kind is not list:
        raise NotTypedError(f"it slices {of.kind}")
    if bounds == [None, None] and step == -1:
        return reversed_list(f, node, of)
    is_back = step is not None and step < 0
    first, last = (_FAR, Typed(INT, (str(-(2**62)),))) if is_back else (Typed(INT, ("0",), known=0), _FAR)
    start, stop = first if bounds[0] is None else bounds[0], last if bounds[1] is None else bounds[1]
    if step not in (None, 1):
        by = every_backwards if is_back else every
        return f.call(node, by, [of, start, stop, Typed(INT, (str(step),), known=step)], {})
    return piece(f, node, of, start.number, stop.number, list)


#: Beyond the end of every list.
_FAR = Typed(INT, (str(2**62),))


def piece(f: Frame, node: Any, of: Typed, start: str, stop: str, kind: type) -> Typed:
    """A new list of the items from one to another."""
    assert isinstance(of.kind, ListType)
    cell = f.program.cell((f.path, place_key(node), "slice"), of.kind.item)
    words = words_of(of.kind)
    piece = f.allocated(f"@slice(ptr %context, ptr {of.number}, i64 {start}, i64 {stop}, i64 {words})")
    same = ListType(cell, kind)
    if same.item == of.kind.item:
        return Typed(same, (piece,))
    return _converted(f, Typed(of.kind, (piece,)), same)


def _converted(f: Frame, of: Typed, kind: ListType) -> Typed:
    """A list whose items have a wider type."""
    assert isinstance(of.kind, ListType)
    count = f.w.load("i64", of.number)
    made = new_list(f, kind.cell, count, kind.kind)
    with_index = counted(f, count)
    item = f.load(of.kind.item, item_place(f, of, with_index.index))
    f.store(item, kind.item, item_place(f, made, with_index.index))
    with_index.close()
    return made


def reversed_list(f: Frame, node: Any, of: Typed) -> Typed:
    """``of[::-1]``."""
    assert isinstance(of.kind, ListType)
    cell = f.program.cell((f.path, place_key(node), "slice"), of.kind.item)
    count = f.w.load("i64", of.number)
    made = new_list(f, cell, count)
    last = f.w.emit(f"sub i64 {count}, 1")
    loop = counted(f, count)
    assert isinstance(made.kind, ListType)
    item = f.load(of.kind.item, item_place(f, of, f.w.emit(f"sub i64 {last}, {loop.index}")))
    f.store(item, made.kind.item, item_place(f, made, loop.index))
    loop.close()
    return made


def concatenated(f: Frame, node: Any, one: Typed, other: Typed) -> Typed:
    """``one + other``."""
    assert isinstance(one.kind, ListType)
    assert isinstance(other.kind, ListType)
    cell = f.program.cell((f.path, place_key(node), "sum"), join(one.kind.item, other.kind.item))
    kind = ListType(cell)
    one, other = (each if each.kind.item == kind.item else _converted(f, each, kind) for each in (one, other))  # type: ignore[union-attr]
    call = f"@concatenated(ptr %context, ptr {one.number}, ptr {other.number}, i64 {words_of(kind)})"
    return Typed(kind, (f.allocated(call),))


def repeated(f: Frame, node: Any, of: Typed, times: Typed) -> Typed:
    """``of * times``."""
    assert isinstance(of.kind, ListType)
    cell = f.program.cell((f.path, place_key(node), "product"), of.kind.item)
    kind = ListType(cell)
    if kind.item != of.kind.item:
        of = _converted(f, of, kind)
    return Typed(
        kind, (f.allocated(f"@repeated(ptr %context, ptr {of.number}, i64 {times.number}, i64 {words_of(kind)})"),)
    )
