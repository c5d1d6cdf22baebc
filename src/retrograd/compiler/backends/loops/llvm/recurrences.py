"""Divisions on the way from one iteration of a loop to the next, as products with reciprocals that do not wait for it.

``x = (r[i] - u[i] * x) / d[i]`` waits for a division in each iteration; with ``1 / d[i]``, which can be computed ahead,
it waits for a product. The last bit may differ. A quotient that is compared, or rounded, soon after stays one. Of the
smallest numbers the reciprocal is infinite: a forward pass that divides by one ends, and the nodes are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..passes.code import Block, Loop, Op, Ref, Value, steps_in

__all__ = ["divide_ahead", "waiting"]

#: So many operations after a quotient its last bit does not matter to what jumps.
_NEAR = 4
_JUMPS = ("fcmp", "call fmod", *(f"call llvm.{name}" for name in ("floor", "ceil", "trunc", "rint", "round")))

#: Divisors are larger.
_LEAST = 2.0**-1000


def divide_ahead(top: Block, is_forward: bool) -> None:
    """Rewrite the loops of a function, in place; a backward pass gives gradients that are not finite otherwise."""
    loops = [step for step in steps_in(top) if isinstance(step, Loop)]
    numbers = (max((ref.number for ref in _made_by(step)), default=0) for step in steps_in(top))
    unused = 1 + max(numbers, default=0)
    jumping = _before_jumps([step for step in steps_in(top) if isinstance(step, Op)])
    for loop in loops:
        before, quotients = waiting(loop), _awaited(loop) - jumping
        steps: list[Op | Loop] = []
        for step in loop.body.steps:
            if isinstance(step, Op) and step.name == "fdiv" and step.result in quotients:
                number, divisor = step.operands
                if number in before and isinstance(divisor, Ref) and divisor not in before:
                    ahead, size, is_small = Ref(unused), Ref(unused + 1), Ref(unused + 2, True)
                    unused += 3
                    steps.append(Op(ahead, "fdiv", (1.0, divisor), None, step.source))
                    if is_forward:
                        steps.append(Op(size, "fabs", (divisor,), None, step.source))
                        steps.append(Op(is_small, "fcmp olt", (size, _LEAST), None, step.source))
                        steps.append(Op(None, "flag", (is_small,), None, step.source))
                    step = replace(step, name="fmul", operands=(number, ahead))
            steps.append(step)
        loop.body.steps[:] = steps


def _made_by(step: Op | Loop) -> Iterator[Ref]:
    if isinstance(step, Op):
        made: Sequence[Ref | None] = [step.result]
    else:
        made = [ref for phi in step.phis for ref in (phi.result, phi.final)]
    yield from (ref for ref in made if ref is not None)


def _read_by(step: Op | Loop) -> Iterator[Value]:
    """What an operation reads, or a loop in all its iterations."""
    if isinstance(step, Op):
        yield from step.operands
        return
    for phi in step.phis:
        yield from (one for one in (phi.start, phi.following) if one is not None)
    for inner in step.body.steps:
        yield from _read_by(inner)


def waiting(loop: Loop) -> set[Value]:
    """What waits for the iteration before: all that depends on what a loop hands on."""
    found: set[Value] = {phi.result for phi in loop.phis}
    for step in loop.body.steps:
        if not found.isdisjoint(_read_by(step)):
            found.update(_made_by(step))
    return found


def _awaited(loop: Loop) -> set[Value]:
    """What the next iteration waits for."""
    found: set[Value] = {phi.following for phi in loop.phis if phi.following is not None and phi.start is not None}
    for step in reversed(loop.body.steps):
        if not found.isdisjoint(_made_by(step)):
            found.update(_read_by(step))
    return found


def _before_jumps(steps: Sequence[Op]) -> set[Value]:
    """What is compared or rounded after a few operations."""
    made = {step.result: step for step in steps if step.result is not None}
    found: set[Value] = set()
    reached: set[Value] = {one for step in steps if step.name.startswith(_JUMPS) for one in step.operands}
    for _ in range(_NEAR):
        found |= reached
        reached = {one for ref in reached if ref in made for one in made[ref].operands} - found
    return found
