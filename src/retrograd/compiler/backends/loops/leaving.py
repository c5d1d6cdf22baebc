"""Loops that data leave: they end with the iteration after which none changes anything, and go back from there.

Where the code of a function leaves a loop, its graph goes on for as many iterations as any call took: each of them
selects what there was before, once a condition is 0 that it hands on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Set

from .code import COMPARED, Address, Block, Loop, Op, Ref, Value, steps_in
from .graph import NODE
from .layout import Carry, Far, Layout, Taken
from .storage import Storage
from .structure import Body, Indices, Position

__all__ = ["left_early", "mark"]

#: Loops of fewer iterations are run to their end; so many tests may decide whether one goes on.
_LEAST, _MOST_TESTS = 4, 4


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
        outside = {body for body in read if not operand.frame.within(body)}
        if isinstance(operand, Carry) and outside:
            storage.keep_apart(operand)
        elif outside:
            found -= outside
    return found


def mark(bodies: set[Body], forward: Block, backward: Block, storage: Storage) -> None:
    """Let loops end early in both passes."""
    back = {loop.of: loop for loop in _loops(backward)}
    for loop in _loops(forward):
        goes_on = _goes_on(loop) if loop.of in bodies else ()
        again = back.get(loop.of)
        if not goes_on or (again is not None and not _begins_anywhere(again)):
            continue
        loop.goes_on = goes_on
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


def _begins_anywhere(loop: Loop) -> bool:
    """Whether nothing comes from after a backward loop that only its first iteration is to get."""
    return not any(phi.following == 0.0 and phi.start != 0.0 for phi in loop.phis)


def _goes_on(loop: Loop) -> tuple[Ref, ...]:
    """What a loop hands on that are 0 from where on each iteration leaves all that is handed on as it was.

    They are as few as can be; none where there is no such thing.
    """
    if any(phi.start is None or phi.following is None for phi in loop.phis):
        return ()
    handed_on = {phi.result: phi.following for phi in loop.phis if phi.following is not None}
    made = {step.result: step for step in loop.body.steps if isinstance(step, Op) and step.result is not None}
    zeros, fewer = set[Ref](), set(handed_on)
    while zeros != fewer:
        zeros = fewer
        fewer = {one for one in zeros if _is_zero(handed_on[one], made, zeros)}
    if not zeros or not _leaves(handed_on, made, zeros):
        return ()
    for one in handed_on:
        if one in zeros and _leaves(handed_on, made, zeros - {one}):
            zeros = zeros - {one}
    return tuple(one for one in handed_on if one in zeros)


def _leaves(handed_on: Mapping[Ref, Value], made: Mapping[Ref, Op], zeros: Set[Ref]) -> bool:
    """Whether an iteration that begins with some zeros ends with them, and leaves the rest as it was."""
    still = _Evaluation(made, dict.fromkeys(zeros, 0.0))
    return all(
        _is_zero(following, made, zeros) if one in zeros else still.of(following) == one
        for one, following in handed_on.items()
    )


def _is_zero(value: Value, made: Mapping[Ref, Op], zeros: Set[Ref]) -> bool:
    """Whether a value is 0 where others are, however the tests come out that it depends on."""
    tests = _Evaluation(made, dict.fromkeys(zeros, 0.0)).tests_in(value)
    cases = (dict(zip(tests, case, strict=True)) for case in itertools.product((0.0, 1.0), repeat=len(tests)))
    return all(_Evaluation(made, dict.fromkeys(zeros, 0.0) | case).of(value) == 0.0 for case in cases)


class _Evaluation:
    """What values of a loop's body are, where some of them are known."""

    def __init__(self, made: Mapping[Ref, Op], known: Mapping[Ref, float]) -> None:
        self._made = made
        self._known: dict[Value, Value | bool] = dict(known.items())

    def of(self, value: Value) -> Value | bool:
        """A number, or whether a comparison holds; the value itself, or another one, where that is not known."""
        if value not in self._known:
            op = self._made.get(value) if isinstance(value, Ref) else None
            self._known[value] = value if op is None else self._result(op, value)
        return self._known[value]

    def _result(self, op: Op, value: Value) -> Value | bool:
        match op.name.split():
            case ["fcmp", test]:
                a, b = map(self.of, op.operands)
                return COMPARED[test](a, b) if isinstance(a, float) and isinstance(b, float) else value
            case ["and" | "or" as name]:
                sides = [*map(self.of, op.operands)]
                decides = name == "or"
                if decides in sides:
                    return decides
                return not decides if all(isinstance(side, bool) for side in sides) else value
            case ["not"]:
                (side,) = map(self.of, op.operands)
                return (not side) if isinstance(side, bool) else value
            case ["select"]:
                condition, yes, no = op.operands
                decided = self.of(condition)
                if isinstance(decided, bool):
                    return self.of(yes if decided else no)
                both = self.of(yes), self.of(no)
                return both[0] if both[0] == both[1] else value
        return value

    def tests_in(self, value: Value) -> list[Ref]:
        """The tests that a value depends on, as numbers: 1 where they hold, else 0."""
        found: dict[Ref, None] = {}
        rest, seen = [value], set[Value]()
        while rest and len(found) <= _MOST_TESTS:
            one = rest.pop()
            op = self._made.get(one) if isinstance(one, Ref) else None
            if op is None or one in seen or not isinstance(self.of(one), Ref):
                continue
            seen.add(one)
            if op.name == "select" and op.operands[1:] == (1.0, 0.0):
                assert isinstance(one, Ref)
                found[one] = None
            elif op.name in ("select", "and", "or", "not") or op.name.startswith("fcmp"):
                rest += op.operands
        return [] if len(found) > _MOST_TESTS else [*found]
