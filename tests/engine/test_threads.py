"""Threads, forked processes and sub-interpreters: leaves are shared, results are not."""

from __future__ import annotations

import copy
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.timeouts import PATIENCE

from retrograd import errors

native = pytest.importorskip("retrograd._native", reason="the native engine is not built: pip install .")
pytestmark = pytest.mark.native
Value = native.Value


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """A dropped graph is freed by reference counts alone: the collector is off."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


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


def test_the_nodes_of_another_thread_may_be_looked_at() -> None:
    y = in_thread(lambda: (Value(2.0) * 3.0).tanh())
    assert [native.row_name(node) for node in native.interior(y)] == ["mul", "tanh"]
    (copy.deepcopy(y) * 2.0).backward()


def test_many_threads_one_after_another() -> None:
    kept = [in_thread(lambda: Value(2.0) * 3.0) for _ in range(300)]
    for _ in range(3000):
        in_thread(lambda: (Value(2.0) * 3.0).backward())
    assert all(value.data == 6.0 for value in kept)


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
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE).returncode == 0


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
    done = subprocess.run([sys.executable, "-c", code], timeout=PATIENCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
