"""Tracing: what a function's result depends on, what guards it, what it selects, and why a replay could not stand."""

from __future__ import annotations

import builtins
import copy
import math
import operator
import pickle
import random
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Value, engine, errors, nn
from retrograd.compiler import specializer
from retrograd.compiler.tracing.float_tracer import FloatTracer
from retrograd.compiler.tracing.recorder import Recorder, active_recorder
from retrograd.compiler.tracing.recording import Choice, Recording

pytestmark = pytest.mark.native  # the reference engine has no compiler


def trace(function: Callable[..., Any], *numbers: float, sources: bool = False) -> Recording:
    """One pure trace of ``function``, with stand-ins for float arguments."""
    recorder = Recorder()
    return recorder.run(function, [recorder.number(Value(x)) for x in numbers], sources)


def number_of(result: Value | float) -> float:
    return result.data if isinstance(result, Value) else result


def leaves_of(result: Value | float) -> set[int]:
    assert isinstance(result, Value)
    return {id(value) for value in rg.topological_order(result) if not value._children}


# --- numbers keep their provenance ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1 - x * 2 / (3 - x) + 2 / x + (-x) + abs(x - 4) + (+x),
        lambda x: x**2 + 2**x + x**0.5 + x % 0.2 + 7 % x + x // 0.2 + 7 // x,
        lambda x: divmod(x, 0.2)[1] + divmod(7, x)[0],
        lambda x: sum([x, x * 2, 3]) + x.real + x.imag + x.conjugate(),
        lambda x: np.float64(2.0) * x + x / np.float64(3.0) + Fraction(1, 2) * x,
        lambda x: np.array([x, x + 1]) @ np.array([x, 2.0]) + (np.array([1.0, 2.0]) * x).sum(),
        lambda x: np.sqrt(np.array([x]))[0] + copy.copy(x) + copy.deepcopy([x])[0],
        lambda x: rg.math.exp(x) + rg.math.hypot(x, 3) + rg.math.atan2(3, x) + rg.math.where(x, 1, 2),
        lambda x: rg.math.dot([x, 1], [2, x]) + rg.math.logsumexp(x * k for k in range(3)),
        lambda x: rg.math.softmax([x, 1])[0] + rg.math.max([x, 0.1]) + rg.math.prod((x, x)),
        lambda x: max(x, 0) + min([x, 3]) + max(i * x for i in range(3)),
        lambda x: x if isinstance(x, float) else None,
    ],
)
def test_a_float_computes_as_ever_and_stays_in_the_graph(f: Callable[[Any], Any]) -> None:
    recorder, leaf = Recorder(), Value(0.7)
    result = recorder.run(f, [recorder.number(leaf)])
    assert number_of(result.result) == f(0.7)
    assert id(leaf) in leaves_of(result.result)
    assert (result.guards, result.graph_breaks) == ([], [])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Value(x) * 2,
        lambda x: Value(x, label="input") * 2,
        lambda x: list(map(Value, [x, x]))[1] + 1,
        lambda x: Value(2.0) * x + x * Value(3.0) - x / Value(4.0) + Value(5.0) ** x + x ** Value(2.0),
        lambda x: (Value(x) * 2).data * Value(3.0),
        lambda x: Value(2.0) * (x * Value(3.0)).detach(),
        lambda x: Value(2.0).maximum(x) + Value(2.0).hypot(x) + Value(1.0).where(x, 3),
        lambda x: rg.math.maximum(x, Value(2.0)) + rg.math.atan2(Value(2.0), x),
        lambda x: rg.math.dot([Value(2.0), x], [x, 1.0]) + rg.math.softmax([Value(1.0), x])[1],
        lambda x: nn.Neuron(2)([x, Value(x)]),
    ],
)
def test_values_and_traced_numbers_mix(f: Callable[[Any], Any]) -> None:
    recorder, leaf = Recorder(), Value(0.7)
    random.seed(0)
    result = recorder.run(f, [recorder.number(leaf)])
    random.seed(0)
    assert isinstance(result.result, Value)
    assert result.result.data == f(0.7).data
    assert id(leaf) in leaves_of(result.result)
    assert (result.guards, result.graph_breaks) == ([], [])


