"""An IR builder that writes LLVM IR as text: vectors with operators, memory at known addresses, and loops.

It forwards: within straight-line code, a load from an address that was stored to or loaded before gives that SSA value
(store-to-load forwarding), and a store that another overwrites unread is removed (dead-store elimination). The text
goes straight to LLVM's code generator, without the optimization passes that would do this.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from .kernel_calls import DOUBLE, POINTERS, Address, KernelCall
from .memory import Memory

__all__ = ["SCRATCH", "IRBuilder", "Integers", "Mask", "Vector", "base_loads", "constant", "is_constant", "number_of"]

#: How many vectors are forwarded, outside of basic_block() and in it: more would be spilled, and a reload is as cheap.
_FORWARDED, _FORWARDED_IN_BLOCK = 20, 26

#: The address that stands for a function's own memory on the stack.
SCRATCH = 1 << 62

#: The displacement of an address from its base is less, so that x86 encodes it in 32 bits.
_MAX_DISPLACEMENT = 1 << 30


def base_loads(count: int) -> list[str]:
    """What a function begins with that takes a table of base addresses as ``%bases``."""
    lines = []
    for i in range(count):
        lines.append(f"%at{i} = getelementptr ptr, ptr %bases, i64 {i}")
        lines.append(f"%base{i} = load ptr, ptr %at{i}, align 8")
    return lines


def constant(number: float) -> str:
    """A double, as LLVM IR writes it."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def is_constant(double: str) -> bool:
    """Whether an operand is a number that ``constant`` has written."""
    return double.startswith("0x")


def number_of(double: str) -> float:
    """The number that ``constant`` has written."""
    number: float = struct.unpack("<d", struct.pack("<Q", int(double, 16)))[0]
    return number


