"""Python's own functions and the methods of its lists."""

from __future__ import annotations

import ast
import functools
import math
import sys
from abc import ABCMeta
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from .....engine import Value
from ....backends.llvm.ir_builder import constant
from ...constants import constant_of
from ...frame import Frame, LocalFunction, split
from ...ir.arithmetic import Typed
from ...types import (
    ANY_NUMBER,
    BOOL,
    BOUNDED,
    COUNTER,
    EITHER,
    FLOAT,
    INT,
    MIXED,
    NONE,
    NUMPY,
    TEXT,
    UNKNOWN,
    VALUE,
    Bound,
    Instance,
    Iterated,
    ListType,
    NotTypedError,
    Optional,
    Static,
    Tuple,
    Union,
    is_number,
    is_plain,
    is_whole,
)
from .. import loops
from ..choices import of_each
from ..comparisons import truth
from ..containers import (
    DEFAULTS,
    added,
    bounded,
    copied,
    item_of,
    length,
    load_field,
    made_counter,
    made_list,
    made_record,
    store_item,
)
from ..expressions import binary, tuple_of
from . import reductions
from .in_python import Kept, transposed
from .sets import as_they_came, is_set
from .sorting import applied, key_of, order_of, ordered
from .texts import of_text

__all__ = ["BUILTINS", "from_keys", "iterator_of", "to_int"]

_NOTHING = Typed(NONE)
#: A float of this size is no int of 64 bits.
_LARGE = 2.0**62


def _one(f: Frame, node: ast.Call) -> Typed:
    if len(node.args) != 1 or node.keywords:
        raise NotTypedError(f"it calls {ast.unparse(node.func)} with another number of arguments")
    return f.there(f.evaluated(node.args[0]))


def _length(f: Frame, node: ast.Call) -> Typed:
    value = _one(f, node)
    if value.kind is UNKNOWN:
        return value
    if isinstance(value.kind, Instance) and not value.kind.is_record:
        return _length_of_instance(f, node, value, value.kind.layout.kind)
    if isinstance(value.kind, Iterated) and value.kind.count:  # a range
        return Typed(INT, (f.w.emit(f"call i64 @llvm.smax.i64(i64 {value.kind.count}, i64 0)"),))
    return length(f, value)


def _length_of_instance(f: Frame, node: ast.Call, of: Typed, kind: type) -> Typed:
    """What ``__len__`` of a class gives: Python raises for less than 0."""
    found = f.there(f.call(node, f.program.reads.attribute(kind, "__len__")[1], [of], {}))
    if found.kind is not UNKNOWN:
        found = f.math.integer(found)
        f.w.bail_if(f.w.emit(f"icmp slt i64 {found.number}, 0"))
    return found


def _absolute(f: Frame, node: ast.Call) -> Typed:
    value = _one(f, node)
    if is_whole(value.kind):
        value = f.math.integer(value) if value.kind is BOOL else value
        other = f.math.plus_or_minus(value, negative=True)
        is_below = f.w.emit(f"icmp slt i64 {value.number}, 0")
        return Typed(value.kind, (f.w.emit(f"select i1 {is_below}, i64 {other.number}, i64 {value.number}"),))
    return value if value.kind is UNKNOWN else f.math.row("abs", value)


def _extreme(f: Frame, node: ast.Call, largest: bool) -> Typed:
    named = {one.arg: one.value for one in node.keywords}
    if set(named) - {"key", "default"}:
        raise NotTypedError("it calls max or min with other keywords")
    if len(node.args) == 1:
        items = f.evaluated(node.args[0])
        key, default = None, None
        for one in node.keywords:  # in this order
            if one.arg == "key":
                key = key_of(f, node, one.value)
            else:
                default = f.settled(f.evaluated(one.value))
        if key is None and is_set(items):
            items = as_they_came(items)
        return reductions.extreme(f, node, items, largest, key, default)
    if "default" in named:
        raise NotTypedError("it calls max or min of several things with a default")
    given: list[Typed] = []
    for each in node.args:
        if isinstance(each, ast.Starred):
            given += split(_as_tuple(f, node, f.evaluated(each.value)))
        else:
            given.append(f.there(f.settled(f.evaluated(each))))
    return reductions.extreme(f, node, given, largest, key_of(f, node, named.get("key")))


