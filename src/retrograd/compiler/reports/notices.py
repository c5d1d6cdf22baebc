"""Warnings of a compiled function: each kind once, at the user's line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from ... import errors
from ...engine.source_lines import current_location

__all__ = [
    "IS_LONGER",
    "Notices",
    "frozen_data",
    "nor_taped",
    "not_worth_a_program",
    "other_arguments",
    "other_comparison",
    "other_int",
    "other_number",
    "runs_as_it_is",
    "traced_in_vain",
]


#: Why nothing is converted in a function that was typed in, or made by exec.
_LOST_SOURCE = re.compile(r"the source of (\S+) cannot be found")

#: What is said of a list that has another length than before.
IS_LONGER = " items, and had "


class Notices:
    """Warns of each kind of trouble once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def is_new(self, kind: str) -> bool:
        """Whether no warning of a kind was given before."""
        return kind not in self._given

    def once(self, kind: str, message: str) -> None:
        """Warn of ``message``, unless a warning of this kind was given before."""
        if not self.is_new(kind):
            return
        self._given.add(kind)
        here = current_location()
        file, line = (here.file, here.line) if here else ("<unknown>", 1)
        warnings.warn_explicit(message, errors.CompileWarning, file, line)


# --- what they say --------------------------------------------------------------------------------


def frozen_data(function: object, paths: Sequence[str], limit: int) -> str:
    """The warning that ``function`` reads more data than calls compare; ``paths`` are what is left out."""
    name, more = errors.name_of_function(function), f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return (
        f"{name} reads {paths[0]}{more}, which is too large to be compared in every call (more than {limit // 1024} KB "
        f"together): its compiled program keeps the contents of now. Pass it as an argument if it changes; make it "
        "read-only if it does not (array.flags.writeable = False, or a tuple), and this warning goes."
    )


def runs_as_it_is(function: object, obstacle: str) -> str:
    """The warning that ``function`` is not compiled; ``obstacle`` is a sentence without a dot."""
    return f"{errors.name_of_function(function)} is not compiled and runs as it is: {obstacle.rstrip('.')}."


def traced_in_vain(function: object, why: str, remedy: str, waits: bool = False) -> str:
    """The warning that nearly every call of ``function`` needs a new trace, and what to do about it.

    ``waits``: calls like one that comes again are traced.
    """
    name, why = errors.name_of_function(function), why.removeprefix("traced: ")
    how = "it runs uncompiled for a while"
    if waits:
        how = "from now on it is traced only when the same structure comes a second time"
    return f"{name} was traced again in nearly every call ({why}); {how}. {remedy}"


def not_worth_a_program(function: object, remedy: str) -> str:
    """The warning that most calls of ``function`` run uncompiled, and what to do about it."""
    name = errors.name_of_function(function)
    return (
        f"{name} runs uncompiled in most calls: no program that there is fits them, and one of both branches of its "
        f"comparisons would take longer to make than all calls until now. {remedy}"
    )


def nor_taped(why_not: str) -> str:
    """What is said where there is no taped code either, and why; nothing if it was not asked for."""
    return f" Code with its own branches and loops could not be made either: {why_not}." if why_not else ""


def other_comparison(where: object, obstacle: str) -> str:
    """What to do about a comparison on a line; ``obstacle``: why it is no selection, if that is known."""
    found = f"{where} compares numbers, and decides otherwise in nearly every call. "
    if obstacle:
        lost = _LOST_SOURCE.match(obstacle)
        remedy = f"Define {lost[1]} in a file" if lost else "Do without that"
        found += f"The compiler does not select there: {obstacle}. {remedy}, or write "
    else:
        found += "Write "
    return found + "rg.where(a < b, x, y) or rg.maximum, which need no decision."


def other_int(where: object) -> str:
    """What to do about an int that is part of the program, as one that selects is unless it is marked."""
    return (
        f"{where} uses an int, and another one in nearly every call. If it selects something (a token, a label, the "
        "number of a row), pass it as rg.Index(t), and select with rg.take(sequence, t) or rg.table(rows)[t]; if not, "
        "compile what is around it."
    )


def other_number(where: object, use: str) -> str:
    """What to do about a number that is part of the program; ``use``: what the function does with it on a line."""
    return (
        f"{where} {use}: a program answers calls with the same number, and there is another one in nearly every call. "
        "Do without that, or compile what is around it."
    )


def other_arguments(difference: str) -> str:
    """What to do about arguments of another structure; ``difference``: what they have otherwise than before."""
    found = "Pass what differs from call to call as a float, a Value or an rg.Index"
    if IS_LONGER in difference:
        found = "Lists of one length share a program"
    return found + (f": {difference}." if difference else ".")
