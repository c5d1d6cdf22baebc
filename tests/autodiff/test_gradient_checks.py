"""The gradient checker: it says yes to right gradients, no to wrong ones, and tells kinks from faults."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from support.parts import require

from retrograd import engine, errors
from retrograd.autodiff.check import GradientCheck, check_gradients
from retrograd.autodiff.check.differences import central_difference
from retrograd.autodiff.check.ulp import ulp_distance
from retrograd.engine import Value
from retrograd.engine.reference import rules
from retrograd.ops import NARY, OPS, NaryOp, Op

QUICK = ("differences", "reference")
#: Every row whose derivative is that of its formula: detach lies about it on purpose.
HONEST = [row for row in OPS if row.name != "detach"]
ROWS: list[Op | NaryOp] = [*HONEST, *NARY]


def verdicts(check: GradientCheck) -> list[str]:
    return [row.verdict for row in check.rows]


def neuron(x: list[Value], w: list[Value], b: Value) -> Value:
    return (engine.reduce("dot", x, w) + b).tanh()


NEURON = {"x": [2.0, 0.0], "w": [-3.0, 1.0], "b": 6.8813735870195432}


def square_with_slope(slope: float) -> Callable[[Value], Value]:
    """x * x as a user's node that claims ``slope`` times x as its derivative."""
    return lambda x: Value(x.data * x.data, (x,), (slope * x.data,)) + x


# --- right gradients ------------------------------------------------------------------------------


def test_a_neuron_agrees_with_everyone() -> None:
    peers = [name for name in ("torch", "jax") if importlib.util.find_spec(name)]
    check = check_gradients(neuron, NEURON)
    assert check.peers == (*QUICK, *peers)
    assert check
    assert check.ok
    assert check.value == pytest.approx(0.7071067811865476)
    assert [row.name for row in check.rows] == ["x[0]", "x[1]", "w[0]", "w[1]", "b"]
    assert [row.ours for row in check.rows] == pytest.approx([-1.5, 0.5, 1.0, 0.0, 0.5])
    assert all(row.ulp("reference") == 0 for row in check.rows)
    assert check.summary == "All 5 gradients agree."


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_every_row_of_the_table_passes(row: Op | NaryOp) -> None:
    generator = random.Random(row.name)
    if isinstance(row, Op):
        point = tuple(generator.uniform(low, high) for low, high in row.sample if low != high)
        fixed = [low for low, high in row.sample if low == high]
        check = check_gradients(lambda *xs: engine.apply(row.name, *fixed, *xs) * 1.5 + xs[0], point, peers=QUICK)
    else:
        point = tuple(generator.uniform(0.5, 3.0) for _ in range(4))

        def f(*xs: Value) -> Any:
            result = engine.reduce(row.name, xs[:2], xs[2:]) if row.paired else engine.reduce(row.name, xs)
            return engine.reduce("dot", result, (1.0, -2.0, 3.0, 0.5)) if isinstance(result, list) else result

        check = check_gradients(f, point, peers=QUICK)
    assert check.ok, str(check)


@pytest.mark.long
@pytest.mark.native  # the engines have the same bits
@pytest.mark.parametrize("peer", ["torch", "jax"])
def test_the_whole_table_agrees_with_other_libraries(peer: str) -> None:
    require(peer)
    generator = random.Random(3)

    def f(xs: list[Value]) -> Value:
        terms = []
        for row, x in zip(HONEST, itertools.cycle(xs), strict=False):
            fixed = [low for low, high in row.sample if low == high]
            moved = [
                (low + high) / 2 + (high - low) / 4 * (x * (k + 1.0)).sin()
                for k, (low, high) in enumerate(span for span in row.sample if span[0] != span[1])
            ]
            terms.append(engine.apply(row.name, *fixed, *moved))
        for nary in NARY:
            result = engine.reduce(nary.name, xs, terms[: len(xs)]) if nary.paired else engine.reduce(nary.name, xs)
            terms.append(engine.reduce("dot", result, (1.0, -2.0, 3.0)) if isinstance(result, list) else result)
        return engine.reduce("sum", terms)  # type: ignore[no-any-return]

    check = check_gradients(f, ([generator.uniform(0.5, 2.0) for _ in range(3)],), peers=(*QUICK, peer))
    assert check.ok, str(check)
    assert peer in check.peers
    assert not check.notes


