"""A list that decisions choose the items of: one of two lists, or of some, which are as long.

It has what is selected of their items, and follows them: what is stored in one of them, it has if it is that one, and
what is stored in it, each of them has that it may be. One that was chosen from others which were chosen, time after
time, is a copy: while the function reads that, nothing may change. Where something does, the copy tells the trial, and
the trace is thrown away.
"""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, ModuleType
from typing import Any, ClassVar, NamedTuple, NoReturn

from ..running_trial import current

__all__ = ["FrozenList", "Original"]

#: Lists from which decisions have chosen, by their ids, each with the items that it had.
Originals = dict[int, tuple[Any, tuple[Any, ...]]]

#: So often a list is chosen from such as were chosen, each of which follows the others.
_DEEPEST = 6
#: So many states are remembered in which a list has what the ones have that it was chosen from.
_MOST_STATES = 4


class Original(NamedTuple):
    """A list that another one may be."""

    thing: Any
    test: Any  #: a comparison
    outcome: bool  #: of that, if it is this one


class FrozenList:
    """Reads as a list does.

    Args:
        items: those that were chosen.
        originals: the lists that it may be, of which it is one.
        fails: called where it can no longer say what it has.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    __slots__ = ("_copied", "_depth", "_fails", "_follows", "_is_copied", "_items", "_originals", "_states")

    def __init__(self, items: Sequence[Any], originals: Sequence[Original], fails: Callable[[], None]) -> None:
        self._items, self._fails = tuple(items), fails
        self._is_copied = False  # something has a copy, which knows nothing of what is stored here
        frozen = [one.thing for one in originals if type(one.thing) is FrozenList]
        self._depth: int = 1 + sorted([0, *(one._depth for one in frozen)])[-1]
        self._follows: bool = self._depth <= _DEEPEST
        self._originals: tuple[Original, ...] = tuple(originals) if self._follows else ()
        self._copied: Originals = {}  # those that must not change
        self._states: list[tuple[tuple[Any, ...], list[tuple[Any, ...]]]] = []  # its items, and those of each
        self.note()
        if self._follows:
            for one in frozen:
                one.let_go()
        else:
            self._depth = 1
            for each in originals:
                self._copied |= _held_elsewhere(_copied_from(each.thing))

    def let_go(self) -> None:
        """Forget the lists that nothing else holds: nothing can change what they have."""
        held_here = 2  # by the pair, and by the call
        left = [
            one for one in self._originals if type(one.thing) is FrozenList or sys.getrefcount(one.thing) > held_here
        ]
        if len(left) < len(self._originals):
            self._checked()
            self._originals, self._states = tuple(left), []
            self.note()

    def may_be_stored_in(self) -> bool:
        """Whether each list can have what is stored here."""
        return self._follows and not self._is_copied

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, list) decides as it does in plain Python
        return list

    def _checked(self) -> tuple[Any, ...]:
        for now, then in self._copied.values():
            if not _is_the_same(now._checked() if type(now) is FrozenList else now, then):
                self._fails()
        if self._originals and not self._is_as_noted():
            _actions().follow(self)
        return self._items

    def _is_as_noted(self) -> bool:
        """Whether nothing has changed since it was last seen to have what the lists have that it may be."""
        items, thens = self._states[-1]
        return items is self._items and all(map(_is_the_same, self.held_now(), thens))

    def held_now(self) -> list[Sequence[Any]]:
        """What each list has now that it may be."""
        things = (one.thing for one in self._originals)
        return [one._checked() if type(one) is FrozenList else one for one in things]  # each asks others once

    def note(self) -> None:
        """It has what each list has that it may be."""
        self._states = [*self._states[1 - _MOST_STATES :], (self._items, [*map(tuple, self.held_now())])]

    def __len__(self) -> int:
        return len(self._checked())

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self._checked())):
            yield self._checked()[i]

    def __reversed__(self) -> Iterator[Any]:
        for i in range(len(self._checked()) - 1, -1, -1):
            yield self._checked()[i]

    def __getitem__(self, key: Any) -> Any:
        found = self._checked()[key]
        return list(found) if isinstance(key, slice) else found

    def __contains__(self, item: Any) -> bool:
        return item in self._checked()

    def copy(self) -> list[Any]:
        """A list of one's own."""
        return list(self._checked())

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """As ``copy.copy`` and ``copy.deepcopy`` read it: a copy is a list of its own."""
        return list, (self.copy(),)

    def index(self, *arguments: Any) -> int:
        """As of a list."""
        return self.copy().index(*arguments)

    def count(self, item: Any) -> int:
        """As of a list."""
        return self.copy().count(item)

    def __add__(self, other: Any) -> Any:
        return self.copy() + _plain(other)

    def __radd__(self, other: Any) -> Any:
        if _changes_in_place(sys._getframe(1)):  # which Python asks before the list itself
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
        if not self.may_be_stored_in() or type(key) is not int or current() is None:
            self._refuse()
        _actions().store(self, key, value)

    def __delitem__(self, key: Any) -> None:
        self._refuse()

    def __iadd__(self, other: Any) -> Any:
        self._refuse()

    def __imul__(self, count: Any) -> Any:
        self._refuse()

    def __getattr__(self, name: str) -> Any:
        """A list's other methods change it."""
        self._fails()
        raise AttributeError(f"'list' object that decisions choose has no attribute {name!r}")


def _held_elsewhere(originals: Originals) -> Originals:
    """Those that something else still holds, and can change."""
    held_here = 2  # by the pair, and by the call
    return {key: pair for key, pair in originals.items() if sys.getrefcount(pair[0]) > held_here}


def _changes_in_place(frame: FrameType) -> bool:
    """Whether the code in a frame is at a ``+=``, or not at an operator that can be told to be none."""
    code, now = frame.f_code.co_code, frame.f_lasti
    return code[now] != _BINARY_OP or code[now + 1] == _ADDS_IN_PLACE


_BINARY_OP = dis.opmap["BINARY_OP"]
_ADDS_IN_PLACE = [name for name, _ in dis._nb_ops].index("NB_INPLACE_ADD")  # type: ignore[attr-defined]


def _is_the_same(now: Sequence[Any], then: Sequence[Any]) -> bool:
    return len(now) == len(then) and all(map(operator.is_, now, then))


def _copied_from(thing: Any) -> Originals:
    """What must not change once a list is copied, of which decisions may choose the items: nor must the list."""
    if type(thing) is not FrozenList:
        return {id(thing): (thing, tuple(thing))}
    thing._is_copied = True
    thing.let_go()
    found = dict(thing._copied)
    for one in thing._originals:
        found |= _copied_from(one.thing)
    return found


def _actions() -> ModuleType:
    from . import selected_lists  # which imports this module, and the arms

    return selected_lists


def _define_comparison(name: str) -> None:
    function = getattr(operator, name)
    setattr(FrozenList, f"__{name}__", lambda self, other: bool(function(self.copy(), _plain(other))))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _define_comparison(_name)


def _plain(thing: Any) -> Any:
    return thing.copy() if type(thing) is FrozenList else thing
