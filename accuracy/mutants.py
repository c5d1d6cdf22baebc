"""Is the table any good? Every formula of the op table is made wrong in turn, and the table must notice.

The mutants run on the reference engine, which evaluates the formulas as they stand. A mutant is caught when some cell
that was right before is wrong, or no longer has the bits it had.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from retrograd.engine import reference
from retrograd.engine.reference import rules
from retrograd.ops import BY_NAME, NaryOp, Op
from retrograd.ops.formula import guarded

from .matrix import Cell, Outcome, fill
from .oracle import Expectation, expected, judge
from .sample_points import points, rows

__all__ = ["Mutant", "caught", "hunt", "mutants"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One row with one thing wrong; ``how`` says what."""

    row: Op | NaryOp
    wrong: Op | NaryOp
    how: str

    def __str__(self) -> str:
        return f"{self.row.name}: {self.how}"


def _changed(partials: tuple[str, ...], slot: int, text: str) -> tuple[str, ...]:
    return (*partials[:slot], text, *partials[slot + 1 :])


def _wrong_partials(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    split = guarded(text, names)
    if split.expression is None:
        yield "a slope of 1e-9 where it is zero", "0.000000001"
        yield "NaN where it is zero", "nan"
        return
    body, guard = ast.unparse(split.expression), None if split.guard is None else ast.unparse(split.guard)

    def again(formula: str) -> str:
        return formula if guard is None else f"select({guard}, {formula}, 0)"

    yield "a part in 10**12 too large", again(f"1.000000000001 * ({body})")
    yield "the wrong sign", again(f"-({body})")
    yield "zero", "0"
    yield "1e-12 too large", again(f"({body}) + 0.000000000001")
    if guard is not None:
        yield "its guard the wrong way round", f"select(not ({guard}), {body}, 0)"


def mutants() -> Iterator[Mutant]:
    """Each partial, each forward formula and each entry of a domain of every public row, made wrong in turn."""
    for row in rows():
        names = ("a", "b", "y", "n", "ties", "rest") if isinstance(row, NaryOp) else (*"abc"[: row.arity], "y")
        for slot, text in enumerate(row.partials):
            for how, wrong in _wrong_partials(text, names):
                yield Mutant(
                    row, replace(row, partials=_changed(row.partials, slot, wrong)), f"partial {slot + 1} {how}"
                )
        if isinstance(row, NaryOp):
            yield Mutant(row, replace(row, finish=f"1.000000000001 * ({row.finish})"), "y a part in 10**12 too large")
            continue
        for index, entry in enumerate(row.domain):
            rest = (*row.domain[:index], *row.domain[index + 1 :])
            yield Mutant(row, replace(row, domain=rest), f"no {entry.error} when {entry.when}")
            other: Any = "OverflowError" if entry.error != "OverflowError" else "ValueError"
            swapped = (*row.domain[:index], replace(entry, error=other), *row.domain[index + 1 :])
            yield Mutant(row, replace(row, domain=swapped), f"{other} for {entry.error} when {entry.when}")


@contextmanager
def _in_place(mutant: Mutant) -> Iterator[None]:
    """The reference engine with a wrong row."""
    table: dict[str, Any] = rules.NARY_RULES if isinstance(mutant.row, NaryOp) else rules.RULES
    right = table[mutant.row.name]
    BY_NAME[mutant.row.name] = mutant.wrong  # whose errors' classes are read there
    if isinstance(mutant.wrong, NaryOp):
        table[mutant.row.name] = rules.nary_rule(mutant.wrong)
    else:
        table[mutant.row.name] = rules.rule(mutant.wrong, right.forward)
    try:
        yield
    finally:
        table[mutant.row.name] = right
        BY_NAME[mutant.row.name] = mutant.row


def _answer(cell: Cell) -> Outcome:
    """What the reference engine says, whichever engine is in use."""
    return fill(cell, reference)


def _cells(row: Op | NaryOp) -> Iterator[Cell]:
    """Orders 0 and 1 with every operand a Value: what a formula of the row decides by itself."""
    for point in points(row):
        for order in (0, 1):
            yield Cell(row, point, (True,) * len(point.given), order)


Known = list[tuple[Cell, str | list[Expectation], bool, object]]


def _known(row: Op | NaryOp) -> Known:
    """Each cell with what it should hold, whether it does, and what it holds."""
    found: Known = []
    for cell in _cells(row):
        wanted, got = expected(cell), _answer(cell)
        found.append((cell, wanted, judge(cell, got, wanted).ok, got))
    return found


def caught(mutant: Mutant, known: Known) -> bool:
    """Whether some cell that was right is now wrong."""
    with _in_place(mutant):
        for cell, wanted, was_right, before in known:
            got = _answer(cell)
            if was_right and repr(got) != repr(before) and not judge(cell, got, wanted).ok:
                return True
    return False


def hunt(names: Iterable[str] | None = None) -> tuple[int, list[Mutant]]:
    """How many mutants there are, and those that the table did not catch."""
    wanted = None if names is None else set(names)
    known: dict[str, Known] = {}
    count, missed = 0, []
    for mutant in mutants():
        name = mutant.row.name
        if wanted is not None and name not in wanted:
            continue
        if name not in known:
            known = {name: _known(mutant.row)}
        count += 1
        if not caught(mutant, known[name]):
            missed.append(mutant)
    return count, missed
