"""retrograd.math is what Python's math is: every name of it, on Values, floats, arrays, in traces and to any order."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
from retrograd import Value, engine, errors
from retrograd import math as rmath

native = pytest.mark.skipif(engine.ENGINE != "native", reason="the reference engine has no compiler")

#: Every name of ``math`` from Python 3.11 to 3.13, by what is made of it.
ROWS = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos", "cosh", "degrees", "erf",
    "erfc", "exp", "exp2", "expm1", "fabs", "fmod", "gamma", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow",
    "prod", "radians", "remainder", "sin", "sinh", "sqrt", "tan", "tanh",
}  # fmt: skip
STEPS = {"floor", "ceil", "trunc"}  #: rows that give a float where Python gives an int
COMPOSED = {"dist", "fma", "frexp", "fsum", "ldexp", "modf", "nextafter", "sumprod"}
ANSWERS = {"isclose", "isfinite", "isinf", "isnan", "ulp"}
WHOLE = {"comb", "factorial", "gcd", "isqrt", "lcm", "perm"}
CONSTANTS = {"e", "inf", "nan", "pi", "tau"}

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.0, -7.0, 1e-320, -5e-324, 1e308, -1e308, 1e16, 0.1, -0.3]
WILD = [*SPECIAL, math.inf, -math.inf, math.nan]


def outcome(function: Callable[..., Any], *operands: Any) -> Any:
    """The result as a float, or the class of the error that Python raises."""
    try:
        return plain(function(*operands))
    except (ArithmeticError, ValueError) as error:
        return next(cls for cls in (ZeroDivisionError, OverflowError, ValueError) if isinstance(error, cls))


def plain(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(plain, result))
    return result.data if isinstance(result, Value) else result


def same(left: Any, right: Any, ulps: int = 0) -> bool:
    """Equal to the bit (a NaN equals itself), or within some units in the last place."""
    if isinstance(left, tuple):
        return all(same(x, y, ulps) for x, y in zip(left, right, strict=True))
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return bool(left is right)
    if left != left or right != right:
        return bool(left != left and right != right)
    if left == right:
        return left != 0 or isinstance(right, int) or math.copysign(1.0, left) == math.copysign(1.0, right)
    return math.isfinite(left) and math.isfinite(right) and abs(left - right) <= ulps * math.ulp(float(right))


def test_every_name_of_math_is_there() -> None:
    known = ROWS | STEPS | COMPOSED | ANSWERS | WHOLE | CONSTANTS
    names = {name for name in dir(math) if not name.startswith("_")}
    assert names <= known, f"Python's math has {sorted(names - known)}: decide what retrograd.math makes of it"
    for name in known:
        assert name in rmath.__all__, name
        assert hasattr(rmath, name), name
    assert known >= {"cbrt", "fma", "sumprod"}


@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_constants(name: str) -> None:
    assert same(getattr(rmath, name), getattr(math, name))


def operand_lists(name: str) -> Sequence[tuple[Any, ...]]:
    if name in ("atan2", "copysign", "fmod", "remainder", "pow", "hypot", "nextafter", "isclose"):
        return [(a, b) for a in WILD for b in WILD]
    return [(a,) for a in WILD]


@pytest.mark.parametrize("name", sorted((ROWS | STEPS | {"frexp", "modf", "nextafter"} | ANSWERS) - {"prod"}))
def test_the_same_as_python_on_values_and_floats(name: str) -> None:
    """Values and errors everywhere; the errors of pow are those of ``**``. C's gamma has other last bits."""
    theirs, ours = getattr(math, name), getattr(rmath, name)
    ulps = {"gamma": 10, "lgamma": 100, "cbrt": 1, "hypot": 1}.get(name, 0 if name not in ROWS else 1)
    for operands in operand_lists(name):
        expected = outcome(theirs, *operands)
        if name == "pow" and expected is ValueError and operands[0] == 0:
            expected = ZeroDivisionError
        for given in (operands, tuple(map(Value, operands))):
            assert same(outcome(ours, *given), expected, ulps), (name, given, outcome(ours, *given), expected)


