"""Kernels that read or write by index: GATHER, SCATTER, INDEXED with constant lists, SELECT with run-time indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir_builder import IRBuilder, Vector
from ..kernel_calls import DOUBLE, Address, KernelCall, Loop
from ..loops import blocked_loop
from ..vectors import gather, load_strided, scatter_add, store_strided
from .elementwise import check_domain, operand_adjoint
from .op_formulas import FORMULAS, has_formula

__all__ = ["indexed_backward", "indexed_forward", "scatter", "select"]

#: Longer lists stay with the prebuilt kernels, which read them as data.
_MAX_LIST = 1024


def _stays_prebuilt(call: KernelCall) -> bool:
    """Whether the lists are too long to be written out as code, or differ between members of a batch."""
    return call.counts[3] > 1 or call.counts[4] > _MAX_LIST


def _listed_addresses(call: KernelCall, number: int, base: int) -> list[int]:
    """The addresses in one of a call's lists, which never change."""
    return [base + DOUBLE * index for index in call.lists[number][0].tolist()]


def indexed_forward(t: IRBuilder, call: KernelCall) -> bool:
    """GATHER: d[i] = base[list[i]]. INDEXED: d[i] = row(base[list_a[i]], base[list_b[i]])."""
    formula = FORMULAS.get(call.row)
    if _stays_prebuilt(call) or (call.kernel == "indexed" and formula is None):
        return False
    arity = formula.arity if formula else 1
    lists = [_listed_addresses(call, i, call.pointers[1]) for i in range(arity)]
    for i in range(0, call.counts[4], t.width):
        count = min(t.width, call.counts[4] - i)
        operands = [gather(t, addresses[i : i + count]) for addresses in lists]
        value = operands[0]
        if formula:
            value = formula.value(*operands)
            check_domain(t, call.row, operands, value, count)
        t.store(call.address(0).plus(i), value, count)
    return True


def scatter(t: IRBuilder, call: KernelCall) -> bool:
    """SCATTER: base[list[i]] += d[i]."""
    if _stays_prebuilt(call):
        return False
    addresses = _listed_addresses(call, 0, call.pointers[2])
    for i in range(0, call.counts[4], t.width):
        count = min(t.width, call.counts[4] - i)
        scatter_add(t, addresses[i : i + count], t.load(call.address(0).plus(i), count))
    return True


def indexed_backward(t: IRBuilder, call: KernelCall) -> bool:
    """INDEXED_BACK: adds g[i] * partial to the adjoints at the lists of those operands that ``which`` masks."""
    if _stays_prebuilt(call) or not has_formula(call.row, backward=True):
        return False
    formula = FORMULAS[call.row]
    values = [_listed_addresses(call, i, call.pointers[1]) for i in range(formula.arity)]
    adjoints = [_listed_addresses(call, i, call.pointers[2]) for i in range(formula.arity)]
    for i in range(0, call.counts[4], t.width):
        count = min(t.width, call.counts[4] - i)
        g, y = (t.load(call.address(p).plus(i), count) for p in (4, 3))
        a, *b = (gather(t, addresses[i : i + count]) for addresses in values)
        vjp = _quotient_vjp(b[0], y, g) if call.row == "div" else _vjp(call.row, a, b[0] if b else a, y, g)
        for which in range(formula.arity):
            if call.which >> which & 1:
                scatter_add(t, adjoints[which][i : i + count], vjp(which))
    return True


def _vjp(row: str, a: Vector, b: Vector, y: Vector, g: Vector) -> Callable[[int], Vector]:
    """The contribution to each operand's adjoint, by the operand's number."""
    return lambda which: operand_adjoint(row, which, a, b, y, g)


def _quotient_vjp(b: Vector, y: Vector, g: Vector) -> Callable[[int], Vector]:
    """The same for a quotient y = a / b, with one division: g / b and -(g / b) * y."""
    quotient = g.compare("oeq", 0.0).select(0.0, g / b)
    return lambda which: -(quotient * y) if which else quotient


def select(t: IRBuilder, call: KernelCall) -> bool:
    """SELECT: d = a[stride * index], and SELECT_BACK: the adjoint of that a += d. The indices are known at run time."""
    loops = sorted(call.outer_loops(0), key=lambda loop: loop.count)
    indexed = [loop for loop in loops if loop.strides[2]]  # each iteration reads an index of its own
    copied = [loop for loop in loops if not loop.strides[2]]  # iterations have one index and copy a block of numbers
    if call.pooled or len(copied) > 1:
        return False
    block = copied[0] if copied else Loop(1, (0, 0, 0, 0))

    def one_index(operands: list[Address]) -> None:
        d, a, index = operands
        number = t.emit(f"sext i32 {t.emit(f'load i32, ptr {t.pointer(index)}, align 4')} to i64")
        offset = t.emit(f"mul i64 {number}, {call.stride * DOUBLE}")
        offset = offset if a.offset is None else t.emit(f"add i64 {offset}, {a.offset}")
        _copy(t, call, d, Address(a.constant, offset), block)

    def nest(operands: list[Address], loops: Sequence[Loop]) -> None:
        if not loops:
            one_index(operands)
            return
        loop = loops[-1]
        # The strides of indices are in elements, too, but those are int32.
        steps = [loop.strides[0] * DOUBLE, loop.strides[1] * DOUBLE, loop.strides[2] * DOUBLE // 2]

        def body(offsets: list[str], _: list[Vector]) -> list[Vector]:
            nest([Address(at.constant, offset) for at, offset in zip(operands, offsets, strict=True)], loops[:-1])
            return []

        t.loop(loop.count, [at.offset or "0" for at in operands], steps, [], body)

    nest([call.address(p) for p in (0, 1, 5)], indexed)
    return True


def _copy(t: IRBuilder, call: KernelCall, d: Address, a: Address, block: Loop) -> None:
    """Copy a block of numbers from a to d; in a backward pass, add those of d to those at a."""
    target, source, steps = d, a, block.strides[:2]
    backward = call.kernel == "select_back"
    if backward:
        target, source, steps = a, d, steps[::-1]

    def copy(operands: list[Address], count: int) -> None:
        value = load_strided(t, operands[1], steps[1], count)
        store_strided(t, operands[0], steps[0], value, count, backward)

    blocked_loop(t, block.count, t.width, steps, (target, source), copy)
