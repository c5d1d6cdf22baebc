"""Dead-code elimination for backward passes: removes calls that only add zeros, or whose results are never read.

A first walk, in order, knows which gradients are still zero and drops calls that would add zero. A second walk, in
reverse order, is a liveness analysis: it drops calls whose targets no later call reads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .kernel_calls import DOUBLE, KernelCall, Strip

__all__ = ["DeadCodeElimination", "read_by"]

Addresses = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: The pointers that a kernel reads of operands with strides. The elements of "spread" and "group_dot" are fours.
_READS = {
    "map": (1, 2, 3), "extreme": (1,), "finite": (0,),
    "map_back": (1, 2, 3, 4), "add": (1,), "product": (1, 2), "contract": (1, 2), "contract_nn": (1, 2),
    "contract_nt": (1, 2), "spread": (1, 2), "group_dot": (1, 2), "sum": (1,), "extreme_back": (1, 3, 4), "fill": (),
}  # fmt: skip

#: Kernels that pass on one gradient, and the pointer to it: where that is zero, they add zero.
_PASS_ON = {"extreme_back": 4, "map_back": 4, "add": 1, "sum": 1}


@dataclass(frozen=True, slots=True)
class DeadCodeElimination:
    """What is known of a machine's gradients before it runs; they are one array at the address ``gradients``."""

    gradients: int
    strip_local: tuple[range, range]  #: addresses of values, and of gradients, that no other strip reads
    size: int  #: of the array, in elements
    temporary: Flags  #: gradients of intermediate results, which only later calls of the pass read
    zero: Flags  #: gradients that are zero when the pass begins
    regions: list[tuple[int, int]]  #: begin and end of each region, for all members of a batch

    @staticmethod
    def of(memory: Mapping[str, Any], batch: int) -> DeadCodeElimination:
        """From what ``SpecializationCache.memory`` exports of a program bound for ``batch`` members."""
        size, local = memory["size"], memory["local"]
        regions = [
            (base, min(base + max(stride * batch, length), size)) for _, base, stride, length in memory["regions"]
        ]
        temporary, zero = np.zeros(size, bool), np.zeros(size, bool)
        for (kind, *_), (begin, end) in zip(memory["regions"], regions, strict=True):
            if kind == "value":
                temporary[begin:end] = True
        for begin, end in memory["zeroed"]:
            zero[begin:end] = True
        stride = memory["regions"][memory["root_region"]][2]
        for member in range(batch):
            zero[memory["root"] + stride * member] = False  # the seed
        strip_local = (
            range(memory["numbers"] + local * DOUBLE, memory["numbers"] + size * DOUBLE),
            range(memory["gradients"] + local * DOUBLE, memory["gradients"] + size * DOUBLE),
        )
        return DeadCodeElimination(memory["gradients"], strip_local, size, temporary, zero & temporary, regions)

    def remove_dead_calls(
        self, calls: Sequence[KernelCall], strips: Sequence[Strip]
    ) -> tuple[list[KernelCall], list[Strip]]:
        """The live calls of a backward pass, and the strips renumbered. Calls inside of strips all stay."""
        in_strip = {i for strip in strips for i in range(strip.begin, strip.end)}
        kept = self._live_calls(self._calls_that_add(calls, in_strip), in_strip)
        position = {old: new for new, (old, _) in enumerate(kept)}
        return [call for _, call in kept], [
            replace(s, begin=position[s.begin], end=position[s.end - 1] + 1) for s in strips
        ]

    def _calls_that_add(self, calls: Sequence[KernelCall], in_strip: set[int]) -> list[tuple[int, KernelCall]]:
        """The numbered calls without those that only add zeros."""
        zero = self.zero.copy()
        kept = []
        for i, call in enumerate(calls):
            if i not in in_strip and self._adds_zero(call, zero):
                continue
            targets = self._indices(self._targets(call))
            zero[slice(None) if targets is None else targets] = False
            kept.append((i, call))
        return kept

    def _live_calls(self, calls: Sequence[tuple[int, KernelCall]], in_strip: set[int]) -> list[tuple[int, KernelCall]]:
        """The numbered calls without those whose targets no later call reads."""
        read = np.zeros(self.size, bool)
        kept = []
        for i, call in reversed(calls):
            live = call if i in in_strip else self._live_part(call, read)
            if live is None:
                continue
            for source in _sources(live):
                indices = self._indices(source)
                read[slice(None) if indices is None else indices] = True
            kept.append((i, live))
        return kept[::-1]

    def is_temporary(self, begin: int, end: int) -> bool:
        """Whether the memory is that of gradients which only calls of the pass read."""
        first, last = ((at - self.gradients) // DOUBLE for at in (begin, end))
        return 0 <= first < last <= self.size and bool(self.temporary[first:last].all())

    def _targets(self, call: KernelCall) -> Addresses | None:
        """The addresses that a call of a backward pass writes; None where only running it shows which."""
        match call.kernel:
            case "scatter":
                return _listed_addresses(call, 0, call.pointers[2])
            case "indexed_back":
                lists = [_listed_addresses(call, i, call.pointers[2]) for i in range(3) if call.which >> i & 1]
                return np.concatenate(lists) if lists else np.zeros(0, np.int64)
            case "select_back":  # may write any candidate; all candidates are in one region
                first = (call.pointers[1] - self.gradients) // DOUBLE
                home = [(begin, end) for begin, end in self.regions if begin <= first < end]
                if call.pooled or not home:
                    return None
                return np.arange(*home[0], dtype=np.int64) * DOUBLE + self.gradients
            case _:
                return _operand_addresses(call, 0)

    def _indices(self, addresses: Addresses | None) -> Addresses | None:
        """Those of the addresses that are in the array of gradients, as indices; None stands for any address."""
        if addresses is None:
            return None
        indices = (addresses - self.gradients) // DOUBLE
        inside: Addresses = indices[(indices >= 0) & (indices < self.size)]
        return inside

    def _adds_zero(self, call: KernelCall, zero: Flags) -> bool:
        """Whether a call accumulates, and the gradient that it passes on is zero."""
        if not call.accumulate or call.kernel not in _PASS_ON:
            return False
        gradient = _operand_addresses(call, _PASS_ON[call.kernel])
        indices = self._indices(gradient)
        return indices is not None and len(indices) == gradient.size and bool(zero[indices].all())

    def _live_part(self, call: KernelCall, read: Flags) -> KernelCall | None:
        """The call as far as its targets are read: an indexed_back loses single operands. None if none are read."""
        if call.kernel == "indexed_back":
            which = call.which
            for i in range(3):
                if which >> i & 1 and not self._is_read(_listed_addresses(call, i, call.pointers[2]), read):
                    which &= ~(1 << i)
            return None if which == 0 else replace(call, which=which)
        targets = self._targets(call)
        return call if targets is None or self._is_read(targets, read) else None

    def _is_read(self, targets: Addresses, read: Flags) -> bool:
        """Whether a later call or, of what is not temporary, the caller reads one of the targets."""
        indices = self._indices(targets)
        assert indices is not None
        if len(indices) < targets.size:
            return True
        return bool((read[indices] | ~self.temporary[indices]).any())


def read_by(call: KernelCall) -> list[tuple[int, int]]:
    """The memory that a call of a backward pass may read, from one address up to another.

    That it adds to a number does not count.
    """
    pointers = (0,) if call.kernel in ("scatter", "select_back") else _READS.get(call.kernel)
    if pointers is None or call.strip_count > 1:
        return [(0, sys.maxsize)]
    return [call.extent(p) for p in pointers if call.pointers[p]]


def _operand_addresses(call: KernelCall, pointer: int) -> Addresses:
    """Every address that a call accesses through a pointer."""
    strides, counts = list(call.operand_strides(pointer)), list(call.counts)
    fours = {"spread": (0, 2), "group_dot": (1, 2)}.get(call.kernel, ())
    if pointer in fours:
        counts, strides = [*counts, 4], [*strides, 1]
    found = np.zeros(1, np.int64)
    for count, stride in zip(counts, strides, strict=True):
        if count > 1 and stride:
            found = (found[:, None] + np.arange(count, dtype=np.int64) * (stride * DOUBLE)).reshape(-1)
    if call.strip_count > 1 and call.strip_steps[pointer]:
        steps = np.arange(call.strip_count, dtype=np.int64) * call.strip_steps[pointer]
        found = (found[:, None] + steps).reshape(-1)
    return found + call.pointers[pointer]


def _listed_addresses(call: KernelCall, number: int, base: int) -> Addresses:
    """The addresses in one of a call's lists, for all members of the batch."""
    found: Addresses = call.lists[number].reshape(-1).astype(np.int64) * DOUBLE + base
    return found


def _sources(call: KernelCall) -> Iterator[Addresses | None]:
    """The addresses that a call of a backward pass reads; None for a kernel of which they are not known."""
    match call.kernel:
        case "scatter" | "select_back":
            yield _operand_addresses(call, 0)
        case "indexed_back":
            yield _operand_addresses(replace(call, strides=((0, 0, 0, call.strides[3][3], 1),) * 4), 4)
        case kernel if kernel in _READS:
            for pointer in _READS[kernel]:
                if call.pointers[pointer]:
                    yield _operand_addresses(call, pointer)
        case _:
            yield None
