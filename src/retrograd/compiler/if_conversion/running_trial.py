"""The trial that a thread runs, for the tracers of plain code, too: they need not import what a trial needs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tracing.bool_tracer import BoolTracer
    from .trial import Trial

__all__ = ["current", "known_tests", "running"]

#: So many parts of each test are looked at for what they say of an index.
_MOST_PARTS = 12


class _Running(threading.local):
    trial: Trial | None = None


running = _Running()


def current() -> Trial | None:
    """The trial that this thread runs, if any."""
    return running.trial


def known_tests() -> Iterator[tuple[BoolTracer, bool]]:
    """The comparisons that the arms which run are under, and how they come out where those are taken.

    Those of the innermost arms come first; not all parts of long combinations.
    """
    for frame in reversed(running.trial.frames) if running.trial is not None else ():
        if frame.test is not None:
            yield from itertools.islice(frame.test.parts_known(frame.is_yes), _MOST_PARTS)
