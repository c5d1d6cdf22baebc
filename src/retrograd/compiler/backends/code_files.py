"""Machine code in files, which later processes that compile the same get at once.

They are kept where the environment variable ``RETROGRAD_CACHE_DIR`` says, and nowhere else. The name of a file is a
digest of what its code was made of: the graph, the modules that write code, LLVM, and the processor.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import CompileWarning

__all__ = ["VARIABLE", "CodeFiles", "code_files"]

#: The environment variable that names the directory.
VARIABLE = "RETROGRAD_CACHE_DIR"

#: The files have so many bytes at most, all together; those used last stay.
_MOST_BYTES = 1 << 28
_SUFFIX = ".code"
_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class CodeFiles:
    """The files of a directory. Several threads and processes may use it.

    Attributes:
        directory: where they are.
        makers: a digest of all that code depends on besides what it is made of.
    """

    directory: Path
    makers: bytes

    def made(self, key: bytes, make: Callable[[], bytes]) -> bytes:
        """The bytes that belong to a key: those of its file, or what ``make`` gives, which becomes its file."""
        found = self.read(key)
        if found is None:
            self.write(key, found := make())
        return found

    def read(self, key: bytes) -> bytes | None:
        """What was written under this key; None if nothing was, or what is there is not that."""
        path = self._path(key)
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        data = content[_DIGEST_BYTES:]
        return data if _digest(data) == content[:_DIGEST_BYTES] else None

    def write(self, key: bytes, data: bytes) -> None:
        """Keep bytes under a key, if that is possible; where there is too much, what was not used for longest goes."""
        with contextlib.suppress(OSError):
            handle, draft = tempfile.mkstemp(dir=self.directory)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_digest(data) + data)
                os.replace(draft, self._path(key))  # at once: a process that reads it finds all of it, or nothing
            except OSError:
                Path(draft).unlink(missing_ok=True)
                raise
            self._drop_old()

    def _path(self, key: bytes) -> Path:
        return self.directory / (_digest(self.makers + key).hex() + _SUFFIX)

    def _drop_old(self) -> None:
        found = [(path.stat(), path) for path in self.directory.glob(f"*{_SUFFIX}")]
        total = 0
        for of, path in sorted(found, key=lambda each: -each[0].st_mtime):
            total += of.st_size
            if total > _MOST_BYTES:
                path.unlink(missing_ok=True)


def code_files() -> CodeFiles | None:
    """The files that this process may use; None where the environment names no directory, or not a safe one."""
    name = os.environ.get(VARIABLE)
    return _opened(name) if name else None


@functools.cache
def _opened(name: str) -> CodeFiles | None:
    """The files of a directory, which is made if need be. Where there can be none, a warning says why, once."""
    directory = Path(name).expanduser()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(directory, os.W_OK) and directory.is_dir()
        problem = _why_unsafe(directory) if writable else "this process may not write there"
    except OSError as error:
        problem = str(error)
    if problem:
        warnings.warn(
            f"{VARIABLE} is {name}, but {problem}. So this process keeps no machine code, and loads none: name a "
            "directory of your own to which no other user may write.",
            CompileWarning,
            stacklevel=2,
        )
        return None
    return CodeFiles(directory.resolve(), _makers())


def _why_unsafe(directory: Path) -> str:
    """Why what is in a directory may be another user's, whose code this process would run; empty if it is not."""
    of = directory.stat()
    if os.name != "posix":
        return ""
    if of.st_uid != os.geteuid():
        return "that directory belongs to another user"
    return "other users may write to that directory" if of.st_mode & 0o022 else ""


def _makers() -> bytes:
    """A digest of all that machine code depends on besides what it is made of."""
    from .llvm.jit import processor

    native = sys.modules["retrograd._native"].__file__
    assert native is not None
    sources = sorted(_modules(Path(__file__).parents[2]))
    digest = hashlib.blake2b(processor().encode(), digest_size=_DIGEST_BYTES)
    for path in (Path(native), *sources):
        digest.update(_digest(path.read_bytes()))
    return digest.digest()


def _modules(package: Path) -> Iterator[Path]:
    """The modules that write code, and what they say of the operators."""
    for folder in ("compiler/backends", "ops"):
        yield from (package / folder).rglob("*.py")


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
