"""Runs an examination in a process of its own, which an endless loop or hunger for memory cannot outlive.

The process says on a pipe what it is about to examine, one line of JSON each, and at last what it found. A process that
is silent for too long is ended, and the last thing that it said tells where. This bounds accidents; it is no sandbox.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ...errors import GradingError
from .advice import texts
from .findings import Report
from .grading import examine
from .loading import load, module_class
from .subject import Trouble

__all__ = ["Examined", "can_fork", "examine_class", "examine_file"]

#: Bytes that the learner's code may take.
_MEMORY = 4 << 30

#: Seconds that a process has to start, before any of the learner's code runs in it.
_START = 60.0

Message = dict[str, Any]


# --- in the process -------------------------------------------------------------------------------


class _Quiet:
    """Takes what the learner's code prints, and counts its lines."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.lines = 0

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        return len(text)

    def flush(self) -> None:
        """There is nothing to write."""

    def isatty(self) -> bool:
        """No terminal."""
        return False


def _send(pipe: TextIO, message: Message) -> None:
    pipe.write(json.dumps(message) + "\n")
    pipe.flush()


def _limit_memory() -> None:
    """Bound what the process may allocate, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = _MEMORY if most == resource.RLIM_INFINITY else min(_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))


def _refuse_processes(event: str, _: tuple[object, ...]) -> None:
    """An audit hook: a class that starts a process at each step would outlive its examination, many times over."""
    if event in ("os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen"):
        raise RuntimeError("a Value class starts no process; leave that out.")


def _examined(cls: type, seed: int, names: dict[str, Any], pipe: TextIO) -> None:
    def progress(rule: str, program: Sequence[str]) -> None:
        _send(pipe, {"now": rule, "program": list(program)})

    def found(report: Report) -> None:
        _send(pipe, {"report": report.to_json(), "printed": getattr(sys.stdout, "lines", 0)})

    _send(pipe, {"class": cls.__name__})
    sys.addaudithook(_refuse_processes)
    examine(cls, seed, module_class(names), progress, found)
    _send(pipe, {"done": True})


@contextlib.contextmanager
def _as_the_process(pipe: TextIO) -> Iterator[None]:
    """Quiet streams, bounded memory, and a sentence instead of a traceback."""
    sys.stdout = sys.stderr = _Quiet()
    _limit_memory()
    try:
        yield
    except GradingError as error:
        _send(pipe, {"refused": str(error)})
    except MemoryError:
        _send(pipe, {"ended": "it needed more than 4 GB of memory"})
    except Exception as error:
        _send(pipe, {"ended": f"the examination itself failed, with {type(error).__name__}: {error}"})


def main() -> None:
    """The process of :func:`examine_file`: arguments are the file, the class, the seed and the pipe's number."""
    path, name, seed, number = sys.argv[1:]
    sys.argv = [path]
    with open(int(number), "w", encoding="utf-8") as pipe, _as_the_process(pipe):
        texts()  # read before a file of the learner's can stand in the way of a module
        _send(pipe, {"now": "loading", "program": []})
        loaded = load(Path(path), name)
        if loaded.trouble is not None:
            _send(pipe, {"file_trouble": loaded.trouble.to_json()})
        _examined(loaded.cls, int(seed), loaded.names, pipe)
        pipe.flush()
        os._exit(0)  # threads and exit functions of the learner's do not matter any more


# --- beside it ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Examined:
    """What a process found: the report as far as it came, and why it came no further."""

    name: str = ""  #: the class
    report: Report | None = None
    printed: int = 0  #: lines that the learner's code printed
    file_trouble: Trouble | None = None  #: what ended the file before its end
    ended: str = ""  #: why the process ended early
    rule: str = "loading"  #: what it examined last
    program: tuple[str, ...] = ()


def examine_file(path: Path, name: str, seed: int, limit: float) -> Examined:
    """Examine a class of a file in a new Python process. Raises GradingError when there is nothing to examine."""
    reading, writing = os.pipe()
    code = "from retrograd.lesson.grader.process import main; main()"
    source = str(Path(__file__).resolve().parents[3])
    paths = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code, str(path), name, str(seed), str(writing)],
        pass_fds=[writing], env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    try:
        return _listen(reading, limit)
    finally:
        process.kill()
        process.wait()


def can_fork() -> bool:
    """Whether a class that exists in this process alone can be examined in a copy of it: on Linux."""
    return hasattr(os, "fork") and sys.platform == "linux"


def examine_class(cls: type, names: dict[str, Any], seed: int, limit: float) -> Examined:
    """Examine a class of this process: in a copy of the process on Linux, elsewhere right here.

    Right here an endless loop in Python is still stopped (by the number of its lines); one inside a C function is not.
    """
    if not can_fork():
        return Examined(cls.__name__, examine(cls, seed, module_class(names)))
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about threads, which the copy does not have and does not need
        child = os.fork()
    if child == 0:
        _in_the_copy(cls, names, seed, reading, writing)
    os.close(writing)
    try:
        return _listen(reading, limit)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _in_the_copy(cls: type, names: dict[str, Any], seed: int, reading: int, writing: int) -> None:
    try:
        os.close(reading)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        with open(writing, "w", encoding="utf-8") as pipe, _as_the_process(pipe):
            _examined(cls, seed, names, pipe)
    finally:
        os._exit(0)  # never back into the caller's program


def _listen(reading: int, limit: float) -> Examined:
    """What the process found; where it ended or was silent for ``limit`` seconds, what it was at."""
    found = Examined()
    for message in _messages(reading, limit):
        match message:
            case {"now": rule, "program": program}:
                found.rule, found.program = rule, tuple(program)
            case {"refused": says}:
                raise GradingError(says)
            case {"class": name}:
                found.name = name
            case {"report": report, "printed": printed}:
                found.report, found.printed = Report.from_json(report), printed
            case {"file_trouble": trouble}:
                found.file_trouble = Trouble(**trouble)
            case {"ended": says}:
                found.ended = says
            case {"done": _}:
                return found
    found.ended = found.ended or "it ended without a word, as os._exit or a crash does"
    return found


def _messages(reading: int, limit: float) -> Iterator[Message]:
    """The lines of the pipe as they come; the last one is an ``ended`` when nothing comes for ``limit`` seconds."""
    waiting = b""
    with selectors.DefaultSelector() as selector, open(reading, "rb", buffering=0) as pipe:
        selector.register(pipe, selectors.EVENT_READ)
        until = time.monotonic() + max(limit, _START)
        while True:
            if not selector.select(max(0.0, until - time.monotonic())):
                yield {"ended": f"it gave no answer within {limit:g} s"}
                return
            received = pipe.read(1 << 16)
            if not received:
                return
            until = time.monotonic() + limit
            *lines, waiting = (waiting + received).split(b"\n")
            yield from (json.loads(line) for line in lines)
