"""What converted code calls: it runs both arms of an ``if`` whose test is traced, and selects among their results.

An arm that is not taken must do nothing but compute. What an arm does is looked at before it does it; where that is
something else, the arms are left, and the ``if`` decides as it did before: its test is a guard. Outside of a trial, and
where a test is a plain bool, converted code does what the function's own code does.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
import threading
import types
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import engine
from ... import math as our_math
from ...engine import Value
from ...index import IndexTracer
from ..bool_tracer import BoolTracer
from ..float_tracer import FloatTracer, is_tracer
from ..guards.dependencies import is_library
from ..recorder import Recorder, active_recorder

__all__ = [
    "Decision",
    "NotAnArmError",
    "Site",
    "Trial",
    "attribute",
    "augmented",
    "both",
    "call",
    "either",
    "held",
    "item",
    "items",
    "negated",
    "operand",
    "raised",
    "select",
    "span",
    "trial",
]


class NotAnArmError(Exception):
    """An arm may do something else than compute, or its results are no numbers."""


span, raised = slice, Exception  # by names that no variable of the user's has

#: A file, and the line in it where a test begins.
Site = tuple[str, int]


class Trial:
    """A trace of converted code.

    Attributes:
        sites: the tests whose arms are running, the innermost last.
        failed: the tests that turned out to be guards.
        is_too_long: whether one did because too much is recorded, as where a function calls itself in both arms.
    """

    def __init__(self, most: int) -> None:
        self.sites: list[Site] = []
        self.failed: list[Site] = []
        self.is_too_long = False
        self._last = engine.tape_position()[0] + most

    def enter(self, site: Site) -> None:
        """Both arms of a test begin."""
        self.sites.append(site)
        if engine.tape_position()[0] > self._last:
            self.is_too_long = True
            raise _refuse("makes the trace too long")

    def leave(self) -> None:
        """Both arms have run."""
        self.sites.pop()

    def fails(self, site: Site) -> bool:
        """Something was raised in the arms of a test. Whether it is a guard now; in other arms, those cannot go on."""
        self.sites.pop()
        if self.sites:
            return False
        self.failed.append(site)
        return True


class _Current(threading.local):
    trial: Trial | None = None


_current = _Current()


@contextmanager
def trial(most: int) -> Iterator[Trial]:
    """For a trace of converted code that may lengthen the tape by ``most``, as ``engine.tape_position`` counts."""
    before, _current.trial = _current.trial, Trial(most)
    try:
        yield _current.trial
    finally:
        _current.trial = before


def _trial_of(test: Any) -> Trial | None:
    """The trial in which both arms of a test are to run, if they are."""
    return _current.trial if type(test) is BoolTracer else None


def _in_arms() -> bool:
    """Whether both arms of a test are running."""
    return _current.trial is not None and bool(_current.trial.sites)


def _refuse(why: str) -> NotAnArmError:
    return NotAnArmError(f"an arm that is not taken {why}")


def _recorder() -> Recorder:
    found = active_recorder()
    assert found is not None  # a trial is a trace
    return found


# --- tests ------------------------------------------------------------------------------------------------------


class Decision:
    """Which arms run: both if the test is traced, and the one that it decides for if it is not, or both cannot.

    Iterating over it gives one item for each time that the arms are to run: a second one after ``fails()``.

    Attributes:
        yes: whether the first arm runs.
        no: whether the second one does.
        results: what the variables are after that.
    """

    __slots__ = ("_has_run", "_site", "_test", "_trial", "no", "results", "yes")

    def __init__(self, test: Any, site: Site) -> None:
        self._test, self._site, self._trial = test, site, _trial_of(test)
        self._has_run = False
        self.yes: bool = self._trial is not None or bool(test)
        self.no: bool = self._trial is not None or not self.yes
        self.results: tuple[Any, ...] = ()

    def __iter__(self) -> Decision:
        return self

    def __next__(self) -> None:
        if self._has_run:
            raise StopIteration
        self._has_run = True

    def begins(self) -> None:
        """The arms begin to run."""
        if self._trial is not None:
            self._trial.enter(self._site)

    def leaves(self) -> None:
        """The arms have run."""
        if self._trial is not None:
            self._trial.leave()

    def ends_yes(self, results: tuple[Any, ...]) -> None:
        """The first arm has run."""
        self.results = results

    def ends_no(self, results: tuple[Any, ...]) -> None:
        """The second arm has run."""
        self.results = results if self._trial is None else _merged(self._test, self.results, results)

    def fails(self) -> bool:
        """Something was raised in an arm. Whether one is to run alone now."""
        if self._trial is None or not self._trial.fails(self._site):
            return False
        self._trial, self._has_run = None, False
        self.yes = bool(self._test)
        self.no = not self.yes
        return True


def both(one: Any, other: Callable[[], Any], site: Site) -> Any:
    """``one and other()``."""
    return _combined("minimum", one, other, site) if _trial_of(one) else one and other()


def either(one: Any, other: Callable[[], Any], site: Site) -> Any:
    """``one or other()``."""
    return _combined("maximum", one, other, site) if _trial_of(one) else one or other()


def negated(one: Any) -> Any:
    """``not one``."""
    if not _trial_of(one):
        return not one
    return _recorder().comparison("==", _recorder().condition(one), 0.0, not one.outcome)


def _combined(row: str, one: BoolTracer, other: Callable[[], Any], site: Site) -> Any:
    decision = Decision(one, site)
    try:
        decision.begins()
        found = _joined(row, one, other())
        decision.leaves()
    except Exception:
        if not decision.fails():
            raise
        return (one and other()) if row == "minimum" else (one or other())
    return found


def _joined(row: str, one: BoolTracer, other: Any) -> Any:
    if type(other) is bool:
        decides = other is (row == "maximum")  # so the first does not matter
        return other if decides else one
    if type(other) is not BoolTracer:
        raise _refuse("is neither true nor false")
    outcomes = one.outcome, other.outcome
    recorder = _recorder()
    node = engine.apply(row, recorder.condition(one), recorder.condition(other))
    return recorder.comparison("!=", node, 0.0, all(outcomes) if row == "minimum" else any(outcomes))


# --- selections -------------------------------------------------------------------------------------------------


def select(test: Any, yes: Callable[[], Any], no: Callable[[], Any], site: Site) -> Any:
    """``yes() if test else no()``."""
    if not _trial_of(test):
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


def _merged(test: BoolTracer, yes: Sequence[Any], no: Sequence[Any]) -> tuple[Any, ...]:
    """What variables are after both arms have run."""
    recorder = _recorder()
    condition = recorder.condition(test)
    return tuple(_selected(recorder, condition, a, b) for a, b in zip(yes, no, strict=True))


def _selected(recorder: Recorder, condition: Value, yes: Any, no: Any) -> Any:
    if yes is no:
        return yes
    kinds = type(yes), type(no)
    if kinds == (tuple, tuple) and len(yes) == len(no):
        return tuple(_selected(recorder, condition, a, b) for a, b in zip(yes, no, strict=True))
    if not any(kind is Value or kind is FloatTracer for kind in kinds):
        if kinds[0] is kinds[1] and kinds[0] in _CONSTANTS and repr(yes) == repr(no):
            return yes
        if kinds != (float, float):
            raise _refuse(f"gives another {kinds[1].__name__}, which no number selects")
    if not all(kind in _NUMBERS for kind in kinds):
        raise _refuse(f"gives a {kinds[1].__name__} for a {kinds[0].__name__}")
    chosen = recorder.chosen(condition, yes, no)
    if chosen is None:
        raise _refuse("gives a plain number for a Value, and the function asks which it is")
    return chosen


_CONSTANTS = frozenset({float, int, bool, str, type(None)})
_NUMBERS = frozenset({Value, FloatTracer, float, int})


# --- what an arm may do -----------------------------------------------------------------------------------------

#: What arithmetic on which has no effect.
_OPERANDS = _NUMBERS | {BoolTracer, IndexTracer, bool, complex, str, type(None), tuple, list, range, np.ndarray}
#: What is read by subscripts and loops without effect.
_CONTAINERS = frozenset({list, tuple, dict, str, range, np.ndarray})
#: What loops over them give.
_VIEWS: frozenset[type] = frozenset(
    {zip, enumerate, reversed, types.GeneratorType, type({}.items()), type({}.keys()), type({}.values())}
)
#: What descriptors of a class give without running code.
_STILL = (
    types.FunctionType,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.BuiltinFunctionType,
    staticmethod,
    classmethod,
    type(inspect.getattr_static(namedtuple("Field", "name"), "name")),
)
_METHODS = frozenset({"get", "items", "keys", "values", "index", "count", "copy"})
_PURE = frozenset(
    [
        *(abs, len, sum, pow, range, zip, enumerate, reversed, list, tuple, isinstance, float, int, bool),
        *(builtins.max, builtins.min, math.prod),
        *(one for name, one in vars(math).items() if callable(one)),
        *(one for name, one in vars(our_math).items() if isinstance(one, types.BuiltinFunctionType)),
        *engine.functions.values(),
    ]
)
_OUR_MODULES = frozenset(
    f"retrograd.{name}" for name in ("python_math", "whole_numbers", "compiler.guards.builtin_overrides")
)


def operand(thing: Any) -> Any:
    """A thing that an arm computes with."""
    if _in_arms() and type(thing) not in _OPERANDS and not isinstance(thing, np.generic):
        raise _refuse(f"computes with a {type(thing).__name__}")
    return thing


def augmented(name: str, old: Any, new: Any) -> Any:
    """``old += new``, or another operator: in place where that is known to be the user's doing."""
    if not _in_arms():
        return _IN_PLACE[name](old, new)
    return _ANEW[name](operand(old), operand(new))


