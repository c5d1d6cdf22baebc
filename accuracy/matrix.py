"""The cells of the accuracy table, filled by the engine in use: row, operands, who is a Value, order.

Run as a program it prints them as JSON, so that another engine can be asked in another process:
``RETROGRAD_ENGINE=reference python -m accuracy.matrix``.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from retrograd import engine
from retrograd.autodiff.transforms import gradient
from retrograd.engine import Value
from retrograd.ops import NaryOp, Op

from .python_semantics import raised
from .sample_points import Point, points, rows

__all__ = ["Cell", "Outcome", "all_cells", "fill", "orders_of", "partials_of", "result_of"]

#: What a cell holds: the name of an error, or numbers, one for each partial derivative of that order.
Outcome = str | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One question to the engine. ``values`` says which operands are Values; the others are plain numbers."""

    row: Op | NaryOp
    point: Point
    values: tuple[bool, ...]
    order: int

    @property
    def key(self) -> str:
        return f"{self.row.name}|{self.order}|{','.join(map(str, self.values))}|{self.point.given!r}"

    def __str__(self) -> str:
        parts = [f"Value({x!r})" if v else repr(x) for v, x in zip(self.values, self.point.given, strict=True)]
        return f"{self.row.name}({', '.join(parts)})"


def _sides(row: Op | NaryOp) -> list[tuple[bool, ...]]:
    """Value∘Value, Value∘number, number∘Value."""
    arity = 1 if isinstance(row, NaryOp) else row.arity
    return [(True, True), (True, False), (False, True)] if arity == 2 else [(True,) * arity]


def _highest(row: Op | NaryOp, values: tuple[bool, ...]) -> int:
    """Order 3 for smooth rows, but not for a plain number's side and sequences, where order 2 must do."""
    return 3 if isinstance(row, Op) and row.smooth and all(values) else 2


def all_cells(names: Sequence[str] | None = None, step: int = 1) -> Iterator[Cell]:
    """Every cell, or those of the rows ``names``; with ``step`` only every so-manieth point of a row."""
    for row in rows():
        if names is None or row.name in names:
            for point in points(row)[::step]:
                for sides in _sides(row):
                    values = sides if isinstance(row, Op) else (True,) * len(point.given)
                    for order in range(_highest(row, values) + 1):
                        yield Cell(row, point, values, order)


def orders_of(cell: Cell) -> list[tuple[int, ...]]:
    """The partial derivatives that a cell holds, each as how often it is taken by each operand."""
    slots = [slot for slot, is_value in enumerate(cell.values) if is_value]
    count = len(cell.values)
    combinations = itertools.combinations_with_replacement(slots, cell.order)
    return [tuple(chosen.count(slot) for slot in range(count)) for chosen in combinations]


def result_of(row: Op | NaryOp, operands: Sequence[Any], by: Any = engine) -> Any:
    """The row on operands; of a softmax the first output."""
    if isinstance(row, Op):
        return by.apply(row.name, *operands)
    half = len(operands) // len(row.partials)
    result = by.reduce(row.name, operands[:half], operands[half:] if row.paired else None)
    return result[0] if isinstance(result, list) else result


def _operands(cell: Cell, by: Any) -> list[Any]:
    return [by.Value(x) if v else x for v, x in zip(cell.values, cell.point.given, strict=True)]


def partials_of(cell: Cell) -> tuple[float, ...]:
    """The partial derivatives of a cell from order 2 on, through graphs of gradients."""
    operands = _operands(cell, engine)
    xs = [operand for operand in operands if isinstance(operand, Value)]
    level: list[tuple[int, Any]] = [(0, result_of(cell.row, operands))]
    for taken in range(1, cell.order + 1):
        level = [
            (slot, slope)
            for start, y in level
            for slot, slope in enumerate(gradient(y, xs[start:], create_graph=taken < cell.order), start)
        ]
    return tuple(x if isinstance(x, float) else x.data for _, x in level)


def fill(cell: Cell, by: Any = engine) -> Outcome:
    """What the engine ``by`` answers, for orders 0 and 1; the engine in use for all."""
    before = by.set_errstate(*[cell.order == 0] * 3)
    try:
        if cell.order > 1:
            return partials_of(cell)
        operands = _operands(cell, by)
        y = result_of(cell.row, operands, by)
        if not cell.order:
            return (y.data,)
        return tuple(by.gradients(y, 1.0, [x for x in operands if isinstance(x, by.Value)]))
    except (ArithmeticError, ValueError) as error:
        return raised(error)
    finally:
        by.set_errstate(*before)


def main(arguments: Sequence[str]) -> None:
    """Print the engine's answers, one JSON object from cell to numbers (in hexadecimal) or an error's name."""
    names = arguments[0].split(",") if arguments and arguments[0] else None
    step = int(arguments[1]) if len(arguments) > 1 else 1
    answers = {}
    for cell in all_cells(names, step):
        outcome = fill(cell)
        answers[cell.key] = outcome if isinstance(outcome, str) else [x.hex() for x in outcome]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
