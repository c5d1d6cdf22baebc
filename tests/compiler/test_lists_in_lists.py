"""Lists in a list that data make longer, at either end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, is_answered

pytestmark = pytest.mark.native


def groups(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What is close to the last one joins its group."""
    found: list[Any] = []
    for p, x in zip(ps, sorted(xs), strict=True):
        if found and x - found[-1][-1] < 0.3 + 0.1 * ps[0] * ps[0]:
            found[-1].append(x)
        else:
            found.append([x * p])
    return sum(ps[1] * len(one) + ps[2] * (one[-1] - one[0]) for one in found) + len(found) * ps[3]


def to_either_end(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    rows: list[Any] = [[ps[0]]]
    for p, x in zip(ps, xs, strict=True):
        if x > 0.4:
            rows.append([p, x])
        elif x < -0.4:
            rows[0].append(p * x)
        if p > 0.5:
            rows[-1].extend([x, p])
        elif len(rows[-1]) > 3:
            rows.insert(0, [p])
    return sum((i + 1) * sum(row) for i, row in enumerate(rows)) + sum(row[0] * row[-1] for row in rows)


@each_of(groups, to_either_end)
def test_lists_in_a_list_grow_at_its_ends(f: Function) -> None:
    assert is_answered(f, calls=24, tier="vm", traces=8)
