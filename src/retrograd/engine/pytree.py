"""Pytrees: nested structures of Values and numbers, flattened to a list of leaves and built again from one.

A pytree is a Value, a number, a list, tuple, named tuple or dictionary of pytrees, a NumPy array of numbers or Values,
or a module (any object with a ``parameters()`` method). The transforms and the gradient check take arguments in this
form and return results in the same form.
"""

from __future__ import annotations

import copy
import numbers
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import Value

__all__ = ["Leaf", "Structure", "flatten", "is_number", "paths", "single_output"]

Leaf = Value | float


def is_number(thing: object) -> bool:
    """Whether ``thing`` is a real number that a Value could hold: int, float, bool, Fraction or NumPy scalar."""
    return isinstance(thing, (float, int, numbers.Real)) or _is_numpy_number(thing)


def _is_numpy_number(thing: object) -> bool:
    numpy = sys.modules.get("numpy")  # an array cannot exist before NumPy has been imported
    return numpy is not None and isinstance(thing, (numpy.bool_, numpy.floating, numpy.integer))


def _is_array(thing: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(thing, numpy.ndarray)


def _is_module(thing: object) -> bool:
    return callable(getattr(thing, "parameters", None)) and not isinstance(thing, type)


@dataclass(frozen=True, slots=True)
class Structure:
    """A pytree without its leaves; ``size`` is the number of leaves."""

    kind: str  #: 'leaf', 'list', 'tuple', 'dict', 'array' or 'module'
    size: int
    original: Any = None  #: the object itself; a filled copy gets its type and keys
    parts: tuple[Structure, ...] = ()

    def fill(self, leaves: Sequence[Any]) -> Any:
        """The structure with ``leaves`` in place of its own, as an argument for the user's function.

        An array becomes an object array. A module becomes a deep copy whose parameters are the leaves.
        """
        return self._build(iter(leaves), _fill_array, _fill_module)

    def collect(self, results: Sequence[Any]) -> Any:
        """The structure with one result for each leaf.

        An array of numbers stays an array of floats, and arrays in its cells become further axes. A
        module's results are a list in the order of its ``parameters()``.
        """
        return self._build(iter(results), _collect_array, lambda original, items: items)

    def _build(self, leaves: Iterator[Any], array: Callable[..., Any], module: Callable[..., Any]) -> Any:
        if self.kind == "leaf":
            return next(leaves)
        if self.kind == "array":
            return array(self.original.shape, [next(leaves) for _ in range(self.size)])
        if self.kind == "module":
            return module(self.original, [next(leaves) for _ in range(self.size)])
        items = [part._build(leaves, array, module) for part in self.parts]
        if self.kind == "dict":
            return _rebuild_mapping(self.original, items)
        if self.kind == "tuple":
            return self.original._make(items) if hasattr(self.original, "_make") else tuple(items)
        return items


def _rebuild_mapping(original: Mapping[Any, Any], items: list[Any]) -> Any:
    pairs = dict(zip(original, items, strict=True))
    if type(original) is dict:
        return pairs
    result = copy.copy(original)
    result.update(pairs)  # type: ignore[attr-defined]  # only subclasses of dict come here
    return result


def _fill_array(shape: tuple[int, ...], items: list[Any]) -> Any:
    import numpy

    filled = numpy.empty(len(items), dtype=object)
    filled[:] = items
    return filled.reshape(shape)


def _collect_array(shape: tuple[int, ...], items: list[Any]) -> Any:
    import numpy

    if items and all(isinstance(item, numpy.ndarray) for item in items):
        if len({item.shape for item in items}) == 1:
            return numpy.stack(items).reshape(shape + items[0].shape)
    elif all(is_number(item) for item in items):
        return numpy.array(items, dtype=numpy.float64).reshape(shape)
    filled = numpy.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        filled[index] = item
    return filled.reshape(shape)


def _fill_module(module: Any, leaves: list[Any]) -> Any:
    memo: dict[int, Any] = {id(old): new for old, new in zip(_parameters(module), leaves, strict=True)}
    return copy.deepcopy(module, memo)


def _parameters(module: Any) -> list[Any]:
    """The module's parameters, each once."""
    return list({id(parameter): parameter for parameter in module.parameters()}.values())


_LEAF = Structure("leaf", 1)


def flatten(tree: Any, what: str = "the argument") -> tuple[list[Leaf], Structure]:
    """The leaves of ``tree`` in order (dictionaries in their own order) and its structure.

    Raises TypeError for a leaf that is neither a Value nor a real number; ``what`` is the name of ``tree`` in the
    message.
    """
    leaves: list[Leaf] = []
    structure = _flatten(tree, what, leaves)
    return leaves, structure


def _flatten(tree: Any, where: str, leaves: list[Leaf]) -> Structure:
    if isinstance(tree, Value) or is_number(tree):
        leaves.append(tree)
        return _LEAF
    start = len(leaves)
    if _is_array(tree):
        for index, item in enumerate(tree.ravel()):
            leaves.append(_checked(item, f"{where}.flat[{index}]"))
        return Structure("array", tree.size, tree)
    if _is_module(tree):
        leaves.extend(_checked(item, f"{where}.parameters()[{i}]") for i, item in enumerate(_parameters(tree)))
        return Structure("module", len(leaves) - start, tree)
    if isinstance(tree, dict):
        parts = tuple(_flatten(item, f"{where}[{key!r}]", leaves) for key, item in tree.items())
        return Structure("dict", len(leaves) - start, tree, parts)
    if isinstance(tree, (list, tuple)):
        parts = tuple(_flatten(item, f"{where}[{index}]", leaves) for index, item in enumerate(tree))
        return Structure("list" if isinstance(tree, list) else "tuple", len(leaves) - start, tree, parts)
    raise _no_leaf(tree, where)


def _checked(item: Any, where: str) -> Leaf:
    if isinstance(item, Value) or is_number(item):
        return item  # type: ignore[no-any-return]
    raise _no_leaf(item, where)


def _no_leaf(item: object, where: str) -> TypeError:
    return TypeError(
        f"{where} is {item!r} of type {type(item).__name__}; expected a Value, a real number, or lists, tuples, "
        "dictionaries, NumPy arrays or modules of them."
    )


def single_output(y: Any, what: str) -> Leaf:
    """The result ``y`` of a function as a Value or a float. A NumPy array without axes counts as its element.

    Raises TypeError for anything else; ``what`` is the name of ``y`` in the message.
    """
    if not isinstance(y, Value) and _is_array(y) and y.shape == ():
        y = y.item()
    if isinstance(y, Value):
        return y
    if is_number(y):
        return float(y)
    raise TypeError(
        f"{what} is {y!r} of type {type(y).__name__}; a gradient needs a single Value (or a number, for a constant). "
        "For several outputs use jacobian."
    )


def paths(tree: Any, prefix: str = "") -> list[str]:
    """A name for each leaf of ``tree``, as in Python: ``x``, ``w[0]['bias']``.

    A Value with a label has its label as its name. ``prefix`` is the name of ``tree``.
    """
    if isinstance(tree, Value):
        return [tree.label or prefix]
    if is_number(tree):
        return [prefix]
    if _is_array(tree):
        return [f"{prefix}[{', '.join(map(str, index))}]" for index in _indices(tree.shape)]
    if _is_module(tree):
        return _parameter_names(tree, prefix)
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [name for key, item in items for name in paths(item, f"{prefix}[{key!r}]")]


def _indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    import numpy

    return iter(numpy.ndindex(*shape))


def _parameter_names(module: Any, prefix: str) -> list[str]:
    named = getattr(module, "named_parameters", None)
    names = {id(parameter): name for name, parameter in named()} if callable(named) else {}
    dot = f"{prefix}." if prefix else ""
    return [
        parameter.label or f"{dot}{names.get(id(parameter), f'parameters()[{index}]')}"
        for index, parameter in enumerate(_parameters(module))
    ]
