"""Loops in loops from the scalar graph: triangles, tables, trees and solves, against the engine."""

from __future__ import annotations

import dataclasses
import math
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd import engine
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.graphs.reading import read_graph
    from retrograd.compiler.backends.loops.install import compile_graph
    from retrograd.compiler.backends.loops.passes.backward import SEED
    from retrograd.compiler.backends.loops.passes.code import Block, Loop, Ref
    from retrograd.compiler.backends.loops.passes.storage import Places
    from retrograd.compiler.backends.loops.pipeline import Passes, write_passes
    from retrograd.compiler.backends.loops.shapes import costs, sections
    from retrograd.compiler.backends.loops.shapes.nests import find_nests
    from retrograd.compiler.backends.loops.shapes.structure import Body, bodies_of, build
    from retrograd.compiler.guards.captured_state import Asks
    from retrograd.compiler.reports.reasons import Reason
    from retrograd.compiler.request import CompileRequest, Options
    from retrograd.compiler.tracing.traced_call import trace


@pytest.fixture(autouse=True)
def _small_programs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for nests in programs of any size, and take them if the code is shorter, whatever time it takes."""
    monkeypatch.setattr(costs, "_CODE", 1e3)
    monkeypatch.setattr(sections, "_LONG", 0)
    monkeypatch.setattr(sections, "_GAIN", 1.0)


def machine_code(f: Callable[..., Any], *arguments: Any) -> tuple[Any, Body]:
    """The function with machine code for its graph, and the shape of its nests."""
    compiled = rg.compile(f)
    compiled.value_and_grad(*arguments)
    cache = compiled._cache  # type: ignore[attr-defined]
    number = cache.facts()[0]["number"]
    shape = build(find_nests(read_graph(cache.scalar_graph(number, False)))[0][0])
    compile_graph(cache, number)
    return compiled, shape


def check(f: Callable[..., Any], *calls: tuple[Any, ...], depth: int | None = None, bound: float = 1e-9) -> Body:
    """Compile the graph of the first call, and compare all calls with the function."""
    compiled, shape = machine_code(f, *calls[0])
    if depth is not None:
        assert max(body.depth for body in bodies_of(shape)) == depth
    for arguments in calls:
        value, gradients = compiled.value_and_grad(*arguments)
        wanted, exact = rg.value_and_grad(f)(*arguments)
        assert value == pytest.approx(wanted, rel=bound, abs=bound)
        assert flat(gradients) == pytest.approx(flat(exact), rel=bound, abs=bound)
    stats = compiled.stats()
    assert stats.traces == 1
    assert stats.programs[0].tier == "llvm"
    return shape


def size(shape: Body) -> int:
    return sum(1 for _ in shape.positions())


def flat(tree: Any) -> list[float]:
    return [x for each in tree for x in flat(each)] if isinstance(tree, list | tuple) else [float(tree)]


def numbers(count: int, seed: int = 0, low: float = 0.2, high: float = 1.5) -> list[float]:
    rng = random.Random(seed)
    return [rng.uniform(low, high) for _ in range(count)]


# --- programs -----------------------------------------------------------------------------------------------


def tree(p: list[float], steps: int = 24) -> Any:
    """An American put on a binomial tree."""
    spot, strike, rate, volatility = p
    up = rm.exp(0.1 * volatility)
    growth = rm.exp(0.01 * rate)
    q = (growth - 1.0 / up) / (up - 1.0 / up)
    prices = [spot * up ** (2 * i - steps) for i in range(steps + 1)]
    values = [rm.maximum(strike - price, 0.0) for price in prices]
    for step in reversed(range(steps)):
        for i in range(step + 1):
            hold = (q * values[i + 1] + (1.0 - q) * values[i]) / growth
            values[i] = rm.maximum(hold, strike - prices[i] * up ** (steps - step))
    return values[0]


def cholesky(p: list[float], n: int = 14) -> Any:
    """The logarithm of the determinant of a covariance matrix."""
    lower: list[list[Any]] = [[0.0] * n for _ in range(n)]
    total: Any = 0.0
    for i in range(n):
        for j in range(i + 1):
            s: Any = p[i] * p[j] + (2.0 + n if i == j else 0.0)
            for k in range(j):
                s = s - lower[i][k] * lower[j][k]
            lower[i][j] = rm.sqrt(s) if i == j else s / lower[j][j]
        total = total + rm.log(lower[i][i])
    return total


def triangular_solve(p: list[float], n: int = 12) -> Any:
    """Forward and backward substitution with a matrix that depends on two parameters."""
    x: list[Any] = []
    for i in range(n):
        s: Any = p[i] * 1.0
        for k in range(i):
            s = s - p[n] / (1.0 + i + k) * x[k]
        x.append(s / (2.0 + p[n + 1]))
    y: list[Any] = [0.0] * n
    for i in reversed(range(n)):
        s = x[i] * 1.0
        for k in range(i + 1, n):
            s = s - p[n + 1] * y[k] * (0.1 * k)
        y[i] = s / (1.5 + p[n])
    return rg.sum([v * v for v in y])


def warping(p: list[float], n: int = 10) -> Any:
    """Dynamic time warping with hard minima, of parameters and a fixed series."""
    far = 1e3
    row: list[Any] = [0.0] + [far] * n
    for i in range(n):
        following: list[Any] = [far]
        for j in range(n):
            cost = (p[i] - math.sin(j)) ** 2 + 0.01 * p[n]
            following.append(cost + rm.minimum(rm.minimum(row[j], row[j + 1]), following[j]))
        row = following
    return row[n]


def edit_distance(p: list[float], n: int = 9) -> Any:
    """An edit distance with smooth minima and learned costs."""
    insert, delete, replace = p
    row = [j * insert for j in range(n + 1)]
    for i in range(1, n + 1):
        following = [i * delete]
        for j in range(1, n + 1):
            same = 0.0 if (i * j) % 3 == 0 else 1.0
            choices = (row[j] + delete, following[j - 1] + insert, row[j - 1] + same * replace)
            following.append(-rm.log(sum(rm.exp(-c) for c in choices)))
        row = following
    return row[n]


def rod(p: list[float], n: int = 9, steps: int = 12) -> Any:
    """A heated rod with fixed ends."""
    t: list[Any] = [p[i] * 1.0 for i in range(n)]
    for _ in range(steps):
        t = [t[0]] + [t[i] + p[n] * (t[i - 1] - 2.0 * t[i] + t[i + 1]) for i in range(1, n - 1)] + [t[-1]]
    return rg.sum([x * x for x in t])


def rates(p: list[float], n: int = 16) -> Any:
    """Forward rates, of which fewer are alive each step."""
    forwards: list[Any] = list(p[:n])
    for step in range(n - 3):
        drift: Any = 0.0
        for i in range(step + 1, n):
            volatility = p[n + i - step - 1]
            drift = drift + volatility * forwards[i] / (1.0 + forwards[i])
            forwards[i] = forwards[i] * rm.exp(0.1 * volatility * drift - 0.05 * volatility)
    return rg.sum(forwards)


def layers(p: list[float], n: int = 6, depth: int = 5) -> Any:
    """Dense layers with one matrix: three loops."""
    x: list[Any] = list(p[:n])
    for _ in range(depth):
        x = [rm.tanh(sum(p[n + i * n + j] * x[j] for j in range(n))) for i in range(n)]
    return rg.sum(x)


PROGRAMS: list[tuple[Callable[[list[float]], Any], int, int, int]] = [
    (tree, 4, 2, 120),
    (cholesky, 14, 3, 180),
    (triangular_solve, 14, 2, 250),
    (warping, 11, 2, 90),
    (edit_distance, 3, 2, 140),
    (rod, 10, 2, 100),
    (rates, 32, 2, 90),
    (layers, 42, 2, 60),
]


@pytest.mark.parametrize(("f", "count", "depth", "most"), PROGRAMS, ids=lambda x: getattr(x, "__name__", None))
def test_nests_are_found_and_right(f: Callable[[list[float]], Any], count: int, depth: int, most: int) -> None:
    shape = check(f, *((numbers(count, seed),) for seed in range(4)))
    assert max(body.depth for body in bodies_of(shape)) >= depth
    assert size(shape) <= most


@pytest.mark.parametrize(("f", "steps"), [(tree, (30, 60)), (cholesky, (16, 24)), (rates, (24, 48))])
def test_the_code_grows_with_the_body_and_not_with_the_steps(f: Callable[..., Any], steps: tuple[int, int]) -> None:
    count = {tree: 4, cholesky: 24, rates: 96}[f]
    small, large = (size(machine_code(lambda p, n=n: f(p, n), numbers(count))[1]) for n in steps)
    assert large <= 1.2 * small  # the sum at the end is a tree


def test_a_sum_that_a_loop_carries_may_be_added_up_in_any_order() -> None:
    def solve(p: list[float]) -> Any:
        x: list[Any] = []
        for i in range(20):
            s: Any = 1.0
            for k in range(i):
                s = s - p[k] * x[k]
            x.append(s / p[i])
        return rm.sum([v * v for v in x])

    check(solve, (numbers(20),), (numbers(20, 3),))
    assert "fsub reassoc" in operations(passes_of(solve, numbers(20)).forward.t.top)


def test_a_compensated_sum_keeps_its_compensation() -> None:
    def kahan(p: list[float]) -> Any:
        total, lost = p[0] * 1.0, p[0] * 0.5
        for x in p:
            y = x - lost
            t = total + y
            total, lost = t, (t - total) - y
        return total

    point = [1.0, 1e16, 3.0, -1e16] * 10
    compiled, _ = machine_code(kahan, point)
    assert compiled.value_and_grad(point) == rg.value_and_grad(kahan)(point)


# --- what must not change -------------------------------------------------------------------------------------


def pairs(p: list[float]) -> Any:
    """An energy of all pairs of points in the plane, which has a singularity."""
    energy: Any = 0.0
    for i in range(len(p) // 2):
        for j in range(i):
            squared = (p[2 * i] - p[2 * j]) ** 2 + (p[2 * i + 1] - p[2 * j + 1]) * (p[2 * i + 1] - p[2 * j + 1])
            energy = energy + 1.0 / squared - 2.0 * rm.sqrt(squared)
    return energy


def test_pairs_are_a_triangle_without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also as one loop over all pairs that would be less code: that one reads points through tables."""
    monkeypatch.undo()
    passes = passes_of(pairs, numbers(48))
    assert max(body.depth for body in bodies_of(passes.forward.layout.top)) == 2
    assert not any(table.dtype == np.int64 and len(table) > 24 for table in passes.places.tables)
    ((_, root),) = passes.layout.graph.roots  # not a number for each pair
    assert passes.layout.place(root)[0].body is passes.layout.top
    check(pairs, *((numbers(48, seed),) for seed in range(4)))


