"""The SSA form as LLVM IR."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..llvm.ir_builder import base_loads
from .backward import SEED
from .code import Address, Block, Loop, Op, Ref, Value
from .dependences import is_parallel
from .grouped_calls import Calls, with_groups
from .layout import Constants
from .liveness import live_values
from .storage import Index, Places, fit
from .structure import Body, Indices

__all__ = ["Text"]


#: Of the function: what it calls is what it says, and vectors are as long as they can be.
_ATTRIBUTES = 'noinline "no-builtins" "prefer-vector-width"="512"'

#: LLVM takes time that grows with the square of a basic block's length, so long ones are cut.
_BLOCK_LINES = 200


def _constant(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


class Text:
    """Writes one function: ``int32_t name(double seed, void **bases)``, which returns 1 where a flag is true.

    With a ``width`` it runs so many calls side by side: each number is a vector with a call in each element, and so is
    each element of the arrays; tables stay as they are. It returns 1 where a flag is true for any of them.
    """

    def __init__(
        self,
        name: str,
        block: Block,
        places: Places,
        bases: Sequence[str],
        metadata: list[str],
        width: int = 1,
        functions: Mapping[str, int] = MappingProxyType({}),
        lanes: int = 0,
    ) -> None:
        """
        Args:
            name: the function's.
            block: its code.
            places: what addresses are.
            bases: the arrays that are no tables. The function takes the addresses of these, and then of the tables.
            metadata: the module's, to which the loops whose iterations are independent are added.
            width: how many calls run side by side.
            functions: the addresses of functions of vectors, ``void f(double *result, const double *argument)``, by the
                names of the C library's.
            lanes: how many numbers these vectors have. With a ``width``, as many.
        """
        self.lines: list[str] = []
        self.declarations: dict[str, None] = {}
        self._places, self._metadata = places, metadata
        self._width, self._functions, self._lanes = width, functions, lanes
        self._double = "double" if width == 1 else f"<{width} x double>"
        self._bit = "i1" if width == 1 else f"<{width} x i1>"
        self._group = ""  # of the accesses in a loop whose iterations are independent
        self._raised: str | None = None  # in such a loop: the flags up to here, gathered as a number
        self._names: dict[int, str] = {SEED.number: "%seed"}
        self._count = 0
        self._block = "entry"
        self._counters: dict[Body, tuple[str, str]] = {}  # of the loops around: counter and ordinal
        self._known: list[dict[object, str]] = [{}]  # what was computed of them, by the body
        self._live = live_values(block)
        self._has_vectors = width > 1  # in memory, for functions of vectors
        if width > 1:
            self._names[SEED.number] = self._everywhere("%seed")
        self._write(block)
        memory = [f"%{name} = alloca <{lanes} x double>, align 64" for name in ("argument", "value")]
        arrays = [*bases, *(f"T{i}" for i in range(len(places.tables)))]
        parameters = ", ".join(f"ptr noalias %{array}" for array in arrays)
        arguments = ", ".join(f"ptr %base{i}" for i in range(len(arrays)))
        self.text = "\n".join(
            [
                f"define internal i32 @{name}_body(double %seed, {parameters}) {_ATTRIBUTES} {{",
                "entry:",
                *(memory if self._has_vectors else ()),
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
        if isinstance(value, Ref):
            return self._names[value.number]
        return _constant(value) if self._width == 1 else self._each(f"double {_constant(value)}")

    def _each(self, element: str) -> str:
        """A vector of equal constants."""
        return f"<{', '.join([element] * self._width)}>"

    def _everywhere(self, number: str) -> str:
        """A vector with a number in each element."""
        first = self._emit(f"insertelement {self._double} poison, double {number}, i32 0")
        double, places = self._double, f"<{self._width} x i32> zeroinitializer"
        return self._emit(f"shufflevector {double} {first}, {double} poison, {places}")

    def _write(self, block: Block) -> None:
        begun = len(self.lines)
        flags: list[str] = []
        for step in self._steps(block):
            if isinstance(step, Loop):
                self._end_block(flags)
                self._loop(step)
            elif isinstance(step, Calls):
                self._call_group(step)
            elif step.name == "flag":
                flags.append(self._name(step.operands[0]))
            elif self._is_live(step):
                self._op(step)
            if len(self.lines) - begun > _BLOCK_LINES:
                self._end_block(flags)
                begun = len(self.lines)
        self._end_block(flags)

    def _steps(self, block: Block) -> Sequence[Op | Loop | Calls]:
        """Those of a block: with groups of calls, unless each number is a vector, or LLVM makes the vectors."""
        if self._width > 1 or self._group or not self._functions:
            return block.steps
        return with_groups(block.steps, self._is_live, self._places.numbers, self._functions, self._lanes // 2)

    def _is_live(self, op: Op) -> bool:
        return op.result is None or op.result.number in self._live

    def _end_block(self, flags: list[str]) -> None:
        """Leave the function if a flag is true; after the loop, where its iterations are independent."""
        while len(flags) > 1:
            flags[:] = [*flags[2:], self._emit(f"or {self._bit} {flags[0]}, {flags[1]}")]
        if flags and self._raised is not None:
            raised = self._emit(f"zext i1 {flags.pop()} to i64")
            self._raised = self._emit(f"or i64 {self._raised}, {raised}")
        self._leave_if(self._any(flags.pop()) if flags else None)

    def _leave_if(self, condition: str | None) -> None:
        """End a basic block, and there the function if the condition holds."""
        label = self._new("go")[1:]
        leaving = f"br i1 {condition}, label %failed, label %{label}" if condition else f"br label %{label}"
        self.lines += [leaving, f"{label}:"]
        self._block = label

    def _any(self, flag: str) -> str:
        """Whether a flag is true for any call."""
        if self._width == 1:
            return flag
        reduced = f"i1 @llvm.vector.reduce.or.v{self._width}i1"
        self.declarations[f"declare {reduced}({self._bit})"] = None
        return self._emit(f"call {reduced}({self._bit} {flag})")

    def _op(self, op: Op) -> None:
        operands = [self._name(v) for v in op.operands]
        if op.name == "store":
            assert op.at is not None
            self.lines.append(f"store {self._double} {operands[0]}, ptr {self._pointer(op.at)}, align 8{self._group}")
            return
        assert op.result is not None
        self._names[op.result.number] = self._computed(op, operands)

    def _computed(self, op: Op, operands: list[str]) -> str:
        """The name of an operation's result."""
        double, bit = self._double, self._bit
        match op.name.split():
            case ["load"]:
                assert op.at is not None
                if self._width > 1 and isinstance(op.at.of, Constants):
                    number = self._emit(f"load double, ptr {self._pointer(op.at)}, align 8{self._group}")
                    return self._everywhere(number)
                return self._emit(f"load {double}, ptr {self._pointer(op.at)}, align 8{self._group}")
            case ["fadd" | "fsub" as name, "reassoc"]:
                return self._emit(f"{name} reassoc contract {double} {operands[0]}, {operands[1]}")
            case ["fadd" | "fsub" | "fmul" | "fdiv" as name]:
                return self._emit(f"{name} contract {double} {operands[0]}, {operands[1]}")
            case ["fneg"]:
                return self._emit(f"fneg {double} {operands[0]}")
            case ["fabs"]:
                return self._called("llvm.fabs", operands)
            case ["fcmp", test]:
                return self._emit(f"fcmp {test} {double} {operands[0]}, {operands[1]}")
            case ["and" | "or" as name]:
                return self._emit(f"{name} {bit} {operands[0]}, {operands[1]}")
            case ["not"]:
                true = "true" if self._width == 1 else self._each("i1 true")
                return self._emit(f"xor {bit} {operands[0]}, {true}")
            case ["select"]:
                return self._emit(f"select {bit} {operands[0]}, {double} {operands[1]}, {double} {operands[2]}")
            case ["call", name]:
                return self._called(name, operands)
        raise AssertionError(op.name)

    # --- functions ------------------------------------------------------------------------------------------

    def _called(self, name: str, operands: list[str]) -> str:
        if name.startswith("llvm."):
            kind = "f64" if self._width == 1 else f"v{self._width}f64"
            return self._call(f"{name}.{kind}", self._double, operands)
        if self._group and name in self._functions:
            return self._call_in_vectors(name, operands[0])
        if self._width == 1:
            # LLVM makes one call of both of these, where the C library has a function for it.
            return self._call(f"llvm.{name}.f64" if name in ("sin", "cos") else name, "double", operands)
        if name in self._functions:
            return self._call_of_vectors(self._functions[name], operands[0])
        value = "poison"  # the C library's function, element by element
        for i in range(self._width):
            elements = [self._emit(f"extractelement {self._double} {operand}, i32 {i}") for operand in operands]
            number = self._call(name, "double", elements)
            value = self._emit(f"insertelement {self._double} {value}, double {number}, i32 {i}")
        return value

    def _call(self, function: str, kind: str, operands: list[str]) -> str:
        self.declarations[f"declare {kind} @{function}({', '.join([kind] * len(operands))})"] = None
        return self._emit(f"call {kind} @{function}({', '.join(f'{kind} {operand}' for operand in operands)})")

    def _call_in_vectors(self, name: str, operand: str) -> str:
        """A call in a loop that LLVM runs several iterations of at once, with the function that it is then."""
        many = f"<{self._lanes} x double>"
        self.declarations[
            f"define {many} @vectors_{name}({many} %x) {{\n"
            f"%argument = alloca {many}, align 64\n%value = alloca {many}, align 64\n"
            f"store {many} %x, ptr %argument, align 64\n"
            f"call void inttoptr (i64 {self._functions[name]} to ptr)(ptr %value, ptr %argument)\n"
            f"%y = load {many}, ptr %value, align 64\nret {many} %y\n}}"
        ] = None
        self.declarations[f"declare double @{name}(double)"] = None
        variant = f'"vector-function-abi-variant"="_ZGV_LLVM_N{self._lanes}v_{name}(vectors_{name})"'
        return self._emit(f"call double @{name}(double {operand}) nounwind willreturn readnone {variant}")

    def _call_group(self, calls: Calls) -> None:
        """Calls of one function, some at a time; those that are left over one by one."""
        many = f"<{self._lanes} x double>"
        for begin in range(0, len(calls.ops), self._lanes):
            some = calls.ops[begin : begin + self._lanes]
            if 2 * len(some) < self._lanes:
                for op in some:
                    self._op(op)
                continue
            self._has_vectors = True
            vector = "poison"
            for i in range(self._lanes):
                operand = self._name(some[min(i, len(some) - 1)].operands[0])
                vector = self._emit(f"insertelement {many} {vector}, double {operand}, i32 {i}")
            self.lines.append(f"store {many} {vector}, ptr %argument, align 64")
            self.lines.append(
                f"call void inttoptr (i64 {self._functions[calls.function]} to ptr)(ptr %value, ptr %argument)"
            )
            for i, op in enumerate(some):
                assert op.result is not None
                place = self._emit(f"getelementptr double, ptr %value, i64 {i}") if i else "%value"
                self._names[op.result.number] = self._emit(f"load double, ptr {place}, align 8")

    def _call_of_vectors(self, address: int, operand: str) -> str:
        self.lines.append(f"store {self._double} {operand}, ptr %argument, align 64")
        self.lines.append(f"call void inttoptr (i64 {address} to ptr)(ptr %value, ptr %argument)")
        return self._emit(f"load {self._double}, ptr %value, align 64")

    # --- addresses ------------------------------------------------------------------------------------------

    def _pointer(self, at: Address) -> str:
        array, index = self._places.element(at)
        moving = self._moving(index)
        base = f"%{array}"
        kind = "double" if isinstance(at.of, Constants) else self._double
        if moving:
            base = self._once(("at", array, moving), f"getelementptr {kind}, ptr {base}, i64 {moving}")
        return self._emit(f"getelementptr {kind}, ptr {base}, i64 {index.base}") if index.base else base

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
        gathered = marks and any(isinstance(step, Op) and step.name == "flag" for step in loop.body.steps)
        raised = self._raised = self._new("raised") if gathered else None
        self._write(loop.body)
        following_raised, self._raised = self._raised, None
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
                f"{self._name(phi.result)} = phi {self._double} [ {self._name(phi.start)}, %{before} ], "
                f"[ {self._name(phi.following)}, %{self._block} ]"
            )
        if gathered:
            heads.append(f"{raised} = phi i64 [ 0, %{before} ], [ {following_raised}, %{self._block} ]")
        for phi in live:
            if phi.final is not None and phi.following is not None:
                self._names[phi.final.number] = self._name(phi.following)
        self.lines[phi_line] = "\n".join(heads)
        self._known.pop()
        self._block = after
        if gathered:
            self._leave_if(self._emit(f"icmp ne i64 {following_raised}, 0"))

    def _marks(self, loop: Loop) -> str:
        """What tells LLVM that a loop's iterations are independent, if they are."""
        if self._width > 1:
            return ""
        if not is_parallel(loop, self._is_live, self._places, self._functions):
            return ""
        group = len(self._metadata)
        self._metadata += [
            f"!{group} = distinct !{{}}",
            f"!{group + 1} = distinct !{{!{group + 1}, !{group + 2}}}",
            f'!{group + 2} = !{{!"llvm.loop.parallel_accesses", !{group}}}',
        ]
        self._group = f", !llvm.access.group !{group}"
        return f", !llvm.loop !{group + 1}"
