"""The tracer of an int or a text that depends on decisions: a counter, a position in a list, the name of a state.

Its node is the int itself, or the number of the text among those of the trace. An int computes and compares as an int
does; a text compares for equality. Where a plain one is wanted (``range(n)``, a key, text that is printed), that it is
the same again becomes a guard.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import engine
from ...engine import Value
from ...index import RELATIONS, IndexTracer
from .bool_tracer import Purpose, is_comparison, refuse_mask
from .float_tracer import FloatTracer

if TYPE_CHECKING:
    from .decision_recorder import DecisionRecorder

__all__ = [
    "CHOICES",
    "LARGEST",
    "WIDE",
    "ChoiceTracer",
    "TextArgumentTracer",
    "choice_among",
    "is_choice",
    "largest_choice",
    "own_kind",
]

#: More options than these are not remembered.
_MOST_OPTIONS = 64
_MOST_PAIRS = 4096
#: Floats hold the whole numbers up to here.
LARGEST = 2.0**53
#: What ints are checked for whose sum or product might be larger.
_BOUND = 2.0**26


class ChoiceTracer:
    """An int or a text of the function that is traced. Its recorder makes it.

    Attributes:
        constant: which one it is in this run.
        options: those that it may be; None for too many.
        largest: an int's largest absolute value.
        kind: what ``isinstance`` says that it is: an int, a text, or an int of NumPy's.
        index: the tracer that selects by it, of an argument.
    """

    __slots__ = (
        *("_is_decided", "_line", "_recorder", "_tests"),
        *("constant", "index", "kind", "largest", "node", "options"),
    )

    def __init__(
        self,
        recorder: DecisionRecorder,
        node: Value,
        constant: int | str,
        options: frozenset[int | str] | None,
        largest: float,
        kind: type | None = None,
    ) -> None:
        self._recorder = recorder
        self.kind: type = kind or type(constant)
        self.node: Value = node
        self.constant: int | str = constant
        self.largest: float = largest
        self.options: frozenset[int | str] | None = (
            options if options is not None and len(options) <= _MOST_OPTIONS else None
        )
        self.index: IndexTracer | None = None
        self._line: _Line | None = None  # of ``n + 1`` or ``8 - n``: where it is on that of n
        self._is_decided = False
        self._tests: dict[int | str, Any] = {}  # whether it is a certain one

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(n, int) decides as it does in plain Python
        return self.kind

    def plain(self) -> Any:
        """Which one it is in this run, for a use that decides something: it must be the same again."""
        self._recorder.check("a number")
        if not self._is_decided:
            self._is_decided = True
            self._recorder.decides_choice()
            self._recorder.must_be(self.node, self.constant)
        return self.constant if type(self.constant) is self.kind else self.kind(self.constant)

    def __hash__(self) -> int:
        self._recorder.look_up()
        return hash(self.plain())

    def bound(self) -> None:
        """From here on it is checked in each call that an int is not too large, as it is not in this run."""
        if self.largest > _BOUND and abs(self.constant) <= _BOUND:  # type: ignore[arg-type]
            self.largest = _BOUND
            self._recorder.guard("<=", self.node, _BOUND, True, Purpose.BOUNDS)
            self._recorder.guard(">=", self.node, -_BOUND, True, Purpose.BOUNDS)

    def of_kind(self, kind: type) -> ChoiceTracer:
        """The same as an int of another type."""
        made = ChoiceTracer(self._recorder, self.node, self.constant, self.options, self.largest, kind)
        made.index, made._line = self.index, self._line
        return made

    def number(self) -> FloatTracer:
        """An int as a float."""
        self._recorder.check("a number")
        return self._recorder.traced(self.node)

    def possible(self) -> frozenset[int | str] | None:
        """The options that the tests of the arms leave which run now: of an index, those below a bound."""
        found = self.options
        for test, outcome in self._recorder.known_tests(self.node) if found and len(found) > 1 else ():
            relation, left, right = test.asks()
            if left is self.node and type(right) is float:
                found = frozenset(one for one in found or () if isinstance(one, str) or relation(one, right) is outcome)
            elif (wanted := self._recorder.asked_among(test, self.node)) is not None and found is not None:
                found = found & wanted if outcome else found - wanted
        if self._line is not None and found is not None and (of_other := self._line.of.possible()) is not None:
            found &= frozenset(map(self._line.at, of_other))
        return found

    def is_(self, constant: int | str) -> Any:
        """Whether it is a certain one, as a comparison."""
        self._recorder.check("a number")
        if type(constant) is not type(self.constant) or (self.options is not None and constant not in self.options):
            return False
        if constant not in self._tests:
            code, outcome = self._recorder.code(constant), self.constant == constant
            self._tests[constant] = self._recorder.comparison("==", self.node, code, outcome)
        return self._tests[constant]

    # --- as an int

    def _with(self, row: str, function: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
        """An operation on ints that gives one, of which this is the first or the second operand."""
        self._recorder.check("a number")
        first, second = (self._recorder.count(one) if is_comparison(one) else one for one in (first, second))
        other = second if first is self else first
        if type(self.constant) is not int:
            return function(_plain(first), _plain(second))
        if isinstance(other, (Value, float)):  # a tracer of a float, too
            return function(_number(first), _number(second))
        one, two = _part(first), _part(second)
        if one is None or two is None:
            return function(_plain(first), _plain(second))
        largest = _LARGEST_OF[row](one.largest, two.largest)
        if largest > LARGEST:
            one.bound()
            two.bound()
            largest = _LARGEST_OF[row](one.largest, two.largest)
        may_fail = row in _FALLIBLE and (two.options is None or 0 in two.options)
        if largest > LARGEST or may_fail:
            return function(_plain(first), _plain(second))
        options, of_one, of_two = None, one.possible(), two.possible()
        if of_one is not None and of_two is not None and len(of_one) * len(of_two) <= _MOST_PAIRS:
            options = frozenset(function(a, b) for a in of_one for b in of_two)
        elif row == "mod" and type(two) is _Constant and 0 < two.constant <= _MOST_OPTIONS:
            options = frozenset(range(two.constant))
        node = engine.apply(row, one.node, two.node)
        if row in _MAKES_MINUS_ZERO:  # which no int is
            node = engine.apply("where", engine.apply("equal", node, 0.0), 0.0, node)
        constant = function(one.constant, two.constant)
        made = ChoiceTracer(self._recorder, node, constant, options, largest, _kind_among((one, two)))
        made._line = _line_of(row, one, two)
        return made

    def __neg__(self) -> Any:
        return self._with("sub", operator.sub, 0, self)

    def __abs__(self) -> Any:
        return self._with("maximum", max, self, -self) if self.kind in WIDE else abs(self.plain())

    def __pos__(self) -> Any:
        return self

    def _compare(self, kind: str, relation: Callable[[Any, Any], Any], other: Any) -> Any:
        self._recorder.check("a number")
        mine = type(self.constant)
        if is_choice(other) and type(other.constant) is mine and (mine is int or kind in ("==", "!=")):
            return self._compared(kind, relation, other.node, other.constant)
        if mine is int and isinstance(other, (Value, float)):
            return relation(self.number(), other)
        if mine is int and type(other) is IndexTracer and (number := self._recorder.number_of_index(other)) is not None:
            return self._compared(kind, relation, number, engine.concrete(number))
        if mine is int and type(other) is int and abs(other) <= LARGEST:
            outcomes = {relation(one, other) for one in self.options or ()}
            if len(outcomes) == 1:  # whichever it is
                return outcomes.pop()
            if self._line is not None and abs(self._line.back(other)) <= LARGEST:  # so that arms know what n may be
                way = kind if self._line.sign > 0 else _MIRRORED.get(kind, kind)
                return self._line.of._compare(way, RELATIONS[way], self._line.back(other))
            return self._compared(kind, relation, float(other), other)
        if mine is str and type(other) is str and kind in ("==", "!="):
            if self.options is not None and other not in self.options:
                return kind == "!="
            return self._compared(kind, relation, self._recorder.code(other), other)
        return relation(self.plain(), _plain(other))

    def _compared(self, kind: str, relation: Callable[[Any, Any], Any], right: Value | float, constant: Any) -> Any:
        return self._recorder.comparison(kind, self.node, right, bool(relation(self.constant, constant)))

    def truth(self) -> Any:
        """Whether an int is not zero, as a comparison; of a text, whether it is not empty."""
        return self._compare("!=", operator.ne, 0 if type(self.constant) is int else "")

    def __bool__(self) -> bool:
        return bool(self.truth())

    # --- uses that decide something

    def __index__(self) -> int:
        if self.kind is bool:
            refuse_mask(self._recorder.untraceable, sys._getframe(1))
        return operator.index(self.plain())

    def __format__(self, spec: str) -> str:
        return format(self.plain(), spec)

    def __trunc__(self) -> Any:
        return self if type(self.constant) is int else math.trunc(self.plain())

    def __floor__(self) -> Any:
        return self if type(self.constant) is int else math.floor(self.plain())

    def __ceil__(self) -> Any:
        return self if type(self.constant) is int else math.ceil(self.plain())

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None and type(self.constant) is int else round(self.plain(), digits)

    def __getattr__(self, name: str) -> Any:
        if name == "item" and issubclass(self.kind, np.generic):
            return self.as_int
        return getattr(self.plain(), name)

    def __reduce__(self) -> tuple[Any, ...]:
        self._recorder.untraceable("copies a traced number out of the trace")
        return self.kind, (self.plain(),)

    def __copy__(self) -> ChoiceTracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ChoiceTracer:
        return self


class TextChoiceTracer(ChoiceTracer):
    """A text of the function that is traced."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self.plain())

    def __iter__(self) -> Any:
        return iter(self.plain())

    def __getitem__(self, key: Any) -> Any:
        return self.plain()[key]

    def __contains__(self, item: Any) -> bool:
        return item in self.plain()


