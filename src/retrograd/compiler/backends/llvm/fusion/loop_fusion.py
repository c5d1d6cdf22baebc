"""Loop fusion: consecutive calls of a strip that have the same loops become one loop nest.

A number that one call computes goes to the next in a register. The IR builder's store-to-load forwarding does that,
since within the nest the calls of one iteration are a basic block. Two more transformations follow:

* *Rematerialization*: a cheap op of an earlier nest is computed again rather than read back from memory.
* *Array contraction*: an array that only this nest uses shrinks to what one outer iteration needs, or to registers.
  See Gao, Olsen, Sarkar & Thekkath, "Collective loop fusion for array contraction" (1992).

A nest has at most two loops: the outer one, such as the clusters of a mixture or the neurons of a layer, and inside of
it the strip's iterations, a vector of them at a time. Reductions over the strip follow the inner loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..ir_builder import IRBuilder, Vector
from ..kernel_calls import DOUBLE, KernelCall
from .fused_op import FusedOp, decompose
from .legality import fusion_is_legal
from .strip_sums import sum_over_strip

__all__ = ["LoopNest", "fuse"]

#: Vector operations in the body of a nest, at most, and calls in one.
_MAX_BODY, _MAX_CALLS = 400, 60

#: Ops that are rematerialized, and how many vector operations of an iteration that may take.
_CHEAP, _MAX_REMATERIALIZED = ("add", "sub", "neg"), 16

Write = Callable[[IRBuilder, KernelCall], None]

#: An SSA offset before a loop and a step in bytes: operands that share both share one offset in the loop.
_Motion = tuple[str | None, int]
_Offsets = dict[_Motion, str | None]


class LoopNest:
    """Fused calls: their loops are one outer loop and one inner loop of ``strip`` iterations."""

    def __init__(self, outer: int, strip: int) -> None:
        self.outer: int
        self.strip: int
        self.outer, self.strip = outer, strip
        self.ops: list[FusedOp] = []
        self._cost = 0

    def try_fuse(self, call: KernelCall) -> bool:
        """Append the call, if it has the nest's loops and fusing it is legal."""
        op = decompose(call, self.outer, self.strip)
        if op is None or len(self.ops) >= _MAX_CALLS:
            return False
        cost = 0 if op.reduces else op.cost
        if self._cost + cost > _MAX_BODY:
            return False
        self.ops.append(op)
        if not fusion_is_legal(self.ops, self.outer, self.strip):
            self.ops.pop()
            return False
        self._cost += cost
        return True

    def accesses(self) -> Iterator[Access]:
        """The memory that each operand reads or writes, in the order of the ops."""
        for number, op in enumerate(self.ops):
            for p in sorted(op.used(), reverse=True):  # an op writes after it has read
                starts = op.starts(p, self.outer)
                count = self.strip if op.inner_steps[p] else 1
                size = starts.size * self.strip * DOUBLE if op.inner_steps[p] else 0
                begin, end = int(np.min(starts)), int(np.max(starts)) + count * DOUBLE
                overwrites = p == 0 and not op.call.accumulate and end - begin == size
                yield Access(begin, end, overwrites, number, p)

    # --- transformations ------------------------------------------------------------------------------------------

    def rematerialize(self, before: Sequence[KernelCall | LoopNest], strip_local: Sequence[range]) -> None:
        """Compute again what a cheap op of an earlier nest computed, if its operands outlive the strip anyway."""
        earlier = [op for nest in before if isinstance(nest, LoopNest) and nest.outer == self.outer for op in nest.ops]
        wanted = {access.begin for access in self.accesses() if access.pointer != 0}
        for op in earlier:
            operands = [op.call.pointers[p] for p in op.used() if p]
            cheap = op.call.kernel == "map" and op.call.row in _CHEAP and op.cost <= _MAX_REMATERIALIZED
            if not cheap or op.call.pointers[0] not in wanted or any(_within(at, strip_local) for at in operands):
                continue
            unchanged, self.ops = self.ops, [op, *self.ops]
            if not fusion_is_legal(self.ops, self.outer, self.strip):
                self.ops = unchanged

    def contract_arrays(
        self, before: Sequence[Sequence[Access]], after: Sequence[Sequence[Access]], strip_local: Sequence[range]
    ) -> None:
        """Contract arrays that no other step of the strip shares with this nest.

        All outer iterations then use the same memory; without reductions, values stay in registers altogether.

        Args:
            before: what the steps before this one access.
            after: what the steps after it access.
            strip_local: addresses whose numbers are read only within the strip.
        """
        steps = [list(op.outer_steps) for op in self.ops]
        transient = [False] * len(self.ops)
        for array in _arrays(self.accesses()):
            if not self._is_private(array, before, after, strip_local):
                continue
            reduced = any(self.ops[access.op].reduces for access in array)
            for access in array:
                steps[access.op][access.pointer] = 0
                if access.pointer == 0:
                    transient[access.op] = not reduced
        self.ops = [
            replace(op, outer_steps=tuple(op_steps), transient=op_transient)
            for op, op_steps, op_transient in zip(self.ops, steps, transient, strict=True)
        ]

    def _is_private(
        self,
        array: Sequence[Access],
        before: Sequence[Sequence[Access]],
        after: Sequence[Sequence[Access]],
        strip_local: Sequence[range],
    ) -> bool:
        """Whether the array is strip-local, has no input from earlier steps and no later step reads it."""
        begin, end = min(access.begin for access in array), max(access.end for access in array)
        if not (_within(begin, strip_local) and _within(end - 1, strip_local)):
            return False
        first = min(array, key=lambda access: (access.op, -access.pointer))
        overwritten = first.overwrites and first.begin == begin and first.end == end
        if not overwritten and any(access.meets(begin, end) for step in before for access in step):
            return False
        return not _is_read(begin, end, after)

    # --- code -----------------------------------------------------------------------------------------------------

    def emit(self, t: IRBuilder, write: Write) -> None:
        """Emit the nest. ``write`` emits a call of one vector, whose pointers have the loops' offsets."""
        motions = _distinct((op.call.offsets[p], op.outer_steps[p]) for op in self.ops for p in op.used())
        if self.outer == 1:
            self._emit_outer_iteration(t, write, _unmoved(motions))
            return
        moving = [motion for motion in motions if motion[1]]

        def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
            self._emit_outer_iteration(t, write, _unmoved(motions) | dict(zip(moving, offsets, strict=True)))
            return []

        t.loop(self.outer, [start or "0" for start, _ in moving], [step for _, step in moving], [], body)

    def _emit_outer_iteration(self, t: IRBuilder, write: Write, outer_offsets: _Offsets) -> None:
        """The inner loop, and after it the reductions, those of one slot at a time."""
        placed = [
            replace(
                op,
                call=replace(
                    op.call,
                    offsets=tuple(
                        outer_offsets[op.call.offsets[p], op.outer_steps[p]] if op.uses(p) else None for p in range(8)
                    ),
                ),
            )
            for op in self.ops
        ]
        self._emit_inner_loop(t, write, [op for op in placed if not op.reduces])
        reductions = [op for op in placed if op.reduces]
        for slot in dict.fromkeys(op.strip_slot for op in reductions):
            sum_over_strip(t, [op.call for op in reductions if op.strip_slot == slot], slot)

    def _emit_inner_loop(self, t: IRBuilder, write: Write, ops: Sequence[FusedOp]) -> None:
        """A vector of the strip's iterations at a time; then the rest of them."""
        whole, rest = divmod(self.strip, t.width)
        motions = _distinct((op.call.offsets[p], op.inner_steps[p]) for op in ops for p in op.used())
        moving = [motion for motion in motions if motion[1]]

        def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
            _emit_vector(t, write, ops, _unmoved(motions) | dict(zip(moving, offsets, strict=True)), t.width, 0)
            return []

        if whole > 1:
            starts, steps = [start or "0" for start, _ in moving], [step * t.width for _, step in moving]
            t.loop(whole, starts, steps, [], body)
        elif whole:
            _emit_vector(t, write, ops, _unmoved(motions), t.width, 0)
        if rest:
            _emit_vector(t, write, ops, _unmoved(motions), rest, whole * t.width)


