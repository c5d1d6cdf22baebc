"""What each cell should hold, and whether it does: exact mathematics, Python's errors, the published conventions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mpmath

from . import exact
from .matrix import Cell, Outcome, orders_of
from .python_semantics import FUNCTIONS, raised, slopes

__all__ = ["RELATIVE", "Expectation", "Verdict", "expected", "judge"]

#: The bars of orders 2 and 3, relative.
RELATIVE = {2: 1e-12, 3: 1e-9}
_SMALLEST = 5e-324


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one number of a cell should be: ``exact`` within a bound, or the very float ``convention``."""

    orders: tuple[int, ...]
    exact: Any = None  #: an mpmath number
    condition: float = 1.0
    convention: float | None = None
    or_nan: bool = False  #: whether NaN is allowed where the limit is ``convention``
    or_zero: bool = False
    or_minus: bool = False


@dataclass(slots=True)
class Verdict:
    """How a cell came out. ``kind`` says what it was compared with; ``ulp`` is over the condition number."""

    cell: Cell
    kind: str  #: "exact", "convention" or "raises"
    ok: bool = True
    ulp: float = 0.0
    relative: float = 0.0
    condition: float = 1.0
    got: str = ""
    wanted: str = ""
    notes: list[str] = field(default_factory=list)


def _condition(name: str, orders: tuple[int, ...], numbers: tuple[float, ...], y: Any) -> float:
    """How much a relative error of the operands moves the result, at least 1."""
    if not y or name in exact.KINKED:
        return 1.0
    moved = mpmath.mpf(0)
    for slot, x in enumerate(numbers):
        try:
            further = tuple(n + (i == slot) for i, n in enumerate(orders))
            moved += abs(x * exact.derivative(name, further, numbers) / y)
        except exact.Undefined:
            continue
    return max(1.0, float(min(moved, exact.LARGEST)))


def _kinked(cell: Cell, orders: tuple[int, ...]) -> Expectation:
    numbers = cell.point.numbers
    if cell.order == 0:
        return Expectation(orders, convention=float(FUNCTIONS[cell.row.name](*numbers)))
    return Expectation(orders, convention=slopes(cell.row.name, numbers)[orders.index(1)] if cell.order == 1 else 0.0)


def _by_edge(cell: Cell, orders: tuple[int, ...]) -> Expectation | None:
    """A convention that the row states: at ``at`` y and the partials, and beyond them zero, the limit or NaN."""
    name, numbers = cell.row.name, cell.point.numbers
    for edge in getattr(cell.row, "edges", ()):
        if edge.at == numbers:
            if cell.order < 2:
                return Expectation(orders, convention=edge.partials[orders.index(1)] if cell.order else edge.y)
            return Expectation(orders, convention=exact.limit(name, orders, numbers), or_nan=True, or_zero=True)
    if name == "digamma" and cell.order == 1 and -math.inf < numbers[0] <= 0 and numbers[0].is_integer():
        return Expectation(orders, convention=math.nan)  # "NaN at the poles" says its row
    return None


def _by_power(cell: Cell, orders: tuple[int, ...]) -> Expectation | None:
    """A negative base: NaN for the exponent's part, or 0 where the power is 0; where whole and even is all the same
    (an infinite base or exponent, and every exponent beyond 2**53) the size is that of the positive base."""
    numbers = cell.point.numbers
    if cell.row.name != "pow" or not cell.order or not numbers[0] < 0:
        return None
    a, b = numbers
    if not (math.isinf(a) or abs(b) > 2.0**53):
        zero = abs(a) > 1 and b < -300
        return Expectation(orders, convention=math.nan, or_zero=zero) if orders[1] else None
    try:
        y = exact.derivative("pow", orders, (-a, b))
        size = float(y) if abs(y) <= exact.LARGEST else math.inf
    except exact.Undefined:
        size = exact.limit("pow", orders, (-a, b))
    return Expectation(orders, convention=size, or_nan=True, or_zero=bool(orders[1]), or_minus=True)


#: Rows that a float rounds once, so that Python has the very bits.
_ROUNDED = ("add", "sub", "mul", "div", "neg", "square")


def _has_pythons_bits(name: str, numbers: Sequence[float]) -> bool:
    return name in _ROUNDED or (name == "atan2" and 0.0 in numbers)  # where the sign of a zero chooses the branch


def _python(cell: Cell) -> float | None:
    """Python's own result of an order 0 cell; what raises was dealt with before."""
    if cell.order or cell.row.name not in FUNCTIONS:
        return None
    return float(FUNCTIONS[cell.row.name](*cell.point.numbers))


def _never_raises(*_: float) -> None:
    """What rows that Python lacks do."""


def _outside(cell: Cell) -> bool:
    """Whether the operands are ones that Python refuses."""
    try:
        FUNCTIONS.get(cell.row.name, _never_raises)(*cell.point.numbers)
    except (ZeroDivisionError, ValueError):
        return True
    except OverflowError:
        return False
    return False


