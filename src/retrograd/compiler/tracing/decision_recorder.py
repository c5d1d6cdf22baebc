"""What a recorder keeps of decisions: comparisons that decide something, and what conditions choose.

A comparison is a :class:`~.bool_tracer.BoolTracer`, which becomes a guard where something asks for its truth. What a
condition chooses is a node, or the tracer of a number, an int or a text.
"""

from __future__ import annotations

import itertools
import math
import struct
import sys
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ... import engine, errors
from ...engine import Value
from ...engine.numbers import is_number, to_float
from ...engine.source_lines import current_location, is_users
from ...index import IndexTracer
from ..if_conversion.running_trial import current, known_tests
from .bool_tracer import BoolTracer, Purpose, is_comparison
from .choice_tracer import LARGEST, ChoiceTracer, choice_among, is_choice, own_kind
from .float_tracer import FloatTracer, is_tracer
from .outcomes import Site
from .recording import Guard, Recording
from .result_kinds import kind_of, may_be_a_number

__all__ = ["DecisionRecorder", "as_float"]


#: So many nodes are looked at under a number that the function uses as a plain one.
_MOST_UNDER = 256

#: So many numbers are looked at for what some of them are, which takes some tenths of a second.
_MOST_ASKED = 2_000_000

#: Terms cancel if less than this part of their magnitudes is left.
_CANCELS = 2.0**-20
#: Operations that give no negative number, and those that give none of such numbers.
_NOT_NEGATIVE = frozenset({"abs", "cosh", "exp", "exp2", "hypot", "sigmoid", "softplus", "sqrt"})
_KEEP_SIGN = frozenset({"add", "mul", "div", "sum", "prod"})
#: So many operations are looked at under a term.
_MOST_DEEP = 4

_FLOATS = frozenset({float, FloatTracer})
#: The rows of operators, which give NumPy's numbers where an operand is one.
_ARITHMETIC = frozenset(
    {
        *("add", "sub", "mul", "div", "neg", "abs", "pow", "mod", "floordiv", "identity", "where"),
        *("max", "min", "maximum", "minimum"),
    }
)
_INTS = frozenset({int, ChoiceTracer})
#: The rows of what was chosen, by an order, an index or a condition.
_CHOOSE = frozenset({"identity", "where"})

#: What rounds a float to an int.
_ROUNDED: dict[str, Callable[[float], int]] = {
    "round": round,
    "trunc": math.trunc,
    "floor": math.floor,
    "ceil": math.ceil,
}


class _Constants(dict[bytes, Value]):
    """The numbers among what is chosen, as leaves, by their bits; made where they are missing."""

    def __init__(self, numbers: set[int]) -> None:
        super().__init__()
        self._numbers = numbers  # the ids of all leaves that are plain numbers

    def __missing__(self, bits: bytes) -> Value:
        (number,) = struct.unpack("d", bits)
        self[bits] = made = engine.restore("constant", (), number, 0.0)
        self._numbers.add(id(made))
        return made


