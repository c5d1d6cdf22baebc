"""The rules of the backward pass over a graph of ``+`` and ``*``: chain, accumulation, order, and who is who.

All the expressions are run first. Where one known mistake explains every gradient that came, the rule that it breaks
fails, and the other rules wait for it; otherwise the first rule with a wrong expression does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .examination import BrokenError, Examination, digits
from .expressions import Expression, Symbol, random_expression, record, shrink
from .findings import Failure
from .subject import Outcome, Trouble, TroubleError, bounded_lines
from .walks import Mistake, close, path_counts, paths, recognized

__all__ = ["STRUCTURE", "Structure", "examine_structure"]

Program = Callable[..., Symbol]


def _shared_first(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    d = a * b
    return d * (d + c)


def _shared_last(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    d = a * b
    return (d + c) * d


def _shared_sum(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    d = a + b
    return d + (d + c)


def _shared_sum_last(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    d = a + b
    return (d + c) + d


def _deep(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    d = a * b
    return d * (((d + a) * b) + c)


def _deep_last(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    d = a * b
    return (((d + a) * b) + c) * d


def _wide(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    d = a + b
    e = d * c
    return ((e + d) * (e + a)) + (d * ((d + e) * b))


def _lesson_diamond(a: Symbol, b: Symbol, c: Symbol) -> Symbol:
    return (a + b) * (a * c)


def _twice_product(a: Symbol, b: Symbol) -> Symbol:
    d = a * b
    return d + d


def _twice_sum(a: Symbol, b: Symbol) -> Symbol:
    d = a + b
    return d * d


def _twice_sums(a: Symbol, b: Symbol) -> Symbol:
    d = a + b
    return d + d


def _diamonds(a: Symbol, b: Symbol) -> Symbol:
    d = a + b
    e = d + d
    return e + e


#: The expressions of each rule, smallest first. Which are run depends on whether ``+`` and ``*`` are right.
STRUCTURE: dict[str, tuple[tuple[int, Program], ...]] = {
    "chain": (
        (3, lambda a, b, c: (a + b) * c),
        (3, lambda a, b, c: (a * b) * c),
        (3, lambda a, b, c: c * (a * b)),
        (3, lambda a, b, c: (a + b) + c),
        (4, lambda a, b, c, d: ((a * b) + c) * d),
    ),
    "accumulation": (
        (1, lambda a: a + a),
        (1, lambda a: a * a),
        (2, lambda a, b: (a * b) + a),
        (2, lambda a, b: a + (a * b)),
        (2, lambda a, b: (a + b) + a),
        (2, lambda a, b: a * (a * b)),
        (3, lambda a, b, c: ((a * b) + c) * (a + b)),
        (3, _lesson_diamond),
    ),
    "order": (
        (3, _shared_first),
        (3, _shared_last),
        (3, _shared_sum),
        (3, _shared_sum_last),
        (3, _deep),
        (3, _deep_last),
        (3, _wide),
    ),
    "visits": ((2, _twice_product), (2, _twice_sum), (2, _twice_sums), (2, _diamonds)),
}


def _equal_leaves(exam: Examination) -> list[Expression]:
    """Expressions in which different Values hold the same number, or the same is computed twice."""
    n, m = exam.numbers(2)
    return [
        record(lambda a, b: (a + b) + (a + b), [n, m]),
        record(lambda a, b: (a * b) * (a * b), [n, m]),
        record(lambda a, b: (a + b) * (a + b), [n, m]),
        record(lambda a, b: a * b, [n, n]),
        record(lambda a, b: a + b, [n, n]),
        record(lambda a, b, c: (a * c) + b, [n, n, m]),
        record(lambda a, b, c: (a * b) * c, [n, m, n]),
        record(lambda a, b, c, d: (a * b) + (c * d), [n, m, m, n]),
        record(lambda a, b, c, d: (a + b) * (c + d), [n, m, m, n]),
    ]


@dataclass(slots=True)
class Structure:
    """What the expressions of the rules gave: the wrong ones by rule, and the mistake that explains them all."""

    wrong: dict[str, list[Expression]] = field(default_factory=dict)
    raised: dict[str, Failure] = field(default_factory=dict)
    mistake: Mistake | None = None

    @property
    def failing(self) -> str | None:
        """The rule to mend first; None when all hold."""
        found = [rule for rule in (*STRUCTURE, "identity") if rule in self.wrong or rule in self.raised]
        order = ["chain", "accumulation", "order", "visits", "identity"]
        if self.mistake is not None and found:
            return self.mistake.rule
        return min(found, key=order.index, default=None)


def examine_structure(exam: Examination) -> Structure:
    """Run every expression of every rule, three times at other numbers: a set's order differs from run to run."""
    right = {operation.name for operation in exam.right}
    found = Structure()
    observed: list[tuple[Expression, list[float]]] = []
    for rule, programs in STRUCTURE.items():
        exam.rule = rule
        expressions = [exam.expression(program, count) for count, program in programs for _ in range(3)]
        if rule == "order" and right >= {"+", "*"}:
            expressions += [_random(exam, size) for size in (4, 5, 6, 7) for _ in range(3)]
        _run_all(exam, rule, [one for one in expressions if operations_of(one) <= right], found, observed)
    exam.rule = "identity"
    same = [one for one in _equal_leaves(exam) if operations_of(one) <= right]
    _run_all(exam, "identity", same, found, observed)
    if found.wrong:
        found.mistake = recognized(observed)
    return found


