"""One kernel call inside a fused loop nest: its own loops, and the steps of its operands in the shared loops.

The shared loops are the *outer* one, which may be missing (one iteration), and inside of it the *inner* one along the
strip, of ``strip`` iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..kernel_calls import DOUBLE, KernelCall, Loop
from ..kernels.op_formulas import has_formula

__all__ = ["Addresses", "FusedOp", "decompose"]

Addresses = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _LoopRoles:
    """What a kernel's five loop slots are for."""

    own: tuple[int, ...]  #: the slots that the kernel runs itself
    strip_slot: int  #: the one of them that may run along the strip
    reduces: bool = False  #: the kernel sums over that


_ROLES = {
    "map": _LoopRoles((4,), 4),
    "map_back": _LoopRoles((4,), 4),
    "add": _LoopRoles((4,), 4),
    "product": _LoopRoles((4,), 4),
    "fill": _LoopRoles((4,), 4),
    "contract_nn": _LoopRoles((2, 3, 4), 3),
    "contract": _LoopRoles((3, 4), 3),
    "contract_nt": _LoopRoles((2, 3, 4), 4, reduces=True),
    "sum": _LoopRoles((4,), 4, reduces=True),
}

_ONCE = Loop(1, (0, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class FusedOp:
    """A call without the shared loops, and how far each pointer moves in them, in bytes."""

    call: KernelCall  #: its loop in the strip slot still has the strip's iterations
    reduces: bool  #: it sums over the strip
    strip_slot: int
    outer_steps: tuple[int, ...]
    inner_steps: tuple[int, ...]
    transient: bool = False  #: what it writes is read in the same iteration or not at all: it needs no memory

    @property
    def pointers(self) -> range:
        return range(1 if self.call.kernel == "fill" else 5)

    def uses(self, pointer: int) -> bool:
        return pointer in self.pointers and bool(self.call.pointers[pointer])

    def used(self) -> Iterator[int]:
        return (p for p in self.pointers if self.uses(p))

    @property
    def cost(self) -> int:
        """About how many vector operations an inner iteration takes."""
        operations = 24 if self.call.row in ("exp", "log", "sigmoid") else 1
        for i, count in enumerate(self.call.counts):
            operations *= 1 if i == self.strip_slot else count
        return operations

    def starts(self, pointer: int, outer: int) -> Addresses:
        """Where the operand's segments along the strip begin: a line of addresses for each outer iteration."""
        found = np.arange(outer, dtype=np.int64) * self.outer_steps[pointer]
        for i, n in enumerate(self.call.counts):
            stride = self.call.operand_strides(pointer)[i] * DOUBLE
            if i != self.strip_slot and n > 1 and stride:
                found = found[..., None] + np.arange(n, dtype=np.int64) * stride
        return (found + self.call.pointers[pointer]).reshape(outer, -1)


def decompose(call: KernelCall, outer: int, strip: int) -> FusedOp | None:
    """The call as part of a nest with ``outer`` times ``strip`` iterations; None where it cannot run in those loops."""
    roles = _ROLES.get(call.kernel)
    if roles is None or (call.kernel in ("map", "map_back") and not has_formula(call.row, call.kernel == "map_back")):
        return None  # there is no vector code for it
    along = call.loop(roles.strip_slot)
    if not _is_vectorizable(call, along, roles):
        return None  # its lanes would not be neighbours in memory
    if along.count != strip if roles.reduces else along.count % strip:
        return None  # it has other iterations than the strip
    own = {i: call.loop(i) for i in roles.own}
    own[roles.strip_slot] = Loop(strip, along.strides)
    others = [call.loop(i) for i in range(5) if i not in roles.own and call.counts[i] > 1]
    if along.count > strip:
        others.append(Loop(along.count // strip, tuple(s * strip for s in along.strides)))
    outer_loop = _ONCE
    if outer > 1:
        found = _take_outer_loop(others, outer)
        if found is None and roles.reduces:
            found = _take_own_loop(own, roles, outer)
        if found is None:
            return None  # none of its loops has the outer one's iterations
        outer_loop = found
    free = min(roles.own)
    if len(others) > free:
        return None  # more loops are left than it has slots for
    own |= {free - 1 - i: loop for i, loop in enumerate(others)}
    return FusedOp(
        _with_loops(call, own),
        roles.reduces,
        roles.strip_slot,
        tuple(outer_loop.strides[min(p, 3)] * DOUBLE for p in range(8)),
        tuple(along.strides[min(p, 3)] * DOUBLE for p in range(8)),
    )


def _is_vectorizable(call: KernelCall, along: Loop, roles: _LoopRoles) -> bool:
    """Whether each operand has stride 1 or 0 along the loop: d has 1, or 0 if the kernel adds a sum to it."""
    if roles.reduces:
        return along.strides[0] == 0 and call.accumulate and all(s in (0, 1) for s in along.strides[1:3])
    if call.kernel == "contract" and (call.strides[0][4] != 0 or call.counts[3] <= 1):
        return False
    return along.strides[0] == 1 and all(s in (0, 1) for s in along.strides)


def _take_outer_loop(loops: list[Loop], count: int) -> Loop | None:
    """Remove a loop of ``count`` iterations along which d moves, or the outer part of one that ``count`` divides."""
    for i, loop in enumerate(loops):
        if loop.count == count and loop.strides[0]:
            return loops.pop(i)
    for i, loop in enumerate(loops):
        if loop.count % count == 0 and loop.strides[0]:
            inner = loop.count // count
            loops[i] = Loop(inner, loop.strides)
            return Loop(count, tuple(s * inner for s in loop.strides))
    return None


def _take_own_loop(own: dict[int, Loop], roles: _LoopRoles, count: int) -> Loop | None:
    """Remove a loop of ``count`` iterations along which d moves from the kernel's own."""
    for i in roles.own:
        if i != roles.strip_slot and own[i].count == count and own[i].strides[0]:
            found, own[i] = own[i], _ONCE
            return found
    return None


def _with_loops(call: KernelCall, loops: dict[int, Loop]) -> KernelCall:
    """The call with these loops by their slots, and no others."""
    slots = [loops.get(i, _ONCE) for i in range(5)]
    strides = tuple(tuple(loop.strides[w] for loop in slots) for w in range(4))
    return replace(call, counts=tuple(loop.count for loop in slots), strides=strides)
