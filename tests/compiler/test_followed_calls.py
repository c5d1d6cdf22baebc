"""Python's own functions of numbers in a compiled function: float(), int(), round() and those of math."""

from __future__ import annotations

import copy
import functools
import json
import math
import pickle
import random
import threading
from collections.abc import Callable
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from support.counted_programs import check

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native

if ENGINE == "native":
    from retrograd.compiler.tracing.followed_calls import following

TABLE = [1.0, 4.0, 9.0, 16.0, 25.0]
WEIGHTS = [1.0, -2.0, 0.5]
OPERATIONS = [math.sqrt, math.exp]


def numbers(count: int, many: int = 40, least: float = 0.0, most: float = 2.0) -> list[list[float]]:
    draw = random.Random(count * many)
    return [[draw.uniform(least, most) for _ in range(count)] for _ in range(many)]


@pytest.mark.parametrize("exact", [False, True])
def test_functions_of_math_on_data(exact: bool) -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        inner = lambda x: math.exp(-x) * sqrt(float(x))  # noqa: E731
        return sum(p * inner(x) + math.cos(x) + p * p * exp(x) for x in xs) + p * max(map(math.fabs, xs))

    check(loss, 1.3, numbers(4), 1, exact=exact)


LIMITS = {"least": 0.5}  # has no hash


@pytest.mark.parametrize("exact", [False, True])
def test_any_global_beside_them(exact: bool) -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        return sum(p * math.sqrt(x) * LIMITS["least"] for x in xs)

    check(loss, 1.3, numbers(3, 6), 1, exact=exact)


def test_all_functions_of_math() -> None:
    names = [
        *("acosh", "asinh", "atan", "cbrt", "cosh", "degrees", "erf", "erfc", "exp2", "expm1", "gamma", "lgamma"),
        *("log", "log10", "log1p", "log2", "radians", "sinh", "tan", "tanh"),
    ]
    for name in names:
        scope: dict[str, Any] = {"math": math}
        exec(f"def f(p, xs): return p * math.{name}(xs[0] + 1.0)", scope)
        check(scope["f"], 0.7, numbers(1, 5), 1)
    for name in ("atan2", "copysign", "fmod", "hypot", "pow", "remainder"):
        scope = {"math": math}
        exec(f"def f(p, xs): return p * math.{name}(xs[0], xs[1])", scope)
        check(scope["f"], 0.7, numbers(2, 5), 1)


def test_whole_parts_are_ints() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        n, m = int(xs[0] * 3), math.floor(xs[1] * 5) - 4
        known = 1.0 if isinstance(n, int) and isinstance(float(n), float) else -1.0
        total = known * p + p**n + n * p + n * n + abs(-m) + m / 2 + m // 2 + m % 3 + (n if n > 3 else 2 * n)
        return total + round(xs[1] * 10) / 10 * p + math.ceil(xs[0]) - math.trunc(-xs[1]) + math.lgamma(n + 1) * p

    check(loss, 1.1, numbers(2), 3)


def test_no_int_is_minus_zero() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        return p * math.atan2(math.trunc(-xs[0] / 4), -1.0) + p * math.atan2(-int(xs[0] / 4), -1.0)

    check(loss, 1.1, numbers(1), 1)


def test_an_int_selects_from_a_table() -> None:
    def loss(p: list[Any], xs: list[float]) -> Any:
        total = 0.0
        for x in xs:
            k = int(x / 0.5)
            if k > 3:
                k = 3
            u = x / 0.5 - k
            total = total + p[0] * (TABLE[k] * (1 - u) + TABLE[k + 1] * u) + p[k % 3] * WEIGHTS[k % 3]
        return total

    check(loss, [1.2, 0.3, -0.4], numbers(5), 1)


def test_an_index_outside_a_table_raises() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        return p * TABLE[int(xs[0])]

    compiled = check(loss, 1.2, numbers(1, 20, 0.0, 4.9), 1)
    with pytest.raises(IndexError):
        compiled.value_and_grad(1.2, [7.5])
    assert compiled.value_and_grad(1.2, [-0.5]) == (1.2, 1.0)
    assert compiled.value_and_grad(1.2, [-1.5]) == (30.0, 25.0)


def test_ints_that_a_loop_runs_for() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        total = p
        for _ in range(int(xs[0] * 2)):
            total = total * p + 1.0
        return total

    check(loss, 1.2, numbers(1), 4)


