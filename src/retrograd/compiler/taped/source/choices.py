"""What one of several blocks gives: of an expression with branches, or of what may be one of several things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..frame import Frame
from ..ir.arithmetic import Typed
from ..syntax import place_key
from ..types import UNKNOWN, Instance, Union, join

__all__ = ["choice", "of_each"]


def choice(f: Frame, key: Any, sides: Sequence[tuple[str, Callable[[], Typed]]], end: str) -> Typed:
    """What one of several blocks gives, each of which goes to ``end``.

    Args:
        f: The frame.
        key: What tells this place in the source from others.
        sides: The blocks, and what writes each of them.
        end: Where they meet.
    """
    kind = f.program.results.get(key, UNKNOWN)
    place = f.variable(kind)
    for label, write in sides:
        f.w.block(label)
        value = f.settled(write())
        joined = join(kind, value.kind)
        if joined != kind:
            kind = f.program.results[key] = joined
            place = f.variable(kind)
        f.set(place, value)
        f.w.jump(end)
    f.w.block(end)
    return f.get(place)


def of_each(f: Frame, of: Typed, node: Any, do: Callable[[Typed], Typed]) -> Typed:
    """What is done with one of several things, for the one that it is.

    Args:
        f: The frame.
        of: The thing.
        node: The place in the source.
        do: Writes it for an instance of one class, or for one function.
    """
    assert isinstance(of.kind, Union)
    labels = [f.w.name("option") for _ in of.kind.options]
    for i, label in enumerate(labels[:-1]):
        other = f.w.name("other")
        f.w.branch(f.w.emit(f"icmp eq i64 {of.number}, {i}"), label, other)
        f.w.block(other)
    f.w.jump(labels[-1])
    things = [Typed(one, of.parts[1:] if isinstance(one, Instance) else ()) for one in of.kind.options]
    sides = [(label, lambda thing=thing: do(thing)) for label, thing in zip(labels, things, strict=True)]
    return choice(f, (f.path, place_key(node), "each"), sides, f.w.name("end"))
