"""What a function can reach beside its arguments: the places where it finds what it computes with.

They are the variables that it closes over or names, and what lists, dictionaries, sets, arrays, objects, classes and
modules hold there, outermost first. Of objects, classes and modules those attributes count whose names occur in the
code that is reached (all of them where it uses ``getattr`` or the like). Numbers in containers and arrays are data: up
to 64 KB of them are places, and what is beyond that is frozen. Of libraries' objects numbers and arrays are places, and
nothing else that they keep for themselves.
"""

from __future__ import annotations

import collections
import contextvars
import functools
import gc
import operator
import random
import threading
import types
import weakref
from collections import deque
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..bytecode import TALKS, are_numbers
from ..libraries import READERS, is_library, moves_on, of_a_library
from .classes import NAMESPACES, Kind
from .code import Code
from .containers import BUFFERS, Containers
from .contents import contents_of_cell, has_buffer, open_results
from .frontier import Frontier
from .library_objects import LibraryObjects
from .objects import Objects
from .used_names import READING

__all__ = ["GENERATORS", "Reach"]

#: These, and others whose instances are looked into.
_OPEN = (*NAMESPACES, collections.UserDict, collections.UserList, collections.ChainMap, np.vectorize)
#: What a dictionary's keys, values and items are seen through.
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
#: What holds a function or a class.
_WRAPPERS = (staticmethod, classmethod, property, super, types.GenericAlias, type(functools.cmp_to_key(max)), np.ufunc)
#: What functions of ``singledispatch`` run.
_DISPATCHES = functools.singledispatch(max).__code__  # type: ignore[attr-defined]
#: What draws random numbers; its state changes when it does.
GENERATORS = (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)


