"""Kernels that work number by number: rows of the table, sums, extremes, selections and lists.

Each function says whether it wrote the call; where it did not, the prebuilt kernel is called.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace

from . import powers
from .ir_builder import Text, Vector
from .kernel_calls import DOUBLE, At, Call, Loop
from .op_formulas import FORMS
from .vectors import (
    across,
    blocks,
    collect,
    gather,
    nest,
    put,
    scatter_add,
    total,
)

__all__ = ["add", "extreme", "fill", "indexed", "indexed_back", "map_back", "mapped", "product", "select", "sums"]

#: Longer lists stay with the prebuilt kernels, which read them as data; so do those of several members of a batch.
_LISTED = 1024

Body = Callable[[list[At], int], None]
Combine = Callable[[Vector, Vector], Vector]


def plus(a: Vector, b: Vector) -> Vector:
    return a + b


def maximum(a: Vector, b: Vector) -> Vector:
    """The first where both are the same, as -0 and 0 are."""
    return b.compare("ogt", a).select(b, a)


def minimum(a: Vector, b: Vector) -> Vector:
    return b.compare("olt", a).select(b, a)


def each(t: Text, call: Call, pointers: Sequence[int], body: Body, cost: int = 1) -> None:
    """``body(places, count)`` for each vector of the innermost loop; pointers are numbers of those of the call."""
    ats = [call.at(p) for p in pointers]
    strides = [call.strides[min(p, 3)] for p in pointers]
    loops = [Loop(call.counts[i], tuple(s[i] for s in strides)) for i in range(4) if call.counts[i] > 1]
    whole, rest = divmod(call.counts[4], t.width)
    inner = tuple(s[4] * t.width for s in strides)
    if whole:
        nest(t, [*loops, Loop(whole, inner)], ats, lambda places: body(places, t.width), cost)
    if rest:
        after = [at.by(whole * step) for at, step in zip(ats, inner, strict=True)]
        nest(t, loops, after, lambda places: body(places, rest), cost)


def _flag(t: Text, call: Call, a: Vector, b: Vector, y: Vector, count: int) -> None:
    outside = FORMS[call.row].outside
    if outside is not None:
        t.outside(outside(a, b, y).any(count))


def mapped(t: Text, call: Call) -> bool:
    if call.row == "pow":
        return powers.forward(t, call, each)
    if call.row not in FORMS:
        return False
    form = FORMS[call.row]
    d, a, *b = (s[4] for s in call.strides[: 1 + form.arity])

    def body(places: list[At], count: int) -> None:
        x = collect(t, places[1], a, count)
        y = collect(t, places[2], b[0], count) if b else x
        z = form.call(x, y)
        _flag(t, call, x, y, z, count)
        put(t, places[0], d, z, count, False)

    each(t, call, range(1 + form.arity), body, 4 if call.row in ("exp", "log", "sigmoid") else 1)
    return True


def contribution(form_row: str, which: int, a: Vector, b: Vector, y: Vector, g: Vector) -> Vector:
    """What the operand is owed. A gradient of zero contributes zero, even where the partial is infinite."""
    form = FORMS[form_row]
    owed = g * form.partials[which](a, b, y)
    return owed if form.bounded else g.compare("oeq", 0.0).select(0.0, owed)


def map_back(t: Text, call: Call) -> bool:
    if call.row == "pow":
        return powers.backward(t, call, each)
    if call.row not in FORMS:
        return False
    two = FORMS[call.row].arity == 2
    sd, sa, sb, sy = (s[4] for s in call.strides)

    def term(places: list[At], count: int) -> Vector:
        a = collect(t, places[0], sa, count)
        b = collect(t, places[1], sb, count) if two else a
        y, g = collect(t, places[2], sy, count), collect(t, places[3], sy, count)
        return contribution(call.row, call.which, a, b, y, g)

    if sd == 0 and call.counts[4] > 1:
        return reduced(t, call, (1, 2, 3, 4) if two else (1, 1, 3, 4), term, plus, 0.0)

    def body(places: list[At], count: int) -> None:
        put(t, places[0], sd, term(places[1:], count), count, call.accumulate)

    each(t, call, (0, 1, 2, 3, 4) if two else (0, 1, 1, 3, 4), body, 3)
    return True


def add(t: Text, call: Call) -> bool:
    sd, sa = call.strides[0][4], call.strides[1][4]
    if sd == 0 and call.counts[4] > 1:
        return sums(t, call)
    if call.counts[3] > 1 and call.strides[0][3] == 0 and sd == 1 and sa == 1:
        return side_by_side(
            t, replace(call, counts=_exchanged(call.counts), strides=tuple(map(_exchanged, call.strides))), plus
        )

    def body(places: list[At], count: int) -> None:
        x = collect(t, places[1], sa, count)
        put(t, places[0], sd, x if call.k == 1.0 else x * call.k, count, call.accumulate)

    each(t, call, (0, 1), body)
    return True


def product(t: Text, call: Call) -> bool:
    sd, sa, sb = (call.strides[w][4] for w in range(3))

    def body(places: list[At], count: int) -> None:
        x, y = collect(t, places[1], sa, count), collect(t, places[2], sb, count)
        put(t, places[0], sd, x * y if call.k == 1.0 else x * call.k * y, count, call.accumulate)

    each(t, call, (0, 1, 2), body)
    return True


def fill(t: Text, call: Call) -> bool:
    stride = call.strides[0][4]

    def body(places: list[At], count: int) -> None:
        put(t, places[0], stride, t.number(call.k, t.width), count, False)

    each(t, call, (0,), body)
    return True


# --- over the innermost loop --------------------------------------------------------------------------------------


def reduced(
    t: Text,
    call: Call,
    pointers: Sequence[int],
    term: Callable[[list[At], int], Vector],
    combine: Combine,
    neutral: float,
    finish: Callable[[Vector], Vector] = lambda v: v,
) -> bool:
    """Combines ``term`` over the innermost loop into d: vectors of partial results, as many at once as have lanes.

    ``pointers`` are those that the term reads.
    """
    n = call.counts[4]
    strides = [call.strides[0], *(call.strides[min(p, 3)] for p in pointers)]
    ats = [call.at(0), *(call.at(p) for p in pointers)]
    loops = [Loop(call.counts[i], tuple(s[i] for s in strides)) for i in range(4) if call.counts[i] > 1]
    whole, rest = divmod(n, t.width)
    steps = [s[4] for s in strides[1:]]

    def partial(places: list[At]) -> Vector:
        result: Vector | None = None
        moved = [at.by(whole * t.width * step) for at, step in zip(places, steps, strict=True)]
        if whole > 8:

            def more(offsets: list[str], sofar: list[Vector]) -> list[Vector]:
                here = [At(at.address, offset) for at, offset in zip(places, offsets, strict=True)]
                return [combine(sofar[0], term(here, t.width))]

            starts = [at.moving or "0" for at in places]
            first = t.number(neutral, t.width)
            result = t.loop(whole, starts, [s * t.width * DOUBLE for s in steps], [first], more)[0]
        else:
            for i in range(whole):
                one = term([at.by(i * t.width * s) for at, s in zip(places, steps, strict=True)], t.width)
                result = one if result is None else combine(result, one)
        if rest:
            one = term(moved, rest)
            if one.width == t.width:
                one = _kept(one, rest, neutral)
            elif result is not None:
                one = _widened(one, neutral)
            result = one if result is None else combine(result, one)
        assert result is not None
        return result

    def columns(places: list[At], count: int, step: Sequence[int]) -> None:
        parts = [partial([at.by(i * s) for at, s in zip(places[1:], step[1:], strict=True)]) for i in range(count)]
        if count == 1:
            value = total(parts[0], n, combine)
        else:
            if parts[0].width < t.width:  # few numbers each: across needs as many lanes as there are columns
                parts = [_widened(part, neutral) for part in parts]
            value = across(parts, combine)
        put(t, places[0], step[0], finish(value), count, call.accumulate)

    if not loops:
        columns(ats, 1, [0] * len(ats))
        return True
    loops.sort(key=lambda loop: loop.count)  # the longest gives the columns
    column = loops.pop()
    chunks, left = divmod(column.count, t.width)
    step = column.strides
    if step[0] == 0:
        loops.append(column)
        nest(t, loops, ats, lambda places: columns(places, 1, [0] * len(ats)), 4)
        return True
    cost = t.width * (whole + bool(rest))
    if chunks:
        wide = Loop(chunks, tuple(s * t.width for s in step))
        nest(t, [*loops, wide], ats, lambda places: columns(places, t.width, step), cost)
    if left:
        after = [at.by(chunks * t.width * s) for at, s in zip(ats, step, strict=True)]
        nest(t, loops, after, lambda places: columns(places, left, step), cost)
    return True


def kept_wide(value: Vector, count: int) -> Vector:
    """The first ``count`` numbers in a whole vector, zeros after them."""
    if value.width < value.text.width:
        return _widened(value, 0.0)
    return _kept(value, count, 0.0)


def _kept(value: Vector, count: int, neutral: float) -> Vector:
    lanes = [i if i < count else value.width for i in range(value.width)]
    return value.shuffled(lanes, value.text.number(neutral, value.width))


def _widened(value: Vector, neutral: float) -> Vector:
    t = value.text
    if value.width == 1:
        kind = f"<{t.width} x double>"
        base = t.constant(neutral, t.width)
        return t.vector(f"insertelement {kind} {base}, double {value.name}, i32 0", t.width)
    if value.width == t.width:
        return value
    fillers = t.number(neutral, value.width)
    return value.shuffled([*range(value.width), *([value.width] * (t.width - value.width))], fillers)


def sums(t: Text, call: Call) -> bool:
    stride = call.strides[1][4]
    finish = (lambda v: v) if call.k == 1.0 else (lambda v: v * call.k)
    return reduced(t, call, (1,), lambda places, count: collect(t, places[0], stride, count), plus, 0.0, finish)


def _exchanged(numbers: Sequence[int]) -> tuple[int, ...]:
    """The two innermost loops, the other way round."""
    return (*numbers[:3], numbers[4], numbers[3])


def side_by_side(t: Text, call: Call, combine: Combine) -> bool:
    """Combines numbers over the innermost loop, for neighbours in the one around it: vectors of them stay at hand."""
    step, finish = call.strides[1][4], 1.0 if call.kernel == "extreme" else call.k

    def row(places: list[At], count: int) -> None:
        d, a = places
        start = t.load(a, count)

        def more(offsets: list[str], sofar: list[Vector]) -> list[Vector]:
            return [combine(sofar[0], t.load(At(a.address, offsets[0]).by(step), count))]

        result = start
        if call.counts[4] > 32:
            result = t.loop(call.counts[4] - 1, [a.moving or "0"], [step * DOUBLE], [start], more)[0]
        else:
            for k in range(1, call.counts[4]):
                result = combine(result, t.load(a.by(k * step), count))
        result = result if finish == 1.0 else result * finish
        put(t, d, 1, result, count, call.accumulate and call.kernel != "extreme")

    inner = tuple(call.strides[w][3] for w in range(2))
    ats = [call.at(p) for p in range(2)]
    nest(t, call.outer(2), ats, lambda at: blocks(t, call.counts[3], t.width, inner, at, row), 4 * call.counts[4])
    return True


def extreme(t: Text, call: Call) -> bool:
    stride = call.strides[1][4]
    combine, neutral = (minimum, float("inf")) if "min" in call.row else (maximum, -float("inf"))
    if call.counts[3] > 1 and call.counts[4] > 1 and call.strides[0][3] == 1 and call.strides[1][3] == 1:
        return side_by_side(t, call, combine)
    if call.counts[4] > t.width:  # several vectors would be compared out of order
        return False
    return reduced(t, call, (1,), lambda places, count: collect(t, places[0], stride, count), combine, neutral)


# --- lists and selections -----------------------------------------------------------------------------------------


def _long(call: Call) -> bool:
    return call.counts[3] > 1 or call.counts[4] > _LISTED


def _listed(call: Call, pointer: int, base: int) -> list[int]:
    numbers = (ctypes.c_int32 * call.counts[4]).from_address(call.pointers[pointer])
    return [base + DOUBLE * number for number in numbers]


def indexed(t: Text, call: Call) -> bool:
    """GATHER and INDEXED: the lists are known, so their numbers are vectors, shuffled."""
    n = call.counts[4]
    form = FORMS.get(call.row)
    if _long(call) or (call.kernel == "indexed" and form is None):
        return False
    arity = form.arity if form else 1
    lists = [_listed(call, 5 + i, call.pointers[1]) for i in range(arity)]
    for i in range(0, n, t.width):
        count = min(t.width, n - i)
        a, *b = (gather(t, places[i : i + count]) for places in lists)
        value = a
        if form:
            value = form.call(a, b[0] if b else a)
            _flag(t, call, a, b[0] if b else a, value, count)
        t.store(call.at(0).by(i), value, count)
    return True


def scatter(t: Text, call: Call) -> bool:
    n = call.counts[4]
    if _long(call):
        return False
    places = _listed(call, 5, call.pointers[2])
    for i in range(0, n, t.width):
        count = min(t.width, n - i)
        scatter_add(t, places[i : i + count], t.load(call.at(0).by(i), count))
    return True


def indexed_back(t: Text, call: Call, targets: set[int] | None = None) -> bool:
    """``targets``: the addresses of those gradients that anybody reads, if that is known."""
    n, form = call.counts[4], FORMS.get(call.row)
    if _long(call) or form is None:
        return False
    values = [_listed(call, 5 + i, call.pointers[1]) for i in range(form.arity)]
    owed = [_listed(call, 5 + i, call.pointers[2]) for i in range(form.arity)]
    for i in range(0, n, t.width):
        count = min(t.width, n - i)
        g, y = (t.load(call.at(p).by(i), count) for p in (4, 3))
        a, *b = (gather(t, list_[i : i + count]) for list_ in values)
        owing = _quotient(b[0], y, g) if call.row == "div" else _each_operand(call.row, a, b[0] if b else a, y, g)
        for which in range(form.arity):
            places = owed[which][i : i + count]
            if not call.which >> which & 1 or (targets is not None and targets.isdisjoint(places)):
                continue
            scatter_add(t, places, owing(which))
    return True


def _each_operand(row: str, a: Vector, b: Vector, y: Vector, g: Vector) -> Callable[[int], Vector]:
    return lambda which: contribution(row, which, a, b, y, g)


def _quotient(b: Vector, y: Vector, g: Vector) -> Callable[[int], Vector]:
    """What both operands of a quotient are owed, with one division."""
    quotient = g.compare("oeq", 0.0).select(0.0, g / b)
    return lambda which: -(quotient * y) if which else quotient


def select(t: Text, call: Call) -> bool:
    """SELECT and SELECT_BACK of candidates that are ``stride`` apart."""
    loops = sorted(call.outer(0), key=lambda loop: loop.count)
    chosen = [loop for loop in loops if loop.strides[2]]  # each iteration has an index of its own
    alike = [loop for loop in loops if not loop.strides[2]]
    if call.pooled or len(alike) > 1:
        return False
    along = alike[0] if alike else Loop(1, (0, 0, 0, 0))

    def one(places: list[At]) -> None:
        d, a, index = places
        number = t.op(f"sext i32 {t.op(f'load i32, ptr {t.pointer(index)}, align 4')} to i64")
        offset = t.op(f"mul i64 {number}, {call.stride * DOUBLE}")
        offset = offset if a.moving is None else t.op(f"add i64 {offset}, {a.moving}")
        _move(t, call, d, At(a.address, offset), along.count, *along.strides[:2])

    def rows(places: list[At], loops: Sequence[Loop]) -> None:
        if not loops:
            return one(places)
        # Indices are half as wide as numbers.
        steps = [loops[-1].strides[0] * DOUBLE, loops[-1].strides[1] * DOUBLE, loops[-1].strides[2] * DOUBLE // 2]

        def again(offsets: list[str], _: list[Vector]) -> list[Vector]:
            rows([At(at.address, offset) for at, offset in zip(places, offsets, strict=True)], loops[:-1])
            return []

        t.loop(loops[-1].count, [at.moving or "0" for at in places], steps, [], again)

    rows([call.at(p) for p in (0, 1, 5)], chosen)
    return True


def _move(t: Text, call: Call, d: At, a: At, n: int, sd: int, sa: int) -> None:
    """``n`` numbers of a to d; or of d added to those of a, in a backward pass."""
    if call.kernel == "select_back":
        d, a, sd, sa = a, d, sa, sd
    accumulate = call.kernel == "select_back"

    def move(places: list[At], count: int) -> None:
        put(t, places[0], sd, collect(t, places[1], sa, count), count, accumulate)

    blocks(t, n, t.width, (sd, sa), (d, a), move)
