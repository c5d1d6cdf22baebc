"""What a function can reach beside its arguments: the places where it finds what it computes with.

They are the variables that it closes over or names, and what lists, dictionaries and objects hold there, outermost
first. Of long lists of numbers, which are data, only the length counts. Not entered: arrays, and what libraries keep
for themselves; of sets and deques only the size counts.
"""

from __future__ import annotations

import argparse
import functools
import sys
import types
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

from ..engine import Value
from ..index import Index

__all__ = ["Key", "Place", "Reach"]

#: A place as native/compiler/captured.hpp reads it.
Place = tuple[str, Any, Any]
#: What tells a place from others: the address of what it is in, and the name there.
Key = tuple[int, Any]

#: Things in places, at most: beyond them nothing is looked at.
LIMIT = 200_000

#: A longer list, or dictionary, that begins with so many numbers, or lists of numbers, is data.
_DATA = 256

#: What nothing is behind that may change, and modules, of which only the names that functions use are looked at.
_ENDS = frozenset({float, int, bool, str, bytes, complex, type(None), types.ModuleType, Index, Value})
_LIBRARIES = (sys.stdlib_module_names | {"numpy", "retrograd"}) - {"__main__"}
#: Libraries' classes whose instances hold what users put there.
_OPEN = (types.SimpleNamespace, argparse.Namespace)
_METHODS = (staticmethod, classmethod, functools.cached_property, property)


