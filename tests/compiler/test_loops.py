"""Machine code from the scalar graph: recurrences as loops, and straight-line code, against the engine."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from support.loop_cases import cache_of, check, numbers, oscillator
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops import pipeline
    from retrograd.compiler.backends.loops.graph_code import ARRAYS
    from retrograd.compiler.backends.loops.graphs.graph import UnsupportedGraphError
    from retrograd.compiler.backends.loops.graphs.reading import read_graph
    from retrograd.compiler.backends.loops.install import compile_graph
    from retrograd.compiler.backends.loops.llvm.grouped_calls import Calls, with_groups
    from retrograd.compiler.backends.loops.llvm.llvm_text import Text
    from retrograd.compiler.backends.loops.pipeline import write_passes
    from retrograd.compiler.backends.loops.shapes.periods import find_sections
    from retrograd.compiler.backends.loops.shapes.structure import build


def test_a_recurrence_is_one_loop() -> None:
    check(oscillator, ([1.0, 0.5, 2.0],), ([0.3, -0.5, 1.0],), loops=1)


def test_an_accumulated_loss_over_data_that_moves() -> None:
    def filtered(p: list[float], data: list[float]) -> Any:
        state, loss = 0.0, 0.0
        for x in data:
            state = p[0] * state + p[1] * rm.tanh(x)
            loss = loss + (state - x) ** 2 / (1.0 + p[2] * p[2])
        return loss

    check(filtered, *((numbers(3, s), numbers(40, s + 9)) for s in range(4)), loops=1)


def test_states_of_two_iterations_before_and_of_the_first() -> None:
    def fibonacci(p: list[float]) -> Any:
        states = [p[0], p[1]]
        for _ in range(50):
            states.append(0.6 * states[-1] + p[2] * states[-2] + 0.01 * states[0] * states[1])
        return states[-1] + states[-3] * p[0]

    check(fibonacci, (numbers(3),), (numbers(3, 5),))


def test_every_output_of_a_loop_is_used_after_it() -> None:
    def outputs(p: list[float]) -> Any:
        x, seen = p[0], []
        for _ in range(30):
            x = rm.sin(p[1] * x) + 0.3
            seen.append(x)
        return rg.sum([s * s for s in seen]) + seen[3] * seen[7]

    check(outputs, (numbers(2),), (numbers(2, 3),))


def test_a_loop_that_reads_another_ones_results_in_reverse() -> None:
    def there_and_back(p: list[float]) -> Any:
        xs = [p[0]]
        for _ in range(25):
            xs.append(p[1] * xs[-1] + rm.exp(-xs[-1]))
        back = 0.0
        for x in reversed(xs):
            back = 0.5 * back + x * back + x * p[2]
        return back

    check(there_and_back, (numbers(3, 1),), (numbers(3, 4),))


def test_parameters_that_move_with_the_iteration() -> None:
    def weighted(p: list[float]) -> Any:
        total = 1.0
        for w in p:
            total = total * 0.9 + rm.log(1.0 + w * w) * rm.sqrt(w)
        return total

    check(weighted, (numbers(40, 2),), (numbers(40, 3),), loops=1)


def test_constants_that_differ_between_iterations() -> None:
    def series(p: list[float]) -> Any:
        total, power = p[0] * 1.0, p[0] * p[1]
        for k in range(1, 40):
            power = power * p[1]
            total = total + power * (math.sin(k) + 2.0) / (k * k)
        return total

    check(series, (numbers(2, 6),), (numbers(2, 7),))


def test_a_division_by_a_power_of_two_is_one_like_the_others() -> None:
    def averaged(p: list[float]) -> Any:
        x = p[0]
        for k in range(40):
            x = x + (rm.sin(x * p[1]) - x) / (k + 1.0)
        return x / 8.0

    check(averaged, ([1.0, 0.5],), ([0.3, -0.5],), loops=1)


def test_iterations_end_where_the_loop_does() -> None:
    """The first of them lacks what others begin with, and ends as they do: no part of it is the loop's beginning."""
    returns = numbers(60, low=-1.0, high=1.0)

    def likelihood(p: list[Any]) -> Any:
        variance, total = 1.0, 0.0
        for r in returns:
            variance = p[0] + p[1] * r * r + p[2] * variance
            total = total + rm.log(variance) + r * r / variance
        return total

    compiled = check(likelihood, ([0.1, 0.1, 0.8],), ([0.2, 0.3, 0.5],), loops=1)
    cache = cache_of(compiled)
    graph = read_graph(cache.scalar_graph(cache.facts()[0]["number"], True))
    (section,) = (section for section in find_sections(graph, None) if section.count > 1)
    assert (section.count, section.end) == (59, len(graph) - 1)  # what the sum ends with


