"""Why no specialization answered a call: the function was traced, or it ran eagerly.

The native cache reports the first eleven reasons. It looks their names up in :class:`Reason` when it is made, so a name
that only one side knows raises AttributeError at once.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

__all__ = ["Cause", "Reason"]


@enum.unique
class Reason(enum.Enum):
    """One reason. Its value is the sentence that users read; ``{}`` is where the detail of a :class:`Cause` goes."""

    # Reported by the native cache: no specialization matches, so the function is traced …
    NEW_ARGUMENTS = "traced: arguments of a new structure"
    GUARD_FAILED = "traced: a comparison had another outcome"
    PARAMETER_DELETED = "traced: a parameter no longer exists"
    STATE_CHANGED = "traced: {} has changed"
    # … or the call must run eagerly, even if one does match.
    INSIDE_TRACE = "run eagerly: called while another function is traced"
    BACKING_OFF = "run eagerly for a while: most calls before needed a trace of their own"
    GRADIENTS_OFF = "run eagerly: gradients are switched off by no_grad"
    OBSERVED = "run eagerly: every operation is observed, as detect_anomaly does"
    AWAITS_CODE = "run eagerly: the program is slower, until its machine code is there"
    NOT_FINITE = "run eagerly: an operation left its domain, or a number was not finite"

    # … or the function runs once more, and the program answers if it gives the same.
    UNCOMPARED = "compared: the program gives other numbers than in the call that it was made for"

    # Found while tracing and compiling.
    UNSUITABLE_ARGUMENT = "run eagerly, unsuitable argument: {}"
    TRACING_RAISED = "run eagerly, tracing raised {}, where a tracer stands for a number"
    AWAITS_ANOTHER = "run eagerly: most earlier calls had a structure not seen before, and so may this one"
    POSTPONED = "run eagerly: a program of both branches would take longer to make than the calls so far"
    GRAPH_BREAK = "run eagerly, graph break: {}"
    MANY_DERIVATIVES = "run eagerly: it takes more than {} derivatives, too many for a program"
    SEVERAL_RESULTS = "run eagerly: the function returns something else than Values and numbers{}"
    CONSTANT_RESULT = "run eagerly: the result does not depend on any Value"
    UNSUPPORTED = "run eagerly, not compilable: {}"
    DISAGREES = "run eagerly: the program did not give the numbers of a plain run"
    DIFFERS = "run eagerly: a program gave other numbers than a plain run, by more than rounding"
    INVALIDATED = "run eagerly: the program was lost during the call"
    CODE_GENERATION_FAILED = "run without machine code, which LLVM did not make: {}"
    TOO_LARGE = "run without machine code, which would be too long: {}"
    UNMATCHED_MEMBER = "run eagerly: no program matches this member of a batch"

    # Nothing is ever compiled.
    REFERENCE_ENGINE = "run eagerly: the reference engine has no compiler"

    @property
    def traces(self) -> bool:
        """Whether the function was traced for this reason."""
        return self in _TRACES

    @property
    def runs_eagerly(self) -> bool:
        """Whether a call ran eagerly for this reason."""
        return not self.traces and self not in (Reason.CODE_GENERATION_FAILED, Reason.TOO_LARGE, Reason.UNCOMPARED)


_TRACES = {
    Reason.NEW_ARGUMENTS,
    Reason.GUARD_FAILED,
    Reason.PARAMETER_DELETED,
    Reason.STATE_CHANGED,
}


class Cause(NamedTuple):
    """A reason, and the detail that its sentence names."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        return self.reason.value.format(self.detail)
