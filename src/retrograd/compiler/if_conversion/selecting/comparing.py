"""How things compare of which decisions choose at least one, or the numbers in it."""

from __future__ import annotations

import ast
import dataclasses
import functools
import types
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from ...guards.bytecode import is_of_dataclass
from ...guards.libraries import is_library
from ...tracing.choice_tracer import is_choice
from ...tracing.followed_calls import own_code
from ..rewriting.source import definitions_of
from ..tracers.conditions import among, joined
from ..tracers.maybe_tracer import MaybeTracer
from ..tracers.object_tracer import ObjectTracer
from .objects import is_still_tuple, of_class
from .places import attribute, is_same, is_told_by_identity
from .selections import NUMBERS

__all__ = ["SEARCHED", "are_equal", "is_among", "key_of_order"]


SEARCHED = frozenset({list, tuple, dict, set, frozenset, range, str})


def is_among(thing: Any, things: Any) -> Any:
    """Whether something that decisions choose is in a container of constants; None of something else."""
    if type(things) not in SEARCHED or type(things) is str:
        return None
    if type(thing) is MaybeTracer:
        found = is_among(thing._rg_thing, tuple(one for one in things if one is not None))
        found = found if found is None else joined("minimum", thing._rg_there, found)
        return found if found is None or None not in things else joined("maximum", found, thing._rg_tests[False])
    if is_choice(thing):
        return among(thing, frozenset(things)) if {int, str}.issuperset(map(type, things)) else None
    if type(thing) is not ObjectTracer:
        return None
    if not all(is_told_by_identity(type(one)) for one in (*things, *thing._rg_things.values())):
        return None
    return functools.reduce(functools.partial(joined, "maximum"), (is_same(thing, one) for one in things), False)


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


#: Names of attributes, one of the other, of each number that objects are compared by.
_Keys = tuple[tuple[str, ...], ...]


def key_of_order(things: Sequence[Any]) -> Callable[[Any], Any] | None:
    """What objects of one class are ordered by, as a function of an object; None where that is not known.

    It is for those of ``@dataclass(order=True)``, and of a class whose ``__lt__`` compares the same attributes of both,
    where to read them runs no code of the user's.
    """
    kinds = frozenset().union(*map(_kinds, things))
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is None or is_library(kind.__module__):
        return None
    less = of_class(kind, "__lt__")
    if not isinstance(less, types.FunctionType):
        return None
    if dataclasses.is_dataclass(kind) and is_of_dataclass(less.__code__):
        keys: _Keys = tuple((field.name,) for field in dataclasses.fields(kind) if field.compare)
    else:
        from ..rewriting.converter import unconverted  # which writes calls of what imports this module

        keys = _keys_in(unconverted(own_code(less)))
    may_be = (thing._rg_things.values() if type(thing) is ObjectTracer else (thing,) for thing in things)
    objects = list(chain.from_iterable(may_be))
    if not keys or not all(_is_still(key, one) for key in keys for one in objects):
        return None
    return lambda thing: tuple(functools.reduce(attribute, key, thing) for key in keys)


@functools.lru_cache(maxsize=256)
def _keys_in(code: types.CodeType) -> _Keys:
    """The attributes in code like ``return self.a.b < other.a.b``, or that compares tuples of such."""
    definition = next(definitions_of(code), None)
    if definition is None or len(definition.body) != 1 or len(definition.args.args) != 2 or code.co_freevars:
        return ()
    (statement,), (one, other) = definition.body, (each.arg for each in definition.args.args)
    test = statement.value if isinstance(statement, ast.Return) else None
    if not isinstance(test, ast.Compare) or not (len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt)):
        return ()
    keys = _attributes(test.left, one), _attributes(test.comparators[0], other)
    return keys[0] if keys[0] == keys[1] else ()


def _attributes(node: ast.expr, name: str) -> _Keys:
    """The names of ``self.a.b``, or of each in a tuple; none of another expression."""
    if isinstance(node, ast.Tuple):
        parts = [_attributes(one, name) for one in node.elts]
        return tuple(one for (one,) in parts) if all(len(one) == 1 for one in parts) else ()
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return (tuple(names),) if names and isinstance(node, ast.Name) and node.id == name else ()


def _is_still(key: Sequence[str], thing: Any) -> bool:
    """Whether to read attributes, one of the other, runs no code of the user's."""
    for name in key:
        kind: Any = type(thing)
        found, own = of_class(kind, name), getattr(thing, "__dict__", ()) if kind is not ObjectTracer else ()
        is_slot = isinstance(found, types.MemberDescriptorType)
        if kind.__getattribute__ is not object.__getattribute__ or not (
            is_slot or (name in own and not hasattr(type(found), "__set__"))
        ):
            return False
        thing = getattr(thing, name)
    return True
