"""Lists that a dataclass begins with, to which arms append."""

# ruff: noqa: B905 (the statements are what is tested)
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.flipping import Function, each_of, in_every_tier, is_answered

pytestmark = pytest.mark.native


@dataclass
class Diary:
    amount: Any
    skipped: list[Any] = field(default_factory=list)
    waiting: deque[Any] = field(default_factory=deque)


def lists_of_dataclasses(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    log, others = Diary(ps[0]), [Diary(p) for p in ps[1:4]]
    for day, x in enumerate(xs):
        if x < -0.5:
            log.skipped.append(day)
        elif log.amount > ps[4]:
            log.waiting.append(x * ps[5])
        else:
            log.amount = log.amount + x
            others[day % 3].skipped.append(x)
    gaps = [b - a for a, b in zip(log.skipped, log.skipped[1:])]
    return log.amount * (1 + sum(gaps)) + sum(log.waiting) + sum(sum(one.skipped) * one.amount for one in others)


def a_list_that_is_given(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """It is the caller's, not the object's own."""

    def use(mine: list[Any]) -> Any:
        log = Diary(ps[0], mine)
        for x in xs:
            if x < ps[1]:
                log.skipped.append(x * ps[2])
        return log.amount * ps[3]

    mine: list[Any] = []
    same = [x for x in xs if x > 100.0]
    total = use(mine) + use(same)
    return total + sum(mine) + 0.1 * len(same) + sum(same)


@in_every_tier
@each_of(lists_of_dataclasses, a_list_that_is_given)
def test_lists_that_a_dataclass_begins_with(f: Function, tier: str) -> None:
    assert is_answered(f, 40, tier=tier, traces=9)
