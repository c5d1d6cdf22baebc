"""What a search for places has found and not visited yet, and what code has been found to use and to ask."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

from ..changed_containers import Changes
from .contents import content_of_slot
from .data import ENDS
from .places import LIMIT, Places
from .used_names import UsedNames

__all__ = ["Frontier"]

_LONGEST_PATH = 120


class Frontier:
    """What is visited next.

    Attributes:
        places: those that are found.
        used: the names in the code that is reached.
        graph_break: what a function that is reached does, and no program can, as a sentence without a dot.
        tests_identity: code that is reached may ask which object a Value is.
        compares_numbers: that may be of variables which hold numbers.
        tests_truth: it may ask whether something is True or False itself.
        asks_kinds: it may ask whether something is a Value or a plain number.
        asks_types: it may ask for its type, or which methods that has.
        asks_missing: it asks for attributes that may be missing.
        copies: it may make copies of containers in which what was one object is one.
        asks_layout: it may ask how arrays lie in memory.
        asks_dtypes: it may ask what the items of an array are.
        changed: the names of attributes that it may change; what changes any, itself.
        changes: which containers that it has not made itself it may change.
    """

    def __init__(self) -> None:
        self.places: Places = Places()
        self.used: UsedNames = UsedNames()
        self.graph_break: str = ""
        self.tests_identity: bool = False
        self.compares_numbers: bool = False
        self.tests_truth: bool = False
        self.asks_kinds: bool = False
        self.asks_types: bool = False
        self.asks_missing: bool = False
        self.copies: bool = False
        self.asks_layout: bool = False
        self.asks_dtypes: bool = False
        self.changed: set[str] = set()
        self.changes: Changes = Changes.NONE
        self._seen: set[int] = set()
        self._queue: deque[tuple[Any, str, bool]] = deque()
        self._watchers: list[Callable[[list[str], list[str]], None]] = []

    def ahead(self, thing: Any, path: str, own: bool = False) -> None:
        """Visit it later. What is the user's ``own`` is looked into though its class be a library's."""
        if type(thing) not in ENDS and id(thing) not in self._seen:
            self._seen.add(id(thing))
            self._queue.append((thing, path if len(path) < _LONGEST_PATH else f"…{path[-40:]}", own))

    def is_seen(self, thing: Any) -> bool:
        """Whether it is visited, or will be."""
        return id(thing) in self._seen

    def passes(self, things: Iterable[Any]) -> None:
        """Nothing is to be visited in some things."""
        self._seen.update(map(id, things))

    def visit_all(self, visit: Callable[[Any, str, bool], None]) -> None:
        """Visit each thing, and what is ahead of it."""
        while self._queue and self.places.things < LIMIT:
            _if_it_lets(visit, *self._queue.popleft())
        if self._queue:
            thing, path, _ = self._queue[0]
            self.places.frozen[f"{path}, after {LIMIT:,} others"] = thing

    def refuse(self, what: str) -> None:
        """A function that is reached does something that no program can."""
        self.graph_break = self.graph_break or f"the function {what}"

    # --- places that lead on --------------------------------------------------------------------------

    def named(self, namespace: dict[str, Any], name: str, path: str, inside: bool = True) -> None:
        """A variable, or an attribute that may be there or not; whether what it holds is looked at, too."""
        if self.places.is_new(namespace, name):
            self.places.add("named", namespace, name, path)
            if inside:
                self.ahead(namespace.get(name), path)

    def slot(self, thing: Any, slot: Any, path: str) -> None:
        """What an object has in a slot."""
        self.places.add("slot", thing, slot, path)
        for item in content_of_slot(slot, thing):
            self.ahead(item, path)

    def whole(self, attributes: dict[str, Any], path: str) -> None:
        """All variables of a module, or attributes of an object, and no others."""
        self.places.add("entries", attributes, None, path)
        for name, item in list(attributes.items()):
            if not name.startswith("__"):
                self.ahead(item, f"{path}.{name}")

    def compare_all(self, namespace: dict[str, Any], path: str, at_once: bool) -> None:
        """Compare each variable: at once, or as soon as code may ask for a name that does not occur in it."""
        act = functools.partial(self.places.add, "entries", namespace, None, path)
        act() if at_once else self.used.when_any(act)

    # --- names in code --------------------------------------------------------------------------------

    def watch(self, act: Callable[[list[str], list[str]], None]) -> None:
        """Hand on the names that code is found to use, and those that it may miss, whenever there are new ones."""
        self._watchers.append(act)

    def uses(self, names: Collection[str], asked: Collection[str] = ()) -> None:
        """Code that uses these names can be reached; attributes that are asked for may be missing."""
        new, missing, acts = self.used.add(names, asked)
        self.asks_missing |= bool(missing)
        for act in acts:
            _if_it_lets(act)
        for watcher in self._watchers:
            watcher(new, missing)

    def ask_any(self) -> None:
        """Code may ask for a name that does not occur in it."""
        for act in self.used.ask_any():
            _if_it_lets(act)


def _if_it_lets(act: Callable[..., None], *arguments: Any) -> None:
    """Look at an object; one that does not let itself be looked into is left alone."""
    try:
        act(*arguments)
    except MemoryError:
        raise
    except Exception:
        return
