"""What is stored where decisions choose: rows that change places, parts of chosen rows and objects, indices that are
compared."""

# ruff: noqa: RUF007 (the statements are what is tested)
from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from support.flipping import Function, draw, flips, is_converted

import retrograd as rg
from retrograd import Index

pytestmark = pytest.mark.native


def solved(table: list[list[Any]], right: list[Any]) -> list[Any]:
    """Gauss with partial pivoting, in place."""
    n = len(right)
    for i in range(n):
        best = max(range(i, n), key=lambda r: abs(table[r][i]))
        table[i], table[best] = table[best], table[i]
        right[i], right[best] = right[best], right[i]
        for r in range(i + 1, n):
            factor = table[r][i] / table[i][i]
            for c in range(i, n):
                table[r][c] -= factor * table[i][c]
            right[r] -= factor * right[i]
    found = [0.0 * right[0]] * n
    for i in reversed(range(n)):
        found[i] = (right[i] - sum(table[i][c] * found[c] for c in range(i + 1, n))) / table[i][i]
    return found


def pivots(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    table = [[ps[3 * i + j] * xs[j] + (0.3 if i == j else 0.0) for j in range(3)] for i in range(3)]
    return sum(x * x for x in solved(table, [ps[9], ps[10], ps[11]])) * 0.01


def pivots_in_a_loop(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The solver runs in a loop that data leave, so that its swaps are in arms."""
    x = [ps[0] * 0.1, ps[1] * 0.1]
    for _ in range(8):
        a, b = x
        residual = [a * a + b - 1.0 - 0.1 * ps[2], a - b * b + 0.2 * ps[3]]
        steps = solved([[2.0 * a + 0.1, 1.0 + 0.0 * a], [1.0 + 0.0 * b, -2.0 * b + 0.1]], residual)
        x = [one - 0.5 * step for one, step in zip(x, steps, strict=True)]
        if max(abs(step) for step in steps) < 0.3:
            break
    return x[0] * x[1] + 0.1 * xs[0] * x[0]


def swaps_only_if(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The pivot is searched by a loop, and rows change places under an ``if``."""
    a = [[ps[3 * i + j] * xs[j] + (0.3 if i == j else 0.0) for j in range(3)] + [ps[9 + i]] for i in range(3)]
    sign = 1.0
    for column in range(3):
        pivot = column
        for row in range(column + 1, 3):
            if abs(a[row][column]) > abs(a[pivot][column]):
                pivot = row
        if pivot != column:
            a[column], a[pivot] = a[pivot], a[column]
            sign = -sign
        for row in range(column + 1, 3):
            factor = a[row][column] / a[column][column]
            for k in range(column, 4):
                a[row][k] = a[row][k] - factor * a[column][k]
    return sign * a[0][0] * a[1][1] * a[2][2] + 0.1 * a[2][3]


def swaps_a_row_held_elsewhere(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Another name holds a row that changes places: what it holds stays."""
    a = [[ps[0], ps[1]], [ps[2], ps[3]], [ps[4], ps[5]]]
    first, best = a[0], 0
    for row in range(1, 3):
        if a[row][0] * xs[0] > a[best][0] * xs[0]:
            best = row
    if best != 0:
        a[0], a[best] = a[best], a[0]
    a[0][1] = a[0][1] * 2.0 + 0.0 * ps[0]
    return first[0] + 3.0 * first[1] + a[0][0] * a[0][1] + 0.5 * a[best][1]


def swaps_numbers(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    order = [*ps[:5]]
    for i in range(4):
        best = min(range(i, 5), key=lambda k: order[k])
        order[i], order[best] = order[best], order[i]
    return sum(i * p for i, p in enumerate(order))


def parts_of_rows(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    table = [[ps[0], ps[1]], [ps[2], 1.0]]
    for p, x in zip(ps, xs, strict=True):
        k = 1 if x > 0.2 else 0
        table[k][1] += p * x
        table[k][0] = table[k][0] * 0.5
        table[k][-1] *= 0.9
    return sum(sum(row) for row in table)


@dataclass
class Bin:
    used: Any
    count: int = 0


def parts_of_objects(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    bins = [Bin(ps[0] * 0.0) for _ in range(3)]
    for p, x in zip(ps, xs, strict=True):
        k = min(range(3), key=lambda i: bins[i].used)
        bins[k].used += abs(p * x)
        bins[k].count += 1
        bins[k % 2].used *= 1.1
    return sum(one.used * one.used * (i + 1) for i, one in enumerate(bins)) + bins[0].count * ps[1]


PLACES: list[Function] = [pivots, pivots_in_a_loop, swaps_only_if, swaps_numbers, parts_of_rows, parts_of_objects]


@pytest.mark.parametrize("f", PLACES, ids=lambda f: f.__name__)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=40, bound=1e-9), traces=9)


def shared_row(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    table = [[ps[0], ps[1]], [ps[2], ps[3]], [ps[4], ps[5]]]
    first = table[0]  # another name of a row that changes places
    best = max(range(3), key=lambda r: table[r][0])
    table[0], table[best] = table[best], table[0]
    table[0][1] += 10.0
    first[0] += 100.0
    return sum((i + 1) * sum(row) for i, row in enumerate(table)) + first[1]


def same_row_twice(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    row = [ps[0], ps[1]]
    table = [row, [ps[2], ps[3]], row]
    best = max(range(3), key=lambda r: table[r][0] * xs[r])
    table[0], table[best] = table[best], table[0]
    table[0][1] += 10.0
    return sum((i + 1) * sum(each) for i, each in enumerate(table))


def kept_by_a_function(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    table = [[ps[0], ps[1]], [ps[2], ps[3]]]

    def change(row: list[Any] = table[1]) -> None:
        row[0] += 5.0

    best = max(range(2), key=lambda r: table[r][0])
    table[0], table[best] = table[best], table[0]
    change()
    return table[0][0] + 2.0 * table[1][0]


def row_in_two_places(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    row, other = [ps[0], ps[1]], [ps[2], ps[3]]
    rows, bins = [row, row, other], [one := Bin(ps[4]), one, Bin(ps[5])]
    k = 0
    if xs[0] > 0.0:
        k = 1
    if xs[1] > 0.5:
        k = 2
    rows[k][1] += 10.0
    rows[k][0] = rows[k][0] * 2.0
    bins[k].used += xs[2]
    return sum(row) + 2.0 * sum(other) + bins[0].used + 3.0 * bins[2].used


class Watched:
    """Storing the level has another effect."""

    def __init__(self, level: Any) -> None:
        self._level, self.touched = level, False

    @property
    def level(self) -> Any:
        return self._level

    @level.setter
    def level(self, to: Any) -> None:
        self._level, self.touched = to, True


def setters(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    tanks = [Watched(ps[0]), Watched(ps[1]), Watched(ps[2])]
    k = min(range(3), key=lambda i: xs[i])
    tanks[k].level += ps[3]
    return sum(one.level * (2.0 if one.touched else 1.0) for one in tanks)


class Store:
    def __init__(self, bins: list[Bin]) -> None:
        self.bins = bins

    def item(self, things: Any, k: int) -> Bin:
        return self.bins[len(self.bins) - 1 - k]


def method_named_item(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    bins = [Bin(p) for p in ps[:3]]
    store = Store(bins)
    k = min(range(3), key=lambda i: xs[i])
    store.item(bins, k).used += ps[3] * ps[k]
    return sum((i + 1) * one.used for i, one in enumerate(bins))


SAME = [
    shared_row,
    swaps_a_row_held_elsewhere,
    same_row_twice,
    kept_by_a_function,
    row_in_two_places,
    setters,
    method_named_item,
]


@pytest.mark.parametrize("f", SAME, ids=lambda f: f.__name__)
def test_what_has_other_names_or_effects_stays_itself(f: Function) -> None:
    flips(f, calls=60)


# --- indices that are compared --------------------------------------------------------------------------------------


def tags(ps: Sequence[Any], words: Sequence[Index]) -> Any:
    total, seen = ps[0], 0
    for one, other in zip(words, words[1:], strict=False):
        if one == 4:
            total += ps[1]
        elif one > other or 3 <= one < 6:
            total *= rg.take(ps, one)
        seen += one != other
        total += rg.where(one == 2, ps[2], ps[3] * 0.1)
        best = 1 if total > 2.0 else 5
        if best == other:
            total -= 0.5
    return total + seen * ps[4]


def test_indices_are_compared_in_one_program() -> None:
    draws = random.Random(0)
    compiled = rg.compile(tags)
    for seed in range(40):
        ps = [abs(p) * 0.5 + 0.5 for p in draw(seed)[0]]
        words = [Index(draws.randrange(8)) for _ in range(6)]
        wanted, found = rg.value_and_grad(tags)(ps, words), compiled.value_and_grad(ps, words)
        assert found[0] == pytest.approx(wanted[0], rel=1e-12)
        assert found[1] == pytest.approx(wanted[1], rel=1e-12)
    assert is_converted(compiled, traces=5)
    many = [Index(k) for k in (7, 7, 1, 0, 2, 4)]
    assert rg.vmap(compiled, in_axes=(None, 0))(ps, [many, many])[1] == pytest.approx(float(tags(ps, many)))
    second = rg.hessian(compiled)(ps, many)
    assert [list(row) for row in second] == [pytest.approx(list(row)) for row in rg.hessian(tags)(ps, many)]


def test_an_index_that_chooses_between_values_and_numbers() -> None:
    """Whether it is a Value or a number decides, also where other comparisons of the index do not."""
    leaf = rg.Value(0.7)

    def f(x: float, i: Index) -> Any:
        scale = 2.0 if i == 1 else 3.0
        found = rg.take([leaf, x, leaf * x, 0.25], i)
        return scale * (found.tanh() if isinstance(found, rg.Value) else found) + leaf

    compiled = rg.compile(f)
    for seed in range(40):
        x, i = draw(seed)[1][0], Index(seed * 7 % 4)
        leaf.grad = 0.0
        wanted = f(x, i)
        wanted.backward()
        gradient, leaf.grad = leaf.grad, 0.0
        assert compiled.backward(x, i) == pytest.approx(wanted.data)
        assert leaf.grad == pytest.approx(gradient)


def test_an_index_is_no_huge_number() -> None:
    compiled = rg.compile(lambda p, i: p * 2.0 if i == 10**400 or i > 2**40 else (p if i < 2 else -p))
    for k in (0, 1, 2, 3, 2, 1, 0):
        assert compiled.value_and_grad(1.5, Index(k)) == ((1.5, 1.0) if k < 2 else (-1.5, -1.0))


# --- records among the arguments ------------------------------------------------------------------------------------


class Taxes:
    """What is asked of each kind of record."""

    __slots__ = ()
    income: Any

    def taxed(self) -> Any:
        if self.income > 0.5:
            return self.income * 0.8
        return self.income

    @property
    def poor(self) -> Any:
        return self.income < 0.1


class House(NamedTuple):
    income: Any
    rent: Any

    taxed = Taxes.taxed
    poor = Taxes.poor


@dataclass
class Person(Taxes):
    income: Any
    rent: Any


@dataclass(frozen=True, slots=True)
class Frozen(Taxes):
    income: Any
    rent: Any


class Registered(Taxes):
    def __init__(self, income: Any, rent: Any) -> None:
        self.income, self.rent = income, rent


rg.register_pytree_node(Registered, lambda one: ((one.income, one.rent), None), lambda _, both: Registered(*both))


@pytest.mark.parametrize("kind", [House, Person, Frozen, Registered])
def test_records_among_the_arguments(kind: Callable[[Any, Any], Any]) -> None:
    def f(rate: Any, houses: Sequence[Any]) -> Any:
        total = rate * rate
        for one in houses:
            total += rate * one.taxed() - (one.rent if one.rent < one.income else one.income)
            if one.poor:
                total += 0.1 * rate
        return total

    compiled = rg.compile(f)
    for seed in range(30):
        incomes, rents = draw(seed)
        houses = [kind(a, b) for a, b in zip(incomes, rents, strict=True)]
        wanted = rg.value_and_grad(f)(0.5, houses)
        assert compiled.value_and_grad(0.5, houses) == pytest.approx(wanted)
        assert rg.value_and_grad(compiled)(0.5, houses) == pytest.approx(wanted)
    assert is_converted(compiled)
    assert getattr(kind, "__name__", "") in compiled.guards()


def test_a_method_of_an_argument_is_replaced() -> None:
    class Own(NamedTuple):
        x: Any

        def twice(self) -> Any:
            return self.x * 2.0

    compiled = rg.compile(lambda p, own: p * own.twice())
    assert compiled.value_and_grad(3.0, Own(2.0)) == (12.0, 4.0)
    Own.twice = lambda self: self.x * 5.0  # type: ignore[method-assign]
    assert compiled.value_and_grad(3.0, Own(2.0)) == (30.0, 10.0)


class Noted(NamedTuple("Noted", [("income", Any), ("rent", Any)])):
    """A named tuple to which attributes can be added."""


@pytest.mark.parametrize("kind", [Person, Noted])
def test_a_record_has_attributes_beside_its_fields(kind: Callable[[Any, Any], Any]) -> None:
    def f(p: Any, one: Any) -> Any:
        return p * one.income * getattr(one, "weight", 1.0)

    compiled = rg.compile(f)
    for weight in (None, None, 3.0, 4.0, None):
        one = kind(1.5, 2.0)
        if weight is not None:
            one.weight = weight
        wanted = 1.5 * (weight or 1.0)
        assert compiled.value_and_grad(2.0, one) == (2.0 * wanted, wanted)
        assert rg.value_and_grad(compiled)(2.0, one) == (2.0 * wanted, wanted)


def test_an_attribute_with_the_name_of_a_global_variable() -> None:
    """The variable is no part of the function, and may change."""
    names: dict[str, Any] = {"scale": 1.0, "rg": rg}
    text = "class Box:\n    def __init__(self, scale): self.scale = scale\ndef f(p, x): return Box(p).scale * x\n"
    exec(text, names)
    compiled = rg.compile(names["f"])
    for k in range(6):
        names["scale"] = float(k)
        assert compiled.value_and_grad(2.0, 3.0) == (6.0, 3.0)
    assert compiled.stats().traces == 1


def test_what_an_arm_has_stored_in_is_taken_away() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total, last = 0.0, {"x": ps[0]}
        for x in xs:
            row = [ps[1]]
            if x > 0.0:
                row[-1] = ps[2] * x
                last["x"] = x * ps[3]
            total += row.pop() + last.pop("x")
            last["x"] = total
        return total

    flips(f, 40)
