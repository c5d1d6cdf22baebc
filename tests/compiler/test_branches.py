"""Loops that do some things only at times, as their data say: one loop in machine code, against the engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.lane_cases import check, graph_of
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.shapes import branches, costs
    from retrograd.compiler.backends.loops.shapes.sections import find_structure
    from retrograd.compiler.backends.loops.shapes.structure import bodies_of

_DRAW = random.Random(11)
_SERIES = [_DRAW.gauss(0.0, 1.0) for _ in range(150)]
_SEEN = [None if _DRAW.random() < 0.35 else _DRAW.gauss(0.0, 1.0) for _ in range(150)]


@pytest.fixture(autouse=True)
def _short_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the shortest code, whatever time it takes."""
    monkeypatch.setattr(costs, "_CODE", 1e3)


def numbers(count: int, seed: int = 0, low: float = 0.2, high: float = 1.0) -> list[float]:
    rng = random.Random(seed)
    return [rng.uniform(low, high) for _ in range(count)]


def structure_of(compiled: Any) -> list[tuple[int, int]]:
    """Of each loop, how many iterations it has in all, and how many an instance has at least."""
    top = find_structure(graph_of(compiled), scalars=True)
    return [(body.times, int(body.counts.min())) for body in bodies_of(top) if body is not top]


def leverage(p: list[Any]) -> Any:
    """GJR-GARCH: a negative return counts for more."""
    variance, total = 1.0, 0.0
    for r in _SERIES:
        error = r - p[0]
        total = total + 0.5 * (rm.log(variance) + error * error / variance)
        if r < 0:
            variance = p[1] + (p[2] + p[3]) * error * error + 0.5 * p[4] * variance
        else:
            variance = p[1] + p[2] * error * error + 0.5 * p[4] * variance
    return total


def filtered(p: list[Any]) -> Any:
    """A local level and trend, some of whose observations are missing."""
    level, trend = p[3], p[4] * 0.1
    a, b, c = 1.0, 0.0, 1.0
    total: Any = 0.0
    for y in _SEEN:
        level = level + trend
        a, b, c = a + 2.0 * b + c + p[0], b + c, c + p[1]
        if y is None:
            continue
        spread = a + p[2]
        error, gain, other = y - level, a / spread, b / spread
        total = total + 0.5 * (rm.log(spread) + error * error / spread)
        level, trend = level + gain * error, trend + other * error
        a, b, c = a * (1.0 - gain), b * (1.0 - gain), c - other * b
    return total


@pytest.mark.parametrize("f", [leverage, filtered])
def test_branches_that_data_decide_are_parts_of_one_loop(f: Callable[..., Any]) -> None:
    compiled = check(f, *((numbers(5, seed),) for seed in range(4)))
    loops = structure_of(compiled)
    assert any(least == 0 for _, least in loops)
    assert max(times for times, _ in loops) > 60


def test_what_only_some_iterations_do_may_have_a_domain() -> None:
    """The logarithm of what is negative elsewhere."""

    def f(p: list[Any]) -> Any:
        x, total = p[0], 0.0
        for z in _SERIES:
            x = 0.9 * x + 0.3 * z * p[1]
            x = x + 0.1 * rm.sin(x) * p[2] - 0.05 * x * x * p[3]
            y = z * p[4]
            if z > 0:
                total = total + rm.log(y) * x
                total = total + rm.sqrt(y) / y
            else:
                total = total - rm.log(-y) * x
        return total

    compiled = check(f, *((numbers(5, seed),) for seed in range(3)))
    assert any(least == 0 for _, least in structure_of(compiled))
    assert compiled.stats().programs[0].exceptional == 0


def test_a_branch_does_not_read_what_another_branch_has_computed() -> None:
    """The cosine of one branch is the partial of the sine of the other, of the same number."""

    def f(p: list[Any]) -> Any:
        x, total = p[0], 0.0
        for y, z in zip(_SEEN, _SERIES, strict=True):
            x = 0.9 * x + 0.3 * z * p[1]
            x = x + 0.1 * p[2] * x / (1.0 + x * x) - 0.05 * rm.exp(-x * x) * p[3]
            if y is not None:
                total = total + rm.sin(x) * p[3]
            total = total * 0.99 + x * x * p[2]
            if z > 0.1:
                total = total + rm.cos(x) * p[1]
            total = total * 0.99 + x * p[3] / (2.0 + x * x)
        return total

    compiled = check(f, *((numbers(4, seed),) for seed in range(3)))
    assert [least for _, least in structure_of(compiled)].count(0) > 1


