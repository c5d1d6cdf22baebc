"""Compiled is right where it is hard to be: errors, infinities, batches, other structures, misuse, threads."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import KINDS, assert_near, assert_whole, backward, batch, eagerly, mean_of_eager, native
from support.parts import ALL, require

import retrograd as rg
from retrograd import Index, Value, errors, nn, take
from retrograd.ops import OPS

pytestmark = native
INF, NAN = math.inf, math.nan


def outcome(function: Any, *arguments: Any) -> Any:
    """The value, or the class and the words of the error."""
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return result.data if isinstance(result, Value) else result


# --- errors, infinities and NaN -----------------------------------------------------------------------------------

EDGES = [0.0, -0.0, 1.0, -1.0, -0.5, -2.0, 0.5, 710.0, 800.0, -800.0, 1e300, -1e300, 1e-300, INF, -INF, NAN]


@pytest.mark.parametrize("kind", ["vm", "interpreter"])
@pytest.mark.parametrize("op", [op for op in OPS if op.arity < 3 and not op.static], ids=lambda op: op.name)
def test_edges_of_each_row_behave_as_in_the_engine(op: Any, kind: str) -> None:
    """A program that was traced inside the domain, called at its edges: the same numbers, gradients and errors."""
    leaves = [Value(sum(interval) / 2) for interval in op.sample]
    inside = [leaf.data for leaf in leaves]

    def function() -> Any:
        return rg.engine.apply(op.name, *leaves) * 1.0

    compiled = rg.compile(function, **KINDS[kind])
    compiled.backward()
    points = [(a,) for a in EDGES] if op.arity == 1 else [(a, b) for a in EDGES for b in EDGES]
    for point in points:
        for leaf, number in zip(leaves, point, strict=True):
            leaf.data = number
        expected = outcome(eagerly, function, leaves, ())
        found = outcome(backward, compiled, leaves, ())
        if isinstance(expected[0], type):
            assert found == expected, point
            assert [leaf.grad for leaf in leaves] == [0.0] * len(leaves)
        else:
            assert not isinstance(found[0], type), (point, found)
            for a, b in zip([found[0], *found[1]], [expected[0], *expected[1]], strict=True):
                assert a == b or (a != a and b != b) or abs(a - b) <= max(4e-15 * abs(b), 5e-324), (
                    point,
                    found,
                    expected,
                )
    for leaf, number in zip(leaves, inside, strict=True):
        leaf.data = number
    assert_near(backward(compiled, leaves, ()), eagerly(function, leaves, ()), 1e-14, "back inside")


@pytest.mark.parametrize("kind", KINDS)
def test_masks_with_minus_infinity(kind: str) -> None:
    """Attention with a mask: the scores are not finite, the loss is, and it is the program that computes it."""
    scores = [Value(0.1 * i) for i in range(5)]

    def loss(mask: list[float]) -> Any:
        weights = rg.math.softmax([s + m for s, m in zip(scores, mask, strict=True)])
        return sum(w * (1.0 + i) for i, w in enumerate(weights)) + (scores[0] + mask[0]).relu()

    compiled = rg.compile(loss, **KINDS[kind])
    for mask in (
        [0.0] * 5,
        [0.0, -INF, 0.0, -INF, -INF],
        [-INF, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, -INF, 0.0, 0.0],
        [-INF] * 5,
    ):
        assert_near(
            backward(compiled, scores, (mask,)),
            eagerly(loss, scores, (mask,)),
            1e-14,
            mask,
        )
    assert_whole(compiled, kind)


@pytest.mark.parametrize("kind", ["vm", "interpreter"])
def test_what_is_not_finite_does_not_vanish(kind: str) -> None:
    """relu, max, comparisons and products with zero can swallow an infinity or NaN: exactly where the engine does."""
    x, y, z = Value(1.0), Value(2.0), Value(3.0)
    functions = [
        lambda: x.relu() + y * z,
        lambda: rg.math.max([x, y, z]) * 2.0,
        lambda: rg.math.min([x, y, z]) * 2.0,
        lambda: 0.0 * x + y,
        lambda: rg.math.maximum(x, y) + rg.math.minimum(y, z),
        lambda: 1.0 / x + y,
        lambda: x.tanh() * y + z.sigmoid(),
        lambda: rg.math.where(x, y, z),
        lambda: rg.math.prod([x, y, z]) + x,
        lambda: rg.math.logsumexp([x, y, z]),
        lambda: rg.math.softmax([x, y, z])[1] * y,
        lambda: sum([x, y, z]) * x,
        lambda: x * x + y * y + z,
        lambda: (x - y) * z + x**2,
        lambda: x.detach() * y,
        lambda: x.sign() * y + z,
    ]
    for function in functions:
        compiled = rg.compile(function, **KINDS[kind])
        for point in [
            (1.0, 2.0, 3.0),
            (INF, 2.0, 3.0),
            (-INF, 2.0, 3.0),
            (1.0, NAN, 3.0),
            (0.0, INF, 1.0),
            (NAN, NAN, 1.0),
            (INF, -INF, 0.0),
        ]:
            for leaf, number in zip((x, y, z), point, strict=True):
                leaf.data = number
            expected, found = outcome(eagerly, function, (x, y, z), ()), outcome(backward, compiled, (x, y, z), ())
            assert found == expected or same_numbers(found, expected), (point, found, expected)
        x.data, y.data, z.data = 1.0, 2.0, 3.0


@pytest.mark.parametrize("kind", ["vm", "interpreter"])
def test_errstate_decides_in_each_call(kind: str) -> None:
    w = Value(2.0)

    def function(x: float) -> Any:
        return w.log() + w / x

    def value(x: float) -> Any:
        return w * (1.0 / x)  # of plain numbers: raises always, as Python's floats do

    for plain in (function, value):
        compiled = rg.compile(plain, **KINDS[kind])
        compiled.backward(1.0)
        for number, x in ((0.0, 1.0), (2.0, 0.0), (-1.0, 3.0), (2.0, 3.0)):
            w.data = number
            for options in ({}, {"divide": "ignore"}, {"divide": "ignore", "invalid": "ignore"}):
                with rg.errstate(**options):
                    expected, found = outcome(eagerly, plain, (w,), (x,)), outcome(backward, compiled, (w,), (x,))
                assert found == expected or same_numbers(found, expected), (plain, number, x, options)


def same_numbers(found: Any, expected: Any) -> bool:
    try:
        assert_near(found, expected, 1e-14, "")
    except (AssertionError, TypeError):
        return False
    return True


def test_numbers_too_small_to_be_normal() -> None:
    """No tier reads or writes them as zero, and none leaves the C library to compute with operands read as zero."""
    w = Value(1e-310)
    compiled = rg.compile(lambda: w.sqrt() + w * 1e300, tier="vm")
    w.data = 1.0
    compiled.backward()
    w.data = 1e-310
    assert_near(backward(compiled, [w], ()), eagerly(lambda: w.sqrt() + w * 1e300, [w], ()), 1e-12, "")
    assert compiled().data == pytest.approx(1e-10)


def test_gradients_that_are_infinite_while_values_are_not() -> None:
    x, y = Value(0.0), Value(0.0)
    functions = [lambda: x.sqrt() * y, lambda: x.sqrt() + y, lambda: (x.sqrt() * y).relu(), lambda: x**0.5 * 1.0]
    for function in functions:
        for kind in ("vm", "interpreter"):
            compiled = rg.compile(function, **KINDS[kind])
            for point in ((1.0, 2.0), (0.0, 0.0), (0.0, 1.0), (4.0, 0.0)):
                x.data, y.data = point
                assert_near(backward(compiled, (x, y), ()), eagerly(function, (x, y), ()), 1e-14, point)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("inner", "far"), [("relu", -1.0), ("erfc", 40.0)])
@pytest.mark.parametrize("outer", [rg.math.sqrt, rg.math.cbrt, lambda v: v**0.5])
def test_an_infinite_gradient_ends_where_an_op_hands_none_on(kind: str, inner: str, far: float, outer: Any) -> None:
    """The derivative of a square root at zero is infinite; relu hands nothing on where it is zero."""
    inputs = [Value(0.3 + 0.1 * i) for i in range(9)]

    def function() -> Any:
        return sum(outer(getattr(rg.math, inner)(x)) for x in inputs)

    compiled = rg.compile(function, **KINDS[kind])
    backward(compiled, inputs, ())
    inputs[3].data = inputs[7].data = far
    assert_near(backward(compiled, inputs, ()), eagerly(function, inputs, ()), 1e-12, far)
    assert inputs[3].grad == 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [-1.0, -1, 0.5, -0.5, 2.0])
def test_powers_where_they_end(kind: str, power: float) -> None:
    """Too large a reciprocal raises, though nothing reads it; the root of -0.0 is 0.0."""
    inputs = [Value(0.3 + 0.1 * i) for i in range(9)]

    def function() -> Any:
        powers = [x**power for x in inputs]
        return powers[0] * 2.0 + powers[8]

    compiled = rg.compile(function, **KINDS[kind])
    backward(compiled, inputs, ())
    for place, x in ((1, 1e-310), (1, -0.0 if power > 0 else 4.0), (0, -0.0 if power > 0 else 2.0)):
        inputs[place].data = x
        assert outcome(compiled) == outcome(function)
        if not isinstance(outcome(function), tuple):
            assert_near(backward(compiled, inputs, ()), eagerly(function, inputs, ()), 1e-12, x)
        inputs[place].data = 0.5


@pytest.mark.parametrize("tier", ["vm", "llvm"])
@pytest.mark.parametrize("exponent", [2.0**53, 2.0**53 - 1.0, 1e16, -1e16, 1e300])
def test_a_power_whose_exponent_less_one_is_itself(tier: Any, exponent: float) -> None:
    """The partial is ``b * a**(b - 1)`` as floats are: of 1e16 - 1 that is the power of an even number."""

    def function(p: Any, b: float) -> Any:
        return p**b

    if tier == "llvm":
        require("llvmlite")
    compiled = rg.compile(function, tier=tier)
    for base, b in ((1.5, 2.5), (-1.0, exponent), (1.0, exponent), (-1.0, exponent)):
        wanted = rg.value_and_grad(function)(base, b)
        assert compiled.value_and_grad(base, b) == pytest.approx(wanted, rel=1e-12)


# --- batches ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_the_mean_of_its_members(kind: str) -> None:
    """Mixed lengths, tokens and branches, in any order, of any number; members that are not finite among them."""
    model = nn.GPT(7, block_size=6, n_embd=8, n_head=2)
    leaves = list(model.parameters())

    def loss(tokens: list[Index], scale: float) -> Any:
        result = model.loss(tokens) * scale
        return result * 2.0 if scale > 1.0 else result

    compiled = rg.compile(loss, **KINDS[kind])
    documents = [[Index((3 * i + k) % 7) for i in range(2 + k % 4)] for k in range(9)]
    members = [(document, 0.5 + 0.25 * (k % 4)) for k, document in enumerate(documents)]
    bound = 1e-12
    for order in (members, members[::-1], members[3:5], members[:1], [members[0]] * 4, members + members[::2]):
        assert_near(batch(compiled, leaves, order), mean_of_eager(loss, leaves, order), bound, len(order))
    traces = compiled.stats().traces
    batch(compiled, leaves, members)
    assert compiled.stats().traces == traces
    assert_whole(compiled, kind)


@pytest.mark.parametrize("kind", ["vm", "interpreter", "exact"])
def test_a_batch_with_arguments_that_get_gradients(kind: str) -> None:
    w, xs = Value(0.5), [Value(0.1 * i) for i in range(4)]
    leaves = [w, *xs]

    def loss(x: Value, y: Value) -> Any:
        return (w * x + y * y).tanh()

    compiled = rg.compile(loss, **KINDS[kind])
    members = [(xs[0], xs[1]), (xs[2], xs[2]), (xs[3], xs[0]), (xs[0], xs[1])]
    for _ in range(2):
        assert_near(batch(compiled, leaves, members), mean_of_eager(loss, leaves, members), 1e-14, kind)
    assert_whole(compiled, kind)


@pytest.mark.parametrize("kind", ["vm", "interpreter"])
def test_a_batch_with_members_that_only_the_tape_can_run(kind: str) -> None:
    w, v = Value(2.0), Value(1.0)

    def loss(xs: list[float], mask: float) -> Any:
        weights = rg.math.softmax([w * x for x in xs] + [v + mask])
        return weights[0] * v + sum(weights)

    compiled = rg.compile(loss, **KINDS[kind])
    members = [([1.0, 2.0], 0.0), ([0.5], -INF), ([3.0, 1.0], -INF), ([0.1], 0.0), ([2.0, 2.0], 1.0)]
    for _ in range(2):
        assert_near(batch(compiled, (w, v), members), mean_of_eager(loss, (w, v), members), 1e-13, kind)
    assert compiled.stats().traces == 2
    assert compiled.stats().eager == 0


def test_a_batch_in_which_the_function_must_run_for_some_members() -> None:
    """Eager members between compiled ones settle the stores; what was computed before must not be lost."""
    w = Value(2.0)

    def loss(x: float, how: str) -> Any:
        return w * w * x + (w * float(str(w.data * x)) if how == "text" else w * 3.0)

    compiled = rg.compile(loss, tier="vm")
    members = [(1.0, "plain"), (2.0, "text"), (3.0, "plain"), (4.0, "text")]
    for _ in range(2):
        assert_near(batch(compiled, [w], members), mean_of_eager(loss, [w], members), 1e-14, "")
    assert compiled.stats().eager > 0


def test_a_batch_that_raises_changes_nothing() -> None:
    w = Value(2.0)
    compiled = rg.compile(lambda x: w / x + w * w, tier="vm")
    for members in ([(1.0,), (0.0,)], [(0.0,), (1.0,)], [(1.0,), (2.0,), (0.0,)]):
        with pytest.raises(ZeroDivisionError):
            compiled.backward_batch(members)
        assert w.grad == 0.0
    for bad, error in (([], ValueError), ([1.0], TypeError), ([(1.0,), [2.0]], TypeError)):
        with pytest.raises(error):
            compiled.backward_batch(bad)
    assert w.grad == 0.0


def test_an_exact_batch_has_the_bits_of_the_eager_one() -> None:
    ws = [Value(0.1 * i + 0.03) for i in range(7)]

    def loss(x: float) -> Any:
        return sum(w * x + w * w for w in ws).tanh()

    members = [(0.1 * k,) for k in range(1, 8)]
    found = batch(rg.compile(loss, exact=True), ws, members)
    for w in ws:
        w.grad = 0.0
    total = rg.sum([loss(*member) for member in members])
    total.backward(1.0 / len(members))
    assert found == (total.data * (1.0 / len(members)), [w.grad for w in ws])


# --- other structures ---------------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "x y")


@pytest.mark.parametrize("kind", ["vm", "interpreter"])
def test_arguments_of_another_structure_are_traced_anew(kind: str) -> None:
    w = Value(2.0)

    def loss(a: Any, b: Any = 1.0) -> Any:
        if isinstance(a, dict):
            return w * a["x"] - a["y"] * w * b
        if isinstance(a, str):
            return w * len(a) * b
        if isinstance(a, bool):
            return w * (3.0 if a else 5.0) * b
        if isinstance(a, int):
            return w**a * b
        if isinstance(a, (float, Value, np.floating)):
            return w * a * b
        if isinstance(a, np.ndarray):
            return sum(w * x for x in a.ravel()) * b
        return sum(w * x * (k + 1) for k, x in enumerate(a)) * b

    compiled = rg.compile(loss, **KINDS[kind])
    numbers = [2.0, -3.5, 3, 2, True, False, 1, np.float64(3.0), np.float32(2.0), Value(4.0)]
    lists = ["ab", "abc", [1.0, 2.0], [1.0, 2.0, 4.0], (1.0, 2.0), (2.0, 1.0), [1, 2], [1.0, 2], Pair(1.0, 2.0)]
    dicts = [{"x": 1.0, "y": 2.0}, {"y": 1.0, "x": 2.0}, OrderedDict(y=1.0, x=2.0)]
    six = np.arange(6.0).reshape(2, 3)
    arrays = [
        np.array([1.0, 2.0]),
        np.arange(6.0)[::2],
        six,
        six.T,
        np.asfortranarray(six),
        six[::-1, ::2],
        np.arange(4),
    ]
    arguments = [*numbers, *lists, *dicts, *arrays, [Value(1.0), 3.0], 2.0, [5.0, 6.0], [1.5, 2.5], 2.0 * six]
    for b in (1.0, 2.0):
        for argument in arguments:
            assert_near(backward(compiled, [w], (argument, b)), eagerly(loss, [w], (argument, b)), 1e-14, argument)
    assert_near(backward(compiled, [w], (2.0,)), eagerly(loss, [w], (2.0,)), 1e-14, "one argument")


def test_an_argument_that_is_a_parameter_too() -> None:
    """The same Value passed in and closed over, in every order, with and without programs from before."""
    for kind in ("vm", "interpreter", "exact"):
        for order in (("w", "y"), ("y", "w"), ("y", "w", "y", "w", "z"), ("w", "w")):
            there = {name: Value(number) for name, number in (("w", 3.0), ("y", 2.0), ("z", -1.0))}
            w = there["w"]
            function = lambda x, w=w: x * w + x * x  # noqa: E731
            compiled = rg.compile(function, **KINDS[kind])
            for name in order:
                leaves = list(there.values())
                assert_near(
                    backward(compiled, leaves, (there[name],)), eagerly(function, leaves, (there[name],)), 1e-14, order
                )
            assert compiled.value_and_grad(w) == rg.value_and_grad(function)(w.data) == (18.0, 9.0)  # a variable alone
            assert compiled.value_and_grad(there["y"]) == (10.0, 7.0)
            assert compiled.stats().eager == 0


def test_an_argument_passed_twice() -> None:
    x, y = Value(3.0), Value(4.0)
    compiled = rg.compile(lambda a, b: a * a * b)
    for pair in ((x, y), (x, x), (y, x), (y, y)):
        assert_near(backward(compiled, (x, y), pair), eagerly(lambda a, b: a * a * b, (x, y), pair), 1e-14, pair)
    assert rg.compile(lambda p: p[0] * p[1]).value_and_grad([x, x]) == (9.0, [3.0, 3.0])


def test_gradients_come_in_the_order_of_the_arguments() -> None:
    """Parameters of an optimizer, numbers and fresh Values among the first argument's leaves."""
    x, y = Value(3.0), Value(5.0)
    optimizer = rg.optim.SGD([x], 0.1)
    compiled = rg.compile(lambda p, q: p[0] * p[1] + p[2] * p[2] * q, tier="vm")
    for _ in range(2):
        assert compiled.value_and_grad([x, 2.0, y], 1.0) == (31.0, [2.0, 3.0, 10.0])
        assert compiled.value_and_grad([2.0, x, y], 1.0) == (31.0, [3.0, 2.0, 10.0])
        assert compiled.value_and_grad([y, x, x], 2.0) == (33.0, [3.0, 5.0, 12.0])
    assert (x.grad, y.grad) == (0.0, 0.0)
    optimizer.step()


