"""The line of the user's program that recorded a node: file, line and function.

By default no source lines are kept, because each costs a walk up the stack. Inside ``with record_sources():`` every new
interior node keeps the number of its line; the table here maps that number to a :class:`Location`. Frames of this
package, of Python's library and of NumPy are skipped, so a layer of ``retrograd.nn`` is reported at the line of the
user's code that called it, and so are ``statistics.median`` and ``np.max``.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

from .. import engine
from . import Value

__all__ = [
    "Location",
    "current_location",
    "is_users",
    "location_numbered",
    "location_of",
    "location_of_error",
    "record_sources",
]

_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep
_PYTHON = str(Path(os.__file__).resolve().parent) + os.sep
_NUMPY = str(Path(np.__file__).resolve().parent) + os.sep

#: So many places in code are remembered.
_MOST_KNOWN = 4096


@dataclass(frozen=True, slots=True)
class Location:
    """One line of the user's program. Its ``str`` is ``file:line, in function``."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, in {self.function}"

    @property
    def text(self) -> str:
        """The line itself, stripped, or an empty string when the file cannot be read."""
        return linecache.getline(self.file, self.line).strip()


_lock = threading.Lock()
_table: list[Location | None] = [None]  # number 0 means "not recorded"
_numbers: dict[Location, int] = {}
_inside: dict[str, bool] = {}


def _is_inside(file: str) -> bool:
    """Whether a file is one of this package, of Python's library or of NumPy; noted, as it is asked of every frame."""
    path = "" if file.startswith("<") else str(Path(file).resolve())
    is_python = path.startswith(_PYTHON) and "site-packages" not in path
    _inside[file] = path.startswith((_PACKAGE, _NUMPY)) or is_python
    return _inside[file]


def _belongs_to_package(code: CodeType, frame: FrameType) -> bool:
    """Whether a frame runs code of this package: one of its files, or a formula compiled from the op table."""
    known = _inside.get(code.co_filename)
    return (_is_inside(code.co_filename) if known is None else known) or "__name__" not in frame.f_globals


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs code that is outside this package."""
    return not _belongs_to_package(frame.f_code, frame)


def current_location(inner: int = 0) -> Location | None:
    """The innermost line on this thread's stack that is outside this package, or None.

    Args:
        inner: So many callers are inside: the caller's caller is one, and so on.
    """
    frame: FrameType | None = sys._getframe(1 + inner)
    while frame is not None:
        code = frame.f_code
        if not _inside.get(code.co_filename):
            known = _known.get((id(code), frame.f_lasti))
            if known is not None:
                return known[1]
            if not _belongs_to_package(code, frame):
                return _location_in(frame, code)
        frame = frame.f_back
    return None


_location = functools.lru_cache(maxsize=4096)(Location)
_known: dict[tuple[int, int], tuple[CodeType, Location]] = {}  # by the id of code, which is kept, and the instruction


def _location_in(frame: FrameType, code: CodeType) -> Location:
    """The line that a frame is at, which is noted: Python counts lines from the begin of the code each time."""
    location = _location(code.co_filename, frame.f_lineno, code.co_name)
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[id(code), frame.f_lasti] = code, location
    return location


def location_of_error(error: BaseException) -> Location | None:
    """The innermost line outside this package that ``error`` passed, or None."""
    found, step = None, error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not _belongs_to_package(code, step.tb_frame):
            found = _location(code.co_filename, step.tb_lineno, code.co_name)
        step = step.tb_next
    return found


def _number_of(location: Location) -> int:
    number = _numbers.get(location)
    if number is None:
        with _lock:
            number = _numbers.setdefault(location, len(_table))
            if number == len(_table):
                _table.append(location)
    return number


@contextmanager
def record_sources() -> Iterator[None]:
    """Keep the user's line of every node that this thread records inside the ``with`` block.

    Blocks nest. An observer that was set before still sees every node.
    """
    previous: Callable[[Value], object] | None = None

    def observe(node: Value) -> None:
        location = current_location()
        if location is not None:
            engine.set_source(node, _number_of(location))
        if previous is not None:
            previous(node)

    previous = engine.set_observer(observe)
    try:
        yield
    finally:
        engine.set_observer(previous)


def location_of(value: Value) -> Location | None:
    """The user's line that recorded ``value``; None for a leaf, and for a node recorded without sources."""
    return location_numbered(engine.get_source(value))


def location_numbered(number: int) -> Location | None:
    """The line with this number in the table; None for 0 and for numbers that are not in it."""
    return _table[number] if 0 < number < len(_table) else None
