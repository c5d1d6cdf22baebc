"""What a plain run of a function does besides computing: a pass inside it, an assignment, a number that becomes text.

A function that does such things cannot be compiled. It must not be traced either, because it would do them twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import engine
from ..engine import Value
from ..engine.source_lines import current_location

__all__ = ["Effects", "noting_effects"]


class Effects:
    """Hears of a plain run what a tracer would hear, changes nothing, and keeps the first effect as a sentence."""

    def __init__(self) -> None:
        self.first = ""

    def notice(self, what: str) -> None:
        """The tape does or tells something that a compiled program cannot."""
        if not self.first:
            self.first = f"{current_location() or 'the function'} {what}, which a compiled program cannot do"

    def data(self, value: Value) -> float:
        """``value.data``."""
        return value.data

    def detach(self, value: Value) -> Value:
        """``value.detach()``."""
        return value.detach()

    def _as_usual(self, *_: Any) -> Any:
        return NotImplemented

    leaf = number_of = call = reduce = compare = truth = hashed = _as_usual


@contextlib.contextmanager
def noting_effects() -> Iterator[Effects]:
    """Inside, the effects of what this thread runs are noted."""
    effects = Effects()
    before = engine.set_tracer(effects)
    try:
        yield effects
    finally:
        engine.set_tracer(before)
