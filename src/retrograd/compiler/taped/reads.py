"""What a function reads besides its arguments: objects that its code takes for granted, and data of each call.

Functions, classes, modules, and numbers are part of the code: a call first asks whether the same are still there.
Lists, tuples, dictionaries, instances and Values are data: the code is given what they hold at the time of each call.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from ..if_conversion.rewriting.tree import ARMS
from .source.library import in_python
from .types import NotTypedError

__all__ = ["LIBRARY", "Reads", "is_constant"]

#: The module whose functions are followed in place of those of Python's library.
LIBRARY = in_python.__name__

_MISSING = object()

Key = tuple[int, str]


def is_constant(thing: Any) -> bool:
    """Whether it is part of the code: a number, a text, or what cannot hold data."""
    kinds = (int, float, bool, str, type(None), range, FunctionType, BuiltinFunctionType)
    return type(thing) in kinds or isinstance(thing, (type, ModuleType, Enum))


class Reads:
    """The places that were read.

    Attributes:
        data: How each call gets the data of a place.
    """

    def __init__(self) -> None:
        self._names: dict[Key, tuple[Mapping[str, Any], str, Any]] = {}  # in dictionaries, and what they held
        self._cells: dict[Key, tuple[Any, Any]] = {}
        self._functions: dict[int, tuple[FunctionType, Any, Any, Any]] = {}
        self._sizes: dict[type, int] = {}  # how many attributes classes have: none may be added
        self.data: dict[Key, Callable[[], Any]] = {}

    def hold(self) -> bool:
        """Whether each place of the code still has what it had."""
        for names, name, known in self._names.values():
            if (found := names.get(name, _MISSING)) is not known and not _is_same(found, known):
                return False
        for cell, known in self._cells.values():
            if (found := _contents(cell)) is not known and not _is_same(found, known):
                return False
        if any(len(vars(kind)) != size for kind, size in self._sizes.items()):
            return False
        for function, code, defaults, keywords in self._functions.values():
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
            if function.__kwdefaults__ != keywords:
                return False
        return True

    def watch(self, kind: type) -> None:
        """Nothing may be added to a class whose instances there are, nor to those that it inherits from."""
        for base in kind.__mro__[:-1]:
            self._sizes[base] = len(vars(base))

    def expected(self) -> tuple[tuple[tuple[Any, ...], ...], tuple[tuple[Any, ...], ...], tuple[tuple[Any, int], ...]]:
        """What each place of the code had, as the native side compares it: items, attributes of objects, and sizes.

        Each is (place, name, what was there), without the last where nothing was; or (what has a size, its size).
        """
        known = [(names, name, *_unless_missing(found)) for names, name, found in self._names.values()]
        cells = [(cell, "cell_contents", *_unless_missing(found)) for cell, found in self._cells.values()]
        functions = [
            (function, name, had)
            for function, *of in self._functions.values()
            for name, had in zip(("__code__", "__defaults__", "__kwdefaults__"), of, strict=True)
        ]
        sizes = tuple((vars(kind), size) for kind, size in self._sizes.items())
        return tuple(known), (*cells, *functions), sizes

    def named(self, function: FunctionType, name: str) -> tuple[Key, Any]:
        """What a free name of a function is: in its closure, among the globals, or a builtin."""
        if name in function.__code__.co_freevars:
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            return self._found((id(cell), name), _contents(cell), self._cells, (cell,), lambda: _contents(cell))
        if function.__module__ == LIBRARY:
            found = getattr(builtins, name, None) or getattr(in_python, name)
            return (0, name), found  # nothing changes those
        names = function.__globals__
        if name in names:
            return self._in(names, name)
        self._names[id(names), name] = names, name, _MISSING
        return self._in(vars(builtins), name)

    def attribute(self, thing: Any, name: str, after: type | None = None) -> tuple[Key, Any]:
        """An attribute of a module or a class, which nothing but its dictionary decides; of the classes after one."""
        if isinstance(thing, type):
            for base in thing.__mro__ if after is None else thing.__mro__[thing.__mro__.index(after) + 1 :]:
                if name in vars(base):
                    return self._in(vars(base), name)
                self._names[id(base), name] = vars(base), name, _MISSING
        elif isinstance(thing, ModuleType):
            if name in vars(thing):
                return self._in(vars(thing), name)
            if hasattr(thing, name):  # a module that loads its attributes when they are asked for
                return self._in(vars(thing), name)
        raise NotTypedError(f"it reads .{name} of a {type(thing).__name__}")

    def code_of(self, function: FunctionType) -> None:
        """A function is followed: its code and defaults must stay."""
        if function.__module__ != LIBRARY:
            of = function.__code__, function.__defaults__, function.__kwdefaults__
            self._functions[id(function)] = function, *of
            keywords: dict[str, Any] = function.__kwdefaults__ or {}
            for name, default in keywords.items():
                self._names[id(keywords), name] = keywords, name, default

    def _in(self, names: Mapping[str, Any], name: str) -> tuple[Key, Any]:
        found = names.get(name, _MISSING)
        return self._found((id(names), name), found, self._names, (names, name), lambda: names.get(name, _MISSING))

    def _found(
        self, key: Key, found: Any, checks: dict[Key, Any], place: tuple[Any, ...], get: Callable[[], Any]
    ) -> tuple[Key, Any]:
        """What was found; it is asked before each call if it is part of the code, else it is data."""
        if found is _MISSING and key[1] == ARMS:
            raise NotTypedError("it matches classes or mappings")
        if found is _MISSING:
            raise NotTypedError(f"there is no {key[1]} yet")
        if is_constant(found) or callable(found) or isinstance(found, (property, staticmethod, classmethod)):
            checks[key] = *place, found
        else:
            self.data[key] = get
        return key, found


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return _MISSING


def _unless_missing(found: Any) -> tuple[Any, ...]:
    return () if found is _MISSING else (found,)


def _is_same(found: Any, known: Any) -> bool:
    """Whether two objects are one constant: of two equal numbers, -0.0 and 0.0 are not."""
    return type(found) is type(known) and type(known) in (int, float, str) and repr(found) == repr(known)