def test_data_stops_the_gradient_and_nothing_else() -> None:
    w = Value(3.0)
    result = trace(lambda: w * w.data + w.detach() * 2.0).result
    assert isinstance(result, Value)
    assert id(w) in leaves_of(result)
    result.backward()
    assert w.grad == 3.0


def test_two_leaves_made_of_one_number_are_two() -> None:
    def f(x: Any) -> Value:
        a, b = Value(x, label="a"), Value(x)
        assert a is not b
        assert a.label == "a"
        assert len({a, b}) == 2
        return a * b

    assert number_of(trace(f, 3.0).result) == 9.0


def test_under_no_grad_nothing_is_lost_but_the_gradient() -> None:
    w = Value(3.0)

    def f() -> Value:
        with rg.no_grad():
            frozen = w * w + rg.softmax([w, w])[0]
        return frozen * w

    result = trace(f).result
    assert isinstance(result, Value)
    assert result.data == 9.5 * 3.0
    result.backward()
    assert w.grad == 9.5
    rows = {engine.row_name(node) for node in engine.interior(result)}
    assert {"mul", "add", "softmax", "detach"} <= rows
    with rg.no_grad():  # around the whole trace it does not matter
        assert id(w) in leaves_of(trace(lambda: w * 2.0).result)
        assert (w * 2.0)._children == ()


def test_errors_are_those_of_floats() -> None:
    for f in (lambda x: 1 / x, lambda x: x % 0, lambda x: 0.0**-x if x else 0.0 ** (x - 1)):
        with rg.errstate(divide="ignore"), pytest.raises(ZeroDivisionError):
            trace(f, 0.0)
    with pytest.raises(TypeError, match="unsupported operand"):
        trace(lambda x: x + "a", 0.0)
    with pytest.raises(AttributeError, match="'float' object has no attribute 'grad'"):
        trace(lambda x: x.grad, 0.0)
    with rg.errstate(divide="ignore"):
        assert number_of(trace(lambda x: 1 / Value(x), 0.0).result) == math.inf


# --- guards -------------------------------------------------------------------------------------------------------


def kinds(result: Recording) -> list[tuple[str, Any, Any, bool]]:
    sides = [side.data if isinstance(side, Value) else side for side in result.compared]
    return [
        (guard.kind, left, right, guard.outcome)
        for guard, left, right in zip(result.guards, sides[::2], sides[1::2], strict=True)
    ]


def test_what_a_comparison_decides_is_a_guard() -> None:
    w = Value(2.0)

    def f(x: Any) -> Value:
        decided = list(map(bool, [w > 0, w <= x, x < 1, x <= 5, x == w, x != 3, w, x, w == Fraction(1, 2)]))
        assert decided == [True, True, False, True, False, False, True, True, False]
        return w

    result = trace(f, 3.0)
    assert kinds(result) == [
        (">", 2.0, 0.0, True),
        (">=", 3.0, 2.0, True),
        ("<", 3.0, 1.0, False),
        ("<=", 3.0, 5.0, True),
        ("==", 3.0, 2.0, False),
        ("==", 3.0, 3.0, True),  # no NaN, which a container that is asked in C finds equal to itself
        ("!=", 3.0, 3.0, False),
        ("bool", 2.0, None, True),
        ("bool", 3.0, None, True),
        ("==", 2.0, 0.5, False),
    ]
    assert result.replayable
    assert all(g.where is not None and "decided =" in g.where.text for g in result.guards)


def test_an_instruction_that_decides_alike_has_one_guard_and_compares_anew() -> None:
    w = Value(2.0)

    def f(x: Any) -> Value:
        passed = [x < bound for bound in (5, 6.0, w * 4, 1)]
        return w * sum(1.0 for one in passed if one) if (x < 7) is not None else w

    result = trace(f, 3.0)
    assert kinds(result) == [
        ("<", 3.0, 5.0, True),
        ("<", 3.0, 6.0, True),
        ("<", 3.0, 8.0, True),
        ("<", 3.0, 1.0, False),
    ]
    first, second, third, other = result.guards
    assert first is second is third is not other
    assert first.where == other.where


