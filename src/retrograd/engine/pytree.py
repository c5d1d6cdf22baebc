"""Pytrees: nested structures of Values and numbers, flattened to a list of leaves and built again from one.

A pytree is a Value, a number, a list, tuple, named tuple, dictionary or dataclass of pytrees, an instance of a
registered class, a NumPy array of numbers or Values, or a module (any object with a ``parameters()`` method). Inside a
container, None is a tree without leaves. The transforms and the gradient check take arguments in this form and return
results in the same form.

The native engine takes lists, tuples, dictionaries and arrays of floats apart in C++ (``native/trees``), and asks this
module for the rest.
"""

from __future__ import annotations

import copy
import numbers
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from . import ENGINE, NumberTracer, Value
from . import numbers as plain_numbers
from .containers import Container, is_module, records, taken_apart

__all__ = [
    "Leaf",
    "Structure",
    "flatten",
    "is_number",
    "join",
    "new_leaves",
    "paths",
    "single_output",
    "without_values",
]

Leaf = Value | float


def is_number(thing: object) -> bool:
    """Whether ``thing`` is a real number that a Value could hold: int, float, bool, Fraction or NumPy scalar."""
    return isinstance(thing, (float, int, numbers.Real, np.bool_, np.floating, np.integer))


class Structure(Protocol):
    """A pytree without its leaves."""

    @property
    def kind(self) -> str:
        """'leaf', 'none', 'list', 'tuple', 'dict', 'dataclass', 'node', 'array' or 'module'."""

    @property
    def size(self) -> int:
        """The number of leaves."""

    @property
    def holds_values(self) -> bool:
        """Whether a Value is among the leaves. The parameters of a module do not count: they are its numbers."""

    @property
    def definition(self) -> Any:
        """Nesting, sizes and keys: what two trees must have in common to be added. A module counts as a list."""

    def fill(self, leaves: Sequence[Any], /) -> Any:
        """The structure with ``leaves`` in place of its own, as an argument for the user's function.

        An array becomes an object array. A module becomes a deep copy whose parameters are the leaves.
        """

    def collect(self, results: Sequence[Any], /) -> Any:
        """The structure with one result for each leaf.

        An array of numbers stays an array of floats, and arrays in its cells become further axes. A module's results
        are a list in the order of its ``parameters()``.
        """


@dataclass(frozen=True, slots=True)
class _Single:
    """One leaf, or None, which has none."""

    kind: str
    size: int
    holds_values: bool = False

    @property
    def definition(self) -> Any:
        return "leaf" if self.size else ("none", (), None)

    def fill(self, leaves: Sequence[Any]) -> Any:
        return leaves[0] if self.size else None

    collect = fill


_LEAF, _VALUE, _NONE = _Single("leaf", 1), _Single("leaf", 1, True), _Single("none", 0)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A container of other structures."""

    container: Container
    parts: tuple[Structure, ...]
    size: int
    holds_values: bool

    @property
    def kind(self) -> str:
        return self.container.kind

    @property
    def definition(self) -> Any:
        return self.kind, tuple(part.definition for part in self.parts), self.container.definition

    def fill(self, leaves: Sequence[Any]) -> Any:
        return self.container.build([part.fill(own) for part, own in self._shares(leaves)])

    def collect(self, results: Sequence[Any]) -> Any:
        return self.container.build([part.collect(own) for part, own in self._shares(results)])

    def _shares(self, leaves: Sequence[Any]) -> Iterator[tuple[Structure, Sequence[Any]]]:
        if len(leaves) != self.size:
            raise ValueError(f"a tree of {self.size} leaves cannot be made of {len(leaves)}")
        start = 0
        for part in self.parts:
            yield part, leaves[start : start + part.size]
            start += part.size


@dataclass(frozen=True, slots=True)
class _Array:
    """A NumPy array."""

    shape: tuple[int, ...]
    size: int
    holds_values: bool
    kind: str = "array"

    @property
    def definition(self) -> Any:
        return "array", self.shape

    def fill(self, leaves: Sequence[Any]) -> Any:
        return _fill_array(self.shape, leaves)

    def collect(self, results: Sequence[Any]) -> Any:
        return _collect_array(self.shape, results)


def _fill_array(shape: tuple[int, ...], items: Sequence[Any]) -> Any:
    filled = np.empty(len(items), dtype=object)
    filled[:] = items
    return filled.reshape(shape)


def _collect_array(shape: tuple[int, ...], items: Sequence[Any]) -> Any:
    if items and all(isinstance(item, np.ndarray) for item in items):
        if len({item.shape for item in items}) == 1:
            return np.stack(items).reshape(shape + items[0].shape)
    elif all(plain_numbers.is_number(item) for item in items):  # what stands for a float in a trace stays as it is
        return np.array(items, dtype=np.float64).reshape(shape)
    filled = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        filled[index] = item
    return filled.reshape(shape)


@dataclass(frozen=True, slots=True)
class _Module:
    """An object with parameters."""

    module: Any
    parameters: tuple[Any, ...]
    kind: str = "module"
    holds_values: bool = False

    @property
    def size(self) -> int:
        return len(self.parameters)

    @property
    def definition(self) -> Any:
        return "list", ("leaf",) * self.size, None

    def fill(self, leaves: Sequence[Any]) -> Any:
        memo: dict[int, Any] = {id(old): new for old, new in zip(self.parameters, leaves, strict=True)}
        return copy.deepcopy(self.module, memo)

    def collect(self, results: Sequence[Any]) -> Any:
        return list(results)


def _parameters(module: Any) -> list[Any]:
    """The module's parameters, each once."""
    return list({id(parameter): parameter for parameter in module.parameters()}.values())


