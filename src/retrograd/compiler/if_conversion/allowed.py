"""What an arm may do: each thing that it does is looked at first, and refused unless it is known to only compute."""

from __future__ import annotations

import bisect
import builtins
import functools
import inspect
import math
import operator
import types
import weakref
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import engine
from ... import math as our_math
from ...engine import Value
from ...index import IndexTracer
from ..bool_tracer import BoolTracer
from ..choice_tracer import ChoiceTracer, is_choice
from ..float_tracer import is_tracer
from ..guards.dependencies import is_library
from .domains import inside_domain, must_hold
from .frozen_list import FrozenList
from .selections import NUMBERS, MaybeTracer, Selection, negated
from .stores import Place
from .trial import Frame, NotAnArmError, current, in_arms, refuse

__all__ = [
    "attribute",
    "augmented",
    "born",
    "call",
    "held",
    "is_none",
    "is_not_none",
    "item",
    "items",
    "may_be_read_on",
    "operand",
    "operated",
    "set_attribute",
    "set_item",
    "written",
    "written_as",
]

#: What arithmetic on which has no effect.
_OPERANDS = NUMBERS | {
    BoolTracer,
    ChoiceTracer,
    FrozenList,
    IndexTracer,
    bool,
    complex,
    str,
    type(None),
    tuple,
    list,
    range,
    np.ndarray,
}
#: What is read by subscripts and loops without effect.
_CONTAINERS = frozenset({list, tuple, FrozenList, dict, str, range, np.ndarray})
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
    if type(thing) in _OPERANDS or not in_arms():
        return thing
    if type(thing) is MaybeTracer:
        return present(thing)
    if isinstance(thing, np.generic):
        return thing
    raise refuse(f"computes with a {type(thing).__name__}")


def operated(name: str, left: Any, right: Any) -> Any:
    """``left / right``, or another operator that refuses some operands."""
    if not in_arms():
        return _ANEW[name](left, right)
    return _ANEW[name](*inside_domain(_ROWS[name], (operand(left), operand(right))))


def augmented(name: str, old: Any, new: Any) -> Any:
    """``old += new``, or another operator: in place where that is known to be the user's doing."""
    if not in_arms():
        return _IN_PLACE[name](old, new)
    if type(old) in _CHANGED_IN_PLACE:
        if not _is_own(old):
            raise refuse(f"changes a {type(old).__name__} in place")
        return _IN_PLACE[name](old, operand(new))
    return operated(name, old, new) if name in _ROWS else _ANEW[name](operand(old), operand(new))


_CHANGED_IN_PLACE = frozenset({list, FrozenList, np.ndarray})