def test_too_large_for_an_int_of_floats() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        n = int(xs[0])
        return p * float((n + 1) * (n + 1) - n * n)

    calls = [[1.5], [3.5], [2.0**40 + 1], [1e15 + 3], [1e17], [-7.25]]
    compiled, eager = rg.compile(loss), rg.value_and_grad(loss)
    for data in calls:
        assert compiled.value_and_grad(1.5, data) == eager(1.5, data)


def test_numbers_that_have_no_int() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        return p * int(xs[0])

    compiled = check(loss, 1.2, numbers(1, 4), 1)
    with pytest.raises(ValueError, match="NaN"):
        compiled.value_and_grad(1.2, [math.nan])
    with pytest.raises(OverflowError):
        compiled.value_and_grad(1.2, [math.inf])


def test_domain_errors_are_pythons() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        return p * math.sqrt(xs[0]) + p * math.exp(xs[1])

    compiled = check(loss, 1.2, numbers(2, 4), 1)
    with rg.errstate(invalid="ignore", over="ignore"):
        for data in ([-1.0, 0.0], [1.0, 1000.0]):
            with pytest.raises((ValueError, OverflowError)) as raised:
                compiled.value_and_grad(1.2, data)
            with pytest.raises(raised.type):
                loss(1.2, data)


def test_calls_in_arms() -> None:
    def bump(x: Any) -> Any:
        return math.exp(-float(x)) + sqrt(abs(x))

    def loss(p: Any, xs: list[float]) -> Any:
        total = 0.0
        for x in xs:
            if p * x > 1.0:
                total = total + p * bump(x) + int(x) * p
            else:
                total = total - p * p * exp(x)
                total = total + math.floor(x + 0.5)
        return total

    check(loss, 1.2, numbers(5), 1)


def test_interpolation_in_a_table() -> None:
    places, values = [0.0, 0.5, 1.0, 2.0, 3.5], np.array([1.0, 4.0, 2.0, -1.0, 5.0])

    def loss(p: Any, xs: list[float]) -> Any:
        return sum(p * np.interp(x, places, values) + p * p * x for x in xs if not np.isnan(x) and not np.isinf(x))

    def held(p: Any, xs: list[float]) -> Any:
        return p * np.interp(xs[0], places, values)

    draw = random.Random(4)
    calls = [[draw.choice([draw.uniform(-1.0, 5.0), *places]) for _ in range(5)] for _ in range(40)]
    check(loss, 1.3, calls, 1)
    compiled = check(held, 1.3, calls, 1)
    assert [compiled(1.0, [x]) for x in (math.inf, -math.inf)] == [5.0, 1.0]
    assert math.isnan(compiled(1.0, [math.nan]))
    assert rg.compile(held, exact=True)(1.3, [0.7]) == held(1.3, [0.7])


def test_names_of_other_things_are_left() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        int = lambda x: x * 2.0  # noqa: A001, E731
        kinds = [float.fromhex("0x1p-1") if isinstance(x, (float, complex)) else 2.0 for x in xs]
        return p * int(xs[0]) + p * sum(kinds)

    check(loss, 1.2, numbers(2, 5), 1)
    assert rg.compile(lambda p, x: p * float("2.5") + int("11", 2) * x).value_and_grad(1.0, 2.0) == (8.5, 2.5)


def test_pythons_functions_are_the_objects_they_were() -> None:
    def by_default(x: float, op: Any = math.sqrt) -> float:
        return max(x, 0.0) if op is sqrt else x

    def by_name(x: float) -> float:
        return max(x, 0.0) if OPERATIONS[0] == math.sqrt and exp in OPERATIONS else x

    for function in (by_default, by_name):
        compiled = rg.compile(function)
        assert [compiled(x) for x in (1.5, -3.0, 2.0)] == [1.5, 0.0, 2.0]


def test_rounding_down_minus_zero() -> None:
    compiled = rg.compile(lambda x: math.atan2(math.floor(x), -1.0))
    assert [compiled(x) for x in (1.5, -0.0, 0.0)] == [math.atan2(1, -1.0), math.pi, math.pi]


def test_another_thread_may_wait_for_a_lock_of_the_functions() -> None:
    lock, failed = threading.Lock(), []

    def locked(x: float) -> float:
        with lock:
            return math.sqrt(x)

    def traces() -> None:
        for _ in range(30):
            rg.compile(locked)(2.0)

    def waits() -> None:
        for _ in range(30):
            with lock:
                rg.compile(lambda x: math.exp(x))(1.0)

    threads = [threading.Thread(target=each, daemon=True) for each in (traces, waits)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60.0)
        failed.append(thread.is_alive())
    assert failed == [False, False]
    assert locked(4.0) == 2.0