def join(structures: Sequence[Structure]) -> Structure:
    """The structure of a tuple of trees."""
    container = Container("tuple", [], None, tuple, list)
    size = sum(part.size for part in structures)
    return _Branch(container, tuple(structures), size, any(part.holds_values for part in structures))


# --- flattening -----------------------------------------------------------------------------------


class _NoLeafError(TypeError):
    """Something in a tree is neither a leaf nor a container. Where it is, is found out afterwards."""


def flatten(tree: Any, what: str = "the argument") -> tuple[list[Leaf], Structure]:
    """The leaves of ``tree`` in order (dictionaries in their own order) and its structure.

    Raises TypeError for a leaf that is neither a Value nor a real number; ``what`` is the name of ``tree`` in the
    message. None is a tree in containers only: alone, it is a forgotten ``return``.
    """
    if tree is None:
        raise _no_leaf(tree, what)
    try:
        return _flatten(tree)
    except _NoLeafError:
        raise _first_no_leaf(tree, what) or _no_leaf(tree, what) from None


def _flatten_here(tree: Any) -> tuple[list[Leaf], Structure]:
    """The leaves and the structure of a tree, whose containers are taken apart by :func:`_flatten`."""
    if type(tree) in (float, int):
        return [tree], _LEAF
    if isinstance(tree, Value):
        return [tree], _VALUE
    if tree is None:
        return [], _NONE
    if (container := taken_apart(tree)) is not None:
        leaves: list[Leaf] = []
        parts = []
        for item in container.items:
            own, part = _flatten(item)
            leaves.extend(own)
            parts.append(part)
        return leaves, _Branch(container, tuple(parts), len(leaves), any(part.holds_values for part in parts))
    if is_number(tree):
        return [tree], _LEAF
    if isinstance(tree, np.ndarray):
        leaves = [_checked(item) for item in tree.ravel()]
        return leaves, _Array(tree.shape, tree.size, any(isinstance(leaf, Value) for leaf in leaves))
    if is_module(tree):
        leaves = [_checked(item) for item in _parameters(tree)]
        return leaves, _Module(tree, tuple(leaves))
    raise _NoLeafError


def _checked(item: Any) -> Leaf:
    if isinstance(item, Value) or is_number(item):
        return item  # type: ignore[no-any-return]
    raise _NoLeafError


def _first_no_leaf(tree: Any, where: str) -> TypeError | None:
    """The error for the first thing in ``tree`` that is neither a leaf nor a container."""
    if tree is None or isinstance(tree, Value):
        return None
    if (container := taken_apart(tree)) is not None:
        inner = zip(container.items, container.names(), strict=True)
        return next(filter(None, (_first_no_leaf(item, where + name) for item, name in inner)), None)
    if is_number(tree):
        return None
    if isinstance(tree, np.ndarray):
        named = ((item, f"{where}.flat[{index}]") for index, item in enumerate(tree.ravel()))
    elif is_module(tree):
        named = ((item, f"{where}.parameters()[{index}]") for index, item in enumerate(_parameters(tree)))
    else:
        return _no_leaf(tree, where)
    return next(
        (_no_leaf(item, name) for item, name in named if not (isinstance(item, Value) or is_number(item))), None
    )