@pytest.mark.parametrize("b", [5e-324, 1e-9, 0.25, 0.5, 1.0 - 2.0**-53, 1.0, 1.5, 2.0, 7.0, 1e308])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_power_of_zero_does_not_depend_on_its_exponent(zero: float, b: float) -> None:
    """For b above 0 it is 0, so that every derivative by b is 0; the second was NaN up to b = 1."""
    for base, orders in ((zero, 3), (Value(zero), 2)):
        function: Callable[[Any], Any] = lambda y, base=base: base**y  # noqa: E731
        for _ in range(orders):
            function = rg.grad(function)
            assert plain(function(b)) == 0.0
    hessian = rg.hessian(lambda a, y: a**y, argnums=(0, 1))(zero, b)
    assert hessian[1][1] == 0.0
    slope = rg.grad(lambda a: rg.grad(lambda y: a**y)(b))(zero)  # of a**b log(a): minus infinity up to b = 1
    assert slope == (-math.inf if b <= 1.0 else 0.0)


def test_pow_of_zero_is_caught_as_both() -> None:
    """``0 ** -1`` is a ZeroDivisionError and math.pow's a ValueError: except clauses for either work."""
    for base in (0.0, Value(0.0)):
        for kind in (ZeroDivisionError, ValueError, errors.DivisionByZeroError):
            with pytest.raises(kind):
                rmath.pow(base, -1.0)
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1.0 / Value(0.0)
    assert not isinstance(caught.value, ValueError)


# --- remainder ------------------------------------------------------------------------------------------------


def test_remainder_is_pythons() -> None:
    chooser = random.Random(5)
    numbers = [
        *WILD,
        *(chooser.uniform(-100, 100) for _ in range(20)),
        *(chooser.randint(-9, 9) / 2 for _ in range(10)),
    ]
    for a in numbers:
        for b in numbers:
            expected = outcome(math.remainder, a, b)
            assert same(outcome(rmath.remainder, Value(a), b), expected), (a, b)
            assert same(outcome(rmath.remainder, a, b), expected), (a, b)
    assert rmath.remainder(7, 4) == Value(7.0).remainder(4.0).data == -1.0


def test_the_percent_sign_and_numpy_keep_theirs() -> None:
    a = np.array([Value(7.0), Value(-7.0)])
    assert [x.data for x in np.remainder(a, 4.0)] == [x.data for x in np.mod(a, 4.0)] == [3.0, 1.0]
    assert [(x % 4.0).data for x in a] == [rmath.mod(x, 4.0).data for x in a] == [3.0, 1.0]


@pytest.mark.parametrize(("name", "whole"), [("fmod", math.trunc), ("remainder", round)])
def test_slopes_of_remainders_are_exact(name: str, whole: Callable[[Any], int]) -> None:
    """At 0.9, 0.1 the rounded quotient is 9.0, though 0.1 goes into 0.9 eight times."""
    chooser = random.Random(7)
    pairs = [(0.9, 0.1), (1e17, 3.0), (-0.9, 0.1), (3.0, 2.0), (5.0, -2.0)]
    pairs += [(chooser.randint(1, 999) * b, b) for b in (chooser.uniform(0.01, 2.0) for _ in range(300))]
    for a, b in pairs:
        y = getattr(rmath, name)(Value(a), Value(b))
        assert y._local_grads == pytest.approx((1.0, -float(whole(Fraction(a) / Fraction(b)))), rel=1e-15), (a, b)


# --- against mpmath and finite differences ----------------------------------------------------------------------


@pytest.mark.parametrize("x", [0.3, 1.0, 1.4616321449683622, 4.5, 20.25, 150.0, -0.5, -2.75, -20.3])
def test_gamma_to_third_order(x: float) -> None:
    mp = require("mpmath").mp
    function = rmath.gamma
    with mp.workdps(60):
        for order in range(4):
            exact = mp.diff(mp.gamma, mp.mpf(x), order)
            got = function(x)
            assert abs(got - float(exact)) <= 1e-12 * abs(float(exact)) + 1e-14 * abs(math.gamma(x)), order
            function = rg.grad(function)


@pytest.mark.parametrize(
    "point", [(3.0, 4.0, 12.0), (0.0, 0.0, 2.0), (1e200, -1e200, 3e199), (1e-200, 2e-200, 0.0, -1e-200)]
)
def test_hypot_of_many(point: tuple[float, ...]) -> None:
    """At (0, 0, c), too, where hypot(hypot(0, 0), c) would lose the second derivative 1/c."""
    r = math.hypot(*point)
    assert rmath.hypot(*point) == pytest.approx(r, rel=1e-15)
    assert rg.grad(lambda p: rmath.hypot(*p))(list(point)) == pytest.approx([x / r for x in point], rel=1e-14)
    hessian = rg.hessian(lambda p: rmath.dist(p, [0.0] * len(p)))(list(point))
    for i, row in enumerate(hessian):
        for k, got in enumerate(row):
            exact = ((i == k) - (point[i] / r) * (point[k] / r)) / r
            assert got == pytest.approx(exact, rel=1e-12, abs=1e-13 / r)


