"""Variants: other implementations of the numbers of the accuracy table, held against the engine's, exact or fast."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from .matrix import Cell, Outcome
from .oracle import Verdict, judge

__all__ = ["FastVariant", "Variant"]


@dataclass(slots=True)
class Variant:
    """Another implementation of the same numbers, compared bit for bit."""

    name: str
    cells: int = 0
    differ: list[str] = field(default_factory=list)
    absent: str = ""  #: why it was not taken

    def __str__(self) -> str:
        return f"{self.name}: " + (f"not taken: {self.absent}" if self.absent else self.summary())

    def summary(self) -> str:
        """How it came out."""
        return f"{self.cells:,} cells, {len(self.differ)} differ"

    def compare(self, cell: Cell, engines: Outcome, found: Outcome) -> None:
        """Compare one answer with the engine's."""
        self.cells += 1
        if _bits(engines) != _bits(found):
            self.differ.append(f"{cell} at order {cell.order}")


def _bits(outcome: Outcome) -> object:
    """NaNs are equal whatever their bits; all else must agree to the last."""
    return outcome if isinstance(outcome, str) else ["nan" if x != x else x.hex() for x in outcome]


@dataclass(slots=True)
class FastVariant(Variant):
    """A variant in which sums may be ordered otherwise: the engine's errors, infinities and NaNs, and its bars."""

    other_bits: int = 0
    short: list[Verdict] = field(default_factory=list)  #: beyond the bar, where the engine is within it
    worst: dict[int, Verdict] = field(default_factory=dict)  #: by order

    def summary(self) -> str:
        worst = " and ".join(f"{v.ulp:.2f} ulp ({v.cell})" for _, v in sorted(self.worst.items()))
        return (
            f"{self.cells:,} cells, {len(self.differ)} differ in an error, an infinity or a NaN, {self.other_bits} in "
            f"some bit; {len(self.short)} are beyond the bar where the engine is within it; "
            f"the worst of orders 0 and 1: {worst or 'none is exact'}"
        )

    def add(self, other: FastVariant) -> None:
        """Take in what was found in other rows."""
        self.cells += other.cells
        self.differ += other.differ
        self.absent = self.absent or other.absent
        self.other_bits += other.other_bits
        self.short += other.short
        for verdict in other.worst.values():
            self._see(verdict)

    def assess(self, cell: Cell, engines: Outcome, found: Outcome, wanted: Any, engine_is_right: bool) -> None:
        """Judge one answer beside the engine's."""
        self.cells += 1
        if not _alike(engines, found):
            self.differ.append(f"{cell} at order {cell.order}: {found}, and the engine {engines}")
            return
        self.other_bits += _bits(engines) != _bits(found)
        if engine_is_right:
            verdict = judge(cell, found, wanted)
            self._see(verdict)
            if not verdict.ok:
                self.short.append(verdict)

    def _see(self, verdict: Verdict) -> None:
        order = verdict.cell.order
        if verdict.kind == "exact" and (order not in self.worst or verdict.ulp > self.worst[order].ulp):
            self.worst[order] = verdict


def _alike(engines: Outcome, found: Outcome) -> bool:
    """Whether both are the same error, or have their infinities and NaNs in the same places."""
    if isinstance(engines, str) or isinstance(found, str):
        return engines == found
    pairs = zip(engines, found, strict=True)
    return all(a == b or (a != a and b != b) or (math.isfinite(a) and math.isfinite(b)) for a, b in pairs)
