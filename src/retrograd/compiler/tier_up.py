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
from collections.abc import Callable
from typing import Any

from ..engine import SpecializationCache
from .backends.process import Run, here
from .compile_threads import became_hot
from .reports.reasons import Cause, Reason
from .request import Tier

__all__ = ["TierUp"]

#: How often a program runs before LLVM compiles it, which takes some hundred milliseconds.
THRESHOLD = 200

#: A vector instruction takes at least as long as so many nodes in straight-line code: with fewer nodes an instruction,
#: scalar code is faster.
_FEW_NODES = 18

#: With more nodes an instruction than this, vectors are faster, unless the nodes repeat themselves: then so many nodes
#: of scalar code are written at most, or the program's by so many.
_MANY_NODES, _SHORT, _ROLLED = 200, 8_000, 10

#: With so many nodes an instruction, vectors are as fast, and to look for loops would take half a minute.
_MOST_NODES = 20_000

#: Where scalar code may be faster, a program of more instructions than this, or of fewer nodes an instruction than
#: above, is compiled to vectors only if they take few lines of LLVM, because their steps repeat themselves.
_FEW_INSTRUCTIONS, _FEW_LINES = 400, 15_000

#: A program of more instructions stays on the virtual machine, if it has no scalar code: LLVM would take a minute.
_MOST_INSTRUCTIONS = 20_000

#: In place of a number of members: code that runs groups of them side by side.
GROUP = 2**32 - 1

#: Scalar code of more nodes than this takes up to three times as long for each: vectors may be faster where an
#: instruction has a third of those nodes.
_LONG, _THIRD = 12_000, 3

#: To interpret so many nodes takes as long as to run one eagerly, and as what an eager call costs besides.
_EAGER_NODE, _EAGER_CALL = 10, 4_000

#: To compile a program of so many nodes may take longer than taped code does.
_MANY = 2_000

#: With so many nodes or instructions a program may take seconds to compile.
_LARGE_NODES, _LARGE_INSTRUCTIONS = 50_000, 2_000


