"""What the benchmarks take and give: how much to measure, a figure with its bar, the tables behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["Effort", "Figure", "Report", "Sense", "Table"]

Sense = Literal["faster", "cost"]


@dataclass(frozen=True)
class Effort:
    """How much to measure: repetitions and sizes. Bars are meant for the default effort or more."""

    rounds: int = 40  #: of the quick contenders
    slow_rounds: int = 9  #: of those that take about a tenth of a second
    slowest_rounds: int = 3  #: of those that take longer
    loop_steps: int = 20  #: documents one after the other, where the collector is on
    every_neighbour: bool = True  #: measure that beside nothing and beside each library too, or only beside all
    memory_nodes: int = 4_000_000
    largest: int = 10_000_000  #: nodes of the longest chain, and of the largest compiled program
    steps: int = 2000  #: training steps of one contender before the next has its turn
    warm: float = 20.0  #: seconds of training before the compiled contenders count: LLVM makes a program a second
    mixture_points: int = 1000
    graph_nodes: int = 100_000
    names: Path | None = None  #: the file of names that the compiled benchmarks train on; None: the bundled ones


@dataclass(frozen=True)
class Figure:
    """One row of the table: a ratio, and the bar it is held against.

    ``sense`` says which way is good: "faster" ratios are peer / ours and want to be at least the
    bar, "cost" ratios are ours / peer and want to be at most the bar. ``ratio`` is None where the
    peer is not installed; ``peer`` then says how to install it. Where there is no bar, there is a goal.
    """

    work: str
    ours: str
    peer: str
    ratio: float | None
    sense: Sense
    bar: float | None
    goal: float | None
    how: str
    unit: str = "x"

    def reaches(self, limit: float | None) -> bool | None:
        """Whether the ratio is as good as ``limit``; None where either is missing."""
        if self.ratio is None or limit is None:
            return None
        return self.ratio >= limit if self.sense == "faster" else self.ratio <= limit


@dataclass(frozen=True)
class Table:
    """The measurements behind some figures."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Report:
    """What one work found."""

    figures: list[Figure]
    tables: list[Table] = field(default_factory=list)
