"""Ctrl-C in a long pass, fork, sub-interpreters: what the process does around the engine, and what it finds after."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.timeouts import PATIENCE

import retrograd as rg
from retrograd.engine import ENGINE, Value, installation

LENGTH = 3_000_000 if ENGINE == "native" else 60_000
posix = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")


@pytest.fixture(autouse=True)
def _ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where the shell that started the tests had it ignored.

    The collector is off: Hypothesis has a callback there, and what is raised in a callback is lost.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    yield
    gc.enable()
    signal.signal(signal.SIGINT, before)


def ctrl_c_after(seconds: float) -> subprocess.Popen[bytes]:
    """Another process that sends SIGINT to this one, and again each minute.

    A sanitizer's runtime is loaded into this process, not into that one: a `sleep` that crashed would let a storm
    loose.
    """
    kill = f"kill -INT {os.getpid()}"
    script = f"sleep {seconds} && {kill}; while sleep 60 && {kill}; do :; done"
    return subprocess.Popen(["sh", "-c", script], env={"PATH": os.environ["PATH"]})


def interrupted_while(work: Callable[[], object]) -> None:
    """Run ``work`` again and again until SIGINT, sent from outside while it runs, has been handled.

    It is sent again where Python loses it, as what is raised while an object is finalised: late, since a slow machine
    may still be at work on the first, and a second would end the test's process.
    """
    blocked = {signal.SIGINT}  # while the other process is started and ended
    signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    after = ctrl_c_after(0.3)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
        while True:
            work()
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        after.terminate()
        after.wait()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)


@pytest.fixture
def chain() -> tuple[Any, Any, Any]:
    """A leaf, the oldest result, and the youngest of a long chain."""
    x = Value(2.0)
    first = y = x * 1.0
    for _ in range(LENGTH):
        y = y + 0.0
    return x, first, y


@posix
def test_ctrl_c_ends_a_long_pass_at_once_and_undoes_it(chain: tuple[Any, Any, Any]) -> None:
    x, first, y = chain
    done = 0

    def passes() -> None:
        nonlocal done
        first.grad = 7.0  # a pass that reaches the oldest result overwrites it
        y.backward()
        done += 1

    for _ in range(5):  # a signal may also come in the moment between a pass and its count
        with pytest.raises(KeyboardInterrupt):
            interrupted_while(passes)
        whole = first.grad == 1.0
        done += whole
        assert x.grad == done
        if not whole:
            break
    assert not whole, "the pass went on to its end"
    y.backward()
    assert (x.grad, first.grad) == (done + 1, 1.0)


@posix
def test_ctrl_c_in_gradients_leaves_no_trace(chain: tuple[Any, Any, Any]) -> None:
    x, first, y = chain
    x.grad, first.grad = 5.0, 6.0
    with pytest.raises(KeyboardInterrupt):
        interrupted_while(lambda: rg.gradient(y, x))
    assert (x.grad, first.grad) == (5.0, 6.0)
    assert rg.gradient(y, x) == 1.0


@posix
def test_ctrl_c_among_users_nodes_undoes_the_pass(chain: tuple[Any, Any, Any]) -> None:
    x, _, y = chain
    early = Value(1.0)
    node = Value(y.data, (y, early), "mine")

    def push() -> None:
        y.grad += node.grad
        early.grad += node.grad

    node._backward = push
    done = 0

    def passes() -> None:
        nonlocal done
        node.backward()
        done += 1

    with pytest.raises(KeyboardInterrupt):
        interrupted_while(passes)
    assert x.grad == early.grad, "half of a pass is left: the first gradient has it, the last has not"
    assert done <= x.grad <= done + 1  # the signal may come in the moment between a pass and its count


@pytest.fixture
def handler(_ctrl_c: None) -> Iterator[list[float]]:
    """A handler of SIGINT that does not raise, and itself runs a pass."""
    seen: list[float] = []

    def handle(*_: object) -> None:
        z = Value(3.0)
        (z * z).backward()
        seen.append(z.grad)

    before = signal.signal(signal.SIGINT, handle)
    yield seen
    signal.signal(signal.SIGINT, before)


@posix
def test_a_handler_that_lets_the_program_go_on(chain: tuple[Any, Any, Any], handler: list[float]) -> None:
    x, first, y = chain
    done = 0
    after = ctrl_c_after(0.2)
    while not handler:
        y.backward()
        done += 1
    after.terminate()
    after.wait()
    assert handler == [6.0]
    assert (x.grad, first.grad) == (done, 1.0)


@pytest.mark.parametrize("fails", [ArithmeticError, KeyboardInterrupt])
def test_a_function_that_raises_undoes_the_pass(fails: type[BaseException]) -> None:
    a, b = Value(2.0), Value(3.0)
    inner = a * b
    node = Value(inner.data, (inner, b), "mine")

    def push() -> None:
        inner.grad += node.grad
        b.grad += node.grad
        raise fails

    node._backward = push
    a.grad, b.grad = 1.5, 2.5
    with pytest.raises(fails):
        (node * a).backward()
    assert (a.grad, b.grad) == (1.5, 2.5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_goes_on_with_its_own_copy() -> None:
    x = Value(2.0)
    y = x * x
    other = threading.Thread(target=lambda: Value(1.0) * 2.0)
    other.start()
    other.join()
    child = os.fork()
    if not child:
        status = 1
        try:
            y.backward()
            z = (y * x).tanh() + Value(1.0)
            z.backward()
            status = 0 if x.grad != 0.0 and y.data == 4.0 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert x.grad == 0.0
    y.backward()
    assert x.grad == 4.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_is_not_forked_in_the_middle_of_another_threads_pass() -> None:
    x = Value(2.0)
    inside = threading.Event()

    def work() -> None:
        own = Value(1.0)
        out = Value(x.data, (x, own), "slow")

        def backward() -> None:
            x.grad += 1.0
            inside.set()
            time.sleep(0.1)

        out._backward = backward
        rg.gradient(out, x)

    other = threading.Thread(target=work)
    other.start()
    inside.wait()
    child = os.fork()
    if not child:
        status = 1
        try:
            (x * x).backward()
            status = 0 if x.grad == 4.0 else 2
        finally:
            os._exit(status)
    other.join()
    assert os.waitpid(child, 0)[1] == 0
    assert x.grad == 0.0


SUB_INTERPRETER = """
import sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
import {first}
one = interpreters.create()
error = interpreters.run_string(one, "import sys; sys.path[:] = " + repr(sys.path) + "; import retrograd")
print(error, file=sys.stderr) if error else None
"""


@pytest.mark.native
@pytest.mark.parametrize("first", ["sys", "retrograd"])
def test_sub_interpreters_are_refused_with_a_sentence(first: str) -> None:
    # Run as a program: what a sub-interpreter leaves behind is not for this process.
    command = [sys.executable, "-c", SUB_INTERPRETER.format(first=first)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert "interpreter" in done.stderr, done.stderr
    if done.returncode < 0:  # CPython 3.12.1 crashes after a refused NumPy: without our module, too
        plain = {**os.environ, "RETROGRAD_ENGINE": "reference"}
        control = subprocess.run(command, env=plain, capture_output=True, text=True, timeout=PATIENCE)
        assert control.returncode == done.returncode, "it crashed"


@pytest.mark.native
def test_free_threaded_builds_are_refused_with_a_sentence() -> None:
    code = (
        "import sysconfig; real = sysconfig.get_config_var; "
        "sysconfig.get_config_var = lambda name: 1 if name == 'Py_GIL_DISABLED' else real(name); import retrograd"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert str(installation.free_threaded()) in done.stderr
