"""Families of instructions that differ in one extent, such as the rows of a triangle, as one padded instruction.

Causal attention is a dot product, a softmax and another dot product for each number of positions that came before.
One instruction on an array of all of them, half of which is padding, costs XLA less than one on each. The results of a
family lie in a new, padded array; whatever reads them finds them there.

Padding is never read, and its cotangents are zero: a sum or extreme along it masks it, and what would be computed from
numbers that lie beside a family's is replaced by an element of the same row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .views import addresses

__all__ = ["Gathered", "with_families"]

Indices = NDArray[np.int64]
Truths = NDArray[np.bool_]
_Instruction = dict[str, Any]

#: A family has so many members at least, is at most so many times as large with its padding, and has at most so many
#: elements.
_FEWEST, _PADDED, _MOST = 4, 2.5, 1 << 22

_REDUCTIONS = ("dot", "sum", "extreme")


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """An operand's address in each iteration, where it is no view."""

    where: Indices


@dataclass(frozen=True, slots=True, eq=False)
class _Array:
    """Where a family's results lie."""

    number: int
    base: int
    shape: tuple[int, ...]

    @property
    def end(self) -> int:
        return self.base + int(np.prod(self.shape))


def with_families(program: Mapping[str, Any]) -> Mapping[str, Any]:
    """The program with its families merged; the same if there are none.

    The extents of a merged instruction have ``mask``, what of it is no padding, and ``moved`` of the program are the
    addresses whose numbers are elsewhere now.
    """
    return _Families(program).program()