def test_code_that_is_made_and_freed_in_a_trace_keeps_its_own_lines() -> None:
    def f(x: Any) -> Value:
        total = Value(0.0)
        for line in range(1, 60):
            namespace: dict[str, Any] = {"__name__": "made"}
            exec("\n" * line + "def decide(x): return 1.0 if x > 0 else 0.0", namespace)
            total += namespace["decide"](x)
        return total

    result = trace(f, 3.0)
    assert [guard.where.line for guard in result.guards if guard.where] == [line + 1 for line in range(1, 60)]


def test_a_comparison_of_a_trace_that_has_ended_decides_nothing() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Value:
        kept.extend([x < 5, x < 6])
        return Value(2.0) * (1.0 if kept[0] else 0.0)

    trace(f, 3.0)
    for comparison in kept:
        with pytest.raises(rg.errors.LeakedTraceError):
            bool(comparison)


def test_the_largest_of_values_is_a_choice_without_a_guard() -> None:
    values = [Value(2.0), Value(3.0), Value(3.0)]
    # The names are looked up while the trace is made.
    for choose, choice, chosen in (
        (lambda: max(values), Choice.FIRST_MAX, 1),
        (lambda: min(values), Choice.FIRST_MIN, 0),
    ):
        result = trace(choose)
        assert result.guards == []
        assert [(one.choice, one.candidates) for one in result.selections] == [(choice, tuple(values))]
        result.result.backward()
        assert [v.grad for v in values] == [1.0 if i == chosen else 0.0 for i in range(3)]
        for v in values:
            v.zero_grad()


def test_what_compares_inside_python_is_a_guard_too() -> None:
    values = [Value(2.0), Value(3.0), Value(1.0)]
    assert len(trace(lambda: max(values, key=lambda v: v)).guards) == 2
    assert len(trace(lambda: sorted(v.data for v in values)[0]).guards) >= 2
    assert len(trace(lambda: 1.0 if any(v > 2.5 for v in values) else 0.0).guards) == 2
    assert trace(lambda: 1.0 if values[0] == "a" or values[0].data is None else 0.0).guards == []


