"""One examination in progress: the class, random numbers, right answers, and how a failure is put into words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...autodiff.check.differences import central_difference
from ...engine.reference import Value as ReferenceValue
from ...errors import RetrogradError
from .advice import advise, advise_on_trouble
from .expressions import Expression, Fails, Symbol, record, shrink, simplify
from .findings import Failure, Row
from .operations import Operation
from .subject import Outcome, Subject, Trouble, TroubleError
from .walks import close

__all__ = ["SIMPLE", "Answer", "BrokenError", "Examination", "digits", "row"]

#: The numbers that a shrunk expression is tried with, simplest first.
SIMPLE = (3.0, 2.0, -2.0, 4.0, 5.0, 0.5)

#: Told what is about to be examined: the rule and the expression, so that a process that is ended can still say it.
Progress = Callable[[str, Sequence[str]], None]


class BrokenError(Exception):
    """A rule does not hold; ``failure`` says how."""

    def __init__(self, failure: Failure, others: Sequence[Failure] = ()) -> None:
        super().__init__(failure.headline)
        self.failure = failure
        self.others: list[Failure] = list(others)  #: what else the rule has found, in other operations


@dataclass(frozen=True, slots=True)
class Answer:
    """What is right for an expression, node by node, and the size of the contributions to each gradient."""

    data: list[float]
    grads: list[float]
    scale: float


@dataclass(slots=True)
class Examination:
    """A learner's class under examination, and what is known about it so far."""

    subject: Subject
    draw: random.Random
    progress: Progress = lambda rule, program: None
    has_values: list[Operation] = field(default_factory=list)  #: operations whose numbers are right
    right: list[Operation] = field(default_factory=list)  #: and whose derivatives are
    absent: list[str] = field(default_factory=list)  #: what the class does not have yet
    remarks: list[str] = field(default_factory=list)
    rule: str = ""  #: the rule being examined
    _answers: dict[Expression, Answer | None] = field(default_factory=dict)

    # --- numbers ---

    def number(self, positive: bool = False) -> float:
        """A number with two decimals that is not whole, between 0.26 and 3.94 or its negative."""
        number = self.draw.choice([n for n in range(26, 395) if n % 50]) / 100
        return number if positive or self.draw.random() < 0.5 else -number

    def numbers(self, count: int, positive: bool = False) -> list[float]:
        """Different random numbers."""
        found: list[float] = []
        while len(found) < count:
            number = self.number(positive)
            if abs(number) not in map(abs, found):
                found.append(number)
        return found

    def expression(self, program: Callable[..., Symbol], count: int, positive: bool = False) -> Expression:
        """A program at random numbers at which it is defined."""
        for _ in range(100):
            expression = record(program, self.numbers(count, positive))
            if self.answer(expression) is not None:
                return expression
        return record(program, self.numbers(count, True))

    # --- right answers and the learner's ---

    def answer(self, expression: Expression) -> Answer | None:
        """What is right, from the reference engine; None where the expression is not defined or ill-conditioned."""
        if expression not in self._answers:
            self._answers[expression] = self._computed(expression)
        return self._answers[expression]

    def _computed(self, expression: Expression) -> Answer | None:
        try:
            values = expression.compute(ReferenceValue)
            values[-1].backward()
        except (RetrogradError, ArithmeticError, ValueError):
            return None
        data = [value if isinstance(value, (int, float)) else value.data for value in values]
        grads = [0.0 if isinstance(value, (int, float)) else value.grad for value in values]
        if any(not abs(number) < 1e6 for number in (*data, *grads)):
            return None
        return Answer(data, grads, max(1.0, *map(abs, data), *map(abs, grads)))

    def run(self, expression: Expression) -> Outcome:
        """Forward and backward with the learner's class. Raises BrokenError for what the learner's code raises."""
        self.tell(expression)
        try:
            return self.subject.run(expression)
        except TroubleError as error:
            raise self.broken_by(error.trouble, expression) from None

    def forward(self, expression: Expression) -> Outcome:
        """Forward only, as ``run``."""
        self.tell(expression, backward=False)
        try:
            return self.subject.forward(expression)
        except TroubleError as error:
            raise self.broken_by(error.trouble, expression, backward=False) from None

    def tell(self, expression: Expression, backward: bool = True) -> None:
        """Say which expression comes next."""
        self.progress(self.rule, self.lines(expression, backward))

    def lines(self, expression: Expression, backward: bool = True) -> tuple[str, ...]:
        """The expression as lines to paste."""
        return tuple(expression.lines(self.subject.name, backward and self.subject.style == "backward"))

    def wrong_data(self, expression: Expression, outcome: Outcome) -> bool:
        """Whether a result of an operation has the wrong number."""
        answer = self.answer(expression)
        return answer is not None and not all(
            close(outcome.data[at], answer.data[at], answer.scale) for at in expression.operations
        )

    def wrong_grads(self, expression: Expression, outcome: Outcome) -> bool:
        """Whether a gradient is wrong, a leaf's or another."""
        answer = self.answer(expression)
        return answer is not None and not all(
            came is None or close(came, right, answer.scale)
            for came, right in zip(outcome.grads, answer.grads, strict=True)
        )

    def wrong_run(self, expression: Expression, tries: int = 3) -> Outcome | Trouble | None:
        """What a run with a wrong number, or an exception, gave; None when every one was right.

        Several are tried: a class that keeps its nodes in sets may walk them in another order each time.
        """
        for _ in range(tries):
            try:
                outcome = self.subject.run(expression)
            except TroubleError as error:
                return error.trouble
            if self.wrong_grads(expression, outcome) or self.wrong_data(expression, outcome):
                return outcome
        return None

    def fails(self, expression: Expression) -> bool:
        """Whether the learner's class gets this expression wrong, or raises on it."""
        return self.answer(expression) is not None and self.wrong_run(expression) is not None

    # --- failures ---

    def shrunk(self, expression: Expression, fails: Fails | None = None) -> Expression:
        """The smallest and simplest expression found that still fails."""
        return self.simplified(shrink(expression, fails or self.fails), fails)

    def simplified(self, expression: Expression, fails: Fails | None = None) -> Expression:
        """The same expression with the simplest numbers found at which it still fails."""
        return simplify(expression, fails or self.fails, SIMPLE)

    def failure(
        self,
        mistake: str = "",
        operation: str = "",
        expression: Expression | None = None,
        rows: Iterable[Row] = (),
        notes: Iterable[str] = (),
        rule: str = "",
        backward: bool = True,
        program: Sequence[str] = (),
    ) -> Failure:
        """A failure of the rule being examined, with what there is to say about it."""
        rule = rule or self.rule
        advice = advise(rule, mistake, operation)
        lines = self.lines(expression, backward) if expression is not None else tuple(program)
        said = advice.headline, advice.explanation, advice.hints
        return Failure(rule, operation, mistake, lines, tuple(rows), tuple(notes), None, *said)

    def broken(self, *arguments: Any, **others: Any) -> BrokenError:
        """A ``failure``, to be raised."""
        return BrokenError(self.failure(*arguments, **others))

    def broken_by(
        self,
        trouble: Trouble,
        expression: Expression | None = None,
        backward: bool = True,
        operation: str = "",
        program: Sequence[str] = (),
    ) -> BrokenError:
        """The learner's code raised something."""
        advice = advise_on_trouble(trouble, operation)
        lines = self.lines(expression, backward) if expression is not None else tuple(program)
        said = advice.headline, advice.explanation, advice.hints
        return BrokenError(Failure(self.rule, operation, trouble.kind, lines, (), (), trouble, *said))

    def data_rows(self, expression: Expression, outcome: Outcome) -> list[Row]:
        """The result's number, came and expected."""
        answer = self.answer(expression)
        assert answer is not None
        came, right = outcome.data[-1], answer.data[-1]
        return [row("L.data", came, right, answer.scale)]

    def grad_rows(self, expression: Expression, outcome: Outcome) -> list[Row]:
        """The gradients of the leaves and of the named results, came and expected."""
        answer = self.answer(expression)
        assert answer is not None
        rows = []
        for at, name in enumerate(expression.names()):
            if name and outcome.grads[at] is not None:
                came, right = outcome.grads[at], answer.grads[at]
                rows.append(row(f"{name}.grad", came, right, answer.scale))
        return rows[:-1] if rows[-1].right else rows  # L.grad = 1 says little

    def nudge(self, expression: Expression, leaf: int, step: float = 0.001) -> str:
        """What the learner's own forward pass says about a gradient; empty when it cannot be asked."""
        name, before = expression.nodes[leaf].name, expression.nodes[leaf].data
        try:
            low = self.subject.forward(expression).data[-1]
            high = self.subject.forward(expression.at({leaf: before + step})).data[-1]
        except TroubleError:
            return ""
        if low is None or high is None:
            return ""
        return (
            f"Your own forward pass agrees: {name} from {digits(before)} to {digits(before + step)} moves L by "
            f"{digits(high - low, 3)}, about {digits((high - low) / step, 3)} times as far."
        )

    def difference(self, expression: Expression, leaf: int) -> tuple[float, float] | None:
        """The range in which a leaf's gradient lies, measured on the learner's own forward pass; None when unsure."""

        def forward(number: float) -> float:
            at = expression.at({leaf: number})
            return self.subject.forward(at).data[-1] or 0.0 if self.answer(at) is not None else float("nan")

        at = expression.nodes[leaf].data
        try:
            found = central_difference(forward, at, forward(at))
        except TroubleError:
            return None
        return found.range if found.sure else None


def row(name: str, came: float | None, right: float, scale: float = 0.0) -> Row:
    """A number that came beside the one that is right, with as many digits as tell them apart."""
    good = close(came, right, scale)
    texts = digits(came), digits(right)
    return Row(name, *(texts if good or texts[0] != texts[1] else (repr(came), repr(right))), good)


def digits(number: float | None, count: int = 6) -> str:
    """A number as a report shows it: as Python does where that is short."""
    if number is None:
        return "nothing"
    return repr(number) if len(repr(number)) <= count + 2 else f"{number:.{count}g}"
