"""What iterations hand on that they do not get from earlier ones: the neighbour's number in a loop over a row.

Iterations that run side by side find it in the lane beside their own, if it is computed before it is used: the steps
of an iteration are put in such an order. (Compilers call it a first-order recurrence.)
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence

from ..passes.code import Block, Loop, Op, Phi, Ref
from ..passes.storage import Places
from .dependences import pairs_that_meet

__all__ = ["with_shifts"]

#: So many elements are compared.
_MOST = 4_000_000


def with_shifts(loop: Loop, phis: Sequence[Phi], places: Places) -> Block | None:
    """The body of a loop with a "shift" of each of ``phis``: of what follows, from each lane to the next.

    None if an iteration needs what came before to compute what follows, or has inner loops.
    """
    steps: list[Op] = []
    for step in loop.body.steps:
        if isinstance(step, Loop):
            return None
        steps.append(step)
    for phi in phis:
        assert isinstance(phi.following, Ref)
        steps.append(Op(phi.result, "shift", (phi.following,)))
    accesses = sum(1 for step in steps if step.at is not None)
    if accesses * accesses * loop.of.times > _MOST:
        return None
    ordered = _in_order(steps, loop, places)
    return None if ordered is None else Block(list(ordered))


def _in_order(steps: Sequence[Op], loop: Loop, places: Places) -> list[Op] | None:
    """Steps after what they use, and else as they were; None if two use each other."""
    made = {step.result: number for number, step in enumerate(steps) if step.result is not None}
    needs = [{made[v] for v in step.operands if isinstance(v, Ref) and v in made} for step in steps]
    accesses = [(number, step.at, step.name != "load") for number, step in enumerate(steps) if step.at is not None]
    for earlier, later in pairs_that_meet([(at, stored) for _, at, stored in accesses], loop.of, places):
        needs[accesses[later][0]].add(accesses[earlier][0])
    users: dict[int, list[int]] = defaultdict(list)
    for number, sources in enumerate(needs):
        for source in sources:
            users[source].append(number)
    missing = [len(sources) for sources in needs]
    ready = [number for number, count in enumerate(missing) if count == 0]
    ordered: list[Op] = []
    while ready:
        number = heapq.heappop(ready)
        ordered.append(steps[number])
        for user in users[number]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    return ordered if len(ordered) == len(steps) else None