def _or_nan(cell: Cell) -> bool:
    """Where NaN is as good as a limit.

    At an infinite or NaN operand, beyond the domain, where two operands reach a pole together, and from order 2 on.
    """
    numbers = cell.point.numbers
    if cell.order == 0:
        return cell.row.name == "softmax" and math.inf in numbers  # inf - inf, as PyTorch and JAX have it
    together = len(numbers) > 1 and not any(numbers)
    return cell.order >= 2 or (cell.order == 1 and (together or not all(map(math.isfinite, numbers)) or _outside(cell)))


def _expected(cell: Cell, orders: tuple[int, ...]) -> Expectation:
    name, numbers = cell.row.name, cell.point.numbers
    if name in exact.KINKED:
        return _kinked(cell, orders)
    stated = _by_edge(cell, orders) or _by_power(cell, orders)
    if stated is not None:
        return stated
    python = _python(cell)
    if python is not None and (
        not math.isfinite(python) or not all(map(math.isfinite, numbers)) or _has_pythons_bits(name, numbers)
    ):
        return Expectation(orders, convention=python)
    if cell.order == 0 and any(x != x for x in numbers):
        return Expectation(orders, convention=math.nan)
    try:
        y = exact.derivative(name, orders, numbers)
    except exact.Undefined:
        if python is not None:
            return Expectation(orders, convention=python)
        return Expectation(orders, convention=exact.limit(name, orders, numbers), or_nan=_or_nan(cell))
    if abs(y) > exact.LARGEST:
        return Expectation(orders, convention=math.inf if y > 0 else -math.inf)
    return Expectation(orders, y, _condition(name, orders, numbers, y) if cell.order < 2 else 1.0)


def expected(cell: Cell) -> str | list[Expectation]:
    """The name of the error that the cell should hold, or what its numbers should be."""
    if cell.order == 0 and cell.row.name in FUNCTIONS:
        try:
            FUNCTIONS[cell.row.name](*cell.point.numbers)
        except (ArithmeticError, ValueError) as error:
            return raised(error)
    return [_expected(cell, orders) for orders in orders_of(cell)]


def _bound(cell: Cell, orders: tuple[int, ...]) -> float:
    stated = getattr(cell.row, "accuracy", ())
    if cell.order == 0:
        return stated[0] if stated else 2
    return stated[1 + orders.index(1)] if stated else 4


def _same(x: float, y: float) -> bool:
    return x == y or (x != x and y != y)


def _near(got: float, wanted: float, order: int) -> bool:
    """A limit that is an ordinary number is met within the bounds of exact cells; order 0 has Python's bits."""
    return order > 0 and 0 < abs(wanted) < math.inf and abs(got - wanted) <= 4 * math.ulp(wanted) * order


def judge(cell: Cell, outcome: Outcome, wanted: str | Sequence[Expectation]) -> Verdict:
    """Whether ``outcome`` is what is wanted; the worst of a cell's numbers speaks for it."""
    if isinstance(wanted, str) or isinstance(outcome, str):
        kind = "raises" if isinstance(wanted, str) else "exact"
        named = wanted if isinstance(wanted, str) else "a number"
        return Verdict(cell, kind, outcome == wanted, got=str(outcome), wanted=named)
    worst: Verdict | None = None
    for got, one in zip(outcome, wanted, strict=True):
        verdict = _judge_number(cell, got, one)
        if worst is None or (verdict.ok, -verdict.ulp) < (worst.ok, -worst.ulp):
            worst = verdict
    return worst or Verdict(cell, "exact")


def _judge_number(cell: Cell, got: float, one: Expectation) -> Verdict:
    if one.exact is None:
        assert one.convention is not None
        ok = (
            _same(got, one.convention)
            or _near(got, one.convention, cell.order)
            or (one.or_nan and got != got)
            or (one.or_zero and got == 0.0)
        )
        ok = ok or (one.or_minus and got == -one.convention)
        return Verdict(cell, "convention", ok, got=repr(got), wanted=repr(one.convention))
    y = one.exact
    if cell.order and got != got and _outside(cell):
        return Verdict(cell, "convention", True, got=repr(got), wanted="NaN, or the formula's number")
    wanted = (
        mpmath.nstr(y, 20) if y == 0 or abs(mpmath.log10(abs(y))) < 400 else mpmath.nstr(mpmath.sign(y), 1) + "e-400.."
    )
    if not math.isfinite(got):
        # The largest float is half a unit from the next one, which is infinity.
        near = abs(y) > exact.LARGEST * (1 - mpmath.mpf(2) ** -50) and math.copysign(1, got) == mpmath.sign(y)
        return Verdict(
            cell, "exact", bool(near), math.inf if not near else 1.0, math.inf, one.condition, repr(got), wanted
        )
    off = abs(got - y)
    ulp = float(off / math.ulp(float(y))) / one.condition
    relative = float(off / abs(y)) if y else (0.0 if got == 0.0 else math.inf)
    if cell.order < 2:
        ok = ulp <= _bound(cell, one.orders)
    else:
        ok = relative <= RELATIVE[cell.order] or float(off) <= 4 * _SMALLEST
    return Verdict(cell, "exact", ok, ulp, relative, one.condition, repr(got), wanted)
