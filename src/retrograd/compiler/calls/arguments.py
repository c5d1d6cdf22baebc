"""Describes the arguments of a call, and makes the tracers that take their places.

An argument is described once, when the function is traced. It is a number that differs from call to call, an index, a
Value, or something that must be the same in every call.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence, Set
from datetime import date, timedelta
from itertools import count, repeat
from types import SimpleNamespace
from typing import Any

import numpy as np

from ... import engine
from ...engine import Value
from ...engine.containers import (
    Registered,
    contents_of,
    equals_itself_alone,
    has_plain_fields,
    instance_of,
    is_static,
    registered,
    taken_apart,
)
from ...engine.numbers import is_number
from ...engine.pytree import flatten, new_leaves
from ...index import Index
from ..guards.bytecode import ANY_ATTRIBUTE
from ..guards.captured_state import NOTHING, Asks
from ..guards.changed_containers import Changes
from ..tracing.recorder import MOST_INDEX, Recorder
from .constants import are_small_ints, as_traced, is_mutable, key_function
from .signature import Gradient, Signature
from .varying import CONSTANT, IN_LIST, Column, Varying, is_enumeration, placeholder

__all__ = ["Unsuitable", "signature_of"]

#: Types whose instances are compared with ``==``: another value needs another specialization. An instance of a
#: subclass must be the same object in every call.
_STATIC = (bool, int, str, bytes, type(None), complex, date, timedelta)


def _array_of(shape: tuple[int, ...], items: Sequence[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):  # one by one: NumPy would ask each what it holds
        array[position] = item
    return array.reshape(shape)


def _objects_in(things: np.ndarray[Any, Any]) -> tuple[list[Any], Any]:
    return things.ravel().tolist(), (things.dtype.str, things.shape)


#: Containers of Python and NumPy that are no trees, but taken apart like a class that the user has registered.
_TAKEN_APART = {
    np.ndarray: Registered(_objects_in, lambda rest, items: _array_of(rest[1], items)),  # of objects
    deque: Registered(lambda queue: ([*queue], queue.maxlen), lambda longest, items: deque(items, longest)),
    SimpleNamespace: Registered(
        lambda thing: ([*vars(thing).values()], (*vars(thing),)),
        lambda names, items: SimpleNamespace(**dict(zip(names, items, strict=True))),
    ),
}

#: What the function may change, and ask which object it is.
_MUTABLE = (list, tuple, dict, set, bytearray, array, *_TAKEN_APART)

#: What the function may change the items of.
_CHANGEABLE = (list, dict, set, deque, bytearray, array, np.ndarray)

#: Containers that no specialization reads, though their contents may differ from call to call.
_CONTENTS_CHANGE = (Set, Mapping, MutableSequence, deque, array, memoryview)


#: Of so many members of an enumeration one is selected at most.
_MOST_MEMBERS = 64

#: What a row of data holds, whose description needs no more than its type.
_FLAT = frozenset({float, int, str, bytes, bool, type(None)})


class Unsuitable(Exception):  # noqa: N818  (not an error: the call runs eagerly)
    """An argument that no specialization can take; why, as part of a sentence."""


def _may_be_hidden(kind: type) -> bool:
    """Whether records share something that an attribute of one of them would hide: a method, or a constant."""
    fields = {*getattr(kind, "__dataclass_fields__", ()), *getattr(kind, "_fields", ())}
    bases = (base for base in kind.__mro__ if base not in (object, tuple))
    return any(not name.startswith("_") and name not in fields for base in bases for name in vars(base))


@functools.lru_cache(maxsize=256)
def _static_fields(kind: Any) -> frozenset[str]:
    """The fields of a dataclass that users made static."""
    return frozenset(field.name for field in dataclasses.fields(kind) if field.metadata.get("static"))


class _Reader:
    """Describes the arguments of one call."""

    def __init__(
        self,
        arguments: Sequence[Any],
        recorder: Recorder,
        asks: Asks,
        varying: Varying,
        results: bool,
    ) -> None:
        self._recorder, self._asks, self._by_identity = recorder, asks, asks.identity is not None
        self._captured = asks.captured | (asks.identity or frozenset())
        self._varying, self._results = varying, results
        self._tells_apart = self._by_identity or asks.copies or bool(asks.changed) or bool(asks.changes)
        self._changed, self._keeps_arrays = _changed_in(arguments, asks) if asks.changes else (frozenset(), False)
        self._column: Column = ()  # of what is described, if some vary
        self._enumerations: set[type] = set()  # whose members are captured state
        self._seen: dict[int, tuple[int, Value]] = {}
        self._apart: dict[int, tuple[int, Any]] = {}  # containers by their ids: which of them, and its tracer
        self.result = Signature()
        self.result.varying = varying
        self.result.keeps_arrays = self._keeps_arrays

    def describe(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """The tracer of an argument and its spec."""
        optional = self._varying.optional_kind(self._column) if self._varying and not differentiate else None
        if optional is not None and (thing is None or type(thing) is optional):
            return self._optional(thing, optional)
        return self._certain(thing, differentiate)

    def _certain(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """The same of what is in each call what it is in this one, or another one like it."""
        kind = type(thing)
        if not differentiate and self._asks.same_numbers and (kind is float or kind is np.float64):
            return self._container(thing)
        if kind is float:
            return self._float(thing, differentiate)
        if not differentiate and (self._tells_apart or equals_itself_alone(kind)) and self._is_told_apart(thing):
            return self._container(thing)
        return self._described(thing, differentiate)

    def _described(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """The same, where the function does not ask which container it is."""
        kind = type(thing)
        if kind is list or kind is tuple:
            return self._sequence(thing, differentiate)
        if kind is Index and not differentiate:
            return self._index(thing)
        if isinstance(thing, Value):
            return self._value(thing, differentiate)
        if isinstance(thing, float) and kind is not np.float64 and kind is not float:
            raise Unsuitable(
                f"an argument is a float of type {kind.__name__}, which may compute otherwise: pass a float"
            )
        if isinstance(thing, float) or (differentiate and kind is int):
            return self._float(thing, differentiate)
        if differentiate and is_number(thing):
            raise Unsuitable(f"a number to differentiate is a {kind.__name__}: pass a float")
        if kind is int:
            return self._int(thing)
        if kind is bool:
            return self._bool(thing)
        if kind is str:
            return self._text(thing)
        if kind in _STATIC:
            return thing, ("equal", thing)
        if is_enumeration(kind) and not differentiate:
            return self._member(thing)
        if registered(kind) is not None:
            return self._node(thing, differentiate)
        if isinstance(thing, (list, tuple)):
            return self._sequence(thing, differentiate)
        if isinstance(thing, dict):
            return self._mapping(thing, differentiate)
        if isinstance(thing, np.ndarray):
            return self._array(thing, differentiate)
        if not differentiate and kind in _TAKEN_APART:
            return self._node(thing, False)
        if not differentiate and (key_of := key_function(thing)) is not None:
            return self._keyed(thing, key_of)
        if isinstance(thing, np.generic):
            raise Unsuitable(f"an argument is a NumPy scalar of type {kind.__name__}: pass a float, an int or an Index")
        if isinstance(thing, _CONTENTS_CHANGE):
            raise Unsuitable(f"an argument is a {kind.__name__}, whose contents may change: pass a list, tuple or dict")
        if (differentiate or not self._by_identity) and has_plain_fields(thing):
            return self._dataclass(thing, differentiate)
        return self._object(thing, differentiate)

    def _is_told_apart(self, thing: Any) -> bool:
        """Whether the function may ask which object a container is, copy what was one object as one, or change it."""
        kind = type(thing)
        is_record, is_registered = not self._by_identity and has_plain_fields(thing), registered(kind) is not None
        is_taken_apart = is_record or is_registered
        if (self._by_identity or self._asks.copies) and (is_taken_apart or kind in _MUTABLE):
            return True
        if kind in self._changed or (is_taken_apart and equals_itself_alone(kind)):
            return True
        if is_registered:
            return bool(self._asks.changed)
        names = contents_of(thing) if is_record else vars(thing) if kind is SimpleNamespace else ()
        return len(names) > 0 and not self._asks.changed.isdisjoint({*ANY_ATTRIBUTE, *names})

    def _container(self, thing: Any) -> tuple[Any, tuple[Any, ...]]:
        """Such a container: another one than those before it, or one of those."""
        if id(thing) in self._captured:  # the function reads it otherwise, too, and its contents are captured state
            return thing, ("is", thing)
        if id(thing) in self._apart:
            number, tracer = self._apart[id(thing)]
            return tracer, ("again", number)
        number = len(self._apart)
        self._apart[id(thing)] = number, None  # it may contain itself
        tracer, spec = self._described(thing, False)
        self._apart[id(thing)] = number, tracer
        return tracer, ("apart", self._captured, spec)

    def _float(self, number: float, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        leaf = Value(number)
        offset = self.result.add_input(leaf, differentiate)
        if differentiate:
            self.result.gradients.append(Gradient(offset))
            return leaf, ("active", offset, np.float64)
        # A NumPy float is not just any float: code that tells them apart is traced for each.
        return self._recorder.number(leaf, type(number) is np.float64), ("passive", offset, type(number))

    def _index(self, index: Index) -> tuple[Any, tuple[Any, ...]]:
        slot = self.result.index_count
        self.result.index_count += 1
        if not self._recorder.compares_indices():
            return self._recorder.index(slot, int(index)), ("index", slot)
        leaf = Value(float(index))
        offset = self.result.add_input(leaf, False)
        return self._recorder.index(slot, int(index), leaf), ("index", slot, offset)

    def _bool(self, flag: bool) -> tuple[Any, tuple[Any, ...]]:
        if self._column not in self._varying.ints:
            return flag, ("equal", flag)
        leaf = Value(float(flag))
        return self._recorder.bool_argument(leaf, flag), ("bool", self.result.add_input(leaf, False))

    def _text(self, text: str) -> tuple[Any, tuple[Any, ...]]:
        column, codes = self._column, self.result.codes
        if column not in self._varying.ints:
            return text, ("equal", text)
        if column not in codes:
            codes[column] = {one: self._recorder.code(one) for one in sorted(self._varying.texts_in(column))}
        leaf = Value(codes[column].setdefault(text, self._recorder.code(text)))
        self.result.columns[id(leaf)] = column
        tracer = self._recorder.text_argument(leaf, text, codes[column])
        return tracer, ("text", self.result.add_input(leaf, False), codes[column])

    def _optional(self, thing: Any, kind: type) -> tuple[Any, tuple[Any, ...]]:
        """What may be None, if converted code can be asked for that."""
        from ..if_conversion.argument_tracers import optional_argument, reads_optional  # which few calls need

        if not reads_optional():
            return self._certain(thing, False)
        instead = placeholder(kind, self._varying.texts_in(self._column))
        leaf = Value(float(thing is not None))
        offset = self.result.add_input(leaf, False)
        tracer, spec = self._certain(instead if thing is None else thing, False)
        is_there = self._recorder.bool_argument(leaf, thing is not None)
        return optional_argument(tracer, is_there), ("optional", offset, instead, spec)

    def _member(self, member: Any) -> tuple[Any, tuple[Any, ...]]:
        """A member of an enumeration: which of them, if converted code can be asked for that."""
        from ..if_conversion.argument_tracers import members_site, one_of_members  # which few calls need

        kind: Any = type(member)
        members = (*kind,)
        if kind not in self._enumerations:
            self._enumerations.add(kind)
            self.result.objects += members
        varies = self._column in self._varying.members and len(members) <= _MOST_MEMBERS
        site = members_site() if varies else None
        if site is None:
            return member, ("is", member)
        place = next(i for i, one in enumerate(members) if one is member)  # which may be equal to another one
        leaf = Value(float(place))
        spec = "member", self.result.add_input(leaf, False), members
        return one_of_members(self._recorder.integer(leaf), members, site), spec

    def _int(self, number: int) -> tuple[Any, tuple[Any, ...]]:
        if self._column not in self._varying.ints or abs(number) >= MOST_INDEX:
            return number, ("equal", number)
        (tracer,), slot, offset = self._ints([number], self._column, int)
        return tracer, ("int", slot, offset)

    def _ints(self, numbers: Sequence[int], column: Column, kind: type) -> tuple[list[Any], int, int]:
        """The tracers of ints that each call brings; the first one's number among the indices, and its offset."""
        leaves = new_leaves(list(map(float, numbers)))
        offset = self.result.add_inputs(leaves, False)
        self.result.columns.update(dict.fromkeys(map(id, leaves), column))
        slot = self.result.index_count
        self.result.index_count += len(leaves)
        of = self._recorder.int_argument
        tracers = [of(slot + i, number, leaves[i], kind) for i, number in enumerate(numbers)]
        return tracers, slot, offset

    def _keyed(self, thing: Any, key_of: Callable[[Any], Any]) -> tuple[Any, tuple[Any, ...]]:
        """Something that must be equal in each call; or an int of NumPy's, or an array of them, that each brings."""
        kind = type(thing)
        column = (*self._column, IN_LIST) if kind is np.ndarray else self._column
        if column not in self._varying.ints or not are_small_ints(thing):
            return as_traced(thing), ("key", kind, key_of, key_of(thing), None if is_mutable(thing) else thing)
        tracers, slot, offset = self._ints(thing.ravel().tolist(), column, thing.dtype.type)
        if kind is np.ndarray:
            return _array_of(thing.shape, tracers), ("ints", kind, thing.shape, slot, offset, thing.dtype)
        return tracers[0], ("int", slot, offset, kind)

    def _inside(self, key: Any, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """The same of a part, at ``key`` of what is described."""
        if not self._varying:
            return self.describe(thing, differentiate)
        around = self._column
        self._column = (*around, key)
        try:
            return self.describe(thing, differentiate)
        finally:
            self._column = around

    def _parts(
        self, keys: Iterable[Any], things: Collection[Any], differentiate: bool
    ) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """The tracers and the specs of all parts of something."""
        are_one_by_one = differentiate or self._varying or self._asks.same_numbers
        if not are_one_by_one and _FLAT.issuperset(map(type, things)):
            return self._row(things)
        pairs = [self._inside(key, thing, differentiate) for key, thing in zip(keys, things, strict=False)]
        return [tracer for tracer, _ in pairs], [spec for _, spec in pairs]

    def _row(self, things: Collection[Any]) -> tuple[list[Any], list[tuple[Any, ...]]]:
        """The same of plain things: of one record among many."""
        floats, first = self._several([one for one in things if type(one) is float], False, False)
        tracers, offsets = iter(floats), count(first)
        specs: list[tuple[Any, ...]] = [
            ("passive", next(offsets), float) if type(one) is float else ("equal", one) for one in things
        ]
        return [next(tracers) if type(one) is float else one for one in things], specs

    def _floats(self, numbers: Sequence[float], differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """A list or tuple of floats."""
        kind = type(numbers)
        tracers, first = self._several(numbers, differentiate, False)
        return (tracers if kind is list else tuple(tracers)), (
            "floats",
            kind,
            first,
            len(numbers),
            differentiate,
            np.float64,
        )

    def _several(self, numbers: Sequence[float], differentiate: bool, are_numpys: bool) -> tuple[list[Any], int]:
        """The tracers of floats that follow each other, and the offset of the first."""
        leaves = new_leaves(list(numbers))
        if differentiate:
            return leaves, self.result.add_variables(leaves)
        return self._recorder.numbers(leaves, numbers, are_numpys), self.result.add_inputs(leaves, False)

    def _object(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        """Something that must be the same in every call, though its attributes may change; perhaps a module."""
        self.result.objects.append(thing)
        if not differentiate:
            return thing, ("is", thing)
        parameters = flatten(thing, "the first argument")[0]
        for parameter in parameters:
            self.result.gradients.append(Gradient(parameter=parameter))  # type: ignore[arg-type]  # a module's
        return thing, ("is", thing, len(parameters))

    def _value(self, value: Value, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        if differentiate:  # as the transforms do: each place is a variable of its own
            leaf = Value(value.data)
            offset = self.result.add_input(leaf, True)
            self.result.gradients.append(Gradient(offset=offset))
            return leaf, ("variable", offset)
        if engine.row_name(value) and not (self._results and type(value) is Value and not self._by_identity):
            raise Unsuitable("an argument is the result of an operation, whose gradient must flow on")
        if engine.is_parameter(value) or type(value) is not Value or self._by_identity:
            if type(value) is not Value:  # whose attributes may change
                self.result.objects.append(value)
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
        kind = type(thing)
        if kind in (list, tuple):
            kinds = set(map(type, thing))
            are_floats = kinds == {float} and self._column not in self._varying.lists_of_optional()
            are_floats = are_floats and (differentiate or not self._asks.same_numbers)
            if are_floats or (differentiate and kinds == {float, int}):
                return self._floats(thing, differentiate)
        keys = repeat(IN_LIST) if isinstance(thing, list) else count()
        items, specs = self._parts(keys, thing, differentiate)
        named = isinstance(thing, tuple) and hasattr(kind, "_make")
        self._refuse_subclass(thing, named or kind in (list, tuple), "list or tuple")
        tracers: Any = items
        if kind is not list:
            tracers = kind._make(items) if named else tuple(items)
        if not named:
            return tracers, ("sequence", kind, specs)
        self.result.objects.append(kind)  # whose methods the function may call
        if getattr(thing, "__dict__", None):
            raise Unsuitable(f"an argument is a {kind.__name__} with attributes beside its fields")
        return tracers, ("sequence", kind, specs, None, self._in_dictionary(thing))

    def _mapping(self, thing: dict[Any, Any], differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        kind = type(thing)
        self._refuse_subclass(thing, kind in (dict, OrderedDict, defaultdict, Counter), "dict")
        tracers, specs = self._parts(thing, thing.values(), differentiate)
        named = list(zip(thing, specs, strict=True))
        if kind is dict:
            return dict(zip(thing, tracers, strict=True)), ("dict", kind, named)
        like_this = taken_apart(copy.copy(thing))  # a copy, since this one may change
        assert like_this is not None
        build = like_this.build
        return build(tracers), ("dict", kind, named, build, getattr(thing, "default_factory", None))

    def _dataclass(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        if differentiate:
            return self._fields(thing, True)
        before, seen = self.result.mark(), dict(self._seen)
        try:
            return self._fields(thing, False)
        except Unsuitable:  # a set, an array of integers, …: then the object must be the same one in every call
            self.result.rewind(before)
            self._seen = seen
            return self._object(thing, False)

    def _fields(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        kind: Any = type(thing)
        self.result.objects.append(kind)
        static, contents = _static_fields(kind), contents_of(thing)
        if static or differentiate:
            pairs = [
                (content, self._constant(content))
                if name in static
                else self._inside(name, content, differentiate and not is_static(content))
                for name, content in contents.items()
            ]
            tracers, specs = [tracer for tracer, _ in pairs], [spec for _, spec in pairs]
        else:
            tracers, specs = self._parts(contents, contents.values(), False)
        named = list(zip(contents, specs, strict=True))
        build = functools.partial(_instance_of, kind, (*contents,))
        return build(tracers), ("fields", kind, named, build, self._in_dictionary(thing))

    def _in_dictionary(self, thing: Any) -> int | None:
        """How many attributes a record has in its dictionary, if later calls must have as many."""
        matters = hasattr(thing, "__dict__") and (self._asks.missing or _may_be_hidden(type(thing)))
        return len(thing.__dict__) if matters else None

    def _constant(self, thing: Any) -> tuple[Any, ...]:
        """The spec of something that must be the same in every call."""
        kind = type(thing)
        if kind is float or kind in _STATIC:
            return "equal", thing
        if kind in (list, tuple):
            return "sequence", kind, [self._constant(item) for item in thing]
        if (key_of := key_function(thing)) is not None:
            return "key", kind, key_of, key_of(thing), None
        self.result.objects.append(thing)
        return "is", thing

    def _node(self, thing: Any, differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        how = registered(type(thing))
        if how is None:
            how = _TAKEN_APART[type(thing)]
        else:
            self.result.objects.append(type(thing))
        children, rest = how.flatten(thing)
        tracers, specs = self._parts(count(), [*children], differentiate)
        build = functools.partial(how.unflatten, rest)
        return self._kept(build(tracers)), ("node", type(thing), specs, build, how.flatten, rest)

    @staticmethod
    def _refuse_subclass(thing: Any, plain: bool, wanted: str) -> None:
        """Raise Unsuitable for a subclass: it may have state and methods that the container of tracers lacks."""
        if not plain:
            raise Unsuitable(f"an argument is a container of type {type(thing).__name__}: pass a plain {wanted}")

    def _array(self, array: np.ndarray[Any, Any], differentiate: bool) -> tuple[Any, tuple[Any, ...]]:
        self._refuse_subclass(array, type(array) is np.ndarray, "array")
        if self._asks.layout:
            raise Unsuitable("an argument is an array, and the function may ask how it lies in memory")
        if array.dtype == np.float64:
            tracers, first = self._several(array.ravel().tolist(), differentiate, True)
            return self._kept(_array_of(array.shape, tracers)), ("array", np.ndarray, array.shape, first, differentiate)
        if not differentiate and array.dtype == object:
            return self._node(array, False)
        if not differentiate and (key_of := key_function(array)) is not None:
            return self._keyed(array, key_of)
        raise Unsuitable(f"an argument is an array of {array.dtype}: pass float64")

    def _kept(self, thing: Any) -> Any:
        """An array that a trace cannot change, where others may be the same one, or share its memory."""
        if self._keeps_arrays and type(thing) is np.ndarray:
            thing.flags.writeable = False
        return thing


def _changed_in(arguments: Sequence[Any], asks: Asks) -> tuple[frozenset[type], bool]:
    """Of which classes a function may have two names for a container that it changes; whether arrays are among them."""
    counts: Counter[type] = Counter()
    rest, seen = [arguments], Counter[int]()  # what is there twice, is two with what it holds
    while rest:
        thing = rest.pop()
        if isinstance(thing, _CHANGEABLE):
            counts[type(thing)] += 1
        seen[id(thing)] += 1
        if seen[id(thing)] <= 2:
            items = _items_of(thing)
            rest.extend(() if _FLAT.issuperset(map(type, items)) else items)
    several = frozenset(kind for kind in counts if counts[kind] > 1 or kind in asks.captured_kinds)
    told_apart = several - {np.ndarray} if np.ndarray not in asks.captured_kinds else several
    return told_apart if asks.changes is Changes.CONTAINERS else told_apart & {np.ndarray}, np.ndarray in several


def _items_of(thing: Any) -> Collection[Any]:
    """What a container among the arguments holds."""
    if type(thing) in _FLAT or (isinstance(thing, np.ndarray) and thing.dtype != object):
        return ()
    if (how := _TAKEN_APART.get(type(thing))) is not None:
        return [*how.flatten(thing)[0]]
    found = taken_apart(thing)
    return () if found is None else found.items


def _copied(thing: Any) -> Any:
    """A copy of a container and of those in it, which hold what they held."""
    container = taken_apart(thing) if type(thing) not in _FLAT else None
    return thing if container is None else container.build(list(map(_copied, container.items)))


def _instance_of(kind: type, names: tuple[str, ...], contents: list[Any]) -> Any:
    return instance_of(kind, dict(zip(names, contents, strict=True)))


def signature_of(
    arguments: Sequence[Any],
    recorder: Recorder,
    differentiate_first: bool,
    asks: Asks = NOTHING,
    varying: Varying = CONSTANT,
    results: bool = False,
) -> Signature:
    """Describe the arguments of a call and make their tracers.

    With ``differentiate_first``, gradients of the numbers in the first argument are wanted. Where the function ``asks``
    which object something is, each Value must be the same object in every call, and containers the same or others as
    now. So must containers that it copies, and records that it changes and puts back. ``varying``: the ints that each
    call brings. With ``results``, Values may be results of operations, to which a plain call passes its gradient on.
    Raises Unsuitable.
    """
    reader = _Reader(arguments, recorder, asks, varying, results)
    specs = []
    for position, argument in enumerate(arguments):
        try:
            tracer, spec = reader._inside(position, argument, differentiate_first and position == 0)
        except RecursionError:
            raise Unsuitable("an argument is nested too deeply, or contains itself") from None
        reader.result.tracers.append(tracer)
        specs.append(spec)
    reader.result.spec = ("sequence", tuple, specs)
    return reader.result