_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
}
_ANEW: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, function.__name__.replace("i", "", 1)) for name, function in _IN_PLACE.items()
}


def items(thing: Any) -> Any:
    """A thing whose items an arm reads one after the other."""
    if _in_arms() and type(thing) not in _CONTAINERS and type(thing) not in _VIEWS:
        raise _refuse(f"reads the items of a {type(thing).__name__}")
    return thing


def item(thing: Any, key: Any) -> Any:
    """``thing[key]``."""
    if _in_arms() and type(thing) not in _CONTAINERS and type(thing).__getitem__ is not tuple.__getitem__:
        raise _refuse(f"reads an item of a {type(thing).__name__}")
    return thing[key]


def attribute(thing: Any, name: str) -> Any:
    """``thing.name``."""
    if _in_arms() and type(thing) is not types.ModuleType and type(thing) not in _OPERANDS:
        of_class: Any = thing if isinstance(thing, type) else type(thing)
        found = inspect.getattr_static(of_class, name, None)
        runs_code = hasattr(type(found), "__get__") and not isinstance(found, _STILL)
        if runs_code or isinstance(of_class.__getattribute__, types.FunctionType):
            raise _refuse(f"reads .{name}, which runs code")
        if hasattr(of_class, "__getattr__"):
            raise _refuse(f"reads .{name} of a {of_class.__name__}, which has a __getattr__")
    return getattr(thing, name)