class TierUp:
    """Decides which specializations of one function get machine code, and when."""

    def __init__(
        self,
        cache: SpecializationCache,
        tier: Tier,
        causes: Counter[Cause],
        offer_rival: Callable[[int], None],
    ) -> None:
        """Raises MissingExtraError if the caller chose the LLVM tier and llvmlite is not installed.

        ``offer_rival``: called with a program that runs often, slowly as yet, before its machine code is made.
        """
        self._cache, self._tier, self._causes = cache, tier, causes
        self._offer_rival = offer_rival
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
            _load_what_loads_code()
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

        self._compiled.add((number, batch))
        try:
            fact = self._fact(number)
            if self._tier == "auto" and batch < 2 and _is_slow(fact):
                self._offer_rival(number)
            if fact["ties"] and batch != GROUP:
                self._compile_scalar(number, fact, run)
                return
            if number in self._scalar and batch != GROUP:
                return
            if batch == GROUP:
                self._compile_group(number, fact, run)
                return
            # Where either may be faster, vectors come first: they take LLVM less time, unless scalar code is there.
            scalar, either = batch < 2 or fact["one_by_one"], batch == 1 and _nodes_an_instruction(fact) >= _FEW_NODES
            length = self._scalar_of_files(number, fact) if scalar else None
            vectors = either and compile_program(self._cache, number, batch, run, _most_lines(fact))
            if scalar and length is None:
                length = self._compile_scalar(number, fact, run)
            if not vectors and batch > 0 and (length is None or (batch == 1 and _may_be_slow(fact, length))):
                most = None if length is None else _most_lines(fact)
                vectors = self._may_take_long(fact, length) and compile_program(self._cache, number, batch, run, most)
            if vectors and length is not None:
                self._cache.compare(number)  # runs tell which is faster
        except Exception as error:
            if not any(known == number for known, _, _ in self._cache.inventory()):  # it was dropped meanwhile
                return
            self._causes[Cause(Reason.CODE_GENERATION_FAILED, f"{type(error).__name__}: {error}".splitlines()[0])] += 1
        finally:
            self._cache.wait_for_code(number, sys.maxsize)  # no longer

    def _compile_group(self, number: int, fact: dict[str, Any], run: Run) -> None:
        """Write scalar code for calls side by side, where scalar code is written."""
        from .backends.loops.graphs.graph import UnsupportedGraphError
        from .backends.loops.install import compile_group

        with contextlib.suppress(UnsupportedGraphError):
            if most := _most_scalar_nodes(fact):
                compile_group(self._cache, number, min(most, _LONG), run=run)

    def _compile_scalar(self, number: int, fact: dict[str, Any], run: Run) -> int | None:
        """Write scalar code: of how many nodes it is, or None where it would be slower, or is not supported."""
        from .backends.loops.graphs.graph import UnsupportedGraphError
        from .backends.loops.install import compile_graph

        with contextlib.suppress(UnsupportedGraphError):
            if most := _most_scalar_nodes(fact):
                length = compile_graph(self._cache, number, most, run, rounds_alike=fact["ties"])
                self._scalar.update([number] if fact["one_by_one"] else [])
                return length
        return None

    def _scalar_of_files(self, number: int, fact: dict[str, Any]) -> int | None:
        """The same of scalar code that an earlier process has made; None where there is no such code."""
        from .backends.code_files import code_files
        from .backends.loops.kept_code import NotKeptError, refused

        with contextlib.suppress(NotKeptError):
            return self._compile_scalar(number, fact, refused) if code_files() else None
        return None

    def _may_take_long(self, fact: dict[str, Any], length: int | None) -> bool:
        """Whether to compile all instructions of a program that has scalar code of that length, or none."""
        if fact["instructions"] <= _MOST_INSTRUCTIONS or (self._tier == "llvm" and length is None):
            return True
        if length is None:
            self._causes[Cause(Reason.TOO_LARGE, f"{fact['nodes']:,} nodes, of which few repeat others")] += 1
        return False

    def is_large(self, number: int) -> bool:
        """Whether a program may take seconds to compile."""
        found = [fact for fact in self._cache.facts() if fact["number"] == number]
        return any(fact["nodes"] > _LARGE_NODES or fact["instructions"] > _LARGE_INSTRUCTIONS for fact in found)

    def _fact(self, number: int) -> dict[str, Any]:
        """What is known of a specialization. Raises IndexError if it was dropped."""
        found = [fact for fact in self._cache.facts() if fact["number"] == number]
        return found[0]


def _load_what_loads_code() -> None:
    """Load the modules that load machine code, if it is kept in files: in a thread each would wait for calls."""
    from .backends.code_files import code_files
    from .backends.llvm.jit import available

    if available() and code_files():
        from .backends.loops import install as _install  # noqa: F401 - for that alone


def _is_slow(fact: dict[str, Any]) -> bool:
    """Whether the virtual machine runs a program in many instructions, none of them long."""
    return bool(fact["nodes"] >= _MANY) and _nodes_an_instruction(fact) < _MANY_NODES


def _most_scalar_nodes(fact: dict[str, Any]) -> int:
    """For how many nodes of code at most scalar code may be faster than vectors; 0 if it is not."""
    from .backends.loops.graphs.graph import MOST_STRAIGHT

    nodes = _nodes_an_instruction(fact)
    if nodes < _MANY_NODES:
        return MOST_STRAIGHT
    return max(_SHORT, int(fact["nodes"]) // _ROLLED) if nodes <= _MOST_NODES else 0


def _most_lines(fact: dict[str, Any]) -> int | None:
    """How many lines of LLVM to write at most for vectors, where scalar code may be faster; None for any number."""
    is_short = fact["instructions"] <= _FEW_INSTRUCTIONS and _nodes_an_instruction(fact) >= _MANY_NODES
    return None if is_short else _FEW_LINES


def _may_be_slow(fact: dict[str, Any], length: int) -> bool:
    """Whether vectors may be faster than scalar code of that length."""
    return length > _LONG and _THIRD * _nodes_an_instruction(fact) >= _FEW_NODES


def _nodes_an_instruction(fact: dict[str, Any]) -> float:
    return float(fact["nodes"] / max(fact["instructions"], 1))