@pytest.mark.parametrize(
    ("f", "at"),
    [
        (lambda x: x.log(), 1e-8),
        (lambda x: 1 / x, 3e-5),
        (lambda x: x * x, 1e120),
        (lambda x: x.exp(), 300.0),
        (lambda x: (1e6 * x).sin(), 0.3),
        (lambda x: x * 0.0, 5.0),
        (lambda x: x - x, 5.0),
        (lambda x: 1e9 + x, 1.0),
        (lambda x: (x - 1e-5).relu(), 0.0),
        (lambda x: abs(x - 1e-7) * x, 0.0),
        (lambda x: x**3, 0.0),
        (lambda x: 7.5, 2.0),
        (lambda x: x, -0.0),
    ],
)
def test_ordinary_functions_at_awkward_points(f: Callable[[Value], Any], at: float) -> None:
    check = check_gradients(f, at, peers=QUICK)
    assert verdicts(check) == ["agrees"], str(check)


def test_arguments_by_name_by_position_and_alone() -> None:
    assert check_gradients(lambda x, y: x * y, {"x": 2, "y": 3}, peers=QUICK).rows[1].name == "y"
    assert [row.name for row in check_gradients(lambda p, q: p * q, (2, 3), peers=QUICK).rows] == ["p", "q"]
    assert [row.name for row in check_gradients(lambda xs: xs[0] * xs[1], [2, 3], peers=QUICK).rows] == [
        "xs[0]",
        "xs[1]",
    ]
    assert [row.name for row in check_gradients(lambda d: d["a"] ** 2, ({"a": 2.0},), peers=QUICK).rows] == ["d['a']"]
    assert check_gradients(lambda: 3.0, (), peers=QUICK).ok


def test_transforms_and_constants_inside_the_function() -> None:
    from retrograd.autodiff.transforms import gradient

    check = check_gradients(lambda x: gradient(x**3, x, create_graph=True) + Value(2.0) * x, 2.0, peers=QUICK)
    assert check.ok
    assert check.rows[0].ours == 14.0


# --- wrong gradients ------------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [2.0001, 1.0, -2.0, 0.0, math.nan, math.inf])
def test_a_wrong_slope_of_a_users_node_is_caught(slope: float) -> None:
    assert check_gradients(square_with_slope(2.0), 3.0, peers=QUICK)
    check = check_gradients(square_with_slope(slope), 3.0, peers=QUICK)
    assert not check
    assert verdicts(check) == ["differs"]
    assert "The gradient must not be trusted: x (differs)." in str(check)


def test_only_the_wrong_input_is_blamed() -> None:
    def f(x: Value, y: Value) -> Value:
        return Value(x.data * y.data, (x, y), (y.data, 2.0 * x.data))

    check = check_gradients(f, {"x": 2.0, "y": 3.0}, peers=QUICK)
    assert verdicts(check) == ["agrees", "differs"]


def test_a_wrong_closure_is_caught_and_explained() -> None:
    def f(x: Value) -> Value:
        y = Value(x.data**3, (x,), "cube")

        def push() -> None:
            x.grad += 2.0 * x.data**2 * y.grad

        y._backward = push
        return y

    check = check_gradients(f, 2.0, peers=QUICK)
    assert verdicts(check) == ["differs"]
    assert check.peers == ("differences",)
    assert "has a _backward function of its own" in check.notes[0]


