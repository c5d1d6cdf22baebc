"""Builds a trace: reads the graph from the engine, names it, and walks it backward with every ``+=`` written down."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .. import engine
from ..engine import Value
from ..errors import MissingDerivativeError
from ..reference.rules import NARY_RULES, RULES
from ..sources import location_of
from .expression import unused_names
from .symbols import Derivatives, Operand, formula_latex, formula_text
from .trace import Addition, Edge, Node, Step, Trace, TraceError, Written

__all__ = ["Graph", "build"]

#: The longest label that is shown whole.
_LABEL = 40
#: From this many inputs on, the first step names only some of them.
_INPUTS = 16


def build(root: Value, names: Mapping[str, Value], title: str, written: Written | None) -> Trace:
    """The trace of ``root``; see :meth:`Trace.of`."""
    return Graph(root, names, written).trace(title)


class Graph:
    """One graph while its trace is being built. Node numbers are list positions everywhere."""

    def __init__(self, root: Value, names: Mapping[str, Value], written: Written | None = None) -> None:
        self.root = root
        self.written = written or (lambda node, slot: "")
        self.interior = engine.interior(root)
        self.slots: dict[Value, tuple[Value | float, ...]] = {node: engine.operands(node) for node in self.interior}
        self.leaves = self.find_leaves(names)
        self.names = _named(root, self.leaves, self.interior, names)
        self.about: list[Operand] = []  #: every node's name and data
        self.values: list[Value | None] = []  #: the Value of every node, None for a constant
        self.ids: dict[Value, int] = {}
        self.inputs: dict[Value, list[int]] = {}  #: for an interior node, the node numbers of its operands
        self.constant_text: dict[int, str] = {}
        self.number_nodes()
        self.grads = [0.0] * len(self.about)
        self.edges: list[Edge] = []
        self.edges_of: dict[Value, list[Edge]] = {}
        self.measured: set[Value] = set()  #: nodes whose contributions come from a user's function
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

    def find_leaves(self, names: Mapping[str, Value]) -> list[Value]:
        """The leaves: those that were named, in that order, then the others in order of first use."""
        interior = set(self.interior)
        found = {value: None for value in names.values() if value not in interior and not engine.row_name(value)}
        if self.root not in interior:
            found[self.root] = None
        for node in self.interior:
            for operand in self.slots[node]:
                if isinstance(operand, Value) and operand not in interior and not engine.is_constant(operand):
                    found[operand] = None
        return list(found)

    def number_nodes(self) -> None:
        """Number the leaves, then each operation after the constants it uses."""
        for leaf in self.leaves:
            self.add_value(leaf)
        for node in self.interior:
            inputs = []
            for slot, operand in enumerate(self.slots[node]):
                if isinstance(operand, Value) and operand in self.ids:
                    inputs.append(self.ids[operand])
                else:
                    inputs.append(self.add_constant(operand, self.written(node, slot)))
            self.inputs[node] = inputs
            self.add_value(node)

    def add_value(self, value: Value) -> None:
        self.ids[value] = len(self.about)
        self.about.append(Operand(self.names[value], value.data))
        self.values.append(value)

    def add_constant(self, operand: Value | float, text: str) -> int:
        number = operand.data if isinstance(operand, Value) else operand
        self.constant_text[len(self.about)] = text
        self.about.append(Operand(repr(number), number, constant=True))
        self.values.append(None)
        return len(self.about) - 1

    # --- the nodes ----------------------------------------------------------------------------------

    def operands_of(self, node: Value) -> list[Operand]:
        return [self.about[number] for number in self.inputs[node]]

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
        texts = [f"{self.about[self.ids[leaf]].name} = {leaf.data!r}" for leaf in self.leaves]
        if len(texts) > _INPUTS:
            texts = [*texts[: _INPUTS // 2], f"and {len(texts) - _INPUTS // 2} more inputs"]
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
        rules = Derivatives("user" if measured else engine.row_name(node), operands, result)
        own = []
        for slot, (local, zero) in enumerate(locals_):
            number, text, latex = self.inputs[node][slot], "", ""
            if local is not None:
                text = f"{result.name}._backward()" if measured else "0.0" if zero else rules.text(slot, local)
                latex = rules.latex(slot, local)
            own.append(Edge(len(self.edges) + slot, number, self.ids[node], slot, local, text, latex, zero))
        self.edges.extend(own)
        self.edges_of[node] = own

    def locals_of(self, node: Value, operands: Sequence[Operand]) -> list[tuple[float | None, bool]]:
        """The local derivative for each slot (None for a constant), and whether it is structurally zero."""
        row = engine.row_name(node)
        variable = [slot for slot, operand in enumerate(operands) if not operand.constant]
        try:
            known = node._local_grads
        except MissingDerivativeError:
            self.measured.add(node)
            measured = iter(self.measure(node, 1.0))
            return [(next(measured), False) if slot in variable else (None, False) for slot in range(len(operands))]
        if len(known) == len(operands):
            known = tuple(known[slot] for slot in variable)
        partials: Sequence[float | None] = known
        rule = RULES.get(row) or NARY_RULES.get(row)
        if rule is not None:
            numbers = [operand.data for operand in operands]
            partials = rule.derivatives(numbers, node.data, variable, engine.output_index(node))
        result: list[tuple[float | None, bool]] = [(None, False)] * len(operands)
        for slot, local, partial in zip(variable, known, partials, strict=True):
            result[slot] = (local, partial is None)
        return result

    def measure(self, node: Value, upstream: float) -> list[float]:
        """What a user's ``_backward`` adds to each operand when ``node.grad`` is ``upstream``.

        Every ``.grad`` is put back as it was. An operand that stands in several slots gets all of it in the first.
        """
        operands = [operand for operand in self.slots[node] if isinstance(operand, Value)]
        kept = [(value, value.grad) for value in {node: None, **dict.fromkeys(operands)}]
        try:
            for value, _ in kept:
                value.grad = 0.0
            node.grad = upstream
            node._backward()
            added = {operand: operand.grad for operand in operands}
        finally:
            for value, grad in kept:
                value.grad = grad
        return [added.pop(operand, 0.0) for operand in operands]

    # --- the pass -----------------------------------------------------------------------------------

    def walk_backward(self) -> None:
        """Simulate the pass: seed the root, then visit the operations from the newest to the oldest."""
        number = self.ids[self.root]
        self.grads[number] = 1.0
        self.backward.append(Step("seed", (number,), f"{self.about[number].name}.grad = 1.0"))
        for node in reversed(self.interior):
            self.backward.append(self.visit(node))

    def visit(self, node: Value) -> Step:
        number = self.ids[node]
        name, grad = self.about[number].name, self.grads[number]
        head = f"{name} = {self.symbols(node)}"
        if grad == 0.0:
            return Step("visit", (number,), f"{head}: {name}.grad is {grad!r}, so nothing flows on.")
        edges = [edge for edge in self.edges_of[node] if edge.local is not None]
        contributions = [0.0 if edge.local is None else edge.local * grad for edge in edges]
        if node in self.measured:
            contributions = self.measure(node, grad)
        additions = [
            self.add(edge, contribution, name, grad)
            for edge, contribution in zip(edges, contributions, strict=True)
            if not edge.zero and not (node in self.measured and contribution == 0.0)
        ]
        text = f"{head}: {name}.grad = {grad!r} flows on to {_listed(self.target_names(additions))}."
        if not additions:
            text = f"{head}: nothing flows on."
        closed = list(dict.fromkeys(self.about[edge.operand].name for edge in edges if edge.zero))
        if closed:
            text += f" Nothing flows to {_listed(closed)}: the local derivative there is zero."
        return Step("visit", (number,), text, tuple(additions))

    def target_names(self, additions: Sequence[Addition]) -> list[str]:
        return list(dict.fromkeys(self.about[item.target].name for item in additions))

    def add(self, edge: Edge, contribution: float, name: str, grad: float) -> Addition:
        before = self.grads[edge.operand]
        after = self.grads[edge.operand] = before + contribution
        left = f"{self.about[edge.operand].name}.grad += {edge.formula}"
        if edge.formula.endswith("._backward()"):
            text = f"{left} = {contribution!r}"
        else:
            text = f"{left} * {name}.grad = {edge.local!r} * {grad!r} = {contribution!r}"
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


def _listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``, or ``a, b, c and 13 more``."""
    if len(names) > 6:
        names = [*names[:5], f"{len(names) - 5} more"]
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1] if names else "") if part)


