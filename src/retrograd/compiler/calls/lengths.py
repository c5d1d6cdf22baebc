"""Lists that are longer in some calls than in others: what a program reads that takes all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .signature import one_by_one
from .varying import CONSTANT, IN_LIST, Column, Varying, between, holds_values

__all__ = ["between_lengths"]

_Spec = tuple[Any, ...]

#: The least items that a program has room for.
_LEAST = 8


def between_lengths(one: _Spec, other: _Spec) -> Varying | None:
    """As :func:`~.varying.between`, where lists may have other lengths.

    What differs between two rows of such a list is read, too: a row that is missing is read as if it were another one.
    """
    alignment = _Alignment()
    found = between(*alignment.of(one, other, ()))
    for column, row, another in alignment.rows:
        more = between(row, another, column)
        if found is None or more is None or holds_values(row, column):
            return None
        found = found.together(more)
    lengths = frozenset((column, _room_for(most)) for column, most in alignment.lengths.items())
    return found.together(CONSTANT._replace(lengths=lengths)) if found is not None else None


def _room_for(count: int) -> int:
    """How many items a program reads where there were so many: a few more, so that not each longer list is traced."""
    room = _LEAST
    while room < count:
        room += max(room // 4, 2)
    return room


class _Alignment:
    """Makes two descriptions alike in the lengths of their lists.

    Attributes:
        lengths: Where those differ, and the longest.
        rows: Pairs of items of these lists, and where they are.
    """

    def __init__(self) -> None:
        self.lengths: dict[Column, int] = {}
        self.rows: list[tuple[Column, _Spec, _Spec]] = []

    def of(self, one: _Spec, other: _Spec, column: Column) -> tuple[_Spec, _Spec]:
        """The two with lists of one length."""
        mine, theirs = _items(one), _items(other)
        if mine and theirs:
            return self._lists(mine, theirs, column, "some" in (one[0], other[0]))
        match one, other:
            case ("sequence", kind, parts, *rest), ("sequence", same, others, *more) if kind is same:
                if len(parts) == len(others):
                    mine, theirs = self._parts(parts, others, [(*column, i) for i in range(len(parts))])
                    return ("sequence", kind, mine, *rest), ("sequence", kind, theirs, *more)
            case (("dict" | "fields") as form, kind, named, *rest), (same_form, same, others, *more):
                names = [name for name, _ in named]
                if (form, kind, names) == (same_form, same, [name for name, _ in others]):
                    columns = [(*column, name) for name in names]
                    mine, theirs = self._parts([part for _, part in named], [part for _, part in others], columns)
                    mine, theirs = list(zip(names, mine, strict=True)), list(zip(names, theirs, strict=True))
                    return (form, kind, mine, *rest), (form, kind, theirs, *more)
        return one, other

    def _parts(
        self, mine: Sequence[_Spec], theirs: Sequence[_Spec], columns: Sequence[Column]
    ) -> tuple[list[Any], list[Any]]:
        pairs = [self.of(*three) for three in zip(mine, theirs, columns, strict=True)]
        return [one for one, _ in pairs], [other for _, other in pairs]

    def _lists(self, mine: list[_Spec], theirs: list[_Spec], column: Column, differ: bool) -> tuple[_Spec, _Spec]:
        inside = (*column, IN_LIST)
        if differ or len(mine) != len(theirs) or column in self.lengths:
            self.lengths[column] = max(len(mine), len(theirs), self.lengths.get(column, 0))
            self.rows += ((inside, *self.of(row, mine[0], inside)) for row in (*mine, *theirs))
        padded = mine + theirs[len(mine) :], theirs + mine[len(theirs) :]
        mine, theirs = self._parts(*padded, [inside] * len(padded[0]))
        return ("sequence", list, mine), ("sequence", list, theirs)


def _items(spec: _Spec) -> list[_Spec] | None:
    """The items of a list of data; None if it is none."""
    match one_by_one(spec):
        case ("some", _, _, parts):
            return list(parts)
        case ("sequence", kind, parts) if kind is list:
            return list(parts)
    return None
