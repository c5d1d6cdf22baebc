"""What a figure shows: a graph of Values with its trace, and every number that a chapter's text asks it for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...engine import Value
from ...errors import DataError, RetrogradError
from ...explorer.explorer import VERSION
from ...trace.callgraph import Calls
from ...trace.codec import pack
from ...trace.expression import parse
from ...trace.trace import Addition, Node, Trace

__all__ = ["Figure", "written"]

_ASSIGNMENT = re.compile(r"\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)(?P<text>.*)", re.DOTALL)


@dataclass(frozen=True)
class Figure:
    """A graph, and what is known of it. ``facts`` are further numbers that a program in Python computed."""

    name: str
    root: Value
    leaves: Mapping[str, Value]
    title: str = ""
    program: str = ""  #: the assignments that it was written as; empty for one that Python computed
    calls: Calls | None = None
    fold: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)  #: what the page's panel needs besides the trace

    @cached_property
    def trace(self) -> Trace:
        """Every step of one forward and one backward pass."""
        return Trace.of(self.root, self.leaves, title=self.title)

    def packed(self) -> dict[str, Any]:
        """The trace as the page reads it."""
        trace = pack(self.root, self.leaves, title=self.title, calls=self.calls, fold=self.fold)
        return {"format": "retrograd-explorer", "version": VERSION, "trace": trace}

    def node(self, name: str) -> Node:
        """The node with this name. Raises DataError when there is none."""
        try:
            return self.trace.node(name)
        except KeyError:
            names = ", ".join(node.name for node in self.trace.nodes if node.kind != "constant")
            raise DataError(f"the figure {self.name} has no {name}; it has {names[:200]}.") from None

    # --- other numbers ------------------------------------------------------------------------------

    def at(self, **values: float) -> Figure:
        """The same program with other numbers for some inputs."""
        if not self.program:
            raise DataError(f"the figure {self.name} was computed in Python: its inputs cannot be changed here.")
        for name in values:
            if name not in self.leaves:
                raise DataError(f"the figure {self.name} has no input {name}; it has {', '.join(self.leaves)}.")
        return written(self.name, self.program, values)

    def downhill(self, rate: float, *names: str) -> Figure:
        """One step down: each named input (all without names) less ``rate`` times its gradient."""
        moved = names or tuple(self.leaves)
        return self.at(**{name: self.node(name).data - rate * (self.node(name).grad or 0.0) for name in moved})

    # --- steps --------------------------------------------------------------------------------------

    def step(self, place: str) -> int:
        """The number, from 0, of a step by its name.

        ``start`` and ``end``; ``computed``, the end of the forward pass; ``seed``; ``forward-NAME``, in which a node
        gets its number; ``visit-NAME``, in which it passes its gradient on. Raises DataError for anything else.
        """
        first = len(self.trace.forward)
        fixed = {"start": 0, "computed": first - 1, "seed": first, "end": first + len(self.trace.backward) - 1}
        if place in fixed:
            return fixed[place]
        kind, _, name = place.partition("-")
        if kind not in ("forward", "visit"):
            raise DataError(f"{place} is no step: write start, computed, seed, end, forward-NAME or visit-NAME.")
        node = self.node(name).id
        steps, offset = (self.trace.forward, 0) if kind == "forward" else (self.trace.backward, first)
        for number, step in enumerate(steps):
            if step.kind in ("operation", "visit") and node in step.nodes:
                return offset + number
        raise DataError(f"{place} is no step of the figure {self.name}: an input is neither computed nor visited.")

    def edge(self, operand: str, result: str) -> int:
        """The first edge from one node to another."""
        ends = self.node(operand).id, self.node(result).id
        for edge in self.trace.edges:
            if (edge.operand, edge.result) == ends:
                return edge.id
        raise DataError(f"in the figure {self.name} {result} does not use {operand}.")

    def local(self, result: str, operand: str) -> float:
        """The local derivative of one node by another, whose uses in it are added up."""
        ends = self.node(operand).id, self.node(result).id
        found = [edge.local or 0.0 for edge in self.trace.edges if (edge.operand, edge.result) == ends]
        if not found:
            raise DataError(f"in the figure {self.name} {result} does not use {operand}.")
        return sum(found)

    def contributions(self, name: str) -> list[Addition]:
        """Every ``+=`` into a node's gradient, in the order in which they were made."""
        return self.trace.ledger().get(self.node(name).id, [])

    # --- wrong passes -------------------------------------------------------------------------------

    def wrong(self, order: Sequence[str] | None = None, assign: bool = False) -> dict[str, float]:
        """The gradients of a pass that is wrong on purpose, by name.

        Args:
            order: The nodes in the order in which they are visited, inputs among them or not: an input's gradient is
                what it was when the input was visited.
            assign: ``=`` where ``+=`` belongs.
        """
        trace = self.trace
        grads = {node.id: 0.0 for node in trace.nodes}
        grads[trace.root] = 1.0
        read: dict[int, float] = {}
        edges = trace.operands()
        visits = [node.id for node in reversed(trace.operations)] if order is None else [self.node(n).id for n in order]
        for visited in visits:
            read[visited] = grads[visited]
            for edge in edges.get(visited, []):
                if edge.local is None or edge.zero or not grads[visited]:
                    continue
                before = 0.0 if assign else grads[edge.operand]
                grads[edge.operand] = before + edge.local * grads[visited]
        inputs = {node.id for node in trace.leaves}
        return {
            node.name: read.get(node.id, grads[node.id]) if node.id in inputs else grads[node.id]
            for node in trace.nodes
        }

    def late(self, order: Sequence[str]) -> list[tuple[str, str]]:
        """What an order does wrong: each pair of a node that was visited before a node that uses it."""
        position = {self.node(name).id: place for place, name in enumerate(order)}
        names = [node.name for node in self.trace.nodes]
        pairs = {
            (names[edge.operand], names[edge.result])
            for edge in self.trace.edges
            if edge.operand in position and edge.result in position and position[edge.operand] < position[edge.result]
        }
        return sorted(pairs)

    @property
    def players(self) -> list[str]:
        """The nodes that an order consists of: all but constants."""
        return [node.name for node in self.trace.nodes if node.kind != "constant"]


