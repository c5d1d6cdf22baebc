"""Graphs at rest: packed and unpacked they are the same, and a program gives the same before and after."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as m
from retrograd.engine import ENGINE

pytestmark = pytest.mark.skipif(ENGINE != "native", reason="the native engine keeps graphs")


def decay(x: Any, rate: Any) -> Any:
    """A loop."""
    for k in range(40):
        x = x - rate * x * (0.5 if k % 7 else 0.25)
    return x


def tangle(seed: int) -> Callable[..., Any]:
    """A function without a pattern."""

    def function(xs: Any) -> Any:
        draw = random.Random(seed)
        known = list(xs)
        for _ in range(150):
            a, b = draw.choice(known), draw.choice(known)
            known.append(
                draw.choice(
                    [
                        lambda a=a, b=b: a * b + 0.5,
                        lambda a=a, b=b: a - draw.random() * b,
                        lambda a=a: m.tanh(a),
                        lambda a=a, b=b: m.where(a < b, a, 2.0 * b),
                        lambda: m.sum(known[-4:]),
                        lambda: m.dot(known[-3:], known[:3]),
                    ]
                )()
            )
            known[-1] = m.tanh(known[-1])
        return m.sum(known)

    return function


CASES = [(decay, (0.7, 0.1)), *[(tangle(seed), ([0.3, -0.2, 0.9],)) for seed in range(12)]]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_a_packed_graph_is_the_same(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    f = rg.compile(function)
    expected = rg.value_and_grad(function)(*arguments)
    first = f.value_and_grad(*arguments)
    cache: Any = f._cache
    before = [cache.scalar_graph(0, once) for once in (False, True)], cache.stages(0)["lift"]
    text = f.program(after="lift"), f.program()
    left = cache.rest(0)
    assert left == cache.inventory()[0][1]
    assert ([cache.scalar_graph(0, once) for once in (False, True)], cache.stages(0)["lift"]) == before
    assert (f.program(after="lift"), f.program()) == text
    assert f.value_and_grad(*arguments) == first
    assert first[0] == pytest.approx(expected[0], rel=1e-12)
    assert cache.rest(0) > 0


def test_operators_of_many_operands_and_indices_are_packed() -> None:
    table = [rg.Value(0.1 * k) for k in range(6)]

    def loss(tokens: Any) -> Any:
        logits = [rg.take(table, token) * table[(k + 1) % 6] for k, token in enumerate(tokens)]
        weights = m.softmax(logits)
        return -m.log(weights[0]) + m.logsumexp(logits) * m.mean(table) + max(logits) + m.prod(table[1:])

    f = rg.compile(loss)
    tokens = [rg.Index(1), rg.Index(3), rg.Index(2)]
    f.backward(tokens)
    before = f._cache.stages(0)["lift"]
    f._cache.rest(0)
    assert f._cache.stages(0)["lift"] == before
    for turn in range(20):
        tokens = [rg.Index((turn + k) % 6) for k in range(3)]
        for value in table:
            value.grad = 0.0
        got, gradients = f.backward(tokens), [value.grad for value in table]
        for value in table:
            value.grad = 0.0
        wanted = loss(tokens)
        wanted.backward()
        assert got == pytest.approx(wanted.data, rel=1e-12)
        assert gradients == pytest.approx([value.grad for value in table], rel=1e-12)
        f._cache.rest(0)


@pytest.mark.parametrize("exact", [False, True])
def test_a_program_at_rest_meets_numbers_that_the_engine_has_rules_for(exact: bool) -> None:
    f = rg.compile(lambda x, y: m.log(x) * y + y, exact=exact)
    for x in (2.0, 3.0):
        f.value_and_grad(x, 0.5)
        f._cache.rest(0)
    with pytest.raises(ValueError, match="log"):
        f.value_and_grad(-1.0, 0.5)
    assert f.value_and_grad(2.0, 0.5) == rg.value_and_grad(lambda x, y: m.log(x) * y + y)(2.0, 0.5)


def test_large_programs_of_many_kinds_of_calls_rest_and_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd.compiler import examples

    def loss(xs: list[Any]) -> Any:
        hidden = [m.tanh(sum(0.01 * (row + column) * x for column, x in enumerate(xs))) for row in range(40)]
        return sum(h * h for h in hidden)

    monkeypatch.setattr(examples, "BYTES", 1_000_000)
    f = rg.compile(loss)
    for turn in range(72):
        xs = [0.02 * (turn % 5), *[0.1] * (30 + turn // 2 * 7 % 12)]
        value, gradient = f.value_and_grad(xs)
        wanted, slopes = rg.value_and_grad(loss)(xs)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert gradient == pytest.approx(slopes, rel=1e-9)
    assert len(f._cache.inventory()) == 12, "none of them had to be dropped"
    assert f.stats().traces == 12