def test_indices_out_of_range_raise_as_in_plain_python() -> None:
    ws = [Value(float(i)) for i in range(3)]

    def select(i: Index) -> Any:
        return take(ws, i) * (2.0 if i == 1 else 1.0)

    compiled = rg.compile(select, tier="vm")
    for i in (0, 1, 2, 3, -1, 2**31, 2**32, 2**32 + 1, 2**63, 2**64 + 2, -(2**70), 1):
        assert outcome(compiled, Index(i)) == outcome(select, Index(i)), i
    by_guard = rg.compile(lambda i: ws[1] * 10.0 if i == 5 else ws[1] * 1.0)
    assert [by_guard(Index(i)) for i in (5, 2**32 + 5, 4, 5)] == [10.0, 1.0, 1.0, 10.0]


def test_a_plain_list_refuses_a_traced_index() -> None:
    ws = [Value(1.0), Value(2.0)]
    compiled = rg.compile(lambda i: ws[i] * 1.0)
    with pytest.raises(errors.TracedIndexError, match=r"retrograd.take.*retrograd.table"):
        compiled.backward(Index(0))


@pytest.mark.long
@pytest.mark.parametrize("kernels", ["portable", "avx2", *(["avx512"] if ALL else [])])
def test_the_kernels_of_each_instruction_set(kernels: str) -> None:
    """The named programs again, in a process that uses one set; the processor's best, which all other tests use,
    where it has not got it."""
    files = [
        os.path.join(os.path.dirname(__file__), name) for name in ("test_compiled_programs.py", "test_compiled_ops.py")
    ]
    programs = "gpt or convolution or matrices or groups or chains or selections"
    chosen = f"({programs} or outer or windows or scattered or over_values)"
    chosen += "" if ALL else " and not at_each_length"  # one GPT is enough here
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", chosen, *files]
    environment = {**os.environ, "RETROGRAD_KERNELS": kernels}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]


