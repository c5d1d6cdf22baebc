"""Builds a trace: walks a graph backward and writes down every ``+=``, as numbers and in sentences."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .. import engine
from ..engine import Value
from ..engine.source_lines import Location, location_of
from .derivative_text import Derivatives, Operand, formula_latex, formula_text
from .graph import Graph
from .notation import fill
from .sentences import INPUTS, SENTENCES, listed
from .trace import Addition, Edge, Node, Step, Trace, TraceError, Written

__all__ = ["Operation", "TraceBuilder", "build", "trace_of"]


def build(root: Value, names: Mapping[str, Value], title: str, written: Written | None) -> Trace:
    """The trace of ``root``; see :meth:`Trace.of`."""
    return trace_of(Graph(root, names, written), title)


def trace_of(graph: Graph, title: str = "") -> Trace:
    """The trace of a graph. Raises TraceError unless its steps give the engine's gradients, bit for bit."""
    operations = {graph.ids[value]: _operation(graph, value) for value in graph.interior}
    root = graph.ids[graph.root]
    trace = TraceBuilder(graph.about, operations, graph.constant_text).trace(title, engine.ENGINE, root)
    _verify(trace, graph)
    return trace


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a graph, as a trace is built from it."""

    op: str
    row: str
    output: int
    operands: Sequence[int]
    locals: Sequence[tuple[float | None, bool]]  #: for each slot: None for a constant; whether it is structurally zero
    expression: str = ""
    source: Location | None = None
    #: What a ``_backward`` that the user wrote adds to each operand, given the node's gradient, constants left out.
    own: Callable[[float], Sequence[float]] | None = None


def _operation(graph: Graph, value: Value) -> Operation:
    locals_ = graph.locals_of(value, graph.operands_of(value))
    return Operation(
        value._op,
        engine.row_name(value),
        engine.output_index(value),
        graph.inputs[value],
        locals_,
        graph.written(value, None),
        location_of(value),
        (lambda upstream: graph.measure(value, upstream)) if value in graph.measured else None,
    )


@dataclass(slots=True)
class TraceBuilder:
    """A trace while it is built, from the nodes of a graph and its operations by node number."""

    about: Sequence[Operand]
    operations: Mapping[int, Operation]
    constant_text: Mapping[int, str]
    grads: list[float] = field(init=False)
    edges: list[Edge] = field(default_factory=list)
    edges_of: dict[int, list[Edge]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.grads = [0.0] * len(self.about)
        for number in self.operations:
            self.add_edges(number)

    def trace(self, title: str, engine_name: str, root: int) -> Trace:
        """Walk the graph backward from the root and put everything together."""
        backward = tuple(self.walk_backward(root))
        return Trace(
            title, engine_name, root, tuple(self.nodes()), tuple(self.edges), tuple(self.forward_steps()), backward
        )

    # --- the nodes ----------------------------------------------------------------------------------

    def operands(self, number: int) -> list[Operand]:
        return [self.about[operand] for operand in self.operations[number].operands]

    def formula(self, number: int, texts: Sequence[str]) -> str:
        operation = self.operations[number]
        return formula_text(operation.row, operation.op, texts, operation.output)

    def symbols(self, number: int) -> str:
        """The node's formula in its operands' names; a constant condition of ``where`` as it was written."""
        texts = [operand.name for operand in self.operands(number)]
        if self.operations[number].row == "where":
            texts[0] = self.constant_text.get(self.operations[number].operands[0]) or texts[0]
        return self.formula(number, texts)

    def nodes(self) -> Iterable[Node]:
        for number, about in enumerate(self.about):
            if number in self.operations:
                yield self.operation(number, about)
            elif about.constant:
                text = self.constant_text.get(number, "")
                yield Node(number, about.name, "constant", "", "", about.data, None, text, "", about.latex, None)
            else:
                grad = self.grads[number]
                yield Node(number, about.name, "leaf", "", "", about.data, grad, about.name, "", about.latex, None)

    def operation(self, number: int, about: Operand) -> Node:
        operation = self.operations[number]
        right = formula_latex(operation.row, operation.op, self.operands(number), operation.output)
        return Node(
            id=number,
            name=about.name,
            kind="operation",
            op=operation.op,
            row=operation.row,
            data=about.data,
            grad=self.grads[number],
            expression=operation.expression,
            formula=self.symbols(number),
            latex=f"{about.latex} = {right}",
            source=operation.source,
            output=operation.output,
            own=operation.own is not None,
        )

    def forward_steps(self) -> Iterable[Step]:
        given = tuple(number for number in range(len(self.about)) if number not in self.operations)
        leaves = [self.about[number] for number in given if not self.about[number].constant]
        shown = leaves if len(leaves) <= INPUTS else leaves[: INPUTS // 2]
        texts = [fill(SENTENCES["input"], name=leaf.name, data=repr(leaf.data)) for leaf in shown]
        if more := len(leaves) - len(shown):
            texts.append(fill(SENTENCES["moreInputs"], count=more))
        yield Step("inputs", given, ", ".join(texts))
        for number in self.operations:
            numbers = self.formula(number, [repr(operand.data) for operand in self.operands(number)])
            parts = [self.about[number].name, self.symbols(number), numbers, repr(self.about[number].data)]
            if numbers == parts[-1]:  # -2.0 = -2.0
                parts.pop()
            yield Step("operation", (number,), " = ".join(parts))

    # --- the edges ----------------------------------------------------------------------------------

    def add_edges(self, number: int) -> None:
        operation, result = self.operations[number], self.about[number]
        rules = Derivatives("user" if operation.own else operation.row, self.operands(number), result)
        own = fill(SENTENCES["ownDerivative"], name=result.name) if operation.own else ""
        edges = []
        for slot, (operand, (local, zero)) in enumerate(zip(operation.operands, operation.locals, strict=True)):
            text, latex = "", ""
            if local is not None:
                text = own or ("0.0" if zero else rules.text(slot, local))
                latex = rules.latex(slot, local)
            edges.append(Edge(len(self.edges) + slot, operand, number, slot, local, text, latex, zero))
        self.edges += edges
        self.edges_of[number] = edges

    # --- the pass -----------------------------------------------------------------------------------

    def walk_backward(self, root: int) -> Iterable[Step]:
        """Simulate the pass: seed the root, then visit the operations from the newest to the oldest."""
        self.grads[root] = 1.0
        yield Step("seed", (root,), fill(SENTENCES["seed"], name=self.about[root].name))
        for number in reversed([*self.operations]):
            yield self.visit(number)

    def visit(self, number: int) -> Step:
        name, grad, own = self.about[number].name, self.grads[number], self.operations[number].own
        visit = fill(SENTENCES["visit"], name=name, formula=self.symbols(number))
        said = {"visit": visit, "name": name, "grad": repr(grad)}
        if grad == 0.0:
            return Step("visit", (number,), fill(SENTENCES["stopped"], **said))
        edges = [edge for edge in self.edges_of[number] if edge.local is not None]
        contributions = own(grad) if own else [edge.local * grad for edge in edges if edge.local is not None]
        additions = [
            self.add(edge, contribution, grad)
            for edge, contribution in zip(edges, contributions, strict=True)
            if not edge.zero and not (own and contribution == 0.0)
        ]
        amounts: dict[str, list[str]] = {}
        for item in additions:
            amounts.setdefault(self.about[item.target].name, []).append(repr(item.contribution))
        shares = [fill(SENTENCES["share"], name=name, amount=" + ".join(own)) for name, own in amounts.items()]
        closed = listed([self.about[edge.operand].name for edge in edges if edge.zero])
        if additions:
            text = fill(SENTENCES["flows"], shares=listed(shares), **said)
            text += fill(SENTENCES["closed"], targets=closed) if closed else ""
        else:
            text = fill(SENTENCES["allClosed" if closed else "flowsNowhere"], targets=closed, **said)
        return Step("visit", (number,), text, tuple(additions))

    def add(self, edge: Edge, contribution: float, grad: float) -> Addition:
        before = self.grads[edge.operand]
        after = self.grads[edge.operand] = before + contribution
        text = fill(
            SENTENCES["ownAddition" if self.operations[edge.result].own else "addition"],
            target=self.about[edge.operand].name,
            sign="+=",
            formula=edge.formula,
            name=self.about[edge.result].name,
            local=repr(edge.local),
            upstream=repr(grad),
            contribution=repr(contribution),
        )
        return Addition(edge.id, edge.operand, before, contribution, after, text)


def _verify(trace: Trace, graph: Graph) -> None:
    """Raise TraceError unless the engine's own pass gives the same bits."""
    values = [value for value in graph.values if value is not None]
    if not graph.interior:
        return
    for value, theirs in zip(values, engine.gradients(graph.root, 1.0, values), strict=True):
        ours = trace.nodes[graph.ids[value]].grad
        if ours is None or not same(ours, theirs):
            raise TraceError(
                f"the steps give {graph.names[value]}.grad = {ours!r} and the engine {theirs!r}; "
                "please report this with the expression or the program that led to it"
            )


def same(x: float, y: float) -> bool:
    """Whether two floats have the same bits, or are both not a number."""
    return struct.pack("<d", x) == struct.pack("<d", y) or (x != x and y != y)
