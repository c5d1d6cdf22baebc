"""What a function can reach beside its arguments: the places where it finds what it computes with.

They are the variables that it closes over or names, and what lists, dictionaries, sets, arrays, objects, classes and
modules hold there, outermost first. Of objects, classes and modules those attributes count whose names occur in the
code that is reached (all of them where it uses ``getattr`` or the like). Numbers in containers and arrays are data: up
to 64 KB of them are places, and what is beyond that is frozen. Of libraries' objects numbers and arrays are places, and
nothing else that they keep for themselves.
"""

from __future__ import annotations

import builtins
import collections
import contextvars
import dis
import functools
import gc
import operator
import random
import sys
import threading
import types
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, islice
from typing import Any, cast

import numpy as np

from .bytecode import (
    IDENTITY,
    NUMBERS,
    TALKS,
    TYPES,
    asked_for,
    asks_for_numbers,
    assigned,
    catches_missing,
    codes_of,
    compares_objects,
    compares_types,
    global_names,
    handed_on,
    is_of_dataclass,
    line_that_changes,
    method_that_is_asked_for,
    reached_by_name,
)
from .classes import (
    MAKERS,
    METHODS,
    NAMESPACES,
    Kind,
    dictionary_of,
    names_of_libraries,
    shared_names,
    users_namespaces,
)
from .contents import attributes_of, content_of_slot, contents_of_cell, has_buffer, open_results, results_of
from .data import ENDS, are_rows_of_ends, holds_numbers, is_data, is_number_or_array, is_read_only, weighed
from .libraries import READERS, are_of_one_package, inherited_names, is_library, is_users, moves_on, of_a_library
from .used_names import READING, UsedNames

__all__ = ["DATA_LIMIT", "GENERATORS", "Place", "Reach"]

#: A place as native/compiler/guards/state_guards.hpp reads it.
Place = tuple[str, Any, Any]

#: Things in places, at most: beyond them nothing is looked at.
LIMIT = 200_000

#: Bytes of data that calls compare, at most: 8 an item, and 64 a container.
DATA_LIMIT = 64 * 1024

#: These, and others whose instances are looked into.
_OPEN = (*NAMESPACES, collections.UserDict, collections.UserList, collections.ChainMap, np.vectorize)
#: Names in code that may read any variable, of which no place knows.
_ANY_VARIABLE = frozenset({"globals", "locals", "eval", "exec"})
#: What a dictionary's keys, values and items are seen through.
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
#: What holds a function or a class.
_WRAPPERS = (staticmethod, classmethod, property, super, types.GenericAlias, type(functools.cmp_to_key(max)), np.ufunc)
#: Containers of numbers that have a buffer.
_BUFFERS = (np.ndarray, array, bytearray, memoryview)
#: What draws random numbers; its state changes when it does.
GENERATORS = (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]
_LONGEST_PATH = 120
_MOST_RESULTS = 1000


