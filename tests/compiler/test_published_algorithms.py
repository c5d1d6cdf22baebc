"""Algorithms as they are written everywhere, which decide otherwise in each call."""

from __future__ import annotations

import bisect
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, in_every_tier, is_converted, is_followed

from retrograd import math as m

pytestmark = pytest.mark.native


def point_in_polygon(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    ring = [(ps[0] + 1.5, ps[1]), (ps[2], ps[3] + 1.5), (ps[4] - 1.5, ps[5]), (ps[6], ps[7] - 1.5)]

    def inside(x: float, y: float) -> bool:
        odd, j = False, len(ring) - 1
        for i in range(len(ring)):
            (xi, yi), (xj, yj) = ring[i], ring[j]
            if (yi > y) != (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi) + xi:
                odd = not odd
            j = i
        return odd

    return sum(ps[8] if inside(x, y) else ps[9] * x for x, y in zip(xs[::2], xs[1::2], strict=True))


def exclusive_or(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        above, right = p > x, x > 0.2
        if above ^ right:
            total += p * x
        if above == right:
            total -= p
        if above ^ True:
            total += 0.5 * p
    return total


def viterbi(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What decisions choose is part of a key."""
    states = ("exon", "intron", "gap")
    mean = dict(zip(states, ps[:3], strict=True))
    moves = {(a, b): ps[3] if a == b else -1.0 + 0.2 * ps[4] for a in states for b in states}
    best, back = [{s: -0.5 * (xs[0] - mean[s]) ** 2 for s in states}], []
    for x in xs[1:]:
        column, pointer = {}, {}
        for s in states:
            before = max(states, key=lambda r: best[-1][r] + moves[r, s])
            column[s] = best[-1][before] + moves[before, s] - 0.5 * (x - mean[s]) ** 2
            pointer[s] = before
        best.append(column)
        back.append(pointer)
    last = max(states, key=lambda s: best[-1][s])
    path = [last]
    for pointer in reversed(back):
        path.append(pointer[path[-1]])
    return best[-1][last] + sum(ps[5] if s == "gap" else ps[6] for s in path if s != "exon")


def k_means(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    points, centres = list(zip(xs[::2], xs[1::2], strict=True)), [(ps[0], ps[1]), (ps[2], ps[3]), (ps[4], ps[5])]

    def distance(u: Any, v: Any) -> Any:
        return (u[0] - v[0]) ** 2 + (u[1] - v[1]) ** 2

    groups = defaultdict(list)
    for point in points:
        groups[min(range(3), key=lambda k: distance(point, centres[k]))].append(point)
    new: list[Any] = []
    for k, centre in enumerate(centres):
        members = groups.get(k)
        if not members:
            new.append(centre)
            continue
        mean = sum(q[0] for q in members) / len(members), sum(q[1] for q in members) / len(members)
        new.append((0.5 * centre[0] + 0.5 * mean[0], 0.5 * centre[1] + 0.5 * mean[1]))
    return sum(min(distance(point, c) for c in new) for point in points) + 0.1 * ps[7] * len(groups)


def convex_hull(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The lists that are changed have another name there."""
    points = sorted([(ps[i], ps[i + 1]) for i in range(0, 6, 2)] + [(xs[i], xs[i + 1]) for i in range(0, 4, 2)])

    def cross(o: Any, a: Any, b: Any) -> Any:
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    lower: list[Any] = []
    upper: list[Any] = []
    for chain, given in ((lower, points), (upper, reversed(points))):
        for q in given:
            while len(chain) >= 2 and cross(chain[-2], chain[-1], q) <= 0:
                chain.pop()
            chain.append(q)
    hull = lower[:-1] + upper[:-1]
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(hull, hull[1:] + hull[:1], strict=True))


def running_median(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A list in order from which one goes, and into which one comes."""
    window: deque[Any] = deque(maxlen=4)
    order: list[Any] = []
    energy = 0.0
    for i, x in enumerate(xs):
        sample = x + ps[i % 4]
        if len(window) == window.maxlen:
            order.remove(window[0])
        window.append(sample)
        bisect.insort(order, sample)
        middle = order[len(order) // 2]
        energy += (sample - middle) ** 2 if abs(sample - middle) > 0.5 else sample * ps[4]
    return energy


def sphere_tracing(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A ``while`` with an ``else``, and the nearest by a key in it."""
    balls = [(2.0 + 0.3 * ps[0], ps[1], 0.5), (3.0, 0.5 * ps[2], 0.7), (4.0, ps[3], 0.6)]
    shade = 0.0
    for x in xs[:5]:
        along, steps, slope = 0.0, 0, 0.3 * x + 0.1 * ps[4]
        while along < 6.0 and steps < 8:
            distance, nearest = min(
                ((m.hypot(along - a, slope * along - b) - r, k) for k, (a, b, r) in enumerate(balls)),
                key=lambda pair: pair[0],
            )
            if distance < 0.1:
                shade += m.exp(-0.3 * along) * (1.0 + nearest)
                break
            along, steps = along + distance, steps + 1
        else:
            shade += 0.05 * ps[5] * along
    return shade


def ends_of_loops(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """``continue``, ``break`` and ``return`` beside the ``else`` of a ``while``."""

    def found(x: float) -> Any:
        k = 0
        while k < 6:
            k += 1
            if x * k < ps[0]:
                continue
            if x + 0.5 * k > ps[1] + 1.0:
                return ps[2] * k
            if x * k > ps[3] + 2.0:
                break
        else:
            return ps[4] * x
        return ps[5]

    return sum(found(x) for x in xs)


def neighbours_in_what_is_left(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The item before the first one is the last."""
    kept = [p * x for p, x in zip(ps[:6], xs, strict=False) if x > -0.5]
    total = 0.0
    for i, one in enumerate(kept):
        total += one * kept[i - 1]
    return total


@in_every_tier
@each_of(
    *(point_in_polygon, exclusive_or, viterbi, k_means, running_median, sphere_tracing),
    *(ends_of_loops, neighbours_in_what_is_left),
)
def test_one_program_takes_the_place_of_many(f: Function, tier: str) -> None:
    compiled = flips(f, 30, bound=1e-11, tier=tier)
    stats = compiled.stats()
    is_one = is_converted(compiled, traces=9) or (len(stats.programs) == 1 and WAITS in map(str, stats.reasons))
    assert is_one or is_followed(f), stats


@in_every_tier
def test_iterators_in_a_tuple_run_as_they_are(tier: str) -> None:
    flips(convex_hull, 30, bound=1e-11, tier=tier)


#: What a call does whose program is quicker as machine code alone.
WAITS = "run eagerly: the program is slower, until its machine code is there"