# --- what the result does not depend on ---------------------------------------------------------------------------

UNUSED: dict[str, tuple[Any, float]] = {
    "sin": (lambda x: x.sin(), INF),
    "exp": (lambda x: x.exp(), 800.0),
    "log": (lambda x: x.log(), -1.0),
    "sqrt": (lambda x: (x - 1.0).sqrt() * 2.0, 0.5),
    "div": (lambda x: 1.0 / (x - 2.0), 2.0),
    "pow": (lambda x: x**-1.0, 0.0),
    "then a number": (lambda x: 1.0 / x.data, 0.0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNUSED)
def test_an_operation_that_the_result_does_not_need_raises_as_well(name: str, kind: str) -> None:
    unused, outside = UNUSED[name]
    x = Value(3.0)

    def function(a: float) -> Any:
        y = x * a
        unused(y)
        return y * y

    compiled = rg.compile(function, **KINDS[kind])
    for a in (1.0, 0.7, outside / 3.0, 1.5, outside / 3.0):
        assert outcome(compiled, a) == outcome(function, a)
        x.grad = 0.0
        found = outcome(compiled.backward, a)
        assert found == outcome(function, a)
        assert x.grad == (0.0 if isinstance(found, tuple) else pytest.approx(6.0 * a * a))


def test_an_unused_operation_on_a_result_of_another_call_is_as_it_is() -> None:
    x = Value(2.0)
    before = x * 3.0

    def function() -> Any:
        before.log()
        return x * x

    compiled = rg.compile(function)
    assert compiled().data == 4.0
    assert compiled.backward() == 4.0


def test_programs_share_memory_in_which_one_has_left_nans() -> None:
    def function(p: list[float], long: bool) -> Any:
        if long:
            return sum(rg.math.sin(x * y) for x in p for y in p)
        roots = [rg.math.sqrt(x * x + 0.5) for x in p]
        return sum(rg.math.sin(rg.math.log(x * 1.5 + y)) for x, y in pairwise(roots))

    compiled, point = rg.compile(function, tier="vm"), [0.1, 0.2, 0.3, 0.4, 0.5]
    compiled.value_and_grad(point, True)
    assert math.isnan(compiled.value_and_grad([NAN] * 5, True)[0])
    for _ in range(3):
        assert compiled.value_and_grad(point, False)[0] == pytest.approx(function(point, False))
    short = min(compiled.stats().programs, key=lambda program: program.nodes)
    assert (short.hits, short.exceptional) == (3, 0)


def test_the_tightest_of_many_guards_on_one_number_is_checked() -> None:
    """The engine's machine code asks one of them; numbers at the thresholds, beyond them, and no numbers at all."""
    pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')
    levels = [0.25 * k for k in range(12)]

    def f(x: Any, y: Any) -> Any:
        above = sum(bool(level <= x) for level in levels) + sum(bool(x > level) for level in reversed(levels))
        below = sum(bool(x < level) for level in levels) + sum(bool(level >= x) for level in levels)
        return y * y * (1.0 + above) + y * below

    for tier in ("vm", "llvm"):
        compiled = rg.compile(f, tier=tier)
        for x in (1.1, 1.2, 1.25, 1.24999, 1.0, 1.1, 0.99, 2.75, 5.0, -1.0, 1.1, math.nan, math.inf, 1.25, 1.1):
            assert compiled.value_and_grad(x, 1.5) == rg.value_and_grad(f)(x, 1.5), (tier, x)


def kernel(xs: Sequence[float], ys: Sequence[float], noise: float) -> Any:
    """A Gaussian process's covariance: noise only between a point and itself."""
    total: Any = 0.0
    for i, x in enumerate(xs):
        for j, y in enumerate(ys):
            total = total + rg.math.exp(-((x - y) ** 2)) + (noise if xs is ys and i == j else 0.0)
    return total


def test_which_arguments_are_one_container_is_a_guard() -> None:
    a, b = [1.0, 2.0], [1.5, 2.5]
    calls = [(a, b), (a, a), (b, b), (b, a), (a, a), (a, b), (list(b), list(a))]
    for order in (calls, calls[::-1]):
        compiled = rg.compile(kernel)
        for xs, ys in order * 2:
            assert compiled(xs, ys, 0.5) == kernel(xs, ys, 0.5)
        assert compiled.stats().traces == 2


@pytest.mark.parametrize("make", [lambda: [3.0], lambda: {"a": 3.0}, lambda: np.array([3.0]), lambda: ([1.0], 2.0)])
def test_containers_are_told_from_captured_ones_and_in_rows(make: Callable[[], Any]) -> None:
    known, other = make(), make()

    def f(rows: Sequence[Any], x: float) -> float:
        return x * (2.0 if rows[0] is known else 1.0) * (3.0 if rows[0] is rows[1] else 1.0) * (len(rows[0]) + 1)

    compiled = rg.compile(f)
    for rows in ([other, make()], [known, other], [known, known], [other, other], [other, known], [make(), make()]):
        for _ in range(2):
            assert compiled(rows, 1.5) == f(rows, 1.5)
