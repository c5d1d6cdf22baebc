"""Every row of the op table, compiled: on each way that operands can lie in memory, and with numbers among them."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.compiled_cases import KINDS, assert_equals_eager, data_of, native, same
from support.parts import ALL

import retrograd as rg
from retrograd import Index, Value, engine, take
from retrograd.ops import NARY, OPS, Op

pytestmark = native

#: How operands of the i-th of n members are found: (name, n, index of each operand among its numbers).
LAYOUTS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "contiguous": (19, lambda i, operand: i),
    "one": (1, lambda i, operand: 0),
    "reversed": (9, lambda i, operand: 8 - i),
    "strided": (11, lambda i, operand: (2 + operand) * i),
    "broadcast": (17, lambda i, operand: i if operand == 0 else 3),
    "outer": (35, lambda i, operand: i // 5 if operand == 0 else i % 5),
    "windows": (30, lambda i, operand: i // 6 + i % 6 if operand == 0 else i % 6),
    "scattered": (150, lambda i, operand: (i * i * 7 + 11 * operand) % 67),
}


def numbers_for(op: Op, operand: int, count: int, seed: int) -> list[float]:
    low, high = op.sample[operand]
    return [random.Random(f"{op.name} {operand} {seed} {i}").uniform(low, high) for i in range(count)]


def differentiable(op: Op) -> list[int]:
    return [operand for operand in range(op.arity) if operand not in op.static]


#: A gradient's largest magnitude says little where a partial is steep; the sample intervals stay away from poles.
BOUND = 1e-12


def laid_out() -> list[Any]:
    """Rows with layouts: each with half of them, another half for the next row; all in make accuracy."""
    layouts = list(LAYOUTS)
    return [
        pytest.param(op, layout, id=f"{op.name}-{layout}")
        for row, op in enumerate(OPS)
        for at, layout in enumerate(layouts)
        if ALL or (row + at) % 2 == 0
    ]


@pytest.mark.parametrize(("op", "layout"), laid_out())
def test_a_row_on_values(op: Op, layout: str) -> None:
    members, place = LAYOUTS[layout]
    width = [max(place(i, operand) for i in range(members)) + 1 for operand in range(op.arity)]
    columns: list[list[Any]] = [[Value(number) for number in numbers_for(op, k, width[k], 0)] for k in range(op.arity)]
    for operand in op.static:
        columns[operand] = numbers_for(op, operand, width[operand], 0)
    leaves = [leaf for k in differentiable(op) for leaf in columns[k]]

    def function() -> Value:
        total = Value(0.25)
        for i in range(members):
            total = total + engine.apply(op.name, *(columns[k][place(i, k)] for k in range(op.arity))) * (
                1.0 + 0.125 * i
            )
        return total

    points = [([n for k in differentiable(op) for n in numbers_for(op, k, width[k], seed)], ()) for seed in (0, 1)]
    assert_equals_eager(function, leaves, points, bound=BOUND)


@pytest.mark.parametrize("op", [op for op in OPS if op.arity > 1], ids=lambda op: op.name)
def test_a_row_with_numbers(op: Op) -> None:
    """Each mixture of Values, literals and float arguments."""
    members = 12
    for mixture in itertools.product("vna", repeat=op.arity):
        if set(mixture) == {"n"} or any(mixture[k] != "n" for k in op.static):
            continue
        numbers = [numbers_for(op, k, members, 2) for k in range(op.arity)]
        columns: list[list[Any]] = [
            list(map(Value, column)) if m == "v" else column for m, column in zip(mixture, numbers, strict=True)
        ]
        leaves = [leaf for m, column in zip(mixture, columns, strict=True) if m == "v" for leaf in column]
        scale = Value(0.75)

        def function(
            *inputs: list[float], mixture: Sequence[str] = mixture, columns: Any = columns, scale: Value = scale
        ) -> Value:
            given = iter(inputs)
            sides = [next(given) if m == "a" else column for m, column in zip(mixture, columns, strict=True)]
            total = Value(0.0)
            for i in range(members):
                one = (
                    engine.apply(op.name, *(side[i] for side in sides))
                    if _any_value(sides, i)
                    else _traced(op, sides, i)
                )
                total = total + one * scale
            return total

        points = []
        for seed in (2, 3):
            data = [n for k, m in enumerate(mixture) if m == "v" for n in numbers_for(op, k, members, seed)]
            inputs = [numbers_for(op, k, members, seed) for k, m in enumerate(mixture) if m == "a"]
            points.append(([*data, 0.75], inputs))
        assert_equals_eager(function, [*leaves, scale], points, kinds=("vm", "exact"), bound=BOUND)


def _any_value(sides: Sequence[Sequence[Any]], i: int) -> bool:
    return any(isinstance(side[i], Value) for side in sides)


def _traced(op: Op, sides: Sequence[Sequence[Any]], i: int) -> Any:
    """The row on plain numbers: as the engine computes it, outside of a trace and in it."""
    function = engine.functions.get(op.name)
    if function is None:  # a row without a name in rg.math
        return engine.apply(op.name, *(s[i] if k in op.static else Value(s[i]) for k, s in enumerate(sides))).detach()
    return function(*(side[i] for side in sides))


@pytest.mark.parametrize("op", [op for op in OPS if not op.static], ids=lambda op: op.name)
def test_a_row_on_what_an_index_selects(op: Op) -> None:
    rows = [[Value(number) for number in numbers_for(op, k, 7, 0)] for k in range(op.arity)]
    leaves = [leaf for row in rows for leaf in row]

    def function(indices: list[Index]) -> Any:
        return sum(engine.apply(op.name, *(take(row, i) for row in rows)) * (k + 1.0) for k, i in enumerate(indices))

    points = [
        ([n for k in range(op.arity) for n in numbers_for(op, k, 7, seed)], ([Index(i) for i in indices],))
        for seed, indices in ((0, (0, 6, 6)), (1, (5, 5, 2)), (2, (3, 0, 1)))
    ]
    assert_equals_eager(function, leaves, points, bound=BOUND)


# --- rows over sequences ------------------------------------------------------------------------------------------

ROWS = {row.name: row for row in NARY}


def rows_of(name: str, sequences: Sequence[Sequence[Any]]) -> list[Any]:
    result = engine.reduce(name, *(list(sequence) for sequence in sequences))
    return result if isinstance(result, list) else [result]


@pytest.mark.parametrize("length", [1, 2, 3, 8, 17])
@pytest.mark.parametrize("name", ROWS)
def test_a_row_over_values(name: str, length: int) -> None:
    """Rows of one matrix, of its columns, of overlapping windows, and scattered ones, in one program."""
    sides = 2 if ROWS[name].paired else 1
    count = length * 4
    matrix = [[Value(0.0) for _ in range(count)] for _ in range(sides)]
    leaves = [leaf for side in matrix for leaf in side]
    shapes: list[Callable[[int, int], int]] = [
        lambda r, j: r * length + j,
        lambda r, j: j * 4 + r,
        lambda r, j: r + j,
        lambda r, j: (7 * r + j * j + 3 * j) % count,
    ]

    def function() -> Value:
        total = Value(0.0)
        for which, shape in enumerate(shapes):
            for r in range(4):
                picked = [[side[shape(r, j)] for j in range(length)] for side in matrix]
                for k, result in enumerate(rows_of(name, picked)):
                    total = total + result * (0.5 + 0.25 * which + 0.125 * r + 0.0625 * k)
        return total

    points = []
    for seed in (0, 1):
        generator = random.Random(seed)
        points.append(([generator.uniform(-1.5, 1.5) for _ in leaves], ()))
    if name in ("max", "min", "logsumexp", "softmax"):  # ties, too
        points.append(([float(i % 3) for i in range(len(leaves))], ()))
        points.append(([1.0] * len(leaves), ()))
    if name == "prod":  # none, one and several factors of zero
        points.append(([0.0 if i == 2 else 1.5 for i in range(len(leaves))], ()))
        points.append(([0.0 if i % 3 == 0 else -1.25 for i in range(len(leaves))], ()))
    assert_equals_eager(function, leaves, points, bound=1e-11)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_over_values_numbers_and_results(name: str) -> None:
    leaves = [Value(0.0) for _ in range(5)]

    def function(x: float, ys: list[float]) -> Value:
        inner = [leaf * leaf + x for leaf in leaves]
        mixed: list[Any] = [1.25, *leaves, x, *inner, leaves[2], 1.25, *ys, inner[0]]
        sequences = [mixed, mixed[::-1]] if ROWS[name].paired else [mixed]
        results = rows_of(name, sequences)
        total = Value(0.0)
        for k, result in enumerate(results):
            total = total + result * (1.0 + k)
        return total + rows_of(name, [inner] * len(sequences))[0]

    points = [([0.1, -0.4, 0.8, 1.1, -0.9], (0.5, [0.2, -0.3])), ([-0.6, 0.6, 0.25, 0.25, 1.0], (0.25, [1.25, 0.25]))]
    assert_equals_eager(function, leaves, points, bound=1e-11)


@pytest.mark.parametrize("name", ["sum", "dot", "prod"])
def test_a_row_over_nothing_is_a_number(name: str) -> None:
    w = Value(2.0)

    def function() -> Any:
        return rows_of(name, [[], []] if ROWS[name].paired else [[]])[0] * w + w

    assert_equals_eager(function, [w], [([2.0], ()), ([3.0], ())])


@pytest.mark.parametrize("name", ["max", "min"])
def test_pythons_own_max_and_min(name: str) -> None:
    """The first of those that tie gets the whole gradient; of ``.data`` it is a number without one."""
    choose = {"max": max, "min": min}[name]  # the plain built-in: its comparisons are guards
    leaves = [Value(0.0) for _ in range(4)]

    def function() -> Any:
        shift = (max if name == "max" else min)(leaf.data for leaf in leaves)
        largest = (max if name == "max" else min)(leaves)
        return largest * 3.0 + choose(leaves[0], leaves[1]) * leaves[2] + (leaves[3] - shift) ** 2

    points = [
        ([1.0, 2.0, 3.0, 4.0], ()),
        ([4.0, 3.0, 2.0, 1.0], ()),
        ([2.0, 2.0, 2.0, 2.0], ()),
        ([0.0, 5.0, 5.0, 0.0], ()),
    ]
    assert_equals_eager(function, leaves, points)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "total",
    [
        lambda x, y: x * y + 0.0,
        lambda x, y: x + -0.0,
        lambda x, y: x + x + x + x,
        lambda x, y: x * y + x * y + x * y,
        lambda x, y: sum([x, y, x * y]),
        lambda x, y: 0.0 + x + x * y,
    ],
)
def test_sums_of_zeros_have_their_sign(total: Any, kind: str) -> None:
    compiled = rg.compile(lambda x, y: rg.math.atan2(total(x, y), -1.0), **KINDS[kind])
    for x, y in itertools.product([0.3, 0.0, -0.0, -0.3], [1.0, -1.0, 0.0, -0.0]):
        for kept in (float, Value):
            given = [kept(x), kept(y)]
            assert math.isclose(data_of(compiled(*given)), data_of(rg.math.atan2(total(*given), -1.0))), (x, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["max", "min"])
def test_pythons_own_max_and_min_of_numbers_that_are_none(name: str, kind: str) -> None:
    """Where a NaN stands decides what Python's max and min give; a later call brings it."""
    w, nan = Value(2.0), math.nan

    def function(*numbers: float) -> Any:
        return w * (max if name == "max" else min)(numbers)

    compiled = rg.compile(function, **KINDS[kind])
    for numbers in [(1.0, 3.0, 2.0), (nan, 3.0, 2.0), (1.0, nan, 2.0), (1.0, 3.0, nan), (0.0, -0.0, nan)]:
        assert same(compiled(*numbers).data, function(*numbers).data), numbers
    assert (compiled.stats().traces, compiled.stats().eager) == (1, 0)


def test_rows_of_the_table_that_have_methods_in_numpy() -> None:
    """Operators, methods and rg.math are one row each; none slips past the trace."""
    x, y = Value(0.7), Value(1.9)

    def function(a: float) -> Any:
        from_numbers = a % 0.3 + a // 0.3 + abs(-a) + a**2.0 + (2.0**a) + divmod(a, 0.4)[1] + max(a, 0.5) - min(a, 1.0)
        return x % y + y // x + x**y + 2.0**x + x**2 + abs(-x) + rg.math.atan2(x, a) + y.hypot(a) + from_numbers * x

    assert_equals_eager(
        function, [x, y], [([0.7, 1.9], (0.45,)), ([1.7, 0.9], (1.45,)), ([0.2, 2.5], (0.95,))], bound=1e-11
    )