def _random(exam: Examination, size: int) -> Expression:
    for _ in range(100):
        expression = random_expression(exam.draw, ["+", "*"], size, exam.numbers(3))
        if exam.answer(expression) is not None:
            return expression
    return exam.expression(_deep, 3)


def operations_of(expression: Expression) -> set[str]:
    """The operations that an expression uses."""
    return {expression.nodes[at].operation for at in expression.operations}


def _run_all(
    exam: Examination,
    rule: str,
    expressions: Sequence[Expression],
    found: Structure,
    observed: list[tuple[Expression, list[float]]],
) -> None:
    for expression in expressions:
        try:
            outcome = exam.run(expression)
        except BrokenError as error:
            if rule not in found.raised:
                trouble = error.failure.trouble
                assert trouble is not None
                small = exam.shrunk(expression, lambda tried: _raises(exam, tried))
                found.raised[rule] = exam.broken_by(trouble, small).failure
            continue
        observed.append((expression, [outcome.grads[leaf] or 0.0 for leaf in expression.leaves]))
        if exam.wrong_grads(expression, outcome):
            found.wrong.setdefault(rule, []).append(expression)


def _raises(exam: Examination, expression: Expression) -> bool:
    try:
        exam.subject.run(expression)
    except TroubleError:
        return True
    return False


# --- telling it -----------------------------------------------------------------------------------


def structure_failure(exam: Examination, found: Structure, rule: str) -> Failure:
    """The failure of the rule to mend first, on its smallest expression."""
    exam.rule = rule
    if rule in found.raised and found.mistake is None:
        return found.raised[rule]
    wrong = found.wrong.get(rule) or [one for all_wrong in found.wrong.values() for one in all_wrong]
    smallest = min(wrong, key=lambda one: len(one.nodes))
    expression = shrink(smallest, exam.fails) if rule == "identity" else exam.shrunk(smallest)
    outcome = exam.wrong_run(expression, tries=50) or exam.run(expression)
    if isinstance(outcome, Trouble):
        return exam.broken_by(outcome, expression).failure
    mistake = found.mistake
    return exam.failure(
        mistake.name if mistake is not None else "",
        mistake.operation if mistake is not None else "",
        expression,
        exam.grad_rows(expression, outcome),
        path_notes(exam, expression, outcome.grads),
    )


