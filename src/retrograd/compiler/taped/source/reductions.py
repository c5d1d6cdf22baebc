"""What becomes of many items: a sum, the largest one, whether any is true."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ..frame import Frame
from ..ir.arithmetic import Typed
from ..types import BOOL, UNKNOWN, Type, join
from .comparisons import compared, truth
from .expressions import binary
from .loops import loop

__all__ = ["extreme", "summed", "tested"]


def summed(f: Frame, node: ast.Call, items: Typed, start: Typed) -> Typed:
    """``sum(items, start)``, from left to right."""
    key = f.path, id(node), "sum"
    kind: Type = join(f.program.results.get(key, UNKNOWN), start.kind)
    total = f.variable(kind)
    f.set(total, start)
    place = [total]

    def add(item: Typed) -> None:
        added = f.settled(binary(f, node, ast.Add(), f.get(place[0]), item))
        joined = join(place[0].kind, added.kind)
        if joined != place[0].kind:
            place[0] = f.variable(joined)
        f.set(place[0], added)

    loop(f, items, add)
    f.program.results[key] = place[0].kind
    return f.get(place[0])


def extreme(
    f: Frame,
    node: ast.Call,
    items: Typed | Sequence[Typed],
    largest: bool,
    key: Callable[[Typed], Typed] | None = None,
    default: Typed | None = None,
) -> Typed:
    """``max`` or ``min``: the first item that no other is larger (smaller) than, by its key."""
    operator = ast.Gt() if largest else ast.Lt()
    best, best_key = _Best(f, (f.path, id(node), "extreme")), _Best(f, (f.path, id(node), "key"))
    is_some = f.w.allocate("i1")
    f.w.store("i1", "false", is_some)

    def look_at(item: Typed) -> None:
        item = f.settled(item)
        if item.kind is UNKNOWN:
            return
        by = f.settled(key(item)) if key is not None else item
        best.widen(item.kind)
        best_key.widen(by.kind)
        test, take, on = f.w.name("test"), f.w.name("take"), f.w.name("on")
        f.w.branch(f.w.load("i1", is_some), test, take)
        f.w.block(test)
        f.w.branch(compared(f, operator, by, f.get(best_key.variable)).number, take, on)
        f.w.block(take)
        f.set(best.variable, item)
        f.set(best_key.variable, by)
        f.w.store("i1", "true", is_some)
        f.w.block(on)

    if not isinstance(items, Typed):
        for item in items:
            look_at(item)
    else:
        loop(f, items, look_at)
    if default is not None:
        best.widen(default.kind)
        none, end = f.w.name("none"), f.w.name("end")
        f.w.branch(f.w.load("i1", is_some), end, none)
        f.w.block(none)
        f.set(best.variable, default)
        f.w.block(end)
    elif isinstance(items, Typed):
        f.w.bail_if(f.w.emit(f"xor i1 {f.w.load('i1', is_some)}, true"))
    return f.get(best.variable)


class _Best:
    """A variable whose type is learned."""

    def __init__(self, f: Frame, key: Any) -> None:
        self._f, self._key = f, key
        self.variable = f.variable(f.program.results.get(key, UNKNOWN))

    def widen(self, kind: Type) -> None:
        joined = join(self.variable.kind, kind)
        if joined != self.variable.kind:
            self.variable = self._f.variable(joined)
            self._f.program.results[self._key] = joined


def tested(f: Frame, items: Typed, wanted: bool) -> Typed:
    """``any`` (wanted) or ``all``: whether an item is true, or none is false; no item after that is computed."""
    place = f.w.allocate("i1")
    f.w.store("i1", "false" if wanted else "true", place)

    def look_at(item: Typed) -> None:
        found, decides, on = truth(f, item).number, f.w.name("decides"), f.w.name("on")
        f.w.branch(found, *((decides, on) if wanted else (on, decides)))
        f.w.block(decides)
        f.w.store("i1", "true" if wanted else "false", place)
        f.w.jump(f.loops[-1].end)
        f.w.block(on)

    loop(f, items, look_at)
    return Typed(BOOL, (f.w.load("i1", place),))
