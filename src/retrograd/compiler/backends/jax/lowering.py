"""A vector program as a JAX function: contractions become einsum, lists of addresses gathers, the rest elementwise.

Each region of the program's memory is one flat array. An instruction reads views of regions, and what it gives is a
piece of another region, which is put together when all its pieces are there.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .op_functions import row_functions
from .views import Flat, addresses, gather

__all__ = ["Memory", "lowered"]

Loop = tuple[int, int]
View = tuple[int, int, list[int]]


@dataclass(frozen=True, slots=True)
class Memory:
    """What a run of the program reads: arrays of one dtype, and the index arguments."""

    stores: Mapping[int, Any]  #: of each parameter region, by its store
    passive: Any
    active: Any
    indices: Any
    dtype: Any


def lowered(program: Mapping[str, Any]) -> Callable[[Memory], list[Any]]:
    """A function from a call's numbers to the program's roots, scalars. ``program`` is ``Programs.listing(number)``."""
    return lambda memory: _Run(program, memory).roots()


@dataclass(slots=True)
class _Region:
    base: int
    length: int
    array: Any = None  #: a NumPy array for literals
    pieces: list[tuple[NDArray[np.int64], Any]] = field(default_factory=list)  #: positions in it, and their numbers
    flat: Flat | None = None

    def whole(self) -> Any:
        if self.array is None:
            self.array = _assembled(self.length, self.pieces)
            self.pieces.clear()
        return self.array

    def view(self, base: int, loops: Sequence[Loop]) -> Any:
        if self.flat is None:
            self.flat = Flat(self.whole())
        return self.flat.view(base, loops)


def _assembled(length: int, pieces: list[tuple[NDArray[np.int64], Any]]) -> Any:
    """One array from pieces that together are all of it; the rest of a region that nobody wrote is not there."""
    import jax.numpy as jnp

    pieces.sort(key=lambda piece: int(piece[0][0]))
    positions = np.concatenate([piece[0] for piece in pieces])
    numbers = pieces[0][1] if len(pieces) == 1 else jnp.concatenate([piece[1] for piece in pieces])
    if positions.size != length:
        raise AssertionError(f"a region of {length} elements has {positions.size} written")
    return gather(numbers, np.argsort(positions))


class _Run:
    """One pass over the instructions, with JAX's arrays or tracers."""

    def __init__(self, program: Mapping[str, Any], memory: Memory) -> None:
        self._program, self._dtype, self._indices = program, memory.dtype, memory.indices
        self._pool = np.asarray(program["pool"], dtype=np.int64)
        self._rows = row_functions()
        self._regions = [_Region(base, length) for _, _, base, length, _ in program["regions"]]
        for region, (kind, active, _, _, store) in zip(self._regions, program["regions"], strict=True):
            if kind == "parameter":
                region.array = memory.stores[store]
            elif kind == "input":
                region.array = memory.active if active else memory.passive
            elif kind == "literal":
                region.array = np.zeros(region.length)
        self._bases = np.asarray([region.base for region in self._regions], dtype=np.int64)
        for address, number in program["literals"]:
            region = self._regions[self._region_at(address)]
            region.array[address - region.base] = number

    def roots(self) -> list[Any]:
        """The program's roots as scalars."""
        import jax.numpy as jnp

        for instruction in self._program["instructions"]:
            self._do(instruction)
        return [
            jnp.asarray(self._gathered(np.asarray([address])), self._dtype).reshape(())
            for address in self._program["roots"]
        ]

    def _region_at(self, address: int) -> int:
        # Empty regions share their base with the next one; the last of them is the one that has elements.
        return int(np.searchsorted(self._bases, address, side="right")) - 1

    def _do(self, instruction: Mapping[str, Any]) -> None:
        import jax.numpy as jnp

        sizes: list[int] = instruction["sizes"]
        members = len(sizes) - instruction["reduced"]
        result = getattr(self, f"_{instruction['code']}")(instruction, sizes, members)
        number, base, strides = instruction["result"]
        region = self._regions[number]
        shape = tuple(sizes[:members])
        loops = list(zip(shape, strides, strict=False))
        order = sorted(range(members), key=lambda axis: -abs(strides[axis]) if sizes[axis] > 1 else 1)
        numbers = jnp.broadcast_to(jnp.asarray(result, self._dtype), shape)
        if order != sorted(order):
            numbers = numbers.transpose(order)
        places = np.broadcast_to(addresses(base - region.base, loops), shape).transpose(order).ravel()
        region.pieces.append((places, numbers.reshape(-1)))

    # --- reading ------------------------------------------------------------------------------------------

    def _view(self, view: View, sizes: Sequence[int]) -> tuple[Any, list[int]]:
        """What a view reads, with an axis for each loop along which it moves, and the numbers of those loops."""
        number, base, strides = view
        region = self._regions[number]
        moving = [axis for axis, extent in enumerate(sizes) if extent > 1 and strides[axis]]
        loops = [(sizes[axis], strides[axis]) for axis in moving]
        array, base = region.whole(), base - region.base
        if isinstance(array, np.ndarray):
            numbers = array[addresses(base, loops)]
            if (numbers.view(np.int64) == numbers.reshape(-1)[:1].view(np.int64)).all():
                return float(numbers.reshape(-1)[0]), []
            return np.asarray(numbers, self._dtype), moving
        return region.view(base, loops), moving

    def _spread(self, view: View, sizes: Sequence[int]) -> Any:
        """What a view reads, in a shape that broadcasts to all loops."""
        array, moving = self._view(view, sizes)
        if not moving or len(moving) == len(sizes):
            return array
        return array.reshape([extent if axis in moving else 1 for axis, extent in enumerate(sizes)])

    def _gathered(self, where: NDArray[np.int64]) -> Any:
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

    # --- instructions -------------------------------------------------------------------------------------

    def _map(self, instruction: Mapping[str, Any], sizes: list[int], members: int) -> Any:
        views = [self._spread(view, sizes) for view in instruction["views"]]
        return self._rows[instruction["row"]](*views)

    def _indexed(self, instruction: Mapping[str, Any], sizes: list[int], members: int) -> Any:
        lists = [self._pool[base : base + sizes[0]] for _, base, _ in instruction["views"]]
        return self._rows[instruction["row"]](*map(self._gathered, lists))

    def _gather(self, instruction: Mapping[str, Any], sizes: list[int], members: int) -> Any:
        base = instruction["views"][0][1]
        return self._gathered(self._pool[base : base + sizes[0]])

    def _dot(self, instruction: Mapping[str, Any], sizes: list[int], members: int) -> Any:
        import jax
        import jax.numpy as jnp

        (x, along_x), (y, along_y) = (self._view(view, sizes) for view in instruction["views"][:2])
        seen = {*along_x, *along_y}
        repeated = int(np.prod([extent for axis, extent in enumerate(sizes[members:], members) if axis not in seen]))
        kept = [axis for axis in range(members) if axis in seen]
        letters = ["".join(string.ascii_letters[axis] for axis in axes) for axes in (along_x, along_y, kept)]
        result = jnp.einsum(
            f"{letters[0]},{letters[1]}->{letters[2]}",
            jnp.asarray(x, self._dtype),
            jnp.asarray(y, self._dtype),
            precision=jax.lax.Precision.HIGHEST,
        )
        if repeated > 1:
            result = result * float(repeated)
        result = result.reshape([extent if axis in seen else 1 for axis, extent in enumerate(sizes[:members])])
        if instruction["has_init"]:
            result = self._spread(instruction["views"][2], sizes[:members]) + result
        return result

    def _sum(self, instruction: Mapping[str, Any], sizes: list[int], members: int) -> Any:
        import jax.numpy as jnp

        return jnp.sum(self._full(instruction["views"][0], sizes), axis=tuple(range(members, len(sizes))))

    def _extreme(self, instruction: Mapping[str, Any], sizes: list[int], members: int) -> Any:
        import jax.numpy as jnp

        reduce = jnp.max if instruction["row"] == "max" else jnp.min
        return reduce(self._full(instruction["views"][0], sizes), axis=tuple(range(members, len(sizes))))

    def _full(self, view: View, sizes: Sequence[int]) -> Any:
        import jax.numpy as jnp

        return jnp.broadcast_to(jnp.asarray(self._spread(view, sizes), self._dtype), tuple(sizes))

    def _select(self, instruction: Mapping[str, Any], sizes: list[int], members: int) -> Any:
        import jax.numpy as jnp

        (number, base, strides), (_, slot, slot_strides) = instruction["views"]
        limit, step = instruction["limit"], instruction["stride"]
        if instruction["through_pool"]:
            reached = addresses(base, list(zip(sizes, strides, strict=True)))
            first, last = int(reached.min()), int(reached.max()) + limit
            source, start, step = Flat(self._gathered(self._pool[first:last])), base - first, 1
        else:
            region = self._regions[number]
            source, start = Flat(jnp.asarray(region.whole(), self._dtype)), base - region.base
        turning = [axis for axis, extent in enumerate(sizes) if extent > 1 and slot_strides[axis]]
        moving = [axis for axis, extent in enumerate(sizes) if extent > 1 and strides[axis]]
        chosen = Flat(self._indices).view(slot, [(sizes[axis], slot_strides[axis]) for axis in turning])
        chosen = chosen.reshape([sizes[axis] for axis in turning])
        loops = [(sizes[axis], strides[axis]) for axis in moving]
        if set(turning) & set(moving) or not step:
            return self._elements(source.array, start, loops, moving, step, chosen, turning, limit, sizes)
        rows = source.view(start, [(limit, step), *loops]) if limit > 1 else source.view(start, loops)[None]
        inside = jnp.where(chosen < 0, limit, chosen)  # a negative position would count from the end
        taken = jnp.take(rows, inside, axis=0, mode="fill", fill_value=jnp.nan)
        axes = [*turning, *moving]
        taken = taken.transpose([int(axis) for axis in np.argsort(axes)]) if axes != sorted(axes) else taken
        return taken.reshape([extent if axis in axes else 1 for axis, extent in enumerate(sizes)])

    @staticmethod
    def _elements(
        array: Any,
        start: int,
        loops: list[Loop],
        moving: list[int],
        step: int,
        chosen: Any,
        turning: list[int],
        limit: int,
        sizes: list[int],
    ) -> Any:
        """A selection in which each index chooses among candidates of its own: element by element."""
        import jax.numpy as jnp

        origin = addresses(start, loops).reshape([n if axis in moving else 1 for axis, n in enumerate(sizes)])
        chosen = chosen.reshape([n if axis in turning else 1 for axis, n in enumerate(sizes)])
        inside = (chosen >= 0) & (chosen < limit)
        where = jnp.where(inside, origin.astype(np.int32) + step * chosen, array.shape[0])
        return jnp.take(array, where, mode="fill", fill_value=jnp.nan)
