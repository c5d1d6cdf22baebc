"""A user's own operation: every order where its partials are formulas, and a sentence where they are not."""

from __future__ import annotations

import copy
import importlib.util
import math
import warnings
from pathlib import Path
from typing import Any

import pytest
from support.parts import require

import retrograd as rg
from retrograd.errors import HigherOrderError, NotTraceableError

ROOT = Path(__file__).resolve().parents[2]


@rg.primitive(partials=lambda x: 1 - own_tanh(x) ** 2)
def own_tanh(x: float) -> float:
    return math.tanh(x)


@rg.primitive(partials=lambda x, y: (y * ratio(x, y) / x, ratio(x, y) * rg.math.log(x)))
def ratio(x: Any, y: Any) -> Any:
    return x**y


@rg.primitive(partials=lambda x: math.cos(x))
def numbers_only(x: float) -> float:
    return math.sin(x)


def test_every_order_is_that_of_the_row() -> None:
    for x in (-0.7, 0.0, 0.3, 2.0):
        f, g = own_tanh, rg.math.tanh
        assert f(x) == g(x)
        for _ in range(4):
            f, g = rg.grad(f), rg.grad(g)
            assert f(x) == pytest.approx(g(x), rel=1e-12, abs=1e-14)


def test_every_transform_goes_through_it() -> None:
    def own(p: Any) -> Any:
        return ratio(p[0] * 2.0, own_tanh(p[1])) * p[1]

    def rows(p: Any) -> Any:
        return (p[0] * 2.0) ** rg.math.tanh(p[1]) * p[1]

    p, v = [0.8, 0.6], [1.0, -2.0]
    for transform in (rg.grad, rg.hessian, rg.jacobian, rg.jacfwd, rg.value_and_grad):
        for found, expected in zip(transform(own)(p), transform(rows)(p), strict=True):
            assert found == pytest.approx(expected, rel=1e-13)
    assert rg.hvp(own, p, v) == pytest.approx(rg.hvp(rows, p, v), rel=1e-13)
    assert rg.jvp(own, p, v) == pytest.approx(rg.jvp(rows, p, v), rel=1e-13)
    third = lambda f: rg.jvp(lambda q: rg.hvp(f, q, v), p, v)[1]  # noqa: E731
    assert third(own) == pytest.approx(third(rows), rel=1e-12)


def test_derivatives_are_torchs() -> None:
    torch = require("torch")
    x = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    [first] = torch.autograd.grad(torch.tanh(x), x, create_graph=True)
    [second] = torch.autograd.grad(first, x)
    assert rg.grad(own_tanh)(0.4) == pytest.approx(first.item(), rel=1e-15)
    assert rg.grad(rg.grad(own_tanh))(0.4) == pytest.approx(second.item(), rel=1e-14)


def test_it_is_one_node_of_its_name() -> None:
    x, y = rg.Value(2.0), rg.Value(3.0)
    z = ratio(x * 1.0, y)
    assert z._op == "ratio"
    assert len(rg.topological_order(z)) == 5  # x, y, 1.0, the product, z
    z.backward()
    assert (x.grad, y.grad) == (12.0, 8.0 * math.log(2.0))
    named = ratio(rg.Value(2.0, label="a"), rg.Value(3.0, label="b"))
    assert "= ratio(a, b) = ratio(2.0, 3.0) = 8.0" in rg.explain(named).to_text(check=False)
    assert copy.deepcopy(z)._local_grads == z._local_grads


def test_numbers_give_numbers_and_no_graph_gives_leaves() -> None:
    assert type(own_tanh(0.5)) is float
    with rg.no_grad():
        assert own_tanh(rg.Value(0.5))._children == ()
    assert rg.grad(ratio)(2.0, y=3.0) == 12.0
    assert rg.grad(ratio, argnums="y")(2.0, y=3) == 8.0 * math.log(2.0)


@pytest.mark.parametrize("partials", [lambda x: None, lambda x: (None,)])
def test_partials_that_are_not_returned_are_no_zeros(partials: Any) -> None:
    @rg.primitive(partials=partials)
    def own(x: Any) -> Any:
        return x * x

    for call in (own, rg.compile(own)):
        with pytest.raises(TypeError, match=r"the partials of own are None, .*: check whether the function returns it"):
            rg.grad(call)(3.0)

    @rg.primitive(partials=lambda x, name: (partials(x), None))
    def named(x: Any, name: Any) -> Any:
        return x * x

    if partials(0.0) is None:  # of several arguments, one may have none
        assert rg.grad(named)(3.0, "name") == 0.0


