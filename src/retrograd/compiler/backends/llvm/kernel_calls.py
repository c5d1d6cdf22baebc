"""The kernel calls of a bound program, decoded from the bytes of struct Call in native/compiler/kernels/kernels.hpp."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....ops import BY_NAME, NARY, OPS

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

#: Kernels that read lists of addresses, behind the pointers 5, 6 and 7.
_LISTED = {KERNELS.index(name) for name in ("gather", "scatter", "indexed", "indexed_back")}

#: How many lists a call of each row reads at most; gather and scatter have no row, and one list.
_ARITIES = tuple(len(BY_NAME[name].partials) if name in BY_NAME else 1 if not name else 3 for name in ROWS)


#: The pointers that a kernel of a backward pass reads of operands with strides. What it adds to does not count.
_READS = {
    "map": (1, 2, 3), "map_back": (1, 2, 3, 4), "add": (1,), "product": (1, 2), "contract": (1, 2),
    "contract_nn": (1, 2), "contract_nt": (1, 2), "spread": (1, 2), "group_dot": (1, 2), "sum": (1,), "extreme": (1,),
    "extreme_back": (1, 3, 4), "scatter": (0,), "select_back": (0,), "fill": (), "finite": (0,),
}  # fmt: skip


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
    run: int  #: how far the prebuilt kernel is from another function, in bytes
    pointers: tuple[int, ...]
    k: float
    counts: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    accumulate: bool
    which: int  #: the operand that map_back differentiates by; for indexed_back, a mask of operands
    pooled: bool
    stride: int
    lists: tuple[NDArray[np.int32], ...] = ()  #: lists of indices, one behind each pointer from 5 on: a row a member
    offsets: tuple[str | None, ...] = (None,) * 8  #: SSA values in bytes, added to the pointers
    strip_steps: tuple[int, ...] = (0,) * 8  #: how far each pointer moves from one strip to the next, in bytes
    strip_count: int = 1
    either: bool = False  #: whether it accumulates is decided when the pass is run, by the function's ``%adds``

    @property
    def symbol(self) -> str:
        """What code calls the prebuilt kernel: the same in each process."""
        return f"retrograd_kernel_{self.run % (1 << 64):x}"

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

    def extent(self, pointer: int) -> tuple[int, int]:
        """The memory that is accessed through a pointer: beginning and end."""
        spans = [(n - 1) * s * DOUBLE for n, s in zip(self.counts, self.operand_strides(pointer), strict=True)]
        size = 4 * DOUBLE if self.kernel in ("spread", "group_dot") else DOUBLE
        at = self.pointers[pointer]
        return at + sum(span for span in spans if span < 0), at + sum(span for span in spans if span > 0) + size

    def reads(self) -> list[tuple[int, int]]:
        """The memory that a call of a backward pass may read, from one address up to another."""
        if self.kernel not in _READS or self.strip_count > 1:
            return [(0, sys.maxsize)]
        return [self.extent(p) for p in _READS[self.kernel] if self.pointers[p]]

    @property
    def empty(self) -> bool:
        return 0 in self.counts


def decode(calls: bytes, start: int, constants: Sequence[tuple[int, bytes]], function: int = 0) -> Iterator[KernelCall]:
    """The calls in an array of struct Call.

    Args:
        calls: the array.
        start: the address at which a copy of it is kept.
        constants: address and content of the memory that holds lists of indices.
        function: the address from which those of kernels are counted.
    """
    for offset in range(0, len(calls), _LAYOUT.size):
        f = _LAYOUT.unpack_from(calls, offset)
        kernel, accumulate, which, pooled, row, _, stride = f[35:]
        counts, strides = f[10:15], tuple(f[15 + 5 * w : 20 + 5 * w] for w in range(4))
        lists: tuple[NDArray[np.int32], ...] = ()
        if kernel in _LISTED:
            members, length, apart = counts[3], counts[4], strides[1][3]
            lists = tuple(_rows(constants, at, members, length, apart) for at in f[6 : 6 + _ARITIES[row]])
        yield KernelCall(
            kernel=KERNELS[kernel],
            row=ROWS[row],
            struct_address=start + offset,
            run=f[0] - function,
            pointers=f[1:9],
            k=f[9],
            counts=counts,
            strides=strides,
            accumulate=bool(accumulate),
            which=which,
            pooled=bool(pooled),
            stride=stride,
            lists=lists,
        )


def _rows(
    constants: Sequence[tuple[int, bytes]], address: int, rows: int, length: int, apart: int
) -> NDArray[np.int32]:
    """So many rows of int32 from an address on, each ``apart`` after the one before; none where nothing is there."""
    for begin, content in constants:
        first = (address - begin) // 4
        if first >= 0 and first + apart * (rows - 1) + length <= len(content) // 4:
            found: NDArray[np.int32] = np.frombuffer(content, np.int32)[
                first + apart * np.arange(rows)[:, None] + np.arange(length)
            ]
            return found
    return np.zeros((rows, 0), np.int32)
