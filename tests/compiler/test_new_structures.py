"""Calls most of which have a structure of their own: one that comes again is compiled, the others run as they are."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import errors
from retrograd.compiler.reports.reasons import Reason
from retrograd.compiler.structures import shape_of

pytestmark = pytest.mark.native


def misfit(slope: Any, xs: list[float], ys: list[float]) -> Any:
    total = 0.0 * slope
    for x, y in zip(xs, ys, strict=True):
        total = total + (slope * x - y) ** 2
    return total


def series(draw: random.Random, length: int) -> tuple[list[float], list[float]]:
    return [draw.random() for _ in range(length)], [draw.random() for _ in range(length)]


def count(compiled: Any, reason: Reason) -> int:
    return sum(number for cause, number in compiled.stats().causes.items() if cause.reason is reason)


def test_lists_of_some_lengths_are_compiled_when_their_lengths_return() -> None:
    draw, compiled, plain = random.Random(1), rg.compile(misfit), rg.value_and_grad(misfit)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(500):
            data = series(draw, draw.randrange(5, 25))
            assert compiled.value_and_grad(0.1 * k, *data) == pytest.approx(plain(0.1 * k, *data), rel=1e-12)
    assert compiled.stats().traces == 20  # one for each length
    assert count(compiled, Reason.AWAITS_ANOTHER) <= 20
    assert count(compiled, Reason.BACKING_OFF) == 0
    assert compiled.stats().hits > 475


def test_what_never_returns_is_not_traced() -> None:
    compiled = rg.compile(lambda x, name: x * len(name), tier="vm")
    names = [f"n{k}" for k in range(600)]
    with pytest.warns(
        errors.CompileWarning, match="when the same structure comes a second time. Pass what differs from"
    ):
        found = [compiled(2.0, name) for name in names]
    assert found == [2.0 * len(name) for name in names]
    assert compiled.stats().traces < 20


def test_after_hundreds_that_never_return_most_calls_are_not_looked_at() -> None:
    compiled = rg.compile(lambda x, name: x * len(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.CompileWarning)
        for k in range(2000):
            assert compiled(2.0, f"n{k}") == 2.0 * len(f"n{k}")
        looked_at = compiled.stats().eager - count(compiled, Reason.BACKING_OFF)
        assert 500 < looked_at < 1000
        for _ in range(100):  # and one that comes again and again has a program after some
            assert compiled(2.0, "again") == 10.0
    before = compiled.stats().hits
    compiled(2.0, "again")
    assert compiled.stats().hits == before + 1


def test_more_structures_than_are_kept_are_not_traced_for_ever() -> None:
    compiled = rg.compile(misfit)
    lengths = [*range(2, 402)]
    data = {n: ([0.5] * n, [0.25] * n) for n in lengths}
    for _ in range(4):
        for n in lengths:
            compiled.value_and_grad(2.0, *data[n])
    assert compiled.stats().traces < 500


def test_each_kind_of_pass_has_structures_of_its_own() -> None:
    draw, compiled = random.Random(2), rg.compile(misfit)
    for length in range(3, 30):
        compiled.value_and_grad(2.0, *series(draw, length))
    traces = compiled.stats().traces
    compiled(2.0, *series(draw, 29))
    assert compiled.stats().traces == traces
    compiled(3.0, *series(draw, 29))
    assert compiled.stats().traces == traces + 1


def test_clear_forgets_which_structures_there_were() -> None:
    draw, compiled = random.Random(3), rg.compile(misfit)
    for length in range(3, 30):
        compiled.value_and_grad(2.0, *series(draw, length))
    assert count(compiled, Reason.AWAITS_ANOTHER) > 10
    compiled.clear()
    before = compiled.stats().traces
    compiled.value_and_grad(2.0, *series(draw, 50))
    assert compiled.stats().traces == before + 1


@dataclass
class Row:
    x: float
    name: str
    tags: list[int] = field(default_factory=list)


@pytest.mark.parametrize(
    ("one", "other", "are_alike"),
    [
        (1.0, 2.0, True),
        (1, 2, False),
        (1, True, False),
        ([1.0, 2.0], [3.0, 4.0], True),
        ([1.0, 2.0], [3.0], False),
        ([1.0], (1.0,), False),
        ([[1.0], [2.0, 3.0]], [[1.0], [2.0]], False),
        ({"a": 1.0}, {"a": 2.0}, True),
        ({"a": 1.0}, {"b": 1.0}, False),
        (np.ones(3), np.zeros(3), True),
        (np.ones(3), np.ones((3, 1)), False),
        (np.array([1, 2]), np.array([1, 3]), False),
        (Row(1.0, "a", [1]), Row(2.0, "a", [1]), True),
        (Row(1.0, "a", [1]), Row(1.0, "a", [2]), False),
        (Row(1.0, "a"), Row(1.0, "b"), False),
        (object(), object(), True),
        (rg.Value(1.0), rg.Value(2.0), True),
    ],
)
def test_shapes(one: Any, other: Any, are_alike: bool) -> None:
    assert (shape_of(one) == shape_of(other)) is are_alike
    hash(shape_of(one))


def test_the_shape_of_what_contains_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    hash(shape_of(endless))


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_trees_of_which_few_come_again_run_as_they_are() -> None:
    """Each program answers a call or two besides its own: to make them takes longer than they save."""
    draw = random.Random(1)

    def grown(depth: int) -> Any:
        if depth == 0 or draw.random() < 0.3:
            return None
        return draw.random(), grown(depth - 1), grown(depth - 1)

    def weighed(w: Any, tree: Any) -> Any:
        return 0.0 if tree is None else w * tree[0] + weighed(w, tree[1]) * 0.5 + weighed(w, tree[2])

    compiled = rg.compile(weighed)
    for _ in range(1500):
        tree = grown(4)
        assert float(compiled(0.5, tree)) == pytest.approx(float(weighed(0.5, tree)))
    assert compiled.stats().traces < 120
