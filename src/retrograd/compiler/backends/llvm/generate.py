"""From the bound calls of a program to the text of one LLVM module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from . import elementwise, gemm
from .ir_builder import SCRATCH, Text, Vector
from .kernel_calls import Call, Strip
from .loop_fusion import Nest, nests

__all__ = ["function_of", "module_of"]

#: Code of a pass beyond which calls stay with the prebuilt kernels: compiling takes some 10 µs a line.
_LINES = 60_000

#: Lists are written out number by number, once for each member of a batch: that is worth it for a few.
_LISTS, _ALIKE = ("indexed", "indexed_back", "gather", "scatter"), 6

_WRITERS: dict[str, Callable[[Text, Call], bool]] = {
    "map": elementwise.mapped,
    "map_back": elementwise.map_back,
    "add": elementwise.add,
    "product": elementwise.product,
    "contract": gemm.contract,
    "contract_nn": gemm.columns,
    "contract_nt": gemm.dots,
    "spread": gemm.spread,
    "group_dot": gemm.group_dot,
    "sum": elementwise.sums,
    "extreme": elementwise.extreme,
    "gather": elementwise.indexed,
    "indexed": elementwise.indexed,
    "indexed_back": elementwise.indexed_back,
    "scatter": elementwise.scatter,
    "select": elementwise.select,
    "select_back": elementwise.select,
    "fill": elementwise.fill,
}


def function_of(
    name: str,
    calls: Sequence[Call],
    strips: Sequence[Strip],
    local: Sequence[range],
    width: int,
    plain: bool,
    literals: Mapping[int, float],
) -> tuple[Text, str]:
    """LLVM IR of ``int32_t name(void)``, which does what the calls do. ``plain``: as calls of the prebuilt kernels.

    ``local``: addresses of numbers that have no meaning outside of strips. ``literals``: the numbers at addresses where
    nothing is ever written.
    """
    t = Text(width, literals)
    kinds = Counter((call.kernel, call.row) for call in calls)

    def write(t: Text, call: Call) -> None:
        if call.empty:
            return
        long = len(t.lines) > _LINES or (call.kernel in _LISTS and kinds[call.kernel, call.row] > _ALIKE)
        writer = None if plain or long else _WRITERS.get(call.kernel)
        if writer is None or not writer(t, call):
            t.call_kernel(call)

    done = 0
    for strip in strips:
        for call in calls[done : strip.begin]:
            write(t, call)
        steps = _steps if plain else partial(nests, strip=strip.iterations, local=local)
        _strips(t, calls[strip.begin : strip.end], strip, write, steps)
        done = strip.end
    for call in calls[done:]:
        write(t, call)
    return t, _function(name, t)


def _steps(calls: Sequence[Call]) -> Iterable[Call | Nest]:
    return calls


def _strips(
    t: Text,
    calls: Sequence[Call],
    strip: Strip,
    write: Callable[[Text, Call], None],
    steps_of: Callable[[Sequence[Call]], Iterable[Call | Nest]],
) -> None:
    """The calls, as many times as there are strips."""
    calls = [call for call in calls if not call.empty]

    def one(calls: Sequence[Call]) -> None:
        for step in steps_of(calls):
            if isinstance(step, Nest):
                step.emit(t, write)
            else:
                write(t, step)

    if strip.times == 1:
        return one(calls)
    steps = list(dict.fromkeys(move for call in calls for move in call.moves if move))

    def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
        names: dict[int, str | None] = {0: None, **dict(zip(steps, offsets, strict=True))}
        one([replace(call, moving=tuple(names[move] for move in call.moves)) for call in calls])
        return []

    t.loop(strip.times, ["0"] * len(steps), steps, [], body)


def module_of(functions: Sequence[tuple[Text, str]]) -> str:
    declarations = dict.fromkeys(line for text, _ in functions for line in text.declarations)
    return "\n".join([*declarations, *(body for _, body in functions)])


def _function(name: str, t: Text) -> str:
    # The bases are arguments, so that they stay in registers and addresses are displacements from them.
    arguments = ", ".join(f"ptr %base{i}" for i in range(len(t.bases)))
    own = "ptr %scratch"
    numbers = ", ".join(own if base == SCRATCH else f"ptr inttoptr (i64 {base} to ptr)" for base in t.bases)
    attributes = '"prefer-vector-width"="512" "min-legal-vector-width"="512"'
    return "\n".join(
        [
            f"define internal i32 @{name}_body({arguments}) noinline {attributes} {{",
            "entry:",
            "%outside = alloca i32",
            "store i32 0, ptr %outside",
            *t.lines,
            "%answer = load i32, ptr %outside",
            "ret i32 %answer",
            "}",
            f"define i32 @{name}() {attributes} {{",
            f"%scratch = alloca [{t.scratch} x i8], align 64",
            f"%answer = call i32 @{name}_body({numbers})",
            "ret i32 %answer",
            "}",
            "",
        ]
    )
