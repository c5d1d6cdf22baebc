"""Lists of which two arms have made one each, and what a list has after two arms that changed it.

And what is stored in one of some lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...tracing.bool_tracer import BoolTracer
from ..containers.heaps import heap_of
from ..selecting.places import set_item
from ..selecting.selections import Selection, chosen_at
from ..selecting.stores import Place
from ..trial import NotAnArmError, current, in_arms, refuse
from .conditions import must_hold_around, negated
from .entry_places import both
from .frozen_list import FrozenList, Original, copied_from
from .partial_list import Entries, Entry, Heap, Originals, PartialList, held_elsewhere
from .partial_lists import MOST, entries_of, numbers

__all__ = ["chosen_of", "follow", "merged", "store"]


def merged(selection: Selection, test: BoolTracer, yes: Entries, no: Entries) -> Entries:
    """What a list may have after two arms, by the test of the first one."""
    kind: Any = Heap if Heap in (type(yes), type(no)) else Entries
    if kind is Heap:
        yes, no = (heap_of(one, must_hold_around) for one in (yes, no))
    mine, theirs = ({one.number: one for one in entries} for entries in (yes, no))
    absent = negated(test)
    made: list[Entry] = []
    rest = list(no)

    def alone(entries: Iterable[Entry], holds: Any) -> list[Entry]:
        return [one._replace(is_there=both(holds, one.is_there)) for one in entries]

    def side_by_side(left: list[Entry], right: list[Entry]) -> None:
        """Entries that only one arm has: one for two that are surely there, if they can be selected."""
        while left and right and left[0].is_there is True and right[0].is_there is True:
            try:
                item = selection.of(left[0].item, right[0].item)
            except NotAnArmError:
                break
            made.append(Entry(next(numbers), item, True))
            del left[0], right[0]
        made.extend(alone(left, test))
        made.extend(alone(right, absent))

    new: list[Entry] = []
    for one in yes:
        if one.number not in theirs:
            new.append(one)
            continue
        place = next((i for i, each in enumerate(rest) if each.number == one.number), None)
        if place is None or any(each.number in mine for each in rest[:place]):
            raise refuse("puts the items of a list in another order")
        side_by_side(new, rest[:place])
        other, new, rest = rest[place], [], rest[place + 1 :]
        made.append(Entry(one.number, selection.of(one.item, other.item), selection.of(one.is_there, other.is_there)))
    side_by_side(new, rest)
    if len(made) > MOST:
        raise refuse(f"makes a list that may have more than {MOST} items")
    return kind(made)  # type: ignore[no-any-return]


def chosen_of(selection: Selection, test: BoolTracer, yes: Any, no: Any) -> PartialList:
    """One of two lists: a copy, which does not change, and from then on neither do they."""
    kinds = {one._rg_kind if type(one) is PartialList else list for one in (yes, no)}
    bounds = {one._rg_most if type(one) is PartialList else None for one in (yes, no)}
    if len(kinds) > 1 or len(bounds) > 1:
        raise refuse("gives another kind of list")
    originals: Originals = {}
    for one in (yes, no):
        if type(one) is FrozenList:
            originals |= held_elsewhere(copied_from(one))
            continue
        is_partial = type(one) is PartialList
        originals |= held_elsewhere(one._rg_originals) if is_partial else {}
        originals.setdefault(id(one), (one, tuple(one._rg_entries if is_partial else one)))
    return PartialList(merged(selection, test, entries_of(yes), entries_of(no)), kinds.pop(), originals, bounds.pop())


# --- one of some lists of one length ------------------------------------------------------------------------------


def follow(thing: FrozenList) -> None:
    """Let a list have what the lists have now that it may be: the item at a place that one has, if it is that one."""
    now = thing.held_now()
    if any(len(one) != len(thing._items) for one in now):
        thing._fails()
        return
    try:
        thing._items = tuple(_followed(thing, i, [one[i] for one in now]) for i in range(len(thing._items)))
    except NotAnArmError:
        thing._fails()
        raise
    thing.note()


def _followed(thing: FrozenList, i: int, items: list[Any]) -> Any:
    found = thing._items[i]
    thens = next((thens for known, thens in reversed(thing._states) if known[i] is found), None)
    for k, (one, item) in enumerate(zip(thing._originals, items, strict=True)):
        if thens is None or thens[k][i] is not item:
            found = _if_it_is(one, item, found)
    return found


def _if_it_is(one: Original, yes: Any, no: Any) -> Any:
    """One of two things, by whether a list that was chosen is a certain one."""
    return chosen_at(one.test, yes, no) if one.outcome else chosen_at(one.test, no, yes)


def store(thing: FrozenList, key: int, value: Any) -> None:
    """``thing[key] = value``: each list that it may be keeps what it has, unless it is the one."""
    items = thing._checked()
    if not -len(items) <= key < len(items):
        raise IndexError("list assignment index out of range")
    place = key % len(items)
    try:
        for one in thing._originals:
            set_item(_if_it_is(one, value, one.thing[place]), one.thing, place)
    except NotAnArmError:
        if not in_arms():
            thing._fails()
        raise
    made = (*items[:place], value, *items[place + 1 :])
    trial = current()
    if in_arms() and trial is not None:
        trial.store(Place(thing, "_items", False), made)
    else:
        thing._items = made
    thing.note()
