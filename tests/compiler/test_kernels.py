"""The shapes for which kernels have ways of their own, each against the engine: ragged rows, narrow ones, extremes."""

from __future__ import annotations

import ctypes
import itertools
import math
import random
from collections.abc import Callable, Sequence
from operator import add, mul, sub, truediv
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import assert_equals_eager, assert_near, batch, mean_of_eager, native

import retrograd as rg
from retrograd import Value, engine
from retrograd.compiler.reports.reasons import Reason

pytestmark = native

ROWS = {
    "triangle": list(range(1, 8)),
    "each twice": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6],
    "one": [5, 9],
    "sixteen": [1 + i % 5 for i in range(16)],
    "seventeen": [1 + i % 5 for i in range(17)],
    "thirty-three": [1 + i % 3 for i in range(33)],
    "sixty-four": [2 + i % 4 for i in range(64)],
    "sixty-five": [2 + i % 4 for i in range(65)],
    "long": [3, 40, 8, 17, 1, 64],
    "longest": [60, 70, 80, 90, 100, 111, 1],
    "too long": [60, 70, 80, 90, 100, 111, 2],
}
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"sub": sub, "div": truediv, "mul": mul, "add": add}
WITH_NUMBER_FIRST = {name: lambda x, y, f=f: f(y, x) for name, f in OPERATIONS.items()}


def numbers(count: int, seed: int) -> list[float]:
    """Between 0.5 and 2, of either sign: nothing to divide by is small."""
    generator = random.Random(seed)
    return [generator.choice((-1.0, 1.0)) * generator.uniform(0.5, 2.0) for _ in range(count)]


def ragged(rows: Sequence[int], operation: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], list[Value]]:
    """Rows of different lengths, each with a number of its own, which is computed as the rows are."""
    entries, own = [Value(0.0) for _ in range(sum(rows))], [Value(0.0) for _ in rows]

    def loss(scale: float = 1.5) -> Any:
        scaled, each = [x * scale for x in entries], [x * 0.5 for x in own]
        done, at = [], 0
        for length, y in zip(rows, each, strict=True):
            done += [operation(x, y) for x in scaled[at : at + length]]
            at += length
        return sum(x * x for x in done) + sum(scaled) * sum(y * y for y in each)

    return loss, [*entries, *own]


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize("operation", [*OPERATIONS.values(), *WITH_NUMBER_FIRST.values()])
def test_rows_of_different_lengths_that_share_a_number(rows: list[int], operation: Callable[[Any, Any], Any]) -> None:
    loss, leaves = ragged(rows, operation)
    points = [(numbers(len(leaves), seed), ()) for seed in (0, 1)]
    assert_equals_eager(loss, leaves, points, kinds=("vm", "exact"), bound=1e-11)


@pytest.mark.parametrize("rows", [ROWS["triangle"], ROWS["seventeen"]], ids=["triangle", "seventeen"])
def test_ragged_rows_of_batches_of_any_size(rows: list[int]) -> None:
    loss, leaves = ragged(rows, truediv)
    for leaf, number in zip(leaves, numbers(len(leaves), 0), strict=True):
        leaf.data = number
    compiled = rg.compile(loss, tier="vm")
    for size in (5, 1, 3, 8, 2):
        members = [(1.0 + 0.25 * i,) for i in range(size)]
        assert_near(batch(compiled, leaves, members), mean_of_eager(loss, leaves, members), 1e-12, size)


@pytest.mark.parametrize("row", range(7))
def test_a_row_that_is_divided_by_zero_is_an_error_and_its_neighbours_are_none(row: int) -> None:
    loss, leaves = ragged(ROWS["triangle"], truediv)
    compiled = rg.compile(loss, tier="vm")
    for leaf, number in zip(leaves, numbers(len(leaves), 0), strict=True):
        leaf.data = number
    compiled.backward()
    own = leaves[-7:]
    before, own[row].data = own[row].data, 0.0
    with pytest.raises(ZeroDivisionError):
        compiled.backward()
    own[row].data = before
    assert math.isfinite(compiled.backward())
    assert compiled.stats().eager == 1  # the call that the engine decided


