"""The places that code names: variables of closures and of modules, and what functions ask of what they find there."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..bytecode import (
    IDENTITY,
    MATCH_CLASS,
    NUMBERS,
    TYPES,
    asked_for,
    asks_for_layout,
    asks_for_numbers,
    asks_unheard,
    assigned,
    catches_missing,
    changed_attributes,
    codes_of,
    compares_dtypes,
    compares_objects,
    compares_types,
    compares_variables,
    global_names,
    handed_on,
    is_of_dataclass,
    line_that_changes,
    method_that_is_asked_for,
    named_in_texts,
    reached_by_name,
    tests_truth,
)
from ..changed_containers import changes_of
from ..libraries import is_library
from .contents import contents_of_cell
from .frontier import Frontier
from .objects import Objects

__all__ = ["Code"]

#: Names in code that may read any variable, of which no place knows.
_ANY_VARIABLE = frozenset({"globals", "locals", "eval", "exec"})


class Code:
    """Visits functions and modules."""

    def __init__(self, frontier: Frontier, objects: Objects) -> None:
        self._frontier, self._places, self._objects = frontier, frontier.places, objects
        self._modules: list[tuple[dict[str, Any], str]] = []
        self._namespaces: list[tuple[Mapping[str, Any], int]] = []  # of modules, and how many variables they had
        self._built_in: list[tuple[dict[str, Any], str]] = []  # and where a global of that name would hide it
        self._codes: list[types.CodeType] = []
        frontier.watch(self._named_in_modules)

    def has_other_names(self) -> bool:
        """Whether a module has other variables than it had."""
        return any(len(now) != before for now, before in self._namespaces)

    def line_of(self, path: str) -> str:
        """The line at which code that is reached changes a place, as far as it can be told: an assignment, or a use."""
        return line_that_changes(self._codes, path)

    def built_in_names(self) -> None:
        """The globals that would hide a built-in function: the last to be looked at."""
        for namespace, name in self._built_in:
            self._frontier.named(namespace, name, name)

    def module(self, thing: types.ModuleType, path: str) -> None:
        """A module of the user's."""
        variables = vars(thing)
        self._modules.append((variables, path))
        self._frontier.compare_all(variables, path, "__getattr__" in variables)
        self._frontier.ahead(variables.get("__getattr__"), f"{path}.__getattr__")
        self._namespaces.append((variables, len(variables)))
        self._from_module(variables, path, self._frontier.used.all)

    def function(self, function: types.FunctionType, path: str) -> None:
        """A function of the user's."""
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._places.add("cell", cell, None, name)
            for content in contents_of_cell(cell):
                self._frontier.ahead(content, name)
        codes = list(codes_of(function.__code__))
        self._codes.extend(codes)
        self._namespaces.append((function.__globals__, len(function.__globals__)))
        names = {name for code in codes for name in code.co_names}
        self._refuse_what_is_not_heard(codes, names - function.__globals__.keys())
        names |= self._questions(function, codes, names)
        self._globals(function, codes, names)
        for outside, name in reached_by_name(codes):
            self._frontier.ahead(outside, name)
        self._places.add("function", function, None, path)
        self._frontier.ahead(function.__defaults__, f"the defaults of {function.__name__}")
        self._frontier.ahead(function.__kwdefaults__, f"the defaults of {function.__name__}")
        missing = self._asks(function, codes)
        self._frontier.uses(names | missing, missing)
        self._objects.instance(function, path)

    def _refuse_what_is_not_heard(self, codes: Sequence[types.CodeType], foreign: Collection[str]) -> None:
        """``foreign``: the names in code that are no global variables."""
        for code in codes:
            if "type" in code.co_names and not NUMBERS.isdisjoint(code.co_names) and compares_types(code):
                self._frontier.graph_break = self._frontier.graph_break or (
                    f"{code.co_name} asks whether type(x) is a class of numbers; write isinstance instead"
                )
            if asked := method_that_is_asked_for(code):
                self._frontier.refuse(f"asks whether something has the attribute {asked}; write isinstance instead")
            if asked := asks_unheard(code):
                self._frontier.refuse(f"asks {asked}")
            for name in handed_on(code):
                self._frontier.refuse(f"hands on {name}(), whose calls are not heard")
        for name in sorted(_ANY_VARIABLE.intersection(foreign)):
            self._frontier.refuse(f"calls {name}(), which may read any variable")

    def _questions(
        self, function: types.FunctionType, codes: Sequence[types.CodeType], names: Collection[str]
    ) -> set[str]:
        """Note what code asks of numbers, and give the names that it uses without writing them."""
        found, frontier = set().union(*map(named_in_texts, codes)), self._frontier
        frontier.copies |= "deepcopy" in names
        frontier.asks_layout |= any(map(asks_for_layout, codes))
        frontier.asks_dtypes |= any(map(compares_dtypes, codes))
        if not is_of_dataclass(function.__code__):
            frontier.changed.update(*map(changed_attributes, codes))
            frontier.changes = max(frontier.changes, changes_of(function))
            frontier.asks_kinds = frontier.asks_kinds or asks_for_numbers(function)
            frontier.asks_types |= not TYPES.isdisjoint(names)
            frontier.compares_numbers |= compares_variables(function.__code__)
            frontier.tests_truth |= tests_truth(function.__code__)
            frontier.tests_identity |= compares_objects(function) or not IDENTITY.isdisjoint(names)
        if any(MATCH_CLASS in code.co_code[::2] for code in codes):
            frontier.asks_types |= not NUMBERS.isdisjoint(names)  # case int():
            found.add("getattr")
        if any(map(catches_missing, codes)):
            found.add("AttributeError")
            frontier.ask_any()
        return found

    def _globals(self, function: types.FunctionType, codes: Sequence[types.CodeType], names: Collection[str]) -> None:
        stored = assigned(function.__code__)
        for name in sorted(frozenset().union(*map(global_names, codes)) | {"getattr"}.intersection(names)):
            if name in function.__globals__:
                self._frontier.named(function.__globals__, name, name)
            elif hasattr(builtins, name):
                self._built_in.append((function.__globals__, name))
            else:  # which may come later
                self._frontier.named(function.__globals__, name, name)
                if name in sys.modules and name not in stored:  # imported in the function itself
                    self._frontier.ahead(sys.modules[name], name)
        if sys.version_info < (3, 14):  # a function makes this dictionary when it is first asked for: no change of it
            _ = function.__annotations__

    def _asks(self, function: types.FunctionType, codes: Sequence[types.CodeType]) -> set[str]:
        """What code asks for though it be missing. Modules that it may ask for anything are looked into as a whole."""
        found = set()
        for code in codes:
            names, or_others = asked_for(code)
            found |= names
            self._frontier.asks_missing |= or_others
            if or_others:
                self._frontier.ask_any()
            for name, module in _modules_in(function, code) if names or or_others else ():
                if is_library(module.__name__):  # what is not asked for stays as it is
                    for one in sorted(names):
                        self._frontier.named(vars(module), one, f"{name}.{one}", inside=False)
                elif or_others:
                    self._frontier.whole(vars(module), name)
        return found

    def _named_in_modules(self, new: Collection[str], missing: Collection[str]) -> None:
        for variables, path in self._modules:
            self._from_module(variables, path, {*new, *missing})

    def _from_module(self, namespace: dict[str, Any], path: str, names: Collection[str]) -> None:
        for name in sorted(names):
            if name in namespace or name in self._frontier.used.asked:
                self._frontier.named(namespace, name, f"{path}.{name}")


def _modules_in(function: types.FunctionType, code: types.CodeType) -> Iterator[tuple[str, types.ModuleType]]:
    """The modules that code names, which is a function's or inside of it."""
    contents = map(contents_of_cell, function.__closure__ or ())
    cells = dict(zip(function.__code__.co_freevars, contents, strict=True))
    named = [(name, function.__globals__.get(name, sys.modules.get(name))) for name in code.co_names]
    named += [(name, one) for name in code.co_freevars for one in cells.get(name, ())]
    for name, thing in named:
        if type(thing) is types.ModuleType:
            yield name, thing
