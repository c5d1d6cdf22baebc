"""``to_jax`` of instructions that differ in one extent, as in a triangle: one padded instruction for all."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
import retrograd.math as rm
from retrograd.compiler.backends.jax import lowering
from retrograd.compiler.backends.jax.families import with_families
from retrograd.ops import jax_functions

pytestmark = pytest.mark.native
SIZE = 7


@pytest.fixture(autouse=True)
def double():
    require("jax")
    with jax_functions.double_precision():
        yield


def softmax(xs):
    most = max(x.data if isinstance(x, rg.Value) else x for x in xs)
    exps = [rm.exp(x - most) for x in xs]
    total = rg.sum(exps)
    return [e / total for e in exps]


def attention(heads: int, width: int) -> Callable[..., Any]:
    """Each position mixes what those before it and itself have, by head; matrices make queries, keys and values."""

    def f(rows, matrix):
        rows = [[rg.dot(row, w) for w in matrix] for row in rows]
        size, out = heads * width, 0.0
        for i in range(len(rows)):
            mixed = []
            for h in range(0, size, width):
                keys = [row[size + h : size + h + width] for row in rows[: i + 1]]
                values = [row[2 * size + h : 2 * size + h + width] for row in rows[: i + 1]]
                weights = softmax([rg.dot(rows[i][h : h + width], key) / width for key in keys])
                mixed += [rg.dot(weights, [value[j] for value in values]) for j in range(width)]
            out = out + rg.dot(mixed, rows[i][:size]) * (1.0 + 0.1 * i)
        return out

    return f


def softmaxes(xs, ys):
    """Of ever more numbers, and of ever fewer."""
    total = 0.0
    for i in range(1, SIZE + 1):
        total = total + rg.logsumexp(xs[:i]) * ys[0] - rg.logsumexp(ys[SIZE - i :]) * xs[i - 1]
    return total


def largest(xs, ys):
    """Python's own max and min, and the table's, of ever more numbers with ties."""
    total = 0.0
    for i in range(1, SIZE + 1):
        prefix = [x * y for x, y in zip(xs[:i], ys, strict=False)]
        total = total + rg.max(prefix) * ys[i - 1] - rg.min(prefix) * i
    return total


def ragged(xs, ys):
    """Lengths that go up and down, and elements that are read again one by one."""
    rows = [[x * ys[i] for x in xs[:n]] for i, n in enumerate((3, 1, 6, 2, 7, 4, 5))]
    norms = [rm.sqrt(rg.dot(row, row) + 0.1) for row in rows]
    scaled = [[rm.sin(x / norm) for x in row] for row, norm in zip(rows, norms, strict=True)]
    picked = [row[len(row) // 2] for row in scaled]
    return rg.dot(picked, ys) + rg.sum([rg.sum(row) * row[0] for row in scaled])


def vectors(draw, *shape):
    if not shape:
        return draw.uniform(-1.5, 1.5)
    return [vectors(draw, *shape[1:]) for _ in range(shape[0])]


def run(f, arguments, *calls):
    """Compare with the engine; returns the numbers of instructions before and after families were merged."""
    import jax

    counts = []

    def counted(program):
        merged = with_families(program)
        counts.extend([len(program["instructions"]), len(merged["instructions"])])
        return merged

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "with_families", counted)
        g = rg.compile(f).to_jax(*arguments)
    slopes = jax.jit(jax.value_and_grad(g, argnums=(1, 2)))
    for each in (arguments, *calls):
        value, gradient = slopes(g.parameters, *g.inputs(*each))
        wanted, slope = rg.value_and_grad(f, argnums=(0, 1))(*each)
        assert float(value) == pytest.approx(wanted, rel=1e-9)
        for mine, other in zip(gradient, slope, strict=True):
            other = np.asarray(other)
            assert np.asarray(mine) == pytest.approx(other, rel=1e-9, abs=1e-9 * max(np.abs(other).max(), 1.0))
    return counts


@pytest.mark.parametrize(("heads", "width", "length"), [(4, 4, 16), (4, 4, 13)])
def test_causal_attention_is_a_few_instructions_on_padded_arrays(heads, width, length):
    draw, size = random.Random(heads), heads * width
    calls = [(vectors(draw, length, size), vectors(draw, 3 * size, size)) for _ in range(3)]
    before, after = run(attention(heads, width), *calls)
    assert after < before / 3


@pytest.mark.parametrize("f", [softmaxes, largest, ragged])
def test_families_of_reductions_give_the_engine_s_numbers(f):
    draw = random.Random(5)
    run(f, *[(vectors(draw, SIZE), vectors(draw, SIZE)) for _ in range(4)])


def test_numbers_beside_a_triangle_do_not_spoil_its_gradient():
    """What the last rows have would overflow beside the first ones."""
    draw = random.Random(6)
    rows, matrix = vectors(draw, 16, 16), vectors(draw, 48, 16)
    rows[-1], rows[-2] = [100.0 * x for x in rows[-1]], [100.0 * x for x in rows[0]]
    before, after = run(attention(4, 4), (rows, matrix))
    assert after < before / 4


def test_a_program_without_families_stays_the_same():
    program = {
        "regions": [("parameter", True, 0, 4, 0), ("value", True, 4, 2, 0)],
        "pool": [],
        "roots": [4],
        "instructions": [
            {
                "code": "dot", "row": "dot", "sizes": [2, 2], "reduced": 1, "has_init": False, "limit": 0,
                "views": [(0, 0, [2, 1]), (0, 0, [2, 1])], "result": (1, 4, [1, 0]), "through_pool": False, "stride": 0,
            }
        ],
    }  # fmt: skip
    assert with_families(program) is program