def _type_of(width: int, element: str = "double") -> str:
    return element if width == 1 else f"<{width} x {element}>"


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """An SSA value of ``width`` doubles; a plain double if ``width`` is 1."""

    builder: IRBuilder
    name: str
    width: int

    def _with(self, operation: str, other: Vector | float, swap: bool = False) -> Vector:
        right = other.name if isinstance(other, Vector) else self.builder.constant_text(other, self.width)
        left = self.name
        if swap:
            left, right = right, left
        return self.builder.vector(f"{operation} contract {_type_of(self.width)} {left}, {right}", self.width)

    def __add__(self, other: Vector | float) -> Vector:
        return self._with("fadd", other)

    def __radd__(self, other: float) -> Vector:
        return self._with("fadd", other)

    def __sub__(self, other: Vector | float) -> Vector:
        return self._with("fsub", other)

    def __rsub__(self, other: float) -> Vector:
        return self._with("fsub", other, swap=True)

    def __mul__(self, other: Vector | float) -> Vector:
        return self._with("fmul", other)

    def __rmul__(self, other: float) -> Vector:
        return self._with("fmul", other)

    def __truediv__(self, other: Vector | float) -> Vector:
        return self._with("fdiv", other)

    def __rtruediv__(self, other: float) -> Vector:
        return self._with("fdiv", other, swap=True)

    def __neg__(self) -> Vector:
        return self.builder.vector(f"fneg {_type_of(self.width)} {self.name}", self.width)

    def compare(self, test: str, other: Vector | float) -> Mask:
        """Where ``self test other``, the test being one of LLVM's: olt, ole, ogt, oge, oeq, une, …"""
        right = other.name if isinstance(other, Vector) else self.builder.constant_text(other, self.width)
        name = self.builder.emit(f"fcmp {test} {_type_of(self.width)} {self.name}, {right}")
        return Mask(self.builder, name, self.width)

    def intrinsic(self, function: str, *others: Vector) -> Vector:
        """A call of the intrinsic ``llvm.<function>`` on vectors of one type."""
        kind = _type_of(self.width)
        suffix = "f64" if self.width == 1 else f"v{self.width}f64"
        symbol = f"@llvm.{function}.{suffix}"
        self.builder.declare(f"declare {kind} {symbol}({', '.join([kind] * (1 + len(others)))})")
        arguments = ", ".join(f"{kind} {v.name}" for v in (self, *others))
        return self.builder.vector(f"call {kind} {symbol}({arguments})", self.width)

    def shuffle(self, lanes: Sequence[int | None], other: Vector | None = None) -> Vector:
        """A shufflevector: the given lanes of self and, counted after them, of other; None where any lane will do."""
        if other is None and list(lanes) == list(range(self.width)):
            return self
        kind = _type_of(self.width)
        wanted = ", ".join("i32 poison" if lane is None else f"i32 {lane}" for lane in lanes)
        second = other.name if other else "poison"
        return self.builder.vector(
            f"shufflevector {kind} {self.name}, {kind} {second}, <{len(lanes)} x i32> <{wanted}>", len(lanes)
        )

    def lane(self, i: int) -> Vector:
        if self.width == 1:
            return self
        return self.builder.vector(f"extractelement {_type_of(self.width)} {self.name}, i32 {i}", 1)

    def resized(self, width: int) -> Vector:
        """The first lanes in a vector of another width; lanes that are new may hold anything."""
        if width == self.width:
            return self
        if width == 1:
            return self.lane(0)
        if self.width == 1:
            kind = _type_of(width)
            return self.builder.vector(f"insertelement {kind} poison, double {self.name}, i32 0", width)
        return self.shuffle([lane if lane < self.width else None for lane in range(width)])

    def splat(self, width: int) -> Vector:
        """This double in each of ``width`` lanes."""
        if width == 1:
            return self
        kind = _type_of(width)
        first = self.builder.emit(f"insertelement {kind} poison, double {self.name}, i32 0")
        zeros = f"<{width} x i32> zeroinitializer"
        return self.builder.vector(f"shufflevector {kind} {first}, {kind} poison, {zeros}", width)

    def bits(self) -> Integers:
        kind = _type_of(self.width, "i64")
        name = self.builder.emit(f"bitcast {_type_of(self.width)} {self.name} to {kind}")
        return Integers(self.builder, name, self.width)


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """An SSA value of ``width`` 64-bit integers."""

    builder: IRBuilder
    name: str
    width: int

    def op(self, operation: str, other: Integers | int) -> Integers:
        right = other.name if isinstance(other, Integers) else self.builder.integer_text(other, self.width)
        name = self.builder.emit(f"{operation} {_type_of(self.width, 'i64')} {self.name}, {right}")
        return Integers(self.builder, name, self.width)

    def double(self) -> Vector:
        return self.builder.vector(
            f"bitcast {_type_of(self.width, 'i64')} {self.name} to {_type_of(self.width)}", self.width
        )


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """An SSA value of ``width`` booleans."""

    builder: IRBuilder
    name: str
    width: int

    def op(self, operation: str, other: Mask) -> Mask:
        kind = _type_of(self.width, "i1")
        return Mask(self.builder, self.builder.emit(f"{operation} {kind} {self.name}, {other.name}"), self.width)

    def select(self, yes: Vector | float, no: Vector | float) -> Vector:
        builder, kind = self.builder, _type_of(self.width)
        names = [v.name if isinstance(v, Vector) else builder.constant_text(v, self.width) for v in (yes, no)]
        mask = _type_of(self.width, "i1")
        return builder.vector(f"select {mask} {self.name}, {kind} {names[0]}, {kind} {names[1]}", self.width)

    def any(self, count: int) -> str:
        """Whether any of the first ``count`` lanes is true, as an i1."""
        builder = self.builder
        if self.width == 1:
            return self.name
        whole = builder.emit(f"bitcast <{self.width} x i1> {self.name} to i{self.width}")
        if count < self.width:
            whole = builder.emit(f"and i{self.width} {whole}, {(1 << count) - 1}")
        return builder.emit(f"icmp ne i{self.width} {whole}, 0")


#: What memory holds at an address: the constant, the SSA offset, and how many doubles (-n: one double, in n lanes).
_Place = tuple[int, str | None, int]


