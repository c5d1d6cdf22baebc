"""Which arguments the next program reads in each call, because calls differ in them; the others are part of it."""

from __future__ import annotations

from collections.abc import Iterable

from .backoff import Storm
from .calls.lengths import between_lengths
from .calls.signature import Signature
from .calls.varying import CONSTANT, Column, Varying, between
from .examples import Example, Examples
from .if_conversion.conversions import Conversions
from .reports.reasons import Cause
from .tracing.traced_call import Traced

__all__ = ["VaryingArguments"]

#: With so many of the last calls that were traced a new one is compared that has lists of another length.
_LAST = 8


class VaryingArguments:
    """What is known of the arguments of one function: which differ, and for which of those tracers can stand.

    Attributes:
        reads_plain_ints: Whether programs read the ints, too, that the function wants as plain ones.
        reads_lengths: Whether they take lists of any length, where they can.
    """

    def __init__(self, examples: Examples, conversions: Conversions, storm: Storm, exact: bool) -> None:
        self._examples, self._conversions, self._storm, self._exact = examples, conversions, storm, exact
        self.reads_plain_ints: bool = False
        self.reads_lengths: bool = False
        self._has_tried_lengths = False
        self._unreadable: frozenset[Column] = frozenset()
        self._whole_lists: frozenset[Column] = frozenset()  # whose lengths decide something

    def tries_lengths(self) -> bool:
        """Read the lengths of lists from now on. Whether that is new; it is tried once."""
        if self._has_tried_lengths:
            return False
        self.reads_lengths = self._has_tried_lengths = True
        return True

    def reads_no_lengths(self) -> None:
        """That was in vain, and so was what it took."""
        self.reads_lengths = self.reads_plain_ints = False

    def of(self, differentiate_first: bool, signature: Signature) -> Varying:
        """What a call has otherwise than the last ones of its kind, or than those before, and can be read."""
        lengths = self.reads_lengths and not self._conversions.refuses_lengths
        compare = between_lengths if lengths else between
        for example in self._to_compare(differentiate_first, signature, lengths):
            found = compare(example.signature.spec, signature.spec)
            if found is not None:
                now = self._readable(example.signature.varying.together(found), lengths)
                if all(one.signature.varying.columns != now.columns for one in self._examples.all()):
                    self._storm.learned()
                return now
        return CONSTANT

    def _to_compare(self, differentiate_first: bool, signature: Signature, lengths: bool) -> Iterable[Example]:
        latest_first = self._examples.passes(differentiate_first)[::-1]
        if lengths:
            return latest_first[:_LAST]
        return (one for one in latest_first if one.signature.may_vary_from(signature))

    def _readable(self, varying: Varying, lengths: bool) -> Varying:
        varying = (varying.all_of() if self.reads_plain_ints else varying).without(self._unreadable)
        if self._exact or self._conversions.refuses_optional:
            varying = varying.without_more()
        return varying.without_lengths(self._whole_lists if lengths else varying.everything())

    def left_by(self, traced: Traced | Cause, varying: Varying) -> Varying:
        """Those of the arguments that vary which a trace did not want as plain ones."""
        if isinstance(traced, Cause) or traced.obstacle is not None:
            return self.without(varying)
        columns = traced.signature.columns
        self._whole_lists |= traced.recording.compared_among(columns, varying.lengths)
        varying = varying.without_lengths(self._whole_lists)
        return varying if self.reads_plain_ints else varying.without(traced.recording.plain_among(columns))

    def without(self, varying: Varying) -> Varying:
        """The function asks what these are: they are part of programs from now on. What is left of them."""
        self._unreadable |= varying.everything()
        return varying.without(varying.everything())
