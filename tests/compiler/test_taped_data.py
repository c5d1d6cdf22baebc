"""Taped code of functions whose data come as people arrange them: dictionaries of several sorts, lists of arguments."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn, numbers

    from retrograd.compiler.taped.types import NotTypedError

# --- the items of a list as arguments --------------------------------------------------------------------------------


@dataclass
class Curve:
    level: Any
    slope: Any
    tau: Any

    def at(self, time: float) -> Any:
        return self.level + self.slope * rm.exp(-time / (1.0 + self.tau * self.tau))


def rate(level: Any, slope: Any, time: float) -> Any:
    return level - slope * time if level > slope else level


def arguments_from_lists(xs: list[Any]) -> Any:
    def mixed(a: Any, b: Any, c: Any) -> Any:
        return a * b + c

    curve = Curve(*xs[:3])
    return curve.at(2.0) + rate(*xs[3:5], 0.5) + rate(xs[0], *[xs[1], 1.5]) + mixed(*xs[1:4]) * mixed(1.0, *xs[4:6])


def test_items_of_lists_are_arguments() -> None:
    assert_same(arguments_from_lists, drawn(numbers(6)))


def test_the_function_raises_where_a_list_has_another_length() -> None:
    def curved(xs: list[Any], times: list[float]) -> Any:
        return Curve(*xs).at(1.0) + rate(*xs[:2], *times)

    with pytest.raises(NotTypedError):  # how many each of two lists brings is not known
        code_of(curved, ([0.5, 1.5, -1.0], [1.0]))

    def called(xs: list[Any], times: list[float]) -> Any:
        return rate(*times) * xs[0]

    assert_same(called, [([0.5], [1.0, 0.3, 0.2]), ([0.5], [1.0, 0.3]), ([2.0], [0.1, 0.3, 0.2])], answers=2)


# --- dictionaries ----------------------------------------------------------------------------------------------------

SPECIES = {"OH": ({"H": -1}, -1.4), "HCO3": ({"H": 1, "C": 1}, 1.0), "CaCO3": ({"Ca": 1, "C": 1}, 0.3)}
SITES = range(3)
LATER = range(5, 0, -2)


def same_keys(model: dict[str, Any], seen: dict[str, list[float]]) -> Any:
    """Numbers and lists under the same names."""
    total = 0.0
    for name, values in seen.items():
        for x in values:
            gap = x - model["offset"][name]
            total = total + (gap * gap if gap > 0.0 else -gap) * model["scale"][name]
    return total


def formulas(model: dict[str, Any], start: float) -> Any:
    """Dictionaries that have other keys each, in one variable."""
    logs = {"H": model["H"] + start, "C": model["C"], "Ca": 0.5}
    missing = {name: 1.0 - rm.exp(value) for name, value in logs.items()}
    for name, (formula, strength) in SPECIES.items():
        amount = rm.exp(strength * model[name] + sum(count * logs[one] for one, count in formula.items()))
        for one, count in formula.items():
            missing[one] -= count * amount if amount < 1.5 else 0.5 * amount
    return sum(each * each for each in missing.values())


def places(xs: list[Any], start: float) -> Any:
    """Ranges from outside of the function."""
    total = start
    for i in SITES:
        total = total + xs[i] * i if xs[i] > 0.0 else total - xs[i]
    for i in LATER:
        total = total * 0.5 + xs[i]
    return total * len(SITES) + sum(xs[i] for i in reversed(SITES))


def _called_with(function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    def of(source: Any) -> tuple[Any, ...]:
        draw = source.uniform
        if function is places:
            return [draw(-1.0, 1.0) for _ in range(6)], draw(0.0, 1.0)
        if function is formulas:
            return {name: draw(-1.0, 1.0) for name in ("H", "C", *SPECIES)}, draw(0.0, 1.0)
        offsets = {name: {one: draw(-1.0, 1.0) for one in ("a", "b")} for name in ("offset", "scale")}
        return offsets, {one: [draw(-1.0, 1.0) for _ in range(4)] for one in ("a", "b")}

    return drawn(of)


@pytest.mark.parametrize("function", [same_keys, formulas, places], ids=lambda function: function.__name__)
def test_data_of_several_sorts(function: Callable[..., Any]) -> None:
    assert_same(function, _called_with(function))


def test_another_range_is_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = rg.compile(places, tier="llvm")
    calls = _called_with(places)
    for sites in (range(3), range(2), range(1, 6)):
        monkeypatch.setitem(globals(), "SITES", sites)
        for call in calls:
            (value, found), (wanted, gradients) = compiled.value_and_grad(*call), rg.value_and_grad(places)(*call)
            assert value == pytest.approx(wanted, rel=1e-12)
            assert found == pytest.approx(gradients, rel=1e-12)


# --- lists of few items of several types -----------------------------------------------------------------------------

ROWS = [[1.0, 2, 0.5], [2.0, 3, 0.25], [1.5, 1, 2.0]]


def repeated_rows(p: list[Any], rows: list[list[Any]]) -> Any:
    total = p[0] * 0.0
    for start, times, share in rows:
        for k in range(times):
            total = total + p[0] * start * share + k
    best = max(rows, key=lambda row: row[0])
    kept = [row for row in rows if row[1] > 1]
    kept.sort(key=lambda row: -row[1])
    for row in kept:
        first, *rest = row
        total = total * row[-1] + len(row) * first + sum(rest) + best[2] * p[1]
        total = total + sum(x * y for x, y in zip(row, list(row), strict=True)) + rate(*row)
        for i, x in enumerate(row):
            total = total + i * x * p[1]
    return total


@dataclass
class Loan:
    balance: float
    term: int
    share: float

    def paid(self, p: list[Any]) -> Any:
        left = self.balance
        for month in range(self.term):
            left = left - p[0] * left / (month + 2.0) if month % 2 else left * p[1]
        return left * self.share


def records_of_rows(p: list[Any], rows: list[list[Any]]) -> Any:
    return sum(loan.paid(p) for loan in [Loan(*row) for row in rows])


@pytest.mark.parametrize("function", [repeated_rows, records_of_rows])
def test_rows_have_a_type_for_each_item(function: Callable[..., Any]) -> None:
    """An int among floats counts iterations; as an item of a list of floats it might be one."""
    rows = [[[a + 0.5 * k, n, b] for a, n, b in ROWS[: k + 1]] for k in range(3)]
    assert_same(function, [([0.5 + k, 1.5], each) for k, each in enumerate(rows)])


def test_named_rows_and_rows_with_lists_in_them() -> None:
    def f(p: list[Any], rows: list[list[Any]]) -> Any:
        total = p[0] * 1.0
        for name, times, xs in rows:
            for x in xs:
                total = total + x * p[0] if name == "a" else total * p[1]
            for _ in range(times):
                total = total * 1.5
        return total

    calls = [[["a", 1, [1.0, 2.0]], ["b", 2, [3.0]]], [["b", 0, [1.0]], ["a", 3, []]], [["c", 1, [0.5]]]]
    assert_same(f, [([0.5 + k, 1.5], rows) for k, rows in enumerate(calls)])


def test_rows_of_other_types_are_left_to_the_function() -> None:
    code = code_of(records_of_rows, ([0.5, 1.5], ROWS))
    for rows in (
        [[1.0, 2.0, 0.5]],
        [(1.0, 2, 0.5)],
        [[1, 2, 0.5]],
        [[1.0, 2]],
        [[1.0, 2, 0.5, 1.0]],
        [[1.0, None, 0.5]],
    ):
        assert code.value_and_grad([0.5, 1.5], rows) is None


@pytest.mark.parametrize(
    "use",
    [
        lambda row, rows: row.append(1.0),
        lambda row, rows: row.__setitem__(0, 1.0),
        lambda row, rows: row == [1.0, 2, 0.5],
        lambda row, rows: row == (1.0, 2, 0.5),
        lambda row, rows: row is rows[0],
        lambda row, rows: row in rows,
        lambda row, rows: {row: 1},
        lambda row, rows: sorted(rows),
        lambda row, rows: row + row,
        lambda row, rows: isinstance(row, tuple),
        lambda row, rows: bool(row),
    ],
)
def test_what_lists_and_tuples_do_otherwise_is_refused(use: Callable[..., Any]) -> None:
    def f(p: list[Any], rows: list[list[Any]]) -> Any:
        total = p[0] * 1.0
        for row in rows:
            for _ in range(row[1]):
                total = total * p[1]
            if use(row, rows):
                total = total * 2.0
        return total

    with pytest.raises(NotTypedError):
        code_of(f, ([0.5, 1.5], [list(row) for row in ROWS]))


# --- items that a condition names, and counts ------------------------------------------------------------------------


def test_a_condition_chooses_the_key() -> None:
    """The items of a dictionary have types of their own: that of the two keys counts."""

    def f(model: dict[str, Any], flags: list[bool]) -> Any:
        total = 0.0
        for flag in flags:
            total = total + model["shear" if flag else "stretch"] * model["wind"][0 if flag else 1]
        return total

    model = {"stretch": 1.5, "shear": 0.5, "wind": [0.25, 2.0]}
    assert_same(f, [(model, [True, False, False]), (model, [False]), (model, [])])


def test_counts_number_what_comes() -> None:
    """As the ties of events that are at one time are broken."""

    class Agenda:
        def __init__(self, start: int) -> None:
            self.events: list[Any] = []
            self.ticket, self.tens = itertools.count(), itertools.count(start, 10)

        def add(self, time: float, kind: int) -> None:
            heapq.heappush(self.events, (time, next(self.ticket), kind, next(self.tens)))

    def f(p: list[Any], times: list[float]) -> Any:
        agenda = Agenda(3)
        for kind, time in enumerate(times):
            agenda.add(time, kind)
        total, weight = p[0] * 0.0, p[1]
        while agenda.events:
            time, ticket, kind, ten = heapq.heappop(agenda.events)
            total = total + weight * (time + ticket) + ten
            weight = weight * p[0]
            if kind % 3 == 1 and ticket < 9:
                agenda.add(time, kind + 2)
        return total

    assert_same(f, [([0.5, 1.5], [1.0, 0.5, 1.0, 1.0]), ([0.9, -1.5], [2.0, 2.0]), ([0.9, 0.5], [0.0, 0.5, 0.0])])


def test_counts_that_a_loop_goes_over_and_that_come_from_outside_are_refused() -> None:
    outside = itertools.count()

    def kept(p: list[Any], n: int) -> Any:
        return p[0] * next(outside) * n

    def looped(p: list[Any], n: int) -> Any:
        total = p[0] * 1.0
        for i in itertools.count():
            if i >= n:
                break
            total = total * p[0]
        return total

    for function in (kept, looped):
        with pytest.raises(NotTypedError):
            code_of(function, ([0.5], 3))


class Patient:
    def __init__(self, severity: int, service: float, calm: float) -> None:
        self.severity, self.service, self.calm = severity, service, calm


def arrivals(xs: list[Any], rows: list[list[Any]]) -> Any:
    now, total = 0.0, 0.0
    for row in rows:
        gap, *rest = row
        now = now + gap * xs[0]
        patient = Patient(*rest)
        total += xs[patient.severity] * patient.service * now + len(rest) * rest[-1]
    return total


def test_the_rest_of_a_row_has_a_type_for_each_item() -> None:
    def call(source: random.Random) -> tuple[Any, ...]:
        rows = [[source.random(), source.choice([0, 1, 2]), source.random(), source.random()] for _ in range(5)]
        return [source.uniform(-1.0, 1.0) for _ in range(3)], rows

    assert_same(arrivals, drawn(call))
