"""The tracer of something, or None."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NoReturn

from ...tracing.bool_tracer import BoolTracer
from ..trial import Trial, recorder
from .conditions import must_hold, negated

__all__ = ["MaybeTracer"]


class MaybeTracer:
    """Something, or None, as decisions come out.

    It answers whether it is None. To compute with it, that it is not becomes a guard; any other question breaks the
    trial.

    Args:
        trial: the trace that is run.
        thing: what it is if it is not None.
        is_there: whether it is not, as a comparison.
    """

    __slots__ = ("_rg_tests", "_rg_thing", "_rg_trial")

    _rg_trial: Trial
    _rg_thing: Any
    _rg_tests: tuple[BoolTracer, BoolTracer]

    def __init__(self, trial: Trial, thing: Any, is_there: BoolTracer) -> None:
        for name, given in (("_rg_trial", trial), ("_rg_thing", thing), ("_rg_tests", (negated(is_there), is_there))):
            object.__setattr__(self, name, given)

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
        self._rg_trial.breaks()
        raise TypeError("what may be None is asked for something else than whether it is")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        self._rg_refuse()

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


_ASKED = "eq ne hash str repr format complex round enter"
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
