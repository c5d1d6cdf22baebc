"""What is done with a set of which decisions choose what it has. Nothing asks for the order of its hashes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from ..tracers.conditions import must_hold, negated
from ..tracers.entry_places import both
from ..tracers.partial_list import PartialIterator, PartialList
from ..tracers.partial_lists import entries_of
from .dicts import contains, method_among, missing, replace, without_order
from .entries import cannot, is_surely, keys_of, put, without
from .tracers import KEYED, KeyedMethod, KeyEntry, PartialSet

__all__ = ["equal", "method", "operated", "set_of"]


def set_of(things: Any = ()) -> PartialSet:
    """``set(things)``."""
    made = PartialSet((), set)
    made._rg_now = type(made._rg_entries)(_united((), things))
    return made


def _given(things: Any) -> list[tuple[Any, Any]]:
    """What there may be among some things, and whether it is."""
    if type(things) in KEYED:
        return [(one.item, one.is_there) for one in without_order(things)]
    if type(things) in (PartialList, PartialIterator):
        return [(one.item, one.is_there) for one in entries_of(things)]
    if type(things) not in (set, frozenset, list, tuple, range, dict, type({}.keys())):
        cannot(f"meets a {type(things).__name__}")
    return [(one, True) for one in things]


def _united(entries: Iterable[KeyEntry], things: Any) -> list[KeyEntry]:
    found = list(entries)
    for key, test in _given(things):
        for one, holds in keys_of(key):
            found = put(found, one, both(test, holds), None, 0)
    return found


def _kept(one: PartialSet, other: Any, is_in: bool) -> PartialSet:
    """The entries that are in another one, or are not."""
    things = other if type(other) is PartialSet else set_of(other)
    tests = [contains(things, each.key) for each in one._rg_entries]
    made = [
        each._replace(is_there=both(each.is_there, test if is_in else negated(test)))
        for each, test in zip(one._rg_entries, tests, strict=True)
    ]
    return PartialSet([each for each in made if each.is_there is not False], set)


def _union(one: PartialSet, *others: Any) -> PartialSet:
    return PartialSet(functools.reduce(_united, others, list(one._rg_entries)), set)


def _intersection(one: PartialSet, *others: Any) -> PartialSet:
    return functools.reduce(lambda found, other: _kept(found, other, True), others, _copied(one))


def _difference(one: PartialSet, *others: Any) -> PartialSet:
    return functools.reduce(lambda found, other: _kept(found, other, False), others, _copied(one))


def _symmetric_difference(one: PartialSet, other: Any) -> PartialSet:
    things = other if type(other) is PartialSet else set_of(other)
    return _union(_kept(one, things, False), _kept(things, one, False))


def _is_within(one: PartialSet, other: Any) -> Any:
    things = other if type(other) is PartialSet else set_of(other)
    tests = (negated(both(each.is_there, negated(contains(things, each.key)))) for each in one._rg_entries)
    return functools.reduce(both, tests, True)


def _holds(one: PartialSet, other: Any) -> Any:
    return _is_within(other if type(other) is PartialSet else set_of(other), one)


def _is_apart(one: PartialSet, other: Any) -> Any:
    left = _kept(one, other, True)._rg_entries
    return functools.reduce(both, (negated(each.is_there) for each in left), True)


def equal(one: PartialSet, other: Any) -> Any:
    """``one == other``."""
    if type(other) not in (PartialSet, set, frozenset):
        return False if type(other) not in KEYED else cannot("is compared with another thing")
    return both(_is_within(one, other), _holds(one, other))


def operated(function: Any, one: Any, other: Any) -> Any:
    """An operator between two sets."""
    from .dicts import done

    if not all(type(each) in (PartialSet, set, frozenset) for each in (one, other)):
        cannot("meets another thing")
    if type(one) is not PartialSet:
        one = set_of(one)
    if function in _IN_PLACE:
        done(_changed, _IN_PLACE[function], one, other)
        return one
    return done(_OPERATORS[function], one, other)


def _is_less(one: PartialSet, other: Any) -> Any:
    return both(_is_within(one, other), negated(_holds(one, other)))


def _is_more(one: PartialSet, other: Any) -> Any:
    return both(_holds(one, other), negated(_is_within(one, other)))


_OPERATORS: dict[Any, Callable[..., Any]] = {
    operator.and_: _intersection,
    operator.or_: _union,
    operator.sub: _difference,
    operator.xor: _symmetric_difference,
    operator.le: _is_within,
    operator.lt: _is_less,
    operator.ge: _holds,
    operator.gt: _is_more,
}
_IN_PLACE: dict[Any, Callable[..., Any]] = {
    operator.iand: _intersection,
    operator.ior: _union,
    operator.isub: _difference,
    operator.ixor: _symmetric_difference,
}


# --- changes ------------------------------------------------------------------------------------------------------


def _changed(compute: Callable[..., PartialSet], thing: PartialSet, *others: Any) -> None:
    replace(thing, compute(thing, *others)._rg_entries)


def _add(thing: PartialSet, key: Any) -> None:
    _changed(_union, thing, [key])


def _discard(thing: PartialSet, key: Any) -> None:
    entries: list[KeyEntry] = list(thing._rg_entries)
    for one, test in keys_of(key):
        entries = without(entries, one, test)
    replace(thing, entries)


def _remove(thing: PartialSet, key: Any) -> None:
    found = contains(thing, key)
    if found is False or not (is_surely(found) or must_hold(found)):
        raise missing(key)
    _discard(thing, key)


def _copied(thing: PartialSet) -> PartialSet:
    return PartialSet(thing._rg_entries, set)


def method(thing: PartialSet, name: str) -> KeyedMethod:
    """``thing.name``."""
    return method_among(_METHODS, thing, name)


_METHODS: dict[str, Callable[..., Any]] = {
    "add": _add,
    "clear": lambda thing: replace(thing, ()),
    "copy": _copied,
    "difference": _difference,
    "difference_update": functools.partial(_changed, _difference),
    "discard": _discard,
    "intersection": _intersection,
    "intersection_update": functools.partial(_changed, _intersection),
    "isdisjoint": _is_apart,
    "issubset": _is_within,
    "issuperset": _holds,
    "remove": _remove,
    "symmetric_difference": _symmetric_difference,
    "symmetric_difference_update": functools.partial(_changed, _symmetric_difference),
    "union": _union,
    "update": functools.partial(_changed, _union),
}