def _as_tuple(f: Frame, node: ast.AST, over: Typed) -> Typed:
    items = loops.as_list(f, node, over)
    if not isinstance(items.kind, Tuple):
        raise NotTypedError("a call takes the items of a list")
    return items


def _sorted(f: Frame, node: ast.Call) -> Typed:
    if len(node.args) != 1:
        raise NotTypedError("it sorts with several arguments")
    over = f.evaluated(node.args[0])
    if is_set(over) and not any(one.arg == "key" for one in node.keywords):
        over = as_they_came(over)
    order = order_of(f, node)  # which is computed before anything is gone over
    items = _items(f, node, over)
    if order.key is not None and isinstance(items.kind, ListType):
        items = copied(f, (node, "sorted"), items)  # which the key may change
    return ordered(f, node, items, order)


def _items(f: Frame, node: ast.AST, over: Typed) -> Typed:
    items = loops.as_list(f, node, over)
    if isinstance(items.kind, ListType) and items.kind.kind in (set, frozenset):
        raise NotTypedError("it goes over a set")
    return made_list(f, (node, "items"), split(items)) if isinstance(items.kind, Tuple) else items


def _sum(f: Frame, node: ast.Call) -> Typed:
    if node.keywords or not 1 <= len(node.args) <= 2:
        raise NotTypedError("it calls sum with keywords")
    items = f.evaluated(node.args[0])
    start = f.settled(f.evaluated(node.args[1])) if len(node.args) > 1 else Typed(INT, ("0",), known=0)
    return reductions.summed(f, node, items, start, is_compensated=sys.version_info >= (3, 12))


def to_int(f: Frame, number: str) -> Typed:
    """A double that is whole, as an int; a large one is left to the function itself."""
    size = f.w.emit(f"call double @llvm.fabs.f64(double {number})")
    f.w.bail_if(f.w.emit(f"fcmp uge double {size}, {constant(_LARGE)}"))
    return Typed(INT, (f.w.emit(f"fptosi double {number} to i64"),))


def _int(f: Frame, node: ast.Call) -> Typed:
    value = _one(f, node)
    if is_whole(value.kind):
        return f.math.integer(value)
    if is_plain(value.kind):
        return to_int(f, value.number)
    if value.kind is TEXT:
        return of_text(f, value, "int", int, INT)
    return _refused(value, "int")


def _str(f: Frame, node: ast.Call) -> Typed:
    value = _one(f, node)
    if value.kind is INT and type(value.known) is int:
        return constant_of(f.program, str(value.known))
    return value if value.kind is TEXT else _refused(value, "str")


def _ord(f: Frame, node: ast.Call) -> Typed:
    value = _one(f, node)
    return of_text(f, value, "ord", ord, INT) if value.kind is TEXT else _refused(value, "ord")


def _float(f: Frame, node: ast.Call) -> Typed:
    value = _one(f, node)
    if value.kind is TEXT:
        return of_text(f, value, "float", float, FLOAT)
    if value.kind is MIXED:
        f.math.refuse_negative_zero(value.number)
    if is_number(value.kind) and value.kind not in (VALUE, EITHER, ANY_NUMBER):
        return Typed(FLOAT, f.math.real(value).parts)
    return _refused(value, "float")


def _refused(value: Typed, name: str) -> Typed:
    if value.kind is UNKNOWN:
        return value
    raise NotTypedError(f"it calls {name}() of {value.kind}")


def _bool(f: Frame, node: ast.Call) -> Typed:
    return truth(f, f.evaluated(node.args[0]))


