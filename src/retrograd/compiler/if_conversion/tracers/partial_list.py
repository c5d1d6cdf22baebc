"""A list of which decisions choose the items that it has: those that passed a test, or were appended in an arm.

Its entries are the items that it may have, in order, and whether each is there. Where a plain list is wanted, that it
has the same items again becomes a guard.
"""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Iterator, Sequence
from types import FrameType, GeneratorType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..keyed.tracers import KEYED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "APPENDING",
    "Entries",
    "EntriesOf",
    "Entry",
    "Heap",
    "ListMethod",
    "Originals",
    "PartialIterator",
    "PartialList",
    "are_copied",
    "changes_in_place",
    "held_elsewhere",
]


#: What changes one of some lists, where an index or a key chooses which.
APPENDING = frozenset({"append", "clear", "extend"})

#: Lists from which decisions have chosen, by their ids, each with the items that it had.
Originals = dict[int, tuple[Any, tuple[Any, ...]]]


def held_elsewhere(originals: Originals) -> Originals:
    """Those that something else still holds, and can change."""
    held_here = 2  # by the pair, and by the call
    return {key: pair for key, pair in originals.items() if sys.getrefcount(pair[0]) > held_here}


class Entry(NamedTuple):
    """An item that a list may have."""

    number: int  #: the same in all states of the list
    item: Any
    is_there: Any  #: True, or a comparison


class Entries(tuple[Entry, ...]):
    """What a list may have at a time."""

    __slots__ = ()


class Heap(Entries):
    """What a heap may have: in the order in which it would be popped, those that are there first."""

    __slots__ = ()


class EntriesOf:
    """What a loop runs over: the entries of a list. Those of a plain one are read as the loop runs."""

    __slots__ = ("things",)

    def __init__(self, things: Any) -> None:
        self.things: Any = things

    def __iter__(self) -> Iterator[Entry]:
        if type(self.things) in (PartialList, PartialIterator, *KEYED):
            return iter(_actions().read_on(self.things))
        return (Entry(0, one, True) for one in self.things)


class PartialIterator:
    """What ``enumerate``, ``zip`` and ``reversed`` make of such lists: it is read once, while they do not change.

    Or a generator that has run at once.

    Args:
        kind: one of the three, or that of a generator.
        entries: what it gives.
        sources: the lists that it reads, and what they hold now.
    """

    __slots__ = ("_rg_entries", "_rg_is_read", "_rg_kind", "_rg_sources")

    def __init__(self, kind: Any, entries: Iterable[Entry], sources: Sequence[tuple[Any, Sequence[Any]]]) -> None:
        self._rg_kind: Any = kind
        self._rg_entries = tuple(entries)
        self._rg_sources = tuple(sources)
        self._rg_is_read = False

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._rg_kind

    def __iter__(self) -> Iterator[Any]:
        return iter(_actions().plain_items(self))

    def __next__(self) -> Any:
        if self._rg_kind is GeneratorType:
            from ..trial import refuse_lists  # which imports what imports this module

            raise refuse_lists("reads the next item of a generator")
        _actions().cannot(self)


class ListMethod:
    """A method of a list of which decisions choose the items."""

    __slots__ = ("_function", "_list")

    def __init__(self, function: Callable[..., Any], of: PartialList) -> None:
        self._function, self._list = function, of

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _actions().done(self._function, self._list, *arguments, **options)


class PartialList:
    """Reads as a list, or a deque, and changes as one.

    Args:
        entries: what it may have.
        kind: ``list`` or ``deque``.
        originals: of one that decisions have chosen, those that it is a copy of; from then on, none of them changes.
        most: the ``maxlen`` of a deque, if it has one.
        chosen: of one that an index or a key chooses, those by their places, and which it is: to append to it is to
            append to each of them that it may be.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    __slots__ = ("_rg_chosen", "_rg_entries", "_rg_kind", "_rg_most", "_rg_originals")

    def __init__(
        self,
        entries: Iterable[Entry],
        kind: type = list,
        originals: Originals | None = None,
        most: int | None = None,
    ) -> None:
        self._rg_chosen: tuple[Mapping[Any, Any], Any] | None = None
        self._rg_entries: Entries = Entries(entries)
        self._rg_kind = kind
        self._rg_most = most
        self._rg_originals: Originals = originals or {}

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, list) decides as it does in plain Python
        return self._rg_kind

    def __bool__(self) -> bool:
        return bool(_actions().truth(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(_actions().plain_items(self))

    def __getitem__(self, key: Any) -> Any:
        return _actions().done(_actions().item_at, self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _actions().done(_actions().set_item_at, self, key, value)

    def __add__(self, other: Any) -> Any:
        return _actions().done(_actions().joined_lists, self, other)

    def __radd__(self, other: Any) -> Any:
        if changes_in_place(sys._getframe(1)):  # which Python asks before the list itself
            _actions().cannot(self)
        return _actions().done(_actions().joined_lists, other, self)

    def __imul__(self, count: Any) -> Any:
        _actions().cannot(self)

    def __iadd__(self, other: Any) -> Any:
        _actions().done(_actions().extend, self, other)
        return self

    def __getattr__(self, name: str) -> Any:
        return _actions().method(self, name)

    def __delitem__(self, key: Any) -> None:
        _actions().done(_actions().delete, self, key)


def are_copied(lists: Iterable[Any], chosen: Any) -> bool:
    """Whether one of some partial lists that was chosen is none of them, but a copy."""
    return type(chosen) is PartialList and all(type(one) is PartialList and one is not chosen for one in lists)


def changes_in_place(frame: FrameType) -> bool:
    """Whether the code in a frame is at a ``+=``, or not at an operator that can be told to be none."""
    code, now = frame.f_code.co_code, frame.f_lasti
    return code[now] != _BINARY_OP or code[now + 1] == _ADDS_IN_PLACE


_BINARY_OP = dis.opmap["BINARY_OP"]
_ADDS_IN_PLACE = [name for name, _ in dis._nb_ops].index("NB_INPLACE_ADD")  # type: ignore[attr-defined]


def _actions() -> ModuleType:
    from . import partial_lists  # which imports this module, and the arms

    return partial_lists


def _define(name: str) -> None:
    function: Any = getattr(operator, name, None) or {"len": len, "reversed": reversed, "repr": repr}[name]
    setattr(PartialList, f"__{name}__", lambda self, *others: function(_actions().plain(self), *others))


for _name in ("len", "reversed", "repr", "contains", "mul", "eq", "ne", "lt", "le", "gt", "ge"):
    _define(_name)
