"""Machine code that keeps the branches and loops of its function, and how a call runs it."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ..backends.llvm.jit import load
from .entry import TapedProgram
from .ir.arithmetic import CONTEXT
from .packing import Packed, packed, written_as
from .types import Type

__all__ = ["TapedCode", "TapedResult"]

_RUN = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
_SWEEP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)

#: How many terms and words there is room for at first, and at most; and how many iterations of loops there may be.
_TERMS, _MOST_TERMS = 1 << 14, 1 << 25
_WORDS, _MOST_WORDS = 1 << 14, 1 << 25
_FUEL = 1 << 28
#: So deep may functions call themselves: Python stops at a thousand.
_DEPTH = 400

_AT_TERMS, _AT_END, _AT_NODES = (CONTEXT[name] for name in ("terms", "end", "nodes"))


@dataclass(slots=True)
class TapedResult:
    """What a run gave.

    Attributes:
        number: The value.
        gradients: The derivatives by the leaves, if they were wanted.
        kind: The type of what the function returned.
        is_node: Whether that was computed of a Value.
    """

    number: float
    gradients: list[float]
    kind: Type
    is_node: bool


class _Memory:
    """A tape, memory for lists, and adjoints, which calls use one after the other."""

    def __init__(self, words: int) -> None:
        self.context = (ctypes.c_int64 * words)()
        self.out = (ctypes.c_int64 * 2)()
        self.number = ctypes.c_double.from_buffer(self.out)
        self.adjoint = np.zeros(1)
        self.adjoint_at = self.adjoint.ctypes.data
        self.context_at, self.out_at = ctypes.addressof(self.context), ctypes.addressof(self.out)
        self.grow(_TERMS, _WORDS)

    def grow(self, terms: int, words: int) -> None:
        """Make room for so many terms, and words of lists."""
        self.terms, self.words = terms, words
        self.tape, self.lists = np.empty(2 * terms, np.int64), np.empty(words, np.int64)
        self.tape_at, self.lists_at = self.tape.ctypes.data, self.lists.ctypes.data

    def begin(self, leaves: int) -> None:
        """Nothing is on the tape but the leaves."""
        lists: list[ctypes.c_int64 | int] = [self.lists_at, self.lists_at + 8 * self.words]
        self.context[: len(CONTEXT)] = [self.tape_at, self.terms - 1, 0, leaves, *lists, _FUEL, _DEPTH, 0]


class TapedCode:
    """The machine code of one program."""

    def __init__(self, program: TapedProgram, compiled: bytes) -> None:
        """
        Args:
            program: The program.
            compiled: The object file that its text was compiled to.
        """
        self._program = program
        self._code = load(compiled, ("run", "sweep"))
        self._run = _RUN(self._code.addresses["run"])
        self._sweep = _SWEEP(self._code.addresses["sweep"])
        followed, kinds = program.program, [kind for kind, _ in program.program.data.values()]
        self._types = tuple(written_as(followed, kind) for kind in (*kinds, *program.kinds))
        self._data = [followed.reads.data[key] for key in followed.data]
        self._memory, self._lock = _Memory(program.words), threading.Lock()

    @property
    def result(self) -> Type:
        """The type of what the function returns."""
        return self._program.result

    def packed(self, arguments: list[Any], leaves: list[float], takes_results: bool = False) -> Packed | None:
        """The data of a call; None if it is of other types, or what the code takes for granted has changed."""
        if not self._program.program.reads.hold() or len(arguments) != len(self._program.kinds):
            return None
        return packed(self._types, [*(get() for get in self._data), *arguments], leaves, takes_results)

    def run(self, data: Packed, wants_gradients: bool) -> TapedResult | None:
        """Run the function; None where it would raise, or numbers are not finite: then the function itself runs."""
        with self._lock:
            return self._run_locked(data, wants_gradients)

    def _run_locked(self, data: Packed, wants_gradients: bool) -> TapedResult | None:
        memory, (words, leaves, _) = self._memory, data
        count = len(leaves) // 8
        while True:
            memory.begin(count)
            status = self._run(memory.context_at, words, leaves, memory.out_at)
            terms, lacks = memory.context[_AT_TERMS], memory.context[_AT_END] == 0
            if not lacks and terms <= memory.terms:
                break
            if terms > _MOST_TERMS or (lacks and memory.words >= _MOST_WORDS):
                return None
            memory.grow(
                1 << max(memory.terms.bit_length() - 1, (terms - 1).bit_length()), memory.words << 2 * int(lacks)
            )
        if status:
            return None
        number = memory.number.value
        if not isfinite(number):
            return None
        if not wants_gradients:
            return TapedResult(number, [], self.result, False)
        gradients = self._gradients(memory.context[_AT_NODES], memory.out[1], terms, count)
        return None if gradients is None else TapedResult(number, gradients, self.result, memory.out[1] != 0)

    def _gradients(self, nodes: int, root: int, terms: int, count: int) -> list[float] | None:
        memory = self._memory
        if len(memory.adjoint) <= nodes:
            memory.adjoint = np.zeros(2 * nodes + 2)
            memory.adjoint_at = memory.adjoint.ctypes.data
        adjoint = memory.adjoint
        adjoint[: nodes + 1] = 0.0
        if root:
            adjoint[root] = 1.0
            self._sweep(memory.tape_at, terms, memory.adjoint_at)
        found: list[float] = adjoint[1 : count + 1].tolist()
        return found if all(map(isfinite, found)) else None
