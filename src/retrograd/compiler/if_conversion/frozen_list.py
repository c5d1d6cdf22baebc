"""A list that decisions choose the items of. It is a copy of two others, so nobody may change it in their place."""

from __future__ import annotations

from typing import Any

__all__ = ["FrozenList"]


class FrozenList(tuple[Any, ...]):
    """Reads as a list does; what would change it raises, as it does of a tuple."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, list) decides as it does in plain Python
        return list

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return list(found) if isinstance(key, slice) else found

    def copy(self) -> list[Any]:
        """A list of one's own."""
        return list(self)

    def __add__(self, other: Any) -> Any:
        return list(self) + (list(other) if type(other) is FrozenList else other)

    def __radd__(self, other: Any) -> Any:
        return other + list(self)

    def __mul__(self, count: Any) -> Any:
        return list(self) * count

    def __rmul__(self, count: Any) -> Any:
        return list(self) * count

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if type(other) is FrozenList else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return list(self) < list(other)

    def __le__(self, other: Any) -> bool:
        return list(self) <= list(other)

    def __gt__(self, other: Any) -> bool:
        return list(self) > list(other)

    def __ge__(self, other: Any) -> bool:
        return list(self) >= list(other)

    def __repr__(self) -> str:
        return repr(list(self))
