"""One of some dictionaries, or sets: what is asked of each that it may be, and a copy of the one that it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...tracing.bool_tracer import BoolTracer
from ..selecting.objects import site_of
from ..tracers.object_tracer import ObjectTracer
from ..trial import current
from .tracers import Copied, KeyEntries, KeyEntry, PartialDict, PartialSet

if TYPE_CHECKING:
    from ..selecting.selections import Selection

__all__ = ["are_keyed", "asked_of_each", "copied_dict", "is_told_apart"]


def are_keyed(thing: Any) -> bool:
    """Whether decisions choose one of some such dictionaries, or sets."""
    return type(thing) is ObjectTracer and all(
        type(one) in (PartialDict, PartialSet) for one in thing._rg_things.values()
    )


def asked_of_each(thing: ObjectTracer, give: Callable[[Any], Any]) -> Any:
    """What that one gives."""
    from ..selecting.decisions import of_chosen  # which imports what imports this module

    return of_chosen(thing._rg_things, thing._rg_key, give, thing._rg_site)


def copied_dict(selection: Selection, test: BoolTracer, yes: Any, no: Any) -> PartialDict | None:
    """One of two dictionaries: a copy, which does not change, nor do they as long as it is read; None of others.

    It stands for both where something is done with it that cannot be done with each of them, such as a loop.
    """
    trial = current()
    if trial is None or not (_are_dicts(yes) and _are_dicts(no)) or (site := trial.allow_copy()) is None:
        return None
    trial.wants_dicts = True
    if not trial.dicts:
        return None
    changes: list[Callable[[], bool]] = []
    mine, theirs = _entries_of(yes, changes), _entries_of(no, changes)
    if mine is None or theirs is None or len(mine) + len(theirs) > _MOST:
        return None
    from .entries import merged  # which imports what imports this module

    made = PartialDict(merged(selection, test, mine, theirs), dict)
    made._rg_copied = Copied(site, changes)
    return made


def is_told_apart(thing: Any) -> bool:
    """Whether a thing was made for one of two, and is asked which object it is: the next trace makes none there."""
    trial = current()
    copied = thing._rg_copied if type(thing) is PartialDict else None
    site = copied.site if copied is not None else site_of(thing)
    if site is None or trial is None:
        return False
    trial.newly_told_apart.add(site)
    return True


#: So many entries both may have.
_MOST = 64


def _are_dicts(thing: Any) -> bool:
    """Whether a thing is a dictionary, or one of some."""
    if type(thing) is ObjectTracer:
        return all(map(_are_dicts, thing._rg_things.values()))
    is_partial = type(thing) is PartialDict and thing._rg_kind is dict and thing._rg_factory is None
    return is_partial or type(thing) is dict


def _entries_of(thing: Any, changes: list[Callable[[], bool]]) -> KeyEntries | None:
    """What a dictionary may have; None where that cannot be told. ``changes`` gets what tells whether that changes."""
    from .entries import is_constant, merged  # which imports what imports this module

    if type(thing) is dict:
        if not all(map(is_constant, thing)):
            return None
        changes.append(functools.partial(_has_changed, thing, tuple(thing.items())))
        return KeyEntries(KeyEntry(key, one, True, place + 1, None) for place, (key, one) in enumerate(thing.items()))
    if type(thing) is PartialDict:
        changes.append(functools.partial(_has_other_entries, thing, thing._rg_entries))
        return KeyEntries(one._replace(absent=None) for one in thing._rg_entries if one.is_there is not False)
    from ..selecting.selections import Selection

    found: KeyEntries | None = None
    for place, one in thing._rg_things.items():
        mine, test = _entries_of(one, changes), thing._rg_key.is_(place)
        if mine is None or found is None or test is True:
            found = mine
        elif type(test) is BoolTracer:
            found = merged(Selection(test), test, mine, found)
        if mine is None:
            return None
    return found


def _has_changed(thing: dict[Any, Any], then: tuple[tuple[Any, Any], ...]) -> bool:
    now = tuple(thing.items())
    return len(now) != len(then) or not all(a is c and b is d for (a, b), (c, d) in zip(now, then, strict=True))


def _has_other_entries(thing: PartialDict, then: KeyEntries) -> bool:
    return thing._rg_entries is not then
