"""The tracer of something, or None."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NoReturn

from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice
from ...tracing.float_tracer import is_tracer
from ..trial import Trial, recorder
from .conditions import joined, must_hold, negated
from .object_tracer import Chosen, ObjectTracer

__all__ = ["MaybeTracer"]


class MaybeTracer(Chosen):
    """Something, or None, as decisions come out.

    It answers whether it is None. To compute with it, that it is not becomes a guard; any other question breaks the
    trial.

    Args:
        trial: the trace that is run.
        thing: what it is if it is not None.
        is_there: whether it is not, as a comparison.
    """

    __slots__ = ("_rg_absent", "_rg_there", "_rg_thing", "_rg_trial")

    _rg_trial: Trial
    _rg_thing: Any
    _rg_there: BoolTracer
    _rg_absent: BoolTracer | None

    def __init__(self, trial: Trial, thing: Any, is_there: BoolTracer) -> None:
        for name, given in zip(self.__slots__, (None, is_there, thing, trial), strict=True):
            object.__setattr__(self, name, given)

    @property
    def _rg_tests(self) -> tuple[BoolTracer, BoolTracer]:
        """Whether it is None, and whether it is not; an argument is there before anything can be recorded."""
        if self._rg_absent is None:
            object.__setattr__(self, "_rg_absent", negated(self._rg_there))
        assert self._rg_absent is not None
        return self._rg_absent, self._rg_there

    def _rg_is_there(self, known: Iterable[tuple[BoolTracer, bool]]) -> bool:
        """Whether it is surely not None where tests have these outcomes."""
        absent, there = self._rg_tests
        return any(one.implies(its, there, True) or one.implies(its, absent, False) for one, its in known)

    def _rg_present(self) -> Any:
        """What it is where the arms are taken that ask for that: not None, which becomes a guard if it is not known."""
        if not self._rg_is_surely_there() and not must_hold(self._rg_tests[True]):
            raise TypeError("None where something else is wanted")
        return self._rg_thing

    def _rg_is_surely_there(self) -> bool:
        """Whether the tests of the arms say that it is not None."""
        frames = self._rg_trial.frames
        return self._rg_is_there((frame.test, frame.is_yes) for frame in frames if frame.test is not None)

    def _rg_refuse(self, *_: object) -> NoReturn:
        self._rg_trial.refuses_optional = True
        self._rg_trial.breaks()
        raise TypeError("what may be None is asked for something else than whether it is")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        self._rg_refuse()

    def __eq__(self, other: object) -> Any:
        if other is None:
            return self._rg_tests[False]
        is_number = _is_compared_by_number(self._rg_thing) and _is_compared_by_number(other)
        inside = self._rg_thing == other if is_number or type(self._rg_thing) is ObjectTracer else None
        if type(inside) not in (bool, BoolTracer):
            self._rg_refuse()
        return joined("minimum", self._rg_there, inside)

    def __hash__(self) -> int:
        recorder().decides_choice()
        return hash(self._rg_thing) if self._rg_there else hash(None)

    def __ne__(self, other: object) -> Any:
        return negated(self == other)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rg_present(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._rg_present(), name, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._rg_present()[key] = value

    def __bool__(self) -> bool:
        from ..selecting.decisions import test_of  # which imports this module

        recorder().decides_choice()
        return bool(test_of(self))

    def __iter__(self) -> Any:
        return iter(self._rg_present())

    def __len__(self) -> int:
        return len(self._rg_present())

    def __contains__(self, thing: Any) -> bool:
        return thing in self._rg_present()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._rg_present()(*arguments, **options)


def _is_compared_by_number(thing: Any) -> bool:
    """Whether to compare a thing runs no code of the user's, and gives a test or a truth value."""
    return type(thing) in (int, float, bool, str) or is_choice(thing) or is_tracer(thing)


_ASKED = "str repr format complex round enter"
for _name in _ASKED.split():
    setattr(MaybeTracer, f"__{_name}__", MaybeTracer._rg_refuse)


def _define_in_place(name: str) -> None:
    function = getattr(operator, name)
    setattr(MaybeTracer, f"__{name}__", lambda self, other: function(self._rg_present(), other))


def _define_operator(name: str, reflected: str = "") -> None:
    function = getattr(operator, name)
    setattr(MaybeTracer, f"__{name}__", lambda self, *others: function(self._rg_present(), *others))
    if reflected:
        setattr(MaybeTracer, f"__{reflected}__", lambda self, other: function(other, self._rg_present()))


def _define_conversion(name: str, function: Any) -> None:
    setattr(MaybeTracer, f"__{name}__", lambda self: function(self._rg_present()))


for _name, _function in (("int", int), ("float", float), ("index", operator.index)):
    _define_conversion(_name, _function)
for _name in ("lt", "le", "gt", "ge", "neg", "pos", "abs", "getitem"):
    _define_operator(_name)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _define_operator(_name, f"r{_name}")
    _define_in_place(f"i{_name}")
