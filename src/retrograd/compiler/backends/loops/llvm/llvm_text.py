"""The SSA form as LLVM IR."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ...llvm.ir_builder import base_loads
from ..passes.backward import SEED
from ..passes.code import Block, Loop, Op, Phi, Ref
from ..passes.storage import Places
from ..shapes.structure import Body
from .dependences import is_parallel
from .grouped_calls import Calls, with_groups
from .lane_loops import LaneLoops
from .lanes import shifted, sums_of_lanes
from .llvm_lines import PhiLine
from .parts import Part, Slots, Step, in_parts, values_made, values_read

__all__ = ["Text"]


#: Of the function: what it calls is what it says, and vectors are as long as they can be.
_ATTRIBUTES = 'noinline "no-builtins" "prefer-vector-width"="512"'

#: LLVM takes time that grows with the square of a basic block's length, so long ones are cut; and so are functions
#: with more operations.
_BLOCK_LINES, _PART_OPS = 200, 2_000


class Text(LaneLoops):
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
        functions: Mapping[str, str] = MappingProxyType({}),
        lanes: int = 0,
        in_lanes: Collection[Body] = (),
    ) -> None:
        """
        Args:
            name: the function's.
            block: its code.
            places: what addresses are.
            bases: the arrays that are no tables. The function takes the addresses of these, and then of the tables.
            metadata: the module's, to which the loops whose iterations are independent are added.
            width: how many calls run side by side.
            functions: the symbols of functions of vectors, ``void f(double *result, const double *a, const double
                *b)``, by the names of the C library's. Those of one argument do not read the second.
            lanes: how many numbers these vectors have. With a ``width``, as many.
            in_lanes: loops of which so many iterations run side by side.
        """
        super().__init__(places, width, lanes)
        self._metadata, self._functions, self._in_lanes = metadata, functions, in_lanes
        self._raised: str | None = None  # in a loop whose iterations are independent: the flags, gathered as a number
        self._slots = Slots(places.reserve)  # in the array B
        parts = in_parts(self._steps(block), _PART_OPS)
        bodies = [self._part(part, number) for number, part in enumerate(parts)]
        arrays = [*bases, *(f"T{i}" for i in range(len(places.tables)))]
        functions_of_parts = [self._function(f"{name}_body{i}", arrays, lines) for i, lines in enumerate(bodies)]
        self.text: str = "\n".join([*functions_of_parts, *_one_by_one(name, len(parts), len(arrays)), ""])

    # --- parts ----------------------------------------------------------------------------------------------

    def _part(self, part: Part, number: int) -> list[str]:
        """The lines of a part of the function."""
        self.lines, self._block, self._known = [], "entry", [{}]
        self._names[SEED.number] = "%seed" if self._width == 1 else self._everywhere("%seed")
        self._write_steps(self._steps_of(part, number))
        return self.lines

    def _steps_of(self, part: Part, number: int) -> Iterator[Step]:
        """The steps of a part. What it reads of the parts before it is in memory, and what it hands on goes there."""
        fetched: set[Ref] = set()
        for step in part.steps:
            for value in values_read(step):
                if value in part.read and value not in fetched:
                    fetched.add(value)
                    self._fetch(value)
            yield step
            for value in values_made(step):
                if value in part.handed_on and value.number not in self._loaded and value.number not in self._totals:
                    size = self._lanes if value in self._sums_of_lanes else 1
                    self._keep(value, self._slots.take(value, size, number, part.handed_on[value]))

    def _keep(self, value: Ref, slot: int) -> None:
        """Write a value to memory, a truth as a number."""
        name, kind = self._name(value), self._kind_of(value)
        if value.boolean:
            name = self._emit(f"uitofp {self._bit} {name} to {kind}")
        self.lines.append(f"store {kind} {name}, ptr {self._slot(slot)}, align 8")

    def _fetch(self, value: Ref) -> None:
        """Read a value of a part before this one."""
        if value.number in self._totals:
            return
        if value.number in self._loaded:
            self._names[value.number] = self._load(self._loaded[value.number])
            return
        kind = self._kind_of(value)
        name = self._emit(f"load {kind}, ptr {self._slot(self._slots[value])}, align 8")
        if value.boolean:
            name = self._emit(f"fcmp une {kind} {name}, {self._name(0.0)}")
        self._names[value.number] = name

    def _kind_of(self, value: Ref) -> str:
        return self._vector if value in self._sums_of_lanes else self._double

    def _slot(self, slot: int) -> str:
        return self._emit(f"getelementptr {self._double}, ptr %B, i64 {slot}")

    def _function(self, name: str, arrays: Sequence[str], lines: Sequence[str]) -> str:
        parameters = ", ".join(f"ptr noalias %{array}" for array in arrays)
        vector = f"alloca <{self._lanes} x double>, align 64"
        memory = [f"%{name} = {vector}" for name in ("argument0", "argument1", "value")] if self._has_vectors else []
        begin = f"define internal i32 @{name}(double %seed, {parameters}) {_ATTRIBUTES} {{"
        return "\n".join([begin, "entry:", *memory, *lines, "ret i32 0", "failed:", "ret i32 1", "}"])

    def _write(self, block: Block) -> None:
        self._write_steps(self._steps(block))

    def _write_steps(self, steps: Iterable[Step]) -> None:
        begun = len(self.lines)
        flags: list[str] = []
        for step in steps:
            if isinstance(step, Loop):
                self._end_block(flags)
                if step.of in self._in_lanes and self._width == 1:
                    self._loop_in_lanes(step)
                else:
                    self._loop(step)
            elif isinstance(step, Calls):
                self._call_group(step)
            elif step.name == "flag":
                flags.append(self._name(step.operands[0]))
            else:
                self._op(step)
            if len(self.lines) - begun > _BLOCK_LINES:
                self._end_block(flags)
                begun = len(self.lines)
        self._end_block(flags)

    def _steps(self, block: Block) -> Sequence[Step]:
        """Those of a block: with groups of calls, unless each number is a vector, or LLVM makes the vectors."""
        if self._width > 1 or self._group or not self._functions:
            return block.steps
        in_loop = len(self._known) > 1  # what the next iteration waits for would wait longer
        least = self._lanes if in_loop else self._lanes // 2
        return with_groups(block.steps, self._places.numbers, self._functions, least)

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
        if self._side_by_side is not None and self._side_by_side.mask:
            flag = self._emit(f"and {self._bit} {flag}, {self._side_by_side.mask}")
        reduced = f"i1 @llvm.vector.reduce.or.v{self._width}i1"
        self.declarations[f"declare {reduced}({self._bit})"] = None
        return self._emit(f"call {reduced}({self._bit} {flag})")

    def _op(self, op: Op) -> None:
        operands = [self._name(v) for v in op.operands]
        if op.name == "store":
            assert op.at is not None
            self._store(op.at, operands[0])
            return
        if op.name == "add to":
            assert op.at is not None
            self._add_to(op.at, operands[0])
            return
        kind, _, array = op.name.partition(" ")
        if kind == "scatter":
            self._scatter_add(array, *operands)
            return
        if kind == "put":
            self._put(array, *operands)
            return
        assert op.result is not None
        self._set(op, self._computed(op, operands))

    def _computed(self, op: Op, operands: list[str]) -> str:
        """The name of an operation's result."""
        double = self._vector if op.result in self._sums_of_lanes else self._double
        bit = self._bit
        match op.name.split():
            case ["load"]:
                assert op.at is not None
                return self._load(op.at)
            case ["take" | "get", array]:
                return self._take(self._places.array(array), operands[0])
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
            case ["shift"]:
                assert op.result is not None
                return self._shifted(op.result, operands[0])
        raise AssertionError(op.name)

    # --- functions ------------------------------------------------------------------------------------------

    def _called(self, name: str, operands: list[str]) -> str:
        if name.startswith("llvm."):
            kind = "f64" if self._width == 1 else f"v{self._width}f64"
            return self._call(f"{name}.{kind}", self._double, operands)
        if self._group and name in self._functions:
            return self._call_in_vectors(name, operands)
        if self._width == 1:
            # LLVM makes one call of both of these, where the C library has a function for it.
            return self._call(f"llvm.{name}.f64" if name in ("sin", "cos") else name, "double", operands)
        if name in self._functions:
            return self._call_of_vectors(name, operands)
        value = "poison"  # the C library's function, element by element
        for i in range(self._width):
            elements = [self._emit(f"extractelement {self._double} {operand}, i32 {i}") for operand in operands]
            number = self._call(name, "double", elements)
            value = self._emit(f"insertelement {self._double} {value}, double {number}, i32 {i}")
        return value

    def _call(self, function: str, kind: str, operands: list[str]) -> str:
        self.declarations[f"declare {kind} @{function}({', '.join([kind] * len(operands))})"] = None
        return self._emit(f"call {kind} @{function}({', '.join(f'{kind} {operand}' for operand in operands)})")

    def _call_in_vectors(self, name: str, operands: Sequence[str]) -> str:
        """A call in a loop that LLVM runs several iterations of at once, with the function that it is then."""
        many, count = f"<{self._lanes} x double>", len(operands)
        given = ", ".join(f"{many} %x{i}" for i in range(count))
        lines = [
            *(f"%argument{i} = alloca {many}, align 64" for i in range(2)),
            f"%value = alloca {many}, align 64",
            *(f"store {many} %x{i}, ptr %argument{i}, align 64" for i in range(count)),
            self._vector_call(name),
            f"%y = load {many}, ptr %value, align 64",
        ]
        self.declarations["\n".join([f"define {many} @vectors_{name}({given}) {{", *lines, f"ret {many} %y\n}}"])] = (
            None
        )
        self.declarations[f"declare double @{name}({', '.join(['double'] * count)})"] = None
        mangled = f"_ZGV_LLVM_N{self._lanes}{'v' * count}_{name}(vectors_{name})"
        variant = f'"vector-function-abi-variant"="{mangled}"'
        arguments = ", ".join(f"double {operand}" for operand in operands)
        return self._emit(f"call double @{name}({arguments}) nounwind willreturn readnone {variant}")

    def _vector_call(self, function: str) -> str:
        symbol = self._functions[function]
        self.declarations[f"declare void @{symbol}(ptr, ptr, ptr)"] = None
        return f"call void @{symbol}(ptr %value, ptr %argument0, ptr %argument1)"

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
            for which in range(len(some[0].operands)):
                vector = "poison"
                for i in range(self._lanes):
                    operand = self._name(some[min(i, len(some) - 1)].operands[which])
                    vector = self._emit(f"insertelement {many} {vector}, double {operand}, i32 {i}")
                self.lines.append(f"store {many} {vector}, ptr %argument{which}, align 64")
            self.lines.append(self._vector_call(calls.function))
            for i, op in enumerate(some):
                assert op.result is not None
                place = self._emit(f"getelementptr double, ptr %value, i64 {i}") if i else "%value"
                self._names[op.result.number] = self._emit(f"load double, ptr {place}, align 8")

    def _call_of_vectors(self, function: str, operands: Sequence[str]) -> str:
        for i, operand in enumerate(operands):
            self.lines.append(f"store {self._double} {operand}, ptr %argument{i}, align 64")
        self.lines.append(self._vector_call(function))
        return self._emit(f"load {self._double}, ptr %value, align 64")

    # --- loops ----------------------------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> None:
        body = loop.of
        assert body.parent is not None
        count, first = self._number(body.counts, body.parent), self._number(body.firsts, body.parent)
        last = str(int(count) - 1) if count.isdigit() else self._emit(f"add i64 {count}, -1")
        if loop.backward and loop.taken is not None:
            last = self._emit(f"fptosi double {self._any_of(self._load(loop.taken))} to i64")
        if self._width == 1:
            self._sums_of_lanes |= sums_of_lanes(loop, self._in_lanes)
        carried = [(self._start(phi), phi) for phi in loop.phis if phi.start is not None]
        marks = self._marks(loop)
        gathered = bool(marks) and any(isinstance(step, Op) and step.name == "flag" for step in loop.body.steps)
        none = self._emit(f"icmp eq i64 {count}, 0") if body.optional else ""
        before = self._block
        with self._iterations(last, loop.backward, marks, none) as (counter, phis, leaves):
            self._counters[body] = counter, counter if first == "0" else self._emit(f"add i64 {counter}, {first}")
            for _, phi in carried:
                self._names[phi.result.number] = self._new("c")
            raised = self._raised = self._new("raised") if gathered else None
            self._write(loop.body)
            following_raised, self._raised, self._group = self._raised, None, ""
            for start, phi in carried:
                assert phi.following is not None
                kind = self._vector if phi.result in self._sums_of_lanes else self._double
                phis.append(PhiLine(self._name(phi.result), kind, start, self._name(phi.following)))
            if loop.goes_on:
                leaves.append(self._ends(loop))
            if raised and following_raised:
                phis.append(PhiLine(raised, "i64", "0", following_raised))
        for phi in loop.phis:
            if phi.final is not None and phi.following is not None:
                self._names[phi.final.number] = self._name(phi.following)
                if phi.result in self._sums_of_lanes and phi.final not in self._sums_of_lanes:
                    self._names[phi.final.number] = self._sum_of_lanes(self._name(phi.following))
        if none:
            self._ends_of_none_or_one(carried, before)
        if loop.taken is not None and not loop.backward:
            taken = self._emit(f"sitofp i64 {counter} to double")
            self._store(loop.taken, taken if self._width == 1 else self._everywhere(taken))
        if gathered:
            self._leave_if(self._emit(f"icmp ne i64 {following_raised}, 0"))

    def _ends(self, loop: Loop) -> str:
        """Whether no iteration that follows does anything, of any call."""
        phis = [phi for phi in loop.phis if phi.result in loop.goes_on]
        numbers = [phi.result if loop.once_more else phi.following for phi in phis]
        goes_on = "false"
        for number in numbers:
            assert number is not None
            going = self._any(self._emit(f"fcmp une {self._double} {self._name(number)}, {self._name(0.0)}"))
            goes_on = self._emit(f"or i1 {goes_on}, {going}")
        return self._emit(f"xor i1 {goes_on}, true")

    def _any_of(self, number: str) -> str:
        """A number that all calls have in common."""
        return number if self._width == 1 else self._emit(f"extractelement {self._double} {number}, i32 0")

    def _start(self, phi: Phi) -> str:
        """What a loop begins with of what it hands on."""
        assert phi.start is not None
        start = self._name(phi.start)
        if phi.result not in self._sums_of_lanes or phi.start in self._sums_of_lanes:
            return start
        return self._emit(f"insertelement {self._vector} zeroinitializer, double {start}, i32 0")

    def _ends_of_none_or_one(self, carried: Sequence[tuple[str, Phi]], before: str) -> None:
        """What a loop hands on that may have been left out: then as it began."""
        for start, phi in carried:
            if phi.final is not None:
                end, name = self._names[phi.final.number], self._new("c")
                self.lines.append(f"{name} = phi {self._double} [ {start}, %{before} ], [ {end}, %{self._last_block} ]")
                self._names[phi.final.number] = name

    def _marks(self, loop: Loop) -> str:
        """What tells LLVM that a loop's iterations are independent, if they are."""
        if self._width > 1 or loop.goes_on or loop.taken is not None:
            return ""
        if not is_parallel(loop, self._places, self._functions) or shifted(loop, self._places) is None:
            return ""
        group = len(self._metadata)
        self._metadata += [
            f"!{group} = distinct !{{}}",
            f"!{group + 1} = distinct !{{!{group + 1}, !{group + 2}}}",
            f'!{group + 2} = !{{!"llvm.loop.parallel_accesses", !{group}}}',
        ]
        self._group = f", !llvm.access.group !{group}"
        return f", !llvm.loop !{group + 1}"


def _one_by_one(name: str, parts: int, arrays: int) -> list[str]:
    """A function that calls its parts, until one returns 1."""
    arguments = ", ".join(["double %seed", *(f"ptr %base{i}" for i in range(arrays))])
    lines = [f"define i32 @{name}(double %seed, ptr %bases) {{", *base_loads(arrays)]
    for i in range(parts):
        lines += [
            f"%answer{i} = call i32 @{name}_body{i}({arguments})",
            f"%failed{i} = icmp ne i32 %answer{i}, 0",
            f"br i1 %failed{i}, label %failed, label %after{i}",
            f"after{i}:",
        ]
    return [*lines, "ret i32 0", "failed:", "ret i32 1", "}"]
