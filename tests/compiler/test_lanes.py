"""Loops whose iterations run side by side, and loops taken apart for that, against the engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from support.lane_cases import check, flat, graph_of, in_lanes, more_than_registers, numbers
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.install import compile_graph
    from retrograd.compiler.backends.loops.shapes.sections import find_structure
    from retrograd.compiler.backends.loops.shapes.structure import bodies_of

COUNTS = [4, 5, 8, 9, 12, 17, 21]  # iterations, of which the first one or two come before the loop


def decay(p: list[Any], starts: list[Any], data: list[list[float]]) -> Any:
    """Subjects, each with a start and a rate of its own, and observations at all times."""
    total = 0.0
    for start, seen in zip(starts, data, strict=True):
        x = start * 1.5
        rate = rm.exp(p[0] + 0.3 * start)
        for y in seen:
            x = x - 0.05 * rate * x / (1.0 + x * p[1])
            total = total + (x - y) * (x - y) * p[2]
        total = total + rm.log(1.0 + x * x)
    return total


@pytest.mark.parametrize("count", COUNTS)
def test_subjects_run_side_by_side(count: int) -> None:
    data = [numbers(30, seed) for seed in range(count)]
    calls = [(numbers(3, seed), numbers(count, seed + 50), data) for seed in range(3)]
    compiled = check(decay, *calls)
    if count >= 12:
        assert in_lanes(compiled)


def test_the_starts_are_equal() -> None:
    """A value from before the loop is the first state of all iterations."""

    def paths(p: list[Any], noise: list[list[float]]) -> Any:
        start = p[0] * p[1]
        payoff = 0.0
        for path in noise:
            x = start
            for z in path:
                x = x * rm.exp(0.1 * p[2] * z - 0.01 * p[1])
            payoff = payoff + rm.relu(x - 0.3)
        return payoff * rm.exp(-p[2]) / len(noise)

    noise = [[x - 0.8 for x in numbers(40, seed)] for seed in range(18)]
    compiled = check(paths, *((numbers(3, seed), noise) for seed in range(3)))
    assert in_lanes(compiled)


def test_a_result_of_the_last_iteration_and_of_others() -> None:
    """What iterations leave is read afterwards: the last one's, one in the middle, all in another order."""

    def f(p: list[Any], starts: list[Any]) -> Any:
        ends = []
        for start in starts:
            x = start
            for k in range(30):
                x = x + 0.1 * rm.sin(x * p[0]) - 0.02 * k * p[1]
            ends.append(x)
        return ends[-1] * p[0] + ends[7] * ends[3] + sum(a * b for a, b in zip(ends, reversed(ends), strict=True))

    compiled = check(f, *((numbers(2, seed), numbers(19, seed)) for seed in range(3)))
    assert in_lanes(compiled)


def network(weights: list[list[Any]], out: list[Any], points: list[list[float]]) -> Any:
    """The squared error of a layer of hidden numbers and an output, over points."""
    total = 0.0
    for *point, wanted in points:
        hidden = [rm.tanh(sum(w * x for w, x in zip(row, point, strict=True))) for row in weights]
        error = sum(w * h for w, h in zip(out, hidden, strict=True)) - wanted
        total = total + error * error
    return total


@pytest.mark.parametrize("count", [24, 40, 43])
def test_each_lane_adds_up_the_gradients_of_shared_parameters(count: int) -> None:
    points = [[x - 0.7 for x in numbers(15, seed)] for seed in range(count)]
    calls = [([numbers(14, seed + k, -1.0, 1.0) for k in range(6)], numbers(6, seed), points) for seed in range(3)]
    compiled = check(network, *calls)
    assert max(in_lanes(compiled)) in (count, count - 1)


def test_each_lane_adds_up_the_adjoints_of_numbers_before_the_loop() -> None:
    """Of the weights, which are computed; they are read afterwards, too."""

    def f(rates: list[Any], points: list[list[float]]) -> Any:
        weights = [rm.exp(-rate * rate) for rate in rates]
        total = 0.0
        for point in points:
            mean = sum(w * x for w, x in zip(weights, point, strict=True))
            spread = sum((x - mean) * (x - mean) * w for w, x in zip(weights, point, strict=True))
            total = total + rm.log(1.0 + spread) * mean
        return total * sum(weights) + weights[3] * weights[7]

    points = [numbers(18, seed) for seed in range(45)]
    compiled = check(f, *((numbers(18, seed, -1.0, 1.0), points) for seed in range(3)))
    assert max(in_lanes(compiled)) in (45, 44)


