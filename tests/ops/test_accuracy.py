"""Every row of the op table against mpmath, within the accuracy that docs/ops.md states."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.parts import require

from retrograd import engine, gradient
from retrograd.engine import Value, errstate
from retrograd.ops import BY_NAME, OPS, Op

DIGITS, FAR_DIGITS = 60, 700  #: far out tanh is 1 to hundreds of digits, and its derivative what comes after them
Exact = Callable[..., Any]


def exact_functions() -> dict[str, Exact]:
    """Each row that is not exact by construction, in mpmath."""
    mp = require("mpmath").mp

    def sigmoid(a: Any) -> Any:
        return 1 / (1 + mp.exp(-a))

    same = (
        "exp",
        "expm1",
        "log",
        "log1p",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
    )
    same += ("tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "digamma", "hypot")
    return {name: getattr(mp, name) for name in same} | {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "pow": mp.power,
        "square": lambda a: a * a,
        "reciprocal": lambda a: 1 / a,
        "exp2": lambda a: mp.power(2, a),
        "log2": lambda a: mp.log(a, 2),
        "log10": lambda a: mp.log(a, 10),
        "cbrt": lambda a: mp.sign(a) * mp.cbrt(abs(a)),
        "degrees": mp.degrees,
        "radians": mp.radians,
        "sigmoid": sigmoid,
        "softplus": lambda a: mp.log1p(mp.exp(a)),
        "silu": lambda a: a * sigmoid(a),
        "gelu": lambda a: a * mp.erfc(-a / mp.sqrt(2)) / 2,
        "lgamma": lambda a: mp.log(abs(mp.gamma(a))),
    }


WIDE = ("exp", "tanh", "sigmoid", "softplus", "silu", "sinh", "cosh", "asinh", "atan", "log", "sqrt", "cbrt", "erf")
#: Second and third derivatives at these points come from terms that all but cancel when a partial is badly written.
NEAR_ZERO = (1e-8, -1e-6, 1e-4, 0.009)


def points(row: Op) -> list[tuple[float, ...]]:
    """The sample intervals of a row, and for those that go on for ever a few points far out."""
    chooser = random.Random(row.name)
    grid = [tuple(chooser.uniform(low, high) for low, high in row.sample) for _ in range(150)]
    if row.name in WIDE:
        grid += [(sign * x,) for x in (1e-9, 12.0, 30.0, 300.0) for sign in (1.0, -1.0)]
    return grid


def errors_in_ulp(got: float, exact: Any) -> float:
    return float(abs(exact - got) / math.ulp(float(exact))) if exact else abs(got) / 5e-324


def condition(function: Exact, at: Sequence[Any], y: Any) -> float:
    """How much more than one unit in the last place a rounding of the operands moves the result, at least 1."""
    mp = require("mpmath").mp
    moved = mp.mpf(0)
    for slot, x in enumerate(at):
        step = abs(x) * mp.mpf(10) ** -20
        above, below = ([*at[:slot], x + sign * step, *at[slot + 1 :]] for sign in (1, -1))
        moved += abs(x * (function(*above) - function(*below)) / (2 * step))
    return max(1.0, float(abs(moved / y))) if y else 1.0


ROWS = [op for op in OPS if op.smooth and op.public]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_values_and_local_derivatives(row: Op) -> None:
    mp = require("mpmath").mp
    bounds = row.accuracy or (2, *[4] * row.arity)
    function = exact_functions()[row.name]

    def partial(slot: int) -> Exact:
        order = tuple(int(i == slot) for i in range(row.arity))
        return lambda *at: mp.diff(function, at if row.arity > 1 else at[0], order if row.arity > 1 else 1)

    for numbers in points(row):
        digits = FAR_DIGITS if abs(numbers[0]) > 10.0 else DIGITS
        with mp.workdps(digits), errstate(divide="ignore", over="ignore", invalid="ignore"):
            at = [mp.mpf(x) for x in numbers]
            try:
                exact = function(*at)
            except ValueError:
                continue
            if isinstance(exact, mp.mpc) or not math.isfinite(float(exact)):
                continue
            y = engine.apply(row.name, *map(Value, numbers))
            assert errors_in_ulp(y.data, exact) <= bounds[0] * condition(function, at, exact), numbers
            for slot, local in enumerate(y._local_grads):
                slope = partial(slot)
                expected = slope(*at)
                error = errors_in_ulp(local, expected)
                assert error <= bounds[1 + slot] or error <= bounds[1 + slot] * condition(slope, at, expected), numbers


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus", "erf", "atan", "asinh", "sin", "gelu"])
def test_second_and_third_derivatives_near_zero(name: str) -> None:
    mp = require("mpmath").mp
    with mp.workdps(DIGITS):
        function = exact_functions()[name]
        for x in NEAR_ZERO:
            v = Value(x)
            slope = engine.apply(name, v)
            for order, tolerance in ((1, 1e-14), (2, 1e-12), (3, 1e-9)):
                slope = gradient(slope, v, create_graph=True)
                assert slope.data == pytest.approx(float(mp.diff(function, x, order)), rel=tolerance), (x, order)


def test_gelu_far_out() -> None:
    for x, slope in ((1e160, 1.0), (-1e160, 0.0), (math.inf, 1.0)):
        v = Value(x)
        first = gradient(engine.apply("gelu", v), v, create_graph=True)
        second = gradient(first, v, create_graph=True)
        assert (first.data, second.data, gradient(second, v)) == (slope, 0.0, 0.0)


def test_every_bound_is_stated_for_y_and_each_operand() -> None:
    for op in OPS:
        assert len(op.accuracy) in (0, 1 + op.arity), op.name
    assert all(isinstance(BY_NAME[name], Op) for name in WIDE)
