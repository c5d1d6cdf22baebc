"""Methods: of lists, deques, dictionaries and sets, and the rows of the op table that a Value has."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from typing import Any

from ....ops import BY_NAME, Op
from ..frame import Frame, split
from ..ir.arithmetic import Typed
from ..types import (
    INT,
    NONE,
    UNKNOWN,
    VALUE,
    Instance,
    Iterated,
    ListType,
    NotTypedError,
    Tuple,
    is_number,
    join,
)
from . import loops
from .containers import (
    added,
    appended,
    copied,
    has_changed,
    inserted,
    item_of,
    not_given,
    removed,
    store_item,
)
from .keys import forget_index, found_at, present
from .library.builtin_calls import ordered
from .library.in_python import count_of, reversed_in_place
from .memory import item_place

__all__ = ["list_method", "method_row", "record_method"]

_NOTHING = Typed(NONE)


def list_method(f: Frame, node: ast.Call, of: Typed, name: str) -> Typed:
    """A method of a list, a deque, a dictionary or a set."""
    assert isinstance(of.kind, ListType)
    write = _METHODS.get(of.kind.kind, {}).get(name)
    if write is None or (node.keywords and name != "sort"):
        raise NotTypedError(f"it calls .{name}() of {of.kind}")
    found: Typed = write(f, node, of)
    return found


def _append(f: Frame, node: ast.Call, of: Typed) -> Typed:
    appended(f, of, f.evaluated(node.args[0]))
    return _NOTHING


def _append_left(f: Frame, node: ast.Call, of: Typed) -> Typed:
    inserted(f, of, Typed(INT, ("0",), known=0), f.evaluated(node.args[0]))
    return _NOTHING


def _insert(f: Frame, node: ast.Call, of: Typed) -> Typed:
    inserted(f, of, f.there(f.evaluated(node.args[0])), f.evaluated(node.args[1]))
    return _NOTHING


def _extend(f: Frame, node: ast.Call, of: Typed) -> Typed:
    loops.extended(f, node, of, f.evaluated(node.args[0]))
    return _NOTHING


def _pop(f: Frame, node: ast.Call, of: Typed) -> Typed:
    index = f.evaluated(node.args[0]) if node.args else Typed(INT, ("-1",), known=-1)
    return removed(f, of, index)


def _pop_left(f: Frame, node: ast.Call, of: Typed) -> Typed:
    del node
    return removed(f, of, Typed(INT, ("0",), known=0))


def _copy(f: Frame, node: ast.Call, of: Typed) -> Typed:
    assert isinstance(of.kind, ListType)
    if of.kind.default is not None:
        raise NotTypedError(f"it copies {of.kind} with a limit, or a defaultdict")
    return copied(f, node, of, of.kind.kind)


def _clear(f: Frame, node: ast.Call, of: Typed) -> Typed:
    del node
    not_given(f, of)
    has_changed(f, of)
    f.w.store("i64", "0", of.number)
    forget_index(f, of)
    return _NOTHING


def _sort(f: Frame, node: ast.Call, of: Typed) -> Typed:
    made = ordered(f, node, of)
    if made.kind is UNKNOWN:
        return _NOTHING
    _clear(f, node, of)
    loops.loop(f, made, lambda item: appended(f, of, item))
    return _NOTHING


def _reverse(f: Frame, node: ast.Call, of: Typed) -> Typed:

    f.call(node, reversed_in_place, [of], {})
    return _NOTHING


def _index(f: Frame, node: ast.Call, of: Typed) -> Typed:
    if len(node.args) != 1:
        raise NotTypedError("it calls .index() with bounds")
    at = found_at(f, of, f.settled(f.evaluated(node.args[0])))
    f.w.bail_if(f.w.emit(f"icmp slt i64 {at}, 0"))
    return Typed(INT, (at,))


def _remove(f: Frame, node: ast.Call, of: Typed) -> Typed:
    removed(f, of, _index(f, node, of))
    return _NOTHING


def _get(f: Frame, node: ast.Call, of: Typed) -> Typed:
    default = f.settled(f.evaluated(node.args[1])) if len(node.args) > 1 else _NOTHING
    return _looked_up(f, node, of, default, take=False)


def _pop_key(f: Frame, node: ast.Call, of: Typed) -> Typed:
    if len(node.args) == 1:
        at = present(f, of, f.evaluated(node.args[0]))
        found = removed(f, of, Typed(INT, (at,)))
        return found if found.kind is UNKNOWN else split(found)[1]
    return _looked_up(f, node, of, f.settled(f.evaluated(node.args[1])), take=True)


def _looked_up(f: Frame, node: ast.Call, of: Typed, default: Typed, take: bool) -> Typed:
    """The value of a key, or a default; the key is taken out if ``take``."""
    assert isinstance(of.kind, ListType)
    key = f.settled(f.there(f.evaluated(node.args[0])))
    place = f.program.results.get((f.path, id(node), "get"), UNKNOWN)
    item = of.kind.item
    value = item.items[1] if isinstance(item, Tuple) else UNKNOWN
    kind = f.program.results[f.path, id(node), "get"] = join(join(place, value), default.kind)
    result, yes, no, end = f.variable(kind), f.w.name("has"), f.w.name("lacks"), f.w.name("end")
    at = found_at(f, of, key)
    f.w.branch(f.w.emit(f"icmp sge i64 {at}, 0"), yes, no)
    f.w.block(yes)
    if isinstance(item, Tuple):
        index = Typed(INT, (at,))
        pair = removed(f, of, index) if take else f.load(item, item_place(f, of, at))
        f.set(result, split(pair)[1])
    f.w.jump(end)
    f.w.block(no)
    f.set(result, default)
    f.w.block(end)
    return f.get(result)


def _set_default(f: Frame, node: ast.Call, of: Typed) -> Typed:
    key, default = (f.settled(f.evaluated(one)) for one in node.args)
    new, end = f.w.name("new"), f.w.name("end")
    f.w.branch(f.w.emit(f"icmp slt i64 {found_at(f, of, key)}, 0"), new, end)
    f.w.block(new)
    store_item(f, of, key, default)
    f.w.block(end)
    return item_of(f, of, key)


def _add(f: Frame, node: ast.Call, of: Typed) -> Typed:
    added(f, of, f.evaluated(node.args[0]))
    return _NOTHING


def _discard(f: Frame, node: ast.Call, of: Typed) -> Typed:
    at, some, end = found_at(f, of, f.evaluated(node.args[0])), f.w.name("some"), f.w.name("end")
    f.w.branch(f.w.emit(f"icmp sge i64 {at}, 0"), some, end)
    f.w.block(some)
    removed(f, of, Typed(INT, (at,)))
    f.w.block(end)
    return _NOTHING


def _extend_left(f: Frame, node: ast.Call, of: Typed) -> Typed:
    first = Typed(INT, ("0",), known=0)
    items = loops.taken_now(f, node, f.evaluated(node.args[0]))
    loops.loop(f, items, lambda item: inserted(f, of, first, item))
    return _NOTHING


def _update(f: Frame, node: ast.Call, of: Typed) -> Typed:
    items = f.there(f.evaluated(node.args[0]))
    if loops.is_record(items):
        items = Typed(Iterated(fixed=loops.parts(f, items, "items")))
    elif isinstance(items.kind, ListType) and items.kind.kind is dict:
        items = Typed(Iterated(source=loops.of_dict(f, items, "items")))
    loops.loop(f, items, lambda item: store_item(f, of, *loops.unpacked(f, item, 2)))
    return _NOTHING


def _count(f: Frame, node: ast.Call, of: Typed) -> Typed:
    return f.call(node, count_of, [of, f.settled(f.evaluated(node.args[0]))], {})


_COMMON: dict[str, Any] = {"copy": _copy, "clear": _clear}
_OF_LISTS: dict[str, Any] = _COMMON | {
    "append": _append,
    "insert": _insert,
    "extend": _extend,
    "pop": _pop,
    "sort": _sort,
    "reverse": _reverse,
    "index": _index,
    "count": _count,
    "remove": _remove,
}
_OF_DEQUES: dict[str, Any] = _COMMON | {
    "append": _append,
    "appendleft": _append_left,
    "popleft": _pop_left,
    "pop": _pop,
    "extend": _extend,
    "extendleft": _extend_left,
}


def _views(which: str) -> Callable[[Frame, ast.Call, Typed], Typed]:
    """``.keys()``, ``.values()`` or ``.items()``."""
    return lambda f, node, of: Typed(Iterated(source=loops.of_dict(f, of, which)))


_VIEWS = {which: _views(which) for which in ("keys", "values", "items")}
_OF_DICTS: dict[str, Any] = (
    _COMMON | _VIEWS | {"get": _get, "pop": _pop_key, "setdefault": _set_default, "update": _update}
)
_OF_SETS: dict[str, Any] = _COMMON | {"add": _add, "discard": _discard, "remove": _remove}


_METHODS: dict[type, dict[str, Any]] = {list: _OF_LISTS, deque: _OF_DEQUES, dict: _OF_DICTS, set: _OF_SETS}


def record_method(f: Frame, node: ast.Call, of: Typed, name: str) -> Typed:
    """A method of a dictionary with fixed texts as keys."""
    assert isinstance(of.kind, Instance)
    if name in ("keys", "values", "items") and not node.args:
        return Typed(Iterated(fixed=loops.parts(f, of, name)))
    if name == "get" and node.args and not node.keywords:
        key = f.evaluated(node.args[0])
        if isinstance(key.known, str):
            if key.known in of.kind.layout.fields:
                return item_of(f, of, key)
            return f.evaluated(node.args[1]) if len(node.args) > 1 else _NOTHING
    raise NotTypedError(f"it calls .{name}() of a dict")


def method_row(f: Frame, of: Typed, name: str, arguments: list[Typed]) -> Typed:
    """A method of a Value: a row of the op table."""
    row = next((one for one in BY_NAME.values() if isinstance(one, Op) and name in (one.name, *one.aliases)), None)
    if name == "detach":
        return Typed(VALUE, (of.number, "0"))
    if row is None or not row.public or row.arity != 1 + len(arguments):
        raise NotTypedError(f"it calls .{name}() of a Value")
    if not all(is_number(one.kind) for one in arguments):
        raise NotTypedError(f"it calls .{name}() of a Value")
    return f.math.row(row.name, of, *arguments)
