"""What is known of a program's gradients before it runs: which are zero until something is added, and which nobody
reads. Calls that could only add zeros, or only compute what is not read, are left out."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .kernel_calls import DOUBLE, Call, Strip

__all__ = ["Memory"]

Places = npt.NDArray[np.int64]

#: The pointers that a kernel reads, of operands with strides: (pointer, which strides).
_READS = {
    "map": (1, 2, 3), "extreme": (1,), "finite": (0,),
    "map_back": (1, 2, 3, 4), "add": (1,), "product": (1, 2), "contract": (1, 2), "contract_nn": (1, 2),
    "contract_nt": (1, 2), "spread": (1, 2), "group_dot": (1, 2), "sum": (1,), "extreme_back": (1, 3, 4), "fill": (),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Memory:
    """The gradients of a machine: an array at ``gradients``."""

    gradients: int
    local: tuple[range, range]  #: addresses of numbers, and gradients, that have no meaning outside of strips
    size: int
    results: npt.NDArray[np.bool_]  #: what is of results, and so read by later calls alone
    zeroed: npt.NDArray[np.bool_]
    regions: list[tuple[int, int]]  #: where each begins and ends, of all members
    keep: Any

    @staticmethod
    def of(facts: dict[str, Any], batch: int) -> Memory:
        """From what Programs.memory() tells."""
        size, local = facts["size"], facts["local"]
        regions = [
            (base, min(base + max(stride * batch, length), size)) for _, base, stride, length in facts["regions"]
        ]
        results, zeroed = np.zeros(size, bool), np.zeros(size, bool)
        for (kind, *_), (begin, end) in zip(facts["regions"], regions, strict=True):
            if kind == "value":
                results[begin:end] = True
        for begin, end in facts["zeroed"]:
            zeroed[begin:end] = True
        stride = facts["regions"][facts["root_region"]][2]
        for member in range(batch):
            zeroed[facts["root"] + stride * member] = False
        spaces = (
            range(facts["numbers"] + local * DOUBLE, facts["numbers"] + size * DOUBLE),
            range(facts["gradients"] + local * DOUBLE, facts["gradients"] + size * DOUBLE),
        )
        return Memory(facts["gradients"], spaces, size, results, zeroed & results, regions, facts["keep"])

    def needed(self, calls: Sequence[Call], strips: Sequence[Strip]) -> tuple[list[Call], list[Strip]]:
        """The calls of a backward pass without those that change nothing that is read. Those of strips all stay."""
        zero = self.zeroed.copy()
        strip_of = {i: strip for strip in strips for i in range(strip.begin, strip.end)}
        kept, places = [], []
        for i, call in enumerate(calls):
            targets = self._inside(self._targets(call))
            if i not in strip_of and self._adds_nothing(call, zero):
                continue
            if targets is None:
                zero[:] = False
            else:
                zero[targets] = False
            kept.append(call)
            places.append(i)
        read = np.zeros(self.size, bool)
        backwards, numbers = [], []
        for i, call in zip(reversed(places), reversed(kept), strict=True):
            pruned = call if i in strip_of else self._pruned(call, read)
            if pruned is None:
                continue
            for source in _sources(pruned):
                inside = self._inside(source)
                if inside is None:
                    read[:] = True
                else:
                    read[inside] = True
            backwards.append(pruned)
            numbers.append(i)
        moved = {old: new for new, old in enumerate(numbers[::-1])}
        return backwards[::-1], [replace(s, begin=moved[s.begin], end=moved[s.end - 1] + 1) for s in strips]

    def _targets(self, call: Call) -> Places | None:
        """The addresses that a call of a backward pass writes; None when only running it shows which."""
        match call.kernel:
            case "scatter":
                return _list(call, 5, call.pointers[2])
            case "indexed_back":
                lists = [_list(call, 5 + i, call.pointers[2]) for i in range(3) if call.which >> i & 1]
                return np.concatenate(lists) if lists else np.zeros(0, np.int64)
            case "select_back":  # any candidate, and those are of one region
                first = (call.pointers[1] - self.gradients) // DOUBLE
                home = [(begin, end) for begin, end in self.regions if begin <= first < end]
                if call.pooled or not home:
                    return None
                return np.arange(*home[0], dtype=np.int64) * DOUBLE + self.gradients
            case _:
                return _places(call, 0)

    def _inside(self, places: Places | None) -> Places | None:
        """Indices in the array of gradients, of addresses; None for anywhere."""
        if places is None:
            return None
        indices = (places - self.gradients) // DOUBLE
        inside: Places = indices[(indices >= 0) & (indices < self.size)]
        return inside

    def _adds_nothing(self, call: Call, zero: npt.NDArray[np.bool_]) -> bool:
        """Whether the gradient that a call passes on is zero, and it adds to what is there."""
        if not call.accumulate or call.kernel not in ("extreme_back", "map_back", "add", "sum"):
            return False
        gradient = _places(call, 1 if call.kernel in ("add", "sum") else 4)
        inside = self._inside(gradient)
        return inside is not None and len(inside) == gradient.size and bool(zero[inside].all())

    def _pruned(self, call: Call, read: npt.NDArray[np.bool_]) -> Call | None:
        """The call, as far as what it adds to is read."""
        if call.kernel == "indexed_back":
            which = call.which
            for i in range(3):
                if which >> i & 1 and not self._is_read(_list(call, 5 + i, call.pointers[2]), read):
                    which &= ~(1 << i)
            return None if which == 0 else replace(call, which=which)
        targets = self._targets(call)
        return call if targets is None or self._is_read(targets, read) else None

    def _is_read(self, targets: Places, read: npt.NDArray[np.bool_]) -> bool:
        inside = self._inside(targets)
        assert inside is not None
        if len(inside) < targets.size:
            return True
        return bool((read[inside] | ~self.results[inside]).any())


def _places(call: Call, pointer: int) -> Places:
    """Every address that an operand touches."""
    strides = list(call.strides[min(pointer, 3)])
    counts = list(call.counts)
    wide = {"spread": (0, 2), "group_dot": (1, 2)}.get(call.kernel, ())
    if pointer in wide:  # groups of four
        counts, strides = [*counts, 4], [*strides, 1]
    places = np.zeros(1, np.int64)
    for count, stride in zip(counts, strides, strict=True):
        if count > 1 and stride:
            places = (places[:, None] + np.arange(count, dtype=np.int64) * (stride * DOUBLE)).reshape(-1)
    if call.times > 1 and call.moves[pointer]:
        places = (places[:, None] + np.arange(call.times, dtype=np.int64) * call.moves[pointer]).reshape(-1)
    return places + call.pointers[pointer]


def _list(call: Call, pointer: int, base: int) -> Places:
    members, length, apart = call.counts[3], call.counts[4], call.strides[1][3]
    start = call.pointers[pointer]
    lists = [np.array((ctypes.c_int32 * length).from_address(start + 4 * apart * m), np.int64) for m in range(members)]
    places: Places = np.concatenate(lists) * DOUBLE + base
    return places


def _sources(call: Call) -> Iterator[Places | None]:
    match call.kernel:
        case "scatter" | "select_back":
            yield _places(call, 0)
        case "indexed_back":
            yield _places(replace(call, strides=((0, 0, 0, call.strides[3][3], 1),) * 4), 4)
        case kernel if kernel in _READS:
            for pointer in _READS[kernel]:
                if call.pointers[pointer]:
                    yield _places(call, pointer)
        case _:
            yield None
