"""The lines of a function of LLVM IR: names of numbers, and where numbers are in memory.

A number is a double, or a vector with one in each element: for calls that run side by side, whose arrays have such
vectors as elements, or for the iterations of a loop in lanes, whose arrays are those of one call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ...llvm.ir_builder import constant
from ..layouts.operands import Constants
from ..passes.code import Address, Ref, Value
from ..passes.storage import Places
from ..shapes.indices import Index, fit
from ..shapes.structure import Body, Indices
from .lanes import Sums

__all__ = ["Lines", "PhiLine", "SideBySide"]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A loop in lanes, from its last iterations on if ``backward``.

    Attributes:
        mask: which lanes have an iteration: a vector of bits; empty if all always have one.
        sums: its sums in memory.
    """

    body: Body
    backward: bool
    mask: str
    sums: Sums


@dataclass(frozen=True, slots=True)
class PhiLine:
    """A phi as it is written: what it is called, its type, and the names of what it begins as and of what follows."""

    name: str
    kind: str
    start: str
    following: str


class Lines:
    """Writes instructions.

    Attributes:
        lines: what has been written.
        declarations: of the functions that are called.
    """

    def __init__(self, places: Places, width: int, lanes: int) -> None:
        """
        Args:
            places: what addresses are.
            width: how many calls run side by side.
            lanes: how many iterations of a loop do that runs in lanes.
        """
        self.lines: list[str] = []
        self.declarations: dict[str, None] = {}
        self._places, self._lanes = places, lanes
        self._set_width(width)
        self._side_by_side: SideBySide | None = None  # the loop in lanes that is being written
        self._group = ""  # of the accesses in a loop whose iterations are independent
        self._names: dict[int, str] = {}
        self._count = 0
        self._counters: dict[Body, tuple[str, str]] = {}  # of the loops around: counter and ordinal
        self._known: list[dict[object, str]] = [{}]  # what was computed of them, by the body
        self._block = self._last_block = "entry"  # that is being written, and the last one of the loop before it
        self._bases: dict[str, str] = {}  # in a loop in lanes: of arrays of which it has pointers of its own

    # --- numbers --------------------------------------------------------------------------------------------

    def _set_width(self, width: int) -> None:
        """Of how many elements each number is."""
        self._width = width
        self._double = "double" if width == 1 else f"<{width} x double>"
        self._bit = "i1" if width == 1 else f"<{width} x i1>"

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
        return constant(value) if self._width == 1 else self._each(f"double {constant(value)}")

    def _each(self, element: str) -> str:
        """A vector of equal constants."""
        return f"<{', '.join([element] * self._width)}>"

    def _everywhere(self, number: str, kind: str = "double") -> str:
        """A vector with a number in each element."""
        vector, places = f"<{self._width} x {kind}>", f"<{self._width} x i32> zeroinitializer"
        first = self._emit(f"insertelement {vector} poison, {kind} {number}, i32 0")
        return self._emit(f"shufflevector {vector} {first}, {vector} poison, {places}")

    def _once(self, key: object, instruction: str) -> str:
        """An instruction that the iteration may have had before."""
        known = self._known[-1]
        if key not in known:
            known[key] = self._emit(instruction)
        return known[key]

    # --- addresses ------------------------------------------------------------------------------------------

    def _load(self, at: Address) -> str:
        """A number in memory."""
        if self._side_by_side is not None:
            return self._load_of_lanes(at)
        if self._width > 1 and isinstance(at.of, Constants):
            return self._everywhere(self._emit(f"load double, ptr {self._pointer(at)}, align 8{self._group}"))
        return self._emit(f"load {self._double}, ptr {self._pointer(at)}, align 8{self._group}")

    def _store(self, at: Address, value: str) -> None:
        if self._side_by_side is not None:
            self._store_of_lanes(at, value)
        else:
            self.lines.append(f"store {self._double} {value}, ptr {self._pointer(at)}, align 8{self._group}")

    def _add_to(self, at: Address, value: str) -> None:
        """Add to a number in memory; or to the lanes' own sums of it."""
        if self._side_by_side is None or at not in self._side_by_side.sums.addresses:
            if self._side_by_side is not None and self._step_of_lanes(at) is None:
                self._add_in_turn(at, value)
            else:
                self._store(at, self._emit(f"fadd contract {self._double} {self._load(at)}, {value}"))
            return
        value = self._or_zero(value)
        _, index = self._places.element(at)
        place = self._of_sums()
        if moving := self._moving(index):
            place = self._once(("sum", place, moving), f"getelementptr {self._double}, ptr {place}, i64 {moving}")
        offset = index.base + self._side_by_side.sums.place(at)
        place = self._emit(f"getelementptr {self._double}, ptr {place}, i64 {offset}")
        before = self._emit(f"load {self._double}, ptr {place}, align 8")
        total = self._emit(f"fadd contract {self._double} {before}, {value}")
        self.lines.append(f"store {self._double} {total}, ptr {place}, align 8")

    def _of_sums(self) -> str:
        """Where the lanes' sums in memory are."""
        return self._once(("sums",), f"getelementptr double, ptr %B, i64 {self._places.sums}")

    def _pointer(self, at: Address) -> str:
        array, index = self._places.element(at)
        moving = self._moving(index)
        base = self._bases.get(array, f"%{array}")
        kind = "double" if isinstance(at.of, Constants) or self._side_by_side is not None else self._double
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

    def _number(self, numbers: Indices, body: Body) -> str:
        """What a body's iteration has of some numbers."""
        index = fit(body, numbers)
        moving = self._moving(index)
        if not moving:
            return str(index.base)
        return self._once((moving, "+", index.base), f"add i64 {moving}, {index.base}") if index.base else moving

    @contextmanager
    def _iterations(
        self, last: str, backward: bool = False, marks: str = "", none: str = ""
    ) -> Iterator[tuple[str, list[PhiLine], list[str]]]:
        """The lines around the body of a loop: its counter, up to ``last`` or down from it, and what it hands on.

        It is left out where the bit ``none`` is true. The third of what this gives is for bits that end it early.
        """
        before, head, after = self._block, self._new("loop")[1:], self._new("after")[1:]
        entering = f"br i1 {none}, label %{after}, label %{head}" if none else f"br label %{head}"
        self.lines += [entering, f"{head}:"]
        place = len(self.lines)
        self.lines.append("")
        counter, following = self._new("k"), self._new("k")
        self._block = head
        self._known.append({})
        phis: list[PhiLine] = []
        leaves: list[str] = []
        yield counter, phis, leaves
        begin, end, step = (last, "0", -1) if backward else ("0", last, 1)
        self.lines.append(f"{following} = add nsw i64 {counter}, {step}")
        done = self._emit(f"icmp eq i64 {counter}, {end}")
        for leave in leaves:
            done = self._emit(f"or i1 {done}, {leave}")
        self.lines += [f"br i1 {done}, label %{after}, label %{head}{marks}", f"{after}:"]
        phis.insert(0, PhiLine(counter, "i64", begin, following))
        self.lines[place] = "\n".join(
            f"{phi.name} = phi {phi.kind} [ {phi.start}, %{before} ], [ {phi.following}, %{self._block} ]"
            for phi in phis
        )
        self._known.pop()
        self._last_block, self._block = self._block, after

    # --- at places that are computed ------------------------------------------------------------------------

    def _take(self, array: str, place: str) -> str:
        """The element of an array at a place; of vectors, each has its own."""
        pointer = self._taken_at(array, place)
        if self._width == 1:
            return self._emit(f"load double, ptr {pointer}, align 8{self._group}")
        return self._gathered("double", pointer)

    def _put(self, array: str, place: str, value: str) -> None:
        """Write to the element at a place; loops in lanes never do."""
        assert self._width == 1
        self.lines.append(f"store double {value}, ptr {self._taken_at(array, place)}, align 8")

    def _scatter_add(self, array: str, place: str, value: str) -> None:
        """Add to the element at a place; of vectors, one after the other, since places may be equal."""
        self._add_each(self._taken_at(array, place), self._or_zero(value))

    def _add_each(self, pointer: str, value: str) -> None:
        """Add to an element; of vectors, to one after the other."""
        for i in range(self._width):
            here, number = pointer, value
            if self._width > 1:
                here = self._emit(f"extractelement <{self._width} x ptr> {pointer}, i32 {i}")
                number = self._emit(f"extractelement {self._double} {value}, i32 {i}")
            before = self._emit(f"load double, ptr {here}, align 8")
            total = self._emit(f"fadd contract double {before}, {number}")
            self.lines.append(f"store double {total}, ptr {here}, align 8")

    def _or_zero(self, value: str) -> str:
        """A number; zero in lanes that have no iteration."""
        if self._side_by_side is None or not self._side_by_side.mask:
            return value
        mask = f"{self._bit} {self._side_by_side.mask}"
        return self._emit(f"select {mask}, {self._double} {value}, {self._double} zeroinitializer")

    def _taken_at(self, array: str, place: str) -> str:
        """Where an element is; lanes that have no iteration get the array's first."""
        if self._width == 1:
            index = self._emit(f"fptosi double {place} to i64")
            return self._emit(f"getelementptr double, ptr %{array}, i64 {index}")
        short, long = f"<{self._width} x i32>", f"<{self._width} x i64>"
        index = self._emit(f"fptosi {self._double} {place} to {short}")
        index = self._emit(f"sext {short} {index} to {long}")
        if self._side_by_side is None and array in ("L", "G"):  # each element of these is a vector
            index = self._emit(f"mul {long} {index}, {self._each(f'i64 {self._width}')}")
            index = self._emit(f"add {long} {index}, {self._offsets(1)}")
        elif self._side_by_side is not None and self._side_by_side.mask:
            index = self._emit(f"select {self._bit} {self._side_by_side.mask}, {long} {index}, {long} zeroinitializer")
        return self._emit(f"getelementptr double, ptr %{array}, {long} {index}")

    # --- lanes ----------------------------------------------------------------------------------------------

    def _lanes_mask(self) -> str:
        return (self._side_by_side is not None and self._side_by_side.mask) or self._each("i1 true")

    def _offsets(self, step: int) -> str:
        """Multiples of a number, one for each lane."""
        return f"<{', '.join(f'i64 {i * step}' for i in range(self._lanes))}>"

    def _step_of_lanes(self, at: Address) -> int | None:
        """How far the elements are apart that two neighbouring lanes access; None if it varies."""
        assert self._side_by_side is not None
        return self._places.step_of(at, self._side_by_side.body)

    def _load_of_lanes(self, at: Address) -> str:
        assert self._side_by_side is not None
        array, _ = self._places.element(at)
        step, double = self._step_of_lanes(at), self._double
        if step == 0:
            return self._everywhere(self._emit(f"load double, ptr {self._pointer(at)}, align 8"))
        if step != 1:
            return self._gathered("double", self._pointers(at, step))
        pointer = self._pointer(at)
        if array in ("W", "B") or not self._side_by_side.mask:
            return self._emit(f"load {double}, ptr {pointer}, align 8")
        function = f"{double} @llvm.masked.load.v{self._lanes}f64.p0"
        self.declarations[f"declare {function}(ptr, i32, {self._bit}, {double})"] = None
        return self._emit(
            f"call {function}(ptr {pointer}, i32 8, {self._bit} {self._lanes_mask()}, {double} zeroinitializer)"
        )

    def _store_of_lanes(self, at: Address, value: str) -> None:
        assert self._side_by_side is not None
        step, double = self._step_of_lanes(at), self._double
        loop, mask = self._side_by_side.body, self._side_by_side.mask
        if step == 1 and (not mask or self._places.is_padded(at, loop, self._lanes)):
            self.lines.append(f"store {double} {value}, ptr {self._pointer(at)}, align 8")
            return
        if step == 1:
            pointer, kind, function = self._pointer(at), "ptr", f"void @llvm.masked.store.v{self._lanes}f64.p0"
        else:
            pointer, kind = self._pointers(at, step), f"<{self._lanes} x ptr>"
            function = f"void @llvm.masked.scatter.v{self._lanes}f64.v{self._lanes}p0"
        self.declarations[f"declare {function}({double}, {kind}, i32, {self._bit})"] = None
        self.lines.append(
            f"call {function}({double} {value}, {kind} {pointer}, i32 8, {self._bit} {self._lanes_mask()})"
        )

    def _add_in_turn(self, at: Address, value: str) -> None:
        """Add to the elements of the lanes, one after the other, since they may be the same; lanes that have no
        iteration add nothing to the array's first."""
        assert self._side_by_side is not None
        pointers, kind = self._pointers(at, None), f"<{self._lanes} x ptr>"
        if self._side_by_side.mask:
            first = self._everywhere(f"%{self._places.element(at)[0]}", "ptr")
            pointers = self._emit(f"select {self._bit} {self._side_by_side.mask}, {kind} {pointers}, {kind} {first}")
        self._add_each(pointers, self._or_zero(value))

    def _pointers(self, at: Address, step: int | None) -> str:
        """Where each lane's element is."""
        array, index = self._places.element(at)
        kind = f"<{self._lanes} x i64>"
        if step is not None:
            pointer = self._pointer(at)
            return self._emit(f"getelementptr double, ptr {pointer}, {kind} {self._offsets(step)}")
        assert index.table is not None
        assert self._side_by_side is not None
        body, entries = index.table
        ordinal = self._counters[body][1]
        table = self._emit(f"getelementptr i64, ptr %{self._places.table(entries)}, i64 {ordinal}")
        between = body.times // self._side_by_side.body.times
        entry = self._emit(f"getelementptr i64, ptr {table}, {kind} {self._offsets(between)}")
        elements = self._gathered("i64", entry)
        moving = self._moving(replace(index, table=None))
        pointer = self._emit(f"getelementptr double, ptr %{array}, {kind} {elements}")
        offset = self._emit(f"getelementptr double, {f'<{self._lanes} x ptr>'} {pointer}, i64 {moving or 0}")
        return self._emit(f"getelementptr double, <{self._lanes} x ptr> {offset}, i64 {index.base}")

    def _gathered(self, kind: str, pointers: str) -> str:
        vector, suffix = f"<{self._lanes} x {kind}>", "f64" if kind == "double" else kind
        function = f"{vector} @llvm.masked.gather.v{self._lanes}{suffix}.v{self._lanes}p0"
        arguments = f"<{self._lanes} x ptr>", "i32", self._bit, vector
        self.declarations[f"declare {function}({', '.join(arguments)})"] = None
        return self._emit(
            f"call {function}(<{self._lanes} x ptr> {pointers}, i32 8, {self._bit} {self._lanes_mask()}, "
            f"{vector} zeroinitializer)"
        )
