"""Notes what the function's own dictionaries and sets cannot do: the next trial has tracers in their places."""

from __future__ import annotations

import types
from typing import Any

from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice
from ..selecting.kinds import DICTIONARIES
from ..trial import current, in_arms

__all__ = ["note_keys"]

_CHANGES = frozenset({"add", "clear", "discard", "pop", "remove", "setdefault", "update"})


def note_keys(function: Any, arguments: tuple[Any, ...]) -> None:
    """A set, or a dictionary, gets a key in an arm, or one that decisions choose: they are to choose its keys."""
    trial = current()
    if trial is None or trial.dicts or type(function) is not types.BuiltinFunctionType:
        return
    if type(function.__self__) in (set, *DICTIONARIES) and function.__name__ in _CHANGES:
        trial.wants_dicts |= in_arms() or any(is_choice(one) or type(one) is BoolTracer for one in arguments)