@pytest.mark.parametrize("width", range(1, 11))
@pytest.mark.parametrize("rows", [1, 2, 4, 7, 9])
def test_narrow_rows_their_sums_and_their_extremes(rows: int, width: int) -> None:
    """What sums, products and extremes of rows owe their operands is added to what these are owed already."""
    leaves = [Value(0.0) for _ in range(rows * width)]

    def loss() -> Any:
        matrix = [[x * 2.0 for x in leaves[width * i : width * i + width]] for i in range(rows)]
        sums = [sum(row, start=rg.Value(0.0)) for row in matrix]
        scaled = [[x * s for x in row] for row, s in zip(matrix, sums, strict=True)]
        extremes = [rg.math.max(row) - rg.math.min(row) for row in matrix] if width > 1 else sums
        columns: list[Any] = [sum(row[j] for row in scaled) for j in range(width)]
        return sum(e * e for e in extremes) + sum(c.tanh() for c in columns) + sum(x.exp() for x in matrix[-1])

    assert_equals_eager(loss, leaves, [(numbers(len(leaves), seed), ()) for seed in (0, 1)], bound=1e-11)


@pytest.mark.parametrize("m", range(1, 10))
@pytest.mark.parametrize(("n", "k"), [(1, 4), (8, 4), (9, 12), (16, 20), (17, 4), (24, 8), (25, 12), (33, 4), (6, 6)])
def test_few_rows_by_weights_of_any_shape(m: int, n: int, k: int) -> None:
    """d[i][j] = w[j] . x[i] of weights that are turned four columns at a time."""
    leaves = [Value(0.0) for _ in range(n * k + m * k)]
    w = [leaves[k * j : k * j + k] for j in range(n)]
    x = [leaves[n * k + k * i : n * k + k * i + k] for i in range(m)]

    def loss() -> Any:
        d = [[rg.math.dot(row, position) for row in w] for position in x]
        return sum(y * y for row in d for y in row) + sum(row[0] for row in d)

    points = [(numbers(len(leaves), seed), ()) for seed in (0, 1)]
    assert_equals_eager(loss, leaves, points, kinds=("vm",), bound=1e-11)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 19])
def test_exponentials_to_the_ends_of_their_range(count: int) -> None:
    edges = [0.0, -0.0, 709.0, -708.0, -744.0, -745.1, -746.0, -1e300, -math.inf, 1.0, -1.0, 1e-300]
    leaves = [Value(0.0) for _ in range(count)]
    scales = [0.1 ** (i % 3) for i in range(count)]
    compiled = rg.compile(lambda: sum(x.exp() * c for x, c in zip(leaves, scales, strict=True)), tier="vm")
    for turn in range(len(edges)):
        for i, leaf in enumerate(leaves):
            leaf.data, leaf.grad = edges[(turn + i) % len(edges)] - 5.0 * (i % 2), 0.0
        value = compiled.backward()
        each = [math.exp(leaf.data) * c for leaf, c in zip(leaves, scales, strict=True)]
        assert value == pytest.approx(math.fsum(each), rel=1e-14, abs=1e-300)
        for leaf, slope in zip(leaves, each, strict=True):  # what is below the normal numbers counts as zero
            assert leaf.grad == pytest.approx(slope, rel=1e-14, abs=3e-308)


