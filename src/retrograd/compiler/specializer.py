"""Specializations: a call is traced, compiled for its structure, compared with the engine, and kept for later calls."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import engine, errors
from ..engine import Value
from ..engine.numbers import is_number
from .eager import EagerRunner, Result, number_of
from .effects import Effects, noting_effects
from .guards.invalidation import Captured
from .reasons import Cause, Reason
from .recorder import Recorder
from .recording import Recording
from .request import CompileRequest, Options
from .signature import Signature, Unsuitable, signature_of
from .tier_up import TierUp

__all__ = ["LIMIT", "TOLERANCE", "Example", "Specializer", "Traced", "trace"]

#: The most specializations that one function keeps. Beyond them, the least recently used one is dropped.
LIMIT = 256

#: How far a new program's value may be from the engine's, relative to the value (or 1), and its gradients, relative to
#: the largest of them. A program that is further away is dropped.
TOLERANCE = {"float64": 1e-7, "float32": 5e-3}


class Example(NamedTuple):
    """The call that a specialization was traced from."""

    differentiate_first: bool
    arguments: tuple[Any, ...]
    objects: list[Any]  #: the arguments that must be the same objects, whose attributes are guarded
    gives_a_number: bool  #: whether the function returned a plain number, and not a Value


class Traced(NamedTuple):
    """A recorded call that can be compiled, or ``obstacle`` says why it cannot."""

    recording: Recording
    signature: Signature
    obstacle: Cause | None


def trace(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    differentiate_first: bool,
    by_identity: bool = False,
    want_sources: bool = False,
) -> Traced | Cause:
    """Record one call, with the user's lines on request. A Cause means that the function did not run to its end."""
    recorder = Recorder(pure=True)
    try:
        signature = signature_of(arguments, recorder, differentiate_first, by_identity)
    except Unsuitable as problem:
        return Cause(Reason.UNSUITABLE_ARGUMENT, str(problem))
    try:
        recording = recorder.run(function, signature.tracers, want_sources)
    except (errors.TracedIndexError, errors.LeakedTraceError, MemoryError):
        raise
    except Exception as error:
        # The plain run did not raise this: a tracer could not do what its number can.
        return Cause(Reason.TRACING_RAISED, type(error).__name__)
    return Traced(recording, signature, _obstacle(recording))


def _obstacle(recording: Recording) -> Cause | None:
    if recording.graph_breaks:
        return Cause(Reason.GRAPH_BREAK, recording.graph_breaks[0].rstrip("."))
    if not isinstance(recording.result, Value):
        return Cause(Reason.CONSTANT_RESULT)
    return None


@dataclass(slots=True)
class _Waiting:
    """Calls of one kind run eagerly for a while, because the last one could not be compiled."""

    cause: Cause
    rounds: int
    calls: int  #: how many more


