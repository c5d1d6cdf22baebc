"""Epilogue fusion: elementwise calls work on the tiles of a contraction while these are in registers, if nothing else
reads its target, which then needs no memory. Besides, a contraction begins with the numbers that another call would
copy to its target, such as biases.

See Chen et al., "TVM: An automated end-to-end optimizing compiler for deep learning" (2018), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..ir_builder import IRBuilder, Vector
from ..kernel_calls import DOUBLE, Address, KernelCall
from ..kernels.elementwise import check_domain, operand_adjoint
from ..kernels.gemm import GEMMS, is_tiled
from ..kernels.op_formulas import FORMULAS, has_formula

__all__ = ["FusedContraction", "fuse_epilogues"]

#: Rows whose formulas need more registers than a tile leaves.
_LONG = ("exp", "log", "sigmoid")

#: How many calls after the contraction are looked at.
_AHEAD = 4

#: Kernels of which the pointers 0 to 4 and their strides say all that they access, and pointer 0 what they write.
_PLAIN = ("map", "map_back", "add", "product", "contract", "contract_nn", "contract_nt", "sum", "fill")


@dataclass(frozen=True, slots=True)
class FusedContraction:
    """A contraction with the calls around it.

    Attributes:
        calls: all of them, as they were.
        product: the contraction; what its target begins with is its operand 3, if that is not the target itself.
        epilogue: the elementwise calls that read its target; if there are any, nothing else does.
    """

    calls: list[KernelCall]
    product: KernelCall
    epilogue: list[KernelCall]

    def emit(self, t: IRBuilder) -> None:
        """Write it."""
        write = GEMMS[self.product.kernel]
        if self.epilogue:
            write(t, self.product, lambda at, value, count: self._finish(t, at, value, count))
        else:
            write(t, self.product)

    def _finish(self, t: IRBuilder, at: Address, value: Vector, count: int) -> None:
        """The elementwise calls for ``count`` numbers of the target, which would be at ``at``."""
        start = self.product.pointers[0]
        known = {start: value.resized(t.vector_shape(count)[0])}

        def place(pointer: int) -> Address:
            return Address(at.constant + pointer - start, at.offset)

        for call in self.epilogue:
            values = [
                known[p] if p in known else t.load(place(p), count)
                for p in (call.pointers[i] for i in _operands(call))
            ]  # fmt: skip
            if call.kernel == "map":
                result = FORMULAS[call.row].value(*values)
                check_domain(t, call.row, values, result, count)
            else:
                a, b, y, g = values[0], values[-3], values[-2], values[-1]
                result = operand_adjoint(call.row, call.which, a, b, y, g)
            t.store(place(call.pointers[0]), result, count)
            known[call.pointers[0]] = result


def fuse_epilogues(
    t: IRBuilder, calls: Sequence[KernelCall], is_unread: Callable[[KernelCall, Sequence[KernelCall]], bool]
) -> Iterator[KernelCall | FusedContraction]:
    """The calls in an order that does the same, with those around contractions fused with them.

    Args:
        t: where they will be written.
        calls: the calls.
        is_unread: whether nothing reads the target of the first call but some others.
    """
    left = list(reversed(calls))
    while left:
        ahead = left[: -_AHEAD - 3 : -1]
        begun = _begun(t, ahead[0], ahead[1]) if len(ahead) > 1 else None
        product, taken = (begun, 2) if begun else (ahead[0], 1)
        epilogue = _epilogue(t, product, ahead[taken:])
        if epilogue and not is_unread(product, epilogue):  # storing that as well, row by row, would take longer
            epilogue = []
        fused = begun or epilogue
        yield FusedContraction([*ahead[:taken], *epilogue], product, epilogue) if fused else ahead[0]
        others = [call for call in ahead[taken:] if not any(call is one for one in epilogue)]
        left[-len(ahead) :] = reversed(others)


def _begun(t: IRBuilder, copy: KernelCall, product: KernelCall) -> KernelCall | None:
    """The contraction as one that begins with what a call copies to its target, its operand 3; None if it does not."""
    if copy.kernel != "add" or copy.k != 1.0 or copy.accumulate or copy.either:
        return None
    if not is_tiled(t, product) or not product.accumulate or product.either or product.strides[0][4]:
        return None
    if copy.pointers[0] != product.pointers[0] or _meet(copy.extent(1), product.extent(0)):
        return None
    loops = [copy.loop(i) for i in range(5) if copy.counts[i] > 1]
    strides = []
    for count, along in zip(product.counts[:4], product.strides[0][:4], strict=True):
        same = next((loop for loop in loops if (loop.count, loop.strides[0]) == (count, along)), None)
        if same is not None:
            loops.remove(same)
        elif count > 1:
            return None
        strides.append(same.strides[1] if same else 0)
    if loops:
        return None
    pointers = (*product.pointers[:3], copy.pointers[1], *product.pointers[4:])
    return replace(product, pointers=pointers, strides=(*product.strides[:3], (*strides, 0)), accumulate=False)


def _epilogue(t: IRBuilder, product: KernelCall, after: Sequence[KernelCall]) -> list[KernelCall]:
    """The elementwise calls on the contraction's target that can run with it, of those after it."""
    if not is_tiled(t, product) or product.either or not _is_dense(product):
        return []
    taken: list[KernelCall] = []
    passed: list[KernelCall] = []  # calls that an elementwise one would overtake
    for call in after[:_AHEAD]:
        if _works_on(call, product, taken) and not any(_depend(call, other) for other in passed):
            taken.append(call)
        elif call.kernel in _PLAIN or (call.kernel == "scatter" and call.lists[0].size):
            passed.append(call)
        else:
            break
    return taken


