"""What an arm may do: each thing that it does is looked at first, and refused unless it is known to only compute."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import engine
from ....engine import Value
from ...guards import builtin_overrides
from ...guards.libraries import is_library
from ...tracing import followed_numpy
from ...tracing.bool_tracer import BoolTracer
from ...tracing.float_tracer import is_tracer
from ...tracing.followed_calls import follower_of, own_code
from ..operators import ANEW, IN_PLACE, METHODS, NAMES, ROWS
from ..tracers.chosen_arrays import all_places
from ..tracers.conditions import joined
from ..tracers.frozen_list import FrozenList
from ..tracers.maybe_tracer import MaybeTracer
from ..tracers.object_tracer import ObjectTracer
from ..tracers.selected_array import SelectedArray
from ..trial import current, in_arms, refuse
from .comparing import SEARCHED, is_among
from .domains import inside_domain
from .kinds import CONTAINERS, ITERATORS, OF_ARRAYS, OPERANDS, PURE, VIEWS
from .objects import (
    has_method,
    is_of_plain_class,
    is_plain,
    is_quiet,
    is_record,
    is_still_tuple,
    method_of,
    of_class,
    own_class,
)
from .orders import ordered
from .places import (
    attribute,
    born,
    changes,
    got,
    is_own,
    is_own_container,
    is_told_by_identity,
    note_change,
    present,
)
from .searches import BISECTIONS, bisected, largest_by, place_of
from .selections import NUMBERS, may_be_chosen
from .stores import Place

__all__ = [
    "augmented",
    "call",
    "contains",
    "held",
    "items",
    "minus",
    "operand",
    "operated",
    "rows",
    "shown",
    "spread",
    "tested",
    "written",
    "written_as",
]

_CHANGED_IN_PLACE = frozenset({list, FrozenList, np.ndarray})
_CHANGES = frozenset(
    {
        *("append", "extend", "insert", "pop", "clear", "reverse", "setdefault", "update", "__delitem__"),
        *("appendleft", "extendleft", "popleft", "rotate"),
    }
)
#: The types of what changes them.
_OF_CONTAINERS = frozenset({types.BuiltinFunctionType, types.MethodWrapperType})
_METHODS = frozenset({"get", "items", "keys", "values", "index", "count", "copy"})
_MAKERS = frozenset({list, dict, collections.deque, collections.defaultdict})
_LAZY = frozenset({zip, enumerate, reversed, list, tuple})
#: What does with each thing that may be chosen what is asked of it.
_CHOSEN = frozenset({SelectedArray, ObjectTracer})
_SINGLE = (OPERANDS | {SelectedArray}) - {list, tuple, FrozenList}
_DEFAULTS = [(), (None,), (float,), (int,), (list,), (dict,), (str,), (tuple,), (set,)]
_CONSTANTS = frozenset({int, str, bool, bytes, type(None)})
_OUR_MODULES = frozenset(
    f"retrograd.{name}"
    for name in (
        *("index", "linalg", "python_math", "whole_numbers"),
        *("compiler.guards.builtin_overrides", "compiler.tracing.followed_calls", "compiler.tracing.followed_numpy"),
    )
)


_READERS = frozenset({len, sum, list, tuple, sorted, reversed, enumerate, zip})


def operand(thing: Any) -> Any:
    """A thing that an arm computes with."""
    if not in_arms() or type(thing) in _SINGLE:
        return thing
    if type(thing) in OPERANDS and is_plain(thing):
        return thing
    if type(thing) is MaybeTracer:
        return present(thing)
    is_object = may_be_chosen(thing) and is_told_by_identity(type(thing)) and is_quiet(type(thing))
    if is_object or type(thing) is ObjectTracer or isinstance(thing, np.generic):
        return thing
    raise refuse(f"computes with a {type(thing).__name__}")


def operated(name: str, left: Any, right: Any) -> Any:
    """``left + right``, or another operator between two operands."""
    kinds = type(left), type(right)
    if not in_arms() or not _CHOSEN.isdisjoint(kinds) or (NUMBERS.issuperset(kinds) and name not in ROWS):
        return ANEW[name](left, right)
    left, right = present(left), present(right)
    if type(left) not in OPERANDS or type(right) not in OPERANDS:
        found = _by_methods(name, left, right)
        if found is not NotImplemented:
            return found
    operands = operand(left), operand(right)
    if name in ROWS:
        operands = inside_domain(ROWS[name], operands)
    made = ANEW[name](*operands)
    return born(made) if type(made) is list else made  # [0.0] * n


def _by_methods(name: str, left: Any, right: Any) -> Any:
    """What a user's class gives for an operator between its objects, or between one of those and a number."""
    if any(type(one) in OPERANDS and type(one) not in NUMBERS for one in (left, right)):
        raise refuse(f"computes with a {type(left).__name__} and a {type(right).__name__}")
    direct, reflected = METHODS[name]
    ways = [(left, direct, right), (right, reflected, left)]
    kinds = own_class(left), own_class(right)
    of_left, of_right = (of_class(kind, reflected) for kind in kinds)
    if kinds[0] is kinds[1]:
        del ways[1]
    elif issubclass(kinds[1], kinds[0]) and of_right is not of_left:  # whose method comes first
        ways.reverse()
    for one, method, other in ways:
        function = method_of(one, method) if type(one) not in NUMBERS else None
        found = call(function, other) if function is not None else NotImplemented
        if found is not NotImplemented:
            return found
    return NotImplemented


