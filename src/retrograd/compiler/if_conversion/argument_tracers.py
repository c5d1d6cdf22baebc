"""The tracers of arguments that converted code alone can be asked for: optional ones, and members of enumerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tracing.bool_tracer import BoolTracer
from ..tracing.choice_tracer import ChoiceTracer
from .conversions import Site
from .tracers.maybe_tracer import MaybeTracer
from .tracers.object_tracer import ObjectTracer
from .trial import current

__all__ = [
    "members_site",
    "one_of_members",
    "optional_argument",
    "reads_optional",
]


def reads_optional() -> bool:
    """Whether arguments are described for a trace in which it can be asked whether they are None."""
    return (trial := current()) is not None and trial.reads_optional()


def optional_argument(thing: Any, is_there: BoolTracer) -> MaybeTracer:
    """The tracer of an argument that may be None; ``thing``: of what it is else."""
    trial = current()
    assert trial is not None
    return MaybeTracer(trial, thing, is_there)


def members_site() -> Site | None:
    """Where members of enumerations are chosen by the arguments; None if converted code cannot be asked for them."""
    trial = current()
    return trial.reads_members() if trial is not None else None


def one_of_members(key: ChoiceTracer, members: Sequence[Any], site: Site) -> ObjectTracer:
    """The tracer of an argument that is a member of an enumeration; ``key``: of its place among them."""
    things = dict(enumerate(members))
    key.options = frozenset(things)
    return ObjectTracer(things, key, site)
