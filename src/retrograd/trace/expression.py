"""Expressions such as ``"(a*b + c) * tanh(a)"``: parsed once, recorded on Values any number of times.

What may be written is described in :mod:`retrograd.trace.grammar`. Evaluation is a stack machine, so that depth is no
limit; it names the nodes it records, remembers what each was written as, and says of an arithmetic
failure which sub-expression failed, and why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from .. import engine
from ..engine import Value
from ..engine.reference.rules import RULES
from ..errors import DivisionByZeroError, DomainError, ExpressionError, NumberTooLargeError
from ..ops import Op
from .grammar import (
    FUNCTIONS,
    MINUS,
    Instruction,
    Span,
    complaint,
    is_literal,
    read,
)

__all__ = ["CONSTANTS", "Evaluation", "Expression", "parse", "unused_names"]


#: What these names stand for where no value is given for them.
CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e, "tau": math.tau}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An expression evaluated on Values: the result, the named leaves, and what each node was written as."""

    text: str
    root: Value
    leaves: dict[str, Value]
    steps: dict[Value, Instruction]

    def written(self, node: Value, slot: int | None = None, limit: int = 200) -> str:
        """The sub-expression that recorded ``node``, or its operand ``slot``; longer ones end in ``...``.

        An empty string for a node that the expression did not record.
        """
        step = self.steps.get(node)
        if step is None:
            return ""
        start, end = step.span if slot is None else step.operands[slot]
        return self.text[start:end] if end - start <= limit else self.text[start : start + limit] + "..."


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: its text, its instructions, and its names with the place of their first use."""

    text: str
    program: tuple[Instruction, ...]
    places: Mapping[str, Span]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order of first use."""
        return tuple(self.places)

    def evaluate(self, values: Mapping[str, Value | float]) -> Evaluation:
        """Record the expression on Values, numbers becoming leaves labelled with their names; label what is recorded.

        Raises ExpressionError for a name without a value, a value without its name, and wherever the
        arithmetic fails, naming the sub-expression; and when nothing depends on a name, for then there is no gradient.
        """
        self.check_names(values)
        leaves = {
            name: value if isinstance(value, Value) else Value(value, label=name) for name, value in values.items()
        }
        stack: list[Value | float] = []
        steps: dict[Value, Instruction] = {}
        for step in self.program:
            recorded = _as_recorded(step, stack)
            result = self.perform(step, stack, leaves)
            stack.append(result)
            if isinstance(result, Value) and step.kind in ("apply", "reduce"):
                steps[result] = recorded
        root = stack.pop()
        if not isinstance(root, Value):
            raise complaint(
                self.text,
                f"the result is {root!r} and depends on no name, so that it has no gradient",
                0,
                len(self.text),
            )
        evaluation = Evaluation(self.text, root, leaves, steps)
        _label(evaluation)
        return evaluation

    def check_names(self, values: Mapping[str, object]) -> None:
        """Raise ExpressionError unless ``values`` has exactly the expression's names; it may lack constants."""
        missing = [name for name in self.places if name not in values and name not in CONSTANTS]
        unused = [name for name in values if name not in self.places]
        if missing:
            name = missing[0]
            start, end = self.places[name]
            raise complaint(self.text, _missing_sentence(name, missing, unused, list(values)), start, end)
        if unused:
            name = unused[0]
            used = ", ".join(self.places) or "none"
            raise ExpressionError(
                f"{name}={values[name]!r} is given, but {self._short()} does not use {name}; its names: {used}"
            )

    def _short(self) -> str:
        return repr(self.text) if len(self.text) <= 60 else "the expression"

    def perform(self, step: Instruction, stack: list[Value | float], leaves: Mapping[str, Value]) -> Value | float:
        """Run one instruction, taking its operands from ``stack``."""
        if step.kind == "number":
            return step.number
        if step.kind == "name":
            return leaves[step.what] if step.what in leaves else CONSTANTS[step.what]
        count = len(step.operands)
        operands = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        try:
            if step.kind == "compare":
                return _comparison(step.what, *operands)
            return _apply(step, operands)
        except (DivisionByZeroError, NumberTooLargeError, DomainError) as error:
            raise self.failure(step, operands, error) from None

    def failure(self, step: Instruction, operands: list[Value | float], error: Exception) -> ExpressionError:
        """The ExpressionError that names the sub-expression whose arithmetic failed, and why."""
        numbers = [item.data if isinstance(item, Value) else item for item in operands]
        says, culprits = _diagnosis(step.what, numbers) or (str(error), list(range(len(numbers))))
        reasons = []
        for slot in culprits:
            start, end = step.operands[slot]
            written = _shorten(self.text[start:end])
            if not is_literal(written.strip("()- " + MINUS)):
                reasons.append(f"{written} is {numbers[slot]!r}")
        because = f", because {' and '.join(reasons)}" if reasons else ""
        start, end = step.span
        return complaint(self.text, f"{_shorten(self.text[start:end])}: {says}{because}", start, end)


