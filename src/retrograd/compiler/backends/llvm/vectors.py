"""Vectors and memory: strided loads and stores, gather and scatter, horizontal sums, transposition.

Elements are doubles; a *lane* is one element of a vector. A vector of ``count`` numbers is ``IRBuilder.vector_shape``
wide, so lanes beyond ``count`` may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .ir_builder import IRBuilder, Vector
from .kernel_calls import DOUBLE, Address

__all__ = [
    "fma",
    "gather",
    "hreduce",
    "hreduce_each",
    "load_strided",
    "padded",
    "padded_lanes",
    "scatter_add",
    "store_strided",
    "transpose",
]

#: A gather reads at most so many aligned vectors; beyond, it loads number by number.
_MAX_LINES = 4


def fma(a: Vector, b: Vector, c: Vector) -> Vector:
    """``a * b + c``, fused where the processor can."""
    return a.intrinsic("fmuladd", b, c)


# --- load and gather ----------------------------------------------------------------------------------------------


def load_strided(t: IRBuilder, at: Address, stride: int, count: int) -> Vector:
    """``count`` numbers that are ``stride`` elements apart, in as narrow a vector as holds them."""
    if stride == 1:
        return t.load(at, count)
    width = min(t.width, count) if count in (1, 2, 4) else t.width
    if stride == 0:
        return t.load_splat(at, width)
    if at.offset is None:
        return gather(t, [at.constant + i * stride * DOUBLE for i in range(count)])
    return _insert_lanes(t, [at.plus(i * stride) for i in range(count)], width)


def gather(t: IRBuilder, addresses: Sequence[int]) -> Vector:
    """The numbers at constant addresses, from the aligned vectors that contain them if those are few."""
    count = len(addresses)
    width = count if count in (1, 2, 4) else t.width
    if _consecutive(addresses):
        return t.load(Address(addresses[0]), count)
    if len(set(addresses)) == 1:
        return t.load_splat(Address(addresses[0]), width)
    span = t.width * DOUBLE
    lines = list(dict.fromkeys(address // span * span for address in addresses))
    if len(lines) > _MAX_LINES or width < 4 or not all(t.memory.owns(line, span) for line in lines):
        return _insert_lanes(t, [Address(address) for address in addresses], width)
    result = _shuffle_from_lines(t, addresses, lines)
    return result if width == t.width else result.shuffle(range(width))


def _consecutive(addresses: Sequence[int]) -> bool:
    return all(address == addresses[0] + i * DOUBLE for i, address in enumerate(addresses))


def _shuffle_from_lines(t: IRBuilder, addresses: Sequence[int], lines: Sequence[int]) -> Vector:
    """The numbers at ``addresses``, each in one of the aligned vectors that begin at ``lines``.

    These are in the program's memory as a whole: code of a repetition has them at any alignment.
    """
    span = t.width * DOUBLE
    homes = [address // span * span for address in addresses]
    elements = [address % span // DOUBLE for address in addresses]
    unused: list[int | None] = [None] * (t.width - len(addresses))

    pair = lines[:2]
    loaded = [t.load(Address(line), t.width) for line in pair]
    lanes = [
        pair.index(home) * t.width + element if home in pair else None
        for home, element in zip(homes, elements, strict=True)
    ]
    result = loaded[0].shuffle(lanes + unused, *loaded[1:])
    for i in range(2, len(lines)):
        lanes = [
            lane if home in lines[:i] else t.width + element if home == lines[i] else None
            for lane, (home, element) in enumerate(zip(homes, elements, strict=True))
        ]
        line = t.load(Address(lines[i]), t.width)
        result = result.shuffle(lanes + unused, line)
    return result


def _insert_lanes(t: IRBuilder, addresses: Sequence[Address], width: int) -> Vector:
    """A vector whose lanes are loaded one by one."""
    if width == 1:
        return t.load(addresses[0], 1)
    kind = f"<{width} x double>"
    name = "poison"
    for lane, address in enumerate(addresses):
        name = t.emit(f"insertelement {kind} {name}, double {t.load(address, 1).name}, i32 {lane}")
    return Vector(t, name, width)


# --- store and scatter --------------------------------------------------------------------------------------------


def store_strided(t: IRBuilder, at: Address, stride: int, value: Vector, count: int, accumulate: bool) -> None:
    """Store the first ``count`` lanes ``stride`` elements apart, or add them to the numbers there."""
    if stride == 1 or count == 1:
        if accumulate:
            old = t.load(at, count)
            value = old + value.resized(old.width)
        t.store(at, value, count)
        return
    for i in range(count):
        target = at.plus(i * stride)
        lane = value.lane(i)
        t.store(target, t.load(target, 1) + lane if accumulate else lane, 1)


def scatter_add(t: IRBuilder, addresses: Sequence[int], value: Vector) -> None:
    """Add each lane to the number at its address; lanes with the same address are added up first."""
    if len(addresses) == 1:
        target = Address(addresses[0])
        t.store(target, t.load(target, 1) + value.lane(0), 1)
        return
    if _consecutive(addresses):
        store_strided(t, Address(addresses[0]), 1, value, len(addresses), True)
        return
    lanes_of: dict[int, list[int]] = {}
    for lane, address in enumerate(addresses):
        lanes_of.setdefault(address, []).append(lane)
    for targets in _runs(sorted(lanes_of), value.width):
        zero = t.constant_vector(0.0, value.width)
        unused: list[int | None] = [None] * (value.width - len(targets))
        added: Vector | None = None
        for duplicate in range(max(len(lanes_of[a]) for a in targets)):
            # Lane value.width is the first lane of zero.
            lanes = [lanes_of[a][duplicate] if duplicate < len(lanes_of[a]) else value.width for a in targets]
            one = value.shuffle(lanes + unused, zero)
            added = one if added is None else added + one
        assert added is not None
        store_strided(t, Address(targets[0]), 1, added, len(targets), True)


def _runs(addresses: Sequence[int], longest: int) -> Iterator[Sequence[int]]:
    """Runs of consecutive addresses, each of at most ``longest``."""
    while addresses:
        first = addresses[0]
        count = next((i for i, a in enumerate(addresses) if a != first + i * DOUBLE), len(addresses))
        count = min(count, longest)
        yield addresses[:count]
        addresses = addresses[count:]


# --- width --------------------------------------------------------------------------------------------------------


def padded(value: Vector, count: int) -> Vector:
    """A whole vector of the first ``count`` lanes, with zeros in all others."""
    if value.width < value.builder.width:
        return padded_lanes(value)
    lanes = [i if i < count else value.width for i in range(value.width)]
    return value.shuffle(lanes, value.builder.constant_vector(0.0, value.width))


def padded_lanes(value: Vector) -> Vector:
    """A whole vector of all lanes of a narrower one, with zeros after them."""
    t = value.builder
    if value.width == 1:
        kind = f"<{t.width} x double>"
        base = t.constant_text(0.0, t.width)
        return t.vector(f"insertelement {kind} {base}, double {value.name}, i32 0", t.width)
    if value.width == t.width:
        return value
    zeros = t.constant_vector(0.0, value.width)
    return value.shuffle([*range(value.width), *([value.width] * (t.width - value.width))], zeros)


# --- across lanes -------------------------------------------------------------------------------------------------


def hreduce(value: Vector) -> Vector:
    """Horizontal sum: all lanes added up in one double, neighbours first."""
    while value.width > 2:
        value = value.shuffle(range(0, value.width, 2)) + value.shuffle(range(1, value.width, 2))
    return value.lane(0) + value.lane(1) if value.width == 2 else value


def hreduce_each(vectors: Sequence[Vector]) -> Vector:
    """Horizontal sums of several vectors at once: lane i is that of vector i. At most as many as lanes."""
    width = vectors[0].width
    if width == 1:
        return vectors[0]
    known: dict[tuple[str, str], Vector] = {}

    def combined(a: Vector, b: Vector, low: list[int]) -> Vector:
        key = (a.name, b.name)
        if key not in known:
            step = 1 if low[1] == width else 2
            known[key] = a.shuffle(low, b) + a.shuffle([lane + step for lane in low], b)
        return known[key]

    level = [vectors[i % len(vectors)] for i in range(width)]
    singles = [lane for i in range(0, width, 2) for lane in (i, width + i)]
    level = [combined(level[i], level[i + 1], singles) for i in range(0, width, 2)]
    pairs = [lane for i in range(0, 2 * width, 4) for lane in (i, i + 1)]
    while len(level) > 1:
        level = [combined(level[i], level[i + 1], pairs) for i in range(0, len(level), 2)]
    return level[0]


def transpose(t: IRBuilder, lines: Sequence[Address], count: int) -> list[Vector]:
    """The ``count`` columns of a matrix with one line per lane: vector k has element k of each line.

    ``count`` is at most the width of a vector.
    """
    width = t.width
    columns: list[Vector] = []
    if width == 2:
        a, b = (t.load(line, count) if count == 2 else t.load(line, 1).splat(2) for line in lines)
        return [a.shuffle([0, 2], b), a.shuffle([1, 3], b)][:count]
    for start in range(0, count, 4):
        quads = _quads(t, [line.plus(start) for line in lines], min(4, count - start))
        n = quads[0].width
        low = [lane for i in range(0, n, 2) for lane in (i, n + i)]
        high = [lane + 1 for lane in low]
        even = [lane for i in range(0, n, 4) for lane in (i, i + 1, n + i, n + i + 1)]
        odd = [lane + 2 for lane in even]
        a, b = quads[0].shuffle(low, quads[1]), quads[2].shuffle(low, quads[3])
        c, d = quads[0].shuffle(high, quads[1]), quads[2].shuffle(high, quads[3])
        columns += [a.shuffle(even, b), c.shuffle(even, d), a.shuffle(odd, b), c.shuffle(odd, d)]
    return columns[:count]


def _quads(t: IRBuilder, lines: Sequence[Address], count: int) -> list[Vector]:
    """Four numbers of line i and, in vectors of eight, four of line i + 4 after them; i below 4."""

    def four(line: Address) -> Vector:
        if count == 4:
            return t.load(line, 4)
        return _insert_lanes(t, [line.plus(i) for i in range(count)], 4)

    loaded = [four(line) for line in lines]
    if t.width == 4:
        return loaded
    return [loaded[i].shuffle(range(8), loaded[i + 4]) for i in range(4)]
