"""What an arm may do: each thing that it does is looked at first, and refused unless it is known to only compute."""

from __future__ import annotations

import bisect
import builtins
import functools
import itertools
import math
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import engine
from ... import math as our_math
from ...engine import Value
from ..float_tracer import is_tracer
from ..guards.dependencies import is_library
from .domains import inside_domain
from .frozen_list import FrozenList
from .kinds import CONTAINERS, OPERANDS, VIEWS
from .operators import ANEW, IN_PLACE, ROWS
from .places import born, is_own, present
from .selections import MaybeTracer, negated
from .trial import current, in_arms, refuse

__all__ = ["augmented", "call", "held", "items", "operand", "operated", "written", "written_as"]

_CHANGED_IN_PLACE = frozenset({list, FrozenList, np.ndarray})
_CHANGES = frozenset({"append", "extend", "insert", "pop", "clear", "reverse"})
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
    if type(thing) in OPERANDS or not in_arms():
        return thing
    if type(thing) is MaybeTracer:
        return present(thing)
    if isinstance(thing, np.generic):
        return thing
    raise refuse(f"computes with a {type(thing).__name__}")


def operated(name: str, left: Any, right: Any) -> Any:
    """``left / right``, or another operator that refuses some operands."""
    if not in_arms():
        return ANEW[name](left, right)
    return ANEW[name](*inside_domain(ROWS[name], (operand(left), operand(right))))


def augmented(name: str, old: Any, new: Any) -> Any:
    """``old += new``, or another operator: in place where that is known to be the user's doing."""
    if not in_arms():
        return IN_PLACE[name](old, new)
    if type(old) in _CHANGED_IN_PLACE:
        if not is_own(old):
            raise refuse(f"changes a {type(old).__name__} in place")
        return IN_PLACE[name](old, operand(new))
    return operated(name, old, new) if name in ROWS else ANEW[name](operand(old), operand(new))


def items(thing: Any) -> Any:
    """A thing whose items an arm reads one after the other."""
    thing = present(thing)
    if in_arms() and type(thing) not in CONTAINERS and type(thing) not in VIEWS:
        raise refuse(f"reads the items of a {type(thing).__name__}")
    return thing


def held(thing: Any) -> Any:
    """A thing that a variable holds; an iterator moves on when it is read."""
    if in_arms() and hasattr(type(thing), "__next__"):
        raise refuse(f"reads from a {type(thing).__name__}, which moves on")
    return thing


def call(function: Any, *arguments: Any, **options: Any) -> Any:
    """``function(*arguments, **options)``; a function of the user's is held to the same rules."""
    if type(function) is types.BuiltinFunctionType and function in _BISECTIONS and not options:
        return _bisected(function, *arguments)
    if not in_arms():
        return function(*arguments, **options)
    kind = type(function)
    if kind is types.MethodType and type(function.__func__) is types.FunctionType:
        return held(_checked(function.__func__)(function.__self__, *arguments, **options))
    if kind is types.FunctionType and function.__module__ not in _OUR_MODULES:
        return held(_checked(function)(*arguments, **options))
    if isinstance(function, np.ufunc) and (options or len(arguments) > function.nin):
        raise refuse(f"calls {function.__name__}, which may store what it computes")
    if not (_is_pure(function) or _changes_own(function)) or not all(map(_is_known, (*arguments, *options.values()))):
        raise refuse(f"calls {getattr(function, '__name__', kind.__name__)}, which may do something else than compute")
    name, owner = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    if type(owner) is Value or is_tracer(owner):  # a method of a number's, as the function of the same name
        function, arguments = engine.functions[name], (owner, *arguments)
    found = function(*inside_domain(name, arguments), **options)
    return born(found) if function is list else found


def _bisected(function: Any, *arguments: Any) -> Any:
    """Where a number belongs in a short table: an int that counts comparisons, if the number is traced."""
    table: Any
    table, x = arguments if len(arguments) == 2 else (None, None)
    is_plain = type(table) in (list, tuple) and all(type(one) in (float, int) for one in table)
    is_number = type(x) is Value or is_tracer(x)
    if in_arms() and not (is_plain and (is_number or type(x) in (float, int))):
        raise refuse(f"calls {function.__name__}, which may compare with something else than numbers")
    if current() is None or not is_plain or not is_number or not 0 < len(table) < _LONGEST_TABLE or not _ascends(table):
        return function(*arguments)
    is_left = function is bisect.bisect_left
    return sum((one < x) if is_left else negated(x < one) for one in table)  # of a NaN, too, as bisect finds it


def _ascends(table: Any) -> bool:
    return all(a <= b for a, b in itertools.pairwise(table)) and all(one == one for one in table)


#: A table as long as items are selected from.
_LONGEST_TABLE = 32
_BISECTIONS = frozenset({bisect.bisect_left, bisect.bisect_right})


def _changes_own(function: Any) -> bool:
    """Whether a method changes a list that the innermost arm has made."""
    is_method = type(function) is types.BuiltinFunctionType and function.__name__ in _CHANGES
    return is_method and is_own(function.__self__)


def written(function: types.FunctionType) -> types.FunctionType:
    """A function that is defined in an arm, and written as one."""
    _written.add(function)
    return function


def written_as(arm: types.FunctionType) -> Callable[[types.FunctionType], types.FunctionType]:
    """For a function in converted code: it is another one in an arm."""

    def decorate(function: types.FunctionType) -> types.FunctionType:
        _arms[function] = arm
        return function

    return decorate


_written: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
_arms: weakref.WeakKeyDictionary[types.FunctionType, types.FunctionType] = weakref.WeakKeyDictionary()


def _is_known(thing: Any) -> bool:
    kind = type(thing)
    known = kind in OPERANDS or kind in CONTAINERS or kind in VIEWS
    return known or isinstance(thing, (type, np.generic))


def _is_pure(function: Any) -> bool:
    kind, owner = type(function), getattr(function, "__self__", None)
    if kind is types.FunctionType or isinstance(function, np.ufunc):
        return True
    if kind in (types.BuiltinFunctionType, types.MethodWrapperType) and (type(owner) is Value or is_tracer(owner)):
        return function.__name__ in engine.functions
    if kind is types.BuiltinFunctionType and type(owner) in CONTAINERS:
        return function.__name__ in _METHODS
    try:
        return function in _PURE
    except TypeError:  # it has no hash
        return False


def _checked(function: types.FunctionType) -> types.FunctionType:
    if function in _written:
        return function
    if function in _arms:
        return _arms[function]
    code = None if is_library(function.__globals__.get("__name__")) else _checked_code(function.__code__)
    if code is None:
        raise refuse(f"calls {function.__name__}, which may do something else than compute")
    name, defaults = function.__name__, function.__defaults__
    made = types.FunctionType(code, function.__globals__, name, defaults, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


@functools.lru_cache(maxsize=256)
def _checked_code(code: types.CodeType) -> types.CodeType | None:
    from .converter import as_arm  # which writes calls of this module

    return as_arm(code)
