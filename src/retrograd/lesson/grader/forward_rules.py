"""The rules of the forward pass: a Value holds a number, operations compute, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .examination import Answer, BrokenError, Examination, row
from .expressions import BINARY, Expression, record
from .findings import Failure
from .operations import OPERATIONS, Operation
from .subject import Outcome, TroubleError
from .walks import close

__all__ = ["check_construction", "check_operands", "check_separate", "check_values"]


def check_construction(exam: Examination) -> str:
    """``Value(2.5)`` holds 2.5 in ``.data``, and ``.grad`` starts at 0."""
    cls, number = exam.subject.name, exam.number()
    program = (f"a = {cls}({number!r})",)
    exam.progress(exam.rule, program)
    try:
        value = exam.subject.guard(partial(exam.subject.make, number))
        data = exam.subject.data(value)
    except TroubleError as error:
        failure = exam.broken_by(error.trouble, program=program).failure
        if error.trouble.kind == "TypeError" and not error.trouble.place:  # the call itself does not fit
            failure = replace(exam.failure("arguments", program=program), trouble=error.trouble)
        raise BrokenError(failure) from None
    if not close(data, number):
        raise exam.broken("data", rows=[row("a.data", data, number)], program=program)
    try:
        grad = exam.subject.grad(value)
    except TroubleError as error:
        mistake = "no grad" if error.trouble.kind == "AttributeError" else "grad is no number"
        raise exam.broken(mistake, program=program, notes=[f"{error.trouble.says}."]) from None
    if grad != 0.0:
        raise exam.broken("grad does not start at 0", rows=[row("a.grad", grad, 0.0)], program=program)
    return "holds its number in .data, and .grad starts at 0"


# --- values ---------------------------------------------------------------------------------------


def check_values(exam: Examination) -> str:
    """Each operation's number, at random points and where signs and zeros matter."""
    failures = []
    for operation in OPERATIONS:
        if not exam.subject.has(operation.method):
            if operation.lesson:
                exam.absent.append(operation.shown)
            continue
        try:
            _check_value(exam, operation)
            exam.has_values.append(operation)
        except BrokenError as error:
            failures.append(error.failure)
    for operation in reversed(OPERATIONS[:2]):  # what everything else is built from
        if operation.shown in exam.absent:
            exam.absent.remove(operation.shown)
            expression = record(operation.program, [3.0, 2.0])
            failures.insert(0, exam.failure("missing", operation.name, expression, backward=False))
    _raise_all(failures)
    return ", ".join(operation.shown for operation in exam.has_values)


def points(exam: Examination, operation: Operation, count: int) -> list[Expression]:
    """The operation at random numbers, then at its special points."""
    chosen = [exam.expression(operation.program, operation.operands, operation.positive) for _ in range(count)]
    return chosen + [record(operation.program, point) for point in operation.points]


def _check_value(exam: Examination, operation: Operation) -> None:
    wrong: list[tuple[Expression, Outcome]] = []
    seen: list[tuple[Expression, Outcome]] = []
    for expression in points(exam, operation, 6):
        try:
            outcome = exam.forward(expression)
        except BrokenError as error:
            trouble = error.failure.trouble
            assert trouble is not None
            small = exam.simplified(expression, lambda tried: _raises(exam, tried))
            raise exam.broken_by(trouble, small, backward=False, operation=operation.name) from None
        seen.append((expression, outcome))
        if exam.wrong_data(expression, outcome):
            wrong.append((expression, outcome))
    if wrong:
        mistake = _value_mistake(seen)
        expression = exam.simplified(wrong[0][0], lambda tried: _wrong_value(exam, tried))
        rows = exam.data_rows(expression, exam.forward(expression))
        raise exam.broken(mistake, operation.name, expression=expression, rows=rows, backward=False)


def _raises(exam: Examination, expression: Expression) -> bool:
    try:
        exam.subject.forward(expression)
    except TroubleError:
        return exam.answer(expression) is not None
    return False


def _wrong_value(exam: Examination, expression: Expression) -> bool:
    try:
        return exam.wrong_data(expression, exam.subject.forward(expression))
    except TroubleError:
        return False


def _value_mistake(seen: Sequence[tuple[Expression, Outcome]]) -> str:
    """The operation that was computed instead, where there is one: at every point, also at those where it is right."""

    def all_are(compute: Any) -> bool:
        for expression, outcome in seen:
            operands = [node.data for node in expression.nodes[:-1]]
            try:
                if not close(outcome.data[-1], compute(*operands)):
                    return False
            except (ArithmeticError, TypeError, ValueError):
                return False
        return True

    if all_are(lambda a, b: b - a) or all_are(lambda a, b: b / a):
        return "operands the wrong way round"
    if all_are(lambda *operands: operands[0]):
        return "the first operand"
    names = {"+": "adds", "*": "multiplies", "-": "subtracts", "/": "divides"}
    return next((text for name, text in names.items() if all_are(BINARY[name])), "")


def _raise_all(failures: Sequence[Failure]) -> None:
    """Raise the failures of several operations as one; the first is told."""
    if failures:
        raise BrokenError(failures[0], failures[1:])


# --- what must not change -------------------------------------------------------------------------


