"""What a function can reach beside its arguments: the places where it finds what it computes with.

They are the variables that it closes over or names, and what lists, dictionaries, objects, classes and modules hold
there, outermost first. Of objects, classes and modules those attributes count whose names occur in the code that is
reached (all of them where it uses ``getattr`` or the like). Of long lists and dictionaries of numbers, which are data,
and of sets and deques, only the size counts. Not entered: arrays, and what libraries keep for themselves.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from ...engine import Value
from ...index import Index

__all__ = ["Place", "Reach"]

#: A place as native/compiler/guards/dependency_guards.hpp reads it.
Place = tuple[str, Any, Any]

#: Things in places, at most: beyond them nothing is looked at.
LIMIT = 200_000

#: A longer list, or dictionary, that begins with numbers, or with lists of numbers, is data.
_DATA = 256

#: What nothing is behind that may change.
_ENDS = frozenset({float, int, bool, str, bytes, complex, type(None), Index, Value})
#: Names in code that may read any attribute.
_READERS = frozenset(
    {
        *("getattr", "hasattr", "vars", "dir", "eval", "exec", "__dict__", "__getattribute__"),
        *("attrgetter", "asdict", "astuple", "fields", "replace"),
        *("parameters", "named_parameters", "state_dict"),
    }
)
#: Functions that tell which object something is, or by which it is found again.
_IDENTITY = frozenset({"id", "hash", "is_", "is_not"})
#: Classes of which there are stand-ins in a trace.
_NUMBERS = frozenset({"float", "int", "Index"})
#: Libraries' classes without code of their own, and others, whose instances hold what users put there.
_NAMESPACES = (types.SimpleNamespace, argparse.Namespace)
_OPEN = (*_NAMESPACES, collections.UserDict, collections.UserList, collections.ChainMap)
#: Methods that run when an instance is made, and not when there is one.
_MAKERS = {"__init__", "__new__", "__post_init__"}
#: What functions can be made of, beside being assigned.
_METHODS = (staticmethod, classmethod, functools.cached_property, property)
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]
_LONGEST_PATH = 120


class Reach:
    """The places that can be reached from some objects, breadth first, and how a user would write each of them."""

    def __init__(self, roots: Sequence[tuple[Any, str]]) -> None:
        self.places: list[Place] = []
        self.paths: list[str] = []
        self.names: set[str] = set()  #: in the code of the functions that are reached
        self.leaves: list[Value] = []
        self.graph_break = ""  #: a function that is reached asks for this, and what stands for a number would lie
        self.tests_identity = False  #: code that is reached may ask which object a Value is
        self._seen: set[int] = set()
        self._placed: set[tuple[int, Any]] = set()
        self._queue: deque[tuple[Any, str, bool]] = deque()
        self._waiting: dict[str, list[Callable[[], None]]] = {}  # for code that uses a name
        self._modules: list[tuple[dict[str, Any], str]] = []
        self._built_in: list[tuple[dict[str, Any], str]] = []  # and where a global of that name would hide it
        self._things = 0
        for root in roots:
            self._ahead(*root, own=True)
        while self._queue and self._things < LIMIT:
            _if_it_lets(functools.partial(self._visit, *self._queue.popleft()))
        for namespace, name in self._built_in:  # the last to be looked at
            self._named(namespace, name, name)

    def _place(self, kind: str, thing: Any, name: Any, path: str) -> None:
        self.places.append((kind, thing, name))
        self.paths.append(path)
        self._things += 1

    def _ahead(self, thing: Any, path: str, own: bool = False) -> None:
        """Visit it later. What is the user's ``own`` is looked into though its class be a library's."""
        if type(thing) is Value:
            self.leaves.append(thing)
        elif type(thing) not in _ENDS and id(thing) not in self._seen:
            self._seen.add(id(thing))
            self._queue.append((thing, path if len(path) < _LONGEST_PATH else f"…{path[-40:]}", own))

    def _visit(self, thing: Any, path: str, own: bool) -> None:
        kind = type(thing)  # and not what __class__ says
        if issubclass(kind, (list, tuple)):
            self._sequence(thing, path)
        elif issubclass(kind, dict):
            self._dictionary(thing, path)
        elif issubclass(kind, (set, frozenset, deque)):
            self._place("size", thing, None, path)
            for item in list(thing):
                self._ahead(item, f"an element of {path}")
        elif kind is types.FunctionType:
            if own or not _is_library(thing.__globals__.get("__name__")):
                self._function(thing, path)
            return
        elif kind is types.MethodType:
            self._ahead(thing.__self__, "self", own)
            self._ahead(thing.__func__, path, own)
        elif kind is types.ModuleType:
            if not _is_library(thing.__name__):
                self._modules.append((vars(thing), path))
                self._from_module(vars(thing), path, self.names)
        elif kind is functools._lru_cache_wrapper:
            self._ahead(thing.__wrapped__, path)
        elif issubclass(kind, functools.partial):
            for part in (thing.func, thing.args, thing.keywords):
                self._ahead(part, path)
        elif issubclass(kind, type):
            if not _of_a_library(thing):
                self._shared(thing, path)
                for name in _MAKERS & set(dir(thing)):  # the class itself: it may be called
                    self._shared_attribute(thing, name, f"{path}.{name}")
        elif "scalar_function" in vars(kind):  # a compiled function
            self._ahead(thing.scalar_function, path)
        elif own or _is_open(kind):
            self._instance(thing, path)
            return
        if kind.__module__ != "builtins" and not _of_a_library(kind):  # a container with attributes
            self._instance(thing, path)

    # --- containers -----------------------------------------------------------------------------------

    def _sequence(self, thing: list[Any] | tuple[Any, ...], path: str) -> None:
        data = len(thing) > _DATA and _is_data(thing, 32)
        if issubclass(type(thing), list):
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

    def _dictionary(self, thing: dict[Any, Any], path: str) -> None:
        self._place("size", thing, None, path)
        if len(thing) > _DATA and _is_data(list(islice(dict.values(thing), 32)), 32):
            return
        for key, item in list(dict.items(thing)):
            shown = f"[{key!r}]" if type(key) is str or (type(key) is int and abs(key) < 10**9) else "[…]"
            self._place("entry", thing, key, path + shown)
            self._ahead(key, f"a key of {path}")
            self._ahead(item, path + shown)

    # --- code -----------------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType, path: str) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._place("cell", cell, None, name)
            for content in _contents(cell):
                self._ahead(content, name)
        for code in _codes(function.__code__):
            if "type" in code.co_names and not _NUMBERS.isdisjoint(code.co_names) and _compares_types(code):
                self.graph_break = (
                    f"{code.co_name} asks whether type(x) is a class of numbers; write isinstance instead"
                )
        names = {name for code in _codes(function.__code__) for name in code.co_names}
        self.tests_identity |= not names.isdisjoint(_IDENTITY) or any(map(_tests_identity, _codes(function.__code__)))
        if any(_MATCH_CLASS in code.co_code[::2] for code in _codes(function.__code__)):
            names.add("getattr")
        for name in sorted(names):
            if name in function.__globals__:
                self._named(function.__globals__, name, name)
            elif hasattr(builtins, name):
                self._built_in.append((function.__globals__, name))
            elif name in sys.modules:  # imported in the function itself
                self._ahead(sys.modules[name], name)
        self._place("shared", function, "__code__", path)
        self._ahead(function.__defaults__, f"the defaults of {function.__name__}")
        self._ahead(function.__kwdefaults__, f"the defaults of {function.__name__}")
        self._uses(names)
        self._instance(function, path)

    def _uses(self, names: set[str]) -> None:
        """Code that uses these names can be reached."""
        new = sorted(names - self.names)
        self.names.update(new)
        woken = list(self._waiting) if not _READERS.isdisjoint(new) else new
        for name in woken:
            for act in self._waiting.pop(name, ()):
                _if_it_lets(act)
        for namespace, path in self._modules:
            self._from_module(namespace, path, new)

    def _when_used(self, name: str, act: Callable[[], None]) -> None:
        if name in self.names or not _READERS.isdisjoint(self.names):
            act()
        else:
            self._waiting.setdefault(name, []).append(act)

    def _from_module(self, namespace: dict[str, Any], path: str, names: Collection[str]) -> None:
        for name in sorted(names):
            if name in namespace:
                self._named(namespace, name, f"{path}.{name}")

    def _named(self, namespace: dict[str, Any], name: str, path: str) -> None:
        """A variable, or an attribute that may be there or not."""
        if (id(namespace), name) not in self._placed:
            self._placed.add((id(namespace), name))
            self._place("named", namespace, name, path)
            self._ahead(namespace.get(name), path)

    # --- objects and classes ----------------------------------------------------------------------------

    def _instance(self, thing: Any, path: str) -> None:
        kind = type(thing)
        # The code of a library's class is not looked at: it may use any attribute.
        now = _of_a_library(kind) and not issubclass(kind, _NAMESPACES)
        slots = _slots(kind)
        for attributes in _attributes(thing):
            for name in {**attributes, **dict.fromkeys(_shared_names(kind))}:
                act = functools.partial(self._named, attributes, name, f"{path}.{name}")
                act() if now else self._when_used(name, act)
            size = functools.partial(self._place, "size", attributes, None, path)
            size() if now else self._when_used("getattr", size)
        for name, slot in slots.items():
            self._when_used(name, functools.partial(self._slot, thing, slot, f"{path}.{name}"))
        if not now:
            self._shared(kind, kind.__name__)

    def _slot(self, thing: Any, slot: types.MemberDescriptorType, path: str) -> None:
        self._place("slot", thing, slot, path)
        for item in _content(slot, thing):
            self._ahead(item, path)

    def _shared(self, kind: type, path: str) -> None:
        """What instances of a class share: its methods, and other attributes."""
        if (id(kind), None) in self._placed:
            return
        self._placed.add((id(kind), None))
        for name in _shared_names(kind):
            act = functools.partial(self._shared_attribute, kind, name, f"{path}.{name}")
            act() if name.startswith("__") else self._when_used(name, act)

    def _shared_attribute(self, kind: type, name: str, path: str) -> None:
        item = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        if issubclass(type(item), _METHODS):
            functions = (getattr(item, part, None) for part in ("fget", "func", "__wrapped__"))
            self._ahead(next((one for one in functions if one is not None), None), path)
        if type(item) in (types.FunctionType, property) or not hasattr(type(item), "__get__"):
            self._place("shared", kind, name, path)
            self._ahead(item, path)


def _if_it_lets(act: Callable[[], None]) -> None:
    """Look at an object; one that does not let itself be looked into is left alone."""
    try:
        act()
    except MemoryError:
        raise
    except Exception:
        return


def _shared_names(kind: type) -> list[str]:
    """The attributes of a user's class, and the special methods that operators call."""
    return [
        name
        for base in kind.__mro__
        if not _of_a_library(base)
        for name, item in vars(base).items()
        if not isinstance(item, types.MemberDescriptorType)
        and (not name.startswith("__") or (isinstance(item, types.FunctionType) and name not in _MAKERS))
    ]


