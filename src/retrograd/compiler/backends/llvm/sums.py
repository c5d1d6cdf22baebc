"""Sums along a strip, many at once: as many as the registers hold, so that what several of them read is loaded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from .elementwise import kept_wide, plus
from .ir_builder import Text, Vector
from .kernel_calls import DOUBLE, At, Call
from .vectors import across, fma, put

__all__ = ["sum_strip"]

#: Sums that are in registers at a time; beside them there is room for what they read.
_AT_ONCE = 24


@dataclass(frozen=True, slots=True)
class _Sum:
    """d += the sum of a * b, or of k * a."""

    d: At
    a: At
    b: At | None
    steps: tuple[int, int]  #: of a and b, along the strip
    k: float


def sum_strip(t: Text, calls: Sequence[Call], slot: int) -> None:
    """Calls that sum over the loop in their slot ``slot``."""
    sums = sorted((one for call in calls for one in _sums(call, slot)), key=lambda one: one.a.address)
    count = calls[0].counts[slot]
    for i in range(0, len(sums), _AT_ONCE):
        some = sums[i : i + _AT_ONCE]
        results = _summed(t, some, count)
        order = sorted(range(len(some)), key=lambda j: (some[j].d.moving or "", some[j].d.address))
        for j in range(0, len(order), t.width):
            _add(t, [some[n] for n in order[j : j + t.width]], [results[n] for n in order[j : j + t.width]])


def _sums(call: Call, slot: int) -> Iterator[_Sum]:
    loops = [range(n) if i != slot else range(1) for i, n in enumerate(call.counts)]
    two = call.kernel == "contract_nt"
    for index in product(*loops):
        d, a, *b = (
            call.at(p).by(sum(i * stride for i, stride in zip(index, call.strides[p], strict=True)))
            for p in range(3 if two else 2)
        )
        steps = (call.strides[1][slot], call.strides[2][slot])
        yield _Sum(d, a, b[0] if b else None, steps, 1.0 if two else call.k)


def _summed(t: Text, sums: Sequence[_Sum], count: int) -> list[Vector]:
    whole, rest = divmod(count, t.width)
    places = {(at, step) for one in sums for at, step in zip((one.a, one.b), one.steps, strict=True) if at and step}
    ways = list(dict.fromkeys(at.moving for at, _ in places))

    def add(sofar: Sequence[Vector], moved: dict[str | None, str | None], done: int, n: int) -> list[Vector]:
        result = []
        for old, one in zip(sofar, sums, strict=True):
            x, *y = (
                _row(t, at, step, moved, done, n) for at, step in zip((one.a, one.b), one.steps, strict=True) if at
            )
            result.append(fma(x, y[0] if y else t.number(one.k, t.width), old))
        return result

    def body(offsets: list[str], sofar: list[Vector]) -> list[Vector]:
        with t.straight():
            return add(sofar, dict(zip(ways, offsets, strict=True)), 0, t.width)

    results = [t.number(0.0, t.width) for _ in sums]
    if whole > 1:
        results = list(t.loop(whole, [way or "0" for way in ways], [t.width * DOUBLE] * len(ways), results, body))
    with t.straight():
        still: dict[str | None, str | None] = {way: way for way in ways}
        if whole == 1:
            results = add(results, still, 0, t.width)
        if rest:
            results = add(results, still, whole * t.width, rest)
    return results


def _row(t: Text, at: At, step: int, moved: dict[str | None, str | None], done: int, count: int) -> Vector:
    """The next numbers of a row, with zeros after them."""
    if step == 0:
        value = t.load_splat(at, t.width)
        return kept_wide(value, count) if count < t.width else value
    value = t.load(At(at.address + done * DOUBLE, moved[at.moving]), count)
    return kept_wide(value, count) if count < t.width else value


def _add(t: Text, sums: Sequence[_Sum], parts: Sequence[Vector]) -> None:
    """Adds vectors of partial sums to where they belong."""
    value = across(parts, plus)
    first = 0
    while first < len(sums):
        d = sums[first].d
        last = first + 1
        while last < len(sums) and sums[last].d == d.by(last - first):
            last += 1
        lanes = [min(i, value.width - 1) for i in range(first, first + value.width)]
        put(t, d, 1, value.shuffled(lanes), last - first, True)
        first = last
