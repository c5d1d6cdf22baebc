"""Attributes and items, as arms read and store them; and what may be None."""

from __future__ import annotations

import inspect
import sys
import types
from collections import defaultdict, deque
from typing import Any, TypeVar

from ...engine import Value
from ..bool_tracer import BoolTracer
from ..choice_tracer import ChoiceTracer, is_choice
from ..guards.dependencies import is_library
from .conditions import joined, must_hold, negated
from .frozen_list import FrozenList
from .kinds import CONTAINERS, OPERANDS, STILL
from .objects import is_plain
from .selections import MaybeTracer, Selection
from .stores import Place
from .trial import Frame, NotAnArmError, current, in_arms, refuse

T = TypeVar("T")

__all__ = [
    "Within",
    "as_key",
    "attribute",
    "born",
    "changes",
    "is_none",
    "is_not_none",
    "is_own",
    "is_own_container",
    "item",
    "note_change",
    "places_of",
    "present",
    "set_attribute",
    "set_item",
    "set_within",
    "swap",
]

#: An item is selected among so many at most.
_MOST_PLACES = 32


def present(thing: Any) -> Any:
    """A thing that is not None where the arms are taken that read it so, which becomes a guard."""
    if type(thing) is not MaybeTracer:
        return thing
    trial = current()
    frames = trial.frames if trial is not None else []
    known = ((frame.test, frame.is_yes) for frame in frames if frame.test is not None)
    if not thing.is_there(known) and not must_hold(thing.tests[True]):
        raise TypeError("None where something else is wanted")
    return thing.thing


def is_none(thing: Any) -> Any:
    """``thing is None``."""
    return thing.tests[False] if type(thing) is MaybeTracer else thing is None


def is_not_none(thing: Any) -> Any:
    """``thing is not None``."""
    return thing.tests[True] if type(thing) is MaybeTracer else thing is not None


def attribute(thing: Any, name: str) -> Any:
    """``thing.name``."""
    thing = present(thing)
    if in_arms() and type(thing) is not types.ModuleType and type(thing) not in OPERANDS:
        of_class: Any = thing if isinstance(thing, type) else type(thing)
        if type(of_class) is not type and not is_library(type(of_class).__module__):
            raise refuse(f"reads .{name} of a {of_class.__name__}, whose class has a class of its own")
        found = inspect.getattr_static(of_class, name, None)
        if type(found) is property and isinstance(found.fget, types.FunctionType) and of_class is not thing:
            from .allowed import call

            return call(found.fget, thing)
        runs_code = hasattr(type(found), "__get__") and not isinstance(found, STILL)
        if runs_code or isinstance(of_class.__getattribute__, types.FunctionType):
            raise refuse(f"reads .{name}, which runs code")
        if hasattr(of_class, "__getattr__"):
            raise refuse(f"reads .{name} of a {of_class.__name__}, which has a __getattr__")
    return getattr(thing, name)


def set_attribute(thing: Any, name: str, value: Any) -> None:
    """``thing.name = value``."""
    if not in_arms():
        setattr(thing, name, value)
        return
    kind: Any = type(thing)
    descriptor = inspect.getattr_static(kind, name, None)
    runs_code = hasattr(type(descriptor), "__set__") and not isinstance(descriptor, types.MemberDescriptorType)
    if is_own(thing) and kind.__setattr__ is object.__setattr__ and not runs_code:
        note_change()
        setattr(thing, name, value)
        return
    is_slot = isinstance(descriptor, types.MemberDescriptorType) and kind is not Value
    is_still = not hasattr(type(descriptor), "__set__") and name in getattr(thing, "__dict__", ())
    if isinstance(thing, (type, types.ModuleType)) or kind.__setattr__ is not object.__setattr__:
        raise refuse(f"sets an attribute of a {kind.__name__}")
    attribute(thing, name)  # which looks at how it is read
    if not is_slot and not is_still:
        raise refuse(f"sets .{name} of a {kind.__name__}, which has none yet or runs code")
    _store(Place(thing, name, False), value)


def item(thing: Any, key: Any) -> Any:
    """``thing[key]``."""
    thing, key = present(thing), as_key(present(key))
    is_known = type(thing) in CONTAINERS or is_own_container(thing) or type(thing).__getitem__ is tuple.__getitem__
    if in_arms() and not is_known:
        raise refuse(f"reads an item of a {type(thing).__name__}")
    if type(thing) is defaultdict and in_arms():
        note_change()
    if is_choice(key) and current() is not None and type(thing) in (list, tuple, dict, FrozenList, range):
        return _item_by_choice(thing, key)
    found = thing[key]
    return born(found) if type(thing) is list and type(key) is slice else found


