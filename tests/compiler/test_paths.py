"""A function with many paths through its branches: each path is traced once, and found again."""

import itertools
import math
import operator
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value

pytestmark = native


@pytest.fixture(autouse=True)
def _paths_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrograd.compiler.if_conversion.conversions._LEAST_PROGRAMS", 1000)


@pytest.fixture(autouse=True)
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():  # that nearly every call is traced
        warnings.simplefilter("ignore")
        yield


def kinked(w: list[float], xs: list[float]) -> Any:
    total: Any = 0.0
    for x in xs:
        total = total * 0.9 + (w[0] * x if x > 0.0 else w[1] * x * x)
    return total * total


def halved(w: list[float], xs: list[float]) -> Any:
    """As many steps as the number is large."""
    rest, steps = w[0] * xs[0], 0
    while rest > 1.0:
        rest, steps = rest * 0.5, steps + 1
    return rest * w[1] + steps


def compared_late(w: list[float], xs: list[float]) -> Any:
    """The first comparison waits for a long chain, the second one for nothing."""
    chain: Any = w[0]
    for x in xs:
        chain = (chain + x * w[1]).sin() if isinstance(chain, Value) else rg.math.sin(chain + x * w[1])
    first = chain * 2.0 if chain > 0.0 else chain * 3.0
    second = xs[0] * w[0] if xs[0] > 0.0 else w[1] * xs[1]
    return first * second if xs[1] > 0.0 else first + second


def long(w: list[float], xs: list[float]) -> Any:
    """Passes during which other threads run."""
    total: Any = 0.0
    for k in range(50):
        for x in xs:
            total = total * 0.99 + rg.math.sin(w[0] * x + k)
    return kinked(w, xs) + total


@pytest.mark.parametrize("tier", ["auto", "vm", "interpreter"])
@pytest.mark.parametrize(
    ("f", "size", "calls"), [(kinked, 20, 500), (halved, 1, 500), (compared_late, 6, 300), (long, 16, 60)]
)
def test_each_path_is_traced_once(f: Callable[..., Any], size: int, calls: int, tier: Any) -> None:
    draw = random.Random(3)
    samples = [[draw.choice([1.0, -1.0]) * 3.0 ** draw.uniform(-3.0, 3.0) for _ in range(size)] for _ in range(10)]
    w = [0.7, -0.3]
    expected = [rg.value_and_grad(f)(w, xs) for xs in samples]
    compiled, called = rg.compile(f, tier=tier), rg.compile(f, tier=tier)
    for k in range(calls):
        chosen = k % 10 if k < calls // 2 else draw.randrange(10)
        value, gradient = compiled.value_and_grad(w, samples[chosen])
        assert value == pytest.approx(expected[chosen][0], rel=1e-12)
        assert gradient == pytest.approx(expected[chosen][1], rel=1e-10)
        assert called(w, samples[chosen]) == pytest.approx(value, rel=1e-12)
    for one in (compiled, called):
        assert one.stats().traces == len(one.stats().programs) <= 10
    assert compiled.stats().hits > calls // 2 - 64


@pytest.mark.parametrize("tier", ["vm", "llvm"])
@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_each_comparison_decides_as_in_python(compare: Callable[[Any, Any], bool], tier: Any) -> None:
    """Of two numbers, and of a number and a plain one; equal ones and NaN among them."""
    if tier == "llvm":
        pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

    def f(x: list[Any]) -> Any:
        first = x[0] * 2.0 if compare(x[0], x[1]) else x[1] * 3.0
        return first * x[2] if compare(x[2], 0.5) else first + x[2] * x[2]

    compiled, numbers = rg.compile(f, tier=tier), (-0.0, 0.0, 0.5, 1.5, math.inf, math.nan)
    for _ in range(2):
        for x in itertools.product(numbers, numbers, (0.25, 0.5, 0.75, math.nan)):
            wanted, gradient = rg.value_and_grad(f)(list(x))
            value, found = compiled.value_and_grad(list(x))
            assert [value, *found] == pytest.approx([wanted, *gradient], nan_ok=True)
