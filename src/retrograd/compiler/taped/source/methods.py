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
    BOUNDED,
    COUNTER,
    INT,
    NONE,
    TEXT,
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
from .choices import choice
from .containers import (
    added,
    appended,
    bounded,
    changes_of,
    copied,
    has_changed,
    inserted,
    item_of,
    length,
    not_given,
    removed,
    store_item,
)
from .keys import equal_to_itself, forget_index, found_at, present
from .library.in_python import count_of, most_common, reversed_in_place, rotated
from .library.sets import compared_sets, is_set, of_sets, updated
from .library.sorting import order_of, ordered
from .memory import LAST_WORD, item_place

__all__ = ["list_method", "method_row", "record_method"]

_NOTHING = Typed(NONE)


def list_method(f: Frame, node: ast.Call, of: Typed, name: str) -> Typed:
    """A method of a list, a deque, a dictionary or a set."""
    assert isinstance(of.kind, ListType)
    write = _METHODS.get(of.kind.kind, {}).get(name)
    if name == "most_common" and of.kind.default is COUNTER:
        write = _most_common
    if write is None or (node.keywords and name != "sort"):
        raise NotTypedError(f"it calls .{name}() of {of.kind}")
    least, most = _TAKEN.get((of.kind.kind, name)) or _TAKEN.get(name, (0, 0))
    if not least <= len(node.args) <= most:
        raise NotTypedError(f"it calls .{name}() with another number of arguments")
    found: Typed = write(f, node, of)
    return found


#: How many arguments methods take, where they take any; some of one type alone.
_TAKEN: dict[Any, tuple[int, int]] = {
    **dict.fromkeys(("add", "append", "appendleft", "count", "difference", "discard", "extend", "extendleft"), (1, 1)),
    **dict.fromkeys(("index", "intersection", "issubset", "issuperset", "remove", "union"), (1, 1)),
    **dict.fromkeys(("get", "setdefault"), (1, 2)),
    **dict.fromkeys(("most_common", "rotate"), (0, 1)),
    "insert": (2, 2),
    (list, "pop"): (0, 1),
    (dict, "pop"): (1, 2),
    (dict, "update"): (1, 1),
    (set, "update"): (0, 100),
}


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
    if of.kind.default not in (None, BOUNDED):
        raise NotTypedError(f"it copies a {of.kind.kind.__name__} with defaults")
    made = copied(f, node, of, of.kind.kind)
    most = Typed(INT, (f.w.load("i64", f.w.at(of.number, LAST_WORD)),))
    return made if of.kind.default is None else bounded(f, made, most)


def _clear(f: Frame, node: ast.Call, of: Typed) -> Typed:
    del node
    not_given(f, of)
    has_changed(f, of)
    f.w.store("i64", "0", of.number)
    forget_index(f, of)
    return _NOTHING


def _sort(f: Frame, node: ast.Call, of: Typed) -> Typed:
    order = order_of(f, node)
    not_given(f, of)
    items = copied(f, (node, "sorted"), of)
    _clear(f, node, of)  # as it is for the key, meanwhile
    before = changes_of(f, of)
    made = ordered(f, node, items, order)
    f.w.bail_if(f.w.emit(f"icmp ne i64 {before}, {changes_of(f, of)}"))
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
    return _looked_up(f, node, of, take=False)


def _pop_key(f: Frame, node: ast.Call, of: Typed) -> Typed:
    if len(node.args) == 1:
        at = present(f, of, f.evaluated(node.args[0]))
        found = removed(f, of, Typed(INT, (at,)))
        return found if found.kind is UNKNOWN else split(found)[1]
    return _looked_up(f, node, of, take=True)


def _looked_up(f: Frame, node: ast.Call, of: Typed, take: bool) -> Typed:
    """The value of a key, or a default; the key is taken out if ``take``."""
    assert isinstance(of.kind, ListType)
    key = f.settled(f.there(f.evaluated(node.args[0])))
    default = f.settled(f.evaluated(node.args[1])) if len(node.args) > 1 else _NOTHING
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


def _pop_item(f: Frame, node: ast.Call, of: Typed) -> Typed:
    del node
    return removed(f, of, Typed(INT, ("-1",), known=-1))


def _most_common(f: Frame, node: ast.Call, of: Typed) -> Typed:
    count = f.math.integer(f.there(f.evaluated(node.args[0]))) if node.args else Typed(INT, (str(2**62),))
    pairs = loops.as_list(f, node, Typed(Iterated(source=loops.of_dict(f, of, "items"))))
    if pairs.kind is UNKNOWN or (isinstance(pairs.kind, ListType) and pairs.kind.item is UNKNOWN):
        return pairs
    loops.loop(f, pairs, lambda pair: equal_to_itself(f, split(pair)[1]))
    return f.call(node, most_common, [pairs, count], {})


