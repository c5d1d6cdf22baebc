"""Looking inside: the vector program of one call, beside the scalar graph that it was made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ... import engine
from ...engine import Value
from ...index import Index
from ..examples import Example
from ..guards.captured_state import Asks, asks_of, functions_of
from ..request import CompileRequest, Options
from ..specializer import Specializer
from ..tracing.traced_call import Traced, trace
from .reasons import Cause, Reason
from .stages import Pass, printed_after

__all__ = ["Inspection", "inspected", "program_after"]


class Inspection:
    """One call of a compiled function, both ways: the scalar graph, and the vector program that was made of it.

    ``Compiled.inspect`` makes it.

    Attributes:
        value: The function's result, a Value with its graph.
        program: The vector program as text, one instruction a line.
    """

    def __init__(self, value: Value, cache: engine.SpecializationCache, facts: dict[str, Any]) -> None:
        self.value = value
        self._cache, self._facts = cache, facts
        self.program: str = self.after("reroll")

    def after(self, pass_: Pass) -> str:
        """What one of the compiler's passes has made, as text; see ``Compiled.program``."""
        return printed_after(pass_, self._cache, self._facts)

    def instruction(self, node: Value) -> str | None:
        """The line of ``program`` that computes one node of the scalar graph.

        Args:
            node: A Value of the graph of ``value``, as ``._children`` lead to it.

        Returns:
            The line that computes the node, or the sum or product that it became part of. None for a leaf.
        """
        number = self._cache.locate(self._facts["number"], node)
        return None if number is None else self.program.splitlines()[number + 1]


def program_after(
    pass_: Pass, function: Callable[..., Any], example: Example, options: Options, specializer: Specializer
) -> str:
    """What a pass makes of the program that was traced from an example, as text."""
    found = inspected(
        function,
        example.arguments,
        example.differentiate_first,
        options,
        specializer.captured.asks,
        specializer.converted,
    )
    return f"The last program cannot be traced again: {found}." if isinstance(found, Cause) else found.after(pass_)


def inspected(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    differentiate_first: bool,
    options: Options,
    asks: Asks | None = None,
    converted: Callable[[Callable[[], Traced | Cause]], Traced | Cause | None] = lambda run: None,
) -> Inspection | Cause:
    """Trace and compile one call with the user's lines, which other calls do without; or why that is impossible.

    ``asks``: what the function may ask of numbers, if that is known. ``converted``: gives what a trace gives where
    tests of the function are converted.
    """
    asks = asks or asks_of(function, arguments)

    def run() -> Traced | Cause:
        return trace(
            function,
            arguments,
            differentiate_first,
            asks,
            want_sources=True,
            several=not differentiate_first,
            functions=functions_of(function, arguments),
            exact=options.exact,
        )

    traced = converted(run) or run()
    if isinstance(traced, Cause) or traced.obstacle is not None:
        return traced if isinstance(traced, Cause) else traced.obstacle or Cause(Reason.INVALIDATED)
    cache = engine.SpecializationCache(_missed, Index, Reason)
    try:
        if options.tier == "auto" and not options.exact:
            options = replace(options, tier="vm")  # whatever would run it: this is to be looked at
        request = CompileRequest(
            traced.recording, traced.signature, differentiate_first, options, cache.capture([]), at_once=True
        )
        cache.add(request)
    except NotImplementedError as problem:
        return Cause(Reason.UNSUPPORTED, str(problem))
    assert isinstance(traced.recording.result, Value)
    return Inspection(traced.recording.result, cache, cache.facts()[0])


def _missed(*_: object) -> None:
    raise AssertionError("a cache made for an inspection answers no calls")