def check_operands(exam: Examination) -> str:
    """An operation makes a new Value; neither it nor the backward pass changes a number."""
    failures = []
    for operation in exam.has_values:
        try:
            _check_operands_of(exam, operation)
        except BrokenError as error:
            failures.append(error.failure)
    if not failures and exam.subject.has("__iadd__") and any(one.name == "+" for one in exam.has_values):
        _check_in_place(exam)
    _raise_all(failures)
    return "an operation makes a new Value and changes no other number"


def _check_operands_of(exam: Examination, operation: Operation) -> None:
    expression = exam.expression(operation.program, operation.operands, operation.positive)
    answer = exam.answer(expression)
    assert answer is not None
    outcome = exam.forward(expression)
    if any(outcome.values[-1] is outcome.values[at] for at in expression.leaves):
        raise exam.broken("in place", operation.name, expression=expression, backward=False)
    _look_for_changes(exam, operation, expression, answer, outcome, "changes an operand")
    if any(exam.subject.grad(outcome.values[at]) != 0.0 for at in (*expression.leaves, -1)):
        raise exam.broken("forward changes grad", operation.name, expression=expression, backward=False)
    if exam.subject.style != "none":
        try:
            after = exam.subject.run(expression)
        except TroubleError:
            return  # a later rule runs the same and tells it
        _look_for_changes(exam, operation, expression, answer, after, "backward changes data")


def _look_for_changes(
    exam: Examination, operation: Operation, expression: Expression, answer: Answer, outcome: Outcome, mistake: str
) -> None:
    names = expression.names()
    for at in (*expression.leaves, len(expression.nodes) - 1):
        if not close(outcome.data[at], answer.data[at], answer.scale):
            rows = [row(f"{names[at]}.data", outcome.data[at], answer.data[at])]
            backward = mistake == "backward changes data"
            raise exam.broken(mistake, operation.name, expression=expression, rows=rows, backward=backward)


def _check_in_place(exam: Examination) -> None:
    number, other = exam.numbers(2)
    value = exam.subject.make(number)
    try:
        result = exam.subject.guard(lambda: value.__iadd__(exam.subject.make(other)))
    except TroubleError:
        return
    name = exam.subject.name
    program = (f"a = {name}({number!r})", "kept = a", f"a += {name}({other!r})")
    if result is value or exam.subject.data(value) != number:
        kept = row("kept.data", exam.subject.data(value), number)
        raise exam.broken("in place", "+=", rows=[kept], program=program)


# --- nothing shared -------------------------------------------------------------------------------


def check_separate(exam: Examination) -> str:
    """Values and graphs have nothing in common that one of them could spoil for another."""
    subject, name = exam.subject, exam.subject.name
    sign = next((one.name for one in exam.has_values if one.name in "+*"), "+")
    program = [f"a, b, c, d = {name}(1.5), {name}(2.5), {name}(3.5), {name}(4.5)"]

    def broken(mistake: str, *lines: str, rows: Sequence[Any] = (), notes: Sequence[str] = ()) -> BrokenError:
        return exam.broken(mistake, rows=rows, notes=notes, program=[*program, *lines])

    try:
        before = _containers(subject.make(0.5))
        a, b, c, d = (subject.guard(partial(subject.make, n)) for n in (1.5, 2.5, 3.5, 4.5))
        subject.guard(lambda: setattr(a, "grad", 5.0))
        if subject.grad(b) != 0.0:
            raise broken("shared grad", "a.grad = 5.0", rows=[row("b.grad", subject.grad(b), 0.0)])
        subject.guard(lambda: setattr(a, "grad", 0.0))
        first = subject.guard(lambda: BINARY[sign](a, b))
        second = subject.guard(lambda: BINARY[sign](c, d))
        program.append(f"L = a {sign} b")
        fresh = _containers(subject.make(0.5))
        for attribute, length in fresh.items():
            if length != before.get(attribute, length):
                more = length - before[attribute]
                note = f"A new {name} holds {length} in .{attribute}, {more} more than before L was computed."
                raise broken("shared container", f"new = {name}(0.5)", notes=[note])
        if subject.style == "none":
            return "Values share nothing"
        exam.progress(exam.rule, [*program, "L.backward()"])
        subject.backward(first)
        for other, called in ((c, "c"), (d, "d")):
            if subject.grad(other) != 0.0:
                raise broken("shared grad", "L.backward()", rows=[row(f"{called}.grad", subject.grad(other), 0.0)])
        if (grad := subject.grad(subject.make(0.5))) != 0.0:
            raise broken("shared grad", "L.backward()", f"new = {name}(0.5)", rows=[row("new.grad", grad, 0.0)])
        kept = subject.grad(a)
        subject.backward(second)
        if not close(subject.grad(a), kept):
            lines = (f"M = c {sign} d", "L.backward()", "M.backward()")
            raise broken("shared graph", *lines, rows=[row("a.grad", subject.grad(a), kept)])
    except TroubleError:
        pass  # the next rule runs the same and tells it
    return "Values and graphs share nothing"


def _containers(value: Any) -> dict[str, int]:
    """The lengths of the lists, sets and dictionaries that a Value holds, by attribute."""
    names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
    found = {}
    for name in names:
        held = getattr(value, name, None) if isinstance(name, str) else None
        if isinstance(held, (list, set, dict)):
            found[name] = len(held)
    return found
