"""Programs that run in strips of their longest loop: the engine's numbers, however long it is, and the same errors."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.compiled_cases import assert_near, backward, eagerly, native
from support.parts import ALL, require

import retrograd as rg
from benchmarks.peers import gmm
from retrograd import Value
from retrograd.compiler import tier_up

pytestmark = native


@pytest.fixture(scope="module", autouse=True)
def _kernel_calls() -> Iterator[None]:
    """LLVM compiles kernel calls here, whatever it would choose: test_loops.py and test_nests.py have scalar code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tier_up, "_most_scalar_nodes", lambda _: 0)
        yield


TIERS = ("vm", "llvm")
BOUND = 1e-11


@pytest.fixture(autouse=True)
def small_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips of sixteen iterations, in programs that would else need none."""
    monkeypatch.setenv("RETROGRAD_CACHE", "64")


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest) -> str:
    if request.param == "llvm":
        require("llvmlite")
    return str(request.param)


def values(count: int, seed: int = 0) -> list[Value]:
    draw = random.Random(seed)
    return [Value(draw.uniform(-1.0, 1.0)) for _ in range(count)]


def numbers(rows: int, columns: int, seed: int = 0) -> list[list[float]]:
    draw = random.Random(f"numbers {seed}")
    return [[draw.uniform(-1.0, 1.0) for _ in range(columns)] for _ in range(rows)]


def strip_of(compiled: Any) -> int:
    """How long the strips of its one program are; it is sound, and no call was run by the engine."""
    statistics = compiled.stats()
    assert statistics.eager == 0, statistics.reasons
    (program,) = statistics.programs
    assert compiled._cache.verify(program.number) == ""
    return int(program.strip)


def assert_strips(
    function: Callable[..., Any], leaves: Sequence[Value], tier: str, *arguments: Any, bound: float = BOUND
) -> Any:
    """The program has strips, and gives what the engine gives: the value alone, and gradients, which accumulate."""
    expected = eagerly(function, leaves, arguments)
    compiled = rg.compile(function, tier=tier)
    for _ in range(3):
        assert_near(backward(compiled, leaves, arguments), expected, bound, "backward")
        assert_near((compiled(*arguments), []), (expected[0], []), bound, "call")
    once = [leaf.grad for leaf in leaves]
    compiled.backward(*arguments)
    assert_near((0.0, [leaf.grad for leaf in leaves]), (0.0, [2.0 * g for g in once]), bound, "accumulated")
    # Other numbers, the same program.
    before = [leaf.data for leaf in leaves]
    for leaf in leaves:
        leaf.data = 0.75 * leaf.data + 0.01
    expected = eagerly(function, leaves, arguments)
    assert_near(backward(compiled, leaves, arguments), expected, bound, "other numbers")
    for leaf, number in zip(leaves, before, strict=True):
        leaf.data = number
    assert strip_of(compiled) > 0
    return compiled


# --- the mixture --------------------------------------------------------------------------------------------------


def mixture(points: int, dimensions: int, clusters: int) -> tuple[Callable[[], Any], list[Value]]:
    problem = gmm.problem(points, dimensions, clusters)
    alphas = [Value(number) for number in problem.alphas]
    means, icf = ([[Value(number) for number in row] for row in rows] for rows in (problem.means, problem.icf))

    def objective() -> Any:
        return gmm.objective(alphas, means, icf, problem.points, problem.gamma, problem.m, rg.math.exp, rg.math.log)

    return objective, [*alphas, *(v for row in means for v in row), *(v for row in icf for v in row)]


@pytest.mark.parametrize(
    "shape",
    [
        (65, 3, 2),
        (79, 1, 4),
        *(
            pytest.param(shape, marks=pytest.mark.long)
            for shape in ((64, 2, 3), (100, 4, 1), (128, 2, 25), (150, 5, 16))
        ),
    ],
)
def test_mixtures_of_every_size(shape: tuple[int, int, int], tier: str) -> None:
    objective, leaves = mixture(*shape)
    assert_strips(objective, leaves, tier)


@pytest.mark.long
def test_strips_are_made_where_a_cache_is_too_small(monkeypatch: pytest.MonkeyPatch, tier: str) -> None:
    monkeypatch.delenv("RETROGRAD_CACHE")
    objective, leaves = mixture(250, 10, 25)
    compiled = assert_strips(objective, leaves, tier)
    (program,) = compiled.stats().programs
    assert 0 < program.strip < 250
    assert f"in strips of {program.strip}" in str(compiled.stats())
    # A point has 730 intermediate results, and as many gradients: in memory they would take three megabytes.
    assert program.bytes < 1_500_000


def test_a_program_that_fits_in_a_cache_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETROGRAD_CACHE")
    objective, leaves = mixture(80, 3, 4)
    compiled = rg.compile(objective, tier="vm")
    assert_near(backward(compiled, leaves, ()), eagerly(objective, leaves, ()), BOUND, "backward")
    assert strip_of(compiled) == 0


# --- other programs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [64, 71, 96, 130])
def test_a_network_on_a_data_set(count: int, tier: str) -> None:
    random.seed(count)
    model = rg.nn.MLP(3, [8, 5, 1])
    leaves = list(model.parameters())
    places, labels = numbers(count, 3), [random.choice([-1.0, 1.0]) for _ in range(count)]

    def loss() -> Any:
        losses = [rg.nn.hinge(model(x), y) for x, y in zip(places, labels, strict=True)]
        return sum(losses) * (1.0 / count) + 1e-3 * sum(p * p for p in leaves)

    assert_strips(loss, leaves, tier)


def test_what_is_owed_is_not_known_beforehand(tier: str) -> None:
    leaves, points = values(6), numbers(90, 3)

    def function() -> Any:
        total = Value(0.0)
        for x in points:
            inner = sum(w * n for w, n in zip(leaves, x, strict=False)).tanh() + leaves[4]
            total = total + (inner * inner + leaves[3] * leaves[3] + 0.5).log().exp()
        return (total * total + 1.0).log() * leaves[5]

    assert_strips(function, leaves, tier)


def test_a_mean_over_the_loop_that_the_loop_uses_again(tier: str) -> None:
    leaves, points = values(5), numbers(100, 2)

    def function() -> Any:
        scores = [(leaves[0] * x + leaves[1] * y).tanh() + leaves[2] for x, y in points]
        mean = sum(scores) * (1.0 / len(scores))
        variance = sum((score - mean) ** 2 for score in scores) * (1.0 / len(scores))
        scaled = [(score - mean) / (variance + 0.1).sqrt() * leaves[3] + leaves[4] for score in scores]
        return sum((s.exp() + 1.0).log() for s in scaled)

    assert_strips(function, leaves, tier)


def test_points_that_look_at_their_neighbours(tier: str) -> None:
    leaves = values(100)

    def function() -> Any:
        smooth = [(leaves[i] - leaves[i + 1]).tanh() for i in range(len(leaves) - 1)]
        bends = [smooth[i] * smooth[i + 1] + smooth[i].exp() for i in range(len(smooth) - 1)]
        return sum(b * b for b in bends) + sum(s * s for s in smooth) * 0.5

    assert rg.compile(function, tier=tier) is not None
    expected = eagerly(function, leaves, ())
    compiled = rg.compile(function, tier=tier)
    for _ in range(3):
        assert_near(backward(compiled, leaves, ()), expected, BOUND, "neighbours")
    strip_of(compiled)


def test_paths_of_a_pricer_step_by_step(tier: str) -> None:
    leaves = [Value(0.2), Value(0.05), Value(1.0), Value(0.9)]
    shocks = numbers(70, 6)

    def price() -> Any:
        volatility, rate, spot, strike = leaves
        payoffs = []
        for path in shocks:
            level, highest = spot, spot
            for shock in path:
                level = level * (rate * 0.1 + volatility * shock).exp()
                highest = rg.math.maximum(highest, level)
            payoffs.append((highest - strike).relu())
        return sum(payoffs) * (1.0 / len(payoffs))

    assert_strips(price, leaves, tier)


def test_gradients_of_the_points_themselves(tier: str) -> None:
    weights = values(3)

    def function(xs: list[Any], ys: list[Any]) -> Any:
        hidden = [(weights[0] * x + weights[1] * y).tanh() for x, y in zip(xs, ys, strict=True)]
        return sum((h * h + weights[2] * x).exp() for h, x in zip(hidden, xs, strict=True))

    xs, ys = values(90, 1), values(90, 2)
    expected = eagerly(function, [*xs, *ys, *weights], (xs, ys))
    compiled = rg.compile(function, tier=tier)
    given = [x.data for x in xs], [y.data for y in ys]
    for _ in range(3):
        value, gradient = compiled.value_and_grad(*given)
        assert_near((value, gradient), (expected[0], expected[1][:90]), BOUND, "value_and_grad")
    for _ in range(3):
        found = backward(compiled, [*xs, *ys, *weights], (xs, ys))
        assert_near(found, expected, BOUND, "backward")


def test_a_batch(tier: str) -> None:
    weights = values(4)

    def loss(xs: list[float]) -> Any:
        hidden = [(weights[0] * x + weights[1]).tanh() * weights[2] for x in xs]
        return sum((h + weights[3]).exp() for h in hidden) * (1.0 / len(xs))

    members = [([row[0] + i for row in numbers(80, 1, i)],) for i in range(3)]
    found = [eagerly(loss, weights, member) for member in members]
    expected = sum(f[0] for f in found) / 3, [sum(g) / 3 for g in zip(*(f[1] for f in found), strict=True)]
    compiled = rg.compile(loss, tier=tier)
    for _ in range(3):
        for weight in weights:
            weight.grad = 0.0
        value = compiled.backward_batch(members)
        assert_near((value, [w.grad for w in weights]), expected, BOUND, "batch")
    assert compiled.stats().programs[0].strip > 0


# --- errors and branches ------------------------------------------------------------------------------------------


def test_what_is_outside_a_domain_in_a_late_strip_raises(tier: str) -> None:
    weight = Value(1.0)
    points = [1.0 + i for i in range(99)]

    def function() -> Any:
        return sum((weight * x).tanh() + (weight * x + 0.5).log() for x in points)

    compiled = rg.compile(function, tier=tier)
    compiled.backward()
    assert strip_of(compiled) > 0
    weight.data, weight.grad = -0.006, 0.0  # the last points alone are below -0.5
    with pytest.raises(ValueError, match="log"):
        function()
    with pytest.raises(ValueError, match="log"):
        compiled.backward()
    assert weight.grad == 0.0
    weight.data = 2.0
    assert_near(backward(compiled, [weight], ()), eagerly(function, [weight], ()), BOUND, "afterwards")


def test_what_is_not_finite_does_not_vanish_in_a_strip(tier: str) -> None:
    weight = Value(1.0)
    points = [1.0 + 0.01 * i for i in range(90)]

    def function() -> Any:
        return sum(1.0 / (weight * x * 1e200 * 1e100 + 1.0) + weight * x for x in points)

    compiled = rg.compile(function, tier=tier)
    for number in (1e-300, 2e-300, 1e10):  # at last the products are infinite, and their inverses zero
        weight.data = number
        expected = eagerly(function, [weight], ())
        found = backward(compiled, [weight], ())
        assert str(found[1]) == str(expected[1]) or found[1][0] == pytest.approx(expected[1][0], rel=1e-12)
        assert found[0] == pytest.approx(expected[0], rel=1e-12)
    assert strip_of(compiled) > 0
    assert compiled.stats().programs[0].exceptional == 1


def test_branches_in_strips_are_guarded(tier: str) -> None:
    weights, points = values(2, 5), numbers(80, 1)

    def function() -> Any:
        total = Value(0.0)
        for (x,) in points:
            score = (weights[0] * x).tanh()
            total = total + (score * score if score > weights[1] else score.exp() * 0.5)
        return total

    compiled = rg.compile(function, tier=tier)
    for shift in (0.0, 0.3, -0.3, 0.0):
        weights[1].data = shift
        for _ in range(2):
            found = backward(compiled, weights, ())
            assert_near(found, eagerly(function, weights, ()), BOUND, shift)
    assert compiled.stats().eager == 0


# --- programs that nobody thought of ------------------------------------------------------------------------------

UNARY: dict[str, Callable[[Any], Any]] = {
    "tanh": lambda a: a.tanh(),
    "exp": lambda a: (a * 0.25).tanh().exp(),
    "log": lambda a: (a * a + 0.5).log(),
    "relu": lambda a: (a + 0.3).relu(),
    "square": lambda a: (a * 0.5) * (a * 0.5),
    "power": lambda a: (a * 0.5) ** 2,
    "root": lambda a: (a * a + 0.25).sqrt(),
    "neg": lambda a: -a,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a.tanh() * b.tanh(),
    "div": lambda a, b: a / (b * b + 1.0),
    "max": lambda a, b: rg.math.maximum(a, b),
}
PLACE = st.integers(0, 99)
STEP = st.one_of(
    st.tuples(st.sampled_from(sorted(UNARY)), PLACE),
    st.tuples(st.sampled_from(sorted(BINARY)), PLACE, PLACE),
    st.tuples(st.just("data"), PLACE, st.integers(0, 2)),
    st.tuples(st.just("layer"), PLACE, PLACE, st.integers(1, 4)),
    st.tuples(st.just("softmax"), PLACE, st.integers(2, 4)),
    st.tuples(st.just("total"), PLACE),
)


def run(steps: Sequence[tuple[Any, ...]], points: Sequence[Sequence[float]], leaves: Sequence[Value]) -> Any:
    """Every step is taken for all points: ``columns`` are what they have so far."""
    columns: list[list[Any]] = [[leaves[k] * x[k] + leaves[k + 3] for x in points] for k in range(3)]
    shared: list[Any] = list(leaves)
    for name, *how in steps:
        one = columns[how[0] % len(columns)]
        if name in UNARY:
            columns.append([UNARY[name](a) for a in one])
        elif name in BINARY:
            other = columns[how[1] % len(columns)]
            columns.append([BINARY[name](a, b) for a, b in zip(one, other, strict=True)])
        elif name == "data":
            columns.append([a * x[how[1]] for a, x in zip(one, points, strict=True)])
        elif name == "layer":
            first, width = how[1], how[2]
            for j in range(width):
                weights = [shared[(first + j + i) % len(shared)] for i in range(3)]
                rows = [columns[(how[0] + i) % len(columns)] for i in range(3)]
                columns.append(
                    [sum(w * row[p] for w, row in zip(weights, rows, strict=True)).tanh() for p in range(len(points))]
                )
        elif name == "softmax":
            rows = [columns[(how[0] + i) % len(columns)] for i in range(how[1])]
            columns.append([rg.math.logsumexp([row[p] for row in rows]) for p in range(len(points))])
        else:
            shared.append((sum(one) * (1.0 / len(one))).tanh())
            columns.append([a * shared[-1] for a in one])
    return sum(sum(a * 0.1 for a in column[-1:]) for column in columns) + sum(
        (a + b) * (1.0 / len(points)) for a, b in zip(columns[-1], columns[-2], strict=True)
    )


@pytest.mark.parametrize("name", TIERS)
@given(steps=st.lists(STEP, min_size=2, max_size=8), count=st.integers(64, 100), seed=st.integers(0, 9))
@settings(max_examples=15 if ALL else 5, deadline=None, suppress_health_check=list(HealthCheck))
def test_steps_for_many_points(name: str, steps: list[tuple[Any, ...]], count: int, seed: int) -> None:
    if name == "llvm":
        require("llvmlite")
    leaves, points = values(6, seed), numbers(count, 3, seed)

    def function() -> Any:
        return run(steps, points, leaves)

    expected = eagerly(function, leaves, ())
    compiled = rg.compile(function, tier=name)
    for _ in range(2):
        assert_near(backward(compiled, leaves, ()), expected, 1e-10, steps)
        assert_near((compiled(), []), (expected[0], []), 1e-10, steps)
    for program in compiled.stats().programs:
        assert compiled._cache.verify(program.number) == ""
