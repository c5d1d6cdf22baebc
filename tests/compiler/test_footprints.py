"""Captured state is compared by the memory in which it lies: any way to change it is seen by the next call."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value

pytestmark = native


class Holder:
    """Attributes, a list and a dictionary of numbers."""

    def __init__(self) -> None:
        self.scale = 1.0
        self.items = [1.0, 2.0, 3.0]
        self.table = {"a": 1.0, "b": 2.0}


class Twice(Holder):
    """Another class for the same attributes."""


def shift(w: Any, by: float = 1.0) -> Any:
    return w + by


def same(holder: Holder, number: float) -> None:
    """Write what is there already."""
    holder.scale = holder.scale
    holder.items[0] = holder.items[0]
    holder.table["a"] = holder.table["a"]


def attribute(holder: Holder, number: float) -> None:
    for _ in range(40):  # until the interpreter has specialized the instruction that stores
        holder.scale = number


def attribute_and_back(holder: Holder, number: float) -> None:
    before = holder.scale
    holder.scale = number
    holder.scale = before


def through_its_dictionary(holder: Holder, number: float) -> None:
    holder.__dict__["scale"] = number


def another_dictionary(holder: Holder, number: float) -> None:
    holder.__dict__ = {**holder.__dict__, "scale": number}


def deleted_and_set(holder: Holder, number: float) -> None:
    del holder.scale
    holder.scale = number


def item(holder: Holder, number: float) -> None:
    for _ in range(40):
        holder.items[1] = number


def another_list(holder: Holder, number: float) -> None:
    holder.items = [number, *holder.items[1:]]


def rotated(holder: Holder, number: float) -> None:
    holder.items.append(holder.items.pop(0))


def refilled(holder: Holder, number: float) -> None:
    items = [number, *holder.items[:2]]
    holder.items.clear()
    holder.items += items


def grown_and_cut(holder: Holder, number: float) -> None:
    holder.items += [number] * 1000
    del holder.items[3:]


def entry(holder: Holder, number: float) -> None:
    for _ in range(40):
        holder.table["b"] = number


def other_order(holder: Holder, number: float) -> None:
    holder.table["a"] = holder.table.pop("a")


def another_class(holder: Holder, number: float) -> None:
    holder.__class__ = Holder if type(holder) is Twice else Twice


def another_default(holder: Holder, number: float) -> None:
    shift.__defaults__ = (number,)


CHANGES: tuple[Callable[[Holder, float], None], ...] = (
    same,
    attribute,
    attribute_and_back,
    through_its_dictionary,
    another_dictionary,
    deleted_and_set,
    item,
    another_list,
    rotated,
    refilled,
    grown_and_cut,
    entry,
    other_order,
    another_class,
    another_default,
)


@pytest.mark.parametrize("seed", range(4))
def test_any_change_is_seen_by_the_next_call(seed: int) -> None:
    draw, holder, w = random.Random(seed), Holder(), Value(0.5)

    def f() -> Any:
        total = shift(w) * holder.scale * (2.0 if isinstance(holder, Twice) else 1.0)
        for i, number in enumerate(holder.items):
            total += w * number * (i + 1)
        for i, number in enumerate(holder.table.values()):
            total -= w * number * (i + 3)
        return total

    compiled = rg.compile(f)
    try:
        for step in range(50):
            draw.choice(CHANGES)(holder, draw.choice((1.0, 2.0, 3.0)))
            for _ in range(40):  # changes are so rare that it goes on to be traced
                assert compiled().data == pytest.approx(f().data, rel=1e-12), step
    finally:
        shift.__defaults__ = (1.0,)
    assert compiled.stats().eager == 0


@pytest.mark.parametrize("change", CHANGES[1:], ids=lambda change: change.__name__)
def test_a_program_that_has_answered_often_sees_it_too(change: Callable[[Holder, float], None]) -> None:
    holder, w = Holder(), Value(0.5)

    def f() -> Any:
        parts = [shift(w) * holder.scale, *holder.items, *(w * entry for entry in holder.table.values())]
        weighted = [part * (i + 1) * w for i, part in enumerate(parts)]
        return rg.sum(weighted) * (2.0 if isinstance(holder, Twice) else 1.0)

    compiled = rg.compile(f)
    try:
        for _ in range(60):
            compiled()
        change(holder, 7.0)
        assert compiled().data == pytest.approx(f().data, rel=1e-12)
    finally:
        shift.__defaults__ = (1.0,)


def test_tuples_of_any_size_are_not_compared() -> None:
    """Nothing in them can change; in another tuple of the same name it can, which is noticed."""
    data = tuple((float(i), (i % 3, 0.5)) for i in range(20_000))

    def total(x: Any) -> Any:
        return x * data[-1][0] + sum(pair[0] for _, pair in data[:10])

    compiled = rg.compile(total)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(2.0) == total(2.0)
    data = ((7.0, (1, 0.5)),) * 20_000
    assert compiled(2.0) == total(2.0) == 14.0 + 10


class Row(NamedTuple):
    """A record without a dictionary of attributes."""

    level: float
    day: int

    @property
    def weight(self) -> float:
        """What another class has otherwise."""
        return 2.0 * self.level


class Other(NamedTuple):
    level: float
    day: int

    @property
    def weight(self) -> float:
        """As the other class does not have it."""
        return 3.0 * self.level


def test_records_that_become_instances_of_another_class_are_seen() -> None:
    rows = [Row(0.5 * i, i) for i in range(20)]
    compiled = rg.compile(lambda w: sum(w * row.weight + row.day for row in rows))
    for _ in range(40):
        assert compiled(Value(2.0)).data == sum(2.0 * row.weight + row.day for row in rows)
    rows[3] = Row(7.0, 1)
    assert compiled(Value(2.0)).data == sum(2.0 * row.weight + row.day for row in rows)
    rows[5].__class__ = Other  # type: ignore[assignment]
    assert compiled(Value(2.0)).data == sum(2.0 * row.weight + row.day for row in rows)
