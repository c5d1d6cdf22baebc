"""Operations raise exactly where Python's float and math do, and give Python's bits elsewhere."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import retrograd.engine as engine
from retrograd import errors
from retrograd import math as rmath
from retrograd.engine import Value, errstate

# --- domain errors: exactly where Python raises ---------------------------------------------------


def power(a: float, b: float) -> float:
    """Python's power; a ValueError where Python's is complex (whose overflow would be an OverflowError)."""
    if a < 0 and math.isfinite(a) and math.isfinite(b) and b != math.floor(b):
        raise ValueError("complex")
    return float(a**b)


PYTHON_UNARY: dict[str, Callable[[float], float]] = {
    name: getattr(math, name)
    for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos",
        "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "floor", "ceil",
        "trunc", "degrees", "radians", "fabs",
    )
}  # fmt: skip
PYTHON_BINARY: dict[str, Callable[[float, float], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "mod": operator.mod,
    "floordiv": operator.floordiv, "pow": power, "fmod": math.fmod, "hypot": math.hypot, "atan2": math.atan2,
}  # fmt: skip
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 1 - 2**-53, 1 + 2**-52, 5e-324, -5e-324, 1e308, -1e308, 1000.0,
    -1000.0, 710.0, 1e154, 1e200, math.inf, -math.inf, math.nan, 7.5, 171.0, 1e306, -1 + 2**-53,
]  # fmt: skip
NUMBERS = st.one_of(st.sampled_from(SPECIAL), st.floats(), st.floats(-4.0, 4.0))


def raised(function: Callable[..., Any], *operands: Any) -> type[BaseException] | None:
    """The class of the error that a call raises, None when there is none."""
    try:
        function(*operands)
    except (ArithmeticError, ValueError) as error:
        return next(cls for cls in (ZeroDivisionError, OverflowError, ValueError) if isinstance(error, cls))
    return None


@pytest.mark.parametrize("name", PYTHON_UNARY)
@settings(max_examples=60, deadline=None)
@given(a=NUMBERS)
def test_raises_where_math_does(name: str, a: float) -> None:
    expected = raised(PYTHON_UNARY[name], a)
    ours = getattr(rmath, name)
    assert raised(ours, a) is raised(ours, Value(a)) is expected
    if expected is not None:
        with pytest.raises(errors.RetrogradError, match="errstate"):
            ours(Value(a))
        with errstate(divide="ignore", over="ignore", invalid="ignore"):
            assert not math.isfinite(ours(Value(a)).data)


@pytest.mark.parametrize("name", PYTHON_BINARY)
@settings(max_examples=100, deadline=None)
@given(a=NUMBERS, b=NUMBERS)
@example(0.0, -1.0)
@example(-8.0, 1 / 3)
@example(1e200, 2.0)
@example(0.0, -math.inf)
@example(-math.inf, 0.5)
def test_raises_where_python_does(name: str, a: float, b: float) -> None:
    expected = raised(PYTHON_BINARY[name], a, b)
    ours = getattr(operator, {"div": "truediv"}.get(name, name), None) or getattr(rmath, name)
    with np.errstate(all="ignore"):
        for x, y in ((Value(a), Value(b)), (Value(a), b), (a, Value(b))):
            assert raised(ours, x, y) is expected
    assert raised(getattr(rmath, name), a, b) is expected


@pytest.mark.parametrize("name", PYTHON_BINARY)
@settings(max_examples=60, deadline=None)
@given(a=st.sampled_from(SPECIAL), b=st.sampled_from(SPECIAL))
def test_same_bits_as_python(name: str, a: float, b: float) -> None:
    if raised(PYTHON_BINARY[name], a, b) is None and name != "hypot":
        expected = float(PYTHON_BINARY[name](a, b))
        got = getattr(rmath, name)(Value(a), b).data
        assert (got, math.copysign(1, got)) == (expected, math.copysign(1, expected)) or (
            got != got and expected != expected
        )


def test_domain_errors_say_what_and_where() -> None:
    cases: list[tuple[Callable[[], Any], type[errors.RetrogradError], str]] = [
        (lambda: 1 / Value(0), errors.DivisionByZeroError, r"1\.0 / 0\.0: division by zero"),
        (lambda: Value(-1).log(), errors.DomainError, r"log\(-1\.0\)"),
        (lambda: Value(1e200) ** 2, errors.NumberTooLargeError, r"1e\+200 \*\* 2\.0"),
        (lambda: Value(-8) ** 0.5, errors.DomainError, r"\(-8\.0\) \*\* 0\.5"),
        (lambda: Value(5) % 0, errors.DivisionByZeroError, r"5\.0 % 0\.0"),
    ]
    for attempt, kind, text in cases:
        with pytest.raises(kind, match=text):
            attempt()


def test_errstate() -> None:
    zero = Value(0.0)
    with errstate(divide="ignore"):
        assert (1 / zero).data == math.inf
        assert zero.log().data == -math.inf
        with pytest.raises(ValueError, match="negative"):
            Value(-1.0).log()
        with errstate(divide="raise", invalid="ignore"), pytest.raises(ZeroDivisionError):
            1 / zero
        assert (1 / zero).data == math.inf
    with pytest.raises(ZeroDivisionError):
        1 / zero
    with errstate(over="ignore"):
        assert (Value(1e200) ** 2).data == math.inf

    @errstate(invalid="ignore")
    def root(x: Value) -> Value:
        return x.sqrt()

    assert math.isnan(root(Value(-1.0)).data)
    with pytest.raises(ValueError, match="'raise' or 'ignore'"):
        errstate(over="warn")  # type: ignore[arg-type]


def test_unknown_rows() -> None:
    with pytest.raises(ValueError, match="nothing"):
        engine.apply("nothing", Value(1.0))
    with pytest.raises(ValueError, match="nothing"):
        engine.reduce("nothing", [Value(1.0)])
    with pytest.raises(TypeError):
        engine.apply("add", Value(1.0))
    with pytest.raises(TypeError):
        engine.apply("add", 1.0, 2.0)