class DecisionRecorder(ABC):
    """The part of a recorder that decisions concern.

    Args:
        tests_identity: ``(a < b) is True`` needs a bool.
        decides_kinds: what chooses between a Value and a plain number is a guard.
        as_number: whether the result is a Value or a plain number is all the same.
        wants_ints: the function may do with an int what its tracer cannot.
    """

    def __init__(self, tests_identity: bool, decides_kinds: bool, as_number: bool, wants_ints: bool) -> None:
        self._tests_identity, self._decides_kinds, self._as_number = tests_identity, decides_kinds, as_number
        self._wants_ints = wants_ints
        self._numbers: set[int] = set()  # leaves that are plain numbers in the function
        self._whole: dict[int, Value | float] = {}  # of numbers that decisions choose: 1 for an int, 0 for a float
        self._mixed: set[int] = set()  # nodes that are a Value or a plain number, as their selection comes out
        self._chosen: list[Value] = []  # by conditions: kept, so that their ids stay theirs
        self._chooses = False  # ints or texts, which results may hold
        self._chooses_ints = False  # as numbers, beside floats
        self._asked = 0  # how many numbers were looked at for what some are
        self._values: dict[int, Value] = {}  # that take the places of Values among the arguments
        self._numpys: set[int] = set()  # the leaves that are NumPy's numbers, by their ids
        self._numpys_ints: set[int] = set()  # nodes that NumPy's functions give as ints
        self._ints_or_floats: set[int] = set()  # nodes of max and min, of an int and floats
        self._numpy_tests: set[int] = set()  # comparisons with NumPy's numbers
        self._index_numbers: dict[int, Value] = {}  # the leaves that have indices as numbers, by their slots
        self._among: dict[int, tuple[BoolTracer, Value, frozenset[int | str]]] = {}  # by the ids of tests
        self.read_texts: set[int] = set()  #: the leaves of texts among the arguments that the function looks at
        self._texts: dict[str, int] = {}  # that decisions choose from, and what stands for them
        self._constants = _Constants(self._numbers)
        #: What the engine makes of comparisons; a bool has decided.
        self.comparison_type: type[BoolTracer | bool] = bool if tests_identity else BoolTracer
        self.known_guards: dict[tuple[int, int, str, bool], Guard] = {}  # by code, instruction, and what is decided
        self._codes: dict[int, CodeType] = {}  # kept, so that their ids stay theirs
        self.is_exact: bool = False  #: whether the bits are to be the engine's
        self.is_kept: bool = False  #: whether a bounded cache would keep what it is asked for in place of an object
        self._recording = Recording()

    @abstractmethod
    def check(self, thing: str) -> None:
        """Raises LeakedTraceError when the function has returned, or another thread traces it."""

    @abstractmethod
    def traced(self, node: Value) -> FloatTracer:
        """The tracer of the float in a node."""

    @abstractmethod
    def raising(self, run: Callable[[], Any]) -> Any:
        """What ``run`` gives, which raises as Python's floats do."""

    def untraceable(self, what: str, where: str = "") -> None:
        """A graph break: the function did something that a program cannot do. ``what`` is a verb and its object."""
        sentence = f"{where or current_location() or 'the function'} {what}, which a compiled program cannot do."
        if sentence not in self._recording.graph_breaks:
            self._recording.graph_breaks.append(sentence)

    @property
    def traces_floats(self) -> bool:
        """Whether there are floats among the arguments."""
        return bool(self._numbers)

    def value(self, leaf: Value) -> Value:
        """The leaf that takes the place of a Value among the arguments: ``leaf``, which is another object."""
        self._values[id(leaf)] = leaf
        return leaf

    def hashed(self, value: Value) -> None:
        """``hash(value)``, as sets and dicts ask for it: by its identity, where a plain number has its own."""
        if id(value) in self._values:
            self.untraceable("looks an argument up by its identity")
        may_be_chosen = not self._recording.asks_which and engine.row_name(value) in _CHOOSE
        chosen = itertools.chain((one.node for one in self._recording.selections), self._chosen)
        if may_be_chosen and any(one is value for one in chosen):
            self._recording.asks_which = True  # Python has one of those it was chosen from
        else:
            self.ask_kind(value)

    def _kind_varies(self, results: Sequence[Value | float]) -> bool:
        if not self._mixed or self._as_number:
            return False
        before = engine.set_tracer(None)
        try:
            return not self._are_surely_values(results)
        finally:
            engine.set_tracer(before)

    def _kind_is_unknown(self, result: Value | float) -> bool:
        if self._mixed:
            return may_be_a_number(result, {*self._mixed, *self._numbers})
        return self._chooses_ints

    def ask_kind(self, value: Value) -> None:
        """The function does with a Value what it could not do with a plain number, or what gives something else there.

        A guard sees to it that it is a Value in other calls; where that is not enough, decisions do. The tape asks,
        which does not report what this does.
        """
        if self._mixed and not self._recording.asks_kind:
            self._asked += len(self._mixed) + len(self._numbers)
            self._recording.asks_kind = self._asked > _MOST_ASKED or not self._are_surely_values([value])

    def _are_surely_values(self, results: Sequence[Value | float]) -> bool:
        """Whether results are Values in each call, or at least in those that further guards let pass."""
        before = engine.set_recording(True)
        try:
            kinds = [kind_of(one, self._recording.selections, self._mixed, self._numbers) for one in results]
        finally:
            engine.set_recording(before)
        asked = {id(kind): kind for kind in kinds if isinstance(kind, Value)}.values()
        if any(kind is None or kind is False for kind in kinds) or not all(engine.concrete(kind) > 0 for kind in asked):
            return False
        self._recording.positive += asked
        return True

    def look_up(self) -> None:
        """A number is about to be hashed. Raises TypeError where a cache may keep it that cannot be cleared."""
        if self.is_kept:
            self.untraceable("looks a traced number up, which a bounded cache of objects may keep")
            raise TypeError("a traced number cannot be looked up in a bounded cache of objects.")

    def check_precision(self, kind: type, operands: Sequence[Any]) -> None:
        """Python's floats among ``operands`` meet a number of this kind: NumPy's shorter ones shorten them."""
        if issubclass(kind, np.floating) and kind is not np.float64 and not self._come_from_numpys(operands):
            self.untraceable(f"computes with a {kind.__name__}")

    def _come_from_numpys(self, operands: Sequence[Any]) -> bool:
        """Whether traced numbers are computed from float64 ones, of which NumPy makes what meets them."""
        return self._come_from(self._numpys, [one._node for one in operands if is_tracer(one)])

    def _come_from(self, sources: Collection[int], nodes: Sequence[Value | float]) -> bool:
        rest = [*nodes] if sources else []
        seen = set()
        while rest:
            node = rest.pop()
            if isinstance(node, Value) and id(node) not in seen:
                if id(node) in sources:
                    return True
                seen.add(id(node))
                # Functions give Python's floats.
                rest.extend(engine.operands(node) if engine.row_name(node) in _ARITHMETIC else ())
        return False

    def may_be_numpys(self, test: BoolTracer) -> bool:
        """Whether NumPy may have compared: the sum of two of its truth values is one, too."""
        left, right = test._left, test._right
        return id(test) in self._numpy_tests or self._come_from(self._numpys, [left, right])

    def as_numpys_test(self, test: Any) -> Any:
        """A comparison, or a truth value, as NumPy's."""
        if not is_comparison(test):
            return np.bool_(test)
        self._numpy_tests.add(id(test))
        return test

    def note_numpys_ints(self, number: Any) -> Any:
        """A number that NumPy's function gives of ints, an int of NumPy's, and the trace as a float."""
        if is_tracer(number):
            self._numpys_ints.add(id(number._node))
        return number

    def as_int_or_float(self, number: FloatTracer, chosen: Sequence[Any]) -> FloatTracer:
        """A number that is one of some: an int in some calls, and a float in others, if there is an int among them."""
        is_either = any(is_tracer(one) and id(one._node) in self._ints_or_floats for one in chosen)
        if is_either or not {int, bool, ChoiceTracer}.isdisjoint(map(type, chosen)):
            self._ints_or_floats.add(id(number._node))
            if self._wants_ints:
                self.untraceable("takes an int or a float where something asks for types, or keeps it in a cache")
        return number

    def may_be_numpys_int(self, number: FloatTracer) -> bool:
        """Whether a number is computed from such."""
        return self._come_from(self._numpys_ints, [number._node])

    def ask_class(self, thing: Any, kinds: Sequence[Any]) -> None:
        """Whether a traced number is of one of some classes is asked: a graph break, if that cannot be known."""
        found: list[type] = [own_kind(thing)] if is_choice(thing) else [bool] if is_comparison(thing) else [float]
        if is_comparison(thing) and self.may_be_numpys(thing):
            found.append(np.bool_)
        if is_tracer(thing):
            found.append(np.float64)
            found += [np.int64] if self.may_be_numpys_int(thing) else []
            found += [int, bool] if self._come_from(self._ints_or_floats, [thing._node]) else []
        plain = tuple(kind for kind in kinds if type(kind) in (type, ABCMeta))
        if len({issubclass(one, plain) for one in found}) > 1:
            self.untraceable("asks whether a number is an int, or one of NumPy's")

    def class_of(self, thing: Any) -> type:
        """What ``type`` gives of a traced number: a graph break, if that cannot be known."""
        if is_tracer(thing) and id(thing._node) in self._numpys:
            return np.float64
        if is_comparison(thing):
            is_unsure = self.may_be_numpys(thing)
        else:
            unsure = self._numpys | self._numpys_ints | self._ints_or_floats
            is_unsure = is_tracer(thing) and self._come_from(unsure, [thing._node])
        if is_unsure:
            self.untraceable("asks whether a number is an int, or one of NumPy's")
        return own_kind(thing) if is_choice(thing) else bool if is_comparison(thing) else float

    def concrete(self, value: Value) -> float:
        """The concrete number of a node in this run."""
        return engine.concrete(value)

    def guard(
        self,
        kind: str,
        left: Value,
        right: object,
        outcome: bool,
        purpose: Purpose = Purpose.DECIDES,
        chosen: float | str | None = None,
        use: str = "",
    ) -> None:
        """A comparison of a number with another one, or its truth value, decided something."""
        if type(right) is not float and right is not None and not isinstance(right, Value):
            number = as_float(right)
            if number is None:
                self.untraceable(f"compares a traced number with {errors.describe(right)}, which no float equals")
                return
            right = number
        where = current_location(inner=2)
        self._recording.guard(Guard(kind, outcome, where, purpose, chosen, use), left, right)
        if purpose is Purpose.DECIDES and where is not None:
            _decides((where.file, where.line))

    def plain(self, number: FloatTracer, use: str) -> None:
        """The function uses the number of this call. It is part of the program from now on if it may be in others.

        That is, if it is computed from arguments alone that have no derivatives; else this is a graph break, as of NaN,
        which equals nothing.
        """
        if number._number == number._number and self._is_of_data(number._node):
            self.guard("==", number._node, number._number, True, chosen=number._number, use=use)
            if number._number == 0.0:  # text, and C's functions, tell -0.0 from 0.0
                sign = math.copysign(1.0, number._number)
                self.guard("==", engine.apply("copysign", 1.0, number._node), sign, True, chosen=sign, use=use)
        else:
            self.untraceable(use)

    def _is_of_data(self, node: Value) -> bool:
        selected = {id(one.node) for one in self._recording.selections}
        rest, seen = [node], set()
        while rest:
            one = rest.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            operands = [each for each in engine.operands(one) if isinstance(each, Value)]
            is_given = not operands and id(one) in self._numbers
            if id(one) in selected or len(seen) > _MOST_UNDER or not (operands or is_given):
                return False
            rest += operands
        return True

    def sum_of(self, terms: Sequence[Any]) -> Any:
        """A sum that is rounded after each addition where Python rounds it once; None where that may show. Guards see
        to it that it is finite, and that terms do not cancel: then it differs by a rounding for each."""
        if self.is_exact:
            return None
        nodes = [one._node if is_tracer(one) else one for one in terms]
        total = size = engine.reduce("sum", nodes)
        if not all(map(_is_no_less_than_zero, nodes)):
            size = engine.reduce("sum", [engine.apply("abs", n) if isinstance(n, Value) else abs(n) for n in nodes])
        found, least, most = engine.apply("abs", total), engine.apply("mul", size, _CANCELS), sys.float_info.max
        if not engine.concrete(least) <= engine.concrete(found) <= most:
            return None
        self.guard("<=", found, most, True, Purpose.ROUNDS)
        if size is not total:
            self.guard(">=", found, least, True, Purpose.ROUNDS)
        return total if any(isinstance(one, Value) and not is_tracer(one) for one in terms) else self.traced(total)

    def decide(self, kind: str, left: Value, right: Value | float, outcome: bool) -> None:
        """A comparison has just been asked for its truth. Where that comes out so again, the engine sees to it."""
        self.guard(kind, left, right, outcome)
        self._note_guard(sys._getframe(2), kind, outcome)

    def comparison(self, kind: str, left: Value, right: object, outcome: bool) -> BoolTracer | bool:
        """A comparison of numbers, which may decide something later."""
        number = right if isinstance(right, Value) else as_float(right)
        if number is None:
            self.guard(kind, left, right, outcome)
            return outcome
        if self._tests_identity:
            # In code that may ask which object it is, it decides before anything asks for its truth.
            self.decide_in(sys._getframe(2), kind, left, number, outcome)
            return outcome
        made = BoolTracer(self, kind, left, number, outcome)
        if isinstance(right, np.generic):
            self._numpy_tests.add(id(made))
        return made

    def decide_in(self, frame: FrameType, kind: str, left: Value, right: Value | float, outcome: bool) -> None:
        """A comparison decides where a frame is, which may be the user's."""
        known = self.known_guards.get((id(frame.f_code), frame.f_lasti, kind, outcome))
        if known is not None:
            self._recording.guard(known, left, right)
            return
        self.guard(kind, left, right, outcome)
        self._note_guard(frame, kind, outcome)

    def _note_guard(self, frame: FrameType, kind: str, outcome: bool) -> None:
        """The last guard says what an instruction of the user's decides, if it decides so again."""
        if is_users(frame):
            self._codes[id(frame.f_code)] = frame.f_code
            self.known_guards[id(frame.f_code), frame.f_lasti, kind, outcome] = self._recording.guards[-1]

    def as_comparison(self, node: Value, outcome: bool) -> BoolTracer:
        """A number that is 1 or 0, as what a comparison gives."""
        self._chosen.append(node)
        self._numbers.add(id(node))
        made = BoolTracer(self, "!=", node, 0.0, outcome)
        made.node = node
        return made

    def condition(self, test: BoolTracer) -> Value:
        """A comparison as a number, 1 or 0."""
        if test.node is None:
            row, left, right = test.operands()
            test.node = engine.apply(row, left, right)
            self._chosen.append(test.node)
            self._numbers.add(id(test.node))
        return test.node

    def code(self, constant: int | str) -> float:
        """The number that stands for an int or a text among others that decisions choose from."""
        return float(constant if isinstance(constant, int) else self._texts.setdefault(constant, len(self._texts)))

    def choice(self, condition: Value, outcome: bool, yes: Any, no: Any) -> ChoiceTracer:
        """One of two ints, or of two texts, by a condition."""
        nodes = [one.node if is_choice(one) else self.code(one) for one in (yes, no)]
        node = engine.apply("where", condition, *nodes)
        self._chosen.append(node)
        self._numbers.add(id(node))
        self._chooses = True
        return choice_among(self, node, yes if outcome else no, (yes, no))

    def count(self, test: BoolTracer, kind: type = int) -> ChoiceTracer:
        """A comparison as an int, 1 or 0."""
        self._chooses = True
        return ChoiceTracer(self, self.condition(test), int(test.outcome), frozenset({0, 1}), 1.0, kind)

    def whole(self, name: str, number: FloatTracer) -> ChoiceTracer | int:
        """A float rounded to an int by an operation of the op table."""
        self.check("a number")
        if self._wants_ints:
            self.untraceable("makes a traced number an int where something asks for types, or keeps it in a cache")
            return int(_ROUNDED[name](number._number))
        node = self.raising(lambda: engine.apply(name, number._node))
        return self.integer(engine.apply("where", engine.apply("equal", node, 0.0), 0.0, node))  # no int is minus zero

    def as_float(self, number: FloatTracer) -> FloatTracer:
        """A number that may be an int as a float."""
        self.check("a number")
        return self.traced(engine.apply("identity", number._node)) if id(number._node) in self._whole else number

    def integer(self, node: Value, largest: float = math.inf, kind: type = int) -> ChoiceTracer:
        """A node that is a whole number in each call, as an int, at most ``largest`` in magnitude."""
        self._chosen.append(node)
        self._numbers.add(id(node))
        self._chooses = True
        return ChoiceTracer(self, node, int(engine.concrete(node)), None, largest, kind)

    def number_of_index(self, index: IndexTracer) -> Value | None:
        """The leaf that has an index as a number; None if none has."""
        return self._index_numbers.get(index._slot)

    def decides_choice(self) -> None:
        """Which int or text was chosen decides something, on the line that runs."""
        here = current_location()
        if (trial := current()) is not None and here is not None:
            trial.chosen_by.add((here.file, here.line))

    def must_be(self, node: Value, constant: int | str) -> None:
        """A choice is wanted as a plain int or text: it must be the same again."""
        self.guard("==", node, self.code(constant), True, chosen=constant)

    def known_tests(self, number: Value) -> Iterable[tuple[BoolTracer, bool]]:
        """The comparisons of a number that the arms which run are under, and how they come out there."""
        return known_tests(number, self._asked_of)

    def _asked_of(self, test: BoolTracer) -> Value | None:
        """The choice of which a test asks whether it is one of some constants."""
        asked = self._among.get(id(test))
        return asked[1] if asked is not None else None

    def note_among(self, test: BoolTracer, choice: Value, constants: frozenset[int | str]) -> None:
        """A test asks whether a choice is one of these constants."""
        self._among[id(test)] = test, choice, constants

    def asked_among(self, test: BoolTracer, choice: Value) -> frozenset[int | str] | None:
        """The constants of which a test asks whether a choice is one; None of another test."""
        asked = self._among.get(id(test))
        return asked[2] if asked is not None and asked[1] is choice else None

    def otherwise(self, condition: Value, operand: Any, number: float) -> Any:
        """An operand if a condition holds, and else a number, which nothing depends on then."""
        if not isinstance(operand, Value) and not is_tracer(operand):
            return operand
        node = engine.apply("where", condition, *self._candidates_of((operand, number)))
        self._chosen.append(node)
        if isinstance(operand, Value):
            if self._mixed:
                self._mixed.add(id(node))
            return node
        self._numbers.add(id(node))
        return self.traced(node)

    def chosen(self, condition: Value, yes: Any, no: Any) -> Any:
        """One of two numbers, by a condition: a Value or a tracer, as they are; None if that is to be decided."""
        if type(yes) is type(no) is Value and not self._mixed:  # most are
            self._chosen.append(node := engine.apply("where", condition, yes, no))
            return node
        if type(yes) in _FLOATS and type(no) in _FLOATS and not self._whole:
            self._chosen.append(node := engine.apply("where", condition, *self._candidates_of((yes, no))))
            self._numbers.add(id(node))
            return self.traced(node)
        are_values = [isinstance(one, Value) for one in (yes, no)]
        are_ints = [type(one) is int or is_choice(one) for one in (yes, no)]
        mixes_kinds = are_values[0] != are_values[1] or are_ints[0] != are_ints[1]
        if mixes_kinds and self._decides_kinds:
            return None
        self._recording.mixes_kinds |= mixes_kinds
        numbers = [one.number() if is_choice(one) else one for one in (yes, no)]
        node = engine.apply("where", condition, *self._candidates_of(numbers))
        self._chosen.append(node)
        if not any(are_values):
            self._numbers.add(id(node))
            self._note_whole(condition, node, yes, no)
            return self.traced(node)
        if not all(are_values) or self._mixed:  # what either is may depend on what was chosen before
            self._mixed.add(id(node))
        return node

    def one_of(self, tests: Sequence[Any], items: Sequence[Any]) -> Any:
        """The first of some numbers, or the last one whose test holds; there is a test for each but the first.

        None where they are of several kinds, or a test is not traced.
        """
        kinds = set(map(type, items))
        are_values, are_floats = kinds == {Value} and not self._mixed, kinds <= _FLOATS and not self._whole
        if not (are_values or are_floats or kinds <= _INTS) or not all(type(test) is BoolTracer for test in tests):
            return None
        if are_values or are_floats:
            node, *others = items if are_values else self._candidates_of(items)
            node = self._last_that_holds(tests, node, others, are_values)
            return node if are_values else self.traced(node)
        if any(type(one) is int and abs(one) > LARGEST for one in items) or len(set(map(own_kind, items))) > 1:
            return None
        self._chooses = True
        node, *others = [one.node if is_choice(one) else self._candidate(float(one), 0) for one in items]
        node = self._last_that_holds(tests, node, others, are_values)
        held = [one for test, one in zip(tests, items[1:], strict=True) if test.outcome]
        return choice_among(self, node, held[-1] if held else items[0], items)

    def _last_that_holds(
        self, tests: Sequence[BoolTracer], node: Value, others: Sequence[Value], are_values: bool
    ) -> Value:
        for test, other in zip(tests, others, strict=True):
            if other is not node:
                node = engine.apply("where", self.condition(test), other, node)
                self._chosen.append(node)
                if not are_values:
                    self._numbers.add(id(node))
        return node

    def _note_whole(self, condition: Value, node: Value, yes: Any, no: Any) -> None:
        """Whether what was chosen is an int, as a number that the program computes."""
        whole = [self._is_whole(one) for one in (yes, no)]
        known = whole if set(map(type, whole)) == {float} else None  # a Value that is compared would decide
        if known == [0.0, 0.0]:
            return
        self._chooses_ints = True
        if not self._as_number:
            self._whole[id(node)] = 1.0 if known == [1.0, 1.0] else engine.apply("where", condition, *whole)

    def _is_whole(self, thing: Any) -> Value | float:
        if is_tracer(thing):
            return self._whole.get(id(thing._node), 0.0)
        return float(type(thing) is int or is_choice(thing))

    def _settle_whole(self, leaf: Any, is_alone: bool) -> None:
        """A result: that it is an int, or a float, as in this run becomes a guard."""
        whole = self._whole.get(id(leaf._node), 0.0) if is_tracer(leaf) else 0.0
        self._recording.is_int = is_alone and (whole if isinstance(whole, float) else engine.concrete(whole)) > 0.5
        if isinstance(whole, Value):
            is_int = engine.concrete(whole) > 0.5
            self.guard(">", whole, 0.5, is_int)
            if is_int and not is_alone:
                self.untraceable("returns an int among others where other calls return a float")

    def _candidates_of(self, items: Sequence[Any]) -> tuple[Value, ...]:
        return tuple(map(self._candidate, items, range(len(items))))

    def _candidate(self, item: Any, position: int) -> Value:
        if type(item) is Value:
            return item
        if is_tracer(item):
            node: Value = item._node
            return node
        if isinstance(item, Value):
            return item
        if type(item) is not float and not is_number(item):
            raise errors.not_selectable(item, position)
        self.check_precision(type(item), ())
        number = item if type(item) is float else to_float(item, "a selection")
        return self._constants[struct.pack("d", number)]


def as_float(number: Any) -> float | None:
    """``number`` as a float; None if no float equals it."""
    try:
        result = float(number)
    except OverflowError:
        return None
    return result if result == number or result != result else None


def _decides(site: Site) -> None:
    """Say in converted code that a comparison decides something on a line."""
    if (trial := current()) is not None:
        trial.decides(site)


def _is_no_less_than_zero(number: Value | float, depth: int = 0) -> bool:
    """Whether a number is at least 0, or NaN, whatever the arguments are."""
    if not isinstance(number, Value):
        return number >= 0.0
    row, operands = engine.row_name(number), engine.operands(number)
    if row in _NOT_NEGATIVE or depth > _MOST_DEEP or not operands:
        return row in _NOT_NEGATIVE
    if row == "pow" and isinstance(operands[1], float) and operands[1] % 2.0 == 0.0:
        return True
    if row == "mul" and operands[0] is operands[1]:
        return True
    return row in _KEEP_SIGN and all(_is_no_less_than_zero(one, depth + 1) for one in operands)