def minus(thing: Any) -> Any:
    """``-thing``."""
    thing = present(thing)
    function = method_of(thing, "__neg__") if in_arms() and type(thing) not in OPERANDS else None
    return -operand(thing) if function is None else call(function)


def contains(thing: Any, things: Any) -> Any:
    """``thing in things``."""
    found = is_among(thing, things) if current() is not None else None
    if found is not None:
        return found
    if current() is not None and not is_library(type(things).__module__) and has_method(type(things), "__contains__"):
        found = call(method_of(things, "__contains__"), thing)
        return found if type(found) is BoolTracer else bool(found)
    if in_arms() and not (type(things) in SEARCHED and is_plain(things) and _is_constant(thing)):
        thing, things = operand(thing), operand(things)
    return thing in things


def tested(thing: Any) -> Any:
    """A thing of which is asked whether it is true."""
    if in_arms() and type(thing) not in OPERANDS and not is_quiet(type(thing)):
        raise refuse(f"asks whether a {type(thing).__name__} is true")
    return thing


def shown(thing: Any) -> Any:
    """A thing in a text."""
    if in_arms() and type(thing) not in _CONSTANTS:
        raise refuse(f"writes a {type(thing).__name__} in a text")
    return thing


def _is_constant(thing: Any) -> bool:
    return type(thing) in _CONSTANTS or (type(thing) is tuple and all(map(_is_constant, thing)))


def augmented(name: str, old: Any, new: Any) -> Any:
    """``old += new``, or another operator: in place where that is known to be the user's doing."""
    if not in_arms():
        return IN_PLACE[name](old, new)
    old = present(old)
    if type(old) is ObjectTracer:
        return IN_PLACE[name](old, new)
    if type(old) is np.ndarray and (places := all_places(old)) is not None:
        return _stored_in(old, places, operated(name, old, new))
    if type(old) in _CHANGED_IN_PLACE:
        if not is_own(old):
            raise refuse(f"changes a {type(old).__name__} in place")
        note_change()
        return IN_PLACE[name](old, operand(new))
    if type(old) not in OPERANDS and hasattr(type(old), METHODS[name][0].replace("__", "__i", 1)):
        raise refuse(f"changes a {type(old).__name__} in place")
    return operated(name, old, new)


def _stored_in(array: Any, places: list[Place], made: Any) -> Any:
    """An array with the elements of another one, of which a number has one for all."""
    numbers = np.broadcast_to(np.asarray(made, object), array.shape).ravel().tolist()
    trial = current()
    assert trial is not None  # in arms
    for place, number in zip(places, numbers, strict=True):
        trial.store(place, number)
    return array


def items(thing: Any) -> Any:
    """A thing whose items an arm reads one after the other."""
    thing = present(thing)
    if in_arms() and not _is_readable(thing):
        raise refuse(f"reads the items of a {type(thing).__name__}")
    return thing


def _is_readable(thing: Any) -> bool:
    """Whether to read the items of a thing has no effect: an iterator must be the arm's own."""
    kind = type(thing)
    known = kind in CONTAINERS or kind in VIEWS or is_own_container(thing) or is_still_tuple(kind)
    known |= kind is enum.EnumMeta  # the members of an enumeration
    return known or (kind in ITERATORS and is_own(thing))


