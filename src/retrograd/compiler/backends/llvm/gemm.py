"""Contractions d (+)= sum a * b, as tiles that stay in registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .elementwise import plus, reduced
from .ir_builder import SCRATCH, Text, Vector
from .kernel_calls import DOUBLE, At, Call, Loop
from .vectors import (
    across,
    blocks,
    collect,
    fma,
    nest,
    overlapping,
    put,
    repeat,
    transposed,
    unrolled,
)

__all__ = ["columns", "contract", "dots", "group_dot", "spread"]

_TILE = 14  #: accumulators of one tile, at which the latency of products is hidden
_KEPT = 24  #: vectors of b that can be kept in registers
_STRAIGHT = 64  #: products in straight-line code


def contract(t: Text, call: Call) -> bool:
    """CONTRACT: over any loops."""
    if call.counts[3] > 3 and call.strides[0][4] == 0 and all(call.strides[w][3] == 1 for w in range(3)):
        return _rows(t, call)
    sd, sa, sb = (call.strides[w][4] for w in range(3))
    if sd == 0 and call.counts[4] > 1:
        return reduced(
            t, call, (1, 2), lambda at, count: collect(t, at[0], sa, count) * collect(t, at[1], sb, count), plus, 0.0
        )
    return False


def _rows(t: Text, call: Call) -> bool:
    """Sums of products side by side."""
    sa, sb = (call.strides[w][4] for w in (1, 2))

    def row(places: list[At], count: int) -> None:
        d, a, b = places
        start = t.load(d, count) if call.accumulate else t.number(0.0, t._some(count)[0])

        def products(a: At, b: At, sums: Vector, depth: int) -> Vector:
            for k in range(depth):
                sums = fma(t.load(a.by(k * sa), count), t.load(b.by(k * sb), count), sums)
            return sums

        t.store(d, products(a, b, start, call.counts[4]), count)

    if call.counts[4] > _STRAIGHT:
        return False
    inner = tuple(call.strides[w][3] for w in range(3))
    nest(
        t, call.outer(2), [call.at(p) for p in range(3)],
        lambda at: blocks(t, call.counts[3], t.width, inner, at, row), 4 * call.counts[4],
    )  # fmt: skip
    return True


# --- d[m, n] (+)= sum over k of a[m, k] * b[k, n] -----------------------------------------------------------------


class Columns:
    """One product of rows with columns: sizes, strides and what they begin at."""

    def __init__(self, t: Text, sizes: tuple[int, ...], strides: tuple[int, ...], accumulate: bool) -> None:
        self.t = t
        self.rows, self.length, self.depth = sizes
        self.dm, self.am, self.ak, self.bk = strides
        self.accumulate = accumulate

    def emit(self, places: list[At]) -> None:
        vectors = -(-self.length // self.t.width)
        if self.depth <= _KEPT and self.rows >= 2 * self.depth:
            wide = max(1, min(vectors, _KEPT // self.depth))
            self._over_columns(places, wide, self._kept)
        else:
            self._over_columns(places, min(vectors, 3 if vectors % 3 == 0 else 2), self._tiles)

    def _over_columns(self, places: list[At], wide: int, body: Callable[[list[At], list[int]], None]) -> None:
        """Blocks of ``wide`` vectors of columns; ``body`` is told how many numbers each vector has."""
        t = self.t

        def block(at: list[At], size: int) -> None:
            body(at, [min(t.width, size - i) for i in range(0, size, t.width)])

        straight = self.rows * self.depth * -(-self.length // t.width) <= _STRAIGHT
        blocks(t, self.length, wide * t.width, (1, 0, 1), places, block, 99 if straight else 1)

    def _b(self, b: At, k: int, counts: Sequence[int]) -> list[Vector]:
        return [self._wide(b.by(k * self.bk + i * self.t.width), count) for i, count in enumerate(counts)]

    def _wide(self, at: At, count: int) -> Vector:
        return self.t.load(at, count)

    def _start(self, d: At, counts: Sequence[int]) -> list[Vector | None]:
        if not self.accumulate:
            return [None] * len(counts)
        return [self.t.load(d.by(i * self.t.width), count) for i, count in enumerate(counts)]

    def _finish(self, d: At, sums: Sequence[Vector | None], counts: Sequence[int]) -> None:
        for i, (value, count) in enumerate(zip(sums, counts, strict=True)):
            assert value is not None
            self.t.store(d.by(i * self.t.width), value, count)

    def _step(self, sums: list[Vector | None], a: At, b: Sequence[Vector]) -> list[Vector | None]:
        result: list[Vector | None] = []
        for old, column in zip(sums, b, strict=True):
            x = self.t.load_splat(a, column.width)
            result.append(x * column if old is None else fma(x, column, old))
        return result

    def _kept(self, places: list[At], counts: list[int]) -> None:
        """All of b's block stays in registers while the rows go by."""
        b = [self._b(places[2], k, counts) for k in range(self.depth)]

        def row(at: list[At]) -> None:
            sums = self._start(at[0], counts)
            for k in range(self.depth):
                sums = self._step(sums, at[1].by(k * self.ak), b[k])
            self._finish(at[0], sums, counts)

        products = self.depth * len(counts)
        unroll = max(1, 32 // products)
        if self.rows * products <= _STRAIGHT:
            unroll = self.rows
        repeat(self.t, self.rows, (self.dm, self.am), places[:2], row, unroll)

    def _tiles(self, places: list[At], counts: list[int]) -> None:
        """Tiles of rows whose sums stay in registers while k runs."""
        most = max(1, _TILE // len(counts)) if len(counts) != 3 else 7
        tiles = -(-self.rows // most)
        size = -(-self.rows // tiles)
        steps = (self.dm, self.am, 0)
        blocks(self.t, self.rows, size, steps, places, lambda at, rows: self._tile(at, rows, counts))

    def _tile(self, places: list[At], rows: int, counts: list[int]) -> None:
        d, a, b = places
        started = [self._start(d.by(m * self.dm), counts) for m in range(rows)]

        def step(sums: list[list[Vector | None]], a: At, b: At) -> list[list[Vector | None]]:
            columns = self._b(b, 0, counts)
            return [self._step(sums[m], a.by(m * self.am), columns) for m in range(rows)]

        products = rows * len(counts)
        unroll = unrolled(self.depth, max(1, (_STRAIGHT if self.depth * products <= _STRAIGHT else 32) // products))
        if self.depth <= unroll:
            for k in range(self.depth):
                started = step(started, a.by(k * self.ak), b.by(k * self.bk))
        else:
            started = self._long(started, a, b, unroll, step, counts)
        for m in range(rows):
            self._finish(d.by(m * self.dm), started[m], counts)

    def _long(
        self,
        started: list[list[Vector | None]],
        a: At,
        b: At,
        unroll: int,
        step: Callable[[list[list[Vector | None]], At, At], list[list[Vector | None]]],
        counts: list[int],
    ) -> list[list[Vector | None]]:
        t, wide = self.t, len(counts)
        rounds = self.depth // unroll
        widths = [t._some(count)[0] for count in counts]
        flat = [v or t.number(0.0, widths[i]) for row in started for i, v in enumerate(row)]

        def grouped(flat: Sequence[Vector]) -> list[list[Vector | None]]:
            return [list(flat[i : i + wide]) for i in range(0, len(flat), wide)]

        def once(offsets: list[str], carried: list[Vector]) -> list[Vector]:
            sums = grouped(carried)
            for k in range(unroll):
                sums = step(sums, At(a.address, offsets[0]).by(k * self.ak), At(b.address, offsets[1]).by(k * self.bk))
            return [v for row in sums for v in row if v is not None]

        steps = [self.ak * unroll * DOUBLE, self.bk * unroll * DOUBLE]
        flat = t.loop(rounds, [a.moving or "0", b.moving or "0"], steps, flat, once)
        sums = grouped(flat)
        for k in range(rounds * unroll, self.depth):
            sums = step(sums, a.by(k * self.ak), b.by(k * self.bk))
        return sums


def columns(t: Text, call: Call) -> bool:
    strides = tuple(call.strides[w][i] for w, i in ((0, 2), (1, 2), (1, 4), (2, 4)))
    product = Columns(t, call.counts[2:], strides, call.accumulate)
    inner = max(1, product.rows * product.depth * -(-product.length // t.width))
    nest(t, call.outer(3), [call.at(p) for p in range(3)], product.emit, inner)
    return True


# --- d[m, n] (+)= sum over k of a[m, n, k] * b[m, n, k] -----------------------------------------------------------


def dots(t: Text, call: Call) -> bool:
    rows, length, depth = call.counts[2:]
    an, bm = call.strides[1][3], call.strides[2][2]
    if an == 0 and bm == 0 and length > 1 and rows > 1 and t.width > 1:
        turned = 24 * -(-depth // t.width)  # shuffles for a vector of columns, turned
        summed = 21 * rows  # shuffles and sums across, in the other way
        product = Dots(t, call)
        nest(
            t,
            call.outer(3),
            [call.at(p) for p in range(3)],
            product.turned if turned <= summed else product.summed,
            rows * length * depth // t.width,
        )
        return True
    return contract(t, call)


class Dots:
    """Rows of a with rows of b, both along k."""

    def __init__(self, t: Text, call: Call) -> None:
        self.t = t
        self.rows, self.length, self.depth = call.counts[2:]
        self.dm, self.dn = call.strides[0][2:4]
        self.am, self.bn = call.strides[1][2], call.strides[2][3]
        self.accumulate = call.accumulate

    def turned(self, places: list[At]) -> None:
        """b is turned, a vector of its rows at a time, so that sums have columns in their lanes."""
        tiles = -(-self.rows // _TILE)
        size = -(-self.rows // tiles)

        if tiles > 1 and self.dn == 1:
            blocks(self.t, self.length, self.t.width, (1, 0, self.bn), places, self._panel)
            return

        def tile(at: list[At], rows: int) -> None:
            steps = (self.dn, 0, self.bn)
            if self.length % self.t.width and self.length > self.t.width and not self.accumulate:
                overlapping(self.t, self.length, steps, at, lambda inner: self._turned_block(inner, rows, self.t.width))
            else:
                blocks(
                    self.t, self.length, self.t.width, steps, at,
                    lambda inner, count: self._turned_block(inner, rows, count),
                )  # fmt: skip

        blocks(self.t, self.rows, size, (self.dm, self.am, 0), places, tile)

    def _panel(self, places: list[At], count: int) -> None:
        """A vector of columns for many rows: what is turned is kept in memory."""
        t, (d, a, b) = self.t, places
        t.scratch = max(t.scratch, self.depth * t.width * DOUBLE)
        lines = [b.by(min(i, count - 1) * self.bn) for i in range(t.width)]
        panel = At(SCRATCH)

        def turn(at: list[At], depth: int) -> None:
            for k, column in enumerate(transposed(t, at[1:], depth)):
                t.store(at[0].by(k * t.width), column, t.width)

        blocks(t, self.depth, t.width, (t.width, *[1] * t.width), [panel, *lines], turn)
        sizes, strides = (self.rows, count, self.depth), (self.dm, self.am, 1, t.width)
        Columns(t, sizes, strides, self.accumulate).emit([d, a, panel])

    def _turned_block(self, places: list[At], rows: int, count: int) -> None:
        t, (d, a, b) = self.t, places
        lines = [b.by(min(i, count - 1) * self.bn) for i in range(t.width)]

        def step(sums: list[Vector | None], a: At, lines: list[At], depth: int) -> list[Vector | None]:
            for k, column in enumerate(transposed(t, lines, depth)):
                for m in range(rows):
                    x = t.load_splat(a.by(m * self.am + k), t.width)
                    old = sums[m]
                    sums[m] = x * column if old is None else fma(x, column, old)
            return sums

        whole, rest = divmod(self.depth, t.width)
        sums: list[Vector | None] = [None] * rows
        if whole > 1 and whole * t.width * rows > _STRAIGHT:

            def once(offsets: list[str], carried: list[Vector]) -> list[Vector]:
                here = [At(line.address, offsets[1]) for line in lines]
                return [v for v in step(list(carried), At(a.address, offsets[0]), here, t.width) if v is not None]

            zeros = [t.number(0.0, t.width)] * rows
            span = t.width * DOUBLE
            sums = list(t.loop(whole, [a.moving or "0", b.moving or "0"], [span, span], zeros, once))
        else:
            for k in range(whole):
                sums = step(sums, a.by(k * t.width), [line.by(k * t.width) for line in lines], t.width)
        if rest:
            sums = step(sums, a.by(whole * t.width), [line.by(whole * t.width) for line in lines], rest)
        for m, value in enumerate(sums):
            assert value is not None
            put(t, d.by(m * self.dm), self.dn, value, count, self.accumulate)

    def summed(self, places: list[At]) -> None:
        """Products along k, summed across lanes at the end."""
        tile = 3 if self.t.width >= 8 else 1

        def rows(at: list[At], rows: int) -> None:
            blocks(
                self.t, self.length, self.t.width, (self.dn, 0, self.bn), at,
                lambda inner, count: self._summed_block(inner, rows, count),
            )  # fmt: skip

        size = -(-self.rows // -(-self.rows // tile))
        blocks(self.t, self.rows, size, (self.dm, self.am, 0), places, rows)

    def _summed_block(self, places: list[At], rows: int, count: int) -> None:
        t, (d, a, b) = self.t, places

        def step(sums: Sequence[Vector | None], a: At, b: At, depth: int) -> list[Vector | None]:
            xs = [t.load(a.by(m * self.am), depth) for m in range(rows)]
            result: list[Vector | None] = []
            for n in range(count):
                y = t.load(b.by(n * self.bn), depth)
                for m in range(rows):
                    old = sums[n * rows + m]
                    result.append(xs[m] * y if old is None else fma(xs[m], y, old))
            return result

        whole, rest = divmod(self.depth, t.width)
        sums: list[Vector | None] = [None] * (rows * count)
        if whole > 2:

            def once(offsets: list[str], carried: list[Vector]) -> list[Vector]:
                return [v for v in step(carried, At(a.address, offsets[0]), At(b.address, offsets[1]), t.width) if v]

            zeros = [t.number(0.0, t.width)] * (rows * count)
            span = t.width * DOUBLE
            sums = list(t.loop(whole, [a.moving or "0", b.moving or "0"], [span, span], zeros, once))
        else:
            for k in range(whole):
                sums = step(sums, a.by(k * t.width), b.by(k * t.width), t.width)
        if rest:
            sums = self._rest(sums, a.by(whole * t.width), b.by(whole * t.width), rest, rows, count)
        for m in range(rows):
            parts = [v for v in sums[m::rows] if v is not None]
            put(t, d.by(m * self.dm), self.dn, across(parts, plus), count, self.accumulate)

    def _rest(self, sums: list[Vector | None], a: At, b: At, depth: int, rows: int, count: int) -> list[Vector | None]:
        from .elementwise import kept_wide

        t = self.t
        for n in range(count):
            y = t.load(b.by(n * self.bn), depth)
            for m in range(rows):
                one = kept_wide(t.load(a.by(m * self.am), depth) * y, depth)
                old = sums[n * rows + m]
                sums[n * rows + m] = one if old is None else old + one
        return sums


# --- groups of four -----------------------------------------------------------------------------------------------


def spread(t: Text, call: Call) -> bool:
    """d[4h + j] (+)= sum over k of a[h, k] * b[4h + j, k]."""
    heads, depth = call.counts[3:]
    ah, ak, bk = call.strides[1][3], call.strides[1][4], call.strides[2][4]

    def group(places: list[At]) -> None:
        d, a, b = places
        sums = t.load(d, 4) if call.accumulate else None
        for k in range(depth):
            x, y = t.load_splat(a.by(k * ak), 4), t.load(b.by(k * bk), 4)
            sums = x * y if sums is None else fma(x, y, sums)
        assert sums is not None
        t.store(d, sums, 4)

    if depth > _STRAIGHT:
        return False
    nest(t, [*call.outer(2), Loop(heads, (4, ah, 4))], [call.at(p) for p in range(3)], group, depth)
    return True


def group_dot(t: Text, call: Call) -> bool:
    """d[h] (+)= sum over j of a[4h + j] * b[4h + j], of which eight are summed across at a time."""
    heads = call.counts[3]
    loops = sorted(call.outer(2), key=lambda loop: -loop.count)
    inner = [Loop(heads, (call.strides[0][3], 4, 4))]
    count = heads
    while loops and count * loops[-1].count <= 64:
        inner.append(loops.pop())
        count *= inner[-1].count
    offsets = [(0, 0, 0)]
    for loop in inner:
        d, a, b = loop.strides[:3]
        offsets = [(o[0] + i * d, o[1] + i * a, o[2] + i * b) for o in offsets for i in range(loop.count)]
    if len({d for d, _, _ in offsets}) < len(offsets):
        return False
    offsets.sort()

    def groups(places: list[At]) -> None:
        left = offsets
        while left:
            run = next((i for i, o in enumerate(left) if o[0] != left[0][0] + i), len(left))
            some, left = left[: min(run, t.width)], left[min(run, t.width) :]
            products = [t.load(places[1].by(a), 4) * t.load(places[2].by(b), 4) for _, a, b in some]
            put(t, places[0].by(some[0][0]), 1, _fours(products), len(some), call.accumulate)

    nest(t, loops, [call.at(p) for p in range(3)], groups, 4 * count)
    return True


def _fours(products: list[Vector]) -> Vector:
    """The sums of vectors of four, one in each lane of a vector."""
    if products[0].text.width < 8 or len(products) <= 4:
        return across(products, plus)
    wide = [products[i].shuffled(range(8), products[min(i + 4, len(products) - 1)]) for i in range(4)]
    unpack = [0, 8, 2, 10, 4, 12, 6, 14]

    def paired(a: Vector, b: Vector, lanes: list[int], step: int) -> Vector:
        return a.shuffled(lanes, b) + a.shuffled([lane + step for lane in lanes], b)

    first, second = paired(wide[0], wide[1], unpack, 1), paired(wide[2], wide[3], unpack, 1)
    return paired(first, second, [0, 1, 8, 9, 4, 5, 12, 13], 2)