@pytest.mark.parametrize("pair", [(0, 1), (3, 11), (10, 23)])
def test_a_domain_error_in_a_loop_of_vectors_is_the_engine_s(pair: tuple[int, int]) -> None:
    """Flags of iterations that run side by side are looked at after the loop: none may be lost."""
    compiled, _ = machine_code(pairs, numbers(48))
    point = numbers(48, 1)
    expected, gradient = rg.value_and_grad(pairs)(point)
    value, found = compiled.value_and_grad(point)
    assert [value, *found] == pytest.approx([expected, *gradient], rel=1e-9)
    i, j = pair
    point[2 * i : 2 * i + 2] = point[2 * j : 2 * j + 2]
    with pytest.raises(ZeroDivisionError):
        pairs([rg.Value(number) for number in point])
    with pytest.raises(ZeroDivisionError):
        compiled.value_and_grad(point)
    assert compiled.value_and_grad(numbers(48, 1))[0] == value


def test_a_domain_error_in_an_inner_loop_is_the_engine_s() -> None:
    def rooted(p: list[float]) -> Any:
        row = [p[0] * (i + 1.0) for i in range(12)]
        for step in reversed(range(4, 12)):
            for i in range(step):
                row[i] = rm.sqrt(row[i + 1] - p[1])
        return row[0]

    compiled, _ = machine_code(rooted, [3.0, -2.0])
    assert compiled.value_and_grad([2.5, -2.0])[0] == pytest.approx(rooted([2.5, -2.0]), rel=1e-12)
    with pytest.raises(ValueError, match="square root"):
        compiled.value_and_grad([1.0, 2.0])