def places_of(thing: Any, key: Any) -> list[Any]:
    """Where in a list, a tuple or a dictionary a key may be that decisions choose; none for another key."""
    is_chosen = is_choice(key) and current() is not None and type(thing) in (list, tuple, dict)
    return _places(thing, key) if is_chosen else []


def _item_by_choice(thing: Any, key: ChoiceTracer) -> Any:
    trial, places = current(), _places(thing, key)
    if not places or trial is None:
        return thing[key.plain()]
    try:
        found = thing[places[0]]
        for place in places[1:]:
            is_there = key.is_(place)
            found = _chosen_at(is_there, thing[place], found)
    except NotAnArmError as problem:
        trial.note(str(problem))
        return thing[key.plain()]
    return found


def _places(thing: Any, key: ChoiceTracer) -> list[Any]:
    """Where a key may be in a container, if it is known; that it is nowhere else becomes a guard."""
    options = key.possible()
    if options is None or len(options) > _MOST_PLACES:
        return []
    found: list[Any] = []
    for option in sorted(options, key=repr):
        exists = option in thing if type(thing) is dict else type(option) is int and -len(thing) <= option < len(thing)
        if exists:
            found.append(option)
        elif not must_hold(negated(key.is_(option))):
            return []  # so the function raises
    return found


def set_item(value: Any, thing: Any, key: Any) -> None:
    """``thing[key] = value``."""
    key = as_key(key)
    if not is_choice(key) or type(thing) not in (list, dict) or current() is None:
        _set_item(value, thing, key)
        return
    tests: dict[Any, Any] = {}  # by place: a negative index is another name of one
    for option in _places(thing, key):
        place = option + len(thing) if type(thing) is list and option < 0 else option
        tests[place] = joined("maximum", key.is_(option), tests.get(place, False))
    try:
        chosen = {place: _chosen_at(test, value, thing[place]) for place, test in tests.items()}
    except NotAnArmError:
        chosen = {}
    for place, one in (chosen or {key.plain(): value}).items():
        _set_item(one, thing, place)


class Within:
    """``things[key]``, a part of which is read or stored: in each thing that a key may choose."""

    __slots__ = ("_chosen", "_key", "_thing", "_things")

    def __init__(self, things: Any, key: Any) -> None:
        self._things, self._key = things, key
        self._chosen = {place: things[place] for place in places_of(things, key)}
        self._thing = item(things, key) if len(self._chosen) < 2 else None

    def _settle(self, name: Any, is_item: bool) -> bool:
        """Whether one thing is meant: also where the part of another one may run code, or is not there yet."""
        if len(self._chosen) > 1 and not all(_is_still(one, name, is_item) for one in self._chosen.values()):
            self._chosen, self._thing = {}, self._things[self._key.plain()]
        return len(self._chosen) < 2

    def read(self, name: Any, is_item: bool) -> Any:
        """What the part is."""
        if self._settle(name, is_item):
            return _part(self._thing, name, is_item)
        (_, found), *others = ((place, _part(one, name, is_item)) for place, one in self._chosen.items())
        for place, one in others:
            found = _chosen_at(self._key.is_(place), one, found)
        return found

    def store(self, value: Any, name: Any, is_item: bool) -> None:
        """Store a value in the part. After that, this object holds no row, so that rows can change places."""
        is_one = self._settle(name, is_item)
        thing, self._thing = self._thing, None
        chosen, self._chosen = self._chosen, {}
        if is_one:
            _set_part(thing, name, value, is_item)
            return
        tests: dict[int, Any] = {}  # by the thing, which may be in several places
        for place, one in chosen.items():
            tests[id(one)] = joined("maximum", self._key.is_(place), tests.get(id(one), False))
        for one in {id(one): one for one in chosen.values()}.values():
            _set_part(one, name, _chosen_at(tests[id(one)], value, _part(one, name, is_item)), is_item)


def _is_still(thing: Any, name: Any, is_item: bool) -> bool:
    """Whether to read a part of a thing, and to store it, runs no code of the user's and makes nothing."""
    if is_item:
        return type(thing) is list or (type(thing) is dict and not is_choice(name) and name in thing)
    kind: Any = type(thing)
    still = kind.__setattr__ is object.__setattr__ and kind.__getattribute__ is object.__getattribute__
    found = inspect.getattr_static(kind, name, None)
    is_slot = isinstance(found, types.MemberDescriptorType) and hasattr(thing, name)
    return still and (is_slot or (not hasattr(type(found), "__set__") and name in getattr(thing, "__dict__", ())))


