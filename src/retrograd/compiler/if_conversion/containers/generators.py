"""What a generator function gives that has run at once, and whether it may: nothing that it reads changes meanwhile."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...guards.libraries import is_library
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice
from ..selecting.objects import is_still_tuple
from ..selecting.selections import NUMBERS
from ..tracers.partial_list import PartialIterator, PartialList
from ..tracers.partial_lists import has_changed
from ..trial import current, in_arms, refuse

__all__ = ["collected", "is_lazy", "sources_of", "want_lists"]

#: What a generator reads, and what it held when the generator was made.
Sources = list[tuple[Any, Sequence[Any]]]

_CONSTANTS = frozenset({bool, str, bytes, range, type(None), BoolTracer})


class _Variables:
    """What some variables hold now."""

    def __init__(self, read: Callable[[], tuple[Any, ...]]) -> None:
        self._read = read

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())


def want_lists(read: Callable[[], tuple[Any, ...]]) -> None:
    """A generator is to run at once, if it may, which gives a list of which decisions choose the items."""
    trial = current()
    if trial is not None and _known_in(read) is not None:
        trial.wants_lists = True


def sources_of(read: Callable[[], tuple[Any, ...]]) -> Sources | None:
    """What a generator reads, if it may run at once; None otherwise. ``read``: the variables that it reads."""
    trial = current()
    found = _known_in(read)
    if trial is not None and found is not None:
        trial.wants_lists = True
    if trial is None or found is None or not trial.lists:
        if in_arms():
            raise refuse("runs a generator of what may change meanwhile")
        return None
    return found


def _known_in(read: Callable[[], tuple[Any, ...]]) -> Sources | None:
    """What may change that variables hold, if it is known when it does."""
    try:
        values = read()
    except NameError:  # one is bound later, or not at all
        return None
    found: Sources = [(_Variables(read), values)]
    return found if all(_is_known(one, found) for one in values) else None


def _is_known(thing: Any, found: Sources) -> bool:
    """Whether a thing does not change, or is noted among what may."""
    kind: Any = type(thing)
    if kind in NUMBERS or kind in _CONSTANTS or is_choice(thing) or isinstance(thing, np.generic):
        return True
    if kind is PartialList:
        found.append((thing, thing._rg_entries))
        return all(_is_known(one.item, found) for one in thing._rg_entries)
    if kind is PartialIterator and thing._rg_kind is types.GeneratorType:
        found += thing._rg_sources
        return True
    if kind in (list, tuple) or is_still_tuple(kind):
        found += [(thing, tuple(thing))] if kind is list else []
        return all(_is_known(one, found) for one in thing)
    if kind is types.ModuleType:
        return is_library(thing.__name__)
    is_function = isinstance(thing, (types.FunctionType, np.ufunc, type)) or (
        kind is types.BuiltinFunctionType and isinstance(thing.__self__, (types.ModuleType, type(None)))
    )
    return is_function and is_library(getattr(thing, "__module__", None) or "numpy")


def is_lazy(sources: Sources | None) -> bool:
    """Whether a generator runs as it is."""
    return sources is None


def collected(given: PartialList, sources: Sources) -> PartialIterator:
    """What the generator gives: it is read once."""
    if any(has_changed(*source) for source in sources):
        raise refuse("runs a generator that changes what it reads")
    return PartialIterator(types.GeneratorType, given._rg_entries, sources)