def test_hypot_at_its_edges() -> None:
    assert rmath.hypot() == 0.0
    assert rmath.hypot(-3.0) == 3.0
    assert rmath.hypot(Value(-3.0)).data == 3.0
    assert rg.grad(lambda p: rmath.hypot(*p))([0.0, 0.0, 0.0]) == [0.0, 0.0, 0.0]
    assert rmath.hypot(math.nan, 1.0, -math.inf) == math.inf
    assert math.isnan(rmath.hypot(math.nan, 1.0, 2.0))
    with pytest.raises(ValueError, match="dist needs two sequences of equal length"):
        rmath.dist([1.0], [1.0, 2.0])


def test_log_with_a_base() -> None:
    for x, base in ((8.0, 2.0), (0.3, 10.0), (5.0, 0.5)):
        for given in ((x, base), (Value(x), base), (x, Value(base)), (Value(x), Value(base))):
            assert plain(rmath.log(*given)) == math.log(x, base)
        slopes = rg.grad(rmath.log, argnums=(0, 1))(x, base)
        assert slopes == pytest.approx((1 / (x * math.log(base)), -math.log(x) / (base * math.log(base) ** 2)))
    assert rmath.log(5.0, None) == math.log(5.0)
    with pytest.raises(ZeroDivisionError):
        rmath.log(Value(3.0), 1.0)
    with pytest.raises(ZeroDivisionError):
        rmath.log(3.0, 1.0)
    with pytest.raises(TypeError):
        rmath.log()


def test_sums_are_rounded_once() -> None:
    chooser = random.Random(2)
    lists = [[0.1] * 10, [1e16, 1.0, -1e16], [], [math.inf, 1.0], [1e100, 1.0, -1e100, 1e-20]]
    lists += [[chooser.uniform(-1, 1) * 10.0 ** chooser.randint(-20, 20) for _ in range(9)] for _ in range(20)]
    for numbers in lists:
        assert rmath.fsum(numbers) == math.fsum(numbers)
        values = [Value(x) for x in numbers]
        total = rmath.fsum(values)
        assert plain(total) == math.fsum(numbers)
        if values:
            assert rg.gradient(total, values) == [1.0] * len(values)
        if all(map(math.isfinite, numbers)):
            exact = (
                float(sum((Fraction(x) * Fraction(x) for x in numbers), Fraction(0)))
                if max(map(abs, numbers), default=0) < 1e150
                else None
            )
            if exact is not None:
                assert rmath.sumprod(numbers, numbers) == plain(rmath.sumprod(values, values)) == exact
    with pytest.raises(OverflowError):
        rmath.fsum([Value(1e308), 1e308, -1e308])  # as Python's, which wants no larger number on the way
    with pytest.raises(ValueError, match="fsum"):
        rmath.fsum([Value(math.inf), -math.inf])
    x, y = Value(0.1), Value(10.0)
    product = rmath.sumprod([x, 1.0], [y, -1.0])
    assert product.data == 5.551115123125783e-17
    assert rg.gradient(product, [x, y]) == [10.0, 0.1]
    assert rg.hessian(lambda p: rmath.sumprod([p[0]], [p[1]]))([0.1, 3.0]) == [[0.0, 1.0], [1.0, 0.0]]


def test_fma_is_rounded_once() -> None:
    chooser = random.Random(4)
    for _ in range(200):
        x, y, z = (chooser.choice([chooser.uniform(-2, 2), 0.1, -0.0, 0.0, 10.0, -1.0, 1e-300]) for _ in range(3))
        exact = float(Fraction(x) * Fraction(y) + Fraction(z))
        assert rmath.fma(x, y, z) == rmath.fma(Value(x), y, Value(z)).data == exact
    assert rg.grad(rmath.fma, argnums=(0, 1, 2))(0.1, 10.0, -1.0) == (10.0, 0.1, 1.0)
    for operands, kind in (((math.inf, 0.0, 1.0), ValueError), ((1e308, 10.0, 0.0), OverflowError)):
        with pytest.raises(kind):
            rmath.fma(Value(operands[0]), *operands[1:])


def test_prod_with_a_start() -> None:
    assert rmath.prod([2.0, 5.0], start=3.0) == math.prod([2.0, 5.0], start=3.0)
    assert rg.grad(lambda s: rg.prod([2.0, 5.0], start=s))(3.0) == 10.0


