"""Code generation: the bound kernel calls of a program become the text of one LLVM module, a function for each pass."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .fusion.epilogues import fuse_epilogues
from .fusion.loop_fusion import LoopNest, fuse
from .ir_builder import SCRATCH, IRBuilder, Vector, base_loads
from .kernel_calls import KernelCall, Strip
from .kernels import elementwise, gemm, indexing, reductions
from .memory import Memory
from .repetition import Repetition, cut

__all__ = ["PassText", "generate_functions", "link_module"]

#: Lines of IR in a function beyond which calls stay with the prebuilt kernels: LLVM takes some 10 µs a line.
_MAX_LINES = 60_000

#: Kernels whose index lists become straight-line code, number by number and once for each member of a batch. Beyond
#: so many like calls, that is more code than it is worth.
_INDEXED_KERNELS, _MAX_INDEXED = ("indexed", "indexed_back", "gather", "scatter"), 6

_ATTRIBUTES = '"prefer-vector-width"="512" "min-legal-vector-width"="512"'

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
    "gather": indexing.indexed_forward,
    "indexed": indexing.indexed_forward,
    "indexed_back": indexing.indexed_backward,
    "scatter": indexing.scatter,
    "select": indexing.select,
    "select_back": indexing.select,
    "fill": elementwise.fill,
}


@dataclass(frozen=True, slots=True)
class PassText:
    """LLVM IR of a pass.

    Attributes:
        text: its functions.
        declarations: what they call besides each other.
        bases: the addresses in the table that the pass takes.
    """

    text: str
    declarations: list[str]
    bases: list[int]


def generate_functions(
    names: Sequence[str],
    calls: Sequence[KernelCall],
    strips: Sequence[Strip],
    strip_local: Sequence[range],
    width: int,
    memory: Memory,
    temporary: Sequence[range],
) -> PassText:
    """The LLVM IR of ``int32_t name(void **bases)``, which does what the calls do.

    It returns whether one of them left its domain.

    Args:
        names: the function's name; that of a second one, in which the calls that do ``either`` store.
        calls: the kernel calls of one pass.
        strips: the strip-mined ranges among them.
        strip_local: addresses whose numbers are read only within the strip that writes them.
        width: doubles in a vector register.
        memory: that which the calls refer to.
        temporary: addresses of gradients that only calls of the pass read.
    """
    writer = _PassWriter(names, calls, strip_local, IRBuilder(width, memory), temporary)
    done = 0
    for strip in strips:
        writer.write_all(calls[done : strip.begin])
        writer.write_strip(calls[strip.begin : strip.end], strip)
        done = strip.end
    writer.write_all(calls[done:])
    return writer.finished()


class _PassWriter:
    """Writes the calls of a pass, one function for itself and one for each repetition."""

    def __init__(
        self,
        names: Sequence[str],
        calls: Sequence[KernelCall],
        strip_local: Sequence[range],
        t: IRBuilder,
        temporary: Sequence[range],
    ) -> None:
        self._names, self._calls, self._t = names, calls, t
        self._strip_local, self._temporary = strip_local, temporary
        self._alike = Counter((call.kernel, call.row) for call in calls)
        self._functions: list[str] = []  # of the repetitions
        self._lines = 0  # of theirs

    def finished(self) -> PassText:
        t = self._t
        return PassText("\n".join([*self._functions, _definition(self._names, t)]), list(t.declarations), t.bases)

    def write_all(self, calls: Sequence[KernelCall]) -> None:
        """Calls one after the other, those that repeat themselves as calls of one function."""
        between: list[KernelCall] = []
        for part in cut([call for call in calls if not call.empty], self._t.memory, _is_prebuilt):
            if isinstance(part, KernelCall):
                between.append(part)
                continue
            self._write_fused_products(between)
            between = []
            self._write_repetition(part)
        self._write_fused_products(between)

    def _write_fused_products(self, calls: Sequence[KernelCall]) -> None:
        """Calls one after the other, those around a contraction as one."""
        for step in fuse_epilogues(self._t, calls, self._is_unread):
            if isinstance(step, KernelCall):
                self._write(self._t, step)
            elif self._lines + len(self._t.lines) <= _MAX_LINES:
                step.emit(self._t)
            else:
                for call in step.calls:
                    self._write(self._t, call)

    def _is_unread(self, call: KernelCall, readers: Sequence[KernelCall]) -> bool:
        """Whether no call of the pass reads a call's target, apart from some, nor does who runs the pass."""
        begin, end = call.extent(0)
        own = {one.struct_address for one in (call, *readers)}
        return any(begin in part and end - 1 in part for part in self._temporary) and not any(
            first < end and begin < last and at not in own for at, first, last in self._reads
        )

    @functools.cached_property
    def _reads(self) -> list[tuple[int, int, int]]:
        """What the calls of the pass may read: a call's address, and from which address up to which."""
        return [(call.struct_address, *extent) for call in self._calls for extent in call.reads()]

    def _write_repetition(self, repetition: Repetition) -> None:
        t, inner = self._t, IRBuilder(self._t.width, repetition.memory)
        for call in repetition.calls:
            if _is_prebuilt(call):
                inner.call_kernel(call)
            else:
                self._write(inner, call)
        name = f"{self._names[0]}_part{len(self._functions)}"
        self._functions.append(_part(name, inner))
        self._lines += len(inner.lines)
        t.declarations |= inner.declarations
        bases = [(base, inner.memory.block_of(base)[0]) for base in inner.bases if base != SCRATCH]
        for shifts in repetition.shifts:
            t.call_function(name, [base + shifts[block] for base, block in bases])

    def _write(self, t: IRBuilder, call: KernelCall) -> None:
        if call.empty:
            return
        if call.either:
            adds, stores = (replace(call, either=False, accumulate=accumulate) for accumulate in (True, False))
            t.branch("%adds", lambda: self._write(t, adds), lambda: self._write(t, stores))
            return
        too_long = self._lines + len(t.lines) > _MAX_LINES
        too_long |= call.kernel in _INDEXED_KERNELS and self._alike[call.kernel, call.row] > _MAX_INDEXED
        writer = None if too_long else _WRITERS.get(call.kernel)
        if writer is None or not writer(t, call):
            t.call_kernel(call)

    def write_strip(self, calls: Sequence[KernelCall], strip: Strip) -> None:
        """The loop over strips; its body is the calls, with pointers that move from strip to strip."""
        calls = [call for call in calls if not call.empty]
        if strip.count == 1:
            self._write_fused(calls, strip)
            return
        steps = list(dict.fromkeys(step for call in calls for step in call.strip_steps if step))

        def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
            offset_of: dict[int, str | None] = {0: None, **dict(zip(steps, offsets, strict=True))}
            moved = [replace(call, offsets=tuple(offset_of[step] for step in call.strip_steps)) for call in calls]
            self._write_fused(moved, strip)
            return []

        self._t.loop(strip.count, ["0"] * len(steps), steps, [], body)

    def _write_fused(self, calls: Sequence[KernelCall], strip: Strip) -> None:
        for step in fuse(calls, strip.iterations, self._strip_local):
            if isinstance(step, LoopNest):
                step.emit(self._t, self._write)
            else:
                self._write(self._t, step)


