"""A Value among the operands of NumPy's, SciPy's, PyTorch's and JAX's functions: computed with, or refused in words."""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
from retrograd.errors import ForeignArrayError

SPECIAL = [
    "erf",
    "erfc",
    "expit",
    "gammaln",
    "digamma",
    "psi",
    "gamma",
    "log1p",
    "expm1",
    "exp2",
    "exp10",
    "cbrt",
    "logit",
    "ndtr",
    "log_expit",
    "entr",
    "softplus",
]


@pytest.mark.parametrize("name", SPECIAL)
def test_scipys_functions_have_their_derivatives(name: str) -> None:
    function = getattr(require("scipy.special"), name, None)
    if function is None:
        pytest.skip(f"this SciPy has no {name}")
    for x in (0.3, 0.8):
        assert function(rg.Value(x)).data == pytest.approx(function(x), rel=1e-13)
        h = 1e-5
        slope = (function(x + h) - function(x - h)) / (2 * h)
        assert rg.grad(function)(x) == pytest.approx(slope, rel=1e-8)
        assert rg.grad(rg.grad(function))(x) == pytest.approx(
            (rg.grad(function)(x + h) - rg.grad(function)(x - h)) / (2 * h), rel=1e-7
        )


def test_xlogy_is_not_cut_at_zero() -> None:
    special = require("scipy.special")
    assert rg.grad(special.xlogy, argnums=(0, 1))(0.0, 2.0) == (math.log(2.0), 0.0)
    assert rg.grad(lambda y: special.xlogy(0.0, y))(2.0) == 0.0
    with pytest.raises(ValueError, match="log"):
        special.xlogy(rg.Value(0.0), 0.0)


@pytest.mark.native
def test_they_compile() -> None:
    special = require("scipy.special")
    f = rg.compile(lambda x, y: special.erf(x * y) + special.xlogy(x, y) + np.logaddexp(x, y) * np.tanh(x))
    value, slope = f.value_and_grad(0.5, 1.5)
    assert (value, slope) == pytest.approx(rg.value_and_grad(f.scalar_function)(0.5, 1.5), rel=1e-14)
    assert f.stats().eager == 0


@pytest.mark.parametrize("name", ["j0", "log_ndtr", "erfinv", "betaln", "hyp0f1"])
def test_what_has_no_row_is_refused_with_what_to_write(name: str) -> None:
    function = getattr(require("scipy.special"), name)
    with pytest.raises(TypeError, match=rf"'{name}' .* give it one with @rg\.primitive\(partials=\.\.\.\)"):
        function(*[rg.Value(0.5)] * function.nin)


def test_numpys_functions_without_a_version_for_objects() -> None:
    v = rg.Value(0.5)
    assert (np.isnan(v), np.isfinite(v), np.isinf(v)) == (False, True, False)
    assert np.logaddexp(v, 2.0).data == pytest.approx(np.logaddexp(0.5, 2.0), rel=1e-15)
    assert [y.data for y in np.logaddexp(v, np.array([0.0, 1.0]))] == pytest.approx(np.logaddexp(0.5, [0.0, 1.0]))
    assert np.copysign(v, -1.0).data == -0.5
    assert [x.data for x in np.divmod(rg.Value(7.0), 2.0)] == [3.0, 1.0]
    with pytest.raises(TypeError, match="'signbit'"):
        np.signbit(v)
    with pytest.raises(TypeError, match="'isnan'"):
        np.isnan(v, where=True)


NUMBERS = [np.float64(2.0), np.float32(2.0), np.int64(2), np.bool_(True), np.array(2.0), np.array([2.0, 3.0])]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: f"{type(x).__name__}{np.shape(x)}")
@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_numpys_numbers_on_both_sides(operate: Callable[[Any, Any], Any], number: Any) -> None:
    v = rg.Value(0.5)
    for left, right in ((number, v), (v, number)):
        plain = [np.asarray(getattr(x, "data", x) if x is v else x, dtype=np.float64) for x in (left, right)]
        result = operate(left, right)
        found = [x.data for x in result.ravel()] if isinstance(result, np.ndarray) else [result.data]
        assert found == operate(*plain).ravel().tolist()
    assert rg.gradient(rg.sum(list(np.ravel(operate(number, v)))), v) != 0.0 or operate is operator.pow


