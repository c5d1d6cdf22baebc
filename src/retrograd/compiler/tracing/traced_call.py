"""Records one call of a function: its graph, its guards and the signature of its arguments, or why that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from ... import errors
from ...autodiff.active import running
from ...engine import Value
from ...engine.source_lines import location_of_error
from ..calls.arguments import Unsuitable, signature_of
from ..calls.effects import contents
from ..calls.signature import Signature
from ..calls.varying import CONSTANT, Varying
from ..guards.captured_state import Asks
from ..reports.reasons import Cause, Reason
from .followed_calls import following
from .recorder import Recorder, TooManyDerivativesError
from .recording import Guard, Recording

__all__ = ["Described", "Traced", "guards_of", "trace"]


class Traced(NamedTuple):
    """A recorded call that can be compiled, or ``obstacle`` says why it cannot."""

    recording: Recording
    signature: Signature
    obstacle: Cause | None


class Described(NamedTuple):
    """A description of the arguments of a call, whose recorder has not run yet."""

    recorder: Recorder
    signature: Signature
    asks: Asks


def trace(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    differentiate_first: bool,
    asks: Asks,
    want_sources: bool = False,
    several: bool = False,
    described: Described | None = None,
    as_number: bool = False,
    functions: Sequence[FunctionType] = (),
    exact: bool = False,
    varying: Varying = CONSTANT,
    derives_by_floats: bool = False,
) -> Traced | Cause:
    """Record one call, with the user's lines on request. A Cause means that the function did not run to its end.

    ``asks``: what the function may ask of numbers. ``several``: it may return a tree of Values and numbers.
    ``functions``: those that it may call, whose calls of Python's functions of numbers are recorded, with ``exact``
    where they have the same bits. ``varying``: the ints that are read in each call.
    ``described``: its arguments, if they are described already. ``as_number``: whether the result is a Value or a plain
    number is all the same. ``derives_by_floats``: whether derivatives are taken by float arguments.
    """
    as_number |= differentiate_first  # which gives a float in either case
    decides_kinds = decides_which = False
    while True:
        if described is not None and described.asks == asks:
            recorder, signature, _ = described
        else:
            recorder = Recorder(
                asks.identity is not None or asks.truth,
                decides_kinds,
                decides_which,
                as_number=as_number,
                wants_ints=asks.types,
                derives_by_floats=derives_by_floats,
            )
            try:
                signature = signature_of(arguments, recorder, differentiate_first, asks, varying, several)
            except Unsuitable as problem:
                return Cause(Reason.UNSUITABLE_ARGUMENT, str(problem))
        if asks.dtypes and recorder.traces_floats:
            return Cause(Reason.GRAPH_BREAK, "the function asks for the dtype of an array, which is another in a trace")
        described, recorder.is_exact, recorder.is_kept = None, exact, asks.bounded  # a recorder runs once
        held = contents(signature.tracers)
        if differentiate_first:  # as in EagerRunner.run
            running.variables.append(signature.active_leaves())
            running.count += 1
        try:
            with following(functions, exact):
                recording = recorder.run(function, signature.tracers, want_sources, several)
        except (errors.TracedIndexError, errors.LeakedTraceError, MemoryError):
            raise
        except TooManyDerivativesError as problem:
            return Cause(Reason.MANY_DERIVATIVES, str(problem))
        except Exception as error:
            # The plain run did not raise this: a tracer could not do what its number can.
            if signature.keeps_arrays and type(error) is ValueError and "read-only" in str(error):
                return Cause(Reason.GRAPH_BREAK, _CHANGES_ARRAY)
            return Cause(Reason.TRACING_RAISED, _description(error))
        finally:
            if differentiate_first:
                running.variables.pop()
                running.count -= 1
        if contents(signature.tracers) != held:  # to what was there in the plain run: to an equal number
            return Cause(Reason.GRAPH_BREAK, "the function changes an argument, which a compiled program cannot do")
        signature.take_any_text(recorder.read_texts)
        for cotangent in recording.cotangents:
            signature.add_input(cotangent, False)
        varies = recording.kind_varies or (recording.mixes_kinds and asks.kinds) or recording.asks_kind
        varies, picks = varies and not decides_kinds, recording.asks_which and not decides_which
        if not varies and not picks:
            recording.guard_kind()
            return Traced(recording, signature, _obstacle(recording))
        # Once more: which of a Value and a number is chosen, or which of any, is a guard now.
        decides_kinds, decides_which = True, decides_which or picks


_CHANGES_ARRAY = "the function changes an array among its arguments, and another one may be the same; pass a copy"


def _description(error: Exception) -> str:
    """An exception, what it says, and where the user's code raised it."""
    where, text = location_of_error(error), str(error).partition("\n")[0].rstrip(".")
    return type(error).__name__ + (f" ({text})" if text else "") + (f" at {where}" if where else "")


def _obstacle(recording: Recording) -> Cause | None:
    if recording.graph_breaks:
        return Cause(Reason.GRAPH_BREAK, recording.graph_breaks[0].rstrip("."))
    if not isinstance(recording.result, Value):
        return Cause(Reason.CONSTANT_RESULT)
    return None


def guards_of(traced: Traced | Cause) -> Sequence[Guard] | None:
    """The comparisons that decided something in a recorded call; None if it cannot be compiled."""
    return traced.recording.guards if isinstance(traced, Traced) and traced.obstacle is None else None
