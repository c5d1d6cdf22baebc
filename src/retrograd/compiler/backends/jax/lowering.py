"""Lowers a vector program to JAX: contractions become einsums, address lists gathers, the rest is elementwise.

Each region of the program's memory is one flat array. An instruction reads strided views of regions and gives a piece
of another region; the pieces are concatenated when an instruction first reads that region.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .families import Gathered, with_families
from .op_functions import row_functions, smallest
from .views import FlatArray, Loop, addresses, gather

__all__ = ["CallNumbers", "lower"]

#: An operand: region, base address, and the stride in each loop.
_Operand = tuple[int, int, list[int]] | Gathered

_Instruction = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallNumbers:
    """The numbers that one call gives the program: arrays of one dtype, and the index arguments."""

    parameters: Mapping[int, Any]  #: the array of each parameter region, by its store
    passive: Any
    active: Any
    indices: Any
    dtype: Any


def lower(program: Mapping[str, Any]) -> Callable[[CallNumbers], tuple[Any, Any]]:
    """A JAX function from a call's numbers to the program's result, a scalar, and all its roots, a vector.

    Args:
        program: as the native cache's ``listing`` gives it.
    """
    merged = with_families(program)
    return lambda numbers: _Evaluation(merged, numbers).roots()


@dataclass(slots=True)
class _Region:
    base: int
    length: int
    moved: Any = ()  #: positions whose numbers are in another region
    array: Any = None  #: a NumPy array for literals
    pieces: list[tuple[NDArray[np.int64], Any]] = field(default_factory=list)  #: positions, and the numbers there
    flat: FlatArray | None = None

    def whole(self) -> Any:
        if self.array is None:
            self.pieces += [(self.moved, np.zeros(len(self.moved)))] if len(self.moved) else []
            self.array = _concatenated(self.length, self.pieces)
            self.pieces.clear()
        return self.array

    def view(self, base: int, loops: Sequence[Loop]) -> Any:
        if self.flat is None:
            self.flat = FlatArray(self.whole())
        return self.flat.view(base, loops)


def _concatenated(length: int, pieces: list[tuple[NDArray[np.int64], Any]]) -> Any:
    """The pieces of a region as one array. Raises AssertionError if they do not cover it."""
    import jax.numpy as jnp

    pieces.sort(key=lambda piece: int(piece[0][0]))
    positions = np.concatenate([piece[0] for piece in pieces])
    numbers = pieces[0][1] if len(pieces) == 1 else jnp.concatenate([piece[1] for piece in pieces])
    if positions.size != length:
        raise AssertionError(f"a region of {length} elements has {positions.size} written")
    return gather(numbers, np.argsort(positions))


class _Evaluation:
    """One pass over the instructions, with JAX's arrays or tracers."""

    def __init__(self, program: Mapping[str, Any], numbers: CallNumbers) -> None:
        self._program, self._dtype, self._indices = program, numbers.dtype, numbers.indices
        self._pool = np.asarray(program["pool"], dtype=np.int64)
        self._rows = row_functions()
        self._regions = [_Region(base, length) for _, _, base, length, _ in program["regions"]]
        for region, (kind, active, _, _, store) in zip(self._regions, program["regions"], strict=True):
            if kind == "parameter":
                region.array = numbers.parameters[store]
            elif kind == "input":
                region.array = numbers.active if active else numbers.passive
            elif kind == "literal":
                region.array = np.zeros(region.length)
        moved = program.get("moved", np.zeros(0, bool))
        for region in self._regions:
            region.moved = np.flatnonzero(moved[region.base : region.base + region.length])
        self._bases = np.asarray([region.base for region in self._regions], dtype=np.int64)
        for address, number in program["literals"]:
            region = self._regions[self._region_at(address)]
            region.array[address - region.base] = number

    def roots(self) -> tuple[Any, Any]:
        """The program's result and all its roots."""
        import jax.numpy as jnp

        for instruction in self._program["instructions"]:
            self._execute(instruction)
        roots = np.asarray(self._program["roots"])
        result, compared = (jnp.asarray(self._at_addresses(where), self._dtype) for where in (roots[:1], roots))
        return result.reshape(()), compared

    def _region_at(self, address: int) -> int:
        # Empty regions have the base of the next one; the last region with a base is the one with elements.
        return int(np.searchsorted(self._bases, address, side="right")) - 1

    def _execute(self, instruction: _Instruction) -> None:
        """Compute an instruction and add its result to the pieces of its region, in the order of addresses."""
        import jax.numpy as jnp

        sizes: list[int] = instruction["sizes"]
        outer = len(sizes) - instruction["reduced"]
        result = _LOWERINGS[instruction["code"]](self, instruction, sizes, outer)
        number, base, strides = instruction["result"]
        region = self._regions[number]
        shape = tuple(sizes[:outer])
        loops = list(zip(shape, strides, strict=False))
        order = sorted(range(outer), key=lambda axis: -abs(strides[axis]) if sizes[axis] > 1 else 1)
        numbers = jnp.broadcast_to(jnp.asarray(result, self._dtype), shape)
        if "kept" in instruction:
            numbers = _without_strangers(numbers, instruction["kept"])
        if order != sorted(order):
            numbers = numbers.transpose(order)
        positions = np.broadcast_to(addresses(base - region.base, loops), shape).transpose(order).ravel()
        region.pieces.append((positions, numbers.reshape(-1)))

    # --- operands -----------------------------------------------------------------------------------------

    def _operand(self, operand: _Operand, sizes: Sequence[int], as_stored: bool = False) -> tuple[Any, list[int]]:
        """An operand with an axis for each loop along which it moves, and the numbers of those loops.

        They are in order of the loops, or ``as_stored``: a dot product takes its operands as they lie in memory.

        Literals that are all the same become one float.
        """
        if isinstance(operand, Gathered):
            return self._at_addresses(operand.where.ravel()).reshape(operand.where.shape), list(range(len(sizes)))
        number, base, strides = operand
        region = self._regions[number]
        moving = [axis for axis, extent in enumerate(sizes) if extent > 1 and strides[axis]]
        if as_stored:
            moving.sort(key=lambda axis: -abs(strides[axis]))
        loops = [(sizes[axis], strides[axis]) for axis in moving]
        array, base = region.whole(), base - region.base
        if isinstance(array, np.ndarray):
            numbers = array[addresses(base, loops)]
            if (numbers.view(np.int64) == numbers.reshape(-1)[:1].view(np.int64)).all():
                return float(numbers.reshape(-1)[0]), []
            return np.asarray(numbers, self._dtype), moving
        return region.view(base, loops), moving

    def _broadcastable(self, operand: _Operand, sizes: Sequence[int]) -> Any:
        """An operand in a shape that broadcasts to all loops."""
        array, moving = self._operand(operand, sizes)
        if not moving or len(moving) == len(sizes):
            return array
        return array.reshape([extent if axis in moving else 1 for axis, extent in enumerate(sizes)])

    def _broadcast(self, operand: _Operand, sizes: Sequence[int]) -> Any:
        """An operand with all loops as axes."""
        import jax.numpy as jnp

        return jnp.broadcast_to(jnp.asarray(self._broadcastable(operand, sizes), self._dtype), tuple(sizes))

    def _at_addresses(self, where: NDArray[np.int64]) -> Any:
        """The numbers at a list of addresses, which may be in several regions."""
        import jax.numpy as jnp

        numbers = np.searchsorted(self._bases, where, side="right") - 1
        parts, positions, length = [], np.zeros_like(where), 0
        for number in np.unique(numbers):
            here = numbers == number
            offsets = where[here] - self._bases[number]
            first, last = int(offsets.min()), int(offsets.max()) + 1
            parts.append(jnp.asarray(self._regions[number].whole(), self._dtype)[first:last])
            positions[here] = offsets - first + length
            length += last - first
        return gather(parts[0] if len(parts) == 1 else jnp.concatenate(parts), positions)

    # --- instructions: each gives an array that broadcasts to its outer loops -----------------------------

    def _map(self, instruction: _Instruction, sizes: list[int], outer: int) -> Any:
        operands = [self._broadcastable(operand, sizes) for operand in instruction["views"]]
        return self._rows[instruction["row"]](*operands)

    def _indexed(self, instruction: _Instruction, sizes: list[int], outer: int) -> Any:
        lists = [self._pool[base : base + sizes[0]] for _, base, _ in instruction["views"]]
        return self._rows[instruction["row"]](*map(self._at_addresses, lists))

    def _gather(self, instruction: _Instruction, sizes: list[int], outer: int) -> Any:
        base = instruction["views"][0][1]
        return self._at_addresses(self._pool[base : base + sizes[0]])

    def _dot(self, instruction: _Instruction, sizes: list[int], outer: int) -> Any:
        import jax
        import jax.numpy as jnp

        (x, x_axes), (y, y_axes) = (self._operand(view, sizes, as_stored=True) for view in instruction["views"][:2])
        if self._is_padded(instruction):
            x, x_axes = _padded_with_zeros(x, x_axes, instruction["mask"])
        axes = {*x_axes, *y_axes}
        # A reduced loop along which neither operand moves repeats the sum.
        repeated = int(np.prod([extent for axis, extent in enumerate(sizes[outer:], outer) if axis not in axes]))
        kept = [axis for axis in range(outer) if axis in axes]
        x_letters, y_letters, kept_letters = (
            "".join(string.ascii_letters[axis] for axis in some) for some in (x_axes, y_axes, kept)
        )
        result = jnp.einsum(
            f"{x_letters},{y_letters}->{kept_letters}",
            jnp.asarray(x, self._dtype),
            jnp.asarray(y, self._dtype),
            precision=jax.lax.Precision.HIGHEST,
        )
        if repeated > 1:
            result = result * float(repeated)
        result = result.reshape([extent if axis in axes else 1 for axis, extent in enumerate(sizes[:outer])])
        if instruction["has_init"]:
            result = self._broadcastable(instruction["views"][2], sizes[:outer]) + result
        return result

    @staticmethod
    def _is_padded(instruction: _Instruction) -> bool:
        """Whether the reduced loops have padding that is not that of the others."""
        if "mask" not in instruction:
            return False
        mask, kept = instruction["mask"], instruction["kept"]
        return bool(np.any(mask != kept.reshape(*kept.shape, *[1] * instruction["reduced"])))

    def _masked(self, instruction: _Instruction, padding: float) -> Any:
        """The first operand with all loops as axes, and a number instead of what is padding."""
        import jax.numpy as jnp

        numbers = self._broadcast(instruction["views"][0], instruction["sizes"])
        return jnp.where(instruction["mask"], numbers, padding) if self._is_padded(instruction) else numbers

    def _sum(self, instruction: _Instruction, sizes: list[int], outer: int) -> Any:
        import jax.numpy as jnp

        return jnp.sum(self._masked(instruction, 0.0), axis=tuple(range(outer, len(sizes))))

    def _extreme(self, instruction: _Instruction, sizes: list[int], outer: int) -> Any:
        import jax
        import jax.numpy as jnp

        numbers = self._masked(instruction, math.inf if instruction["row"].endswith("min") else -math.inf)
        if instruction["row"] == "largest":
            numbers = jax.lax.stop_gradient(numbers)
        if instruction["row"].startswith("first"):  # Python's own: the first of equals has the whole gradient
            numbers = numbers.reshape(*sizes[:outer], -1)
            at = (jnp.argmin if instruction["row"].endswith("min") else jnp.argmax)(numbers, axis=-1, keepdims=True)
            return jnp.take_along_axis(numbers, at, axis=-1)[..., 0]
        rows = jnp.reshape(numbers, (*jnp.shape(numbers)[:outer], -1))
        return smallest(rows) if instruction["row"].endswith("min") else -smallest(-rows)

    def _select(self, instruction: _Instruction, sizes: list[int], outer: int) -> Any:
        """The candidate that an index argument picks: NaN where it picks none."""
        import jax.numpy as jnp

        _, (_, slot, slot_strides) = instruction["views"]
        source, start, step = self._candidates(instruction, sizes)
        strides, limit = instruction["views"][0][2], instruction["limit"]
        index_axes = [axis for axis, extent in enumerate(sizes) if extent > 1 and slot_strides[axis]]
        moving = [axis for axis, extent in enumerate(sizes) if extent > 1 and strides[axis]]
        chosen = FlatArray(self._indices).view(slot, [(sizes[axis], slot_strides[axis]) for axis in index_axes])
        chosen = chosen.reshape([sizes[axis] for axis in index_axes])
        loops = [(sizes[axis], strides[axis]) for axis in moving]
        if set(index_axes) & set(moving) or not step:
            # Each index picks among candidates of its own: compute the address of each element.
            origin = addresses(start, loops).reshape([n if axis in moving else 1 for axis, n in enumerate(sizes)])
            chosen = chosen.reshape([n if axis in index_axes else 1 for axis, n in enumerate(sizes)])
            return _take_elements(source.array, origin, step, chosen, limit)
        blocks = source.view(start, [(limit, step), *loops]) if limit > 1 else source.view(start, loops)[None]
        inside = jnp.where(chosen < 0, limit, chosen)  # a negative position would count from the end
        taken = jnp.take(blocks, inside, axis=0, mode="fill", fill_value=jnp.nan)
        axes = [*index_axes, *moving]
        taken = taken.transpose([int(axis) for axis in np.argsort(axes)]) if axes != sorted(axes) else taken
        return taken.reshape([extent if axis in axes else 1 for axis, extent in enumerate(sizes)])

    def _candidates(self, instruction: _Instruction, sizes: list[int]) -> tuple[FlatArray, int, int]:
        """The array of a selection's candidates, where they begin in it, and the step from one to the next."""
        import jax.numpy as jnp

        number, base, strides = instruction["views"][0]
        if instruction["through_pool"]:
            reached = addresses(base, list(zip(sizes, strides, strict=True)))
            first, last = int(np.min(reached)), int(np.max(reached)) + instruction["limit"]
            return FlatArray(self._at_addresses(self._pool[first:last])), base - first, 1
        region = self._regions[number]
        array = jnp.asarray(region.whole(), self._dtype)
        return FlatArray(array), base - region.base, instruction["stride"]


