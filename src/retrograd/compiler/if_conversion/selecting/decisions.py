"""A test, and which of its arms run: both if it is traced, and what it selects among their results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from ....engine import Value
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import ChoiceTracer, is_choice
from ...tracing.float_tracer import is_tracer
from ..conversions import Site
from ..tracers.conditions import joined, must_hold, negated
from ..tracers.maybe_tracer import MaybeTracer
from ..trial import Frame, Trial, current
from .allowed import tested
from .selections import Selection
from .stores import Place, Stored, selected

__all__ = ["Decision", "of_chosen", "select", "test_of", "trial_of"]


def test_of(thing: Any) -> Any:
    """A test; of a number that is traced, whether it is not zero."""
    if type(thing) is MaybeTracer:
        inside = test_of(tested(thing._rg_thing))
        return joined("minimum", thing._rg_tests[True], inside if type(inside) is BoolTracer else bool(inside))
    if current() is not None and (type(thing) is Value or is_tracer(thing)):
        return thing != 0.0
    return thing.truth() if is_choice(thing) else thing


def trial_of(test: Any) -> Trial | None:
    """The trial in which both arms of a test are to run, if they are."""
    trial = current() if type(tested(test)) is BoolTracer else None
    return None if trial is None or trial.only_counts else trial


class Decision:
    """Which arms run: both if the test is traced, and the one that it decides for if it is not, or both cannot.

    Iterating over it gives one item for each time that the arms are to run: a second one after ``fails()``.

    Attributes:
        yes: whether the first arm runs.
        no: whether the second one does.
        results: what the variables are after that.
    """

    __slots__ = ("_frame", "_has_run", "_is_loop", "_selected", "_stored", "_test", "_trial", "no", "results", "yes")

    def __init__(self, test: Any, site: Site, is_loop: bool = False) -> None:
        """``is_loop``: the arm is the body of a loop, which the test says goes on, with what is around it."""
        test = test_of(test)
        self._test, self._trial = test, trial_of(test)
        self._has_run = False
        self.yes: bool = self._trial is not None or bool(test)
        self.no: bool = self._trial is not None or not self.yes
        self.results: tuple[Any, ...] = ()
        if self._trial is not None:
            self._frame, self._is_loop = Frame(site, test, is_loop), is_loop
            self._stored: Stored = {}
            self._selected: list[tuple[Place, Any]] = []

    def __iter__(self) -> Decision:
        return self

    def __next__(self) -> None:
        if self._has_run:
            raise StopIteration
        self._has_run = True

    def begins(self, is_yes: bool = True) -> None:
        """The arms begin to run, the first one, or the second alone."""
        if self._trial is not None:
            self._frame.is_yes = is_yes
            self._trial.enter(self._frame)

    def ends_yes(self, results: tuple[Any, ...]) -> None:
        """The first arm has run."""
        self.results = results
        if self._trial is not None:
            self._stored = self._frame.stores.undo()
            self._frame.is_yes = False

    def ends_no(self, results: tuple[Any, ...]) -> None:
        """The second arm has run."""
        if self._trial is None:
            self.results = results
            return
        stored = self._frame.stores.undo()
        selection = Selection(self._test)
        self.results = selection.all_of(self.results, results)
        self._selected = selected(self._stored, stored, selection.of)

    def leaves(self) -> None:
        """The arms have run."""
        if self._trial is not None:
            self._trial.leave()
            for place, thing in self._selected:
                self._trial.store(place, thing, self._frame.site)
            self._stored, self._selected = {}, []  # a variable holds this; so that rows can change places

    def fails(self) -> bool:
        """Something was raised in an arm. Whether one is to run alone now."""
        if self._trial is None:
            return False
        # Such as a place beyond the end of a list, in one iteration more than the function runs.
        must_not = isinstance(sys.exception(), LookupError) and self._frame.is_yes is not self._test.outcome
        if not self._trial.fails(must_not):
            return False
        is_whole = self._is_loop and not self._trial.frames
        self._trial, self._has_run = None, False
        if must_not and is_whole:
            self._test.ends_loop()
        elif must_not:
            must_hold(self._test if self._test.outcome else negated(self._test))
        self.yes = self._test.outcome if must_not else bool(self._test)
        self.no = not self.yes
        return True


def select(test: Any, yes: Callable[[], Any], no: Callable[[], Any], site: Site) -> Any:
    """``yes() if test else no()``."""
    test = test_of(test)
    if not trial_of(test):
        return yes() if test else no()
    decision = Decision(test, site)
    try:
        decision.begins()
        decision.ends_yes((yes(),))
        decision.ends_no((no(),))
        decision.leaves()
    except Exception:
        if not decision.fails():
            raise
        return yes() if decision.yes else no()
    return decision.results[0]


def of_chosen(chosen: Mapping[Any, Any], key: ChoiceTracer, give: Callable[[Any], Any], site: Site) -> Any:
    """What the item gives whose place decisions choose, selected from what each of them gives."""

    first, *others = chosen
    if not others:
        return give(chosen[first])
    rest = {place: chosen[place] for place in others}
    return select(key.is_(first), lambda: give(chosen[first]), lambda: of_chosen(rest, key, give, site), site)
