"""NumPy's arrays of numbers where decisions choose: whole arrays, their elements, and what arms store in them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, each_of, flips, in_every_tier, is_converted

pytestmark = pytest.mark.native


def array_of(ps: Sequence[Any]) -> Any:
    return np.array([p * 1.0 for p in ps], dtype=object)


def step_by_step(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    state = array_of(ps[:2])
    for x in xs:
        new = state + 0.1 * np.array([state[1], x - state[0]])
        if new[0] > 0.3:
            new = np.array([0.3, -0.5 * new[1]], dtype=object)
        state = new if x > -1.0 else state * 0.9
    return np.dot(state, state)


def best_row(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    rows = array_of(ps).reshape(4, 3) * np.array(xs).reshape(4, 3)
    best = rows[0]
    for row in rows[1:]:
        if np.sum(row) > np.sum(best):
            best = row
    return best[0] - best[1] * best.mean()


def returned(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def clamped(v: Any) -> Any:
        size = np.sqrt(np.dot(v, v))
        return v / size if size > 1.0 else v

    total = array_of(ps[:2])
    for x, y in itertools.pairwise(xs):
        total = clamped(total + np.array([x, y]))
    return total[0] * total[1]


def none_at_first(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best, score = None, -1e9
    for i in range(0, 12, 3):
        row = np.array(xs[i : i + 3]) * ps[i]
        if row.sum() > score:
            best, score = row, row.sum()
    return np.dot(best, best)


def stores(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Items, also of a matrix, in arms; and a whole array in place."""
    z, m = array_of(ps), np.zeros((3, 3), dtype=object)
    for i, x in enumerate(xs):
        if z[i] > 0.5:
            z[i] = 0.5 * ps[1]
        elif z[i] < -0.5:
            z[i] *= 0.5
        if x > 0.0:
            m[i % 3, i // 4] += x * ps[0]
        else:
            m[i // 4, -1] -= z[i]
        if x * ps[i] > 0.2:
            z += 0.1 * x
        else:
            z *= np.array(xs)
    return np.sum(z * z) + np.sum(m * m.T)


def views(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Two names of one element."""
    z = array_of(ps)
    back, table = z[::-1], z.reshape(3, 4)
    for i in range(6):
        if z[i] > back[i]:
            back[i] = z[i] * ps[1]
            table[1, i % 4] = table[0, 0] * 0.5 + back[i]
        else:
            z[i] = back[i] + 0.1 * xs[i]
    return np.sum(z * z) + table[2, 3]


def places(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Decisions choose the place."""
    z, bins = array_of(ps[:5]), np.zeros((3, 4), dtype=object)
    for x, y in itertools.pairwise(xs):
        k = int(np.argmax(z))
        z[k] = z[k] * 0.5 + x * 0.01
        i, j = min(max(int(x * 1.5 + 1.5), 0), 2), int(y > 0.0) + 2 * int(y > 0.5)
        bins[i, j] += ps[0] * x * y
        bins[i, 0] = bins[i, j] * 0.5 + z[k]
    return np.sum(bins * bins) + z[0]


def functions(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What NumPy computes in arms."""
    z, total = array_of(ps) * np.array(xs), ps[0] * 0.1
    for i in range(0, 12, 3):
        part = z[i : i + 3]
        if np.any(part > 0.5):
            total += np.max(part) + np.where(part > 0.0, part, 0.1 * part).sum()
        elif part.sum() > 0.0:
            total += np.clip(part, -0.2, 0.2).mean() + np.sum(np.concatenate([part, part[:1]]))
        else:
            total -= np.sqrt(np.abs(part)).sum() * part[np.argmin(part)]
    return total


@each_of(step_by_step, best_row, returned, none_at_first, stores, views, places, functions)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=40, bound=1e-11), traces=9)


@in_every_tier
def test_every_tier_does_the_same(tier: str) -> None:
    for f in (step_by_step, stores):
        flips(f, calls=40, bound=1e-11, tier=tier)


def original_changes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What was chosen from is another name's, through which it changes."""
    z, total = array_of(ps), 0.0
    for i, x in enumerate(xs):
        same = z
        if x > 0.0:
            z = z * 1.1
        same[i] = ps[1]
        total += np.sum(z)
    return total


def chosen_changes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What was chosen may be another name's, which shows the change."""
    z, kept = array_of(ps), []
    for i, x in enumerate(xs):
        kept.append(z)
        if x > 0.0:
            z = z * 1.1
        z[i] = ps[1]
    return sum(one.sum() for one in kept)


def part_changes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z, total = array_of(ps), 0.0
    for x in xs:
        part = z[1:4] if x > 0.0 else z[4:7]
        z[2] = ps[1] * x
        total += np.sum(part)
    return total


def floats_change(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The arrays hold plain floats."""
    z, w, total = np.array([1.0, 2.0]), np.array([3.0, 4.0]), 0.0
    for p, x in zip(ps, xs, strict=True):
        chosen = z if p * x > 0.0 else w
        total += np.sum(chosen) * p
        z[0] += 1.0
        total += chosen[0] * x
    return total


def other_shape(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z = array_of(ps)
    for x in xs:
        if x > 0.7 and len(z) > 2:
            z = z[1:]
    return np.sum(z)


def undone(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z, total = array_of(ps), 0.0
    later = z[2:]
    for i, x in enumerate(xs[:8]):
        if x > 0.0:
            z[i] = ps[1] * x
            later[i] = z[i] * z[i + 1]
            if later[i] > 0.1:
                z[i + 2] = later[i] - z[i]
                total += z[i + 2]
        elif z[i] < -1.0:
            return total
    return total + np.sum(z * z)


def change_is_caught(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What raises where a chosen array is changed must not be caught."""
    z, total = array_of(ps), 0.0
    for x in xs:
        if x > 0.0:
            z = z * 1.1
        try:
            z[0] = ps[1]
            total += z[1]
        except ValueError:
            total -= 5.0
    return total + np.sum(z)


def texts_in_arrays(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z = np.array(["a", ps[0]], dtype=object)
    if xs[0] > 0.0:
        z = np.array(["b", ps[1]], dtype=object)
    return z[1] * (2.0 if z[0] == "a" else 3.0)


def out_of_bounds(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z = array_of(ps[:3])
    for i, x in enumerate(xs[:3]):
        if x > 0.0:
            z[i if x < 5.0 else 7] = x
    return np.sum(z)


@each_of(
    *(original_changes, chosen_changes, part_changes, floats_change, other_shape, undone),
    *(change_is_caught, texts_in_arrays, out_of_bounds),
)
def test_what_cannot_be_selected_is_right(f: Function) -> None:
    flips(f, calls=30)


def searched(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    table, total = np.array([-1.0, -0.3, 0.3, 1.0]), 0.0
    for p, x in zip(ps, xs, strict=True):
        total += ps[np.searchsorted(table, p * x)] * x
        total += ps[int(np.searchsorted(table, x, side="right"))] * p
        total += ps[np.digitize(p, table)] + 0.1 * np.digitize(x, [0.0, 0.5], right=True)
    return total + ps[np.searchsorted(table, np.array(xs[:2]))[1]]


def own_table(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The table is traced, too."""
    table = sorted(ps[:4])
    return sum(ps[np.searchsorted(table, x)] * x for x in xs)


def in_order(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z = array_of(ps)
    total, peaks = 0.0, np.maximum.accumulate(z * np.array(xs))
    for i, k in enumerate(np.argsort(z)):
        total += z[k] * xs[i]
    return total + np.max(peaks - z) - np.minimum.accumulate(z)[5]


def close_and_selected(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z, total = array_of(ps), 0.0
    for p, x in zip(ps, xs, strict=True):
        total += p * x if not np.isclose(p, x, atol=0.3) else 0.5 * p
    chosen = np.select([z < -0.5, z > 0.5], [-z, z * ps[1]], default=0.1 * z)
    return (
        total + chosen.sum() + np.count_nonzero(z > 0.0) * ps[2] + np.where(np.isclose(z, 0.3, rtol=0.5), z, 1.0).sum()
    )


@each_of(searched, own_table, in_order, close_and_selected)
def test_functions_that_compare(f: Function) -> None:
    assert is_converted(flips(f, calls=40, bound=1e-11), traces=9)