def path_notes(exam: Examination, expression: Expression, grads: Sequence[float | None]) -> list[str]:
    """For the first leaf with a wrong gradient: its paths, and which was lost or counted twice."""
    answer = exam.answer(expression)
    if answer is None or not operations_of(expression) <= {"+", "*"}:
        return []
    for leaf in expression.leaves:
        came = grads[leaf]
        if came is not None and not close(came, answer.grads[leaf], answer.scale):
            found = paths(expression, leaf)
            return [
                _paths_sentence(expression, leaf, found),
                *_lost(expression, found, _counts(exam, expression, leaf)),
            ]
    return []


def _counts(exam: Examination, expression: Expression, leaf: int) -> list[int]:
    """How often each path was counted; empty when unclear.

    Asked at random numbers, at which no two sums of paths are the same by chance.
    """
    at = expression.at(dict(zip(expression.leaves, exam.numbers(len(expression.leaves)), strict=True)))
    outcome = exam.wrong_run(at)
    if exam.answer(at) is None or not isinstance(outcome, Outcome):
        return []
    found = paths(at, leaf)
    candidates = path_counts([product for _, product in found], outcome.grads[leaf] or 0.0)
    routes = [path for path, _ in found]
    different = {tuple(sorted(zip(routes, counts, strict=True))) for counts in candidates}
    return candidates[0] if len(different) == 1 else []  # the two uses in a + a are one route


def _route(expression: Expression, path: Sequence[int]) -> str:
    """``L to (d + c) to d to a``: the nodes of a path, each by its name or how it is computed."""
    names, texts = expression.names(), expression.texts()
    return " to ".join(names[at] or f"({texts[at]})" for at in path)


def _paths_sentence(expression: Expression, leaf: int, found: Sequence[tuple[tuple[int, ...], float]]) -> str:
    name = expression.nodes[leaf].name
    if len(found) == 1:
        return f"One path leads from L to {name}, and brings {digits(found[0][1])}."
    amounts = " + ".join(digits(product) for _, product in found)
    total = digits(sum(product for _, product in found))
    return f"{len(found)} paths lead from L to {name}, and each adds its share: {amounts} = {total}."


def _lost(expression: Expression, found: Sequence[tuple[tuple[int, ...], float]], counts: Sequence[int]) -> list[str]:
    changed = [(path, product, count) for (path, product), count in zip(found, counts, strict=False) if count != 1]
    notes = []
    for path, product, count in dict.fromkeys(changed):
        what = "lost" if count == 0 else "counted twice"
        route, same = _route(expression, path), changed.count((path, product, count))
        if same > 1:
            notes.append(f"{same} paths from {route}, which bring {digits(product)} each, were {what}.")
        else:
            one = "The path" if sum(path == other for other, _ in found) == 1 else "One path"
            notes.append(f"{one} from {route}, which brings {digits(product)}, was {what}.")
    return notes[:2]


def check_cost(exam: Examination) -> None:
    """A graph in which every result is used twice has few nodes and very many paths; a pass must not walk them all."""
    sign = "+" if any(operation.name == "+" for operation in exam.right) else "*"
    short, long = (_lines_run(exam, sign, depth) for depth in (6, 12))
    if long is None or short is None or long > 12 * max(short, 20):
        program = [f"x = {exam.subject.name}(1.0)", "for _ in range(12):", f"    x = x {sign} x", "x.backward()"]
        notes = [f"{long:,} lines of your Python ran for 13 nodes; for 7 nodes {short:,}."] if long and short else []
        raise exam.broken("every path", program=program, notes=notes)


def _lines_run(exam: Examination, sign: str, depth: int) -> int | None:
    """How many lines of Python a backward pass through ``depth`` doublings runs; None when far too many."""

    def double(x: Symbol) -> Symbol:
        for _ in range(depth):
            x = x + x if sign == "+" else x * x
        return x

    expression = record(double, [1.0])
    values = exam.subject.guard(lambda: expression.compute(exam.subject.make))
    exam.progress("visits", exam.lines(expression))
    try:
        with bounded_lines(10**9) as count:
            values[-1].backward()
    except Exception:
        return None
    return count[0]
