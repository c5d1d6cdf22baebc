"""Ints among the arguments: a program reads those that differ from call to call, and is made for the others."""

from __future__ import annotations

import functools
import itertools
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.counted_programs import check as check_calls

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE
from retrograd.errors import CompileWarning

pytestmark = pytest.mark.native

if ENGINE == "native":
    from retrograd.compiler.calls.varying import IN_LIST, Varying, between

PARAMETERS = [0.3, 0.9, -0.2]
ROWS = [[1.0 * i + j * j for i in range(4)] for j in range(5)]


def check(function: Callable[..., Any], make: Callable[[random.Random], Any], programs: int, **options: Any) -> Any:
    """Sixty calls with data of one make, at most so many programs."""
    draw = random.Random(5)
    return check_calls(function, PARAMETERS, [make(draw) for _ in range(60)], programs, **options)


def test_counts() -> None:
    def loss(p: Any, data: Any) -> Any:
        return sum(rm.exp(p[0] + p[1] * x) - n * (p[0] + p[1] * x) + math.lgamma(n + 1) for x, n in data)

    check(loss, lambda draw: [(draw.gauss(0, 1), draw.randrange(5)) for _ in range(6)], 2)


def answers_as(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Any:
    """Each call gives what the function gives, of the same type."""
    compiled = rg.compile(function)
    for call in calls:
        assert repr(compiled(*call)) == repr(function(*call)), call
    return compiled


MIXED = [(1, 0.5), (2.5, 0.5), (2.75, 3.0), (4, 3.0), (0, 3.0), (2**40 + 1, 3.0)]


def test_a_float_in_the_place_of_an_int_is_another_structure() -> None:
    def bits(x: Any, y: float) -> float:
        try:
            return y * (x & 1)
        except TypeError:
            return y * 2

    def kind(x: Any, y: float) -> float:
        match x:
            case int():
                return y
            case _:
                return 2 * y

    for function in (bits, kind):
        answers_as(function, MIXED)
    answers_as(lambda x, y: x + 1, MIXED)
    answers_as(lambda x, y: float(x), MIXED)
    answers_as(lambda x, y: math.copysign(y, -x), MIXED)
    answers_as(lambda x, y: y * ((x * 10**16) % 97), MIXED)


INTS = [(1, 0.5), (2, 0.5), (3, 0.5), (3, -1.0), (5, 2.0)]


def test_what_only_an_int_tells() -> None:
    answers_as(lambda n, x: math.exp(x) if not hasattr(n, "__len__") and x < 0 else x, INTS)
    answers_as(lambda n, x: math.exp(x) if {int: 1}.get(type(n)) and x < 0 else x, INTS)
    answers_as(lambda n, x: math.exp(x) if not isinstance(n, Iterable) and x < 0 else x, INTS)
    answers_as(lambda n, x: math.exp(x) if issubclass(type(n), int) and x < 0 else x, INTS)
    answers_as(lambda n, x: x * (math.prod([n * 90000001, n * 80000001]) % 1000), INTS)
    answers_as(lambda n, x: (x, math.prod([n, 3])), INTS)
    scope: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec("def is_three(n, x): return x * 2 if n is 3 else x", scope)
    answers_as(scope["is_three"], INTS)


def test_a_cache_keeps_no_tracer() -> None:
    @functools.cache
    def square(n: Any) -> Any:
        return n * n + 0.5

    def loss(p: Any, ns: list[int]) -> Any:
        return sum(p * square(n) for n in ns)

    def of_float(p: Any, x: float) -> Any:
        return p * square(int(x * 4))

    draw = random.Random(2)
    calls = [(1.5, [draw.randrange(6) for _ in range(4)]) for _ in range(20)]
    compiled = rg.compile(loss)
    for call in calls:
        assert compiled(*call) == loss(*call)
        assert [square(k) for k in range(6)] == [k * k + 0.5 for k in range(6)]
    answers_as(of_float, [(1.5, draw.random()) for _ in range(20)])
    assert square.cache_info().currsize == 6


@pytest.mark.parametrize("exact", [False, True])
def test_arithmetic_of_ints(exact: bool) -> None:
    def loss(p: Any, days: list[int]) -> Any:
        n, m = days
        rest = n // 7 - (-n) % 5 + (n * m) ** 0.5 * p[1] + p[2] * abs(n - m) + (n + m) ** 2
        return p[0] * (n - m) / 365 + rest + p[0] ** n + math.atan2(-n, -1.0) * p[1]

    check(loss, lambda draw: [draw.randrange(9), draw.randrange(9)], 2, exact=exact)


def test_kinds() -> None:
    def loss(p: Any, data: Any) -> Any:
        total = p[0]
        for kind, x in data:
            if kind == 0:
                total = total + x * p[1]
            elif kind == 1:
                total = total * p[2]
            else:
                total = total - x
        return total

    check(loss, lambda draw: [(draw.randrange(3), draw.random()) for _ in range(6)], 3)


def test_positions_in_lists() -> None:
    def loss(p: Any, pairs: Any) -> Any:
        total = 0.0
        for a, b in pairs:
            total = total + p[a] * p[b] * ROWS[b][a]
        return total

    check(loss, lambda draw: [(draw.randrange(3), draw.randrange(3)) for _ in range(6)], 12)


def test_how_often_a_loop_runs_stays_part_of_the_program() -> None:
    def loss(p: Any, data: Any) -> Any:
        total = p[0]
        for _ in range(data[0]):
            total = total * p[1] + data[1]
        return total

    compiled = check(loss, lambda draw: [draw.randrange(2, 5), draw.random()], 4)
    assert "a list of 2, a float" in compiled.guards()


def test_fields_and_keys() -> None:
    @dataclass
    class Match:
        home: int
        away: int
        weight: float

    def loss(p: Any, data: Any) -> Any:
        error = sum(one.weight * (p[0] * one.home - p[1] * one.away) ** 2 for one in data["matches"])
        return error + p[2] * data["day"]

    def season(draw: random.Random) -> Any:
        matches = [Match(draw.randrange(4), draw.randrange(4), draw.random()) for _ in range(4)]
        return {"matches": matches, "day": draw.randrange(100)}

    check(loss, season, 2)


def test_large_ints() -> None:
    def loss(p: Any, ns: list[int]) -> Any:
        return p[0] * ((ns[0] + 1) ** 2 - ns[0] ** 2) + p[1] * (ns[1] / 3)

    compiled, eager = rg.compile(loss), rg.value_and_grad(loss)
    for ns in ([1, 2], [3, 4], [5, 2**31], [2**30, 2**53 + 1], [-(2**31), 7], [2**60, 10**25], [7, 8]):
        assert compiled.value_and_grad(PARAMETERS, ns) == eager(PARAMETERS, ns)


@pytest.mark.parametrize("in_place", [True, False])
def test_ints_that_python_makes_once_and_others(in_place: bool) -> None:
    from retrograd import _native

    class Count(int):
        pass

    def function(p: Any, rows: list[list[int]]) -> Any:
        return sum(p[0] * n + p[1] * n * n for row in rows for n in row)

    before = _native.read_in_place(in_place)
    try:
        compiled = rg.compile(function)
        for first in (0, -5, 256, -6, 257, 1, 255, -4, 2**20, -(2**30), True, Count(7), 3):
            rows = [[first, 2], [3, first]]
            assert compiled.value_and_grad([0.5, 2.0], rows) == rg.value_and_grad(function)([0.5, 2.0], rows)
        assert compiled.stats().hits >= 8
    finally:
        _native.read_in_place(before)


def test_results_are_ints_where_they_were() -> None:
    compiled = rg.compile(lambda p, n: [n * 2, p * n, n])
    for n in (1, 2, 3, 0, -4, 2.5, 7):
        for one, other in zip(compiled(0.5, n), [n * 2, 0.5 * n, n], strict=True):
            assert one == other
            assert type(one) is type(other)


def test_bools_are_no_ints() -> None:
    def loss(p: Any, flag: Any) -> Any:
        return p[0] if flag is True else p[1] * flag

    compiled, eager = rg.compile(loss), rg.value_and_grad(loss)
    for flag in (1, True, 0, False, 2, True, 3):
        assert compiled.value_and_grad(PARAMETERS, flag) == eager(PARAMETERS, flag)


def test_questions_about_kinds() -> None:
    def loss(p: Any, x: Any) -> Any:
        return p[0] * x if isinstance(x, int) else p[1] * x

    compiled, eager = rg.compile(loss), rg.value_and_grad(loss)
    for x in (1, 2.5, 2, 1.0, 3, 0.5, 4):
        assert compiled.value_and_grad(PARAMETERS, x) == eager(PARAMETERS, x)


def test_batches() -> None:
    w = rg.Value(0.7)
    compiled = rg.compile(lambda n, x: (w * n - x) ** 2)
    members = [(n % 5, 0.5 * n) for n in range(20)]
    for _ in range(3):
        w.grad = 0.0
        mean = compiled.backward_batch(members)
        assert mean == pytest.approx(sum((0.7 * n - x) ** 2 for n, x in members) / 20)
        assert w.grad == pytest.approx(sum(2 * (0.7 * n - x) * n for n, x in members) / 20)


def test_what_varies_between_descriptions() -> None:
    def of(*parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return "sequence", tuple, [("sequence", list, [*parts])]

    one, two, real = ("equal", 1), ("equal", 2), ("passive", 0, float)
    column = (0, IN_LIST)
    assert between(of(one, real), of(two, real)) == Varying(ints=frozenset({column}))
    assert between(of(one, real), of(real, real)) is None
    assert between(of(one), of(one, one)) is None
    assert between(of(one), of(("equal", "a"))) is None
    assert between(of(("floats", list, 0, 2, False, float)), of(("floats", list, 3, 2, False, float))) == Varying()


def test_positions_from_the_end() -> None:
    def loss(p: Any, places: list[int]) -> Any:
        return sum(p[place] * place for place in places)

    compiled, eager, draw = rg.compile(loss), rg.value_and_grad(loss), random.Random(3)
    for turn in range(60):
        places = [draw.randrange(-1 if turn % 7 == 0 else 0, 3) for _ in range(4)]
        value, gradient = compiled.value_and_grad(PARAMETERS, places)
        wanted, slopes = eager(PARAMETERS, places)
        assert (value, *gradient) == pytest.approx((wanted, *slopes))
    with pytest.raises(IndexError):
        compiled.value_and_grad(PARAMETERS, [0, 1, 3, 2])


def test_an_int_that_is_asked_what_it_is_stays_part_of_the_program() -> None:
    """A tracer has another size, so that the program disagrees with the plain run."""

    def size(p: Any, k: int) -> Any:
        return p[0] * sys.getsizeof(k) + p[1] * k

    compiled = rg.compile(size)
    for k in [1, 2, 3, 1, 5, 2**40, 7, 2**40, 9]:
        assert compiled.value_and_grad(PARAMETERS, k) == rg.value_and_grad(size)(PARAMETERS, k)
    assert compiled.stats().eager == 0
    assert min(compiled.stats().reasons.values()) > 0


# --- ints of NumPy's, and truth values in lists


def test_arrays_of_ints() -> None:
    def classified(p: Any, data: Any) -> Any:
        points, labels = data
        return sum(rm.softplus(p[0] * x - y) - p[label] * x for (x, y), label in zip(points, labels, strict=True))

    def counted(p: Any, data: Any) -> Any:
        points, counts = data
        return sum(rm.exp(p[0] + p[1] * x) - n * (p[0] + p[1] * x) for (x, _), n in zip(points, counts, strict=True))

    def draw(random: random.Random, kind: Any) -> Any:
        points = np.array([[random.gauss(0, 1), random.gauss(0, 1)] for _ in range(5)])
        return points, np.array([random.randrange(3) for _ in range(5)], kind)

    for kind in (np.int64, np.int32, np.uint8):
        check(counted, functools.partial(draw, kind=kind), 2)
        check(classified, functools.partial(draw, kind=kind), 8)
    check(
        lambda p, data: p[0] * data[0][0, 0] * data[1], lambda random: (np.ones((1, 1)), np.int64(random.random())), 1
    )


NUMPYS: dict[str, Callable[[Any, float], Any]] = {
    "sum": lambda k, x: x * (k + k),
    "with a plain int": lambda k, x: x * (k + 100),
    "product": lambda k, x: x * float(k * k * k),
    "difference": lambda k, x: x * (k - 200),
    "negative": lambda k, x: x * (-k),
    "quotients": lambda k, x: x * (k / 3) * (k // 7) + k % 7,
    "powers": lambda k, x: x**k + k**2,
    "power of an int": lambda k, x: x * 2**k,
    "large": lambda k, x: x * ((k * 1000003) * (k * 1000033)),
    "isinstance": lambda k, x: x if isinstance(k, int) else 2 * x,
    "isinstance of NumPy's": lambda k, x: x if isinstance(k + 1, np.integer) else 2 * x,
    "int": lambda k, x: x * (int(k) + 100) if isinstance(int(k), int) else x,
    "item": lambda k, x: x * (k.item() + 100),
    "bits": lambda k, x: x * (k << 2) + (k & 6) + ~k,
    "returned": lambda k, x: (k, x),
    "returned sum": lambda k, x: (k * 2, x),
    "largest": lambda k, x: x * (max(k, k + 1) + 100),
    "root": lambda k, x: x * np.sqrt(k),
    "function": lambda k, x: x * np.add(k, k),
    "chosen": lambda k, x: x * ((k if x > 0.5 else 3) + 200),
    "key": lambda k, x: {1: x, 2: 2 * x}.get(k, 3 * x),
    "text": lambda k, x: x * len(f"{k}"),
    "range": lambda k, x: sum(x for _ in range(k % 5)) + 0.0,
    "divisor": lambda k, x: x / (k or 1),
}
SIZES = {np.int64: 2**30, np.int32: 2**31 - 1, np.uint8: 255, np.int8: 127, np.uint16: 60000}


def outcome(function: Callable[..., Any], call: tuple[Any, ...]) -> str:
    """What a call gives, or what it raises."""
    try:
        return repr(function(*call))
    except (ArithmeticError, ValueError) as error:
        return repr(error)


@pytest.mark.parametrize("name", NUMPYS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::retrograd.errors.CompileWarning")
def test_ints_of_numpys_overflow_as_they_do(name: str) -> None:
    function = NUMPYS[name]
    for kind, largest in SIZES.items():
        numbers = [1, 2, 5, 100, largest, 0, 3, largest - 1, 7]
        pairs = [(kind(number), (0.3, 0.7)[place % 2]) for place, number in enumerate(numbers)]
        in_arrays = [(np.array([number, 3], kind), x) for number, x in pairs]
        for calls, of in ((pairs, function), (in_arrays, lambda ks, x: function(ks[0], x))):
            compiled = rg.compile(of)
            for call in [*calls, *calls]:
                assert outcome(compiled, call) == outcome(of, call), call


def test_truth_values_in_lists() -> None:
    @dataclass
    class Subject:
        time: float
        died: bool
        arm: int

    def survival(p: Any, subjects: Any) -> Any:
        total = 0.0
        for one in subjects:
            hazard = rm.exp(p[one.arm] * one.time)
            total = total + (hazard - rm.log(hazard) if one.died else hazard)
        return total

    def subjects(draw: random.Random) -> Any:
        return [Subject(draw.random(), draw.random() < 0.5, draw.randrange(3)) for _ in range(6)]

    check(survival, subjects, 8)

    def rows(draw: random.Random) -> Any:
        return [(draw.random(), draw.random() < 0.5) for _ in range(6)]

    check(lambda p, rows: sum(p[0] * x for x, seen in rows if seen) + p[1], rows, 4)
    check(lambda p, rows: sum(p[seen] * x for x, seen in rows), rows, 4)
    check(lambda p, rows: sum({True: p[0], False: p[2]}[seen] * x for x, seen in rows), rows, 4)
    check(lambda p, rows: sum(p[0] * x * seen for x, seen in rows) + sum(s for _, s in rows), rows, 4)
    check(lambda p, rows: sum(p[0] * x for x, seen in rows if seen == True or x > 0.9) + p[1], rows, 4)  # noqa: E712


FLAGS: dict[str, Callable[[Any, float], Any]] = {
    "sum": lambda k, x: x * (k[0] + k[1]),
    "returned": lambda k, x: (k[0], x),
    "identity": lambda k, x: x if k[0] is True else 2 * x,
    "isinstance": lambda k, x: x if isinstance(k[0], int) else 2 * x,
    "bits": lambda k, x: x * ((k[0] & k[1]) + (k[0] | k[1]) + (k[0] ^ k[1])) - k[0],
    "equality": lambda k, x: x if k[0] == k[1] else 2 * x,
    "equality with numbers": lambda k, x: (x if k[0] == 1 else 2 * x) + (k[1] == 0.0) + (k[0] != False),  # noqa: E712
    "place": lambda k, x: [x, 2 * x][k[0]],
    "key": lambda k, x: {1: x, 0: 3 * x}[k[0]] + {(True, True): x}.get(tuple(k), 2 * x),
    "any": lambda k, x: x if any(k) and not all(k) else 2 * x,
    "sorted": lambda k, x: sorted(k)[0] * x + k.count(True),
    "power": lambda k, x: x ** k[0] / (k[1] + 1),
    "text": lambda k, x: x * len(f"{k[0]}{k[1]!r}"),
    "array": lambda k, x: x * np.array(k).sum(),
    "mask": lambda k, x: np.array([x, 2 * x])[np.array(k)].sum(),
    "or": lambda k, x: (k[0] or 5) * x + (k[1] and x),
    "in": lambda k, x: (x if True in k else 2 * x) + (3 if k[0] in (1, 2) else 4),
    "division": lambda k, x: x / (k[0] + 2),
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_truth_values_are_what_they_are(name: str) -> None:
    calls = [([one, other], x) for one in (True, False) for other in (True, False) for x in (0.25, 1.0)]
    answers_as(FLAGS[name], [*calls, *calls])


def test_single_truth_values_choose_programs() -> None:
    compiled = answers_as(lambda x, flag: x * 2.0 if flag else x + 1.0, [(0.5 * n, n % 2 == 0) for n in range(8)])
    assert len(compiled.stats().programs) == 2
    assert "True" in compiled.guards()


# --- texts in lists


def rows_of(*texts: str) -> Callable[[random.Random], Any]:
    return lambda draw: [(draw.choice(texts), draw.random()) for _ in range(6)]


def test_texts_choose() -> None:
    rates = {"A": 2.0, "B": 3.0}

    def by_branches(p: Any, rows: Any) -> Any:
        total = 0.0
        for kind, x in rows:
            if kind == "A":
                total = total + p[0] * x
            elif kind in ("B", "C"):
                total = total + p[1] * x * x
            else:
                total = total + p[2]
        return total

    def by_patterns(p: Any, rows: Any) -> Any:
        total = 0.0
        for kind, x in rows:
            match kind:
                case "A":
                    total = total + p[0] * x
                case "B" | "C":
                    total = total + p[1] * x * x
                case _:
                    total = total + p[2]
        return total

    def by_neighbours(p: Any, rows: Any) -> Any:
        return sum((p[0] if k == n else p[1]) * x * y for (k, x), (n, y) in itertools.pairwise(rows))

    for function in (by_branches, by_patterns, by_neighbours):
        check(function, rows_of("A", "B", "C", "D"), 4)
    check(lambda p, rows: sum(p[0] * rates[kind] * x for kind, x in rows), rows_of("A", "B"), 8)
    check(lambda p, rows: sum(p[0] * rates.get(kind, 5.0) * x for kind, x in rows), rows_of("A", "B", "C"), 8)
    check(lambda p, rows: sum({"A": p[0], "B": p[1]}.get(kind, p[2]) * x for kind, x in rows), rows_of("A", "C"), 8)


def test_no_int_is_a_text() -> None:
    def make(draw: random.Random) -> Any:
        return [(draw.randrange(-1, 3), draw.random()) for _ in range(6)]

    check(lambda p, rows: sum(p[0] * x if n in ("A", 1, "B") else p[1] * x for n, x in rows), make, 8)
    check(lambda p, rows: sum(p[0] * x if k in ("A", 0, 1) else p[1] * x for k, x in rows), rows_of("A", "B"), 8)


def test_texts_that_nothing_looks_at_may_be_any() -> None:
    @dataclass
    class Row:
        name: str
        kind: str
        x: float

    def draw_rows(draw: random.Random) -> Any:
        return [Row(f"row {draw.random()}", draw.choice("AB"), draw.random()) for _ in range(6)]

    compiled = check(lambda p, rows: sum(p[0] * r.x if r.kind == "A" else p[1] * r.x for r in rows), draw_rows, 4)
    assert "a Row of name: a text, kind: one of the texts 'A', 'B'" in compiled.guards()
    check(lambda p, rows: sum(p[0] * x for _, x in rows), lambda draw: [(str(draw.random()), draw.random())], 2)


TEXTS: dict[str, Callable[[Any, float], Any]] = {
    "equality": lambda t, x: (x if t[0] == "a" else 2 * x) + (t[0] == t[1]) + (t[1] != "unknown"),
    "in": lambda t, x: (x if t[0] in {"a", "b"} else 2 * x) + (3 if t[1] in "abc" else 4),
    "methods": lambda t, x: x * len(t[0].upper() + t[1].strip("a")) + t[0].startswith("a"),
    "returned": lambda t, x: {"name": t[0], "x": x}["x"],
    "length": lambda t, x: x * len(t[0]),
    "key": lambda t, x: {"a": x, "b": 2 * x}.get(t[0]) or 3 * x,
    "text": lambda t, x: x * len(f"{t[0]!r}{t[1]:>5}"),
    "order": lambda t, x: x * len(sorted(t)[0]) + (t[0] < t[1]),
    "sum": lambda t, x: x * len(t[0] + "b" + t[1]) * len(t[0] * 2),
    "number": lambda t, x: x * int(t[0], 16),
    "truth": lambda t, x: x if t[0] and t[1] != "" else 2 * x,
    "isinstance": lambda t, x: x if isinstance(t[0], str) else 2 * x,
    "items": lambda t, x: x * sum(ord(letter) for letter in t[0]) * ord(t[0][0]),
    "groups": lambda t, x: x * len(set(t)) + sum(n * x for n in {k: t.count(k) for k in t}.values()),
    "chosen": lambda t, x: x * len(max(t, key=len)) if x > 0.5 else x * (t.index(t[1]) + 1),
    "identity": lambda t, x: x if t[0] is t[1] else 2 * x,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_texts_are_what_they_are(name: str) -> None:
    pairs = [["a", "b"], ["b", "b"], ["b", "a"], ["ab", "b"], ["a", "ab"], ["b", "f"], ["d", "e" * 3], ["e", "a"]]
    calls = [(pair, x) for pair in pairs for x in (0.25, 0.75)]
    answers_as(TEXTS[name], [*calls, *calls])


def test_new_texts_for_ever_run_as_they_are() -> None:
    def weighted(rows: Any) -> float:
        return sum((2.0 if kind in ("A", "B") else 3.0) * x for kind, x in rows)

    compiled, calls = rg.compile(weighted, tier="vm"), [[(f"row {n}", 0.5), ("AB"[n % 2], 0.25 * n)] for n in range(60)]
    with pytest.warns(CompileWarning, match="traced again in nearly every call"):
        found = list(map(compiled, calls))
    assert found == list(map(weighted, calls))
    assert compiled.stats().traces < 30
