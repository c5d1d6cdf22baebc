"""Installs machine code of a program's passes, which ``pipeline`` writes, here or in a process of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..code_files import CodeFiles, code_files
from ..process import Run, here
from .jit import load

if TYPE_CHECKING:
    from ....engine import SpecializationCache

__all__ = ["BoundPass", "PassCode", "PassRequest", "Strips", "compile_program"]

Strips = Sequence[tuple[int, int, int, int, Sequence[tuple[int, ...]]]]


@dataclass(frozen=True, slots=True)
class BoundPass:
    """The kernel calls of one pass, a copy of which is kept at the address ``at``."""

    number: int
    calls: bytes
    at: int
    strips: Strips

    @property
    def name(self) -> str:
        return f"pass{self.number}"


@dataclass(frozen=True, slots=True)
class PassRequest:
    """Passes to compile.

    Attributes:
        memory: what the native side exported of the machine's memory.
        batch: for how many members they are bound.
        passes: their kernel calls.
        most_lines: nothing is compiled if it takes more lines of LLVM.
        function: the address of a native function: those of kernels are told by how far from it they are, which is the
            same in each process.
        files: where machine code is kept, if it is.
    """

    memory: Mapping[str, Any]
    batch: int
    passes: Sequence[BoundPass]
    most_lines: int | None
    function: int
    files: CodeFiles | None


@dataclass(frozen=True, slots=True)
class PassCode:
    """An object file, the addresses in the tables that its functions take, and the kernels that it may call."""

    object: bytes
    bases: list[list[int]]
    kernels: dict[str, int]


def compile_program(
    programs: SpecializationCache, number: int, batch: int, run: Run = here, most_lines: int | None = None
) -> bool:
    """Compile all passes of program ``number``, bound for ``batch`` members, and install them.

    Args:
        programs: the programs of one compiled function.
        number: which of them.
        batch: the batch size for which the program's machine was made.
        run: where code is written and compiled.
        most_lines: nothing is compiled if it takes more lines of LLVM.

    Returns:
        Whether there is machine code now.

    Raises:
        IndexError: the program has been dropped meanwhile.
    """
    start = perf_counter()
    memory = programs.memory(number, batch)
    keep = memory.pop("keep")  # so that nothing else gets its addresses meanwhile
    passes, buffers = [], []
    for which in memory["passes"]:
        calls = programs.kernel_calls(number, batch, which)
        buffers.append(ctypes.create_string_buffer(calls, len(calls)))
        passes.append(BoundPass(which, calls, ctypes.addressof(buffers[-1]), programs.strips(number, batch, which)))
    function = programs.special_functions()["retrograd_digamma"]
    made = run(_code_of, PassRequest(memory, batch, passes, most_lines, function, code_files()))
    if made is None:
        return False
    kernels = {symbol: function + apart for symbol, apart in made.kernels.items()}
    code = load(made.object, [each.name for each in passes], kernels)
    milliseconds = (perf_counter() - start) * 1e3 / len(passes)
    for each, bases in zip(passes, made.bases, strict=True):
        table, own = np.array(bases, np.uint64).tobytes(), (each.at, len(each.calls))
        kept = code, buffers, keep
        programs.install(number, batch, each.number, code.addresses[each.name], table, *own, kept, milliseconds)
    return True


def _code_of(request: PassRequest) -> PassCode | None:
    from .pipeline import code_of  # what writes code, where this runs

    return code_of(request)
