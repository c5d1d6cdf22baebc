"""The signature of a call: what each argument is, the tracer that takes its place, and how to read it in later calls.

An argument is described once, when the function is traced. It is a number that differs from call to call, an index, a
Value, or something that must be the same in every call. The native reader (native/compiler/run/signature.hpp) checks
later calls against the description and reads their numbers.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping, MutableSequence, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.numbers import is_number
from ..engine.pytree import flatten
from ..index import Index
from .recorder import Recorder

__all__ = ["Gradient", "Input", "Signature", "Unsuitable", "signature_of"]

#: Types whose instances are compared with ``==``: another value needs another specialization. An instance of a
#: subclass must be the same object in every call.
_STATIC = (bool, int, str, bytes, type(None), complex)


#: Containers that no specialization reads, though their contents may differ from call to call.
_CONTENTS_CHANGE = (Set, Mapping, MutableSequence, deque, array, memoryview)


class Unsuitable(Exception):  # noqa: N818  (not an error: the call runs eagerly)
    """An argument that no specialization can take; why, as part of a sentence."""


class Input(NamedTuple):
    """A leaf whose number each call brings, and its offset among the active or the inactive numbers of a call.

    A gradient of an active input is wanted.
    """

    leaf: Value
    active: bool
    offset: int


class Gradient(NamedTuple):
    """One of the derivatives that ``value_and_grad`` gives: of an active input, by its offset, or of a parameter."""

    offset: int | None = None
    parameter: Value | None = None


class Signature:
    """The arguments of one call: the tracers to call the function with, and how to read later calls."""

    def __init__(self) -> None:
        self.tracers: list[Any] = []  #: what to call the function with
        #: How to read a call, as nested tuples; native/compiler/run/signature.hpp lists them.
        self.spec: tuple[Any, ...] = ()
        self.inputs: list[Input] = []
        self.originals: dict[int, Value] = {}  #: the Values among the arguments, by their offsets as active inputs
        self.index_count = 0  #: how many arguments are indices
        self.gradients: list[Gradient] = []  #: one for each leaf of a differentiated first argument, in order
        self.objects: list[Any] = []  #: arguments that must be the same in each call, but whose attributes may change
        self._active: list[Value] = []  #: the leaves of the active inputs, by offset
        self._inactive_count = 0

    def add_input(self, leaf: Value, active: bool) -> int:
        """The offset of a new input."""
        offset = len(self._active) if active else self._inactive_count
        self.inputs.append(Input(leaf, active, offset))
        if active:
            self._active.append(leaf)
        else:
            self._inactive_count += 1
        return offset

    def next_offset(self, active: bool) -> int:
        """The offset that the next input will have."""
        return len(self._active) if active else self._inactive_count

    def active_leaf(self, offset: int) -> Value:
        """The leaf of an active input."""
        return self._active[offset]

    def leaf_of(self, gradient: Gradient) -> Value:
        """The leaf of which a gradient is wanted."""
        if gradient.offset is not None:
            return self.active_leaf(gradient.offset)
        assert gradient.parameter is not None
        return gradient.parameter

    @property
    def aliases_a_parameter(self) -> bool:
        """Whether a Value among the arguments turned out to be one of the function's parameters as well."""
        return any(map(engine.is_parameter, self.originals.values()))


