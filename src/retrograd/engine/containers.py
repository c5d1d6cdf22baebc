"""The containers that trees are made of: how each is taken apart, and built again from other items.

Lists, tuples, named tuples, dictionaries and dataclasses are known; :func:`register_pytree_node` adds others.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import inspect
from collections.abc import Callable, Iterable
from types import MemberDescriptorType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import Value

__all__ = [
    "Container",
    "contents_of",
    "equals_itself_alone",
    "has_plain_fields",
    "instance_of",
    "is_module",
    "is_static",
    "note_record",
    "records",
    "register_pytree_node",
    "registered",
    "taken_apart",
]

T = TypeVar("T")


class Container(NamedTuple):
    """One container: its items, and what is left of it without them.

    Two containers are alike if ``kind`` and ``definition`` are equal and they have as many items.
    """

    kind: str  #: 'list', 'tuple', 'dict', 'dataclass' or 'node' (registered by the user)
    items: list[Any]
    definition: Any  #: what must be equal for two of them to be added: keys, a type, the user's auxiliary data
    build: Callable[[list[Any]], Any]  #: a container like this one, of other items
    names: Callable[
        [], list[str]
    ]  #: what follows the container's name in that of each item: ``['a']``, ``[0]``, ``.w``


class Registered(NamedTuple):
    """How instances of a registered class are taken apart and built."""

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten: Callable[[Any, Any], Any]


_registered: dict[type, Registered] = {}

#: Classes whose instances are nothing but their fields, named tuples' and dataclasses', with the names of those; and
#: those of what has no items.
records: dict[type, tuple[str, ...]] = {}


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], T],
) -> None:
    """Make a class of yours a container, as ``jax.tree_util.register_pytree_node`` does.

    Transforms and compiled functions then take its instances wherever they take a list: as arguments, inside other
    containers, and as results. Dataclasses need no registration: their fields are the items, except for those that hold
    text, truth values, members of enumerations, functions or classes, and those made with
    ``field(metadata={"static": True})``.

    Args:
        nodetype: The class. Instances of its subclasses are not meant.
        flatten_func: Takes an instance apart: ``(items, rest)``. The items are numbers, Values and containers; the rest
            is whatever else makes up the instance, and can be compared with ``==``.
        unflatten_func: Builds an instance: ``unflatten_func(rest, items)``. The items may be anything, since gradients
            and other results come in the same structure; so it should not check them.

    Raises:
        TypeError: ``nodetype`` is not a class, or one that is a tree or a number already.
        ValueError: ``nodetype`` was registered before.

    Example:
        >>> import retrograd as rg
        >>> class Segment:
        ...     def __init__(self, start, end):
        ...         self.start, self.end = start, end
        >>> rg.register_pytree_node(Segment, lambda s: ((s.start, s.end), None), lambda _, items: Segment(*items))
        >>> rg.grad(lambda s: (s.end - s.start) ** 2)(Segment(1.0, 3.0)).end
        4.0
    """
    if not isinstance(nodetype, type):
        raise TypeError(f"register_pytree_node takes a class, not {nodetype!r}.")
    if nodetype in (list, tuple, dict, type(None), np.ndarray) or issubclass(nodetype, (Value, float, int)):
        raise TypeError(f"register_pytree_node: {nodetype.__name__} has a meaning in trees already.")
    if nodetype in _registered:
        raise ValueError(f"register_pytree_node: {nodetype.__name__} has been registered already.")
    records.pop(nodetype, None)
    _registered[nodetype] = Registered(flatten_func, unflatten_func)


def registered(kind: type) -> Registered | None:
    """How instances of a class are taken apart, if the user has registered it."""
    return _registered.get(kind)


def is_module(thing: object) -> bool:
    """Whether ``thing`` has parameters, as modules have: ``thing.parameters()`` gives them."""
    return callable(getattr(thing, "parameters", None)) and not isinstance(thing, type)


def taken_apart(thing: Any) -> Container | None:
    """What ``thing`` is made of, or None if it is no container. Modules, arrays and None are none."""
    kind = type(thing)
    if kind is list:
        return Container("list", thing, None, list, lambda: _positions(thing))
    if kind in _registered:
        return _node(thing, _registered[kind])
    if is_module(thing):
        return None
    if isinstance(thing, dict):
        return _mapping(thing)
    if isinstance(thing, list):
        return Container("list", list(thing), None, list, lambda: _positions(thing))
    if isinstance(thing, tuple):
        build = kind._make if hasattr(kind, "_make") else tuple  # a named tuple's has the former
        return Container("tuple", list(thing), None, build, lambda: _positions(thing))
    return _dataclass(thing) if dataclasses.is_dataclass(kind) else None


def _positions(items: Iterable[Any]) -> list[str]:
    return [f"[{index}]" for index, _ in enumerate(items)]


def _mapping(thing: dict[Any, Any]) -> Container:
    keys = tuple(thing)

    def build(items: list[Any]) -> dict[Any, Any]:
        pairs = dict(zip(keys, items, strict=True))
        if type(thing) is dict:
            return pairs
        result = copy.copy(thing)
        for key, item in pairs.items():
            dict.__setitem__(result, key, item)  # update() of a Counter would add
        return result

    return Container("dict", list(thing.values()), keys, build, lambda: [f"[{key!r}]" for key in keys])


def _node(thing: Any, how: Registered) -> Container:
    children, rest = how.flatten(thing)
    items = list(children)
    build = functools.partial(how.unflatten, rest)
    return Container("node", items, (type(thing), rest), build, lambda: _positions(items))


# --- dataclasses ----------------------------------------------------------------------------------


def _dataclass(thing: Any) -> Container:
    _refuse_other_attributes(thing)
    kind, contents = type(thing), contents_of(thing)
    names = fields_of(thing)
    items = [contents[name] for name in names]

    def build(items: list[Any]) -> Any:
        return instance_of(kind, {**contents, **dict(zip(names, items, strict=True))})

    return Container("dataclass", items, (kind, names), build, lambda: [f".{name}" for name in names])


def equals_itself_alone(kind: Any) -> bool:
    """Whether ``==``, ``in`` and dictionaries take such a record for another one whatever it holds."""
    if kind.__eq__ is not object.__eq__ and kind.__hash__ is not object.__hash__:
        return False
    return dataclasses.is_dataclass(kind) or registered(kind) is not None


def contents_of(thing: Any) -> dict[str, Any]:
    """The contents of all fields of a dataclass's instance, by their names."""
    return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}


