"""vjp, vmap and has_aux: alone, against JAX, and nested with the other transforms and with compile, three deep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.parts import ALL, require

import retrograd as rg
from retrograd import Value, engine
from retrograd import math as rmath

NATIVE = engine.ENGINE == "native"


class Point(NamedTuple):
    x: Any
    y: Any


# --- vjp ------------------------------------------------------------------------------------------------------


def test_any_tree_of_outputs() -> None:
    def f(p: Any, scale: Any) -> dict[str, Any]:
        return {"sum": (p[0] + p[1]) * scale, "rest": Point(p[0] * p[1], [rmath.sin(p[1]), 7.0])}

    outputs, pullback = rg.vjp(f, [2.0, 3.0], 10.0)
    assert outputs == {"sum": 50.0, "rest": Point(6.0, [math.sin(3.0), 7.0])}
    assert isinstance(outputs["rest"], Point)
    for seeds in itertools.product((0.0, 1.0, -2.5), repeat=4):
        cotangent = {"sum": seeds[0], "rest": Point(seeds[1], [seeds[2], seeds[3]])}
        (dp, dscale) = pullback(cotangent)
        assert dp == pytest.approx(
            [seeds[0] * 10.0 + seeds[1] * 3.0, seeds[0] * 10.0 + seeds[1] * 2.0 + seeds[2] * math.cos(3.0)]
        )
        assert dscale == seeds[0] * 5.0


def test_every_row_of_the_jacobian() -> None:
    def f(x: Any) -> Any:
        return np.array([x[0] * x[1], rmath.exp(x[2]), x[0] - x[2]])

    at = np.array([1.0, -2.0, 0.5])
    outputs, pullback = rg.vjp(f, at)
    assert isinstance(outputs, np.ndarray)
    rows = [pullback(row)[0] for row in np.eye(3)]
    assert np.array_equal(rows, rg.jacobian(f)(at))


def test_against_jax() -> None:
    jax = require("jax")
    from retrograd.ops.jax_functions import double_precision

    def f(library: Any) -> Callable[..., Any]:
        return lambda x, y: (library.sin(x) * y, {"q": x * x / y})

    outputs, pullback = rg.vjp(f(rmath), 0.7, -1.3)
    with double_precision():
        expected, pull = jax.vjp(f(jax.numpy), 0.7, -1.3)
        assert outputs[0] == pytest.approx(float(expected[0]), rel=1e-15)
        theirs = pull((jax.numpy.asarray(2.0), {"q": jax.numpy.asarray(-3.0)}))
        assert pullback((2.0, {"q": -3.0})) == pytest.approx(tuple(map(float, theirs)), rel=1e-14)


def test_values_stay_in_the_graph() -> None:
    x, seed = Value(3.0), Value(2.0)
    y, pullback = rg.vjp(lambda z: z**3, x)
    assert isinstance(y, Value)
    (slope,) = pullback(seed)
    assert slope.data == 54.0
    assert rg.gradient(slope, [x, seed]) == [2.0 * 18.0, 27.0]
    slope.backward()
    assert (x.grad, seed.grad) == (36.0, 27.0)
    (only_seed,) = rg.vjp(lambda z: z**3, 3.0)[1](seed)
    assert rg.gradient(only_seed, seed) == 27.0


def test_a_zero_cotangent_of_an_infinite_output() -> None:
    with rg.errstate(divide="ignore"):
        _, pullback = rg.vjp(lambda x: [1 / x, x * 2.0], 0.0)
    assert pullback([0.0, 1.0]) == (2.0,)


def test_wrong_cotangents_and_outputs() -> None:
    _, pullback = rg.vjp(lambda x: [x, x], 1.0)
    for wrong in (1.0, [1.0], (1.0, 1.0), [1.0, [1.0]]):
        with pytest.raises(TypeError, match="a cotangent has the structure of the outputs"):
            pullback(wrong)
    with pytest.raises(TypeError, match="the result of"):
        rg.vjp(lambda x: "text", 1.0)


def test_nothing_is_recorded_where_nothing_is_wanted() -> None:
    x = Value(2.0)
    with rg.no_grad():
        y, pullback = rg.vjp(lambda z: z * z, x)
        (slope,) = pullback(1.0)
    assert (y.data, y._children, slope.data, slope._children) == (4.0, (), 4.0, ())
    assert x.grad == 0.0


# --- has_aux --------------------------------------------------------------------------------------------------


def test_aux() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * x * y, {"parts": [x, (y * 2.0, "text", None)], "point": Point(x, 1)}

    aux = {"parts": [3.0, (10.0, "text", None)], "point": Point(3.0, 1)}
    assert rg.grad(f, has_aux=True)(3.0, 5.0) == (30.0, aux | {"parts": [3.0, (10.0, "text", None)]})
    value, slopes = rg.value_and_grad(f, argnums=(0, 1), has_aux=True)(3.0, Value(5.0))
    assert (value[0].data, [s.data for s in slopes]) == (45.0, [30.0, 9.0])
    assert isinstance(value[1]["parts"][0], Value)
    outputs, pullback, found = rg.vjp(f, 3.0, 5.0, has_aux=True)
    assert (outputs, pullback(1.0), type(found["parts"][0])) == (45.0, (30.0, 9.0), float)
    assert isinstance(found["point"], Point)


def test_aux_inside_another_transform() -> None:
    def f(x: Any) -> Any:
        return x**3, x * 10.0

    def g(x: Any) -> Any:
        slope, aux = rg.grad(f, has_aux=True)(x)
        return slope * aux

    assert rg.grad(g)(2.0) == pytest.approx(90.0 * 4.0)


@pytest.mark.parametrize("result", [3.0, (1.0,), [1.0, 2.0], (1.0, 2.0, 3.0)])
def test_without_a_pair(result: Any) -> None:
    for transform in (rg.grad, rg.value_and_grad):
        with pytest.raises(TypeError, match=r"must return a tuple \(value, aux\)"):
            transform(lambda x: result, has_aux=True)(1.0)


# --- vmap -----------------------------------------------------------------------------------------------------


def test_lists_and_arrays_are_axes() -> None:
    assert rg.vmap(lambda x: x * 2.0)([1.0, 2.0]) == [2.0, 4.0]
    doubled = rg.vmap(lambda x: x * 2.0)(np.array([1.0, 2.0]))
    assert isinstance(doubled, np.ndarray)
    assert doubled.dtype == np.float64
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert rg.vmap(sum)(rows) == [6.0, 15.0]
    assert rg.vmap(sum, in_axes=1)(rows) == [5.0, 7.0, 9.0]
    assert rg.vmap(sum, in_axes=-1)(rows) == [5.0, 7.0, 9.0]
    assert rg.vmap(np.sum, in_axes=1)(np.array(rows)).tolist() == [5.0, 7.0, 9.0]
    assert rg.vmap(lambda row: [x + 1.0 for x in row])(rows) == [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
    assert rg.vmap(lambda row: row * 2.0)(np.array(rows)).tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    assert rg.vmap(lambda x: x)([]) == []
    narrow = np.arange(3, dtype=np.float32)
    assert rg.vmap(lambda x: x * narrow.dtype.type(2))(narrow).dtype == np.float32


def test_what_holds_several_things() -> None:
    both = rg.vmap(lambda p: {"sum": p.x + p.y, "pair": (p.x, [p.y])})(Point([1.0, 2.0], [10.0, 20.0]))
    assert both == {"sum": [11.0, 22.0], "pair": ([1.0, 2.0], [[10.0], [20.0]])}
    assert rg.vmap(lambda x, d, scale: x * d["w"] * scale, in_axes=(0, None))(
        [1.0, 2.0], {"w": 3.0}, scale=[1.0, 10.0]
    ) == [
        3.0,
        60.0,
    ]
    values = rg.vmap(lambda x: x * x)(np.array([Value(2.0), Value(3.0)]))
    assert [v.data for v in values] == [4.0, 9.0]


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: rg.vmap(lambda x, y: x)([1.0], [1.0, 2.0]), ValueError, "argument 0 has 1; argument 1 has 2"),
        (lambda: rg.vmap(lambda x: x, in_axes=None)([1.0]), ValueError, "nothing to map"),
        (lambda: rg.vmap(lambda x: x)(1.0), TypeError, "along axis 0"),
        (lambda: rg.vmap(lambda x: x, in_axes=2)(np.zeros((2, 2))), TypeError, "with 2 axes"),
        (lambda: rg.vmap(lambda x, y: x, in_axes=(0,))([1.0], 1.0), TypeError, "in_axes has 1"),
    ],
)
def test_what_cannot_be_mapped(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()


@pytest.mark.long
def test_vmap_against_jax() -> None:
    jax = require("jax")
    from retrograd.ops.jax_functions import double_precision

    xs, ws = np.array([[0.3, 0.7], [1.5, -0.2], [0.1, 0.9]]), np.array([2.0, -1.0])

    def f(x: Any, w: Any) -> Any:
        return (x[0] * w[0] + x[1] * w[1]) ** 3 * x[0]

    with double_precision():
        exact = jax.vmap(jax.grad(f, argnums=(0, 1)), in_axes=(0, None))(xs, ws)
        hessians = jax.vmap(jax.hessian(f), in_axes=(0, None))(xs, ws)
        exact, hessians = [np.array(e) for e in exact], np.array(hessians)
    ours = rg.vmap(rg.grad(f, argnums=(0, 1)), in_axes=(0, None))(xs, ws)
    assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(ours, exact, strict=True))
    assert np.allclose(rg.vmap(rg.hessian(f), in_axes=(0, None))(xs, ws), hessians, rtol=1e-12)


# --- three deep -----------------------------------------------------------------------------------------------


def of_vjp(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The derivative by vjp, of two outputs whose cotangents are not all one."""
    return lambda x: rg.vjp(lambda z: {"a": f(z), "b": [f(z) * z]}, x)[1]({"a": 1.0, "b": [0.5]})[0]


