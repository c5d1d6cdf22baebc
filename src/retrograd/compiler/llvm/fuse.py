"""Calls of one strip that go through the same loops, in one nest of loops: what one call computes goes to the next in a
register, and what several iterations need stays in the nearest cache.

A nest has at most two loops: one around, such as the clusters of a mixture or the neurons of a layer, and inside of it
the strip's iterations, a vector of them at a time. Calls that sum over the strip come after the inner loop, in the one
around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .calls import DOUBLE, Call, Loop
from .rows import FORMS
from .sums import sum_strip
from .text import Text

__all__ = ["Nest", "nests"]

#: The slots of loops that belong to a kernel, its row of neighbours among them, and which slot that is.
_VECTORS = {
    "map": ((4,), 4), "map_back": ((4,), 4), "add": ((4,), 4), "product": ((4,), 4), "fill": ((4,), 4),
    "contract_nn": ((2, 3, 4), 3), "contract": ((3, 4), 3),
}  # fmt: skip
_SUMS = {"contract_nt": ((2, 3, 4), 4), "sum": ((4,), 4)}

#: Vector operations in the body of a nest, at most, and calls in one.
_BODY, _CALLS = 400, 60

#: Rows that are computed again rather than kept, and for how many numbers of an iteration at most.
_CHEAP, _AGAIN = ("add", "sub", "neg"), 16

Addresses = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """A call without the loops of the nest, and how its operands move in those, in bytes."""

    call: Call
    sums: bool
    slot: int  #: of the strip's loop
    around: tuple[int, ...]  #: of each pointer, in the loop around
    inside: tuple[int, ...]  #: in the strip's loop
    passing: bool = False  #: what it writes is read in the same iteration or not at all

    @property
    def pointers(self) -> range:
        return range(1 if self.call.kernel == "fill" else 5)

    def used(self) -> Iterator[int]:
        return (p for p in self.pointers if self.call.pointers[p])

    @property
    def cost(self) -> int:
        operations = 24 if self.call.row in ("exp", "log", "sigmoid") else 1
        for i, count in enumerate(self.call.counts):
            operations *= 1 if i == self.slot else count
        return operations

    def starts(self, pointer: int, count: int) -> Addresses:
        """Where the operand's rows begin, for each iteration of the loop around."""
        places = np.arange(count, dtype=np.int64) * self.around[pointer]
        for i, n in enumerate(self.call.counts):
            stride = self.call.strides[min(pointer, 3)][i] * DOUBLE
            if i != self.slot and n > 1 and stride:
                places = places[..., None] + np.arange(n, dtype=np.int64) * stride
        return (places + self.call.pointers[pointer]).reshape(count, -1)


