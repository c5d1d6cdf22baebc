"""Machine code that was made lately, in this process or kept in files, which a graph that is the same gets at once.

A function is often compiled again as it was: a notebook's cell runs once more, each object of a class compiles its own,
and what ``value_and_grad`` runs is what ``backward`` does.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..code_files import code_files
from ..process import Run, digest_of
from .graph_code import GraphCode

__all__ = ["KeptCode", "NotKeptError", "refused"]

P = ParamSpec("P")
R = TypeVar("R")

#: Of so many bytes at most.
_MOST_BYTES = 1 << 25


class NotKeptError(Exception):
    """Code would have to be made."""


def refused(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Makes no code, in the place of a ``Run``: only what is kept is wanted."""
    raise NotKeptError


class KeptCode:
    """The code that some functions have made, by what they made it of. Several threads may use it."""

    def __init__(self) -> None:
        self._codes: OrderedDict[bytes, GraphCode] = OrderedDict()  # those used last come last
        self._bytes = 0
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._unlock)

    def made(self, run: Run, function: Callable[P, GraphCode], /, *args: P.args, **kwargs: P.kwargs) -> GraphCode:
        """What a function makes of some arguments: what it made before, or what ``run`` gives."""
        key = digest_of((function.__qualname__, args, kwargs))
        with self._lock:
            if key in self._codes:
                self._codes.move_to_end(key)
                return self._codes[key]
        files = code_files()
        data = files and files.read(key)
        code = GraphCode.unpacked(data) if data else run(function, *args, **kwargs)
        if files and not data:
            files.write(key, code.packed())
        with self._lock:
            if key not in self._codes:
                self._bytes += code.total_bytes
            self._codes[key] = code
            while self._bytes > _MOST_BYTES:
                self._bytes -= self._codes.popitem(last=False)[1].total_bytes
        return code

    def clear(self) -> None:
        """Forget all code."""
        with self._lock:
            self._codes.clear()
            self._bytes = 0

    def _unlock(self) -> None:
        """In a process that was forked while another thread may have held the lock."""
        self._lock = threading.Lock()
