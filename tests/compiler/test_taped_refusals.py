"""What taped code leaves to the function: where Python does more, or something else, than the source seems to say."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest

from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn, in_leaves, run

    from retrograd.compiler.backends.llvm.jit import object_of
    from retrograd.compiler.taped.code import loaded
    from retrograd.compiler.taped.entry import positional, written
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


def test_derivatives_that_go_beyond_all_floats_on_their_way() -> None:
    def small(xs: Any, k: float) -> Any:
        return xs[0] * k * k * k**-1.5

    def large(xs: Any, k: float) -> Any:
        return xs[0] * 0.0 * k * 10.0 + xs[1]

    assert_same(small, [([0.5], k) for k in (0.5, 2.0, 1e-200)], answers=2)
    code = code_of(large, ([0.5, 1.0], 2.0))
    assert run(code, large, ([0.5, 1.0], 2.0)) is not None
    assert run(code, large, ([0.5, 1.0], 1e308)) is None


def test_an_int_0_has_no_sign() -> None:
    def f(xs: Any, k: int) -> Any:
        n: Any = k if k > 3 else 0.5
        if k > 7:
            n = 0
        m: Any = 0.5 if k % 2 else 0
        total = math.atan2(-n / 2.0, -1.0) + math.copysign(1.0, float(n * -1)) + math.atan2(-m * 0.5 + 0.0, -1.0)
        return total * xs[0] + math.copysign(2.0, -m + -0.0)

    assert_same(f, [([0.5], k) for k in range(12)], answers=4)

    def signless(xs: Any, k: int) -> Any:
        total: Any = 0
        for i in range(k):
            total += i * (xs[0] if i else -1.5) - (0 if i % 2 else 0.5)
        return total

    assert_same(signless, [([0.5], k) for k in range(12)])


def test_a_range_that_spans_nearly_all_ints() -> None:
    def f(xs: Any, k: int) -> Any:
        total = 0.0
        for i in range(-k, k, 5):
            total += xs[0]
            if i > 12 - k:
                break
        for i in range(k, -k, -7):
            total += i * 1e-9
            if i < k - 20:
                break
        return total

    assert_same(f, [([0.5], 2), ([0.5], 30), ([0.5], 2**62 - 1)], answers=2)


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


def test_what_was_extended_is_stored_over_what_came_in_its_place() -> None:
    def f(xs: Any, ks: list[int]) -> Any:
        rows, last = [[1], [2]], [3]

        def changed(k: int) -> list[int]:
            nonlocal last
            rows[k % 2], last = [], []
            return [k]

        for k in ks:
            rows[k % 2] += changed(k)
            last += changed(k + 1)
        return (len(rows[0]) + 10 * len(rows[1]) + 100 * len(last)) * xs[0]

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


# --- what a class says itself -----------------------------------------------------------------------------------


class Loose(Enum):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loose) and self.value[0] == other.value[0]

    __hash__ = None  # type: ignore[assignment]


class Place(Loose):
    A = ("a", 1)
    A2 = ("a", 2)


class Switch(Enum):
    OFF = 0
    ON = 1

    def __bool__(self) -> bool:
        return self.value == 1


class Unit(Enum):
    M = 1
    CM = 2

    @property
    def name(self) -> str:  # type: ignore[override]
        return "unit"


def speeds() -> Any:
    class Speed(Enum):
        FAST = 1
        SLOW = 2

    return Speed


Old, Speed = speeds(), speeds()


def test_what_classes_of_members_say() -> None:
    def equal(xs: Any, places: list[Any]) -> Any:
        return xs[0] * sum(int(one == Place.A) for one in places)

    def true(xs: Any, ks: list[int]) -> Any:
        return xs[0] if ks and Switch.OFF else xs[1]

    def named(xs: Any, units: list[Any]) -> Any:
        return xs[0] * sum(int(one is Unit.M) for one in units)

    refused(equal, "Place compares otherwise", [Place.A])
    refused(true, "it tests a member of an Enum")
    refused(named, "Unit compares otherwise", [Unit.M])


def test_classes_of_members_of_one_name_are_told_apart() -> None:
    def f(xs: Any, speed: Any) -> Any:
        total = xs[0]
        if speed is Speed.FAST:
            total *= 100.0
        if speed == Speed.SLOW:
            total += 3.0
        return total

    assert_same(f, [([0.5], one) for one in (Speed.FAST, Speed.SLOW, Old.FAST, Old.SLOW)])


@dataclass(order=True)
class Keyed:
    key: int


@dataclass(eq=False)
class Noted(Keyed):
    note: int = 0


class Fuzzy:
    def __init__(self, x: float) -> None:
        self.x = x

    def __eq__(self, other: Any) -> Any:
        return 1.0 - abs(self.x - other.x)

    __hash__ = None  # type: ignore[assignment]


class Clamped:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, of: Any, kind: Any = None) -> Any:
        return self if of is None else max(of.__dict__[self.name], 0.0)

    def __set__(self, of: Any, value: float) -> None:
        of.__dict__[self.name] = value


class Tank:
    level = Clamped()

    def __init__(self, level: float) -> None:
        self.level = level


class Span:
    def __init__(self, a: int, b: int) -> None:
        self.a, self.b = a, b

    def __len__(self) -> int:
        return self.b - self.a


class Handle:
    def __init__(self, k: int) -> None:
        self.k = k

    def __del__(self) -> None:
        pass


def test_a_dataclass_compares_the_fields_of_the_class_that_says_how() -> None:
    def f(xs: Any, k: int, m: int) -> Any:
        total = 100.0 * xs[0] if Noted(k, 1) == Noted(3, m) else xs[0]
        return total + (1.0 if Noted(k, 1) < Noted(3, m) else 0.0)

    assert_same(f, [([0.5], k, m) for k in (2, 3, 4) for m in (0, 1, 2)])


def test_a_length_is_not_below_0() -> None:
    def f(xs: Any, a: int, b: int) -> Any:
        return len(Span(a, b)) * xs[0]

    assert_same(f, [([0.5], 1, b) for b in (5, 1, 0)], answers=2)


def test_classes_that_decide_about_more() -> None:
    def compared(xs: Any, ks: list[int]) -> Any:
        return (Fuzzy(ks[0]) == Fuzzy(ks[1])) * xs[0]

    def described(xs: Any, tank: Any) -> Any:
        return tank.level * xs[0]

    def stored(xs: Any, ks: list[int]) -> Any:
        return Tank(-1.0 * ks[0]).level * xs[0]

    def let_go(xs: Any, ks: list[int]) -> Any:
        return Handle(ks[0]).k * xs[0]

    refused(compared, "its __eq__ gives a float")
    refused(described, "it reads a Tank", Tank(-1.0))
    refused(stored, "it stores .level, about which Tank decides")
    refused(let_go, "it makes a Handle")


# --- what is equal to what --------------------------------------------------------------------------------------


def test_a_nan_is_in_a_tuple_that_has_it() -> None:
    def f(xs: Any, a: float, b: float) -> Any:
        c = None if b < 1.5 else b
        return xs[0] * (100.0 if a in (a, 0.0) else 1.0) + (10.0 if c in (c, 1.0) else 0.0)

    nan = math.nan
    assert_same(f, [([0.5], *two) for two in ((1.0, 2.0), (1.0, 1.0), (nan, 1.0), (1.0, nan))], answers=2)


def test_kept_results_of_an_int_are_not_those_of_a_float() -> None:
    def f(xs: Any, a: int, b: float) -> Any:
        calls = []

        @functools.cache
        def double(n: Any) -> Any:
            calls.append(1)
            return n * 2

        return (double(a) + double(b) + len(calls)) * xs[0]

    refused(f, "it keeps results for ints and for floats", 1, 1.0)


def test_a_guard_that_assigns_the_subject() -> None:
    def by_itself(xs: Any, k: int) -> Any:
        match k:
            case 9 if (k := 5) > 7:
                return xs[0]
            case 5:
                return 100.0 * xs[0]
            case _:
                return k * xs[0]

    def by_another(xs: Any, k: int) -> Any:
        def change() -> bool:
            nonlocal k
            k = 5
            return False

        match k:
            case 9 if change():
                return xs[0]
            case 5:
                return 100.0 * xs[0]
            case _:
                return k * xs[0]

    for f in (by_itself, by_another):
        assert_same(f, [([0.5], k) for k in (9, 5, 4)])


def test_texts_that_come_later_have_a_number_in_their_call_alone() -> None:
    def f(xs: Any, names: list[str]) -> Any:
        total = xs[0]
        for i, name in enumerate(names):
            if name in names[:i]:
                total *= 2.0
            elif name == "a":
                total += 1.0
        return total

    calls = drawn(lambda source: ([0.5], [source.choice("abcdefgh") * source.randrange(1, 3) for _ in range(9)]), 40)
    assert_same(f, calls)
    program = written(*positional(f, in_leaves(calls[0])[0]))
    code, known = loaded(program, object_of(program.text, passes=True, level=2)), len(program.program.texts)
    assert all(run(code, f, arguments) for arguments in calls)
    assert len(program.program.texts) == known


# --- numbers of NumPy's -----------------------------------------------------------------------------------------

FLOATS, INTS = np.array([0.5, 3.5, -1.0]), np.array([1, 0, 2])


def test_bools_of_numpy_are_asked_alone() -> None:
    def added(xs: Any, a: Any) -> Any:
        return ((a[0] > 3.0) + (a[1] > 3.0)) * xs[0]

    def subtracted(xs: Any, a: Any) -> Any:
        return ((a[1] > 0) - (a[1] < 0)) * xs[0]

    def as_a_place(xs: Any, a: Any) -> Any:
        return xs[a[1] > 0.0]

    def as_itself(xs: Any, a: Any) -> Any:
        return xs[0] if (a[1] > 0) is True else xs[1]  # type: ignore[comparison-overlap]

    def of_the_largest(xs: Any, a: Any) -> Any:
        best = 0
        for one in a:
            if one > best:
                best = one
        return xs[best / 2 > 1]

    for f in (added, subtracted, as_a_place, as_itself, of_the_largest):
        refused(f, "a bool of NumPy's", FLOATS)
        refused(f, "a bool of NumPy's", INTS)


def test_ints_of_numpy_are_no_ints() -> None:
    def asked(xs: Any, a: Any) -> Any:
        return xs[0] if isinstance(a[0], int) else xs[1]

    def true(xs: Any, a: Any) -> Any:
        return xs[0] if a else xs[1]

    refused(asked, "of which class an int of NumPy's is", INTS)
    refused(true, "it tests a ndarray", INTS)
    refused(true, "it tests a ndarray", FLOATS)


def test_numbers_of_numpy_are_computed_with() -> None:
    def f(xs: Any, floats: Any, ints: Any) -> Any:
        counts: dict[int, int] = {}
        total, n, best = xs[0] * 0.0, 0, 0.0
        for place, one in zip(ints, floats, strict=True):
            counts[place] = counts.get(place, 0) + 1
            total += xs[place] * one * (place + 0.5)
            n += place
            is_some = one > 0.25 and place != 2
            if not is_some or (0 <= place < 2 and (one < 3.0) & (place > 0)):
                total -= xs[2]
            if one > best:
                best = one
        for i in range(ints[2]):
            total += xs[i] * abs(-ints[i]) ** 2 / (1 + int(ints[2]) % 2)
        if any(one > 3.0 for one in floats) and 2 in counts and counts[2] == 1:
            total *= best / 2
        return total + n // 2 + math.exp(-n) + (ints[0] & 1) + len(counts) + round(floats[1])

    calls = []
    for seed in range(20):
        source = np.random.default_rng(seed)
        calls.append((source.normal(size=3).tolist(), source.normal(size=4) * 2.0, source.integers(0, 3, 4)))
    assert_same(f, calls)
