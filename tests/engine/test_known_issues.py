"""What users of such systems stumble on, one test an item, each naming the threads where others met it.

The names are the projects': micrograd is karpathy/micrograd, autograd HIPS/autograd, MyGrad rsokl/MyGrad, and so on.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import math
import operator
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Value, errors, gradient
from retrograd.engine import ENGINE

INFINITY = math.inf
LONG = 200_000 if ENGINE == "native" else 20_000


def slope(f: Callable[[Value], Value], at: float) -> float:
    x = Value(at)
    return gradient(f(x), x)


def chain(length: int) -> tuple[Value, Value]:
    x = y = Value(1.0)
    for _ in range(length):
        y = y + 0.0
    return x, y


def test_no_recursion_limit() -> None:
    """micrograd 90, 91: a recursive topological sort dies at 993 operations."""
    x, y = chain(LONG)
    limit = sys.getrecursionlimit()
    y.backward()
    assert (x.grad, sys.getrecursionlimit()) == (1.0, limit)
    assert rg.gradient(gradient(y * y, x, create_graph=True), x) == 2.0


def test_dropping_a_long_graph_does_not_recurse() -> None:
    """pytorch 5534, 6873: destructors of a long chain recursed until the stack was gone."""
    x, y = chain(LONG)
    middle = y._children[0]
    del y
    assert middle.data == 1.0
    del middle
    assert (x + 1.0).data == 2.0


def test_every_node_is_visited_after_all_its_users() -> None:
    """micrograd 2, 64, 68, 81, 91, 96: without a topological order a node passes on an incomplete gradient."""
    a = Value(3.0)
    b = a * 2.0
    c = b + a  # b is reached through c and directly: breadth first or depth first alone is wrong
    d = c * b
    (d + b).backward()
    assert (d.grad, c.grad, b.grad, a.grad) == (1.0, 6.0, 16.0, 38.0)


def test_backward_twice() -> None:
    """micrograd 8, 53, 102: d(x**3) at 3 gives 27, then 45, when interior gradients are not zeroed."""
    x = Value(3.0)
    y = x * x * x
    y.backward()
    assert x.grad == 27.0
    y.backward()
    assert x.grad == 54.0  # leaves accumulate, pass by pass
    x.grad = 0.0
    y.backward()
    assert x.grad == 27.0


def test_powers_of_values_and_numbers() -> None:
    """micrograd 17, 35, 36, 41: Value**Value and 2**Value were missing or wrong."""
    a, b = Value(2.0), Value(3.0)
    assert gradient(a**b, [a, b]) == [12.0, 8.0 * math.log(2.0)]
    assert gradient(2**b, b) == 8.0 * math.log(2.0)
    assert gradient(a**-1, a) == -0.25
    assert gradient(a**0.5, a) == 0.5 * 2.0**-0.5
    assert (2.0**b).data == (np.float64(2.0) ** b).data == 8.0


def test_tanh_exp_and_log_are_there_and_do_not_overflow() -> None:
    """micrograd 10, 15, 29, 74, 126: no tanh, exp, log; and (e**2x - 1)/(e**2x + 1) overflows at 400."""
    for x in (-1000.0, -20.0, 0.5, 20.0, 1000.0):
        y = Value(x).tanh()
        assert y.data == math.tanh(x)
        assert math.isfinite(slope(Value.tanh, x))
    assert slope(Value.tanh, 20.0) == pytest.approx(4.0 * math.exp(-40.0), rel=1e-15)
    assert slope(Value.exp, 1.5) == math.exp(1.5)
    assert slope(Value.log, 4.0) == 0.25


def test_powers_at_zero() -> None:
    """autograd 116, 581; pytorch 27134: x**0, x**1 and x**2 at 0 gave NaN, or raised."""
    for exponent, expected in ((0, 0.0), (1, 1.0), (2, 0.0), (3, 0.0), (2.5, 0.0), (0.0, 0.0)):
        assert slope(lambda x, k=exponent: x**k, 0.0) == expected  # type: ignore[misc]
        assert slope(lambda x, k=exponent: x ** Value(k), 0.0) == expected  # type: ignore[misc]
    assert rg.grad(rg.grad(lambda x: x**2))(0.0) == 2.0
    assert rg.grad(rg.grad(lambda x: x**3))(0.0) == 0.0
    assert rg.grad(rg.grad(lambda x: x**1))(0.0) == 0.0


def test_the_branch_not_taken_makes_no_nan() -> None:
    """pytorch 52248, 68425; jax 1052: 0 * inf from the side of a where that was not chosen."""
    with rg.errstate(divide="ignore", invalid="ignore"):
        assert slope(lambda x: rg.where(x > 0, x.log(), x * 2.0), 0.0) == 2.0
        assert slope(lambda x: rg.where(x > 0, x.sqrt(), 0.0), 0.0) == 0.0
        assert slope(lambda x: rg.where(x != 0, x.sin() / x, 1.0), 0.0) == 0.0
        assert slope(lambda x: rg.maximum(x.log(), 0.0), 0.0) == 0.0
    assert slope(lambda x: rg.where(1.0, x, x.exp()), 1.0) == 1.0


def test_norms_at_the_origin() -> None:
    """autograd 151, 570; pytorch 2421: the derivative of a norm at zero is NaN; hypot has the subgradient zero."""
    x, y = Value(0.0), Value(0.0)
    assert gradient(rg.math.hypot(x, y), [x, y]) == [0.0, 0.0]
    assert slope(Value.sqrt, 0.0) == INFINITY
    with rg.detect_anomaly(), pytest.raises(errors.AnomalyError):  # written out it is NaN, and said to be
        ((x * x + y * y).sqrt() * 1.0).backward()


def test_log_sum_exp_and_softplus_far_out() -> None:
    """pytorch 49724; jax 23842: overflow, and NaN where operands are infinite."""
    xs = [Value(1000.0), Value(999.0), Value(-1e308)]
    y = rg.logsumexp(xs)
    assert y.data == pytest.approx(1000.0 + math.log1p(math.exp(-1.0)), rel=1e-15)
    assert sum(gradient(y, xs)) == pytest.approx(1.0, rel=1e-15)
    for x, expected in ((-INFINITY, 0.0), (-800.0, 0.0), (800.0, 1.0), (INFINITY, 1.0)):
        assert slope(Value.softplus, x) == expected
    assert rg.logsumexp([Value(-INFINITY), Value(-INFINITY)]).data == -INFINITY
    tied = [Value(-INFINITY), Value(-INFINITY)]
    assert gradient(rg.logsumexp(tied), tied) == [0.5, 0.5]


def test_numpy_does_not_take_operators_over() -> None:
    """numpy 9438, 16876: np.float64(2) * value became an object array or a float."""
    v = Value(3.0)
    for number in (np.float64(2.0), np.float32(2.0), np.int64(2), np.array(2.0), np.bool_(True)):
        for operation in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
            for y in (operation(number, v), operation(v, number)):
                assert type(y) is Value
                assert gradient(y, v) != 0.0 or operation is operator.pow
    assert np.float64(2.0) < v
    assert not np.float64(4.0) < v
    assert (np.array([1.0, 2.0]) * v).dtype == object


def test_integers_are_numbers() -> None:
    """autograd 370: an int input made integer gradients, or none."""
    for number in (3, True, Fraction(3), np.int8(3), np.uint64(3)):
        v = Value(number)
        assert type(v.data) is float
        assert type(gradient(v * v, v)) is float
    assert rg.grad(lambda x: x**2 / 4)(3) == 1.5
    assert rg.grad(lambda x: x // 2 + x / 2)(3) == 0.5


def test_float_and_math_do_not_cut_the_graph_silently() -> None:
    """autograd 246, 427: float(x) and math.exp(x) dropped the derivative without a word."""
    v = Value(2.0)
    for cut in (float, int, math.exp, math.sqrt, lambda x: math.fsum([x]), lambda x: math.hypot(x, 1.0), np.float64):
        with pytest.raises(TypeError, match=r"retrograd\.math"):
            cut(v)
    assert type(rg.math.exp(v)) is Value
    assert type(rg.math.exp(2.0)) is float


def test_in_place_operators_make_new_values() -> None:
    """autograd 177; MyGrad 320: x += y changed a number that a recorded operation still needed."""
    x = Value(2.0)
    before = x
    y = x * x
    x += 1.0
    x *= 3.0
    x -= 1.0
    x /= 2.0
    x **= 2
    assert before.data == 2.0
    assert gradient(y, before) == 4.0
    assert gradient(x, before) == 2 * 4.0 * 1.5


def test_changing_a_number_between_forward_and_backward() -> None:
    """pytorch 18523; chainer 2353: the backward pass used the new number, without a word."""
    w, x = Value(2.0, label="w"), Value(3.0)
    y = w * x
    w.data -= 0.1
    with pytest.raises(errors.ChangedValueError, match="'w'"):
        y.backward()
    assert (w.grad, x.grad) == (0.0, 0.0)


def test_which_operation_made_the_nan() -> None:
    """pytorch 160016, 187653: anomaly detection looked at the backward pass only, or named no operation."""
    x = Value(1e200, label="x")
    with pytest.raises(errors.AnomalyError, match=r"test_known_issues\.py:\d+"), rg.detect_anomaly():
        x * x  # forward
    with rg.detect_anomaly():
        y = Value(0.0, label="zero").sqrt() * 1.0
        with pytest.raises(errors.AnomalyError, match="sqrt"):
            y.backward()


def test_a_branch_is_taken_anew_at_every_call() -> None:
    """CppAD 149; casadi 454: tracing froze the branch that the first call took."""

    def f(x: Any) -> Any:
        return x * x if x > 1 else -x

    df = rg.grad(f)
    assert [df(2.0), df(0.5), df(3.0)] == [4.0, -1.0, 6.0]
    compiled = getattr(rg, "compile", None)
    if compiled is not None:
        function = compiled(f, exact=True)
        assert [function.value_and_grad(x)[1] for x in (2.0, 0.5, 3.0)] == [4.0, -1.0, 6.0]


def test_values_that_leak_out_of_a_transform_still_work() -> None:
    """jax 3086: a tracer that escaped its function was an error far from the cause."""
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2.0)
        return kept[-1] * x

    assert rg.grad(f)(3.0) == 12.0
    assert kept[0].data == 6.0
    later = kept[0] + 1.0
    assert later.data == 7.0
    later.backward()


def test_perturbations_are_not_confused() -> None:
    """ForwardDiff 83: nested derivatives mixed up the inner variable and the outer one."""
    assert rg.grad(lambda x: x * rg.grad(lambda y: x + y)(2.0))(1.0) == 1.0
    assert rg.grad(lambda x: x * rg.jvp(lambda y: x * y, 2.0, 1.0)[1])(3.0) == 6.0
    assert rg.jvp(lambda x: x * rg.grad(lambda y: x * y)(1.0), 5.0, 1.0)[1] == 10.0
    assert rg.jvp(lambda x: x * rg.jvp(lambda y: x + y, 1.0, 1.0)[1], 1.0, 1.0)[1] == 1.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_a_copied_graph_has_its_gradients(copied: Callable[[Any], Any]) -> None:
    """micrograd 95: backward() on a deep copy gave silent zeros, because the closures were those of the original."""
    a, b = Value(2.0), Value(3.0)
    y2, a2, b2 = copied(((a * b).tanh() + a, a, b))
    y2.backward()
    (y := (a * b).tanh() + a).backward()
    assert (a2.grad, b2.grad, y2.data) == (a.grad, b.grad, y.data)
    mine = Value(6.0, (a, b), "mine")
    mine._backward = lambda: None
    with pytest.raises(TypeError, match="cannot be copied"):
        copied(mine)


def test_graphs_are_freed_without_the_collector() -> None:
    """pytorch 239 and many: a reference cycle between a node and its closure kept whole graphs."""

    class Witness(Value):
        pass

    gc.collect()
    gc.disable()
    try:
        w = Witness(2.0)
        seen = weakref.ref(w) if hasattr(w, "__weakref__") else None
        y = (w * w).tanh() * w
        y.backward()
        del w, y
        if seen is not None and ENGINE == "native":
            assert seen() is None
    finally:
        gc.enable()


@contextlib.contextmanager
def eager_switches() -> Iterator[None]:
    """Threads take turns as often as Python lets them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def in_threads(work: Callable[[int], None]) -> None:
    """Run ``work(1)`` … ``work(4)`` side by side."""
    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def plain_product(a: Value, b: Value) -> Value:
    return a * b