def test_infinite_numbers_that_vanish_in_an_inner_loop_are_seen() -> None:
    def hidden(p: list[float], data: list[float]) -> Any:
        row = [p[0] * (i + 1.0) for i in range(12)]
        for step in reversed(range(4, 12)):
            for i in range(step):
                row[i] = 0.5 * rm.tanh(row[i + 1] + data[i] * p[1] * 0.0)
        return row[0]

    data = numbers(12)
    compiled, _ = machine_code(hidden, [0.5, 1.0], data)
    assert compiled.value_and_grad([0.4, 1.0], data)[0] == pytest.approx(float(hidden([0.4, 1.0], data)), rel=1e-12)
    value, _ = compiled.value_and_grad([0.5, 1.0], [*data[:2], math.inf, *data[3:]])
    assert math.isnan(value)


def test_what_vanishes_in_a_sum_that_an_inner_loop_makes_is_seen() -> None:
    def hidden(p: list[float], data: list[float]) -> Any:
        total: Any = p[0] * 0.5
        for i in range(8):
            s: Any = total * 0.1
            for k in range(i + 4):
                s = s + data[k] * p[1] * 0.0 + p[1] * 0.01
            total = total + s
        return total

    data = numbers(12)
    compiled, _ = machine_code(hidden, [0.5, 1.0], data)
    for k in (0, 3, 10):
        value, _ = compiled.value_and_grad([0.5, 1.0], [*data[:k], math.inf, *data[k + 1 :]])
        assert math.isnan(value)


