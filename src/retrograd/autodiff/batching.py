"""vmap: a function of one sample becomes a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import habits
from .active import is_recorded, transform_of

__all__ = ["vmap"]

_Axis = int | None


@habits.refusing(habits.keywords.VMAP)
def vmap(
    f: Callable[..., Any], in_axes: _Axis | Sequence[_Axis] = 0, *, threads: int | None = None
) -> Callable[..., Any]:
    """A function of batches that calls ``f`` for each sample, and gives the results as a batch.

    It is a loop: what ``f`` costs, it costs once for each sample. The samples of a compiled function, and of ``grad``
    or ``value_and_grad`` of one, run many together. Inside :func:`retrograd.compile` the loop is unrolled, and the
    compiler turns it into vector instructions. It composes with the other transforms in either order.

    Lists and arrays are axes. A tuple, a named tuple or a dictionary holds several things, each of which is mapped.

    Args:
        f: A function of one sample.
        in_axes: The axis of each argument along which the samples lie, one for all arguments or a sequence with one
            for each; None for an argument that is the same for all samples. A list has its elements along axis 0, the
            elements of these along axis 1, and so on. Keyword arguments are mapped along axis 0.
        threads: On how many threads a compiled function, or ``grad`` or ``value_and_grad`` of one, runs, at most. Each
            result has the same bits on any number.

    Returns:
        A function. Its results lie along axis 0: a list, or an array if an argument that is mapped is one; a tuple or a
        dictionary of these when ``f`` returns one. It raises TypeError when an argument has no such axis, and
        ValueError when nothing is mapped, or the arguments differ in the number of samples.

    Raises:
        TypeError: With ``threads``, if ``f`` is not compiled.

    Example:
        >>> from retrograd import grad, vmap
        >>> vmap(lambda x, w: x * w, in_axes=(0, None))([1.0, 2.0, 3.0], 10.0)
        [10.0, 20.0, 30.0]
        >>> vmap(grad(lambda x: x**3))([1.0, 2.0])
        [3.0, 12.0]
    """
    name = getattr(f, "__name__", type(f).__name__)
    if threads is not None and not _is_compiled(f):
        raise TypeError(
            f"vmap: threads run a compiled function, or grad or value_and_grad of one, and {name} is not compiled: "
            "write vmap(rg.compile(f), threads=…)."
        )

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def batched(*arguments: Any, **keywords: Any) -> Any:
        axes = _axes(in_axes, len(arguments), name)
        axes += [0] * len(keywords)
        given = list(zip((*arguments, *keywords.values()), axes, strict=True))
        labels = [*(f"argument {i}" for i in range(len(arguments))), *keywords]
        count = _samples(given, labels)
        calls = list(zip(*(_column(argument, axis, count) for argument, axis in given), strict=True))
        results = None if keywords else _together(f, calls, threads)
        if results is None:
            places = len(arguments)
            results = [f(*call[:places], **dict(zip(keywords, call[places:], strict=True))) for call in calls]
        return _stacked(results, any(_holds_array(argument) for argument, axis in given if axis is not None))

    return batched


def _is_compiled(f: Callable[..., Any]) -> bool:
    """Whether programs can answer for ``f``, or for what ``grad`` or ``value_and_grad`` made it of."""
    transform = transform_of(f)
    return hasattr(f if transform is None else transform.function, "call_batch")


def _together(f: Any, calls: list[tuple[Any, ...]], threads: int | None) -> list[Any] | None:
    """The results of many calls of a compiled function or its gradient; None where ``f`` must be called for each."""
    if is_recorded() or not _is_compiled(f):
        return None
    transform = transform_of(f)
    if transform is not None:
        return transform.of_many(calls, threads)
    return f.call_batch(calls, threads=threads)  # type: ignore[no-any-return]


def _axes(in_axes: _Axis | Sequence[_Axis], count: int, name: str) -> list[_Axis]:
    """The axis of each of ``count`` arguments. Raises TypeError when there are not as many."""
    axes = [in_axes] * count if in_axes is None or isinstance(in_axes, int) else list(in_axes)
    if len(axes) != count:
        raise TypeError(f"in_axes has {len(axes)} axes, and {name} was called with {count} arguments.")
    return axes


def _samples(given: Sequence[tuple[Any, _Axis]], labels: Sequence[str]) -> int:
    """How many samples the arguments hold. Raises ValueError when they differ, or none is mapped."""
    sizes: dict[int, str] = {}
    for (argument, axis), label in zip(given, labels, strict=True):
        _measure(argument, axis, label, sizes)
    if not sizes:
        raise ValueError("vmap has nothing to map over: every axis of in_axes is None.")
    if len(sizes) > 1:
        counts = "; ".join(f"{label} has {size}" for size, label in sizes.items())
        raise ValueError(f"vmap needs as many samples in each argument that is mapped: {counts}.")
    return next(iter(sizes))


def _parts(thing: Any) -> Sequence[Any] | None:
    """What a tuple or a dictionary holds; None for anything else."""
    if isinstance(thing, dict):
        return list(thing.values())
    return thing if isinstance(thing, tuple) else None


def _rebuilt(thing: Any, parts: Sequence[Any]) -> Any:
    if isinstance(thing, dict):
        return dict(zip(thing, parts, strict=True))
    return thing._make(parts) if hasattr(thing, "_make") else tuple(parts)


def _measure(thing: Any, axis: _Axis, label: str, sizes: dict[int, str]) -> None:
    """Note the number of samples in an argument. Raises TypeError when it has no such axis."""
    if axis is None:
        return
    parts = _parts(thing)
    if parts is not None:
        for part in parts:
            _measure(part, axis, label, sizes)
        return
    shape = _shape(thing, axis)
    if not -len(shape) <= axis < len(shape):
        raise TypeError(
            f"vmap maps {label} along axis {axis}, and it is {type(thing).__name__} with {len(shape)} axes: pass a "
            "list or an array, or None in in_axes for an argument that is the same for all samples."
        )
    sizes.setdefault(shape[axis], label)


def _shape(thing: Any, axis: int) -> tuple[int, ...]:
    """The lengths of the axes of an array, or of nested lists as far as ``axis``."""
    if isinstance(thing, np.ndarray):
        return tuple(thing.shape)
    shape: list[int] = []
    while isinstance(thing, list) and (axis < 0 or len(shape) <= axis):
        shape.append(len(thing))
        thing = thing[0] if thing else None
    return tuple(shape)


def _sample(thing: Any, axis: _Axis, index: int) -> Any:
    if axis is None:
        return thing
    parts = _parts(thing)
    if parts is not None:
        return _rebuilt(thing, [_sample(part, axis, index) for part in parts])
    if isinstance(thing, np.ndarray):
        return np.take(thing, index, axis)
    axis = axis if axis >= 0 else axis + len(_shape(thing, axis))
    return thing[index] if axis == 0 else [_sample(row, axis - 1, index) for row in thing]


def _column(thing: Any, axis: _Axis, count: int) -> Sequence[Any]:
    """The samples of an argument."""
    if axis == 0 and isinstance(thing, list):
        return thing
    if axis == 0 and type(thing) is np.ndarray:
        return list(thing.copy())
    return [_sample(thing, axis, index) for index in range(count)]


def _holds_array(thing: Any) -> bool:
    parts = _parts(thing)
    return isinstance(thing, np.ndarray) if parts is None else any(map(_holds_array, parts))


def _stacked(results: list[Any], as_array: bool) -> Any:
    """Results side by side: tuples and dictionaries apart, part by part."""
    first = results[0] if results else None
    parts = _parts(first)
    if parts is not None:
        plain = set(map(type, results)) == {tuple}
        columns = zip(*(results if plain else (_parts(result) or () for result in results)), strict=True)
        return _rebuilt(first, [_stacked(list(column), as_array) for column in columns])
    if isinstance(first, np.ndarray):
        alike = first.ndim and {(result.shape, result.dtype) for result in results} == {(first.shape, first.dtype)}
        return np.concatenate(results).reshape(len(results), *first.shape) if alike else np.stack(results)
    if not as_array or isinstance(first, list):
        return results
    if all(issubclass(kind, (float, int, np.number, np.bool_)) for kind in set(map(type, results))):
        return np.array(results)
    filled = np.empty(len(results), dtype=object)
    filled[:] = results
    return filled