def _round(f: Frame, node: ast.Call) -> Typed:
    value = _one(f, node)
    if is_plain(value.kind):
        return to_int(f, f.w.emit(f"call double @llvm.rint.f64(double {value.number})"))
    if value.kind is VALUE:
        return f.math.row("round", value)
    return f.math.integer(value) if is_whole(value.kind) else _refused(value, "round")


def _power(f: Frame, node: ast.Call) -> Typed:
    if len(node.args) != 2 or node.keywords:
        raise NotTypedError("it calls pow with a modulus")
    return binary(f, node, ast.Pow(), *(f.evaluated(one) for one in node.args))


def _divmod(f: Frame, node: ast.Call) -> Typed:
    one, other = (f.settled(f.evaluated(each)) for each in node.args)
    return tuple_of([f.settled(binary(f, node, operator, one, other)) for operator in (ast.FloorDiv(), ast.Mod())])


def _list(f: Frame, node: ast.Call, kind: type = list) -> Typed:
    if len(node.args) > 1 or node.keywords:
        raise NotTypedError(f"it makes a {kind.__name__} of several arguments")
    if not node.args:
        return made_list(f, node, [], kind)
    items = loops.as_list(f, node, f.evaluated(node.args[0]))
    if items.kind is UNKNOWN:
        return items
    if isinstance(items.kind, Tuple):
        return made_list(f, node, split(items), kind)
    if isinstance(items.kind, ListType) and items.kind.kind in (set, frozenset):
        raise NotTypedError("it goes over a set")
    return copied(f, node, items, kind)


def _dict(f: Frame, node: ast.Call) -> Typed:
    if node.keywords:
        if node.args or any(one.arg is None for one in node.keywords):
            raise NotTypedError("it makes a dict of another")
        return made_record(f, {str(one.arg): f.settled(f.evaluated(one.value)) for one in node.keywords})
    if len(node.args) > 1:
        raise NotTypedError("it makes a dict of several arguments")
    made = made_list(f, node, [], dict)
    if node.args:
        over = f.there(f.evaluated(node.args[0]))
        if loops.is_record(over):
            assert isinstance(over.kind, Instance)
            return made_record(f, {name: load_field(f, over, name) for name in over.kind.layout.fields})
        if isinstance(over.kind, ListType) and over.kind.kind is dict:
            return copied(f, node, over, dict)
        loops.loop(f, over, lambda item: store_item(f, made, *loops.unpacked(f, item, 2)))
    return made


def from_keys(f: Frame, node: ast.Call) -> Typed:
    """``dict.fromkeys(keys, value)``."""
    if not 1 <= len(node.args) <= 2 or node.keywords:
        raise NotTypedError("it calls fromkeys() with keywords")
    over, *given = (f.evaluated(one) for one in node.args)
    value = f.settled(given[0]) if given else _NOTHING
    made = made_list(f, node, [], dict)
    loops.loop(f, over, lambda key: store_item(f, made, key, value))
    return made


def _defaultdict(f: Frame, node: ast.Call) -> Typed:
    factory = f.evaluated(node.args[0]) if len(node.args) == 1 and not node.keywords else _NOTHING
    default: Any = getattr(factory.kind, "thing", None)
    is_known = isinstance(default, (FunctionType, LocalFunction)) and not factory.parts
    if not is_known and (not isinstance(factory.kind, Static) or default not in DEFAULTS):
        raise NotTypedError("it makes a defaultdict of something else than a class of Python's own, or a function")
    made = made_list(f, node, [], dict)
    assert isinstance(made.kind, ListType)
    return Typed(ListType(made.kind.cell, dict, default=default), made.parts)


