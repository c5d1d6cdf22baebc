"""NumPy's arrays of traced numbers: those that decisions choose, and those whose elements an arm stores."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...tracing.choice_tracer import is_choice
from ..selecting.stores import Place
from ..trial import current, refuse
from .conditions import joined

if TYPE_CHECKING:
    from ..selecting.selections import Selection

__all__ = ["all_places", "chosen_of", "keys_of", "place_of"]

_Array = np.ndarray[Any, Any]

#: An array has so many elements at most that are chosen, or stored, one by one.
_MOST = 1024
#: An element is selected among so many at most.
_MOST_KEYS = 64


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
    found: dict[tuple[int, ...], Any] = {(): True}
    for size, part in zip(array.shape, parts, strict=True):
        tests: dict[int, Any] = {}  # by place: a negative index is another name of one
        for place in places(range(size), part) if is_choice(part) else [part] if type(part) is int else []:
            is_it = part.is_(place) if is_choice(part) else True
            tests[place % size] = joined("maximum", is_it, tests.get(place % size, False))
        found = {
            (*before, place): joined("minimum", test, is_it)
            for before, test in found.items()
            for place, is_it in tests.items()
        }
    return found if len(found) <= _MOST_KEYS else {}
