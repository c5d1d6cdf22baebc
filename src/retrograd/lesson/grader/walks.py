"""Backward passes with the mistakes that people make, computed on small graphs of ``+`` and ``*``.

When the gradients that came from a learner's class are those of one of these walks, on every expression that was tried,
that mistake is named. What no walk explains is told by its paths: :func:`path_counts`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .expressions import Expression

__all__ = ["MISTAKES", "Graph", "Mistake", "close", "path_counts", "paths", "recognized"]


@dataclass(frozen=True, slots=True)
class Graph:
    """An expression's nodes with their data, and for each edge the local derivative."""

    operations: tuple[str, ...]
    operands: tuple[tuple[int, ...], ...]
    data: tuple[float, ...]
    locals: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, expression: Expression) -> Graph:
        """The graph of an expression made of ``+`` and ``*``."""
        data: list[float] = []
        local: list[tuple[float, ...]] = []
        for node in expression.nodes:
            if node.operation in ("leaf", "number"):
                data.append(node.data)
                local.append(())
                continue
            left, right = (data[place] for place in node.operands)
            data.append(left + right if node.operation == "+" else left * right)
            local.append((1.0, 1.0) if node.operation == "+" else (right, left))
        return cls(
            tuple(node.operation for node in expression.nodes),
            tuple(node.operands for node in expression.nodes),
            tuple(data),
            tuple(local),
        )

    @property
    def root(self) -> int:
        """The position of the result."""
        return len(self.data) - 1


#: In which order a node's operands are visited: node by node whether the second comes first (a set has no order).
Flips = Sequence[bool]
Identity = Callable[[int], object]


def _visited(graph: Graph, node: int, flips: Flips) -> tuple[int, ...]:
    operands = graph.operands[node]
    return operands[::-1] if flips[node] else operands


def _itself(node: int) -> object:
    return node


def _postorder(graph: Graph, flips: Flips, identity: Identity = _itself, once: bool = True) -> list[int]:
    """Operands before results, depth first; without ``once`` nothing remembers what was visited."""
    order: list[int] = []
    seen: set[object] = set()

    def visit(node: int) -> None:
        if once and identity(node) in seen:
            return
        seen.add(identity(node))
        for operand in _visited(graph, node, flips):
            visit(operand)
        order.append(node)

    visit(graph.root)
    return order


def _preorder(graph: Graph, flips: Flips) -> list[int]:
    """Each node when it is first met, depth first."""
    order: list[int] = []

    def visit(node: int) -> None:
        if node not in order:
            order.append(node)
            for operand in _visited(graph, node, flips):
                visit(operand)

    visit(graph.root)
    return order


def _with_list(graph: Graph, flips: Flips, take: int, when_added: bool = False) -> list[int]:
    """Each node as it is taken from a list: from its front (``take`` 0, breadth first) or its end (-1, a stack)."""
    order: list[int] = []
    waiting, added = [graph.root], {graph.root}
    while waiting:
        node = waiting.pop(take)
        if node in order:
            continue
        order.append(node)
        for operand in _visited(graph, node, flips):
            if not (when_added and operand in added):
                added.add(operand)
                waiting.append(operand)
    return order


def _every_path(graph: Graph, flips: Flips) -> list[int]:
    """Level by level without remembering what was visited."""
    order = [graph.root]
    for node in order:
        order.extend(_visited(graph, node, flips))
    return order


@dataclass(frozen=True, slots=True)
class Adding:
    """How a contribution reaches an operand's gradient: what is done otherwise than ``grad += local * upstream``."""

    instead: str = ""  #: ``overwrites``, ``keeps the first``, ``one edge`` or ``no upstream``
    operation: str = "+*"  #: in which operations
    side: int | None = None  #: at which operand


def _sweep(graph: Graph, order: Iterable[int], adding: Adding = Adding()) -> list[float]:
    grads = [0.0] * len(graph.data)
    grads[graph.root] = 1.0
    for node in order:
        operands = graph.operands[node]
        for side, (operand, local) in enumerate(zip(operands, graph.locals[node], strict=True)):
            instead = adding.instead
            if graph.operations[node] not in adding.operation or adding.side not in (None, side):
                instead = ""
            if instead == "one edge" and operand in operands[:side]:
                continue
            contribution = local if instead == "no upstream" else local * grads[node]
            if instead == "overwrites":
                grads[operand] = contribution
            elif instead != "keeps the first" or grads[operand] == 0.0:
                grads[operand] += contribution
    return grads