class IRBuilder:
    """The body of one function, and what its definition needs: base pointers, scratch memory, declarations."""

    def __init__(self, width: int, memory: Memory) -> None:
        self.width = width  #: doubles of a vector
        self.memory: Memory = replace(memory, blocks=sorted([*memory.blocks, (SCRATCH, _MAX_DISPLACEMENT)]))
        self.lines: list[str] = []
        self.bases: list[
            int
        ] = []  #: addresses from which all others are displacements; the function finds them in a table
        self.scratch = 0  #: bytes of memory of its own, at the address SCRATCH
        self.declarations: dict[str, None] = {}
        self.transient = False  #: stores in a basic_block() are read within it or not at all
        self._count = 0
        self._constants: dict[tuple[float, int], str] = {}
        self._forwarded: dict[_Place, Vector] = {}  # what memory holds, least recently used first
        self._pending_stores: dict[_Place, tuple[int, bool]] = {}  # stores not read so far: their line; transient
        self._loop_depth = 0
        self._block_depth = 0  # the loop depth of the open basic_block(); 0 where there is none
        self._block = "entry"

    # --- instructions -------------------------------------------------------------------------------------

    def emit(self, instruction: str) -> str:
        """Write an instruction; the name of its result."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"{name} = {instruction}")
        return name

    def emit_void(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(instruction)

    def vector(self, instruction: str, width: int) -> Vector:
        return Vector(self, self.emit(instruction), width)

    def declare(self, declaration: str) -> None:
        self.declarations[declaration] = None

    def constant_vector(self, number: float, width: int) -> Vector:
        return Vector(self, self.constant_text(number, width), width)

    def constant_text(self, number: float, width: int) -> str:
        """``number`` in each of ``width`` lanes, as an operand."""
        key = (number, width)
        if number == 0.0:  # 0.0 and -0.0 are equal, so they would be one key
            key = (0.0 if str(number) == "0.0" else -1e-320, width)
        if key not in self._constants:
            one = constant(number)
            lanes = ", ".join([f"double {one}"] * width)
            self._constants[key] = one if width == 1 else f"<{lanes}>"
        return self._constants[key]

    def integer_text(self, number: int, width: int) -> str:
        return str(number) if width == 1 else f"<{', '.join([f'i64 {number}'] * width)}>"

    # --- loads and stores ---------------------------------------------------------------------------------

    def _base_of(self, address: int) -> int:
        """The base that an address is a displacement from: the beginning of its block, or a whole step behind it.

        Blocks move apart when the code runs on other memory, so no base serves two of them.
        """
        begin, _ = self.memory.block_of(address)
        return begin + (address - begin) // _MAX_DISPLACEMENT * _MAX_DISPLACEMENT

    def pointer(self, at: Address) -> str:
        base = self._base_of(at.constant)
        if base not in self.bases:
            self.bases.append(base)
        pointer = f"%base{self.bases.index(base)}"
        if at.offset is not None:
            pointer = self.emit(f"getelementptr i8, ptr {pointer}, i64 {at.offset}")
        if at.constant == base:
            return pointer
        return self.emit(f"getelementptr i8, ptr {pointer}, i64 {at.constant - base}")

    def vector_shape(self, count: int) -> tuple[int, str | None]:
        """The width of a vector for ``count`` numbers, and the mask that loads and stores of it need."""
        if count >= self.width:
            return self.width, None
        if count in (1, 2, 4):
            return count, None
        lanes = ", ".join(f"i1 {'true' if i < count else 'false'}" for i in range(self.width))
        return self.width, f"<{self.width} x i1> <{lanes}>"

    def load(self, at: Address, count: int) -> Vector:
        """``count`` numbers, at most a vector of them; lanes beyond may hold anything."""
        count = min(count, self.width)
        if count == 1 and at.offset is None and at.constant in self.memory.literals:
            return self.constant_vector(self.memory.literals[at.constant], 1)
        key = (at.constant, at.offset, count)
        if self._can_forward(at) and (known := self._forwarded.pop(key, None)) is not None:
            self._forwarded[key] = known  # now the most recently used
            return known
        result = self._emit_load(at, count)
        if self._can_forward(at):
            self._forward(key, result)
        return result

    def load_splat(self, at: Address, width: int) -> Vector:
        """One number in every lane."""
        if at.offset is None and at.constant in self.memory.literals:
            return self.constant_vector(self.memory.literals[at.constant], width)
        key = (at.constant, at.offset, -width)
        if self._can_forward(at) and key in self._forwarded:
            return self._forwarded[key]
        if self._block_depth:  # x86 arithmetic broadcasts a memory operand for free: no register for it
            return self._emit_load(at, 1).splat(width)
        result = self.load(at, 1).splat(width)
        if self._can_forward(at):
            self._forward(key, result)
        return result

    def _emit_load(self, at: Address, count: int) -> Vector:
        self._keep_stores(at, count)
        width, mask = self.vector_shape(count)
        kind = _type_of(width)
        pointer = self.pointer(at)
        if mask is None:
            return self.vector(f"load {kind}, ptr {pointer}, align 8", width)
        symbol = f"@llvm.masked.load.v{width}f64.p0"
        self.declare(f"declare {kind} {symbol}(ptr, i32, <{width} x i1>, {kind})")
        return self.vector(f"call {kind} {symbol}(ptr {pointer}, i32 8, {mask}, {kind} zeroinitializer)", width)

    def store(self, at: Address, value: Vector, count: int) -> None:
        """Store the first ``count`` lanes."""
        count = min(count, self.width)
        width, mask = self.vector_shape(count)
        value = value.resized(width)
        kind = _type_of(width)
        pointer = self.pointer(at)
        if mask is None:
            self.emit_void(f"store {kind} {value.name}, ptr {pointer}, align 8")
        else:
            symbol = f"@llvm.masked.store.v{width}f64.p0"
            self.declare(f"declare void {symbol}({kind}, ptr, i32, <{width} x i1>)")
            self.emit_void(f"call void {symbol}({kind} {value.name}, ptr {pointer}, i32 8, {mask})")
        if not self._can_forward(at) or self.memory.block_of(at.constant)[0] in self.memory.overlapping:
            self.invalidate()
            return
        self._invalidate_range(at.constant, at.constant + count * DOUBLE, at.offset)
        if self._block_depth:
            self._remove_overwritten_store(at, count)
        self._forward((at.constant, at.offset, count), value)

    # --- store-to-load forwarding and dead-store elimination ----------------------------------------------

    @contextmanager
    def basic_block(self) -> Iterator[None]:
        """A basic block: loads and stores at moving addresses are forwarded, too, and overwritten stores removed.

        The caller guarantees that addresses with different SSA offsets do not alias.
        """
        self.invalidate()
        before, self._block_depth = self._block_depth, self._loop_depth
        try:
            yield
        finally:
            for line, transient in self._pending_stores.values():
                if transient:
                    self.lines[line] = ""
            self._block_depth = before
            self.invalidate()

    def invalidate(self) -> None:
        """Forget what memory holds; pending stores stay in the code."""
        self._forwarded.clear()
        self._pending_stores.clear()

    def _can_forward(self, at: Address) -> bool:
        return at.offset is None if self._block_depth == 0 else self._block_depth == self._loop_depth

    def _forward(self, key: _Place, value: Vector) -> None:
        if self._loop_depth != self._block_depth:
            return
        self._forwarded[key] = value
        if len(self._forwarded) > (_FORWARDED if self._block_depth == 0 else _FORWARDED_IN_BLOCK):
            del self._forwarded[next(iter(self._forwarded))]

    def _invalidate_range(self, begin: int, end: int, offset: str | None) -> None:
        stale = [
            key
            for key in self._forwarded
            if key[1] == offset and key[0] < end and begin < key[0] + (key[2] if key[2] > 0 else 1) * DOUBLE
        ]
        for key in stale:
            del self._forwarded[key]

    def _remove_overwritten_store(self, at: Address, count: int) -> None:
        """After a store, which is the last line: remove the one before it to the same address, if it was not read."""
        key = (at.constant, at.offset, count)
        line, _ = self._pending_stores.pop(key, (None, False))
        self._keep_stores(at, count)
        if line is not None:
            self.lines[line] = ""
        self._pending_stores[key] = (len(self.lines) - 1, self.transient)

    def _keep_stores(self, at: Address, count: int) -> None:
        """Stores to any of these numbers are read, so they are not removed."""
        begin, end = at.constant, at.constant + count * DOUBLE
        read = [
            key
            for key in self._pending_stores
            if key[1] == at.offset and key[0] < end and begin < key[0] + key[2] * DOUBLE
        ]
        for key in read:
            del self._pending_stores[key]

    # --- control flow -------------------------------------------------------------------------------------

    def _new_label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def _start_block(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self._block = label

    def loop(
        self,
        count: int,
        starts: Sequence[str],
        steps: Sequence[int],
        carried: Sequence[Vector],
        body: Callable[[list[str], list[Vector]], list[Vector]],
    ) -> list[Vector]:
        """A loop of ``count`` iterations.

        Args:
            count: the trip count, at least 1.
            starts: byte offsets in the first iteration.
            steps: by how many bytes each offset grows in an iteration.
            carried: the loop-carried vectors before the first iteration.
            body: emits one iteration, given the offsets and the carried vectors; returns the new carried vectors.

        Returns:
            The carried vectors after the last iteration.
        """
        self.invalidate()
        self._loop_depth += 1
        before, head, after = self._block, self._new_label("loop"), self._new_label("after")
        self.emit_void(f"br label %{head}")
        self._start_block(head)
        phi_line = len(self.lines)
        self.lines.append("")
        counter, *offsets = (f"%i{self._new_label('')}" for _ in range(1 + len(starts)))
        names = [f"%c{self._new_label('')}" for _ in carried]
        results = body(offsets, [Vector(self, name, v.width) for name, v in zip(names, carried, strict=True)])
        end = self._block
        next_offsets = [self.emit(f"add i64 {o}, {step}") for o, step in zip(offsets, steps, strict=True)]
        next_counter = self.emit(f"add i64 {counter}, 1")
        more = self.emit(f"icmp ult i64 {next_counter}, {count}")
        self.emit_void(f"br i1 {more}, label %{head}, label %{after}")
        phis = [("i64", counter, "0", next_counter)]
        phis += [("i64", *phi) for phi in zip(offsets, starts, next_offsets, strict=True)]
        for name, start, result in zip(names, carried, results, strict=True):
            phis.append((_type_of(start.width), name, start.name, result.name))
        self.lines[phi_line] = "\n".join(
            f"{name} = phi {kind} [ {start}, %{before} ], [ {following}, %{end} ]"
            for kind, name, start, following in phis
        )
        self._start_block(after)
        self._loop_depth -= 1
        self.invalidate()
        return results

    def branch(self, condition: str, body: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """``body`` where the i1 ``condition`` is true, else ``otherwise``. Nothing is forwarded out of either."""
        self.invalidate()
        self._loop_depth += 1
        yes, no, after = self._new_label("yes"), self._new_label("no"), self._new_label("after")
        self.emit_void(f"br i1 {condition}, label %{yes}, label %{no}")
        for label, emit_body in ((yes, body), (no, otherwise)):
            self._start_block(label)
            emit_body()
            self.emit_void(f"br label %{after}")
        self._start_block(after)
        self._loop_depth -= 1
        self.invalidate()

    # --- calls --------------------------------------------------------------------------------------------

    def flag_domain_error(self, flag: str) -> None:
        """If the i1 ``flag`` is true, an operation has left its domain, and the function will say so."""
        wide = self.emit(f"zext i1 {flag} to i32")
        old = self.emit("load i32, ptr %outside")
        new = self.emit(f"or i32 {old}, {wide}")
        self.emit_void(f"store i32 {new}, ptr %outside")

    def call_function(self, name: str, addresses: Sequence[int]) -> None:
        """Call a function of this module that takes ``%outside``, ``%adds`` and addresses."""
        self.invalidate()
        arguments = "".join(f", ptr {self.pointer(Address(address))}" for address in addresses)
        self.emit_void(f"call void @{name}(ptr %outside, i1 %adds{arguments})")

    def call_kernel(self, call: KernelCall) -> None:
        """Call the prebuilt kernel. Pointers that move are first written into its struct Call."""
        self.invalidate()
        for i, offset in enumerate(call.offsets):
            if offset is None:
                continue
            field = self.pointer(Address(call.struct_address + POINTERS + i * DOUBLE))
            self.emit_void(f"store ptr {self.pointer(Address(call.pointers[i], offset))}, ptr {field}")
        argument = self.pointer(Address(call.struct_address))
        self.declarations[f"declare zeroext i1 @{call.symbol}(ptr)"] = None
        self.flag_domain_error(self.emit(f"call zeroext i1 @{call.symbol}(ptr {argument})"))
