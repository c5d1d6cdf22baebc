"""Taped code reads trees: instances whose attributes are instances of the same classes again."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import retrograd as rg
from retrograd import math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, run


class Node:
    def __init__(self, kind: str, value: float, left: Node | None = None, right: Node | None = None) -> None:
        self.kind, self.value, self.left, self.right = kind, value, left, right


@dataclass
class Firm:
    weight: float
    parts: list[Firm] = field(default_factory=list)


class Leaf:
    def __init__(self, x: float) -> None:
        self.x = x


class Pair:
    def __init__(self, one: Leaf | Pair, other: Leaf | Pair) -> None:
        self.one, self.other = one, other


def expression(source: random.Random, depth: int) -> Node:
    if depth == 0 or source.random() < 0.25:
        return Node("leaf", source.uniform(-1.0, 1.0))
    return Node(source.choice(["add", "mul"]), 0.5, expression(source, depth - 1), expression(source, depth - 1))


def firm(source: random.Random, depth: int) -> Firm:
    return Firm(
        source.uniform(0.0, 1.0), [firm(source, depth - 1) for _ in range(source.randint(0, 3) if depth else 0)]
    )


def pair(source: random.Random, depth: int) -> Any:
    if depth == 0 or (depth < 4 and source.random() < 0.3):
        return Leaf(source.uniform(-1.0, 1.0))
    return Pair(pair(source, depth - 1), pair(source, depth - 1))


def of_expression(xs: list[Any], root: Node) -> Any:
    def value(node: Any) -> Any:
        if node.left is None:
            return node.value * xs[0]
        left, right = value(node.left), value(node.right)
        return left + xs[1] * right if node.kind == "add" else left * right + xs[2]

    return value(root)


def of_firm(xs: list[Any], root: Firm) -> Any:
    def total(one: Firm) -> Any:
        return one.weight * xs[0] + sum(xs[1] * total(part) for part in one.parts)

    rest, size = [root], 0.0
    while rest:
        one = rest.pop()
        size += one.weight * xs[2]
        rest.extend(one.parts)
    return total(root) + size


def of_pair(xs: list[Any], root: Any) -> Any:
    def value(tree: Any) -> Any:
        if isinstance(tree, Leaf):
            return tree.x * xs[0]
        return rm.tanh(value(tree.one) * xs[1] - value(tree.other))

    return value(root)


@pytest.mark.parametrize(
    ("function", "make"),
    [(of_expression, expression), (of_firm, firm), (of_pair, pair)],
    ids=lambda each: each.__name__,
)
def test_a_tree_in_each_call(function: Callable[..., Any], make: Callable[..., Any]) -> None:
    assert_same(function, [([0.5, 1.5, -0.7], make(random.Random(seed), 5)) for seed in range(12)])


def chain(length: int) -> Node:
    found = Node("leaf", 0.5)
    for _ in range(length):
        found = Node("add", 0.1, found, Node("leaf", 0.2))
    return found


def test_deep_trees_and_what_is_inside_of_itself_are_left_to_the_function() -> None:
    numbers = [0.5, 0.9, -0.7]
    code = code_of(of_expression, (numbers, expression(random.Random(0), 5)))
    result = run(code, of_expression, (numbers, chain(150)))
    assert result is not None
    assert (result.number, result.gradients) == rg.value_and_grad(of_expression)(numbers, chain(150))
    assert code.value_and_grad(numbers, chain(300)) is None
    endless = Node("add", 0.1)
    endless.left = endless.right = endless
    assert code.value_and_grad(numbers, endless) is None
    assert code.value_and_grad(numbers, chain(3)) == rg.value_and_grad(of_expression)(numbers, chain(3))