@pytest.mark.parametrize("tier", ["vm", "llvm"])
@pytest.mark.parametrize("width", [2, 3, 5, 7, 8, 9, 16, 17])
def test_the_first_of_zeros_is_the_extreme(width: int, tier: Any) -> None:
    """Its sign shows in an angle: found by a review, where vectors kept another zero than the engine."""
    if tier == "llvm":
        pytest.importorskip("llvmlite", reason="no llvmlite")
    generator = random.Random(width)
    leaves = [Value(0.3 + 0.1 * i) for i in range(width)]
    for extreme, other in ((rg.math.max, -1.0), (rg.math.min, 1.0)):

        def loss(x: float, extreme: Any = extreme) -> Any:
            return rg.math.atan2(extreme(leaves), x)

        compiled = rg.compile(loss, tier=tier)
        for leaf in leaves:
            leaf.data = 0.3 + generator.random()
        compiled.backward(-1.0)
        for _ in range(20):
            for leaf in leaves:
                leaf.data = generator.choice((0.0, -0.0, other, other))
            leaves[generator.randrange(width)].data = generator.choice((0.0, -0.0))
            assert compiled.backward(-1.0) == loss(-1.0).data


ERRORS_OF_FUNCTIONS: dict[str, tuple[Callable[[Value], Value], Callable[[float], float], float]] = {
    "erf": (rg.math.erf, math.erf, 1e-15),
    "erfc": (rg.math.erfc, math.erfc, 1.5e-15),
    "log1p": (rg.math.log1p, math.log1p, 1e-15),
    "softplus": (Value.softplus, lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))), 1e-15),
    "silu": (Value.silu, lambda x: x / (1.0 + math.exp(-x)) if x > -700.0 else 0.0, 1e-15),
    "gelu": (Value.gelu, lambda x: x * (0.5 * math.erfc(-x * math.sqrt(0.5))), 3e-15),
}


@pytest.mark.parametrize("name", ERRORS_OF_FUNCTIONS)
def test_vectors_of_special_functions_from_the_smallest_to_the_tail(name: str) -> None:
    function, reference, bound = ERRORS_OF_FUNCTIONS[name]
    lowest = -0.99 if name == "log1p" else -8.0
    numbers = [lowest + 0.037 * i for i in range(900)] + [0.9**i for i in range(300)] + [0.0, -0.0, 1e-310]
    numbers += [] if name == "log1p" else [-(0.9**i) for i in range(300)] + [-30.0, 30.0, 600.0, -1e300, 1e300]
    leaves = [Value(x) for x in numbers]
    compiled = rg.compile(lambda xs: [function(x) for x in xs], tier="vm")
    for _ in range(2):
        for x, y in zip(numbers, compiled(leaves), strict=True):
            assert y.data == pytest.approx(reference(x), rel=bound, abs=1e-307), x


def test_where_a_branch_sorts_the_members_each_kind_stands_together() -> None:
    """Two formulas in no order: what only one of them reads needs no list of addresses."""
    kinds = [(i * i * 7 + i) % 5 < 2 for i in range(120)]
    xs = [Value(0.0) for _ in kinds]

    def book(t: float) -> Any:
        total: Any = 0.0
        for x, kind in zip(xs, kinds, strict=True):
            scaled = (x * t).exp()
            total = total + (scaled * (x - t).sin() if kind else t - scaled.log1p() / (x + 3.0))
        return total

    points = [(numbers(len(xs), seed), (0.5 + 0.25 * seed,)) for seed in (0, 1)]
    compiled = assert_equals_eager(book, xs, points, kinds=("vm", "exact"), bound=1e-11)["vm"]
    assert compiled.program().count("pool[") <= 2, compiled.program()


@pytest.mark.parametrize("steps", [5, 6, 7, 40])
def test_chains_of_additions_and_subtractions_are_two_sums(steps: int) -> None:
    xs, ys = ([Value(0.0) for _ in range(steps)] for _ in range(2))
    signs = [(i * i * 5 + i) % 3 > 0 for i in range(steps)]

    def alternating(t: float) -> Any:
        total, kept = xs[0] * t, []
        for i, (x, y, plus) in enumerate(zip(xs, ys, signs, strict=True)):
            total = total + x * y if plus else total - x * (y + t)
            if i == steps // 2:
                kept.append(total)  # a partial sum with another use ends a chain
        falling: Any = 0.0
        for x in xs:
            falling -= x
        return total * falling + sum(kept) - ((t - xs[0]) - xs[1]) * 0.5

    points = [(numbers(2 * steps, seed), (0.5 + 0.25 * seed,)) for seed in range(3)]
    compiled = assert_equals_eager(alternating, [*xs, *ys], points, kinds=("vm", "exact"), bound=1e-11)["vm"]
    assert len(compiled.program().splitlines()) < 40
    seen = compiled.inspect(1.0)
    assert seen.value.data == pytest.approx(alternating(1.0).data, rel=1e-12)
    for node in engine.interior(seen.value):
        seen.instruction(node)  # each node has one, the partial sums that of their chain