def written(name: str, program: str, values: Mapping[str, float] | None = None) -> Figure:
    """The figure of assignments such as ``a = 2; b = a * a``; plain numbers are inputs, which ``values`` may replace.

    Raises DataError where the program cannot be read or has no value.
    """
    known: dict[str, Value] = {}
    leaves: dict[str, Value] = {}
    last: Value | None = None
    for statement in filter(str.strip, re.split(r"[;\n]", program)):
        match = _ASSIGNMENT.fullmatch(statement)
        if match is None:
            raise DataError(f"a figure's program has lines name = …, and this is none: {statement.strip()!r}.")
        target, text = match["name"], match["text"].strip()
        try:
            number = float(text)
        except ValueError:
            last = known[target] = _recorded(name, target, text, known)
            continue
        leaves[target] = known[target] = Value((values or {}).get(target, number), label=target)
    if last is None:
        raise DataError(f"the program of the figure {name} computes nothing: its last line uses no other.")
    title = "; ".join(" ".join(statement.split()) for statement in re.split(r"[;\n]", program) if statement.strip())
    return Figure(name, last, leaves, title, program)


def _recorded(figure: str, target: str, text: str, known: Mapping[str, Value]) -> Value:
    try:
        expression = parse(text)
        result = expression.evaluate({own: known[own] for own in expression.names if own in known}).root
    except RetrogradError as error:
        raise DataError(f"in the figure {figure}, {target} = {text}: {error}") from None
    if any(result is value for value in known.values()):
        raise DataError(f"in the figure {figure}, {target} = {text} only gives a second name: compute something.")
    result.label = target
    return result
