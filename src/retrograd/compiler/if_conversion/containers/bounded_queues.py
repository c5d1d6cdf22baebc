"""What changes a deque with a ``maxlen``, of which decisions choose how many items it has: to append drops the first.

It has as many entries as it may have items, and those that are there are the last of them. They are numbered from the
end, so that two arms have the same numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ..tracers.conditions import must_hold, negated
from ..tracers.entry_places import both, one_of
from ..tracers.partial_list import Entry, PartialList
from ..tracers.partial_lists import entries_of, store
from ..trial import refuse

__all__ = ["METHODS", "bounded"]


def bounded(thing: deque[Any]) -> PartialList:
    """A deque that the function has made."""
    return PartialList(_numbered([(one, True) for one in thing]), deque, most=thing.maxlen)


def _numbered(pairs: Sequence[tuple[Any, Any]]) -> list[Entry]:
    return [Entry(place - len(pairs), item, test) for place, (item, test) in enumerate(pairs) if test is not False]


def _pairs(thing: PartialList) -> list[tuple[Any, Any]]:
    return [(one.item, one.is_there) for one in entries_of(thing)]


def _append(thing: PartialList, item: Any) -> None:
    assert thing._rg_most is not None
    pairs = [*_pairs(thing), (item, True)]
    store(thing, _numbered(pairs[max(len(pairs) - thing._rg_most, 0) :]))


def _extend(thing: PartialList, items: Any) -> None:
    for one in list(entries_of(items)):
        if one.is_there is not True:
            raise refuse("appends what may be there to a deque with a maxlen")
        _append(thing, one.item)


def _pop_left(thing: PartialList) -> Any:
    pairs = _pairs(thing)
    if not pairs or not must_hold(pairs[-1][1]):
        raise IndexError("pop from an empty deque")
    items, tests = [item for item, _ in pairs], [test for _, test in pairs]
    before = [False, *tests[:-1]]
    found = one_of(items, [both(test, negated(other)) for test, other in zip(tests, before, strict=True)])
    store(thing, _numbered(list(zip(items, before, strict=True))))
    return found


def _clear(thing: PartialList) -> None:
    store(thing, ())


def _as_it_is(name: str) -> Callable[..., Any]:
    """A method that is none of these, of a deque that surely has all of its items."""

    def changed(thing: PartialList, *arguments: Any) -> Any:
        pairs = _pairs(thing)
        if any(test is not True for _, test in pairs):
            raise refuse(f"calls {name} of a deque with a maxlen, of which decisions choose the items")
        plain = deque((item for item, _ in pairs), thing._rg_most)
        found = getattr(plain, name)(*arguments)
        store(thing, _numbered([(one, True) for one in plain]))
        return found

    return changed


#: What else changes a deque; the rest reads it.
_OTHERS = ("appendleft", "extendleft", "insert", "pop", "remove", "reverse", "rotate", "__delitem__", "__setstate__")

METHODS: dict[str, Callable[..., Any]] = {
    "append": _append,
    "clear": _clear,
    "copy": lambda thing: PartialList(_numbered(_pairs(thing)), deque, most=thing._rg_most),
    "extend": _extend,
    "popleft": _pop_left,
    **{name: _as_it_is(name) for name in _OTHERS},
}
