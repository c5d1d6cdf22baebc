"""The process that compiles: it answers, fails and ends as it should, and user's calls go on where there is none."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest
from support.parts import require

from retrograd.compiler.backends import process as module
from retrograd.compiler.backends.loops.graphs.graph import UnsupportedGraphError
from retrograd.compiler.backends.loops.pipeline import code_of_graph
from retrograd.compiler.backends.process import CompileProcess, Run
from retrograd.compiler.compile_threads import CompileThread

pytestmark = pytest.mark.native

PATIENCE = 60.0


@pytest.fixture
def process() -> Iterator[CompileProcess]:
    require("llvmlite")
    process = CompileProcess()
    yield process
    process.close()


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended does not, even if its parent has not waited for it (a zombie)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def test_it_is_one_process_and_another(process: CompileProcess) -> None:
    first = process.run(os.getpid)
    assert first != os.getpid()
    assert process.run(os.getpid) == first
    assert process.run(math.hypot, 3.0, 4.0) == 5.0


def test_large_messages_arrive(process: CompileProcess) -> None:
    assert process.run(bytes.upper, b"x" * 5_000_000) == b"X" * 5_000_000


def test_exceptions_come_back(process: CompileProcess) -> None:
    with pytest.raises(ValueError, match="math domain error"):
        process.run(math.sqrt, -1.0)
    empty = dict.fromkeys(("rows", "first", "operands", "wanted", "roots", "literals", "source"), b"\0\0\0\0")
    too_many = empty | {"rows": b"\1\0", "first": bytes(4) + b"\4\0\0\0", "operands": bytes(16), "literals": bytes(8)}
    with pytest.raises(UnsupportedGraphError):
        process.run(code_of_graph, [too_many], 1, 0, {})


def test_an_exception_that_cannot_be_pickled_is_told() -> None:
    class OddError(Exception):
        pass

    assert repr(module._sendable(OddError("it broke"))) == "RuntimeError('OddError: it broke')"
    assert repr(module._sendable(ValueError("it broke"))) == "ValueError('it broke')"


def test_one_that_ends_early_is_replaced(process: CompileProcess) -> None:
    first = process.run(os.getpid)
    with pytest.raises(RuntimeError, match="the process that compiles has ended"):
        process.run(os._exit, 3)
    assert process.run(os.getpid) not in (first, os.getpid())


def test_ctrl_c_is_not_for_it(process: CompileProcess) -> None:
    first = process.run(os.getpid)
    os.kill(first, signal.SIGINT)
    assert process.run(os.getpid) == first
    assert os.getpgid(first) != os.getpgid(0)


@pytest.mark.parametrize("executable", ["", "/opt/blender/blender", "/nowhere/python3"])
def test_where_there_is_no_python_it_runs_here(
    process: CompileProcess, executable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    assert process.run(os.getpid) == os.getpid()


def test_what_does_not_start_is_not_tried_again(process: CompileProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PROGRAM", "raise SystemExit({path!r} and {packages!r} and {module!r})")
    assert process.run(os.getpid) == os.getpid()
    monkeypatch.undo()
    assert process.run(os.getpid) == os.getpid()


def test_a_closed_one_answers_no_more(process: CompileProcess) -> None:
    first = process.run(os.getpid)
    process.close()
    assert gone(first)
    with pytest.raises(RuntimeError, match="this program ends"):
        process.run(os.getpid)


def test_a_fork_leaves_it_alone(process: CompileProcess) -> None:
    first = process.run(os.getpid)
    child = os.fork()
    if not child:
        process.forget()
        os._exit(process._process is not None)
    assert os.waitpid(child, 0)[1] == 0
    assert process.run(os.getpid) == first


HOT = """
    import os, sys, time
    import retrograd as rg
    from retrograd.compiler.compile_threads import for_small

    f = rg.compile(lambda xs: sum(rg.math.sin(x) * x for x in xs))
    end = time.monotonic() + 60
    while f.tier != "llvm" and time.monotonic() < end:
        f.value_and_grad([0.1, 0.2, 0.3, 0.4])
    print(f.tier, for_small.process.run(os.getpid), flush=True)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * 2)


@pytest.mark.parametrize("how", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_the_program(how: str) -> None:
    require("llvmlite")
    tier, pid = run(HOT + f"    {how}\n").stdout.split()
    assert tier == "llvm"
    assert gone(int(pid))


def test_what_writes_code_is_not_imported_by_the_program() -> None:
    require("llvmlite")
    loaded = run(HOT + "    print([name for name in sys.modules if 'backends' in name])\n").stdout
    assert "loops.install" in loaded
    assert "pipeline" not in loaded


class Recorded:
    """Has its programs compiled: those with a number below zero are large."""

    def __init__(self) -> None:
        self.may_end, self.compiled = threading.Event(), SimpleQueue[tuple[int, str]]()

    def is_large(self, number: int) -> bool:
        return number < 0

    def compile(self, number: int, batch: int, run: Run) -> None:
        if number < 0:
            assert self.may_end.wait(PATIENCE)
        self.compiled.put((number, threading.current_thread().name))


def test_small_programs_do_not_wait_for_large_ones() -> None:
    require("llvmlite")
    large = CompileThread("large")
    small = CompileThread("small", large)
    compiler = Recorded()
    try:
        for number in (-1, -2, 3):
            small.put((weakref.ref(compiler), number, 0))
        assert compiler.compiled.get(timeout=PATIENCE) == (3, "small")
        compiler.may_end.set()
        assert compiler.compiled.get(timeout=PATIENCE) == (-1, "large")
        assert compiler.compiled.get(timeout=PATIENCE) == (-2, "large")
    finally:
        compiler.may_end.set()
        small.stop()
        large.stop()
