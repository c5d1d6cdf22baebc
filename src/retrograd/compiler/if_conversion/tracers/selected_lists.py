"""What one of some lists has after those were changed, and what is stored in it."""

from __future__ import annotations

from typing import Any

from ..selecting.places import set_item
from ..selecting.selections import chosen_at
from ..selecting.stores import Place
from ..trial import NotAnArmError, current, in_arms
from .frozen_list import FrozenList, Original

__all__ = ["follow", "store"]


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
