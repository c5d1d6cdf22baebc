"""Specializations: a call is traced, compiled for its structure, compared with the engine, and kept for later calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import engine, errors
from ..engine import Value
from ..engine.numbers import is_number
from .backoff import Storm, Untraceable
from .calls.arguments import Unsuitable, signature_of
from .calls.eager import EagerRunner, Method, Result
from .calls.effects import Effects, noting_effects
from .calls.lengths import between_lengths
from .calls.outputs import Outputs, is_single, leaves_of
from .calls.signature import Signature
from .calls.varying import CONSTANT, Column, Varying, between
from .comparison import TOLERANCE, UNKNOWN, Difference, difference, numbers_of
from .guards.captured_state import CapturedState
from .guards.snapshot import Snapshot
from .guards.words import program_guards, state_guards
from .if_conversion.budget import BYTES_OF_NODE, Budget
from .if_conversion.conversions import Conversions, Tracing
from .reports.notices import IS_LONGER, Notices, not_worth_a_program, runs_as_it_is, traced_in_vain
from .reports.reasons import Cause, Reason
from .request import CompileRequest, Options
from .tier_up import TierUp
from .tracing.bool_tracer import Purpose
from .tracing.outcomes import Outcomes, flipping, most_decided
from .tracing.recorder import Recorder
from .tracing.traced_call import Described, Traced, guards_of, trace

__all__ = ["LIMIT", "Example", "Specializer"]

#: The most specializations that one function keeps, and the most bytes of them. Beyond them, the least recently used
#: ones are dropped.
LIMIT = 256
BYTES = 64 * 1024 * 1024

#: With so many of the last calls that were traced a new one is compared that has lists of another length.
_LAST = 8

#: So many traces in a row that have answered no call but their own are enough to read ints that differ.
_FEW_TRACES = 4

#: So many programs of code that is converted alike, each for decisions of its own, are in vain if they are larger than
#: those of the code as it is by this factor.
_IN_VAIN, _LARGER = 6, 8

#: After so many calls that were put off, if they are most, users are warned; or of a storm, whichever comes first.
_MANY_POSTPONED = 32

#: Why a call is traced that may decide otherwise than those before.
_OTHERWISE = (Reason.GUARD_FAILED, Reason.NEW_ARGUMENTS)

#: In how many later calls a program is compared with the function once more: in more of them where it stands for what
#: the function does not do in each call, for the other arms of its branches and for other ints, texts and objects.
LATER, LATER_OF_MANY = 2, 3


class Example(NamedTuple):
    """The call that a specialization was traced from."""

    differentiate_first: bool
    arguments: tuple[Any, ...]
    signature: Signature
    number: type | None  #: what plain number the function returned: a float, an int, or NumPy's; None for a Value
    outputs: Outputs | None  #: of a function with several results
    decided: Outcomes
    lengthened: int  #: how often loops were recorded with more iterations until then
    conversion: tuple[Any, ...] | None  #: what was converted, and how; None if nothing was
    largest: float = 0.0  #: of the function's gradients in this call

    def is_like(self, other: Example) -> bool:
        """Whether both are of one kind of call."""
        return self.differentiate_first == other.differentiate_first and self.signature.is_like(other.signature)


def _recorded(recording: bool, run: Callable[[], Result]) -> Result:
    """What ``run`` gives while operations are recorded, or are not."""
    before = engine.set_recording(recording)
    try:
        return run()
    finally:
        engine.set_recording(before)


class Specializer:
    """Makes the specializations of one compiled function, and decides which of them stay in its cache."""

    def __init__(
        self,
        function: Callable[..., Any],
        cache: engine.SpecializationCache,
        options: Options,
        eager: EagerRunner,
        causes: Counter[Cause],
    ) -> None:
        self._function, self._cache, self._options = function, cache, options
        self._eager, self._causes = eager, causes
        self.notices: Notices = Notices()
        self.captured: CapturedState = CapturedState(cache, function, self.notices)
        interpreted = options.exact and options.tier == "auto"
        self.tier_up: TierUp = TierUp(cache, "interpreter" if interpreted else options.tier, causes)
        self.conversions: Conversions = Conversions()
        self._examples: dict[int, Example] = {}
        self._codes: dict[tuple[Any, ...], int] = {}  # numbers of converted code, and of what it reads
        self._untraceable, self._storm = Untraceable(), Storm(cache)
        self._budget = Budget(self._storm.calls)
        self._unreadable: frozenset[Column] = frozenset()  # of ints for which tracers cannot stand
        self._whole_lists: frozenset[Column] = frozenset()  # whose lengths decide something
        self._reads_plain_ints = False  # whether programs read the ints, too, that the function wants as plain ones
        self._reads_lengths = False  # whether they take lists of any length, where they can

    def example(self, number: int) -> Example | None:
        """The call that a specialization was traced from; None if it has been forgotten since."""
        return self._examples.get(number)

    def guards(self) -> str:
        """What each specialization takes for granted, as text."""
        numbers = [number for number, _, _ in self._cache.inventory() if number in self._examples]
        programs = [
            program_guards(number, self._examples[number].signature.spec, self._examples[number].decided.guards)
            for number in numbers
        ]
        return "\n".join([*programs, state_guards(self.captured.paths, self.captured.frozen)])

    def specialize(
        self,
        differentiate_first: bool,
        arguments: tuple[Any, ...],
        reason: Reason,
        plain_call: bool = False,
        recorded: bool = True,
    ) -> Result | None:
        """Run the function as it is, trace it, and add a specialization that gives what the plain run gave.

        ``plain_call``: for a call, which may have several results; else for a pass, which gives a number and gradients.
        ``recorded``: whether the result is; False inside ``no_grad``.

        None when there is one now, which has not answered the call yet. Otherwise what the plain run returned.
        """

        def as_it_is(cause: Cause | None = None) -> Result:
            return _recorded(recorded, lambda: self._eager.run(arguments, differentiate_first, cause))

        shape = differentiate_first, *map(type, arguments)
        if (cause := self._untraceable.waits(shape)) is not None:
            return as_it_is(cause)
        if reason in _OTHERWISE and self.conversions and self._budget.is_spent():
            self._note_postponed()
            return as_it_is(Cause(Reason.POSTPONED))
        change = self.captured.change()  # what the runs below change themselves is no reason to trace again
        state, described = self._capture(differentiate_first, arguments, as_number=not plain_call)
        varying = self._varying(differentiate_first, described)
        described = None if varying else described
        answer, effects = noting_effects(as_it_is, self._function, arguments, self.captured.generators)
        obstacle = self._obstacle(answer, effects, plain_call)
        if obstacle:
            self._give_up(shape, obstacle)
            return answer
        # A program is compared with a run that has gradients, inside no_grad as well.
        plain = answer if recorded else _recorded(True, lambda: self._eager.run(arguments, differentiate_first))
        held = self.captured.snapshot()
        if reason is Reason.GUARD_FAILED:
            self._learn_from_departures()
        passed: int | None = None  # a program to which an argument that is a parameter is not known as one
        while True:
            try:
                traced = self._trace(arguments, differentiate_first, plain_call, held, described, varying)
                if varying and (left := self._left_varying(traced, varying)) != varying:
                    varying = left
                    traced = self._trace(arguments, differentiate_first, plain_call, held, None, varying)
                if reason in _OTHERWISE and self._learns(traced, differentiate_first):
                    traced = self._trace(arguments, differentiate_first, plain_call, held, None, varying)
            finally:
                if passed is not None:
                    self._cache.drop(passed)
            described = None
            if isinstance(traced, Traced):
                traced.signature.varying = varying
            if changed := self.captured.change_by_function():  # to what was there in the plain run
                held.restore()
                if self.captured.change_by_function():  # an attribute that is new
                    answer = as_it_is()  # puts numbers where there are tracers
                traced = Cause(Reason.GRAPH_BREAK, changed)
            if isinstance(traced, Traced) and traced.obstacle is not None:
                traced = traced.obstacle
            outputs = None
            if isinstance(traced, Traced) and traced.recording.tree is not None:
                outputs = Outputs.matching(traced.recording.tree, plain.root)
                traced = traced if outputs else Cause(Reason.DISAGREES)
            elif isinstance(traced, Traced) and not _is_result(plain.root, plain_call):
                traced = Cause(Reason.DISAGREES)
            if isinstance(traced, Cause):
                self._give_up(shape, traced)
                return answer
            cause = Cause(Reason.STATE_CHANGED, change) if change else Cause(reason)
            if cause == Cause(Reason.STATE_CHANGED):  # since the programs of this kind of call were made
                cause = Cause(Reason.STATE_CHANGED, "captured state")
            number = self._add(differentiate_first, traced, arguments, plain, state, outputs)
            if (
                number in (Cause(Reason.DISAGREES), Cause(Reason.DIFFERS)) and varying
            ):  # the function may have asked what an int is
                self._unreadable |= varying.everything()
                varying = varying.without(varying.everything())
                continue
            self._causes[cause] += 1
            if isinstance(number, Cause):
                self._give_up(shape, number)
                return answer
            if number in self._examples:
                if self.conversions:
                    self._drop_unconverted(number)
                    self._drop_conversion_in_vain(self._examples[number])
                self._untraceable.succeeded(shape)
                self._watch_for_a_storm(number, cause)
                return None
            if passed is not None:
                self._cache.drop(number)
                self._give_up(shape, Cause(Reason.DISAGREES))
                return answer
            passed = number  # as long as there is that program, a trace finds the parameter among the arguments

    def _trace(
        self,
        arguments: tuple[Any, ...],
        differentiate_first: bool,
        plain_call: bool,
        held: Snapshot,
        described: Described | None,
        varying: Varying,
    ) -> Traced | Cause:
        """Record a call, of converted code where that can be; what cannot be converted then is not tried again."""

        def run(described: Described | None) -> Traced | Cause:
            return trace(
                self._function,
                arguments,
                differentiate_first,
                self.captured.asks,
                several=plain_call,
                described=described,
                as_number=not plain_call,
                functions=self.captured.functions,
                exact=self._options.exact,
                varying=varying,
            )

        if varying.optional or varying.members:
            self.conversions.read_optional()
        if varying.lengths:
            self.conversions.read_lengths()
        if (found := self.converted(lambda: run(None), held)) is not None:
            if isinstance(found, Traced):
                found.recording.conversion = self.conversions.state
            return found
        traced = run(described)
        self._budget.measured(traced.recording.length if isinstance(traced, Traced) else 0)
        return traced

    def converted(self, run: Callable[[], Traced | Cause], held: Snapshot | None = None) -> Traced | Cause | None:
        """What a trace gives with the code that is converted now; None if none is."""
        changed, held = self.captured.change_by_function, held or self.captured.snapshot()
        return self.conversions.run(
            Tracing(self.captured.functions, run, guards_of, self._budget, changed, held.restore)
        )

    def _varying(self, differentiate_first: bool, described: Described | None) -> Varying:
        """The ints that a call has otherwise than the last ones of its kind, or than those before."""
        asks = self.captured.asks
        if described is None or asks.identity is not None or asks.types:
            return CONSTANT
        reads_lengths = self._reads_lengths and not self.conversions.refuses_lengths
        examples = [one for one in [*self._examples.values()] if one.differentiate_first == differentiate_first]
        for example in examples[: -_LAST - 1 : -1] if reads_lengths else examples[::-1]:
            if not reads_lengths and not example.signature.may_vary_from(described.signature):
                continue
            compare = between_lengths if reads_lengths else between
            found = compare(example.signature.spec, described.signature.spec)
            if found is not None:
                together = example.signature.varying.together(found)
                now = (together.all_of() if self._reads_plain_ints else together).without(self._unreadable)
                if self._options.exact or self.conversions.refuses_optional:
                    now = now.without_more()
                now = now.without_lengths(self._whole_lists if reads_lengths else now.everything())
                if all(one.signature.varying.columns != now.columns for one in [*self._examples.values()]):
                    self._storm.learned()
                return now
        return CONSTANT

    def _left_varying(self, traced: Traced | Cause, varying: Varying) -> Varying:
        """Those of the ints that vary which a trace did not want as plain ones."""
        if isinstance(traced, Cause) or traced.obstacle is not None:
            self._unreadable |= varying.everything()
            return varying.without(varying.everything())
        columns = traced.signature.columns
        self._whole_lists |= traced.recording.compared_among(columns, varying.lengths)
        varying = varying.without_lengths(self._whole_lists)
        return varying if self._reads_plain_ints else varying.without(traced.recording.plain_among(columns))

    def _learns(self, traced: Traced | Cause, differentiate_first: bool) -> bool:
        """Whether there is more to convert, since a comparison has decided otherwise once more."""
        if isinstance(traced, Cause) or self._options.exact:  # gradients of arms add up in another order
            return False
        signature = traced.signature
        alike = [
            example.decided
            for example in [*self._examples.values()]
            if example.differentiate_first == differentiate_first and example.signature.is_like(signature)
        ]
        return self.conversions.learn([*alike, traced.recording.decided()])

    def _learn_from_departures(self) -> None:
        """Which tests of converted code have come out otherwise in this call, which is traced next."""
        for number, guard in self._cache.departures():
            example = self._examples.get(number)
            if example is not None and example.conversion is not None:
                one = example.decided.guards[guard]
                if one.where is not None and one.purpose is Purpose.DECIDES:
                    self.conversions.departed((one.where.file, one.where.line), example.decided)

    def _drop_unconverted(self, number: int) -> None:
        """Forget programs that others would be compared by, and that do less than the new one.

        They have guards that the converted code has no more, or fewer iterations of loops. Where the new one decides
        otherwise than they do even so, each of them may answer the calls that it was made for.
        """
        new = self._examples[number]
        others = {one: each for one, each in list(self._examples.items()) if one != number}
        turning = flipping([new.decided, *(each.decided for each in others.values())])
        is_whole = turning.isdisjoint(new.decided.by_line)
        for one, example in others.items():
            is_shorter = example.lengthened < new.lengthened and example.decided.ends_loops and example.is_like(new)
            if is_shorter or (is_whole and self.conversions.concerns(example.decided)):
                self._cache.drop(one)
                self._examples.pop(one, None)  # another thread may have called clear()

    def _drop_conversion_in_vain(self, new: Example) -> None:
        """Trace the code as it is from now on, if converted code has given larger programs, and no fewer."""
        like = [(one, each.conversion) for one, each in list(self._examples.items()) if each.is_like(new)]
        converted = [one for one, conversion in like if conversion == new.conversion]
        if new.conversion is None or len(converted) < _IN_VAIN or len(converted) == len(like):
            return
        nodes = {fact["number"]: int(fact["nodes"]) for fact in self._cache.facts()}
        plain = [nodes.get(one, 0) for one, conversion in like if conversion is None]
        if plain and min(nodes.get(one, 0) for one in converted) > _LARGER * max(plain):
            self.conversions.give_up()
            for one in converted:
                self._cache.drop(one)
                self._examples.pop(one, None)

    def _capture(
        self, differentiate_first: bool, arguments: tuple[Any, ...], as_number: bool
    ) -> tuple[int, Described | None]:
        """The number of the state that a call of these arguments depends on; and their description."""
        asks = self.captured.asks
        while True:
            recorder = Recorder(asks.identity is not None, as_number=as_number, wants_ints=asks.types)
            try:
                signature = signature_of(arguments, recorder, differentiate_first, asks.identity, asks.missing)
                described: Described | None = Described(recorder, signature, asks)
                objects = signature.objects
            except (Unsuitable, TypeError):  # the plain run says what is wrong
                described, objects = None, []
            state = self.captured.capture(objects)
            if asks == self.captured.asks:
                return state, described
            asks = self.captured.asks

    def _give_up(self, shape: tuple[Any, ...], cause: Cause) -> None:
        self._causes[cause] += 1
        self._untraceable.failed(shape, cause)
        if cause.reason is Reason.DIFFERS:
            self.notices.once("eager", runs_as_it_is(self._function, "its program gave other numbers than it does"))
        if cause.reason in (Reason.GRAPH_BREAK, Reason.SEVERAL_RESULTS, Reason.TRACING_RAISED):
            why = str(cause).removeprefix("run eagerly").lstrip(":, ").removeprefix("graph break: ")
            self.notices.once("eager", runs_as_it_is(self._function, why))

    def _watch_for_a_storm(self, number: int, cause: Cause) -> None:
        is_storm = self._storm.traced(number, cause.reason is Reason.NEW_ARGUMENTS)
        few = self._storm.fruitless(_FEW_TRACES) == _FEW_TRACES
        if not self._reads_plain_ints and any(one.signature.varying.plain for one in [*self._examples.values()]):
            if is_storm or (few and cause.reason is Reason.NEW_ARGUMENTS):
                self._reads_plain_ints = True  # and selects by them, where it can
                self._storm.forget()
            return
        if not is_storm:
            return
        waits = self._storm.waits_for_structures
        difference = self._difference(number) if cause.reason is Reason.NEW_ARGUMENTS else ""
        if waits and not self._reads_lengths and IS_LONGER in difference:  # there may be few lengths, or one program
            return
        turning, where, obstacle = self._decisive_line()
        if difference or not (turning or cause.reason is Reason.GUARD_FAILED):
            where = obstacle = ""
        self.notices.once("storm", traced_in_vain(self._function, str(cause), where, obstacle, difference, waits))
        if turning and self._storm.is_repeated():
            self.conversions.give_up()  # what is converted makes programs larger, and no fewer

    def awaits_another(self, differentiate_first: bool, arguments: tuple[Any, ...]) -> bool:
        """Whether a call of new arguments is traced if one like it comes again, and not yet."""
        structures = self._storm.structures
        if not structures.is_new(differentiate_first, arguments):
            return False
        if self._reads_lengths or not structures.are_many:
            return True
        self._reads_lengths = True
        self._storm.forget()
        return False

    def _note_postponed(self) -> None:
        """Warn where most calls run eagerly because a program for them would take longer to make than they took."""
        postponed = self._causes[Cause(Reason.POSTPONED)] + 1
        if postponed >= _MANY_POSTPONED and 2 * postponed > self._storm.calls() and self.notices.is_new("storm"):
            _, where, obstacle = self._decisive_line()
            self.notices.once("storm", not_worth_a_program(self._function, where, obstacle))

    def _decisive_line(self) -> tuple[bool, str, str]:
        """Whether comparisons come out otherwise from program to program; where most do, and why they must decide."""
        programs = [example.decided for example in [*self._examples.values()]]
        turning = flipping(programs)
        line = most_decided(programs, turning)
        return bool(turning), *((str(line), self.conversions.reason((line.file, line.line))) if line else ("", ""))

    def _difference(self, number: int) -> str:
        """What the arguments of a new program's call have otherwise than those of the one before."""
        from .reports.differences import first_difference  # few functions need it

        new = self._examples.get(number)
        if new is None:  # it has been dropped again
            return ""
        others = [each for one, each in list(self._examples.items()) if one != number]
        same = [each.arguments for each in others if each.differentiate_first == new.differentiate_first]
        return first_difference(same[-1], new.arguments) if same else ""

    def _obstacle(self, plain: Result, effects: Effects, plain_call: bool) -> Cause | None:
        """Why a call is not worth tracing, if that is known from the plain run."""
        if effects.first:
            return Cause(Reason.GRAPH_BREAK, effects.first)
        if change := self.captured.change_by_function():
            return Cause(Reason.GRAPH_BREAK, change)
        if self.captured.graph_break:
            return Cause(Reason.GRAPH_BREAK, self.captured.graph_break)
        if not isinstance(plain.root, Value) and not is_number(plain.root):
            leaves = leaves_of(plain.root) if plain_call else None
            if leaves is None or is_single(plain.root):
                return Cause(Reason.SEVERAL_RESULTS)
        return None

    def forget(self) -> None:
        """Drop every specialization."""
        for number, _, _ in self._cache.inventory():
            self._cache.drop(number)
        self._examples.clear()
        self.conversions, self._budget = Conversions(), Budget(self._storm.calls)
        self._reads_plain_ints = self._reads_lengths = False
        self._unreadable = self._whole_lists = frozenset()
        self._untraceable.forget()
        self._storm.forget()

    def _add(
        self,
        differentiate_first: bool,
        traced: Traced,
        arguments: tuple[Any, ...],
        plain: Result,
        state: int,
        outputs: Outputs | None,
    ) -> int | Cause:
        """Compile what was traced. The number of the specialization, if it gives the plain run's numbers.

        Where an argument turned out to be a parameter, it has no example, and answers nothing.
        """
        made_of = traced.recording.conversion, traced.signature.varying.columns
        code = self._codes.setdefault(made_of, len(self._codes))
        request = CompileRequest(traced.recording, traced.signature, differentiate_first, self._options, state, code)
        try:
            number = self._cache.add(request)
        except NotImplementedError as problem:
            return Cause(Reason.UNSUPPORTED, str(problem))
        except IndexError:  # the cache has dropped the state: another thread has captured a newer one
            return Cause(Reason.STATE_CHANGED, "captured state")
        recording = traced.recording
        del request
        recording.forget_nodes()
        traced.signature.forget_tracers()
        try:
            if traced.signature.aliases_a_parameter:
                return number
            originals = traced.signature.originals
            found = difference(self._cache, number, traced.signature, originals, arguments, plain, outputs)
        except BaseException:
            self._cache.drop(number)
            raise
        if found.distance > self._tolerance:
            self._cache.drop(number)
            return found.cause
        kind = None if isinstance(plain.root, Value) else _number_kind(plain.root, recording.is_int)
        how = self.conversions.lengthened, recording.conversion
        self._examples[number] = Example(
            differentiate_first, arguments, traced.signature, kind, outputs, recording.decided(), *how, found.largest
        )
        is_for_many = recording.conversion is not None or traced.signature.varying
        self._cache.await_comparisons(number, LATER_OF_MANY if is_for_many else LATER)
        self.tier_up.added()
        if recording.conversion is not None:
            self.tier_up.await_code(number, self._budget.plain // BYTES_OF_NODE)
        self._drop_least_recently_used()
        return number

    def _drop_least_recently_used(self) -> None:
        """Make room: those that have not been used for longest rest first, and are dropped if that is not enough."""
        oldest_first = self._cache.inventory()[::-1]
        total = sum(weight for _, weight, _ in oldest_first)
        weights = {}
        for number, weight, _ in oldest_first:
            weights[number] = self._cache.rest(number) if total > BYTES else weight
            total += weights[number] - weight
        for place, (number, _, hits) in enumerate(oldest_first[:-1]):
            if total > BYTES or len(oldest_first) - place > LIMIT:
                self._cache.drop(number)
                self._storm.dropped(number, hits)
                total -= weights[number]
        living = {number for number, _, _ in self._cache.inventory()}
        self._examples = {number: example for number, example in [*self._examples.items()] if number in living}

    def verify(self, method: Method, arguments: tuple[Any, ...]) -> None:
        """Compare the specialization that would answer a call with a plain run. Raises VerificationError."""
        number, example = self._standing(method, arguments)
        if example is None:
            return
        plain = self._eager.run(arguments, method.differentiates_first)
        if self._difference_of(number, example, method, arguments, plain).distance > self._tolerance:
            raise errors.not_the_function(self._function, number)

    def compare(self, method: Method, arguments: tuple[Any, ...], recorded: bool = True) -> Result | None:
        """Compare the specialization that would answer a call with the function, if it is to be compared again.

        None where it may answer. Otherwise what the plain run gave: the specialization was not the function, and is
        dropped.
        """
        number, example = self._standing(method, arguments)
        if example is None or not self._cache.take_comparison(number):
            return None
        first, call = method.differentiates_first, (self._cache, number, arguments, example.outputs)
        before = numbers_of(*call)
        try:
            plain = self._eager.run(arguments, first)
            try:
                found = self._difference_of(number, example, method, arguments, plain, by_nodes=True)
            except errors.ChangedValueError:
                return None
            if found.distance <= self._tolerance or numbers_of(*call) != before:  # another thread trains
                return None
            self._is_not_the_function(number, example, found.cause, (first, *map(type, arguments)))
            return plain if recorded else _recorded(False, lambda: self._eager.run(arguments, first))
        except BaseException:
            self._cache.drop(number)
            raise

    def _standing(self, method: Method, arguments: tuple[Any, ...]) -> tuple[int, Example | None]:
        """The specialization that would answer a call, with its example; None if there is none."""
        number = self._cache.standing(method.differentiates_first, method is Method.CALL, arguments)
        return (-1, None) if number is None else (number, self._examples.get(number))

    def _difference_of(
        self,
        number: int,
        example: Example,
        method: Method,
        arguments: tuple[Any, ...],
        plain: Result,
        by_nodes: bool = False,
    ) -> Difference:
        """How far a specialization, or its trace, is from a plain run of a call that it would answer."""
        if example.outputs is None:
            is_value = isinstance(plain.root, Value)
            same_kind = method is not Method.CALL or is_value == (example.number is None)
            if not _is_result(plain.root, method is Method.CALL) or not same_kind:
                return UNKNOWN
        first, signature, asks = method.differentiates_first, example.signature, self.captured.asks
        now = signature_of(arguments, Recorder(), first, asks.identity, asks.missing, signature.varying)
        if now.originals.keys() != signature.originals.keys():  # one Value twice, which has one gradient
            return Difference(0.0)
        call = now.originals, arguments, plain, example.outputs
        return difference(self._cache, number, signature, *call, example.largest, by_nodes)

    def _is_not_the_function(self, number: int, example: Example, cause: Cause, shape: tuple[Any, ...]) -> None:
        """Drop a specialization that gave something else than the function; and those like it, if by far."""
        others = [*self._examples.items()] if cause.reason is Reason.DIFFERS else [(number, example)]
        for one, each in others:
            if each.is_like(example):
                self._cache.drop(one)
                self._examples.pop(one, None)
        varying = example.signature.varying
        if varying:  # the function may have asked what an int is
            self._unreadable |= varying.everything()
            self._causes[cause] += 1
        else:
            self._give_up(shape, cause)

    @property
    def _tolerance(self) -> float:
        return 0.0 if self._options.exact else TOLERANCE


def _is_result(root: Any, plain_call: bool) -> bool:
    """Whether a program can give what the function returned: a Value or a number, in a call no int of NumPy's."""
    return isinstance(root, Value) or (is_number(root) and not (plain_call and isinstance(root, np.integer)))


def _number_kind(number: object, is_int: bool) -> type:
    """As what a program's plain number is returned; ``is_int`` where it is an int in each call."""
    return int if is_int else np.float64 if type(number) is np.float64 else float
