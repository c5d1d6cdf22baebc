"""Tracing: run a function once and keep what its result depends on.

A :class:`Recorder` makes the arguments' stand-ins and runs the function. The tape records the arithmetic as ever;
the recorder hears of everything else through which a number could leave the graph:

* ``.data`` and float arguments are :class:`~.traced_number.TracedNumber`, which keep their provenance;
* a comparison that decides something becomes a guard, checked in each replay;
* an :class:`~retrograd.index.Index` argument selects with ``take`` and ``table``, and each selection is kept;
* what cannot be followed (``float()``, text, ``.grad``, ``backward()``) is a reason why no replay can stand for a call.

What cannot be seen at all, such as the time, random numbers and global counters, is the user's promise (``pure=True``).
"""

from __future__ import annotations

import contextlib
import math
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import engine, errors
from ..engine import Value
from ..engine.numbers import is_number, to_float
from ..engine.pytree import single_output
from ..engine.source_lines import current_location, record_sources
from ..index import TracedIndex, position_in
from .float_tracer import TracedNumber, is_traced
from .guards.builtin_overrides import extremes
from .recording import FIRST_LARGEST, FIRST_SMALLEST, Guard, IndexGuard, Selection, Trace

__all__ = ["Recorder", "active_recorder"]


class _Current(threading.local):
    recorder: Recorder | None = None


_current = _Current()


def active_recorder() -> Recorder | None:
    """The recorder of the trace that this thread is making, if any: a compiled function in it is traced with it."""
    return _current.recorder


