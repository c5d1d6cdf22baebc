"""The dependence test of loop fusion: may several calls share their loops?

Fusion runs all calls' parts of one iteration before the next iteration. It keeps the results if no iteration reads or
writes what another one writes (no loop-carried dependences); within an iteration the calls keep their order. See
Kennedy & McKinley, "Maximizing loop parallelism and improving data locality via loop fusion and distribution" (1993).
The addresses are known, so the test compares all of them and is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..kernel_calls import DOUBLE
from .fused_op import Addresses, FusedOp

__all__ = ["fusion_is_legal"]

#: How an operand moves: outer step, inner step, and the SSA offset that it has outside of the loops.
_Motion = tuple[int, int, str | None]


@dataclass(frozen=True, slots=True)
class _Reference:
    """An operand of one op: the segments of memory that it accesses, each the numbers of one run of the inner loop."""

    op: int
    pointer: int
    reduces: bool
    length: int  #: of a segment, in bytes
    motion: _Motion
    starts: Addresses
    iterations: Addresses  #: the outer iteration that accesses each segment

    @staticmethod
    def all(ops: Sequence[FusedOp], outer: int, strip: int) -> list[_Reference]:
        found = []
        for number, op in enumerate(ops):
            for p in op.used():
                starts = op.starts(p, outer)
                iterations = np.repeat(np.arange(outer, dtype=np.int64), starts.shape[1])
                length = strip * DOUBLE if op.inner_steps[p] else DOUBLE
                motion = (op.outer_steps[p], op.inner_steps[p], op.call.offsets[p])
                found.append(_Reference(number, p, op.reduces, length, motion, starts.reshape(-1), iterations))
        return found

    @property
    def writes(self) -> bool:
        return self.pointer == 0

    @property
    def span(self) -> tuple[int, int]:
        return int(np.min(self.starts)), int(np.max(self.starts)) + self.length


@dataclass(frozen=True, slots=True)
class _WrittenSegments:
    """All segments that the ops in the inner loop write, by address."""

    length: int
    starts: Addresses
    iterations: Addresses
    motions: Addresses
    last: Addresses  #: the last op that writes each

    @staticmethod
    def of(writes: Sequence[_Reference], motions: dict[_Motion, int], length: int) -> _WrittenSegments | None:
        """None where segments overlap, or two iterations or differently moving operands write one."""
        starts = np.concatenate([w.starts for w in writes])
        iterations = np.concatenate([w.iterations for w in writes])
        motion = np.concatenate([np.full(len(w.starts), motions[w.motion]) for w in writes])
        last = np.concatenate([np.full(len(w.starts), w.op) for w in writes])
        order = np.lexsort((last, starts))
        starts, iterations, motion, last = starts[order], iterations[order], motion[order], last[order]
        first = np.flatnonzero(np.diff(starts, prepend=starts[0] - 1))
        segment = np.searchsorted(starts[first], starts)  # of each write, the number of its segment
        overlap = (np.diff(starts[first]) < length).any()
        if overlap or (iterations != iterations[first][segment]).any() or (motion != motion[first][segment]).any():
            return None
        ends = np.append(first[1:], len(starts)) - 1
        return _WrittenSegments(length, starts[first], iterations[first], motion[first], last[ends])

    def allow(self, reference: _Reference, motions: dict[_Motion, int]) -> bool:
        """Whether a reference meets only segments that its own iteration writes, and meets them whole."""
        segment = np.searchsorted(self.starts, reference.starts + reference.length) - 1
        met = (segment >= 0) & (self.starts[segment] + self.length > reference.starts)
        if not met.any():
            return True
        segment = segment[met]
        if reference.reduces and reference.writes:
            return False
        if (self.starts[segment] != reference.starts[met]).any():
            return False
        if (self.iterations[segment] != reference.iterations[met]).any():
            return False
        if reference.reduces:  # it runs after the inner loop: no op after it may have overwritten what it reads
            return not (self.last[segment] > reference.op).any()
        return reference.length == self.length and not (self.motions[segment] != motions[reference.motion]).any()


def fusion_is_legal(ops: Sequence[FusedOp], outer: int, strip: int) -> bool:
    """Whether the ops may share their loops.

    It is legal if no iteration accesses what another one writes, and each op addresses it in the same way, so that the
    IR builder sees equal addresses. Reductions run after the inner loop and may read what it wrote; no op may read what
    reductions write.
    """
    references = _Reference.all(ops, outer, strip)
    writes = [reference for reference in references if reference.writes and not reference.reduces]
    if not writes:
        return not any(op.reduces for op in ops)
    motions = {motion: i for i, motion in enumerate({reference.motion for reference in references})}
    written = _WrittenSegments.of(writes, motions, strip * DOUBLE)
    if written is None or not all(written.allow(reference, motions) for reference in references):
        return False
    return _reductions_are_apart(references)


def _reductions_are_apart(references: Sequence[_Reference]) -> bool:
    """Whether only reductions access what reductions write."""
    spans = [(reference, *reference.span) for reference in references]
    for target, low, high in spans:
        if not (target.reduces and target.writes):
            continue
        for other, begin, end in spans:
            if begin < high and low < end and not (other.reduces and other.writes):
                return False
    return True
