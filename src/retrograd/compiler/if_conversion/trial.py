"""A trace of converted code: which arms run in it, what they have stored, and what it found about its tests."""

from __future__ import annotations

import functools
import re
import sys
import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ... import engine
from ...engine.source_lines import current_location
from ..tracing.bool_tracer import BoolTracer
from ..tracing.recorder import Recorder, active_recorder, selecting
from .conversions import Site
from .running_trial import current, running
from .selecting.stores import KeptArrays, Place, Stores

__all__ = [
    "Asked",
    "Frame",
    "NotAnArmError",
    "Trial",
    "current",
    "in_arms",
    "once",
    "recorder",
    "refuse",
    "running_line",
    "trial",
]

P = ParamSpec("P")
T = TypeVar("T")

#: So many seconds a trial takes at most.
_LONGEST = 2.0
#: So many arms are inside of each other at most, as where a function calls itself in both arms. With Python's own
#: limit there are no more; where that is raised, the stack of C, on which they are, too, holds some tens of thousands.
_MOST_ARMS = 256

#: Where arguments choose an object.
_ARGUMENTS: Site = ("the arguments", 0)


class NotAnArmError(Exception):
    """An arm may do something else than compute, or its results are no numbers."""


def refuse(why: str) -> NotAnArmError:
    return NotAnArmError("a branch that is not taken " + re.sub(r"\ba (?=[AEIOaeio])", "an ", why))


class Frame:
    """The arms of a test that are running.

    Attributes:
        site: the test.
        test: what it gave; None where there is none.
        is_yes: whether the first of them is.
        is_whole: whether the test holds only if those of all frames around it decide for this one.
        stores: what the arm has stored.
        born: what the arm has made, and may change, by ids.
        changes: how often it has changed that, or stored something.
        taken: whether the arm is taken, as a comparison, where that is known: of the second arm, and of the first.
        known: the same of what the test says of numbers: comparisons, and how they come out, by ids.
    """

    __slots__ = ("born", "changes", "is_whole", "is_yes", "known", "site", "stores", "taken", "test")

    def __init__(self, site: Site, test: BoolTracer | None = None, is_whole: bool = False) -> None:
        self.site: Site = site
        self.test: BoolTracer | None = test
        self.is_whole: bool = is_whole
        self.is_yes: bool = True
        self.stores: Stores = Stores()
        self.born: dict[int, Any] = {}
        self.changes: int = 0
        self.taken: list[Any] = [None, None]
        self.known: list[Any] = [None, None]


class Asked(NamedTuple):
    """What code asks of things that runs as it is in a trial."""

    none: bool  #: whether something is None
    kinds: bool  #: what something is, or which attributes it has
    identity: bool  #: whether something is a certain object
    inside: bool  #: what only the thing itself can tell: its type, a special method by name, a pattern of ``match``
    stores: frozenset[str]  #: nothing: the attributes that it stores of what there is already; "*" for any
    reads: frozenset[str]  #: those that it reads, and does not only call; "*" if it asks which object something is


