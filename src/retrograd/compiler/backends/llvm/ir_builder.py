"""LLVM IR as text: vectors with operators, memory at addresses that are known, and loops.

What was stored or loaded a moment ago is remembered, so that in straight-line code a number goes from one kernel
call to the next in a register. No pass of LLVM has to find that out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from .kernel_calls import DOUBLE, POINTERS, At, Call

__all__ = ["SCRATCH", "Mask", "Text", "Vector"]

#: How many vectors are remembered: more would be spilled, and a reload costs the same from anywhere.
_REMEMBERED = 20

#: Where a function's own memory is said to be.
SCRATCH = 1 << 62

#: Addresses are reached by 32-bit displacements from a few bases.
_REACH = 1 << 30


def literal(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def type_of(width: int, element: str = "double") -> str:
    return element if width == 1 else f"<{width} x {element}>"


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """An SSA value of ``width`` doubles; a plain double when that is one."""

    text: Text
    name: str
    width: int

    def _with(self, operation: str, other: Vector | float, swap: bool = False) -> Vector:
        right = other.name if isinstance(other, Vector) else self.text.constant(other, self.width)
        left = self.name
        if swap:
            left, right = right, left
        return self.text.vector(f"{operation} contract {type_of(self.width)} {left}, {right}", self.width)

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
        return self.text.vector(f"fneg {type_of(self.width)} {self.name}", self.width)

    def compare(self, test: str, other: Vector | float) -> Mask:
        """Where ``self test other``, the test being one of LLVM's: olt, ole, ogt, oge, oeq, une, …"""
        right = other.name if isinstance(other, Vector) else self.text.constant(other, self.width)
        name = self.text.op(f"fcmp {test} {type_of(self.width)} {self.name}, {right}")
        return Mask(self.text, name, self.width)

    def called(self, function: str, *others: Vector) -> Vector:
        """An intrinsic, as llvm.<function>, of vectors of one type."""
        kind = type_of(self.width)
        suffix = "f64" if self.width == 1 else f"v{self.width}f64"
        symbol = f"@llvm.{function}.{suffix}"
        self.text.declare(f"declare {kind} {symbol}({', '.join([kind] * (1 + len(others)))})")
        arguments = ", ".join(f"{kind} {v.name}" for v in (self, *others))
        return self.text.vector(f"call {kind} {symbol}({arguments})", self.width)

    def shuffled(self, lanes: Sequence[int | None], other: Vector | None = None) -> Vector:
        """The lanes of self, and of other after them, in another order. None: any."""
        if other is None and list(lanes) == list(range(self.width)):
            return self
        kind = type_of(self.width)
        wanted = ", ".join("i32 poison" if lane is None else f"i32 {lane}" for lane in lanes)
        second = other.name if other else "poison"
        return self.text.vector(
            f"shufflevector {kind} {self.name}, {kind} {second}, <{len(lanes)} x i32> <{wanted}>", len(lanes)
        )

    def lane(self, i: int) -> Vector:
        if self.width == 1:
            return self
        return self.text.vector(f"extractelement {type_of(self.width)} {self.name}, i32 {i}", 1)

    def splat(self, width: int) -> Vector:
        """A double in every lane."""
        if width == 1:
            return self
        kind = type_of(width)
        first = self.text.op(f"insertelement {kind} poison, double {self.name}, i32 0")
        return self.text.vector(f"shufflevector {kind} {first}, {kind} poison, <{width} x i32> zeroinitializer", width)

    def bits(self) -> Integers:
        kind = type_of(self.width, "i64")
        return Integers(self.text, self.text.op(f"bitcast {type_of(self.width)} {self.name} to {kind}"), self.width)


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """An SSA value of 64-bit integers."""

    text: Text
    name: str
    width: int

    def op(self, operation: str, other: Integers | int) -> Integers:
        right = other.name if isinstance(other, Integers) else self.text.integers(other, self.width)
        kind = type_of(self.width, "i64")
        return Integers(self.text, self.text.op(f"{operation} {kind} {self.name}, {right}"), self.width)

    def double(self) -> Vector:
        return self.text.vector(
            f"bitcast {type_of(self.width, 'i64')} {self.name} to {type_of(self.width)}", self.width
        )


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """An SSA value of truths."""

    text: Text
    name: str
    width: int

    def op(self, operation: str, other: Mask) -> Mask:
        kind = type_of(self.width, "i1")
        return Mask(self.text, self.text.op(f"{operation} {kind} {self.name}, {other.name}"), self.width)

    def select(self, yes: Vector | float, no: Vector | float) -> Vector:
        text, kind = self.text, type_of(self.width)
        names = [v.name if isinstance(v, Vector) else text.constant(v, self.width) for v in (yes, no)]
        mask = type_of(self.width, "i1")
        return text.vector(f"select {mask} {self.name}, {kind} {names[0]}, {kind} {names[1]}", self.width)

    def any(self, count: int) -> str:
        """Whether any of the first ``count`` lanes is true, as an i1."""
        text = self.text
        if self.width == 1:
            return self.name
        whole = text.op(f"bitcast <{self.width} x i1> {self.name} to i{self.width}")
        if count < self.width:
            whole = text.op(f"and i{self.width} {whole}, {(1 << count) - 1}")
        return text.op(f"icmp ne i{self.width} {whole}, 0")