#: After so many failures in a row the number of calls between two attempts stays the same.
_MOST_ROUNDS = 10


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
        self._captured = Captured(cache, function)
        interpreted = options.exact and options.tier == "auto"
        self.tier_up = TierUp(cache, "interpreter" if interpreted else options.tier, options.float32)
        self._examples: dict[int, Example] = {}
        self._waiting: dict[tuple[Any, ...], _Waiting] = {}  # by the kinds of the arguments

    def example(self, number: int) -> Example:
        """The call that a specialization was traced from."""
        return self._examples[number]

    def specialize(self, differentiate_first: bool, arguments: tuple[Any, ...], reason: Reason) -> Result | None:
        """Run the function as it is, trace it, and add a specialization that gives what the plain run gave.

        None when there is one now, which has not answered the call yet. Otherwise what the plain run returned.
        """
        shape = differentiate_first, *map(type, arguments)
        if (waiting := self._waiting.get(shape)) is not None and waiting.calls > 0:
            waiting.calls -= 1
            return self._eager.run(arguments, differentiate_first, waiting.cause)
        changed = self._captured.look()  # what the runs below change themselves is no reason to trace again
        with noting_effects() as effects:
            plain = self._eager.run(arguments, differentiate_first)
        while True:
            obstacle = self._obstacle(plain, effects)
            traced = obstacle or trace(self._function, arguments, differentiate_first, self._captured.tests_identity)
            if isinstance(traced, Traced) and traced.obstacle is not None:
                self._captured.give_up(differentiate_first, arguments)
                traced = traced.obstacle
            if isinstance(traced, Cause):
                self._causes[traced] += 1
                self._wait(shape, traced)
                return plain
            cause = Cause(Reason.STATE_CHANGED, changed) if changed else Cause(reason)
            added = self._keep(differentiate_first, traced, arguments, plain, cause)
            if not traced.signature.aliases_a_parameter:
                return None if added else plain
            # A Value among the arguments is a parameter as well, which is known only now: trace it as one.

    def _wait(self, shape: tuple[Any, ...], cause: Cause) -> None:
        """Back off: the next call of this kind that may be traced comes after twice as many calls as the last one."""
        before = self._waiting.get(shape)
        rounds = 1 if before is None else min(before.rounds + 1, _MOST_ROUNDS)
        self._waiting[shape] = _Waiting(cause, rounds, 2**rounds)

    def _obstacle(self, plain: Result, effects: Effects) -> Cause | None:
        """Why a call is not worth tracing, if that is known from the plain run."""
        if effects.first:
            return Cause(Reason.GRAPH_BREAK, effects.first)
        if self._captured.graph_break:
            return Cause(Reason.TYPE_TEST, self._captured.graph_break)
        if not isinstance(plain.root, Value) and not is_number(plain.root):
            return Cause(Reason.SEVERAL_RESULTS)
        return None

    def _keep(
        self, differentiate_first: bool, traced: Traced, arguments: tuple[Any, ...], plain: Result, cause: Cause
    ) -> bool:
        examples = list(self._examples.values())
        self._captured.keep([*traced.signature.objects, *(thing for one in examples for thing in one.objects)])
        self._causes[cause] += 1
        return self._add(differentiate_first, traced, arguments, plain)

    def forget(self) -> None:
        """Drop every specialization."""
        for facts in self._cache.facts():
            self._cache.drop(facts["number"])
        self._examples.clear()
        self._waiting.clear()
        self._captured.forget()

    def _add(self, differentiate_first: bool, traced: Traced, arguments: tuple[Any, ...], plain: Result) -> bool:
        """Compile what was traced; whether there is now a specialization that gives the plain run's numbers."""
        try:
            number = self._cache.add(
                CompileRequest(traced.recording, traced.signature, differentiate_first, self._options)
            )
        except NotImplementedError as problem:
            self._causes[Cause(Reason.UNSUPPORTED, str(problem))] += 1
            return False
        if traced.signature.aliases_a_parameter:
            self._cache.drop(number)
            return False
        if not self._agrees(number, traced.signature, arguments, plain):
            self._cache.drop(number)
            self._causes[Cause(Reason.DISAGREES)] += 1
            return False
        kept = self._captured.settle(differentiate_first, arguments, number)
        gives_a_number = not isinstance(plain.root, Value)
        self._examples[kept] = Example(differentiate_first, arguments, traced.signature.objects, gives_a_number)
        if kept == number:
            self.tier_up.added()
            self._drop_least_recently_used()
        return True

    def _drop_least_recently_used(self) -> None:
        if len(self._examples) <= LIMIT:
            return
        living = [facts["number"] for facts in self._cache.facts()]
        for number in living[LIMIT:]:
            self._cache.drop(number)
        self._examples = {number: self._examples[number] for number in living[:LIMIT]}

    def _agrees(self, number: int, signature: Signature, arguments: tuple[Any, ...], plain: Result) -> bool:
        """Whether a new specialization gives the value and the gradients of the plain run of the same call."""
        found = self._cache.check(number, arguments)
        if found is None:
            return not math.isfinite(number_of(plain.root))  # the engine answers calls with numbers that are not finite
        if found is False:
            return False
        value, pairs = found
        expected = [0.0] * len(pairs)
        if isinstance(plain.root, Value):
            leaves = _leaves_of_plain_run(signature, plain.signature)
            expected = engine.gradients(plain.root, 1.0, [leaves.get(id(leaf), leaf) for leaf, _ in pairs])
        ours, theirs = [value, *(gradient for _, gradient in pairs)], [number_of(plain.root), *expected]
        tolerance = 0.0 if self._options.exact else TOLERANCE["float32" if self._options.float32 else "float64"]
        largest = max((abs(gradient) for gradient in expected if math.isfinite(gradient)), default=0.0)
        scales = [max(1.0, abs(theirs[0])), *[max(largest, 1e-300)] * len(expected)]
        return all(
            a == b or (a != a and b != b) or abs(a - b) <= tolerance * scale < math.inf
            for a, b, scale in zip(ours, theirs, scales, strict=True)
        )


def _leaves_of_plain_run(traced: Signature, plain: Signature) -> dict[int, Value]:
    """For each leaf that the trace made in place of an argument, by its id, the leaf of the plain run."""
    leaves = {id(traced.active_leaf(offset)): original for offset, original in traced.originals.items()}
    for ours, theirs in zip(traced.gradients, plain.gradients, strict=True):
        leaves[id(traced.leaf_of(ours))] = plain.leaf_of(theirs)
    return leaves
