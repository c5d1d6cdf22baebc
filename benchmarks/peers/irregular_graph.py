"""A random graph with no pattern in it: what is left of a compiler's speed where nothing repeats.

The plan is drawn once, from a seed, while the numbers are followed, so that every operation stays in its domain and no
value grows. :func:`run` then carries it out on any number type that has the methods of a ``Value``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Plan", "plan", "run"]

#: Largest value that an operation may leave, and smallest that it may divide by or take the logarithm or root of.
LARGEST, SMALLEST = 2.0, 0.25

Operation = tuple[Callable[..., Any], tuple[int, ...]]

BINARY: list[tuple[Callable[[Any, Any], Any], Callable[[float, float], bool]]] = [
    (lambda x, y: x + y, lambda x, y: abs(x + y) <= LARGEST),
    (lambda x, y: x - y, lambda x, y: abs(x - y) <= LARGEST),
    (lambda x, y: x * y, lambda x, y: abs(x) <= 1 and abs(y) <= 1),
    (lambda x, y: x / y, lambda x, y: abs(y) >= 1),
]
#: On Values, on floats, and where they may be used.
UNARY: list[tuple[Callable[[Any], Any], Callable[[float], float], Callable[[float], bool]]] = [
    (lambda x: x.sin(), math.sin, lambda x: True),
    (lambda x: x.cos(), math.cos, lambda x: True),
    (lambda x: x.tanh(), math.tanh, lambda x: True),
    (lambda x: x.exp(), math.exp, lambda x: x <= 0.5),
    (lambda x: x.log(), math.log, lambda x: x >= 1),
    (lambda x: x.sqrt(), math.sqrt, lambda x: x >= SMALLEST),
    (lambda x: x.relu(), lambda x: max(x, 0.0), lambda x: abs(x) >= 1e-6),
    (lambda x: -x, lambda x: -x, lambda x: True),
]


@dataclass(frozen=True, slots=True)
class Plan:
    """The leaves' values, what to do in order (function, numbers of its operands), and what is left to add up."""

    leaves: list[float]
    operations: list[Operation]
    rest: list[int]

    @property
    def nodes(self) -> int:
        """Operations in all, the final additions included."""
        return len(self.operations) + len(self.rest) - 1


def plan(nodes: int = 100_000, leaves: int = 1000, seed: int = 0) -> Plan:
    """A graph of exactly ``nodes`` operations, all of which the result depends on.

    Each operation takes one value that nothing has used yet, and half of them a second one from anywhere before it.
    """
    if nodes < leaves or leaves < 1:
        raise ValueError(f"the graph needs leaves, and as many operations; {leaves} and {nodes} were asked for.")
    draw = random.Random(seed)
    values = [draw.uniform(-1, 1) for _ in range(leaves)]
    start, unused = list(values), list(range(leaves))
    operations: list[Operation] = []
    while len(operations) < nodes - leaves + 1:
        place = draw.randrange(leaves)
        x = unused[place]
        operation, value = _draw_operation(draw, values, x)
        if not abs(value) <= LARGEST:
            continue
        unused[place] = len(values)
        values.append(value)
        operations.append(operation)
    return Plan(start, operations, unused)


def _draw_operation(draw: random.Random, values: Sequence[float], x: int) -> tuple[Operation, float]:
    """An operation on value number ``x``, and its result; infinity where the one drawn is out of its domain."""
    if draw.random() < 0.5:
        function, by_float, fits = draw.choice(UNARY)
        return (function, (x,)), by_float(values[x]) if fits(values[x]) else math.inf
    y = draw.randrange(len(values))
    if draw.random() < 0.5:
        x, y = y, x
    binary, both_fit = draw.choice(BINARY)
    return (binary, (x, y)), binary(values[x], values[y]) if both_fit(values[x], values[y]) else math.inf


def run(plan: Plan, leaves: Sequence[Any]) -> Any:
    """The sum of everything that no operation of the plan has used."""
    values = list(leaves)
    for function, operands in plan.operations:
        values.append(function(*(values[i] for i in operands)))
    total = values[plan.rest[0]]
    for i in plan.rest[1:]:
        total = total + values[i]
    return total