def test_the_interpreter_goes_back_after_a_call_whose_guards_it_has_checked() -> None:
    """It runs forward again for a gradient that is not finite, and then there is no guard to check."""

    def guarded(p: list[float]) -> Any:
        x = p[0]
        for _ in range(20):
            x = x * 0.9 + p[1]
        return x + rm.sqrt(p[2] * p[2]) if x > 0.0 else x

    compiled = check(guarded, ([1.0, 0.1, 2.0],))
    assert compiled.value_and_grad([1.0, 0.1, math.inf])[0] == math.inf  # the code leaves that to the interpreter
    value, gradients = compiled.value_and_grad([1.0, 0.1, 0.0])
    wanted, exact = rg.value_and_grad(guarded)([1.0, 0.1, 0.0])
    assert value == pytest.approx(wanted)
    assert gradients == pytest.approx(exact, nan_ok=True)
    assert math.isnan(gradients[2])


def test_a_first_state_that_depends_on_parameters_when_the_later_ones_do_not() -> None:
    def forced(p: list[float], data: list[float]) -> Any:
        total, state = p[1] * 0.5, rm.sin(p[0])
        for x in data:
            a, b = total * 0.9, state * p[1]
            total = a + b
            state = rm.cos(x)  # no gradient of the data is wanted
        return total

    check(forced, (numbers(2), numbers(40, 9)), (numbers(2, 3), numbers(40, 5)), loops=1)


def test_a_domain_error_is_the_engine_s() -> None:
    def rooted(p: list[float]) -> Any:
        x = p[0]
        for _ in range(30):
            x = rm.sqrt(x - p[1])
        return x

    compiled = check(rooted, ([3.0, -2.0],), ([2.0, -3.0],), loops=1)
    with pytest.raises(ValueError, match="square root"):
        compiled.value_and_grad([1.0, 2.0])


def test_guards_hold_in_machine_code() -> None:
    def branching(p: list[float]) -> Any:
        x, total = p[0], 0.0
        for _ in range(30):
            x = 0.9 * x + p[1]
            total = total + (x * x if x > 0 else -x)
        return total

    compiled = check(branching, ([1.0, 0.5],), ([2.0, 0.25],))
    value, gradients = compiled.value_and_grad([-1.0, -0.5])
    wanted, exact = rg.value_and_grad(branching)([-1.0, -0.5])
    assert value == wanted
    assert gradients == exact
    assert compiled.stats().traces == 2


def test_parameters_that_the_function_holds() -> None:
    w = [rg.Value(x) for x in numbers(3, 12)]
    v = [rg.Value(x.data) for x in w]

    def run(p: list[rg.Value], x: float) -> rg.Value:
        for _ in range(40):
            x = rm.tanh(p[0] * x + p[1])
        return p[2] * x

    compiled = rg.compile(lambda x: run(w, x))
    compiled.backward(0.5)
    cache = cache_of(compiled)
    compile_graph(cache, cache.facts()[0]["number"])
    run(v, 0.5).backward()
    for x in (0.25, -1.0):
        compiled.backward(x)
        run(v, x).backward()
    assert [p.grad for p in w] == pytest.approx([p.grad for p in v], rel=1e-12)


@pytest.mark.parametrize("row", ["div", "pow", "atan2", "hypot", "maximum", "minimum", "fmod", "copysign"])
def test_rows_of_two_operands(row: str) -> None:
    def chained(p: list[float]) -> Any:
        x = p[0]
        for _ in range(20):
            x = 0.5 + 0.1 * getattr(rm, row)(x + 0.3, p[1] + 0.01 * x)
        return x

    check(chained, ([0.7, 0.9],), ([1.7, 0.4],), bound=1e-10)


@pytest.mark.parametrize(
    "row",
    [
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "atan", "sinh"),
        *(
            "cosh",
            "tanh",
            "asinh",
            "sigmoid",
            "relu",
            "abs",
            "softplus",
            "erf",
            "erfc",
            "square",
            "reciprocal",
            "floor",
            "lgamma",
            "gamma",
            "digamma",
        ),
    ],
)
def test_rows_of_one_operand(row: str) -> None:
    def chained(p: list[float]) -> Any:
        x = p[0]
        for _ in range(20):
            x = 0.4 * x + 0.1 * getattr(rm, row)(0.5 + 0.2 * x * x) * p[1]
        return x

    check(chained, ([0.7, 0.9],), ([1.7, -0.4],), bound=1e-10)


