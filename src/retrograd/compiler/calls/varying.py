"""Finds the ints among the arguments that differ from call to call: a program reads those in each call, as floats.

At first an int is part of the program: it may be how often a loop runs. Where two calls differ in ints alone, those are
numbers, and with them all in the same *column*: what has the same path from the arguments but for positions in lists.
So are truth values and texts in lists, which are data; others choose what a function does, and each choice has its
program. A program knows the texts that the calls before it had there, or takes any if the function looks at none.
A float in the place of an int is another structure: what a function does with the two may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CONSTANT", "IN_LIST", "Column", "Varying", "between", "is_of_ints"]

#: Positions in tuples, keys and names of fields on the way from the arguments; in lists, ``IN_LIST``.
Column = tuple[Any, ...]
IN_LIST = "*"


class Varying(NamedTuple):
    """The columns of the ints that differ.

    Attributes:
        ints: what each call brings.
        plain: where ints differ that are wanted as plain ones, as by ``range``: they stay part of the program.
        texts: those that have been in a column.
    """

    ints: frozenset[Column] = frozenset()
    plain: frozenset[Column] = frozenset()
    texts: frozenset[tuple[Column, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.ints)

    def together(self, other: Varying) -> Varying:
        """The columns of both."""
        plain = self.plain | other.plain
        return Varying((self.ints | other.ints) - plain, plain, self.texts | other.texts)

    def without(self, columns: frozenset[Column]) -> Varying:
        """The same with some that are wanted as plain ints."""
        return self.together(Varying(plain=columns))

    def all_of(self) -> Varying:
        """The same with those that are wanted as plain ints among the others."""
        return Varying(self.ints | self.plain, texts=self.texts)

    def texts_in(self, column: Column) -> set[str]:
        """The texts that have been in a column."""
        return {text for place, text in self.texts if place == column}


#: No int differs.
CONSTANT = Varying()


def between(one: tuple[Any, ...], other: tuple[Any, ...]) -> Varying | None:
    """Where ints differ in two descriptions of arguments; None if something else does, too."""
    ints: set[Column] = set()
    leaves = [*_leaves(one, ())], [*_leaves(other, ())]
    if len(leaves[0]) != len(leaves[1]):
        return None
    for (column, *mine), (_, *theirs) in zip(*leaves, strict=True):
        if mine == theirs:
            continue
        if mine[0] != _INT or theirs[:2] != mine[:2]:
            return None
        ints.add(column)
    texts = [(column, leaf[2]) for column, *leaf in (*leaves[0], *leaves[1]) if column in ints and leaf[1] is str]
    return Varying(frozenset(ints), texts=frozenset((column, text) for column, text in texts if text is not None))


def is_of_ints(dtype: np.dtype[Any]) -> bool:
    """Whether what has NumPy's type ``dtype`` are ints that a program can read."""
    return dtype.kind in "iu" and dtype.isnative and dtype != np.uint64


_INT, _FLOAT = "an int", "a float"


def _leaves(spec: tuple[Any, ...], column: Column) -> Iterator[tuple[Any, ...]]:
    """What is in a description, with its column: numbers, and in between whatever else must be the same."""
    match spec:
        case ("passive", _, kind):
            yield column, _FLOAT, kind
        case ("equal", number) if type(number) is int:
            yield column, _INT, int, number
        case ("equal", thing) if type(thing) in (bool, str) and IN_LIST in column:
            yield column, _INT, type(thing), thing
        case ("text", *_):
            yield column, _INT, str, None
        case ("bool", _):
            yield column, _INT, bool, None
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


def _is_numpys(kind: type) -> bool:
    return issubclass(kind, (np.ndarray, np.generic))


def _of_parts(parts: Iterable[tuple[Column, tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    for column, part in parts:
        yield from _leaves(part, column)


def _key(kind: type, place: int) -> Column:
    return (IN_LIST,) if kind is list else (place,)