def users_product(a: Value, b: Value) -> Value:
    out = Value(a.data * b.data, (a, b), "times")

    def backward() -> None:
        a.grad += b.data * out.grad
        b.grad += a.data * out.grad

    out._backward = backward
    return out


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("product", [plain_product, users_product])
def test_threads_do_not_meet(product: Callable[[Value, Value], Value], watched: bool) -> None:
    """pytorch 239: passes in several threads corrupted each other's gradients."""
    shared = Value(2.0)
    found: list[tuple[float, float]] = []
    owns: list[float] = []

    def work(k: int) -> None:
        own = Value(float(k))
        for _ in range(8):
            with rg.detect_anomaly() if watched else contextlib.nullcontext():
                y = own
                for _ in range(100):
                    y = y + product(own, shared)
                found.append(tuple(gradient(y, [own, shared])))
                y.backward()
        owns.append(own.grad)

    with eager_switches():
        in_threads(work)
    assert sorted(found) == sorted([(201.0, 100.0 * k) for k in range(1, 5)] * 8)
    assert owns == [201.0 * 8] * 4
    assert shared.grad == sum(100.0 * k for k in range(1, 5)) * 8


def test_a_gradient_is_not_read_while_another_thread_works_on_it() -> None:
    """Taking a gradient leaves every ``.grad`` as it is, at any moment, for all threads."""
    shared = Value(2.0)
    shared.grad = 5.0
    seen: set[float] = set()

    def work(k: int) -> None:
        own = Value(float(k))
        for _ in range(20):
            if k == 1:
                seen.update(shared.grad for _ in range(200))
            else:
                y = own
                for _ in range(100):
                    y = y + own * shared
                gradient(y, own)

    with eager_switches():
        in_threads(work)
    assert seen == {5.0}


