"""A ``deque`` with a ``maxlen`` to which arms append: moving windows of what passes a test."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, is_answered

import retrograd as rg

pytestmark = pytest.mark.native


def moving_mean(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    window, total = deque(maxlen=3), 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        if x > -0.3:
            window.append(p * x)
        if len(window) == window.maxlen:
            total += sum(window) / 3.0
            if window[-1] > window[0]:
                window.clear()
    return total + len(window) + sum((i + 1) * one for i, one in enumerate(window))


def taken_from_the_left(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    line: deque[Any] = deque([ps[0], ps[1]], maxlen=4)
    total = 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        if x > 0.0:
            line.append((p, x)[0])
        elif line and line[0] < p:
            total += x * line.popleft()
        elif x < -1.0:
            line.extend([p, x])
    return total + sum((i + 2) * one for i, one in enumerate(line)) + (max(line) if line else ps[2])


def of_pairs(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Rows are kept, changed at their place, and copied."""
    last = deque(maxlen=2)
    total = 0.0 * ps[0]
    for i, (p, x) in enumerate(zip(ps, xs, strict=True)):
        if p > x:
            last.append((i, p))
        if len(last) == 2 and last[0][1] < last[1][1]:
            last[0] = (i, x * p)
        again = last.copy()
        again.append((i, p))
        total += sum(place * one for place, one in again) * 0.1
    return total


def with_all_there(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What else a deque can do, before anything is chosen."""
    line = deque(ps[:3], maxlen=3)
    line.appendleft(xs[0])
    line.rotate(1)
    total = line.pop() * 2.0
    line.append(ps[4])
    for p, x in zip(ps, xs, strict=True):
        if x > 0.2:
            line.append(p)
        total += line[0] * x
    return total


@each_of(moving_mean, taken_from_the_left, of_pairs, with_all_there)
def test_one_program_answers(f: Function) -> None:
    assert is_answered(f, calls=30, tier="vm", traces=8)


def from_both_ends(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    line: deque[Any] = deque(maxlen=3)
    total = 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        if x > 0.4:
            line.append(p)
        elif x > 0.0:
            line.appendleft(p * x)
        elif line and p > 0.0:
            total += line.pop()
    line += [ps[0]]
    return total + sum((i + 1) * one for i, one in enumerate(line + deque([ps[1], ps[2]])))


def of_no_length(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    line: deque[Any] = deque(maxlen=0)
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            line.append(p)
    return ps[0] * (len(line) + 1.0)


@each_of(from_both_ends, of_no_length)
def test_calls_agree(f: Function) -> None:
    flips(f, calls=30, tier="vm")


def emptied(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    line, total = deque(maxlen=2), 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        if x > 0.0:
            line.append(p)
        else:
            total += p * line.popleft()
    return total


def _outcome(f: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return f(*arguments)[1]
    except IndexError as error:
        return repr(error)


def test_an_empty_one_raises_what_python_does() -> None:
    compiled, rng, raised = rg.compile(emptied), random.Random(0), 0
    for _ in range(40):
        ps, xs = ([rng.gauss(0.9, 1.0) for _ in range(5)] for _ in range(2))
        wanted, found = _outcome(rg.value_and_grad(emptied), ps, xs), _outcome(compiled.value_and_grad, ps, xs)
        raised += type(wanted) is str
        assert found == (wanted if type(wanted) is str else pytest.approx(wanted, rel=1e-12))
    assert 0 < raised < 40


def of_one_row(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """One list is at two places of another one."""
    row: list[Any] = []
    rows, k, total = [row, row], 0, 0.0 * ps[0]
    for p, x in zip(ps, xs, strict=True):
        k = 1 - k if x > 0.0 else k
        rows[k].append(p)
        if p > 0.5:
            rows.append(row)
            rows[-1].append(x)
        total += len(rows[-1]) * p
    return total + sum((i + 1) * one for i, one in enumerate(row))


@each_of(of_one_row)
def test_one_list_at_two_places_grows_once(f: Function) -> None:
    flips(f, calls=30, tier="vm")