class Reach:
    """The places that can be reached from some objects, breadth first, and how a user would write each of them."""

    def __init__(self, roots: Sequence[tuple[Any, str]], ignored: Mapping[Key, Any] = MappingProxyType({})) -> None:
        self.places: list[Place] = []
        self.paths: list[str] = []
        self.names: set[str] = set()  #: in the code of the functions that are reached
        self.leaves: list[Value] = []
        self._ignored = ignored
        self._seen: set[int] = set()
        self._open: dict[type, bool] = {}
        self._queue: deque[tuple[Any, str, bool]] = deque()
        self._things = 0
        for root in roots:
            self._ahead(*root, own=True)
        while self._queue and self._things < LIMIT:
            self._visit(*self._queue.popleft())

    def _place(self, kind: str, thing: Any, name: Any, path: str) -> None:
        if (id(thing), name) not in self._ignored:
            self.places.append((kind, thing, name))
            self.paths.append(path)
        self._things += 1

    def _ahead(self, thing: Any, path: str, own: bool = False) -> None:
        """Visit it later. What is the user's ``own`` is looked into though its class be a library's."""
        if type(thing) is Value:
            self.leaves.append(thing)
        elif type(thing) not in _ENDS and id(thing) not in self._seen:
            self._seen.add(id(thing))
            self._queue.append((thing, path, own))

    def _visit(self, thing: Any, path: str, own: bool) -> None:
        if isinstance(thing, (list, tuple)):
            self._sequence(thing, path)
        elif isinstance(thing, dict):
            self._place("size", thing, None, path)
            if not _is_data(dict.values(thing)):
                for key, item in list(dict.items(thing)):
                    shown = repr(key) if type(key) in _ENDS else "…"
                    self._entry(thing, key, item, f"{path}[{shown}]")
        elif isinstance(thing, (set, frozenset)) or type(thing) is deque:
            self._place("size", thing, None, path)
            for item in list(thing):
                self._ahead(item, f"an element of {path}")
        elif isinstance(thing, types.FunctionType):
            if own or not _of_a_library(thing):
                self._function(thing)
        elif isinstance(thing, types.MethodType):
            self._ahead(thing.__self__, "self", own)
            self._ahead(thing.__func__, path, own)
        elif isinstance(thing, functools._lru_cache_wrapper):
            self._ahead(thing.__wrapped__, path)
        elif isinstance(thing, functools.partial):
            for part in (thing.func, thing.args, thing.keywords):
                self._ahead(part, path)
        elif isinstance(thing, type):
            self._class(thing)
        elif hasattr(type(thing), "scalar_function"):  # a compiled function
            self._ahead(thing.scalar_function, path)
        elif own or self._is_open(type(thing)):
            self._instance(thing, path)

    def _sequence(self, thing: list[Any] | tuple[Any, ...], path: str) -> None:
        data = _is_data(thing)
        if isinstance(thing, list):
            self._place("size" if data else "items", thing, None, path)
        if data:
            return
        self._things += len(thing)
        kinds = set(map(type, thing))
        if kinds == {Value}:
            self.leaves.extend(thing)
        elif not kinds <= _ENDS:
            for i, item in enumerate(thing):
                self._ahead(item, f"{path}[{i}]")

    def _entry(self, namespace: dict[Any, Any], name: Any, item: Any, path: str) -> None:
        self._place("entry", namespace, name, path)
        self._ahead(item, path)

    def _function(self, function: types.FunctionType) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._place("cell", cell, None, name)
            for content in _contents(cell):
                self._ahead(content, name)
        names = set(_names(function.__code__))
        self.names |= names
        for name in sorted(names & function.__globals__.keys()):
            found = function.__globals__[name]
            self._entry(function.__globals__, name, found, name)
            if isinstance(found, types.ModuleType) and not _is_library(found.__name__):
                inside = vars(found)
                for inner in sorted(names & inside.keys()):
                    self._entry(inside, inner, inside[inner], f"{name}.{inner}")
        self._ahead(function.__defaults__, f"the defaults of {function.__name__}")
        self._ahead(function.__kwdefaults__, f"the defaults of {function.__name__}")

    def _class(self, kind: type) -> None:
        """Its methods, and what instances share."""
        if _of_a_library(kind):
            return
        for name, item in list(vars(kind).items()):
            path = f"{kind.__name__}.{name}"
            if isinstance(item, types.FunctionType):
                self._ahead(item, path)
            elif isinstance(item, _METHODS):
                self._ahead(getattr(item, "fget", None) or getattr(item, "__wrapped__", None), path)
            elif not name.startswith("__") and not isinstance(item, types.MemberDescriptorType):
                self._place("shared", kind, name, path)
                self._ahead(item, path)
        for base in kind.__bases__:
            self._ahead(base, base.__name__)

    def _is_open(self, kind: type) -> bool:
        """Whether instances of a class are looked into: those of users' classes, and modules, as tree.py knows them."""
        if kind not in self._open:
            module = callable(getattr(kind, "parameters", None))
            self._open[kind] = module or issubclass(kind, _OPEN) or not _of_a_library(kind)
        return self._open[kind]

    def _instance(self, thing: Any, path: str) -> None:
        for attributes in _attributes(thing):
            self._place("size", attributes, None, path)
            for name, item in list(attributes.items()):
                self._entry(attributes, name, item, f"{path}.{name}")
        for slot in _slots(type(thing)):
            self._place("slot", thing, slot, f"{path}.{slot.__name__}")
            for item in _content(slot, thing):
                self._ahead(item, f"{path}.{slot.__name__}")
        self._ahead(type(thing), type(thing).__name__)


def _attributes(thing: Any) -> tuple[dict[str, Any], ...]:
    try:
        attributes = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return ()
    return (attributes,) if type(attributes) is dict else ()


def _slots(kind: type) -> list[types.MemberDescriptorType]:
    """The slots that users' classes give their instances."""
    return [
        member
        for base in kind.__mro__
        if not _of_a_library(base)
        for member in vars(base).values()
        if isinstance(member, types.MemberDescriptorType)
    ]


def _content(slot: types.MemberDescriptorType, thing: Any) -> tuple[Any, ...]:
    try:
        return (slot.__get__(thing),)
    except AttributeError:  # nothing was assigned yet
        return ()


def _is_data(items: Collection[Any], first: int = _DATA) -> bool:
    """Whether there are more than ``first`` items, and so many of them are numbers, or have nothing but numbers."""
    if len(items) <= _DATA and first == _DATA:
        return False
    return all(
        (type(item) in _ENDS and type(item) is not Value) or (isinstance(item, (list, tuple)) and _is_data(item, 16))
        for item in islice(items, first)
    )


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that code and the code in it use: globals, and attributes of modules."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _contents(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # nothing was assigned yet
        return ()


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES


def _of_a_library(thing: Any) -> bool:
    return _is_library(getattr(thing, "__module__", None) or "builtins")
