"""Chooses the tests to convert, of ``if`` statements and loops: those that come out otherwise from call to call."""

from __future__ import annotations

import operator
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ... import engine
from ..guards.bytecode import (
    IDENTITY,
    asks_what_it_is,
    catches_exceptions,
    codes_of,
    is_of_dataclass,
    looks_inside,
    read_attributes,
    stored_attributes,
    tests_identity,
    tests_none,
)
from ..guards.captured_state import functions_of
from ..guards.libraries import is_library
from ..tracing.followed_calls import own_code
from ..tracing.outcomes import Outcomes, Site, flipping
from ..tracing.recording import Guard, IndexGuard
from .budget import Budget

if TYPE_CHECKING:
    from .trial import Trial

__all__ = ["Conversions", "Site", "Tracing", "without_decisions"]

T = TypeVar("T")

#: So many programs that differ by what comparisons decided are one too many.
_LEAST_PROGRAMS, _LEAST_AGAIN = 3, 2  # the latter once tests are converted

#: So many traces of converted code may be in vain before the code is traced as it is.
_MOST_TRIALS = 10

#: With tests that have not come out otherwise yet, a trace may record so many times as much as one of the code as it
#: is, or as the last one.
_MOST_UNASKED, _MOST_MORE = 4, 2

#: So many calls may give nothing that can be compiled before what is wanted is refused.
_MOST_POSTPONED = 6

#: Names in code that asks which object something is, or may bind a method of it.
_TELLS = IDENTITY | {"getattr", "attrgetter", "methodcaller"}

_lock = threading.Lock()  # while functions have other code than their own


@dataclass(frozen=True)
class Tracing(Generic[T]):
    """How a function is traced.

    Attributes:
        functions: those that the trace may call.
        trace: runs it.
        guards: the comparisons that decided something in a trace; None if it cannot be compiled.
        budget: how much traces of converted code may record.
        changed: whether the function finds something else now than before.
        restore: puts back what was there before.
    """

    functions: Sequence[types.FunctionType]
    trace: Callable[[], T]
    guards: Callable[[T], Sequence[Guard] | None]
    budget: Budget
    changed: Callable[[], object] = lambda: False
    restore: Callable[[], object] = lambda: None


