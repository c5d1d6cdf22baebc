"""The cells of the accuracy table asked of compiled functions, each row compiled once and called at every cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retrograd import engine
from retrograd.compiler import Compiled, Tier
from retrograd.compiler import compile as compile_function
from retrograd.engine import Value
from retrograd.errors import MissingExtraError
from retrograd.ops import NaryOp, Op

from .matrix import Cell, Outcome, result_of
from .python_semantics import raised
from .variants import FastVariant

__all__ = ["TIERS", "Answers", "ask", "in_vectors"]

#: The fast variants: what they are called, and the tier that gives them.
TIERS: dict[str, Tier] = {"compiled, fast, virtual machine": "vm", "compiled, fast, LLVM": "llvm"}
#: Wider than every vector by some: whole vectors, and what is left of one.
WIDTH = 11


class Answers:
    """What a compiled function answers for cells of orders 0 and 1, like :func:`.matrix.fill`."""

    def __init__(self, exact: bool, tier: Tier = "auto") -> None:
        self._exact, self._tier = exact, tier
        self._functions: dict[tuple[str, tuple[bool, ...]], Compiled[Any]] = {}
        self.fallen_back: list[str] = []  #: finite cells that no program answered

    def __call__(self, cell: Cell) -> Outcome:
        key = cell.row.name, cell.values
        if key not in self._functions:
            self._functions[key] = compile_function(_function(cell), exact=self._exact, tier=self._tier)
        function = self._functions[key]
        given = cell.point.given
        values = [Value(x) for x, is_value in zip(given, cell.values, strict=True) if is_value]
        numbers = [x for x, is_value in zip(given, cell.values, strict=True) if not is_value]
        before = engine.set_errstate(*[cell.order == 0] * 3)
        try:
            found = (
                tuple(function.value_and_grad(values, numbers)[1]) if cell.order else (function(values, numbers).data,)
            )
            if function.tier == "eager" and all(map(math.isfinite, found)):
                self.fallen_back.append(f"{cell} at order {cell.order}: no program answered")
            return found
        except (ArithmeticError, ValueError) as error:
            return raised(error)
        finally:
            engine.set_errstate(*before)


def _function(cell: Cell) -> Callable[[list[Value], list[Any]], Value]:
    """The row as a function of those operands that are Values, and of the numbers."""
    row, which = cell.row, cell.values

    def on_operands(values: list[Value], numbers: list[Any]) -> Value:
        value, number = iter(values), iter(numbers)
        result: Value = result_of(row, [next(value) if is_value else next(number) for is_value in which])
        return result

    return on_operands


def in_vectors(
    row: Op | NaryOp, operands: Sequence[Sequence[float]], tier: Tier
) -> Iterator[tuple[float, list[float]]]:
    """The row's values and first derivatives at ``operands``, computed side by side, so that vectors are full.

    Each result has a weight of one, whose derivative is the result.
    """

    def weighed(arguments: tuple[list[list[Value]], list[Value]]) -> Value:
        results = [result_of(row, xs) * weight for xs, weight in zip(*arguments, strict=True)]
        total: Value = engine.reduce("sum", results)
        return total

    function = compile_function(weighed, tier=tier)
    for start in range(0, len(operands), WIDTH):
        some = operands[start : start + WIDTH]
        filled = [*some, *[operands[0]] * (WIDTH - len(some))]
        arguments = [[Value(x) for x in numbers] for numbers in filled], [Value(1.0) for _ in filled]
        function.value_and_grad(arguments)  # traced; the program answers from now on
        slopes, results = function.value_and_grad(arguments)[1]
        assert function.tier == tier, f"{row.name} was answered by {function.tier} and not by {tier}"
        yield from zip(results[: len(some)], slopes[: len(some)], strict=True)


#: A cell, what the engine holds, what it should hold, and whether the engine's is that.
Known = tuple[Cell, Outcome, Any, bool]


def ask(name: str, known: Sequence[Known]) -> FastVariant:
    """Ask a tier for the cells of one row that are of orders 0 and 1: alone, and in vectors."""
    fast = FastVariant(name)
    try:
        answers = Answers(exact=False, tier=TIERS[name])
        for cell, engines, wanted, right in known:
            if cell.order < 2:
                fast.assess(cell, engines, answers(cell), wanted, right)
        fast.differ += answers.fallen_back
        _ask_vectors(fast, TIERS[name], [one for one in known if one[0].order < 2 and all(one[0].values)])
    except MissingExtraError as error:
        return FastVariant(name, absent=str(error))
    return fast


def _ask_vectors(fast: FastVariant, tier: Tier, known: Sequence[Known]) -> None:
    """The cells whose numbers are all finite: others the engine computes, and their neighbours with them."""
    by_length: dict[int, list[tuple[Known, Known]]] = {}
    for value, slopes in zip(known[::2], known[1::2], strict=True):
        numbers = [value[0].point.numbers, value[1], slopes[1]]
        if not any(isinstance(some, str) or not all(map(math.isfinite, some)) for some in numbers):
            by_length.setdefault(len(value[0].values), []).append((value, slopes))
    before = engine.set_errstate(False, False, False)
    try:
        for pairs in by_length.values():
            row = pairs[0][0][0].row
            found = in_vectors(row, [value[0].point.numbers for value, _ in pairs], tier)
            for (value, slopes), (result, gradient) in zip(pairs, found, strict=True):
                for (cell, engines, wanted, right), answer in ((value, (result,)), (slopes, tuple(gradient))):
                    fast.assess(cell, engines, answer, wanted, right)
    finally:
        engine.set_errstate(*before)
