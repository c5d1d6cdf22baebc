"""The local derivatives of a recorded node, from the op table's formulas, as numbers or as Values.

A partial is a formula of the op table; a local derivative is what it gives at one node. The engines evaluate partials
in a backward pass. This module evaluates them for two others: for the higher-order transforms, where a local derivative
is an expression of Values that can be differentiated again, and for anomaly detection, which checks each contribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from .. import engine
from ..engine import Value
from ..ops import BY_NAME, OPS, NaryOp, Op, formula

__all__ = ["Local", "LocalDerivatives", "ieee", "product"]

#: A local derivative: a number, a Value connected to the operands, or None where it is structurally zero.
Local = Value | float | None


@contextmanager
def ieee() -> Iterator[None]:
    """Let operations on this thread give infinities and NaN instead of domain errors, as an engine's sweep does."""
    previous = engine.set_errstate(False, False, False)
    try:
        yield
    finally:
        engine.set_errstate(*previous)


def product(upstream: Value | float, local: Value | float) -> Value | float | None:
    """The contribution ``upstream * local``. It is zero for a zero upstream, even when ``local`` is infinite.

    None when ``upstream`` is the number zero. A Value whose data is zero is not dropped: its own derivative may differ
    from zero.
    """
    if not isinstance(upstream, Value):
        if upstream == 0.0:
            return None
        return _scaled(local, upstream) if isinstance(local, Value) else upstream * local
    if isinstance(local, Value) or not math.isfinite(local):
        return engine.apply("zero_product", upstream, local)
    return _scaled(upstream, local)


def _scaled(value: Value, factor: float) -> Value:
    if factor == 1.0:
        return value
    return -value if factor == -1.0 else value * factor


# --- the formulas, compiled -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CompiledPartial:
    """A compiled partial: structurally zero where ``guard`` (of numbers) is false."""

    guard: Callable[..., Any] | None
    expression: Callable[..., Any]


def _operation(name: str) -> Callable[..., Value | float]:
    def call(*operands: Value | float) -> Value | float:
        for operand in operands:
            if isinstance(operand, Value):
                return engine.apply(name, *operands)
        return engine.evaluate(name, *operands)  # type: ignore[arg-type]  # no Value among them

    return call


_NAMESPACE = {op.name: _operation(op.name) for op in OPS}


class _Row(NamedTuple):
    """A row's compiled partials, None for those that are zero everywhere."""

    partials: tuple[_CompiledPartial | None, ...]
    guarded: bool  #: whether one of them has a guard
    constants: tuple[float, ...]  #: the partials of a sum or a difference, which are 1 and -1; else empty
    nary: NaryOp | None


@cache
def _compiled(name: str, graph: bool = True, in_rows: bool = False) -> _Row:
    """The partials of a row, for numbers or for a ``graph`` to be differentiated again.

    ``in_rows``: conditions are numbers that rows compute; guards take what partials do.
    """
    row, names = BY_NAME[name], formula.operand_names(name)
    texts = (graph and isinstance(row, Op) and row.smooth_partials) or row.partials
    partials = tuple(_compile(text, names, formula.to_rows if in_rows else formula.to_python) for text in texts)
    guarded = any(partial is not None and partial.guard is not None for partial in partials)
    if isinstance(row, NaryOp):
        return _Row(partials, guarded, (), row)
    constants = tuple(map(float, row.partials)) if {"1", "-1"}.issuperset(row.partials) else ()
    return _Row(partials, guarded, constants, None)


def _compile(text: str, names: tuple[str, ...], printer: Callable[[Any], str]) -> _CompiledPartial | None:
    split = formula.guarded(text, names)
    if split.expression is None:
        return None
    parameters = ", ".join(names)
    guard = None if split.guard is None else formula.compile_python(split.guard, parameters, _NAMESPACE, printer)
    return _CompiledPartial(guard, formula.compile_python(split.expression, parameters, _NAMESPACE, printer))


def _number(operand: Value | float) -> float:
    return operand.data if isinstance(operand, Value) else operand


_ALL = (True, True, True)  #: all operands of a row that is not n-ary are wanted


def _unwrapped_constants(operands: Sequence[Value | float]) -> list[Value | float]:
    """The numbers in constants that the engine made, which no gradient reaches; the other operands as they are."""
    is_constant = engine.is_constant
    return [x.data if isinstance(x, Value) and is_constant(x) else x for x in operands]


# --- one pass over a graph ------------------------------------------------------------------------