class TextArgumentTracer(TextChoiceTracer):
    """A text among the arguments, which notes that the function looks at it."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name != "__class__":
            of = object.__getattribute__
            of(self, "_recorder").read_texts.add(id(of(self, "node")))
        return object.__getattribute__(self, name)


#: The tracers of choices.
CHOICES = frozenset({ChoiceTracer, TextChoiceTracer, TextArgumentTracer})

#: Whose sums and products are whole numbers up to ``LARGEST``; those of NumPy's smaller ints begin again at the other
#: end.
WIDE = frozenset({int, np.int64})


def _kind_among(things: Iterable[Any]) -> type | None:
    """What an int is that is computed from some, or is one of them; None for a plain one, or a text."""
    kinds = {one.kind for one in things if is_choice(one)} - {int, str}
    return next(iter(kinds - WIDE or kinds), None)


class _Constant(NamedTuple):
    """A plain int among choices."""

    constant: int
    node: float
    options: frozenset[int]
    largest: float

    def bound(self) -> None:
        pass

    def possible(self) -> frozenset[int]:
        return self.options


class _Line(NamedTuple):
    """``offset + n``, or ``offset - n``."""

    of: ChoiceTracer  #: n
    sign: int  #: 1 or -1
    offset: int

    def at(self, other: Any) -> int:
        """What it is where n is another one."""
        return self.offset + self.sign * int(other)

    def back(self, number: int) -> int:
        """What n is where it is a certain number."""
        return self.sign * (number - self.offset)


def _line_of(row: str, one: Any, two: Any) -> _Line | None:
    """Of a sum or a difference of a choice and a constant; None of anything else."""
    are_plain = type(one) is _Constant, type(two) is _Constant
    if row not in ("add", "sub") or are_plain[0] is are_plain[1]:
        return None
    constant, choice = (one, two) if are_plain[0] else (two, one)
    sign = -1 if row == "sub" and are_plain[0] else 1
    offset = -constant.constant if row == "sub" and are_plain[1] else constant.constant
    line = choice._line or _Line(choice, 1, 0)
    return _Line(line.of, sign * line.sign, offset + sign * line.offset)


#: Relations of numbers whose signs have changed.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _is_int(thing: Any) -> bool:
    return thing.kind in WIDE if is_choice(thing) else type(thing) is int and abs(thing) <= LARGEST


def own_kind(thing: Any) -> type:
    """What ``isinstance`` says that a plain thing, or a choice, is."""
    return thing.kind if is_choice(thing) else type(thing)


def _part(thing: Any) -> Any:
    """An operand as a choice among ints; None if it is something else."""
    if not _is_int(thing):
        return None
    if is_choice(thing):
        return thing
    return _Constant(thing, float(thing), frozenset({thing}), float(abs(thing)))


def _plain(thing: Any) -> Any:
    return thing.plain() if is_choice(thing) else thing


def _number(thing: Any) -> Any:
    return thing.number() if is_choice(thing) else thing


_LARGEST_OF: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.add,
    "mul": operator.mul,
    "floordiv": max,
    "mod": max,
    "maximum": max,
    "minimum": max,
}
#: The exponents of powers that are products.
_POWERS = range(1, 5)
_FALLIBLE = ("floordiv", "mod")
_MAKES_MINUS_ZERO = ("mul", "floordiv", "mod")


def _define(row: str) -> None:
    function = getattr(operator, row)
    setattr(ChoiceTracer, f"__{row}__", lambda self, other: self._with(row, function, self, other))
    setattr(ChoiceTracer, f"__r{row}__", lambda self, other: self._with(row, function, other, self))


def _define_float(name: str) -> None:
    """An operator that gives a float, or of ints something else than their sums."""
    function = getattr(operator, name)

    def of(self: ChoiceTracer, one: Any, other: Any) -> Any:
        if name == "pow" and one is self and self.kind in WIDE and other in _POWERS:
            return functools.reduce(operator.mul, [self] * other)
        are_ints = all(issubclass(own_kind(each), (int, np.integer)) for each in (one, other))
        is_float = type(self.constant) is int and (name == "truediv" or not are_ints)
        read = _number if is_float else _plain
        return function(read(one), read(other))

    setattr(ChoiceTracer, f"__{name}__", lambda self, other: of(self, self, other))
    setattr(ChoiceTracer, f"__r{name}__", lambda self, other: of(self, other, self))


def _define_comparison(name: str, kind: str) -> None:
    function = getattr(operator, name)
    setattr(ChoiceTracer, f"__{name}__", lambda self, other: self._compare(kind, function, other))


def _define_conversion(name: str, function: Callable[[Any], Any]) -> None:
    setattr(ChoiceTracer, f"__{name}__", lambda self: function(self.plain()))


def _define_plain(name: str) -> None:
    """An operator that wants a plain number."""
    function = divmod if name == "divmod" else getattr(operator, name)
    plain = name.strip("_")
    setattr(ChoiceTracer, f"__{plain}__", lambda self, other: function(self.plain(), _plain(other)))
    setattr(ChoiceTracer, f"__r{plain}__", lambda self, other: function(_plain(other), self.plain()))


for _function in (int, float, complex, str, repr):
    _define_conversion(_function.__name__, _function)
_define_conversion("invert", lambda number: int(~number))
for _name in ("divmod", "and_", "or_", "xor", "lshift", "rshift"):
    _define_plain(_name)
for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _define(_name)
for _name in ("truediv", "pow"):
    _define_float(_name)
for _name, _kind in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    _define_comparison(_name, _kind)


def choice_among(recorder: DecisionRecorder, node: Value, chosen: Any, items: Collection[Any]) -> ChoiceTracer:
    """One of some ints, or of some texts: ``chosen``, in this run."""
    options: set[int | str] | None = set()
    largest = 0.0
    for one in items:
        chosen_before = is_choice(one)
        size = one.largest if chosen_before else abs(one) if type(one) is int else 0.0
        largest = size if size > largest else largest  # max() would be traced
        if options is not None:
            of_one = one.options if chosen_before else (one,)
            options = None if of_one is None else options.union(of_one)
    constant = chosen.constant if is_choice(chosen) else chosen
    tracer = TextChoiceTracer if type(constant) is str else ChoiceTracer
    known = None if options is None else frozenset(options)
    return tracer(recorder, node, constant, known, float(largest), _kind_among(items))


def largest_choice(name: str, items: Sequence[Any]) -> Any:
    """The largest, or the smallest, of ints some of which decisions choose; None where there is something else."""
    if not any(map(is_choice, items)) or not all(map(_is_int, items)) or len(set(map(own_kind, items))) > 1:
        return None
    row, function = ("maximum", max) if name == "max" else ("minimum", min)

    def of_two(one: Any, other: Any) -> Any:
        if not is_choice(one) and not is_choice(other):
            return function(one, other)
        choice: ChoiceTracer = one if is_choice(one) else other
        return choice._with(row, function, one, other)

    return functools.reduce(of_two, items)


def is_choice(thing: object) -> bool:
    """Whether ``thing`` is a :class:`ChoiceTracer`; ``isinstance`` says that it is an int or a text."""
    return type(thing) in CHOICES
