"""Loops whose iterations run side by side, one in each element of vectors.

LLVM's vectorizer takes the short innermost loops (``dependences.is_parallel``). This module finds others: loops over
paths, subjects or sequences, in which a loop over time goes on from step to step; and those with long bodies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .code import Address, Block, Loop, Op, Phi, Ref, Value, steps_in
from .dependences import are_independent, is_parallel
from .storage import Places
from .structure import Body, bodies_of, inner_bodies

__all__ = ["Sums", "find_lanes", "stays", "sums_in_memory", "values_outside"]

#: Of the lanes that all iterations need, so many have work at least.
_LEAST_USED = 0.4

#: With fewer operations in an iteration, those of inner loops counted as often as they run, it is not worth while; a
#: call of a function is as many operations.
_LEAST_OPERATIONS, _CALL = 100, 20

#: LLVM runs the iterations of inner loops side by side where there are so many times as many as lanes, and no fewer.
_LONG = 4

#: Sums in memory are where so much of a stretch of it is some. To begin and end one is as many operations as this;
#: those of a loop are so much of what its lanes compute at most.
_DENSE, _SUM, _MOST_SUMS = 0.25, 12, 0.2


def find_lanes(top: Body, blocks: Sequence[Block], places: Places, lanes: int, functions: Container[str]) -> list[Body]:
    """The loops that run in lanes: the outermost that can.

    Args:
        top: the bodies of the program.
        blocks: the code of the passes.
        places: what the addresses in it are.
        lanes: how many numbers a vector has.
        functions: those of vectors, by name.
    """
    loops: dict[Body, list[Loop]] = defaultdict(list)
    for block in blocks:
        for step in steps_in(block):
            if isinstance(step, Loop):
                loops[step.of].append(step)
    found: list[Body] = []
    waiting = inner_bodies(top)
    while waiting:
        body = waiting.pop()
        if _fits(body, lanes) and _suits(loops[body], places, lanes, functions):
            found.append(body)
        else:
            waiting += inner_bodies(body)
    return found


def _fits(body: Body, lanes: int) -> bool:
    """Whether enough lanes have work, always as many, and all of them as much."""
    if body.optional or np.any(body.counts != body.counts[0]):
        return False
    used = body.counts[0] / (-(-body.counts[0] // lanes) * lanes)
    if used < _LEAST_USED:
        return False
    inner = (each.counts.reshape(body.times, -1) for each in bodies_of(body) if each is not body)
    return all(bool(np.all(counts == counts[0])) for counts in inner)


def _suits(loops: Sequence[Loop], places: Places, lanes: int, functions: Container[str]) -> bool:
    """Whether the loops of a body, forward and backward, can run in lanes, and LLVM would not run them so."""
    if all(_left_to_llvm(loop, places, lanes, functions) for loop in loops):
        return False
    operations = sum(map(_operations, loops))
    if operations < _LEAST_OPERATIONS:
        return False
    for loop in loops:
        sums = sums_in_memory(loop, places)
        if sums is None or _SUM * len(sums) > _MOST_SUMS * operations * int(loop.of.counts[0]) / lanes:
            return False
        if not _hands_on_sums(loop) or not are_independent(loop, places, sums.addresses):
            return False
    return True


def _operations(loop: Loop) -> int:
    """How many operations an iteration of a loop is."""
    count = 0
    for step in loop.body.steps:
        if isinstance(step, Loop):
            count += int(step.of.counts[0]) * _operations(step)
        else:
            count += _CALL if step.name.startswith("call ") else 1
    return count


def _left_to_llvm(loop: Loop, places: Places, lanes: int, functions: Container[str]) -> bool:
    """Whether LLVM's vectorizer takes a loop, or all loops in it, if they are long."""
    inner = [step for step in loop.body.steps if isinstance(step, Loop)]
    if not inner:
        return _hands_on_sums(loop) and is_parallel(loop, places, functions)
    return all(
        each.of.times >= _LONG * lanes * len(each.of.counts) and _left_to_llvm(each, places, lanes, functions)
        for each in inner
    )