def _slots(kind: type) -> dict[str, types.MemberDescriptorType]:
    """The slots that users' classes give their instances."""
    return {
        name: member
        for base in kind.__mro__
        if not _of_a_library(base)
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType)
    }


def _attributes(thing: Any) -> tuple[dict[str, Any], ...]:
    try:
        attributes = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return ()
    return (attributes,) if type(attributes) is dict else ()


def _content(slot: types.MemberDescriptorType, thing: Any) -> tuple[Any, ...]:
    try:
        return (slot.__get__(thing),)
    except AttributeError:  # nothing was assigned yet
        return ()


def _contents(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # nothing was assigned yet
        return ()


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code, and the code of functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _tests_identity(code: types.CodeType) -> bool:
    """Whether code has an ``x is y`` in which y is not a constant such as None, nor a class that ``type(x)`` may be."""
    before = None
    for now in dis.get_instructions(code):
        if now.opname == "IS_OP" and before is not None and before.opname != "LOAD_CONST":
            return True
        before = now
    return False


def _compares_types(code: types.CodeType) -> bool:
    """Whether code that names ``type`` and a class of numbers may ask whether ``type(x)`` is that class."""
    before = None
    for now in dis.get_instructions(code):
        if before is not None and (now.opname in ("IS_OP", "CONTAINS_OP") or now.argval in ("==", "!=")):
            made = before.opname.startswith(("CALL", "BUILD"))  # type(x), or (int, float)
            if made or before.argval in _NUMBERS:
                return True
        before = now
    return False


def _is_data(items: Collection[Any], first: int, depth: int = 3) -> bool:
    """Whether there are items, and the first of them are numbers, or lists of which the same can be said."""
    return len(items) > 0 and all(
        (type(item) in _ENDS and type(item) is not Value)
        or (type(item) in (list, tuple) and depth > 1 and _is_data(item, 8, depth - 1))
        for item in islice(items, first)
    )


def _is_open(kind: type) -> bool:
    """Whether instances of a class are looked into: those of users' classes, and modules, as tree.py knows them."""
    return issubclass(kind, _OPEN) or not _of_a_library(kind) or callable(getattr(kind, "parameters", None))


@functools.lru_cache(maxsize=1024)
def _is_library(module: object) -> bool:
    """Whether a module of this name belongs to Python or was installed."""
    if type(module) is not str:
        return False
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    known = top in sys.stdlib_module_names or top in ("builtins", "numpy", "retrograd")
    return module != "__main__" and (known or "site-packages" in file or "dist-packages" in file)


def _of_a_library(kind: type) -> bool:
    module = type.__getattribute__(kind, "__module__")
    return _is_library(module if type(module) is str else None)