@pytest.mark.parametrize("count", [13, 15])
def test_more_sums_than_registers(count: int) -> None:
    """Of adjoints that begin with something, get several terms in an iteration, or are read where they are used."""

    def f(p: list[Any], rates: list[Any], points: list[list[float]]) -> Any:
        weights = [rate * rate for rate in rates]
        total = 0.0
        for x, y in points:
            a = sum(w * x for w in p[:9]) + sum(w * y for w in p[9:])
            b = rm.tanh(a + sum(w * a for w in weights)) + sum(w * y for w in weights) * p[3]
            total = total + (a - b) * (a - b) * p[4] + weights[2]
        return total * sum(weights) + p[5] * p[6] + sum(p)

    points = [numbers(2, seed) for seed in range(count)]
    compiled = check(f, *((numbers(19, seed, -0.3, 0.3), numbers(21, seed), points) for seed in range(3)))
    assert max(in_lanes(compiled)) in (count, count - 1)
    assert more_than_registers(compiled)


def test_a_parameter_that_an_iteration_alone_reads_is_no_sum_of_lanes() -> None:
    """Each point has an offset of its own among the parameters that all read."""

    def f(p: list[Any], points: list[list[float]]) -> Any:
        total = 0.0
        for k, point in enumerate(points):
            y = sum(w * x for w, x in zip(p, point, strict=False)) - p[k]
            total = total + rm.tanh(y) * y
        return total

    points = [numbers(16, seed) for seed in range(40)]
    check(f, *((numbers(40, seed, -1.0, 1.0), points) for seed in range(3)))


