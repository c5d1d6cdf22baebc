"""Statistics of a compiled function: its programs, their sizes and times, and how calls were answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...engine import SpecializationCache
from ...errors import counted
from .reasons import Cause

__all__ = ["ProgramStatistics", "Statistics", "gathered"]

#: So many programs have a line of their own: those that were used last.
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class ProgramStatistics:
    """One specialization: what its program was made of, and what it has done.

    Attributes:
        number: Its number among the specializations of the function, in the order in which they were made.
        tier: What runs it: ``"vm"``, ``"llvm"``, or ``"interpreter"`` if the graph is too irregular for vectors or the
            function was compiled with ``exact=True``.
        nodes: Scalar operations that were recorded.
        terms: Scalar operations that remain once sums, and sums of products, are one term each.
        groups: Groups of like terms, each of which is computed together.
        instructions: Vector instructions.
        forward_calls: Kernel calls of a forward pass.
        backward_calls: Kernel calls of a backward pass.
        strip: Iterations of the longest loop that run together because their data fits in the cache; 0 without
            strip-mining.
        bytes: Memory for values and gradients. Specializations of similar size share it.
        guards: Comparisons that are checked in every call.
        hits: Calls, and members of batches, that it answered.
        broken_guards: Calls for which a comparison had another outcome.
        exceptional: Calls in which a number was not finite or an operation left its domain.
        batches: The batch sizes that it has run with.
        milliseconds: How long each pass of the compiler took, by its name.
    """

    number: int
    tier: str
    nodes: int
    terms: int
    groups: int
    instructions: int
    forward_calls: int
    backward_calls: int
    strip: int
    bytes: int
    guards: int
    hits: int
    broken_guards: int
    exceptional: int
    batches: tuple[int, ...]
    milliseconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How the calls of a compiled function were answered. As text: a line for each program and each reason.

    Attributes:
        programs: The specializations that the function keeps, the most recently used one first.
        causes: How often the function was traced or a call ran eagerly, by :class:`~.reasons.Cause`.
        dropped_hits: Calls that were answered by programs which are no longer kept.
        taped_hits: Calls that were answered by taped code, which keeps the branches and loops of the function.
    """

    programs: tuple[ProgramStatistics, ...] = ()
    causes: Mapping[Cause, int] = field(default_factory=dict)
    dropped_hits: int = 0
    taped_hits: int = 0

    @property
    def reasons(self) -> dict[str, int]:
        """How often the function was traced or a call ran eagerly, by the sentence that says why."""
        return {str(cause): count for cause, count in self.causes.items()}

    @property
    def hits(self) -> int:
        """Calls that a program or taped code answered."""
        return self.dropped_hits + self.taped_hits + sum(program.hits for program in self.programs)

    @property
    def traces(self) -> int:
        """How often the function was traced."""
        return sum(count for cause, count in self.causes.items() if cause.reason.traces)

    @property
    def eager(self) -> int:
        """Calls that ran eagerly because no program was valid for them."""
        return sum(count for cause, count in self.causes.items() if cause.reason.runs_eagerly)

    def __str__(self) -> str:
        dropped = f" ({self.dropped_hits:,} by others, no longer kept)" if self.dropped_hits else ""
        lines = [
            f"{counted(self.hits, 'call')} answered by {counted(len(self.programs), 'program')}{dropped}, "
            f"{counted(self.traces, 'trace')}, "
            f"{self.eager:,} run eagerly"
        ]
        for program in self.programs[:_MOST_SHOWN]:
            strips = f" in strips of {program.strip}" if program.strip else ""
            milliseconds = sum(program.milliseconds.values())
            lines.append(
                f"  program {program.number} ({program.tier}): {counted(program.nodes, 'node')}, "
                f"{counted(program.groups, 'group')}, {counted(program.instructions, 'vector instruction')}, "
                f"{program.forward_calls} + {program.backward_calls} kernel calls{strips}, {program.bytes:,} bytes, "
                f"{milliseconds:.1f} ms to compile, {counted(program.hits, 'hit')}"
            )
        if others := self.programs[_MOST_SHOWN:]:
            lines.append(f"  {counted(len(others), 'more program')}: {counted(sum(one.hits for one in others), 'hit')}")
        if self.taped_hits:
            lines.append(f"  taped code, with the function's own branches and loops: {counted(self.taped_hits, 'hit')}")
        lines.extend(f"  {counted(count, 'time')}: {reason}" for reason, count in self.reasons.items())
        return "\n".join(lines)


def gathered(cache: SpecializationCache | None, causes: Mapping[Cause, int], taped_hits: int = 0) -> Statistics:
    """The statistics, from what the cache tells of each specialization, if there is one, and what was counted."""
    programs = []
    for fact in cache.facts() if cache is not None else ():
        kept = {name: fact[name] for name in ProgramStatistics.__dataclass_fields__}
        kept["batches"] = tuple(kept["batches"])
        programs.append(ProgramStatistics(**kept))
    return Statistics(tuple(programs), dict(causes), cache.dropped_hits() if cache is not None else 0, taped_hits)
