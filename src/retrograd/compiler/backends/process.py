"""A process of its own that writes and compiles code, so that the Python code of that never holds up the user's calls.

What is to be compiled goes there as bytes and numbers, and comes back as an object file, which this process loads. It
begins with the first program that runs often, ends when nothing has been compiled for a while, and ends with this
process in any case, since its input does.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, ParamSpec, Protocol, TypeVar

__all__ = ["CompileProcess", "Run", "digest_of", "here", "serve"]

P = ParamSpec("P")
R = TypeVar("R")


class Run(Protocol):
    """Runs a function somewhere: arguments, results and exceptions can be pickled."""

    def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...


def here(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function in this process."""
    return function(*args, **kwargs)


def digest_of(request: object) -> bytes:
    """Bytes that are the same for requests that are: for what can be pickled."""
    return hashlib.blake2b(pickle.dumps(request, pickle.HIGHEST_PROTOCOL), digest_size=32).digest()


#: What the process runs. It finds the modules where this one does, without what the packages around them import.
_PROGRAM = """
import sys, types
sys.path[:] = {path!r}
for name, path in {packages!r}:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = path
from {module} import serve
serve()
"""
_PACKAGES = ("retrograd", "retrograd.compiler")


class CompileProcess:
    """The process, which is started when it is first wanted. One thread at a time may use it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._possible = True
        self._closed = False

    def run(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function of a module of this package there; here, if there can be no such process.

        Raises:
            RuntimeError: The process has ended before its answer.
            Exception: What the function raises.
        """
        process = self._started()
        if process is None:
            return function(*args, **kwargs)
        try:
            _send(_descriptor(process.stdin), (function, args, kwargs))
            returned, answer = _receive(_descriptor(process.stdout))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # ValueError: another thread has closed it
            self.end()
            raise RuntimeError("the process that compiles has ended") from None
        if not returned:
            raise answer
        result: R = answer
        return result

    def _started(self) -> subprocess.Popen[bytes] | None:
        """The process. Where it cannot be started once, that is not tried again."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.end()
        python = _python()
        if not self._possible or python is None:
            return None
        packages = [(name, list(sys.modules[name].__path__)) for name in _PACKAGES]
        path = [entry for entry in sys.path if isinstance(entry, str)]
        program = _PROGRAM.format(path=path, packages=packages, module=__name__)
        try:
            process = self._process = subprocess.Popen(
                [str(python), "-I", *(["-B"] if sys.dont_write_bytecode else []), "-c", program],
                bufsize=0,  # no locks, which a fork might leave locked
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the user's program
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            if self._closed:
                self.end()
            _receive(_descriptor(process.stdout))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.end()
            self._possible = False
            if self._closed:
                raise RuntimeError("this program ends") from None
        return self._process

    def close(self) -> None:
        """End the process, from whatever thread, and for good."""
        self._closed = True
        self.end()

    def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            _close_pipes(process)

    def forget(self) -> None:
        """In a process that was forked: leave the other one to whom it belongs."""
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # it is not this process's to wait for
            _close_pipes(process)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _python() -> Path | None:
    """The interpreter that runs this program; None where another program has Python in it."""
    path = Path(sys.executable or "")
    plain = path.name.lower().startswith(("python", "pypy")) and not hasattr(sys, "frozen")
    return path if plain and path.is_file() else None


#: The collector looks at objects when so many are new. Nearly all are in use until a request is answered.
_YOUNG = 100_000


def serve() -> None:
    """Answer requests from standard input until it ends."""
    requests, answers = sys.stdin.fileno(), os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # where what is printed does no harm
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from .llvm import pipeline as _kernels  # noqa: F401 - imported before the first request
    from .llvm.jit import require
    from .loops import pipeline as _loops  # noqa: F401

    require()
    gc.set_threshold(_YOUNG)
    try:
        _send(answers, "ready")
        while True:
            function, args, kwargs = _receive(requests)
            try:
                answer = True, function(*args, **kwargs)
            except Exception as error:
                answer = False, _sendable(error)
            _send(answers, answer)
    except (EOFError, BrokenPipeError):
        return


def _sendable(error: Exception) -> Exception:
    """The exception, or where it cannot be pickled, one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error.with_traceback(None)


#: How many bytes the length of a message takes, and how many are read at a time.
_LENGTH, _MOST = 8, 1 << 20


def _send(descriptor: int, message: object) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    for part in (len(data).to_bytes(_LENGTH, "little"), data):
        left = memoryview(part)
        while left:
            left = left[os.write(descriptor, left) :]


def _receive(descriptor: int) -> Any:
    """The next message. Raises EOFError if there is none."""
    return pickle.loads(_read(descriptor, int.from_bytes(_read(descriptor, _LENGTH), "little")))


def _read(descriptor: int, count: int) -> bytes:
    parts = []
    while count:
        parts.append(os.read(descriptor, min(count, _MOST)))
        if not parts[-1]:
            raise EOFError
        count -= len(parts[-1])
    return b"".join(parts)


def _descriptor(stream: IO[bytes] | None) -> int:
    assert stream is not None
    return stream.fileno()