class _Families:
    def __init__(self, program: Mapping[str, Any]) -> None:
        self._program = program
        self._regions = list(program["regions"])
        self._bases = [base for _, _, base, _, _ in self._regions]
        self._end = self._size = max((base + length for _, _, base, length, _ in self._regions), default=0)
        self._now = np.arange(self._size)  # where the numbers of each address are
        self._pool = np.asarray(program["pool"], np.int64)
        self._arrays: list[_Array] = []
        self._fixed = np.zeros(self._size, bool)  # read in ways that know no other place
        for instruction in program["instructions"]:
            if instruction["code"] == "select":
                number = instruction["views"][0][0]
                base, length = (0, self._size) if instruction["through_pool"] else self._regions[number][2:4]
                self._fixed[base : base + length] = True

    def program(self) -> Mapping[str, Any]:
        instructions: list[_Instruction] = []
        for group in self._groups():
            merged = self._merged(group)
            instructions += [self._rewritten(each) for each in group] if merged is None else [merged]
        if not self._arrays:
            return self._program
        return {
            **self._program,
            "instructions": list(_joined(instructions)),
            "regions": self._regions,
            "pool": self._now[self._pool] if len(self._pool) else self._pool,
            "roots": self._now[np.asarray(self._program["roots"])],
            "moved": self._now != np.arange(self._size),
        }

    # --- which are a family -----------------------------------------------------------------------------------

    def _groups(self) -> Iterator[list[_Instruction]]:
        """Instructions of one kind that write one after the other and do not read each other's results."""
        group: list[_Instruction] = []
        for instruction in self._program["instructions"]:
            if group and not self._continues(group, instruction):
                yield group
                group = []
            group.append(instruction)
        if group:
            yield group

    def _continues(self, group: list[_Instruction], after: _Instruction) -> bool:
        before = group[-1]
        if before["code"] not in (*_REDUCTIONS, "map"):
            return False
        if any(before[key] != after[key] for key in ("code", "row", "reduced", "has_init")):
            return False
        begin, end = int(np.min(_results(group[0]))), int(np.max(_results(before))) + 1
        if int(np.min(_results(after))) != end:
            return False
        reads = (_addresses(view, after) for view in range(len(after["views"])))
        return not any(np.any((begin <= each) & (each < end)) for each in reads)

    def _merged(self, group: list[_Instruction]) -> _Instruction | None:
        if any(np.any(self._fixed[_results(each)]) for each in group):
            return None
        if group[0]["code"] == "map":
            return self._merged_maps(group)
        return self._merged_reductions(group) if len(group) >= _FEWEST else None

    # --- sums, dot products and extremes ----------------------------------------------------------------------

    def _merged_reductions(self, group: list[_Instruction]) -> _Instruction | None:
        group = _of_one_rank(group)
        if not group:
            return None
        sizes = np.array([each["sizes"] for each in group])
        shape = (len(group), *np.max(sizes, axis=0).tolist())
        if np.prod(shape) > min(_MOST, _PADDED * np.prod(sizes, axis=1).sum()):
            return None
        mask = np.ones(shape, bool)
        for axis in range(1, len(shape)):
            along = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
            mask &= along < sizes[:, axis - 1].reshape(-1, *[1] * (len(shape) - 1))
        outer = len(shape) - group[0]["reduced"]
        kept: Truths = np.asarray(mask.any(axis=tuple(range(outer, len(shape)))))
        views = []
        for number in range(len(group[0]["views"])):
            inner = mask if number < 2 else kept  # what a dot product begins with has no reduced loops
            view = self._view(_stacked([each["views"][number] for each in group], inner.shape), inner)
            if isinstance(view, Gathered):
                return None
            views.append(view)
        results = _stacked([each["result"] for each in group], kept.shape)
        array = self._moved(results[kept], np.flatnonzero(kept), kept.shape)
        return self._instruction(group[0], shape, views, array) | {"mask": mask, "kept": kept}

    # --- elementwise ------------------------------------------------------------------------------------------

    def _merged_maps(self, group: list[_Instruction]) -> _Instruction | None:
        """They run over the padded array of one of their operands."""
        count = len(group[0]["views"])
        lanes = [np.concatenate([_addresses(view, each).ravel() for each in group]) for view in range(count)]
        lanes = [self._now[each] for each in lanes]
        where, array = next(self._over_arrays(lanes), (None, None))
        if where is None or array is None:
            return None
        mask = np.zeros(array.shape, bool)
        mask.ravel()[where] = True
        views = []
        for lane in lanes:
            tensor = np.full(array.shape, lane[0])
            tensor.ravel()[where] = lane
            views.append(self._view(tensor, mask, moved=True))
        results = np.concatenate([_results(each).ravel() for each in group])
        return self._instruction(group[0], array.shape, views, self._moved(results, where, array.shape))

    def _over_arrays(self, lanes: list[Indices]) -> Iterator[tuple[Indices, _Array]]:
        for lane in lanes:
            for array in self._arrays:
                inside = array.base <= np.min(lane) and np.max(lane) < array.end
                if inside and array.end - array.base <= _PADDED * len(lane) and len(np.unique(lane)) == len(lane):
                    yield lane - array.base, array

    # --- new places -------------------------------------------------------------------------------------------

    def _moved(self, results: Indices, where: Indices, shape: tuple[int, ...]) -> _Array:
        """A new array, which has the results at ``where``."""
        array = _Array(len(self._regions), self._end, shape)
        self._regions.append(("value", True, array.base, array.end - array.base, 0))
        self._bases.append(array.base)
        self._end = array.end
        self._arrays.append(array)
        self._now[results] = array.base + where
        return array

    def _instruction(self, like: _Instruction, shape: Sequence[int], views: list[Any], array: _Array) -> _Instruction:
        strides = [int(np.prod(array.shape[axis + 1 :])) for axis in range(len(array.shape))]
        strides += [0] * (len(shape) - len(strides))
        return {**like, "sizes": list(shape), "views": views, "result": (array.number, array.base, strides)}

    def _rewritten(self, instruction: _Instruction) -> _Instruction:
        """An instruction that stays, with its operands where they are now."""
        if instruction["code"] not in (*_REDUCTIONS, "map"):
            return instruction
        views = []
        for number, view in enumerate(instruction["views"]):
            where = _addresses(number, instruction)
            unmoved = np.array_equal(self._now[where], where)
            views.append(view if unmoved else self._view(where, np.ones(where.shape, bool)))
        return {**instruction, "views": views}

    def _view(self, where: Indices, mask: Truths, moved: bool = False) -> Any:
        """A view of what is at addresses where ``mask`` is, or, if it is none, the addresses."""
        if not moved:
            where = self._now[np.clip(where, 0, self._size - 1)]
        origin = int(np.argmax(mask))
        first, base = np.unravel_index(origin, mask.shape), int(where.ravel()[origin])
        strides = []
        for axis in range(where.ndim):
            known = np.flatnonzero((np.delete(mask, 0, axis) & np.delete(mask, -1, axis)).ravel())
            strides.append(int(np.diff(where, axis=axis).ravel()[known[0]]) if len(known) else 0)
        base -= sum(int(index) * stride for index, stride in zip(first, strides, strict=True))
        affine = addresses(base, list(zip(where.shape, strides, strict=True)))
        number = int(np.searchsorted(self._bases, int(where.ravel()[origin]), side="right")) - 1
        _, _, begin, length, _ = self._regions[number]
        if np.any((affine != where) & mask) or np.min(affine) < begin or np.max(affine) >= begin + length:
            return Gathered(np.where(mask, where, where.ravel()[origin]))
        return number, base, strides


