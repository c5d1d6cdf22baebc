"""Ranges of which decisions, or ints among the arguments, choose the ends: lists whose numbers are there or not."""

from __future__ import annotations

from typing import Any

from ...tracing.choice_tracer import is_choice
from ..tracers.conditions import must_hold
from ..tracers.entry_places import both
from ..tracers.partial_lists import partial
from ..trial import Trial, current, running_line

__all__ = ["chosen_range"]

#: So many numbers has such a range at most.
_LONGEST = 256


def chosen_range(*bounds: Any) -> Any:
    """``range(n)``, of an int that decisions choose, or ``range(a, b, step)``, where they choose the bounds."""
    first, last, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    trial = current()
    if not (is_choice(first) or is_choice(last)) or type(step) is not int or step == 0 or trial is None:
        return NotImplemented
    if step not in (1, -1) and is_choice(first):
        return NotImplemented  # which numbers there are depends on the first
    among = _widest(trial, first, last, step)
    if among is None or len(among) > _LONGEST:
        return NotImplemented
    trial.wants_lists = True
    if not trial.lists or not all(must_hold(bound) for bound in _within(first, last, among)):
        return NotImplemented
    tests = [both(first <= one, last > one) if step > 0 else both(first >= one, last < one) for one in among]
    return partial(among, tests, range)


def _widest(trial: Trial, first: Any, last: Any, step: int) -> range | None:
    """All numbers that there may be; of a bound that may be any int, as many as there were in any call, and more."""
    begins, ends, sign = _ends_of(first), _ends_of(last), 1 if step > 0 else -1
    if begins is None and ends is None and _is_int(first) and _is_int(last):  # places in a list are no less than 0
        if step > 0 and first.constant >= 0:
            begins = (0, 0)
        elif step < 0 and last.constant >= -1:
            ends = (-1, -1)
    if begins is not None and ends is not None:
        return range(begins[0], ends[1], step) if step > 0 else range(begins[1], ends[0], step)
    if begins is not None and _is_int(last):
        start = begins[0] if step > 0 else begins[1]
        return range(start, start + sign * _count(trial, sign * (last.constant - start)), step)
    if ends is not None and _is_int(first):
        stop = ends[1] if step > 0 else ends[0]
        return range(stop - sign * _count(trial, sign * (stop - first.constant)), stop, step)
    return None


def _ends_of(bound: Any) -> tuple[int, int] | None:
    """The least and the largest int that one may be; None of what may be any, or is none."""
    options = bound.possible() if is_choice(bound) else [bound] if type(bound) is int else None
    return (min(options), max(options)) if options and all(type(one) is int for one in options) else None


def _is_int(bound: Any) -> bool:
    return is_choice(bound) and type(bound.constant) is int


def _count(trial: Trial, taken: int) -> int:
    """How many numbers to record where this call has so many, as of a loop that data leave."""
    site = running_line()
    if taken > trial.needed.get(site, 0):
        trial.needed[site] = taken
    return max(taken, 0, trial.iterations.get(site, 0))


def _within(first: Any, last: Any, among: range) -> list[Any]:
    """That bounds which may be any int leave no number out."""
    tests: list[Any] = []
    for bound, end in ((first, among.start), (last, among.stop)):
        if is_choice(bound) and bound.possible() is None:
            is_least = (bound is first) == (among.step > 0)
            tests.append(bound >= end if is_least else bound <= end)
    return tests
