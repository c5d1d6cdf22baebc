"""The kernel calls of a bound program, decoded from the struct of native/compiler/kernels/kernels.hpp."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ....ops import NARY, OPS

__all__ = ["DOUBLE", "KERNELS", "POINTERS", "ROWS", "At", "Call", "Loop", "Strip", "decoded"]

#: In the order of the enumeration Kernel.
KERNELS = (
    "map", "map_back", "add", "product", "contract", "contract_nn", "contract_nt", "spread", "group_dot", "sum",
    "extreme", "extreme_back", "gather", "scatter", "select", "select_back", "indexed", "indexed_back", "ragged",
    "ragged_back", "fill", "finite",
)  # fmt: skip

#: The names of rows, by their numbers; after those of the table, the compiler's own (native/compiler/graph/graph.hpp).
ROWS = ("", *(op.name for op in OPS), *(op.name for op in NARY), "select", "", "first_max", "first_min", "largest")

DOUBLE = 8  #: bytes

POINTERS = 8  #: where the pointers are in a struct Call, in bytes

_LAYOUT = struct.Struct("<Q8Qd5i20iBBBBHBxi")


@dataclass(frozen=True, slots=True)
class At:
    """An address: a number, and an SSA value in bytes that is added when it runs."""

    address: int
    moving: str | None = None

    def by(self, elements: int) -> At:
        return At(self.address + elements * DOUBLE, self.moving) if elements else self


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, and how far each operand moves in it, in elements."""

    count: int
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """Calls [begin, end) of a pass, which run so many times, each time for so many iterations of the strips' loop."""

    begin: int
    end: int
    times: int
    iterations: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call. ``strides[w]`` are those of operand w: d, a, b, and c or y."""

    kernel: str
    row: str
    address: int  #: of the struct itself, for the prebuilt kernel
    run: int
    pointers: tuple[int, ...]
    k: float
    counts: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    accumulate: bool
    which: int
    pooled: bool
    stride: int
    moving: tuple[str | None, ...] = (None,) * 8  #: SSA values in bytes that are added to the pointers
    moves: tuple[int, ...] = (0,) * 8  #: how far the pointers move from one strip to the next, in bytes
    times: int = 1  #: how many strips there are

    def at(self, pointer: int) -> At:
        return At(self.pointers[pointer], self.moving[pointer])

    def loop(self, i: int) -> Loop:
        return Loop(self.counts[i], tuple(strides[i] for strides in self.strides))

    def outer(self, inner: int) -> list[Loop]:
        """The loops outside of the ``inner`` innermost ones, without those of one iteration."""
        return [self.loop(i) for i in range(5 - inner) if self.counts[i] > 1]

    @property
    def empty(self) -> bool:
        return 0 in self.counts


def decoded(calls: bytes, start: int) -> Iterator[Call]:
    """The calls in an array of them, a copy of which is kept at the address ``start``."""
    for offset in range(0, len(calls), _LAYOUT.size):
        f = _LAYOUT.unpack_from(calls, offset)
        kernel, accumulate, which, pooled, row, _, stride = f[35:]
        yield Call(
            kernel=KERNELS[kernel],
            row=ROWS[row],
            address=start + offset,
            run=f[0],
            pointers=f[1:9],
            k=f[9],
            counts=f[10:15],
            strides=tuple(f[15 + 5 * w : 20 + 5 * w] for w in range(4)),
            accumulate=bool(accumulate),
            which=which,
            pooled=bool(pooled),
            stride=stride,
        )
