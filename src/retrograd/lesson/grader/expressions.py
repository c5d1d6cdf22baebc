"""Small expressions as data: written with ``+`` and ``*``, run on any Value class, and printed as code to paste."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Expression", "Node", "Symbol", "apply", "number_text", "random_expression", "record"]

#: Binary operations by the sign that a program writes.
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "*": operator.mul,
    "-": operator.sub,
    "/": operator.truediv,
    "**": operator.pow,
}
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "**": 4}


@dataclass(frozen=True, slots=True)
class Node:
    """One node: a ``leaf`` (a Value), a plain ``number``, or an operation on earlier nodes."""

    operation: str
    operands: tuple[int, ...] = ()
    data: float = 0.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression as a list of nodes, operands first; the last node is the result, L."""

    nodes: tuple[Node, ...]

    @property
    def leaves(self) -> list[int]:
        """The positions of the Values that the expression starts from."""
        return [at for at, node in enumerate(self.nodes) if node.operation == "leaf"]

    @property
    def operations(self) -> list[int]:
        """The positions of the results of operations."""
        return [at for at, node in enumerate(self.nodes) if node.operation not in ("leaf", "number")]

    def at(self, data: dict[int, float]) -> Expression:
        """The same expression with other numbers at some of its leaves."""
        return Expression(
            tuple(replace(node, data=data.get(place, node.data)) for place, node in enumerate(self.nodes))
        )

    def compute(self, make: Callable[[float], Any]) -> list[Any]:
        """Every node computed with a Value class: ``make`` turns the number of a leaf into a Value."""
        results: list[Any] = []
        for node in self.nodes:
            if node.operation == "leaf":
                results.append(make(node.data))
            elif node.operation == "number":
                results.append(node.data)
            else:
                results.append(apply(node.operation, *(results[place] for place in node.operands)))
        return results

    def names(self) -> list[str]:
        """A name for each node: a leaf's own, L for the result, and the next letters for what is used twice."""
        uses = [place for node in self.nodes for place in node.operands]
        free = (letter for letter in "defghijkmnopqrstuvwxyz" if letter not in {node.name for node in self.nodes})
        names = []
        for at, node in enumerate(self.nodes):
            inner = node.operation not in ("leaf", "number")
            last = at == len(self.nodes) - 1
            names.append("L" if last and inner else node.name or (next(free) if inner and uses.count(at) > 1 else ""))
        return names

    def lines(self, cls: str = "Value", backward: bool = True) -> list[str]:
        """The expression as a program: one line for each leaf, each shared result, and L."""
        names, texts, lines = self.names(), self.texts(), []
        for at, node in enumerate(self.nodes):
            if node.operation == "leaf":
                lines.append(f"{names[at]} = {cls}({number_text(node.data)})")
            elif names[at] and node.operation != "number":
                lines.append(f"{names[at]} = {texts[at]}")
        return [*lines, f"{names[-1]}.backward()"] if backward else lines

    def texts(self) -> list[str]:
        """How each node is computed from the named ones: ``d + c``."""
        names = self.names()
        texts: list[str] = []
        for at, node in enumerate(self.nodes):
            plain = number_text(node.data) if node.operation == "number" else names[at]
            texts.append(plain if node.operation in ("leaf", "number") else self._text(node, names, texts))
        return texts

    def _text(self, node: Node, names: Sequence[str], texts: Sequence[str]) -> str:
        parts = [names[place] or self._inside(node, side, texts) for side, place in enumerate(node.operands)]
        if node.operation == "neg":
            return f"-{parts[0]}"
        if node.operation in BINARY:
            return f"{parts[0]} {node.operation} {parts[1]}"
        return f"{parts[0]}.{node.operation}()"

    def _inside(self, outer: Node, side: int, texts: Sequence[str]) -> str:
        """An operand's text, in parentheses where the operation around it would bind more tightly."""
        inner = self.nodes[outer.operands[side]]
        text = texts[outer.operands[side]]
        own = _PRECEDENCE.get(inner.operation, 5)
        around = _PRECEDENCE.get(outer.operation, 5)
        if inner.operation == "number":
            return f"({text})" if text.startswith("-") and (outer.operation == "**" or side == 1) else text
        return f"({text})" if own < around or (own == around and side == 1) or outer.operation == "**" else text


def apply(operation: str, *operands: Any) -> Any:
    """One operation on Values, as a program writes it: ``a + b``, ``-a``, ``a.tanh()``."""
    if operation == "neg":
        return operator.neg(operands[0])
    if operation in BINARY:
        return BINARY[operation](*operands)
    return getattr(operands[0], operation)()


def number_text(number: float) -> str:
    """A number as a program writes it."""
    return repr(int(number)) if isinstance(number, int) else repr(number)