@pytest.mark.parametrize("x", [0.75, -3.0, 1e-310, 1e300, 0.0])
@pytest.mark.parametrize("i", [-2200, -1100, -1080, -1074, -30, 0, 3, 1000, 1023])
def test_ldexp(x: float, i: int) -> None:
    assert same(outcome(rmath.ldexp, Value(x), i), outcome(math.ldexp, x, i))
    assert same(outcome(rmath.ldexp, x, i), outcome(math.ldexp, x, i))
    if abs(i) < 100:
        assert rg.grad(lambda v: rmath.ldexp(v, i))(x) == 2.0**i


def test_ldexp_beyond_the_range() -> None:
    assert rmath.ldexp(5e-324, 2000) == math.ldexp(5e-324, 2000)
    with rg.errstate(over="ignore"):
        assert rmath.ldexp(Value(1.0), 5000).data == math.inf
    with pytest.raises(TypeError):
        rmath.ldexp(1.0, 2.0)


def test_parts_of_a_float() -> None:
    assert rg.grad(lambda v: rmath.modf(v)[0])(-2.75) == 1.0
    assert rg.grad(lambda v: rmath.modf(v)[1])(-2.75) == 0.0
    assert rg.grad(lambda v: rmath.frexp(v)[0])(6.0) == 0.125
    assert rg.grad(rmath.nextafter)(1.0, 2.0) == 1.0
    assert rmath.nextafter(1.0, 2.0, steps=3) == 1.0 + 3 * 2.0**-52
    assert rmath.nextafter(-5e-324, 1.0, steps=2) == 5e-324
    assert rmath.nextafter(1.0, 1.5, steps=10**18) == 1.5
    assert rmath.nextafter(1.0, 2.0, steps=0) == 1.0


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_functions_of_whole_numbers(name: str) -> None:
    operands = (6, 4) if name not in ("factorial", "isqrt") else (6,)
    assert getattr(rmath, name)(*operands) == getattr(math, name)(*operands)
    with pytest.raises(TypeError, match="takes whole numbers and has no derivative"):
        getattr(rmath, name)(*map(Value, operands))


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "ulp", "modf", "ldexp", "fsum", "exp", "copysign"])
def test_what_is_no_number_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="takes"):
        getattr(rmath, name)(*(["three"] * (2 if name in ("copysign",) else 1)), *([1] if name == "ldexp" else []))


# --- arrays -----------------------------------------------------------------------------------------------------


def test_arrays_of_values() -> None:
    a = np.array([[Value(1.0), Value(math.nan)], [Value(-2.0), Value(math.inf)]])
    assert rmath.isnan(a).tolist() == [[False, True], [False, False]]
    assert rmath.isfinite(a).tolist() == [[True, False], [True, False]]
    assert rmath.isnan(np.array([1.0, math.nan])).tolist() == [False, True]
    assert [x.data for x in rmath.copysign(a[:, 0], np.array([-1.0, 1.0]))] == [-1.0, 2.0]
    assert rmath.exp(np.array([0.0, 1.0])).dtype == np.float64
    x, y = np.array([Value(1.0), Value(2.0)]), np.array([3.0, -4.0])
    assert [v.data for v in rmath.logaddexp(x, y)] == pytest.approx(np.logaddexp([1.0, 2.0], y).tolist())
    assert [v.data for v in rmath.maximum(x, 1.5)] == [1.5, 2.0]
    assert rmath.where(np.array([True, False]), x, y)[1] == -4.0
    assert [v.data for v in x[0].maximum(y)] == [3.0, 1.0]
    with pytest.raises(TypeError, match="exp takes real numbers"):
        rmath.exp([1.0, 2.0])


def test_numpys_own_functions_on_arrays_of_values() -> None:
    x = np.array([Value(-1.0), Value(0.25), Value(3.0)])
    clipped = np.clip(x, 0.0, 1.0)
    assert [plain(v) for v in clipped] == [0.0, 0.25, 1.0]
    assert [plain(v) for v in np.where(np.array([True, False, True]), x, 0.0)] == [-1.0, 0.0, 3.0]
    assert [plain(v) for v in np.maximum(x, 0.5)] == [0.5, 0.5, 3.0]
    assert rg.grad(lambda p: np.sum(np.clip(p, 0.0, 1.0)))(np.array([-1.0, 0.25, 3.0])).tolist() == [0.0, 1.0, 0.0]
    assert [plain(v) for v in np.round(x)] == [-1.0, 0.0, 3.0]
    with pytest.raises(TypeError):  # NumPy has no such function for objects: docs/numpy.md says what to write
        np.isnan(x)


