"""Heaps and sorted lists of which decisions choose how many items they have: agendas, frontiers, order books."""

from __future__ import annotations

import bisect
import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, is_answered

import retrograd as rg
from retrograd import math as m

pytestmark = pytest.mark.native


def queue(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """One clerk; who waits too long goes."""
    agenda: list[Any] = []
    for i, x in enumerate(xs[:6]):
        heapq.heappush(agenda, (m.exp(x), i, "arrives"))
    free, total = 0.0, 0.0 * ps[0]
    while agenda:
        now, i, kind = heapq.heappop(agenda)
        if kind == "arrives":
            if free - now > 1.0:
                total += 0.5 * ps[0] * ps[0]
                continue
            free = (free if free > now else now) + 0.3 + ps[i] * ps[i]
            heapq.heappush(agenda, (free, i, "leaves"))
        else:
            total += 0.1 * now * ps[i]
    return total


NEXT = {0: [1, 2], 1: [2, 3], 2: [3, 4], 3: [4], 4: []}
EDGES = [(a, b) for a in NEXT for b in NEXT[a]]


def shortest_path(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    weights = {edge: 0.1 + p * p for edge, p in zip(EDGES, ps, strict=False)}
    best, frontier, done = {0: 0.0 * ps[0]}, [(0.0 * ps[0], 0)], set()
    while frontier:
        far, node = heapq.heappop(frontier)
        if node in done:
            continue
        done.add(node)
        for other in NEXT[node]:
            new = far + weights[node, other]
            if new < best.get(other, math.inf):
                best[other] = new
                heapq.heappush(frontier, (new, other))
    return best[4] * xs[0] + best[3]


@dataclass(order=True)
class Event:
    time: Any
    kind: str = field(compare=False)
    machine: int = field(compare=False, default=0)


def machines(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    agenda = [Event(m.exp(xs[i]), "fails", i) for i in range(3)]
    heapq.heapify(agenda)
    cost, down, k = 0.0 * ps[0], 0, 3
    while agenda and k < len(xs):
        event = heapq.heappop(agenda)
        if event.time > 4.0:
            break
        match event.kind:
            case "fails":
                down += 1
                heapq.heappush(agenda, Event(event.time + 0.2 + ps[k] * ps[k], "works", event.machine))
            case "works":
                down -= 1
                cost += ps[event.machine]
                heapq.heappush(agenda, Event(event.time + m.exp(xs[k]), "fails", event.machine))
        cost += down * event.time * 0.1
        k += 1
    return cost


def of_numbers(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Each function of ``heapq`` in an arm, and the first item, the length and the truth of a heap."""
    heap: list[Any] = []
    total = 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        if x > 0.3:
            heapq.heappush(heap, p * x)
        elif heap and heap[0] < p:
            total += heapq.heapreplace(heap, p + x)
        elif len(heap) > 2:
            total += 0.5 * heapq.heappop(heap) + heapq.heappushpop(heap, x * x)
    return total + len(heap) + (heap[0] * 2.0 if heap else ps[1])


def of_what_passes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    heap = [p * x for p, x in zip(ps, xs, strict=True) if p > x]
    heapq.heapify(heap)
    total = 0.0 * ps[0]
    while len(heap) > 1:
        both = heapq.heappop(heap) + 1.5 * heapq.heappop(heap)
        total += both
        heapq.heappush(heap, both)
    return total


def begun_outside(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A list that is a heap as it was written, of which an arm takes items."""
    heap = [xs[0] - 9.0, ps[1], ps[2] + 9.0, ps[3] + 5.0]
    heap[1] = heap[1] - 3.0
    total = 0.0 * ps[0]
    for x in xs[:3]:
        if x > 0.0:
            total += x * heapq.heappop(heap)
    return total + heap[0]


class Line:
    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def comes(self, x: Any) -> None:
        heapq.heappush(self.waiting, x)

    def goes(self) -> Any:
        return heapq.heappop(self.waiting) if self.waiting else 0.25


def in_an_object(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    line, total = Line(), 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            line.comes(p * x)
        else:
            total += x * line.goes()
    return total


def order_book(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    bids: list[Any] = []
    asks: list[Any] = []
    cash = 0.0 * ps[0]
    for p, x in zip(ps[:8], xs, strict=False):
        if x > 0.0:
            if asks and asks[0] <= p:
                cash -= asks.pop(0)
            else:
                bisect.insort(bids, p)
        elif bids and bids[-1] >= p:
            cash += bids.pop()
        else:
            bisect.insort(asks, p)
    return cash + 0.1 * sum(bids) - 0.2 * sum(asks)


def sorted_from_either_end(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept: list[Any] = []
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            bisect.insort_left(kept, (p, x)) if x > 0.0 else bisect.insort_right(kept, (x, p))
    return sum((i + 1) * a * b for i, (a, b) in enumerate(kept)) + ps[0]


@each_of(queue, shortest_path, machines, of_numbers, of_what_passes, begun_outside, in_an_object, order_book)
def test_one_program_answers(f: Function) -> None:
    assert is_answered(f, calls=24, tier="vm", traces=8)


@each_of(sorted_from_either_end)
def test_calls_agree(f: Function) -> None:
    flips(f, calls=24, tier="vm")


def in_no_order(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Items of a heap in the order in which Python's list has them."""
    heap: list[Any] = []
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            heapq.heappush(heap, p * x)
        elif heap:
            heapq.heappop(heap)
    return sum((i + 1) * one for i, one in enumerate(heap)) + (heap[-1] if heap else ps[0]) + sum(heap[1:3])


def equal_items(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Which of two equal items is popped first shows in the gradient."""
    heap: list[Any] = []
    total = 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            heapq.heappush(heap, p * 0.0 + round(x))
        elif heap:
            total += x * heapq.heappop(heap) * p
    return total


def no_heap(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What Python pops of a list that is none."""
    things = [ps[0], ps[1], ps[2], ps[3], ps[4]]
    total = 0.0 * ps[0]
    for x in xs[:4]:
        if x > 0.0:
            total += x * heapq.heappop(things)
    return total


def not_in_order(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    things: list[Any] = []
    for p, x in zip(ps, xs, strict=True):
        if x > 0.5:
            things.append(p)
        elif x < -0.5:
            bisect.insort(things, p)
    return sum((i + 1) * one for i, one in enumerate(things)) + ps[0]


@each_of(in_no_order, equal_items, no_heap, not_in_order)
def test_what_is_no_heap_gives_what_python_does(f: Function) -> None:
    flips(f, calls=24, tier="vm")


def test_an_empty_heap_raises_what_python_does() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        heap = [ps[0]]
        total = 0.0 * ps[0]
        for p, x in zip(ps, xs, strict=True):
            if x > 0.0:
                heapq.heappush(heap, p * x)
            else:
                total += x * heapq.heappop(heap)
        return total

    compiled, outcomes = rg.compile(f), set()
    import random

    rng = random.Random(0)
    for _ in range(60):
        ps, xs = ([rng.gauss(0.6, 1.0) for _ in range(6)] for _ in range(2))
        try:
            wanted: Any = rg.value_and_grad(f)(ps, xs)
        except IndexError as error:
            outcomes.add("raises")
            with pytest.raises(IndexError, match=str(error)):
                compiled.value_and_grad(ps, xs)
            continue
        outcomes.add("gives")
        found = compiled.value_and_grad(ps, xs)
        assert found[0] == pytest.approx(wanted[0], rel=1e-12)
        assert found[1] == pytest.approx(wanted[1], rel=1e-12)
    assert outcomes == {"raises", "gives"}


def by_kind_too(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The last parts do not compare; and a call on a line on which nothing decides."""
    heap: list[Any] = []
    total = 0.0 * ps[0]
    for i, (p, x) in enumerate(zip(ps, xs, strict=True)):
        kind = "a" if x > 0.0 else "b"
        if p > x:
            heapq.heappush(heap, (p * x, i, kind))
            if heap:
                total += x * heapq.heappop(heap)[0]
        first, _, kind = heapq.heappushpop(heap, (p + x, i, kind))
        total += first * p if kind == "a" else 0.2
        heapq.heappush(heap, (p - x, i, kind))
    return total + len(heap)


@each_of(by_kind_too)
def test_a_heap_of_what_compares_in_part(f: Function) -> None:
    assert is_answered(f, calls=24, tier="vm", traces=8)
