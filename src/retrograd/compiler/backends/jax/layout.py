"""How the arguments of a scalar function become arrays for JAX.

A float, a Value or an Index becomes a scalar array. A list or tuple of like things becomes one array, or tree of
arrays, with one more axis in front; of unlike things, a tuple. A dictionary stays one, a NumPy array keeps its shape.
What is the same in every call (whole numbers, strings, None, modules) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import errors
from ....engine import Value
from ....engine.numbers import same_bits
from ....index import Index
from ...calls.signature import one_by_one

__all__ = ["KINDS", "Layout", "Numbers"]

#: A call's numbers form three sequences: floats, the numbers of Values, and indices.
KINDS = ("passive", "active", "index")
Numbers = dict[str, Any]
Spec = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _ArrayLeaf:
    """One array among the inputs: the kind of its numbers, and the position of each in the sequence of that kind."""

    kind: str
    positions: NDArray[np.int64]


#: A tree of arrays: a leaf, a dictionary of trees or a tuple of trees.
_Tree = Any


class Layout:
    """The structure of one function's arguments, as ``Description.spec`` has it, and the arrays that they become."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._trees: tuple[_Tree, ...] = tuple(tree for part in spec[2] if (tree := _tree_of(part)) is not None)
        leaves = _leaves(self._trees)
        self._leaves = {kind: [leaf for leaf in leaves if leaf.kind == kind] for kind in KINDS}

    def read(self, arguments: Sequence[Any]) -> Numbers | None:
        """A call's numbers by kind; None if the arguments have another structure."""
        found: dict[tuple[str, int], Any] = {}
        if not _read(self._spec, tuple(arguments), found):
            return None
        numbers: Numbers = {}
        for kind in KINDS:
            numbers[kind] = np.zeros(
                1 + max((position for of, position in found if of == kind), default=-1),
                np.int32 if kind == "index" else np.float64,
            )
        for (kind, position), number in found.items():
            if kind in numbers:
                numbers[kind][position] = number
        return numbers

    def numbers_of(self, which: Sequence[int]) -> set[tuple[str, int]]:
        """The kind and position of each float and Value of some arguments."""
        return {number for argument in which for number in _numbers_of(self._spec[2][argument])}

    def arrays(self, numbers: Numbers) -> tuple[Any, ...]:
        """A call's numbers as the inputs of the JAX function: trees of NumPy arrays."""
        return tuple(_arrays(tree, numbers) for tree in self._trees)

    def vectors(self, inputs: Sequence[Any], convert: Callable[[Any, str], Any]) -> Numbers:
        """The inputs of the JAX function as one flat array of each kind, in the program's order.

        Args:
            inputs: what the JAX function was called with after its parameters.
            convert: ``convert(array, kind)`` makes a JAX array of an input.

        Raises:
            TypeError: the inputs have another structure or other shapes.
        """
        import jax.numpy as jnp

        if len(inputs) != len(self._trees):
            raise errors.other_arguments(f"it takes {errors.counted(len(self._trees), 'input')} and got {len(inputs)}")
        arrays: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        for i, (tree, given) in enumerate(zip(self._trees, inputs, strict=True)):
            _append_arrays(tree, given, f"input {i}", arrays, convert)
        vectors: Numbers = {}
        for kind, leaves in self._leaves.items():
            parts = [array.reshape(-1) for array in arrays[kind]]
            if not parts:
                vectors[kind] = convert(np.zeros(0), kind)
                continue
            vector = parts[0] if len(parts) == 1 else jnp.concatenate(parts)
            positions = np.concatenate([leaf.positions.ravel() for leaf in leaves])
            in_order = np.array_equal(positions, np.arange(positions.size))
            vectors[kind] = vector if in_order else vector[np.argsort(positions)]
        return vectors

    def __str__(self) -> str:
        return ", ".join(_described(tree) for tree in self._trees)


# --- the trees of a structure ---------------------------------------------------------------------------------


