"""What a variable or a place is after both arms of a test have run: what a condition selects."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import engine
from ....engine import Value
from ...guards.libraries import is_library
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import CHOICES, LARGEST, WIDE, is_choice, own_kind
from ...tracing.float_tracer import FloatTracer
from ..tracers.conditions import joined, must_hold_around, negated
from ..tracers.frozen_list import FrozenList, Original
from ..tracers.maybe_tracer import MaybeTracer
from ..tracers.object_tracer import ObjectTracer
from ..trial import NotAnArmError, current, recorder, refuse
from .objects import attributes_of, fields_of, made_of_parts, own_class, parts_of

__all__ = ["NUMBERS", "Selection", "chosen_at", "may_be_chosen", "number_of", "things_of", "unbound", "unset"]

NUMBERS: frozenset[type] = frozenset({Value, FloatTracer, float, int})
_TRACED = frozenset({Value, FloatTracer})
_CONSTANTS = frozenset({float, int, bool, str, type(None)})
_CHOICES = CHOICES | {int, str}
_LISTS = frozenset({list, FrozenList})
_TRUTHS = frozenset({bool, BoolTracer})
_PARTS = NUMBERS | _CHOICES | _TRUTHS | {type(None), MaybeTracer, tuple}


class _Nothing:
    """What stands for a variable that has not been assigned."""


unbound: _Nothing = _Nothing()  # in the arm that is taken, the function would raise
unset: _Nothing = _Nothing()  # nothing reads it unless it has been assigned


class Selection:
    """Selects between what two arms give, by a test."""

    def __init__(self, test: BoolTracer) -> None:
        self._test = test
        self._recorder = recorder()
        self._condition = self._recorder.condition(test)

    def all_of(self, yes: Sequence[Any], no: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(self.of, yes, no))

    def of(self, yes: Any, no: Any) -> Any:
        if yes is no:
            return yes
        if no is unset:
            return self._known(yes, True)
        if yes is unset:
            return self._known(no, False)
        kinds = type(yes), type(no)
        if kinds[0] in _TRACED and kinds[1] in _TRACED:
            return self._of_numbers(yes, no)
        if kinds[0] in _CHOICES and kinds[1] in _CHOICES and own_kind(yes) is own_kind(no):
            return self._of_choices(yes, no)
        if yes is unbound or no is unbound:
            return self._of_unbound(yes, no)
        if _MAYBE.intersection(kinds):
            return self._of_maybe(yes, no)
        if kinds == (tuple, tuple) and len(yes) == len(no):
            return self.all_of(yes, no)
        if kinds[0] is kinds[1] and (fields := fields_of(yes)) is not None and fields_of(no) is not None:
            return self._of_records(fields, yes, no)
        if kinds[0] in _TRUTHS and kinds[1] in _TRUTHS:
            return self._of_truths(yes, no)
        if _LISTS.issuperset(kinds):
            return self._of_lists(yes, no)
        if kinds == (np.ndarray, np.ndarray):
            from ..tracers.chosen_arrays import chosen_of  # which imports this module

            return chosen_of(self, yes, no)
        if kinds[0] is kinds[1] and kinds[0] in _CONSTANTS and repr(yes) == repr(no):
            return yes
        if all(kind in NUMBERS or _is_int_choice(one) for kind, one in zip(kinds, (yes, no), strict=True)):
            return self._of_numbers(yes, no)
        if (made := self._of_parts(yes, no)) is not None:
            return made
        if (chosen := self._of_objects(yes, no)) is not None:
            return chosen
        of_one_kind = kinds[0] is kinds[1]
        raise refuse(
            f"gives another {kinds[0].__name__}, and only numbers and what holds them can be selected"
            + (" (a dataclass with frozen=True holds them)" if dataclasses.is_dataclass(kinds[0]) else "")
            if of_one_kind
            else f"gives a {kinds[1].__name__} for a {kinds[0].__name__}"
        )

    def _of_choices(self, yes: Any, no: Any) -> Any:
        """One of two ints, or of two texts."""
        if type(yes) is type(no) and type(yes) in _CONSTANTS and yes == no:
            return yes
        if type(_constant(yes)) is str:
            trial = current()
            if trial is not None and trial.catches:
                raise refuse("gives another text, which may raise what the function catches")
        elif (type(yes) is int and abs(yes) > LARGEST) or (type(no) is int and abs(no) > LARGEST):
            raise refuse("gives an int that no float is")
        return self._recorder.choice(self._condition, self._test.outcome, yes, no)

    def _of_records(self, fields: Sequence[str], yes: Any, no: Any) -> Any:
        try:
            return type(yes)(**{field: self.of(getattr(yes, field), getattr(no, field)) for field in fields})
        except NotAnArmError:
            if (chosen := self._of_objects(yes, no)) is None:
                raise
            return chosen

    def _of_parts(self, yes: Any, no: Any) -> Any:
        """One of two objects of a class that nothing changes once they are made; None of others."""
        trial, kind = current(), own_class(yes)
        if trial is None or own_class(no) is not kind or (parts := parts_of(yes)) is None:
            return None
        others = parts_of(no)
        if (
            others is None
            or parts.keys() != others.keys()
            or (site := trial.allow_parts(*attributes_of(kind, parts))) is None
        ):
            return None
        if not all(_is_part(one) or one is others[name] for name, one in parts.items()):
            return None
        try:
            chosen = {name: self.of(one, others[name]) for name, one in parts.items()}
        except NotAnArmError:
            return None
        made = made_of_parts(kind, chosen, site)
        trial.made_of_parts += [(site, yes, parts), (site, no, others), (site, made, chosen)]
        return made

    def _of_objects(self, yes: Any, no: Any) -> ObjectTracer | None:
        """One of two objects; None where that cannot be."""
        trial = current()
        if trial is None or not (may_be_chosen(yes) and may_be_chosen(no)) or (site := trial.allow_object()) is None:
            return None
        key = self.of(number_of(yes), number_of(no))
        if key.options is None:
            return None
        return ObjectTracer(things_of(yes) | things_of(no), key, site)

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
        known = self._known(yes, True), self._known(no, False)
        if known[0] is not yes or known[1] is not no:
            return self.of(*known)
        trial = current()
        if trial is None or not trial.allow_optional():
            raise refuse("gives None for something else, or the other way round")
        things = [one._rg_thing if type(one) is MaybeTracer else one for one in (yes, no)]
        there = [one._rg_tests[True] if type(one) is MaybeTracer else one is not None for one in (yes, no)]
        thing = things[1] if yes is None else things[0] if no is None else self.of(*things)
        is_there = self._of_truths(*there)
        if type(is_there) is BoolTracer:
            return MaybeTracer(trial, thing, is_there)
        return thing if is_there else None

    def _known(self, thing: Any, outcome: bool) -> Any:
        """What an arm gives that may be None, if it is not where that arm is taken: ``x if x is not None else …``."""
        trial = current()
        if type(thing) is not MaybeTracer or trial is None:
            return thing
        around = [(frame.test, frame.is_yes) for frame in trial.frames[:-1] if frame.test is not None]
        return thing._rg_thing if thing._rg_is_there([*around, (self._test, outcome)]) else thing

    def _of_lists(self, yes: Any, no: Any) -> FrozenList:
        trial = current()
        if trial is None or len(yes) != len(no):
            raise refuse("gives a list of another length")
        originals = Original(yes, self._test, True), Original(no, self._test, False)
        return FrozenList(self.all_of([*yes], [*no]), originals, trial.breaks)

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


def _is_part(thing: Any) -> bool:
    """Whether what an object holds can be chosen without it: a number or the like, or another such object."""
    return type(thing) in _PARTS or parts_of(thing) is not None


def chosen_at(test: Any, yes: Any, no: Any) -> Any:
    """One of two things, by a test that is traced or not."""
    return Selection(test).of(yes, no) if type(test) is BoolTracer else yes if test else no


def may_be_chosen(thing: Any) -> bool:
    """Whether a thing is an object of a user's class, a function, or a dictionary, or one of some that are."""
    kind: Any = type(thing)
    if kind is ObjectTracer or kind in _OBJECTS:
        return True
    return not is_library(kind.__module__) and not issubclass(kind, _NO_OBJECTS)


_OBJECTS = frozenset({dict, types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial})
_NO_OBJECTS = (Value, float, int, complex, str, list)


def number_of(thing: Any) -> Any:
    """What stands for an object: an int, or a choice of ints."""
    trial = current()
    assert trial is not None
    if type(thing) is not ObjectTracer:
        return trial.number_of(thing)
    numbers = {place: trial.number_of(one) for place, one in thing._rg_things.items()}
    (_, found), *others = numbers.items()
    if all(place == number for place, number in numbers.items()):
        return thing._rg_key
    for place, number in others:
        found = chosen_at(thing._rg_key.is_(place), number, found)
    return found


def things_of(thing: Any) -> dict[int, Any]:
    """An object, or those that it may be, by their numbers."""
    return {number_of(one): one for one in (thing._rg_things.values() if type(thing) is ObjectTracer else [thing])}


_MAYBE = frozenset({type(None), MaybeTracer})


def _constant(thing: Any) -> Any:
    return thing.constant if is_choice(thing) else thing


def _is_int_choice(thing: Any) -> bool:
    return is_choice(thing) and thing.kind in WIDE
