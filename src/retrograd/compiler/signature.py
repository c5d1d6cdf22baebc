"""The arguments of a compiled function: what stands in for each while the function is traced, and how to read the next.

Each argument is described once, when it is traced: a number that each call brings anew, an index, a Value, or
something that must be as it was. The description is what the native reader (native/compiler/run/signature.hpp)
checks and reads in every later call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.pytree import flatten
from ..index import Index
from .recorder import Recorder

__all__ = ["Description", "Unsuitable", "describe"]

#: Types whose instances are keys: another value is another program. Their subclasses are the object that they are.
_KEYS = (bool, int, str, bytes, type(None), complex)


class Unsuitable(Exception):  # noqa: N818  (not an error: the call is run eagerly)
    """An argument that no program can stand for; why, as part of a sentence."""


class Description:
    """What was found out about one call's arguments."""

    def __init__(self) -> None:
        self.stand_ins: list[Any] = []
        self.spec: tuple[Any, ...] = ()
        self.inputs: list[Value] = []  #: the leaves that stand for what a call brings
        self.originals: dict[int, Value] = {}  #: the Values among the active ones, by their places
        self.actives: list[bool] = []  #: whether a gradient of each is wanted
        self.offsets: list[int] = []  #: its place among the active or the passive ones
        self.slots = 0  #: how many index arguments there are
        self.wanted: list[Value] = []  #: parameters whose gradients are wanted beside those of active inputs
        #: For each leaf of the first argument, in order: where its gradient is among the results.
        self.order: list[tuple[str, int]] = []
        self.objects: list[Any] = []  #: that must be the same in each call, and have attributes that may change
        self.active = 0
        self.passive = 0

    def add_input(self, leaf: Value, active: bool, count: int = 1) -> int:
        place = self.active if active else self.passive
        self.inputs.append(leaf)
        self.actives.append(active)
        self.offsets.append(place)
        if active:
            self.active += count
        else:
            self.passive += count
        return place


class _Describing:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._seen: dict[int, tuple[int, Value]] = {}
        self.result = Description()

    def describe(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """The stand-in of an argument and its description."""
        kind = type(thing)
        if kind is Index:
            slot = self.result.slots
            self.result.slots += 1
            return self._recorder.index(slot, int(thing)), ("index", slot)
        if isinstance(thing, Value):
            return self._value(thing, differentiate)
        if isinstance(thing, float) and kind not in (float, np.float64):
            raise Unsuitable(
                f"an argument is a float of type {kind.__name__}, which may compute otherwise: pass a float"
            )
        if differentiate and (isinstance(thing, float) or kind is int):
            leaf = Value(thing)
            place = self.result.add_input(leaf, True)
            self.result.order.append(("active", place))
            return leaf, ("active", place, np.float64)
        if isinstance(thing, float):
            leaf = Value(thing)
            return self._recorder.number(leaf), ("passive", self.result.add_input(leaf, False), np.float64)
        if kind in _KEYS:
            return thing, ("equal", thing)
        if isinstance(thing, (list, tuple)):
            return self._sequence(thing, differentiate)
        if isinstance(thing, dict):
            self._refuse_subclass(thing, kind is dict, "dict")
            pairs = {key: self.describe(item, differentiate) for key, item in thing.items()}
            stand_in = {key: pair[0] for key, pair in pairs.items()}
            return stand_in, ("dict", kind, [(key, pair[1]) for key, pair in pairs.items()])
        if isinstance(thing, np.ndarray):
            return self._array(thing, differentiate)
        if isinstance(thing, np.generic):
            raise Unsuitable(f"an argument is a NumPy scalar of type {kind.__name__}: pass a float, an int or an Index")
        if differentiate:
            for parameter in flatten(thing, "the first argument")[0]:
                self.result.order.append(("wanted", len(self.result.wanted)))
                self.result.wanted.append(parameter)  # type: ignore[arg-type]  # a module's are Values
        self.result.objects.append(thing)
        return thing, ("is", thing)

    def _value(self, value: Value, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        if engine.row_name(value):
            raise Unsuitable("an argument is the result of an operation, whose gradient must flow on")
        if engine.is_parameter(value) or type(value) is not Value:
            if differentiate:
                self.result.order.append(("wanted", len(self.result.wanted)))
                self.result.wanted.append(value)
            return value, ("is", value)
        if id(value) in self._seen:
            place, leaf = self._seen[id(value)]
            spec: tuple[Any, ...] = ("same", place)
        else:
            # A leaf of its own: the function may use the same Value as a parameter besides.
            leaf = Value(value.data, label=value.label)
            place = self.result.add_input(leaf, True)
            self.result.originals[place] = value
            self._seen[id(value)] = place, leaf
            spec = ("value", place)
        if differentiate:
            self.result.order.append(("active", place))
        return leaf, spec

    def _sequence(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        pairs = [self.describe(item, differentiate) for item in thing]
        items = [pair[0] for pair in pairs]
        kind = type(thing)
        named = isinstance(thing, tuple) and hasattr(kind, "_make")
        self._refuse_subclass(thing, named or kind in (list, tuple), "list or tuple")
        stand_in: Any = items
        if kind is not list:
            stand_in = kind._make(items) if named else tuple(items)
        return stand_in, ("sequence", kind, [pair[1] for pair in pairs])

    @staticmethod
    def _refuse_subclass(thing: Any, plain: bool, wanted: str) -> None:
        """A subclass may have state and ways of its own, which a stand-in has not."""
        if not plain:
            raise Unsuitable(f"an argument is a container of type {type(thing).__name__}: pass a plain {wanted}")

    def _array(self, array: np.ndarray[Any, Any], differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        self._refuse_subclass(array, type(array) is np.ndarray, "array")
        if array.dtype != np.float64:
            raise Unsuitable(f"an argument is an array of {array.dtype}: pass float64, or lists of Values or Indexes")
        stand_in = np.empty(array.size, dtype=object)
        first = self.result.active if differentiate else self.result.passive
        for position, number in enumerate(array.ravel().tolist()):
            leaf = Value(number)
            place = self.result.add_input(leaf, differentiate)
            stand_in[position] = leaf if differentiate else self._recorder.number(leaf)
            if differentiate:
                self.result.order.append(("active", place))
        return stand_in.reshape(array.shape), ("array", np.ndarray, array.shape, first, differentiate)


def describe(arguments: Sequence[Any], recorder: Recorder, differentiate_first: bool) -> Description:
    """What stands in for ``arguments`` in a trace, and how later calls are read.

    With ``differentiate_first`` gradients of the numbers in the first argument are wanted. Raises Unsuitable.
    """
    describing = _Describing(recorder)
    specs = []
    for position, argument in enumerate(arguments):
        stand_in, spec = describing.describe(argument, differentiate_first and position == 0)
        describing.result.stand_ins.append(stand_in)
        specs.append(spec)
    # The trace's own order of inputs: those that are told apart by nothing but their place.
    describing.result.spec = ("sequence", tuple, specs)
    return describing.result
