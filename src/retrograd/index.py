"""Integers that select data: a token's id, a label, a row of a table.

``Index(7)`` is an int that is marked as an index. ``take(sequence, i)`` and ``table(rows)[i]`` select with it. In plain
Python they do the same as ``sequence[i]``. In a function that ``retrograd.compile`` traces, an Index argument becomes a
:class:`IndexTracer`. The trace keeps a selection with it, and the compiled program selects in each call with the index
of that call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol, SupportsIndex

from . import errors

__all__ = ["RELATIONS", "Index", "IndexRecorder", "IndexTracer", "Table", "position_in", "table", "take"]


class Index(int):
    """An integer that selects data: a token's id, a label, the number of a row.

    It computes and compares as the int does, and the results are plain ints. Among the arguments of a compiled function
    it says that the integer differs from call to call: the program selects with the index of each call.

    Args:
        value: A whole number: an int, a NumPy integer, or anything with ``__index__``.

    Raises:
        TypeError: ``value`` is not a whole number.

    Example:
        >>> from retrograd import Index, take
        >>> take(["a", "b", "c"], Index(2))
        'c'
        >>> Index(2) + 1
        3
    """

    __slots__ = ()

    def __new__(cls, value: SupportsIndex) -> Any:
        if isinstance(value, IndexTracer):
            return value  # it is one already
        try:
            return int.__new__(cls, operator.index(value))
        except TypeError:
            raise errors.not_an_index(value, "Index(…)") from None

    def __repr__(self) -> str:
        return f"Index({int(self)})"

    def __str__(self) -> str:
        return str(int(self))


class IndexRecorder(Protocol):
    """What a traced index calls when it is used: the compiler's recorder."""

    def select(self, sequence: Any, index: IndexTracer) -> Any:
        """The element that the index selects, as a node of the trace."""

    def compare_index(self, kind: str, index: IndexTracer, other: object, outcome: bool) -> Any:
        """What a comparison of the index gives: its outcome, which decides, or a tracer of it."""

    def untraceable(self, what: str) -> None:
        """A graph break: the function did something that a program cannot do."""

    def check(self, thing: str) -> None:
        """Raises LeakedTraceError when the function has returned, or another thread traces it."""


class IndexTracer:
    """The tracer of an Index: what a function that is being traced gets for an Index argument.

    ``take`` and ``table`` select with it. A comparison gives a bool, which becomes a guard of the compiled program. Any
    other use (indexing a list, arithmetic, a dict's key) needs the plain number of this one call and raises
    TracedIndexError.
    """

    __slots__ = ("_recorder", "_slot", "_value")

    def __init__(self, recorder: IndexRecorder, slot: int, value: int) -> None:
        self._recorder = recorder
        self._slot = slot
        self._value = value

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(i, int) decides as it does in plain Python
        return Index

    def _refuse(self, *_: object) -> NoReturn:
        raise self._refusal()

    def _refusal(self) -> Exception:
        """The error that ``errors.not_a_number`` returns for an index."""
        self._recorder.check("an index")
        self._recorder.untraceable("uses an index as a number")  # the function may catch the refusal
        return errors.traced_index()

    def _compare(self, kind: str, other: object) -> Any:
        self._recorder.check("an index")
        value: Any = other._value if isinstance(other, IndexTracer) else other
        outcome = RELATIONS[kind](self._value, value)
        return outcome if outcome is NotImplemented else self._recorder.compare_index(kind, self, other, bool(outcome))

    def __lt__(self, other: object) -> Any:
        return self._compare("<", other)

    def __le__(self, other: object) -> Any:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> Any:
        return self._compare(">", other)

    def __ge__(self, other: object) -> Any:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> Any:
        return self._compare("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("!=", other)

    def __bool__(self) -> bool:
        return bool(self._compare("!=", 0))

    def __copy__(self) -> IndexTracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> IndexTracer:
        return self

    def __repr__(self) -> str:
        try:
            self._recorder.check("an index")
        except errors.LeakedTraceError:
            return "<an index of a trace that has ended>"
        self._recorder.untraceable("turns an index into text")
        return f"Index({self._value})"

    def __str__(self) -> str:
        return format(self, "")

    def __format__(self, spec: str) -> str:
        self._recorder.check("an index")
        self._recorder.untraceable("turns an index into text")
        return format(self._value, spec)


#: What an index in a trace refuses to do, as special methods.
_REFUSED = (
    "index int float complex hash array add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv "
    "mod rmod divmod rdivmod pow rpow lshift rlshift rshift rrshift and rand or ror xor rxor neg pos abs "
    "invert round floor ceil trunc"
)
for _name in _REFUSED.split():
    setattr(IndexTracer, f"__{_name}__", IndexTracer._refuse)


#: What compares, by its sign.
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def position_in(sequence: Any, index: SupportsIndex) -> int:
    """``index`` as a position in ``sequence``. Raises IndexError when there is none, TypeError for no whole number.

    Negative positions are refused: an id below zero is a mistake, not the last row.
    """
    try:
        position = operator.index(index)
    except errors.TracedIndexError:
        raise
    except TypeError:
        raise errors.not_an_index(index, "a selection") from None
    if not 0 <= position < len(sequence):
        raise errors.no_such_position(position, len(sequence))
    return position


def take(sequence: Sequence[Any], index: SupportsIndex) -> Any:
    """``sequence[index]``, for an index that differs from call to call of a compiled function.

    Args:
        sequence: Any sequence. While a function is compiled: one of Values and numbers, or of rows of them, which are
            equally long lists.
        index: A whole number from 0 up to, but below, ``len(sequence)``. A negative one is refused: an id below zero
            is a mistake, not the last row.

    Returns:
        The element; a row comes as a list while a function is compiled.

    Raises:
        IndexError: There is no such element.
        TypeError: ``index`` is not a whole number, or ``sequence`` cannot be part of a compiled function.
        ValueError: The rows differ in length, while a function is compiled.

    Example:
        >>> import retrograd as rg
        >>> rg.take([10.0, 20.0, 30.0], rg.Index(1))
        20.0
    """
    if isinstance(index, IndexTracer):
        return index._recorder.select(sequence, index)
    return sequence[position_in(sequence, index)]


class Table:
    """Rows to select from, as :func:`table` makes it: ``table(rows)[i]``."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows

    def __getitem__(self, index: SupportsIndex) -> Any:
        return take(self._rows, index)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<a table of {len(self._rows)} rows>"


def table(rows: Sequence[Any]) -> Table:
    """Let ``[i]`` select as :func:`take` does: ``table(rows)[i]`` is ``take(rows, i)``.

    Args:
        rows: A list of rows, or a flat list. It is not copied.

    Returns:
        A Table, with ``[i]`` and ``len``. Its ``[i]`` raises what :func:`take` raises.

    Raises:
        TypeError: ``rows`` is no sequence.

    Example:
        >>> import retrograd as rg
        >>> rg.table([[1.0, 2.0], [3.0, 4.0]])[rg.Index(1)]
        [3.0, 4.0]
    """
    if not hasattr(rows, "__getitem__"):
        raise TypeError(f"table takes a list, of rows or of numbers, and not {errors.describe(rows)}.")
    return Table(rows)
