"""The graph of a Value, numbered and named: what every form of a trace starts from.

Node numbers are list positions: the leaves first, then each operation after the constants that it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from .. import engine
from ..engine import Value
from ..engine.reference.rules import NARY_RULES, RULES
from ..errors import MissingDerivativeError
from .derivative_text import Operand
from .expression import unused_names
from .trace import Written

__all__ = ["Graph"]

#: The longest label that is shown whole.
_LABEL = 40


class Graph:
    """The graph of ``root``: its nodes, their names, numbers and operands, and the local derivatives."""

    def __init__(self, root: Value, names: Mapping[str, Value], written: Written | None = None) -> None:
        self.root = root
        self.written: Written = written or (lambda node, slot: "")
        self.interior: list[Value] = engine.interior(root)
        self.slots: dict[Value, tuple[Value | float, ...]] = {node: engine.operands(node) for node in self.interior}
        self.leaves: list[Value] = self.find_leaves(names)
        self.names: dict[Value, str] = _named(root, self.leaves, self.interior, names)
        self.about: list[Operand] = []  #: every node's name and data
        self.values: list[Value | None] = []  #: the Value of every node, None for a constant
        self.ids: dict[Value, int] = {}
        self.inputs: dict[Value, list[int]] = {}  #: for an interior node, the node numbers of its operands
        self.constant_text: dict[int, str] = {}
        self.measured: set[Value] = set()  #: nodes whose contributions come from a user's function
        self.number_nodes()

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

    def operands_of(self, node: Value) -> list[Operand]:
        return [self.about[number] for number in self.inputs[node]]

    # --- local derivatives --------------------------------------------------------------------------

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

    @engine.backward_lock()
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


# --- names ----------------------------------------------------------------------------------------


def _named(
    root: Value, leaves: Sequence[Value], interior: Sequence[Value], given: Mapping[str, Value]
) -> dict[Value, str]:
    """A unique name for every Value: the given one, its label, or an unused letter."""
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
