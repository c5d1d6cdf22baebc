"""How the arguments of a scalar function become arrays for JAX.

A float, a Value or an Index becomes a scalar array. A list or tuple of like things becomes what one of them is, with
one more axis in front; of unlike things, a tuple. A dictionary stays one, a NumPy array keeps its shape. What is the
same in every call (whole numbers, strings, None, modules) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import errors
from ....engine import Value
from ....index import Index

__all__ = ["KINDS", "Layout", "Numbers"]

#: The sequences that a call's numbers form: floats, the numbers of Values, indices.
KINDS = ("passive", "active", "index")
Numbers = dict[str, Any]
Spec = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """An array: which sequence its numbers are in, and where."""

    kind: str
    places: NDArray[np.int64]


class Layout:
    """The arguments of one structure, as ``Description.spec`` has it, and the arrays that they become."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        trees = [_arranged(part) for part in spec[2]]
        self._arguments = [position for position, tree in enumerate(trees) if tree is not None]
        self._tree = tuple(tree for tree in trees if tree is not None)
        found: list[_Leaf] = []
        _leaves(self._tree, found)
        self._sources = {kind: [leaf for leaf in found if leaf.kind == kind] for kind in KINDS}

    @property
    def count(self) -> int:
        """How many of the arguments become inputs."""
        return len(self._tree)

    def read(self, arguments: Sequence[Any]) -> Numbers | None:
        """A call's numbers by kind; None when the arguments are not of this structure."""
        found: dict[tuple[str, int], Any] = {}
        if not _read(self._spec, tuple(arguments), found):
            return None
        numbers: Numbers = {}
        for kind in KINDS:
            numbers[kind] = np.zeros(
                1 + max((place for of, place in found if of == kind), default=-1),
                np.int32 if kind == "index" else np.float64,
            )
        for (kind, place), number in found.items():
            numbers[kind][place] = number
        return numbers

    def arrays(self, numbers: Numbers) -> tuple[Any, ...]:
        """A call's numbers as the inputs of the JAX function, in NumPy's arrays."""
        return tuple(_filled(tree, numbers) for tree in self._tree)

    def vectors(self, inputs: Sequence[Any], convert: Callable[[Any, str], Any]) -> Numbers:
        """The inputs of the JAX function as flat arrays by kind, in the program's order.

        ``convert(array, kind)`` makes an array of what is given. Raises TypeError when they are not as described.
        """
        import jax.numpy as jnp

        if len(inputs) != len(self._tree):
            raise errors.other_arguments(f"it takes {len(self._tree)} inputs and got {len(inputs)}")
        given: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        for position, (tree, thing) in enumerate(zip(self._tree, inputs, strict=True)):
            _collected(tree, thing, f"input {position}", given, convert)
        vectors: Numbers = {}
        for kind, sources in self._sources.items():
            parts = [array.reshape(-1) for array in given[kind]]
            if not parts:
                vectors[kind] = convert(np.zeros(0), kind)
                continue
            vector = parts[0] if len(parts) == 1 else jnp.concatenate(parts)
            order = np.concatenate([leaf.places.ravel() for leaf in sources])
            straight = np.array_equal(order, np.arange(order.size))
            vectors[kind] = vector if straight else vector[np.argsort(order)]
        return vectors

    def __str__(self) -> str:
        return ", ".join(_described(tree) for tree in self._tree)


# --- making it ------------------------------------------------------------------------------------------------


def _arranged(spec: Spec) -> Any:
    match spec:
        case ("passive" | "active" | "index" as kind, place, *_):
            return _Leaf(kind, np.asarray(place, dtype=np.int64))
        case ("value", place):
            return _Leaf("active", np.asarray(place, dtype=np.int64))
        case ("array", _, shape, first, active):
            places = first + np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
            return _Leaf("active" if active else "passive", places)
        case ("dict", _, pairs):
            items = {key: tree for key, part in pairs if (tree := _arranged(part)) is not None}
            return items or None
        case ("sequence", _, parts):
            trees = [tree for part in parts if (tree := _arranged(part)) is not None]
            if not trees:
                return None
            return _stacked(trees) if len({_described(tree) for tree in trees}) == 1 else tuple(trees)
    return None  # the same in every call, or the same Value once more


