"""The life of nodes in the native engine: what is freed when, what it costs, and what other threads may do with it."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from retrograd import errors, reference

native = pytest.importorskip("retrograd._native", reason="the native engine is not built: pip install .")
Value = native.Value

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="resident memory is read from /proc")


def resident() -> int:
    """Resident memory of this process, in bytes."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * PAGE


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """A dropped graph is freed by reference counts alone: the collector is off."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def chain(length: int) -> tuple[Any, Any]:
    x = Value(1.0)
    y = x
    for _ in range(length):
        y = y + 1.0
    return x, y


def test_ten_million_nodes_in_one_chain() -> None:
    x, y = chain(10_000_000)
    y.backward()
    assert x.grad == 1.0
    assert y.data == 10_000_001.0
    del y
    assert x.grad == 1.0


@needs_proc
def test_a_node_costs_at_most_64_bytes() -> None:
    chain(200_000)
    before = resident()
    x, y = chain(2_000_000)
    assert (resident() - before) / 2_000_000 <= 64
    del x, y


def steps(step: Callable[[], object], count: int = 10_000) -> float:
    """Bytes by which memory grows for each of ``count`` steps, after as many to settle."""
    for _ in range(count // 4):
        step()
    before = resident()
    for _ in range(count):
        step()
    return (resident() - before) / count


@needs_proc
def test_memory_is_flat_while_graphs_are_dropped() -> None:
    w = Value(0.5)
    kept: dict[str, Any] = {}

    def forward() -> None:
        loss = w
        for i in range(300):
            loss = (loss * w + i).tanh()
        kept["loss"] = loss  # as at module level: the old graph lives until the name is bound again

    def forward_and_backward() -> None:
        forward()
        kept["loss"].backward()

    assert steps(forward, 3000) < 100
    assert steps(forward_and_backward, 3000) < 100


@needs_proc
def test_a_kept_leaf_pins_nothing() -> None:
    kept: list[Any] = []

    def step() -> None:
        kept.append(Value(1.0))
        y = kept[-1]
        for _ in range(1000):
            y = y * 1.5 + Value(0.25)

    assert steps(step) < 300  # the leaf itself and its place in the list


@needs_proc
def test_a_kept_result_costs_at_most_its_chunk() -> None:
    kept: list[Any] = []
    x = Value(2.0)

    def step() -> None:
        for _ in range(1000):
            x * 3.0
        kept.append(x * x)

    assert steps(step, 2000) <= 16384 + 1024


class Witness:
    """Something that a closure captures, to see whether it died."""


def with_closure(arena: bool) -> weakref.ref[Witness]:
    x = Value(3.0)
    witness = Witness()
    out = Value(x.data * 2, (x,), "double") if not arena else x * 2
    if arena:
        out._backward = lambda: witness  # does not hold out itself
    else:
        out._backward = lambda: (out, witness)
    (out * out).backward() if not arena else None
    return weakref.ref(witness)


def test_a_closure_that_holds_its_node_is_collected() -> None:
    witness = with_closure(arena=False)
    assert witness() is not None
    gc.collect()
    assert witness() is None


def test_a_closure_that_does_not_hold_its_node_needs_no_collector() -> None:
    assert with_closure(arena=True)() is None


def test_a_long_chain_of_closures_is_freed() -> None:
    class Node(Value):  # type: ignore[misc, valid-type]
        pass

    x = y = Node(1.0)
    for _ in range(100_000):
        out = Node(y.data, (y,), "step")

        def push(out: Any = out, y: Any = y) -> None:
            y.grad += out.grad

        out._backward = push
        y = out
    y.backward()
    assert x.grad == 1.0
    del out, push, y
    gc.collect()


def test_user_nodes_without_closures_are_freed_at_once() -> None:
    class Node(Value):  # type: ignore[misc, valid-type]
        def __init__(self, data: float, children: tuple[Any, ...], local_grads: tuple[float, ...], witness: Witness) -> None:
            super().__init__(data, children, local_grads)
            self.witness = witness

    x = Value(2.0)
    witness = Witness()
    y = Node(4.0, (x,), (2.0,), witness)
    z = y * y
    seen = weakref.ref(witness)
    del witness, y
    assert seen() is not None
    z.backward()
    assert x.grad == 16.0
    del z
    assert seen() is None


# --- changed data, against the reference engine ------------------------------------------------------------


def random_life(engine: ModuleType, seed: int, count: int) -> list[object]:
    """A random life: values are made, dropped, changed, restored and differentiated; what happens is written down."""
    chooser = random.Random(seed)
    leaves = [engine.Value(chooser.gauss(0, 1), label=f"w{i}") for i in range(4)]
    values: list[Any] = []
    log: list[object] = []
    for _ in range(count):
        act = chooser.random()
        pool = leaves + values
        if act < 0.45:
            a, b = chooser.choice(pool), chooser.choice(pool)
            values.append(chooser.choice([lambda: a * b, lambda: a + b, lambda: a - 1.5, lambda: a.tanh(), lambda: 2.0 * b])())
        elif act < 0.6 and values:
            values.pop(chooser.randrange(len(values)))
        elif act < 0.63:
            values.clear()
        elif act < 0.75:
            leaf = chooser.choice(leaves)
            leaf.data = chooser.choice([0.5, 1.5, -0.25])
        elif act < 0.8:
            chosen = chooser.choice(pool)
            old = chosen.data
            chosen.data = old + 1.0
            if chooser.random() < 0.5:
                chooser.choice(pool) * 1.0
            chosen.data = old
        elif values:
            root = chooser.choice(values)
            try:
                root.backward(chooser.choice([1.0, 0.5]))
            except errors.ChangedValueError as error:
                log.append(str(error).split(" is ")[0])
            log.append([leaf.grad for leaf in leaves])
    return log


@pytest.mark.parametrize("seed", range(60))
def test_changed_values_are_noticed_exactly(seed: int) -> None:
    mine = random_life(native, seed, 400)
    theirs = random_life(reference, seed, 400)
    # Which of several changed values is named first may differ; whether the pass is refused may not.
    assert [x if isinstance(x, list) else "refused" for x in mine] == [
        x if isinstance(x, list) else "refused" for x in theirs
    ]


# --- threads --------------------------------------------------------------------------------------------------


def in_thread(function: Callable[[], Any]) -> Any:
    """What ``function`` returns or raises in a thread of its own."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(function())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return outcome[0]


