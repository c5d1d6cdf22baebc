"""Calls of one strip that go through the same loops, in one nest of loops: what one call computes goes to the next in a
register, and what several iterations need stays in the nearest cache.

A nest has at most two loops: one around, such as the clusters of a mixture or the neurons of a layer, and inside of it
the strip's iterations, a vector of them at a time. Calls that sum over the strip come after the inner loop, in the one
around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .fused_op import Part, part_of
from .fusion_legality import independent
from .ir_builder import Text, Vector
from .kernel_calls import DOUBLE, Call
from .sums import sum_strip

__all__ = ["Nest", "nests"]

#: Vector operations in the body of a nest, at most, and calls in one.
_BODY, _CALLS = 400, 60

#: Rows that are computed again rather than kept, and for how many numbers of an iteration at most.
_CHEAP, _AGAIN = ("add", "sub", "neg"), 16


class Nest:
    """Calls that go through the same loops."""

    def __init__(self, around: int, strip: int) -> None:
        self.around, self.strip = around, strip
        self.parts: list[Part] = []
        self._cost = 0

    def take(self, call: Call) -> bool:
        """Adds the call, if it has the loops and each iteration stays by itself."""
        part = part_of(call, self.around, self.strip)
        if part is None or len(self.parts) >= _CALLS:
            return False
        cost = 0 if part.sums else part.cost
        if self._cost + cost > _BODY:
            return False
        self.parts.append(part)
        if not independent(self.parts, self.around, self.strip):
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
            if not independent(self.parts, self.around, self.strip):
                self.parts = rest

    def close(
        self, before: Sequence[Sequence[Access]], after: Sequence[Sequence[Access]], local: Sequence[range]
    ) -> None:
        """Results that are ``local`` to strips, and that no other step needs of this one, get the same place in each
        iteration of the loop around; and none, where they go from call to call in registers.

        ``before`` and ``after``: what the other steps of a strip access.
        """
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

        def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
            one(offsets)
            return []

        t.loop(self.around, [start or "0" for start, _ in moving], [step for _, step in moving], [], body)

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

        def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
            several({way: way[0] for way in ways} | dict(zip(moving, offsets, strict=True)), t.width, 0)
            return []

        still = {way: way[0] for way in ways}
        if whole > 1:
            starts, steps = [start or "0" for start, _ in moving], [step * t.width for _, step in moving]
            t.loop(whole, starts, steps, [], body)
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
    """The calls of a strip in their order, those that go well together as one.

    ``local``: addresses of numbers that have no meaning outside of strips.
    """
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
