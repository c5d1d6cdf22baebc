"""Loops: over ranges, lists, tuples and dictionaries, over generators, and over what takes their items one by one.

What can only be gone over, as ``zip(a, b)``, is no value in memory: it says how a loop over it is written. A generator
is written into the loop over it, with what the loop does in the place of each ``yield``.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import EnumType
from typing import Any

from ..constants import constant_of
from ..frame import Frame, Loop, split
from ..ir.arithmetic import Typed
from ..types import (
    INT,
    TEXT,
    UNKNOWN,
    Instance,
    Iterated,
    ListType,
    NotTypedError,
    Row,
    Static,
    Tuple,
    is_number,
)
from .comparisons import condition
from .containers import (
    added,
    appended,
    changes_of,
    copied,
    item_of,
    item_of_tuple,
    length,
    load_field,
    made_list,
    made_record,
    piece,
    store_item,
)
from .expressions import tuple_of
from .library.texts import letter
from .memory import item_place

__all__ = [
    *("as_list", "assign_target", "enumerated", "extended", "fixed_items", "fixed_names", "generated", "is_record"),
    *("keyed", "list_of", "listed", "loop", "of_dict", "parts", "range_of", "reversed_of", "source_of", "taken_now"),
    *("unpacked", "zipped"),
]

Body = Callable[[Typed], None]

#: A range with a step does not span more.
_FAR = 2**61


@dataclass(frozen=True, slots=True)
class Source:
    """What has its items in an order: whether it has one of some index, and that one."""

    has: Callable[[str], str]
    item: Callable[[str], Typed]


def loop(f: Frame, over: Typed, body: Body, otherwise: Callable[[], object] | None = None) -> None:
    """A loop over a value; ``otherwise`` is run unless the loop is broken."""
    over = _iterated(f, f.there(over))
    if isinstance(over.kind, Iterated) and over.kind.run is not None:
        _over_generator(f, over.kind.run, body, otherwise)
    elif (fixed := fixed_items(f, over)) is not None:
        _unrolled(f, fixed, body, otherwise)
    else:
        _each(f, source_of(f, over), body, otherwise)


def _iterated(f: Frame, over: Typed) -> Typed:
    """What ``__iter__`` of an instance gives; the letters of a text that is part of the program; the items of a row."""
    if isinstance(over.known, str) and over.kind is TEXT:
        return tuple_of([Typed(TEXT, (str(f.program.text(one)),), known=one) for one in over.known])
    if isinstance(over.kind, Row):
        return tuple_of(split(over))
    if not isinstance(over.kind, Instance) or over.kind.is_record:
        return over
    thing = f.program.reads.attribute(over.kind.layout.kind, "__iter__")[1]
    return f.call(thing, thing, [over], {})


def _each(f: Frame, source: Source, body: Body, otherwise: Callable[[], object] | None) -> None:
    place = f.w.allocate("i64")
    head, inside, next_one, exhausted, end = (f.w.name(one) for one in ("head", "body", "next", "rest", "end"))
    f.w.store("i64", "0", place)
    f.w.block(head)
    index = f.w.load("i64", place)
    f.w.branch(source.has(index), inside, exhausted)
    f.w.block(inside)
    f.burn()
    f.loops.append(Loop(next_one, end))
    body(source.item(index))
    f.loops.pop()
    f.w.block(next_one)
    f.w.store("i64", f.w.emit(f"add i64 {f.w.load('i64', place)}, 1"), place)
    f.w.jump(head)
    f.w.block(exhausted)
    if otherwise is not None:
        otherwise()
    f.w.block(end)


def _unrolled(
    f: Frame, items: Sequence[Callable[[], Typed]], body: Body, otherwise: Callable[[], object] | None
) -> None:
    end = f.w.name("end")
    for item in items:
        _once(f, item(), body, end)
    if otherwise is not None:
        otherwise()
    f.w.block(end)


def _over_generator(f: Frame, run: Callable[[Body], None], body: Body, otherwise: Callable[[], object] | None) -> None:
    end = f.w.name("end")
    run(lambda item: _once(f, item, body, end))
    if otherwise is not None:
        otherwise()
    f.w.block(end)


def _once(f: Frame, item: Typed, body: Body, end: str) -> None:
    """One iteration, written out."""
    after = f.w.name("next")
    f.loops.append(Loop(after, end))
    body(item)
    f.loops.pop()
    f.w.block(after)


def fixed_items(f: Frame, over: Typed) -> Sequence[Callable[[], Typed]] | None:
    """What gives the items, one after another, of what has so many; None if that is not known."""
    if isinstance(over.kind, Iterated):
        fixed: Sequence[Callable[[], Typed]] | None = over.kind.fixed
        return fixed
    if isinstance(over.kind, Tuple):
        return [lambda item=item: item for item in split(over)]  # type: ignore[misc]
    if isinstance(over.kind, Static) and type(over.kind.thing) is EnumType:
        members: list[Any] = [*over.kind.thing]
        return [lambda one=one: constant_of(f.program, one) for one in members]  # type: ignore[misc]
    return parts(f, over, "keys") if is_record(over) else None


def is_record(value: Typed) -> bool:
    """Whether it is a dictionary with fixed texts as keys."""
    return isinstance(value.kind, Instance) and value.kind.is_record


def parts(f: Frame, record: Typed, which: str) -> Sequence[Callable[[], Typed]]:
    """What gives the keys, values or items of such a dictionary, as they are when a loop comes to them."""
    assert isinstance(record.kind, Instance)

    def part(name: str) -> Typed:
        key = Typed(TEXT, (str(f.program.text(name)),), known=name)
        if which == "keys":
            return key
        value = load_field(f, record, name)
        return value if which == "values" else tuple_of([key, value])

    return [lambda name=name: part(name) for name in record.kind.layout.fields]  # type: ignore[misc]


# --- sources ------------------------------------------------------------------------------------------------


def source_of(f: Frame, over: Typed) -> Source:
    """What a loop over a value goes over, by index."""
    over = _iterated(f, f.there(over))
    if over.kind is UNKNOWN:
        return Source(lambda _: "false", lambda _: Typed(UNKNOWN))
    if isinstance(over.kind, Iterated):
        if over.kind.source is None:
            raise NotTypedError("what is gone over with something else is computed item by item")
        found: Source = over.kind.source
        return found
    if isinstance(over.kind, ListType):
        if over.kind.kind in (set, frozenset):
            raise NotTypedError("a loop goes over a set")
        if over.kind.kind is deque:
            return _unchanged(f, over, _of_list(f, over))
        return of_dict(f, over, "keys") if over.kind.kind is dict else _of_list(f, over)
    if isinstance(over.kind, Tuple):
        count = len(over.kind.items)
        if not count:
            return Source(lambda _: "false", lambda _: Typed(UNKNOWN))
        return Source(
            lambda i: f.w.emit(f"icmp slt i64 {i}, {count}"), lambda i: item_of_tuple(f, over, Typed(INT, (i,)))
        )
    if over.kind is TEXT:
        letters = length(f, over).number
        return Source(lambda i: f.w.emit(f"icmp slt i64 {i}, {letters}"), lambda i: letter(f, over, i))
    raise NotTypedError(f"a loop goes over {over.kind}")


def as_list(f: Frame, node: Any, over: Typed) -> Typed:
    """The list of the items of what can only be gone over; lists and tuples stay what they are."""
    over = _iterated(f, f.there(over))
    if isinstance(over.kind, Iterated) and over.kind.fixed is not None:
        return tuple_of([f.settled(item()) for item in over.kind.fixed])
    if is_record(over):
        return tuple_of([item() for item in parts(f, over, "keys")])
    if isinstance(over.kind, Iterated) or (isinstance(over.kind, ListType) and over.kind.kind is dict):
        made = made_list(f, (node, "list"), [])
        loop(f, over, lambda item: appended(f, made, item))
        return made
    if not isinstance(over.kind, (ListType, Tuple)) and over.kind is not UNKNOWN:
        raise NotTypedError(f"it goes over {over.kind}")
    return over


def taken_now(f: Frame, node: Any, over: Typed) -> Typed:
    """The items of what is gone over, as they are now: a list of their own, or a tuple."""
    items = as_list(f, (node, "now"), over)
    if isinstance(items.kind, ListType) and items.kind.kind in (set, frozenset):
        raise NotTypedError("it goes over a set")
    return copied(f, node, items) if isinstance(items.kind, ListType) else items


def extended(f: Frame, node: Any, of: Typed, items: Typed) -> None:
    """``of.extend(items)``, also where they are one."""
    if not isinstance(of.kind, ListType) or of.kind.kind not in (list, deque):
        raise NotTypedError(f"it extends {of.kind}")
    items = taken_now(f, node, items) if isinstance(f.there(items).kind, ListType) else items
    loop(f, items, lambda item: appended(f, of, item))


def listed(f: Frame, node: ast.List) -> Typed:
    """A list display: ``[x, y]``, or ``[*xs, y]``."""
    if not any(isinstance(one, ast.Starred) for one in node.elts):
        return made_list(f, node, [f.evaluated(one) for one in node.elts])
    made = made_list(f, node, [])
    for one in node.elts:
        if isinstance(one, ast.Starred):
            extended(f, one, made, f.evaluated(one.value))
        else:
            appended(f, made, f.evaluated(one))
    return made


def keyed(f: Frame, node: ast.Dict) -> Typed:
    """A dictionary display: ``{"a": x}``, or ``{**d, k: x}``."""
    pairs: list[tuple[Typed | None, Typed]] = []
    for i, (at, one) in enumerate(zip(node.keys, node.values, strict=True)):
        if at is None:
            pairs += _pairs_now(f, (node, i), f.there(f.evaluated(one)))
        else:
            pairs.append((f.settled(f.evaluated(at)), f.settled(f.evaluated(one))))
    return _dict_of(f, node, pairs)


def _dict_of(f: Frame, node: ast.expr, pairs: Sequence[tuple[Typed | None, Typed]]) -> Typed:
    """A dictionary of keys and values, with fields if the keys are known texts; in place of a pair, another one."""
    names = [key.known for key, _ in pairs if key is not None and isinstance(key.known, str)]
    is_table = f.program.has_tables and all(is_number(value.kind) for _, value in pairs)
    if names and len(names) == len(pairs) and not is_table:
        return made_record(f, {name: value for name, (_, value) in zip(names, pairs, strict=True)})
    made = made_list(f, node, [], dict)
    for key, value in pairs:
        if key is not None:
            store_item(f, made, key, value)
        else:
            items = Typed(Iterated(source=of_dict(f, value, "items")))
            loop(f, items, lambda item: store_item(f, made, *unpacked(f, item, 2)))
    return made


def _pairs_now(f: Frame, node: Any, value: Typed) -> list[tuple[Typed | None, Typed]]:
    """The keys and values of a dictionary as they are now; or None, and a copy of it."""
    if is_record(value):
        assert isinstance(value.kind, Instance)
        keys = [Typed(TEXT, (str(f.program.text(name)),), known=name) for name in value.kind.layout.fields]
        return [(key, load_field(f, value, str(key.known))) for key in keys]
    if isinstance(value.kind, ListType) and value.kind.kind is dict:
        return [(None, copied(f, node, value, dict))]
    raise NotTypedError("it makes a dict of another")


def _of_list(f: Frame, value: Typed) -> Source:
    kind = value.kind
    assert isinstance(kind, ListType)
    return Source(
        lambda i: f.w.emit(f"icmp slt i64 {i}, {length(f, value).number}"),
        lambda i: f.load(kind.item, item_place(f, value, i)) if kind.item is not UNKNOWN else Typed(UNKNOWN),
    )


def of_dict(f: Frame, value: Typed, which: str) -> Source:
    """The keys, values or items of a dictionary."""
    pairs = _of_list(f, value)

    def item(i: str) -> Typed:
        pair = pairs.item(i)
        if pair.kind is UNKNOWN or which == "items":
            return pair
        return split(pair)[which == "values"]

    return _unchanged(f, value, Source(pairs.has, item))


def _unchanged(f: Frame, value: Typed, source: Source) -> Source:
    """The items of what may not change while a loop goes over it: then the function itself raises, or goes on."""
    before = changes_of(f, value)

    def has(i: str) -> str:
        f.w.bail_if(f.w.emit(f"icmp ne i64 {before}, {changes_of(f, value)}"))
        return source.has(i)

    return Source(has, source.item)


def range_of(f: Frame, bounds: list[Typed]) -> tuple[Source, str]:
    start, stop = (bounds[0], bounds[1]) if len(bounds) > 1 else (Typed(INT, ("0",), known=0), bounds[0])
    step = bounds[2] if len(bounds) > 2 else Typed(INT, ("1",), known=1)
    if step.known is None or step.known == 0:
        raise NotTypedError("a range has a step that is computed")
    near = f"call {{i64, i1}} @llvm.ssub.with.overflow.i64(i64 {stop.number}, i64 {start.number})"
    span = f.w.emit(near)
    f.w.bail_if(f.w.emit(f"extractvalue {{i64, i1}} {span}, 1"))
    distance = f.w.emit(f"extractvalue {{i64, i1}} {span}, 0")
    size = abs(step.known)
    if step.known != 1:  # far ones are left to the function, so that nothing below goes beyond 64 bits
        f.w.bail_if(f.w.emit(f"icmp ugt i64 {f.w.emit(f'add i64 {distance}, {_FAR}')}, {2 * _FAR}"))
    if step.known < 0:
        distance = f.w.emit(f"sub i64 0, {distance}")
    count = distance
    if size > 1:
        count = f.w.emit(f"call i64 @int.floordiv(i64 {f.w.emit(f'add i64 {distance}, {size - 1}')}, i64 {size})")

    def item(i: str) -> Typed:
        moved = i if step.known == 1 else f.w.emit(f"mul i64 {i}, {step.known}")
        return Typed(INT, (moved if start.known == 0 else f.w.emit(f"add i64 {moved}, {start.number}"),))

    return Source(lambda i: f.w.emit(f"icmp slt i64 {i}, {count}"), item), count


def zipped(f: Frame, sources: list[Source], is_strict: bool) -> Source:
    """``zip``; where one has more items than another and may not, the function itself raises."""

    def has(i: str) -> str:
        found = sources[0].has(i)
        for one in sources[1:]:
            other = one.has(i)
            if is_strict:
                f.w.bail_if(f.w.emit(f"xor i1 {found}, {other}"))
            found = f.w.emit(f"and i1 {found}, {other}")
        return found

    return Source(has, lambda i: tuple_of([f.settled(one.item(i)) for one in sources]))


def enumerated(f: Frame, source: Source, start: Typed) -> Source:
    def item(i: str) -> Typed:
        number = Typed(INT, (i if start.known == 0 else f.w.emit(f"add i64 {i}, {start.number}"),))
        return tuple_of([number, f.settled(source.item(i))])

    return Source(source.has, item)


def reversed_of(f: Frame, over: Typed) -> Source:
    """``reversed(over)``."""
    over = f.there(over)
    if isinstance(over.kind, Iterated) and over.kind.count:
        inner, count = over.kind.source, over.kind.count
    elif isinstance(over.kind, ListType) and over.kind.kind is list:
        inner, count = _of_list(f, over), length(f, over).number
    else:
        raise NotTypedError(f"it reverses {over.kind}")
    last = f.w.emit(f"sub i64 {count}, 1")

    def has(i: str) -> str:
        if isinstance(over.kind, ListType):
            f.w.bail_if(f.w.emit(f"icmp slt i64 {length(f, over).number}, {count}"))  # items are gone
        return f.w.emit(f"icmp sle i64 {i}, {last}")

    return Source(has, lambda i: inner.item(f.w.emit(f"sub i64 {last}, {i}")))


# --- targets ------------------------------------------------------------------------------------------------


def names_in(target: ast.expr) -> set[str]:
    """The names that a target assigns."""
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def assign_target(f: Frame, target: ast.expr, value: Typed) -> None:
    """Assign a value to names, items or attributes."""
    match target:
        case ast.Name(id=name):
            owner = f.owner(name)
            if owner is None:
                raise NotTypedError(f"it assigns to {name} outside of it")
            owner.assign(name, value)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            is_open = any(isinstance(one, ast.Starred) for one in targets)
            items = _with_rest(f, target, value, targets) if is_open else unpacked(f, value, len(targets))
            for one, item in zip(targets, items, strict=True):
                assign_target(f, one.value if isinstance(one, ast.Starred) else one, item)
        case ast.Subscript() | ast.Attribute():
            f.store_at(target, value)
        case _:
            raise NotTypedError(f"it assigns to a {type(target).__name__}")


def _with_rest(f: Frame, node: ast.AST, value: Typed, targets: Sequence[ast.expr]) -> list[Typed]:
    """The items for ``first, *rest, last = value``, one of which is a list of what the others leave."""
    at = next(i for i, one in enumerate(targets) if isinstance(one, ast.Starred))
    after = len(targets) - at - 1
    items = as_list(f, (node, "all"), value)
    if items.kind is UNKNOWN:
        return [items] * len(targets)
    if isinstance(items.kind, Tuple):
        parts = split(items)
        if len(parts) < at + after:
            raise NotTypedError(f"it takes {at + after} items of {len(parts)}")
        end = len(parts) - after
        left = [*map(f.settled, parts[at:end])]
        kinds = tuple(one.kind for one in left)
        if f.program.has_rows and len({*kinds}) > 1:
            row = Typed(Row(kinds), tuple(word for one in left for word in one.parts))
            return [*parts[:at], row, *parts[end:]]
        return [*parts[:at], made_list(f, (node, "rest"), left), *parts[end:]]
    if not isinstance(items.kind, ListType) or items.kind.kind is not list:
        raise NotTypedError(f"it takes the items of {items.kind}")
    count = length(f, items).number
    f.w.bail_if(f.w.emit(f"icmp slt i64 {count}, {at + after}"))
    rest = piece(f, (node, "rest"), items, str(at), f.w.emit(f"sub i64 {count}, {after}"), list)
    places = [*range(at), *range(-after, 0)]
    found = [item_of(f, items, Typed(INT, (str(i),), known=i)) for i in places]
    return [*found[:at], rest, *found[at:]]


def unpacked(f: Frame, value: Typed, count: int) -> list[Typed]:
    """So many items of a tuple or a list."""
    value = _iterated(f, f.there(value))
    if value.kind is UNKNOWN:
        return [value] * count
    if isinstance(value.kind, Tuple):
        items = split(value)
        if len(items) != count:
            raise NotTypedError(f"it takes {count} items of {len(items)}")
        return items
    if isinstance(value.kind, Iterated):
        return unpacked(f, as_list(f, value.kind, value), count)
    if not isinstance(value.kind, ListType) or value.kind.kind in (dict, set, frozenset):
        raise NotTypedError(f"it takes the items of {value.kind}")
    f.w.bail_if(f.w.emit(f"icmp ne i64 {length(f, value).number}, {count}"))
    kind = value.kind.item
    return [f.load(kind, item_place(f, value, str(i))) if kind is not UNKNOWN else Typed(kind) for i in range(count)]


@contextmanager
def fixed_names(f: Frame, target: ast.expr, item: Typed, assigned: set[str]) -> Iterator[None]:
    """What the names of a target are known to hold, in an iteration that does not assign to them."""
    match target:
        case ast.Name(id=name):
            pairs = [(name, item)]
        case ast.Tuple(elts=targets) if isinstance(item.kind, Tuple) and len(targets) == len(item.kind.items):
            each_one = zip(targets, split(item), strict=True)
            pairs = [(one.id, part) for one, part in each_one if isinstance(one, ast.Name)]
        case _:
            pairs = []
    assigned = assigned | f.shared
    known = {name: value for name, value in pairs if value.known is not None and name not in assigned}
    f.fixed |= known
    yield
    for name in known:
        f.fixed.pop(name, None)


# --- comprehensions -----------------------------------------------------------------------------------------


def list_of(f: Frame, node: ast.ListComp | ast.SetComp | ast.DictComp) -> Typed:
    """What a comprehension makes: a list, a set or a dictionary."""
    kind = {ast.SetComp: set, ast.DictComp: dict}.get(type(node), list)
    inner = f.inner(node, _names_in(node))
    first = f.evaluated(node.generators[0].iter)
    if isinstance(node, ast.DictComp) and (items := _of_known_texts(f, node, first)) is not None:
        return _dict_of(f, node, [_pair_of(inner, node, item) for item in items])
    made = made_list(inner, node, [], kind)

    def put() -> None:
        if isinstance(node, ast.DictComp):
            key = f.settled(inner.evaluated(node.key))
            store_item(inner, made, key, inner.evaluated(node.value))
        else:
            (added if kind is set else appended)(inner, made, inner.evaluated(node.elt))

    _nested(inner, node.generators, first, put)
    return made


def _of_known_texts(f: Frame, node: ast.DictComp, over: Typed) -> list[Typed] | None:
    """The items that it goes over, if the keys are texts among them that are known; else None."""
    generator = node.generators[0]
    targets = generator.target.elts if isinstance(generator.target, ast.Tuple) else [generator.target]
    names = [one.id for one in targets if isinstance(one, ast.Name)]
    fixed = fixed_items(f, over) if len(node.generators) == 1 and not generator.ifs else None
    if not fixed or len(names) < len(targets) or not (isinstance(node.key, ast.Name) and node.key.id in names):
        return None
    items = [item() for item in fixed]
    if isinstance(generator.target, ast.Tuple):
        if not all(isinstance(item.kind, Tuple) and len(item.kind.items) == len(names) for item in items):
            return None
        keys = [split(item)[names.index(node.key.id)] for item in items]
    else:
        keys = items
    return items if all(isinstance(key.known, str) for key in keys) else None


def _pair_of(f: Frame, node: ast.DictComp, item: Typed) -> tuple[Typed, Typed]:
    """The key and the value that a comprehension makes of an item."""
    target = node.generators[0].target
    assign_target(f, target, item)
    with fixed_names(f, target, item, set()):
        return f.settled(f.evaluated(node.key)), f.settled(f.evaluated(node.value))


def generated(f: Frame, node: ast.GeneratorExp) -> Typed:
    """A generator expression, which computes an item when a loop comes to it."""
    first = f.there(f.evaluated(node.generators[0].iter))
    inner = f.inner(node, _names_in(node))
    fixed = fixed_items(f, first) if len(node.generators) == 1 and not node.generators[0].ifs else None

    def run(give: Body) -> None:
        _nested(inner, node.generators, first, lambda: give(f.settled(inner.evaluated(node.elt))))

    def each(item: Callable[[], Typed]) -> Typed:
        value, target = item(), node.generators[0].target
        assign_target(inner, target, value)
        with fixed_names(inner, target, value, set()):
            return f.settled(inner.evaluated(node.elt))

    if fixed is None:
        return Typed(Iterated(run=run))
    return Typed(Iterated(fixed=[lambda item=item: each(item) for item in fixed]))


def _names_in(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> set[str]:
    return set[str]().union(*(names_in(one.target) for one in node.generators))


def _nested(f: Frame, generators: Sequence[ast.comprehension], over: Typed, put: Callable[[], None]) -> None:
    """The loops of a comprehension, the first of which goes over ``over``."""
    generator = generators[0]

    def body(item: Typed) -> None:
        assign_target(f, generator.target, item)
        with fixed_names(f, generator.target, item, set()):
            for test in generator.ifs:
                on = f.w.name("on")
                f.w.branch(condition(f, test).number, on, f.loops[-1].next)
                f.w.block(on)
            if len(generators) == 1:
                put()
            else:
                _nested(f, generators[1:], f.evaluated(generators[1].iter), put)

    loop(f, over, body)