class Trial:
    """A trace of converted code.

    Args:
        most: by how much it may lengthen the tape, as its position counts.
        known: the lines that may decide something; None for all.
        told_apart: where no object is to be made for two, part by part.

    Attributes:
        only_counts: whether no arm runs that is not taken: the trial says how many iterations loops take.
        frames: the arms that are running, the innermost last.
        catches: whether the function catches exceptions.
        iterations: how many iterations of each loop are recorded, at least.
        needed: how many each loop took, at most.
        failed: the tests that turned out to be guards, and why, where that is known.
        notes: why something is decided on a line that holds no test.
        recorded: by how much it has lengthened the tape.
        stored: the tests whose arms have stored something.
        chosen_by: the lines on which an int or a text that decisions choose decides something.
        newly_decided: a line that decides something, and does not in the code as it is.
        needs_identity: whether something is None or not, or one object or another, as decisions come out, and code
            asks for that which is not converted.
        asked: what code asks of things that is not converted.
        optional: whether arguments may be None, and members of enumerations others, as they come.
        has_optional: whether there are arguments that may be None, or members of enumerations that differ.
        refuses_optional: whether something was asked of what may be None that cannot be answered.
        plain_objects: where no object is to be chosen by decisions, because what is done with it cannot be.
        refused_objects: the same, as it turned out.
        newly_told_apart: where an object was made for two, part by part, of which something tells which one it is.
        made_of_parts: where, these objects and the two, each with the parts that it had then.
        arrays: those that decisions chose from.
        known: what was asked about classes, by the question.
        compares_indices: whether a comparison of an index is one of numbers.
        is_broken: whether something was asked that a tracer cannot answer.
        is_too_long: whether one did because too much is recorded, as where a function calls itself in both arms.
        takes_too_long: whether it did because that takes long.
    """

    def __init__(
        self,
        most: int,
        iterations: Mapping[Site, int],
        asked: Asked,
        catches: bool,
        plain_objects: Collection[Site],
        optional: bool,
        only_counts: bool = False,
        known: Container[Site] | None = None,
        told_apart: Container[Site] = (),
    ) -> None:
        self.only_counts: bool = only_counts
        self.catches: bool = catches
        self.needs_identity: bool = False
        self.asked: Asked = asked
        self._reads_optional: bool = optional
        self.has_optional: bool = False
        self.refuses_optional: bool = False
        self.plain_objects: Collection[Site] = plain_objects
        self.refused_objects: set[Site] = set()
        self._chose_objects: set[Site] = set()
        self._told_apart = told_apart
        self.newly_told_apart: set[Site] = set()
        self.made_of_parts: list[tuple[Site, Any, Mapping[str, Any]]] = []
        self._numbers: dict[int, tuple[int, Any]] = {}  # of objects, by their ids
        self.frames: list[Frame] = []
        self.iterations: Mapping[Site, int] = iterations
        self.needed: dict[Site, int] = {}
        self.failed: dict[Site, str] = {}
        self.notes: dict[Site, str] = {}
        self.stored: dict[Site, str] = {}
        self.chosen_by: set[Site] = set()
        self.newly_decided: set[Site] = set()
        self._known_lines = known
        self.known: dict[tuple[Any, ...], Any] = {}
        self.compares_indices: bool = False
        self.is_too_long: bool = False
        self.takes_too_long: bool = False
        self.is_broken: bool = False
        self._stored = Stores()
        self.arrays: KeptArrays = KeptArrays()
        self._flat: dict[int, tuple[Any, Any]] = {}  # arrays by their ids, each with one of its elements in a row
        self._first = engine.tape_position()[0]
        self._most = most
        self._ends_at = time.perf_counter() + _LONGEST
        self.recorded: int = 0

    def enter(self, frame: Frame) -> None:
        """The arms of a test begin."""
        self.frames.append(frame)
        if len(self.frames) > _MOST_ARMS:
            raise refuse("calls itself again and again")
        self.recorded = engine.tape_position()[0] - self._first
        self.takes_too_long = time.perf_counter() > self._ends_at and sys.getprofile() is None
        if self.recorded > self._most or self.takes_too_long:
            self.is_too_long = True
            raise refuse("makes the trace too long")

    def decides(self, site: Site) -> None:
        """A comparison decides something on a line. If none did before, the next trace is to convert it."""
        if self._known_lines is not None and site not in self._known_lines:
            self.newly_decided.add(site)
            self.recorded = engine.tape_position()[0] - self._first
            raise refuse("decides something new")

    def leave(self) -> None:
        """The arms have run."""
        if self.frames[-1].stores:
            raise refuse("stores something in a test")
        self.frames.pop()

    def store(self, place: Place, thing: Any, site: Site | None = None) -> None:
        """Store a thing. The arm that does undoes it, or the end of the trial, unless the arm has made the place."""
        if self.frames and id(place.holder) in self.frames[-1].born:
            place.write(thing)
            self.frames[-1].changes += 1
            return
        stores = self.frames[-1].stores if self.frames else self._stored
        stores.store(place, thing)
        if self.frames:
            self.frames[-1].changes += 1
        if not self.frames and site is not None:
            self.stored[site] = "stores something that was there before"

    def flat(self, array: Any) -> Any:
        """The elements of an array that owns them, in a row: the same object each time."""
        return self._flat.setdefault(id(array), (array, array.ravel(order="K")))[1]

    def holds(self, thing: Any) -> int:
        """How often the trial refers to a list, a dictionary or an object that code stores something in."""
        stores = (frame.stores for frame in self.frames)
        born = sum(id(thing) in frame.born for frame in self.frames)
        return born + self._stored.holds(thing) + sum(one.holds(thing) for one in stores)

    def note(self, why: str) -> None:
        """Something is decided on the line that runs, which is no test, and why."""
        if (here := current_location()) is not None:
            self.notes[here.file, here.line] = why

    def ends(self) -> None:
        """The trace has ended, or was interrupted: what was there before holds what it held."""
        while self.frames:
            self.frames.pop().stores.forget()
        self._stored.forget()

    def allow_optional(self) -> bool:
        """Whether no code asks what something is that may be None, but code that is converted."""
        self.needs_identity |= self.asked.none
        return not self.asked.none and not self.asked.kinds

    def reads_optional(self) -> bool:
        """Whether arguments may be None as they come."""
        self.has_optional |= self._reads_optional and self.allow_optional()
        return self.has_optional

    def reads_members(self) -> Site | None:
        """Where members of enumerations are chosen, if arguments may be such as they come."""
        site = self.allow_object(site=_ARGUMENTS) if self._reads_optional else None
        self.has_optional |= site is not None
        return site

    def allow_object(self, at_once: bool = False, site: Site | None = None) -> Site | None:
        """The line that runs, or another site, if an object may be chosen there by decisions.

        ``at_once``: the object is called there, or an attribute of it is read, and nothing else is done with it.
        """
        site = site or running_line()
        if not at_once:
            self.needs_identity |= self.asked.identity
        may_be_asked = self.asked.identity or self.asked.inside or self.catches
        if (may_be_asked and not at_once) or site in self.plain_objects:
            return None
        self._chose_objects.add(site)
        return site

    def allow_parts(self, names: Iterable[str], methods: Iterable[str]) -> Site | None:
        """The line that runs, if objects of a class are not changed, nor told apart, once they are made.

        Args:
            names: of their attributes, and of the class's.
            methods: those of these that are bound to an object where they are read.
        """
        site, asked = running_line(), self.asked
        is_kept = asked.stores.isdisjoint([*names, "*"]) and asked.reads.isdisjoint([*methods, "*"])
        return site if is_kept and not asked.inside and site not in self._told_apart else None

    def look_at_parts(self) -> None:
        """At the end of the trace: what objects were made for has the parts that it had then."""
        from .selecting.objects import parts_differ  # which imports this module

        changed = {site for site, thing, parts in self.made_of_parts if parts_differ(thing, parts)}
        if changed:
            self.newly_told_apart |= changed
            self.breaks()

    def number_of(self, thing: Any) -> int:
        """What stands for an object among those that decisions choose from."""
        return self._numbers.setdefault(id(thing), (len(self._numbers), thing))[0]

    def breaks(self) -> None:
        """The function has asked a tracer for what it cannot answer. The trace will be thrown away."""
        self.is_broken = True

    def fails(self, must_not: bool = False) -> bool:
        """Something was raised in the innermost arms. Whether their test is a guard now; else those around fail too.

        ``must_not``: the function would raise that in the arm that is not taken, which then must not be.
        """
        frame = self.frames.pop()
        frame.stores.undo()
        if must_not:
            return True
        if frame.site in self._chose_objects:
            self.refused_objects.add(frame.site)
        if self.frames:
            return False
        if not self.is_too_long:  # which is not the doing of this test
            problem = sys.exception()
            why = str(problem) if isinstance(problem, NotAnArmError) else f"a branch raises {type(problem).__name__}"
            self.failed[frame.site] = why
        return True


@contextmanager
def trial(made: Trial, lines: Container[Site], compares_extremes: bool) -> Iterator[Trial]:
    """For a trace of code that is converted on ``lines``; ``compares_extremes``: as of ``selecting``."""
    before, running.trial = running.trial, made
    try:
        with selecting(lines, not made.asked.identity, compares_extremes):
            yield made
    finally:
        running.trial = before


def once(ask: Callable[P, T]) -> Callable[P, T]:
    """Ask something about a class once in each trial: thousands of objects may be of it."""

    @functools.wraps(ask)
    def asked(*about: P.args, **options: P.kwargs) -> T:
        run = running.trial
        if run is None:
            return ask(*about, **options)
        question = ask, *about
        if question not in run.known:
            run.known[question] = ask(*about, **options)
        found: T = run.known[question]
        return found

    return asked


def running_line() -> Site:
    """The user's line that runs."""
    here = current_location()
    return (here.file, here.line) if here is not None else ("", 0)


def in_arms() -> bool:
    """Whether arms are running of which one is not taken."""
    return running.trial is not None and bool(running.trial.frames)


def recorder() -> Recorder:
    """That of the trial, which is a trace."""
    found = active_recorder()
    assert found is not None
    return found
