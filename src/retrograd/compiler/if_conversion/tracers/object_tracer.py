"""The tracer of an object that decisions choose. What is done with it, is done with each object that it may be.

Attributes and items are selected, calls run as arms, and stores reach each object under the condition that it is the
one. Whatever else is asked of it, a guard says that it is the same object again.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..operators import METHODS

if TYPE_CHECKING:
    from ...tracing.choice_tracer import ChoiceTracer
    from ..conversions import Site

__all__ = ["Chosen", "ObjectTracer", "hash_by_identity"]


class Chosen:
    """What stands for something that is no number, and that decisions or arguments choose."""

    __slots__ = ()


class ObjectTracer(Chosen):
    """One of some objects.

    Args:
        things: those that it may be, by the options of the key.
        key: which one it is, as decisions come out.
        site: where it was chosen.
    """

    __slots__ = ("_rg_key", "_rg_site", "_rg_things")

    def __init__(self, things: Mapping[Any, Any], key: ChoiceTracer, site: Site) -> None:
        for name, given in (("_rg_things", things), ("_rg_key", key), ("_rg_site", site)):
            object.__setattr__(self, name, given)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance decides as it does in plain Python
        return _actions().class_of(self)

    def __getattr__(self, name: str) -> Any:
        return _actions().read(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _actions().store(self, name, value)

    def __getitem__(self, key: Any) -> Any:
        return _actions().read_item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _actions().store_item(self, key, value)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _actions().called(self, arguments, options)

    def __bool__(self) -> bool:
        return bool(_actions().truth(self))

    def __eq__(self, other: object) -> Any:
        return _actions().equal(self, other)

    def __ne__(self, other: object) -> Any:
        return _actions().unequal(self, other)

    def __hash__(self) -> int:
        return hash(_actions().plain(self))

    def __contains__(self, thing: Any) -> bool:
        return thing in _actions().plain(self)

    def __delattr__(self, name: str) -> None:
        delattr(_actions().plain(self), name)

    def __delitem__(self, key: Any) -> None:
        del _actions().plain(self)[key]


def _actions() -> ModuleType:
    from . import chosen_objects  # which imports this module, and the arms

    return chosen_objects


#: What hashes by identity.
_BY_IDENTITY: tuple[Any, ...] = (object.__hash__, enum.Enum.__hash__)


def hash_by_identity(key: ObjectTracer) -> bool:
    """Whether each of the objects is a key that only the object itself is equal to."""
    return all(type(one).__hash__ in _BY_IDENTITY for one in key._rg_things.values())


def _define_unary(name: str, function: Any) -> None:
    setattr(ObjectTracer, f"__{name}__", lambda self: function(_actions().plain(self)))


def _define_operator(name: str, direct: str, reflected: str) -> None:
    in_place = direct.replace("__", "__i", 1)
    setattr(ObjectTracer, in_place, lambda self, other: _actions().augmented(name, self, other))
    setattr(ObjectTracer, direct, lambda self, other: _actions().operated(name, self, other))
    setattr(ObjectTracer, reflected, lambda self, other: _actions().operated(name, other, self))


def _define_binary(name: str) -> None:
    function = getattr(operator, name)
    plain = name.strip("_")
    if (in_place := getattr(operator, f"i{plain}", None)) is not None:
        setattr(ObjectTracer, f"__i{plain}__", lambda self, other: in_place(_actions().plain(self), other))
    setattr(ObjectTracer, f"__{plain}__", lambda self, other: function(_actions().plain(self), other))
    if plain not in ("lt", "le", "gt", "ge"):
        setattr(ObjectTracer, f"__r{plain}__", lambda self, other: function(other, _actions().plain(self)))


for _function in (iter, len, reversed, str, repr, int, float, complex, abs, round):
    _define_unary(_function.__name__, _function)
for _name in ("neg", "pos", "invert", "index"):
    _define_unary(_name, getattr(operator, _name))
for _name, _methods in METHODS.items():
    _define_operator(_name, *_methods)
for _name in ("and_", "or_", "xor", "lshift", "rshift", "lt", "le", "gt", "ge"):
    _define_binary(_name)