def _as_recorded(step: Instruction, stack: list[Value | float]) -> Instruction:
    """The instruction with its operands in the order in which the engine records them: ``3 * a`` is ``a * 3`` there."""
    if step.kind == "apply" and step.what in ("add", "mul") and not isinstance(stack[-2], Value):
        return step._replace(operands=step.operands[::-1])
    return step


def _missing_sentence(name: str, missing: list[str], unused: list[str], given: list[str]) -> str:
    if name in FUNCTIONS and name not in unused:
        return f"{name} is a function: write {name}(...) with its operands in parentheses"
    if unused:
        return f"unknown name {name}: the values given are for {', '.join(given)}"
    others = "".join(f" {other}=1" for other in missing[:4])
    return f"a value is missing for {', '.join(missing)}: give it after the expression, for example{others}"


def _shorten(text: str, limit: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 24] + " ... " + text[-19:]


def _comparison(sign: str, left: Value | float, right: Value | float) -> float:
    a, b = (item.data if isinstance(item, Value) else item for item in (left, right))
    holds = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
    return 1.0 if holds[sign] else 0.0


def _apply(step: Instruction, operands: list[Value | float]) -> Value | float:
    if step.kind == "reduce":
        if step.what == "dot":
            result = engine.reduce("dot", operands[: step.split], operands[step.split :])
        else:
            result = engine.reduce(step.what, operands)
        chosen: Value | float = result[step.output] if isinstance(result, list) else result
        return chosen
    row = FUNCTIONS[step.what]
    if isinstance(row, Op) and any(isinstance(operands[slot], Value) for slot in row.static):
        raise DomainError("this operand must be a plain whole number: no derivative by it exists")
    if any(isinstance(item, Value) for item in operands):
        return engine.apply(step.what, *operands)
    return engine.evaluate(step.what, *[item for item in operands if not isinstance(item, Value)])


def _diagnosis(name: str, numbers: list[float]) -> tuple[str, list[int]] | None:
    """The sentence of the domain rule that these operands break, and the operands in its condition."""
    rule = RULES.get(name)
    if rule is None:
        return None
    index = rule.violation(numbers, rule.forward(*numbers), ("divide", "over", "invalid"))
    if index is None:
        return None
    domain = rule.row.domain[index]
    return domain.says, [
        slot for slot, letter in enumerate("abc"[: len(numbers)]) if re.search(rf"\b{letter}\b", domain.when)
    ]


def unused_names(taken: Collection[str]) -> Iterator[str]:
    """Unused names: the single letters in order, without l, then v1, v2, …"""
    for letter in "abcdefghijkmnopqrstuvwxyz":
        if letter not in taken:
            yield letter
    number = 1
    while True:
        if f"v{number}" not in taken:
            yield f"v{number}"
        number += 1


def _label(evaluation: Evaluation) -> None:
    """Label the recorded nodes that have no label: the result L, the others with unused letters."""
    taken = {*evaluation.leaves, "L"}
    if evaluation.root in evaluation.steps:
        evaluation.root.label = "L" if "L" not in evaluation.leaves else next(unused_names(taken))
        taken.add(evaluation.root.label)
    names = unused_names(taken)
    for node in evaluation.steps:
        if node is not evaluation.root and not node.label:
            node.label = next(names)


def parse(text: str) -> Expression:
    """Parse ``text``. Raises ExpressionError, saying what was found, where, and what to write instead."""
    return Expression(text, *read(text))
