"""Loops over memory: nests with some iterations unrolled, and loops in blocks (strip-mining)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .ir_builder import IRBuilder, Vector
from .kernel_calls import DOUBLE, Address, Loop

__all__ = ["blocked_loop", "loop_nest", "unroll_factor", "unrolled_loop"]

#: About how many vector operations a nest may be fully unrolled into, and how many the body of a loop may have.
_MAX_STRAIGHT_LINE, _MAX_BODY = 14, 6

Body = Callable[[list[Address]], None]


def unroll_factor(count: int, most: int) -> int:
    """How many of ``count`` iterations one body has: at most ``most``, if possible with no iterations left over."""
    if count <= most:
        return max(1, count)
    if most < 2:
        return 1
    return next((n for n in range(most, most // 2, -1) if count % n == 0), most)


def unrolled_loop(
    t: IRBuilder, count: int, steps: Sequence[int], operands: Sequence[Address], body: Body, unroll: int
) -> None:
    """Emit ``body`` for ``count`` iterations, ``unroll`` of them at a time.

    Args:
        t: where to.
        count: the trip count.
        steps: how far each operand moves in an iteration, in elements.
        operands: their addresses in the first iteration.
        body: emits one iteration, given the operands' addresses.
        unroll: iterations in the body of the loop, at most.
    """

    def iterations(first: Sequence[Address], times: int) -> None:
        for i in range(times):
            body([operand.plus(i * step) for operand, step in zip(first, steps, strict=True)])

    unroll = unroll_factor(count, unroll)
    rounds = count // unroll
    if rounds == 1:
        iterations(operands, count)
        return

    def one_round(offsets: list[str], _: list[Vector]) -> list[Vector]:
        moving = iter(offsets)
        moved = [
            Address(operand.constant, next(moving)) if step else operand
            for operand, step in zip(operands, steps, strict=True)
        ]
        iterations(moved, unroll)
        return []

    used = [
        (operand.offset or "0", step * unroll * DOUBLE) for operand, step in zip(operands, steps, strict=True) if step
    ]
    t.loop(rounds, [start for start, _ in used], [step for _, step in used], [], one_round)
    done = rounds * unroll
    iterations([operand.plus(done * step) for operand, step in zip(operands, steps, strict=True)], count - done)


def loop_nest(t: IRBuilder, loops: Sequence[Loop], operands: Sequence[Address], body: Body, cost: int) -> None:
    """Emit ``body`` for each iteration of ``loops``, outermost first; short loops are unrolled.

    Args:
        t: where to.
        loops: the loops, with a stride for each operand; the last one stands for all operands beyond.
        operands: their addresses in the first iteration.
        body: emits one iteration, given the operands' addresses.
        cost: about how many vector operations the body has.
    """
    if not loops:
        body(list(operands))
        return
    first, *rest = loops
    inner = max(1, cost)
    for loop in rest:
        inner *= loop.count
    strides = first.strides[: len(operands)] + (first.strides[-1],) * (len(operands) - len(first.strides))
    unroll = first.count if first.count * inner <= _MAX_STRAIGHT_LINE else _MAX_BODY // inner
    unrolled_loop(t, first.count, strides, operands, lambda moved: loop_nest(t, rest, moved, body, cost), unroll)


def blocked_loop(
    t: IRBuilder,
    count: int,
    size: int,
    steps: Sequence[int],
    operands: Sequence[Address],
    body: Callable[[list[Address], int], None],
    unroll: int = 1,
) -> None:
    """Emit ``body(operands, size)`` for whole blocks of iterations, then ``body(operands, rest)`` for what is left.

    Args:
        t: where to.
        count: iterations in all.
        size: iterations of a block.
        steps: how far each operand moves in an iteration, in elements.
        operands: their addresses in the first iteration.
        body: emits one block, given the operands' addresses and the number of iterations.
        unroll: blocks in the body of the loop, at most.
    """
    whole, rest = divmod(count, size)
    if whole:
        unrolled_loop(t, whole, [step * size for step in steps], operands, lambda moved: body(moved, size), unroll)
    if rest:
        body([operand.plus(whole * size * step) for operand, step in zip(operands, steps, strict=True)], rest)
