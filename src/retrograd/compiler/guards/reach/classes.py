"""What a class gives its instances: attributes of its own, and those that it has of libraries' classes."""

from __future__ import annotations

import argparse
import functools
import gc
import types
from itertools import chain
from typing import Any

from ..libraries import inherited_names, is_in_use, of_a_library

__all__ = [
    "MAKERS",
    "METHODS",
    "NAMESPACES",
    "Kind",
    "dictionary_of",
    "names_of_libraries",
    "shared_names",
    "users_namespaces",
]

#: Libraries' classes without code of their own, whose instances hold what users put there.
NAMESPACES = (types.SimpleNamespace, argparse.Namespace)
#: Methods that run when an instance is made, and not when there is one.
MAKERS = {"__init__", "__new__", "__post_init__"}
#: What Python writes into the dictionary of a class.
_OF_EVERY_CLASS = frozenset(
    {
        *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__slots__"),
        *("__firstlineno__", "__static_attributes__", "__abstractmethods__", "__parameters__", "__orig_bases__"),
        *("__match_args__", "__dataclass_fields__", "__dataclass_params__", "__annotate_func__", "__annotate__"),
        *("__annotations_cache__", "__classcell__", "__classdictcell__", "__protocol_attrs__", "__type_params__"),
    }
)
#: What functions can be made of, beside being assigned.
METHODS = (staticmethod, classmethod, functools.cached_property, property)


def shared_names(kind: type) -> list[str]:
    """The attributes of a user's class, special methods among them."""
    return [
        name
        for base in kind.__mro__
        if not of_a_library(base)
        for name, item in vars(base).items()
        if not isinstance(item, types.MemberDescriptorType) and name not in MAKERS and name not in _OF_EVERY_CLASS
    ]


def dictionary_of(kind: type) -> list[dict[str, Any]]:
    """The dictionary of a class, of which Python shows a proxy only."""
    return [one for one in gc.get_referents(vars(kind)) if type(one) is dict]


def users_namespaces(kind: type) -> list[dict[str, Any]]:
    """The dictionaries of a user's class, and of those users' classes that it is derived from."""
    return [namespace for base in kind.__mro__ if not of_a_library(base) for namespace in dictionary_of(base)]


def names_of_libraries(kind: type) -> frozenset[str]:
    """The attributes that a user's class has of libraries' classes, and the special methods that operators call."""
    if of_a_library(kind):
        return frozenset()
    members = chain.from_iterable(vars(base).items() for base in kind.__mro__ if of_a_library(base))
    return frozenset(
        name
        for name, item in members
        if not name.startswith("__") or (type(item) is types.FunctionType and is_in_use(name))
    )


def _slots(kind: type) -> dict[str, types.MemberDescriptorType]:
    """The slots that the instances of a user's class have."""
    return {
        name: member
        for base in kind.__mro__
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType) and not of_a_library(kind)
    }


class Kind:
    """A class of whose instances attributes are places.

    Attributes:
        is_users: whether it is a user's.
        reads_any: whether code that is not looked at may read any attribute: a library's.
        slots: those of its instances.
        shared: what instances share, by its names; a dict, for its order.
        inherited: the names of what they have of libraries' classes.
        instances: the attributes of each that was visited.
    """

    def __init__(self, kind: type) -> None:
        self.is_users: bool = not of_a_library(kind)
        by_library = not self.is_users or inherited_names(kind).read_any
        self.reads_any: bool = by_library and not issubclass(kind, NAMESPACES)
        self.slots: dict[str, types.MemberDescriptorType] = _slots(kind)
        self.shared: dict[str, None] = dict.fromkeys(shared_names(kind))
        self.inherited: frozenset[str] = names_of_libraries(kind)
        self.instances: list[tuple[dict[str, Any], str]] = []
