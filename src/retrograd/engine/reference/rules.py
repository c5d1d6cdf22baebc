"""The op table as Python functions of floats: forward, domain and local derivatives of every row.

A :class:`Rule` is one row with its formulas compiled. It gives the reference engine three things: the result, whether
an operand lies outside the domain, and the local derivatives. Everything here is IEEE arithmetic on floats (division by
zero is an infinity); the engine decides whether a domain violation raises.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from ...ops import NARY, OPS, Domain, NaryOp, Op
from ...ops.formula import compile_python, guarded, operand_names, parse
from . import libm

__all__ = ["NARY_RULES", "RULES", "NaryRule", "Partial", "Rule", "label", "nary_rule", "rule", "worked_example"]

Function = Callable[..., float]


@dataclass(frozen=True, slots=True)
class Partial:
    """One local derivative: ``expression`` where ``guard`` holds, and structurally zero elsewhere."""

    guard: Callable[..., object] | None
    expression: Function | None

    def __call__(self, *variables: float) -> float | None:
        """The local derivative, or None where it is structurally zero (nothing is to be added at all)."""
        if self.expression is None or (self.guard is not None and not self.guard(*variables)):
            return None
        return self.expression(*variables)


@dataclass(frozen=True, slots=True)
class Rule:
    """An operator with a fixed number of operands."""

    row: Op
    forward: Function
    domain: tuple[tuple[Domain, Callable[..., object]], ...]
    partials: tuple[Partial, ...]

    def violation(self, numbers: Sequence[float], y: float, raising: Collection[str]) -> int | None:
        """Index of the first domain entry that the operands violate, if ``raising`` has its kind; else None."""
        for index, (domain, holds) in enumerate(self.domain):
            if holds(*numbers, y):
                return index if domain.kind in raising else None
        return None

    def derivatives(
        self, numbers: Sequence[float], y: float, slots: Iterable[int], output: int = 0
    ) -> list[float | None]:
        """Local derivatives with respect to the operands in ``slots``; None where structurally zero."""
        return [self.partials[slot](*numbers, y) for slot in slots]


@dataclass(frozen=True, slots=True)
class NaryRule:
    """An operator over a sequence: a fold from left to right (see :class:`retrograd.ops.NaryOp`)."""

    row: NaryOp
    init: float
    step: Function
    finish: Function
    partials: tuple[Partial, ...]

    def forward(self, xs: Sequence[float], ys: Sequence[float] = ()) -> list[float]:
        """The results: one, or one for each operand when the row has ``outputs``."""
        m, n = largest(xs), float(len(xs))
        s = self.init
        for a, b in zip(xs, ys if self.row.paired else xs, strict=True):
            s = self.step(s, a, b, m)
        return [self.finish(s, a, m, n) for a in (xs if self.row.outputs else [0.0])]

    def derivatives(
        self, numbers: Sequence[float], y: float, slots: Iterable[int], output: int = 0
    ) -> list[float | None]:
        """Local derivatives of result ``output``; ``numbers`` are all operands, a dot's a before its b."""
        half = len(numbers) // 2 if self.row.paired else len(numbers)
        xs, ys = numbers[:half], numbers[half:] if self.row.paired else numbers
        n = float(half)
        ties = n if y != y else float(sum(a == y for a in xs))
        rest = self.rest(xs, output)
        return [
            self.partials[slot // half](xs[slot % half], ys[slot % half], y, n, ties, rest[slot % half])
            for slot in slots
        ]

    def rest(self, xs: Sequence[float], output: int) -> Sequence[float]:
        """The variable ``rest`` of the formulas, for each operand."""
        if self.row.name == "prod":
            return products_of_others(xs)
        if self.row.name == "logsumexp":
            return NARY_RULES["softmax"].forward(xs)
        if self.row.name == "softmax":
            probabilities = self.forward(xs)
            others = 0.0
            for index, probability in enumerate(probabilities):
                if index != output:
                    others += probability
            return [others if index == output else -p for index, p in enumerate(probabilities)]
        return [0.0] * len(xs)


def products_of_others(xs: Sequence[float]) -> list[float]:
    """For each operand the product of those before it times the product of those after it.

    Both products start from 1 at their end of the sequence, so nothing is divided and a zero does no harm.
    """
    before, after = [1.0], [1.0]
    for a in xs:
        before.append(before[-1] * a)
    for a in reversed(xs):
        after.append(after[-1] * a)
    return [before[i] * after[len(xs) - 1 - i] for i in range(len(xs))]


def largest(xs: Sequence[float]) -> float:
    """The variable ``m`` of the formulas: the largest operand, or NaN if there is one."""
    m = float("-inf")
    for a in xs:
        m = m if m != m or m >= a else a
    return m


def label(row: Op | NaryOp, numbers: Sequence[float | None]) -> str:
    """The text of ``_op``: the row's label; for a power, its constant exponent or base (``**2``, ``2**``).

    ``numbers`` are the operands that are plain numbers, None in place of the others.
    """
    if row.name != "pow":
        return row.label
    base, exponent = ("" if number is None else repr(number).removesuffix(".0") for number in numbers)
    return f"{base}**{exponent}"


# --- compiling the table ----------------------------------------------------------------------------

_FUNCTIONS: dict[str, Function] = {**libm.PRIMITIVES, "div": libm.divide}


def _compile(text: str, names: Sequence[str]) -> Function:
    return compile_python(parse(text, names), ", ".join(names), _FUNCTIONS)


def _partial(text: str, names: Sequence[str]) -> Partial:
    split = guarded(text, names)
    guard, expression = (
        None if tree is None else compile_python(tree, ", ".join(names), _FUNCTIONS)
        for tree in (split.guard, split.expression)
    )
    return Partial(guard, expression)


def _forward(row: Op) -> Function:
    """A row's function of its operands. The formulas of later rows can call it."""
    if not row.primitive and row.name != "div":
        _FUNCTIONS[row.name] = _compile(row.forward, operand_names(row.name)[:-1])
    return _FUNCTIONS[row.name]


def rule(row: Op, forward: Function) -> Rule:
    """A row with its formulas compiled."""
    names = operand_names(row.name)
    domain = tuple((entry, _compile(entry.when, names)) for entry in row.domain)
    return Rule(row, forward, domain, tuple(_partial(text, names) for text in row.partials))


def nary_rule(row: NaryOp) -> NaryRule:
    """A row over a sequence with its formulas compiled."""
    init = _compile(row.init, ())()
    step = _compile(row.step, ("s", "a", "b", "m"))
    finish = _compile(row.finish, ("s", "a", "m", "n"))
    partials = tuple(_partial(text, operand_names(row.name)) for text in row.partials)
    return NaryRule(row, init, step, finish, partials)


_FORWARDS = [_forward(row) for row in OPS]

#: The operators with a fixed number of operands, by name.
RULES: dict[str, Rule] = {row.name: rule(row, forward) for row, forward in zip(OPS, _FORWARDS, strict=True)}
#: The operators over a sequence, by name.
NARY_RULES: dict[str, NaryRule] = {row.name: nary_rule(row) for row in NARY}


def worked_example(name: str, point: tuple[float, ...]) -> tuple[list[float], list[float]]:
    """The results of the row ``name`` at ``point`` and the local derivatives of the first, for the docstrings."""
    if name in RULES:
        y = RULES[name].forward(*point)
        return [y], [partial or 0.0 for partial in RULES[name].derivatives(point, y, range(len(point)))]
    fold = NARY_RULES[name]
    half = len(point) // 2 if fold.row.paired else len(point)
    results = fold.forward(point[:half], point[half:])
    return results, [partial or 0.0 for partial in fold.derivatives(point, results[0], range(len(point)))]