def of_vmap(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: rg.sum(rg.vmap(lambda z, w: f(z) * w, in_axes=(0, None))([x, x * 0.5], x))


def of_aux(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def both(x: Any) -> Any:
        slope, aux = rg.grad(lambda z: (f(z), z * z), has_aux=True)(x)
        return slope + aux

    return both


def of_value_and_grad(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def both(x: Any) -> Any:
        (value, aux), slope = rg.value_and_grad(lambda z: (f(z), z), has_aux=True)(x)
        return value * slope + aux

    return both


def compiled(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return rg.compile(f)


def plain(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return f


TRANSFORMS: dict[str, Callable[..., Any]] = {
    "vjp": of_vjp,
    "vmap": of_vmap,
    "aux": of_aux,
    "value_and_grad": of_value_and_grad,
    "grad": rg.grad,
    "jvp": lambda f: lambda x: rg.jvp(f, x, 1.0)[1],
    "compile": compiled,
}
NEW = {"vjp", "vmap", "aux", "value_and_grad"}
THREE = [names for names in itertools.product(TRANSFORMS, repeat=3) if NEW & {*names}]
COMPILED = [names for names in THREE if "compile" in names]
#: A tenth in every run, all of them in ``make accuracy``.
STEP = 1 if ALL else 10


def base(x: Any) -> Any:
    return rmath.sin(x) * x + rmath.exp(x * 0.3)


def nested(names: tuple[str, ...], as_it_is: bool = False) -> Callable[[Any], Any]:
    f: Callable[[Any], Any] = base
    for name in names:
        f = plain(f) if as_it_is and name == "compile" else TRANSFORMS[name](f)
    return f


@pytest.mark.skipif(not NATIVE, reason="the reference engine has no compiler")
@pytest.mark.parametrize("names", COMPILED[::STEP], ids="-".join)
def test_compile_changes_nothing(names: tuple[str, ...]) -> None:
    function, expected = nested(names), nested(names, as_it_is=True)
    for x in (0.7, -1.2, 0.7):
        assert function(x) == pytest.approx(expected(x), rel=1e-12)


@pytest.mark.parametrize("names", [n for n in THREE if n not in COMPILED][::STEP], ids="-".join)
def test_transforms_of_transforms(names: tuple[str, ...]) -> None:
    """Against mpmath's derivatives of what each transform means."""
    mp = require("mpmath").mp

    def slope(g: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: mp.diff(g, x)

    means: dict[str, Callable[..., Any]] = {
        "vjp": lambda g: lambda x: mp.diff(g, x) * (1 + x / 2) + g(x) / 2,
        "vmap": lambda g: lambda x: (g(x) + g(x / 2)) * x,
        "aux": lambda g: lambda x: mp.diff(g, x) + x * x,
        "value_and_grad": lambda g: lambda x: g(x) * mp.diff(g, x) + x,
        "grad": slope,
        "jvp": slope,
    }
    with mp.workdps(80):
        exact: Callable[[Any], Any] = lambda x: mp.sin(x) * x + mp.exp(x * mp.mpf(0.3))  # noqa: E731
        for name in names:
            exact = means[name](exact)
        assert nested(names)(0.7) == pytest.approx(float(exact(mp.mpf(0.7))), rel=1e-10)


def test_a_pullback_of_the_outputs_themselves() -> None:
    """The cotangent depends on the variables, and is no operand of what is differentiated: J^T r."""

    def residuals(p: list[Any]) -> list[Any]:
        return [p[0] * p[1], p[1] - 1.0]

    def norm(p: list[Any]) -> Any:
        outputs, pullback = rg.vjp(residuals, p)
        (slopes,) = pullback(outputs)
        return slopes[0] * slopes[0] + slopes[1]

    assert norm([2.0, 3.0]) == 338.0
    assert norm([Value(2.0), Value(3.0)]).data == 338.0
    assert rg.value_and_grad(norm)([2.0, 3.0]) == (338.0, [336.0, 437.0])
    assert rg.hessian(norm)([2.0, 3.0]) == rg.jacobian(rg.grad(norm))([2.0, 3.0])