def _extents(instruction: _Instruction, view: int) -> list[int]:
    """The loops of an operand: what a dot product begins with has no reduced ones."""
    sizes: list[int] = instruction["sizes"]
    return sizes[: len(sizes) - instruction["reduced"]] if view == 2 and instruction["has_init"] else sizes


def _addresses(view: int, instruction: _Instruction) -> Indices:
    _, base, strides = instruction["views"][view]
    extents = _extents(instruction, view)
    return np.broadcast_to(addresses(base, list(zip(extents, strides, strict=False))), extents)


def _results(instruction: _Instruction) -> Indices:
    _, base, strides = instruction["result"]
    outer = instruction["sizes"][: len(instruction["sizes"]) - instruction["reduced"]]
    return np.broadcast_to(addresses(base, list(zip(outer, strides, strict=False))), outer)


def _stacked(views: Sequence[tuple[int, int, list[int]]], shape: tuple[int, ...]) -> Indices:
    """The addresses of the members' views, in the padding too, with an axis for the members in front."""
    return np.stack([addresses(base, list(zip(shape[1:], strides, strict=False))) for _, base, strides in views])


def _of_one_rank(group: list[_Instruction]) -> list[_Instruction]:
    """The members with as many loops each: where an extent is one, the compiler leaves the loop out."""
    rank = max(len(each["sizes"]) for each in group)
    whole = np.array([each["sizes"] for each in group if len(each["sizes"]) == rank])
    outer = rank - group[0]["reduced"]
    varying = np.flatnonzero(np.any(whole != whole[0], axis=0))
    found = []
    for each in group:
        if len(each["sizes"]) < rank:
            if len(varying) != 1 or len(each["sizes"]) != rank - 1 or varying[0] >= outer:
                return []
            each = _with_loop(each, int(varying[0]))
        found.append(each)
    return found


def _with_loop(instruction: _Instruction, axis: int) -> _Instruction:
    """An instruction with one more loop, of one iteration."""

    def longer(items: Sequence[int], new: int) -> list[int]:
        return [*items[:axis], new, *items[axis:]]

    return {
        **instruction,
        "sizes": longer(instruction["sizes"], 1),
        "views": [(number, base, longer(strides, 0)) for number, base, strides in instruction["views"]],
        "result": (*instruction["result"][:2], longer(instruction["result"][2], 0)),
    }


def _joined(instructions: Sequence[_Instruction]) -> Iterator[_Instruction]:
    """Instructions, but where one goes on with what the one before it does, both as one."""
    last: _Instruction | None = None
    for instruction in instructions:
        joined = None if last is None else _both(last, instruction)
        if joined is None and last is not None:
            yield last
        last = joined or instruction
    if last is not None:
        yield last


def _both(one: _Instruction, other: _Instruction) -> _Instruction | None:
    if one["code"] not in (*_REDUCTIONS, "map") or "mask" in one or "mask" in other:
        return None
    if any(one[key] != other[key] for key in ("code", "row", "reduced", "has_init")):
        return None
    if any(isinstance(view, Gathered) for view in (*one["views"], *other["views"])):
        return None
    if len(other["sizes"]) == len(one["sizes"]) + 1:
        one = _with_loop(one, 0)
    if not other["sizes"] or len(other["sizes"]) == other["reduced"] or one["sizes"][1:] != other["sizes"][1:]:
        return None
    count, parts = one["sizes"][0], [(*one["views"], one["result"]), (*other["views"], other["result"])]
    joined = []
    for (number, base, strides), (to_number, to_base, to_strides) in zip(*parts, strict=True):
        step = to_strides[0] if other["sizes"][0] > 1 else strides[0]
        same = strides[1:] == to_strides[1:] and (count == 1 or strides[0] == step)
        if number != to_number or not same or to_base != base + count * step:
            return None
        joined.append((number, base, [step, *strides[1:]]))
    sizes = [count + other["sizes"][0], *one["sizes"][1:]]
    return {**one, "sizes": sizes, "views": joined[:-1], "result": joined[-1]}
