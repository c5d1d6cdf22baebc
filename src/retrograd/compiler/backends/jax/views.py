"""Views of a flat array: what a nest of loops visits, by slices, reshapes and transposes, or by one gather.

A loop is ``(extent, stride)``. Element i, j, … of a view is ``flat[base + i * stride_0 + j * stride_1 + …]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flat", "addresses", "gather"]

Loop = tuple[int, int]


def addresses(base: int, loops: Sequence[Loop]) -> NDArray[np.int64]:
    """Where each element of a view is, in an array with one axis for each loop."""
    result = np.full((1,) * len(loops), base, dtype=np.int64)
    for axis, (extent, stride) in enumerate(loops):
        shape = [1] * len(loops)
        shape[axis] = extent
        result = result + (np.arange(extent, dtype=np.int64) * stride).reshape(shape)
    return result


def gather(flat: Any, where: NDArray[np.int64]) -> Any:
    """The elements at constant positions; a run of neighbours is a slice."""
    from jax import lax

    positions = where.ravel()
    first, count = int(positions[0]), positions.size
    if np.array_equal(positions, np.arange(first, first + count)):
        return _slice(flat, first, count).reshape(where.shape)
    return lax.gather(
        flat,
        positions[:, None].astype(np.int32),
        lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,)),
        slice_sizes=(1,),
        unique_indices=np.unique(positions).size == count,
        indices_are_sorted=bool((np.diff(positions) >= 0).all()),
        mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS,
    ).reshape(where.shape)


class Flat:
    """A flat array and the parts of it that views have in common."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self._seen: dict[tuple[Any, ...], Any] = {}

    def view(self, base: int, loops: Sequence[Loop]) -> Any:
        """A view whose strides are not zero, with one axis for each loop."""
        key = (base, *loops)
        if key not in self._seen:
            self._seen[key] = self._made(base, loops)
        return self._seen[key]

    def _made(self, base: int, loops: Sequence[Loop]) -> Any:
        from jax import lax

        order = sorted(range(len(loops)), key=lambda axis: -abs(loops[axis][1]))
        falling = [axis for axis in range(len(loops)) if loops[axis][1] < 0]
        start = base + sum((loops[axis][0] - 1) * loops[axis][1] for axis in falling)
        nest = [(loops[axis][0], abs(loops[axis][1])) for axis in order]
        if any(stride <= _reach(nest[position + 1 :]) for position, (_, stride) in enumerate(nest)):
            return gather(self.array, addresses(base, loops))  # elements are visited twice, as in a convolution
        view = self._nested(self.array, (), start, _merged(nest)).reshape([extent for extent, _ in nest])
        if order != sorted(order):
            view = lax.transpose(view, [int(axis) for axis in np.argsort(order)])
        return lax.rev(view, falling) if falling else view

    def _nested(self, array: Any, name: tuple[Any, ...], offset: int, nest: Sequence[Loop]) -> Any:
        """The nest's elements along the last axis of ``array``, from ``offset``; strides fall and do not overlap.

        ``name`` tells ``array`` from others. The rows of a loop are cut last, so that views which differ in
        them alone share what comes before.
        """
        if not nest:
            return _slice(array, offset, 1)
        (extent, stride), inner = nest[0], nest[1:]
        if stride == 1:
            return _slice(array, offset, extent)
        length = array.shape[-1]
        row, column = divmod(offset, stride)
        if length % stride == 0 and column + _reach(inner) < stride:
            key = (*name, stride, column, *inner)
            if key not in self._seen:
                rows = array.reshape(*array.shape[:-1], length // stride, stride)
                self._seen[key] = self._nested(rows, (*name, stride), column, inner)
            return _slice(self._seen[key], row, extent, array.ndim - 1)
        return self._nested(*_in_rows(array, offset, extent, stride, _reach(inner)), inner)


def _in_rows(array: Any, offset: int, extent: int, stride: int, reach: int) -> tuple[Any, tuple[Any, ...], int]:
    """The last axis of ``array`` as ``extent`` rows of ``stride``, the name of that, and the offset in a row."""
    from jax import lax

    length = array.shape[-1]
    start = min(offset, length - extent * stride)
    if start < 0 or offset - start + reach >= stride:
        start = offset
        missing = offset + extent * stride - length
        array = lax.pad(array, array.dtype.type(0), [(0, 0, 0)] * (array.ndim - 1) + [(0, max(missing, 0), 0)])
    rows = _slice(array, start, extent * stride).reshape(*array.shape[:-1], extent, stride)
    return rows, ("rows", start, extent, stride), offset - start


def _reach(nest: Sequence[Loop]) -> int:
    """How far from its first element a nest goes."""
    return sum((extent - 1) * stride for extent, stride in nest)


def _merged(nest: Sequence[Loop]) -> list[Loop]:
    """Loops that together run evenly as one."""
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