def _recursion(graph: Graph, flips: Flips) -> list[float]:
    """Each node passes all it has to its operands, and goes on to them, every time that it is reached."""
    grads = [0.0] * len(graph.data)
    grads[graph.root] = 1.0

    def visit(node: int) -> None:
        local = dict(zip(range(2), graph.locals[node], strict=False))
        for side, operand in enumerate(graph.operands[node]):
            grads[operand] += local[side] * grads[node]
        for operand in _visited(graph, node, flips):
            visit(operand)

    visit(graph.root)
    return grads


def _recursion_in_turn(graph: Graph, flips: Flips) -> list[float]:
    """As ``_recursion``, going on to each operand as soon as it has its contribution."""
    grads = [0.0] * len(graph.data)
    grads[graph.root] = 1.0

    def visit(node: int) -> None:
        sides = (1, 0) if flips[node] else (0, 1)
        for side in sides if graph.operands[node] else ():
            grads[graph.operands[node][side]] += graph.locals[node][side] * grads[node]
            visit(graph.operands[node][side])

    visit(graph.root)
    return grads


Walk = Callable[[Graph, Flips], list[float]]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistaken backward pass: the rule that it breaks, its name, and what it computes."""

    rule: str
    name: str
    walk: Walk
    operation: str = ""  #: the one operation that has the mistake


def _adding(instead: str, operation: str = "+*", side: int | None = None) -> Walk:
    adding = Adding(instead, operation, side)
    return lambda graph, flips: _sweep(graph, reversed(_postorder(graph, flips)), adding)


def _by_the_result_alone(instead: str = "", operation: str = "+*") -> Walk:
    return lambda graph, flips: _sweep(graph, [graph.root], Adding(instead, operation))


def _in_order(order: Callable[[Graph, Flips], Iterable[int]]) -> Walk:
    return lambda graph, flips: _sweep(graph, order(graph, flips))


def _equal_numbers(graph: Graph, flips: Flips) -> list[float]:
    return _sweep(graph, reversed(_postorder(graph, flips, lambda node: graph.data[node])))


def _equal_contents(graph: Graph, flips: Flips) -> list[float]:
    """As a dataclass compares: nodes with the same number and equal operands count as one."""

    def contents(node: int) -> object:
        return graph.data[node], graph.locals[node], tuple(contents(operand) for operand in graph.operands[node])

    return _sweep(graph, reversed(_postorder(graph, flips, contents)))


#: The mistakes, likelier and simpler ones first.
MISTAKES: tuple[Mistake, ...] = (
    Mistake("chain", "no upstream", _adding("no upstream")),
    Mistake("chain", "no upstream", _adding("no upstream", "+"), "+"),
    Mistake("chain", "no upstream", _adding("no upstream", "*"), "*"),
    Mistake("accumulation", "overwrites", _adding("overwrites")),
    *(
        Mistake("accumulation", "overwrites", _adding("overwrites", operation, side), operation)
        for operation in ("+", "*")
        for side in (None, 0, 1)
    ),
    *(Mistake("accumulation", "overwrites", _adding("overwrites", "+*", side)) for side in (0, 1)),
    Mistake("accumulation", "one edge", _adding("one edge")),
    Mistake("accumulation", "one edge", _adding("one edge", "+"), "+"),
    Mistake("accumulation", "one edge", _adding("one edge", "*"), "*"),
    Mistake("accumulation", "keeps the first", _adding("keeps the first")),
    Mistake("order", "leaves first", _by_the_result_alone()),
    *(Mistake("order", "leaves first", _by_the_result_alone("overwrites", each)) for each in ("+", "*", "+*")),
    Mistake("order", "preorder", _in_order(_preorder)),
    Mistake("order", "preorder", _in_order(lambda graph, flips: _with_list(graph, flips, -1))),
    Mistake("order", "preorder", _in_order(lambda graph, flips: _with_list(graph, flips, -1, True))),
    Mistake("order", "breadth first", _in_order(lambda graph, flips: _with_list(graph, flips, 0))),
    Mistake("identity", "equal numbers", _equal_numbers),
    Mistake("identity", "equal contents", _equal_contents),
    Mistake("visits", "visited twice", _in_order(lambda g, flips: reversed(_postorder(g, flips, once=False)))),
    Mistake("visits", "visited twice", _in_order(_every_path)),
    Mistake("visits", "visited twice", _recursion),
    Mistake("visits", "visited twice", _recursion_in_turn),
)


def recognized(observed: Sequence[tuple[Expression, Sequence[float]]]) -> Mistake | None:
    """The mistake that explains the leaves' gradients in every expression that was tried; None when none does.

    Tuples and lists keep the order of operands, so the same order everywhere is tried first; then any order, as of
    sets, in graphs that are small enough.
    """
    graphs = [(Graph.of(expression), expression.leaves, grads) for expression, grads in observed]
    graphs.sort(key=lambda one: len(one[0].data))
    small = [one for one in graphs if len(_free(one[0])) <= 6]
    attempts: list[tuple[list[Seen], Orders]] = [
        (graphs, lambda graph: [[False] * len(graph.data)]),
        (graphs, lambda graph: [[True] * len(graph.data)]),
        (small, _all_flips),
    ]
    for tried, orders in attempts:
        for mistake in MISTAKES:
            if all(_explains(mistake, orders, *one) for one in tried):
                return mistake
    return None


def _free(graph: Graph) -> list[int]:
    """The nodes with two different operands, which may be visited in either order."""
    return [at for at, operands in enumerate(graph.operands) if len(set(operands)) == 2]


#: The orders of operands to try for a graph.
Orders = Callable[[Graph], Iterable[Flips]]
#: A graph, its leaves, and the gradients that came.
Seen = tuple[Graph, list[int], Sequence[float]]


def _explains(mistake: Mistake, orders: Orders, graph: Graph, leaves: Sequence[int], grads: Sequence[float]) -> bool:
    for flips in orders(graph):
        found = mistake.walk(graph, flips)
        if all(close(found[leaf], grad) for leaf, grad in zip(leaves, grads, strict=True)):
            return True
    return False


def _all_flips(graph: Graph) -> Iterator[list[bool]]:
    """Every order in which operands may be visited."""
    free = _free(graph)
    for chosen in itertools.product([False, True], repeat=len(free)):
        flips = [False] * len(graph.data)
        for at, flip in zip(free, chosen, strict=True):
            flips[at] = flip
        yield flips


def close(came: float | None, expected: float | None, scale: float = 0.0) -> bool:
    """Whether two numbers are the same but for rounding; ``scale`` is the size of what was added up to them."""
    if came is None or expected is None:
        return came is expected
    if came == expected:
        return True
    if not (math.isfinite(came) and math.isfinite(expected)):
        return False
    return abs(came - expected) <= 1e-7 * max(abs(came), abs(expected)) + 1e-9 * scale


# --- paths ----------------------------------------------------------------------------------------


def paths(expression: Expression, leaf: int) -> list[tuple[tuple[int, ...], float]]:
    """Every path from the result down to a leaf, with the product of its local derivatives."""
    graph = Graph.of(expression)
    found: list[tuple[tuple[int, ...], float]] = []

    def follow(path: tuple[int, ...], product: float) -> None:
        if path[-1] == leaf:
            found.append((path, product))
        for operand, local in zip(graph.operands[path[-1]], graph.locals[path[-1]], strict=True):
            follow((*path, operand), product * local)

    follow((graph.root,), 1.0)
    return found


def path_counts(products: Sequence[float], came: float) -> list[list[int]]:
    """How often each path may have been counted for its gradient to come out as it did: the fewest changes from once.

    Each path at most twice. One answer is clear, several are not.
    """
    if len(products) > 6:
        return []
    tried = sorted(itertools.product((0, 1, 2), repeat=len(products)), key=_changes)
    fitting = [list(counts) for counts in tried if close(_total(counts, products), came, 1.0)]
    return [counts for counts in fitting if _changes(counts) == _changes(fitting[0])]


def _changes(counts: Sequence[int]) -> int:
    return sum(abs(count - 1) for count in counts)


def _total(counts: Sequence[int], products: Sequence[float]) -> float:
    return sum(count * product for count, product in zip(counts, products, strict=True))
