"""The warning that says which argument makes each call a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import retrograd as rg
from retrograd.compiler.reports.differences import first_difference

pytestmark = pytest.mark.native


@dataclass
class Record:
    value: float
    name: str = "a"
    more: Any = None


class Pair(NamedTuple):
    one: Any
    other: Any


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ((1.0, [2.0, 3]), (5.0, [4.0, 3]), ""),
        ((1.0, [2.0, 3]), (5.0, [4.0, 7]), "argument 1[1] is the int 7, and was the int 3"),
        (([(1.0, 0)],), ([(1.0, 0.5)],), "argument 0[0][1] is a float, and was the int 0"),
        ((1.0, "up"), (1.0, "down"), "argument 1 is the str 'down', and was the str 'up'"),
        ((True,), (False,), "argument 0 is the bool False, and was the bool True"),
        (([1.0, 2.0],), ([1.0],), "argument 0 has 1 items, and had 2"),
        (({"a": 1.0, "b": 2},), ({"a": 2.0, "b": 3},), "argument 0['b'] is the int 3, and was the int 2"),
        (({"a": 1.0},), ({"b": 1.0},), "argument 0 has the keys ['b'], and had ['a']"),
        ((Record(1.0, "a"),), (Record(2.0, "b"),), "argument 0.name is the str 'b', and was the str 'a'"),
        ((Record(1.0, more=Pair(1.0, 2)),), (Record(1.0, more=None),), "argument 0.more is None, and was a Pair"),
        ((Pair(1.0, 2),), (Pair(2.0, 4),), "argument 0[1] is the int 4, and was the int 2"),
        ((np.zeros(3),), (np.zeros((2, 2)),), "argument 0 has the shape (2, 2), and had (3,)"),
        ((np.zeros(3),), (np.ones(3),), ""),
    ],
)
def test_the_first_difference_is_named(before: Sequence[Any], now: Sequence[Any], said: str) -> None:
    assert first_difference(before, now) == said


def test_what_contains_itself_ends() -> None:
    one, other = [1.0], [2.0]
    one.append(one)  # type: ignore[arg-type]
    other.append(other)  # type: ignore[arg-type]
    assert first_difference([one], [other]) == ""


def test_the_warning_names_it() -> None:
    @rg.compile(tier="vm")
    def f(p: Any, rows: list[tuple[float, str]]) -> Any:
        return sum(p * x * int(days) for x, days in rows)

    calls = [[(0.5 * k, str(30 + k)), (1.5, "31")] for k in range(20)]
    with pytest.warns(rg.errors.CompileWarning, match=r"argument 1\[0\]\[1\] is the str '\d+', and was the str '\d+'"):
        found = [f(2.0, rows) for rows in calls]
    assert found == [sum(2.0 * x * int(days) for x, days in rows) for rows in calls]


def test_the_warning_counts_the_arguments_as_they_are_written() -> None:
    @rg.compile(tier="vm")
    def f(labels: list[str], x: float) -> Any:
        return x * float(len(labels[0]))

    gradient = rg.grad(f, argnums=1)
    with pytest.warns(rg.errors.CompileWarning, match=r"argument 0\[0\] is the str 'a+', and was the str 'a+'"):
        found = [gradient(["a" * k], 3.0) for k in range(20)]
    assert found == [float(k) for k in range(20)]
