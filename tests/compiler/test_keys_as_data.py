"""Keys that come with the data, or are tuples of ints that decisions choose: counts of words, groups, visited cells."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, is_answered
from support.parts import require

import retrograd as rg
from retrograd import math as m

pytestmark = pytest.mark.native

Rows = list[tuple[str, float]]


def grouped(ps: Sequence[Any], rows: Rows) -> Any:
    groups = defaultdict(list)
    for name, x in rows:
        groups[name].append(x * ps[0])
    total = 0.0
    for place, (name, group) in enumerate(sorted(groups.items())):
        total += (place + 1) * ps[1] * sum(group) / len(group)
        total += ps[2] if name == "b" else 0.0
    return total


def from_the_last(ps: Sequence[Any], rows: Rows) -> Any:
    totals: dict[str, Any] = {}
    for name, x in rows:
        totals[name] = totals.get(name, 0.0) + x * ps[0]
    ordered = sorted(totals.items(), reverse=True)
    return sum((i + 1) * ps[1] * total for i, (_, total) in enumerate(ordered)) + ordered[0][1]


def counted(ps: Sequence[Any], rows: Rows) -> Any:
    counts = Counter([name for name, _ in rows])
    found = ps[0] * counts["a"] + ps[1] * len(counts)
    for count in counts.values():
        found += ps[2] * m.log(1.0 + count)
    return found


def distinct(ps: Sequence[Any], rows: Rows) -> Any:
    names = set([name for name, _ in rows])  # noqa: C403 - as it is often written
    return ps[0] * len(names) + (ps[1] if "a" in names else ps[2])


def in_pairs(ps: Sequence[Any], rows: Rows) -> Any:
    follow: Any = defaultdict(Counter)
    for (one, _), (other, _) in itertools.pairwise(rows):
        follow[one][other] += 1
    return sum(ps[0] * m.log(ps[1] * ps[1] + follow["a"][name] + 0.1) for name in "abc") + ps[2] * len(follow)


@pytest.mark.parametrize("f", [grouped, from_the_last, counted, distinct, in_pairs])
def test_texts_among_the_arguments_are_keys(f: Callable[..., Any]) -> None:
    compiled, rng = rg.compile(f, tier="llvm"), random.Random(3)
    for _ in range(40):
        ps = [rng.uniform(0.5, 1.5) for _ in range(3)]
        rows = [(rng.choice("abc"), rng.random()) for _ in range(7)]
        wanted, found = rg.value_and_grad(f)(ps, rows), compiled.value_and_grad(ps, rows)
        assert found[0] == pytest.approx(wanted[0], rel=1e-12, abs=1e-12)
        assert found[1] == pytest.approx(wanted[1], rel=1e-12, abs=1e-12)
    require("llvmlite")
    assert compiled.stats().taped_hits > 0


def visited(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A walk on a plane: more cells than there are keys to tell apart one by one."""
    cell, cells = (0, 0), {(0, 0)}
    total = 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        i, j = cell
        cell = (i + 1, j) if x > 0.5 else (i - 1, j) if x < -0.5 else (i, j + 1) if p > 0.0 else (i, j - 1)
        if cell in cells:
            total += p * p
        cells.add(cell)
    return total + len(cells) * ps[1]


def heat(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The same with what each cell has."""
    i = j = 0
    at: dict[Any, Any] = {}
    for p, x in zip(ps, xs, strict=True):
        i, j = (i + 1, j) if x > 0.0 else (i, j - 1)
        if p > 0.3:
            i, j = i - 1, j + 1
        at[i, j] = at.get((i, j), 0.0) + p * x
    far = at.pop((0, 0), 0.5)
    return sum((n + 1) * one for n, one in enumerate(at.values())) + far + sum(p * q for (p, _), q in at.items())


def by_kind_and_place(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    place, total = 0, 0.0 * ps[0]
    seen: dict[Any, Any] = {}
    for p, x in zip(ps, xs, strict=True):
        place += 1 if x > 0.0 else -1
        key = ("row", place, place * place)
        seen.setdefault(key, 0.0)
        seen[key] += p
        if key in seen and x > 1.0:
            del seen[key]
    return total + sum(seen.values()) + len(seen)


@each_of(visited, heat, by_kind_and_place)
def test_tuples_of_ints_are_keys(f: Function) -> None:
    assert is_answered(f, calls=24, tier="vm", traces=8)


def counting_down(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """``range`` with a step, from and to what decisions choose."""
    first = sum(1 for x in xs if x > 0.0)
    total = 0.0 * ps[0]
    for i in range(first - 1, -1, -1):
        total += (i + 1) * ps[i]
    for i in range(first, len(xs)):
        total -= i * ps[i]
    for i in range(1, first, 3):
        total += ps[i] * ps[i]
    return total + len(range(9, first, -2)) + sum(range(first, 4))


@each_of(counting_down)
def test_ranges_begin_and_end_where_decisions_choose(f: Function) -> None:
    assert is_answered(f, calls=24, tier="vm", traces=8)


def missing(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    place, total = 0, 0.0 * ps[0]
    seen = {(0, 0, "x"): ps[0]}
    for p, x in zip(ps, xs, strict=True):
        place += 1 if x > 0.0 else -1
        if p > 0.0:
            seen[place, place + 1, "x"] = p
        if x > 1.0:
            total += seen[place, place + 1, "x"]
    return total


def _outcome(f: Callable[..., Any], *arguments: Any) -> Any:
    """The gradient, or what is raised."""
    try:
        return f(*arguments)[1]
    except KeyError as error:
        return repr(error)


def test_a_tuple_that_is_no_key_raises_what_python_does() -> None:
    compiled, rng, raised = rg.compile(missing), random.Random(0), 0
    for _ in range(40):
        ps, xs = ([rng.gauss(0.8, 1.0) for _ in range(6)] for _ in range(2))
        outcomes = [_outcome(one, ps, xs) for one in (rg.value_and_grad(missing), compiled.value_and_grad)]
        raised += type(outcomes[0]) is str
        assert outcomes[0] == (outcomes[1] if type(outcomes[1]) is str else pytest.approx(outcomes[1], rel=1e-12))
    assert 0 < raised < 40
