"""Tier-up: a program that runs often is compiled by LLVM, in a process of its own, and its machine code takes over.

The native cache counts the runs and hands a program that becomes hot to a thread (``compile_threads``), which sends it
to that process and installs what comes back, so that a call never waits for LLVM, nor for the Python code that writes
for it.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections import Counter
from typing import Any

from ..engine import SpecializationCache
from .backends.process import Run, here
from .compile_threads import became_hot
from .reports.reasons import Cause, Reason
from .request import Tier

__all__ = ["TierUp"]

#: How often a program runs before LLVM compiles it, which takes some hundred milliseconds.
THRESHOLD = 200

#: A vector instruction takes at least as long as so many nodes in straight-line code. Of programs with many more nodes
#: an instruction, so many nodes of code are written at most, or the nodes by so many: vectors are faster.
_FEW_NODES, _SHORT, _ROLLED = 18, 8_000, 10

#: With fewer nodes an instruction, but not so few, either may be faster: vectors come first, which take LLVM less time,
#: and scalar code later, however long.
_VECTORS_FIRST = 200

#: With so many nodes an instruction, vector instructions are as fast, and to look for loops would take half a minute.
_MANY_NODES = 20_000

#: A program with more instructions is compiled in both ways only where the second takes few lines of LLVM, because its
#: steps repeat themselves; and one with many more is not. One with more than most stays on the virtual machine, if it
#: has no scalar code: LLVM would take a minute.
_FEW_INSTRUCTIONS, _MANY_INSTRUCTIONS, _MOST_INSTRUCTIONS, _FEW_LINES = 400, 4_000, 20_000, 15_000

#: In place of a number of members: code that runs groups of them side by side.
GROUP = 2**32 - 1

#: Vector instructions may be faster than scalar code of more nodes, however few nodes an instruction has.
_LONG = 12_000

#: To interpret so many nodes takes as long as to run one eagerly, and as what an eager call costs besides.
_EAGER_NODE, _EAGER_CALL = 10, 4_000

#: With so many nodes or instructions a program may take seconds to compile.
_LARGE_NODES, _LARGE_INSTRUCTIONS = 50_000, 2_000


class TierUp:
    """Decides which specializations of one function get machine code, and when."""

    def __init__(self, cache: SpecializationCache, tier: Tier, causes: Counter[Cause]) -> None:
        """Raises MissingExtraError if the caller chose the LLVM tier and llvmlite is not installed."""
        self._cache, self._tier, self._causes = cache, tier, causes
        self._compiled: set[tuple[int, int]] = set()
        self._scalar: set[int] = set()  # specializations that calls and batches run in code of the whole graph
        self._notified = False
        if tier == "llvm":
            from .backends.llvm.jit import require

            require()

    def added(self) -> None:
        """A specialization was added: compile it now if the caller chose LLVM, or watch for hot ones."""
        if self._tier == "llvm":
            self.catch_up()
        elif self._tier == "auto" and not self._notified:
            self._notified = True
            self._cache.notify_when_hot(THRESHOLD, became_hot, weakref.ref(self))

    def await_code(self, number: int, plain_nodes: int) -> None:
        """Run calls eagerly until there is machine code, if that is sooner: the function itself has so many nodes."""
        from .backends.llvm.jit import available

        if self._tier == "auto" and plain_nodes and available():
            self._cache.wait_for_code(number, _EAGER_NODE * plain_nodes + _EAGER_CALL)

    def catch_up(self) -> None:
        """If the caller chose the LLVM tier, compile what still runs on the virtual machine."""
        if self._tier != "llvm" or not self._cache.fresh():
            return
        for fact in self._cache.facts():
            for batch in (0,) if fact["tier"] == "interpreter" else fact["batches"]:
                self._compile_once(fact["number"], batch)
            if fact["in_batches"]:
                self._compile_once(fact["number"], GROUP)

    def _compile_once(self, number: int, batch: int) -> None:
        if (number, batch) not in self._compiled:
            self.compile(number, batch)

    def compile(self, number: int, batch: int, run: Run = here) -> None:
        """Compile a specialization for one batch size, and install the machine code; ``run`` says in which process.

        Raises nothing: a call that has been answered must not fail afterwards. A program for which LLVM fails stays on
        the virtual machine, and ``stats()`` says why.
        """
        from .backends.llvm.install import compile_program
        from .backends.loops.graphs.graph import UnsupportedGraphError
        from .backends.loops.install import compile_graph, compile_group

        self._compiled.add((number, batch))
        if number in self._scalar and batch != GROUP:
            return
        try:
            fact = self._fact(number)
            most, whole, length = _most_code(fact), False, 0
            if batch == GROUP:
                with contextlib.suppress(UnsupportedGraphError):
                    if most > 0:
                        compile_group(self._cache, number, min(most, _LONG), run=run)
                return
            lines = None if fact["instructions"] <= _FEW_INSTRUCTIONS else _FEW_LINES
            vectors = (
                batch == 1
                and _FEW_NODES <= _nodes_an_instruction(fact) < _VECTORS_FIRST
                and compile_program(self._cache, number, batch, run=run, most_lines=lines)
            )
            if most > 0 and (batch < 2 or fact["one_by_one"]):
                # Where the graph is not supported, it stays as it is, or becomes code kernel call by kernel call.
                with contextlib.suppress(UnsupportedGraphError):
                    length = compile_graph(self._cache, number, most, run=run)
                    self._scalar.update([number] if fact["one_by_one"] else [])
                    whole = True
            if vectors:
                if whole:
                    self._cache.compare(number)
            elif batch > 0 and not whole:
                if self._tier == "llvm" or fact["instructions"] <= _MOST_INSTRUCTIONS:
                    compile_program(self._cache, number, batch, run=run)
                else:
                    self._causes[Cause(Reason.TOO_LARGE, f"{fact['nodes']:,} nodes, of which few repeat others")] += 1
            elif (
                batch == 1
                and _either_may_win(fact, length)
                and compile_program(self._cache, number, batch, run, most_lines=None if length > _LONG else lines)
            ):
                self._cache.compare(number)
        except Exception as error:
            if not any(known == number for known, _, _ in self._cache.inventory()):  # it was dropped meanwhile
                return
            self._causes[Cause(Reason.CODE_GENERATION_FAILED, f"{type(error).__name__}: {error}".splitlines()[0])] += 1
        finally:
            self._cache.wait_for_code(number, sys.maxsize)  # no longer

    def is_large(self, number: int) -> bool:
        """Whether a program may take seconds to compile."""
        found = [fact for fact in self._cache.facts() if fact["number"] == number]
        return any(fact["nodes"] > _LARGE_NODES or fact["instructions"] > _LARGE_INSTRUCTIONS for fact in found)

    def _fact(self, number: int) -> dict[str, Any]:
        """What is known of a specialization. Raises IndexError if it was dropped."""
        found = [fact for fact in self._cache.facts() if fact["number"] == number]
        return found[0]


def _most_code(fact: dict[str, Any]) -> int:
    """For how many nodes of code at most scalar code may be faster than vector instructions; 0 if it is not."""
    from .backends.loops.graphs.graph import MOST_STRAIGHT

    if _nodes_an_instruction(fact) < _VECTORS_FIRST:
        return MOST_STRAIGHT
    if _nodes_an_instruction(fact) > _MANY_NODES:
        return 0
    return max(_SHORT, int(fact["nodes"]) // _ROLLED)


def _either_may_win(fact: dict[str, Any], length: int) -> bool:
    """Whether scalar code, of so many nodes, and vector instructions are both worth compiling: a run tells which is
    faster."""
    if length > _LONG:
        return bool(fact["instructions"] <= _MOST_INSTRUCTIONS)
    return _nodes_an_instruction(fact) >= _FEW_NODES and fact["instructions"] <= _MANY_INSTRUCTIONS


def _nodes_an_instruction(fact: dict[str, Any]) -> float:
    return float(fact["nodes"] / max(fact["instructions"], 1))