def fields_of(thing: Any) -> tuple[str, ...]:
    """The names of the fields of a dataclass's instance that are items: all but the static ones."""
    return tuple(
        field.name
        for field in dataclasses.fields(thing)
        if not field.metadata.get("static") and not is_static(getattr(thing, field.name))
    )


def is_static(item: Any) -> bool:
    """Whether the content of a dataclass's field certainly holds no numbers: text, truth values, members of an
    enumeration, functions and classes.
    """
    return isinstance(item, (bool, np.bool_, str, bytes, enum.Enum, type)) or inspect.isroutine(item)


def instance_of(kind: type[T], contents: dict[str, Any]) -> T:
    """A dataclass's instance with these contents of its fields.

    Its ``__init__`` does not run: it may check or convert what a gradient or a Value is not.
    """
    result = object.__new__(kind)
    for name, content in contents.items():
        object.__setattr__(result, name, content)
    return result


def has_plain_fields(thing: Any) -> bool:
    """Whether an instance is that of a dataclass which is nothing but its fields, so that a copy of them is a copy."""
    kind = type(thing)
    if not dataclasses.is_dataclass(kind) or kind.__new__ is not object.__new__ or is_module(thing):
        return False
    if isinstance(thing, (list, tuple, dict)) or _other_attribute(thing):
        return False
    of_class = (_of_class(kind, field.name) for field in dataclasses.fields(kind))
    return not any(hasattr(one, "__set__") and not isinstance(one, MemberDescriptorType) for one in of_class)


def _of_class(kind: type, name: str) -> Any:
    """What a class has under a name, whatever that does when it is asked for."""
    if type(kind) is not type:
        return inspect.getattr_static(kind, name, None)
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def note_record(thing: Any) -> None:
    """Remember the class of a named tuple, or of a dataclass's instance, so that others are looked at natively.

    And those of members of enumerations in it, which have no items.
    """
    kind = type(thing)
    if kind in _registered or is_module(thing):
        return
    is_container = isinstance(thing, (list, tuple, dict)) or dataclasses.is_dataclass(
        kind
    )  # which a member may be, too
    has_no_items = isinstance(thing, (enum.Enum, np.generic)) and not is_container
    if has_no_items or (isinstance(thing, tuple) and hasattr(kind, "_fields")):
        records[kind] = ()
    elif has_plain_fields(thing):
        records[kind] = tuple(field.name for field in dataclasses.fields(kind))
        for content in contents_of(thing).values():
            if isinstance(content, enum.Enum):
                note_record(content)


def _refuse_other_attributes(thing: Any) -> None:
    """Raise TypeError for attributes besides the fields, which a filled copy would lack."""
    name = _other_attribute(thing)
    if name:
        raise TypeError(
            f"{type(thing).__name__} has the attribute {name!r}, which is no field of the dataclass, so that a copy "
            "with other numbers would lack it. Declare it as a field, or register the class with "
            "retrograd.register_pytree_node."
        )


def _other_attribute(thing: Any) -> str:
    """The first attribute of a dataclass's instance that is no field, or nothing. Cached properties do not count."""
    own = {field.name for field in dataclasses.fields(thing)}
    names: Iterable[str] = getattr(thing, "__dict__", ())
    for name in names:
        if name not in own and not isinstance(getattr(type(thing), name, None), functools.cached_property):
            return name
    return ""
