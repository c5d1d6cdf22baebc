"""Threads: batches on several of them, with the same bits on any number; and passes that let other threads run."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.compiled_cases import assert_near, eagerly, mean_of_eager, native
from support.parts import ALL, require
from support.timeouts import PATIENCE

import retrograd as rg
from retrograd import Value
from retrograd.compiler import tier_up

THREADS = (1, 2, 3, 8) if ALL else (1, 3)


class Case(NamedTuple):
    """A function, what it reads, and the members of a batch that is long enough for threads."""

    function: Callable[..., Any]
    leaves: list[Value]
    members: list[tuple[Any, ...]]


def recurrence() -> Case:
    draw = random.Random(1)
    p = [Value(v) for v in (1.1, 0.4, 0.1, 0.4)]

    def simulated(x: float, y: float) -> Any:
        for _ in range(150):
            x, y = x + 0.01 * (p[0] * x - p[1] * x * y), y + 0.01 * (p[2] * x * y - p[3] * y)
        return (x - 1.0) ** 2 + (y - 2.0) ** 2

    return Case(simulated, p, [(draw.uniform(0.5, 1.5), draw.uniform(0.5, 1.5)) for _ in range(400)])


def wide() -> Case:
    """Values among the arguments, which are owed gradients too."""
    draw = random.Random(2)
    p = [Value(draw.uniform(-1.0, 1.0)) for _ in range(6)]
    shared = [Value(draw.uniform(-1.0, 1.0)) for _ in range(3)]

    def waves(xs: list[float], v: Value) -> Any:
        return v * sum((p[i % 6] * x).tanh() * p[(i + 1) % 6] for i, x in enumerate(xs))

    members = [([draw.uniform(-1.0, 1.0) for _ in range(1000)], shared[k % 3]) for k in range(421)]
    return Case(waves, p + shared, members)


def branches() -> Case:
    """Two programs: comparisons of a few members come out differently."""
    draw = random.Random(3)
    p = [Value(draw.uniform(-1.0, 1.0)) for _ in range(4)]

    def bent(x: float) -> Any:
        u = p[0] * x
        if x > 0.9:
            return sum((u + 0.01 * i).tanh() for i in range(1600)) * p[1]
        return sum((u * p[2] + 0.01 * i).sigmoid() for i in range(1600)) * p[3]

    return Case(bent, p, [(draw.random(),) for _ in range(400)])


CASES = {"recurrence": recurrence, "wide": wide, "branches": branches}
KINDS: dict[str, dict[str, Any]] = {
    "vm": {"tier": "vm"},
    "llvm": {"tier": "llvm"},
    "kernel calls": {"tier": "llvm"},
    "interpreter": {"tier": "interpreter"},
    "exact": {"exact": True},
}


def batch(compiled: Any, case: Case, threads: int | None) -> tuple[float, list[float]]:
    for leaf in case.leaves:
        leaf.grad = 0.0
    return compiled.backward_batch(case.members, threads=threads), [leaf.grad for leaf in case.leaves]


@native
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_the_same_bits_on_any_number_of_threads(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "llvm" in KINDS[kind].values():
        require("llvmlite")
    if kind == "kernel calls":
        if name == "recurrence":
            return  # a thousand kernel calls take LLVM minutes
        monkeypatch.setattr(tier_up, "_most_scalar_nodes", lambda _: 0)
    case = CASES[name]()
    compiled = rg.compile(case.function, **KINDS[kind])
    expected = mean_of_eager(case.function, case.leaves, case.members)
    for _ in range(3):  # until the machine code is there
        assert_near(batch(compiled, case, 1), expected, 1e-11, "one thread")
    assert_near(batch(compiled, case, None), expected, 1e-11, "this thread alone")
    one = batch(compiled, case, 1)
    for threads in THREADS:
        assert batch(compiled, case, threads) == one, threads
    assert compiled.stats().eager == 0


def logarithms() -> Case:
    """Of negative numbers they raise; of infinity only the engine knows the gradient."""
    p, shared = Value(0.5), Value(1.5)
    members = [(1.0 + 0.01 * k, shared) for k in range(400)]
    return Case(lambda x, y: y * sum((p * x + 0.001 * i).log() for i in range(1000)), [p, shared], members)


@native
def test_a_member_outside_the_domain_leaves_every_gradient() -> None:
    case = logarithms()
    compiled = rg.compile(case.function, tier="vm")
    compiled.backward_batch(case.members, threads=2)
    before = [leaf.grad for leaf in case.leaves]
    case.members[250] = (-1.0, case.leaves[1])
    for threads in (None, *THREADS):
        with pytest.raises(ValueError, match="log"):
            compiled.backward_batch(case.members, threads=threads)
        assert [leaf.grad for leaf in case.leaves] == before


@native
def test_an_exceptional_member_is_the_engines() -> None:
    case = logarithms()
    compiled = rg.compile(lambda x, y: case.function(x, y).tanh(), tier="vm")
    case.members[250] = (math.inf, case.leaves[1])
    expected = mean_of_eager(compiled.scalar_function, case.leaves, case.members)
    one = batch(compiled, case, 1)
    assert_near(one, expected, 1e-11, "one thread")
    for threads in THREADS:
        assert batch(compiled, case, threads) == one, threads


@native
@pytest.mark.parametrize("tier", ["vm", pytest.param("llvm", marks=pytest.mark.long), "interpreter"])
def test_two_threads_call_one_function_at_once(tier: str) -> None:
    if tier == "llvm":
        require("llvmlite")
    p = [Value(v) for v in (1.1, 0.4)]

    def long(x: float, y: float) -> Any:
        return sum((p[i % 2] * x + 0.001 * i).tanh() * (y + p[1] * 0.01 * i).sigmoid() for i in range(30_000))

    def alone(v: tuple[float, float]) -> Any:
        return long(v[0], v[1])

    compiled, derivative = rg.compile(long, tier=tier), rg.compile(alone, tier=tier)
    arguments = [(0.3, 0.7), (-0.2, 0.9)]
    expected = [eagerly(long, p, each) for each in arguments]
    slopes = [rg.value_and_grad(alone)(each) for each in arguments]
    for each in arguments:
        compiled.backward(*each)
        derivative.value_and_grad(each)
    for leaf in p:
        leaf.grad = 0.0
    turns, problems = 6, []

    def call(which: int) -> None:
        try:
            for turn in range(turns):
                value = compiled.backward(*arguments[which])
                assert math.isclose(value, expected[which][0], rel_tol=1e-11)
                value, slope = derivative.value_and_grad(arguments[which])
                assert math.isclose(value, slopes[which][0], rel_tol=1e-11)
                assert all(map(lambda a, b: math.isclose(a, b, rel_tol=1e-9), slope, slopes[which][1]))
                with rg.no_grad():
                    value = compiled(*arguments[which])
                assert math.isclose(value.data, expected[which][0], rel_tol=1e-11)
                if turn == 3 and which == 0:
                    derivative.clear()  # while the other may be in a pass
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=call, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not problems
    for i, leaf in enumerate(p):
        total = turns * sum(gradients[i] for _, gradients in expected)
        assert math.isclose(leaf.grad, total, rel_tol=1e-9)


@native
@pytest.mark.parametrize("tier", ["vm", "llvm"])
@pytest.mark.parametrize("way", ["call", "backward", "value_and_grad", "backward_batch"])
def test_other_threads_run_during_a_long_pass(way: str, tier: Any) -> None:
    """A thread that has the GIL keeps it here until it gives it away itself: only the pass can."""
    if tier == "llvm":
        require("llvmlite")
    p = Value(0.5)
    compiled = rg.compile(lambda x: sum((p * x + 0.001 * i).tanh() for i in range(60_000)), tier=tier)
    calls = {
        "call": lambda: compiled(0.7),
        "backward": lambda: compiled.backward(0.7),
        "value_and_grad": lambda: compiled.value_and_grad(0.7),
        "backward_batch": lambda: compiled.backward_batch([(0.1,), (0.2,)]),
    }
    calls[way]()
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=tick)
    before = sys.getswitchinterval()
    thread.start()
    sys.setswitchinterval(1000.0)
    try:
        for _ in range(2000):
            seen = ticks[0]
            calls[way]()
            if ticks[0] > seen:
                break
        else:
            pytest.fail("no other thread ran in 2000 passes")
    finally:
        sys.setswitchinterval(before)
        done.set()
        thread.join(PATIENCE)


@native
def test_parameters_change_and_are_read_while_passes_run() -> None:
    """Each pass is that of the numbers at its beginning, and no gradient is lost."""
    p = [Value(1.0), Value(1.0)]
    compiled = rg.compile(lambda x: sum(p[0] * x * p[1] for _ in range(80_000)), tier="vm")
    compiled.backward(1.0)
    for leaf in p:
        leaf.grad = 0.0
    done, found = threading.Event(), []

    def change() -> None:
        k = 0
        while not done.is_set():
            k += 1
            p[0].data = 2.0 if k % 2 else 1.0
            found.append(p[1].grad % 80_000.0)
            time.sleep(0)

    thread = threading.Thread(target=change)
    thread.start()
    calls = 30
    try:
        values = [compiled.backward(1.0) for _ in range(calls)]
    finally:
        done.set()
        thread.join(PATIENCE)
    assert set(values) <= {80_000.0, 160_000.0}
    assert p[0].grad == calls * 80_000.0
    assert p[1].grad == sum(values)
    assert set(found) <= {0.0}  # never half of a gradient


@native
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_after_threads(tmp_path: Path) -> None:
    script = tmp_path / "forked.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, threading, warnings
            import retrograd as rg
            warnings.simplefilter("ignore")
            p = rg.Value(0.5)
            f = rg.compile(lambda x: sum((p * x + 0.001 * i).tanh() for i in range(2000)), tier="vm")
            members = [(0.01 * k,) for k in range(300)]
            def run():
                p.grad = 0.0
                return f.backward_batch(members, threads=2), p.grad
            run()
            expected, stop = run(), threading.Event()
            def busy():
                while not stop.is_set():
                    f.value_and_grad(0.3)
            thread = threading.Thread(target=busy)
            thread.start()
            for _ in range(3):  # the other thread may be in the middle of a pass
                child = os.fork()
                if child == 0:
                    os._exit(0 if run() == expected else 1)
                assert os.waitpid(child, 0)[1] == 0
            stop.set()
            thread.join()
            assert run() == expected
            print("the same")
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout == "the same\n", done.stderr


@pytest.mark.parametrize(("threads", "error"), [(0, ValueError), (-1, ValueError), ("2", TypeError), (1.5, TypeError)])
def test_what_is_no_number_of_threads_is_refused(threads: Any, error: type[Exception]) -> None:
    w = Value(2.0)
    compiled = rg.compile(lambda x: w * x)
    with pytest.raises(error, match=r"backward_batch: threads is .*, not "):
        compiled.backward_batch([(1.0,)], threads=threads)
    assert w.grad == 0.0


def test_short_batches_and_both_engines_take_threads() -> None:
    w = Value(2.0)
    compiled = rg.compile(lambda x: w * x)
    assert compiled.backward_batch([(1.0,), (3.0,)], threads=2) == 4.0
    assert w.grad == 2.0
