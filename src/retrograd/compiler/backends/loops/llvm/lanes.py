"""Loops whose iterations run side by side, one in each element of vectors.

LLVM's vectorizer takes short innermost loops (``dependences.is_parallel``). This module finds others: loops over paths,
subjects or sequences, in which a loop over time goes on from step to step; those over the cells of a grid; and those
with long bodies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..passes.code import Address, Block, Loop, Op, Phi, Ref, Value, steps_in
from ..passes.storage import Places
from ..shapes.structure import Body, bodies_of, inner_bodies
from .dependences import are_independent, is_parallel
from .shifts import with_shifts

__all__ = ["REGISTERS", "Sums", "find_lanes", "shifted", "stays", "sums_in_memory", "sums_of_lanes", "values_outside"]

#: Of the lanes that all iterations need, so many have work at least.
_LEAST_USED = 0.4

#: About how many instructions it takes to call a function, to go on to the next iteration, to enter and leave a loop in
#: lanes, to begin and end the sum of lanes, and to access memory for one of them where theirs is not side by side.
_CALL, _ROUND, _ENTER, _SUM, _GATHER = 20.0, 2.0, 60.0, 12.0, 1.5

#: Loops run in lanes where that takes less than so much of the time; of that which LLVM's vectors take.
_LESS, _LESS_THAN_LLVM = 0.5, 0.9

#: Sums in memory are where so much of a stretch of it is some. Of sums this near to each other it is one stretch.
_DENSE, _NEAR = 0.25, 16

#: So many vectors at most are in registers through a loop; more of them are in memory.
REGISTERS = 16


def find_lanes(top: Body, blocks: Sequence[Block], places: Places, lanes: int, functions: Container[str]) -> list[Body]:
    """The loops that run in lanes: of loops in loops, those with which all of it takes the least time.

    Args:
        top: the bodies of the program.
        blocks: the code of the passes.
        places: what the addresses in it are.
        lanes: how many numbers a vector has.
        functions: those of vectors, by name.
    """
    chooser = _Chooser(blocks, places, lanes, functions)
    return [body for inner in inner_bodies(top) for body in chooser.best(inner).in_lanes]


@dataclass(frozen=True, slots=True)
class _Choice:
    """About how many instructions an instance of a loop takes, forward and backward, with some loops in lanes."""

    time: float
    in_lanes: tuple[Body, ...] = ()


class _Chooser:
    def __init__(self, blocks: Sequence[Block], places: Places, lanes: int, functions: Container[str]) -> None:
        self._places, self._lanes, self._functions = places, lanes, functions
        self._loops: dict[Body, list[Loop]] = defaultdict(list)
        for block in blocks:
            for step in steps_in(block):
                if isinstance(step, Loop):
                    self._loops[step.of].append(step)

    def best(self, body: Body) -> _Choice:
        """How the loops of a body run: in lanes, one iteration after the other, or as LLVM makes them."""
        loops, count = self._loops[body], float(np.mean(body.counts))
        inner = [self.best(each) for each in inner_bodies(body)]
        own = sum(_time(step) for loop in loops for step in loop.body.steps if isinstance(step, Op))
        time = count * (own + sum(each.time for each in inner) + _ROUND * len(loops))
        in_turn = _Choice(time, tuple(chain.from_iterable(each.in_lanes for each in inner)))
        by_llvm = all(_left_to_llvm(loop, self._places, self._functions) for loop in loops)
        if by_llvm:
            rounds = count // (2 * self._lanes) * 2 + count % (2 * self._lanes)
            ends = sum(_ENTER + _SUM * len(_summed(loop)) for loop in loops)
            in_turn = _Choice(time / count * rounds + ends)
        if not _fits(body, self._lanes) or not self._can(loops):
            return in_turn
        time = self._in_lanes(loops)
        less = _LESS_THAN_LLVM if by_llvm else _LESS
        return _Choice(time, (body,)) if time < less * in_turn.time else in_turn

    def _can(self, loops: Sequence[Loop]) -> bool:
        """Whether iterations can run side by side, forward and backward."""
        for loop in loops:
            sums = sums_in_memory(loop, self._places)
            if sums is None or shifted(loop, self._places) is None:
                return False
            if not are_independent(loop, self._places, sums.addresses, self._lanes):
                return False
        return True

    def _in_lanes(self, loops: Sequence[Loop]) -> float:
        """The time of the loops of a body in lanes."""
        time = 0.0
        for loop in loops:
            sums = sums_in_memory(loop, self._places)
            assert sums is not None
            rounds = -(-int(loop.of.counts[0]) // self._lanes)
            ended = sum(1 for phi in _summed(loop) if phi.start != 0.0)  # others may go on in a loop around it
            time += rounds * (self._side_by_side(loop, loop, sums) + _ROUND) + _ENTER + _SUM * (sums.added + ended)
        return time

    def _side_by_side(self, loop: Loop, outer: Loop, sums: Sums) -> float:
        """The time of an iteration of a loop for all lanes, each with an iteration of the outer loop."""
        time = 0.0
        for step in loop.body.steps:
            if isinstance(step, Loop):
                time += int(step.of.counts[0]) * (self._side_by_side(step, outer, sums) + _ROUND)
            elif step.at is not None and step.at not in sums.addresses:
                near = self._places.is_near(step.at, outer.of)
                time += _time(step) * (1 if near else _GATHER * self._lanes)
            elif step.name.startswith(("take ", "get ", "scatter ")):
                time += _time(step) * _GATHER * self._lanes
            elif step.name.startswith("call ") and not step.name.startswith("call llvm."):
                time += _CALL * (1 if step.name.removeprefix("call ") in self._functions else self._lanes)
            else:
                time += _time(step)
        return time


def _time(op: Op) -> float:
    if op.name.startswith("call ") and not op.name.startswith("call llvm."):
        return _CALL
    return 3.0 if op.name.startswith(("add to", "scatter ")) else 1.0


def _fits(body: Body, lanes: int) -> bool:
    """Whether enough lanes have work, always as many, and all of them as much."""
    if body.optional or np.any(body.counts != body.counts[0]):
        return False
    used = body.counts[0] / (-(-body.counts[0] // lanes) * lanes)
    if used < _LEAST_USED:
        return False
    inner = (each.counts.reshape(body.times, -1) for each in bodies_of(body) if each is not body)
    return all(bool(np.all(counts == counts[0])) for counts in inner)


def _left_to_llvm(loop: Loop, places: Places, functions: Container[str]) -> bool:
    """Whether LLVM's vectorizer takes a loop."""
    inner = any(isinstance(step, Loop) for step in loop.body.steps)
    return not inner and _hands_on_sums(loop) and is_parallel(loop, places, functions)


