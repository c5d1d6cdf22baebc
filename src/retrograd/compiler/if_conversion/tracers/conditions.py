"""What tests say together: of several, and of the arms that are running."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from .... import engine
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import ChoiceTracer
from ..trial import Frame, Trial, current, recorder, refuse

__all__ = ["among", "any_of", "differ", "is_taken", "joined", "must_hold", "must_hold_around", "negated", "not_reached"]


def negated(test: Any) -> Any:
    """``not test``."""
    if type(test) is not BoolTracer:
        return not test
    found = recorder()
    made = found.as_comparison(engine.apply("equal", found.condition(test), 0.0), not test.outcome)
    made.joins, made.parts = "not", (test,)
    return made


def joined(row: str, one: Any, other: Any) -> Any:
    """Whether both hold, with the row "minimum", or one of them, with "maximum"."""
    if type(one) is bool:
        one, other = other, one
    if type(one) is type(other) is bool:
        return one and other if row == "minimum" else one or other
    if type(other) is bool:
        decides = other is (row == "maximum")  # so the first does not matter
        return other if decides else one
    if type(other) is not BoolTracer:
        raise refuse("is neither true nor false")
    outcomes = one.outcome, other.outcome
    found = recorder()
    node = engine.apply(row, found.condition(one), found.condition(other))
    made = found.as_comparison(node, all(outcomes) if row == "minimum" else any(outcomes))
    made.joins, made.parts = "and" if row == "minimum" else "or", (one, other)
    return made


def any_of(tests: Iterable[Any]) -> Any:
    """Whether one of some tests holds."""
    return functools.reduce(functools.partial(joined, "maximum"), tests, False)


def differ(one: Any, other: Any) -> Any:
    """Whether one of two tests holds and the other does not."""
    if type(one) is bool or type(other) is bool:
        flag, test = (one, other) if type(one) is bool else (other, one)
        return negated(test) if flag else test
    found = recorder()
    node = engine.apply("not_equal", found.condition(one), found.condition(other))
    return found.as_comparison(node, one.outcome != other.outcome)


def among(choice: ChoiceTracer, constants: Collection[Any]) -> Any:
    """Whether a choice is one of some constants."""
    possible, kind = choice.possible(), type(choice.constant)
    of_its_kind = frozenset(one for one in constants if type(one) is kind)  # no int is a text
    wanted = of_its_kind if possible is None else possible & of_its_kind
    if not wanted or wanted == possible:
        return bool(wanted)
    others = wanted if possible is None else possible - wanted
    is_few = len(wanted) <= len(others)
    tests = map(choice.is_, sorted(wanted if is_few else others, key=repr))
    found = functools.reduce(functools.partial(joined, "maximum"), tests)
    found = found if is_few else negated(found)
    if type(found) is BoolTracer:
        recorder().note_among(found, choice.node, wanted)
    return found


def is_taken(trial: Trial) -> Any:
    """Whether the arms are taken that are running: True, or a comparison."""
    return _is_taken(trial.frames, len(trial.frames))


def _is_taken(frames: Sequence[Frame], count: int) -> Any:
    """The same of the first so many of them."""
    if count == 0:
        return True
    frame = frames[count - 1]
    found = frame.taken[frame.is_yes]
    if found is None:
        around = True if frame.is_whole else _is_taken(frames, count - 1)
        test = frame.test if frame.test is None or frame.is_yes else negated(frame.test)
        found = around if test is None else test if around is True else joined("minimum", around, test)
        frame.taken[frame.is_yes] = found
    return found


def must_hold(test: Any) -> bool:
    """A test that the function raises something without: a guard, where the arms are taken that it is in."""
    trial = current()
    return _must_hold(test, True if trial is None else is_taken(trial))


def must_hold_around(test: Any) -> bool:
    """The same of a test in the arms around the innermost ones."""
    trial = current()
    return _must_hold(test, True if trial is None else _is_taken(trial.frames, max(len(trial.frames) - 1, 0)))


def _must_hold(test: Any, taken: Any) -> bool:
    if type(test) is not BoolTracer or current() is None:
        return bool(test)
    needed = test if taken is True else joined("maximum", negated(taken), test)
    return needed.must_hold() if type(needed) is BoolTracer else bool(needed)


def not_reached() -> bool:
    """That arms are not taken, in which the function raises something: a guard. False where it does now."""
    trial = current()
    taken = is_taken(trial) if trial is not None else True
    return type(taken) is BoolTracer and bool(negated(taken))
