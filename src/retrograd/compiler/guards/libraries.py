"""What belongs to Python or was installed, and what code of its classes reads of users' objects.

The code of a library is not looked into, with one exception: a class that a user derives from a library's inherits
methods, such as ``nn.Module.__call__``, and these read attributes and call methods of the user's.
"""

from __future__ import annotations

import dis
import functools
import os
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .bytecode import codes_of

__all__ = [
    "READERS",
    "InheritedNames",
    "are_of_one_package",
    "inherited_names",
    "is_in_use",
    "is_library",
    "is_users",
    "look_into_package_of",
    "moves_on",
    "of_a_library",
]

#: Names in code that may read any attribute.
READERS = frozenset(
    {
        *("getattr", "hasattr", "setattr", "delattr", "AttributeError"),
        *("vars", "dir", "eval", "exec", "__dict__", "__getattribute__"),
        *("attrgetter", "methodcaller", "getmembers", "getattr_static", "asdict", "astuple", "fields", "replace"),
        *("parameters", "named_parameters", "state_dict"),
    }
)
#: Special methods that run when a class or an instance is made, copied or shown: not when there is one.
_NOT_IN_USE = frozenset(
    {
        *("__init__", "__new__", "__post_init__", "__init_subclass__", "__class_getitem__", "__subclasshook__"),
        *("__repr__", "__str__", "__format__", "__dir__", "__sizeof__", "__del__", "__copy__", "__deepcopy__"),
        *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__", "__instancecheck__"),
    }
)
#: What iterators and queues have, and what it is.
_MOVING = ("__next__", "get_nowait")
_METHODS = (types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)
#: Where Python's own modules are.
_STANDARD = os.path.dirname(os.__file__)
#: Modules that users' classes seem to belong to, which ``make_dataclass``, ``ABCMeta`` and ``exec`` made; none that a
#: static type belongs to.
_MAKERS_OF_CLASSES, _HEAP_TYPE = frozenset({"types", "abc", "builtins"}), 1 << 9
#: Installed packages of which a user has compiled a function.
_own: set[str] = set()
#: Where descriptors keep the function that they are made of.
_FUNCTION_IN = {property: "fget", functools.cached_property: "func", staticmethod: "__func__", classmethod: "__func__"}
#: Instructions that read or change an attribute.
_ON_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "SUPER_ATTR", "SUPER_METHOD")


@functools.lru_cache(maxsize=1024)
def is_library(module: object) -> bool:
    """Whether a module of this name belongs to Python or was installed."""
    if type(module) is not str:
        return False
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    known = top in sys.stdlib_module_names or top in ("builtins", "numpy", "retrograd")
    if top in sys.stdlib_module_names and file.endswith(".py") and not file.startswith(_STANDARD):
        known = False  # a user's file of the same name, such as test.py
    installed = top not in _own and ("site-packages" in file or "dist-packages" in file)
    return module != "__main__" and (known or installed)


def look_into_package_of(function: Any) -> None:
    """Take the package of a function that a user compiles as the user's own, though it be installed."""
    while isinstance(function, functools.partial):
        function = function.func
    module = getattr(function, "__module__", None)
    top = module.partition(".")[0] if type(module) is str else ""
    of_python = top in sys.stdlib_module_names or top in ("builtins", "numpy", "retrograd")
    if top and not of_python and is_library(module):
        _own.add(top)
        is_library.cache_clear()


def of_a_library(kind: type) -> bool:
    """Whether a class belongs to Python or was installed."""
    module = type.__getattribute__(kind, "__module__")
    if module in _MAKERS_OF_CLASSES and kind.__flags__ & _HEAP_TYPE:
        return getattr(sys.modules[module], kind.__name__, None) is kind
    return is_library(module if type(module) is str else None)


def is_users(thing: Any) -> bool:
    """Whether something is a user's function or class, or an instance of one."""
    kind = type(thing)
    if kind is types.FunctionType:
        return not is_library(thing.__globals__.get("__name__"))
    return not of_a_library(thing if issubclass(kind, type) else kind)


def is_in_use(name: str) -> bool:
    """Whether operators, calls, loops or the like run a method of this name."""
    return name.startswith("__") and name.endswith("__") and name not in _NOT_IN_USE


def are_of_one_package(one: type, other: type) -> bool:
    """Whether two classes belong to one package that was installed."""
    package = one.__module__.partition(".")[0]
    return package not in sys.stdlib_module_names and package == other.__module__.partition(".")[0]


def moves_on(kind: type) -> bool:
    """Whether a class is one of iterators or queues."""
    member = next((vars(base)[name] for base in kind.__mro__ for name in _MOVING if name in vars(base)), None)
    return of_a_library(kind) and isinstance(member, _METHODS)  # and no mock of such


class InheritedNames(NamedTuple):
    """The names in the methods that a user's class has of libraries."""

    in_use: frozenset[str]  #: in what operators, calls and loops run
    by_method: Mapping[str, frozenset[str]]  #: in others

    @property
    def read_any(self) -> bool:
        """Whether what operators run may read any attribute."""
        return not READERS.isdisjoint(self.in_use)


def inherited_names(kind: type) -> InheritedNames:
    """What code of libraries reads of the instances of a user's class."""
    in_use, by_method = set[str](), dict[str, frozenset[str]]()
    for base in kind.__mro__:
        for name, names in _methods(base) if of_a_library(base) else _found_methods(base):
            if is_in_use(name):
                in_use |= names
            else:
                by_method[name] = names | by_method.get(name, frozenset())
    return InheritedNames(frozenset(in_use), by_method)


def _found_methods(kind: type) -> Iterator[tuple[str, frozenset[str]]]:
    """The methods that libraries wrote, of those that a class has itself, and the names of attributes in their code."""
    for name, item in vars(kind).items():
        part = _FUNCTION_IN.get(type(item))
        function = getattr(item, part) if part else item
        if type(function) is types.FunctionType and is_library(function.__globals__.get("__name__")):
            yield name, _attributes_in(function.__code__)


@functools.lru_cache(maxsize=1024)
def _methods(kind: type) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple(_found_methods(kind))


@functools.lru_cache(maxsize=1024)  # all named tuples have the same
def _attributes_in(code: types.CodeType) -> frozenset[str]:
    found = set[str]()
    for one in codes_of(code):
        found |= READERS.intersection(one.co_names)
        found.update(now.argval for now in dis.get_instructions(one) if now.opname.endswith(_ON_ATTRIBUTES))
    return frozenset(found)