@pytest.mark.parametrize("seed", range(60 if ALL else 8))
def test_random_networks_over_points(seed: int) -> None:
    """Layers of random widths, some of whose weights are computed, tied, or read in another order."""
    rng = random.Random(seed)
    sizes = [rng.randint(2, 18) for _ in range(rng.randint(2, 3))]
    points = [[rng.uniform(-1, 1) for _ in range(sizes[0])] for _ in range(rng.randint(9, 45))]
    bend, tied, first = rng.choice([rm.tanh, rm.relu, rm.sin]), rng.random() < 0.3, rng.random() < 0.5
    backwards, own = rng.random() < 0.3, rng.random() < 0.3
    sizes.append(1)
    counts = [a * b + b for a, b in pairwise(sizes)]

    def f(p: list[Any], offsets: list[Any]) -> Any:
        weights = [rm.sin(w) for w in p] if first else list(p)
        if tied:
            weights[: len(weights) // 2] = weights[-(len(weights) // 2) :]
        total: Any = 0.0
        for point, offset in zip(points, offsets, strict=True):
            state: list[Any] = [x * offset for x in point] if own else list(point)
            at = 0
            for width in sizes[1:]:
                into = state[::-1] if backwards else state
                size = len(into) + 1
                rows = [weights[at + i * size : at + (i + 1) * size] for i in range(width)]
                at += width * size
                state = [bend(sum((w * x for w, x in zip(row, into, strict=False)), row[-1])) for row in rows]
            total = total + (state[0] - point[0]) ** 2
        return total / len(points) + weights[0] * weights[-1]

    calls = [(numbers(sum(counts), seed + k, -0.8, 0.8), numbers(len(points), seed + k)) for k in range(3)]
    check(f, *calls, bound=1e-9)


def test_data_at_irregular_places() -> None:
    """Each iteration picks its numbers by a table."""
    rng = random.Random(1)
    picks = [[rng.randrange(12) for _ in range(10)] for _ in range(20)]
    ties = [rng.randrange(2, 12) for _ in range(20)]

    def f(p: list[Any], weights: list[Any]) -> Any:
        total = 0.0
        for row, tie in zip(picks, ties, strict=True):
            x = p[0] * weights[tie]
            for pick in row:
                x = 0.7 * x + rm.tanh(weights[pick] * x + p[1])
            total = total + x * x
        return total

    check(f, *((numbers(2, seed), numbers(12, seed)) for seed in range(3)))


def test_inner_loops_of_another_length_each() -> None:
    """A triangle in each iteration, the same in all of them."""

    def f(p: list[Any], rows: list[list[Any]]) -> Any:
        total = 0.0
        for row in rows:
            solved: list[Any] = []
            for i, x in enumerate(row):
                for j, y in enumerate(solved):
                    x = x - 0.1 * (i + j) * y * p[0]
                solved.append(x / (p[1] + 1.0))
            total = total + sum(x * x for x in solved)
        return total

    compiled = check(f, *((numbers(2, seed), [numbers(9, seed + k) for k in range(20)]) for seed in range(3)))
    assert in_lanes(compiled)


def test_iterations_that_need_the_one_before_stay_in_order() -> None:
    def f(p: list[Any], starts: list[Any]) -> Any:
        before = p[0]
        total = 0.0
        for start in starts:
            x = start
            for _ in range(8):
                x = x * 0.9 + 0.1 * rm.sin(before * x)
            total = total + x * before
            before = x
        return total

    compiled = check(f, *((numbers(1, seed), numbers(19, seed)) for seed in range(3)))
    assert not in_lanes(compiled)


def test_partial_sums_that_are_read_are_not_added_up_in_lanes() -> None:
    def f(p: list[Any], starts: list[Any]) -> Any:
        total = p[0] * 1.0
        worst = 0.0
        for start in starts:
            x = start
            for _ in range(8):
                x = x * 0.9 + 0.1 * rm.sin(p[0] * x)
            total = total + x
            worst = worst + total * total
        return worst

    check(f, *((numbers(1, seed), numbers(19, seed)) for seed in range(3)))


def test_loops_in_a_loop_over_time() -> None:
    """In each step all cells take inner steps of their own, and their sum goes into the next step."""

    def f(p: list[Any], cells: list[Any]) -> Any:
        field = p[0]
        states = list(cells)
        for _ in range(6):
            after = []
            for state in states:
                x = state
                for _ in range(7):
                    x = x + 0.05 * (rm.tanh(field * x) - p[1] * x) / (1.0 + x * x)
                after.append(x)
            states = after
            field = 0.5 * field + 0.1 * sum(states)
        return field * field + states[3]

    compiled = check(f, *((numbers(2, seed), numbers(17, seed)) for seed in range(3)))
    assert in_lanes(compiled)


@pytest.mark.parametrize("place", [0, 3, 13, 16, 18])
def test_a_lane_that_leaves_a_domain_is_the_engine_s(place: int) -> None:
    def f(p: list[Any], starts: list[Any]) -> Any:
        total = 0.0
        for start in starts:
            x = start
            for _ in range(10):
                x = 0.9 * x + 0.1 * rm.log(x) * p[0] + 0.3
            total = total + x
        return total

    good = numbers(19, 3, 0.8, 1.5)
    compiled = check(f, ([0.5], good))
    bad = list(good)
    bad[place] = -1.0
    with pytest.raises(ValueError, match="log"):
        compiled.value_and_grad([0.5], bad)
    again = compiled.value_and_grad([0.5], good)
    assert flat(again) == pytest.approx(flat(rg.value_and_grad(f)([0.5], good)), rel=1e-12)


def test_gradients_are_added_to_those_that_are_there() -> None:
    starts = [rg.Value(x) for x in numbers(21)]
    rate = rg.Value(0.3)

    def f(gain: float) -> Any:
        total: Any = 0.0
        for start in starts:
            x: Any = start
            for _ in range(30):
                x = x + gain * rm.sin(x * rate)
            total = total + x * start
        return total

    compiled = rg.compile(f)
    for call in range(3):
        found: list[list[float]] = []
        for run in (compiled.backward, lambda gain: f(gain).backward()):
            for value in (*starts, rate):
                value.grad = 0.25
            run(0.1 + 0.01 * call)
            found.append([value.grad for value in (*starts, rate)])
        assert found[0] == pytest.approx(found[1], rel=1e-12)
        if call == 0:
            compile_graph(compiled._cache, compiled._cache.facts()[0]["number"])
            assert in_lanes(compiled)


@pytest.mark.parametrize("seed", range(80 if ALL else 12))
def test_random_loops_over_subjects(seed: int) -> None:
    f, calls = random_subjects(seed)
    check(f, *calls, bound=1e-9)


def random_subjects(seed: int) -> tuple[Callable[..., Any], list[tuple[Any, ...]]]:
    """Recurrences of random operators over subjects, some of which look at their neighbours or at sums so far."""
    rng = random.Random(seed)
    subjects, steps, states = rng.randint(5, 27), rng.randint(3, 12), rng.randint(1, 3)
    coupling = rng.choice(["none", "none", "none", "before", "total", "first"])
    kinds = [[rng.choice("ametdslc") for _ in range(rng.randint(1, 4))] for _ in range(states)]
    picks = [[(rng.randrange(states), rng.randrange(3)) for _ in row] for row in kinds]
    data = [[rng.uniform(-1, 1) for _ in range(steps)] for _ in range(subjects)]
    observed, nested, ends = rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.4

    def operate(kind: str, x: Any, y: Any, w: Any, number: float) -> Any:
        match kind:
            case "a":
                return 0.5 * (x + y) + 0.1 * w * number
            case "m":
                return 0.5 * x * rm.tanh(y)
            case "e":
                return 0.3 * rm.exp(-x * x) - y * 0.1
            case "t":
                return rm.tanh(x + number * y)
            case "d":
                return x / (1.5 + y * y)
            case "s":
                return rm.sin(x - y * w) + abs(y) * 0.1
            case "l":
                return rm.log(1.0 + x * x + w * w) - 0.1 * y
            case _:
                return rg.where(x > y, x * 0.9, y * w) + number

    def f(p: list[Any], starts: list[Any]) -> Any:
        total: Any = p[0] * 1.0
        before, kept = p[1], []
        for i, row in enumerate(data):
            state = [starts[i] * (1.0 + 0.1 * k) + 0.2 * p[k % 3] for k in range(states)]
            extra = {"none": 0.0, "before": before, "total": total, "first": starts[0]}[coupling]
            for z in row:
                for k, kinds_of in enumerate(kinds):
                    for kind, (j, w) in zip(kinds_of, picks[k], strict=True):
                        state[k] = operate(kind, state[k], state[j], p[w], z)
                if observed:
                    total = total + (state[0] - z) * (state[0] - z) * 0.1
                if nested:
                    total = total + sum(a * b for a, b in pairwise([*state, p[0], p[1], state[0]]))
            before = state[-1] + 0.1 * extra
            kept.append(before)
            total = total + 0.1 * before
        if ends:
            total = total + sum(a * b for a, b in zip(kept, reversed(kept), strict=True)) + kept[len(kept) // 2]
        return total * 0.01 + total

    return f, [(numbers(3, seed + k), numbers(subjects, seed + k)) for k in range(3)]


# --- loops taken apart ----------------------------------------------------------------------------------------


def epidemic(p: list[Any], seen: list[float]) -> Any:
    susceptible, infected, loss = 0.95, 0.05 * p[3], 0.0
    for day, y in enumerate(seen):
        contact = rm.exp(p[0] - 0.5 + 0.5 * p[1] * rm.cos(0.12 * day + p[2]))  # waits for no day before
        new = 0.3 * contact * susceptible * infected
        susceptible = susceptible - new
        infected = infected + new - 0.2 * infected
        loss = loss - y * rm.log(infected) + rm.exp(-infected)  # no day after waits for it
    return loss


def loops_of(compiled: Any, apart: bool) -> list[int]:
    """How many positions the loops of a program have."""
    top = find_structure(graph_of(compiled), scalars=apart)
    return [len(body.items) for body in bodies_of(top) if body is not top]


@pytest.mark.parametrize("carried", [lambda z: -z, rm.tanh, lambda z: z * 0.5])
def test_sums_of_lanes_beside_a_number_that_one_operand_uses(carried: Callable[..., Any]) -> None:
    """The outer loop hands on a number, of which an operation of one operand makes the next."""

    def f(p: list[Any], data: list[float]) -> Any:
        total, z = 0.0, p[0]
        for x in data:
            for i in range(16):
                y = p[i] * x
                for k in range(10):
                    y = y + 0.1 * rm.sin(y * p[16 + k])
                total = total + y
            z = carried(z)
        return total + z

    check(f, *((numbers(26, seed=k), numbers(12, seed=30 + k)) for k in range(2)))


def test_functions_leave_a_recurrence_that_does_not_wait_for_them() -> None:
    compiled = check(epidemic, *(([*numbers(3, seed, -0.5, 0.1), 0.5], numbers(60, seed)) for seed in range(3)))
    whole, parts = loops_of(compiled, apart=False), loops_of(compiled, apart=True)
    assert len(parts) >= len(whole) + 2
    assert sum(parts) == sum(whole)


def test_functions_between_two_recurrences_leave_both() -> None:
    """A heading that adds up turns, and a place that adds up steps that way."""

    def path(p: list[Any], turns: list[Any]) -> Any:
        heading, x, y, cost = p[0], p[1] * 0.1, p[2] * 0.1, 0.0
        for turn in turns:
            heading = heading + 0.1 * turn
            x = x + 0.1 * p[1] * rm.cos(heading)
            y = y + 0.1 * p[1] * rm.sin(heading) * x
            cost = cost + (x - 0.5) * (y - 0.2) * turn
        return cost

    compiled = check(path, *((numbers(3, seed), numbers(60, seed, -1.0, 1.0)) for seed in range(3)))
    whole, parts = loops_of(compiled, apart=False), loops_of(compiled, apart=True)
    assert len(parts) >= len(whole) + 2
    assert sum(parts) == sum(whole)


def test_a_recurrence_of_functions_stays_whole() -> None:
    def f(p: list[Any]) -> Any:
        x = p[0]
        for _ in range(40):
            x = rm.sin(x) + p[1] * rm.exp(-x)
        return x

    compiled = check(f, *((numbers(2, seed),) for seed in range(3)))
    assert loops_of(compiled, apart=True) == loops_of(compiled, apart=False)


def test_a_domain_error_in_a_part_is_the_engine_s() -> None:
    compiled = check(epidemic, ([0.1, 0.2, 0.1, 1.0], numbers(60)))
    bad = [0.1, 0.2, 0.1, -1.0]
    with pytest.raises(ValueError, match="log") as found:
        compiled.value_and_grad(bad, numbers(60))
    with pytest.raises(ValueError, match="log") as wanted:
        rg.value_and_grad(epidemic)(bad, numbers(60))
    assert str(found.value).split("(")[0] == str(wanted.value).split("(")[0]


@pytest.mark.parametrize("seed", range(80 if ALL else 12))
def test_random_loops_taken_apart(seed: int) -> None:
    """Functions of data before a recurrence, of its states after it, and of both; delays; states read later."""
    rng = random.Random(seed)
    steps, delay = rng.randint(18, 40), rng.choice([1, 1, 2, 3])
    early, late = rng.randint(0, 3), rng.randint(0, 3)
    outer = rng.choice([1, 1, 3])
    functions = [rm.exp, rm.sin, rm.tanh, lambda x: rm.log(2.0 + x * x), lambda x: rm.sqrt(1.0 + x * x)]
    picks = [rng.choice(functions) for _ in range(8)]
    data = [[rng.uniform(-1, 1) for _ in range(steps)] for _ in range(outer)]
    waits, reads, chained = rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.5

    def f(p: list[Any]) -> Any:
        total: Any = 0.0
        x, v = p[0], p[1]
        history = [x] * delay
        for row in data:
            trend = 0.0
            for k, z in enumerate(row):
                drive = z * 0.1
                for i in range(early):
                    drive = picks[i](drive * p[2] + 0.01 * k)
                trend = trend + drive * 0.01 if chained else drive
                force = rm.sin(history[-delay]) if waits else history[-delay] * 0.5
                v = 0.9 * v - 0.1 * force + 0.05 * trend
                x = x + 0.1 * v
                history.append(x)
                seen = x * p[3]
                for i in range(late):
                    seen = picks[4 + i](seen * 0.5 + (drive if reads else 0.0))
                total = total + (seen - z) * (seen - z)
        return total + history[len(history) // 2] * x + v

    check(f, *((numbers(4, seed + k),) for k in range(3)), bound=1e-9)