def test_leaves_are_shared_and_results_are_not() -> None:
    x = Value(3.0)
    y = x * x
    other = in_thread(lambda: x * 2.0)
    assert other.data == 6.0
    assert isinstance(in_thread(lambda: y + 1.0), errors.ForeignThreadError)
    assert isinstance(in_thread(lambda: y.backward()), errors.ForeignThreadError)
    assert isinstance(in_thread(lambda: Value(1.0, (y,), (1.0,))), errors.ForeignThreadError)
    with pytest.raises(errors.ForeignThreadError):
        other + 1.0
    assert in_thread(lambda: (y.data, y._prev == {x})) == (9.0, True)
    y.backward()
    assert x.grad == 6.0


def test_a_leaf_changed_in_another_thread_is_noticed() -> None:
    x = Value(3.0, label="x")
    y = x * x
    in_thread(lambda: setattr(x, "data", 4.0))
    with pytest.raises(errors.ChangedValueError, match="'x'"):
        y.backward()
    z = x * x  # recorded after the change
    z.backward()
    assert x.grad == 8.0
    in_thread(lambda: setattr(x, "data", 3.0))
    y.backward()


def test_many_threads_train_at_once() -> None:
    def train() -> float:
        w = Value(0.0)
        for _ in range(300):
            loss = Value(0.0)
            for i in range(20):
                loss = loss + (w * i - 3.0 * i) ** 2
            w.grad = 0.0
            loss.backward()
            w.data -= 1e-4 * w.grad
        return float(f"{w.data:.17g}")

    alone = train()
    results: list[float] = []
    threads = [threading.Thread(target=lambda: results.append(train())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone] * 8


def test_a_graph_outlives_its_thread() -> None:
    x = Value(2.0)
    y = in_thread(lambda: (x * x + 1.0).tanh())
    assert y.data == Value(5.0).tanh().data
    del y
    assert (x * 2.0).data == 4.0


# --- other processes and interpreters ----------------------------------------------------------------------------


def test_a_forked_child_goes_on() -> None:
    code = (
        "import os, retrograd._native as n\n"
        "x = n.Value(3.0); y = x * x\n"
        "pid = os.fork()\n"
        "y.backward(); assert x.grad == 6.0\n"
        "if pid: assert os.waitpid(pid, 0)[1] == 0\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_a_sub_interpreter_is_refused_with_a_sentence() -> None:
    interpreters = pytest.importorskip("_xxsubinterpreters", reason="this Python offers no sub-interpreters")
    code = (
        "import retrograd._native, _xxsubinterpreters as s\n"
        "i = s.create(isolated=False)\n"
        "try:\n    s.run_string(i, 'import retrograd._native')\n"
        "except s.RunFailedError as e:\n    assert 'main interpreter' in str(e), e\n"
        "else:\n    raise SystemExit('it was not refused')\n"
    )
    assert interpreters
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
