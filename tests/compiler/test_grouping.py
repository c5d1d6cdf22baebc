"""Records of several kinds in any order: the terms of a sum that are computed alike come side by side."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.loop_cases import cache_of, check, numbers
from support.parts import ALL

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops import pipeline
    from retrograd.compiler.backends.loops.shapes.sections import find_structure, forms_of


@pytest.fixture
def grouped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The graph in which terms are grouped is taken, however fast it is; how many there were to choose from."""
    found: list[int] = []

    def last(graphs: Sequence[Any], *_: Any) -> Any:
        found.append(len(graphs))
        return graphs[-1]

    monkeypatch.setattr(pipeline, "find_fastest_graph", last)
    return found


def heat(p: list[Any], x: float) -> Any:
    return (rm.exp(-p[0] * x) - p[1]) ** 2


def wave(p: list[Any], x: float) -> Any:
    phase = p[2] * x
    for k in range(4):
        phase = phase + rm.sin(phase + k) * p[3]
    return abs(phase) * x


def drift(p: list[Any], x: float) -> Any:
    return rm.log(1.0 + p[4] * p[4] * x)


KINDS: tuple[Callable[[list[Any], float], Any], ...] = (heat, wave, drift)


def positions_of(compiled: Any) -> list[int]:
    """How many nodes of code each of the graphs takes that a program may be compiled from."""
    cache = cache_of(compiled)
    graphs = forms_of(cache.scalar_graph(cache.facts()[0]["number"], True))
    return [len(list(find_structure(graph).positions())) for graph in graphs]


def test_records_of_three_kinds_in_any_order_are_three_loops(grouped: list[int]) -> None:
    rng = random.Random(5)
    kinds = [rng.randrange(3) for _ in range(60)]

    def loss(p: list[Any], xs: list[float]) -> Any:
        total: Any = 0.0
        for kind, x in zip(kinds, xs, strict=True):
            total = total + KINDS[kind](p, x)
        return total / len(xs)

    compiled = check(loss, *((numbers(5, seed), numbers(60, seed + 9)) for seed in range(4)))
    plain, short = positions_of(compiled)
    assert short < 100 < plain


def test_what_is_alike_already_is_left_as_it_is() -> None:
    def loss(p: list[Any], xs: list[float]) -> Any:
        return sum(wave(p, x) for x in xs)

    compiled = rg.compile(loss)
    compiled.value_and_grad(numbers(5), numbers(60))
    cache = cache_of(compiled)
    assert len(forms_of(cache.scalar_graph(cache.facts()[0]["number"], True))) == 1


@pytest.mark.parametrize("add", ["sum", "fsum", "rm.sum", "-="])
def test_every_way_to_add(add: str, grouped: list[int]) -> None:
    rng = random.Random(7)
    kinds = [rng.randrange(3) for _ in range(30)]

    def loss(p: list[Any], xs: list[float]) -> Any:
        terms = [KINDS[kind](p, x) for kind, x in zip(kinds, xs, strict=True)]
        if add == "-=":
            total = p[0] * 3.0
            for n, term in enumerate(terms):
                total = total - term if n % 3 else total + term
            return total
        return {"sum": sum, "fsum": rm.fsum, "rm.sum": rm.sum}[add](terms) * p[1]

    check(loss, *((numbers(5, seed), numbers(30, seed + 9)) for seed in range(3)))
    assert grouped[-1] > 1


@pytest.mark.parametrize("seed", range(60 if ALL else 10))
def test_random_terms(seed: int, grouped: list[int]) -> None:
    """Terms share what they are computed from, are leaves, or decide something; the sum goes on, and others begin."""
    rng = random.Random(seed)
    count = rng.randint(10, 40)
    plan = [(rng.randrange(7), rng.randrange(3), rng.randrange(5)) for _ in range(count)]

    def f(p: list[Any], xs: list[float]) -> Any:
        total, other, last = p[0] * 1.0, p[1] * 0.0, p[2] * xs[0]
        shared: list[Any] = []
        for (how, kind, k), x in zip(plan, xs, strict=True):
            term = KINDS[kind](p, x)
            if how == 1:
                shared.append(term * p[k])
            elif how == 2 and shared:
                term = term + shared[-1] * x
            elif how == 3 and len(shared) > 1:
                term = shared[k % len(shared)] * shared[-1]
            elif how == 4:
                other = other + term * x
            elif how == 5:
                term = rm.where(term > p[k], term, p[k] * x)
            elif how == 6:
                term = p[k] if kind else 2.0 * p[k]
            if how == 4 and kind == 2:
                last = 0.5 * last + term
            total = total - term if how == k else total + term
        return total * (1.0 + rm.tanh(other)) + rm.sin(total) * last

    check(f, *((numbers(5, seed + call), numbers(count, seed + call + 50)) for call in range(3)), bound=1e-10)
