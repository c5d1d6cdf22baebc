"""What one traced run of a function says besides its graph: selections, guards, and graph breaks."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ... import engine
from ...engine import Value
from ...engine.source_lines import Location
from ..calls.outputs import OutputsOfTrace
from ..calls.varying import Column
from .bool_tracer import Purpose
from .outcomes import Outcomes

__all__ = ["FIRST", "Choice", "Guard", "IndexGuard", "Recording", "Selection"]


class Choice(enum.Enum):
    """How a selection chooses among its candidates. The values are the names of the compiler's rows."""

    BY_INDEX = "select"  #: by an Index argument
    FIRST_MAX = "first_max"  #: the first that no other is larger than, as Python's own ``max``
    FIRST_MIN = "first_min"  #: likewise of ``min``


#: What Python's own functions choose.
FIRST = {"max": Choice.FIRST_MAX, "min": Choice.FIRST_MIN}


class Selection(NamedTuple):
    """``node`` is an ``identity`` of the candidate that ``choice`` selects; ``slot`` is the index argument's number.

    Selections from the same values share one tuple of candidates.
    """

    node: Value
    choice: Choice
    candidates: tuple[Value, ...]
    slot: int = 0


class Guard(NamedTuple):
    """A comparison that decided something, without what it compared: see ``Recording.compared``.

    ``kind`` is ``<``, ``<=``, ``>``, ``>=``, ``==``, ``!=``, or ``bool``, which has no right side. An instruction that
    decides alike again and again has one guard. ``chosen`` is the number or the text that it must be again, which the
    function wanted as a plain one; ``use`` says what for, if it is a float.
    """

    kind: str
    outcome: bool
    where: Location | None
    purpose: Purpose = Purpose.DECIDES
    chosen: float | str | None = None
    use: str = ""


class IndexGuard(NamedTuple):
    """A comparison of the index in ``slot`` with the number ``other``, or with the index in ``other_slot``."""

    slot: int
    kind: str
    other: int
    other_slot: int | None
    outcome: bool
    where: Location | None

    @property
    def purpose(self) -> Purpose:
        """As a guard's."""
        return Purpose.DECIDES

    @property
    def chosen(self) -> None:
        """As a guard's."""
        return None

    @property
    def use(self) -> str:
        """As a guard's."""
        return ""


@dataclass(slots=True)
class Recording:
    """One traced run of a function: what it returned, and what that depends on.

    A recording is valid for another call if it has no graph breaks and every guard has the same outcome there.
    """

    result: Value | float = 0.0  #: a float if the result depends on nothing
    selections: list[Selection] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    #: What each guard compares: its left and its right side.
    compared: list[Value | float | None] = field(default_factory=list)
    index_guards: list[IndexGuard] = field(default_factory=list)
    #: The nodes whose operands may be outside a domain in another call, whether the result depends on them or not.
    fallible: list[Value] = field(default_factory=list)
    first_node: int = 0  #: the tape's position when the function was called
    length: int = 0  #: by how much that has grown since
    leaves_before: int = 0  #: how many leaves had been made then
    #: What happened that a compiled program cannot do, a sentence each.
    graph_breaks: list[str] = field(default_factory=list)
    #: Whether the function divided plain floats, which raises whatever ``retrograd.errstate`` says.
    float_errors: bool = False

    #: The primitives of a user that it calls, whose derivatives are right in the first order only.
    primitives: list[str] = field(default_factory=list)

    #: Whether derivatives are among what was recorded.
    differentiates: bool = False

    #: Several results: what the function returned; the Values that the program gives; and, if gradients can be wanted,
    #: as many leaves, so that ``result`` is the sum of each Value times its leaf. Each pass brings the leaves' numbers.
    tree: OutputsOfTrace | None = None
    outputs: tuple[Value, ...] = ()
    cotangents: tuple[Value, ...] = ()
    as_array: bool = False  #: they are one array of numbers
    connected: bool = False  #: a Value is among them

    #: Whether the function selects among Values and plain numbers; whether its result is one or the other thereby; and
    #: what else must be positive for it to be a Value, if it is not.
    mixes_kinds: bool = False
    kind_varies: bool = False
    #: Whether it was not recorded what the result is: a Value, a float or an int; or which label it has. Passes do not
    #: ask; a plain call does.
    kind_unknown: bool = False
    positive: list[Value] = field(default_factory=list)
    #: Whether the function asked of something whether it is a Value or a plain number, or which of several Values it
    #: is, where no guard beside a decision tells that.
    asks_kind: bool = False
    asks_which: bool = False

    #: Whether the result is known to be an int: what a decision chose. What is computed from such a number is a float.
    is_int: bool = False

    #: The label that the function gives to its result; those of several are in ``tree``.
    label: str = ""

    #: What was converted of the code that was traced, and how; None for the code as it is.
    conversion: tuple[Any, ...] | None = None

    _decided: Outcomes | None = None

    @property
    def replayable(self) -> bool:
        """Whether the recording can be valid for another call."""
        return not self.graph_breaks

    def guard(self, guard: Guard, left: Value, right: Value | float | None) -> None:
        """A comparison decided something."""
        self.guards.append(guard)
        self.compared += left, right

    def decided(self) -> Outcomes:
        """What all guards decided, once they are complete."""
        if self._decided is None:
            self._decided = Outcomes([*self.guards, *self.index_guards])
        return self._decided

    def plain_among(self, columns: Mapping[int, Column]) -> frozenset[Column]:
        """The columns of ints, by the ids of their leaves, on which depends what the function wanted as a plain int."""
        wanted = [self.compared[2 * number] for number, one in enumerate(self.guards) if one.chosen is not None]
        found, seen, rest = set(), set(), [*wanted] if columns else []
        while rest:
            node = rest.pop()
            if not isinstance(node, Value) or id(node) in seen:
                continue
            seen.add(id(node))
            if id(node) in columns:
                found.add(columns[id(node)])
            rest.extend(engine.operands(node))
        return frozenset(found)

    def guard_kind(self) -> None:
        """That the result is a Value becomes a guard, which alone keeps what that compares: constants are counted."""
        positive, self.positive = self.positive, []
        for node in positive:
            self.guard(Guard(">", True, None), node, 0.0)

    def forget_nodes(self) -> None:
        """Let the recorded graph go, which may be large: what is left says what was decided."""
        self.result, self.tree, self.outputs = 0.0, None, ()
        self.compared, self.positive, self.selections, self.fallible = [], [], [], []