@pytest.mark.parametrize("name", ["sin", "mul", "tanh", "logsumexp", "softmax"])
def test_a_wrong_partial_in_the_op_table_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[str, Any] = rules.RULES if name in rules.RULES else rules.NARY_RULES  # type: ignore[assignment]
    rule = table[name]
    wrong = rules.Partial(None, lambda *variables: 1.001 * rule.partials[0](*variables))
    monkeypatch.setitem(table, name, dataclasses.replace(rule, partials=(wrong, *rule.partials[1:])))

    def f(x: Value, y: Value) -> Any:
        if name in ("logsumexp", "softmax"):
            result = engine.reduce(name, [x, y])
            return result[0] if isinstance(result, list) else result
        return engine.apply(name, *((x, y) if name == "mul" else (x,))) + y

    check = check_gradients(f, {"x": 0.7, "y": -1.3}, peers=QUICK)
    assert check.rows[0].verdict == "differs"


def test_a_lost_gradient_is_caught() -> None:
    check = check_gradients(lambda x: x * x.data, 3.0, peers=QUICK)
    assert verdicts(check) == ["differs"]


# --- kinks and infinities -------------------------------------------------------------------------


def test_kinks_are_recognised() -> None:
    for f in (lambda x: x.relu(), abs, lambda x: 2 * x.maximum(0.0), lambda x: x.sign() * 3.0):
        assert verdicts(check_gradients(f, 0.0, peers=QUICK)) == ["at a kink"]
    assert verdicts(check_gradients(lambda x: x.floor() * x.sin(), 2.0, peers=QUICK)) == ["at a kink"]
    assert verdicts(check_gradients(lambda x: x.sign() * 3.0 - 5.0 * x, 0.0, peers=QUICK)) == ["at a kink"]
    tie = check_gradients(lambda xs: engine.reduce("max", xs), [1.0, 1.0, 0.0], peers=QUICK)
    assert verdicts(tie) == ["at a kink", "at a kink", "agrees"]
    assert tie.ok
    assert tie.summary == "All 3 gradients agree, 2 of them at a kink."


def test_a_gradient_outside_a_kinks_slopes_is_wrong() -> None:
    def f(x: Value) -> Value:
        return Value(abs(x.data), (x,), (1.5,))

    assert verdicts(check_gradients(f, 0.0, peers=QUICK)) == ["differs"]


def test_infinite_gradients_are_not_ok() -> None:
    assert verdicts(check_gradients(lambda x: x.cbrt(), 0.0, peers=QUICK)) == ["not finite"]
    check = check_gradients(lambda x: x.sqrt(), 0.0, peers=QUICK)
    assert verdicts(check) == ["not finite"]
    assert not check.ok
    assert check.rows[0].ours == math.inf
    assert "x (not finite)" in check.summary


def test_peers_with_another_convention_do_not_matter_at_a_kink() -> None:
    require("jax")
    check = check_gradients(abs, 0.0, peers=(*QUICK, "jax"))
    assert check.ok  # 0 here, 1 there


# --- the rest -------------------------------------------------------------------------------------


def test_the_table_names_everything() -> None:
    text = str(check_gradients(neuron, NEURON, peers=QUICK))
    head, *_, last = text.splitlines()
    assert head.split() == ["input", "at", "ours", "differences", "reference", "verdict"]
    assert last == "All 5 gradients agree."
    assert "-1.5" in text
    assert "(0 ulp)" in text
    assert "\x1b" not in text
    many = str(check_gradients(lambda xs: engine.reduce("sum", xs), [1.0] * 70, peers=QUICK))
    assert "… and 10 more inputs" in many


