"""The rules of the whole: a second pass, gradients set back, random expressions, long chains."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .derivative_rules import known_operations
from .examination import BrokenError, Examination, digits, row
from .expressions import BINARY, Expression, Symbol, random_expression, record
from .structure_rules import path_notes
from .subject import TroubleError
from .walks import Graph, close

__all__ = ["SHORT", "check_again", "check_depth", "check_expressions", "check_zero_grad"]

#: What holds when a chain of 2,000 did not end.
SHORT = "chains of some hundred operations"

#: Lines of Python for a chain of 20,000 operations: a thousand for each.
_CHAIN_LINES = 20_000_000


# --- twice ----------------------------------------------------------------------------------------


def _sign(exam: Examination) -> str:
    """``+`` or ``*``, whichever is right."""
    return "+" if "+" in known_operations(exam) else "*"


def _loop(exam: Examination) -> tuple[int, Callable[..., Symbol]]:
    """An expression with results between the leaves and L, on more than one level."""
    both = {"+", "*"} <= set(known_operations(exam))
    apply = BINARY[_sign(exam)]
    return (3, lambda a, b, c: ((a * b) + c) * a) if both else (3, lambda a, b, c: apply(apply(apply(a, b), c), a))


def check_again(exam: Examination) -> str:
    """A second backward pass either adds to the gradients or starts afresh, and spoils nothing."""
    count, program = _loop(exam)
    expression = exam.expression(program, count)
    answer = exam.answer(expression)
    assert answer is not None
    adds = _two_losses(exam)
    values = exam.subject.guard(lambda: expression.compute(exam.subject.make))
    exam.progress(exam.rule, [*exam.lines(expression), "L.backward()"])
    try:
        exam.subject.backward(values[-1])
        exam.subject.backward(values[-1])
        outcome = exam.subject.outcome(values)
    except TroubleError as error:
        raise exam.broken_by(error.trouble, program=[*exam.lines(expression), "L.backward()"]) from None
    leaves = expression.leaves
    came = [outcome.grads[leaf] for leaf in leaves]

    def are(right: list[float]) -> bool:
        return all(close(one, right[leaf], answer.scale) for one, leaf in zip(came, leaves, strict=True))

    once, doubled = answer.grads, [2.0 * grad for grad in answer.grads]
    if not adds and are(once):
        exam.remarks.append(
            "backward() starts afresh: each call forgets the gradients of earlier ones. That holds, and differs from "
            "micrograd, where the gradients of several losses add up until zero_grad."
        )
        return "a second backward() starts afresh"
    if adds and are(doubled):
        return "a second backward() adds to the gradients, 2 times"
    if adds and are(_twice(expression, "kept")):
        exam.remarks.append(
            "A second backward() on the same L also adds to the results in between, so that a leaf gets more than "
            "twice its gradient. micrograd does the same: compute L again before each backward()."
        )
        return "backward() adds to the gradients of the leaves"
    mistake = (
        "seed added" if are(_twice(expression, "seed")) or are(_twice(expression, "seed and kept"))
        else "does nothing"
        if adds and are(once)
        else "leaves reset" if are(_twice(expression, "leaves")) else ""
    )  # fmt: skip
    wanted = doubled if adds else once
    names = expression.names()
    rows = [row(f"{names[leaf]}.grad", outcome.grads[leaf], wanted[leaf], answer.scale) for leaf in leaves]
    raise exam.broken(mistake, rows=rows, program=[*exam.lines(expression), "L.backward()"])


def _two_losses(exam: Examination) -> bool:
    """Whether the gradients of two losses that share leaves add up; False when the second's alone remain."""
    apply = BINARY[_sign(exam)]
    numbers = exam.numbers(2)
    subject = exam.subject
    first, second = (
        record(lambda a, b: apply(a, apply(a, b)), numbers),
        record(lambda a, b: apply(apply(a, b), b), numbers),
    )
    one, other = exam.answer(first), exam.answer(second)
    assert one is not None
    assert other is not None
    a, b = subject.make(numbers[0]), subject.make(numbers[1])
    sign = _sign(exam)
    program = [
        *record(lambda a, b: a, numbers).lines(subject.name, False),
        f"L = a {sign} (a {sign} b)", "L.backward()", f"M = (a {sign} b) {sign} b", "M.backward()",
    ]  # fmt: skip
    exam.progress(exam.rule, program)
    try:
        subject.backward(subject.guard(lambda: apply(a, apply(a, b))))
        subject.backward(subject.guard(lambda: apply(apply(a, b), b)))
        came = [subject.grad(a), subject.grad(b)]
    except TroubleError as error:
        raise exam.broken_by(error.trouble, program=program) from None
    sums = [one.grads[leaf] + other.grads[leaf] for leaf in (0, 1)]
    if all(close(grad, right, 10.0) for grad, right in zip(came, sums, strict=True)):
        return True
    if all(close(grad, right, 10.0) for grad, right in zip(came, other.grads, strict=False)):
        return False
    rows = [row("a.grad", came[0], sums[0]), row("b.grad", came[1], sums[1])]
    raise exam.broken("two losses", rows=rows, program=program)


