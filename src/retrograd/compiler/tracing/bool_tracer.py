"""The tracer that takes the place of a bool: of what a comparison of traced numbers gives.

It is data for ``rg.where``, and a guard only where something asks for its truth: an ``if``, ``and``, ``sorted``.
"""

from __future__ import annotations

import dis
import enum
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import engine
from ...engine import ComparisonTracer, Value
from ...index import RELATIONS

if TYPE_CHECKING:
    from .decision_recorder import DecisionRecorder

__all__ = [
    "COMPARISON_ROWS",
    "BoolTracer",
    "Purpose",
    "array_of_one",
    "is_comparison",
    "is_nan",
    "is_numpys",
    "may_be_containers",
    "refuse_mask",
]

#: The row of the op table that computes a comparison.
COMPARISON_ROWS = {
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
    "==": "equal",
    "!=": "not_equal",
}


class Purpose(enum.Enum):
    """What a comparison is for."""

    DECIDES = "the function goes one way or the other"
    DERIVES = "a derivative is that of what max or min has chosen"
    ENDS_LOOP = "a loop has ended after as many iterations as were recorded"
    MUST_HOLD = "the function raises something if it has another outcome"
    BOUNDS = "an int is no larger than floats hold exactly"
    ROUNDS = "the terms of a sum do not cancel, so that it may be rounded more than once"