def _distinct(motions: Iterable[_Motion]) -> list[_Motion]:
    return list(dict.fromkeys(motions))


def _unmoved(motions: Sequence[_Motion]) -> _Offsets:
    """The offsets before a loop."""
    return {motion: motion[0] for motion in motions}


def _emit_vector(t: IRBuilder, write: Write, ops: Sequence[FusedOp], offsets: _Offsets, count: int, done: int) -> None:
    """``count`` iterations of the strip, ``done`` iterations after those at ``offsets``, as one basic block."""
    with t.basic_block():
        for op in ops:
            call = op.call
            counts = tuple(count if i == op.strip_slot else n for i, n in enumerate(call.counts))
            pointers = tuple(
                pointer + done * op.inner_steps[p] if pointer and p < 5 else pointer
                for p, pointer in enumerate(call.pointers)
            )
            moved = tuple(offsets[call.offsets[p], op.inner_steps[p]] if op.uses(p) else None for p in range(8))
            t.transient = op.transient
            write(t, replace(call, counts=counts, pointers=pointers, offsets=moved))
            t.transient = False


@dataclass(frozen=True, slots=True)
class Access:
    """The memory [begin, end) that a step of a strip reads or writes through one pointer."""

    begin: int
    end: int
    overwrites: bool  #: it writes all of that without reading it
    op: int  #: of a nest
    pointer: int

    def meets(self, begin: int, end: int) -> bool:
        return self.begin < end and begin < self.end


