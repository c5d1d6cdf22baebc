"""What makes dictionaries and sets, where decisions may choose the keys that they have."""

from __future__ import annotations

import types
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from ...tracing.bool_tracer import BoolTracer
from ..selecting.allowed import call, items
from ..selecting.places import as_key, attribute, born, set_item
from ..tracers.partial_list import PartialIterator, PartialList
from ..tracers.partial_lists import entries_of, partial
from ..trial import current, in_arms, refuse
from .dicts import counted, done, is_there, set_default, store, updated, value_of
from .entries import cannot, is_open, keys_of, surely_absent
from .noted import has_traced_keys, is_traced
from .sets import set_of
from .tracers import KEYED, PartialDict, PartialSet

__all__ = ["Maker", "changing", "collected", "in_order", "made", "set_default_of", "store_new"]


def changing(thing: Any) -> Any:
    """A new dictionary, or set, that the function changes."""
    return done(_made, type(thing), thing) if type(thing) in (dict, set) else thing


def made(function: Any, is_changed: bool, *arguments: Any, **options: Any) -> Any:
    """``function(*arguments)``, if it is ``dict``, ``set``, ``defaultdict`` or ``Counter``."""
    trial, function = current(), _named(function)
    is_maker = any(function is one for one in (dict, set, defaultdict, Counter))
    if trial is None or not is_maker or not (is_changed or any(map(has_traced_keys, arguments))):
        return _constants(*arguments) if function is set and in_arms() else call(function, *arguments, **options)
    trial.wants_dicts |= not is_changed
    if not trial.dicts:
        return call(function, *arguments, **options)
    return done(_made, function, *arguments, **options)


def _constants(things: Any) -> set[Any]:
    """A set of things, to put which in runs no code of the user's."""
    return born({as_key(one) for one in items(things)})


def _named(function: Any) -> Any:
    return _NAMES[function] if type(function) is str else function


def _made(function: Any, *arguments: Any, **options: Any) -> Any:
    if function is set:
        return born(set_of(*map(_listed, arguments)))
    if function is Counter:
        thing = PartialDict((), Counter)
        if options or len(arguments) > 1 or any(isinstance(one, dict) for one in arguments):
            raise refuse("makes a Counter of counts")
        for one in arguments:
            counted(thing, entries_of(_listed(one)))
        return born(thing)
    factory = None
    if function is defaultdict:
        factory, arguments = _factory_of(*arguments[:1]), arguments[1:]
        if factory is NotImplemented:
            cannot("is made by something else")
    thing = PartialDict((), function, factory)
    updated(thing, *map(_listed, arguments), **options)
    return born(thing)


def _listed(things: Any) -> Any:
    """What is read at once, if it is an iterator."""
    is_known = type(things) in KEYED or type(things) in (PartialList, PartialIterator)
    return list(items(things)) if hasattr(type(things), "__next__") and not is_known else things


# --- what makes the values of missing keys ------------------------------------------------------------------------


def _empty_list() -> Any:
    trial = current()
    if trial is not None:
        trial.wants_lists = True
        if not trial.lists:
            raise refuse("makes a list")
    return partial(())


def _empty_set() -> Any:
    return PartialSet((), set)


def _empty_dict() -> Any:
    return PartialDict((), dict)


def _empty_counter() -> Any:
    return PartialDict((), Counter)


_FACTORIES: dict[Any, Callable[[], Any]] = {
    float: float,
    int: int,
    list: _empty_list,
    set: _empty_set,
    dict: _empty_dict,
    Counter: _empty_counter,
}
#: What makes a list, a dictionary or a set, by its name.
_NAMES: dict[str, Any] = {"list": list, "dict": dict, "set": set}


def _factory_of(function: Any = None) -> Any:
    """What makes the value of a missing key; NotImplemented where that may be anything."""
    if function is None:
        return None
    for one, factory in _FACTORIES.items():
        if function is one:
            return factory
    if type(function) is Maker:
        return function.factory()
    code: Any = getattr(function, "__code__", None)
    is_constant = type(function) is types.FunctionType and not (code.co_names or code.co_freevars or code.co_argcount)
    return function if is_constant and type(function()) in (int, float) else NotImplemented


class Maker:
    """``lambda: function(*arguments)``, where that makes a list, a dictionary or a set."""

    __slots__ = ("_arguments", "_function")

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._function = _named(function)
        self._arguments = arguments

    def __call__(self) -> Any:
        return self._function(*self._arguments)

    def factory(self) -> Any:
        """What makes the same as a tracer; NotImplemented where it is something else."""
        if self._function is defaultdict and len(self._arguments) == 1:
            inner = _factory_of(*self._arguments)
            return inner if inner is NotImplemented else lambda: PartialDict((), defaultdict, inner)
        if self._arguments:
            return NotImplemented
        return _factory_of(self._function)


def store_new(thing: Any, key: Any, kind: Any) -> None:
    """``thing[key] = kind()``, of a new list, set or dictionary that is empty."""
    kind = _named(kind)
    if type(thing) is not PartialDict or not any(kind is one for one in _NAMES.values()):
        set_item(call(kind), thing, key)
        return
    keys = keys_of(key)
    if surely_absent(is_there(thing, keys, key)):
        done(set_default, thing, keys, _FACTORIES[kind])
    elif len(keys) > 1 or is_open(keys[0][0]):
        cannot("gets what may be for several keys")
    else:
        done(store, thing, key, _FACTORIES[kind]())


def set_default_of(thing: Any, key: Any, kind: Any) -> Any:
    """``thing.setdefault(key, kind())``, of a new list, set or dictionary that is empty."""
    trial = current()
    kind = _named(kind)
    if type(thing) is not PartialDict or not any(kind is one for one in _NAMES.values()):
        if trial is not None and not trial.dicts and (is_traced(key) or trial.frames):
            trial.wants_dicts = True
        return call(attribute(thing, "setdefault"), key, call(kind))
    factory = _FACTORIES[kind]
    keys = keys_of(key)
    done(set_default, thing, keys, factory)
    return value_of(thing, key, keys)


def in_order(things: Any) -> Any:
    """What is read where something is called of each item, which may tell the order."""
    if type(things) is PartialSet:
        cannot("is read in the order of its hashes")
    return things


# --- comprehensions -----------------------------------------------------------------------------------------------


def collected(kind: Any, given: Sequence[Any], tests: Sequence[Any]) -> Any:
    """A dictionary of pairs, a set, or a Counter, of what passes."""
    keys = [one[0] for one in given] if kind is dict and all(type(one) is tuple for one in given) else list(given)
    if BoolTracer not in map(type, tests) and not has_traced_keys(keys):
        for key in keys:
            as_key(key)
        return born(kind(given))
    return done(_collected, kind, partial(given, tests))


def _collected(kind: Any, found: PartialList) -> Any:
    if kind is set:
        return born(set_of(found))
    thing = PartialDict((), kind)
    if kind is Counter:
        counted(thing, entries_of(found))
    else:
        updated(thing, found)
    return born(thing)
