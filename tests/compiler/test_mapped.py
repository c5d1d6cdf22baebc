"""vmap of compiled functions, call_batch and value_and_grad_batch: the results of a loop, from programs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.compiled_cases import native
from support.parts import ALL, require

import retrograd as rg
from retrograd import Value
from retrograd import math as rmath

pytestmark = native

DRAW = random.Random(7)
XS = [DRAW.uniform(0.5, 2.0) for _ in range(300)]
YS = [DRAW.uniform(-1.0, 1.0) for _ in range(300)]


class Pair(NamedTuple):
    sum: Any
    product: Any


def smooth(x: Any, y: Any) -> Any:
    return rmath.sin(x * y) + x * x / (1.0 + y * y)


def bent(x: Any, y: Any) -> Any:
    """Three structures, by both arguments."""
    if x > 1.5:
        return x * y
    return rmath.exp(x) if y > 0.0 else x - y * y


def recurrence(x: Any, y: Any) -> Any:
    for _ in range(60):
        x, y = x + 0.01 * (y - x * y), y + 0.01 * (x - y)
    return x * x + y


FUNCTIONS = {"smooth": smooth, "bent": bent, "recurrence": recurrence}


def near(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            near(one, other)
    elif isinstance(expected, np.ndarray):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    else:
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize(
    ("tier", "threads"),
    [
        *(("vm", threads) for threads in ((None, 1, 3) if ALL else (None, 3))),
        ("interpreter", 3),
        *(pytest.param("interpreter", threads, marks=pytest.mark.long) for threads in (None, 1)),
        *(pytest.param("llvm", threads, marks=pytest.mark.long) for threads in (None, 3)),
    ],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_results_are_those_of_a_loop(name: str, tier: Any, threads: int | None) -> None:
    if tier == "llvm":
        require("llvmlite")
    f = FUNCTIONS[name]
    g = rg.compile(f, tier=tier)
    arrays = np.array(XS), np.array(YS)
    for _ in range(2):  # the second time everything has a program
        near(rg.vmap(g, threads=threads)(XS, YS), rg.vmap(f)(XS, YS))
        near(rg.vmap(g, threads=threads)(*arrays), rg.vmap(f)(*arrays))
        near(rg.vmap(g, in_axes=(0, None), threads=threads)(XS, 0.3), rg.vmap(f, in_axes=(0, None))(XS, 0.3))
        for transform in (rg.grad, rg.value_and_grad):
            for argnums in (0, 1, (1, 0)):
                fast = rg.vmap(transform(g, argnums=argnums), threads=threads)
                near(fast(XS, YS), rg.vmap(transform(f, argnums=argnums))(XS, YS))
                near(fast(*arrays), rg.vmap(transform(f, argnums=argnums))(*arrays))
    assert g.stats().eager == 0
    assert not any(one.eager for one in [g.differentiated_by([1], False).stats()])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_bits_on_any_number_of_threads(name: str) -> None:
    g = rg.compile(FUNCTIONS[name], tier="vm")
    members = list(zip(XS * 4, YS * 4, strict=True))
    found = [g.value_and_grad_batch(members, threads=threads) for threads in (1, 1, 2, 5)]
    assert found[1] == found[2] == found[3]
    assert [value for value, _ in found[1]] == g.call_batch(members, threads=2)


def test_arrays_are_rows_and_their_gradients_too() -> None:
    def f(row: Any, scale: float) -> Any:
        return rg.sum(row * row) * scale + row[0]

    rows = np.array([XS[:100], YS[:100], XS[100:200]]).T
    g = rg.compile(f)
    for _ in range(2):
        near(rg.vmap(rg.grad(g), in_axes=(0, None))(rows, 2.0), rg.vmap(rg.grad(f), in_axes=(0, None))(rows, 2.0))
        near(rg.vmap(rg.grad(g), in_axes=(1, None))(rows, 2.0), rg.vmap(rg.grad(f), in_axes=(1, None))(rows, 2.0))
    before = rows.copy()
    rg.vmap(rg.compile(lambda row: row[0] * 2.0))(rows)
    assert np.array_equal(rows, before)


def test_several_results_come_in_their_tree() -> None:
    def f(x: Any, y: Any) -> Any:
        return {"pair": Pair(x + y, x * y), "list": [x, 3.0], "array": np.array([x, y * 2.0])}

    g = rg.compile(f)
    for _ in range(2):
        found, expected = rg.vmap(g)(XS, YS), rg.vmap(f)(XS, YS)
        assert found.keys() == expected.keys()
        near(found["pair"], expected["pair"])
        near(found["list"], expected["list"])
        near(found["array"].astype(float), expected["array"].astype(float))
    assert g.stats().eager == 0


def test_a_result_that_depends_on_a_value_is_connected() -> None:
    w = Value(3.0)
    g = rg.compile(lambda x: w * x)
    found = rg.vmap(g)([1.0, 2.0])
    assert [type(value) for value in found] == [Value, Value]
    rg.sum(found).backward()
    assert w.grad == 3.0
    arguments = [Value(1.0), Value(2.0)]
    squares = rg.vmap(rg.compile(lambda x: x * x))([arguments[0], 5.0, arguments[1]])
    assert [getattr(square, "data", square) for square in squares] == [1.0, 25.0, 4.0]
    squares[2].backward()
    assert arguments[1].grad == 4.0
    slopes = rg.vmap(rg.grad(rg.compile(lambda x: x * x * x)))([arguments[0], 2.0])
    assert isinstance(slopes[0], Value)
    slopes[0].backward()
    assert arguments[0].grad == 6.0


def test_gradients_leave_parameters_alone() -> None:
    w = Value(3.0)
    g = rg.compile(lambda x: w * x * x)
    for _ in range(2):
        assert rg.vmap(rg.grad(g))([1.0, 2.0, 5.0]) == [6.0, 12.0, 30.0]
        assert w.grad == 0.0
        w.data = 3.0
    w.data = 4.0
    assert rg.vmap(rg.grad(g))([1.0]) == [8.0]


def test_a_module_is_differentiated_member_by_member() -> None:
    models = [rg.nn.Linear(2, 1) for _ in range(3)]

    def f(model: Any, x: Any) -> Any:
        return model([x, 1.0])[0] ** 2

    g = rg.compile(f)
    plain = [rg.value_and_grad(f)(model, 2.0) for model in models]
    found = g.value_and_grad_batch([(model, 2.0) for model in models])
    for (value, slopes), (other, others) in zip(found, plain, strict=True):
        assert value == pytest.approx(getattr(other, "data", other))
        assert slopes == pytest.approx([getattr(slope, "data", slope) for slope in others])


def test_what_raises_raises_as_in_a_loop() -> None:
    g = rg.compile(lambda x: rmath.log(x) if x > -2.0 else x * x)
    assert rg.vmap(g)([1.0, 2.0]) == rg.vmap(rmath.log)([1.0, 2.0])
    for bad in ([1.0, 0.0, 2.0], [2.0, 1.0, -1.0]):
        with pytest.raises(ValueError, match="log"):
            rg.vmap(g)(bad)
    with pytest.raises(ValueError, match="threads is 1 or more"):
        g.call_batch([(1.0,)], threads=0)
    with pytest.raises(TypeError, match=r"write \(x,\) for one"):
        g.value_and_grad_batch([1.0])  # type: ignore[list-item]


def test_infinite_members_are_the_functions_own() -> None:
    def f(x: Any) -> Any:
        return x * x * 1e200

    with rg.errstate(over="ignore"):
        found = rg.vmap(rg.value_and_grad(rg.compile(f)))([1.0, 1e100, 2.0, 1e60] * 5)
        near(found, rg.vmap(rg.value_and_grad(f))([1.0, 1e100, 2.0, 1e60] * 5))


def test_threads_want_a_compiled_function() -> None:
    for f in (smooth, rg.grad(smooth), rg.hessian(smooth)):
        with pytest.raises(TypeError, match=r"write vmap\(rg.compile\(f\), threads=…\)"):
            rg.vmap(f, threads=2)


def test_under_compile_and_transforms_it_is_a_loop() -> None:
    g = rg.compile(smooth)

    def total(xs: Any) -> Any:
        return rg.sum(rg.vmap(g, in_axes=(0, None), threads=2)(xs, 0.5))

    def plain(xs: Any) -> Any:
        return rg.sum(rg.vmap(smooth, in_axes=(0, None))(xs, 0.5))

    near(rg.grad(total)(XS[:5]), rg.grad(plain)(XS[:5]))
    near(rg.compile(total).value_and_grad(XS[:5]), rg.value_and_grad(plain)(XS[:5]))
    near(rg.hessian(total)(XS[:3]), rg.hessian(plain)(XS[:3]))
    near(rg.vmap(rg.compile(rg.grad(smooth)))(XS, YS), rg.vmap(rg.grad(smooth))(XS, YS))
    near(
        rg.vmap(rg.vmap(g))([XS[:3], XS[3:6]], [YS[:3], YS[3:6]]),
        rg.vmap(rg.vmap(smooth))([XS[:3], XS[3:6]], [YS[:3], YS[3:6]]),
    )


def test_state_that_changes_is_seen() -> None:
    factors = {"a": 2.0}
    g = rg.compile(lambda x: x * factors["a"])
    assert rg.vmap(g)([1.0, 2.0]) == [2.0, 4.0]
    factors["a"] = 5.0
    assert rg.vmap(g)([1.0, 2.0]) == [5.0, 10.0]


@pytest.mark.parametrize("options", [{"verify": 1}, {"exact": True}])
def test_other_ways_to_compile(options: dict[str, Any]) -> None:
    g: Callable[..., Any] = rg.compile(smooth, **options)
    assert rg.vmap(rg.value_and_grad(g))(XS[:20], YS[:20]) == rg.vmap(rg.value_and_grad(smooth))(XS[:20], YS[:20]) or (
        "exact" not in options
    )
    near(rg.vmap(g)(XS[:20], YS[:20]), rg.vmap(smooth)(XS[:20], YS[:20]))


def test_hot_batches_get_machine_code() -> None:
    require("llvmlite")
    g = rg.compile(smooth)
    members = list(zip(XS[:8], YS[:8], strict=True))
    expected = [rg.value_and_grad(smooth)(*member) for member in members]
    for _ in range(260):
        found = g.value_and_grad_batch(members)
    near(found, expected)