def test_partials_on_numbers_have_the_first_order_only() -> None:
    assert rg.grad(numbers_only)(0.5) == math.cos(0.5)
    assert rg.jvp(numbers_only, 0.5, 2.0)[1] == 2 * math.cos(0.5)
    with pytest.raises(HigherOrderError, match="partials of numbers_only work on plain numbers only"):
        rg.hessian(numbers_only)(0.5)


def test_trees_of_arguments() -> None:
    @rg.primitive(partials=lambda xs, d, name: ([d["k"]] * len(xs), {"k": sum(xs)}, None))
    def scaled(xs: list[Any], d: dict[str, Any], name: str) -> Any:
        assert name == "n"
        return sum(xs) * d["k"]

    assert rg.grad(scaled, argnums=(0, 1))([1.0, 2.0], {"k": 5.0}, "n") == ([5.0, 5.0], {"k": 3.0})
    assert rg.hessian(scaled)([1.0, 2.0], {"k": 5.0}, "n") == [[0.0, 0.0], [0.0, 0.0]]
    mixed = scaled([rg.Value(1.0), 2.0], {"k": 5.0}, "n")
    assert len(mixed._children) == 1


def test_wrong_partials_are_refused() -> None:
    one = rg.primitive(partials=lambda x, y: x)(lambda x, y: x * y)
    with pytest.raises(TypeError, match="must be 2 in a tuple, one for each argument"):
        one(rg.Value(1.0), 2.0)
    flat = rg.primitive(partials=lambda xs: 1.0)(lambda xs: xs[0])
    with pytest.raises(TypeError, match="must be the structure of its argument, list"):
        flat([rg.Value(1.0)])
    closing = rg.primitive(partials=lambda x: 1.0)(lambda x: rg.Value(x))
    with pytest.raises(TypeError, match="must return a number and returned a Value"):
        closing(rg.Value(1.0))
    text = rg.primitive(partials=lambda x: 1.0)(lambda x: "two")
    with pytest.raises(TypeError, match="real numbers"):
        text(rg.Value(1.0))


def test_a_wrong_partial_is_found() -> None:
    wrong = rg.primitive(partials=lambda x: 2.1 * x)(lambda x: x * x)
    assert not rg.check_gradients(wrong, {"x": 3.0}, peers=["differences"]).ok
    assert rg.check_gradients(own_tanh, {"x": 0.3}, peers=["differences", "reference"]).ok


# --- compiled --------------------------------------------------------------------------------------------------