def _part(call: Call, around: int, strip: int) -> Part | None:
    """The call as part of a nest; None when it has not those loops."""
    if call.kernel in ("map", "map_back") and call.row not in FORMS:
        return None
    sums = call.kernel in _SUMS
    own, slot = (_SUMS if sums else _VECTORS).get(call.kernel, ((), -1))
    if slot < 0:
        return None
    row = call.loop(slot)
    if not _is_row(call, row, sums) or (row.count != strip if sums else row.count % strip):
        return None
    loops = [call.loop(i) for i in range(5) if i not in own and call.counts[i] > 1]
    if row.count > strip:
        loops.append(Loop(row.count // strip, tuple(s * strip for s in row.strides)))
    counts, strides = [1] * 5, [[0] * 5 for _ in range(4)]

    def put(i: int, loop: Loop) -> None:
        counts[i] = loop.count
        for w in range(4):
            strides[w][i] = loop.strides[w]

    for i in own:
        put(i, call.loop(i))
    put(slot, Loop(strip, row.strides))
    outer = Loop(1, (0, 0, 0, 0))
    if around > 1:
        found = _loop_around(loops, around)
        for i in own if found is None and sums else ():
            if i != slot and counts[i] == around and strides[0][i]:
                found = call.loop(i)
                put(i, Loop(1, (0, 0, 0, 0)))
                break
        if found is None:
            return None
        outer = found
    if len(loops) > min(own):
        return None
    for i, loop in enumerate(loops):
        put(min(own) - 1 - i, loop)
    of_pointer = [min(p, 3) for p in range(8)]
    return Part(
        replace(call, counts=tuple(counts), strides=tuple(map(tuple, strides))),
        sums,
        slot,
        tuple(outer.strides[w] * DOUBLE for w in of_pointer),
        tuple(row.strides[w] * DOUBLE for w in of_pointer),
    )


def _is_row(call: Call, row: Loop, sums: bool) -> bool:
    if sums:
        return row.strides[0] == 0 and call.accumulate and all(s in (0, 1) for s in row.strides[1:3])
    if call.kernel == "contract" and (call.strides[0][4] != 0 or call.counts[3] <= 1):
        return False
    return row.strides[0] == 1 and all(s in (0, 1) for s in row.strides)


def _loop_around(loops: list[Loop], count: int) -> Loop | None:
    """Takes a loop of that count, or one that is a multiple of it, out of ``loops``."""
    for i, loop in enumerate(loops):
        if loop.count == count and loop.strides[0]:
            return loops.pop(i)
    for i, loop in enumerate(loops):
        if loop.count % count == 0 and loop.strides[0]:
            inner = loop.count // count
            loops[i] = Loop(inner, loop.strides)
            return Loop(count, tuple(s * inner for s in loop.strides))
    return None


# --- what may go together -----------------------------------------------------------------------------------------


class Nest:
    """Calls that go through the same loops."""

    def __init__(self, around: int, strip: int) -> None:
        self.around, self.strip = around, strip
        self.parts: list[Part] = []
        self._cost = 0

    def take(self, call: Call) -> bool:
        """Adds the call, if it has the loops and each iteration stays by itself."""
        part = _part(call, self.around, self.strip)
        if part is None or len(self.parts) >= _CALLS:
            return False
        cost = 0 if part.sums else part.cost
        if self._cost + cost > _BODY:
            return False
        self.parts.append(part)
        if not self._independent():
            self.parts.pop()
            return False
        self._cost += cost
        return True

    def accesses(self) -> Iterator[Access]:
        """Whose numbers are read and written, in the order of the parts."""
        for number, part in enumerate(self.parts):
            for p in sorted(part.used(), reverse=True):  # what is written comes after what is read
                starts = part.starts(p, self.around)
                count = self.strip if part.inside[p] else 1
                whole = starts.size * self.strip * DOUBLE if part.inside[p] else 0
                begin, end = int(starts.min()), int(starts.max()) + count * DOUBLE
                fills = p == 0 and not part.call.accumulate and end - begin == whole
                yield Access(begin, end, fills, part.call.accumulate, number, p)

    def compute_again(self, before: Sequence[Call | Nest], local: Sequence[range]) -> None:
        """What one cheap operation computes of numbers that are at hand is computed again, not read from memory."""
        earlier = [
            part for step in before if isinstance(step, Nest) and step.around == self.around for part in step.parts
        ]
        wanted = {access.begin for access in self.accesses() if access.pointer != 0}
        for part in earlier:
            operands = [part.call.pointers[p] for p in part.used() if p]
            cheap = part.call.kernel == "map" and part.call.row in _CHEAP and part.cost <= _AGAIN
            if not cheap or part.call.pointers[0] not in wanted or any(_within(at, local) for at in operands):
                continue
            rest, self.parts = self.parts, [part, *self.parts]
            if not self._independent():
                self.parts = rest

    def close(
        self, before: Sequence[Sequence[Access]], after: Sequence[Sequence[Access]], local: Sequence[range]
    ) -> None:
        """``before`` and ``after``: what the other steps of a strip access. Results that are ``local`` to strips, and that
        no other step needs of this one, have the same place in each iteration of the loop around; and none, where they
        go from call to call in registers."""
        around = [list(part.around) for part in self.parts]
        passing = [False] * len(self.parts)
        for group in _overlapping(self.accesses()):
            begin, end = min(access.begin for access in group), max(access.end for access in group)
            first = min(group, key=lambda access: (access.part, -access.pointer))
            fresh = first.fills and first.begin == begin and first.end == end
            if not fresh and any(access.meets(begin, end) for step in before for access in step):
                continue
            if not _within(begin, local) or not _within(end - 1, local) or _needed(begin, end, after):
                continue
            summed = any(self.parts[access.part].sums for access in group)
            for access in group:
                around[access.part][access.pointer] = 0
                if access.pointer == 0:
                    passing[access.part] = not summed
        self.parts = [
            replace(part, around=tuple(ways), passing=passes)
            for part, ways, passes in zip(self.parts, around, passing, strict=True)
        ]

    def _rows(self, part: Part, pointer: int) -> tuple[Addresses, Addresses]:
        """Where rows begin, and which iteration of the loop around each belongs to."""
        starts = part.starts(pointer, self.around)
        owners = np.repeat(np.arange(self.around), starts.shape[1])
        return starts.reshape(-1), owners

    def _independent(self) -> bool:
        """Whether what an iteration writes is read, and written, by that iteration alone; always at one distance from
        the start of the loops. Sums are read by nobody, and nobody changes later what they read."""
        length = self.strip * DOUBLE
        written: list[tuple[Addresses, Addresses, int, int]] = []
        ways: dict[tuple[object, ...], int] = {}
        accesses = []
        for number, part in enumerate(self.parts):
            for p in part.used():
                starts, owners = self._rows(part, p)
                way = ways.setdefault((part.around[p], part.inside[p], part.call.moving[p]), len(ways))
                accesses.append((starts, owners, way, number, p, part))
                if p == 0 and not part.sums:
                    written.append((starts, owners, way, number))
        if not written:
            return not any(part.sums for part in self.parts)
        starts = np.concatenate([w[0] for w in written])
        owners = np.concatenate([w[1] for w in written])
        way = np.concatenate([np.full(len(w[0]), w[2]) for w in written])
        last = np.concatenate([np.full(len(w[0]), w[3]) for w in written])
        order = np.lexsort((last, starts))
        starts, owners, way, last = starts[order], owners[order], way[order], last[order]
        fresh = np.flatnonzero(np.diff(starts, prepend=starts[0] - 1))
        if (np.diff(starts[fresh]) < length).any():
            return False
        rows = np.searchsorted(starts[fresh], starts)  # of each, the number of its row
        if (owners != owners[fresh][rows]).any() or (way != way[fresh][rows]).any():
            return False
        ends = np.append(fresh[1:], len(starts)) - 1
        latest = last[ends]
        begins, owner, ways_of = starts[fresh], owners[fresh], way[fresh]
        for places, whose, how, number, p, part in accesses:
            long = DOUBLE if part.inside[p] == 0 else length
            at = np.searchsorted(begins, places + long) - 1
            hit = (at >= 0) & (begins[at] + length > places)
            if not hit.any():
                continue
            if part.sums and p == 0:
                return False
            at = at[hit]
            if (begins[at] != places[hit]).any() or (owner[at] != whose[hit]).any():
                return False
            if part.sums:
                if (latest[at] > number).any():
                    return False
            elif long != length or (ways_of[at] != how).any():
                return False
        return self._sums_apart(accesses)

    def _sums_apart(self, accesses: Sequence[tuple[Addresses, Addresses, int, int, int, Part]]) -> bool:
        spans = [(part, p, places.min(), places.max() + self.strip * DOUBLE) for places, _, _, _, p, part in accesses]
        for part, p, low, high in spans:
            if not part.sums or p != 0:
                continue
            for other, q, begin, end in spans:
                if begin < high and low < end and not (other.sums and q == 0):
                    return False
        return True

    # --- what it becomes ------------------------------------------------------------------------------------------

    def emit(self, t: Text, write: Callable[[Text, Call], None]) -> None:
        """``write`` gets calls of one vector, with offsets that move."""
        ways = dict.fromkeys((part.call.moving[p], part.around[p]) for part in self.parts for p in part.used())
        moving = [way for way in ways if way[1]] if self.around > 1 else []

        def one(offsets: Sequence[str]) -> None:
            at = {way: way[0] for way in ways} | dict(zip(moving, offsets, strict=True))
            self._along(t, write, at)

        if self.around == 1:
            one([])
            return

        def body(offsets: list[str], _: list[object]) -> list[object]:
            one(offsets)
            return []

        t.loop(self.around, [start or "0" for start, _ in moving], [step for _, step in moving], [], body)  # type: ignore[arg-type]

    def _along(
        self, t: Text, write: Callable[[Text, Call], None], at: dict[tuple[str | None, int], str | None]
    ) -> None:
        whole, rest = divmod(self.strip, t.width)
        rows = [part for part in self.parts if not part.sums]

        def offset(part: Part, p: int) -> str | None:
            return at[part.call.moving[p], part.around[p]] if part.call.pointers[p] and p in part.pointers else None

        ways = dict.fromkeys((offset(part, p), part.inside[p]) for part in rows for p in part.used())
        moving = [way for way in ways if way[1]]

        def several(names: dict[tuple[str | None, int], str | None], count: int, done: int) -> None:
            with t.straight():
                for part in rows:
                    call = part.call
                    counts = tuple(count if i == part.slot else n for i, n in enumerate(call.counts))
                    pointers = tuple(
                        place + done * part.inside[p] if place and p < 5 else place
                        for p, place in enumerate(call.pointers)
                    )
                    moves = tuple(
                        names[offset(part, p), part.inside[p]] if p in part.pointers and call.pointers[p] else None
                        for p in range(8)
                    )
                    t.passing = part.passing
                    write(t, replace(call, counts=counts, pointers=pointers, moving=moves))
                    t.passing = False

        def body(offsets: list[str], _: list[object]) -> list[object]:
            several({way: way[0] for way in ways} | dict(zip(moving, offsets, strict=True)), t.width, 0)
            return []

        still = {way: way[0] for way in ways}
        if whole > 1:
            starts, steps = [start or "0" for start, _ in moving], [step * t.width for _, step in moving]
            t.loop(whole, starts, steps, [], body)  # type: ignore[arg-type]
        elif whole:
            several(still, t.width, 0)
        if rest:
            several(still, rest, whole * t.width)
        for slot in dict.fromkeys(part.slot for part in self.parts if part.sums):
            sums = [part for part in self.parts if part.sums and part.slot == slot]
            sum_strip(t, [replace(part.call, moving=tuple(offset(part, p) for p in range(8))) for part in sums], slot)


@dataclass(frozen=True, slots=True)
class Access:
    """Numbers from one address up to another that a step reads or writes."""

    begin: int
    end: int
    fills: bool  #: each of them is written, and none was read
    accumulates: bool
    part: int  #: of a nest
    pointer: int

    def meets(self, begin: int, end: int) -> bool:
        return self.begin < end and begin < self.end


def _accesses(step: Call | Nest) -> list[Access]:
    if isinstance(step, Nest):
        return list(step.accesses())
    found = []
    for p in range(5):
        if step.pointers[p]:
            strides = step.strides[min(p, 3)]
            reach = [(n - 1) * s * DOUBLE for n, s in zip(step.counts, strides, strict=True)]
            wide = 4 * DOUBLE if step.kernel in ("spread", "group_dot") else DOUBLE
            low = step.pointers[p] + sum(r for r in reach if r < 0)
            high = step.pointers[p] + sum(r for r in reach if r > 0) + wide
            found.append(Access(low, high, False, step.accumulate, 0, p))
    return found


def _within(address: int, memory: Sequence[range]) -> bool:
    return any(address in place for place in memory)


def _needed(begin: int, end: int, after: Sequence[Sequence[Access]]) -> bool:
    """Whether a later step reads those numbers before it writes all of them."""
    for step in after:
        for access in step:
            if access.meets(begin, end):
                return not (access.fills and access.begin <= begin and end <= access.end)
    return False


def _overlapping(accesses: Iterator[Access]) -> Iterator[list[Access]]:
    """Groups that touch none of another group."""
    group: list[Access] = []
    reach = 0
    for access in sorted(accesses, key=lambda access: access.begin):
        if group and access.begin >= reach:
            yield group
            group = []
        reach = max(reach, access.end) if group else access.end
        group.append(access)
    if group:
        yield group


def nests(calls: Sequence[Call], strip: int, local: Sequence[range]) -> list[Call | Nest]:
    """The calls of a strip in their order, those that go well together as one. ``local``: addresses of numbers that have
    no meaning outside of strips."""
    steps: list[Call | Nest] = []
    done = 0
    while done < len(calls):
        nest = _longest(calls[done:], strip)
        steps.append(nest or calls[done])
        done += len(nest.parts) if nest else 1
    for i, step in enumerate(steps):
        if isinstance(step, Nest):
            step.compute_again(steps[:i], local)
    accesses = [_accesses(step) for step in steps]
    for i, step in enumerate(steps):
        if isinstance(step, Nest):
            step.close(accesses[:i], accesses[i + 1 :], local)
    return steps


def _longest(calls: Sequence[Call], strip: int) -> Nest | None:
    """The longest nest of calls from the first one on."""
    best: Nest | None = None
    for around in _counts(calls[0], strip):
        nest = Nest(around, strip)
        for call in calls:
            if not nest.take(call):
                break
        if best is None or len(nest.parts) > len(best.parts):
            best = nest
    if best is None or len(best.parts) < 2 or all(part.sums for part in best.parts):
        return None
    return best


def _counts(call: Call, strip: int) -> list[int]:
    """What the loop around may be, going by a nest's first call."""
    counts = {n // strip if n % strip == 0 and n > strip else n for n in call.counts}
    return [*sorted((n for n in counts if n > 1 and n != strip), reverse=True), 1]
