"""Functions of the lessons that retrograd comes from, pasted as they stand; only types were added."""

from __future__ import annotations

from typing import Any


def wiki_backward(self: Any) -> None:
    # topological order all of the children in the graph
    topo = []
    visited = set()

    def build_topo(v: Any) -> None:
        if v not in visited:
            visited.add(v)
            for child in v._prev:
                build_topo(child)
            topo.append(v)

    build_topo(self)

    # go one variable at a time and apply the chain rule
    self.grad = 1
    for v in reversed(topo):
        v._backward()


def chapter_backward(self: Any) -> None:
    topo = []
    visited = set()

    def build_topo(v: Any) -> None:
        if v not in visited:
            visited.add(v)
            for child in v._children:
                build_topo(child)
            topo.append(v)

    build_topo(self)
    self.grad = 1
    for v in reversed(topo):
        for child, local_grad in zip(v._children, v._local_grads):  # noqa: B905  (as in the lesson)
            child.grad += local_grad * v.grad


def build_topo(root: Any) -> list[Any]:
    order, visited = [], set()

    def visit(v: Any) -> None:
        if v in visited:
            return
        visited.add(v)
        for p in v._prev:
            visit(p)
        order.append(v)

    visit(root)
    return order


def lesson_backward(root: Any) -> None:
    order = build_topo(root)
    root.grad = 1.0
    for v in reversed(order):
        v._backward()  # pushes contributions to parents using +=


def identity_backward(root: Any) -> None:
    """As the chapter's, with a visited set of identities."""
    topo: list[Any] = []
    visited: set[int] = set()

    def visit(v: Any) -> None:
        if id(v) not in visited:
            visited.add(id(v))
            for child in v._children:
                visit(child)
            topo.append(v)

    visit(root)
    root.grad = 1.0
    for v in reversed(topo):
        v._backward()