@pytest.mark.parametrize("kind", [ValueError, errors.MissingExtraError])
def test_a_peer_that_is_not_installed_is_a_missing_extra(kind: type[Exception], monkeypatch: Any) -> None:
    monkeypatch.setattr("retrograd.autodiff.check.gradients.find_spec", lambda name: None)
    with pytest.raises(kind, match=r"the peer 'jax' is not installed: pip install \"retrograd\[jax\]\""):
        check_gradients(lambda x: x * x, 2.0, peers=["jax"])


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ([2.0], r"list \[2\.0\] as its only argument \(missing a required argument: 'y'\)"),
        ((2.0,), r"tuple \(2\.0,\) as its arguments \(missing"),
        ({"x": 2.0, "z": 3.0}, r"as its arguments \(it has no 'z'\)"),
    ],
)
def test_other_arguments_than_those_of_the_function_are_refused(at: Any, says: str) -> None:
    with pytest.raises(TypeError, match=rf"\(x, y\) cannot be called with .*{says}.*: give all arguments in a tuple"):
        check_gradients(lambda x, y: x * y, at)


def test_arguments_side_by_side_are_refused() -> None:
    at, second = 2.0, 5.0
    with pytest.raises(TypeError, match=r"got float 5\.0 for peers: give them in a tuple"):
        check_gradients(lambda x, y: x * y, at, second)  # type: ignore[arg-type]


def test_wrong_questions_are_sentences() -> None:
    with pytest.raises(ValueError, match="knows no peer 'tensorflow'; choose among differences, reference, torch, jax"):
        check_gradients(neuron, NEURON, peers=("tensorflow",))
    with pytest.raises(TypeError, match=r"at\['x'\] is 'a'"):
        check_gradients(neuron, {"x": "a"}, peers=QUICK)
    with pytest.raises(TypeError, match="single Value"):
        check_gradients(lambda x: [x], 1.0, peers=QUICK)
    numbers = iter([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match="a random function has no gradient to check"):
        check_gradients(lambda x: x * next(numbers), 1.0, peers=QUICK)


def test_modes_and_gradients_of_the_caller_are_untouched() -> None:
    w = Value(3.0)
    (w * w).backward()
    with engine.no_grad():
        assert check_gradients(lambda x: x * w, 2.0, peers=QUICK).ok
        assert (Value(1.0) + 1.0)._children == ()
    assert w.grad == 6.0


def test_a_domain_edge_near_the_point_is_respected() -> None:
    found = central_difference(lambda x: math.log(x) if x > 0 else math.nan, 1e-6, math.log(1e-6))
    assert found.value == pytest.approx(1e6, rel=1e-6)
    assert abs(found.value - 1e6) <= found.error
    assert not central_difference(lambda x: math.nan, 1.0, math.nan).known


@pytest.mark.parametrize(
    ("f", "slope"), [(math.sin, math.cos), (math.exp, math.exp), (math.atan, lambda x: 1 / (1 + x * x))]
)
def test_the_error_of_a_difference_is_a_bound(f: Any, slope: Any) -> None:
    generator = random.Random(0)
    for _ in range(200):
        x = generator.uniform(-5.0, 5.0)
        found = central_difference(f, x, f(x))
        assert abs(found.value - slope(x)) <= found.error <= 1e-6 * max(abs(slope(x)), 1e-2)
        assert not found.kink


def test_distances_between_floats() -> None:
    assert ulp_distance(1.0, math.nextafter(1.0, 2.0)) == 1
    assert ulp_distance(5e-324, -5e-324) == 2
    assert ulp_distance(0.0, -0.0) == 0
    assert ulp_distance(math.nan, math.nan) == 0
    assert ulp_distance(math.inf, math.inf) == 0
    assert ulp_distance(math.inf, 1e308) == math.inf
    assert ulp_distance(math.nan, 1.0) == math.inf


def test_one_gradient_has_no_plural_and_peers_with_one_reason_share_a_note() -> None:
    def cube(x: Any) -> Any:
        out = Value(x.data**3, (x,), "cube")

        def pull() -> None:
            x.grad += 3 * x.data**2 * out.grad

        out._backward = pull
        return out

    check = check_gradients(cube, {"x": 2.0})
    assert check.summary == "The gradient agrees."
    assert len(check.notes) == 1
    assert " were not asked: " in check.notes[0] or "reference was not asked: " in check.notes[0]
    assert check_gradients(lambda x: x.relu(), {"x": 0.0}, ()).summary.startswith("The gradient ")
