"""The tracer that takes the place of a float: of a float argument, and of what ``.data`` gives during a trace.

A :class:`FloatTracer` computes as a float does, exceptions included, and each step is a node of the recording through
which no gradient flows. It is not a subclass of float: C code would read this call's number out of one unnoticed. Code
in C that needs a plain number calls ``__float__``, which is a graph break; calls of Python's own functions of numbers
are recorded (followed_calls.py).
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import engine, errors
from ...engine import Value
from ...engine.numbers import is_number
from ...index import RELATIONS
from .bool_tracer import array_of_one

if TYPE_CHECKING:
    from .decision_recorder import DecisionRecorder

__all__ = ["FloatTracer", "is_tracer"]


class FloatTracer(engine.NumberTracer):
    """A float that depends on the arguments of the function that is traced. Its recorder makes it.

    Its arithmetic and its comparisons are the engine's (native/tape/number_tracer.cpp), which asks the recorder where
    they are not simple.
    """

    __slots__ = ()

    _recorder: DecisionRecorder

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, float) decides as it does in plain Python
        return float

    def _refusal(self) -> Exception:
        """What errors.not_a_number raises when a plain number is wanted."""
        self._recorder.check("a number")
        return TypeError("a traced number cannot be used here: convert it with float() first.")

    def _leave(self, use: str) -> float:
        """The number of this call, for a use that no program has: a guard, or a graph break."""
        self._recorder.check("a number")
        self._recorder.plain(self, use)
        return self._number

    def sum_of(self, terms: Sequence[Any]) -> Any:
        """The sum of numbers, of which this one is, for math.fsum; None if that is to be rounded once."""
        self._recorder.check("a number")
        return self._recorder.sum_of(terms)

    def plain_for(self, name: str) -> float:
        """The number of this call, for a function of math that computes with no other."""
        return self._leave(f"computes {name}() of a traced number")

    # --- comparisons are guards

    def _compare(self, kind: str, other: object) -> Any:
        """A comparison that is not simple, which the engine leaves to us."""
        self._recorder.check("a number")
        right = other
        if isinstance(other, FloatTracer):
            right, number = other._node, other._number
        elif isinstance(other, Value):
            number = self._recorder.concrete(other)
        elif is_number(other):
            number = other  # type: ignore[assignment]  # Python compares a float and an int exactly
            self._recorder.check_precision(type(other), [self])
        else:
            return NotImplemented
        return self._recorder.comparison(kind, self._node, right, bool(RELATIONS[kind](self._number, number)))

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        """What NumPy calls for one of its functions: it computes with the tracer as with one in an array."""
        for one in operands:
            if isinstance(one, (np.ndarray, np.generic)):
                self._recorder.check_precision(one.dtype.type, operands)
        boxed = (array_of_one(one) if is_tracer(one) else one for one in operands)
        return getattr(ufunc, method)(*boxed, **options)

    def __bool__(self) -> bool:
        self._recorder.check("a number")
        outcome = self._number != 0.0
        self._recorder.guard("bool", self._node, None, outcome)
        return outcome

    # --- whole numbers, which are ints

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None:
            return self._recorder.whole("round", self)
        return round(self._leave("rounds a traced number to digits with round()"), digits)

    def __trunc__(self) -> Any:
        return self._recorder.whole("trunc", self)

    def __floor__(self) -> Any:
        return self._recorder.whole("floor", self)

    def __ceil__(self) -> Any:
        return self._recorder.whole("ceil", self)

    # --- the number of this one call leaves the trace

    def __hash__(self) -> int:
        self._recorder.look_up()
        return hash(self._leave("looks a traced number up in a set or dict"))

    def __float__(self) -> float:
        return self._leave("makes a traced number a plain one with float()")

    def __index__(self) -> int:
        self._recorder.ask_class(self, (int, np.integer))  # an int where the function takes the larger of x and 0
        raise TypeError("'float' object cannot be interpreted as an integer")

    def __int__(self) -> int:
        return int(self._leave("makes a traced number a plain one with int()"))

    def __complex__(self) -> complex:
        return complex(self._leave("makes a traced number a plain one with complex()"))

    def __format__(self, spec: str) -> str:
        return format(self._leave("turns a number into text"), spec)

    def __str__(self) -> str:
        return str(self._leave("turns a number into text"))

    def __repr__(self) -> str:
        try:
            return repr(self._leave("turns a number into text"))
        except errors.LeakedTraceError:
            return "<a number of a trace that has ended>"

    def __reduce__(self) -> tuple[Any, ...]:
        self._recorder.untraceable("copies a traced number out of the trace")
        return float, (self._number,)

    def __copy__(self) -> FloatTracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FloatTracer:
        return self

    def __getattr__(self, name: str) -> Any:
        """A float's other methods; and, for NumPy's functions on arrays of objects, those of the op table."""
        if hasattr(float, name):
            return getattr(self._leave(f"makes a traced number a plain one with .{name}"), name)
        function = engine.functions.get(name)
        if function is None or _reads_attribute(sys._getframe(1)):
            raise AttributeError(f"'float' object has no attribute {name!r}")
        return lambda *others: function(self, *others)

    @property
    def real(self) -> FloatTracer:
        """The number itself, as a float's."""
        return self

    @property
    def imag(self) -> float:
        """Zero, as a float's."""
        return 0.0

    def conjugate(self) -> FloatTracer:
        """The number itself, as a float's."""
        return self


def _reads_attribute(frame: FrameType) -> bool:
    """Whether a frame is at ``x.name`` itself, and not at a call of NumPy's, which asks for the method in C."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in ("LOAD_ATTR", "LOAD_METHOD")


def is_tracer(thing: object) -> bool:
    """Whether ``thing`` is a :class:`FloatTracer`; ``isinstance`` says that it is a float."""
    return type(thing) is FloatTracer
