"""Writes loops in lanes as LLVM IR: iterations that run side by side, one in each element of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ...llvm.ir_builder import constant
from ..passes.code import Address, Block, Loop, Op, Phi, Ref, Value, steps_in
from ..passes.storage import Places
from .lanes import REGISTERS, Sums, shifted, stays, sums_in_memory, values_outside
from .llvm_lines import Lines, PhiLine, SideBySide

__all__ = ["LaneLoops"]

#: A loop is written twice, with a mask and without one, if it has so many rounds that need none, and so few steps.
_LEAST_FULL, _MOST_TWICE = 2, 200


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds of a loop in lanes, in each of which every lane has an iteration; in the last one, ``last`` lanes have."""

    first: int
    count: int
    last: int


def _parts(loop: Loop, steps: Block, lanes: int) -> list[Rounds]:
    """The rounds of a loop, in the order in which they run: those that need no mask, and the one that does."""
    full, rest = divmod(int(loop.of.counts[0]), lanes)
    if not rest:
        return [Rounds(0, full, lanes)]
    if full < _LEAST_FULL or sum(1 for _ in steps_in(steps)) > _MOST_TWICE:
        return [Rounds(0, full + 1, rest)]
    parts = [Rounds(0, full, lanes), Rounds(full, 1, rest)]
    return parts[::-1] if loop.backward else parts


