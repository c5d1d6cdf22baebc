"""Loops that data leave: they end with the iteration after which none changes anything, and go back from there.

Where the code of a function leaves a loop, its graph goes on for as many iterations as any call took: each of them
selects what there was before, once a condition is 0 that it hands on. Iterations are left out only if they do nothing
else either: what they compute is read by none that runs, they cannot raise, and they hand back the gradients they get.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Set

import numpy as np

from ..graphs.graph import NODE
from ..layouts.layout import Layout
from ..layouts.operands import Carry, Far, Taken
from ..shapes.structure import Body, Indices, Position
from .backward import Backward
from .code import Address, Block, Loop, Op, Ref, Value, steps_in
from .evaluation import Evaluation
from .storage import Storage

__all__ = ["left_early", "mark"]

#: Loops of fewer iterations are run to their end.
_LEAST = 4


def left_early(forward: Block, layout: Layout, storage: Storage) -> set[Body]:
    """The loops of a forward pass that may end early, as far as its code shows; the storage is told what to keep.

    What such a loop computes is read inside of it alone, and else what it hands on.
    """
    found = {loop.of for loop in _loops(forward) if max(loop.of.counts) >= _LEAST and _goes_on(loop)}
    roots = {layout.place(index)[0].body for kind, index in layout.graph.roots if kind == NODE}
    lasts = {root.position.body for root in storage.last_roots.values()}
    found = {body for body in found if not any(one.within(body) for one in roots - lasts)}
    for operand in layout.first_use:
        if not found or not isinstance(operand, Far | Carry):
            continue
        read = {body for body in found if any(each.body.within(body) for each in layout.targets(operand))}
        outside = {body for body in read if not _reads_its_own(operand, body, layout)}
        if isinstance(operand, Carry) and outside:
            storage.keep_apart(operand)
        elif outside:
            found -= outside
    return found


def _reads_its_own(operand: Far | Carry, body: Body, layout: Layout) -> bool:
    """Whether an operand is in a loop, and of what that computes reads only what the same instance of it does."""
    if not operand.frame.within(body):
        return False
    numbers, ordinals = layout.places(operand.nodes)
    mine = _instances(operand.frame, body)
    for position in layout.targets(operand):
        if position.body.within(body):
            there = numbers == position.number
            if np.any(_instances(position.body, body)[ordinals[there]] != mine[there]):
                return False
    return True


def _instances(inner: Body, body: Body) -> Indices:
    """For each iteration of a body in a loop, or of the loop itself, in which instance of the loop it is."""
    return np.searchsorted(body.firsts, inner.ordinals_of(body), side="right") - 1


def mark(bodies: set[Body], draft: Block, forward: Block, backward: Backward, storage: Storage) -> None:
    """Let loops end early in both passes.

    Args:
        bodies: those that may.
        draft: the forward pass that the backward pass was written for.
        forward: the one that is kept.
        backward: the backward pass.
        storage: is told what to keep.
    """
    drafts, back = ({loop.of: loop for loop in _loops(block)} for block in (draft, backward.t.top))
    for loop in _loops(forward):
        goes_on = _goes_on(loop) if loop.of in bodies else ()
        again = back.get(loop.of)
        if not goes_on or (again is not None and not _hands_back(again, drafts[loop.of], backward.recalled_by)):
            continue
        loop.goes_on = goes_on
        loop.once_more = not _never_raises(loop, goes_on)
        if again is not None:
            assert loop.of.parent is not None
            taken = Taken(loop.of.parent, _first_node(loop.of))
            storage.keep_own(taken)
            loop.taken = again.taken = Address("W", storage.own_place(taken))


def _first_node(body: Body) -> Indices:
    first = body.items[0]
    return first.nodes[:1] if isinstance(first, Position) else _first_node(first)


def _loops(block: Block) -> Iterator[Loop]:
    return (step for step in steps_in(block) if isinstance(step, Loop))


def _made_in(loop: Loop) -> dict[Ref, Op]:
    """What makes each value in a loop, and in the loops in it."""
    return {step.result: step for step in steps_in(loop.body) if isinstance(step, Op) and step.result is not None}


# --- the forward pass -----------------------------------------------------------------------------------------------


def _goes_on(loop: Loop) -> tuple[Ref, ...]:
    """What a loop hands on that are 0 from where on each iteration leaves all that is handed on as it was.

    They are as few as can be; none where there is no such thing, or where iterations may raise even so.
    """
    if any(phi.start is None or phi.following is None for phi in loop.phis) or _puts(loop):
        return ()
    handed_on = {phi.result: phi.following for phi in loop.phis if phi.following is not None}
    made = _made_in(loop)
    zeros, fewer = set[Ref](), set(handed_on)
    while zeros != fewer:
        zeros = fewer
        fewer = {one for one in zeros if _is_zero(handed_on[one], made, zeros)}
    if not zeros or not _leaves(handed_on, made, zeros):
        return ()
    for one in handed_on:
        if one in zeros and _leaves(handed_on, made, zeros - {one}):
            zeros = zeros - {one}
    still = Evaluation(made, dict.fromkeys(zeros, 0.0))
    inner = {one for each in _loops(loop.body) for phi in each.phis for one in (phi.result, phi.final)}
    raises = [still.of(condition) for condition in _flags(loop)]
    if any(one is not False and not still.is_steady(one, handed_on, inner) for one in raises):
        return ()
    return tuple(one for one in handed_on if one in zeros)


def _puts(loop: Loop) -> bool:
    """Whether a loop writes to lists."""
    return any(isinstance(step, Op) and step.name.startswith("put ") for step in steps_in(loop.body))


def _flags(loop: Loop) -> Iterator[Value]:
    return (step.operands[0] for step in steps_in(loop.body) if isinstance(step, Op) and step.name == "flag")


def _never_raises(loop: Loop, zeros: tuple[Ref, ...]) -> bool:
    """Whether no iteration that is left out could end the function; if not, what it looks at is the same in each."""
    still = Evaluation(_made_in(loop), dict.fromkeys(zeros, 0.0))
    return all(still.of(condition) is False for condition in _flags(loop))


def _leaves(handed_on: Mapping[Ref, Value], made: Mapping[Ref, Op], zeros: Set[Ref]) -> bool:
    """Whether an iteration that begins with some zeros ends with them, and leaves the rest as it was."""
    still = Evaluation(made, dict.fromkeys(zeros, 0.0))
    return all(
        _is_zero(following, made, zeros) if one in zeros else still.of(following) == one
        for one, following in handed_on.items()
    )


def _is_zero(value: Value, made: Mapping[Ref, Op], zeros: Set[Ref]) -> bool:
    """Whether a value is 0 where others are, however the tests come out that it depends on."""
    tests = Evaluation(made, dict.fromkeys(zeros, 0.0)).tests_in(value)
    cases = (dict(zip(tests, case, strict=True)) for case in itertools.product((0.0, 1.0), repeat=len(tests)))
    return all(Evaluation(made, dict.fromkeys(zeros, 0.0) | case).of(value) == 0.0 for case in cases)


# --- the backward pass ----------------------------------------------------------------------------------------------


def _hands_back(loop: Loop, forward: Loop, recalled_by: Callable[[Ref], Ref | None]) -> bool:
    """Whether an iteration that would be left out hands the gradients back as it gets them, and adds none.

    Args:
        loop: the loop of the backward pass.
        forward: that of the forward pass it goes back through.
        recalled_by: the value of the forward pass that a value of this pass is again.
    """
    still = Evaluation(_made_in(forward), dict.fromkeys(_goes_on(forward), 0.0))
    known: dict[Ref, Value | bool] = {}
    made = _made_in(loop)
    for result, op in made.items():
        if op.name == "load" and op.at is not None and op.at.array == "B":
            known[result] = 0.0  # none that reads what a left iteration computes has a gradient
        elif (value := recalled_by(result)) is not None:
            number = still.of(value)
            if isinstance(number, float):
                known[result] = number
    back = Evaluation(made, known, ignores_infinities=True)
    if not _adds_nothing(loop.body, back):
        return False
    for phi in loop.phis:
        if phi.start is None or phi.following is None:
            return False
        following = back.of(phi.following)
        if following != phi.result and not (following == 0.0 and phi.start == 0.0):
            return False
    return True


def _adds_nothing(block: Block, back: Evaluation) -> bool:
    """Whether code adds zeros to gradients in memory, if it adds to any."""
    for step in block.steps:
        if isinstance(step, Loop):
            for phi in step.phis:
                if phi.start is not None:
                    back.assume(phi.result, back.of(phi.start))
            if not _adds_nothing(step.body, back):
                return False
            for phi in step.phis:
                if phi.start is None or phi.following is None or back.of(phi.following) != back.of(phi.start):
                    return False
                if phi.final is not None:
                    back.assume(phi.final, back.of(phi.start))
        elif step.name.startswith(("add to", "scatter ")):
            if back.of(step.operands[-1]) != 0.0:
                return False
        elif step.name in ("store", "flag") or step.name.startswith("put "):
            return False
    return True
