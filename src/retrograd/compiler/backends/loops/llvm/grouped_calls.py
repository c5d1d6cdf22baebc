"""Calls of one function in straight-line code that do not need each other: a function of vectors stands for them.

The code is put in another order for that: by how many calls, one after the other, an operation needs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

from ..passes.code import Address, Loop, Op, Ref
from ..shapes.structure import Indices

__all__ = ["Calls", "with_groups"]


#: What accesses memory at places that are computed, where one operation may find what another one has left.
_IN_ORDER = ("get ", "put ", "scatter B")

#: In place of the elements that a store in a loop writes.
_MANY = -1


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one function, in any order."""

    function: str
    ops: tuple[Op, ...]


def with_groups(
    steps: Sequence[Op | Loop],
    elements: Callable[[Address], Indices],
    functions: Container[str],
    least: int,
) -> list[Op | Loop | Calls]:
    """The steps of a block, with ``least`` or more calls of one of the functions as groups, where there are such.

    Args:
        steps: the block's.
        elements: which elements of its array an address is.
        functions: those for which there is one of vectors.
        least: so many calls are a group at least.
    """
    called = Counter(_function_of(step, functions) for step in steps if isinstance(step, Op))
    if all(count < least for function, count in called.items() if function is not None):
        return list(steps)
    found: list[Op | Loop | Calls] = []
    stretch: list[Op] = []
    kept: set[int] = set()  # the elements of W that the stretch writes
    for step in steps:
        if isinstance(step, Loop) or step.name.startswith(_IN_ORDER) or _is_late(step, kept, elements):
            found += _grouped(stretch, functions, least)
            stretch, kept = [], set()
            found.append(step)
            continue
        stretch.append(step)
        if step.name in ("store", "add to") and step.at is not None and step.at.array == "W":
            written = elements(step.at)
            kept.add(int(written[0]) if len(written) == 1 else _MANY)
    return [*found, *_grouped(stretch, functions, least)]


def _is_late(op: Op, kept: set[int], elements: Callable[[Address], Indices]) -> bool:
    """Whether an operation may read what one before it has written: it stays where it is."""
    if op.at is None or op.name not in ("load", "add to") or op.at.array not in ("W", "B", "G"):
        return False
    if op.at.array != "W":
        return op.name == "load"
    read = elements(op.at)
    return bool(kept) and (len(read) > 1 or _MANY in kept or int(read[0]) in kept)


def _function_of(op: Op, functions: Container[str]) -> str | None:
    _, called, function = op.name.partition("call ")
    return function if called and function in functions else None


def _grouped(ops: Sequence[Op], functions: Container[str], least: int) -> Iterator[Op | Calls]:
    levels: dict[Ref, int] = {}
    others: dict[int, list[Op]] = defaultdict(list)
    calls: dict[tuple[int, str], list[Op]] = defaultdict(list)
    for op in ops:
        level = max((levels.get(operand, 0) for operand in op.operands if isinstance(operand, Ref)), default=0)
        function = _function_of(op, functions)
        if function is None:
            others[level].append(op)
        else:
            calls[level, function].append(op)
        if op.result is not None:
            levels[op.result] = level + (function is not None)
    if all(len(some) < least for some in calls.values()):
        yield from ops
        return
    for level in range(max(levels.values(), default=0) + 1):
        yield from others[level]
        for (of, function), some in calls.items():
            if of == level and len(some) >= least:
                yield Calls(function, tuple(some))
            elif of == level:
                yield from some