def _twice(expression: Expression, how: str) -> list[float]:
    """Two passes over the same graph: ``kept`` leaves all gradients in between as they are, as micrograd does.

    ``seed`` adds 1 to the root's gradient instead of setting it; ``leaves`` sets back the leaves alone.
    """
    graph = Graph.of(expression)
    grads = [0.0] * len(graph.data)
    for second in (False, True):
        kept = how in ("kept", "leaves", "seed and kept")
        for at, node in enumerate(expression.nodes):
            leaf = node.operation == "leaf"
            if second and at != graph.root and (how == "leaves" if leaf else not kept):
                grads[at] = 0.0
        grads[graph.root] = 2.0 if second and how.startswith("seed") else 1.0
        for at in range(graph.root, -1, -1):
            for operand, local in zip(graph.operands[at], graph.locals[at], strict=True):
                grads[operand] += local * grads[at]
    return grads


# --- back to zero ---------------------------------------------------------------------------------


def check_zero_grad(exam: Examination, module: type | None) -> str:
    """Gradients that are set back to zero are zero, and the next pass is right; ``zero_grad`` where there is one."""
    count, program = _loop(exam)
    expression = exam.expression(program, count)
    answer = exam.answer(expression)
    assert answer is not None
    subject = exam.subject
    leaves = expression.leaves
    lines = [*exam.lines(expression)]
    try:
        values = subject.run(expression).values
        lines += [f"for p in ({', '.join(expression.nodes[leaf].name for leaf in leaves)}): p.grad = 0.0"]
        own = [values[leaf] for leaf in leaves]
        for value in own:
            subject.guard(partial(setattr, value, "grad", 0.0))
        lines += [line for line in exam.lines(expression) if line.startswith(("L =", "L.b"))]
        exam.progress(exam.rule, lines)
        waiting = iter(own)
        again = subject.guard(lambda: expression.compute(lambda number: next(waiting)))
        subject.backward(again[-1])
        outcome = subject.outcome(again)
        if not all(close(outcome.grads[leaf], answer.grads[leaf], answer.scale) for leaf in leaves):
            names = expression.names()
            rows = [row(f"{names[at]}.grad", outcome.grads[at], answer.grads[at], answer.scale) for at in leaves]
            raise exam.broken("not forgotten", rows=rows, program=lines)
        says = ["gradients set to 0 stay forgotten"]
        says += _check_own_zero_grad(exam, again, expression)
        says += _check_modules_zero_grad(exam, module)
    except TroubleError as error:
        raise exam.broken_by(error.trouble, program=lines) from None
    return "; ".join(says)


def _check_own_zero_grad(exam: Examination, values: list[Any], expression: Expression) -> list[str]:
    if not exam.subject.has("zero_grad"):
        return []
    program = [*exam.lines(expression), "L.zero_grad()"]
    exam.progress(exam.rule, program)
    exam.subject.guard(values[-1].zero_grad)
    if exam.subject.grad(values[-1]) != 0.0:
        rows = [row("L.grad", exam.subject.grad(values[-1]), 0.0)]
        raise exam.broken("zero_grad", rows=rows, program=program)
    reached = exam.subject.grad(values[expression.leaves[0]]) == 0.0
    return ["L.zero_grad() reaches the leaves" if reached else "L.zero_grad() sets L's own gradient to 0"]


def _check_modules_zero_grad(exam: Examination, module: type | None) -> list[str]:
    if module is None:
        return []
    subject = exam.subject
    numbers = exam.numbers(3)
    own = [subject.guard(partial(subject.make, number)) for number in numbers]
    for value in own:
        value.grad = 3.0
    program = [f"model.parameters() gives three {subject.name}s with .grad = 3.0", "model.zero_grad()"]
    exam.progress(exam.rule, program)
    parts = {"__init__": lambda self: None, "parameters": lambda self: own}
    model = subject.guard(lambda: type("Model", (module,), parts)())
    subject.guard(model.zero_grad)
    left = [subject.grad(value) for value in own]
    if any(left):
        rows = [row("p.grad", next(grad for grad in left if grad), 0.0)]
        raise exam.broken("zero_grad", f"{module.__name__}.zero_grad", rows=rows, program=program)
    return [f"{module.__name__}.zero_grad() clears its parameters"]