class LaneLoops(Lines, ABC):
    """Writes loops in lanes; a subclass writes what is in them."""

    def __init__(self, places: Places, width: int, lanes: int) -> None:
        """Arguments are those of ``Lines``."""
        super().__init__(places, width, lanes)
        self._vector = f"<{lanes} x double>"
        self._sums_of_lanes: set[Value | None] = set()  # vectors outside of the loops in lanes, too
        self._to_neighbours: set[Ref | None] = set()  # what lanes get of their neighbours
        self._before_shifts: dict[Ref, str] = {}  # what the lanes had of that in the round before
        self._loaded: dict[int, Address] = {}  # where values are in memory, for good
        self._again: Collection[int] = ()  # those from outside that are read where they are used
        self._before: dict[Ref, int] = {}  # which of the sums in memory each is that the loop hands on
        self._after: dict[Value, Phi] = {}  # by what goes there
        self._totals: dict[int, int] = {}  # where the sums of lanes are after their loops
        self._has_vectors = width > 1  # in memory, for functions of vectors

    @abstractmethod
    def _write(self, block: Block) -> None:
        """Write operations and loops."""

    def _name(self, value: Value) -> str:
        if not isinstance(value, Ref):
            return super()._name(value)
        if value.number in self._again:
            return self._load(self._loaded[value.number])
        if value.number in self._totals:
            place = self._emit(f"getelementptr double, ptr %B, i64 {self._totals[value.number]}")
            return self._emit(f"load double, ptr {place}, align 8")
        if value in self._before:
            return self._emit(f"load {self._double}, ptr {self._sum_at(str(self._before[value]))}, align 8")
        return super()._name(value)

    def _set(self, op: Op, name: str) -> None:
        """An operation's result has a name; it may go to memory."""
        assert op.result is not None
        self._names[op.result.number] = name
        if op.name == "load" and op.at is not None and op.at.array not in ("G", "B"):
            self._loaded[op.result.number] = op.at
        if phi := self._after.get(op.result):
            total = self._masked(name, self._name(phi.result))
            place = self._sum_at(str(self._before[phi.result]))
            self.lines.append(f"store {self._double} {total}, ptr {place}, align 8")

    def _loop_in_lanes(self, loop: Loop) -> None:
        body, lanes = loop.of, self._lanes
        assert body.parent is not None
        ordinal = self._number(body.firsts, body.parent)
        sums, steps = sums_in_memory(loop, self._places), shifted(loop, self._places)
        assert sums is not None
        assert steps is not None
        handed_on = [phi for phi in sums.handed_on if not {phi.start, phi.final} & self._sums_of_lanes]
        self._before = {phi.result: sums.added + i for i, phi in enumerate(handed_on)}
        self._after = {phi.following: phi for phi in handed_on if phi.following is not None}
        starts = [(phi, self._name(phi.start)) for phi in loop.phis if phi.start is not None]
        with self._vectors(loop):
            self._begin_sums(sums)
            begun = self._begin_handed_on(loop, starts, steps)
            for rounds in _parts(loop, steps, lanes):
                with self._rounds(rounds, loop.backward) as (counter, phis):
                    first = self._emit(f"mul i64 {counter}, {lanes}")
                    self._counters[body] = first, first if ordinal == "0" else self._emit(f"add i64 {first}, {ordinal}")
                    self._keep_in_memory(counter)
                    self._side_by_side = SideBySide(body, loop.backward, self._mask(rounds, first), sums)
                    names = self._name_handed_on(begun, rounds)
                    self._write(steps)
                    for phi in loop.phis:
                        if phi.result in begun:
                            name, start = names[phi.result], begun[phi.result]
                            begun[phi.result] = self._following_in_lanes(phi, name)
                            phis.append(PhiLine(name, self._double, start, begun[phi.result]))
                self._side_by_side = None
                self._bases = {}
            self._after = {}
            self._end_sums(sums)
            self._end_in_registers(loop, starts, begun)
        self._end_in_memory(handed_on, sums)
        self._before = {}

    @contextmanager
    def _vectors(self, loop: Loop) -> Iterator[None]:
        """Numbers are vectors meanwhile, also those from outside; of many, each is read where it is used."""
        values = values_outside(loop)
        self._again = {value.number for value in values if value.number in self._loaded and len(values) > REGISTERS}
        outside = {value: self._name(value) for value in values if value.number not in self._again}
        totals = {value.number: self._totals.pop(value.number) for value in outside if value.number in self._totals}
        self._set_width(self._lanes)
        self._has_vectors = True
        for value, name in outside.items():
            self._names[value.number] = self._everywhere(name, "i1" if value.boolean else "double")
        yield
        self._names.update((value.number, name) for value, name in outside.items())
        self._totals |= totals
        self._set_width(1)

    @contextmanager
    def _rounds(self, rounds: Rounds, backward: bool) -> Iterator[tuple[str, list[PhiLine]]]:
        """The lines around some rounds: the number of each, and what it hands on."""
        if rounds.count > 1:
            with self._iterations(str(rounds.count - 1), backward) as (counter, phis, _):
                yield counter, phis
            return
        self._known.append({})
        yield str(rounds.first), []
        self._known.pop()

    def _mask(self, rounds: Rounds, first: str) -> str:
        """Which lanes have one in a round that begins with the iteration ``first``; empty if all always have."""
        if rounds.last == self._lanes:
            return ""
        if rounds.count == 1:
            return f"<{', '.join(f'i1 {lane < rounds.last}'.lower() for lane in range(self._lanes))}>"
        kind, times = f"<{self._lanes} x i64>", (rounds.count - 1) * self._lanes + rounds.last
        numbers = self._emit(f"add {kind} {self._everywhere(first, 'i64')}, {self._offsets(1)}")
        return self._emit(f"icmp slt {kind} {numbers}, {self._each(f'i64 {times}')}")

    def _begin_handed_on(self, loop: Loop, starts: Sequence[tuple[Phi, str]], steps: Block) -> dict[Ref, str]:
        """What the lanes begin with of what is handed on in registers."""
        begun: dict[Ref, str] = {}
        self._to_neighbours = {step.result for step in steps.steps if isinstance(step, Op) and step.name == "shift"}
        for phi, start in starts:
            if phi.result in self._before:
                if phi.start != 0.0:
                    place, vector = self._sum_at(str(self._before[phi.result])), self._begun_in_lanes(phi, start, loop)
                    self.lines.append(f"store {self._vector} {vector}, ptr {place}, align 8")
            elif stays(phi, loop):
                self._names[phi.result.number] = self._everywhere(start)
            elif phi.result in self._to_neighbours:
                begun[phi.result] = self._everywhere(start)
            else:
                begun[phi.result] = self._begun_in_lanes(phi, start, loop)
        return begun

    def _name_handed_on(self, begun: Mapping[Ref, str], rounds: Rounds) -> Mapping[Ref, str]:
        """What is called what in some rounds that is handed on; one round alone has what they begin with."""
        names = {result: start if rounds.count == 1 else self._new("c") for result, start in begun.items()}
        self._before_shifts = {result: name for result, name in names.items() if result in self._to_neighbours}
        self._names.update((ref.number, name) for ref, name in names.items() if ref not in self._to_neighbours)
        return names

    def _end_in_registers(self, loop: Loop, starts: Sequence[tuple[Phi, str]], ends: Mapping[Ref, str]) -> None:
        """What is left after the loop of what was handed on in registers."""
        last = 0 if loop.backward else (int(loop.of.counts[0]) - 1) % self._lanes
        for phi, start in starts:
            if phi.final is None or phi.result in self._before:
                continue
            end = ends.get(phi.result, start)
            if phi.result in self._to_neighbours:
                self._names[phi.final.number] = self._emit(f"extractelement {self._double} {end}, i32 {last}")
            else:
                self._names[phi.final.number] = self._end_of_lanes(phi, end) if phi.result in ends else start
        for phi in loop.phis:
            if phi.start is None and phi.final is not None and phi.following is not None:
                numbers = f"{self._double} {self._name(phi.following)}"
                self._names[phi.final.number] = self._emit(f"extractelement {numbers}, i32 {last}")
        self._again = ()

    def _keep_in_memory(self, counter: str) -> None:
        """Hide from LLVM what stays the same in all iterations, where it would take more registers than there are."""
        arrays = dict.fromkeys(self._places.element(self._loaded[number])[0] for number in self._again)
        for array in (*arrays, *(["sums"] if self._before else ())):
            pointer = self._of_sums() if array == "sums" else f"%{array}"
            self._bases[array] = self._emit(f'call ptr asm "", "=r,0,r"(ptr {pointer}, i64 {counter})')

    def _sum_at(self, index: str) -> str:
        """Where a sum of lanes is."""
        sums = self._bases.get("sums") or self._of_sums()
        return self._emit(f"getelementptr {self._vector}, ptr {sums}, i64 {index}")

    def _begin_sums(self, sums: Sums) -> None:
        """Set the lanes' sums in memory to zero."""
        if len(sums):
            with self._iterations(str(len(sums) - 1)) as (counter, *_):
                place = self._sum_at(counter)
                self.lines.append(f"store {self._vector} zeroinitializer, ptr {place}, align 8")

    def _end_sums(self, sums: Sums) -> None:
        """Add the lanes' sums to what they are sums of."""
        at = 0
        for array, first, count in sums.stretches:
            for index, some in self._groups(count):
                totals = self._totals_from(self._emit(f"add i64 {index}, {at}"), some)
                element = self._emit(f"getelementptr double, ptr %{array}, i64 {index}")
                element = self._emit(f"getelementptr double, ptr {element}, i64 {first}")
                kind = "double" if some == 1 else self._vector
                before = self._emit(f"load {kind}, ptr {element}, align 8")
                totals = self._emit(f"fadd {kind} {before}, {totals}")
                self.lines.append(f"store {kind} {totals}, ptr {element}, align 8")
            at += count

    def _end_in_memory(self, handed_on: Sequence[Phi], sums: Sums) -> None:
        """Add up the lanes' sums in memory that a loop hands on."""
        if not handed_on:
            return
        first = self._places.reserve(len(handed_on))
        for index, some in self._groups(len(handed_on)):
            totals = self._totals_from(self._emit(f"add i64 {index}, {sums.added}"), some)
            place = self._emit(f"getelementptr double, ptr %B, i64 {index}")
            place = self._emit(f"getelementptr double, ptr {place}, i64 {first}")
            self.lines.append(f"store {'double' if some == 1 else self._vector} {totals}, ptr {place}, align 8")
        for i, phi in enumerate(handed_on):
            if phi.final is not None:
                self._totals[phi.final.number] = first + i

    def _groups(self, count: int) -> Iterator[tuple[str, int]]:
        """Loops over so many numbers: the first of each group, and how many these are: as many as lanes, or one."""
        many = count // self._lanes * self._lanes
        if many:
            with self._iterations(str(many // self._lanes - 1)) as (counter, *_):
                yield self._emit(f"mul i64 {counter}, {self._lanes}"), self._lanes
        if many < count:
            with self._iterations(str(count - many - 1)) as (counter, *_):
                yield self._emit(f"add i64 {counter}, {many}"), 1

    def _totals_from(self, index: str, count: int) -> str:
        """The sums of the elements of one of the vectors in memory, or of as many as lanes: then a vector of them."""
        if count == 1:
            return self._sum_of_lanes(self._emit(f"load {self._vector}, ptr {self._sum_at(index)}, align 8"))
        first = self._sum_at(index)
        places = [self._emit(f"getelementptr {self._vector}, ptr {first}, i64 {i}") for i in range(count)]
        vectors = [self._emit(f"load {self._vector}, ptr {place}, align 8") for place in places]
        block = 1
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self._added_crosswise(one, other, block) for one, other in pairs]
            block *= 2
        return vectors[0]

    def _added_crosswise(self, one: str, other: str, block: int) -> str:
        """The sums of neighbouring blocks of elements: of one vector, and of the other, in turns."""
        numbers = range(0, self._lanes, 2 * block)
        even = [start + vector + i for start in numbers for vector in (0, self._lanes) for i in range(block)]
        halves = []
        for places in (even, [place + block for place in even]):
            mask = f"<{self._lanes} x i32> <{', '.join(f'i32 {place}' for place in places)}>"
            halves.append(self._emit(f"shufflevector {self._vector} {one}, {self._vector} {other}, {mask}"))
        return self._emit(f"fadd {self._vector} {halves[0]}, {halves[1]}")

    def _begun_in_lanes(self, phi: Phi, start: str, loop: Loop) -> str:
        """What the lanes begin with of a sum, or of what is a constant in all iterations but the first."""
        if phi.start in self._sums_of_lanes:
            return start
        others, lane = "zeroinitializer", 0
        if isinstance(phi.following, float):
            others, lane = self._name(phi.following), (int(loop.of.counts[0]) - 1) % self._lanes if loop.backward else 0
        return self._emit(f"insertelement {self._double} {others}, double {start}, i32 {lane}")

    def _following_in_lanes(self, phi: Phi, before: str) -> str:
        """What the lanes have of it after an iteration."""
        assert phi.following is not None
        following = self._name(phi.following)
        return following if isinstance(phi.following, float) else self._masked(following, before)

    def _masked(self, value: str, otherwise: str) -> str:
        """What lanes have computed; otherwise, in those that have no iteration."""
        assert self._side_by_side is not None
        if not self._side_by_side.mask:
            return value
        mask = f"{self._bit} {self._side_by_side.mask}"
        return self._emit(f"select {mask}, {self._double} {value}, {self._double} {otherwise}")

    def _shifted(self, result: Ref, following: str) -> str:
        """What lanes get of their neighbours; the first of them, of the last of those before them."""
        assert self._side_by_side is not None
        before, lanes = self._before_shifts[result], self._lanes
        vectors, first = (before, following), lanes - 1
        if self._side_by_side.backward:
            vectors, first = (self._masked(following, before), before), 1
        places = ", ".join(f"i32 {first + i}" for i in range(lanes))
        one, other = (f"{self._double} {vector}" for vector in vectors)
        return self._emit(f"shufflevector {one}, {other}, <{lanes} x i32> <{places}>")

    def _end_of_lanes(self, phi: Phi, value: str) -> str:
        """What is left of it after the loop."""
        if phi.final in self._sums_of_lanes:
            return value
        if isinstance(phi.following, float):
            return constant(phi.following)
        return self._sum_of_lanes(value)

    def _sum_of_lanes(self, vector: str) -> str:
        """The sum of the numbers of a vector."""
        reduced = f"double @llvm.vector.reduce.fadd.v{self._lanes}f64"
        self.declarations[f"declare {reduced}(double, {self._vector})"] = None
        return self._emit(f"call reassoc {reduced}(double 0.0, {self._vector} {vector})")