def _tree_of(spec: Spec) -> _Tree:
    """The arrays for one described argument; None if nothing in it changes from call to call."""
    match one_by_one(spec):
        case ("passive" | "active" | "index" as kind, position, *_):
            return _ArrayLeaf(kind, np.asarray(position, dtype=np.int64))
        case ("value", position):
            return _ArrayLeaf("active", np.asarray(position, dtype=np.int64))
        case ("array", _, shape, first, active):
            positions = first + np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
            return _ArrayLeaf("active" if active else "passive", positions)
        case ("dict" | "fields", _, pairs, *_):
            items = {key: tree for key, part in pairs if (tree := _tree_of(part)) is not None}
            return items or None
        case ("apart", _, part):
            return _tree_of(part)
        case ("sequence" | "node", _, parts, *_):
            trees = [tree for part in parts if (tree := _tree_of(part)) is not None]
            if not trees:
                return None
            return _stacked(trees) if len({_described(tree) for tree in trees}) == 1 else tuple(trees)
    return None  # the same in every call, or a Value that has its position already


def _stacked(trees: Sequence[_Tree]) -> _Tree:
    """Like trees as one, with one more axis in front of each array."""
    first = trees[0]
    if isinstance(first, _ArrayLeaf):
        return _ArrayLeaf(first.kind, np.stack([tree.positions for tree in trees]))
    if isinstance(first, dict):
        return {key: _stacked([tree[key] for tree in trees]) for key in first}
    return tuple(_stacked(parts) for parts in zip(*trees, strict=True))


def _described(tree: _Tree) -> str:
    """The types and shapes of a tree, as users read them; like trees have like descriptions."""
    if isinstance(tree, _ArrayLeaf):
        kind = "int32" if tree.kind == "index" else "float" if tree.kind == "passive" else "Value"
        return f"{kind}[{','.join(map(str, tree.positions.shape))}]"
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key!r}: {_described(part)}" for key, part in tree.items()) + "}"
    return "(" + ", ".join(map(_described, tree)) + ")"


def _leaves(tree: _Tree) -> list[_ArrayLeaf]:
    if isinstance(tree, _ArrayLeaf):
        return [tree]
    return [leaf for part in (tree.values() if isinstance(tree, dict) else tree) for leaf in _leaves(part)]


def _numbers_of(spec: Spec) -> Iterator[tuple[str, int]]:
    match one_by_one(spec):
        case ("passive" | "active" as kind, position, *_):
            yield kind, position
        case ("value" | "same", position):
            yield "active", position
        case ("array", _, shape, first, active):
            yield from (("active" if active else "passive", first + i) for i in range(int(np.prod(shape))))
        case ("dict" | "fields", _, pairs, *_):
            for _, part in pairs:
                yield from _numbers_of(part)
        case ("apart", _, part):
            yield from _numbers_of(part)
        case ("sequence" | "node", _, parts, *_):
            for part in parts:
                yield from _numbers_of(part)


# --- from arguments to numbers --------------------------------------------------------------------------------

_Found = dict[tuple[str, int], Any]


