"""The places in objects and in classes: attributes whose names occur in the code that is reached."""

from __future__ import annotations

import functools
import types
from collections.abc import Collection, Mapping
from typing import Any

from ..libraries import READERS, inherited_names, of_a_library
from .classes import MAKERS, METHODS, Kind, dictionary_of, names_of_libraries, shared_names, users_namespaces
from .contents import attributes_of
from .frontier import Frontier

__all__ = ["Objects"]


class Objects:
    """Visits objects and classes.

    Attributes:
        kinds: the classes of the objects that are looked into.
    """

    def __init__(self, frontier: Frontier) -> None:
        self._frontier, self._places, self._used = frontier, frontier.places, frontier.used
        self.kinds: dict[type, Kind] = {}
        self._classes: list[tuple[type, str]] = []
        self._names: list[tuple[Mapping[str, Any], tuple[str, ...], str]] = []  # the attributes of objects and classes
        frontier.watch(self._missing_of_all)

    def have_other_names(self) -> bool:
        """Whether an object or a class has other attributes than it had."""
        return any(tuple(now) != before for now, before, _ in self._names)

    def added(self) -> str:
        """An attribute that something was given since, as users write it; "" if none was."""
        grown = ((path, list(now)[len(before)]) for now, before, path in self._names if len(now) > len(before))
        return next((f"{path}.{name}" for path, name in grown if not name.startswith("__")), "")

    def instance(self, thing: Any, path: str) -> None:
        """An object whose attributes code may read."""
        kind = type(thing)
        if (known := self.kinds.get(kind)) is None:
            known = self.kinds[kind] = Kind(kind)
        if kind is not types.FunctionType:  # whose place has all that it refers to
            self._places.add("namespace", thing, None, path)
        for attributes in attributes_of(thing):
            self._names.append((attributes, tuple(attributes), path))
            if known.reads_any:
                self._frontier.whole(attributes, path)
                continue
            for name in {**attributes, **known.shared}:
                if name in self._used.all:
                    self._frontier.named(attributes, name, f"{path}.{name}")
                else:
                    self._used.when_used(
                        name, functools.partial(self._frontier.named, attributes, name, f"{path}.{name}")
                    )
            whole = functools.partial(self._places.add, "entries", attributes, None, path)
            whole() if "__getattr__" in known.shared else self._used.when_used("getattr", whole)
            known.instances.append((attributes, path))
            for name in sorted(known.inherited & self._used.all):
                self._frontier.named(attributes, name, f"{path}.{name}")
        for name, slot in known.slots.items():
            self._used.when_used(name, functools.partial(self._frontier.slot, thing, slot, f"{path}.{name}"))
        if known.is_users or not known.reads_any:
            self.shared(kind, kind.__name__)

    def shared(self, kind: type, path: str) -> None:
        """What instances of a class share: its methods, and other attributes."""
        if not self._places.is_new(kind):
            return
        self._names.append((vars(kind), tuple(vars(kind)), path))
        self._classes.append((kind, path))
        self._missing(kind, path, self._used.asked)
        for name in ("replace", "deepcopy"):  # which make an instance like one that is there
            self._used.when_named(name, functools.partial(self.makers, kind, path))
        names = shared_names(kind)
        for namespace in users_namespaces(kind):
            self._frontier.compare_all(namespace, path, "__getattr__" in names)
        for name in names:
            act = functools.partial(self._shared_attribute, kind, name, f"{path}.{name}")
            act() if name.startswith("__") else self._used.when_used(name, act)
        for base in kind.__mro__[1:]:  # what is hidden by another of its name
            if not of_a_library(base):
                self._used.when_used("super", functools.partial(self.shared, base, base.__name__))
        self._inherited(kind)

    def _inherited(self, kind: type) -> None:
        """What methods that a class has of libraries read of its instances, and what may hide such attributes."""
        names = inherited_names(kind)
        self._frontier.uses(names.in_use - READERS)
        if names.read_any:
            self._frontier.uses(shared_names(kind))
        for name, used in names.by_method.items():
            self._used.when_used(name, functools.partial(self._frontier.uses, used))
        for name in sorted(names_of_libraries(kind)):
            act = functools.partial(self._may_hide, kind, name)
            act() if name.startswith("__") else self._used.when_used(name, act)

    def _may_hide(self, kind: type, name: str) -> None:
        """An attribute that a class has of a library's may get another value in a user's class, and in an instance."""
        for namespace in users_namespaces(kind):
            self._frontier.named(namespace, name, f"{kind.__name__}.{name}")
        for attributes, path in self.kinds[kind].instances if kind in self.kinds else ():
            self._frontier.named(attributes, name, f"{path}.{name}")

    def makers(self, kind: type, path: str) -> None:
        """The methods that make an instance."""
        for name in sorted(MAKERS & set(dir(kind))):
            self._shared_attribute(kind, name, f"{path}.{name}")

    def _missing_of_all(self, _: Collection[str], missing: Collection[str]) -> None:
        for kind, path in self._classes:
            self._missing(kind, path, missing)

    def _missing(self, kind: type, path: str, names: Collection[str]) -> None:
        """Attributes that a class may get later."""
        for name in sorted(names):
            if not any(name in vars(base) for base in kind.__mro__):
                for namespace in users_namespaces(kind):
                    self._frontier.named(namespace, name, f"{path}.{name}")

    def _shared_attribute(self, kind: type, name: str, path: str) -> None:
        item = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        if issubclass(type(item), METHODS):
            functions = (getattr(item, part, None) for part in ("fget", "func", "__wrapped__"))
            self._frontier.ahead(next((one for one in functions if one is not None), None), path)
        if type(item) in (types.FunctionType, property) or not hasattr(type(item), "__get__"):
            self._places.add("shared", kind, name, path)
            self._frontier.ahead(item, path)
        else:  # a descriptor, which the class holds in its dictionary
            self._frontier.ahead(item, path)
            for base in kind.__mro__:
                for namespace in dictionary_of(base):
                    self._frontier.named(namespace, name, path)
                if name in vars(base):
                    break
