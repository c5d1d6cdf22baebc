"""What an operand of a position is: constants, leaves, or nodes of this iteration, an earlier one, or an inner loop.

Each belongs to a body, its frame: it is another number in each iteration of that body, the same in its inner loops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..shapes.structure import Body, Indices, Position

__all__ = [
    "Beside",
    "Carry",
    "Constant",
    "Constants",
    "Far",
    "Last",
    "Leaf",
    "Merged",
    "Near",
    "NodeOperand",
    "Operand",
    "Taken",
]


@dataclass(frozen=True, slots=True)
class Constant:
    number: float


@dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """Another number in each iteration of the frame."""

    frame: Body
    numbers: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A leaf in each iteration of the frame."""

    frame: Body
    index: Indices
    wanted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """What a position of the frame has in this iteration."""

    frame: Body
    nodes: Indices
    position: Position


@dataclass(frozen=True, slots=True, eq=False)
class Last:
    """What a position of an inner loop had in the last iteration."""

    frame: Body
    nodes: Indices
    position: Position


@dataclass(slots=True, eq=False)
class Carry:
    """What ``following`` was one iteration before, in the first iteration ``start``."""

    frame: Body
    nodes: Indices
    following: NodeOperand  # may be made of this one
    start: NodeOperand


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """What a position has in an inner loop of one iteration; ``otherwise``, where there is none."""

    frame: Body
    nodes: Indices
    position: Position
    otherwise: NodeOperand | None  # None: nothing reads it then


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """What is computed beside nodes, for the backward pass: the cosine beside a sine."""

    frame: Body
    nodes: Indices


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Which iteration of an inner loop was the last one, where data may leave it."""

    frame: Body
    nodes: Indices


@dataclass(frozen=True, slots=True, eq=False)
class Far:
    """Any nodes that come earlier, from memory."""

    frame: Body
    nodes: Indices


NodeOperand = Near | Last | Carry | Merged | Far
Operand = Constant | Constants | Leaf | NodeOperand
