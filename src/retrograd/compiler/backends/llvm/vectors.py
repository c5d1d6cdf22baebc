"""Numbers between memory and the lanes of vectors: strided, listed, summed across, transposed; and nests of loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .ir_builder import Text, Vector
from .kernel_calls import DOUBLE, At, Loop

__all__ = [
    "across",
    "blocks",
    "collect",
    "fma",
    "gather",
    "nest",
    "overlapping",
    "put",
    "scatter_add",
    "total",
    "transposed",
    "unrolled",
]

#: How many vector operations straight-line code of one nest may have, about; and the body of a loop otherwise.
STRAIGHT, BODY = 14, 6

Combine = Callable[[Vector, Vector], Vector]


def fma(a: Vector, b: Vector, c: Vector) -> Vector:
    return a.called("fmuladd", b, c)


# --- loops --------------------------------------------------------------------------------------------------------


def unrolled(count: int, most: int) -> int:
    """How many of ``count`` iterations make the body of a loop: at most ``most``, best with nothing left over."""
    if count <= most:
        return max(1, count)
    if most < 2:
        return 1
    return next((n for n in range(most, most // 2, -1) if count % n == 0), most)


def repeat(
    t: Text, count: int, steps: Sequence[int], ats: Sequence[At], body: Callable[[list[At]], None], unroll: int
) -> None:
    """``body`` at each of ``count`` places, the operands moving by ``steps`` elements; ``unroll`` at a time."""

    def several(places: Sequence[At], times: int) -> None:
        for i in range(times):
            body([at.by(i * step) for at, step in zip(places, steps, strict=True)])

    unroll = unrolled(count, unroll)
    rounds = count // unroll
    if rounds == 1:
        several(ats, count)
        return

    def one_round(offsets: list[str], _: list[Vector]) -> list[Vector]:
        moving = iter(offsets)
        several([At(at.address, next(moving)) if step else at for at, step in zip(ats, steps, strict=True)], unroll)
        return []

    used = [(at.moving or "0", step * unroll * DOUBLE) for at, step in zip(ats, steps, strict=True) if step]
    t.loop(rounds, [start for start, _ in used], [step for _, step in used], [], one_round)
    several([at.by(rounds * unroll * step) for at, step in zip(ats, steps, strict=True)], count - rounds * unroll)


def nest(t: Text, loops: Sequence[Loop], ats: Sequence[At], body: Callable[[list[At]], None], cost: int = 1) -> None:
    """``body`` for each iteration of ``loops``, outermost first; straight-line where that is short."""
    if not loops:
        body(list(ats))
        return
    first, *rest = loops
    inner = max(1, cost)
    for loop in rest:
        inner *= loop.count
    strides = first.strides[: len(ats)] + (first.strides[-1],) * (len(ats) - len(first.strides))
    unroll = first.count if first.count * inner <= STRAIGHT else BODY // inner
    repeat(t, first.count, strides, ats, lambda places: nest(t, rest, places, body, cost), unroll)


def blocks(
    t: Text, total: int, size: int, steps: Sequence[int], ats: Sequence[At], body: Callable[[list[At], int], None],
    unroll: int = 1,
) -> None:  # fmt: skip
    """``body(places, size)`` for whole blocks, then ``body(places, rest)``; steps are of one element."""
    whole, rest = divmod(total, size)
    if whole:
        repeat(t, whole, [step * size for step in steps], ats, lambda places: body(places, size), unroll)
    if rest:
        body([at.by(whole * size * step) for at, step in zip(ats, steps, strict=True)], rest)


def overlapping(t: Text, total: int, steps: Sequence[int], ats: Sequence[At], body: Callable[[list[At]], None]) -> None:
    """Vectors of ``total`` numbers, the last of which begins early enough to be whole: some are done twice."""
    last = total - t.width

    def once(offsets: list[str], _: list[Vector]) -> list[Vector]:
        t.declare("declare i64 @llvm.umin.i64(i64, i64)")
        places = []
        for at, step in zip(ats, steps, strict=True):
            if not step:
                places.append(at)
                continue
            offset = t.op(f"call i64 @llvm.umin.i64(i64 {offsets[0]}, i64 {last})")
            moving = t.op(f"mul i64 {offset}, {step * DOUBLE}")
            places.append(At(at.address, moving if at.moving is None else t.op(f"add i64 {moving}, {at.moving}")))
        body(places)
        return []

    t.loop(-(-total // t.width), ["0"], [t.width], [], once)


# --- memory and lanes ---------------------------------------------------------------------------------------------


def collect(t: Text, at: At, stride: int, count: int) -> Vector:
    """``count`` numbers ``stride`` apart, in as narrow a vector as holds them."""
    if stride == 1:
        return t.load(at, count)
    width = min(t.width, count) if count in (1, 2, 4) else t.width
    if stride == 0:
        return t.load_splat(at, width)
    if at.moving is None:
        return gather(t, [at.address + i * stride * DOUBLE for i in range(count)])
    return _inserted(t, [at.by(i * stride) for i in range(count)], width)


def _inserted(t: Text, places: Sequence[At], width: int) -> Vector:
    if width == 1:
        return t.load(places[0], 1)
    kind = f"<{width} x double>"
    name = "poison"
    for lane, place in enumerate(places):
        name = t.op(f"insertelement {kind} {name}, double {t.load(place, 1).name}, i32 {lane}")
    return Vector(t, name, width)


def gather(t: Text, addresses: Sequence[int]) -> Vector:
    """Numbers at known addresses: vectors from around them, shuffled."""
    count = len(addresses)
    width = count if count in (1, 2, 4) else t.width
    if all(address == addresses[0] + i * DOUBLE for i, address in enumerate(addresses)):
        return t.load(At(addresses[0]), count)
    if len(set(addresses)) == 1:
        return t.load_splat(At(addresses[0]), width)
    span = t.width * DOUBLE
    # An aligned vector is on one page: what is beside the numbers can be read, and is not looked at.
    lines = list(dict.fromkeys(address // span * span for address in addresses))
    if len(lines) > 4 or width < 4:
        return _inserted(t, [At(address) for address in addresses], width)
    result: Vector | None = None
    done: set[int] = set()
    for i, line in enumerate(lines):
        if i == 1 and result is not None:
            continue  # the first two were merged
        second = i == 0 and len(lines) > 1
        sources = [line, lines[1]] if second else [line]
        vectors = [t.load(At(source), t.width) for source in sources]
        lanes: list[int | None] = []
        for lane, address in enumerate(addresses):
            home = address // span * span
            if lane in done and result is not None:
                lanes.append(lane)
            elif home in sources:
                base = sources.index(home) * t.width if result is None else t.width
                lanes.append(base + (address - home) // DOUBLE)
                done.add(lane)
            else:
                lanes.append(None)
        lanes += [None] * (t.width - count)
        if result is None:
            result = vectors[0].shuffled(lanes, vectors[1] if second else None)
        else:
            result = result.shuffled(lanes, vectors[0])
    assert result is not None
    return result if width == t.width else result.shuffled(range(width))


def put(t: Text, at: At, stride: int, value: Vector, count: int, accumulate: bool) -> None:
    """Stores the first ``count`` lanes, ``stride`` apart, or adds them to what is there."""
    if stride == 1 or count == 1:
        if accumulate:
            old = t.load(at, count)
            value = old + (value if value.width == old.width else narrowed(value, old.width))
        t.store(at, value, count)
        return
    for i in range(count):
        place = at.by(i * stride)
        lane = value.lane(i)
        t.store(place, t.load(place, 1) + lane if accumulate else lane, 1)


def narrowed(value: Vector, width: int) -> Vector:
    return value.lane(0) if width == 1 else value.shuffled(range(width))


def scatter_add(t: Text, addresses: Sequence[int], value: Vector) -> None:
    """Adds each lane to the number at its address; several may be the same."""
    if len(addresses) == 1:
        place = At(addresses[0])
        t.store(place, t.load(place, 1) + value.lane(0), 1)
        return
    if all(address == addresses[0] + i * DOUBLE for i, address in enumerate(addresses)):
        put(t, At(addresses[0]), 1, value, len(addresses), True)
        return
    lanes_of: dict[int, list[int]] = {}
    for lane, address in enumerate(addresses):
        lanes_of.setdefault(address, []).append(lane)
    targets = sorted(lanes_of)
    while targets:
        first = targets[0]
        count = next((i for i, a in enumerate(targets) if a != first + i * DOUBLE), len(targets))
        count = min(count, value.width)
        chosen, targets = targets[:count], targets[count:]
        rounds = max(len(lanes_of[a]) for a in chosen)
        zero = t.number(0.0, value.width)
        added: Vector | None = None
        for r in range(rounds):
            picks: list[int | None] = [lanes_of[a][r] if r < len(lanes_of[a]) else value.width for a in chosen]
            picks += [None] * (value.width - count)
            one = value.shuffled(picks, zero)
            added = one if added is None else added + one
        assert added is not None
        put(t, At(first), 1, added, count, True)


# --- across lanes -------------------------------------------------------------------------------------------------


def total(value: Vector, count: int, combine: Combine) -> Vector:
    """All ``count`` lanes combined into a double: neighbours first, so that they stay in order."""
    while value.width > 2:
        value = combine(value.shuffled(range(0, value.width, 2)), value.shuffled(range(1, value.width, 2)))
    if value.width == 2:
        value = combine(value.lane(0), value.lane(1))
    return value


def across(vectors: Sequence[Vector], combine: Combine) -> Vector:
    """Lane i of the result is all of vector i combined. At most as many vectors as lanes."""
    width = vectors[0].width
    if width == 1:
        return vectors[0]
    known: dict[tuple[str, str], Vector] = {}

    def paired(a: Vector, b: Vector, low: list[int]) -> Vector:
        key = (a.name, b.name)
        if key not in known:
            step = 1 if low[1] == width else 2
            known[key] = combine(a.shuffled(low, b), a.shuffled([lane + step for lane in low], b))
        return known[key]

    level = [vectors[i % len(vectors)] for i in range(width)]
    unpack = [lane for i in range(0, width, 2) for lane in (i, width + i)]
    level = [paired(level[i], level[i + 1], unpack) for i in range(0, width, 2)]
    halves = [lane for i in range(0, 2 * width, 4) for lane in (i, i + 1)]
    while len(level) > 1:
        level = [paired(level[i], level[i + 1], halves) for i in range(0, len(level), 2)]
    return level[0]


def transposed(t: Text, rows: Sequence[At], count: int) -> list[Vector]:
    """Columns of as many rows as a vector has lanes, each row ``count`` numbers (at most a vector of them)."""
    width = t.width
    columns: list[Vector] = []
    if width == 2:
        a, b = (t.load(row, count) if count == 2 else t.load(row, 1).splat(2) for row in rows)
        return [a.shuffled([0, 2], b), a.shuffled([1, 3], b)][:count]
    for start in range(0, count, 4):
        quads = _quads(t, [row.by(start) for row in rows], min(4, count - start))
        n = quads[0].width
        low = [lane for i in range(0, n, 2) for lane in (i, n + i)]
        high = [lane + 1 for lane in low]
        even = [lane for i in range(0, n, 4) for lane in (i, i + 1, n + i, n + i + 1)]
        odd = [lane + 2 for lane in even]
        a, b = quads[0].shuffled(low, quads[1]), quads[2].shuffled(low, quads[3])
        c, d = quads[0].shuffled(high, quads[1]), quads[2].shuffled(high, quads[3])
        columns += [a.shuffled(even, b), c.shuffled(even, d), a.shuffled(odd, b), c.shuffled(odd, d)]
    return columns[:count]


def _quads(t: Text, rows: Sequence[At], count: int) -> list[Vector]:
    """Four numbers of row i and, in wide vectors, four of row i + 4 beside them; i below 4."""

    def four(row: At) -> Vector:
        if count == 4:
            return t.load(row, 4)
        return _inserted(t, [row.by(i) for i in range(count)], 4)

    loaded = [four(row) for row in rows]
    if t.width == 4:
        return loaded
    return [loaded[i].shuffled(range(8), loaded[i + 4]) for i in range(4)]
