"""The scalar GPT's own ``Value``: slots, local derivatives kept at the forward pass, a recursive topological sort.

This is what people write who want the plain thing to be as fast as pure Python allows. It is
kept as published in spirit: subtraction and division are made of ``+``, ``*`` and ``**``, numbers
become nodes, and ``backward`` sorts depth first. The recursion needs a limit as high as the graph
is deep (:func:`benchmarks.measure.deep_recursion`).
"""

# ruff: noqa: B905 -- zip as people write it; strict=True would cost every contender
from __future__ import annotations

import math
from typing import ClassVar

__all__ = ["Value", "count"]


class Value:
    """One number, its gradient, and the nodes it was computed from."""

    __slots__ = ("_children", "_local_grads", "data", "grad")

    #: As published, ``backward`` leaves a cycle behind (``build_topo`` refers to itself) that holds the graph until
    #: the collector runs. Where the collector is off, this breaks it, so that the graph is freed at all.
    breaks_cycle: ClassVar[bool] = False

    def __init__(self, data: float, children: tuple[Value, ...] = (), local_grads: tuple[float, ...] = ()) -> None:
        self.data = data
        self.grad = 0.0
        self._children = children
        self._local_grads = local_grads

    def __add__(self, other: Value | float) -> Value:
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other: Value | float) -> Value:
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, other: float) -> Value:
        return Value(self.data**other, (self,), (other * self.data ** (other - 1),))

    def log(self) -> Value:
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def exp(self) -> Value:
        return Value(math.exp(self.data), (self,), (math.exp(self.data),))

    def relu(self) -> Value:
        return Value(max(0, self.data), (self,), (float(self.data > 0),))

    def __neg__(self) -> Value:
        return self * -1

    def __radd__(self, other: float) -> Value:
        return self + other

    def __sub__(self, other: Value | float) -> Value:
        return self + (-other)

    def __rsub__(self, other: float) -> Value:
        return other + (-self)

    def __rmul__(self, other: float) -> Value:
        return self * other

    def __truediv__(self, other: Value | float) -> Value:
        return self * other**-1

    def __rtruediv__(self, other: float) -> Value:
        return other * self**-1

    def backward(self) -> None:
        """Add d self / d leaf to every leaf's ``grad``; call it once a graph."""
        topo: list[Value] = []
        visited: set[Value] = set()

        def build_topo(v: Value) -> None:
            if v not in visited:
                visited.add(v)
                for child in v._children:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1
        for v in reversed(topo):
            for child, local_grad in zip(v._children, v._local_grads):
                child.grad += local_grad * v.grad
        if Value.breaks_cycle:
            topo.clear()
            visited.clear()


def count(root: Value) -> int:
    """How many nodes ``root`` is made of, leaves and constants included."""
    seen = {root}
    stack = [root]
    while stack:
        for child in stack.pop()._children:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return len(seen)