# --- random expressions ---------------------------------------------------------------------------

_EXPRESSIONS = 40


def check_expressions(exam: Examination) -> str:
    """Random expressions of everything that is right alone, against retrograd and against nudges of the learner's."""
    names = known_operations(exam)
    examined, measured = 0, 0
    for count in range(_EXPRESSIONS):
        expression = _random(exam, names, 2 + count % 8)
        if expression is None:
            continue
        examined += 1
        outcome = exam.run(expression)
        if exam.wrong_data(expression, outcome) or exam.wrong_grads(expression, outcome):
            raise _told(exam, expression)
        if exam.subject.style == "backward" and count % 4 == 0:
            measured += _check_difference(exam, expression)
    nudged = f", {measured} of them also with nudges of your own forward pass" if measured else ""
    return f"{examined} random ones agree with retrograd{nudged}"


def _random(exam: Examination, names: list[str], size: int) -> Expression | None:
    positive = bool({"log", "sqrt"} & set(names))
    for _ in range(60):
        expression = random_expression(exam.draw, names, size, exam.numbers(3, positive))
        answer = exam.answer(expression)
        if answer is not None and answer.scale < 1e3 and not _near_kink(expression, answer.data):
            return expression
    return None


def _near_kink(expression: Expression, data: list[float]) -> bool:
    return any(node.operation == "relu" and abs(data[node.operands[0]]) < 1e-2 for node in expression.nodes)


def _told(exam: Examination, expression: Expression) -> BrokenError:
    small = exam.shrunk(expression)
    try:
        outcome = exam.run(small)
    except BrokenError as error:
        return error
    if exam.wrong_data(small, outcome):
        return exam.broken("value", expression=small, rows=exam.data_rows(small, outcome))
    rows = exam.grad_rows(small, outcome)
    return exam.broken(expression=small, rows=rows, notes=path_notes(exam, small, outcome.grads))


def _check_difference(exam: Examination, expression: Expression) -> bool:
    """Whether a leaf's gradient could be measured with the learner's own forward pass; it must agree."""
    leaf = expression.leaves[0]
    between = exam.difference(expression, leaf)
    outcome = exam.run(expression)
    grad = outcome.grads[leaf]
    if between is None or grad is None:
        return False
    slack = 1e-3 * (1.0 + max(abs(between[0]), abs(between[1])))
    if not between[0] - slack <= grad <= between[1] + slack:
        name = expression.nodes[leaf].name
        note = f"Nudging {name} in your forward pass says {digits(sum(between) / 2)}."
        raise exam.broken("nudge", expression=expression, rows=exam.grad_rows(expression, outcome), notes=[note])
    return True


# --- depth ----------------------------------------------------------------------------------------


def check_depth(exam: Examination) -> str:
    """A chain of 2,000 and of 20,000 operations: stopping is a remark, a wrong number is a failure."""
    reached = 0
    sign = _sign(exam)
    for length in (2_000, 20_000):
        name = exam.subject.name
        program = (f"a, b = {name}(1.0), {name}(1.0)", "L = a", f"for _ in range({length}):", f"    L = L {sign} b",
                   "L.backward()")  # fmt: skip
        exam.progress(exam.rule, program)
        try:
            came = exam.subject.guard(partial(_chain, exam, sign, length), _CHAIN_LINES)
        except TroubleError as error:
            exam.remarks.append(depth_remark(length, error.trouble.kind, error.trouble.says))
            break
        rows = [row("a.grad", came[0], 1.0), row("b.grad", came[1], float(length))]
        if not all(one.right for one in rows):
            raise exam.broken(rows=rows, program=program)
        reached = length
    return f"a chain of {reached:,} operations is right" if reached else SHORT


def _chain(exam: Examination, sign: str, length: int) -> tuple[float, float]:
    a, b = exam.subject.make(1.0), exam.subject.make(1.0)
    total, apply = a, BINARY[sign]
    for _ in range(length):
        total = apply(total, b)
    exam.subject.backward(total, _CHAIN_LINES)
    return exam.subject.grad(a), exam.subject.grad(b)


def depth_remark(length: int, kind: str, says: str) -> str:
    """Why a long chain did not end, and what helps."""
    if kind == "RecursionError":
        return (
            f"A chain of {length:,} operations stops at Python's recursion limit, since the sort calls itself once for "
            "each. That is no mistake, micrograd does the same; an iterative sort with an explicit stack has no such "
            "limit."
        )
    return f"A chain of {length:,} operations did not end well: {says}. A loop without recursion, and a set, help."