def spread(things: Any) -> list[Any]:
    """``*things``."""
    return list(map(held, items(things)))


def rows(things: Any, shape: tuple[Any, ...]) -> Any:
    """Things that are unpacked; ``shape``: which of their parts are, too."""
    return (_unpacked(one, shape) for one in things) if in_arms() else things


def _unpacked(thing: Any, shape: tuple[Any, ...]) -> Any:
    parts = items(thing)
    if not any(shape):
        return parts
    found = list(parts)
    if len(found) != len(shape):
        return found  # which raises
    return [part if inner is None else _unpacked(part, inner) for part, inner in zip(found, shape, strict=True)]


def held(thing: Any) -> Any:
    """A thing that a variable holds, or a container; an iterator moves on when it is read."""
    if in_arms() and hasattr(type(thing), "__next__"):
        raise refuse(f"reads from a {type(thing).__name__}, which moves on")
    return thing


def call(function: Any, *arguments: Any, **options: Any) -> Any:
    """``function(*arguments, **options)``; a function of the user's is held to the same rules."""
    kind = type(function)
    if kind in _CHOSEN or (kind is types.MethodType and type(function.__self__) is SelectedArray):
        return function(*arguments, **options)
    if current() is not None and function is not isinstance and (follower := follower_of(function)) is not None:
        function, kind = follower, types.FunctionType
    if len(arguments) == 1 and function is len and type(arguments[0]) is SelectedArray:
        return arguments[0].size
    if kind in (types.BuiltinFunctionType, type) and function in _READERS:  # of None they would raise
        arguments = tuple(map(present, arguments))
    if current() is not None and (found := ordered(function, arguments, options)) is not NotImplemented:
        return found
    if current() is not None and (found := _searched(function, arguments, options)) is not None:
        return found
    if not in_arms():
        return function(*arguments, **options)
    if isinstance(function, type) and (is_record(function) or is_of_plain_class(function)):
        return _made(function, arguments, options)
    if kind is functools.partial:
        return call(function.func, *function.args, *arguments, **{**function.keywords, **options})
    if (special := _special_of(function)) is not None:
        return special(*arguments, **options)
    if kind is types.MethodType and type(function.__func__) is types.FunctionType:
        return held(_checked(function.__func__)(function.__self__, *arguments, **options))
    if kind is types.FunctionType and function.__module__ not in _OUR_MODULES:
        return held(_checked(function)(*arguments, **options))
    if _is_substitute(function) and options.keys() == {"key"} and len(arguments) == 1:
        given = list(items(*arguments))
        return largest_by(function.__name__, given, [call(options["key"], one) for one in given])
    if not is_library(kind.__module__) and (method := method_of(function, "__call__")) is not None:
        return call(method, *arguments, **options)
    if isinstance(function, np.ufunc) and (options or len(arguments) > function.nin):
        raise refuse(f"calls {function.__name__}, which may store what it computes")
    arguments = tuple(map(present, arguments))
    if function is sum:
        return _summed(*arguments, **options)
    if _changes_own(function) and any(type(one) in ITERATORS for one in arguments):
        raise refuse(f"calls {function.__name__} with what may read what it changes")
    if is_quiet(kind) and function not in _LAZY:  # it compares and adds what it reads
        arguments = tuple(list(items(one)) if type(one) in ITERATORS else one for one in arguments)
    if not (_is_pure(function) or _changes_own(function)) or not all(map(_is_known, (*arguments, *options.values()))):
        raise refuse(f"calls {getattr(function, '__name__', kind.__name__)}, which {_what_it_does(function)}")
    if "out" in options:
        raise refuse(f"calls {function.__name__}, which stores what it computes")
    if options.get("key") is not None or (function is collections.defaultdict and arguments[:1] not in _DEFAULTS):
        raise refuse(f"calls {function.__name__} with another function")
    name, owner = getattr(function, "__name__", ""), _owner_of(function)
    is_number = type(owner) is Value or is_tracer(owner)
    if is_number and name in engine.functions:  # a method of a number's, as the function of the same name
        function, arguments = engine.functions[name], (owner, *arguments)
    if _changes_own(function):
        note_change()
    found = function(*inside_domain(name, arguments), **options)
    if owner is not None and type(owner) is not types.ModuleType:
        return held(found)  # of a container
    return born(found) if type(found) in ITERATORS or type(found) in _MAKERS else found


