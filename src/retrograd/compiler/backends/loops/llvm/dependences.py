"""Whether the iterations of a loop are independent in memory, so that several may run at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from enum import IntEnum

import numpy as np

from ..passes.code import Address, Loop, Op, steps_in
from ..passes.storage import Places
from ..shapes.structure import Body, Indices

__all__ = ["are_independent", "is_parallel", "pairs_that_meet"]

#: So many accesses are looked at; and a loop has so many iterations on average, or it is not worth while.
_MOST, _LEAST_ITERATIONS = 1_000_000, 8

#: With more operations in an iteration there are too few registers for several iterations at once, and LLVM's passes
#: would be run for nothing.
_MOST_OPERATIONS = 150


def is_parallel(loop: Loop, places: Places, functions: Container[str]) -> bool:
    """Whether LLVM can run several iterations of a loop at once: it is short, innermost, and they are independent.

    It may call some ``functions``, and those of LLVM.
    """
    steps = loop.body.steps
    if len(steps) > _MOST_OPERATIONS or loop.of.times < _LEAST_ITERATIONS * len(loop.of.counts):
        return False
    for step in steps:
        if isinstance(step, Loop):
            return False
        if step.name.startswith(("scatter ", "put ")):  # several may add to the same element
            return False
        _, called, function = step.name.partition("call ")
        if called and not function.startswith("llvm.") and function not in functions:
            return False
    return are_independent(loop, places)


def are_independent(loop: Loop, places: Places, sums: Container[Address] = (), lanes: int | None = None) -> bool:
    """Whether no iteration of a loop, with all loops in it, stores to an element that another one accesses.

    Args:
        loop: the loop.
        places: what the addresses in it are.
        sums: addresses that are of no interest, since numbers are only added there.
        lanes: so many iterations run at once, and others after them; what several add to an element they add in turn.
            Without it any iterations run at once, and add as they store.
    """
    accesses: dict[str, list[tuple[Address, _Access]]] = defaultdict(list)
    for step in steps_in(loop.body):
        if isinstance(step, Op) and step.name.startswith("put "):  # to an element that others may get
            return False
        if not isinstance(step, Op) or step.at is None or step.at.array not in ("W", "B", "G"):
            continue
        if step.name != "add to" or step.at not in sums:
            in_turn = lanes is not None and step.name == "add to" and step.at.of.frame.within(loop.of)
            access = _Access.LOAD if step.name == "load" else _Access.ADD_IN_TURN if in_turn else _Access.STORE
            accesses[step.at.array].append((step.at, access))
    written = [each for each in accesses.values() if any(access is not _Access.LOAD for _, access in each)]
    times = sum(max(at.of.frame.times, loop.of.times) for each in written for at, _ in each)
    return times <= _MOST and all(_is_free(each, loop.of, places, lanes or loop.of.times) for each in written)


class _Access(IntEnum):
    """What an operation does with an element."""

    LOAD = 0
    ADD_IN_TURN = 1
    STORE = 2


def _is_free(accesses: list[tuple[Address, _Access]], body: Body, places: Places, lanes: int) -> bool:
    """Of the accesses of one array: of those iterations that run at once, no two access an element, unless both load it
    or both add to it in turn."""
    each = [_accessed(at, body, places) for at, _ in accesses]
    elements, iteration = (np.concatenate(column) for column in zip(*each, strict=True))
    instance = body.instances[iteration]
    rounds = (iteration - body.firsts[instance]) // lanes
    key = (elements * len(body.counts) + instance) * (int(body.counts.max()) // lanes + 1) + rounds
    access = np.repeat([access for _, access in accesses], [len(elements) for elements, _ in each])
    order = np.argsort(key, kind="stable")
    key, iteration, access = key[order], iteration[order], access[order]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    several = np.minimum.reduceat(iteration, begins) != np.maximum.reduceat(iteration, begins)
    least, most = np.minimum.reduceat(access, begins), np.maximum.reduceat(access, begins)
    return not np.any(several & ((most == _Access.STORE) | (least != most)))


def pairs_that_meet(accesses: Sequence[tuple[Address, bool]], body: Body, places: Places) -> Iterator[tuple[int, int]]:
    """Which two accesses (and whether they are stores) are of one element in an iteration, and one of them a store.

    ``body``: whose iterations; it has no inner loops.
    """
    of_array: dict[str, list[int]] = defaultdict(list)
    for number, (at, _) in enumerate(accesses):
        of_array[at.array].append(number)
    for numbers in of_array.values():
        stored = np.array([accesses[number][1] for number in numbers])
        if not stored.any():
            continue
        elements = np.array([_accessed(accesses[number][0], body, places)[0] for number in numbers])
        for later in range(1, len(numbers)):
            same = (elements[:later] == elements[later]).any(axis=1) & (stored[:later] | stored[later])
            yield from ((numbers[earlier], numbers[later]) for earlier in np.flatnonzero(same).tolist())


def _accessed(at: Address, body: Body, places: Places) -> tuple[Indices, Indices]:
    """The elements that are accessed, and in which iterations of a body."""
    frame, elements = at.of.frame, places.numbers(at)
    if frame.within(body):
        return elements, frame.ordinals_of(body)
    return elements[body.ordinals_of(frame)], np.arange(body.times)