def test_two_traces_at_a_time() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        return p * math.sqrt(xs[0]) + p * float(xs[1])

    code = loss.__code__
    with following([loss], exact=False):
        other = loss.__code__
        with following([loss], exact=False):
            assert loss.__code__ is other
        assert loss.__code__ is other is not code
    assert loss.__code__ is code


def test_a_function_has_its_code_back() -> None:
    def loss(p: Any, xs: list[float]) -> Any:
        return p * math.sqrt(xs[0])

    code = loss.__code__
    seen = []
    with following([loss], exact=False):
        assert loss.__code__ is not code
        other = threading.Thread(target=lambda: seen.append(loss(2.0, [4.0])))
        other.start()
        other.join()
    assert seen == [4.0]
    assert loss.__code__ is code
    rg.compile(loss).value_and_grad(1.0, [2.0])
    assert loss.__code__ is code


def test_digits_and_text_still_run_as_they_are() -> None:
    compiled = rg.compile(lambda p, x: p * round(p.data * x, 2))
    with pytest.warns(rg.errors.CompileWarning, match="rounds a traced number to digits"):
        assert compiled.value_and_grad(2.0, 1.234) == (4.94, 2.47)


def test_digits_and_text_of_data_are_part_of_the_program() -> None:
    """So are keys: a program answers calls with the same numbers, and others are traced."""
    table = {1.23: 5.0, 1.24: 7.0}

    @functools.lru_cache
    def rate(x: float) -> float:
        return x + 1.0

    def price(p: Any, x: float) -> Any:
        return p * table[round(x, 2)] * float(f"{x + 0.001:.2f}") * rate(x)

    compiled = rg.compile(price)
    for x in (1.234, 1.234, 1.238, 1.234, 1.238):
        assert compiled.value_and_grad(2.0, x) == rg.value_and_grad(price)(2.0, x)
    stats = compiled.stats()
    assert (stats.traces, stats.eager, stats.hits) == (2, 0, 5)
    assert "a number there is 1.234" in compiled.guards()


def test_numbers_that_differ_in_each_call_are_said_to_be_parts_of_programs() -> None:
    compiled = rg.compile(lambda p, x: p * round(x, 1))
    with pytest.warns(rg.errors.CompileWarning, match="rounds a traced number to digits.*the same number"):
        found = [compiled.value_and_grad(2.0, 0.11 * n)[0] for n in range(40)]
    assert found == [2.0 * round(0.11 * n, 1) for n in range(40)]


@pytest.mark.parametrize("exact", [False, True])
def test_a_sum_that_is_rounded_once(exact: bool) -> None:
    """It is compiled as a sum where its terms do not cancel; with exact bits, and where they do, the function runs."""

    def residuals(p: Any, xs: list[float]) -> Any:
        return rm.fsum((p - x) ** 2 for x in xs) + math.fsum(x * x for x in xs) * p

    def cancelling(p: Any, xs: list[float]) -> Any:
        return rm.fsum([p, 1e16, *xs, -1e16]) * p

    for function, runs in ((residuals, exact), (cancelling, True)):
        compiled = rg.compile(function, exact=exact)
        for n in range(3):
            xs = [0.1 * n, 0.7, -0.3 * n]
            ours, theirs = compiled.value_and_grad(1.5, xs), rg.value_and_grad(function)(1.5, xs)
            assert ours == pytest.approx(theirs, rel=1e-14)
        assert bool(compiled.stats().eager) is runs


def test_a_sum_whose_terms_cancel_in_a_later_call() -> None:
    compiled = rg.compile(lambda p, xs: rm.fsum([p, *xs]) * p)
    assert compiled.value_and_grad(1.5, [2.0, 3.0]) == (9.75, 8.0)
    assert compiled.value_and_grad(1.5, [1e17, -1e17]) == (2.25, 3.0)
    assert "do not cancel" in compiled.guards()


def test_a_sum_that_is_too_large_for_a_float_in_a_later_call() -> None:
    compiled = rg.compile(lambda p, xs: rm.fsum([p, *xs]) + p)
    assert compiled.value_and_grad(1.5, [2.0, 3.0]) == (8.0, 2.0)
    for call in (compiled, compiled.value_and_grad):
        with pytest.raises(rg.errors.NumberTooLargeError):
            call(1e308, [1e308, 1.0])


