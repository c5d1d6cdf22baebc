"""Strided views of a flat array, as slices, reshapes and transposes where possible, else as one gather.

A loop is ``(extent, stride)``. Element i, j, … of a view is ``flat[base + i * stride_0 + j * stride_1 + …]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FlatArray", "Loop", "addresses", "gather"]

Loop = tuple[int, int]


def addresses(base: int, loops: Sequence[Loop]) -> NDArray[np.int64]:
    """The position of each element of a view, in an array with one axis for each loop."""
    result = np.full((1,) * len(loops), base, dtype=np.int64)
    for axis, (extent, stride) in enumerate(loops):
        shape = [1] * len(loops)
        shape[axis] = extent
        result = result + (np.arange(extent, dtype=np.int64) * stride).reshape(shape)
    return result


def gather(flat: Any, positions: NDArray[np.int64]) -> Any:
    """The elements at constant positions; consecutive ones are a slice."""
    from jax import lax

    indices = positions.ravel()
    first, count = int(indices[0]), indices.size
    if np.array_equal(indices, np.arange(first, first + count)):
        return _slice(flat, first, count).reshape(positions.shape)
    return lax.gather(
        flat,
        indices[:, None].astype(np.int32),
        lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,)),
        slice_sizes=(1,),
        unique_indices=np.unique(indices).size == count,
        indices_are_sorted=bool((np.diff(indices) >= 0).all()),
        mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS,
    ).reshape(positions.shape)


class FlatArray:
    """A flat array, with a cache of its views and of what they have in common."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self._cache: dict[tuple[Any, ...], Any] = {}

    def view(self, base: int, loops: Sequence[Loop]) -> Any:
        """A view whose strides are not zero, with one axis for each loop."""
        key = (base, *loops)
        if key not in self._cache:
            self._cache[key] = self._view(base, loops)
        return self._cache[key]

    def _view(self, base: int, loops: Sequence[Loop]) -> Any:
        """Cut the view with loops sorted by stride and running upwards; then transpose and reverse it."""
        from jax import lax

        order = sorted(range(len(loops)), key=lambda axis: -abs(loops[axis][1]))
        falling = [axis for axis in range(len(loops)) if loops[axis][1] < 0]
        start = base + sum((loops[axis][0] - 1) * loops[axis][1] for axis in falling)
        nest = [(loops[axis][0], abs(loops[axis][1])) for axis in order]
        if any(stride <= _last_element(nest[position + 1 :]) for position, (_, stride) in enumerate(nest)):
            return gather(self.array, addresses(base, loops))  # elements appear twice, as in a convolution
        view = self._cut(self.array, (), start, _merged(nest)).reshape([extent for extent, _ in nest])
        if order != sorted(order):
            view = lax.transpose(view, [int(axis) for axis in np.argsort(order)])
        return lax.rev(view, falling) if falling else view

    def _cut(self, array: Any, name: tuple[Any, ...], offset: int, nest: Sequence[Loop]) -> Any:
        """The nest's elements along the last axis of ``array``, from ``offset``; strides fall and do not overlap.

        The last axis becomes lines of ``stride`` elements, of which the inner loops cut a part and the outer loop,
        at last, a range. Views that differ only in that range share all that comes before it; ``name`` identifies
        ``array`` for them.
        """
        if not nest:
            return _slice(array, offset, 1)
        (extent, stride), inner = nest[0], nest[1:]
        if stride == 1:
            return _slice(array, offset, extent)
        length = array.shape[-1]
        line, column = divmod(offset, stride)
        if length % stride == 0 and column + _last_element(inner) < stride:
            key = (*name, stride, column, *inner)
            if key not in self._cache:
                lines = array.reshape(*array.shape[:-1], length // stride, stride)
                self._cache[key] = self._cut(lines, (*name, stride), column, inner)
            return _slice(self._cache[key], line, extent, array.ndim - 1)
        return self._cut(*_in_lines(array, offset, extent, stride, _last_element(inner)), inner)


def _in_lines(array: Any, offset: int, extent: int, stride: int, last: int) -> tuple[Any, tuple[Any, ...], int]:
    """The last axis of ``array`` as ``extent`` lines of ``stride``, which begin so that no element crosses a line.

    Returns:
        The lines, a name for them, and the offset of the first element within its line.
    """
    from jax import lax

    length = array.shape[-1]
    start = min(offset, length - extent * stride)
    if start < 0 or offset - start + last >= stride:
        start = offset
        missing = offset + extent * stride - length
        array = lax.pad(array, array.dtype.type(0), [(0, 0, 0)] * (array.ndim - 1) + [(0, max(missing, 0), 0)])
    lines = _slice(array, start, extent * stride).reshape(*array.shape[:-1], extent, stride)
    return lines, ("lines", start, extent, stride), offset - start


def _last_element(nest: Sequence[Loop]) -> int:
    """How far the last element of a nest is from the first."""
    return sum((extent - 1) * stride for extent, stride in nest)


def _merged(nest: Sequence[Loop]) -> list[Loop]:
    """The nest with loops collapsed that step evenly from one to the next."""
    merged: list[Loop] = []
    for extent, stride in nest:
        if merged and merged[-1][1] == extent * stride:
            merged[-1] = (merged[-1][0] * extent, stride)
        else:
            merged.append((extent, stride))
    return merged


def _slice(array: Any, start: int, count: int, axis: int = -1) -> Any:
    from jax import lax

    axis %= array.ndim
    if start == 0 and count == array.shape[axis]:
        return array
    return lax.slice_in_dim(array, start, start + count, axis=axis)