def _is_prebuilt(call: KernelCall) -> bool:
    """Whether a repeated call is one of the prebuilt kernel, and its operands are that kernel's alone."""
    return call.kernel not in _WRITERS or call.kernel in _INDEXED_KERNELS


def link_module(passes: Sequence[PassText]) -> str:
    """One module of functions, with each intrinsic that they use declared once."""
    declarations = dict.fromkeys(line for each in passes for line in each.declarations)
    return "\n".join([*declarations, *(each.text for each in passes)])


def _part(name: str, t: IRBuilder) -> str:
    """A function that several addresses are given."""
    parameters = "".join(f", ptr %base{i}" for i, base in enumerate(t.bases) if base != SCRATCH)
    scratch = [f"%base{i} = alloca [{t.scratch} x i8], align 64" for i, base in enumerate(t.bases) if base == SCRATCH]
    return "\n".join(
        [
            f"define internal void @{name}(ptr %outside, i1 %adds{parameters}) noinline {_ATTRIBUTES} {{",
            "entry:",
            *scratch,
            *t.lines,
            "ret void",
            "}",
        ]
    )


def _definition(names: Sequence[str], t: IRBuilder) -> str:
    # The bases are arguments: so they stay in registers, and addresses are displacements from them.
    parameters = "".join(f", ptr %base{i}" for i in range(len(t.bases)))
    arguments = "".join(", ptr %scratch" if base == SCRATCH else f", ptr %base{i}" for i, base in enumerate(t.bases))
    body = f"{names[0]}_body"
    lines = [
        f"define internal i32 @{body}(i1 %adds{parameters}) noinline {_ATTRIBUTES} {{",
        "entry:",
        "%outside = alloca i32",
        "store i32 0, ptr %outside",
        *t.lines,
        "%answer = load i32, ptr %outside",
        "ret i32 %answer",
        "}",
    ]
    for name, adds in zip(names, ("true", "false"), strict=False):
        lines += [
            f"define i32 @{name}(ptr %bases) {_ATTRIBUTES} {{",
            *base_loads(len(t.bases)),
            f"%scratch = alloca [{t.scratch} x i8], align 64",
            f"%answer = call i32 @{body}(i1 {adds}{arguments})",
            "ret i32 %answer",
            "}",
        ]
    return "\n".join([*lines, ""])