def test_other_ways_to_call_a_ufunc() -> None:
    v, w = rg.Value(2.0), rg.Value(3.0)
    assert np.add.reduce([v, w]).data == 5.0
    assert np.multiply.outer(v, [1.0, w])[1].data == 6.0
    out = np.empty(2, dtype=object)
    assert np.multiply(v, np.array([1.0, 2.0]), out=out) is out
    assert out[1].data == 4.0
    assert np.frompyfunc(lambda x: x * 2.0, 1, 1)(v).data == 4.0
    assert np.maximum(v, 1.0) is v


@pytest.mark.parametrize("function", [statistics.mean, statistics.stdev, statistics.variance])
def test_exact_sums_say_what_to_write(function: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"write rg\.mean\(values\)"):
        function([rg.Value(1.0), rg.Value(2.0)])


@pytest.mark.parametrize("name", ["sin", "exp", "add", "stack", "tanh"])
def test_pytorchs_functions_say_what_to_write(name: str) -> None:
    torch = require("torch")
    v = rg.Value(2.0)
    arguments = {"add": (torch.ones(2), v), "stack": ([v, v],)}.get(name, (v,))
    with pytest.raises(ForeignArrayError, match=rf"{name} of PyTorch takes tensors and got a Value.*to_torch"):
        getattr(torch, name)(*arguments)


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.lt, operator.ge]


@pytest.mark.parametrize("operate", OPERATORS)
def test_operators_with_tensors_and_arrays_of_jax(operate: Callable[[Any, Any], Any]) -> None:
    torch, v = require("torch"), rg.Value(2.0)
    for tensor in (torch.tensor(2.0), torch.ones(2, requires_grad=True)):
        for pair in ((tensor, v), (v, tensor)):
            with pytest.raises(ForeignArrayError, match=r"tensor\.tolist\(\) has its numbers"):
                operate(*pair)
        assert (tensor == v) is False
    jnp = require("jax.numpy")
    for pair in ((jnp.ones(2), v), (v, jnp.ones(2))):
        with pytest.raises(ForeignArrayError, match=r"rg\.compile\(f\)\.to_jax"):
            operate(*pair)


def test_jax_functions_say_what_to_write() -> None:
    jax, v = require("jax"), rg.Value(2.0)
    for ask in (
        jax.numpy.sin,
        jax.numpy.array,
        jax.grad(lambda x: x * x),
        lambda x: jax.numpy.sum(jax.numpy.array([x])),
    ):
        with pytest.raises(ForeignArrayError, match="JAX takes arrays and got a Value"):
            ask(v)


def test_a_tensor_without_axes_is_told_how_to_become_a_number() -> None:
    with pytest.raises(TypeError, match=r"pass its number, x\.item\(\)"):
        rg.Value(np.array(2.0))  # type: ignore[arg-type]
    torch = require("torch")
    with pytest.raises(TypeError, match=r"pass its number, x\.item\(\)"):
        rg.Value(torch.tensor(2.0))
    assert rg.Value(torch.tensor(2.0).item()).data == 2.0


def test_a_tensor_as_an_argument_is_told_how_to_become_a_list() -> None:
    torch = require("torch")
    with pytest.raises(TypeError, match=r"expected a Value, a real number, or lists.*: pass x\.tolist\(\)"):
        rg.grad(lambda x: x[0] * 2.0)(torch.ones(2))
    assert rg.grad(lambda x: x[0] * 2.0)(torch.ones(2).tolist()) == [2.0, 0.0]


def test_backward_takes_pytorchs_keywords() -> None:
    x = rg.Value(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=None, create_graph=False)
    assert x.grad == 12.0
    with pytest.raises(TypeError, match=r"rg\.gradient\(y, xs, create_graph=True\)"):
        y.backward(create_graph=True)
    assert x.grad == 12.0


@pytest.mark.parametrize("kind", [rg.optim.SGD, rg.optim.Adam, rg.optim.AdamW])
def test_a_step_takes_pytorchs_closure(kind: Any) -> None:
    x, y = rg.Value(3.0), rg.Value(3.0)
    one, other = kind([x], lr=0.1), kind([y], lr=0.1)

    def closure() -> rg.Value:
        one.zero_grad()
        loss = x * x
        loss.backward()
        return loss

    loss = one.step(closure)
    assert loss.data == 9.0
    (y * y).backward()
    assert other.step() is None
    assert x.data == y.data != 3.0
