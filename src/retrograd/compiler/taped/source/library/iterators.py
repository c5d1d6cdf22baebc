"""Iterators: classes of ``itertools`` as generators that can be followed, and those that only ``next`` asks."""

from __future__ import annotations

import ast
import itertools
from typing import Any

from ...frame import Frame, split
from ...ir.arithmetic import Typed
from ...types import UNKNOWN, ListType, NotTypedError, Tuple
from ..containers import made_list
from ..expressions import tuple_of
from ..loops import taken_now
from .builtin_calls import iterator_of
from .in_python import COMBINATIONS, ITERTOOLS, Cycle, Kept, product_of

__all__ = ["kept_iterator", "of_itertools"]


def kept_iterator(f: Frame, node: ast.Call) -> Typed:
    """``iter(items)``, which a variable keeps for ``next``."""
    over = f.evaluated(node.args[0])
    items = _as_it_is_now(f, node, over)
    return iterator_of(f, over) if items is None else f.call(node, Kept, [items], {})


def of_itertools(f: Frame, node: ast.Call, thing: Any, arguments: list[Typed]) -> tuple[Any, list[Typed]]:
    """A generator for a class of itertools, and what it is given; some take all items when they are made."""
    if thing is itertools.combinations and len(arguments) == 2:
        count = arguments[1].known
        thing, arguments = COMBINATIONS.get(count if isinstance(count, int) else 0, thing), arguments[:1]
    elif thing is itertools.product and len(arguments) == 2:
        thing = product_of
    elif thing is itertools.chain and len(arguments) != 2:
        return _chained(f, node, arguments)
    elif thing is itertools.cycle and len(arguments) == 1:
        items = _as_it_is_now(f, node, arguments[0])
        if items is None:
            raise NotTypedError(f"it makes a cycle of {arguments[0].kind}")
        return Cycle, [items]
    else:
        return ITERTOOLS.get((thing, len(arguments)), thing), arguments
    return thing, [taken_now(f, (node, i), one) for i, one in enumerate(arguments)]


def _as_it_is_now(f: Frame, node: ast.Call, over: Typed) -> Typed | None:
    """The list that an iterator goes over, which may change meanwhile; of a tuple, one like it; None of all else."""
    if isinstance(over.kind, Tuple):
        return made_list(f, (node, "kept"), split(over))
    is_list = over.kind is UNKNOWN or (isinstance(over.kind, ListType) and over.kind.kind is list)
    return over if is_list else None


def _chained(f: Frame, node: ast.Call, arguments: list[Typed]) -> tuple[Any, list[Typed]]:
    """``chain`` of one, or of several, two by two."""
    two = ITERTOOLS[itertools.chain, 2]
    while len(arguments) > 2:
        first = f.call((node, len(arguments)), two, arguments[:2], {})
        arguments = [first, *arguments[2:]]
    return (two, arguments) if len(arguments) == 2 else (two, [*arguments, *[tuple_of([])] * (2 - len(arguments))])
