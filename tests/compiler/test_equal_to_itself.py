"""Records that are equal to themselves alone: what ``==``, ``in`` and dictionaries tell of one that comes twice."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import retrograd as rg
from retrograd import Value

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")]

DRAW = random.Random(12)


@dataclass(eq=False)
class Part:
    x: Any
    y: Any


class Node:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Hashed(Node):
    """Equal by what it has, and found in dictionaries by itself."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hashed) and bool(self.x == other.x)


for kind in (Node, Hashed):
    rg.register_pytree_node(kind, lambda node: ((node.x, node.y), None), lambda _, items, kind=kind: kind(*items))


def equal(parts: list[Any]) -> Any:
    return parts[0].x * 2.0 if parts[0] == parts[2] else parts[1].y * 3.0 + parts[2].x


def contained(parts: list[Any]) -> Any:
    return (parts[0].x if parts[0] in parts[1:] else parts[1].y * 2.0) + parts[2].x


def found(parts: list[Any]) -> Any:
    return parts[0].x * (1 + parts.index(parts[2])) + parts.count(parts[0]) * parts[1].y


def keys(parts: list[Any]) -> Any:
    sums: dict[Any, Any] = {}
    for part in parts:
        sums[part] = sums.get(part, 0.0) + part.x
    return len(sums) * parts[0].y + sum((k + 1) * each for k, each in enumerate(sums.values()))


def pairs(parts: list[Any]) -> Any:
    return sum(p.x * (q.y if p == q else 0.5) for p, q in itertools.combinations(parts, 2))


def asked(parts: list[Any]) -> Any:
    return parts[0].x * (2.0 if parts[0] is parts[2] else 3.0) + parts[2].y


def put_back(parts: list[Any]) -> Any:
    kept = parts[0].x
    parts[0].x = kept + 2.0
    result = sum(part.x * part.y for part in parts)
    parts[0].x = kept
    return result


@pytest.mark.parametrize("function", [equal, contained, found, keys, pairs, asked, put_back])
@pytest.mark.parametrize("kind", [Part, Node, Hashed])
@pytest.mark.parametrize("number", [float, Value])
@pytest.mark.parametrize("one_first", [False, True])
def test_one_that_comes_twice(function: Callable[..., Any], kind: Any, number: Any, one_first: bool) -> None:
    compiled = rg.compile(function)
    for call in range(15):
        parts = [kind(number(DRAW.choice([0.0, 1.0, DRAW.random()])), number(DRAW.random())) for _ in range(3)]
        if (call % 3 == 0) is one_first:
            parts[2] = parts[0]
        ours, theirs = (each if number is float else each.data for each in (compiled(parts), function(parts)))
        assert ours == pytest.approx(theirs, rel=1e-14), call


@pytest.mark.parametrize("kind", [Part, Node])
@pytest.mark.parametrize("first", [False, True])
def test_one_that_is_captured(kind: Any, first: bool) -> None:
    best = kind(1.5, 0.5)
    compiled = rg.compile(lambda part, p: 2.0 * p if part == best else 3.0 * p + part.x)
    for call in range(12):
        is_best = (call % 3 == 0) is first
        part = best if is_best else kind(1.5, 0.5)
        assert compiled(part, float(call)) == (2.0 * call if is_best else 3.0 * call + 1.5)
