"""Which arguments the next program reads in each call, because calls differ in them; the others are part of it."""

from __future__ import annotations

from .backoff import Storm
from .calls.signature import Signature
from .calls.varying import CONSTANT, Column, Varying, between
from .examples import Examples
from .if_conversion.conversions import Conversions
from .reports.reasons import Cause
from .tracing.traced_call import Traced

__all__ = ["VaryingArguments"]


class VaryingArguments:
    """What is known of the arguments of one function: which differ, and for which of those tracers can stand.

    Attributes:
        reads_plain_ints: Whether programs read the ints, too, that the function wants as plain ones.
    """

    def __init__(self, examples: Examples, conversions: Conversions, storm: Storm, exact: bool) -> None:
        self._examples, self._conversions, self._storm, self._exact = examples, conversions, storm, exact
        self.reads_plain_ints: bool = False
        self._unreadable: frozenset[Column] = frozenset()

    def of(self, differentiate_first: bool, signature: Signature) -> Varying:
        """What a call has otherwise than the last ones of its kind, or than those before, and can be read."""
        for example in reversed(self._examples.passes(differentiate_first)):
            if not example.signature.may_vary_from(signature):
                continue
            found = between(example.signature.spec, signature.spec)
            if found is not None:
                now = self._readable(example.signature.varying.together(found))
                if all(one.signature.varying.columns != now.columns for one in self._examples.all()):
                    self._storm.learned()
                return now
        return CONSTANT

    def _readable(self, varying: Varying) -> Varying:
        varying = (varying.all_of() if self.reads_plain_ints else varying).without(self._unreadable)
        if self._exact or self._conversions.refuses_optional:
            varying = varying.without_more()
        return varying

    def left_by(self, traced: Traced | Cause, varying: Varying) -> Varying:
        """Those of the arguments that vary which a trace did not want as plain ones."""
        if isinstance(traced, Cause) or traced.obstacle is not None:
            return self.without(varying)
        columns = traced.signature.columns
        return varying if self.reads_plain_ints else varying.without(traced.recording.plain_among(columns))

    def without(self, varying: Varying) -> Varying:
        """The function asks what these are: they are part of programs from now on. What is left of them."""
        self._unreadable |= varying.everything()
        return varying.without(varying.everything())