_ROWS = {"Div": "div", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow"}


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
    thing = present(thing)
    if in_arms() and type(thing) not in _CONTAINERS and type(thing) not in _VIEWS:
        raise refuse(f"reads the items of a {type(thing).__name__}")
    return thing


def may_be_read_on(thing: Any) -> bool:
    """Whether a loop may read more items than it wants: nobody else reads them, and no code runs for that."""
    kind = type(thing)
    if kind in (zip, enumerate, reversed):
        parts = thing.__reduce__()[1]
        return all(may_be_read_on(one) for one in (parts if kind is zip else parts[:1]))
    return kind in _CONTAINERS or kind in _ITERATORS


_ITERATORS = frozenset(
    type(one)
    for one in (
        *map(iter, ([], (), {}, "", range(0), {}.items(), {}.values())),
        reversed([]),
        *({}.items(), {}.keys(), {}.values()),
    )
)


def item(thing: Any, key: Any) -> Any:
    """``thing[key]``."""
    thing, key = present(thing), present(key)
    if in_arms() and type(thing) not in _CONTAINERS and type(thing).__getitem__ is not tuple.__getitem__:
        raise refuse(f"reads an item of a {type(thing).__name__}")
    if is_choice(key) and current() is not None and type(thing) in (list, tuple, dict, FrozenList, range):
        return _item_by_choice(thing, key)
    return thing[key]


def _item_by_choice(thing: Any, key: ChoiceTracer) -> Any:
    places = _places(thing, key)
    if not places:
        return thing[key.plain()]
    try:
        found = thing[places[0]]
        for place in places[1:]:
            is_there = key.is_(place)
            found = Selection(is_there).of(thing[place], found) if type(is_there) is BoolTracer else found
    except NotAnArmError:
        return thing[key.plain()]
    return found


def _places(thing: Any, key: ChoiceTracer) -> list[Any]:
    """Where a key may be in a container, if it is known; that it is nowhere else becomes a guard."""
    if key.options is None or len(key.options) > _MOST_PLACES:
        return []
    found: list[Any] = []
    for option in sorted(key.options, key=repr):
        exists = option in thing if type(thing) is dict else type(option) is int and -len(thing) <= option < len(thing)
        if exists:
            found.append(option)
        elif not must_hold(_not(key.is_(option))):
            return []  # so the function raises
    return found


def _not(test: Any) -> Any:
    return negated(test) if type(test) is BoolTracer else not test


_MOST_PLACES = 32


def attribute(thing: Any, name: str) -> Any:
    """``thing.name``."""
    thing = present(thing)
    if in_arms() and type(thing) is not types.ModuleType and type(thing) not in _OPERANDS:
        of_class: Any = thing if isinstance(thing, type) else type(thing)
        found = inspect.getattr_static(of_class, name, None)
        runs_code = hasattr(type(found), "__get__") and not isinstance(found, _STILL)
        if runs_code or isinstance(of_class.__getattribute__, types.FunctionType):
            raise refuse(f"reads .{name}, which runs code")
        if hasattr(of_class, "__getattr__"):
            raise refuse(f"reads .{name} of a {of_class.__name__}, which has a __getattr__")
    return getattr(thing, name)


def born(thing: list[Any]) -> list[Any]:
    """A list that an arm has made, and may change."""
    if in_arms():
        _frame().born[id(thing)] = thing
    return thing


def _is_own(thing: Any) -> bool:
    """Whether a list was made by the innermost arm."""
    return type(thing) is list and in_arms() and id(thing) in _frame().born


def _frame() -> Frame:
    trial = current()
    assert trial is not None  # in arms
    return trial.frames[-1]


def set_attribute(thing: Any, name: str, value: Any) -> None:
    """``thing.name = value``."""
    if not in_arms():
        setattr(thing, name, value)
        return
    kind: Any = type(thing)
    descriptor = inspect.getattr_static(kind, name, None)
    is_slot = isinstance(descriptor, types.MemberDescriptorType) and kind is not Value
    is_still = not hasattr(type(descriptor), "__set__") and name in getattr(thing, "__dict__", ())
    if isinstance(thing, (type, types.ModuleType)) or kind.__setattr__ is not object.__setattr__:
        raise refuse(f"sets an attribute of a {kind.__name__}")
    attribute(thing, name)  # which looks at how it is read
    if not is_slot and not is_still:
        raise refuse(f"sets .{name} of a {kind.__name__}, which has none yet or runs code")
    _store(Place(thing, name, False), value)


def set_item(value: Any, thing: Any, key: Any) -> None:
    """``thing[key] = value``."""
    places = _places(thing, key) if is_choice(key) and type(thing) in (list, dict) and current() is not None else []
    if places:
        for place in places:
            is_there = key.is_(place)
            chosen = Selection(is_there).of(value, thing[place]) if type(is_there) is BoolTracer else value
            _set_item(chosen, thing, place)
    else:
        _set_item(value, thing, key.plain() if is_choice(key) else key)


def _set_item(value: Any, thing: Any, key: Any) -> None:
    if not in_arms() or _is_own(thing):
        thing[key] = value
    elif type(thing) is list and type(key) is int:
        _store(Place(thing, key + len(thing) if key < 0 else key, True), value)
    elif type(thing) is dict and type(key) in (int, str) and key in thing:
        _store(Place(thing, key, True), value)
    else:
        raise refuse(f"sets an item of a {type(thing).__name__}")


def _store(place: Place, value: Any) -> None:
    trial = current()
    assert trial is not None  # in arms
    trial.store(place, value)


def present(thing: Any) -> Any:
    """A thing that is not None where the arms are taken that read it so, which becomes a guard."""
    if type(thing) is not MaybeTracer:
        return thing
    trial = current()
    frames = trial.frames if trial is not None else []
    known = ((frame.test, frame.is_yes) for frame in frames if frame.test is not None)
    if not thing.is_there(known) and not must_hold(thing.tests[True]):
        raise TypeError("None where something else is wanted")
    return thing.thing


def is_none(thing: Any) -> Any:
    """``thing is None``."""
    return thing.tests[False] if type(thing) is MaybeTracer else thing is None


def is_not_none(thing: Any) -> Any:
    """``thing is not None``."""
    return thing.tests[True] if type(thing) is MaybeTracer else thing is not None


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
    is_traced = current() is not None and (type(x) is Value or is_tracer(x))
    is_short = type(table) in (list, tuple) and 0 < len(table) < _MOST_PLACES
    if (
        not is_traced
        or not is_short
        or not all(type(one) in (float, int) for one in table)
        or sorted(table) != [*table]
    ):
        return function(*arguments)
    is_left = function is bisect.bisect_left
    return sum((one < x) if is_left else _not(x < one) for one in table)  # of a NaN, too, as bisect finds it


_BISECTIONS = frozenset({bisect.bisect_left, bisect.bisect_right})


def _changes_own(function: Any) -> bool:
    """Whether a method changes a list that the innermost arm has made."""
    is_method = type(function) is types.BuiltinFunctionType and function.__name__ in _CHANGES
    return is_method and _is_own(function.__self__)


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