class _Reader:
    """Describes the arguments of one call."""

    def __init__(self, recorder: Recorder, by_identity: bool) -> None:
        self._recorder, self._by_identity = recorder, by_identity
        self._seen: dict[int, tuple[int, Value]] = {}
        self.result = Signature()

    def describe(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """The tracer of an argument and its spec."""
        kind = type(thing)
        if kind is Index:
            slot = self.result.index_count
            self.result.index_count += 1
            return self._recorder.index(slot, int(thing)), ("index", slot)
        if isinstance(thing, Value):
            return self._value(thing, differentiate)
        if isinstance(thing, float) and kind not in (float, np.float64):
            raise Unsuitable(
                f"an argument is a float of type {kind.__name__}, which may compute otherwise: pass a float"
            )
        if differentiate and (isinstance(thing, float) or kind is int):
            leaf = Value(thing)
            offset = self.result.add_input(leaf, True)
            self.result.gradients.append(Gradient(offset=offset))
            return leaf, ("active", offset, np.float64)
        if isinstance(thing, float):
            leaf = Value(thing)
            # A NumPy float is not just any float: code that tells them apart is traced for each.
            return self._recorder.number(leaf), ("passive", self.result.add_input(leaf, False), kind)
        if differentiate and is_number(thing):
            raise Unsuitable(f"a number to differentiate is a {kind.__name__}: pass a float")
        if kind in _STATIC:
            return thing, ("equal", thing)
        if isinstance(thing, (list, tuple)):
            return self._sequence(thing, differentiate)
        if isinstance(thing, dict):
            self._refuse_subclass(thing, kind is dict, "dict")
            pairs = {key: self.describe(item, differentiate) for key, item in thing.items()}
            tracers = {key: pair[0] for key, pair in pairs.items()}
            return tracers, ("dict", kind, [(key, pair[1]) for key, pair in pairs.items()])
        if isinstance(thing, np.ndarray):
            return self._array(thing, differentiate)
        if isinstance(thing, np.generic):
            raise Unsuitable(f"an argument is a NumPy scalar of type {kind.__name__}: pass a float, an int or an Index")
        if isinstance(thing, _CONTENTS_CHANGE):
            raise Unsuitable(f"an argument is a {kind.__name__}, whose contents may change: pass a list, tuple or dict")
        if differentiate:
            for parameter in flatten(thing, "the first argument")[0]:
                self.result.gradients.append(Gradient(parameter=parameter))  # type: ignore[arg-type]  # a module's
        self.result.objects.append(thing)
        return thing, ("is", thing)

    def _value(self, value: Value, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        if differentiate:  # as the transforms do: each place is a variable of its own
            leaf = Value(value.data)
            offset = self.result.add_input(leaf, True)
            self.result.gradients.append(Gradient(offset=offset))
            return leaf, ("variable", offset)
        if engine.row_name(value):
            raise Unsuitable("an argument is the result of an operation, whose gradient must flow on")
        if engine.is_parameter(value) or type(value) is not Value or self._by_identity:
            return value, ("is", value)
        if id(value) in self._seen:
            offset, leaf = self._seen[id(value)]
            spec: tuple[Any, ...] = ("same", offset)
        else:
            # A leaf of its own: the function may use the same Value as a parameter besides.
            leaf = self._recorder.value(Value(value.data, label=value.label))
            offset = self.result.add_input(leaf, True)
            self.result.originals[offset] = value
            self._seen[id(value)] = offset, leaf
            spec = ("value", offset)
        return leaf, spec

    def _sequence(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        pairs = [self.describe(item, differentiate) for item in thing]
        items = [pair[0] for pair in pairs]
        kind = type(thing)
        named = isinstance(thing, tuple) and hasattr(kind, "_make")
        self._refuse_subclass(thing, named or kind in (list, tuple), "list or tuple")
        tracers: Any = items
        if kind is not list:
            tracers = kind._make(items) if named else tuple(items)
        return tracers, ("sequence", kind, [pair[1] for pair in pairs])

    @staticmethod
    def _refuse_subclass(thing: Any, plain: bool, wanted: str) -> None:
        """Raise Unsuitable for a subclass: it may have state and methods that the container of tracers lacks."""
        if not plain:
            raise Unsuitable(f"an argument is a container of type {type(thing).__name__}: pass a plain {wanted}")

    def _array(self, array: np.ndarray[Any, Any], differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        self._refuse_subclass(array, type(array) is np.ndarray, "array")
        if array.dtype != np.float64:
            raise Unsuitable(f"an argument is an array of {array.dtype}: pass float64, or lists of Values or Indexes")
        tracers = np.empty(array.size, dtype=object)
        first = self.result.next_offset(differentiate)
        for position, number in enumerate(array.ravel().tolist()):
            leaf = Value(number)
            offset = self.result.add_input(leaf, differentiate)
            tracers[position] = leaf if differentiate else self._recorder.number(leaf)
            if differentiate:
                self.result.gradients.append(Gradient(offset=offset))
        return tracers.reshape(array.shape), ("array", np.ndarray, array.shape, first, differentiate)


def signature_of(
    arguments: Sequence[Any], recorder: Recorder, differentiate_first: bool, by_identity: bool = False
) -> Signature:
    """Describe the arguments of a call and make their tracers.

    With ``differentiate_first``, gradients of the numbers in the first argument are wanted. With ``by_identity``, each
    Value must be the same object in every call. Raises Unsuitable.
    """
    reader = _Reader(recorder, by_identity)
    specs = []
    for position, argument in enumerate(arguments):
        tracer, spec = reader.describe(argument, differentiate_first and position == 0)
        reader.result.tracers.append(tracer)
        specs.append(spec)
    reader.result.spec = ("sequence", tuple, specs)
    return reader.result
