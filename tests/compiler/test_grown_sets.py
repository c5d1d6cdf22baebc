"""Sets that have what data decide: what was seen, visited, and passes."""

# ruff: noqa: C401 (the statements are what is tested)
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, is_answered

pytestmark = pytest.mark.native


def seen(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    known, total = set(), 0.0
    for x in xs:
        k = int(x * 2)
        if k not in known:
            known.add(k)
            total += ps[0] * x
        else:
            total += ps[1] * x * x
    return total + len(known)


def visited(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    node, known, total = 0, {0}, 0.0
    for x in xs:
        node = (node + (1 if x > 0 else 2)) % 6
        if node in known:
            total += ps[0] * x
            continue
        known.add(node)
        total += ps[1] * x * x
    return total + len(known)


def added_and_discarded(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    active: set[int] = set()
    for i, x in enumerate(xs):
        if x > 0.2:
            active.add(i % 4)
        elif x < -1.0:
            active.discard(i % 4)
    total = sum(ps[0] * xs[i] for i in active)
    for i in range(4):
        if i in active:
            total += ps[1] * xs[i]
    return total + len(active) * ps[2]


def of_those_that_pass(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    active = {i for i, x in enumerate(xs) if ps[0] * x > 0}
    return sum(ps[0] * xs[i] for i in sorted(active)) + ps[1] * len(active)


def joined(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one = {i for i, x in enumerate(xs) if x > 0}
    other = {i for i, x in enumerate(xs) if x * ps[0] < 0.5}
    common = one & other
    total = sum(ps[0] * xs[i] for i in common) + len(one | other) * ps[1] + len(one ^ other) * ps[2]
    if one <= other:
        total += 1.0
    if 3 in one - other:
        total += ps[0]
    return total + (max(common) if common else 0) * ps[1] + (ps[3] if one == other else 0.0)


def compared_sets(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one = {i for i, x in enumerate(xs[:4]) if x > 0}
    other = {i for i, x in enumerate(xs[4:8]) if x * ps[0] < 0.5}
    total = len(one | other) * ps[1] + len(one ^ other) * ps[2] + len(one & other) * ps[3] + len(one - other) * ps[4]
    for i, test in enumerate((one <= other, one < other, one >= other, one > other, one == other, one != other)):
        if test:
            total += ps[i] * ps[i]
    return total


def distinct(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return (
        ps[0] * len(set(int(x * 2) for x in xs))
        + ps[1] * len({int(x) for x in xs})
        + ps[2] * max({round(x) for x in xs})
    )


@each_of(seen, visited, of_those_that_pass, distinct, compared_sets)
def test_sets_that_data_choose(f: Function) -> None:
    assert is_answered(f, 60, 1e-9, traces=6)


@each_of(added_and_discarded, joined)
def test_a_loop_over_a_set_is_in_the_order_of_its_hashes(f: Function) -> None:
    flips(f, 60, 1e-9)
