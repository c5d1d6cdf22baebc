"""Specializations: a call is traced, compiled for its structure, compared with the engine, and kept for later calls."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import engine, errors
from ..engine import Value
from .eager import EagerRunner, Result
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


class Traced(NamedTuple):
    """A recorded call that can be compiled, or ``obstacle`` says why it cannot."""

    recording: Recording
    signature: Signature
    obstacle: Cause | None

    @property
    def result(self) -> Result:
        """What the function returned while it was traced."""
        return Result(self.recording.result, self.signature)


def trace(
    function: Callable[..., Any], arguments: tuple[Any, ...], differentiate_first: bool, want_sources: bool = False
) -> Traced | Cause:
    """Record one call, with the user's lines on request. A Cause means that the function did not run to its end."""
    recorder = Recorder(pure=True)
    try:
        signature = signature_of(arguments, recorder, differentiate_first)
    except Unsuitable as problem:
        return Cause(Reason.UNSUITABLE_ARGUMENT, str(problem))
    try:
        recording = recorder.run(function, signature.tracers, want_sources)
    except (errors.TracedIndexError, errors.LeakedTraceError, MemoryError):
        raise
    except Exception as error:
        # The function may raise this by itself, or because of a tracer: the eager call shows which.
        return Cause(Reason.TRACING_RAISED, type(error).__name__)
    return Traced(recording, signature, _obstacle(recording))


def _obstacle(recording: Recording) -> Cause | None:
    if recording.graph_breaks:
        return Cause(Reason.GRAPH_BREAK, recording.graph_breaks[0].rstrip("."))
    if not isinstance(recording.result, Value):
        return Cause(Reason.CONSTANT_RESULT)
    return None


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

    def example(self, number: int) -> Example:
        """The call that a specialization was traced from."""
        return self._examples[number]

    def specialize(self, differentiate_first: bool, arguments: tuple[Any, ...], reason: Reason) -> Result | None:
        """Trace one call and add a specialization for it.

        None when there is one now, which has not answered the call yet. Otherwise what the function returned.
        """
        changed = self._captured.look()
        if self._captured.graph_break:
            return self._eager.run(arguments, differentiate_first, Cause(Reason.TYPE_TEST, self._captured.graph_break))
        traced = trace(self._function, arguments, differentiate_first)
        if isinstance(traced, Cause):
            return self._eager.run(arguments, differentiate_first, traced)
        if traced.obstacle is not None:
            self._captured.give_up(differentiate_first, arguments)
            self._causes[traced.obstacle] += 1
            return traced.result
        examples = list(self._examples.values())
        self._captured.keep([*traced.signature.objects, *(thing for one in examples for thing in one.objects)])
        self._causes[Cause(Reason.STATE_CHANGED, changed) if changed else Cause(reason)] += 1
        added = self._add(differentiate_first, traced, arguments)
        if traced.signature.aliases_a_parameter:
            # A Value among the arguments is a parameter as well, which is known only now: trace it as one.
            return self.specialize(differentiate_first, arguments, reason)
        return None if added else traced.result

    def forget(self) -> None:
        """Drop every specialization."""
        for facts in self._cache.facts():
            self._cache.drop(facts["number"])
        self._examples.clear()
        self._captured.forget()

    def _add(self, differentiate_first: bool, traced: Traced, arguments: tuple[Any, ...]) -> bool:
        """Compile what was traced; whether there is now a specialization that gives the engine's numbers."""
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
        if not self._agrees(number, traced.recording.result, arguments):
            self._cache.drop(number)
            self._causes[Cause(Reason.DISAGREES)] += 1
            return False
        kept = self._captured.settle(differentiate_first, arguments, number)
        self._examples[kept] = Example(differentiate_first, arguments, traced.signature.objects)
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

    def _agrees(self, number: int, root: Value | float, arguments: tuple[Any, ...]) -> bool:
        """Whether a new specialization gives the engine's value and gradients for the call that it was traced from."""
        assert isinstance(root, Value)
        found = self._cache.check(number, arguments)
        if found is None:
            return not math.isfinite(root.data)  # the engine answers calls with numbers that are not finite
        if found is False:
            return False
        value, pairs = found
        expected = engine.gradients(root, 1.0, [leaf for leaf, _ in pairs])
        ours, theirs = [value, *(gradient for _, gradient in pairs)], [root.data, *expected]
        tolerance = 0.0 if self._options.exact else TOLERANCE["float32" if self._options.float32 else "float64"]
        largest = max((abs(gradient) for gradient in expected if math.isfinite(gradient)), default=0.0)
        scales = [max(1.0, abs(root.data)), *[max(largest, 1e-300)] * len(expected)]
        return all(
            a == b or (a != a and b != b) or abs(a - b) <= tolerance * scale < math.inf
            for a, b, scale in zip(ours, theirs, scales, strict=True)
        )