class Text:
    """The body of one function, and what it needs around it."""

    def __init__(self, width: int, literals: Mapping[int, float] | None = None) -> None:
        self.width = width  #: doubles of a vector
        self.literals = literals or {}  #: numbers that never change, by their addresses
        self.lines: list[str] = []
        self.bases: list[int] = []  #: the function's arguments, by their addresses
        self.scratch = 0  #: bytes of memory of its own, at the address SCRATCH
        self.declarations: dict[str, None] = {}
        self._count = 0
        self._remembered: dict[tuple[int, str | None, int], Vector] = {}
        self._constants: dict[tuple[float, int], str] = {}
        self._depth = 0
        self._straight = 0  # the depth of loops at which straight-line code may remember
        self._stored: dict[tuple[int, str | None, int], tuple[int, bool]] = {}  # there: lines that nobody needed so far
        self.passing = False  # what is stored in straight-line code is read there or not at all
        self._block = "entry"

    # --- instructions -------------------------------------------------------------------------------------

    def op(self, instruction: str) -> str:
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"{name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(instruction)

    def vector(self, instruction: str, width: int) -> Vector:
        return Vector(self, self.op(instruction), width)

    def declare(self, declaration: str) -> None:
        self.declarations[declaration] = None

    def constant(self, number: float, width: int) -> str:
        key = (number, width)
        if number == 0.0:  # zeros of both signs are one key
            key = (0.0 if str(number) == "0.0" else -1e-320, width)
        if key not in self._constants:
            one = literal(number)
            lanes = ", ".join([f"double {one}"] * width)
            self._constants[key] = one if width == 1 else f"<{lanes}>"
        return self._constants[key]

    def number(self, number: float, width: int) -> Vector:
        return Vector(self, self.constant(number, width), width)

    def integers(self, number: int, width: int) -> str:
        return str(number) if width == 1 else f"<{', '.join([f'i64 {number}'] * width)}>"

    # --- memory -------------------------------------------------------------------------------------------

    def pointer(self, at: At) -> str:
        base = next((base for base in self.bases if abs(at.address - base) < _REACH), at.address)
        if base not in self.bases:
            self.bases.append(base)
        where = f"%base{self.bases.index(base)}"
        if at.moving is not None:
            where = self.op(f"getelementptr i8, ptr {where}, i64 {at.moving}")
        if at.address == base:
            return where
        return self.op(f"getelementptr i8, ptr {where}, i64 {at.address - base}")

    def _some(self, count: int) -> tuple[int, str | None]:
        """The width of a vector for ``count`` numbers, and the mask that it needs."""
        if count >= self.width:
            return self.width, None
        if count in (1, 2, 4):
            return count, None
        lanes = ", ".join(f"i1 {'true' if i < count else 'false'}" for i in range(self.width))
        return self.width, f"<{self.width} x i1> <{lanes}>"

    def load(self, at: At, count: int) -> Vector:
        """``count`` numbers, at most a vector of them; lanes beyond are anything."""
        count = min(count, self.width)
        if count == 1 and at.moving is None and at.address in self.literals:
            return self.number(self.literals[at.address], 1)
        key = (at.address, at.moving, count)
        if self._remembers(at) and (known := self._remembered.pop(key, None)) is not None:
            self._remembered[key] = known
            return known
        result = self._loaded(at, count)
        if self._remembers(at):
            self._remember(key, result)
        return result

    def _replaces(self, at: At, count: int) -> None:
        """The line written last is a store; one to the same place, which nobody has read, was in vain."""
        key = (at.address, at.moving, count)
        line, _ = self._stored.pop(key, (None, False))
        self._needs(at, count)
        if line is not None:
            self.lines[line] = ""
        self._stored[key] = (len(self.lines) - 1, self.passing)

    def _needs(self, at: At, count: int) -> None:
        """What was stored there must be stored."""
        begin, end = at.address, at.address + count * DOUBLE
        for key in [k for k in self._stored if k[1] == at.moving and k[0] < end and begin < k[0] + k[2] * DOUBLE]:
            del self._stored[key]

    def _loaded(self, at: At, count: int) -> Vector:
        self._needs(at, count)
        width, mask = self._some(count)
        kind = type_of(width)
        where = self.pointer(at)
        if mask is None:
            return self.vector(f"load {kind}, ptr {where}, align 8", width)
        symbol = f"@llvm.masked.load.v{width}f64.p0"
        self.declare(f"declare {kind} {symbol}(ptr, i32, <{width} x i1>, {kind})")
        return self.vector(f"call {kind} {symbol}(ptr {where}, i32 8, {mask}, {kind} zeroinitializer)", width)

    def store(self, at: At, value: Vector, count: int) -> None:
        """The first ``count`` lanes."""
        count = min(count, self.width)
        width, mask = self._some(count)
        if width < value.width:
            value = value.shuffled(range(width)) if width > 1 else value.lane(0)
        kind = type_of(width)
        where = self.pointer(at)
        if mask is None:
            self.do(f"store {kind} {value.name}, ptr {where}, align 8")
        else:
            symbol = f"@llvm.masked.store.v{width}f64.p0"
            self.declare(f"declare void {symbol}({kind}, ptr, i32, <{width} x i1>)")
            self.do(f"call void {symbol}({kind} {value.name}, ptr {where}, i32 8, {mask})")
        if not self._remembers(at):
            self.forget()
            return
        self._forget_range(at.address, at.address + count * DOUBLE, at.moving)
        if self._straight:
            self._replaces(at, count)
        self._remember((at.address, at.moving, count), value)

    def load_splat(self, at: At, width: int) -> Vector:
        """One number in every lane."""
        if at.moving is None and at.address in self.literals:
            return self.number(self.literals[at.address], width)
        key = (at.address, at.moving, -width)
        if self._remembers(at) and key in self._remembered:
            return self._remembered[key]
        if self._straight:  # an operation takes it from memory as it is
            return self._loaded(at, 1).splat(width)
        result = self.load(at, 1).splat(width)
        if self._remembers(at):
            self._remember(key, result)
        return result

    @contextmanager
    def straight(self) -> Iterator[None]:
        """Straight-line code in a loop: places that move are remembered too. Whoever writes it knows that places which
        move differently are different places."""
        self.forget()
        before, self._straight = self._straight, self._depth
        try:
            yield
        finally:
            for line, passing in self._stored.values():
                if passing:
                    self.lines[line] = ""
            self._straight = before
            self.forget()

    def _remembers(self, at: At) -> bool:
        return at.moving is None if self._straight == 0 else self._straight == self._depth

    def _remember(self, key: tuple[int, str | None, int], value: Vector) -> None:
        if self._depth != self._straight:
            return
        self._remembered[key] = value
        if len(self._remembered) > (_REMEMBERED if self._straight == 0 else 26):
            del self._remembered[next(iter(self._remembered))]

    def _forget_range(self, begin: int, end: int, moving: str | None) -> None:
        stale = [
            key
            for key in self._remembered
            if key[1] == moving and key[0] < end and begin < key[0] + (key[2] if key[2] > 0 else 1) * DOUBLE
        ]
        for key in stale:
            del self._remembered[key]

    def forget(self) -> None:
        self._remembered.clear()
        self._stored.clear()

    # --- control ------------------------------------------------------------------------------------------

    def label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def enter(self, label: str) -> None:
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
        """Runs body ``count`` times. Offsets begin at ``starts`` and grow by ``steps`` bytes; vectors are carried."""
        self.forget()
        self._depth += 1
        before, head, after = self._block, self.label("loop"), self.label("after")
        self.do(f"br label %{head}")
        self.enter(head)
        place = len(self.lines)
        self.lines.append("")
        counter, *offsets = (f"%i{self.label('')}" for _ in range(1 + len(starts)))
        names = [f"%c{self.label('')}" for _ in carried]
        inside = [Vector(self, name, v.width) for name, v in zip(names, carried, strict=True)]
        results = body(offsets, inside)
        end = self._block
        nexts = [self.op(f"add i64 {o}, {step}") for o, step in zip(offsets, steps, strict=True)]
        again = self.op(f"add i64 {counter}, 1")
        test = self.op(f"icmp ult i64 {again}, {count}")
        self.do(f"br i1 {test}, label %{head}, label %{after}")
        phis = [f"{counter} = phi i64 [ 0, %{before} ], [ {again}, %{end} ]"]
        for name, start, following in zip(offsets, starts, nexts, strict=True):
            phis.append(f"{name} = phi i64 [ {start}, %{before} ], [ {following}, %{end} ]")
        for name, start_, result in zip(names, carried, results, strict=True):
            kind = type_of(start_.width)
            phis.append(f"{name} = phi {kind} [ {start_.name}, %{before} ], [ {result.name}, %{end} ]")
        self.lines[place] = "\n".join(phis)
        self.enter(after)
        self._depth -= 1
        self.forget()
        return results

    def outside(self, flag: str) -> None:
        """Notes that an operation may have been outside its domain, by an i1."""
        wide = self.op(f"zext i1 {flag} to i32")
        old = self.op("load i32, ptr %outside")
        new = self.op(f"or i32 {old}, {wide}")
        self.do(f"store i32 {new}, ptr %outside")

    def call_kernel(self, call: Call) -> None:
        """The prebuilt kernel itself."""
        self.forget()
        for i, moving in enumerate(call.moving):
            if moving is None:
                continue
            field = self.op(f"inttoptr i64 {call.address + POINTERS + i * DOUBLE} to ptr")
            self.do(f"store i64 {self.op(f'add i64 {moving}, {call.pointers[i]}')}, ptr {field}")
        function = self.op(f"inttoptr i64 {call.run} to ptr")
        argument = self.op(f"inttoptr i64 {call.address} to ptr")
        self.outside(self.op(f"call zeroext i1 {function}(ptr {argument})"))

    def when(self, condition: str, body: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """One or the other; neither leaves anything remembered."""
        self.forget()
        self._depth += 1
        yes, no, after = self.label("yes"), self.label("no"), self.label("after")
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        for label, do in ((yes, body), (no, otherwise)):
            self.enter(label)
            do()
            self.do(f"br label %{after}")
        self.enter(after)
        self._depth -= 1
        self.forget()
