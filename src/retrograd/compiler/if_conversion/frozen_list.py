"""A list that decisions choose the items of.

It is a copy of two others. While somebody may read it, nobody may change them, nor the copy: what does so tells the
trial, whose trace counts for nothing then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import Any

__all__ = ["FrozenList"]


class FrozenList(tuple[Any, ...]):
    """Reads as a list does.

    Args:
        items: those that were chosen.
        originals: the lists that it is a copy of.
        fails: called where one of them has changed, or where this is to be.
    """

    __hash__ = None  # type: ignore[assignment]
    _originals: list[tuple[list[Any], tuple[Any, ...]]]
    _fails: Callable[[], None]

    def __new__(cls, items: Sequence[Any], originals: Sequence[list[Any]], fails: Callable[[], None]) -> FrozenList:
        made = super().__new__(cls, items)
        made._originals = [(one, tuple(one)) for one in originals]
        made._fails = fails
        return made

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, list) decides as it does in plain Python
        return list

    def _check(self) -> None:
        for now, then in self._originals:
            if len(now) != len(then) or not all(map(is_, now, then)):
                self._fails()

    def __iter__(self) -> Iterator[Any]:
        self._check()
        return tuple.__iter__(self)

    def __getitem__(self, key: Any) -> Any:
        self._check()
        found = super().__getitem__(key)
        return list(found) if isinstance(key, slice) else found

    def copy(self) -> list[Any]:
        """A list of one's own."""
        return list(self)

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def __contains__(self, item: Any) -> bool:
        return item in list(self)

    def __add__(self, other: Any) -> Any:
        return list(self) + _plain(other)

    def __radd__(self, other: Any) -> Any:
        return other + list(self)

    def __mul__(self, count: Any) -> Any:
        return list(self) * count

    def __rmul__(self, count: Any) -> Any:
        return list(self) * count

    def __eq__(self, other: object) -> bool:
        return bool(list(self) == _plain(other))

    def __ne__(self, other: object) -> bool:
        return bool(list(self) != _plain(other))

    def __lt__(self, other: Any) -> bool:
        return bool(list(self) < _plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(list(self) <= _plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(list(self) > _plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(list(self) >= _plain(other))

    def __repr__(self) -> str:
        return repr(list(self))

    def _refuse(self, *_: object) -> Any:
        self._fails()
        raise TypeError("a list that decisions choose cannot be changed")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __getattr__(self, name: str) -> Any:
        """A list's other methods change it."""
        self._fails()
        raise AttributeError(f"'list' object that decisions choose has no attribute {name!r}")


def _plain(thing: Any) -> Any:
    return list(thing) if type(thing) is FrozenList else thing