def test_an_infinite_gradient_is_the_engine_s() -> None:
    def steep(p: list[float]) -> Any:
        row = [rm.sqrt(p[0]) * (i + 1.0) for i in range(12)]
        for step in reversed(range(4, 12)):
            for i in range(step):
                row[i] = row[i] * p[1] + row[i + 1] * 0.5
        return row[0]

    compiled, _ = machine_code(steep, [1.0, 0.5])
    value, gradients = compiled.value_and_grad([0.0, 0.5])
    wanted, exact = rg.value_and_grad(steep)([0.0, 0.5])
    assert value == wanted
    assert repr(gradients) == repr(exact)


def test_guards_hold_in_nests() -> None:
    def branching(p: list[float]) -> Any:
        row = [p[0] * (i + 1.0) for i in range(12)]
        for step in reversed(range(4, 12)):
            for i in range(step):
                hold = 0.5 * (row[i] + row[i + 1])
                row[i] = hold if hold > p[1] else p[1] * 1.0
        return row[0]

    compiled, _ = machine_code(branching, [1.0, 0.5])
    for p in ([1.0, 0.4], [1.0, 3.0], [0.2, 1.0]):
        value, gradients = compiled.value_and_grad(p)
        wanted, exact = rg.value_and_grad(branching)(p)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert gradients == pytest.approx(exact, rel=1e-12)


def test_powers_with_exponents_of_a_table_have_the_engine_s_partials_at_zero() -> None:
    def polynomials(p: list[float]) -> Any:
        total: Any = 0.0
        for i in range(12):
            s: Any = 0.0
            for k in range(i + 4):
                s = s + p[k] * p[20] ** (k + 5)
            total = total * 0.5 + s + p[20]
        return total

    p = numbers(21)
    compiled, _ = machine_code(polynomials, p)
    for x in (0.0, -0.5, 1e-80, 1.0):
        value, gradients = compiled.value_and_grad([*p[:20], x])
        wanted, exact = rg.value_and_grad(polynomials)([*p[:20], x])
        assert value == pytest.approx(wanted, rel=1e-12)
        assert gradients == pytest.approx(exact, rel=1e-12)


def test_two_streams_that_take_turns() -> None:
    def turns(p: list[float]) -> Any:
        a, b = [p[0] * (i + 1.0) for i in range(2)]
        total: Any = 0.0
        for i in range(20):
            total = 0.9 * total + (a * p[1] if i % 2 else b * p[1]) - (b * p[2] if i % 2 else a * p[2])
        return total

    check(turns, (numbers(3),), (numbers(3, 5),))


@pytest.mark.parametrize("seed", range(16 if ALL else 6))
def test_random_nests(seed: int) -> None:
    check(random_nest(seed), (numbers(24, seed),), (numbers(24, seed + 1000),))


@pytest.mark.parametrize("seed", [0, 40, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(48, 168, 8))])
def test_random_nests_without_machine_code(seed: int) -> None:
    for each in range(seed, seed + (8 if ALL else 3)):
        f = random_nest(each)
        passes = passes_of(f, numbers(24, each))
        for p in (numbers(24, each), numbers(24, each + 1000)):
            value, gradients = interpreted(passes, p)
            wanted, exact = rg.value_and_grad(f)(p)
            assert value == pytest.approx(wanted, rel=1e-9, abs=1e-9), each
            assert gradients == pytest.approx(exact, rel=1e-9, abs=1e-9), each


