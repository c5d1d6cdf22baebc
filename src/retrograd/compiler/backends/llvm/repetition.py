"""Sequences of kernel calls that repeat themselves at other addresses, such as the time steps of a recurrent network.

The code of such a sequence is written once, as a function of addresses. Operands that move alike from one repetition
to the next keep their distances, so they share a parameter; there are few of those, since most of a step's operands
are either the same in every step or move by the size of a row.

The function's code has the addresses of the first repetition, with the number of the parameter in their upper bits. So
the IR builder sees constant addresses in several blocks of memory, as anywhere else, and forwards what it stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..periods import Section, cut_by_periods
from .kernel_calls import KernelCall
from .memory import Memory

__all__ = ["Repetition", "cut"]

#: So many calls repeat themselves at least; of fewer, code is short anyway.
_LEAST_CALLS = 24

#: Where an address of a function's code has the number of its parameter.
_PARAMETER = 48

#: The operand that stands for the call's own struct, which prebuilt kernels read.
_STRUCT = -1

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Repetition:
    """Calls that are one function.

    Attributes:
        calls: those of the function, at its own addresses.
        memory: of those addresses; a block is what one parameter points into.
        shifts: for each repetition, what it adds to the addresses in a block, by the block's address.
    """

    calls: list[KernelCall]
    memory: Memory
    shifts: list[dict[int, int]]


#: Whether the prebuilt kernel runs a call that is repeated.
Prebuilt = Callable[[KernelCall], bool]


def cut(calls: Sequence[KernelCall], memory: Memory, prebuilt: Prebuilt) -> Iterator[KernelCall | Repetition]:
    """The calls of a pass in their order, as repetitions and what is between them."""
    numbers: dict[object, int] = {}
    tokens = np.array([numbers.setdefault(_shape(c, memory, prebuilt), len(numbers)) for c in calls], np.uint64)
    for section in cut_by_periods([tokens], lambda late, early: tokens[late] == tokens[early], _LEAST_CALLS):
        if section.count > 1:
            yield _Operands(calls, section, memory, prebuilt).repetition()
        else:
            yield from calls[section.begin : section.end]


def _shape(call: KernelCall, memory: Memory, prebuilt: Prebuilt) -> object:
    """What calls have in common that differ in addresses alone. Constants are part of it, since code has them."""
    if prebuilt(call):
        return call.run
    constants = []
    for p in _pointers(call):
        number = memory.literals.get(call.pointers[p]) if _is_scalar(call, p) else None
        constants.append((p, number if number is None else number.hex()))
    loops = call.counts, call.strides, call.stride, call.pooled, call.either
    return call.kernel, call.row, call.run, call.k.hex(), call.accumulate, call.which, *loops, *constants


def _is_scalar(call: KernelCall, p: int) -> bool:
    return not any(stride and n > 1 for stride, n in zip(call.operand_strides(p), call.counts, strict=True))


def _pointers(call: KernelCall) -> list[int]:
    """The pointers that code of a call refers to: those of numbers, and of the indices of a selection."""
    return [p for p in range(6 if call.kernel in ("select", "select_back") else 5) if call.pointers[p]]


class _Operands:
    """The operands of a sequence of calls, and how they move from one repetition to the next."""

    def __init__(self, calls: Sequence[KernelCall], section: Section, memory: Memory, prebuilt: Prebuilt) -> None:
        self._calls, self._memory = calls[section.begin : section.begin + section.period], memory
        self._operands: list[tuple[int, int]] = []  # the call's number and the pointer's
        for i, call in enumerate(self._calls):
            self._operands += [(i, p) for p in (_STRUCT, *([] if prebuilt(call) else _pointers(call)))]
        rows = [
            [_address(calls[begin + i], p) for i, p in self._operands]
            for begin in range(section.begin, section.end, section.period)
        ]
        self._addresses: Numbers = np.array(rows, np.int64)  # a row for each repetition
        self._blocks: Numbers = np.array([[memory.block_of(at) for at in row] for row in rows], np.int64)
        moves = np.concatenate([self._addresses - self._addresses[0], self._blocks[:, :, 0]])
        _, first, parameters = np.unique(moves, axis=1, return_index=True, return_inverse=True)
        self._parameters: Numbers = parameters.reshape(-1)  # of each operand
        self._first: Numbers = first  # operand of each parameter

    def repetition(self) -> Repetition:
        tags = (np.arange(len(self._first)) + 1) << _PARAMETER
        before = (self._addresses - self._blocks[:, :, 0])[:, self._first].min(axis=0)
        after = (self._blocks.sum(axis=2) - self._addresses)[:, self._first].min(axis=0)
        begins = self._addresses[0, self._first] - before + tags
        tagged = dict(zip(self._operands, (self._addresses[0] + tags[self._parameters]).tolist(), strict=True))
        shifts = self._addresses[:, self._first] - self._addresses[0, self._first] - tags
        blocks = list(zip(begins.tolist(), (before + after).tolist(), strict=True))
        return Repetition(
            [_moved(call, i, tagged) for i, call in enumerate(self._calls)],
            Memory(blocks, self._literals(tagged), frozenset(begins[list(self._overlapping())].tolist())),
            [dict(zip(begins.tolist(), row, strict=True)) for row in shifts.tolist()],
        )

    def _literals(self, tagged: Mapping[tuple[int, int], int]) -> dict[int, float]:
        """Those that are the same in each repetition, at the addresses of the function's code."""
        known, calls = self._memory.literals, self._calls
        return {
            address: known[calls[i].pointers[p]]
            for (i, p), address in tagged.items()
            if p != _STRUCT and _is_scalar(calls[i], p) and calls[i].pointers[p] in known
        }

    def _overlapping(self) -> set[int]:
        """The parameters behind which a call writes what another reads or writes by way of another parameter."""
        origins = self._addresses[0, self._first].tolist()
        parts = set()
        for (i, p), parameter in zip(self._operands, self._parameters.tolist(), strict=True):
            if p in range(5):
                begin, end = self._calls[i].extent(p)
                parts.add((parameter, begin - origins[parameter], end - origins[parameter], p == 0))
        found: set[int] = set()
        for row in self._addresses[:, self._first].tolist():
            found |= _meeting(sorted((row[n] + begin, row[n] + end, n, writes) for n, begin, end, writes in parts))
        return found


def _meeting(parts: Sequence[tuple[int, int, int, bool]]) -> set[int]:
    """The parameters whose parts of memory meet others' and one of both is written. Parts are sorted by beginning."""
    found: set[int] = set()
    active: list[tuple[int, int, int, bool]] = []
    for part in parts:
        begin, _, parameter, writes = part
        active = [other for other in active if other[1] > begin]
        for _, _, other, written in active:
            if other != parameter and (writes or written):
                found |= {parameter, other}
        active.append(part)
    return found


def _address(call: KernelCall, p: int) -> int:
    return call.struct_address if p == _STRUCT else call.pointers[p]


def _moved(call: KernelCall, i: int, tagged: Mapping[tuple[int, int], int]) -> KernelCall:
    """A call at the addresses of the function's code."""
    pointers = tuple(tagged.get((i, p), at) for p, at in enumerate(call.pointers))
    return replace(call, struct_address=tagged[i, _STRUCT], pointers=pointers)
