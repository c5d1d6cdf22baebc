"""The rules of one operation's backward step: the seed, the local derivatives, and plain numbers beside a Value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from .examination import BrokenError, Examination, row
from .expressions import Expression, Symbol, record
from .findings import Failure
from .forward_rules import points
from .operations import BY_NAME, OPERATIONS, Form, Operation
from .subject import Outcome, Trouble, TroubleError
from .walks import close

__all__ = ["check_derivatives", "check_numbers", "check_seed", "check_two_rules"]

#: What an operation that does not take plain numbers raises: not there yet, rather than wrong.
_NOT_TAKEN = ("TypeError", "AttributeError", "AssertionError", "NotImplementedError")


def check_seed(exam: Examination) -> str:
    """``L.backward()`` begins with ``L.grad = 1``."""
    if exam.subject.style == "none":
        name = exam.subject.name
        raise exam.broken("no backward", program=(f"L = {name}(2.0) + {name}(3.0)", "L.backward()"))
    operation = next(one for one in exam.has_values if one.name in "+*")
    for _ in range(3):
        expression = exam.expression(operation.program, 2)
        outcome = exam.run(expression)
        seed = outcome.grads[-1]
        if not close(seed, 1.0):
            data = outcome.data[-1]
            mistake = "no seed" if seed == 0.0 else "data as seed" if close(seed, data) else ""
            expression = exam.simplified(expression, partial(_wrong_seed, exam))
            outcome = exam.run(expression)
            raise exam.broken(mistake, expression=expression, rows=[row("L.grad", outcome.grads[-1], 1.0)])
    if exam.subject.style != "backward":
        return "with L.grad = 1 set by hand"
    return "backward() begins with L.grad = 1"


def _wrong_seed(exam: Examination, expression: Expression) -> bool:
    return not close(exam.subject.run(expression).grads[-1], 1.0)


# --- local derivatives ----------------------------------------------------------------------------


def check_two_rules(exam: Examination) -> str:
    """The local derivatives of ``+`` and ``*``."""
    return _check_all(exam, [one for one in exam.has_values if one.name in "+*"], whole=False)


def check_derivatives(exam: Examination) -> str:
    """The local derivatives of all other operations, each also inside a larger expression and used twice."""
    return _check_all(exam, [one for one in exam.has_values if one.name not in "+*"], whole=True)


def _check_all(exam: Examination, operations: Sequence[Operation], whole: bool) -> str:
    failures: list[Failure] = []
    for operation in operations:
        try:
            _check_local(exam, operation)
            if whole:
                _check_inside(exam, operation)
            exam.right.append(operation)
        except BrokenError as error:
            failures.append(error.failure)
    if failures:
        raise BrokenError(failures[0], failures[1:])
    return ", ".join(operation.shown for operation in operations)


Seen = list[tuple[Expression, Outcome]]


def _check_local(exam: Examination, operation: Operation) -> None:
    seen: Seen = []
    for expression in points(exam, operation, 6):
        seen.append((expression, _run(exam, expression, operation)))
    wrong = [one for one in seen if exam.wrong_grads(*one)]
    if wrong:
        expression = exam.simplified(wrong[0][0], partial(_gradient_fails, exam))
        outcome = exam.run(expression)
        leaf = next((at for at in expression.leaves if _is_wrong(exam, expression, outcome, at)), expression.leaves[0])
        raise exam.broken(
            _local_mistake(exam, operation, seen[:6]), operation.name, expression=expression,
            rows=exam.grad_rows(expression, outcome), notes=[note for note in [exam.nudge(expression, leaf)] if note],
        )  # fmt: skip
    if operation.name == "relu":
        _check_relu_at_zero(exam, operation)


def _run(exam: Examination, expression: Expression, operation: Operation) -> Outcome:
    try:
        return exam.run(expression)
    except BrokenError as error:
        trouble = error.failure.trouble
        assert trouble is not None
        small = exam.simplified(expression, partial(_raises, exam))
        raise exam.broken_by(trouble, small, operation=operation.name) from None


def _raises(exam: Examination, expression: Expression) -> bool:
    try:
        exam.subject.run(expression)
    except TroubleError:
        return exam.answer(expression) is not None
    return False


def _gradient_fails(exam: Examination, expression: Expression) -> bool:
    try:
        return exam.wrong_grads(expression, exam.subject.run(expression))
    except TroubleError:
        return False


def _is_wrong(exam: Examination, expression: Expression, outcome: Outcome, at: int) -> bool:
    answer = exam.answer(expression)
    return answer is not None and not close(outcome.grads[at], answer.grads[at], answer.scale)


def _check_relu_at_zero(exam: Examination, operation: Operation) -> None:
    """At its kink every slope from 0 to 1 is right."""
    expression = record(operation.program, [0.0])
    grad = _run(exam, expression, operation).grads[0]
    if grad is None or not -1e-12 <= grad <= 1.0 + 1e-12:
        rows = [row("a.grad", grad, 0.0)]
        raise exam.broken("kink", operation.name, expression=expression, rows=rows)
    if grad != 0.0:
        exam.remarks.append(f"relu at exactly 0 passes {grad:g} of the gradient on; most people choose 0. Both hold.")


def _local_mistake(exam: Examination, operation: Operation, seen: Seen) -> str:
    """The known slip that gives the gradients that came, at every point."""
    came, right = [], []
    for expression, outcome in seen:
        answer = exam.answer(expression)
        assert answer is not None
        came.append([outcome.grads[leaf] for leaf in expression.leaves])
        right.append([answer.grads[leaf] for leaf in expression.leaves])

    def all_are(guess: Callable[[int], Sequence[float]]) -> bool:
        return all(
            all(close(one, other, 1.0) for one, other in zip(grads, guess(at), strict=True))
            for at, grads in enumerate(came)
        )

    if all_are(lambda at: [0.0 for _ in came[at]]):
        return "nothing arrives"
    for slip in operation.slips:
        if all_are(lambda at, slip=slip: slip.wrong(*(seen[at][0].nodes[leaf].data for leaf in seen[at][0].leaves))):  # type: ignore[misc]
            return slip.name
    guesses: list[tuple[str, Callable[[int], Sequence[float]]]] = [
        ("sign", lambda at: [-grad for grad in right[at]]),
        ("twice", lambda at: [2.0 * grad for grad in right[at]]),
    ]
    if operation.operands == 2:
        guesses += [
            ("swapped", lambda at: right[at][::-1]),
            ("both to one", lambda at: [0.0, right[at][0] + right[at][1]]),
            ("both to one", lambda at: [right[at][0] + right[at][1], 0.0]),
            ("both to one", lambda at: [0.0, 2 * right[at][1]]),
            ("one operand", lambda at: [right[at][0], 0.0]),
            ("one operand", lambda at: [0.0, right[at][1]]),
            ("first operand", lambda at: [came[at][0] or 0.0, right[at][1]]),
            ("second operand", lambda at: [right[at][0], came[at][1] or 0.0]),
        ]
    return next((name for name, guess in guesses if all_are(guess)), "")


def _check_inside(exam: Examination, operation: Operation) -> None:
    """The operation with a gradient other than 1 arriving, and with an operand that has one already."""
    right = {one.name for one in exam.right}
    apply = operation.program
    if "*" in right:
        count = operation.operands
        scaled = exam.expression(lambda *v: apply(*v[:count]) * v[count], count + 1, operation.positive)
        _expect(exam, operation, scaled, "chain", "no upstream")
    if "+" in right:
        twice = exam.expression(lambda *v: apply(*v) + apply(*v), operation.operands, operation.positive)
        _expect(exam, operation, twice, "accumulation", "overwrites")
        if operation.operands == 2:
            same = exam.expression(lambda a: apply(a + a, a), 1, operation.positive)
            _expect(exam, operation, same, "accumulation", "overwrites")


def _expect(exam: Examination, operation: Operation, expression: Expression, rule: str, mistake: str) -> None:
    outcome = _run(exam, expression, operation)
    if not exam.wrong_grads(expression, outcome):
        return
    simplest = exam.shrunk(expression, partial(_gradient_fails, exam))
    outcome = exam.run(simplest)
    rows = exam.grad_rows(simplest, outcome)
    raise exam.broken(mistake, operation.name, expression=simplest, rows=rows, rule=rule)


# --- plain numbers --------------------------------------------------------------------------------


def check_numbers(exam: Examination) -> str:
    """Plain numbers on both sides: ``a + 2``, ``2 - a``, ``a ** -1``, as far as the class takes them."""
    forms = [(operation, form) for operation in exam.right for form in operation.forms]
    refusals = {form.text: _refusal(exam, operation, form) for operation, form in forms}
    taken = [text for text, trouble in refusals.items() if trouble is None]
    failures: list[Failure] = []
    for operation, form in forms:
        trouble = refusals[form.text]
        try:
            if trouble is None:
                _check_form(exam, operation, form)
            else:
                _check_consistent(exam, operation, form, trouble, taken)
                exam.absent.append(form.text)
        except BrokenError as error:
            failures.append(error.failure)
    if failures:
        raise BrokenError(failures[0], failures[1:])
    return ", ".join(taken)


def _refusal(exam: Examination, operation: Operation, form: Form) -> Trouble | None:
    """What the class raises when it does not take this form; None when it does, or fails in another way."""
    expression = exam.expression(form.program, 1, positive=True)
    try:
        exam.subject.forward(expression)
    except TroubleError as error:
        if form.reflected and exam.subject.has(operation.reflected):
            return None
        return error.trouble if error.trouble.kind in _NOT_TAKEN else None
    return None


def _check_consistent(
    exam: Examination, operation: Operation, form: Form, trouble: Trouble, taken: Sequence[str]
) -> None:
    """Where ``2 * a`` works and ``2 + a`` does not, one of them was forgotten: the required operations go together."""
    pairs = {"a + 2": "a * 2", "a * 2": "a + 2", "2 + a": "2 * a", "2 * a": "2 + a"}
    other = pairs.get(form.text)
    if other in taken:
        mistake = "not reflected" if form.reflected else "number on the right"
        notes = [f"{other} works in your class."]
        expression = record(form.program, [3.0])
        failure = exam.failure(mistake, operation.name, expression, notes=notes, backward=False)
        raise BrokenError(replace(failure, trouble=trouble))


def _check_form(exam: Examination, operation: Operation, form: Form) -> None:
    positive = form.text.endswith("0.5")
    for _ in range(4):
        expression = exam.expression(form.program, 1, positive)
        outcome = _run(exam, expression, operation)
        if exam.wrong_data(expression, outcome):
            _wrong_number(exam, operation, form, expression, outcome)
        if exam.wrong_grads(expression, outcome):
            small = exam.simplified(expression, partial(_gradient_fails, exam))
            answer = exam.answer(expression)
            grad = outcome.grads[expression.leaves[0]]
            negated = answer is not None and close(grad, -answer.grads[expression.leaves[0]])
            raise exam.broken(
                "sign" if negated else "", form.text, expression=small, rows=exam.grad_rows(small, exam.run(small)),
                notes=[note for note in [exam.nudge(small, small.leaves[0])] if note],
            )  # fmt: skip


def _wrong_number(
    exam: Examination, operation: Operation, form: Form, expression: Expression, outcome: Outcome
) -> None:
    small = exam.simplified(expression, lambda tried: exam.wrong_data(tried, exam.subject.forward(tried)))
    mirrored: Callable[[Symbol], Symbol] = next(
        (other.program for other in operation.forms if other.reflected != form.reflected), form.program
    )
    other = exam.answer(record(mirrored, [expression.nodes[at].data for at in expression.leaves]))
    swapped = other is not None and close(outcome.data[-1], other.data[-1])
    rows = exam.data_rows(small, exam.forward(small))
    mistake = "operands the wrong way round" if swapped else "value"
    raise exam.broken(mistake, form.text, expression=small, rows=rows, backward=False)


def known_operations(exam: Examination) -> list[str]:
    """The names of the operations whose derivatives are right."""
    return [operation.name for operation in OPERATIONS if operation in exam.right and BY_NAME[operation.name]]
