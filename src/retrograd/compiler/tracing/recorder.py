"""Recording: run a function once, on tracers, and keep what its result depends on.

A :class:`Recorder` makes a tracer for each argument and runs the function. The tape records the arithmetic, as it
always does. The recorder is told of everything else through which a number could leave the graph:

* a float argument, and what ``.data`` gives, is a :class:`~.float_tracer.FloatTracer`, which is recorded too;
* a comparison is a :class:`~.bool_tracer.BoolTracer`; one that decides something becomes a guard, checked in every
  later call;
* an :class:`~retrograd.index.Index` argument selects with ``take`` and ``table``, and each selection is kept;
* what cannot be recorded (text, ``.grad``, ``backward()``) is a graph break: the call runs eagerly.

What the recorder cannot see, such as the time, random numbers and files, is found in a plain run (calls/effects.py).
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Collection, Container, Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import repeat
from types import FrameType
from typing import Any

import numpy as np

from ... import engine, errors
from ...engine import Value
from ...engine.numbers import is_number
from ...engine.pytree import single_output
from ...engine.source_lines import current_location, is_users, record_sources
from ...index import IndexTracer, position_in
from ..calls.outputs import OutputsOfTrace, is_single, leaves_of, outputs_of, settled
from ..guards.builtin_overrides import extremes
from ..if_conversion.running_trial import current
from ..if_conversion.tracers.frozen_list import FrozenList
from ..if_conversion.tracers.object_tracer import Chosen
from .bool_tracer import BoolTracer, Purpose, is_comparison, is_nan, is_numpys, may_be_containers
from .choice_tracer import ChoiceTracer, TextArgumentTracer, is_choice, largest_choice
from .decision_recorder import DecisionRecorder, as_float
from .float_tracer import FloatTracer, is_tracer
from .recording import FIRST, Choice, IndexGuard, Recording, Selection
from .selection_graph import comparisons_of, label_of, may_have_derivatives, read_by, under_by_any_choice

__all__ = ["MOST_INDEX", "Recorder", "TooManyDerivativesError", "active_recorder", "selecting"]

#: Indices, and ints that a program reads, are smaller: it takes no others (native/compiler/run/signature.cpp).
MOST_INDEX = 2**31

#: The most steps of recorded sweeps in one program. To trace so many takes about as long as four eager calls, some ten
#: or twenty seconds, and a gigabyte of memory.
MOST_STEPS = 2_500_000


class TooManyDerivativesError(Exception):
    """A trace ends early, since what it records is too large for a program."""


class _Current(threading.local):
    recorder: Recorder | None = None
    selects: Container[tuple[str, int]] = ()
    identity_is_converted: bool = False
    compares_extremes: bool = False


_current = _Current()


def active_recorder() -> Recorder | None:
    """The recorder of the function that this thread is tracing, if any; compiled functions inside are part of it."""
    return _current.recorder


@contextmanager
def selecting(
    lines: Container[tuple[str, int]], identity_is_converted: bool, compares_extremes: bool
) -> Iterator[None]:
    """What this thread traces is converted.

    Args:
        lines: on which, by file and number.
        identity_is_converted: whether no code asks which object something is, but converted code.
        compares_extremes: whether max and min choose by comparisons, as derivatives of derivatives need.
    """
    now = _current
    before = now.selects, now.identity_is_converted, now.compares_extremes
    now.selects, now.identity_is_converted, now.compares_extremes = lines, identity_is_converted, compares_extremes
    try:
        yield
    finally:
        now.selects, now.identity_is_converted, now.compares_extremes = before


class Recorder(DecisionRecorder):
    """Makes one recording: first the tracers of the arguments, then :meth:`run`.

    It follows every number, so that later calls need not run the function.
    """

    follows_numbers = True  # the engine asks it about each number that could leave the trace

    def __init__(
        self,
        tests_identity: bool = False,
        decides_kinds: bool = False,
        decides_which: bool = False,
        as_number: bool = False,
        wants_ints: bool = False,
        derives_by_floats: bool = False,
        orders_lists: bool = True,
    ) -> None:
        tests_identity = decides_which or (tests_identity and not _current.identity_is_converted)
        super().__init__(tests_identity, decides_kinds, as_number, wants_ints)
        self._decides_which = decides_which
        #: Whether derivatives are taken by float arguments, as if these were Values.
        self.derives_by_floats: bool = derives_by_floats
        self._orders_lists = orders_lists  # else max of a list of floats is the op table's: equals share the gradient
        #: What the engine asks for where max and min choose among Values: see native/tape/extremes.cpp. Where code asks
        #: which of them that was, comparisons choose.
        asked = self._recording.selections, self._mixed, self._constants, self._decides_kinds
        self.asked_by_extremes = None if _current.compares_extremes or self._tests_identity else asked
        self._candidates: dict[tuple[int, ...], tuple[Value, ...]] = {}
        self._indices: dict[int, int] = {}  # by their slots
        self._steps = 0  # of the sweeps that are recorded
        self._no_nans: set[int] = set()  # what NumPy compares, by their ids
        self._decided: set[int] = set()  # selections that are guards, too

    def _note_guard(self, frame: FrameType, kind: str, outcome: bool) -> None:
        """NumPy puts a NaN behind all other floats, and a container finds one equal to itself: none is to be there."""
        sides = self._recording.compared[-2:]
        if is_numpys(frame):
            self._must_be_numbers(sides, "has NumPy compare a NaN")
        elif kind != "==" or not may_be_containers(frame):
            super()._note_guard(frame, kind, outcome)
        elif all(isinstance(side, Value) or side != side for side in sides):  # one constant that is none is enough
            others = [side for side in sides if not is_nan(side)]
            self._must_be_numbers(others[:1] or sides, "has a container compare a NaN")

    def _must_be_numbers(self, sides: Sequence[Any], else_what: str) -> None:
        for side in sides:
            if is_nan(side):
                self.untraceable(else_what)
            elif isinstance(side, Value) and id(side) not in self._no_nans:
                self._no_nans.add(id(side))  # which the guard keeps
                self.guard("==", side, side, True, Purpose.MUST_HOLD)

    # --- the tracers, and the run ---------------------------------------------------------------------

    def number(self, leaf: Value, is_numpys: bool = False) -> FloatTracer:
        """The tracer of a float argument, whose number is ``leaf``'s; ``is_numpys``: it is a float64 of NumPy's."""
        self._numbers.add(id(leaf))
        if is_numpys:
            self._numpys.add(id(leaf))
        return FloatTracer(self, leaf, leaf.data)

    def numbers(self, leaves: Sequence[Value], numbers: Sequence[float], are_numpys: bool) -> list[FloatTracer]:
        """The tracers of several float arguments, whose leaves have these numbers."""
        self._numbers.update(map(id, leaves))
        if are_numpys:
            self._numpys.update(map(id, leaves))
        return list(map(FloatTracer, repeat(self), leaves, numbers))

    def index(self, slot: int, value: int, leaf: Value | None = None) -> IndexTracer:
        """The tracer of an Index argument, number ``slot`` of the indices; ``leaf``: the same as a number."""
        self._indices[slot] = int(value)
        if leaf is not None:
            self._index_numbers[slot] = leaf
            self._numbers.add(id(leaf))
        return IndexTracer(self, slot, int(value))

    def int_argument(self, slot: int, value: int, leaf: Value, kind: type = int) -> ChoiceTracer:
        """The tracer of an int argument that each call brings, which selects as number ``slot`` of the indices."""
        made = self.integer(leaf, float(MOST_INDEX), kind)
        if kind is not int:
            self._numpys.add(id(leaf))
        made.index = self.index(slot, value, leaf)
        return made

    def bool_argument(self, leaf: Value, outcome: bool) -> BoolTracer:
        """The tracer of a truth value that each call brings, as 1 or 0."""
        self._numbers.add(id(leaf))
        return BoolTracer(self, "!=", leaf, 0.0, outcome)

    def text_argument(self, leaf: Value, text: str, codes: Collection[str]) -> TextArgumentTracer:
        """The tracer of a text argument that each call brings, one of those that have codes; ``leaf`` has its own."""
        self._chosen.append(leaf)
        self._numbers.add(id(leaf))
        self._chooses = True
        return TextArgumentTracer(self, leaf, text, frozenset(codes), 0.0)

    def compares_indices(self) -> bool:
        """Whether comparisons of indices are to be some of numbers, which need not decide."""
        return (trial := current()) is not None and trial.compares_indices

    def run(
        self, function: Callable[..., Any], arguments: Sequence[Any], want_sources: bool = False, several: bool = False
    ) -> Recording:
        """What ``function(*arguments)`` returns, and what that depends on. A recorder runs once.

        With ``several``, that may be any tree of Values and numbers.

        Raises what the function raises, and TypeError when it returns something else than a Value or a number. Every
        hook is removed, also after an exception.
        """
        if _current.recorder is not None:
            raise RuntimeError("this thread is tracing a function already: call the plain function inside it.")
        self._recording.first_node, self._recording.leaves_before = engine.tape_position()
        recording = engine.set_recording(True)
        tracer = engine.set_tracer(self)
        try:  # no context manager of our own: when memory runs out, Python may enter one that it does not leave
            _current.recorder = self
            # NumPy warns of what it computes with a NaN; of floats it did in the plain run.
            with _extremes, np.errstate(all="ignore"), record_sources() if want_sources else contextlib.nullcontext():
                return self._recorded(function, arguments, several)
        finally:
            engine.set_tracer(tracer)
            engine.set_recording(recording)
            _current.recorder = None
            del self._recording, self.asked_by_extremes  # a tracer that leaks must not keep the recording alive
            self._candidates.clear()
            self._mixed.clear()
            self._whole.clear()
            self._chosen.clear()
            self._among.clear()
            self._constants.clear()
            self._values.clear()
            engine.keep_fallible(False)  # the last: it makes a list, for which there may be no memory

    def _recorded(self, function: Callable[..., Any], arguments: Sequence[Any], several: bool) -> Recording:
        recording = self._recording
        engine.keep_fallible(True)
        result: Any = function(*arguments)
        # Alone, a frozen list has no alias.
        result = FrozenList.copy(result) if type(result) is FrozenList else settled(result)
        recording.fallible = engine.keep_fallible(False)
        recording.length = engine.tape_position()[0] - recording.first_node
        recording.mixes_kinds |= bool(self._mixed)
        if several and not is_single(result):
            self._take_several(result)
        else:
            self._settle_whole(result, is_alone=True)
            recording.result = result._node if is_tracer(result) else single_output(result, "the function's result")
            recording.kind_varies = not is_tracer(result) and self._kind_varies([recording.result])
            recording.kind_unknown = self._as_number and self._kind_is_unknown(recording.result)
            recording.label = self._label(recording.result, several)
        return recording

    def _take_several(self, tree: Any) -> None:
        """The results in ``tree``: one number, the sum of each times a cotangent, which every pass brings.

        Plain numbers alone are never differentiated: then it is a constant, and the results are read beside it.
        """
        outputs, recording = outputs_of(tree), self._recording
        for leaf in (leaves_of(tree) or ()) if self._whole else ():
            self._settle_whole(leaf, is_alone=False)
        if outputs is None:
            self.untraceable("returns something else than Values and numbers", "the function")
            return
        numbers = outputs.numbers_of_values()
        recording.kind_varies = self._kind_varies([outputs.nodes[number] for number in numbers])
        labels = tuple((number, text) for number in numbers if (text := self._label(outputs.nodes[number], True)))
        recording.tree = outputs._replace(inner=self._inner(outputs), labels=labels)
        recording.outputs = outputs.nodes
        recording.as_array, recording.connected = outputs.is_array, any(outputs.are_values)
        before = engine.set_tracer(None)
        try:
            if recording.connected:
                recording.cotangents = tuple(Value(1.0) for _ in outputs.nodes)
                recording.result = engine.reduce("dot", recording.outputs, recording.cotangents)
            elif outputs.nodes:
                recording.result = Value(0.0)
        finally:
            engine.set_tracer(before)

    def _label(self, result: Value | float, is_plain: bool) -> str:
        """The label that the function has given to a result. Only a plain call asks for it."""
        label = label_of(result, self._recording.selections) if isinstance(result, Value) else ""
        if label is None and is_plain:
            self.untraceable("gives labels to Values of which one is its result", "the function")
        self._recording.kind_unknown |= label is None
        return label or ""

    def _inner(self, outputs: OutputsOfTrace) -> tuple[int, ...]:
        """The numbers of the results that are Values and that other results are computed from."""
        values = outputs.numbers_of_values()
        read = read_by(self._recording.selections, [outputs.nodes[number] for number in values])
        return tuple(number for number in values if id(outputs.nodes[number]) in read)

    # --- what tracers ask and tell --------------------------------------------------------------------

    def check(self, thing: str) -> None:
        """Raises LeakedTraceError when the function has returned, or another thread traces it."""
        if _current.recorder is not self:
            if hasattr(self, "_recording"):  # it has not ended: a thread that the function runs may catch this
                self.untraceable(f"uses {thing} of its trace in another thread")
            raise errors.leaked_trace(thing)

    def arithmetic(self, name: str, operands: tuple[Any, ...]) -> Any:
        """An operation on tracers, Values and numbers: a tracer, computed as Python's floats do, or a Value."""
        self.check("a number")
        nodes, any_value = [], False
        for operand in operands:
            kind = type(operand)
            if kind is FloatTracer:
                nodes.append(operand._node if operand._recorder is self else self._unwrapped(operand))
                continue
            if kind is not float and kind is not int:
                if issubclass(kind, Value):
                    any_value = True
                elif issubclass(kind, Chosen) or not is_number(operand):  # the former does it with each that it may be
                    return NotImplemented
                self.check_precision(kind, operands)
            nodes.append(operand)
        if any_value:
            return engine.apply(name, *nodes)
        compute = functools.partial(engine.apply, name, *nodes)
        return self.traced(self.raising(compute) if name in _RAISING else compute())

    def raising(self, run: Callable[[], Any]) -> Any:
        """What ``run`` gives, which raises as Python's floats do."""
        self.may_raise()
        before = engine.set_errstate(True, True, True)
        try:
            return run()
        finally:
            engine.set_errstate(*before)

    def may_raise(self) -> None:
        """Floats are divided, which raises whatever ``retrograd.errstate`` says."""
        self._recording.float_errors = True

    def traced(self, node: Value) -> FloatTracer:
        """The tracer of the float in a node."""
        return FloatTracer(self, node, engine.concrete(node))

    def compare_index(self, kind: str, index: IndexTracer, other: object, outcome: bool) -> Any:
        """A comparison of an index, which decides something now or, where it is one of numbers, later."""
        if type(other) is int and abs(other) > MOST_INDEX:  # so no index changes that
            return outcome
        mine = self.number_of_index(index)
        theirs = self.number_of_index(other) if isinstance(other, IndexTracer) else other
        if mine is not None and type(theirs) in (Value, int):
            return self.comparison(kind, mine, theirs, outcome)
        other_slot, number = None, other
        if isinstance(other, IndexTracer):
            other_slot, number = other._slot, other._value
        if not issubclass(type(number), int):
            self.untraceable(f"compares an index with {errors.describe(other)}")
            return outcome
        guard = IndexGuard(index._slot, kind, int(number), other_slot, outcome, current_location())  # type: ignore[call-overload]
        self._recording.index_guards.append(guard)
        return outcome

    def select(self, sequence: Any, index: IndexTracer) -> Any:
        """The element that an index selects; of rows, a list."""
        self.check("an index")
        try:
            position_in(sequence, index._value)
        except Exception:
            self.untraceable("selects with an index that is out of range")  # the function may catch that
            raise
        if not isinstance(sequence, (list, tuple)):
            sequence = [sequence[i] for i in range(len(sequence))]
        return self._selected(tuple(sequence), index)

    def _selected(self, items: tuple[Any, ...], index: IndexTracer) -> Any:
        kinds = set(map(type, items))
        if all(map(_is_kind_of_row, kinds)):
            lengths = list(map(len, items))
            if len(set(lengths)) > 1:
                raise errors.unequal_rows(lengths)
            return [self._selected(column, index) for column in zip(*items, strict=True)]
        if kinds == {Value} and not self._decides_which:
            node = self._selection(items, index)
            if self._mixed and any(map(engine.row_name, items)):  # so may candidates be that are computed
                self._mixed.add(id(node))
            return node
        any_value = any(isinstance(item, Value) for item in items)
        if any_value and (self._decides_kinds or self._decides_which):
            bool(self.compare_index("==", index, index._value, True))  # which decides
            return items[index._value]
        node = self._selection(tuple(self._candidate(item, position) for position, item in enumerate(items)), index)
        if any_value:
            self._mixed.add(id(node))
        return node if any_value else self.traced(node)

    def _selection(self, values: tuple[Value, ...], index: IndexTracer) -> Value:
        candidates = self._candidates.setdefault(tuple(map(id, values)), values)
        node = self._chosen_node(values[index._value])
        self._recording.selections.append(Selection(node, Choice.BY_INDEX, candidates, index._slot))
        return node

    # --- what the tape asks and tells; it does not report what these methods read themselves --------------

    def data(self, value: Value) -> FloatTracer | float:
        """``value.data``."""
        if is_users(sys._getframe(1)):  # a transform reads the data of derivatives, which are Values
            self.ask_kind(value)
        try:
            return FloatTracer(self, engine.apply("detach", value), value.data)
        except errors.ForeignThreadError:
            self.untraceable("reads a number that another thread computed")
            return value.data

    def detach(self, value: Value) -> Value:
        """``value.detach()``."""
        if is_users(sys._getframe(1)):
            self.ask_kind(value)
        try:
            return engine.apply("detach", value)
        except errors.ForeignThreadError:
            self.untraceable("reads a number that another thread computed")
            return Value(value.data)

    def leaf(self, data: object) -> Any:
        """``Value(data)``: of a tracer, a node with its number."""
        return engine.apply("detach", self._unwrapped(data)) if is_tracer(data) else NotImplemented

    def number_of(self, thing: Any, where: str) -> Any:
        """The concrete number of ``thing``, a tracer, which ``where`` needs."""
        if not is_tracer(thing):
            return NotImplemented
        self._unwrapped(thing)
        self.untraceable(f"gives a traced number to {where}")
        return thing._number

    def call(self, name: str, operands: tuple[Any, ...]) -> Any:
        """An operation on ``operands``, if one of them is a tracer."""
        if name == "where" and is_comparison(operands[0]):
            row, left, right = operands[0].operands()
            operands = self.traced(engine.apply(row, left, right)), *operands[1:]
        operands = tuple(one.number() if is_choice(one) else one for one in operands)
        if not any(map(is_tracer, operands)):
            return NotImplemented
        result = engine.apply(name, *map(self._unwrapped, operands))
        return result if any(isinstance(operand, Value) for operand in operands) else self.traced(result)

    def reduce(self, name: str, sequences: tuple[Sequence[Any], ...]) -> Any:
        """An operation on sequences, if a tracer is in one."""
        sequences = tuple([one.number() if is_choice(one) else one for one in sequence] for sequence in sequences)
        items = [item for sequence in sequences for item in sequence]
        if not any(map(is_tracer, items)):
            return NotImplemented
        result = engine.reduce(name, *(list(map(self._unwrapped, sequence)) for sequence in sequences))
        if any(isinstance(item, Value) for item in items):
            return result
        return [self.traced(node) for node in result] if isinstance(result, list) else self.traced(result)

    def compare(self, left: Value, kind: str, right: object, outcome: bool) -> Any:
        """A comparison of a Value; with a number of NumPy's, the outcome is one of NumPy's, too."""
        return self.comparison(kind, left, right, bool(outcome))

    def truth(self, value: Value, outcome: bool) -> None:
        """``bool(value)``."""
        self.guard("bool", value, None, outcome)

    def first_order(self, name: str) -> None:
        """A primitive of the user's, in whose place the recording has terms with the same first derivatives."""
        self._recording.primitives.append(name)

    def differentiates(self, nodes: Sequence[Value], under: Set[int], depends: Callable[[Value], bool]) -> None:
        """Derivatives through ``nodes`` are recorded.

        They are those of what a selection chose, so it must choose the same again; also where that is a number, and
        what it did not choose has a derivative, or may have one by what other selections choose.

        Args:
            nodes: Those with a derivative.
            under: The ids of all nodes that the result was computed from.
            depends: Whether a node has a derivative.
        """
        self._steps += len(nodes)
        if self._steps > MOST_STEPS:
            raise TooManyDerivativesError(f"{MOST_STEPS:,}")
        self._recording.differentiates = True
        if self._recording.primitives:
            self.untraceable("takes the gradient of a primitive, of which it has the first derivatives only")
        if not self._recording.selections:
            return
        selections = self._recording.selections
        varying = may_have_derivatives(selections, set(map(id, nodes)), depends)
        for selection in under_by_any_choice(selections, under):
            node = id(selection.node)
            if node not in self._decided and node in varying:
                self._decided.add(node)
                self._decide(selection)

    def _decide(self, selection: Selection) -> None:
        if selection.choice is Choice.BY_INDEX:
            guard = IndexGuard(selection.slot, "==", self._indices[selection.slot], None, True, current_location())
            self._recording.index_guards.append(guard)
            return
        for kind, one, best, is_better in comparisons_of(selection):
            self.guard(kind, one, best, is_better, Purpose.DERIVES)

    def notice(self, what: str) -> None:
        """A graph break that the tape notices."""
        self.untraceable(what)

    def _unwrapped(self, operand: Any) -> Any:
        if not is_tracer(operand):
            return operand
        operand._recorder.check("a number")  # another recorder may have made it
        return operand._node

    # --- the built-in max and min -------------------------------------------------------------------------

    def largest(self, name: str, items: Sequence[Any]) -> Any:
        """The largest (or smallest) of items as one node; None if Python's comparisons must decide.

        It is the first that no other is larger than, which alone gets the gradient.
        """
        if self._chooses and (chosen := largest_choice(name, items)) is not None:
            return chosen
        if self.asked_by_extremes is None and any(isinstance(one, Value) or is_tracer(one) for one in items):
            return self.largest_by(name, items, items)
        found = engine.first_extreme(items, name == "max", self._constants)
        if found is None:  # also with a NaN, where Python's result depends on the order
            plain = [item if isinstance(item, Value) or is_tracer(item) else _plain(item) for item in items]
            for item in items:
                self.check_precision(type(item), ())
            found = (
                None
                if any(item is None for item in plain)
                else engine.first_extreme(plain, name == "max", self._constants)
            )
        if found is None:
            return None
        node, candidates, values = found
        if values == 0 and not self._orders_lists and type(items) is not tuple:  # which several arguments are
            return self.as_int_or_float(self.traced(engine.reduce(name, candidates)), items)
        mixed = 0 < values < len(candidates)
        if mixed and self._decides_kinds:
            return None
        # As Selection(node, FIRST[name], candidates), in a fraction of the time.
        self._recording.selections.append(tuple.__new__(Selection, (node, FIRST[name], candidates, 0)))
        if values == 0:
            return self.as_int_or_float(self.traced(node), items)
        if mixed or self._mixed:  # so may its candidates be
            self._mixed.add(id(node))
        return node

    def largest_by(self, name: str, items: Sequence[Any], keys: Sequence[Any]) -> Any:
        """The first of some items whose key no other's is larger (or smaller) than, chosen as a loop would.

        None where keys are tuples of something else than numbers and texts.
        """
        from ..if_conversion.selecting.searches import have_order, is_less, numbered  # which imports this module

        keys = keys if keys is items else numbered(list(keys))[0]
        if any(isinstance(key, tuple) for key in keys) and not have_order(keys):
            return None
        best: tuple[Any, ...]
        best, *rest = zip(items, strict=True) if keys is items else zip(items, keys, strict=True)
        for one in rest:
            test = is_less(best[-1], one[-1]) if name == "max" else is_less(one[-1], best[-1])
            chosen = self._chosen_of(test, one, best) if is_comparison(test) else None
            if chosen is not None:
                best = tuple(chosen)
            elif test:
                best = one
        return best[0]

    def _chosen_of(self, test: BoolTracer, one: Sequence[Any], other: Sequence[Any]) -> Sequence[Any] | None:
        """One of two items with their keys; None where those are no numbers, or records of numbers."""
        from ..if_conversion.selecting.selections import Selection  # which imports this module
        from ..if_conversion.trial import NotAnArmError

        try:
            return Selection(test).all_of(one, other)
        except NotAnArmError:
            return None

    @staticmethod
    def _chosen_node(candidate: Value) -> Value:
        """The node of a selection, of the candidate that is chosen now: itself, with its gradient, also in no_grad."""
        before = engine.set_recording(True)
        try:
            return engine.apply("identity", candidate)
        finally:
            engine.set_recording(before)


#: The operations in which Python's floats raise; the others give infinities.
_RAISING = frozenset({"div", "mod", "floordiv", "pow"})


def _plain(item: Any) -> float | None:
    return as_float(item) if is_number(item) else None


def _largest_of(name: str, items: Sequence[Any]) -> Any:
    recorder = _current.recorder
    if recorder is None:
        return None
    found = recorder.largest(name, items)
    are_rows = found is None and all(type(one) is tuple for one in items)
    return _largest_by(name, items, lambda row: row) if are_rows else found


def _largest_by(name: str, items: Sequence[Any], key: Callable[[Any], Any]) -> Any:
    """The item whose key is the largest, or smallest, chosen by comparisons; None where those are to decide."""
    recorder = _current.recorder
    if recorder is None or not _current.selects or not items:
        return None
    here = current_location()
    if here is None or (here.file, here.line) not in _current.selects:
        return None
    return recorder.largest_by(name, items, list(map(key, items)))


_extremes = extremes(_largest_of, _largest_by, Selection, FIRST)


def _is_kind_of_row(kind: type) -> bool:
    return issubclass(kind, (Sequence, np.ndarray)) and not issubclass(kind, str)