def _stacked(trees: Sequence[Any]) -> Any:
    first = trees[0]
    if isinstance(first, _Leaf):
        return _Leaf(first.kind, np.stack([tree.places for tree in trees]))
    if isinstance(first, dict):
        return {key: _stacked([tree[key] for tree in trees]) for key in first}
    return tuple(_stacked(column) for column in zip(*trees, strict=True))


def _described(tree: Any) -> str:
    if isinstance(tree, _Leaf):
        kind = "int32" if tree.kind == "index" else "float" if tree.kind == "passive" else "Value"
        return f"{kind}[{','.join(map(str, tree.places.shape))}]"
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key!r}: {_described(part)}" for key, part in tree.items()) + "}"
    return "(" + ", ".join(map(_described, tree)) + ")"


def _leaves(tree: Any, into: list[_Leaf]) -> None:
    if isinstance(tree, _Leaf):
        into.append(tree)
        return
    for part in tree.values() if isinstance(tree, dict) else tree:
        _leaves(part, into)


# --- a call's numbers -----------------------------------------------------------------------------------------


def _read(spec: Spec, thing: Any, found: dict[tuple[str, int], Any]) -> bool:
    """Put the numbers of one argument into ``found``; whether it is as described."""
    match spec:
        case ("index", slot):
            found["index", slot] = int(thing) if type(thing) is Index else 0
            return type(thing) is Index
        case ("passive", place, _):
            found["passive", place] = thing
            return isinstance(thing, float)
        case ("value", place):
            found["active", place] = thing.data if isinstance(thing, Value) else 0.0
            return isinstance(thing, Value)
        case ("same", place):
            return isinstance(thing, Value) and found["active", place] == thing.data
        case ("is", what):
            return thing is what
        case ("equal", what):
            return type(thing) is type(what) and bool(thing == what)
        case ("sequence", kind, parts):
            if type(thing) is not kind or len(thing) != len(parts):
                return False
            return all(_read(part, item, found) for part, item in zip(parts, thing, strict=True))
        case ("dict", kind, pairs):
            if type(thing) is not kind or list(thing) != [key for key, _ in pairs]:
                return False
            return all(_read(part, thing[key], found) for key, part in pairs)
        case ("array", _, shape, first, active):
            if not isinstance(thing, np.ndarray) or thing.shape != shape or thing.dtype != np.float64:
                return False
            kind = "active" if active else "passive"
            found.update({(kind, first + i): number for i, number in enumerate(thing.ravel().tolist())})
            return True
    raise AssertionError(f"an argument is described as {spec!r}")


def _filled(tree: Any, numbers: Numbers) -> Any:
    if isinstance(tree, _Leaf):
        return numbers[tree.kind][tree.places]
    if isinstance(tree, dict):
        return {key: _filled(part, numbers) for key, part in tree.items()}
    return tuple(_filled(part, numbers) for part in tree)


def _collected(tree: Any, thing: Any, where: str, into: dict[str, list[Any]], convert: Callable[..., Any]) -> None:
    if isinstance(tree, _Leaf):
        array = convert(thing, tree.kind)
        if array.shape != tree.places.shape:
            raise errors.other_arguments(f"{where} has the shape {array.shape} and needs {tree.places.shape}")
        into[tree.kind].append(array)
    elif isinstance(tree, dict):
        if not isinstance(thing, dict) or thing.keys() != tree.keys():
            raise errors.other_arguments(f"{where} must be a dictionary of {', '.join(map(repr, tree))}")
        for key, part in tree.items():
            _collected(part, thing[key], f"{where}[{key!r}]", into, convert)
    else:
        if not isinstance(thing, (tuple, list)) or len(thing) != len(tree):
            raise errors.other_arguments(f"{where} must be a tuple of {len(tree)}")
        for position, part in enumerate(tree):
            _collected(part, thing[position], f"{where}[{position}]", into, convert)