class Reach(Frontier):
    """The places that can be reached from some objects, breadth first.

    Attributes:
        generators: of random numbers.
    """

    def __init__(self, roots: Sequence[tuple[Any, str]]) -> None:
        super().__init__()
        self.generators: list[Any] = []
        self._containers = Containers(self)
        self._library_objects = LibraryObjects(self, self._containers)
        self._objects = Objects(self)
        self._code = Code(self, self._objects)
        self._open: set[type] = set()  # of whose instances attributes alone are looked at
        for thing, path in roots:
            self.ahead(thing, path, own=not _is_transform(thing))
        self._referents: list[tuple[weakref.ref[Any], str]] = []
        self.visit_all(self._visit)
        for reference, path in self._referents:  # what a place holds lives on, and the reference would not go
            if (referent := reference()) is not None and not self.is_seen(referent):
                self.refuse(f"reads {path}, a weak reference, and nothing else that it reads keeps that object")
        self._code.built_in_names()

    @property
    def kinds(self) -> dict[type, Kind]:
        """The classes of the objects that are looked into."""
        return self._objects.kinds

    @property
    def caches(self) -> list[tuple[Any, list[Any]]]:
        """Those of ``lru_cache``, with their results that may change."""
        return self._library_objects.caches

    def has_new_results(self) -> bool:
        """Whether a cache has got results that may change."""
        return any([*map(id, open_results(cached))] != [*map(id, before)] for cached, before in self.caches)

    def has_other_names(self) -> bool:
        """Whether a module, an object or a cache has other things than it had, of which places may be needed."""
        return self._objects.have_other_names() or self._code.has_other_names() or self.has_new_results()

    def added(self) -> str:
        """An attribute that something was given since, as users write it; "" if none was."""
        return self._objects.added()

    def line_of(self, path: str) -> str:
        """The line at which code that is reached changes a place, as far as it can be told: an assignment, or a use."""
        return self._code.line_of(path)

    def _visit(self, thing: Any, path: str, own: bool) -> None:
        kind = type(thing)  # and not what __class__ says
        if kind is list or kind is tuple:  # most things are
            self._containers.sequence(thing, path)
            return
        if kind in self._open:
            self._objects.instance(thing, path)
            return
        if issubclass(kind, BUFFERS):
            self._containers.buffer(thing, path)
            if kind not in BUFFERS:  # a class with attributes of its own
                self._objects.instance(thing, path)
            return
        if id(thing) in READING:  # under another name
            self.uses(READERS & {"getattr"})
        if self._is_container(thing, path) or self._holds_something(thing, path):
            pass
        elif kind is types.FunctionType:
            self._function(thing, path, own)
            return
        elif kind is types.MethodType:
            self.ahead(thing.__self__, "self", own)
            self.ahead(thing.__func__, path, own)
        elif kind is types.ModuleType:
            if not is_library(thing.__name__):
                self._code.module(thing, path)
        elif issubclass(kind, type):
            self._class(thing, path)
        elif "scalar_function" in vars(kind):  # a compiled function
            self.ahead(thing.scalar_function, path)
        elif own or _is_open(kind):
            self._open |= set() if own else {kind}
            self._objects.instance(thing, path)
            if own and not _is_open(kind):
                self._library_objects.numbers(thing, path)
            return
        else:
            self._library_objects.numbers(thing, path)
        if kind.__module__ != "builtins" and not of_a_library(kind):  # a container with attributes
            self._objects.instance(thing, path)
        elif kind.__dictoffset__ and not issubclass(kind, (type, types.ModuleType)):
            self._library_objects.attributes(thing, path)
            if issubclass(kind, (dict, list, set)):
                self._library_objects.numbers(thing, path)

    def _is_container(self, thing: Any, path: str) -> bool:
        kind = type(thing)
        if issubclass(kind, (list, tuple)):
            self._containers.sequence(thing, path)
        elif issubclass(kind, dict):
            self._containers.dictionary(thing, path)
        elif issubclass(kind, (set, frozenset, deque)):
            self._containers.elements(thing, path)
        elif has_buffer(thing):  # an array of ctypes
            self._containers.buffer(thing, path)
        else:
            return False
        return True

    def _function(self, thing: types.FunctionType, path: str, own: bool) -> None:
        if own or not is_library(thing.__globals__.get("__name__")):
            self._code.function(thing, path)
            return
        if thing.__code__ is _DISPATCHES and any(map(are_numbers, {*vars(thing)["registry"]} - {object})):
            self.asks_kinds = self.asks_types = True
        # A library's wrapper around what may be the user's: @rg.no_grad(), rg.grad(f), @rg.primitive(…).
        for content in chain.from_iterable(map(contents_of_cell, thing.__closure__ or ())):
            if type(content) is not weakref.WeakKeyDictionary:  # singledispatch remembers classes in one
                self.ahead(content, path)
        self._library_objects.attributes(thing, path)

    def _class(self, thing: type, path: str) -> None:
        if of_a_library(thing):
            return
        self._objects.shared(thing, path)
        self._objects.makers(thing, path)  # the class itself: it may be called
        for base in thing.__mro__[1:]:
            if not of_a_library(base):
                self.used.when_used("super", functools.partial(self._objects.makers, base, base.__name__))

    def _holds_something(self, thing: Any, path: str) -> bool:
        """Whether it is neither a container nor the user's, and yet leads on, or cannot be compared."""
        kind = type(thing)
        if issubclass(kind, GENERATORS):
            if not issubclass(kind, random.SystemRandom):  # which has no state
                self.generators.append(thing)
        elif issubclass(kind, weakref.ref):
            self.places.add("referent", thing, None, path)
            self._referents.append((thing, path))
        elif kind.__name__.startswith("Weak") and kind.__module__ in ("weakref", "_weakrefset"):
            self.refuse(f"reads {path}, a weak container, whose items may go at any time")
        elif kind in weakref.ProxyTypes:
            self.refuse(f"reads {path}, a weak proxy")
        elif kind is types.MappingProxyType:
            for hidden in gc.get_referents(thing):
                self.ahead(hidden, path)
        elif kind in (types.BuiltinMethodType, types.MethodWrapperType):  # d.get, a.sum, l.__getitem__
            if type(thing.__self__) is not types.ModuleType:
                self.ahead(thing.__self__, f"what {path} is a method of")
        elif issubclass(kind, _VIEWS):
            self.ahead(thing.mapping, path)
        elif issubclass(kind, _WRAPPERS):
            for part in gc.get_referents(thing):
                self.ahead(part, path)
        elif kind is contextvars.ContextVar or issubclass(kind, threading.local):
            self.refuse(f"reads {path}, which is another in each context or thread")
        elif any(map(moves_on, kind.__mro__)):
            self.refuse(f"reads {path}, an iterator or a queue, which moves on")
        else:
            return self._calls_something(thing, path)
        return True

    def _calls_something(self, thing: Any, path: str) -> bool:
        """Whether it is made by ``functools`` or ``operator``, and calls or reads what it was given."""
        kind = type(thing)
        if kind is functools._lru_cache_wrapper:
            self.asks_types = True  # it keeps what it is called with
            self.ahead(thing.__wrapped__, path)
            self._library_objects.cache(thing, path)
        elif kind is functools.singledispatchmethod:
            self.ahead(thing.dispatcher, path)
        elif issubclass(kind, (functools.partial, functools.partialmethod)):
            for part in (thing.func, thing.args, thing.keywords):
                self.ahead(part, path)
            if thing.func in TALKS:
                self.refuse(f"calls {thing.func.__name__}() through {path}")
        elif kind is operator.attrgetter:
            self.uses({part for name in thing.__reduce__()[1] for part in name.split(".")})
        elif kind is operator.methodcaller:
            for part in gc.get_referents(thing):  # the name, and arguments
                self.uses({part} if type(part) is str else ())
                self.ahead(part, path)
        else:
            return False
        return True


def _is_open(kind: type) -> bool:
    """Whether instances of a class are looked into: those of users' classes, and modules, as tree.py knows them."""
    return issubclass(kind, _OPEN) or not of_a_library(kind) or callable(getattr(kind, "parameters", None))


def _is_transform(thing: Any) -> bool:
    """Whether a transform made a function: its own variables never change, those of the function inside it may."""
    module = thing.__globals__.get("__name__") if type(thing) is types.FunctionType else None
    return type(module) is str and module.startswith("retrograd.autodiff.")