class Reach:
    """The places that can be reached from some objects, breadth first, and how a user would write each of them."""

    def __init__(self, roots: Sequence[tuple[Any, str]]) -> None:
        self.places: list[Place] = []
        self.paths: list[str] = []
        self.frozen: list[str] = []  #: the paths of data that no call compares, because there is too much of it
        self.generators: list[Any] = []  #: of random numbers
        #: What a function that is reached does, and no program can, as a sentence without a dot.
        self.graph_break: str = ""
        self.tests_identity: bool = False  #: code that is reached may ask which object a Value is
        self.asks_kinds: bool = False  #: code that is reached may ask whether something is a Value or a plain number
        self.asks_types: bool = False  #: or its type, or which methods that has
        self.asks_missing: bool = False  #: code that is reached asks for attributes that may be missing
        self._seen: set[int] = set()
        self._placed: set[tuple[int, Any]] = set()
        self._queue: deque[tuple[Any, str, bool]] = deque()
        self._used = UsedNames()
        self._modules: list[tuple[dict[str, Any], str]] = []
        self._classes: list[tuple[type, str]] = []
        self._namespaces: list[tuple[Mapping[str, Any], int]] = []  # of modules, and how many variables they had
        self._built_in: list[tuple[dict[str, Any], str]] = []  # and where a global of that name would hide it
        self._codes: list[types.CodeType] = []
        self.kinds: dict[type, Kind] = {}  #: of the objects that are looked into
        self._open: set[type] = set()  # of whose instances attributes alone are looked at
        self.caches: list[tuple[Any, list[Any]]] = []  #: with their results that may change
        self._things = self._data = 0
        self._weighed: set[int] = set()  # containers of data for which there is room
        self._names: list[tuple[Mapping[str, Any], tuple[str, ...], str]] = []  # the attributes of an object or a class
        for thing, path in roots:
            self._ahead(thing, path, own=not _is_transform(thing))
        while self._queue and self._things < LIMIT:
            _if_it_lets(self._visit, *self._queue.popleft())
        if self._queue:
            self.frozen.append(f"{self._queue[0][1]}, after {LIMIT:,} others,")
        for namespace, name in self._built_in:  # the last to be looked at
            self._named(namespace, name, name)

    def has_new_results(self) -> bool:
        """Whether a cache has got results that may change."""
        return any([*map(id, open_results(cached))] != [*map(id, before)] for cached, before in self.caches)

    def has_other_names(self) -> bool:
        """Whether a module, an object or a cache has other things than it had, of which places may be needed."""
        objects = any(tuple(now) != before for now, before, _ in self._names)
        return objects or any(len(now) != before for now, before in self._namespaces) or self.has_new_results()

    def added(self) -> str:
        """An attribute that something was given since, as users write it; "" if none was."""
        grown = ((path, list(now)[len(before)]) for now, before, path in self._names if len(now) > len(before))
        return next((f"{path}.{name}" for path, name in grown if not name.startswith("__")), "")

    def line_of(self, path: str) -> str:
        """The line at which code that is reached changes a place, as far as it can be told: an assignment, or a use."""
        return line_that_changes(self._codes, path)

    def _place(self, kind: str, thing: Any, name: Any, path: str) -> None:
        self.places.append((kind, thing, name))
        self.paths.append(path)
        self._things += 1

    def _ahead(self, thing: Any, path: str, own: bool = False) -> None:
        """Visit it later. What is the user's ``own`` is looked into though its class be a library's."""
        if type(thing) not in ENDS and id(thing) not in self._seen:
            self._seen.add(id(thing))
            self._queue.append((thing, path if len(path) < _LONGEST_PATH else f"…{path[-40:]}", own))

    def _visit(self, thing: Any, path: str, own: bool) -> None:
        kind = type(thing)  # and not what __class__ says
        if kind is list or kind is tuple:  # most things are
            self._sequence(thing, path)
            return
        if kind in self._open:
            self._instance(thing, path)
            return
        if id(thing) in READING:  # under another name
            self._uses(READERS & {"getattr"})
        if issubclass(kind, (list, tuple)):
            self._sequence(thing, path)
        elif issubclass(kind, dict):
            self._dictionary(thing, path)
        elif issubclass(kind, (set, frozenset, deque)):
            self._elements(thing, path)
        elif issubclass(kind, _BUFFERS):
            self._buffer(thing, path)
            if kind not in _BUFFERS:  # a class with attributes of its own
                self._instance(thing, path)
            return
        elif issubclass(kind, GENERATORS):
            if not issubclass(kind, random.SystemRandom):  # which has no state
                self.generators.append(thing)
        elif self._special(thing, path):
            pass
        elif kind is types.FunctionType:
            if own or not is_library(thing.__globals__.get("__name__")):
                self._function(thing, path)
            else:  # a library's wrapper around what may be the user's: @rg.no_grad(), rg.grad(f), @rg.primitive(…)
                for content in chain.from_iterable(map(contents_of_cell, thing.__closure__ or ())):
                    if type(content) is not weakref.WeakKeyDictionary:  # singledispatch remembers classes in one
                        self._ahead(content, path)
                self._of_library(thing, path)
            return
        elif kind is types.MethodType:
            self._ahead(thing.__self__, "self", own)
            self._ahead(thing.__func__, path, own)
        elif kind is types.ModuleType:
            if not is_library(thing.__name__):
                self._modules.append((vars(thing), path))
                self._compare_all(vars(thing), path, "__getattr__" in vars(thing))
                self._ahead(vars(thing).get("__getattr__"), f"{path}.__getattr__")
                self._namespaces.append((vars(thing), len(vars(thing))))
                self._from_module(vars(thing), path, self._used.all)
        elif kind is functools._lru_cache_wrapper:
            self.asks_types = True  # it keeps what it is called with
            self._ahead(thing.__wrapped__, path)
            self._results(thing, path)
        elif kind is functools.singledispatchmethod:
            self._ahead(thing.dispatcher, path)
        elif issubclass(kind, (functools.partial, functools.partialmethod)):
            for part in (thing.func, thing.args, thing.keywords):
                self._ahead(part, path)
            if thing.func in TALKS:
                self._refuse(f"calls {thing.func.__name__}() through {path}")
        elif issubclass(kind, type):
            if not of_a_library(thing):
                self._shared(thing, path)
                self._makers(thing, path)  # the class itself: it may be called
                for base in thing.__mro__[1:]:
                    if not of_a_library(base):
                        self._used.when_used("super", functools.partial(self._makers, base, base.__name__))
        elif "scalar_function" in vars(kind):  # a compiled function
            self._ahead(thing.scalar_function, path)
        elif own or _is_open(kind):
            self._open |= set() if own else {kind}
            self._instance(thing, path)
            return
        else:
            self._numbers(thing, path)
        if kind.__module__ != "builtins" and not of_a_library(kind):  # a container with attributes
            self._instance(thing, path)
        elif kind.__dictoffset__ and not issubclass(kind, (type, types.ModuleType)):
            self._of_library(thing, path)

    def _of_library(self, thing: Any, path: str) -> None:
        """Attributes of what is a library's: those that code names, and those that are the user's."""
        for attributes in attributes_of(thing):
            for name, item in list(attributes.items()):
                act = functools.partial(self._named, attributes, name, f"{path}.{name}")
                act() if is_users(item) else self._used.when_named(name, act)

    # --- containers -----------------------------------------------------------------------------------

    def _compared(self, thing: Any, path: str) -> bool:
        """Whether there is room to compare a container in every call. If not, it is frozen."""
        if id(thing) in self._weighed or not is_data(thing):
            return True  # what it holds is visited, and the function reads it one by one
        size, inside = weighed(thing, DATA_LIMIT - self._data)
        if self._data + size > DATA_LIMIT:
            self.frozen.append(path)
            return False
        self._data += size
        self._weighed |= inside
        return True

    def _sequence(self, thing: list[Any] | tuple[Any, ...], path: str) -> None:
        if not self._compared(thing, path):
            return
        if isinstance(thing, list):
            self._place("items", thing, None, path)
        self._things += len(thing)
        if are_rows_of_ends(thing) and self._weighed.issuperset(map(id, thing)):
            self._seen.update(map(id, thing))
            self._things += sum(map(len, thing))
        elif not ENDS.issuperset(map(type, thing)):
            for i, item in enumerate(thing):
                self._ahead(item, f"{path}[{i}]")

    def _dictionary(self, thing: dict[Any, Any], path: str) -> None:
        if not self._compared(thing, path):
            return
        self._place("entries", thing, None, path)
        if issubclass(type(thing), collections.OrderedDict):
            self._place("elements", thing, collections.OrderedDict, path)  # its order is its own
        elif isinstance(thing, collections.defaultdict):
            self._slot(thing, cast(Any, collections.defaultdict).default_factory, f"{path}.default_factory")
        for key, item in list(dict.items(thing)):
            self._ahead(key, f"a key of {path}")
            self._ahead(item, path + _subscript(key))

    def _elements(self, thing: Collection[Any], path: str) -> None:
        if not self._compared(thing, path):
            return
        base = next(base for base in (set, frozenset, deque) if isinstance(thing, base))
        if base is not frozenset:
            self._place("elements", thing, base, path)
        for item in list(cast(Any, base).__iter__(thing)):
            self._ahead(item, f"an element of {path}")

    def _buffer(self, thing: Any, path: str) -> None:
        if isinstance(thing, np.ndarray):
            if thing.dtype == object:
                for item in thing.ravel().tolist():
                    self._ahead(item, f"an element of {path}")
            if is_read_only(thing):
                return
        try:
            size = memoryview(thing).nbytes
        except (TypeError, ValueError, BufferError):  # dates and records have no buffer
            size = DATA_LIMIT + 1
        if self._data + size > DATA_LIMIT:
            self.frozen.append(path)
            return
        self._data += size
        self._place("bytes", thing, None, path)

    def _special(self, thing: Any, path: str) -> bool:
        """What is neither a container nor the user's, and yet leads on, or cannot be compared."""
        kind = type(thing)
        if issubclass(kind, weakref.ref):
            self._place("referent", thing, None, path)
            self._ahead(thing(), path)
        elif kind.__name__.startswith("Weak") and kind.__module__ in ("weakref", "_weakrefset"):
            self._refuse(f"reads {path}, a weak container, whose items may go at any time")
        elif kind in weakref.ProxyTypes:
            self._refuse(f"reads {path}, a weak proxy")
        elif kind is types.MappingProxyType:
            for hidden in gc.get_referents(thing):
                self._ahead(hidden, path)
        elif kind in (types.BuiltinMethodType, types.MethodWrapperType):  # d.get, a.sum, l.__getitem__
            if type(thing.__self__) is not types.ModuleType:
                self._ahead(thing.__self__, f"what {path} is a method of")
        elif issubclass(kind, _VIEWS):
            self._ahead(thing.mapping, path)
        elif issubclass(kind, _WRAPPERS):
            for part in gc.get_referents(thing):
                self._ahead(part, path)
        elif has_buffer(thing):  # an array of ctypes
            self._buffer(thing, path)
        elif kind is operator.attrgetter:
            self._uses({part for name in thing.__reduce__()[1] for part in name.split(".")})
        elif kind is operator.methodcaller:
            for part in gc.get_referents(thing):  # the name, and arguments
                self._uses({part} if type(part) is str else ())
                self._ahead(part, path)
        elif kind is contextvars.ContextVar or issubclass(kind, threading.local):
            self._refuse(f"reads {path}, which is another in each context or thread")
        elif any(map(moves_on, kind.__mro__)):
            self._refuse(f"reads {path}, an iterator or a queue, which moves on")
        else:
            return False
        return True

    def _refuse(self, what: str) -> None:
        self.graph_break = self.graph_break or f"the function {what}"

    def _results(self, cached: Any, path: str) -> None:
        """The results that an ``lru_cache`` has, which it may forget, and others that it may get."""
        self.caches.append((cached, found := open_results(cached)))
        results = results_of(cached)
        for arguments in list(islice(results, _MOST_RESULTS)):
            self._named(results, arguments, f"{path}.cache_info()")
        for result in found:
            self._ahead(result, f"{path}.cache_info()")

    def _numbers(self, thing: Any, path: str, inner: bool = False) -> None:
        """The numbers and arrays that an instance of a library's class has: of a spline, or of a sparse matrix."""
        kind = type(thing)
        if callable(getattr(kind, "__dlpack__", None)):  # a tensor
            try:
                self._buffer(np.from_dlpack(thing.detach() if hasattr(thing, "detach") else thing), path)
            except (BufferError, RuntimeError, TypeError, ValueError):  # on another device, of half precision, sparse
                self._refuse(f"may read {path}, a tensor that calls cannot compare with what it was")
            return
        for attributes in attributes_of(thing):
            for name, item in list(attributes.items()):
                if is_number_or_array(item) or holds_numbers(item) or has_buffer(item):
                    self._named(attributes, name, f"{path}.{name}", inside=not holds_numbers(item) or bool(item))
                elif not inner and are_of_one_package(kind, type(item)):  # to which it may leave everything
                    self._named(attributes, name, f"{path}.{name}")
                    self._numbers(item, f"{path}.{name}", inner=True)
        for base in kind.__mro__ if kind.__module__ != "builtins" else ():
            for name, member in vars(base).items():
                if type(member) is types.MemberDescriptorType and all(
                    map(is_number_or_array, content_of_slot(member, thing))
                ):
                    self._slot(thing, member, f"{path}.{name}")

    # --- code -----------------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType, path: str) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._place("cell", cell, None, name)
            for content in contents_of_cell(cell):
                self._ahead(content, name)
        codes = list(codes_of(function.__code__))
        for code in codes:
            if "type" in code.co_names and not NUMBERS.isdisjoint(code.co_names) and compares_types(code):
                self.graph_break = self.graph_break or (
                    f"{code.co_name} asks whether type(x) is a class of numbers; write isinstance instead"
                )
            if asked := method_that_is_asked_for(code):
                self._refuse(f"asks whether something has the attribute {asked}; write isinstance instead")
            for name in handed_on(code):
                self._refuse(f"hands on {name}(), whose calls are not heard")
        self._codes.extend(codes)
        self._namespaces.append((function.__globals__, len(function.__globals__)))
        names = {name for code in codes for name in code.co_names}
        for name in sorted((names & _ANY_VARIABLE) - function.__globals__.keys()):
            self._refuse(f"calls {name}(), which may read any variable")
        if not is_of_dataclass(function.__code__):
            self.asks_kinds = self.asks_kinds or asks_for_numbers(function)
            self.asks_types |= not names.isdisjoint(TYPES)
            self.tests_identity |= compares_objects(function) or not names.isdisjoint(IDENTITY)
        if any(_MATCH_CLASS in code.co_code[::2] for code in codes):
            self.asks_types |= not names.isdisjoint(NUMBERS)  # case int():
            names.add("getattr")
        if any(map(catches_missing, codes)):
            names.add("AttributeError")
            self._ask_any()
        stored = assigned(function.__code__)
        for name in sorted(frozenset().union(*map(global_names, codes)) | (names & {"getattr"})):
            if name in function.__globals__:
                self._named(function.__globals__, name, name)
            elif hasattr(builtins, name):
                self._built_in.append((function.__globals__, name))
            else:  # which may come later
                self._named(function.__globals__, name, name)
                if name in sys.modules and name not in stored:  # imported in the function itself
                    self._ahead(sys.modules[name], name)
        if sys.version_info < (3, 14):  # a function makes this dictionary when it is first asked for: no change of it
            _ = function.__annotations__
        for outside, name in reached_by_name(codes):
            self._ahead(outside, name)
        self._place("function", function, None, path)
        self._ahead(function.__defaults__, f"the defaults of {function.__name__}")
        self._ahead(function.__kwdefaults__, f"the defaults of {function.__name__}")
        missing = self._asks(function, codes)
        self._uses(names | missing, missing)
        self._instance(function, path)

    def _asks(self, function: types.FunctionType, codes: Sequence[types.CodeType]) -> set[str]:
        """What code asks for though it be missing. Modules that it may ask for anything are looked into as a whole."""
        found = set()
        for code in codes:
            names, or_others = asked_for(code)
            found |= names
            self.asks_missing |= or_others
            if or_others:
                self._ask_any()
                contents = map(contents_of_cell, function.__closure__ or ())
                cells = dict(zip(function.__code__.co_freevars, contents, strict=True))
                named = [(name, function.__globals__.get(name)) for name in code.co_names]
                named += [(name, one) for name in code.co_freevars for one in cells.get(name, ())]
                for name, thing in named:
                    if type(thing) is types.ModuleType and not is_library(thing.__name__):
                        self._whole(vars(thing), name)
        return found

    def _uses(self, names: Collection[str], asked: Collection[str] = ()) -> None:
        """Code that uses these names can be reached; attributes that are asked for may be missing."""
        new, missing, acts = self._used.add(names, asked)
        self.asks_missing |= bool(missing)
        for act in acts:
            _if_it_lets(act)
        for namespace, path in self._modules:
            self._from_module(namespace, path, {*new, *missing})
        for kind, path in self._classes:
            self._missing(kind, path, missing)

    def _compare_all(self, namespace: dict[str, Any], path: str, at_once: bool) -> None:
        """Compare each variable: at once, or as soon as code may ask for a name that does not occur in it."""
        act = functools.partial(self._place, "entries", namespace, None, path)
        act() if at_once else self._used.when_any(act)

    def _ask_any(self) -> None:
        for act in self._used.ask_any():
            _if_it_lets(act)

    def _from_module(self, namespace: dict[str, Any], path: str, names: Collection[str]) -> None:
        for name in sorted(names):
            if name in namespace or name in self._used.asked:
                self._named(namespace, name, f"{path}.{name}")

    def _whole(self, attributes: dict[str, Any], path: str) -> None:
        """All variables of a module, or attributes of an object, and no others."""
        self._place("entries", attributes, None, path)
        for name, item in list(attributes.items()):
            if not name.startswith("__"):
                self._ahead(item, f"{path}.{name}")

    def _named(self, namespace: dict[str, Any], name: str, path: str, inside: bool = True) -> None:
        """A variable, or an attribute that may be there or not; whether what it holds is looked at, too."""
        if (id(namespace), name) not in self._placed:
            self._placed.add((id(namespace), name))
            self._place("named", namespace, name, path)
            if inside:
                self._ahead(namespace.get(name), path)

    # --- objects and classes ----------------------------------------------------------------------------

    def _instance(self, thing: Any, path: str) -> None:
        kind = type(thing)
        if (known := self.kinds.get(kind)) is None:
            known = self.kinds[kind] = Kind(kind)
        if kind is not types.FunctionType:  # whose place has all that it refers to
            self._place("namespace", thing, None, path)
        for attributes in attributes_of(thing):
            self._names.append((attributes, tuple(attributes), path))
            if known.reads_any:
                self._whole(attributes, path)
                continue
            for name in {**attributes, **known.shared}:
                if name in self._used.all:
                    self._named(attributes, name, f"{path}.{name}")
                else:
                    self._used.when_used(name, functools.partial(self._named, attributes, name, f"{path}.{name}"))
            whole = functools.partial(self._place, "entries", attributes, None, path)
            whole() if "__getattr__" in known.shared else self._used.when_used("getattr", whole)
            known.instances.append((attributes, path))
            for name in sorted(known.inherited & self._used.all):
                self._named(attributes, name, f"{path}.{name}")
        for name, slot in known.slots.items():
            self._used.when_used(name, functools.partial(self._slot, thing, slot, f"{path}.{name}"))
        if known.is_users or not known.reads_any:
            self._shared(kind, kind.__name__)

    def _slot(self, thing: Any, slot: types.MemberDescriptorType, path: str) -> None:
        self._place("slot", thing, slot, path)
        for item in content_of_slot(slot, thing):
            self._ahead(item, path)

    def _shared(self, kind: type, path: str) -> None:
        """What instances of a class share: its methods, and other attributes."""
        if (id(kind), None) in self._placed:
            return
        self._placed.add((id(kind), None))
        self._names.append((vars(kind), tuple(vars(kind)), path))
        self._classes.append((kind, path))
        self._missing(kind, path, self._used.asked)
        for name in ("replace", "deepcopy"):  # which make an instance like one that is there
            self._used.when_named(name, functools.partial(self._makers, kind, path))
        names = shared_names(kind)
        for namespace in users_namespaces(kind):
            self._compare_all(namespace, path, "__getattr__" in names)
        for name in names:
            act = functools.partial(self._shared_attribute, kind, name, f"{path}.{name}")
            act() if name.startswith("__") else self._used.when_used(name, act)
        for base in kind.__mro__[1:]:  # what is hidden by another of its name
            if not of_a_library(base):
                self._used.when_used("super", functools.partial(self._shared, base, base.__name__))
        self._inherited(kind)

    def _inherited(self, kind: type) -> None:
        """What methods that a class has of libraries read of its instances, and what may hide such attributes."""
        names = inherited_names(kind)
        self._uses(names.in_use - READERS)
        if names.read_any:
            self._uses(shared_names(kind))
        for name, used in names.by_method.items():
            self._used.when_used(name, functools.partial(self._uses, used))
        for name in sorted(names_of_libraries(kind)):
            act = functools.partial(self._may_hide, kind, name)
            act() if name.startswith("__") else self._used.when_used(name, act)

    def _may_hide(self, kind: type, name: str) -> None:
        """An attribute that a class has of a library's may get another value in a user's class, and in an instance."""
        for namespace in users_namespaces(kind):
            self._named(namespace, name, f"{kind.__name__}.{name}")
        for attributes, path in self.kinds[kind].instances if kind in self.kinds else ():
            self._named(attributes, name, f"{path}.{name}")

    def _makers(self, kind: type, path: str) -> None:
        for name in sorted(MAKERS & set(dir(kind))):
            self._shared_attribute(kind, name, f"{path}.{name}")

    def _missing(self, kind: type, path: str, names: Collection[str]) -> None:
        """Attributes that a class may get later."""
        for name in sorted(names):
            if not any(name in vars(base) for base in kind.__mro__):
                for namespace in users_namespaces(kind):
                    self._named(namespace, name, f"{path}.{name}")

    def _shared_attribute(self, kind: type, name: str, path: str) -> None:
        item = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        if issubclass(type(item), METHODS):
            functions = (getattr(item, part, None) for part in ("fget", "func", "__wrapped__"))
            self._ahead(next((one for one in functions if one is not None), None), path)
        if type(item) in (types.FunctionType, property) or not hasattr(type(item), "__get__"):
            self._place("shared", kind, name, path)
            self._ahead(item, path)
        else:  # a descriptor, which the class holds in its dictionary
            self._ahead(item, path)
            for base in kind.__mro__:
                for namespace in dictionary_of(base):
                    self._named(namespace, name, path)
                if name in vars(base):
                    break


#: What assigns a variable or an attribute, and what reads one.
def _if_it_lets(act: Callable[..., None], *arguments: Any) -> None:
    """Look at an object; one that does not let itself be looked into is left alone."""
    try:
        act(*arguments)
    except MemoryError:
        raise
    except Exception:
        return


def _subscript(key: Any) -> str:
    shown = type(key) is str or (type(key) is int and abs(key) < 10**9)
    return f"[{key!r}]" if shown else "[…]"


def _is_open(kind: type) -> bool:
    """Whether instances of a class are looked into: those of users' classes, and modules, as tree.py knows them."""
    return issubclass(kind, _OPEN) or not of_a_library(kind) or callable(getattr(kind, "parameters", None))


def _is_transform(thing: Any) -> bool:
    """Whether a transform made a function: its own variables never change, those of the function inside it may."""
    module = thing.__globals__.get("__name__") if type(thing) is types.FunctionType else None
    return type(module) is str and module.startswith("retrograd.autodiff.")
