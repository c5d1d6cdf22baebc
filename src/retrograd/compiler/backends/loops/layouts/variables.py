"""What a loop reads of a number that it sets again only at times: in inner loops of one iteration or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..shapes.structure import Body, Indices, Position

__all__ = ["Variable", "variable_of"]

_NONE = -1


@dataclass(frozen=True, slots=True)
class Variable:
    """A number that positions of a loop set, in order of the code, and what a reader finds of it.

    Attributes:
        setters: the positions.
        found: the node that the reader finds in each iteration.
        handed: the node that the iteration before leaves.
        start: the node before the first iteration of each instance; -1 if nothing reads it.
        is_set: whether an iteration has always set it before the reader.
        is_left: whether an iteration always sets it.
    """

    setters: list[Position]
    found: Indices
    handed: Indices
    start: Indices
    is_set: bool
    is_left: bool


def variable_of(
    body: Body, nodes: Indices, reader: int, positions: Sequence[Position], position_of: NDArray[np.int32]
) -> Variable | None:
    """What a reader in a loop's body reads, as a variable; None if it is none.

    Args:
        body: the loop's.
        nodes: what is read in each iteration; -1 where nothing reads it.
        reader: the number of the position that reads it.
        positions: those of the program.
        position_of: the number of each node's position.
    """
    known = nodes >= 0
    numbers = np.unique(position_of[nodes[known]])
    setters = [positions[number] for number in numbers if _sets(positions[number], body)]
    if not any(setter.body.optional for setter in setters):
        return None
    now, end = np.full(body.times, _NONE), np.full(body.times, _NONE)
    for setter in setters:
        here = _by_iteration(setter, body)
        end = np.where(here >= 0, here, end)
        if setter.number < reader:
            now = end.copy()
    owner = body.instances
    handed = _handed(body, end, owner)
    found = np.where(now >= 0, now, handed)
    first = known & (found < 0)
    start = np.full(len(body.counts), _NONE)
    start[owner[first]] = nodes[first]
    handed = np.where(handed >= 0, handed, start[owner])
    found = np.where(found >= 0, found, handed)
    if not np.array_equal(found[known], nodes[known]) or np.any(found < 0):
        return None
    return Variable(setters, found, handed, start, bool(np.all(now >= 0)), bool(np.all(end >= 0)))


def _sets(position: Position, body: Body) -> bool:
    return position.body is body or (position.body.optional and position.body.parent is body)


def _by_iteration(setter: Position, body: Body) -> Indices:
    """The node in each iteration of a body; -1 where there is none."""
    if setter.body is body:
        return setter.nodes
    here = np.full(body.times, _NONE)
    here[setter.body.counts > 0] = setter.nodes
    return here


def _handed(body: Body, end: Indices, owner: Indices) -> Indices:
    """What the iterations before leave; -1 where none of the same instance has set it."""
    last = np.maximum.accumulate(np.where(end >= 0, np.arange(body.times), _NONE))
    before = np.concatenate([[_NONE], last[:-1]])
    return np.where(before >= body.firsts[owner], end[before], _NONE)
