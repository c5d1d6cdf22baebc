"""What a compiled function tells of itself: its programs, their sizes and times, and how calls were answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .reasons import Cause

__all__ = ["ProgramStatistics", "Statistics", "gathered"]


@dataclass(frozen=True, slots=True)
class ProgramStatistics:
    """One program: what it was made of, and what it did."""

    number: int
    tier: str  #: "vm", "llvm", or "interpreter" where the graph is too irregular for vectors, or in exact mode
    nodes: int  #: scalar operations of the trace
    terms: int  #: after sums and products were gathered
    groups: int  #: like terms of one level
    instructions: int  #: vector instructions
    forward_calls: int  #: kernel calls of a forward pass
    backward_calls: int
    strip: int  #: iterations of the longest loop that are done together, all in one cache; 0: the program has no strips
    bytes: int  #: of numbers and gradients; programs of like size share them
    guards: int
    hits: int
    broken_guards: int
    exceptional: int  #: calls in which a number was not finite or an operation left its domain
    batches: tuple[int, ...]  #: how many members of a batch have run at once
    milliseconds: Mapping[str, float]  #: of each pass


@dataclass(frozen=True, slots=True)
class Statistics:
    """A compiled function's programs, the one used last first, and why calls were traced or run eagerly."""

    programs: tuple[ProgramStatistics, ...] = ()
    causes: Mapping[Cause, int] = field(default_factory=dict)

    @property
    def reasons(self) -> dict[str, int]:
        """How often the function was traced or a call ran eagerly, by the sentence that says why."""
        return {str(cause): count for cause, count in self.causes.items()}

    @property
    def hits(self) -> int:
        """Calls that a program answered."""
        return sum(program.hits for program in self.programs)

    @property
    def traces(self) -> int:
        """How often the function was traced."""
        return sum(count for cause, count in self.causes.items() if cause.reason.traces)

    @property
    def eager(self) -> int:
        """Calls that ran eagerly because no program could stand for them."""
        return sum(count for cause, count in self.causes.items() if not cause.reason.traces)

    def __str__(self) -> str:
        lines = [
            f"{self.hits:,} calls answered by {len(self.programs)} programs, {self.traces:,} traces, "
            f"{self.eager:,} run eagerly"
        ]
        for program in self.programs:
            strips = f" in strips of {program.strip}" if program.strip else ""
            milliseconds = sum(program.milliseconds.values())
            lines.append(
                f"  program {program.number} ({program.tier}): {program.nodes:,} nodes, {program.groups} groups, "
                f"{program.instructions} vector instructions, {program.forward_calls} + {program.backward_calls} "
                f"kernel calls{strips}, {program.bytes:,} bytes, {milliseconds:.1f} ms to compile, "
                f"{program.hits:,} hits"
            )
        lines.extend(f"  {count:,} times: {reason}" for reason, count in self.reasons.items())
        return "\n".join(lines)


def gathered(facts: list[dict[str, Any]], causes: Mapping[Cause, int]) -> Statistics:
    """The statistics, from the native facts about each specialization and the counted causes."""
    programs = []
    for fact in facts:
        kept = {name: fact[name] for name in ProgramStatistics.__dataclass_fields__}
        kept["batches"] = tuple(kept["batches"])
        programs.append(ProgramStatistics(**kept))
    return Statistics(tuple(programs), dict(causes))