def passes_of(f: Callable[..., Any], *arguments: Any) -> Passes:
    """The two passes of a function's graph, in which argument by argument is a leaf."""
    traced = trace(f, arguments, False, Asks(), want_sources=True)
    cache = engine.SpecializationCache(lambda *_: None, rg.Index, Reason)
    number = cache.add(CompileRequest(traced.recording, traced.signature, False, Options(), cache.capture([])))
    graph = read_graph(cache.scalar_graph(number, False))
    graph = dataclasses.replace(graph, wanted=np.ones(len(graph.wanted), bool))
    return write_passes(graph, fast=True)


def operations(block: Block) -> set[str]:
    """The names of all operations in a block and its loops."""
    found: set[str] = set()
    for step in block.steps:
        found |= operations(step.body) if isinstance(step, Loop) else {step.name}
    return found


def interpreted(passes: Passes, leaves: list[float]) -> tuple[float, list[float]]:
    """What the two passes compute; their code is interpreted."""
    size = passes.storage.size
    arrays = {"L": list(leaves), "G": [0.0] * len(leaves), "W": [math.nan] * size, "B": [math.nan] * size}
    for begin, length in passes.zeroed():
        arrays["B"][begin : begin + length] = [0.0] * length
    for writer in (passes.forward, passes.backward):
        Interpreter(passes.places, arrays).run(writer.t.top)
    kind, index = passes.forward.layout.graph.roots[0]
    return arrays["W" if kind == 2 else "L"][passes.element(kind, index)], arrays["G"]


class Interpreter:
    """Runs code in the SSA form, one operation at a time."""

    def __init__(self, places: Places, arrays: dict[str, list[float]]) -> None:
        self.places, self.arrays = places, arrays
        self.values: dict[int, Any] = {SEED.number: 1.0}
        self.counters: dict[Body, tuple[int, int]] = {}

    def value(self, x: Any) -> Any:
        return self.values[x.number] if isinstance(x, Ref) else x

    def run(self, block: Block) -> None:
        for step in block.steps:
            if isinstance(step, Loop):
                self.loop(step)
                continue
            operands = [self.value(x) for x in step.operands]
            if step.at is not None:
                name, index = self.places.element(step.at)
                array = self.places.tables[int(name[1:])] if name[0] == "T" else self.arrays[name]
                at = self.element(index)
                assert at >= 0
                if step.name == "store":
                    array[at] = operands[0]
                elif step.name == "add to":
                    array[at] += operands[0]
                else:
                    assert step.result is not None
                    self.values[step.result.number] = float(array[at])
            elif step.name == "flag":
                assert not operands[0]
            else:
                assert step.result is not None
                self.values[step.result.number] = OPERATIONS[step.name.split()[0]](step.name, *operands)

    def element(self, index: Any) -> int:
        at = index.base + sum(step * self.counters[body][through] for body, through, step in index.steps)
        if index.table is not None:
            body, entries = index.table
            at += int(entries[self.counters[body][1]])
        return at

    def loop(self, loop: Loop) -> None:
        body = loop.of
        assert body.parent is not None
        phis = loop.phis
        outer = self.counters[body.parent][1] if body.parent.parent is not None else 0
        count, first = int(body.counts[outer]), int(body.firsts[outer])
        for phi in phis:
            self.values[phi.result.number] = 0.0 if phi.start is None else self.value(phi.start)
        for k in reversed(range(count)) if loop.backward else range(count):
            self.counters[body] = k, first + k
            self.run(loop.body)
            following = [self.value(phi.following) for phi in phis]
            for phi, value in zip(phis, following, strict=True):
                self.values[phi.result.number] = value
        for phi in phis:
            if phi.final is not None:
                self.values[phi.final.number] = self.values[phi.result.number]


def call(name: str, *operands: float) -> float:
    function = name.split()[1].removeprefix("llvm.")
    return getattr(math, function)(*operands)  # type: ignore[no-any-return]


