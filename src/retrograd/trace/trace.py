"""The trace: everything that a forward and a backward pass did, as plain data.

It is built once from a Value, and the terminal, the notebook and the browser show the same one. The backward
steps spell out every ``+=`` of one fresh pass seeded with 1, without touching the user's ``.grad``; when they do not
reproduce the engine's gradients bit for bit, no trace is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from ..engine import Value
from ..engine.source_lines import Location
from ..errors import RetrogradError

__all__ = ["Addition", "Edge", "Node", "Step", "Trace", "TraceError"]

Kind = Literal["leaf", "constant", "operation"]
Written = Callable[[Value, int | None], str]


class TraceError(RetrogradError, RuntimeError):
    """The steps of a trace do not reproduce the gradients of the engine: an error of this package, please report it."""


@dataclass(frozen=True, slots=True)
class Node:
    """One Value: a leaf, a constant (a plain number used as an operand), or the result of an operation."""

    id: int
    name: str
    kind: Kind
    op: str  #: what ``_op`` shows; empty for leaves and constants
    row: str  #: the row of the op table, ``user`` for a user-made node; empty for leaves and constants
    data: float
    grad: float | None  #: after the whole pass; None for a constant, which has none
    expression: str  #: the source text of an expression's node; empty when unknown
    formula: str  #: how it was computed, in the operands' names
    latex: str
    source: Location | None  #: the user's line that recorded it
    output: int = 0  #: which result of a softmax it is
    own: bool = False  #: whether the user wrote its ``_backward``


@dataclass(frozen=True, slots=True)
class Edge:
    """One occurrence of an operand: ``a * a`` has two edges from a."""

    id: int
    operand: int  #: id of the node it starts from
    result: int  #: id of the node that uses it
    slot: int
    local: float | None  #: the local derivative; None for a constant, which takes no gradient
    formula: str  #: the local derivative in symbols, as this pass computed it; empty for a constant
    latex: str  #: the whole rule; empty for a constant
    zero: bool  #: structurally zero here: nothing is added, not even 0 * inf


@dataclass(frozen=True, slots=True)
class Addition:
    """One ``+=`` of the backward pass, spelled out in ``text``."""

    edge: int
    target: int
    before: float
    contribution: float
    after: float
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the inputs or an operation of the forward pass; the seed or a visit of the backward pass."""

    kind: Literal["inputs", "operation", "seed", "visit"]
    nodes: tuple[int, ...]  #: the nodes that get their number, or the one that is visited
    text: str
    additions: tuple[Addition, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """A graph with its forward and backward steps. ``nodes[i].id == i``, and likewise for edges."""

    title: str  #: the expression or the function that was explained; may be empty
    engine: str
    root: int
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    forward: tuple[Step, ...]
    backward: tuple[Step, ...]

    @staticmethod
    def of(
        root: Value,
        names: Mapping[str, Value] | None = None,
        *,
        title: str = "",
        written: Written | None = None,
    ) -> Trace:
        """The trace of ``root``: one fresh backward pass seeded with 1.

        ``names`` name Values, before their labels; a named leaf is shown even when ``root`` does not depend on it.
        ``written(node, slot)`` gives the source text of a node, or of its operand in a slot.

        Raises what ``backward()`` would raise, and TraceError should the steps and the engine ever disagree.
        """
        from .build import build

        return build(root, names or {}, title, written)

    def node(self, name: str) -> Node:
        """The node called ``name``. Raises KeyError when there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    @property
    def leaves(self) -> list[Node]:
        return [node for node in self.nodes if node.kind == "leaf"]

    @property
    def operations(self) -> list[Node]:
        """The nodes that were computed, in the order in which they were."""
        return [node for node in self.nodes if node.kind == "operation"]

    def operands(self) -> dict[int, list[Edge]]:
        """For each node the edges of its operands, in slot order."""
        return _grouped((edge.result, edge) for edge in self.edges)

    def ledger(self) -> dict[int, list[Addition]]:
        """For each node the contributions it received, in the order in which they were added."""
        return _grouped((item.target, item) for step in self.backward for item in step.additions)

    def to_json(self, indent: int | None = None) -> str:
        """The trace as JSON, in ASCII, following ``schema.json``. NaN and infinities are strings."""
        from .codec import encode

        return encode(self, indent)

    @staticmethod
    def from_json(text: str | bytes) -> Trace:
        """Read what ``to_json`` wrote. Raises DataError, saying what is wrong and where."""
        from .reader import decode

        return decode(text)


Item = TypeVar("Item")


def _grouped(pairs: Iterable[tuple[int, Item]]) -> dict[int, list[Item]]:
    groups: dict[int, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups
