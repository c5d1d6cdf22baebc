"""What objects, slots of classes and cells of closures hold, looked at without running code of the user's."""

from __future__ import annotations

import types
from contextlib import suppress
from typing import Any

__all__ = ["attributes_of", "content_of_slot", "contents_of_cell", "has_buffer"]


def attributes_of(thing: Any) -> tuple[dict[str, Any], ...]:
    """The dictionary of an object's attributes, if it has a plain one."""
    try:
        attributes = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return ()
    return (attributes,) if type(attributes) is dict else ()


def has_buffer(thing: Any) -> bool:
    """Whether something has numbers in memory that others may write."""
    try:
        return not memoryview(thing).readonly
    except (TypeError, ValueError, BufferError):
        return False


def content_of_slot(slot: types.MemberDescriptorType, thing: Any) -> tuple[Any, ...]:
    """What an object has in a slot, if it has something there."""
    with suppress(AttributeError):  # nothing was assigned yet
        return (slot.__get__(thing),)
    return ()


def contents_of_cell(cell: types.CellType) -> tuple[Any, ...]:
    """What a variable of a closure holds, if it holds something."""
    with suppress(ValueError):  # nothing was assigned yet
        return (cell.cell_contents,)
    return ()