def test_powers_with_constant_exponents() -> None:
    for exponent in (-2, -1, -0.5, 0.5, 1.5, 2, 3, 4, 5, 2.5):

        def chained(p: list[float], exponent: float = exponent) -> Any:
            x = p[0]
            for _ in range(20):
                x = 0.7 + 0.1 * x**exponent * p[1]
            return x

        check(chained, ([0.7, 0.9],), ([1.7, 0.4],), bound=1e-10)


def test_extremes_of_a_loop() -> None:
    def running(p: list[float]) -> Any:
        best, x = p[0], p[1]
        for _ in range(20):
            x = rm.sin(3.0 * x) + p[2]
            best = rg.math.maximum(best, x) * 0.99
        return best + rg.max([x, best]) + rg.logsumexp([x, best, p[0]])

    check(running, (numbers(3, 3),), (numbers(3, 9),))


def test_run_time_indices() -> None:
    """Parameters, constants and what is computed are selected; a row's index may be out of range in another call."""

    def picked(p: list[float], i: rg.Index, j: rg.Index) -> Any:
        x, rows = p[0], [[p[0], p[1]], [p[2], p[0] * p[1]]]
        for k in range(20):
            x = 0.5 * x + rg.take(p, i) * rg.take([0.1, 0.2, 0.3], j)
            x = x - 0.1 * rg.take([x * x, x, p[1]], i) + 0.01 * rg.take(rg.take(rows, j), rg.Index(k % 2))
        return x

    compiled = rg.compile(picked)
    compiled.value_and_grad([1.0, 2.0, -0.5], rg.Index(1), rg.Index(0))
    compile_graph(cache_of(compiled), cache_of(compiled).facts()[0]["number"])
    for i, j in ((0, 0), (1, 1), (2, 0), (0, 1), (2, 1)):
        for p in ([1.0, 2.0, -0.5], [0.3, -0.7, 0.9]):
            value, gradients = compiled.value_and_grad(p, rg.Index(i), rg.Index(j))
            wanted, exact = rg.value_and_grad(picked)(p, rg.Index(i), rg.Index(j))
            assert value == pytest.approx(wanted, rel=1e-12)
            assert gradients == pytest.approx(exact, rel=1e-12)
    with pytest.raises(IndexError):
        compiled.value_and_grad([1.0, 2.0, -0.5], rg.Index(3), rg.Index(0))
    assert compiled.stats().programs[0].tier == "llvm"


def test_a_choice_among_many_computed_numbers_is_left_to_instructions() -> None:
    def picked(p: list[float], i: rg.Index) -> Any:
        return rg.take([p[0] * k for k in range(300)], i) * p[1]

    compiled = rg.compile(picked)
    compiled.value_and_grad([1.0, 2.0], rg.Index(1))
    with pytest.raises(UnsupportedGraphError):
        compile_graph(cache_of(compiled), cache_of(compiled).facts()[0]["number"])


@pytest.mark.parametrize("seed", range(60 if ALL else 16))
def test_random_recurrences(seed: int) -> None:
    check(random_recurrence(seed), (numbers(4, seed),), (numbers(4, seed + 1000),), bound=1e-9)