def test_values_want_retrograds_functions() -> None:
    compiled = rg.compile(lambda p: math.exp(p))
    with pytest.raises(TypeError):
        compiled.value_and_grad(1.0)


def test_c_and_inspection_follow_them(tmp_path: Any) -> None:
    compiled = rg.compile(lambda p, x: p * math.sqrt(float(x)) + p * rm.exp(x))
    written = compiled.to_c(str(tmp_path / "f.c"), 1.5, 2.0, name="f")
    assert "sqrt" in (tmp_path / "f.c").read_text()
    assert written is not None
    assert "sqrt" in str(compiled.inspect(1.5, 2.0).program)


PRICES = {float: 2.0, int: 1.0, bool: 7.0, np.float64: 3.0}


class Visitor:
    def visit_float(self, x: Any) -> float:
        return 5.0

    def visit_bool(self, x: Any) -> float:
        return 6.0

    def other(self, x: Any) -> float:
        return 9.0

    def visit(self, x: Any) -> float:
        visit: Callable[[Any], float] = getattr(self, "visit_" + type(x).__name__, self.other)
        return visit(x)


VISITOR = Visitor()


def length_of_text(thing: Any) -> float:
    try:
        return float(len(json.dumps([thing])))
    except TypeError:
        return 77.0


ASKED: dict[str, Callable[[Any], float]] = {
    "a class as a key": lambda x: PRICES.get(type(x), 4.0),
    "the class of a test": lambda x: PRICES.get(type(x > 0.0), 4.0),
    "classes of several": lambda x: sum(PRICES.get(kind, 4.0) for kind in map(type, [x, 2.0 * x, x > 0.0])),
    "the name of a class": VISITOR.visit,
    "the name of a test's": lambda x: VISITOR.visit(x > 0.0),
    "a subclass": lambda x: 2.0 if issubclass(type(x), float) else 1.0,
}
REFUSED: dict[str, Callable[[Any], float]] = {
    "JSON": length_of_text,
    "a pickle": lambda x: float(len(pickle.dumps(x > 0.0))),
    "a pickle of a number": lambda x: float(len(pickle.dumps(x))),
    "an array's dtype": lambda x: 2.0 if np.array([x]).dtype == np.float64 else 1.0,
    "the kind of a dtype": lambda x: 2.0 if np.asarray(x).dtype.kind == "f" else 1.0,
}


@pytest.mark.parametrize("name", [*ASKED, *REFUSED])
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_what_a_tracer_is_asked_where_it_does_not_count_yet(name: str) -> None:
    """A weight is zero in the calls in which a program is compared."""
    asked = ASKED.get(name) or REFUSED[name]

    def f(x: float, y: float, w: float) -> float:
        return y * y + max(w - 1.0, 0.0) * asked(x)

    compiled = rg.compile(f)
    for k in range(14):
        compiled(0.25 + k, 2.0, 0.5 + 0.01 * k)
    assert compiled(0.25, 2.0, 2.0) == f(0.25, 2.0, 2.0)
    assert (compiled.stats().eager == 0) is (name in ASKED)


def test_the_class_of_numpys_numbers() -> None:
    """Of an argument it is known; of what is computed from one, NumPy and Python decide."""

    def f(x: float, w: float) -> float:
        return w + PRICES.get(type(x), 4.0)

    def of_a_product(x: float, w: float) -> float:
        return w + PRICES.get(type(2.0 * x), 4.0)

    compiled = rg.compile(f)
    for x in (0.5, np.float64(0.5), 1.5, np.float64(2.5)):
        assert compiled(x, 1.0) == f(x, 1.0)
    assert compiled.stats().eager == 0
    with pytest.warns(rg.errors.CompileWarning, match="one of NumPy's"):
        assert rg.compile(of_a_product)(np.float64(0.5), 1.0) == of_a_product(np.float64(0.5), 1.0)


def test_a_comparison_is_copied_as_it_is() -> None:
    def f(x: float, y: float) -> Any:
        up, same = copy.copy(x > 0.0), copy.deepcopy([y > 0.0])
        return rg.where(up, x, 2.0 * x) + rg.where(same[0], y, 3.0 * y)

    compiled = rg.compile(f)
    for x, y in ((0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)):
        assert compiled(x, y) == f(x, y)
    assert len(compiled.stats().programs) == 1
