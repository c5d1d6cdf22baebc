"""Sums over the innermost loop, of numbers or of any term that a kernel computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir_builder import IRBuilder, Vector
from ..kernel_calls import DOUBLE, Address, KernelCall, Loop
from ..loops import blocked_loop, loop_nest
from ..vectors import hreduce, hreduce_each, load_strided, padded, padded_lanes, store_strided

__all__ = ["sum_innermost", "sum_lanes", "sum_terms"]

#: Vectors of one sum beyond which it is a loop, and numbers beyond which one across lanes is.
_MAX_VECTORS, _MAX_NUMBERS = 8, 32

#: The operand that a term is computed of: addresses, and how many numbers.
Term = Callable[[list[Address], int], Vector]


def sum_terms(t: IRBuilder, call: KernelCall, pointers: Sequence[int], term: Term, k: float = 1.0) -> bool:
    """Sum ``term`` over the innermost loop of ``call`` into d, times k; ``pointers`` are those that the term reads.

    Each result is accumulated in a vector of partial sums. Horizontal sums then finish as many results at once as a
    vector has lanes.
    """
    _InnermostSum(t, call, pointers, term, k).emit()
    return True


class _InnermostSum:
    """A sum over the innermost loop. Operand 0 is d; the others are those that the term reads."""

    def __init__(self, t: IRBuilder, call: KernelCall, pointers: Sequence[int], term: Term, k: float) -> None:
        self.t, self.call, self.term, self.k = t, call, term, k
        self.whole, self.rest = divmod(call.counts[4], t.width)  # vectors of one sum, and numbers after them
        self.strides = [call.strides[0], *(call.operand_strides(p) for p in pointers)]
        self.operands = [call.address(0), *(call.address(p) for p in pointers)]
        self.steps = [strides[4] for strides in self.strides[1:]]

    def emit(self) -> None:
        """Lay out the outer loops: results along the longest one are finished together, if they are different ones."""
        t, call = self.t, self.call
        loops = [Loop(call.counts[i], tuple(s[i] for s in self.strides)) for i in range(4) if call.counts[i] > 1]
        still = [0] * len(self.operands)
        if not loops:
            self._results(self.operands, 1, still)
            return
        loops.sort(key=lambda loop: loop.count)
        longest = loops.pop()
        step = longest.strides
        if step[0] == 0:  # all iterations of the longest loop have one result
            loop_nest(t, [*loops, longest], self.operands, lambda moved: self._results(moved, 1, still), 4)
            return
        cost = t.width * (self.whole + bool(self.rest))
        blocks, left = divmod(longest.count, t.width)
        if blocks:
            block_loop = Loop(blocks, tuple(s * t.width for s in step))
            nest = [*loops, block_loop]
            loop_nest(t, nest, self.operands, lambda moved: self._results(moved, t.width, step), cost)
        if left:
            after = [at.plus(blocks * t.width * s) for at, s in zip(self.operands, step, strict=True)]
            loop_nest(t, loops, after, lambda moved: self._results(moved, left, step), cost)

    def _results(self, operands: list[Address], count: int, step: Sequence[int]) -> None:
        """``count`` results, each ``step`` elements after the one before, at most as many as a vector has lanes."""
        t = self.t
        partials = [
            self._partial([at.plus(i * s) for at, s in zip(operands[1:], step[1:], strict=True)]) for i in range(count)
        ]
        if count == 1:
            value = hreduce(partials[0])
        else:
            if partials[0].width < t.width:  # hreduce_each needs as many lanes as there are results
                partials = [padded_lanes(partial) for partial in partials]
            value = hreduce_each(partials)
        value = value if self.k == 1.0 else value * self.k
        store_strided(t, operands[0], step[0], value, count, self.call.accumulate)

    def _partial(self, operands: Sequence[Address]) -> Vector:
        """The partial sums of one result: lane i has every term whose number is i modulo the width."""
        if self.whole > _MAX_VECTORS:
            result: Vector | None = self._partial_loop(operands)
        else:
            result = None
            for i in range(self.whole):
                one = self.term(self._moved(operands, i), self.t.width)
                result = one if result is None else result + one
        if self.rest:
            result = self._with_rest(result, operands)
        assert result is not None
        return result

    def _partial_loop(self, operands: Sequence[Address]) -> Vector:
        """The same of all whole vectors, in a loop."""
        t = self.t

        def body(offsets: list[str], carried: list[Vector]) -> list[Vector]:
            here = [Address(at.constant, offset) for at, offset in zip(operands, offsets, strict=True)]
            return [carried[0] + self.term(here, t.width)]

        starts = [at.offset or "0" for at in operands]
        first = t.constant_vector(0.0, t.width)
        return t.loop(self.whole, starts, [step * t.width * DOUBLE for step in self.steps], [first], body)[0]

    def _with_rest(self, result: Vector | None, operands: Sequence[Address]) -> Vector:
        """Add the numbers after the last whole vector, with zeros in unused lanes."""
        one = self.term(self._moved(operands, self.whole), self.rest)
        if one.width == self.t.width:
            one = padded(one, self.rest)
        elif result is not None:
            one = padded_lanes(one)
        return one if result is None else result + one

    def _moved(self, operands: Sequence[Address], vectors: int) -> list[Address]:
        return [at.plus(vectors * self.t.width * step) for at, step in zip(operands, self.steps, strict=True)]


def sum_innermost(t: IRBuilder, call: KernelCall) -> bool:
    """SUM, and ADD into one number."""
    stride = call.strides[1][4]
    return sum_terms(t, call, (1,), lambda at, count: load_strided(t, at[0], stride, count), call.k)


def sum_lanes(t: IRBuilder, call: KernelCall) -> bool:
    """Sum a over the innermost loop, times k, for neighbours in the loop around it: each lane is one result."""
    step = call.strides[1][4]

    def results(operands: list[Address], count: int) -> None:
        d, a = operands
        first = t.load(a, count)

        def body(offsets: list[str], carried: list[Vector]) -> list[Vector]:
            return [carried[0] + t.load(Address(a.constant, offsets[0]).plus(step), count)]

        result = first
        if call.counts[4] > _MAX_NUMBERS:
            result = t.loop(call.counts[4] - 1, [a.offset or "0"], [step * DOUBLE], [first], body)[0]
        else:
            for k in range(1, call.counts[4]):
                result = result + t.load(a.plus(k * step), count)
        result = result if call.k == 1.0 else result * call.k
        store_strided(t, d, 1, result, count, call.accumulate)

    steps = tuple(call.strides[w][3] for w in range(2))
    loop_nest(
        t,
        call.outer_loops(2),
        [call.address(p) for p in range(2)],
        lambda operands: blocked_loop(t, call.counts[3], t.width, steps, operands, results),
        4 * call.counts[4],
    )
    return True
