"""The order of items: what ``key`` and ``reverse`` say, and lists that are sorted by them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from ...frame import Frame, split
from ...ir.arithmetic import Typed
from ...types import BOOL, NONE, UNKNOWN, Instance, ListType, NotTypedError, Tuple
from .. import loops
from ..comparisons import truth
from ..containers import appended, item_of, made_list
from ..keys import equal_to_itself, has_own
from .in_python import sorted_by, sorted_list

__all__ = ["applied", "key_of", "order_of", "ordered"]


def key_of(f: Frame, node: ast.AST, key: ast.expr | None) -> Callable[[Typed], Typed] | None:
    """What computes the key of an item."""
    if key is None:
        return None
    if isinstance(key, ast.Attribute) and key.attr == "get" and isinstance(key.value, ast.Name):
        of = f.there(f.evaluated(key.value))
        if isinstance(of.kind, ListType) and of.kind.kind is dict:
            plain = Typed(ListType(of.kind.cell, dict), of.parts)  # a defaultdict makes nothing then
            return lambda item: item_of(f, plain, item)
    function = f.evaluated(key)
    if function.kind is NONE:
        return None
    return lambda item: applied(f, node, function, item)


def applied(f: Frame, node: ast.AST, function: Typed, *items: Typed) -> Typed:
    """A function of a value, or of several."""
    settled = [f.settled(item) for item in items]
    return f.apply((node, "key"), function, settled, {})


class Order(NamedTuple):
    """What ``key`` and ``reverse`` say."""

    key: Callable[[Typed], Typed] | None
    is_reversed: Typed


def order_of(f: Frame, node: ast.Call) -> Order:
    """The order in which a call sorts."""
    if {one.arg for one in node.keywords} - {"key", "reverse"}:
        raise NotTypedError("it sorts with other keywords")
    key, is_reversed = None, Typed(BOOL, ("false",), known=False)
    for one in node.keywords:  # in this order
        if one.arg == "key":
            key = key_of(f, node, one.value)
        else:
            is_reversed = truth(f, f.evaluated(one.value))
    return Order(key, is_reversed)


def ordered(f: Frame, node: ast.Call, items: Typed, order: Order) -> Typed:
    """``sorted(items, key=…, reverse=…)``."""
    if items.kind is UNKNOWN:
        return items
    if order.key is None:
        loops.loop(f, items, lambda item: _in_order(f, item))
        return f.call(node, sorted_list, [items, order.is_reversed], {})
    key, keys = order.key, made_list(f, (node, "keys"), [])
    loops.loop(f, items, lambda item: appended(f, keys, key(item)))
    loops.loop(f, keys, lambda item: _in_order(f, item))
    return f.call(node, sorted_by, [items, keys, order.is_reversed], {})


def _in_order(f: Frame, key: Typed) -> None:
    """Where keys have no order, such as NaNs, or one of their own, it depends on how they are sorted."""
    for one in split(key) if isinstance(key.kind, Tuple) else [key]:
        if isinstance(one.kind, Instance) and has_own(one.kind.layout.kind, "__lt__"):
            raise NotTypedError(f"it sorts by {one.kind}, whose < is its own")
    equal_to_itself(f, key)