def test_a_domain_error_in_a_branch_is_the_engine_s() -> None:
    compiled = check(filtered, (numbers(5),))
    bad = [0.1, 0.1, -900.0, 0.1, 0.1]
    with pytest.raises(ValueError, match="log"):
        compiled.value_and_grad(bad)
    good = numbers(5, 3)
    assert compiled.value_and_grad(good)[0] == pytest.approx(rg.value_and_grad(filtered)(good)[0], rel=1e-12)


@pytest.mark.parametrize("seed", range(100) if ALL else [*range(14), 20, 90])  # 90: one state waits for another's input
def test_random_branches(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "_NODES_A_CHOICE", 0)  # also where it does not pay
    check(random_branches(seed), *((numbers(4, seed + k),) for k in range(3)), bound=1e-9)


def random_branches(seed: int) -> Callable[..., Any]:
    """States that go on by random operators, some of them only where a table says so, and are read afterwards."""
    rng = random.Random(seed)
    steps, states, kinds = rng.randint(60, 120), rng.randint(1, 3), rng.randint(2, 4)
    which = [rng.randrange(kinds) for _ in range(steps)]
    plans = [
        [(rng.choice("amtsdl"), rng.randrange(3), rng.randrange(3)) for _ in range(rng.randint(0, 5))]
        for _ in range(kinds)
    ]
    always = [(rng.choice("amts"), rng.randrange(3), rng.randrange(3)) for _ in range(rng.randint(3, 6))]
    skips, sums, late, turns = (rng.random() < most for most in (0.4, 0.6, 0.5, 0.4))
    data = [rng.uniform(-1, 1) for _ in range(steps)]

    def operate(kind: str, x: Any, y: Any, w: Any, z: float) -> Any:
        match kind:
            case "a":
                return 0.5 * (x + y) + 0.1 * w * z
            case "m":
                return 0.5 * x * rm.tanh(y)
            case "t":
                return rm.tanh(x + z * y)
            case "s":
                return rm.sin(x - y * w)
            case "d":
                return x / (1.5 + y * y)
            case _:
                return rm.log(1.0 + x * x + w * w) - 0.1 * y

    def f(p: list[Any]) -> Any:
        state = [p[i % 4] * 1.0 for i in range(states)]
        total: Any = 0.0
        last: Any = p[0]
        kept = []
        for k, z in enumerate(data):
            for kind, i, j in always:
                state[i % states] = operate(kind, state[i % states], state[j % states], p[j], z)
            if skips and which[k] == 0:
                continue
            for kind, i, j in plans[which[k]]:
                state[i % states] = operate(kind, state[i % states], state[j % states], p[i], z)
            if sums and which[k] == 1:
                total = total + (state[0] - z) * (state[0] - z)
            if turns and which[k] < 2:
                total = total + 0.1 * (rm.sin, rm.cos)[which[k]](state[0])
            if late and which[k] == kinds - 1:
                last = 0.5 * last + state[-1]
            kept.append(state[0])
        return total + rg.sum(state) + last * p[1] + kept[len(kept) // 2] * kept[-1]

    return f


def test_rare_iterations_end_a_loop_and_others_begin() -> None:
    """Loans of other terms: most months are of few kinds, but for those in which a loan is called."""
    draw = random.Random(4)
    terms = [draw.randrange(20, 40) for _ in range(30)]
    called = {3: 17, 11: 9, 23: 14}

    def f(p: list[Any]) -> Any:
        total = 0.0
        for loan, term in enumerate(terms):
            left = 1.0 + 0.01 * loan
            hazard = 0.02 * rm.exp(p[0] * left)
            for month in range(term):
                lost = left * hazard
                rate = p[1] * _SERIES[month]
                if _SERIES[month] > 0.0:
                    rate = rate + p[2] * _SERIES[month] * left
                spread = 1.0 + 0.1 * rm.sin(left) * rm.exp(-rate * rate) + 0.2 * rm.tanh(lost * p[3] + rate * left)
                left = left - lost * spread - 0.05 * rm.tanh(rate) * left
                total = total + lost * rm.exp(-0.01 * p[3] * month) - rate * rate * left
                if called.get(loan) == month:
                    for k in range(loan % 4 + 1):
                        total = total + rm.sin(left * (k + 1.0)) * p[loan % 4]
                    for k in range(loan):
                        total = total + rm.exp(-left * k)
                    break
        return total

    compiled = check(f, *((numbers(4, seed),) for seed in range(3)), bound=1e-10)
    assert sum(count for count, least in structure_of(compiled) if least > 0) > 500
    graph = graph_of(compiled)
    assert 10 * len([*find_structure(graph, scalars=True).positions()]) < len(graph)
