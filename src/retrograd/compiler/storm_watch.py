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

#: So many traces in a row that have answered no call but their own are enough to read ints that differ; and to read
#: neither those nor the lengths of lists, if these programs were made alike.
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
        """Before a trace: read the lengths of lists no more where that is in vain."""
        if self._withheld is not None and self._taped.why_not:
            self._warn(self._withheld, is_taped=False)
        if not self._varying.reads_lengths or not (self._conversions.refuses_lengths or self._are_in_vain()):
            return
        self._varying.reads_no_lengths()
        self._conversions.forget_lengths()
        for number, example in self._examples.numbered():
            if example.signature.varying.lengths:
                self._examples.drop(number)
        self._storm.forget()
        self._storm.structures.watch()

    def _are_in_vain(self) -> bool:
        """Whether the last programs were made alike, with nothing learned, and answered no call but their own."""
        last = self._examples.all()[-_FEW_TRACES:]
        made = {(one.conversion, one.signature.varying._replace(lengths=frozenset()).columns) for one in last}
        return len(made) == 1 and self._storm.fruitless(_FEW_TRACES) == _FEW_TRACES

    def _in_a_storm(self, number: int, cause: Cause) -> None:
        waits = self._storm.waits_for_structures
        difference = self._difference(number) if cause.reason is Reason.NEW_ARGUMENTS else ""
        if waits and not self._varying.reads_lengths and IS_LONGER in difference:
            return  # there may be few lengths, or one program
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
        if not structures.are_many or not self._varying.tries_lengths():
            self._storm.alone()
            return True
        self._storm.forget()
        return False

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
        from .reports.differences import first_difference  # few functions need it

        new = self._examples.get(number)
        if new is None:  # it has been dropped again
            return ""
        same = [
            each.arguments
            for one, each in self._examples.numbered()
            if one != number and each.differentiate_first == new.differentiate_first
        ]
        if not same:
            return ""
        return first_difference(as_written(self._function, same[-1]), as_written(self._function, new.arguments))