def held(thing: Any) -> Any:
    """A thing that a variable holds; an iterator moves on when it is read."""
    if _in_arms() and hasattr(type(thing), "__next__"):
        raise _refuse(f"reads from a {type(thing).__name__}, which moves on")
    return thing


def call(function: Any, *arguments: Any, **options: Any) -> Any:
    """``function(*arguments, **options)``; a function of the user's is held to the same rules."""
    if not _in_arms():
        return function(*arguments, **options)
    kind = type(function)
    if kind is types.MethodType and type(function.__func__) is types.FunctionType:
        return held(_checked(function.__func__)(function.__self__, *arguments, **options))
    if kind is types.FunctionType and function.__module__ not in _OUR_MODULES:
        return held(_checked(function)(*arguments, **options))
    if not _is_pure(function) or not all(map(_is_known, (*arguments, *options.values()))):
        raise _refuse(f"calls {getattr(function, '__name__', kind.__name__)}, which may do something else than compute")
    return function(*arguments, **options)


def _is_known(thing: Any) -> bool:
    kind = type(thing)
    known = kind in _OPERANDS or kind in _CONTAINERS or kind in _VIEWS
    return known or isinstance(thing, (type, np.generic))


def _is_pure(function: Any) -> bool:
    kind, owner = type(function), getattr(function, "__self__", None)
    if kind is types.FunctionType or isinstance(function, np.ufunc):
        return True
    if kind in (types.BuiltinFunctionType, types.MethodWrapperType) and (type(owner) is Value or is_tracer(owner)):
        return function.__name__ in engine.functions
    if kind is types.BuiltinFunctionType and type(owner) in _CONTAINERS:
        return function.__name__ in _METHODS
    try:
        return function in _PURE
    except TypeError:  # it has no hash
        return False


def _checked(function: types.FunctionType) -> types.FunctionType:
    code = None if is_library(function.__globals__.get("__name__")) else _checked_code(function.__code__)
    if code is None:
        raise _refuse(f"calls {function.__name__}, which may do something else than compute")
    name, defaults = function.__name__, function.__defaults__
    made = types.FunctionType(code, function.__globals__, name, defaults, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


@functools.lru_cache(maxsize=256)
def _checked_code(code: types.CodeType) -> types.CodeType | None:
    from .converter import as_arm  # which writes calls of this module

    return as_arm(code)