@pytest.mark.native
@pytest.mark.parametrize("tier", ["auto", "interpreter"])
def test_a_formula_is_part_of_the_program(tier: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return rg.math.sin(ratio(x * y, y)) * x + ratio(x, 2.0)

    compiled = rg.compile(f)
    for point in ((0.5, 1.5), (2.0, 0.25), (1.5, 3.0)):
        value, slopes = compiled.value_and_grad(*point)
        expected, theirs = rg.value_and_grad(f, argnums=(0, 1))(*point)
        assert value == pytest.approx(expected, rel=1e-14)
        assert slopes == pytest.approx(theirs if isinstance(slopes, tuple) else theirs[0], rel=1e-13)
        assert rg.hessian(lambda p: compiled(*p))(list(point)) == rg.hessian(lambda p: f(*p))(list(point))
    assert compiled.stats().eager == 0


@pytest.mark.native
def test_what_cannot_be_traced_runs_as_it_is() -> None:
    complex_sine = rg.primitive(partials=lambda x: math.cos(x))(lambda x: complex(math.sin(x)).real)
    compiled = rg.compile(lambda x: complex_sine(x * 2.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert compiled.value_and_grad(0.5) == (math.sin(1.0), 2 * math.cos(1.0))
    assert "runs as it is" in str(caught[0].message)


@pytest.mark.native
def test_pythons_functions_of_numbers_are_part_of_the_program() -> None:
    compiled = rg.compile(lambda x: numbers_only(x * 2.0))
    for x in (0.5, 1.5, -3.0):
        value, slope = compiled.value_and_grad(x)
        assert (value, slope) == pytest.approx((math.sin(2 * x), 2 * math.cos(2 * x)), rel=1e-14)
    assert compiled.stats().eager == 0


@pytest.mark.native
def test_jax_would_not_know_its_derivatives() -> None:
    require("jax")
    with pytest.raises(NotTraceableError, match="calls the primitive ratio"):
        rg.compile(lambda x, y: ratio(x, y)).to_jax(2.0, 3.0)


FACTOR = 2.0


@rg.primitive(partials=lambda x: FACTOR + 0 * x)
def scaled_by_a_global(x: Any) -> Any:
    return FACTOR * x


@rg.no_grad()
def frozen_by_a_global(x: Any) -> Any:
    return FACTOR * x


@pytest.mark.native
@pytest.mark.parametrize(("f", "slope"), [(scaled_by_a_global, 5.0), (frozen_by_a_global, 0.0)])
def test_what_a_wrapped_function_reads_is_guarded(f: Any, slope: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decorator of a library hides the user's function from nobody who looks for what it reads."""
    compiled = rg.compile(lambda x: f(x) + x)
    assert compiled(rg.Value(3.0)).data == 9.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert compiled.value_and_grad(3.0) == (18.0, slope + 1)


# --- the examples ------------------------------------------------------------------------------------------------


def examples() -> Any:
    spec = importlib.util.spec_from_file_location("own_derivatives", ROOT / "examples" / "own_derivatives.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(f: Any, p: list[float], i: int, h: float = 1e-5) -> float:
    return (f(*p[:i], p[i] + h, *p[i + 1 :]) - f(*p[:i], p[i] - h, *p[i + 1 :])) / (2 * h)


@pytest.mark.parametrize(("name", "point"), [("root", [2.0, 3.5]), ("kepler", [0.5, 1.0])])
def test_implicit_differentiation_has_every_order(name: str, point: list[float]) -> None:
    f = getattr(examples(), name)
    slopes = rg.grad(f, argnums=(0, 1))
    hessian = rg.hessian(lambda p: f(*p))(point)
    for i in range(2):
        assert slopes(*point)[i] == pytest.approx(differences(f, point, i), rel=1e-8)
        for j in range(2):
            assert hessian[j][i] == pytest.approx(differences(lambda *p, j=j: slopes(*p)[j], point, i), rel=1e-7)


def test_the_adjoint_of_a_solve_is_that_of_the_elimination() -> None:
    system = ([[4.0, 1.0], [2.0, 3.0]], [1.0, 2.0], [1.0, -1.0])

    def eliminated(matrix: Any, b: Any, c: Any) -> Any:
        return rg.dot(c, rg.linalg.solve(matrix, b))

    own = examples().output_of_solve
    for i in range(3):
        found, expected = rg.grad(own, i)(*system), rg.grad(eliminated, i)(*system)
        assert [*found] == [pytest.approx(row, rel=1e-13) for row in expected]
    assert rg.hessian(own, 1)(*system) == [[0.0, 0.0], [0.0, 0.0]]
    along = lambda f: rg.grad(lambda m: rg.grad(f, 1)(m, *system[1:])[0])(system[0])  # noqa: E731
    assert along(own) == [pytest.approx(row, rel=1e-12) for row in along(eliminated)]


def test_a_checkpoint_is_one_node_with_the_same_derivatives() -> None:
    own = examples().segment
    plain = own.__wrapped__
    assert len(rg.topological_order(own(rg.Value(1.0), 0.5))) == 2
    twice = lambda f: lambda x: f(f(x, 0.5), x)  # noqa: E731
    assert rg.value_and_grad(twice(own))(1.0) == pytest.approx(rg.value_and_grad(twice(plain))(1.0), rel=1e-12)
    assert rg.hessian(own)(1.0, 0.5) == pytest.approx(rg.hessian(plain)(1.0, 0.5), rel=1e-10)


def test_an_argument_left_to_its_default_has_a_partial_all_the_same() -> None:
    @rg.primitive(partials=lambda x, k=2.0: (k * x ** (k - 1), None))
    def power(x: Any, k: float = 2.0) -> Any:
        return x**k

    assert (rg.grad(power)(3.0), rg.hessian(power)(3.0)) == (6.0, 2.0)
    assert (rg.grad(power)(3.0, 3.0), rg.grad(lambda x: power(x, k=3.0))(3.0)) == (27.0, 27.0)
    with pytest.raises(TypeError, match="must be 2 in a tuple"):
        rg.grad(rg.primitive(partials=lambda x, y: (1.0, 1.0, 1.0))(lambda x, y: x))(1.0, 1.0)
