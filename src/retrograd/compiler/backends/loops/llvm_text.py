"""The SSA form as LLVM IR."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..llvm.ir_builder import base_loads
from .backward import SEED
from .code import Address, Block, Loop, Op, Ref, Value
from .dependences import is_parallel
from .liveness import live_values
from .storage import Index, Places, fit
from .structure import Body, Indices

__all__ = ["Text"]


#: LLVM takes time that grows with the square of a basic block's length, so long ones are cut.
_BLOCK_LINES = 200


def _constant(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


class Text:
    """Writes one function: ``int32_t name(double seed, void **bases)``, which returns 1 where a flag is true."""

    def __init__(self, name: str, block: Block, places: Places, bases: Sequence[str], metadata: list[str]) -> None:
        """
        Args:
            name: the function's.
            block: its code.
            places: what addresses are.
            bases: the arrays that are no tables. The function takes the addresses of these, and then of the tables.
            metadata: the module's, to which the loops whose iterations are independent are added.
        """
        self.lines: list[str] = []
        self.declarations: dict[str, None] = {}
        self._places, self._metadata = places, metadata
        self._group = ""  # of the accesses in a loop whose iterations are independent
        self._names: dict[int, str] = {SEED.number: "%seed"}
        self._count = 0
        self._block = "entry"
        self._counters: dict[Body, tuple[str, str]] = {}  # of the loops around: counter and ordinal
        self._known: list[dict[object, str]] = [{}]  # what was computed of them, by the body
        self._live = live_values(block)
        self._write(block)
        arrays = [*bases, *(f"T{i}" for i in range(len(places.tables)))]
        parameters = ", ".join(f"ptr noalias %{array}" for array in arrays)
        arguments = ", ".join(f"ptr %base{i}" for i in range(len(arrays)))
        self.text = "\n".join(
            [
                f'define internal i32 @{name}_body(double %seed, {parameters}) noinline "no-builtins" {{',
                "entry:",
                *self.lines,
                "ret i32 0",
                "failed:",
                "ret i32 1",
                "}",
                f"define i32 @{name}(double %seed, ptr %bases) {{",
                *base_loads(len(arrays)),
                f"%answer = call i32 @{name}_body(double %seed, {arguments})",
                "ret i32 %answer",
                "}",
                "",
            ]
        )

    def _new(self, hint: str = "v") -> str:
        self._count += 1
        return f"%{hint}{self._count}"

    def _emit(self, instruction: str) -> str:
        name = self._new()
        self.lines.append(f"{name} = {instruction}")
        return name

    def _name(self, value: Value) -> str:
        return self._names[value.number] if isinstance(value, Ref) else _constant(value)

    def _write(self, block: Block) -> None:
        begun = len(self.lines)
        flags: list[str] = []
        for step in block.steps:
            if isinstance(step, Loop):
                self._end_block(flags)
                self._loop(step)
            elif step.name == "flag":
                flags.append(self._name(step.operands[0]))
            elif step.result is None or step.result.number in self._live:
                self._op(step)
            if len(self.lines) - begun > _BLOCK_LINES:
                self._end_block(flags)
                begun = len(self.lines)
        self._end_block(flags)

    def _end_block(self, flags: list[str]) -> None:
        """Leave the function if a flag is true."""
        label = self._new("go")[1:]
        if flags:
            while len(flags) > 1:
                flags[:] = [*flags[2:], self._emit(f"or i1 {flags[0]}, {flags[1]}")]
            self.lines.append(f"br i1 {flags.pop()}, label %failed, label %{label}")
        else:
            self.lines.append(f"br label %{label}")
        self.lines.append(f"{label}:")
        self._block = label

    def _op(self, op: Op) -> None:
        operands = [self._name(v) for v in op.operands]
        if op.name == "store":
            assert op.at is not None
            self.lines.append(f"store double {operands[0]}, ptr {self._pointer(op.at)}, align 8{self._group}")
            return
        assert op.result is not None
        self._names[op.result.number] = self._emit(self._instruction(op, operands))

    def _instruction(self, op: Op, operands: list[str]) -> str:
        match op.name.split():
            case ["load"]:
                assert op.at is not None
                return f"load double, ptr {self._pointer(op.at)}, align 8{self._group}"
            case ["fadd", "reassoc"]:
                return f"fadd reassoc contract double {operands[0]}, {operands[1]}"
            case ["fadd" | "fsub" | "fmul" | "fdiv" as name]:
                return f"{name} contract double {operands[0]}, {operands[1]}"
            case ["fneg"]:
                return f"fneg double {operands[0]}"
            case ["fabs"]:
                return self._called("llvm.fabs.f64", operands)
            case ["fcmp", test]:
                return f"fcmp {test} double {operands[0]}, {operands[1]}"
            case ["and" | "or" as name]:
                return f"{name} i1 {operands[0]}, {operands[1]}"
            case ["not"]:
                return f"xor i1 {operands[0]}, true"
            case ["select"]:
                return f"select i1 {operands[0]}, double {operands[1]}, double {operands[2]}"
            case ["call", name]:
                return self._called(f"{name}.f64" if name.startswith("llvm.") else name, operands)
        raise AssertionError(op.name)

    def _called(self, function: str, operands: list[str]) -> str:
        self.declarations[f"declare double @{function}({', '.join(['double'] * len(operands))})"] = None
        return f"call double @{function}({', '.join(f'double {v}' for v in operands)})"

    # --- addresses ------------------------------------------------------------------------------------------

    def _pointer(self, at: Address) -> str:
        array, index = self._places.element(at)
        moving = self._moving(index)
        base = f"%{array}"
        if moving:
            base = self._once(("at", array, moving), f"getelementptr double, ptr {base}, i64 {moving}")
        return self._emit(f"getelementptr double, ptr {base}, i64 {index.base}") if index.base else base

    def _moving(self, index: Index) -> str:
        """An index without its base; empty if nothing is left."""
        terms = []
        if index.table is not None:
            body, entries = index.table
            entry = f"getelementptr i64, ptr %{self._places.table(entries)}, i64 {self._counters[body][1]}"
            pointer = self._once((entry,), entry)
            terms.append(self._once(("load", pointer), f"load i64, ptr {pointer}, align 8{self._group}"))
        for body, through, step in index.steps:
            counter = self._counters[body][through]
            terms.append(counter if step == 1 else self._once((counter, step), f"mul i64 {counter}, {step}"))
        moving = ""
        for term in terms:
            moving = self._once((moving, "+", term), f"add i64 {moving}, {term}") if moving else term
        return moving

    def _once(self, key: object, instruction: str) -> str:
        """An instruction that the iteration may have had before."""
        known = self._known[-1]
        if key not in known:
            known[key] = self._emit(instruction)
        return known[key]

    def _number(self, numbers: Indices, body: Body) -> str:
        """What a body's iteration has of some numbers."""
        index = fit(body, numbers)
        moving = self._moving(index)
        if not moving:
            return str(index.base)
        return self._once((moving, "+", index.base), f"add i64 {moving}, {index.base}") if index.base else moving

    # --- loops ----------------------------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> None:
        body = loop.of
        assert body.parent is not None
        count, first = self._number(body.counts, body.parent), self._number(body.firsts, body.parent)
        last = str(int(count) - 1) if count.isdigit() else self._emit(f"add i64 {count}, -1")
        before, head, after = self._block, self._new("loop")[1:], self._new("after")[1:]
        self.lines += [f"br label %{head}", f"{head}:"]
        phi_line = len(self.lines)
        self.lines.append("")
        counter, following = self._new("k"), self._new("k")
        self._block = head
        self._known.append({})
        ordinal = counter if first == "0" else self._emit(f"add i64 {counter}, {first}")
        self._counters[body] = counter, ordinal
        live = [phi for phi in loop.phis if phi.result.number in self._live]
        phis = [phi for phi in live if phi.start is not None]
        for phi in phis:
            self._names[phi.result.number] = self._new("c")
        marks = self._marks(loop)
        self._write(loop.body)
        self._group = ""
        begin, end, step = (last, "0", -1) if loop.backward else ("0", last, 1)
        self.lines.append(f"{following} = add nsw i64 {counter}, {step}")
        done = self._emit(f"icmp eq i64 {counter}, {end}")
        self.lines += [f"br i1 {done}, label %{after}, label %{head}{marks}", f"{after}:"]
        heads = [f"{counter} = phi i64 [ {begin}, %{before} ], [ {following}, %{self._block} ]"]
        for phi in phis:
            assert phi.start is not None
            assert phi.following is not None
            heads.append(
                f"{self._name(phi.result)} = phi double [ {self._name(phi.start)}, %{before} ], "
                f"[ {self._name(phi.following)}, %{self._block} ]"
            )
        for phi in live:
            if phi.final is not None and phi.following is not None:
                self._names[phi.final.number] = self._name(phi.following)
        self.lines[phi_line] = "\n".join(heads)
        self._known.pop()
        self._block = after

    def _marks(self, loop: Loop) -> str:
        """What tells LLVM that a loop's iterations are independent, if they are."""
        if not is_parallel(loop, lambda op: op.result is None or op.result.number in self._live, self._places):
            return ""
        group = len(self._metadata)
        self._metadata += [
            f"!{group} = distinct !{{}}",
            f"!{group + 1} = distinct !{{!{group + 1}, !{group + 2}}}",
            f'!{group + 2} = !{{!"llvm.loop.parallel_accesses", !{group}}}',
        ]
        self._group = f", !llvm.access.group !{group}"
        return f", !llvm.loop !{group + 1}"
