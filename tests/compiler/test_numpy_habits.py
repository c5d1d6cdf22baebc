"""Functions written with NumPy: its functions that compare, arrays of tests, and items of arrays by labels."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.counted_programs import check as check_calls

import retrograd as rg
from retrograd.errors import CompileWarning

pytestmark = pytest.mark.native

PARAMETERS = [0.3, -0.9, 0.2, 0.7, -0.4, 1.1]

Draw = Callable[[random.Random], Any]


def numbers(draw: random.Random) -> Any:
    return np.array([draw.gauss(0, 1) for _ in range(6)])


def plain_numbers(draw: random.Random) -> Any:
    return [draw.gauss(0, 1) for _ in range(6)]


def check(function: Callable[[Any, Any], Any], make: Draw, programs: int) -> None:
    """Forty calls with data of one make, at most so many programs; parameters are an array."""
    draw = random.Random(5)
    data = [make(draw) for _ in range(40)]
    check_calls(lambda p, one: function(np.array(p, object), one), PARAMETERS, data, programs)


SCALARS: dict[str, Callable[[Any, Any], Any]] = {
    "maximum": lambda p, xs: sum(np.maximum(w * x, 0.1) for w, x in zip(p, xs, strict=True)) + p[0],
    "minimum of floats": lambda p, xs: sum(w * np.minimum(x, 0.1) for w, x in zip(p, xs, strict=True)),
    "clip": lambda p, xs: sum(np.clip(w * x, -0.2, 0.3) for w, x in zip(p, xs, strict=True)) + p[0],
    "clip of floats": lambda p, xs: sum(w * np.clip(x, -0.2, 0.3) for w, x in zip(p, xs, strict=True)),
    "where": lambda p, xs: sum(np.where(x > 0.2, w * x, 0.5 * x) for w, x in zip(p, xs, strict=True)) + p[0],
    "where of Values": lambda p, xs: sum(np.where(w * x > 0.2, w * x, w) for w, x in zip(p, xs, strict=True)),
    "sign": lambda p, xs: sum(np.sign(w * x) * w for w, x in zip(p, xs, strict=True)),
    "largest": lambda p, xs: np.max([w * x for w, x in zip(p, xs, strict=True)]) + np.min(xs) * p[0],
    "both": lambda p, xs: sum(w * x if (x > -0.5) & (x < 0.5) else w for w, x in zip(p, xs, strict=True)),
    "either": lambda p, xs: sum(w * x if (x < -0.5) | (x > 0.5) else w for w, x in zip(p, xs, strict=True)),
    "one of two": lambda p, xs: sum(w * ((x < -0.5) ^ (x > 0.5)) for w, x in zip(p, xs, strict=True)) + p[0],
    "alike": lambda p, xs: sum(w if (x < 0) == (w > 0) else w * x for w, x in zip(p, xs, strict=True)),
    "otherwise": lambda p, xs: sum(w if (x < 0) != (w * x > 0.1) else w * x for w, x in zip(p, xs, strict=True)),
    "place": lambda p, xs: p[int(np.argmax(xs))] * xs[0],
    "median": lambda p, xs: np.median(xs) * p[0] + np.median([w * x for w, x in zip(p, xs, strict=True)]),
}


@pytest.mark.parametrize("name", SCALARS)
def test_numbers_one_by_one(name: str) -> None:
    check(SCALARS[name], plain_numbers, 4)
    check(SCALARS[name], numbers, 4)


def assigned(p: Any, xs: Any) -> Any:
    kept = np.array([w * x for w, x in zip(p, xs, strict=True)], dtype=object)
    kept[kept < 0.0] = 0.0
    kept[(xs > 1.0) & (kept > 0.1)] = p[0]
    return kept.sum()


def huber(p: Any, xs: Any) -> Any:
    r = p - xs
    return np.where(np.abs(r) < 0.3, 0.5 * r * r, 0.3 * (np.abs(r) - 0.15)).sum()


def network(p: Any, xs: Any) -> Any:
    hidden = np.maximum(np.outer(xs[:3], p[:3]) + p[3], 0.0)
    return (hidden @ p[3:]).sum() + np.where(hidden > 0.2, hidden, 0.1 * hidden).sum()


ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "relu": lambda p, xs: np.maximum(p * xs, 0.0).sum() + p[0],
    "leaky relu": lambda p, xs: np.where(p * xs > 0.0, p * xs, 0.1 * p * xs).sum(),
    "clip": lambda p, xs: np.clip(p * xs, -0.1, 0.2).sum() + p[0],
    "mask as a factor": lambda p, xs: ((p * xs > 0.0) * p).sum() + p[0],
    "count": lambda p, xs: (xs > 0.2).sum() * p[0] + p[1],
    "any": lambda p, xs: p[0] if (xs > 1.0).any() else p[1],
    "all": lambda p, xs: p[0] if np.all(xs > -1.0) else p[1] * xs[0],
    "largest": lambda p, xs: (p * xs).max() - xs.min() * p[0],
    "joined": lambda p, xs: np.where((xs > -0.5) & ~(xs > 0.5) | (p * xs > 1.0), p, 0.5 * p).sum(),
    "one of two": lambda p, xs: np.where(np.logical_xor(xs > -0.5, p * xs > 0.1), p, 0.5 * p).sum(),
    "product of masks": lambda p, xs: ((xs > -0.5) * (xs < 0.5) * p).sum() + p[0],
    "mean": lambda p, xs: (xs > 0.0).mean() * p[0] + np.mean(p * xs > 0.1) * p[1] + p[2],
    "as numbers": lambda p, xs: (xs > 0.0).astype(float) @ p + np.sum(xs < 0.5) * p[1],
    "beside a plain mask": lambda p, xs: (((xs > 0.0) & (np.arange(6) < 4)) * p).sum() + p[0],
    "sort": lambda p, xs: (np.sort(xs) * p).sum(),
    "huber": huber,
    "network": network,
    "assigned": assigned,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name: str) -> None:
    check(ARRAYS[name], numbers, 4)


def labelled(draw: random.Random) -> Any:
    return np.array([[draw.gauss(0, 1) for _ in range(3)] for _ in range(4)]), np.array(
        [draw.randrange(2) for _ in range(4)]
    )


def test_labels_select() -> None:
    table = np.array([1.0, -2.0])

    def cross_entropy(p: Any, data: Any) -> Any:
        weights, total = p.reshape(3, 2), 0.0
        for x, label in zip(*data, strict=True):
            z = x @ weights
            z = z - np.max(z)
            total = total + np.log(np.exp(z).sum()) - z[label]
        return total / 4

    def embedded(p: Any, data: Any) -> Any:
        rows = p.reshape(2, 3)
        return sum((rows[label] * x).sum() * table[label] for x, label in zip(*data, strict=True))

    check(cross_entropy, labelled, 12)
    check(embedded, labelled, 12)


def test_what_is_no_selection_decides() -> None:
    def masked(xs: Any) -> Any:
        return xs[xs > 0.0].sum() + np.where(xs > 0.0)[0].sum()

    compiled, draw = rg.compile(masked), random.Random(1)
    data = [numbers(draw) for _ in range(30)]
    with pytest.warns(CompileWarning, match=r"test_numpy_habits.py:\d+, in masked compares numbers"):
        found = list(map(compiled, data))
    assert found == pytest.approx(list(map(masked, data)))
    integers = rg.compile(lambda x: x * np.maximum(2, 3) * np.clip(5, 1, 4) * np.sign(-2) + np.max([1, 2]))
    assert integers(2.0) == 2.0 * 3 * 4 * -1 + 2
    options = rg.compile(lambda x: np.maximum(np.array([x, 1.0]), 0.5, where=[True, True], out=None).sum())
    assert options(0.25) == 1.5


BOUNDS = np.array([-0.5, 0.5])
DECIDED: dict[str, Callable[[Any], Any]] = {
    "a sum of masks": lambda xs: ((xs > 0.0) + (xs < 0.5)).sum() * xs[0],
    "a sum of two tests": lambda xs: ((xs[0] > 0.0) + (xs[1] > 0.5)) * xs[2],
    "tests of a product": lambda xs: ((xs[0] > 0.0) * (xs[1] > 0.5) + (xs[2] > 0.0)) * xs[2],
    "a sum of tests of floats": lambda xs: ((float(xs[0]) > BOUNDS[0]) + (float(xs[0]) > BOUNDS[1])) * xs[2],
    "a sum of many tests": lambda xs: sum(x > 0.0 for x in xs) * xs[2],
    "difference": lambda xs: ((xs > 0.0) - (xs < 0.5)).sum(),
    "negative": lambda xs: (-(xs > 0.0)).sum(),
    "axis": lambda xs: ((xs.reshape(2, 3) > 0.0).sum(axis=0) * xs[:3]).sum(),
    "loop": lambda xs: sum(x for x, is_positive in zip(xs, xs > 0.0, strict=True) if is_positive),
    "item": lambda xs: xs[0] if (xs > 0.0)[1] else xs[2],
    "truth": lambda xs: xs[0] if xs[:1] > 0.0 else xs[2],
    "shape": lambda xs: (xs > 0.0).shape[0] * len(xs > 0.0) * xs[0] * (xs > 0.0).ndim,
    "elements": lambda xs: xs[xs > 0.0].sum() + np.where(xs > 0.0)[0].sum() + np.nonzero(xs > 0.0)[0].sum(),
    "as ints": lambda xs: (xs > 0.0).astype(np.int8).sum() * xs[0],
    "equal": lambda xs: ((xs > 0.0) == (xs > 0.5)).sum() * xs[0],
    "counted": lambda xs: np.count_nonzero(xs > 0.0) * xs[0],
    "running": lambda xs: (np.cumsum(xs > 0.0) * xs).sum(),
    "converted": lambda xs: (np.array(xs > 0.0, dtype=float) * xs).sum() + np.array([*(xs > 0.0)]).sum(),
    "in place": lambda xs: np.multiply(xs > 0.0, xs, out=None).sum() + np.add.reduce(xs > 0.0),
}


@pytest.mark.parametrize("name", DECIDED)
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning", "ignore::RuntimeWarning")
def test_masks_are_what_they_are(name: str) -> None:
    function, draw = DECIDED[name], random.Random(7)
    compiled = rg.compile(function)

    def outcome(call: Callable[[Any], Any], xs: Any) -> Any:
        try:
            return float(call(xs))
        except TypeError as error:
            return type(error)

    for _ in range(40):
        xs = numbers(draw)
        wanted = outcome(function, xs)
        assert outcome(compiled, xs) == (wanted if isinstance(wanted, type) else pytest.approx(wanted, rel=1e-12))


def test_a_nan_among_the_numbers() -> None:
    for function in (lambda x, y: np.maximum(x, y), lambda x, y: np.clip(x, 0.0, y), lambda x, y: np.max([x, y])):
        compiled = rg.compile(function)
        for call in ((0.5, 1.0), (float("nan"), 1.0), (1.0, float("nan")), (2.0, 1.0)):
            assert repr(float(compiled(*call))) == repr(float(function(*call)))


TABLE = np.array([0.0, 1.0, 1.0, 2.0, 3.0])


def in_place(x: Any, y: Any) -> Any:
    held = np.array([x, y, 1.0])
    held.sort()
    return held[0] + 2.0 * held[1]


#: NumPy puts a NaN behind all other numbers, which objects in its arrays would not be.
ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "median": lambda x, y: np.median([x, y, 1.0]),
    "median of rows": lambda x, y: np.median(np.array([[x, y], [1.0, 2.0]])),
    "sort": lambda x, y: np.sort(np.array([x, y, 1.0]))[0],
    "sort rows": lambda x, y: np.sort([[x, y], [y, x]], axis=1)[0, 1],
    "sort in place": in_place,
    "argsort": lambda x, y: np.array([x, y, 1.0]).argsort()[0] * x,
    "partition": lambda x, y: np.partition(np.array([x, y, 1.0]), 1)[1],
    "unique": lambda x, y: np.unique(np.array([x, y, 1.0]))[0],
    "fmax": lambda x, y: np.fmax(x, y),
    "argmax": lambda x, y: np.argmax([x, y, 1.0]) + y,
    "place": lambda x, y: np.searchsorted(TABLE, x) * y,
    "places": lambda x, y: np.searchsorted(TABLE, np.array([x, 1.5])).sum() * y,
    "place among them": lambda x, y: np.searchsorted(np.array([x, 1.0, y]), 1.2) * 1.0,
    "digitize": lambda x, y: np.digitize(x, TABLE, right=True) * y,
    "interpolation past a NaN": lambda x, y: np.interp(x, [0.0, math.nan, 2.0], [1.0, 2.0, 3.0]) + y,
}


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning", "error::RuntimeWarning")
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("name", ORDERED)
def test_a_nan_among_numbers_in_order(name: str, at_once: bool) -> None:
    function = ORDERED[name]
    for seed in range(1, 9):
        draw, compiled = random.Random(seed), rg.compile(function)
        for _ in range(4):  # programs of several calls meet a NaN, and some of them are traced with one
            calls = [(draw.uniform(-1.0, 4.0), draw.choice([0.0, 1.0, 2.5])) for _ in range(8 * (seed % 3))]
            calls += [(draw.choice([math.nan, 0.5, 3.0]), draw.choice([math.nan, 1.0])) for _ in range(seed)]
            found = compiled.call_batch(calls) if at_once else [compiled(*call) for call in calls]
            assert found == pytest.approx([function(*call) for call in calls], rel=1e-12, nan_ok=True)


#: What a number is that NumPy has made, or one of its tests: not asked for, its program would be the same.
ASKING: dict[str, Callable[[Any, Any], Any]] = {
    "an element": lambda xs, y: isinstance(xs[0] * 2.0, np.floating),
    "a function's": lambda xs, y: isinstance(np.sign(y), np.generic),
    "an exponential": lambda xs, y: isinstance(np.exp(y), np.floating),
    "clipped": lambda xs, y: isinstance(np.clip(y, 0.0, 1.0), np.generic),
    "the largest": lambda xs, y: isinstance(np.max(xs), np.generic),
    "of ints": lambda xs, y: isinstance(np.maximum(int(y * 3), 1), int),
    "sign of an int": lambda xs, y: isinstance(np.sign(int(y * 3)), int),
    "a place": lambda xs, y: isinstance(np.argmax(xs), int),
    "a place of NumPy's": lambda xs, y: isinstance(xs.argmin(), np.integer),
    "a count": lambda xs, y: isinstance((xs > 0.0).sum(), int),
    "counts": lambda xs, y: isinstance(((xs > 0.0) * 2)[0], int),
    "as floats": lambda xs, y: isinstance((xs > 0.0).astype(float)[0], np.floating),
    "a mean": lambda xs, y: isinstance((xs > 0.0).mean(), np.floating),
    "any": lambda xs, y: isinstance(np.any(xs > 0.0), bool),
    "one test": lambda xs, y: isinstance(xs[0] > 0.0, bool),
    "selected": lambda xs, y: isinstance(np.where(y > 0.4, 1.0, y), np.ndarray),
    "selected ints": lambda xs, y: isinstance(np.where(xs > 0.4, 1, 0).sum(), int),
    "sorted": lambda xs, y: isinstance(np.sort(xs)[0], np.floating),
    "in an arm": lambda xs, y: y > 0.4 and isinstance(xs[0], np.floating),
    "several": lambda xs, y: isinstance(xs[0], (int, np.integer | np.floating)),
}


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_what_numpys_numbers_are(name: str) -> None:
    asks = ASKING[name]

    def function(weight: float, xs: Any, y: float) -> Any:
        return weight * (2.0 if asks(xs, y) else 1.0) + xs[0]

    draw, compiled = random.Random(3), rg.compile(function)
    for _ in range(40):  # at first the weight is 0, and a comparison with a plain run would not tell
        call = draw.choice([0.0, 0.0, 1.3]), numbers(draw), draw.random()
        assert compiled(*call) == function(*call)


def test_ints_of_numpys_among_the_results() -> None:
    draw = random.Random(3)
    for function in (
        lambda xs, ints: (np.where(xs > 0.0, 1, 0).sum(), xs[0]),
        lambda xs, ints: {"largest": np.max(ints), "x": xs[0]},
        lambda xs, ints: np.argmax(xs),
    ):
        compiled = rg.compile(function)
        for _ in range(30):
            call = numbers(draw), np.array([draw.randrange(-3, 4) for _ in range(3)])
            assert repr(compiled(*call)) == repr(function(*call))


def test_a_truth_value_as_an_index_of_an_array() -> None:
    def function(weight: float, flags: list[bool]) -> Any:
        return weight * np.array([1.0, 2.0, 3.0])[flags[0]]

    draw, compiled = random.Random(3), rg.compile(function)
    for _ in range(30):
        flags = [draw.random() < 0.5 for _ in range(2)]
        assert repr(compiled(0.3, flags)) == repr(function(0.3, flags))


def test_a_number_that_np_where_selects_is_an_array() -> None:
    def function(weight: float, x: float) -> Any:
        one = np.where(x > 0.0, 1.0, 2.0)
        other = one
        other *= 3.0  # in place, for both names
        return weight * one + math.exp(other) * float(one)

    draw, compiled = random.Random(3), rg.compile(function)
    for _ in range(30):
        call = draw.random(), draw.gauss(0, 1)
        assert compiled(*call) == pytest.approx(float(function(*call)), rel=1e-14)
    assert compiled.stats().eager == 0


TRUTHS: dict[str, Callable[[Any, float], Any]] = {
    "add": lambda xs, y: float(np.add(y > 0.3, y > 0.2)),
    "invert": lambda xs, y: float(np.invert(y > 0.3)),
    "and": lambda xs, y: float(np.logical_and(y > 0.3, xs[0] > 0.0)),
    "product": lambda xs, y: np.sum(np.multiply(y > 0.3, xs)),
    "mask": lambda xs, y: np.sum(((xs > 0.0) & (y > 0.3)) * xs),
    "difference": lambda xs, y: np.subtract(1.0, y > 0.3),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_numpys_functions_of_truth_values(name: str) -> None:
    function = TRUTHS[name]
    draw, compiled = random.Random(3), rg.compile(lambda weight, xs, y: weight * function(xs, y) + xs[0])
    for turn in range(40):  # at first the weight is 0, and a comparison with a plain run would not tell
        weight, xs, y = 1.3 * (turn > 0), numbers(draw), draw.random()
        assert compiled(weight, xs, y) == pytest.approx(weight * function(xs, y) + xs[0], rel=1e-12)


TABLE = np.array([1.0, 2.0, 3.0])


class Holder:
    table = TABLE

    def __init__(self) -> None:
        self.own = TABLE.copy()


HOLDER = Holder()

MASKS: dict[str, Callable[[Any, float, list[bool]], Any]] = {
    "of a variable": lambda xs, y, flags: TABLE[y > 0.3].sum(),
    "of an argument": lambda xs, y, flags: xs[y > 0.3].sum(),
    "of an attribute": lambda xs, y, flags: HOLDER.own[y > 0.3].sum(),
    "by a flag": lambda xs, y, flags: TABLE[flags[0]].sum(),
}


@pytest.mark.parametrize("name", MASKS)
def test_a_truth_value_as_an_index_of_an_array_is_a_mask(name: str) -> None:
    function = MASKS[name]
    draw, compiled = random.Random(4), rg.compile(lambda weight, xs, y, flags: weight * function(xs, y, flags) + xs[0])
    for turn in range(60):  # at first the weight is 0, and a comparison with a plain run would not tell
        flags = [draw.random() < 0.5, draw.random() < 0.5]
        weight, xs, y = 1.3 * (turn > 20), numbers(draw), draw.random()
        found = compiled(weight, xs, y, flags)
        assert found == pytest.approx(weight * function(xs, y, flags) + xs[0], rel=1e-12)


def test_a_truth_value_as_an_index_of_a_list_is_an_int() -> None:
    draw, compiled = random.Random(5), rg.compile(lambda x, y: [x, -x][y > 0.3] * y)
    for _ in range(40):
        x, y = draw.random(), draw.random()
        assert compiled(x, y) == [x, -x][y > 0.3] * y
    assert compiled.stats().eager == 0
