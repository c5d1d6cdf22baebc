"""Objects in arms: an arm may make those of classes that only store what they are given, and compute with them."""

from __future__ import annotations

import abc
import collections
import dataclasses
import functools
import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....engine import Value
from ...guards.libraries import is_library
from ...tracing.float_tracer import FloatTracer
from ..conversions import Site
from ..tracers.frozen_list import FrozenList
from ..trial import current, once, refuse

__all__ = [
    "attributes_of",
    "fields_of",
    "is_of_plain_class",
    "is_plain",
    "is_quiet",
    "is_record",
    "is_still_tuple",
    "is_told_apart",
    "made_of_parts",
    "method_of",
    "of_class",
    "own_class",
    "parts_differ",
    "parts_of",
]

_FACTORIES = (list, dict, tuple, set, dataclasses.MISSING)


@once
def of_class(kind: type, name: str) -> Any:
    """What a class has under a name, without running code of the user's; None if nothing."""
    return inspect.getattr_static(kind, name, None)


def has_method(kind: type, name: str) -> bool:
    """Whether the objects of a class have a special method, whatever the class has of its own class."""
    return any(name in vars(base) for base in kind.__mro__)


@once
def is_of_plain_class(kind: type) -> bool:
    """Whether objects of a user's class are made by its own ``__init__``, or by none, and nothing else."""
    made: Any = kind
    return (
        type(kind) in (type, abc.ABCMeta)
        and not inspect.isabstract(kind)
        and not is_library(kind.__module__)
        and made.__new__ is object.__new__
        and made.__setattr__ is object.__setattr__
        and isinstance(made.__init__, (types.FunctionType, types.WrapperDescriptorType))
        and not hasattr(kind, "__del__")
    )


@once
def is_record(kind: type) -> bool:
    """Whether to make an object of a class does nothing but store its fields: a named tuple's, or a dataclass's."""
    return _is_named_tuple(kind) or _is_dataclass(kind)


@once
def is_still_tuple(kind: type) -> bool:
    """Whether a class is a named tuple's without special methods of the user's."""
    return _is_named_tuple(kind) and is_quiet(kind)


@once
def is_quiet(kind: type) -> bool:
    """Whether no code of the user's runs when objects of a class are compared, hashed, counted, read or tested."""
    return not any(
        name.startswith("__") and name not in _HARMLESS and _runs_code(found) and not _is_written(found)
        for base in kind.__mro__
        if not is_library(base.__module__)
        for name, found in vars(base).items()
    )


def _runs_code(found: Any) -> bool:
    """Whether what a class has under the name of a special method is code of the user's."""
    still = (types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType, type)
    return (callable(found) or hasattr(type(found), "__get__")) and not isinstance(found, still)


_HARMLESS = frozenset(
    {
        *("__init__", "__new__", "__post_init__", "__init_subclass__", "__class_getitem__", "__repr__", "__str__"),
        *("__getnewargs__", "__getstate__", "__setstate__", "__reduce__", "__format__", "__replace__", "__doc__"),
    }
)


def is_plain(thing: Any, depth: int = 4) -> bool:
    """Whether a thing is quiet, and what it holds, if it is a list, a dictionary, a record or the like."""
    kind = type(thing)
    if kind in _NUMBERS:
        return True
    if kind in _HOLDERS:
        held = list(thing)
    elif kind in _DICTIONARIES:
        held = [*thing, *thing.values()]
    elif kind is slice:
        held = [thing.start, thing.stop, thing.step]
    elif not is_quiet(kind) or not is_record(kind):
        return is_quiet(kind)
    else:
        held = (
            list(thing) if issubclass(kind, tuple) else list(vars(thing).values()) if hasattr(thing, "__dict__") else []
        )
    if _NUMBERS.issuperset(map(type, held)):
        return True
    return depth > 0 and all(is_plain(one, depth - 1) for one in held)


