"""A compiled function is the function: called, nested, differentiated and decorated as the plain one is."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Value

pytestmark = pytest.mark.native  # the reference engine has no compiler

KINDS = {"compiled": rg.compile, "exact": functools.partial(rg.compile, exact=True)}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def compiled(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return request.param  # type: ignore[no-any-return]


def cube(x: Any) -> Any:
    return x**3


def close(left: Any, right: Any) -> bool:
    return bool(left == pytest.approx(right, rel=1e-12))


# --- results are Values wherever the function's would be --------------------------------------------------------


def test_a_result_can_be_passed_backward(compiled: Callable[..., Any]) -> None:
    x, g = rg.Value(3.0), compiled(cube)
    for times in (1, 2, 3):
        y = g(x) + x
        y.backward()
        assert (y.data, x.grad) == (30.0, 28.0 * times)


def test_a_gradient_flows_on_through_an_argument(compiled: Callable[..., Any]) -> None:
    x, g = rg.Value(1.5), compiled(cube)
    for times in (1, 2):
        g(x * 2.0).backward()
        assert x.grad == 54.0 * times
    assert rg.gradient(g(x * 2.0) * x, x) == 27.0 + 54.0 * 1.5


def test_parameters_and_arguments_both_get_theirs(compiled: Callable[..., Any]) -> None:
    w, x = rg.Value(2.0), rg.Value(5.0)
    g = compiled(lambda x: w * x * x)
    for times in (1, 2):
        (g(x) * 3.0).backward()
        assert (w.grad, x.grad) == (75.0 * times, 60.0 * times)


def test_numbers_alone_give_a_number(compiled: Callable[..., Any]) -> None:
    g = compiled(cube)
    for _ in range(2):
        assert type(g(3.0)) is float
        assert g(3.0) == 27.0


def test_a_seed_and_two_passes(compiled: Callable[..., Any]) -> None:
    x, g = rg.Value(3.0), compiled(cube)
    y = g(x)
    y.backward(2.0)
    y.backward()
    assert x.grad == 81.0


def test_nothing_is_recorded_without_gradients(compiled: Callable[..., Any]) -> None:
    x, g = rg.Value(3.0), compiled(cube)
    for _ in range(2):
        with rg.no_grad():
            y = g(x)
        assert isinstance(y, rg.Value)
        assert y.data == 27.0
        assert y._children == ()


def test_a_changed_parameter_is_noticed(compiled: Callable[..., Any]) -> None:
    x, g = rg.Value(3.0), compiled(cube)
    g(x)
    y = g(x)
    x.data = 5.0
    with pytest.raises(rg.errors.ChangedValueError):
        y.backward()
    assert x.grad == 0.0


def test_trees_of_results(compiled: Callable[..., Any]) -> None:
    def both(x: Any) -> dict[str, Any]:
        return {"square": x * x, "rest": (x + 1.0, [2.0])}

    x, g = rg.Value(3.0), compiled(both)
    for _ in range(2):
        found = g(x)
        assert (found["square"].data, found["rest"][0].data, found["rest"][1]) == (9.0, 4.0, [2.0])
        found["square"].backward()
    assert x.grad == 12.0


# --- called as the function is called --------------------------------------------------------------------------


def test_keywords_and_defaults(compiled: Callable[..., Any]) -> None:
    def f(x: Any, power: int = 2, *, scale: float = 1.0) -> Any:
        return scale * x**power

    x, g = rg.Value(3.0), compiled(f)
    for _ in range(2):
        assert g(x).data == 9.0
        assert g(x, power=3).data == 27.0
        assert g(x=x, scale=2.0).data == 18.0
        assert g.value_and_grad(3.0, power=3, scale=2.0) == (54.0, 54.0)
        x.grad = 0.0
        assert (g.backward(x, scale=2.0), x.grad) == (18.0, 12.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        g(x, wrong=1)
    with pytest.raises(TypeError):
        g()


def test_methods(compiled: Callable[..., Any]) -> None:
    class Model:
        def __init__(self) -> None:
            self.w = rg.Value(2.0)

        @compiled
        def loss(self, x: Any) -> Any:
            return self.w * x * x

        @classmethod
        @compiled
        def of_class(cls, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        @compiled
        def static(x: Any) -> Any:
            return x * 3.0

    first, second = Model(), Model()
    for times in (1, 2):
        first.loss(3.0).backward()
        assert first.loss.backward(3.0) == 18.0
        assert (first.w.grad, second.w.grad) == (18.0 * times, 0.0)
    assert first.loss.value_and_grad(3.0) == (18.0, 12.0)
    x = rg.Value(5.0)
    (Model.of_class(x) + first.static(x)).backward()
    assert x.grad == 5.0


def test_partial_functions(compiled: Callable[..., Any]) -> None:
    g = compiled(functools.partial(lambda a, x: a * x * x, 3.0))
    assert g.value_and_grad(2.0) == (12.0, 12.0)
    h = functools.partial(compiled(lambda a, x: a * x * x), 3.0)
    assert rg.grad(h)(2.0) == 12.0


# --- compiled in compiled, eager and recursive -----------------------------------------------------------------


@pytest.mark.parametrize("inner", KINDS.values(), ids=KINDS)
def test_compiled_functions_nest(compiled: Callable[..., Any], inner: Callable[..., Any]) -> None:
    act = inner(lambda z: z * z)
    g = compiled(lambda x: act(x) + x)
    for _ in range(2):
        assert g.value_and_grad(3.0) == (12.0, 7.0)
        assert rg.grad(lambda x: act(x) + x)(3.0) == 7.0


def test_recursion(compiled: Callable[..., Any]) -> None:
    @compiled
    def power(x: Any, n: int) -> Any:
        return x if n == 0 else x * power(x, n - 1)

    for _ in range(2):
        assert power.value_and_grad(2.0, 5) == (64.0, 192.0)
        x = rg.Value(2.0)
        power(x, 5).backward()
        assert x.grad == 192.0


# --- transforms ------------------------------------------------------------------------------------------------


def test_transforms_of_a_compiled_function(compiled: Callable[..., Any]) -> None:
    def plain(p: Any) -> Any:
        return (p[0] * p[0] * p[1]).tanh() + p[1] * p[1] * p[1] * p[0]

    g, p, d = compiled(plain), [0.5, -0.75], [1.0, 2.0]
    for _ in range(2):
        assert close(rg.grad(g)(p), rg.grad(plain)(p))
        assert close(rg.value_and_grad(g)(p)[1], rg.value_and_grad(plain)(p)[1])
        assert close(rg.hessian(g)(p)[0], rg.hessian(plain)(p)[0])
        assert close(rg.hvp(g, p, d), rg.hvp(plain, p, d))
        assert close(rg.jvp(g, p, d), rg.jvp(plain, p, d))
        assert close(
            rg.jacobian(lambda p: [g(p), p[0] * g(p)])(p)[1], rg.jacobian(lambda p: [plain(p), p[0] * plain(p)])(p)[1]
        )


def test_three_deep(compiled: Callable[..., Any]) -> None:
    g = compiled(lambda x: x**4)
    for _ in range(2):
        assert close(rg.grad(rg.grad(rg.grad(g)))(1.5), 36.0)
        assert close(rg.grad(lambda x: rg.grad(g)(x) * g(x))(1.5), 7 * 4 * 1.5**6)
    slope = compiled(lambda x: rg.grad(g)(x))
    assert close(rg.grad(slope)(1.5), 12 * 1.5**2)
    assert close(slope(1.5), 4 * 1.5**3)


def test_a_graph_made_afterwards(compiled: Callable[..., Any]) -> None:
    x, w, g = rg.Value(1.5), rg.Value(2.0), None
    g = compiled(lambda x: w * x**4)
    for _ in range(2):
        slope = rg.gradient(g(x), x, create_graph=True)
        assert close(slope.data, 2 * 4 * 1.5**3)
        assert close(rg.gradient(slope, [x, w]), [2 * 12 * 1.5**2, 4 * 1.5**3])


def test_the_gradient_checker_takes_one(compiled: Callable[..., Any]) -> None:
    g = compiled(lambda x, y: rg.math.log(x) * y)
    assert rg.check_gradients(g, {"x": 2.0, "y": 5.0}, peers=["differences", "reference"]).ok


def test_scipy_takes_one(compiled: Callable[..., Any]) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    g = compiled(lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2)
    found = optimize.minimize(g, [-1.0, 1.0], jac=rg.grad(g), hess=rg.hessian(g), method="Newton-CG")
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-4)


# --- what the function decides ---------------------------------------------------------------------------------


def safe_log(x: Any) -> Any:
    try:
        return rg.math.log(x)
    except ValueError:
        return x * 3


def safe_reciprocal(x: Any) -> Any:
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return x * 0.0


def safe_exp(x: Any) -> Any:
    try:
        return rg.math.exp(x)
    except OverflowError:
        return x


@pytest.mark.parametrize(
    ("function", "caught", "free"), [(safe_log, -1.0, 2.0), (safe_reciprocal, 0.0, 4.0), (safe_exp, 1000.0, 1.0)]
)
def test_an_exception_that_the_function_catches_is_a_branch(
    compiled: Callable[..., Any], function: Callable[..., Any], caught: float, free: float
) -> None:
    for points in ((caught, free, caught), (free, caught, free)):
        g = compiled(function)
        for point in points:
            assert g.value_and_grad(point) == rg.value_and_grad(function)(point)
            x = rg.Value(point)
            assert g.backward(x) == function(rg.Value(point)).data
            assert x.grad == rg.grad(function)(point)


def test_a_swallowed_index_error_is_a_branch(compiled: Callable[..., Any]) -> None:
    def pick(x: Any, i: Any) -> Any:
        try:
            return x * [1.0, 2.0, 3.0][i]
        except Exception:
            return x * 50

    g = compiled(pick)
    for i in (1, 2, 7, 0):
        assert g.value_and_grad(2.0, rg.Index(i)) == rg.value_and_grad(pick)(2.0, rg.Index(i))


def test_an_index_out_of_range_that_is_caught(compiled: Callable[..., Any]) -> None:
    def pick(x: Any, i: Any) -> Any:
        try:
            return x * rg.take([1.0, 2.0, 3.0], i)
        except IndexError:
            return x * 50

    g = compiled(pick)
    for i in (1, 2, 7, 0, 7):
        assert g.value_and_grad(2.0, rg.Index(i)) == rg.value_and_grad(pick)(2.0, rg.Index(i))


W = rg.Value(2.0)
NO_DECAY = {W}
KIND = {float: 3.0, int: 5.0}


@pytest.mark.parametrize(
    "function",
    [
        lambda x, a: x * (1.0 if x is W else 9.0),
        lambda x, a: x * (0.0 if x in NO_DECAY else 1.0),
        lambda x, a: x * {W: 2.0}.get(x, 7.0),
        lambda x, a: x * (1.0 + (id(x) == id(W))),
        lambda x, a: x * (1.0 + (hash(x) == hash(W))),
        lambda x, a: x * KIND.get(type(a), 7.0),
        lambda x, a: x * (3.0 if type(a).__name__ == "float" else 7.0),
        lambda x, a: x * (3.0 if type(a) in (float, int) else 7.0),
        lambda x, a: x * (3.0 if type(a) is float else 7.0),
        lambda x, a: x * (3.0 if issubclass(type(a), float) else 7.0),
        lambda x, a: x * (3.0 if hasattr(a, "exp") else 4.0),
        lambda x, a: x * (3.0 if hasattr(max(a, 0.5), "exp") else 4.0),
        lambda x, a: x * getattr(a, "sqrt", lambda: 5.0)(),
    ],
    ids=[
        "is",
        "set",
        "dict",
        "id",
        "hash",
        "type table",
        "type name",
        "type in",
        "type is",
        "issubclass",
        "hasattr",
        "hasattr of a result",
        "getattr",
    ],
)
def test_what_a_tracer_could_answer_otherwise(compiled: Callable[..., Any], function: Callable[..., Any]) -> None:
    for argument in (W, rg.Value(3.0)):
        g = compiled(function)
        for _ in range(3):
            expected = function(argument, 2.5).data
            argument.grad = 0.0
            assert g.backward(argument, 2.5) == expected
            assert argument.grad == expected / argument.data
            assert g(argument, 2.5).data == expected


# --- arguments -------------------------------------------------------------------------------------------------


def test_the_same_value_twice(compiled: Callable[..., Any]) -> None:
    v = rg.Value(2.0)

    def product(p: Any) -> Any:
        return p[0] * p[1]

    for _ in range(2):
        assert compiled(product).value_and_grad([v, v]) == rg.value_and_grad(product)([v, v])


@pytest.mark.parametrize("number", [Fraction(1, 2), True, 3])
def test_numbers_of_other_types(compiled: Callable[..., Any], number: Any) -> None:
    def f(p: Any) -> Any:
        return p[0] * p[0] * p[1]

    g = compiled(f)
    for _ in range(2):
        assert g.value_and_grad([number, 2.0]) == rg.value_and_grad(f)([number, 2.0])


def test_sets_and_deques_as_arguments(compiled: Callable[..., Any]) -> None:
    from collections import deque

    g = compiled(lambda x, s, d: x * float(len(s)) * sum(d))
    s, d = {1, 2}, deque([1.0, 2.0])
    assert g.value_and_grad(2.0, s, d) == (12.0, 6.0)
    s.add(3)
    d.append(3.0)
    assert g.value_and_grad(2.0, s, d) == (36.0, 18.0)


# --- the engine's bits -----------------------------------------------------------------------------------------


def test_exact_bits_with_choices() -> None:
    def f(p: Any, i: Any) -> Any:
        big = max(p[0] * p[1], p[2])
        return big * 0.1 + big * p[1] + rg.take(p, i) * 0.3 + rg.take(p, i) * big

    g = rg.compile(f, exact=True)
    for k in range(200):
        p = [math.sin(k + j) * 3 for j in range(3)]
        assert g.value_and_grad(p, rg.Index(k % 3)) == rg.value_and_grad(f)(p, rg.Index(k % 3))


def by_first(p: Any, x: Any) -> Any:
    """Its derivative by ``x`` is a term that the inner function only closes over."""
    return rg.grad(lambda q: q * q * x * x)(p)


def along_second(p: Any, x: Any) -> Any:
    value, slope = rg.jvp(lambda q: p * q * q, x, 1.0)
    return value * slope


@pytest.mark.parametrize("f", [by_first, along_second])
@pytest.mark.parametrize("options", KINDS)
def test_derivatives_inside_can_be_differentiated_by_what_they_close_over(f: Any, options: str) -> None:
    g = KINDS[options](f)
    for at in ((1.0, 3.0), (2.0, 0.5)):
        for which in (0, 1, (0, 1)):
            assert rg.grad(g, argnums=which)(*at) == pytest.approx(rg.grad(f, argnums=which)(*at), rel=1e-14)
        assert g.value_and_grad(*at) == pytest.approx(rg.value_and_grad(f)(*at), rel=1e-14)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_derivative_is_connected_to_values_in_containers(compiled: bool) -> None:
    """As in the loss of a differential equation, which has the weights in a list."""

    def net(w: Any, x: Any) -> Any:
        return w["a"][0] * x * x

    def loss(w: Any, x: Any) -> Any:
        return rg.grad(net, argnums=1)(w, x) ** 2 + w["a"][0]

    weights = {"a": [Value(2.0), 1.0]}
    f = rg.compile(loss) if compiled else loss
    if compiled:
        f.backward(weights, 3.0)
    else:
        f(weights, 3.0).backward()
    assert weights["a"][0].grad == 145.0
    assert rg.grad(f)({"a": [2.0, 1.0]}, 3.0) == {"a": [145.0, 0.0]}
    assert isinstance(rg.grad(net, argnums=1)(weights, 3.0), Value)
    assert isinstance(rg.grad(net, argnums=1)({"a": [2.0]}, 3.0), float)


@dataclasses.dataclass
class Pair:
    rate: Any
    size: Any


def as_dict(p: Any) -> Any:
    d = dataclasses.asdict(Pair(p[0] * 2.0, p[1]))
    return d["rate"] * d["size"]


def as_tuple(p: Any) -> Any:
    a, b = dataclasses.astuple(Pair(p[0], p[1] * p[0]))
    return a * b


def copied(p: Any) -> Any:
    a, b = copy.deepcopy(p)
    return copy.copy(a) * copy.deepcopy([a * b, b])[0]


@pytest.mark.parametrize("f", [as_dict, as_tuple, copied])
def test_copies_inside_a_transform_keep_their_gradients(f: Any) -> None:
    eager = rg.grad(f)([3.0, 5.0])
    assert eager == ([10.0, 6.0] if f is as_dict else [30.0, 9.0])
    g = rg.compile(f)
    for _ in range(2):
        assert rg.grad(g)([3.0, 5.0]) == eager
        assert g.value_and_grad([3.0, 5.0]) == (f([3.0, 5.0]), eager)
        assert rg.hessian(g)([3.0, 5.0]) == rg.hessian(f)([3.0, 5.0])
    assert g.stats().eager == 0


def test_copies_of_what_is_no_variable_are_others() -> None:
    """Of a Value from outside, and of a module inside, whose parameters may be trained there."""
    model, kept = rg.nn.Linear(1, 1), Value(2.0) * 1.0

    def outer(model: Any, x: float) -> Any:
        fast, other = copy.deepcopy(model), copy.deepcopy(kept)
        for parameter in fast.parameters():
            parameter.data += 1.0
        other.data = 7.0
        return (model([x])[0] - fast([x])[0]) ** 2

    value, gradient = rg.value_and_grad(outer)(model, 2.0)
    assert (value, kept.data) == (9.0, 2.0)
    assert gradient == [-12.0, -6.0]


def test_other_arguments_may_contain_themselves() -> None:
    @dataclasses.dataclass
    class Node:
        weight: Any
        parent: Any = None
        unset: Any = dataclasses.field(init=False)

    node = Node(2.0)
    node.parent = node
    chain: Any = []
    for _ in range(3000):
        chain = [chain, chain]
    for other in (node, chain):
        assert rg.grad(lambda x, _: x * x)(3.0, other) == 6.0
    node.weight, node.unset = Value(2.0), None
    slope = rg.grad(lambda x, n: x * x * n.weight)(3.0, node)
    assert rg.gradient(slope, node.weight) == 6.0


def test_what_a_module_has_is_no_question_about_a_number() -> None:
    compiled = rg.compile(lambda x: x * (2.0 if hasattr(np, "tanh") else 3.0))
    assert [compiled(W).data, compiled(W).data] == [2.0 * W.data] * 2
    assert compiled.stats().eager == 0