@pytest.mark.parametrize("relation", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_a_comparison_with_a_number_of_numpys_is_a_guard(relation: Callable[..., Any]) -> None:
    bounds = np.linspace(
        0.0, 1.0, 3
    )  # of which each item is an np.float64, and what a Value compares with it an np.bool

    def count(x: float) -> Any:
        return x * sum(2.0 if relation(x, bound) else 3.0 for bound in bounds)

    compiled = rg.compile(count)
    for _ in range(2):
        for x in (-0.5, 0.25, 0.5, 2.0):
            assert compiled.value_and_grad(x) == rg.value_and_grad(count)(x)
    assert compiled.stats().eager == 0


def test_a_number_that_no_float_equals_cannot_be_guarded() -> None:
    for other in (10**400, 2**53 + 1, Fraction(1, 3)):
        result = trace(lambda x, other=other: 1.0 if x < other else 0.0, 0.5)
        assert "which no float equals" in result.graph_breaks[0] or "Fraction" in result.graph_breaks[0]
        assert result.guards == []


def test_the_hinge_has_one_guard_for_both_labels() -> None:
    one, other = (trace(lambda label: nn.hinge(Value(0.25), label), label) for label in (1.0, -1.0))
    assert [(kind, right, outcome) for kind, _, right, outcome in kinds(one)] == [("!=", 1.0, False)]
    assert [(kind, right, outcome) for kind, _, right, outcome in kinds(other)] == [("!=", 1.0, False)]


# --- the built-in max and min -----------------------------------------------------------------------------------


def test_softmax_with_the_largest_taken_off_needs_no_guard() -> None:
    logits = [Value(x) for x in (1.0, 3.0, 2.0)]

    def softmax() -> Value:
        largest = max(v.data for v in logits)
        exponentials = [(v - largest).exp() for v in logits]
        return exponentials[0] / sum(exponentials)

    result = trace(softmax)
    assert (result.guards, result.graph_breaks) == ([], [])
    eager = softmax()
    assert isinstance(result.result, Value)
    assert result.result.data == eager.data
    assert [selection.choice for selection in result.selections] == [Choice.FIRST_MAX]
    eager.backward()
    expected = [v.grad for v in logits]
    for v in logits:
        v.zero_grad()
    result.result.backward()
    assert [v.grad for v in logits] == expected


def test_max_and_min_are_themselves_for_everything_else() -> None:
    original = builtins.max, builtins.min

    def f(x: Any) -> float:
        assert max(3, 4) == 4
        assert max([], default=2) == 2
        assert max("b", "a") == "b"
        assert min({"k": 1}) == "k"
        assert max(iter([1, 5, 3])) == 5
        assert max([1, -5], key=abs) == -5
        for wrong in (lambda: max(), lambda: max(3), lambda: max([])):
            with pytest.raises((TypeError, ValueError)):
                wrong()
        assert type(max(x, 0.0)) is FloatTracer
        assert max([x, -2.0], key=lambda v: -v) == -2.0
        return max(x, math.nan)

    result = trace(f, 1.0)
    assert number_of(result.result) == 1.0  # as Python's max(1.0, nan)
    assert (builtins.max, builtins.min) == original
    assert [(g.kind, g.outcome) for g in result.guards][-1] == ("<", False)  # nan > x, which Python asks of x


def test_another_thread_sees_ordinary_max_data_and_comparisons() -> None:
    inside, finish = threading.Event(), threading.Event()
    traces: list[Recording] = []

    def f(x: Any) -> Any:
        inside.set()
        assert finish.wait(10)
        return max(x, 2.0)

    worker = threading.Thread(target=lambda: traces.append(trace(f, 1.0)))
    worker.start()
    assert inside.wait(10)
    v = Value(3.0)
    try:
        assert active_recorder() is None
        assert type(v.data) is float
        assert v > 2
        assert max(v.data, 4.0) == 4.0
        assert kinds(trace(lambda x: x if v > x else v, 5.0)) == [("<", 5.0, 3.0, False)]
    finally:
        finish.set()
        worker.join()
    assert number_of(traces[0].result) == 2.0
    assert builtins.max is max
    assert builtins.max.__module__ == "builtins"


# --- what cannot be replayed -----------------------------------------------------------------------------------


W = Value(2.0)


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda x: math.exp(x), "plain one with float()"),
        (lambda x: float(x), "plain one with float()"),
        (lambda x: int(x), "plain one with int()"),
        (lambda x: complex(x).real, "plain one with complex()"),
        (lambda x: round(x, 1), "rounds a traced number to digits"),
        (lambda x: x.is_integer() + 1.0, "plain one with .is_integer"),
        (lambda x: len(f"{x:.3f}"), "turns a number into text"),
        (lambda x: len(str(x) + repr(x)), "turns a number into text"),
        (lambda x: math.fsum([x, x]), "plain one with float()"),
        (lambda x: len({x}), "looks a traced number up in a set or dict"),
        (lambda x: pickle.loads(pickle.dumps(x)), "copies a traced number"),
        (lambda x: np.array([x], dtype=float)[0], "plain one with float()"),
        (lambda x: Value(x, (Value(1.0),), (2.0,)), "gives a traced number to Value(…)"),
        (lambda x: Value(data=x), "gives a traced number to Value(…)"),
        (lambda x: type("Mine", (Value,), {})(x), "gives a traced number to Value(…)"),
        (lambda x: len(f"{W:.2f}"), "turns a number into text"),
        (lambda x: len(repr(W)), "turns a number into text"),
        (lambda x: W.grad, "reads a gradient"),
        (lambda x: W.zero_grad() or 1.0, "assigns .grad"),
        (lambda x: setattr(W, "grad", 0.0) or 1.0, "assigns .grad"),
        (lambda x: setattr(W, "data", 2.0) or 1.0, "assigns .data"),
        (lambda x: (W * x).backward() or 1.0, "calls backward()"),
        (lambda x: (W * x)._local_grads[0], "reads local derivatives"),
        (lambda x: rg.engine.gradients(W * x, 1.0, [W])[0], "takes a gradient"),
        (lambda x: rg.optim.SGD([W], lr=0.0).step() or 1.0, "assigns .data"),
        (lambda x: rg.optim.Adam([W], lr=0.0).step() or 1.0, "assigns .data"),
        (lambda x: rg.optim.Adam([W], lr=0.0).zero_grad() or 1.0, "assigns .grad"),
    ],
)
def test_what_a_replay_cannot_do_is_said_with_its_line(use: Callable[[Any], Any], what: str) -> None:
    result = trace(lambda x: use(W.data * x), 0.25)
    assert not result.replayable
    assert any(what in reason for reason in result.graph_breaks), result.graph_breaks
    assert all("test_recorder.py:" in reason for reason in result.graph_breaks)
    eager = use(0.5)
    assert number_of(result.result) == number_of(eager)
    W.zero_grad()


