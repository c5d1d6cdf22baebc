"""What taped code leaves to the function: where Python does more, or something else, than the source seems to say."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn

    from retrograd.compiler.taped.types import NotTypedError

Numbers = list[float]


def places(source: random.Random) -> tuple[Any, ...]:
    return [source.uniform(-2, 2) for _ in range(4)], [source.randrange(5) for _ in range(6)]


def check(function: Callable[..., Any], answers: int | None = None) -> None:
    assert_same(function, drawn(places, 30), answers)


def refused(function: Callable[..., Any], message: str, *arguments: Any) -> None:
    with pytest.raises(NotTypedError, match=message):
        code_of(function, ([0.5, 1.5], *(arguments or ([1, 2, 3],))))


# --- arithmetic -------------------------------------------------------------------------------------------------


def test_powers_are_those_of_the_c_library() -> None:
    least = 1.3967505595789872e-09  # whose square root is another number than its power

    def f(xs: Any, ys: Numbers, half: float) -> Any:
        total = 0.0
        for y in ys:
            total += (y**0.5 - y**half) * 1e30 + (2.0**y - (half * 4.0) ** y) * 1e30
        return xs[0] * total

    assert_same(f, [([1.0], [least, *(random.Random(seed).uniform(0, 9) for seed in range(40))], 0.5)])


# --- what is changed in place -----------------------------------------------------------------------------------


class Cart:
    def __init__(self) -> None:
        self._items: list[int] = [1]
        self.changes = 0

    @property
    def items(self) -> list[int]:
        return self._items

    @items.setter
    def items(self, new: list[int]) -> None:
        self._items = new
        self.changes += 1

    @property
    def kept(self) -> list[int]:
        return self._items


@dataclass(frozen=True)
class Frozen:
    items: list[int]


def test_a_property_is_told_of_a_list_that_was_extended() -> None:
    def f(xs: Any, ks: list[int]) -> Any:
        cart = Cart()
        for k in ks:
            if k > 2:
                cart.items += [k]
        return (len(cart.items) + 100 * cart.changes) * xs[0]

    check(f)


def test_what_may_not_be_assigned_is_not_extended_either() -> None:
    def of_tuple(xs: Any, ks: list[int]) -> Any:
        pair: Any = ([1], 2)
        pair[0] += ks
        return xs[0] * len(pair[0])

    def of_frozen(xs: Any, ks: list[int]) -> Any:
        frozen: Any = Frozen([1])
        frozen.items += ks
        return xs[0] * len(frozen.items)

    def of_property(xs: Any, ks: list[int]) -> Any:
        cart: Any = Cart()
        cart.kept += ks
        return xs[0] * len(cart.kept)

    refused(of_tuple, "it changes a tuple of 2")
    refused(of_frozen, "it stores .items, about which Frozen decides")
    refused(of_property, "it stores .kept, about which Cart decides")


def test_a_set_has_no_places() -> None:
    def read(xs: Any, ks: list[int]) -> Any:
        seen: Any = set(ks)
        return xs[0] * seen[0]

    def stored(xs: Any, ks: list[int]) -> Any:
        seen: Any = set(ks)
        seen[0] = 1
        return xs[0] * len(seen)

    def deleted(xs: Any, ks: list[int]) -> Any:
        seen: Any = set(ks)
        del seen[0]
        return xs[0] * len(seen)

    refused(read, "an item of a set")
    refused(stored, "an item of a set")
    refused(deleted, "an item of a set")


# --- the order in which things happen ---------------------------------------------------------------------------


def test_a_list_is_empty_while_it_is_sorted() -> None:
    def counted(xs: Any, ks: list[int]) -> Any:
        order = list(ks)
        order.sort(key=lambda k: -order.count(k) - 10 * len(order))
        return sum(i * k for i, k in enumerate(order)) * xs[0]

    def reversed_by_length(xs: Any, ks: list[int]) -> Any:
        order = list(ks)
        order.sort(key=lambda k: k % 3, reverse=len(order) > 3)
        return sum(i * k for i, k in enumerate(order)) * xs[0]

    def changed(xs: Any, ks: list[int]) -> Any:
        order = list(ks)

        def key(k: int) -> int:
            if k > 3:
                order.append(0)
            return k

        order.sort(key=key)
        return len(order) * xs[0]

    def changed_meanwhile(xs: Any, ks: list[int]) -> Any:
        items = list(ks)

        def key(k: int) -> int:
            items.append(k)
            return -k

        found = sorted(items, key=key)
        return (len(found) + 100 * len(items) + found[0]) * xs[0]

    check(counted)
    check(reversed_by_length)
    check(changed, answers=sum(max(ks) <= 3 for _, ks in drawn(places, 30)))
    check(changed_meanwhile)


def test_a_generator_gives_its_items_after_what_stands_behind_it() -> None:
    def of_slice(xs: Any, ks: list[int]) -> Any:
        w = list(ks)
        w[: len(w) - 1] = (w.pop() for _ in range(1))
        return sum(w) * xs[0]

    def of_sorted(xs: Any, ks: list[int]) -> Any:
        log = []

        def say(k: int) -> int:
            log.append(k)
            return k

        def way() -> bool:
            log.append(7)
            return ks[0] > 2

        w = sorted((say(k) for k in ks), reverse=way())
        return (log[0] * 100 + w[0]) * xs[0]

    check(of_slice)
    check(of_sorted)


def test_a_set_is_updated_once_all_arguments_are_there() -> None:
    def f(xs: Any, ks: list[int]) -> Any:
        seen = {0}
        seen.update(ks, [10 * len(seen)])
        return max(seen) * xs[0]

    check(f)