# --- sums in memory -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sums:
    """What all iterations of a loop add to the same elements, and do nothing else with: each lane has its own sum.

    Attributes:
        stretches: the array, the first element and how many, of each.
        addresses: those that are added to, and in which stretch each is.
        handed_on: sums that the loop hands on, of which there are more than registers.
    """

    stretches: list[tuple[str, int, int]]
    addresses: dict[Address, int]
    handed_on: list[Phi]

    @property
    def added(self) -> int:
        """How many elements are added to."""
        return sum(count for _, _, count in self.stretches)

    def __len__(self) -> int:
        return self.added + len(self.handed_on)

    def place(self, at: Address) -> int:
        """Where the sum of the element 0 of an address's array would be, among all sums."""
        which = self.addresses[at]
        return sum(count for _, _, count in self.stretches[:which]) - self.stretches[which][1]


def sums_in_memory(loop: Loop, places: Places) -> Sums | None:
    """The sums in memory of a loop that may run in lanes; None if they are too far apart, or are used otherwise."""
    others: dict[str, list[Address]] = defaultdict(list)
    added: dict[str, list[Address]] = defaultdict(list)
    for step in steps_in(loop.body):
        if isinstance(step, Op) and (at := step.at) is not None and at.array in ("G", "B", "W"):
            same = step.name == "add to" and at.of.frame.within(loop.of) and places.step_of(at, loop.of) == 0
            (added if same else others)[at.array].append(at)
    sums = Sums([], {}, _more_than_registers(loop))
    for array, addresses in added.items():
        for some in _neighbours(addresses, places):
            elements = np.unique(np.concatenate([places.numbers(at) for at in some]))
            first, count = int(elements[0]), int(elements[-1] - elements[0]) + 1
            if len(elements) < _DENSE * count:
                return None
            if any(np.any(np.isin(places.numbers(at), elements)) for at in others[array]):
                return None
            sums.addresses.update(dict.fromkeys(some, len(sums.stretches)))
            sums.stretches.append((array, first, count))
    return sums


def _neighbours(addresses: Sequence[Address], places: Places) -> Iterator[list[Address]]:
    """The addresses by the stretches of an array that they are in, which are apart."""
    ends = {at: (int(np.min(places.numbers(at))), int(np.max(places.numbers(at)))) for at in addresses}
    stretch: list[Address] = []
    last = 0
    for at in sorted(ends, key=lambda at: ends[at][0]):
        if stretch and ends[at][0] > last + _NEAR:
            yield stretch
            stretch = []
        last = max(last, ends[at][1]) if stretch else ends[at][1]
        stretch.append(at)
    if stretch:
        yield stretch


