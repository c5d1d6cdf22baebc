"""The kernel calls of a bound program, decoded from the bytes of struct Call in native/compiler/kernels/kernels.hpp."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ....ops import NARY, OPS

__all__ = ["DOUBLE", "KERNELS", "POINTERS", "ROWS", "Address", "KernelCall", "Loop", "Strip", "decode"]

#: In the order of the enumeration Kernel.
KERNELS = (
    "map", "map_back", "add", "product", "contract", "contract_nn", "contract_nt", "spread", "group_dot", "sum",
    "extreme", "extreme_back", "gather", "scatter", "select", "select_back", "indexed", "indexed_back", "ragged",
    "ragged_back", "fill", "finite",
)  # fmt: skip

#: The op table's rows by number; after them the compiler's own operations (native/compiler/graph/graph.hpp).
ROWS = ("", *(op.name for op in OPS), *(op.name for op in NARY), "select", "", "first_max", "first_min", "largest")

DOUBLE = 8  #: bytes of a double

POINTERS = 8  #: offset of the pointers in a struct Call, in bytes

_LAYOUT = struct.Struct("<Q8Qd5i20iBBBBHBxi")


@dataclass(frozen=True, slots=True)
class Address:
    """An address in memory: a constant and, inside a loop, an SSA value in bytes that is added at run time."""

    constant: int
    offset: str | None = None

    def plus(self, elements: int) -> Address:
        return Address(self.constant + elements * DOUBLE, self.offset) if elements else self


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its trip count, and the stride of each operand in it, in elements."""

    count: int
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """The body of a strip-mined loop: calls [begin, end) of a pass, run ``count`` times for ``iterations`` each."""

    begin: int
    end: int
    count: int
    iterations: int


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One call of a kernel, a nest of five loops. ``strides[w]`` belong to operand w: d, a, b, and c or y."""

    kernel: str
    row: str
    struct_address: int  #: of the struct Call, which the prebuilt kernel reads
    run: int  #: address of the prebuilt kernel
    pointers: tuple[int, ...]
    k: float
    counts: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    accumulate: bool
    which: int  #: the operand that map_back differentiates by; for indexed_back, a mask of operands
    pooled: bool
    stride: int
    offsets: tuple[str | None, ...] = (None,) * 8  #: SSA values in bytes, added to the pointers
    strip_steps: tuple[int, ...] = (0,) * 8  #: how far each pointer moves from one strip to the next, in bytes
    strip_count: int = 1

    def address(self, pointer: int) -> Address:
        return Address(self.pointers[pointer], self.offsets[pointer])

    def loop(self, i: int) -> Loop:
        return Loop(self.counts[i], tuple(strides[i] for strides in self.strides))

    def outer_loops(self, inner: int) -> list[Loop]:
        """The loops outside of the ``inner`` innermost ones, without those of one iteration."""
        return [self.loop(i) for i in range(5 - inner) if self.counts[i] > 1]

    def operand_strides(self, pointer: int) -> tuple[int, ...]:
        """The strides of the operand behind a pointer: y and g, pointers 3 and 4, share theirs."""
        return self.strides[min(pointer, 3)]

    @property
    def empty(self) -> bool:
        return 0 in self.counts


def decode(calls: bytes, start: int) -> Iterator[KernelCall]:
    """The calls in an array of struct Call, a copy of which is kept at the address ``start``."""
    for offset in range(0, len(calls), _LAYOUT.size):
        f = _LAYOUT.unpack_from(calls, offset)
        kernel, accumulate, which, pooled, row, _, stride = f[35:]
        yield KernelCall(
            kernel=KERNELS[kernel],
            row=ROWS[row],
            struct_address=start + offset,
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