def test_results_of_another_thread_can_be_read_but_not_replayed() -> None:
    made: list[Value] = []
    worker = threading.Thread(target=lambda: made.append(Value(2.0) * 3.0))
    worker.start()
    worker.join()
    for read in (lambda: made[0].data * 2.0, lambda: made[0].detach() * 2.0):
        result = trace(read)
        assert number_of(result.result) == 12.0
        assert "another thread computed" in result.graph_breaks[0]


def test_the_result_is_a_value_or_a_number() -> None:
    assert trace(lambda: 3).result == 3.0
    assert trace(lambda: np.array(3.0)).result == 3.0
    for wrong in (None, "a", [1.0, 2.0]):
        with pytest.raises(TypeError, match="the function's result is"):
            trace(lambda wrong=wrong: wrong)


def test_source_lines_are_kept_when_wanted() -> None:
    from retrograd.engine.source_lines import location_of

    with_lines = trace(lambda x: Value(x) * 2, 1.0, sources=True).result
    without = trace(lambda x: Value(x) * 2, 1.0).result
    assert isinstance(with_lines, Value)
    assert isinstance(without, Value)
    location = location_of(with_lines)
    assert location is not None
    assert "with_lines = trace" in location.text
    assert location_of(without) is None


# --- leaks, errors, re-entrance ---------------------------------------------------------------------------------


def test_a_kept_number_or_index_is_refused_after_its_trace() -> None:
    kept: list[Any] = []
    recorder = Recorder()
    recorder.run(lambda x, i: kept.extend([x, i]) or x, [recorder.number(Value(1.0)), recorder.index(0, 1)])
    x, i = kept
    uses: list[Callable[[], Any]] = [
        lambda: x + 1,
        lambda: Value(1.0) * x,
        lambda: x < 2,
        lambda: bool(x),
        lambda: float(x),
        lambda: hash(x),
        lambda: f"{x}",
        lambda: Value(x),
        lambda: rg.math.exp(x),
        lambda: rg.math.dot([x], [1.0]),
        lambda: Value(1.0).maximum(x),
        lambda: setattr(W, "data", x),
        lambda: i == 1,
        lambda: [1.0, 2.0][i],
        lambda: rg.take([1.0, 2.0], i),
        lambda: i + 1,
        lambda: f"{i}",
        lambda: Value(i),
    ]

    def refused() -> None:
        for use in uses:
            with pytest.raises(errors.LeakedTraceError, match="used after the trace, or in another thread"):
                use()

    refused()
    trace(lambda: refused() or 1.0)  # in another trace as well
    assert repr(x) == "<a number of a trace that has ended>"
    assert repr(i) == "<an index of a trace that has ended>"


def test_a_number_of_a_running_trace_is_refused_in_another_thread() -> None:
    caught: list[BaseException] = []

    def f(x: Any) -> Any:
        def steal() -> None:
            try:
                x + 1
            except errors.LeakedTraceError as error:
                caught.append(error)

        thief = threading.Thread(target=steal)
        thief.start()
        thief.join()
        return x * 2

    assert number_of(trace(f, 1.0).result) == 2.0
    assert len(caught) == 1


