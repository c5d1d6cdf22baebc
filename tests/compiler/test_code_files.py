"""Machine code that is kept in files for later processes, where the environment names a directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import retrograd as rg
from retrograd.engine import ENGINE
from retrograd.errors import CompileWarning

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler import compile_threads
    from retrograd.compiler.backends import code_files
    from retrograd.compiler.backends.code_files import VARIABLE, CodeFiles
    from retrograd.compiler.backends.loops import install

#: Two programs: one has loops, whose code is that of its graph, with functions of vectors; the other one products of
#: matrices, whose code is that of kernel calls, with a prebuilt one among them. Printed: results, how often LLVM made
#: code, and which code answers.
PROGRAM = """
import json
import retrograd as rg
import retrograd.math as rm
from retrograd.compiler import tier_up
from retrograd.compiler.backends.llvm import pipeline as of_calls
from retrograd.compiler.backends.loops import pipeline as of_graphs

made = []
for module in (of_calls, of_graphs):
    def make(text, *args, plainly=module.object_of, **kwargs):
        made.append(module.__name__)
        return plainly(text, *args, **kwargs)
    module.object_of = make


def simulate(p, inputs):
    total = 0.0
    for number in inputs:
        total += rm.sin(p[0] * number) + rm.tanh(p[1] + number)
    return total


def network(p):
    rows = [rg.sum([p[i] * p[j] for j in range(8)]) for i in range(8)]
    return rg.sum(rg.softmax([rm.exp(0.01 * row) for row in rows])[:3]) + max(rows)


inputs, p = [0.01 * k for k in range(200)], [0.5, 0.8, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7]
found = [rg.compile(simulate, tier="llvm").value_and_grad(p, inputs)]
tier_up._most_scalar_nodes = lambda fact: 0
second = rg.compile(network, tier="llvm")
found.append(second.value_and_grad(p))
print(json.dumps([found, len(made), second.stats().programs[0].tier]))
"""


def run(directory: Path) -> tuple[Any, int, str]:
    """What the two programs give in a new process, and for how many modules LLVM made code."""
    environment = {**os.environ, VARIABLE: str(directory)}
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True
    ).stdout
    found, count, tier = json.loads(printed)
    return found, count, tier


def test_a_later_process_makes_no_code(tmp_path: Path) -> None:
    first, second = run(tmp_path / "cache"), run(tmp_path / "cache")
    assert first[1] == 3
    assert second == (first[0], 0, "llvm")
    files = sorted((tmp_path / "cache").iterdir())
    assert len(files) == 3
    for file in files:
        file.write_bytes(file.read_bytes()[:-1])
    assert run(tmp_path / "cache") == first  # what is cut short is not used
    assert run(tmp_path / "other") == first


def square(x: Any) -> Any:
    return x * x * 3.0


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    tmp_path.chmod(0o700)
    return tmp_path


def compiled_anew() -> None:
    install.kept.clear()
    assert rg.compile(square, tier="llvm").value_and_grad(1.5) == (6.75, 9.0)


def test_a_program_that_runs_often_gets_the_code_of_files_without_a_process(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled_anew()
    install.kept.clear()
    asked: list[Any] = []
    monkeypatch.setattr(compile_threads.for_small.process, "run", lambda function, *_, **__: asked.append(function))
    compiled = rg.compile(square)
    deadline = time.monotonic() + 60.0
    while compiled.value_and_grad(1.5) == (6.75, 9.0) and compiled.stats().programs[0].tier != "llvm":
        assert time.monotonic() < deadline
    assert compiled.value_and_grad(2.0) == (12.0, 12.0)
    assert asked == []


def test_files_are_of_this_compiler_and_this_processor(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_anew()
    count = len(list(directory.iterdir()))
    compiled_anew()
    assert len(list(directory.iterdir())) == count > 0
    monkeypatch.setattr(code_files, "_makers", lambda: b"another processor")
    code_files._opened.cache_clear()
    compiled_anew()
    assert len(list(directory.iterdir())) == 2 * count
    code_files._opened.cache_clear()


def test_nothing_is_kept_where_nothing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    compiled_anew()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_directory_of_others_is_not_used(directory: Path) -> None:
    directory.chmod(0o777)
    with pytest.warns(CompileWarning, match=f"{VARIABLE} is .*, but other users may write to that directory"):
        compiled_anew()
    compiled_anew()  # one warning
    assert list(directory.iterdir()) == []


def test_what_is_no_directory_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    with pytest.warns(CompileWarning, match="File exists.*name a directory of your own"):
        compiled_anew()


def test_what_was_used_last_is_kept_while_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_files, "_MOST_BYTES", 400)
    files = CodeFiles(tmp_path, b"makers")
    for number in range(3):
        files.write(b"%d" % number, bytes(100))
        path = files._path(b"%d" % number)
        os.utime(path, (number, number))
    assert files.read(b"0") == bytes(100)  # which makes it the last
    files.write(b"3", b"three")
    assert [files.read(b"%d" % number) is not None for number in range(4)] == [True, False, True, True]
