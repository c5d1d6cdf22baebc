"""What becomes of many items: a sum, the largest one, whether any is true."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from ....backends.llvm.ir_builder import constant
from ...frame import Frame
from ...ir.arithmetic import Typed
from ...types import BOOL, FLOAT, MIXED, UNKNOWN, NotTypedError, Type, is_plain, join
from ..comparisons import compared, truth
from ..expressions import binary
from ..loops import loop

__all__ = ["extreme", "first", "folded", "summed", "tested"]


def summed(f: Frame, node: ast.Call, items: Typed, start: Typed, is_compensated: bool = False) -> Typed:
    """``sum(items, start)``, from left to right; of floats with what each addition loses, added at the end."""
    key = f.path, id(node), "sum"
    kind: Type = join(f.program.results.get(key, UNKNOWN), start.kind)
    total = f.variable(kind)
    f.set(total, start)
    place = [total]
    lost = f.w.allocate("double")
    f.w.store("double", constant(0.0), lost)

    def add(item: Typed) -> None:
        if is_compensated and item.kind in (FLOAT, MIXED):
            if item.kind is MIXED:
                raise NotTypedError("it sums ints and floats")
            _keep_lost(f, lost, f.get(place[0]), item)
        added = f.settled(binary(f, node, ast.Add(), f.get(place[0]), item))
        joined = join(place[0].kind, added.kind)
        if joined != place[0].kind:
            place[0] = f.variable(joined)
        f.set(place[0], added)

    loop(f, items, add)
    f.program.results[key] = place[0].kind
    found = f.get(place[0])
    if not is_compensated or not is_plain(found.kind):
        return found
    less = f.w.load("double", lost)
    size = f.w.emit(f"call double @llvm.fabs.f64(double {less})")
    is_some = f.w.emit(f"fcmp one double {less}, {constant(0.0)}")
    is_finite = f.w.emit(f"fcmp olt double {size}, {constant(math.inf)}")
    both = f.w.emit(f"and i1 {is_some}, {is_finite}")
    better = f.w.emit(f"fadd double {found.number}, {less}")
    return Typed(found.kind, (f.w.emit(f"select i1 {both}, double {better}, double {found.number}"),))


def _keep_lost(f: Frame, lost: str, total: Typed, item: Typed) -> None:
    """What an addition loses, as Neumaier has it, and CPython's own sum since 3.12."""
    one, other = f.math.real(total).number, item.number
    added = f.w.emit(f"fadd double {one}, {other}")
    sizes = [f.w.emit(f"call double @llvm.fabs.f64(double {number})") for number in (one, other)]
    is_first = f.w.emit(f"fcmp oge double {sizes[0]}, {sizes[1]}")
    large = f.w.emit(f"select i1 {is_first}, double {one}, double {other}")
    small = f.w.emit(f"select i1 {is_first}, double {other}, double {one}")
    rest = f.w.emit(f"fadd double {f.w.emit(f'fsub double {large}, {added}')}, {small}")
    f.w.store("double", f.w.emit(f"fadd double {f.w.load('double', lost)}, {rest}"), lost)


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


def folded(
    f: Frame, node: ast.Call, apply: Callable[[Typed, Typed], Typed], items: Typed, start: Typed | None
) -> Typed:
    """``reduce``: what a function gives for what it has given so far and the next item."""
    so_far = _Best(f, (f.path, id(node), "fold"))
    if start is not None:
        so_far.widen(start.kind)
        f.set(so_far.variable, start)
    else:
        f.w.store("i64", "0", so_far.variable.place)  # nothing so far

    def take(item: Typed) -> None:
        item = f.settled(item)
        first, later, on = f.w.name("first"), f.w.name("later"), f.w.name("on")
        f.w.branch(f.w.emit(f"icmp eq i64 {f.w.load('i64', so_far.variable.place)}, 0"), first, later)
        f.w.block(first)
        if start is None:
            so_far.widen(item.kind)
            f.set(so_far.variable, item)
        f.w.jump(on)
        f.w.block(later)
        found = f.settled(apply(f.get(so_far.variable), item))
        so_far.widen(found.kind)
        f.set(so_far.variable, found)
        f.w.block(on)

    loop(f, items, take)
    return f.get(so_far.variable)


def first(f: Frame, node: ast.Call, items: Typed, default: Typed | None) -> Typed:
    """``next``: the first item, or a default; no item after it is computed."""
    found = _Best(f, (f.path, id(node), "first"))
    f.w.store("i64", "0", found.variable.place)  # nothing so far

    def take(item: Typed) -> None:
        item = f.settled(item)
        found.widen(item.kind)
        f.set(found.variable, item)
        f.w.jump(f.loops[-1].end)
        f.w.block(f.w.name("on"))

    loop(f, items, take)
    if default is not None:
        found.widen(default.kind)
        none, end = f.w.name("none"), f.w.name("end")
        f.w.branch(f.w.emit(f"icmp eq i64 {f.w.load('i64', found.variable.place)}, 0"), none, end)
        f.w.block(none)
        f.set(found.variable, default)
        f.w.block(end)
    return f.get(found.variable)


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
