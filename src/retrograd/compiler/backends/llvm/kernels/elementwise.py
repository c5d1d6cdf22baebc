"""Elementwise kernels: rows of the op table forward and backward, sums of two arrays, products, constants.

A writer emits the IR of one call. It returns False where it wrote nothing and the prebuilt kernel is to be called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..ir_builder import IRBuilder, Vector
from ..kernel_calls import Address, KernelCall, Loop
from ..loops import loop_nest
from ..vectors import load_strided, store_strided
from .op_formulas import FORMULAS, has_formula
from .reductions import sum_innermost, sum_lanes, sum_terms

__all__ = [
    "add",
    "check_domain",
    "fill",
    "for_each_vector",
    "map_backward",
    "map_forward",
    "operand_adjoint",
    "product",
]

Body = Callable[[list[Address], int], None]


def for_each_vector(t: IRBuilder, call: KernelCall, pointers: Sequence[int], body: Body, cost: int = 1) -> None:
    """Emit ``body(operands, count)`` for each vector of the innermost loop, in all outer loops.

    Args:
        t: where to.
        call: whose loops.
        pointers: the pointers of the call whose addresses ``body`` gets, in that order.
        body: emits one vector, given the operands' addresses and how many numbers it has.
        cost: about how many vector operations that is.
    """
    operands = [call.address(p) for p in pointers]
    strides = [call.operand_strides(p) for p in pointers]
    loops = [Loop(call.counts[i], tuple(s[i] for s in strides)) for i in range(4) if call.counts[i] > 1]
    whole, rest = divmod(call.counts[4], t.width)
    steps = tuple(s[4] * t.width for s in strides)
    if whole:
        loop_nest(t, [*loops, Loop(whole, steps)], operands, lambda moved: body(moved, t.width), cost)
    if rest:
        after = [at.plus(whole * step) for at, step in zip(operands, steps, strict=True)]
        loop_nest(t, loops, after, lambda moved: body(moved, rest), cost)


def check_domain(t: IRBuilder, row: str, operands: Sequence[Vector], y: Vector, count: int) -> None:
    """Flag a domain error where one of the first ``count`` operands is outside the row's domain."""
    outside = FORMULAS[row].outside
    if outside is not None:
        t.flag_domain_error(outside(operands[0], operands[-1], y).any(count))


def map_forward(t: IRBuilder, call: KernelCall) -> bool:
    """MAP: d = row(a, b)."""
    if not has_formula(call.row, backward=False):
        return False
    formula = FORMULAS[call.row]
    d, *along = (s[4] for s in call.strides[: 1 + formula.arity])

    def body(addresses: list[Address], count: int) -> None:
        operands = [load_strided(t, at, stride, count) for at, stride in zip(addresses[1:], along, strict=True)]
        y = formula.value(*operands)
        check_domain(t, call.row, operands, y, count)
        store_strided(t, addresses[0], d, y, count, False)

    cost = 4 if call.row in ("exp", "log", "sigmoid") else 1
    for_each_vector(t, call, range(1 + formula.arity), body, cost)
    return True


def operand_adjoint(row: str, which: int, a: Vector, b: Vector, y: Vector, g: Vector) -> Vector:
    """The contribution g * partial to an operand's adjoint.

    It is zero where g is, even if the partial is infinite, and where the row hands on nothing, even if g is.
    """
    formula = FORMULAS[row]
    partial = formula.partials[which](a, b, y)
    adjoint = g * partial
    if formula.partly:
        return partial.compare("oeq", 0.0).select(0.0, adjoint)
    return adjoint if formula.bounded else g.compare("oeq", 0.0).select(0.0, adjoint)


def map_backward(t: IRBuilder, call: KernelCall) -> bool:
    """MAP_BACK: adds g * partial(a, b, y) to the adjoint of one operand."""
    if not has_formula(call.row, backward=True):
        return False
    two = FORMULAS[call.row].read_by_partials == 2
    sd, sa, sb, sy = (s[4] for s in call.strides)

    def adjoint(operands: list[Address], count: int) -> Vector:
        a = load_strided(t, operands[0], sa, count)
        b = load_strided(t, operands[1], sb, count) if two else a
        y, g = load_strided(t, operands[2], sy, count), load_strided(t, operands[3], sy, count)
        return operand_adjoint(call.row, call.which, a, b, y, g)

    pointers = (1, 2, 3, 4) if two else (1, 1, 3, 4)
    if sd == 0 and call.counts[4] > 1:
        return sum_terms(t, call, pointers, adjoint)

    def body(operands: list[Address], count: int) -> None:
        store_strided(t, operands[0], sd, adjoint(operands[1:], count), count, call.accumulate)

    for_each_vector(t, call, (0, *pointers), body, 3)
    return True


def add(t: IRBuilder, call: KernelCall) -> bool:
    """ADD: d (+)= k * a, which is a reduction where d stands still."""
    sd, sa = call.strides[0][4], call.strides[1][4]
    if sd == 0 and call.counts[4] > 1:
        return sum_innermost(t, call)
    if call.counts[3] > 1 and call.strides[0][3] == 0 and sd == 1 and sa == 1:
        return sum_lanes(t, _interchanged(call))

    def body(operands: list[Address], count: int) -> None:
        x = load_strided(t, operands[1], sa, count)
        store_strided(t, operands[0], sd, x if call.k == 1.0 else x * call.k, count, call.accumulate)

    for_each_vector(t, call, (0, 1), body)
    return True


def _interchanged(call: KernelCall) -> KernelCall:
    """The call with its two innermost loops interchanged."""

    def interchange(numbers: Sequence[int]) -> tuple[int, ...]:
        return (*numbers[:3], numbers[4], numbers[3])

    return replace(call, counts=interchange(call.counts), strides=tuple(map(interchange, call.strides)))


def product(t: IRBuilder, call: KernelCall) -> bool:
    """PRODUCT: d (+)= k * a * b."""
    sd, sa, sb = (call.strides[w][4] for w in range(3))

    def body(operands: list[Address], count: int) -> None:
        x, y = load_strided(t, operands[1], sa, count), load_strided(t, operands[2], sb, count)
        store_strided(t, operands[0], sd, x * y if call.k == 1.0 else x * call.k * y, count, call.accumulate)

    for_each_vector(t, call, (0, 1, 2), body)
    return True


def fill(t: IRBuilder, call: KernelCall) -> bool:
    """FILL: d = k."""
    stride = call.strides[0][4]

    def body(operands: list[Address], count: int) -> None:
        store_strided(t, operands[0], stride, t.constant_vector(call.k, t.width), count, False)

    for_each_vector(t, call, (0,), body)
    return True
