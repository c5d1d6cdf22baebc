"""Attributes and items, as arms read and store them; and what may be None."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
import types
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ....engine import Value
from ...guards.libraries import is_library
from ...tracing.bool_tracer import BoolTracer, is_comparison
from ...tracing.choice_tracer import ChoiceTracer, is_choice
from ...tracing.float_tracer import FloatTracer
from ..tracers.chosen_arrays import keys_of, place_of
from ..tracers.conditions import among, joined, must_hold, negated
from ..tracers.frozen_list import FrozenList
from ..tracers.maybe_tracer import MaybeTracer
from ..tracers.object_tracer import ObjectTracer, hash_by_identity
from ..tracers.selected_array import SelectedArray, selected
from ..tracers.test_array import TestArray
from ..trial import Frame, NotAnArmError, current, in_arms, once, recorder, refuse, running_line
from .kinds import CONTAINERS, OPERANDS, STILL
from .objects import fields_of, has_method, is_plain, is_told_apart, of_class
from .selections import NUMBERS, chosen_at, may_be_chosen, number_of
from .stores import Place

T = TypeVar("T")

__all__ = [
    "Within",
    "as_key",
    "attribute",
    "born",
    "changes",
    "got",
    "is_",
    "is_not",
    "is_own",
    "is_own_container",
    "is_same",
    "is_still",
    "is_told_by_identity",
    "item",
    "note_change",
    "one_by_choice",
    "one_of",
    "present",
    "set_attribute",
    "set_item",
    "set_within",
    "swap",
]

#: An item is selected among so many at most; one of a list by an int among more: machine code keeps it in memory.
_MOST_PLACES, _MOST_IN_LISTS = 32, 256
#: What an argument selects from a list.
_SELECTED = frozenset({Value, FloatTracer, float})


def present(thing: Any) -> Any:
    """A thing that is not None where the arms are taken that read it so, which becomes a guard."""
    return thing._rg_present() if type(thing) is MaybeTracer else thing


def is_(one: Any, other: Any) -> Any:
    """``one is other``."""
    if type(other) is MaybeTracer:
        one, other = other, one
    if type(one) is MaybeTracer:
        return _is_what_may_be_none(one, other)
    if one is None or other is None:
        return one is other
    if type(one) is BoolTracer and type(other) is bool:
        return one if other else negated(one)
    trial = current()
    if trial is not None and not (_has_identity(one) and _has_identity(other)):
        trial.breaks()  # a number, a record or a list that was chosen is another one
    return is_same(one, other) if ObjectTracer in (type(one), type(other)) else one is other


def _is_what_may_be_none(maybe: MaybeTracer, other: Any) -> Any:
    """``maybe is other``."""
    absent, there = maybe._rg_tests
    if type(other) is not MaybeTracer:
        return absent if other is None else joined("minimum", there, is_(maybe._rg_thing, other))
    other_absent, other_there = other._rg_tests
    both = joined("minimum", joined("minimum", there, other_there), is_(maybe._rg_thing, other._rg_thing))
    return joined("maximum", both, joined("minimum", absent, other_absent))


def _has_identity(thing: Any) -> bool:
    """Whether a thing in a trace is the very one that it is in the function."""
    kind = type(thing)
    if any(map(is_told_apart, thing._rg_things.values() if kind is ObjectTracer else [thing])):
        return False
    is_object = may_be_chosen(thing) and (kind is ObjectTracer or fields_of(thing) is None)
    return is_object or kind in (bool, type) or isinstance(thing, (type, types.ModuleType))


def is_not(one: Any, other: Any) -> Any:
    """``one is not other``."""
    return one._rg_tests[True] if type(one) is MaybeTracer and other is None else negated(is_(one, other))


def is_told_by_identity(kind: Any) -> bool:
    """Whether an object of a class is equal to itself alone."""
    equal: Any = object.__eq__
    return kind.__eq__ is equal


def is_same(one: Any, other: Any) -> Any:
    """Whether two things are one object, of which decisions choose at least one."""
    if type(one) is not ObjectTracer:
        one, other = other, one
    if type(other) is ObjectTracer:
        return number_of(one) == number_of(other)
    return among(one._rg_key, [place for place, thing in one._rg_things.items() if thing is other])


def attribute(thing: Any, name: str) -> Any:
    """``thing.name``."""
    thing = present(thing)
    kind = type(thing)
    if in_arms() and kind is not types.ModuleType and kind not in _READ_AS_THEY_ARE:
        is_class = issubclass(kind, type)
        if (getter := _getter(thing if is_class else kind, name, is_class)) is not None:
            from .allowed import call

            return call(getter, thing)
    return getattr(thing, name)


@once
def _getter(kind: Any, name: str, is_class: bool) -> types.FunctionType | None:
    """The function behind a property of a class's objects; None of what is read as it is.

    ``is_class``: it is read of the class itself.

    Raises:
        NotAnArmError: to read it runs other code.
    """
    if type(kind) is not type and not is_library(type(kind).__module__):
        raise refuse(f"reads .{name} of a {kind.__name__}, whose class has a class of its own")
    found = of_class(kind, name)
    if type(found) is property and isinstance(found.fget, types.FunctionType) and not is_class:
        return found.fget
    runs_code = hasattr(type(found), "__get__") and not isinstance(found, STILL)
    if runs_code or isinstance(kind.__getattribute__, types.FunctionType):
        raise refuse(f"reads .{name}, which runs code")
    may_be_missing = found is None or isinstance(found, types.MemberDescriptorType)
    if may_be_missing and has_method(kind, "__getattr__"):
        raise refuse(f"reads .{name} of a {kind.__name__}, which has a __getattr__")
    return None


_READ_AS_THEY_ARE = OPERANDS | {ObjectTracer, SelectedArray}


def set_attribute(thing: Any, name: str, value: Any) -> None:
    """``thing.name = value``."""
    thing = present(thing)
    if not in_arms() or type(thing) is ObjectTracer:
        setattr(thing, name, value)
        return
    kind: Any = type(thing)
    descriptor = of_class(kind, name)
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


def item(thing: Any, key: Any, at_once: bool = False) -> Any:
    """``thing[key]``. ``at_once``: it is only called, or an attribute of it is read."""
    thing = present(thing)
    if type(key) is MaybeTracer and type(thing) is dict and None in thing:
        return _of_optional(key, lambda known: item(thing, known, at_once))
    key = as_key(present(key))
    if type(thing) is ObjectTracer:
        return thing[key]
    if type(key) is ObjectTracer and type(thing) is dict:
        return item_by_object(thing, key)
    if type(key) is tuple and type(thing) is dict and (keys := _keys_in(thing, key)):
        return _at_one_of(thing, keys)
    is_known = type(thing) in CONTAINERS or is_own_container(thing) or type(thing).__getitem__ is tuple.__getitem__
    if in_arms() and not is_known:
        raise refuse(f"reads an item of a {type(thing).__name__}")
    if type(thing) is defaultdict and in_arms():
        note_change()
    if current() is not None and type(thing) in (list, tuple, dict, FrozenList, deque, range):
        key = recorder().count(key) if is_comparison(key) else key  # as Python does
        if is_choice(key):
            return _item_by_choice(thing, key, at_once)
    if current() is not None and type(thing) is np.ndarray and is_choice(key) and thing.ndim > 0:
        found = _item_by_choice(thing.tolist(), key, at_once) if thing.dtype in (object, np.float64) else thing[key]
        return np.array(found, object) if type(found) is list else found
    if current() is not None and type(thing) is np.ndarray and (keys := keys_of(thing, key, _places)):
        return _at_one_of(thing, keys)
    if type(key) is TestArray and (found := selected(thing, key)) is not None:
        return found
    found = thing[key]
    return born(found) if type(thing) is list and type(key) is slice else found


def _at_one_of(things: Any, keys: Mapping[Any, Any]) -> Any:
    """What is at one of some keys, of which each has a test that it is the one."""
    (found, _), *others = ((things[one], test) for one, test in keys.items())
    tests, items = [test for _, test in others], [one for one, _ in others]
    if len(others) > 1 and (number := recorder().one_of(tests, [found, *items])) is not None:
        return number
    for one, test in others:
        found = chosen_at(test, one, found)
    return found


def _keys_by_parts(key: tuple[Any, ...]) -> dict[Any, Any]:
    """The keys that a tuple may be of which decisions choose parts, and whether it is each; none of another one."""
    options: list[Any] = [part.possible() if is_choice(part) else [part] for part in key]
    if current() is None or not any(map(is_choice, key)):
        return {}
    if None in options or math.prod(map(len, options)) > _MOST_PLACES:
        return {}
    found: dict[Any, Any] = {}
    for one in itertools.product(*(sorted(parts, key=repr) for parts in options)):
        tests = [part.is_(option) for part, option in zip(key, one, strict=True) if is_choice(part)]
        found[one] = functools.reduce(functools.partial(joined, "minimum"), tests)
    return found


def _keys_in(things: dict[Any, Any], key: tuple[Any, ...]) -> dict[Any, Any]:
    """The keys that a tuple may be of which decisions choose parts, and whether it is each; none of another one."""
    keys = _keys_by_parts(key)
    absent = [test for one, test in keys.items() if one not in things]
    if not all(must_hold(negated(test)) for test in absent):
        return {}  # so the function raises
    return {one: test for one, test in keys.items() if one in things}


def _of_optional(key: MaybeTracer, look_up: Callable[[Any], Any]) -> Any:
    """What is found by a key that may be None."""
    from .decisions import select  # which imports this module

    return select(key._rg_there, lambda: look_up(key._rg_thing), lambda: look_up(None), running_line())


def _places_of(thing: Any, key: Any) -> list[Any]:
    """Where in a list, a tuple or a dictionary a key may be that decisions choose; none for another key."""
    is_chosen = is_choice(key) and current() is not None and type(thing) in (list, tuple, dict)
    return _places(thing, key) if is_chosen else []


def _item_by_choice(thing: Any, key: ChoiceTracer, at_once: bool) -> Any:
    if (selected := _item_by_argument(thing, key)) is not None:
        return selected
    things = {place: thing[place] for place in _places(thing, key)}
    return one_by_choice(things, key, at_once) if things else thing[key.plain()]


def one_by_choice(things: Mapping[Any, Any], key: ChoiceTracer, at_once: bool = False) -> Any:
    """One of some things, by the options of a key: a number, an object, or what it is in this run."""
    trial = current()
    if trial is None:
        return things[key.plain()]
    if len(things) > 1 and all(map(_is_chosen_whole, things.values())):
        site = trial.allow_object(at_once)
        if site is not None:
            return ObjectTracer(things, key, site)
    try:
        return one_of(things, key)
    except NotAnArmError as problem:
        trial.note(str(problem))
        return things[key.plain()]


def got(things: Any, key: Any, default: Any = None) -> Any:
    """``things.get(key, default)``, of a dictionary with a key that decisions choose; None where it is none."""
    if type(key) is MaybeTracer and type(things) is dict:
        return _of_optional(key, lambda known: _got_or_read(things, known, default))
    if type(key) is ObjectTracer and type(things) is dict and hash_by_identity(key):
        return one_by_choice({place: things.get(one, default) for place, one in key._rg_things.items()}, key._rg_key)
    options = key.possible() if type(things) is dict and is_choice(key) else None
    if not options or len(options) > _MOST_PLACES:
        return None
    return one_by_choice({option: things.get(option, default) for option in sorted(options, key=repr)}, key)


def _got_or_read(things: dict[Any, Any], key: Any, default: Any) -> Any:
    found = got(things, key, default)
    return things.get(key, default) if found is None else found


def _item_by_argument(thing: Any, key: ChoiceTracer) -> Any:
    """What an int argument selects from a list of numbers, or of as long lists of them; None from anything else."""
    if key.index is None or not _is_table(thing) or key.constant not in range(len(thing)):
        return None
    return recorder().select(thing, key.index)


def _is_table(thing: Any) -> bool:
    """Whether a thing is a list of numbers, or of as long lists of them."""
    if type(thing) not in (list, tuple) or not thing:
        return False
    if all(type(one) in _SELECTED for one in thing):
        return True
    return all(map(_is_table, thing)) and len(set(map(len, thing))) == 1


def one_of(things: Mapping[Any, Any], key: ChoiceTracer) -> Any:
    """One of some things, by the options of a key."""
    there = {place: one for place, one in things.items() if one is not None}
    if 0 < len(there) < len(things):  # what is known of the key then tells whether it is None
        return chosen_at(among(key, there), one_of(there, key), None)
    (_, found), *others = things.items()
    tests = [key.is_(place) for place, _ in others]
    if len(others) > 1 and (number := recorder().one_of(tests, [*things.values()])) is not None:
        return number
    for test, (_, one) in zip(tests, others, strict=True):
        found = chosen_at(test, one, found)
    return found


def _is_chosen_whole(thing: Any) -> bool:
    """Whether an item is an object that is chosen as one, and not field by field."""
    return type(thing) is not ObjectTracer and may_be_chosen(thing) and fields_of(thing) is None


def item_by_object(things: dict[Any, Any], key: ObjectTracer) -> Any:
    """``things[key]``, where decisions choose an object, such as a member of an Enum, which is the key."""
    if not hash_by_identity(key):
        return things[key]
    left = key._rg_key.possible()
    options = {place: one for place, one in key._rg_things.items() if left is None or place in left}
    found = {place: things[one] for place, one in options.items() if one in things}
    absent = [negated(key._rg_key.is_(place)) for place in options if place not in found]
    if not found or not all(map(must_hold, absent)):
        return things[key]  # so the function raises
    return one_of(found, key._rg_key)


def _places(thing: Any, key: ChoiceTracer) -> list[Any]:
    """Where a key may be in a container, if it is known; that it is nowhere else becomes a guard."""
    options = key.possible()
    if options is None and type(key.constant) is int and type(thing) is not dict:
        return _all_places(thing, key)
    if options is None or len(options) > (_MOST_PLACES if type(thing) is dict else _MOST_IN_LISTS):
        return []
    found: list[Any] = []
    for option in sorted(options, key=repr):
        exists = option in thing if type(thing) is dict else type(option) is int and -len(thing) <= option < len(thing)
        if exists:
            found.append(option)
        elif not must_hold(negated(key.is_(option))):
            return []  # so the function raises
    return found


def _all_places(thing: Sequence[Any], key: ChoiceTracer) -> list[Any]:
    """The places from the first to the last, if the key is one of them; that it is becomes a guard."""
    if not 0 < len(thing) <= _MOST_IN_LISTS:
        return []
    inside = must_hold(operator.ge(key, 0)) and must_hold(operator.lt(key, len(thing)))
    return [*range(len(thing))] if inside else []


def set_item(value: Any, thing: Any, key: Any) -> None:
    """``thing[key] = value``."""
    thing = present(thing)
    key = as_key(present(key) if type(thing) is list else key)
    if type(thing) is ObjectTracer:
        thing[key] = value
        return
    if type(key) is ObjectTracer and type(thing) is dict:
        for place, one in key._rg_things.items():
            _set_item(chosen_at(key._rg_key.is_(place), value, thing[one]), thing, one)
        return
    is_of_objects = current() is not None and type(thing) is np.ndarray and thing.dtype == object
    if is_of_objects and (keys := keys_of(thing, key, _places)):
        made = {one: chosen_at(test, value, thing[one]) for one, test in keys.items()}
        for one, number in made.items():
            _set_item(number, thing, one)
        return
    if not is_choice(key) or type(thing) not in (list, FrozenList, deque, dict) or current() is None:
        if not _set_masked(value, thing, key):
            _set_item(value, thing, key)
        return
    tests: dict[Any, Any] = {}  # by place: a negative index is another name of one
    for option in _places(thing, key):
        place = option + len(thing) if type(thing) is not dict and option < 0 else option
        tests[place] = joined("maximum", key.is_(option), tests.get(place, False))
    try:
        chosen = {place: chosen_at(test, value, thing[place]) for place, test in tests.items()}
    except NotAnArmError:
        chosen = {}
    for place, one in (chosen or {key.plain(): value}).items():
        _set_item(one, thing, place)


def _set_masked(value: Any, thing: Any, mask: Any) -> bool:
    """``thing[mask] = value``, of arrays of numbers and of tests; whether it is done."""
    is_masked = type(mask) is TestArray and type(thing) is np.ndarray and thing.dtype == object
    if not is_masked or thing.shape != mask.shape or type(value) not in NUMBERS or in_arms():
        return False
    tests, numbers = mask._rg_tests.ravel().tolist(), thing.ravel().tolist()
    try:
        chosen = [chosen_at(test, value, one) for test, one in zip(tests, numbers, strict=True)]
    except NotAnArmError:
        return False
    for place, one in zip(np.ndindex(thing.shape), chosen, strict=True):
        thing[place] = one
    return True


class Within:
    """``things[key]``, a part of which is read or stored: in each thing that a key may choose."""

    __slots__ = ("_chosen", "_key", "_thing", "_things")

    def __init__(self, things: Any, key: Any) -> None:
        self._things, self._key = things, key
        self._chosen = {place: things[place] for place in _places_of(things, key)}
        self._thing = item(things, key) if len(self._chosen) < 2 else None

    def _settle(self, name: Any, is_item: bool) -> bool:
        """Whether one thing is meant: also where the part of another one may run code, or is not there yet."""
        if len(self._chosen) > 1 and not all(is_still(one, name, is_item) for one in self._chosen.values()):
            self._chosen, self._thing = {}, self._things[self._key.plain()]
        return len(self._chosen) < 2

    def read(self, name: Any, is_item: bool) -> Any:
        """What the part is."""
        if self._settle(name, is_item):
            return _part(self._thing, name, is_item)
        (_, found), *others = ((place, _part(one, name, is_item)) for place, one in self._chosen.items())
        for place, one in others:
            found = chosen_at(self._key.is_(place), one, found)
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
            _set_part(one, name, chosen_at(tests[id(one)], value, _part(one, name, is_item)), is_item)


def is_still(thing: Any, name: Any, is_item: bool) -> bool:
    """Whether to read a part of a thing, and to store it, runs no code of the user's and makes nothing."""
    if is_item:
        return type(thing) in (list, FrozenList) or (type(thing) is dict and not is_choice(name) and name in thing)
    kind: Any = type(thing)
    still = kind.__setattr__ is object.__setattr__ and kind.__getattribute__ is object.__getattribute__
    found = of_class(kind, name)
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
    """``things[one], things[other] = things[other], things[one]``: of rows, what they hold changes places."""
    is_chosen = type(things) is list and (is_choice(one) or is_choice(other)) and current() is not None
    places = sorted(_swapped(things, one) | _swapped(things, other)) if is_chosen else []
    if _are_only_in(things, places):
        columns = [born([None] * len(things)) for _ in things[places[0]]]
        for place in places:
            for column, number in zip(columns, things[place], strict=True):
                column[place] = number
        for column in columns:
            swap(column, one, other)
        for place in places:
            for position, column in enumerate(columns):
                _set_item(column[place], things[place], position)
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
    rows, trial = [things[place] for place in places], current()
    if len(places) < 2 or trial is None or not all(type(row) is list for row in rows) or len({*map(len, rows)}) > 1:
        return False
    held_here = 3  # by the table, by the list of rows, and by the call
    return all(sys.getrefcount(rows[i]) == held_here + trial.holds(rows[i]) for i in range(len(rows)))


def _set_item(value: Any, thing: Any, key: Any) -> None:
    if not in_arms():
        thing[key] = value
    elif is_own_container(thing):
        if type(key) is slice and type(value) not in (list, tuple):
            raise refuse(f"sets items to those of a {type(value).__name__}")
        note_change()
        thing[key] = value
    elif type(thing) is FrozenList and type(key) is int and thing.may_be_stored_in():
        thing[key] = value
    elif type(thing) in (list, deque) and type(key) is int:
        _store(Place(thing, key + len(thing) if key < 0 else key, True), value)
    elif type(thing) is np.ndarray and (place := place_of(thing, key)) is not None:
        _store(place, value)
    elif type(thing) is dict and type(key) in (int, str) and key in thing:
        _store(Place(thing, key, True), value)
    else:
        is_new = type(thing) is dict and type(key) in (int, str)
        raise refuse(f"sets an item of a {type(thing).__name__}{' that is not there yet' if is_new else ''}")


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