def _is_dense(product: KernelCall) -> bool:
    """Whether the target is one run of numbers, each of which the contraction writes in one place of its loops."""
    *outer, m, n, _ = product.counts
    along_i, along_j, along_p = product.strides[0][2:]
    return outer == [1, 1] and along_j == 1 and along_p == 0 and (m == 1 or along_i == n)


def _works_on(call: KernelCall, product: KernelCall, taken: Sequence[KernelCall]) -> bool:
    """Whether a call is elementwise, on the target and on arrays like it, and may write while others are computed."""
    if call.kernel not in ("map", "map_back") or call.row in _LONG:
        return False
    if not has_formula(call.row, call.kernel == "map_back"):
        return False
    _, _, m, n, _ = product.counts
    if call.accumulate or call.either or call.counts != (1, 1, 1, 1, m * n):
        return False
    operands = _operands(call)
    if any(call.operand_strides(p)[4] != 1 for p in (0, *operands)):
        return False
    made = {product.pointers[0], *(other.pointers[0] for other in taken)}
    if product.pointers[0] not in (call.pointers[p] for p in operands):
        return False
    reads = [call.extent(p) for p in operands if call.pointers[p] not in made]
    others = [product.extent(p) for p in range(4) if product.pointers[p]]
    others += [other.extent(p) for other in taken for p in (0, *_operands(other))]
    targets = [product.extent(0), *(other.extent(0) for other in taken)]
    return not any(_meet(call.extent(0), other) for other in others + reads) and not any(
        _meet(read, target) for read in reads for target in targets
    )


def _operands(call: KernelCall) -> tuple[int, ...]:
    """The pointers to what an elementwise call reads: its operands, and of a map_back y and g."""
    formula = FORMULAS[call.row]
    if call.kernel == "map":
        return (1, 2, 3)[: formula.arity]
    return *(1, 2)[: formula.read_by_partials], 3, 4


def _depend(late: KernelCall, early: KernelCall) -> bool:
    """Whether the order of two calls matters."""
    pairs = [(one, other) for one in _writes(late) for other in (*_writes(early), *_reads(early))]
    pairs += [(one, other) for one in _reads(late) for other in _writes(early)]
    return any(_meet(one, other) for one, other in pairs)


def _writes(call: KernelCall) -> list[tuple[int, int]]:
    if call.kernel != "scatter":
        return [call.extent(0)]
    offsets = [DOUBLE * int(at) for at in (call.lists[0].min(), call.lists[0].max() + 1)]
    return [(call.pointers[2] + offsets[0], call.pointers[2] + offsets[1])]


def _reads(call: KernelCall) -> list[tuple[int, int]]:
    if call.kernel == "scatter":
        return [call.extent(0)]
    return [call.extent(p) for p in range(1, 5) if call.pointers[p]]


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
