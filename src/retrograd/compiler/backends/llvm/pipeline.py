"""Compiles a program's passes to an object file: decode the kernel calls, generate code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .codegen import generate_functions, link_module
from .install import BoundPass, PassCode, PassRequest, Strips
from .jit import object_of, vector_width
from .kernel_calls import DOUBLE, KernelCall, Strip, decode
from .memory import Memory

__all__ = ["code_of"]


def code_of(request: PassRequest) -> PassCode | None:
    """Machine code of passes. It reads no memory of the machine's, which may be another process's.

    None where that takes more lines of LLVM than it may: compiling them takes about 20 microseconds each.
    """
    memory = request.memory
    strip_local = [
        range(memory[array] + DOUBLE * memory["local"], memory[array] + DOUBLE * memory["size"])
        for array in ("numbers", "gradients")
    ]
    temporary = [
        range(
            memory["gradients"] + DOUBLE * base,
            memory["gradients"] + DOUBLE * (base + max(stride * request.batch, length)),
        )
        for kind, base, stride, length in memory["regions"]
        if kind == "value"
    ]
    literals = {memory["numbers"] + DOUBLE * index: value for index, value in memory["literals"]}
    functions: list[_Function] = []
    for each in request.passes:
        decoded = list(decode(each.calls, each.at, memory["constants"], request.function))
        calls, strips = _with_strips(decoded, each.strips)
        if not any(function.takes(each, calls, strips) for function in functions):
            functions.append(_Function([each], calls, strips))
    texts, bases = [], {}
    for function in functions:
        names, first = [each.name for each in function.passes], function.passes[0]
        known = Memory([*memory["blocks"], (first.at, len(first.calls))], literals)
        code = function.calls, function.strips, strip_local
        texts.append(generate_functions(names, *code, vector_width(), known, temporary))
        for each in function.passes:
            bases[each.name] = [
                base + each.at - first.at if 0 <= base - first.at < len(first.calls) else base
                for base in texts[-1].bases
            ]
    module = link_module(texts)
    if request.most_lines is not None and module.count("\n") > request.most_lines:
        return None
    object_file = request.files.made(module.encode(), lambda: object_of(module)) if request.files else object_of(module)
    kernels = {call.symbol: call.run for function in functions for call in function.calls}
    return PassCode(object_file, [bases[each.name] for each in request.passes], kernels)


@dataclass(slots=True)
class _Function:
    """The calls of one pass, or of two of which the second stores gradients where the first one adds to them."""

    passes: list[BoundPass]
    calls: list[KernelCall]
    strips: list[Strip]

    def takes(self, bound: BoundPass, calls: Sequence[KernelCall], strips: Sequence[Strip]) -> bool:
        """Make a pass the second one, where these calls are its."""
        if len(self.passes) > 1 or len(calls) != len(self.calls) or strips != self.strips:
            return False
        apart = bound.at - self.passes[0].at
        merged = [_merged(*both, apart) for both in zip(self.calls, calls, strict=True)]
        found = [call for call in merged if call is not None]
        if len(found) < len(merged) or any(call.either for strip in strips for call in found[strip.begin : strip.end]):
            return False
        self.passes.append(bound)
        self.calls = found
        return True


def _merged(adding: KernelCall, storing: KernelCall, apart: int) -> KernelCall | None:
    """Two calls as one that adds or stores, if the second does not add where the first stores, and they are alike else.

    The pointers from 6 on are of no interest: code has the lists behind them, and kernels have their own calls.
    """
    if adding.pointers[:6] != storing.pointers[:6] or adding.accumulate < storing.accumulate:
        return None
    if not all(map(np.array_equal, adding.lists, storing.lists)):
        return None
    same = {name: getattr(adding, name) for name in ("pointers", "lists", "accumulate")}
    if replace(storing, struct_address=storing.struct_address - apart, **same) != adding:
        return None
    return replace(adding, either=adding.accumulate != storing.accumulate)


def _with_strips(calls: list[KernelCall], exported: Strips) -> tuple[list[KernelCall], list[Strip]]:
    """The strip-mined ranges of the calls, and the calls with the steps of their pointers from strip to strip."""
    strips = []
    for begin, end, count, iterations, steps in exported:
        strips.append(Strip(begin, end, count, iterations))
        for i, pointer_steps in enumerate(steps, begin):
            calls[i] = replace(calls[i], strip_steps=pointer_steps, strip_count=count)
    return calls, strips