#: Not in _Evaluation: bound methods would make it a reference cycle, which keeps tracers alive after the trace.
_LOWERINGS: dict[str, Callable[[_Evaluation, _Instruction, list[int], int], Any]] = {
    "map": _Evaluation._map,
    "indexed": _Evaluation._indexed,
    "gather": _Evaluation._gather,
    "dot": _Evaluation._dot,
    "sum": _Evaluation._sum,
    "extreme": _Evaluation._extreme,
    "select": _Evaluation._select,
}


def _padded_with_zeros(numbers: Any, axes: list[int], mask: NDArray[np.bool_]) -> tuple[Any, list[int]]:
    """An operand with zeros instead of what is padding, and the loops along which it moves then."""
    import jax.numpy as jnp

    ragged = [axis for axis in range(mask.ndim) if np.any(mask != np.take(mask, [0], axis))]
    moving = [*(axis for axis in ragged if axis not in axes), *axes]
    shape = dict(zip(axes, jnp.shape(numbers), strict=True))
    mask = mask[tuple(slice(None) if axis in ragged else 0 for axis in range(mask.ndim))]
    where = [axis for axis in moving if axis in ragged]
    mask = mask.transpose([ragged.index(axis) for axis in where])
    mask = mask.reshape([mask.shape[where.index(axis)] if axis in where else 1 for axis in moving])
    return jnp.where(mask, jnp.reshape(numbers, [shape.get(axis, 1) for axis in moving]), 0.0), moving


def _without_strangers(numbers: Any, kept: NDArray[np.bool_]) -> Any:
    """An element of the same row instead of each that is padding, and no gradient through it."""
    import jax
    import jax.numpy as jnp

    if kept.all():
        return numbers
    ragged = [axis for axis in range(1, kept.ndim) if np.any(kept != np.take(kept, [0], axis))]
    first = jax.lax.stop_gradient(numbers[tuple(slice(0, 1) if a in ragged else slice(None) for a in range(kept.ndim))])
    return jnp.where(kept, numbers, first)


def _take_elements(array: Any, origin: NDArray[np.int64], step: int, chosen: Any, limit: int) -> Any:
    """``array[origin + step * chosen]``, and NaN where ``chosen`` is not below ``limit``."""
    import jax.numpy as jnp

    inside = (chosen >= 0) & (chosen < limit)
    where = jnp.where(inside, origin.astype(np.int32) + step * chosen, array.shape[0])
    return jnp.take(array, where, mode="fill", fill_value=jnp.nan)