_NUMBERS = frozenset({Value, FloatTracer, float, int, str, bool, type(None)})
_HOLDERS = frozenset({list, tuple, set, frozenset, collections.deque, FrozenList})
_DICTIONARIES = frozenset({dict, collections.defaultdict, collections.OrderedDict})


def _caches(kind: type) -> bool:
    found = (one for base in kind.__mro__ if not is_library(base.__module__) for one in vars(base).values())
    return any(isinstance(one, functools.cached_property) for one in found)


def fields_of(thing: Any) -> Sequence[str] | None:
    """The fields of a record that cannot change, with which another one is made; None of anything else."""
    kind: Any = type(thing)
    if not is_record(kind):
        return None
    if _is_named_tuple(kind):
        return tuple(kind._fields)
    fields = dataclasses.fields(kind)
    is_whole = kind.__dataclass_params__.frozen and all(one.init for one in fields)
    is_whole &= kind.__eq__ is not object.__eq__  # which tells a copy from the original
    is_whole &= "__dataclass_params__" in vars(kind) and not _caches(kind)
    is_whole &= vars(thing).keys() <= {one.name for one in fields} if hasattr(thing, "__dict__") else True
    return [one.name for one in fields] if is_whole else None


def parts_of(thing: Any) -> dict[str, Any] | None:
    """The attributes of an object of a user's class, of which another one can be made; None of another thing."""
    if not _has_parts(own_class(thing)):
        return None
    slots = (name for base in own_class(thing).__mro__ for name in _slots_of(base) if hasattr(thing, name))
    return {**{name: getattr(thing, name) for name in slots}, **getattr(thing, "__dict__", {})}