# --- functions of vectors, as machine code calls them ---------------------------------------------------------------

#: So many units in the last place they may be off; and what each of their arguments is drawn from.
FUNCTIONS: dict[str, tuple[float, list[Callable[[random.Random], float]]]] = {
    **dict.fromkeys(("log2", "log10"), (2.0, [lambda r: 10.0 ** r.uniform(-300.0, 300.0)])),
    **dict.fromkeys(("asin", "acos"), (4.0, [lambda r: r.uniform(-1.0, 1.0)])),
    **dict.fromkeys(("atan", "tan", "asinh"), (6.0, [lambda r: r.choice((-1.0, 1.0)) * 10.0 ** r.uniform(-6.0, 4.0)])),
    **dict.fromkeys(("sinh", "cosh"), (7.0, [lambda r: r.choice((-1.0, 1.0)) * 10.0 ** r.uniform(-6.0, 2.8)])),
    **dict.fromkeys(("atan2", "hypot"), (3.0, [lambda r: r.gauss(0.0, 1.0), lambda r: r.gauss(0.0, 10.0)])),
    "pow": (14.0, [lambda r: 10.0 ** r.uniform(-5.0, 5.0), lambda r: r.uniform(-50.0, 50.0)]),
}
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, -1e308, -2.0, 0.5, -0.5, 3.0, 1e-310)


def on_vectors(name: str, *arguments: list[float]) -> list[float]:
    """What the function of vectors gives; a multiple of eight numbers."""
    width, functions = engine.SpecializationCache(lambda *_: None, rg.Index, Reason).vector_functions()
    if name not in functions:
        pytest.skip("a processor with fused multiply-adds")
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(functions[name])
    columns = [np.array(argument) for argument in (*arguments, *arguments)[:2]]
    result = np.empty(len(columns[0]))
    for at in range(0, len(result), width):
        function(result[at:].ctypes.data, *(column[at:].ctypes.data for column in columns))
    return [float(number) for number in result]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_vectors_are_those_of_the_c_library(name: str) -> None:
    bound, kinds = FUNCTIONS[name]
    draw = random.Random(name)
    arguments = [[kind(draw) for _ in range(8000)] for kind in kinds]
    for *given, found in zip(*arguments, on_vectors(name, *arguments), strict=True):
        wanted = getattr(math, name)(*given)
        assert abs(found - wanted) <= (bound + 1.0) * math.ulp(wanted), (given, found, wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_vectors_at_special_numbers(name: str) -> None:
    for given in itertools.product(SPECIAL, repeat=len(FUNCTIONS[name][1])):
        found = on_vectors(name, *([number] * 8 for number in given))[0]
        try:
            wanted = getattr(math, name)(*given)
        except (ValueError, OverflowError):  # the program refuses these operands, or gives what the engine gives
            continue
        same = found == wanted and math.copysign(1.0, found) == math.copysign(1.0, wanted)
        neither = found != found and wanted != wanted
        assert same or neither or abs(found - wanted) <= 4e-16 * abs(wanted), (given, found)


@pytest.mark.parametrize("name", ["sin", "log1p", "tanh"])
def test_minus_zero_keeps_its_sign(name: str) -> None:
    compiled = rg.compile(lambda xs: sum(rg.math.copysign(1.0, getattr(rg.math, name)(x)) for x in xs), tier="vm")
    compiled([0.5 + 0.1 * i for i in range(8)])
    assert compiled([-0.0] * 8) == -8.0
