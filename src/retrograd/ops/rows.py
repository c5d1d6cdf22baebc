"""What a row of the op table says, and the constants that its formulas may use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

__all__ = ["CONSTANTS", "Domain", "Edge", "NaryOp", "Op"]

Kind = Literal["divide", "over", "invalid"]

#: Numbers a formula may use by name.
CONSTANTS: dict[str, float] = {
    "inf": math.inf,
    "nan": math.nan,
    "LN2": math.log(2.0),
    "INV_LN2": 1.4426950408889634,
    "INV_LN10": 0.4342944819032518,
    "SQRT_HALF": 0.7071067811865476,
    "INV_SQRT_2PI": 0.3989422804014327,
    "TWO_OVER_SQRT_PI": 1.1283791670955126,
    "DEGREE": math.pi / 180.0,
    "RADIAN": 180.0 / math.pi,
}


@dataclass(frozen=True, slots=True)
class Domain:
    """One way an operation can fail: when ``when`` holds, ``error`` is raised.

    ``kind`` is the ``retrograd.errstate`` switch that turns the error into IEEE inf or nan.
    """

    when: str
    kind: Kind
    error: Literal["ZeroDivisionError", "OverflowError", "ValueError"]
    says: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A published convention: at ``at`` the value is ``y`` and the local derivatives are ``partials``."""

    at: tuple[float, ...]
    y: float
    partials: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Op:
    """One operator with a fixed number of operands (``len(partials)``)."""

    name: str
    forward: str
    partials: tuple[str, ...]
    doc: str
    symbol: str = ""  #: what ``Value._op`` shows; the name when empty
    domain: tuple[Domain, ...] = ()
    aliases: tuple[str, ...] = ()  #: NumPy's ufunc names and other spellings
    static: tuple[int, ...] = ()  #: operands that must be plain numbers (no derivative exists)
    sample: tuple[tuple[float, float], ...] = ()  #: an interval for each operand, inside the domain
    smooth: bool = True  #: infinitely differentiable on the sample intervals
    edges: tuple[Edge, ...] = ()
    accuracy: tuple[int, ...] = ()  #: bounds of y and the partials, where they are not 2 and 4 (see docs/ops.md)
    card: str = ""  #: the name of the rule, for those who learn it
    public: bool = True  #: offered in ``retrograd.math`` and as a method
    smooth_partials: tuple[str, ...] = ()  #: the partials as a row, where those above are costly to differentiate

    @property
    def arity(self) -> int:
        return len(self.partials)

    @property
    def label(self) -> str:
        return self.symbol or self.name

    @property
    def primitive(self) -> bool:
        """Whether the forward is a library function of the same name, supplied by each engine."""
        return self.forward == f"{self.name}({', '.join('abc'[: self.arity])})"


@dataclass(frozen=True, slots=True)
class NaryOp:
    """One operator over a sequence, as a fold from left to right.

    ``s`` starts at ``init`` and becomes ``step`` for each operand ``a`` (and its partner ``b`` when
    ``paired``); the result is ``finish``. ``m`` is the largest operand, ``n`` their number.
    A partial may also use ``y``, ``ties`` (how many operands equal ``y``) and ``rest``, which the
    engines compute: for ``prod`` the product of the others; for ``logsumexp`` this operand's share of the sum
    (its softmax probability); for ``softmax`` the sum of the other probabilities, or minus this operand's
    probability when it is not this output's own.
    ``outputs`` is true when there is one result for each operand (the fold's ``a`` in ``finish``).
    """

    name: str
    init: str
    step: str
    finish: str
    partials: tuple[str, ...]  #: one, or two when paired
    doc: str
    paired: bool = False
    outputs: bool = False
    empty: bool = True  #: whether no operand at all is allowed
    smooth: bool = True

    @property
    def label(self) -> str:
        return self.name
