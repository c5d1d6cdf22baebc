"""The names in the code that a function reaches, and what is to be looked at as soon as code uses one of them."""

from __future__ import annotations

import dataclasses
import inspect
import operator
from collections.abc import Callable, Collection
from typing import Any

from ..libraries import READERS

_Act = Callable[[], None]

__all__ = ["READING", "UsedNames"]

#: What reads attributes that its caller names, whatever users call it.
READING: dict[int, Any] = {
    id(one): one
    for one in (
        *(getattr, hasattr, setattr, delattr, vars, dir, operator.attrgetter, operator.methodcaller),
        *(dataclasses.asdict, dataclasses.astuple, dataclasses.fields, dataclasses.replace),
        *(inspect.getmembers, inspect.getattr_static),
    )
}


class UsedNames:
    """The names that are used, and what waits for others.

    Attributes:
        all: in the code of the functions that are reached.
        asked: those of them that may be missing.
    """

    def __init__(self) -> None:
        self.all: set[str] = set()
        self.asked: set[str] = set()
        self._waiting: dict[str, list[_Act]] = {}
        self._waiting_for_itself: dict[str, list[_Act]] = {}
        self._waiting_for_any: list[_Act] = []
        self._asks_any = False

    @property
    def read_any(self) -> bool:
        """Whether code may read attributes whose names do not occur in it."""
        return not READERS.isdisjoint(self.all)

    def add(
        self, names: Collection[str], asked: Collection[str]
    ) -> tuple[list[str], list[str], list[Callable[..., None]]]:
        """Those of the names that are new, those that were not asked for before, and what has waited for them."""
        new, missing = sorted({*names} - self.all), sorted(set(asked) - self.asked)
        self.all.update(new)
        self.asked.update(missing)
        woken = list(self._waiting) if not READERS.isdisjoint(new) else new
        acts = [act for name in woken for act in self._waiting.pop(name, ())]
        acts += [act for name in new for act in self._waiting_for_itself.pop(name, ())]
        return new, missing, acts

    def when_used(self, name: str, act: _Act) -> None:
        """Do something as soon as code may read an attribute of this name."""
        if name in self.all or self.read_any:
            act()
        else:
            self._waiting.setdefault(name, []).append(act)

    def when_named(self, name: str, act: _Act) -> None:
        """Do something as soon as the name itself occurs in code."""
        if name in self.all:
            act()
        else:
            self._waiting_for_itself.setdefault(name, []).append(act)

    def when_any(self, act: _Act) -> None:
        """Do something as soon as code may ask for a name that does not occur in it."""
        if self._asks_any:
            act()
        else:
            self._waiting_for_any.append(act)

    def ask_any(self) -> list[_Act]:
        """Code may ask for a name that does not occur in it; what has waited for that."""
        self._asks_any = True
        acts, self._waiting_for_any = self._waiting_for_any, []
        return acts
