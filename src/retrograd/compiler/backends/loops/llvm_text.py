"""The SSA form as LLVM IR."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from .backward import SEED
from .code import Address, Block, Loop, Op, Ref, Value
from .liveness import live_values

__all__ = ["Text"]


#: LLVM takes time that grows with the square of a basic block's length, so long ones are cut.
_BLOCK_LINES = 200


def _constant(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


class Text:
    """Writes one function: ``int32_t name(double seed)``, which returns 1 where a flag is true."""

    def __init__(self, name: str, block: Block, bases: Mapping[str, int]) -> None:
        """
        Args:
            name: the function's.
            block: its code.
            bases: where each array is in memory.
        """
        self.lines: list[str] = []
        self.declarations: dict[str, None] = {}
        self._bases = bases
        self._names: dict[int, str] = {SEED.number: "%seed"}
        self._count = 0
        self._block = "entry"
        self._iteration = ""
        self._offsets: dict[object, str] = {}
        self._live = live_values(block)
        self._write(block)
        parameters = ", ".join(f"ptr noalias %{array}" for array in bases)
        arguments = ", ".join(f"ptr inttoptr (i64 {at} to ptr)" for at in bases.values())
        self.text = "\n".join(
            [
                f"define internal i32 @{name}_body(double %seed, {parameters}) noinline {{",
                "entry:",
                *self.lines,
                "ret i32 0",
                "failed:",
                "ret i32 1",
                "}",
                f"define i32 @{name}(double %seed) {{",
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
            self.lines.append(f"store double {operands[0]}, ptr {self._pointer(op.at)}, align 8")
            return
        assert op.result is not None
        self._names[op.result.number] = self._emit(self._instruction(op, operands))

    def _instruction(self, op: Op, operands: list[str]) -> str:
        match op.name.split():
            case ["load"]:
                assert op.at is not None
                return f"load double, ptr {self._pointer(op.at)}, align 8"
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

    def _pointer(self, at: Address) -> str:
        base = f"%{at.array}"
        if at.table is not None:
            entry = self._emit(f"getelementptr i64, ptr %T{at.table}, i64 {self._iteration}")
            index = self._emit(f"load i64, ptr {entry}, align 8")
            return self._emit(f"getelementptr double, ptr {base}, i64 {index}")
        if at.stride:
            if (at.array, at.stride) not in self._offsets:
                offset = self._iteration
                if at.stride != 1:
                    offset = self._emit(f"mul i64 {offset}, {at.stride}")
                self._offsets[at.array, at.stride] = self._emit(f"getelementptr double, ptr {base}, i64 {offset}")
            base = self._offsets[at.array, at.stride]
        return self._emit(f"getelementptr double, ptr {base}, i64 {at.base}") if at.base else base

    def _loop(self, loop: Loop) -> None:
        before, head, after = self._block, self._new("loop")[1:], self._new("after")[1:]
        self.lines += [f"br label %{head}", f"{head}:"]
        phi_line = len(self.lines)
        self.lines.append("")
        self._block, self._offsets = head, {}
        self._iteration = counter = self._new("k")
        phis = [phi for phi in loop.phis if phi.result.number in self._live]
        for phi in phis:
            self._names[phi.result.number] = self._new("c")
        self._write(loop.body)
        step, last = (-1, 0) if loop.backward else (1, loop.count - 1)
        following = self._emit(f"add i64 {counter}, {step}")
        done = self._emit(f"icmp eq i64 {counter}, {last}")
        self.lines += [f"br i1 {done}, label %{after}, label %{head}", f"{after}:"]
        start = loop.count - 1 if loop.backward else 0
        heads = [f"{counter} = phi i64 [ {start}, %{before} ], [ {following}, %{self._block} ]"]
        for phi in phis:
            assert phi.following is not None
            heads.append(
                f"{self._name(phi.result)} = phi double [ {self._name(phi.start)}, %{before} ], "
                f"[ {self._name(phi.following)}, %{self._block} ]"
            )
            if phi.final is not None:
                self._names[phi.final.number] = self._name(phi.following)
        self.lines[phi_line] = "\n".join(heads)
        self._block, self._iteration, self._offsets = after, "", {}
