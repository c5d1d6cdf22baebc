"""Which functions of transforms are running on this thread, and by which Values these differentiate."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

__all__ = ["running"]


class _Running(threading.local):
    """A call that takes no longer than a few others reads the ``count`` itself.

    Attributes:
        count: how many transforms are running their function.
        variables: the Values in place of numbers by which each of them differentiates, and those that do not count.
    """

    count = 0

    def __init__(self) -> None:
        self.variables: list[Sequence[Any]] = []


running: _Running = _Running()