class Conversions:
    """The lines of one compiled function's code on which a decision becomes a selection.

    Attributes:
        lengthened: how often more iterations of a loop were recorded than before.
        refuses_optional: whether arguments cannot be None, or other members of enumerations, as they come.
    """

    def __init__(self, known: Conversions | None = None) -> None:
        self._wanted: set[Site] = set()
        self._refused: set[Site] = set()
        self._deciding: set[Site] = set()  # wanted lines on which a comparison is a guard of converted code, too
        self._deriving: set[Site] = set()  # lines on which derivatives are taken of what max or min chooses
        self._reasons: dict[Site, str] = {}
        self.lengthened: int = 0
        self._asks_identity = False  # decisions choose objects, or None, and the function asks for that
        self._plain_objects: set[Site] = set()  # where they are not to
        self._told_apart: set[Site] = set()  # where they choose whole objects, though nothing changes them
        self.refuses_optional: bool = False
        self._reads_optional = False  # whether some can
        self._postponed = 0
        self._least: set[Site] | None = None  # what is to be converted where more is too long
        self._takes_more = True  # than has to be converted
        self._decided: set[Site] = set()  # lines on which comparisons decide in the code as it is, and
        self._traced: list[Outcomes] = []  # traces whose lines are to be added
        self._recorded = 0  # by the last trace that gave a program
        self._compares_indices = False
        # Of loops: as many as any call took, and some more.
        self._iterations: dict[Site, int] = dict(known._iterations) if known else {}

    def __bool__(self) -> bool:
        return bool(self._wanted) or self._reads_optional

    def read_optional(self, some: bool) -> None:
        """Whether the next trace reads what is None in some calls, and which member of an enumeration is there."""
        self._reads_optional = some and not self.refuses_optional

    def _refuse_optional(self) -> None:
        """What of the arguments converted code alone can read is part of the program again."""
        if self._reads_optional:
            self._reads_optional, self.refuses_optional = False, True

    def learn(self, programs: Sequence[Outcomes]) -> bool:
        """Whether more lines are to be converted, by what comparisons decided in the traces of one kind of call."""
        self._traced += (each for each in programs if each not in self._traced)
        if len(self._traced) > _LEAST_AGAIN:  # most functions have few, and none of which asks for more
            self._count_decided()
        if len(programs) < (_LEAST_AGAIN if self._wanted else _LEAST_PROGRAMS):
            return False
        self._deriving.update(*(each.derives for each in programs))
        self._refused.update(*(each.uses for each in programs))  # a selection gives no plain number
        new = flipping(programs) - self._wanted - self._refused
        self._wanted |= new
        self._compares_indices |= bool(new) and any(
            isinstance(one, IndexGuard) for each in programs for one in each.guards
        )
        return bool(new)

    def _count_decided(self) -> None:
        self._decided.update(*(each.by_line for each in self._traced))
        self._traced.clear()

    def departed(self, site: Site, decided: Outcomes) -> None:
        """A call has left the path of converted code at a test: convert that, and what else decides there."""
        if site not in self._wanted and site not in self._refused:
            self._deriving |= decided.derives
            least = self._wanted | {site}
            self._wanted |= decided.by_line.keys() - self._refused if self._takes_more else {site}
            self._least = least if self._wanted != least else None

    def concerns(self, decided: Outcomes) -> bool:
        """Whether a comparison is on a line that is converted."""
        return not (self._wanted - self._deciding).isdisjoint(decided.by_line)

    def reason(self, site: Site) -> str:
        """Why the test on a line stays as it is, or else one on another line; empty where that is not known."""
        if why := self._reasons.get(site) or _refusal_at(site):
            return why
        others = ((line, why or _refusal_at((file, line))) for (file, line), why in self._reasons.items())
        return next((f"on line {line}, {why}" for line, why in others if why), "")

    def _refuse(self, sites: Mapping[Site, str]) -> None:
        """Leave tests as they are, by where they begin; all that are wanted, if there is no other."""
        self._reasons.update(sites)
        if self._refused.issuperset(sites):
            self._refused |= self._wanted
            if not self._wanted:
                self._refuse_optional()
        self._refused.update(sites)
        self._wanted -= self._refused

    @property
    def state(self) -> tuple[Any, ...] | None:
        """What is converted, and how: the same as long as nothing more is learned. None if nothing is."""
        if not self:
            return None
        objects = frozenset(self._plain_objects), frozenset(self._told_apart)
        return frozenset(self._wanted), *objects, self.lengthened, self._asks_identity, self._reads_optional

    def give_up(self) -> None:
        """Leave all tests as they are, where selections made programs larger, and no fewer."""
        self._note(self._wanted, "selections there made programs larger, and no fewer")
        self._refused |= self._wanted
        self._wanted.clear()
        self._refuse_optional()

    def run(self, tracing: Tracing[T]) -> T | None:
        """What a trace of converted code gives. None where no test can be converted, as far as this shows."""
        if not self or tracing.budget.is_spent() or not _lock.acquire(blocking=False):
            return None
        try:
            return self._tried(tracing)
        finally:
            _lock.release()

    def _tried(self, tracing: Tracing[T]) -> T | None:
        budget = tracing.budget
        budget.begin_call()
        self._count_iterations(tracing)
        for _ in range(_MOST_TRIALS):
            if not self or budget.is_spent() or budget.is_spent_at_once():
                break
            run, made, decided = self._attempt(tracing)
            if run.takes_too_long:
                self._note(self._wanted, "to run both branches of each test takes too long")
                self._refuse({})
                break
            if run.is_too_long:
                self._cut_off(run.recorded, budget)
                continue
            budget.spend(run.recorded)
            if new := run.newly_decided:
                self._wanted |= new
            elif told := run.newly_told_apart - self._told_apart:
                self._told_apart |= told
            elif run.needs_identity and not self._asks_identity and not run.is_broken:
                self._asks_identity = True
            elif self._reads_optional and (run.refuses_optional or not run.has_optional):
                if new := run.chosen_by - self._wanted - self._refused:
                    self._wanted |= new
                else:
                    self._refuse_optional()
            elif objects := run.refused_objects - self._plain_objects:
                self._plain_objects |= objects
            elif decided is None and not run.failed and not run.is_broken and self._postponed < _MOST_POSTPONED:
                self._postponed += 1  # another call may give what can be compiled: a Value, not the number 0
                return None
            elif run.failed or decided is None:
                self._refuse(run.failed)
            elif self._learn_iterations(run.needed):
                pass
            elif new := run.chosen_by - self._wanted - self._refused:
                self._wanted |= new
            else:
                self._least, self._recorded = None, run.recorded
                return made[0] if self._settle_what_decides(tracing, Outcomes(decided)) else None
        return None

    def _settle_what_decides(self, tracing: Tracing[T], decided: Outcomes) -> bool:
        """Note the wanted tests that decide in converted code even so; whether it has converted others.

        If so, the code stays as it is, by which the programs that are made of it are known.
        """
        if left := self._wanted.intersection(decided.by_line) - self._deciding:
            self._note_sources(tracing.functions)
            self._note(left, "what the line does is none of the tests, loops and calls that it can rewrite")
            self._deciding |= left
        if self._wanted <= self._deciding:
            self._refused |= self._wanted
            self._wanted.clear()
        return bool(self)

    def _cut_off(self, recorded: int, budget: Budget) -> None:
        """A trace was too long: convert less where that can be, or let the next one record more, or refuse."""
        if self._least is not None:
            budget.spend(recorded)
            self._wanted, self._least, self._takes_more = self._least - self._refused, None, False
        elif not budget.was_too_little(recorded):
            self._note(self._wanted, "to run both branches of each test takes too many operations")
            self._refuse({})

    def _room(self, budget: Budget) -> int:
        """How much the next trace may record; not all of its room, if more is converted than has to be."""
        most = budget.room()
        if self._least is None:
            return most
        return min(most, int(max(_MOST_UNASKED * budget.plain, _MOST_MORE * self._recorded)))

    def _count_iterations(self, tracing: Tracing[T]) -> None:
        """Learn how many iterations loops take in this call. To trace only the arms that are taken costs little."""
        orders = self._orders(tracing.functions)
        made = (self._converted(own_code(one), orders) for one in tracing.functions)
        if any("Loop" in one.co_names for code in made if code is not None for one in codes_of(code)):
            run, _, _ = self._attempt(tracing, only_counts=True)
            self._learn_iterations(run.needed)

    def _attempt(
        self, tracing: Tracing[T], only_counts: bool = False
    ) -> tuple[Trial, Sequence[T], Sequence[Guard] | None]:
        """One trace of converted code: what it gave, and what decided something in it."""
        made: list[T] = []
        decided: Sequence[Guard] | None = None
        run: Trial | None = None
        try:
            with (
                self._applied(tracing.functions, self._room(tracing.budget), only_counts) as run,
                suppress(Exception),
            ):  # which a trace of the code as it is meets, too
                made.append(tracing.trace())
                if run.arrays.have_changed():
                    run.breaks()
                run.look_at_parts()
                decided = None if run.is_broken else tracing.guards(made[0])
            if run.stored and tracing.changed():
                run.failed.update(run.stored)
        finally:
            if run is not None:
                run.ends()
                self._reasons.update(run.notes)
                if tracing.changed():  # plain code has stored what is traced
                    tracing.restore()
                    run.breaks()
        return run, made, None if run.is_broken else decided

    def _note_sources(self, functions: Sequence[types.FunctionType]) -> None:
        """Why nothing is converted in functions whose source is gone."""
        from .rewriting.source import is_found

        for code in {*map(own_code, functions)}:
            if (lines := self._lines_in(code)) and not is_found(code):
                why = f"the source of {code.co_name} cannot be found, or has changed"
                self._reasons.update(((code.co_filename, line), why) for line in lines)

    def _note(self, sites: Iterable[Site], why: str) -> None:
        """Why tests stay as they are, where nothing is known that says more."""
        for site in sites:
            if not self._reasons.get(site) and not _refusal_at(site):
                self._reasons[site] = why

    def _learn_iterations(self, needed: Mapping[Site, int]) -> bool:
        """Whether loops took more iterations than are recorded."""
        longer = {site: count for site, count in needed.items() if count > self._iterations.get(site, 0)}
        self._iterations |= {
            site: count + 1 + count // (2 if site in self._iterations else 4) for site, count in longer.items()
        }
        self.lengthened += bool(longer)
        return bool(longer)

    def want(self, guards: Iterable[Guard]) -> bool:
        """Convert what these comparisons decide. Whether there is something among it that was not tried before."""
        decided = Outcomes(guards)
        self._deriving |= decided.derives
        new = decided.by_line.keys() - self._wanted - self._refused
        self._wanted |= new
        return bool(new)

    @contextmanager
    def _applied(self, functions: Sequence[types.FunctionType], most: int, only_counts: bool) -> Iterator[Trial]:
        """Give functions their converted code, in which a trace runs that may record so much.

        Another thread that calls such a function meanwhile gets what it always does.
        """
        from .trial import Asked, Trial, trial  # few functions need it, and each import of the package would wait

        changed: list[tuple[types.FunctionType, types.CodeType]] = []
        asked = Asked(False, False, False, False, frozenset(), frozenset())
        catches, orders = False, self._orders(functions)
        codes = map(own_code, functions)
        self._asks_identity |= any(tests_identity(code) and not is_of_dataclass(code) for code in codes)
        try:
            for function in functions:
                code = own_code(function)
                if made := self._converted(code, orders):
                    changed.append((function, code))
                    function.__code__ = made
                catches |= catches_exceptions(code)
                if not is_library(function.__globals__.get("__name__")):  # such as what repr() of a dataclass calls
                    asked = Asked(*map(operator.or_, asked, _asked_by(code, made or code, self._asks_identity)))
                    if _tells_by_another_name(function, code):
                        asked = asked._replace(identity=True, reads=asked.reads | {"*"})
            self._count_decided()
            made_trial = Trial(
                most,
                self._iterations,
                asked,
                catches,
                self._plain_objects,
                self._reads_optional,
                only_counts,
                self._wanted | self._refused | self._decided if self._decided and not only_counts else None,
                self._told_apart,
            )
            with trial(made_trial, self._wanted, not self._wanted.isdisjoint(self._deriving)) as run:
                run.compares_indices = self._compares_indices
                yield run
        finally:
            for function, code in changed:
                function.__code__ = code

    def _converted(self, code: types.CodeType, orders: bool) -> types.CodeType | None:
        """``orders``: a ``__lt__`` decides, which what sorts may call."""
        lines = self._lines_in(code)
        asks = self._asks_identity and (tests_none(code) or tests_identity(code))
        if not (lines or asks or orders or looks_inside(code)):
            return None
        from .rewriting.converter import Wanted, converted

        refused = frozenset(line for file, line in self._refused if file == code.co_filename)
        return converted(code, Wanted(lines, refused, asks, orders))

    def _orders(self, functions: Sequence[types.FunctionType]) -> bool:
        return any(one.__name__ == "__lt__" and self._lines_in(own_code(one)) for one in functions)

    def _lines_in(self, code: types.CodeType) -> frozenset[int]:
        wanted = {line for file, line in self._wanted if file == code.co_filename}
        if not wanted:
            return frozenset()
        return frozenset(wanted.intersection(line for one in codes_of(code) for *_, line in one.co_lines()))


