"""Whether the iterations of a loop are independent in memory, so that LLVM may run several at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container

import numpy as np

from .code import Address, Loop, Op
from .storage import Places
from .structure import Body, Indices

__all__ = ["is_parallel"]

#: So many accesses are looked at; and a loop has so many iterations on average, or it is not worth while.
_MOST, _LEAST_ITERATIONS = 1_000_000, 8

#: With more operations in an iteration there are too few registers for several iterations at once, and LLVM's passes
#: would be run for nothing.
_MOST_OPERATIONS = 150


def is_parallel(loop: Loop, is_live: Callable[[Op], bool], places: Places, functions: Container[str]) -> bool:
    """Whether a short innermost loop accesses no element in two iterations, if it writes it.

    It may call some ``functions``, and those of LLVM.
    """
    body, operations = loop.of, 0
    accesses: dict[str, list[tuple[Address, bool]]] = defaultdict(list)
    for step in loop.body.steps:
        if isinstance(step, Loop):
            return False
        if not is_live(step):
            continue
        operations += 1
        _, called, function = step.name.partition("call ")
        if called and not function.startswith("llvm.") and function not in functions:
            return False
        if step.at is not None and step.at.array in ("W", "B", "G"):
            accesses[step.at.array].append((step.at, step.name == "store"))
    written = [each for each in accesses.values() if any(stored for _, stored in each)]
    if operations > _MOST_OPERATIONS:
        return False
    if body.times < _LEAST_ITERATIONS * len(body.counts) or sum(map(len, written)) * body.times > _MOST:
        return False
    return all(_is_free(each, body, places) for each in written)


def _is_free(accesses: list[tuple[Address, bool]], body: Body, places: Places) -> bool:
    """Of the accesses of one array (and whether they are stores): no element that is stored to has two iterations."""
    instance = np.repeat(np.arange(len(body.counts)), body.counts)
    ordinals = np.arange(body.times)
    elements = np.concatenate([_elements(at, body, places) for at, _ in accesses])
    key = elements * len(body.counts) + np.tile(instance, len(accesses))
    stored = np.repeat([stored for _, stored in accesses], body.times)
    order = np.argsort(key, kind="stable")
    key, iteration, stored = key[order], np.tile(ordinals, len(accesses))[order], stored[order]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    several = np.minimum.reduceat(iteration, begins) != np.maximum.reduceat(iteration, begins)
    return not np.any(several & np.logical_or.reduceat(stored, begins))


def _elements(at: Address, body: Body, places: Places) -> Indices:
    """The element in each iteration of a body."""
    frame, elements = at.of.frame, places.numbers(at)
    chain: list[Body] = []
    inner = body
    while inner is not frame:
        chain.append(inner)
        assert inner.parent is not None
        inner = inner.parent
    for inner in reversed(chain):
        elements = np.repeat(elements, inner.counts)
    return elements