COMPARED = {"olt": "lt", "ole": "le", "ogt": "gt", "oge": "ge", "oeq": "eq", "une": "ne"}
OPERATIONS: dict[str, Callable[..., Any]] = {
    "fadd": lambda _, a, b: a + b,
    "fsub": lambda _, a, b: a - b,
    "fmul": lambda _, a, b: a * b,
    "fdiv": lambda _, a, b: a / b,
    "fneg": lambda _, a: -a,
    "fabs": lambda _, a: abs(a),
    "fcmp": lambda name, a, b: getattr(operator, COMPARED[name.split()[1]])(a, b),
    "and": lambda _, a, b: a and b,
    "or": lambda _, a, b: a or b,
    "not": lambda _, a: not a,
    "select": lambda _, condition, a, b: a if condition else b,
    "call": call,
}


def random_nest(seed: int) -> Callable[[list[float]], Any]:
    """A table that is filled row by row: its shape, what a cell reads, its operators and interruptions by chance."""
    rng = random.Random(seed)
    rows, width = rng.randint(5, 10), rng.randint(5, 9)
    shape = rng.choice(["rectangle", "shrinking", "growing", "band", "ragged"])
    ragged = [rng.randint(3, width) for _ in range(rows)]
    reads = [
        rng.choice(["left", "up", "diagonal", "right", "first", "column", "two"]) for _ in range(rng.randint(1, 4))
    ]
    leaves = [rng.choice(["row", "column", "sum", "difference", "fixed"]) for _ in range(rng.randint(1, 2))]
    operators = [rng.choice("amdstelxcz") for _ in range(len(reads) + len(leaves))]
    inner, sums, every = rng.random() < 0.3, rng.random() < 0.5, rng.choice([0, 0, 0, 0, 0, 3])
    in_place, backward = rng.random() < 0.5, rng.random() < 0.3
    data = [rng.uniform(-1.0, 1.0) for _ in range(40)]

    def span(i: int) -> range:
        match shape:
            case "rectangle":
                return range(width)
            case "shrinking":
                return range(max(width - i, 2))
            case "growing":
                return range(min(i + 2, width))
            case "band":
                return range(max(0, i - 3), min(width, i + 4))
            case _:
                return range(ragged[i])

    def cell(table: list[list[Any]], now: list[Any], i: int, j: int, p: list[float]) -> Any:
        before = table[-1]
        found = {
            "left": now[j - 1] if j else before[j],
            "up": before[j],
            "diagonal": before[j - 1] if j else before[j],
            "right": before[min(j + 1, width - 1)],
            "first": table[0][j],
            "column": now[0] if j else p[0] * 0.5,
            "two": table[max(0, len(table) - 2)][j],
        }
        index = {"row": i, "column": j, "sum": i + j, "difference": i - j + 10, "fixed": 3}
        x: Any = 0.1 * found[reads[0]]
        others = [found[read] for read in reads[1:]] + [p[index[leaf]] for leaf in leaves]
        for kind, y in zip(operators, others, strict=False):
            x = operate(kind, x, y, p[23], data[i + j])
        if inner:
            s: Any = 0.0
            for k in range(j):
                s = s + now[k] * p[k]
            x = x + 0.01 * s
        return x

    def nest(p: list[float]) -> Any:
        table: list[list[Any]] = [[p[j] * data[j] for j in range(width)]]
        total: Any = 0.0
        for i in range(rows):
            now = list(table[-1])
            for j in reversed(span(i)) if backward else span(i):
                now[j] = cell([now] if in_place else table, now, i, j, p)
            table.append(now)
            if sums:
                total = total * 0.9 + now[0] * p[1]
            if every and i % every == every - 1:
                total = total + rm.tanh(now[-1])
        return total + rg.sum(table[-1]) + table[len(table) // 2][1]

    return nest


def operate(kind: str, x: Any, y: Any, w: Any, number: float) -> Any:
    match kind:
        case "a":
            return 0.5 * (x + y)
        case "m":
            return x * rm.tanh(y) + 0.1 * w
        case "d":
            return x / (1.5 + y * y)
        case "s":
            return rm.sin(x - y * w)
        case "t":
            return rm.tanh(x + number * y)
        case "e":
            return 0.3 * rm.exp(-x * x) - y * 0.1
        case "l":
            return rm.log(1.0 + x * x + w * w) - 0.1 * y
        case "x":
            return rm.maximum(x, 0.5 * y) + 0.1 * x
        case "c":
            return x * 0.9 + number * w**1.5 - 0.1 * y
        case _:
            return x + y * 0.0 + 0.2 * y