def _counter(f: Frame, node: ast.Call) -> Typed:
    if len(node.args) > 1 or node.keywords:
        raise NotTypedError("it makes a Counter of several arguments")
    over = f.there(f.evaluated(node.args[0])) if node.args else None
    if over is not None and (loops.is_record(over) or getattr(over.kind, "kind", None) is dict):
        raise NotTypedError("it makes a Counter of a dict")
    counts = made_counter(f, node)

    def count(item: Typed) -> None:
        item = f.settled(item)
        one = Typed(INT, ("1",), known=1)
        store_item(f, counts, item, f.math.of_ints("add", f.math.integer(item_of(f, counts, item)), one))

    if over is not None:
        loops.loop(f, over, count)
    return counts


def _partial(f: Frame, node: ast.Call) -> Typed:
    function, *given = (f.settled(f.evaluated(one)) for one in node.args)
    names = [str(one.arg) for one in node.keywords]
    given += [f.settled(f.evaluated(one.value)) for one in node.keywords]
    parts = tuple(part for one in (function, *given) for part in one.parts)
    return Typed(Bound(function.kind, tuple(one.kind for one in given), tuple(names)), parts)


def _set(f: Frame, node: ast.Call) -> Typed:
    made = made_list(f, node, [], set)
    if node.args:
        loops.loop(f, f.evaluated(node.args[0]), lambda item: added(f, made, item))
    return made


def _deque(f: Frame, node: ast.Call) -> Typed:
    most = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "maxlen")]
    if len(most) != len(node.keywords) + len(node.args[1:]) or len(most) > 1:
        raise NotTypedError("it makes a deque of several arguments")
    items = f.evaluated(node.args[0]) if node.args else None
    size = f.settled(f.evaluated(most[0])) if most else _NOTHING
    made = made_list(f, node, [], deque)
    if size.kind is not NONE:
        made = bounded(f, made, f.math.integer(f.there(size)))
    if items is not None:
        loops.extended(f, (node, "items"), made, items)
    return made


def _tuple(f: Frame, node: ast.Call) -> Typed:
    if not node.args:
        return Typed(Tuple(()))
    items = loops.as_list(f, node, f.evaluated(node.args[0]))
    if isinstance(items.kind, Tuple):
        return items
    raise NotTypedError("it makes a tuple of a list")


# --- what is gone over --------------------------------------------------------------------------------------


def _range(f: Frame, node: ast.Call) -> Typed:
    if node.keywords or not 1 <= len(node.args) <= 3:
        raise NotTypedError("it calls range with other arguments")
    source, count = loops.range_of(f, [f.math.integer(f.there(f.evaluated(one))) for one in node.args])
    return Typed(Iterated(source=source, count=count, is_view=True))


def _zip(f: Frame, node: ast.Call) -> Typed:
    strict = [one.value.value for one in node.keywords if one.arg == "strict" and isinstance(one.value, ast.Constant)]
    if not node.args or len(strict) < len(node.keywords):
        raise NotTypedError("it calls zip with keywords")
    if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
        rows = _items(f, node, f.evaluated(node.args[0].value))
        made = f.call(node, transposed, [rows], {})
        return Typed(Iterated(source=loops.source_of(f, made)))
    if any(isinstance(one, ast.Starred) for one in node.args):
        raise NotTypedError("it calls zip with some rows")
    sources = [loops.source_of(f, f.evaluated(one)) for one in node.args]
    return Typed(Iterated(source=loops.zipped(f, sources, any(strict))))


def _enumerate(f: Frame, node: ast.Call) -> Typed:
    starts = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "start")]
    if len(starts) > 1 or len(node.args) + len(node.keywords) - len(starts) != 1:
        raise NotTypedError("it calls enumerate with other arguments")
    over = f.there(f.evaluated(node.args[0]))
    start = f.math.integer(f.there(f.evaluated(starts[0]))) if starts else Typed(INT, ("0",), known=0)
    if isinstance(over.kind, Iterated) and over.kind.run is not None:
        return Typed(Iterated(run=lambda give: _counted(f, over, start, give)))
    fixed = loops.fixed_items(f, over)
    if fixed is not None and start.known is not None:
        return Typed(Iterated(fixed=[_numbered(f, start.known + i, item) for i, item in enumerate(fixed)]))
    return Typed(Iterated(source=loops.enumerated(f, loops.source_of(f, over), start)))


