"""What converted code could get wrong: iterators, closures, exceptions, names of lists, stores, what may be None."""

# ruff: noqa: SIM102, SIM108 (the statements are what is tested)
from __future__ import annotations

import bisect
import contextlib
import importlib.util
import random
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, draw, keeps_kinds

import retrograd as rg
from retrograd import math as m

pytestmark = pytest.mark.native


def fill(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Flips in nearly every call, so that tests are converted soon."""
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            total = total + p
        else:
            total = total - x
    return total


def reads_on(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    iterator, total = iter(ps), 0.0
    for p in iterator:
        if p > 0.5:
            break
        total = total + p
    for p in iterator:  # the rest
        total = total + 2.0 * p
    return total


def generates(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    seen: list[float] = []
    total = ps[0]
    for y in (seen.append(x) or x for x in xs[:3]):  # type: ignore[func-returns-value]
        if y > 0.5:
            break
        total = total + y * ps[1]
    return total + len(seen) * ps[2]


def breaks_in_try(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z, total = 0.0, ps[0]
    for i, p in enumerate(ps):
        if p > xs[i]:
            z = 1.0
        else:
            z = 2.0
        try:
            if i == 3:
                break
        finally:
            total = total + 1.0
        z = 0.0
    return total + z * ps[1] + fill(ps, xs)


def suppresses(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    z = 0.0
    with contextlib.suppress(ValueError):
        if ps[0] > xs[0]:
            z = 1.0
        else:
            z = 2.0
        if len(ps) == 12:
            raise ValueError
        z = 0.0
    return ps[1] * z + fill(ps, xs)


def closes_over(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    k = 1.0

    def scaled(q: Any) -> Any:
        return q * k

    if ps[0] > xs[0]:
        k = 2.0
    else:
        k = 3.0
    found = scaled(ps[1])
    k = 5.0
    return found + fill(ps, xs)


def extends_another(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept: list[Any] = [0.0]
    for p, x in zip(ps, xs, strict=True):
        if p > x + 1.0:
            other = kept
            other += [p]
    return fill(ps, xs) + sum(kept)


def puts_back(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Differences on one of two lists, of which a third name chose one."""
    low, high = [ps[0], ps[1]], [ps[2], ps[3]]
    total = fill(ps, xs)
    now = low if ps[4] > xs[4] + 0.5 else high
    for i in range(2):
        old = low[i]
        low[i] = old + 0.5
        total = total + now[i] * xs[i]
        low[i] = old
    return total


def asks_for_a_type(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best = None
    for p, x in zip(ps, xs, strict=True):
        if p > x + 1.0:
            best = p * 2.0
    return ps[0] if isinstance(best, type(None)) else ps[1]


def catches_what_none_raises(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    best = None
    for p, x in zip(ps, xs, strict=True):
        if p > x + 1.5:
            best = p
    try:
        found = ps[1] * best
    except TypeError:
        found = ps[0]
    return found + fill(ps, xs)


def stores_in_an_array(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    seen = np.zeros(1)
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            np.add(seen, 1.0, out=seen)
    return ps[0] * seen[0] + fill(ps, xs)


class Counted:
    """What a loop is over counts how often it was asked for."""

    def __init__(self) -> None:
        self.asked = 0.0

    def items(self) -> list[float]:
        """The same in each call."""
        self.asked = self.asked + 1.0
        return sorted([3.0, 1.0])


def asks_once(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    counted, total = Counted(), ps[0]
    for x in counted.items():
        if ps[1] < x:
            break
        total = total + x * ps[2]
    return total + (counted.asked * ps[3] if ps[2] > xs[2] + 1.0 else ps[4]) + fill(ps, xs)


def returns_from_two_loops(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    for p in ps:
        for x in xs:
            if p > x + 2.5:
                return p * 2.0
    return ps[0]


def chooses_among_three(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b, c = [ps[0], ps[1]], [ps[2], ps[3]], [xs[0], xs[1]]
    if ps[4] > xs[4] + 0.5:
        now = a
    elif ps[5] > xs[5]:
        now = b
    else:
        now = c
    b[0] = 9.0
    return now[0] + 2.0 * now[1] + fill(ps, xs)


def assigns_in_passing(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    if ps[0] > xs[0]:
        z = 2.0
    else:
        z = 3.0
    found = any((z := x) > 3.5 for x in xs if x > 2.0)
    return z * ps[1] + fill(ps, xs) + found


def grows_what_was_chosen(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = [ps[0], ps[1]], [ps[2], ps[3]]
    now = a if ps[4] > xs[4] + 0.5 else b
    later = iter(now)
    a.append(1.0)
    a[1] = 7.0
    return len(now) * ps[5] + sum(later) + fill(ps, xs) + now.index(ps[2]) if ps[2] in now else now[0]


def asks_for_a_tuple(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a, b = [ps[0], ps[1]], [ps[2], ps[3]]
    now = a if ps[4] > xs[4] + 0.5 else b
    return (abs(now[0]) if isinstance(now, tuple) else now[0]) + fill(ps, xs)


def has_no_minus_zero(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    n = -3
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            n = n + 1
    return sum(m.copysign(p, k) for p, k in zip(ps, (n * -1, n % -3, n // -3), strict=False)) + fill(ps, xs)


def divides_ints(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    n = 0
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            n = n + 1
    try:
        quotient, rest = divmod(n, 2)
        rest += n & 1
    except TypeError:
        quotient, rest = 0, 0
    return quotient * ps[0] + rest * ps[1] + fill(ps, xs)


def catches_what_texts_raise(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    state = "a"
    for p, x in zip(ps, xs, strict=True):
        state = "b" if p > x + 1.0 else state
    try:
        found = 1.0 if state in "bc" else 2.0
    except TypeError:
        found = 3.0
    return found * ps[0] + fill(ps, xs)


GAPS = [-0.5, float("nan"), 1.0]


def looks_up_gaps(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(p * bisect.bisect_right(GAPS, p) for p in ps) + fill(ps, xs)


class Meter:
    """Counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0.0

    def over(self, p: Any) -> Any:
        """A test that stores."""
        self.asked = self.asked + 1.0
        return p > 0.3


def stores_in_a_test(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    meter, total = Meter(), 0.0
    for p, x in zip(ps, xs, strict=True):
        if p > x and meter.over(p):
            total = total + p
        else:
            total = total - x
        if x > 0.5:
            if p < x or meter.over(x):
                total = total + 0.1 * p
    return total + meter.asked * ps[0]


class Watched(list[float]):
    """Counts how often an item is read."""

    reads = 0.0

    def __getitem__(self, key: Any) -> Any:
        self.reads = self.reads + 1.0
        return super().__getitem__(key)


def looks_up_where_reads_count(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    table = Watched([-1.0, 0.0, 1.0])
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        total = total + (p * bisect.bisect_left(table, x) if p > x else p)
    return total + table.reads * ps[0]


LIMITS: list[Function] = [
    *(stores_in_a_test, looks_up_where_reads_count),
    *(returns_from_two_loops, chooses_among_three, assigns_in_passing, grows_what_was_chosen, asks_for_a_tuple),
    *(has_no_minus_zero, divides_ints, catches_what_texts_raise, looks_up_gaps),
    *(reads_on, generates, breaks_in_try, suppresses, closes_over, extends_another, puts_back, asks_for_a_type),
    *(catches_what_none_raises, stores_in_an_array, asks_once),
]


@pytest.mark.parametrize("f", LIMITS, ids=lambda f: f.__name__)
def test_what_is_called_gives_what_the_function_gives(f: Function) -> None:
    """Later calls take other ways than the one that was traced."""
    for start in range(0, 200, 40):
        compiled = rg.compile(f)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for seed in range(start, start + 40):
                wanted, found = rg.value_and_grad(f)(*draw(seed)), compiled.value_and_grad(*draw(seed))
                assert found[0] == pytest.approx(wanted[0], rel=1e-12, abs=1e-12)
                assert found[1] == pytest.approx(wanted[1], rel=1e-12, abs=1e-12)


class State:
    """What is there before a call."""

    def __init__(self) -> None:
        self.level: Any = 0.0


STATE = State()


def test_arms_that_change_what_was_there_before() -> None:
    """A function that does so in some calls is traced with that as a comparison; no tracer is left behind."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total = 0.0
        for p, x in zip(ps, xs, strict=True):
            if p > x:
                total = total + p
            elif p < -2.0:
                STATE.level = x
            else:
                total = total - ps[0]
        return total + STATE.level

    compiled = rg.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(120):
            levels = []
            for g in (f, compiled):
                STATE.level = 0.0
                levels.append((g(*draw(seed)), STATE.level))
            assert levels[1] == pytest.approx(levels[0], rel=1e-12)
            assert type(levels[1][1]) is float


def test_kinds_of_what_was_chosen_twice() -> None:
    """A result is a Value where the function's is, also if one of two candidates may be a plain number."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        if ps[0] > xs[0]:
            if ps[2] > xs[2]:
                return ps[3] * 2.0
            return ps[1] if ps[1] > 0.1 else 0.0
        return ps[4] * ps[5]

    keeps_kinds(f)


def test_the_kind_of_the_least_of_what_was_chosen() -> None:
    """A result is a plain number where the function's is."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        a = ps[0] if ps[1] > xs[1] else 0.5
        b = m.log(ps[2]) if ps[2] > 0.1 else 0.0
        return min(b, a)

    keeps_kinds(f)


def test_many_tests_that_depend_on_each_other() -> None:
    """What a test implies is found in time that grows with their number."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        best, both = None, False
        for k in range(40):
            p, x = ps[k % 12], xs[k % 12]
            if (both and p > x) or (not both and p < x + 0.01 * k):
                both = not both
                if best is None or best > p:
                    best = p + 0.1 * k
            if best is not None and both:
                best = best * 0.9
        return fill(ps, xs) if best is None else best + fill(ps, xs)

    compiled = rg.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(24):
            wanted, found = rg.value_and_grad(f)(*draw(seed)), compiled.value_and_grad(*draw(seed))
            assert found[0] == pytest.approx(wanted[0], rel=1e-12)
            assert found[1] == pytest.approx(wanted[1], rel=1e-12, abs=1e-12)


def test_another_thread_calls_the_function_itself() -> None:
    """While one thread traces converted code, another gets what Python gives, UnboundLocalError included."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        for p, x in zip(ps, xs, strict=True):
            if p > x + 1.0:
                found = p
                break
        return found

    ended, others = threading.Event(), []

    def call() -> None:
        while not ended.is_set():
            try:
                others.append(f([0.0] * 12, [0.0] * 12))
            except UnboundLocalError:
                pass
            except BaseException as error:
                others.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=call)
    thread.start()
    try:
        for _ in range(40):
            compiled: Callable[..., Any] = rg.compile(f)
            for _ in range(8):
                with contextlib.suppress(UnboundLocalError):
                    compiled(*draw(random.randrange(1000)))
    finally:
        ended.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert not others


def test_a_function_that_is_nested_too_deep_to_be_copied_is_traced_as_it_is(tmp_path: Path) -> None:
    terms = " + ".join(f"{i}.0 * p[{i % 3}]" for i in range(600))
    lines = [
        "def deep(p, xs):",
        "    s = p[0]",
        "    for x in xs:",
        "        if x > p[1]:",
        "            s = s + p[2] * x",
    ]
    path = tmp_path / "deep.py"
    path.write_text("\n".join([*lines, f"    return s + {terms}", ""]))
    spec = importlib.util.spec_from_file_location("deep", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled = rg.compile(module.deep)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(8):
            ps, xs = draw(seed)
            found, wanted = compiled.value_and_grad(ps, xs), rg.value_and_grad(module.deep)(ps, xs)
            assert [found[0], *found[1]] == pytest.approx([wanted[0], *wanted[1]], rel=1e-12)


DISCOUNTS = [1.0, 0.95, 0.9, 0.84, 0.8, 0.76, 0.7]


def test_a_loop_has_no_more_iterations_than_there_are_data_for() -> None:
    """More are recorded than calls took, and one of those would be beyond the end of the table."""

    def worth(p: Any, terms: Sequence[float]) -> Any:
        total = 0.0
        for term in terms:
            year = 0
            while year < term:
                total = total + m.exp(-p * year) * DISCOUNTS[year + 1]
                year += 1
        return total

    rng = random.Random(3)
    compiled = rg.compile(worth)
    for _ in range(60):
        terms = [rng.choice([0.5, 1.5, 2.5, 5.5]) for _ in range(6)]
        ours, theirs = rg.Value(0.3), rg.Value(0.3)
        value, wanted = compiled.backward(ours, terms), worth(theirs, terms)
        wanted.backward()
        assert value == pytest.approx(wanted.data, rel=1e-12)
        assert ours.grad == pytest.approx(theirs.grad, rel=1e-12)
    assert compiled.stats().eager == 0
    assert len(compiled.stats().programs) < 3
    for g in (worth, compiled):
        with pytest.raises(IndexError):
            g(rg.Value(0.3), [0.5, 8.5, 0.5, 0.5, 0.5, 0.5])
    assert compiled(rg.Value(0.3), [5.5] * 6).data == pytest.approx(worth(rg.Value(0.3), [5.5] * 6).data)


@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
def test_a_function_that_calls_itself_in_both_arms_where_python_lets_it() -> None:
    def f(xs: list[float], n: int) -> Any:
        def down(k: int) -> Any:
            return xs[0] if k == 0 else 0.5 * down(k - 1) + 0.1

        return down(n)

    compiled, before = rg.compile(f), sys.getrecursionlimit()
    sys.setrecursionlimit(150_000)  # more than the stack of C holds
    try:
        for call in range(40):
            arguments = [0.1 * call], call * 7 % 20
            assert compiled.value_and_grad(*arguments)[0] == pytest.approx(f(*arguments), rel=1e-12)
    finally:
        sys.setrecursionlimit(before)
