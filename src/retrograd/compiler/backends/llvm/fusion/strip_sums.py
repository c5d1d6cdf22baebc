"""Sums over a strip, many at once: as many accumulators as registers hold, so that they share loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from ..ir_builder import IRBuilder, Vector
from ..kernel_calls import DOUBLE, Address, KernelCall
from ..vectors import fma, hreduce_each, padded, store_strided

__all__ = ["sum_over_strip"]

#: Sums that are in registers at a time; the others hold what the sums read.
_ACCUMULATORS = 24


@dataclass(frozen=True, slots=True)
class _Sum:
    """d += the sum of a * b, or of a * k."""

    d: Address
    a: Address
    b: Address | None
    strides: tuple[int, int]  #: of a and b along the strip, 0 or 1
    k: float


def sum_over_strip(t: IRBuilder, calls: Sequence[KernelCall], slot: int) -> None:
    """Emit calls that sum over their loop ``slot``, which is the strip."""
    sums = sorted((one for call in calls for one in _sums(call, slot)), key=lambda one: one.a.constant)
    count = calls[0].counts[slot]
    for i in range(0, len(sums), _ACCUMULATORS):
        some = sums[i : i + _ACCUMULATORS]
        accumulators = _accumulate(t, some, count)
        by_target = sorted(range(len(some)), key=lambda j: (some[j].d.offset or "", some[j].d.constant))
        for j in range(0, len(by_target), t.width):
            chosen = by_target[j : j + t.width]
            _add_to_targets(t, [some[n] for n in chosen], [accumulators[n] for n in chosen])


def _sums(call: KernelCall, slot: int) -> Iterator[_Sum]:
    """The single sums of a call: one for each iteration of its other loops."""
    loops = [range(n) if i != slot else range(1) for i, n in enumerate(call.counts)]
    two = call.kernel == "contract_nt"
    for index in product(*loops):
        d, a, *b = (
            call.address(p).plus(sum(i * stride for i, stride in zip(index, call.strides[p], strict=True)))
            for p in range(3 if two else 2)
        )
        strides = (call.strides[1][slot], call.strides[2][slot])
        yield _Sum(d, a, b[0] if b else None, strides, 1.0 if two else call.k)


def _accumulate(t: IRBuilder, sums: Sequence[_Sum], count: int) -> list[Vector]:
    """A vector of partial sums for each sum, over ``count`` iterations."""
    whole, rest = divmod(count, t.width)
    operands = [pair for one in sums for pair in zip((one.a, one.b), one.strides, strict=True)]
    outer_offsets = list(dict.fromkeys(at.offset for at, stride in operands if at and stride))

    def add(partials: Sequence[Vector], offsets: dict[str | None, str | None], done: int, n: int) -> list[Vector]:
        result = []
        for old, one in zip(partials, sums, strict=True):
            x, *y = (
                _segment(t, at, s, offsets, done, n) for at, s in zip((one.a, one.b), one.strides, strict=True) if at
            )
            result.append(fma(x, y[0] if y else t.constant_vector(one.k, t.width), old))
        return result

    def body(offsets: list[str], carried: list[Vector]) -> list[Vector]:
        with t.basic_block():
            return add(carried, dict(zip(outer_offsets, offsets, strict=True)), 0, t.width)

    partials = [t.constant_vector(0.0, t.width) for _ in sums]
    if whole > 1:
        starts, steps = [offset or "0" for offset in outer_offsets], [t.width * DOUBLE] * len(outer_offsets)
        partials = list(t.loop(whole, starts, steps, partials, body))
    with t.basic_block():
        unmoved: dict[str | None, str | None] = {offset: offset for offset in outer_offsets}
        if whole == 1:
            partials = add(partials, unmoved, 0, t.width)
        if rest:
            partials = add(partials, unmoved, whole * t.width, rest)
    return partials


def _segment(
    t: IRBuilder, at: Address, stride: int, offsets: dict[str | None, str | None], done: int, count: int
) -> Vector:
    """``count`` numbers of an operand, ``done`` iterations on, with zeros in unused lanes."""
    if stride == 0:
        value = t.load_splat(at, t.width)
    else:
        value = t.load(Address(at.constant + done * DOUBLE, offsets[at.offset]), count)
    return padded(value, count) if count < t.width else value


def _add_to_targets(t: IRBuilder, sums: Sequence[_Sum], partials: Sequence[Vector]) -> None:
    """Reduce the partial sums across lanes, and add the results to d, neighbours in memory together."""
    value = hreduce_each(partials)
    first = 0
    while first < len(sums):
        d = sums[first].d
        last = first + 1
        while last < len(sums) and sums[last].d == d.plus(last - first):
            last += 1
        lanes = [min(i, value.width - 1) for i in range(first, first + value.width)]
        store_strided(t, d, 1, value.shuffle(lanes), last - first, True)
        first = last