# --- writing them ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """Stands for a Value while an expression is recorded."""

    at: int
    _nodes: list[Node] = field(repr=False)

    def _apply(self, operation: str, *operands: Symbol | float) -> Symbol:
        places = []
        for operand in operands:
            if not isinstance(operand, Symbol):
                self._nodes.append(Node("number", data=operand))
            places.append(operand.at if isinstance(operand, Symbol) else len(self._nodes) - 1)
        self._nodes.append(Node(operation, tuple(places)))
        return Symbol(len(self._nodes) - 1, self._nodes)

    def __add__(self, other: Symbol | float) -> Symbol:
        return self._apply("+", self, other)

    def __radd__(self, other: float) -> Symbol:
        return self._apply("+", other, self)

    def __mul__(self, other: Symbol | float) -> Symbol:
        return self._apply("*", self, other)

    def __rmul__(self, other: float) -> Symbol:
        return self._apply("*", other, self)

    def __sub__(self, other: Symbol | float) -> Symbol:
        return self._apply("-", self, other)

    def __rsub__(self, other: float) -> Symbol:
        return self._apply("-", other, self)

    def __truediv__(self, other: Symbol | float) -> Symbol:
        return self._apply("/", self, other)

    def __rtruediv__(self, other: float) -> Symbol:
        return self._apply("/", other, self)

    def __pow__(self, other: Symbol | float) -> Symbol:
        return self._apply("**", self, other)

    def __neg__(self) -> Symbol:
        return self._apply("neg", self)

    def call(self, method: str) -> Symbol:
        """The method ``method`` of this Value: ``tanh``, ``exp`` …"""
        return self._apply(method, self)


def record(program: Callable[..., Symbol], numbers: Sequence[float]) -> Expression:
    """The expression that a Python function of Values computes, its leaves named a, b, c … as they come."""
    nodes = [Node("leaf", data=number, name="abcd"[at]) for at, number in enumerate(numbers)]
    program(*(Symbol(at, nodes) for at in range(len(numbers))))
    return Expression(tuple(nodes))


def random_expression(
    draw: random.Random, operations: Sequence[str], size: int, numbers: Sequence[float], sharing: float = 0.5
) -> Expression:
    """A random expression of ``size`` operations in which everything leads to the result.

    ``sharing`` is how often an operand is one that was used already.
    """
    nodes = [Node("leaf", data=number, name="abcd"[at]) for at, number in enumerate(numbers)]
    symbols = [Symbol(at, nodes) for at in range(len(numbers))]
    unused = list(symbols)

    def operand() -> Symbol:
        if unused and draw.random() > sharing:
            return unused.pop(draw.randrange(len(unused)))
        chosen = draw.choice(symbols)
        if chosen in unused:
            unused.remove(chosen)
        return chosen

    def keep(result: Symbol) -> None:
        symbols.append(result)
        unused.append(result)

    for _ in range(size):
        operation = draw.choice(operations)
        first = operand()
        if operation == "**":
            keep(first ** draw.choice([2, 3]))
        elif operation in BINARY:
            keep(first._apply(operation, first, operand()))
        else:
            keep(first._apply(operation, first))
    joining = [operation for operation in operations if operation in ("+", "*")]
    while len(unused) > 1:
        left, right = unused.pop(), unused.pop(0)
        keep(left._apply(draw.choice(joining), left, right))
    return _ending_with(nodes, unused[0].at)


def _ending_with(nodes: Sequence[Node], last: int) -> Expression:
    """The nodes that ``last`` was computed from, ``last`` at the end."""
    needed = {last}
    for at in range(last, -1, -1):
        if at in needed:
            needed.update(nodes[at].operands)
    places = {old: new for new, old in enumerate(sorted(needed))}
    return Expression(
        tuple(
            replace(nodes[old], operands=tuple(places[place] for place in nodes[old].operands))
            for old in sorted(needed)
        )
    )


# --- making them smaller --------------------------------------------------------------------------


def smaller(expression: Expression) -> Iterator[Expression]:
    """Smaller variants: an earlier result as the end, or an operation replaced by one of its operands."""
    for at in expression.operations[:-1]:
        yield _ending_with(expression.nodes, at)
    for at in reversed(expression.operations):
        for operand in expression.nodes[at].operands:
            if expression.nodes[operand].operation != "number" and at != len(expression.nodes) - 1:
                yield _replaced(expression, at, operand)


def simpler_numbers(expression: Expression, choices: Sequence[float]) -> Iterator[Expression]:
    """The same expression with a small whole number at one leaf."""
    for at in expression.leaves:
        used = {expression.nodes[leaf].data for leaf in expression.leaves}
        for number in choices:
            if expression.nodes[at].data not in choices and number not in used:
                yield expression.at({at: number})


Fails = Callable[[Expression], bool]


def shrink(expression: Expression, fails: Fails) -> Expression:
    """The smallest expression found that still fails."""
    return _smallest(expression, fails, smaller)


def simplify(expression: Expression, fails: Fails, numbers: Sequence[float]) -> Expression:
    """The same expression with the simplest numbers found at which it still fails."""
    return _smallest(expression, fails, lambda found: simpler_numbers(found, numbers))


def _smallest(
    expression: Expression, fails: Fails, variants: Callable[[Expression], Iterator[Expression]]
) -> Expression:
    shrunk: Expression | None = expression
    while shrunk is not None:
        expression = shrunk
        shrunk = next((other for other in variants(expression) if fails(other)), None)
    return expression


def _replaced(expression: Expression, at: int, by: int) -> Expression:
    """Every use of node ``at`` replaced by node ``by``."""
    nodes = [
        replace(node, operands=tuple(by if place == at else place for place in node.operands))
        for node in expression.nodes
    ]
    return _ending_with(nodes, len(nodes) - 1)