def _counted(f: Frame, over: Typed, start: Typed, give: Callable[[Typed], None]) -> None:
    """``enumerate`` of what is computed item by item."""
    place = f.w.allocate("i64")
    f.w.store("i64", start.number, place)

    def number(item: Typed) -> None:
        at = f.w.load("i64", place)
        f.w.store("i64", f.w.emit(f"add i64 {at}, 1"), place)
        give(tuple_of([Typed(INT, (at,)), f.settled(item)]))

    loops.loop(f, over, number)


def _numbered(f: Frame, number: int, item: Callable[[], Typed]) -> Callable[[], Typed]:
    return lambda: tuple_of([Typed(INT, (str(number),), known=number), f.settled(item())])


def _reversed(f: Frame, node: ast.Call) -> Typed:
    return Typed(Iterated(source=loops.reversed_of(f, f.evaluated(node.args[0]))))


def _map(f: Frame, node: ast.Call) -> Typed:
    function, over = f.evaluated(node.args[0]), f.evaluated(node.args[1])
    return Typed(Iterated(run=lambda give: loops.loop(f, over, lambda item: give(applied(f, node, function, item)))))


def _reduce(f: Frame, node: ast.Call) -> Typed:
    function, over, *start = (f.evaluated(one) for one in node.args)
    first = f.settled(start[0]) if start else None
    return reductions.folded(f, node, lambda one, other: applied(f, node, function, one, other), over, first)


def _iter(f: Frame, node: ast.Call) -> Typed:
    return iterator_of(f, _one(f, node))


def iterator_of(f: Frame, over: Typed) -> Typed:
    """``iter(over)``, which is gone over once."""
    if isinstance(over.kind, Iterated) and over.kind.run is not None:
        return over
    fixed = loops.fixed_items(f, over)
    source = loops.source_of(f, over) if fixed is None else None
    return Typed(Iterated(source=source, fixed=fixed, is_iterator=True))


def _next(f: Frame, node: ast.Call) -> Typed:
    over, *default = (f.evaluated(one) for one in node.args)
    if isinstance(over.kind, Instance) and over.kind.layout.kind is Kept and default:
        return f.call(node, Kept.next_or, [over, f.settled(default[0])], {})
    if isinstance(over.kind, Instance) and not over.kind.is_record and not default:
        return f.call(node, f.program.reads.attribute(over.kind.layout.kind, "__next__")[1], [over], {})
    if not isinstance(over.kind, Iterated) or (over.kind.run is None and not over.kind.is_iterator):
        raise NotTypedError("it calls next() of what is no generator")
    return reductions.first(f, node, over, f.settled(default[0]) if default else None)


def _product(f: Frame, node: ast.Call) -> Typed:
    if len(node.args) != 1 or any(one.arg != "start" for one in node.keywords):
        raise NotTypedError("it calls prod with other arguments")
    items = f.evaluated(node.args[0])
    starts = [f.settled(f.evaluated(one.value)) for one in node.keywords]
    start = starts[0] if starts else Typed(INT, ("1",), known=1)
    multiplied = lambda one, other: binary(f, node, ast.Mult(), one, other)  # noqa: E731
    return reductions.folded(f, node, multiplied, items, start)


def _filter(f: Frame, node: ast.Call) -> Typed:
    function, over = f.evaluated(node.args[0]), f.evaluated(node.args[1])

    def run(give: Callable[[Typed], None]) -> None:
        def look_at(item: Typed) -> None:
            test = truth(f, item if function.kind is NONE else applied(f, node, function, item))
            on = f.w.name("on")
            f.w.branch(test.number, on, f.loops[-1].next)
            f.w.block(on)
            give(item)

        loops.loop(f, over, look_at)

    return Typed(Iterated(run=run))