class BoolTracer(ComparisonTracer):
    """The outcome of one comparison in the function that is traced.

    The engine makes it where that is simple (native/tape/comparison_tracer.cpp), and else its recorder. The engine asks
    :meth:`_decide` for its truth.

    Attributes:
        outcome: The outcome in this run, which decides nothing.
        node: 1 or 0, where that is computed.
        joins: Of a combination: "and", "or" or "not".
        parts: What it joins.
    """

    __slots__ = ()

    _recorder: DecisionRecorder
    _right: Value | float
    node: Value | None
    joins: str
    parts: tuple[BoolTracer, ...]

    def __hash__(self) -> int:
        self._recorder.look_up()
        return hash(bool(self))

    def implies(self, outcome: bool, other: BoolTracer, its: bool) -> bool:
        """Whether ``other`` is ``its`` wherever this is ``outcome``, as far as combinations tell."""
        if self is other or not self.joins:
            return self is other and outcome is its
        return any(test is other and known is its for test, known in self.parts_known(outcome))

    def parts_known(self, outcome: bool) -> Iterator[tuple[BoolTracer, bool]]:
        """The comparisons that are known where this is ``outcome``, this one first, and how they come out."""
        if not self.joins:
            yield self, outcome
            return
        rest, seen = deque([(self, outcome)]), set[tuple[int, bool]]()
        while rest:
            test, known = rest.popleft()
            if (id(test), known) in seen:
                continue
            seen.add((id(test), known))
            yield test, known
            if test.joins == "not":
                rest.append((test.parts[0], not known))
            elif test.joins == ("and" if known else "or"):
                rest += [(part, known) for part in test.parts]

    def asks(self) -> tuple[Callable[[float, float], bool], Value, Value | float]:
        """The relation that this compares by, and what it compares."""
        return RELATIONS[self._kind], self._left, self._right

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(c, bool) decides as it does in plain Python
        return bool

    def operands(self) -> tuple[str, Value, Value | float]:
        """The row that computes this comparison as a number, 1 or 0, and its operands."""
        self._recorder.check("a comparison")
        return COMPARISON_ROWS[self._kind], self._left, self._right

    @property
    def is_decided(self) -> bool:
        """Whether the outcome is a guard."""
        return self._decided

    def ends_loop(self) -> None:
        """The outcome decides that a loop has ended after as many iterations as were recorded."""
        self._decide(Purpose.ENDS_LOOP)

    def must_hold(self) -> bool:
        """The outcome, without which the function raises something."""
        self._decide(Purpose.MUST_HOLD)
        return self.outcome

    def _decide(self, purpose: Purpose = Purpose.DECIDES) -> None:
        self._recorder.check("a comparison")
        if not self._decided:
            self._decided = True
            if purpose is Purpose.DECIDES:
                self._recorder.decide(self._kind, self._left, self._right, self.outcome)
            else:
                self._recorder.guard(self._kind, self._left, self._right, self.outcome, purpose)

    def decide_in(self, frame: FrameType) -> bool:
        """The outcome, which decides something where ``frame`` is."""
        self._recorder.check("a comparison")
        if not self._decided:
            self._decided = True
            self._recorder.decide_in(frame, self._kind, self._left, self._right, self.outcome)
        return self.outcome

    def __index__(self) -> int:
        refuse_mask(self._recorder.untraceable, sys._getframe(1))
        return int(bool(self))

    def __format__(self, spec: str) -> str:
        return format(bool(self), spec)

    def __reduce__(self) -> tuple[Any, ...]:
        self._recorder.untraceable("copies a comparison out of the trace")
        return bool, (self.outcome,)

    def __copy__(self) -> BoolTracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> BoolTracer:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(bool(self), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        """What NumPy calls for one of its functions: of truth values alone, it gives something else than of ints."""
        if all(type(one) in (bool, np.bool_, BoolTracer) for one in operands):
            return getattr(ufunc, method)(*(bool(one) for one in operands), **options)
        boxed = (array_of_one(one) if is_comparison(one) else one for one in operands)
        return getattr(ufunc, method)(*boxed, **options)


def refuse_mask(untraceable: Callable[[str], None], frame: FrameType) -> None:
    """A truth value is asked for an int: a graph break where it may be the mask of an array of NumPy's.

    It may, if it is a subscript where a frame is, and there is an array in sight.
    """
    names = frozenset(frame.f_code.co_names)
    if not _instruction(frame).endswith("_SUBSCR"):
        return
    for thing in _in_sight(frame):
        try:
            attributes = object.__getattribute__(thing, "__dict__")
        except AttributeError:
            attributes = {}
        if any(isinstance(one, np.ndarray) for one in (thing, *map(attributes.get, names))):
            untraceable("takes a truth value as an index, which is a mask where an array has it")
            return


#: What compares elements in C: functions and methods of NumPy's, and code of its own that calls any of several.
_COMPARING = frozenset({"argpartition", "argsort", "fmax", "fmin", "lexsort", "partition", "searchsorted", "sort"})
_CALLING = frozenset({"_amax", "_amin", "_ptp", "_wrapfunc", "_wrapit", "_wrapreduction"})


def is_numpys(frame: FrameType) -> bool:
    """Whether it is NumPy, as far as can be told, that puts numbers in order where a frame is."""
    code, module = frame.f_code, frame.f_globals.get("__name__", "")
    for name in ("function", "ufunc") if module.startswith("retrograd.compiler.") else ():  # which it calls
        if getattr(frame.f_locals.get(name), "__name__", "") in _COMPARING:
            return True
    if module.partition(".")[0] == "numpy" and code.co_name in _CALLING:
        return True
    if _COMPARING.isdisjoint(code.co_names) or "CALL" not in _instruction(frame):
        return False
    return any(thing is np or type(thing) is np.ndarray for thing in _in_sight(frame))


def may_be_containers(frame: FrameType) -> bool:
    """Whether it may be a container that asks whether items are equal where a frame is, or a function in C."""
    instruction = _instruction(frame)
    return instruction in ("COMPARE_OP", "CONTAINS_OP") or "CALL" in instruction


def is_nan(side: Value | float | None) -> bool:
    """Whether what is compared is NaN in this run."""
    number = engine.concrete(side) if isinstance(side, Value) else side
    return number != number


def _instruction(frame: FrameType) -> str:
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def _in_sight(frame: FrameType) -> Iterator[Any]:
    yield from frame.f_locals.values()
    yield from map(frame.f_globals.get, frame.f_code.co_names)


def array_of_one(thing: Any) -> Any:
    """An array without axes that holds a thing: NumPy computes with that as with any object."""
    made = np.empty((), dtype=object)
    made[()] = thing
    return made


def _is_pythons(thing: Any) -> bool:
    """Whether it is a comparison, of which the outcome is none of NumPy's."""
    return type(thing) is BoolTracer and not thing._recorder.may_be_numpys(thing)


def _one_or_zero(thing: Any) -> Any:
    return thing._recorder.count(thing) if is_comparison(thing) else int(thing)


def _binary(name: str) -> None:
    function = getattr(operator, name)

    def forward(self: BoolTracer, other: Any) -> Any:
        if name in ("eq", "ne") and type(other) in (bool, int):  # decides nothing yet
            return function(self._recorder.count(self), int(other))
        if name in ("eq", "ne", "xor") and _is_pythons(self) and (type(other) is bool or _is_pythons(other)):
            return (operator.ne if name == "xor" else function)(_one_or_zero(self), _one_or_zero(other))
        frame = sys._getframe(1)
        return function(self.decide_in(frame), other.decide_in(frame) if is_comparison(other) else other)

    def reflected(self: BoolTracer, other: Any) -> Any:
        return function(other, self.decide_in(sys._getframe(1)))

    plain = name.strip("_")
    setattr(BoolTracer, f"__{plain}__", forward)
    if plain not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(BoolTracer, f"__r{plain}__", reflected)


def _unary(name: str, function: Callable[[bool], Any]) -> None:
    setattr(BoolTracer, f"__{name}__", lambda self: function(bool(self)))


def _counted(name: str) -> None:
    """An operator on the int, 1 or 0, that a bool is."""
    function = getattr(operator, name)

    def count(thing: Any) -> Any:
        return thing._recorder.count(thing) if is_comparison(thing) else thing

    def of(self: BoolTracer, other: Any) -> Any:
        recorder = self._recorder
        if is_comparison(other) and any(map(recorder.may_be_numpys, (self, other))):
            recorder.untraceable(f"computes with two truth values of NumPy's ({name})")
        return function(count(self), count(other))

    setattr(BoolTracer, f"__{name}__", of)
    setattr(BoolTracer, f"__r{name}__", lambda self, other: function(other, count(self)))


for _name in ("add", "sub", "mul"):
    _counted(_name)
for _name in ("truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"):
    _binary(_name)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _binary(_name)
for _name in ("neg", "pos", "abs", "invert"):
    _unary(_name, getattr(operator, _name))
for _function in (int, float, complex, str, repr):
    _unary(_function.__name__, _function)


def is_comparison(thing: object) -> bool:
    """Whether ``thing`` is a :class:`BoolTracer`; ``isinstance`` says that it is a bool."""
    return type(thing) is BoolTracer