class Recorder:
    """Makes one trace: first the stand-ins of the arguments, then :meth:`run`.

    A ``pure`` recorder follows every number, for a trace that is replayed without running the function. Otherwise
    ``.data`` and comparisons are as ever, for a function that is run in each call, and only selections are kept.
    """

    def __init__(self, pure: bool = True) -> None:
        self._pure = pure
        self._trace = Trace()
        self._candidates: dict[tuple[int, ...], tuple[Value, ...]] = {}
        self._constants: dict[bytes, Value] = {}

    # --- what function.py calls -----------------------------------------------------------------------

    def number(self, leaf: Value) -> TracedNumber:
        """The stand-in of a float argument, whose number is ``leaf``'s."""
        return TracedNumber(self, leaf, leaf.data)

    def index(self, slot: int, value: int) -> TracedIndex:
        """The stand-in of an Index argument, number ``slot`` of the function's indices."""
        return TracedIndex(self, slot, int(value))

    def run(self, function: Callable[..., Any], arguments: Sequence[Any], want_sources: bool = False) -> Trace:
        """What ``function(*arguments)`` returns and depends on. A recorder runs once.

        Raises what the function raises, and TypeError when it returns something else than a Value or a number; no
        hook stays behind.
        """
        if _current.recorder is not None:
            raise RuntimeError("a trace is being made in this thread: call the plain function inside it.")
        # No ExitStack: without memory it may enter a context that it does not leave.
        with self._hooked(), record_sources() if want_sources else contextlib.nullcontext():
            result = function(*arguments)
            trace = self._trace
            trace.result = result._node if is_traced(result) else single_output(result, "the function's result")
        return trace

    @contextlib.contextmanager
    def _hooked(self) -> Iterator[None]:
        _current.recorder = self
        recording = engine.set_recording(True)
        tracer = engine.set_tracer(self) if self._pure else None
        try:
            with _extremes if self._pure else contextlib.nullcontext():
                yield
        finally:
            if self._pure:
                engine.set_tracer(tracer)
            engine.set_recording(recording)
            _current.recorder = None
            del self._trace  # what leaks from the trace must not keep it
            self._candidates.clear()
            self._constants.clear()

    # --- what stand-ins ask ---------------------------------------------------------------------------

    def check(self, thing: str) -> None:
        """Raises LeakedTraceError when the trace has ended, or is another thread's."""
        if _current.recorder is not self:
            raise errors.leaked_trace(thing)

    def mark(self, what: str) -> None:
        """Something happened that a replay cannot do: a verb and its object."""
        location = current_location()
        reason = f"{location or 'the function'} {what}, which a replay cannot do."
        if reason not in self._trace.reasons:
            self._trace.reasons.append(reason)

    def plain(self, value: Value) -> float:
        """The number of a node."""
        tracer = engine.set_tracer(None)
        try:
            return value.data
        finally:
            engine.set_tracer(tracer)

    def arithmetic(self, name: str, operands: tuple[Any, ...]) -> Any:
        """A row of the op table on traced numbers, Values and numbers: as Python's floats, or the Value's."""
        self.check("a number")
        nodes = [self._unwrapped(operand) for operand in operands]
        if not all(isinstance(node, Value) or is_number(node) for node in nodes):
            return NotImplemented
        if any(isinstance(operand, Value) for operand in operands):
            return engine.apply(name, *nodes)
        self._trace.floats |= name in _RAISING
        before = engine.set_errstate(True, True, True)  # of floats
        try:
            return self._number(engine.apply(name, *nodes))
        finally:
            engine.set_errstate(*before)

    def _number(self, node: Value) -> TracedNumber:
        return TracedNumber(self, node, self.plain(node))

    def guard(self, kind: str, left: Value, right: object, outcome: bool) -> None:
        """A comparison of a number with another one, or its truth, decided something."""
        if right is not None and not isinstance(right, Value):
            number = _exactly(right)
            if number is None:
                self.mark(f"compares a traced number with {errors.describe(right)}, which no float is")
                return
            right = number
        self._trace.guards.append(Guard(kind, left, right, outcome, current_location()))

    def compare_index(self, kind: str, index: TracedIndex, other: object, outcome: bool) -> None:
        """A comparison of an index decided something."""
        other_slot, number = None, other
        if isinstance(other, TracedIndex):
            other_slot, number = other._slot, other._value
        if not issubclass(type(number), int):
            self.mark(f"compares an index with {errors.describe(other)}")
            return
        guard = IndexGuard(index._slot, kind, int(number), other_slot, outcome, current_location())  # type: ignore[call-overload]
        self._trace.index_guards.append(guard)

    def select(self, sequence: Any, index: TracedIndex) -> Any:
        """The element, or the list that is the row, that an index selects."""
        self.check("an index")
        position_in(sequence, index._value)
        plain = isinstance(sequence, (list, tuple))
        return self._selected(tuple(sequence if plain else (sequence[i] for i in range(len(sequence)))), index)

    def _selected(self, items: tuple[Any, ...], index: TracedIndex) -> Any:
        kinds = set(map(type, items))
        if all(map(_is_kind_of_row, kinds)):
            lengths = list(map(len, items))
            if len(set(lengths)) > 1:
                raise errors.unequal_rows(lengths)
            return [self._selected(column, index) for column in zip(*items, strict=True)]
        if kinds == {Value}:
            return self._selection(items, index)
        any_value = any(isinstance(item, Value) for item in items)
        if not self._pure and not any_value:
            return items[index._value]  # the function runs in each call, and a plain number is found again then
        node = self._selection(tuple(self._candidate(item, position) for position, item in enumerate(items)), index)
        return node if any_value else self._number(node)

    def _selection(self, values: tuple[Value, ...], index: TracedIndex) -> Value:
        candidates = self._candidates.setdefault(tuple(map(id, values)), values)
        node = engine.apply("identity", values[index._value])
        self._trace.selections.append(Selection(node, index._slot, candidates))
        return node

    def _candidate(self, item: Any, position: int) -> Value:
        if is_traced(item):
            node: Value = item._node
            return node
        if isinstance(item, Value):
            return item
        if not is_number(item):
            raise errors.not_selectable(item, position)
        number = to_float(item, "a selection")
        bits = struct.pack("d", number)
        if bits not in self._constants:
            self._constants[bits] = engine.restore("constant", (), number, 0.0)
        return self._constants[bits]

    # --- what the tape asks; meanwhile it does not report what is read ------------------------------------

    def data(self, value: Value) -> TracedNumber | float:
        """``value.data``."""
        try:
            return TracedNumber(self, engine.apply("detach", value), value.data)
        except errors.ForeignThreadError:
            self.mark("reads a number that another thread computed")
            return value.data

    def detach(self, value: Value) -> Value:
        """``value.detach()``."""
        try:
            return engine.apply("detach", value)
        except errors.ForeignThreadError:
            self.mark("reads a number that another thread computed")
            return Value(value.data)

    def leaf(self, data: object) -> Any:
        """``Value(data)``: of a traced number, a node that has it."""
        return engine.apply("detach", self._unwrapped(data)) if is_traced(data) else NotImplemented

    def number_of(self, thing: Any, where: str) -> Any:
        """The number that ``where`` takes from something that is none."""
        if not is_traced(thing):
            return NotImplemented
        self._unwrapped(thing)
        self.mark(f"gives a traced number to {where}")
        return thing._number

    def call(self, name: str, operands: tuple[Any, ...]) -> Any:
        """A row of the op table on ``operands``, when one of them is a traced number."""
        if not any(map(is_traced, operands)):
            return NotImplemented
        result = engine.apply(name, *map(self._unwrapped, operands))
        return result if any(isinstance(operand, Value) for operand in operands) else self._number(result)

    def reduce(self, name: str, sequences: tuple[Sequence[Any], ...]) -> Any:
        """A row over sequences, when a traced number is in one."""
        items = [item for sequence in sequences for item in sequence]
        if not any(map(is_traced, items)):
            return NotImplemented
        result = engine.reduce(name, *(list(map(self._unwrapped, sequence)) for sequence in sequences))
        if any(isinstance(item, Value) for item in items):
            return result
        return [self._number(node) for node in result] if isinstance(result, list) else self._number(result)

    def compare(self, left: Value, kind: str, right: object, outcome: bool) -> None:
        """A comparison of a Value."""
        self.guard(kind, left, right, outcome)

    def truth(self, value: Value, outcome: bool) -> None:
        """``bool(value)``."""
        self.guard("bool", value, None, outcome)

    def notice(self, what: str) -> None:
        """The tape does or tells something that a replay cannot."""
        self.mark(what)

    def _unwrapped(self, operand: Any) -> Any:
        if not is_traced(operand):
            return operand
        operand._recorder.check("a number")  # it may be of another trace
        return operand._node

    # --- the built-in max and min -------------------------------------------------------------------------

    def largest(self, name: str, items: Sequence[Any]) -> TracedNumber | Value | None:
        """The largest (or smallest) of traced numbers and numbers as one node; None where comparisons must decide."""
        if any(isinstance(item, Value) for item in items):
            return self._first_largest(name, items)
        if not any(map(is_traced, items)) or not all(is_traced(item) or is_number(item) for item in items):
            return None
        numbers = [item._number if is_traced(item) else _exactly(item) for item in items]
        if any(number is None or math.isnan(number) for number in numbers):
            return None  # with a NaN, Python's answer depends on the order
        return self._number(engine.reduce(name, list(map(self._unwrapped, items))))

    def _first_largest(self, name: str, items: Sequence[Any]) -> Value | None:
        """The first of Values (and numbers) that no other is larger than, which gets the whole gradient."""
        numbers = [self.plain(item) if isinstance(item, Value) else _exactly_number(item) for item in items]
        if any(number is None or math.isnan(number) for number in numbers):
            return None
        best = 0
        for position, number in enumerate(numbers):
            if number > numbers[best] if name == "max" else number < numbers[best]:  # type: ignore[operator]
                best = position
        candidates = tuple(self._candidate(item, position) for position, item in enumerate(items))
        node = engine.apply("identity", candidates[best])
        slot = FIRST_LARGEST if name == "max" else FIRST_SMALLEST
        self._trace.selections.append(Selection(node, slot, candidates))
        return node


#: What Python's floats refuse to compute; the others give infinities.
_RAISING = frozenset({"div", "mod", "floordiv", "pow"})


def _exactly_number(item: Any) -> float | None:
    if is_traced(item):
        return item._number  # type: ignore[no-any-return]
    return _exactly(item) if is_number(item) else None


def _largest_of(name: str, items: Sequence[Any]) -> TracedNumber | Value | None:
    recorder = _current.recorder
    return None if recorder is None or not recorder._pure else recorder.largest(name, items)


_extremes = extremes(_largest_of)


def _exactly(number: Any) -> float | None:
    """``number`` as a float, if there is one that equals it."""
    try:
        result = float(number)
    except OverflowError:
        return None
    return result if result == number or result != result else None


def _is_kind_of_row(kind: type) -> bool:
    return issubclass(kind, (Sequence, np.ndarray)) and not issubclass(kind, str)
