"""Whether two things are equal of which decisions choose at least one, or the numbers in it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

from ...guards.bytecode import is_of_dataclass
from ...tracing.choice_tracer import is_choice
from ..tracers.conditions import joined
from ..tracers.object_tracer import ObjectTracer
from .objects import is_still_tuple
from .places import attribute, is_same, is_told_by_identity
from .selections import NUMBERS

__all__ = ["are_equal"]


def are_equal(one: Any, other: Any) -> Any:
    """``one is other or one == other``; None if to compare them may run code that decides.

    It does not for numbers, texts, tuples and dataclasses of such, and objects that are equal to themselves alone.
    """
    if one is other:
        return True
    kinds = _kinds(one) | _kinds(other)
    if kinds <= NUMBERS | {str} or is_choice(one) or is_choice(other):
        return one == other
    if all(map(is_told_by_identity, kinds)):
        return is_same(one, other) if ObjectTracer in (type(one), type(other)) else False
    if len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind is tuple or is_still_tuple(kind):
        return _all(zip(one, other, strict=True)) if len(one) == len(other) else False
    if not _is_compared_by_fields(kind):
        return None
    names = [field.name for field in dataclasses.fields(kind) if field.compare]
    return _all((attribute(one, name), attribute(other, name)) for name in names)


def _all(pairs: Iterable[tuple[Any, Any]]) -> Any:
    found = [are_equal(*pair) for pair in pairs]
    if any(one is None for one in found):
        return None
    return functools.reduce(functools.partial(joined, "minimum"), found, True)


def _kinds(thing: Any) -> set[type]:
    return {type(one) for one in thing._rg_things.values()} if type(thing) is ObjectTracer else {type(thing)}


def _is_compared_by_fields(kind: type) -> bool:
    """Whether ``@dataclass`` wrote how instances are compared."""
    code = getattr(kind.__eq__, "__code__", None)
    return dataclasses.is_dataclass(kind) and code is not None and is_of_dataclass(code)
