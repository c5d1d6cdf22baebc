"""Code generation: the bound kernel calls of a program become the text of one LLVM module, a function for each pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from .fusion.loop_fusion import LoopNest, fuse
from .ir_builder import SCRATCH, IRBuilder, Vector, base_loads
from .kernel_calls import KernelCall, Strip
from .kernels import elementwise, gemm, indexing, reductions

__all__ = ["generate_function", "link_module"]

#: Lines of IR in a function beyond which calls stay with the prebuilt kernels: LLVM takes some 10 µs a line.
_MAX_LINES = 60_000

#: Kernels whose index lists become straight-line code, number by number and once for each member of a batch. Beyond
#: so many like calls, that is more code than it is worth.
_INDEXED_KERNELS, _MAX_INDEXED = ("indexed", "indexed_back", "gather", "scatter"), 6

#: Each writes the IR of a call, or returns False where the prebuilt kernel is the better choice.
_WRITERS: dict[str, Callable[[IRBuilder, KernelCall], bool]] = {
    "map": elementwise.map_forward,
    "map_back": elementwise.map_backward,
    "add": elementwise.add,
    "product": elementwise.product,
    "contract": gemm.contract,
    "contract_nn": gemm.gemm_nn,
    "contract_nt": gemm.gemm_nt,
    "spread": gemm.spread,
    "group_dot": gemm.group_dot,
    "sum": reductions.sum_innermost,
    "extreme": reductions.extreme,
    "gather": indexing.indexed_forward,
    "indexed": indexing.indexed_forward,
    "indexed_back": indexing.indexed_backward,
    "scatter": indexing.scatter,
    "select": indexing.select,
    "select_back": indexing.select,
    "fill": elementwise.fill,
}


def generate_function(
    name: str,
    calls: Sequence[KernelCall],
    strips: Sequence[Strip],
    strip_local: Sequence[range],
    width: int,
    literals: Mapping[int, float],
    blocks: Sequence[tuple[int, int]],
    exponents: Mapping[int, float],
) -> tuple[IRBuilder, str]:
    """The LLVM IR of ``int32_t name(void **bases)``, which does what the calls do.

    It returns whether one of them left its domain.

    Args:
        name: the function's name.
        calls: the kernel calls of one pass.
        strips: the strip-mined ranges among them.
        strip_local: addresses whose numbers are read only within the strip that writes them.
        width: doubles in a vector register.
        literals: the numbers at addresses that are never written.
        blocks: address and length in bytes of each block of memory that the calls refer to.
        exponents: the numbers that exponents of powers have at present, by address.
    """
    t = IRBuilder(width, literals, blocks, exponents)
    alike = Counter((call.kernel, call.row) for call in calls)

    def write(t: IRBuilder, call: KernelCall) -> None:
        if call.empty:
            return
        too_long = len(t.lines) > _MAX_LINES
        too_long |= call.kernel in _INDEXED_KERNELS and alike[call.kernel, call.row] > _MAX_INDEXED
        writer = None if too_long else _WRITERS.get(call.kernel)
        if writer is None or not writer(t, call):
            t.call_kernel(call)

    def write_steps(calls: Sequence[KernelCall], strip: Strip) -> None:
        for step in fuse(calls, strip.iterations, strip_local):
            if isinstance(step, LoopNest):
                step.emit(t, write)
            else:
                write(t, step)

    done = 0
    for strip in strips:
        for call in calls[done : strip.begin]:
            write(t, call)
        _write_strip(t, calls[strip.begin : strip.end], strip, write_steps)
        done = strip.end
    for call in calls[done:]:
        write(t, call)
    return t, _definition(name, t)


def _write_strip(
    t: IRBuilder,
    calls: Sequence[KernelCall],
    strip: Strip,
    write_steps: Callable[[Sequence[KernelCall], Strip], None],
) -> None:
    """The loop over strips; its body is the calls, with pointers that move from strip to strip."""
    calls = [call for call in calls if not call.empty]
    if strip.count == 1:
        write_steps(calls, strip)
        return
    steps = list(dict.fromkeys(step for call in calls for step in call.strip_steps if step))

    def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
        offset_of: dict[int, str | None] = {0: None, **dict(zip(steps, offsets, strict=True))}
        write_steps(
            [replace(call, offsets=tuple(offset_of[step] for step in call.strip_steps)) for call in calls], strip
        )
        return []

    t.loop(strip.count, ["0"] * len(steps), steps, [], body)


def link_module(functions: Sequence[tuple[IRBuilder, str]]) -> str:
    """One module of functions, with each intrinsic that they use declared once."""
    declarations = dict.fromkeys(line for builder, _ in functions for line in builder.declarations)
    return "\n".join([*declarations, *(body for _, body in functions)])


def _definition(name: str, t: IRBuilder) -> str:
    # The bases are arguments: so they stay in registers, and addresses are displacements from them.
    parameters = ", ".join(f"ptr %base{i}" for i in range(len(t.bases)))
    arguments = ", ".join("ptr %scratch" if base == SCRATCH else f"ptr %base{i}" for i, base in enumerate(t.bases))
    attributes = '"prefer-vector-width"="512" "min-legal-vector-width"="512"'
    return "\n".join(
        [
            f"define internal i32 @{name}_body({parameters}) noinline {attributes} {{",
            "entry:",
            "%outside = alloca i32",
            "store i32 0, ptr %outside",
            *t.lines,
            "%answer = load i32, ptr %outside",
            "ret i32 %answer",
            "}",
            f"define i32 @{name}(ptr %bases) {attributes} {{",
            *base_loads(len(t.bases)),
            f"%scratch = alloca [{t.scratch} x i8], align 64",
            f"%answer = call i32 @{name}_body({arguments})",
            "ret i32 %answer",
            "}",
            "",
        ]
    )
