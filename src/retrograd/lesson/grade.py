"""``grade(Value)`` and ``grade_file``: a learner's own Value class, examined rule by rule."""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ..errors import GradingError
from .grader.advice import advise_on_trouble
from .grader.findings import Failure, Report, RuleResult, Status
from .grader.loading import split_target
from .grader.process import Examined, examine_class, examine_file
from .grader.report import Subtitle, report_lines
from .grader.subject import Trouble
from .grader.whole_rules import SHORT, depth_remark

__all__ = ["LIMIT", "Grade", "grade", "grade_file"]

#: Seconds without an answer after which the learner's code is ended.
LIMIT = 20.0

_COLUMNS = 80
_ASCII = str.maketrans({"✓": "+", "✗": "x", "·": "-", "○": "o", "“": '"', "”": '"', "²": "^2", "ⁿ": "^n", "³": "^3"})


@dataclass(frozen=True)
class Grade:
    """What an examination found: print it, let a notebook display it, or take ``.to_json()``.

    ``.ok`` says whether every rule that could be examined holds; ``.rules`` are all rules with their verdicts,
    ``.first_failure`` is the first that fails with its example and hints, ``.remarks`` what is right and worth knowing,
    and ``.not_there_yet`` the operations that the class does not have.
    """

    report: Report = field(repr=False)
    subtitle: Subtitle = field(repr=False)
    hint: bool = False

    @property
    def ok(self) -> bool:
        """Whether every rule that could be examined holds."""
        return self.report.first_failure is None

    @property
    def rules(self) -> list[RuleResult]:
        """Every rule in order, each with ``.name``, ``.status`` and ``.says``."""
        return self.report.rules

    @property
    def first_failure(self) -> Failure | None:
        """The first rule that fails, on the smallest expression that shows it; None when all hold."""
        return self.report.first_failure

    @property
    def remarks(self) -> list[str]:
        """What is no mistake and worth knowing."""
        return self.report.remarks

    @property
    def not_there_yet(self) -> list[str]:
        """The operations that the class does not have, and need not have."""
        return self.report.absent

    def to_json(self, indent: int | None = None) -> str:
        """Everything as JSON, for a teacher's scripts."""
        about = {"class": self.subtitle.name, "file": self.subtitle.where, "seed": self.subtitle.seed}
        trouble = self.subtitle.trouble
        told = {**about, **self.report.to_json(), "printed_lines": self.subtitle.printed}
        return json.dumps(
            {**told, "file_error": trouble.to_json() if trouble else None}, indent=indent, ensure_ascii=False
        )

    def to_text(self, width: int = _COLUMNS) -> str:
        """Plain text, wrapped to ``width`` columns."""
        return "".join(f"{line.plain.rstrip()}\n" for line in self.lines(width))

    def lines(self, width: int) -> Iterator[Text]:
        """The report's lines with their styles."""
        return report_lines(self.report, self.subtitle, width, self.hint)

    def __str__(self) -> str:
        text = self.to_text().rstrip("\n")
        try:
            text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            return ascii_report(text)
        return text

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(min(options.max_width, 100))

    @cached_property
    def _html(self) -> str:
        console = Console(file=io.StringIO(), record=True, width=_COLUMNS + 8, force_jupyter=False)
        for line in self.lines(_COLUMNS):
            console.print(line, soft_wrap=True)
        return console.export_html(inline_styles=True, code_format="<pre style='line-height:1.4'>{code}</pre>")

    def _repr_html_(self) -> str:
        return self._html


def ascii_report(text: str) -> str:
    """The same text where only ASCII can be shown."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def grade(cls: type, /, *, seed: int | None = None, hint: bool = False, limit: float = LIMIT) -> Grade:
    """Examine a Value class of your own, rule by rule: ``grade(Value)`` in a notebook or a program.

    Random expressions at random numbers are computed with it and compared with retrograd. On Linux this happens in a
    copy of the process, so that nothing that the class does can harm yours; elsewhere it happens in your process, where
    endless loops written in Python are still stopped. From a terminal, ``retrograd grade FILE.py`` always uses a
    process of its own.

    Args:
        cls: The class itself, not an instance.
        seed: Repeats the random numbers of an earlier grade, which named its seed. By default a new one is drawn.
        hint: Whether a plainer hint follows the first one.
        limit: After so many seconds without an answer the examination ends.

    Returns:
        The grade, which shows itself: the rules, the first one that fails with the smallest expression that shows it,
        and a hint. ``grade(Value).ok`` says whether every rule holds.

    Raises:
        TypeError: If ``cls`` is not a class.

    Example:
        >>> from retrograd import Value, grade
        >>> grade(Value).ok
        True
    """
    if not isinstance(cls, type):
        raise TypeError(
            f"grade takes your class itself and got {type(cls).__name__}: write grade(Value), without calling it. "
            "For a class in a file: retrograd grade FILE.py."
        )
    seed = _fresh() if seed is None else seed
    names = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    examined = examine_class(cls, dict(names), seed, limit)
    subtitle = Subtitle(cls.__name__, "", seed, f"seed={seed}", "hint=True", examined.printed)
    return Grade(_finished(examined, ""), subtitle, hint)


def grade_file(target: str, seed: int | None = None, hint: bool = False, limit: float = LIMIT) -> Grade:
    """Examine the class of ``FILE.py``, ``FILE.py:Class`` or a notebook, in a process of its own.

    Raises GradingError when there is no such file or class, or Python cannot read the file.
    """
    path, name = split_target(target)
    seed = _fresh() if seed is None else seed
    examined = examine_file(path, name, seed, limit)
    again = f"--seed {seed}"
    subtitle = Subtitle(examined.name, path.name, seed, again, "--hint", examined.printed, examined.file_trouble)
    return Grade(_finished(examined, str(path)), subtitle, hint)


def _fresh() -> int:
    """A new seed, short enough to be typed; the program's own random numbers stay as they are."""
    return random.SystemRandom().randrange(100_000)


def _finished(examined: Examined, path: str) -> Report:
    """The report; where the process was ended, with the rule that it was at."""
    if not examined.ended and examined.report is not None:
        return examined.report
    if examined.rule == "loading" or examined.report is None:
        raise GradingError(
            f"{Path(path).name or examined.name} could not be loaded: {examined.ended}. Put training and pictures "
            "below `if __name__ == '__main__':`, which is left out here."
        )
    report = examined.report
    if examined.rule == "depth":
        _settle(report, "depth", Status.passed, SHORT)
        report.remarks.append(depth_remark(20_000, "", examined.ended))
        return report
    trouble = Trouble("Ended", f"The process was ended: {examined.ended}.")
    said = advise_on_trouble(trouble)
    failure = Failure(
        examined.rule, "", "Ended", examined.program, (), (), trouble, said.headline, said.explanation, said.hints
    )
    _settle(report, examined.rule, Status.failed, failure.headline)
    report.first_failure = report.first_failure or failure
    return report


def _settle(report: Report, name: str, status: Status, says: str) -> None:
    for rule in report.rules:
        if rule.name == name:
            rule.status, rule.says = status, says
