"""A call as part of a nest of loops that several calls go through: without those loops, and how its operands move in
them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .kernel_calls import DOUBLE, Call, Loop
from .op_formulas import FORMS

__all__ = ["Addresses", "Part", "part_of"]

#: The slots of loops that belong to a kernel, its row of neighbours among them, and which slot that is.
_VECTORS = {
    "map": ((4,), 4), "map_back": ((4,), 4), "add": ((4,), 4), "product": ((4,), 4), "fill": ((4,), 4),
    "contract_nn": ((2, 3, 4), 3), "contract": ((3, 4), 3),
}  # fmt: skip
_SUMS = {"contract_nt": ((2, 3, 4), 4), "sum": ((4,), 4)}

Addresses = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """A call without the loops of the nest, and how its operands move in those, in bytes."""

    call: Call
    sums: bool
    slot: int  #: of the strip's loop
    around: tuple[int, ...]  #: of each pointer, in the loop around
    inside: tuple[int, ...]  #: in the strip's loop
    passing: bool = False  #: what it writes is read in the same iteration or not at all

    @property
    def pointers(self) -> range:
        return range(1 if self.call.kernel == "fill" else 5)

    def used(self) -> Iterator[int]:
        return (p for p in self.pointers if self.call.pointers[p])

    @property
    def cost(self) -> int:
        operations = 24 if self.call.row in ("exp", "log", "sigmoid") else 1
        for i, count in enumerate(self.call.counts):
            operations *= 1 if i == self.slot else count
        return operations

    def starts(self, pointer: int, count: int) -> Addresses:
        """Where the operand's rows begin, for each iteration of the loop around."""
        places = np.arange(count, dtype=np.int64) * self.around[pointer]
        for i, n in enumerate(self.call.counts):
            stride = self.call.strides[min(pointer, 3)][i] * DOUBLE
            if i != self.slot and n > 1 and stride:
                places = places[..., None] + np.arange(n, dtype=np.int64) * stride
        return (places + self.call.pointers[pointer]).reshape(count, -1)


def part_of(call: Call, around: int, strip: int) -> Part | None:
    """The call as part of a nest; None when it has not those loops."""
    if call.kernel in ("map", "map_back") and call.row not in FORMS:
        return None
    sums = call.kernel in _SUMS
    own, slot = (_SUMS if sums else _VECTORS).get(call.kernel, ((), -1))
    if slot < 0:
        return None
    row = call.loop(slot)
    if not _is_row(call, row, sums) or (row.count != strip if sums else row.count % strip):
        return None
    loops = [call.loop(i) for i in range(5) if i not in own and call.counts[i] > 1]
    if row.count > strip:
        loops.append(Loop(row.count // strip, tuple(s * strip for s in row.strides)))
    counts, strides = [1] * 5, [[0] * 5 for _ in range(4)]

    def put(i: int, loop: Loop) -> None:
        counts[i] = loop.count
        for w in range(4):
            strides[w][i] = loop.strides[w]

    for i in own:
        put(i, call.loop(i))
    put(slot, Loop(strip, row.strides))
    outer = Loop(1, (0, 0, 0, 0))
    if around > 1:
        found = _loop_around(loops, around)
        for i in own if found is None and sums else ():
            if i != slot and counts[i] == around and strides[0][i]:
                found = call.loop(i)
                put(i, Loop(1, (0, 0, 0, 0)))
                break
        if found is None:
            return None
        outer = found
    if len(loops) > min(own):
        return None
    for i, loop in enumerate(loops):
        put(min(own) - 1 - i, loop)
    of_pointer = [min(p, 3) for p in range(8)]
    return Part(
        replace(call, counts=tuple(counts), strides=tuple(map(tuple, strides))),
        sums,
        slot,
        tuple(outer.strides[w] * DOUBLE for w in of_pointer),
        tuple(row.strides[w] * DOUBLE for w in of_pointer),
    )


def _is_row(call: Call, row: Loop, sums: bool) -> bool:
    if sums:
        return row.strides[0] == 0 and call.accumulate and all(s in (0, 1) for s in row.strides[1:3])
    if call.kernel == "contract" and (call.strides[0][4] != 0 or call.counts[3] <= 1):
        return False
    return row.strides[0] == 1 and all(s in (0, 1) for s in row.strides)


def _loop_around(loops: list[Loop], count: int) -> Loop | None:
    """Takes a loop of that count, or one that is a multiple of it, out of ``loops``."""
    for i, loop in enumerate(loops):
        if loop.count == count and loop.strides[0]:
            return loops.pop(i)
    for i, loop in enumerate(loops):
        if loop.count % count == 0 and loop.strides[0]:
            inner = loop.count // count
            loops[i] = Loop(inner, loop.strides)
            return Loop(count, tuple(s * inner for s in loop.strides))
    return None
