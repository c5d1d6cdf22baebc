"""Lists that are written to at places that data decide: machine code that keeps them in memory, against the engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.lane_cases import check, flat, graph_of
from test_c_backend import Built

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.passes.code import Op, steps_in
    from retrograd.compiler.backends.loops.pipeline import write_passes

ITEMS, ROWS = 7, 12
#: (where to write, what to read, a truth, a number) of each iteration.
Row = tuple[int, int, bool, float]


def item(items: list[Any], index: Any) -> Any:
    """``items[index]``, by selections, as what records it writes them."""
    found = items[0]
    for j in range(1, len(items)):
        found = rg.where(index == float(j), items[j], found)
    return found


def written(items: list[Any], index: Any, value: Any) -> list[Any]:
    """``items`` after ``items[index] = value``."""
    return [rg.where(index == float(j), value, each) for j, each in enumerate(items)]


def merged(test: Callable[[], Any], one: list[Any], other: list[Any]) -> list[Any]:
    """The items of one list where a test holds, else those of the other one, as at the end of an ``if``."""
    return [rg.where(test(), a, b) for a, b in zip(one, other, strict=True)]


def data(seed: int, count: int = ITEMS) -> tuple[list[float], list[list[float]]]:
    """Numbers, and rows of two indices and a number."""
    rng = random.Random(seed)
    rows = [[float(rng.randrange(count)), float(rng.randrange(count)), rng.uniform(-1, 1)] for _ in range(ROWS)]
    return [rng.uniform(-1, 1) for _ in range(count)], rows


def arrays(compiled: Any) -> int:
    """How many lists of ``ITEMS`` items are kept in memory."""
    cells: int = graph_of(compiled).cells
    assert cells % (ITEMS + 1) == 0  # a cell more for what is written to no item
    return cells // (ITEMS + 1)


def checked(step: Callable[[list[Any], Any, Any, Any], tuple[list[Any], Any]]) -> Any:
    """Compile a loop that hands a list on, and compare it with the engine."""

    def loop(p: list[Any], rows: list[list[float]]) -> Any:
        items, total = [x * x for x in p], 0.0
        for i, j, x in rows:
            items, more = step(items, i, j, x)
            total = total + more
        return total + sum(items)

    return check(loop, *(data(seed) for seed in range(4)))


def test_reads_and_writes_take_turns() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        r = written(r, i, item(r, j) * x)
        return r, rm.tanh(item(r, i))

    compiled = checked(step)
    assert arrays(compiled) == 1
    assert len(graph_of(compiled)) < 10 * ROWS + 30  # of which selections alone were 38 an iteration


def test_two_writes_of_which_the_second_may_be_to_the_same_item() -> None:
    def swapped(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        one, other = item(r, i), item(r, j)
        return written(written(r, i, other + x), j, one), one * x

    assert arrays(checked(swapped)) == 1


def test_items_that_code_reads_and_writes_by_themselves() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        r = written(r, i, r[2] * x)
        r = [*r[:3], r[3] * 0.5 + r[1], *r[4:]]
        return written(r, j, r[3] - x), r[0] * r[4]

    assert arrays(checked(step)) == 1


def test_one_arm_writes() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        after = written(written(r, i, item(r, j) * 0.7), j, x)
        return merged(lambda: x > 0.2, after, r), item(after, i)

    assert arrays(checked(step)) == 1


def test_both_arms_write() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        one = written(r, i, item(r, j) * 0.7)
        more = item(one, j)
        other = written(written(r, j, item(r, i) + x), i, x * x)
        return merged(lambda: x > 0.0, one, other), rg.where(x > 0.0, more, item(other, j))

    assert arrays(checked(step)) == 1


def test_arms_in_arms_write() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        first = written(r, i, x + item(r, j))
        inner = merged(lambda: x > 0.5, written(first, j, x), written(first, i, 0.5 * item(first, j)))
        other = written(r, j, item(r, j) * 0.9)
        return merged(lambda: x > -0.2, inner, other), item(inner, j)

    assert arrays(checked(step)) == 1


def test_what_arms_have_written_and_read_counts_even_if_it_is_undone() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        tried = written(r, i, item(r, i) + x)
        loss = rm.exp(-item(tried, j))  # of the list that is not kept
        return merged(lambda: x > 0.1, tried, r), loss

    checked(step)


def test_a_list_that_is_written_to_as_it_was_before_is_another_one() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        new = written(r, i, x)
        old = written(r, j, item(r, i) * x)
        return new, item(old, i) + old[3]

    checked(step)


def test_lists_of_which_each_is_made_of_the_one_before() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        return [0.5 * each + x * item(r, i) for each in r], item(r, j)

    checked(step)


@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed: int) -> None:
    """Reads, writes, arms and copies in any order."""
    rng = random.Random(seed)

    def arm(depth: int) -> list[Any]:
        kinds = ["write", "write", "store", "read", "if" if depth < 3 else "read", "copy" if depth == 1 else "write"]
        return [(kind, arm(depth + 1), arm(depth + 1)) if kind == "if" else (kind,) for kind in rng.choices(kinds, k=3)]

    program = arm(1)

    def run(steps: list[Any], r: list[Any], row: list[float], total: Any) -> tuple[list[Any], Any]:
        i, j, x = row
        for kind, *arms in steps:
            if kind == "write":
                r = written(r, i, item(r, j) * 0.5 + x)
            elif kind == "store":
                r = [*r[:4], r[5] * x, *r[5:]]
            elif kind == "read":
                total = total * 0.7 + rm.tanh(item(r, i) * r[4])
            elif kind == "copy":
                r = [each * 0.9 for each in r]
            else:
                test: Callable[[], Any] = (
                    (lambda x=x: x > 0.1) if arms[0][0][0] == "write" else (lambda i=i, j=j: i < j)
                )
                (one, a), (other, b) = (run(each, r, row, total) for each in arms)
                r, total = merged(test, one, other), rg.where(test(), a, b)
            i, j = j, i
        return r, total

    def loop(p: list[Any], rows: list[list[float]]) -> Any:
        r, total = list(p), 0.0 * p[0]
        for row in rows:
            r, total = run(program, r, row, total)
        return total + sum(r)

    check(loop, *(data(seed) for seed in range(3)), bound=1e-10)


# --- programs as they are written ---------------------------------------------------------------------------------


def elo(k: Any, start: list[Any], games: list[Row]) -> Any:
    ratings, loss = list(start), 0.0
    for i, j, won, x in games:
        chance = 1.0 / (1.0 + rm.exp(ratings[j] - ratings[i]))
        loss = loss - rm.log(chance if won else 1.0 - chance) * (1.0 + x * x)
        change = k * ((1.0 if won else 0.0) - chance)
        ratings[i] += change
        ratings[j] -= change
    return loss


def messages(k: Any, start: list[Any], edges: list[Row]) -> Any:
    found = [0.0] * len(start)
    for source, target, is_both, x in edges:
        found[target] = found[target] + k * start[source] * x
        if is_both:
            found[source] += rm.tanh(start[target])
    return sum(each * each for each in found)


def bubbles(k: Any, start: list[Any], pairs: list[Row]) -> Any:
    items = [k * each for each in start]
    for i, j, _, x in pairs:
        if items[i] > items[j] + x:
            items[i], items[j] = items[j], items[i]
        elif x > 0.5:
            items[i] = items[j] * 0.5
    return sum((n + 1) * each for n, each in enumerate(items))


def rows_of(seed: int) -> list[Row]:
    rng = random.Random(seed)
    pairs = (rng.sample(range(ITEMS), 2) for _ in range(ROWS))
    return [(i, j, rng.random() < 0.5, rng.uniform(-1, 1)) for i, j in pairs]


def derived(function: Callable[..., Any], k: float, start: list[float], rows: list[Row]) -> tuple[float, list[float]]:
    """The value of a function, and the gradients of all but the rows."""
    values = [rg.Value(k), *map(rg.Value, start)]
    result = function(values[0], values[1:], rows)
    result.backward()
    return result.data, [value.grad for value in values]


@pytest.mark.parametrize("function", [elo, messages, bubbles])
def test_ints_of_each_call_say_where(function: Callable[..., Any]) -> None:
    compiled = rg.compile(function, tier="llvm")
    rng = random.Random(1)
    for seed in range(40):
        arguments = rng.random(), [rng.uniform(-1, 1) for _ in range(ITEMS)], rows_of(seed)
        (value, found), (wanted, exact) = (derived(one, *arguments) for one in (compiled, function))
        assert value == pytest.approx(wanted, rel=1e-10)
        assert found == pytest.approx(exact, rel=1e-10, abs=1e-10)
    assert compiled.stats().eager == 0
    last = max(compiled.stats().programs, key=lambda program: program.hits)
    assert last.hits > 25


def test_c_functions_keep_lists_in_memory(tmp_path: Any) -> None:
    def loop(p: list[Any], rows: list[list[float]]) -> Any:
        r, total = list(p), 0.0
        for i, j, x in rows:
            read = item(r, j)
            r = [rg.where(x > 0.0, one, other) for one, other in zip(written(r, i, read * x), r, strict=True)]
            total = total + read * r[3]
        return total + sum(r)

    file = rg.compile(loop).to_c(tmp_path / "loop.c", *data(1), name="loop")
    assert "for (" in file.path.read_text()
    built = Built(file)
    for seed in range(3):
        value, derivatives, _ = built.gradient(*data(seed))
        wanted, exact = rg.value_and_grad(loop, argnums=(0, 1))(*data(seed))
        assert value == pytest.approx(wanted, rel=1e-12)
        assert derivatives == pytest.approx(flat(exact), rel=1e-11, abs=1e-11)


def test_the_code_has_no_selection_for_each_item() -> None:
    def step(r: list[Any], i: Any, j: Any, x: Any) -> tuple[list[Any], Any]:
        return written(r, i, item(r, j) * x), x

    compiled = checked(step)
    passes = write_passes(graph_of(compiled), fast=True)
    steps = [step.name for block in passes.blocks.values() for step in steps_in(block) if isinstance(step, Op)]
    assert sum(name == "select" for name in steps) < 12
    assert {"get W", "put W", "get B", "put B", "scatter B"} <= set(steps)
