"""Finds the ints among the arguments that differ from call to call: a program reads those in each call, as floats.

At first an int is part of the program: it may be how often a loop runs. Where two calls differ in ints alone, those are
numbers, and with them all in the same *column*: what has the same path from the arguments but for positions in lists.
So are truth values and texts in lists, which are data; others choose what a function does, and each choice has its
program. A program knows the texts that the calls before it had there, or takes any if the function looks at none.
What is None in some calls, and a float, an int, a truth value or a text in others, is *optional*: converted code reads
whether it is there, and which member of an enumeration is in a list.
A float in the place of an int is another structure: what a function does with the two may differ.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from itertools import repeat, zip_longest
from typing import Any, NamedTuple, cast

import numpy as np

__all__ = [
    "CONSTANT",
    "IN_LIST",
    "Column",
    "Varying",
    "between",
    "is_enumeration",
    "is_of_ints",
    "placeholder",
    "structure_of",
]

#: Positions in tuples, keys and names of fields on the way from the arguments; in lists, ``IN_LIST``.
Column = tuple[Any, ...]
IN_LIST = "*"


#: What a program reads in the place of None: what nothing depends on.
PLACEHOLDERS: dict[type, Any] = {float: 1.0, np.float64: np.float64(1.0), int: 0, bool: False, str: ""}


class Varying(NamedTuple):
    """The columns of the ints that differ, of what may be None, and of members of enumerations that differ.

    Attributes:
        ints: what each call brings.
        plain: where ints differ that are wanted as plain ones, as by ``range``: they stay part of the program.
        optional: where something is None in some calls, and what it is in others.
        members: where members of an enumeration differ.
        texts: those that have been in a column.
    """

    ints: frozenset[Column] = frozenset()
    plain: frozenset[Column] = frozenset()
    optional: frozenset[tuple[Column, type]] = frozenset()
    members: frozenset[Column] = frozenset()
    texts: frozenset[tuple[Column, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.ints or self.optional or self.members)

    @property
    def columns(self) -> tuple[frozenset[Any], ...]:
        """The columns alone, without the texts in them."""
        return self[:4]

    def without_more(self) -> Varying:
        """The ints alone, without what only converted code can read."""
        return self._replace(optional=frozenset(), members=frozenset())

    def together(self, other: Varying) -> Varying:
        """The columns of both."""
        plain = self.plain | other.plain
        optional = frozenset(one for one in self.optional | other.optional if one[0] not in plain)
        ints, members = self.ints | other.ints, self.members | other.members
        return Varying(ints - plain, plain, optional, members - plain, self.texts | other.texts)

    def without(self, columns: frozenset[Column]) -> Varying:
        """The same with some that are wanted as plain ints."""
        return self.together(Varying(plain=columns))

    def all_of(self) -> Varying:
        """The same with those that are wanted as plain ints among the others."""
        return self._replace(ints=self.ints | self.plain, plain=frozenset())

    def texts_in(self, column: Column) -> set[str]:
        """The texts that have been in a column."""
        return {text for place, text in self.texts if place == column}

    def everything(self) -> frozenset[Column]:
        """The columns of all that is read."""
        return self.ints | self.members | {column for column, _ in self.optional}

    def lists_of_optional(self) -> set[Column]:
        """The columns of what holds something that may be None."""
        return {column[:-1] for column, _ in self.optional}

    def optional_kind(self, column: Column) -> type | None:
        """What is in a column where it is not None; None if it always is something, or of several types."""
        kinds = [kind for place, kind in self.optional if place == column]
        return kinds[0] if len(kinds) == 1 else None


def placeholder(kind: type, texts: set[str]) -> Any:
    """What a program reads in place of None, where something is of a type else; one of the texts, if it knows any."""
    if is_enumeration(kind):
        return next(iter(cast("type[enum.Enum]", kind)))
    return min(texts) if kind is str and texts else PLACEHOLDERS[kind]


#: No int differs.
CONSTANT = Varying()


def structure_of(spec: tuple[Any, ...]) -> list[Any]:
    """What must be the same in two descriptions that differ in what a program can read."""
    leaves = [*_leaves(spec, ())]
    return [len(leaves), *(leaf for leaf in leaves if leaf[1] not in _MAY_BE_MISSING)]


def between(one: tuple[Any, ...], other: tuple[Any, ...]) -> Varying | None:
    """Where two descriptions of arguments differ in what a program can read; None if they differ in more."""
    ints, members = set[Column](), set[Column]()
    optional: set[tuple[Column, type]] = set()
    texts = set[tuple[Column, str]]()
    for left, right in zip_longest(_leaves(one, ()), _leaves(other, ())):
        if left is None or right is None:
            return None
        (place, *mine), (_, *theirs) = left, right
        texts.update((place, leaf[2]) for leaf in (mine, theirs) if leaf[:2] == [_INT, str] and leaf[2] is not None)
        if mine == theirs:
            continue
        if (kind := _optional_kind(place, mine, theirs)) is not None:
            optional.add((place, kind))
        elif mine[0] not in (_INT, _MEMBER) or theirs[:2] != mine[:2]:
            return None
        kind = mine[1] if kind is None else kind
        if is_enumeration(kind):
            members.add(place)
        elif kind not in (float, np.float64):
            ints.add(place)
    known = frozenset(one for one in texts if one[0] in ints)
    return Varying(frozenset(ints), frozenset(), frozenset(optional), frozenset(members), texts=known)


def _optional_kind(column: Column, *leaves: list[Any]) -> type | None:
    """The type of what is None in one of two descriptions, or may be; None if that is not all that differs."""
    if IN_LIST not in column or not all(leaf[0] in _MAY_BE_MISSING for leaf in leaves):
        return None
    may_be_none = any(leaf in ([_EQUAL, None], [_OPTIONAL, leaf[-1]]) for leaf in leaves)
    kinds = {leaf[1] for leaf in leaves if leaf != [_EQUAL, None]}
    if not may_be_none or len(kinds) != 1:
        return None
    (kind,) = kinds
    return kind if kind in PLACEHOLDERS or is_enumeration(kind) else None


def is_enumeration(kind: Any) -> bool:
    """Whether the instances of a class are members of an enumeration, and nothing else, such as ints."""
    return type(kind) is enum.EnumType and not issubclass(kind, (enum.Flag, int, str, float, bytes, tuple))


def is_of_ints(dtype: np.dtype[Any]) -> bool:
    """Whether what has NumPy's type ``dtype`` are ints that a program can read."""
    return dtype.kind in "iu" and dtype.isnative and dtype != np.uint64