# --- Python's own functions -----------------------------------------------------------------------------------


def test_divmod_and_round() -> None:
    for a, b in ((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0)):
        for left, right in ((Value(a), Value(b)), (Value(a), b), (a, Value(b)), (Value(a), Fraction(b))):
            assert plain(divmod(left, right)) == divmod(a, b)
    v = Value(7.5)
    quotient, rest = divmod(v, 2.0)
    (quotient * 10.0 + rest).backward()
    assert v.grad == 1.0
    with pytest.raises(ZeroDivisionError):
        divmod(Value(1.0), 0.0)
    with pytest.raises(TypeError):
        divmod(Value(1.0), "two")
    for x in (2.5, 3.5, -0.5, 7.0, 1e300):
        assert round(Value(x)).data == round(x)
        assert isinstance(round(Value(x)), Value)
    assert round(Value(2.675), 1).data == round(2.675, 1)
    assert round(Value(1234.0), -2).data == 1200.0
    assert rg.grad(lambda x: round(x) * x + round(x, 1))(2.6) == 3.0
    for x, kind in ((math.inf, OverflowError), (math.nan, ValueError)):
        with pytest.raises(kind):
            round(Value(x))
        with rg.errstate(over="ignore", invalid="ignore"):
            assert not math.isfinite(round(Value(x)).data)
    with pytest.raises(TypeError):
        round(Value(1.0), "two")


# --- in traces ------------------------------------------------------------------------------------------------

TRACED: dict[str, Callable[..., Any]] = {
    "isnan": lambda x, a: x * (2.0 if rmath.isnan(a) else 3.0),
    "isfinite": lambda x, a: x * (2.0 if rmath.isfinite(x * a) else 3.0),
    "isinf": lambda x, a: x * (2.0 if rmath.isinf(a) else a),
    "isclose": lambda x, a: x * x if rmath.isclose(x, a, rel_tol=0.1) else x * 7.0,
    "copysign": lambda x, a: rmath.copysign(x, a) * x,
    "remainder": lambda x, a: rmath.remainder(x, 0.7) * a + rmath.remainder(a, 0.3),
    "gamma": lambda x, a: rmath.gamma(x) + rmath.gamma(a) * x,
    "log": lambda x, a: rmath.log(x, 3.0) + rmath.log(a, x + 1.5),
    "hypot": lambda x, a: rmath.hypot(x, a, 2.0, x * a),
    "dist": lambda x, a: rmath.dist([x, a, 1.0], [a, 2.0, x]),
    "fsum": lambda x, a: rmath.fsum([x, 1e16, a, -1e16]) * x,
    "modf": lambda x, a: rmath.modf(x)[0] * x + rmath.modf(a)[1],
    "frexp": lambda x, a: rmath.frexp(x)[0] * rmath.frexp(a)[1],
    "ldexp": lambda x, a: rmath.ldexp(x, 3) * rmath.ldexp(a, -1),
    "nextafter": lambda x, a: rmath.nextafter(x, 10.0) * a,
    "logaddexp": lambda x, a: rmath.logaddexp(x, a),
    "divmod": lambda x, a: divmod(x, 0.75)[0] * x + divmod(a, 0.75)[1] * divmod(x, a + 3.0)[1],
    "round": lambda x, a: round(x) * x + round(x, 1) + x * round(a),
    "prod": lambda x, a: rmath.prod([x, a], start=x),
}


@native
@pytest.mark.parametrize("name", TRACED)
def test_compiled_functions_give_the_same(name: str) -> None:
    function = TRACED[name]
    compiled = rg.compile(function)
    chooser = random.Random(name)
    for _ in range(8):
        x, a = chooser.uniform(0.3, 3.0), chooser.choice([chooser.uniform(0.3, 3.0), 2.0, 0.5])
        for again in range(2):
            assert compiled.value_and_grad(x, a) == pytest.approx(rg.value_and_grad(function)(x, a), rel=1e-14), again
    assert rg.grad(rg.grad(compiled))(1.3, 0.7) == pytest.approx(rg.grad(rg.grad(function))(1.3, 0.7), rel=1e-12)
    if name in ("isnan", "isinf", "isfinite"):
        for a in (math.nan, 1.0, math.inf, -math.inf):
            with rg.errstate(invalid="ignore"):
                expected, got = rg.value_and_grad(function)(1.5, a), compiled.value_and_grad(1.5, a)
            assert got == pytest.approx(expected, nan_ok=True)
