"""What comparisons decided in one trace, by line, and where other traces decided otherwise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from .bool_tracer import Purpose

if TYPE_CHECKING:
    from ...engine.source_lines import Location
    from .recording import Guard, IndexGuard

__all__ = ["DECIDING", "Outcomes", "Site", "flipping", "most_decided"]

#: What comparisons are for that decide which program answers a call, and may become selections.
DECIDING = frozenset({Purpose.DECIDES, Purpose.DERIVES})

#: A file, and the line in it where a test begins.
Site = tuple[str, int]


class Outcomes:
    """The comparisons of one trace, without the Values that were compared.

    Args:
        guards: of numbers, and of indices.

    Attributes:
        guards: the same.
    """

    def __init__(self, guards: Iterable[Guard | IndexGuard]) -> None:
        self.guards: Sequence[Guard | IndexGuard] = tuple(guards)

    @cached_property
    def by_line(self) -> Mapping[Site, tuple[object, ...]]:
        """What the comparisons on each line decided, in order."""
        found: dict[Site, list[object]] = defaultdict(list)
        sites: dict[int, list[object]] = {}  # by the ids of locations, which many guards share
        for guard in self.guards:
            where = guard.where
            if where is not None and guard.purpose in DECIDING:
                outcomes = sites.get(id(where))
                if outcomes is None:
                    outcomes = sites[id(where)] = found[where.file, where.line]
                outcomes.append(guard.outcome if guard.chosen is None else (guard.chosen,))
        return {site: tuple(outcomes) for site, outcomes in found.items()}

    @cached_property
    def uses(self) -> Mapping[Site, str]:
        """The lines on which numbers must be the same again, and what the function does with them there."""
        return {(one.where.file, one.where.line): one.use for one in self.guards if one.use and one.where is not None}

    @cached_property
    def ints(self) -> frozenset[Site]:
        """The lines on which nothing is compared, and ints must be the same again."""
        decided: dict[Site, bool] = {}
        for one in self.guards:
            if one.where is not None and one.purpose in DECIDING:
                site = one.where.file, one.where.line
                decided[site] = decided.get(site, True) and type(one.chosen) is int
        return frozenset(site for site, by_ints in decided.items() if by_ints)

    @cached_property
    def derives(self) -> frozenset[Site]:
        """The lines on which derivatives were taken of what max or min had chosen."""
        lines = (one.where for one in self.guards if one.purpose is Purpose.DERIVES)
        return frozenset((where.file, where.line) for where in lines if where is not None)

    @cached_property
    def ends_loops(self) -> bool:
        """Whether loops must end within as many iterations as were recorded."""
        return any(one.purpose is Purpose.ENDS_LOOP for one in self.guards)


def flipping(programs: Iterable[Outcomes]) -> set[Site]:
    """The lines on which comparisons decided otherwise from program to program."""
    decided: dict[Site, set[tuple[object, ...]]] = defaultdict(set)
    for program in programs:
        for site, outcomes in program.by_line.items():
            decided[site].add(outcomes)
    return {site for site, found in decided.items() if len(found) > 1 and len(set().union(*found)) > 1}


def most_decided(programs: Sequence[Outcomes], sites: Iterable[Site]) -> Location | None:
    """The line on which most comparisons decided something, among some lines; among all, if there are none."""
    counts: Counter[Site] = Counter()
    for program in programs:
        counts.update({site: len(outcomes) for site, outcomes in program.by_line.items()})
    site = max([*sites] or counts, key=counts.__getitem__, default=None)
    lines = (one.where for program in programs for one in program.guards if one.where is not None)
    return next((line for line in lines if (line.file, line.line) == site), None)
