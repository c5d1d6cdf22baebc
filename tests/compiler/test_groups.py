"""Machine code that runs members of a batch side by side, one in each element of vectors."""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from support.compiled_cases import assert_near, mean_of_eager, native
from support.parts import ALL, require

import retrograd as rg
from retrograd import Value, engine
from retrograd import math as rmath
from retrograd.compiler.backends.loops.passes.formulas import _LIBRARY
from retrograd.ops import BY_NAME

pytestmark = native

STEPS = 40


@pytest.fixture(autouse=True)
def _llvm() -> None:
    require("llvmlite")


def repeated(step: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A recurrence, whose code is a loop."""

    def function(x: Any, y: Any) -> Any:
        for _ in range(STEPS):
            x = step(x, y)
        return x * x + y

    return function


STEP: dict[str, Callable[[Any, Any], Any]] = {
    "products": lambda x, y: x + 0.01 * (y - x * y),
    "quotients": lambda x, y: 1.0 / (1.0 + x * x) + y / 3.0,
    "roots": lambda x, y: rmath.sqrt(x * x + 1.0) * 0.5 + (1.0 + y * y) ** 0.5,
    "powers": lambda x, y: 0.1 * (1.0 + x * x) ** 1.5 / (1.0 + x**4) + (2.0 + y) ** y * 0.1,
    "exponentials": lambda x, y: rmath.exp(-x * x) + y * rmath.log(2.0 + x * x),
    "waves": lambda x, y: rmath.sin(x + y) + 0.5 * rmath.cos(x * y),
    "sigmoids": lambda x, y: (x * y).tanh() + (x - y).sigmoid(),
    "errors": lambda x, y: rmath.erf(x) + rmath.erfc(x * y) + rmath.log1p(x * x),
    "library": lambda x, y: rmath.atan2(x, 2.0 + y * y) + rmath.asinh(x) + rmath.hypot(x, 1.0 + y),
    "larger": lambda x, y: rmath.maximum(x - y, 0.3 * x) + rg.where(x < y, 0.1 * x, 0.2 * y),
    "absolute": lambda x, y: abs(x - y) - 0.5 * (-x),
}


def grouped(function: Callable[..., Any], members: list[tuple[Any, ...]]) -> Any:
    """The compiled function, whose batches run in groups from now on."""
    compiled = rg.compile(function, tier="llvm")
    for _ in range(2):
        compiled.value_and_grad_batch(members)
    facts = compiled._cache.facts()
    assert [fact["side_by_side"] > 1 for fact in facts] == [True] * len(facts)
    return compiled


def members_of(count: int, seed: int = 1) -> list[tuple[float, float]]:
    draw = random.Random(seed)
    return [(draw.uniform(-1.0, 1.0), draw.uniform(-1.0, 1.0)) for _ in range(count)]


def test_each_member_has_an_index_of_its_own() -> None:
    """What indices select is another leaf in each member, and gets its gradient; a wrong index is refused."""
    weights = [Value(0.2 * k - 0.3) for k in range(5)]

    def function(x: Any, i: rg.Index, j: rg.Index) -> Any:
        for k in range(STEPS):
            x = 0.5 * x + rg.take(weights, i) * rmath.tanh(x) + rg.take([0.1, 0.2, 0.3], j)
            x = x - 0.1 * rg.take([x * x, x, 0.1 * k], j)
        return x * x

    draw = random.Random(0)
    members = [(draw.uniform(-1.0, 1.0), rg.Index(draw.randrange(5)), rg.Index(draw.randrange(3))) for _ in range(27)]
    compiled = grouped(function, members)
    for some in (members, members[::-1], members[:5]):
        for weight in weights:
            weight.grad = 0.0
        found = compiled.backward_batch(some), [weight.grad for weight in weights]
        assert_near(found, mean_of_eager(function, weights, some), 1e-12, len(some))
    with pytest.raises(IndexError):
        compiled.backward_batch([*members, (0.5, rg.Index(5), rg.Index(0))])


@pytest.mark.parametrize("count", [2, 5, 8, 27] if ALL else [5, 27])
@pytest.mark.parametrize("name", STEP)
def test_each_member_is_as_if_alone(name: str, count: int) -> None:
    function = repeated(STEP[name])
    members = members_of(count)
    compiled = grouped(function, members)
    found = compiled.value_and_grad_batch(members)
    for (value, slope), member in zip(found, members, strict=True):
        expected, other = rg.value_and_grad(function)(*member)
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
        assert slope == pytest.approx(other, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("threads", [None, 1, 2, 3])
@pytest.mark.parametrize("count", [3, 16, 100])
def test_gradients_of_parameters_are_added_up(count: int, threads: int | None) -> None:
    p = [Value(v) for v in (1.1, 0.4, 0.1, 0.4)]

    def simulated(x: Any, y: Any) -> Any:
        for _ in range(STEPS):
            x, y = x + 0.01 * (p[0] * x - p[1] * x * y), y + 0.01 * (p[2] * x * y - p[3] * y)
        return (x - 1.0) ** 2 + p[0] * (y - 2.0) ** 2

    shared = Value(0.7)
    members: list[tuple[Any, ...]] = [*members_of(count), (shared, 0.5)]
    compiled = rg.compile(simulated, tier="llvm")
    for _ in range(2):
        compiled.backward_batch(members, threads=threads)
    assert compiled._cache.facts()[0]["side_by_side"] > 1
    for leaf in (*p, shared):
        leaf.grad = 0.0
    value = compiled.backward_batch(members, threads=threads)
    found = [leaf.grad for leaf in (*p, shared)]
    assert_near((value, found), mean_of_eager(simulated, [*p, shared], members), 1e-12, count)


def test_the_same_bits_on_any_number_of_threads() -> None:
    members = members_of(2000)
    compiled = grouped(repeated(STEP["exponentials"]), members)
    one, two, five = (compiled.value_and_grad_batch(members, threads=n) for n in (1, 2, 5))
    assert one == two == five


def test_members_that_take_another_branch_leave_the_group() -> None:
    def bent(x: Any, y: Any) -> Any:
        for _ in range(STEPS):
            x = x + 0.01 * (y - x * y)
        return x * y if x > 0.5 else x - y * y

    members = members_of(60)
    compiled = rg.compile(bent, tier="llvm")
    for _ in range(3):
        found = compiled.value_and_grad_batch(members)
    assert found == [pytest.approx(rg.value_and_grad(bent)(*member)) for member in members]
    assert len(compiled._cache.facts()) == 2


def test_a_member_outside_the_domain_raises_and_the_others_do_not() -> None:
    def logarithms(x: Any, y: Any) -> Any:
        for _ in range(STEPS):
            x = x + 0.001 * rmath.log(x + y)
        return x

    members = [(2.0 + x, 2.0) for x, _ in members_of(11)]
    compiled = grouped(logarithms, members)
    bad = [*members[:4], (-3.0, 1.0), *members[4:]]
    for call in (compiled.value_and_grad_batch, compiled.backward_batch, compiled.call_batch):
        with pytest.raises(ValueError, match="log"):
            call(bad)
    found = compiled.value_and_grad_batch(members)
    assert found == [pytest.approx(rg.value_and_grad(logarithms)(*member)) for member in members]


def test_what_is_not_finite_is_the_engines() -> None:
    def growing(x: Any, y: Any) -> Any:
        for _ in range(STEPS):
            x = x * x * y
        return x

    members = [(0.9, 1.0), (1.5, 1.0), (1.01, 1.0), (3.0, 1.0), (0.5, 0.0)]
    compiled = grouped(growing, members[:1] * 9)
    with rg.errstate(over="ignore", invalid="ignore"):
        found = compiled.value_and_grad_batch(members)
        expected = [rg.value_and_grad(growing)(*member) for member in members]
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, nan_ok=True)


def test_several_results_and_constants() -> None:
    def states(x: Any, y: Any) -> list[Any]:
        for _ in range(STEPS):
            x = x + 0.01 * (y - x * y)
        return [x, y, 3.0, x * y]

    members = members_of(21)
    compiled = rg.compile(states, tier="llvm")
    for _ in range(3):
        found = compiled.call_batch(members)
    assert compiled._cache.facts()[0]["side_by_side"] > 1
    assert found == [pytest.approx(states(*member)) for member in members]


def test_parameters_that_change_are_seen() -> None:
    w = Value(0.5)

    def function(x: Any) -> Any:
        for _ in range(STEPS):
            x = x + 0.01 * (w - x * w)
        return x

    members = [(x,) for x, _ in members_of(20)]
    compiled = rg.compile(function, tier="llvm")
    for number in (0.5, 0.25, -2.0, 3.0):
        w.data = number
        w.grad = 0.0
        value = compiled.backward_batch(members)
        found = [w.grad]
        assert_near((value, found), mean_of_eager(function, [w], members), 1e-12, number)


def test_functions_of_vectors() -> None:
    """Those of one number, against the engine: on a grid, far out, near zero, at zeros and infinities."""
    width, functions = rg.compile(abs)._cache.vector_functions()
    assert {"exp", "log", "sin", "cos", "tanh", "erf", "erfc", "log1p"} <= functions.keys()
    points = [k / 7.0 for k in range(-60, 60)] + [s * 10.0**k for k in range(-300, 300, 7) for s in (1.0, -1.0)]
    points += [0.0, -0.0, math.inf, -math.inf, math.nan, 709.7, -745.0, 1e-320]
    points += [0.0] * (-len(points) % width)
    vector = ctypes.c_double * width
    for name in {name for name in functions.keys() & _LIBRARY.keys() if BY_NAME[name].arity == 1}:
        function = ctypes.CFUNCTYPE(None, vector, vector, vector)(functions[name])
        for i in range(0, len(points), width):
            result = vector()
            given = vector(*points[i : i + width])
            function(result, given, given)
            for x, y in zip(points[i : i + width], result, strict=True):
                try:
                    expected = engine.apply(name, Value(x)).data
                except (ArithmeticError, ValueError):  # outside the domain, which the code checks
                    continue
                assert y == pytest.approx(expected, rel=2e-15, abs=5e-324, nan_ok=True), (name, x)


def test_hot_batches_get_code_for_groups() -> None:
    compiled = rg.compile(repeated(STEP["products"]))
    members = members_of(50)
    expected = [rg.value_and_grad(repeated(STEP["products"]))(*member) for member in members]
    for _ in range(400):
        found = compiled.value_and_grad_batch(members)
        if (facts := compiled._cache.facts()) and facts[0]["side_by_side"] > 1:
            break
    assert found == [pytest.approx(one, rel=1e-11) for one in expected]
    assert compiled.value_and_grad_batch(members) == [pytest.approx(one, rel=1e-11) for one in expected]
