"""Compiles a program's passes to machine code: decode the kernel calls, remove dead ones, generate code, install it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from ....engine import SpecializationCache
from .codegen import generate_function, link_module
from .dce import DeadCodeElimination
from .jit import compile_module, vector_width
from .kernel_calls import DOUBLE, KernelCall, Strip, decode

__all__ = ["compile_program"]


def compile_program(programs: SpecializationCache, number: int, batch: int) -> None:
    """Compile all passes of program ``number``, bound for ``batch`` members, and install them.

    Args:
        programs: the programs of one compiled function.
        number: which of them.
        batch: the batch size for which the program's machine was made.

    Raises:
        IndexError: the program has been dropped meanwhile.
    """
    start = perf_counter()
    memory = programs.memory(number, batch)
    elimination = DeadCodeElimination.of(memory, batch)
    literals = {memory["numbers"] + DOUBLE * index: value for index, value in memory["literals"]}
    passes, buffers, functions, names = memory["passes"], [], [], []
    for which in passes:
        calls = programs.kernel_calls(number, batch, which)
        buffer = ctypes.create_string_buffer(calls, len(calls))
        buffers.append(buffer)
        names.append(f"pass{which}")
        decoded, strips = _with_strips(
            list(decode(calls, ctypes.addressof(buffer))), programs.strips(number, batch, which)
        )
        if which > 0:  # pass 0 is the forward pass
            decoded, strips = elimination.remove_dead_calls(decoded, strips)
        functions.append(
            generate_function(
                names[-1],
                decoded,
                strips,
                elimination.strip_local,
                vector_width(),
                literals,
                [*memory["blocks"], (ctypes.addressof(buffer), len(calls))],
            )
        )
    code = compile_module(link_module(functions), names)
    milliseconds = (perf_counter() - start) * 1e3 / len(passes)
    for which, name, buffer, (builder, _) in zip(passes, names, buffers, functions, strict=True):
        bases = np.array(builder.bases, np.uint64).tobytes()
        own = ctypes.addressof(buffer), len(buffer)
        programs.install(number, batch, which, code.addresses[name], bases, *own, (code, buffers), milliseconds)


def _with_strips(
    calls: list[KernelCall], exported: Sequence[tuple[int, int, int, int, Sequence[tuple[int, ...]]]]
) -> tuple[list[KernelCall], list[Strip]]:
    """The strip-mined ranges of the calls, and the calls with the steps of their pointers from strip to strip."""
    strips = []
    for begin, end, count, iterations, steps in exported:
        strips.append(Strip(begin, end, count, iterations))
        for i, pointer_steps in enumerate(steps, begin):
            calls[i] = replace(calls[i], strip_steps=pointer_steps, strip_count=count)
    return calls, strips