def _asked_by(code: types.CodeType, made: types.CodeType, is_converted: bool) -> tuple[Any, ...]:
    """What a function's code asks of things, of which ``made`` runs; whether all tests of identity are converted."""
    if is_of_dataclass(code):
        return False, False, False, False, frozenset(), frozenset()
    names = frozenset().union(*(one.co_names for one in codes_of(code)))
    identity = tests_identity(made if is_converted else code) or not names.isdisjoint(IDENTITY)
    asked = tests_none(made if is_converted else code), asks_what_it_is(code), identity, looks_inside(made)
    tells = identity or not names.isdisjoint(_TELLS)
    return *asked, stored_attributes(code), read_attributes(code) | ({"*"} if tells else frozenset())


def _tells_by_another_name(function: types.FunctionType, code: types.CodeType) -> bool:
    """Whether a name in a function's code is one that its module, or a function around it, has given to ``id``."""
    held = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    held += [function.__globals__.get(name) for one in codes_of(code) for name in one.co_names]
    return any(thing is told for thing in held for told in (id, operator.is_, operator.is_not))


def without_decisions(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    trace: Callable[[], T],
    guards: Callable[[T], Sequence[Guard] | None],
    known: Conversions,
) -> T:
    """What a trace gives that holds for as many arguments as possible: with each test converted that can be.

    Args:
        function: the one that is traced.
        arguments: those that it is traced with.
        trace: runs it.
        guards: the comparisons that decided something in a trace; None if it cannot be compiled.
        known: the function's, which know how many iterations its calls took.
    """
    before = engine.tape_position()[0]
    found, budget = trace(), Budget()
    budget.measured(engine.tape_position()[0] - before)
    conversions = Conversions(known)
    tracing = Tracing(functions_of(function, arguments), trace, guards, budget)
    while conversions.want(guards(found) or ()):  # what is converted may decide on other lines
        better = conversions.run(tracing)
        if better is None:
            break
        found = better
    return found


def _refusal_at(site: Site) -> str:
    from .rewriting.converter import refusals  # few functions need it

    return refusals.get(site, "")