def random_recurrence(seed: int) -> Callable[[list[float]], Any]:
    """A recurrence of a few states with random operators, delays, interruptions and uses afterwards."""
    rng = random.Random(seed)
    states, steps = rng.randint(1, 4), rng.randint(8, 40)
    every, delay = rng.choice([0, 0, 5, 7]), rng.choice([1, 1, 2, 3])
    plan = [[rng.choice("amdsteblcz") for _ in range(rng.randint(2, 6))] for _ in range(states)]
    picks = [[(rng.randrange(states), rng.randrange(4)) for _ in row] for row in plan]
    data = [rng.uniform(-1, 1) for _ in range(steps)]

    def operate(kind: str, x: Any, y: Any, w: Any, number: float) -> Any:
        match kind:
            case "a":
                return 0.5 * (x + y) + 0.1 * w
            case "m":
                return 0.5 * x * rm.tanh(y)
            case "d":
                return x / (1.5 + y * y)
            case "s":
                return rm.sin(x - y * w)
            case "t":
                return rm.tanh(x + number * y)
            case "e":
                return 0.3 * rm.exp(-x * x) - y * 0.1
            case "b":
                return abs(x) * 0.5 + rm.relu(y)
            case "l":
                return rm.log(1.0 + x * x + w * w) - 0.1 * y
            case "c":
                return x * 0.9 + number
            case _:
                return x + y * 0.0 + 0.0 * w

    def recurrence(p: list[float]) -> Any:
        history = [[p[i % 4] * 1.0 for i in range(states)]] * delay
        total: Any = 0.0
        for k in range(steps):
            now, old = list(history[-1]), history[-delay]
            for i, row in enumerate(plan):
                for kind, (j, w) in zip(row, picks[i], strict=True):
                    now[i] = operate(kind, now[i], old[j], p[w], data[k])
            history.append(now)
            if every and k % every == every - 1:
                total = total + now[0] * p[1]
            elif not every:
                total = total + now[-1] * now[-1]
        return total + rg.sum(history[-1]) + history[len(history) // 2][0]

    return recurrence


def test_programs_of_few_nodes_an_instruction_become_loops() -> None:
    compiled = rg.compile(oscillator, tier="llvm")
    for _ in range(2):
        value, gradients = compiled.value_and_grad([1.0, 0.5, 2.0])
    wanted, exact = rg.value_and_grad(oscillator)([1.0, 0.5, 2.0])
    assert value == pytest.approx(wanted, rel=1e-12)
    assert gradients == pytest.approx(exact, rel=1e-12)
    assert cache_of(compiled).facts()[0]["tier"] == "llvm"


def test_exact_mode_keeps_the_engine_s_bits() -> None:
    compiled = rg.compile(oscillator, exact=True)
    for _ in range(300):
        answer = compiled.value_and_grad([1.0, 0.5, 2.0])
    assert answer == rg.value_and_grad(oscillator)([1.0, 0.5, 2.0])
    assert compiled.stats().programs[0].tier == "interpreter"


def test_a_domain_error_of_what_nothing_depends_on_is_the_engine_s() -> None:
    def rooted(p: list[float]) -> Any:
        x, total = p[0], 0.0
        for _ in range(40):
            x = 0.9 * x + p[1]
            rm.sqrt(x)
            total = total + x * x
        return total

    compiled = check(rooted, ([3.0, 0.5],), ([2.0, 0.1],), loops=1)
    with pytest.raises(ValueError, match="square root"):
        compiled.value_and_grad([3.0, -0.2])
    assert compiled.value_and_grad([3.0, 0.2])[0] == pytest.approx(rooted([rg.Value(3.0), rg.Value(0.2)]).data)


def test_leaves_may_lie_anywhere() -> None:
    """Of two buffers, in both directions and with gaps, between inputs: each gets its own number and gradient."""
    first, second = ([rg.Value(x) for x in numbers(12, seed=seed)] for seed in (1, 2))
    for values in (first, second):
        rg.compile(lambda x, values=values: sum(values) * x).backward(1.0)  # gives them a buffer
    order = [*first[3:7], second[0], *second[8:2:-1], *first[7:12:2], second[1], first[0]]

    def f(data: list[float]) -> Any:
        total = data[0] * data[-1]
        for i, value in enumerate(order):
            total = total * 0.5 + value * data[i % 4] / (1.0 + value * value * (i + 1))
        return total

    for exact in (False, True):
        compiled = rg.compile(f, exact=exact)
        for call in range(3):
            found: list[list[float]] = []
            data = numbers(5, seed=10 + call)
            for run in (compiled.backward, lambda data: f(data).backward()):
                for value in (*first, *second):
                    value.grad = 0.25  # gradients are added to what is there
                run(data)
                found.append([value.grad for value in (*first, *second)])
            assert found[0] == (found[1] if exact else pytest.approx(found[1], rel=1e-13))
            if call == 0 and not exact:
                compile_graph(cache_of(compiled), cache_of(compiled).facts()[0]["number"])


@pytest.mark.parametrize("count", [19, 24, 61])
@pytest.mark.parametrize("function", [rm.exp, rm.log, rm.sin, rm.cos, rm.tanh, rm.log1p])
def test_functions_in_independent_iterations_are_those_of_vectors(function: Callable[..., Any], count: int) -> None:
    """LLVM runs several iterations at once; what is left over calls the function of one number."""

    def f(p: list[Any]) -> Any:
        total = 0.0
        for a, b in itertools.pairwise(p):
            total = total + function(a * b + 0.1) / (1.0 + (a - b) * (a - b))
        return total

    compiled = check(f, *((numbers(count, seed=k),) for k in range(4)))
    cache = cache_of(compiled)
    lanes, addresses = cache.vector_functions()
    functions = {name: f"vectors_of_{name}" for name in addresses}
    graph = cache.scalar_graph(cache.facts()[0]["number"], True)
    passes = write_passes(read_graph(graph))
    metadata: list[str] = []
    text = Text("forward", passes.forward.t.top, passes.places, ARRAYS, metadata, functions=functions, lanes=lanes)
    assert metadata
    assert "vector-function-abi-variant" in text.text


@pytest.mark.parametrize("offsets", [(0, 1), (0, 2), (0, 1, 2), (2, 1, 0), (0, 1, 3)])
@pytest.mark.parametrize("loops", ["one", "rows", "turns"])
def test_neighbours_in_a_list_get_all_of_their_gradients(offsets: tuple[int, ...], loops: str) -> None:
    """An item's adjoint is handed on to the iteration that reads it as another one's neighbour."""

    def read(p: list[Any], i: int) -> Any:
        return rm.sin(sum((k + 1.0) * p[i + offset] * p[i] for k, offset in enumerate(offsets)))

    def one(p: list[Any]) -> Any:
        return sum(read(p, i) for i in range(len(p) - 3))

    def rows(p: list[Any]) -> Any:
        return sum(read(p, 12 * row + i) for row in range(4) for i in range(9 - row)) + p[0] * p[12] * p[25]

    def turns(p: list[Any]) -> Any:
        total = p[2] * 1.0
        for i in range(40):  # two items in turns
            total = total + p[i % 2] * rm.sin(p[(i + 1) % 2] * (i + 1.0)) * p[i]
        return total

    check({"one": one, "rows": rows, "turns": turns}[loops], *((numbers(48, seed=k),) for k in range(3)))


def test_calls_in_straight_lines_are_grouped_where_none_needs_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A likelihood of events at irregular times: sums of exponentials, and a logarithm of some of them."""
    chosen = random.Random(3)
    events = [chosen.random() < 0.6 for _ in range(60)]

    def f(p: list[Any], data: list[float]) -> Any:
        risk, total = 0.0, p[0] * 0.0
        for x, event in zip(data, events, strict=True):
            risk = risk + rm.exp(p[0] * x)
            if event:
                total = total + p[1] * x - rm.log(risk) + rm.exp(rm.sin(risk))
        return total

    calls = [(numbers(2, seed=k), numbers(60, seed=50 + k, low=-1.0, high=1.0)) for k in range(4)]
    compiled = check(f, *calls)
    cache = cache_of(compiled)
    lanes, functions = cache.vector_functions()
    monkeypatch.setattr(pipeline, "find_structure", lambda graph, *_, **__: build([*range(len(graph))]))
    passes = write_passes(read_graph(cache.scalar_graph(cache.facts()[0]["number"], True)))
    block = passes.forward.t.top
    groups = [
        (step.function, len(step.ops))
        for step in with_groups(block.steps, passes.places.numbers, functions, lanes // 2)
        if isinstance(step, Calls)
    ]
    assert {function for function, _ in groups} == {"exp", "log", "sin", "cos"}
    assert all(count >= lanes for _, count in groups)
    point = [-1000.0, 1.0], [1.0] * 60  # the exponentials are zero
    for run in (rg.value_and_grad(f), compiled.value_and_grad):
        with pytest.raises(ValueError, match="log"):
            run(*point)


@pytest.mark.parametrize("function", [rm.sin, rm.cos])
def test_a_sine_is_computed_once_with_its_cosine(function: Callable[..., Any]) -> None:
    """What the partial of one is, the forward pass has computed beside it: in loops and outside, of nodes too."""

    def f(p: list[Any], data: list[float]) -> Any:
        state = p[0]
        for x in data:
            state = state + 0.1 * function(state * p[1] + x) - 0.2 * rm.cos(p[2]) * function(x * p[3])
        return state * function(p[1]) + rm.sin(p[4] * state)

    calls = [(numbers(5, seed=k, low=-3.0, high=3.0), numbers(30, seed=50 + k, low=-4.0, high=4.0)) for k in range(4)]
    compiled = check(f, *calls, loops=1)
    _, backward = compiled.program(after="loops").split("backward:")
    assert "sin(" not in backward
    assert "cos(" not in backward