def _accesses(step: KernelCall | LoopNest) -> list[Access]:
    if isinstance(step, LoopNest):
        return list(step.accesses())
    found = []
    for p in range(5):
        if step.pointers[p]:
            found.append(Access(*step.extent(p), False, 0, p))
    return found


def _within(address: int, memory: Sequence[range]) -> bool:
    return any(address in addresses for addresses in memory)


def _is_read(begin: int, end: int, after: Sequence[Sequence[Access]]) -> bool:
    """Whether a later step reads any of that memory before it overwrites all of it."""
    for step in after:
        for access in step:
            if access.meets(begin, end):
                return not (access.overwrites and access.begin <= begin and end <= access.end)
    return False


def _arrays(accesses: Iterable[Access]) -> Iterator[list[Access]]:
    """The accesses of each array: those that overlap, directly or by way of others."""
    array: list[Access] = []
    end = 0
    for access in sorted(accesses, key=lambda access: access.begin):
        if array and access.begin >= end:
            yield array
            array = []
        end = max(end, access.end) if array else access.end
        array.append(access)
    if array:
        yield array


def fuse(calls: Sequence[KernelCall], strip: int, strip_local: Sequence[range]) -> list[KernelCall | LoopNest]:
    """Fuse the calls of a strip greedily: each nest takes as many calls as it can, in their order.

    Args:
        calls: the calls of one strip.
        strip: how many iterations the strip has.
        strip_local: addresses whose numbers are read only within the strip that writes them.

    Returns:
        The steps of the strip: loop nests, and calls that could not be fused.
    """
    steps: list[KernelCall | LoopNest] = []
    done = 0
    while done < len(calls):
        nest = _longest_nest(calls[done:], strip)
        steps.append(nest or calls[done])
        done += len(nest.ops) if nest else 1
    for i, step in enumerate(steps):
        if isinstance(step, LoopNest):
            step.rematerialize(steps[:i], strip_local)
    accesses = [_accesses(step) for step in steps]
    for i, step in enumerate(steps):
        if isinstance(step, LoopNest):
            step.contract_arrays(accesses[:i], accesses[i + 1 :], strip_local)
    return steps


def _longest_nest(calls: Sequence[KernelCall], strip: int) -> LoopNest | None:
    """The nest with the most calls from the first one on; None where it would not be worth it."""
    best: LoopNest | None = None
    for outer in _outer_counts(calls[0], strip):
        nest = LoopNest(outer, strip)
        for call in calls:
            if not nest.try_fuse(call):
                break
        if best is None or len(nest.ops) > len(best.ops):
            best = nest
    if best is None or len(best.ops) < 2 or all(op.reduces for op in best.ops):
        return None
    return best


def _outer_counts(call: KernelCall, strip: int) -> list[int]:
    """The trip counts that the outer loop may have, going by the nest's first call."""
    counts = {n // strip if n % strip == 0 and n > strip else n for n in call.counts}
    return [*sorted((n for n in counts if n > 1 and n != strip), reverse=True), 1]
