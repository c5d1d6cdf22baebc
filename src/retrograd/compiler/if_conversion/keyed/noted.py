"""Notes what the function's own dictionaries and sets cannot do: the next trial has tracers in their places."""

from __future__ import annotations

import types
from collections import Counter, defaultdict
from typing import Any

from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice
from ..selecting.kinds import DICTIONARIES
from ..tracers.maybe_tracer import MaybeTracer
from ..tracers.object_tracer import ObjectTracer
from ..tracers.partial_list import PartialIterator, PartialList
from ..trial import current, in_arms
from .tracers import KEYED

__all__ = ["has_traced_keys", "is_traced", "note_keys"]

_MAKERS = (dict, set, defaultdict, Counter)
_CHANGES = frozenset({"__delitem__", "add", "clear", "discard", "pop", "remove", "setdefault", "update"})


def note_keys(function: Any, arguments: tuple[Any, ...]) -> None:
    """A set, or a dictionary, gets a key in an arm, or is made of such as decisions choose: they are to choose them."""
    trial = current()
    if trial is None or trial.dicts:
        return
    if any(function is one for one in _MAKERS):
        trial.wants_dicts |= any(map(has_traced_keys, arguments))
    if type(function) not in (types.BuiltinFunctionType, types.MethodWrapperType):
        return
    if type(function.__self__) in (set, *DICTIONARIES) and function.__name__ in _CHANGES:
        trial.wants_dicts |= in_arms() or has_traced_keys(arguments)


def has_traced_keys(things: Any) -> bool:
    """Whether decisions choose keys among some things, or parts of keys."""
    if type(things) in KEYED or type(things) in (PartialList, PartialIterator):
        return True
    return type(things) in (list, tuple) and any(
        is_traced(one) or (type(one) is tuple and any(map(is_traced, one))) for one in things
    )


def is_traced(key: Any) -> bool:
    """Whether decisions choose a key."""
    return is_choice(key) or type(key) in (BoolTracer, MaybeTracer, ObjectTracer)
