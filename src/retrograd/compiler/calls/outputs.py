"""The results of a function that returns several: a tree of Values and numbers, and the program's numbers in it.

A program has one root, from which its backward pass starts. Several results are one root, the sum of each of them times
a *cotangent*, an input of the pass. The results themselves are read beside it. Numbers alone have no such pass, and no
such sum.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...autodiff.sparse import Entries, Pattern
from ...engine import Value, unrecorded
from ...engine.containers import contents_of, fields_of, instance_of, taken_apart
from ...engine.numbers import is_number
from ...engine.pytree import Structure, flatten
from ...index import IndexTracer
from ..if_conversion.tracers.frozen_list import FrozenList
from ..if_conversion.tracers.object_tracer import Chosen, ObjectTracer
from ..tracing.bool_tracer import is_comparison
from ..tracing.choice_tracer import is_choice
from ..tracing.float_tracer import FloatTracer, is_tracer

__all__ = ["Outputs", "OutputsOfTrace", "is_single", "leaves_of", "odd_one", "outputs_of", "settled"]


class _NoLeafError(Exception):
    """A result is neither a number nor a container of numbers."""


def is_single(result: Any) -> bool:
    """Whether a function's result is one Value or number."""
    return (
        isinstance(result, Value)
        or is_tracer(result)
        or is_number(result)
        or (isinstance(result, np.ndarray) and result.shape == ())
    )


def settled(tree: Any) -> Any:
    """A result with plain ints, texts and objects for those that decisions choose: that they are these is a guard.

    So are keys, and truth values in fields of dataclasses.
    """
    if is_choice(tree):
        return tree.plain()
    if type(tree) is ObjectTracer:
        return settled(tree._rg_things[tree._rg_key.plain()])
    if type(tree) in (list, tuple):
        if _NUMBERS.issuperset(map(type, tree)):
            return tree
        items = list(map(settled, tree))
        same = all(map(operator.is_, items, tree))
        return tree if same else tuple(items) if type(tree) is tuple else items
    if type(tree) is dict:
        pairs = {_settled_part(key): settled(item) for key, item in tree.items()}
        same = all(map(operator.is_, (*pairs, *pairs.values()), (*tree, *tree.values())))
        return tree if same else pairs
    if dataclasses.is_dataclass(type(tree)):
        before = contents_of(tree)
        after = {name: settled(_settled_part(content)) for name, content in before.items()}
        same = all(map(operator.is_, after.values(), before.values()))
        return tree if same else instance_of(type(tree), after)
    return tree


_NUMBERS = frozenset({Value, FloatTracer, float})


def _settled_part(part: Any) -> Any:
    return part.plain() if is_choice(part) else bool(part) if is_comparison(part) else part


def _is_traced(part: Any) -> bool:
    """Whether there is a tracer in what is no item of a result: it would be as in this call in all others."""
    kind = type(part)
    if kind in (tuple, list, set, frozenset):
        return any(map(_is_traced, part))
    if kind is dict:
        return any(map(_is_traced, (*part, *part.values())))
    return is_choice(part) or is_comparison(part) or is_tracer(part) or kind in _TRACERS or issubclass(kind, Chosen)


_TRACERS = frozenset({FrozenList, IndexTracer})


def leaves_of(tree: Any) -> list[Any] | None:
    """The Values, numbers and tracers in a tree, in the order of :func:`flatten`; None if it holds anything else.

    None, too, where one list or dictionary is in two places: a copy would be in one.
    """
    leaves: list[Any] = []
    try:
        _collect(tree, leaves, {})
    except (_NoLeafError, TypeError, RecursionError):
        return None
    return leaves


def odd_one(tree: Any, path: str = "it") -> str:
    """What of a result is neither a Value nor a number: ``it['name'] is a str``; "" if there is none."""
    if tree is None or is_single(tree):
        return f"{path} is None" if tree is None and path == "it" else ""
    inside: Any = []
    if type(tree) in (list, tuple) or isinstance(tree, dict) or hasattr(tree, "_fields"):
        inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
    elif leaves_of(tree) is None:
        return f"{path} is a {type(tree).__name__}"
    return next(filter(None, (odd_one(item, f"{path}[{key!r}]") for key, item in inside)), "")