def _no_leaf(item: object, where: str) -> TypeError:
    remedy = ""
    if hasattr(item, "tolist"):  # an array of PyTorch or JAX
        remedy = ": pass x.tolist()"
    elif isinstance(item, (str, bytes)):
        remedy = ": pass what is not differentiated as another argument (argnums says which are differentiated)"
    elif hasattr(item, "__dict__") and not callable(item):
        remedy = ": make its class a dataclass, or register it with retrograd.register_pytree_node"
    return TypeError(
        f"{where} is {item!r} of type {type(item).__name__}; expected a Value, a real number, or lists, tuples, "
        f"dictionaries, dataclasses, NumPy arrays or modules of them{remedy}."
    )


def _new_leaves_here(numbers: Sequence[Leaf]) -> list[Value]:
    return [Value(number.data if isinstance(number, Value) else number) for number in numbers]


_flatten: Callable[[Any], tuple[list[Leaf], Structure]]
#: A new Value for each number or Value in a list.
new_leaves: Callable[[list[Leaf]], list[Value]]
#: Whether a tree can be seen at a glance to hold no Value: numbers, float64 arrays, and containers and records of them.
without_values: Callable[[Any], bool]

if ENGINE == "native":
    from .. import _native

    def _flatten_other(thing: Any) -> tuple[list[Leaf], Structure] | None:
        leaves, structure = _flatten_here(thing)
        return None if structure is _LEAF else (leaves, structure)

    _flatten = _native.flatten_tree
    _core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get("numpy.core._multiarray_umath")
    _functions = getattr(_core, "_ARRAY_API", None)  # NumPy's own, which its headers look up too
    _native.set_python_half(np.ndarray, np.empty, _flatten_other, _fill_array, _collect_array, records, _functions)
    new_leaves, without_values = _native.new_leaves, _native.without_values
else:
    _flatten, new_leaves = _flatten_here, _new_leaves_here

    def without_values(tree: Any) -> bool:
        return isinstance(tree, float)


# --- results and names ----------------------------------------------------------------------------


def single_output(y: Any, what: str) -> Leaf:
    """The result ``y`` of a function as a Value or a float. A NumPy array without axes counts as its element.

    Raises TypeError for anything else; ``what`` is the name of ``y`` in the message.
    """
    if not isinstance(y, Value) and isinstance(y, np.ndarray) and y.shape == ():
        y = y.item()
    if isinstance(y, Value):
        return y
    if isinstance(y, NumberTracer):  # which stands for a float, as long as it is none
        return y  # type: ignore[return-value]
    if is_number(y):
        return float(y)
    if y is None:
        raise TypeError(f"{what} is None: check whether it returns its result, a single Value or a number.")
    raise TypeError(
        f"{what} is {y!r} of type {type(y).__name__}; a gradient needs a single Value (or a number, for a constant). "
        "For several outputs use jacobian."
    )


def paths(tree: Any, prefix: str = "") -> list[str]:
    """A name for each leaf of ``tree``, as in Python: ``x``, ``w[0]['bias']``, ``p.rate``.

    A Value with a label has its label as its name. ``prefix`` is the name of ``tree``.
    """
    if isinstance(tree, Value):
        return [tree.label or prefix]
    if tree is None:
        return []
    if (container := taken_apart(tree)) is not None:
        inner = zip(container.items, container.names(), strict=True)
        return [path for item, name in inner for path in paths(item, prefix + name)]
    if is_number(tree):
        return [prefix]
    if isinstance(tree, np.ndarray):
        return [f"{prefix}[{', '.join(map(str, index))}]" for index in np.ndindex(*tree.shape)]
    return _parameter_names(tree, prefix)


def _parameter_names(module: Any, prefix: str) -> list[str]:
    named = getattr(module, "named_parameters", None)
    names = {id(parameter): name for name, parameter in named()} if callable(named) else {}
    dot = f"{prefix}." if prefix else ""
    return [
        parameter.label or f"{dot}{names.get(id(parameter), f'parameters()[{index}]')}"
        for index, parameter in enumerate(_parameters(module))
    ]
