"""Looking inside: the vector program of one call, beside the scalar graph that it was made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import engine
from ..engine import Value
from ..index import Index
from .printer import listing
from .reasons import Cause, Reason
from .request import CompileRequest, Options
from .specializer import trace

__all__ = ["Inspection", "inspected"]


class Inspection:
    """One call of a compiled function, both ways: the scalar graph, and the vector program that was made of it."""

    def __init__(self, value: Value, cache: engine.Programs, facts: dict[str, Any]) -> None:
        self.value = value  #: the function's result, with its graph
        self._cache, self._facts = cache, facts
        self.program = listing(facts, cache.listing(facts["number"]))  #: the vector program as text

    def instruction(self, node: Value) -> str | None:
        """The line of ``program`` that computes ``node``, or the sum that it became part of; None for a leaf.

        A node is a Value of the graph of :attr:`value`, as ``._children`` lead to it.
        """
        number = self._cache.locate(self._facts["number"], node)
        return None if number is None else self.program.splitlines()[number + 1]


def inspected(
    function: Callable[..., Any], arguments: tuple[Any, ...], differentiate_first: bool, options: Options
) -> Inspection | Cause:
    """Trace and compile one call with the user's lines, which other calls do without; or why that is impossible."""
    traced = trace(function, arguments, differentiate_first, want_sources=True)
    if isinstance(traced, Cause) or traced.obstacle is not None:
        return traced if isinstance(traced, Cause) else traced.obstacle or Cause(Reason.INVALIDATED)
    cache = engine.Programs(_missed, Index)
    try:
        cache.add(*CompileRequest(traced.recording, traced.signature, differentiate_first, options).positional())
    except NotImplementedError as problem:
        return Cause(Reason.UNSUPPORTED, str(problem))
    assert isinstance(traced.recording.result, Value)
    return Inspection(traced.recording.result, cache, cache.facts()[0])


def _missed(*_: object) -> None:
    raise AssertionError("a cache made for an inspection answers no calls")