# --- sums in memory -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sums:
    """What all iterations of a loop add to the same elements, and do nothing else with: each lane has its own sum.

    Attributes:
        stretches: the array, the first element and how many, of each.
        addresses: those that are added to, and in which stretch each is.
    """

    stretches: list[tuple[str, int, int]]
    addresses: dict[Address, int]

    def __len__(self) -> int:
        return sum(count for _, _, count in self.stretches)

    def place(self, at: Address) -> int:
        """Where the sum of the element 0 of an address's array would be, among all sums."""
        which = self.addresses[at]
        return sum(count for _, _, count in self.stretches[:which]) - self.stretches[which][1]


def sums_in_memory(loop: Loop, places: Places) -> Sums | None:
    """The sums in memory of a loop that may run in lanes; None if they are too far apart, or are used otherwise."""
    others: dict[str, list[Address]] = defaultdict(list)
    added: dict[str, list[Address]] = defaultdict(list)
    for step in steps_in(loop.body):
        if isinstance(step, Op) and (at := step.at) is not None and at.array in ("G", "B"):
            same = step.name == "add to" and at.of.frame.within(loop.of) and places.step_of(at, loop.of) == 0
            (added if same else others)[at.array].append(at)
    sums = Sums([], {})
    for array, addresses in added.items():
        elements = np.unique(np.concatenate([places.numbers(at) for at in addresses]))
        first, count = int(elements[0]), int(elements[-1] - elements[0]) + 1
        if len(elements) < _DENSE * count:
            return None
        if any(np.any(np.isin(places.numbers(at), elements)) for at in others[array]):
            return None
        sums.addresses.update(dict.fromkeys(addresses, len(sums.stretches)))
        sums.stretches.append((array, first, count))
    return sums


# --- sums -----------------------------------------------------------------------------------------------------


def _hands_on_sums(loop: Loop) -> bool:
    """Whether one iteration hands nothing to the next but what stays as it is, constants, or sums that may be added up
    in another order."""
    users: dict[int, list[Op | Phi]] = defaultdict(list)
    for user, value in _uses(loop):
        users[value.number].append(user)
    carried = [phi for phi in loop.phis if phi.start is not None]
    return all(isinstance(phi.following, float) or stays(phi, loop) or _is_sum(phi, users) for phi in carried)


def stays(phi: Phi, loop: Loop) -> bool:
    """Whether a loop hands a value on as it is."""
    inner = [(each, step) for step in loop.body.steps if isinstance(step, Loop) for each in step.phis]
    value: Value | None = phi.following
    while value != phi.result:
        made = next((each for each, step in inner if each.final == value and stays(each, step)), None)
        if made is None:
            return False
        value = made.start
    return True


def _is_sum(phi: Phi, users: dict[int, list[Op | Phi]]) -> bool:
    """Whether all that happens to a value that a loop hands on is that numbers are added."""
    value: Ref = phi.result
    while value != phi.following:
        if len(users[value.number]) != 1:
            return False
        user = users[value.number][0]
        if isinstance(user, Op):
            added = user.name == "fadd reassoc" or (user.name == "fsub reassoc" and user.operands[0] == value)
            if not added or user.result is None:
                return False
            value = user.result
        elif user.start == value and user.final is not None and _is_sum(user, users):
            value = user.final
        else:
            return False
    return len(users[value.number]) == 1


def _uses(loop: Loop) -> Iterator[tuple[Op | Phi, Ref]]:
    """What uses which values in a loop; a loop's phi uses what follows it, and that of an inner loop its start."""
    for phi in loop.phis:
        if isinstance(phi.following, Ref):
            yield phi, phi.following
    for step in loop.body.steps:
        if isinstance(step, Op):
            yield from ((step, value) for value in step.operands if isinstance(value, Ref))
            continue
        for phi in step.phis:
            if isinstance(phi.start, Ref):
                yield phi, phi.start
        yield from _uses(step)


def values_outside(loop: Loop) -> list[Ref]:
    """The values from outside a loop that it uses."""
    made = set(_made(loop))
    return list(dict.fromkeys(value for _, value in _uses(loop) if value.number not in made))


def _made(loop: Loop) -> Iterator[int]:
    for phi in loop.phis:
        yield phi.result.number
    for step in loop.body.steps:
        if isinstance(step, Loop):
            yield from (phi.final.number for phi in step.phis if phi.final is not None)
            yield from _made(step)
        elif step.result is not None:
            yield step.result.number