def test_no_hook_stays_behind() -> None:
    original = builtins.max, builtins.min

    def fail(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        trace(fail, 1.0, sources=True)
    assert (builtins.max, builtins.min) == original
    assert engine.set_tracer(None) is None
    assert engine.set_observer(None) is None
    assert active_recorder() is None
    assert type(Value(1.0).data) is float


def test_the_arguments_of_a_first_call_are_described_once(monkeypatch: pytest.MonkeyPatch) -> None:
    described, describe = [], specializer.signature_of

    def counted(*arguments: Any) -> Any:
        described.append(arguments[0])
        return describe(*arguments)

    monkeypatch.setattr(specializer, "signature_of", counted)
    compiled = rg.compile(lambda p, x: p[0] * x)
    assert compiled.value_and_grad([2.0], 3.0) == (6.0, [3.0])
    assert described == [([2.0], 3.0)]


def test_an_error_in_the_tracer_reaches_the_user() -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise LookupError(name)

    v = Value(1.0)
    engine.set_tracer(Broken())
    try:
        for use, name in (
            (lambda: v.data, "data"),
            (lambda: v < 1, "compare"),
            (lambda: bool(v), "truth"),
            (lambda: v.detach(), "detach"),
            (lambda: v.grad, "notice"),
            (lambda: Value("a"), "leaf"),
            (lambda: v.backward(), "notice"),
            (lambda: rg.math.exp("a"), "call"),
            (lambda: rg.math.max(["a"]), "reduce"),
        ):
            with pytest.raises(LookupError, match=name):
                use()
    finally:
        engine.set_tracer(None)
    assert v.data == 1.0


def test_one_trace_at_a_time_in_a_thread() -> None:
    def f(x: Any) -> Any:
        assert active_recorder() is not None
        with pytest.raises(RuntimeError, match="call the plain function inside it"):
            trace(lambda y: y, 1.0)
        return x * 2  # the outer trace goes on

    assert number_of(trace(f, 1.0).result) == 2.0


def test_traced_floats_compute_as_floats_do_and_raise_what_they_raise() -> None:
    """Their arithmetic is the engine's; what is not simple is asked of the recorder."""

    def many(x: Any, y: Any) -> Any:
        w = Value(2.0)
        parts = [x + y, x - 1, 2 - x, x * True, 3.0 * y, x / y, 1 / x, x % y, x // y, x**2, 2**y, -x, abs(y), +x]
        parts += [
            *divmod(x, y),
            x * np.float64(1.5),
            np.float64(0.5) + y,
            x + Fraction(1, 2),
            rg.math.exp(x),
            rg.math.sqrt(y),
        ]
        parts += [rg.math.exp(x), rg.math.sqrt(y)]
        mixed = [w * x, x * w, w / y, y - w, w**x, rg.math.atan2(x, y), rg.math.exp(w * x)]
        return sum(parts) + sum(mixed)

    compiled = rg.compile(many)
    for x, y in ((1.5, 0.75), (2.5, 1.25), (3.0, 0.5)):
        for _ in range(2):
            assert compiled(x, y).data == pytest.approx(many(x, y).data, rel=1e-12)
    assert (compiled.stats().traces, compiled.stats().eager) == (1, 0)
    for divides in (lambda x: 1.0 / x, lambda x: x // 0.0, lambda x: x % 0.0, lambda x: 0.0 ** (x - 1.0)):
        function = rg.compile(lambda x, divides=divides: Value(1.0) * divides(x))
        with pytest.raises(ZeroDivisionError), rg.errstate(divide="ignore"):
            function(0.0)


def test_arithmetic_with_a_float_that_left_its_trace_is_refused() -> None:
    kept: list[Any] = []
    trace(lambda x: kept.append(x) or Value(1.0) * x, 2.0)
    (leaked,) = kept
    assert type(leaked) is FloatTracer
    uses = [
        lambda t: t + 1.0,
        lambda t: 2.0 * t,
        lambda t: -t,
        lambda t: Value(3.0) * t,
        lambda t: divmod(t, 2),
        rg.math.exp,
    ]
    for use in uses:
        with pytest.raises((errors.LeakedTraceError, TypeError)):
            use(leaked)
