"""The Value that users know, on whichever engine is in use: construction, navigation, methods and NumPy."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import retrograd.engine as engine
from retrograd import errors
from retrograd import math as rmath
from retrograd.engine import Value, topological_order

# --- construction ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number",
    [
        3,
        3.0,
        True,
        Fraction(3, 2),
        np.float64(3),
        np.float32(3),
        np.int64(3),
        np.uint8(3),
        np.bool_(True),
        np.float16(3),
    ],
)
def test_numbers_are_accepted(number: Any) -> None:
    v = Value(number)
    assert type(v.data) is float
    assert v.data == float(number)
    for result in (v + number, number + v, v * number, number * v, v - number, number - v, number / v):
        assert type(result) is Value
    v.data = v.grad = number
    assert type(v.data) is type(v.grad) is float


@pytest.mark.parametrize(
    "thing",
    [
        "3",
        None,
        3j,
        Decimal(3),
        np.array(3.0),
        np.array([1.0, 2.0]),
        [1.0],
        np.complex128(1),
        b"3",
        np.timedelta64(3, "s"),
    ],
)
def test_everything_else_is_refused(thing: Any) -> None:
    attempts = [Value, Value(1.0).backward, lambda x: rmath.sum([Value(1), x])]
    if not isinstance(thing, np.ndarray):  # of an array, each element
        attempts += [lambda x: Value(1.0).atan2(x), rmath.exp]
    for attempt in attempts:
        with pytest.raises(TypeError, match="takes"):
            attempt(thing)
    for name in ("data", "grad"):
        with pytest.raises(TypeError):
            setattr(Value(1.0), name, thing)


def test_sentences_say_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"got None: call zero_grad\(\), or assign 0\.0, to clear a gradient\.$"):
        Value(1.0).grad = None  # type: ignore[assignment]  # as PyTorch users clear one
    with pytest.raises(TypeError, match=r"takes real numbers and got Value\(data=1\.0, grad=0\.0\): pass v\.data"):
        Value(Value(1.0))  # type: ignore[arg-type]
    for thing in ("3", None, 3j, [1.0], np.zeros(2)):
        with pytest.raises(TypeError) as caught:
            Value(thing)  # type: ignore[arg-type]
        assert "?." not in str(caught.value)
    if not isinstance(thing, np.ndarray | np.generic):
        for operation in (operator.add, operator.mul, operator.pow, operator.truediv, operator.lt):
            with pytest.raises(TypeError):
                operation(Value(1.0), thing)
            with pytest.raises(TypeError):
                operation(thing, Value(1.0))


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        (lambda v: np.array([v], dtype=float), "an array of dtype=object instead of an array of floats"),
        (lambda v: np.full(2, v, dtype=float), "an array of dtype=object instead of an array of floats"),
        (lambda v: np.zeros(3).__setitem__(1, v), "an array of dtype=object instead of an array of floats"),
        (lambda v: v * [1.0, 2.0], r"use int\(v\.data\) for that, and \[v \* x for x in xs\] for the product"),
        (lambda v: [1.0, 2.0][v], r"use int\(v\.data\) for that"),
        (lambda v: Value(Decimal("1.5")), r"got Decimal\('1\.5'\): convert it with float\(…\) first"),
        (lambda v: Value(object()), "pass an int, float or NumPy scalar"),
        (lambda v: rmath.exp(object()), "pass a Value, int, float or NumPy scalar"),
    ],
)
def test_a_refusal_says_what_keeps_the_gradient(attempt: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        attempt(Value(1.0))


def test_a_value_is_not_a_number() -> None:
    with pytest.raises(TypeError, match=r"v\.data"):
        Value(Value(1.0))  # type: ignore[arg-type]


def test_int_too_large() -> None:
    for attempt in (Value, lambda n: Value(1.0) + n, lambda n: n * Value(1.0), rmath.exp):
        with pytest.raises(OverflowError) as caught:
            attempt(10**400)
        assert isinstance(caught.value, errors.NumberTooLargeError)


def test_micrograd_constructor() -> None:
    a, b = Value(2.0, label="a"), Value(3.0)
    v = Value(6.0, (a, b), "*", "product")
    assert (v.data, v.grad, v.label, v._op) == (6.0, 0.0, "product", "*")
    assert v._prev == {a, b}
    assert v._children == (a, b)
    assert a.label == "a"
    assert b.label == ""
    assert a._op == ""
    assert a._children == ()
    assert a._prev == set()
    keywords = Value(data=6.0, _children=[a, b], _op="*", label="product")
    assert keywords._children == (a, b)
    assert keywords._op == "*"
    assert keywords.label == "product"
    with pytest.raises(TypeError, match="label"):
        Value(1.0, (), "", 3)  # type: ignore[arg-type]


def test_scalar_gpt_constructor() -> None:
    a, b = Value(2.0), Value(3.0)
    for v in (Value(6.0, (a, b), (3.0, 2.0)), Value(6.0, children=(a, b), local_grads=(3.0, 2.0))):
        a.grad = b.grad = 0.0
        assert v._children == (a, b)
        assert v._local_grads == (3.0, 2.0)
        assert engine.row_name(v) == "user"
        v.backward()
        assert (a.grad, b.grad) == (3.0, 2.0)
    with pytest.raises(ValueError, match="2 children"):
        Value(6.0, (a, b), (3.0,))
    with pytest.raises(TypeError, match="children"):
        Value(6.0, (a, 3.0), (3.0, 1.0))  # type: ignore[arg-type]


def test_cannot_be_made_again() -> None:
    v = Value(2.0) * 3
    with pytest.raises(TypeError, match="already"):
        v.__init__(1.0)  # type: ignore[misc]


# --- what a Value shows ---------------------------------------------------------------------------


def test_repr_format_and_item() -> None:
    v = Value(4)
    assert repr(v) == str(v) == f"{v}" == "Value(data=4.0, grad=0.0)"
    assert f"{v:.3f}" == "4.000"
    assert f"{v:>8.1f}|" == "     4.0|"
    with pytest.raises(TypeError, match="item"):
        v.item()
    assert +v is v
    assert v.conjugate() is v
    assert repr(Value(math.inf)) == "Value(data=inf, grad=0.0)"
    d = (v * 2).detach()
    assert d.data == 8.0
    assert d._children == ()
    assert type(d) is Value
    v.grad = 3
    v.zero_grad()
    assert v.grad == 0.0


def test_no_bare_floats() -> None:
    v = Value(2.0)
    for function in (float, int, complex, math.exp, math.sqrt, operator.index, lambda x: [1, 2, 3][x]):
        with pytest.raises(TypeError):
            function(v)
    for function in (float, int, complex, math.exp):
        with pytest.raises(TypeError, match=r"retrograd\.math.*v\.data"):
            function(v)


def test_comparison_hash_and_truth() -> None:
    a, b, c = Value(1.0), Value(1.0), Value(2.0)
    assert a == b
    assert a != c
    assert a < c
    assert a <= b
    assert c > 1
    assert c >= 2.0
    assert a < np.float64(3)
    assert operator.eq(1.0, a)
    assert operator.gt(3, c)
    assert operator.ne(a, "1")
    assert operator.ne(a, None)
    assert len({a, b, c}) == 3
    assert hash(a) != hash(b)
    assert b not in [c]
    assert a in {a}
    assert not Value(0.0)
    assert not Value(-0.0)
    assert Value(5e-324)
    assert Value(math.nan)
    nan = Value(math.nan)
    assert nan != nan
    assert not nan < 1
    assert not nan >= 1
    assert max([a, c]) is c
    assert sorted([c, a])[0] is a


def test_op_strings() -> None:
    a, b = Value(2.0), Value(3.0)
    shown = [a + b, a - b, a * b, a / b, a % b, a // b, -a, a**2, a**0.5, a**-1, 2**a, a**b, b**-1000000, 0.5**a]
    assert [v._op for v in shown] == [
        "+", "-", "*", "/", "%", "//", "neg", "**2", "**0.5", "**-1", "2**", "**", "**-1000000", "0.5**",
    ]  # fmt: skip
    assert [v._op for v in (a.relu(), a.tanh(), a.exp(), abs(a), a.sin())] == [
        "ReLU", "tanh", "exp", "abs", "sin",
    ]  # fmt: skip
    assert rmath.sum([a, b])._op == "sum"
    assert rmath.where(1, a, b)._op == "where"


def test_children() -> None:
    a, b = Value(2.0), Value(3.0)
    assert (a * b)._children == (a, b)
    assert (a * a)._children == (a, a)
    assert (a * a)._prev == {a}
    assert (a**2)._children == (a,)
    assert (2**a)._children == (a,)
    assert (a**b)._children == (a, b)
    assert (2 - a)._children[1] is a
    assert (2 - a)._children[0].data == 2.0
    assert (2 + a)._children[0] is a
    assert (2 * a)._children[0] is a
    assert rmath.dot([a, 5.0], [b, a])._children[::2] == (a, b)


def test_a_constant_is_one_value() -> None:
    a = Value(2.0)
    for node in (a + 7, 7 - a, a * 7, a / 7, a.atan2(7), rmath.where(7, a, a), rmath.sum([a, 7])):
        constants = [child for child in node._children if child is not a]
        assert len(constants) == 1
        assert constants[0].data == 7.0
        assert engine.is_constant(constants[0])
        assert constants[0] is next(iter(node._prev - {a}))
        assert any(operand is constants[0] for operand in engine.operands(node))
        assert not engine.is_constant(a)
        assert not engine.is_constant(node)
        node.backward()  # a looked-at constant takes part, as a leaf does


def test_operands() -> None:
    a, b = Value(2.0), Value(3.0)
    assert engine.operands(a) == ()
    assert engine.row_name(a) == ""
    assert engine.operands(a + 2) == (a, 2.0)
    assert engine.operands(2 + a) == (a, 2.0)
    assert engine.operands(2 - a) == (2.0, a)
    assert engine.operands(a**2) == (a, 2.0)
    assert engine.operands(2**a) == (2.0, a)
    assert engine.operands(rmath.dot([a, b], [b, b])) == (a, b, b, b)
    assert engine.row_name(a + b) == "add"
    assert engine.row_name(rmath.max([a, b])) == "max"
    outputs = rmath.softmax([a, b])
    assert [engine.output_index(output) for output in outputs] == [0, 1]


def test_interior_and_topological_order() -> None:
    a, b = Value(2.0), Value(3.0)
    c = a * b
    unrelated = a + 1  # noqa: F841  # it has a place on the tape, and must not appear
    d = b + c
    e = d * a
    assert engine.interior(e) == [c, d, e]
    assert engine.interior(a) == []
    assert topological_order(e) == [a, b, c, d, e]
    assert topological_order(a) == [a]
    assert topological_order(b - a)[:2] == [b, a]


def test_results_of_subclasses_are_plain() -> None:
    class Parameter(Value):
        def __init__(self, name: str, *, start: float) -> None:
            super().__init__(start, label=name)
            self.steps = 0

    p = Parameter("w", start=2.0)
    assert (p.data, p.label, p.steps) == (2.0, "w", 0)
    assert isinstance(p, Value)
    y = p * p + 3
    assert type(y) is Value
    assert type(p.exp()) is Value
    assert type(p.detach()) is Value
    y.backward()
    assert p.grad == 4.0
    assert +p is p


# --- NumPy ----------------------------------------------------------------------------------------


def test_numpy_scalars_give_values() -> None:
    for number in (np.float64(2), np.float32(2), np.int64(2), np.bool_(True)):
        for result in (number * Value(3), number + Value(3), number - Value(3), number / Value(3), number ** Value(3)):
            assert type(result) is Value


def test_object_arrays() -> None:
    xs = np.array([Value(1.0), Value(2.0), Value(3.0)])
    weights = np.array([0.5, 1.0, 2.0])
    assert xs.dtype == object
    results = [(xs * weights).sum(), xs @ weights, (weights * xs).sum(), np.dot(xs, xs), xs.mean(), (xs**2).sum()]
    assert [result.data for result in results] == [8.5, 8.5, 8.5, 14.0, 2.0, 14.0]
    matrix = np.array([[Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]])
    (matrix @ matrix.T).sum().backward()
    assert [[v.grad for v in row] for row in matrix] == [[8.0, 12.0], [8.0, 12.0]]
    assert (np.array(2.0) * Value(3.0)).data == 6.0
    assert (Value(3.0) * np.array([1.0, 2.0]))[1].data == 6.0


UFUNCS = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "arctanh", "fabs", "absolute", "abs", "rint", "floor", "ceil", "trunc",
    "negative", "positive", "square", "reciprocal", "deg2rad", "rad2deg", "degrees", "radians", "conjugate", "conj",
]  # fmt: skip


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_call_methods(name: str) -> None:
    ufunc, x = getattr(np, name), Value(0.6)
    (y,) = ufunc(np.array([x]))
    assert type(y) is Value
    assert y.data == pytest.approx(float(ufunc(0.6)), rel=1e-14)
    assert type(ufunc(x)) is Value


@pytest.mark.parametrize(
    "name", ["arctan2", "hypot", "fmod", "power", "remainder", "floor_divide", "true_divide", "subtract"]
)
def test_binary_ufuncs(name: str) -> None:
    ufunc = getattr(np, name)
    (y,) = ufunc(np.array([Value(0.6)]), np.array([0.25], dtype=object))
    assert type(y) is Value
    assert y.data == pytest.approx(float(ufunc(0.6, 0.25)), rel=1e-14)
    assert np.arccosh(np.array([Value(2.0)]))[0].data == math.acosh(2.0)
    assert np.maximum(np.array([Value(2.0)]), np.array([Value(3.0)]))[0].data == 3.0


def test_storing_in_a_float_array_raises() -> None:
    array = np.zeros(2)
    with pytest.raises((TypeError, ValueError)):
        array[0] = Value(1.0)  # type: ignore[call-overload]
    with pytest.raises((TypeError, ValueError)):
        np.array([Value(1.0)], dtype=float)


def test_python_sum_and_augmented_assignment() -> None:
    xs = [Value(1.0), Value(2.0)]
    total = sum(xs)
    total += 3
    total *= np.float64(2)
    assert total.data == 12.0
    total.backward()
    assert [x.grad for x in xs] == [2.0, 2.0]


def test_floor_ceil_trunc() -> None:
    x = Value(-1.5)
    assert [f(x).data for f in (math.floor, math.ceil, math.trunc)] == [-2.0, -1.0, -1.0]
    assert [engine.row_name(f(x)) for f in (math.floor, math.ceil, math.trunc)] == ["floor", "ceil", "trunc"]
    assert (x % 2).data == 0.5
    assert (x // 2).data == -1.0
    assert (7 % Value(4.0)).data == 3.0
    (x % 2 + x // 2).backward()
    assert x.grad == 1.0
    with pytest.raises(TypeError):
        pow(x, 2, 3)
