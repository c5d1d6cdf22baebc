"""The tracers of arguments that converted code alone can be asked for.

What may be None, members of enumerations, and lists that have other lengths in other calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tracing.bool_tracer import BoolTracer
from ..tracing.choice_tracer import ChoiceTracer
from .conversions import Site
from .tracers.maybe_tracer import MaybeTracer
from .tracers.object_tracer import ObjectTracer
from .tracers.partial_list import Originals, PartialList
from .tracers.partial_lists import partial
from .trial import current

__all__ = [
    "list_argument",
    "members_site",
    "one_of_members",
    "optional_argument",
    "reads_lengths",
    "reads_optional",
]

#: Of a list that converted code may not change: it is the caller's.
_NEVER_CHANGES: Originals = {0: ((), ())}


def reads_optional() -> bool:
    """Whether arguments are described for a trace in which it can be asked whether they are None."""
    return (trial := current()) is not None and trial.reads_optional()


def optional_argument(thing: Any, is_there: BoolTracer) -> MaybeTracer:
    """The tracer of an argument that may be None; ``thing``: of what it is else."""
    trial = current()
    assert trial is not None
    return MaybeTracer(trial, thing, is_there)


def reads_lengths() -> bool:
    """Whether arguments are described for a trace in which lists have as many items as they come with."""
    return (trial := current()) is not None and trial.reads_lengths()


def list_argument(count: ChoiceTracer, items: Sequence[Any]) -> PartialList:
    """The tracer of an argument that is a list of the first items, as many as ``count`` is in each call."""
    trial = current()
    assert trial is not None
    count.options = frozenset(range(len(items) + 1))
    assert type(count.constant) is int
    tests = [
        BoolTracer(count._recorder, ">", count.node, float(place), count.constant > place)
        for place in range(len(items))
    ]
    for place, test in enumerate(tests):
        trial.places[id(test)] = place, test, count
    made = partial(items, tests)
    made._rg_originals = _NEVER_CHANGES
    return made


def members_site() -> Site | None:
    """Where members of enumerations are chosen by the arguments; None if converted code cannot be asked for them."""
    trial = current()
    return trial.reads_members() if trial is not None else None


def one_of_members(key: ChoiceTracer, members: Sequence[Any], site: Site) -> ObjectTracer:
    """The tracer of an argument that is a member of an enumeration; ``key``: of its place among them."""
    things = dict(enumerate(members))
    key.options = frozenset(things)
    return ObjectTracer(things, key, site)
