"""What a variable or a place is after both arms of a test have run: what a condition selects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from ... import engine
from ...engine import Value
from ..bool_tracer import BoolTracer
from ..choice_tracer import ChoiceTracer, is_choice
from ..float_tracer import FloatTracer
from .conditions import joined, must_hold_around, negated
from .frozen_list import FrozenList
from .objects import fields_of
from .trial import Trial, current, recorder, refuse

__all__ = ["NUMBERS", "MaybeTracer", "Selection", "unbound", "unset"]

NUMBERS: frozenset[type] = frozenset({Value, FloatTracer, float, int})
_TRACED = frozenset({Value, FloatTracer})
_CONSTANTS = frozenset({float, int, bool, str, type(None)})
_CHOICES = frozenset({int, str, ChoiceTracer})
_LISTS = frozenset({list, FrozenList})
_TRUTHS = frozenset({bool, BoolTracer})


class _Nothing:
    """What stands for a variable that has not been assigned."""


unbound: _Nothing = _Nothing()  # in the arm that is taken, the function would raise
unset: _Nothing = _Nothing()  # nothing reads it unless it has been assigned


class MaybeTracer:
    """Something, or None, as decisions come out. It answers whether it is None; any other question breaks the trial.

    Attributes:
        thing: what it is if it is not None.
        tests: whether it is None, and whether it is not, as comparisons.
    """

    __slots__ = ("_trial", "tests", "thing")

    def __init__(self, trial: Trial, thing: Any, is_there: BoolTracer) -> None:
        self._trial = trial
        self.thing: Any = thing
        self.tests: tuple[BoolTracer, BoolTracer] = negated(is_there), is_there

    def is_there(self, known: Iterable[tuple[BoolTracer, bool]]) -> bool:
        """Whether it is surely not None where tests have these outcomes."""
        absent, there = self.tests
        return any(one.implies(its, there, True) or one.implies(its, absent, False) for one, its in known)

    def _refuse(self, *_: object) -> NoReturn:
        self._trial.breaks()
        raise TypeError("what may be None is asked for something else than whether it is")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        self._refuse()

    def __getattr__(self, name: str) -> Any:
        self._refuse()


_ASKED = (
    "bool eq ne lt le gt ge hash iter len str repr format call getitem setitem contains float int index complex "
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs round enter"
)
for _name in _ASKED.split():
    setattr(MaybeTracer, f"__{_name}__", MaybeTracer._refuse)


class Selection:
    """Selects between what two arms give, by a test."""

    def __init__(self, test: BoolTracer) -> None:
        self._test = test
        self._recorder = recorder()
        self._condition = self._recorder.condition(test)

    def all_of(self, yes: Sequence[Any], no: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(self.of, yes, no))

    def of(self, yes: Any, no: Any) -> Any:
        if yes is no or no is unset:
            return yes
        if yes is unset:
            return no
        if yes is unbound or no is unbound:
            return self._of_unbound(yes, no)
        kinds = type(yes), type(no)
        if kinds[0] in _TRACED and kinds[1] in _TRACED:
            return self._of_numbers(yes, no)
        if _MAYBE.intersection(kinds):
            return self._of_maybe(yes, no)
        if kinds == (tuple, tuple) and len(yes) == len(no):
            return self.all_of(yes, no)
        if kinds[0] is kinds[1] and (fields := fields_of(yes)) is not None and fields_of(no) is not None:
            chosen = {field: self.of(getattr(yes, field), getattr(no, field)) for field in fields}
            return kinds[0](**chosen)
        if kinds[0] in _TRUTHS and kinds[1] in _TRUTHS:
            return self._of_truths(yes, no)
        if kinds[0] in _LISTS and kinds[1] in _LISTS and len(yes) == len(no):
            return self._of_lists(yes, no)
        if kinds[0] is kinds[1] and kinds[0] in _CONSTANTS and repr(yes) == repr(no):
            return yes
        if all(kind in _CHOICES for kind in kinds) and type(_constant(yes)) is type(_constant(no)):
            trial = current()
            if type(_constant(yes)) is str and trial is not None and trial.catches:
                raise refuse("gives another text, which may raise what the function catches")
            return self._recorder.choice(self._condition, self._test.outcome, yes, no)
        if not all(kind in NUMBERS or _is_int_choice(one) for kind, one in zip(kinds, (yes, no), strict=True)):
            of_one_kind = kinds[0] is kinds[1]
            raise refuse(
                f"gives another {kinds[0].__name__}, and only numbers and what holds them can be selected"
                if of_one_kind
                else f"gives a {kinds[1].__name__} for a {kinds[0].__name__}"
            )
        return self._of_numbers(yes, no)

    def _of_numbers(self, yes: Any, no: Any) -> Any:
        chosen = self._recorder.chosen(self._condition, yes, no)
        if chosen is not None:
            return chosen
        # A Value and a plain number, and the function asks which it is: the test is to come out as it does now.
        outcome = self._test.outcome
        if not must_hold_around(self._test if outcome else negated(self._test)):
            raise refuse("gives a plain number for a Value, and the function asks which it is")
        return yes if outcome else no

    def _of_unbound(self, yes: Any, no: Any) -> Any:
        """A variable that one arm alone assigns: its value there; a guard says that this arm was taken."""
        if not must_hold_around(negated(self._test) if yes is unbound else self._test):
            raise refuse("leaves a variable without a value")
        return no if yes is unbound else yes

    def _of_maybe(self, yes: Any, no: Any) -> Any:
        """Where None is among what is selected."""
        trial = current()
        around = [
            (frame.test, frame.is_yes) for frame in (trial.frames[:-1] if trial else []) if frame.test is not None
        ]
        if type(yes) is MaybeTracer and yes.is_there([*around, (self._test, True)]):  # x if x is not None else …
            return self.of(yes.thing, no)
        if type(no) is MaybeTracer and no.is_there([*around, (self._test, False)]):
            return self.of(yes, no.thing)
        if trial is None or not trial.allow_optional():
            raise refuse("gives None for something else, or the other way round")
        things = [one.thing if type(one) is MaybeTracer else one for one in (yes, no)]
        there = [one.tests[True] if type(one) is MaybeTracer else one is not None for one in (yes, no)]
        thing = things[1] if yes is None else things[0] if no is None else self.of(*things)
        is_there = self._of_truths(*there)
        return MaybeTracer(trial, thing, is_there) if type(is_there) is BoolTracer else thing

    def _of_lists(self, yes: Any, no: Any) -> FrozenList:
        trial = current()
        if trial is None:
            raise refuse("gives another list")
        return FrozenList(self.all_of([*yes], [*no]), (yes, no), trial.breaks)

    def _of_truths(self, yes: Any, no: Any) -> Any:
        if type(yes) is type(no) is bool:
            return yes if yes is no else self._test if yes else negated(self._test)
        if no is self._test or no is False:
            return joined("minimum", self._test, yes)
        if yes is True:
            return joined("maximum", self._test, no)
        if type(yes) is bool:
            return joined("minimum", negated(self._test), no)
        if type(no) is bool:
            return joined("maximum", negated(self._test), yes)
        node = engine.apply("where", self._condition, self._recorder.condition(yes), self._recorder.condition(no))
        return self._recorder.as_comparison(node, (yes if self._test.outcome else no).outcome)


_MAYBE = frozenset({type(None), MaybeTracer})


def _constant(thing: Any) -> Any:
    return thing.constant if is_choice(thing) else thing


def _is_int_choice(thing: Any) -> bool:
    return is_choice(thing) and type(thing.constant) is int
