"""What captured places hold before a trace, to be put back where the trace has left something else there."""

from __future__ import annotations

import types
from collections import OrderedDict, deque
from collections.abc import Sequence
from contextlib import suppress
from operator import is_
from typing import Any

from .reach.contents import content_of_slot, contents_of_cell
from .reach.places import Place

__all__ = ["Snapshot"]

_NOTHING = object()


class Snapshot:
    """What some places hold."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._held = [(kind, thing, name, _held_by(kind, thing, name)) for kind, thing, name in places]

    def restore(self) -> None:
        """Put it back."""
        for kind, thing, name, held in self._held:
            with suppress(Exception):  # what does not let itself be written has not been
                _put_back(kind, thing, name, held)


def _held_by(kind: str, thing: Any, name: Any) -> Any:
    if kind == "named":
        return thing.get(name, _NOTHING)
    if kind == "items":
        return tuple(list.__iter__(thing))
    if kind == "entries":
        return tuple(dict.items(thing))
    if kind == "elements":
        return tuple(name.__iter__(thing))  # and not by a method of the user's
    found: tuple[Any, ...] = ()
    if kind == "cell":
        found = contents_of_cell(thing)
    elif kind == "slot":
        found = content_of_slot(name, thing)
    return found[0] if found else _NOTHING


def _put_back(kind: str, thing: Any, name: Any, held: Any) -> None:
    if kind == "named":
        if held is _NOTHING:
            thing.pop(name, None)
        elif thing.get(name, _NOTHING) is not held:
            thing[name] = held
    elif kind == "items":
        if not _are_same(tuple(list.__iter__(thing)), held):
            list.__setitem__(thing, slice(None), held)
    elif kind == "entries":
        now = tuple(dict.items(thing))
        if not (len(now) == len(held) and all(a is c and b is d for (a, b), (c, d) in zip(now, held, strict=True))):
            base = OrderedDict if isinstance(thing, OrderedDict) else dict  # which keeps more than a dictionary does
            base.clear(thing)
            for key, item in held:
                base.__setitem__(thing, key, item)
    elif kind == "elements" and name is not OrderedDict and not _are_same(tuple(name.__iter__(thing)), held):
        name.clear(thing)
        (deque.extend if name is deque else set.update)(thing, held)
    elif kind == "cell":
        _put_back_in_cell(thing, held)
    elif kind == "slot" and held is not _NOTHING and not _are_same(content_of_slot(name, thing), (held,)):
        name.__set__(thing, held)


def _put_back_in_cell(cell: types.CellType, held: Any) -> None:
    if held is _NOTHING:
        del cell.cell_contents
    elif not _are_same(contents_of_cell(cell), (held,)):
        cell.cell_contents = held


def _are_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))