class LocalDerivatives:
    """The local derivatives of the nodes of one pass: as Values when ``graph``, else as numbers.

    Use it inside :func:`ieee`. The outputs of one softmax share their probabilities, which are computed once. While a
    program is recorded (``in_rows``), a condition is part of it: the next call's numbers may decide otherwise.
    """

    def __init__(self, graph: bool, in_rows: bool = False) -> None:
        self.graph, self.in_rows = graph, in_rows
        self._probabilities: dict[tuple[object, ...], list[Value | float]] = {}

    def of(self, node: Value, operands: Sequence[Value | float], wanted: Sequence[bool] | None = None) -> list[Local]:
        """The local derivative of ``node`` with respect to each of its operands.

        None where it is structurally zero or not ``wanted``. ``node`` must be the result of a row of the op table or of
        a primitive, not another node that a user made.
        """
        name = engine.row_name(node)
        if name == "user":
            return node._op.slopes(operands)  # type: ignore[attr-defined, no-any-return]  # retrograd.primitives
        row = _compiled(name, self.graph, self.in_rows)
        if row.constants:
            return [one if want else None for one, want in zip(row.constants, wanted or _ALL, strict=False)]
        result: Value | float = node
        if self.graph:
            operands = operands if self.in_rows else _unwrapped_constants(operands)
        else:
            operands, result = [_number(operand) for operand in operands], node.data
        if wanted is None:
            wanted = [True] * len(operands)
        if row.nary is not None:
            return self._nary(row.nary, node, operands, result, wanted)
        if self.in_rows:
            arguments = (*operands, result)
            return [
                _selected(partial, arguments, arguments) if want else None
                for partial, want in zip(row.partials, wanted, strict=True)
            ]
        numbers = [*map(_number, operands), node.data] if row.guarded else ()
        return [
            _evaluated(partial, numbers, (*operands, result)) if want else None
            for partial, want in zip(row.partials, wanted, strict=True)
        ]

    def _nary(
        self,
        row: NaryOp,
        node: Value,
        operands: Sequence[Value | float],
        y: Value | float,
        wanted: Sequence[bool],
    ) -> list[Local]:
        if row.paired:
            half = len(operands) // 2
            first, second = operands[:half], operands[half:]
            pairs = [(0, a, b) for a, b in zip(first, second, strict=True)]
            pairs += [(1, a, b) for a, b in zip(first, second, strict=True)]
        else:
            pairs = [(0, a, 0.0) for a in operands]
        count = float(len(operands) // len(row.partials))
        rests = self._rest_of_each(row.name, node, operands, wanted)
        if self.in_rows:
            return self._nary_in_rows(row, pairs, rests, wanted, y, count)
        numbers = [_number(operand) for operand in operands]
        ties = float(numbers.count(node.data)) if node.data == node.data else count
        partials = _compiled(row.name).partials
        locals_: list[Local] = []
        for (which, a, b), rest, want in zip(pairs, rests, wanted, strict=True):
            partial = partials[which] if want else None
            known = (_number(a), _number(b), node.data, count, ties, 0.0)
            locals_.append(_evaluated(partial, known, (a, b, y, count, ties, rest)))
        return locals_

    @staticmethod
    def _nary_in_rows(
        row: NaryOp,
        pairs: Sequence[tuple[int, Value | float, Value | float]],
        rests: Sequence[Value | float],
        wanted: Sequence[bool],
        y: Value | float,
        count: float,
    ) -> list[Local]:
        ties: Value | float = count
        if any("ties" in partial for partial in row.partials):
            equal = _NAMESPACE["equal"]
            ties = engine.reduce("sum", [equal(a, y) for _, a, _ in pairs])
            ties = _NAMESPACE["maximum"](ties, 1.0)  # where nothing is equal, no partial asks, but all are computed
        partials = _compiled(row.name, in_rows=True).partials
        locals_: list[Local] = []
        for (which, a, b), rest, want in zip(pairs, rests, wanted, strict=True):
            arguments = (a, b, y, count, ties, rest)
            locals_.append(_selected(partials[which], arguments, arguments) if want else None)
        return locals_

    def _rest_of_each(
        self, name: str, node: Value, operands: Sequence[Value | float], wanted: Sequence[bool]
    ) -> Sequence[Value | float]:
        if name == "prod":
            return _products_of_others(operands)
        if name == "logsumexp":
            return self._softmax(operands)
        if name == "softmax":
            index = engine.output_index(node)
            probabilities = self._softmax(operands)
            return [
                0.0 if not want else _sum_of_others(probabilities, index) if slot == index else -probability
                for slot, (probability, want) in enumerate(zip(probabilities, wanted, strict=True))
            ]
        return [0.0] * len(operands)

    def _softmax(self, operands: Sequence[Value | float]) -> list[Value | float]:
        key = tuple(id(operand) if isinstance(operand, Value) else operand for operand in operands)
        known = self._probabilities.get(key)
        if known is None:
            known = self._probabilities[key] = engine.reduce("softmax", operands)
        return known


def _evaluated(partial: _CompiledPartial | None, numbers: Sequence[float], arguments: Sequence[Value | float]) -> Local:
    if partial is None or (partial.guard is not None and not partial.guard(*numbers)):
        return None
    return partial.expression(*arguments)  # type: ignore[no-any-return]


def _selected(
    partial: _CompiledPartial | None, numbers: Sequence[Value | float], arguments: Sequence[Value | float]
) -> Local:
    """The same where conditions are numbers: zero where the guard is."""
    if partial is None:
        return None
    holds = 1.0 if partial.guard is None else partial.guard(*numbers)
    if isinstance(holds, Value):
        return _NAMESPACE["where"](holds, partial.expression(*arguments), 0.0)
    return partial.expression(*arguments) if holds else None


def _products_of_others(operands: Sequence[Value | float]) -> list[Value | float]:
    """For each operand the product of all the others: those before it times those after it."""
    before: list[Value | float] = [1.0]
    for operand in operands[:-1]:
        before.append(_times(before[-1], operand))
    after: list[Value | float] = [1.0]
    for operand in operands[:0:-1]:
        after.append(_times(after[-1], operand))
    return [_times(left, right) for left, right in zip(before, reversed(after), strict=True)]


def _times(left: Value | float, right: Value | float) -> Value | float:
    if not isinstance(left, Value) and left == 1.0:
        return right
    if not isinstance(right, Value) and right == 1.0:
        return left
    return left * right


def _sum_of_others(probabilities: Sequence[Value | float], index: int) -> Value | float:
    others = [probability for slot, probability in enumerate(probabilities) if slot != index]
    return engine.reduce("sum", others)  # type: ignore[no-any-return]