def _what_it_does(function: Any) -> str:
    """Why an arm does not call a function."""
    owner = _owner_of(function)
    if type(owner) in (list, set, dict, *_MAKERS) and function.__name__ in (*_CHANGES, "add", "discard", "remove"):
        return f"changes what a {type(owner).__name__} has"
    return "may do something else than compute"


def _searched(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function finds that compares what is traced, without a decision; None where it is no such function."""
    name, owner = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    if type(function) is not types.BuiltinFunctionType:
        return None
    if function is isinstance and len(arguments) == 2:
        return _is_instance(*arguments)
    if function in BISECTIONS:
        return bisected(function, *arguments) if not options else None
    if name == "accumulate" and type(owner) is np.ufunc and len(arguments) == 1 and not options:
        return followed_numpy.accumulated(owner, *arguments)
    if name == "index" and len(arguments) == 1:
        return place_of(owner, *arguments)
    if name == "get" and len(arguments) in (1, 2) and not options:
        return got(owner, *arguments)
    return None


def _summed(things: Any, start: Any = 0) -> Any:
    """``sum(things)``."""
    given = list(items(things))
    if is_plain([*given, start]):
        return sum(given, start)
    return functools.reduce(functools.partial(operated, "Add"), given, start)


# --- functions that call others, and the like -------------------------------------------------------------------


def _special_of(function: Any) -> Callable[..., Any] | None:
    """What an arm does in place of a function of Python's."""
    if type(function) is types.MethodType:
        is_tuple = function.__name__ == "_replace" and is_still_tuple(type(function.__self__))
        return (lambda **changes: born(function(**changes))) if is_tuple else None
    if not is_quiet(type(function)):
        return None
    try:
        return _SPECIAL.get(function)
    except TypeError:  # it has no hash
        return None


def _of_items(function: Any, place: int | None, *arguments: Any, **options: Any) -> Any:
    """What a function makes of items. The argument at ``place`` is one that it calls."""
    given = list(arguments)
    calls = place is not None and len(given) > place and given[place] is not None
    others = [*options.values(), *(one for i, one in enumerate(given) if i != place)]
    is_known = all(map(_is_known if not calls else _may_be_handed_on, others))
    reads = function in (filter, itertools.accumulate) and not calls  # it tests what it reads, or adds
    if not is_known or (reads and any(type(one) in ITERATORS for one in others)):
        raise refuse(f"calls {function.__name__} of something that may do more than compute")
    if calls:
        assert place is not None
        given[place] = functools.partial(_asked if function is filter else call, given[place])
    if function is itertools.starmap:
        given[1:] = (map(items, each) for each in given[1:])
    found = function(*given, **options)
    return found if function is functools.reduce else born(found)


def _asked(function: Any, thing: Any) -> Any:
    return tested(call(function, thing))


def _may_be_handed_on(thing: Any) -> bool:
    return _is_known(thing) or _is_readable(thing)


def _joined(row: str, found: Any, things: Any) -> Any:
    """``any(things)`` or ``all(things)``, of comparisons; past one that is traced, nothing may change."""
    is_open, before = False, changes()
    for one in items(things):
        if type(one) not in (bool, BoolTracer):
            raise refuse(f"asks whether a {type(one).__name__} is true")
        if is_open and changes() != before:
            raise refuse("changes something where a comparison may have decided before")
        if type(one) is bool and one is (row == "maximum"):
            return one
        found = joined(row, found, one)
        is_open, before = is_open or type(one) is BoolTracer, changes()
    if is_open and changes() != before:
        raise refuse("changes something where a comparison may have decided before")
    return found


def _quotient_and_rest(left: Any, right: Any) -> tuple[Any, Any]:
    if type(left) not in NUMBERS or type(right) not in NUMBERS:
        raise refuse("divides what is no number")
    return operated("FloorDiv", left, right), operated("Mod", left, right)


def _attribute(thing: Any, name: str, *otherwise: Any) -> Any:
    if otherwise or type(name) is not str:
        raise refuse("asks for an attribute that may be missing")
    return held(attribute(thing, name))


def _is_instance(thing: Any, kinds: Any) -> Any:
    if in_arms() and not all(
        type(kind) is type or is_library(type(kind).__module__) for kind in followed_numpy.each_class(kinds)
    ):
        raise refuse(f"asks what a {type(thing).__name__} is")
    if type(thing) is ObjectTracer:
        from ..tracers.chosen_objects import is_instance

        return is_instance(thing, kinds)
    return followed_numpy.is_instance(thing, kinds)


def _replaced(thing: Any, **changes: Any) -> Any:
    if not is_record(type(thing)):
        raise refuse(f"replaces fields of a {type(thing).__name__}")
    return born(dataclasses.replace(thing, **changes))


#: What an arm does in place of a function, by the function.
_SPECIAL: dict[Any, Callable[..., Any]] = {
    **{
        function: functools.partial(_of_items, function, place)
        for function, place in (
            *((function, 0) for function in (functools.reduce, map, filter, itertools.starmap)),
            (itertools.accumulate, 1),
            *((function, None) for function in (itertools.chain, itertools.pairwise, itertools.product)),
            *((function, None) for function in (itertools.combinations, itertools.permutations)),
            *((function, None) for function in (itertools.islice, itertools.zip_longest)),
            *((function, None) for function in (itertools.count, itertools.repeat, itertools.cycle)),
        )
    },
    **{function: functools.partial(operated, name) for function, name in NAMES.items()},
    any: functools.partial(_joined, "maximum", False),
    all: functools.partial(_joined, "minimum", True),
    divmod: _quotient_and_rest,
    getattr: _attribute,
    isinstance: _is_instance,
    dataclasses.replace: _replaced,
    functools.partial: functools.partial,  # the function is looked at when it is called
}


def _made(kind: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An object of a class of the user's."""
    if is_record(kind):
        return born(kind(*arguments, **options))
    thing = born(object.__new__(kind))
    if isinstance(kind.__init__, types.FunctionType):
        _checked(kind.__init__)(thing, *arguments, **options)
    elif arguments or options:
        raise refuse(f"makes a {kind.__name__} of something")
    return thing


def _changes_own(function: Any) -> bool:
    """Whether a method changes a container that the innermost arm has made."""
    is_method = type(function) in _OF_CONTAINERS and function.__name__ in _CHANGES
    return is_method and is_own_container(function.__self__)


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
    if kind in _SINGLE or isinstance(thing, (type, np.generic)):
        return True
    if kind in VIEWS:
        return is_plain(list(thing))
    if kind in ITERATORS:
        return is_own(thing)
    known = kind in OPERANDS or kind in CONTAINERS or is_own_container(thing) or is_still_tuple(kind)
    return known and is_plain(thing)


def _is_substitute(function: Any) -> bool:
    """Whether it is in the place of Python's ``max`` or ``min``."""
    return getattr(function, "__module__", "") == builtin_overrides.__name__


def _owner_of(function: Any) -> Any:
    """What a function is a method of; None if it is none."""
    return None if _is_substitute(function) else getattr(function, "__self__", None)


def _is_pure(function: Any) -> bool:
    kind, owner = type(function), _owner_of(function)
    if kind is types.FunctionType or isinstance(function, np.ufunc) or _is_substitute(function):
        return True
    if kind in (types.BuiltinFunctionType, types.MethodWrapperType) and (type(owner) is Value or is_tracer(owner)):
        return function.__name__ in engine.functions or function.__name__ == "detach"
    if kind is types.BuiltinFunctionType and type(owner) is np.ndarray:
        return function.__name__ in OF_ARRAYS
    if kind is types.BuiltinFunctionType and (type(owner) in CONTAINERS or is_own_container(owner)):
        return function.__name__ in _METHODS and (function.__name__ not in ("index", "count") or is_plain(owner))
    if not is_quiet(kind):
        return False
    try:
        return function in PURE
    except TypeError:  # it has no hash
        return False


def _checked(function: types.FunctionType) -> types.FunctionType:
    if function in _written:
        return function
    if function in _arms:
        return _arms[function]
    code: types.CodeType | str = "which may do something else than compute"
    if not is_library(function.__globals__.get("__name__")):
        own = own_code(function)
        code = _checked_code(own, own.co_filename)
    if isinstance(code, str):
        raise refuse(f"calls {function.__name__}, {code}")
    name, defaults = function.__name__, function.__defaults__
    made = types.FunctionType(code, function.__globals__, name, defaults, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


@functools.lru_cache(maxsize=256)
def _checked_code(code: types.CodeType, file: str) -> types.CodeType | str:
    """``file``: that of the code, which is equal to the same code of another file."""
    from ..rewriting.converter import as_arm  # which writes calls of this module

    return as_arm(code)
