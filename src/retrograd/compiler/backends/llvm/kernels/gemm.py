"""Contractions d (+)= sum a * b as micro-kernels: tiles of d whose sums stay in vector registers.

In matrix products d is m x n, the sums run over k, and i, j and p count along m, n and k. The loops around the
micro-kernel, and the copy of b in packed panels, follow Goto & van de Geijn, "Anatomy of high-performance matrix
multiplication" (ACM TOMS, 2008); matrices here are so small that no blocking for caches is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir_builder import SCRATCH, IRBuilder, Vector
from ..kernel_calls import DOUBLE, Address, KernelCall, Loop
from ..loops import blocked_loop, loop_nest, unroll_factor, unrolled_loop
from ..vectors import fma, hreduce_each, load_strided, padded, store_strided, transpose
from .reductions import sum_terms

__all__ = ["GEMMS", "Finish", "contract", "gemm_nn", "gemm_nt", "group_dot", "is_tiled", "spread"]

_ACCUMULATORS = 14  #: of one tile: so many independent sums hide the latency of a multiply-add
_RESIDENT = 24  #: vectors of b that can stay in registers
_MAX_STRAIGHT_LINE = 64  #: products in straight-line code

#: Sums of which some have not begun: None stands for zero.
_Sums = list[Vector | None]

#: Stores numbers of d, and goes on with them: their address, their vector, and how many of its lanes they are.
Finish = Callable[[Address, Vector, int], None]


def contract(t: IRBuilder, call: KernelCall) -> bool:
    """CONTRACT: a sum of products over any loops."""
    if call.counts[3] > 3 and call.strides[0][4] == 0 and all(call.strides[w][3] == 1 for w in range(3)):
        return _contract_lanes(t, call)
    sd, sa, sb = (call.strides[w][4] for w in range(3))
    if sd == 0 and call.counts[4] > 1:

        def products(operands: list[Address], count: int) -> Vector:
            return load_strided(t, operands[0], sa, count) * load_strided(t, operands[1], sb, count)

        return sum_terms(t, call, (1, 2), products)
    return False


def _contract_lanes(t: IRBuilder, call: KernelCall) -> bool:
    """Sums of products for neighbours in the loop around: each lane is one sum."""
    if call.counts[4] > _MAX_STRAIGHT_LINE:
        return False
    sa, sb = (call.strides[w][4] for w in (1, 2))

    def block(operands: list[Address], count: int) -> None:
        d, a, b = operands
        sums = t.load(d, count) if call.accumulate else t.constant_vector(0.0, t.vector_shape(count)[0])
        for p in range(call.counts[4]):
            sums = fma(t.load(a.plus(p * sa), count), t.load(b.plus(p * sb), count), sums)
        t.store(d, sums, count)

    steps = tuple(call.strides[w][3] for w in range(3))
    loop_nest(
        t,
        call.outer_loops(2),
        [call.address(p) for p in range(3)],
        lambda operands: blocked_loop(t, call.counts[3], t.width, steps, operands, block),
        4 * call.counts[4],
    )
    return True


# --- d[i, j] (+)= sum over p of a[i, p] * b[p, j] -----------------------------------------------------------------


def gemm_nn(t: IRBuilder, call: KernelCall, finish: Finish | None = None) -> bool:
    """CONTRACT_NN: neither matrix is transposed; d and b have stride 1 along j."""
    strides = tuple(call.strides[w][i] for w, i in ((0, 2), (1, 2), (1, 4), (2, 4)))
    product = GemmNN(t, call.counts[2:], strides, Start.of(call), finish)
    cost = max(1, product.m * product.k * -(-product.n // t.width))
    loop_nest(t, call.outer_loops(3), product.start.operands(call), product.emit, cost)
    return True


@dataclass(frozen=True, slots=True)
class Start:
    """What the sums begin with: zero, what d holds, or operand 3 of a call that a copy to d was fused with.

    Attributes:
        accumulate: d.
        apart: the strides of operand 3 along i and j; None where there is none.
    """

    accumulate: bool = False
    apart: tuple[int, int] | None = None

    @staticmethod
    def of(call: KernelCall) -> Start:
        return Start(call.accumulate, (call.strides[3][2], call.strides[3][3]) if call.pointers[3] else None)

    def operands(self, call: KernelCall) -> list[Address]:
        """The operands that move in the loops: d, a, b, and what the sums begin with if that is apart."""
        return [call.address(p) for p in range(3 if self.apart is None else 4)]

    def steps(self, steps: tuple[int, ...], along_i: int, along_j: int) -> tuple[int, ...]:
        """The steps of all operands, given those of d, a and b, where i and j grow by so much."""
        return steps if self.apart is None else (*steps, along_i * self.apart[0] + along_j * self.apart[1])

    def load(self, t: IRBuilder, operands: Sequence[Address], i: int, j: int, count: int) -> Vector:
        """``count`` numbers of operand 3, neighbours along j, ``i`` and ``j`` after the one at its address."""
        assert self.apart is not None
        return load_strided(t, operands[3].plus(i * self.apart[0] + j * self.apart[1]), self.apart[1], count)


class GemmNN:
    """One product of two matrices. Lanes of vectors go along j.

    Args:
        t: where to.
        sizes: m, n and k.
        strides: of d and a along i, and of a and b along p.
        start: what the sums begin with.
        finish: what goes on with them.
    """

    def __init__(
        self, t: IRBuilder, sizes: tuple[int, ...], strides: tuple[int, ...], start: Start, finish: Finish | None
    ) -> None:
        self.t = t
        self.m: int
        self.n: int
        self.k: int
        self.m, self.n, self.k = sizes
        self.di: int
        self.ai: int
        self.ap: int
        self.bp: int
        self.di, self.ai, self.ap, self.bp = strides
        self.start = start
        self.finish = finish

    def emit(self, operands: list[Address]) -> None:
        """Choose what stays in registers: a block of b if it is small and used for many i, otherwise a tile of d."""
        vectors = -(-self.n // self.t.width)
        if self.k <= _RESIDENT and self.m >= 2 * self.k:
            wide = max(1, min(vectors, _RESIDENT // self.k))
            self._blocks_of_columns(operands, wide, self._resident_b)
        else:
            self._blocks_of_columns(operands, min(vectors, 3 if vectors % 3 == 0 else 2), self._resident_tiles)

    def _blocks_of_columns(
        self, operands: list[Address], wide: int, body: Callable[[list[Address], list[int]], None]
    ) -> None:
        """Blocks of ``wide`` vectors along j; ``body`` also gets how many numbers each vector has."""
        t = self.t

        def block(moved: list[Address], size: int) -> None:
            body(moved, [min(t.width, size - j) for j in range(0, size, t.width)])

        straight_line = self.m * self.k * -(-self.n // t.width) <= _MAX_STRAIGHT_LINE
        steps = self.start.steps((1, 0, 1), 0, 1)
        blocked_loop(t, self.n, wide * t.width, steps, operands, block, 99 if straight_line else 1)

    def _resident_b(self, operands: list[Address], counts: list[int]) -> None:
        """All of b's block stays in registers while i runs."""
        b = [self._load_b(operands[2], p, counts) for p in range(self.k)]

        def one_i(moved: list[Address]) -> None:
            sums = self._load_start(moved, 0, counts)
            for p in range(self.k):
                sums = self._multiply_add(sums, moved[1].plus(p * self.ap), b[p])
            self._store_d(moved[0], sums, counts)

        products = self.k * len(counts)
        unroll = max(1, 32 // products)
        if self.m * products <= _MAX_STRAIGHT_LINE:
            unroll = self.m
        unrolled_loop(self.t, self.m, self.start.steps((self.di, self.ai, 0), 1, 0), operands, one_i, unroll)

    def _resident_tiles(self, operands: list[Address], counts: list[int]) -> None:
        """Tiles of d, some i high and the block wide, stay in registers while p runs."""
        most = max(1, _ACCUMULATORS // len(counts)) if len(counts) != 3 else 7
        tiles = -(-self.m // most)
        size = -(-self.m // tiles)
        steps = self.start.steps((self.di, self.ai, 0), 1, 0)
        blocked_loop(self.t, self.m, size, steps, operands, lambda moved, height: self._tile(moved, height, counts))

    def _tile(self, operands: list[Address], height: int, counts: list[int]) -> None:
        """One tile: d += the sum over p of a column of a times a row of b."""
        d, a, b = operands[:3]
        tile = [self._load_start(operands, i, counts) for i in range(height)]

        def rank_one_update(tile: list[_Sums], a: Address, b: Address) -> list[_Sums]:
            b_vectors = self._load_b(b, 0, counts)
            return [self._multiply_add(tile[i], a.plus(i * self.ai), b_vectors) for i in range(height)]

        products = height * len(counts)
        budget = _MAX_STRAIGHT_LINE if self.k * products <= _MAX_STRAIGHT_LINE else 32
        unroll = unroll_factor(self.k, max(1, budget // products))
        if self.k <= unroll:
            for p in range(self.k):
                tile = rank_one_update(tile, a.plus(p * self.ap), b.plus(p * self.bp))
        else:
            tile = self._tile_loop(tile, a, b, unroll, rank_one_update, counts)
        for i in range(height):
            self._store_d(d.plus(i * self.di), tile[i], counts)

    def _tile_loop(
        self,
        tile: list[_Sums],
        a: Address,
        b: Address,
        unroll: int,
        rank_one_update: Callable[[list[_Sums], Address, Address], list[_Sums]],
        counts: list[int],
    ) -> list[_Sums]:
        """The updates of a tile as a loop over p, which carries the tile's vectors."""
        t, wide = self.t, len(counts)
        rounds = self.k // unroll
        widths = [t.vector_shape(count)[0] for count in counts]
        flat = [v or t.constant_vector(0.0, widths[j]) for line in tile for j, v in enumerate(line)]

        def unflattened(flat: Sequence[Vector]) -> list[_Sums]:
            return [list(flat[i : i + wide]) for i in range(0, len(flat), wide)]

        def body(offsets: list[str], carried: list[Vector]) -> list[Vector]:
            tile = unflattened(carried)
            here_a, here_b = Address(a.constant, offsets[0]), Address(b.constant, offsets[1])
            for p in range(unroll):
                tile = rank_one_update(tile, here_a.plus(p * self.ap), here_b.plus(p * self.bp))
            return [v for line in tile for v in line if v is not None]

        steps = [self.ap * unroll * DOUBLE, self.bp * unroll * DOUBLE]
        tile = unflattened(t.loop(rounds, [a.offset or "0", b.offset or "0"], steps, flat, body))
        for p in range(rounds * unroll, self.k):
            tile = rank_one_update(tile, a.plus(p * self.ap), b.plus(p * self.bp))
        return tile

    def _load_b(self, b: Address, p: int, counts: Sequence[int]) -> list[Vector]:
        return [self.t.load(b.plus(p * self.bp + j * self.t.width), count) for j, count in enumerate(counts)]

    def _load_start(self, operands: Sequence[Address], i: int, counts: Sequence[int]) -> _Sums:
        t, start, d = self.t, self.start, operands[0]
        if start.apart is not None:
            return [start.load(t, operands, i, j * t.width, count) for j, count in enumerate(counts)]
        if not start.accumulate:
            return [None] * len(counts)
        return [t.load(d.plus(i * self.di + j * t.width), count) for j, count in enumerate(counts)]

    def _store_d(self, d: Address, sums: _Sums, counts: Sequence[int]) -> None:
        for j, (value, count) in enumerate(zip(sums, counts, strict=True)):
            assert value is not None
            (self.finish or self.t.store)(d.plus(j * self.t.width), value, count)

    def _multiply_add(self, sums: _Sums, a: Address, b: Sequence[Vector]) -> _Sums:
        """sums += a * b, for one number of a and vectors of b."""
        result: _Sums = []
        for old, vector in zip(sums, b, strict=True):
            x = self.t.load_splat(a, vector.width)
            result.append(x * vector if old is None else fma(x, vector, old))
        return result


# --- d[i, j] (+)= sum over p of a[i, p] * b[j, p] -----------------------------------------------------------------


def gemm_nt(t: IRBuilder, call: KernelCall, finish: Finish | None = None) -> bool:
    """CONTRACT_NT: b is transposed; a and b have stride 1 along p."""
    if not _is_matrix_product(t, call):
        return contract(t, call)
    m, n, k = call.counts[2:]
    product = GemmNT(t, call, finish)
    body = product.transposed if _transposes(t, call) else product.reduced
    loop_nest(t, call.outer_loops(3), product.start.operands(call), body, m * n * k // t.width)
    return True


def _is_matrix_product(t: IRBuilder, call: KernelCall) -> bool:
    m, n, _ = call.counts[2:]
    return call.strides[1][3] == 0 and call.strides[2][2] == 0 and n > 1 and m > 1 and t.width > 1


def _transposes(t: IRBuilder, call: KernelCall) -> bool:
    m, _, k = call.counts[2:]
    transposing = 24 * -(-k // t.width)  # shuffles for a vector of columns, if b is transposed first
    reducing = 21 * m  # shuffles and sums, if each sum is reduced across lanes at the end
    return transposing <= reducing


#: The matrix products by kernel, which may begin with operand 3 and be finished where ``is_tiled`` says so.
GEMMS = {"contract_nn": gemm_nn, "contract_nt": gemm_nt}


def is_tiled(t: IRBuilder, call: KernelCall) -> bool:
    """Whether a matrix product sums up in tiles of d, lanes along j."""
    return call.kernel == "contract_nn" or (
        call.kernel == "contract_nt" and _is_matrix_product(t, call) and _transposes(t, call)
    )


class GemmNT:
    """One product of a matrix with a transposed one: dot products along p, where both have stride 1."""

    def __init__(self, t: IRBuilder, call: KernelCall, finish: Finish | None) -> None:
        self.t = t
        self.m: int
        self.n: int
        self.k: int
        self.m, self.n, self.k = call.counts[2:]
        self.di: int
        self.dj: int
        self.di, self.dj = call.strides[0][2:4]
        self.ai: int
        self.bj: int
        self.ai, self.bj = call.strides[1][2], call.strides[2][3]
        self.start = Start.of(call)
        self.finish = finish

    # --- b transposed in registers or in a packed panel: lanes of vectors go along j --------------------------

    def transposed(self, operands: list[Address]) -> None:
        """Transpose a vector of rows of b at a time, so that each lane sums up one j."""
        t = self.t
        tiles = -(-self.m // _ACCUMULATORS)
        size = -(-self.m // tiles)
        if tiles > 1 and self.dj == 1:
            blocked_loop(t, self.n, t.width, self.start.steps((1, 0, self.bj), 0, 1), operands, self._packed_panel)
            return

        def tile(moved: list[Address], height: int) -> None:
            steps = self.start.steps((self.dj, 0, self.bj), 0, 1)
            blocked_loop(
                t, self.n, t.width, steps, moved, lambda block, count: self._transposed_tile(block, height, count)
            )

        blocked_loop(t, self.m, size, self.start.steps((self.di, self.ai, 0), 1, 0), operands, tile)

    def _b_rows(self, b: Address, count: int) -> list[Address]:
        """A row of b for each lane; the last one again where there are only ``count``."""
        return [b.plus(min(j, count - 1) * self.bj) for j in range(self.t.width)]

    def _packed_panel(self, operands: list[Address], count: int) -> None:
        """Pack a transposed panel of b, one vector wide, in scratch memory, and multiply all of a with it."""
        t, (d, a, b, *apart) = self.t, operands
        t.scratch = max(t.scratch, self.k * t.width * DOUBLE)
        panel = Address(SCRATCH)

        def pack(moved: list[Address], count: int) -> None:
            for p, column in enumerate(transpose(t, moved[1:], count)):
                t.store(moved[0].plus(p * t.width), column, t.width)

        blocked_loop(t, self.k, t.width, (t.width, *[1] * t.width), [panel, *self._b_rows(b, count)], pack)
        sizes, strides = (self.m, count, self.k), (self.di, self.ai, 1, t.width)
        GemmNN(t, sizes, strides, self.start, self.finish).emit([d, a, panel, *apart])

    def _transposed_tile(self, operands: list[Address], height: int, count: int) -> None:
        """A tile of d, ``height`` i and a vector of j; b is transposed in registers."""
        t, (d, a, b) = self.t, operands[:3]
        b_rows = self._b_rows(b, count)

        def update(sums: _Sums, a: Address, b_rows: list[Address], count: int) -> _Sums:
            for p, column in enumerate(transpose(t, b_rows, count)):
                for i in range(height):
                    x = t.load_splat(a.plus(i * self.ai + p), t.width)
                    old = sums[i]
                    sums[i] = x * column if old is None else fma(x, column, old)
            return sums

        whole, rest = divmod(self.k, t.width)
        sums: _Sums = [None] * height
        if whole > 1 and whole * t.width * height > _MAX_STRAIGHT_LINE:

            def body(offsets: list[str], carried: list[Vector]) -> list[Vector]:
                here = [Address(row.constant, offsets[1]) for row in b_rows]
                return [v for v in update(list(carried), Address(a.constant, offsets[0]), here, t.width) if v]

            sums = self._loop_along_k(whole, a, b, height, body)
        else:
            for v in range(whole):
                sums = update(sums, a.plus(v * t.width), [row.plus(v * t.width) for row in b_rows], t.width)
        if rest:
            sums = update(sums, a.plus(whole * t.width), [row.plus(whole * t.width) for row in b_rows], rest)
        for i, value in enumerate(sums):
            assert value is not None
            at, accumulate = d.plus(i * self.di), self.start.accumulate
            if self.start.apart is not None:
                start = self.start.load(t, operands, i, 0, count)
                value = value.resized(start.width) + start
            if self.finish:
                old = t.load(at, count) if accumulate else None
                self.finish(at, value if old is None else value.resized(old.width) + old, count)
            else:
                store_strided(t, at, self.dj, value, count, accumulate)

    # --- lanes of vectors go along p --------------------------------------------------------------------------

    def reduced(self, operands: list[Address]) -> None:
        """Sum products lane by lane along p, and reduce the sums across lanes at the end."""
        t = self.t
        most = 3 if t.width >= 8 else 1

        def tile(moved: list[Address], height: int) -> None:
            steps = (self.dj, 0, self.bj)
            blocked_loop(
                t, self.n, t.width, steps, moved, lambda block, count: self._reduced_tile(block, height, count)
            )

        size = -(-self.m // -(-self.m // most))
        blocked_loop(t, self.m, size, (self.di, self.ai, 0), operands, tile)

    def _reduced_tile(self, operands: list[Address], height: int, count: int) -> None:
        """A tile of d, ``height`` i and ``count`` j, at most as many as a vector has lanes."""
        t, (d, a, b) = self.t, operands

        def update(sums: Sequence[Vector | None], a: Address, b: Address, count_p: int) -> _Sums:
            xs = [t.load(a.plus(i * self.ai), count_p) for i in range(height)]
            result: _Sums = []
            for j in range(count):
                y = t.load(b.plus(j * self.bj), count_p)
                for i in range(height):
                    old = sums[j * height + i]
                    result.append(xs[i] * y if old is None else fma(xs[i], y, old))
            return result

        whole, rest = divmod(self.k, t.width)
        sums: _Sums = [None] * (height * count)
        if whole > 2:

            def body(offsets: list[str], carried: list[Vector]) -> list[Vector]:
                here_a, here_b = Address(a.constant, offsets[0]), Address(b.constant, offsets[1])
                return [v for v in update(carried, here_a, here_b, t.width) if v]

            sums = self._loop_along_k(whole, a, b, height * count, body)
        else:
            for v in range(whole):
                sums = update(sums, a.plus(v * t.width), b.plus(v * t.width), t.width)
        if rest:
            sums = self._add_rest(sums, a.plus(whole * t.width), b.plus(whole * t.width), rest, height, count)
        for i in range(height):
            partials = [v for v in sums[i::height] if v is not None]
            store_strided(t, d.plus(i * self.di), self.dj, hreduce_each(partials), count, self.start.accumulate)

    def _add_rest(self, sums: _Sums, a: Address, b: Address, rest: int, height: int, count: int) -> _Sums:
        """Add the products after the last whole vector along p, with zeros in unused lanes."""
        t = self.t
        for j in range(count):
            y = t.load(b.plus(j * self.bj), rest)
            for i in range(height):
                one = padded(t.load(a.plus(i * self.ai), rest) * y, rest)
                old = sums[j * height + i]
                sums[j * height + i] = one if old is None else old + one
        return sums

    def _loop_along_k(
        self, count: int, a: Address, b: Address, sums: int, body: Callable[[list[str], list[Vector]], list[Vector]]
    ) -> _Sums:
        """A loop over ``count`` vectors along p that carries ``sums`` vectors, which begin with zero."""
        t = self.t
        zeros, step = [t.constant_vector(0.0, t.width)] * sums, t.width * DOUBLE
        return list(t.loop(count, [a.offset or "0", b.offset or "0"], [step, step], zeros, body))


# --- groups of four -----------------------------------------------------------------------------------------------


def spread(t: IRBuilder, call: KernelCall) -> bool:
    """CONTRACT_GROUPS_SPREAD: d[4h + j] (+)= sum over p of a[h, p] * b[4h + j, p], for j below 4."""
    heads, k = call.counts[3:]
    ah, ap, bp = call.strides[1][3], call.strides[1][4], call.strides[2][4]
    if k > _MAX_STRAIGHT_LINE:
        return False

    def one_head(operands: list[Address]) -> None:
        d, a, b = operands
        sums = t.load(d, 4) if call.accumulate else None
        for p in range(k):
            x, y = t.load_splat(a.plus(p * ap), 4), t.load(b.plus(p * bp), 4)
            sums = x * y if sums is None else fma(x, y, sums)
        assert sums is not None
        t.store(d, sums, 4)

    loops = [*call.outer_loops(2), Loop(heads, (4, ah, 4))]
    loop_nest(t, loops, [call.address(p) for p in range(3)], one_head, k)
    return True


def group_dot(t: IRBuilder, call: KernelCall) -> bool:
    """CONTRACT_GROUPS_DOT: d[h] (+)= sum over j below 4 of a[4h + j] * b[4h + j]."""
    inner, outer = _innermost_loops(call, 64)
    # The offsets of every dot product of the inner loops in d, a and b.
    offsets = [(0, 0, 0)]
    for loop in inner:
        d, a, b = loop.strides[:3]
        offsets = [(o[0] + i * d, o[1] + i * a, o[2] + i * b) for o in offsets for i in range(loop.count)]
    if len({d for d, _, _ in offsets}) < len(offsets):
        return False  # two dot products have one target
    offsets.sort()

    def dot_products(operands: list[Address]) -> None:
        left = offsets
        while left:  # four results that are neighbours in d: as many as each product has lanes
            run = next((i for i, o in enumerate(left[:4]) if o[0] != left[0][0] + i), min(len(left), 4))
            some, left = left[:run], left[run:]
            products = [t.load(operands[1].plus(a), 4) * t.load(operands[2].plus(b), 4) for _, a, b in some]
            store_strided(t, operands[0].plus(some[0][0]), 1, hreduce_each(products), len(some), call.accumulate)

    loop_nest(t, outer, [call.address(p) for p in range(3)], dot_products, 4 * len(offsets))
    return True


def _innermost_loops(call: KernelCall, most: int) -> tuple[list[Loop], list[Loop]]:
    """The loop over h and the shortest others while they have at most ``most`` iterations; and those left over."""
    outer = sorted(call.outer_loops(2), key=lambda loop: -loop.count)
    inner = [Loop(call.counts[3], (call.strides[0][3], 4, 4))]
    count = call.counts[3]
    while outer and count * outer[-1].count <= most:
        inner.append(outer.pop())
        count *= inner[-1].count
    return inner, outer
