"""What only decides has no derivative, and no code for one: the rule by which a loop goes one way or the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from support.loop_cases import cache_of, check

import retrograd as rg
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops.graphs.reading import read_graph
    from retrograd.compiler.backends.loops.pipeline import Passes, write_passes


def ruled(xs: Sequence[Any], rate: Any, counts: bool) -> Any:
    """Each number is taken or left by a rule that is fitted to all of them; the rule's own number may count, too."""
    weight: Any = 0.0
    for x in xs:
        weight = weight * 0.9 + rg.math.exp(x * rate)
    total: Any = 0.0
    for x in xs:
        total = total + rg.where(x * weight > 3.0, x * rate, weight if counts else rate)
    return total


def exercised(xs: Sequence[Any], rate: Any) -> Any:
    return ruled(xs, rate, False)


def weighted(xs: Sequence[Any], rate: Any) -> Any:
    return ruled(xs, rate, True)


def passes_of(f: Any, *arguments: Any) -> Passes:
    compiled = rg.compile(f)
    compiled.value_and_grad(*arguments)
    cache = cache_of(compiled)
    return write_passes(read_graph(cache.scalar_graph(cache.facts()[0]["number"], False)))


def with_adjoints(passes: Passes) -> set[str]:
    """The operators of what has an adjoint."""
    layout = passes.layout
    return {row for row, active in zip(layout.rows, layout.active, strict=True) if active}


def calls() -> list[tuple[list[float], float]]:
    return [([math.sin(3.0 * i + shift) for i in range(80)], rate) for shift, rate in ((0.0, 0.3), (1.0, 0.5))]


@pytest.mark.parametrize(("f", "counts"), [(exercised, False), (weighted, True)])
def test_only_what_the_result_is_made_of_goes_back(f: Any, counts: bool) -> None:
    check(f, *calls())
    found = with_adjoints(passes_of(f, *calls()[0]))
    assert "where" in found
    assert "greater" not in found
    assert ("exp" in found) == counts


def test_a_rule_that_a_loop_hands_on() -> None:
    """The rule's number and what it decides are handed on by one loop; only one of them has an adjoint."""

    def f(xs: Sequence[Any], rate: Any) -> Any:
        level: Any = 0.1
        total: Any = 1.0
        for x in xs:
            level = rg.math.tanh(level * rate + x)
            total = total * 0.5 + rg.where(level > 0.2, x * rate, x)
        return total

    check(f, *calls())
    found = with_adjoints(passes_of(f, *calls()[0]))
    assert "where" in found
    assert "tanh" not in found
