"""Finds the ints and texts among the arguments that differ from call to call: a program reads those in each call.

At first they are part of the program: an int may be how often a loop runs, a text the name of an attribute. Where two
calls differ in them alone, they are numbers, and with them all in the same *column*: what has the same path from the
arguments but for positions in lists. A float in the place of an int is another structure: what a function does with
the two may differ.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["CONSTANT", "IN_LIST", "Column", "Varying", "between"]

#: Positions in tuples, keys and names of fields on the way from the arguments; in lists, ``IN_LIST``.
Column = tuple[Any, ...]
IN_LIST = "*"

#: A program tells so many texts of a column apart.
_MOST_TEXTS = 64


class Varying(NamedTuple):
    """The columns of the ints and texts that differ.

    Attributes:
        read: what each call brings.
        plain: where they differ and are wanted as they are, as an int by ``range``: they stay part of the program.
        texts: the texts that were in those columns.
    """

    read: frozenset[Column] = frozenset()
    plain: frozenset[Column] = frozenset()
    texts: frozenset[tuple[Column, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.read)

    def together(self, other: Varying) -> Varying:
        """The columns of both."""
        plain = self.plain | other.plain
        return Varying((self.read | other.read) - plain, plain, _few_in_each(self.texts | other.texts))

    def without(self, columns: frozenset[Column]) -> Varying:
        """The same with some that are wanted as they are."""
        return self.together(Varying(plain=columns))

    def with_few_texts(self) -> Varying:
        """The same, but for columns of more texts than a program tells apart."""
        counts = Counter(column for column, _ in self.texts)
        return self.without(frozenset(column for column, count in counts.items() if count > _MOST_TEXTS))

    def of_texts(self) -> frozenset[Column]:
        """The columns of texts among those that each call brings."""
        return self.read.intersection(column for column, _ in self.texts)

    def texts_in(self, column: Column) -> frozenset[str]:
        """The texts that were in a column."""
        return frozenset(text for one, text in self.texts if one == column)

    def all_of(self) -> Varying:
        """The same with those that are wanted as they are among the others."""
        return Varying(self.read | self.plain, texts=self.texts)


def _few_in_each(texts: frozenset[tuple[Column, str]]) -> frozenset[tuple[Column, str]]:
    """Of a column with more texts than a program tells apart, one more."""
    if len(texts) <= _MOST_TEXTS:
        return texts
    kept: dict[Column, list[str]] = defaultdict(list)
    for column, text in sorted(texts, key=repr):
        if len(kept[column]) <= _MOST_TEXTS:
            kept[column].append(text)
    return frozenset((column, text) for column, found in kept.items() for text in found)


#: Nothing differs.
CONSTANT = Varying()


def between(one: tuple[Any, ...], other: tuple[Any, ...]) -> Varying | None:
    """Where ints and texts differ in two descriptions of arguments; None if something else does, too."""
    columns: set[Column] = set()
    leaves = [*_leaves(one, ())], [*_leaves(other, ())]
    if len(leaves[0]) != len(leaves[1]):
        return None
    for (column, *mine), (_, *theirs) in zip(*leaves, strict=True):
        if mine == theirs:
            continue
        if mine[0] != theirs[0] or mine[0] not in (_INT, _TEXT):
            return None
        columns.add(column)
    found = ((column, text) for each in leaves for column, kind, *texts in each if kind == _TEXT for text in texts)
    texts = frozenset((column, text) for column, text in found if column in columns and text is not None)
    return Varying(frozenset(columns), texts=texts)


_INT, _FLOAT, _TEXT = "an int", "a float", "a text"


def _leaves(spec: tuple[Any, ...], column: Column) -> Iterator[tuple[Any, ...]]:
    """What is in a description, with its column: numbers, and in between whatever else must be the same."""
    match spec:
        case ("passive", _, kind):
            yield column, _FLOAT, kind
        case ("equal", number) if type(number) is int:
            yield column, _INT, number
        case ("int", *_):
            yield column, _INT, None
        case ("equal", text) if type(text) is str:
            yield column, _TEXT, text
        case ("text", *_):
            yield column, _TEXT, None
        case ("floats", kind, _, length, active, _):
            yield column, kind, length
            if not active:
                yield from ((column + _key(kind, i), _FLOAT, float) for i in range(length))
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


def _of_parts(parts: Iterable[tuple[Column, tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    for column, part in parts:
        yield from _leaves(part, column)


def _key(kind: type, place: int) -> Column:
    return (IN_LIST,) if kind is list else (place,)
