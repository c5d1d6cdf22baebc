"""A program's passes as machine code: read, written, compiled and installed."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from time import perf_counter

from ....engine import Programs
from .dce import Memory
from .generate import function_of, module_of
from .jit import compiled, vector_width
from .kernel_calls import DOUBLE, Strip, decoded

__all__ = ["compile_program"]


def compile_program(programs: Programs, number: int, batch: int, plain: bool) -> None:
    """Raises IndexError when the program is gone."""
    start = perf_counter()
    facts = programs.memory(number, batch)
    memory = Memory.of(facts, batch)
    literals = {facts["numbers"] + DOUBLE * address: value for address, value in facts["literals"]}
    passes, buffers, texts, names = facts["passes"], [], [], []
    for which in passes:
        calls = programs.calls(number, batch, which)
        buffer = ctypes.create_string_buffer(calls, len(calls))
        buffers.append(buffer)
        names.append(f"pass{which}")
        decoded_calls = list(decoded(calls, ctypes.addressof(buffer)))
        strips = []
        for begin, end, times, iterations, moves in programs.strips(number, batch, which):
            strips.append(Strip(begin, end, times, iterations))
            for i, one in enumerate(moves, begin):
                decoded_calls[i] = replace(decoded_calls[i], moves=one, times=times)
        if which > 0:
            decoded_calls, strips = memory.needed(decoded_calls, strips)
        texts.append(function_of(names[-1], decoded_calls, strips, memory.local, vector_width(), plain, literals))
    code = compiled(module_of(texts), names)
    milliseconds = (perf_counter() - start) * 1e3 / len(passes)
    for which, name in zip(passes, names, strict=True):
        programs.install(number, batch, which, code.addresses[name], (code, buffers), milliseconds)
