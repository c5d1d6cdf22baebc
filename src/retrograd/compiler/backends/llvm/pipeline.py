"""Compiles a program's passes to an object file: decode the kernel calls, remove dead ones, generate code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .codegen import generate_function, link_module
from .dce import DeadCodeElimination
from .install import BoundPass, PassCode, Strips
from .jit import object_of, vector_width
from .kernel_calls import DOUBLE, KernelCall, Strip, decode

__all__ = ["code_of"]


def code_of(
    memory: Mapping[str, Any], batch: int, passes: Sequence[BoundPass], exponents: Mapping[int, float]
) -> PassCode:
    """Machine code of passes. It reads no memory of the machine's, which may be another process's."""
    elimination = DeadCodeElimination.of(memory, batch)
    literals = {memory["numbers"] + DOUBLE * index: value for index, value in memory["literals"]}
    functions = []
    for each in passes:
        decoded, strips = _with_strips(list(decode(each.calls, each.at, memory["constants"])), each.strips)
        if each.number > 0:  # pass 0 is the forward pass
            decoded, strips = elimination.remove_dead_calls(decoded, strips)
        blocks = [*memory["blocks"], (each.at, len(each.calls))]
        local, width = elimination.strip_local, vector_width()
        functions.append(generate_function(each.name, decoded, strips, local, width, literals, blocks, exponents))
    return PassCode(object_of(link_module(functions)), [list(builder.bases) for builder, _ in functions])


def _with_strips(calls: list[KernelCall], exported: Strips) -> tuple[list[KernelCall], list[Strip]]:
    """The strip-mined ranges of the calls, and the calls with the steps of their pointers from strip to strip."""
    strips = []
    for begin, end, count, iterations, steps in exported:
        strips.append(Strip(begin, end, count, iterations))
        for i, pointer_steps in enumerate(steps, begin):
            calls[i] = replace(calls[i], strip_steps=pointer_steps, strip_count=count)
    return calls, strips