def attributes_of(kind: Any, parts: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The names of what there is of an object with these parts, in its class, too, and those of methods."""
    of_kind, methods = _names_in(kind)
    return of_kind.union(parts), methods


@once
def _names_in(kind: type) -> tuple[frozenset[str], frozenset[str]]:
    found = _what_is_in(kind)
    return frozenset(found), frozenset(name for name, one in found.items() if type(one) is types.FunctionType)


def _what_is_in(kind: type) -> dict[str, Any]:
    return {name: one for base in kind.__mro__[-2::-1] for name, one in vars(base).items()}


def own_class(thing: Any) -> Any:
    """The class of an object, also of one that ``made_of_parts`` has made."""
    return vars(type(thing)).get("_rg_class", type(thing))


def made_of_parts(kind: Any, parts: Mapping[str, Any], site: Site) -> Any:
    """An object that stands for one of two, which have been chosen part by part.

    It is neither, so that the trace is thrown away where something tells which one it is: the next trace makes none on
    that line.
    """
    thing: Any = object.__new__(_standing_for(kind))
    for name, part in {**parts, "_rg_site": site}.items():
        object.__setattr__(thing, name, part)
    return thing


def is_told_apart(thing: Any) -> bool:
    """Whether a thing was made for one of two, and is asked which object it is: the next trace makes none there."""
    trial = current()
    if trial is None or "_rg_class" not in vars(type(thing)):
        return False
    trial.newly_told_apart.add(thing._rg_site)
    return True


def parts_differ(thing: Any, parts: Mapping[str, Any]) -> bool:
    """Whether an object has other parts than it had."""
    now = parts_of(thing) or {}
    return now.keys() != parts.keys() or any(now[name] is not part for name, part in parts.items())


def _slots_of(kind: Any) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return tuple(name for name in ((slots,) if isinstance(slots, str) else slots) if not name.startswith("__"))


@once
def _has_parts(kind: type) -> bool:
    """Whether an object of a class is its attributes, and what its methods make of them."""
    made: Any = kind
    bases = [one for one in made.__mro__ if one not in (object, abc.ABC)]
    return (
        is_of_plain_class(kind)
        and not any(is_library(one.__module__) for one in bases)
        and not any("__init_subclass__" in vars(one) or "__getattr__" in vars(one) for one in bases)
        and made.__getattribute__ is object.__getattribute__
        and not _caches(kind)
        and not any(
            hasattr(one, "__set_name__") and not is_library(type(one).__module__) for one in _what_is_in(kind).values()
        )
    )


@once
def _standing_for(kind: type) -> type:
    """A class that has what another one has, and is none of its subclasses, which anyone may ask for."""

    def told(self: Any, *other: Any) -> Any:
        trial = current()
        if trial is not None:
            trial.newly_told_apart.add(getattr(self, "_rg_site", ("", 0)))
            trial.breaks()
        raise TypeError(f"a {kind.__name__} that decisions choose cannot tell which one it is, nor be changed")

    def copied(self: Any) -> Any:
        return made_of_parts(kind, parts_of(self) or {}, self._rg_site)

    names = {name: _of_class(one, kind) for name, one in _what_is_in(kind).items() if name not in _OF_INSTANCES}
    names = {name: one for name, one in names.items() if not isinstance(one, types.MemberDescriptorType)}
    found = {name: inspect.getattr_static(kind, name, None) for name in _TELLING}
    names |= dict.fromkeys((name for name, one in found.items() if name in _COMPARING or _is_pythons(one)), told)
    names |= {} if has_method(kind, "__copy__") else {"__copy__": copied}
    own = {"__slots__": ("_rg_site", "__dict__", "__weakref__"), "__class__": property(lambda self: kind)}
    return type(kind.__name__, (), {**names, **own, "_rg_class": kind})


def _of_class(thing: Any, kind: type) -> Any:
    """A class method as one of that class."""
    return staticmethod(functools.partial(thing.__func__, kind)) if isinstance(thing, classmethod) else thing


def _is_pythons(method: Any) -> bool:
    """Whether a method is none of the user's: it tells an object by its place in memory, or what it is made of."""
    return _is_written(method) or isinstance(method, (types.WrapperDescriptorType, types.MethodDescriptorType))


#: What a class has for the sake of its own objects, or of its own class.
_OF_INSTANCES = frozenset({"__dict__", "__weakref__", "__slots__", "__abstractmethods__", "_abc_impl"})
_COMPARING = frozenset({"__eq__", "__ne__", "__hash__"})
_TELLING = (
    *(*sorted(_COMPARING), "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__str__", "__format__"),
    *("__reduce__", "__reduce_ex__", "__deepcopy__", "__getstate__", "__sizeof__", "__setattr__", "__delattr__"),
)


def method_of(thing: Any, name: str) -> types.MethodType | None:
    """A special method that the user's class of a thing defines in Python; None if it has no such method.

    Raises:
        NotAnArmError: it has one of another kind.
    """
    found = of_class(type(thing), name)
    if found is None:
        return None
    if not isinstance(found, types.FunctionType) or is_library(found.__globals__.get("__name__")):
        raise refuse(f"computes with a {type(thing).__name__}")
    return types.MethodType(found, thing)


def _is_named_tuple(kind: Any) -> bool:
    made = vars(kind).get("__new__") if kind.__bases__ == (tuple,) and "_fields" in vars(kind) else None
    function = made.__func__ if isinstance(made, staticmethod) else made
    return isinstance(function, types.FunctionType) and function.__code__.co_filename.startswith("<")


def _is_dataclass(kind: Any) -> bool:
    if type(kind) is not type or not dataclasses.is_dataclass(kind) or kind.__new__ is not object.__new__:
        return False
    if not _is_written(kind.__init__) or hasattr(kind, "__post_init__") or hasattr(kind, "__del__"):
        return False
    if kind.__setattr__ is not object.__setattr__ and not _is_written(kind.__setattr__):  # of a frozen one
        return False
    fields = dataclasses.fields(kind)
    found = [type(inspect.getattr_static(kind, one.name, None)) for one in fields]
    runs_code = any(hasattr(one, "__set__") and one is not types.MemberDescriptorType for one in found)
    return not runs_code and all(any(one.default_factory is each for each in _FACTORIES) for one in fields)


def _is_written(function: Any) -> bool:
    """Whether ``@dataclass`` wrote a method."""
    return isinstance(function, types.FunctionType) and function.__code__.co_filename == "<string>"