def set_within(value: Any, things: Any, key: Any, name: Any, is_item: bool) -> None:
    """``things[key][name] = value``, or ``things[key].name = value``."""
    Within(things, key).store(value, name, is_item)


def _part(thing: Any, name: Any, is_item: bool) -> Any:
    return item(thing, name) if is_item else attribute(thing, name)


def _set_part(thing: Any, name: Any, value: Any, is_item: bool) -> None:
    if is_item:
        set_item(value, thing, name)
    else:
        set_attribute(thing, name, value)


def swap(things: Any, one: Any, other: Any) -> None:
    """``things[one], things[other] = things[other], things[one]``: also of rows, which are new lists then."""
    is_chosen = type(things) is list and (is_choice(one) or is_choice(other)) and current() is not None
    may_change = not in_arms() or is_own_container(things)
    places = sorted(_swapped(things, one) | _swapped(things, other)) if is_chosen and may_change else []
    if _are_only_in(things, places):
        columns = [born([None] * len(things)) for _ in things[places[0]]]
        for place in places:
            for column, number in zip(columns, things[place], strict=True):
                column[place] = number
        for column in columns:
            swap(column, one, other)
        for place in places:
            _set_item(born([column[place] for column in columns]), things, place)
        return
    first, second = item(things, other), item(things, one)
    set_item(first, things, one)
    set_item(second, things, other)


def _swapped(things: list[Any], key: Any) -> set[int]:
    """Where a key may be, counted from the begin."""
    found = _places(things, key) if is_choice(key) else [key]
    return {place % len(things) for place in found if type(place) is int and -len(things) <= place < len(things)}


def _are_only_in(things: Any, places: list[int]) -> bool:
    """Whether there are lists of one length in some places, which nothing else holds: others may take theirs."""
    rows = [things[place] for place in places]
    held_here = 3  # by the table, by the list of rows, and by the call
    return (
        len(places) > 1
        and all(type(row) is list for row in rows)
        and len(set(map(len, rows))) == 1
        and all(sys.getrefcount(rows[i]) == held_here + is_own(rows[i]) for i in range(len(rows)))
    )


def _chosen_at(test: Any, value: Any, before: Any) -> Any:
    return Selection(test).of(value, before) if type(test) is BoolTracer else value if test else before


def _set_item(value: Any, thing: Any, key: Any) -> None:
    if not in_arms():
        thing[key] = value
    elif is_own_container(thing):
        if type(key) is slice and type(value) not in (list, tuple):
            raise refuse(f"sets items to those of a {type(value).__name__}")
        note_change()
        thing[key] = value
    elif type(thing) is list and type(key) is int:
        _store(Place(thing, key + len(thing) if key < 0 else key, True), value)
    elif type(thing) is dict and type(key) in (int, str) and key in thing:
        _store(Place(thing, key, True), value)
    else:
        raise refuse(f"sets an item of a {type(thing).__name__}")


def _store(place: Place, value: Any) -> None:
    trial = current()
    assert trial is not None  # in arms
    trial.store(place, value)


def born(thing: T) -> T:
    """A list, a dictionary or an object that an arm has made, and may change."""
    if in_arms():
        _frame().born[id(thing)] = thing
    return thing


def is_own(thing: Any) -> bool:
    """Whether a list, a dictionary or an object was made by the innermost arm."""
    return in_arms() and id(thing) in _frame().born


def as_key(thing: Any) -> Any:
    """A key or a place, which runs no code of the user's."""
    if in_arms() and not is_plain(thing):
        raise refuse(f"has a {type(thing).__name__} as a key")
    return thing


def note_change() -> None:
    """The innermost arm changes what it has made, or stores something."""
    _frame().changes += 1


def changes() -> int:
    """How often that was noted."""
    return _frame().changes


def is_own_container(thing: Any) -> bool:
    """Whether it is a list, a dictionary or a queue, too, and no object of a class that does something else."""
    return type(thing) in _MADE and is_own(thing)


_MADE = frozenset({list, dict, deque, defaultdict})


def _frame() -> Frame:
    trial = current()
    assert trial is not None  # in arms
    return trial.frames[-1]
