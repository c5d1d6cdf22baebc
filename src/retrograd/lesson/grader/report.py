"""A grade as calm text: the rules in order, the first failure with its example, a hint, and what to do next."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from .findings import Failure, Report, RuleResult, Status
from .subject import Trouble

__all__ = ["Subtitle", "report_lines"]

_MARKS = {Status.passed: "✓", Status.failed: "✗", Status.skipped: "·", Status.absent: "○"}
_STYLES = {Status.passed: "#009E73", Status.failed: "bold #D55E00", Status.skipped: "dim", Status.absent: "dim"}
_GOOD, _BAD, _HEADING, _CODE = "#009E73", "bold #D55E00", "bold", "cyan"
_NAME = 14  # columns of a rule's name

#: What to write next, in the order of the lessons.
_NEXT = (
    ("backward()", "write backward(): sort the nodes, set L.grad to 1, and call each node's rule"),
    ("a + 2", "let a + 2 work: make a Value of what is not one yet"),
    ("a * 2", "let a * 2 work: make a Value of what is not one yet"),
    ("2 + a", "let 2 + a work, with __radd__; sum([a, b]) needs it too"),
    ("2 * a", "let 2 * a work, with __rmul__"),
    ("-a", "write -a; it can be made of *"),
    ("a - b", "write a - b; it can be made of + and -b"),
    ("tanh", "write tanh(), and with it a neuron"),
    ("relu", "write relu(), and with it a network"),
    ("a ** 3", "write a ** 2, for the square of an error"),
    ("a / b", "write a / b; it can be made of * and b ** -1"),
    ("exp", "write exp()"),
    ("log", "write log()"),
)


@dataclass(frozen=True, slots=True)
class Subtitle:
    """What was examined, and how it is examined again."""

    name: str  #: the class
    where: str  #: its file, empty for a class of a notebook
    seed: int
    again: str  #: the option or argument that repeats the random numbers
    more: str  #: the one that adds the second hint
    printed: int = 0
    trouble: Trouble | None = None  #: what ended the file early


def report_lines(report: Report, subtitle: Subtitle, width: int, hint: bool) -> Iterator[Text]:
    """The report, line by line, none longer than ``width`` columns."""
    failure = report.first_failure
    title = f"{subtitle.name} in {subtitle.where}" if subtitle.where else subtitle.name
    yield Text(title, _HEADING)
    yield Text()
    for rule in report.rules:
        yield from _rule(rule, width)
    yield Text()
    if failure is not None:
        yield from _failure(failure, width, hint, subtitle)
    else:
        yield from _passed(report, width)
    yield from _asides(report, subtitle, width)
    yield from _wrapped(_next(report, subtitle), width, "Next: ")
    yield from _wrapped(f"Every grade draws new random numbers; {subtitle.again} repeats these.", width, style="dim")


def _rule(rule: RuleResult, width: int) -> Iterator[Text]:
    mark, style = _MARKS[rule.status], _STYLES[rule.status]
    says = rule.says or rule.title
    loud = style if rule.status is Status.failed else ""
    quiet = "dim" if rule.status in (Status.skipped, Status.absent) else loud
    for number, line in enumerate(_wrap(says, width - _NAME - 4)):
        lead = f"  {mark} " if number == 0 else "    "
        name = (rule.name if number == 0 else "").ljust(_NAME)
        yield Text.assemble((lead, style), (name, loud), (line, quiet))


def _failure(failure: Failure, width: int, hint: bool, subtitle: Subtitle) -> Iterator[Text]:
    yield from _wrapped(f"{failure.headline}.", width, style=_BAD)
    yield Text()
    for line in failure.program:
        yield Text(f"    {line}", _CODE)
    if failure.program:
        yield Text()
    if failure.rows:
        yield from _table(failure)
        yield Text()
    if failure.trouble is not None:
        yield from _trouble(failure.trouble, width)
        yield Text()
    for note in failure.notes:
        yield from _wrapped(note, width)
    yield from _wrapped(failure.explanation, width)
    yield Text()
    for number, text in enumerate(failure.hints[: 2 if hint else 1]):
        yield from _wrapped(text, width, "Hint: " if number == 0 else "More: ")
    if not hint and len(failure.hints) > 1:
        yield from _wrapped(f"{subtitle.more} adds a plainer one.", width, "      ", "dim")
    yield Text()


def _table(failure: Failure) -> Iterator[Text]:
    rows = failure.rows
    name = max(len(row.name) for row in rows)
    came = max(len("came"), *(len(row.came) for row in rows))
    right = max(len("expected"), *(len(row.expected) for row in rows))
    yield Text(f"    {'':{name}}  {'came':>{came}}  {'expected':>{right}}", "dim")
    for row in rows:
        line = Text(f"    {row.name:{name}}  {row.came:>{came}}  {row.expected:>{right}}  ")
        line.append("✓" if row.right else "✗", _GOOD if row.right else _BAD)
        yield line


def _trouble(trouble: Trouble, width: int) -> Iterator[Text]:
    if trouble.place:
        yield from _wrapped(trouble.place, width, "    ")
    if trouble.source:
        yield Text(f"        {trouble.source}"[:width], _CODE)
    yield from _wrapped(trouble.says, width, "    ")


def _passed(report: Report, width: int) -> Iterator[Text]:
    count = sum(rule.status is Status.passed for rule in report.rules)
    sentence = f"All {count} rules {'' if count == len(report.rules) else 'that can be examined '}hold."
    yield from _wrapped(sentence, width, style=_GOOD)
    yield Text()


def _asides(report: Report, subtitle: Subtitle, width: int) -> Iterator[Text]:
    """What is not there yet, remarks, and what became of the file."""
    said: list[str] = []
    if report.absent:
        said.append(f"Not there yet, which is no mistake: {', '.join(report.absent)}.")
    said += [remark for remark in report.remarks if report.first_failure is None]
    if subtitle.trouble is not None:
        place = f" at {subtitle.trouble.place}" if subtitle.trouble.place else ""
        ended = f"The file did not run to its end: {subtitle.trouble.says.rstrip('.')}{place}."
        said.append(f"{ended} The class was defined before.")
    if subtitle.printed:
        lines = "1 line" if subtitle.printed == 1 else f"{subtitle.printed:,} lines"
        said.append(f"Your code printed {lines}, which {'is' if subtitle.printed == 1 else 'are'} not shown here.")
    for text in said:
        yield from _wrapped(text, width)
    if said:
        yield Text()


def _next(report: Report, subtitle: Subtitle) -> str:
    if report.first_failure is not None:
        return "mend this one rule, and grade it again. The rules below it often follow by themselves."
    step = next((what for name, what in _NEXT if name in report.absent), None)
    if step is not None:
        return f"{step}; then grade it again."
    return (
        "build a neuron of it, (w1*x1 + w2*x2 + b).tanh(), and take a step downhill: p.data -= 0.1 * p.grad for each "
        "of w1, w2 and b."
    )


def _wrapped(text: str, width: int, lead: str = "", style: str = "") -> Iterator[Text]:
    for number, line in enumerate(_wrap(text, width - len(lead))):
        yield Text.assemble((lead if number == 0 else " " * len(lead), _HEADING), (line, style))


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_on_hyphens=False) or [""]