# --- names ----------------------------------------------------------------------------------------


def _named(
    root: Value, leaves: Sequence[Value], interior: Sequence[Value], given: Mapping[str, Value]
) -> dict[Value, str]:
    """A unique name for every Value: the given one, its label, or a letter that is left over."""
    wanted = {value: name for name, value in reversed(list(given.items()))}
    named: dict[Value, str] = {}
    unique = _unique()
    everything = [*leaves, *interior]
    for value in everything:
        text = _clean(wanted.get(value) or value.label)
        if text:
            named[value] = unique(text)
    taken = set(named.values()) | {"L"}
    if root not in named:
        letters = unused_names(taken)
        named[root] = "L" if "L" not in named.values() else next(letters)
        taken.add(named[root])
    bare = [value for value in leaves if value not in named]
    letters = unused_names(taken) if len(bare) <= 12 else _numbered("x", taken)
    for value in bare:
        named[value] = next(letters)
    letters = unused_names(taken | set(named.values()))
    for value in interior:
        if value not in named:
            named[value] = next(letters)
    return named


def _clean(label: str) -> str:
    """A label fit to be shown on one line and inside code quotes."""
    shown = "".join(character if character.isprintable() and character != "`" else " " for character in label)
    shown = " ".join(shown.split())
    return shown if len(shown) <= _LABEL else shown[: _LABEL - 3] + "..."


def _unique() -> Callable[[str], str]:
    counts: dict[str, int] = {}

    def unique(name: str) -> str:
        result = name
        while result in counts:
            counts[name] += 1
            result = f"{name}_{counts[name]}"
        counts[result] = 1
        return result

    return unique


def _numbered(stem: str, taken: set[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"{stem}{number}" not in taken:
            yield f"{stem}{number}"
