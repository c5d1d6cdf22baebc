"""Builds a trace: reads the graph from the engine, names it, and walks it backward with every ``+=`` written down."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

from .. import engine
from ..engine import Value
from ..engine.source_lines import location_of
from .derivative_text import Derivatives, Operand, formula_latex, formula_text
from .graph import Graph
from .notation import fill
from .sentences import INPUTS, SENTENCES, listed
from .trace import Addition, Edge, Node, Step, Trace, TraceError, Written

__all__ = ["Walk", "build"]


def build(root: Value, names: Mapping[str, Value], title: str, written: Written | None) -> Trace:
    """The trace of ``root``; see :meth:`Trace.of`."""
    return Walk(root, names, written).trace(title)


class Walk(Graph):
    """A graph while its trace is being built, with every edge and step."""

    def __init__(self, root: Value, names: Mapping[str, Value], written: Written | None = None) -> None:
        super().__init__(root, names, written)
        self.grads = [0.0] * len(self.about)
        self.edges: list[Edge] = []
        self.edges_of: dict[Value, list[Edge]] = {}
        for node in self.interior:
            self.add_edges(node)
        self.backward: list[Step] = []

    def trace(self, title: str = "") -> Trace:
        """Walk the graph backward, compare with the engine, and put everything together."""
        self.walk_backward()
        self.verify()
        return Trace(
            title,
            engine.ENGINE,
            self.ids[self.root],
            tuple(self.nodes()),
            tuple(self.edges),
            tuple(self.forward_steps()),
            tuple(self.backward),
        )

    # --- the nodes ----------------------------------------------------------------------------------

    def formula(self, node: Value, texts: Sequence[str]) -> str:
        return formula_text(engine.row_name(node), node._op, texts, engine.output_index(node))

    def symbols(self, node: Value) -> str:
        """The node's formula in its operands' names; a constant condition of ``where`` as it was written."""
        texts = [operand.name for operand in self.operands_of(node)]
        if engine.row_name(node) == "where":
            texts[0] = self.constant_text.get(self.inputs[node][0]) or texts[0]
        return self.formula(node, texts)

    def nodes(self) -> Iterable[Node]:
        for number, (about, value) in enumerate(zip(self.about, self.values, strict=True)):
            if value is None:
                text = self.constant_text[number]
                yield Node(number, about.name, "constant", "", "", about.data, None, text, "", about.latex, None)
            elif value not in self.inputs:
                grad = self.grads[number]
                yield Node(number, about.name, "leaf", "", "", about.data, grad, about.name, "", about.latex, None)
            else:
                yield self.operation(number, about, value)

    def operation(self, number: int, about: Operand, value: Value) -> Node:
        row = engine.row_name(value)
        right = formula_latex(row, value._op, self.operands_of(value), engine.output_index(value))
        return Node(
            id=number,
            name=about.name,
            kind="operation",
            op=value._op,
            row=row,
            data=about.data,
            grad=self.grads[number],
            expression=self.written(value, None),
            formula=self.symbols(value),
            latex=f"{about.latex} = {right}",
            source=location_of(value),
        )

    def forward_steps(self) -> Iterable[Step]:
        given = tuple(number for number, value in enumerate(self.values) if value is None or value not in self.inputs)
        shown = self.leaves if len(self.leaves) <= INPUTS else self.leaves[: INPUTS // 2]
        texts = [fill(SENTENCES["input"], name=self.names[leaf], data=repr(leaf.data)) for leaf in shown]
        if more := len(self.leaves) - len(shown):
            texts.append(fill(SENTENCES["moreInputs"], count=more))
        yield Step("inputs", given, ", ".join(texts))
        for node in self.interior:
            numbers = self.formula(node, [repr(operand.data) for operand in self.operands_of(node)])
            parts = [self.names[node], self.symbols(node), numbers, repr(node.data)]
            if numbers == parts[-1]:  # -2.0 = -2.0
                parts.pop()
            yield Step("operation", (self.ids[node],), " = ".join(parts))

    # --- the edges ----------------------------------------------------------------------------------

    def add_edges(self, node: Value) -> None:
        operands, result = self.operands_of(node), self.about[self.ids[node]]
        locals_ = self.locals_of(node, operands)
        measured = node in self.measured
        own_derivative = fill(SENTENCES["ownDerivative"], name=result.name)
        rules = Derivatives("user" if measured else engine.row_name(node), operands, result)
        own = []
        for slot, (local, zero) in enumerate(locals_):
            number, text, latex = self.inputs[node][slot], "", ""
            if local is not None:
                text = own_derivative if measured else "0.0" if zero else rules.text(slot, local)
                latex = rules.latex(slot, local)
            own.append(Edge(len(self.edges) + slot, number, self.ids[node], slot, local, text, latex, zero))
        self.edges.extend(own)
        self.edges_of[node] = own

    # --- the pass -----------------------------------------------------------------------------------

    def walk_backward(self) -> None:
        """Simulate the pass: seed the root, then visit the operations from the newest to the oldest."""
        number = self.ids[self.root]
        self.grads[number] = 1.0
        self.backward.append(Step("seed", (number,), fill(SENTENCES["seed"], name=self.names[self.root])))
        for node in reversed(self.interior):
            self.backward.append(self.visit(node))

    def visit(self, node: Value) -> Step:
        number = self.ids[node]
        name, grad = self.about[number].name, self.grads[number]
        said = {
            "visit": fill(SENTENCES["visit"], name=name, formula=self.symbols(node)),
            "name": name,
            "grad": repr(grad),
        }
        if grad == 0.0:
            return Step("visit", (number,), fill(SENTENCES["stopped"], **said))
        edges = [edge for edge in self.edges_of[node] if edge.local is not None]
        contributions = [0.0 if edge.local is None else edge.local * grad for edge in edges]
        if node in self.measured:
            contributions = self.measure(node, grad)
        additions = [
            self.add(node, edge, contribution, grad)
            for edge, contribution in zip(edges, contributions, strict=True)
            if not edge.zero and not (node in self.measured and contribution == 0.0)
        ]
        targets = listed([self.about[item.target].name for item in additions])
        text = fill(SENTENCES["flows" if additions else "flowsNowhere"], targets=targets, **said)
        if closed := [self.about[edge.operand].name for edge in edges if edge.zero]:
            text += fill(SENTENCES["closed"], targets=listed(closed))
        return Step("visit", (number,), text, tuple(additions))

    def add(self, node: Value, edge: Edge, contribution: float, grad: float) -> Addition:
        before = self.grads[edge.operand]
        after = self.grads[edge.operand] = before + contribution
        text = fill(
            SENTENCES["ownAddition" if node in self.measured else "addition"],
            target=self.about[edge.operand].name,
            sign="+=",
            formula=edge.formula,
            name=self.names[node],
            local=repr(edge.local),
            upstream=repr(grad),
            contribution=repr(contribution),
        )
        return Addition(edge.id, edge.operand, before, contribution, after, text)

    def verify(self) -> None:
        """Raise TraceError unless the engine's own pass gives the same bits."""
        values = [value for value in self.values if value is not None]
        if not self.interior:
            return
        for value, theirs in zip(values, engine.gradients(self.root, 1.0, values), strict=True):
            ours = self.grads[self.ids[value]]
            if struct.pack("<d", ours) != struct.pack("<d", theirs) and not (ours != ours and theirs != theirs):
                raise TraceError(
                    f"the steps give {self.names[value]}.grad = {ours!r} and the engine {theirs!r}; "
                    "please report this with the expression or the program that led to it"
                )
