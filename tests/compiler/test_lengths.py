"""Lists that have another length in nearly every call: a program for each length, or taped code."""

from __future__ import annotations

import enum
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.outcomes import are_alike, outcome
from support.parts import require

import retrograd as rg
from retrograd import Value
from retrograd.compiler import backoff, structures
from retrograd.compiler.if_conversion import budget
from retrograd.compiler.reports.reasons import Reason

pytestmark = pytest.mark.native


@pytest.fixture(autouse=True)
def _few_structures_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structures, "MANY", 24)


Parameters = list[float]
Numbers = list[float]


def line(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total = 0.0
    for x, y in zip(xs, ys, strict=False):
        total = total + (p[0] * x + p[1] - y) ** 2
    return total / len(xs)


def recurrence(p: Any, xs: Numbers, ys: Numbers) -> Any:
    state = p[0]
    for x in xs:
        state = 0.9 * state + p[1] * x
    return state


def of_lists(p: Any, xs: Numbers, ys: Numbers) -> Any:
    return p[0] * sum(xs) + p[1] * sum(y * y for y in ys) / len(ys) + max(xs) * p[0] - min(ys)


def branches(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total = p[0]
    for i, x in enumerate(xs):
        if x > 0.5:
            total = total + x / (i + 1)
        total = total - p[1] * x
    return total


def ends(p: Any, xs: Numbers, ys: Numbers) -> Any:
    return p[0] * xs[0] + p[1] * xs[-1] + xs[1] * p[0] - ys[-2] * p[1]


def by_index(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total = p[0]
    for i in range(len(xs)):
        total = total + xs[i] * p[1] ** 2
    return total


def nested(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total = p[0]
    for x in xs:
        for y in ys:
            total = total + (x - y * p[1]) ** 2
    return total / (len(xs) * len(ys))


def neighbours(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total = p[0]
    for x, y in zip(xs, xs[1:], strict=False):  # noqa: RUF007  (as people write it)
        total = total + p[1] * (y - x) ** 2
    return total


def made(p: Any, xs: Numbers, ys: Numbers) -> Any:
    zs = [p[0] * x for x in xs]
    return sum(z * z for z in zs) + p[1] * zs[-1]


def backwards(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total = p[0]
    for x in reversed(xs):
        total = total * 0.5 + x * p[1]
    return total


def softmax(p: Any, xs: Numbers, ys: Numbers) -> Any:
    largest = max(p[0] * x for x in xs)
    exponentials = [rg.math.exp(p[0] * x - largest) for x in xs]
    return -rg.math.log(exponentials[0] / sum(exponentials)) + p[1]


def while_loop(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total, i = p[0], 0
    while i < len(xs):
        total = total + xs[i] * p[1]
        i += 1
    return total


def found(p: Any, xs: Numbers, ys: Numbers) -> Any:
    for x in xs:
        if x > 0.9:
            return p[0] * x
    return p[1] * len(xs)


def early(p: Any, xs: Numbers, ys: Numbers) -> Any:
    total = p[0]
    for x in xs:
        if x < 0.1:
            continue
        if x > 0.95:
            break
        total = total * x + p[1]
    return total


FUNCTIONS: list[Callable[..., Any]] = [
    *(line, recurrence, of_lists, branches, ends, by_index, nested, neighbours, made, backwards, softmax),
    *(found, early),
]


def draws(seed: int, calls: int, least: int = 2, most: int = 40) -> list[tuple[Parameters, Numbers, Numbers]]:
    draw = random.Random(seed)

    def numbers() -> Numbers:
        return [draw.random() for _ in range(draw.randrange(least, most))]

    return [([draw.gauss(0, 1), draw.gauss(0, 1)], numbers(), numbers()) for _ in range(calls)]


@pytest.mark.parametrize("method", ["value_and_grad", "call"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: str(one.__name__))
def test_taped_code_takes_lists_of_all_lengths(function: Callable[..., Any], method: str) -> None:
    require("llvmlite")
    compiled, plain = rg.compile(function, tier="llvm"), rg.value_and_grad(function)
    for call in draws(1, 260):
        if method == "call":
            assert compiled(*call) == pytest.approx(function(*call), rel=1e-11, abs=1e-12)
        else:
            value, slopes = compiled.value_and_grad(*call)
            wanted, expected = plain(*call)
            assert value == pytest.approx(wanted, rel=1e-11, abs=1e-12)
            assert slopes == pytest.approx(expected, rel=1e-11, abs=1e-12)
    assert compiled.stats().taped_hits > 130


@pytest.mark.parametrize("tier", ["auto", "interpreter"])
def test_many_lengths_without_taped_code(tier: str) -> None:
    """Where nothing but programs can answer, a warning says what lists of many lengths cost."""
    compiled, plain, calls = rg.compile(np_mean, tier=tier), rg.value_and_grad(np_mean), draws(2, 400, 2, 200)
    with pytest.warns(rg.errors.CompileWarning, match="Lists of one length share a program: argument 1 has"):
        found = [compiled.value_and_grad(*call)[0] for call in calls]
    assert found == pytest.approx([plain(*call)[0] for call in calls], rel=1e-12)


def np_mean(p: Any, xs: Numbers, ys: Numbers) -> Any:
    """Taped code makes no arrays."""
    return p[0] * float(np.mean(np.array(xs))) + p[1] * len(ys)


def test_each_of_a_few_lengths_has_a_program_of_its_own() -> None:
    compiled = rg.compile(line)
    for p, xs, _ in draws(2, 300, 2, 20):
        compiled.value_and_grad(p, xs, xs)
    assert compiled.stats().traces == 18


def test_what_the_function_raises_for_short_lists() -> None:
    def fifth(p: Any, xs: Numbers, ys: Numbers) -> Any:
        return p[0] * xs[4] + p[1] * max(ys)

    compiled = rg.compile(fifth)
    for p, xs, ys in draws(4, 250, 0, 40):
        assert are_alike(outcome(compiled, p, xs, ys), outcome(fifth, p, xs, ys))


class Kind(enum.Enum):
    A = 1
    B = 2


class Point(NamedTuple):
    x: float
    weight: float | None
    tag: str


@dataclass
class Group:
    name: str
    count: int
    kind: Kind
    points: list[Point]


def rows(p: Any, groups: list[Group], scale: dict[str, Numbers]) -> Any:
    total = p[0]
    for group in groups:
        part = 0.0 * p[0]
        for point in group.points:
            if point.weight is not None and point.tag != "skip":
                part = part + point.weight * (point.x - p[1]) ** 2
        total = total + part * group.count if group.kind is Kind.A else total - part
    return total + sum(scale["a"]) * p[1]


def group(draw: random.Random) -> Group:
    points = [
        Point(draw.random(), draw.choice([None, draw.random()]), draw.choice(["skip", "keep"]))
        for _ in range(draw.randrange(1, 6))
    ]
    return Group(draw.choice("xy"), draw.randrange(4), draw.choice([Kind.A, Kind.B]), points)


def test_records_with_lists_of_records() -> None:
    draw, compiled, plain = random.Random(5), rg.compile(rows), rg.value_and_grad(rows)
    for _ in range(300):
        groups = [group(draw) for _ in range(draw.randrange(1, 7))]
        scale = {"a": [draw.random() for _ in range(draw.randrange(1, 9))]}
        value, slopes = compiled.value_and_grad([0.3, 0.7], groups, scale)
        wanted, expected = plain([0.3, 0.7], groups, scale)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert slopes == pytest.approx(expected, rel=1e-12)


OTHERS: dict[str, Callable[..., Any]] = {
    "while": while_loop,
    "pairwise": lambda p, xs, ys: p[0] * sum(abs(x - y) for x, y in itertools.pairwise(xs)) + p[1],
    "arrays": lambda p, xs, ys: p[0] * float(np.sum(np.array(xs))) + p[1],
    "fsum": lambda p, xs, ys: p[0] * math.fsum(xs) + p[1],
    "power": lambda p, xs, ys: p[0] ** len(xs) + p[1],
    "tables": lambda p, xs, ys: p[0] * [1.0, 2.0, 3.0][len(xs) % 3] + p[1],
    "texts": lambda p, xs, ys: p[0] * len(str(len(xs))) + p[1],
    "copies": lambda p, xs, ys: p[0] * sum(list(xs)) + p[1] * sum(xs[:]) + len(xs + ys),
    "truth": lambda p, xs, ys: p[0] if xs else p[1],
    "membership": lambda p, xs, ys: p[0] * (0.5 in xs) + p[1] * xs.count(0.5),
    "sorted": lambda p, xs, ys: p[0] * sorted(xs)[0] + p[1] * sorted(ys)[-1],
    "last few": lambda p, xs, ys: p[0] * sum(xs[-3:]) + p[1] * sum(ys[:-1]),
    "equal": lambda p, xs, ys: p[0] if xs == ys else p[1],
    "unpacked": lambda p, xs, ys: (lambda first, *rest: p[0] * first + p[1] * len(rest))(*xs),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_needs_plain_lists_is_the_function(name: str) -> None:
    function = OTHERS[name]
    compiled, plain = rg.compile(function), rg.value_and_grad(function)
    for p, xs, ys in draws(6, 120, 1, 40):
        value, slopes = compiled.value_and_grad(p, xs, ys)
        wanted, expected = plain(p, xs, ys)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert slopes == pytest.approx(expected, rel=1e-12)


def test_values_in_lists_get_their_gradients() -> None:
    def dot(values: list[Any], xs: Numbers) -> Any:
        return sum(v * x for v, x in zip(values, xs, strict=True))

    draw, compiled = random.Random(7), rg.compile(dot)
    for _ in range(150):
        length = draw.randrange(1, 40)
        xs, values = [draw.random() for _ in range(length)], [Value(draw.random()) for _ in range(length)]
        assert compiled.backward(values, xs) == pytest.approx(sum(v.data * x for v, x in zip(values, xs, strict=True)))
        assert [v.grad for v in values] == pytest.approx(xs)


def test_in_exact_mode_each_length_has_its_own_program() -> None:
    compiled, plain = rg.compile(line, exact=True), rg.value_and_grad(line)
    for call in draws(8, 200):
        assert compiled.value_and_grad(*call) == plain(*call)


def test_batches_of_lists() -> None:
    compiled = rg.compile(recurrence)
    for call in draws(9, 120):
        compiled(*call)
    members = [(p, xs, ys) for p, xs, ys in draws(10, 40)]
    assert compiled.call_batch(members) == pytest.approx([recurrence(*member) for member in members], rel=1e-12)
    assert sum(n for cause, n in compiled.stats().causes.items() if cause.reason is Reason.DIFFERS) == 0


def test_rows_that_are_in_several_lists() -> None:
    @dataclass
    class Row:
        x: float
        weight: Any

    def total(p: float, rows: list[Row]) -> float:
        found = 0.0 * p
        for row in rows:
            found = found + p * row.x * row.weight
        return found

    draw, compiled = random.Random(11), rg.compile(total)
    kept = [Row(draw.random(), draw.random()) for _ in range(40)]
    for _ in range(150):
        first = draw.randrange(30)
        rows = kept[first : first + draw.randrange(1, 40)]
        assert compiled(0.7, rows) == pytest.approx(total(0.7, rows), rel=1e-12)


def test_an_arm_that_changes_the_callers_list() -> None:
    def popped(p: Any, xs: Numbers, ys: Numbers) -> Any:
        if ys[0] > 0.9:
            xs.append(2.0)
        return p[0] * sum(xs) + p[1]

    compiled = rg.compile(popped)
    for p, xs, ys in draws(12, 250):
        mine, theirs = list(xs), list(xs)
        assert compiled(p, mine, ys) == pytest.approx(popped(p, theirs, ys), rel=1e-12)
        assert mine == theirs


def test_a_copy_of_the_callers_list_may_change() -> None:
    def padded(p: Any, xs: Numbers, ys: Numbers) -> Any:
        mine = list(xs)
        mine.append(p[0])
        if ys[0] > 0.5:
            mine.append(p[1])
        return sum(x * x for x in mine)

    compiled, plain = rg.compile(padded), rg.value_and_grad(padded)
    for p, xs, ys in draws(13, 200):
        before = list(xs)
        value, slopes = compiled.value_and_grad(p, xs, ys)
        wanted, expected = plain(p, xs, ys)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert slopes == pytest.approx(expected, rel=1e-12)
        assert xs == before


def spelled(p: Any, rows: list[tuple[str, Numbers]]) -> Any:
    total = p[0]
    for word, xs in rows:
        labels = ["abc".index(letter) for letter in word]
        state = [0.0] * len(labels)
        for x in xs:
            for place, label in enumerate(labels):
                score = p[label] * x
                state[place] = score if score > state[place] else state[place] + 0.5 * score
        total = total + state[-1]
    return total


def test_texts_that_are_others_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_FREE", 1 << 19)  # traces are put off for hundreds of calls
    monkeypatch.setattr(backoff, "_CALLS", 16)
    draw, p, compiled = random.Random(8), [0.1, 0.2, 0.3], rg.compile(spelled)
    traces = []
    for _ in range(1500):
        words = ("".join(draw.choices("abc", k=draw.randrange(2, 6))) for _ in range(8))
        rows = [(word, [draw.uniform(-1, 1) for _ in range(draw.randrange(1, 9))]) for word in words]
        assert compiled.value_and_grad(p, rows)[0] == pytest.approx(spelled(p, rows), rel=1e-12)
        traces.append(compiled.stats().traces)
    assert traces[-1] <= traces[900] + 2 <= 16  # seven, and nine with what was read otherwise


@dataclass
class Leg:
    kind: str
    strike: float
    count: int
    expiry: float | None = None


@pytest.mark.parametrize("kinds", [("call",), ("call", "put")])
def test_what_may_be_missing_in_some_of_the_lengths(kinds: tuple[str, ...]) -> None:
    """A call of a new length in which nothing is missing does not end that."""

    def price(legs: list[Leg], spot: Any) -> Any:
        total = 0.0 * spot
        for leg in legs:
            time = leg.expiry if leg.expiry is not None else 0.5
            gain = spot - leg.strike if leg.kind == "call" else leg.strike - spot
            total += leg.count * rg.math.maximum(gain, 0.0) * rg.math.exp(-0.1 * time)
        return total

    rng = random.Random(3)
    compiled = rg.compile(price)
    for _ in range(400):
        legs = [
            Leg(rng.choice(kinds), rng.uniform(80.0, 120.0), rng.randint(-3, 3), rng.choice([None, 0.25, 1.0]))
            for _ in range(rng.randint(1, 8))
        ]
        spot = rng.uniform(70.0, 130.0)
        assert compiled(legs, spot) == pytest.approx(price(legs, spot), rel=1e-12, abs=1e-12)