_INT, _FLOAT, _MEMBER, _OPTIONAL, _EQUAL = "an int", "a float", "a member", "optional", "equal"
#: Of these, one may be None in one call, and something else in another.
_MAY_BE_MISSING = frozenset({_INT, _FLOAT, _MEMBER, _OPTIONAL, _EQUAL})


def _leaves(spec: tuple[Any, ...], column: Column) -> Iterator[tuple[Any, ...]]:
    """What is in a description, with its column: numbers, and in between whatever else must be the same."""
    match spec:
        case ("passive", _, kind):
            yield column, _FLOAT, kind
        case ("equal", number) if type(number) is int:
            yield column, _INT, int, number
        case ("equal", thing) if type(thing) in (bool, str) and IN_LIST in column:
            yield column, _INT, type(thing), thing
        case ("is", thing) if IN_LIST in column and is_enumeration(type(thing)):
            yield column, _MEMBER, type(thing), id(thing)
        case ("is", thing, *rest):
            yield column, "is", id(thing), *rest
        case ("member", _, (member, *_)):
            yield column, _MEMBER, type(member), None
        case ("text", *_):
            yield column, _INT, str, None
        case ("bool", _):
            yield column, _INT, bool, None
        case ("optional", _, instead, _):
            yield column, _OPTIONAL, type(instead)
        case ("int", _, _):
            yield column, _INT, int, None
        case ("int", _, _, kind):
            yield column, kind, ()
            yield column, _INT, np.dtype(kind), None
        case ("key", kind, _, (typed, shape, numbers), _) if _is_numpys(kind) and is_of_ints(dtype := np.dtype(typed)):
            yield column, kind, shape
            yield ((*column, IN_LIST) if kind is np.ndarray else column), _INT, dtype, numbers
        case ("ints", kind, shape, _, _, dtype):
            yield column, kind, shape
            yield (*column, IN_LIST), _INT, dtype, None
        case ("floats", kind, _, length, active, _):
            yield column, kind, length
            if not active:
                each = ((column + _key(kind, i), _FLOAT, float) for i in range(length))
                yield from repeat(next(each), length) if kind is list and length else each
        case ("sequence", kind, parts, *_):
            yield column, kind, len(parts)
            yield from _of_parts(((column + _key(kind, i), part) for i, part in enumerate(parts)))
        case (("dict" | "fields"), kind, named, *_):
            yield column, kind, [name for name, _ in named]
            yield from _of_parts(((*column, name), part) for name, part in named)
        case ("node", kind, parts, _, flatten, rest):
            yield column, kind, flatten, rest
            yield from _of_parts(((*column, i), part) for i, part in enumerate(parts))
        case ("apart", captured, part):
            yield column, "apart", captured
            yield from _leaves(part, column)
        case ("array", _, shape, _, active):
            yield column, "array", shape, active
        case (("active" | "value" | "variable" | "index") as kind, *_):
            yield column, kind
        case _:
            yield column, *spec


def _is_numpys(kind: type) -> bool:
    return issubclass(kind, (np.ndarray, np.generic))


def _of_parts(parts: Iterable[tuple[Column, tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    for column, part in parts:
        yield from _leaves(part, column)


def _key(kind: type, place: int) -> Column:
    return (IN_LIST,) if kind is list else (place,)