def test_a_thread_does_not_extend_anothers_graph() -> None:
    """pytorch 239, too: an operation on another thread's result is an error that says so."""
    y = Value(2.0) * 2.0
    refused: list[bool] = []

    def foreign() -> None:
        try:
            y * 2.0
        except errors.ForeignThreadError:
            refused.append(True)

    thread = threading.Thread(target=foreign)
    thread.start()
    thread.join()
    assert refused == [True]


@pytest.mark.native
def test_an_operation_costs_far_less_than_in_a_tensor_library() -> None:
    """pytorch 41383: 7 microseconds an operation. Here it calls no function and asks Python for no memory."""
    y, calls = Value(1.0), []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    before = sys.getallocatedblocks()
    for _ in range(20_000):
        y = y * 1.5
    asked = sys.getallocatedblocks() - before
    sys.setprofile(None)
    assert len(calls) < 10  # the two functions above
    assert asked < 100
    y.backward()


def test_a_picture_of_a_big_graph_does_not_hang() -> None:
    """tinygrad 7435; torchviz 57: the layout of a large graph never ended. An explanation shows its ends."""
    x = y = Value(1.001, label="x")
    for _ in range(2000):
        y = y * x
    text = rg.explain(y).to_text(check=False)
    assert 1000 < len(text) < 2_000_000


def test_zero_times_infinity_in_the_chain() -> None:
    """A gradient that is zero stays zero through an infinite slope (the same threads as for where)."""
    x = Value(0.0)
    y = x.sqrt() * 0.0
    y.backward()
    assert x.grad == 0.0


def test_the_same_value_twice() -> None:
    """micrograd's own lecture: a + a, with = instead of +=, gave 1."""
    a = Value(3.0)
    (a + a).backward()
    assert a.grad == 2.0
    a.grad = 0.0
    (a * a + a / a - a % a).backward()
    assert a.grad == 6.0 - (1.0 - 1.0)


def test_sum_starts_at_zero() -> None:
    """micrograd 5 and many: sum(values) needs 0 + Value."""
    xs = [Value(1.0), Value(2.0)]
    assert gradient(sum(xs), xs) == [1.0, 1.0]
    assert gradient(math.prod(xs), xs) == [2.0, 1.0]
