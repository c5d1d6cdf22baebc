"""The trial that a thread runs, for the tracers of plain code, too: they need not import what a trial needs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...engine import Value
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


def known_tests(number: Value, asked_among: Callable[[BoolTracer], Value | None]) -> Iterator[tuple[BoolTracer, bool]]:
    """The comparisons of a number that the arms which run are under, and how they come out where those are taken.

    Those of the innermost arms come first; not all parts of long combinations. ``asked_among``: the number of which a
    test asks whether it is one of some constants.
    """
    for frame in reversed(running.trial.frames) if running.trial is not None else ():
        if frame.test is not None:
            known = frame.known[frame.is_yes]
            if known is None:
                known = frame.known[frame.is_yes] = _by_number(frame.test, frame.is_yes, asked_among)
            yield from known.get(id(number), ())


def _by_number(
    test: BoolTracer, is_yes: bool, asked_among: Callable[[BoolTracer], Value | None]
) -> dict[int, list[tuple[BoolTracer, bool]]]:
    found: dict[int, list[tuple[BoolTracer, bool]]] = {}
    for part, outcome in itertools.islice(test.parts_known(is_yes), _MOST_PARTS):
        numbers = {id(part.asks()[1]), id(asked_among(part))}
        for number in numbers:
            found.setdefault(number, []).append((part, outcome))
    return found