def _collect(tree: Any, into: list[Any], seen: dict[int, Any]) -> None:
    if isinstance(tree, Value) or is_tracer(tree) or is_number(tree):
        into.append(tree)
    elif tree is not None:
        if id(tree) in seen and not isinstance(tree, tuple):
            raise _NoLeafError
        seen[id(tree)] = tree
        for item in _items(tree):
            _collect(item, into, seen)


def _items(tree: Any) -> Sequence[Any]:
    if type(tree) is np.ndarray:
        if tree.dtype != np.float64 and tree.dtype != object:
            raise _NoLeafError
        items: list[Any] = tree.ravel().tolist()
        return items
    container = taken_apart(tree)
    is_other_list = isinstance(tree, (list, tuple)) and type(tree) not in (list, tuple) and not hasattr(tree, "_fields")
    if container is None or is_other_list:  # a module, text, a class of lists with methods of its own
        raise _NoLeafError
    beside: Any = container.definition
    if container.kind == "dataclass":
        names = fields_of(tree)
        beside = [content for name, content in contents_of(tree).items() if name not in names]
    if _is_traced(beside):
        raise _NoLeafError
    return container.items


def _hold_objects(tree: Any) -> set[bool]:
    """Whether arrays of plain numbers in a tree are arrays of objects: both, if some are and others are not."""
    if type(tree) is np.ndarray:
        return set() if any(isinstance(one, Value) for one in tree.flat) else {tree.dtype == object}
    if isinstance(tree, Value) or is_tracer(tree) or is_number(tree) or tree is None or isinstance(tree, Entries):
        return set()
    return set().union(*map(_hold_objects, _items(tree)))


def aligned(tree: Any, pattern: Pattern | None) -> Any:
    """A tree; the entries of a matrix in this pattern, if that has room for them."""
    return tree if pattern is None or not isinstance(tree, Entries) else tree.aligned(pattern) or tree


class OutputsOfTrace(NamedTuple):
    """What a traced function returned: a tree of nodes, and of numbers that no argument changes."""

    nodes: tuple[Value, ...]  #: each once
    places: tuple[Any, ...]  #: of each leaf the number of its node, or, of a constant, the leaf itself
    constant: tuple[bool, ...]  #: whether the leaf is a number that no argument changes
    are_values: tuple[bool, ...]  #: whether the leaf is a Value
    is_array: bool  #: whether the tree is one array of numbers, or the entries of a matrix
    definition: Any  #: the nesting and the keys
    pattern: Pattern | None  #: of the entries of a matrix
    inner: tuple[int, ...] = ()  #: the numbers of those Values that other results are computed from
    labels: tuple[tuple[int, str], ...] = ()  #: those that the function gives to Values, by their numbers

    def numbers_of_values(self) -> list[int]:
        """The numbers of the nodes that are Values among the results."""
        leaves = zip(self.places, self.constant, self.are_values, strict=True)
        return sorted({place for place, constant, is_value in leaves if is_value and not constant})


def outputs_of(tree: Any) -> OutputsOfTrace | None:
    """The outputs of a trace; None where :func:`leaves_of` gives None."""
    leaves = leaves_of(tree)
    if leaves is None:
        return None
    numbers: dict[int, int] = {}
    nodes: list[Value] = []
    places: list[Any] = []
    for leaf in leaves:
        node = leaf if isinstance(leaf, Value) else leaf._node if is_tracer(leaf) else None
        if node is None:
            places.append(leaf)
            continue
        # A Value and its number are two results, of which only one has a gradient.
        key = id(leaf) if isinstance(leaf, Value) else -id(node)
        if key not in numbers:
            numbers[key] = len(nodes)
            nodes.append(node)
        places.append(numbers[key])
    constant = tuple(not isinstance(leaf, Value) and not is_tracer(leaf) for leaf in leaves)
    are_values = tuple(isinstance(leaf, Value) for leaf in leaves)
    pattern = tree.pattern if isinstance(tree, Entries) else None
    array = tree.numbers if isinstance(tree, Entries) else tree
    straight = places == list(range(len(leaves))) and len(nodes) == len(leaves)
    alone = type(array) is np.ndarray and array.ndim == 1 and straight and not any(are_values)
    definition = flatten(tree)[1].definition
    return OutputsOfTrace(tuple(nodes), tuple(places), constant, are_values, alone, definition, pattern)


