"""What is made of a list: without an item, or with another one, at a place that decisions choose; filtered; mapped."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...tracing.bool_tracer import BoolTracer
from ..trial import Frame, current, running_line
from .conditions import joined, negated
from .partial_list import Entry

__all__ = ["mapped", "passed", "with_item", "without_item"]

#: ``other`` where ``test`` holds, and else ``one``.
Choose = Callable[[Any, Any, Any], Any]


def without_item(items: Sequence[Any], tests: Sequence[Any], choose: Choose) -> list[Any]:
    """The items without the one whose test holds: those after it move forward. One of the tests does hold."""
    found, gone = list[Any](), False
    for one, after, test in zip(items, items[1:], tests, strict=False):
        gone = joined("maximum", gone, test)
        found.append(choose(gone, after, one))
    return found


def with_item(items: Sequence[Any], tests: Sequence[Any], item: Any, choose: Choose) -> list[Any]:
    """The items with another one, before the one whose test holds, or behind all of them: those after it move on."""
    found, is_in = list[Any](), False
    for before, one, test in zip([None, *items], [*items, item], [*tests, True], strict=True):
        here = joined("minimum", negated(is_in), test)
        rest = choose(is_in, before, one) if found else one
        found.append(choose(here, item, rest))
        is_in = joined("maximum", is_in, here)
    return found


def mapped(function: Any, entries: Sequence[Entry]) -> list[Entry] | None:
    """``map(function, things)``; None where the function does more than compute."""
    found = _computed(function, entries)
    return found and [one._replace(item=item) for one, item in zip(entries, found, strict=True)]


def passed(function: Any, entries: Sequence[Entry]) -> list[Entry] | None:
    """``filter(function, things)``; None, too, where no decision tells what passes."""
    from ..selecting.decisions import test_of

    found = _computed(function, entries)
    tests = [test_of(one) for one in found or ()]
    if not any(type(one) is BoolTracer for one in tests) or not {bool, BoolTracer}.issuperset(map(type, tests)):
        return None
    pairs = zip(entries, tests, strict=True)
    return [one._replace(is_there=joined("minimum", one.is_there, test)) for one, test in pairs]


def _computed(function: Any, entries: Sequence[Entry]) -> list[Any] | None:
    """What a function computes of each item, in an arm of whether it is there."""
    from ..selecting.allowed import call
    from ..selecting.decisions import select
    from ..selecting.selections import unset

    trial, site = current(), running_line()
    if trial is None:
        return None
    depth = len(trial.frames)
    if not depth:
        trial.frames.append(Frame(site))  # in an arm, it is known what a function does
    try:
        gives = [(one.is_there, functools.partial(call, function, one.item)) for one in entries]
        return [select(is_there, give, lambda: unset, site) for is_there, give in gives]
    except Exception:  # it is done as it is
        if depth:
            raise
        return None
    finally:
        if not depth:
            trial.frames.pop().stores.undo()
