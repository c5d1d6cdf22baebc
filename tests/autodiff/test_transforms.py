"""The transforms: nesting in every combination, kinks, structures, wrong input."""

from __future__ import annotations

import functools
import gc
import itertools
import math
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from retrograd import compile as compiled
from retrograd import engine, errors
from retrograd.autodiff.transforms import (
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
)
from retrograd.engine import Value, errstate, no_grad

Apply = engine.apply


# --- nesting without perturbation confusion -------------------------------------------------------


def tangent(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: jvp(f, x, 1.0)[1]


@pytest.mark.parametrize("outer", [grad, tangent], ids=["reverse", "forward"])
@pytest.mark.parametrize("inner", [grad, tangent], ids=["reverse", "forward"])
def test_an_inner_derivative_does_not_see_the_outer_perturbation(outer: Any, inner: Any) -> None:
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0
    assert outer(lambda x: inner(lambda y: x * y * y)(x))(3.0) == 12.0
    assert outer(lambda x: inner(lambda y: y * y * y)(x))(2.0) == 12.0
    assert outer(lambda x: inner(lambda y: x)(x) + x)(2.0) == 1.0
    assert outer(lambda x: x * inner(lambda y: inner(lambda z: x * y * z * z)(y))(x))(2.0) == 48.0
    with_exp = outer(lambda x: inner(lambda y: (x * y).exp())(1.0))(0.5)
    assert with_exp == pytest.approx(1.5 * math.exp(0.5), rel=1e-14)


def test_three_levels_of_every_transform() -> None:
    def f(x: Value) -> Value:
        return x**5

    for first, second, third in itertools.product([grad, tangent], repeat=3):
        assert first(second(third(f)))(2.0) == 240.0
    assert grad(hessian(f))(2.0) == 240.0
    assert hessian(grad(f))(2.0) == 240.0
    assert jacobian(hessian(f))(2.0) == 240.0
    assert hvp(grad(f), 2.0, 0.5) == 120.0
    assert grad(lambda x: hvp(f, x, 0.5))(2.0) == 120.0
    assert grad(lambda x: x * hessian(lambda y: x * y**3)(2.0))(3.0) == 72.0
    assert functools.reduce(lambda g, _: grad(g), range(5), f)(2.0) == 120.0


def test_the_outermost_result_is_of_the_kind_of_its_input() -> None:
    w = Value(2.0)

    def f(x: Value) -> Value:
        return w * x * x

    assert isinstance(grad(f)(3.0), float)
    slope = grad(f)(Value(3.0))
    assert isinstance(slope, Value)
    assert slope.data == 12.0
    assert gradient(slope, w) == 6.0
    x = Value(3.0)
    value, slope = value_and_grad(f)(x)
    assert gradient(value, [x, w]) == [12.0, 9.0]
    assert gradient(slope, [x, w]) == [4.0, 6.0]
    assert all(isinstance(d, Value) for row in hessian(lambda p: p[0] * p[1])([x, 1.0]) for d in row)
    along = jvp(lambda t: t * t, x, 1.0)[1]
    assert gradient(along, x) == 2.0
    assert gradient(hvp(lambda t: t**3, 2.0, x), x) == 12.0
    factor = Value(4.0)
    assert gradient(grad(lambda t, k: k * t * t)(3.0, factor), factor) == 6.0


def test_a_gradient_penalty_trains() -> None:
    w, x = Value(0.7), Value(1.3)
    slope = gradient((w * x).tanh(), x, create_graph=True)
    (slope * slope).backward()
    t = math.tanh(0.91)
    expected = 2 * 0.7 * (1 - t * t) * ((1 - t * t) + 0.7 * -2 * t * (1 - t * t) * 1.3)
    assert w.grad == pytest.approx(expected, rel=1e-13)


def test_gradient_inside_a_transform_is_never_cut_off() -> None:
    def slope(x: Value) -> Any:
        return gradient(x**3, x)

    assert grad(slope)(2.0) == 12.0


def test_results_do_not_alias_the_operands() -> None:
    a, b = Value(2.0), Value(3.0)
    slope = gradient(a * b, a, create_graph=True)
    assert slope is not b
    slope.label = "slope"
    assert b.label == ""


# --- kinks, zeros and infinities at order two -----------------------------------------------------


def test_kinks_have_second_derivative_zero() -> None:
    for name in ("relu", "abs", "sign", "floor"):
        second = grad(grad(lambda x, name=name: Apply(name, x) * x))
        assert math.isfinite(second(0.0)), name
    assert grad(grad(lambda x: x.relu()))(0.0) == 0.0
    assert grad(grad(abs))(0.0) == 0.0
    assert grad(grad(lambda x: x.relu() ** 2))(0.0) == 0.0
    assert grad(grad(lambda x: x.relu() ** 2))(1.0) == 2.0
    assert hessian(lambda p: p[0].maximum(p[1]) ** 2)([1.0, 1.0]) == [[0.5, 0.5], [0.5, 0.5]]


def test_the_square_root_at_zero() -> None:
    def root(x: Value) -> Value:
        return x.sqrt()

    assert grad(root)(0.0) == math.inf
    assert grad(grad(root))(0.0) == -math.inf


def test_the_branch_not_taken_makes_no_nan_at_any_order() -> None:
    def f(x: Value) -> Value:
        return Apply("where", 1.0 if x > 0 else 0.0, x.sqrt(), x * x)

    assert [grad(f)(0.0), grad(grad(f))(0.0), grad(grad(grad(f)))(0.0)] == [0.0, 2.0, 0.0]
    with errstate(invalid="ignore", divide="ignore"):

        def g(x: Value) -> Value:
            return Apply("where", 0.0, x.log(), x**3) + 0.0 * x

        assert [grad(g)(-1.0), grad(grad(g))(-1.0), grad(grad(grad(g)))(-1.0)] == [3.0, -6.0, 6.0]


def test_a_zero_adjoint_keeps_its_own_derivative() -> None:
    # d/dx of s * h(x) is s h'(x), which is zero at s = 0, but its derivative with respect to s is h'(x)
    matrix = hessian(lambda p: p[0] * p[1].exp())([0.0, 1.0])
    assert matrix == [[0.0, math.e], [math.e, 0.0]]
    steep = hessian(lambda p: p[0] * p[1].sqrt())([0.0, 0.0])
    assert steep[0][1] == math.inf
    assert gradient(Value(0.0) * (x := Value(0.0)).sqrt(), x) == 0.0


def test_powers_at_a_zero_exponent() -> None:
    (xx, xy), (yx, yy) = hessian(lambda p: p[0] ** p[1])([2.0, 0.0])
    assert (xx, xy, yx) == (0.0, 0.5, 0.5)
    assert yy == pytest.approx(math.log(2.0) ** 2, rel=1e-15)
    assert hessian(lambda p: p[0] ** p[1])([0.0, 0.0])[0][0] == 0.0
    for exponent, second in ((0, 0.0), (1, 0.0), (2, 2.0), (3, 0.0)):
        assert grad(grad(lambda x, n=exponent: x**n))(0.0) == second


def test_products_with_zeros() -> None:
    def f(xs: list[Value]) -> Value:
        return engine.reduce("prod", xs)  # type: ignore[no-any-return]

    assert grad(f)([0.0, 2.0, 3.0]) == [6.0, 0.0, 0.0]
    assert hessian(f)([0.0, 2.0, 3.0]) == [[0.0, 3.0, 2.0], [3.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    assert hessian(f)([0.0, 0.0, 3.0]) == [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_logsumexp_and_softmax_of_enormous_numbers() -> None:
    def f(xs: list[Value]) -> Value:
        return engine.reduce("logsumexp", xs)  # type: ignore[no-any-return]

    assert grad(f)([1e308, 1.0]) == [1.0, 0.0]
    for row in hessian(f)([1e308, 0.0]):
        assert all(math.isfinite(x) for x in row)
    assert hessian(f)([3.0, 3.0])[0][0] == pytest.approx(0.25, rel=1e-12)
    for row in hessian(lambda xs: engine.reduce("softmax", xs)[0])([1e308, 1e308]):
        assert row == pytest.approx([0.0, 0.0], abs=1e-300)


# --- structures -----------------------------------------------------------------------------------


class Line:
    """A module without retrograd.nn: anything with parameters() is one."""

    def __init__(self) -> None:
        self.w = Value(2.0)
        self.b = Value(1.0)

    def parameters(self) -> list[Value]:
        return [self.w, self.b]

    def __call__(self, x: Any) -> Value:
        return self.w * x + self.b


def test_structures_come_back_as_they_went_in() -> None:
    def f(p: dict[str, Any], q: tuple[Any, ...]) -> Any:
        return p["a"] * p["list"][1] + q[0] * q[1][0]

    slopes = grad(f, argnums=(0, 1))({"a": 2, "list": [1.0, 3.0]}, (5.0, [7.0]))
    assert slopes == ({"a": 3.0, "list": [0.0, 2.0]}, (7.0, [5.0]))
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    result = grad(lambda m: (m @ m).sum())(array)
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, [[7.0, 11.0], [9.0, 13.0]])
    assert hessian(lambda v: (v * v).sum())(np.arange(3.0)).tolist() == (2 * np.eye(3)).tolist()
    assert jacobian(lambda v: v * v)(np.arange(3.0)).tolist() == np.diag([0.0, 2.0, 4.0]).tolist()
    nested = jacobian(lambda p: {"s": p["x"] + p["y"], "p": p["x"] * p["y"]})({"x": 2.0, "y": 3.0})
    assert nested == {"s": {"x": 1.0, "y": 1.0}, "p": {"x": 3.0, "y": 2.0}}
    assert grad(lambda x: np.array(x * x))(3.0) == 6.0


class Pair(NamedTuple):
    left: Any
    right: Any


def test_named_tuples_and_kinds_of_dictionaries_keep_their_type() -> None:
    assert grad(lambda p: p.left * p.right[0])(Pair(2.0, [3.0])) == Pair(3.0, [2.0])
    slopes = grad(lambda d: d["b"] * d["a"] * d["missing"])(defaultdict(lambda: 1.0, {"b": 2.0, "a": 3.0}))
    assert isinstance(slopes, defaultdict)
    assert slopes == {"b": 3.0, "a": 2.0}
    assert grad(lambda x: x[()] * 2.0)(np.array(1.5)).shape == ()
    assert grad(lambda xs: sum(xs, 0.0))(()) == ()


def test_modules_are_differentiated_by_their_parameters() -> None:
    line = Line()
    assert grad(lambda m, x: m(x) ** 2)(line, 3.0) == [42.0, 14.0]
    assert gradient(line(3.0) ** 2, line) == [42.0, 14.0]
    assert line.w.grad == 0.0
    assert hessian(lambda m: m(3.0) ** 2)(line) == [[18.0, 6.0], [6.0, 2.0]]
    assert hvp(lambda m: m(3.0) ** 2, line, [1.0, 0.0]) == [18.0, 6.0]
    # another mention of the same module is a constant, as any value from outside
    assert grad(lambda m: m.w * line.w)(line) == [2.0, 0.0]
    assert grad(lambda m: m.w * grad(lambda inner: inner.w * m.w)(m)[0])(line)[0] == 4.0


def test_keywords_and_further_arguments_are_passed_on() -> None:
    assert grad(lambda x, text, *, power: x**power)(3.0, "ignored", power=2) == 6.0
    assert grad(lambda a, b: a * b, argnums=-1)(2.0, 5.0) == 2.0


def test_constants_have_zero_derivatives() -> None:
    assert grad(lambda x: 3)(2.0) == 0.0
    assert grad(grad(lambda x: 3.0 * x))(2.0) == 0.0
    assert value_and_grad(lambda x: 3)(2.0) == (3.0, 0.0)
    assert jacobian(lambda x: [x, 1.0])(2.0) == [1.0, 0.0]
    assert hessian(lambda p: 1.0)([1.0, 2.0]) == [[0.0, 0.0], [0.0, 0.0]]
    assert jvp(lambda x: (x, 4), 2.0, 3.0) == ((2.0, 4.0), (3.0, 0.0))
    assert hvp(lambda x: 1.0, 2.0, 1.0) == 0.0
    x = Value(1.0)
    assert gradient(x, [x, Value(2.0)]) == [1.0, 0.0]
    assert [slope.data for slope in gradient(x, [x, Value(2.0)], create_graph=True)] == [1.0, 0.0]


def test_interior_values_can_be_differentiated_by() -> None:
    a = Value(2.0)
    b = a * a
    y = b * b
    assert gradient(y, [a, b]) == [32.0, 8.0]
    assert [slope.data for slope in gradient(y, [a, b], create_graph=True)] == [32.0, 8.0]


# --- wrong input ----------------------------------------------------------------------------------


def test_a_gradient_the_wrong_way_round_is_refused() -> None:
    x = Value(3.0, label="x")
    y = x * x
    with pytest.raises(ValueError, match=r"was computed from 'x', and gradient\(y, xs\) .*: exchange them\.$"):
        gradient(x, y)
    assert gradient(y, y) == 1.0
    assert gradient(y, Value(2.0)) == 0.0
    assert gradient(x, [y, x]) == [0.0, 1.0]


def test_what_is_not_a_gradient_is_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"the result of text is 'no'.*single Value"):
        grad(text)(1.0)
    with pytest.raises(TypeError, match="For several outputs use jacobian"):
        grad(lambda x: [x, x])(1.0)
    with pytest.raises(TypeError, match=r"argument 0 of text\['a'\]\[1\] is 'b' of type str"):
        grad(text)({"a": [1.0, "b"]})
    with pytest.raises(TypeError, match="argnums is 1"):
        grad(text, argnums=1)(1.0)
    with pytest.raises(TypeError, match=r"argnums must be the position or the name of an argument.*it is 1\.5"):
        grad(text, argnums=1.5)(1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="twice"):
        grad(lambda x, y: x * y, argnums=(0, -2))(2.0, 3.0)
    with pytest.raises(TypeError, match="called with 0 positional arguments"):
        grad(lambda *, x: x)(x=1.0)
    with pytest.raises(TypeError, match=r"the number 1\.0"):
        gradient(Value(1.0), [1.0])
    with pytest.raises(TypeError, match="hvp needs a direction"):
        hvp(lambda p: p[0], [1.0, 2.0], [1.0])
    with pytest.raises(TypeError, match="jvp needs a direction"):
        jvp(lambda x: x, 1.0, [1.0])


def text(x: Any) -> str:
    return "no"


def test_second_derivatives_through_a_users_node_are_refused() -> None:
    def f(x: Value) -> Value:
        return Value(x.data**2, (x,), (2.0 * x.data,)) * 3.0

    assert grad(f)(2.0) == 12.0
    assert jvp(f, 2.0, 1.0) == (12.0, 12.0)
    for transform in (grad(grad(f)), hessian(f), jacobian(grad(f))):
        with pytest.raises(errors.HigherOrderError, match="cannot be differentiated again"):
            transform(2.0)

    def g(x: Value) -> Value:
        y = Value(x.data**2, (x,), "square")

        def push() -> None:
            x.grad += 2.0 * x.data * y.grad

        y._backward = push
        return y

    assert grad(g)(3.0) == 6.0
    with pytest.raises(errors.HigherOrderError):
        grad(grad(g))(3.0)
    with pytest.raises(errors.HigherOrderError, match="forward mode cannot pass"):
        jvp(g, 3.0, 1.0)
    # a user's node that the variable does not reach does no harm
    other = f(Value(1.0))
    assert grad(grad(lambda x: x**3 + other))(2.0) == 12.0


def test_a_changed_value_is_noticed_at_every_order() -> None:
    x = Value(2.0, label="x")
    y = x * x * x
    x.data = 3.0
    for create_graph in (False, True):
        with pytest.raises(errors.ChangedValueError, match="'x'"):
            gradient(y, x, create_graph=create_graph)


# --- modes and threads ----------------------------------------------------------------------------


def test_modes_of_the_caller_are_respected_and_restored() -> None:
    with no_grad():
        assert grad(lambda x: x**3)(2.0) == 12.0
        slope = grad(lambda x: x**3)(Value(2.0))
        assert (slope.data, slope._children) == (12.0, ())
        assert (Value(2.0) * 3)._children == ()

    def cut(x: Value) -> Value:
        with no_grad():
            slope = gradient(y := x**3, x), grad(lambda t: t**3)(x), gradient(y, x, create_graph=True)
        assert all(isinstance(s, Value) for s in slope)
        return slope[1] * x

    assert grad(cut)(2.0) == 12.0
    with pytest.raises(errors.DomainError):
        grad(lambda x: x.log())(-1.0)
    with pytest.raises(errors.DivisionByZeroError):
        grad(grad(lambda x: 1 / x))(0.0)
    assert grad(lambda x: x.sqrt())(0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        Value(1.0) / 0.0
    with errstate(divide="ignore"):
        assert grad(lambda x: 1 / x)(0.0) == -math.inf
    assert grad(lambda x: x * x)(1.0) == 2.0  # not "inside" after all those errors
    assert isinstance(grad(lambda x: x * x)(1.0), float)


def test_the_gradients_of_leaves_are_left_alone() -> None:
    w = Value(3.0)
    (w * w).backward()
    grad(lambda x: x * w * w)(2.0)
    hessian(lambda x: x * x * w)(2.0)
    assert w.grad == 6.0


def test_threads_do_not_share_their_nesting() -> None:
    seen: list[object] = []

    def f(x: Value) -> Value:
        thread = threading.Thread(target=lambda: seen.append(grad(lambda t: t * t)(3.0)))
        thread.start()
        thread.join()
        return x * x

    assert grad(f)(2.0) == 4.0
    assert seen == [6.0]
    assert isinstance(seen[0], float)


def test_a_long_chain_has_a_second_derivative() -> None:
    def f(x: Value) -> Value:
        y = x
        for _ in range(3000):
            y = y * 1.0001 + 0.0
        return y * x

    assert grad(grad(f))(2.0) == pytest.approx(2 * 1.0001**3000, rel=1e-9)


def test_rosenbrock_has_its_published_gradient_and_hessian() -> None:
    def rosenbrock(x: Any) -> Any:
        return sum(100.0 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x))

    point = [0.5, -1.2, 2.0]
    a, b, c = point
    slopes = [
        -400 * a * (b - a * a) - 2 * (1 - a),
        200 * (b - a * a) - 400 * b * (c - b * b) - 2 * (1 - b),
        200 * (c - b * b),
    ]
    assert grad(rosenbrock)(point) == pytest.approx(slopes, rel=1e-13)
    curvature = [
        [1200 * a * a - 400 * b + 2, -400 * a, 0.0],
        [-400 * a, 200 + 1200 * b * b - 400 * c + 2, -400 * b],
        [0.0, -400 * b, 200.0],
    ]
    np.testing.assert_allclose(hessian(rosenbrock)(np.array(point)), curvature, rtol=1e-13)


@pytest.mark.parametrize("make", [grad, value_and_grad, jacobian, compiled], ids=lambda make: make.__name__)
def test_an_object_that_keeps_what_was_made_of_its_method_is_collected(make: Callable[[Any], Any]) -> None:
    class Model:
        def __init__(self) -> None:
            self.weight = Value(2.0)
            self.made = make(self.loss)

        def loss(self, x: Any) -> Any:
            return self.weight * x

    model = Model()
    for _ in range(3):
        model.made(1.0)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