class Outputs:
    """How the results of a program become what the function returned."""

    def __init__(
        self, traced: OutputsOfTrace, structure: Structure, leaves: Sequence[Any], are_objects: bool = False
    ) -> None:
        self.count: int = len(traced.nodes)
        self._are_objects = are_objects  # what arrays of numbers hold
        self._built = structure.fill if are_objects else structure.collect
        self._numpys = tuple(type(leaf) is np.float64 for leaf in leaves)
        self._traced = traced._replace(nodes=())
        in_order = traced.places == tuple(range(self.count)) and not any(traced.constant)
        self._straight = in_order and not any(self._numpys)
        self._all_values = all(traced.are_values)
        self.connected: bool = any(traced.are_values)
        self.inner: tuple[int, ...] = traced.inner

    @classmethod
    def matching(cls, traced: OutputsOfTrace, plain: Any) -> Outputs | None:
        """The outputs, if a plain run of the same call returned the same tree of Values and numbers."""
        plain = aligned(plain, traced.pattern)
        leaves = leaves_of(plain)
        structure = flatten(plain)[1]
        if structure.definition != traced.definition:
            return None
        if leaves is None or len(leaves) != len(traced.places):
            return None
        for leaf, place, constant, is_value in zip(
            leaves, traced.places, traced.constant, traced.are_values, strict=True
        ):
            if isinstance(leaf, Value) is not is_value or (isinstance(leaf, np.integer) and not constant):
                return None
            if constant and not (type(leaf) is type(place) and (leaf == place or leaf != leaf)):
                return None
        are_objects = _hold_objects(plain)
        return None if len(are_objects) > 1 else cls(traced, structure, leaves, True in are_objects)

    def sources(self, plain: Any) -> list[Any] | None:
        """For each result of the program, the leaf of a plain run that it must equal; None for another tree."""
        leaves = leaves_of(aligned(plain, self._traced.pattern))
        if leaves is None or len(leaves) != len(self._traced.places):
            return None
        found: list[Any] = [0.0] * self.count
        for leaf, place, constant in zip(leaves, self._traced.places, self._traced.constant, strict=True):
            if not constant:
                found[int(place)] = leaf
        return found

    def matrix(self, finish: Callable[[Entries], Any]) -> tuple[Any, bytes, bytes] | None:
        """How the numbers of a program become what ``finish`` makes of the entries of a matrix; None for other results.

        A matrix of that pattern; for each of its entries which number it is, or, counted from there, which constant
        (uint32); and the constants (float64).
        """
        traced = self._traced
        if traced.pattern is None:
            return None
        like = finish(Entries(np.arange(len(traced.places), dtype=np.float64), traced.pattern))
        constants = [float(place) for place, fixed in zip(traced.places, traced.constant, strict=True) if fixed]
        further = iter(range(self.count, self.count + len(constants)))
        sources = [
            next(further) if fixed else int(place) for place, fixed in zip(traced.places, traced.constant, strict=True)
        ]
        which = np.array(sources, np.uint32)[like.data.astype(np.intp)]
        assert like.has_canonical_format  # SciPy notes that it is, and so it is noted in all matrices
        return like, which.tobytes(), np.array(constants, np.float64).tobytes()

    def collect(self, numbers: Any, values: Sequence[Value] | None = None) -> Any:
        """The tree of results. ``values`` take the places of ``numbers`` where the function returns Values."""
        traced = self._traced
        if traced.labels:
            values = values or [unrecorded(number) for number in numbers]
            for place, label in traced.labels:
                values[place].label = label
        if traced.is_array:
            array = numbers.astype(object) if self._are_objects else numbers
            return array if traced.pattern is None else Entries(array, traced.pattern)
        if self._straight and not self.connected:
            return self._built(numbers)
        if self._straight and self._all_values and values is not None:
            return self._built(values)
        made: dict[int, Value] = {}
        leaves = []
        for place, constant, is_value, is_numpys in zip(
            traced.places, traced.constant, traced.are_values, self._numpys, strict=True
        ):
            if constant:
                leaves.append(place)
            elif not is_value:
                leaves.append(np.float64(numbers[place]) if is_numpys else numbers[place])
            elif values is not None:
                leaves.append(values[int(place)])
            else:
                leaves.append(made.setdefault(int(place), unrecorded(numbers[place])))
        return self._built(leaves)
