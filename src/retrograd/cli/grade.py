"""``retrograd grade``: a learner's own Value class, examined rule by rule."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..errors import GradingError
from .sentences import end_with_verdict, one_sentence_errors

if TYPE_CHECKING:
    from ..lesson.grade import Grade

__all__ = ["grade"]

#: The exit status when there is nothing to grade: no such file or class, or no Python.
NOTHING = 2


def grade(
    what: Annotated[
        str, typer.Argument(metavar="FILE.py[:CLASS]", help="Your file, or a notebook; the class is Value by default.")
    ],
    hint: Annotated[bool, typer.Option("--hint", help="Add a plainer hint.")] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Repeat the random numbers of an earlier grade.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for teachers.")] = False,
    limit: Annotated[
        float | None,
        typer.Option("--limit", metavar="SECONDS", min=0.1, help="How long code may be silent; 20."),
    ] = None,
) -> None:
    """Examine your own Value class rule by rule, in a process of its own.

    The first rule that fails is shown on the smallest expression, with a hint. The exit status is 0 when all rules
    hold, 1 when one does not yet, and 2 when there is nothing to grade.

    retrograd grade my_value.py
    """
    from ..lesson.grade import LIMIT, grade_file

    with one_sentence_errors():
        try:
            found = grade_file(what, seed, hint, LIMIT if limit is None else limit)
        except GradingError as error:
            print(f"retrograd: {error}", file=sys.stderr)
            raise typer.Exit(NOTHING) from None
    end_with_verdict(found.ok, lambda: print(found.to_json(indent=2)) if json else _print(found))


def _print(found: Grade) -> None:
    """Print the report, coloured in a terminal, in ASCII where that takes nothing else."""
    from ..lesson.grade import ascii_report

    console = Console(highlight=False, markup=False, emoji=False, legacy_windows=False, force_jupyter=False)
    with console.capture() as capture:
        console.print(found)
    text = "\n".join(line.rstrip() for line in capture.get().split("\n"))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = ascii_report(text)
    sys.stdout.write(text)
