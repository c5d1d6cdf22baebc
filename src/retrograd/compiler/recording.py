"""What a trace of a function says besides its graph: selections, guards, and why a replay cannot stand for a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..engine import Value
from ..engine.source_lines import Location

__all__ = ["FIRST_LARGEST", "FIRST_SMALLEST", "Guard", "IndexGuard", "Selection", "Trace"]


FIRST_LARGEST, FIRST_SMALLEST = -1, -2


class Selection(NamedTuple):
    """``node`` is the one of ``candidates`` that the index in ``slot`` selects, as an ``identity`` of it.

    The slots FIRST_LARGEST and FIRST_SMALLEST are the choices of Python's own ``max`` and ``min``.

    Selections from the same values share one tuple of candidates.
    """

    node: Value
    slot: int
    candidates: tuple[Value, ...]


class Guard(NamedTuple):
    """A comparison that decided something: ``left kind right`` was ``outcome``.

    ``kind`` is ``<``, ``<=``, ``>``, ``>=``, ``==``, ``!=``, or ``bool``, which has no right side.
    """

    kind: str
    left: Value
    right: Value | float | None
    outcome: bool
    where: Location | None


class IndexGuard(NamedTuple):
    """A comparison of the index in ``slot``, with a number or with the index in ``other_slot``."""

    slot: int
    kind: str
    other: int
    other_slot: int | None
    outcome: bool
    where: Location | None


@dataclass(slots=True)
class Trace:
    """One run of a function: what it returned and what that depended on.

    ``result`` is a node, or a float where the result depends on nothing. ``reasons`` says, a sentence each, what
    happened that a replay cannot do; without any, and with every guard as it was, a replay stands for a call.
    ``floats`` says whether the function divided plain numbers, which raises whatever ``retrograd.errstate`` says.
    """

    result: Value | float = 0.0
    selections: list[Selection] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    index_guards: list[IndexGuard] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    floats: bool = False

    @property
    def replayable(self) -> bool:
        """Whether a replay can stand for a call."""
        return not self.reasons
