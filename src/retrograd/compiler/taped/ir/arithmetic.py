"""What an expression has computed, as names in LLVM IR; and the arithmetic of numbers with their local derivatives.

A Value is a number and its *terms*: of which nodes it was computed, and the local derivative by each. An expression of
several operators is one node, as Hogan (*Fast reverse-mode automatic differentiation using expression templates in
C++*, ACM TOMS 40, 2014) has it: its terms are multiplied out until a variable or a list wants a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...backends.llvm.ir_builder import constant, is_constant, number_of
from ..types import (
    ANY_NUMBER,
    BOOL,
    EITHER,
    FLOAT,
    INT,
    MIXED,
    NUMPY,
    NUMPY_INT,
    VALUE,
    NotTypedError,
    Type,
    is_number,
    is_plain,
    is_real,
    is_whole,
)
from .rows import Rows
from .tape import Tape
from .writer import Writer

__all__ = ["Arithmetic", "Typed"]

Terms = tuple[tuple[str, str], ...]

_ONE, _MINUS_ONE = constant(1.0), constant(-1.0)
#: Local derivatives beyond this are not multiplied out: 0 or inf may come of what the engine gives a number for.
_LARGE = 2.0**300
#: Of an expression with more terms, each becomes a node first.
_MOST_TERMS = 8
#: An int beyond this is no float.
_EXACT = 2**53
_PLAIN = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
#: Operators that give an int of ints.
_WHOLE = {"add", "sub", "mul", "mod", "floordiv", "pow", "neg", "abs"}
#: Rows that tell -0.0 from 0.0.
_SIGNED = {"atan2", "copysign"}
_INTEGER = {"add": "sadd", "sub": "ssub", "mul": "smul"}


@dataclass(frozen=True, slots=True)
class Typed:
    """What an expression has computed.

    Attributes:
        kind: Its type.
        parts: The names of its words; of a Value that has terms, of the number alone.
        terms: Nodes and local derivatives; None for what has a node, or is no Value.
        known: What it is, where that is known: an int, a str, a bool.
        items: Of a tuple that was just made, its items, which may be known.
    """

    kind: Type
    parts: tuple[str, ...] = ()
    terms: Terms | None = None
    known: Any = None
    items: Sequence[Typed] | None = None

    @property
    def number(self) -> str:
        return self.parts[0]


class Arithmetic:
    """Numbers and their derivatives, written as instructions."""

    def __init__(self, writer: Writer, rows: Rows, tape: Tape, has_numpy: bool) -> None:
        self._w, self._rows, self._tape, self._has_numpy = writer, rows, tape, has_numpy
        self._products: set[str] = set()  # local derivatives that were multiplied out, none of them of a large one
        # The nodes that expressions have become, and the local derivatives that are not large, in this section.
        self._section = 0
        self._nodes: dict[tuple[str, Terms], Typed] = {}
        self._small: set[str] = set()

    # --- conversions ----------------------------------------------------------------------------------------

    def real(self, value: Typed) -> Typed:
        """A number as a float or Value."""
        if is_real(value.kind):
            return value
        if value.kind is NUMPY_INT:
            return Typed(MIXED, self.real(self.integer(value)).parts)
        if value.kind is BOOL:
            value = self.integer(value)
        if value.kind is not INT:
            raise NotTypedError(f"it computes with {value.kind}")
        if isinstance(value.known, int) and abs(value.known) <= _EXACT:
            return Typed(FLOAT, (constant(float(value.known)),))
        moved = self._w.emit(f"add i64 {value.number}, {_EXACT}")
        self._w.bail_if(self._w.emit(f"icmp ugt i64 {moved}, {2 * _EXACT}"))
        return Typed(FLOAT, (self._w.emit(f"sitofp i64 {value.number} to double"),))

    def integer(self, value: Typed) -> Typed:
        """A bool or an int as an int."""
        if value.kind is INT:
            return value
        if value.kind is NUMPY_INT:
            return Typed(INT, value.parts)
        if value.kind is BOOL:
            known = int(value.known) if value.known is not None else None
            return Typed(INT, (self._w.emit(f"zext i1 {value.number} to i64"),), known=known)
        raise NotTypedError(f"it wants an int and gets {value.kind}")

    def node(self, value: Typed) -> Typed:
        """A Value with a node on the tape, which its terms become."""
        if is_plain(value.kind):
            return Typed(EITHER if value.kind is FLOAT else ANY_NUMBER, (value.number, "0"))
        if value.terms is None:
            return value
        if not value.terms:
            return Typed(value.kind, (value.number, "0"))
        self._begin_section()
        known = self._nodes.get((value.number, value.terms))
        if known is None:
            known = self._nodes[value.number, value.terms] = self._new_node(value, value.terms)
        return known

    def _new_node(self, value: Typed, terms: Terms) -> Typed:
        is_node = "true"
        if value.kind is not VALUE:  # of floats alone it is one
            some = "0"
            for operand, _ in terms:
                some = self._w.emit(f"or i32 {some}, {operand}")
            is_node = self._w.emit(f"icmp ne i32 {some}, 0")
        return Typed(value.kind, (value.number, self._tape.put(self._w, terms, is_node)))

    def _begin_section(self) -> None:
        if self._section != self._w.section:
            self._section = self._w.section
            self._nodes.clear()
            self._small.clear()

    # --- operators ------------------------------------------------------------------------------------------

    def row(self, row: str, *operands: Typed) -> Typed:
        """A row of the op table, of numbers."""
        reals = [self.real(operand) for operand in operands]
        if sum(len(_terms(one)) for one in reals) > _MOST_TERMS:
            reals = [self.node(one) if one.terms else one for one in reals]
        numbers = [one.number for one in reals]
        if row == "div":
            self._w.bail_if(self._w.emit(f"fcmp oeq double {numbers[1]}, {constant(0.0)}"))
        if row in _PLAIN:
            y = self._w.emit(f"{_PLAIN[row]} double {', '.join(numbers)}")
        elif row == "neg":
            y = self._w.emit(f"fneg double {numbers[0]}")
        else:
            y = self._called("double", self._rows.value(row), numbers)
            if outside := self._rows.outside(row):
                self._w.bail_if(self._called("i1", outside, [*numbers, y]))
        kinds = {one.kind for one in reals}
        may_be_ints = {one.kind for one in operands} <= {MIXED, ANY_NUMBER, INT, BOOL, NUMPY_INT}
        if row in _WHOLE and may_be_ints:  # and then exact, where a float is not
            size = self._w.emit(f"call double @llvm.fabs.f64(double {y})")
            self._w.bail_if(self._w.emit(f"fcmp oge double {size}, {constant(float(_EXACT))}"))
        else:
            for one in reals:
                if one.kind in (MIXED, ANY_NUMBER):
                    self._refuse_sign(row, one, y)
        # Of a number of NumPy's it is one, too.
        is_any = (row in _WHOLE and may_be_ints) or (self._has_numpy and bool(kinds & {MIXED, NUMPY, ANY_NUMBER}))
        if kinds <= {FLOAT, MIXED, NUMPY}:
            return Typed(NUMPY if NUMPY in kinds else MIXED if is_any else FLOAT, (y,))
        kind = VALUE if VALUE in kinds else ANY_NUMBER if is_any else EITHER
        return Typed(kind, (y,), self._chained(row, reals, [*numbers, y]))

    def _refuse_sign(self, row: str, operand: Typed, y: str) -> None:
        """Leave it where the result tells -0.0 from 0.0: of an int or a float, -0.0 may stand for the int 0."""
        if row == "add":  # of 0.0 and -0.0, and of 0.0 and 0, it is 0.0
            self.refuse_negative_zero(y)
            return
        is_it = self._is_negative_zero(operand.number)
        if row not in _SIGNED:
            is_it = self._w.emit(f"and i1 {is_it}, {self._w.emit(f'fcmp oeq double {y}, {constant(0.0)}')}")
        self._w.bail_if(is_it)

    def refuse_negative_zero(self, number: str) -> None:
        """Leave it where an int or a float is -0.0, which may stand for the int 0."""
        self._w.bail_if(self._is_negative_zero(number))

    def _is_negative_zero(self, number: str) -> str:
        return self._w.emit(f"icmp eq i64 {self._w.emit(f'bitcast double {number} to i64')}, {-(2**63)}")

    def _called(self, kind: str, symbol: str, numbers: list[str]) -> str:
        return self._w.emit(f"call {kind} @{symbol}({', '.join(f'double {one}' for one in numbers)})")

    def _chained(self, row: str, operands: list[Typed], numbers: list[str]) -> Terms:
        """The terms of a row: those of its operands, each times the partial by that operand."""
        found: dict[str, str] = {}
        for which, operand in enumerate(operands):
            if is_plain(operand.kind):
                continue
            partial = self._partial(row, which, numbers)
            for node, derivative in _terms(operand) if partial else ():
                term = self._product(partial, derivative)
                known = found.get(node)
                found[node] = term if known is None else self._sum(known, term)
        return tuple(found.items())

    def _partial(self, row: str, which: int, numbers: list[str]) -> str:
        """The derivative by an operand; "" if it is 0."""
        if row in ("add", "sub", "neg"):
            return _ONE if row == "add" or (row == "sub" and which == 0) else _MINUS_ONE
        if row == "mul":
            return numbers[1 - which]
        if row == "div":
            inverse = self._w.emit(f"fdiv double {_ONE}, {numbers[1]}")
            if which == 0:
                return inverse
            opposite = self._w.emit(f"fneg double {numbers[2]}")
            return self._w.emit(f"fmul double {opposite}, {inverse}")
        symbol, is_zero = self._rows.partial(row, which)
        return "" if is_zero else self._called("double", symbol, numbers)

    def _sum(self, one: str, other: str) -> str:
        if is_constant(one) and is_constant(other):
            return constant(number_of(one) + number_of(other))
        return self._w.emit(f"fadd double {one}, {other}")

    def _product(self, one: str, other: str) -> str:
        if _ONE in (one, other):
            return other if one == _ONE else one
        if is_constant(one) and is_constant(other):
            return constant(number_of(one) * number_of(other))
        if one == _MINUS_ONE:
            return self._w.emit(f"fneg double {other}")
        self._see_that_it_is_small(one, other)
        product = self._w.emit(f"fmul double {one}, {other}")
        self._products.add(product)
        return product

    def _see_that_it_is_small(self, *derivatives: str) -> None:
        """Leave it to the function where a large one might go beyond all floats with others, in the engine's order."""
        self._begin_section()
        new = [one for one in derivatives if one not in self._products and one not in self._small]
        new = [one for one in new if not (is_constant(one) and abs(number_of(one)) < _LARGE)]
        if new:
            sizes = [self._w.emit(f"call double @llvm.fabs.f64(double {one})") for one in new]
            size = sizes[0] if len(new) == 1 else self._w.emit(f"fadd double {', '.join(sizes)}")
            self._w.bail_if(self._w.emit(f"fcmp uge double {size}, {constant(_LARGE)}"))
            self._small.update(new)

    def of_ints(self, row: str, one: Typed, other: Typed) -> Typed:
        """An operator of two ints, which gives an int: one beyond 64 bits is left to the function itself."""
        kind = NUMPY_INT if NUMPY_INT in (one.kind, other.kind) else INT
        one, other = self.integer(one), self.integer(other)
        numbers = f"i64 {one.number}, {other.number}"
        if row in _INTEGER:
            pair = self._w.emit(
                f"call {{i64, i1}} @llvm.{_INTEGER[row]}.with.overflow.i64(i64 {one.number}, i64 {other.number})"
            )
            self._w.bail_if(self._w.emit(f"extractvalue {{i64, i1}} {pair}, 1"))
            return Typed(kind, (self._w.emit(f"extractvalue {{i64, i1}} {pair}, 0"),))
        if row in ("floordiv", "mod"):
            self._w.bail_if(self._w.emit(f"icmp eq i64 {other.number}, 0"))
            self._w.bail_if(self._w.emit(f"icmp eq i64 {one.number}, {-(2**63)}"))
            return Typed(kind, (self._w.emit(f"call i64 @int.{row}(i64 {one.number}, i64 {other.number})"),))
        raise NotTypedError(f"it computes {row} of ints ({numbers})")

    def plus_or_minus(self, value: Typed, negative: bool) -> Typed:
        """``+a`` or ``-a``."""
        if is_whole(value.kind):
            value = self.integer(value) if value.kind is BOOL else value
            return self.of_ints("sub", Typed(INT, ("0",), known=0), value) if negative else value
        if not is_number(value.kind):
            raise NotTypedError(f"it computes with {value.kind}")
        return self.row("neg", value) if negative else value


def _terms(value: Typed) -> Terms:
    """The terms of a number: those that it has, or its node."""
    if value.terms is not None:
        return value.terms
    if is_plain(value.kind) or value.parts[1] == "0":
        return ()
    return ((value.parts[1], _ONE),)
