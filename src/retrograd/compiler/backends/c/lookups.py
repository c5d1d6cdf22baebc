"""Index arguments in C: their checks, the leaves that stand for what they select, and where gradients of these go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tracing.recording import IndexGuard
from ..loops.graphs.graph import LEAF, LITERAL, NODE
from ..loops.graphs.lookups import Lookup, Lookups
from ..loops.passes.storage import Places

__all__ = ["LookupLines", "given_to"]


def given_to(indices: int) -> str:
    """The parameters from which C functions read, if they have so many index arguments."""
    return "const double *x, const double *p" + (", const int *index" if indices else "")


class LookupLines:
    """What a C function does with its index arguments, the array ``index``.

    Attributes:
        count: how many leaves stand for what indices select.
    """

    def __init__(
        self, lookups: Lookups, guards: Sequence[IndexGuard], literals: NDArray[np.float64], places: Places
    ) -> None:
        """
        Args:
            lookups: the selections.
            guards: comparisons of indices that must come out as in the trace.
            literals: the graph's.
            places: gets the tables of what is no steady row.
        """
        self.count = len(lookups.found)
        self._lookups, self._guards, self._places = lookups, guards, places
        self._literals = literals

    def checks(self) -> Iterator[str]:
        """Returns 1 where an index selects nothing, or a comparison decides otherwise."""
        limits = [_Moves((slot,), (limit,)) for slot, limit in sorted(self._lookups.limits.items())]
        for each in _merged(limits):
            index = f"index[{each.at(0)}]"
            yield each.line(f"if ({index} < 0 || {index} >= {each.key[0]}) return 1;")
        for guard in self._guards:
            other = f"index[{guard.other_slot}]" if guard.other_slot is not None else str(guard.other)
            condition = f"index[{guard.slot}] {guard.kind} {other}"
            yield f"  if ({f'!({condition})' if guard.outcome else condition}) return 1;"

    def filled(self) -> Iterator[str]:
        """The leaves get what the indices select."""
        for each in self._moves(self._lookups.found):
            yield each.line(f"L[{each.at(0)}] = {self._source(each, 'L')};")

    def returned(self) -> Iterator[str]:
        """What the indices selected gets the gradients of the leaves."""
        for each in self._moves([each for each in self._lookups.found if each.kind == LEAF]):
            yield each.line(f"{self._source(each, 'G')} += G[{each.at(0)}];")

    def _moves(self, found: Sequence[Lookup]) -> Iterator[_Moves]:
        """By what they read, so that what is alike comes one after the other."""
        moves: dict[tuple[int | str, ...], list[_Moves]] = {}
        for each in found:
            key = self._key(each)
            base = int(each.elements[0]) if key[0] == LEAF else 0
            moves.setdefault(key, []).append(_Moves((each.leaf, each.slot, base), key))
        for alike in moves.values():
            yield from _merged(_merged(alike))

    def _key(self, lookup: Lookup) -> tuple[int | str, ...]:
        """The kind; how far the leaves of a row are apart, or the table that has its leaves or numbers."""
        if lookup.kind == NODE:
            return (NODE,)
        if lookup.kind == LITERAL:
            return LITERAL, self._places.table(self._literals[lookup.elements])
        steps = np.unique(np.diff(lookup.elements))
        if len(steps) == 1:
            return LEAF, int(steps[0])
        return LEAF, self._places.table(lookup.elements - lookup.elements[0])

    @staticmethod
    def _source(each: _Moves, array: str) -> str:
        kind, *rest = each.key
        index, base = f"index[{each.at(1)}]", each.at(2)
        if kind == NODE:
            return index
        if kind == LITERAL:
            return f"{rest[0]}[{index}]"
        step = rest[0]
        moved = f"{step}[{index}]" if isinstance(step, str) else index if step == 1 else f"{step} * {index}"
        return f"{array}[{moved if base == '0' else f'{base} + {moved}'}]"


@dataclass(frozen=True, slots=True)
class _Moves:
    """A line of C, or the same in loops.

    Attributes:
        begin: the numbers in it, in the first iteration.
        key: what all iterations share.
        loops: of each loop, from the outermost, how many iterations it has, and by how much each number grows.
    """

    begin: tuple[int, ...]
    key: tuple[int | str, ...]
    loops: tuple[tuple[int, tuple[int, ...]], ...] = ()

    def at(self, which: int) -> str:
        """A number, as an expression of the loops' counters."""
        terms = [str(self.begin[which])] if self.begin[which] else []
        for counter, (_, steps) in zip("ij", self.loops, strict=False):
            step = steps[which]
            if step:
                terms.append(counter if step == 1 else f"{step} * {counter}")
        return " + ".join(terms) or "0"

    def line(self, statement: str) -> str:
        heads = [
            f"for (int {counter} = 0; {counter} < {count}; ++{counter}) "
            for counter, (count, _) in zip("ij", self.loops, strict=False)
        ]
        return f"  {''.join(heads)}{statement}"


def _merged(moves: Sequence[_Moves]) -> list[_Moves]:
    """Stretches of three and more that grow steadily become loops."""
    merged: list[_Moves] = []
    i = 0
    while i < len(moves):
        first, end = moves[i], i + 1
        steps: tuple[int, ...] | None = None
        while end < len(moves) and (moves[end].key, moves[end].loops) == (first.key, first.loops):
            step = tuple(b - a for a, b in zip(moves[end - 1].begin, moves[end].begin, strict=True))
            if steps not in (None, step):
                break
            steps, end = step, end + 1
        if steps is None or end - i < 3:
            merged.append(first)
            i += 1
            continue
        merged.append(_Moves(first.begin, first.key, ((end - i, steps), *first.loops)))
        i = end
    return merged
