"""What the tests of ``retrograd.compile`` share: the eager run that a compiled function must equal, and how nearly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import retrograd as rg
from retrograd import Value

#: What makes one of a compiled function's kinds: vector programs, the interpreted graph, exact numbers.
KINDS: dict[str, dict[str, Any]] = {
    "vm": {"tier": "vm"},
    "interpreter": {"tier": "interpreter"},
    "exact": {"exact": True},
}

#: How far a number may be from the engine's, relative to the largest magnitude among the numbers of its kind (the
#: value, or the gradients), at least 1. The tape and exact programs give the same bits.
BOUNDS = {"vm": 1e-12, "interpreter": 0.0, "exact": 0.0}

native = pytest.mark.native  # the reference engine compiles nothing


def eagerly(
    function: Callable[..., Any], leaves: Sequence[Value], arguments: Sequence[Any]
) -> tuple[float, list[float]]:
    """The value and the gradients of ``leaves``, which the engine gives from zero gradients."""
    for leaf in leaves:
        leaf.grad = 0.0
    result = function(*arguments)
    if isinstance(result, Value):
        result.backward()
        result = result.data
    return float(result), [leaf.grad for leaf in leaves]


def backward(compiled: Any, leaves: Sequence[Value], arguments: Sequence[Any]) -> tuple[float, list[float]]:
    """The same of a compiled function's ``backward``."""
    for leaf in leaves:
        leaf.grad = 0.0
    value = compiled.backward(*arguments)
    return value, [leaf.grad for leaf in leaves]


def mean_of_eager(
    function: Callable[..., Any], leaves: Sequence[Value], members: Sequence[tuple[Any, ...]]
) -> tuple[float, list[float]]:
    """What ``backward_batch`` must give: the mean of the members' values and gradients."""
    gradients, total = [0.0] * len(leaves), 0.0
    for member in members:
        value, one = eagerly(function, leaves, member)
        total += value
        gradients = [a + b / len(members) for a, b in zip(gradients, one, strict=True)]
    return total / len(members), gradients


def batch(compiled: Any, leaves: Sequence[Value], members: Sequence[tuple[Any, ...]]) -> tuple[float, list[float]]:
    """What it gives, from zero gradients."""
    for leaf in leaves:
        leaf.grad = 0.0
    return compiled.backward_batch(members), [leaf.grad for leaf in leaves]


def same(a: float, b: float) -> bool:
    """Whether two numbers are the same bits, up to the sign of zero, or both NaN."""
    return a == b or (math.isnan(a) and math.isnan(b))


def data_of(number: Any) -> float:
    """The number of a Value, or the number itself."""
    return number.data if isinstance(number, Value) else number


def near(found: Sequence[Any], expected: Sequence[float], bound: float) -> bool:
    """Whether numbers, or those of Values, are equal up to ``bound`` times the largest expected one (or 1)."""
    found = list(map(data_of, found))
    scale = max([1.0, *(abs(number) for number in expected if math.isfinite(number))])
    return len(found) == len(expected) and all(
        same(a, b) or abs(a - b) <= bound * scale for a, b in zip(found, expected, strict=True)
    )


def assert_near(
    found: tuple[float, list[float]], expected: tuple[float, list[float]], bound: float, what: object
) -> None:
    assert near([found[0]], [expected[0]], bound), (what, "value", found[0], expected[0])
    if not near(found[1], expected[1], bound):
        wrong = [(i, a, b) for i, (a, b) in enumerate(zip(found[1], expected[1], strict=True)) if not same(a, b)]
        worst = sorted(wrong, key=lambda entry: -abs(entry[1] - entry[2]))[:5]
        raise AssertionError((what, f"{len(wrong)} of {len(expected[1])} gradients, the worst", worst))


def assert_whole(compiled: Any, kind: str) -> None:
    """No call fell back to the engine, every program is sound, and of the tier that was asked for."""
    statistics = compiled.stats()
    assert statistics.eager == 0, statistics.reasons
    for program in statistics.programs:
        assert program.tier == ("vm" if kind == "vm" else "interpreter")
        assert compiled._cache.verify(program.number) == ""
    if statistics.programs:
        assert compiled.program()


Point = tuple[Sequence[float], Sequence[Any]]  #: numbers for the leaves, and the arguments


def assert_equals_eager(
    function: Callable[..., Any],
    leaves: Sequence[Value],
    points: Sequence[Point],
    kinds: Sequence[str] = tuple(KINDS),
    bound: float | None = None,
) -> dict[str, Any]:
    """At every point, in each kind: ``backward``, which accumulates, and the plain call. What was compiled, by kind."""
    made = {}
    for kind in kinds:
        compiled = made[kind] = rg.compile(function, **KINDS[kind])
        allowed = BOUNDS[kind] if bound is None or kind in ("interpreter", "exact") else max(bound, BOUNDS[kind])
        for numbers, arguments in points:
            for leaf, number in zip(leaves, numbers, strict=True):
                leaf.data = number
            expected = eagerly(function, leaves, arguments)
            # The first call traces; the second one finds the program.
            for _ in range(2):
                found = backward(compiled, leaves, arguments)
                assert_near(found, expected, allowed, (kind, numbers, arguments))
            function_again = function(*arguments)
            if isinstance(function_again, Value):
                function_again.backward()
            twice = [leaf.grad for leaf in leaves]
            for leaf, number in zip(leaves, expected[1], strict=True):
                leaf.grad = number
            compiled.backward(*arguments)
            assert near([leaf.grad for leaf in leaves], twice, allowed), (kind, "accumulated")
            assert near([compiled(*arguments)], [expected[0]], allowed), (kind, "call")
        assert_whole(compiled, kind)
    return made