def _read(spec: Spec, argument: Any, found: _Found) -> bool:
    """Put the numbers of one argument into ``found``; False if the argument is not as described."""
    match one_by_one(spec):
        case ("is", expected):
            return argument is expected
        case ("equal", expected):
            return type(argument) is type(expected) and (argument is expected or _same(argument, expected))
        case ("key", kind, key_of, expected, _):
            return type(argument) is kind and bool(key_of(argument) == expected)
        case ("same", position):  # a Value that came before
            return isinstance(argument, Value) and found["active", position] == argument.data
        case ("apart", _, part):  # a container that is none of those before
            return _is_another(argument, found) and _read(part, argument, found)
        case ("again", number):
            return bool(found.get((_APART, id(argument)), -1) == number)
        case ("index" | "passive" | "value", position, *_):
            return _read_number(spec[0], position, argument, found)
        case ("array", _, shape, first, active):
            return _read_array(shape, "active" if active else "passive", first, argument, found)
        case ("sequence", kind, parts, *_):
            if type(argument) is not kind or len(argument) != len(parts):
                return False
            return all(_read(part, item, found) for part, item in zip(parts, argument, strict=True))
        case ("fields", kind, pairs, *_):
            return type(argument) is kind and all(_read(part, getattr(argument, name), found) for name, part in pairs)
        case ("node", kind, parts, _, flatten, rest):
            if type(argument) is not kind:
                return False
            children, other = flatten(argument)
            items = list(children)
            if not (other is rest or other == rest) or len(items) != len(parts):
                return False
            return all(_read(part, item, found) for part, item in zip(parts, items, strict=True))
        case ("dict", kind, pairs, *_):
            if type(argument) is not kind or list(argument) != [key for key, _ in pairs]:
                return False
            return all(_read(part, argument[key], found) for key, part in pairs)
    raise AssertionError(f"an argument is described as {spec!r}")


def _is_another(container: Any, found: _Found) -> bool:
    count = found.get((_APART, -1), 0)
    found[_APART, -1] = count + 1
    return bool(found.setdefault((_APART, id(container)), count) == count)


#: In place of a kind of numbers: the ids of containers, and how many there are.
_APART = "apart"


def _same(one: Any, other: Any) -> bool:
    """Whether two constants of one type are the same, to the bits of a number."""
    if isinstance(one, float):
        return same_bits(one, other)
    if isinstance(one, complex):
        return same_bits(one.real, other.real) and same_bits(one.imag, other.imag)
    return bool(one == other)


def _read_number(kind: str, position: int, argument: Any, found: _Found) -> bool:
    if kind == "index" and type(argument) is Index:
        found["index", position] = int(argument)
    elif kind == "passive" and isinstance(argument, float):
        found["passive", position] = argument
    elif kind == "value" and isinstance(argument, Value):
        found["active", position] = argument.data
    else:
        return False
    return True


def _read_array(shape: tuple[int, ...], kind: str, first: int, argument: Any, found: _Found) -> bool:
    if not isinstance(argument, np.ndarray) or argument.shape != shape or argument.dtype != np.float64:
        return False
    found.update({(kind, first + i): number for i, number in enumerate(argument.ravel().tolist())})
    return True


def _arrays(tree: _Tree, numbers: Numbers) -> Any:
    if isinstance(tree, _ArrayLeaf):
        return numbers[tree.kind][tree.positions]
    if isinstance(tree, dict):
        return {key: _arrays(part, numbers) for key, part in tree.items()}
    return tuple(_arrays(part, numbers) for part in tree)


# --- from inputs to vectors -----------------------------------------------------------------------------------


def _append_arrays(
    tree: _Tree, given: Any, name: str, arrays: dict[str, list[Any]], convert: Callable[..., Any]
) -> None:
    """Append the arrays of an input to those of their kind; ``name`` is what errors call the input."""
    if isinstance(tree, _ArrayLeaf):
        array = convert(given, tree.kind)
        if array.shape != tree.positions.shape:
            raise errors.other_arguments(f"{name} has the shape {array.shape} and needs {tree.positions.shape}")
        arrays[tree.kind].append(array)
    elif isinstance(tree, dict):
        if not isinstance(given, dict) or given.keys() != tree.keys():
            raise errors.other_arguments(f"{name} must be a dictionary of {', '.join(map(repr, tree))}")
        for key, part in tree.items():
            _append_arrays(part, given[key], f"{name}[{key!r}]", arrays, convert)
    else:
        if not isinstance(given, (tuple, list)) or len(given) != len(tree):
            raise errors.other_arguments(f"{name} must be a tuple of {len(tree)}")
        for i, part in enumerate(tree):
            _append_arrays(part, given[i], f"{name}[{i}]", arrays, convert)