def _rotate(f: Frame, node: ast.Call, of: Typed) -> Typed:
    by = f.math.integer(f.there(f.evaluated(node.args[0]))) if node.args else Typed(INT, ("1",), known=1)
    f.call(node, rotated, [of, by], {})
    is_turned = f.w.emit(f"zext i1 {f.w.emit(f'icmp sgt i64 {length(f, of).number}, 1')} to i64")
    f.w.store("i64", f.w.emit(f"add i64 {changes_of(f, of)}, {is_turned}"), f.w.at(of.number, 3))
    return _NOTHING


def _set_default(f: Frame, node: ast.Call, of: Typed) -> Typed:
    key, *given = (f.settled(f.evaluated(one)) for one in node.args)
    default = given[0] if given else _NOTHING
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


def _add_all(f: Frame, node: ast.Call, of: Typed) -> Typed:
    for items in [f.evaluated(one) for one in node.args]:
        if is_set(items):
            updated(f, node, ast.BitOr(), of, items)
        else:
            loops.loop(f, items, lambda item: added(f, of, item))
    return _NOTHING


def _other_set(f: Frame, node: ast.Call) -> Typed:
    other = f.evaluated(node.args[0]) if len(node.args) == 1 else _NOTHING
    if not is_set(other):
        raise NotTypedError("it calls a method of a set with something else than a set")
    return other


def _by_operator(operator: ast.operator) -> Callable[[Frame, ast.Call, Typed], Typed]:
    return lambda f, node, of: of_sets(f, node, operator, of, _other_set(f, node))


def _by_comparison(operator: ast.cmpop) -> Callable[[Frame, ast.Call, Typed], Typed]:
    return lambda f, node, of: compared_sets(f, operator, of, _other_set(f, node))


def _extend_left(f: Frame, node: ast.Call, of: Typed) -> Typed:
    first = Typed(INT, ("0",), known=0)
    items = loops.taken_now(f, node, f.evaluated(node.args[0]))
    loops.loop(f, items, lambda item: inserted(f, of, first, item))
    return _NOTHING


def _update(f: Frame, node: ast.Call, of: Typed) -> Typed:
    assert isinstance(of.kind, ListType)
    if of.kind.default is COUNTER:
        raise NotTypedError("it updates a Counter")
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
    "rotate": _rotate,
}


def _views(which: str) -> Callable[[Frame, ast.Call, Typed], Typed]:
    """``.keys()``, ``.values()`` or ``.items()``."""
    return lambda f, node, of: Typed(Iterated(source=loops.of_dict(f, of, which), is_view=True))


_VIEWS = {which: _views(which) for which in ("keys", "values", "items")}
_OF_DICTS: dict[str, Any] = (
    _COMMON
    | _VIEWS
    | {"get": _get, "pop": _pop_key, "popitem": _pop_item, "setdefault": _set_default, "update": _update}
)
_OF_SETS: dict[str, Any] = _COMMON | {
    "add": _add,
    "discard": _discard,
    "remove": _remove,
    "update": _add_all,
    "union": _by_operator(ast.BitOr()),
    "intersection": _by_operator(ast.BitAnd()),
    "difference": _by_operator(ast.Sub()),
    "issubset": _by_comparison(ast.LtE()),
    "issuperset": _by_comparison(ast.GtE()),
}


_METHODS: dict[type, dict[str, Any]] = {list: _OF_LISTS, deque: _OF_DEQUES, dict: _OF_DICTS, set: _OF_SETS}


def record_method(f: Frame, node: ast.Call, of: Typed, name: str) -> Typed:
    """A method of a dictionary with fixed texts as keys."""
    assert isinstance(of.kind, Instance)
    if name in ("keys", "values", "items") and not node.args:
        return Typed(Iterated(fixed=loops.parts(f, of, name), is_view=True))
    if name == "get" and 1 <= len(node.args) <= 2 and not node.keywords:
        key = f.evaluated(node.args[0])
        default = f.settled(f.evaluated(node.args[1])) if len(node.args) > 1 else _NOTHING
        if isinstance(key.known, str):
            return item_of(f, of, key) if key.known in of.kind.layout.fields else default
        if key.kind is TEXT:
            return _found_in_record(f, node, of, key, default)
    raise NotTypedError(f"it calls .{name}() of a dict")


def _found_in_record(f: Frame, node: ast.Call, of: Typed, key: Typed, default: Typed) -> Typed:
    has, lacks, end = f.w.name("has"), f.w.name("lacks"), f.w.name("end")
    f.w.branch(f.compare(ast.In(), key, of).number, has, lacks)
    sides: list[tuple[str, Callable[[], Typed]]] = [(has, lambda: item_of(f, of, key)), (lacks, lambda: default)]
    return choice(f, (f.path, id(node), "get"), sides, end)


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
