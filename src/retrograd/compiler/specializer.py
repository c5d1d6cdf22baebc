"""Specializations: a call is traced, compiled for its structure, compared with the engine, and kept for later calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.numbers import is_number
from .backoff import Storm, Untraceable
from .calls.arguments import Unsuitable, signature_of
from .calls.eager import EagerRunner, Method, Result
from .calls.effects import noting_effects
from .calls.outputs import Outputs, is_single, leaves_of, odd_one
from .calls.varying import CONSTANT, Varying
from .comparison import TOLERANCE, Comparisons, difference, is_result
from .examples import Example, Examples
from .guards.captured_state import CapturedState
from .guards.snapshot import Snapshot
from .guards.words import state_guards
from .if_conversion.budget import BYTES_OF_NODE, Budget
from .if_conversion.conversions import Conversions, Tracing
from .if_conversion.learning import Learning
from .reports.notices import Notices, runs_as_it_is
from .reports.reasons import Cause, Reason
from .request import CompileRequest, Options
from .storm_watch import StormWatch
from .taped.taped_calls import TapedCalls
from .tier_up import TierUp
from .tracing.followed_calls import is_traced
from .tracing.recorder import Recorder
from .tracing.selection_graph import may_be_given
from .tracing.traced_call import Described, Traced, guards_of, trace
from .varying_arguments import VaryingArguments

__all__ = ["Specializer"]

#: Why a call is traced that may decide otherwise than those before.
_OTHERWISE = (Reason.GUARD_FAILED, Reason.NEW_ARGUMENTS)

#: Where users are told that a function runs as it is.
_WARNED = (
    *(Reason.GRAPH_BREAK, Reason.SEVERAL_RESULTS, Reason.TRACING_RAISED),
    *(Reason.UNSUITABLE_ARGUMENT, Reason.UNSUPPORTED, Reason.MANY_DERIVATIVES),
)

#: In how many later calls a program is compared with the function once more: in more of them where it stands for what
#: the function does not do in each call, for the other arms of its branches and for other ints, texts and objects.
LATER, LATER_OF_MANY = 2, 3

#: A program that records so many times what the function does may be slower than code with its own branches.
_LARGER = 4


@dataclass(frozen=True)
class _Call:
    """A call that no program answers.

    Attributes:
        differentiate_first: Whether gradients are taken of the first argument instead of the parameters.
        is_plain: Whether it may have several results; else it is a pass, which gives a number and gradients.
        is_recorded: Whether its result is; not inside ``no_grad``.
    """

    arguments: tuple[Any, ...]
    differentiate_first: bool
    is_plain: bool
    is_recorded: bool

    @property
    def shape(self) -> tuple[Any, ...]:
        """What is known of its kind before its arguments are described."""
        return self.differentiate_first, *map(type, self.arguments)


@dataclass
class _Attempt:
    """What is known of a call before it is traced.

    Attributes:
        cause: Why it is traced.
        is_otherwise: Whether it may decide otherwise than those before.
        state: The number of the captured state that it depends on.
        held: That state, which a trace must leave as the plain run did.
        answer: What the plain run gave, which answers the call if no program can.
        plain: What a program is compared with: that, or inside ``no_grad`` a run that has gradients.
    """

    call: _Call
    cause: Cause
    is_otherwise: bool
    state: int
    held: Snapshot
    answer: Result
    plain: Result


def _recorded(recording: bool, run: Callable[[], Result]) -> Result:
    """What ``run`` gives while operations are recorded, or are not."""
    before = engine.set_recording(recording)
    try:
        return run()
    finally:
        engine.set_recording(before)


class Specializer:
    """Makes the specializations of one compiled function, and compares them with it again in later calls."""

    def __init__(
        self,
        function: Callable[..., Any],
        cache: engine.SpecializationCache,
        options: Options,
        eager: EagerRunner,
        causes: Counter[Cause],
        taped: TapedCalls,
    ) -> None:
        self._function, self._cache, self._options = function, cache, options
        self._eager, self._causes, self._taped = eager, causes, taped
        self._notices = Notices()
        self.captured: CapturedState = CapturedState(cache, function, self._notices)
        interpreted = options.exact and options.tier == "auto"
        tier = "interpreter" if interpreted else options.tier
        self.tier_up: TierUp = TierUp(cache, tier, causes, self._offer_taped)
        self._tolerance = 0.0 if options.exact else TOLERANCE
        self._codes: dict[tuple[Any, ...], int] = {}  # numbers of converted code, and of what it reads
        self._untraceable, self._storm = Untraceable(), Storm(cache)
        self._examples = Examples(cache)
        self._comparisons = Comparisons(
            function, cache, self._examples, eager, self.captured, self._tolerance, self._refuted
        )
        self._begin()

    def _begin(self) -> None:
        """Nothing has been learned of the function's calls."""
        self.conversions: Conversions = Conversions()
        self._budget = Budget(self._storm.calls)
        self._learning = Learning(self._cache, self._examples, self.conversions, self._storm)
        self._varying = VaryingArguments(self._examples, self.conversions, self._storm, self._options.exact)
        self._watch = StormWatch(
            self._function,
            self._storm,
            self._examples,
            self.conversions,
            self._varying,
            self._notices,
            self._taped,
        )

    def example(self, number: int) -> Example | None:
        """The call that a specialization was traced from; None if it has been forgotten since."""
        return self._examples.get(number)

    def guards(self) -> str:
        """What each specialization takes for granted, as text."""
        return "\n".join([*self._examples.guards(), state_guards(self.captured.paths, [*self.captured.frozen])])

    def awaits_another(self, differentiate_first: bool, arguments: tuple[Any, ...]) -> bool:
        """Whether a call of new arguments is traced if one like it comes again, and not yet."""
        return self._watch.awaits_another(differentiate_first, arguments)

    def pause(self, calls: int) -> None:
        """So many of the next calls run as they are."""
        self._storm.pause(calls)

    def forget(self) -> None:
        """Drop every specialization."""
        self._examples.clear()
        self._begin()
        self._untraceable.forget()
        self._storm.forget()

    # --- a new specialization

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
        call = _Call(arguments, differentiate_first, plain_call, recorded)
        if (cause := self._untraceable.waits(call.shape)) is not None:
            return self._as_it_is(call, cause)
        self._watch.review()
        if reason in _OTHERWISE and self.conversions and self._budget.is_spent():
            self._watch.postponed(self._causes)
            return self._as_it_is(call, Cause(Reason.POSTPONED))
        change = self.captured.change()  # what the runs below change themselves is no reason to trace again
        state, described = self._capture(call)
        varying = self._varying_in(call, described)
        reads = self.captured.generators, self.captured.frozen
        answer, effects = noting_effects(lambda: self._as_it_is(call), self._function, arguments, *reads)
        changed = self.captured.change_by_function()
        if (obstacle := self._obstacle(call, answer, effects.first or changed)) is not None:
            self._give_up(call, obstacle, may_be_last=not effects.first and self.captured.keeps_a_result)
            return answer
        if self.captured.has_new_results:
            state, again = self._capture(call)
            described = described and again
            if (obstacle := self._obstacle(call, answer, "")) is not None:
                self._examples.clear()  # programs, which ask no cache
                self._give_up(call, obstacle)
                return answer
        plain = answer if recorded else _recorded(True, lambda: self._eager.run(arguments, differentiate_first))
        held, is_otherwise = self.captured.snapshot(), reason in _OTHERWISE
        attempt = _Attempt(call, _cause(reason, change), is_otherwise, state, held, answer, plain)
        if reason is Reason.GUARD_FAILED:
            self._learning.learn_from_departures()
        made = self._made(attempt, described if not varying else None, varying)
        if isinstance(made, Cause):
            self._give_up(call, made)
            return attempt.answer
        if (example := self._examples.get(made)) is not None:
            self._learning.drop_needless(made, example)
        self._untraceable.succeeded(call.shape)
        self._watch.traced(made, attempt.cause)
        return None

    def _as_it_is(self, call: _Call, cause: Cause | None = None) -> Result:
        return _recorded(call.is_recorded, lambda: self._eager.run(call.arguments, call.differentiate_first, cause))

    def _capture(self, call: _Call) -> tuple[int, Described | None]:
        """The number of the state that a call of these arguments depends on; and their description."""
        asks = self.captured.asks
        while True:
            recorder = Recorder(asks.identity is not None, as_number=not call.is_plain, wants_ints=asks.types)
            try:
                first, is_plain = call.differentiate_first, call.is_plain
                signature = signature_of(call.arguments, recorder, first, asks, CONSTANT, is_plain)
                described: Described | None = Described(recorder, signature, asks)
                objects = signature.objects
            except (Unsuitable, TypeError):  # the plain run says what is wrong
                described, objects = None, []
            state = self.captured.capture(objects)
            if asks == self.captured.asks:
                return state, described
            asks = self.captured.asks

    def _varying_in(self, call: _Call, described: Described | None) -> Varying:
        """What a call has otherwise than those before, and can be read."""
        asks = self.captured.asks
        if described is None or asks.identity is not None or asks.types:
            return CONSTANT
        return self._varying.of(call.differentiate_first, described.signature)

    def _obstacle(self, call: _Call, plain: Result, effect: str) -> Cause | None:
        """Why a call is not worth tracing, if the plain run shows it; ``effect``: what that did, or changed."""
        if what := effect or self.captured.graph_break:
            return Cause(Reason.GRAPH_BREAK, what)
        if not isinstance(plain.root, Value) and not is_number(plain.root):
            leaves = leaves_of(plain.root) if call.is_plain else None
            if leaves is None or plain.root is None or is_single(plain.root):
                odd = odd_one(plain.root)
                return Cause(Reason.SEVERAL_RESULTS, odd and f": {odd}")
        return None

    def _give_up(self, call: _Call, cause: Cause, may_be_last: bool = False) -> None:
        self._causes[cause] += 1
        self._cannot_be_traced(call.shape, cause, may_be_last)

    def _cannot_be_traced(self, shape: tuple[Any, ...], cause: Cause, may_be_last: bool = False) -> None:
        """``may_be_last``: an object has kept what it computes once. Users are warned if the function does more."""
        if self._untraceable.failed(shape, cause) == 1 and may_be_last:
            return
        if cause.reason is Reason.DIFFERS:
            self._notices.once("eager", runs_as_it_is(self._function, "its program gave other numbers than it does"))
        if cause.reason in _WARNED:
            why = str(cause).removeprefix("run eagerly").lstrip(":, ").removeprefix("graph break: ")
            self._notices.once("eager", runs_as_it_is(self._function, why))

    # --- its trace

    def _made(self, attempt: _Attempt, described: Described | None, varying: Varying) -> int | Cause:
        """The number of a specialization that answers the call, or why there is none."""
        passed: int | None = None  # a program to which an argument that is a parameter is not known as one
        while True:
            try:
                traced = self._traced(attempt, described, varying)
            finally:
                if passed is not None:
                    self._cache.drop(passed)
            described = None
            if isinstance(traced, Cause):
                return traced
            outputs = _outputs(attempt, traced)
            if isinstance(outputs, Cause):
                return outputs
            varying = traced.signature.varying
            number = self._add(attempt, traced, outputs)
            if number in (Cause(Reason.DISAGREES), Cause(Reason.DIFFERS)) and varying:
                varying = self._varying.without(varying)  # the function may have asked what an int is
                continue
            self._causes[attempt.cause] += 1
            if isinstance(number, Cause) or number in self._examples:
                return number
            if passed is not None:
                self._cache.drop(number)
                return Cause(Reason.DISAGREES)
            passed = number  # as long as there is that program, a trace finds the parameter among the arguments

    def _traced(self, attempt: _Attempt, described: Described | None, varying: Varying) -> Traced | Cause:
        """A trace in which everything is converted, and read, that can be; it has changed nothing."""
        call = attempt.call
        traced = self._trace(attempt, described, varying)
        if varying and (left := self._varying.left_by(traced, varying)) != varying:
            varying = left
            traced = self._trace(attempt, None, varying)
        # In exact mode nothing is converted: the gradients of arms add up in another order.
        learns = attempt.is_otherwise and not self._options.exact
        if learns and isinstance(traced, Traced) and self._learning.learns_from(traced, call.differentiate_first):
            traced = self._trace(attempt, None, varying)
        if isinstance(traced, Traced):
            traced.signature.varying = varying
        if changed := self.captured.change_by_function():  # to what was there in the plain run
            attempt.held.restore()
            if self.captured.change_by_function():  # an attribute that is new
                attempt.answer = self._as_it_is(call)  # puts numbers where there are tracers
            return Cause(Reason.GRAPH_BREAK, changed)
        return traced.obstacle or traced if isinstance(traced, Traced) else traced

    def _trace(self, attempt: _Attempt, described: Described | None, varying: Varying) -> Traced | Cause:
        """Record a call, of converted code where that can be; what cannot be converted then is not tried again."""
        call = attempt.call

        def run(described: Described | None) -> Traced | Cause:
            with self.captured.keeping_nothing(is_traced):
                return trace(
                    self._function,
                    call.arguments,
                    call.differentiate_first,
                    self.captured.asks,
                    several=call.is_plain,
                    described=described,
                    as_number=not call.is_plain,
                    functions=self.captured.functions,
                    exact=self._options.exact,
                    varying=varying,
                )

        self.conversions.read_optional(bool(varying.optional or varying.members))
        if (found := self.converted(lambda: run(None), attempt.held)) is not None:
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

    def _add(self, attempt: _Attempt, traced: Traced, outputs: Outputs | None) -> int | Cause:
        """Compile what was traced. The number of the specialization, if it gives the plain run's numbers.

        Where an argument turned out to be a parameter, it has no example, and answers nothing.
        """
        first, recording, signature = attempt.call.differentiate_first, traced.recording, traced.signature
        made_of = recording.conversion, signature.varying.columns
        code = self._codes.setdefault(made_of, len(self._codes))
        is_larger = recording.conversion is not None and recording.length > _LARGER * self._budget.plain
        request = CompileRequest(recording, signature, first, self._options, attempt.state, code)
        try:
            number = self._cache.add(request)
        except NotImplementedError as problem:
            return Cause(Reason.UNSUPPORTED, str(problem))
        except IndexError:  # the cache has dropped the state: another thread has captured a newer one
            return Cause(Reason.STATE_CHANGED, "captured state")
        del request
        hands_on = _hands_on(traced)
        recording.forget_nodes()
        signature.forget_tracers()
        arguments, plain = attempt.call.arguments, attempt.plain
        try:
            if signature.aliases_a_parameter:
                return number
            found = difference(self._cache, number, signature, signature.originals, arguments, plain, outputs)
        except BaseException:
            self._cache.drop(number)
            raise
        if found.distance > self._tolerance:
            self._cache.drop(number)
            return found.cause
        kind = None if isinstance(plain.root, Value) else _number_kind(plain.root, recording.is_int)
        how = self.conversions.lengthened, recording.conversion, found.largest, recording.label, hands_on
        self._examples.add(number, Example(first, arguments, signature, kind, outputs, recording.decided(), *how))
        is_for_many = recording.conversion is not None or signature.varying
        self._cache.await_comparisons(number, LATER_OF_MANY if is_for_many else LATER)
        self.tier_up.added()
        if recording.conversion is not None:
            self.tier_up.await_code(number, self._budget.plain // BYTES_OF_NODE)
        if is_larger:
            self._taped.is_offered(first, arguments)  # which may be faster
        for dropped, hits in self._examples.drop_least_recently_used():
            self._storm.dropped(dropped, hits)
        return number

    def _offer_taped(self, number: int) -> None:
        """Have taped code made for the calls of a program that is slow."""
        if (example := self._examples.get(number)) is not None:
            self._taped.is_offered(example.differentiate_first, example.arguments)

    # --- later calls

    def verify(self, method: Method, arguments: tuple[Any, ...]) -> None:
        """Compare the specialization that would answer a call with a plain run. Raises VerificationError."""
        self._comparisons.verify(method, arguments)

    def compare(self, method: Method, arguments: tuple[Any, ...], recorded: bool = True) -> Result | None:
        """Compare the specialization that would answer a call with the function, if it is to be compared again.

        None where it may answer. Otherwise what the plain run gave: the specialization was not the function, and is
        dropped.
        """
        plain = self._comparisons.compare(method, arguments)
        if plain is None or recorded:
            return plain
        return _recorded(False, lambda: self._eager.run(arguments, method.differentiates_first))

    def _refuted(self, example: Example, cause: Cause, shape: tuple[Any, ...]) -> None:
        """A specialization gave something else than the function in a later call."""
        self._causes[cause] += 1
        if example.signature.varying:  # the function may have asked what an int is
            self._varying.without(example.signature.varying)
        else:
            self._cannot_be_traced(shape, cause)


def _hands_on(traced: Traced) -> bool:
    """Whether a result may be a Value as it is, of the arguments or another one that the function reads."""
    recording, signature = traced.recording, traced.signature
    results = recording.outputs or [one for one in (recording.result,) if isinstance(one, Value)]
    numbers = {id(leaf) for leaf, active in zip(signature.inputs, signature.are_active, strict=True) if not active}
    return may_be_given(results, recording.selections, numbers)


def _cause(reason: Reason, change: str) -> Cause:
    """Why a call is traced; ``change``: what has changed of captured state, if anything has."""
    if change:
        return Cause(Reason.STATE_CHANGED, change)
    # If it has changed, then since the programs of this kind of call were made.
    return Cause(reason, "captured state") if reason is Reason.STATE_CHANGED else Cause(reason)


def _outputs(attempt: _Attempt, traced: Traced) -> Outputs | Cause | None:
    """The results of a function that has several; a cause where a trace gives something else than the plain run."""
    if traced.recording.tree is not None:
        return Outputs.matching(traced.recording.tree, attempt.plain.root) or Cause(Reason.DISAGREES)
    return None if is_result(attempt.plain.root, attempt.call.is_plain) else Cause(Reason.DISAGREES)


def _number_kind(number: object, is_int: bool) -> type:
    """As what a program's plain number is returned; ``is_int`` where it is an int in each call."""
    return int if is_int else np.float64 if type(number) is np.float64 else float
