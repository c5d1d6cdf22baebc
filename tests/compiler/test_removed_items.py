"""``list.remove`` of what decisions choose, and of what is equal to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from support.flipping import Function, draw, each_of, flips, is_answered

import retrograd as rg

pytestmark = pytest.mark.native


@dataclass(frozen=True)
class Crate:
    x: Any
    weight: Any


@dataclass
class Job:
    cost: Any
    days: Any = 1.0


class Node:
    def __init__(self, at: Any) -> None:
        self.at = at


def nearest_first(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A tour by the nearest neighbour, back to the depot when the load is full."""
    left = [Crate(x, abs(p) + 0.1) for p, x in zip(ps[:6], xs, strict=False)]
    here, load, way = ps[0] * 0.0, 0.0, ps[1] * 0.1
    while left:
        nearest = min(left, key=lambda crate: abs(crate.x - here))
        if load + nearest.weight > 2.5 and load > 0.0:
            way += abs(here)
            here, load = 0.0, 0.0
            continue
        way += abs(nearest.x - here) * (1.0 + load)
        here, load = nearest.x, load + nearest.weight
        left.remove(nearest)
    return way


def objects_go(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    nodes = [Node(p) for p in ps[:5]]
    total = 0.0
    for x in xs[:3]:
        far = max(nodes, key=lambda node: abs(node.at - x))
        nodes.remove(far)
        total = total + far.at * x
    return total + sum(i * node.at for i, node in enumerate(nodes))


def equal_ones(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The first of equal ones goes, which alone has a gradient then no more."""
    jobs = [Job(p, 2.0) for p in (ps[0], ps[1], ps[0], ps[2])]
    numbers = [ps[0], ps[1], ps[0] * 1.0, ps[3]]
    pairs = [(ps[2], 1.0), (ps[3], 2.0), (ps[2], 1.0)]
    if xs[0] > 0.0:
        jobs.remove(Job(ps[0], 2.0))
        numbers.remove(ps[0])
    if xs[1] > 0.3:
        pairs.remove((ps[2], 1.0))
    if xs[2] > xs[3]:
        numbers.remove(numbers[1])
    total = sum(i * job.cost for i, job in enumerate(jobs, 1)) + sum(i * q for i, q in enumerate(numbers, 1))
    return total + sum(i * a * b for i, (a, b) in enumerate(pairs, 1))


@each_of(nearest_first, objects_go, equal_ones)
def test_what_is_equal_is_removed(f: Function) -> None:
    assert is_answered(f, calls=40, traces=9)


class Odd:
    """Equal by code of its own."""

    def __init__(self, at: Any) -> None:
        self.at = at

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and bool(self.at > 0.0) == bool(other.at > 0.0)

    __hash__ = None  # type: ignore[assignment]


def by_own_code(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    odd = [Odd(p) for p in (*ps[:4], 0.0 * ps[0] + 1.0)]
    if xs[0] > 0.0:
        odd.remove(Odd(xs[1] + 0.0 * ps[0] if xs[1] > 0.0 else ps[0] * 0.0 + 1.0))
    return sum(i * one.at for i, one in enumerate(odd))


def not_there(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    left = [ps[0], ps[1], ps[2]]
    if xs[0] > 0.0:
        left.remove(ps[1])
    try:
        left.remove(ps[1])
    except ValueError:
        left.append(ps[3])
    return sum(i * q for i, q in enumerate(left))


def at_a_place(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The least one goes, by ``pop``, ``del`` or ``index``, and another one comes in where it belongs."""
    left = [p * x for p, x in zip(ps[:6], xs, strict=False)]
    total = 0.0
    while len(left) > 2:
        i = min(range(len(left)), key=lambda k: left[k])
        total = total * 0.5 + left.pop(i) * ps[7]
        j = left.index(max(left))
        total += left[j]
        del left[j]
        k, new = 0, total * 0.1
        while k < len(left) and left[k] < new:
            k += 1
        left.insert(k, new)
    return total + left[0] - 2.0 * left[1]


def in_arms(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    left, i = [p * x for p, x in zip(ps, xs, strict=True)], 0
    while i < len(left):
        if left[i] < 0.0:
            del left[i]
        else:
            i += 1
    return sum(one * ps[0] for one in left) + len(left)


def at_known_places(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    left = [*ps[:4]]
    for x in xs[:4]:
        if x > 0.0:
            left.insert(1, ps[4] * x)
            left.insert(-1, ps[5])
            del left[0]
        else:
            left.pop(2)
            left.insert(99, x)
    return sum(i * one for i, one in enumerate(left))


@each_of(at_a_place, in_arms)
def test_an_item_at_a_place_goes(f: Function) -> None:
    assert is_answered(f, calls=40, bound=1e-11, traces=9)


def behind_the_end(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    left = [*ps[:3]]
    k = sum(x > 0.0 for x in xs[:5])
    left.insert(k, xs[0] * ps[3])
    return sum(i * one for i, one in enumerate(left))


def below_the_begin(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    left = [*ps[:4]]
    k = sum(x > 0.0 for x in xs[:3]) - 2
    left.insert(k, xs[0] * ps[3])
    del left[k]
    return sum(i * one for i, one in enumerate(left)) + left.pop(k)


def of_other_containers(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    by_name = {"a": ps[0], "b": ps[1]}
    if xs[0] > 0.0:
        del by_name["a"]
    waiting = deque(ps[:3])
    del waiting[1 if xs[1] > 0.0 else 0]
    left = [*ps[:4]]
    if xs[2] > 0.0:
        del left[1:3]
    return sum(by_name.values()) + waiting[0] + sum(left)


@each_of(at_known_places, behind_the_end, below_the_begin, of_other_containers)
def test_other_places_are_right(f: Function) -> None:
    flips(f, calls=30)


def test_no_such_place_raises_what_python_raises() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        left = [ps[0], ps[1]]
        return left.pop(sum(x > 0.0 for x in xs[:3])) * ps[2]

    compiled = rg.compile(f)
    for seed in range(30):
        ps, xs = draw(seed)
        if sum(x > 0.0 for x in xs[:3]) < 2:
            assert compiled(ps, xs) == f(ps, xs)
        else:
            with pytest.raises(IndexError):
                compiled(ps, xs)


@each_of(by_own_code, not_there)
def test_what_cannot_be_compared_or_is_not_there_is_right(f: Function) -> None:
    flips(f, calls=24)


def test_nothing_equal_raises_what_python_raises() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        left = [ps[0], ps[1]]
        if xs[0] > 0.0:
            left.append(ps[2])
        left.remove(ps[2])
        return sum(left)

    compiled = rg.compile(f)
    for seed in range(20):
        ps, xs = draw(seed)
        if xs[0] > 0.0:
            assert compiled(ps, xs) == f(ps, xs)
        else:
            with pytest.raises(ValueError, match="not in list"):
                compiled(ps, xs)
