"""NumPy's arrays of traced numbers: those that decisions choose, and those whose elements an arm stores."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...tracing.choice_tracer import is_choice
from ..selecting.stores import Place
from ..trial import current, recorder, refuse
from .conditions import joined

if TYPE_CHECKING:
    from ..selecting.selections import Selection

__all__ = ["all_places", "chosen_of", "keys_of", "place_of"]

_Array = np.ndarray[Any, Any]

#: An array has so many elements at most that are chosen, or stored, one by one.
_MOST = 1024
#: An element is selected by tests of each axis among so many at most; among others by its number in a row, by which
#: machine code looks it up.
_FEW_KEYS, _MOST_KEYS, _MOST_IN_A_ROW = 16, 64, 256


def chosen_of(selection: Selection, yes: _Array, no: _Array) -> _Array:
    """One of two arrays: a copy, which cannot change."""
    trial = current()
    if yes.shape != no.shape or yes.size > _MOST or trial is None:
        raise refuse("gives an array of another shape, or a large one")
    if trial.catches:  # what is raised where the copy is to change
        raise refuse("gives another array, in a function that catches exceptions")
    if not {np.dtype(object), np.dtype(float)}.issuperset((yes.dtype, no.dtype)):
        raise refuse("gives another array, and not of floats or Values")
    made = np.empty(yes.size, object)
    for i, one in enumerate(selection.all_of(yes.ravel().tolist(), no.ravel().tolist())):
        made[i] = one
    made.flags.writeable = False
    trial.arrays.keep(yes, no)
    return made.reshape(yes.shape)


def place_of(array: _Array, key: Any) -> Place | None:
    """Where an element of an array is stored, also by its views; None of several elements, or of numbers alone."""
    keys = key if type(key) is tuple else (key,)
    trial = current()
    if (
        trial is None
        or array.dtype != object
        or not array.flags.writeable
        or len(keys) != array.ndim
        or not {int}.issuperset(map(type, keys))
    ):
        return None
    owner = array
    while type(owner.base) is np.ndarray:
        owner = owner.base
    if owner.base is not None or not (owner.flags.c_contiguous or owner.flags.f_contiguous):
        return None
    inside = [one + size if one < 0 else one for one, size in zip(keys, array.shape, strict=True)]
    if not all(0 <= one < size for one, size in zip(inside, array.shape, strict=True)):
        return None  # which raises
    start = array.ctypes.data - owner.ctypes.data + sum(map(operator.mul, inside, array.strides))
    return Place(trial.flat(owner), start // array.itemsize, True)


def all_places(array: _Array) -> list[Place] | None:
    """The same of all elements."""
    if array.size > _MOST:
        return None
    found = [place_of(array, key) for key in np.ndindex(array.shape)]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def keys_of(array: _Array, key: Any, places: Callable[[Any, Any], Sequence[int]]) -> dict[tuple[int, ...], Any]:
    """Which elements a key may name that decisions choose, or a part of it, and whether it does; none if that is open.

    ``places``: gives where on an axis a chosen part may be.
    """
    parts = key if type(key) is tuple else (key,)
    if len(parts) != array.ndim or not any(map(is_choice, parts)):
        return {}
    axes = [
        [*places(range(size), part)] if is_choice(part) else _known_place(part, size)
        for size, part in zip(array.shape, parts, strict=True)
    ]
    count = math.prod(map(len, axes))
    is_counted = all(place >= 0 for places in axes for place in places)
    if is_counted and _FEW_KEYS < count <= _MOST_IN_A_ROW:
        return _keys_in_a_row(array, parts, axes)
    return _keys_by_axes(array, parts, axes) if count <= _MOST_KEYS else {}


def _known_place(part: Any, size: int) -> list[int]:
    """Where a part is that no decision chooses; nowhere, if the axis has no such place."""
    return [part % size] if type(part) is int and -size <= part < size else []


def _keys_by_axes(array: _Array, parts: Sequence[Any], axes: Sequence[Sequence[int]]) -> dict[tuple[int, ...], Any]:
    found: dict[tuple[int, ...], Any] = {(): True}
    for size, part, places in zip(array.shape, parts, axes, strict=True):
        tests: dict[int, Any] = {}  # by place: a negative index is another name of one
        for place in places:
            is_it = part.is_(place) if is_choice(part) else True
            tests[place % size] = joined("maximum", is_it, tests.get(place % size, False))
        found = {
            (*before, place): joined("minimum", test, is_it)
            for before, test in found.items()
            for place, is_it in tests.items()
        }
    return found


def _keys_in_a_row(array: _Array, parts: Sequence[Any], axes: Sequence[Sequence[int]]) -> dict[tuple[int, ...], Any]:
    """The same of many elements, by one number: that of the element in a row, of which each takes one comparison."""
    number: Any = 0
    for size, part in zip(array.shape, parts, strict=True):
        if is_choice(part) and part.options is None:  # it is among the places
            part = recorder().integer(part.node, float(size))
        number = number * size + (part if is_choice(part) else part % size)
    return {one: number.is_(int(np.ravel_multi_index(one, array.shape))) for one in itertools.product(*axes)}
