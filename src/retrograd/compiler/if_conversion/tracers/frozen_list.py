"""A list that decisions choose the items of.

It is a copy of two lists. While the function reads the copy, it must change neither the copy nor the two. Where it
does, the copy tells the trial, and the trace is thrown away.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NoReturn

from ..running_trial import current
from .partial_list import APPENDING, Originals, changes_in_place, held_elsewhere

__all__ = ["FrozenList"]


class FrozenList:
    """Reads as a list does.

    Args:
        items: those that were chosen.
        originals: the lists that it is a copy of.
        fails: called where one of them has changed, or where this is to be.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    __slots__ = ("_fails", "_items", "_originals")

    def __init__(self, items: Sequence[Any], originals: Sequence[Any], fails: Callable[[], None]) -> None:
        self._items, self._fails = tuple(items), fails
        self._originals: Originals = {}
        for one in originals:
            is_frozen = type(one) is FrozenList
            self._originals |= held_elsewhere(one._originals) if is_frozen else {id(one): (one, tuple(one))}

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, list) decides as it does in plain Python
        return list

    def _checked(self) -> tuple[Any, ...]:
        for now, then in self._originals.values():
            if len(now) != len(then) or not all(map(operator.is_, now, then)):
                self._fails()
        return self._items

    def __len__(self) -> int:
        return len(self._checked())

    def __iter__(self) -> Iterator[Any]:
        for item in self._checked():  # which looks at an empty one, too
            self._checked()
            yield item

    def __reversed__(self) -> Iterator[Any]:
        for item in self._checked()[::-1]:
            self._checked()
            yield item

    def __getitem__(self, key: Any) -> Any:
        found = self._checked()[key]
        return list(found) if isinstance(key, slice) else found

    def __contains__(self, item: Any) -> bool:
        return item in self._checked()

    def copy(self) -> list[Any]:
        """A list of one's own."""
        return list(self._checked())

    def index(self, *arguments: Any) -> int:
        """As of a list."""
        return self.copy().index(*arguments)

    def count(self, item: Any) -> int:
        """As of a list."""
        return self.copy().count(item)

    def __add__(self, other: Any) -> Any:
        return self.copy() + _plain(other)

    def __radd__(self, other: Any) -> Any:
        if changes_in_place(sys._getframe(1)):  # which Python asks before the list itself
            self._refuse()
        return other + self.copy()

    def __mul__(self, count: Any) -> Any:
        return self.copy() * count

    def __rmul__(self, count: Any) -> Any:
        return self.copy() * count

    def __repr__(self) -> str:
        return repr(self.copy())

    def _refuse(self) -> NoReturn:
        self._fails()
        raise TypeError("a list that decisions choose cannot be changed")

    def __setitem__(self, key: Any, value: Any) -> None:
        self._refuse()

    def __delitem__(self, key: Any) -> None:
        self._refuse()

    def __iadd__(self, other: Any) -> Any:
        self._refuse()

    def __imul__(self, count: Any) -> Any:
        self._refuse()

    def __getattr__(self, name: str) -> Any:
        """A list's other methods change it. Some can be done with a partial one."""
        if name in APPENDING and (trial := current()) is not None:
            trial.wants_lists = True
        self._fails()
        raise AttributeError(f"'list' object that decisions choose has no attribute {name!r}")


def _define_comparison(name: str) -> None:
    function = getattr(operator, name)
    setattr(FrozenList, f"__{name}__", lambda self, other: bool(function(self.copy(), _plain(other))))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _define_comparison(_name)


def _plain(thing: Any) -> Any:
    return thing.copy() if type(thing) is FrozenList else thing