def _is_asked(own: Sequence[type], kind: Any) -> bool:
    """Whether nothing but the classes of an instance says whether it is of a class."""
    return type(kind) is type or (type(kind) is ABCMeta and (kind in own or not issubclass(own[0], kind)))


_CLASSES: dict[Any, tuple[type, ...]] = {
    FLOAT: (float,),
    VALUE: (Value,),
    INT: (int,),
    BOOL: (bool, int),
    TEXT: (str,),
    NONE: (type(None),),
}


def _isinstance(f: Frame, node: ast.Call) -> Typed:
    value, of = (f.evaluated(one) for one in node.args)
    if isinstance(value.kind, Union):
        return of_each(f, value, node, lambda one: _is_of(f, one, of))
    return _is_of(f, value, of)


def _is_of(f: Frame, value: Typed, of: Typed) -> Typed:
    """Whether a value is of one of some classes."""
    asked = [of.kind] if isinstance(of.kind, Static) else of.kind.items if isinstance(of.kind, Tuple) else []
    if value.kind in (UNKNOWN, EITHER, ANY_NUMBER, MIXED, NUMPY) or isinstance(value.kind, Optional) or not asked:
        if value.kind is UNKNOWN:
            f.w.bail()
            return Typed(BOOL, ("false",))
        raise NotTypedError(f"it asks of which class {value.kind} is")
    if isinstance(value.kind, Instance):
        own: Any = value.kind.layout.kind.__mro__
    elif isinstance(value.kind, ListType):
        is_counter = value.kind.default is COUNTER
        more = () if value.kind.default in (None, BOUNDED) else (Counter if is_counter else defaultdict,)
        own = (*more, value.kind.kind)
    else:
        own = value.kind.kind.__mro__ if isinstance(value.kind, Tuple) else _CLASSES.get(value.kind)
    is_known = own is not None and all(isinstance(kind, Static) and _is_asked(own, kind.thing) for kind in asked)
    if not is_known:
        raise NotTypedError(f"it asks of which class {value.kind} is")
    found = any(isinstance(kind, Static) and kind.thing in (*own, object) for kind in asked)
    return Typed(BOOL, ("true" if found else "false",), known=found)


def _taking(least: int, most: int, write: Callable[[Frame, ast.Call], Typed]) -> Callable[[Frame, ast.Call], Typed]:
    """A function that is given so many arguments, and none by name."""

    def checked(f: Frame, node: ast.Call) -> Typed:
        if node.keywords or not least <= len(node.args) <= most:
            raise NotTypedError(f"it calls {ast.unparse(node.func)} with another number of arguments")
        return write(f, node)

    return checked


BUILTINS: dict[Any, Any] = {
    len: _length,
    abs: _absolute,
    max: lambda f, node: _extreme(f, node, True),
    min: lambda f, node: _extreme(f, node, False),
    sum: _sum,
    int: _int,
    float: _float,
    bool: _taking(1, 1, _bool),
    str: _str,
    ord: _ord,
    round: _round,
    pow: _power,
    divmod: _taking(2, 2, _divmod),
    list: _list,
    deque: _deque,
    dict: _dict,
    defaultdict: _defaultdict,
    Counter: _counter,
    functools.partial: _partial,
    set: _taking(0, 1, _set),
    sorted: _sorted,
    tuple: _taking(0, 1, _tuple),
    isinstance: _taking(2, 2, _isinstance),
    any: _taking(1, 1, lambda f, node: reductions.tested(f, f.evaluated(node.args[0]), True)),
    all: _taking(1, 1, lambda f, node: reductions.tested(f, f.evaluated(node.args[0]), False)),
    range: _range,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _taking(1, 1, _reversed),
    map: _taking(2, 2, _map),
    filter: _taking(2, 2, _filter),
    functools.reduce: _taking(2, 3, _reduce),
    iter: _iter,
    next: _taking(1, 2, _next),
    math.prod: _product,
}
