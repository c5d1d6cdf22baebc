"""What happens where nearly every call is traced: programs that read more, calls that run eagerly, and a warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from .backoff import Storm
from .calls.argument_order import as_written
from .examples import Example, Examples
from .if_conversion.conversions import Conversions
from .reports.notices import (
    IS_LONGER,
    Notices,
    nor_taped,
    not_worth_a_program,
    other_arguments,
    other_comparison,
    other_int,
    other_number,
    traced_in_vain,
)
from .reports.reasons import Cause, Reason
from .taped.taped_calls import TapedCalls
from .tracing.outcomes import flipping, most_decided
from .varying_arguments import VaryingArguments

__all__ = ["StormWatch"]

#: So many traces in a row that have answered no call but their own are enough to read ints that differ.
_FEW_TRACES = 4

#: After so many calls that were put off, if they are most, users are warned; or of a storm, whichever comes first.
_MANY_POSTPONED = 32


class StormWatch:
    """Watches the traces of one function."""

    def __init__(
        self,
        function: Callable[..., Any],
        storm: Storm,
        examples: Examples,
        conversions: Conversions,
        varying: VaryingArguments,
        notices: Notices,
        taped: TapedCalls,
    ) -> None:
        self._function, self._notices, self._taped = function, notices, taped
        self._storm, self._examples = storm, examples
        self._conversions, self._varying = conversions, varying
        self._withheld: Callable[[str], str] | None = None  # the warning, if there is taped code as yet

    def traced(self, number: int, cause: Cause) -> None:
        """A program was made, and why."""
        is_storm = self._storm.traced(number, cause.reason is Reason.NEW_ARGUMENTS)
        few = self._storm.fruitless(_FEW_TRACES) == _FEW_TRACES
        if not self._varying.reads_plain_ints and any(one.signature.varying.plain for one in self._examples.all()):
            if is_storm or (few and cause.reason is Reason.NEW_ARGUMENTS):
                self._varying.reads_plain_ints = True  # and selects by them, where it can
                self._storm.forget()
        elif is_storm:
            self._in_a_storm(number, cause)

    def review(self) -> None:
        """Before a trace: warn of what was withheld, if there is no taped code any more."""
        if self._withheld is not None and self._taped.why_not:
            self._warn(self._withheld, is_taped=False)

    def _in_a_storm(self, number: int, cause: Cause) -> None:
        waits = self._storm.waits_for_structures
        difference = self._difference(number) if cause.reason is Reason.NEW_ARGUMENTS else ""
        if waits and IS_LONGER in difference:
            return  # there may be few lengths
        turning, remedy = self._decisive_line()
        if difference or not (turning or cause.reason is Reason.GUARD_FAILED):
            remedy = other_arguments(difference)
        text = str(cause)
        self._warn(
            lambda why: traced_in_vain(self._function, text, remedy + why, waits),
            self._is_taped(self._examples.get(number)),
        )
        if turning and self._storm.is_repeated():
            self._conversions.give_up()  # what is converted makes programs larger, and no fewer

    def _warn(self, warning: Callable[[str], str], is_taped: bool) -> None:
        """Warn of what nearly every call needs, unless there is taped code: then if that is given up."""
        if is_taped:
            self._withheld = self._withheld or warning
        else:
            self._withheld = None
            self._notices.once("storm", warning(nor_taped(self._taped.why_not)))

    def _is_taped(self, like: Example | None) -> bool:
        """Whether there is taped code for calls like another one, or will be."""
        return like is not None and self._taped.is_offered(like.differentiate_first, like.arguments)

    def awaits_another(self, differentiate_first: bool, arguments: tuple[Any, ...]) -> bool:
        """Whether a call of new arguments is traced if one like it comes again, and not yet."""
        structures = self._storm.structures
        if not structures.is_new(differentiate_first, arguments):
            return False
        self._storm.alone()
        if structures.are_many and self._withheld is None and self._notices.is_new("storm"):
            self._of_many_structures(arguments)
        return True

    def _of_many_structures(self, arguments: tuple[Any, ...]) -> None:
        """Warn that a call has a structure of its own, as most had."""
        last = next(iter(self._examples.all()[-1:]), None)
        difference = self._between(last.arguments, arguments) if last is not None else ""
        remedy = other_arguments(difference)
        text = str(Cause(Reason.NEW_ARGUMENTS))
        self._warn(lambda why: traced_in_vain(self._function, text, remedy + why, waits=True), self._is_taped(last))

    def postponed(self, causes: Counter[Cause]) -> None:
        """A program for this call would take longer to make than calls took. Warn if that is so in most calls."""
        self._storm.postponed()
        postponed = causes[Cause(Reason.POSTPONED)] + 1
        if self._withheld is not None:
            return
        if postponed >= _MANY_POSTPONED and 2 * postponed > self._storm.calls() and self._notices.is_new("storm"):
            remedy = self._decisive_line()[1]
            last = next(iter(self._examples.all()[-1:]), None)
            self._warn(lambda why: not_worth_a_program(self._function, remedy + why), self._is_taped(last))

    def _decisive_line(self) -> tuple[bool, str]:
        """Whether comparisons come out otherwise from program to program; what to do about the line where most do."""
        programs = [example.decided for example in self._examples.all()]
        turning = flipping(programs)
        line = most_decided(programs, turning)
        if line is None:
            return bool(turning), other_arguments("")
        site = line.file, line.line
        if any(site in each.ints for each in programs):
            return bool(turning), other_int(line)
        use = next((each.uses[site] for each in programs if site in each.uses), "")
        remedy = other_number(line, use) if use else other_comparison(line, self._conversions.reason(site))
        return bool(turning), remedy

    def _difference(self, number: int) -> str:
        """What the arguments of a new program's call have otherwise than those of the one before."""
        new = self._examples.get(number)
        if new is None:  # it has been dropped again
            return ""
        same = [
            each.arguments
            for one, each in self._examples.numbered()
            if one != number and each.differentiate_first == new.differentiate_first
        ]
        return self._between(same[-1], new.arguments) if same else ""

    def _between(self, before: tuple[Any, ...], now: tuple[Any, ...]) -> str:
        """What one call's arguments have otherwise than those of one before."""
        from .reports.differences import first_difference  # few functions need it

        return first_difference(as_written(self._function, before), as_written(self._function, now))