def _more_than_registers(loop: Loop) -> list[Phi]:
    """The sums that a loop hands on and adds to in its own steps, if they are many."""
    summed = _summed(loop)
    if len(summed) <= REGISTERS:
        return []
    users = _users(loop)

    def is_direct(phi: Phi) -> bool:
        value: Value | None = phi.result
        while isinstance(value, Ref) and value != phi.following:
            user = users[value.number][0]
            if not isinstance(user, Op) or user not in own:
                return False
            value = user.result
        return True

    own = {step for step in loop.body.steps if isinstance(step, Op)}
    return [phi for phi in summed if is_direct(phi)]


# --- sums -----------------------------------------------------------------------------------------------------


def _hands_on_sums(loop: Loop) -> bool:
    """Whether one iteration hands nothing to the next but what stays as it is, constants, or sums that may be added up
    in another order."""
    return not _others(loop)


def _others(loop: Loop) -> list[Phi]:
    """What one iteration hands to the next besides those."""
    users = _users(loop)
    carried = [phi for phi in loop.phis if phi.start is not None and not isinstance(phi.following, float)]
    return [phi for phi in carried if not stays(phi, loop) and not _is_sum(phi, users)]


def _summed(loop: Loop) -> list[Phi]:
    """The sums that a loop hands on."""
    users = _users(loop)
    carried = [phi for phi in loop.phis if phi.start is not None and not isinstance(phi.following, float)]
    return [phi for phi in carried if not stays(phi, loop) and _is_sum(phi, users)]


def shifted(loop: Loop, places: Places) -> Block | None:
    """The body of a loop as it runs in lanes: with a "shift" of each number that is no sum but comes from the iteration
    before. None if they must run one after the other."""
    others = _others(loop)
    return with_shifts(loop, others, places) if others else loop.body


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


def _users(loop: Loop) -> dict[int, list[Op | Phi]]:
    """What uses each value in a loop, by its number."""
    users: dict[int, list[Op | Phi]] = defaultdict(list)
    for user, value in _uses(loop):
        users[value.number].append(user)
    return users


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


def sums_of_lanes(loop: Loop, in_lanes: Collection[Body]) -> set[Ref]:
    """The values in a loop that are sums of lanes: of what it hands on, where it does nothing with it but add up such.

    They come from loops in lanes in it. Each is a vector then, whose elements are added up once, after the loop.
    """
    if not any(body.within(loop.of) for body in in_lanes):
        return set()
    return set().union(*_sums_of_lanes(loop, in_lanes).values())


def _sums_of_lanes(loop: Loop, in_lanes: Collection[Body]) -> dict[Ref, set[Ref]]:
    """The same by what is handed on."""
    finals: dict[Ref | None, tuple[Phi, set[Ref]]] = {}  # what inner loops leave that are such, and their own
    for step in loop.body.steps:
        if isinstance(step, Loop):
            within = _sums_in_lanes(step) if step.of in in_lanes else _sums_of_lanes(step, in_lanes)
            finals |= {phi.final: (phi, within[phi.result]) for phi in step.phis if phi.result in within}
    if not finals or loop.of.optional:  # what may be left out hands on numbers
        return {}
    users = _users(loop)
    found = {phi.result: _added_up(phi, users, finals) for phi in loop.phis if phi.start is not None}
    return {result: values for result, values in found.items() if values}


def _sums_in_lanes(loop: Loop) -> dict[Ref, set[Ref]]:
    return {phi.result: set() for phi in _summed(loop)}


def _added_up(
    phi: Phi, users: dict[int, list[Op | Phi]], finals: dict[Ref | None, tuple[Phi, set[Ref]]]
) -> set[Ref] | None:
    """What becomes of a number that a loop hands on, if that are sums of lanes."""
    value: Ref = phi.result
    found = {value}
    while value != phi.following:
        if len(users[value.number]) != 1:
            return None
        user = users[value.number][0]
        final = after = user.final if isinstance(user, Phi) else user.result  # an inner loop goes on with it
        if isinstance(user, Op):
            other = user.operands[user.operands[0] == value] if user.name == "fadd reassoc" else None
            if not isinstance(other, Ref) or len(users[other.number]) != 1:
                return None
            final = other
            if final not in finals or finals[final][0].start != 0.0:
                return None
        if final not in finals or final is None or after is None:
            return None
        found |= {*finals[final][1], final, after}
        value = after
    return found if len(users[value.number]) == 1 else None


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
