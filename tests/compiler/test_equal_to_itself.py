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


def searched(xs: list[float], ys: list[float]) -> Any:
    return xs.count(ys[0]) * ys[1] + (xs.index(ys[0]) if ys[0] in xs else 5.0)


#: A container finds a NaN equal to itself, if it is the same object.
OF_NUMBERS: dict[str, Callable[[list[float], list[float]], Any]] = {
    "in": lambda xs, ys: 1.0 if xs[0] in ys else xs[0] * 2.0,
    "not in": lambda xs, ys: xs[0] if xs[0] not in (ys[0], ys[1]) else ys[1] * 2.0,
    "lists": lambda xs, ys: xs[1] if xs == ys else xs[0] * 2.0,
    "others": lambda xs, ys: xs[1] if xs != ys else xs[0] * 2.0,
    "order": lambda xs, ys: xs[1] if xs < ys else xs[0] * 2.0 - xs[1],
    "tuples": lambda xs, ys: xs[1] if tuple(xs) == tuple(ys) else xs[0] * 2.0,
    "dictionaries": lambda xs, ys: xs[1] if {"a": xs[0]} == {"a": ys[0]} else xs[0] * 2.0,
    "largest": lambda xs, ys: max(xs, ys)[1] * xs[0],
    "searches": searched,
}


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_nan_in_two_places(name: str, at_once: bool) -> None:
    function, nan = OF_NUMBERS[name], float("nan")
    for seed in range(8):
        draw, compiled = random.Random(seed), rg.compile(function)
        for some in ([1.0, 2.0, nan] if seed % 2 else [1.0, 2.0], [1.0, 2.0, nan, nan]):
            calls = [
                ([draw.choice(some) for _ in "ab"], [draw.choice(some) for _ in "ab"]) for _ in range(3 * seed + 1)
            ]
            found = compiled.call_batch(calls) if at_once else [compiled(*call) for call in calls]
            assert found == pytest.approx([function(*call) for call in calls], nan_ok=True)
