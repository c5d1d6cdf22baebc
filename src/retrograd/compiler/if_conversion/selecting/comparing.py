"""How things compare of which decisions choose at least one, or the numbers in it."""

from __future__ import annotations

import ast
import dataclasses
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from ...guards.bytecode import is_of_dataclass
from ...tracing.choice_tracer import is_choice
from ...tracing.followed_calls import own_code
from ..rewriting.source import definitions_of
from ..tracers.conditions import joined
from ..tracers.object_tracer import ObjectTracer
from .objects import is_still_tuple, of_class
from .places import attribute, is_same, is_told_by_identity
from .selections import NUMBERS

__all__ = ["are_equal", "key_of_order"]


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


def key_of_order(things: Iterable[Any]) -> Callable[[Any], Any] | None:
    """What objects of one class are ordered by, as a function of an object; None where that is not known.

    It is for those of ``@dataclass(order=True)``, and of a class whose ``__lt__`` compares the same attributes of both.
    """
    kinds = frozenset().union(*map(_kinds, things))
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    less = of_class(kind, "__lt__") if kind is not None else None
    if kind is None or not isinstance(less, types.FunctionType):
        return None
    if dataclasses.is_dataclass(kind) and is_of_dataclass(less.__code__):
        names = [field.name for field in dataclasses.fields(kind) if field.compare]
        return lambda thing: tuple(attribute(thing, name) for name in names)
    from ..rewriting.converter import unconverted  # which writes calls of what imports this module

    return _key_in(unconverted(own_code(less)))


@functools.lru_cache(maxsize=256)
def _key_in(code: types.CodeType) -> Callable[[Any], Any] | None:
    """The key in code like ``return self.a.b < other.a.b``, or of tuples of such."""
    definition = next(definitions_of(code), None)
    if definition is None or len(definition.body) != 1 or len(definition.args.args) != 2 or code.co_freevars:
        return None
    (statement,), (one, other) = definition.body, (each.arg for each in definition.args.args)
    test = statement.value if isinstance(statement, ast.Return) else None
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "bool"
        and len(test.args) == 1
    ):
        test = test.args[0]
    if not isinstance(test, ast.Compare) or not (len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt)):
        return None
    keys = _attributes(test.left, one), _attributes(test.comparators[0], other)
    return functools.partial(_read, keys[0]) if keys[0] is not None and keys[0] == keys[1] else None


_Key = tuple[Any, ...]


def _attributes(node: ast.expr, name: str) -> _Key | None:
    """The names of ``self.a.b``, or of each in a tuple; None of another expression."""
    if isinstance(node, ast.Tuple):
        parts = [_attributes(one, name) for one in node.elts]
        return None if None in parts else (tuple, *parts)
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return tuple(names) if names and isinstance(node, ast.Name) and node.id == name else None


def _read(key: _Key, thing: Any) -> Any:
    if key[0] is tuple:
        return tuple(_read(one, thing) for one in key[1:])
    return functools.reduce(attribute, key, thing)
